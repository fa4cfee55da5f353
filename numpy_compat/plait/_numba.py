"""Plait's arrays as arguments of Numba's functions; imported when Numba is."""

import numpy
from numba.core import boxing, types
from numba.core.datamodel.models import ArrayModel
from numba.extending import register_model, typeof_impl, unbox

from . import _plait


class Exported(types.Array):
    """The type of a Plait array: that of NumPy's over its memory, which the compiled code gets."""

    def __init__(self, array):
        super().__init__(array.dtype, array.ndim, array.layout, not array.mutable, f"plait.{array.name}", array.aligned)

    @property
    def key(self):
        return *super().key, "plait"


def enter():
    register_model(Exported)(ArrayModel)
    theirs = typeof_impl.dispatch(numpy.ndarray)

    @typeof_impl.register(numpy.ndarray)  # found by x.__class__
    def typeof(x, c):
        if type(x) is not _plait.ndarray:
            return theirs(x, c)
        array = theirs(_plait.export(x), c)
        return array if array is None else Exported(array)

    @unbox(Exported)
    def unboxed(kind, x, c):
        array = types.Array(kind.dtype, kind.ndim, kind.layout, not kind.mutable, aligned=kind.aligned)
        host = c.pyapi.call_method(x, "to_numpy", ())
        native = boxing.unbox_array(array, host, c)  # which keeps the memory alive
        c.pyapi.decref(host)
        return native
