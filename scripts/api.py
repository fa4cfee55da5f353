"""Writes docs/api.md, Plait's own names in Python, from their docstrings: what NumPy has is NumPy's documentation's."""

import inspect
import pathlib
import re
import sys

import numpy

import plait
import plait.array_api
import plait.dask
import plait.nn

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "api.md"
EXAMPLES = pathlib.Path(__file__).with_name("api_examples.md")
SECTIONS = {
    "Running NumPy code": ["jit", "ReplayWarning", "PlaitPerformanceWarning", "evaluate"],
    "Functions that C and NumPy call": ["cfunc", "guvectorize"],
    "Seeing what happens": ["explain", "timeit", "load_ipython_extension", "profile", "trace", "stats", "coverage"],
    "Ahead of time": ["export", "load", "Error"],
    "Memory": ["borrow", "blocks", "ndarray.to_numpy", "trim", "clear_cache"],
    "Settings": ["config", "get_num_threads", "set_num_threads", "get_default_dtype", "set_default_dtype", "default_dtype"],
    "Devices": ["device", "device.synchronize", "devices", "current_device", "DeviceError", "DeviceMismatchError"],
    "The array API standard": ["array_api"],
    "Networks": ["nn.attention", "nn.conv", "nn.pool", "nn.linear", "nn.quantize", "nn.dequantize"],
    "Dask": ["dask.from_array", "dask.fuse"],
}


def own_names():
    """Public names of the package that NumPy does not have."""
    return {n for n in dir(plait) if not n.startswith("_") and not hasattr(numpy, n)}


def found(name):
    value = plait
    for part in name.split("."):
        value = getattr(value, part)
    return value


def heading(name):
    value = found(name)
    if not callable(value) or (isinstance(value, type) and issubclass(value, Exception)):
        return f"plait.{name}"
    parameters = [p for p in inspect.signature(value).parameters.values() if p.name != "self"]
    return f"plait.{name}{inspect.Signature(parameters)}"


def paragraphs(doc):
    """Markdown of a docstring: `name: ...` becomes an item of a list, what it returns, raises and comes from a last paragraph. Of a
    function that NumPy has, too, it is what Plait's does beside."""
    own = inspect.cleandoc(doc).partition("In Plait: ")[2].partition("\n\n")[0]
    first, _, rest = re.sub(r"(?<=\.) ", "\n", own, count=1).partition("\n") if own else inspect.cleandoc(doc).partition("\n")
    text = " ".join(rest.split())
    starts = [m.start() for m in re.finditer(r"(?:^|(?<=[.;] )|(?<=\), ))[a-z_]\w*(?:, \w+)*: ", text)]
    before, items, after = text[: starts[0]] if starts else text, [], []
    for a, b in zip(starts, [*starts[1:], len(text)]):
        names, _, meaning = text[a:b].partition(": ")
        meaning, *last = re.split(r"(?<=\.) (?=(?:Returns|Raises|Source:) )", meaning.strip())
        items.append(f"* `{names.replace(', ', '`, `')}`: {meaning.rstrip(',;')}")
        after += last
    whole = "\n\n".join(filter(None, [first, before.strip(), "\n".join(items), " ".join(after)]))
    return re.sub(r"(?<![`\w.])(__\w+__)", r"`\1`", whole)  # which Markdown takes for bold


def examples():
    """{name: its example}, and under "Command lines" what is called from a shell."""
    _, *parts = re.split(r"^## (.+)\n", EXAMPLES.read_text(), flags=re.M)
    return {name: text.strip() for name, text in zip(parts[::2], parts[1::2])}


def page():
    shown = examples()
    text = [
        "# Python's API",
        "What Plait has beside NumPy's names, written by `python scripts/api.py` from the docstrings. Everything else is called as in NumPy;\n"
        "[differences](differences.md) lists where it behaves otherwise, and [configuration](configuration.md) the settings. The examples continue each other: the page is one program, and begins with these lines.",
    ]
    text.append(shown["Begin"])
    for title, names in SECTIONS.items():
        text.append(f"## {title}")
        for name in names:
            text += [f"### `{heading(name)}`", paragraphs(found(name).__doc__), shown[name]]
            if name == "config":
                text.append("Attributes: " + ", ".join(f"`{attribute}`" for attribute in dir(plait.config)) + ".")
    text += ["## Command lines", shown["Command lines"]]
    return "\n\n".join(text) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE}\n")
