"""Random numbers into Plait's memory: NumPy's streams, bit for bit. What is not here, or small, is NumPy's call."""

import concurrent.futures
import math
import operator
import os

import numpy

from . import _plait
from ._plait import ndarray

FEW = 1 << 14  # numbers
_MANY = 1 << 18  # that two threads draw
_PART = 1 << 20  # that are drawn between two looks at signals
_pool = None


def _count(size):
    """How many numbers a size asks for; 0 where NumPy has to say so."""
    try:
        shape = (operator.index(size),) if not isinstance(size, (tuple, list)) else tuple(map(operator.index, size))
    except TypeError:
        return 0
    return math.prod(shape) if min(shape, default=0) > 0 else 0


def may_be_many(args, kwargs):
    """False where numbers among the arguments say that few are drawn."""
    return any(type(x) is not float and (type(x) is not int or x >= FEW) for x in (*args, *kwargs.values()))


def _filled(draw, size, dtype):
    """A new array that draw(out) fills, part by part: one number is drawn after the other."""
    made = _plait.empty(size, dtype, "C")
    line = _plait.export(made).reshape(-1)
    for at in range(0, line.size, _PART):
        draw(line[at : at + _PART])
    return made


def _forget_thread():
    global _pool
    _pool = None


os.register_at_fork(after_in_child=_forget_thread)  # a child has no threads


def _halves(bits, line):
    """_half_by_another() for parts of a line."""
    for at in range(0, line.size, 2 * _PART):
        _half_by_another(bits, line[at : at + 2 * _PART])


def _half_by_another(bits, line):
    """Fills a line of doubles with this thread and another, which starts where this one will end: PCG64 can jump there."""
    global _pool
    if _pool is None:
        _pool = concurrent.futures.ThreadPoolExecutor(1, "plait-random")
    half = line.size // 2
    here, ahead = numpy.random.PCG64(0), numpy.random.PCG64(0)
    with bits.lock:  # who else draws from them waits, as in NumPy
        here.state = ahead.state = state = bits.state
        ahead.advance(half)
        second = _pool.submit(numpy.random.Generator(ahead).random, out=line[half:])
        numpy.random.Generator(here).random(out=line[:half])
        second.result()
        # A half that 32-bit numbers left over stays.
        bits.state = {**ahead.state, "has_uint32": state["has_uint32"], "uinteger": state["uinteger"]}


def _uniform(generator, size):
    bits = generator.bit_generator
    if isinstance(bits, numpy.random.PCG64) and _count(size) >= _MANY and _plait.num_threads() > 1:
        made = _plait.empty(size, numpy.float64, "C")
        _halves(bits, _plait.export(made).reshape(-1))
        return made
    return _filled(lambda out: generator.random(out=out), size, numpy.float64)


def _number(x):
    return type(x) in (int, float) and math.isfinite(x)


def random(generator, size=None, dtype=numpy.float64, out=None):
    if out is not None or _count(size) < FEW or dtype not in (numpy.float64, numpy.float32, float, "d", "f"):
        return NotImplemented
    if numpy.dtype(dtype) == numpy.float64:
        return _uniform(generator, size)
    return _filled(lambda out: generator.random(dtype=numpy.float32, out=out), size, numpy.float32)


def standard_normal(generator, size=None, dtype=numpy.float64, out=None):
    if out is not None or _count(size) < FEW or dtype not in (numpy.float64, numpy.float32, float, "d", "f"):
        return NotImplemented
    dtype = numpy.dtype(dtype)
    return _filled(lambda out: generator.standard_normal(dtype=dtype, out=out), size, dtype)


def standard_exponential(generator, size=None, dtype=numpy.float64, method="zig", out=None):
    if out is not None or _count(size) < FEW or dtype not in (numpy.float64, numpy.float32, float, "d", "f") or method not in ("zig", "inv"):
        return NotImplemented
    dtype = numpy.dtype(dtype)
    return _filled(lambda out: generator.standard_exponential(dtype=dtype, method=method, out=out), size, dtype)


def uniform(generator, low=0.0, high=1.0, size=None):
    if _count(size) < FEW or not (_number(low) and _number(high) and 0 <= high - low < math.inf):
        return NotImplemented
    return _uniform(generator, size) * float(high - low) + float(low)


def normal(generator, loc=0.0, scale=1.0, size=None):
    if _count(size) < FEW or not (_number(loc) and _number(scale) and math.copysign(1, scale) > 0):
        return NotImplemented
    return standard_normal(generator, size) * float(scale) + float(loc)


def exponential(generator, scale=1.0, size=None):
    if _count(size) < FEW or not (_number(scale) and math.copysign(1, scale) > 0):
        return NotImplemented
    return standard_exponential(generator, size) * float(scale)


def rayleigh(generator, scale=1.0, size=None):
    if _count(size) < FEW or not (_number(scale) and math.copysign(1, scale) > 0):
        return NotImplemented
    import plait

    return plait.sqrt(standard_exponential(generator, size) * 2.0) * float(scale)


def _large(x):
    return type(x) is ndarray and x.ndim and x.size >= FEW and _plait.host_of(x) is None and not _plait.on_device(x)


def _is_axis(axis, ndim):
    axis = _plait.index_of(axis)
    return axis is not None and -ndim <= axis < ndim


def choice(generator, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    if not _large(a) or size is None or not _is_axis(axis, a.ndim) or type(p) is ndarray:
        return NotImplemented
    return a.take(_plait.adopt(generator.choice(a.shape[axis], size, replace, p, 0, shuffle)), axis)


def shuffle(generator, x, axis=0):
    if not _large(x) or x.ndim != 1 or axis not in (0, -1) or not x.flags.writeable:
        return NotImplemented
    return generator.shuffle(_plait.export(x))


def permutation(generator, x, axis=0):
    if not _large(x) or not _is_axis(axis, x.ndim):
        return NotImplemented
    if x.ndim > 1:
        return x[(*(slice(None),) * (axis % x.ndim), _plait.adopt(generator.permutation(x.shape[axis])))]
    made = x.copy()
    generator.shuffle(_plait.export(made))
    return made


DRAWS = {
    f.__name__: f
    for f in (random, standard_normal, standard_exponential, uniform, normal, exponential, rayleigh, choice, shuffle, permutation)
}
