"""When loops go over to machine code, and to which."""

import time

import numpy as np
import pytest
from loop_checks import anew, outcome

import plait
from plait._jit import loops_of
from plait._python_loops import going_over
from plait._python_loops.codes import Code


def first_above(x, most):
    for i in range(len(x)):
        if x[i] > most:
            break
    return i


@pytest.mark.parametrize("short", [True, False])
def test_a_loop_that_cannot_be_left_runs_in_quick_code_where_it_is_short(short, monkeypatch):
    def ask(code, short=False):
        if code.usable and short:
            code.procedure.compile(quick=True)

    monkeypatch.setattr(Code, "ask", ask)
    for name, seconds in {"WORTH": 1e-9, "LEAST": 0.0, "MUCH": 1e9, "SHORT": 100.0 if short else 0.0}.items():
        monkeypatch.setattr(going_over, name, seconds)
    jitted, x = plait.jit(anew(first_above)), np.arange(3000.0)
    for _ in range(4):
        assert jitted(x, 2500.0) == 2501
    codes = [code for loop in loops_of(jitted) for code in loop.codes.values()]
    assert codes and not any(code.divisible or code.procedure.optimised for code in codes)
    assert (sum(code.runs for code in codes) > 0) == short


def tabled(n):
    """Of dicts there are no entries."""
    found = {}
    for i in range(n):
        found[i] = i * 0.5
    return found


def test_of_a_loop_that_is_far_ahead_python_hardly_runs_any_call():
    jitted = plait.jit(anew(tabled))

    def runs():
        return sum(code.runs for loop in loops_of(jitted) for code in loop.codes.values())

    jitted(20_000)
    (loop,) = loops_of(jitted)
    for _ in range(1000):
        before = runs()
        loop.each = 1e-3  # Python's own time would be close to that of code which makes a dict
        jitted(20_000)
        jitted(20_000)
        if loop.by_python and runs() == before + 2:
            break
        time.sleep(0.01)
    assert loop.by_python
    loop.each = 1e-3
    before = runs()
    for _ in range(going_over.TRIED + 1):
        assert jitted(200) == tabled(200)
    assert runs() == before + going_over.TRIED + 1


def triangle(x, n, shift):
    total = 0
    for i in range(n):
        for j in range(i + 1, n):
            total += x[j + shift] * (i + 1)
        for j in range(i, -1, -1):
            total -= x[j - shift] * j
    return total


@pytest.mark.parametrize("n, shift", [(5, 0), (6, 0), (7, 0), (5, 1), (6, 1), (6, -1), (1, 0), (0, 3), (6, 5), (6, 6)])
def test_the_ends_of_triangles(n, shift, at_once):
    args = [np.arange(6) + 1, n, shift]
    assert outcome(plait.jit(anew(triangle)), args) == outcome(triangle, args)
