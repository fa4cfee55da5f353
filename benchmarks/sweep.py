#!/usr/bin/env python3
"""Away from the tables' rows: extents, dtypes, layouts and trees that are drawn, each with NumPy, Plait and plain loops in turn.

    python benchmarks/sweep.py --cases 200 --threads 1             # prints the worst cases of each family
    python benchmarks/sweep.py --only columns --seed 4 --explain   # and the plans of the worst

One process, the implementations of a case take turns, the best of the rounds counts, and on one thread the time of the core instead
of the clock: the ratios hold on a busy machine. `numpy` is NumPy's time over Plait's; `loops` that of the loops a C++ programmer
would write, compiled by Numba (k-means only); `limit` is Plait's time over one pass over the inputs at the bandwidth measured beside
it (inputs past the caches only). Code is compiled before its first run: what is compared is the steady state.
"""

import argparse
import dataclasses
import itertools
import os
import random
import statistics
import time
import warnings

import numpy

import trees

DISTANCES = {
    "norm": "np.linalg.norm(X - means[:, None], axis=2)",
    "cityblock": "np.sum(np.abs(X - means[:, None]), axis=2)",
    "maximum": "np.max(np.abs(X - means[:, None]), axis=2)",
    "weighted": "np.sqrt(np.sum((X - means[:, None]) ** 2 * w, axis=2))",
}
TERMS = {
    "norm": "(X[n, d] - means[k, d]) ** 2",
    "cityblock": "abs(X[n, d] - means[k, d])",
    "maximum": "abs(X[n, d] - means[k, d])",
    "weighted": "(X[n, d] - means[k, d]) ** 2 * w[d]",
}
LOOPS = """
def f(X, means, w):
    labels = np.empty(len(X), np.int64)
    for n in prange(len(X)):
        nearest = np.inf
        for k in range(len(means)):
            total = X.dtype.type(0)
            for d in range(X.shape[1]):
                total = {}
            if total < nearest:
                nearest = total
                labels[n] = k
    return labels
"""


@dataclasses.dataclass
class Case:
    title: str
    source: str  # defines f(...)
    arrays: tuple
    views: tuple = ()  # what the function gets of each array
    loops: object = None  # f(...) as loops

    def inputs(self, convert):
        return tuple(view(convert(a)) for a, view in itertools.zip_longest(self.arrays, self.views, fillvalue=lambda a: a))


LAYOUTS = {
    "C": lambda n, m: ((n, m), lambda a: a),
    "transposed": lambda n, m: ((m, n), lambda a: a.T),
    "every second row": lambda n, m: ((2 * n, m), lambda a: a[::2]),
    "every second column": lambda n, m: ((n, 2 * m), lambda a: a[:, ::2]),
    "reversed": lambda n, m: ((n, m), lambda a: a[::-1]),
}


def layout(r):
    """A name, of C order twice as often as of the others."""
    return r.choice(["C", *LAYOUTS])


def numbers(rng, shape, dtype):
    if dtype[0] in "iu?":
        return rng.integers(0, 100, shape).astype(dtype)
    return rng.normal(size=shape).astype(dtype)


def loops(text):
    """`f` of the text compiled for all threads, or None without Numba."""
    try:
        import numba
    except ImportError:
        return None
    ns = {"np": numpy, "prange": numba.prange}
    exec(text, ns)
    return numba.njit(parallel=True)(ns["f"])


COMPILED = {}


