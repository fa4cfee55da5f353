"""Expressions of a compiled loop: numbers as Python and NumPy compute them, with their errors."""

import ast
import builtins
import operator
import types

import numpy

from . import calls, comparisons, complexes, draws, growing, list_comprehensions, list_methods, list_parts, modular, number_methods, objects, printing, products, pythons_draws, tables, texts, times, words
from .by_python import Resumption
from .comprehensions import COMPREHENSIONS
from .dry import resolved
from .growing import Element, Growing, repeated
from .heeding import KINDS
from .kinds import Kinds
from .lists_in_lists import Boxed, Named, named
from .made import materialised, of_numbers
from .matching import of_matched
from .pythons_draws import PythonsGenerator
from . import records
from .comprehension_folds import folded, may_fold
from .generators import resume
from .list_methods import contains
from .passes import Again, Nothing
from .selected import Selected
from .tables import Entries, Table
from .tracebacks import Failure, Place, outgrown, outgrows
from .trying import handled
from .types import BOOL, COMPLEX, FLOAT, INT, UINT, NotCompiled, Scalar, is_complex, is_time, joined, scalar_of
from .values import Listed, Value, kinds_of
from .views import Described, ExtentsView, GridView, ListView, TupleView, Vector, View, array_view, grown, is_int

_OPERATORS = {
    ast.Add: ("add", operator.add), ast.Sub: ("subtract", operator.sub), ast.Mult: ("multiply", operator.mul),
    ast.Div: ("true_divide", operator.truediv), ast.FloorDiv: ("floor_divide", operator.floordiv), ast.Mod: ("remainder", operator.mod),
    ast.Pow: ("power", operator.pow), ast.BitAnd: ("bitwise_and", operator.and_), ast.BitOr: ("bitwise_or", operator.or_),
    ast.BitXor: ("bitwise_xor", operator.xor), ast.LShift: ("left_shift", operator.lshift), ast.RShift: ("right_shift", operator.rshift),
    ast.MatMult: ("matmul", operator.matmul),
}  # fmt: skip
_COMPARISONS = {
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal",
}  # fmt: skip
_COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_MAY_WARN = {
    numpy.sqrt, numpy.log, numpy.log2, numpy.log10, numpy.log1p, numpy.arcsin, numpy.arccos, numpy.arccosh, numpy.arctanh, numpy.sin, numpy.cos, numpy.tan,
    numpy.power, numpy.fmod,
}  # fmt: skip


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


