"""Python's loops in machine code: values, types, states and errors are Python's, wherever a loop goes over to it."""

import linecache
import math
import sys
import warnings

import numpy as np
import pytest

import plait
from plait import _plait
from plait._python_loops import running


def seidel(n, a):
    for t in range(n):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] + a[i, j]) / 5.0
    return a, t, i, j


def lu(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def crc16(data, poly):
    crc = 0xFFFF
    for b in range(len(data)):
        cur = 0xFF & int(data[b])
        for _ in range(8):
            if (crc & 1) ^ (cur & 1):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            cur >>= 1
    return ~crc & 0xFFFF


def collatz(limit):
    best, length = 0, 0
    for n in range(1, limit):
        m, k = n, 0
        while m != 1:
            m = m // 2 if m % 2 == 0 else 3 * m + 1
            k += 1
        if k > length:
            best, length = n, k
    return best, length


def mandelbrot(w, h, top):
    out = np.zeros((h, w), dtype=np.int64)
    for y in range(h):
        for x in range(w):
            cr, ci = 3.0 * x / w - 2.0, 2.0 * y / h - 1.0
            zr = zi = 0.0
            for k in range(top):
                if zr * zr + zi * zi > 4.0:
                    break
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
            else:
                k = top
            out[y, x] = k
    return out


def nussinov(n, seq):
    table = np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + (1 if seq[i] + seq[j] == 3 else 0))
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


def sieve(n):
    p = np.ones(n, bool)
    p[:2] = False
    i = 2
    while i * i < n:
        if p[i]:
            for j in range(i * i, n, i):
                p[j] = False
        i += 1
    return p, i


def total(x):
    s = 0
    for i in range(len(x)):
        s += x[i]
    return s


def search(x, v):
    for i in range(len(x)):
        if x[i] == v:
            return i
    return -1


def sparse(rows, columns, values, x):
    y = np.empty(rows.size - 1, values.dtype)
    for i in range(rows.size - 1):
        s = 0.0
        for k in range(rows[i], rows[i + 1]):
            s += values[k] * x[columns[k]]
        y[i] = s
    return y


def continues(x):
    odd = even = 0
    last = None
    for i in range(x.shape[0]):
        if x[i] < 0:
            continue
        if x[i] % 2:
            odd += 1
        else:
            even += i
        if odd > 5:
            break
    else:
        odd = -odd
    return odd, even, i, last


def pairs(x, y):
    s, n = 0.0, 0
    for t in range(2):
        for i, (a, b) in enumerate(zip(x, y)):
            s += abs(a - b) * i
            n = i
        for a in y:
            s -= a
    return s, n, a


def distances(points):
    n = len(points)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            d = points[i] - points[j]
            out[i, j] = math.sqrt(d @ d)
    return out


def rows(a, b):
    for i in range(a.shape[0]):
        a[i, 1:] = b[i, :-1] * 2 + i
        a[i, 0] = -b[i, 0] if b[i, 0] > 0.5 or i == 2 else b[-1, -i - 1]
        b[i] += np.sin(a[i])
    return a, b


def newton(x):
    steps = 0
    for i in range(x.size):
        z = 1.0
        while abs(z * z - x[i]) > 1e-12 and steps < 10_000:
            z = 0.5 * (z + x[i] / z)
            steps += 1
        x[i] = z
    return x, steps, z


def chained(n):
    count = 0
    for i in range(n):
        if 0 < i % 7 <= 4 < n and not (i % 3 == 0):
            count += (i << 2) | 1
        count ^= -i >> 1
        count -= i**2 // 3
    return count


def int_or_float(n):
    held = before = 7
    other = False
    for i in range(n):
        before = held
        held = np.fmod(held, 1.5) if i > 1 else -held if i else held // 2
        if i > 3:
            other = i
    return held, before, other, min(held, 9), held if i % 2 else 5, max(held, before)


def several(x, n):
    low = high = 1
    last = 0.5
    for i in range(n):
        low, high = min(low, x[i % 3]), max(high, x[i % 4], last)
        last = (low if i % 2 else i) + (True if i > 2 else 0.5)
        kept = low or high
    return low, high, last, kept


def logical(x, n):
    for i in range(n):
        x[i] ^= np.logical_and(i, i - 1)
    return x, i


