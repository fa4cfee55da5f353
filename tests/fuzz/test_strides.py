"""Strides of results are NumPy's, whatever the layout of the operands: they decide whether a later reshape is a view."""
import random

import numpy
import pytest

plait = pytest.importorskip("plait")

LAYOUTS = 120

# Of arrays a and b of one shape and different layouts, by module.
CALLS = {
    "copy K": lambda np, a, b: a.copy("K"), "copy A": lambda np, a, b: a.copy("A"), "np.copy": lambda np, a, b: np.copy(a), "array F": lambda np, a, b: np.array(a, order="F"),
    "astype": lambda np, a, b: a.astype("f4"), "astype A": lambda np, a, b: a.astype("f4", order="A"), "exp": lambda np, a, b: np.exp(a), "add": lambda np, a, b: a + b,
    "add int": lambda np, a, b: a + b.astype("i4"), "add F": lambda np, a, b: np.add(a, b, order="F"), "add A": lambda np, a, b: np.add(a, b, order="A"), "less": lambda np, a, b: a < b,
    "power": lambda np, a, b: a**2, "divide int": lambda np, a, b: a.astype("i4") / b.astype("i4"), "exp int": lambda np, a, b: np.exp(a.astype("i8")), "logical_and": lambda np, a, b: np.logical_and(a, b.astype(bool)),
    "row": lambda np, a, b: a + b[:1], "column": lambda np, a, b: a + b[..., :1], "iadd": lambda np, a, b: a.__iadd__(b), "where": lambda np, a, b: np.where(a > 0, a, b), "clip": lambda np, a, b: np.clip(a, 0, 1),
    "zeros_like": lambda np, a, b: np.zeros_like(a), "full_like": lambda np, a, b: np.full_like(a, 3), "flatten": lambda np, a, b: a.flatten(), "ravel": lambda np, a, b: a.ravel(), "ravel K": lambda np, a, b: a.ravel("K"),
    "ravel F": lambda np, a, b: a.ravel("F"), "reshape": lambda np, a, b: a.reshape(-1), "reshape F": lambda np, a, b: a.reshape(-1, order="F"), "reversed shape": lambda np, a, b: a.reshape(a.shape[::-1]),
    "sum": lambda np, a, b: a.sum(0), "sum keepdims": lambda np, a, b: a.sum(-1, keepdims=True), "sum where": lambda np, a, b: a.sum(0, where=b >= 0), "sum axes": lambda np, a, b: np.add.reduce(a, axis=tuple(range(0, a.ndim, 2))),
    "prod": lambda np, a, b: a.prod(0, dtype="f4"), "max": lambda np, a, b: np.max(a, axis=0, initial=3), "argmin": lambda np, a, b: a.argmin(0), "any": lambda np, a, b: a.any(0), "count_nonzero": lambda np, a, b: np.count_nonzero(a, axis=0),
    "mean": lambda np, a, b: a.mean(-1), "mean where": lambda np, a, b: np.mean(a, axis=0, keepdims=True, where=b[..., :1] >= 0), "var": lambda np, a, b: a.var(0, keepdims=True), "std": lambda np, a, b: np.std(a, axis=-1, keepdims=True),
    "norm": lambda np, a, b: np.linalg.norm(a, axis=0), "concatenate": lambda np, a, b: np.concatenate([a, b], -1), "stack": lambda np, a, b: np.stack([a, b]), "roll": lambda np, a, b: np.roll(a, 1, 0), "repeat": lambda np, a, b: np.repeat(a, 2, 0),
    "tile": lambda np, a, b: np.tile(a, 2), "diff": lambda np, a, b: np.diff(a, axis=0), "tril": lambda np, a, b: np.tril(a), "diagonal": lambda np, a, b: np.diagonal(a), "matmul": lambda np, a, b: a @ np.swapaxes(b, -1, -2),
    "outer": lambda np, a, b: np.multiply.outer(a, b[:1]), "take": lambda np, a, b: np.take(a, [0], 0), "rows": lambda np, a, b: a[[0]], "columns": lambda np, a, b: a[:, [0, 0]], "cumsum": lambda np, a, b: np.cumsum(a, -1), "sort": lambda np, a, b: np.sort(a, 0),
    "conj": lambda np, a, b: a.astype("D").conj(), "real": lambda np, a, b: np.exp(a.astype("D")).real.copy("K"), "imag": lambda np, a, b: a.imag, "round": lambda np, a, b: np.round(a, 1),
    "cross": lambda np, a, b: np.cross(np.stack([a, a, b], -1), np.stack([b, a, a], -1)), "cross of rows": lambda np, a, b: np.cross(np.stack([a, a, b]), np.stack([b, a, a]), axis=0),
}  # fmt: skip


def layout(r):
    """A function that makes an array of one random shape in one random layout with the module it is given, and one that makes another."""
    shape = tuple(r.choice([0, 1, 1, 2, 2, 3, 4]) for _ in range(r.choice([0, 1, 2, 2, 3, 3, 4])))
    steps = []
    for _ in range(r.randint(0, 3)):
        kind, order = r.random(), list(range(len(shape)))
        r.shuffle(order)
        if kind < 0.4:
            steps.append(lambda np, a, order=tuple(order): np.transpose(a, order))
        elif kind < 0.9 and shape:
            key = tuple(slice(None, r.choice([None, None, 1, 2]), r.choice([1, 1, -1, 2, -2])) for _ in shape)
            steps.append(lambda np, a, key=key: a[key])
        else:
            steps.append(lambda np, a: np.array(a, order="F"))
    order = list(range(len(shape)))
    r.shuffle(order)

    def first(np):
        a = np.ones(shape)
        for step in steps:
            a = step(np, a)
        return a

    def second(np, like):
        return np.transpose(np.ones(tuple(like[i] for i in order)), tuple(order.index(i) for i in range(len(order))))

    return first, second


def strides(f, np, first, second):
    """(shape, dtype, strides of the axes that have more than one element), or the error."""
    a = first(np)
    b = second(np, a.shape)
    try:
        x = f(np, a, b)
    except Exception as e:
        return type(e).__name__
    return x.shape, str(x.dtype), tuple(s for s, n in zip(x.strides, x.shape) if n > 1) if 0 not in x.shape else ()


@pytest.mark.parametrize("name", CALLS)
def test_strides(name):
    r = random.Random(name)
    with numpy.errstate(all="ignore"), plait.errstate(all="ignore"):
        for _ in range(LAYOUTS):
            first, second = layout(r)
            want, got = (strides(CALLS[name], np, first, second) for np in (numpy, plait))
            assert got == want, (first(numpy).shape, first(numpy).strides, second(numpy, first(numpy).shape).strides)
