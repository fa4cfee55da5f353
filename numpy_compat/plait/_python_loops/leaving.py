"""Statements that a compiled loop leaves to Python, where they end it: `raise`, with all that its expression reads as it is then."""

import ast
import types

import numpy

from .._functions import MISSING
from .objects import Instance
from .trees import copied, names
from .trying import handled
from .left import Leave, Told
from .types import NotCompiled, is_complex
from .values import kinds_of
from .views import View, WHOLE
from .words import plain


def leave(lowering, statement):
    """Leaves the machine code for a statement that raises an error."""
    low, used = lowering, {}
    if low.tries and (error := error_of(low, statement)) is not None and handled(low, error):
        return
    numbers, arrays, known = [], {}, {}
    for name in sorted({*names(statement, ast.Load)}):
        x = low.env.get(name, MISSING)
        if x is MISSING:
            continue  # one of the builtins, or unbound
        if isinstance(x, View):
            if x.own is not WHOLE or x.own_memory:
                raise NotCompiled("a part of an array is told", statement)
            arrays[name] = low.arrays[x.slot]
        elif low.is_variable(x):
            value = low.read(name, statement)
            if any(is_complex(t.dtype) for t in kinds_of(value)):
                raise NotCompiled("a complex number is told", statement)
            at = low.tell(value.id, value.type.dtype, used)
            tag = low.tell(low.tag_number(value), "int64", used) if value.kinds else -1
            numbers.append(Told(name, at, tag, value.type))
        elif isinstance(x, Instance):
            arrays[name] = x.key  # which has its attributes by then
        elif x is None or callable(x) or isinstance(x, (str, types.ModuleType, numpy.dtype)):
            known[name] = plain(x)
        else:
            raise NotCompiled("what is neither a number nor an array is told", statement)
    found = tuple(sorted((*(n.name for n in numbers), *arrays, *known)))
    key = statement, found
    if key not in low.facts.said:
        low.facts.said[key] = _function(statement, found)
    low.fails(Leave(low.facts.said[key], tuple(numbers), arrays, known), statement, error_of(low, statement))


def error_of(low, statement):
    """The class of what a statement raises; None where that is not known."""
    made = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    error = low.evaluate(made) if isinstance(made, ast.Name) and made.id in low.env else None  # which `assert` does not name
    return error if isinstance(error, type) and issubclass(error, BaseException) else None


def _function(statement, parameters):
    """One that does it, of what it reads."""
    given = ast.arguments([], [], None, [ast.arg(n) for n in parameters], [None] * len(parameters), None, [])
    tree = ast.FunctionDef("left", given, [copied(statement)], [], None)
    if "type_params" in ast.FunctionDef._fields:
        tree.type_params = []
    scope = {}
    exec(compile(ast.fix_missing_locations(ast.Module([tree], [])), "<loop>", "exec"), scope)
    return scope["left"]
