"""np.stack(), vstack(), hstack(), column_stack(), roll() and unique() of lines in compiled loops."""

import numpy as np
import pytest
from loop_checks import check, check_compiled

X = np.array([3.0, 1.0, np.nan, 1.0, 2.0, np.nan, -1.5])
N = np.array([3, 1, 2, 1, 3, -7, 0])


def side_by_side(x, n):
    s = np.zeros(7)
    for i in range(3):
        m = np.stack((x, x * i))
        v = np.vstack([m[1], x, x])
        c = np.column_stack((x, v[0] + i))
        t = np.stack([x, x], axis=1)
        u = np.stack([x, x], axis=-1)
        h = np.hstack((m[0], c[:, 1], t[1]))
        s += m[0] + v[2] + c[:, 1] + t[:, 0] + u[:, 1] + h[3:10] + m.shape[0] + v.shape[1] + c.shape[0] + len(h)
    return s


def rolled(x, n):
    s = x * 0
    for k in range(-9, 20, 3):
        s += np.roll(x, k) * k + np.roll(x * 2, -k)
    return s


def each_once(x, n):
    s, out = 0, np.zeros((4, len(x)))
    for i in range(4):
        u = np.unique(x[i:])
        s += len(u) + u.size
        out[i, : len(u)] = u
        w = np.unique(n % (i + 1))
        s += w[-1] + len(w)
    return s, out


def life(x, n):
    a = np.zeros(9)
    a[3:6] = 1
    for _ in range(3):
        near = np.roll(a, 1) + np.roll(a, -1)
        a[:] = np.where(near == 1, 1.0, 0.0)
    return a


@pytest.mark.parametrize("f", [side_by_side, rolled, each_once, life])
@pytest.mark.parametrize("x", [X, N, N.astype("f4"), N.astype("i2")])
def test_forms(f, x, at_once, monkeypatch):
    check(f, (x, N))
    check_compiled(f, (x, N), monkeypatch)


def of_none(x, n):
    for i in range(3):
        e = x[i:i]
        y, z, m = np.roll(e, 3), np.unique(e), np.vstack((e, e))
        s = len(y) + len(z) + m.shape[0] + m.shape[1]
    return s


def other_lengths(x, n):
    s = 0
    for i in range(5):
        s += np.vstack((x[1:], x[1:], x[1 + i // 3 :]))[2, 0]
    return s


def other_shapes(x, n):
    s = 0
    for i in range(5):
        s += np.stack((x, x, x[i // 3 :])).sum()
    return s


def matrices(x, n):
    for i in range(3):
        m = np.vstack((x, x))
        s = np.vstack((m, x)).shape[0] + np.roll(m, 1, axis=0)[0, 0] + np.hstack((m, m)).shape[1] + len(np.unique(m))
    return s


def counts(x, n):
    for i in range(3):
        u, c = np.unique(n, return_counts=True)
        s = (u * c).sum()
    return s


@pytest.mark.parametrize("f", [of_none, other_lengths, other_shapes, matrices, counts])
def test_others(f, at_once):
    check(f, (X, N))
