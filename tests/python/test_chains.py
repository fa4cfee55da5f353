"""Loops in time: steps that follow each other are run together, a chunk of each at a time, with
the values of one step after the other."""
import os
import warnings

import numpy
import pytest

import plait


def heat(np, u, t):
    for _ in range(t):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.2 * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        )
    return u


def swapped(np, u, t):
    v = u.copy()
    for _ in range(t):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u, v = v, u
    return u


def new_arrays(np, u, t):
    for _ in range(t):
        w = u * 0.5
        w[1:] += 0.25 * u[:-1]
        w[:-1] += 0.25 * u[1:]
        u = w
    return u


def two_fields(np, u, t):
    v = np.zeros_like(u)
    for _ in range(t):
        v[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] - 2 * u[1:-1, 1:-1])
        u += 0.1 * v
    return u + v


def boundaries(np, u, t):
    for _ in range(t):
        u[1:-1, 1:-1] = 0.5 * u[1:-1, 1:-1] + 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1])
        u[0] = u[1]
        u[-1] = u[-2]
        u[:, 0] = u[:, 1]
        u[:, -1] = 1.0
    return u


def periodic(np, u, t):
    for _ in range(t):
        u = u + 0.1 * (
            np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u
        )
    return u


def periodic_by_index(np, u, t):
    n = u.shape[0]
    up, down = (np.arange(n) + 1) % n, (np.arange(n) - 1) % n
    for _ in range(t):
        u = 0.5 * u + 0.25 * (u[up] + u[down])
    return u


def leapfrog(np, u, t):
    old = u.copy()
    for _ in range(t):
        new = 2 * u - old
        new[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        old, u = u, new
    return u


def forwards(np, u, t):
    for _ in range(t):
        u[1:] = u[:-1] * 0.5 + u[1:] * 0.5
    return u


def backwards(np, u, t):
    for _ in range(t):
        u[:-1] = u[1:] * 0.5 + u[:-1] * 0.5
    return u


def flipped(np, u, t):
    for _ in range(t):
        u = 0.5 * u[::-1] + 0.25 * u
    return u


def transposed(np, u, t):
    for _ in range(t):
        u = 0.5 * u + 0.25 * u.T.copy().T
        u.T[1:] += u.T[:-1] * 0.1
    return u


def red_and_black(np, u, t):
    for _ in range(t):
        u[1:-1:2] = 0.5 * (u[:-2:2] + u[2::2])
        u[2:-1:2] = 0.5 * (u[1:-2:2] + u[3::2])
    return u


def rows(np, u, t):
    for _ in range(t):
        u -= u.mean(axis=1, keepdims=True)
        u *= 1.5
        u[1:] += 0.1 * u[:-1]
    return u


def masked(np, u, t):
    for _ in range(t):
        n = u[:-2, 1:-1] + u[2:, 1:-1]
        u[1:-1, 1:-1][n > 0] = 0.5
        u *= -0.9
    return u


def looked_at(np, u, t):
    seen = []
    for i in range(t):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
        if i % 5 == 4:
            seen.append(float(u[3, 3]))
    return u * seen[-1] if seen else u


def coefficients(np, u, t):
    c = np.linspace(0.0, 0.2, u.shape[0])[1:-1, None]
    for _ in range(t):
        u[1:-1] += c * (u[:-2] - 2 * u[1:-1] + u[2:])
    return u


def space(np, u, t):
    u = u.reshape(-1, 16, 10 if u.size % 160 == 0 else 16).copy()
    v = np.zeros_like(u)
    for _ in range(t):
        v[1:-1, 1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] - u[1:-1, :-2, 1:-1])
        u[1:-1, 1:-1, 1:-1] = u[1:-1, 1:-1, :-2] + 0.1 * v[1:-1, 1:-1, 2:] + 0.1 * u[2:, 1:-1, 1:-1]
    return u


def line(np, u, t):
    u = u.ravel().copy()
    for _ in range(t):
        u[1:-1] = 0.5 * u[1:-1] + 0.25 * (u[:-2] + u[2:])
    return u


