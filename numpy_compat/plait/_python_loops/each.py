"""A Python function called with the elements of arrays, one after the other: the loop that does so, in machine code."""

import ast

import numpy

from .reading import definition
from .running import Loop

_PYTHONS = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
_EXACT = {numpy.dtype(t) for t in ("?", "i8", "f8")}  # what Python's numbers become without a warning
_codes = {}  # of functions: by what the loop is written like -> the loop and its code
MOST = 256  # functions that are known


class Stays(Exception):
    """Why the calls stay Python's."""


def each(function, given, outs):
    """Sets the n elements of `outs` to what function() returns for those of `given`: arrays of n elements, which become Python's numbers, and numbers.
    Nothing else changes. Raises Stays where that is not what machine code did."""
    arguments = []
    for k, x in enumerate(given):
        arguments.append(f"{_PYTHONS[x.dtype.kind]}(a{k}[i])" if isinstance(x, numpy.ndarray) else f"a{k}")
    targets = ", ".join(f"out{k}[i]" for k in range(len(outs)))
    text = f"for i in range(n):\n {targets} = f({', '.join(arguments)})"
    variables = {"f": function, "n": len(outs[0]), "int": int, "float": float, "bool": bool, "complex": complex}
    variables |= {f"a{k}": x for k, x in enumerate(given)} | {f"out{k}": x for k, x in enumerate(outs)}
    loop = _loop(function, text)
    inputs, values = loop.inputs(variables)
    code = loop.code(inputs, range(len(outs[0])))
    if not code.usable:
        raise Stays(code.why)
    low = code.lowering
    if low.facts.numpys or any(x.dtype not in _EXACT for x in outs):
        raise Stays("NumPy's numbers may warn of overflows")
    if not {low.arrays[slot] for slot in low.facts.written} <= {f"out{k}" for k in range(len(outs))}:
        raise Stays("it writes to arrays")
    if not code.fits(values) or not code.procedure.compile():
        raise Stays("its code does not fit")
    try:
        code.run(loop, values, variables, range(len(outs[0])))
    except Exception as e:
        raise Stays(f"{type(e).__name__}: {e}") from None


def readable(function):
    """Whether its source can be read, and holds nothing that loops do not."""
    return definition(function) is not None


def _loop(function, text):
    key = function, text
    if key not in _codes:
        while len(_codes) >= MOST:
            del _codes[next(iter(_codes))]
        tree = ast.increment_lineno(ast.parse(text).body[0], function.__code__.co_firstlineno - 1)
        _codes[key] = Loop(tree, function, function.__globals__, {}, set())
    return _codes[key]
