"""Attention of operands of low precision: one region that reads them as they lie, no worse than NumPy's steps."""

import numpy
import pytest
from support import host

import plait
import plait.nn

ml_dtypes = pytest.importorskip("ml_dtypes")
bf, f2, f4 = ml_dtypes.bfloat16, numpy.float16, numpy.float32


def softmax(np, s):
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def scored(np, q, k, causal):
    s = np.matmul(q, np.swapaxes(k, -1, -2)) * f4(0.125)
    if not causal:
        return s
    rows, keys = s.shape[-2:]
    return np.where(np.arange(keys - rows, keys)[:, None] >= np.arange(keys), s, f4(-numpy.inf))


def simple(np, q, k, v, causal=False):
    return np.matmul(softmax(np, scored(np, q, k, causal)), v)


def widened(np, q, k, v, causal=False):
    return simple(np, q.astype(f4), k.astype(f4), v.astype(f4), causal)


def rounded_weights(np, q, k, v, causal=False):
    return softmax(np, scored(np, q, k, causal).astype(f4)).astype(v.dtype) @ v


def cached(np, q, k, v, k_scale, v_scale):
    k, v = (x.astype(f4) * s[:, None, None] for x, s in ((k, k_scale), (v, v_scale)))
    return simple(np, q, k, v)


def data(rows, keys, depth=64):
    r = numpy.random.default_rng(rows + keys)
    return [r.standard_normal((3, n, depth)).astype(f4) for n in (rows, keys, keys)]


def exact(q, k, v, causal=False):
    q, k, v = (x.astype(numpy.float64) for x in (q, k, v))
    return simple(numpy, q, k, v, causal)


def check(f, args, want, **options):
    """No worse than NumPy, but for the order of float32 sums; one region, and nothing of it in memory."""
    ours = f(plait, *map(plait.asarray, args), **options)
    text = str(plait.explain(ours))
    assert text.startswith("1 region "), text
    assert "columns of a product, which" not in text, text
    theirs = f(numpy, *args, **options)
    assert ours.dtype == theirs.dtype
    got, theirs = (host(x).astype(numpy.float64) for x in (ours, theirs))
    assert numpy.abs(got - want).max() <= 1.05 * numpy.abs(theirs - want).max() + 1e-6


@pytest.fixture(autouse=True)
def recorded():
    plait._plait.set_warnings_caught(False)
    yield
    plait._plait.set_warnings_caught(True)


@pytest.mark.grid(3)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("rows, keys", [(300, 300), (131, 1100), (1100, 1100)])
@pytest.mark.parametrize("t", [bf, f2])
@pytest.mark.parametrize("f", [simple, widened, rounded_weights])
def test_one_region_no_worse_than_numpy(f, t, rows, keys, causal):
    args = [x.astype(t) for x in data(rows, keys)]
    check(f, args, exact(*args, causal=causal), causal=causal)


@pytest.mark.parametrize("rows", [1, 3, 300])
@pytest.mark.parametrize("t", [numpy.int8, ml_dtypes.float8_e4m3fn, bf])
def test_caches_are_dequantised_where_they_are_read(t, rows):
    q, k, v = data(rows, 1100)
    scales = [(numpy.abs(x).max((1, 2)) / 127).astype(f4) for x in (k, v)]
    kq, vq = ((x / s[:, None, None]).astype(t) for x, s in zip((k, v), scales))
    wide = [x.astype(numpy.float64) * s[:, None, None] for x, s in zip((kq, vq), scales)]
    check(cached, (q, kq, vq, *scales), exact(q, *wide))


@pytest.mark.parametrize("value", [numpy.nan, numpy.inf, -numpy.inf])
@pytest.mark.parametrize("operand", range(3))
@pytest.mark.parametrize("f", [simple, rounded_weights])
def test_what_is_not_finite(f, operand, value):
    args = [x.astype(bf) for x in data(131, 300)]
    args[operand][1, 7, 5] = value
    with numpy.errstate(all="ignore"):
        want = f(numpy, *args)
        got = host(f(plait, *map(plait.asarray, args)))
    tolerance = 1e-5 if f is simple else 4e-3
    numpy.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
