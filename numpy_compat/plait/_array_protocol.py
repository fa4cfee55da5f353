"""Objects whose __array__ gives a Plait array: NumPy's C code takes none but its own."""

import functools

import numpy

from . import _plait
from ._plait import lazy_scalar, ndarray

_REFUSED = "object __array__ method not producing an array"
_HANDLED = numpy.ndarray, numpy.generic, ndarray, lazy_scalar


def calling(function, args, kwargs={}):
    """function(*args, **kwargs), NumPy's; where it refuses what an argument's __array__ gives, that is handed over in the argument's place.

    NumPy is asked first: it knows which protocol of an object counts, and raises its own errors.
    """
    try:
        return function(*args, **kwargs)
    except ValueError as e:
        if str(e) != _REFUSED:
            raise
        refused = e
    stand_ins = {}
    given, named = taken(list(args), stand_ins), taken(dict(kwargs), stand_ins)
    if not stand_ins:
        raise refused
    return _restored(function(*given, **named), stand_ins)


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


def _restored(result, stand_ins):
    if type(result) is numpy.ndarray and result.dtype == object:
        for i, v in enumerate(result.flat):
            if id(v) in stand_ins:
                result.flat[i] = stand_ins[id(v)][1]
    return result


def _stand_in(x, array):
    """The object once more, of a subclass of its class, whose __array__ gives NumPy's array; or that array, where there can be none such."""
    try:
        made = object.__new__(_subclass(type(x)))
        made.__dict__ = x.__dict__
    except (TypeError, AttributeError):
        return _plait.export(array)
    return made


@functools.lru_cache(maxsize=64)
def _subclass(kind):
    def __array__(self, dtype=None, copy=None):
        return numpy.array(_plait.export(kind.__array__(self)), dtype, copy=copy)

    return type(kind.__name__, (kind,), {"__array__": __array__, "__slots__": (), "__module__": kind.__module__})
