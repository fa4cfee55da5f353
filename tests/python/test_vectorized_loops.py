"""numpy.vectorize of functions that are not traced: a loop over all elements in machine code, which gives what NumPy's calls give."""

import math
import warnings

import numpy
import pytest
from loop_cases import collatz_steps

import plait
from plait import _called, _vectorize


def escape(x, y, top):
    zr = zi = 0.0
    for k in range(top):
        if zr * zr + zi * zi > 4.0:
            return k
        zr, zi = zr * zr - zi * zi + x, 2 * zr * zi + y
    return top


def root(a):
    x = a if a > 1 else 1.0
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x, x > 3


def divided(n):
    total = 0
    for k in range(10):
        total += 1 // (n - 300)
    return total


def rooted(a):
    while a > 1.0:
        a = math.sqrt(a) - 0.1
    return math.sqrt(a)


def grows(n):
    n = int(n)
    while n < 10**30:
        n = n * n + 1
    return n > 10**31


def by_numpy(x):
    while x < 1e200:
        x = numpy.multiply(x, x) + 1.5
    return x


SEEN = numpy.zeros(3)


def with_effects(n):
    while n > 5:
        n -= 1
        SEEN[0] += 1
    return n


@pytest.fixture
def reasons(monkeypatch):
    """Why calls were left to NumPy; any number of elements is worth a loop."""
    found, call = [], _vectorize.call
    monkeypatch.setattr(_called.vectorize, "_worth", 0.0)
    monkeypatch.setattr(_vectorize, "call", lambda f, args, kwargs, name: found.append(name) or call(f, args, kwargs, name))
    return found


X, Y = numpy.meshgrid(numpy.linspace(-2, 0.5, 30), numpy.linspace(-1, 1, 20))
CASES = {
    "grid": (escape, X, Y, 60), "transposed": (escape, X.T, Y.T, 60), "broadcast": (escape, X[:1], Y[:, :1], 60), "ints": (collatz_steps, numpy.arange(1, 300)),
    "small ints": (collatz_steps, numpy.arange(1, 200, dtype="u1")), "two": (root, numpy.linspace(0.1, 50, 100)), "math": (rooted, numpy.linspace(0.1, 50, 100)),
    "zero-dimensional": (collatz_steps, numpy.array(27)),
}  # fmt: skip
LEFT = {
    "float32": (root, numpy.linspace(0.1, 50, 100).astype("f4")), "raises": (divided, numpy.arange(500)), "domain": (rooted, numpy.linspace(2, -2, 50)), "large ints": (grows, numpy.arange(2, 9)),
    "numpy": (by_numpy, numpy.linspace(2, 3, 20)), "effects": (with_effects, numpy.arange(20)),
}  # fmt: skip


def outcome(np, f, args):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            made = np.vectorize(f)(*[np.asarray(x) if isinstance(x, numpy.ndarray) else x for x in args])
            made = [numpy.asarray(x) for x in (made if isinstance(made, tuple) else [made])]
            made = [(x.dtype, x.shape, x.strides, x.tobytes()) for x in made]
        except Exception as e:
            made = type(e), str(e)
    return made, [str(w.message) for w in heard]


@pytest.mark.parametrize("name", [*CASES, *LEFT])
def test_loops(name, reasons):
    f, *args = CASES.get(name) or LEFT[name]
    expected = outcome(numpy, f, args)
    SEEN[:] = 0
    assert outcome(plait, f, args) == expected
    effects = SEEN[0]
    assert len(reasons) == (name in LEFT), reasons
    SEEN[:] = 0
    outcome(numpy, f, args)
    assert effects == SEEN[0]


def test_types_that_are_given(reasons):
    ours = plait.vectorize(escape, otypes=[float])(plait.asarray(X), plait.asarray(Y), 60)
    theirs = numpy.vectorize(escape, otypes=[float])(X, Y, 60)
    assert numpy.array_equal(numpy.asarray(ours), theirs) and ours.dtype == theirs.dtype and not reasons


def test_tracing_is_not_tried_again(reasons, monkeypatch):
    f = plait.vectorize(escape)
    f(plait.asarray(X), plait.asarray(Y), 60)
    monkeypatch.setattr(_vectorize._Call, "traced", None)
    assert numpy.array_equal(numpy.asarray(f(plait.asarray(X), plait.asarray(Y), 20)), numpy.vectorize(escape)(X, Y, 20))


def test_few_elements_of_two_arrays_are_numpys_at_once(monkeypatch):
    made, call_of = [], _vectorize._Call
    monkeypatch.setattr(_called.vectorize, "_worth", math.inf)
    monkeypatch.setattr(_vectorize, "_Call", lambda *args: made.append(args) or call_of(*args))
    f, x = plait.vectorize(lambda a, b: f"{a} {b}"), plait.arange(100.0)
    for _ in range(3):
        assert f(x, x)[3] == "3.0 3.0"
    assert len(made) == 1  # arrays of one shape are not broadcast against each other
    assert f(x[:, None], x).shape == (100, 100) and len(made) == 2
