"""What a value is, on its way through a compiled loop: a list or a tuple, Python's number or NumPy's."""

import warnings

import numpy as np
import pytest

import plait
from plait._jit import loops_of


def outcome(f, *args):
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = f(*args)
        except Exception as e:
            return type(e), str(e)
    parts = [(x.dtype, x.tolist()) if isinstance(x, np.ndarray) else (type(x), x) for x in (result if isinstance(result, (list, tuple)) else [result])]
    return type(result), parts


def check(f, *args, calls=5):
    """The later calls are by the loop's entry, and on the caller's arrays."""
    g, want = plait.jit(f), outcome(f, *args)
    for _ in range(calls):
        assert outcome(g, *args) == want
    assert all(code.usable for loop in loops_of(g) for code in loop.codes.values())


def a_list(n):
    for i in range(n):
        if i == 3:
            return [i, i * 0.5]


def a_tuple(n):
    for i in range(n):
        if i == 3:
            return (i, i * 0.5)


def pair(i):
    return [i, i + 1]


def the_list_of_another(n):
    for i in range(n):
        if i == 3:
            return pair(i)


@pytest.mark.parametrize("f", [a_list, a_tuple, the_list_of_another], ids=lambda f: f.__name__)
def test_lists_stay_lists(f, at_once):
    check(f, 9)
    check(f, 2)


def test_lists_and_tuples(at_once):
    def either(n):
        for i in range(9):
            if i == n:
                return [i, 1]
            if i == 5:
                return (i, 2)

    f = plait.jit(either)
    for n in (3, 7):
        assert outcome(f, n) == outcome(either, n)


def stored(u, p, c):
    for i in range(len(u)):
        u[i] -= u[i] ^ (i % 3 if c else p)
    return u


def compared(u, p, c):
    s = 0
    for i in range(len(u)):
        s += np.greater(u[i], p if c else 0.1)
    return s


def added(u, p, c):
    x = p
    for i in range(len(u)):
        x = (u[i] + (i if c else p)) * 1
    return x


def smallest(u, p, c):
    x = p
    for i in range(len(u)):
        x = min(u[i] if i % 2 else i, p, x if c else 3)
    return x, u


NUMBERS = [7, 0.1, np.int64(7), np.uint8(250), np.float32(0.1), np.float64(0.1)]


@pytest.mark.parametrize("f", [stored, compared, added, smallest], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["u1", "i8", "f4"])
def test_numbers_of_several_types(f, dtype, at_once):
    for p in NUMBERS if f is not stored or dtype[0] != "f" else []:
        g = plait.jit(f)
        for c in (False, True, 0):
            u = np.arange(9).astype(dtype) / np.dtype(dtype).type(4 if dtype[0] == "f" else 1)
            u = u.astype(dtype)
            u[2] = u[2] if dtype[0] != "f" else 0.1
            assert outcome(g, u, p, c) == outcome(f, u, p, c), (p, c)


@pytest.mark.parametrize("i", [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**62 + 1, 3])
def test_ints_are_compared_with_floats_exactly(i, at_once):
    def comparisons(i, x):
        s = 0
        for _ in range(1):
            s += (i < x) + 2 * (i <= x) + 4 * (i == x) + 8 * (i != x) + 16 * (i > x) + 32 * (i >= x)
            s += 64 * (x < i) + 128 * (x <= i) + 256 * (x == i) + 512 * (x > i) + 1024 * (x >= i)
        return s

    f = plait.jit(comparisons)
    for x in (float(i), np.nextafter(float(i), 0), np.nextafter(float(i), np.inf), 2.5, float("inf"), float("nan"), 2.0**63):
        assert f(i, float(x)) == comparisons(i, float(x)), x
