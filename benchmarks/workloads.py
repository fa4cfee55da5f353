"""The workloads: each a function of arrays in NumPy's source, which `np` is bound in later, its inputs, and the fewest bytes that
have to pass through memory. A peer that cannot take the source as it stands may have its own (`peers`)."""
import dataclasses
from typing import Callable, Optional

import numpy

import trees


@dataclasses.dataclass
class Workload:
    name: str
    source: str  # defines f(...)
    inputs: Callable  # of a Generator, a tuple of arrays
    bytes: Optional[int] = None  # of one pass over inputs and outputs
    tolerance: float = 1e-9  # relative to the largest element; labels have to be equal
    peers: dict = dataclasses.field(default_factory=dict)
    group: str = "fusion"


ALL = []


def add(*args, **kwargs):
    ALL.append(Workload(*args, **kwargs))


# --- k-means: a reduction consumed by a reduction
KMEANS = """
def f(X, means):
    return np.argmin(np.linalg.norm(X - means[:, None], axis=2), axis=0)
"""
KMEANS_LOOPS = """
def f(X, means):
    labels = np.empty(len(X), np.int64)
    for n in prange(len(X)):
        nearest = np.inf
        for k in range(len(means)):
            total = 0.0
            for d in range(X.shape[1]):
                total += (X[n, d] - means[k, d]) ** 2
            if np.sqrt(total) < nearest:
                nearest = np.sqrt(total)
                labels[n] = k
    return labels
"""


def points(n, k, d, dtype):
    return lambda rng: (rng.normal(size=(n, d)).astype(dtype), rng.normal(scale=2, size=(k, d)).astype(dtype))


for n, k, d, dtype in [(20_000_000, 2, 2, "f8"), (20_000_000, 2, 2, "f4"), (1_000_000, 8, 8, "f8"), (1_000_000, 8, 8, "f4"), (400_000, 16, 16, "f8"),
                       (50_000, 64, 64, "f8"), (1_000_000, 2, 64, "f8"), (1_000_000, 64, 2, "f8"), (300_000, 13, 7, "f8")]:
    itemsize = int(dtype[1])
    add(f"k-means {n:,} x {d} {dtype}, K = {k}", KMEANS, points(n, k, d, dtype), n * d * itemsize + n * 8, 0, {"numba": KMEANS_LOOPS}, "k-means")
for name, distance in [("cityblock", "np.sum(np.abs(X - means[:, None]), axis=2)"), ("maximum", "np.max(np.abs(X - means[:, None]), axis=2)"),
                       ("weighted", "np.sqrt(np.sum((X - means[:, None]) ** 2 * np.arange(1.0, 9.0), axis=2))")]:
    add(f"k-means, {name} distance, 500,000 x 8, K = 8", f"def f(X, means):\n    return np.argmin({distance}, axis=0)\n", points(500_000, 8, 8, "f8"), 500_000 * 72, 0, {}, "k-means")

# --- maps
add("chain of 6 operations, 10,000,000", "def f(a, b, c):\n    return np.sqrt(np.abs(a * b + c)) - a / 3.0\n", lambda rng: tuple(rng.normal(size=(3, 10_000_000))), 4 * 80_000_000,
    peers={"numexpr": "sqrt(abs(a * b + c)) - a / 3.0"})
add("polynomial of degree 8, 5,000,000 f4", "def f(x):\n    y = x * 0 + 1\n    for c in (0.5, -0.25, 2.0, 1.5, -0.75, 0.125, 3.0, -1.0):\n        y = y * x + c\n    return y\n",
    lambda rng: (rng.uniform(-1, 1, 5_000_000).astype("f4"),), 2 * 20_000_000, 1e-5)
add("Black-Scholes, 2,000,000", """
def f(spot, strike, years):
    spread = 0.3 * np.sqrt(years)
    d1 = (np.log(spot / strike) + 0.065 * years) / spread
    def normal(x):
        t = 1.0 / (1.0 + 0.2316419 * np.abs(x))
        tail = 0.3989422804014327 * np.exp(-0.5 * x * x) * t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
        return np.where(x > 0, 1.0 - tail, tail)
    return spot * normal(d1) - strike * np.exp(-0.02 * years) * normal(d1 - spread)
""", lambda rng: tuple(rng.uniform(1, 2, (3, 2_000_000))), 4 * 16_000_000)

# --- rows
MATRIX = lambda rng: (rng.normal(size=(4096, 4096)).astype("f4"),)
add("softmax 4096 x 4096 f4", "def f(x):\n    e = np.exp(x - np.max(x, axis=1, keepdims=True))\n    return e / np.sum(e, axis=1, keepdims=True)\n", MATRIX, 2 * 4 * 4096**2, 1e-5)
add("standardise 4096 x 4096 f4", "def f(x):\n    return (x - np.mean(x, axis=1, keepdims=True)) / (np.std(x, axis=1, keepdims=True) + 1e-5)\n", MATRIX, 2 * 4 * 4096**2, 1e-4)
add("variance of 10,000,000", "def f(x):\n    return np.mean((x - np.mean(x)) ** 2)\n", lambda rng: (rng.normal(size=10_000_000),), 2 * 80_000_000)
add("column sums of squares, 2,000,000 x 16", "def f(x):\n    return np.sum(x * x, axis=0)\n", lambda rng: (rng.normal(size=(2_000_000, 16)),), 2_000_000 * 128)

# --- shifted views
add("5-point stencil 4096 x 4096", "def f(u):\n    return 0.2 * (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])\n", lambda rng: (rng.normal(size=(4096, 4096)),), 2 * 8 * 4096**2)
add("writes through views, 20 steps, 1000 x 1000", """
def f(u):
    u = u.copy()
    for _ in range(20):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u[0] = u[1]
        u[-1] = u[-2]
    return u
""", lambda rng: (rng.normal(size=(1000, 1000)),))
add("forces between 2000 bodies", """
def f(p, m):
    d = p[None, :, :] - p[:, None, :]
    r2 = np.sum(d * d, axis=2) + 0.01
    return np.sum(d * (m / (r2 * np.sqrt(r2)))[:, :, None], axis=1)
""", lambda rng: (rng.normal(size=(2000, 3)), rng.random(2000)))

# --- small arrays
for size in (3, 10, 100, 1000, 10_000):
    add(f"1000 additions of {size:,} elements", "def f(a, b):\n    for _ in range(1000):\n        a = a + b\n    return a\n", lambda rng, size=size: tuple(rng.normal(size=(2, size))), group="small")
add("100 small steps of 1000 elements", """
def f(x, v):
    for _ in range(100):
        v = v + (-x * 0.5 - v * 0.1) * 0.01
        x = x + v * 0.01
    return x
""", lambda rng: (rng.normal(size=1000), rng.normal(size=1000)), group="small")

# --- random trees of reductions into reductions
for seed in range(8):
    source, shapes = trees.draw(seed)
    add(f"tree {seed}: {trees.title(source)}", source, lambda rng, shapes=shapes: tuple(rng.uniform(0.5, 2, s) for s in shapes), sum(8 * int(numpy.prod(s)) for s in shapes), 1e-9, {}, "trees")
