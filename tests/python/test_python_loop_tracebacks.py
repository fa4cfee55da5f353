"""Errors of compiled loops say where they come from as Python's do: the statement, the functions around it, and no others."""

import sys
import traceback

import numpy as np
import pytest

import plait


def reciprocal(v):
    return 10 // v


def shifted(v):
    w = v - 2
    return reciprocal(w)


def in_a_function(n):
    t = 0
    for i in range(n):
        t += 1
        t += shifted(i)
    return t


def in_the_loop(n):
    x, t = np.arange(3.0), 0.0
    for i in range(n):
        t += 1
        t += x[i]
    return t


def in_a_while(n):
    t = n
    while True:
        t -= 1
        n = (
            n
            // t
        )


def unbound(n):
    for i in range(n):
        if i > n:
            y = 1
        n = y
    return n


def unbound_inside(n):
    def get():
        return late

    for i in range(n):
        n = get()
        late = i
    return n


def entries(f):
    try:
        f(5)
    except Exception as e:
        made = traceback.TracebackException.from_exception(e)
        last = [(s.name, s.lineno, getattr(s, "end_lineno", 0), getattr(s, "colno", 0), getattr(s, "end_colno", 0)) for s in made.stack[1:]]
        return type(e), str(e), [s[:2] for s in last], last[-1]


@pytest.mark.parametrize("f", [in_a_function, in_the_loop, in_a_while, unbound, unbound_inside], ids=lambda f: f.__name__)
def test_the_statement_and_no_frames_of_our_own(f, at_once):
    g, want = plait.jit(f), entries(f)
    for _ in range(4):  # the later ones by the loop's entry
        kind, text, frames, last = entries(g)
        assert (kind, frames) == (want[0], want[2])
        assert f in (unbound, unbound_inside) or text == want[1]
        assert sys.version_info < (3, 11) or f in (unbound, unbound_inside) or last == want[3]


def test_errors_outside_of_loops(at_once):
    def fails(x):
        for i in range(3):
            x[i] += 1
        return helper(x)

    def helper(x):
        return x.reshape(7)

    frames = lambda f: [(s.name, s.lineno) for s in traceback.extract_tb(pytest.raises(ValueError, f, np.zeros(5)).tb)]  # noqa: E731
    want = frames(fails)
    assert frames(plait.jit(fails))[-2:] == want[-2:]
