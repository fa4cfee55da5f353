"""Functions that call themselves, in compiled loops and without any loop."""

import sys
import time

import numpy as np
import pytest

import plait
from loop_checks import anew, check, check_compiled, outcome
from plait._jit import loops_of


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def gcd(a, b):
    return a if b == 0 else gcd(b, a % b)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def fill(g, i, j):
    if i < 0 or j < 0 or i >= len(g) or j >= len(g[0]) or g[i][j] != 1:
        return 0
    g[i][j] = 2
    return 1 + fill(g, i + 1, j) + fill(g, i - 1, j) + fill(g, i, j + 1) + fill(g, i, j - 1)


def quicksort(a, low, high):
    if low >= high:
        return
    pivot, i = a[high], low
    for j in range(low, high):
        if a[j] < pivot:
            a[i], a[j] = a[j], a[i]
            i += 1
    a[i], a[high] = a[high], a[i]
    quicksort(a, low, i - 1)
    quicksort(a, i + 1, high)


def queens(n, row, columns, down, up):
    if row == n:
        return 1
    count = 0
    for column in range(n):
        if columns >> column & 1 or down >> (row + column) & 1 or up >> (row - column + n) & 1:
            continue
        count += queens(n, row + 1, columns | 1 << column, down | 1 << (row + column), up=up | 1 << (row - column + n))
    return count


def of_several_types(n):
    if n <= 0:
        return 0
    return n * 0.5 + of_several_types(n - 2) if n % 2 else of_several_types(n - 1) + 1


def summed(left, right, values, i):
    return 0 if i < 0 else summed(left, right, values, left[i]) + values[i] + summed(left, right, values, right[i])


def permuted(a, k):
    n = len(a)
    if k == n:
        return a[0] * a[n - 1]
    t = 0
    for i in range(n - 1, k - 1, -1):
        a[k], a[i] = a[i], a[k]
        t += a[k] + permuted(a, k + 1)
        a[k], a[i] = a[i], a[k]
    return t


def walks(n, moves, most=30):
    """Loops that are taken apart: with `break`, `continue` and `else`, over a list, a tuple and a range."""
    s, k = 0, n
    while k > 0 and walks(k - 1, moves) < most:
        k -= 1
        if k % 3 == 0:
            continue
        if k == 7:
            break
        s += k
    else:
        s += 1
    if n > 3:
        return s
    for v in moves:
        if v > n or not walks(n - 2, moves) and v > 5:
            break
        s += v
    for d in (1, 2):
        if n > d:
            s += walks(n - d - 1, moves) * d
    return s


def first_then(a, i):
    """An operand that is read before a call changes it."""
    if i == 0:
        a[0] += 1
        return 0
    return a[0] * 10 + first_then(a, i - 1) + a[0]


def unset(n):
    if n > 2:
        t = n
    if n > 0:
        unset(n - 1)
    return t


def fails(n):
    return 1 // (n - 3) if n == 3 else fails(n + 1)


def over_entries(d, n):
    s = 0
    for k in d:
        s += k
        if n > 0:
            s += over_entries(d, n - 1)
    return s


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


class Counting:
    def __init__(self):
        self.calls = 0

    def __repr__(self):
        return f"Counting({self.calls})"

    def down(self, k):
        self.calls += k
        return k if k < 2 else self.down(k - 1) - self.down(k - 2)


def fibs(n):
    s = 0
    for i in range(n):
        s += fib(i) * 2
    return s


def gcds(n):
    s = 0
    for i in range(1, n):
        for j in range(1, n):
            s += gcd(i, j) + gcd(i * 2, j)
    return s


def ackermanns(n):
    s = 0
    for i in range(n):
        s += ackermann(2, i)
    return s


def fills(g):
    s = 0
    for i in range(len(g)):
        s = s * 10 + fill(g, i, 0)
    return s


def sorts(a, n):
    for _ in range(n):
        quicksort(a, 0, len(a) - 1)
    return a


def boards(n):
    s = 0
    for i in range(1, n):
        s += queens(i, 0, 0, 0, 0)
    return s


def types(n):
    s = 0
    for i in range(n):
        s += of_several_types(i)
    return s


def trees(left, right, values, n):
    s = 0
    for i in range(n):
        s += summed(left, right, values, i % 3)
    return s


def permutations(a, n):
    s = 0
    for _ in range(n):
        s += permuted(a, 0)
    return s


def all_walks(n, moves):
    s = 0
    for i in range(n):
        s += walks(i, moves)
    return s


def orders(a, n):
    s = 0
    for i in range(n):
        s += first_then(a, i)
    return s


def unsets(n):
    s = 0
    for i in range(3, n):
        s += unset(i)
    return s


def failures(n):
    s = 0
    for i in range(n):
        s += fails(i)
    return s


def entries(d, n):
    s = 0
    for i in range(n):
        s += over_entries(d, i)
    return s


def evens(n):
    s = 0
    for i in range(n):
        s += is_even(i)
    return s


def counted(o, n):
    s = 0
    for i in range(n):
        s += o.down(i)
    return s


def sets_outside(n):
    calls = 0

    def down(k):
        nonlocal calls
        calls += 1
        if k > 0:
            down(k - 1)
            down(k - 2)

    for i in range(n):
        down(i)
    return calls


