"""Dicts and sets of a compiled loop: how they are made, their methods, and those that it is given."""

import ast
import builtins
import collections

from . import growing
from .list_comprehensions import filled
from .lists_in_lists import Boxed, NestedInput, heads, keys_of
from .tables import Entries, Key, Table, new
from .types import NotCompiled
from .views import Vector


def given(lowering, key, view):
    """What the loop was given, at its beginning."""
    shape, p, top = view.shape, lowering.p, lowering.top
    made = Table(lowering, key, shape.of)
    if key in lowering.facts.changed_lists:
        lowering.lists.append((key, made))
    made.begin(top)
    if shape.keys is None:
        return made
    if isinstance(shape.values, NestedInput):
        return _given_lists(lowering, made, key, view)
    count = view.dims[0][0]
    of = lambda shape, parts: parts if shape.of_tuples else parts[0]  # noqa: E731
    _, i = p.begin_count(lowering.zero, count)
    row, wide = view.row(i), len(shape.keys.columns)
    if shape.values is not None:
        made.learn_values(of(shape.values, row[wide:]), top)
    at, _ = made._insert(Key(lowering, of(shape.keys, row[:wide]), top), top)
    if shape.values is not None:
        made.put_value(at, of(shape.values, row[wide:]), top)
    p.end()
    return made


def _given_lists(lowering, made, key, view):
    """The same of a dict of lists."""
    p, top = lowering.p, lowering.top
    count, address, group, originals = heads(lowering, key, view)
    key_at = keys_of(lowering, view)
    if key in lowering.facts.changed_lists:
        lowering.lists.append((key, originals))
    _, i = p.begin_count(lowering.zero, count)
    value = Boxed(lowering, group, address(i))
    made.learn_values(value, top)
    at, _ = made._insert(Key(lowering, key_at(i), top), top)
    made.put_value(at, value, top)
    p.end()
    return made


def of_dict(lowering, node):
    """{k: v, ...}"""
    if any(k is None for k in node.keys):
        raise NotCompiled("a dict of another one's items", node)
    pairs = [(Key(lowering, lowering.evaluate(k), k), lowering.evaluate(v)) for k, v in zip(node.keys, node.values)]
    made = new(lowering, node, "dict")
    for key, value in pairs:
        made.set(key, value, node)
    return made


def of_set(lowering, node):
    """{a, b, ...}"""
    keys = [Key(lowering, lowering.evaluate(e), e) for e in node.elts]
    made = new(lowering, node, "set")
    for key in keys:
        made.add(key, node)
    return made


def of_comprehension(lowering, node):
    """{... for ... in ...}"""
    pairs = isinstance(node, ast.DictComp)
    item = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node) if pairs else node.elt
    return filled(lowering, new(lowering, node, "dict" if pairs else "set"), item, node)


_EMPTY = {builtins.dict: "dict", builtins.set: "set", collections.Counter: "Counter"}


def made_by(lowering, fn, node):
    """What dict(), set(), Counter() or defaultdict(int) makes; None of other calls."""
    if not isinstance(fn, type):
        return None
    if fn is collections.defaultdict:
        factory = lowering.evaluate(node.args[0]) if len(node.args) == 1 and not node.keywords else None
        if factory not in (builtins.int, builtins.float, builtins.list):
            raise NotCompiled("a defaultdict of others than int, float and list", node)
        return new(lowering, node, f"defaultdict of {factory.__name__}")
    of = _EMPTY.get(fn)
    if of is None:
        return None
    if node.keywords or len(node.args) > (of != "Counter"):
        raise NotCompiled(f"{of}() with such arguments", node)
    source = lowering.evaluate(node.args[0]) if node.args else None
    if isinstance(source, Table) and (of == "set") == (source.of == "set"):
        return _copied(lowering, source, of, node)
    if node.args and of == "dict":
        raise NotCompiled("dict() of what is no dict", node)
    made = new(lowering, node, of)
    if node.args:
        _update(lowering, made, source, node)
    return made


def _copied(lowering, a, of, node):
    made = new(lowering, node, of)
    if a.shape.keys is None or of != "set" and a.shape.values is None:
        return made
    a.tidy()
    _, i = lowering.p.begin_count(lowering.zero, a.length)
    key = Key(lowering, a.key_at(i), node)
    made.add(key, node) if of == "set" else made.set(key, a.value_at(i), node)
    lowering.p.end()
    return made


def _update(lowering, made, source, node):
    """Adds the items of a list or an array to a set."""
    made.changes(node)
    if isinstance(source, list):
        for x in source:
            made.add(Key(lowering, x, node), node)
        return
    count, item = growing.items(lowering, source, node)
    _, i = lowering.p.begin_count(lowering.zero, count)
    made.add(Key(lowering, item(i), node), node)
    lowering.p.end()


def method(lowering, a, node):
    """Of a dict or a set."""
    name, args = node.func.attr, [lowering.evaluate(x) for x in node.args]
    if node.keywords or any(isinstance(x, Vector) for x in args):
        raise NotCompiled(f"the method {name}() of a {a.of} with such arguments", node)
    if name == "clear" and not args:
        return a.clear(node)
    if name == "copy" and not args:
        return _copied(lowering, a, a.of, node)
    how = (_OF_SETS if a.of == "set" else _OF_DICTS).get((name, len(args)))
    if how is None:
        raise NotCompiled(f"the method {name}() of a {a.of} with {len(args)} arguments", node)
    if name == "pop" and len(args) == 2 and args[1] is None and node is lowering.unused:
        a.remove(Key(lowering, args[0], node), node, fails=False)
        return None
    if name == "update":
        return how(lowering, a, *args, node)
    return how(a, *([Key(lowering, args[0], node), *args[1:]] if args else []), node)


def _pop(a, key, node):
    if a.shape.keys is None or a.shape.values is None:
        a.loses(node)
        return a.nothing(key, node)[1]
    return a.value_at(a.remove(key, node))


_OF_SETS = {
    ("add", 1): lambda a, key, node: a.add(key, node),
    ("discard", 1): lambda a, key, node: (a.remove(key, node, fails=False), None)[1],
    ("remove", 1): lambda a, key, node: (a.remove(key, node), None)[1],
    ("update", 1): lambda lowering, a, source, node: _update(lowering, a, source, node),
}
_OF_DICTS = {
    ("get", 1): lambda a, key, node: a.found_or(a.by_key("find", key, node), None, node),
    ("get", 2): lambda a, key, other, node: a.found_or(a.by_key("find", key, node), other, node),
    ("setdefault", 2): lambda a, key, value, node: a.default(key, value, node)[1],
    ("pop", 1): _pop,
    ("pop", 2): lambda a, key, other, node: a.found_or(a.remove(key, node, fails=False), other, node),
    ("keys", 0): lambda a, node: Entries(a, "keys"),
    ("values", 0): lambda a, node: Entries(a, "values"),
    ("items", 0): lambda a, node: Entries(a, "items"),
}


def delete(lowering, target):
    """del d[key]"""
    base = lowering.evaluate(target.value) if isinstance(target, ast.Subscript) else None
    if not isinstance(base, Table) or base.of == "set":
        raise NotCompiled("what is deleted is no entry of a dict", target)
    base.remove(Key(lowering, lowering.evaluate(target.slice), target), target, fails=base.of != "Counter")
