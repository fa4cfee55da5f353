"""Writes docs/cpp_api/, the reference of the C++ library, from the comments of its headers. --check: whether the pages are up to date."""

import itertools
import re
import sys

from cpp_headers import HEADERS, declarations

PAGES = HEADERS.parents[1] / "docs" / "cpp_api"
# Each page has the declarations of its headers, as NumPy's reference groups them.
SECTIONS = {
    "arrays": ("Arrays", ["array", "tensor", "any_array", "detail/array_view", "detail/selection", "detail/element_reference", "detail/iterator", "dtype", "detail/promotion", "shape", "error", "linalg_error"]),
    "creation": ("Creation", ["build", "grids"]),
    "elementwise": ("Elementwise functions", ["functions", "math", "special", "bits", "ufunc", "vectorize"]),
    "reductions": ("Reductions and statistics", ["reduce", "scan", "statistics", "norms", "compare"]),
    "sorting": ("Sorting, sets, groups, labels", ["sorting", "group", "label"]),
    "shapes": ("Shapes, joining, rearranging", ["view", "join", "rearrange"]),
    "indexing": ("Indexing and selection", ["indexing", "choose"]),
    "linalg": ("Linear algebra and polynomials", ["linalg", "polynomial"]),
    "fft": ("Fourier transforms and windows", ["fft", "windows"]),
    "random": ("Random numbers", ["random", "random_engine"]),
    "networks": ("Networks", ["nn"]),
    "files": ("Files, memory, printing", ["memory", "npz", "print"]),
    "running": ("Running, settings, devices", ["explain", "compile", "cancel", "configure", "device", "export_program", "load", "xtensor"]),
}


def grouped(found):
    """[(path, its declarations)], overloads together, in the order of the headers; members are with their class."""
    groups = {}
    for d in found:
        groups.setdefault(d.path, []).append(d)
    return groups


def without_comment(found):
    """Functions and classes that no comment speaks about: overloads may share that of the one right before them."""
    return [
        f"{d.header}.hpp:{d.line}: {d.path}"
        for before, d in itertools.pairwise([None, *found])
        if d.kind != "alias" and not d.text and not (before and before.path == d.path)
    ]


def prose(text):
    """A comment as Markdown: code in backticks stays, all other signs are themselves, NumPy's names are links."""
    text = re.sub(r"(numpy\.[\w.]+): (https?:\S+)", r"\1", " ".join(text.split()))
    parts = re.split(r"(`[^`]*`)", text)
    for i in range(0, len(parts), 2):
        part = parts[i].replace("&", "&amp;").replace("<", "&lt;").replace("*", "\\*")
        part = re.sub(r"(?<!\w)_(?!\w)", r"\\_", part)
        parts[i] = re.sub(r"(?<=\()(numpy(?:\.\w+)+)(?=\))|(?<=\. )(numpy(?:\.\w+)+)$", lambda m: f"[{m[0]}](https://numpy.org/doc/stable/reference/generated/{m[0]}.html)", part)
    return "".join(parts)


def entry(overloads):
    """Signatures, each with its text below; overloads that share a text stand in one block."""
    text, signatures = [], []
    for d, following in zip(overloads, [*overloads[1:], None]):
        signatures.append(d.signature)
        if following is None or following.text:
            text.append("```cpp\n" + "\n".join(signatures) + "\n```")
            signatures = []
            said = next((o.text for o in reversed(overloads[: overloads.index(d) + 1]) if o.text), "")
            text.append(prose(said))
    return [t for t in text if t]


def title(path):
    return "any_array" if path == "array<void>" else path


def anchor(path):
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title(path)).strip().lower())


def is_operator(d):
    return d.kind == "function" and d.name.startswith("operator")


def page(name, groups):
    heading, headers = SECTIONS[name]
    classes = {path for path, found in groups.items() if found[0].kind == "class"}
    included = ", ".join(f"`plait/{h}.hpp`" for h in headers if not h.startswith("detail/"))
    text = [f"# {heading}", f"In `namespace plait`, of {included}. Written by `python scripts/cpp_reference.py`; [all names](index.md)."]
    for path, found in groups.items():
        if found[0].scope in classes or is_operator(found[0]):
            continue
        text += [f"### `{title(path)}`", *entry(found)]
        for member, overloads in groups.items():
            if overloads[0].scope == path and path in classes:
                text += entry(overloads)
    if operators := [d for found in groups.values() for d in found if is_operator(d)]:
        rows = [f"{re.sub('^template <.*?> ', '', d.signature)}  // {' '.join(d.text.split())}" for d in operators]
        text += ["### `Operators`", "\n".join(["```cpp", *rows, "```"])]
    return "\n\n".join(text) + "\n"


def pages():
    """{file name: text} of the reference."""
    made = {}
    index = [
        "# Reference of C++",
        "Every public name, written by `python scripts/cpp_reference.py` from the headers. [C++](../cpp.md) shows how they are used, and [names in C++](../cpp_names.md) goes from NumPy's and xtensor's.\n"
        "In signatures `like<A>` is an array of the element type of `A`, and `auto` an array of the dtype that the text names, or of the one that the operands promote to.",
    ]
    for name, (heading, headers) in SECTIONS.items():
        # Of any_array the class says it, and names that linalg has from outside stand there.
        groups = grouped(d for d in declarations(headers) if d.path != "any_array" and not d.signature.startswith("using plait::"))
        made[f"{name}.md"] = page(name, groups)
        classes = {path for path, found in groups.items() if found[0].kind == "class"}
        names = [f"[`{title(p)}`]({name}.md#{anchor(p)})" for p, found in groups.items() if found[0].scope not in classes and not is_operator(found[0])]
        index += [f"## [{heading}]({name}.md)", ", ".join(names)]
    made["index.md"] = "\n\n".join(index) + "\n"
    return made


if __name__ == "__main__":
    if missing := without_comment(declarations()):
        sys.exit("no /// comment says what these are:\n" + "\n".join(missing))
    stale = [name for name, text in pages().items() if not (PAGES / name).exists() or (PAGES / name).read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        if stale:
            sys.exit(f"stale: {' '.join(stale)}; python scripts/cpp_reference.py writes docs/cpp_api/")
    else:
        PAGES.mkdir(exist_ok=True)
        for name, text in pages().items():
            (PAGES / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {PAGES}\n")
