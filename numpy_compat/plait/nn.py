"""Conveniences for networks: a few lines of NumPy each, recorded as if the caller had written them."""

import operator

from numpy.lib.array_utils import normalize_axis_index

import plait as np
from plait._plait import index_of
from plait.lib.stride_tricks import sliding_window_view

__all__ = ["Quantized", "attention", "conv", "dequantize", "linear", "pool", "quantize"]


def _per_axis(value, count, name, least):
    values = (value,) * count if index_of(value) is not None else tuple(value)
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} entries for {count} axes")
    if any(v < least for v in values):
        raise ValueError(f"{name} has to be at least {least}, but it is {value}")
    return values


def _windows(x, size, stride, dilation):
    """Windows over the axes of `x` from the third on, as its last axes: a view."""
    axes = range(2, x.ndim)
    spans = [(k - 1) * d + 1 for k, d in zip(size, dilation)]
    every = [slice(None), slice(None), *(slice(None, None, s) for s in stride), *(slice(None, None, d) for d in dilation)]
    return sliding_window_view(x, spans, axis=tuple(axes))[tuple(every)]


def conv(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolution, without turning the filters, as networks have it.

    x: (N, C, *extents); w: (O, C / groups, *window), of as many window axes; bias: (O,) or None. stride, padding (zeros on both
    sides) and dilation: one number, or one for each window axis. Returns (N, O, *extents). Raises ValueError for shapes that
    don't meet. Source: einsum of sliding_window_view(x) and w.
    """
    x, w = np.asarray(x), np.asarray(w)
    axes = w.ndim - 2
    if axes < 1 or x.ndim != w.ndim:
        raise ValueError(f"conv: x {x.shape} and w {w.shape} need as many axes, and at least three")
    if groups < 1 or x.shape[1] != w.shape[1] * groups or w.shape[0] % groups:
        raise ValueError(f"conv: x {x.shape} and w {w.shape} don't meet in {groups} groups of channels")
    stride, dilation = _per_axis(stride, axes, "stride", 1), _per_axis(dilation, axes, "dilation", 1)
    padding = _per_axis(padding, axes, "padding", 0)
    if any(padding):
        x = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in padding)))
    v = _windows(x, w.shape[2:], stride, dilation)
    places, window = "hwdefg"[:axes], "ijklmp"[:axes]
    if groups == 1:
        y = np.einsum(f"nc{places}{window},oc{window}->no{places}", v, w)
    else:
        v = v.reshape(v.shape[0], groups, -1, *v.shape[2:])
        w = w.reshape(groups, -1, *w.shape[1:])
        y = np.einsum(f"nbc{places}{window},boc{window}->nbo{places}", v, w)
        y = y.reshape(y.shape[0], -1, *y.shape[3:])
    return y if bias is None else y + np.asarray(bias).reshape(-1, *(1,) * axes)


def pool(x, size, stride=None, padding=0, kind="max"):
    """The maximum or the mean of windows of `x` (N, C, *extents).

    size, stride (by default the size) and padding: one number, or one for each axis from the third on. Padding is below every
    number for "max", and zeros, which count, for "mean". Returns (N, C, *extents). Raises ValueError. Source: numpy.max or
    numpy.mean of sliding_window_view(x).
    """
    x = np.asarray(x)
    axes = x.ndim - 2
    if axes < 1 or kind not in ("max", "mean"):
        raise ValueError(f"pool: x {x.shape} needs at least three axes, and kind is 'max' or 'mean', not {kind!r}")
    size, padding = _per_axis(size, axes, "size", 1), _per_axis(padding, axes, "padding", 0)
    stride = size if stride is None else _per_axis(stride, axes, "stride", 1)
    if any(padding):
        least = 0 if kind == "mean" else -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        x = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in padding)), constant_values=least)
    v = _windows(x, size, stride, (1,) * axes)
    return (np.max if kind == "max" else np.mean)(v, axis=tuple(range(-axes, 0)))


def attention(q, k, v, mask=None, is_causal=False, scale=None):
    """Scaled dot-product attention: softmax(q @ k.T * scale) @ v, over the last two axes.

    q: (..., queries, d), k: (..., keys, d), v: (..., keys, e), floats; leading axes broadcast.
    mask: bool, broadcast to (..., queries, keys), True where a key counts; or floats that are added to the scores.
    is_causal: query i counts keys 0 to i + keys - queries.
    scale: float, 1 / sqrt(d) when None.
    Returns (..., queries, e). A query that counts no key is NaN, as in NumPy.
    Source: Vaswani et al., "Attention is all you need" (2017); torch.nn.functional.scaled_dot_product_attention.
    """
    q, k, v = np.asarray(q), np.asarray(k), np.asarray(v)
    s = np.matmul(q, np.swapaxes(k, -1, -2)) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        mask = np.asarray(mask)
        s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask
    if is_causal:
        queries, keys = s.shape[-2:]
        s = np.where(np.arange(keys - queries, keys)[:, None] >= np.arange(keys), s, -np.inf)
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return np.matmul(e / np.sum(e, axis=-1, keepdims=True), v)


class Quantized(tuple):
    """What `quantize` gives: the tuple (q, scale) or (q, scale, zero), with the `axis` and the `group` that it was asked for."""

    def __new__(cls, arrays, axis=-1, group=None):
        made = super().__new__(cls, arrays)
        made.axis, made.group = axis, group
        return made

    def dequantize(self, dtype="float32"):
        """The numbers, as `plait.nn.dequantize` gives them."""
        q, scale, *zero = self
        return dequantize(q, scale, *zero, axis=self.axis, group=self.group, dtype=dtype)


def _grouped(x, axis, group):
    """`x` with its axis as groups, and the axis inside of them; without a group it stays as it is."""
    if group is None:
        return x, axis
    group, extent = operator.index(group), x.shape[axis]
    if group < 1 or extent % group:
        raise ValueError(f"groups of {group} do not divide axis {axis} of {extent}")
    return x.reshape(*x.shape[:axis], extent // group, group, *x.shape[axis + 1 :]), axis + 1


def quantize(x, dtype, axis=-1, group=None):
    """Numbers of low precision, q, and the factors by which they stand for `x`.

    x: floats, finite. dtype: "int8": -127 to 127, times max|x| / 127; "uint8": 0 to 255, between the least and the largest of x and 0,
    with a zero point; "int4": -7 to 7, times max|x| / 7, stored with 8 added, two in a uint8: the element of an even index is in the
    lower four bits, the one after it in the upper four. axis: the one along which numbers share a scale, and int4 are packed; of a
    matrix (in, out) of weights it is 0. group: how many neighbours share it; all of the axis when None.
    Returns the tuple (q, scale), of uint8 (q, scale, zero), with a method dequantize(dtype=float32): q as x, with half of the axis
    where two are in a byte; scale (float32, float64 of float64) and zero (uint8) as x with the number of groups on the axis, 1 when group is None.
    Raises TypeError for an `x` that is not of floats, ValueError for other dtypes, a group that does not divide the axis and an odd
    axis of int4. Source: numpy.rint(x / scale).
    """
    x = np.asarray(x)
    name = dtype if dtype == "int4" else np.dtype(dtype).name
    if name not in ("int8", "uint8", "int4"):
        raise ValueError(f"quantize: dtype is int8, uint8 or int4, not {name}")
    if x.dtype.kind != "f":
        raise TypeError(f"quantize: x is of floats, not {x.dtype}")
    at = normalize_axis_index(axis, x.ndim)
    if name == "int4" and x.shape[at] % 2:
        raise ValueError(f"quantize: two int4 are in a byte, but axis {axis} has {x.shape[at]} elements")
    lines, inner = _grouped(x.astype(np.result_type(x, np.float32)), at, group)
    if name == "uint8":
        low, high = np.min(lines, axis=inner, keepdims=True, initial=0), np.max(lines, axis=inner, keepdims=True, initial=0)
        scale = (high - low) / 255
    else:
        scale = np.max(np.abs(lines), axis=inner, keepdims=True, initial=0) / (127 if name == "int8" else 7)
    divisor = np.where(scale == 0, 1, scale)  # of zeros alone, all of which become zeros
    q, *zero = np.rint(lines / divisor), *([np.rint(-low / divisor)] if name == "uint8" else [])
    if name == "uint8":
        q = np.clip(q + zero[0], 0, 255)
    q = (q + 8 if name == "int4" else q).astype("int8" if name == "int8" else "uint8").reshape(x.shape)
    if name == "int4":
        every = (slice(None),) * at
        q = q[(*every, slice(None, None, 2))] | q[(*every, slice(1, None, 2))] << 4
    factors = [scale, *(z.astype("uint8") for z in zero)]
    return Quantized([q, *(f if group is None else np.squeeze(f, inner) for f in factors)], axis, group)


def dequantize(q, scale, zero=None, axis=-1, group=None, dtype="float32"):
    """The numbers that `quantize` made `q` of, but for their rounding: (q - zero) * scale.

    q: int8; uint8 with a zero point; or uint8 without one, which are two int4 each. scale, zero: as q, with the number of groups on
    the axis, 1 when group is None. axis, group: what quantize had. dtype: of floats.
    Returns an array as q, with twice the axis where two numbers are in a byte. It takes no memory where a matrix product reads it:
    `x @ dequantize(q, scale, axis=0)` reads the bytes of q. Raises TypeError for other dtypes, ValueError for other shapes.
    Source: q.astype(dtype) * scale.
    """
    q, scale, dtype = np.asarray(q), np.asarray(scale), np.dtype(dtype)
    if q.dtype not in (np.int8, np.uint8) or dtype.kind != "f":
        raise TypeError(f"dequantize: q is int8 or uint8, and dtype of floats, not {q.dtype} and {dtype}")
    axis = normalize_axis_index(axis, q.ndim)
    packed = q.dtype == np.uint8 and zero is None
    if packed:
        shape = *q.shape[:axis], 2 * q.shape[axis], *q.shape[axis + 1 :]
        q = np.stack([q & 15, q >> 4], axis + 1).reshape(shape)
    shape = q.shape
    lines, inner = _grouped(q, axis, group)
    one = (slice(None),) * inner
    of = lines.shape[:inner] + (() if group is not None else (1,)) + lines.shape[inner + 1 :]

    def factor(f):
        if f.shape != of:
            raise ValueError(f"dequantize: scale and zero are of shape {of}, not {f.shape}")
        return f.astype(dtype, copy=False)[(*one, None)] if group is not None else f.astype(dtype, copy=False)

    scale, x = factor(scale), lines.astype(dtype)
    if packed:
        x = x - dtype.type(8)
    elif zero is not None:
        x = x - factor(np.asarray(zero))
    return (x * scale).reshape(shape)


def linear(x, w, bias=None):
    """A dense layer: x @ w + bias.

    x: (..., in), floats. w: (in, out), an array or what `quantize` gave of one, best along axis 0: the product reads its bytes, and
    no matrix of floats takes memory. bias: (out,) or None. Returns (..., out). Raises ValueError for shapes that don't meet.
    """
    x = np.asarray(x)
    w = w.dequantize(np.result_type(x, np.float32)) if isinstance(w, Quantized) else np.asarray(w)
    if x.ndim < 1 or w.ndim != 2 or x.shape[-1] != w.shape[0]:
        raise ValueError(f"linear: x {x.shape} and w {w.shape} don't meet: (..., in) and (in, out)")
    y = np.matmul(x, w)
    if bias is None:
        return y
    bias = np.asarray(bias)
    if bias.shape != w.shape[1:]:
        raise ValueError(f"linear: bias is of shape {w.shape[1:]}, not {bias.shape}")
    return y + bias
