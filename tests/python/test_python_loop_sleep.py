"""Loops that gain nothing under plait.jit sleep: their functions run as they were written, until a call of another kind wakes them."""

import time

import numpy as np
import pytest

import plait
from plait import _plait
from plait._functions import jitted_of
from plait._jit import loops_of
from plait._python_loops import codes, going_over, lowering, rest
from plait._python_loops.by_element import ANY, axes_of

FACTOR = 3


def popped(values):
    stack, out = [], []
    for v in values:
        while stack and str(stack[-1]) > str(v):
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
            found.append(str(k))
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
        str(c)  # which no loop that is compiled does
        if all(c != t and abs(c - t) != row - r for r, t in enumerate(taken)):
            taken.append(c)
            count += queens(n, row + 1, taken)
            taken.pop()
    return count


def untouched(f):
    found = jitted_of(f).untouched
    return found is not None and found.holds()


def calls_until(done):
    """A dozen calls, or as many as it takes where the machine is busy with something else."""
    for n in range(500):
        if n >= 12 and done():
            return
        yield


@pytest.fixture
def short(monkeypatch):
    """All rounds of loops count as short ones, also those in which the machine did something else."""
    monkeypatch.setattr(going_over, "LEAST", 10.0)
    monkeypatch.setattr(going_over, "WORTH", 10.0)


@pytest.fixture
def fresh():
    """Loops of this module's functions are as they are at first."""
    from plait import _numpy_proxy

    for key in [k for k, scope in _numpy_proxy._scopes.items() if scope.module_globals is globals()]:
        del _numpy_proxy._scopes[key]


@pytest.mark.parametrize("f, args", [(popped, ([3, 1, 2] * 40,)), (primes, (300,)), (queens, (5, 0, []))], ids=["stack", "primes", "queens"])
def test_what_gains_nothing_runs_as_it_was_written(f, args, fresh, short):
    jitted = plait.jit(f)
    expected = f(*args)
    for _ in calls_until(lambda: untouched(jitted)):
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
    made = jitted_of(f).target.function
    asking = made.__code__
    for _ in calls_until(lambda: made.__code__ is not asking):
        f([2, 1, 3] * 5)
    assert made.__code__ is not asking and len(made.__code__.co_code) < len(asking.co_code)
    assert made.__code__.co_freevars == asking.co_freevars
    assert made([2, 1, 3]) == popped([2, 1, 3])


def test_a_loop_that_cannot_be_compiled_sleeps_when_the_call_ends(fresh, monkeypatch):
    monkeypatch.setattr(going_over, "WORTH", 1e-9)
    monkeypatch.setattr(going_over, "LEAST", 0.0)
    f = plait.jit(popped)
    assert f([2, 1, 3] * 5) == popped([2, 1, 3] * 5)
    assert len(loops_of(f)) == 2
    for loop in loops_of(f):
        assert loop.codes and not any(code.usable for code in loop.codes.values()) and loop.sleeps
    assert f([2, 1, 3] * 5) == popped([2, 1, 3] * 5) and untouched(f)


def test_arguments_of_another_kind_wake_it(fresh, short, monkeypatch):
    f = plait.jit(scaled)
    for _ in calls_until(lambda: untouched(f)):
        assert f([1, 2, 3], 3) == [2, 5, 8]
    assert untouched(f)
    monkeypatch.setattr(going_over, "WORTH", 0.0)
    monkeypatch.setattr(codes.Code, "ready", property(lambda code: code.usable and (code.procedure.compile() or True)))
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
        patched.setattr(going_over, "LEAST", 10.0)
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
    for _ in calls_until(lambda: loops_of(f)[0].sleeps):
        f([2, 1, 3])
    calls, loop = jitted_of(f).target.calls, loops_of(f)[0]
    assert loop.sleeps
    calls.end((calls.begin(([2, 1, 3],))[0] - 1e3, None))
    assert not loop.sleeps
    for _ in calls_until(lambda: loop.sleeps):
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
    assert any(loop.codes for loop in loops_of(f)) and not any(loop.sleeps for loop in loops_of(f))


def test_names_that_come_to_stand_for_something_else(fresh, short, monkeypatch):
    f = plait.jit(looks_up)
    assert {f(2) for _ in calls_until(lambda: untouched(f))} == {15} and untouched(f)
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


def weighted(a):
    s = 0.0
    for v in a:
        s += v * TABLE[2]
    return s


TABLE = [1.0, 2.0, 3.0]


