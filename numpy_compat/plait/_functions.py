"""NumPy functions that the engine has, with NumPy's signatures; each falls back when its arguments are not the engine's."""

import numpy

from . import _plait
from ._creation import asanyarray, asarray
from ._fallback import call
from ._plait import ndarray

_NO = numpy._NoValue
_KINDS = _plait.reduction_kinds()
_SUM, _PROD, _MIN, _MAX, _ANY, _ALL = (_KINDS[k] for k in ("sum", "prod", "min", "max", "any", "all"))
_ARGMIN, _ARGMAX = _KINDS["argmin"], _KINDS["argmax"]


def _given(**options):
    """The options that the caller gave."""
    return {k: v for k, v in options.items() if v is not _NO}


_RECORDED = (ndarray, _plait.lazy_scalar)


def _ours(a):
    """True for what is worth recording; lists and numbers are NumPy's to begin with, but become arrays here."""
    return isinstance(a, ndarray) or type(a) in (list, tuple, _plait.lazy_scalar)


def _reduction(kind, function, a, axis, dtype, out, keepdims, initial, where):
    if _ours(a) and initial is not None:
        result = _plait.reduce(
            kind, a, axis, dtype, out, False if keepdims is _NO else keepdims, None if initial is _NO else initial,
            True if where is _NO else where,
        )  # fmt: skip
        if result is not NotImplemented:
            return result
    options = _given(keepdims=keepdims, initial=initial, where=where)
    if dtype is not None:
        options["dtype"] = dtype
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


def argmin(a, axis=None, out=None, *, keepdims=_NO):
    return _reduction(_ARGMIN, numpy.argmin, a, axis, None, out, keepdims, _NO, _NO)


def argmax(a, axis=None, out=None, *, keepdims=_NO):
    return _reduction(_ARGMAX, numpy.argmax, a, axis, None, out, keepdims, _NO, _NO)


def _statistic(name, a, axis, dtype, out, keepdims, where, ddof=0, mean=None):
    if not _ours(a):
        return NotImplemented
    return _plait.statistic(name, a, axis, dtype, out, False if keepdims is _NO else keepdims, True if where is _NO else where, ddof, mean)


def mean(a, axis=None, dtype=None, out=None, keepdims=_NO, *, where=_NO):
    result = _statistic("mean", a, axis, dtype, out, keepdims, where)
    if result is not NotImplemented:
        return result
    return call(numpy.mean, (a, axis, dtype, out), _given(keepdims=keepdims, where=where))


