"""What heapq, bisect and sort() do, in Python: compiled where a loop calls those. The places that elements get are the library's own, as its algorithms are
the same."""

import bisect
import builtins
import heapq
import types

from . import distributions, linear, lines, maths
from .inlining import inlined
from .lines import sort as sort_line
from .reading import definition, outer_name
from .types import NotCompiled


def _sift_up(heap, first, at):
    """Moves an element towards the root, up to `first`, until its parent is no larger."""
    item = heap[at]
    while at > first:
        above = (at - 1) >> 1
        parent = heap[above]
        if not item < parent:
            break
        heap[at] = parent
        at = above
    heap[at] = item


def _sift_down(heap, at):
    """Moves an element to a leaf, along the smaller children, and from there up again."""
    end, first, item = len(heap), at, heap[at]
    below = 2 * at + 1
    while below < end:
        other = below + 1
        if other < end and not heap[below] < heap[other]:
            below = other
        heap[at] = heap[below]
        at = below
        below = 2 * at + 1
    heap[at] = item
    _sift_up(heap, first, at)


def heappush(heap, item):
    heap.append(item)
    _sift_up(heap, 0, len(heap) - 1)


def heappop(heap):
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    if len(heap) == 0:
        return last
    first = heap[0]
    heap[0] = last
    _sift_down(heap, 0)
    return first


def heapreplace(heap, item):
    if len(heap) == 0:
        raise IndexError("index out of range")
    first = heap[0]
    heap[0] = item
    _sift_down(heap, 0)
    return first


def heapify(heap):
    for at in reversed(range(len(heap) // 2)):
        _sift_down(heap, at)


def bisect_left(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def bisect_right(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if x < a[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def insort_left(a, x):
    a.insert(bisect_left(a, x), x)


def insort_right(a, x):
    a.insert(bisect_right(a, x), x)


def sort(a):
    """Of a list: any order that is stable is Python's, where numbers have one."""
    for k in range(len(a)):
        if a[k] != a[k]:
            raise NotImplementedError("a list with NaN is sorted in a compiled loop; plait.jit(loops=False) runs it")
    sort_line(a)


SUBSTITUTES = {
    getattr(module, f.__name__): f
    for module, functions in ((heapq, (heappush, heappop, heapreplace, heapify)), (bisect, (bisect_left, bisect_right, insort_left, insort_right)))
    for f in functions
}
_OURS = {*SUBSTITUTES.values(), sort, _sift_up, _sift_down, *lines.FUNCTIONS, *linear.FUNCTIONS, *maths.FUNCTIONS, *distributions.FUNCTIONS}


def substituted(lowering, fn, args, node):
    """A call of one of those."""
    if fn.__code__.co_argcount != len(args):
        raise NotCompiled(f"{fn.__name__}() with other arguments", node)
    _named(lowering, fn)
    return inlined(lowering, fn, args, {}, node)


def _named(lowering, fn):
    """What a function here finds outside of itself, for who compiles it."""
    for name in definition(fn)[2]:
        key = outer_name(fn, name)
        if key not in lowering.env:
            found = lowering.env[key] = lowering.known(fn.__globals__.get(name, getattr(builtins, name, None)), None)
            if is_ours(found):
                _named(lowering, found)


def is_ours(fn):
    return isinstance(fn, types.FunctionType) and fn in _OURS
