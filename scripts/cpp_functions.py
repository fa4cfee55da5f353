"""Writes include/plait/functions.hpp: the elementwise functions and operators in C++, out of the operation table and its descriptions."""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADER = ROOT / "include" / "plait" / "functions.hpp"
WIDTH = 100

# Other names, and operators, of functions of the table.
ALIASES = {
    "abs": "absolute", "conj": "conjugate", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "bitwise_not": "invert", "nearbyint": "rint",
    "atan2": "arctan2", "pow": "power", "mod": "remainder", "true_divide": "divide", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
}
BINARY_OPERATORS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "remainder", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "left_shift", ">>": "right_shift", "==": "equal", "!=": "not_equal",
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "&&": "logical_and", "||": "logical_or",
}
UNARY_OPERATORS = {"-": "negative", "+": "positive", "~": "invert", "!": "logical_not"}
PARAMETERS = {"where": ("condition", "a", "b"), "clip": ("a", "low", "high"), "arctan2": ("y", "x"), "atan2": ("y", "x")}
# Of complex arrays these are views in the facade, and its fma is NumPy's two roundings.
NOT_HERE = {"real", "imag", "fma"}
NOT_NUMPYS = {"erf": "C++'s std::erf", "erfc": "C++'s std::erfc"}
OPERANDS = {
    "ALL_TYPES": "every dtype",
    "NUMBERS": "numbers, with bools as int8",
    "INTS": "integers, with bools as int8",
    "BOOL_INTS": "bools and integers",
    "REALS": "real numbers, with bools as int8",
    "BOOL_REALS": "bools and real numbers",
    "FLOATS": "real numbers, with integers as floats",
    "INEXACT": "real and complex numbers, with integers as floats",
    '"dD"': "real and complex numbers, as float64 or complex128",
}


class Function:
    """A row of the operation table."""

    def __init__(self, row, descriptions):
        self.id, self.name, arity, loops, self.rule, flags = row
        self.arity = int(arity)
        self.text = descriptions.get(self.name)
        self.operands = "numbers, but no bools" if "kNoBoolLoop" in flags else OPERANDS.get(loops)

    def dtypes(self):
        if self.rule == "Special":
            given = {"where": "Takes bools as condition and every dtype, and gives the dtype that a and b promote to", "divide": "Takes numbers, and gives the dtype that they promote to, float64 for integers"}[self.name]
        else:
            same = "that dtype" if self.arity == 1 else "the dtype that they promote to"
            made = {"Same": same, "Bool": "bools", "Real": "that dtype, or the real one of complex numbers", "UInt8": "uint8"}[self.rule]
            given = f"Takes {self.operands}, and gives {made}"
        return given + "."

    def source(self):
        if self.name in NOT_NUMPYS:
            return NOT_NUMPYS[self.name] + "."
        return f"numpy.{self.name}: https://numpy.org/doc/stable/reference/generated/numpy.{self.name}.html"


def functions():
    """{name: Function} in the order of the table."""
    core = ROOT / "src" / "core"
    descriptions = dict(re.findall(r'^PLAIT_DESCRIPTION\((\w+), "(.*)"\)$', (core / "descriptions.def").read_text(), re.MULTILINE))
    rows = re.findall(r'^PLAIT_OP\((\w+), "(\w+)", (\d), ("\w+"|\w+), (\w+), \S+, \w+, \w+, (.*)\)$', (core / "ops.def").read_text(), re.MULTILINE)
    found = {f.name: f for f in (Function(row, descriptions) for row in rows) if f.name not in NOT_HERE}
    if without := [f.name for f in found.values() if not f.text]:
        sys.exit(f"src/core/descriptions.def does not say what these functions compute: {' '.join(without)}")
    if unknown := descriptions.keys() - found.keys():
        sys.exit(f"src/core/descriptions.def describes what is no function: {' '.join(sorted(unknown))}")
    return found


def comment(*lines):
    return "\n".join(part for line in lines for part in textwrap.wrap(line, WIDTH, initial_indent="/// ", subsequent_indent="/// ", break_long_words=False, break_on_hyphens=False))


def declaration(name, f, *lines):
    """The function and what refuses other operands, where compilers show why."""
    types = "ABC"[: f.arity]
    names = PARAMETERS.get(name, ("a", "b", "c"))[: f.arity]
    heads, listed = "".join(f"class {t}, " for t in types), ", ".join(types)
    parameters = ", ".join(f"{t}&& {n}" for t, n in zip(types, names))
    call = f"  return detail::apply<detail::fn::{f.id}>("
    forwarded = ", ".join(f"std::forward<{t}>({n})" for t, n in zip(types, names))
    whole = f"{call}{forwarded});"
    if len(whole) > WIDTH:
        head, _, last = forwarded.rpartition(", ")
        whole = f"{call}{head},\n{' ' * len(call)}{last});"
    return "\n".join([
        comment(*lines),
        f"template <{heads}detail::if_operands<detail::fn::{f.id}, {listed}> = 0>",
        f"auto {name}({parameters}) {{",
        whole,
        "}",
        f"template <{heads}class Why = detail::if_refused<detail::fn::{f.id}, {listed}>>",
        f"void {name}({parameters}) = delete;",
    ])


def header():
    table = functions()
    text = [
        "// NumPy's elementwise functions and the operators. Operands are arrays and C++ scalars, which\n"
        "// broadcast; what they refuse does not compile, or is a DTypeError where dtypes are known at run\n"
        "// time only. Written by scripts/cpp_functions.py from src/core/ops.def and descriptions.def.\n"
        '#pragma once\n#include "plait/array.hpp"\n\nnamespace plait {'
    ]
    text += [declaration(f.name, f, f.text, f.dtypes(), f.source()) for f in table.values()]
    text += [declaration(name, table[of], table[of].text, f"Another name of {of}().") for name, of in ALIASES.items()]
    for symbol, of in [*BINARY_OPERATORS.items(), *UNARY_OPERATORS.items()]:
        text.append(declaration(f"operator{symbol}", table[of], table[of].text, f"The operator of {of}()."))
    return "\n\n".join([*text, "}  // namespace plait"]) + "\n"


if __name__ == "__main__":
    HEADER.write_text(header(), encoding="utf-8")
    sys.stdout.write(f"wrote {HEADER}\n")
