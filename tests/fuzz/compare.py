"""Compares a record of Plait with NumPy's."""
import re

import numpy

import tolerance
from tolerance import EXACT

FIELDS = ("kind", "dtype", "shape", "strides", "writeable")


def message(text):
    """Error texts, less what may differ: the module's name, addresses, and the type of a scalar that is pending."""
    text = re.sub(r"\bplait\b", "numpy", text)
    text = re.sub(r"'numpy\.(lazy_scalar|bool|[a-z]+\d+)'", "'numpy.generic'", text)
    return re.sub(r"0x[0-9a-f]+", "0x", text).strip()


def value(name, got, want, tol):
    if got[0] != want[0]:
        return "kind", f"{name}: got {got[:3]}, want {want[:3]}"
    if want[0] == "python":
        if got[1:] != want[1:] and tol.exact:
            if want[1] in ("tuple", "list") and got[1] == want[1] and got[2] == want[2]:
                for i, (g, w) in enumerate(zip(got[3], want[3])):
                    if problem := value(f"{name}[{i}]", g, w, tol):
                        return problem
                return None
            if got[1] == want[1] and want[1] in ("float", "complex"):
                g, w = (numpy.array(complex(x[2].strip("()"))) for x in (got, want))
                text = tolerance.differs(g, w, tol)
                return ("value", f"{name} ({want[1]}): {text}") if text else None
            return "value", f"{name}: got {got[1:]}, want {want[1:]}"
        return None
    for i, field in enumerate(FIELDS):
        if got[i] != want[i]:
            return field, f"{name}: {field} is {got[i]}, want {want[i]} ({want[1]} {want[2]})"
    if got[5] == want[5]:
        return None
    g, w = (numpy.frombuffer(x[5], want[1]).reshape(want[2]) for x in (got, want))
    text = tolerance.differs(g, w, tol)
    return ("value", f"{name} ({want[1]} {want[2]}): {text}") if text else None


def compare(got, want, tols):
    """(category, text) of the first difference, or None."""
    for i in sorted(set(got["errors"]) | set(want["errors"])):
        g, w = got["errors"].get(i), want["errors"].get(i)
        if g is None or w is None:
            return "error", f"line {i + 1}: got {g}, want {w}"
        if g[0] != w[0]:
            return "error", f"line {i + 1}: got {g}, want {w}"
        if message(g[1]) != message(w[1]):
            return "message", f"line {i + 1}: got {g}, want {w}"
    if "broken" in got:
        return "error", f"reading the results: {got['broken']}"
    for name, w in want["values"].items():
        g = got["values"].get(name)
        if g is None:
            return "value", f"{name} is missing"
        if problem := value(name, g, w, tols.get(name, EXACT)):
            return problem
    if got["shares"] != want["shares"]:
        return "aliasing", f"shared memory: got {got['shares']}, want {want['shares']}"
    for name, w in want["after"].items():
        tol = EXACT if name in want["written"] else tolerance.SKIP
        if problem := value(name, got["after"][name], w, tol):
            return "aliasing", "after writing to every variable, " + problem[1]
    return None


def same_bits(a, b, tols):
    """The first variable whose bits differ between two records of one program, or None."""
    if "broken" in a or "broken" in b:
        return None
    for name, x in a["values"].items():
        y = b["values"].get(name)
        open_value = tols.get(name, EXACT).open  # such as casts of NaN to an integer
        if x[0] in ("array", "scalar") and y is not None and x != y and not open_value:
            g, w = (numpy.frombuffer(v[5], v[1]) for v in (x, y))
            if g.shape != w.shape or g.dtype != w.dtype:
                return "tiers", f"{name}: {x[:3]} and {y[:3]}"
            text = tolerance.differs(g, w, EXACT)
            if text:
                return "tiers", f"{name}: {text}"
    return None