def beyond(x, n):
    k = 0
    for i in range(n):
        k += (x[i] > -3) + (x[i] < 300 + i) + (x[i] == 256)
    return k, x[0] >= -1


def powers(n, x):
    s, t, u = 0, 0.0, 0
    for i in range(n):
        s += (i - 3) ** 3 + (i - 2) ** 5 + i**0 - 2**7
        t += x ** (i - 3) + float(i + 1) ** x + (x - 9) ** -2 + (-x) ** (i - 1)
        u = (-1 << 63) + (0 << 70 + i)
    return s, t, u


def objects_before(n):
    i, k, pair, s = "i", None, (1, 2.5), 0
    for i in range(n):
        if i > 2:
            k = i
    for j in range(3):
        s += pair[j % 2]
    return i, k, s


def chained_of_either(x):
    low = high = False
    for i in range(len(x)):
        low, high = x[i] < 2 <= i, i < 2 <= x[i]
    return low, high


def row_of_a_branch(a):
    s = 0.0
    for i in range(4):
        if i == 1:
            continue
        else:
            r = a[i]
        s += r[0]
    return s


def row_behind(a):
    for i in range(4):
        for r in a:
            r[0] += i
        last = a[i]
    return r, last


def row_or_number(a):
    r, s = 1.5, 0.0
    for i in range(4):
        s += r if i == 0 else r[i - 1]
        if i % 2:
            r = a[i]
        else:
            r = a[0]
    return s


random = np.random.default_rng(5)
CASES = {
    seidel: lambda: (3, random.random((9, 8))), lu: lambda: (random.random((12, 12)) + 12 * np.eye(12),),
    crc16: lambda: (random.integers(0, 256, 50).astype(np.uint8), 0x8408), collatz: lambda: (60,), mandelbrot: lambda: (12, 9, 30),
    nussinov: lambda: (14, random.integers(0, 4, 14)), sieve: lambda: (200,), total: lambda: (random.random(9),), search: lambda: (np.arange(9), 6),
    sparse: lambda: (np.array([0, 2, 2, 5]), np.array([0, 1, 3, 2, 0]), random.random(5), random.random(4)), continues: lambda: (random.integers(-3, 9, 30),),
    pairs: lambda: (random.random(6), random.random(7)), distances: lambda: (random.random((7, 3)),), rows: lambda: (random.random((5, 6)), random.random((5, 6))),
    newton: lambda: (random.random(8) * 9,), chained: lambda: (40,), int_or_float: lambda: (6,), several: lambda: (np.array([2.0, -1.0, 4.0, 1.0]), 7),
    objects_before: lambda: (0,), chained_of_either: lambda: (np.arange(4.0),), row_of_a_branch: lambda: (random.random((4, 3)),), row_behind: lambda: (random.random((4, 3)),), row_or_number: lambda: (random.random((4, 3)),), powers: lambda: (7, 1.5), beyond: lambda: (np.arange(250, 257).astype(np.uint8), 7), logical: lambda: (np.zeros(7, bool), 7),
}  # fmt: skip


def copies(args):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def same(a, b):
    if isinstance(a, tuple):
        assert type(b) is tuple and len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
        return
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape
    if isinstance(a, (np.ndarray, np.floating)):
        np.testing.assert_allclose(b, a, rtol=1e-13, atol=1e-13)
    else:
        assert a == b


@pytest.fixture
def at_once(monkeypatch):
    """Loops go over to machine code where they begin."""
    monkeypatch.setattr(running, "WORTH", 0.0)
    monkeypatch.setattr(running.Code, "ready", property(lambda code: code.usable and (code.procedure.compile() or True)))


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_a_loop_from_its_beginning(f, at_once):
    args = CASES[f]()
    theirs, ours = copies(args), copies(args)
    expected, got = f(*theirs), plait.jit(f)(*ours)
    same(expected, got)
    same(tuple(theirs), tuple(ours))


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_a_loop_from_any_iteration(f, monkeypatch):
    monkeypatch.setattr(running, "WORTH", 0.0)
    for start in range(2, 7):
        looks = 0

        def ready(code, start=start):
            nonlocal looks
            looks += 1
            return looks >= start and code.usable and (code.procedure.compile() or True)

        monkeypatch.setattr(running.Code, "ready", property(ready))
        args = CASES[f]()
        theirs, ours = copies(args), copies(args)
        same(f(*theirs), plait.jit(f)(*ours))
        same(tuple(theirs), tuple(ours))


