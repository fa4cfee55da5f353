"""Attributes of objects in compiled loops: read, set, and called as methods."""

import collections
import dataclasses
import enum
import math

import numpy as np
import pytest

import plait
from loop_checks import anew, check, check_compiled, outcome
from plait._python_loops import going_over


class Walk:
    STEPS = 3

    def __init__(self, n):
        self.at, self.total, self.seen = 0, 0, 0.5
        self.values, self.counts, self.listed = np.arange(float(n)), [0] * n, [1]
        self.inner = Inner(2)

    def __repr__(self):
        return f"Walk({vars(self)})"

    @property
    def twice(self):
        return 2 * self.at

    @staticmethod
    def scaled(x, by=2):
        return x * by

    def step(self, by):
        self.at += by
        self.inner.shift(by)
        return self.at

    def __call__(self, x):
        return x + self.seen

    def run(self, n):
        for i in range(n):
            self.total += self.step(i) + self.inner.weight
            self.values[i] = self.total
            self.counts[i % 3] += 1
        return self.total


class Inner:
    def __init__(self, weight):
        self.weight = weight

    def __repr__(self):
        return f"Inner({vars(self)})"

    def shift(self, by):
        if by % 2:
            self.weight += by


class Slotted:
    __slots__ = "x", "missing"

    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return f"Slotted({self.x!r})"


@dataclasses.dataclass
class Point:
    x: float
    y: float = 1.0


@dataclasses.dataclass(frozen=True)
class Fixed:
    rate: float


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


Pair = collections.namedtuple("Pair", "a b")


def run(walk, n):
    return walk.run(n)


def reads(walk, n):
    s = 0
    for i in range(n):
        s += walk.values[i] * walk.STEPS + walk.counts[i] + walk.inner.weight + len(walk.listed) + walk.twice + walk.scaled(i) + walk(i)
    return s


def changes_type(walk, x):
    for v in x:
        walk.total += v
        if v > 2:
            walk.seen = 7
    return walk


def appends(walk, n):
    for i in range(n):
        walk.listed.append(i * i)
        walk.inner.weight = len(walk.listed)
    return walk


def rebinds(walk, n):
    for i in range(n):
        walk.values = walk.values * 0.5 + i
        walk.values[0] += 1.0
    return walk


def rebinds_in_place(walk, n):
    for i in range(n):
        walk.values += i
    return walk


def fails(walk, n):
    for i in range(n):
        walk.at += 1
        walk.listed.append(i)
        walk.total += walk.values[i]
    return walk


def refuses(walk, n):
    for i in range(n):
        walk.at += 2
        if walk.at > 7:
            raise ValueError(f"{walk.at} of {walk.inner.weight} in {walk}")
    return walk


def leaves(walk, n):
    for i in range(n):
        walk.at += i
        if walk.at > 20:
            return walk.at, i
    return None


def waits(walk, limit):
    while walk.at < limit:
        walk.at += 1 + walk.at % 3
    else:
        walk.total = walk.at
    return walk


def one_after_another(walk, n):
    inner = walk.inner
    for i in range(n):
        other = walk.inner
        other.weight += i
        inner.weight += 1
    return walk


def two(a, b, n):
    for i in range(n):
        a.x += b.x
        b.y = a.x - i
    return a, b


def the_same(a, n):
    return two(a, a, n)


def slots(s, n):
    for i in range(n):
        s.x = s.x * 2 % 1001
    return s


def from_fixed(f, x):
    s = 0.0
    for v in x:
        s = s * f.rate + v
    return s


def of_enumerations(c, n):
    s = 0
    for i in range(n):
        if c == Colour.RED:
            s += Colour.BLUE.value * i
        elif c is Colour.BLUE:
            s -= i
    return s


def of_pairs(p, n):
    s = 0
    for i in range(n):
        s += p.a * i - p.b
    return s


def comprehended(walk, n):
    return [walk.step(i) for i in range(n)], sum(walk.inner.weight * i for i in range(n)), walk


def walk():
    return Walk(6)


