"""plait.ufunc: calls are C++ (bindings/ufunc.cpp); the methods are here. Reductions and accumulations record, the rest is NumPy's."""

import contextlib
import copy
import operator
import pkgutil
import sys

import numpy
from numpy._core import umath

from . import _indexing, _overrides, _plait
from ._fallback import call, given
from ._plait import ndarray, ufunc

_NO_VALUE = numpy._NoValue
_KINDS = _plait.reduction_kinds()
# The reduction that a ufunc's reduce() is, and whether its result may be recorded for any dtype.
_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max", "fmin": "fmin", "fmax": "fmax",
    "logical_or": "any", "logical_and": "all", "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor",
}  # fmt: skip


def _asked(self, method, operands, options, third, out):
    """(what others make of the call, or NotImplemented; its output): the operands' classes are asked, and NumPy is for what is no array
    of Plait's, with the options that were given. `third` is an output that was given by position."""
    if third is ...:
        raise TypeError("out=... is only allowed as a keyword argument.")
    if third is not None:
        if out is not None:
            raise TypeError(f"argument for {method}() given by name ('out') and position (3)")
        out = third
    options = given(**options) if out is None else given(out=out, **options)
    taken = _overrides.call(self, method, operands, options)
    array = operands[0]
    if taken is NotImplemented and not isinstance(array, ndarray) and type(array) is not _plait.lazy_scalar:
        taken = call(getattr(self._numpy, method), operands, options, f"{self.__name__}.{method}")
    return taken, out


def reduce(self, array, axis=_NO_VALUE, dtype=_NO_VALUE, third=None, keepdims=_NO_VALUE, initial=_NO_VALUE, where=_NO_VALUE, *, out=None):
    if type(array) is not ndarray or third is not None or out is not None:
        options = {"axis": axis, "dtype": dtype, "keepdims": keepdims, "initial": initial, "where": where}
        taken, out = _asked(self, "reduce", (array,), options, third, out)
        if taken is not NotImplemented:
            return taken
    axis, dtype = 0 if axis is _NO_VALUE else axis, None if dtype is _NO_VALUE else dtype
    keepdims, where = False if keepdims is _NO_VALUE else keepdims, True if where is _NO_VALUE else where
    kind = _REDUCTIONS.get(self.__name__)
    if kind is not None and initial is not None:
        start = None if initial is _NO_VALUE else initial
        result = _plait.reduce(_KINDS[kind], array, axis, dtype, _one(out), keepdims, start, where)
        if result is not NotImplemented:
            return result
    options = {} if initial is _NO_VALUE else {"initial": initial}
    if where is not True:
        options["where"] = where
    return call(
        self._numpy.reduce,
        (array,),
        {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims, **options},
        f"{self.__name__}.reduce",
    )


def _one(out):
    """out= as NumPy takes it by position."""
    return out[0] if type(out) is tuple and len(out) == 1 else out


# Within a unit in the last place of NumPy's a step: what folds its own results would carry the difference on.
_ROUNDED = {"arctan2", "float_power", "hypot", "logaddexp", "logaddexp2", "power"}


def accumulate(self, array, axis=_NO_VALUE, dtype=_NO_VALUE, third=None, *, out=None):
    if type(array) is not ndarray or third is not None or out is not None:
        taken, out = _asked(self, "accumulate", (array,), {"axis": axis, "dtype": dtype}, third, out)
        if taken is not NotImplemented:
            return taken
    axis, dtype = 0 if axis is _NO_VALUE else axis, None if dtype is _NO_VALUE else dtype
    if type(array) is ndarray and axis is not None and self.__name__ not in _ROUNDED:
        result = _plait.accumulate(self.__name__, array, axis, dtype, _one(out))
        if result is not NotImplemented:
            return result
    return call(self._numpy.accumulate, (array,), {"axis": axis, "dtype": dtype, "out": out}, f"{self.__name__}.accumulate")


def reduceat(self, array, indices, axis=_NO_VALUE, dtype=_NO_VALUE, third=None, *, out=None):
    if type(array) is not ndarray or third is not None or out is not None:
        taken, out = _asked(self, "reduceat", (array, indices), {"axis": axis, "dtype": dtype}, third, out)
        if taken is not NotImplemented:
            return taken
    axis, dtype = 0 if axis is _NO_VALUE else axis, None if dtype is _NO_VALUE else dtype
    kind = _REDUCTIONS.get(self.__name__)
    if kind is not None and type(array) is ndarray and out is None:
        result = _plait.reduceat(_KINDS[kind], array, indices, axis, dtype)
        if result is not NotImplemented:
            return result
    return call(self._numpy.reduceat, (array, indices), {"axis": axis, "dtype": dtype, "out": out}, f"{self.__name__}.reduceat")


def outer(self, A, B, /, **kwargs):
    taken = _overrides.call(self, "outer", (A, B), kwargs)
    if taken is not NotImplemented:
        return taken
    if self._native and self.nin == 2 and isinstance(A, _plait.ndarray) and isinstance(B, _plait.ndarray) \
            and A.ndim + B.ndim <= 64:
        return self(A[(...,) + (None,) * B.ndim], B, **kwargs)
    return call(self._numpy.outer, (A, B), kwargs, f"{self.__name__}.outer")


# NumPy has loops of their own that take indices, here they are called for each element.
_INDEXED = {"divide", "floor_divide"}


def at(self, a, indices, b=_NO_VALUE, /):
    args = (a, indices) if b is _NO_VALUE else (a, indices, b)
    taken = _overrides.call(self, "at", args, {})
    if taken is NotImplemented and b is not _NO_VALUE and self.__name__ not in _ROUNDED | _INDEXED:
        taken = _indexing.at(self, a, indices, b)
    return call(self._numpy.at, args, None, f"{self.__name__}.at") if taken is NotImplemented else taken


def resolve_dtypes(self, *args, **kwargs):
    return self._numpy.resolve_dtypes(*args, **kwargs)


for _method in (reduce, accumulate, reduceat, outer, at, resolve_dtypes):
    setattr(ufunc, _method.__name__, _method)


def __reduce__(self):
    """As NumPy's, by its name; a caller's are found where a module has them, as NumPy's are."""
    name = self.__name__
    if getattr(umath, name, None) is not self._numpy:
        for module, held in list(sys.modules.items()):
            with contextlib.suppress(AttributeError):
                if operator.attrgetter(name)(held) is self:
                    return pkgutil.resolve_name, (f"{module}:{name}",)
    return copy.copy, (self._numpy,)


ufunc.__reduce__ = __reduce__
ufunc.__copy__ = lambda self: self
ufunc.__deepcopy__ = lambda self, memo: self
