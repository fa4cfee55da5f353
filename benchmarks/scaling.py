#!/usr/bin/env python3
"""The main workloads with 1, 2, 4, 8 ... threads, under Plait (plait.jit) and torch.compile, beside NumPy, each in a process of its own.

    python benchmarks/scaling.py --seconds 60 --out scaling.json
    python benchmarks/scaling.py --only k-means --impl plait --threads 1,2

Milliseconds, medians. A process takes the rows in order, each with every number of threads; the seconds are shared out among the
implementations, and rows that come too late for them are left out. Torch's code is compiled for any number of threads. NumPy has all
threads, which its products alone make use of.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import numpy
import workloads
from child import wrong

THIS = [sys.executable, __file__]
ROWS = [
    "k-means 20,000,000 x 2 f8, K = 2",
    "k-means 1,000,000 x 8 f8, K = 8",
    "chain of 6 operations, 10,000,000",
    "Black-Scholes, 2,000,000",
    "softmax 4096 x 4096 f4",
    "standardise 4096 x 4096 f4",
    "variance of 10,000,000",
    "5-point stencil 4096 x 4096",
    "two layers, 1024 x (1024, 4096, 1024) f4",
    "attention (8, 1024, 64) f4",
    "convolution 3x3 by windows (8, 64, 56, 56) f4",
    "histogram of tanh, 10,000,000",
]
IMPLS = ["numpy", "plait", "torch"]


def numpy_with(w):
    scope = {"np": numpy}
    exec(w.source, scope)
    return scope["f"], None


def plait_with(w):
    import plait

    def threads(n):
        plait.config.threads = n

    return plait.jit(numpy_with(w)[0]), threads


def torch_with(w):
    import torch
    import torch._inductor.config

    torch._inductor.config.cpp.dynamic_threads = True
    if "torch" not in w.peers:
        return torch.compile(numpy_with(w)[0], dynamic=False), torch.set_num_threads
    scope = {}
    exec(w.peers["torch"], scope)
    return lambda *args: scope["f"](*map(torch.from_numpy, args)).numpy(), torch.set_num_threads


WITH = {"numpy": numpy_with, "plait": plait_with, "torch": torch_with}


def steady(f, args, least=0.15):
    """Median seconds of a call, of at least three."""
    times, end = [], time.perf_counter() + least
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 50):
        start = time.perf_counter()
        f(*args)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def child(impl, names, counts, least):
    """Prints a line of JSON a row and number of threads."""
    for name in names:
        w = next(w for w in workloads.ALL if w.name == name)
        args = w.inputs(numpy.random.default_rng(3))
        want = None
        try:
            f, set_threads = WITH[impl](w)
            for n in counts if set_threads else counts[-1:]:
                if set_threads:
                    set_threads(n)
                got = numpy.asarray(f(*args))
                if want is None:
                    want = numpy.asarray(numpy_with(w)[0](*args))
                allowed = 2 if w.tolerance == 0 and impl == "torch" else w.tolerance
                row = {"wrong": wrong(got, want, allowed), "seconds": steady(f, args, least)}
                print(json.dumps({"row": name, "impl": impl, "threads": n, **row}), flush=True)
        except ImportError as e:
            return print(json.dumps({"absent": str(e), "impl": impl}), flush=True)
        except Exception as e:
            print(json.dumps({"row": name, "impl": impl, "failed": f"{type(e).__name__}: {e}".splitlines()[0][:200]}), flush=True)


def lines_of(command, limit):
    """The lines of JSON that a process prints until it ends or its time is over."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        out = process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        out = process.communicate()[0]
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def table(results):
    counts = results["threads"]
    of = {(r["row"], r["impl"], r["threads"]): r for r in results["rows"] if "seconds" in r}

    def cell(*key):
        r = of.get(key)
        return "" if r is None else "WRONG" if r["wrong"] else f"{r['seconds'] * 1e3:.3g}"

    heads = [f"{impl}, {n}" for impl in IMPLS[1:] for n in counts]
    lines = ["| ms | NumPy | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (1 + len(heads))]
    for name in dict.fromkeys(r["row"] for r in results["rows"] if "row" in r):
        cells = [cell(name, "numpy", counts[-1]), *(cell(name, impl, n) for impl in IMPLS[1:] for n in counts)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    cores = len(os.sched_getaffinity(0))
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--only", default="", help="rows whose name matches this expression")
    ap.add_argument("--impl", default=",".join(IMPLS))
    ap.add_argument("--threads", default=",".join(str(2**i) for i in range(cores.bit_length())), help="numbers of threads")
    ap.add_argument("--seconds", type=float, default=60, help="for all of it")
    ap.add_argument("--least", type=float, default=0.15, help="seconds for a figure")
    ap.add_argument("--out", help="a file for the figures, as JSON")
    ap.add_argument("--child", help=argparse.SUPPRESS)
    a = ap.parse_args()
    counts, names = [int(n) for n in a.threads.split(",")], [n for n in ROWS if re.search(a.only, n)]
    if a.child:
        return child(a.child, names, counts, a.least)
    results = {"cores": cores, "threads": counts, "rows": []}
    impls, end = a.impl.split(","), time.monotonic() + a.seconds
    for left, impl in zip(range(len(impls), 0, -1), impls):
        command = [*THIS, "--child", impl, "--only", a.only, "--threads", a.threads, "--least", str(a.least)]
        rows = lines_of(command, (end - time.monotonic()) / left)
        results["rows"] += rows
        print(f"{impl}: {next((r['absent'] for r in rows if 'absent' in r), f'{len(rows)} figures')}", flush=True)
        if a.out:
            pathlib.Path(a.out).write_text(json.dumps(results, indent=1) + "\n")
    print(table(results))
    return 1 if any(r.get("wrong") or "failed" in r for r in results["rows"] if r["impl"] == "plait") else 0


if __name__ == "__main__":
    sys.exit(main())
