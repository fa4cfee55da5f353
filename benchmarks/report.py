#!/usr/bin/env python3
"""docs/performance.md from the JSON of run.py: every figure on the page comes from a file, and one stands for a case. What groups of
workloads were measured by themselves later has files behind the first.

    python benchmarks/report.py benchmarks/results.json benchmarks/results_loops.json benchmarks/results_python_loops.json --write docs/performance.md
    python benchmarks/report.py benchmarks/out/results.json        # prints it
"""
import argparse
import json
import math
import pathlib

from causes import CAUSES
from run import IMPLS, ms

GROUPS = {
    "k-means": "K-means: a reduction consumed by a reduction",
    "maps": "Chains of elementwise operations",
    "rows": "Reductions and rows",
    "stencils": "Shifted views and writes in place",
    "products": "Matrix products, attention and convolutions",
    "indices": "Indices, masks, bins and scans",
    "sorts": "Sorts and transforms",
    "small": "Loops over small arrays",
    "loops": "Loops that the program writes",
    "trees": "Random trees of reductions",
}
OWN = ("plait", "plait-jit", "plait-replay")
LEVEL = 1.05  # a row is behind where it takes more than this of its best peer's time
LEVEL_SMALL = 1.1  # the same for calls of less than a microsecond


def seconds(rows, impl, key="steady"):
    """The figure, or None where there is no right answer."""
    row = rows.get(impl, {})
    return None if row.get("wrong") else row.get(key)


def cell(rows, impl, key="steady"):
    row = rows.get(impl, {"absent": True})
    if "failed" in row:
        return "late" if row["failed"].startswith("no answer") else "no"
    return "" if "absent" in row else "wrong" if row.get("wrong") else ms(row.get(key))


def least(rows, impls, key="steady"):
    """(seconds, implementation) of the fastest, or None."""
    return min(((s, i) for i in impls if (s := seconds(rows, i, key)) is not None), default=None)


def table(header, rows):
    sides = ["---" if h in ("which", "cause") else "---:" for h in header[1:]]
    return "\n".join(["| " + " | ".join(header) + " |", "| " + " | ".join(["---", *sides]) + " |", *("| " + " | ".join(r) + " |" for r in rows)])


def ratio(over, under):
    return "" if not over or not under else f"{over / under:.2f}"


def behind(results, impls):
    """(work, Plait, best peer, its name, ratio, cause) of each steady time that a peer is ahead of, then of first calls and of small calls that
    NumPy is ahead of, the worst first."""
    steady, first, small = [], [], []
    for w in results["workloads"]:
        own, peer = least(w["rows"], OWN), least(w["rows"], [i for i in impls if i not in OWN])
        if own and peer and own[0] > LEVEL * peer[0]:
            steady.append((w["name"], ms(own[0]) + " ms", ms(peer[0]) + " ms", peer[1], own[0] / peer[0]))
        own, peer = least(w["rows"], OWN, "first"), seconds(w["rows"], "numpy", "first")
        if own and peer and own[0] > LEVEL_SMALL * peer:
            first.append((w["name"] + ", first call", ms(own[0]) + " ms", ms(peer) + " ms", "numpy", own[0] / peer))
    for name, row in results["small"].items():
        if row["plait"] > LEVEL_SMALL * row["numpy"]:
            small.append((name, f"{row['plait']:.0f} ns", f"{row['numpy']:.0f} ns", "numpy", row["plait"] / row["numpy"]))
    return [[n, p, q, i, f"{r:.2f}", CAUSES.get(n, "not known yet")] for rows in (steady, first, small) for n, p, q, i, r in sorted(rows, key=lambda r: -r[4])]


def steady(rows, impls):
    shown = [i for i in impls if any(cell(w["rows"], i) not in ("", "no") for w in rows)]
    lines = []
    for w in rows:
        own, peer = least(w["rows"], OWN), least(w["rows"], [i for i in impls if i not in OWN and i != "numpy"])
        base = seconds(w["rows"], "numpy")
        best = own and own[0]
        lines.append([w["name"], *(cell(w["rows"], i) for i in shown), ms(w["limit"]), ratio(base, best), ratio(peer and peer[0], best)])
    return table(["ms", *shown, "limit", "x NumPy", "x best peer"], lines)


