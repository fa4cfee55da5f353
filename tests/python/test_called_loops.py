"""numpy.frompyfunc and numpy.apply_along_axis of functions with loops: one loop in machine code, which gives what NumPy's calls give."""

import pickle

import numpy
import pytest
from loop_cases import collatz_steps

import plait
from plait import _called
from plait._python_loops import each


def power(x, n):
    r = 1
    for _ in range(n):
        r = r * x
    return r


def either(x):
    return x if x % 2 else x / 2


def failing(n):
    t = 0
    for k in range(5):
        t += 10 // (n - 7)
    return t


def spread(x):
    low = high = x[0]
    for v in x:
        if v < low:
            low = v
        if v > high:
            high = v
    return high - low


def crossings(x):
    n = 0
    for i in range(1, len(x)):
        if (x[i] > 0) != (x[i - 1] > 0):
            n += 1
    return n


def sorts(x):
    x = x.copy()
    for i in range(len(x)):
        x[i] += 1
    return x


def writes(x):
    for i in range(len(x)):
        x[i] = 0
    return x[0]


@pytest.fixture
def ran(monkeypatch):
    """How many calls ran as one loop; any number is worth one."""
    count = [0]

    def counting(name):
        made = getattr(each, name)

        def calling(*args):
            result = made(*args)
            count[0] += 1
            return result

        monkeypatch.setattr(each, name, calling)

    counting("elements")
    counting("of_lines")
    monkeypatch.setattr(_called, "WORTH", 0.0)
    return count


def outcome(f, *args):
    try:
        x = numpy.asarray(f(*args))
    except Exception as e:
        return type(e).__name__, str(e)
    return x.dtype, x.shape, [(type(v), repr(v)) for v in x.ravel().tolist()] if x.dtype == object else x.tobytes()


A = numpy.arange(1, 61)


@pytest.mark.parametrize(
    "f, nin, args, runs",
    [
        (collatz_steps, 1, (A,), 1), (collatz_steps, 1, (A.reshape(3, 4, 5),), 1), (collatz_steps, 1, (A.astype("u1"),), 1), (power, 2, (A.reshape(6, 10) % 5, 3), 1),
        (power, 2, (A[:5] / 7, A[:6, None] % 4), 1), (power, 2, (A.astype("f4")[:9], 2), 1), (either, 1, (A,), 1), (either, 1, (A.astype(float),), 1),
        (failing, 1, (A,), 0), (power, 2, (A * 1000, 9), 0), (collatz_steps, 1, (A.reshape(6, 10).T,), 0), (collatz_steps, 1, (9,), 0), (power, 2, (1j * A[:9], 2), 1),
        (collatz_steps, 1, (A[:0],), 0), (power, 2, (A[:3], A[:4]), 0),
    ],
)  # fmt: skip
def test_frompyfunc(f, nin, args, runs, ran):
    theirs, ours = numpy.frompyfunc(f, nin, 1), plait.frompyfunc(f, nin, 1)
    want = outcome(theirs, *args)
    assert outcome(ours, *args) == want
    assert outcome(ours, *(plait.asarray(x) if isinstance(x, numpy.ndarray) else x for x in args)) == want
    assert ran[0] == 2 * runs


def test_what_frompyfunc_made_is_a_ufunc(ran):
    f = plait.frompyfunc(power, 2, 1)
    assert isinstance(f, numpy.ufunc) and (f.nin, f.nout, f.__name__) == (2, 1, "power (vectorized)")
    assert f.outer([1, 2], [2, 3]).tolist() == [[1, 1], [4, 8]] and f(A, 2, dtype=object).tolist() == (A**2).tolist()
    assert repr(f) == repr(numpy.frompyfunc(power, 2, 1))
    assert type(plait.frompyfunc(divmod, 2, 2)) is numpy.ufunc
    with pytest.raises(Exception):
        pickle.dumps(f)


X = numpy.random.default_rng(5).normal(size=(6, 7, 8))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("f, runs", [(spread, 1), (crossings, 1), (sorts, 0)], ids=lambda f: getattr(f, "__name__", f))
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1"])
def test_apply_along_axis(f, runs, dtype, axis, ran):
    x = (X * 50 if dtype[0] != "f" else X).astype(dtype)
    if dtype == "u1":
        x = numpy.abs(X * 50).astype(dtype)
    assert outcome(plait.apply_along_axis, f, axis, plait.asarray(x)) == outcome(numpy.apply_along_axis, f, axis, x)
    assert ran[0] == runs


def test_lines_that_are_written_to(ran):
    x, y = X.copy(), plait.array(X)
    numpy.apply_along_axis(writes, 1, x), plait.apply_along_axis(writes, 1, y)
    assert x.tobytes() == numpy.asarray(y).tobytes() and not ran[0]


def test_under_jit(ran):
    def f(x):
        return np.apply_along_axis(spread, 0, x), np.frompyfunc(collatz_steps, 1, 1)(np.arange(1, 50))

    np = numpy
    f.__globals__["np"] = numpy
    want, got = f(X), plait.jit(f)(X)
    assert want[0].tobytes() == got[0].tobytes() and want[1].tolist() == got[1].tolist() and type(got[1]) is type(want[1])


def test_the_first_call_is_not_made_twice(ran):
    seen = []

    def f(n):
        seen.append(n)
        return n

    plait.frompyfunc(f, 1, 1)(A)
    assert seen == A.tolist()
