"""Elements of an array that masks and arrays of ints select, in a compiled loop: read, they are a new array. A mask stands for the places at which it is true,
as np.nonzero() has them."""

import ast

import numpy

from . import times
from .dry import resolved
from .growing import Growing
from .list_views import ListView
from .made import materialised, of_numbers
from .types import NotCompiled, Scalar
from .values import Listed, Value
from .views import Vector, View, as_vector, computed, made, over_all, same_extent, same_shape


def selects(part):
    """Whether a part of an index is an array, or a list that NumPy takes for one."""
    return isinstance(part, (Vector, Growing, Listed)) or isinstance(part, View) and not part.scalar


class Selected:
    """A place that such an index names. axes: for each of the array's, a function of the index among what is selected."""

    scalar = True  # as all of it is read at once

    def __init__(self, base, shape, axes, mask, key):
        self.base, self.shape, self.axes, self.mask, self.key = base, shape, axes, mask, key
        self.dtype = base.dtype

    def load(self):
        base = self.base
        base.touch()
        return computed(base.lowering, self.shape, base.dtype, lambda index: base._value(self._at(index)).id, self.key)

    def put(self, value, node):
        base, low = self.base, self.base.lowering
        base.touch()
        low.effects += 1
        low.facts.add(low.facts.mutated if base.own_memory else low.facts.written, None, base.slot)
        if not isinstance(value, Value):
            # Its elements are all there before one is set.
            value = materialised(low, as_vector(value, node), self.key).vector()
            if len(value.shape) > len(self.shape):
                raise NotCompiled("an array of more dimensions is assigned", node)
            same_shape(low, self.shape, value.shape, node, _assigned_by_mask if self.mask else _assigned)
        elif not value.kinds or base.dtype[0] == "f":
            x = low.stored_as(value, base.dtype, node)
            return over_all(low, self.shape, lambda index: low.p.store(base.buffer, self._at(index), x))

        def store(index):
            x = value if isinstance(value, Value) else value.element(index[len(index) - len(value.shape) :])
            if isinstance(node, ast.AugAssign) and not numpy.can_cast(x.type.dtype, base.dtype, "same_kind"):
                raise NotCompiled("numbers of another kind are computed into an array", node)
            low.p.store(base.buffer, self._at(index), low.stored_as(x, base.dtype, node))

        over_all(low, self.shape, store)

    def _at(self, index):
        return self.base._at([of(index) for of in self.axes])


def selected(base, lowering, parts, node):
    """What an index of an array names, some of whose parts are arrays."""
    key = node.slice  # of which there is one, however often a statement reads and sets what it names
    if isinstance(base, ListView):
        raise NotCompiled("a list at an index that is an array", node)
    found, masks = [], 0
    for part in parts:
        lines, of_mask = _lines(base, lowering, part, len(found), node, key) if selects(part) else ([part], False)
        found += lines
        masks += of_mask
    if len(found) > len(base.dims):
        raise NotCompiled("too many indices", node)
    lines = [x for x in found if isinstance(x, View)]
    if len({len(x.dims) for x in lines}) > 1:
        raise NotCompiled("indices that are arrays of several dimensions", node)
    for x in lines[1:]:
        for (ours, _), (theirs, _) in zip(lines[0].dims, x.dims):
            same_extent(lowering, ours, theirs, node, _picked)
    first, last = (next(n for n in order if type(found[n]) is not tuple) for order in (range(len(found)), reversed(range(len(found)))))
    if any(type(x) is tuple for x in found[first:last]):
        raise NotCompiled("a slice between indices that are arrays", node)
    found += [(None, None, None)] * (len(base.dims) - len(found))
    return _place(base, lowering, found, lines[0], masks == 1 and len(lines) == len(base.dims), node, key)