def _spread(name, a, axis, dtype, out, ddof, keepdims, where, mean, correction):
    if correction is not _NO:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    # NumPy carries an integer dtype through the square root and the division.
    integer = dtype is not None and numpy.dtype(dtype).kind not in "fc"
    result = NotImplemented if integer else _statistic(name, a, axis, dtype, out, keepdims, where, ddof, None if mean is _NO else mean)
    if result is not NotImplemented:
        return result
    return call(getattr(numpy, name), (a, axis, dtype, out, ddof), _given(keepdims=keepdims, where=where, mean=mean))


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=_NO, *, where=_NO, mean=_NO, correction=_NO):
    return _spread("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=_NO, *, where=_NO, mean=_NO, correction=_NO):
    return _spread("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def ptp(a, axis=None, out=None, keepdims=_NO):
    result = _statistic("ptp", a, axis, None, out, keepdims, _NO)
    if result is not NotImplemented:
        return result
    return call(numpy.ptp, (a, axis, out), _given(keepdims=keepdims))


def count_nonzero(a, axis=None, *, keepdims=False):
    result = _statistic("count_nonzero", a, axis, None, None, keepdims, _NO)
    return call(numpy.count_nonzero, (a, axis), {"keepdims": keepdims}) if result is NotImplemented else result


# --- elementwise ------------------------------------------------------------------------------------------------------


def where(condition, x=_NO, y=_NO, /):
    if x is _NO and y is _NO:
        return call(numpy.where, (condition,))
    if x is not _NO and y is not _NO:
        if getattr(condition, "dtype", None) != bool and isinstance(condition, ndarray):
            condition = asarray(condition)
            condition = condition != 0 if condition.dtype.kind in "iufc" else condition
        result = _plait.elementwise("where", (condition, x, y), None)
        if result is not NotImplemented:
            return result
    return call(numpy.where, [v for v in (condition, x, y) if v is not _NO])


def clip(a, a_min=_NO, a_max=_NO, out=None, *, min=_NO, max=_NO, **kwargs):
    import plait

    low, high = (a_min if min is _NO else min), (a_max if max is _NO else max)
    both = (a_min is not _NO or a_max is not _NO) and (min is not _NO or max is not _NO)
    if isinstance(a, ndarray) and not kwargs and not both:
        low, high = (None if v is _NO else v for v in (low, high))
        if low is not None and high is not None:
            result = _plait.elementwise("clip", (a, low, high), out)
            if result is not NotImplemented:
                return result
        elif low is not None or high is not None:
            try:
                return plait.maximum(a, low, out=out) if high is None else plait.minimum(a, high, out=out)
            except OverflowError:
                pass  # NumPy lets go of bounds that hold for every value, and words the rest
    return call(numpy.clip, (a,), _given(a_min=a_min, a_max=a_max, min=min, max=max) | {"out": out, **kwargs})


def round(a, decimals=0, out=None):
    if type(a) is ndarray and decimals == 0 and a.dtype.kind in "fc":
        import plait

        return plait.rint(a, out=out)
    return call(numpy.round, (a, decimals, out))


around = round


def real(val):
    return val.real if isinstance(val, _RECORDED) else numpy.real(val)


def imag(val):
    return val.imag if isinstance(val, _RECORDED) else numpy.imag(val)


def astype(x, dtype, /, *, copy=True, device=None):
    if not isinstance(x, ndarray):
        raise TypeError(f"Input should be a NumPy array. It is of type {type(x)}.")
    return x.astype(dtype, copy=copy)


def copyto(dst, src, casting="same_kind", where=True):
    if type(dst) is ndarray and type(src) is ndarray and numpy.can_cast(src.dtype, dst.dtype, casting):
        if _plait.assign(dst, src, None if where is True else where) is not NotImplemented:
            return
    call(numpy.copyto, (dst, src, casting, where))


# --- shape ------------------------------------------------------------------------------------------------------------


def reshape(a, /, shape, order="C", *, copy=None):
    if isinstance(a, ndarray) and copy is None:
        result = _plait.reshape(a, shape, order) if order in ("C", "F") else NotImplemented
        if result is not NotImplemented:
            return result
    return call(numpy.reshape, (a, shape, order), {"copy": copy})


def ravel(a, order="C"):
    return asanyarray(a).ravel(order)


def transpose(a, axes=None):
    result = _plait.transpose(a, axes)
    return call(numpy.transpose, (a, axes)) if result is NotImplemented else result


permute_dims = transpose


def matrix_transpose(x, /):
    x = asanyarray(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return swapaxes(x, -1, -2)


def _simple(name, native, *defaults):
    """name(a, *args) by the native function, else by NumPy."""
    function = getattr(numpy, name)

    def wrapped(*args):
        result = native(*args)
        return call(function, args) if result is NotImplemented else result

    return wrapped


_broadcast_to = _simple("broadcast_to", _plait.broadcast_to)
_squeeze = _simple("squeeze", _plait.squeeze)
_expand_dims = _simple("expand_dims", _plait.expand_dims)
_flip = _simple("flip", _plait.flip)
_swapaxes = _simple("swapaxes", _plait.swapaxes)
_moveaxis = _simple("moveaxis", _plait.moveaxis)
_diagonal = _simple("diagonal", _plait.diagonal)
_trace = _simple("trace", _plait.trace)


def broadcast_to(array, shape, subok=False):
    return _broadcast_to(array, shape)


def broadcast_arrays(*args, subok=False):
    arrays = [asarray(a) for a in args]
    shape = numpy.broadcast_shapes(*(a.shape for a in arrays))
    out = []
    for a in arrays:
        view = a if a.shape == shape else _broadcast_to(a, shape)
        if view is not a and _plait.host_of(a) is None:
            _plait.set_writeable(view, a.flags.writeable)  # unlike those of broadcast_to
        out.append(view)
    return tuple(out)


def squeeze(a, axis=None):
    return _squeeze(a, axis)


def expand_dims(a, axis):
    return _expand_dims(a, axis)


def flip(m, axis=None):
    result = _flip(m, axis)
    return result if result.ndim else result[()]


def fliplr(m):
    m = asanyarray(m)
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return m[:, ::-1]


def flipud(m):
    m = asanyarray(m)
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return m[::-1, ...]


def swapaxes(a, axis1, axis2):
    return _swapaxes(a, axis1, axis2)


def moveaxis(a, source, destination):
    return _moveaxis(a, source, destination)


def diagonal(a, offset=0, axis1=0, axis2=1):
    return _diagonal(a, offset, axis1, axis2)


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    if out is not None:
        return call(numpy.trace, (a, offset, axis1, axis2, dtype, out))
    return _trace(a, offset, axis1, axis2, dtype)


def _atleast(n):
    def atleast(*arys):
        out = []
        for a in arys:
            result = _plait.atleast(a, n)
            out.append(call(getattr(numpy, f"atleast_{n}d"), (a,)) if result is NotImplemented else result)
        return out[0] if len(out) == 1 else tuple(out)

    atleast.__name__ = atleast.__qualname__ = f"atleast_{n}d"
    return atleast


atleast_1d, atleast_2d, atleast_3d = map(_atleast, (1, 2, 3))


def ndim(a):
    return a.ndim if isinstance(a, _RECORDED) else numpy.ndim(a)


def shape(a):
    return a.shape if isinstance(a, _RECORDED) else numpy.shape(a)


def size(a, axis=None):
    if isinstance(a, _RECORDED) and axis is None:
        return a.size
    return numpy.size(numpy.empty(a.shape, bool) if isinstance(a, _RECORDED) else a, axis)


# --- joining and splitting --------------------------------------------------------------------------------------------


def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    if out is None and casting == "same_kind":
        result = _plait.concatenate(arrays, axis, dtype)
        if result is not NotImplemented:
            return result
    return call(numpy.concatenate, (arrays, axis, out), {"dtype": dtype, "casting": casting})


concat = concatenate


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    if out is None and dtype is None and casting == "same_kind":
        result = _plait.join("stack", arrays, axis)
        if result is not NotImplemented:
            return result
    return call(numpy.stack, (arrays, axis, out), {"dtype": dtype, "casting": casting})


def _join(name):
    function = getattr(numpy, name)

    def join(tup, *, dtype=None, casting="same_kind"):
        if dtype is None and casting == "same_kind":
            result = _plait.join(name, tup, 0)
            if result is not NotImplemented:
                return result
        return call(function, (tup,), {"dtype": dtype, "casting": casting})

    join.__name__ = join.__qualname__ = name
    return join


hstack, vstack, dstack = map(_join, ("hstack", "vstack", "dstack"))


def column_stack(tup):
    result = _plait.join("column_stack", tup, 0)
    return call(numpy.column_stack, (tup,)) if result is NotImplemented else result


def split(ary, indices_or_sections, axis=0):
    result = _plait.split(ary, indices_or_sections, axis, True)
    return call(numpy.split, (ary, indices_or_sections, axis)) if result is NotImplemented else result


def array_split(ary, indices_or_sections, axis=0):
    result = _plait.split(ary, indices_or_sections, axis, False)
    return call(numpy.array_split, (ary, indices_or_sections, axis)) if result is NotImplemented else result


def hsplit(ary, indices_or_sections):
    if ndim(ary) == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ndim(ary) > 1 else 0)


def vsplit(ary, indices_or_sections):
    if ndim(ary) < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    if ndim(ary) < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def tile(A, reps):
    result = _plait.tile(A, reps)
    return call(numpy.tile, (A, reps)) if result is NotImplemented else result


def repeat(a, repeats, axis=None):
    result = _plait.repeat(a, repeats, axis)
    return call(numpy.repeat, (a, repeats, axis)) if result is NotImplemented else result


def roll(a, shift, axis=None):
    result = _plait.roll(a, shift, axis)
    return call(numpy.roll, (a, shift, axis)) if result is NotImplemented else result


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    result = _plait.meshgrid(xi, indexing == "xy", sparse, copy)
    if result is NotImplemented:
        return call(numpy.meshgrid, xi, {"copy": copy, "sparse": sparse, "indexing": indexing})
    return tuple(result)


def diff(a, n=1, axis=-1, prepend=_NO, append=_NO):
    if n >= 0 and isinstance(a, ndarray) and prepend is _NO and append is _NO:
        result = _plait.diff(a, n, axis)
        if result is not NotImplemented:
            return result
    return call(numpy.diff, (a, n, axis), _given(prepend=prepend, append=append))


def tril(m, k=0):
    result = _plait.triangle("tril", m, k)
    return call(numpy.tril, (m, k)) if result is NotImplemented else result


def triu(m, k=0):
    result = _plait.triangle("triu", m, k)
    return call(numpy.triu, (m, k)) if result is NotImplemented else result


# --- products ---------------------------------------------------------------------------------------------------------


def _product(name):
    function = getattr(numpy, name)

    def product(a, b, out=None):
        if out is None and (isinstance(a, ndarray) or isinstance(b, ndarray)):
            result = _plait.product(name, a, b)
            if result is not NotImplemented:
                return result
        return call(function, (a, b) if out is None else (a, b, out))

    product.__name__ = product.__qualname__ = name
    return product


dot, outer = map(_product, ("dot", "outer"))


def inner(a, b, /):
    return _inner(a, b)


def vdot(a, b, /):
    return _vdot(a, b)


_inner, _vdot = map(_product, ("inner", "vdot"))


def tensordot(a, b, axes=2):
    result = _plait.tensordot(a, b, axes)
    return call(numpy.tensordot, (a, b, axes)) if result is NotImplemented else result


def _holds_pairs(a, axis):
    shape = getattr(a, "shape", ())
    return isinstance(axis, int) and -len(shape) <= axis < len(shape) and shape[axis] == 2


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa, axisb, axisc = (axis,) * 3
    # Vectors of two are deprecated, and an error from NumPy 2.5 on.
    plane = _holds_pairs(a, axisa) or _holds_pairs(b, axisb)
    result = NotImplemented if plane else _plait.cross(a, b, axisa, axisb, axisc)
    return call(numpy.cross, (a, b, axisa, axisb, axisc)) if result is NotImplemented else result


def may_share_memory(a, b, /, max_work=0):
    result = _plait.may_share_memory(a, b)
    return call(numpy.may_share_memory, (a, b, max_work)) if result is NotImplemented else result


def array_equal(a1, a2, equal_nan=False):
    if equal_nan or not (isinstance(a1, ndarray) and isinstance(a2, ndarray)):
        return call(numpy.array_equal, (a1, a2, equal_nan))
    return a1.shape == a2.shape and bool(all(asarray(a1) == asarray(a2)))