COMPILED = [
    (fibs, (12,)),
    (gcds, (12,)),
    (ackermanns, (5,)),
    (fills, ([[1, 1, 0], [0, 1, 1], [1, 0, 1]],)),
    (sorts, (np.array([3.0, 1, 2, 5, 4, 0]), 2)),
    (sorts, ([3, 1, 2], 2)),
    (boards, (7,)),
    (types, (12,)),
    (trees, (np.array([1, -1, -1]), np.array([2, -1, -1]), np.array([0.5, 1, 2]), 4)),
    (permutations, ([1, 2, 3, 4], 2)),
    (all_walks, (6, [1, 2, 9])),
    (orders, (np.array([1, 2]), 4)),
    (counted, (Counting(), 7)),
    (sets_outside, (8,)),
]


@pytest.mark.parametrize("f, args", COMPILED)
def test_recursion_is_pythons_at_once(f, args, at_once):
    check(anew(f), args)


@pytest.mark.parametrize("f, args", [*(c for c in COMPILED if c[0] is not all_walks), (entries, ([1, 2, 3], 3)), (entries, ({1: 5, 2: 6}, 3)), (evens, (5,))])
def test_recursion_is_pythons(f, args, from_look):
    from_look(2)
    check(anew(f), args)


@pytest.mark.parametrize("f, args", COMPILED)
def test_loops_with_recursion_are_compiled(f, args, at_once, monkeypatch):
    check_compiled(f, args, monkeypatch)


@pytest.mark.parametrize("f, n, error", [(unsets, 5, UnboundLocalError), (failures, 3, ZeroDivisionError)])
def test_errors_inside_are_pythons(f, n, error, at_once):
    with pytest.raises(error) as expected:
        f(n)
    jitted = plait.jit(anew(f))
    for _ in range(2):
        with pytest.raises(error) as raised:
            jitted(n)
        assert str(raised.value) == str(expected.value)


def maybe_unset(known, k):
    if known:
        t = k
    return t


def unset_in_a_call(n):
    s = 0
    for i in range(n):
        s += maybe_unset(i < 3, i)
    return s


def test_a_call_has_no_variables_of_the_one_before(at_once):
    check(anew(unset_in_a_call), (3,))
    check(anew(unset_in_a_call), (5,))


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def depths(n):
    s = 0
    for _ in range(2):
        s += depth(n)
    return s


def test_the_limit_of_recursion_is_pythons(at_once):
    jitted = plait.jit(anew(depths))
    assert jitted(500) == jitted(500) == 1000
    before = sys.getrecursionlimit()
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        jitted(before + 1)
    sys.setrecursionlimit(before + 3000)
    try:
        assert jitted(before + 1) == 2 * (before + 1)
    finally:
        sys.setrecursionlimit(before)


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def factorials(n):
    s = 0
    for i in range(n):
        s += factorial(i) % 1000
    return s


def test_larger_numbers_inside_are_pythons(at_once):
    check(anew(factorials), (25,))


def without_a_loop(n):
    a = fib(n)
    a += fib(n - 1)
    return fib(n + 1) - a


def test_recursion_without_a_loop_is_compiled(at_once, monkeypatch):
    check(anew(without_a_loop), (9,))
    jitted = plait.jit(anew(without_a_loop))
    for _ in range(3):
        assert outcome(jitted, (9,)) == outcome(without_a_loop, (9,))
    assert [code.runs > 0 for loop in loops_of(jitted) for code in loop.codes.values()] == [True] * 3


def once(n):
    return fib(n)


def test_recursion_goes_over_once_it_has_taken_long():
    jitted = plait.jit(anew(once))
    until = time.monotonic() + 20
    while time.monotonic() < until:
        assert jitted(18) == 2584
        if any(code.runs for loop in loops_of(jitted) for code in loop.codes.values()):
            return
    raise AssertionError("it stayed Python's")


def ends(a, lo, hi):
    if hi - lo == 1:
        return a[lo], a[lo]
    m = (lo + hi) // 2
    low, high = ends(a, lo, m)
    l1, h1 = ends(a, m, hi)
    return min(low, l1), max(high, h1)


def extremes(a):
    s = 0
    for i in range(len(a) - 1):
        x, y = ends(a, i, len(a))
        s += x * y
    return s


def euclid(a, b):
    if b == 0:
        return a, 1, 0
    g, x, y = euclid(b, a % b)
    return g, y, x - (a // b) * y


def divisors(n):
    s = 0
    for i in range(1, n):
        for j in range(1, n):
            g, x, y = euclid(i, j)
            s += g * i + x * j - y
    return s


def halved(n, k):
    if n == 1:
        return k, 0.5
    return halved(n // 2 if n % 2 == 0 else 3 * n + 1, k + 1)


def tail(n):
    s = 0
    for i in range(1, n):
        a = halved(i, 0)
        k, x = a
        s += a[0] * x + k
    return s


def series(n):
    if n < 1:
        return 0, 1.0
    return series(n - 1)[0] + series(n - 2)[0] + n, series(n - 1)[1] * 0.5


def both_parts(n):
    for i in range(n):
        a, b = series(i)
    return a, b


def down(n):
    if n == 0:
        return 0, 0
    a, b = down(n - 1)
    return b + 1, a


def deep(n):
    for _ in range(3):
        x, y = down(n)
    return x, y


def number_or_pair(n):
    if n < 1:
        return 0
    if n < 3:
        return 1, 2
    return number_or_pair(n - 1)


def of_several_kinds(n):
    for i in range(n):
        x = number_or_pair(i)
    return x


@pytest.mark.parametrize("f, x", [(extremes, [3, 1, 2, 7, 5]), (extremes, np.arange(9.0) % 4), (divisors, 15), (tail, 30), (both_parts, 9), (deep, 100)])
def test_tuples_that_are_returned(f, x, at_once, monkeypatch):
    check(anew(f), (x,))
    check_compiled(f, (x,), monkeypatch)


def test_returns_of_several_kinds(at_once):
    check(anew(of_several_kinds), (9,))
