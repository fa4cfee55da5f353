"""Comparison with NumPy in dtype, shape, value and kind of object."""

import os

import numpy
import pytest

import plait

# The double of the CUDA driver, whose path the build's tests give in PLAIT_CUDA_LIBRARY. With PLAIT_FAKE_ARCHITECTURE=99 it runs the PTX
# of the real NVRTC; else PLAIT_NVRTC_LIBRARY names NVRTC's double, which takes a second for a kernel.
FAKE_DEVICE = bool(os.environ.get("PLAIT_CUDA_LIBRARY"))
FAKE_NVRTC = FAKE_DEVICE and not os.environ.get("PLAIT_FAKE_ARCHITECTURE")


def _device_is_there():
    if FAKE_DEVICE:
        return True
    try:
        plait.device("cuda")
    except plait.DeviceError:
        return False
    return True


needs_device = pytest.mark.skipif(not _device_is_there(), reason="no CUDA device and no double of one")

NATIVE = ["?", "b", "B", "h", "H", "i", "I", "l", "L", "e", "f", "d", "F", "D"]


def host(x):
    """x with Plait arrays and lazy scalars as NumPy's, at any depth."""
    return plait._fallback.to_numpy(x)


def same(ours, theirs, rtol=0.0):
    """Asserts that a Plait result is what NumPy gave."""
    if isinstance(theirs, (tuple, list)):
        assert type(ours) is type(theirs) and len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            same(a, b, rtol)
        return
    if isinstance(theirs, numpy.ndarray):
        assert type(ours).__module__.startswith("plait"), f"{type(ours)} where NumPy gives an array"
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, (ours.shape, ours.dtype, theirs.shape, theirs.dtype)
    elif isinstance(theirs, numpy.generic):
        assert isinstance(ours, type(theirs)), f"{type(ours)} where NumPy gives {type(theirs)}"
    else:
        assert ours == theirs or (ours != ours and theirs != theirs)
        return
    if numpy.asarray(theirs).dtype.kind in "fc" and rtol:
        numpy.testing.assert_allclose(host(ours), theirs, rtol=rtol, atol=rtol)
    else:
        numpy.testing.assert_array_equal(host(ours), theirs)


def outcome(f):
    """The result of f, or the type and text of what it raised."""
    try:
        return f()
    except Exception as e:
        return type(e).__name__, str(e)


def both(f, *args, rtol=0.0):
    """f(module, *arrays) with NumPy and with Plait: the same result or the same exception."""
    with numpy.errstate(all="ignore"):
        theirs = outcome(lambda: f(numpy, *[numpy.array(a, copy=True) if isinstance(a, numpy.ndarray) else a for a in args]))
    with plait.errstate(all="ignore"):
        ours = outcome(lambda: f(plait, *[plait.array(a) if isinstance(a, numpy.ndarray) else a for a in args]))
        if isinstance(theirs, tuple) and len(theirs) == 2 and isinstance(theirs[1], str):
            assert ours == theirs
        else:
            assert not (isinstance(ours, tuple) and len(ours) == 2 and isinstance(ours[1], str)), ours
            same(ours, theirs, rtol)


def sample(code, shape=(3, 4), seed=0):
    """A NumPy array of any native dtype with small values, zeros and negatives among them."""
    rng = numpy.random.default_rng(seed)
    kind = numpy.dtype(code).kind
    if kind == "b":
        return rng.random(shape) > 0.5
    if kind == "u":
        return rng.integers(0, 9, shape).astype(code)
    if kind == "i":
        return rng.integers(-8, 9, shape).astype(code)
    values = rng.integers(-16, 17, shape) / 4
    return (values + 1j * rng.integers(-4, 5, shape) if kind == "c" else values).astype(code)
