"""correlate and convolve: short kernels in one region, long ones in pieces that an interrupt ends between, integers by transforms."""

import math

import numpy
from numpy._core import multiarray

from ._composed import own
from ._conversion import from_numpy, to_numpy
from ._creation import asarray
from ._fallback import call
from ._joining import concatenate
from ._plait import ndarray

_SHORT = 32  # elements of a kernel whose products are terms of one sum
_PIECE = 1 << 23  # products in a piece: some milliseconds
_CUT = 4 * _PIECE  # products from which on there are several
_TRANSFORMED = 256  # elements of a kernel from which on transforms are faster


def _region(a, v, before, behind):
    """The sums of products of v with what stands under it, in one region; those at the ends, where v stands out, are NumPy's."""
    n = v.size
    inner = a.size - n + 1
    terms = sum((a[k : k + inner] * v[k] for k in range(1, n)), a[:inner] * v[0])
    if before == behind == 0:
        return terms
    kernel = to_numpy(v)
    first = multiarray.correlate(to_numpy(a[: 2 * n]), kernel, 2)[n - 1 - before : n - 1]
    last = multiarray.correlate(to_numpy(a[-2 * n :]), kernel, 2)[2 * n : 2 * n + behind]
    return concatenate((first, terms, last))


def _in_pieces(a, v, before, behind):
    """NumPy's sums: each is one call of its dtype's loop for products, wherever the output is cut."""
    n, inner = v.size, a.size - v.size + 1
    out = numpy.empty(before + inner + behind, a.dtype)
    for k in range(before):
        m = n - before + k
        out[k] = numpy.dot(a[:m], v[n - m :])
    step = max(1, _PIECE // n)
    for k in range(0, inner, step):
        behind_it = min(k + step, inner)
        out[before + k : before + behind_it] = multiarray.correlate(a[k : behind_it + n - 1], v, 0)
    for k in range(behind):
        out[before + inner + k] = numpy.dot(a[inner + k :], v[: n - 1 - k])
    return out


def _by_transforms(a, v, before, behind):
    """The sums of integers, where what transforms round is less than a quarter; else None."""
    length = 1 << (a.size + v.size - 2).bit_length()
    x, y = a.astype(numpy.float64), v[::-1].astype(numpy.float64)
    rounded = 16 * math.log2(length) * numpy.finfo(numpy.float64).eps * math.sqrt(numpy.dot(x, x) * numpy.dot(y, y))
    if not rounded < 0.25:
        return None
    sums = numpy.fft.irfft(numpy.fft.rfft(x, length) * numpy.fft.rfft(y, length), length)
    first = v.size - 1 - before
    return numpy.rint(sums[first : first + a.size - v.size + 1 + before + behind]).astype(numpy.int64).astype(a.dtype)


def _long(a, v, before, behind):
    if a.dtype.kind in "iu" and v.size >= _TRANSFORMED and a.size <= 1 << 21:
        made = _by_transforms(a, v, before, behind)
        if made is not None:
            return made
    return _in_pieces(a, v, before, behind)


_MODES = {"valid": 0, "same": 1, "full": 2}


def _correlation(theirs, conjugates):
    def correlate(a, v, mode="valid"):
        a, v = asarray(a), asarray(v)
        number = _MODES.get(mode, mode) if type(mode) in (str, int) else None
        if not all(type(x) is ndarray and x.ndim == 1 and x.size and x.dtype.kind in "biufc" for x in (a, v)) or number not in (0, 1, 2):
            return call(theirs, (a, v, mode), None, "correlate")
        n = min(a.size, v.size)
        before, behind = ((0, 0), (n // 2, n - n // 2 - 1), (n - 1, n - 1))[number]
        kind = a.dtype.kind
        # NumPy has loops of its own for real kernels of up to 11 elements.
        short = (v.size > 11 or kind == "c") and v.size <= _SHORT and a.size >= 4 * _SHORT
        if short and a.dtype == v.dtype and kind in "fc" and a.dtype.itemsize > 2:
            return _region(a, v.conj() if conjugates and kind == "c" else v, before, behind)
        if n * max(a.size, v.size) < _CUT:
            return call(theirs, (a, v, mode), None, "correlate")
        both = numpy.result_type(a.dtype, v.dtype)
        x, y = (numpy.ascontiguousarray(to_numpy(line), both) for line in (a, v))
        if conjugates:
            y = y.conj()
        if x.size >= y.size:
            return from_numpy(_long(x, y, before, behind))
        made = _long(y, x, before, behind)
        return from_numpy(made[::-1].copy() if conjugates else made)

    return correlate


for _name, _conjugates in (("correlate", False), ("correlate2", True)):
    own(getattr(multiarray, _name), _correlation(getattr(multiarray, _name), _conjugates))
