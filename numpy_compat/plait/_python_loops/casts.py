"""Numbers of a compiled loop as those of another type: int() of them, and what NumPy's types make."""

import numpy

from . import modular, times
from .tracebacks import outgrown
from .types import INT, UINT, NotCompiled, class_of
from .values import Value


def as_int(lowering, a, node):
    """int() of a number."""
    if a.type.kind in "biu":
        if a.type == UINT:
            return a
        if a.type.dtype == "uint64":
            return Value(UINT, a.id)
        return Value(INT, lowering.cast(a, "int64"))
    p, x = lowering.p, lowering.cast(a, "float64")
    lowering.fail_if(lowering.negated(lowering.is_int_of(64, x)), outgrown(lambda _, a, b: too_large_for(int(a))), node, None, x)
    return Value(INT, p.cast(x, "int64"))


@outgrown
def too_large_for(*_):
    raise OverflowError("an int outgrows 64 bits in a compiled loop; plait.jit(loops=False) runs it")


def cast(lowering, a, t, node):
    if times.has(a):
        return times.cast(lowering, a, numpy.dtype(t.dtype), node)
    if t.kind in "iu" and a.type.kind == "f":
        return _whole(lowering, a, t, node)
    if a.type == UINT and t.kind in "iu" and t.dtype != "uint64":
        a = modular.narrowed(lowering, a, node)
    if a.type == INT and t.kind in "iu" and t.dtype != "int64":
        lowering.fits(a, t.dtype, lambda i, *_: class_of(t)(i), node)
    return Value(t, lowering.truth(a, node) if t.kind == "b" else lowering.cast(a, t.dtype))


def _whole(lowering, a, t, node):
    """A float as one of NumPy's integers: Python's by way of an int, NumPy's by a cast."""
    x, of = lowering.cast(a, "float64"), class_of(t)
    if not a.type.python:
        if t.dtype == "uint64":
            raise NotCompiled("numpy.uint64() of a float of NumPy's", node)
        lowering.warn_if(lowering.negated(lowering.is_int_of(64 if t.dtype in ("int64", "uint32") else 32, x)), "invalid value encountered in cast")
        return Value(t, lowering.cast(a, t.dtype))
    lowering.fail_if(lowering.negated(lowering.is_int_of(64, x)), outgrown(lambda _, a, b: too_large_for(of(a))), node, None, x)
    whole = Value(INT, lowering.p.cast(x, "int64"))
    lowering.fits(whole, t.dtype, lambda i, *_: of(i), node)
    return Value(t, lowering.cast(whole, t.dtype))
