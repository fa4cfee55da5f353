"""NumPy's __array_ufunc__ protocol for subclasses of plait.ndarray that define the method themselves."""

import numpy
from numpy._core._internal import array_ufunc_errmsg_formatter

from ._plait import lazy_scalar, ndarray


def own(kind):
    """True for a subclass of plait.ndarray with an __array_ufunc__ of its own."""
    return kind is not ndarray and ndarray in kind.__mro__ and kind.__array_ufunc__ is not ndarray.__array_ufunc__


def _overrides(operands):
    """(operand, its class's method) for each class that has one, subclasses before what they derive from."""
    defaults = None, ndarray.__array_ufunc__, lazy_scalar.__array_ufunc__, numpy.ndarray.__array_ufunc__
    found = []
    for x in operands:
        kind = type(x)
        override = getattr(kind, "__array_ufunc__", defaults)
        if override is None:
            raise TypeError(f"operand '{kind.__name__}' does not support ufuncs (__array_ufunc__=None)")
        if override is defaults or override in defaults or any(type(y) is kind for y, _ in found):
            continue
        at = next((i for i, (y, _) in enumerate(found) if issubclass(kind, type(y))), len(found))
        found.insert(at, (x, override))
    return found


def call(ufunc, method, inputs, kwargs):
    """What an operand's __array_ufunc__ makes of the call; NotImplemented where no operand is of such a subclass."""
    out = kwargs.get("out")
    outs = out if type(out) is tuple else (out,)
    if not any(own(type(x)) for x in (*inputs, *outs)):
        return NotImplemented
    kwargs = {k: v for k, v in kwargs.items() if k != "out"}
    if any(x is not None for x in outs):
        kwargs["out"] = outs
    for x, override in _overrides((*inputs, *outs)):
        result = override(x, ufunc, method, *inputs, **kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(array_ufunc_errmsg_formatter(None, ufunc, method, *inputs, **kwargs))


def operator(name, inputs, out=None):
    """The same for the operator that is the ufunc of this name."""
    if any(own(type(x)) for x in inputs):
        import plait

        return call(getattr(plait, name), "__call__", inputs, {"out": out})
    return NotImplemented
