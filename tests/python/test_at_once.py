"""Loops over arrays of middling size, whose operations are computed at their call while a plan for them is on its way."""

import warnings

import numpy
import pytest
from support import both, host

import plait

ROUNDS = 40


def upwind(np, u):
    u = u.copy()
    for _ in range(ROUNDS):
        u[1:] -= 0.4 * (u[1:] - u[:-1])
        u[0] = u[-1]
    return u


def inner(np, u):
    u = np.array(u).reshape(50, 100)
    for _ in range(ROUNDS):
        old = u.copy()
        u[1:-1, 1:-1] = 0.25 * (old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2])
        u[:, 0] = u[:, 1]
        u[0, :], u[-1, :] = u[1, :], 0
        if u[2, 2] > 100:
            break
    return u


def unasked(np, u):
    u, old = np.array(u).reshape(50, 100), u.reshape(50, 100)
    for i in range(ROUNDS):
        new = 0.5 * u - 0.25 * old
        new[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1]) * u.sum(axis=0)[1:-1]
        old, u = u, new
    return u, old


def narrow(np, u):
    grid = (u.reshape(50, 100) > 0).astype(np.int8)
    for _ in range(ROUNDS):
        n = grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, 2:] + grid[1:-1, :-2]
        new = np.zeros_like(grid)
        new[1:-1, 1:-1] = (n == 3) | ((grid[1:-1, 1:-1] == 1) & (n == 2))
        grid = new
        grid[0, 0] = grid[5, 5]
    return grid


def kinds(np, u):
    parts = []
    for i in range(ROUNDS):
        x = np.where(u > 0.1, u * i, np.float32(2)) + np.arange(u.size, dtype=np.float32)
        y = x.astype(np.complex64) ** 2
        z = np.clip(u, -0.5, 0.5).reshape(50, 100).T + u[:50]
        z[::2] *= -1
        k = (u * 100).astype(np.int16) // 7 % 5
        parts = [x, y, z, k, np.exp(-np.abs(u)), np.logical_not(k)]
        float(x[3]), complex(y[-1]), float(z[0, 0]), int(k[7])
    return tuple(parts)


def carried(np, u):
    total, views = np.zeros(u.size), []
    for i in range(ROUNDS):
        step = u * (i + 1)
        total += step
        views.append(step[::500])
        step += 1
        float(step[0])
    return total, *views


@pytest.mark.parametrize("f", [upwind, inner, unasked, narrow, kinds, carried])
def test_every_round_is_numpys(f):
    u = numpy.random.default_rng(3).normal(size=5000)
    for _ in range(3):
        both(f, u, rtol=1e-15)


def test_a_reader_keeps_what_it_read():
    def f(np, u):
        u, seen = u.copy(), []
        for i in range(ROUNDS):
            before = u + i
            u *= 0.5
            u[10:] += u[:-10]
            seen.append(before[:20])
            float(u[0])
        return tuple(seen)

    both(f, numpy.arange(5000.0))


def test_warnings_come_each_round_with_their_line():
    def f(np, u):
        for i in range(ROUNDS):
            v = 1.0 / u
            u = u + (v > 0)
            u[7] = 0
            u[0] = u[-1]
        return u

    def lines(np):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            plait._plait.set_warnings_caught(False)  # as outside of catch_warnings
            value = host(f(np, np.array(numpy.zeros(5000))))
        return value, [(str(w.message), w.lineno) for w in caught]

    got, want = lines(plait), lines(numpy)
    numpy.testing.assert_array_equal(got[0], want[0])
    assert got[1] == want[1]


def test_an_error_that_is_raised_leaves_what_was_there():
    def f(np, u):
        for i in range(ROUNDS):
            u[1:] += 0.5 * u[:-1]
            u[0] = u[-1]
        try:
            u += np.ones(3)
        except ValueError as e:
            assert "could not be broadcast" in str(e) or "non-broadcastable" in str(e)
        return u

    both(f, numpy.arange(5000.0) % 7)
