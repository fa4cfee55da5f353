"""plait.ufunc: calls are C++ (bindings/ufunc.cpp); the methods are here. Reductions and accumulations record, the rest is NumPy's."""

import numpy

from . import _indexing, _overrides, _plait
from ._fallback import call
from ._plait import ndarray, ufunc

_NO_VALUE = numpy._NoValue
_KINDS = _plait.reduction_kinds()
# The reduction that a ufunc's reduce() is, and whether its result may be recorded for any dtype.
_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max", "fmin": "fmin", "fmax": "fmax",
    "logical_or": "any", "logical_and": "all", "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor",
}  # fmt: skip


def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, initial=_NO_VALUE, where=True):
    if type(array) is not ndarray or out is not None:
        given = {"axis": axis, "out": out}
        if dtype is not None:
            given["dtype"] = dtype
        if keepdims is not False:
            given["keepdims"] = keepdims
        if initial is not _NO_VALUE:
            given["initial"] = initial
        if where is not True:
            given["where"] = where
        taken = _overrides.call(self, "reduce", (array,), given)
        if taken is not NotImplemented:
            return taken
    kind = _REDUCTIONS.get(self.__name__)
    if kind is not None and (isinstance(array, ndarray) or type(array) is _plait.lazy_scalar):
        if type(out) is tuple and len(out) == 1:
            out = out[0]
        if initial is not None:
            start = None if initial is _NO_VALUE else initial
            result = _plait.reduce(_KINDS[kind], array, axis, dtype, out, keepdims, start, where)
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


# Within a unit in the last place of NumPy's a step: an accumulation would carry the difference on.
_ROUNDED = {"arctan2", "float_power", "hypot", "logaddexp", "logaddexp2", "power"}


def accumulate(self, array, axis=0, dtype=None, out=None):
    if type(array) is ndarray and axis is not None and self.__name__ not in _ROUNDED:
        result = _plait.accumulate(self.__name__, array, axis, dtype, _one(out))
        if result is not NotImplemented:
            return result
    given = {"axis": axis, "out": out} if dtype is None else {"axis": axis, "dtype": dtype, "out": out}
    taken = _overrides.call(self, "accumulate", (array,), given)
    if taken is not NotImplemented:
        return taken
    return call(self._numpy.accumulate, (array, axis, dtype, _one(out)), None, f"{self.__name__}.accumulate")


def reduceat(self, array, indices, axis=0, dtype=None, out=None):
    kind = _REDUCTIONS.get(self.__name__)
    if kind is not None and type(array) is ndarray and out is None:
        result = _plait.reduceat(_KINDS[kind], array, indices, axis, dtype)
        if result is not NotImplemented:
            return result
    taken = _overrides.call(self, "reduceat", (array, indices), {"axis": axis, "dtype": dtype, "out": out})
    if taken is not NotImplemented:
        return taken
    return call(self._numpy.reduceat, (array, indices, axis, dtype, _one(out)), None, f"{self.__name__}.reduceat")


def outer(self, A, B, /, **kwargs):
    taken = _overrides.call(self, "outer", (A, B), kwargs)
    if taken is not NotImplemented:
        return taken
    if self._native and self.nin == 2 and isinstance(A, _plait.ndarray) and isinstance(B, _plait.ndarray) \
            and A.ndim + B.ndim <= 64:
        return self(A[(...,) + (None,) * B.ndim], B, **kwargs)
    return call(self._numpy.outer, (A, B), kwargs, f"{self.__name__}.outer")


def at(self, a, indices, b=_NO_VALUE, /):
    args = (a, indices) if b is _NO_VALUE else (a, indices, b)
    if _overrides.call(self, "at", args, {}) is not NotImplemented:
        return
    if b is _NO_VALUE or _indexing.at(self, a, indices, b) is NotImplemented:
        call(self._numpy.at, args, None, f"{self.__name__}.at")


def resolve_dtypes(self, *args, **kwargs):
    return self._numpy.resolve_dtypes(*args, **kwargs)


for _method in (reduce, accumulate, reduceat, outer, at, resolve_dtypes):
    setattr(ufunc, _method.__name__, _method)


_made = {}


def make(numpy_ufunc):
    """The plait.ufunc of a numpy.ufunc; one object however many names it has."""
    ours = _made.get(numpy_ufunc)
    if ours is None:
        ours = _made[numpy_ufunc] = _plait.new_ufunc(numpy_ufunc, numpy_ufunc.__name__)
    return ours


ufunc.__reduce__ = lambda self: (make, (self._numpy,))  # NumPy knows its own by name
