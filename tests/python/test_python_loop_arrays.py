"""Arrays that compiled loops make: np.zeros() and its like, np.array() of numbers, expressions that are kept, changed and handed on. Whatever is left of them, and
of the arrays that they were made of, is NumPy's."""

import math

import numpy as np
import pytest
from loop_checks import check_compiled, outcome

import plait

rng = np.random.default_rng(3)
X = rng.random((20, 4))


def small(x):
    total = 0.0
    for i in range(len(x)):
        v = np.zeros(3)
        v[0] = x[i, 0]
        v[1] += x[i, 1] * 2
        v[-1] = v[0] - v[1]
        total += v.sum() + v[2]
    return total


def filled(x):
    t = 0.0
    for i in range(len(x)):
        a, b, c = np.ones(4), np.full((2, 2), i), np.full(3, 0.5, dtype=np.float32)
        d, e = np.zeros((2, 3), dtype=int), np.empty_like(x[i])
        e[:] = x[i] * b[1, 1]
        d[1, 2] = b[0, 1] + i
        t += a[3] + b.sum() + c[0] + d.sum() + e[2] + len(a) + b.shape[1] + d.size + np.zeros_like(b).sum() + np.ones_like(x[i])[1]
    return t


def of_numbers(x):
    s = 0.0
    for i in range(len(x)):
        v = np.array([x[i, 0], x[i, 1], 2.5])
        m = np.array([[1.0, x[i, 2]], [0.0, -1.0]])
        k = np.array([1, i, 3])
        s += v @ v + m[0, 1] * m[1, 1] + k[1] + k.max()
    return s


def counted(n):
    s = 0
    for i in range(n):
        a, b, c = np.arange(i), np.arange(2, i), np.arange(0, 10, 3, dtype=np.float64)
        s += a.sum() + len(b) + c.sum()
    return s


def eyes(n):
    s = 0.0
    for i in range(n):
        m = np.eye(3)
        m[0, 2] = i
        s += m[0] @ m[2] + np.identity(2)[1, 1]
    return s


def kept(x):
    for i in range(1, len(x)):
        d = x[i] - x[i - 1]
        x[i] = 0.0
        d /= math.sqrt(d @ d) + 1
        d[0] = 7.0
        x[i] += d
    return x


def copied(x):
    for i in range(1, len(x)):
        t = x[i].copy()
        x[i] = x[i - 1]
        x[i - 1] = t
    return x


def by_another(x, n):
    for i in range(n):
        row = x[i % len(x)] * 2
        other = row
        other[1] += 1
        x[i % len(x)] = row / 3
    return x


def turned(v, axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    out = np.empty(3)
    out[0] = c * v[0] - s * v[1]
    out[1] = s * v[0] + c * v[1]
    out[2] = v[2] + axis
    return out


def normal(v):
    return v / np.sqrt(np.sum(v**2))


def first_two(v):
    return v[0], v[1:3]


def of_functions(x):
    s = 0.0
    for i in range(len(x)):
        t = turned(normal(x[i, :3]), i, 0.5)
        a, b = first_two(t)
        b[0] = 2.0
        s += t[0] + 2 * t[1] + 3 * t[2] + a
    return s


def branches(x):
    s = 0.0
    for i in range(len(x)):
        v = x[i] * 1.5
        if v[0] > 0.5:
            v[0] = 0.0
            w = v + 1
            s += w[0]
        for j in range(3):
            u = v * j
            s += u[j]
            u += 1
            s += u.sum()
        s -= v[0]
    return s


def widths(n):
    s = 0
    for i in range(n):
        a = np.zeros(i * 7 % 13)
        for j in range(len(a)):
            a[j] = j + i
        s += a.sum()
    return s


def beyond(n):
    a = 0
    for i in range(n):
        v = np.zeros(3)
        a = v[i]
    return a


def less_than_nothing(n):
    s = 0.0
    for i in range(n):
        s += np.zeros(5 - i).sum()
    return s


def whole(x, k):
    for i in range(k):
        x -= x.mean() if x.ndim == 1 else 0.5
        x *= 1.25
    return x


def complexes(z):
    for i in range(1, len(z)):
        w = z[i] + np.conj(z[i - 1])
        w[0] = 1j
        z[i] = w - 1
    return z


def last_row(x):
    for i in range(len(x)):
        row = x[i] + 1
    return row


def rows_of_made(n):
    t = 0.0
    for i in range(n):
        m = np.zeros((4, 3))
        for k, row in enumerate(m):
            row[:] = k + i
            row[1] *= 2
        for row in m:
            a, b, c = row
            t += a - b + c
        t += m[1:3, 1].sum()
    return t


def lorenz(t, y, sigma=10.0, rho=28.0, beta=8.0 / 3.0):
    return np.array([sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]])


