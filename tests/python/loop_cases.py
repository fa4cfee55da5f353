"""Functions with loops that machine code takes over, and arguments for them."""

import math
import warnings

import numpy as np


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


def ring(a, b, far):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            b[i, j] = a[(i - 1) % n, j] + a[i - 1, (j + 1) % m] + a[(i * far) % n, (j - far) % m] + a[-1, j]
    return b


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
def checked(x, limit):
    s = 0.0
    for i, v in enumerate(x):
        if v > limit:
            raise ValueError(f"{v!r} at {i} is above {limit:.3f}, the sum is {s}")
        assert v > -0.25, ("low", i, x.shape)
        s += v
    return s


CASES = {
    ring: lambda: (np.arange(42.0).reshape(6, 7), np.zeros((6, 7)), 100),
    seidel: lambda: (3, random.random((9, 8))), lu: lambda: (random.random((12, 12)) + 12 * np.eye(12),),
    crc16: lambda: (random.integers(0, 256, 50).astype(np.uint8), 0x8408), collatz: lambda: (60,), mandelbrot: lambda: (12, 9, 30),
    nussinov: lambda: (14, random.integers(0, 4, 14)), sieve: lambda: (200,), total: lambda: (random.random(9),), search: lambda: (np.arange(9), 6),
    sparse: lambda: (np.array([0, 2, 2, 5]), np.array([0, 1, 3, 2, 0]), random.random(5), random.random(4)), continues: lambda: (random.integers(-3, 9, 30),),
    pairs: lambda: (random.random(6), random.random(7)), distances: lambda: (random.random((7, 3)),), rows: lambda: (random.random((5, 6)), random.random((5, 6))),
    newton: lambda: (random.random(8) * 9,), chained: lambda: (40,), int_or_float: lambda: (6,), several: lambda: (np.array([2.0, -1.0, 4.0, 1.0]), 7),
    objects_before: lambda: (0,), chained_of_either: lambda: (np.arange(4.0),), row_of_a_branch: lambda: (random.random((4, 3)),), row_behind: lambda: (random.random((4, 3)),), row_or_number: lambda: (random.random((4, 3)),), powers: lambda: (7, 1.5), beyond: lambda: (np.arange(250, 257).astype(np.uint8), 7), logical: lambda: (np.zeros(7, bool), 7),
}  # fmt: skip


def collatz_steps(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def ran(f, args):
    """The result or the error, the arrays behind it, and what was heard."""
    args = copies(args)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            result = f(*args)
        except Exception as e:
            result = type(e), str(e)
    return result, tuple(args), [str(w.message) for w in heard]


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
