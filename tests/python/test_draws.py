"""Random numbers drawn into Plait's memory: NumPy's streams bit for bit, and its state afterwards."""

import pickle
import threading

import numpy
import numpy as np
import pytest

import plait
from plait._conversion import to_numpy

LINE = numpy.arange(60_000.0)
PLANE = LINE.reshape(300, 200)

DRAWS = [
    lambda g, np: g.random(300_001), lambda g, np: g.random((1000, 700)), lambda g, np: g.random(50_000, dtype="f"), lambda g, np: g.random(size=[200, 300]),
    lambda g, np: g.uniform(-3, 7.5, 400_000), lambda g, np: g.uniform(0.1, 0.3, size=(300, 300)), lambda g, np: g.normal(2, 3.3, size=(200, 300)),
    lambda g, np: g.normal(size=60_000), lambda g, np: g.normal(0, 0, 60_000), lambda g, np: g.standard_normal(50_000, dtype=np.float32),
    lambda g, np: g.standard_exponential(40_000, method="inv"), lambda g, np: g.exponential(2.2, 60_000), lambda g, np: g.rayleigh(1.7, 60_000),
    lambda g, np: g.choice(np.asarray(LINE), 1000), lambda g, np: g.choice(np.asarray(PLANE), 50, replace=False, axis=1),
    lambda g, np: g.choice(np.asarray(LINE), (30, 40), p=numpy.full(60_000, 1 / 60_000)), lambda g, np: g.permutation(np.asarray(LINE)),
    lambda g, np: g.choice(np.asarray(LINE), 100, shuffle=False, replace=False), lambda g, np: g.permutation(np.asarray(PLANE)),
    lambda g, np: g.permutation(np.asarray(PLANE), axis=1), lambda g, np: g.integers(5, 900, 50_000), lambda g, np: g.random(), lambda g, np: g.normal(),
    lambda g, np: g.random(3), lambda g, np: g.uniform(0, 1, ()), lambda g, np: g.random((0, 70_000)), lambda g, np: g.uniform(LINE, LINE + 1),
]  # fmt: skip
BITS = [numpy.random.PCG64, numpy.random.PCG64DXSM, numpy.random.MT19937, numpy.random.SFC64, numpy.random.Philox]


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("draw", DRAWS)
def test_the_stream_is_numpys(draw, bits):
    theirs, ours = numpy.random.Generator(bits(5)), plait.random.Generator(bits(5))
    for g in (theirs, ours):
        g.integers(10, dtype="i4")  # leaves half of a word
    x, y = draw(theirs, numpy), draw(ours, plait)
    if isinstance(x, numpy.ndarray):
        assert type(y) is plait.ndarray and x.dtype == y.dtype and x.shape == y.shape and x.strides == y.strides
    numpy.testing.assert_array_equal(to_numpy(y), x)
    assert repr(ours.bit_generator.state) == repr(theirs.bit_generator.state)
    assert (theirs.integers(0, 9, 5, dtype="i4") == to_numpy(ours.integers(0, 9, 5, dtype="i4"))).all()


@pytest.mark.parametrize("shape", [(60_000,), (300, 200)])
def test_shuffles(shape):
    theirs, ours = numpy.random.default_rng(3), plait.random.default_rng(3)
    x, y = LINE.reshape(shape).copy(), plait.asarray(LINE.reshape(shape)) + 0
    view = y[::-1]
    theirs.shuffle(x)
    ours.shuffle(y)
    numpy.testing.assert_array_equal(to_numpy(y), x)
    numpy.testing.assert_array_equal(to_numpy(view), x[::-1])


ERRORS = [
    lambda g: g.random(-5), lambda g: g.random((3, -70_000)), lambda g: g.random(50_000, dtype="i"), lambda g: g.normal(0, -1, 50_000),
    lambda g: g.uniform(0, numpy.inf, 50_000), lambda g: g.exponential(-1, 50_000), lambda g: g.choice(LINE, 70_000, replace=False),
    lambda g: g.choice(LINE, 50_000, p=[1.0]), lambda g: g.permutation(LINE, axis=3), lambda g: g.random("x"), lambda g: g.rayleigh(-2, 50_000),
]  # fmt: skip


@pytest.mark.parametrize("draw", ERRORS)
def test_errors_are_numpys(draw):
    with pytest.raises(Exception) as theirs:
        draw(numpy.random.default_rng(0))
    with pytest.raises(theirs.type) as ours:
        draw(plait.random.default_rng(0))
    assert str(ours.value) == str(theirs.value)


def test_any_number_of_threads():
    threads = plait.get_num_threads()
    try:
        found = []
        for n in (1, 2):
            plait.set_num_threads(n)
            found.append(to_numpy(plait.random.default_rng(1).random(400_001)).tobytes())
    finally:
        plait.set_num_threads(threads)
    assert found[0] == found[1]


