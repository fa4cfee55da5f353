"""Views of other shapes, and questions about shapes, with NumPy's signatures; what the engine does not take falls back."""

import inspect
import os

import numpy

from . import _plait
from ._array_protocol import calling
from ._conversion import to_numpy
from ._creation import asanyarray, asarray
from ._fallback import RECORDED, call
from ._plait import ndarray


def reshape(a, /, shape, order="C", *, copy=None):
    if isinstance(a, ndarray) and copy is None:
        result = _plait.reshape(a, shape, order) if order in ("C", "F") else NotImplemented
        if result is not NotImplemented:
            return result
    return call(numpy.reshape, (a, shape, order), {"copy": copy})


def ravel(a, order="C"):
    if isinstance(a, numpy.matrix):
        a = asarray(a)
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
    return _broadcast_to(array if subok else asarray(array), shape)


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
    if ndarray in type(a).__mro__ and type(a).squeeze is not ndarray.squeeze:  # which may take no axis
        return a.squeeze() if axis is None else a.squeeze(axis=axis)
    return _squeeze(a, axis)


def expand_dims(a, axis):
    return _expand_dims(a, axis)


def flip(m, axis=None):
    result = _flip(m, axis)
    return result[()] if isinstance(result, ndarray) and result.ndim == 0 else result


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
    """Called with a path alone, it gives a `with` block whose timeline is written to that file, for Perfetto and chrome://tracing.

    a: str or path-like; evaluations, planning, compiling, loops, fallbacks and transfers of the block are in the file, each with
    its thread. Raises OSError where it cannot be written.
    """
    if isinstance(a, (str, os.PathLike)):  # no array: NumPy raises
        from ._trace import Trace

        return Trace(a)
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
    return a.ndim if isinstance(a, RECORDED) else calling(numpy.ndim, (a,))


def shape(a):
    return a.shape if isinstance(a, RECORDED) else calling(numpy.shape, (a,))


def size(a, axis=None):
    if isinstance(a, RECORDED) and axis is None:
        return a.size
    return calling(numpy.size, (numpy.empty(a.shape, bool) if isinstance(a, RECORDED) else a, axis))


class _Layout:
    """Where an array on a device lies, for NumPy to compare: nothing reads it."""

    def __init__(self, x):
        self.__array_interface__ = {**x.__cuda_array_interface__, "strides": x.strides, "version": 3}
        self.__array_interface__.pop("stream", None)


def shares_memory(a, b, /, max_work=-1):
    if isinstance(a, ndarray) and isinstance(b, ndarray) and a.device == b.device != "cpu":
        return numpy.shares_memory(numpy.asarray(_Layout(a)), numpy.asarray(_Layout(b)), max_work)
    if type(a) is ndarray and type(b) is ndarray and _plait.may_share_memory(a, b) is False:
        return False  # the bounds do not meet; else it takes a search
    return call(numpy.shares_memory, (a, b, max_work), None, "shares_memory")


def overlap(a, b):
    """Whether they share memory, or it would take long to find out."""
    try:
        return shares_memory(a, b, max_work=1000)
    except numpy.exceptions.TooHardError:
        return True


def may_share_memory(a, b, /, max_work=0):
    result = NotImplemented if max_work else _plait.may_share_memory(a, b)
    return call(numpy.may_share_memory, (a, b, max_work)) if result is NotImplemented else result


class broadcast:
    """numpy.broadcast, whose iterators are those of the arrays that it was given."""

    __signature__ = inspect.signature(numpy.broadcast)

    def __init__(self, *args, **kwargs):
        self._operands = [x for a in args for x in (a._operands if type(a) is broadcast else [a])]
        self._it = numpy.broadcast(*map(to_numpy, self._operands), **kwargs)

    @property
    def iters(self):
        return tuple(asanyarray(x).flat for x in self._operands)

    def reset(self, /):
        self._it.reset()

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._it)

    def __getattr__(self, name):
        return getattr(self._it, name)
