"""Runs the programs of docs/tutorials and keeps the pictures that they save, which the pages show: python scripts/tutorials.py [NAME...]"""

import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "python"))
from pages import program, run  # noqa: E402

PICTURES = ROOT / "docs" / "images" / "tutorials"


def main(*names):
    for page in sorted((ROOT / "docs" / "tutorials").glob("*.md")):
        if page.stem == "index" or (names and page.stem not in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            print(f"{page.stem}:", run(program(page), pathlib.Path(folder)), sep="\n", flush=True)
            for picture in pathlib.Path(folder).glob("*.png"):
                (PICTURES / picture.name).write_bytes(picture.read_bytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
