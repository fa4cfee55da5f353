#!/usr/bin/env python3
"""How far two strings of DNA are apart: dynamic programming, cell by cell, by Python and in machine code."""
import sys
import time

import numpy as np

import plait


def distance(a, b):
    """Insertions, deletions and substitutions that make b of a, of codes of letters (m,) and (n,)."""
    row = np.arange(len(b) + 1)
    for i in range(len(a)):
        last = row[0]
        row[0] = i + 1
        for j in range(len(b)):
            here = row[j + 1]
            row[j + 1] = last if a[i] == b[j] else 1 + min(last, here, row[j])
            last = here
    return row[-1]


n = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
rng = np.random.default_rng(1)
a = rng.integers(0, 4, n)
b = np.where(rng.random(n) < 0.2, rng.integers(0, 4, n), a)  # a fifth of the letters drawn anew


def timed(function):
    """What function(a, b) gives, and the seconds that it took."""
    start = time.perf_counter()
    return function(a, b), time.perf_counter() - start


expected, python = timed(distance)
compiled = plait.jit(distance)
found, first = timed(compiled)
times = [timed(compiled)[1] for call in range(4)]
assert found == expected
print(f"{n} x {n} letters: {found} changes; Python {python * 1e3:.1f} ms, plait.jit {first * 1e3:.1f} ms at first, then {min(times) * 1e3:.2f} ms")
