"""ndarray.flat: NumPy's flat iterator over a live export, or over a copy of what lies on a device."""

from . import _plait
from ._fallback import edited, exported, from_numpy, to_numpy


class flatiter:
    def __init__(self, array):
        self.base = array
        self._it = exported(array, "ndarray.flat").flat

    def __getitem__(self, key):
        it = _plait.export(self.base).flat if _plait.on_device(self.base) else self._it
        return from_numpy(it[to_numpy(key)])

    def __setitem__(self, key, value):
        with edited(self.base) as host:
            host.flat[to_numpy(key)] = to_numpy(value)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._it)

    def __len__(self):
        return len(self._it)

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
