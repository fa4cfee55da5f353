"""Whose memory an array is made over: base, flags.owndata, resize(), and what NumPy reads through the protocols."""

import numpy
import pytest
from support import outcome

import plait


def both(program):
    ours, theirs = program(plait), program(numpy)
    assert ours == theirs
    return theirs


BASES = {
    "view of a dtype": lambda np, a: a.view("i8"),
    "view of a dtype of a view": lambda np, a: a[1:].view("i8"),
    "frombuffer": lambda np, a: np.frombuffer(bytearray(24)),
    "frombuffer, bytes": lambda np, a: np.frombuffer(bytes(24)),
    "a view of it": lambda np, a: np.frombuffer(bytearray(24))[1:],
    "the constructor": lambda np, a: np.ndarray((3,), float, bytearray(24)),
    "field": lambda np, a: np.zeros(2, [("x", "i4"), ("y", "f8")])["x"],
    "strings": lambda np, a: np.array(["a", "b"])[1:],
    "slice": lambda np, a: a[1:],
    "own": lambda np, a: a + 1,
    "copy": lambda np, a: a[1:].copy(),
}


@pytest.mark.parametrize("make", BASES.values(), ids=BASES)
def test_base_and_owndata(make):
    def program(np):
        a = np.arange(6.0)
        x = make(np, a)
        whose = "its own" if x.base is None else "a" if x.base is a else type(x.base).__name__
        return whose, x.flags.owndata, x.flags.writeable, outcome(lambda: setattr(x.flags, "writeable", True))

    both(program)


@pytest.mark.parametrize("make", BASES.values(), ids=BASES)
def test_resize_of_memory_of_others(make):
    def program(np):
        x = make(np, np.arange(6.0))
        error = outcome(lambda: x.resize(17, refcheck=False))
        return error if x.base is not None else x.shape

    both(program)


def test_resize_refuses_while_others_refer_to_the_array():
    def program(np):
        a, b, c = np.arange(4.0), np.arange(4.0), np.arange(4.0)
        view, second = a[1:], b
        texts = [outcome(lambda: a.resize(2)), outcome(lambda: b.resize((2, 3))), outcome(lambda: b.resize(2, refcheck=True))]
        b.resize(2, refcheck=False)
        c.resize(4, 1)  # no new memory
        return texts, view.tolist(), second.tolist(), c.tolist()

    both(program)
    a = plait.arange(4.0)
    a.resize(2)
    assert a.tolist() == [0, 1]


def test_resize_to_as_many_elements_keeps_the_memory():
    def program(np):
        a = np.arange(6.0)
        view = a[:]
        view.resize(2, 3)
        view[0, 0] = 7
        return a.tolist(), view.shape

    both(program)


@pytest.mark.parametrize("make", [
    lambda np: np.array(["a", "bb"], dtype=numpy.dtypes.StringDType()),
    lambda np: np.array([b"abc", b"de"], dtype="V5"),
    lambda np: np.array([(1, 2.5, "x"), (3, 4.5, "y")], dtype=[("a", "i4"), ("b", "f8"), ("c", "U3")]),
    lambda np: np.array([(1, 2.5, "x"), (3, 4.5, "y")], dtype=[("a", "i4"), ("b", "f8"), ("c", "U3")])[["a", "c"]],
    lambda np: np.array([(1, b"xy")], dtype=[("a", "i4"), ("b", "V2")]),
    lambda np: np.array([1, 2, 3], ">i4"),
    lambda np: np.array(["2020-01-01"], "M8[D]"),
])  # fmt: skip
@pytest.mark.parametrize("part", [lambda x: x, lambda x: x[1:], lambda x: x[::-1], lambda x: x[::2], lambda x: x[None]])
def test_numpy_reads_arrays_of_every_dtype(make, part):
    ours, theirs = part(make(plait)), part(make(numpy))
    for read in (numpy.asarray, numpy.array, numpy.asanyarray, lambda x: numpy.asarray(x, copy=None)):
        got = read(ours)
        assert type(got) is numpy.ndarray and got.dtype == theirs.dtype and got.tolist() == theirs.tolist()


def test_arange_without_numbers():
    calls = (
        lambda np: np.arange(None), lambda np: np.arange(None, 3), lambda np: np.arange(None, None), lambda np: np.arange(stop=None),
        lambda np: np.arange(start=None, stop=3), lambda np: np.arange(None, dtype="f4"), lambda np: np.arange(3, None).tolist(),
        lambda np: np.arange(3, None, 2).tolist(), lambda np: np.arange(1, 3, None).tolist(), lambda np: np.arange(stop=3).tolist(),
    )  # fmt: skip
    for call in calls:
        both(lambda np: outcome(lambda: call(np)))  # noqa: B023


