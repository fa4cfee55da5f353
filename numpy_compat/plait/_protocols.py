"""Protocols of plait.ndarray: what NumPy and other libraries ask of arrays."""

import sys

import numpy

from . import _exchange, _libraries, _overrides, _plait
from ._conversion import from_numpy
from ._fallback import call
from ._install import install
from ._plait import ndarray


@install
def __array_wrap__(self, array, context=None, return_scalar=False):
    made = from_numpy(array) if type(array) is numpy.ndarray else array
    if return_scalar and type(self) is ndarray and numpy.ndim(made) == 0:
        return made[()]
    if type(made) is type(self):
        return made
    return _plait.view_as(made, type(self), self)


@install
def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    if _plait.on_device(self):
        return _exchange.to_dlpack(self, stream, max_version, dl_device, copy)
    native = _plait.host_of(self) is None
    narrow = self.dtype if native and self.dtype.num >= 256 else None  # a dtype of Plait's that NumPy's own capsules do not know
    lent = self if narrow is None else self.view(f"u{self.itemsize}")
    host = numpy.asarray(memoryview(lent)) if native else _plait.export(self)  # the capsule keeps this array
    capsule = host.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
    if narrow is not None:
        _plait.narrow_dlpack(capsule, narrow)
    return capsule


@install
def __dlpack_device__(self):
    return _exchange.device_of(self)


def _torch_function(cls, func, types, args=(), kwargs=None):
    """torch's protocol: its functions take arrays as tensors over their memory."""
    from ._torch import torch_function

    return torch_function(func, args, kwargs or {})


@install
def __array_namespace__(self, *, api_version=None):
    """plait.array_api, the array API standard and nothing else. Raises ValueError for versions that it does not have."""
    from . import array_api

    if api_version != array_api.__array_api_version__:
        numpy.empty(0).__array_namespace__(api_version=api_version)  # which has the versions before, and raises for all others
    if _libraries.wants_numpys_names(sys._getframe(1)):
        import plait

        return plait
    return array_api


@install
def __sizeof__(self):
    return object.__sizeof__(self) + (self.nbytes if self.base is None else 0)


@install
def __setstate__(self, state):
    raise TypeError("Plait arrays are restored by their constructor")


@install
def __array_finalize__(self, obj, /):
    pass


@install
def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
    import plait

    if not callable(ufunc):  # Numba's and others' pass themselves
        raise TypeError(f"__array_ufunc__() takes a ufunc, not {type(ufunc).__name__}")
    for x in (*inputs, *kwargs.get("out", ()), *([kwargs["where"]] if "where" in kwargs else [])):
        kind = type(x)
        if _overrides.own(kind):
            return NotImplemented  # as NumPy: who overrides unwraps its operands first
        if not isinstance(x, ndarray) and kind is not _plait.lazy_scalar:
            override = getattr(kind, "__array_ufunc__", None)
            if override is not None and override is not numpy.generic.__dict__.get("__array_ufunc__"):
                if not isinstance(x, numpy.generic):
                    return NotImplemented
    ours = ufunc if type(ufunc) is _plait.ufunc else plait._ufunc_of(ufunc)
    if ours is None:
        return call(getattr(ufunc, method), inputs, kwargs, ufunc.__name__)
    out = kwargs.get("out")
    if out is not None and all(v is None for v in out):
        del kwargs["out"]
    return (ours if method == "__call__" else getattr(ours, method))(*inputs, **kwargs)


_PLAIN = frozenset((ndarray, numpy.ndarray, _plait.lazy_scalar))
_functions = {}  # NumPy's function -> Plait's, of those that were called with Plait's arrays


@install
def __array_function__(self, func, types, args, kwargs):
    if type(self) is ndarray and func in _functions and type(args) is tuple and type(kwargs) is dict and _PLAIN.issuperset(types):
        return _functions[func](*args, **kwargs)

    import plait

    if not isinstance(args, tuple):
        raise TypeError("args must be a tuple.")
    if not isinstance(kwargs, dict):
        raise TypeError("kwargs must be a dict.")
    for kind in types:
        if not issubclass(kind, ndarray) and kind is not _plait.lazy_scalar:
            return NotImplemented
    ours = func if type(func) is type(plait.sum) else plait._function_of(func)
    if ours is None:
        return call(func, args, kwargs)
    if type(ours) is type(plait.sum):  # asks nobody where all are plain
        _functions[func] = ours
    return getattr(ours, "_implementation", ours)(*args, **kwargs)


ndarray.__cuda_array_interface__ = property(_exchange.interface)
ndarray.__torch_function__ = classmethod(_torch_function)
# What pandas keeps for long it takes from arrays of this kind by to_numpy(): its compiled code asks for NumPy's own type.
ndarray._typ = "npy_extension"
# numpy.ma keeps the class of what a masked array was made of, and makes views of that class.
ndarray._baseclass = numpy.ndarray
ndarray.__module__ = "plait"
