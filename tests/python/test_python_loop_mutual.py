"""Functions that call each other, in compiled loops."""

import numpy as np
import pytest
from loop_checks import anew, check, check_compiled

import plait


def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


def parities(n):
    c = 0
    for i in range(n):
        if is_even(i):
            c += 1
        if is_odd(i):
            c += 100
    return c


def female(n):
    return 1 if n == 0 else n - male(female(n - 1))


def male(n):
    return 0 if n == 0 else n - female(male(n - 1))


def hofstadter(n):
    s = 0
    for i in range(n):
        s = s * 2 + female(i) - male(i)
    return s


def left(t, k, i):
    if i >= len(t):
        return 0
    return t[i] + right(t, k, 2 * i + 1) * k


def right(x, k, i):
    if i >= len(x):
        return 1
    s = 0
    for d in range(2):
        s += left(x, k, 2 * i + d + 1)
    return s - x[i]


def heap(t):
    s = 0
    for i in range(len(t)):
        s += left(t, 2, i)
    return s


class Reader:
    def __init__(self):
        self.at = 0


def expression(r, t):
    v = term(r, t)
    while r.at < len(t) and t[r.at] in (-1, -2):
        op = t[r.at]
        r.at += 1
        w = term(r, t)
        v = v + w if op == -1 else v - w
    return v


def term(r, t):
    v = factor(r, t)
    while r.at < len(t) and t[r.at] == -3:
        r.at += 1
        v *= factor(r, t)
    return v


def factor(r, t):
    if t[r.at] == -4:
        r.at += 1
        v = expression(r, t)
        r.at += 1
        return v
    v = t[r.at]
    r.at += 1
    return v


def evaluated(t):
    """Descends into 2 * (3 + 4) - (1), written as numbers."""
    s, r = 0, Reader()
    for i in range(5):
        r.at = 0
        s += expression(r, t) + i
    return s


def exchanged(a, b, n):
    if n == 0:
        return a[0]
    return back(b, a, n - 1)


def back(a, b, n):
    if n == 0:
        return a[0] * 10
    return exchanged(b, a, n - 1) + 1


def crossed(t):
    s = 0
    for i in range(6):
        s += exchanged(t, t[1:], i)
    return s


def pair(n, k):
    if n < 1:
        return n, k
    return turned(n - 1, k + 1)


def turned(n, k):
    x, y = pair(n, k)
    return y, x


def pairs(n):
    s = 0
    for i in range(n):
        x, y = pair(i, 2)
        s += x * 3 - y
    return s


def nest(n):
    if n < 1:
        return 0
    return by_way(n) + 1


def by_way(n):
    return nest(n - 1) + of_another(n)


def of_another(n):
    return nest(n // 3)


def nested(n):
    s = 0
    for i in range(n):
        s += nest(i)
    return s


TOKENS = [2, -3, -4, 3, -1, 4, -5, -2, -4, 1, -5]


@pytest.mark.parametrize(
    "f, x",
    [
        (parities, 30), (hofstadter, 25), (heap, np.arange(12.0)), (heap, [*range(12)]), (evaluated, np.array(TOKENS)), (evaluated, TOKENS),
        (crossed, np.arange(1.0, 5)), (pairs, 9), (nested, 9),
    ],
)  # fmt: skip
def test_forms(f, x, at_once, monkeypatch):
    check(anew(f), (x,))
    check_compiled(f, (x,), monkeypatch)


def cut_short(t):
    return evaluated(t[:-3])


def exchanged_again(a, b, n):
    if n == 0:
        return a[0]
    return on_again(b, a, n - 1)


def on_again(a, b, n):
    if n == 0:
        return a[0] * 10
    return exchanged_again(a, b, n - 1) + 1


def other_arrays(t):
    s = 0
    for i in range(6):
        s += exchanged_again(t, t[1:], i)
    return s


def inverse(n):
    return 1 / n + other(n - 1)


def other(n):
    return inverse(n)


def divided(n):
    s = 0
    for i in range(n):
        s += inverse(i)
    return s


def test_errors_inside(at_once):
    """The traceback has the function in which it is raised, and none of the calls that led there."""
    jitted = plait.jit(anew(cut_short))
    for _ in range(3):
        for f in (cut_short, jitted):
            with pytest.raises(IndexError, match="list index out of range") as raised:
                f(TOKENS)
            assert raised.traceback[-1].name == "factor"


@pytest.mark.parametrize("f, x", [(other_arrays, np.arange(1.0, 5)), (divided, 3)])
def test_what_is_pythons(f, x, at_once):
    check(anew(f), (x,))
