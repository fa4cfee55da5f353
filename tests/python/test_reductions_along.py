"""Full reductions that followed at a call site come along with the first: NumPy's values whatever happens in between."""

import threading
import types
import warnings

import numpy
import pytest

import plait
from plait import _plait

N = 200_000


def data(dtype="f8", seed=0):
    return numpy.random.default_rng(seed).normal(size=N).astype(dtype)


def given_by(run):
    """How many values of earlier passes `run` was given."""
    before = _plait.reductions_along()[1]
    run()
    return _plait.reductions_along()[1] - before


def scale(x):
    return (x - x.min()) / (x.max() - x.min())


def standardise(x):
    return (x - x.mean()) / x.std()


def describe(x):
    return x.mean(), x.std(), x.max(), x.sum(), x.var()


def np_of(x):
    return numpy if type(x) is numpy.ndarray else plait


def scale_by_functions(x):
    np = np_of(x)
    return (x - np.min(x)) / (np.max(x) - np.amin(x))


def standardise_by_functions(x):
    np = np_of(x)
    return (x - np.mean(x)) / np.std(x)


def describe_by_both(x):
    np = np_of(x)
    return np.mean(x), x.std(), np.max(x), np.sum(x), np.var(x, ddof=0), np.min(x)


FUNCTIONS = [(scale_by_functions, 2), (standardise_by_functions, 1), (describe_by_both, 5)]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("program, followers", [(scale, 2), (standardise, 1), (describe, 4), *FUNCTIONS])
def test_followers_come_along_once_they_have_followed_twice(program, followers, dtype):
    own = types.FunctionType(program.__code__.replace(), globals())  # call sites that nothing is known of
    given = []
    for i in range(6):
        a = data(dtype, i)
        x, want, seen = plait.asarray(a), program(a), []
        given.append(given_by(lambda: seen.append(own(x))))
        several = isinstance(want, tuple)
        for p, q in zip(seen[0] if several else seen, want if several else (want,)):
            numpy.testing.assert_array_equal(numpy.asarray(p), q)
            assert not several or type(p) is type(q)
    assert given[:2] == [0, 0] and given[-2:] == [followers] * 2


@pytest.mark.parametrize("program, followers", [(scale, 2), (standardise, 1), (standardise_by_functions, 1)])
def test_a_loop_over_one_array_that_others_have_read(program, followers):
    """Whoever asked first of contents that stay need not come again: the rounds of a loop are sequences of their own."""
    own = types.FunctionType(program.__code__.replace(), globals())
    a = data()
    x, want = plait.asarray(a), program(a)
    x.sum(), x.max()
    given = []
    for _ in range(40):  # the interpreter rewrites the code of what comes often
        given.append(given_by(lambda: numpy.testing.assert_array_equal(numpy.asarray(own(x)), want)))
    assert given[-5:] == [followers] * 5


def write_element(x, i):
    x[i] = 100.0 + i


def write_slice(x, i):
    x[10:20] = 100.0 + i


def write_view(x, i):
    x[::2][3:5] += 100.0 + i


def write_all(x, i):
    x *= 1.5


def write_out(x, i):
    (numpy if isinstance(x, numpy.ndarray) else plait).add(x, 1.0, out=x)


def write_mask(x, i):
    x[x > 2] = 50.0 + i


def write_export(x, i):
    with memoryview(x) as m:
        m[7] = 300.0 + i


def write_fallback(x, i):
    numpy.put(x, [5], [200.0 + i])


def write_fill(x, i):
    x.fill(i)


WRITES = [write_element, write_slice, write_view, write_all, write_out, write_mask, write_export, write_fallback, write_fill]


@pytest.mark.parametrize("write", WRITES)
def test_a_write_in_between_is_seen(write):
    def program(x, i, between):
        low = x.min()
        if between:
            write(x, i)
        return float(low), float(x.max()), float(x.mean())

    for i in range(8):
        a = data(seed=i)
        x = plait.asarray(a)
        assert program(x, i, i > 3) == program(a, i, i > 3)


