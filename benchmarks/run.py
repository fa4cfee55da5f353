#!/usr/bin/env python3
"""Benchmarks: the same NumPy source under NumPy, Plait and its peers, each in a process of its own.

    python benchmarks/run.py --out benchmarks/results.json         # everything, for the page
    python benchmarks/report.py --write docs/performance.md
    python benchmarks/run.py --quick                               # short: no second processes, numba and torch only where they have a source of their own
    python benchmarks/run.py --only 'k-means|softmax' --impl numpy,plait --threads 1 --rounds 3

first: the first call of a process whose caches are empty; warm: the first call of a second process that finds the disk cache;
steady: the median of later calls, an input changed before each, and half the distance of the quartiles; x: NumPy's steady time
over this one's; limit: one pass over inputs and outputs at the bandwidth measured in the same run. Writes JSON.
"""
import argparse
import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import loops
import workloads

HERE = pathlib.Path(__file__).resolve().parent
IMPLS = ["numpy", "plait", "plait-jit", "plait-replay", "numexpr", "numba", "jax", "torch"]
CACHING = {"plait", "plait-jit", "plait-replay", "torch"}  # have a disk cache, so a second process is a figure of its own


def environment(threads, home):
    """One thread means one core, and every library's cache is in `home`."""
    env = dict(os.environ, HOME=home, XDG_CACHE_HOME=home, TMPDIR=home, PLAIT_CACHE_DIR=f"{home}/plait", TORCHINDUCTOR_CACHE_DIR=f"{home}/torch", NUMBA_CACHE_DIR=f"{home}/numba")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "PLAIT_NUM_THREADS"):
        env[name] = str(threads)
    return env


def pinned(threads):
    cores = sorted(os.sched_getaffinity(0))[:threads]
    return lambda: os.sched_setaffinity(0, cores)


def call(command, threads, home, timeout):
    """The JSON that a process ends with, or why there is none."""
    try:
        p = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment(threads, home), preexec_fn=pinned(threads), timeout=timeout, cwd=HERE)
    except subprocess.TimeoutExpired:
        return {"failed": f"no answer in {timeout:.0f} s"}
    if p.returncode or not p.stdout.strip():
        reason = (p.stderr.strip().splitlines() or [f"exit {p.returncode}"])[-1]
        return {"failed": re.sub(r"\x1b\[\d*m|(/[\w.+-]+)+/", "", reason)[:200]}
    return json.loads(p.stdout.strip().splitlines()[-1])


class Bandwidth:
    def __init__(self, folder):
        self.program = None
        if shutil.which("g++") and platform.machine() == "x86_64":
            self.program = f"{folder}/stream"
            subprocess.run(["g++", "-O2", "-fopenmp", str(HERE / "stream.cpp"), "-o", self.program], check=True)

    def measure(self, threads, folder):
        if self.program is None:
            return None
        return float(subprocess.run([self.program], capture_output=True, text=True, env=environment(threads, folder), preexec_fn=pinned(threads), check=True).stdout)


