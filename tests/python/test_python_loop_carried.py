"""Variables of loops that stand for one array after the other: what is left in them, in the arrays that the loop was given, and whether it is one of those, is NumPy's."""

import math

import numpy as np
import pytest
from loop_checks import anew, check, check_compiled

import plait
from plait._jit import loops_of
from plait._python_loops import entries

rng = np.random.default_rng(9)
A, V, G = rng.random((5, 5)), rng.random(5), rng.random((6, 7))


def stepped(x, n):
    for i in range(n):
        x = x * 0.5 + i
    return x


def newton(x, n):
    while n > 0:
        d = (x * x - 2) / (2 * x)
        x = x - d
        n -= 1
        if d.max() < 1e-12:
            break
    return x, n


def jacobi(a, b, n):
    new = np.zeros_like(a)
    for _ in range(n):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                new[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) + b[i, j]
        a, new = new, a
    return a, new


def swapped_three(a, b, c, n):
    for i in range(n):
        a[0] += i
        a, b, c = b, c, a
    return a, b, c


def leapfrog(x, v, n, h):
    for _ in range(n):
        v = v - 0.5 * h * x
        x = x + h * v
        v = v - 0.5 * h * x
    return x, v


def slopes(y):
    return np.array([y[1], -y[0]])


def runge_kutta(y, n, h):
    out = np.zeros((n, 2))
    for i in range(n):
        k1 = slopes(y)
        k2 = slopes(y + h / 2 * k1)
        k3 = slopes(y + h / 2 * k2)
        k4 = slopes(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out[i] = y
    return out, y


def fibonacci(a, b, n):
    for _ in range(n):
        c = a + b
        a = b
        b = c
    return b


def with_history(x, n):
    prev = x * 0
    for i in range(n):
        new = x + 0.5 * prev
        prev = x
        x = new
    return x


def last_row(x):
    row = None
    for i in range(len(x)):
        row = x[i] + 1
    return row


def last_made(n):
    for i in range(n):
        v = np.zeros(3)
        v[i % 3] = i
    return v


def set_before(x, n):
    for i in range(n):
        x[0] = 7.0
        x = x + 1
    return x


def in_branches(x, n):
    for i in range(n):
        if i % 3 == 1:
            x = x + 1
        elif i % 3 == 2:
            x = -x
        for j in range(2):
            x = x * 0.5
    return x, x.sum()


def not_always(x, n):
    for i in range(n):
        if x[0] > 1e9:
            x = x + 1
    return x


def longer(x, n):
    for i in range(n):
        x = np.zeros(len(x) + 1)
        x[-1] = i
    return x


def another_dtype(x, n):
    for i in range(n):
        x = x > 0.5
    return x


def alias(x, n):
    y = x
    for i in range(n):
        y = x
        x = x + 1
    return x, y


def grids(g, n):
    for _ in range(n):
        h = g.copy()
        for i in range(1, g.shape[0]):
            h[i] = g[i] + g[i - 1]
        g = h
    return g


def swapped_by_a_third(a, b, n):
    for i in range(n):
        a[i % 3] += b[0] + i
        t = a
        a = b
        b = t
    return a, b


COMPILED = [
    (stepped, (V, 9)), (stepped, (A, 9)), (stepped, (V.astype("f4"), 3)), (newton, (V + 1, 30)), (jacobi, (G, G * 0.1, 5)), (jacobi, (G, G * 0.1, 4)), (swapped_three, (V, V * 2, V * 3, 7)),
    (leapfrog, (V, V[::-1], 12, 0.1)), (runge_kutta, (np.array([1.0, 0.0]), 30, 0.1)), (in_branches, (V, 9)), (not_always, (V, 5)), (longer, (V, 6)), (last_made, (5,)), (stepped, (V[::2], 3)),
    (stepped, (A.T, 3)), (grids, (G, 4)), (fibonacci, (V, V + 1, 9)), (with_history, (V, 9)),
    (swapped_by_a_third, (V, V * 2, 5)), (swapped_by_a_third, (V, V * 2, 6)),
]  # fmt: skip
OTHERS = [(last_row, (G,)), (set_before, (V, 3)), (another_dtype, (V, 3)), (alias, (V, 3)), (stepped, (2.5, 3)), (stepped, (V, 0)), (last_made, (0,)), (stepped, ((V * 9).astype(int), 3))]


@pytest.mark.parametrize("f, args", [*COMPILED, *OTHERS], ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("start", [1, 2, 4])
def test_arrays_are_numpys(f, args, start, from_look):
    from_look(start)
    check(f, args)


@pytest.mark.parametrize("f, args", COMPILED, ids=lambda x: getattr(x, "__name__", ""))
def test_no_such_loop_stays_pythons(f, args, at_once, monkeypatch):
    check_compiled(f, args, monkeypatch)


def test_what_comes_back_is_what_was_given(at_once):
    def swapped(a, b, n):
        for _ in range(n):
            a[0] += 1
            a, b = b, a
        return a, b

    for n in (3, 4):
        a, b = V.copy(), V.copy()
        x, y = plait.jit(swapped)(a, b, n)
        assert (x is a, y is a) == (n % 2 == 0, n % 2 == 1) and {id(x), id(y)} == {id(a), id(b)}


def test_arrays_that_overlap_stay_pythons(at_once):
    def swapped(a, b, n):
        for i in range(n):
            a[0] += i + b[1]
            a, b = b, a
        return a, b

    x, y = np.arange(6.0), np.arange(6.0)
    got, expected = plait.jit(swapped)(x[:4], x[1:5], 3), swapped(y[:4], y[1:5], 3)
    assert [a.tolist() for a in got] == [a.tolist() for a in expected] and x.tolist() == y.tolist() and math.isfinite(x[0])


def test_large_arrays_are_left_to_threads(at_once):
    f = plait.jit(anew(stepped))
    x = np.ones(entries.LARGE + 1)
    assert f(x, 3).tolist() == stepped(x, 3).tolist() and not any(code.runs for loop in loops_of(f) for code in loop.codes.values())


def added(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    return s


def test_a_number_that_becomes_an_array(at_once):
    """Its first value was lost."""
    check(added, (np.arange(6.0).reshape(3, 2),))