def test_an_export_that_lives_keeps_values_from_coming_along():
    def program(x, m, i):
        low = x.min()
        m[3] = 40.0 + i
        return float(low), float(x.max())

    a = data()
    x = plait.asarray(a)
    theirs, ours = memoryview(a), memoryview(x)
    for i in range(6):
        assert program(x, ours, i) == program(a, theirs, i)


def test_views_of_one_array_are_apart():
    def program(x):
        y = x[: N // 2]
        return float(x.min()), float(y.max()), float(x.max()), float(y.min()), float(x[::-1].mean())

    for i in range(6):
        a = data(seed=i)
        assert program(plait.asarray(a)) == program(a)


def test_memory_that_is_used_again_is_another_array():
    def program(np, i):
        x = np.full((N,), float(i))
        low = x.min()
        del x
        y = np.full((N,), float(i + 100))
        return float(low), float(y.max()), float(y.min())

    for i in range(8):
        assert program(plait, i) == program(numpy, i)


@pytest.mark.parametrize("value", [numpy.nan, numpy.inf, 1e200, 1e308])
def test_warnings_are_those_of_each_call(value):
    def rounds(np):
        said = []
        for i in range(7):
            a = data(seed=i)
            if i > 3:
                a[5:8] = value
                a[9] = -value
            x = np.asarray(a)
            np.asarray(x[:5] + 1)
            with warnings.catch_warnings(record=True) as w:
                warnings.simplefilter("always")
                inside = x.mean(), x.std(), x.max()
            got = x.mean(), x.std(), x.max()
            said.append(([str(m.message) for m in w], [repr(float(v)) for v in (*inside, *got)]))
        return said

    with numpy.errstate(all="warn"), plait.errstate(all="warn"):
        warnings.simplefilter("ignore")
        assert rounds(plait) == rounds(numpy)


def test_errstate_raise_raises_at_the_call():
    def program(np, x):
        low = x.max()
        with np.errstate(over="raise"):
            return float(low), float(x.std())

    for i in range(6):
        a = data(seed=i)
        a[0] = 1e200 if i == 5 else 1.0
        x = plait.asarray(a)
        if i == 5:
            with pytest.raises(FloatingPointError):
                program(plait, x)
        else:
            assert program(plait, x) == program(numpy, a)


def test_other_arguments_are_computed():
    """What follows is the plain call; one with other arguments is not given its value."""

    def program(np, x):
        return np.mean(x), np.std(x, ddof=1), np.max(x, keepdims=True), np.min(x, initial=-50), np.std(x), np.max(x), np.sum(x), np.min(x)

    for i in range(6):
        a = data(seed=i)
        x = plait.asarray(a)
        for got, want in zip(program(plait, x), program(numpy, a)):
            numpy.testing.assert_array_equal(numpy.asarray(got), want)


def test_what_no_longer_follows_is_not_computed():
    def program(x, more):
        low = x.min()
        return (low, x.max()) if more else (low, None)

    for i in range(5):
        program(plait.asarray(data(seed=i)), True)
    for i in range(4):
        program(plait.asarray(data(seed=i)), False)
    passes = _plait.reductions_along()[0]
    for i in range(4):
        program(plait.asarray(data(seed=i)), False)
    assert _plait.reductions_along()[0] == passes


def test_threads_share_nothing_that_is_wrong():
    arrays = [data(seed=i) for i in range(4)]
    want = [describe(a) for a in arrays]
    wrong = []

    def work(k):
        x = plait.asarray(arrays[k])
        for _ in range(30):
            if [float(v) for v in describe(x)] != [float(v) for v in want[k]]:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize("lend", [lambda np, m: np.frombuffer(m), lambda np, m: plait.borrow(numpy.frombuffer(m)), lambda np, m: plait.from_dlpack(numpy.frombuffer(m))])
def test_memory_of_others_is_read_again(lend):
    for i in range(6):
        memory = bytearray(data(seed=i).tobytes())
        x = lend(plait, memory)
        low = x.min()
        memory[:8] = numpy.float64(1000.0 + i).tobytes()
        assert float(x.max()) == 1000.0 + i and low < 0
