"""collections.deque in a compiled loop: a list whose first element may lie behind the beginning of its memory."""

import collections
from typing import NamedTuple

from .growing import FIRST, WORD, Growing, items
from .types import NotCompiled
from .views import Vector

_METHODS = {"append": 1, "appendleft": 1, "pop": 0, "popleft": 0, "extend": 1, "extendleft": 1, "clear": 0, "reverse": 0}


class OfDeque(NamedTuple):
    """A node at which a deque is made."""

    node: object


def is_new(fn):
    return fn is collections.deque


def new(lowering, args, node):
    """What collections.deque() gives."""
    if len(args) > 1 or node.keywords:
        raise NotCompiled("deque() of a largest length", node)
    made = lowering.list_of(OfDeque(node))
    made.clear()
    for x in args:
        made.extend_by(x, node)
    return made


class Deque(Growing):
    """`first`: how many places at the beginning of its memory are free."""

    def __init__(self, lowering, key):
        super().__init__(lowering, key)
        self.first = lowering.variable("int64")

    def _place(self, i, word=0):
        return super()._place(self.lowering.p.apply("add", self.lowering.p.get(self.first), i), word)

    def clear(self):
        super().clear()
        self.lowering.p.set(self.first, self.lowering.zero)

    def reserve(self, count, node):
        """Room for so many, from the first on. Where more than half of what is in use is free before that, the elements move there."""
        lowering, p = self.lowering, self.lowering.p
        end = lambda: p.apply("add", p.get(self.first), count)  # noqa: E731
        p.begin_if(p.apply("greater", end(), p.get(self.room)))
        p.begin_if(p.apply("greater", p.get(self.first), self.length))
        self._move(lowering.zero)
        p.end()
        p.begin_if(p.apply("greater", p.apply("multiply", end(), lowering.number(2)), p.get(self.room)))
        bytes_of = lambda n: p.apply("multiply", n, lowering.number(WORD * len(self.shape.words)))  # noqa: E731
        room = p.apply("add", p.apply("multiply", end(), lowering.number(2)), lowering.number(FIRST))
        p.set(self.address, p.call("heap_grow", p.get(self.address), bytes_of(p.apply("add", p.get(self.first), self.length)), bytes_of(room)))
        p.set(self.room, room)
        lowering.fail_if(lowering.same(p.get(self.address), 0), _no_memory, node)
        p.end()
        p.end()

    def _move(self, first):
        """The elements to other places: nearer to the beginning, or where those that they lie at are free."""
        lowering, p = self.lowering, self.lowering.p
        by = p.apply("subtract", first, p.get(self.first))
        _, i = p.begin_count(lowering.zero, self.length)
        self.put(p.apply("add", i, by), self._words(i))
        p.end()
        p.set(self.first, first)

    def appendleft(self, value, node):
        self.changes(node)
        words, lowering, p = self.holds(value, node), self.lowering, self.lowering.p
        p.begin_if(lowering.same(p.get(self.first), 0))
        gap = p.apply("add", self.length, lowering.number(FIRST))
        self.reserve(p.apply("add", self.length, gap), node)
        self._move(gap)  # behind where the last one is
        p.end()
        p.set(self.first, p.apply("subtract", p.get(self.first), lowering.one))
        self.put(lowering.zero, words)
        p.set(self.count, p.apply("add", self.length, lowering.one))

    def popleft(self, node):
        self.changes(node)
        lowering, p = self.lowering, self.lowering.p
        lowering.fail_if(lowering.same(self.length, 0), lambda *_: collections.deque().popleft(), node)
        value = self.element(lowering.zero)
        p.set(self.first, p.apply("add", p.get(self.first), lowering.one))
        p.set(self.count, p.apply("subtract", self.length, lowering.one))
        return value

    def pop(self, _, node):
        self.lowering.fail_if(self.lowering.same(self.length, 0), lambda *_: collections.deque().pop(), node)
        return super().pop(None, node)

    def checked(self, i, node, again):
        return super().checked(i, node, lambda *_: collections.deque()[0])

    def extend_by(self, x, node, add=None):
        """By the items of something else, one after the other."""
        if isinstance(x, list):
            for part in x:
                (add or self.append)(part, node)
        elif x is self or isinstance(x, Vector):
            raise NotCompiled("a deque gets its own elements, or those of an expression", node)
        elif add is None:
            self.extend(*items(self.lowering, x, node), node)
        else:
            count, item = items(self.lowering, x, node)
            _, i = self.lowering.p.begin_count(self.lowering.zero, count)
            add(item(i), node)
            self.lowering.p.end()

    def ended(self):
        """The elements lie at the beginning of its memory, from where they go back."""
        self._move(self.lowering.zero)

    def method(self, node, args):
        name = node.func.attr
        if _METHODS.get(name) != len(args) or node.keywords:
            raise NotCompiled(f"the method {name}() of a deque", node)
        if name == "pop":
            return self.pop(None, node)
        if name == "extend":
            return self.extend_by(*args, node)
        if name == "extendleft":
            return self.extend_by(*args, node, self.appendleft)
        if name == "clear":
            self.changes(node)
            return self.clear()
        return getattr(self, name)(*args, node)


def _no_memory(*_):
    raise MemoryError("a deque of a compiled loop does not fit into memory")


def empty(lowering, key, of="list"):
    """What stands for a list, or for a deque."""
    return (Deque if "deque" in of or isinstance(key, tuple) and isinstance(key[0], OfDeque) else Growing)(lowering, key)
