#!/usr/bin/env python3
"""docs/performance.md from the JSON of run.py: python benchmarks/report.py benchmarks/out/results.json > docs/performance.md. Every figure
on the page comes from the file."""
import json
import sys

from run import IMPLS, ms

GROUPS = {"k-means": "k-means: a reduction consumed by a reduction", "fusion": "Maps, rows and shifted views", "trees": "Random trees of reductions", "small": "Small arrays"}


def cell(rows, impl, key="steady"):
    r = rows.get(impl, {})
    if "absent" in r:
        return ""
    if "failed" in r:
        return "fails"
    if r.get("wrong"):
        return "wrong"
    return ms(r.get(key))


def table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("| --- " + "| ---: " * (len(header) - 1) + "|")
    for r in rows:
        print("| " + " | ".join(r) + " |")
    print()


def ratio(rows, limit):
    """Plait's best steady time against NumPy, the fastest peer and the limit."""
    own = min((rows[i]["steady"] for i in ("plait", "plait-jit") if "steady" in rows.get(i, {}) and not rows[i].get("wrong")), default=None)
    if own is None:
        return ["", "", ""]
    base = rows.get("numpy", {}).get("steady")
    peers = [rows[i]["steady"] for i in IMPLS if not i.startswith("plait") and i != "numpy" and "steady" in rows.get(i, {}) and not rows[i].get("wrong")]
    return [f"{base / own:.2f}" if base else "", f"{min(peers) / own:.2f}" if peers else "", f"{own / limit:.2f}" if limit else ""]


def steady(results, group, threads, impls):
    rows = [r for r in results["workloads"] if r["group"] == group and r["threads"] == threads]
    if rows:
        print(f"### {threads} thread{'s' if threads > 1 else ''}\n")
        table(["workload"] + impls + ["limit", "x NumPy", "x best peer", "of limit"], [[r["name"]] + [cell(r["rows"], i) for i in impls] + [ms(r["limit"])] + ratio(r["rows"], r["limit"]) for r in rows])


def first_calls(results, threads, impls):
    columns = []
    for i in impls:
        columns.append((i, "first", i))
        if any(r["rows"].get(i, {}).get("warm") for r in results["workloads"]):
            columns.append((i, "warm", f"{i}, warm disk cache"))
    table(["workload"] + [c[2] for c in columns], [[r["name"]] + [cell(r["rows"], i, key) for i, key, _ in columns] for r in results["workloads"] if r["threads"] == threads])


def memory(results, threads, impls):
    rows = [r for r in results["workloads"] if r["threads"] == threads and r["group"] == "k-means"]
    table(["workload"] + impls, [[r["name"]] + [f"{r['rows'][i]['peak']:,.0f}" if "peak" in r["rows"].get(i, {}) else "" for i in impls] for r in rows])


def overheads(o):
    keys = list(dict.fromkeys(k for m in ("numpy", "plait") for k in o.get(m, {})))
    shown = {"import": "import, ms", "record_ns": "recording one addition from Python, ns"}
    rows = []
    for k in keys:
        name = shown.get(k) or "k-means script, {} points, {} disk cache: whole process, ms".format(*k.split()[1:])
        rows.append([name] + [("" if o.get(m, {}).get(k) is None else f"{o[m][k]:.0f}" if k == "record_ns" else ms(o[m][k])) for m in ("numpy", "plait")])
    table(["", "NumPy", "Plait"], rows)
    for k, v in o.get("c++", {}).items():  # "reference" is a fixed loop
        print(f"* recording from C++, {k.removesuffix('_ns')}: {v:.0f} ns")


def main():
    results = json.load(open(sys.argv[1]))
    m = results["machine"]
    threads = sorted({r["threads"] for r in results["workloads"]})
    impls = [i for i in IMPLS if any("absent" not in r["rows"].get(i, {"absent": 1}) for r in results["workloads"])]
    print("# Performance\n")
    print(f"Measured on {m['date']}: {m['cpu']}, {m['cores']} cores, {m['memory_gib']} GiB, {m['system']}, Python {m['python']}, " + ", ".join(f"{k} {v}" for k, v in m["versions"].items()) + ".\n")
    print("This page is made from measurements, all of one run:\n")
    print(f"```\n{results['command'].strip()}\npython benchmarks/report.py benchmarks/out/results.json > docs/performance.md\n```\n")
    print("Milliseconds unless said otherwise. *Steady* is the median of the calls after the first, with an element of an input changed before each "
          f"({results['seconds']} s of calls a process, median of {results['rounds']} process{'es' if results['rounds'] > 1 else ''}). *First* is the first call in a fresh process with empty caches, "
          "*warm disk cache* that of a second process. *Limit* is one pass over inputs and outputs at the memory bandwidth measured beside the workload: "
          + ", ".join(f"{max((r['bandwidth'] or 0) for r in results['workloads'] if r['threads'] == t) / 1e9:.1f} GB/s on {t}" for t in threads) + " thread(s). "
          "One thread is one core. `plait` is the source with Plait's arrays, `plait-jit` is `plait.jit` of the unmodified function on NumPy's arrays; "
          "x NumPy and x best peer divide their time by the faster of the two. *wrong*: the result is not NumPy's; *fails*: it does not take the source. "
          "The spread of each figure (quartiles) is in the JSON file.\n")
    for group, title in GROUPS.items():
        if any(r["group"] == group for r in results["workloads"]):
            print(f"## {title}\n")
            for t in threads:
                steady(results, group, t, impls)
    print("## First call\n")
    for t in threads[:1]:
        first_calls(results, t, impls)
    if any(r["group"] == "k-means" for r in results["workloads"]):
        print("## Peak memory of k-means\n\nMiB over inputs and outputs.\n")
        memory(results, threads[0], impls)
    if results["overheads"]:
        print("## Overheads\n")
        overheads(results["overheads"])


if __name__ == "__main__":
    main()
