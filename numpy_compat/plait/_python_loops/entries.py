"""What bindings/loop_entry.cpp has to know of a loop's machine code to run it without Python: where each name is looked up, what has to be found there,
and what the code gives back."""

import builtins

from .. import _plait
from .._jit import original
from .._swap import _MISSING, Globals, contents
from . import sharing
from .types import NUMBERS, UINT, ArrayType, Other, SameAs, Scalar, class_of

_CLASSES = [(class_of(t), t.dtype) for t in NUMBERS]


def entry_of(loop, code, variables):
    """The LoopEntry of a loop's code; False where there is none, and None where there is none yet. variables: the function's, where the code has run."""
    low = code.lowering
    if any(t == UINT for _, t, _ in low.outputs) or UINT in code.inputs.values():
        return False
    if loop.paths or low.facts.limit or low.made or low.drawn or low.facts.attributes or low.left or low.carried or low.facts.words or low.facts.wholes and low.facts.sites or any(isinstance(t, ArrayType) and t.of for t in code.inputs.values()):
        return False
    inputs, seen = [], set()
    for key, x, name, local, cells, scope in loop.looked_up(variables):
        place = _place(name, local is not None, cells, scope)
        if place is None or key in seen or isinstance(x, SameAs):
            return False
        seen.add(key)
        t = code.inputs.get(key, _MISSING)
        if x is _MISSING or t is _MISSING:
            if x is not t:
                return None  # a variable that the loop has set, or that something else has
            inputs.append(("missing", place))
        elif isinstance(t, Scalar):
            inputs.append(("number", place, (class_of(t), t.dtype), key in low.counters))
        elif isinstance(t, ArrayType):
            inputs.append(("array", place, t.dtype, t.ndim, t.packed, low.arrays.index(key) in low.facts.written))
        elif isinstance(t, Other):
            inputs.append(("class", place, t.type))
        elif original(x) is t:
            inputs.append(("object", place, x, _beneath(place)))
        else:
            return None
    shape = low.frames[0].shape if any(key == "return" for key, *_ in low.outputs) else None
    outputs = [_output(key, loop.stored, tagged, (class_of(t), t.dtype)) for key, t, tagged in low.outputs]
    return _plait.LoopEntry(
        {
            "procedure": code.procedure,
            "code": code,
            "step": code.step,
            "ranged": code.ranged,
            "makes_floats": low.facts.defaults,
            "shared_from": sharing.WORTH if code.places else -1.0,
            "inputs": inputs,
            "apart": list(low.facts.apart),
            "stored": loop.stored,
            "outputs": outputs,
            "classes": _CLASSES,
            "returned": -2 if shape is None else shape,
            "listed": low.frames[0].made is list,
        }
    )


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
        return None if type(scope) is Globals and scope.has_stand_ins() else (name, local, cells[name], None, None, None)
    module = scope.module_globals if type(scope) is Globals else scope
    if type(module) is not dict or module.get("__builtins__", builtins) not in (builtins, vars(builtins)):
        return None
    return name, local, None, scope if scope is not module else None, module, vars(builtins)


def _beneath(place):
    name, _, cell, _, module, found = place
    return contents(cell) if cell is not None else module.get(name, found.get(name))
