#!/usr/bin/env python3
"""The table of docs/cuda.md from what scripts/gpu_measure.sh measured.

    python benchmarks/device_page.py --join FOLDER --out benchmarks/results    # the parts in FOLDER become gpu_DATE.json
    python benchmarks/device_page.py --write docs/cuda.md                      # from the newest of benchmarks/results

The page's table stands between two comments, which name the file that it is of.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import sys

import device
from ceilings import UNITS

HERE = pathlib.Path(__file__).resolve().parent
BEGIN, END = "<!-- measured: {} -->", "<!-- end of measured -->"
MARKED = re.compile(r"<!-- measured: (.*?) -->\n.*?" + re.escape(END), re.S)


class Refused(Exception):
    pass


def joined(folder):
    """The parts that are there, as one, with the machine and the day."""
    parts = {name: folder / f"{name}.json" for name in ("ceilings", "device", "scaling")}
    there = {name: json.loads(path.read_text()) for name, path in parts.items() if path.exists()}
    if not there:
        raise Refused(f"nothing was measured: {folder} has no part")
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    machine = {"cpu": cpu, "cores": len(os.sched_getaffinity(0)), "date": datetime.date.today().isoformat(), "double": bool(os.environ.get("PLAIT_GPU_DOUBLE"))}
    return {"machine": machine, **there}


def ceilings(figures):
    names = {
        "copy": "copy, read and written: {:,.0f} GB/s",
        "ffma": "float32: {:,.1f} TFLOP/s",
        "mma": "float16 by `mma.sync`: {:,.0f} TFLOP/s",
        "launch": "a launch each {:,.1f} us",
        "answer": "a launch and its answer {:,.1f} us",
    }
    return "; ".join(text.format(figures[name] / UNITS[name][0]) for name, text in names.items() if name in figures)


def section(results):
    """The page's text of one file."""
    out, measured = [], results.get("device")
    if measured:
        of = measured["versions"]
        versions = ", ".join(f"{name} {version}" for name, version in of.items() if name != "device")
        out += [f"{of.get('device', 'A GPU')}, {results['machine']['date']}; {versions}. Microseconds a call, all in one run."]
        out += [device.table(measured)[0]]
    if results.get("ceilings"):
        out.append("Ceilings: " + ceilings(results["ceilings"]) + ".")
    return "\n\n".join(out)


def written(page, name, results):
    """The page with the table of these results in its place."""
    if results["machine"]["double"]:
        raise Refused(f"{name} was measured on the double of the driver")
    if "device" not in results:
        raise Refused(f"{name} has no rows of the device")
    if not MARKED.search(page):
        raise Refused("the page has no place for the table: " + BEGIN.format("...") + " to " + END)
    return MARKED.sub(lambda _: f"{BEGIN.format(name)}\n{section(results)}\n{END}", page, count=1)


def newest(folder):
    files = sorted(folder.glob("gpu_*.json"))
    if not files:
        raise Refused(f"{folder} has no gpu_DATE.json")
    return files[-1]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--join", type=pathlib.Path, help="a folder of the parts")
    ap.add_argument("--out", type=pathlib.Path, default=HERE / "results", help="the folder of results")
    ap.add_argument("--write", type=pathlib.Path, help="the page")
    a = ap.parse_args()
    try:
        if a.join:
            results = joined(a.join)
            a.out.mkdir(parents=True, exist_ok=True)
            path = a.out / f"gpu_{results['machine']['date']}.json"
            path.write_text(json.dumps(results, indent=1) + "\n")
            print(path)
        if a.write:
            path = newest(a.out)
            a.write.write_text(written(a.write.read_text(), path.name, json.loads(path.read_text())))
    except Refused as e:
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