class Expressions(Kinds):
    """Of a Lowering, which has the procedure `p`, variables and statements."""

    def evaluate(self, node):
        how = getattr(self, "of_" + type(node).__name__, None)
        if how is None:
            raise NotCompiled(f"{type(node).__name__} expressions are Python's", node)
        return how(node)

    def scalar(self, node):
        return words.number(self, self.a_number(self.evaluate(node), node), node)

    def a_number(self, value, node):
        value = words.as_value(self, value)
        if not isinstance(value, Value):
            raise NotCompiled("a number is wanted here", node)
        return value

    def literal(self, x):
        t = scalar_of(x)
        if t is None:
            raise NotCompiled(f"the constant {x!r}")
        return Value(t, self.p.const(t.dtype, x), x)

    def fail_if(self, condition, again, node, i=None, a=None, b=None, error=None):
        """Leaves the kernel where `condition` holds. again(i, a, b): raises what Python raises there, of the class `error` where that is known."""
        self.p.begin_if(condition)
        for local, v in zip(self.kept, (i, a, b)):
            if v is not None:
                self.p.set(local, v() if callable(v) else v)
        self.fails(again, node, error)
        self.p.end()

    def fails(self, again, node, error=None):
        """Leaves the kernel, or goes on where an error of this class leads."""
        outgrown = getattr(again, "outgrown", False)
        if self.tries and not isinstance(again, Resumption) and not getattr(again, "fatal", False):
            if error is not None and not outgrown and handled(self, error):
                return
            again = self.resumption()
            if again is None:
                raise NotCompiled("an error in a `try`, where Python cannot be told what variables are", node)
        elif outgrown:
            again = self.resumption(outgrows(again)) or again
        self.failures.append(Failure(again, self.places(node)))
        self.p.set(self.site, self.number(len(self.failures)))
        self.p.break_(self.root)

    def places(self, node):
        """Where the source is that is lowered now: that of the calls around it, and its own."""
        found, function = [], None
        for frame in self.frames:
            if frame.function is not None:
                found.append(Place.of(function, frame.key[0]))
                function = frame.function
        return (*found, Place.of(function, node))

    # numbers

    def cast(self, value, dtype):
        if value.type.dtype == dtype:
            return value.id
        return times.converted(self, value, dtype) if is_time(dtype) else self.p.cast(value.id, dtype)

    def word(self, value, dtype):
        """As one of the words of an element of a list or a dict."""
        return self.p.parts(value.id)[0] if is_time(value.type.dtype) else self.cast(value, dtype)

    def same(self, v, number):
        return self.p.apply("equal", v, self.p.const(self.p.type(v), number))

    def negated(self, v):
        return self.p.apply("logical_not", v)

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

    def whole(self, fn, a, b):
        """Of int64 that cannot overflow: places and counts."""
        return Value(INT, self.p.apply(fn, a.id, b.id))

    def trips(self, start, stop, step, node):
        """How many numbers a range has."""
        if step.known and step.literal and all(v.known and abs(v.literal) < 2**62 for v in (start, stop, step)):
            return self.number(len(range(start.literal, stop.literal, step.literal)))  # loops of few iterations are unrolled
        if step.known:
            if step.literal == 0:
                raise NotCompiled("a range of step 0", node)
            ends = (start, stop) if step.literal > 0 else (stop, start)
            size = abs(step.literal)
            length = self.p.apply("subtract", ends[1].id, ends[0].id)
            if size > 1:
                self.fail_if(self.p.overflows("subtract", ends[1].id, ends[0].id), _too_large, node)
            else:
                return self.p.apply("maximum", length, self.zero)
            width = self.number(size)
        else:
            self.fail_if(self.same(step.id, 0), lambda *_: range(0, 1, 0), node)
            up = self.p.apply("greater", step.id, self.zero)
            forward, back = self.p.apply("subtract", stop.id, start.id), self.p.apply("subtract", start.id, stop.id)
            length = self.p.apply("where", up, forward, back)
            width = self.p.apply("absolute", step.id)
        rounded = self.p.apply("add", length, self.p.apply("subtract", width, self.one))
        return self.p.apply("maximum", self.p.apply("floor_divide", rounded, width), self.zero)

    def binary(self, op, a, b, node):
        fn, again = _OPERATORS[type(op)]
        if fn == "add" and texts.is_text(a) and texts.is_text(b):
            return texts.added(a, b)
        if (made := printing.binary(op, a, b)) is not None:
            return made
        if fn == "matmul":
            return products.dot(self, a, b, again, node)
        if isinstance(a, (View, Vector)) or isinstance(b, (View, Vector)):
            return Vector.elementwise(self, lambda x, y: self.binary(op, x, y, node), (a, b), node)
        a, b = (words.as_value(self, x) for x in (a, b))
        if not (isinstance(a, Value) and isinstance(b, Value)):
            raise NotCompiled("an operation on what is no number", node)

        def compute(a, b):
            b = complexes.as_pythons(a, b)
            if a.type.python and b.type.python:
                return self.python_binary(fn, again, a, b, node)
            return self.ufunc(getattr(numpy, fn), a, b, node=node)

        return self.each((a, b), compute, node)

    def python_binary(self, fn, again, a, b, node):
        if a.known and b.known and (known := _folded(again, a.literal, b.literal)) is not None:
            return self.literal(known)
        kind = joined(a.type, b.type)
        if kind == COMPLEX:
            return complexes.python_binary(self, fn, again, a, b, node)
        if kind == UINT and fn == "power":
            raise NotCompiled("a power of an int of 64 bits", node)
        if kind == UINT and fn != "true_divide":
            return modular.binary(self, fn, again, a, b, node)
        if kind == BOOL and fn in ("bitwise_and", "bitwise_or", "bitwise_xor"):
            return Value(BOOL, self.p.apply(fn, a.id, b.id))
        if kind == BOOL:
            kind = INT
        if fn == "true_divide":
            kind = FLOAT
        x, y = self.cast(a, kind.dtype), self.cast(b, kind.dtype)
        if fn in ("floor_divide", "remainder") and kind == INT and b.known and b.literal > 0 and b.literal & b.literal - 1 == 0:
            by = self.number(b.literal.bit_length() - 1 if fn == "floor_divide" else b.literal - 1)
            return Value(INT, self.p.apply("right_shift" if fn == "floor_divide" else "bitwise_and", x, by))
        if fn in ("true_divide", "floor_divide", "remainder"):
            zeros = (a.type.of(1), b.type.of(0))
            self.fail_if(self.same(y, 0), lambda *_: again(*zeros), node, error=ZeroDivisionError)
            if fn == "floor_divide" and kind == INT and not (b.known and b.literal != -1) and not (a.known and a.literal != -(2**63)):
                self.fail_if(self.p.apply("logical_and", self.same(y, -1), self.same(x, -(2**63))), _too_large, node)
        elif fn == "power":
            return self.power(kind, x, y, b, node)
        elif fn in ("left_shift", "right_shift"):
            return self.shift(fn, kind, x, y, node)
        elif kind == INT and fn in ("add", "subtract", "multiply"):
            self.fail_if(self.p.overflows(fn, x, y), _too_large, node)
        elif kind == FLOAT and fn.startswith("bitwise"):
            raise NotCompiled("bits of floats", node)
        return Value(kind, self.p.apply(fn, x, y))

    def power(self, kind, x, y, b, node):
        if kind == FLOAT:
            return self.float_power(x, y, b, node)
        if not (b.known and 0 <= b.literal <= 64):
            return Value(INT, self.power_by_squares(x, y, node))
        v, n = None, b.literal
        while n:
            if n & 1:
                v = x if v is None else self.product(v, x, node)
            n >>= 1
            x = self.product(x, x, node) if n else x
        return Value(INT, self.one if v is None else v)

    def power_by_squares(self, x, n, node):
        """x ** n of ints, by squares. A negative exponent's floats are Python's."""
        p, one = self.p, self.one
        self.fail_if(p.apply("less", n, self.zero), _fraction, node)
        v, square, left = (self.p.local("int64") for _ in range(3))
        for local, start in ((v, one), (square, x), (left, n)):
            p.set(local, start)
        done = p.begin_repeat()
        p.begin_if(p.apply("not_equal", p.apply("bitwise_and", p.get(left), one), self.zero))
        p.set(v, self.product(p.get(v), p.get(square), node))
        p.end()
        p.set(left, p.apply("right_shift", p.get(left), one))
        p.break_(done, self.same(p.get(left), 0))
        p.set(square, self.product(p.get(square), p.get(square), node))
        p.end()
        return p.get(v)

    def product(self, x, y, node):
        self.fail_if(self.p.overflows("multiply", x, y), _too_large, node)
        return self.p.apply("multiply", x, y)

    def float_power(self, x, y, b, node):
        if b.known and b.literal == 2:
            v = self.p.apply("multiply", x, x)
        else:
            of = lambda fn, *v: self.p.apply(fn, *v)  # noqa: E731
            zero = self.p.const("float64", 0.0)
            if not (b.known and b.literal >= 0):
                self.fail_if(of("logical_and", self.same(x, 0), of("less", y, zero)), lambda *_: 0.0**-1, node)
            if b.type.kind == "f" and not (b.known and b.literal == int(b.literal)):
                odd = of("logical_and", of("isfinite", y), of("not_equal", of("floor", y), y))
                negative = of("logical_and", of("less", x, zero), of("isfinite", x))
                self.fail_if(of("logical_and", odd, negative), _complex, node)
            v = self.p.call("pow", x, y)
        finite = self.p.apply("logical_and", self.p.apply("isfinite", x), self.p.apply("isfinite", y))
        self.fail_if(self.p.apply("logical_and", self.p.apply("isinf", v), finite), lambda *_: 1e300**2, node)
        return Value(FLOAT, v)

    def shift(self, fn, kind, x, y, node):
        if kind != INT:
            raise NotCompiled("a shift of what is no int", node)
        self.fail_if(self.p.apply("less", y, self.zero), lambda *_: 1 << -1, node)
        beyond = self.p.apply("logical_and", self.p.apply("greater", y, self.number(63)), self.p.apply("not_equal", x, self.zero))
        y = self.p.apply("minimum", y, self.number(63))
        v = self.p.apply(fn, x, y)
        if fn == "left_shift":
            self.fail_if(self.p.apply("not_equal", self.p.apply("right_shift", v, y), x), _too_large, node)
            self.fail_if(beyond, _too_large, node)
        return Value(INT, v)

    def ufunc(self, fn, *values, node):
        """A ufunc of NumPy's of scalars."""
        if fn is numpy.power and values[1].known and values[1].literal == 2 and not values[0].type.python:
            square = self.ufunc(numpy.multiply, values[0], values[0], node=node)
            return complexes.square(self, values[0], square) if values[0].type.kind == "c" else square
        self.facts.numpys = True
        try:
            ins, out = resolved(fn, *(v.type for v in values))
        except TypeError as e:
            raise NotCompiled(str(e), node) from None
        if any(map(is_time, (*ins, out))):
            return times.ufunc(self, fn, ins, out, values, node)
        if any(map(is_complex, ins)):
            return complexes.ufunc(self, fn, ins, out, values, node)
        if any(d not in _DTYPES for d in (*ins, out)):
            raise NotCompiled(f"{fn.__name__} of dtype {out}", node)
        if out[0] in "iu" and fn is numpy.power and not (values[1].type.kind == "u" or values[1].known and values[1].literal >= 0):
            raise NotCompiled("a power of NumPy's integers whose exponent may be negative", node)
        if fn.__name__ in _COMPARISONS.values() and any(v.type == INT for v in values) and ins[0][0] in "iu":
            if ins[0] == "uint64" and not all(v.known and v.literal >= 0 or v.type.kind == "u" for v in values):
                raise NotCompiled("an int is compared with uint64", node)
            ins = ins if ins[0] == "uint64" else ["int64"] * 2  # any int is compared, whether the other's dtype has it or not
        if any(v.type == UINT for v in values):
            values = [modular.narrowed(self, v, node) if v.type == UINT and d[0] in "iu" and d != "uint64" else v for v, d in zip(values, ins)]
        for v, dtype in zip(values, ins):
            if v.type == INT and dtype[0] in "iu" and dtype != "int64":
                self.fits(v, dtype, lambda i, *_: fn(i, numpy.dtype(dtype).type(0)), node)
        ids = [self.truth(v, node) if dtype == "bool" else self.cast(v, dtype) for v, dtype in zip(values, ins)]
        if "float16" in ins:  # computed as float32, and rounded
            ids = [self.p.cast(v, "float32") if self.p.type(v) == "float16" else v for v in ids]
        v = self.p.apply(fn.__name__, *ids)
        self.heed(fn, ids, v, ins[-1], isinstance(node, (ast.BinOp, ast.AugAssign)) and not self.of_arrays)
        return Value(Scalar(out), self.p.cast(v, out) if out == "float16" else v)

    def heed(self, fn, operands, v, dtype, scalar):
        """Notes what NumPy warns of, but for sums and products that overflow."""
        name = f"scalar {fn.__name__}" if scalar else fn.__name__
        of, same, negated = self.p.apply, self.same, self.negated
        divides, real = fn in (numpy.divide, numpy.floor_divide, numpy.remainder), dtype[0] == "f"
        if divides and not real:
            self.warn_if(same(operands[1], 0), f"divide by zero encountered in {name}")
        elif divides:
            a, b = operands
            self.p.begin_if(of("isfinite", v))  # all there is to look at where nothing is odd
            self.p.otherwise(rare=True)
            zero = same(b, 0)
            nothing = of("logical_and", zero, same(a, 0) if fn is not numpy.remainder else negated(of("isnan", a)))
            other = of("isinf", b) if fn is numpy.divide else of("logical_not", of("logical_or", of("isnan", b), zero))
            odd = of("logical_or", nothing, of("logical_and", of("isinf", a), other))
            self.warn_if(odd, f"invalid value encountered in {name}")
            if fn is not numpy.remainder:
                zero = of("logical_and", of("logical_and", zero, negated(same(a, 0))), of("isfinite", a))
                self.warn_if(zero, f"divide by zero encountered in {name}")
            self.p.end()
        elif real and fn in _MAY_WARN:
            logs = fn in (numpy.log, numpy.log2, numpy.log10)
            self.p.begin_if(of("isfinite", v) if logs else negated(of("isnan", v)))
            self.p.otherwise(rare=True)
            fresh = of("isnan", v)
            for x in operands:
                fresh = of("logical_and", fresh, negated(of("isnan", x)))
            self.warn_if(fresh, f"invalid value encountered in {name}")
            if logs:
                self.warn_if(same(operands[0], 0), f"divide by zero encountered in {name}")
            self.p.end()

    def warn_if(self, condition, text):
        if KINDS.get(text.split()[0]) in self.ignored:
            return
        if text not in self.warnings:
            self.warnings.append(text)
        bit = self.number(1 << self.warnings.index(text))
        self.p.begin_if(condition)
        self.p.set(self.heard, self.p.apply("bitwise_or", self.p.get(self.heard), bit))
        self.p.end()

    # nodes

    def of_Constant(self, node):
        if node.value is None or isinstance(node.value, str):
            return node.value
        return self.literal(node.value)

    def of_JoinedStr(self, node):
        return printing.of_fstring(self, node)

    def of_Name(self, node):
        return self.read(node.id, node)

    def in_order(self, node, *operands):
        """What these give, one after the other: an expression of arrays is computed before anything changes that it reads."""
        found = []
        for of in operands:
            if node in self.facts.eager:
                found = [materialised(self, x, node) if isinstance(x, Vector) else x for x in found]
            before = self.effects
            found.append(of())
            if self.effects != before and any(isinstance(x, Vector) for x in found[:-1]):
                self.facts.add(self.facts.eager, None, node)
                raise Again("an operand changes what another one reads", node)
        return found

    def of_BinOp(self, node):
        if (v := modular.masked(self, node)) is not None:
            return v
        a, b = self.in_order(node, lambda: self.evaluate(node.left), lambda: self.evaluate(node.right))
        if isinstance(a, Listed) and isinstance(node.op, ast.Mult):
            return repeated(self, a, b, node)
        if isinstance(node.op, ast.Add) and list_parts.are_lists(a, b):
            return list_parts.joined(self, (a, b), node)
        return self.binary(node.op, a, b, node)

    def of_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            return Value(BOOL, self.condition(node))
        a = self.evaluate(node.operand)
        if isinstance(a, (View, Vector)):
            return Vector.elementwise(self, lambda x: self.unary(node.op, x, node), (a,), node)
        return self.each((a,), lambda a: self.unary(node.op, a, node), node)

    def unary(self, op, a, node):
        if not isinstance(a, Value):
            raise NotCompiled("an operation on what is no number", node)
        if isinstance(op, ast.USub) and a.known:
            return self.literal(-a.literal)
        if not a.type.python:
            fn = {ast.USub: numpy.negative, ast.UAdd: numpy.positive, ast.Invert: numpy.invert}[type(op)]
            return self.ufunc(fn, a, node=node)
        kind = INT if a.type == BOOL else a.type
        x = self.cast(a, kind.dtype)
        if isinstance(op, ast.UAdd):
            return Value(kind, x)
        if kind == UINT:
            return modular.unary(self, "invert" if isinstance(op, ast.Invert) else "negative", a, node)
        if isinstance(op, ast.Invert):
            if kind != INT:
                raise NotCompiled("bits of floats", node)
            return Value(INT, self.p.apply("invert", x))
        if kind == INT:
            self.fail_if(self.same(x, -(2**63)), _too_large, node)
        return Value(kind, self.p.apply("negative", x))

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
            if type(op) in _COMPARISONS and not texts.is_long(a) and not texts.is_long(b) and (isinstance(a, (View, Vector)) or isinstance(b, (View, Vector))):
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
        if not (isinstance(a, Value) and isinstance(b, Value)) or type(op) not in _COMPARISONS:
            raise NotCompiled("a comparison of what are no numbers", node)
        fn = _COMPARISONS[type(op)]

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
                if kind == FLOAT and a.type != b.type and not _is_small(a) and not _is_small(b):
                    return Value(BOOL, self.int_and_float(fn, a, b))
                kind = INT if kind == BOOL else kind
                return Value(BOOL, self.p.apply(fn, self.cast(a, kind.dtype), self.cast(b, kind.dtype)))
            return self.ufunc(getattr(numpy, fn), a, b, node=node)

        if all(t.python and t.kind != "c" and (t != UINT or not v.kinds) for v in (a, b) for t in kinds_of(v)):  # by their values, whatever their types
            return compute(a._replace(kinds=frozenset()), b._replace(kinds=frozenset()))
        return self.each((a, b), compute, node)

    def int_and_float(self, fn, a, b):
        """Compared exactly: where the int is the float after rounding, by what the rounding left out."""
        of, real = self.p.apply, lambda v: self.p.cast(v, "float64")
        whole, other = (a, b) if a.type in (INT, UINT) else (b, a)
        number = lambda n: self.p.const(whole.type.dtype, n)  # noqa: E731
        x, y = real(whole.id), other.id
        high = of("multiply", real(of("right_shift", whole.id, number(32))), self.p.const("float64", 2.0**32))
        low = real(of("bitwise_and", whole.id, number(2**32 - 1)))
        beyond, zero = of("add", of("subtract", high, y), low), self.p.const("float64", 0.0)
        pairs = ((x, y), (beyond, zero)) if whole is a else ((y, x), (zero, beyond))
        rounded, exact = (of(fn, *pair) for pair in pairs)
        return of("where", of("equal", x, y), exact, rounded)

    def of_Matched(self, node):
        return of_matched(self, node)

    def of_NamedExpr(self, node):
        if self.perhaps:
            raise NotCompiled("a variable is set where that may be left out", node)
        value = self.settled(self.evaluate(node.value), node)
        self.store(node.target, value)
        return value

    def later(self, node):
        """An operand that is not always computed."""
        self.perhaps += 1
        try:
            return self.evaluate(node)
        finally:
            self.perhaps -= 1

    def of_Tuple(self, node):
        return self.spread(node.elts, node)

    def spread(self, parts, node):
        """What these give, one after the other, and of starred ones the parts of their tuples."""
        values = self.in_order(node, *(lambda e=e: self.evaluate(e.value if isinstance(e, ast.Starred) else e) for e in parts))
        found = []
        for part, value in zip(parts, values):
            if not isinstance(part, ast.Starred):
                found.append(value)
            elif isinstance(value, list):
                found += value
            elif isinstance(value, ExtentsView):
                found += value.parts()
            else:
                raise NotCompiled("a starred array or list, whose length only the running code knows", node)
        return found

    def of_List(self, node):
        return Listed(self.of_Tuple(node))

    def chosen_of(self, many, at, node):
        """One of several values that are there, by a number that is known to be one of theirs."""
        if all(isinstance(x, list) for x in many) and len({len(x) for x in many}) == 1:
            return [self.chosen_of(column, at, node) for column in zip(*many)]
        if not all(isinstance(x, Value) for x in many):
            raise NotCompiled("one of several that are no numbers", node)
        best = many[-1]
        for n in range(len(many) - 2, -1, -1):
            best = self.either(self.same(at, n), many[n], best, node)
        return best

    def parts(self, value, count, node):
        if isinstance(value, Vector):
            value = materialised(self, value, node)
        if isinstance(value, Growing) or isinstance(value, View) and not value.scalar:
            return self.unpacked(value, count, node)
        if not isinstance(value, list) or len(value) != count:
            raise NotCompiled("what is unpacked has another number of parts", node)
        return value

    def unpacked(self, view, count, node):
        """The elements of an array along its first axis, as many as there are names."""
        n, item = growing.items(self, view, node)
        self.fail_if(self.negated(self.same(n, count)), lambda n, *_: _unpack(n, count), node, n)
        return [item(self.number(k)) for k in range(count)]

    def of_Attribute(self, node):
        base = self.evaluate(node.value)
        if isinstance(base, objects.Instance):
            return objects.attribute(self, base, node)
        if records.is_record(base):
            place = records.attribute(self, base, node)
            return place.load() if isinstance(place, View) and place.scalar else place
        if isinstance(base, View):
            return base.attribute(self, node)
        if isinstance(base, Value):
            return self.each((base,), lambda a: complexes.attribute(self, a, node.attr, node), node)
        if isinstance(base, Vector):
            return materialised(self, base, node).attribute(self, node)
        if isinstance(base, list) or base is None:
            raise NotCompiled(f"the attribute {node.attr}", node)
        try:
            found = getattr(base, node.attr)
        except AttributeError:
            raise NotCompiled(f"the attribute {node.attr}", node) from None
        if isinstance(base, (type, types.ModuleType)) and (base.__name__ if isinstance(base, types.ModuleType) else base.__module__).partition(".")[0] not in _LASTING:
            self.facts.add(self.facts.attributes, None, (base, node.attr, found))
        return self.known(found, node)

    def known(self, x, node):
        """An object that was found by name."""
        if type(x) is tuple:
            return [self.known(part, node) for part in x]
        if type(x) is list:
            raise NotCompiled("a list that is not named", node)
        return self.literal(x) if scalar_of(x) is not None else x

    def of_Call(self, node):
        if isinstance(node.func, ast.Attribute):
            base = self.evaluate(node.func.value)
            if isinstance(base, str) and node.func.attr == "format":
                return printing.by_format(self, base, node)
            if texts.is_text(base):
                return texts.method(self, base, node)
            if isinstance(base, ListView) and not base.scalar and node.func.attr in ("index", "count") and len(node.args) == 1 and not node.keywords:
                return list_methods.searched(self, base, node.func.attr, self.a_number(self.evaluate(node.args[0]), node), node)
            if isinstance(base, ListView) and not isinstance(base, TupleView) and not base.scalar:
                grown(self, base, node)
            if isinstance(base, Growing):
                return list_methods.method(self, base, node)
            if isinstance(base, draws.Generator):
                return draws.method(self, base, node.func.attr, node, True)
            if isinstance(base, PythonsGenerator):
                return base.method(self, node.func.attr, [self.evaluate(a) for a in node.args], node)
            if isinstance(base, Table):
                return tables.method(self, base, node)
            if isinstance(base, (View, Vector)):
                return calls.method(self, base, node)
            if isinstance(base, objects.Instance) and (fn := objects.method(self, base, node)) is not None:
                return calls.call_bound(self, fn, base, node)
            if times.has(base):
                return times.method(self, base, node)
            if isinstance(base, Value) and (found := number_methods.method(self, base, node.func.attr, node)) is not None:
                return found
            if isinstance(base, Value) and node.func.attr in ("conjugate", "conj") and not node.args and not node.keywords:
                return self.each((base,), lambda a: complexes.conjugated(self, a, node), node)
        fn = self.evaluate(node.func)
        if isinstance(fn, objects.Instance):
            return calls.call_bound(self, objects.called(self, fn, node), fn, node)
        if name := draws.legacy(fn):
            return draws.method(self, draws.Generator(self.argument(draws.LEGACY)), name, node, False)
        if name := pythons_draws.name_of(fn):
            return PythonsGenerator(self.argument(pythons_draws.MODULE)).method(self, name, [self.evaluate(a) for a in node.args], node)
        if fn in _FOLDS and len(node.args) == 1 and not isinstance(node.args[0], COMPREHENSIONS) and not node.keywords:
            of = self.dry_run(lambda: self.evaluate(node.args[0]))
            if isinstance(of, Table) and of.of == "set":
                node = self.facts.once(tables.unordered, node)
            if isinstance(of, (Growing, ListView, Table, Entries)) or isinstance(of, (View, Vector)) and len(of.shape if isinstance(of, Vector) else of.dims) == 1:
                node = self.facts.once(list_comprehensions.over, node)
        return folded(self, fn, node) if may_fold(fn, node) else calls.call(self, fn, node)

    def of_Yield(self, node):
        return resume(self, node)

    def of_ListComp(self, node):
        return list_comprehensions.of_comprehension(self, node)

    def of_Dict(self, node):
        return tables.of_dict(self, node)

    def of_Set(self, node):
        return tables.of_set(self, node)

    def of_Unordered(self, node):
        return node.entries(self)

    def of_SetComp(self, node):
        return tables.of_comprehension(self, node)

    of_DictComp = of_SetComp

    def of_Subscript(self, node):
        base = self.evaluate(node.value)
        if isinstance(base, str):
            return texts.character_of(self, base, node)
        if isinstance(base, list):
            index = self.evaluate(node.slice)
            if not isinstance(index, Value) or not is_int(index):
                raise NotCompiled("an index of a tuple that is no int", node)
            if index.known and -len(base) <= index.literal < len(base):
                return base[index.literal]
            at, outside = self.p.index(self.cast(index, "int64"), self.number(len(base)))
            self.fail_if(outside, lambda *_: [][0] if isinstance(base, Listed) else ()[0], node)
            return self.chosen_of(base, at, node)
        place = self.indexed(base, node)
        return place.load() if isinstance(place, (View, Element, Selected)) and place.scalar else place

    def place(self, node):
        """The part of an array that a target names."""
        return self.indexed(self.evaluate(node.value), node)

    def indexed(self, base, node):
        if isinstance(base, Vector):
            base = materialised(self, base, node)
        if isinstance(base, (Growing, Table)):
            return base.part(self, node)
        if records.is_record(base):
            return records.part(self, base, node)
        if not isinstance(base, View):
            raise NotCompiled("an index of what is no array", node)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return base.part(self, parts, node)

    def put(self, place, value, node):
        if isinstance(value, list) and isinstance(place, (View, Selected)):
            value = of_numbers(self, value, place.dtype, node)
        if isinstance(place, (Element, Selected)):
            return place.put(value, node)
        if isinstance(place, GridView) and not place.scalar:
            grown(self, place, node)
        if place.scalar:
            if not isinstance(value, Value):
                raise NotCompiled("an array becomes one element", node)
            if isinstance(place, TupleView):
                raise NotCompiled("an element of a tuple is set", node)
            if isinstance(place, ListView) and kinds_of(value) != {place.type}:
                grown(self, place, node)
            value = self.stored_as(value, place.dtype, node)
        self.effects += 1
        self.facts.add(self.facts.mutated if place.own_memory else self.facts.written, None, place.slot)
        place.store(value) if place.scalar else place.assign(value, node)

    def stored_as(self, value, dtype, node):
        """As an element of an array."""
        if is_time(dtype) or times.has(value):
            return times.stored(self, value, dtype, node)
        if value.kinds and dtype[0] in "iu":
            return self.each((value,), lambda v: Value(Scalar(dtype), self.stored_as(v, dtype, node)), node).id
        if any(t.kind == "c" for t in kinds_of(value)) and not is_complex(dtype):
            raise NotCompiled("a complex number becomes a real one", node)
        if value.type == UINT and dtype[0] in "iu" and dtype != "uint64":
            value = modular.narrowed(self, value, node)
        if value.type.kind == "f" and dtype[0] in "iu":
            return self.truncated(value, dtype, node)
        if value.type == INT and dtype[0] in "iu" and dtype != "int64":
            self.fits(value, dtype, lambda i, *_: numpy.zeros(1, dtype).__setitem__(0, i), node)
        return self.cast(value, dtype)

    def truncated(self, value, dtype, node):
        """A float as an element of integers: what int() makes of it, or for unsigned ones a cast of NumPy's."""
        if dtype == "uint64":
            raise NotCompiled("a float becomes an element of uint64", node)
        x = self.cast(value, "float64")
        put = lambda x: numpy.zeros(1, dtype).__setitem__(0, x)  # noqa: E731
        if not value.type.python and dtype[0] == "u":
            self.warn_if(self.negated(self.is_int_of(64 if dtype == "uint32" else 32, x)), "invalid value encountered in cast")
            return self.cast(value, dtype)
        self.fail_if(self.negated(self.is_int_of(64, x)), lambda _, a, b: put(value.type.of(a)), node, None, x)
        whole = Value(INT, self.p.cast(x, "int64"))
        if dtype != "int64":
            self.fits(whole, dtype, lambda i, *_: put(i), node)
        return self.cast(whole, dtype)

    def is_int_of(self, bits, x):
        """Whether a float64 has a whole part of so many bits; NaN has none."""
        end = 2.0 ** (bits - 1)
        below = min(-end - 1, float(numpy.nextafter(-end, -numpy.inf)))
        above = self.p.apply("greater", x, self.p.const("float64", below))
        return self.p.apply("logical_and", above, self.p.apply("less", x, self.p.const("float64", end)))

    def fits(self, value, dtype, again, node):
        """An int that becomes one of NumPy's."""
        low, high = int(numpy.iinfo(dtype).min), min(int(numpy.iinfo(dtype).max), 2**63 - 1)
        if not (value.known and low <= value.literal <= high):
            below, above = self.p.apply("less", value.id, self.number(low)), self.p.apply("greater", value.id, self.number(high))
            self.fail_if(self.p.apply("logical_or", below, above), again, node, value.id)

    def array(self, key, what):
        return array_view(self, key, what)


