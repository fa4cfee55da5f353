#!/usr/bin/env python3
"""docs/performance.md and its pictures from the JSON of run.py: every figure comes from a file, and one stands for a case. Several files may have
parts of the page (run.py --only), if they are of the same machine and the same versions.

    python benchmarks/report.py --write docs/performance.md    # of benchmarks/results*.json; pictures go to docs/images/performance
    python benchmarks/report.py benchmarks/out/results.json    # prints the page
"""
import argparse
import json
import math
import pathlib
import sys

from causes import CAUSES
from charts import Bar, Row, chart
from loops import SETTLED
from run import IMPLS, ms

HERE = pathlib.Path(__file__).resolve().parent
IMAGES = "images/performance"  # beside the page
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
OVERVIEW = [  # the README's, one of each kind
    "k-means 1,000,000 x 8 f8, K = 8",
    "Black-Scholes, 2,000,000",
    "softmax 4096 x 4096 f4",
    "5-point stencil 4096 x 4096",
    "heat equation in place, 100 steps of 2000 x 2000",
    "attention (8, 1024, 64) f4",
    "convolution 3x3 by windows (8, 64, 56, 56) f4",
    "histogram of tanh, 10,000,000",
]
OWN = ("plait", "plait-jit", "plait-replay")
PEERS = {"numexpr": "numexpr", "numba": "Numba", "jax": "JAX", "torch": "PyTorch"}
NAMES = {"numpy": "NumPy", **PEERS}
LEVEL = 1.05  # a row is behind where it takes more than this of its best peer's time
LEVEL_SMALL = 1.1  # the same for calls of less than a microsecond, and for first calls
LEVEL_LOOPS = 1.1  # and for Python's own loops
WORDS = {"no": "does not take the source", "late": "no answer in time", "wrong": "wrong result"}
SCALE = "Times as fast as {}, on a logarithmic scale, and the time of {}. Longer to the right is faster."


class Refused(Exception):
    pass


def together(files):
    """The results of all files as one, and "runs": what each file is of."""
    whole = {"runs": [], "workloads": [], "python_loops": {}, "small": {}, "overheads": {}}
    for r in files:
        first, m = files[0]["machine"], r["machine"]
        differ = [k for k in ("cpu", "cores", "memory_gib", "system", "python") if m[k] != first[k]]
        differ += [k for k in m["versions"].keys() & first["versions"].keys() if m["versions"][k] != first["versions"][k]]
        if differ or r["threads"] != files[0]["threads"]:
            raise Refused(f"files of different machines: {', '.join(differ) or 'threads'}")
        seen = {w["name"] for w in whole["workloads"]}
        twice = [w["name"] for w in r["workloads"] if w["name"] in seen] + [k for part in ("python_loops", "small", "overheads") for k in r.get(part, {}) if k in whole[part]]
        if twice:
            raise Refused(f"measured in two files: {', '.join(twice)}")
        whole["runs"].append({k: r[k] for k in ("machine", "command", "threads", "rounds", "seconds")})
        whole["workloads"] += r["workloads"]
        for part in ("python_loops", "small", "overheads"):
            whole[part].update(r.get(part, {}))
    return whole


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


def measured(results):
    """The implementations that there are figures of."""
    return [i for i in IMPLS if any("absent" not in w["rows"].get(i, {"absent": True}) for w in results["workloads"])]


def table(header, rows):
    sides = ["---" if h == "" else "---:" for h in header[1:]]
    return "\n".join(["| " + " | ".join(header) + " |", "| " + " | ".join(["---", *sides]) + " |", *("| " + " | ".join(r) + " |" for r in rows)])


def ratio(over, under):
    return "" if not over or not under else f"{over / under:.2f}"


# --- what is behind


def loop_figures(row):
    """A row of Python's own loops as a workload has it: Numba's is the faster of its two."""
    rows = {i: {"failed": r["failed"]} if "failed" in r else {"first": r["first"], "steady": r["steady"], **({} if r["ok"] else {"wrong": "result"})} for i, r in row.items()}
    return {i: rows[i] for i in ("python", "plait", "numba", "numba-parallel") if i in rows}


