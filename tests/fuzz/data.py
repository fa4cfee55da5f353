"""Input data of fuzz programs: a program names its arrays as data(dtype, shape, seed), so that its text is all there is to it."""
import numpy

from dtypes import finfo, iinfo, kind_of

def data(dtype, shape, seed, special=False):
    """A NumPy array of small values with many ties; with `special`, infinities, NaN, -0.0 and limits among them."""
    dtype = numpy.dtype(dtype)
    rng = numpy.random.default_rng(seed)
    if kind_of(dtype) == "b":
        return rng.random(shape) < 0.5
    if kind_of(dtype) in "iu":
        low = 0 if kind_of(dtype) == "u" else -9
        out = rng.integers(low, 10, shape).astype(dtype)
        if special:
            limits = numpy.array([iinfo(dtype).min, iinfo(dtype).max, 0, 1], dtype)
            out = numpy.where(rng.random(shape) < 0.2, rng.choice(limits, shape), out).astype(dtype)
        return out
    if kind_of(dtype) == "c":
        part = "f4" if dtype.itemsize == 8 else "f8"
        out = numpy.empty(shape, dtype)
        out.real = data(part, shape, seed * 2 + 1, special)
        out.imag = data(part, shape, seed * 2 + 2, special)
        return out
    coarse = rng.integers(-12, 13, shape) * 0.25
    fine = rng.standard_normal(shape) * 3
    out = numpy.where(rng.random(shape) < 0.5, coarse, fine).astype(dtype)
    if special:
        info = finfo(dtype)
        odd = numpy.array([numpy.inf, -numpy.inf, numpy.nan, -0.0, 0.0, info.max, info.tiny, info.smallest_subnormal], dtype)
        out = numpy.where(rng.random(shape) < 0.2, rng.choice(odd, shape), out).astype(dtype)
    return out
