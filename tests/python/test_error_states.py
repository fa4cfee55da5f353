"""NumPy's error state counts where a call begins and where one is recorded, whoever set it."""

import asyncio
import functools
import threading
import warnings

import numpy
import plait
import pytest

SIZES = 5, 100_000


def outcome(call):
    """What a call does of errors: the exception, or the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            numpy.asarray(call())
        except FloatingPointError as e:
            return str(e)
    return sorted({str(w.message) for w in caught if w.category is RuntimeWarning and " encountered in " in str(w.message)})


def inverse(x):
    return numpy.sqrt(x) + 1 / x


def by_loop(x):
    for i in range(len(x)):
        x[i] = 1 / x[i]
    return x


def within(x):
    with numpy.errstate(all="ignore"):
        y = numpy.sqrt(x)
    return y + 1 / x


def as_decorator(x):
    return numpy.errstate(divide="ignore")(lambda v: 1 / v)(x)


@pytest.mark.parametrize("function", [inverse, by_loop, within, as_decorator])
@pytest.mark.parametrize("n", [5, 3000])
@pytest.mark.parametrize("replay", [False, True])
def test_jitted(function, n, replay):
    jitted = plait.jit(function, replay=replay)
    for state in ({}, {"invalid": "raise"}, {"divide": "raise"}, {"all": "ignore"}, {"invalid": "ignore"}) * 3:
        x = numpy.linspace(-1, 1, n)
        x[n // 2] = 0
        with numpy.errstate(**state):
            assert outcome(lambda: jitted(x.copy())) == outcome(lambda: function(x.copy())), state


@pytest.mark.parametrize("n", SIZES)
def test_recorded_under_numpys_state(n):
    x = plait.zeros(n)
    with numpy.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
        1 / x
    with numpy.errstate(all="ignore"):
        y = 1 / x  # pending, where it is long
    assert outcome(lambda: y) == []
    assert outcome(lambda: 1 / x) == ["divide by zero encountered in divide"]


def test_numpys_functions_are_plaits():
    assert plait.errstate is numpy.errstate
    before = plait.seterr(divide="raise")
    try:
        assert numpy.geterr() == plait.geterr() and numpy.geterr()["divide"] == "raise"
        with pytest.raises(FloatingPointError):
            1 / plait.zeros(3)
        numpy.seterr(**before)
        assert outcome(lambda: 1 / plait.zeros(3)) == ["divide by zero encountered in divide"]
    finally:
        numpy.seterr(**before)


def test_state_around_caught_warnings_ends():
    x = plait.zeros(3)
    with numpy.errstate(divide="raise"), warnings.catch_warnings():
        pass
    assert outcome(lambda: 1 / x) == ["divide by zero encountered in divide"]


@pytest.mark.parametrize("n", SIZES)
def test_called_and_logged(n):
    seen = []
    with numpy.errstate(divide="call", call=lambda kind, flag: seen.append((kind, flag))):
        1 / plait.zeros(n)
    assert seen == [("divide by zero", 1)]


def test_each_thread_has_its_own():
    x, found, ready = plait.zeros(3), [], threading.Event()

    def other():
        found.append(outcome(lambda: 1 / x))
        with numpy.errstate(divide="ignore"):
            found.append(outcome(lambda: 1 / x))
            ready.set()

    with numpy.errstate(divide="raise"):
        thread = threading.Thread(target=other)
        thread.start()
        assert ready.wait(60)
        assert outcome(lambda: 1 / x) == "divide by zero encountered in divide"
        thread.join()
    assert found == [["divide by zero encountered in divide"], []]


def test_each_task_has_its_own():
    x = plait.zeros(3)

    async def task(state):
        with numpy.errstate(divide=state):
            await asyncio.sleep(0)
            return outcome(lambda: 1 / x)

    async def both():
        return await asyncio.gather(task("raise"), task("ignore"))

    assert asyncio.run(both()) == ["divide by zero encountered in divide", []]


def test_caught_in_all_threads():
    """Filters are the process's: what a thread computes inside catch_warnings is computed there."""
    x, caught = plait.zeros(100_000), []
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        thread = threading.Thread(target=lambda: caught.append(1 / x))
        thread.start()
        thread.join()
        texts = [str(w.message) for w in seen]
    assert texts == ["divide by zero encountered in divide"]


CALLS = [
    "divmod(x, 0)", "np.divmod(x, 0)", "divmod(5, x)", "np.divmod(x, x[::-1])", "x ** -1.0", "(x * 1.0) ** -1", "(x * 1e200) ** 2.0", "(x * 1e200) ** 2", "x ** 0.5",
    "np.mean(x[:0])", "x[:0].var()", "x.var(ddof=9)", "x[:0].mean(keepdims=True)",
]  # fmt: skip


def computed(call, names):
    made = eval(call, names)
    for v in made if type(made) is tuple else (made,):
        numpy.asarray(v)
    return 0


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("n", [6, 60_000])
@pytest.mark.parametrize("code", ["f4", "f8", "i8"])
def test_warnings_name_what_numpy_names(call, n, code):
    said = []
    for np in numpy, plait:
        x = np.tile(np.array([0, 1, -1, 3, 0, 2]).astype(code), n // 6)
        said.append(outcome(functools.partial(computed, call, {"np": np, "x": x})))
    assert said[0] == said[1]


def test_divmod_warns_once_and_raises_by_its_name():
    for np in numpy, plait:
        x = np.array([0.0, 1.0])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            divmod(x, 0)
        assert sorted(str(w.message) for w in caught) == ["divide by zero encountered in divmod", "invalid value encountered in divmod"]
        with numpy.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero encountered in divmod"):
            divmod(np.array([3]), 0)
