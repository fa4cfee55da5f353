"""NumPy's protocols for subclasses of plait.ndarray that define __array_ufunc__, __array_wrap__ or __array_function__ themselves."""

import functools
import operator as comparison
import types
import warnings

import numpy
from numpy._core import _methods, multiarray
from numpy._core._internal import array_ufunc_errmsg_formatter

from ._plait import lazy_scalar, ndarray, view_as


def _defines(kind, name):
    """True for a subclass of plait.ndarray with a method of that name of its own."""
    return kind is not ndarray and ndarray in kind.__mro__ and getattr(kind, name) is not getattr(ndarray, name)


def own(kind):
    return _defines(kind, "__array_ufunc__")


def asked(*operands):
    """True when what ufuncs make of the operands is theirs to say."""
    return any(own(type(x)) or _defines(type(x), "__array_wrap__") for x in operands)


def _in_order(operands, name, defaults):
    """(operand, its class's method) for each class that has one, subclasses before what they derive from."""
    found = []
    for x in operands:
        kind = type(x)
        method = getattr(kind, name, defaults[0])
        if method in defaults or any(type(y) is kind for y, _ in found):
            continue
        at = next((i for i, (y, _) in enumerate(found) if issubclass(kind, type(y))), len(found))
        found.insert(at, (x, method))
    return found


# --- ufuncs -----------------------------------------------------------------------------------------------------------


