"""Loops that gain nothing under plait.jit sleep: their functions run as they were written, until a call of another kind wakes them."""

import numpy as np
import pytest

import plait
from plait import _plait
from plait._jit import _jitted, loops_of
from plait._python_loops import running

FACTOR = 3


def popped(values):
    stack, out = [], []
    for v in values:
        while stack and stack[-1] > v:
            stack.pop()
        out.append(stack[-1] if stack else None)
        stack.append(v)
    return out


def primes(n):
    found = []
    for k in range(2, n):
        for d in range(2, int(k**0.5) + 1):
            if k % d == 0:
                break
        else:
            found.append(k)
    return found


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def scaled(x, n):
    for i in range(n):
        x[i] = x[i] * 2 + i
    return x


def looks_up(n):
    return sum([FACTOR * i for i in [n, n + 1]])


def queens(n, row, taken):
    if row == n:
        return 1
    count = 0
    for c in range(n):
        if all(c != t and abs(c - t) != row - r for r, t in enumerate(taken)):
            taken.append(c)
            count += queens(n, row + 1, taken)
            taken.pop()
    return count


def untouched(f):
    found = _jitted(f).untouched
    return found is not None and found.holds()


@pytest.fixture
def short(monkeypatch):
    """All rounds of loops count as short ones."""
    monkeypatch.setattr(running, "LEAST", 10.0)


@pytest.fixture
def fresh():
    """Loops of this module's functions are as they are at first."""
    from plait import _swap

    for key in [k for k, scope in _swap._scopes.items() if scope.module_globals is globals()]:
        del _swap._scopes[key]


@pytest.mark.parametrize("f, args", [(popped, ([3, 1, 2] * 40,)), (primes, (300,)), (queens, (5, 0, []))], ids=["stack", "primes", "queens"])
def test_what_gains_nothing_runs_as_it_was_written(f, args, fresh, short):
    jitted = plait.jit(f)
    expected = f(*args)
    for _ in range(12):
        assert jitted(*args) == expected
    assert untouched(jitted)
    assert all(loop.sleeps or loop.waits or not loop.calls for loop in loops_of(jitted))
    before = [loop.calls for loop in loops_of(jitted)]
    assert jitted(*args) == expected and [loop.calls for loop in loops_of(jitted)] == before


def test_a_function_without_loops_and_names_of_numpys_runs_as_it_was_written(fresh):
    f = plait.jit(fib)
    assert f(10) == 55 and f(11) == 89
    assert untouched(f)


def test_what_numpy_is_named_in_does_not(fresh):
    def mean(n):
        return np.mean([n, n + 1])

    f = plait.jit(mean)
    for _ in range(12):
        assert f(3) == 3.5
    assert not untouched(f)


def test_loops_that_sleep_are_not_in_the_code_that_runs(fresh, short):
    f = plait.jit(popped)
    f([2, 1, 3] * 5)
    made = _jitted(f).target.function
    asking = made.__code__
    for _ in range(12):
        f([2, 1, 3] * 5)
    assert made.__code__ is not asking and len(made.__code__.co_code) < len(asking.co_code)
    assert made.__code__.co_freevars == asking.co_freevars
    assert made([2, 1, 3]) == popped([2, 1, 3])


def test_a_loop_that_cannot_be_compiled_sleeps_when_the_call_ends(fresh, monkeypatch):
    monkeypatch.setattr(running, "WORTH", 1e-9)
    monkeypatch.setattr(running, "LEAST", 0.0)
    f = plait.jit(popped)
    assert f([2, 1, 3] * 5) == popped([2, 1, 3] * 5)
    (loop,) = loops_of(f)
    assert loop.codes and not any(code.usable for code in loop.codes.values())
    assert loop.sleeps and f([2, 1, 3] * 5) == popped([2, 1, 3] * 5) and untouched(f)


