"""Random numbers in compiled loops: the numbers that NumPy draws, and the generator as NumPy leaves it."""

import numpy as np
import pytest
from loop_checks import anew

import plait
from plait._jit import loops_of


def inside_the_circle(rng, n):
    count = 0
    for _ in range(n):
        x = rng.random()
        y = rng.random()
        if x * x + y * y < 1:
            count += 1
    return 4 * count / n


def walk(rng, n):
    p, drawn = 0.0, []
    for _ in range(n):
        p += rng.normal() + rng.normal(0.5, 2) + rng.normal(scale=0.1) + rng.uniform(-1, 1) + rng.uniform() + rng.exponential(3.0)
        p += rng.standard_normal() - rng.standard_exponential()
        drawn.append(rng.integers(0, 10))
        drawn.append(rng.integers(5))
        drawn.append(rng.integers(-3, 2**40))
        drawn.append(rng.integers(low=4, high=5))
    return p, drawn


def chosen(rng, n):
    a, s = np.arange(7.0) * 3, 0.0
    for _ in range(n):
        s += rng.choice(a)
    return s


def metropolis(rng, n):
    x, taken, out = 0.5, 0, np.zeros(n)
    for i in range(n):
        y = x + rng.normal(0.0, 0.3)
        if rng.random() < np.exp(-(y * y - x * x) / 2):
            x = y
            taken += 1
        out[i] = x
    return out, taken


def no_such_integers(rng, n):
    s = 0
    for i in range(n):
        s += rng.integers(3, 5 - i)
    return s


def no_such_scale(rng, n):
    s = 0.0
    for i in range(n):
        s += rng.normal(0, 2 - i)
    return s


def no_such_width(rng, n):
    s = 0.0
    for i in range(n):
        s += rng.uniform(0, 2 - i)
    return s


FUNCTIONS = [inside_the_circle, walk, chosen, metropolis, no_such_integers, no_such_scale, no_such_width]


def outcome(f, *args):
    try:
        return repr(f(*args))
    except Exception as e:
        return type(e), str(e)


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_numbers_are_numpys(f, bits, at_once):
    theirs, ours = np.random.Generator(bits(3)), np.random.Generator(bits(3))
    assert theirs.integers(0, 5, dtype=np.int32) == ours.integers(0, 5, dtype=np.int32)  # half of a word is left over
    jitted = plait.jit(anew(f))
    for n in (9, 300):
        assert outcome(f, theirs, n) == outcome(jitted, ours, n)
        assert repr(theirs.bit_generator.state) == repr(ours.bit_generator.state)
    assert any(code.runs for loop in loops_of(jitted) for code in loop.codes.values())


def test_the_global_generator(at_once):
    def drawn(n):
        s = 0.0
        for _ in range(n):
            s += np.random.random() - np.random.rand() + np.random.uniform(2, 3) + np.random.random_sample()
        return s

    jitted = plait.jit(drawn)
    for _ in range(2):
        np.random.seed(5)
        expected = drawn(50), np.random.normal()
        np.random.seed(5)
        assert (jitted(50), np.random.normal()) == expected
    assert any(code.runs for loop in loops_of(jitted) for code in loop.codes.values())


def test_a_generator_that_the_function_makes(at_once):
    def drawn(n, seed):
        rng = np.random.default_rng(seed)
        out = np.zeros(n)
        for i in range(n):
            out[i] = rng.standard_normal()
        return out, rng.random()

    jitted = plait.jit(drawn)
    for seed in (4, 5, 4):
        assert repr(drawn(50, seed)) == repr(jitted(50, seed))


def test_another_default_dtype(at_once):
    def drawn(rng, n):
        v = 0.0
        for _ in range(n):
            v = rng.random()
        return v

    jitted = plait.jit(drawn)
    assert type(jitted(np.random.default_rng(1), 3)) is float
    with plait.set_default_dtype("float32"):
        assert jitted(plait.random.default_rng(1), 3) == np.float32(drawn(np.random.default_rng(1), 3))
