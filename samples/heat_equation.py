#!/usr/bin/env python3
"""Heat spreads over a plate: explicit steps that write in place through views, as NumPy programs do."""
import sys

import plait as np


def spread(u, steps, rate=0.2):
    """`u` (rows, columns) after `steps` steps; its border keeps its temperature."""
    for _ in range(steps):
        inner = u[1:-1, 1:-1]
        inner += rate * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inner)
    return u


n, steps = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (400, 500)
plate = np.zeros((n, n))
plate[0] = 100.0
plate[:, 0] = 50.0
spread(plate, steps)
shades = " .:-=+*#%@"
for row in plate[:: max(1, n // 16), :: max(1, n // 48)]:
    print("".join(shades[min(9, int(t / 10))] for t in row))
print("mean temperature", float(plate.mean()))
