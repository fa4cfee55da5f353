"""Which of NumPy's functions are composed of others (_composed.py), and the loops in C that these call."""

import operator

import numpy
from numpy._core import multiarray
from numpy.lib import _function_base_impl as _theirs
from numpy.lib import _nanfunctions_impl

from . import _correlation as _correlation
from . import _plait
from ._called import along_axis
from ._composed import FEW, composed, extent, own, products, rebuilt, square
from ._conversion import from_numpy, to_numpy
from ._creation import asarray, full
from ._elementwise import where
from ._fallback import call, wrapper
from ._joining import concatenate
from ._plait import call_numpy, ndarray
from ._reductions import amax, amin
from ._shape import diagonal
from ._sorting import searchsorted

# Each reads and writes its arrays a few times at most.
_NAMES = """
    allclose angle append apply_over_axes array_equiv asarray_chkfinite average block common_type convolve corrcoef correlate
    cov digitize fix fill_diagonal histogram2d histogram_bin_edges histogramdd i0 interp iscomplex
    isclose isneginf isposinf isreal ix_ nanargmax nanargmin nanmean nanprod nanstd nansum
    nanvar piecewise resize row_stack poly polyadd polyder polydiv polyfit polyint polymul polysub polyval real_if_close rollaxis roots rot90 sinc
    trim_zeros unique_all unique_counts unique_inverse unique_values unstack vander diag_indices_from tril_indices_from triu_indices_from
""".split()
_MAKERS = "bartlett blackman hamming hanning kaiser indices".split()


FUNCTIONS = {name: composed(getattr(numpy, name), name) for name in _NAMES if hasattr(numpy, name)}  # row_stack went with 2.5
FUNCTIONS |= {name: composed(getattr(numpy, name), name, size=extent(0)) for name in _MAKERS}
FUNCTIONS |= {name: composed(getattr(numpy, name), name, size=square) for name in ("diag_indices", "diagflat", "mask_indices", "tril_indices", "triu_indices")}
FUNCTIONS |= {name: composed(getattr(numpy, name), name, size=extent(2, "num")) for name in ("geomspace", "logspace")}
FUNCTIONS |= {"require": composed(numpy.require, "require", few=0)}  # whether an array owns its memory shows in Plait's alone
FUNCTIONS |= {"fromfunction": composed(numpy.fromfunction, "fromfunction", size=extent(1)), "kron": composed(numpy.kron, "kron", size=products)}


# --- those that are better written as one expression ------------------------------------------------------------------

_select = composed(numpy.select, "select")
_nan_to_num = composed(numpy.nan_to_num, "nan_to_num")
_diag = composed(numpy.diag, "diag", size=square)


def _isnan(a):
    import plait

    return plait.isnan(a)


def select(condlist, choicelist, default=0):
    lists = type(condlist) is list and type(choicelist) is list and 0 < len(condlist) == len(choicelist) <= 16
    if not lists or not all(type(c) is ndarray and c.dtype == bool and c.size >= FEW for c in condlist):
        return _select(condlist, choicelist, default)
    weak = int, float, complex
    if not all(type(c) in weak or (type(c) is ndarray and c.dtype.kind in "biufc") for c in (*choicelist, default)):
        return _select(condlist, choicelist, default)
    dtype = numpy.result_type(*(c if type(c) in weak else c.dtype for c in (*choicelist, default)))
    made = asarray(default, dtype)
    for condition, choice in zip(condlist[::-1], choicelist[::-1]):
        made = where(condition, asarray(choice, dtype), made)
    return made


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    numbers = all(type(v) in (int, float, type(None)) for v in (nan, posinf, neginf))
    if type(x) is not ndarray or x.dtype.kind != "f" or x.size < FEW or copy is not True or not numbers or nan is None:
        return _nan_to_num(x, copy, nan, posinf, neginf)
    limits = numpy.finfo(x.dtype)
    number = x.dtype.type
    low, high = (number(given) if given is not None else limit for given, limit in ((neginf, limits.min), (posinf, limits.max)))
    return where(_isnan(x), number(nan), where(x == numpy.inf, high, where(x == -numpy.inf, low, x)))


def diag(v, k=0):
    if type(v) is ndarray and v.ndim == 2:
        return diagonal(v, k)
    return _diag(v, k)


def _extreme(name, plain):
    by_numpy = getattr(numpy, name)
    theirs = composed(by_numpy, name)

    def function(a, *args, **kwargs):
        if type(a) is ndarray and a.size < 1024:
            return call_numpy(by_numpy, (a, *args), kwargs, name)
        if type(a) is not ndarray or a.size < FEW or a.dtype.kind not in "iuf" or len(args) > 1 or kwargs.keys() - {"axis", "keepdims"}:
            return theirs(a, *args, **kwargs)
        found = plain(a, *args, **kwargs)
        # Without NaN it is the answer; with one, NumPy's way ends in another pass.
        return found if a.dtype.kind != "f" or not bool(_isnan(found).any()) else theirs(a, *args, **kwargs)

    function.__name__ = function.__qualname__ = name
    return function


def _cut(arr, axis):
    """The array, its axis from 0 on, and how a part of it is indexed; None for what NumPy has to judge."""
    if type(arr) is not ndarray or arr.size < FEW or _plait.host_of(arr) is not None or arr.flags.fnc:
        return None
    if axis is None:
        arr, axis = arr.reshape(-1), 0
    axis = _plait.index_of(axis)
    if axis is None or not -arr.ndim <= axis < arr.ndim:
        return None
    return arr, axis % arr.ndim, (slice(None),) * (axis % arr.ndim)