def runge_kutta(y0, t):
    y = np.zeros((len(t), len(y0)))
    y[0] = y0
    for i in range(len(t) - 1):
        h = t[i + 1] - t[i]
        k1 = lorenz(t[i], y[i])
        k2 = lorenz(t[i] + h / 2.0, y[i] + k1 * h / 2.0)
        k3 = lorenz(t[i] + h / 2.0, y[i] + k2 * h / 2.0)
        k4 = lorenz(t[i] + h, y[i] + k3 * h)
        y[i + 1] = y[i] + (h / 6.0) * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def unlike(n, k):
    for i in range(n):
        m, v, w = np.eye(3), np.zeros(4), np.zeros((2, 4))
        if k == 0:
            m *= v
        elif k == 1:
            m[:] = v
        elif k == 2:
            return (m + v).sum()
        elif k == 3:
            return (v - m).sum()
        elif k == 4:
            m[:] = w
        elif k == 5:
            return (w[0] + m[0]).sum()
        else:
            return (m + w).sum()


def crossed(x):
    s = 0.0
    for i in range(1, len(x)):
        c = np.cross(x[i, :3], x[i - 1, 1:])
        c[0] += np.round(x[i, 0] * 9)
        s += c[0] + 2 * c[1] + 3 * c[2] + np.round(c * 4).sum() + np.around(x[i] * 5)[1]
    return s


COMPILED = [
    (small, (X,)), (filled, (X,)), (of_numbers, (X,)), (counted, (9,)), (eyes, (5,)), (kept, (X,)), (copied, (X,)), (by_another, (X, 30)), (of_functions, (X,)),
    (branches, (X,)), (widths, (40,)), (whole, (X[0], 5)), (whole, (X, 5)), (complexes, (X + 1j * X[::-1],)), (rows_of_made, (6,)), (small, (X.astype("f4"),)), (kept, (X.astype("f4"),)),
    (runge_kutta, (np.array([0.0, 1.0, 1.05]), np.linspace(0, 1, 30))), (beyond, (3,)), (crossed, (X,)), (crossed, (X.astype("f4"),)),
]  # fmt: skip
UNLIKE = [(unlike, (3, k)) for k in range(7)]
OTHERS = [(beyond, (5,)), (less_than_nothing, (9,)), (last_row, (X,)), (kept, ((X * 9).astype(int),)), (complexes, ((X + 1j).astype("c8"),)), (whole, ((X * 9).astype(int), 3))]


NAMES = {"np": np, "array": np.array, "nan": math.nan, "float32": np.float32, "complex64": np.complex64}


@pytest.mark.parametrize("f, args", [*COMPILED, *OTHERS, *UNLIKE], ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("start", [1, 3])
def test_arrays_are_numpys(f, args, start, from_look):
    from_look(start)
    jitted, expected = plait.jit(f), outcome(f, args)
    for _ in range(3):
        got = outcome(jitted, args)
        if f in (kept, of_numbers, of_functions, eyes) and got != expected:
            np.testing.assert_allclose(eval(got[0], NAMES), eval(expected[0], NAMES), rtol=1e-6)  # `@` adds eight sums side by side
        else:
            assert got == expected


@pytest.mark.parametrize("f, args", COMPILED, ids=lambda x: getattr(x, "__name__", ""))
def test_no_such_loop_stays_pythons(f, args, at_once, monkeypatch):
    check_compiled(f, args, monkeypatch)


def test_another_default_dtype(at_once):
    def made(n):
        s = 0.0
        for i in range(n):
            v = np.zeros(3)
            v[1] = 1 / 3
            s = v[1]
        return s

    f = plait.jit(made)
    assert f(4) == made(4)
    with plait.set_default_dtype("float32"):
        assert f(4) == np.float32(1 / 3) and type(f(4)) is np.float32
    assert type(f(4)) is np.float64
