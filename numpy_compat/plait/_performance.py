"""Where the time of a jitted function's calls goes: what its report() says, and a warning where most of a long call is NumPy's or Python's.

A call that is watched runs inside a profile of its own thread. The first calls of a function are, and a few after one that was long, so that all others
take their way without a question.
"""

import ast
import os
import time
import types
import warnings

import numpy

from . import _plait
from ._functions import contents
from ._profile import add_up, advice_of, columns, rows_of
from ._source import Source, place, shown

FIRST, MORE = 3, 3  # calls that are watched: of a function, and after long ones
LONG = 10e-3  # seconds of a call, below which nothing is said
SHARE = 0.5  # of a call
WARNS = os.environ.get("PLAIT_WARN", "on").lower() not in ("off", "0", "no", "false")
_PLACES = 3  # that a warning names
_LINES = 12  # of a report's table
# What NumPy is as good at as any: there is nothing to write instead.
_NUMPYS = ("linalg.", "fft.", "random.", "polynomial.", "char.", "strings.", "ma.", "lib.", "save", "load", "gen", "from", "array2string",
           "array_repr", "array_str", "repr", "lstsq", "poly")  # fmt: skip
_INSTEAD = {
    "vectorize": "a loop over the elements, which is compiled, or operations of whole arrays",
    "apply_along_axis": "a loop over the rows, which is compiled, or a function with axis=",
    "apply_over_axes": "a function with axis=",
    "piecewise": "np.where or np.select",
    "frompyfunc": "a loop over the elements, which is compiled",
    "getitem": "a mask or integers as an array of bool or intp, or np.where",
    "setitem": "np.where, or a mask as an array of bool",
}


class PlaitPerformanceWarning(UserWarning):
    """More than half of a jitted function's call, of more than 10 ms, went to NumPy or to Python's loops.

    It names the lines, what runs there and why, and what to write instead. It is given once for each line. Filters of `warnings`
    switch it off, and so does PLAIT_WARN=off.
    """

    __module__ = "plait"


class Report(str):
    """What a jitted function's report() says: text, whose repr is the text itself."""

    __slots__ = ()
    __repr__ = str.__str__


class Watch:
    """The calls of one jitted function that are watched."""

    def __init__(self, jitted):
        self.jitted = jitted
        self.calls, self.left, self.more = 0, FIRST, MORE
        self.seconds, self.sums = 0.0, {}  # of these calls
        self.told = set()

    def took_long(self):
        """A call was long: the next one is watched, a few times."""
        if self.left == 0 and self.more > 0:
            self.left, self.more = 1, self.more - 1
            self.jitted.watch = self

    def begin(self):
        """What end() is told; None where the call is another one's part."""
        if _plait.in_jit():
            return None
        self.left -= 1
        if self.left <= 0:
            self.left, self.jitted.watch = 0, None
        return _plait.profile_start(True), time.perf_counter()

    def end(self, began, args):
        """Adds the call up, and warns at the line that made it."""
        sums, seconds = self.drop(began)
        first, self.calls = self.calls == 0, self.calls + 1
        self.seconds += seconds
        add_up(self.sums, sums)
        if seconds < LONG or not WARNS:
            return
        places = _Call(self.jitted, sums, seconds, args, first).places()
        if sum(p.seconds for p in places) <= SHARE * seconds:
            return
        new = [p for p in places if p.where not in self.told][:_PLACES]
        self.told.update(p.where for p in new)
        if new:
            warnings.warn(_warning(self.jitted.fn, places, new, seconds), PlaitPerformanceWarning, stacklevel=3)

    def drop(self, began):
        seconds = time.perf_counter() - began[1]
        return _plait.profile_finish(began[0]), seconds


class _Place:
    """A line that takes long: what stands there, why it does, and what to write instead."""

    def __init__(self, where, text, seconds, why, instead):
        self.where, self.text, self.seconds, self.why, self.instead = where, text, seconds, why, instead

    def __str__(self):
        head = f"{self.where}: `{self.text}`" if self.text else self.where
        took = f"{self.seconds * 1e3:,.1f} ms: " if self.seconds else ""
        return f"{head}: {took}{self.why}" + (f"; {self.instead}" if self.instead else "")


class _Call:
    """One call that took long."""

    def __init__(self, jitted, sums, seconds, args, first):
        self.jitted, self.sums, self.seconds, self.args, self.first = jitted, sums, seconds, args, first
        self.source = Source()

    def places(self):
        """The lines whose time may be gained, those that take longest first."""
        found = [*self.by_numpy(), *self.values()]
        if not self.first:  # which has what Plait itself does once
            found += self.by_python()
        return sorted(found, key=lambda p: -p.seconds)

    def by_numpy(self):
        for category, site, name, count, nanoseconds, *_ in self.sums:
            if category == "fallback" and not name.startswith(_NUMPYS):
                where, text = self.at(site)
                instead = next((x for k, x in _INSTEAD.items() if name.startswith(k)), None)
                advice = f"write {instead}" if instead else "it is best before or behind the function"
                times = "" if count == 1 else f", {count:,} times"
                yield _Place(where, text, nanoseconds / 1e9, f"NumPy computes {name}{times}, and nothing is fused with it", advice)

    def values(self):
        """Values that are asked for one by one."""
        for category, site, _, count, nanoseconds, _, elements, _ in self.sums:
            found = _plait.site(site) if category == "evaluation" else None
            advice = found and advice_of(self.source, found, count, elements)
            if advice:
                where, text = self.at(site)
                yield _Place(where, text, nanoseconds / 1e9, advice, "")

    def by_python(self):
        """Python's own time, where it is known what for: loops that are not compiled, or functions of other modules that get the arrays."""
        rest = self.seconds - sum(s[4] for s in self.sums) / 1e9
        if rest <= 0:
            return
        found = list(_python_loops(self.jitted))
        if not found and not any(s[0] in ("region", "operation") for s in self.sums) and any(type(a) is numpy.ndarray for a in self.args):
            found = list(_foreign(self.jitted))
        for where, text, why, instead in found[:_PLACES]:
            yield _Place(where, text, rest, why, instead)
            rest = 0.0  # nobody knows how it is shared among them

    def at(self, site):
        found = _plait.site(site)
        if not found:
            return "an unknown line", ""
        where, _, line = self.source.describe(*found)
        node = self.source.around(*found)[0]
        return where, line if node is None else self.source.text(node)


