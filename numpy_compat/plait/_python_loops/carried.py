"""Variables whose array or list is another one from iteration to iteration (`x = x + h * k`, `a, b = b, a`), or is read behind the loop: they say where it is
that they stand for now. Memory that the loop has made for one of them is its own, and goes to the statement that makes the next one."""

import copy

import numpy

from .growing import Growing, of_parts
from .list_views import ListView
from .listed import elements_of
from .lists_in_lists import NestedShape
from .made import materialised
from .types import NotCompiled
from .values import Listed
from .views import Vector, View, over_all, room_for


class Carried:
    def __init__(self, lowering, key, dtype, ndim):
        self.lowering, self.key, self.dtype = lowering, key, dtype
        self.slot = f"carried {key}"
        new = lambda: lowering.variable("int64")  # noqa: E731
        self.offset, self.dims = new(), [(new(), new()) for _ in range(ndim)]
        self.memory, self.room = new(), new()  # its own, of which the array need not be
        self.bound = new()

    def begin(self, view, address):
        """With the array that the loop was given."""
        self._point(address, view.dims)

    def _point(self, offset, dims):
        p = self.lowering.p
        p.set(self.bound, self.lowering.one)
        p.set(self.offset, offset)
        for ours, theirs in zip(self.dims, dims):
            for local, v in zip(ours, theirs):
                p.set(local, v)

    def view(self, node):
        low = self.lowering
        low.fail_if(low.same(low.p.get(self.bound), 0), lambda *_: low.unbound(self.key), node)
        get = low.p.get
        dims = [(get(extent), get(stride)) for extent, stride in self.dims]
        made = View(low, self.slot, low.heap(self.dtype), self.dtype, get(self.offset), dims, f"{self.slot} {low.statements}")
        made.carried = self
        if self.key in low.arrays:
            made.whole = low.arrays.index(self.key)
        return made

    def assign(self, value, node):
        low, p = self.lowering, self.lowering.p
        low.effects += 1
        if isinstance(value, Vector):
            value = materialised(low, value, node)
        if not isinstance(value, View) or isinstance(value, ListView) or (value.dtype, len(value.dims)) != (self.dtype, len(self.dims)):
            raise NotCompiled(f"{self.key} becomes something else than an array of {len(self.dims)} axes of {self.dtype}", node)
        if value.carried is self:
            return
        if value.carried is not None and low.live is not None and value.carried.key not in low.live and value.carried.like(self):
            return self.exchange(value.carried)
        others = [k for k, x in low.env.items() if any(v.slot == value.slot for v in _views([x]))]
        if low.live is not None and low.live.isdisjoint(others):
            for name in others:  # which nobody asks for any more
                del low.env[name]
            others = []
        if any(x.slot == self.slot for x in _views(low.env.values())):
            raise NotCompiled(f"{self.key} becomes another array, and the one that it was has another name", node)
        if value.site is not None and not others:
            self._point(value.offset, value.dims)
            for ours, theirs in zip((self.memory, self.room), value.site):
                before = p.get(ours)
                p.set(ours, p.get(theirs))
                p.set(theirs, before)
            return
        changes = {self.slot, value.slot} & low.facts.mutated or value.slot in low.facts.written
        if changes or not value.own_memory or self.key in low.facts.behind and not low.facts.behind.isdisjoint(others):
            raise NotCompiled(f"{self.key} becomes an array that has another name", node)
        if value.slot == self.slot:
            return self.assign(materialised(low, value.vector(), node), node)
        self._copy(value, node)

    def like(self, other):
        return (self.dtype, len(self.dims)) == (other.dtype, len(other.dims))

    def exchange(self, other):
        """Takes the array of a variable that nobody reads any more, which gets this one's: other names may stand for that, as in `t = a; a = b; b = t`."""
        env = self.lowering.env
        for k, x in [*env.items()]:
            if isinstance(x, View) and x.slot == self.slot:
                env[k] = made = copy.copy(x)
                made.slot, made.carried = other.slot, other if x.carried is self else None
            elif any(v.slot == self.slot for v in _views([x])):
                raise NotCompiled("a tuple has an array that changes its name")
        _exchange(self.lowering, [self, other], [other, self])

    def _copy(self, value, node):
        low, p = self.lowering, self.lowering.p
        extents = [extent for extent, _ in value.dims]
        strides = room_for(low, (self.memory, self.room), extents, self.dtype, node)
        self._point(p.get(self.memory), list(zip(extents, strides)))
        own = self.view(node)
        over_all(low, extents, lambda index: p.store(own.buffer, own._at(index), value._value(value._at(index)).id))

    @property
    def told(self):
        """Variables that say what is left of it behind the loop."""
        return [self.bound, self.offset, *(extent for extent, _ in self.dims), *(stride for _, stride in self.dims)]

    def found(self, results, heap, arrays):
        """The array, of what these say. arrays: addresses, shapes and strides of those that the loop was given -> arrays."""
        bound, address, *dims = results
        shape, strides = tuple(dims[: len(self.dims)]), tuple(dims[len(self.dims) :])
        if not bound:
            return None
        given = arrays.get((address, shape, strides))
        if given is not None:
            return given
        return heap.array(address, int(numpy.prod(shape)), self.dtype).reshape(shape)


