"""Sorting, searching and order statistics by the engine's calls, with NumPy's signatures; what these do not take falls back."""

import functools

import numpy
from numpy.lib import _function_base_impl as _theirs

from . import _plait
from ._composed import FEW, composed, rebuilt
from ._conversion import to_numpy
from ._creation import asarray
from ._fallback import call, given, is_numpys
from ._joining import concatenate
from ._plait import ndarray

_NO = numpy._NoValue
_FEW = 2048  # elements of which NumPy finds quantiles in less time than what stands around it takes
_STABLE = {None: 0, "quicksort": 0, "heapsort": 0, "mergesort": 1, "stable": 1}


def _native(a):
    return type(a) is ndarray and a.ndim > 0 and a.size > 0 and a.dtype.kind in "biufc" and a.dtype.isnative


def _axis(a, axis):
    """The axis from 0 on; None for what NumPy has to judge."""
    axis = _plait.index_of(axis)
    return axis % a.ndim if axis is not None and -a.ndim <= axis < a.ndim else None


def _stability(kind, order, stable):
    """1 for stable, 0 for any order of equal elements, None for what NumPy has to judge."""
    if order is not None or not (kind is None or type(kind) is str):
        return None
    if stable is None:
        return _STABLE.get(kind)
    return int(stable) if type(stable) is bool and kind is None else None


def _sorted(a, axis, kind, order, stable):
    """A sorted copy, or NotImplemented."""
    if not _native(a):
        return NotImplemented
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis, stability = _axis(a, axis), _stability(kind, order, stable)
    if axis is None or stability is None:
        return NotImplemented
    return _plait.call_now("sort", (a,), (axis, stability), "K")


# What newer NumPys take besides (descending) stays theirs.
def sort(a, axis=-1, kind=None, order=None, *, stable=None, **newer):
    result = NotImplemented if newer else _sorted(a, axis, kind, order, stable)
    return call(numpy.sort, (a, axis, kind, order), {"stable": stable, **newer}) if result is NotImplemented else result


def sort_in_place(a, axis, kind, order, stable):
    """ndarray.sort(); False when NumPy has to do it."""
    if not _native(a) or axis is None or not a.flags.writeable or _plait.on_device(a):
        return False
    axis, stability = _axis(a, axis), _stability(kind, order, stable)
    return None not in (axis, stability) and _plait.sort_memory(_plait.export(a), axis, stability) is None


def order_of(a, axis, kind, order, stable):
    if not _native(a):
        return NotImplemented
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis = _axis(a, axis)
    if axis is None or _stability(kind, order, stable) is None:
        return NotImplemented
    return _plait.call_now("argsort", (a,), (axis,), "C")


def argsort(a, axis=-1, kind=None, order=None, *, stable=None, **newer):
    result = NotImplemented if newer else order_of(a, axis, kind, order, stable)
    return call(numpy.argsort, (a, axis, kind, order), {"stable": stable, **newer}) if result is NotImplemented else result


def places_of(a, v, side, sorter):
    if type(a) is ndarray and isinstance(v, numpy.generic) and v.dtype == a.dtype and a.size > _FEW:
        found = places_of(a, asarray(v).reshape(1), side, sorter)
        return found if found is NotImplemented else found[0]
    # A number's place is found before anything could be recorded.
    if not (_native(a) and _native(v) and a.ndim == 1 and sorter is None and type(side) is str and side in ("left", "right")):
        return NotImplemented
    if a.dtype is not v.dtype:
        common = numpy.promote_types(a.dtype, v.dtype)
        a, v = a.astype(common, copy=False), v.astype(common, copy=False)
    return _plait.call_now("searchsorted", (a, v), (int(side == "right"),), "C")


def searchsorted(a, v, side="left", sorter=None):
    result = places_of(a, v, side, sorter)
    return call(numpy.searchsorted, (a, v, side, sorter)) if result is NotImplemented else result


def lexsort(keys, axis=-1):
    lines = type(keys) in (list, tuple) and keys and all(_native(k) and k.shape == keys[0].shape and k.ndim == 1 for k in keys)
    if not (lines and _plait.index_of(axis) in (-1, 0)):
        return call(numpy.lexsort, (keys, axis))
    order = keys[0].argsort(stable=True)
    for key in keys[1:]:
        order = order[key[order].argsort(stable=True)]
    return order