def test_an_array_whose_elements_are_taken_one_by_one_is_numpys_own(fresh, short):
    f, a = plait.jit(weighted), np.arange(40.0)
    for _ in calls_until(lambda: untouched(f)):
        assert f(a) == weighted(a)
    found = jitted_of(f).untouched
    assert found.takes((a,), {}) and type(f(a)) is np.float64
    for other in (a.reshape(8, 5), a.astype(object), [a, a]):  # of which elements are no numbers
        assert not found.takes((other,), {})
        assert np.array_equal(f(other), weighted(other))


def each(a):
    for v in a:
        a[0] += v


def at(a, i):
    return a[i, 0] + a[i][1]


def sized(a, b):
    if b is None:
        return len(a) + a.shape[0]
    return b, a


def through(a):
    return sum(a) + max(x for x in a) + [*zip(a, range(3))][0][0]


def computed(a):
    return a * 2 + a[0]


def part(a, i):
    return a[1:][i]


def passed(a, f):
    return f(a)


def either(a):
    return a[0] + a[0, 0]


def by_list(a):
    return a[[0, 1]]


def asked(a):
    return a.sum() + a.T[0]


@pytest.mark.parametrize(
    "f, axes",
    [(each, [1]), (at, [2, None]), (sized, [ANY, ANY]), (through, [1]), (computed, [None]), (part, [None, None]), (passed, [None, None]),
     (either, [None]), (by_list, [None]), (asked, [None])],
    ids=lambda x: getattr(x, "__name__", ""),
)  # fmt: skip
def test_of_which_arrays_elements_alone_are_taken(f, axes):
    assert list(axes_of(f)) == axes


@plait.jit
def ways(n):
    if n < 0:
        raise ValueError(n)
    return 1 if n == 0 else ways(n - 1) + (ways(n - 2) if n > 1 else 0)


@plait.jit
def noted(n):
    noted.calls = getattr(noted, "calls", 0) + 1
    return n if n < 2 else noted(n - 1) + noted(n - 2)


def test_a_jitted_function_that_calls_itself(fresh):
    @plait.jit
    def inner(n, step=1):
        return 0 if n <= 0 else 1 + inner(n - step, step=step)

    for _ in range(3):
        assert ways(9) == 55 and inner(9) == 9 and inner(9, 2) == 5
        noted.calls = 0
        assert noted(6) == 8 and noted.calls == 25
    for f, name in ((ways, "ways"), (inner, "inner")):
        assert untouched(f)
        made = jitted_of(f).untouched.function
        assert made.__closure__[made.__code__.co_freevars.index(name)].cell_contents is made
    with pytest.raises(ValueError) as caught:
        ways(-1)
    assert [e.frame.code.name for e in caught.traceback][1:] == ["ways"]
    with pytest.raises(RecursionError):
        inner(10**6)


def test_a_name_that_stands_for_another_function_is_looked_up(fresh, monkeypatch):
    assert ways(4) == 5
    monkeypatch.setitem(globals(), "ways", lambda n: 100)
    assert _jitted_ways(4) == 200


_jitted_ways = ways


def summed(a, n):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * n
    return s + (summed(a, n - 1) if n > 1 else 0.0)


def test_loops_of_a_function_that_calls_itself_are_compiled(fresh):
    f, a = plait.jit(summed), np.arange(5000.0)
    for _ in range(3):
        assert f(a, 4) == summed(a, 4)
    (loop,) = loops_of(f)
    assert any(code.runs for code in loop.codes.values())


def test_what_machine_code_costs_is_counted_from_where_it_begins(fresh, monkeypatch, from_look):
    def grows(n):
        out = []
        for i in range(n):
            out.append(i)
        return out

    class Clock:
        perf_counter, now = staticmethod(time.perf_counter), 0

        @classmethod
        def thread_time(cls):
            cls.now += 1
            return cls.now

    def made(*args, lowered=lowering.lowered):
        Clock.now += 10**6
        return lowered(*args)

    monkeypatch.setattr(lowering, "lowered", made)  # it takes long to make the code, once
    from_look(3)
    monkeypatch.setattr(rest, "time", Clock)
    f = plait.jit(grows)
    assert f(30) == grows(30)
    (loop,) = loops_of(f)
    assert loop.by_python and sum(code.runs for code in loop.codes.values()) == 1
    assert 1 / 30 <= loop.cost < 2 / 20  # one look at the clock for what machine code did, of at least 20 iterations
