"""Parts of arrays in a compiled loop: elements at an index that is checked, slices, and elementwise expressions of those, which loops compute
where they are stored or folded."""

import ast
import functools

import numpy

from .sharing import offset_of
from .tracebacks import fatal, outgrown
from .types import INT, NotCompiled, Scalar
from .values import Value
from .words import number

_HALF = 31  # bits of an extent, where one number holds two


WHOLE = object()


class View:
    """in_order: whether its elements lie in C order, as is known here; packed: whether those along the last axis do. `own`: the axis along which it is at one index, and how far that is from the counter of the loop (sharing.py); None where it is not known; or WHOLE."""

    def __init__(self, lowering, slot, buffer, dtype, offset, dims, text, own=None):
        self.lowering, self.slot, self.buffer, self.dtype = lowering, slot, buffer, dtype
        self.offset, self.dims, self.own = offset, dims, own
        self.whole = slot if own is WHOLE and not isinstance(slot, str) else None  # the array that it is all of
        self.site = self.carried = None  # variables for the memory of an array that was made now; the variable that it stands for (carried.py)
        self.lead = 0 if own is WHOLE else None  # axes of the array that indices have taken off in front, where nothing else was done to it
        self.within = None  # what `own` is, of the loop inside (nested.py)
        self.in_order = self.packed = False
        self.text = text  # of its source, and of which statement: the same text is the same part

    @property
    def scalar(self):
        return not self.dims

    @property
    def type(self):
        return Scalar(self.dtype)

    @property
    def own_memory(self):
        """Whether it is of an array that the loop makes."""
        return isinstance(self.slot, str)

    def moved(self, offset, dims, text, own=None):
        return type(self)(self.lowering, self.slot, self.buffer, self.dtype, offset, dims, text, own if self.own is WHOLE else self.own)

    def touch(self):
        if not self.own_memory:
            self.lowering.touched.setdefault(self.slot, set()).add(None if self.own is WHOLE else self.own)
            self.lowering.nested.touch(self)

    def _value(self, offset):
        p = self.lowering.p
        v = p.load(self.buffer, offset, self.dtype)
        return Value(self.type, v if p.type(v) == self.dtype else p.cast(v, self.dtype))

    def load(self):
        self.touch()
        return self._value(self.offset)

    def store(self, v):
        self.touch()
        self.lowering.p.store(self.buffer, self.offset, v)

    def attribute(self, lowering, node):
        if node.attr == "shape":
            return [Value(INT, extent) for extent, _ in self.dims]
        if node.attr == "ndim":
            return lowering.literal(len(self.dims))
        if node.attr == "size":
            v = lowering.one
            for extent, _ in self.dims:
                v = lowering.p.apply("multiply", v, extent)
            return Value(INT, v)
        if node.attr == "T":
            return self.moved(self.offset, self.dims[::-1], self.text + ".T")
        if node.attr == "dtype":
            return numpy.dtype(self.dtype)
        raise NotCompiled(f"the attribute {node.attr} of an array", node)

    def part(self, lowering, parts, node):
        """What an index, made of these parts, names."""
        p = lowering.p
        if any(isinstance(x, ast.Constant) and x.value is Ellipsis for x in parts):
            raise NotCompiled("an index with an ellipsis", node)
        if len(parts) > len(self.dims):
            raise NotCompiled("too many indices", node)
        offset, dims = self.offset, []
        own = next(((axis, at) for axis, x in enumerate(parts) if (at := offset_of(lowering.counter, x)) is not None), None)
        source = parts
        parts = [self._evaluated(lowering, x) for x in parts]  # all of them before any is checked
        if len(parts) == 1 and type(parts[0]) is list:  # a tuple of the parts
            (parts,) = parts
            if len(parts) > len(self.dims):
                raise NotCompiled("too many indices", node)
        if (found := lowering.selected(self, parts, node)) is not None:
            return found
        for axis, (x, (extent, stride)) in enumerate(zip(parts, self.dims)):
            if type(x) is tuple:
                start, length, step = self.bounds(lowering, *x, node, extent)
                moved = start
                dims.append((length, stride if step == 1 else p.apply("multiply", stride, lowering.number(step))))
            else:
                moved = self._index(lowering, x, axis, extent, node)
            offset = p.apply("add", offset, p.apply("multiply", moved, stride))
        made = self.moved(offset, dims + self.dims[len(parts) :], f"{self.text}[{lowering.facts.once(ast.dump, node.slice)}] {lowering.statements}", own)
        lowering.nested.part(self, made, source)
        return made

    def item(self, i, own=None):
        """That at a place along the first axis which is known to be there."""
        p, (_, stride) = self.lowering.p, self.dims[0]
        part = self.moved(p.apply("add", self.offset, p.apply("multiply", i, stride)), self.dims[1:], f"{self.text}[{i}]", own)
        part.within = self.within
        part.lead = None if self.lead is None else self.lead + 1
        return part.load() if part.scalar else part

    def _evaluated(self, lowering, x):
        """An index, or the ends and the step of a slice."""
        if isinstance(x, ast.Slice):
            return tuple(None if end is None else lowering.scalar(end) for end in (x.lower, x.upper, x.step))
        return lowering.evaluate(x)

    def _index(self, lowering, i, axis, extent, node):
        i = number(lowering, i, node)
        if not isinstance(i, Value) or not is_int(i):
            raise NotCompiled("an index that is no int", node)
        i = lowering.cast(i, "int64")
        at, outside = lowering.p.index(i, extent)
        size = lambda: lowering.p.cast(extent, "float64")  # noqa: E731
        lowering.fail_if(outside, self._outside(axis, node), node, i, size, error=IndexError)
        return at

    def _outside(self, axis, node):
        """What raises the error of an index that is no element's."""
        return lambda i, n, _: _outside(i, axis, int(n))

    @staticmethod
    def bounds(lowering, lower, upper, by, node, extent):
        """Of a slice: first index, length and step."""
        p = lowering.p
        step = 1
        if by is not None:
            if by.known and by.type == INT and by.literal < 0:
                return View._backwards(lowering, lower, upper, by.literal, node, extent)
            if not by.known or by.type != INT or by.literal == 0:
                raise NotCompiled("a slice whose step is not known", node)
            step = by.literal
        ends = []
        for v, default in ((lower, lowering.zero), (upper, extent)):
            if v is None:
                ends.append(default)
                continue
            if not is_int(v):
                raise NotCompiled("a slice whose ends are no ints", node)
            v = lowering.cast(v, "int64")
            v = p.apply("where", p.apply("less", v, lowering.zero), p.apply("maximum", p.apply("add", v, extent), lowering.zero), v)
            ends.append(p.apply("minimum", v, extent))
        length = p.apply("maximum", p.apply("subtract", ends[1], ends[0]), lowering.zero)
        if step != 1:
            length = p.apply("floor_divide", p.apply("add", length, lowering.number(step - 1)), lowering.number(step))
        return ends[0], length, step

    @staticmethod
    def _backwards(lowering, lower, upper, step, node, extent):
        """The same of a negative step: ends are at most the last place, and at least -1."""
        p = lowering.p
        last = p.apply("subtract", extent, lowering.one)
        ends = []
        for v, default in ((lower, last), (upper, lowering.number(-1))):
            if v is None:
                ends.append(default)
                continue
            if not is_int(v):
                raise NotCompiled("a slice whose ends are no ints", node)
            v = lowering.cast(v, "int64")
            v = p.apply("where", p.apply("less", v, lowering.zero), p.apply("maximum", p.apply("add", v, extent), lowering.number(-1)), v)
            ends.append(p.apply("minimum", v, last))
        length = p.apply("maximum", p.apply("subtract", ends[0], ends[1]), lowering.zero)
        if step != -1:
            length = p.apply("floor_divide", p.apply("add", length, lowering.number(-step - 1)), lowering.number(-step))
        return ends[0], length, step

    def vector(self):
        if self.dtype == "float16":
            raise NotCompiled(f"a part of an array of {self.dtype}")
        self.touch()
        self.lowering.facts.all_of(self.whole)
        return Vector([extent for extent, _ in self.dims], self.type, lambda index: self._value(self._at(index)), {(self.slot, self.text): self})

    def assign(self, value, node):
        """Element by element; by way of memory where elements that are still to be read may be among them."""
        self.lowering.facts.all_of(self.whole)

        self.touch()
        lowering, p = self.lowering, self.lowering.p
        others = []
        if not isinstance(value, Value):
            value = as_vector(value, node)
            if len(value.shape) > len(self.dims):
                raise NotCompiled("an array of more dimensions is assigned", node)
            for (slot, text), part in value.reads.items():
                if slot != self.slot:
                    if not (self.own_memory or part.own_memory):
                        lowering.facts.add(lowering.facts.apart, None, (self.slot, slot))
                elif text != self.text:
                    others.append(part)
            same_shape(lowering, [ours for ours, _ in self.dims], value.shape, node, _assigned)

        def element(index):
            x = value if isinstance(value, Value) else value.element(index[len(self.dims) - len(value.shape) :])
            if isinstance(node, ast.AugAssign) and not numpy.can_cast(x.type.dtype, self.dtype, "same_kind"):
                raise NotCompiled("numbers of another kind are computed into an array", node)
            return lowering.stored_as(x, self.dtype, node)

        extents = [extent for extent, _ in self.dims]

        def store(element):
            over_all(lowering, extents, lambda index: p.store(self.buffer, self._at(index), element(index)))

        if not others:
            return store(element)
        p.begin_if(functools.reduce(lambda a, b: p.apply("logical_or", a, b), map(self._meets, others)))
        between = computed(lowering, extents, self.dtype, element, node)
        store(lambda index: between._value(between._at(index)).id)
        p.otherwise()
        store(element)
        p.end()

    def _at(self, index):
        p, offset = self.lowering.p, self.offset
        for i, (_, stride) in zip(index, self.dims):
            offset = p.apply("add", offset, p.apply("multiply", i, stride))
        return offset

    def _meets(self, other):
        """Whether the bytes from the first element to the last one of two parts have some in common."""
        p = self.lowering.p
        (a, b), (c, d) = self._span(), other._span()
        return p.apply("logical_and", p.apply("less", a, d), p.apply("less", c, b))

    def _span(self):
        p, zero = self.lowering.p, self.lowering.zero
        low, high = self.offset, p.apply("add", self.offset, self.lowering.number(numpy.dtype(self.dtype).itemsize))
        for extent, stride in self.dims:
            beyond = p.apply("multiply", p.apply("subtract", extent, self.lowering.one), stride)
            low = p.apply("add", low, p.apply("minimum", beyond, zero))
            high = p.apply("add", high, p.apply("maximum", beyond, zero))
        return low, high


