"""The workloads: each a function of arrays in NumPy's source, which `np` is bound in later, its inputs, and the fewest bytes that
have to pass through memory. A peer that cannot take the source as it stands, or that has a function of its own for it, may have its own
source (`peers`); None leaves the peer out."""
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
    group: str = "maps"
    threads: Optional[int] = None  # measured on as many, whatever the run is for


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


for n, k, d, dtype in [(20_000_000, 2, 2, "f8"), (1_000_000, 8, 8, "f8"), (1_000_000, 8, 8, "f4"), (400_000, 16, 16, "f8"), (50_000, 64, 64, "f8")]:
    itemsize = int(dtype[1])
    add(f"k-means {n:,} x {d} {dtype}, K = {k}", KMEANS, points(n, k, d, dtype), n * d * itemsize + n * 8, 0, {"numba": KMEANS_LOOPS}, "k-means")
for name, distance in [("cityblock", "np.sum(np.abs(X - means[:, None]), axis=2)"), 
                       ("weighted", "np.sqrt(np.sum((X - means[:, None]) ** 2 * np.arange(1.0, 9.0), axis=2))")]:
    add(f"k-means, {name} distance, 500,000 x 8, K = 8", f"def f(X, means):\n    return np.argmin({distance}, axis=0)\n", points(500_000, 8, 8, "f8"), 500_000 * 72, 0, {}, "k-means")

# --- maps
add("chain of 6 operations, 10,000,000", "def f(a, b, c):\n    return np.sqrt(np.abs(a * b + c)) - a / 3.0\n", lambda rng: tuple(rng.normal(size=(3, 10_000_000))), 4 * 80_000_000,
    peers={"numexpr": "sqrt(abs(a * b + c)) - a / 3.0"})
add("polynomial of degree 8, 5,000,000 f4", "def f(x):\n    y = x * 0 + 1\n    for c in (0.5, -0.25, 2.0, 1.5, -0.75, 0.125, 3.0, -1.0):\n        y = y * x + c\n    return y\n",
    lambda rng: (rng.uniform(-1, 1, 5_000_000).astype("f4"),), 2 * 20_000_000, 1e-5)
BLACK_SCHOLES = """
def f(spot, strike, years):
    spread = 0.3 * np.sqrt(years)
    d1 = (np.log(spot / strike) + 0.065 * years) / spread
    def normal(x):
        t = 1.0 / (1.0 + 0.2316419 * np.abs(x))
        tail = 0.3989422804014327 * np.exp(-0.5 * x * x) * t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
        return np.where(x > 0, 1.0 - tail, tail)
    return spot * normal(d1) - strike * np.exp(-0.02 * years) * normal(d1 - spread)
"""
for title, threads in (("", None), (", one thread", 1)):
    add(f"Black-Scholes, 2,000,000{title}", BLACK_SCHOLES, lambda rng: tuple(rng.uniform(1, 2, (3, 2_000_000))), 4 * 16_000_000, threads=threads)

# --- rows
MATRIX = lambda rng: (rng.normal(size=(4096, 4096)).astype("f4"),)
add("softmax 4096 x 4096 f4", "def f(x):\n    e = np.exp(x - np.max(x, axis=1, keepdims=True))\n    return e / np.sum(e, axis=1, keepdims=True)\n", MATRIX, 2 * 4 * 4096**2, 1e-5, group="rows")
add("standardise 4096 x 4096 f4", "def f(x):\n    return (x - np.mean(x, axis=1, keepdims=True)) / (np.std(x, axis=1, keepdims=True) + 1e-5)\n", MATRIX, 2 * 4 * 4096**2, 1e-4, group="rows")
add("variance of 10,000,000", "def f(x):\n    return np.mean((x - np.mean(x)) ** 2)\n", lambda rng: (rng.normal(size=10_000_000),), 2 * 80_000_000, group="rows")
add("column sums of squares, 2,000,000 x 16", "def f(x):\n    return np.sum(x * x, axis=0)\n", lambda rng: (rng.normal(size=(2_000_000, 16)),), 2_000_000 * 128, group="rows")

