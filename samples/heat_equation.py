#!/usr/bin/env python3
"""Heat spreads over a plate: explicit steps that write in place through views, as NumPy programs do. Many steps pass through memory once."""
import sys
import time

import numpy

import plait as np


def spread(u, steps, rate=0.2):
    """`u` (rows, columns) after `steps` steps; its border keeps its temperature."""
    for _ in range(steps):
        inner = u[1:-1, 1:-1]
        inner += rate * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inner)
    return u


def plate(module, n):
    u = module.zeros((n, n))
    u[0] = 100.0
    u[:, 0] = 50.0
    return u


def seconds(module, n, steps):
    """Of a second run, which finds its plan and its kernels; the plate after it."""
    numpy.asarray(spread(plate(module, n), steps))
    u = plate(module, n)
    start = time.perf_counter()
    result = numpy.asarray(spread(u, steps))
    return time.perf_counter() - start, result


n, steps = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (1000, 200)
of_numpy, expected = seconds(numpy, n, steps)
of_plait, result = seconds(np, n, steps)
shades = " .:-=+*#%@"
for row in result[:: max(1, n // 16), :: max(1, n // 48)]:
    print("".join(shades[min(9, int(t / 10))] for t in row))
print(f"mean temperature {result.mean():.4f}; {'the same' if (result == expected).all() else 'not the same'} bits as NumPy")
print(f"NumPy {of_numpy * 1e3:.1f} ms, Plait {of_plait * 1e3:.1f} ms for {steps} steps of {n} x {n}")
told = str(np.explain(lambda: numpy.asarray(spread(plate(np, n), steps))))
print("\n".join(line.strip() for line in told.splitlines() if "together" in line or "no more of them" in line) or "steps ran one by one")
