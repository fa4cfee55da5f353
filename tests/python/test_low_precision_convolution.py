"""Convolutions by windows and einsum of narrow dtypes: values, and that no wider copy of what is convolved is stored."""

import numpy
import pytest

import plait as np

ml_dtypes = pytest.importorskip("ml_dtypes")


def convolved(np, x, w, pad):
    if pad:
        x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w)


def drawn(dtype, n, c, o, size, k):
    rng = numpy.random.default_rng(0)
    shapes = (n, c, size, size), (o, c, k, k)
    if numpy.dtype(dtype).kind in "iu":
        low = 0 if numpy.dtype(dtype).kind == "u" else -128
        return [rng.integers(low, low + 256, s).astype(dtype) for s in shapes]
    return [rng.standard_normal(s).astype(dtype) for s in shapes]


SIZES = [(1, 1, 1, 5, 3), (2, 5, 7, 13, 3), (2, 16, 24, 30, 3), (1, 8, 8, 17, 5)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("pad", [0, 1])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "i8"])
def test_integers_are_exact(dtype, pad, sizes):
    x, w = drawn(dtype, *sizes)
    for to in {dtype, "i4", "i8"}:
        if numpy.dtype(to).itemsize < numpy.dtype(dtype).itemsize:
            continue
        want = convolved(numpy, x.astype(to), w.astype(to), pad)
        got = convolved(np, np.asarray(x).astype(to), np.asarray(w).astype(to), pad)
        assert got.dtype == want.dtype
        numpy.testing.assert_array_equal(numpy.asarray(got), want)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("pad", [0, 1])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_floats_are_summed_in_float32(dtype, pad, sizes):
    x, w = drawn(getattr(ml_dtypes, dtype, dtype), *sizes)
    exact = convolved(numpy, x.astype("f8"), w.astype("f8"), pad)
    size = convolved(numpy, abs(x.astype("f8")), abs(w.astype("f8")), pad)
    got = convolved(np, np.asarray(x).astype("f4"), np.asarray(w).astype("f4"), pad)
    assert got.dtype == "f4"
    assert (abs(numpy.asarray(got) - exact) <= 1e-6 * size + 1e-30).all()


@pytest.mark.parametrize("dtype, to", [("i1", "i4"), ("bfloat16", "f4"), ("float16", "f4")])
def test_no_wider_copy_is_stored(dtype, to):
    x, w = (np.asarray(a) for a in drawn(getattr(ml_dtypes, dtype, dtype), 4, 16, 32, 40, 3))
    text = str(np.explain(lambda: convolved(np, x.astype(to), w.astype(to), 1)))
    stored = text[text.index("in memory:") : text.index("fused:")]
    wide = numpy.dtype(to).name
    assert f"cast {wide}" not in stored and f"update {wide}" not in stored and f"view {wide}" not in stored, text


def test_padding_that_a_narrow_dtype_does_not_hold_stays():
    x, w = drawn("i1", 1, 3, 4, 9, 3)

    def padded(np, x):
        return np.einsum("nchwij,ocij->nohw", np.lib.stride_tricks.sliding_window_view(np.pad(x.astype("i4"), ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=1000), (3, 3), axis=(2, 3)), np.asarray(w).astype("i4"))  # fmt: skip

    numpy.testing.assert_array_equal(numpy.asarray(padded(np, np.asarray(x))), padded(numpy, x))