def _warning(fn, places, new, seconds):
    share = min(sum(p.seconds for p in places) / seconds, 1.0)
    name = getattr(fn, "__qualname__", repr(fn))
    return f"{share:.0%} of the {seconds * 1e3:,.0f} ms of {name}() went to NumPy and Python:\n" + "\n".join(f"  {p}" for p in new)


def _functions(jitted):
    """A jitted function, and those of its module that it names, and they."""
    swapped = jitted.target and jitted.target.swapped
    found = [f for f in [getattr(jitted.fn, "__func__", jitted.fn)] if isinstance(f, types.FunctionType)]
    for function in found if swapped else ():  # which grows
        named = [function.__globals__.get(n) for n in function.__code__.co_names] + [contents(c) for c in function.__closure__ or ()]
        found += [f for f in named if isinstance(f, types.FunctionType) and f in swapped.scope.functions and f not in found]
    return found


def _python_loops(jitted):
    """(place, text, why, instead) of loops that stay Python's."""
    from ._python_loops.reading import tree_of
    from ._python_loops.source import reasons

    for loop in _loops(jitted):
        why = loop.why_pythons()
        if why:
            yield place(shown(loop.where[0]), loop.where[1]), loop.text, f"the loop stays Python's: {why}", "move that out of the loop"
    for function in _functions(jitted) if jitted.loops else ():
        tree = tree_of(function)
        for line, why in reasons(tree) if tree is not None else ():
            yield place(shown(function.__code__.co_filename), line), "", f"the loop stays Python's: {why}", "move that out of the loop"


def _loops(jitted):
    swapped = jitted.target and jitted.target.swapped
    if swapped is None:
        return []
    versions = [swapped.scope.versions[f] for f in _functions(jitted) if f in swapped.scope.versions]
    return [loop for v in versions for loop in v.loops.values()]


def _foreign(jitted):
    """Calls of Python functions of other modules, which have NumPy of their own."""
    from ._python_loops.reading import tree_of

    for function in _functions(jitted):
        tree = tree_of(function)
        for node in ast.walk(tree) if tree is not None else ():
            called = _found(node.func, function) if isinstance(node, ast.Call) else None
            if isinstance(called, types.FunctionType) and called.__globals__ is not function.__globals__ and _names_numpy(called):
                where = place(shown(function.__code__.co_filename), node.lineno)
                name = f"{called.__module__}.{called.__qualname__}"
                yield where, Source.text(node), f"{name} is of another module, and gets the arrays as NumPy's", "call NumPy's functions here, or jit what does the work"


def _names_numpy(function):
    return any(getattr(v, "__module__", getattr(v, "__name__", "")) == "numpy" or v is numpy for v in list(function.__globals__.values()))


def _found(node, function):
    """What an expression of names and attributes stands for in a function, or None."""
    if isinstance(node, ast.Attribute):
        return getattr(_found(node.value, function), node.attr, None)
    if not isinstance(node, ast.Name):
        return None
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    return contents(cells[node.id]) if node.id in cells else function.__globals__.get(node.id)


# --- report() -------------------------------------------------------------------------------------------------------


def report(jitted):
    """What is known of the calls so far: how many, how long; lines of those that were watched, with regions and fallbacks; Python's loops."""
    watch = jitted.watched
    fn = jitted.fn
    code = getattr(fn, "__code__", None)
    where = f" at {place(shown(code.co_filename), code.co_firstlineno)}" if code else ""
    text = [f"plait.jit({getattr(fn, '__qualname__', repr(fn))}){where}", _times(jitted, watch)]
    rows, _ = rows_of([(*key, *values) for key, values in watch.sums.items()])
    if rows:
        text.append(f"lines of the {_counted(watch.calls, 'call')} that {'was' if watch.calls == 1 else 'were'} watched:")
        text += [f"  {line}" for line in columns(rows, _LINES)]
    fallbacks = [(row, name, *of) for row in rows for name, of in row.calls.items()]
    text += [f"fallback at {place(row.file, row.line)}: {name}, {_counted(n, 'time')}, {s * 1e3:,.1f} ms" for row, name, n, s in fallbacks[:_LINES]]
    loops = [line for loop in _loops(jitted) for line in loop.report()]
    if loops:
        text += ["Python's loops:", *(f"  {line}" for line in loops[:_LINES])]
        text += [f"  and {len(loops) - _LINES} more"] * (len(loops) > _LINES)
    return Report("\n".join(text))


def _times(jitted, watch):
    account = jitted.target and jitted.target.calls
    if not watch.calls and (account is None or not account.all):
        return "no call has been watched"
    if account is None or account.all < watch.calls:
        return f"{_counted(watch.calls, 'call')} watched, {watch.seconds * 1e3:,.1f} ms"
    mean = account.seconds / account.all if account.all else 0.0
    return f"{_counted(account.all, 'call')}, {account.seconds * 1e3:,.1f} ms: {mean * 1e3:,.3f} ms each, the longest {account.longest * 1e3:,.1f} ms"


def _counted(n, thing):
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"