def outside(x, n):
    for i in range(n):
        x[i] = x[i] + 1
    return x


def by_zero(x, n):
    y = 0
    for i in range(len(x)):
        x[i] += 1
        y += 10 // (n - i)
    return y


def by_zero_float(x):
    for i in range(len(x)):
        x[i] = 1.0 / float(x[i])
    return x


def no_root(x):
    for i in range(len(x)):
        x[i] = math.sqrt(x[i]) + math.log(x[i])
    return x


def unbound(n, m):
    for i in range(n):
        for j in range(i - 3):
            k = j
        if i == m:
            m = k
    return m


def unequal(a, b):
    for i in range(len(a)):
        a[i] = b[: i + 1] @ b[: min(i + 1, 3)]
    return a


def unequal_dot(a, b):
    for i in range(len(a)):
        a[i] = np.dot(b[: i + 1], b[: min(i + 1, 3)])
    return a


def unequal_assigned(a, b):
    for i in range(len(a)):
        a[i:] = b[3:]
    return a


def unequal_added(a, b):
    for i in range(len(a)):
        a[i:] += b[3:]
    return a


def of_another_kind(a, b):
    for i in range(len(a)):
        a[i] ^= 2 if i == 5 else True
        b[i, :2] ^= i
    return a, b


def power_of_zero(x):
    for i in range(5):
        x[i] = (float(x[i]) - 2.0) ** (1 - i)
    return x


