"""Functions inside a function that its compiled loops call: they read the function's variables as these are at the call."""

import numpy as np
import pytest
from loop_cases import same

import plait
from plait._jit import loops_of

N = 40


def an_accumulator(n):
    q = s = 0

    def add(v):
        return v + q

    for i in range(n):
        q += 1
        s += add(i)
    return s, q


def the_counter(n):
    s = 0

    def add(v):
        return v * i

    for i in range(n):
        s += add(i)
    return s


def one_that_comes_later(n):
    out, q = np.zeros(n), 5.0

    def scaled(v):
        return v * q

    for i in range(n):
        out[i] = scaled(i)
        q = i + 0.5
    return out


def under_a_condition(n):
    acc, k = 0.0, 0

    def twice():
        return acc * 0.5 + k

    while k < n:
        k += 1
        if k % 3:
            acc += twice()
        else:
            acc -= 1
    return acc, k


def a_function_that_a_function_calls(n):
    q = s = 0

    def add(v):
        return v + q

    def more(v):
        return add(v) + q

    for i in range(n):
        q += i
        s += more(i)
    return s


def a_type_that_changes(n):
    q, s = 0, 0.0

    def half():
        return q / 2

    for i in range(n):
        s += half()
        q = np.float32(i) if i % 2 else i
    return s


def a_row(n):
    a, s = np.arange(float(4 * n)).reshape(n, 4), 0.0
    row = a[0]

    def first():
        return row[1]

    for i in range(n):
        row = a[i]
        s += first()
    return s


def inner_loops(n):
    s = 0

    def place():
        return i * n + j

    for i in range(n):
        for j in range(i):
            s += place()
    return s


def of_its_arguments_alone(n):
    s = 0

    def square(v):
        return v * v

    for i in range(n):
        s += square(i)
    return s


FUNCTIONS = [an_accumulator, the_counter, one_that_comes_later, under_a_condition, a_function_that_a_function_calls, a_type_that_changes, a_row, inner_loops, of_its_arguments_alone]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_free_variables_are_those_of_the_call(f, at_once):
    g, want = plait.jit(f), f(N)
    for _ in range(3):
        same(want, g(N))
    codes = [code for loop in loops_of(g)[:1] for code in loop.codes.values()]
    assert len(codes) == 1  # though each call makes other functions
    assert codes[0].usable or f is a_row


def test_a_function_of_an_earlier_call_reads_that_calls_variables(at_once):
    kept = []

    def calls(n):
        q = s = 0

        def add(v):
            return v + q

        kept.append(add)
        used = kept[0]
        for i in range(n):
            q += 1
            s += used(i)
        return s

    g = plait.jit(calls)
    results = [g(N) for _ in range(3)]
    kept.clear()
    assert results == [calls(N) for _ in range(3)]


def test_handed_over_in_the_middle(monkeypatch):
    """Quick code first, some iterations at a time."""
    from plait._python_loops import codes, going_over

    monkeypatch.setattr(going_over, "WORTH", 0.0)
    monkeypatch.setattr(going_over, "PART", 0.0)
    monkeypatch.setattr(codes.Code, "ready", property(lambda code: code.usable and (code.procedure.compile(quick=True) or True)))
    for f in FUNCTIONS:
        same(f(N), plait.jit(f)(N))


def test_arrays_beside_functions_that_call_others(at_once):
    def loops(a, n):
        def inner(v):
            return v * 2

        def outer(v):
            return inner(v) + 1

        s = 0.0
        for i in range(n):
            s += outer(a[i]) + a.sum()
        return s

    a = np.arange(5.0)
    f = plait.jit(loops)
    for n in (5, 0, 5):
        same(loops(a, n), f(a, n))
