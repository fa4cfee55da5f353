"""The loop inside the outermost one that threads of a device share, where its iterations are independent, too (sharing.py). What stands around it is run by
each of these threads: it changes nothing but variables, and needs nothing that the loop inside leaves."""

import ast
from typing import NamedTuple

from .comprehensions import stored
from .over import is_range
from .sharing import counter_of, offset_of
from .trees import names, nodes


class Inside(NamedTuple):
    """The loop, the name that counts it, and the least number that it has."""

    loop: ast.For
    counter: str
    least: int


def inside_of(loop):
    """Of the source of a loop; None where there is none that may be shared."""
    loops = [s for s in loop.body if isinstance(s, ast.For)]
    rest = [s for s in loop.body if s not in loops]
    if len(loops) != 1 or any(isinstance(n, (ast.For, ast.While)) for s in rest for n in nodes(s)):
        return None
    inner = loops[0]
    counter = counter_of(inner) if is_range(inner.iter) else None
    least = _least(inner.iter.args) if counter else None
    if least is None or {*stored(inner)} & {n for s in rest for n in names(s, ast.Load)}:
        return None
    return Inside(inner, counter, least)


def _least(args):
    """The first number of a range that goes up from one which is known, and is not negative."""
    known = [a.value if isinstance(a, ast.Constant) and type(a.value) is int else None for a in args]
    if len(args) == 1:
        return 0
    return known[0] if len(args) in (2, 3) and known[0] is not None and known[0] >= 0 and (len(args) == 2 or (known[2] or 0) > 0) else None


class Places:
    """Where the iterations of the loop inside read and write, found while it is lowered."""

    def __init__(self, inside):
        self.inside = inside
        self.number = -1  # of the loop in the procedure
        self.touched = {}  # slots of arrays -> axes along which an iteration keeps to one index, and how far that is from the counter; None: it does not

    def begins(self, loop, number):
        if self.inside is not None and loop is self.inside.loop:
            self.number = number

    def part(self, view, made, parts):
        """A part of a view, which these indices and slices made."""
        if view.lead is not None and not any(isinstance(x, ast.Slice) for x in parts):
            made.lead = view.lead + len(parts)
        made.within = view.within
        if made.within is None and view.lead is not None and self._is_in(view.lowering):
            found = ((axis, offset_of(self.inside.counter, x)) for axis, x in enumerate(parts, view.lead))
            made.within = next((place for place in found if place[1] is not None), None)

    def _is_in(self, lowering):
        return self.inside is not None and any(loop is self.inside.loop for loop, *_ in lowering.loops)

    def touch(self, view):
        self.touched.setdefault(view.slot, set()).add(view.within)

    def shared(self, lowering):
        """The number of the loop where threads may share it, else -1."""
        if self.number < 0 or {*stored(self.inside.loop)} & {key for key, *_ in lowering.outputs}:
            return -1
        for slot in lowering.facts.written:
            places = self.touched.get(slot, {None})
            if len(places) != 1 or None in places or min(offset for _, offset in places) + self.inside.least < 0:
                return -1
        return self.number