def indices_first(a, k):
    for i in range(3):
        a[i + 9, 3 // k] = i


def truncated(a):
    for i in range(len(a)):
        a[i] = math.trunc(a[i])
    return a


ERRORS = {
    outside: (np.arange(5.0), 7), by_zero: (np.zeros(6), 3), by_zero_float: (np.array([2.0, 4.0, 0.0, 5.0]),), no_root: (np.array([4.0, 1.0, -1.0, 2.0]),),
    unbound: (5, 2), unequal: (np.zeros(6), np.ones(6)),
    unequal_assigned: (np.zeros(6), np.ones(6)), unequal_added: (np.zeros(6), np.ones(6)), unequal_dot: (np.zeros(6), np.ones(6)), truncated: (np.ones(3, np.float32),),
    indices_first: (np.zeros((3, 3)), 0), power_of_zero: (np.arange(4.0, -1.0, -1.0),), of_another_kind: (np.zeros(6, bool), np.zeros((6, 2), bool)),
}  # fmt: skip


@pytest.mark.parametrize("f", ERRORS, ids=lambda f: f.__name__)
def test_errors_are_pythons_and_so_are_the_arrays_then(f, at_once):
    theirs, ours = copies(ERRORS[f]), copies(ERRORS[f])
    with pytest.raises(Exception) as expected:
        f(*theirs)
    with pytest.raises(expected.type) as got:
        plait.jit(f)(*ours)
    assert str(got.value) == str(expected.value)
    same(tuple(theirs), tuple(ours))


def test_an_int_that_outgrows_64_bits(at_once):
    def factorial(n):
        f = 1
        for i in range(1, n + 1):
            f *= i
        return f

    assert plait.jit(factorial)(20) == math.factorial(20)
    with pytest.raises(OverflowError, match="64 bits"):
        plait.jit(factorial)(30)
    assert plait.jit(factorial, loops=False)(30) == math.factorial(30)


@pytest.mark.parametrize("operation", ["x[i] / y[i]", "x[i] // y[i]", "x[i] % y[i]"])
def test_what_numpy_warns_of(operation, at_once):
    source = f"def f(x, y):\n    for i in range(len(x)):\n        x[i] = {operation}\n"
    linecache.cache[operation] = len(source), None, source.splitlines(True), operation
    scope = {"np": np}
    exec(compile(source, operation, "exec"), scope)
    odd = [0.0, 1.5, -2.0, math.inf, -math.inf, math.nan]

    def heard(f, a, b):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            f(np.array([a]), np.array([b]))
        return {str(w.message) for w in found}

    ours = plait.jit(scope["f"])
    for a in odd:
        for b in odd:
            assert heard(ours, a, b) == heard(scope["f"], a, b), (a, b)


def test_an_int_that_a_float_does_not_hold(at_once):
    def mixed(n):
        k = 0
        for i in range(n):
            k = 2**62 + 1 if i == 3 else i * 0.5
        return k

    with pytest.raises(OverflowError, match="53 bits"):
        plait.jit(mixed)(4)
    assert plait.jit(mixed)(3) == 1.0


def test_the_least_int_by_minus_one(at_once):
    def quotient(n, by):
        for i in range(3):
            by = n // by
        return by

    with pytest.raises(OverflowError, match="64 bits"):
        plait.jit(quotient)(-(2**63), -1)


def test_ranges_beyond_64_bits_stay_pythons(at_once):
    def counted(start, stop, step):
        k = 0
        for i in range(start, stop, step):
            k += 1
            if k == 5:
                break
        return i, k

    for numbers in [(0, 2**63, 3), (-(2**63), 2**63 - 1, 1), (2**70, 2**71, 2**69), (-(2**63), 2**63 - 1, 2**62)]:
        assert plait.jit(counted)(*numbers) == counted(*numbers)


def test_an_int_beyond_64_bits_stays_pythons(monkeypatch):
    def powers(n):
        f = 1
        for i in range(n):
            f *= 7
        return f

    looks = []
    monkeypatch.setattr(running, "WORTH", 0.0)
    monkeypatch.setattr(running.Code, "ready", property(lambda code: looks.append(1) or len(looks) > 40 and code.usable and (code.procedure.compile() or True)))
    assert plait.jit(powers)(60) == 7**60


def test_a_loop_of_objects_stays_pythons(at_once, capfd):
    def letters(n):
        out = []
        for i in range(n):
            out.append(chr(97 + i))
        return "".join(out)

    assert plait.jit(letters)(4) == "abcd"


def test_globals_and_closures_are_read_at_each_call(at_once):
    factor = 2.0

    def scaled(x):
        for i in range(len(x)):
            x[i] *= factor
        return x

    f = plait.jit(scaled)
    assert f(np.ones(3)).tolist() == [2, 2, 2]
    factor = 5
    assert f(np.ones(3)).tolist() == [5, 5, 5]


def test_a_pending_reader_gets_what_was_there(at_once):
    def late(x):
        before = x * 2 + 1
        for i in range(len(x)):
            x[i] = i
        return before, x

    before, x = plait.jit(late)(np.full(1000, 7.0))
    assert (before == 15).all() and (x == np.arange(1000)).all()


def test_a_long_loop_goes_over_by_itself():
    def count(n):
        s = 0
        for i in range(n):
            s = (s * 31 + i) % 1000003
        return s

    f = plait.jit(count)
    expected = count(300_000)
    for _ in range(5):
        assert f(300_000) == expected


def test_recursion_and_line_numbers_stay(at_once):
    def fails(x):
        for i in range(3):
            x += i
        raise ValueError(x)

    with pytest.raises(ValueError) as e:
        plait.jit(fails)(1)
    assert e.traceback[-1].lineno == fails.__code__.co_firstlineno + 2
    assert sys.getrecursionlimit() > 0 and _plait is not None


TABLE = np.arange(6.0)


def test_arrays_of_the_module(at_once):
    def looked_up(x):
        s = 0.0
        for i in range(len(x)):
            s += TABLE[x[i]]
            TABLE[x[i]] += 1
        return s

    x = np.array([1, 3, 3, 5])
    expected = looked_up(x)
    TABLE[:] = np.arange(6.0)
    assert plait.jit(looked_up)(x) == expected
    assert TABLE.tolist() == [0, 2, 2, 5, 4, 6]


def test_parts_that_overlap_another_array(at_once):
    def shifted(a, b):
        for i in range(3):
            a[:] = b * 2
        return a

    for base in (np.arange(8.0),):
        theirs, ours = base.copy(), base.copy()
        shifted(theirs[1:], theirs[:-1])
        plait.jit(shifted)(ours[1:], ours[:-1])
        assert (theirs == ours).all()


def test_a_function_of_a_notebook_whose_imports_are_in_another_cell(at_once, monkeypatch):
    source = "def roots(x):\n    for i in range(len(x)):\n        x[i] = math.sqrt(x[i]) + np.sin(0.0)\n    return x\n"
    linecache.cache["<cell>"] = len(source), None, source.splitlines(True), "<cell>"
    cell = {"math": math, "np": np, "__name__": "cell"}
    exec(compile(source, "<cell>", "exec"), cell)
    runs = []
    run = running.Code.run
    monkeypatch.setattr(running.Code, "run", lambda *a: runs.append(1) or run(*a))
    assert plait.jit(cell["roots"])(np.array([4.0, 9.0])).tolist() == [2, 3]
    assert runs


FACTOR = 3


def scaled(v, by=FACTOR):
    if v > 20:
        return v * by + FACTOR
    return v - by


@plait.jit
def sums(x, i):
    s = 0.0
    for k in range(i, len(x)):
        s += x[k]
        if s > 4:
            break
    return s, k


def test_functions_that_a_loop_calls(at_once):
    def calls(x):
        total, last = 0, 0
        for i in range(len(x)):
            total += scaled(i * 10) - scaled(by=2, v=i)
            s, last = sums(x, i)
            x[i] = s
        return total, last, x

    x = random.random(12)
    expected = calls(x.copy())
    runs = []
    real = running.Code.run
    running.Code.run = lambda code, *args: runs.append(code) or real(code, *args)
    try:
        got = plait.jit(calls)(x.copy())
    finally:
        running.Code.run = real
    same(expected, got)
    assert len(runs) == 1


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def test_recursion_stays_pythons(at_once):
    def first(n):
        s = 0
        for i in range(n):
            s += fibonacci(i)
        return s

    assert plait.jit(first)(10) == first(10)


def test_a_part_of_an_array_that_is_read_behind_the_loop(at_once):
    def last(x):
        row = None
        for i in range(len(x)):
            row = x[i]
            row[0] = i
        row[1] = 9
        return x, row

    same(last(np.ones((3, 2))), plait.jit(last)(np.ones((3, 2))))


def test_other_objects_at_each_call_make_no_other_code(at_once):
    def appends(n):
        out = []
        for i in range(n):
            out.append(i)
        for i in range(n):
            k = i * 2
        return out, k

    f = plait.jit(appends)
    for _ in range(40):
        assert f(3) == ([0, 1, 2], 4)
    loops = plait._jit.loops_of(f)
    assert [len(loop.codes) for loop in loops] == [1, 1]
    text = plait.explain(f, 3)
    assert "a call for its effect" in text and "machine code for" in text


def test_variables_keep_what_they_had_where_nothing_is_assigned(at_once):
    def kept(x, y, m):
        j = "text"
        k = 2.5
        for i in range(len(x)):
            for j in range(m):
                y += x[i]
            if x[i] > 5:
                k = i
        return i, j, k, y

    for m in (0, 3):
        for start in (0, 5):
            same(kept(np.arange(start, start + 2.0), 1, m), plait.jit(kept)(np.arange(start, start + 2.0), 1, m))


def test_parts_of_arrays_that_overlap(at_once):
    def less(a, b):
        for i in range(3):
            a[1:] -= b[1:]
        return a

    x, y = np.arange(12.0) ** 2, np.arange(12.0) ** 2
    assert plait.jit(less)(x[2:], x[:-2]).tolist() == less(y[2:], y[:-2]).tolist()
    assert x.tolist() == y.tolist()
    assert plait.jit(less)(x[::2], x[1::2]).tolist() == less(y[::2], y[1::2]).tolist()


def test_counters_and_places_of_either_kind_of_int(at_once):
    def joined(parents, x):
        n = 0
        least = 0
        for i in range(len(parents)):
            a = i
            while parents[a] != a:
                a = parents[a]
            if x[i] > 0.5:
                n += 1
                parents[i] = a
            least -= 3
        return n, least, parents, a

    parents, x = np.array([0, 0, 1, 3, 2, 3]), random.random(6)
    runs = len(x)
    same(joined(parents.copy(), x), plait.jit(joined)(parents.copy(), x))
    for start in (2**62 - 1, 2**63 - 2):
        def counted(n, k=start):
            for _ in range(n):
                k += 1
            return k

        assert plait.jit(counted)(runs) == start + runs