def sort_complex(a):
    result = _sorted(a, -1, None, None, None)
    if result is NotImplemented:
        return call(numpy.sort_complex, (a,))
    return result if result.dtype.kind == "c" else result.astype("F" if result.dtype.char in "bhBH" else "D")


# --- order statistics -------------------------------------------------------------------------------------------------


def _line(a, axis):
    """The array with one axis in the place of those to work along, its number, and the result's shape with all axes kept; None for
    what NumPy has to judge."""
    if axis is None:
        return a.reshape(-1), 0, (1,) * a.ndim
    axes = axis if type(axis) is tuple else (axis,)
    axes = [_axis(a, x) for x in axes]
    if None in axes or len(set(axes)) != len(axes) or not axes:
        return None
    kept = tuple(1 if k in axes else n for k, n in enumerate(a.shape))
    if len(axes) == 1:
        return a, axes[0], kept
    others = [k for k in range(a.ndim) if k not in axes]
    a = a.transpose([*others, *sorted(axes)])
    return a.reshape(*a.shape[: len(others)], -1), len(others), kept


def _statistics(a, axis, ranks):
    """What stands at the ranks, which ascend, of the sorted lines; as many rows."""
    return _plait.call_now("order_statistics", (a,), (axis, *ranks), "C")


def _median(a, axis, out, keepdims):
    # A complex NaN may be so in one part, which NumPy gives as it is.
    if not _native(a) or a.dtype.kind == "c" or out is not None or type(keepdims) is not bool:
        return NotImplemented
    line = _line(a, axis)
    if line is None:
        return NotImplemented
    a, axis, kept = line
    n = a.shape[axis]
    # NumPy partitions a copy that keeps the order of the axes in memory, and its mean keeps it, too.
    strides = a.strides
    order = sorted((k for k in range(a.ndim) if k != axis), key=lambda k: -abs(strides[k]))
    found = _statistics(a.transpose(axis, *order), 0, (n // 2,) if n % 2 else (n // 2 - 1, n // 2))
    if found is NotImplemented:
        return found
    found = found.transpose(0, *(1 + k for k in sorted(range(len(order)), key=order.__getitem__)))
    return found.mean(axis=0, keepdims=True).reshape(kept) if keepdims else found.mean(axis=0)


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    result = _median(a, axis, out, keepdims)
    if result is not NotImplemented:
        return result
    if isinstance(a, ndarray) and not is_numpys(a) and type(a) is not ndarray and _plait.host_of(a) is None:  # which may have a mean of its own
        return rebuilt(numpy.median._implementation)(a, axis, out, overwrite_input, keepdims)
    return call(numpy.median, (a, axis, out, overwrite_input, keepdims))


def _interpolation(n, q, method, integers):
    """The ranks before and behind each quantile and the weights between them, as NumPy's function finds them; no weights where it takes
    elements as they are."""
    rule = _theirs._QuantileMethods[method]
    virtual = numpy.asanyarray(rule["get_virtual_index"](n, q))
    if rule["fix_gamma"] is None or (method == "linear" and virtual.dtype.kind in "iu"):
        return virtual, virtual, None
    # It looks at the dtype of the values only: integers have no NaN.
    before, behind = _theirs._get_indexes(numpy.empty(1, "i8" if integers else "f8"), virtual, n)
    return before % n, behind % n, _theirs._get_gamma(virtual, before, rule)


def _quantile(a, q, axis, out, method, keepdims, weights, hundred):
    if not _native(a) or a.dtype.kind in "bc" or out is not None or weights is not None:
        return NotImplemented
    keepdims = False if keepdims is _NO else keepdims
    if type(keepdims) is not bool or type(method) is not str or method not in _theirs._QuantileMethods:
        return NotImplemented
    weak = type(q) in (int, float)
    if not weak and not isinstance(q, (list, tuple, numpy.generic)) and type(q) is not numpy.ndarray:
        return NotImplemented
    line = _line(a, axis)
    if line is None or a.size <= _FEW:
        return NotImplemented
    a, axis, kept = line
    q = numpy.asanyarray(q)
    if q.dtype.kind not in "iuf" or q.ndim > 1 or not q.size:
        return NotImplemented
    if hundred:
        q = numpy.true_divide(q, 100, out=...)
    if not _theirs._quantile_is_valid(q):
        return NotImplemented
    before, behind, gamma = _interpolation(a.shape[axis], q, method, a.dtype.kind in "iu")
    ranks, places = numpy.unique([before, behind], return_inverse=True)
    before, behind = places.reshape(2, *q.shape)
    found = _statistics(a, axis, ranks.tolist())
    if found is NotImplemented:
        return found
    low = found[before if q.ndim else int(before)]
    scalar = a.ndim == 1 and not q.ndim
    if gamma is None or (scalar and low != low):  # NumPy gives the NaN itself, in the array's dtype
        result = low
    else:
        # NumPy's _lerp, in one expression: from the nearer end, b - d * (1 - t) being b + d * -(1 - t).
        high = found[behind if q.ndim else int(behind)]
        far = gamma >= 0.5
        step = numpy.where(far, -(1 - gamma), gamma)
        if q.ndim:
            step = step.astype(gamma.dtype).reshape(-1, *(1,) * (a.ndim - 1))
            start = found[numpy.where(far, behind, before)]
        else:
            step = float(step) if weak else gamma.dtype.type(step)
            start = high if far else low
        result = start + (high - low) * step
    return asarray(result).reshape(q.shape + kept) if keepdims else result


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    result = _quantile(a, q, axis, out, method, keepdims, weights, False)
    if result is NotImplemented:
        return call(numpy.quantile, (a, q, axis, out, overwrite_input, method, keepdims), {"weights": weights})
    return result


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    result = _quantile(a, q, axis, out, method, keepdims, weights, True)
    if result is NotImplemented:
        return call(numpy.percentile, (a, q, axis, out, overwrite_input, method, keepdims), {"weights": weights})
    return result


def _without_nan(a):
    return _native(a) and (a.dtype.kind in "iu" or a.dtype.kind == "f" and not bool(_plait_isnan(a).any()))


def _plait_isnan(a):
    import plait

    return plait.isnan(a)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=_NO):
    if _without_nan(a):
        result = _median(a, axis, out, False if keepdims is _NO else keepdims)
        if result is not NotImplemented:
            return result
    return call(numpy.nanmedian, (a, axis, out, overwrite_input), given(keepdims=keepdims))


def _quantiles_innermost(result, axes):
    """The same array in the memory layout that NumPy's has, which goes along one line after another: its first `axes` axes lie innermost."""
    if axes == 0 or result.ndim == axes:
        return result
    import plait

    first, last = tuple(range(axes)), tuple(range(-axes, 0))
    return plait.moveaxis(plait.ascontiguousarray(plait.moveaxis(result, first, last)), last, first)


def _nan_quantile(function, a, q, axis, out, overwrite_input, method, keepdims, weights, hundred):
    if _without_nan(a):
        result = _quantile(a, q, axis, out, method, keepdims, weights, hundred)
        if result is not NotImplemented:
            return _quantiles_innermost(result, numpy.ndim(q))
    return call(function, (a, q, axis, out, overwrite_input, method), {**given(keepdims=keepdims), "weights": weights})


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=_NO, *, weights=None):
    return _nan_quantile(numpy.nanquantile, a, q, axis, out, overwrite_input, method, keepdims, weights, False)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=_NO, *, weights=None):
    return _nan_quantile(numpy.nanpercentile, a, q, axis, out, overwrite_input, method, keepdims, weights, True)


