"""Programs on pages of the documentation, and what the pages say that they print."""

import dataclasses
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Block:
    title: str  # of the section
    source: str
    printed: str | None  # the text block that follows, or "# prints ..." behind calls of print; None: the page does not say
    rest: bool  # whether it prints more after that, which the page does not show


def blocks(page):
    """The Python programs of a page, in order."""
    text, found = pathlib.Path(page).read_text(), []
    for m in re.finditer(r"```python\n(.*?)```(?:\s+```text\n(.*?)```)?", text, re.S):
        title = re.findall(r"^#+ (.*)$", text[: m.start()], re.M)[-1]
        said = "".join(f"{c}\n" for c in re.findall(r"^print\(.*\) +# prints (.*)$", m[1], re.M))
        rest = len(re.findall(r"^print\(", m[1], re.M)) > said.count("\n")
        found.append(Block(title, m[1], m[2] or said or None, not m[2] and rest))
    return found


def program(page):
    """The Python programs of a page, which continue each other, as one."""
    parts = blocks(page)
    printed = "".join(b.printed or "" for b in parts)
    return Block(pathlib.Path(page).stem, "".join(b.source for b in parts), printed or None, any(b.rest for b in parts))


def drawn(page):
    """{name of a picture: the program that saves it} of a page that shows it."""
    text = pathlib.Path(page).read_text()
    saved = [(name, b) for b in blocks(page) for name in re.findall(r'\.save\("([\w.]+)"\)', b.source)]
    return {name: b for name, b in saved if f"images/pages/{name})" in text}


def boxes(svg):
    """The names of what a picture of a plan has in its boxes."""
    names = re.findall(r'font-weight="bold"[^>]*>([^<]*)<', pathlib.Path(svg).read_text())[1:]
    return [re.sub(r"\d+", "", name) for name in names]


def run(block, folder):
    """Runs the program in a process of its own; what it prints."""
    script = folder / "program.py"
    script.write_text(block.source)
    p = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=100, cwd=folder)
    assert p.returncode == 0, p.stderr
    return p.stdout
