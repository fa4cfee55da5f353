"""Python's sequences of numbers that a compiled loop is given: arrays of their elements, with Python's errors of an index."""

import ast

import numpy

from .by_python import TextPart
from .passes import Again
from .types import ASCII, TEXT, NotCompiled, Scalar
from .values import Value
from .views import WHOLE, View


def array_view(lowering, key, what):
    """An array that the loop is given; its extents and strides are parameters."""
    p = lowering.p
    slot = len(lowering.arrays)
    lowering.arrays.append(key)
    buffer = p.buffer(what.dtype, slot in lowering.facts.written)
    extents = [p.param() for _ in range(what.ndim)]
    strides = [p.param() for _ in range(what.ndim)]
    if what.ndim and what.packed:
        strides[-1] = lowering.number(numpy.dtype(what.dtype).itemsize)
    kind = RowsView if what.shape else _KINDS[what.of.rstrip("0123456789").replace("deque", "list")]
    made = kind(lowering, slot, buffer, what.dtype, lowering.zero, list(zip(extents, strides)), key, WHOLE)
    made.shape = what.shape
    made.packed = what.packed
    made.in_order = what.packed and what.ndim == 1
    if kind is ExtentsView:
        made.count = int(what.of.rpartition(" ")[2])
    return made


class ListView(View):
    """A list of Python's numbers, or an element of it."""

    _empty, empty = [], False

    row = lambda self, i: self.item(i)  # noqa: E731

    @property
    def type(self):
        return Scalar(self.dtype, True)

    def _refuse(self, *_):
        raise NotCompiled("a list as a whole")

    attribute = vector = assign = _refuse

    def part(self, lowering, parts, node):
        if isinstance(node.slice, (ast.Tuple, ast.Slice)):
            return lowering.part_of_list(self, node)
        return super().part(lowering, parts, node)

    def _outside(self, axis, node):
        return lambda *_: self._empty.__setitem__(0, 0) if isinstance(node.ctx, ast.Store) else self._empty[0]


class TupleView(ListView):
    _empty = ()


class BytesView(TupleView):
    _empty = b""


class TextView(TupleView):
    """A text, of which the code points are there, or a part of it. Its elements are texts of one character."""

    _empty = ""

    @property
    def type(self):
        return ASCII if self.dtype == "uint8" else TEXT

    def _value(self, offset):
        p = self.lowering.p
        point = p.cast(p.load(self.buffer, offset, self.dtype), "int64")
        self.lowering.facts.words = True
        return Value(self.type, p.apply("add", point, self.lowering.one))

    def part(self, lowering, parts, node):
        return View.part(self, lowering, parts, node)

    def described(self, low, told):
        """How Python finds it."""
        key, (extent, stride) = low.arrays[self.slot], self.dims[0]
        return TextPart(key, numpy.dtype(self.dtype).itemsize, *(told.value(v, "int64") for v in (self.offset, extent, stride)))


class ExtentsView(TupleView):
    """A tuple of ints of which code knows how many there are."""

    def parts(self):
        return [self.item(self.lowering.number(k)) for k in range(self.count)]


class EmptyView(ListView):
    """A list without elements, of which any one that is read is one that the loop has put there: what it is, that says."""

    empty = True

    def part(self, lowering, parts, node):
        grown(lowering, self, node)


class GridView(ListView):
    """A list of lists of one length, one of these, or an element: it keeps its lengths, and the type of its numbers."""


class RowsView(ListView):
    """A list of tuples, or of numbers of several types, which is a Growing one from the beginning (growing.py)."""

    def row(self, i):
        """An element."""
        p, words = self.lowering.p, []
        for n, dtype in enumerate(self.shape.words):
            at = p.apply("add", p.apply("multiply", i, self.dims[0][1]), self.lowering.number(8 * n))
            v = p.load(self.buffer, at, "int64")
            v = v if p.type(v) == "int64" else p.cast(v, "int64")
            words.append(p.call("bits_float", v) if dtype == "float64" else v)
        return self.shape.value(self.lowering, words)


_KINDS = {
    "": View, "list": ListView, "tuple": TupleView, "bytes": BytesView, "str": TextView, "empty list": EmptyView, "list of lists": GridView, "tuple of ": ExtentsView
}  # fmt: skip


def grown(lowering, view, node):
    """The list that a loop was given, where it is to change."""
    if isinstance(view, GridView) and view.own is None and lowering.arrays[view.slot] in lowering.facts.growing:
        raise NotCompiled("a list of lists that changes", node)
    lowering.facts.add(lowering.facts.growing, None, lowering.arrays[view.slot])
    raise Again("a list grows", node)
