"""Comprehensions and generators over ranges, in loops that are compiled and outside of them: the elements, their types and errors are Python's."""

import builtins
import math
import warnings

import numpy as np
import pytest
from loop_cases import copies

import plait
from plait._jit import loops_of
from plait._python_loops import comprehension_folds, elements


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    elif isinstance(a, np.ndarray):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    else:
        assert repr(a) == repr(b)


def dots(x, y):
    for i in range(len(x)):
        y[i] = sum(x[j] * y[j] for j in range(i)) + 1
    return y


def counts(n):
    t = 0
    for i in range(n):
        t += sum(j * k for j in range(i) if j % 3 for k in range(j) if k != i)
        t += max(j % 7 for j in range(i + 1)) - min([(j * 5) % 11 for j in range(i + 1)])
        if any(j * j == i for j in range(i)) and not all([j < 50 for j in range(i)]):
            t += sum([j for j in range(i)], 3)
        t += len([j for j in range(i) if j & 1]) + sum(1 for j in range(i) if j > 2)
    return t, i


def primes(n):
    count = 0
    for k in range(2, n):
        if all(k % d for d in range(2, k)):
            count += 1
    return count


def several(n, x):
    r = q = 0
    for i in range(n):
        r = max(j if j % 2 else j / 2 for j in range(i + 1))
        q = min(x[j] if j > 3 else 1.5 for j in range(5))
    return r, q


def own_names(n):
    j = 100
    for i in range(n):
        s = sum(j for j in range(j - 97 + i))
    return s, j, i


def helper(n):
    return sum(k * k for k in range(n)) + max(k for k in range(n + 1))


def called(n):
    t = 0
    for k in range(n):
        t += helper(k)
    return t, k


def empty(n):
    t = 0
    for i in range(n):
        t += max(j for j in range(5 - i))
    return t


def beyond(x):
    t = 0.0
    for i in range(len(x)):
        t += sum(x[i + j] for j in range(3))
    return t


def over_arrays(x):
    t = 0.0
    for i in range(len(x)):
        t += sum(a * b for a, b in zip(x[:i], x)) + max(v for v in x)
    return t


INSIDE = {
    dots: (np.arange(20) * 0.3, np.ones(20)), counts: (40,), primes: (300,), several: (9, np.arange(7.0)), own_names: (9,), called: (12,), empty: (9,),
    beyond: (np.ones(9),), over_arrays: (np.arange(9.0),),
}  # fmt: skip


def outcome(f, args):
    args = copies(args)
    try:
        return f(*args), args
    except Exception as e:
        return (type(e).__name__, str(e)), args


@pytest.mark.parametrize("f", INSIDE, ids=lambda f: f.__name__)
def test_inside_of_a_compiled_loop(f, at_once):
    g = plait.jit(f)
    same(outcome(f, INSIDE[f]), outcome(g, INSIDE[f]))
    assert all(code.runs for loop in loops_of(g) for code in loop.codes.values() if code.usable) and loops_of(g)[0].codes
    assert all(code.usable for code in loops_of(g)[0].codes.values())


def neumaier(items, start=0):
    """sum() of Python's floats, as from Python 3.12 on."""
    total, c, found = 0.0, 0.0, False
    for v in items:
        t = total + v
        c += (total - t) + v if abs(total) >= abs(v) else (v - t) + total
        total, found = t, True
    if not found:
        return start
    return total + c if c and math.isfinite(c) else total


def rounded(x, n):
    t = 0
    for i in range(n):
        t = sum(float(x[k]) for k in range(i))
    return t


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 9, 11])
def test_sums_of_floats_are_compensated_where_those_of_python_are(n, at_once, monkeypatch):
    monkeypatch.setattr(comprehension_folds, "_COMPENSATES", True)
    x = np.array([1e16, 1.0, -1e16, 1e-3, 1e300, 1.0, -1e300, math.inf, 1.0, -math.inf])
    g = plait.jit(rounded)
    same(neumaier(float(v) for v in x[: max(n - 1, 0)]), g(x, n))
    assert all(code.usable for code in loops_of(g)[0].codes.values())


def work(i, x):
    s = 0.0
    for k in range(i):
        s += x[k] * k
    return s


