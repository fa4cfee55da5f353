"""Parts of lists, `a[i:j]`, in compiled loops: new lists, which share nothing with the one that they are of."""

import numpy as np
import pytest
from loop_checks import check, check_compiled

INTS, FLOATS = [5, 3, 8, 1, 9, 2], [0.5 * k for k in range(9)]


def moving(data, w):
    out = []
    for i in range(w, len(data) + 1):
        window = data[i - w : i]
        out.append((sum(window) / len(window), max(window) - min(window), window[0], window[-1]))
    return out


def all_ends(a):
    out = []
    for i in range(-8, 9):
        for j in range(-8, 9):
            for v in a[i:j]:
                out.append(v)
            for v in a[i:j:2]:
                out.append(v)
            for v in a[i:j:-1]:
                out.append(v)
            for v in a[j::-3]:
                out.append(v)
            out.append(len(a[i:]) * 100 + len(a[:j]))
        for v in a[::-1]:
            out.append(v)
    return out


def apart(a):
    out = []
    for k in range(1, len(a)):
        left, right = a[:k], a[k:]
        left.append(100)
        right[0] = -1
        left.sort()
        a[0] = left[0] + 1
        out.append((left[0], left[-1], len(left), right[0], right[-1], a[-1]))
    return out, a


def of_its_own(a):
    t = 0
    for k in range(5):
        b = []
        for v in a:
            b.append(v * k)
        c = b[1:-1]
        b[1] = 7
        t += sum(c) + max(b[2:]) - min(b[:3]) + sum(b[k : k + 2])
        if 9 in c[1:]:
            t += 1
    return t


def read_behind(a):
    best = -1.0
    for i in range(len(a)):
        for j in range(i + 1, len(a) + 1):
            s = sum(a[i:j])
            if s > best:
                best, which = s, a[i:j]
    return best, which


def returned(a):
    for i in range(len(a)):
        if a[i] > 7:
            return a[i:]
    return a[:0]


def of_tuples(a):
    t = 0
    for k in range(len(a)):
        for x, y in a[k:]:
            t += x * y
    return t


def of_rows(a):
    t = 0
    for k in range(len(a)):
        for row in a[k:]:
            row[0] += 1
            t += row[1]
    return t


def assigned(a):
    for k in range(3):
        a[k : k + 2] = [k, k, k]
        del a[-1:]
    return a


def kept(a):
    last, t = a[:1], 0
    for k in range(2, len(a)):
        now = a[k - 2 : k]
        t += last[0] * now[1] - len(last)
        last = now
    return t, last, now, last is now


def ends(a, n):
    t = 0
    for k in range(3):
        t += sum(a[k:n])
    return t


def pascal(n):
    row, t = [1], 0
    for i in range(n):
        new = [1]
        for j in range(len(row) - 1):
            new.append(row[j] + row[j + 1])
        new.append(1)
        t += sum(row[1:-1]) * i
        row = new
    return t, row


def shrinking(a):
    t = 0
    while len(a) > 1:
        head = a[0]
        a = a[1:]
        t = t * 3 + head * len(a) + sum(a[::2])
    return t, a


def turned(a):
    for k in range(4):
        b = a[1:]
        b.append(a[0])
        a = b[:]
        b[0] = -k
    return a


def rotated(a):
    for k in range(4):
        a = a[1:] + a[:1]
    return a


def joined(a, b):
    t = 0
    for k in range(4):
        c = a + b
        c.append(k)
        d = [k, 2] + c[k:] + [0]
        c[0] = 9
        t = t * 5 + sum(d) - max(c) + len(a + b + d)
        if 7 in [7] + a:
            t += 1
        a.append(k)
    return t, a, b


def of_two_types(a):
    out = []
    for k in range(3):
        for v in a + [k, 0.5, True]:
            out.append(v)
    return out


def pairs_joined(a):
    t = 0
    for k in range(3):
        for x, y in a[k:] + a[:k] + [(k, 1)]:
            t = t * 3 + x - y
    return t


COMPILED = [
    (rotated, (INTS,)), (rotated, (FLOATS,)), (joined, (INTS, [1, 7])), (of_two_types, (INTS,)), (of_two_types, (FLOATS,)), (pairs_joined, ([(1, 2), (3, 4), (5, 6)],)),
    (pascal, (12,)), (pascal, (1,)), (shrinking, (INTS,)), (shrinking, (FLOATS,)), (turned, (FLOATS,)),
    (moving, (INTS, 2)), (moving, (FLOATS, 4)), (all_ends, (INTS,)), (all_ends, ([1.5],)), (apart, (FLOATS,)), (of_its_own, (INTS,)), (read_behind, (FLOATS,)),
    (returned, (INTS,)), (of_tuples, ([(1, 2), (3, 4), (5, 6)],)), (ends, (INTS, np.int64(4))),
]  # fmt: skip
OTHERS = [
    (rotated, (tuple(INTS),)), (joined, (INTS, (1, 7))), (joined, (INTS, [])), (joined, ([], [])), (joined, (INTS, 3)), (pairs_joined, ([(1, 2, 3)],)), (rotated, ([[1], [2], [3]],)),
    (moving, ([], 2)), (moving, ([1, 2.5, True, 4], 2)), (moving, (tuple(INTS), 2)), (apart, (INTS,)), (of_rows, ([[1, 2], [3, 4]],)), (assigned, (INTS,)), (kept, (INTS,)), (ends, (INTS, 2.0)),
    (ends, (INTS, None)), (all_ends, ([],)),
]  # fmt: skip


@pytest.mark.parametrize("f, args", COMPILED)
def test_parts(f, args, at_once, monkeypatch):
    check(f, args)
    check_compiled(f, args, monkeypatch)


@pytest.mark.parametrize("f, args", OTHERS)
def test_others(f, args, at_once):
    check(f, args)


@pytest.mark.parametrize("look", [2, 4, 7])
@pytest.mark.parametrize("f, args", [COMPILED[0], (pascal, (12,)), (shrinking, (FLOATS,)), (turned, (INTS,)), (rotated, (INTS,)), (joined, (INTS, [1, 7])), (apart, (INTS,)), (read_behind, (FLOATS,)), (kept, (INTS,))])
def test_goes_over_later(f, args, look, from_look):
    from_look(look)
    check(f, args)
