"""Lines of a compiled loop that are put side by side, rolled, or taken each element of once: np.stack() and its like, np.roll() and np.unique()."""

import numpy

from . import lines
from .list_views import ListView
from .made import materialised
from .shaping import concatenate
from .substitutes import substituted
from .types import INT, NotCompiled
from .values import Listed, Value
from .views import Vector, View, as_vector, computed, is_int, made


def _line(lowering, x, node):
    if not isinstance(x, (View, Vector)) or isinstance(x, ListView) or isinstance(x, View) and x.scalar or len(as_vector(x, node).shape) != 1:
        raise NotCompiled("an array of another number of axes than one", node)
    return as_vector(x, node)


def _stacked(fn, along):
    """Lines as rows, or as columns."""

    def how(lowering, node, arrays, axis=None):
        if type(arrays) not in (list, Listed) or not arrays:
            raise NotCompiled(f"{fn.__name__}() of what is no tuple or list of arrays", node)
        if axis is not None and not (fn is numpy.stack and isinstance(axis, Value) and axis.known and axis.type == INT and axis.literal in (0, 1, -1)):
            raise NotCompiled("such an axis", node)
        rows = [_line(lowering, x, node) for x in arrays]
        dtypes = {lowering.type_of(x, node).dtype for x in rows}
        if len(dtypes) > 1:
            raise NotCompiled(f"{fn.__name__}() of lines of several dtypes", node)
        p, n = lowering.p, rows[0].shape[0]
        for k, x in enumerate(rows[1:], 1):
            if x.shape[0] != n:
                sizes = [lambda v=v: p.cast(v, "float64") for v in (n, x.shape[0])]
                again = lambda _, a, b, k=k: fn([*[numpy.zeros(int(a))] * k, numpy.zeros(int(b))])  # noqa: E731
                lowering.fail_if(p.apply("not_equal", n, x.shape[0]), again, node, None, *sizes, error=ValueError)
        as_columns, many = along if axis is None else axis.literal % 2, lowering.number(len(rows))
        out = made(lowering, [n, many] if as_columns else [many, n], *dtypes, node)
        _, i = p.begin_count(lowering.zero, n)
        for k, x in enumerate(rows):
            at = [i, lowering.number(k)] if as_columns else [lowering.number(k), i]
            p.store(out.buffer, out._at(at), lowering.stored_as(x.element([i]), out.dtype, node))
        p.end()
        return out

    return how


def _hstack(lowering, node, arrays):
    if type(arrays) in (list, Listed):
        arrays = type(arrays)(_line(lowering, x, node) for x in arrays)
    return concatenate(lowering, node, arrays)


def _roll(lowering, node, a, shift):
    x, p = _line(lowering, a, node), lowering.p
    if not isinstance(shift, Value) or shift.kinds or not is_int(shift):
        raise NotCompiled("np.roll() by what is no int", node)
    n = x.shape[0]
    by = p.apply("remainder", lowering.cast(shift, "int64"), p.apply("maximum", n, lowering.one))

    def element(index):
        at = p.apply("subtract", index[0], by)
        return x.element([p.apply("where", p.apply("less", at, lowering.zero), p.apply("add", at, n), at)])

    dtype = lowering.type_of(x, node).dtype
    return computed(lowering, [n], dtype, lambda index: lowering.stored_as(element(index), dtype, node), node)


def _unique(lowering, node, a):
    x = _line(lowering, a, node)
    if lowering.type_of(x, node).kind not in "fiu":
        raise NotCompiled("np.unique() of what are no real numbers", node)
    own = materialised(lowering, x, node)
    site = own.site
    count = substituted(lowering, lines.unique, [own], node)
    found = own.moved(own.offset, [(count.id, own.dims[0][1])], f"{own.text}, each once")
    found.in_order, found.site = True, site
    return found


OF_NUMPY = {
    "stack": _stacked(numpy.stack, 0), "vstack": _stacked(numpy.vstack, 0), "column_stack": _stacked(numpy.column_stack, 1), "hstack": _hstack,
    "roll": _roll, "unique": _unique,
}  # fmt: skip