CASES = [
    (run, (Walk(6), 6)),
    (reads, (Walk(6), 6)),
    (changes_type, (Walk(6), [1, 2, 3])),
    (changes_type, (Walk(6), [0.5, 2.5])),
    (changes_type, (Walk(6), np.array([0.5, 2.5]))),
    (appends, (Walk(6), 9)),
    (rebinds, (Walk(6), 4)),
    (rebinds_in_place, (Walk(6), 4)),
    (fails, (Walk(6), 9)),
    (refuses, (Walk(6), 9)),
    (leaves, (Walk(6), 9)),
    (waits, (Walk(6), 40)),
    (two, (Point(1.0), Point(2.0, 3.0), 5)),
    (slots, (Slotted(3), 20)),
    (from_fixed, (Fixed(0.5), [1.0, 2.0, 3.0])),
    (of_enumerations, (Colour.RED, 5)),
    (of_enumerations, (Colour.BLUE, 5)),
    (of_pairs, (Pair(2, 0.5), 5)),
]


@pytest.mark.parametrize("look", [1, 2, 3])
@pytest.mark.parametrize("f, args", CASES)
def test_attributes_are_pythons(f, args, look, from_look):
    from_look(look)
    check(anew(f), args)


@pytest.mark.parametrize("f, args", CASES)
def test_loops_of_objects_are_compiled(f, args, at_once, monkeypatch):
    check_compiled(f if f is not run else Walk.run, args, monkeypatch)


@pytest.mark.parametrize(
    "f, args",
    [(the_same, (Point(1.0), 5)), (one_after_another, (Walk(6), 5)), (comprehended, (Walk(6), 5)), (slots, (Slotted([]), 0)), (slots, (Fixed(1.0), 3)), (from_fixed, (Slotted(1), [1.0]))],
)
def test_what_is_left_to_python(f, args, at_once):
    check(anew(f), args)


def test_a_list_or_an_array_stays_the_same_object(at_once):
    w = walk()
    listed, values, inner = w.listed, w.values, w.inner
    plait.jit(anew(appends))(w, 5)
    plait.jit(anew(rebinds_in_place))(w, 5)
    assert w.listed is listed and len(listed) == 6 and w.values is values and w.inner is inner


def outgrows(walk, n):
    for i in range(n):
        walk.at += 1
        walk.total = (walk.total + 1) * 1000
        walk.listed.append(i)
    return walk


def test_python_goes_on_with_attributes_as_they_are_then(at_once):
    check(anew(outgrows), (Walk(6), 12))


class Shown:
    def __repr__(self):
        return f"{type(self).__name__}({vars(self)})"


class Celsius(Shown):
    def __init__(self):
        self._t, self.log = 1.0, 0

    @property
    def t(self):
        return self._t

    @t.setter
    def t(self, value):
        self.log += 1
        self._t = value


class Answering(Shown):
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return len(name)


class Noting(Shown):
    def __setattr__(self, name, value):
        vars(self)[name] = value
        vars(self)["sets"] = vars(self).get("sets", 0) + 1


def sets_t(c, n):
    for i in range(n):
        c.t = c.t + i
    return c


def reads_any(a, n):
    s = 0
    for i in range(n):
        s += a.some
    return s


def noting():
    made = Noting()
    made.t = 1
    return made


@pytest.mark.parametrize("f, args, why", [(sets_t, (Celsius(), 4), "set by more"), (reads_any, (Answering(), 4), "attribute some"), (sets_t, (noting(), 4), "set by more")])
def test_attributes_that_do_more_are_pythons(f, args, why, at_once, monkeypatch):
    said = []
    monkeypatch.setattr(going_over, "log", said.append)
    check(anew(f), args)
    assert why in said[0]


def test_codes_know_the_types_of_attributes(at_once):
    jitted = plait.jit(anew(slots))
    for x in (3, 2.5, np.float32(1.5), np.int16(2), True):
        assert outcome(jitted, (Slotted(x), 9)) == outcome(slots, (Slotted(x), 9))


def test_a_method_that_changes_is_another(at_once, monkeypatch):
    jitted = plait.jit(anew(Walk.run))
    assert outcome(jitted, (walk(), 5)) == outcome(Walk.run, (walk(), 5))
    monkeypatch.setattr(Walk, "step", lambda self, by: 7)
    assert outcome(jitted, (walk(), 5)) == outcome(Walk.run, (walk(), 5))
    w = walk()
    w.step = math.floor
    assert outcome(jitted, (w, 5)) == outcome(Walk.run, (w, 5))


def constants(n):
    s = 0
    for i in range(n):
        s += Walk.STEPS * i
    return s


def test_constants_of_a_class_may_change(at_once, monkeypatch):
    jitted = plait.jit(anew(constants))
    assert jitted(5) == 30
    monkeypatch.setattr(Walk, "STEPS", 1.5)
    assert jitted(5) == 15.0
