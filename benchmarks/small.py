"""Scalar-heavy and small work: nanoseconds a call, Plait and NumPy by turns in one process. small.py [--json] [--quick] [NAME ...]

The least of many short runs, which other work on the machine disturbs little. Every call's results were compared by the tests.
"""

import argparse
import json
import time

import numpy

import plait


def calls(np):
    """Name -> a function to time, over arrays of the module."""
    x, y, z, q = np.arange(10.0), np.arange(10.0), np.zeros(10), np.arange(100.0)
    m, numbers = np.zeros((4, 4)), [1.0, 2.0, 3.0]
    mask, indices, single = q > 50, np.array([1, 2, 3]), np.array(3.5)
    half, rng = numpy.float64(0.5), np.random.default_rng(0)

    def write(value):
        def run():
            z[3] = value

        return run

    def write_2d():
        m[1, 2] = 1.5

    def write_slice():
        z[2:5] = 0.0

    def add_to_element():
        z[3] += 1.0

    return {
        "x + y": lambda: x + y,
        "x * 2.0": lambda: x * 2.0,
        "sin(x)": lambda: np.sin(x),
        "x[i]": lambda: x[3],
        "float(x[i])": lambda: float(x[3]),
        "m[i, j]": lambda: m[1, 2],
        "x[1:4]": lambda: x[1:4],
        "z[i] = 1.5": write(1.5),
        "z[i] = float64": write(half),
        "m[i, j] = 1.5": write_2d,
        "z[2:5] = 0": write_slice,
        "z[i] += 1": add_to_element,
        "array([1., 2., 3.])": lambda: np.array(numbers),
        "array([[..], [..]])": lambda: np.array([[1.0, 2.0], [3.0, 4.0]]),
        "q[[1, 2, 3]]": lambda: q[[1, 2, 3]],
        "q[indices]": lambda: q[indices],
        "q[mask]": lambda: q[mask],
        "for v in x": lambda: [v for v in x],
        "x.tolist()": lambda: x.tolist(),
        "x.item(3)": lambda: x.item(3),
        "float(0-D)": lambda: float(single),
        "x.sum()": lambda: x.sum(),
        "x.max()": lambda: x.max(),
        "x.mean()": lambda: x.mean(),
        "x.argmax()": lambda: x.argmax(),
        "array([x, y])": lambda: np.array([x, y]),
        "bincount of three": lambda: np.bincount(indices),
        "rng.random()": rng.random,
        "rng.integers(10)": lambda: rng.integers(10),
        "rng.shuffle(10)": lambda: rng.shuffle(z),
        "max(x)": lambda: max(x),
        "zip(x, y)": lambda: [0 for _ in zip(x, y)],
        "mask.any()": lambda: mask.any(),
        "m.sum(axis=0)": lambda: m.sum(axis=0),
        "x @ y": lambda: x @ y,
        "zeros(10)": lambda: np.zeros(10),
        "arange(10.)": lambda: np.arange(10.0),
        "x.copy()": lambda: x.copy(),
        "x.astype(float32)": lambda: x.astype(numpy.float32),
        "x.reshape(2, 5)": lambda: x.reshape(2, 5),
        "where(mask, q, 0.)": lambda: np.where(mask, q, 0.0),
    }


def least(call, calls=200):
    """Nanoseconds of one call in the fastest of a few runs."""
    best = float("inf")
    for _ in range(30):
        start = time.perf_counter_ns()
        for _ in range(calls):
            call()
        best = min(best, time.perf_counter_ns() - start)
    return best / calls


def measure(name, ours, theirs, rounds):
    a = b = float("inf")
    for _ in range(rounds):  # by turns
        a, b = min(a, least(theirs[name])), min(b, least(ours[name]))
    return {"numpy": a, "plait": b}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--json", action="store_true", help="one line, for run.py")
    parser.add_argument("--quick", action="store_true", help="three rounds instead of ten")
    options = parser.parse_args()
    ours, theirs = calls(plait), calls(numpy)
    rounds = 3 if options.quick else 10
    names = [n for n in ours if not options.names or n in options.names]
    if options.json:
        print(json.dumps({n: measure(n, ours, theirs, rounds) for n in names}))
        return
    print(f"{'':22}{'NumPy':>8}{'Plait':>8}  ratio")
    for name in names:
        row = measure(name, ours, theirs, rounds)
        print(f"{name:22}{row['numpy']:8.0f}{row['plait']:8.0f}{row['plait'] / row['numpy']:7.2f}", flush=True)


if __name__ == "__main__":
    main()
