"""Tracebacks of errors that come out of a compiled loop: they lead through the statements of the source, as Python's would, and through nothing of how
the loop was run."""

import itertools
import os
import traceback
import types
from typing import NamedTuple

CONTINUED = set()  # codes of parts of functions (by_python.py)
_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Place(NamedTuple):
    """Where something is computed: in which of the functions that were called, None in the loop's own, and where in its file."""

    function: object
    lines: tuple  # first and last
    columns: tuple

    @classmethod
    def of(cls, function, node):
        line, column = node.lineno, node.col_offset
        return cls(function, (line, max(line, node.end_lineno or line)), (column, node.end_col_offset or column))


class Failure(NamedTuple):
    """How an error that the machine code found is raised: again, by Python, with the operands that were kept. places: those of the calls around it, and its
    own."""

    again: object
    places: tuple

    @property
    def line(self):
        return self.places[-1].lines[0]


def outgrown(again):
    """A function that raises where numbers outgrow those of machine code: Python goes on with them, where it can."""
    again.outgrown = True
    return again


def outgrows(again):
    """What such a function says."""
    try:
        again(0, 0.0, 0.0)
    except (OverflowError, NotImplementedError) as e:
        return str(e).partition(" in a compiled loop")[0]
    except Exception:
        pass
    return "numbers outgrow those of machine code"


def fatal(again):
    """A function that raises where there is no more memory, which no handler mends."""
    again.fatal = True
    return again


def raise_again(failure, *operands):
    failure.again(*operands)


def cleaned(error):
    """Takes from an error's traceback what ran the loops that it passed."""
    kept, entry = [], error.__traceback__
    if not any(frame.f_code.co_filename.startswith(_OURS) for frame, _ in traceback.walk_tb(entry)):
        return  # as of each level of a recursion but the innermost
    while entry is not None:
        if entry.tb_frame.f_code is raise_again.__code__:
            first, *others = entry.tb_frame.f_locals["failure"].places
            if kept:
                kept[-1] = kept[-1][0], *_instruction(kept[-1][0].f_code, first)
            kept += map(_called, others)
            break
        if entry.tb_frame.f_code in CONTINUED and kept:
            kept[-1] = kept[-1][0], *_instruction(kept[-1][0].f_code, _place_in(entry))
        elif not entry.tb_frame.f_code.co_filename.startswith(_OURS):
            kept.append((entry.tb_frame, entry.tb_lasti, entry.tb_lineno))
        entry = entry.tb_next
    made = None
    for frame, at, line in reversed(kept):
        made = types.TracebackType(made, frame, at, line)
    error.__traceback__ = made


def _place_in(entry):
    code, line = entry.tb_frame.f_code, entry.tb_lineno
    if not hasattr(code, "co_positions"):
        return Place(None, (line, line), (0, 0))
    first, last, *columns = next(itertools.islice(code.co_positions(), entry.tb_lasti // 2, None))
    return Place(None, (first or line, last or line), tuple(columns))


def _instruction(code, place):
    """The number of an instruction that computes what stands there, and its line."""
    line, wanted = place.lines[0], (*place.lines, *place.columns)
    at = -1
    if hasattr(code, "co_positions"):
        for n, found in enumerate(code.co_positions()):
            if found == wanted:
                at = 2 * n
    return at, line


def _called(place):
    """The frame of a function that has no frame, as its statements stand in the loop: one that fails where it has failed."""
    import ast

    (line, last), (column, end), code = place.lines, place.columns, place.function.__code__
    at = {"lineno": line, "end_lineno": last, "col_offset": column, "end_col_offset": end}
    module = ast.Module([ast.Expr(ast.Call(ast.Name("fail", ast.Load(), **at), [], [], **at), **at)], [])
    named = {"co_name": code.co_name} | ({"co_qualname": code.co_qualname} if hasattr(code, "co_qualname") else {})
    try:
        exec(compile(module, code.co_filename, "exec").replace(**named), {"fail": _fail, "__name__": place.function.__module__})
    except _Failed as e:
        entry = e.__traceback__.tb_next
        return entry.tb_frame, entry.tb_lasti, line
    raise AssertionError("no error was raised")


class _Failed(Exception):
    pass


def _fail():
    raise _Failed
