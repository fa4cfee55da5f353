#!/usr/bin/env python3
"""First calls of everyday programs (everyday_programs.py) under NumPy and Plait, each in fresh processes whose caches are empty.

    python benchmarks/first_calls.py                              # all, on one thread and two
    python benchmarks/first_calls.py --only 'stencil|boids' --threads 1 --rounds 5

first: the first call after the import, on inputs that are in memory; steady: the median of the calls after it; x: NumPy's time over
Plait's. Each figure is the median of the processes' (implementations take turns).
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

import everyday_programs


def forced(result):
    return [numpy.array(r) for r in (result if isinstance(result, tuple) else (result,))]


def child(name, implementation, seconds):
    """Prints a JSON row; the steady calls go on for `seconds`."""
    f, inputs = everyday_programs.ALL[name]
    arrays = inputs(numpy.random.default_rng(1))
    want = forced(f(*arrays)) if implementation != "numpy" else None
    if implementation == "plait":
        import plait
        everyday_programs.np = plait
        arrays = tuple(plait.array(a) for a in arrays)
    numpy.exp(numpy.zeros(10_000)) @ numpy.zeros(10_000)  # NumPy's and its BLAS's own first calls
    started = time.perf_counter()
    got = forced(f(*arrays))
    first = time.perf_counter() - started
    times = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(times) < 3:
        started = time.perf_counter()
        forced(f(*arrays))
        times.append(time.perf_counter() - started)
    error = max(float(numpy.max(numpy.abs(g - w), initial=0)) / (1 + float(numpy.max(numpy.abs(w), initial=0)))
                for g, w in zip(got, want)) if want and got[0].dtype != bool else 0.0
    tail = times[len(times) // 2:]
    print(json.dumps({"first": first, "second": times[0], "steady": statistics.median(tail), "error": error}))


def call(name, implementation, threads, seconds):
    with tempfile.TemporaryDirectory() as home:
        env = dict(os.environ, PLAIT_CACHE_DIR=f"{home}/plait")
        for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PLAIT_NUM_THREADS"):
            env[variable] = str(threads)
        cores = sorted(os.sched_getaffinity(0))[:threads]
        p = subprocess.run([sys.executable, __file__, "--child", name, implementation, str(seconds)], env=env, capture_output=True, text=True,
                           preexec_fn=lambda: os.sched_setaffinity(0, cores))
    if p.returncode:
        sys.exit(f"{name}, {implementation}: {p.stderr}")
    return json.loads(p.stdout.splitlines()[-1])


def geometric_mean(values):
    return statistics.geometric_mean(values) if values else float("nan")


def measure(names, threads, rounds, seconds):
    print(f"\n{threads} thread{'s' if threads > 1 else ''}, ms{'':28}NumPy first  steady    Plait first  second  steady    x first  x steady")
    ratios = {"first": [], "steady": []}
    for name in names:
        rows = {"numpy": [], "plait": []}
        for _ in range(rounds):
            for implementation, row in rows.items():
                row.append(call(name, implementation, threads, seconds))
        figure = {i: {k: statistics.median(r[k] for r in row) for k in row[0]} for i, row in rows.items()}
        n, p = figure["numpy"], figure["plait"]
        x = {k: n[k] / p[k] for k in ratios}
        for k in ratios:
            ratios[k].append(x[k])
        wrong = "" if p["error"] < 1e-9 else f"  differs by {p['error']:.1e}"
        print(f"{name:40}{1e3 * n['first']:10.2f}{1e3 * n['steady']:8.2f}{1e3 * p['first']:15.2f}{1e3 * p['second']:8.2f}{1e3 * p['steady']:8.2f}"
              f"{x['first']:11.2f}{x['steady']:10.2f}{wrong}", flush=True)
    print(f"{len(names)} programs; x first: {geometric_mean(ratios['first']):.2f} in the mean, {sum(x < 1 for x in ratios['first'])} under 1; "
          f"x steady: {geometric_mean(ratios['steady']):.2f}, {sum(x < 1 for x in ratios['steady'])} under 1")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=".", metavar="REGEX")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, each pinned to as many cores")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each kind")
    parser.add_argument("--seconds", type=float, default=0.5, help="of calls after the first")
    parser.add_argument("--child", nargs=3, metavar=("NAME", "IMPLEMENTATION", "SECONDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, implementation, seconds = options.child
        return child(name, implementation, float(seconds))
    names = [n for n in everyday_programs.ALL if re.search(options.only, n)]
    for threads in options.threads.split(","):
        measure(names, int(threads), options.rounds, options.seconds)


if __name__ == "__main__":
    main()
