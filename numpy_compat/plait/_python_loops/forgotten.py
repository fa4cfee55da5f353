"""Lists, sets and dicts that a function makes for itself and does not read any more behind a loop: what a loop has put into them need not go back."""

import ast
import builtins
import heapq

from .._functions import MISSING
from .comprehensions import COMPREHENSIONS
from .trees import names, nodes

_MAKE = {"list", "set", "dict"}
_CHANGE = {"append", "add", "pop", "insert", "extend", "clear", "sort", "reverse", "remove", "discard", "update", "get", "index", "count", "copy"}
_HEAPS = {name: getattr(heapq, name) for name in ("heappush", "heappop", "heapify", "heapreplace", "heappushpop")}
_VIEWS = {"keys", "values", "items"}
_SCOPES = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, *COMPREHENSIONS


def own_tables(tree):
    """Names of a function of which each value is a list, a set or a dict that it made there, and which no other name and no other object has."""
    all_nodes = nodes(tree)
    if any(isinstance(s, ast.Match) for s in all_nodes):  # whose patterns set names as well
        return set()
    values, uses = {}, set()
    for s in all_nodes:
        if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
            values.setdefault(s.targets[0].id, []).append(s.value)
        uses.update(_looked_into(s))
    stored = names(tree, ast.Store)
    made = {name for name, found in values.items() if all(map(_is_new, found)) and len(found) == stored.count(name)}
    given = {a.arg for a in all_nodes if isinstance(a, ast.arg)}
    declared = {n for s in all_nodes if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names}
    if not (_MAKE | _HEAPS.keys() | {"heapq"}).isdisjoint({*stored} | given | _defined(all_nodes)):
        return set()  # which makes_own() does not see
    others = {n.id for s in all_nodes if s is not tree and isinstance(s, _SCOPES) for n in nodes(s) if isinstance(n, ast.Name)}
    escape = {n.id for n in all_nodes if isinstance(n, ast.Name) and type(n.ctx) is ast.Load and n not in uses}
    return made - given - declared - others - escape


def _defined(all_nodes):
    """Names of functions, classes and modules."""
    imported = {(a.asname or a.name).partition(".")[0] for a in all_nodes if isinstance(a, ast.alias)}
    return imported | {s.name for s in all_nodes if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}


def makes_own(look_up):
    """Whether the names of what makes lists, sets and dicts are those of Python's functions, and those of functions of heaps are heapq's or nobody's."""
    return all(look_up(name) is getattr(builtins, name) for name in _MAKE) and _are_heapqs(look_up)


def _are_heapqs(look_up):
    if look_up("heapq") not in (heapq, MISSING) or any(getattr(heapq, name, None) is not f for name, f in _HEAPS.items()):
        return False
    return all(look_up(name) in (f, MISSING) for name, f in _HEAPS.items())


def _is_new(value):
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return isinstance(value.left, ast.List)
    called = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _MAKE
    return called or isinstance(value, (ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp))


def _is_of_heaps(function):
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id == "heapq" and function.attr in _HEAPS
    return isinstance(function, ast.Name) and function.id in _HEAPS


def _looked_into(s):
    """What a node reads or changes elements of: nothing else has it afterwards."""
    if isinstance(s, ast.Subscript):
        return [s.value]
    if isinstance(s, ast.Call) and _is_of_heaps(s.func):
        return s.args[:1]  # which has the list in the function's hands alone, and gives back an element at most
    if isinstance(s, ast.Call) and isinstance(s.func, ast.Attribute):
        return [s.func.value] if s.func.attr in _CHANGE else []
    if isinstance(s, ast.Call) and isinstance(s.func, ast.Name) and s.func.id == "len":
        return s.args
    if isinstance(s, ast.Compare) and all(isinstance(op, (ast.In, ast.NotIn)) for op in s.ops):
        return s.comparators
    if isinstance(s, (ast.While, ast.If)):
        return [s.test]
    if not isinstance(s, ast.For):
        return []
    views = isinstance(s.iter, ast.Call) and isinstance(s.iter.func, ast.Attribute) and s.iter.func.attr in _VIEWS
    return [s.iter.func.value if views else s.iter]
