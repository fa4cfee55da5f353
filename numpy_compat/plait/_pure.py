"""Functions rebuilt so that they can be called any number of times: they read numbers, call functions that are known, and write to nothing.

What their code reads from outside is guarded as it is looked up: anything that might do more than give numbers raises Untraceable.
"""

import builtins
import dis
import functools
import itertools
import math
import types

import numpy

from . import _plait, _values
from ._functions import contents
from ._values import PYTHON, Untraceable, Value

_NUMBERS = bool, int, float, complex, str, type(None), numpy.float64, numpy.int64, numpy.bool_
_VALUES = 4096  # elements of an array whose elements a function may read

# What code may do: compute, branch, call, make lists of its own. Names begin with one of these.
_ALLOWED = (
    "BINARY_", "BUILD_", "CACHE", "CALL", "COMPARE_OP", "CONTAINS_OP", "COPY", "DICT_", "END_FOR", "EXTENDED_ARG", "FOR_ITER", "FORMAT_",
    "GET_ITER", "JUMP_", "KW_NAMES", "LIST_", "LOAD_", "MAKE_", "MAP_ADD", "NOP", "NOT_TAKEN", "POP_", "PRECALL", "PUSH_NULL", "RAISE_VARARGS",
    "RESUME", "RETURN_", "SET_", "STORE_DEREF", "STORE_FAST", "SWAP", "TO_BOOL", "UNARY_", "UNPACK_",
)  # fmt: skip
_REFUSED = "LOAD_BUILD_CLASS", "LOAD_NAME", "LOAD_LOCALS", "RETURN_GENERATOR"
_GENERATOR = "RETURN_GENERATOR", "YIELD_VALUE", "SEND", "CALL_INTRINSIC_1", "RERAISE"
_WRITES = {
    "STORE_GLOBAL": "writes to a global name", "DELETE_GLOBAL": "writes to a global name", "STORE_ATTR": "writes to an attribute",
    "STORE_SUBSCR": "writes to an item", "DELETE_SUBSCR": "writes to an item", "STORE_SLICE": "writes to an item",
    "IMPORT_NAME": "imports a module", "YIELD_VALUE": "is a generator", "RETURN_GENERATOR": "is a generator", "IS_OP": "asks for identity",
}  # fmt: skip


def _restoring(steps):
    """Where the code passes exceptions on, once the names of a comprehension have what they had before (from Python 3.12 on
    comprehensions are part of the function); None for code that handles exceptions."""
    found = set()
    for handler in {entry.target for entry in steps.exception_entries}:
        for step in itertools.dropwhile(lambda s: s.offset < handler, steps):
            found.add(step.offset)
            if step.opname == "RERAISE":
                break
            if not step.opname.startswith(("SWAP", "POP_TOP", "STORE_FAST", "LOAD_FAST", "EXTENDED_ARG")):
                return None
    return found


@functools.lru_cache(maxsize=512)
def _impurity(code, inner=False):
    """What the code does that may not be done twice, or that cannot be followed; None for code that only computes."""
    generator = inner and code.co_name == "<genexpr>"  # which the function itself runs
    steps = dis.Bytecode(code)
    restoring = set() if generator else _restoring(steps)
    if restoring is None:
        return "handles exceptions"
    before = None
    for step in steps:
        name = step.opname
        if step.offset in restoring:
            continue
        if name == "STORE_DEREF" and step.argval in code.co_freevars and not inner:
            return "writes to a nonlocal name"
        none = name == "IS_OP" and before is not None and before.opname == "LOAD_CONST" and before.argval is None
        allowed = name.startswith(_ALLOWED) and name not in _REFUSED
        if not (allowed or none or (generator and name in _GENERATOR)):
            return _WRITES.get(name, f"has an instruction {name}")
        before = step
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType) and _impurity(constant, True):
            return _impurity(constant, True)
    return None


