"""Entries of loops whose values are more than numbers and arrays: lists, generators, attributes, and arrays and lists that are others behind the loop."""

import copy
import math
import sys

import numpy as np
import pytest
from test_python_loop_calls import described, runs

import plait
from plait._functions import jitted_of
from plait._jit import loops_of
from plait._python_loops import sharing

SCALES = [1.0, 2.0, 4.0]


@pytest.fixture(autouse=True)
def soon(at_once, monkeypatch):
    monkeypatch.setattr(sharing, "WORTH", math.inf)


def outcome(f, args):
    try:
        result = f(*args)
    except Exception as e:
        result = type(e), str(e)
    return shown(result), [shown(a) for a in args]


def shown(x):
    if isinstance(x, (list, tuple)):
        return type(x), [shown(v) for v in x]
    if isinstance(x, np.random.Generator):
        return repr(x.bit_generator.state)
    return {k: shown(v) for k, v in vars(x).items()} if isinstance(x, (Ball, Marked)) else described(x)


def total(numbers):
    s = 0
    for v in numbers:
        s += v
    return s


def scaled(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * SCALES[i % 3]
    return s


def doubled(numbers, by):
    for i in range(len(numbers)):
        numbers[i] = numbers[i] * 2
    return numbers[by] if numbers else None


def of_grid(rows):
    s = 0
    for i in range(len(rows)):
        for j in range(len(rows[0])):
            rows[i][j] = rows[i][j] + i
            s += rows[i][j]
    return s


def weights(pairs):
    s = 0.0
    for k, w in pairs:
        s += k * w
    return s


def two_lists(a, b):
    for i in range(len(a)):
        a[i] = b[len(b) - 1 - i] + 1
    return a, b


def collected(x, limit):
    found = []
    for i in range(len(x)):
        if x[i] > limit:
            found.append(x[i])
    return found


def numbered(x, found):
    for i in range(len(x)):
        found.append((i, x[i] * 0.5))
    return found


def fallen(numbers, i):
    while len(numbers) > 2:
        numbers.pop(i)
    return numbers


def relaxed(x, n):
    for _ in range(n):
        x = x * 0.5 + 1.0
    return x


def exchanged(a, b, n):
    for _ in range(n):
        b[0] = a[0] + 1
        a, b = b, a
    return a, b


def rolled(row, n):
    for i in range(n):
        new = [1]
        for j in range(len(row)):
            new.append(row[j] + i)
        row = new
    return row


def norms(x, n):
    s = 0.0
    for i in range(n):
        y = np.zeros(2) + x
        s += y[0] * y[1]
    return s


def walked(rng, n):
    at = 0.0
    for _ in range(n):
        at += rng.normal() if rng.random() < 0.5 else -1.0
    return at


def depth(n):
    return 1 if n < 2 else depth(n - 1) + depth(n - 2)


def depths(n):
    s = 0
    for i in range(n):
        s += depth(i)
    return s


class Ball:
    drag = 0.5

    def __init__(self, at=1.0, speed=2.0):
        self.at, self.speed = at, speed
        self.steps = [0, 0, 0]

    def force(self):
        return -self.at * self.drag

    @property
    def energy(self):
        return self.speed * self.speed


class Marked(Ball):
    pass


def moved(ball, n):
    for i in range(n):
        ball.speed += ball.force()
        ball.at += ball.speed
        ball.steps[i % 3] += int(ball.energy) % 8
    return ball.at


def swapped(a, b, n):
    for _ in range(n):
        a.at += b.speed
        b.at -= 1.0
    return a.at, b.at


FLOATS = np.linspace(0.5, 9, 20)
GRID = [[1, 2], [3, 4]]
SHARED = [5, 6, 7]


@pytest.mark.parametrize(
    "f, args, others",
    [
        (total, ([1.0, 2.5, 4.0],), [([],), ([1.0, 2],), ([True, False],), ([1, 2, 3],), ([2**70, 1],), ((1.0, 2.0),), (["a"],), ([np.float64(3)],), (range(3),)]),
        (total, ((1, 2, 3),), [((),), ((1, 2, 2**63),), ([1, 2],), ((1.0,),)]),
        (total, ([1, 2, 3],), [([2**62, 2**62],), ([2**63],), ([1, True],)]),
        (total, (b"abc",), [(b"",), (bytearray(b"abc"),)]),
        (doubled, ([1.0, 2.0, 3.0], 0), [([1, 2], 1), ([], 0), ([1.0, None], 0), ([1.0], 3)]),
        (doubled, ([1, 2, 3], 0), [([2**62], 0), ([1, 2**62], 1), ([True], 0)]),
        (of_grid, ([[1, 2], [3, 4]],), [([[1, 2], [3]],), ([[1.0], [2.0]],), ([],), ([[2**63 - 1], [5]],), ([GRID[0], GRID[0]],)]),
        (weights, ([(1, 2.0), (3, 0.5)],), [([(1, 2.0), (3, 1)],), ([(True, 2.0)],), ([(1, 2.0, 3)],), ([],), ([(2**64, 1.0)],)]),
        (weights, ([(1, 2.0), (3, 5)],), [([(1, 2.0)],), ([(1, 2**60 + 1), (1, 0.5)],)]),
        (two_lists, ([1, 2, 3], [4, 5, 6]), [(SHARED, SHARED), ([1], [2, 3]), ([1, 2, 3], [4])]),
        (collected, (FLOATS, 3.0), [(FLOATS, 100.0), (FLOATS.astype(np.float32), 3.0), (FLOATS[:0], 1.0)]),
        (numbered, (FLOATS, [(1, 2.0)]), [(FLOATS, []), (FLOATS, [(1, 2)]), (FLOATS, [None])]),
        (fallen, ([1, 2, 3, 4, 5], 0), [([1, 2, 3, 4], 3), ([1], 0), ([1.5, 2.5, 3.5], 0), ([1, 2, 3, 4], 9)]),
        (relaxed, (FLOATS, 5), [(FLOATS, 0), (FLOATS[::2], 3), (FLOATS[:0], 2), (FLOATS.reshape(4, 5), 2), (FLOATS.astype(np.float32), 2)]),
        (exchanged, (FLOATS.copy(), FLOATS + 1, 3), [(FLOATS.copy(), FLOATS + 1, 4), (FLOATS.copy(), FLOATS[::-1].copy(), 0)]),
        (rolled, ([1, 2], 4), [([1, 2], 0), ([1.5], 2), ([2**62, 2**62], 3)]),
        (norms, (FLOATS[:2], 9), [(FLOATS[:1], 3), (FLOATS[:3], 3), (FLOATS[:2], 0)]),
        (walked, (np.random.default_rng(3), 9), [(np.random.default_rng(5), 4), (np.random.Generator(np.random.MT19937(2)), 6), (None, 3), (None, 0)]),
        (depths, (9,), [(0,), (12,)]),
        (moved, (Ball(), 7), [(Ball(3.0), 2), (Ball(1, 2), 3), (Marked(), 3), (None, 0), (None, 1)]),
    ],
)  # fmt: skip
def test_a_call_by_its_entry_is_pythons(f, args, others):
    g = fast(f, args)
    for given in (args, *others, args):
        theirs, ours = copy.deepcopy(given), copy.deepcopy(given)
        assert outcome(g, ours) == outcome(f, theirs)




def fast(f, args):
    """The jitted function, of which the last calls went by entries. A call may change its arguments."""
    g = plait.jit(f)
    for _ in range(60):
        g(*copy.deepcopy(args))
    assert runs(g) > 50, [code.report() for loop in loops_of(g) for code in loop.codes.values()]
    return g


def test_an_argument_that_comes_back_is_the_same_object():
    g, a = fast(relaxed, (FLOATS, 3)), FLOATS.copy()
    assert g(a, 0) is a and g(a, 1) is not a
    g, a, b = fast(exchanged, (FLOATS.copy(), FLOATS.copy(), 3)), FLOATS.copy(), FLOATS.copy()
    found = g(a, b, 3)
    assert found[0] is b and found[1] is a
    g, row = fast(rolled, ([1, 2], 4)), [1, 2]
    assert g(row, 0) is row and row == [1, 2]


def test_a_class_that_changes_is_seen(monkeypatch):
    g = fast(moved, (Ball(), 7))
    for name, value in (("drag", 0.25), ("force", lambda ball: 2.0), ("energy", property(lambda ball: 3.0))):
        monkeypatch.setattr(Ball, name, value)
        a, b = Ball(), Ball()
        assert g(a, 5) == moved(b, 5) and shown(a) == shown(b), name


def test_a_method_of_the_objects_own_is_seen():
    g = fast(moved, (Ball(), 7))
    a, b = Ball(), Ball()
    a.force = b.force = lambda: 1.5
    assert g(a, 5) == moved(b, 5)


def test_objects_that_are_one_are_seen():
    g = fast(swapped, (Ball(), Ball(), 4))
    a, b = Ball(), Ball()
    assert g(a, a, 3) == swapped(b, b, 3) and shown(a) == shown(b)


def test_a_list_of_the_module_is_seen_as_it_is(monkeypatch):
    g = fast(scaled, (FLOATS,))
    for scales in ([8.0, 2.0, 4.0], [8.0, 3, 4.0], (2.0, 2.0, 5.0)):
        monkeypatch.setitem(globals(), "SCALES", scales)
        assert g(FLOATS) == scaled(FLOATS)


def test_a_limit_of_recursion_is_seen():
    g, before = fast(depths, (9,)), sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        assert g(12) == depths(12)
    finally:
        sys.setrecursionlimit(before)
    assert g(9) == depths(9)


def test_a_generator_draws_on_where_the_loop_has_left_it():
    g, ours, theirs = fast(walked, (np.random.default_rng(3), 9)), np.random.default_rng(11), np.random.default_rng(11)
    for n in (5, 0, 8):
        assert g(ours, n) == walked(theirs, n) and ours.random() == theirs.random()
    assert ours.bit_generator.lock.acquire(blocking=False)  # nobody holds it any more
    ours.bit_generator.lock.release()


def found_in(x, n):
    i = 0
    while x[i] < n:
        i += 1
    return i


def test_a_long_list_of_a_short_loop_is_not_carried_over():
    g = fast(found_in, ([1.0, 2.0, 3.0], 2.5))
    (loop,) = loops_of(g)
    loop.each, before, x = 1e-6, runs(g), [*map(float, range(100_000))]
    assert g(x, 3.5) == 4 and runs(g) == before
    loop.each = 1e-2
    assert g(x, 99_000.0) == 99_000 and runs(g) == before + 1


def first_of(x, n):
    last = 0.0
    for i in range(n):
        last = x[i]
    return last


def made_of(x, n):
    found = [0.0] * n
    for i in range(n):
        found[i] = x[i] * 2
    rest = []
    for i in range(n):
        rest.append(found[n - 1 - i])
    return found, rest, len(rest)


def test_a_function_of_lists_runs_on_the_callers_own():
    g, x = fast(made_of, ([1.0, 2.0], 2)), [3.0, 4.0, 5.0]
    for given in (x, (1, 2, 3), [1.5, None, 2.0], [[1.0], [2.0], [3.0]], FLOATS[:3], [FLOATS] * 3):
        assert outcome(g, (given, 2)) == outcome(made_of, (given, 2))
    g, own = fast(first_of, ([1.0, 2.0], 2)), [1]
    own.append(own)  # which has no last element
    assert not jitted_of(g).direct.takes((own, 1))
