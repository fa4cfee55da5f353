"""Plait in NumPy's place inside functions that were written for NumPy."""

import sys
import types

import numpy

from ._submodules import NATIVE

_MISSING = object()
_known = {}


def stand_in(value):
    """Plait's object for one of NumPy's, or the value itself."""
    if isinstance(value, types.ModuleType):
        name = value.__name__
        if name == "numpy":
            return sys.modules["plait"]
        if name.startswith("numpy.") and not name.startswith(("numpy._", "numpy.core")):
            import importlib

            return importlib.import_module("plait" + name[5:])
        return value
    if value is numpy.ndarray:
        return sys.modules["plait"].ndarray
    if callable(value) and getattr(value, "__module__", "").startswith("numpy"):
        key = id(value)
        if key not in _known:
            _known[key] = (value, _find(value))
        return _known[key][1]
    return value


def _find(value):
    """A function, ufunc or class of NumPy's public modules under its own name."""
    import plait

    name = getattr(value, "__name__", "")
    for ours, theirs in ((plait, numpy), (plait.linalg, numpy.linalg), (plait.fft, numpy.fft), (plait.random, numpy.random)):
        if theirs.__dict__.get(name, _MISSING) is value:
            return getattr(ours, name)
    return NATIVE.get(value, value)


class _Globals(dict):
    """A function's globals, live, with NumPy replaced. Look-ups that are not replaced go to the module each time."""

    def __init__(self, module_globals):
        super().__init__()
        self.module_globals = module_globals
        self.functions = {}

    def __missing__(self, name):
        value = self.module_globals[name]
        replaced = swap(value, self)
        if replaced is not value and not isinstance(value, types.FunctionType):
            dict.__setitem__(self, name, replaced)
        return replaced

    def flush(self):
        """Names that the function assigned as globals go to its module."""
        for name in [n for n in self if n != "__builtins__"]:
            theirs = self.module_globals.get(name, _MISSING)
            if theirs is _MISSING or stand_in(theirs) is not self[name]:
                self.module_globals[name] = dict.pop(self, name)


def swap(value, scope):
    """A global of a swapped function: NumPy's objects and functions of the same module are replaced."""
    if isinstance(value, types.FunctionType) and value.__globals__ is scope.module_globals:
        made = scope.functions.get(value)
        if made is None:
            made = scope.functions[value] = _rebuild(value, scope)
        return made
    return stand_in(value)


def _rebuild(function, scope):
    scope.functions[function] = function  # a function that closes over itself
    cells = tuple(_swap_cell(c, scope) for c in function.__closure__) if function.__closure__ else None
    made = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    made.__qualname__ = function.__qualname__
    return made


def _swap_cell(cell, scope):
    try:
        value = cell.cell_contents
    except ValueError:  # not filled yet
        return cell
    replaced = swap(value, scope)
    return cell if replaced is value else types.CellType(replaced)


_scopes = {}


def swapped(function):
    """The function with NumPy replaced, and its globals."""
    key = id(function.__globals__)
    scope = _scopes.get(key)
    if scope is None:
        scope = _scopes[key] = _Globals(function.__globals__)
        dict.__setitem__(scope, "__builtins__", function.__globals__.get("__builtins__", __builtins__))
    return swap(function, scope), scope
