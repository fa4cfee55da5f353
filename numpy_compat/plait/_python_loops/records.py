"""Structured arrays in compiled loops. A field, `a["x"]`, is an input of its own, as an attribute of an object is: an array over the same memory. A record,
`a[i]`, is a place in all of them."""

import ast
from typing import NamedTuple

import numpy

from .._functions import MISSING
from .._plait import ndarray
from .types import NotCompiled
from .views import View
from .wanted import Path, Wanted

_TYPES = ndarray, numpy.ndarray, numpy.recarray


class Records(NamedTuple):
    """A structured array among the inputs of a loop."""

    dtype: numpy.dtype
    ndim: int
    by_attribute: bool  # whether fields are attributes, too, as those of its records are


class RecordArray(NamedTuple):
    """The same as it is lowered: the name of the input."""

    key: str
    of: Records


class Record(NamedTuple):
    """An element of one: at these places, which are known to be there. own: what a View has by that name."""

    array: RecordArray
    at: tuple
    own: object = None


def type_of(x):
    """The Records that an input is; None of anything else."""
    if type(x) in _TYPES and x.dtype.names is not None:
        return Records(x.dtype, x.ndim, type(x) is numpy.recarray)
    return None


def field_of(x, name):
    """The array of a field."""
    return x[name] if name in x.dtype.names and name not in getattr(x, "__dict__", {}) else MISSING


def is_record(x):
    return isinstance(x, (RecordArray, Record))


def _field(low, base, name, node):
    """The part that a field is of all records, or of one."""
    array, at = (base.array, base.at) if isinstance(base, Record) else (base, ())
    if name not in array.of.dtype.names or not name.isidentifier():
        raise NotCompiled(f"the field {name}", node)
    path = Path(array.key, name)
    if path.key not in low.inputs:
        raise Wanted(path, node)
    view = low.read(path.key, node)
    if not isinstance(view, View):
        raise NotCompiled(f"the field {name}, which is none of numbers", node)
    for i in at:
        view = _placed(low, view, i, base.own)
    return view


def _placed(low, view, i, own):
    offset, (_, stride) = low.p.apply("add", view.offset, low.p.apply("multiply", i, view.dims[0][1])), view.dims[0]
    return view.moved(offset, view.dims[1:], f"{view.text}[{i}] {low.statements}", own)


def _any(low, array, node):
    """The array of one of its fields."""
    for name in array.of.dtype.names:
        try:
            return _field(low, array, name, node)
        except NotCompiled:
            continue
    raise NotCompiled("an array of records without numbers", node)


def part(low, base, node):
    """base[...]: a field, or a record."""
    index = low.evaluate(node.slice)
    if isinstance(index, str):
        return _field(low, base, str(index), node)
    if isinstance(base, Record) or isinstance(node.ctx, ast.Store):
        raise NotCompiled("a record that is set, or whose fields have numbers", node)
    view, indices = _any(low, base, node), index if type(index) is list else [index]
    if len(indices) != base.of.ndim:
        raise NotCompiled("a part of an array of records", node)
    at = tuple(view._index(low, i, axis, extent, node) for axis, (i, (extent, _)) in enumerate(zip(indices, view.dims)))
    return Record(base, at)


def items(low, array, node):
    """How many records there are along the first axis, and that at a number."""
    if array.of.ndim != 1:
        raise NotCompiled("a loop over rows of records", node)
    return _any(low, array, node).dims[0][0], lambda i: Record(array, (i,))


def attribute(low, base, node):
    """base.name"""
    array = base.array if isinstance(base, Record) else base
    known = hasattr(numpy.record if isinstance(base, Record) else numpy.recarray, node.attr)
    if array.of.by_attribute and not known:
        return _field(low, base, node.attr, node)
    if isinstance(base, RecordArray) and node.attr in ("shape", "size", "ndim"):
        view = _any(low, base, node)
        return view.moved(view.offset, view.dims[: array.of.ndim], view.text).attribute(low, node)
    raise NotCompiled(f"the attribute {node.attr} of records", node)


def length(low, array, node):
    return _any(low, array, node).dims[0][0]


def set_attribute(low, base, target, value):
    low.put(attribute(low, base, target), value, target)


def augment(low, base, s):
    """`a[i].x += 1`"""
    place = attribute(low, base, s.target)
    old = place.load() if place.scalar else place.vector()
    low.put(place, low.binary(s.op, old, low.evaluate(s.value), s), s)
