"""Python's loops in machine code: values, types and errors are Python's, wherever a loop goes over to it."""

import linecache
import math
import warnings

import numpy as np
import pytest
from loop_cases import CASES, copies, same

import plait
from plait._python_loops import codes, going_over


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_a_loop_from_its_beginning(f, at_once):
    args = CASES[f]()
    theirs, ours = copies(args), copies(args)
    expected, got = f(*theirs), plait.jit(f)(*ours)
    same(expected, got)
    same(tuple(theirs), tuple(ours))


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_a_loop_in_quick_code_an_iteration_at_a_time(f, monkeypatch):
    monkeypatch.setattr(going_over, "WORTH", 0.0)
    monkeypatch.setattr(going_over, "PART", 0.0)
    monkeypatch.setattr(going_over, "MUCH", 1e9)
    monkeypatch.setattr(codes.Code, "ready", property(lambda code: code.usable and (code.procedure.compile(quick=True) or True)))
    args = CASES[f]()
    theirs, ours = copies(args), copies(args)
    same(f(*theirs), plait.jit(f)(*ours))
    same(tuple(theirs), tuple(ours))


def test_a_loop_goes_from_quick_code_into_that_of_full_effort(monkeypatch):
    for name, seconds in {"WORTH": 0.0, "PART": 0.0, "MUCH": 0.0}.items():
        monkeypatch.setattr(going_over, name, seconds)
    monkeypatch.setattr(codes.Code, "ready", property(lambda code: code.usable and (code.procedure.compile(quick=True) or True)))
    runs, run = [], codes.Code.run

    def watched(code, loop, values, variables, numbers):
        if len(runs) == 2:
            code.procedure.compile()
        runs.append((code.procedure.optimised, len(numbers)))
        return run(code, loop, values, variables, numbers)

    monkeypatch.setattr(codes.Code, "run", watched)

    def total(x, n):
        s, last = np.float64(0), 0  # of the types that they have later: such a loop may be left between any two iterations
        for i in range(n):
            s = s * 0.5 + x[i % 7]
            last = i
        return s, last

    x = np.arange(7) * 3.7
    same(total(x, 10**5 + 3), plait.jit(total)(x, 10**5 + 3))
    assert runs[-1][0] and sum(n for _, n in runs) in (10**5 + 3, 10**5 + 2) and len(runs) <= 4


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_a_loop_from_any_iteration(f, from_look):
    for start in range(2, 7):
        from_look(start)
        args = CASES[f]()
        theirs, ours = copies(args), copies(args)
        same(f(*theirs), plait.jit(f)(*ours))
        same(tuple(theirs), tuple(ours))


def outside(x, n):
    for i in range(n):
        x[i] = x[i] + 1
    return x


def by_zero(x, n):
    y = 0
    for i in range(len(x)):
        x[i] += 1
        y += 10 // (n - i)
    return y


def by_zero_float(x):
    for i in range(len(x)):
        x[i] = 1.0 / float(x[i])
    return x


def no_root(x):
    for i in range(len(x)):
        x[i] = math.sqrt(x[i]) + math.log(x[i])
    return x


def unbound(n, m):
    for i in range(n):
        for j in range(i - 3):
            k = j
        if i == m:
            m = k
    return m


def unequal(a, b):
    for i in range(len(a)):
        a[i] = b[: i + 1] @ b[: min(i + 1, 3)]
    return a


def unequal_dot(a, b):
    for i in range(len(a)):
        a[i] = np.dot(b[: i + 1], b[: min(i + 1, 3)])
    return a


def unequal_assigned(a, b):
    for i in range(len(a)):
        a[i:] = b[3:]
    return a


def unequal_added(a, b):
    for i in range(len(a)):
        a[i:] += b[3:]
    return a


def of_another_kind(a, b):
    for i in range(len(a)):
        a[i] ^= 2 if i == 5 else True
        b[i, :2] ^= i
    return a, b


def power_of_zero(x):
    for i in range(5):
        x[i] = (float(x[i]) - 2.0) ** (1 - i)
    return x


