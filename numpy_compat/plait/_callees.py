"""Whether a function calls NumPy and its own module alone. What others are called with may be read by C code that asks for a Python float."""

import builtins
import dis
import re
import types

import numpy

from ._functions import contents
from ._source import ITEM
from ._stand_ins import stand_in

# Modules whose functions take numbers by float(), int() and arithmetic.
_READERS = {"builtins", "cmath", "itertools", "math", "numpy", "operator", "plait", "time"}
_OWN = numpy.ndarray, numpy.generic, numpy.random.Generator, numpy.random.RandomState, dict, float, int, complex, list, set, tuple
# Methods that tell by their name whose they are. Those of others' encoders and files are named like an array's that writes pickles.
_METHODS = {name for kind in _OWN for name in dir(kind)} - {"dump", "dumps"} | {"format", "join"}
_HIDING = eval, exec, __import__


def _steps(code):
    """The instructions, each with one name: Python 3.13 loads and stores two local names by one instruction."""
    for step in dis.get_instructions(code):
        if step.opname in ("CACHE", "PRECALL", "EXTENDED_ARG"):
            continue
        parts = re.findall("[A-Z]+_FAST(?:_BORROW)?", step.opname) if type(step.argval) is tuple else ()
        if len(parts) == 2:
            yield from (step._replace(opname=part, argval=name) for part, name in zip(parts, step.argval))
        else:
            yield step


def _null_comes_first():
    """Whether what a call has in the place of self is pushed before the function; Python 3.13 pushes it after it."""
    names = [step.opname for step in _steps((lambda f: f()).__code__)]
    return names[names.index("PUSH_NULL") + 1].startswith("LOAD_FAST")


_NULL_FIRST = _null_comes_first()


def _module(value):
    return value.__name__ if isinstance(value, types.ModuleType) else str(getattr(value, "__module__", None) or type(value).__module__)


class _Reader:
    def __init__(self, original):
        self.original = original
        self.seen = set()

    def takes(self, value):
        """Whether scalars may be handed to what a name stands for: data, a function that takes them, or one that is looked into."""
        function = self.original(value)
        if isinstance(function, types.FunctionType) and _module(function).partition(".")[0] not in _READERS:
            jitted = function is not value
            return (jitted or function.__globals__ is self.scope) and self.function(function)
        if isinstance(value, types.ModuleType) or callable(value):
            return _module(value).partition(".")[0] in _READERS and all(value is not f for f in _HIDING)
        return True

    def function(self, function):
        if function in self.seen:
            return True
        self.seen.add(function)
        before, self.scope = getattr(self, "scope", None), function.__globals__
        cells = dict(zip(function.__code__.co_freevars, map(contents, function.__closure__ or ())))
        found = self.code(function.__code__, cells, set())
        self.scope = before
        return found

    def code(self, code, cells, made):
        """made: local names of functions that the code itself makes."""
        steps = list(_steps(code))
        pairs = list(zip(steps, steps[1:]))
        made = made | {b.argval for a, b in pairs if a.opname in ("MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE") and b.opname.startswith("STORE_")}
        of_module = False  # what is on the stack is a module, or an attribute of one
        for step, after in (*pairs, (steps[-1], steps[-1])):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                value = self.scope.get(step.argval, vars(builtins).get(step.argval, dis))
                if not self.takes(value):
                    return False
                of_module = isinstance(value, types.ModuleType)
            elif step.opname == "LOAD_DEREF" and step.argval in cells:
                if not self.takes(cells[step.argval]):
                    return False
                of_module = isinstance(cells[step.argval], types.ModuleType)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                called = step.opname == "LOAD_METHOD" or "NULL|self" in step.argrepr
                if called and not of_module and step.argval not in _METHODS:
                    return False
            elif step.opname == "IMPORT_NAME":
                if step.argval.partition(".")[0] not in _READERS:
                    return False
                made = made | {after.argval}
                of_module = False
            elif step.opname == "LOAD_BUILD_CLASS":
                return False
            else:
                of_module = False
            null, value = (step, after) if _NULL_FIRST else (after, step)
            is_local = value.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) and value.argval not in cells
            if null.opname == "PUSH_NULL" and (is_local and value.argval not in made or (value.opcode, value.arg or 0) == ITEM):
                return False
        return all(self.code(c, cells, made) for c in code.co_consts if isinstance(c, types.CodeType))


def calls_numpy_alone(function, original):
    """original: gives the function that plait.jit() was given for what it made, else its argument."""
    return stand_in(function) is not function or _Reader(original).function(function)
