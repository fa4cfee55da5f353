#!/usr/bin/env python3
"""What a team of threads is worth while others use the machine: NumPy, Plait on one thread and on all, beside each other.

team.py [--rounds N] [CONDITION ...]: idle; busy (one spinning process a core); application (a spinning thread of the same process); quota
(a control group that allows one CPU and a half; skipped where none can be made); steal (a real-time process takes each core for 2 of every 6
milliseconds, one after the other, as a virtual machine's host does; skipped where that is not allowed). Prints milliseconds: median, and the
slowest round.
"""

import argparse
import contextlib
import hashlib
import importlib
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

CORES = len(os.sched_getaffinity(0))
IMPLS = {"numpy": ("numpy", 1), "plait-1": ("plait", 1), f"plait-{CORES}": ("plait", CORES)}


def fdtd(np, rows, columns, steps):
    """Maxwell's equations in two dimensions on a staggered grid: five updates of fields in place a step, absorbing edges and a source."""
    Ez, Hx, Hy = np.zeros((rows, columns)), np.zeros((rows, columns)), np.zeros((rows, columns))
    eps = np.ones((rows, columns))
    eps[rows // 3 : rows // 2, columns // 3 : columns // 2] = 4.0
    damp = np.ones((rows, columns))
    damp[:8] = damp[-8:] = 0.9

    def run():
        for t in range(steps):
            Hx[:, :-1] -= 0.5 * (Ez[:, 1:] - Ez[:, :-1])
            Hy[:-1, :] += 0.5 * (Ez[1:, :] - Ez[:-1, :])
            Ez[1:-1, 1:-1] += 0.5 * (Hy[1:-1, 1:-1] - Hy[:-2, 1:-1] - Hx[1:-1, 1:-1] + Hx[1:-1, :-2]) / eps[1:-1, 1:-1]
            Ez[rows // 2, columns // 2] += math.sin(0.1 * t)
            Ez[...] *= damp
        return float(np.abs(Ez).sum())

    return run


def elementwise(np, n):
    a, b = np.linspace(0.0, 1.0, n), np.linspace(1.0, 2.0, n)
    return lambda: float(np.sqrt(a * b + 1.0)[-1])


WORK = {
    "fdtd 200 x 220, 20 steps": (lambda np: fdtd(np, 200, 220, 20), 1),
    "fdtd 400 x 450, 60 steps": (lambda np: fdtd(np, 400, 450, 60), 1),
    "sqrt(a * b + 1), 1e4": (lambda np: elementwise(np, 10_000), 20),
    "sqrt(a * b + 1), 1e5": (lambda np: elementwise(np, 100_000), 20),
    "sqrt(a * b + 1), 1e6": (lambda np: elementwise(np, 1_000_000), 5),
}


@contextlib.contextmanager
def busy_thread():
    """A thread of this process that computes without the GIL."""
    going = True

    def work():
        while going:
            hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 20_000)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield
    going = False
    thread.join()


@contextlib.contextmanager
def busy_processes():
    spin = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(CORES)]
    time.sleep(0.2)
    try:
        yield
    finally:
        for p in spin:
            p.kill()
            p.wait()


THIEF = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
print(flush=True)
time.sleep(float(sys.argv[2]))
while True:
    end = time.perf_counter() + 2e-3
    while time.perf_counter() < end:
        pass
    time.sleep(4e-3)
"""


@contextlib.contextmanager
def thieves():
    """Yields the reason why there are none, or None."""
    cores = sorted(os.sched_getaffinity(0))
    spin = [subprocess.Popen([sys.executable, "-c", THIEF, str(c), str(3e-3 * i)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for i, c in enumerate(cores)]
    try:
        yield None if all(p.stdout.readline() for p in spin) else spin[0].stderr.read().strip().splitlines()[-1]
    finally:
        for p in spin:
            p.kill()
            p.wait()


def quota_group():
    """The folder of a new control group of one and a half CPUs, or the reason why there is none."""
    root, name = pathlib.Path("/sys/fs/cgroup"), f"plait-benchmark-{os.getpid()}"
    try:
        if (root / "cgroup.controllers").exists():
            group = root / name
            group.mkdir()
            (group / "cpu.max").write_text("150000 100000")
        else:
            group = root / "cpu" / name
            group.mkdir()
            (group / "cpu.cfs_quota_us").write_text("150000")
        return group
    except OSError as why:
        with contextlib.suppress(OSError):
            group.rmdir()
        return str(why)


def child(module, threads, condition, rounds):
    np = importlib.import_module(module)
    if module == "plait":
        np.set_num_threads(threads)
    times = {}
    with busy_thread() if condition == "application" else contextlib.nullcontext():
        for name, (make, calls) in WORK.items():
            run = make(np)
            end = time.perf_counter() + 0.5
            while time.perf_counter() < end:  # plans and machine code are there
                run()
            times[name] = []
            for _ in range(rounds):
                start = time.perf_counter()
                for _ in range(calls):
                    run()
                times[name].append((time.perf_counter() - start) / calls)
    print(json.dumps(times))


def measure(impl, condition, rounds, group):
    module, threads = IMPLS[impl]
    command = [sys.executable, __file__, "--child", module, str(threads), condition, "--rounds", str(rounds)]
    enter = (lambda: (group / "cgroup.procs").write_text(str(os.getpid()))) if group else None
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, preexec_fn=enter).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("conditions", nargs="*", default=["idle", "busy", "application", "quota", "steal"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--child", nargs=3)
    args = parser.parse_args()
    if args.child:
        child(args.child[0], int(args.child[1]), args.child[2], args.rounds)
        return
    print(f"{CORES} cores; milliseconds, median of {args.rounds} rounds after half a second of warm-up, (slowest)\n")
    for condition in args.conditions:
        group = quota_group() if condition == "quota" else None
        if isinstance(group, str):
            print(f"quota: SKIPPED, no control group can be made here: {group}\n")
            continue
        try:
            with busy_processes() if condition == "busy" else thieves() if condition == "steal" else contextlib.nullcontext() as refused:
                if refused:
                    print(f"steal: SKIPPED, no process may take a core away here: {refused}\n")
                    continue
                rows = {impl: measure(impl, condition, args.rounds, group) for impl in IMPLS}
        finally:
            if group:
                group.rmdir()
        print(f"| {condition} | " + " | ".join(IMPLS) + " | of NumPy's time |")
        print("| --- |" + " ---: |" * (len(IMPLS) + 1))
        for name in WORK:
            median = {impl: statistics.median(rows[impl][name]) for impl in IMPLS}
            cells = [f"{1e3 * median[i]:.3g} ({1e3 * max(rows[i][name]):.3g})" for i in IMPLS]
            ratio = ", ".join(f"{median[i] / median['numpy']:.2f}" for i in IMPLS if i != "numpy")
            print(f"| {name} | " + " | ".join(cells) + f" | {ratio} |", flush=True)
        print()


if __name__ == "__main__":
    main()
