"""Functions that NumPy wrote in Python, as sequences of others: its own code, run over Plait's arrays.

The names in a function's globals stand for Plait's objects; helpers of NumPy's modules that it calls are rebuilt alike. So arguments are
checked, dtypes found and errors worded by the NumPy that is installed. Small arrays are NumPy's: it is done before anything is recorded.
"""

import builtins
import math
import sys
import types
import warnings

import numpy

from . import _default_dtype, _loops, _plait
from ._conversion import from_numpy
from ._plait import call_numpy, ndarray

FEW = 1 << 17  # elements
_ALWAYS = _plait.get_config()["eager_limit"] == 0  # nothing is too small to be recorded

_DISPATCHER = type(numpy.sum)
_MODULES = {"numpy": "plait", "numpy.linalg": "plait.linalg", "numpy.fft": "plait.fft", "numpy.random": "plait.random"}


def _public(value, name):
    """Plait's object for one that NumPy's public modules have under its own name, or None."""
    import plait

    for module in ("numpy", "numpy.linalg", "numpy.fft"):
        there = getattr(sys.modules.get(module), name, None)  # numpy.fft is imported when it is first asked for
        if there is value or (there is not None and getattr(there, "_implementation", None) is value):
            ours = plait if module == "numpy" else getattr(plait, module.removeprefix("numpy."))
            return getattr(ours, name)
    return None


class _Space:
    """A module of NumPy's with Plait's objects in the place of its own."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        value = stand_in(getattr(self._module, name), name)
        setattr(self, name, value)
        return value


class _Globals(dict):
    """The globals of a module of NumPy's functions, replaced as they are looked up."""

    def __init__(self, theirs, own=None):
        super().__init__(own or {})
        self.theirs = theirs
        self["__builtins__"] = builtins
        self["__name__"] = theirs["__name__"]

    def __missing__(self, name):
        value = self[name] = stand_in(self.theirs[name], name)
        return value


class _Warnings:
    """The module warnings for code under a wrapper, which is a frame more."""

    @staticmethod
    def warn(message, category=None, stacklevel=1, **options):
        warnings.warn(message, category, stacklevel + (stacklevel > 1) + 1, **options)

    def __getattr__(self, name):
        return getattr(warnings, name)


class _ArrayConverter:
    """NumPy's class `_array_converter`, which serves to give results their argument's type, for arrays of Plait's own type."""

    def __init__(self, *arrays):
        import plait

        self.scalar_input = tuple(not isinstance(a, ndarray) and numpy.ndim(a) == 0 for a in arrays)
        self._weak = [a if type(a) in (int, float, complex) else None for a in arrays]
        self._arrays = tuple(map(plait.asarray, arrays))

    def __len__(self):
        return len(self._arrays)

    def __getitem__(self, key):
        return self._arrays[key]

    def as_arrays(self, /, subok=True, pyscalars="convert_if_no_array"):
        return self._arrays

    def result_type(self, /, extra_dtype=None, ensure_inexact=False):
        kinds = [a.dtype if weak is None else weak for a, weak in zip(self._arrays, self._weak)]
        found = numpy.result_type(*kinds, *([] if extra_dtype is None else [extra_dtype]))
        return numpy.result_type(found, 1.0) if ensure_inexact else found

    def wrap(self, arr, /, to_scalar=None):
        scalar = all(self.scalar_input) if to_scalar is None else to_scalar
        return arr[()] if scalar and getattr(arr, "ndim", 1) == 0 else arr


_OWN = {}  # NumPy's object -> (it, what stands for it)


def own(theirs, ours):
    """Lets `ours` stand for an object of NumPy's, one that its public modules do not have."""
    _OWN[id(theirs)] = theirs, ours


own(numpy._core._multiarray_umath._array_converter, _ArrayConverter)


_globals = {}
_NAMES = {"numpy.fft._pocketfft": {"take": numpy.take}}  # of a shape


