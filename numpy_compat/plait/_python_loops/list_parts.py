"""A part of a list, `a[i:j]`, in a compiled loop: a new list, as in Python."""

import ast

from .carried import CarriedList
from .growing import Growing, NestedShape, items, new
from .types import NotCompiled
from .views import ListView, View


def part(lowering, a, node):
    if not isinstance(node.slice, ast.Slice) or not isinstance(node.ctx, ast.Load):
        raise NotCompiled("a part of a list is set, or an index of a list that is a tuple", node)
    if type(a) not in (Growing, CarriedList, ListView) or isinstance(a, Growing) and isinstance(a.shape, NestedShape):
        raise NotCompiled("a part of a list of lists, or of a tuple", node)
    p, ends = lowering.p, (node.slice.lower, node.slice.upper, node.slice.step)
    ends = [None if end is None else lowering.scalar(end) for end in ends]
    size, item = items(lowering, a, node)
    first, count, step = View.bounds(lowering, *ends, node, size)
    made = new(lowering, node)
    made.extend(count, lambda i: item(p.apply("add", first, p.apply("multiply", i, lowering.number(step)))), node)
    return made
