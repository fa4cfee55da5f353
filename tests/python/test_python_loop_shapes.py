"""Arrays in compiled loops in other shapes and dtypes, backwards, joined, folded along an axis, and without NaN."""

import numpy as np
import pytest
from loop_checks import check, check_compiled

X = np.random.default_rng(1).random((3, 4)) * 5
M = np.arange(12).reshape(3, 4)
LINE = np.array([1.0, np.nan, 3.0, 0.5, 7.0])


def shaped(x):
    out = []
    for i in range(3):
        r, q = (x * i).ravel(), x.copy().ravel()
        q[1] += 1
        f = x.flatten()
        f[0] = 7.0
        z = np.arange(12).reshape(3, 4)
        w = np.arange(12).reshape((2, -1))
        line = z.reshape(-1)
        line[2] = 100
        out += [float(r[3] + q[1]), float(f.sum() + f[-1]), int(z[i, 2]), int(w[1, i]), int(z[0, 2])]
    return out, x


def no_such_shape(x):
    for i in range(3):
        z = x.copy().reshape(5, i)
    return z


def backwards(x):
    s = 0.0
    for i in range(3):
        y, z = x[i, ::-1], x[i, 2:0:-1]
        s = s * 2 + x[::-1, i][0] + y[1] + y[0] + z.sum() + len(z)
        s += x[i, ::-2][1] + len(x[i, 5:-9:-1]) + len(x[i, 0:3:-1]) + x[::-2, ::-1][1, 0]
    return s


def onto_itself(x):
    t = 0.0
    for i in range(3):
        y = x[::-1]
        x[:] = y * 0.5 + i
        x[1:] = x[:0:-1]
        t += x[0]
    return x, t


def along_axes(x, m):
    s = 0.0
    for i in range(2):
        a, b, c, d, e = x.max(axis=0), np.min(x, axis=1), x.argmin(axis=1), np.sum(m, axis=0), m.sum(axis=1)
        f, g, h, k = x.sum(axis=1), x.mean(axis=-1), (x > 2).any(axis=0), np.argmax(x, 0)
        s = s * 0.5 + a[1] + b[1] * 3 + c[1] + d[2] * 7 + e[0] + f[1] + g[2] + h[1] + k[i]
    return s


def along_a_long_axis(x):
    s = 0.0
    for _ in range(2):
        for v in x.sum(axis=1):
            s = s * 0.25 + v
    return s


def of_nothing(x):
    for i in range(3):
        m = x[:i].max(axis=0)
    return m


def cast(x):
    out = []
    for i in range(4):
        a, b, c = x.astype(np.int32), x.astype(np.float32), (x * 2).astype(int)
        y = np.zeros(4)
        y.fill(i + 0.5)
        x[1:3].fill(i)
        z, w = np.concatenate((x, y)), np.concatenate([x[:1], x[2:]])
        out += [int(a[i]), float(b[i] * b[1]), int(c[i]), float(y[2]), float(z[-1] + len(z)), float(w.sum())]
    return out, x


def without_nan(x):
    out = []
    for i in range(3):
        part = x[i : i + 3]
        out += [float(np.nanmean(part)), float(np.nansum(x[i:])), float(np.nanmax(x)), float(np.nanmin(x)), float(np.nanvar(part)), float(np.nanstd(x))]
    return out


def by_python(x):
    out = []
    for i in range(3):
        out += [float(sum(x[: i + 1])), float(max(x[1:4])), float(min(x)), any(x > 1), all(x > 1), float(np.abs(x).max())]
    return out


CASES = [
    (shaped, (X,)), (no_such_shape, (X,)), (backwards, (X,)), (onto_itself, (np.arange(7.0),)), (onto_itself, (np.arange(8.0),)), (along_axes, (X, M)),
    (along_a_long_axis, (np.random.default_rng(2).random((3, 1000)),)), (of_nothing, (X,)), (cast, (X[0].copy(),)), (without_nan, (LINE,)),
    (without_nan, (LINE.astype(np.float32),)), (by_python, (LINE[2:],)), (by_python, (LINE,)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_shapes_and_folds(f, args, at_once, monkeypatch):
    check(f, args)
    check_compiled(f, args, monkeypatch)
