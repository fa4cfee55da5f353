"""The source of a jitted function, line by line: what ran in machine code, on threads, or in Python, and why."""

import collections
import linecache
import types

from .reading import tree_of
from .running import GOES_OVER
from .source import reasons

MACHINE, THREADS, PYTHON = "machine code", "threads", "Python"
WIDTH = len(MACHINE)


def annotated(function, loops):
    """Lines of text; none where the source is not there. loops: the function's, outer ones before those in them."""
    tree = tree_of(function) if isinstance(function, types.FunctionType) else None
    if tree is None or not loops and not reasons(tree):
        return []
    marks, notes = dict.fromkeys(range(tree.lineno, tree.end_lineno + 1), PYTHON), {}
    for line, why in reasons(tree):
        notes.setdefault(line, []).append(why)
    for loop in reversed(loops):
        lines = range(loop.source.lineno, loop.source.end_lineno + 1)
        ran = [code for code in loop.codes.values() if code.usable and code.runs]
        if ran:
            for line in lines:
                notes.pop(line, None)
                marks[line] = THREADS if ran[-1].places else MACHINE
            for line, count in sum((code.left_at for code in ran), collections.Counter()).items():
                marks[line] = PYTHON
                notes.setdefault(line, []).append(f"went on in Python {count} times")
        said = [code.alone for code in ran if not code.places] or [code.why for code in loop.codes.values() if not code.usable]
        said = said or [GOES_OVER] * loop.refuses
        said = said or ([] if ran else ["its code has not run" if loop.codes else "not long enough"])
        notes.setdefault(lines[0], []).extend(dict.fromkeys(("one thread: " + why) if ran else why for why in said))
    name = function.__code__.co_filename
    shown = []
    for line, mark in marks.items():
        note = "; ".join(notes.get(line, []))
        text = linecache.getline(name, line, function.__globals__).rstrip()
        shown.append(f"{mark:<{WIDTH}} {line:>5}  {text}" + (f"  <- {note}" if note else ""))
    return shown
