"""Writes the documentation's Python programs into a folder, for type checkers: python scripts/snippets.py FOLDER.

A block that imports NumPy or Plait begins a program; those after it on the page go on with it. Left out are pages of other libraries, whose stubs would be checked."""

import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "python"))
from pages import ROOT, blocks

OTHERS = {"libraries.md", "dask.md"}


def programs(page):
    """The sources of a page. Blocks before the first of these are parts of no program."""
    found = []
    for block in blocks(page):
        if re.search(r"^import (numpy|plait)( as|,|$)", block.source, re.M):
            found.append(block.source)
        elif found:
            found[-1] += block.source
    return found


def write(folder):
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if page.name not in OTHERS:
            for i, source in enumerate(programs(page)):
                (folder / f"{page.stem.replace('-', '_')}_{i}.py").write_text(source)


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