class Described:
    """Variables that say where a part of an array is: they hold it where several ways through the source lead to it."""

    def __init__(self, lowering, view):
        self.lowering, self.like = lowering, view
        local = lambda: lowering.p.local("int64")  # noqa: E731
        self.offset, self.dims = local(), [(local(), local()) for _ in view.dims]
        self.site = view.site

    def set(self, view, node):
        p, like = self.lowering.p, self.like
        if (type(view), view.slot, view.buffer, view.dtype, len(view.dims)) != (type(like), like.slot, like.buffer, like.dtype, len(like.dims)):
            raise NotCompiled("one of several arrays", node)
        self.site = self.site if view.site == self.site else None
        p.set(self.offset, view.offset)
        for ours, theirs in zip(self.dims, view.dims):
            for local, v in zip(ours, theirs):
                p.set(local, v)
        return self

    def view(self):
        get = self.lowering.p.get
        dims = [(get(extent), get(stride)) for extent, stride in self.dims]
        made = type(self.like)(self.lowering, self.like.slot, self.like.buffer, self.like.dtype, get(self.offset), dims, f"{self.like.text} {self.offset}")
        made.site = self.site
        return made


class Vector:
    """An elementwise expression. shape: extents; element(indices): a Value; reads: slots and sources -> parts of arrays."""

    scalar = False

    def __init__(self, shape, type_, element, reads):
        self.shape, self.type, self.element, self.reads = shape, type_, element, reads

    @classmethod
    def elementwise(cls, lowering, fn, operands, node):
        operands = [x if isinstance(x, Value) else as_vector(x, node) for x in operands]
        vectors = [x for x in operands if isinstance(x, cls)]
        shape = max((v.shape for v in vectors), key=len)
        alike = _added if isinstance(node, ast.AugAssign) else numpy.add
        for v in vectors:
            both = (shape, v.shape) if v.shape is not shape and v is not vectors[0] else (v.shape, shape)
            same_shape(lowering, *both, node, alike)

        def element(index):
            parts = [x if isinstance(x, Value) else x.element(index[len(index) - len(x.shape) :]) for x in operands]
            before, lowering.of_arrays = lowering.of_arrays, True
            try:
                return fn(*parts)
            finally:
                lowering.of_arrays = before

        return cls(shape, None, element, {k: part for v in vectors for k, part in v.reads.items()})


