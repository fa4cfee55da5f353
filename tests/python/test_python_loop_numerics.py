"""Products of matrices, masks and arrays as indices, sorting, running sums and linear algebra in compiled loops: NumPy's values, up to rounding where its library has
an order of its own, and its errors."""

import math
import re

import numpy as np
import pytest
from loop_checks import check_compiled, outcome

import plait

rng = np.random.default_rng(8)
A, B, V = rng.random((8, 8)), rng.random((8, 8)), rng.random(8)
K, KV = rng.integers(-9, 9, (8, 8)), rng.integers(0, 8, 8)
SMALL = [*(rng.normal(size=30) * 2.0 ** rng.integers(-1074, 300, 30)).tolist(), 0.0, -0.0, -3.0, 1e16, 1.0, 1e-16]
WIDE = rng.normal(size=(5, 40))


def products(a, b, v):
    out = np.zeros((len(a), 6))
    for i in range(1, len(a)):
        w = a @ v
        m = a[:i] @ b[:, 1:4]
        u = v @ b
        out[i] = w[i], m[-1, 2], u[0], v @ a @ v, np.dot(a.T, b)[i, 0], (a[i] * 2).dot(b)[1]
        out[i, :3] += np.outer(v, w)[i, :3] + np.inner(v, w) + np.vdot(v, u) + np.matmul(a, w)[i]
    return out


def rotated(x, n):
    c, s = math.cos(0.1), math.sin(0.1)
    for i in range(n):
        turn = np.array([[c, -s], [s, c]])
        x = turn @ x
    return x


def norms(x):
    s = np.zeros((len(x), 6))
    for i in range(len(x)):
        s[i] = np.linalg.norm(x[i]), np.linalg.norm(x), np.linalg.norm(x[i] - x[0], 1), np.linalg.norm(x[i], np.inf), np.linalg.norm(x[i], ord=2), np.trace(x)
    return s


def solved(a, b):
    out = np.zeros((4, len(b)))
    for i in range(4):
        m = a + i * np.eye(len(a))
        x = np.linalg.solve(m, b)
        y = np.linalg.solve(m, a[:, :2])
        out[i] = x + y[:, 1] + np.linalg.inv(m)[0] + np.linalg.det(m)
    return out


def newton(x):
    for _ in range(6):
        j = np.array([[2 * x[0], 1.0], [1.0, 2 * x[1]]])
        f = np.array([x[0] ** 2 + x[1] - 11, x[0] + x[1] ** 2 - 7])
        x = x - np.linalg.solve(j, f)
    return x


def masks(x, v):
    s = 0.0
    for i in range(len(x)):
        row = x[i]
        s += row[row > 0.5].sum() + v[(v > 0.2) & (v < 0.7)].mean()
        row[row < 0.1] = -1
        row[row > 0.9] += 0.25
        v[v > x[i, 0]] = v[v > x[i, 0]] * 0.5
        x[x > 0.95] = i
        x[i, v > 0.3] -= 0.01
        x[row > 0.8, 0] = 3
        s += len(x[row > 0.4]) + x[row > 0.4].max()
    return s


def places(x, k):
    s = 0.0
    for i in range(len(x)):
        w = x[i][k]
        w[0] = 9
        s += w[0] + x[k, k][1] + x[i, k][2] + x[k][3, i] + x[:, k][1, 2] + x[[0, 2, -1], i][2]
        x[i, k] = x[0, k] + 1
        x[k, i] += 1
        s += len(np.flatnonzero(x[i] > 1)) + np.nonzero(x[i])[0][-1] + np.count_nonzero(x > 1)
        rows, columns = np.nonzero(x > 2)
        s += len(rows) + columns.sum()
        for (at,) in np.argwhere(x[i] > 1):
            s += at
    return s


def chosen(x, v):
    s = 0.0
    for i in range(len(x)):
        w = np.where(x[i] > v, x[i], 0)
        s += w.sum() + np.where(v > 0.5, 1, -1).sum() + np.where(v > 0.5)[0].sum() + np.where(i > 3, v, x[i])[2]
        x[i] = np.clip(x[i], 0.2, v[i] + 0.1)
        s += np.clip(v[i], 0.3, 0.6) + x[i].clip(0.3)[1] + np.clip(v, None, 0.5).sum()
    return s