def kmeans(r, rng):
    k, d = (r.choice([r.randint(1, 12), r.randint(1, 200)]) for _ in "kd")
    dtype, distance = r.choice(["f8", "f8", "f4"]), r.choice(sorted(DISTANCES) + ["norm"])
    n = max(2000, 6_000_000 // (k * d))
    kind = layout(r)
    shape, view = LAYOUTS[kind](n, d)
    if distance not in COMPILED:
        total = f"max(total, {TERMS['maximum']})" if distance == "maximum" else f"total + {TERMS[distance]}"
        COMPILED[distance] = loops(LOOPS.format(total))
    source = f"def f(X, means, w):\n    return np.argmin({DISTANCES[distance]}, axis=0)\n"
    arrays = (numbers(rng, shape, dtype), numbers(rng, (k, d), dtype), numpy.arange(1, d + 1).astype(dtype))
    return Case(f"{distance} {dtype} n={n} K={k} D={d} {kind}", source, arrays, (view,), COMPILED[distance])


def reduction(shapes):
    def draw(r, rng):
        shape, dtype, kind = shapes(r), r.choice(["f8", "f4", "f4", "i4", "i8", "u1", "?"]), layout(r)
        op = r.choice(["argmax", "argmin", "min", "max", "any", "all", "sum", "mean", "std", "prod"])
        whole, view = LAYOUTS[kind](*shape)
        a = (
            numbers(rng, whole, dtype)
            if op not in ("any", "all")
            else numpy.full(whole, op == "all", dtype)
            if r.random() < 0.5
            else numbers(rng, whole, dtype)
        )
        axis = r.choice([0, 1, None] if op[:3] != "arg" else [0, 1])
        operand = r.choice(["x", "x", "x * x", "np.abs(x - x[0])"]) if dtype != "?" else "x"
        return Case(
            f"{op}({operand}, axis={axis}) {dtype} {shape} {kind}",
            f"def f(x):\n    return np.{op}({operand}, axis={axis})\n",
            (a,),
            (view,),
        )

    return draw


def tree(r, rng):
    source, shapes = trees.draw(r.randint(0, 10**6))
    dtype = r.choice(["f8", "f8", "f4"])
    return Case(
        f"{dtype} {shapes} {source.split('return ')[1].strip()}", source, tuple(rng.uniform(0.5, 2, s).astype(dtype) for s in shapes)
    )


def elementwise(r, rng):
    n = r.choice([1, 7, 100, 3000]) * r.choice([3, 100, 1000])
    m = r.choice([1, 2, 3, 17, 64, 500])
    while n * m > 4_000_000:
        n //= 2
    dtype, kinds = r.choice(["f8", "f4", "i4", "i8"]), (layout(r), layout(r))
    shapes, views = zip(*(LAYOUTS[kind](n, m) for kind in kinds))
    text = r.choice(
        [
            "a + b",
            "np.where(a > b, a, b * 2)",
            "(a - b) * (a + b) - a * b",
            "np.maximum(a, b[0]) + b[:, :1]",
            "np.sqrt(np.abs(a)) + b / 3.0",
            "a[1:] - a[:-1]",
            "np.clip(a, 0, 1) ** 2",
        ]
    )
    return Case(
        f"{text} {dtype} {(n, m)} {', '.join(kinds)}",
        f"def f(a, b):\n    return {text}\n",
        tuple(numbers(rng, shape, dtype) for shape in shapes),
        views,
    )


FAMILIES = {
    "kmeans": kmeans,
    "rows": reduction(lambda r: (r.choice([3, 17, 200, 1000]), r.choice([3000, 20_000, 100_000]))),
    "square": reduction(lambda r: (r.choice([30, 100, 300, 1000, 2048]),) * 2),
    "columns": reduction(lambda r: (r.choice([1000, 40_000, 300_000]), r.choice([1, 2, 3, 5, 7, 8, 13, 16, 31, 64]))),
    "trees": tree,
    "maps": elementwise,
}


def seconds(f, inputs, at_least, clock):
    """Of one call, of as many as take that long."""
    calls, start = 0, clock()
    while True:
        numpy.asarray(f(*inputs))
        calls += 1
        spent = clock() - start
        if spent >= at_least:
            return spent / calls


def bandwidth(clock):
    """Bytes a second of Plait's own sum over memory past the caches."""
    import plait

    x = plait.asarray(numpy.ones(1 << 24))
    return x.nbytes / min(seconds(lambda a: a.sum(), (x,), 0, clock) for _ in range(8))


def measure(case, rounds, at_least, clock):
    """(NumPy's, Plait's, the loops' seconds), and whether Plait's result is NumPy's."""
    import plait

    functions, inputs = [], []
    for module in (numpy, plait):
        ns = {"np": module}
        exec(case.source, ns)
        functions.append(ns["f"])
        inputs.append(case.inputs(module.asarray))
    if case.loops:
        functions.append(case.loops)
        inputs.append(inputs[0])
    want, got = (numpy.asarray(f(*i)) for f, i in zip(functions[:2], inputs))
    same = want.shape == got.shape and want.dtype == got.dtype and numpy.allclose(want, got, rtol=1e-4, atol=1e-4, equal_nan=True)
    for f, i in zip(functions[2:], inputs[2:]):
        f(*i)
    best = [float("inf")] * 3
    for _ in range(rounds):
        for k, f in enumerate(functions):
            best[k] = min(best[k], seconds(f, inputs[k], at_least, clock))
    return best, same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=60, help="of each family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join(FAMILIES))
    parser.add_argument("--worst", type=int, default=12, help="how many cases to print of each family")
    parser.add_argument("--explain", action="store_true", help="print the plans of those")
    args = parser.parse_args()
    os.environ.setdefault("PLAIT_JIT", "blocking")
    os.environ["PLAIT_NUM_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(args.threads)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.threads])
    warnings.simplefilter("ignore")
    numpy.seterr(all="ignore")
    import plait

    plait.seterr(all="ignore")
    clock = time.process_time if args.threads == 1 else time.perf_counter
    peak = bandwidth(clock)
    print(f"{peak / 1e9:.1f} GB/s, {args.threads} threads")
    for name in args.only.split(","):
        rows = []
        for i in range(args.cases):
            seed = args.seed * 1000 + i
            case = FAMILIES[name](random.Random(f"{name} {seed}"), numpy.random.default_rng(seed))
            (base, ours, plain), same = measure(case, args.rounds, 1e-3, clock)
            size = sum(a.nbytes for a in case.inputs(numpy.asarray))
            rows.append(
                (base / ours, plain / ours if case.loops else None, ours / (size / peak) if size > 1 << 23 else None, ours, same, case)
            )
        rows.sort(key=lambda row: min(row[0], row[1] or 1e9))
        print(
            f"\n{name}: NumPy's time over Plait's: median {statistics.median(row[0] for row in rows):.1f}, below 1: {sum(row[0] < 1 for row in rows)} of {len(rows)}"
        )
        for ratio, plain, limit, ours, same, case in rows[: args.worst]:
            more = (f" loops {plain:5.2f}" if plain else "") + (f" limit {limit:4.1f}" if limit else "")
            print(f"  numpy {ratio:6.2f}{more}  {ours * 1e3:8.3f} ms  {case.title}{'' if same else '  WRONG'}")
            if args.explain:
                ns = {"np": plait}
                exec(case.source, ns)
                print(plait.explain(ns["f"], *case.inputs(plait.asarray)))


if __name__ == "__main__":
    main()
