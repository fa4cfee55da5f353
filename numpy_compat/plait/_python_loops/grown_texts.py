"""Texts that a compiled loop builds (`s += c`): the variable has a list of the characters that it stands for now, and Python's text is made where the loop
ends. As texts never change, one that gets another's has a copy."""

import ast

from . import words
from .carried import CarriedList
from .growing import Element, Growing
from .list_views import TextView
from .passes import Again
from .types import ASCII, BEYOND, NotCompiled, Shape, TEXT, TEXTS, column_of, text_of
from .values import Value, kinds_of
from .wanted import CHARACTERS, WantedAs


class Joined:
    """a + b + c, which are texts."""

    def __init__(self, parts):
        self.parts = parts


class Characters:
    """What "".join() gets: a list of texts."""

    def __init__(self, of):
        self.of = of


def added(a, b):
    parts = [part for x in (a, b) for part in (x.parts if isinstance(x, Joined) else [x])]
    return Joined(parts)


def joined(lowering, many, node):
    """"".join(many)"""
    if isinstance(many, list):
        return Joined([words.as_value(lowering, x) for x in many])
    if isinstance(many, CarriedText) or not isinstance(many, Growing) or many.shape.of_tuples or not many.shape.columns[0].kinds <= TEXTS:
        raise NotCompiled("what is joined is no list of texts", node)
    return Joined([Characters(many)])


def carry(lowering, key, node):
    """A variable is a text that grows."""
    if key in lowering.inputs and key not in lowering.arrays:
        if key not in lowering.arguments or lowering.inputs[key] != TEXT:
            raise NotCompiled(f"{key} becomes a text, and was none", node)
        raise WantedAs(key, CHARACTERS, node)
    lowering.facts.add(lowering.facts.carried_texts, None, key)
    lowering.facts.add(lowering.facts.behind, None, key)  # so that Python is told
    raise Again("a text grows", node)


class CarriedText(CarriedList):
    shape = Shape(False, (column_of(frozenset({TEXT})),))

    def begin(self, view):
        self.lowering.p.set(self.count, self.lowering.zero)
        self.given = isinstance(view, TextView)
        if self.given:
            self.fill(view.dims[0][0], view.item, self.lowering.top)

    def read(self, node):
        low = self.lowering
        if not self.given:
            low.fail_if(low.same(low.p.get(self.moved), 0), lambda *_: low.unbound(self.key), node)
        return self

    def sets(self, node):
        self.lowering.effects += 1
        self.lowering.p.set(self.moved, self.lowering.one)

    def part(self, lowering, node):
        if isinstance(node.slice, (ast.Slice, ast.Tuple)) or isinstance(node.ctx, ast.Store):
            raise NotCompiled("a part of a text that grows", node)
        return Element(self, self.checked(lowering.evaluate(node.slice), node, lambda *_: ""[0]))

    def assign(self, value, node):
        low = self.lowering
        parts = [_checked(low, x, node) for x in (value.parts if isinstance(value, Joined) else [value])]
        if parts == [self]:
            return
        if any(x is self for x in parts[1:]):
            made = low.new_list(node)
            made.widen(self.shape, node)
            for part in parts:
                _extend(low, made, part, node)
            parts = [made]
        self.changes(node)
        if parts[0] is not self:
            self.clear()
        for part in parts[parts[0] is self :]:
            _extend(low, self, part, node)

    def found(self, results, heap, _):
        moved, address, count = results
        if not moved:
            return None
        return text_of(heap.array(address, count, "int64")) if count else ""


def _checked(lowering, part, node):
    """A part of what a text becomes, of which each text has one character, or none, or is a constant: before anything changes."""
    p = lowering.p
    if isinstance(part, (TextView, CarriedText, str)) or isinstance(part, Value) and part.known and part.type in TEXTS:
        return part
    if isinstance(part, Characters):
        _, i = p.begin_count(lowering.zero, part.of.length)
        _checked(lowering, part.of.element(i), node)
        p.end()
        return part
    if not isinstance(part, Value) or not kinds_of(part) & TEXTS:
        raise NotCompiled("a text becomes something else", node)
    part = words.only(lowering, part, TEXTS, node)
    if kinds_of(part) != {ASCII}:
        words.by_python(lowering, p.apply("greater", part.id, lowering.number(BEYOND)), node)
    return part


def _extend(lowering, made, part, node):
    """Puts the characters of a text behind others."""
    p = lowering.p
    if isinstance(part, TextView):
        made.fill(part.dims[0][0], part.item, node)
    elif isinstance(part, Growing):
        made.fill(part.length, part.element, node)
    elif isinstance(part, Characters):
        _, i = p.begin_count(lowering.zero, part.of.length)
        _append(lowering, made, part.of.element(i), node)
        p.end()
    elif isinstance(part, str) or part.known:
        for c in part if isinstance(part, str) else part.literal:
            _append(lowering, made, words.as_value(lowering, c), node)
    else:
        _append(lowering, made, part, node)


def _append(lowering, made, value, node):
    """Of a text of one character, or of none."""
    p = lowering.p
    p.begin_if(p.apply("not_equal", value.id, lowering.zero))
    n = made.length
    more = p.apply("add", n, lowering.one)
    made.reserve(more, node)
    made.put(n, [value.id])
    p.set(made.count, more)
    p.end()