def behind(results):
    """{heading: [(work, Plait, best peer's name and time, ratio)]}, the worst first: steady times that a peer is ahead of, first calls and small calls
    that NumPy is ahead of, Python's own loops that Numba is ahead of."""
    steady, first, small, loops = [], [], [], []
    for w in results["workloads"]:
        own, peer = least(w["rows"], OWN), least(w["rows"], [i for i in IMPLS if i not in OWN])
        if own and peer and own[0] > LEVEL * peer[0]:
            steady.append((w["name"], ms(own[0]) + " ms", f"{NAMES[peer[1]]} {ms(peer[0])} ms", own[0] / peer[0]))
        own, peer = least(w["rows"], OWN, "first"), seconds(w["rows"], "numpy", "first")
        if own and peer and own[0] > LEVEL_SMALL * peer:
            first.append((w["name"] + ", first call", ms(own[0]) + " ms", f"NumPy {ms(peer)} ms", own[0] / peer))
    for name, row in results["small"].items():
        if row["plait"] > LEVEL_SMALL * row["numpy"]:
            small.append((f"`{name}`", f"{row['plait']:.0f} ns", f"NumPy {row['numpy']:.0f} ns", row["plait"] / row["numpy"]))
    for name, row in results["python_loops"].items():
        figures = loop_figures(row)
        own, peer = seconds(figures, "plait"), least(figures, ("numba", "numba-parallel"))
        if own and peer and own > LEVEL_LOOPS * peer[0]:
            loops.append((name, ms(own) + " ms", f"Numba {ms(peer[0])} ms", own / peer[0]))
    found = {f"Steady times over {LEVEL} of the best peer's": steady, f"First calls over {LEVEL_SMALL} of NumPy's": first,
             f"Python's own loops over {LEVEL_LOOPS} of Numba's time": loops, f"Small calls over {LEVEL_SMALL} of NumPy's": small}
    return {heading: sorted(rows, key=lambda r: -r[3]) for heading, rows in found.items() if rows}


def causes(rows):
    """A list by causes; those of the worst rows first. How many rows have none is said above it, with the worst of them: the tables have them all."""
    by_cause, unknown = {}, []
    for name, own, peer, r in rows:
        cause = CAUSES.get(name.strip("`"))
        found = by_cause.setdefault(cause, []) if cause else unknown
        found.append(f"{name}: {own}, {peer} ({r:.2f})")
    listed = "\n".join(line for cause, items in by_cause.items() for line in (f"* {cause}", *(f"    * {item}" for item in items)))
    if unknown:
        said = f"{len(unknown)} of {len(rows)} {'is' if len(unknown) == 1 else 'are'} not explained. The worst is {unknown[0]}."
        return said + (f"\n\n{listed}" if listed else "")
    return listed


def unneeded(results):
    """Names in causes.py that nothing on the page needs."""
    return sorted(CAUSES.keys() - {row[0].strip("`") for rows in behind(results).values() for row in rows})


def verdicts(pairs, level):
    """How many of the pairs of times, Plait's and the best other's, are won, even and lost."""
    won = sum(theirs > level * ours for ours, theirs in pairs)
    lost = sum(ours > level * theirs for ours, theirs in pairs)
    return [str(won), str(len(pairs) - won - lost), str(lost)]


def summary(results):
    """A table of all that was measured: a row a kind of work."""

    def pairs(workloads, others, key="steady"):
        times = [(least(w["rows"], OWN, key), least(w["rows"], others, key)) for w in workloads]
        return [(own[0], other[0]) for own, other in times if own and other]

    peers = [i for i in IMPLS if i not in OWN]
    kinds = [(title, "the fastest other", pairs([w for w in results["workloads"] if w["group"] == group], peers), LEVEL) for group, title in GROUPS.items()]
    loops = [{"rows": loop_figures(r)} for r in results["python_loops"].values()]
    kinds += [("Python's own loops", "Numba", [(own[0], other[0]) for w in loops if (own := least(w["rows"], ("plait",))) and (other := least(w["rows"], ("numba", "numba-parallel")))], LEVEL_LOOPS),
              ("First calls", "NumPy", pairs(results["workloads"], ("numpy",), "first"), LEVEL_SMALL),
              ("Small calls", "NumPy", [(r["plait"], r["numpy"]) for r in results["small"].values()], LEVEL_SMALL)]  # fmt: skip
    return table(["kind of work", "", "won", "even", "lost"], [[title, "beside " + beside, *verdicts(found, level)] for title, beside, found, level in kinds if found])


