"""Functions that take indices and masks, with NumPy's signatures; what the engine does not take falls back."""

import math
import operator

import numpy

from . import _overrides, _plait
from ._creation import asarray, empty
from ._fallback import call
from ._plait import ndarray


def _mask(x):
    """x as booleans."""
    return x if x.dtype == bool else x != 0


def take(a, indices, axis=None, out=None, mode="raise"):
    if type(a) is ndarray and out is None and mode == "raise":
        result = _plait.take(a, indices, axis)
        if result is not NotImplemented:
            return result
    return call(numpy.take, (a, indices, axis), {"out": out, "mode": mode})


def take_along_axis(arr, indices, axis=-1):
    if type(arr) is ndarray and isinstance(indices, (ndarray, numpy.ndarray)) and axis is not None:
        result = _plait.take_along_axis(arr, indices, axis)
        if result is not NotImplemented:
            return result
    return call(numpy.take_along_axis, (arr, indices, axis))


def put_along_axis(arr, indices, values, axis):
    if type(arr) is ndarray and arr.flags.writeable and isinstance(indices, (ndarray, numpy.ndarray)) and axis is not None \
            and _plait.put_along_axis(arr, indices, _values(values, arr), axis) is not NotImplemented:
        return
    call(numpy.put_along_axis, (arr, indices, values, axis))


def compress(condition, a, axis=None, out=None):
    if type(a) is ndarray and out is None:
        result = _plait.compress(condition, a, axis)
        if result is not NotImplemented:
            return result
    return call(numpy.compress, (condition, a, axis, out))


def extract(condition, arr):
    if type(arr) is ndarray and type(condition) is ndarray and condition.dtype.kind in "biufc":
        result = _plait.compress(_mask(condition).ravel(), arr, None)
        if result is not NotImplemented:
            return result
    return call(numpy.extract, (condition, arr))


def nonzero(a):
    if type(a) is ndarray:
        result = _plait.nonzero(a)
        if result is not NotImplemented:
            return result
    return call(numpy.nonzero, (a,))


def flatnonzero(a):
    if type(a) is ndarray:
        result = _plait.nonzero(a.ravel())
        if result is not NotImplemented:
            return result[0]
    return call(numpy.flatnonzero, (a,))


def argwhere(a):
    if type(a) is ndarray:
        result = _plait.argwhere(a)
        if result is not NotImplemented:
            return result
    return call(numpy.argwhere, (a,))


def _casts(value, a, rule):
    return type(value) is ndarray and numpy.can_cast(value.dtype, a.dtype, rule)


def _values(v, a):
    """What is to be stored in a, as an array: numbers and lists take a's dtype, which checks them, before they are one."""
    return asarray(v, None if isinstance(v, ndarray) or _plait.host_of(a) is not None else a.dtype)


def put(a, ind, v, mode="raise"):
    if type(a) is ndarray and mode == "raise" and a.size and a.flags.c_contiguous and a.flags.writeable:
        at, value = asarray(ind), _values(v, a)
        if type(at) is ndarray and at.dtype.kind in "iu" and at.dtype != numpy.uint64 and at.size and (value.size == 1 or value.size == at.size) \
                and _casts(value, a, "same_kind"):
            a.reshape(-1)[at.ravel()] = value.ravel()
            return
    call(numpy.put, (a, ind, v, mode))


def putmask(a, /, mask, values):
    if type(a) is ndarray and type(mask) is ndarray and mask.shape == a.shape and mask.dtype.kind in "biufc" and a.flags.writeable:
        value = _values(values, a)
        if _casts(value, a, "safe") and (value.size == 1 or value.shape == a.shape):
            value = value if value.shape == a.shape else value.reshape(())
            if _plait.assign(a, value, _mask(mask)) is not NotImplemented:
                return
    call(numpy.putmask, (a, mask, values))


def place(arr, mask, vals):
    if type(arr) is ndarray and type(mask) is ndarray and mask.shape == arr.shape and mask.dtype.kind in "biufc" and arr.flags.writeable:
        value = _values(vals, arr)
        if value.size == 1 and _casts(value, arr, "safe") and _plait.assign(arr, value.reshape(()), _mask(mask)) is not NotImplemented:
            return
        if value.size > 1 and _casts(value, arr, "safe"):
            chosen, value = _mask(mask), value.reshape(-1)
            n = int(_plait.statistic("count_nonzero", chosen, None, None, None, False, True, 0, None))
            if n <= value.size:
                arr[chosen] = value[:n]
                return
    call(numpy.place, (arr, mask, vals))