def rebuilt(function):
    """A function of NumPy's over Plait's arrays."""
    scope = _globals.get(id(function.__globals__))
    if scope is None:
        theirs = function.__globals__
        scope = _globals[id(theirs)] = _Globals(theirs, _NAMES.get(theirs["__name__"]))
    made = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def stand_in(value, name):
    """What takes the place of an object of NumPy's under this name."""
    known = _OWN.get(id(value))
    if known is not None and known[0] is value:
        return known[1]
    if value is warnings:
        return _Warnings()
    if value is numpy.ndarray:
        return ndarray
    if isinstance(value, types.ModuleType):
        if value.__name__ in _MODULES:
            import importlib

            return importlib.import_module(_MODULES[value.__name__])
        return _Space(value) if value.__name__.startswith("numpy.") else value
    if isinstance(value, type) or not callable(value):
        return _public(value, name) or value if isinstance(value, type) else value
    name = getattr(value, "__name__", name)
    if type(value) is _DISPATCHER or isinstance(value, (numpy.ufunc, types.BuiltinFunctionType, types.FunctionType)):
        ours = _public(value, name)
        if ours is not None:
            return ours
        if isinstance(value, numpy.ufunc) and value.signature:
            return _loops.stand_in(value)
        if type(value) is _DISPATCHER:
            return rebuilt(value._implementation)
        if isinstance(value, types.FunctionType):
            return rebuilt(value) if value.__module__.startswith("numpy") else value
        if isinstance(value, types.BuiltinFunctionType) and (getattr(value, "__module__", None) or "").startswith("numpy"):
            return value if value is numpy.lib.array_utils.normalize_axis_index else _by_numpy(value, name)
    return value


def _by_numpy(value, name):
    return lambda *args, **kwargs: call_numpy(value, args, kwargs, name)


# --- which calls are worth it -----------------------------------------------------------------------------------------


_SURE = 0 if _ALWAYS else 1024  # elements of an array of which a few are too few, whatever their dtype


def _size(x):
    """Elements of an array, or of those in a list; a negative number where NumPy has to look at the argument."""
    return _plait.elements((x,), 0)


def arrays(args, kwargs):
    """Elements of all arrays."""
    return _plait.elements(args, _SURE)


def products(args, kwargs):
    """Of two arrays: elements of one for each of the other."""
    return _size(args[0]) * _size(args[1]) if len(args) == 2 and min(map(_size, args)) > 0 else 0


def square(args, kwargs):
    """The square of an array's elements, or of a number."""
    n = 0
    if args:
        n = _plait.index_of(args[0])
        n = _size(args[0]) if n is None else n
    return n * n if n > 0 else 0


def extent(at, name=None):
    """For functions that make arrays: the argument of this number, or name, is their length or shape."""

    def size(args, kwargs):
        n = args[at] if len(args) > at else kwargs.get(name, 0)
        extents = [_plait.index_of(k) for k in (n if type(n) is tuple else (n,))]
        return 0 if None in extents else math.prod(extents)

    return size


_NUMBERS = int, float, complex, numpy.generic


# On arrays of ml_dtypes NumPy rounds what these add at each step.
_ROUNDED = frozenset("average nanmean nanprod nanstd nansum nanvar".split())


def _is_narrow(a):
    return type(a) is ndarray and a.dtype.num >= 256  # NumPy's numbers of types that it was given


def composed(theirs, name, few=FEW, size=arrays):
    """NumPy's function `theirs` (numpy.<name>) over Plait's arrays where `size` of its arguments is `few` or more, by NumPy otherwise."""
    implementation = getattr(theirs, "_implementation", theirs)
    made, few, rounds = [], 1 if _ALWAYS else few, name in _ROUNDED
    rounding = _default_dtype.creating(theirs, name)  # to another default dtype than float64

    def function(*args, **kwargs):
        if rounding is not theirs and _default_dtype.differs():
            return call_numpy(rounding, args, kwargs, name)
        if (size(args, kwargs) < few and not (rounds and args and _is_narrow(args[0]))) or (kwargs and _size(tuple(kwargs.values())) < 0):
            if args and not kwargs and type(args[0]) is not ndarray and all(isinstance(x, _NUMBERS) for x in args):
                return from_numpy(theirs(*args))
            return call_numpy(theirs, args, kwargs, name)
        if not made:
            made.append(rebuilt(implementation))
        return from_numpy(made[0](*args, **kwargs))

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    if size is arrays and rounding is theirs and not rounds:
        function._small = theirs, name, few, False  # decided before Python is asked; see _dispatch.py
    return function
