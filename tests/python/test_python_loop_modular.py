"""Python's ints from 2**63 to 2**64, as hashes and random numbers have them."""

import numpy as np
import pytest
from loop_checks import check, check_compiled

import plait

MASK = 0xFFFFFFFFFFFFFFFF


def splitmix(seed, n):
    out = []
    state = seed
    for i in range(n):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        out.append(z ^ (z >> 31))
    return out, state


def xorshift(n):
    x = 88172645463325252
    s = 0.0
    for i in range(n):
        x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 7
        x ^= (x << 17) & 0xFFFFFFFFFFFFFFFF
        s += x / 18446744073709551616.0
    return x, s


def fnv(data):
    h = 0xCBF29CE484222325
    for b in data:
        h ^= b
        h = (h * 0x100000001B3) % 2**64
    return h


def lcg(n, seed):
    x = seed
    c = [0] * 16
    for i in range(n):
        x = (6364136223846793005 * x + 1442695040888963407) % (1 << 64)
        c[x >> 60] += 1
    return x, c


def djb2(data):
    h = 5381
    for c in data:
        h = ((h << 5) + h + c) & 0xFFFFFFFF
    return h


def mixed(n):
    a = 1
    b = 2**63
    t = 0
    for i in range(n):
        a = (a * 3 + i) & MASK
        if a > b:
            t += 1
            b = b - 12345678901234567 if b > 2**62 else b
        elif a == i or a < 5:
            t += 100
        t += a % 7 + (a // 1000003) % 5 + (a >> 3) % 3 + (~a & 15) + (-a & 31)
        b ^= a | 1
        if i % 11 == 5:
            b = abs(b) & 0x7FFFFFFFFFFFFFFF
        m = max(a, b, 3) - min(a, b)
        t += m % 11
    return a, b, t, float(a), int(a) + 1, hash(m)


def rotl(n):
    x = 1
    acc = 0
    for i in range(n):
        k = i % 64
        x = ((x << 7) | (x >> 57)) & MASK
        acc = (acc + x * 31 - i) & MASK
        acc = ~acc & MASK
    return x, acc


def stores(a, n):
    x = 1
    for i in range(n):
        x = (x * 6364136223846793005 + 1) & MASK
        a[i % len(a)] = x
        a[i % len(a)] ^= np.uint64(x >> 3)
    return a


CASES = [
    (splitmix, (0, 50)), (splitmix, (2**64 - 5, 50)), (xorshift, (500,)), (fnv, (bytes(range(256)),)), (lcg, (300, 1)), (lcg, (300, -7)),
    (djb2, (b"hello world" * 30,)), (mixed, (400,)), (rotl, (200,)), (stores, (np.zeros(5, np.uint64), 30)),
]  # fmt: skip


@pytest.mark.parametrize("start", [1, 4])
@pytest.mark.parametrize("f, args", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_ints_of_64_bits(f, args, start, from_look):
    from_look(start)
    check(f, args)


@pytest.mark.parametrize("f, args", [c for c in CASES if c[0] is not mixed], ids=lambda x: getattr(x, "__name__", ""))
def test_hashes_stay_in_machine_code(f, args, at_once, monkeypatch):
    check_compiled(f, args, monkeypatch)


def operations(a, b, n):
    """Of ints on either side of 2**63, and below zero."""
    s = 0
    for i in range(n):
        x = (a + i) & 0xFFFFFFFFFFFFFFFF
        for y in (b, i, -i, x, x >> 1):
            s += (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (y > x) + 32 * (y >= x)
            s = (s * 31 + (x ^ (y & 0xFFFF)) % 1009 + (x | 5) % 7 + (x & y) % 13) % 1000003
            s += (x // 3 + x % 10 + (x >> i % 70)) % 11 + int(x / 3.5 > y) + (x > 1.5)
            if y > 0:
                s += (x // y) % 17 + x % y % 19
    return s


@pytest.mark.parametrize("b", [0, -4, 2**63 - 1, 2**64 - 1])
@pytest.mark.parametrize("a", [0, 2**63 - 3, -2])
def test_operations(a, b, at_once):
    check(operations, (a, b, 6))


def overflows(a, n):
    s = []
    for i in range(n):
        x = (a + i) & 0xFFFFFFFFFFFFFFFF
        y = x + i
        z = y * 2 - x
        s.append(-z % 1000)
        s.append(~x // 5 % 1000)
        s.append((x << 1) % 1000)
        s.append(x**2 % 1000)
    return s


@pytest.mark.parametrize("a", [1, 2**63 - 2, 2**64 - 9])
def test_what_outgrows_them(a, at_once):
    check(overflows, (a, 12))


@pytest.mark.parametrize("dtype", ["uint64", "int64", "uint8", "float64"])
def test_they_are_stored(dtype, at_once):
    def stored(a, n, start):
        for i in range(n):
            a[i] = (start + i) & 0xFFFFFFFFFFFFFFFF
        return a

    for start in (0, 250, 2**63 - 2, 2**64 - 3):
        check(stored, (np.zeros(6, dtype), 6, start))


def test_a_loop_of_them_is_fast():
    jitted = plait.jit(lcg)
    for _ in range(3):
        assert jitted(200_000, 7) == lcg(200_000, 7)