# --- partitions -------------------------------------------------------------------------------------------------------


def partition_in_place(a, kth, axis=-1, kind="introselect", order=None):
    """ndarray.partition(), by NumPy's selection over the array's memory; NotImplemented when all of it is NumPy's."""
    if not _native(a) or order is not None or not a.flags.writeable or _plait.on_device(a) or a.size < FEW:
        return NotImplemented
    return _plait.export(a).partition(to_numpy(kth), axis, kind)


def partition(a, kth, axis=-1, kind="introselect", order=None):
    if not _native(a) or order is not None or a.size < FEW or _plait.on_device(a):
        return call(numpy.partition, (a, kth, axis, kind, order))
    made, axis = (a.flatten(), -1) if axis is None else (a.copy("K"), axis)
    partition_in_place(made, kth, axis, kind)
    return made


# --- different elements -----------------------------------------------------------------------------------------------

_COMPOSED = {name: composed(getattr(numpy, name), name) for name in ("intersect1d", "isin", "setdiff1d", "unique")}


def _unique(a, with_counts, equal_nan):
    """The different elements and, if asked for, their counts; NotImplemented."""
    if not _native(a):
        return NotImplemented
    made = _plait.call_now("unique_counts" if with_counts else "unique", (a.reshape(-1),), (int(bool(equal_nan)),), "C")
    if made is NotImplemented:
        return made
    n = int(made[-1][0])
    return tuple(x[:n].copy() for x in made[:-1])


