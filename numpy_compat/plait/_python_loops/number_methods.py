"""Methods of numbers in a compiled loop, and tuples that are in order: `n.bit_length()`, `x.is_integer()`, `a[i].item()`, `tuple(sorted((u, v)))`."""

import ast
import builtins

from .types import BOOL, FLOAT, INT, NotCompiled, UINT
from .values import Value, kinds_of


def method(lowering, x, name, node):
    """What a method gives; None of others. Where a number may be of several types, it is of one here."""
    how = _METHODS.get(name)
    return None if how is None or node.args or node.keywords else lowering.each((x,), lambda a: how(lowering, a, node), node)


def _magnitude(lowering, x, node):
    """How far an int of Python's is from zero."""
    if not x.type.python or x.type.kind not in "biu":
        raise NotCompiled("a method of ints of what is none of Python's", node)
    if x.type == UINT:
        return x.id
    return lowering.p.cast(lowering.p.apply("absolute", lowering.cast(x, "int64")), "uint64")


def _ones(lowering, v):
    return Value(INT, lowering.p.cast(lowering.p.apply("bitwise_count", v), "int64"))


def _bit_count(lowering, x, node):
    return _ones(lowering, _magnitude(lowering, x, node))


def _bit_length(lowering, x, node):
    """Its highest one is copied to all places below it."""
    p, v = lowering.p, _magnitude(lowering, x, node)
    for by in (1, 2, 4, 8, 16, 32):
        v = p.apply("bitwise_or", v, p.apply("right_shift", v, p.const("uint64", by)))
    return _ones(lowering, v)


def _is_integer(lowering, x, node):
    if x.type.kind != "f":
        raise NotCompiled("is_integer() of what is no float", node)
    p, v = lowering.p, lowering.cast(x, "float64")
    return Value(BOOL, p.apply("logical_and", p.apply("isfinite", v), p.apply("equal", v, p.apply("floor", v))))


def _item(lowering, x, node):
    """NumPy's number as Python's."""
    if x.type.python or x.type.kind not in "biuf":
        raise NotCompiled("item() of what is none of NumPy's real numbers", node)
    if x.type.kind == "f":
        return Value(FLOAT, lowering.cast(x, "float64"))
    if x.type.kind == "b":
        return Value(BOOL, x.id)
    return Value(UINT, x.id) if x.type.dtype == "uint64" else Value(INT, lowering.cast(x, "int64"))


_METHODS = {"bit_count": _bit_count, "bit_length": _bit_length, "is_integer": _is_integer, "item": _item}

# tuples


def as_tuple(lowering, node):
    """tuple(x) of a tuple, and tuple(sorted(x)) of a tuple, or of a list that is written out."""
    (source,) = node.args
    is_call = isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and len(source.args) == 1 and not source.keywords
    if is_call and lowering.evaluate(source.func) is builtins.sorted:
        return in_order(lowering, _parts(lowering, source.args[0], node), node)
    return _parts(lowering, source, node)


def _parts(lowering, source, node):
    found = lowering.spread(source.elts, node) if isinstance(source, ast.List) else lowering.evaluate(source)
    if not isinstance(found, list):
        raise NotCompiled("a tuple of as many parts as only the running code knows", node)
    return [*found]


def in_order(lowering, parts, node):
    """Sorted, by insertion, which leaves equal numbers where they are. NaN would have others compared: of two numbers alone there is no other way."""
    parts, kinds = [*parts], "biu" if len(parts) > 2 else "biuf"
    if any(not isinstance(x, Value) or any(t.kind not in kinds for t in kinds_of(x)) for x in parts):
        raise NotCompiled("more than two numbers in order that are no ints", node)
    for n in range(1, len(parts)):
        for at in range(n, 0, -1):
            a, b = parts[at - 1 : at + 1]
            swapped = lowering.compared_by(ast.Lt, b, a, node)
            parts[at - 1 : at + 1] = lowering.either(swapped, b, a, node), lowering.either(swapped, a, b, node)
    return parts