def indices_first(a, k):
    for i in range(3):
        a[i + 9, 3 // k] = i


def truncated(a):
    for i in range(len(a)):
        a[i] = math.trunc(a[i])
    return a


ERRORS = {
    outside: (np.arange(5.0), 7), by_zero: (np.zeros(6), 3), by_zero_float: (np.array([2.0, 4.0, 0.0, 5.0]),), no_root: (np.array([4.0, 1.0, -1.0, 2.0]),),
    unbound: (5, 2), unequal: (np.zeros(6), np.ones(6)),
    unequal_assigned: (np.zeros(6), np.ones(6)), unequal_added: (np.zeros(6), np.ones(6)), unequal_dot: (np.zeros(6), np.ones(6)), truncated: (np.ones(3, np.float32),),
    indices_first: (np.zeros((3, 3)), 0), power_of_zero: (np.arange(4.0, -1.0, -1.0),), of_another_kind: (np.zeros(6, bool), np.zeros((6, 2), bool)),
}  # fmt: skip


@pytest.mark.parametrize("f", ERRORS, ids=lambda f: f.__name__)
def test_errors_are_pythons_and_so_are_the_arrays_then(f, at_once):
    theirs, ours = copies(ERRORS[f]), copies(ERRORS[f])
    with pytest.raises(Exception) as expected:
        f(*theirs)
    with pytest.raises(expected.type) as got:
        plait.jit(f)(*ours)
    assert str(got.value) == str(expected.value)
    same(tuple(theirs), tuple(ours))


def test_an_int_that_outgrows_64_bits(at_once):
    def factorial(n):
        f = 1
        for i in range(1, n + 1):
            f *= i
        return f

    for n in (20, 21, 30, 200):
        assert plait.jit(factorial)(n) == math.factorial(n)


@pytest.mark.parametrize("operation", ["x[i] / y[i]", "x[i] // y[i]", "x[i] % y[i]"])
def test_what_numpy_warns_of(operation, at_once):
    source = f"def f(x, y):\n    for i in range(len(x)):\n        x[i] = {operation}\n"
    linecache.cache[operation] = len(source), None, source.splitlines(True), operation
    scope = {"np": np}
    exec(compile(source, operation, "exec"), scope)
    odd = [0.0, 1.5, -2.0, math.inf, -math.inf, math.nan]

    def heard(f, a, b):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            f(np.array([a]), np.array([b]))
        return {str(w.message) for w in found}

    ours = plait.jit(scope["f"])
    for a in odd:
        for b in odd:
            assert heard(ours, a, b) == heard(scope["f"], a, b), (a, b)


def test_an_int_that_a_float_does_not_hold(at_once):
    def mixed(n):
        k = 0
        for i in range(n):
            k = 2**62 + 1 if i == 3 else i * 0.5
        return k

    assert plait.jit(mixed)(4) == 2**62 + 1
    assert plait.jit(mixed)(3) == 1.0


def test_the_least_int_by_minus_one(at_once):
    def quotient(n, by):
        for i in range(3):
            by = n // by
        return by

    assert plait.jit(quotient)(-(2**63), -1) == quotient(-(2**63), -1)


def test_ranges_beyond_64_bits_stay_pythons(at_once):
    def counted(start, stop, step):
        k = 0
        for i in range(start, stop, step):
            k += 1
            if k == 5:
                break
        return i, k

    for numbers in [(0, 2**63, 3), (-(2**63), 2**63 - 1, 1), (2**70, 2**71, 2**69), (-(2**63), 2**63 - 1, 2**62)]:
        assert plait.jit(counted)(*numbers) == counted(*numbers)


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_a_loop_inside_goes_over_before_the_one_around_it(f, monkeypatch):
    for name, seconds in {"WORTH": 1e-9, "LONG": 0.0, "LEAST": 0.0}.items():
        monkeypatch.setattr(going_over, name, seconds)
    ready = lambda code: code.usable and (code.procedure.compile() or True)  # noqa: E731
    monkeypatch.setattr(codes.Code, "ready", property(ready))
    args = CASES[f]()
    theirs, ours = copies(args), copies(args)
    jitted = plait.jit(f)
    same(f(*theirs), jitted(*ours))
    same(tuple(theirs), tuple(ours))


def test_a_loop_that_is_soon_over_is_not_compiled(monkeypatch):
    monkeypatch.setattr(going_over, "WORTH", 1e9)

    def total(n):
        s = 0
        for i in range(n):
            s += i
        return s

    f = plait.jit(total)
    assert f(1000) == 499500
    assert "not taken long enough" in str(plait.explain(f, 1000))


def test_an_int_beyond_64_bits_stays_pythons(from_look):
    def powers(n):
        f = 1
        for i in range(n):
            f *= 7
        return f

    from_look(41)
    assert plait.jit(powers)(60) == 7**60
