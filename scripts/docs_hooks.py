"""What MkDocs makes of pages that are written to be read in the repository, too."""

import pathlib
import posixpath
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[1]


def on_files(files, config):
    """The README is the first page, and the styles and what lets search run without a server go along."""
    text = (ROOT / "README.md").read_text().replace("](docs/", "](")
    files.append(File.generated(config, "index.md", content=text))
    files.append(File.generated(config, "assets/javascripts/iframe-worker.js", content=(ROOT / "scripts" / "docs_worker.js").read_text()))
    files.append(File.generated(config, "assets/docs.css", content=(ROOT / "scripts" / "docs.css").read_text()))
    return files


def on_page_markdown(markdown, page, **_):
    """Links to sources lead out of the site: their text stays."""
    folder = posixpath.dirname(page.file.src_uri)

    def inside(link):
        target = link[2].partition("#")[0]
        found = not target or "://" in target or posixpath.normpath(posixpath.join(folder, target)) in PAGES
        return link[0] if found else link[1]

    return re.sub(r"\[([^\]\n]+)\]\(([^)\s]+)\)", inside, markdown)


def on_page_content(html, **_):
    """Long names in cells of tables may break behind a mark, and not amid a word."""

    def breaking(code):
        return re.sub(r"(?<=[\w)\]])([_./,(=\[])(?=[\w'])", r"\1<wbr>", code[0])

    def cell(found):
        return re.sub(r"(?<=<code>)[^<]*(?=</code>)", breaking, found[0])

    return re.sub(r"<t[dh][ >].*?</t[dh]>", cell, html, flags=re.S)


PAGES = {"index.md", *(p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*") if p.is_file())}
