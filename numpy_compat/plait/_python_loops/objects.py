"""Objects of plain classes in compiled loops. An attribute, `self.x`, is an input of its own by the name of the object's own input and its own: a number, an
array, a list, another object or a method. Which ones a loop needs is found as it is lowered (Wanted), also in the methods that it calls. A number that is set is
kept in a Cell, from which the object has it wherever the loop ends."""

import ast
import enum
import functools
import types
from typing import NamedTuple

from .._functions import MISSING, original
from .types import ALL, NotCompiled, Other, Scalar, is_complex, joined
from .words import as_value

_HEAP_TYPE = 1 << 9  # of a type's flags: it was made by a class statement, or as one


class Instance(NamedTuple):
    """An object: the name of the input that it is, and its class."""

    key: str
    type: type


def known(key, what):
    """An input that is an object whose attributes code may have."""
    return Instance(key, what.type) if isinstance(what, Other) and has_attributes(what.type) else None


@functools.lru_cache(maxsize=1024)
def has_attributes(cls):
    """Whether a look-up of an attribute finds what an object of the class has, and does no more."""
    if not cls.__flags__ & _HEAP_TYPE or issubclass(cls, (type, types.ModuleType, enum.Enum)):
        return False
    if hasattr(cls, "__getattr__") or cls.__getattribute__ not in (object.__getattribute__, tuple.__getattribute__):
        return False
    calls = _static(cls, "__call__")
    return (calls is MISSING or isinstance(calls, types.FunctionType)) and "__module__" in vars(cls) and "__plait__" not in vars(cls)


def _static(cls, name):
    """What the class itself has by that name."""
    return next((vars(c)[name] for c in cls.__mro__ if name in vars(c)), MISSING)


def _function(x):
    """The function that a method, a static method or a property is made of; None of anything else."""
    x = x.__func__ if type(x) is staticmethod else x.fget if type(x) is property else x
    x = original(x)
    return x if isinstance(x, types.FunctionType) else None


def function_of(cls, name):
    """How a class has a function by that name, as a method, a property or a static method, and the function or method that a look-up finds; None where it
    has none."""
    found = _static(cls, name)
    if _function(found) is None:
        return None
    return type(found), found.__func__ if type(found) is staticmethod else found


def attribute_of(x, name):
    """An attribute of an object, for a method or a property its function; where code does without it, nothing."""
    if records.type_of(x) is not None:
        return records.field_of(x, name)
    if not has_attributes(type(x)):
        return MISSING
    found, own = _static(type(x), name), getattr(x, "__dict__", {})
    if _function(found) is not None:
        return MISSING if name in own else _function(found)
    if isinstance(found, (types.MemberDescriptorType, _TUPLE_FIELD)):  # of __slots__, of a named tuple
        return getattr(x, name, MISSING)
    if hasattr(type(found), "__get__"):
        return MISSING
    return own.get(name, found)


class _Fields(NamedTuple):
    first: int


_TUPLE_FIELD = type(vars(_Fields)["first"])


def _path(lowering, of, name, node):
    path = Path(of.key, name)
    if path.key not in lowering.inputs:
        raise Wanted(path, node)
    return path


def attribute(lowering, of, node):
    """What an attribute is that is read."""
    found = lowering.read(_path(lowering, of, node.attr, node).key, node)
    static = _static(of.type, node.attr)
    if type(static) is property:
        return inlined(lowering, found, [of], {}, node)
    if _function(static) is not None and type(static) is not staticmethod:
        raise NotCompiled(f"the method {node.attr}() as a value", node)
    return found


def method(lowering, of, node):
    """The function that a call calls as a method; None where it calls what an attribute is."""
    static = _static(of.type, node.func.attr)
    if type(static) in (property, staticmethod) or _function(static) is None:
        return None
    return lowering.env[_path(lowering, of, node.func.attr, node).key]


def called(lowering, of, node):
    """The function that a call of an object calls."""
    if _function(_static(of.type, "__call__")) is None:
        raise NotCompiled("a call of what is no function", node)
    return lowering.env[_path(lowering, of, "__call__", node).key]