# --- shifted views
add("5-point stencil 4096 x 4096", "def f(u):\n    return 0.2 * (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])\n", lambda rng: (rng.normal(size=(4096, 4096)),), 2 * 8 * 4096**2, group="stencils")
add("writes through views, 20 steps, 1000 x 1000", """
def f(u):
    u = u.copy()
    for _ in range(20):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u[0] = u[1]
        u[-1] = u[-2]
    return u
""", lambda rng: (rng.normal(size=(1000, 1000)),), group="stencils")
add("forces between 2000 bodies", """
def f(p, m):
    d = p[None, :, :] - p[:, None, :]
    r2 = np.sum(d * d, axis=2) + 0.01
    return np.sum(d * (m / (r2 * np.sqrt(r2)))[:, :, None], axis=1)
""", lambda rng: (rng.normal(size=(2000, 3)), rng.random(2000)))

# --- products: layers, attention, convolutions
def singles(*shapes):
    """Float32 arrays whose products stay of the order of one."""
    return lambda rng: tuple((rng.normal(size=s) / s[-1] ** 0.25).astype("f4") for s in shapes)


add("two layers, 1024 x (1024, 4096, 1024) f4", """
def f(x, w1, b1, w2, b2):
    h = x @ w1 + b1
    h = 0.5 * h * (1 + np.tanh(0.7978845608 * (h + 0.044715 * h * h * h)))
    return x + (h @ w2 + b2)
""", singles((1024, 1024), (1024, 4096), (4096,), (4096, 1024), (1024,)), None, 1e-4, group="products")
add("64 products of (128, 64, 128) f4", "def f(a, b):\n    return a @ b\n", singles((64, 128, 64), (64, 64, 128)), 4 * 64 * (2 * 128 * 64 + 128 * 128), 1e-4, group="products")
add("layer norm and projection (4096, 512, 1536) f4", """
def f(x, w):
    m = np.mean(x, axis=1, keepdims=True)
    return (x - m) / np.sqrt(np.var(x, axis=1, keepdims=True) + 1e-5) @ w
""", singles((4096, 512), (512, 1536)), None, 1e-4, group="products")
ATTENTION = """
def f(q, k, v):
    s = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True) @ v
"""
CAUSAL = ATTENTION.replace("    e =", "    s = np.where(np.tri(q.shape[-2], dtype=bool), s, np.float32(-1e30))\n    e =", 1)
TORCH_ATTENTION = "import torch\ndef f(q, k, v):\n    return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None]{})[0]\n"
for title, source, extra in (("attention", ATTENTION, ""), ("causal attention", CAUSAL, ", is_causal=True")):
    add(f"{title} (8, 1024, 64) f4", source, singles(*[(8, 1024, 64)] * 3), None, 1e-4, {"torch": TORCH_ATTENTION.format(extra)}, "products")
add("attention (2, 8192, 64) f4", ATTENTION, singles(*[(2, 8192, 64)] * 3), None, 1e-4, {"torch": TORCH_ATTENTION.format("")}, "products")
add("one query, 32 heads, 8192 keys of 128 f4", ATTENTION, singles((32, 1, 128), (32, 8192, 128), (32, 8192, 128)), 2 * 4 * 32 * 8192 * 128, 1e-4,
    {"torch": TORCH_ATTENTION.format("")}, "products")
add("convolution 3x3 by windows (8, 64, 56, 56) f4", """
def f(x, w, b):
    v = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), axis=(2, 3))
    return np.maximum(np.einsum("nchwij,ocij->nohw", v, w, optimize=True) + b[:, None, None], 0)
""", singles((8, 64, 56, 56), (64, 64, 3, 3), (64,)), None, 1e-4, {
    "torch": "import torch\ndef f(x, w, b):\n    return torch.relu(torch.nn.functional.conv2d(x, w, b, padding=1))\n",
    "jax": "import jax\ndef f(x, w, b):\n    return np.maximum(jax.lax.conv_general_dilated(x, w, (1, 1), 'SAME') + b[:, None, None], 0)\n", "numba": None}, "products")
add("einsum of three (300, 300)", "def f(a, b, c):\n    return np.einsum('ij,jk,kl->il', a, b, c, optimize=True)\n", lambda rng: tuple(rng.normal(size=(3, 300, 300))), group="products")

