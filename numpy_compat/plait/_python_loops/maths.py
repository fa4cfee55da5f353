"""What functions of Python's math module do, in Python: compiled where a loop calls those."""

import math

import numpy as np

LARGEST_ROOT = 3037000499  # of a square of 63 bits
LEAST = 2.0**-1022  # of floats of 53 bits
UP, DOWN = 2.0**1022, 2.0**-969
PARTIALS = 64  # more than floats have that do not overlap
SPLITTER = 134217729.0  # 2 ** 27 + 1: it leaves half of a float's bits


def gcd(a, b):
    a, b = abs(a), abs(b)
    while b != 0:
        r = a % b
        a = b
        b = r
    return a


def lcm(a, b):
    if a == 0 or b == 0:
        return 0
    return abs(a // gcd(a, b) * b)


def factorial(n):
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    product = 1
    for k in range(2, n + 1):
        product *= k
    return product


def comb(n, k):
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    if k > n:
        return 0
    count = 1
    for i in range(min(k, n - k)):
        common = gcd(count, i + 1)  # no product is larger than what it is of the result
        count = count // common * ((n - i) // ((i + 1) // common))
    return count


def perm(n, k):
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    if k > n:
        return 0
    count = 1
    for i in range(k):
        count *= n - i
    return count


def isqrt(n):
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = min(int(math.sqrt(n)), LARGEST_ROOT)
    while root * root > n:
        root -= 1
    while root < LARGEST_ROOT and (root + 1) * (root + 1) <= n:
        root += 1
    return root


def isclose(a, b, rel_tol, abs_tol):
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    apart = abs(b - a)
    return apart <= abs(rel_tol * b) or apart <= abs(rel_tol * a) or apart <= abs_tol


def prod(a, start):
    for x in a:
        start = start * x
    return start


def exponent_of(x):
    """Of a positive float of 53 bits."""
    return math.frexp(x)[1]


def two_to(n):
    """As a float, of -1024 to 1023."""
    return math.ldexp(1.0, n)


def frexp(x):
    if x == 0.0 or not math.isfinite(x):
        return x, 0
    low = 0
    if abs(x) < LEAST:
        x *= UP
        low = 1022
    n = exponent_of(abs(x))
    return x * two_to(-n), n - low


def ldexp(x, n):
    if x == 0.0 or not math.isfinite(x):
        return x
    n = max(-3000, min(n, 3000))
    while n > 1023:
        x *= UP
        n -= 1022
    while n < -1022:  # to a number that still has all of its bits
        x *= DOWN
        n += 969
    x *= two_to(n)
    if math.isinf(x):
        raise OverflowError("math range error")
    return x


def modf(x):
    if math.isinf(x):
        return math.copysign(0.0, x), x
    part = math.fmod(x, 1.0)
    return part, math.copysign(x - part, x)


def fsum(a):
    """Of partial sums that do not overlap, as CPython adds them."""
    partial, n, special, infinite = np.zeros(PARTIALS), 0, 0.0, 0.0
    for v in a:
        x = float(v)
        given, kept = x, 0
        for j in range(n):
            y = float(partial[j])
            if abs(x) < abs(y):
                t = x
                x = y
                y = t
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                partial[kept] = low
                kept += 1
            x = high
        n = kept
        if not math.isfinite(x):
            if math.isfinite(given):
                raise OverflowError("intermediate overflow in fsum")
            if math.isinf(given):
                infinite += given
            special += given
            n = 0
        elif x != 0.0:
            partial[n] = x
            n += 1
    if special != 0.0:
        if infinite != infinite:
            raise ValueError("-inf + inf in fsum")
        return special
    if n == 0:
        return 0.0
    n -= 1
    high, low = float(partial[n]), 0.0
    while n > 0 and low == 0.0:
        n -= 1
        x, y = high, float(partial[n])
        high = x + y
        low = y - (high - x)
    if n > 0 and (low < 0.0 and partial[n - 1] < 0.0 or low > 0.0 and partial[n - 1] > 0.0):  # half of a last place, and beyond
        x = high + low * 2.0
        if low * 2.0 == x - high:
            high = x
    return high


def norm(parts):
    """The square root of the sum of squares, which are kept in twice the digits, as CPython has them."""
    most, unknown = 0.0, False
    for v in parts:
        x = abs(float(v))
        unknown = unknown or x != x
        if x > most:
            most = x
    if math.isinf(most):
        return most
    if unknown:
        return math.nan
    if most == 0.0:
        return most
    up = UP if most < LEAST else 1.0
    scale = two_to(-exponent_of(most * up))
    total, low, lower = 1.0, 0.0, 0.0
    for v in parts:
        x = float(v) * up * scale
        t = x * SPLITTER
        high = t - (t - x)
        rest = x - high
        most, both = high * high, high * rest + rest * high
        square = most + both
        low += most - square + both + rest * rest
        s = total + square
        lower += total - s + square
        total = s
    root = math.sqrt(total - 1.0 + (low + lower))
    t = root * SPLITTER
    high = t - (t - root)
    rest = root - high
    most, both = -high * high, -high * rest + -rest * high
    square = most + both
    low += most - square + both + -rest * rest
    s = total + square
    lower += total - s + square
    root += (s - 1.0 + (low + lower)) / (2.0 * root)
    return root / scale / up


FUNCTIONS = (gcd, lcm, factorial, comb, perm, isqrt, isclose, prod, norm, frexp, ldexp, modf, fsum)
