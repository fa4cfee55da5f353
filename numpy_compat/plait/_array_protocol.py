"""Objects whose __array__ gives a Plait array: NumPy's C code takes none but its own."""

import functools

import numpy

from . import _plait
from ._conversion import from_numpy, ufunc_of
from ._plait import lazy_scalar, ndarray

_REFUSED = "object __array__ method not producing an array"
_ELEMENT = "setting an array element with a sequence"  # an array of Plait's, where NumPy knows what to do with one of its own
_PROTOCOLS = "__array__", "__array_interface__", "__array_struct__"
_HANDLED = numpy.ndarray, numpy.generic, ndarray, lazy_scalar


def calling(function, args, kwargs={}):
    """function(*args, **kwargs), NumPy's; where it refuses what an argument's __array__ gives, that is handed over in the argument's place.

    NumPy is asked first: it knows which protocol of an object counts, and raises its own errors.
    """
    try:
        return function(*args, **kwargs)
    except ValueError as e:
        if str(e) not in (_REFUSED, _ELEMENT):
            raise
        refused = e
    if str(refused) == _ELEMENT:
        given, named = _elements(list(args)), _elements(dict(kwargs))
        if all(a is b for a, b in zip(given, args)) and all(named[k] is kwargs[k] for k in kwargs):
            raise refused
        return function(*given, **named)
    stand_ins = {}
    given, named = taken(list(args), stand_ins), taken(dict(kwargs), stand_ins)
    if not stand_ins:
        raise refused
    result = function(*given, **named)
    for array in (result, *given):  # operator.setitem stores into its argument
        _restore(array, stand_ins)
    return result


def _elements(x):
    """x with NumPy's arrays for those of Plait that arrays of objects in it hold."""
    kind = type(x)
    if kind in (list, tuple):
        made = [_elements(v) for v in x]
        return x if all(a is b for a, b in zip(made, x)) else kind(made)
    if kind is dict:
        return {k: _elements(v) for k, v in x.items()}
    array = x
    if not issubclass(kind, numpy.ndarray):
        readable = kind is memoryview or any(hasattr(x, name) for name in _PROTOCOLS)
        if not readable or isinstance(x, (type, numpy.generic, lazy_scalar)):
            return x
        array = calling(numpy.asarray, (_plait.export(x) if issubclass(kind, ndarray) else x,))
    if array.dtype != object or not any(issubclass(type(v), ndarray) for v in array.flat):
        return x
    made = array.copy()
    for i, v in enumerate(array.flat):
        made.flat[i] = _plait.export(v) if issubclass(type(v), ndarray) else v
    return made


def taken(x, stand_ins):
    """x, with objects in it whose __array__ gives a Plait array as NumPy's, at any depth; these are noted by id, with the objects."""
    kind = type(x)
    if kind in (list, tuple):
        made = [taken(v, stand_ins) for v in x]
        return x if all(a is b for a, b in zip(made, x)) else kind(made)
    if kind is dict:
        made = {k: taken(v, stand_ins) for k, v in x.items()}
        return x if all(made[k] is x[k] for k in x) else made
    if isinstance(x, type) or issubclass(kind, _HANDLED) or not hasattr(kind, "__array__"):
        return x
    array = x.__array__()
    if not issubclass(type(array), ndarray):
        return x
    made = _stand_in(x, array)
    stand_ins[id(made)] = made, x
    return made


def _restore(array, stand_ins):
    if type(array) is numpy.ndarray and array.dtype == object:
        for i, v in enumerate(array.flat):
            if id(v) in stand_ins:
                array.flat[i] = stand_ins[id(v)][1]


def _stand_in(x, array):
    """The object once more, of a subclass of its class, whose __array__ gives NumPy's array; or that array, where there can be none such."""
    try:
        made = object.__new__(_subclass(type(x)))
        made.__dict__ = x.__dict__
        made._plait_of = x
    except (TypeError, AttributeError):
        return _plait.export(array)
    return made


def as_wrapped(array, context):
    """What NumPy gives to an __array_wrap__, in Plait's arrays and ufuncs."""
    if context is not None:
        function, operands, place = context
        function = ufunc_of(function) if isinstance(function, numpy.ufunc) else function
        context = function, tuple(getattr(x, "_plait_of", from_numpy(x)) for x in operands), place
    return from_numpy(array), context


@functools.lru_cache(maxsize=64)
def _subclass(kind):
    def __array__(self, dtype=None, copy=None):
        return numpy.array(_plait.export(kind.__array__(self)), dtype, copy=copy)

    def __array_wrap__(self, array, context=None, *scalar):
        return self._plait_of.__array_wrap__(*as_wrapped(array, context), *scalar)

    body = {"__array__": __array__, "__slots__": ("_plait_of",), "__module__": kind.__module__}
    if hasattr(kind, "__array_wrap__"):
        body["__array_wrap__"] = __array_wrap__
    return type(kind.__name__, (kind,), body)
