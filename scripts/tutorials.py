"""Runs the programs of docs/tutorials, and those of other pages that save pictures, and keeps the pictures: python scripts/tutorials.py [PAGE...]"""

import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "python"))
from pages import drawn, program, run  # noqa: E402

IMAGES = ROOT / "docs" / "images"


def keep(title, block, kind):
    """Runs a program in a folder of its own, and copies the pictures that it saves there."""
    with tempfile.TemporaryDirectory() as folder:
        print(f"{title}:", run(block, pathlib.Path(folder)), sep="\n", flush=True)
        for picture in pathlib.Path(folder).glob("*.[ps][nv]g"):
            (IMAGES / kind / picture.name).write_bytes(picture.read_bytes())


def main(*names):
    for page in sorted((ROOT / "docs" / "tutorials").glob("*.md")):
        if page.stem != "index" and (not names or page.stem in names):
            keep(page.stem, program(page), "tutorials")
    for page in sorted((ROOT / "docs").glob("*.md")):
        for name, block in drawn(page).items() if not names or page.stem in names else ():
            keep(name, block, "pages")


if __name__ == "__main__":
    main(*sys.argv[1:])