# --- tables


def steady(rows, impls):
    shown = [i for i in impls if any(cell(w["rows"], i) not in ("", "no") for w in rows)]
    lines = []
    for w in rows:
        own, peer = least(w["rows"], OWN), least(w["rows"], PEERS)
        base = seconds(w["rows"], "numpy")
        best = own and own[0]
        lines.append([w["name"], *(cell(w["rows"], i) for i in shown), ms(w["limit"]), ratio(base, best), ratio(peer and peer[0], best)])
    return table(["ms", *shown, "limit", "x NumPy", "x best peer"], lines)


def first_calls(results, impls):
    warm = [i for i in impls if any(w["rows"].get(i, {}).get("warm") for w in results["workloads"])]
    lines = []
    for w in results["workloads"]:
        peak = [f"{max(w['rows'][i]['peak'], 0):,.0f}" if "peak" in w["rows"].get(i, {}) else "" for i in ("numpy", "plait")]
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


def loops_table(rows):
    lines = []
    for name, row in rows.items():
        figures = loop_figures(row)
        numba = {key: least(figures, ("numba", "numba-parallel"), key) for key in ("steady", "first")}
        lines.append([name, *(ms(seconds(figures, i)) for i in ("python", "plait", "numba", "numba-parallel")), ratio(numba["steady"] and numba["steady"][0], seconds(figures, "plait")),
                      ms(seconds(figures, "plait", "first")), ms(numba["first"] and numba["first"][0])])
    return table(["ms", "Python", "plait", "numba", "parallel", "x Numba", "first, plait", "first, numba"], lines)


def loops_means(rows):
    """A sentence about Plait and Numba over all programs that both have run."""
    found = {"steady": [], "first": []}
    for row in map(loop_figures, rows.values()):
        for key, ratios in found.items():
            own, peer = seconds(row, "plait", key), least(row, ("numba", "numba-parallel"), key)
            if own and peer:
                ratios.append(peer[0] / own)
    if not found["steady"]:
        return ""
    means = {k: math.prod(r) ** (1 / len(r)) for k, r in found.items()}
    return (f" In the geometric mean of {len(found['steady'])} programs Plait has {means['steady']:.2f} of Numba's speed, at worst {min(found['steady']):.2f}, "
            f"and a first call is {means['first']:.1f} times as fast.")


# --- pictures


def bars_of(rows, base, key="steady", peers=PEERS, most=None):
    """Plait's fastest, then the peers that have something to show, the fastest `most` of them."""
    def bar(name, s):
        return Bar(name, base and base / s, f"{ms(s)} ms")

    def none(name, said):
        return Bar(name, None, WORDS.get(said, said))

    own = least(rows, OWN, key)
    bars = [bar("Plait", own[0]) if own else none("Plait", next((c for i in OWN if (c := cell(rows, i, key))), "no figure"))]
    answered = [i for i in peers if seconds(rows, i, key) is not None]
    chosen = sorted(answered, key=lambda i: seconds(rows, i, key))[:most]
    for i in peers:
        if i in chosen:
            bars.append(bar(peers[i], seconds(rows, i, key)))
        elif (most is None or not chosen) and cell(rows, i, key):
            bars.append(none(peers[i], cell(rows, i, key)))
    return bars


def workload_rows(workloads, key="steady", most=None):
    made = []
    for w in workloads:
        base = seconds(w["rows"], "numpy", key)
        made.append(Row(w["name"], f"{ms(base)} ms" if base else cell(w["rows"], "numpy", key), bars_of(w["rows"], base, key, most=most)))
    return made


