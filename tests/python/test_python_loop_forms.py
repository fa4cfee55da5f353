"""Loops in the forms that people write them in: over arrays and lists, with zip(), enumerate() and reversed(), with `raise`, `assert`, `:=`, unpacked rows and
NumPy's integers. Results, errors, lines and what is left of the arguments are Python's, wherever the loop goes over to machine code."""

import contextlib
import math

import numpy as np
import pytest
from loop_checks import anew, check, check_compiled, outcome
from loop_cases import checked  # whose `assert` pytest leaves as it is

import plait
from plait._jit import loops_of

rng = np.random.default_rng(7)
X = rng.random(60) - 0.3


def garch(x, c, a, b):
    h, s = 1.0, 0.0
    for v in x:
        h = c + a * v * v + b * h
        s += math.log(h) + v * v / h
    return s, h, v


def numbered(x, out):
    for i, v in enumerate(x):
        out[i] = v * 2 if v > 0 else -v
    return out, i, v


def numbered_from(x, n):
    s = 0.0
    for i, v in enumerate(x, n):
        s += i * v
    return s, i


def checksum(data):
    a, b = 1, 0
    for c in data:
        a = (a + c) % 65521
        b = (b + a) % 65521
    for i in range(len(data)):
        a ^= data[i] * (104 in data)
    return (b << 16) | a, data[-1]


def numbered_by_name(x, n):
    s = 0.0
    for i, v in enumerate(x, start=n):
        for j, u in enumerate(x[:3], start=i):
            s += i * v + j * u
    return s


def zipped(x, y):
    s = 0.0
    for a, b in zip(x, y):
        s += a * b
    return s


def nested(values):
    t = 0
    for n, (i, v) in enumerate(zip(range(5, 500), reversed(values)), 3):
        t += n * i - v
    return t, n


def largest_of_rows(x):
    total = 0.0
    for row in x:
        best = row[0]
        for v in row[1:]:
            if v > best:
                best = v
        total += best
    return total


def rows_are_set(x):
    for row in x:
        row[:] = row - row[0]
    return x


def points(p):
    s = 0.0
    for x, y in p:
        s += x * y
    for i in range(len(p)):
        a, b = p[i]
        s -= a - b
    return s


def of_lists(values, weights):
    s = 0
    for k in values:
        s += k * weights[k % 3]
    return s


def list_is_set(values):
    s = 0
    for i in range(len(values)):
        s += values[i]
        values[i] = s % 11
    values[-1] += 100
    return s


def sieve(n):
    is_prime, count = [True] * n, 0
    for i in range(2, n):
        if is_prime[i]:
            count += 1
            for j in range(i * i, n, i):
                is_prime[j] = False
    return count, is_prime


def read_beyond(values, n):
    s = 0
    for i in range(n):
        s += values[i]
    return s


def written_beyond(values, n):
    for i in range(n):
        values[i] = i


def added_beyond(values, n):
    for i in range(n):
        values[i] += i


def checked_root(v):
    if v < 0:
        raise KeyError(v)
    return math.sqrt(v)


def roots(x):
    s = 0.0
    for v in x:
        s += checked_root(v)
    return s


def raised_of_either(n, x):
    v = 0
    for i in range(n):
        if i == 5:
            raise ArithmeticError(v, type(v).__name__)
        v = x[i] if i % 2 else i
    return v


