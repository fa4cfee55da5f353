"""collections.deque in compiled loops: those from before the loop, which have their elements behind it, and those that it makes."""

import collections
from collections import deque

import numpy as np
import pytest
from loop_checks import check, check_compiled, outcome

import plait

rng = np.random.default_rng(4)
WALLS = rng.random((12, 15)) < 0.3
WALLS[0, 0] = False
X = rng.integers(0, 50, 60)


def distances(walls):
    n, m = walls.shape
    far = np.full((n, m), -1)
    far[0, 0] = 0
    q = deque([(0, 0)])
    while q:
        i, j = q.popleft()
        for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            a, b = i + di, j + dj
            if 0 <= a < n and 0 <= b < m and not walls[a, b] and far[a, b] < 0:
                far[a, b] = far[i, j] + 1
                q.append((a, b))
    return far


def cheapest(cost):
    n = len(cost)
    best = np.full(n, 10**6)
    best[0] = 0
    q = collections.deque()
    q.append(0)
    while len(q) > 0:
        i = q.popleft()
        for step in (1, 2, 5):
            j = (i + step) % n
            c = int(cost[j] % 2)
            if best[i] + c < best[j]:
                best[j] = best[i] + c
                if c == 0:
                    q.appendleft(j)
                else:
                    q.append(j)
    return best


def window(x, k):
    out, q = [], deque()
    for i in range(len(x)):
        while q and x[q[-1]] <= x[i]:
            q.pop()
        q.append(i)
        if q[0] <= i - k:
            q.popleft()
        if i >= k - 1:
            out.append(x[q[0]])
    return out


def circle(q, n):
    last = -1
    for i in range(n):
        for _ in range(i % 3):
            q.append(q.popleft())
        last = q.popleft()
        if last % 5 == 0:
            q.appendleft(last + 1)
    return q, last


def made(x):
    s = 0.0
    for i in range(len(x)):
        q = deque(x[:i])
        q.extendleft((1, 2.5, i))
        for _ in range(i):
            q.append(q.popleft())
            q.appendleft(q.pop() * 0.5)
            q.appendleft(3)
        q[0] = 7
        q.reverse()
        s = s * 0.5 + q[0] + 2 * q[-1] + sum(q) + len(q) + (3 in q)
        for v in q:
            s += v
        q.clear()
        q.append(1.5)
        s += q[0] + bool(q)
    return s


def emptied(q, n):
    for i in range(n):
        q.popleft()
        if i % 3 == 0:
            q.appendleft(1)


def popped(q, n):
    for i in range(n):
        q.append(i)
        q.pop()
        q.pop()


def beyond(q, n):
    s = 0
    for i in range(n):
        s += q[i] - q[-i - 1]
    return s


COMPILED = [
    (distances, (WALLS,)), (cheapest, (X,)), (window, (X, 7)), (circle, (deque(range(100)), 80)), (made, (X,)), (emptied, (deque([1, 2, 3]), 30)),
    (popped, (deque([5, 6]), 9)), (beyond, (deque(X.tolist()), 70)), (emptied, (deque([1.5] * 40), 30)), (circle, (deque(range(7)), 80)),
]  # fmt: skip


@pytest.mark.parametrize("f, args", COMPILED, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("start", [1, 4])
def test_deques_are_pythons(f, args, start, from_look):
    from_look(start)
    check(f, args)


@pytest.mark.parametrize("f, args", COMPILED, ids=lambda x: getattr(x, "__name__", ""))
def test_no_such_loop_stays_pythons(f, args, at_once, monkeypatch):
    check_compiled(f, args, monkeypatch)


def test_deques_of_a_largest_length_stay_pythons(at_once):
    args = deque(range(5), maxlen=5), 9
    for _ in range(2):
        assert outcome(plait.jit(popped), args) == outcome(popped, args)


def test_two_names_of_one_deque(at_once):
    def f(p, q, n):
        for i in range(n):
            p.append(i)
            q.popleft()
        return len(p), len(q)

    jitted, q = plait.jit(f), deque([1, 2, 3])
    for _ in range(2):
        assert jitted(q, q, 5) == (3, 3)
