"""Arrays joined, split, repeated, shifted and cut, with NumPy's signatures; what the engine does not take falls back."""

import sys

import numpy

from . import _plait
from ._creation import empty
from ._fallback import call, given
from ._plait import ndarray
from ._shape import ndim

_NO = numpy._NoValue


def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    if out is None and casting == "same_kind":
        result = _plait.concatenate(arrays, axis, dtype)
        if result is not NotImplemented:
            return result
    return call(numpy.concatenate, (arrays, axis, out), {"dtype": dtype, "casting": casting})


concat = concatenate


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    if out is None and dtype is None and casting == "same_kind":
        result = _plait.join("stack", arrays, axis)
        if result is not NotImplemented:
            return result
    return call(numpy.stack, (arrays, axis, out), {"dtype": dtype, "casting": casting})


def _join(name):
    function = getattr(numpy, name)

    def join(tup, *, dtype=None, casting="same_kind"):
        if dtype is None and casting == "same_kind":
            result = _plait.join(name, tup, 0)
            if result is not NotImplemented:
                return result
        return call(function, (tup,), {"dtype": dtype, "casting": casting})

    join.__name__ = join.__qualname__ = name
    return join


hstack, vstack = map(_join, ("hstack", "vstack"))


def dstack(tup):
    result = _plait.join("dstack", tup, 0)
    return call(numpy.dstack, (tup,)) if result is NotImplemented else result


def column_stack(tup):
    result = _plait.join("column_stack", tup, 0)
    return call(numpy.column_stack, (tup,)) if result is NotImplemented else result


def split(ary, indices_or_sections, axis=0):
    result = _plait.split(ary, indices_or_sections, axis, True)
    return call(numpy.split, (ary, indices_or_sections, axis)) if result is NotImplemented else result


def array_split(ary, indices_or_sections, axis=0):
    result = _plait.split(ary, indices_or_sections, axis, False)
    return call(numpy.array_split, (ary, indices_or_sections, axis)) if result is NotImplemented else result


def hsplit(ary, indices_or_sections):
    if ndim(ary) == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ndim(ary) > 1 else 0)


def vsplit(ary, indices_or_sections):
    if ndim(ary) < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    if ndim(ary) < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def tile(A, reps):
    result = _plait.tile(A, reps)
    return call(numpy.tile, (A, reps)) if result is NotImplemented else result


def repeat(a, repeats, axis=None):
    result = _plait.repeat(a, repeats, axis)
    return call(numpy.repeat, (a, repeats, axis)) if result is NotImplemented else result


def roll(a, shift, axis=None):
    try:
        result = _plait.roll(a, tuple(shift) if type(shift) is list else shift, axis)
    except OverflowError:  # NumPy takes any integer modulo the axis
        result = NotImplemented
    return call(numpy.roll, (a, shift, axis)) if result is NotImplemented else result


def bmat(obj, ldict=None, gdict=None):
    if isinstance(obj, str) and gdict is None:  # names of the caller's
        frame = sys._getframe(1)
        ldict, gdict = frame.f_locals, frame.f_globals
    return call(numpy.bmat, (obj, ldict, gdict))


_SPARSE_GRID = type(numpy.meshgrid(0, sparse=True, copy=False))  # of views: a list before NumPy 2.5


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    result = _plait.meshgrid(xi, indexing == "xy", sparse, copy)
    if result is NotImplemented:
        return call(numpy.meshgrid, xi, {"copy": copy, "sparse": sparse, "indexing": indexing})
    return (_SPARSE_GRID if sparse and not copy else tuple)(result)


def diff(a, n=1, axis=-1, prepend=_NO, append=_NO):
    if n == 0:
        return a
    if not n < 0 and isinstance(a, ndarray) and prepend is _NO and append is _NO:
        result = _plait.diff(a, min(n, max(a.shape, default=1) or 1), axis)  # nothing is left to differ after that many
        if result is not NotImplemented:
            return result
    return call(numpy.diff, (a, n, axis), given(prepend=prepend, append=append))


def tril(m, k=0):
    result = _plait.triangle("tril", m, k)
    return call(numpy.tril, (m, k)) if result is NotImplemented else result


def triu(m, k=0):
    result = _plait.triangle("triu", m, k)
    return call(numpy.triu, (m, k)) if result is NotImplemented else result


def _pad_widths(array, pad_width):
    """What is before and after each axis, or None where NumPy is to say what is wrong with it."""
    widths = numpy.asarray(pad_width)
    if array.ndim == 0 or widths.dtype.kind != "i":
        return None
    try:
        widths = numpy.broadcast_to(widths, (array.ndim, 2)).tolist()
    except ValueError:
        return None
    return None if any(w < 0 for pair in widths for w in pair) else widths


def _constant_pad(array, widths, constant_values=0):
    """One value around an array, or NotImplemented."""
    value = numpy.asarray(constant_values)
    if value.ndim != 0 or isinstance(constant_values, ndarray):
        return NotImplemented
    order = "F" if array.flags.fnc else "C"
    shape = tuple(before + extent + after for extent, (before, after) in zip(array.shape, widths))
    padded = empty(shape, array.dtype, order)
    padded[...] = value[()]  # NumPy's scalar, which is cast without a check
    padded[tuple(slice(before, before + extent) for extent, (before, _) in zip(array.shape, widths))] = array
    return padded


# Modes that show elements of the array: numpy::Padding.
_PADDING = {"edge": 1, "reflect": 2, "symmetric": 3, "wrap": 4}


def pad(array, pad_width, mode="constant", **kwargs):
    if type(array) is ndarray and not isinstance(pad_width, (dict, ndarray)) and (widths := _pad_widths(array, pad_width)):
        result = NotImplemented
        if type(mode) is not str:
            pass
        elif mode == "constant" and set(kwargs) <= {"constant_values"}:
            result = _constant_pad(array, widths, **kwargs)
        elif mode in _PADDING and not kwargs and array.size:
            result = _plait.pad(array, tuple(w for pair in widths for w in pair), _PADDING[mode])
        if result is not NotImplemented:
            return result
    return call(numpy.pad, (array, pad_width, mode), kwargs)
