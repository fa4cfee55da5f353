"""Functions of NumPy's submodules that the engine has, by NumPy's function."""

import math

import numpy

from . import _plait
from ._fallback import call
from ._plait import ndarray

_theirs = numpy.lib.stride_tricks.sliding_window_view
_strided = numpy.lib.stride_tricks.as_strided


class _Strided:
    """The base of views that NumPy never lets become writeable, as its own: what they are of stands behind it."""

    __slots__ = ("base",)

    def __init__(self, base):
        self.base = base


def _sealed(view, x):
    return _plait.set_base(view, _Strided(x))


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    if type(x) is ndarray:
        result = _plait.sliding_window_view(x, window_shape, axis, writeable is True)
        if result is not NotImplemented:
            return result if writeable is True else _sealed(result, x)
    return call(_theirs, (x, window_shape, axis), {"subok": subok, "writeable": writeable})


def _inside(x, shape, strides):
    """Whether a view of `x` so shaped has elements, no more than memory can, and all of them in the memory of `x`."""
    shape, strides = ([_plait.index_of(n) for n in numbers] for numbers in (shape, strides))
    if len(shape) != len(strides) or None in shape + strides or min(shape, default=1) < 1:
        return False
    ends = [step * (extent - 1) for extent, step in zip(shape, strides)]
    last = sum(end for end in ends if end > 0) + x.itemsize
    return min(ends, default=0) >= 0 and last <= x.nbytes and math.prod(shape) * x.itemsize < 1 << 62


def as_strided(x, shape=None, strides=None, subok=False, writeable=True, **newer):
    if not newer and type(x) is ndarray and type(shape) is tuple and type(strides) is tuple and x.flags.c_contiguous and _inside(x, shape, strides):
        view = _plait.view_at(x, x.dtype, shape, strides, 0)
        if view is not NotImplemented:
            if not writeable:
                view.flags.writeable = False
                return _sealed(view, x)
            return view
    return call(_strided, (x,), {"shape": shape, "strides": strides, "subok": subok, "writeable": writeable, **newer})


NATIVE = {_theirs: sliding_window_view, _strided: as_strided}
