#!/usr/bin/env python3
"""Bodies that attract each other: the pairwise differences, (n, n, 3) in NumPy, are never stored."""
import sys
import time

import plait as np


def acceleration(p, m):
    """Of bodies at p (n, 3) with masses m (n,)."""
    d = p[None, :, :] - p[:, None, :]
    r2 = np.sum(d * d, axis=2) + 0.01
    return np.sum(d * (m / (r2 * np.sqrt(r2)))[:, :, None], axis=1)


def energy(p, v, m):
    d = p[None, :, :] - p[:, None, :]
    pairs = m[:, None] * m / np.sqrt(np.sum(d * d, axis=2) + 0.01)
    return float(0.5 * np.sum(m * np.sum(v * v, axis=1)) - 0.5 * (np.sum(pairs) - 10 * np.sum(m * m)))


n, steps = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (1000, 20)
rng = np.random.default_rng(0)
p, v, m = rng.standard_normal((n, 3)), np.zeros((n, 3)), rng.random(n) / n
before, start = energy(p, v, m), time.perf_counter()
for step in range(steps):
    v = v + 0.005 * acceleration(p, m)
    p = p + 0.01 * v
    v = v + 0.005 * acceleration(p, m)
after = energy(p, v, m)
print(f"{n} bodies, {steps} steps in {time.perf_counter() - start:.2f} s; energy {before:.6f}, then {after:.6f}")
