#!/usr/bin/env python3
"""Every ufunc, dtype and layout as one operation at a time: Plait's precompiled loops beside NumPy's, by turns in one process.

    python benchmarks/ufuncs.py                        # what is below 0.95 of NumPy's speed
    python benchmarks/ufuncs.py log power --below 9    # all cells of some

One thread, the time of the core, the best of the rounds: the ratios hold on a busy machine.
"""

import argparse
import os
import statistics
import time
import warnings

os.environ["PLAIT_EAGER_LIMIT"] = "10000000"  # nothing is recorded
os.environ["PLAIT_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy

import plait

DTYPES = ["float64", "float32", "float16", "complex128", "complex64", "int64", "int32", "int16", "int8", "uint8", "bool"]
SCALARS = {"float_power": 1.7, "power": 1.7, "floor_divide": 7, "remainder": 7, "fmod": 7}
REDUCTIONS = ["sum", "prod", "min", "max", "mean", "std", "argmin", "argmax", "any", "all"]
UFUNCS = {name: f for name, f in vars(numpy).items() if isinstance(f, numpy.ufunc) and f.nout == 1}
FUNCTIONS = sorted(name for name, f in UFUNCS.items() if f.__name__ == name)


def operand(rng, dtype, n, name):
    """Ordinary numbers that the function is defined for."""
    if dtype == "bool":
        return rng.random(n) < 0.5
    if dtype[0] in "iu":
        return rng.integers(1, 6 if name in ("power", "left_shift", "right_shift") else 100, n).astype(dtype)
    low, high = {"arccosh": (1, 9), "arcsin": (0, 1), "arccos": (0, 1), "arctanh": (0, 1)}.get(name, (0.1, 3.0))
    x = rng.uniform(low, high, n)
    return (x + 1j * rng.uniform(low, high, n) if dtype[0] == "c" else x).astype(dtype)


def cells(name, dtype, n, rng):
    """(what, function of the module and arrays, arrays)."""
    a, b = operand(rng, dtype, n, name), operand(rng, dtype, n, name)
    if name in REDUCTIONS:
        rows, side = 1 << (n.bit_length() // 2), n // (1 << (n.bit_length() // 2))
        m = a[: rows * side].reshape(rows, side)
        if name in ("any", "all"):
            m = numpy.full_like(m, name == "all")
        for axis in (None, 0, 1):
            yield f"axis={axis}", (lambda np, x, axis=axis: getattr(np, name)(x, axis=axis)), (m,)
        return
    f = getattr(numpy, name)
    if f.signature or f.nin > 2:
        return
    wide = [operand(rng, dtype, 2 * n, name)[::2] for _ in range(f.nin)]
    run = lambda np, *x: getattr(np, name)(*x)
    yield "contiguous", run, (a, b)[: f.nin]
    yield "strided", run, tuple(wide)
    if f.nin == 2:
        value = SCALARS.get(name, 3)
        scalar = type(value)(value) if dtype[0] == "f" else int(value)
        yield f"scalar {scalar}", (lambda np, x: getattr(np, name)(x, scalar)), (a,)
        if name == "power" and dtype[0] in "fc":
            for exponent in (2, 3, 0.5, -1.5, -1):
                yield f"scalar {exponent}", (lambda np, x, e=exponent: getattr(np, name)(x, e)), (a,)


def seconds(run, module, arrays, at_least):
    calls, start = 0, time.process_time()
    while True:
        for _ in range(1 + calls):
            run(module, *arrays)
        calls += 1 + calls
        spent = time.process_time() - start
        if spent >= at_least:
            return spent / calls


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="ufuncs and reductions; all of them")
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--sizes", default="1000,100000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--below", type=float, default=0.95, help="print what is slower than this share of NumPy's speed")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    numpy.seterr(all="ignore")
    plait.seterr(all="ignore")
    rows = []
    for name in args.names or FUNCTIONS + REDUCTIONS:
        for dtype in args.dtypes.split(","):
            for n in map(int, args.sizes.split(",")):
                for what, run, arrays in cells(name, dtype, n, numpy.random.default_rng(1)):
                    try:
                        run(numpy, *arrays)
                    except (TypeError, ValueError):
                        continue
                    ours = tuple(plait.asarray(numpy.repeat(a, 2))[::2] if a.strides[0] > a.itemsize and a.ndim == 1 else plait.asarray(a) for a in arrays)
                    best = [float("inf")] * 2
                    for _ in range(args.rounds):
                        for k, (module, inputs) in enumerate(((numpy, arrays), (plait, ours))):
                            best[k] = min(best[k], seconds(run, module, inputs, 2e-4))
                    rows.append((best[0] / best[1], best[1], f"{name} {dtype} {what} {n}"))
    for ratio, ours, cell in sorted(rows):
        if ratio < args.below:
            print(f"{ratio:6.2f}  {ours * 1e6:9.1f} us  {cell}")
    print(f"{len(rows)} cells, below {args.below}: {sum(r[0] < args.below for r in rows)}, median {statistics.median(r[0] for r in rows):.2f}")


if __name__ == "__main__":
    main()
