"""ndarray.flat: slices of contiguous arrays are views; the rest is NumPy's flat iterator over a live export, or over a copy of what lies on a
device."""

import numpy

from . import _plait
from ._fallback import edited, exported, from_numpy, to_numpy
from ._plait import ndarray


class flatiter:
    def __init__(self, array):
        if array.ndim > 32:  # NumPy's own limit of this object alone
            raise RuntimeError(f"this function only supports up to 32 dimensions but the array has {array.ndim}.")
        self.base = array
        self._made = None

    @property
    def _it(self):
        if self._made is None:
            self._made = exported(self.base, "ndarray.flat").flat
        return self._made

    def _line(self, key):
        """All elements as a view, where the key is a slice of them; else None."""
        a = self.base
        if type(key) is slice and type(a) is ndarray and a.ndim and a.flags.c_contiguous and a.dtype.kind in "biufc" and _plait.host_of(a) is None:
            return a.reshape(-1)
        return None

    def __getitem__(self, key):
        line = self._line(key)
        if line is not None:
            return line[key].copy()
        it = _plait.export(self.base).flat if _plait.on_device(self.base) else self._it
        return from_numpy(it[to_numpy(key)])

    def __setitem__(self, key, value):
        line = self._line(key)
        if line is not None:
            part = line[key]
            # NumPy repeats what is too short, and cuts what is too long.
            if not isinstance(value, ndarray) or value.size == 1 or value.size == part.size:
                if isinstance(value, (int, float, complex, numpy.generic)):
                    part[...] = value
                    return
                if type(value) is ndarray and value.dtype.kind in "biufc":
                    part[...] = value.reshape(-1)
                    return
        with edited(self.base) as host:
            host.flat[to_numpy(key)] = to_numpy(value)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._it)

    def __len__(self):
        return self.base.size

    def __array__(self, dtype=None, copy=None):
        return self._it.__array__() if dtype is None else self._it.__array__(dtype)

    def copy(self):
        return from_numpy(self._it.copy())

    @property
    def coords(self):
        return self._it.coords

    @property
    def index(self):
        return self._it.index


def assign(array, value):
    """array.flat = value"""
    with edited(array) as host:
        host.flat = to_numpy(value)
