"""Python's random module in compiled loops: the numbers of its own generator, which goes on from there."""

import random
from random import randint, uniform

import numpy as np
import pytest
from loop_checks import check_compiled, outcome

import plait

X = np.random.default_rng(2).random(9)


def area(n):
    inside = 0
    for i in range(n):
        x, y = random.random(), random.random()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4 * inside / n


def walk(n):
    x, y = 0, 0.0
    for i in range(n):
        if random.random() < 0.5:
            x += randint(-1, 1) + random.randrange(i + 1)
        y += uniform(-1, i) + random.normalvariate(1, 2.0) + random.expovariate(0.5)
    return x, y


def dice(rng, n):
    s = 0
    for i in range(n):
        s = s * 0.5 + rng.randint(1, 6) + rng.random() + rng.uniform(0, 2) + rng.choice((1, 2.5, i)) + rng.randrange(2**20, 2**31)
    return s, rng.random()


def shuffled(x, items, n):
    s = 0
    for i in range(n):
        random.shuffle(x)
        random.shuffle(items)
        own = [j * j for j in range(i)]
        random.shuffle(own)
        s = s * 0.5 + x[0] + items[1] + random.choice(items) + random.choice(x) + sum([a * b for a, b in enumerate(own)])
    return s, items


def annealed(x, n):
    best, heat = x.sum(), 1.0
    for k in range(n):
        i, j = random.randrange(len(x)), random.randrange(len(x))
        x[i], x[j] = x[j], x[i]
        now = 0.0
        for m in range(len(x)):
            now += m * x[m]
        if now > best and random.random() > heat:
            x[i], x[j] = x[j], x[i]
        else:
            best = now
        heat *= 0.99
    return best


def no_numbers(n):
    s = 0.0
    for i in range(n):
        s += random.random() + random.randint(i, 5)
    return s


def no_numbers_below(n):
    s = 0
    for i in range(n):
        s += random.randrange(4 - i)
    return s


def nothing_to_choose(items):
    s = 0
    for i in range(5):
        s += random.choice(items)
        items.pop()
    return s


def of_many_bits(n):
    s = 0
    for i in range(n):
        s = s % 1000003 + random.randrange(2 ** (25 + i))
        s += random.randint(0, 9)
    return s


COMPILED = [
    (of_many_bits, (20,)),
    (area, (300,)), (walk, (200,)), (dice, (random.Random(7), 100)), (shuffled, (X, [*range(20)], 30)), (annealed, (X, 200)), (no_numbers, (9,)), (no_numbers_below, (9,)),
    (nothing_to_choose, ([4, 5, 6],)),
]  # fmt: skip


@pytest.fixture(autouse=True)
def seeded():
    state = random.getstate()
    random.seed(11)
    yield
    random.setstate(state)


def drawn(f, args):
    """What a call gives, and the state of the generator behind it."""
    random.seed(3)
    random.gauss(0.0, 1.0)  # which keeps another number
    return *outcome(f, args), random.getstate()


@pytest.mark.parametrize("f, args", COMPILED, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("start", [1, 3])
def test_numbers_are_pythons(f, args, start, from_look):
    from_look(start)
    jitted, expected = plait.jit(f), drawn(f, args)
    for _ in range(3):
        got = drawn(jitted, args)
        assert got[0] == expected[0] and got[2] == expected[2]
        assert f is dice or got[1] == expected[1]  # a generator has no representation


@pytest.mark.parametrize("f, args", COMPILED, ids=lambda x: getattr(x, "__name__", ""))
def test_no_such_loop_stays_pythons(f, args, at_once, monkeypatch):
    check_compiled(f, args, monkeypatch)


def test_others_stay_pythons(at_once):
    class Loaded(random.Random):
        def random(self):
            return 0.25

    def normal(n):
        s = 0.0
        for i in range(n):
            s += random.gauss(0, 1)
        return s

    assert drawn(plait.jit(normal), (9,)) == drawn(normal, (9,))
    assert outcome(plait.jit(dice), (Loaded(1), 20))[0] == outcome(dice, (Loaded(1), 20))[0]
