#!/usr/bin/env python3
"""Writes tests/unit/core/golden_promotion.inc from the installed NumPy (2.x).

Every string holds one result dtype a character ('.' where NumPy raises), for operand dtypes in the
order of CODES: one character for each dtype (unary), or row by row for each pair (binary; for where
the two values, for clip the array and both bounds). Weak strings are dtype by dtype, then weak
bool, int, float, complex, then strong-first, weak-first.

Run: python scripts/generate_promotion_golden.py
"""
import itertools
import pathlib
import re
import warnings

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODES = "?bBhHiIlLefdFD"
WEAK = (True, 1, 1.0, 1j)


def operation_rows():
    """(OpId name, ufunc name, arity) of every row in ops.def."""
    text = (ROOT / "src/core/ops.def").read_text()
    rows = re.findall(r'^PLAIT_OP\((\w+), "(\w+)", (\d)', text, re.M)
    return [(op, name, int(arity)) for op, name, arity in rows]


def function(name):
    if name == "clip":
        return lambda x, bound: np._core.umath.clip(x, bound, bound)
    if name == "where":
        return lambda x, y: np.where(np.ones(1, bool), x, y)
    return getattr(np, name)


def result(f, *operands):
    try:
        return f(*operands).dtype.char
    except (TypeError, OverflowError):
        return "."


def one(code):
    return np.ones(1, code)


def main():
    warnings.simplefilter("ignore")
    lines = [
        f"// Written by scripts/generate_promotion_golden.py from NumPy {np.__version__}.",
        "// clang-format off",
    ]
    table = "".join(np.promote_types(a, b).char for a, b in itertools.product(CODES, CODES))
    lines.append(f'constexpr std::string_view kPromoteTypes = "{table}";')
    for casting in ("safe", "same_kind"):
        bits = "".join("01"[np.can_cast(a, b, casting)] for a, b in itertools.product(CODES, CODES))
        lines.append(f'constexpr std::string_view kCanCast_{casting} = "{bits}";')
    lines.append("constexpr GoldenOp kGoldenOps[] = {")
    for op, name, arity in operation_rows():
        if name in ("real", "imag"):  # Not ufuncs: they return a view or the array itself.
            continue
        f = function(name)
        if arity == 1:
            strong = "".join(result(f, one(a)) for a in CODES)
            weak = ""
        else:
            strong = "".join(result(f, one(a), one(b)) for a, b in itertools.product(CODES, CODES))
            weak = "".join(
                result(f, one(a), w) + result(f, w, one(a)) for a, w in itertools.product(CODES, WEAK)
            )
        lines.append(f'    {{OpId::{op}, "{strong}", "{weak}"}},')
    lines.append("};")
    path = ROOT / "tests/unit/core/golden_promotion.inc"
    path.write_text("\n".join(lines) + "\n")
    print(f"{path.relative_to(ROOT)}: {len(lines)} lines")


if __name__ == "__main__":
    main()
