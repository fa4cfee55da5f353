"""Loops of Python's on a device: python benchmarks/device_loops.py [--scale small|full] [--repeat 5]

Each function is held against Python on small inputs first. Then it is timed under plait.jit on the host, under plait.jit(device="cuda") with its arrays on
the device, and, where Numba is installed, under numba.njit(parallel=True), with prange in the place of its outermost range. Milliseconds, the least of
several; the first call is not in them.
"""

import argparse
import inspect
import math
import textwrap
import time

import numpy as np

import plait


def mandelbrot(limit, counts):
    height, width = counts.shape
    for i in range(height):
        for j in range(width):
            x0 = -2.0 + 3.0 * j / width
            y0 = -1.5 + 3.0 * i / height
            x = y = 0.0
            n = 0
            while x * x + y * y <= 4.0 and n < limit:
                x, y = x * x - y * y + x0, 2.0 * x * y + y0
                n += 1
            counts[i, j] = n


def accelerations(x, y, z, mass, ax, ay, az):
    for i in range(len(x)):
        sx = sy = sz = 0.0
        for j in range(len(x)):
            dx = x[j] - x[i]
            dy = y[j] - y[i]
            dz = z[j] - z[i]
            r2 = dx * dx + dy * dy + dz * dz + 1e-6
            w = mass[j] / (r2 * math.sqrt(r2))
            sx += w * dx
            sy += w * dy
            sz += w * dz
        ax[i] = sx
        ay[i] = sy
        az[i] = sz


def distances(a, b, out):
    for i in range(len(a)):
        for j in range(len(b)):
            s = 0.0
            for k in range(a.shape[1]):
                d = a[i, k] - b[j, k]
                s += d * d
            out[i, j] = math.sqrt(s)


def bilateral(image, reach, out):
    height, width = image.shape
    for r in range(height):
        for c in range(width):
            here = image[r, c]
            total = weights = 0.0
            for i in range(max(0, r - reach), min(height, r + reach + 1)):
                for j in range(max(0, c - reach), min(width, c + reach + 1)):
                    d = image[i, j] - here
                    w = math.exp(-((i - r) * (i - r) + (j - c) * (j - c)) * 0.05 - d * d * 8.0)
                    total += w * image[i, j]
                    weights += w
            out[r, c] = total / weights


def black_scholes(spot, strike, years, rate, sigma, call, put):
    for i in range(len(spot)):
        root = sigma * math.sqrt(years[i])
        d1 = (math.log(spot[i] / strike[i]) + (rate + 0.5 * sigma * sigma) * years[i]) / root
        d2 = d1 - root
        n1 = 0.5 * (1.0 + math.erf(d1 / math.sqrt(2.0)))
        n2 = 0.5 * (1.0 + math.erf(d2 / math.sqrt(2.0)))
        discounted = strike[i] * math.exp(-rate * years[i])
        call[i] = spot[i] * n1 - discounted * n2
        put[i] = call[i] - spot[i] + discounted


def stencil(x, out):
    for i in range(2, len(x) - 2):
        out[i] = -0.0625 * x[i - 2] + 0.25 * x[i - 1] + 0.625 * x[i] + 0.25 * x[i + 1] - 0.0625 * x[i + 2]


def inputs(scale):
    """Of each function, its arguments."""
    rng = np.random.default_rng(0)
    side, limit, bodies, rows, image, options, points = {
        "tiny": (12, 40, 20, 12, 10, 50, 60),
        "small": (32, 60, 64, 48, 24, 400, 500),
        "full": (2000, 500, 16384, 4096, 1024, 10_000_000, 50_000_000),
    }[scale]
    x, y, z, mass = rng.random((4, bodies))
    return {
        mandelbrot: (limit, np.zeros((side, side), "int32")),
        accelerations: (x, y, z, mass, np.zeros(bodies), np.zeros(bodies), np.zeros(bodies)),
        distances: (rng.random((rows, 16)), rng.random((rows, 16)), np.zeros((rows, rows))),
        bilateral: (rng.random((image, image)), 5, np.zeros((image, image))),
        black_scholes: (
            *(rng.uniform(*r, options) for r in ((20, 120), (20, 120), (0.1, 2))),
            0.03,
            0.25,
            np.zeros(options),
            np.zeros(options),
        ),
        stencil: (rng.random(points), np.zeros(points)),
    }


def placed(args, place):
    return [place(a) if isinstance(a, np.ndarray) else a for a in args]


def on_device(a):
    return plait.asarray(a, device="cuda")


def check(f, args):
    """On the host and the device what Python gives."""
    wanted = placed(args, np.array)
    f(*wanted)
    for jitted, place in (plait.jit(f), np.array), (plait.jit(f, device="cuda"), on_device):
        for _ in range(2):
            given = placed(args, place)
            jitted(*given)
            for a, b in zip(given, wanted):
                np.testing.assert_allclose(np.asarray(a), b, rtol=1e-9, atol=1e-12, err_msg=f.__name__)


def least(call, repeat, finish=lambda: None):
    """Seconds of a call, after those in which its loop goes over to machine code."""
    for _ in range(3):
        call()
    finish()
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        call()
        finish()
        times.append(time.perf_counter() - begun)
    return min(times)


def numbas(f):
    """Its prange over the outermost range; None where Numba is not installed."""
    try:
        import numba
    except ImportError:
        return None
    text = textwrap.dedent(inspect.getsource(f)).replace("range(", "prange(", 1)
    scope = {"math": math, "prange": numba.prange}
    exec(text, scope)
    return numba.njit(parallel=True)(scope[f.__name__])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", choices=["small", "full"], default="full")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    for f, args in inputs("tiny").items():
        check(f, args)
    print(f"{'loop':16}{'host, ms':>12}{'device, ms':>12}{'numba, ms':>12}{'host / device':>15}", flush=True)
    for f, args in inputs(options.scale).items():
        jitted, there = plait.jit(f), plait.jit(f, device="cuda")
        moved, compiled = placed(args, on_device), numbas(f)
        host = least(lambda: jitted(*args), options.repeat)
        device = least(lambda: there(*moved), options.repeat, plait.device("cuda").synchronize)
        numba = f"{least(lambda: compiled(*args), options.repeat) * 1e3:12.3f}" if compiled else f"{'-':>12}"
        print(f"{f.__name__:16}{host * 1e3:12.3f}{device * 1e3:12.3f}{numba}{host / device:15.1f}", flush=True)


if __name__ == "__main__":
    main()
