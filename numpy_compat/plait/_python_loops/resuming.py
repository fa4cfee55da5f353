"""What machine code tells Python where it leaves a loop to it (by_python.py): the variables that Python reads from there on."""

import ast
import ctypes
import types
from typing import NamedTuple

import numpy

from .._functions import MISSING
from .by_python import MADE, Constant, Doing, Number, Part, Parts, Position, Resumption, Same, around
from .carried import Carried, CarriedList
from .grown_texts import CarriedText
from .growing import Growing
from .listed import elements_of
from .lists_in_lists import NestedShape
from .over import is_range
from .tables import Table
from .trees import names
from .types import Shape, is_complex, text_of
from .values import Listed, Value
from .views import WHOLE, View
from .words import plain


class Told:
    """What machine code says of itself for Python to go on: locals of the procedure, behind all other results."""

    def __init__(self, lowering):
        self.lowering, self.places, self.width = lowering, {}, 0
        self.lists = {}  # that the loop has made -> the OwnList, which two names have in common
        self.slots, self.used = {}, {}  # dtypes -> locals that hold a number for whoever leaves; how many of them a place has

    def begin(self):
        """At a place where the loop is left."""
        self.used, self.lists = {}, {}

    def value(self, v, dtype):
        """Where a number will be that is no variable's: it is kept now."""
        n = self.used[dtype] = self.used.get(dtype, -1) + 1
        slots = self.slots.setdefault(dtype, [])
        if n == len(slots):
            slots.append(self.lowering.p.local(dtype))
        self.lowering.p.set(slots[n], v)
        return self.add(slots[n], dtype)

    def add(self, local, dtype):
        """Where its value will be."""
        if local not in self.places:
            self.places[local] = self.width
            self.width += 2 if is_complex(dtype) else 1
        return self.places[local]

    def number(self, key, bound):
        low = self.lowering
        tagged = bound.unsure or len(bound.kinds) > 1
        if tagged:
            low.facts.add(low.facts.tagged, None, key)
        return Number(bound.type, self.add(low.local(key, bound.type), bound.type.dtype), self.add(low.tag(key), "int64") if tagged else -1)

    def results(self):
        for local in self.places:
            self.lowering.p.result(self.lowering.p.get(local))


class NotTold(Exception):
    """A variable that Python cannot be told of."""


def resumption(low, why="an error in a `try`"):
    """How Python goes on with what is lowered now; None where it cannot."""
    doing, top = low.doing, low.top
    if low.made:  # the elements of an iteration are nobody's until it is done
        low.facts.add(low.facts.positions, None, top)
        at, ends = low.position(top)
        return Resumption(why, Doing(top, False, 0), {}, {top: Position(low.told_on.add(at, "int64"), (*(low.told_on.add(end, "int64") for end in ends), low.told_on.add(low.begun, "int64")))})
    if doing is None or low.consuming or getattr(top, "captured", None):
        return None
    if not doing.behind and (doing.changes != low.changes or len(low.frames) > 1 and doing.statement in low.facts.changing):
        return None  # half of it is done
    live = low.liveness
    low.told_on.begin()
    live_here = (live.behind_of if doing.behind else live.before).get(doing.statement)
    if live_here is None or doing.statement is top and isinstance(top, ast.For):
        return None
    around = _loops_around(low, doing.statement)
    # What a loop goes over is asked for again.
    read = live_here.union(*(names(loop.iter, ast.Load) for loop in around if loop is not top and not is_range(loop.iter)))
    found = {}
    try:
        for name in sorted(read & low.stored):
            if (x := _tell(low, name)) is not None:
                found[name] = x
        positions = {loop: _position(low, loop) for loop in around}
    except NotTold:
        return None
    return Resumption(why, doing, found, positions)


def _tell(low, name):
    """How Python finds what a variable is; None where it is what it was before the loop, or nothing."""
    x = low.env.get(name, MISSING)
    if low.is_variable(x):
        if not hasattr(x, "kinds"):
            raise NotTold
        return low.told_on.number(name, x)
    if isinstance(x, (Carried, CarriedList)) and name in low.asked:
        return None
    if x is MISSING:
        if name in low.facts.views or name in low.objects:
            raise NotTold
        return None
    if low.inputs.get(name, MISSING) is x:
        return None
    return described(low, low.told_on, x)


def described(low, told, x):
    """How Python finds what x is: by numbers that `told` keeps."""
    if isinstance(x, Value):
        tag = told.value(low.tag_number(x), "int64") if x.kinds else -1
        return Number(x.type, told.value(x.id, x.type.dtype), tag)
    if isinstance(x, list):
        return Parts(list if isinstance(x, Listed) else tuple, tuple(described(low, told, part) for part in x))
    if isinstance(x, (Growing, Table)) and (key := next((key for key, made in low.lists if made is x), None)) is not None:
        return Same(key)
    if isinstance(x, CarriedList) and not isinstance(x, CarriedText) and not x.is_new:
        raise NotTold  # it may be the list from before the loop, which is somebody else's, too
    if isinstance(x, Growing) and not isinstance(x.shape, NestedShape):
        if x not in told.lists:
            of = text_of if isinstance(x, CarriedText) else x.shape
            told.lists[x] = OwnList(of, told.value(x.where, "int64"), told.value(x.length, "int64"))
        return told.lists[x]
    if hasattr(x, "described"):
        return x.described(low, told)
    if type(x) is View and not x.own_memory:
        if x.own is WHOLE:
            return Same(low.arrays[x.slot])
        dims = tuple((told.value(extent, "int64"), told.value(stride, "int64")) for extent, stride in x.dims)
        return Part(low.arrays[x.slot], told.value(x.offset, "int64"), dims)
    if isinstance(x, View) and not x.own_memory and x.own is WHOLE:
        return Same(low.arrays[x.slot])
    if x is None or callable(x) or isinstance(x, (str, types.ModuleType)):
        return Constant(plain(x))
    raise NotTold


class OwnList(NamedTuple):
    """A list that the loop has made, or a text: the Shape of its elements, or text_of, and which numbers say where in memory they are, and how many."""

    shape: object
    address: int
    count: int

    def of(self, results, objects):
        made = objects.get(MADE, {})  # of which each name has the same list
        if self not in made:
            made[self] = self.read(results[self.address], results[self.count])
        return made[self]

    def read(self, address, count):
        wide = len(self.shape.words) if isinstance(self.shape, Shape) else 1
        words = numpy.frombuffer((ctypes.c_int64 * (count * wide)).from_address(address), "int64") if count else numpy.empty(0, "int64")
        if self.shape is text_of:
            return text_of(words) if count else ""
        return elements_of(self.shape, words.reshape(count, wide)) if count else []


def _position(low, loop):
    low.facts.add(low.facts.positions, None, loop)
    if loop is not low.top and not is_range(loop.iter) and {*names(loop.iter, ast.Load)} & {*names(loop, ast.Store)}:
        raise NotTold  # it may go over something else by now
    at, ends = low.position(loop)
    return Position(low.told_on.add(at, "int64"), tuple(low.told_on.add(end, "int64") for end in ends))


def _loops_around(low, statement):
    found = [x for x, field in around(low.parents, statement, low.top) if isinstance(x, ast.For) and field == "body"]
    return found + [low.top] * (isinstance(low.top, ast.For) and low.top not in found)
