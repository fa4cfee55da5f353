"""Compiled loops over itertools.product(), combinations(), permutations() and chain(), and what they leave to Python."""

import itertools
from itertools import chain, combinations, product

import numpy as np
import pytest
from loop_checks import check, check_compiled

X = np.arange(7) * 1.5
POINTS = np.random.default_rng(0).random((6, 2))


def grid(n, m):
    s = 0
    for i, j in product(range(n), range(m)):
        s += i * 10 + j
    return s, i, j


def pairs(x):
    s = 0.0
    for p, q in itertools.combinations(x, 2):
        s = s * 1.1 + p * q
    return s


def with_replacement(x):
    s = 0.0
    for p, q, r in itertools.combinations_with_replacement(x, 3):
        s = s * 1.01 + p * q - r
    return s


def orders(x):
    s = 0.0
    for p, q, r in itertools.permutations(x, 3):
        s = s * 1.01 + p * q - r
    return s


def one_after_the_other(n, x):
    s = 0
    for v in chain(range(n), x, (3, 4)):
        s = s * 1.1 + v
    return s


def left_early(n):
    out = np.zeros((n, n, n))
    for i, j, k in product(range(n), repeat=3):
        if (i + j) % 2:
            continue
        if i == 2:
            break
        out[i, j, k] = i * 100 + j * 10 + k
    else:
        out[:] = -1
    return out


def closest(p):
    best = 1e9
    for i, (u, v) in enumerate(combinations(range(len(p)), 2)):
        d = ((p[u] - p[v]) ** 2).sum()
        if d < best:
            best, at = d, (i, u, v)
    return best, at


def neighbours(p):
    s = 0
    for k in range(3):
        for u, v in combinations(p, 2):
            s += u[0] * v[1]
        for dy, dx in product((-1, 0, 1), repeat=2):
            if dy == dx == 0:
                continue
            s += k * dy - dx
    return s


def side_by_side(n):
    s = 0
    for (i, j), w in zip(product(range(n), range(n)), range(100)):
        s += i * j * w
    return s


def elements(n):
    return [i * j for i, j in product(range(n), range(3))]


def texts(s):
    n = 0
    for a, b in product(s, "ab"):
        n += a == b
    return n


FORMS = [
    (grid, 4, 5), (pairs, X), (pairs, [3, 1, 4, 1]), (pairs, (3, 1, 4)), (with_replacement, X), (orders, X), (orders, X[:3]), (one_after_the_other, 3, X),
    (left_early, 4), (left_early, 2), (closest, POINTS), (neighbours, POINTS), (side_by_side, 6), (elements, 3), (texts, "abca"),
]  # fmt: skip
FEW = [
    (grid, 0, 5), (pairs, X[:2]), (pairs, X[:1]), (pairs, X[:0]), (with_replacement, X[:1]), (with_replacement, X[:0]), (orders, X[:2]),
    (one_after_the_other, 0, X[:0]),
]  # fmt: skip


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in FORMS])
def test_forms(f, args, at_once, monkeypatch):
    check(f, args)
    check_compiled(f, args, monkeypatch)


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in FEW])
def test_of_few(f, args, at_once):
    check(f, args)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("f, args", [(pairs, [X]), (orders, [X]), (grid, [4, 5]), (left_early, [4]), (closest, [POINTS])])
def test_from_the_midst(f, args, n, from_look):
    """Python has the first items: machine code goes on at the number of the next."""
    from_look(n)
    check(f, args)


def changed(x):
    for p, q in product(x, x):
        x[0] += p * q
    return x


def changed_by_another_name(x):
    y = x[1:]
    for p, q in combinations(x, 2):
        y[0] += p * q
    return x


def of_a_list_that_grows(l):
    for p, q in product(l, l):
        if len(l) < 20:
            l.append(p + q)
    return l


def of_so_many(n, r):
    s = 0
    for c in combinations(range(n), r):
        s += c[0]
    return s


def endless(n):
    for i, j in product(range(n), range(10**19)):
        if j > 5:
            return i, j


def of_the_program(n):
    def product(a, b):
        return [a, b]

    s = 0
    for v in product(n, 4):
        s += v
    return s


def outgrown(n):
    s = 1
    for i, j in product(range(n), range(n)):
        s *= 7**i + j
    return s


def outside(x):
    s = 0
    for i, j in product(range(5), range(5)):
        s += x[i + j]
    return s


@pytest.mark.parametrize(
    "f, args",
    [
        (changed, [X]), (changed_by_another_name, [X]), (of_a_list_that_grows, [[1, 2, 3]]), (of_so_many, [5, 2]), (endless, [3]), (of_the_program, [3]),
        (outgrown, [6]), (outside, [X]), (pairs, [{3: 1, 4: 1, 5: 2}]),
    ],
)  # fmt: skip
def test_what_is_pythons(f, args, at_once):
    check(f, args)


def closest(points):
    best = None
    for (a, b), (c, d) in combinations(points, 2):
        far = abs(a - c) + abs(b - d)
        if best is None or far < best:
            best = far
    return best


def products_of_two(p, q):
    n = 0
    for k in range(3):
        for a, b in product(p, q):
            n += a[0] * k - b[1]
    return n


def set_meanwhile(points):
    n = 0
    for a, b in combinations(points, 2):
        points[3] = 100, 100
        n += a[0] - b[1]
    return n


def appended_meanwhile(points):
    n = 0
    for a, b in combinations(points, 2):
        points.append((1, 1))
        n += a[0] - b[1]
    return n


TUPLES = [(3, 1), (9, 4), (2, 2), (8, 7), (5, 5)]


@pytest.mark.parametrize(
    "f, args", [(closest, (TUPLES,)), (closest, ([(1.5, 2.0), (0.5, 1.0)],)), (products_of_two, (TUPLES, TUPLES[1:3]))]
)
def test_lists_of_tuples(f, args, at_once, monkeypatch):
    check(f, args)
    check_compiled(f, args, monkeypatch)


@pytest.mark.parametrize(
    "f, args", [(closest, ([],)), (closest, ([(1, 2, 3)] * 2,)), (set_meanwhile, (TUPLES,)), (appended_meanwhile, (TUPLES,))]
)
def test_lists_of_tuples_by_python(f, args, at_once):
    check(f, args)
