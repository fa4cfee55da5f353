"""ndarray.flat: NumPy's flat iterator over a live export."""

from ._fallback import exported, from_numpy, to_numpy


class flatiter:
    def __init__(self, array):
        self.base = array
        self._it = exported(array, "ndarray.flat").flat

    def __getitem__(self, key):
        return from_numpy(self._it[to_numpy(key)])

    def __setitem__(self, key, value):
        self._it[to_numpy(key)] = to_numpy(value)

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
