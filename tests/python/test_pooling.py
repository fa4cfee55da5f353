"""Pooling by reshapes and by windows, in front of convolutions and behind them: in how many regions."""

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