class _Values:
    """A sequence of the caller's, to be read."""

    __slots__ = ("_items",)
    __hash__ = None

    def __init__(self, items):
        self._items = items

    def __len__(self):
        return len(self._items)

    def __getitem__(self, at):
        if type(at) is not int:
            raise Untraceable("an index that is no int")
        return guarded(self._items[at])

    def __iter__(self):
        return map(guarded, self._items)

    def __eq__(self, other):
        raise Untraceable("a comparison of sequences")

    def __getattr__(self, name):
        raise Untraceable(f"attribute {name} of a sequence")


class _Object:
    """An object whose method is run: its attributes, where they are numbers or methods and nobody else is asked for them."""

    def __init__(self, of):
        object.__setattr__(self, "_of", of)

    def __getattribute__(self, name):
        of = object.__getattribute__(self, "_of")
        kind = type(of)
        names = getattr(of, "__dict__", {})
        plain = kind.__getattribute__ is object.__getattribute__ and type(names) is dict and not name.startswith("__")
        of_class = next((vars(k)[name] for k in kind.__mro__ if name in vars(k)), None)
        if plain and of_class is None and name in names:
            return guarded(names[name])
        if plain and name not in names and isinstance(of_class, types.FunctionType):
            return guarded(types.MethodType(of_class, of))
        if plain and name not in names and type(of_class) in _NUMBERS:
            return of_class
        raise Untraceable(f"attribute {name} of an object of type {kind.__name__}")


class _Module:
    """A module, of which some names are known."""

    def __init__(self, name, known):
        self._name, self._known = name, known

    def __getattr__(self, name):
        found = self._known(name)
        if found is None:
            raise Untraceable(f"{self._name}.{name}")
        return found


class _Globals(dict):
    """Global names, guarded as they are looked up."""

    def __init__(self, theirs):
        super().__init__()
        self.theirs = theirs
        self["__builtins__"] = _Builtins(_BUILTINS)

    def __missing__(self, name):
        value = self[name] = guarded(self.theirs[name])
        return value


class _Builtins(dict):
    def __missing__(self, name):
        if hasattr(builtins, name):
            raise Untraceable(f"calls {name}()")
        raise KeyError(name)


def _guarded_function(function):
    reason = _impurity(function.__code__)
    if reason:
        raise Untraceable(f"{function.__name__}() {reason}")
    cells, scope = [], _Globals(function.__globals__)
    for cell in function.__closure__ or ():
        value = contents(cell)
        # A function may close over itself.
        cells.append(types.CellType() if value is function else types.CellType(guarded(value)))
    defaults = function.__defaults__ and tuple(map(guarded, function.__defaults__))
    made = types.FunctionType(function.__code__, scope, function.__name__, defaults, tuple(cells) or None)
    for cell, theirs in zip(cells, function.__closure__ or ()):
        if contents(theirs) is function:
            cell.cell_contents = made
    if function.__kwdefaults__:
        made.__kwdefaults__ = {k: guarded(v) for k, v in function.__kwdefaults__.items()}
    if function.__globals__.get(function.__name__) is function:
        scope[function.__name__] = made
    return made


def guarded(value):
    """What takes the place of something that a function reads, which is not to change by it. Raises Untraceable."""
    kind = type(value)
    if kind in _NUMBERS:
        return value
    if isinstance(value, types.ModuleType):
        found = _MODULES.get(value.__name__)
        if found is not None:
            return found
        raise Untraceable(f"module {value.__name__}")
    known = _FUNCTIONS.get(id(value))
    if known is not None:
        return known[1]
    if kind is types.FunctionType:
        return _guarded_function(value)
    if kind is types.MethodType and type(value.__func__) is types.FunctionType:
        return types.MethodType(_guarded_function(value.__func__), _Object(value.__self__))
    if kind is functools.partial:
        return functools.partial(guarded(value.func), *map(guarded, value.args), **{k: guarded(v) for k, v in value.keywords.items()})
    if kind is _plait.ufunc:
        return value._numpy
    if kind is numpy.ufunc or (isinstance(value, type) and issubclass(value, Exception) and value.__module__ == "builtins"):
        return value
    if kind is tuple:
        return tuple(map(guarded, value))
    if kind is list:
        return _Values(value)
    if kind in (numpy.ndarray, _plait.ndarray) and value.ndim == 1 and value.size <= _VALUES:
        return _Values(list(_plait.export(value) if kind is _plait.ndarray else value))
    method = getattr(kind, "__call__", None)
    if type(method) is types.FunctionType and not isinstance(value, type):
        return guarded(types.MethodType(method, value))
    raise Untraceable(f"uses {'a' if isinstance(value, type) or not callable(value) else getattr(value, '__name__', 'a')} {kind.__name__}")