# --- indices, bins, scans, sorts
add("bincount with weights, 10,000,000 into 256", "def f(w, i):\n    return np.bincount(i, w, 256)\n", lambda rng: (rng.random(10_000_000), rng.integers(0, 256, 10_000_000)),
    160_000_000, peers={"jax": "def f(w, i):\n    return np.bincount(i, w, length=256)\n"}, group="indices")
add("histogram of tanh, 10,000,000", "def f(x):\n    return np.histogram(np.tanh(x), 64)[0]\n", lambda rng: (rng.normal(size=10_000_000),), 80_000_000, 2,
    {"jax": "def f(x):\n    return np.histogram(np.tanh(x), 64)[0].astype(int)\n"}, "indices")
for title, threads in (("", None), (", one thread", 1)):
    add(f"gather and chain, 1,000,000 of 10,000,000{title}", "def f(x, i):\n    return np.sqrt(np.abs(x[i])) * 2\n",
        lambda rng: (rng.normal(size=10_000_000), rng.integers(0, 10_000_000, 1_000_000)), 24_000_000, group="indices", threads=threads)
add("mean and deviation of what a mask selects, 10,000,000", "def f(x):\n    y = x[x > 0.5]\n    return np.stack([np.mean(y), np.std(y)])\n", lambda rng: (rng.random(10_000_000),),
    80_000_000, peers={"jax": None}, group="indices")
add("moving average by cumsum, 10,000,000", "def f(x):\n    c = np.cumsum(x)\n    return (c[50:] - c[:-50]) / 50\n", lambda rng: (rng.normal(size=10_000_000),), 160_000_000, 1e-6, group="indices")
add("sort of 5,000,000", "def f(x):\n    return np.sort(x)\n", lambda rng: (rng.random(5_000_000),), 80_000_000, group="sorts")
add("stable argsort of 2,000,000 f4", "def f(x):\n    return np.argsort(x, kind='stable')\n", lambda rng: (rng.random(2_000_000).astype("f4"),), 24_000_000, 0, {"jax": "def f(x):\n    return np.argsort(x, stable=True)\n", "numba": None}, "sorts")
add("median of 5,000,000", "def f(x):\n    return np.median(x)\n", lambda rng: (rng.random(5_000_000),), 40_000_000, group="sorts")
add("unique with counts, 5,000,000 integers of 1000 values", "def f(x):\n    return np.unique(x, return_counts=True)[1]\n", lambda rng: (rng.integers(0, 1000, 5_000_000),), 40_000_000, 0, {"jax": None}, "sorts")
add("spectrum of 2**21", "def f(x):\n    return np.abs(np.fft.rfft(x))\n", lambda rng: (rng.normal(size=2**21),), group="sorts")

# --- small arrays
for size in (10, 1000, 10_000):
    add(f"1000 additions of {size:,} elements", "def f(a, b):\n    for _ in range(1000):\n        a = a + b\n    return a\n", lambda rng, size=size: tuple(rng.normal(size=(2, size))), group="small")
add("100 small steps of 1000 elements", """
def f(x, v):
    for _ in range(100):
        v = v + (-x * 0.5 - v * 0.1) * 0.01
        x = x + v * 0.01
    return x
""", lambda rng: (rng.normal(size=1000), rng.normal(size=1000)), group="small")

# --- random trees of reductions into reductions
for seed in range(4):
    source, shapes = trees.draw(seed)
    add(f"tree {seed}: {trees.title(source)}", source, lambda rng, shapes=shapes: tuple(rng.uniform(0.5, 2, s) for s in shapes), sum(8 * int(numpy.prod(s)) for s in shapes), 1e-9, {}, "trees")

# --- loops that the program writes
def grids(count, *shape):
    return lambda rng: tuple(rng.uniform(0, 0.5, (count, *shape)))