def store(lowering, target, value):
    of = lowering.evaluate(target.value)
    if records.is_record(of):
        return records.set_attribute(lowering, of, target, value)
    if not isinstance(of, Instance):
        raise NotCompiled("an attribute of no object of the loop's changes", target)
    key, facts = _path(lowering, of, target.attr, target).key, lowering.facts
    given = lowering.inputs[key]
    value = as_value(lowering, value)
    if (given is None or type(given) is str) and isinstance(value, Value):
        raise WantedAs(key, STATE, target)
    if of.type.__setattr__ is not object.__setattr__ or hasattr(type(_static(of.type, target.attr)), "__set__") and not _is_slot(of.type, target.attr):
        raise NotCompiled(f"the attribute {target.attr}, which is set by more than an assignment", target)
    if lowering.perhaps:
        raise NotCompiled("an attribute is set where that may be left out", target)
    if isinstance(value, Instance) or isinstance(given, Scalar) != isinstance(value, Value) or not isinstance(given, Scalar) and known(key, given):
        raise NotCompiled(f"the attribute {target.attr} becomes another kind of thing", target)
    facts.add(facts.behind, None, key)
    kinds = facts.cells.get(key, frozenset()) | (kinds_of(value) if isinstance(value, Value) else frozenset())
    if facts.cells.get(key) != kinds:
        facts.cells[key], facts.changed = kinds, True
    lowering.effects += 1
    lowering.live = None
    lowering.store(_named(facts, key, target), value)


def _named(facts, key, target):
    """The target that an attribute is as a variable: a node that is the same over the passes, as memory that is made there is known by it."""
    return facts.said.setdefault((key, target), ast.copy_location(ast.Name(key, ast.Store()), target))


def _is_slot(cls, name):
    return isinstance(_static(cls, name), types.MemberDescriptorType)


def augment(lowering, s):
    """`self.x += 1`."""
    of = lowering.evaluate(s.target.value)
    if records.is_record(of):
        return records.augment(lowering, of, s)
    if not isinstance(of, Instance):
        raise NotCompiled("an attribute of no object of the loop's changes", s)
    key = _path(lowering, of, s.target.attr, s).key
    old = lowering.read(key, s.target)
    if isinstance(old, Value):
        return store(lowering, s.target, lowering.binary(s.op, old, lowering.evaluate(s.value), s))
    changed = ast.copy_location(ast.AugAssign(_named(lowering.facts, key, s.target), s.op, s.value), s)
    lowering.do_AugAssign(lowering.facts.said.setdefault((key, s), changed))


def attributes(inputs):
    return {key for key in inputs if "." in key}


class Cell:
    """A number that an attribute was set to, and whether it was: of which type it is."""

    def __init__(self, lowering, kinds):
        self.lowering, self.type = lowering, functools.reduce(joined, sorted(kinds))
        self.held, self.tag = lowering.variable(self.type.dtype), lowering.variable("int64")
        self.wide = 2 + is_complex(self.type.dtype)  # results

    def set(self, value):
        low = self.lowering
        low.p.set(self.held, low.held_as(value, self.type, low.top))
        low.p.set(self.tag, low.tag_number(value))


def set_back(lowering, results, left, paths, objects):
    """Gives objects the attributes that a loop has set: numbers, and arrays and lists that are `left`."""
    results = iter(results)
    made = {}
    for key, cell in lowering.cells.items():
        x = complex(next(results), next(results)) if is_complex(cell.type.dtype) else next(results)
        if tag := next(results):
            made[key] = ALL[tag - 1].of(x)
    for key in lowering.facts.cells:
        if key in made or key in left:
            setattr(objects[paths[key].owner], paths[key].name, made.get(key, left.get(key)))


def are_members(a, b):
    """Whether both are members of enumerations that are compared by what they are."""
    return all(isinstance(x, enum.Enum) and type(x).__eq__ is object.__eq__ for x in (a, b))
from . import records
from .inlining import inlined
from .values import Value, kinds_of
from .wanted import STATE, Path, Wanted, WantedAs