def call(ufunc, method, inputs, kwargs):
    """What an operand's class makes of the call; NotImplemented where no operand is of such a subclass."""
    out = kwargs.get("out")
    outs = out if type(out) is tuple else (out,)
    mask = (kwargs["where"],) if own(type(kwargs.get("where"))) else ()
    if not mask and not asked(*inputs, *outs):
        return NotImplemented
    if method == "__call__" and ufunc.nout > 1 and not (out is None or out is ... or type(out) is tuple):
        raise TypeError("'out' must be a tuple of arrays")
    kwargs = {k: v for k, v in kwargs.items() if k != "out"}
    outs = () if out is ... or all(x is None for x in outs) else outs
    if not any(own(type(x)) for x in (*inputs, *outs, *mask)):
        return _wrapped(ufunc, method, inputs, outs, kwargs, getattr(ufunc, method))
    if outs:
        kwargs["out"] = outs
    for x in (*inputs, *outs):
        if getattr(type(x), "__array_ufunc__", _NOBODY) is None:
            raise TypeError(f"operand '{type(x).__name__}' does not support ufuncs (__array_ufunc__=None)")
    defaults = _NOBODY, ndarray.__array_ufunc__, lazy_scalar.__array_ufunc__, numpy.ndarray.__array_ufunc__
    for x, override in _in_order((*inputs, *outs, *mask), "__array_ufunc__", defaults):
        result = override(x, ufunc, method, *inputs, **kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(array_ufunc_errmsg_formatter(None, ufunc, method, *inputs, **kwargs))


_NOBODY = object()


_COMPARISONS = {"equal": comparison.eq, "not_equal": comparison.ne}


def operator(name, inputs, out=None):
    """The same for the operator that is the ufunc of this name."""
    if asked(*inputs):
        import plait

        if name in _COMPARISONS and out is None and not any(own(type(x)) for x in inputs):
            # Comparisons know more dtypes than the ufuncs do.
            return _wrapped(getattr(plait, name), "__call__", inputs, (), {}, _COMPARISONS[name])
        return call(getattr(plait, name), "__call__", inputs, {} if out is None else {"out": out})
    return NotImplemented


_PLAIN = ndarray, numpy.ndarray


def _plain(x):
    return view_as(x, ndarray, x) if ndarray in type(x).__mro__ else x


def _wrapped(ufunc, method, inputs, outs, kwargs, compute):
    """What compute makes of the arrays themselves; the most important operand's __array_wrap__ makes the result."""
    import plait

    subok = kwargs.pop("subok", True)
    if outs:
        kwargs["out"] = tuple(map(_plain, outs))
    results = compute(*map(_plain, inputs), **kwargs)
    if method == "at":
        return None
    several = type(results) is tuple
    # The highest __array_priority__ decides, then the first subclass.
    arrays = sorted((x for x in inputs if isinstance(x, ndarray)), key=lambda x: (-x.__array_priority__, type(x) in _PLAIN))
    model = arrays[0] if arrays else None
    made = []
    for i, result in enumerate(results if several else (results,)):
        out = outs[i] if i < len(outs) else None
        by = model if out is None else out if method == "__call__" else None
        if by is None or type(by) in _PLAIN or (out is None and not subok):
            made.append(result if out is None else out)
            continue
        context = (ufunc, (*inputs, *outs), i) if method in ("__call__", "outer") else None
        array = plait.asarray(result) if out is None else out
        made.append(_wrap(by, array, context, out is None and array.ndim == 0))
    return tuple(made) if several else made[0]


def _wrap(by, array, context, return_scalar):
    try:
        return by.__array_wrap__(array, context, return_scalar)
    except TypeError:
        result = by.__array_wrap__(array, context)
        warnings.warn(
            "__array_wrap__ must accept context and return_scalar arguments (positionally) in the future. (Deprecated NumPy 2.0)",
            DeprecationWarning,
            stacklevel=2,
        )
        return result


# --- methods ----------------------------------------------------------------------------------------------------------


@functools.cache
def _numpys_methods():
    """NumPy's own code of the methods sum(), mean() ... over Plait's ufuncs: subclasses are asked what NumPy asks them."""
    import plait

    scope = dict(vars(_methods), um=plait, asanyarray=plait.asanyarray)
    scope["mu"] = types.SimpleNamespace(**{**vars(multiarray), "ndarray": ndarray})
    for name, value in vars(_methods).items():
        of = getattr(value, "__self__", None)
        if isinstance(of, numpy.ufunc):  # add.reduce and the like
            scope[name] = functools.partial(_reduce, plait._ufunc_of(of))
        elif isinstance(value, types.FunctionType) and value.__module__ == _methods.__name__:
            scope[name] = types.FunctionType(value.__code__, scope, name, value.__defaults__, value.__closure__)
            scope[name].__kwdefaults__ = value.__kwdefaults__
    return scope


def _reduce(ufunc, array, *args, **kwargs):
    given = dict(zip(("axis", "dtype", "out", "keepdims", "initial", "where"), args), **kwargs)
    if given.get("initial", 0) is numpy._NoValue:
        del given["initial"]
    taken = call(ufunc, "reduce", (array,), given)
    return ufunc.reduce(array, **given) if taken is NotImplemented else taken


def method(name, array, *args, **kwargs):
    """array.name(...), for an array or out= of a class that is asked."""
    return _numpys_methods()[f"_{name}"](array, *args, **kwargs)


# --- functions --------------------------------------------------------------------------------------------------------


def _arrays(x, depth):
    if depth > 0 and type(x) in (list, tuple):
        for v in x:
            yield from _arrays(v, depth - 1)
    elif hasattr(type(x), "__array_function__") and type(x) is not lazy_scalar:
        yield x


def function(public, args, kwargs, depth):
    """What __array_function__ of the arguments' classes makes of a call; see bindings/dispatch.cpp for the depth."""
    if depth < 0:
        like = kwargs.pop("like")
        if not hasattr(type(like), "__array_function__"):
            raise TypeError("The `like` argument must be an array-like that implements the `__array_function__` protocol.")
        relevant = [like]
    else:
        relevant = [x for v in (*args, *kwargs.values()) for x in _arrays(v, depth)]
    found = _in_order(relevant, "__array_function__", (_NOBODY,))
    kinds = tuple(type(x) for x, _ in found)
    for x, override in found:
        result = override(x, public, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public.__module__}.{public.__name__}".replace("plait", "numpy", 1)
    raise TypeError(f"no implementation found for '{name}' on types that implement __array_function__: {list(kinds)}")
