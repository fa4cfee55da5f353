"""plait.nn: convolution and pooling against loops over the places of a window."""
import numpy
import pytest

import plait
from plait import nn

RANDOM = numpy.random.default_rng(7)


def floats(*shape):
    return RANDOM.standard_normal(shape)


def direct(x, w, stride, padding, dilation, groups):
    axes = x.ndim - 2
    stride, padding, dilation = ((v,) * axes if isinstance(v, int) else v for v in (stride, padding, dilation))
    x = numpy.pad(x, ((0, 0), (0, 0), *((p, p) for p in padding)))
    extents = [(n - (k - 1) * d - 1) // s + 1 for n, k, d, s in zip(x.shape[2:], w.shape[2:], dilation, stride)]
    y = numpy.zeros((x.shape[0], w.shape[0], *extents))
    each = w.shape[0] // groups
    for o, at in ((o, at) for o in range(w.shape[0]) for at in numpy.ndindex(*extents)):
        first = o // each * w.shape[1]
        window = tuple(slice(i * s, i * s + (k - 1) * d + 1, d) for i, s, k, d in zip(at, stride, w.shape[2:], dilation))
        y[(slice(None), o, *at)] = (x[(slice(None), slice(first, first + w.shape[1]), *window)] * w[o]).reshape(len(x), -1).sum(1)
    return y


@pytest.mark.parametrize("axes, options", [
    (1, {}), (2, {}), (3, {}), (2, {"stride": 2, "padding": 1}), (2, {"dilation": (2, 1), "padding": (2, 0)}), (3, {"padding": 1, "stride": (1, 2, 3)}), (2, {"groups": 2, "padding": 1}),
    (2, {"groups": 4}), (1, {"groups": 2, "stride": 3}),
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_conv(axes, options, dtype):
    given = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1, **options}
    x, w, bias = floats(2, 4, *(9, 8, 7)[:axes]), floats(8, 4 // given["groups"], *(3, 2, 3)[:axes]), floats(8)
    want = direct(x, w, **given) + bias.reshape(-1, *(1,) * axes)
    got = nn.conv(*(plait.asarray(v.astype(dtype)) for v in (x, w, bias)), **options)
    assert type(got) is plait.ndarray and got.dtype == dtype and got.shape == want.shape and got.flags.c_contiguous
    assert numpy.allclose(got, want, rtol=0, atol=1e-4 if dtype == "f4" else 1e-12)


def test_pool():
    x = floats(2, 3, 8, 6)
    a = plait.asarray(x)
    assert numpy.array_equal(nn.pool(a, 2), x.reshape(2, 3, 4, 2, 3, 2).max(axis=(3, 5)))
    assert numpy.allclose(nn.pool(a, (4, 3), kind="mean"), x.reshape(2, 3, 2, 4, 2, 3).mean(axis=(3, 5)), atol=1e-15)
    padded = numpy.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-numpy.inf)
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    assert numpy.array_equal(nn.pool(a, 3, 2, 1), windows.max(axis=(-2, -1)))
    assert numpy.array_equal(nn.pool(plait.asarray((x * 9).astype("i2")), 2, padding=0), (x * 9).astype("i2").reshape(2, 3, 4, 2, 3, 2).max(axis=(3, 5)))


def test_nothing_is_computed_before_it_is_asked_for():
    x, w = plait.asarray(floats(2, 16, 30, 30).astype("f4")), plait.asarray(floats(16, 16, 3, 3).astype("f4"))
    made = nn.pool(plait.maximum(nn.conv(x, w, padding=1), 0), 2)
    assert "matmul" in plait.explain(made)


@pytest.mark.parametrize("call", [
    lambda x, w: nn.conv(x, w[0]), lambda x, w: nn.conv(x, w, groups=3), lambda x, w: nn.conv(x, w, stride=0), lambda x, w: nn.conv(x, w, padding=(1,)), lambda x, w: nn.conv(x[:, :, :2], w),
    lambda x, w: nn.pool(x, 9), lambda x, w: nn.pool(x, 2, kind="least"), lambda x, w: nn.pool(x[0, 0], 2),
])  # fmt: skip
def test_mistakes(call):
    with pytest.raises(ValueError):
        call(plait.ones((1, 4, 6, 6)), plait.ones((4, 4, 3, 3)))