def over_all(lowering, extents, visit):
    """visit(index) in loops over all elements."""
    p = lowering.p
    visit([p.begin_count(lowering.zero, extent)[1] for extent in extents])
    for _ in extents:
        p.end()


def as_vector(x, node):
    if isinstance(x, View):
        return x.vector()
    if isinstance(x, Vector):
        return x
    raise NotCompiled("what is neither a number nor an array", node)


def is_int(v):
    """Whether a number may count places: no bool, which indices take for a mask, and none beyond 64 bits."""
    return all(t.kind in "iu" and t.dtype != "uint64" for t in v.kinds or {v.type})


def same_extent(lowering, a, b, node, fn=numpy.add):
    if a != b:
        sizes = [lambda v=v: lowering.p.cast(v, "float64") for v in (a, b)]
        lowering.fail_if(lowering.p.apply("not_equal", a, b), outgrown(lambda _, a, b: _unequal(fn, int(a), int(b))), node, None, *sizes)


def same_shape(lowering, a, b, node, fn):
    """As far as both have axes."""
    p = lowering.p
    for ours, theirs in zip(reversed(a), reversed(b)):
        if max(len(a), len(b)) == 1 or len(a) > 2 or len(b) > 2:
            same_extent(lowering, ours, theirs, node, fn)
        elif ours != theirs:
            first = lambda: p.apply("add", p.apply("left_shift", a[0], lowering.number(_HALF)), a[1]) if len(a) == 2 else a[0]  # noqa: E731
            second = [lambda v=v: p.cast(v, "float64") for v in b]
            again = outgrown(lambda i, *parts: _unequal(fn, divmod(i, 1 << _HALF) if len(a) == 2 else i, tuple(map(int, parts[: len(b)]))))
            lowering.fail_if(p.apply("not_equal", ours, theirs), again, node, first, *second)


