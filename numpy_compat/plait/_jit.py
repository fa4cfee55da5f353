"""plait.jit: an unmodified NumPy function, run by Plait on the caller's NumPy arrays."""

import contextlib
import functools
import types

import numpy

from . import _plait
from ._device import device as _Device
from ._fallback import placed
from ._plait import lazy_scalar, ndarray
from ._swap import swapped


def _inward(x, borrowed, take=_plait.borrow):
    """Arguments: NumPy arrays are borrowed, without a copy, or what else `take` does with them."""
    kind = type(x)
    if kind is numpy.ndarray:
        made = take(x)
        borrowed[id(made)] = made, x
        return made
    if kind in (list, tuple):
        out = [_inward(v, borrowed, take) for v in x]
        return x if all(a is b for a, b in zip(out, x)) else kind(out)
    if kind is dict:
        return {k: _inward(v, borrowed, take) for k, v in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return kind(*(_inward(v, borrowed, take) for v in x))
    return x


def _outward(x, borrowed):
    """Results: NumPy's arrays and scalars; a borrowed argument that comes back is the caller's own array."""
    kind = type(x)
    if kind is ndarray or issubclass(kind, ndarray):
        known = borrowed.get(id(x))
        return known[1] if known is not None else _plait.export(x.to_device("cpu"))
    if kind is lazy_scalar:
        return _plait.export(x)
    if kind in (list, tuple):
        return kind([_outward(v, borrowed) for v in x])
    if kind is dict:
        return {k: _outward(v, borrowed) for k, v in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return kind(*(_outward(v, borrowed) for v in x))
    if isinstance(x, (dict, types.SimpleNamespace)):
        # In place: the function's own object is what NumPy would give, and not every class of dict can be copied.
        named = _named(x)
        dict.update(named, {k: _outward(v, borrowed) for k, v in dict.items(named)})
    return x


def _named(x):
    return x if isinstance(x, dict) else vars(x)


def _end_borrow(borrowed):
    _plait.end_borrow(*[made for made, _ in borrowed.values()])


def _leaves(x, out, namespaces=False):
    if isinstance(x, ndarray) or type(x) is lazy_scalar:
        out.append(x)
    elif isinstance(x, (list, tuple)):
        for v in x:
            _leaves(v, out, namespaces)
    elif isinstance(x, dict) or (namespaces and isinstance(x, types.SimpleNamespace)):
        for v in _named(x).values():
            _leaves(v, out, namespaces)
    return out


def _has_plait(x):
    return any(type(v) is not numpy.ndarray for v in _leaves(x, []))


def _target(fn):
    """The function to run in fn's place, and what to call before and after, for the names that either side assigns."""
    if isinstance(fn, types.FunctionType):
        return swapped(fn)
    if isinstance(fn, types.MethodType) and isinstance(fn.__func__, types.FunctionType):
        function, sync = swapped(fn.__func__)
        return types.MethodType(function, fn.__self__), sync
    if isinstance(fn, functools.partial):
        function, sync = _target(fn.func)
        return functools.partial(function, *fn.args, **fn.keywords), sync
    return fn, lambda: None


class _Uploads:
    """Arguments of a call that runs on a device: each memory block is moved once, and back when it was written to."""

    def __init__(self):
        self.roots = {}  # id -> the block, its array on the device, and its count of writes when it was made
        self.lent = []

    def borrow(self, x):
        self.lent.append(_plait.borrow(x))
        return self.lent[-1]

    def take(self, x):
        root = x
        while type(root.base) is numpy.ndarray:
            root = root.base
        made = self.own(root)
        if x is root:
            return made
        offset = x.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        view = NotImplemented
        if made.strides == root.strides:
            view = _plait.view_at(made, x.dtype, x.shape, x.strides, offset)
        return self.own(x) if view is NotImplemented else view

    def own(self, x):
        if id(x) not in self.roots:
            made = placed(self.borrow(x))
            self.roots[id(x)] = x, made, _plait.writes(made)
        return self.roots[id(x)][1]

    def finish(self):
        for root, made, writes in self.roots.values():
            if _plait.on_device(made) and _plait.writes(made) != writes and root.flags.writeable:
                root[...] = _plait.export(made)
        _plait.end_borrow(*self.lent)


def jit(fn=None, *, device=None):
    """Runs fn, written for NumPy, with Plait in NumPy's place; also a decorator.

    fn: a function whose globals hold numpy, modules of it or names imported from it; functions of the same module that it
    calls are included. NumPy arrays in the arguments are borrowed without a copy, and writes to them are seen when the call
    returns. Results are NumPy arrays and scalars (Plait's, when an argument was Plait's). Exceptions pass through.
    device: str or plait.device, where to run it; then arguments and results are copied, once each. Raises DeviceError when it
    is not there.
    """
    if fn is None:
        return functools.partial(jit, device=device)
    if not callable(fn):
        raise TypeError(f"jit() takes a callable, not {type(fn).__name__}")
    state = []
    scoped = contextlib.nullcontext() if device is None else _Device(device)

    @functools.wraps(fn)
    def run(*args, **kwargs):
        if not state:
            state.append(_target(fn))
        function, sync = state[0]
        sync()
        with scoped:
            if _has_plait(args) or (kwargs and _has_plait(kwargs)):
                try:
                    return function(*args, **kwargs)
                finally:
                    sync()
            borrowed = {}
            uploads = None if _plait.current_device() == "cpu" else _Uploads()
            take = uploads.take if uploads else _plait.borrow
            args = [_inward(a, borrowed, take) for a in args]
            kwargs = {k: _inward(v, borrowed, take) for k, v in kwargs.items()}
            try:
                result = function(*args, **kwargs)
                leaves = _leaves(result, [], namespaces=True)
                if len(leaves) > 1:
                    _plait.evaluate(*leaves)  # one plan for all the results
                return _outward(result, borrowed)
            finally:
                if uploads:
                    uploads.finish()
                else:
                    _end_borrow(borrowed)
                sync()

    return run


def explain(fn, args, target, source):
    """The plan of what fn returns for args, which is dropped without being computed."""
    function, sync = _target(getattr(fn, "__wrapped__", fn))
    sync()
    borrowed = {}
    try:
        # No name for the result: what is alive when the borrow ends is computed.
        return _plait.explain(target, source, *_leaves(function(*[_inward(a, borrowed) for a in args]), [], namespaces=True))
    finally:
        _end_borrow(borrowed)
        sync()
