"""numpy.frompyfunc and numpy.apply_along_axis of Python functions: one loop over all elements, or all lines, in machine code, where that gives what calls
by NumPy give. numpy.vectorize, whose calls are _vectorize.py's."""

import functools
import math
import time
import types

import numpy

from . import _dispatch, _plait
from ._conversion import from_numpy, to_numpy
from ._plait import ndarray

WORTH = 20e-3  # seconds of all calls that pay for machine code of them


class vectorize(numpy.vectorize):
    """numpy.vectorize, with Plait arrays in and out.

    As Numba's, it is given signatures, too: `@plait.vectorize(["float64(float64, float64)"], identity=0)`. What it decorates is a numpy.ufunc then, compiled
    for each of them, of which NumPy takes the first one that it can cast the operands to. The function gets Python's numbers. What it reads from outside is
    as it was when it was compiled. Raises TypeError where it cannot be compiled.
    """

    _untraced = None  # why the function is not traced, where a loop of it runs in machine code
    _seconds = None  # that NumPy takes for an element, where it was what called the function
    _worth = WORTH  # for _vectorize.py, which this imports

    def __new__(cls, pyfunc=numpy._NoValue, *args, **kwargs):
        from ._native import is_signatures, vectorized

        if not is_signatures(pyfunc):
            return super().__new__(cls)
        return functools.partial(vectorized, signatures=pyfunc, identity=kwargs.pop("identity", None), **kwargs)

    def __call__(self, *args, **kwargs):
        if self.pyfunc is numpy._NoValue or not hasattr(self, "pyfunc"):
            return super().__call__(*args, **kwargs)
        from ._vectorize import called  # which takes long to import

        return called(self, args, kwargs)


class _First:
    """A function, and what its first call gave, which is not made again."""

    def __init__(self, function):
        self.function, self.pending = function, []

    def measured(self, *args):
        """Seconds that it took."""
        begun = time.perf_counter()
        self.pending.append(self.function(*args))
        return time.perf_counter() - begun

    def __call__(self, *args, **kwargs):
        return self.pending.pop() if self.pending else self.function(*args, **kwargs)


class frompyfunc:
    """The ufunc that NumPy makes of a Python function of numbers."""

    def __init__(self, function, nin, ufunc):
        self._function, self._nin, self._ufunc = function, nin, ufunc

    __class__ = property(lambda self: numpy.ufunc)

    def __getattr__(self, name):
        return getattr(self._ufunc, name)

    def __repr__(self):
        return repr(self._ufunc)

    def __call__(self, *args, **kwargs):
        if kwargs or len(args) != self._nin or not any(isinstance(x, (ndarray, numpy.ndarray)) for x in args):
            return self._ufunc(*args, **kwargs)
        first = _First(self._function)
        made = self._looped(first, args)
        if made is not None:
            return from_numpy(made) if any(type(x) is ndarray for x in args) else made
        if first.pending:
            return numpy.frompyfunc(first, self._nin, 1)(*args)
        return self._ufunc(*args)

    def _looped(self, first, args):
        if not all(type(x) in (int, float, bool, complex) or _is_plain(x) for x in args):
            return None
        given = [to_numpy(x) if type(x) is ndarray else x for x in args]
        try:
            shape = numpy.broadcast_shapes(*(numpy.shape(x) for x in given))
        except ValueError:
            return None
        n = math.prod(shape)
        if len(shape) == 0 or n < 2:
            return None
        if first.measured(*(x.flat[0].item() if isinstance(x, numpy.ndarray) else x for x in given)) * n < WORTH:
            return None
        from ._python_loops.each import Stays, elements

        flat = [numpy.broadcast_to(x, shape).reshape(-1) if isinstance(x, numpy.ndarray) else x for x in given]
        try:
            made = elements(self._function, flat, n)
        except Stays:
            return None
        result = numpy.empty(n, object)
        result[:] = made
        return result.reshape(shape)


def _is_plain(x):
    return type(x) in (ndarray, numpy.ndarray) and x.dtype.kind in "biufc" and x.dtype.itemsize <= 16 and x.flags.c_contiguous and not _on_device(x)


def _on_device(x):
    return type(x) is ndarray and _plait.on_device(x)


def from_python(function, nin, nout, **kwargs):
    ufunc = numpy.frompyfunc(function, nin, nout, **kwargs)
    if type(function) is not types.FunctionType or nout != 1 or nin < 1 or not _is_readable(function):
        return ufunc
    return frompyfunc(function, nin, ufunc)


from_python = _dispatch.asking(from_python, numpy.frompyfunc, "frompyfunc")


def _is_readable(function):
    from ._python_loops.each import readable

    return readable(function)


def along_axis(otherwise):
    """numpy.apply_along_axis, where otherwise() is what calls the function with one line after the other."""

    def apply_along_axis(func1d, axis, arr, *args, **kwargs):
        if args or kwargs or type(func1d) is not types.FunctionType or not (_is_plain(arr) and arr.ndim and type(axis) is int and -arr.ndim <= axis < arr.ndim):
            return otherwise(func1d, axis, arr, *args, **kwargs)
        lines = math.prod(arr.shape) // max(arr.shape[axis], 1)
        if lines < 2 or not _is_readable(func1d):
            return otherwise(func1d, axis, arr)
        given = to_numpy(arr) if type(arr) is ndarray else arr
        turned = numpy.moveaxis(given, axis, -1)
        first = _First(func1d)
        if first.measured(from_numpy(turned[(0,) * (arr.ndim - 1)])) * lines < WORTH:
            return otherwise(first, axis, arr)
        from ._python_loops.each import Stays, of_lines

        try:
            return from_numpy(of_lines(func1d, turned.reshape(lines, -1)).reshape(turned.shape[:-1]))
        except Stays:
            return otherwise(first, axis, arr)

    return apply_along_axis
