#!/usr/bin/env python3
"""The loops that others write for Numba (public_loops.py) under Python, plait.jit and numba.njit, each in a process of its own with empty caches.

    python benchmarks/public_loops_table.py --only 'dtw|kepler'

One row a program: milliseconds of a call (Python's second; the least of Plait's and Numba's later ones), Numba's time over Plait's, first calls with
compilation, and why loops stay Python's. Plait's results and the arguments that it wrote to are to be Python's bit for bit: "rounding" says that they
are close, "types" that only types differ, "WRONG" neither. Numba's are to be close.
"""

import argparse
import json
import math
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import time
import types
import warnings

import numpy as np

import public_loops
from loops import SETTLED, copies
from public_loops import PROGRAMS

IMPLS = ["python", "plait", "numba"]
REASON = re.compile(r"plait\[loops\] .*?(\w+\.py):(\d+): the loop in (\S+)\(\) stays Python's: (.*)")


def under_numba(function):
    """The function and all that it calls, through globals or as cells of closures, compiled by Numba."""
    import numba

    names, done = {}, {}

    def compiled(f):
        if f not in done:
            cells = f.__closure__ and tuple(
                types.CellType(compiled(c.cell_contents) if ours(c.cell_contents) else c.cell_contents) for c in f.__closure__
            )
            copy = types.FunctionType(f.__code__, names, f.__name__, f.__defaults__, cells)
            copy.__kwdefaults__, copy.__module__ = f.__kwdefaults__, f.__module__
            done[f] = numba.njit(copy)
        return done[f]

    def ours(value):
        return isinstance(value, types.FunctionType) and value.__module__ == public_loops.__name__

    names.update({n: compiled(v) if ours(v) else v for n, v in vars(public_loops).items()})
    return compiled(function)


def made(function, impl):
    if impl == "plait":
        import plait

        return plait.jit(function)
    return under_numba(function) if impl == "numba" else function


def verdict(expected, found, close=1e-9):
    """exact, types, rounding or WRONG."""
    if isinstance(expected, (tuple, list)):
        if not isinstance(found, (tuple, list)) or len(expected) != len(found):
            return "WRONG"
        worst = [verdict(a, b, close) for a, b in zip(expected, found)] + ["exact" if type(expected) is type(found) else "types"]
        return max(worst, key=["exact", "types", "rounding", "WRONG"].index)
    if expected is None or isinstance(expected, (str, dict, set)):
        return "exact" if type(expected) is type(found) and expected == found else "WRONG"
    a, b = np.asarray(expected), np.asarray(found)
    if found is None or a.shape != b.shape:
        return "WRONG"
    if not np.array_equal(a, b, equal_nan=a.dtype.kind in "fc" and b.dtype.kind in "fc"):
        return "rounding" if np.allclose(a, b, rtol=close, atol=close, equal_nan=True) else "WRONG"
    return "exact" if type(expected) is type(found) and a.dtype == b.dtype else "types"


def child(name, impl, reference, seconds):
    warnings.simplefilter("ignore")  # integers of NumPy's that wrap around are meant to
    function, arguments = PROGRAMS[name]
    given, function = arguments(), made(function, impl)
    times, found = [], None
    close = 1e-5 if impl == "numba" else 1e-9  # Numba takes an int and a float32 for float64
    begun = time.perf_counter()
    while len(times) < 2 or (len(times) < 2000 and impl != "python" and (len(times) < 4 or time.perf_counter() - begun < seconds)):
        own = copies(given)
        start = time.perf_counter()
        result = function(*own)
        times.append(time.perf_counter() - start)
        # The first calls may have run in code of other kinds than the last, so each kind's results count.
        if impl == "python":
            pickle.dump((result, own), open(reference, "wb"))
        if len(times) < 4 or impl == "python":
            now = verdict(pickle.load(open(reference, "rb")), (result, own), close)
            found = max(found or now, now, key=["exact", "types", "rounding", "WRONG"].index)
    now = verdict(pickle.load(open(reference, "rb")), (result, own), close)
    found = max(found, now, key=["exact", "types", "rounding", "WRONG"].index)
    print(json.dumps({"first": times[0] * 1e3, "steady": min(times[1:]) * 1e3, "found": found}))


