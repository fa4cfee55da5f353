"""The performance page: what benchmarks/report.py makes of measurements, and that the page in the repository is what it makes of those beside it."""

import json
import math
import re
import xml.etree.ElementTree as ET

import pytest
from pages import ROOT

SVG = "{http://www.w3.org/2000/svg}"
BENCHMARKS, PAGE = ROOT / "benchmarks", ROOT / "docs" / "performance.md"


@pytest.fixture
def report(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import report

    return report


def committed():
    return [json.loads(p.read_text()) for p in sorted(BENCHMARKS.glob("results*.json"))]


def measured(numpy, plait, **peers):
    def row(s):
        return s if isinstance(s, dict) else {"steady": s, "first": 2 * s, "peak": 1.0}

    return {"numpy": row(numpy), "plait": row(plait), **{k: row(v) for k, v in peers.items()}}


def workload(name, rows, group="maps"):
    return {"name": name, "group": group, "threads": 2, "limit": None, "bandwidth": None, "rows": rows}


def results(*workloads, **more):
    machine = {"date": "2026-01-02", "cpu": "a processor", "cores": 2, "memory_gib": 1, "system": "", "python": "3", "versions": {"numpy": "2", "plait": "1"}, "load": 0}
    return {"machine": machine, "command": "run", "threads": 2, "rounds": 1, "seconds": 1, "workloads": list(workloads), "python_loops": {}, "small": {}, "overheads": {}, **more}


def some():
    loops = {"lu": {"python": {"first": 1.0, "steady": 1.0, "ok": True}, "plait": {"first": 0.1, "steady": 0.02, "ok": True},
                    "numba": {"first": 0.1, "steady": 0.01, "ok": True}, "numba-parallel": {"failed": "late"}}}
    return results(
        workload("sum of <many> & more, 1,000,000 of 10,000,000 with a name that takes two lines", measured(0.4, 0.002, jax=0.1, torch=0.02, numba=0.8)),
        workload("Black-Scholes, 2,000,000", measured(1.0, 0.2, jax=0.1)),
        workload("ahead", measured(1.0, 0.1, jax=0.2), "rows"),
        workload("unknown", measured(1.0, 3.0, jax=2.0), "rows"),
        workload("not counted", measured(1.0, 0.2, jax={"steady": 0.1, "first": 0.1, "wrong": "labels"}), "rows"),
        workload("not taken", measured(1.0, 0.2, jax={"failed": "TypeError"}, torch={"failed": "no answer in 60 s"}, numba={"absent": True}), "rows"),
        python_loops=loops, small={"x + y": {"numpy": 100, "plait": 200}, "x[i]": {"numpy": 100, "plait": 50}})


def words(element):
    return " ".join("".join(t.itertext()) for t in element.iter(f"{SVG}text"))


def test_pictures_are_in_proportion(report):
    """Bars begin at the base's line; their lengths are the logarithms of ratios, and they point to the faster side."""
    drawn = ET.fromstring(report.pictures(report.together([some()]))["maps.svg"])
    bars = [r for r in drawn.iter(f"{SVG}rect") if r.get("class") != "paper"]
    ratios = [("Plait", 200.0), ("Numba", 0.5), ("JAX", 4.0), ("PyTorch", 20.0), ("Plait", 5.0), ("JAX", 10.0)]
    assert [b.get("class") for b in bars] == [name for name, _ in ratios]
    line = next(float(g.get("x1")) for g in drawn.iter(f"{SVG}line") if g.get("class") == "base")
    unit = float(bars[0].get("width")) / math.log(200)
    for bar, (_, ratio) in zip(bars, ratios):
        left, width = float(bar.get("x")), float(bar.get("width"))
        assert width == pytest.approx(unit * abs(math.log(ratio)), abs=0.02)
        assert (left if ratio > 1 else left + width) == pytest.approx(line, abs=0.1)
    assert "Plait 200x, 2 ms" in words(drawn) and "Numba 0.50x, 800 ms" in words(drawn) and "NumPy 400 ms" in words(drawn)


def test_pictures_say_what_has_no_figure(report):
    drawn = ET.fromstring(report.pictures(report.together([some()]))["rows.svg"])
    text = words(drawn)
    assert "JAX: does not take the source" in text and "PyTorch: no answer in time" in text and "JAX: wrong result" in text and "Numba" not in text


def test_pictures_can_be_read(report):
    """Text stays inside, in both modes, and the words of a picture are in its description."""
    from charts import BOLD, DARK, LIGHT, SIZE, wide

    assert LIGHT.keys() == DARK.keys()
    for name, text in {**report.pictures(report.together([some()])), **report.pictures(report.together(committed()))}.items():
        drawn = ET.fromstring(text)
        width, height = float(drawn.get("width")), float(drawn.get("height"))
        assert drawn.get("role") == "img" and drawn.find(f"{SVG}title").text and "prefers-color-scheme:dark" in drawn.find(f"{SVG}style").text
        said = drawn.find(f"{SVG}desc").text
        for t in drawn.iter(f"{SVG}text"):
            size = float(t.get("font-size", SIZE))
            length = wide(t.text, size) * (BOLD if t.get("font-weight") else 1)
            left = float(t.get("x")) - {"middle": length / 2, "end": length}.get(t.get("text-anchor"), 0)
            assert left >= 0 and left + length <= width + 1 and size <= float(t.get("y")) <= height - 4, (name, t.text)
        for bar in drawn.iter(f"{SVG}rect"):
            assert bar.get("class") == "paper" or bar.find(f"{SVG}title").text.rstrip(".").split(", ")[-1] in said


def test_every_case_is_in_a_picture(report):
    for whole in (report.together([some()]), report.together(committed())):
        pictures, page = report.pictures(whole), report.page(whole)
        for name, text in pictures.items():
            assert f"(images/performance/{name})" in page or name == "overview.svg"
            drawn = words(ET.fromstring(text))
            cases = {"python_loops.svg": whole["python_loops"], "small_calls.svg": whole["small"], "first_calls.svg": [w["name"] for w in whole["workloads"]]}
            for case in cases.get(name, [w["name"] for w in whole["workloads"] if f"{w['group']}.svg" == name]):
                assert case in drawn
        assert {f"{w['group']}.svg" for w in whole["workloads"]} <= pictures.keys()


def test_the_page_is_what_the_report_writes(report, tmp_path):
    report.write(report.together(committed()), tmp_path / PAGE.name)
    pictures = PAGE.parent / report.IMAGES
    assert (tmp_path / PAGE.name).read_text() == PAGE.read_text(), "python benchmarks/report.py --write docs/performance.md"
    assert {p.name: p.read_text() for p in (tmp_path / report.IMAGES).iterdir()} == {p.name: p.read_text() for p in pictures.iterdir()}


def test_pictures_of_what_is_gone_are_removed(report, tmp_path):
    old = tmp_path / report.IMAGES / "gone.svg"
    old.parent.mkdir(parents=True)
    old.write_text("<svg/>")
    report.write(report.together([some()]), tmp_path / "page.md")
    assert not old.exists() and (old.parent / "maps.svg").exists()


def test_what_is_behind_is_listed_with_its_cause(report, monkeypatch):
    """A row that is not behind is left out, and a wrong result is no peer's figure."""
    monkeypatch.setattr(report, "CAUSES", {"Black-Scholes, 2,000,000": "One cause.", "x + y": "Another.", "ahead": "Of no row."})
    whole = report.together([some()])
    listed = report.page(whole).split("## What is behind")[1].split("\n## ")[0]
    assert [line for line in listed.splitlines() if line][1:] == [
        "### Steady times over 1.05 of the best peer's", "1 of 2 is not explained. The worst is unknown: 3,000 ms, NumPy 1,000 ms (3.00).",
        "* One cause.", "    * Black-Scholes, 2,000,000: 200 ms, JAX 100 ms (2.00)",
        "### First calls over 1.1 of NumPy's", "1 of 1 is not explained. The worst is unknown, first call: 6,000 ms, NumPy 2,000 ms (3.00).",
        "### Python's own loops over 1.1 of Numba's time", "1 of 1 is not explained. The worst is lu: 20 ms, Numba 10 ms (2.00).",
        "### Small calls over 1.1 of NumPy's", "* Another.", "    * `x + y`: 200 ns, NumPy 100 ns (2.00)"]
    assert report.unneeded(whole) == ["ahead"]


def test_files_are_of_one_machine(report):
    other = results(workload("other", measured(1.0, 0.1)))
    assert [w["name"] for w in report.together([results(workload("one", measured(1.0, 0.1))), other])["workloads"]] == ["one", "other"]
    with pytest.raises(report.Refused, match="measured in two files: other"):
        report.together([other, other])
    for key, value in (("cpu", "another"), ("cores", 4), ("versions", {"numpy": "3"})):
        with pytest.raises(report.Refused, match="different machines"):
            report.together([other, {**results(), "machine": {**other["machine"], key: value}}])
    with pytest.raises(report.Refused, match="different machines: threads"):
        report.together([other, {**results(), "threads": 1}])


def test_causes_name_rows(report):
    import loop_programs
    import statements
    import workloads

    import plait

    names = {w.name for w in workloads.ALL} | set(statements.calls(plait)) | set(loop_programs.PROGRAMS)
    assert not {n for n in report.CAUSES if n.removesuffix(", first call") not in names}
    assert set(report.OVERVIEW) <= names and {w.group for w in workloads.ALL} <= report.GROUPS.keys()


def test_loops_are_measured_as_the_report_reads_them(report):
    """run.py's part for Python's own loops."""
    import loops

    rows = loops.measure(["python", "plait"], 1, 0.01, 60, "^popcount$")
    assert rows["popcount"]["plait"]["ok"] and rows["popcount"]["python"]["steady"] > 0
    assert "popcount" in report.page(report.together([results(workload("one", measured(1.0, 0.1)), python_loops=rows)]))


def test_tables_are_folded_and_closed(report):
    page = PAGE.read_text()
    assert page.count("<details") == page.count("</details>") > 0
    assert not re.findall(r"<summary>[^\n]*</summary>\n\S", page), "a table needs an empty line before it"


def test_summary_counts_each_case_once(report):
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in report.summary(some()).splitlines()[2:]]
    counts = {title: (beside, *map(int, rest)) for title, beside, *rest in rows}
    assert counts["Chains of elementwise operations"] == ("beside the fastest other", 1, 0, 1)
    assert counts["Reductions and rows"] == ("beside the fastest other", 3, 0, 1)  # a wrong result is no peer
    assert counts["Python's own loops"] == ("beside Numba", 0, 0, 1)
    assert counts["Small calls"] == ("beside NumPy", 1, 0, 1)
    assert report.verdicts([(1.0, 1.04), (1.04, 1.0), (1.0, 1.06)], 1.05) == ["1", "2", "0"]
