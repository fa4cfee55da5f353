"""How the types of a loop's variables are found: in few passes over it, of which the last builds the machine code, and another would build the same."""

import math

import numpy as np
import pytest
from loop_checks import anew

import plait
from plait import _plait
from plait._jit import loops_of
from plait._python_loops import lowering

X = np.random.default_rng(3).random((12, 2))


def distance(a, b):
    total = 0.0
    for k in range(len(a)):
        total += (a[k] - b[k]) ** 2
    return math.sqrt(total)


def nearest(x):
    """Variables of inner loops reach all heads of loops around them, where nothing reads them."""
    found = 0.0
    for i in range(len(x)):
        best = 10.0
        for j in range(len(x)):
            if i != j:
                d = distance(x[i], x[j])
                if d < best:
                    best = d
        found += best
    return found


def widened(n):
    """A variable becomes a float behind the place that reads it."""
    a, s = 1, 0
    for i in range(n):
        for k in range(3):
            s = s + a * k
        a = a / 2 if i % 2 else a + 1
    return s, a


@pytest.mark.parametrize("f, args, most", [(nearest, (X,), 2), (widened, (9,), 4)], ids=["nearest", "widened"])
def test_passes(f, args, most, monkeypatch, at_once):
    passes = []

    class Counted(lowering.Lowering):
        def __init__(self, loop, inputs, facts, *others):
            passes.append((loop, inputs, facts))
            super().__init__(loop, inputs, facts, *others)

    expected = f(*args)
    monkeypatch.setattr(lowering, "Lowering", Counted)
    jitted = plait.jit(anew(f))
    assert jitted(*args) == expected
    assert 2 <= len(passes) <= most
    (code,) = [code for loop in loops_of(jitted) for code in loop.codes.values()]
    another = lowering.Lowering(*passes[-1], _plait.Procedure(f.__name__), code.step)
    assert not passes[-1][2].changed and another.p.p.text() == code.procedure.text()