def measure(name, impls, seconds, timeout):
    row = {}
    with tempfile.TemporaryDirectory() as home:
        for impl in impls:
            env = dict(os.environ, PLAIT_CACHE_DIR=f"{home}/plait", NUMBA_CACHE_DIR=f"{home}/numba", PLAIT_LOG="loops")
            command = [sys.executable, __file__, "--child", name, impl, f"{home}/reference", "--seconds", str(seconds)]
            try:
                p = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=env, cwd=pathlib.Path(__file__).parent)
            except subprocess.TimeoutExpired:
                row[impl] = {"failed": f"over {timeout:g} s"}
                continue
            if p.returncode == 0:
                row[impl] = json.loads(p.stdout.splitlines()[-1])
            elif p.returncode < 0:
                row[impl] = {"failed": f"crash, signal {-p.returncode}"}
            else:
                row[impl] = {
                    "failed": next((s for s in reversed(p.stderr.strip().splitlines()) if re.match(r"[\w.]+(Error|Exception)\b", s)), "?")[:150]
                }
            if impl == "plait":
                row[impl]["reasons"] = sorted({(f"{m[3]}:{m[2]}", m[4]) for m in map(REASON.match, p.stderr.splitlines()) if m})
                row[impl]["compiled"] = sum("machine code" in s for s in p.stderr.splitlines())
    return row


def number(row, impl, which):
    r = row.get(impl, {})
    return f"{r[which]:9.2f}" if which in r else f"{'-':>9}"


def line(name, row):
    both = all("steady" in row.get(i, {}) for i in ("plait", "numba"))
    ratio = f"{row['numba']['steady'] / row['plait']['steady']:7.2f}" if both else f"{'-':>7}"
    plait = row.get("plait", {})
    notes = [f"{i} {row[i]['failed']}" for i in row if "failed" in row[i]]
    notes += [
        f"{i} {row[i]['found']}"
        for i in ("plait", "numba")
        if row.get(i, {}).get("found", "exact") not in (("exact",) if i == "plait" else ("exact", "types", "rounding"))
    ]
    notes += [f"{where} {why}" for where, why in plait.get("reasons", ())]
    figures = (number(row, i, "steady") for i in IMPLS)
    firsts = f"{number(row, 'plait', 'first')} {number(row, 'numba', 'first')}"
    return f"{name:18} {' '.join(figures)} {ratio} {firsts} {plait.get('compiled', 0):4}  {'; '.join(notes)}"


def plain(why):
    """A reason without the line and the variable that it names."""
    why = re.sub(r" \(line \d+\)", "", why)
    why = re.sub(r"^\w+ (becomes|is no variable)", r"a variable \1", why)
    return re.sub(r"^\w+\(\) calls itself", "a function calls itself", why)


def summary(rows):
    ratios = [r["numba"]["steady"] / r["plait"]["steady"] for r in rows.values() if all("steady" in r.get(i, {}) for i in ("plait", "numba"))]
    if ratios:
        ahead, near = sum(r >= 1 for r in ratios), sum(r >= 0.5 for r in ratios)
        mean = math.prod(ratios) ** (1 / len(ratios))
        print(f"\nPlait has {mean:.3f} of Numba's speed (geometric mean of {len(ratios)}); it is ahead in {ahead}, within 2 times in {near}")
    gains = [r["python"]["steady"] / r["plait"]["steady"] for r in rows.values() if all("steady" in r.get(i, {}) for i in ("python", "plait"))]
    if gains:
        print(f"Plait is {math.prod(gains) ** (1 / len(gains)):.2f} times as fast as Python; slower than it in {sum(g < 0.9 for g in gains)}")
    left = [n for n, r in rows.items() if r.get("plait", {}).get("reasons")]
    print(
        f"{len(rows)} programs; loops stay Python's in {len(left)}; failed: {[n for n, r in rows.items() if 'failed' in r.get('plait', {})]}; "
        f"wrong: {[n for n, r in rows.items() if r.get('plait', {}).get('found') == 'WRONG']}"
    )
    reasons = {}
    for name in left:
        for why in {plain(why) for _, why in rows[name]["plait"]["reasons"]}:
            reasons.setdefault(why, []).append(name)
    print("\nWhy loops stay Python's, and in which programs:")
    for why, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(names):3}  {why}: {', '.join(names)}")


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--only", default="", help="a pattern that names are to match")
    a.add_argument("--impl", default=",".join(IMPLS))
    a.add_argument("--seconds", type=float, default=SETTLED)
    a.add_argument("--timeout", type=float, default=60)
    a.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    o = a.parse_args()
    if o.child:
        return child(*o.child, o.seconds)
    print(f"{'ms':18} {'Python':>9} {'Plait':>9} {'Numba':>9} {'ratio':>7} {'first':>9} {'Numba':>9} code  why loops stay Python's")
    rows = {}
    for name in PROGRAMS:
        if re.search(o.only, name):
            rows[name] = measure(name, o.impl.split(","), o.seconds, o.timeout)
            print(line(name, rows[name]), flush=True)
    summary(rows)


if __name__ == "__main__":
    main()
