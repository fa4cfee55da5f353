"""Python's functions: what their cells hold, whether they have loops, and which of them jit() was given."""

import opcode
import types

from ._plait import Jitted, replayed

LOOPS = {code for n, code in opcode.opmap.items() if n in ("FOR_ITER", "JUMP_BACKWARD") or n.startswith("POP_JUMP_BACKWARD_IF_")}
MISSING = object()


def codes(code):
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from codes(inner)


def contents(cell):
    try:
        return cell.cell_contents
    except ValueError:  # not filled, or emptied
        return MISSING


def is_of_module(value, scope):
    return isinstance(value, types.FunctionType) and value.__globals__ is scope.module_globals


def has_loops(function):
    code = function.__code__
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return LOOPS & set(code.co_code[::2]) or any(c.co_name in ("<listcomp>", "<genexpr>") for c in inner) or _calls_recursive(function)


def _calls_recursive(function):
    """Whether a function names one that names itself, which may take long without any loop."""
    named = (function.__globals__.get(name) for name in function.__code__.co_names)
    return any(isinstance(x, types.FunctionType) and x is not function and x.__name__ in x.__code__.co_names for x in named)


def original(fn):
    """The function that jit() was given, for what it made; else fn itself."""
    if type(fn) is replayed:
        return fn._jitted.fn
    if not isinstance(fn, types.FunctionType) or not fn.__closure__:
        return fn
    return next((x.fn for x in map(contents, fn.__closure__) if isinstance(x, Jitted)), fn)


def jitted_of(fn):
    return next((x for x in map(contents, getattr(fn, "__closure__", None) or ()) if isinstance(x, Jitted)), None)
