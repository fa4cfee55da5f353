"""ndarray.flat: slices of contiguous arrays are views; the rest is NumPy's flat iterator over a live export, or over a copy of what lies on a
device."""

import numpy

from . import _plait
from ._conversion import edited, from_numpy, to_numpy
from ._fallback import exported
from ._plait import ndarray


class flatiter(_plait.elements_in_order):
    """Iteration and single elements are the base's, in C; which calls these methods for all else."""

    __slots__ = ("_made",)

    @property
    def _it(self):
        try:
            return self._made
        except AttributeError:
            self._made = exported(self.base, "ndarray.flat").flat
            return self._made

    def _line(self, key):
        """All elements as a view, where the key is a slice of them; else None."""
        a = self.base
        if type(key) is slice and type(a) is ndarray and a.ndim and a.flags.c_contiguous and a.dtype.kind in "biufc" and _plait.host_of(a) is None:
            return a.reshape(-1)
        return None

    def _get(self, key):
        line = self._line(key)
        if line is not None:
            return line[key].copy()
        it = _plait.export(self.base).flat if _plait.on_device(self.base) else self._it
        return from_numpy(it[to_numpy(key)])

    def _set(self, key, value):
        line = self._line(key)
        if line is not None:
            part = line[key]
            # NumPy repeats what is too short, and cuts what is too long.
            if not isinstance(value, ndarray) or value.size == 1 or value.size == part.size:
                if isinstance(value, (int, float, complex, numpy.generic)):
                    part[...] = numpy.asarray(value) if isinstance(value, numpy.generic) else value  # of NumPy's: cast without a check
                    return
                if type(value) is ndarray and value.dtype.kind in "biufc":
                    part[...] = value.reshape(-1)
                    return
        with edited(self.base) as host:
            host.flat[to_numpy(key)] = to_numpy(value)

    def _next(self):
        return next(self._it)

    def __array__(self, dtype=None, copy=None):
        return self._it.__array__() if dtype is None else self._it.__array__(dtype)

    def copy(self):
        return from_numpy(self._it.copy())

    def _by_numpy(self):
        return _plait.host_of(self.base) is not None or _plait.on_device(self.base)

    @property
    def index(self):
        return self._it.index if self._by_numpy() else self._at

    @property
    def coords(self):
        if self._by_numpy():
            return self._it.coords
        rest, place = self._at, []
        for n in self.base.shape[:0:-1]:
            rest, k = divmod(rest, n)
            place.append(k)
        return (rest, *place[::-1])[: self.base.ndim]


def assign(array, value):
    """array.flat = value"""
    with edited(array) as host:
        host.flat = to_numpy(value)
