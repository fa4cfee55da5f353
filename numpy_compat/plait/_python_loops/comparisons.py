"""Comparisons of which an operand is None or a text, or may be, in a compiled loop."""

import ast
import functools

from . import texts
from .types import BOOL, NONE, OBJECTS, TEXTS, NotCompiled
from .values import Value, kinds_of
from .words import as_value, is_one_of, narrowed, nothing, only


def compared(lowering, op, a, b, node):
    """A comparison of which an operand is None or a text, or may be; None of others."""
    if not any(x is None or isinstance(x, str) or texts.is_long(x) or isinstance(x, Value) and kinds_of(x) & OBJECTS for x in (a, b)):
        return None
    if any(map(texts.is_long, (a, b))):
        return texts.compared(lowering, op, a, b, node)
    a, b = (as_value(lowering, x) for x in (a, b))
    if not (isinstance(a, Value) and isinstance(b, Value)):
        if isinstance(op, (ast.Is, ast.IsNot)):
            return lowering.literal(isinstance(op, ast.IsNot))
        raise NotCompiled("None or a text is compared with what is no number", node)
    if isinstance(op, (ast.Is, ast.IsNot)):
        if {NONE} not in (kinds_of(a), kinds_of(b)):
            raise NotCompiled("whether a text is the same object", node)
        return _either_way(lowering, isinstance(op, ast.Is), equal(lowering, a, b, node))
    if isinstance(op, (ast.Eq, ast.NotEq)):
        return _either_way(lowering, isinstance(op, ast.Eq), equal(lowering, a, b, node))
    return _ordered(lowering, op, a, b, node)


def _either_way(lowering, holds, found):
    if holds:
        return found
    return lowering.literal(not found.literal) if found.known else Value(BOOL, lowering.negated(found.id))


def equal(lowering, a, b, node):
    """Whether two values are equal: both None, the same text, or equal numbers."""
    if a.known and b.known and (a.type.object or b.type.object):
        return lowering.literal(a.literal == b.literal)
    p, ours, theirs = lowering.p, kinds_of(a), kinds_of(b)
    ways = []
    for types in ({NONE}, TEXTS, (ours | theirs) - OBJECTS):
        if not (ours & types and theirs & types):
            continue
        tests = [is_one_of(lowering, v, found & types) for v, found in ((a, ours), (b, theirs)) if found - types]
        x, y = (narrowed(lowering, v, found & types) for v, found in ((a, ours), (b, theirs)))
        if types == TEXTS:
            tests.append(p.apply("equal", x.id, y.id))
        elif types != {NONE}:
            if any(not t.python for t in types):
                raise NotCompiled("one of NumPy's numbers is compared with what may be None or a text", node)
            tests.append(lowering.compared(ast.Eq(), x, y, node).id)
        ways.append(functools.reduce(lambda v, w: p.apply("logical_and", v, w), tests) if tests else None)
    if None in ways:
        return lowering.literal(True)
    return Value(BOOL, functools.reduce(lambda v, w: p.apply("logical_or", v, w), ways)) if ways else lowering.literal(False)


def _ordered(lowering, op, a, b, node):
    """`<` and the like: of texts by their characters, of numbers; anything else raises in Python."""
    ours, theirs = kinds_of(a) - {NONE}, kinds_of(b) - {NONE}
    if not ours or not theirs:
        nothing(lowering, node)
        return Value(BOOL, lowering.p.const("bool", False))
    if ours <= TEXTS or theirs <= TEXTS:
        if not (ours & TEXTS and theirs & TEXTS):
            raise NotCompiled("a text is compared with a number", node)
        return texts.ordered(lowering, op, *(only(lowering, v, TEXTS, node) for v in (a, b)), node)
    return lowering.compared(op, *(only(lowering, v, kinds_of(v) - OBJECTS, node) for v in (a, b)), node)