def test_from_dlpack_of_what_exports_nothing():
    for x in (3, [1.0], None, object(), numpy.float64(3)):
        both(lambda np: outcome(lambda: np.from_dlpack(x)))  # noqa: B023


def test_where_takes_no_value_for_a_value():
    both(lambda np: [repr(np.where([True], *args).tolist()) for args in ((np._NoValue, 1), (1, np._NoValue), (np._NoValue,) * 2)])
    both(lambda np: outcome(lambda: np.where([True], 1)))


def test_rounds_that_wait_take_no_memory_of_their_own():
    # Each roll is an array that is written to: with all of them in memory at once, 20 rounds need 20 times that of one.
    a = plait.arange(200_000.0)
    plait.evaluate(a)
    before = plait.stats()["live_bytes"]
    x = a
    for _ in range(20):
        x = plait.roll(x, 3) * 0.5
    assert plait.stats()["live_bytes"] - before < 4 * a.nbytes
    theirs = numpy.arange(200_000.0)
    for _ in range(20):
        theirs = numpy.roll(theirs, 3) * 0.5
    assert numpy.array_equal(numpy.asarray(x), theirs)


def test_what_is_written_within_a_round_goes_when_it_was_read(run_python):
    source = """
a = np.arange(200_000.0)
np.evaluate(a)
before = np.stats()["peak_live_bytes"]
x = a
for _ in range(20):
    x = (np.roll(x, 3) + np.roll(x, -3)) * 0.5
y = numpy.array(x)
theirs = numpy.arange(200_000.0)
for _ in range(20):
    theirs = (numpy.roll(theirs, 3) + numpy.roll(theirs, -3)) * 0.5
print(numpy.array_equal(y, theirs), (np.stats()["peak_live_bytes"] - before) / a.nbytes < 10)
"""
    done = run_python("import numpy\nimport plait as np\n" + source)
    assert done.stdout.split() == ["True", "True"], done.stdout + done.stderr


@pytest.mark.parametrize("shape", [(3000,), (60, 70)])
def test_memory_that_nobody_has_written_to_is_one_value(shape):
    a = plait.empty(shape)
    first, second = numpy.array(a), numpy.array(a + 0.0)
    assert numpy.array_equal(first + 0.0, second, equal_nan=True)
    b = plait.empty(shape)
    view = b[1:]
    b[0] = 1
    view[...] = 2
    c = b.copy()
    b[-1] = 3
    assert numpy.array(c)[0].max() == 1 and numpy.array(c)[1:].min() == 2 and numpy.array(b)[-1].min() == 3
    d = plait.empty(shape)
    numpy.asarray(d).fill(4)
    assert float(d.sum()) == 4 * d.size


LOOPS = {
    "written in part, a mean between": "w = u * 0.5; w[1:] += 0.25 * u[:-1]; w[:-1] -= w.mean() * 0.01; u = w",
    "written in part": "w = u * 0.5; w[1:] += 0.25 * u[:-1]; w[:-1] += 0.25 * u[1:]; u = w",
    "joined": "u = np.concatenate([u[1:], u[:1]]) * 0.9 + 0.1",
    "made empty": "w = np.empty_like(u); w[1:-1] = 0.5 * (u[:-2] + u[2:]); w[0] = u[0]; w[-1] = u[-1]; u = w",
    "rolled": "u = u + 0.1 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u)",
    "read across": "u = u.T * 0.5 + u * 0.5",
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("n", [80, 400, 1000])
@pytest.mark.parametrize("step", LOOPS.values(), ids=LOOPS)
def test_arrays_of_a_loop_go_when_they_were_read(run_python, step, n):
    """A hundred steps that make a new array each need a few. Steps on small arrays run one by one."""
    source = f"""
import numpy
import plait as np
def run(np, u):
    for _ in range(100):
        {step}
    return u
host = numpy.random.default_rng(0).uniform(0.1, 1.0, ({n}, {n}))
u = np.array(host)
np.evaluate(u)
before = np.stats()["peak_live_bytes"]
same = numpy.allclose(numpy.asarray(run(np, u)), run(numpy, host))
print(same, (np.stats()["peak_live_bytes"] - before) / host.nbytes < 12)
"""
    done = run_python(source, env={"PLAIT_PLAN": "always"})
    assert done.stdout.split() == ["True", "True"], done.stdout + done.stderr
