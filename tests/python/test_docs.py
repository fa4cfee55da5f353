"""The documentation is what its programs write, its examples print what it says, and every page can be reached."""

import json
import re
import subprocess
import sys

import pytest
from pages import ROOT, blocks, run

DOCS = ROOT / "docs"
PLAIN = ["quickstart.md", "faq.md", "libraries.md", "dask.md", "differences.md", "python_loops.md"]


def program(path, *args):
    """Runs one of the repository's programs; what it prints."""
    p = subprocess.run([sys.executable, str(ROOT / path), *map(str, args)], capture_output=True, text=True, timeout=100)
    assert p.returncode == 0, p.stderr
    return p.stdout


def test_performance_is_what_the_report_writes():
    assert program("benchmarks/report.py", *(ROOT / "benchmarks" / name for name in ("results.json", "results_loops.json", "results_python_loops.json"))) == (DOCS / "performance.md").read_text()


def test_the_report_says_what_is_behind(tmp_path):
    """A row behind a peer is listed with its cause, one that is not is left out, and a wrong result is no peer's figure."""
    def rows(own, peer, **of_peer):
        return {"numpy": {"steady": 1.0, "first": 1.0}, "plait": {"steady": own, "first": 1.0}, "jax": {"steady": peer, "first": 2.0, **of_peer}}

    def workload(name, rows):
        return {"name": name, "group": "maps", "threads": 2, "limit": None, "bandwidth": None, "rows": rows}

    machine = {"date": "", "cpu": "", "cores": 2, "memory_gib": 1, "system": "", "python": "", "versions": {}, "load": 0}
    results = {"machine": machine, "command": "", "threads": 2, "rounds": 1, "seconds": 1, "small": {"x + y": {"numpy": 100, "plait": 200}, "x[i]": {"numpy": 100, "plait": 100}}, "overheads": {}}
    results["workloads"] = [workload("Black-Scholes, 2,000,000", rows(0.2, 0.1)), workload("ahead", rows(0.1, 0.2)), workload("unknown", rows(3.0, 2.0)),
                            workload("not counted", rows(0.2, 0.1, wrong="labels"))]
    (tmp_path / "results.json").write_text(json.dumps(results))
    page = program("benchmarks/report.py", tmp_path / "results.json")
    listed = [line for line in page.split("## Rows that are behind")[1].split("\n## ")[0].splitlines() if line.startswith("| ")][2:]
    cause = r"On one thread .*"
    expected = [r"unknown \| 3,000 ms \| 1,000 ms \| numpy \| 3.00 \| not known yet", rf"Black-Scholes, 2,000,000 \| 200 ms \| 100 ms \| jax \| 2.00 \| {cause}",
                r"x \+ y \| 200 ns \| 100 ns \| numpy \| 2.00 \| not known yet"]
    assert len(listed) == len(expected)
    for line, pattern in zip(listed, expected):
        assert re.fullmatch(rf"\| {pattern} \|", line), line


def test_causes_name_rows(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import causes
    import small
    import workloads

    import plait

    names = {w.name for w in workloads.ALL} | set(small.calls(plait))
    assert not {n for n in causes.CAUSES if n.removesuffix(", first call") not in names}


def test_api_is_what_docstrings_say(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import api

    assert api.page() == api.PAGE.read_text(), "python scripts/api.py writes the page"
    assert api.own_names() <= {n.partition(".")[0] for names in api.SECTIONS.values() for n in names}


@pytest.mark.parametrize("page", ["docs/quickstart.md", "docs/export.md", "README.md"])
def test_examples_print_what_the_page_says(page, tmp_path):
    tested = [b for b in blocks(ROOT / page) if b.printed is not None]
    assert tested
    for block in tested:
        assert run(block, tmp_path) == block.printed


def links(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.S)
    return {(page.parent / m).resolve() for m in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", text)}


def test_every_page_is_linked_from_the_readme():
    assert links(ROOT / "README.md") >= set(DOCS.glob("*.md"))


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    assert not {str(p) for p in links(page) if not p.exists()}


@pytest.mark.parametrize("page", PLAIN)
def test_sentences_are_short(page):
    text = re.sub(r"```.*?```", "", (DOCS / page).read_text(), flags=re.S)
    parts = re.split(r"\n\s*\n|\n(?=[*|] )| \| ", text)
    sentences = [s for part in parts for s in re.split(r"(?<=[.!?])\s+", part)]
    assert not [s for s in sentences if len(s.split()) >= 30]