add("heat equation in place, 100 steps of 2000 x 2000", """
def f(u):
    u = u.copy()
    for _ in range(100):
        u[1:-1, 1:-1] += 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1])
    return u
""", grids(1, 2000, 2000), group="loops")
add("wave equation, leapfrog in place, 50 steps of 200^3 f4", """
def f(now, before):
    now, before = now.copy(), before.copy()
    c = slice(1, -1)
    for _ in range(50):
        around = now[2:, c, c] + now[:-2, c, c] + now[c, 2:, c] + now[c, :-2, c] + now[c, c, 2:] + now[c, c, :-2] - 6 * now[c, c, c]
        before[c, c, c] = 2 * now[c, c, c] - before[c, c, c] + np.float32(0.1) * around
        now, before = before, now
    return now
""", lambda rng: tuple(rng.uniform(0, 0.5, (2, 200, 200, 200)).astype("f4")), tolerance=1e-4, group="loops")
add("reaction and diffusion by roll, 200 steps of 500 x 500", """
def f(u, v):
    around = lambda z: np.roll(z, 1, 0) + np.roll(z, -1, 0) + np.roll(z, 1, 1) + np.roll(z, -1, 1) - 4 * z
    for _ in range(200):
        r = u * v * v / (1 + v * v)
        u, v = u + 0.16 * around(u) - r + 0.035 * (1 - u), v + 0.08 * around(v) + r - 0.095 * v
    return u + v
""", grids(2, 500, 500), tolerance=1e-6, group="loops")
add("exponential smoothing, 2000 rows of 1000", """
def f(x):
    y = np.empty_like(x)
    y[0] = x[0]
    for t in range(1, len(x)):
        y[t] = 0.9 * y[t - 1] + 0.1 * x[t]
    return y
""", grids(1, 2000, 1000), group="loops")
add("10 steps of Adam, 40 parameters of 64 x 16 f4", """
def f(parameters, gradients):
    ps = [p.copy() for p in parameters]
    first, second = [np.zeros_like(p) for p in ps], [np.zeros_like(p) for p in ps]
    for t in range(1, 11):
        for i, g in enumerate(gradients):
            first[i] = 0.9 * first[i] + 0.1 * g
            second[i] = 0.999 * second[i] + 0.001 * g * g
            ps[i] = ps[i] - 0.001 * (first[i] / (1 - 0.9**t)) / (np.sqrt(second[i] / (1 - 0.999**t)) + 1e-8)
    return np.stack(ps)
""", lambda rng: tuple(rng.normal(size=(2, 40, 64, 16)).astype("f4")), tolerance=1e-3, group="loops")
KMEANS_MEANS = {
    "masks": "return np.stack([X[labels == k].mean(axis=0) for k in range(len(means))])",
    "add.at": "sums = np.zeros_like(means)\n    np.add.at(sums, labels, X)\n    return sums / np.bincount(labels, minlength=len(means))[:, None]",
}
for name, update in KMEANS_MEANS.items():
    add(f"k-means, assignment and means by {name}, 2,000,000 x 4, K = 16", f"""
def f(X, means):
    labels = np.argmin(np.linalg.norm(X - means[:, None], axis=2), axis=0)
    {update}
""", points(2_000_000, 16, 4, "f8"), 64_000_000, 1e-8, group="loops")
add("mean, deviation and maximum of 50 groups, 1,000,000", """
def f(x, groups):
    out = np.empty((50, 3))
    for k in range(50):
        own = x[groups == k]
        out[k] = own.mean(), own.std(), own.max()
    return out
""", lambda rng: (rng.normal(size=1_000_000), rng.integers(0, 50, 1_000_000)), 16_000_000, 1e-8, group="loops")
add("minimum, maximum, mean and deviation of 10,000,000", "def f(x):\n    return np.array([x.min(), x.max(), x.mean(), x.std()])\n", lambda rng: (rng.normal(size=10_000_000),), 80_000_000, group="loops")
add("np.vectorize of a price with a branch, 1,000,000", """
def f(s, k, t):
    def price(s, k, t):
        d = (np.log(s / k) + 0.065 * t) / (0.3 * t**0.5)
        if d > 0.5:
            return s * 0.7 - k * np.exp(-0.02 * t) * 0.6
        return max(s - k, 0.0) + 0.01 * d
    return np.vectorize(price)(s, k, t)
""", lambda rng: tuple(rng.uniform(0.5, 2.0, (3, 1_000_000))), group="loops")
