"""Parts of lists, `a[i:j]`, and lists that are joined, `a + b`, in a compiled loop: new lists, as in Python."""

import ast

from .carried import CarriedList
from .growing import Growing, added, items
from .list_views import ListView
from .lists_in_lists import NestedShape
from .types import NotCompiled
from .values import Listed
from .views import View


_KINDS = Growing, CarriedList, ListView


def _may_be_taken(a):
    """Whether it is a list of numbers or tuples."""
    return type(a) in _KINDS and not (isinstance(a, Growing) and isinstance(a.shape, NestedShape))


def part(lowering, a, node):
    if not isinstance(node.slice, ast.Slice) or not isinstance(node.ctx, ast.Load):
        raise NotCompiled("a part of a list is set, or an index of a list that is a tuple", node)
    if not _may_be_taken(a):
        raise NotCompiled("a part of a list of lists, or of a tuple", node)
    p, ends = lowering.p, (node.slice.lower, node.slice.upper, node.slice.step)
    ends = [None if end is None else lowering.scalar(end) for end in ends]
    size, item = items(lowering, a, node)
    first, count, step = View.bounds(lowering, *ends, node, size)
    made = lowering.new_list(node)
    made.extend(count, lambda i: item(p.apply("add", first, p.apply("multiply", i, lowering.number(step)))), node)
    return made


def are_lists(*found):
    """Whether they may be joined: one is there as the code runs, and any other one too, or it is written out."""
    written = [x for x in found if isinstance(x, Listed)]
    there = [x for x in found if not isinstance(x, Listed)]
    return bool(there) and all(map(_may_be_taken, there)) and not any(isinstance(v, (*_KINDS, Listed)) for x in written for v in x)


def joined(lowering, lists, node):
    """a + b"""
    made = lowering.new_list(node)
    for x in lists:
        added(lowering, made, x, node)
    return made