def lists(n, x):
    a = [i * i for i in range(n)]
    b = [i * 0.5 for i in range(n) if i % 3]
    c = [x[i] for i in range(n)]
    d = [i if i % 2 else i / 2 for i in range(n, 0, -1)]
    e = [j for i in range(n) for j in range(i) if (i + j) % 3]
    f = np.array([work(i, x) for i in range(0, n, 2)])
    g = [math.sqrt(j) + i for i in range(4) for j in range(i) if j]
    return a, b, c, d, e, f, g, [i > 3 for i in range(3, n)], [i for i in range(-4, -20, -3)]


def generators(n, x):
    a = sum(work(i, x) for i in range(n))
    b = np.fromiter((i * 2.5 for i in range(n)), float, n)
    c = np.fromiter((i * 2 for i in range(10**9)), int, n)
    d = any(i * i == 49 for i in range(10**9)), all(i < 900 for i in range(10**9))
    e = max(work(i, x) for i in range(n)), min((i - 3) ** 2 for i in range(n))
    return a, b, c, d, e, sorted(-i for i in range(n)), tuple(i for i in range(n)), sum(x[i] for i in range(n)), list(i / 7 for i in range(n))


def in_loops(n, x):
    t, names = 0, []
    for v in [1, 2, 3]:
        t += sum(i * v for i in range(n))
        names.append([f"{v}" for _ in range(2)])
    if any(i == 5 for i in range(n)):
        t += 1
    while sum(i for i in range(t % 7)) > 3:
        t += 1
    return t, names, i if (i := n) else 0


def fails(n, x):
    return [x[i] for i in range(n + 50)]


def fails_in_a_generator(n, x):
    return np.fromiter((1 // (n - i) for i in range(2 * n)), int, n), sum(1 / (n - i) for i in range(2 * n))


OUTSIDE = lists, generators, in_loops, fails, fails_in_a_generator
ARRAYS = np.arange(40) * 0.1, np.arange(40).astype("f4"), np.arange(40)


@pytest.mark.parametrize("start", [1, 2, 3, 9, 20])
@pytest.mark.parametrize("f", OUTSIDE, ids=lambda f: f.__name__)
def test_outside_of_loops_from_any_element(f, start, from_look):
    g = plait.jit(f)
    for x in ARRAYS:
        from_look(start)
        same(outcome(f, (23, x)), outcome(g, (23, x)))
    assert any(code.runs for loop in loops_of(g) for code in loop.codes.values())


def test_a_generator_computes_little_more_than_it_is_asked_for(at_once, monkeypatch):
    computed = []
    run = elements.Elements.computed
    monkeypatch.setattr(elements.Elements, "computed", lambda loop, code, values, numbers: computed.append(len(numbers)) or run(loop, code, values, numbers))

    def f(n):
        return any(i == n for i in range(10**12))

    assert plait.jit(f)(1000) and sum(computed) < 2100


def test_what_python_runs_between_elements_stays_pythons(at_once):
    def f(n):
        k = 0
        found = []
        for v in (i + k for i in range(n)):
            k += 1
            found.append(v)
        return found, list(map(lambda v: v + k, (i for i in range(3))))

    same(f(5), plait.jit(f)(5))


def test_writes_stay_pythons(at_once):
    def put(x, i):
        x[i] = 5
        return i

    def f(x):
        return [put(x, i) for i in range(3)], x

    g = plait.jit(f)
    same(f(np.zeros(4)), g(np.zeros(4)))
    (code,) = loops_of(g)[0].codes.values()
    assert code.why.startswith("a comprehension that writes to arrays")


def test_warnings_of_elements(at_once):
    def f(x):
        return [np.log(x[i]) for i in range(4)]

    with pytest.warns(RuntimeWarning, match="divide by zero encountered in log") as heard:
        same(f(np.zeros(4)), plait.jit(f)(np.zeros(4)))
    assert all(w.filename == __file__ for w in heard)


def test_a_shadowed_sum(at_once):
    def f(n, sum):
        return sum(i * i for i in range(n)), [i for i in range(n)]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for consumer in (builtins.sum, lambda items: [next(items), *items]):
            same(f(5, consumer), plait.jit(f)(5, consumer))
