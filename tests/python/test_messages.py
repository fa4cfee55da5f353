"""Each message that only Plait has is in docs/messages.md."""

import ast
import builtins
import functools
import pathlib
import re
import sys
import sysconfig

import numpy
import plait
import pytest
from pages import ROOT

PAGE = (ROOT / "docs" / "messages.md").read_text()
FOLDERS = ("src", "tracer", "fusion", "codegen", "numpy_compat", "bindings")
DEVICES = r"throw (?:plait::)?Device(?:Mismatch)?Error\(\s*((?:\"[^\"]*\"\s*)+)"
LINES = r"\blog\(Log::(\w+),\s*(?:std::string\()?\"([^\"\\]{4,})"
# Python's, of modules that are not in one file with it everywhere.
PYTHONS = (
    "Python int too large to convert to C long", "cannot access local variable", "cannot access free variable", "factorial() not defined", "must be a non-negative integer",
    "isqrt() argument must be nonnegative", "tolerances must be non-negative", "math range error", "-inf + inf in fsum", "intermediate overflow in fsum",
    "maximum recursion depth exceeded", "unsupported format string passed to",
    "object has no attribute",
)  # fmt: skip
# NumPy's, which it makes of parts.
NUMPYS = (
    "argument for ", "cannot resize an array that references", "numpy._core.multiarray.flagsobj", "__array_ufunc__() takes a ufunc", "takes exactly 1 argument (0 given)",
    "no implementation found for",
)  # fmt: skip
# Never shown: what raises them is caught, or no program can reach it.
INSIDE = ("Plait arrays are restored by their constructor", "pickle knows these arrays")


def text_of(node):
    """The text of an expression, with ... for what is filled in; None: it is made elsewhere."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(v.value if isinstance(v, ast.Constant) else "..." for v in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return "".join(text_of(n) or "..." for n in (node.left, node.right))
    return None


def is_error(name, errors):
    return name in errors or (isinstance(getattr(builtins, name, None), type) and issubclass(getattr(builtins, name), Exception))


def raised(path):
    tree = ast.parse(path.read_text())
    own = {n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and "Error" in {getattr(b, "id", "") for b in n.bases}}
    for n in ast.walk(tree):
        if isinstance(n, ast.Raise) and isinstance(n.exc, ast.Call) and isinstance(n.exc.func, ast.Name) and n.exc.args:
            text = text_of(n.exc.args[0])
            if text and text.strip(".") and n.exc.func.id != "AssertionError" and is_error(n.exc.func.id, {"Error", *own}):
                yield text


@pytest.fixture(scope="module")
def words_of_others():
    """All bytes of NumPy and of Python's executable: a message that is in them is theirs."""
    numpys = [p for p in pathlib.Path(numpy.__file__).parent.rglob("*") if p.suffix in (".py", ".so") and "tests" not in p.parts]
    shared = pathlib.Path(sysconfig.get_config_var("LIBDIR") or "/", sysconfig.get_config_var("INSTSONAME") or "/")
    return b"".join(p.read_bytes() for p in [*numpys, pathlib.Path(sys.executable).resolve(), *([shared] if shared.is_file() else [])])


@functools.cache
def patterns():
    """What is in the first cells of the page's tables, as regular expressions."""
    cells = [line.split(" | ")[0] for line in PAGE.splitlines() if line.startswith("| `")]
    texts = [t for cell in cells for t in re.findall(r"`([^`]+)`", cell)]
    return [(t, re.compile(".*".join(re.escape(p) for p in t.split("...")), re.S)) for t in texts]


def explained(message):
    return any(p.fullmatch(message) for t, p in patterns() if len(t.replace("...", "").strip()) > 4)


def test_errors_of_python_modules_are_explained(words_of_others):
    found = {m for p in pathlib.Path(plait.__file__).parent.rglob("*.py") for m in raised(p)}
    assert len(found) > 100
    left = {m for m in found if not explained(m) and not any(t in m for t in (*PYTHONS, *NUMPYS, *INSIDE))}
    numpys = {m for m in left if max(m.split("..."), key=len).strip().encode() in words_of_others}
    assert numpys and not sorted(left - numpys)


def test_refusals_of_other_libraries_arrays_are_explained():
    files = (pathlib.Path(plait.__file__).with_name(name) for name in ("_foreign.py", "_foreign_libraries.py"))
    nodes = [n for file in files for n in ast.walk(ast.parse(file.read_text()))]
    made = [n.args[1] for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "Refused"]
    made += [n.value.elts[1] for n in nodes if isinstance(n, ast.Yield) and isinstance(n.value, ast.Tuple) and len(n.value.elts) == 3]
    found = {text for text in map(text_of, made) if text}
    assert len(found) > 12
    assert not sorted(m for m in found if not explained(f"... {m}"))


def sources():
    return [p.read_text() for folder in FOLDERS for end in ("*.cpp", "*.hpp") for p in (ROOT / folder).rglob(end)]


def test_errors_of_devices_are_explained():
    found = {"".join(re.findall(r'"([^"]*)"', m)) + "..." for text in sources() for m in re.findall(DEVICES, text)}
    assert len(found) > 15
    assert not sorted(m for m in found if not explained(m))


def test_lines_of_the_log_are_explained():
    found = {f"plait[{topic.lower()}] {text}" for source in sources() for topic, text in re.findall(LINES, source)}
    assert len(found) > 5
    assert not sorted(m for m in found if not explained(m + "...") and not explained(m))


def test_every_topic_of_the_log_has_a_row():
    topics = set(
        re.findall(
            r"`(\w+)`",
            re.search(r"\| `PLAIT_LOG` \| comma-separated: (.*?), or `all`", (ROOT / "docs" / "configuration.md").read_text())[1],
        )
    )
    assert topics == set(re.findall(r"\| `plait\[(\w+)\]", PAGE))


def test_the_index_has_no_message_twice():
    texts = [t for t, _ in patterns()]
    assert len(texts) == len(set(texts))