def machine():
    """What the figures depend on."""
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    versions = {}
    for name in ("numpy", "numexpr", "numba", "jax", "torch"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    versions["plait"] = call(["-c", "import json, plait; print(json.dumps({'version': plait.__plait_version__}))"], 1, "/tmp", 60).get("version", "missing")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return dict(cpu=cpu, cores=len(os.sched_getaffinity(0)), memory_gib=round(memory, 1), system=f"{platform.system()} {platform.release().partition('-')[0]}, {' '.join(platform.libc_ver())}", python=platform.python_version(),
                versions=versions, date=datetime.date.today().isoformat(), load=round(os.getloadavg()[0], 1))


def fold(rows):
    """One row of the rounds of an implementation: medians, the widest spread, any failure."""
    bad = next((r for r in rows if "failed" in r or "absent" in r or r.get("wrong")), None)
    if bad:
        return bad
    out = dict(rows[0])
    for key in ("first", "warm", "steady", "loading"):
        values = [r[key] for r in rows if key in r]
        if values:
            out[key] = statistics.median(values)
    out["low"], out["high"] = min(r["low"] for r in rows), max(r["high"] for r in rows)
    out["peak"] = max(r["peak"] for r in rows)
    return out


def left_out(w, impl, quick):
    """Whether a process need not be started: the peer has nothing for the workload, or takes long to compile it."""
    return (impl == "plait-replay" and w.group not in ("small", "loops")) or (impl == "numexpr" or (quick and impl in ("numba", "torch"))) and impl not in w.peers


def run_workload(w, impls, threads, a, bandwidth, folder):
    """{implementation: row}; rounds alternate the implementations. A first, unmeasured run takes the machine's fresh pages."""
    if not a.quick:
        call(["child.py", w.name, "numpy", str(threads), "0"], threads, folder, a.timeout)
    rows, speed = {}, []
    for _ in range(a.rounds):
        speed.append(bandwidth.measure(threads, folder))
        for impl in impls:
            if left_out(w, impl, a.quick) or any("failed" in r or "absent" in r for r in rows.get(impl, ())):
                continue
            home = tempfile.mkdtemp(dir=folder)
            command = ["child.py", w.name, impl, str(threads), str(a.seconds)]
            row = call(command, threads, home, a.timeout)
            if impl in CACHING and "steady" in row and not a.quick:
                row["warm"] = call(command[:-1] + ["0"], threads, home, a.timeout).get("first")
            rows.setdefault(impl, []).append(row)
            shutil.rmtree(home, ignore_errors=True)
    best = max((s for s in speed if s), default=None)
    return {impl: fold(r) for impl, r in rows.items()}, (w.bytes / best if best and w.bytes else None), best


def ms(seconds):
    return "" if seconds is None else f"{seconds * 1e3:.3g}" if seconds < 0.9995 else f"{seconds * 1e3:,.0f}"


def print_rows(w, rows, limit):
    print(f"\n{w.name}" + (f"   limit {ms(limit)} ms" if limit else ""))
    base = rows.get("numpy", {}).get("steady")
    for impl, r in rows.items():
        if "absent" in r:
            continue
        if "failed" in r or r.get("wrong"):
            print(f"  {impl:10} {'failed: ' + r['failed'] if 'failed' in r else 'WRONG: ' + r['wrong']}")
            continue
        spread = 50 * (r["high"] - r["low"]) / r["steady"]
        print(f"  {impl:10} first {ms(r['first']):>8}  warm {ms(r.get('warm')):>8}  steady {ms(r['steady']):>8} ms +-{spread:3.0f} %  peak {r['peak']:7.1f} MiB"
              + (f"  x{base / r['steady']:.2f}" if base else "") + (f"  {r['steady'] / limit:.2f} of limit" if limit else ""), flush=True)


def overheads(modules, folder, a):
    """Recording an operation, importing, whole processes with a cold and a warm disk cache."""
    out = {}
    threads = len(os.sched_getaffinity(0))
    for module in modules:
        row = out[module] = {}
        home = tempfile.mkdtemp(dir=folder)
        call(["overheads.py", "import", module], threads, home, a.timeout)
        row["import"] = statistics.median(call(["overheads.py", "import", module], threads, home, a.timeout).get("seconds", 0) for _ in range(7))
        if module != "numpy":
            row["record_ns"] = call(["overheads.py", "recording", module], threads, home, a.timeout).get("nanoseconds")
        for points in a.process_points:
            home = tempfile.mkdtemp(dir=folder)
            for name in ("cold", "warm"):
                start = time.perf_counter()
                if "failed" not in call(["overheads.py", "process", module, str(points)], threads, home, a.timeout):
                    row[f"process {points} {name}"] = time.perf_counter() - start
    binary = os.environ.get("PLAIT_RECORD_COST")
    if binary:
        out["c++"] = json.loads(subprocess.run([binary], capture_output=True, text=True, check=True).stdout)
    return out


def small_calls(folder, a):
    """Nanoseconds a call: {name: {"numpy": ..., "plait": ...}}."""
    return call(["functions.py", "--small", "--json"] + (["--quick"] if a.quick else []), 1, folder, 3 * a.timeout)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--only", default="", help="regular expression on the workload")
    ap.add_argument("--impl", default=",".join(IMPLS))
    everything = len(os.sched_getaffinity(0))
    ap.add_argument("--threads", type=int, default=everything, help="and as many cores; a few workloads are always measured on one")
    ap.add_argument("--quick", action="store_true", help="see above")
    ap.add_argument("--rounds", type=int, default=1)
    ap.add_argument("--seconds", type=float, help="of steady calls a process")
    ap.add_argument("--timeout", type=float, default=300)
    ap.add_argument("--process-points", type=lambda s: [int(x) for x in s.split(",") if x], default=[200_000, 2_000_000])
    ap.add_argument("--no-overheads", action="store_true", help="workloads alone: no small calls, no Python loops, no imports and processes")
    ap.add_argument("--out", default=str(HERE / "out" / "results.json"))
    a = ap.parse_args()
    a.seconds = a.seconds or (0.2 if a.quick else 1.0)
    impls = a.impl.split(",")
    out = pathlib.Path(a.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    results = {"machine": machine(), "command": "python benchmarks/run.py " + shlex.join(sys.argv[1:]), "threads": a.threads, "rounds": a.rounds, "seconds": a.seconds,
               "workloads": [], "python_loops": {}, "small": {}, "overheads": {}}
    print(json.dumps(results["machine"]))
    folder = tempfile.mkdtemp(prefix="plait-bench-")
    try:
        bandwidth = Bandwidth(folder)
        for w in workloads.ALL:
            if re.search(a.only, w.name):
                threads = w.threads or a.threads
                rows, limit, speed = run_workload(w, impls, threads, a, bandwidth, folder)
                results["workloads"].append(dict(name=w.name, group=w.group, threads=threads, limit=limit, bandwidth=speed, rows=rows))
                print_rows(w, rows, limit)
                out.write_text(json.dumps(results, indent=1))
        if not a.no_overheads and "plait" in impls:
            results["python_loops"] = loops.measure([i for i in loops.IMPLS if i == "python" or i.partition("-")[0] in impls], a.threads, max(a.seconds, loops.SETTLED), a.timeout)
            results["small"] = small_calls(folder, a)
            results["overheads"] = overheads(["numpy", "plait"], folder, a)
            print("\n" + json.dumps(results["overheads"], indent=1))
        out.write_text(json.dumps(results, indent=1) + "\n")
        print(f"\n{out}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