def pictures(results):
    """{file: text}."""
    m = results["runs"][0]["machine"]
    versions = ", ".join(f"{NAMES.get(k, 'Plait')} {v}" for k, v in m["versions"].items())
    foot = f"{m['cpu']}, {results['runs'][0]['threads']} threads, {versions}; {' and '.join(dict.fromkeys(r['machine']['date'] for r in results['runs']))}."
    made = {}
    by_name = {w["name"]: w for w in results["workloads"]}
    chosen = [by_name[n] for n in OVERVIEW if n in by_name]
    if chosen:
        made["overview"] = chart("Plait and the two fastest of its peers beside NumPy", SCALE.format("NumPy", "a call"), workload_rows(chosen, most=2), foot=foot)
    for group, title in GROUPS.items():
        own = [w for w in results["workloads"] if w["group"] == group]
        if own:
            made[group] = chart(title, SCALE.format("NumPy", "a call"), workload_rows(own), foot=foot)
    if results["python_loops"]:
        rows = []
        for name, row in results["python_loops"].items():
            figures = loop_figures(row)
            fastest, base = least(figures, ("numba", "numba-parallel")), seconds(figures, "python")
            figures["numba"] = figures[fastest[1]] if fastest else figures.get("numba", {"absent": True})
            rows.append(Row(name, f"{ms(base)} ms", bars_of(figures, base, peers={"numba": "Numba"})))
        made["python_loops"] = chart("Python's own loops", SCALE.format("Python", "a call"), rows, base="Python", foot=foot)
    if results["workloads"]:
        made["first_calls"] = chart("First calls", SCALE.format("NumPy", "the first call of a process, compilation included"), workload_rows(results["workloads"], "first"), foot=foot)
    if results["small"]:
        rows = [Row(n, f"{r['numpy']:,.0f} ns", [Bar("Plait", r["numpy"] / r["plait"], f"{r['plait']:,.0f} ns")]) for n, r in results["small"].items()]
        made["small_calls"] = chart("Small calls", SCALE.format("NumPy", "a call"), rows, foot=foot)
    return {f"{name}.svg": text for name, text in made.items()}


# --- the page


def picture(name, title):
    return f"![{title}: times as fast as the base, with the time of each; the table below has the figures]({IMAGES}/{name}.svg)"


def folded(summary, *parts):
    return "\n\n".join([f'<details markdown="1">\n<summary>{summary}</summary>', *parts, "</details>"])


def runs(results):
    """Of what the figures are: the machine, once, and each run's command and load."""
    m = results["runs"][0]["machine"]
    versions = {k: v for r in results["runs"] for k, v in r["machine"]["versions"].items()}
    several = len(results["runs"]) > 1
    text = [f"""{m['cpu']}, {m['cores']} cores, {m['memory_gib']} GiB, {m['system']}, Python {m['python']}, {', '.join(f'{k} {v}' for k, v in versions.items())}.
{results['runs'][0]['threads']} threads on as many cores, unless a row says otherwise. `python benchmarks/report.py --write docs/performance.md` wrote this page from {"these runs, each of other rows" if several else "this run"}:"""]
    text.append("\n".join(f"* `{r['command'].strip()}`, {r['machine']['date']}, a load average of {r['machine']['load']} when it began" for r in results["runs"]))
    if any(r["machine"]["load"] > 0.5 for r in results["runs"]):
        text.append("Other programs ran beside: read the ratios.")
    text.append("How to read it:")
    return "\n\n".join(text)