def test_arguments_of_another_kind_wake_it(fresh, short, monkeypatch):
    f = plait.jit(scaled)
    for _ in range(12):
        assert f([1, 2, 3], 3) == [2, 5, 8]
    assert untouched(f)
    monkeypatch.setattr(running, "WORTH", 0.0)
    monkeypatch.setattr(running.Code, "ready", property(lambda code: code.usable and (code.procedure.compile() or True)))
    assert f(np.array([1, 2, 3]), 3).tolist() == [2, 5, 8]
    (loop,) = loops_of(f)
    assert not loop.sleeps and any(code.runs for code in loop.codes.values())
    assert f([1, 2, 3], 3) == [2, 5, 8]


def test_larger_arguments_wake_it(fresh, monkeypatch):
    def total(n):
        s = 0
        for i in range(n):
            s += i % 7
        return s

    f = plait.jit(total)
    with monkeypatch.context() as patched:
        patched.setattr(running, "LEAST", 10.0)
        for _ in range(24):
            assert f(5) == 10
    (loop,) = loops_of(f)
    assert loop.sleeps and untouched(f)
    asked = loop.calls
    assert f(100_000) == total(100_000)
    assert loop.calls > asked and not loop.sleeps
    f(300_000)
    assert loop.codes


def test_a_far_longer_call_and_ever_fewer_calls_wake_it(fresh, short):
    from plait._python_loops import versions

    f = plait.jit(popped)
    for _ in range(12):
        f([2, 1, 3])
    calls, loop = _jitted(f).target.calls, loops_of(f)[0]
    assert loop.sleeps
    calls.end((calls.begin(([2, 1, 3],))[0] - 1e3, None))
    assert not loop.sleeps
    for _ in range(12):
        f([2, 1, 3])
    assert loop.sleeps
    for _ in range(versions.CALLS):
        calls.end(calls.begin(([2, 1, 3],)))
    assert not loop.sleeps and calls.next == 2 * versions.CALLS


def test_a_loop_inside_that_grows_wakes_within_the_call(fresh):
    def grows(lengths):
        total = 0
        for n in lengths:
            for i in range(n):
                total += i & 3
        return total

    f = plait.jit(grows)
    lengths = [2] * 150 + [20_000] * 200
    assert f(lengths) == grows(lengths)
    (loop,) = loops_of(f)
    assert loop.codes and not loop.sleeps


def test_names_that_come_to_stand_for_something_else(fresh, monkeypatch):
    f = plait.jit(looks_up)
    assert [f(2), f(2)] == [15, 15] and untouched(f)
    monkeypatch.setitem(globals(), "FACTOR", 5)
    assert f(2) == 25 and untouched(f)
    monkeypatch.setitem(globals(), "FACTOR", np.float64)
    assert not untouched(f)
    monkeypatch.setitem(globals(), "FACTOR", 2)
    monkeypatch.setitem(globals(), "sum", np.sum)
    assert f(2) == 10 and not untouched(f)


def test_arrays_are_still_borrowed_where_lists_sleep(fresh):
    def doubled(x):
        return x + x

    f = plait.jit(doubled)
    assert f([1]) == [1, 1] and f([1]) == [1, 1] and untouched(f)
    x = np.arange(3.0)
    made = f(x)
    assert type(made) is np.ndarray and made.tolist() == [0, 2, 4]


def test_a_list_that_comes_back_is_the_same():
    same = plait.jit(lambda x: x)
    for x in ([1, 2], (1, "a"), {"a": [1]}, [], {1, 2}):
        assert same(x) is x


def test_whether_all_inside_is_of_some_classes():
    only = lambda x: _plait.holds_only(x, {int, str})  # noqa: E731
    assert all(map(only, (1, "a", [], (), {}, [1, "a", (2, [3])], {1.5: "keys are not asked", "b": {"c": [1]}})))
    assert not any(map(only, (1.5, None, [1, 2.5], [[1], [None]], {"a": {"b": 2.5}}, True)))
    circle = [1]
    circle.append(circle)
    assert not only(circle)
    with pytest.raises(TypeError):
        _plait.holds_only(1, [int])
