"""Plait's objects for NumPy's, and for other libraries' that work as NumPy's do."""

import sys
import types

import numpy

from ._functions import MISSING
from ._pickles import STAND_INS
from ._plait import ndarray
from ._submodules import NATIVE

_known = {}
MODULES = {}  # names of other libraries -> what gives the object that stands for such a module
DRAWING = {"Generator", "RandomState", "method", "builtin_function_or_method"}  # names of the types that drawing() looks at


def drawing(value):
    """Plait's generator for one that NumPy made, and so for a method of one; any other value is itself."""
    if type(value).__name__ not in DRAWING:
        return value
    source = getattr(value, "__self__", value)
    if type(source).__module__ not in ("numpy.random._generator", "numpy.random.mtrand"):
        return value
    made = sys.modules["plait"].random._guest_of(source)
    return made if source is value else getattr(made, value.__name__)


def numpys_generator(value):
    """NumPy's generator for what drawing() gave for it; any other value is itself."""
    return sys.modules["plait"].random._numpys(value) if type(value).__module__ == "plait.random" else value


def stand_in(value):
    """Plait's object for one of NumPy's, or the value itself."""
    if isinstance(value, types.ModuleType):
        name = value.__name__
        if name == "numpy":
            return sys.modules["plait"]
        if name.startswith("numpy.") and not name.startswith(("numpy._", "numpy.core")):
            import importlib

            return importlib.import_module("plait" + name[5:])
        if name in MODULES:
            return MODULES[name](value)
        return STAND_INS.get(id(value), value)
    if value is numpy.ndarray:
        return ndarray
    if callable(value) and str(getattr(value, "__module__", "")).startswith("numpy"):
        key = id(value)
        if key not in _known:
            _known[key] = (value, _find(value))
        if _known[key][1] is not value:
            return _known[key][1]
    return STAND_INS.get(id(value)) or drawing(value)


def _namespaces():
    import plait

    return (plait, numpy), (plait.linalg, numpy.linalg), (plait.fft, numpy.fft), (plait.random, numpy.random)


def _find(value):
    """A function, ufunc or class of NumPy's public modules under its own name."""
    name = getattr(value, "__name__", "")
    for ours, theirs in _namespaces():
        if theirs.__dict__.get(name, MISSING) is value:
            return getattr(ours, name)
    return NATIVE.get(value, value)
