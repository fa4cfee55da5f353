#!/usr/bin/env python3
"""Benchmarks: the same NumPy source under NumPy, Plait and its peers, each in a process of its own.

    python benchmarks/run.py                                       # everything, 1 thread and all
    python benchmarks/run.py --only 'k-means|softmax' --impl numpy,plait --threads 1 --rounds 3
    python benchmarks/report.py benchmarks/out/results.json > docs/performance.md

first: the first call of a process whose caches are empty; warm: the first call of a second process that finds the disk cache;
steady: the median of later calls, an input changed before each, and half the distance of the quartiles; x: NumPy's steady time
over this one's; limit: one pass over inputs and outputs at the bandwidth measured in the same run. Writes JSON and a plot.
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

import workloads

HERE = pathlib.Path(__file__).resolve().parent
IMPLS = ["numpy", "plait", "plait-jit", "numexpr", "numba", "jax", "torch"]
CACHING = {"plait", "plait-jit", "torch"}  # have a disk cache, so a second process is a figure of its own


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
        return {"failed": (p.stderr.strip().splitlines() or [f"exit {p.returncode}"])[-1][:200]}
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
    for name in ("numpy", "plait", "numexpr", "numba", "jax", "torch"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return dict(cpu=cpu, cores=len(os.sched_getaffinity(0)), memory_gib=round(memory, 1), system=platform.platform(), python=platform.python_version(),
                versions=versions, date=datetime.date.today().isoformat())


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


def run_workload(w, impls, threads, a, bandwidth, folder):
    """{implementation: row}; rounds alternate the implementations. A first, unmeasured run takes the machine's fresh pages."""
    call(["child.py", w.name, "numpy", str(threads), "0"], threads, folder, a.timeout)
    rows, speed = {}, []
    for _ in range(a.rounds):
        speed.append(bandwidth.measure(threads, folder))
        for impl in impls:
            if any("failed" in r or "absent" in r for r in rows.get(impl, ())):
                continue
            home = tempfile.mkdtemp(dir=folder)
            command = ["child.py", w.name, impl, str(threads), str(a.seconds)]
            row = call(command, threads, home, a.timeout)
            if impl in CACHING and "steady" in row:
                row["warm"] = call(command[:-1] + ["0"], threads, home, a.timeout).get("first")
            rows.setdefault(impl, []).append(row)
            shutil.rmtree(home, ignore_errors=True)
    best = max((s for s in speed if s), default=None)
    return {impl: fold(r) for impl, r in rows.items()}, (w.bytes / best if best and w.bytes else None), best


def ms(seconds):
    return "" if seconds is None else f"{seconds * 1e3:.3g}" if seconds < 1 else f"{seconds * 1e3:,.0f}"


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


def plot(results, path):
    """Speed-up over NumPy, a panel a number of threads, on a logarithmic axis."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    threads = sorted({r["threads"] for r in results["workloads"]})
    names = list(dict.fromkeys(r["name"] for r in results["workloads"]))
    impls = [i for i in IMPLS if i != "numpy" and any("steady" in r["rows"].get(i, {}) for r in results["workloads"])]
    if not impls:
        return
    figure, axes = plt.subplots(1, len(threads), figsize=(7 * len(threads) + 3, 1.5 + 0.12 * len(names) * (len(impls) + 1)), sharey=True, squeeze=False)
    for axis, t in zip(axes[0], threads):
        for j, impl in enumerate(impls):
            at, speed = [], []
            for r in results["workloads"]:
                rows = r["rows"]
                if r["threads"] == t and "steady" in rows.get(impl, {}) and not rows[impl].get("wrong") and "steady" in rows.get("numpy", {}):
                    at.append(names.index(r["name"]) + (j + 0.5) / (len(impls) + 1))
                    speed.append(rows["numpy"]["steady"] / rows[impl]["steady"])
            axis.barh(at, [s - 1 for s in speed], left=1, height=0.9 / (len(impls) + 1), label=impl)
        axis.set_xscale("log")
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set_title(f"{t} thread{'s' if t > 1 else ''}")
        axis.set_xlabel("times as fast as NumPy (steady state)")
        axis.set_yticks([i + 0.5 for i in range(len(names))], names, fontsize=8)
    axes[0][0].invert_yaxis()
    axes[0][0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--only", default="", help="regular expression on the workload")
    ap.add_argument("--impl", default=",".join(IMPLS))
    everything = len(os.sched_getaffinity(0))
    ap.add_argument("--threads", default=",".join(map(str, sorted({1, everything}))))
    ap.add_argument("--rounds", type=int, default=1)
    ap.add_argument("--seconds", type=float, default=1.0, help="of steady calls a process")
    ap.add_argument("--timeout", type=float, default=300)
    ap.add_argument("--process-points", type=lambda s: [int(x) for x in s.split(",") if x], default=[200_000, 2_000_000, 10_000_000])
    ap.add_argument("--no-overheads", action="store_true")
    ap.add_argument("--out", default=str(HERE / "out" / "results.json"))
    a = ap.parse_args()
    impls = a.impl.split(",")
    out = pathlib.Path(a.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    results = {"machine": machine(), "command": "python benchmarks/run.py " + shlex.join(sys.argv[1:]), "rounds": a.rounds, "seconds": a.seconds, "workloads": [], "overheads": {}}
    print(json.dumps(results["machine"]))
    folder = tempfile.mkdtemp(prefix="plait-bench-")
    try:
        bandwidth = Bandwidth(folder)
        for threads in map(int, a.threads.split(",")):
            print(f"\n== {threads} thread{'s' if threads > 1 else ''} ==")
            for w in workloads.ALL:
                if re.search(a.only, w.name):
                    rows, limit, speed = run_workload(w, impls, threads, a, bandwidth, folder)
                    results["workloads"].append(dict(name=w.name, group=w.group, threads=threads, limit=limit, bandwidth=speed, rows=rows))
                    print_rows(w, rows, limit)
                    out.write_text(json.dumps(results, indent=1))
        if not a.no_overheads:
            modules = ["numpy"] + (["plait"] if "plait" in impls else [])
            results["overheads"] = overheads(modules, folder, a)
            print("\n" + json.dumps(results["overheads"], indent=1))
        out.write_text(json.dumps(results, indent=1))
        plot(results, out.with_suffix(".png"))
        print(f"\n{out} and {out.with_suffix('.png')}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
