"""`match` in a compiled loop, on numbers and tuples of them: a chain of `if`."""

import ast

from .texts import is_text
from .types import BOOL, NotCompiled
from .values import Listed, Value


class Matched(ast.expr):
    """Whether the subject of a `match` is as a pattern says."""

    _fields = ()


class Captured(ast.stmt):
    """Gives names what the pattern found."""

    _fields = ()


def as_ifs(s):
    """The statements that a `match` stands for."""
    chain = []
    for case in reversed(s.cases):
        test, names = Matched(), Captured()
        for made in (test, names):
            ast.copy_location(made, case.pattern)
            made.of, made.pattern = s, case.pattern
        captures = any(isinstance(n, ast.MatchAs) and n.name for n in ast.walk(case.pattern))
        if case.guard is not None and captures and not isinstance(case.pattern, ast.MatchAs):
            raise NotCompiled("a guard behind a pattern that sets names", case.pattern)
        whole = captures and case.guard is not None  # one name for the subject, which is set whatever the guard says
        test = case.guard if whole else test if case.guard is None else ast.copy_location(ast.BoolOp(ast.And(), [test, case.guard]), case.guard)
        made = ast.copy_location(ast.If(test, [names, *case.body] if captures and not whole else case.body, chain), case.pattern)
        chain = [names, made] if whole else [made]
    return chain


def of_matched(lowering, node):
    return _matches(lowering, node.pattern, lowering.subjects[node.of], node)


def capture(lowering, pattern, subject):
    if isinstance(pattern, ast.MatchAs):
        if pattern.pattern is not None:
            capture(lowering, pattern.pattern, subject)
        if pattern.name is not None:
            lowering.store(ast.copy_location(ast.Name(pattern.name, ast.Store()), pattern), subject)
    elif isinstance(pattern, ast.MatchSequence):
        for part, x in zip(pattern.patterns, subject):
            capture(lowering, part, x)


def _matches(lowering, pattern, subject, node):
    truth, p = (lambda known: lowering.literal(known)), lowering.p
    if isinstance(pattern, ast.MatchAs):
        return truth(True) if pattern.pattern is None else _matches(lowering, pattern.pattern, subject, node)
    if isinstance(pattern, ast.MatchValue) and (isinstance(subject, Value) or is_text(subject)):
        return lowering.compared(ast.Eq(), subject, lowering.evaluate(pattern.value), node)
    if isinstance(pattern, ast.MatchSingleton) and pattern.value is None:
        return lowering.compared(ast.Is(), subject, None, node)
    if isinstance(pattern, ast.MatchOr):
        found = [_matches(lowering, part, subject, node) for part in pattern.patterns]
        v = found[0].id
        for other in found[1:]:
            v = p.apply("logical_or", v, other.id)
        return Value(BOOL, v)
    if isinstance(pattern, ast.MatchSequence) and not any(isinstance(x, ast.MatchStar) for x in pattern.patterns):
        if isinstance(subject, Value):
            return truth(False)
        if isinstance(subject, list) and not isinstance(subject, Listed):
            if len(subject) != len(pattern.patterns):
                return truth(False)
            v = truth(True).id
            for part, x in zip(pattern.patterns, subject):
                v = p.apply("logical_and", v, lowering.truth(_matches(lowering, part, x, node), node))
            return Value(BOOL, v)
    raise NotCompiled("a pattern of something else than numbers and tuples of them", node)