class CarriedList(Growing):
    """The same of lists: the variable has the elements of the list that it stands for now."""

    def __init__(self, lowering, key):
        super().__init__(lowering, key)
        self.moved = lowering.variable("int64")  # whether it stands for another one than before the loop
        self.is_new = False  # whether it does for sure, where the lowering is

    def begin(self, view):
        self.lowering.p.set(self.count, self.lowering.zero)
        if not view.empty:
            self.fill(view.dims[0][0], view.row, self.lowering.top)

    def widen(self, shape, node):
        if isinstance(shape, NestedShape):
            raise NotCompiled(f"{self.key} becomes a list of lists, which may be read behind the loop", node)
        return super().widen(shape, node)

    def sets(self, node):
        if not self.is_new:
            raise NotCompiled(f"{self.key} changes, which may be the list from before the loop", node)
        super().sets(node)

    def assign(self, value, node):
        low, p = self.lowering, self.lowering.p
        if isinstance(value, Listed):
            value = of_parts(low, value, node)
        if value is self:
            return
        if not isinstance(value, Growing) or hasattr(value, "first") or hasattr(value, "head"):
            raise NotCompiled(f"{self.key} becomes something else than a list", node)
        if self.iterated or value.iterated:
            raise NotCompiled("a list that a loop goes over becomes another", node)
        others = [k for k, x in low.env.items() if x is value]
        exchanges = isinstance(value, CarriedList) and low.live is not None and value.key not in low.live
        if not exchanges and low.live is not None and low.live.isdisjoint(others):
            for name in others:  # which nobody asks for any more
                del low.env[name]
            others = []
        if others and not exchanges or any(value is x for _, x in low.lists) or any(x is self and k != self.key for k, x in low.env.items()):
            raise NotCompiled(f"{self.key} becomes a list that has another name", node)
        self.alike(value, node)
        for ours, theirs in ((self.address, value.address), (self.count, value.count), (self.room, value.room)):
            before = p.get(ours)
            p.set(ours, p.get(theirs))
            p.set(theirs, before)
        p.set(self.moved, low.one)
        self.is_new = not isinstance(value, CarriedList)
        if isinstance(value, CarriedList):
            if not value.is_new:
                raise NotCompiled(f"{self.key} becomes a list that may be from before the loop", node)
            p.set(value.moved, low.one)

    def alike(self, other, node):
        """Both have elements of one shape."""
        merges = self.lowering.facts.merges
        for a, b in ((self, other), (other, self)):
            if ("list", a.key) in merges:
                b.widen(merges["list", a.key], node)

    @property
    def told(self):
        return [self.moved, self.address, self.count]

    def found(self, results, heap, _):
        moved, address, count = results
        if not moved:
            return None
        wide = len(self.shape.words)
        return elements_of(self.shape, heap.array(address, count * wide, "int64").reshape(count, wide)) if count else []


def exchanged(lowering, targets, parts):
    """Whether carried variables get each other's arrays, as in `a, b = b, a`: they have them then."""
    ours = [lowering.env.get(getattr(t, "id", None)) for t in targets]
    theirs = [getattr(x, "carried", None) for x in parts]
    if not all(isinstance(x, Carried) for x in (*ours, *theirs)) or {*ours} != {*theirs} or len({*ours}) != len(ours):
        return False
    if not all(x.like(ours[0]) for x in ours):
        return False
    if any(v.slot in {x.slot for x in ours} for v in _views(lowering.env.values())):
        raise NotCompiled("arrays that get each other's names have others")
    _exchange(lowering, ours, theirs)
    return True


def _exchange(lowering, ours, theirs):
    p = lowering.p
    held = [[p.get(v) for v in (*x.told, x.memory, x.room)] for x in theirs]
    for x, values in zip(ours, held):
        for local, v in zip((*x.told, x.memory, x.room), values):
            p.set(local, v)


def _views(values):
    for x in values:
        if isinstance(x, View):
            yield x
        elif isinstance(x, list):
            yield from _views(x)
