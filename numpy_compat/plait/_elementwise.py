"""Elementwise functions that are no ufuncs, with NumPy's signatures; what the engine does not take falls back."""

import numpy

from . import _overrides, _plait
from ._array_protocol import taken
from ._creation import asarray
from ._fallback import RECORDED, call, given
from ._indexing import nonzero
from ._plait import call_numpy, ndarray

_NO = numpy._NoValue
_MISSING = object()  # numpy.where takes _NoValue for a value
_NUMBERS = {bool, int, float, complex, *(numpy.dtype(c).type for c in numpy.typecodes["All"] if numpy.dtype(c).kind in "biufc")}


def _where_casts_numbers():
    with numpy.errstate(under="raise"):
        try:
            numpy.where(True, numpy.float32(1), 1e-300)
        except FloatingPointError:
            return True
    return False


_plait.set_where_casts_numbers(_where_casts_numbers())


def where(condition, x=_MISSING, y=_MISSING, /):
    if x is _MISSING and y is _MISSING:
        return nonzero(condition) if type(condition) is ndarray and condition.ndim else call(numpy.where, (condition,))
    if x is not _MISSING and y is not _MISSING:
        if type(condition) in _NUMBERS and type(x) in _NUMBERS and type(y) in _NUMBERS:
            return call_numpy(numpy.where, (condition, x, y), None, None)  # no array for the engine
        if getattr(condition, "dtype", None) != bool and isinstance(condition, ndarray):
            condition = asarray(condition)
            condition = condition != 0 if condition.dtype.kind in "iufc" else condition
        result = _plait.elementwise("where", (condition, x, y), None)
        if result is not NotImplemented:
            return result
    return call(numpy.where, [v for v in (condition, x, y) if v is not _MISSING])


def clip(a, a_min=_NO, a_max=_NO, out=None, *, min=_NO, max=_NO, **kwargs):
    import plait

    low, high = (a_min if min is _NO else min), (a_max if max is _NO else max)
    unclear = (a_min is _NO) != (a_max is _NO) or (a_min is not _NO and (min is not _NO or max is not _NO))
    if isinstance(a, ndarray) and not kwargs and not unclear:
        low, high = (None if v is _NO else v for v in (low, high))
        if low is not None and high is not None:
            result = _plait.elementwise("clip", (a, low, high), out)
            if result is NotImplemented:
                result = _overrides.call(numpy._core.umath.clip, "__call__", (a, low, high), {"out": out})
            if result is not NotImplemented:
                return result
        elif low is not None or high is not None:
            try:
                return plait.maximum(a, low, out=out) if high is None else plait.minimum(a, high, out=out)
            except OverflowError:
                pass  # NumPy lets go of bounds that hold for every value, and words the rest
    return call(numpy.clip, (a,), given(a_min=a_min, a_max=a_max, min=min, max=max) | {"out": out, **kwargs})


def round(a, decimals=0, out=None):
    digits = _plait.index_of(decimals)
    if ndarray in type(a).__mro__ and digits == 0 and a.dtype.kind in "fc":
        import plait

        return plait.rint(a, out=out)
    if type(a) is ndarray and digits is not None and abs(digits) <= 400 and out is None and a.dtype.char in "efd" and a.dtype.isnative:
        rounded = _to_decimals(a, digits)
        # As NumPy, which multiplies into an array in C order, or in that of Fortran where the operand is.
        if rounded.flags.f_contiguous if a.flags.fnc else rounded.flags.c_contiguous:
            return rounded
    return call(numpy.round, (a, decimals, out))


def _to_decimals(a, decimals):
    import plait

    n = abs(decimals)
    scale = 10.0 ** min(n, 9)
    for _ in range(n - 9):  # which rounds as NumPy's does
        scale *= 10.0
    return plait.rint(a * scale) / scale if decimals > 0 else plait.rint(a / scale) * scale


around = round


def real(val):
    return val.real if isinstance(val, RECORDED) else numpy.real(val)


def imag(val):
    return val.imag if isinstance(val, RECORDED) else numpy.imag(val)


def astype(x, dtype, /, *, copy=True, device=None):
    if not isinstance(x, RECORDED):
        return call(numpy.astype, (x, dtype), {"copy": copy, "device": device})
    return x.astype(dtype, copy=copy)


def array_equal(a1, a2, equal_nan=False):
    if equal_nan or not (isinstance(a1, ndarray) and isinstance(a2, ndarray)):
        return call(numpy.array_equal, (taken(a1, {}), taken(a2, {}), equal_nan))  # which finds what it cannot read unequal
    return a1.shape == a2.shape and bool((asarray(a1) == asarray(a2)).all())