def _place(base, lowering, found, like, mask, node, key):
    """Of an index with a part for each axis: slices, numbers, and lines of places that are there, which stand side by side."""
    p, shape, axes, at = lowering.p, [], [], None
    for axis, (x, (extent, _)) in enumerate(zip(found, base.dims)):
        if type(x) is tuple:
            start, length, step = base.bounds(lowering, *x, node, extent)
            n, by = len(shape), lowering.number(step)
            axes.append(lambda index, n=n, start=start, by=by: p.apply("add", start, p.apply("multiply", index[n], by)))
            shape.append(length)
            continue
        if at is None:
            at = len(shape), len(shape) + len(like.dims)
            shape += [extent for extent, _ in like.dims]
        if isinstance(x, View):
            axes.append(lambda index, x=x: x._value(x._at(index[slice(*at)])).id)
        else:
            i = base._index(lowering, x, axis, extent, node)
            axes.append(lambda index, i=i: i)
    return Selected(base, shape, axes, mask, key)


def _lines(base, lowering, part, axis, node, key):
    """Places along the axes from this one on, and whether they are those of a mask."""
    if isinstance(part, Listed):
        part = of_numbers(lowering, part, None, key)
    if isinstance(part, Growing):
        if part.type is None or part.type.kind != "i":
            raise NotCompiled("an index that is no list of ints", node)
        length, element = part.length, lambda index: part.element(index[0])
    else:
        part = as_vector(part, node)
        length, element = None, part.element
    t = part.type if isinstance(part, Growing) else lowering.type_of(part, node)
    shape = [length] if length is not None else part.shape
    if axis + (len(shape) if t.kind == "b" else 1) > len(base.dims):
        raise NotCompiled("too many indices", node)
    if t.kind == "b":
        for n, extent in enumerate(shape, axis):
            _same_as_mask(lowering, base.dims[n][0], extent, n, node)
        return nonzero(lowering, part, key), True
    if t.kind not in "iu" or t.dtype == "uint64":
        raise NotCompiled("an index of what are no ints", node)
    extent = base.dims[axis][0]
    return [computed(lowering, shape, "int64", lambda index: base._index(lowering, element(index), axis, extent, node), key)], False


def nonzero(lowering, what, node):
    """Lines of the indices at which elements are not zero, one for each axis."""
    what, p = as_vector(what, node), lowering.p
    total = what.shape[0]
    for extent in what.shape[1:]:
        total = p.apply("multiply", total, extent)
    lines, count = [made(lowering, [total], "int64", node) for _ in what.shape], lowering.variable("int64")

    def note(index):
        truth = lowering.truth(what.element(index), node)
        for line, i in zip(lines, index):  # which the next one is put over, where this is none
            p.store(line.buffer, line._at([p.get(count)]), i)
        p.set(count, p.apply("add", p.get(count), p.cast(truth, "int64")))

    over_all(lowering, what.shape, note)
    return [line.moved(line.offset, [(p.get(count), line.dims[0][1])], f"{line.text} that are true") for line in lines]


def where(lowering, condition, a, b, node):
    """np.where() of three."""
    def one(c, x, y):
        if x.type.kind == "c" or y.type.kind == "c":
            raise NotCompiled("np.where() of complex numbers", node)
        if x.type != y.type and (times.has(x) or times.has(y)):
            raise NotCompiled("np.where() of times of several units", node)
        _, dtype = resolved(numpy.maximum, x.type, y.type)
        x, y = (lowering.stored_as(v, dtype, node) for v in (x, y))
        return Value(Scalar(dtype), lowering.p.apply("where", lowering.truth(c, node), x, y))

    if all(isinstance(x, Value) for x in (condition, a, b)):
        raise NotCompiled("np.where() of numbers, which is an array without axes", node)
    return materialised(lowering, Vector.elementwise(lowering, one, [condition, a, b], node), node)


def _same_as_mask(lowering, ours, theirs, axis, node):
    if ours != theirs:

        def again(_, a, b):
            numpy.zeros((1,) * axis + (int(a),))[(slice(None),) * axis + (numpy.ones(int(b), bool),)]

        lowering.fail_if(lowering.p.apply("not_equal", ours, theirs), again, node, None, *(lambda v=v: lowering.p.cast(v, "float64") for v in (ours, theirs)))


def _picked(a, b):
    numpy.zeros((1, 1))[a.astype(int), b.astype(int)]


def _assigned(to, value):
    to[numpy.arange(len(to))] = value


def _assigned_by_mask(to, value):
    to[numpy.ones(to.shape, bool)] = value