def page(results):
    impls = measured(results)
    bandwidth = max((w["bandwidth"] or 0 for w in results["workloads"] if w["threads"] == results["runs"][0]["threads"]), default=0)
    rounds = max(r["rounds"] for r in results["runs"])
    lost = "\n[What is behind](#what-is-behind) lists each loss." if behind(results) else ""
    text = ["# Performance", f"Each case counts once. It is won or lost where the times differ by more than {LEVEL - 1:.0%}, or by {LEVEL_LOOPS - 1:.0%} for Python's loops, first calls and small calls.{lost}", summary(results)]
    if any(w["name"] in OVERVIEW for w in results["workloads"]):
        text.append(picture("overview", "Plait and the two fastest of its peers beside NumPy").replace("; the table below has the figures", ""))
    text += [runs(results), f"""* A figure is the median of the calls after the first. An element of an input changes before each. Calls go on for {' or '.join(f'{s:g}' for s in dict.fromkeys(r['seconds'] for r in results['runs']))} s
  in a process of its own{f", and a row is the median of {rounds} such processes" if rounds > 1 else ""}. Quartiles are in the JSON file.
* The pictures show the fastest of Plait's three columns; the tables show each. `plait` is the source with Plait's arrays. `plait-jit` is `plait.jit` of the unmodified
  function with NumPy's arrays. `plait-replay` is the same with `replay=True`.
* A peer gets the same source: Numba with `njit(parallel=True)`, JAX with `jit`, PyTorch with `torch.compile`. Where a peer has a function of its
  own for the work (`conv2d`, attention), it is that. *no*: it does not take the source. *late*: no answer in time. *wrong*: the result is not NumPy's. No bar: not measured.
* *limit* is one pass over inputs and outputs at the memory bandwidth measured in the same run ({bandwidth / 1e9:.1f} GB/s). What fits in the caches can be faster.
* *x NumPy* and *x best peer* divide their time by the fastest of Plait's. Above 1, Plait is ahead."""]
    for group, title in GROUPS.items():
        own = [w for w in results["workloads"] if w["group"] == group]
        if own:
            text += [f"## {title}", picture(group, title), folded("Milliseconds, limits and ratios", steady(own, impls))]
    if results["python_loops"]:
        text += ["## Python's own loops", f"[Programs](python_loops.md) of loops over numbers. Plait is `plait.jit`. Ratios use the faster of Numba's two columns: `numba.njit`, and the same with `parallel=True`. Calls go on for {SETTLED} s at least: Plait makes its fastest code in the background, while earlier code runs.{loops_means(results['python_loops'])}",
                 picture("python_loops", "Python's own loops"), folded("Milliseconds, and first calls", loops_table(results["python_loops"]))]
    if results["workloads"]:
        text += ["## First calls and memory", "The first call of a process whose caches are empty. In the table, *MiB* is what resident memory grew by, beyond inputs and result.",
                 folded("Picture", picture("first_calls", "First calls")), folded("Milliseconds and MiB", first_calls(results, impls))]
    if results["small"]:
        lines = [[f"`{n}`", f"{r['numpy']:.0f}", f"{r['plait']:.0f}", ratio(r["numpy"], r["plait"])] for n, r in results["small"].items()]
        text += ["## Small calls", "On one thread, the least of many short runs by turns (`benchmarks/functions.py --small`).", picture("small_calls", "Small calls"), folded("Nanoseconds", table(["ns", "NumPy", "Plait", "x NumPy"], lines))]
    if results["overheads"]:
        text += ["## Overheads", overheads(results["overheads"])]
    rows = behind(results)
    text += ["## What is behind", "Each with its cause, where that is known, and the ratio of the times. What is not explained is in the tables above, with the rest."] if rows else []
    for heading, found in rows.items():
        text += [f"### {heading}", causes(found)]
    text += ["## More", """* [Programs](programs.md): whole programs under NumPy and Plait, first and steady.
* `benchmarks/products.py`, `functions.py`, `sweep.py`, `team.py`: every shape of product, every function, random cases, threads beside other work.
* [On a GPU](cuda.md): `bash scripts/gpu_check.sh build bench` measures it where there is one."""]
    return "\n\n".join(text) + "\n"


def write(results, path):
    """The page, and its pictures; pictures that it has no longer are removed."""
    made, folder = pictures(results), path.parent / IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).write_text(text)
    path.write_text(page(results))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, nargs="*", default=sorted(HERE.glob("results*.json")))
    parser.add_argument("--write", type=pathlib.Path, metavar="PAGE")
    options = parser.parse_args()
    try:
        results = together([json.loads(p.read_text()) for p in options.results])
    except Refused as e:
        sys.exit(f"report.py: {e}")
    if options.write:
        write(results, options.write)
        for name in unneeded(results):
            print(f"causes.py: no row needs {name!r}", file=sys.stderr)
    else:
        print(page(results), end="")


if __name__ == "__main__":
    main()
