"""Conditions of a compiled loop: what is true, comparisons, and expressions of which a part may be left out."""

import ast
import operator

import numpy

from . import comparisons, complexes, modular, objects, texts, words
from .arithmetic import COMPARISONS, is_small
from .growing import Growing
from .kinds import Kinds
from .list_methods import contains
from .list_views import ListView
from .lists_in_lists import Boxed, Named, named
from .passes import Nothing
from .tables import Table
from .types import BOOL, COMPLEX, FLOAT, INT, UINT, NotCompiled, is_time, joined
from .values import Listed, Value, kinds_of
from .views import Described, Vector, View


_COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


class Conditions(Kinds):
    """Of a Lowering, which has the procedure `p`, variables and statements."""

    def truth(self, value, node):
        value = words.as_value(self, value)
        if isinstance(value, (Growing, Table)):
            return self.p.apply("not_equal", value.length, self.zero)
        if isinstance(value, ListView) and not value.scalar:
            return self.p.apply("not_equal", value.dims[0][0], self.zero)
        if not isinstance(value, Value):
            raise NotCompiled("what is no number decides", node)
        if is_time(value.type.dtype):
            return self.p.apply("not_equal", self.word(value, "int64"), self.zero)
        return value.id if value.type.kind == "b" else self.p.apply("not_equal", value.id, self.p.const(value.type.dtype, 0))

    def decides(self, node):
        """Whether an expression is true, where that is known as the loop is compiled, else None; and what says so as it runs."""
        if not isinstance(node, ast.BoolOp) and not (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
            test = self.evaluate(node)
            if isinstance(test, Value) and test.known:
                return bool(test.literal), None
            return None, self.truth(test, node)
        return None, self.condition(node)

    def condition(self, node):
        """Whether an expression is true: of `and` and `or` as well where operands are no numbers."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.negated(self.condition(node.operand))
        if not isinstance(node, ast.BoolOp):
            return self.truth(self.evaluate(node), node)
        held = self.variable("bool")
        stop, wider = self.p.begin_if(None), {}
        for at, operand in enumerate(node.values):
            if at:
                wider |= words.known_behind(self, node, at)
            self.perhaps += at > 0
            try:
                self.p.set(held, self.condition(operand))
            except Nothing:
                if not at:
                    raise
                break  # this and what follows is not reached
            finally:
                self.perhaps -= at > 0
            if at + 1 < len(node.values):
                self.p.break_(stop, self.p.get(held) if isinstance(node.op, ast.Or) else self.negated(self.p.get(held)))
        self.p.end()
        self.env |= wider
        return self.p.get(held)

    def of_BoolOp(self, node):
        """The first operand that decides, which may be a number; later ones are computed only where they are asked for."""
        held, key = self.chosen(node), (node, "value")
        stop = self.p.begin_if(None)
        for at, operand in enumerate(node.values):
            try:
                value = self.later(operand) if at else self.evaluate(operand)
            except Nothing:
                if at:
                    break  # this and what follows
                raise
            self.choose(held, key, self.a_number(value, operand), node)
            if at + 1 < len(node.values):
                truth = self.truth(value, operand)
                self.p.break_(stop, truth if isinstance(node.op, ast.Or) else self.negated(truth))
        self.p.end()
        return self.choice(held, key)

    def of_IfExp(self, node):
        held, key = self.chosen(node), (node, "value")
        known, condition = self.decides(node.test)
        if known is not None:
            return self.evaluate(node.body if known else node.orelse)
        self.p.begin_if(condition)
        either = Either(self, node)
        for way in (node.body, node.orelse):
            try:
                value = self.later(way)
                if either.takes(value):
                    either.set(value)
                else:
                    self.choose(held, key, self.a_number(value, way), node)
            except Nothing:
                if way is node.orelse and key not in self.facts.merges:
                    raise
            if way is node.body:
                self.p.otherwise()
        self.p.end()
        return either.value() if either.found else self.choice(held, key)

    def of_Compare(self, node):
        a = self.evaluate(node.left)
        if len(node.ops) == 1:
            op, b = node.ops[0], self.evaluate(node.comparators[0])
            if type(op) in COMPARISONS and not texts.is_long(a) and not texts.is_long(b) and (isinstance(a, (View, Vector)) or isinstance(b, (View, Vector))):
                return Vector.elementwise(self, lambda x, y: self.compared(op, x, y, node), (a, b), node)
            return self.compared(op, a, b, node)
        held, key = self.chosen(node), (node, "value")
        stop = self.p.begin_if(None)
        for at, (op, right) in enumerate(zip(node.ops, node.comparators)):
            try:
                b = self.later(right) if at else self.evaluate(right)
            except Nothing:
                if at:
                    break
                raise
            result = self.compared(op, a, b, node)
            self.choose(held, key, result, node)
            if at + 1 < len(node.ops):
                self.p.break_(stop, self.negated(result.id))
            a = b
        self.p.end()
        return self.choice(held, key)

    def compared_by(self, op, a, b, node):
        return self.compared(op(), a, b, node).id

    def is_among(self, value, many, node):
        """`value in many`"""
        if isinstance(many, str) or texts.is_long(many):
            return texts.contains(self, many, value, node)
        if isinstance(many, (Growing, ListView)):
            return contains(self, many, value, node)
        if isinstance(many, Table):
            return many.contains(value, node)
        if not isinstance(many, list):
            raise NotCompiled("whether something is in what is no list", node)
        found = self.literal(False)
        for x in many:
            found = Value(BOOL, self.p.apply("logical_or", found.id, self.truth(self.compared(ast.Eq(), value, x, node), node)))
        return found

    def ordered(self, op, a, b, node):
        """A comparison of tuples: the first parts that differ decide."""
        found = self.literal(isinstance(op, (ast.LtE, ast.GtE)))
        strict = ast.Lt() if isinstance(op, (ast.Lt, ast.LtE)) else ast.Gt()
        for x, y in reversed([*zip(a, b)]):
            alike, before = (self.truth(self.compared(how, x, y, node), node) for how in (ast.Eq(), strict))
            found = Value(BOOL, self.p.apply("where", alike, found.id, before))
        return found

    def compared(self, op, a, b, node):
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self.is_among(a, b, node)
            return found if isinstance(op, ast.In) else Value(BOOL, self.negated(found.id))
        if (found := comparisons.compared(self, op, a, b, node)) is not None:
            return found
        if isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)) and objects.are_members(a, b):
            return self.literal((a is b) == isinstance(op, (ast.Eq, ast.Is)))
        if isinstance(a, list) and isinstance(b, list) and isinstance(op, (ast.Eq, ast.NotEq)) and isinstance(a, Listed) == isinstance(b, Listed):
            alike = self.literal(len(a) == len(b))
            for x, y in zip(a, b) if len(a) == len(b) else ():
                alike = Value(BOOL, self.p.apply("logical_and", alike.id, self.truth(self.compared(ast.Eq(), x, y, node), node)))
            return alike if isinstance(op, ast.Eq) else Value(BOOL, self.negated(alike.id))
        if isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            return self.ordered(op, a, b, node)
        if not (isinstance(a, Value) and isinstance(b, Value)) or type(op) not in COMPARISONS:
            raise NotCompiled("a comparison of what are no numbers", node)
        fn = COMPARISONS[type(op)]

        def compute(a, b):
            b = complexes.as_pythons(a, b)
            if a.known and b.known and a.type.python and b.type.python:
                return self.literal(_COMPARE[type(op)](a.literal, b.literal))
            if a.type.python and b.type.python:
                kind = joined(a.type, b.type)
                if kind == UINT:
                    return Value(BOOL, modular.compared(self, fn, a, b))
                if kind == COMPLEX and any(v.type == INT and not (v.known and abs(v.literal) <= 2**53) for v in (a, b)):
                    raise NotCompiled("an int is compared with a complex number", node)
                if kind == FLOAT and a.type != b.type and not is_small(a) and not is_small(b):
                    return Value(BOOL, self.int_and_float(fn, a, b))
                kind = INT if kind == BOOL else kind
                return Value(BOOL, self.p.apply(fn, self.cast(a, kind.dtype), self.cast(b, kind.dtype)))
            return self.ufunc(getattr(numpy, fn), a, b, node=node)

        if all(t.python and t.kind != "c" and (t != UINT or not v.kinds) for v in (a, b) for t in kinds_of(v)):  # by their values, whatever their types
            return compute(a._replace(kinds=frozenset()), b._replace(kinds=frozenset()))
        return self.each((a, b), compute, node)


class Either:
    """What `x if c else y` gives of lists and parts of arrays."""

    def __init__(self, lowering, node):
        self.lowering, self.node, self.found = lowering, node, None

    def takes(self, value):
        return self.found is not None or isinstance(value, Growing) or isinstance(value, View) and not value.scalar

    def set(self, value):
        low, node = self.lowering, self.node
        if isinstance(value, Boxed):
            made = named(low, f" if {node.lineno}.{node.col_offset}", value, node)
        elif isinstance(value, View) and not value.scalar and not isinstance(self.found, Growing):
            made = (self.found if isinstance(self.found, Described) else Described(low, value)).set(value, node)
        else:
            made = value
        if self.found not in (None, made):
            raise NotCompiled("one of several that are no numbers", node)
        self.found = made

    def value(self):
        return self.found.now() if isinstance(self.found, Named) else self.found.view() if isinstance(self.found, Described) else self.found