def sorted_lines(x):
    for i in range(len(x)):
        s = np.sort(x[i])
        k = np.argsort(x[i], kind="stable")
        x[i] = s[::2].sum() + x[i][k] - s * k
        x[i].sort()
        x[i, 0] += np.searchsorted(s, s[1]) + np.searchsorted(s, s[2], side="right") + np.searchsorted(s, x[i])[3] + s.searchsorted(0.1)
    return x


def running(x):
    for i in range(len(x)):
        x[i] = np.cumsum(x[i]) + x[i].cumprod()
        x[i, 1:] = np.diff(x[i])
    return x


def statistics(x):
    s = np.zeros((len(x), 6))
    for i in range(len(x)):
        s[i] = np.var(x[i]), x[i].std(), np.std(x[i], ddof=1), np.median(x[i]), np.percentile(x[i], 5 + i * 20), np.quantile(x[i], 0.5)
    return s


def of_matrices(x):
    s = np.zeros((len(x) - 2, 4))
    for i in range(len(x) - 2):
        s[i] = np.median(x[i : i + 2, 1:4]), np.median(x[i : i + 3, ::2].T), np.percentile(x[:, i : i + 1], 40), np.quantile(x[i:] * 2, 0.9)
    return s


def of_cubes(x):
    s = 0.0
    for i in range(len(x)):
        s += np.median(x[i:])
    return s


def spaced(n):
    s = 0.0
    for i in range(n):
        s += np.linspace(0, i, 7)[3] + np.linspace(-1, 1, i, endpoint=False).sum() + np.linspace(i, 2 * i + 1).sum()
    return s


def whole_numbers(n):
    s = []
    for i in range(n):
        s.append(math.gcd(i, 12) + math.gcd(-i, 5) + math.lcm(i, 6) + math.comb(n, i) + math.comb(i, 3) + math.perm(i, 2) + math.factorial(i % 15) + math.isqrt(i * i * i))
    return s


def lengths(x):
    s = []
    for i in range(len(x)):
        a, b, c = float(x[i, 0]), float(x[i, 1]), float(x[i, 2])
        s.append(math.hypot(a, b) + math.hypot(a, b, c) + math.dist((a, b), (b, c)) + math.degrees(a) + math.radians(b) + math.copysign(c, -b))
        s.append(math.isclose(a, b, rel_tol=0.5) + math.isclose(a, a + 1e-12) + math.isclose(a, b, abs_tol=0.1))
        s.append(math.prod(x[i, :3]))
    return s


def bits(x):
    s = []
    for i in range(len(x)):
        a = float(x[i])
        m, n = math.frexp(a)
        part, whole = math.modf(a)
        s.append(m)
        s.append(n)
        s.append(part)
        s.append(whole)
        s.append(math.ldexp(m, n))
        s.append(math.ldexp(a, -900 - 40 * i))
        s.append(math.fsum(x[i:]))
        s.append(math.fsum([a, 1.0, -a]))
    return s


def by_indices(x):
    s = 0.0
    for i in range(3):
        for p, q in np.ndindex(x.shape):
            s = s * 0.5 + x[p, q]
        for p, q, r in np.ndindex(2, i, 3):
            s += p * 100 + q * 10 + r
        for (p,) in np.ndindex(i):
            s -= p
        s += math.dist(x[i], x[i + 1])
    return s


