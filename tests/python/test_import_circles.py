"""scripts/import_circles.py: what it finds of circles, and that the package has none."""

import importlib.util
import pathlib

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "import_circles.py"
spec = importlib.util.spec_from_file_location("import_circles", SCRIPT)
import_circles = importlib.util.module_from_spec(spec)
spec.loader.exec_module(import_circles)


def test_circles_are_found():
    graph = {"a": ["b"], "b": ["c", "d"], "c": ["a"], "d": ["e"], "e": [], "f": ["f"]}
    assert import_circles.circles(graph) == [["a", "b", "c"], ["f"]]


def test_imports_within_functions_count(tmp_path, monkeypatch):
    (tmp_path / "p").mkdir()
    file = tmp_path / "p" / "a.py"
    file.write_text("from . import b\ndef f():\n    from .c import g\n    import p.d\n")
    monkeypatch.setattr(import_circles, "root", tmp_path)
    assert sorted(import_circles.imported(file, "p.a", {"p.a", "p.b", "p.c", "p.d"})) == ["p.b", "p.c", "p.d"]


def test_the_package_has_none():
    assert import_circles.main() == 0
