"""Products of vectors and matrices, with NumPy's signatures; what the engine does not take falls back."""

import numpy

from . import _plait
from ._fallback import call
from ._plait import ndarray


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
