"""NumPy's generalized ufuncs of linear algebra and Fourier transforms over Plait's arrays: their loops in C, on pooled memory, batches on all
threads. For the functions of _composed.py, which call them."""

import math
import os
import re
import sys
import warnings

import numpy

from . import _plait
from ._creation import asarray
from ._fallback import call
from ._plait import ndarray

_FLAGS = {"divide": 4, "over": 8, "under": 16, "invalid": 1}  # of the engine
_NAMES = {
    "divide": "divide by zero", "over": "overflow", "under": "underflow", "invalid": "invalid value",
}  # fmt: skip
_NUMPYS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
_FOLDER = os.path.dirname(__file__) + os.sep


def _depth():
    """The stacklevel, for our caller, of the first frame that is not Plait's."""
    frame, depth = sys._getframe(1), 1
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame, depth = frame.f_back, depth + 1
    return depth


def report(flags, name):
    """Says of floating-point flags what numpy.errstate asks for."""
    state = numpy.geterr()
    for kind, bit in _FLAGS.items():
        if not flags & bit or state[kind] == "ignore":
            continue
        text = f"{_NAMES[kind]} encountered in {name}"
        if state[kind] == "warn":
            warnings.warn(text, RuntimeWarning, stacklevel=_depth())
        elif state[kind] == "raise":
            raise FloatingPointError(text)
        elif state[kind] == "call":
            numpy.geterrcall()(_NAMES[kind], _NUMPYS[kind])
        elif state[kind] == "log":
            numpy.geterrcall().write(f"Warning: {text}\n")
        else:
            print(f"Warning: {text}")


# Rows of the table of calls that compute what a loop does, of small matrices in the lanes of a register. Each has what comes after the arrays.
_CALLS = {"solve": (), "inv": (), "det": (), "slogdet": (), "cholesky_lo": ((0,),), "cholesky_up": ((1,),)}
_SMALL = 8  # rows or columns


def _flags_of_determinants(name, found, matrices):
    """Those of NumPy's loops, which compare pivots and take the exponential of a sum of logarithms; `found` has determinants or logarithms."""
    found = numpy.asarray(found)
    finite = numpy.isfinite(found)
    if finite.all():
        return 0
    over = name == "det" and bool(numpy.isfinite(numpy.asarray(matrices)[numpy.isinf(found)]).all((-2, -1)).any())
    return _FLAGS["invalid"] * bool(numpy.isnan(found).any()) | _FLAGS["over"] * over


def _by_lanes(name, arrays, sizes, signature):
    """As a loop's flags and results; NotImplemented for what are no stacks of small real matrices, and for stacks that differ."""
    if name not in _CALLS or signature[0] not in "fd" or not 0 < min(sizes.values()) <= max(sizes.values()) <= _SMALL:
        return NotImplemented
    if len({a.shape[:-2] for a in arrays}) > 1 or min(a.size for a in arrays) == 0:
        return NotImplemented
    arrays = tuple(a if a.dtype.char == signature[0] else a.astype(signature[0]) for a in arrays)
    made = _plait.call(name.partition("_")[0], arrays, *_CALLS[name])
    if made is NotImplemented:
        return made
    made = made if type(made) is tuple else (made,)
    return _flags_of_determinants(name, made[-1], arrays[0]) if "det" in name else 0, *made


class Loop:
    """A generalized ufunc that takes arrays of Plait's."""

    def __init__(self, ufunc):
        self._ufunc, self.__name__ = ufunc, ufunc.__name__
        self._cores = [[n.strip() for n in core.split(",") if n.strip()] for core in re.findall(r"\(([^)]*)\)", ufunc.signature)]
        self._dimensions = list(dict.fromkeys(n for core in self._cores for n in core))

    def _sizes(self, arrays):
        sizes = {}
        for core, a in zip(self._cores, arrays):
            for name, n in zip(core, a.shape[a.ndim - len(core) :]):
                if sizes.setdefault(name, n) != n:
                    return None
        if not sizes.keys() >= set(self._dimensions) and {"m", "n"} <= sizes.keys():
            for name in self._dimensions:
                sizes.setdefault(name, min(sizes["m"], sizes["n"]))
        return sizes

    def _run(self, type_, arrays, sizes, results, seconds):
        """Floating-point flags and results, of shapes from `sizes`, or of those (dtype, shape, strides) that are given."""
        codes = self._ufunc.types[type_].replace("->", "")
        ins = self._ufunc.nin
        try:
            batch = numpy.broadcast_shapes(*(a.shape[: a.ndim - len(core)] for a, core in zip(arrays, self._cores)))
        except ValueError:  # the ufunc says it in other words
            return NotImplemented
        if results is None:
            results = tuple((codes[k], (*batch, *(sizes[n] for n in self._cores[k])), None) for k in range(ins, len(codes)))
        arrays = tuple(a if a.dtype.char == code else a.astype(code) for a, code in zip(arrays, codes))
        order = tuple(sizes[n] for n in self._dimensions)
        return _plait.run_loop(self._ufunc, type_, arrays, results, batch, order, seconds)

    def __call__(self, *arrays, signature):
        arrays = tuple(map(asarray, arrays))
        sizes = self._sizes(arrays)
        ours = sizes is not None and all(type(a) is ndarray for a in arrays)
        made = _by_lanes(self.__name__, arrays, sizes, signature) if ours else NotImplemented
        if ours and made is NotImplemented:
            seconds = 2e-9 * math.prod(sizes.values()) * max(sizes.values()) ** (3 - len(sizes)) if len(sizes) < 3 else 2e-9 * math.prod(sizes.values())
            made = self._run(self._ufunc.types.index(signature), arrays, sizes, None, seconds)
        if made is NotImplemented:
            return call(self._ufunc, arrays, {"signature": signature}, self.__name__)
        flags, *results = made
        if flags:
            report(flags, self.__name__)
        results = [r if r.ndim else r[()] for r in results]
        return results[0] if len(results) == 1 else tuple(results)


