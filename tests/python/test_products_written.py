"""Products that are written to parts of arrays: each is one region, which stores where they go."""

import numpy
import pytest
from support import FAKE_DEVICE, FAKE_NVRTC

import plait


def transposed_convolution(np, x, w, step, after=lambda np, y: y):
    n, h, l, _ = x.shape
    k = w.shape[0]
    out = np.zeros((n, (h - 1) * step + k, (l - 1) * step + k, w.shape[3]), x.dtype)
    for i in range(k):
        for j in range(k):
            out[:, i : i + step * h : step, j : j + step * l : step] += x @ w[i, j]
    return after(np, out)


def quarters(np, x, w):
    out = np.empty((2, 48, 52, 32), x.dtype)
    for i in range(2):
        for j in range(2):
            out[:, i::2, j::2] = np.maximum(x @ w[i, j] + x[0, 0, 0, 0], 0)
    return out


def channels(np, x, w):
    out = np.zeros((2, 24, 26, 3 * 32), x.dtype)
    for i in range(3):
        out[..., 32 * i : 32 * i + 32] = x @ w[i, 0]
    return out


def turned(np, x, w):
    out = np.ones((3, 32, 24, 2, 26), x.dtype)
    for i in range(3):
        out[i] *= (x @ w[i, 0]).transpose(3, 1, 0, 2)
    return out


def read_besides(np, x, w):
    out = np.zeros((2, 24, 26, 32), x.dtype)
    p = x @ w[0, 0]
    out[:, 1:] += p[:, 1:]
    q = x @ w[0, 1]
    out[:, ::2] += q[:, ::2]
    r = x @ w[0, 2]
    out += r
    return out, q.sum(-1), r * 2


def written_twice(np, x, w):
    out, other = np.zeros((2, 26, 26, 32), x.dtype), np.zeros((2, 24, 28, 32), x.dtype)
    p = x @ w[0, 0]
    out[:, 1:-1] += p
    other[:, :, 2:] -= p
    return out, other


def recurrence(np, x, w):
    y = x + 0
    for i in range(3):
        y[:, 1:] += y[:, :-1] @ w[i, 0]
    return y


def kept_before(np, x, w):
    out = np.zeros((2, 26, 26, 32), x.dtype)
    before = out[:, 1:5] + 1
    out[:, 1:-1] += x @ w[0, 0]
    then = out + 0
    out[:, 2:] += x @ w[0, 1]
    return before, then, out


def seen_from_outside(np, x, w):
    out = np.zeros((2, 26, 26, 32), x.dtype)
    memory = numpy.asarray(out)
    out[:, 1:-1] += x @ w[0, 0]
    out[:, :24] -= x @ w[0, 1]
    return out, numpy.array(memory)


PROGRAMS = {  # in how many regions: one beside each product's
    "step of 2": (lambda np, x, w: transposed_convolution(np, x, w, 2), 10),
    "step of 1": (lambda np, x, w: transposed_convolution(np, x, w, 1), 10),
    "step of 3": (lambda np, x, w: transposed_convolution(np, x, w, 3), 10),
    "and more": (lambda np, x, w: transposed_convolution(np, x, w, 2, lambda np, y: np.maximum(y + 1, 0)), 11),
    "quarters": (quarters, 5),
    "channels": (channels, 4),
    "turned": (turned, 4),
    "read besides": (read_besides, None),
    "written twice": (written_twice, None),
    "recurrence": (recurrence, None),
    "kept before": (kept_before, None),
    "seen from outside": (seen_from_outside, None),
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_products_are_stored_where_they_go(large, name, dtype):
    f, regions = PROGRAMS[name]
    r = numpy.random.default_rng(9)
    x, w = (r.standard_normal(s).astype(dtype) * 0.2 for s in ((2, 24, 26, 32), (3, 3, 32, 32)))
    x[0, 3, 4, 5] = numpy.inf
    tuples = lambda y: y if isinstance(y, tuple) else (y,)
    plait._plait.set_warnings_caught(False)
    for target in (None, "cuda:sm_90") if regions else ():
        text = str(plait.explain(f(plait, plait.asarray(x), plait.asarray(w)), target=target))
        assert int(text.split()[0]) <= regions, text
    with numpy.errstate(all="ignore"):
        want = tuples(f(numpy, x, w))
    on_device = dtype == "f4" and name in ("step of 2", "quarters", "turned", "written twice", "recurrence", "kept before")
    for device in ("cpu", "cuda") if on_device and FAKE_DEVICE and not FAKE_NVRTC else ("cpu",):
        with plait.device(device):
            got = [numpy.asarray(y) for y in tuples(f(plait, plait.asarray(x), plait.asarray(w)))]
        for g, e in zip(got, want):
            assert g.dtype == e.dtype and g.shape == e.shape
            eps = 1e-4 if dtype == "f4" else 1e-11
            numpy.testing.assert_allclose(g, e, rtol=eps, atol=eps)
