"""Arithmetic of a compiled loop: operators and ufuncs of numbers, with Python's errors and NumPy's, and numbers as those of other types."""

import ast
import operator

import numpy

from . import complexes, list_parts, modular, printing, products, texts, times, words
from .dry import resolved
from .growing import repeated
from .heeding import KINDS
from .kinds import Kinds
from .tracebacks import outgrown
from .types import BOOL, COMPLEX, FLOAT, INT, UINT, NotCompiled, Scalar, is_complex, is_time, joined, scalar_of
from .values import Listed, Value, kinds_of
from .views import Vector, View


_OPERATORS = {
    ast.Add: ("add", operator.add), ast.Sub: ("subtract", operator.sub), ast.Mult: ("multiply", operator.mul),
    ast.Div: ("true_divide", operator.truediv), ast.FloorDiv: ("floor_divide", operator.floordiv), ast.Mod: ("remainder", operator.mod),
    ast.Pow: ("power", operator.pow), ast.BitAnd: ("bitwise_and", operator.and_), ast.BitOr: ("bitwise_or", operator.or_),
    ast.BitXor: ("bitwise_xor", operator.xor), ast.LShift: ("left_shift", operator.lshift), ast.RShift: ("right_shift", operator.rshift),
    ast.MatMult: ("matmul", operator.matmul),
}  # fmt: skip
_MAY_WARN = {
    numpy.sqrt, numpy.log, numpy.log2, numpy.log10, numpy.log1p, numpy.arcsin, numpy.arccos, numpy.arccosh, numpy.arctanh, numpy.sin, numpy.cos, numpy.tan,
    numpy.power, numpy.fmod,
}  # fmt: skip
COMPARISONS = {
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal",
}  # fmt: skip
DTYPES = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "float16"}


class Arithmetic(Kinds):
    """Of a Lowering, which has the procedure `p`, variables and statements."""

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

    def whole(self, fn, a, b):
        """Of int64 that cannot overflow: places and counts."""
        return Value(INT, self.p.apply(fn, a.id, b.id))

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
        if any(d not in DTYPES for d in (*ins, out)):
            raise NotCompiled(f"{fn.__name__} of dtype {out}", node)
        if out[0] in "iu" and fn is numpy.power and not (values[1].type.kind == "u" or values[1].known and values[1].literal >= 0):
            raise NotCompiled("a power of NumPy's integers whose exponent may be negative", node)
        if fn.__name__ in COMPARISONS.values() and any(v.type == INT for v in values) and ins[0][0] in "iu":
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


def is_small(v):
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


@outgrown
def _too_large(*_):
    raise OverflowError("an int outgrows 64 bits in a compiled loop; plait.jit(loops=False) runs it")


@outgrown
def _fraction(*_):
    raise OverflowError("a power becomes a float in a compiled loop; plait.jit(loops=False) runs it")


@outgrown
def _complex(*_):
    raise OverflowError("a power becomes complex in a compiled loop; plait.jit(loops=False) runs it")

