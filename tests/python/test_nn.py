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


LEVELS = {"int8": 127, "uint8": 255, "int4": 7}


@pytest.mark.parametrize("dtype", LEVELS)
@pytest.mark.parametrize("shape, axis, group", [((6, 8), 0, None), ((6, 8), -1, None), ((6, 8), 1, 4), ((3, 12, 5), 1, 3), ((16,), 0, 2), ((4, 0), 0, None), ((0, 4), 0, None)])
def test_quantize(dtype, shape, axis, group):
    x = floats(*shape).astype("f4")
    x[..., -1:] = 0
    got = nn.quantize(plait.asarray(x), dtype, axis, group)
    q, scale, *zero = got
    assert all(type(a) is plait.ndarray for a in got) and (got.axis, got.group) == (axis, group)
    assert q.dtype == ("int8" if dtype == "int8" else "uint8") and scale.dtype == "f4" and [z.dtype for z in zero] == ["u1"] * (dtype == "uint8")
    counts, packed = list(shape), list(shape)
    counts[axis] = 1 if group is None else shape[axis] // group
    packed[axis] //= 2 if dtype == "int4" else 1
    assert q.shape == tuple(packed) and all(f.shape == tuple(counts) for f in (scale, *zero))
    back = nn.dequantize(q, scale, *zero, axis=axis, group=group)
    assert back.dtype == "f4" and back.shape == x.shape and numpy.array_equal(back, got.dequantize())
    each = numpy.repeat(scale, shape[axis] if group is None else group, axis)
    assert (numpy.abs(back - x) <= each * 0.501).all() and (numpy.asarray(back)[x == 0] == 0).all()
    if x.size:
        spread = numpy.abs(x).max() if dtype != "uint8" else max(x.max(), 0) - min(x.min(), 0)
        assert float(scale.max()) <= spread / LEVELS[dtype] * 1.0001
    assert got.dequantize("f8").dtype == "f8" and nn.quantize(x.astype("f8"), dtype, axis, group)[1].dtype == "f8"


def test_int4_have_the_even_element_in_the_lower_bits():
    q, scale = nn.quantize(plait.asarray([[-7.0, 1.0, 0.0, 7.0], [14.0, -2.0, 4.0, -14.0]]), "int4")
    assert q.tolist() == [[1 | 9 << 4, 8 | 15 << 4], [15 | 7 << 4, 10 | 1 << 4]] and scale.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize("dtype", LEVELS)
@pytest.mark.parametrize("group", [None, 32])
@pytest.mark.parametrize("rows", [(), (1,), (3, 70)])
def test_linear(dtype, group, rows):
    x, w, bias = (floats(*s).astype("f4") for s in ((*rows, 512), (512, 96), (96,)))
    assert numpy.allclose(nn.linear(x, w, bias), x @ w + bias, atol=1e-4)
    made = nn.quantize(w, dtype, 0, group)
    want = x @ numpy.asarray(made.dequantize()) + bias
    got = nn.linear(plait.asarray(x), made, bias)
    assert type(got) is plait.ndarray and got.dtype == "f4" and got.shape == want.shape and numpy.allclose(got, want, atol=1e-3)
    assert numpy.allclose(nn.linear(x, made), want - bias, atol=1e-3)


@pytest.mark.parametrize("dtype", LEVELS)
@pytest.mark.parametrize("group", [None, 64])
@pytest.mark.parametrize("axis", [0, 1])
def test_linear_has_no_floats_of_the_weights_in_memory(dtype, group, axis):
    x, bias = plait.asarray(floats(1, 2048).astype("f4")), plait.asarray(floats(2048).astype("f4"))
    w = nn.quantize(floats(2048, 2048).astype("f4"), dtype, axis, group)
    plait.evaluate(x, bias, *w)
    text = str(plait.explain(nn.linear(x, w, bias)))
    assert text.startswith("1 region"), text


@pytest.mark.parametrize("kind, call", [
    (ValueError, lambda w, q, s, z: nn.quantize(w, "int16")), (TypeError, lambda w, q, s, z: nn.quantize(w, "int5")), (TypeError, lambda w, q, s, z: nn.quantize(q, "int8")),
    (ValueError, lambda w, q, s, z: nn.quantize(w[:5], "int4", 0)), (ValueError, lambda w, q, s, z: nn.quantize(w, "int8", 0, 4)), (ValueError, lambda w, q, s, z: nn.quantize(w, "int8", 0, 0)),
    (TypeError, lambda w, q, s, z: nn.quantize(w, "int8", 0, 2.0)), (numpy.exceptions.AxisError, lambda w, q, s, z: nn.quantize(w, "int8", 2)),
    (ValueError, lambda w, q, s, z: nn.dequantize(q, s[:, :4], z, 0)), (ValueError, lambda w, q, s, z: nn.dequantize(q, s, z, 0, 3)), (TypeError, lambda w, q, s, z: nn.dequantize(w, s, z, 0)),
    (TypeError, lambda w, q, s, z: nn.dequantize(q, s, z, 0, dtype="i4")), (numpy.exceptions.AxisError, lambda w, q, s, z: nn.dequantize(q, s, z, 3)),
    (ValueError, lambda w, q, s, z: nn.linear(w, w)), (ValueError, lambda w, q, s, z: nn.linear(w.T, w, w)), (ValueError, lambda w, q, s, z: nn.linear(w[0], w)),
    (ValueError, lambda w, q, s, z: nn.linear(w[0, 0], w)), (ValueError, lambda w, q, s, z: nn.linear(w, nn.quantize(w, "int8", 0))),
])  # fmt: skip
def test_mistakes_of_quantized_layers(kind, call):
    w = plait.asarray(floats(6, 8))
    with pytest.raises(kind):
        call(w, *nn.quantize(w, "uint8", 0))