# --- functions that are known -----------------------------------------------------------------------------------------


def _either(theirs, traced):
    """theirs(*numbers), or traced(*operands) where one of them is a Value."""

    def function(*args, **kwargs):
        if not any(type(x) is Value for x in args):
            return theirs(*args, **kwargs)
        if kwargs:
            raise Untraceable(f"{theirs.__name__}() with options")
        return traced(*args)

    return function


def _extreme(theirs, better):
    def function(*args, **kwargs):
        items = list(args[0]) if len(args) == 1 and not isinstance(args[0], Value) else args
        if kwargs or not any(type(x) is Value for x in items):
            return theirs(*(args if len(args) > 1 else [items]), **kwargs)
        best = items[0]
        for x in items[1:]:
            condition = better(x, best)
            found = _values.select(condition, x, best)
            best = (x if condition else best) if found is None else found
        return best

    return function


def _math_function(name, ufunc):
    return _either(getattr(math, name), _values.real_function(ufunc, PYTHON))


def _log(x, *base):
    return _LOG(x) if not base else _LOG(x) / _LOG(*base)


def _power(x, y):
    return _values.as_python_float(x) ** _values.as_python_float(y)


_RENAMED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "atan2": "arctan2"}
_MATH = {name: _math_function(name, ufunc) for name in dir(math) for ufunc in (_RENAMED.get(name, name),) if ufunc in _values.REAL}
_LOG = _MATH["log"]
_MATH |= {
    "log": _log, "fabs": _either(math.fabs, lambda x: abs(_values.as_python_float(x))), "pow": _either(math.pow, _power),
    "fmod": _math_function("fmod", "fmod"), "copysign": _math_function("copysign", "copysign"),
}  # fmt: skip
_MATH |= {name: _either(getattr(math, name), functools.partial(_values.to_int, rounding=name)) for name in ("floor", "ceil", "trunc")}
_MATH |= {name: _either(getattr(math, name), _values.test(name, PYTHON)) for name in _values.TESTS}
_MATH |= {name: getattr(math, name) for name in ("pi", "e", "tau", "inf", "nan")}


def _float(*args):
    return _values.as_python_float(*args) if len(args) == 1 and type(args[0]) is Value else float(*args)


_BUILTINS = {
    name: getattr(builtins, name)
    for name in ("abs", "all", "any", "divmod", "enumerate", "len", "list", "map", "pow", "range", "reversed", "round", "sum", "tuple", "zip")
}  # fmt: skip
_BUILTINS |= {
    "min": _extreme(min, lambda a, b: a < b), "max": _extreme(max, lambda a, b: a > b), "float": _float,
    "int": _either(int, _values.to_int), "bool": _either(bool, bool),
}  # fmt: skip
_BUILTINS |= {name: value for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, Exception)}


def _of_numpy(name):
    value = getattr(numpy, name, None)
    return value if isinstance(value, numpy.ufunc) or type(value) is float else None


_MODULES = {"math": _Module("math", _MATH.get), "numpy": _Module("numpy", _of_numpy)}
_MODULES["plait"] = _MODULES["numpy"]
_FUNCTIONS = {id(getattr(builtins, name)): (getattr(builtins, name), made) for name, made in _BUILTINS.items()}
_FUNCTIONS |= {id(getattr(math, name)): (getattr(math, name), made) for name, made in _MATH.items() if callable(made)}