@functools.cache
def _numpy_sorts(char, *returned):
    """Whether NumPy sorts elements of such a dtype that need not be; it has tables of hashes for some."""
    if char not in "bBhHiIlLqQefdFD":
        return False
    found = numpy.unique(numpy.arange(100, 0, -1).astype(char), *returned, sorted=False)
    found = found[0] if type(found) is tuple else found
    return bool((found[1:] > found[:-1]).all())


def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True
):  # fmt: skip
    options = {"equal_nan": equal_nan} if sorted is True else {"equal_nan": equal_nan, "sorted": sorted}
    if not sorted and not _numpy_sorts(getattr(getattr(ar, "dtype", None), "char", "O"), bool(return_index), bool(return_inverse), bool(return_counts)):
        return call(numpy.unique, (ar, return_index, return_inverse, return_counts, axis), options)
    if axis is None and not return_index and not return_inverse:
        result = _unique(ar, return_counts, equal_nan)
        if result is not NotImplemented:
            return result if return_counts else result[0]
    if axis is None:
        return _COMPOSED["unique"](ar, return_index, return_inverse, return_counts, **options)
    return call(numpy.unique, (ar, return_index, return_inverse, return_counts, axis), options)


def union1d(ar1, ar2):
    if type(ar1) is ndarray and type(ar2) is ndarray:
        return unique(concatenate((ar1, ar2), axis=None))
    return call(numpy.union1d, (ar1, ar2))


def _doubled(ar1, ar2, assume_unique):
    """The different elements of both, in order, and where one stands beside its equal; None."""
    if not (_native(ar1) and _native(ar2) and type(assume_unique) is bool):
        return None
    if not assume_unique:
        ar1, ar2 = unique(ar1), unique(ar2)
    both = sort(concatenate((ar1, ar2), axis=None))
    return both, both[1:] == both[:-1]


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    found = _doubled(ar1, ar2, assume_unique) if return_indices is False else None
    if found is None:
        return _COMPOSED["intersect1d"](ar1, ar2, assume_unique, return_indices)
    both, beside = found
    return both[:-1][beside]


def setxor1d(ar1, ar2, assume_unique=False):
    found = _doubled(ar1, ar2, assume_unique)
    if found is None:
        return call(numpy.setxor1d, (ar1, ar2, assume_unique))
    both, beside = found
    alone = concatenate(([True], ~beside, [True]))
    return both[alone[1:] & alone[:-1]]


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    # NumPy looks integers up in a table.
    if (
        _native(element) and _native(test_elements) and element.dtype.kind == "f" == test_elements.dtype.kind
        and kind in (None, "sort") and type(invert) is bool and test_elements.size > 16
    ):  # fmt: skip
        known = unique(test_elements)
        place = searchsorted(known, element)
        place[place == known.size] = 0
        return known[place] != element if invert else known[place] == element
    return _COMPOSED["isin"](element, test_elements, assume_unique, invert, kind=kind)


def setdiff1d(ar1, ar2, assume_unique=False):
    if not (_native(ar1) and _native(ar2) and ar1.dtype.kind == "f" == ar2.dtype.kind and type(assume_unique) is bool):
        return _COMPOSED["setdiff1d"](ar1, ar2, assume_unique)
    ar1 = ar1.reshape(-1) if assume_unique else unique(ar1)
    return ar1[isin(ar1, ar2, invert=True)]
