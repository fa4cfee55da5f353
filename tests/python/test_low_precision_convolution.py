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


NCHW, NHWC = ((0, 0), (0, 0), (1, 1), (1, 1)), ((0, 0), (1, 1), (1, 1), (0, 0))


def windows(np, x, axes):
    return np.lib.stride_tricks.sliding_window_view(np.pad(x, NCHW if axes == (2, 3) else NHWC), (3, 3), axis=axes)


def by_tensordot(np, x, w):
    return np.tensordot(windows(np, x, (2, 3)), w, axes=((1, 4, 5), (1, 2, 3)))


def by_stride_of_two(np, x, w):
    return np.einsum("nchwij,ocij->nohw", windows(np, x, (2, 3))[:, :, ::2, ::2], w)


def by_matrix_of_patches(np, x, w):
    n, c, h, width = x.shape
    patches = windows(np, x, (2, 3)).transpose(0, 2, 3, 1, 4, 5).reshape(n * h * width, c * 9)
    return patches @ w.reshape(len(w), -1).T


def by_patches_in_columns(np, x, w):
    n, c, h, width = x.shape
    return w.reshape(len(w), -1) @ windows(np, x, (2, 3)).transpose(0, 1, 4, 5, 2, 3).reshape(n, c * 9, h * width)


def by_places_of_the_filter(np, x, w):
    p, (h, width) = np.pad(x, NCHW), x.shape[2:]
    y = 0
    for i in range(3):
        for j in range(3):
            y = y + np.einsum("nchw,oc->nohw", p[:, :, i : i + h, j : j + width], w[:, :, i, j])
    return y


def channels_last(np, x, w):
    return np.einsum("nhwcij,ocij->nhwo", windows(np, x.transpose(0, 2, 3, 1), (1, 2)), w)


def channels_last_by_places(np, x, w):
    p, (h, width) = np.pad(x.transpose(0, 2, 3, 1), NHWC), x.shape[2:]
    y = 0
    for i in range(3):
        for j in range(3):
            y = y + p[:, i : i + h, j : j + width] @ w[:, :, i, j].T
    return y


SPELLINGS = [by_tensordot, by_stride_of_two, by_matrix_of_patches, by_patches_in_columns, by_places_of_the_filter, channels_last, channels_last_by_places]


def stored(np, f):
    text = str(np.explain(f))
    return text[text.index("in memory:") : text.index("considered:" if "considered:" in text else "fused:")], text


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("dtype, to", [("i1", "i4"), ("u1", "i8"), ("i2", "i4"), ("i4", "i4"), ("bfloat16", "f4"), ("float16", "f4")])
def test_spellings(dtype, to, spelling):
    for sizes in [(2, 5, 20, 13, 3), (2, 32, 24, 30, 3), (1, 3, 40, 30, 3)]:
        x, w = drawn(getattr(ml_dtypes, dtype, dtype), *sizes)
        given = [np.asarray(a) for a in (x, w)]
        got = spelling(np, *(a.astype(to) for a in given))
        assert got.dtype == to
        if to != "f4":
            numpy.testing.assert_array_equal(numpy.asarray(got), spelling(numpy, x.astype(to), w.astype(to)))
            continue
        exact = spelling(numpy, x.astype("f8"), w.astype("f8"))
        size = spelling(numpy, abs(x.astype("f8")), abs(w.astype("f8")))
        assert (abs(numpy.asarray(got) - exact) <= 1e-6 * size + 1e-30).all()


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("dtype, to", [("i1", "i4"), ("bfloat16", "f4"), ("float16", "f4")])
def test_no_spelling_stores_a_wider_copy(dtype, to, spelling):
    x, w = (np.asarray(a) for a in drawn(getattr(ml_dtypes, dtype, dtype), 4, 32, 64, 40, 3))
    memory, text = stored(np, lambda: spelling(np, x.astype(to), w.astype(to)))
    wide = numpy.dtype(to).name
    assert not any(f"{kind} {wide}" in memory for kind in ("cast", "update", "view")), text


def test_padding_that_others_read_too():
    x, w = drawn("i1", 2, 16, 24, 30, 3)

    def both(np, x, w):
        p = np.pad(x.astype("i4"), NCHW)
        v = np.lib.stride_tricks.sliding_window_view(p, (3, 3), axis=(2, 3))
        return np.einsum("nchwij,ocij->nohw", v, w.astype("i4")), v.max(axis=(4, 5)), p[:, :, 1:] * 3

    for got, want in zip(both(np, np.asarray(x), np.asarray(w)), both(numpy, x, w)):
        numpy.testing.assert_array_equal(numpy.asarray(got), want)


def test_products_of_other_strides_sum_in_the_order_of_memory():
    rng = numpy.random.default_rng(1)
    a, b = rng.integers(-1000, 1000, (6, 7, 40, 50)).astype("i4"), rng.integers(-1000, 1000, (7, 6, 30)).astype("i4")
    for view in (a, a[::-1, :, :, ::-1], a.transpose(0, 1, 3, 2)):
        want = numpy.einsum("abij,bak->ikj", view, b)
        numpy.testing.assert_array_equal(numpy.asarray(np.einsum("abij,bak->ikj", np.asarray(view), np.asarray(b))), want)