def first_calls(results, impls):
    warm = [i for i in impls if any(w["rows"].get(i, {}).get("warm") for w in results["workloads"])]
    lines = []
    for w in results["workloads"]:
        peak = [f"{w['rows'][i]['peak']:,.0f}" if "peak" in w["rows"].get(i, {}) else "" for i in ("numpy", "plait")]
        lines.append([w["name"], *(cell(w["rows"], i, "first") for i in impls), *(cell(w["rows"], i, "warm") for i in warm), *peak])
    return table(["ms", *impls, *(f"{i}, from disk" for i in warm), "MiB, NumPy", "MiB, Plait"], lines)


def overheads(o):
    lines = [["import, ms", *(ms(o[m].get("import")) for m in ("numpy", "plait"))]]
    if o["plait"].get("record_ns"):
        lines.append(["recording an addition from Python, ns", "", f"{o['plait']['record_ns']:.0f}"])
    for key in o["plait"]:
        if key.startswith("process"):
            _, points, cache = key.split()
            lines.append([f"a whole k-means process, {int(points):,} points, {cache} disk cache, ms", *(ms(o[m].get(key)) for m in ("numpy", "plait"))])
    lines += [[f"recording from C++, {k.removesuffix('_ns')}, ns", "", f"{v:.0f}"] for k, v in o.get("c++", {}).items()]
    return table(["", "NumPy", "Plait"], lines)


def again(results):
    """A group that has a run of its own."""
    m, threads = results["machine"], results["threads"]
    impls = [i for i in IMPLS if any("absent" not in w["rows"].get(i, {"absent": True}) for w in results["workloads"])]
    text = [f"## {GROUPS[results['workloads'][0]['group']]}", f"""Of a run of their own, `{results['command'].strip()}`, on {m['date']}: {m['cpu']}, {m['cores']} cores, {', '.join(f'{k} {v}' for k, v in m['versions'].items())}, {threads} threads, a load average of {m['load']} when it began.
`plait-replay` is `plait.jit` with `replay=True`.""", steady(results["workloads"], impls), "The first call, and memory:", first_calls(results, impls)]
    return text


def python_loops(results):
    """Python's own loops, of loops.py."""
    m, impls = results["machine"], ("python", "plait", "numba", "numba-parallel")

    def of(row, impl, key):
        return None if "failed" in row.get(impl, {"failed": ""}) or not row[impl]["ok"] else row[impl][key]

    def least_of(row, key):
        return min((s for i in impls[2:] if (s := of(row, i, key)) is not None), default=None)

    lines, ratios = [], {"steady": [], "first": []}
    for row in results["rows"].values():
        for key, found in ratios.items():
            peer, own = least_of(row, key), of(row, "plait", key)
            if peer and own:
                found.append(peer / own)
    for name, row in results["rows"].items():
        lines.append([name, *(ms(of(row, i, "steady")) for i in impls), ratio(least_of(row, "steady"), of(row, "plait", "steady")), ms(of(row, "plait", "first")), ms(least_of(row, "first"))])
    means = {k: math.prod(r) ** (1 / len(r)) for k, r in ratios.items()}
    return ["## Python's own loops", f"""[Programs](python_loops.md) of loops over numbers, `{results['command'].strip()}`, on {m['date']}: {m['cpu']}, {m['cores']} cores, Python {m['python']}, {', '.join(f'{k} {v}' for k, v in m['versions'].items() if k in ('numpy', 'numba', 'plait'))}, {results['threads']} threads, a load average of {m['load']} when it began.
`plait` is `plait.jit`, `numba` is `numba.njit`, `parallel` with `parallel=True`; *x Numba* is the faster one's time over Plait's. In the geometric mean Plait has {means['steady']:.2f} of Numba's speed, at worst {min(ratios['steady']):.2f}, and a first call is {means['first']:.1f} times as fast.""", table(["ms", "Python", "plait", "numba", "parallel", "x Numba", "first, plait", "first, numba"], lines)]


