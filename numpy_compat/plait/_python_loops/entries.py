"""What bindings/loop_description.hpp has to know of a loop's machine code to run it without Python: where each name is looked up, what has to be found there,
and what the code gives back."""

import builtins

import numpy

from .. import _plait
from .._functions import MISSING, contents, original
from . import objects, printing, pythons_draws, sharing
from .carried import CarriedList
from .draws import LEGACY, address_of
from .listed import are_numbers, rows
from .records import Records
from .types import ArrayType, class_of, Drawing, is_complex, is_time, NUMBERS, Other, SameAs, Scalar, Shape, Tabled, UINT

_CLASSES = [(class_of(t), t.dtype) for t in NUMBERS]
_SEQUENCES = {"list", "tuple", "bytes", "empty list", "list of lists"}
LARGE = 1 << 14  # elements of an array that is computed as a whole: threads do that sooner, a statement of Python's at a time
FACTOR = 1 << 12  # elements of a factor of a product of matrices: NumPy's library takes less time for larger ones


class _NoEntry(Exception):
    """Calls go by way of Python, always or for now."""

    def __init__(self, for_now=False):
        self.answer = None if for_now else False


def entry_of(loop, code, variables):
    """The LoopEntry of a loop's code; False where there is none, and None where there is none yet. variables: the function's, where the code has run."""
    try:
        return _plait.LoopEntry(_description(loop, code, variables))
    except _NoEntry as none:
        return none.answer


def _description(loop, code, variables):
    low = code.lowering
    if low.facts.words or UINT in code.inputs.values() or any(t == UINT for _, t, _ in low.outputs):
        raise _NoEntry
    if low.made or not all(isinstance(getattr(made, "shape", None), Shape) and _is_list(code.inputs[key]) for key, made in low.lists):
        raise _NoEntry
    if any(isinstance(t, Records) or isinstance(t, (Scalar, ArrayType)) and is_time(t.dtype) for t in (*code.inputs.values(), *(t for _, t, _ in low.outputs))):
        raise _NoEntry
    inputs, at, owners = [], {}, {path.owner for path in code.paths.values()}
    for key, x, name, local, cells, scope in loop.looked_up(variables):
        if key in loop.paths and key not in code.paths:
            continue  # other code's
        if key in code.paths:
            place = name, False, None, None, None, None, at[code.paths[key].owner], -1
        else:
            place = _place(name, local is not None, cells, scope)
            if place is not None:
                place += (loop.parameters.index(name) if local is variables and name in loop.parameters else -1,)
        if place is None or key in at or isinstance(x, SameAs):
            raise _NoEntry
        found = _input(code, key, x, place, key in owners)
        at[key] = len(inputs)
        inputs += [found] if found else []
    if [n for n in low.arguments if not n.startswith(".")] != [n for n in at if n in low.arguments] or low.arrays != [n for n in at if n in low.arrays]:
        raise _NoEntry
    shape = low.frames[0].shape if any(key == "return" for key, *_ in low.outputs) else None
    outputs = [_output(key, loop.stored, tagged, (class_of(t), t.dtype)) for key, t, tagged in low.outputs if key not in code.paths]
    if len(outputs) < len(low.outputs):
        raise _NoEntry
    facts, sets = low.facts, {code.paths[key].owner for key in low.facts.cells}
    return {
        "procedure": code.procedure,
        "code": code,
        "step": code.step,
        "ranged": code.ranged,
        "makes_floats": facts.defaults,
        "shared_from": sharing.WORTH if code.places else -1.0,
        "inputs": inputs,
        "apart": list(facts.apart),
        "stored": loop.stored,
        "outputs": outputs,
        "classes": _CLASSES,
        "returned": -2 if shape is None else shape,
        "listed": low.frames[0].made is list,
        "arguments": [_argument(n) for n in low.arguments if n.startswith(".")],
        "attributes": [(of, name, x) for of, name, x in facts.attributes],
        "limit": facts.limit,
        "largest": [(slot, LARGE) for slot in facts.wholes if facts.sites] + [(slot, FACTOR) for slot in facts.multiplied],
        "changed": [slot for slot in code.changed if isinstance(t := code.inputs.get(low.arrays[slot]), ArrayType) and t.of],
        "different": [(at[a], at[b]) for a in sets for b in owners if a != b],
        "left": [_left(key, made, loop.stored, code.paths, at) for key, made in low.left],
        "grown": [(at[key], _rows(made.shape), key in loop.forgettable) for key, made in low.lists],
        "forgets": loop.forgets,
        "cells": [(at[code.paths[key].owner], code.paths[key].name, is_complex(cell.type.dtype)) for key, cell in low.cells.items()],
        "behind": low.told_on.width + sum(cell.wide for cell in low.cells.values()),
        "adopt": _plaits,
        "parts": [*loop.parts],
        "single": loop.single,
    }


