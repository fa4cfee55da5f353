"""A Python function called with the elements of arrays, one after the other: the loop that does so, in machine code."""

import ast

import numpy

from .elements import Elements
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
    code, values = loop.chosen(variables, range(len(outs[0])))
    if not code.usable:
        raise Stays(code.why)
    low = code.lowering
    if low.facts.numpys or any(x.dtype not in _EXACT for x in outs):
        raise Stays("NumPy's numbers may warn of overflows")
    if not {low.arrays[slot] for slot in low.facts.written} <= {f"out{k}" for k in range(len(outs))}:
        raise Stays("it writes to arrays")
    if low.facts.growing:
        raise Stays("it changes a list")
    if low.facts.cells:
        raise Stays("it sets an attribute")
    if not code.fits(values) or not code.procedure.compile():
        raise Stays("its code does not fit")
    try:
        code.run(loop, values, variables, range(len(outs[0])))
    except Exception as e:
        raise Stays(f"{type(e).__name__}: {e}") from None


def _ready(loop, variables, numbers):
    """The code of a comprehension and the values of its names."""
    code, values = loop.chosen(variables, numbers)
    if not code.usable:
        raise Stays(code.why)
    if not code.fits(values) or not code.procedure.compile():
        raise Stays("its code does not fit")
    return code, values


def elements(function, given, n):
    """A list of what function() returns for the elements of `given`: arrays of n elements, which become Python's numbers, and numbers."""
    arguments = [f"{_PYTHONS[x.dtype.kind]}(a{k}[i])" if isinstance(x, numpy.ndarray) else f"a{k}" for k, x in enumerate(given)]
    loop = _loop(function, f"[f({', '.join(arguments)}) for i in range(n)]")
    variables = {"f": function, "n": n, "int": int, "float": float, "bool": bool, "complex": complex} | {f"a{k}": x for k, x in enumerate(given)}
    code, values = _ready(loop, variables, range(n))
    if code.lowering.facts.numpys:
        raise Stays("NumPy's numbers may warn of overflows")
    try:
        done, parts = loop.computed(code, values, range(n))
        if done < n:
            raise Stays("ints outgrow 64 bits")
        return [x for part in parts for x in part]
    except Stays:
        raise
    except Exception as e:
        raise Stays(f"{type(e).__name__}: {e}") from None


def of_lines(function, lines):
    """An array of the numbers that function() returns for each line of a matrix."""
    loop, n = _loop(function, "[f(a[i]) for i in range(n)]"), range(len(lines))
    code, values = _ready(loop, {"f": function, "n": len(lines), "a": lines}, n)
    if len(code.lowering.facts.elements[1]) > 1:
        raise Stays("it gives numbers of several types")
    try:
        return loop.made(code, values, n)[0]
    except Exception as e:
        raise Stays(f"{type(e).__name__}: {e}") from None


def readable(function):
    """Whether its source can be read, and holds nothing that loops do not. What NumPy makes of a lambda warns by its name, and is pickled by where it stands."""
    return function.__name__ != "<lambda>" and definition(function) is not None


def _loop(function, text):
    key = function, text
    if key not in _codes:
        while len(_codes) >= MOST:
            del _codes[next(iter(_codes))]
        tree = ast.increment_lineno(ast.parse(text).body[0], function.__code__.co_firstlineno - 1)
        of = function, function.__globals__, {}
        _codes[key] = Elements(tree.value, *of) if isinstance(tree, ast.Expr) else Loop(tree, *of, set())
    return _codes[key]