EXACT = [
    (bits, (np.array(SMALL),)), (by_indices, (A,)),
    (masks, (A, V)), (places, (A, KV)), (chosen, (A, V)), (sorted_lines, (A,)), (sorted_lines, (WIDE,)), (running, (A,)), (running, (A.astype("f4"),)), (running, (K,)),
    (statistics, (WIDE,)), (statistics, (A[:, :7],)), (statistics, (K[:5],)), (of_matrices, (A,)), (of_matrices, (K,)),
    (of_cubes, (WIDE.reshape(5, 4, 10).astype("f4"),)), (spaced, (20,)), (whole_numbers, (30,)), (lengths, (WIDE * 2.0 ** rng.integers(-9, 9, (5, 40)),)),
    (products, (K, K.T.copy(), KV)),
]  # fmt: skip
CLOSE = [
    (products, (A, B, V)), (products, (A.astype("f4"), B.astype("f4"), V.astype("f4"))), (rotated, (np.eye(2), 9)), (norms, (A,)), (norms, (K,)), (solved, (A, V)), (solved, (K, KV)),
    (newton, (np.array([3.1, 1.8]),)),
]  # fmt: skip
NAMES = {"array": np.array, "float32": np.float32}


@pytest.mark.parametrize("f, args", EXACT, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("start", [1, 3])
def test_numbers_are_numpys(f, args, start, from_look):
    from_look(start)
    jitted, expected = plait.jit(f), outcome(f, args)
    for _ in range(3):
        assert outcome(jitted, args) == expected


@pytest.mark.parametrize("f, args", CLOSE, ids=lambda x: getattr(x, "__name__", ""))
def test_sums_of_products_are_numpys_up_to_rounding(f, args, at_once):
    jitted, expected = plait.jit(f), f(*args)
    got = [jitted(*args) for _ in range(2)][1]
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, rtol=1e-5 if args[0].dtype == "f4" else 1e-10)


@pytest.mark.parametrize("f, args", [*EXACT, *CLOSE], ids=lambda x: getattr(x, "__name__", ""))
def test_no_such_loop_stays_pythons(f, args, at_once, monkeypatch):
    check_compiled(f, args, monkeypatch)


def test_an_element_of_a_product_is_that_of_its_lines(at_once):
    def f(a, b):
        s = 0
        for i in range(len(a)):
            m = a @ b
            for j in range(len(m)):
                s += m[i, j] == a[i] @ b[:, j]
        return s

    assert [plait.jit(f)(x, y) for x, y in ((A, B), (WIDE, WIDE.T))] == [64, 25]


def singular(a, n):
    for i in range(n):
        a[0] = a[1] * (i > 1)
        x = np.linalg.solve(a, a[:, 0])
    return x


def not_inverted(n):
    for i in range(n):
        x = np.linalg.inv(np.zeros((i + 1, 2)))
    return x


def unaligned(a, b, n):
    s = 0.0
    for i in range(n):
        s += len(a[:, i:] @ b)
    return s


def unaligned_dot(a, b, n):
    s = 0.0
    for i in range(n):
        s += len(np.dot(a, b[i:]))
    return s


def out_of_bounds(x, k, n):
    for i in range(n):
        k[2] = i
        x[k] = i
    return x


def wrong_mask(x, n):
    s = 0.0
    for i in range(n):
        s += x[x[i:] > 0.5].sum()
    return s


def too_many_values(x, n):
    for i in range(n):
        x[x > 0.5] = x[x > 0.5][i:]
    return x


def of_other_length(x, k, n):
    for i in range(n):
        x[k] = x[i:]
    return x


def of_negative_numbers(n):
    s = 0
    for i in range(n):
        s += math.comb(5 - i, 2) + math.isqrt(8 - i)
    return s


def no_points(n):
    s = 0.0
    for i in range(n):
        s += len(np.linspace(0, 1, 3 - i))
    return s


def no_percentile(x, n):
    s = 0.0
    for i in range(n):
        s += np.percentile(x, 40 * i)
    return s


def too_large_a_power(n):
    s = 0.0
    for i in range(n):
        s += math.ldexp(1.5, 400 * i)
    return s


def too_large_a_sum(x):
    s = 0.0
    for i in range(len(x)):
        s += math.fsum(x[:i])
    return s


def not_drawn(n):
    g, s = np.random.default_rng(1), 0
    for i in range(n):
        s += g.integers(i, 3, endpoint=True)
    return s


