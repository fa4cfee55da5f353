"""What a `for` inside a compiled loop goes over: ranges, arrays, and enumerate() and zip() of those."""

import ast
import builtins

from .types import INT, NotCompiled
from .views import View, is_int


def iterate(lowering, loop):
    source = loop.iter
    if _is_call(lowering, source, builtins.range):
        if not 1 <= len(source.args) <= 3 or source.keywords:
            raise NotCompiled("a range of so many numbers", source)
        numbers = [_int(lowering, a) for a in source.args]
        if len(numbers) == 1:
            numbers.insert(0, lowering.literal(0))
        if len(numbers) == 2:
            numbers.append(lowering.literal(1))
        return lowering.counted(loop, *numbers)
    count, value = _items(lowering, source)
    lowering.loop(loop, count, lambda i: lowering.store(loop.target, value(i)))


def _int(lowering, node):
    from .expressions import Value

    v = lowering.scalar(node)
    if not is_int(v):
        raise NotCompiled("a range of what is no int", node)
    return Value(INT, lowering.cast(v, "int64"), *([int(v.literal)] if v.known else []))


def _is_call(lowering, node, function):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and lowering.env.get(node.func.id) is function


def _items(lowering, source):
    """How many there are, and the item at a number."""
    from .expressions import Value

    if _is_call(lowering, source, builtins.range):
        raise NotCompiled("a range beside others", source)
    if _is_call(lowering, source, builtins.enumerate) and len(source.args) == 1 and not source.keywords:
        count, value = _items(lowering, source.args[0])
        return count, lambda i: [Value(INT, i), value(i)]
    if _is_call(lowering, source, builtins.zip) and source.args and not source.keywords:
        items = [_items(lowering, a) for a in source.args]
        count = items[0][0]
        for other, _ in items[1:]:
            count = lowering.p.apply("minimum", count, other)
        return count, lambda i: [value(i) for _, value in items]
    array = lowering.evaluate(source)
    if not isinstance(array, View) or array.scalar:
        raise NotCompiled("a loop over what is neither a range nor an array", source)

    def value(i):
        extent, stride = array.dims[0]
        p = lowering.p
        part = array.moved(p.apply("add", array.offset, p.apply("multiply", i, stride)), array.dims[1:], f"{array.text}[{i}]")
        return part.load() if part.scalar else part

    return array.dims[0][0], value