PROGRAMS = [
    heat, swapped, new_arrays, two_fields, boundaries, periodic, periodic_by_index, leapfrog,
    forwards, backwards, flipped, transposed, red_and_black, rows, masked, looked_at, coefficients,
    space, line,
]
SHAPES = [(160, 160), (37, 800), (1120, 30)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.usefixtures("large")
def test_same_as_one_step_after_the_other(program, shape, dtype):
    x = numpy.random.default_rng(1).standard_normal(shape).astype(dtype)
    for t in (4, 23):
        expected = program(numpy, x.copy(), t)
        for _ in range(2):
            got = program(plait, plait.asarray(x.copy()), t)
            assert got.dtype == expected.dtype
            numpy.testing.assert_array_equal(numpy.asarray(got), expected)


def together(program, u, t):
    before = plait.stats()["steps_together"]
    numpy.asarray(program(plait, u, t))
    return plait.stats()["steps_together"] - before


@pytest.mark.parametrize(
    "program, steps",
    [(heat, 1), (swapped, 1), (two_fields, 2), (boundaries, 5), (leapfrog, 1), (forwards, 1),
     (coefficients, 1), (space, 2), (line, 1)],
    ids=lambda x: getattr(x, "__name__", None),
)
@pytest.mark.usefixtures("large")
def test_steps_are_run_together(program, steps):
    u = plait.asarray(numpy.random.default_rng(1).standard_normal((640, 640)))
    assert together(program, u, 12) >= 11 * steps


@pytest.mark.skipif("PLAIT_TEAM" in os.environ, reason="chunks are single rows then")
@pytest.mark.usefixtures("large")
def test_steps_with_periodic_boundaries_are_run_together():
    u = plait.asarray(numpy.random.default_rng(1).standard_normal((640, 640)))
    assert together(periodic, u, 12) >= 11


@pytest.mark.skipif("PLAIT_TEAM" in os.environ, reason="always together then")
def test_few_passes_are_left_alone():
    assert together(heat, plait.ones((256, 256)), 2) == 0


def test_views_and_other_names_see_the_end():
    u = plait.ones((300, 300))
    inner, alias = u[1:-1, 1:-1], u.T
    u[150, 150] = 9.0
    v = numpy.ones((300, 300))
    v[150, 150] = 9.0
    heat(plait, u, 15)
    heat(numpy, v, 15)
    numpy.testing.assert_array_equal(numpy.asarray(inner), v[1:-1, 1:-1])
    numpy.testing.assert_array_equal(numpy.asarray(alias), v.T)


@pytest.mark.usefixtures("large")
def test_states_that_are_kept():
    x = numpy.random.default_rng(2).standard_normal((300, 300))

    def run(np, u):
        kept = []
        for i in range(16):
            u = 0.5 * u
            u[1:] += 0.25 * u[:-1]
            if i % 3 == 0:
                kept.append(u.copy())
            if i % 4 == 0:
                kept.append(u)
                u = u + 0
        return kept

    for got, expected in zip(run(plait, plait.asarray(x)), run(numpy, x.copy()), strict=True):
        numpy.testing.assert_array_equal(numpy.asarray(got), expected)


@pytest.mark.usefixtures("large")
def test_warnings_of_a_step():
    u = plait.ones((300, 300))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(12):
            u = u + 1
            u[1:] *= 0.5
            if i == 6:
                u = u / 0.0
        numpy.asarray(u)
    assert any("divide by zero" in str(w.message) for w in caught)
    assert all(w.filename == __file__ for w in caught)


def test_what_steps_read_last_is_there_until_they_ran(large):
    """An operand that nobody else has any more, in front of steps that run together."""
    x = numpy.random.default_rng(3).standard_normal((300, 300))

    def run(np, x):
        v = np.matmul(x, x)
        for _ in range(6):
            v = 0.5 * v
            v[1:] += 0.25 * v[:-1]
        return v

    numpy.testing.assert_allclose(numpy.asarray(run(plait, plait.asarray(x))), run(numpy, x), rtol=1e-9, atol=1e-9)


EVENTS = """
import sys, numpy, plait
np = {"numpy": numpy, "plait": plait}[sys.argv[1]]
plait.config.eager_limit, plait.config.plan = 0, "always"
u = np.ones((300, 300))
for i in range(20):
    %s
numpy.asarray(u)
print(plait.stats()["steps_together"] > 0)
"""


@pytest.mark.parametrize("body, together", [
    ("""w = u / (u - u)
    u = np.where(np.isinf(w), u * 0.5 + 0.1, w)
    u[1:] *= 0.5""", True),
    ("""u[1:] = np.where(u[:-1] > 0.5, u[:-1], 0.25) * 1e200
    u = np.minimum(u, 2.0)""", True),
    ("""with np.errstate(divide="ignore", invalid="ignore"):
        w = u / (u - u)
    u = np.where(np.isinf(w), u * 0.5 + 0.1, w)
    u[1:] *= 0.5""", False),
    ("""with np.errstate(over="ignore"):
        a = np.exp(u * 1000)
    u = np.minimum(a, 2.0) + np.log(u - u)
    u = np.maximum(u, 1.0)
    u[1:] *= 0.5""", False),
], ids=["divide", "multiply", "ignored", "one of two"])  # fmt: skip
def test_warnings_name_the_operation_that_raised(run_python, tmp_path, body, together):
    """What steps read is written over when it is known that one of them raised something."""
    file = tmp_path / "script.py"
    file.write_text(EVENTS % body)
    theirs, ours = (run_python(None, str(file), np, env={"PLAIT_TEAM": "always"}) for np in ("numpy", "plait"))
    assert ours.stdout.split() == [str(together)], ours.stderr
    lines = [sorted(set(done.stderr.splitlines())) for done in (theirs, ours)]
    assert lines[0] == lines[1]
