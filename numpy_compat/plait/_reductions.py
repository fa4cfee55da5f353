"""Reductions, with NumPy's signatures; what the engine does not take falls back."""

import numpy

from . import _overrides, _plait
from ._creation import asarray
from ._fallback import call, flag, given
from ._plait import ndarray

_NO = numpy._NoValue
_KINDS = _plait.reduction_kinds()
_SUM, _PROD, _MIN, _MAX, _ANY, _ALL = (_KINDS[k] for k in ("sum", "prod", "min", "max", "any", "all"))
_ARGMIN, _ARGMAX = _KINDS["argmin"], _KINDS["argmax"]


def _ours(a):
    """True for what is worth recording; lists and numbers are NumPy's to begin with, but become arrays here."""
    return isinstance(a, ndarray) or type(a) in (list, tuple, _plait.lazy_scalar)


def _by_method(name, a, axis, dtype, out, **options):
    """The method of a subclass of plait.ndarray, which NumPy's functions call, too; NotImplemented for anything else."""
    if type(a) is ndarray or ndarray not in type(a).__mro__:
        if not _overrides.asked(out):
            return NotImplemented
        a = asarray(a)
    options = given(**options)
    if dtype is not None:
        options["dtype"] = dtype
    return getattr(a, name)(axis=axis, out=out, **options)


def _reduction(kind, function, a, axis, dtype, out, keepdims, initial, where):
    if type(a) is ndarray and axis is None and dtype is None and out is None and keepdims is _NO and initial is _NO and where is _NO:
        return getattr(a, function.__name__)()  # the short way
    if type(a) is not ndarray or out is not None:
        result = _by_method(function.__name__, a, axis, dtype, out, keepdims=keepdims, initial=initial, where=where)
        if result is not NotImplemented:
            return result
    if _ours(a) and initial is not None:
        result = _plait.reduce(
            kind, a, axis, dtype, out, False if keepdims is _NO else flag(keepdims), None if initial is _NO else initial,
            True if where is _NO else where,
        )  # fmt: skip
        if result is not NotImplemented:
            return result
    options = given(keepdims=keepdims, initial=initial, where=where)
    if dtype is not None:
        options["dtype"] = dtype
    if out is None and not options and isinstance(a, (bool, int, float, complex, numpy.generic)):
        return function(a, axis)
    return call(function, (a, axis), {"out": out, **options})


def sum(a, axis=None, dtype=None, out=None, keepdims=_NO, initial=_NO, where=_NO):
    return _reduction(_SUM, numpy.sum, a, axis, dtype, out, keepdims, initial, where)


def prod(a, axis=None, dtype=None, out=None, keepdims=_NO, initial=_NO, where=_NO):
    return _reduction(_PROD, numpy.prod, a, axis, dtype, out, keepdims, initial, where)


def min(a, axis=None, out=None, keepdims=_NO, initial=_NO, where=_NO):
    return _reduction(_MIN, numpy.min, a, axis, None, out, keepdims, initial, where)


def max(a, axis=None, out=None, keepdims=_NO, initial=_NO, where=_NO):
    return _reduction(_MAX, numpy.max, a, axis, None, out, keepdims, initial, where)


amin, amax = min, max


def any(a, axis=None, out=None, keepdims=_NO, *, where=_NO):
    return _reduction(_ANY, numpy.any, a, axis, None, out, keepdims, _NO, where)


def all(a, axis=None, out=None, keepdims=_NO, *, where=_NO):
    return _reduction(_ALL, numpy.all, a, axis, None, out, keepdims, _NO, where)


def _truth(keepdims):
    """keepdims of argmin and argmax, for which NumPy takes any object."""
    return keepdims if keepdims is _NO else bool(keepdims)


def argmin(a, axis=None, out=None, *, keepdims=_NO):
    return _reduction(_ARGMIN, numpy.argmin, a, axis, None, out, _truth(keepdims), _NO, _NO)


def argmax(a, axis=None, out=None, *, keepdims=_NO):
    return _reduction(_ARGMAX, numpy.argmax, a, axis, None, out, _truth(keepdims), _NO, _NO)


def _statistic(name, a, axis, dtype, out, keepdims, where, ddof=0, mean=None):
    if not _ours(a):
        return NotImplemented
    keepdims = False if keepdims is _NO else flag(keepdims)
    return _plait.statistic(name, a, axis, dtype, out, keepdims, True if where is _NO else where, ddof, mean)


def mean_of(a, axis, dtype, out, keepdims, where):
    """mean() as the method computes it."""
    result = _statistic("mean", a, axis, dtype, out, keepdims, where)
    if result is not NotImplemented:
        return result
    if _overrides.asked(a, out):
        return _overrides.method("mean", a, axis, dtype, out, **given(keepdims=keepdims, where=where))
    return call(numpy.mean, (a, axis, dtype, out), given(keepdims=keepdims, where=where))


def spread_of(name, a, axis, dtype, out, ddof, keepdims, where, mean):
    """var() or std() as the methods compute them."""
    # NumPy carries an integer dtype through the square root and the division.
    integer = dtype is not None and numpy.dtype(dtype).kind not in "fc"
    result = NotImplemented if integer else _statistic(name, a, axis, dtype, out, keepdims, where, ddof, None if mean is _NO else mean)
    if result is not NotImplemented:
        return result
    options = given(keepdims=keepdims, where=where, mean=mean)
    if _overrides.asked(a, out):
        return _overrides.method(name, a, axis, dtype, out, ddof, **options)
    return call(getattr(numpy, name), (a, axis, dtype, out, ddof), options)


def mean(a, axis=None, dtype=None, out=None, keepdims=_NO, *, where=_NO):
    if type(a) is ndarray and axis is None and dtype is None and out is None and keepdims is _NO and where is _NO:
        return a.mean()
    if type(a) is not ndarray or out is not None:
        result = _by_method("mean", a, axis, dtype, out, keepdims=keepdims, where=where)
        if result is not NotImplemented:
            return result
    return mean_of(a, axis, dtype, out, keepdims, where)


def _spread(name, a, axis, dtype, out, ddof, keepdims, where, mean, correction):
    if correction is not _NO:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    plain = axis is None and dtype is None and out is None and ddof == 0 and keepdims is _NO and where is _NO and mean is _NO
    if plain and type(a) is ndarray:
        return getattr(a, name)()
    if type(a) is not ndarray or out is not None:
        result = _by_method(name, a, axis, dtype, out, ddof=ddof, keepdims=keepdims, where=where, mean=mean)
        if result is not NotImplemented:
            return result
    return spread_of(name, a, axis, dtype, out, ddof, keepdims, where, mean)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=_NO, *, where=_NO, mean=_NO, correction=_NO):
    return _spread("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=_NO, *, where=_NO, mean=_NO, correction=_NO):
    return _spread("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def ptp(a, axis=None, out=None, keepdims=_NO):
    result = _statistic("ptp", a, axis, None, out, keepdims, _NO)
    if result is not NotImplemented:
        return result
    if _overrides.asked(a, out):
        return _overrides.method("ptp", a, axis, out, **given(keepdims=keepdims))
    return call(numpy.ptp, (a, axis, out), given(keepdims=keepdims))


def count_nonzero(a, axis=None, *, keepdims=False):
    result = _statistic("count_nonzero", a, axis, None, None, keepdims, _NO)
    return call(numpy.count_nonzero, (a, axis), {"keepdims": keepdims}) if result is NotImplemented else result
