"""Writes docs/coverage.md: which of NumPy's functions run without the fallback."""

import pathlib
import sys

from plait import _coverage

page = pathlib.Path(__file__).resolve().parents[1] / "docs" / "coverage.md"
if __name__ == "__main__":
    page.write_text(_coverage.page(_coverage.coverage()), encoding="utf-8")
    sys.stdout.write(f"wrote {page}\n")
