"""Functions that ask for dtypes, shapes and layouts of arrays, not for their values."""

import numpy

from ._fallback import RECORDED, call
from ._plait import lazy_scalar, ndarray


def _dtype(x):
    """The dtype that stands for an array; another argument as it is."""
    return x.dtype if isinstance(x, RECORDED) else x


def result_type(*arrays_and_dtypes):
    return numpy.result_type(*map(_dtype, arrays_and_dtypes))


def can_cast(from_, to, casting="safe"):
    return numpy.can_cast(_dtype(from_), to, casting)


def min_scalar_type(a, /):
    # A number's value decides.
    return a.dtype if isinstance(a, ndarray) and a.ndim else call(numpy.min_scalar_type, (a,))


def promote_types(type1, type2):
    return numpy.promote_types(type1, type2)


def issubdtype(arg1, arg2):
    return numpy.issubdtype(arg1, arg2)


def iscomplexobj(x):
    return x.dtype.kind == "c" if isinstance(x, RECORDED) else numpy.iscomplexobj(x)


def isrealobj(x):
    return not iscomplexobj(x)


def isfortran(a):
    return a.flags.fnc if isinstance(a, ndarray) else numpy.isfortran(a)


def isscalar(element):
    return type(element) is lazy_scalar or numpy.isscalar(element)


def iterable(y):
    return y.ndim > 0 if type(y) is ndarray else numpy.iterable(y)