def _plaits(x):
    from .. import array

    return array(x)


def _input(code, key, x, place, is_owner):
    """What has to be found at a place, None where nothing has. is_owner: attributes of it are inputs."""
    low, t = code.lowering, code.inputs.get(key, MISSING)
    if key in code.paths and (function := objects.function_of(code.inputs[code.paths[key].owner].type, code.paths[key].name)) is not None:
        return _method(*function, x, t, place)
    if x is MISSING or t is MISSING:
        if x is not t or key in code.paths:
            raise _NoEntry(True)  # a variable that the loop has set, or that something else has
        return "missing", place
    if isinstance(t, Scalar):
        return "number", place, (class_of(t), t.dtype), key in low.counters
    if isinstance(t, ArrayType):
        written = low.arrays.index(key) in low.facts.written
        if not t.of:
            return "array", place, t.dtype, t.ndim, t.packed, written
        if not _is_list(t):
            raise _NoEntry
        return "list", place, t.dtype, t.ndim, written, t.of, _rows(t.shape, read=True) if t.shape else None
    if isinstance(t, Drawing):
        if t.pythons:
            raise _NoEntry
        return "generator", place, type(x), type(x) is numpy.random.Generator
    if isinstance(t, Other):
        return "class", place, t.type, is_owner
    if original(x) is t:
        return "object", place, x, None if key in code.paths else _beneath(place)
    raise _NoEntry(True)


def _method(kind, function, x, t, place):
    if original(x) is not t:
        raise _NoEntry(True)
    if kind is property:
        return None  # nothing of the object stands before it, and its class is as it was
    return ("object", place, function, None) if kind is staticmethod else ("method", place, function)


def _is_list(t):
    return t.of in _SEQUENCES and not isinstance(t.shape, Tabled)


def _rows(shape, read=False):
    """Elements of a list. Those that are read are Python's numbers."""
    if not isinstance(shape, Shape) or not are_numbers(shape) or read and not all(t.python for column in shape.columns for t in column.kinds):
        raise _NoEntry
    return rows(shape)


def _argument(name):
    if name == pythons_draws.MODULE or name in printing.ARGUMENTS:
        raise _NoEntry
    return numpy.random.mtrand._rand if name == LEGACY else address_of(name, None)


def _left(key, made, stored, paths, at):
    """Of a variable, or an attribute, that another array or list is left to."""
    owner, name = (at[paths[key].owner], paths[key].name) if key in paths else (-1, None)
    place = stored.index(key) if key in stored else -1
    if isinstance(made, CarriedList):
        return place, owner, name, None, 0, _rows(made.shape)
    return place, owner, name, made.dtype, len(made.dims), None


def _output(key, stored, tagged, kind):
    if key == "return":
        return "returned", 0, tagged, kind
    if key.startswith("return "):
        return "returns", int(key[7:]), tagged, kind
    return "variable", stored.index(key), tagged, kind


def _place(name, local, cells, scope):
    """Where _look_up() of running.py looks; None where that is elsewhere by the next call."""
    if name in cells:
        # What stands in for a cell is filled at the beginning of calls by way of Python.
        return None if isinstance(scope, _plait.Scope) and scope.has_stand_ins() else (name, local, cells[name], None, None, None, -1)
    module = scope.module_globals if isinstance(scope, _plait.Scope) else scope
    if type(module) is not dict or module.get("__builtins__", builtins) not in (builtins, vars(builtins)):
        return None
    return name, local, None, scope if scope is not module else None, module, vars(builtins), -1


def _beneath(place):
    name, _, cell, _, module, found, *_ = place
    return contents(cell) if cell is not None else module.get(name, found.get(name))
