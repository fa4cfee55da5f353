"""`try` in a compiled loop. An error whose class is known where it is raised goes to its handler; any other is left to Python, as is whatever the handler does
with the error itself."""

import ast

from .carried import Carried, CarriedList
from .trees import names, nodes
from .types import NotCompiled


class Tries:
    """The body of a `try` that is lowered: the block that an error leaves, and a variable that says to which handler. None of both: only Python goes on."""

    def __init__(self, statement, block=None, which=None):
        self.statement, self.block, self.which = statement, block, which
        self.taken = []  # numbers of handlers that errors lead to


def tried(low, s):
    if not low.is_own(s):
        raise NotCompiled("a `try` in a function that is called", s)
    if s.finalbody and any(isinstance(n, (ast.Break, ast.Continue, ast.Return)) for n in nodes(s)):
        raise NotCompiled("a `try` that is left through `finally`", s)
    p, done = low.p, (s, "done")
    stored = {*names(s, ast.Store)}
    arrays = {k: b for k, b in low.env.items() if isinstance(b, (Carried, CarriedList)) or k not in stored}
    around = low.tries
    anyhow = [*around, Tries(s)] if s.finalbody else around
    outer = p.begin_if(None)
    tries = Tries(s, p.begin_if(None), low.variable("int64"))
    low.tries = [*around, tries]
    low.block(s.body)
    low.tries = anyhow
    low.block(s.orelse)
    if low.env is not None:
        low.flow_to(done)
        p.break_(outer)
    p.end()
    for n in tries.taken:
        p.begin_if(low.same(p.get(tries.which), n))
        low.meet((s, n), arrays)
        low.block(s.handlers[n].body)
        low.flow_to(done)
        p.end()
    low.tries = around
    p.end()
    low.meet(done, arrays)
    low.block(s.finalbody)


def handled(low, error):
    """Whether an error of this class goes to a handler in machine code."""
    for tries in reversed(low.tries):
        if tries.block is None:
            return False
        for n, handler in enumerate(tries.statement.handlers):
            classes = _classes(low, handler)
            if classes is None:
                return False
            if issubclass(error, classes):
                return not _asks(handler) and _goes_to(low, tries, n)
        if tries.statement.finalbody:
            return False
    return False


def _classes(low, handler):
    found = BaseException if handler.type is None else low.evaluate(handler.type)
    found = tuple(found) if isinstance(found, list) else (found,)
    return found if all(isinstance(c, type) and issubclass(c, BaseException) for c in found) else None


def _asks(handler):
    """Whether a handler has the error itself, or raises one, which would say what it came from."""
    return any(isinstance(n, ast.Raise) or isinstance(n, ast.Name) and n.id == handler.name for s in handler.body for n in nodes(s))


def _goes_to(low, tries, n):
    if n not in tries.taken:
        tries.taken.append(n)
    low.flow_to((tries.statement, n))
    low.p.set(tries.which, low.number(n))
    low.p.break_(tries.block)
    return True
