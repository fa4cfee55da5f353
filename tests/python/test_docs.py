"""The documentation is what its programs write, its examples print what it says, and every page can be reached."""

import re

import pytest
from pages import ROOT, blocks, run

DOCS = ROOT / "docs"
PLAIN = ["quickstart.md", "faq.md", "libraries.md", "dask.md", "differences.md", "python_loops.md", "measuring.md"]


def test_api_is_what_docstrings_say(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import api

    assert api.page() == api.PAGE.read_text(), "python scripts/api.py writes the page"
    assert api.own_names() <= {n.partition(".")[0] for names in api.SECTIONS.values() for n in names}


# The recipes for other libraries have tests of their own, which install these.
PROGRAMS = [(p, b) for p in [ROOT / "README.md", *sorted(DOCS.glob("*.md"))] if p.name not in ("libraries.md", "dask.md") for b in blocks(p)]


@pytest.mark.parametrize(
    "block", [b for p, b in PROGRAMS if b.printed is not None or p.name == "README.md"], ids=lambda b: b.title.replace(" ", "-")
)
def test_examples_print_what_the_page_says(block, tmp_path):
    printed = run(block, tmp_path)
    assert block.printed is None or printed == block.printed or (block.rest and printed.startswith(block.printed))


def test_what_examples_print_is_found():
    assert {p.name for p, b in PROGRAMS if b.printed} == {"README.md", "export.md", "measuring.md", "python_loops.md", "quickstart.md"}
    assert not [p.name for p, b in PROGRAMS if "# prints" in b.source and not b.printed]


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
