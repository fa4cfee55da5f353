"""python -m plait.bench: NumPy functions on this machine, by NumPy itself and by plait.jit."""

import argparse
import math
import statistics
import time

import numpy as np

from ._jit import jit
from ._progress import Progress


def k_means(points, means):
    return np.argmin(np.linalg.norm(points - means[:, None], axis=2), axis=0)


def option_prices(spot, strike, years):
    rate, volatility = 0.02, 0.3
    d = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / (volatility * np.sqrt(years))
    chance = 1 / (1 + np.exp(-1.702 * d))
    return spot * chance - strike * np.exp(-rate * years) / (1 + np.exp(-1.702 * (d - volatility * np.sqrt(years))))


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layer_norm(x, weight, bias):
    mean = x.mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + np.float32(1e-5)) * weight + bias


def heat(u):
    v = u.copy()
    for _ in range(10):
        v[1:-1, 1:-1] = 0.25 * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:])
    return v


def attention(q, k, v):
    scores = q @ k.swapaxes(-1, -2) / np.float32(np.sqrt(q.shape[-1]))
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


def convolution(image, weights):
    windows = np.lib.stride_tricks.sliding_window_view(image, weights.shape[2:], axis=(2, 3))
    return np.einsum("nchwyx,kcyx->nkhw", windows, weights)


def outliers(x):
    z = (x - x.mean()) / x.std()
    return np.bincount((np.abs(z) > 2).astype(np.int64) + (np.abs(z) > 3)), x[np.abs(z) > 3].sum()


# name: (function, the shapes of its arrays, of which the first extent of the first is scaled, dtype, whether they are positive)
WORKLOADS = {
    "k-means": (k_means, [(1_000_000, 2), (8, 2)], "f8", False),
    "option prices": (option_prices, [(2_000_000,)] * 3, "f8", True),
    "softmax": (softmax, [(2048, 2048)], "f4", False),
    "layer norm": (layer_norm, [(4096, 1024), (1024,), (1024,)], "f4", False),
    "heat equation": (heat, [(1500, 1500)], "f8", False),
    "attention": (attention, [(8, 1024, 64)] * 3, "f4", False),
    "convolution": (convolution, [(4, 32, 56, 56), (32, 32, 3, 3)], "f4", False),
    "outliers": (outliers, [(4_000_000,)], "f8", False),
}


def arrays(shapes, dtype, positive, scale):
    """Arrays of random numbers: extents that are the first array's first one are scaled together."""
    rng, longest = np.random.default_rng(0), shapes[0][0]
    for shape in shapes:
        extents = tuple(max(3, round(n * scale)) if n == longest else n for n in shape)
        x = rng.standard_normal(extents)
        yield (np.abs(x) + 0.5 if positive else x).astype(dtype)


def called(f, args):
    """Seconds of a call, and its result."""
    start = time.perf_counter()
    result = f(*args)
    return time.perf_counter() - start, result


def measured(function, args, seconds):
    """Medians of NumPy's and Plait's calls, which take turns, and Plait's first call; all in seconds."""
    compiled = jit(function)
    first, ours = called(compiled, args)
    _, theirs = called(function, args)
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (ours, theirs))):
        largest, tolerance = np.abs(b).max(), 1e-4 if np.asarray(b).dtype == "f4" else 1e-9
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * largest)
    taken, end = ([], []), time.perf_counter() + seconds
    while time.perf_counter() < end or len(taken[0]) < 3:
        for f, times in zip((function, compiled), taken):
            times.append(called(f, args)[0])
    return *map(statistics.median, taken), first


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m plait.bench", description=__doc__.partition(": ")[2])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which of: {', '.join(WORKLOADS)}")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each (1)")
    parser.add_argument("--scale", type=float, default=1.0, help="of the arrays' first extents (1)")
    options = parser.parse_args(arguments)
    unknown = [n for n in options.names if n not in WORKLOADS]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}: {', '.join(WORKLOADS)}")
    ratios, row = [], "{:<16} {:>10} {:>10} {:>12} {:>8}".format
    print(row("milliseconds", "NumPy", "Plait", "first call", "times"))
    for name in options.names or WORKLOADS:
        function, *inputs = WORKLOADS[name]
        with Progress("plait.bench") as progress:
            progress.step(name, at_once=True)
            numpys, plaits, first = measured(function, tuple(arrays(*inputs, options.scale)), options.seconds)
        ratios.append(numpys / plaits)
        print(row(name, *(f"{1e3 * t:.3g}" for t in (numpys, plaits, first)), f"{ratios[-1]:.3g}"), flush=True)
    print(row("geometric mean", "", "", "", f"{math.exp(statistics.fmean(map(math.log, ratios))):.3g}"))


if __name__ == "__main__":
    main()
