"""Dicts and sets that compiled loops make and change, and those from before the loop, which have at its end, or where it fails, what Python would
have left in them."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from loop_checks import check, check_compiled, outcome

import plait
from plait._python_loops import codes, going_over

rng = np.random.default_rng(5)
X = rng.random(50)
LABELS = rng.integers(0, 9, 60)
INTS = LABELS.tolist()


def counted(x):
    counts = dict()
    for v in x:
        if v in counts:
            counts[v] += 1
        else:
            counts[v] = 1
    return counts


def counted_again(x, counts):
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    return counts


def counter(x):
    counts, missing = Counter(), 0
    for v in x:
        counts[v] += 1
        missing += counts[-1]
    return counts, missing


def grouped(x, y):
    sums, many = defaultdict(float), defaultdict(int)
    for k, v in zip(x, y):
        sums[k] += v
        many[k] += 1
        many[-1]
    return sums, many


def of_keys(x, factory):
    d = defaultdict(factory)
    for v in x:
        d[v, v * 2] += v
    return d


def conflicts(a, b, c, e):
    total, seen = 0, set()
    for i in range(len(a)):
        key = (a[i], b[i], c[i], e[i])
        if key in seen:
            total += 10
        else:
            seen.add(key)
    return total, seen


def inside(x, n):
    total = 0
    for i in range(n):
        first, seen = {}, set()
        for j in range(len(x)):
            v = int(x[j]) * i
            if v not in first:
                first[v] = j
            elif v in seen:
                continue
            seen.add(v)
        for k, j in first.items():
            total = (total * 31 + k * j) % 10007
        for k in first:
            total = (total * 7 + k) % 10007
        for j in first.values():
            total = (total * 5 + j) % 10007
        total += len(first) + len(seen) + sum(first.values()) + max(first.values()) - min(first)
    return total


def literals(n):
    s = 0
    for i in range(n):
        d = {1: 10, i: 20, 3: 30}
        e = {i, i * i, 3}
        s += d[3] + d[1] + len(d) + len(e)
        if i * i in e and 3 in {1, 2, 3}:
            s += 1
        if not {} and set():
            s += 100
    return s


def pairs_to_pairs(n):
    best, s = {}, 0
    for i in range(n):
        k = (i % 3, i % 2 == 0)
        if k not in best or best[k][0] < i * 7 % 11:
            best[k] = (i * 7 % 11, i * 0.5)
        a, b = best[k]
        s += a + b
        a, b = best.get((i, False), (0, 1.0))
        s -= a * b
    return s, best


def removed(n):
    d, s = {}, 0
    for i in range(n):
        d[i % 7] = i
        if i % 3 == 0:
            s += d.pop(i % 5, -1)
        if i % 4 == 1 and i % 7 in d:
            del d[i % 7]
        for k, v in d.items():
            s = (s * 31 + k * v) % 100003
        if i % 11 == 10:
            d.clear()
        if d:
            s += len(d)
    return s, d


def set_methods(n):
    s, found = set(), 0
    for i in range(n):
        other = set()
        other.add(i % 5)
        other.add(i)
        other.discard(0)
        other.discard(100)
        if 3 in other:
            other.remove(3)
        other.update([i, i + 1, 7])
        found += len(other)
        s.add(i % 6)
    return found, len(s), 5 in s


def defaults(x):
    d = {}
    for i in range(len(x)):
        d.setdefault(x[i], i)
        d[x[i]] += d.setdefault(i, 1)
    return d


def of_kinds(n):
    d = {}
    for i in range(n):
        d[i % 2 == 0] = i
        d[i] = i * 0.5
        d[np.int32(i % 3)] = True
    return d


def values_of_kinds(x):
    d, last = {}, 0
    for i in range(len(x)):
        last = d.get(i - 2, 0)
        d[i] = x[i] if i % 3 == 0 else i if i % 3 == 1 else last
    return d, last


def missing(n, k):
    d = {}
    for i in range(n):
        d[i] = i
        d[i - k]
    return d


def missing_pair(d, n):
    for i in range(n):
        d[i, 0.5 > i] = i
        d[i + 1, True] += 1


def missing_removed(d, n):
    for i in range(n):
        d.pop(i)


def missing_deleted(d, x):
    for v in x:
        del d[v]


def missing_in_set(s, n):
    for i in range(n):
        s.add(n)
        t = {i}
        t.remove(i * 2)


def changed_values(d, n):
    for i in range(n):
        for k in d:
            d[k] += i
    return d


def comprehended(x, n):
    s = 0
    for i in range(n):
        squares = {v: v * v for v in x if v > i}
        rests = {v % (i + 2) for v in x}
        pairs = {(v, w % 2) for v in x for w in squares}
        ints = {int(v) for v in x if v != i}
        s += len(rests) * 7 + len(pairs) + sum(squares.values()) + sum(ints) * max(ints) - min(ints) + all(ints)
        for k, v in {a + b: a for a, b in zip(x, x)}.items():
            s = (s * 3 + k - v) % 10007
        rows = [(v, i) for v in x if v > 3]
        s += rows[0][0]
    return s


def copies(d, seen, n):
    s = 0
    for i in range(n):
        mine, plain, there = d.copy(), dict(d), set(seen)
        mine[i] = mine.get(i, 0) + 1
        plain[i + 100] = 0.5
        there.discard(i)
        there.add(-i)
        if i % 2 and i - 2 in d:
            del d[i - 2]
        d[i * 2] = len(mine) + len(there.copy())
        for k, v in plain.items():
            s = (s * 5 + k + v) % 10007
        s += sum(mine.values())
    return s, d, seen


def tried(d, n):
    s = 0
    for i in range(n):
        if i in d and d[i] > 2 or not d:
            s += d[i] if i in d else 7
        elif (i - 1 in d or s > 5) and d:
            s -= 1
        while d and i * 3 in d:
            d.pop(i * 3)
    return s, d


def scaled(d, n):
    for i in range(n):
        for k in d:
            d[k] = d[k] * 2 + k
        for k, v in d.items():
            d[k] = v - 1
    return d


def dropped(d, x):
    for v in x:
        d.pop(v, None)
        d[v + 1] = v
    return d


def kept(d, x):
    for v in x:
        if v in d:
            d[v] = d.pop(v)
        else:
            d[v] = 0
    return [*d.items()]


def remembered(n):
    known = {0: 0, 1: 1}
    for i in range(2, n):
        known[i] = (known[i - 1] + known[i - 2]) % 1000007
    return known


def seen_before(x, seen):
    n = 0
    for v in x:
        if v in seen:
            n += 1
        seen.add(v)
    return n, [*seen]


def noted(d, k, v):
    d[k] = d.get(k, 0) + v
    return d[k]


def by_functions(n):
    d, s = {}, 0
    for i in range(n):
        s += noted(d, i % 5, i)
    return s, d


def read(d, x):
    s = 0
    for v in x:
        s += d[v]
    return s


def read_pairs(d, n):
    s = 0
    for i in range(n):
        for (a, b), (c, e) in d.items():
            s += a * b + c * e
    return s


def looped(d, n):
    s = 0
    while n > 0:
        n -= 1
        s += len(d) + sum(d.values())
        for k, v in enumerate(d.values()):
            s += k * v
    return s


COMPILED = [
    (counted, (LABELS,)), (counted, (INTS,)), (counted, (LABELS.astype("i1"),)), (counted, (LABELS > 4,)), (counted_again, (INTS, {})),
    (counted_again, (INTS, {3: 5, -1: 2})),
    (counted_again, (LABELS, {3: 5, True: 2})), (counted_again, (INTS, Counter([1, 1, 4]))), (counted_again, (INTS, defaultdict(int, {7: 1}))),
    (counter, (LABELS,)), (counter, (INTS,)),
    (grouped, (LABELS, X)), (grouped, (INTS, X.tolist())), (of_keys, (INTS, int)), (of_keys, (INTS, float)),
    (conflicts, tuple(rng.integers(0, 3, (4, 60)))), (inside, (LABELS, 6)),
    (literals, (9,)), (pairs_to_pairs, (30,)), (removed, (60,)), (set_methods, (20,)), (defaults, (LABELS,)), (of_kinds, (9,)),
    (values_of_kinds, (X,)), (values_of_kinds, (INTS,)),
    (missing, (9, 0)), (missing, (9, 3)), (missing_pair, ({(0, False): 1}, 9)), (missing_removed, ({0: 1.5, 1: 2.5, 3: 4.5, 2: 0.0}, 9)),
    (missing_deleted, ({1: 1, 2: 2}, [2, 5, 1])),
    (missing_deleted, (Counter([1, 2, 3]), [2, 5, 1])), (missing_deleted, ({1: 1, 2: 2}, LABELS)), (missing_in_set, ({1}, 4)),
    (changed_values, ({2: 1, 1: 0.5}, 5)),
    (kept, ({2: 1, True: 0.5, 5: 3}, [5, 1, 7, 2, 1])), (remembered, (80,)), (seen_before, (INTS, {1, 2})), (seen_before, (LABELS, set())),
    (by_functions, (30,)),
    (read, ({k: k * 0.5 for k in range(9)}, LABELS)), (read, ({1: 2.0}, LABELS)), (read_pairs, ({(1, 2): (3, 4.5), (2, 3): (0, 1.5)}, 4)),
    (looped, ({1: 2, 5: 3}, 6)),
    (comprehended, (INTS, 6)), (copies, ({3: 1, 8: 2}, {1, 5}, 9)), (copies, (Counter([1, 1, 7]), set(), 9)), (copies, ({}, {3}, 9)),
    (tried, ({1: 5, 9: 1, 3: 4, 0: 2}, 12)),
    (scaled, ({1: 2, 5: 3}, 6)), (dropped, ({1: 2, 5: 3}, [7, 1, 5, 8, 6])), (looped, ({1: np.float32(2), 5: np.float32(3)}, 6)),
    (read, (Counter([3, 3, 5]), INTS)), (read, (defaultdict(float), INTS)),
]  # fmt: skip


def returned(n):
    for i in range(n):
        d = {i: 1}
    return d


def over_a_set(x, n):
    found = []
    for i in range(n):
        for k in x:
            found.append(k)
    return found


def loses(s, n):
    for i in range(n):
        s.discard(i)
        s.add(i * 3)
    return [*s]


def changes_under_it(d, n):
    for i in range(n):
        for k in d:
            d[k + 1] = 0


def of_none(d, n):
    s = 0
    for i in range(n):
        v = d.get(i)
        s += 0 if v is None else v
    return s


OTHERS = [
    (returned, (4,)), (over_a_set, ({9, 1, 5}, 3)), (loses, ({1, 2, 8, 16}, 9)), (changes_under_it, ({1: 2}, 3)), (of_none, ({1: 2}, 3)),
    (counted, (X,)), (counted, (["a", "b", "a"],)),
    (counted, ([1, 2.0, 1.0],)), (counted, ([float("nan")] * 2,)), (counted, ([2**70, 1, 2**70],)), (counted, (LABELS.astype("u8"),)),
    (read, ({1.0: 2, 2: 3}, [1, 2])), (read, ({"a": 1}, [1])),
    (read, ({1: 2**70}, [1, 2])), (read, ({(1, 2): 3, 4: 5}, [4, 4])), (read, ({1: "a"}, [1])),
    (counted_again, (INTS, defaultdict(lambda: 7, {1: 2}))), (counted_again, ([(1, 2), (1,)], {})),
]  # fmt: skip


@pytest.mark.parametrize("f, args", COMPILED, ids=lambda x: getattr(x, "__name__", ""))
def test_no_such_loop_stays_pythons(f, args, at_once, monkeypatch):
    check_compiled(f, args, monkeypatch)


@pytest.mark.parametrize("f, args", [*COMPILED, *OTHERS], ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("start", [1, 2, 5])
def test_tables_are_pythons(f, args, start, from_look):
    from_look(start)
    check(f, args)


@pytest.mark.parametrize("make", [dict, Counter, lambda: defaultdict(int)])
def test_the_dict_stays_the_same(make, at_once):
    key, value = 10**6, 10**7
    d = make()
    d.update({key: value, 3: 10**8})

    def changed(a, n):
        b = a
        for i in range(n):
            b[i] = i
            b.pop(3, 0)
        return a, b

    a, b = plait.jit(changed)(d, 5)
    assert a is b and a is d and [*d.items()] == [(key, value), (0, 0), (1, 1), (2, 2), (4, 4)]
    assert next(iter(d)) is key and d[key] is value


def test_one_dict_by_two_names_stays_pythons(at_once):
    def shared(a, b):
        for i in range(3):
            a[i] = len(b)
        return a

    ours, theirs = {5: 1}, {5: 1}
    assert plait.jit(shared)(ours, ours) == shared(theirs, theirs)


def test_zeros_keep_their_signs(at_once):
    def set_to(d, x):
        for k in range(len(x)):
            d[k] = x[k]
        return d

    assert str(plait.jit(set_to)({0: 0.0, 1: -0.0}, [-0.0, 0.0])) == "{0: -0.0, 1: 0.0}"


def test_a_dict_grows_in_code_that_is_soon_there(monkeypatch):
    for name, seconds in {"WORTH": 0.0, "PART": 0.0, "MUCH": 1e9}.items():
        monkeypatch.setattr(going_over, name, seconds)
    monkeypatch.setattr(codes.Code, "ready", property(lambda code: code.usable and (code.procedure.compile(quick=True) or True)))
    for f, args in COMPILED:
        assert outcome(plait.jit(f), args) == outcome(f, args)
