#!/usr/bin/env python3
"""Python loops (loop_programs.py) under Python, plait.jit and Numba (njit, and njit(parallel=True)), each in a process of its own with empty caches.

    python benchmarks/loops.py --only 'lu|sieve' --impl python,plait

run.py measures them too, for the page.

first: the first call, compilation included; steady: the median of later calls, on copies of the same arguments. Results are compared with Python's.
"""
import argparse
import importlib.util
import json
import math
import os
import pathlib
import pickle
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from loop_programs import PROGRAMS

IMPLS = ["python", "plait", "numba", "numba-parallel"]
SETTLED = 0.8  # seconds of calls, after which Plait's fastest code has long been there: it is made in the background, while earlier code runs


def copies(args):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def equal(a, b):
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-9))


def made(fn, impl):
    if impl == "plait":
        import plait

        return plait.jit(fn)
    if impl.startswith("numba"):
        import numba

        return numba.njit(parallel=impl == "numba-parallel")(fn)
    return fn


def child(name, impl, reference, seconds):
    fn, args = PROGRAMS[name]
    args, fn = args(), made(fn, impl)
    times = []
    begun = time.perf_counter()
    while len(times) < 2 or (len(times) < 5000 and time.perf_counter() - begun < seconds and impl != "python"):
        given = copies(args)
        start = time.perf_counter()
        result = fn(*given)
        times.append(time.perf_counter() - start)
    if impl == "python":
        pickle.dump(result, open(reference, "wb"))
    expected = pickle.load(open(reference, "rb"))
    later = times[1:] if len(times) < 6 else times[4:]
    print(json.dumps({"first": times[0], "steady": statistics.median(later), "ok": equal(expected, result)}))


def measure(impls, threads, seconds, timeout, only=""):
    """{program: {implementation: figures, or why there are none}}."""
    # A first call is not to compile the sources of who is measured.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    found = filter(None, map(importlib.util.find_spec, ("plait", "numba")))
    subprocess.run([sys.executable, "-m", "compileall", "-q", *(folder for spec in found for folder in spec.submodule_search_locations)], env=environment)
    rows = {}
    for name in PROGRAMS:
        if not re.search(only, name):
            continue
        row = rows[name] = {}
        with tempfile.TemporaryDirectory() as home:
            for impl in impls:
                env = dict(environment, PLAIT_CACHE_DIR=f"{home}/plait", NUMBA_CACHE_DIR=f"{home}/numba", NUMBA_NUM_THREADS=str(threads), OMP_NUM_THREADS=str(threads))
                command = [sys.executable, __file__, "--child", name, impl, f"{home}/reference", "--seconds", str(seconds)]
                try:
                    p = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=env, cwd=pathlib.Path(__file__).parent)
                    row[impl] = json.loads(p.stdout.splitlines()[-1]) if p.returncode == 0 else {"failed": (p.stderr.strip().splitlines() or ["?"])[-1][:200]}
                except subprocess.TimeoutExpired:
                    row[impl] = {"failed": "late"}
        print(f"{name:20}", *(f"{i} {text(r)}" for i, r in row.items()), sep="   ", flush=True)
    summary(rows)
    return rows


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--only", default="")
    a.add_argument("--impl", default=",".join(IMPLS))
    a.add_argument("--seconds", type=float, default=SETTLED)
    a.add_argument("--timeout", type=float, default=120)
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    o = a.parse_args()
    if o.child:
        child(*o.child, o.seconds)
    else:
        measure(o.impl.split(","), o.threads, o.seconds, o.timeout, o.only)


def text(r):
    return r["failed"] if "failed" in r else f"{r['steady'] * 1e3:9.3f} ms first {r['first'] * 1e3:8.1f}{'' if r['ok'] else ' WRONG'}"


def summary(rows):
    """Geometric means over the programs that both have run."""
    for which in ("steady", "first"):
        ratios = []
        for row in rows.values():
            numbas = [row[i][which] for i in ("numba", "numba-parallel") if i in row and row[i].get("ok")]
            if numbas and row.get("plait", {}).get("ok"):
                ratios.append(min(numbas) / row["plait"][which])
        if ratios:
            print(f"{which}: Plait has {math.prod(ratios) ** (1 / len(ratios)):.2f} of Numba's speed over {len(ratios)} programs, at worst {min(ratios):.2f}")


if __name__ == "__main__":
    main()