_delete = composed(numpy.delete, "delete")
_insert = composed(numpy.insert, "insert")


def delete(arr, obj, axis=None):
    at = _plait.index_of(obj)
    cut = None if at is None else _cut(arr, axis)
    if cut is not None and -cut[0].shape[cut[1]] <= at < cut[0].shape[cut[1]]:
        arr, axis, before = cut
        at %= arr.shape[axis]
        return concatenate((arr[(*before, slice(at))], arr[(*before, slice(at + 1, None))]), axis)
    return _delete(arr, obj, axis)


def insert(arr, obj, values, axis=None):
    at = _plait.index_of(obj)
    cut = _cut(arr, axis) if at is not None and type(values) in (int, float) else None
    if cut is not None and 0 <= at <= cut[0].shape[cut[1]] and (type(values) is float) <= (arr.dtype.kind == "f"):
        arr, axis, before = cut
        between = full((*arr.shape[:axis], 1, *arr.shape[axis + 1 :]), values, arr.dtype)
        return concatenate((arr[(*before, slice(at))], between, arr[(*before, slice(at, None))]), axis)
    return _insert(arr, obj, values, axis)


FUNCTIONS |= {"delete": delete, "insert": insert, "nanmax": _extreme("nanmax", amax), "nanmin": _extreme("nanmin", amin)}
FUNCTIONS |= {"select": select, "nan_to_num": nan_to_num, "diag": diag}


def _replace_nan(a, val):
    a = asarray(a)
    if type(a) is not ndarray or a.dtype.kind not in "fc":
        return _rebuilt_replace_nan(a, val)
    mask = _isnan(a)
    return where(mask, a.dtype.type(val), a), mask


_rebuilt_replace_nan = rebuilt(_nanfunctions_impl._replace_nan)
own(_nanfunctions_impl._replace_nan, _replace_nan)


# --- what these call in C ---------------------------------------------------------------------------------------------


def _monotonicity(bins):
    return _theirs._monotonicity(to_numpy(bins))


def _interp(x, xp, fp, left=None, right=None):
    """NumPy's formula between two points, at the end of what lies in front of x."""
    x, xp, fp = asarray(x), asarray(xp), asarray(fp)
    real = all(type(a) is ndarray and a.dtype.kind in "iuf" and a.dtype.itemsize <= 8 for a in (x, xp, fp))
    real = real and all(v is None or isinstance(v, (*_NUMBERS, numpy.floating)) for v in (left, right))
    if not (real and x.ndim and xp.ndim == fp.ndim == 1 and xp.size == fp.size > 1 and bool((xp[1:] >= xp[:-1]).all())):
        return call(_theirs.compiled_interp, (x, xp, fp, left, right), None, "interp")
    x, xp, fp = (a.astype(numpy.float64, copy=False) for a in (x, xp, fp))
    last = xp.size - 1
    at = searchsorted(xp, x, "right") - 1
    i = _plait.elementwise("clip", (at, 0, last - 1), None)
    with numpy.errstate(all="ignore"):
        slopes = (fp[1:] - fp[:-1]) / (xp[1:] - xp[:-1])
        slope, x0, y0 = slopes[i], xp[i], fp[i]
        y = slope * (x - x0) + y0
        if not bool((abs(slopes) < numpy.inf).all()):
            x1, y1 = xp[i + 1], fp[i + 1]
            y = where(y != y, slope * (x - x1) + y1, y)
            y = where((y != y) & (y0 == y1), y0, y)
            y = where(x == x0, y0, y)
        y = where(at == last, fp[last], y)
        y = where(x > xp[last], fp[last] if right is None else float(right), y)
        y = where(x < xp[0], fp[0] if left is None else float(left), y)
        return where(x != x, x, y)


own(_theirs._monotonicity, _monotonicity)
own(_theirs.compiled_interp, _interp)


# --- those that call back ---------------------------------------------------------------------------------------------


_NUMBERS = int, float, numpy.float64, numpy.int64


def _answering(function):
    """A caller's function, which gets Plait's arrays, and whose answers NumPy gets as its own."""

    def answering(*args, **kwargs):
        given = [_plait.adopt_result(x) if type(x) is numpy.ndarray else from_numpy(x) for x in args]
        answer = function(*given, **kwargs)
        return answer if type(answer) in _NUMBERS or all(map(operator.is_, args, given)) else to_numpy(answer)

    return answering


def _calling_back(function):
    """A function that calls some of its arguments with arrays, which are NumPy's where it is NumPy that computes."""

    def answering(x):
        if type(x) in (list, tuple):
            return type(x)(map(answering, x))
        if getattr(x, "__module__", None) == "plait" and hasattr(x, "__wrapped__"):
            return x.__wrapped__  # stands for this function of NumPy's
        return _answering(x) if callable(x) and not isinstance(x, (type, ndarray)) else x

    def calling(*args, **kwargs):
        return from_numpy(function(*map(answering, args), **{k: answering(v) for k, v in kwargs.items()}))

    calling.__name__ = calling.__qualname__ = function.__name__
    return calling


FUNCTIONS["apply_along_axis"] = wrapper(numpy.apply_along_axis, "apply_along_axis")
for _name in "apply_along_axis", "apply_over_axes", "fromfunction", "piecewise":
    FUNCTIONS[_name] = _calling_back(FUNCTIONS[_name])
FUNCTIONS["apply_along_axis"] = along_axis(FUNCTIONS["apply_along_axis"])