def walrus(x):
    n, s, k = 0, 0.0, 100
    for v in x:
        if (y := v * v) > 0.1:
            n += 1
            s += y
    while (k := k // 2) > 0:
        n += k
    return n, s, k


def fnv(data):
    h = np.uint64(14695981039346656037)
    for b in data:
        h = (h ^ np.uint64(b)) * np.uint64(1099511628211)
    return h


def casts(x, n):
    s = 0
    t = u = w = z = 0
    for i in range(n):
        t, u, w, z = np.int32(i % 1000), np.uint8(i & 255), np.int64(x[i] * 1000), np.int16(i * 0.5)
        s += int(t) + int(u) + int(w) + int(z)
    return s, t, u, w, z


def narrow(n):
    t = np.int8(0)
    for i in range(n):
        t = np.int8(i)
    return t


def swapped(a, i, j):
    a[i], a[j] = a[j], a[i]


def reversed_by_calls(a):
    n = len(a)
    for i in range(n // 2):
        swapped(a, i, n - 1 - i)
    return a


def found(x, v):
    for i, u in enumerate(x):
        if u == v:
            return i
    else:
        i = -2
    return -1, i


def comprehensions(x, values):
    return sum(v * v for v in x), [v + 1 for v in x if v > 0.5], [a * b for a, b in zip(x, values)], max(i - v for i, v in enumerate(values))


def of_a_temporary(x):
    s = 0.0
    for v in x[::2] * 2.0:
        s += v
    return s


def walrus_in_comprehensions(x, n):
    last = y = 0
    found = any((last := v) > 5.0 for v in x), [y := k * k for k in range(n)]
    s = 0.0
    for i in range(n):
        s += sum((z := v) for v in x)
        s += z + last
    return found, last, y, s, z


def absolute(n, x):
    for i in range(n):
        x[i] = abs(i - 2**63)
    return x


def of_read_only(out, fixed, a):
    a = [*a]
    for i in range(len(out)):
        out[i] = a.pop()
        fixed[i] += 1
    return out


def suppressed(n, x):
    last = -1
    with contextlib.suppress(ZeroDivisionError):
        for i in range(n):
            last = x[i]
        last = 1 // (n - 5)
        last = 0
    return last


def set_in_else(x):
    for v in x:
        pass
    else:
        y = 1
    return y


def by_index(x, i, n):
    s = 0.0
    for _ in range(n):
        s += x[i]
    return s


CASES = {
    garch: (X, 0.1, 0.2, 0.7), numbered: (X, np.zeros(60)), numbered_from: (X, 7), numbered_by_name: (X, 7), checksum: (b"hello world",), zipped: (X, X[:20]), nested: ([3, 1, 2] * 9,),
    largest_of_rows: (X.reshape(6, 10),), rows_are_set: (X.reshape(6, 10),), points: (X.reshape(30, 2),), of_lists: (list(range(30)), (1, 2, 3)),
    list_is_set: (list(range(20)),), sieve: (60,), checked: (abs(X), 2.0), roots: (abs(X),), walrus: (X,), fnv: (rng.integers(0, 256, 40).astype(np.uint8),),
    casts: (X, 50), narrow: (100,), reversed_by_calls: (X,), found: (X, X[40]), comprehensions: (X, list(range(50))), of_a_temporary: (X,),
}  # fmt: skip
OTHERS = [
    (checksum, (b"",)), (checksum, (bytearray(b"hello"),)), (checksum, ("text",)), (checksum, ([104, 1],)), (read_beyond, (b"abc", 5)), (written_beyond, (b"abc", 2)),
    (walrus_in_comprehensions, (X, 9)), (set_in_else, (X,)), (by_index, (X, 2**63, 5)), (by_index, (X, 3, 5)), (suppressed, (5, X)), (suppressed, (6, X)),
    (garch, (X.tolist(), 0.1, 0.2, 0.7)), (garch, (tuple(X.tolist()), 0.1, 0.2, 0.7)), (garch, (X.astype("f4"), 0.1, 0.2, 0.7)), (zipped, (X, [1.5] * 70)),
    (numbered, (X[:0], np.zeros(2))), (found, (X, 9.0)), (found, ([], 1)), (points, (X.reshape(20, 3),)), (read_beyond, (list(range(9)), 20)),
    (read_beyond, ((1.5, 2.5), 20)), (written_beyond, ([7] * 9, 20)), (added_beyond, ([7] * 9, 20)), (checked, (X, 0.5)), (checked, (X - 0.2, 2.0)), (checked, (X.astype("f4"), 0.5)),
    (roots, (X,)), (raised_of_either, (9, X)), (narrow, (200,)), (numbered, (X, np.zeros(5))), (of_lists, ([1, 2.5, 3], (1, 2, 3))), (of_lists, (range(30), [1, 2, 3])),
    (of_lists, ({1: 2, 5: 6}, (1, 2, 3))), (zipped, (X, {1.0, 2.0})), (garch, (5, 0.1, 0.2, 0.7)), (largest_of_rows, (X,)), (list_is_set, ([True, False, True],)), (list_is_set, ((1, 2),)),
]  # fmt: skip


@pytest.mark.parametrize("f, args", [*CASES.items(), *OTHERS], ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("start", [1, 2, 4])
def test_values_and_errors_are_pythons(f, args, start, from_look):
    from_look(start)
    check(f, args)


@pytest.mark.parametrize("f, args", CASES.items(), ids=lambda x: getattr(x, "__name__", ""))
def test_no_such_loop_stays_pythons(f, args, at_once, monkeypatch):
    check_compiled(f, args, monkeypatch)


def test_a_list_by_two_names_stays_pythons(at_once):
    def shifted(a, b):
        for i in range(1, len(a)):
            a[i] = b[i - 1] + 1
        return a

    ours, theirs = [5] * 9, [5] * 9
    assert plait.jit(shifted)(ours, ours) == shifted(theirs, theirs) and ours == theirs


@pytest.mark.parametrize("n", [0, 5])
def test_read_only_arrays_stay_as_they_are(n, at_once):
    fixed = np.arange(5.0)
    fixed.flags.writeable = False

    def of_copies(f):
        return lambda out, a: f(out, fixed, a)

    for _ in range(2):
        ours, theirs = (outcome(of_copies(f), (np.zeros(n), [1.0] * 9)) for f in (plait.jit(of_read_only), of_read_only))
        assert ours[0] == theirs[0]
    ours, theirs = np.zeros(n), np.zeros(n)
    for f, out in ((plait.jit(of_read_only), ours), (of_read_only, theirs)):
        try:
            f(out, fixed, range(9))
        except ValueError as e:
            assert "read-only" in str(e)
    assert ours.tolist() == theirs.tolist()


def test_the_absolute_of_the_least_int(at_once):
    check(absolute, (9, X.copy()))


def test_what_a_try_leads_to_is_read_behind_a_loop_in_it(at_once):
    def tried(x):
        last = 0.0
        while True:
            try:
                for v in x:
                    last = v
                break
            except ValueError:
                last = -1.0
        return last

    assert plait.jit(tried)(X) == tried(X)


def suppressed(x, z):
    last = -5
    with contextlib.suppress(ZeroDivisionError):
        for v in x:
            last = int(v)
            z = z + last
            1 // last
    return last, z


def suppressed_in_ranges(x, n):
    last = -5
    with contextlib.suppress(IndexError):
        for i in range(n):
            last = x[i]
    return last


def of_no_elements(n):
    total = sum(1 for k in range(n) if False)
    if n > 3 and True:
        for i in range(n):
            if not True:
                total += 1
            elif False:
                total += 2
            total += 3 if i is None else 4
    return total, [k for k in range(n) if False]


def of_nothing(x):
    s = 0
    for v in x:
        s += v
    return s, [v + 1 for v in x]


def with_errstate(x, n):
    s = 0.0
    with np.errstate(divide="ignore"):
        for i in range(n):
            s += 1 / x[i] if x[i] > 0 else 0.0
    return s


@pytest.mark.parametrize(
    "f, args",
    [(suppressed, (np.array([3, 2, 1, 0, 5]), np.zeros(2))), (suppressed_in_ranges, (X, 70)), (of_nothing, (None,)), (of_nothing, (3,)), (with_errstate, (X, 50)), (of_no_elements, (9,))],
)
def test_what_is_around_a_loop(f, args, at_once):
    jitted = plait.jit(anew(f))
    for _ in range(2):
        assert outcome(jitted, args) == outcome(f, args)
    assert any(code.runs for loop in loops_of(jitted) for code in loop.codes.values()) == (f in (with_errstate, of_no_elements))
