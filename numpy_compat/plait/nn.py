"""Conveniences for networks: a few lines of NumPy each, recorded as if the caller had written them."""

import plait as np
from plait._plait import index_of
from plait.lib.stride_tricks import sliding_window_view

__all__ = ["attention", "conv", "pool"]


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
