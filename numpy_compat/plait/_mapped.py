"""Files as arrays: NumPy's memory maps in Plait's place, and arrays read a block of rows at a time."""

import functools
import operator
import weakref

import numpy

from . import _plait
from ._plait import ndarray

_maps = _plait.maps  # id of an array over a map -> a weak reference to it, and NumPy's map


def over_map(ours, theirs):
    """ours, an array over the memory of theirs, a numpy.memmap whose attributes it and its views have from now on; None: no such."""
    key = id(ours)
    _maps[key] = weakref.ref(ours, lambda _: _maps.pop(key, None)), theirs
    return ours


def without_map(view):
    """view, of which the caller said that it is of no map's class."""
    return over_map(view, None) if type(view) is ndarray and map_of(view) is not None else view


def map_of(x):
    """The numpy.memmap that lends a Plait array its memory, or None."""
    while type(x) is ndarray:
        known = _maps.get(id(x))
        if known is not None and known[0]() is x:
            return known[1]
        x = x.base
    return None


def taken(theirs):
    """A Plait array over the memory of a map that nobody else uses: read-only, it is read when values are needed."""
    make = _plait.share if theirs.flags.writeable else _plait.adopt
    return over_map(make(theirs.view(numpy.ndarray)), theirs)


def like_numpys(made, x):
    """NumPy's array over the memory of x: where a map lends that, of its class, with its file."""
    theirs = map_of(x) if _maps else None
    if theirs is None:
        return made
    view = made.view(numpy.memmap)
    view.__array_finalize__(theirs)
    return view


class _MapClass(type):
    def __instancecheck__(cls, x):
        return type.__instancecheck__(cls, x) or (cls is memmap and (isinstance(x, numpy.memmap) or map_of(x) is not None))

    def __subclasscheck__(cls, kind):
        return type.__subclasscheck__(cls, kind) or (cls is memmap and issubclass(kind, numpy.memmap))


class memmap(numpy.memmap, metaclass=_MapClass):
    """numpy.memmap, whose calls give Plait arrays over the file's memory.

    filename, dtype, mode, offset, shape, order: numpy.memmap's. Returns plait.ndarray with the attributes filename, mode and
    offset and the method flush(); of a dtype that the engine does not cover, and of a subclass, what NumPy gives. What is written
    is in the memory at once. A map of mode "r" is read when a value is needed. Raises what numpy.memmap raises.
    """

    __module__ = "plait"

    def __new__(cls, *args, **kwargs):
        return taken(numpy.memmap(*args, **kwargs)) if cls is memmap else super().__new__(cls, *args, **kwargs)


def _asked(x, name):
    """The map that x is over, which is asked for an attribute of its class's."""
    theirs = map_of(x)
    if theirs is None:
        raise AttributeError(f"'{type(x).__module__}.{type(x).__name__}' object has no attribute '{name}'", name=name, obj=x)
    return theirs


def _flush(x):
    _plait.export(x)  # what is pending is in the memory then
    map_of(x).flush()


for _name in "filename", "mode", "offset":
    setattr(ndarray, _name, property(lambda self, name=_name: getattr(_asked(self, name), name), doc=f"Of a mapped file: numpy.memmap.{_name}."))
ndarray.flush = property(lambda self: _asked(self, "flush") is not None and functools.partial(_flush, self), doc="Of a mapped file: numpy.memmap.flush.")


def blocks(x, nbytes=1 << 26):
    """Views of x along its first axis, one after the other, each of at most so many bytes, or of one row.

    x: an array, a numpy.memmap, an HDF5 dataset, a Zarr array: anything with shape, dtype and slices. nbytes: int. Of an array
    stored in chunks, blocks begin where chunks do, if one fits. Returns an iterator of x[i:j]; of an empty axis it gives none.
    Raises TypeError for an array of no axes, ValueError for nbytes below one.
    """
    shape, nbytes = tuple(x.shape), operator.index(nbytes)
    if not shape:
        raise TypeError("blocks() of an array of no axes")
    if nbytes < 1:
        raise ValueError("blocks() takes at least one byte")
    row = numpy.dtype(x.dtype).itemsize
    for n in shape[1:]:
        row *= n
    rows = max(1, nbytes // max(1, row))
    chunks = getattr(x, "chunks", None)
    whole = chunks[0] if isinstance(chunks, tuple) and chunks and isinstance(chunks[0], int) else 1
    if rows > whole > 1:
        rows -= rows % whole
    return (x[i : min(i + rows, shape[0])] for i in range(0, shape[0], rows))