class Transform(Loop):
    """One of numpy.fft's."""

    _long = None  # the loop that transforms long lines by short ones, where there is one
    _LEAST = 1 << 18  # elements of one of another length that is transformed in pieces, too

    def _by_convolution(self, line, n_out, code, given, scale):
        """A long line whose length has a large prime factor, by transforms of another length. Source: Bluestein, "A linear filtering approach
        to the computation of discrete Fourier transform", 1970."""
        n = n_out if code in "fd" else line.size
        half = n // 2 + 1
        ends = (half, n) if code in "fd" else (n, half) if given in "fd" else (n, n)
        if n < self._LEAST or code not in "fdFD" or (line.size, n_out) != ends or not _has_large_factor(n):
            return NotImplemented
        import plait as np

        if not bool(np.isfinite(line).all()):
            return NotImplemented
        if code in "fd":
            line = np.concatenate((line[:1].real, line[1:], line[1 : (n + 1) // 2][::-1].conj()))
        k = np.arange(n)
        angle = (k * k % (2 * n)) * (math.pi / n)
        chirp = np.cos(angle) + (-1j if self.__name__ in ("fft", "rfft_n_even", "rfft_n_odd") else 1j) * np.sin(angle)
        unit = 1 << (2 * n).bit_length() - 4
        length = -(-(2 * n - 1) // unit) * unit
        a, b = np.zeros((2, length), numpy.complex128)
        a[:n] = line * chirp
        b[:n] = chirp.conj()
        b[length - n + 1 :] = b[1:n][::-1]
        result = np.fft.ifft(np.fft.fft(a) * np.fft.fft(b))[:n] * (chirp * scale)
        return result[:half] if given in "fd" else result.real if code in "fd" else result

    def __call__(self, a, scale, *, axes, out):
        axis = axes[0][0]
        number = type(scale) if type(scale) in (int, float) else scale.dtype
        loop = self._ufunc.resolve_dtypes((a.dtype, number, out.dtype))  # of single precision only where the scale is, too
        type_ = self._ufunc.types.index("{0.char}{1.char}->{2.char}".format(*loop))
        code, given = loop[2].char, loop[0].char
        if a.dtype.char != given:
            a = a.astype(given)
        line = _plait.moveaxis(a, axis, -1) if axis != a.ndim - 1 else a
        to = [k for k in range(a.ndim) if k != axis] + [axis]
        n, n_out = line.shape[-1], out.shape[axis]
        result = code, tuple(out.shape[k] for k in to), tuple(out.strides[k] // out.itemsize * loop[2].itemsize for k in to)
        made = NotImplemented
        if a.ndim == 1 and self._long is not None and (n_out == n if code == given else n_out == n // 2 + 1):
            complex_type = next(i for i, t in enumerate(self._long.types) if t[-1] == code)
            made = _plait.long_fft(self._long, complex_type, line, result, self._long.__name__ == "fft", float(scale))
        if made is NotImplemented and a.ndim == 1:
            made = self._by_convolution(line, n_out, code, given, float(scale))
            if made is not NotImplemented:
                return made.astype(out.dtype)
        if made is NotImplemented:
            sizes = dict.fromkeys(self._cores[0], n) | dict.fromkeys(self._cores[2], n_out)
            seconds = 1e-9 * max(n, n_out) * math.log2(max(n, n_out, 2))
            made = self._run(type_, (line, asarray(scale, loop[1])), sizes, (result,), seconds)
        if made is NotImplemented:  # of another device
            return call(self._ufunc, (a, scale), {"axes": axes, "out": out}, self.__name__)
        flags, made = made
        if flags:
            report(flags, self.__name__)
        made = made.astype(out.dtype, copy=False)
        return _plait.moveaxis(made, -1, axis) if axis != a.ndim - 1 else made


def _has_large_factor(n):
    """Whether a prime factor is beyond the root."""
    left, p = n, 2
    while p * p <= n and left > 1:
        while left % p == 0:
            left //= p
        p += 1
    return left > 1


def stand_in(ufunc):
    """Plait's for a generalized ufunc of NumPy's."""
    module = sys.modules.get("numpy.fft._pocketfft_umath")  # imported when it is first asked for
    if module is None or getattr(module, ufunc.__name__, None) is not ufunc:
        return Loop(ufunc)
    made = Transform(ufunc)
    made._long = {"fft": module.fft, "rfft_n_even": module.fft, "ifft": module.ifft}.get(ufunc.__name__)
    return made
