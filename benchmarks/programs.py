#!/usr/bin/env python3
"""Everyday programs (everyday/) under NumPy and Plait by turns, each in fresh processes whose caches are empty.

    python benchmarks/programs.py                              # all, on one thread and two
    python benchmarks/programs.py --only 'stencil|boids' --threads 1 --rounds 5
    python benchmarks/programs.py --group loops                # time loops and sweeps that write in place
    python benchmarks/programs.py --page docs/programs.md      # writes the table

first: the first call after the import, on inputs that are in memory; steady: the median of the later half of the calls after it; memory:
what resident memory has grown by at most; x: NumPy's time over Plait's. Each figure is the median of the processes'.
`--clock thread` counts the calling thread's processor time: on one thread, a busy machine then disturbs little.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

import everyday

CLOCKS = {"wall": time.perf_counter, "thread": time.thread_time}


def forced(result):
    return [numpy.array(r) for r in (result if isinstance(result, tuple) else (result,))]


def peak():
    """MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def difference(got, want):
    if len(got) != len(want) or any(g.shape != w.shape or g.dtype != w.dtype for g, w in zip(got, want)):
        return float("inf")
    if all(numpy.array_equal(g, w, equal_nan=g.dtype.kind in "fc") for g, w in zip(got, want)):
        return 0.0
    with numpy.errstate(all="ignore"):
        return max(float(numpy.nanmax(numpy.abs(g.astype(complex) - w), initial=0) / (1 + numpy.nanmax(numpy.abs(w), initial=0)))
                   for g, w in zip(got, want))


def child(name, implementation, seconds, clock):
    """Prints a JSON row; the steady calls go on for `seconds`."""
    now = CLOCKS[clock]
    program = everyday.ALL[name]
    arrays = program.inputs(numpy.random.default_rng(1))
    np = numpy
    if implementation == "plait":
        import plait
        np = plait
        arrays = tuple(plait.array(a) for a in arrays)
    f = program.bind(np)
    numpy.linalg.inv(numpy.exp(numpy.zeros((100, 100))) @ numpy.eye(100) + numpy.eye(100))  # NumPy's and its BLAS's own first calls
    before = peak()
    started = now()
    got = forced(f(*arrays))
    first = now() - started
    times = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(times) < 4:
        started = now()
        forced(f(*arrays))
        times.append(now() - started)
    row = {"first": first, "second": times[0], "steady": statistics.median(times[len(times) // 2:]), "memory": peak() - before, "error": 0.0}
    if np is not numpy:
        row["error"] = difference(got, forced(program.bind(numpy)(*map(numpy.array, arrays))))
    print(json.dumps(row))


def call(name, implementation, threads, options):
    with tempfile.TemporaryDirectory() as home:
        env = dict(os.environ, PLAIT_CACHE_DIR=f"{home}/plait")
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # modules that are imported late are compiled once
        for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PLAIT_NUM_THREADS"):
            env[variable] = str(threads)
        cores = sorted(os.sched_getaffinity(0))[-threads:]
        p = subprocess.run([sys.executable, "-W", "ignore", __file__, "--child", name, implementation, str(options.seconds), options.clock], env=env,
                           capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    if p.returncode:
        sys.exit(f"{name}, {implementation}: {p.stderr}")
    return json.loads(p.stdout.splitlines()[-1])


def geometric_mean(values):
    return statistics.geometric_mean(values) if values else float("nan")


def measure(names, threads, options):
    """Rows of (name, NumPy's figures, Plait's)."""
    print(f"\n{threads} thread{'s' if threads > 1 else ''}, ms{'':28}NumPy first  steady    Plait first  second  steady    x first  x steady")
    rows = []
    for name in names:
        runs = {"numpy": [], "plait": []}
        for _ in range(options.rounds):
            for implementation, row in runs.items():
                row.append(call(name, implementation, threads, options))
        n, p = ({k: statistics.median(r[k] for r in row) for k in row[0]} for row in runs.values())
        rows.append((name, n, p))
        wrong = "" if p["error"] < 1e-9 else f"  differs by {p['error']:.1e}"
        print(f"{name:40}{1e3 * n['first']:10.2f}{1e3 * n['steady']:8.2f}{1e3 * p['first']:15.2f}{1e3 * p['second']:8.2f}{1e3 * p['steady']:8.2f}"
              f"{n['first'] / p['first']:11.2f}{n['steady'] / p['steady']:10.2f}{wrong}", flush=True)
    print(summary(rows))
    return rows


def summary(rows):
    parts = []
    for key, limit in (("first", 0.9), ("steady", 0.95)):
        x = [n[key] / p[key] for _, n, p in rows]
        parts.append(f"{key} {geometric_mean(x):.2f} in the geometric mean, {sum(v < limit for v in x)} under {limit}")
    return f"{len(rows)} programs, NumPy's time over Plait's: " + "; ".join(parts)


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines() if pathlib.Path("/proc/cpuinfo").exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def page(results, options):
    """The table, by size; written by this program."""
    clock = "the calling thread's processor time" if options.clock == "thread" else "wall time"
    text = ["# Programs", "",
            f"{len(results[0][1])} programs as people write them (`benchmarks/everyday/`), under NumPy {numpy.__version__} and Plait by turns in fresh processes with",
            f"empty caches; milliseconds of {clock}, {'one round' if options.rounds == 1 else f'medians of {options.rounds} rounds'}, and MiB that resident memory grew by. This page is what",
            f"`benchmarks/programs.py --page` printed: {processor()}, Python {platform.python_version()}. x is NumPy's time over Plait's."]
    for threads, rows in results:
        text += ["", f"## {threads} thread{'s' if threads > 1 else ''}", "", summary(rows) + "."]
        for size in ("small", "middling", "large"):
            own = [r for r in rows if everyday.ALL[r[0]].size == size]
            if not own:
                continue
            text += ["", f"| {size} | NumPy, first | steady | MiB | Plait, first | second | steady | MiB | x first | x steady |", "| --- " + "| ---: " * 9 + "|"]
            for name, n, p in own:
                ms = [f"{1e3 * v:.2f}" for v in (n["first"], n["steady"], p["first"], p["second"], p["steady"])]
                ms.insert(2, f"{n['memory']:.0f}")
                ms.append(f"{p['memory']:.0f}")
                text.append("| " + " | ".join([name, *ms, f"{n['first'] / p['first']:.2f}", f"{n['steady'] / p['steady']:.2f}"]) + " |")
    pathlib.Path(options.page).write_text("\n".join(text) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=".", metavar="REGEX")
    parser.add_argument("--group", help="programs of this kind alone: loops")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, each pinned to as many cores")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each kind")
    parser.add_argument("--seconds", type=float, default=1, help="of calls after the first")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--page", metavar="FILE", help="writes the table there")
    parser.add_argument("--child", nargs=4, metavar=("NAME", "IMPLEMENTATION", "SECONDS", "CLOCK"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, implementation, seconds, clock = options.child
        return child(name, implementation, float(seconds), clock)
    names = [n for n in everyday.ALL if re.search(options.only, n) and options.group in (None, everyday.ALL[n].group)]
    results = [(int(threads), measure(names, int(threads), options)) for threads in options.threads.split(",")]
    if options.page:
        page(results, options)


if __name__ == "__main__":
    main()
