"""The page of C++ programs beside their peers, from what benchmarks/cpp_peers.cpp prints."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

PRINTED = """GCC 12.2.0, xtensor 0.24.3
microseconds of an operation: case, Plait's threads, Plait, peers (ratio)
a(i) = v                 1        0.0123  loop 0.0010 (12.30)  xtensor 0.0100 (1.23)
a.set(v, i)              2        0.0123
histogram equalisation 10M 2    12345.0123  Eigen 1.0000 (0.50)
"""


def test_a_row_for_every_line_with_its_peers_in_their_columns(monkeypatch, tmp_path):
    if not (ROOT / "benchmarks").exists():
        pytest.skip("without the sources")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import cpp_page

    rows = ["| a(i) = v | 1 | 0.0123 | 0.001 (12.30) | 0.01 (1.23) | - |", "| a.set(v, i) | 2 | 0.0123 | - | - | - |", "| histogram equalisation 10M | 2 | 12,345 | - | - | 1 (0.50) |"]
    assert list(cpp_page.table(PRINTED)) == rows
    program = tmp_path / "program"
    program.write_text(f"#!{sys.executable}\nprint({PRINTED!r}, end='')\n")
    program.chmod(0o755)
    page = cpp_page.page(str(program))
    assert "GCC 12.2.0, xtensor 0.24.3, `-O3 -march=native`" in page and page.endswith("\n".join(rows) + "\n")
