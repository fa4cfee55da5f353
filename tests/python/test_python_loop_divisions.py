"""Quotients, remainders and powers of floats that compiled loops compute in line: Python's and NumPy's to the bit, of numbers of all sizes."""

import itertools
import math

import numpy as np
import pytest

import plait
from plait._jit import loops_of

ODD = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -7.0, 5e-324, -5e-324, 2.2e-308, 1e-160, 1e160, 2.0**49, 2.0**53 + 2, 1.7e308, -1.7e308, math.inf, -math.inf, math.nan]
PAIRS = np.array([*itertools.product(ODD, ODD)]).T
rng = np.random.default_rng(5)
RANDOM = rng.standard_normal((2, 40_000)) * 2.0 ** rng.integers(-40, 40, (2, 40_000))
NEAR = (rng.integers(-500, 500, 20_000) * 0.1, rng.choice([0.1, -0.1, 0.3, -2.0], 20_000))  # multiples, or almost


def of_numpys(x, y, out):
    for i in range(len(x)):
        out[0, i], out[1, i] = divmod(x[i], y[i])
        out[2, i] = np.fmod(x[i], y[i])


def of_pythons(x, y, out):
    for i in range(len(x)):
        a, b = float(x[i]), float(y[i])
        if b != 0:
            out[0, i], out[1, i] = divmod(a, b)
            if not math.isinf(a):
                out[2, i] = math.fmod(a, b)


def powers(x, y, out):
    for i in range(len(x)):
        a = float(x[i])
        out[0, i] = a**3
        out[1, i] = a**4
        out[2, i] = a**5.0


def same(f, x, y):
    expected, found = np.zeros((3, len(x))), np.zeros((3, len(x)))
    g = plait.jit(f)
    with np.errstate(all="ignore"):
        f(x, y, expected)
        g(x, y, found)
    assert all(code.runs for loop in loops_of(g) for code in loop.codes.values())
    different = (expected.view("int64") != found.view("int64")) & ~(np.isnan(expected) & np.isnan(found))
    assert not different.any(), [(x[i], y[i], expected[k, i], found[k, i]) for k, i in np.argwhere(different)[:5]]


@pytest.mark.parametrize("f", [of_numpys, of_pythons], ids=lambda f: f.__name__)
@pytest.mark.parametrize("x, y", [PAIRS, RANDOM, NEAR], ids=["odd", "random", "near"])
def test_divisions(f, x, y, at_once):
    same(f, x, y)


def test_powers(at_once):
    x = np.concatenate([RANDOM[0] * 2.0**-20, rng.uniform(-3, 3, 100_000), rng.integers(-99, 99, 500), [0.0, -0.0, 1e-110, -1e60, math.nan, 2.0**-13, 2.0**13]])
    same(powers, x, x)


def test_a_power_that_is_too_large_is_pythons_error(at_once):
    def f(x):
        for v in x:
            v = float(v) ** 3
        return v

    for g in (f, plait.jit(f)):
        with pytest.raises(OverflowError, match="Numerical result out of range|Result too large"):
            g(np.array([1.0, 1e200]))
