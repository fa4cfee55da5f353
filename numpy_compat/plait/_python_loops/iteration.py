"""What a `for` of a compiled loop goes over: ranges, arrays and lists, and enumerate(), zip() and reversed() of those."""

import ast
import builtins
import operator

from .generators import consume, generator_of
from . import combined, records
from .growing import Growing
from .list_views import EmptyView
from .made import materialised
from .numerics import Indices
from .tables import Entries, Table, keys_named
from .over import by_place
from .passes import Nothing
from .texts import characters
from .types import INT, NotCompiled
from .values import Value
from .views import Vector, View, is_int


_HIDDEN = " over "


def begin(lowering, loop, start, stop, step):
    """The outermost loop, over some of the numbers of its range, or of the positions of its items."""
    if getattr(loop, "over", None) is None:
        return lowering.counted(loop, start, stop, step)
    lowering.keeps(loop, start, stop, step)
    try:
        _, item = _items(lowering, loop.iter, outermost=True)
    except Nothing:
        return lowering.block(loop.orelse)

    def bind(i):
        lowering.at = lowering.whole("add", start, Value(INT, i))
        lowering.store(loop.target, item(lowering.at.id))

    with keys_named(lowering, loop):
        lowering.loop(loop, lowering.trips(start, stop, step, loop), bind)


def iterate(lowering, loop):
    source = loop.iter
    if _is_call(lowering, source, builtins.range):
        return lowering.counted(loop, *_range(lowering, source))
    if (found := generator_of(lowering, source)) is not None:
        return consume(lowering, loop, *found)
    outside = {k for k in lowering.env if k.startswith(_HIDDEN)}
    around, lowering.gone_over = lowering.gone_over, []  # what one loop goes over may be a comprehension with others
    try:
        count, item = _items(lowering, source)
    except Nothing:
        lowering.gone_over = around
        return lowering.block(loop.orelse)
    hidden = {k for k in lowering.env if k.startswith(_HIDDEN)} - outside
    with keys_named(lowering, loop):
        lowering.loop(loop, count, lambda i: lowering.store(loop.target, item(i)))
    lowering.gone_over = around
    for name in hidden if lowering.env is not None else ():
        lowering.env.pop(name, None)


def _range(lowering, source):
    """Start, stop and step."""
    if not 1 <= len(source.args) <= 3 or source.keywords:
        raise NotCompiled("a range of so many numbers", source)
    numbers = [_int(lowering, a) for a in source.args]
    if len(numbers) == 1:
        numbers.insert(0, lowering.literal(0))
    if len(numbers) == 2:
        numbers.append(lowering.literal(1))
    return numbers


def _int(lowering, node):
    v = lowering.scalar(node)
    if not is_int(v):
        raise NotCompiled("a range of what is no int", node)
    return Value(INT, lowering.cast(v, "int64"), *([int(v.literal)] if v.known else []))


def _is_call(lowering, node, function):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and lowering.env.get(node.func.id) is function


def _items(lowering, source, outermost=False):
    """How many there are, and the item at a number. outermost: whether each iteration has the item at its own number to itself."""
    source = by_place(source)
    p = lowering.p
    if _is_call(lowering, source, builtins.range):
        start, stop, step = _range(lowering, source)
        return lowering.trips(start, stop, step, source), lambda i: lowering.whole("add", start, lowering.whole("multiply", Value(INT, i), step))
    if _is_call(lowering, source, builtins.enumerate) and len(source.args) in (1, 2) and not source.keywords:
        count, item = _items(lowering, source.args[0], outermost)
        if len(source.args) == 1:
            return count, lambda i: [Value(INT, i), item(i)]
        first = _int(lowering, source.args[1])
        return count, lambda i: [lowering.python_binary("add", operator.add, Value(INT, i), first, source), item(i)]
    if _is_call(lowering, source, builtins.zip) and source.args and not source.keywords:
        items = [_items(lowering, a, outermost) for a in source.args]
        count = items[0][0]
        for other, _ in items[1:]:
            count = p.apply("minimum", count, other)
        return count, lambda i: [item(i) for _, item in items]
    if _is_call(lowering, source, builtins.reversed) and len(source.args) == 1 and not source.keywords:
        count, item = _items(lowering, source.args[0])
        return count, lambda i: item(p.apply("subtract", p.apply("subtract", count, lowering.one), i))
    if combined.name_of(source) is not None:
        return combined.items(lowering, source, lambda part: _as_they_are(lowering, part, source))
    array = characters(lowering, lowering.evaluate(source), source)
    if isinstance(array, Growing):
        array.known(source)
        lowering.gone_over.append(array)
        return array.length, array.gone_over().element
    if isinstance(array, (Table, Entries, Indices)):
        return array.items(source)
    if isinstance(array, records.RecordArray):
        return records.items(lowering, array, source)
    if isinstance(array, list) and not array:
        raise Nothing("a tuple without parts", source)
    if isinstance(array, list):
        return lowering.number(len(array)), lambda i: lowering.chosen_of(array, i, source)
    if isinstance(array, EmptyView) and not lowering.facts.settled:  # it may still be found to grow
        lowering.facts.unknown = True
        raise Nothing("a loop over an empty list", source)
    if isinstance(array, Vector):
        array = materialised(lowering, array, source)
    if not isinstance(array, View) or array.scalar:
        raise NotCompiled("a loop over what is neither a range nor an array", source)
    own = (0, 0) if outermost and lowering.counter is not None else None
    if array.own_memory:  # which stays what the loop goes over, whatever becomes of its name
        lowering.env[f"{_HIDDEN}{len(lowering.env)}"] = array
    return array.dims[0][0], lambda i: array.item(i, own)


def _as_they_are(lowering, part, source):
    """The items of a range, an array or a list that the loop leaves as it is, as whoever has copied them before does not see what becomes of it."""
    if not _is_call(lowering, part, builtins.range):
        x = characters(lowering, lowering.evaluate(part), part)
        if type(x) is Growing and x.key not in lowering.facts.changed_lists:
            return _items(lowering, part)
        if not isinstance(x, (View, list)) or isinstance(x, EmptyView) or isinstance(x, View) and _changes(lowering, x):
            raise NotCompiled("a sequence that may change is combined with others", source)
    return _items(lowering, part)


def _changes(lowering, x):
    """Whether elements of an array are set. What is set lies apart from one that is given."""
    if x.own_memory:
        return x.slot in lowering.facts.mutated or x.slot.startswith("carried")
    for slot in sorted(lowering.facts.written):
        if slot != x.slot:
            lowering.facts.add(lowering.facts.apart, None, (slot, x.slot))
    return x.slot in lowering.facts.written