def page(results, *later):
    m = results["machine"]
    loops = [r for r in later if "rows" in r]
    later = [r for r in later if "rows" not in r]
    impls = [i for i in IMPLS if any("absent" not in w["rows"].get(i, {"absent": True}) for w in results["workloads"])]
    bandwidth = max((w["bandwidth"] or 0 for w in results["workloads"] if w["threads"] == results["threads"]), default=0)
    rounds = results["rounds"]
    text = ["# Performance", f"""This page is written by a program, from one run where nothing else is said:

```
{results['command'].strip()}
python benchmarks/report.py benchmarks/results.json benchmarks/results_loops.json benchmarks/results_python_loops.json --write docs/performance.md
```

{m['date']}: {m['cpu']}, {m['cores']} cores, {m['memory_gib']} GiB, {m['system']}, Python {m['python']}, {', '.join(f'{k} {v}' for k, v in m['versions'].items())}.
{results['threads']} threads on as many cores, unless a row says otherwise. The load average was {m['load']} when the run began{': other programs ran beside it, so read the ratios' if m['load'] > 0.5 else ''}.

* A figure is the median of the calls after the first, in milliseconds. An element of an input changes before each. Calls go on for {results['seconds']} s
  in a process of its own, and a row is the median of {rounds} such process{'es' if rounds > 1 else ''}. Quartiles are in the JSON file.
* `plait` is the source with Plait's arrays. `plait-jit` is `plait.jit` of the unmodified function, with NumPy's arrays.
* A peer gets the same source: `numba` with `njit(parallel=True)`, `jax` with `jit`, `torch` with `torch.compile`. Where a peer has a function of its
  own for the work (`conv2d`, attention), it is that. *no*: it does not take the source. *late*: no answer in time. *wrong*: the result is not NumPy's. Empty: not measured.
* *limit* is one pass over inputs and outputs at the memory bandwidth measured in the same run ({bandwidth / 1e9:.1f} GB/s). What fits in the caches can be faster.
* *x NumPy* and *x best peer* divide their time by the faster of Plait's two. Above 1, Plait is ahead."""]
    rows = behind(results, impls)
    for r in later:
        rows += behind(r, IMPLS)
    text.append("## Rows that are behind")
    text.append(f"Steady times more than {LEVEL} of the best peer's; small calls and first calls more than {LEVEL_SMALL} of NumPy's. The causes are kept in `benchmarks/causes.py`.")
    text.append(table(["work", "Plait", "best peer", "which", "ratio", "cause"], rows) if rows else "None.")
    for group, title in GROUPS.items():
        own = [w for w in results["workloads"] if w["group"] == group]
        if own:
            text += [f"## {title}", steady(own, impls)]
    for r in later:
        text += again(r)
    for r in loops:
        text += python_loops(r)
    text += ["## First call and memory", "The first call of a process whose caches are empty. *MiB* is what resident memory grew by, beyond inputs and result.", first_calls(results, impls)]
    if results["small"]:
        lines = [[f"`{n}`", f"{r['numpy']:.0f}", f"{r['plait']:.0f}", ratio(r["numpy"], r["plait"])] for n, r in results["small"].items()]
        text += ["## Small calls", "Nanoseconds a call on one thread, the least of many short runs by turns (`benchmarks/small.py`).", table(["", "NumPy", "Plait", "x NumPy"], lines)]
    if results["overheads"]:
        text += ["## Overheads", overheads(results["overheads"])]
    text += ["## More", """* [Programs](programs.md): whole programs under NumPy and Plait, first and steady.
* `benchmarks/products.py`, `ufuncs.py`, `sweep.py`, `team.py`: every shape of product, every ufunc, random cases, threads beside other work.
* [On a GPU](cuda.md): `bash scripts/gpu_check.sh build bench` measures it where there is one."""]
    return "\n\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, nargs="+")
    parser.add_argument("--write", type=pathlib.Path, metavar="PAGE")
    options = parser.parse_args()
    text = page(*(json.loads(p.read_text()) for p in options.results))
    if options.write:
        options.write.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