def test_threads_share_a_stream():
    threads = plait.get_num_threads()
    generator, drawn = plait.random.default_rng(1), []
    try:
        plait.set_num_threads(2)
        users = [threading.Thread(target=lambda: drawn.extend(to_numpy(generator.random(1 << 18)) for _ in range(4))) for _ in range(3)]
        for user in users:
            user.start()
        for user in users:
            user.join()
    finally:
        plait.set_num_threads(threads)
    expected = numpy.random.default_rng(1).random((12, 1 << 18))
    assert sorted(x.tobytes() for x in drawn) == sorted(x.tobytes() for x in expected)


# --- generators that NumPy made, in jitted code -----------------------------------------------------------------------

VIEWS = {
    "flip": np.flip, "transpose": np.transpose, "reshape": lambda a: np.reshape(a, (3, 2)), "ravel": np.ravel, "asarray": np.asarray,
    "asanyarray": np.asanyarray, "squeeze": np.squeeze, "split": lambda a: np.split(a, 2)[1], "array_split": lambda a: np.array_split(a, 2)[1],
    "moveaxis": lambda a: np.moveaxis(a, 0, 1), "swapaxes": lambda a: np.swapaxes(a, 0, 1), "expand_dims": lambda a: np.expand_dims(a, 0),
    "atleast_3d": np.atleast_3d, "rot90": np.rot90, "copy=False": lambda a: np.array(a, copy=False), "copy=None": lambda a: np.array(a, copy=None),
    "windows": lambda a: np.lib.stride_tricks.sliding_window_view(a, 2, 0, writeable=True), "real": np.real,
}  # fmt: skip


class Holder:
    def __init__(self, source):
        self.source = source
        self.array = numpy.zeros((2, 3))


def drawn_by(r):
    return r.uniform(size=(2, 3))


SOURCES = {
    "argument": lambda view, r: (lambda r: written(view, drawn_by(r)), (r,)),
    "in a list": lambda view, r: (lambda rs: written(view, drawn_by(rs[0])), ([r],)),
    "cell": lambda view, r: (lambda: written(view, drawn_by(r)), ()),
    "attribute": lambda view, r: (lambda o: written(view, drawn_by(o.source)), (Holder(r),)),
    "method": lambda view, r: (lambda draw: written(view, draw(size=(2, 3))), (r.uniform,)),
    "what a library gives": lambda view, r: (lambda get: written(view, get()), (r.uniform(size=(2, 3)).copy,)),
    "attribute that is an array": lambda view, r: (lambda o: written(view, o.array), (Holder(r),)),
}


def written(view, a):
    view(a)[0] = 9
    return numpy.asarray(a)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("make", [numpy.random.default_rng, numpy.random.RandomState])
def test_views_of_what_numpys_objects_give_to_jitted_code(make, source):
    for name, view in VIEWS.items():
        f, args = SOURCES[source](view, make(5))
        want = f(*args)
        f, args = SOURCES[source](view, make(5))
        got = plait.jit(f)(*args)
        assert (got == want).all() and (want == 9).any(), name


def fills(r):
    y, w, rows = np.zeros(6), np.arange(6.0) * 2, [np.arange(3) * i for i in range(5)]
    table = np.arange(24.0).reshape(6, 2, 2) * 1
    r.shuffle(table)
    r.shuffle(rows)
    if isinstance(r, np.random.Generator):
        assert r.standard_normal(out=y) is y and r.permuted(w, out=w) is w
        y += r.spawn(1)[0].random(6)
    return y, w, table, np.array(rows), r.permutation(table), r.choice(w, 3), r.normal()


def fills_by_a_global():
    np.random.seed(4)
    table = np.arange(12.0).reshape(6, 2) * 1
    np.random.shuffle(table)
    return table, np.random.normal(size=3), np.random.mtrand._rand.normal()


@pytest.mark.parametrize("make", [numpy.random.default_rng, numpy.random.RandomState])
def test_numpys_generators_write_to_arrays_of_jitted_code(make):
    theirs, ours = make(3), make(3)
    for want, got in zip(fills(theirs), plait.jit(fills)(ours)):
        numpy.testing.assert_array_equal(got, want)
    assert theirs.normal() == ours.normal()  # both states are the same still, a RandomState's pair of normals among it
    for want, got in zip(fills_by_a_global(), plait.jit(fills_by_a_global)()):
        numpy.testing.assert_array_equal(got, want)


def test_a_generator_is_numpys_again_outside():
    @plait.jit
    def f(r, o):
        assert o.source is r and isinstance(r, np.random.Generator) and type(r.random(3)) is plait.ndarray
        o.made = np.random.default_rng(1)
        return r, np.random.RandomState(1), np.random.default_rng(r)

    r = numpy.random.default_rng(0)
    o = Holder(r)
    same, state, again = f(r, o)
    assert same is r and again is r and o.source is r and type(state) is numpy.random.RandomState
    assert type(o.made.random(3)) is numpy.ndarray and type(pickle.loads(pickle.dumps(o.made))) is numpy.random.Generator