_DTYPES = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "float16"}


_LASTING = "numpy", "math", "plait", "builtins"  # modules whose attributes stay what they are
_FOLDS = {builtins.sum, builtins.min, builtins.max, builtins.any, builtins.all}


def _is_small(v):
    """Whether a float holds it exactly, as is known here; of a float itself it is open."""
    return v.type == BOOL or v.type == INT and v.known and abs(v.literal) <= 2**53


def _folded(again, a, b):
    """What Python makes of two constants; None where that is no number of 64 bits."""
    if again in (operator.pow, operator.lshift) and not abs(b) <= 64:
        return None
    try:
        made = again(a, b)
    except (ArithmeticError, TypeError, ValueError):
        return None
    return None if scalar_of(made) is None else made


def _unpack(n, count):
    scope = {"x": [None] * n}
    exec(f"{'x0, ' + ', '.join(f'x{k}' for k in range(1, count))} = x", scope)


@outgrown
def _too_large(*_):
    raise OverflowError("an int outgrows 64 bits in a compiled loop; plait.jit(loops=False) runs it")


@outgrown
def _fraction(*_):
    raise OverflowError("a power becomes a float in a compiled loop; plait.jit(loops=False) runs it")


@outgrown
def _complex(*_):
    raise OverflowError("a power becomes complex in a compiled loop; plait.jit(loops=False) runs it")
