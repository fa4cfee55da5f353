#!/usr/bin/env python3
"""Writes docs/cpp_performance.md from one run of cpp_peers: cpp_page.py PROGRAM [PAGE].

The program is built with -DPLAIT_BENCHMARKS=ON. Nothing else should run meanwhile: the page says what the load was.
"""

import datetime
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "cpp_performance.md"
PEERS = "loop", "xtensor", "Eigen"
LINE = re.compile(r"(?P<case>\S.*?) +(?P<threads>\d) +(?P<ours>[\d.]+)(?P<peers>(?:  \w+ [\d.]+ \([\d.]+\))*)")
PEER = re.compile(r"  (\w+) ([\d.]+) \(([\d.]+)\)")
TEXT = """\
# C++ beside its peers

Written by `benchmarks/cpp_page.py` from one run of `benchmarks/cpp_peers.cpp`, {date}: {cpu}, {cores} cores; {versions}, `-O3 -march=native`; load {before:.1f} before the
run and {after:.1f} after it.

Microseconds of an operation, medians; the ways of a row take turns. In parentheses is what Plait takes of the peer's time: below 1 it is ahead. The loops are written by
hand; those over much, and Eigen's over banks of matrices, have as many OpenMP threads as Plait, all other peers have one. A dash: the peer has no such row.
`cmake -DPLAIT_BENCHMARKS=ON` builds the program, and `python benchmarks/cpp_page.py build/benchmarks/cpp_peers` writes this page.

| case | threads | Plait | loop | xtensor | Eigen |
| --- | ---: | ---: | ---: | ---: | ---: |
"""


def number(text):
    value = float(text)
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def rows(printed):
    """(case, threads, Plait's time, {peer: (time, ratio)}) of every line that is one."""
    for line in printed.splitlines():
        if m := LINE.fullmatch(line):
            yield m["case"], m["threads"], m["ours"], {name: (time, ratio) for name, time, ratio in PEER.findall(m["peers"])}


def table(printed):
    for case, threads, ours, peers in rows(printed):
        cells = (f"{number(peers[p][0])} ({peers[p][1]})" if p in peers else "-" for p in PEERS)
        yield f"| {case} | {threads} | {number(ours)} | " + " | ".join(cells) + " |"


def page(program):
    before = os.getloadavg()[0]
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    cpu = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    facts = {"date": datetime.date.today().isoformat(), "cpu": cpu, "cores": len(os.sched_getaffinity(0)), "versions": printed.splitlines()[0]}
    return TEXT.format(**facts, before=before, after=os.getloadavg()[0]) + "\n".join(table(printed)) + "\n"


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    path = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else PAGE
    path.write_text(page(sys.argv[1]))