def _outside(i, axis, n):
    raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")


def _assigned(to, value):
    to[...] = value


def _added(to, value):
    to += value


def _unequal(fn, a, b):
    fn(numpy.zeros(a), numpy.zeros(b))
    raise NotImplementedError("an axis of one element is repeated in a compiled loop; plait.jit(loops=False) runs it")


@fatal
def _too_large(*_):
    raise MemoryError("an array of a compiled loop does not fit into memory")


def computed(lowering, extents, dtype, element, node):
    """An array whose elements are those at each index."""
    view = made(lowering, extents, dtype, node)
    over_all(lowering, extents, lambda index: lowering.p.store(view.buffer, view._at(index), element(index)))
    return view


def made(lowering, extents, dtype, node):
    """A view of new memory, for an array in C order."""
    memory, room, slot = lowering.memory_at(node)
    strides = room_for(lowering, (memory, room), extents, dtype, node)
    offset = lowering.p.get(memory)
    view = View(lowering, slot, lowering.heap(dtype), dtype, offset, list(zip(extents, strides)), f"{slot} {lowering.statements}")
    view.site = memory, room
    view.in_order = True
    return view


def room_for(lowering, variables, extents, dtype, node):
    """Gives the memory at the address in the first variable, whose size the second one has, room for an array in C order: its strides."""
    p, (memory, room) = lowering.p, variables
    strides, size = [], lowering.number(numpy.dtype(dtype).itemsize)
    for n, extent in enumerate(reversed(extents)):
        strides.insert(0, size)
        if n:  # one alone does not go so far (MOST)
            lowering.fail_if(p.overflows("multiply", size, extent), _too_large, node)
        size = p.apply("multiply", size, extent)
    p.begin_if(p.apply("greater", size, p.get(room)))
    p.set(memory, p.call("heap_grow", p.get(memory), lowering.zero, size))
    p.set(room, size)
    lowering.fail_if(lowering.same(p.get(memory), 0), _too_large, node)
    p.end()
    return strides
