"""Methods of lists in a compiled loop, and what is searched in them."""

import ast

from . import substitutes
from .growing import _number, added, find, items
from .list_views import TupleView
from .types import BOOL, INT, NotCompiled
from .values import Value
from .views import Vector


def method(lowering, a, node):
    """Of a list."""
    name, args = node.func.attr, [lowering.evaluate(x) for x in node.args]
    if hasattr(a, "method"):  # of a kind of its own
        return a.method(node, args)
    if node.keywords or any(isinstance(x, Vector) for x in args):
        raise NotCompiled(f"the method {name}() of a list with such arguments", node)
    if name == "append" and len(args) == 1:
        return a.append(args[0], node)
    if name == "pop" and len(args) < 2:
        return a.pop(args[0] if args else None, node)
    if name == "insert" and len(args) == 2:
        return a.insert(_number(lowering, args[0], node), args[1], node)
    if name == "extend" and len(args) == 1:
        return added(lowering, a, args[0], node)
    if name == "clear" and not args:
        a.changes(node)
        return a.clear()
    if name == "sort" and not args:
        a.changes(node)
        return substitutes.substituted(lowering, substitutes.sort, [a], node)
    if name == "reverse" and not args:
        a.changes(node)
        return a.reverse(node)
    if name == "copy" and not args:
        made = lowering.new_list(node)
        made.extend(a.length, a.element, node)
        return made
    if name in ("index", "count", "remove") and len(args) == 1:
        return searched(lowering, a, name, args[0], node)
    raise NotCompiled(f"the method {name}() of a list", node)


def searched(lowering, a, name, value, node):
    """index(), count() or, of one that may change, remove()."""
    p, (count, item) = lowering.p, items(lowering, a, node)
    if name == "count":
        found = lowering.variable("int64")
        p.set(found, lowering.zero)
        _, i = p.begin_count(lowering.zero, count)
        p.begin_if(lowering.compared(ast.Eq(), item(i), value, node).id)
        p.set(found, p.apply("add", p.get(found), lowering.one))
        p.end()
        p.end()
        return Value(INT, p.get(found))
    at = find(lowering, count, item, value, node)
    missing = p.apply("equal", at, count)
    if name == "remove":
        a.changes(node)
        lowering.fail_if(missing, lambda *_: [].remove(0), node)
        a.shift(p.apply("add", at, lowering.one), -1, node)
        return a.counts(p.apply("subtract", a.length, lowering.one))
    if not isinstance(value, Value) or value.kinds or value.type.object:
        raise NotCompiled("index() of what is no number of a known type", node)
    kind, whole, real = value.type, lowering.cast(value, "int64"), lowering.cast(value, "float64")
    none = () if isinstance(a, TupleView) else []
    lowering.fail_if(missing, lambda i, x, _: none.index(kind.of(x if kind.kind == "f" else i)), node, whole, real)
    return Value(INT, at)


def contains(lowering, a, value, node):
    """`value in a`"""
    count, item = items(lowering, a, node)
    return Value(BOOL, lowering.p.apply("less", find(lowering, count, item, value, node), count))
