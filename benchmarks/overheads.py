"""What is paid beside the arithmetic: recording an operation, importing, and a whole process. Prints JSON: overheads.py KIND MODULE."""

import importlib
import json
import sys
import time


def recording(np, operations=100, runs=3_000):
    """Nanoseconds to record one addition of arrays that are too large to be computed at once; nothing is evaluated.
    The least of many short runs, less that of the empty loop."""
    a, b = np.ones(100_000), np.ones(100_000)

    def add():
        for _ in range(operations):
            a + b

    def nothing():
        for _ in range(operations):
            a  # noqa: B018

    def least(run):
        times = []
        for _ in range(runs):
            start = time.perf_counter_ns()
            run()
            times.append(time.perf_counter_ns() - start)
        return min(times) / operations

    return least(add) - least(nothing)


def process(np, points):
    """A k-means script from its first line on."""
    rng = np.random.default_rng(0)
    X = np.asarray(rng.standard_normal((points, 2)))
    means = np.asarray([[-1.0, 0.5], [1.0, -0.5]])
    for _ in range(5):
        labels = np.argmin(np.linalg.norm(X - means[:, None], axis=2), axis=0)
        means = np.stack([np.sum(np.where((labels == k)[:, None], X, 0), axis=0) / np.sum(labels == k) for k in range(2)])
    return float(np.sum(means))


def main():
    kind, module = sys.argv[1:3]
    start = time.perf_counter()
    np = importlib.import_module(module)
    loading = time.perf_counter() - start
    if kind == "import":
        print(json.dumps({"seconds": loading}))
    elif kind == "recording":
        print(json.dumps({"nanoseconds": recording(np)}))
    else:
        print(json.dumps({"value": process(np, int(sys.argv[3]))}))


if __name__ == "__main__":
    main()