def choose(a, choices, out=None, mode="raise"):
    few = type(choices) in (list, tuple) and 0 < len(choices) <= 16 and all(type(c) is ndarray and _plait.host_of(c) is None for c in choices)
    if type(a) is not ndarray or a.dtype.kind not in "iu" or not few or out is not None or mode != "raise" or not _within((a,), (len(choices),)):
        return call(numpy.choose, (a, choices), {"out": out, "mode": mode})
    dtype = numpy.result_type(*(c.dtype for c in choices))
    made = choices[0].astype(dtype, copy=False)
    for k, choice in enumerate(choices):
        made = _plait.elementwise("where", (a == k, choice.astype(dtype, copy=False), made), None)
    return made.astype(dtype, order="C", copy=False)


def bincount(x, /, weights=None, minlength=0):
    """Sums of weights have NumPy's order up to 2**20 elements, an order of their own that no number of threads changes beyond."""
    if type(x) is ndarray:
        result = _plait.bincount(x, weights, minlength)
        if result is not NotImplemented:
            return result
    return call(numpy.bincount, (x,), {"weights": weights, "minlength": minlength})


def _within(indices, extents):
    if not all(type(i) is ndarray and i.dtype.kind in "iu" and i.size and _plait.host_of(i) is None for i in indices):
        return False
    bounds = [_plait.extremes(i) for i in indices]
    return all(low >= 0 and high < n for (low, high), n in zip(bounds, extents))


def _extents(shape):
    """The shape as integers whose product is an index; None for what NumPy has to judge."""
    try:
        shape = [operator.index(n) for n in ((shape,) if isinstance(shape, (int, numpy.integer)) else shape)]
    except TypeError:
        return None
    return shape if shape and min(shape) > 0 and math.prod(shape) < 1 << 63 else None


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    extents = _extents(dims) if mode == "raise" and order == "C" and type(multi_index) in (tuple, list) else None
    if extents is None or len(extents) != len(multi_index) or not _within(multi_index, extents):
        return call(numpy.ravel_multi_index, (multi_index, dims, mode, order))
    flat = 0
    for i, n in zip(multi_index, extents):
        flat = flat * n + i.astype(numpy.intp)
    return flat


def unravel_index(indices, shape, order="C"):
    extents = _extents(shape) if order == "C" and type(indices) is ndarray and indices.ndim else None
    if extents is None or not _within((indices,), (math.prod(extents),)):
        return call(numpy.unravel_index, (indices, shape), {"order": order})
    made = empty((*indices.shape, len(extents)), numpy.intp)
    rest = indices.astype(numpy.intp)
    for axis in range(len(extents) - 1, 0, -1):
        above = rest // extents[axis]
        made[..., axis] = rest - above * extents[axis]
        rest = above
    made[..., 0] = rest
    return tuple(made[..., axis] for axis in range(len(extents)))


def histogram(a, bins=10, range=None, density=None, weights=None):
    if type(a) is ndarray and a.dtype == float and (_plait.index_of(bins) or 0) > 0 and weights is None and a.size:
        counted = _counted(a if a.ndim else a.reshape(-1), _plait.index_of(bins), range)
        if counted is not None:
            n, edges = counted
            if not density:
                return n, edges
            widths = edges[1:] - edges[:-1]
            return n / widths / n.sum(), edges
    return call(numpy.histogram, (a,), {"bins": bins, "range": range, "density": density, "weights": weights})


def _counted(a, bins, limits):
    """Counts and edges of equal bins; None where NumPy has something to say of the range."""
    if limits is None:
        low, high = _plait.extremes(a)
    else:
        if type(limits) not in (tuple, list) or len(limits) != 2 or not all(isinstance(x, (int, float)) for x in limits):
            return None
        if any(isinstance(x, int) and not -(1 << 63) <= x < 1 << 63 for x in limits):
            return None
        low, high = limits
    if not (math.isfinite(high - low) and low <= high):
        return None
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = numpy.linspace(low, high, bins + 1)
    if (edges[:-1] >= edges[1:]).any():
        return None
    edges = _plait.adopt(edges)
    n = _plait.histogram(a, edges)
    return None if n is NotImplemented else (n, edges)


def at(self, a, indices, b):
    """ufunc.at() by the engine, or NotImplemented."""
    if type(a) is not ndarray or not self._native or _overrides.asked(a, None):
        return NotImplemented
    return _plait.ufunc_at(self.__name__, a, indices, b)
