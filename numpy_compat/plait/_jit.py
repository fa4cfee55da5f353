"""plait.jit: an unmodified NumPy function, run by Plait on the caller's NumPy arrays."""

import functools
import types

import numpy

from . import _plait
from ._plait import lazy_scalar, ndarray
from ._swap import swapped


def _inward(x, borrowed):
    """Arguments: NumPy arrays are borrowed, without a copy."""
    kind = type(x)
    if kind is numpy.ndarray:
        made = _plait.borrow(x)
        borrowed[id(made)] = made, x
        return made
    if kind in (list, tuple):
        out = [_inward(v, borrowed) for v in x]
        return x if all(a is b for a, b in zip(out, x)) else kind(out)
    if kind is dict:
        return {k: _inward(v, borrowed) for k, v in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return kind(*(_inward(v, borrowed) for v in x))
    return x


def _outward(x, borrowed):
    """Results: NumPy's arrays and scalars; a borrowed argument that comes back is the caller's own array."""
    kind = type(x)
    if kind is ndarray or issubclass(kind, ndarray):
        known = borrowed.get(id(x))
        return known[1] if known is not None else _plait.export(x)
    if kind is lazy_scalar:
        return _plait.export(x)
    if kind in (list, tuple):
        return kind([_outward(v, borrowed) for v in x])
    if kind is dict:
        return {k: _outward(v, borrowed) for k, v in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return kind(*(_outward(v, borrowed) for v in x))
    return x


def _end_borrow(borrowed):
    _plait.end_borrow(*[made for made, _ in borrowed.values()])


def _leaves(x, out):
    if isinstance(x, ndarray) or type(x) is lazy_scalar:
        out.append(x)
    elif isinstance(x, (list, tuple)):
        for v in x:
            _leaves(v, out)
    elif isinstance(x, dict):
        for v in x.values():
            _leaves(v, out)
    return out


def _has_plait(x):
    return any(type(v) is not numpy.ndarray for v in _leaves(x, []))


def _target(fn):
    """The function to run in fn's place, and the scope whose assigned globals go back to the module."""
    if isinstance(fn, types.FunctionType):
        return swapped(fn)
    if isinstance(fn, types.MethodType) and isinstance(fn.__func__, types.FunctionType):
        function, scope = swapped(fn.__func__)
        return types.MethodType(function, fn.__self__), scope
    if isinstance(fn, functools.partial):
        function, scope = _target(fn.func)
        return functools.partial(function, *fn.args, **fn.keywords), scope
    return fn, None


def jit(fn):
    """Runs fn, written for NumPy, with Plait in NumPy's place; also a decorator.

    fn: a function whose globals hold numpy, modules of it or names imported from it; functions of the same module that it
    calls are included. NumPy arrays in the arguments are borrowed without a copy, and writes to them are seen when the call
    returns. Results are NumPy arrays and scalars (Plait's, when an argument was Plait's). Exceptions pass through.
    """
    if not callable(fn):
        raise TypeError(f"jit() takes a callable, not {type(fn).__name__}")
    state = []

    @functools.wraps(fn)
    def run(*args, **kwargs):
        if not state:
            state.append(_target(fn))
        function, scope = state[0]
        if _has_plait(args) or (kwargs and _has_plait(kwargs)):
            return function(*args, **kwargs)
        borrowed = {}
        args = [_inward(a, borrowed) for a in args]
        kwargs = {k: _inward(v, borrowed) for k, v in kwargs.items()}
        try:
            result = function(*args, **kwargs)
            leaves = _leaves(result, [])
            if len(leaves) > 1:
                _plait.evaluate(*leaves)  # one plan for all the results
            return _outward(result, borrowed)
        finally:
            _end_borrow(borrowed)
            if scope is not None:
                scope.flush()

    return run


def explain(fn, args):
    """The plan of what fn returns for args, which is dropped without being computed."""
    function, _ = _target(getattr(fn, "__wrapped__", fn))
    borrowed = {}
    try:
        return _plait.explain(*_leaves(function(*[_inward(a, borrowed) for a in args]), []))
    finally:
        _end_borrow(borrowed)
