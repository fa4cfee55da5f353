"""Pooling by reshapes and by windows, in front of convolutions and behind them: in how many regions."""

import itertools

import numpy
import plait
import pytest


def windows(np, x, size):
    return np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))


def convolved(np, x, w, b):
    p = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return np.maximum(np.einsum("nchwij,ocij->nohw", windows(np, p, 3), w, optimize=True) + b[:, None, None], 0)


def by_reshape(np, x, kind):
    n, c, h, w = x.shape
    return getattr(x.reshape(n, c, h // 2, 2, w // 2, 2), kind)((3, 5))


def by_windows(np, x, kind):
    return getattr(windows(np, x, 2)[..., ::2, ::2, :, :], kind)((-1, -2))


# What is pooled is in memory between a convolution and its pooling, and between pooling and a convolution.
PLACES = {
    "alone": (lambda np, pool, x, w, b: pool(np, np.maximum(x * 2 - 1, 0)), 1),
    "chain": (lambda np, pool, x, w, b: np.sqrt(pool(np, abs(x + b[:, None, None])) * 3), 1),
    "in front": (lambda np, pool, x, w, b: convolved(np, pool(np, x), w, b), 2),
    "in front, of a chain": (lambda np, pool, x, w, b: convolved(np, pool(np, np.maximum(x * 2 + 1, 0)), w, b), 2),
    "behind": (lambda np, pool, x, w, b: pool(np, convolved(np, x, w, b)), 2),
}


@pytest.mark.parametrize("pool", [by_reshape, by_windows])
@pytest.mark.parametrize("kind", ["max", "mean"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_pooling_reads_what_is_computed(pool, kind, place, dtype):
    r = numpy.random.default_rng(3)
    x, w, b = (r.standard_normal(s).astype(dtype) * 0.5 for s in ((2, 16, 40, 44), (160, 16, 3, 3), 160))
    if place == "chain":
        b = b[:16]
    f, regions = PLACES[place]
    given = [plait.asarray(a) for a in (x, w, b)]
    call = lambda np, *a: f(np, lambda np, y: pool(np, y, kind), *a)
    want, got = call(numpy, x, w, b), call(plait, *given)
    text = str(plait.explain(lambda: call(plait, *given)))
    assert got.dtype == want.dtype
    numpy.testing.assert_allclose(numpy.asarray(got), want, rtol=1e-4 if dtype == "f4" else 1e-11, atol=1e-4 if dtype == "f4" else 1e-11)
    assert int(text.split()[0]) == regions, text
    if place in ("alone", "chain"):
        text = str(plait.explain(lambda: call(plait, *given), target="cuda:sm_90"))
        assert text.startswith("1 region "), text


SHAPES = [(-1,), (6, -1), (2, 3, -1, 5), (20, 3, 2, 7), (42, 20), (7, 5, 24)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_any_reshape_of_a_value_shows_its_elements(shape, dtype, large):
    """Merged, split and both; of what lies in one piece, of what is broadcast, transposed or sliced."""
    x = (numpy.arange(6 * 4 * 35) % 97).reshape(6, 4, 35).astype(dtype)
    values = {
        "one piece": lambda np, x: x * 2,
        "broadcast": lambda np, x: x + x[0, :, :1] * x[:, :1, :1],
        "transposed": lambda np, x: x + np.ascontiguousarray(x.T).T,
        "sliced": lambda np, x: np.concatenate([x, x], 2)[:, :, 1:36] - 3,
        "twice": lambda np, x: (x * 2).reshape(24, 35)[::-1].reshape(12, 70) + 1,
    }
    for name, f in values.items():
        for read in (lambda np, v: v.reshape(shape) + 1, lambda np, v: (v.reshape(shape) * 3).sum(-1), lambda np, v: v.reshape(shape)[..., ::-1] - 2):
            got, want = read(plait, f(plait, plait.asarray(x))), read(numpy, f(numpy, x))
            assert (numpy.asarray(got) == want).all(), name


def taps(np, x, w):
    h, l = x.shape[2] - 2, x.shape[3] - 2
    return [x[:, :, i : i + h, j : j + l] * w[i, j] for i, j in itertools.product(range(3), range(3))]


def written_by_index(np, x, w):
    parts = taps(np, x, w)
    y = np.zeros((9, *parts[0].shape), x.dtype)
    for i in reversed(range(9)):
        y[i] = parts[i]
    return y.sum(0)


def written_twice(np, x, w):
    parts = taps(np, x, w)
    y = np.empty((9, *parts[0].shape), x.dtype)
    for i in (*range(9), 4):
        y[i] = parts[i] if i != 4 else parts[i] * -2
    return y.sum(0)


def written_in_part(np, x, w):
    parts = taps(np, x, w)
    y = np.ones((9, *parts[0].shape), x.dtype)
    for i in range(8):
        y[i, :, :, 1:] = parts[i][:, :, 1:]
    return y.sum(0)


def stacked_twice(np, x, w):
    parts = taps(np, x, w)
    rows = [np.stack(parts[i : i + 3]).sum(0) for i in (0, 3, 6)]
    return np.stack(rows, 1).sum(1) - np.stack(rows[:2]).mean(0)


def stacked_for_others(np, x, w):
    y = np.stack(taps(np, x, w))
    return y.sum(0) * y[3] + y[5]


# In how many regions; None where the array is needed.
STACKED = {
    "first axis": (lambda np, x, w: np.stack(taps(np, x, w)).sum(0), 1),
    "an axis between": (lambda np, x, w: np.stack(taps(np, x, w), 2).sum(2), 1),
    "kept": (lambda np, x, w: np.stack(taps(np, x, w), 1).sum(1, keepdims=True) + x[:, None, :, 1:-1, 1:-1], 1),
    "backwards": (lambda np, x, w: np.stack([p[..., ::-1] for p in taps(np, x, w)]).sum(0), 1),
    "transposed": (lambda np, x, w: np.stack([p.transpose(0, 1, 3, 2) for p in taps(np, x, w)], 1).sum(1), 1),
    "broadcast": (lambda np, x, w: np.stack([np.broadcast_to(w[0], x.shape[:3] + (3,)), x[..., :3], x[..., 3:6] * 3]).sum(0), 1),
    "by index": (written_by_index, 1),
    "twice": (stacked_twice, 1),
    "innermost axis": (lambda np, x, w: np.stack(taps(np, x, w), -1).sum(-1), None),
    "written twice": (written_twice, None),
    "written in part": (written_in_part, None),
    "needed": (stacked_for_others, None),
}


@pytest.mark.parametrize("name", STACKED)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sums_over_a_stacked_axis_are_additions(name, dtype, large):
    """The very bits of NumPy, and where each index was written once, no stacked array."""
    f, regions = STACKED[name]
    r = numpy.random.default_rng(4)
    x, w = r.standard_normal((2, 5, 20, 22)).astype(dtype), r.standard_normal((3, 3)).astype(dtype)
    x[0, 0, 3:9] = -0.0
    x[0, 1, 3:9, 4] = numpy.nan
    given = [plait.asarray(a) for a in (x, w)]
    want, got = f(numpy, x, w), f(plait, *given)
    text = str(plait.explain(f, plait, *given))
    assert got.dtype == want.dtype and got.strides == want.strides
    got = numpy.asarray(got)
    numpy.testing.assert_array_equal(got, want)
    assert (numpy.signbit(got) == numpy.signbit(want))[want == 0].all()
    if regions:
        assert int(text.split()[0]) == regions, text


def test_additions_of_stacked_values_warn_as_the_sum(large):
    for np in (numpy, plait):
        x = np.asarray(numpy.full((20, 30), 3e38, "f4"))
        with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
            numpy.asarray(np.stack([x * 1, x * 1]).sum(0))


def in_loop(np, x, order, changed=None):
    y = np.empty((*x.shape[:2], 3, 3, x.shape[2] - 2, x.shape[3] - 2), x.dtype)
    for i, j in order:
        part = x[:, :, i : i + y.shape[4], j : j + y.shape[5]]
        y[:, :, i, j] = part * 2 if (i, j) == changed else part
    return y


PLACES_OF_3 = list(itertools.product(range(3), range(3)))
COPIES = {
    "in order": lambda np, x: in_loop(np, x, PLACES_OF_3) + 1,
    "backwards": lambda np, x: in_loop(np, x * 2, PLACES_OF_3[::-1]).max((2, 3)),
    "others read it": lambda np, x: (lambda y: y.sum((2, 3)) * y[:, :, 1, 1] + y[:, :, 0, 2])(in_loop(np, x + 1, PLACES_OF_3)),
    "one is missing": lambda np, x: in_loop(np, x, PLACES_OF_3[:-1])[:, :, :2] * 3,
    "one is another": lambda np, x: in_loop(np, x, PLACES_OF_3, changed=(1, 2)) - 1,
    "steps backwards": lambda np, x: np.stack([(x * 2)[:, :, i : i + 9] for i in (4, 2, 0)], 1) + 1,
    "uneven steps": lambda np, x: np.stack([x[:, :, i : i + 9] for i in (0, 1, 3)], 1) + 1,
    "the same": lambda np, x: np.stack([x * 2 + 1] * 4).max(0),
    "another order": lambda np, x: np.stack([(x - 1)[:, :, i : i + 9].transpose(0, 1, 3, 2) for i in range(4)], 2) * 2,
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_windows_that_were_copied_one_by_one(name, dtype, large):
    x = (numpy.arange(2 * 5 * 20 * 22) % 89).reshape(2, 5, 20, 22).astype(dtype)
    want, got = COPIES[name](numpy, x), COPIES[name](plait, plait.asarray(x))
    assert got.dtype == want.dtype and got.strides == want.strides
    numpy.testing.assert_array_equal(numpy.asarray(got), want)


def rows_and_columns(np, x, k):
    """What each element of a matrix of patches is, as textbooks make the indices."""
    c, h, l = x.shape[1], x.shape[2] - k + 1, x.shape[3] - k + 1
    i = np.tile(np.repeat(np.arange(k), k), c)[:, None] + np.repeat(np.arange(h), l)
    j = np.tile(np.arange(k), k * c)[:, None] + np.tile(np.arange(l), h)
    return np.repeat(np.arange(c), k * k)[:, None], i, j


def by_index_arrays(np, x, w):
    channel, i, j = rows_and_columns(np, x, 3)
    return np.maximum(w.reshape(len(w), -1) @ x[:, channel, i, j], 0)


def indices_of_windows(np, x):
    i = np.arange(3)[:, None, None, None] + np.arange(x.shape[2] - 2)[:, None]
    return i, np.arange(3)[:, None, None] + np.arange(x.shape[3] - 2)


def by_index_arrays_reshaped(np, x, w):
    i, j = indices_of_windows(np, x)
    return np.maximum(w.reshape(len(w), -1) @ x[:, :, i, j].reshape(len(x), w[0].size, -1), 0)


def by_index_arrays_and_einsum(np, x, w):
    i, j = indices_of_windows(np, x)
    return np.einsum("ncijhw,ocij->nohw", x[:, :, i, j], w, optimize=True)


def by_taps(np, x, w, product):
    p, y = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), 0
    for i, j in PLACES_OF_3:
        y = y + product(p[:, :, i : i + x.shape[2], j : j + x.shape[3]], w[..., i, j])
    return y


def outputs_by_taps(np, x, w):
    return by_taps(np, x, w, lambda t, k: (t[:, None] * k[..., None, None]).sum(2))


SPELLINGS = {
    "index arrays": by_index_arrays,
    "index arrays, reshaped": by_index_arrays_reshaped,
    "index arrays, einsum": by_index_arrays_and_einsum,
    "sums over channels": lambda np, x, w: by_taps(np, x, w, lambda t, k: (t * k[0, :, None, None]).sum(1)),
    "sums over channels, of each output": lambda np, x, w: outputs_by_taps(np, x, w[:12]),
}


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_convolutions_are_one_region(name, dtype):
    r = numpy.random.default_rng(5)
    x, w = (r.standard_normal(s).astype(dtype) for s in ((2, 16, 42, 44), (160, 16, 3, 3)))
    f = SPELLINGS[name]
    got, want = f(plait, plait.asarray(x), plait.asarray(w)), f(numpy, x, w)
    assert got.dtype == want.dtype
    tolerance = 1e-4 if dtype == "f4" else 1e-11
    numpy.testing.assert_allclose(numpy.asarray(got), want, rtol=tolerance, atol=tolerance)
    # Indices are looked at where they are used.
    text = str(plait.explain(f, plait, plait.asarray(x), plait.asarray(w)))
    assert "returned: 1 region " in text or text.startswith("1 region "), text


def test_padding_is_stored_where_loops_beside_it_would_be_too_much_code():
    """Few outputs are unrolled."""
    r = numpy.random.default_rng(5)
    x, w = r.standard_normal((2, 16, 42, 44)), r.standard_normal((4, 16, 3, 3))
    text = str(plait.explain(outputs_by_taps, plait, plait.asarray(x), plait.asarray(w)))
    assert text.startswith("3 regions "), text
    numpy.testing.assert_array_equal(numpy.asarray(outputs_by_taps(plait, plait.asarray(x), plait.asarray(w))), outputs_by_taps(numpy, x, w))


I, J = numpy.arange(4)[:, None] + numpy.arange(6), numpy.arange(5, 29, 4)
EVEN = {
    "ranges": lambda np, x: x[:, np.arange(2, 20, 1)],
    "steps": lambda np, x: x[np.arange(0, 20)[:, None], np.arange(1, 29, 3)],
    "backwards": lambda np, x: x[:, np.arange(28, 3, -1)],
    "from the end": lambda np, x: x[:, np.arange(-20, -2)],
    "around the end": lambda np, x: x[:, np.arange(-10, 10)],
    "the same": lambda np, x: x[np.full(17, 3)],
    "repeated and tiled": lambda np, x: x[np.repeat(np.arange(5), 6), np.tile(np.arange(6), 5)],
    "sums": lambda np, x: x[np.asarray(I), np.asarray(J)],
    "one is another": lambda np, x: x[np.asarray(I + (I == 8)), np.asarray(J)],
    "the last is another": lambda np, x: x[:, np.asarray(numpy.append(numpy.arange(20), 21))],
    "products": lambda np, x: x[np.asarray(numpy.arange(5)[:, None] * numpy.arange(4))],
    "in front": lambda np, x: (x * 2)[:, :, None][np.asarray(I), :, 0],
    "apart": lambda np, x: x.reshape(5, 4, 29)[np.arange(5)[:, None], :, np.arange(4)],
    "of a slice": lambda np, x: x[::-2, 3:][np.asarray(I // 2), 5],
    "in memory as columns": lambda np, x: x.T[np.arange(20)],
    "take": lambda np, x: np.take(x, np.asarray(I), axis=1),
    "take from pending": lambda np, x: np.take(x + 1, np.asarray(I), axis=0) * 2,
    "small integers": lambda np, x: x[:, np.asarray(numpy.arange(20, dtype="i1"))],
}


@pytest.mark.parametrize("name", EVEN)
@pytest.mark.parametrize("dtype", ["f4", "c16", "?"])
def test_indices_that_step_evenly(name, dtype, large):
    x = (numpy.arange(20 * 29) % 97 % 5).reshape(20, 29).astype(dtype)
    ours = plait.asarray(x.copy())
    want, got = EVEN[name](numpy, x), EVEN[name](plait, ours)
    assert (got.dtype, got.shape, got.strides) == (want.dtype, want.shape, want.strides)
    ours[...] = 0
    got[..., :1] = 1
    want[..., :1] = 1
    numpy.testing.assert_array_equal(numpy.asarray(got), want)
    assert not numpy.asarray(ours).any()