ERRORS = [
    (too_large_a_power, (5,)), (too_large_a_sum, (np.array([1e308, 1.0, 1e308]),)), (too_large_a_sum, (np.array([1.0, np.inf, -np.inf, 2.0]),)), (not_drawn, (9,)),
    (singular, (A + np.eye(8), 5)), (not_inverted, (3,)), (unaligned, (A, V, 3)), (unaligned, (A, B, 3)), (unaligned_dot, (A, B, 3)), (out_of_bounds, (V, KV, 12)),
    (wrong_mask, (V, 3)), (too_many_values, (V, 3)), (of_other_length, (V, KV, 3)), (of_negative_numbers, (12,)), (no_points, (6,)), (no_percentile, (V, 4)),
]  # fmt: skip


@pytest.mark.parametrize("f, args", ERRORS, ids=lambda x: getattr(x, "__name__", ""))
def test_errors_are_numpys(f, args, at_once, monkeypatch):
    expected, jitted = outcome(f, args), plait.jit(f)
    for _ in range(2):
        assert [_rounded(x) for x in outcome(jitted, args)] == [_rounded(x) for x in expected]
    check_compiled(f, args, monkeypatch)


def _rounded(text):
    return re.sub(r"\d+\.\d+", lambda m: f"{float(m[0]):.10g}", text)


def test_nan_is_behind_all_others(at_once, monkeypatch):
    x = WIDE.copy()
    x[:, ::7] = np.nan
    for f in (sorted_lines, statistics):
        assert outcome(plait.jit(f), (x,)) == outcome(f, (x,))
        check_compiled(f, (x,), monkeypatch)


def test_hypot_is_pythons(at_once):
    def f(x):
        s = []
        for i in range(len(x)):
            a, b, c, d = x[i]
            s.append(math.hypot(a, b))
            s.append(math.hypot(c, d, a, b))
            s.append(math.hypot(c))
        return s

    x = [*map(tuple, (rng.normal(size=(400, 4)) * 2.0 ** rng.integers(-1070, 1023, (400, 4))).tolist())]
    x += [(math.inf, math.nan, 0.0, 1.0), (math.nan, 1.0, 2.0, 3.0), (0.0, -0.0, 0.0, 5e-324), (1e308, 1e308, 1.7e308, -1.7e308)]
    for _ in range(2):
        assert outcome(plait.jit(f), (x,)) == outcome(f, (x,))


def shuffled(x, n):
    g, s = np.random.default_rng(5), 0.0
    for i in range(n):
        g.shuffle(x)
        p, q = g.permutation(x), g.permutation(i)
        s = s * 0.5 + x[0] + p[1] + (q[0] if i > 0 else 0) + g.integers(1, 6, endpoint=True) + g.integers(5, endpoint=True, dtype=np.int64)
        g.shuffle(q)
        s += q.sum() * x[2]
    return s, x, g.random()


def test_generators_shuffle_as_numpys(at_once, monkeypatch):
    for _ in range(2):
        assert outcome(plait.jit(shuffled), (V, 20)) == outcome(shuffled, (V, 20))
    check_compiled(shuffled, (V, 20), monkeypatch)


def test_an_order_that_is_numpys_own_stays_numpys(at_once):
    def f(x):
        s = 0
        for i in range(len(x)):
            s += np.argsort(x[i])[0]
        return s

    jitted = plait.jit(f)
    assert jitted(A) == f(A) and "order of equal elements" in plait.explain(jitted, A)


def test_lists_of_numbers_of_several_types(at_once):
    def some(n, of_tuples):
        pairs, numbers = [], []
        for i in range(n):
            k = np.int32(i) if i % 3 == 1 else i > 4 if i % 3 == 2 else i
            pairs.append((k, i / 2) if i % 2 else (i, np.float64(i)))
            numbers.append(k)
        return pairs if of_tuples else numbers

    jitted = plait.jit(some)
    for n in (0, 1, 2, 9, 9):
        assert [repr(jitted(n, of_tuples)) for of_tuples in (True, False)] == [repr(some(n, of_tuples)) for of_tuples in (True, False)]
