"""The documentation is what its programs write, its examples print what it says, and every page can be reached."""

import re

import numpy as np
import pytest
from pages import ROOT, blocks, boxes, drawn, program, run

DOCS = ROOT / "docs"
PLAIN = [
    "quickstart.md",
    "cheatsheet.md",
    "gallery.md",
    "migration.md",
    "messages.md",
    "building.md",
    "faq.md",
    "measuring.md",
    "libraries.md",
    "dask.md",
    "differences.md",
    "python_loops.md",
]


def test_api_is_what_docstrings_say(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import api

    assert api.page() == api.PAGE.read_text(), "python scripts/api.py writes the page"
    assert {n for names in api.SECTIONS.values() for n in names} == api.examples().keys() - {"Begin", "Command lines"}
    assert api.own_names() <= {n.partition(".")[0] for names in api.SECTIONS.values() for n in names}


@pytest.mark.skipif(not np.__version__.startswith("2.4."), reason="the page has NumPy 2.4's names")
def test_names_in_cpp_are_what_headers_declare(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import cpp_names

    page, lost = cpp_names.page()
    assert not lost, "neither a C++ name nor a reason"
    assert page == cpp_names.PAGE.read_text(), "python scripts/cpp_names.py writes the page"
    assert {"polyval", "linalg::cond", "fft::hfft", "engine.poisson", "array.copy"} <= cpp_names.declared()
    assert cpp_names.spelled("no_such_name", cpp_names.declared(), {"no_such_name": "nowhere(a)"}) is None


def test_reference_of_cpp_is_what_comments_say(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import cpp_functions
    import cpp_headers
    import cpp_reference

    assert cpp_functions.header() == cpp_functions.HEADER.read_text(), "python scripts/cpp_functions.py writes the header"
    found = cpp_headers.declarations()
    assert cpp_reference.without_comment(found) == []
    assert {d.header for d in found} == {h for _, headers in cpp_reference.SECTIONS.values() for h in headers}
    assert cpp_reference.pages() == {p.name: p.read_text() for p in cpp_reference.PAGES.iterdir()}, "python scripts/cpp_reference.py writes the pages"
    navigation = (ROOT / "scripts" / "docs.yml").read_text()
    assert all(f"cpp_api/{name}" in navigation for name in cpp_reference.pages())
    assert {"sum", "operator+", "linalg::svd", "random::engine::poisson", "array::reshape", "array_view", "promote"} <= {d.path for d in found}


def test_comments_of_cpp_are_found_and_missed(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import cpp_headers
    import cpp_reference

    text = """
namespace plait {
namespace detail {
int hidden();
}  // namespace detail
/// The sum of
/// both.
template <class A, detail::if_array<A> = 0>
auto f(const A& a, extents axes = {}) {
  return '}';  // {
}
double f(double x);
class C {
 public:
  C() : a_{1} {}
  void bare(int n) const { use(n); }

 private:
  int a_;
};
}  // namespace plait
"""
    found = cpp_headers.read("h", text)
    assert [(d.kind, d.path, d.signature, d.text) for d in found] == [
        ("function", "f", "template <class A> auto f(const A& a, extents axes = {})", "The sum of\nboth."),
        ("function", "f", "double f(double x)", ""),
        ("class", "C", "class C", ""),
        ("method", "C::bare", "void bare(int n) const", ""),
    ]
    assert cpp_reference.without_comment(found) == ["h.hpp:13: C", "h.hpp:16: C::bare"]


@pytest.mark.skipif(not np.__version__.startswith("2.4."), reason="comments have NumPy 2.4's names")
def test_comments_of_cpp_name_what_numpy_has(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import cpp_headers

    named = {n for d in cpp_headers.declarations() for n in re.findall(r"(?<![/\w.])numpy((?:\.[a-z_]\w*)+)(?![\w/])", d.text)}
    assert len(named) > 300 and not [n for n in named if not found_in(np, n)]


def found_in(owner, path):
    for name in path.split(".")[1:]:
        owner = getattr(owner, name, None)
    return owner is not None


TUTORIALS = sorted(p for p in (DOCS / "tutorials").glob("*.md") if p.stem != "index")
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "tutorials").glob("*.md"))]

# The recipes for other libraries have tests of their own, which install these.
PROGRAMS = [
    (p, b)
    for p in [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
    if p.name not in ("libraries.md", "dask.md", "cheatsheet.md", "api.md")
    for b in blocks(p)
]


@pytest.mark.parametrize(
    "block", [b for p, b in PROGRAMS if b.printed is not None or p.name == "README.md"], ids=lambda b: b.title.replace(" ", "-")
)
def test_examples_print_what_the_page_says(block, tmp_path):
    printed = run(block, tmp_path)
    assert block.printed is None or printed == block.printed or (block.rest and printed.startswith(block.printed))


def test_what_examples_print_is_found():
    assert {p.name for p, b in PROGRAMS if b.printed} == {"README.md", "export.md", "measuring.md", "python_loops.md", "quickstart.md"}
    assert not [p.name for p, b in PROGRAMS if "# prints" in b.source and not b.printed]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda p: p.stem)
def test_tutorials_print_and_draw_what_the_page_shows(page, tmp_path):
    Image = pytest.importorskip("PIL.Image")
    pytest.importorskip("sklearn")
    whole = program(page)
    assert whole.printed and run(whole, tmp_path) == whole.printed
    shown = {p for p in links(page) if p.suffix == ".png"}
    assert {p.name for p in shown} == {p.name for p in tmp_path.glob("*.png")} != set()
    for kept in shown:
        theirs, ours = (np.asarray(Image.open(p).convert("RGB"), float) for p in (kept, tmp_path / kept.name))
        # Pillow's versions choose other palettes.
        assert theirs.shape == ours.shape and abs(theirs - ours).mean() < 8, "python scripts/tutorials.py makes the pictures"
        assert kept.stat().st_size < 100_000


DRAWN = [(name, b) for p in sorted(DOCS.glob("*.md")) for name, b in drawn(p).items()]


def test_pictures_of_pages_are_those_that_their_programs_save():
    assert {p.name for page in sorted(DOCS.glob("*.md")) for p in links(page) if p.parent.name == "pages"} == {
        p.name for p in (DOCS / "images" / "pages").iterdir()
    }
    assert {name for name, _ in DRAWN} == {"plan.svg", "steps.svg", "precision.png"}


@pytest.mark.parametrize("name, block", DRAWN, ids=[name for name, _ in DRAWN])
def test_programs_draw_what_the_page_shows(name, block, tmp_path):
    Image = pytest.importorskip("PIL.Image")
    kept = DOCS / "images" / "pages" / name
    run(block, tmp_path)
    if kept.suffix == ".svg":
        assert boxes(kept) == boxes(tmp_path / name) != []
    else:
        theirs, ours = (np.asarray(Image.open(p), int) for p in (kept, tmp_path / name))
        assert theirs.shape == ours.shape and abs(theirs - ours).max() <= 1
    assert kept.stat().st_size < 40_000


def test_examples_of_the_api_are_a_program(tmp_path):
    whole = program(DOCS / "api.md")
    assert run(whole, tmp_path) == whole.printed
    assert whole.printed.count("\n") > 25


def test_cheat_sheet_is_a_program(tmp_path):
    printed = run(program(DOCS / "cheatsheet.md"), tmp_path)
    assert printed == "numpy (1000,)\n1 region\nTrue\nfloat32\n"
    assert {p.name for p in tmp_path.iterdir()} >= {"plan.svg", "trace.json"}


def links(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.S)
    return {(page.parent / m).resolve() for m in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", text)}


def test_every_tutorial_is_in_their_index():
    assert links(DOCS / "tutorials" / "index.md") >= set(TUTORIALS)


def test_every_page_is_linked_from_the_readme():
    assert links(ROOT / "README.md") >= set(DOCS.glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    assert not {str(p) for p in links(page) if not p.exists()}


@pytest.mark.parametrize("page", [ROOT / "README.md", *(DOCS / p for p in PLAIN), *TUTORIALS], ids=lambda p: p.name)
def test_sentences_are_short(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    parts = re.split(r"\n\s*\n|\n(?=[*|] )| \| ", text)
    sentences = [s for part in parts for s in re.split(r"(?<=[.!?])\s+", part)]
    assert not [s for s in sentences if len(s.split()) >= 30]
