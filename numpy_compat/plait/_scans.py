"""Running sums, differences and what is made of them, with NumPy's signatures; what the engine does not take falls back."""

import math

import numpy

from . import _overrides, _plait
from ._creation import empty_like, full_like
from ._elementwise import astype, where
from ._fallback import call
from ._joining import concatenate, diff
from ._plait import lazy_scalar, ndarray
from ._shape import atleast_1d


def _accumulation(name, ufunc):
    theirs = getattr(numpy, name)

    def function(a, axis=None, dtype=None, out=None):
        kind = type(a)
        if (kind is not ndarray and ndarray in kind.__mro__) or (out is not None and _overrides.asked(a, out)):
            return getattr(a, name)(axis=axis, dtype=dtype, out=out)
        if kind is ndarray or kind in (list, tuple, lazy_scalar):
            result = _plait.accumulate(ufunc, a, axis, dtype, out)
            if result is not NotImplemented:
                return result
        return call(theirs, (a, axis, dtype, out))

    function.__name__ = function.__qualname__ = name
    return function


cumsum, cumprod = _accumulation("cumsum", "add"), _accumulation("cumprod", "multiply")


def _without_nan(name, accumulation, neutral):
    theirs = getattr(numpy, name)

    def function(a, axis=None, dtype=None, out=None):
        if type(a) is not ndarray or a.dtype.kind not in "?iufc":
            return call(theirs, (a, axis, dtype, out))
        if a.dtype.kind in "fc":
            a = where(a != a, a.dtype.type(neutral), a)
        return accumulation(a, axis, dtype, out)

    function.__name__ = function.__qualname__ = name
    return function


nancumsum, nancumprod = _without_nan("nancumsum", cumsum, 0), _without_nan("nancumprod", cumprod, 1)


def _cumulative(name, ufunc, identity):
    theirs = getattr(numpy, name)

    def function(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        if type(x) is ndarray and not (out is not None and include_initial) and (axis is not None or x.ndim < 2):
            x = atleast_1d(x)
            result = _plait.accumulate(ufunc, x, 0 if axis is None else axis, dtype, out)
            if result is not NotImplemented:
                if not include_initial:
                    return result
                axis = 0 if axis is None else axis
                shape = list(x.shape)
                shape[axis] = 1
                return concatenate([full_like(result, identity, shape=shape), result], axis=axis)
        return call(theirs, (x,), {"axis": axis, "dtype": dtype, "out": out, "include_initial": include_initial})

    function.__name__ = function.__qualname__ = name
    return function


cumulative_sum, cumulative_prod = _cumulative("cumulative_sum", "add", 0), _cumulative("cumulative_prod", "multiply", 1)


def ediff1d(ary, to_end=None, to_begin=None):
    if type(ary) is ndarray and to_end is None and to_begin is None and ary.dtype.kind in "iufc":
        flat = ary.ravel()
        return flat[1:] - flat[:-1]
    return call(numpy.ediff1d, (ary, to_end, to_begin))


def _along(ndim, axis, part):
    index = [slice(None)] * ndim
    index[axis] = part
    return tuple(index)


def _is_axis(axis, ndim):
    axis = _plait.index_of(axis)
    return axis is not None and -ndim <= axis < ndim


def trapezoid(y, x=None, dx=1.0, axis=-1):
    x_is_ours = x is None or (type(x) is ndarray and x.dtype.kind in "iufc")
    if type(y) is not ndarray or y.dtype.kind not in "iufc" or not x_is_ours or not _is_axis(axis, y.ndim):
        return call(numpy.trapezoid, (y, x, dx, axis))
    d = dx
    if x is not None and x.ndim == 1:
        d = diff(x)
        if d.shape[0] not in (1, y.shape[axis] - 1):
            return call(numpy.trapezoid, (y, x, dx, axis))
        shape = [1] * y.ndim
        shape[axis] = d.shape[0]
        d = d.reshape(shape)
    elif x is not None:
        if x.shape != y.shape:
            return call(numpy.trapezoid, (y, x, dx, axis))
        d = diff(x, axis=axis)
    return (d * (y[_along(y.ndim, axis, slice(1, None))] + y[_along(y.ndim, axis, slice(None, -1))]) / 2.0).sum(axis)


def unwrap(p, discont=None, axis=-1, *, period=2 * math.pi):
    if type(p) is not ndarray or p.dtype.kind not in "iuf" or not _is_axis(axis, p.ndim) or type(period) not in (int, float):
        return call(numpy.unwrap, (p, discont, axis), {"period": period})
    steps = diff(p, axis=axis)
    if discont is None:
        discont = period / 2
    later = _along(p.ndim, axis, slice(1, None))
    dtype = numpy.result_type(steps.dtype, period)
    if dtype.kind in "iu":
        high, rest = divmod(period, 2)
        ambiguous = rest == 0
    else:
        high, ambiguous = period / 2, True
    low = -high
    wrapped = (steps - low) % period + low
    if ambiguous:  # half a period keeps its sign
        wrapped = where((wrapped == low) & (steps > 0), high, wrapped)
    correction = where(abs(steps) < discont, 0, wrapped - steps)
    result = astype(p, dtype, copy=True) if p.dtype != dtype else p.copy("K")
    result[later] = p[later] + correction.cumsum(axis)
    return result


def _edge(f, axis, edge_order, dx, at, sign):
    """The derivative at the first (at 0, sign 1) or last (at -1, sign -1) element: of first or of second order."""
    take = [f[_along(f.ndim, axis, at + sign * k)] for k in range(edge_order + 1)]
    if edge_order == 1:
        first, last = (take[0], take[1]) if sign > 0 else (take[1], take[0])
        return (last - first) / dx
    a, b, c = (-1.5 / dx, 2.0 / dx, -0.5 / dx) if sign > 0 else (1.5 / dx, -2.0 / dx, 0.5 / dx)
    if sign > 0:
        return a * take[0] + b * take[1] + c * take[2]
    return c * take[2] + b * take[1] + a * take[0]


def gradient(f, *varargs, axis=None, edge_order=1):
    axes = (axis,) if axis is not None else tuple(range(f.ndim)) if type(f) is ndarray else ()
    simple = type(f) is ndarray and f.dtype.kind in "iuf" and edge_order in (1, 2) and len(varargs) in (0, 1, len(axes))
    simple = simple and axes and all(_is_axis(a, f.ndim) and f.shape[a] > edge_order for a in axes)
    if not simple or not all(type(dx) in (int, float) for dx in varargs):
        return call(numpy.gradient, (f, *varargs), {"axis": axis, "edge_order": edge_order})
    if f.dtype.kind in "iu":
        f = astype(f, numpy.float64)
    spacing = varargs if len(varargs) == len(axes) else (varargs or (1.0,)) * len(axes)
    results = []
    for a, dx in zip(axes, spacing):
        out = empty_like(f)
        out[_along(f.ndim, a, slice(1, -1))] = (f[_along(f.ndim, a, slice(2, None))] - f[_along(f.ndim, a, slice(None, -2))]) / (2.0 * dx)
        out[_along(f.ndim, a, 0)] = _edge(f, a, edge_order, dx, 0, 1)
        out[_along(f.ndim, a, -1)] = _edge(f, a, edge_order, dx, -1, -1)
        results.append(out)
    return results[0] if len(axes) == 1 else tuple(results)
