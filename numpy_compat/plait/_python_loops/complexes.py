"""Complex numbers in a compiled loop: pairs of real ones to the machine code, computed by Python's formulas or by those of NumPy's scalars. Times
(times.py) are ints to it."""

import ast
import math
import sys

import numpy

from .types import COMPLEX, FLOAT, NotCompiled, Scalar, as_number, is_complex, is_paired, is_time, part_of
from .values import Value


_UFUNCS = {"add", "subtract", "multiply", "divide", "negative", "positive", "conjugate", "equal", "not_equal"}
_MIXES = sys.version_info < (3, 14)  # whether Python makes a real operand complex, and knows no infinities of products


class Pairs:
    """A procedure whose values, variables, arguments and results may be complex, or times, which have one part. Handles of those are negative."""

    def __init__(self, procedure):
        self.p, self.pairs = procedure, {}

    def __getattr__(self, name):
        found = getattr(self.p, name)
        if callable(found):  # which is asked for often
            setattr(self, name, found)
        return found

    def pair(self, dtype, *parts):
        handle = -1 - len(self.pairs)
        self.pairs[handle] = dtype, *parts
        return handle

    def each_part(self, make, dtype):
        return self.pair(dtype, *(make(part_of(dtype)) for _ in range(1 + is_complex(dtype))))

    def parts(self, v):
        """Real and imaginary part, or the int of a time."""
        if v in self.pairs:
            return self.pairs[v][1:]
        return v, self.p.const(self.p.type(v), 0)

    def is_time(self, v):
        return v in self.pairs and is_time(self.pairs[v][0])

    def type(self, v):
        return self.pairs[v][0] if v in self.pairs else self.p.type(v)

    def buffer(self, dtype, written):
        return self.p.buffer(part_of(dtype), written)

    def arg(self, dtype):
        return self.each_part(self.p.arg, dtype) if is_paired(dtype) else self.p.arg(dtype)

    def local(self, dtype):
        return self.each_part(self.p.local, dtype) if is_paired(dtype) else self.p.local(dtype)

    def get(self, local):
        if local not in self.pairs:
            return self.p.get(local)
        dtype, *parts = self.pairs[local]
        return self.pair(dtype, *map(self.p.get, parts))

    def set(self, local, v):
        if local not in self.pairs:
            return self.p.set(local, v)
        for to, x in zip(self.parts(local), self.parts(v)):
            self.p.set(to, x)

    def const(self, dtype, number):
        if not is_paired(dtype):
            return self.p.const(dtype, number)
        if is_time(dtype):
            return self.pair(dtype, self.p.const("int64", as_number(number)))
        number = complex(number)
        return self.pair(dtype, self.p.const(part_of(dtype), number.real), self.p.const(part_of(dtype), number.imag))

    def cast(self, v, dtype):
        """To real numbers: of the real part. A time is no number, and an int is one where a place of memory has it."""
        if self.is_time(v) or is_time(dtype):
            return self._time(v, dtype)
        if not is_complex(dtype):
            return self.p.cast(self.parts(v)[0], dtype) if v in self.pairs else self.p.cast(v, dtype)
        part, (re, im) = part_of(dtype), self.parts(v)
        return self.pair(dtype, self.p.cast(re, part), self.p.cast(im, part) if v in self.pairs else self.p.const(part, 0))

    def _time(self, v, dtype):
        if self.type(v) == dtype:
            return v
        if self.type(v) != "int64":
            raise NotCompiled("a time as a number of another type")
        return self.pair(dtype, v)

    def load(self, buffer, offset, dtype):
        if not is_paired(dtype):
            return self.p.load(buffer, offset)
        if is_time(dtype):
            return self._time(self.p.load(buffer, offset), dtype)
        halves = (self.p.load(buffer, at) for at in self._halves(offset, dtype))
        return self.pair(dtype, *(x if self.p.type(x) == part_of(dtype) else self.p.cast(x, part_of(dtype)) for x in halves))

    def store(self, buffer, offset, v):
        if v not in self.pairs:
            return self.p.store(buffer, offset, v)
        if self.is_time(v):
            return self.p.store(buffer, offset, *self.parts(v))
        for at, x in zip(self._halves(offset, self.type(v)), self.parts(v)):
            self.p.store(buffer, at, x)

    def _halves(self, offset, dtype):
        return offset, self.p.apply("add", offset, self.p.const("int64", numpy.dtype(dtype).itemsize // 2))

    def heap(self, dtype):
        return self.p.heap(part_of(dtype))

    def result(self, v):
        for x in self.parts(v) if v in self.pairs else (v,):
            self.p.result(x)

    def apply(self, name, *values):
        p = self.p
        if not self.pairs or not any(v in self.pairs for v in values):
            return p.apply(name, *values)
        if name == "where":
            condition, a, b = values
            return self.pair(self.type(a), *(p.apply(name, condition, x, y) for x, y in zip(self.parts(a), self.parts(b))))
        if any(map(self.is_time, values)):
            raise NotCompiled(f"{name}() of a time")
        if name == "conjugate":
            return conjugate(self, values[0])
        parts = [p.apply(name, *of) for of in zip(*map(self.parts, values))]
        if name in ("equal", "not_equal"):
            return p.apply("logical_and" if name == "equal" else "logical_or", *parts)
        if name not in ("add", "subtract", "negative", "positive"):
            raise NotCompiled(f"{name}() of complex numbers")
        return self.pair(self.type(values[0]), *parts)


    def call(self, name, *values):
        if any(v in self.pairs for v in values):
            raise NotCompiled(f"{name}() of a complex number, or of a time")
        return self.p.call(name, *values)

    def end_fold(self, kind, v):
        if v in self.pairs:
            raise NotCompiled(f"{kind}() of complex numbers, or of times")
        return self.p.end_fold(kind, v)


def product(p, a, b):
    (ar, ai), (br, bi) = p.parts(a), p.parts(b)
    times, minus, plus = (lambda x, y, fn=fn: p.p.apply(fn, x, y) for fn in ("multiply", "subtract", "add"))
    return p.pair(p.type(a), minus(times(ar, br), times(ai, bi)), plus(times(ar, bi), times(ai, br)))


def conjugate(p, a):
    re, im = p.parts(a)
    return p.pair(p.type(a), re, p.p.apply("negative", im))


def quotient(p, a, b, scaled):
    """By the larger part of the divisor. scaled: whether NumPy's scalars divide, which multiply by a reciprocal."""
    of = p.p.apply
    (ar, ai), (br, bi) = p.parts(a), p.parts(b)
    upright = of("greater_equal", of("absolute", br), of("absolute", bi))
    one = p.p.const(part_of(p.type(a)), 1)
    large, small = of("where", upright, br, bi), of("where", upright, bi, br)
    ratio = of("divide", small, large)
    below = of("add", large, of("multiply", small, ratio))

    def divided(x):
        return of("multiply", x, of("divide", one, below)) if scaled else of("divide", x, below)

    # Upright, a + b * ratio; else a * ratio + b.
    re = of("where", upright, of("add", ar, of("multiply", ai, ratio)), of("add", of("multiply", ar, ratio), ai))
    im = of("where", upright, of("subtract", ai, of("multiply", ar, ratio)), of("subtract", of("multiply", ai, ratio), ar))
    re, im = divided(re), divided(im)
    if not scaled:  # Python's is NaN where a part is
        nan = of("logical_not", of("logical_or", upright, of("less", of("absolute", br), of("absolute", bi))))
        re, im = (of("where", nan, p.p.const("float64", math.nan), x) for x in (re, im))
        return p.pair(p.type(a), re, im)
    zero = of("logical_and", *(of("equal", x, p.p.const(part_of(p.type(a)), 0)) for x in (br, bi)))
    width = of("absolute", br)
    return p.pair(p.type(a), *(of("where", zero, of("divide", x, width), y) for x, y in ((ar, re), (ai, im))))


def absolute(p, a):
    """The number's distance from 0, as the C library has it."""
    re, im = p.parts(a)
    of = p.p.apply
    if p.type(a) == "complex128":
        return p.p.call("hypot", re, im)
    x, y = (p.p.cast(v, "float64") for v in (re, im))
    v = of("sqrt", of("add", of("multiply", x, x), of("multiply", y, y)))
    infinite = of("logical_or", of("isinf", x), of("isinf", y))
    return p.p.cast(of("where", infinite, p.p.const("float64", math.inf), v), "float32")


def python_binary(lowering, fn, again, a, b, node):
    """Of Python's numbers, one of which is complex."""
    p = lowering.p
    if not _MIXES and (fn not in ("add", "subtract") or a.type != b.type):
        raise NotCompiled(f"{fn}() of complex numbers", node)
    x, y = lowering.cast(a, "complex128"), lowering.cast(b, "complex128")
    if fn in ("add", "subtract"):
        return Value(COMPLEX, p.apply(fn, x, y))
    if fn == "multiply":
        return Value(COMPLEX, product(p, x, y))
    if fn == "true_divide":
        lowering.fail_if(p.apply("equal", y, p.const("complex128", 0)), lambda *_: again(a.type.of(1), b.type.of(0)), node)
        return Value(COMPLEX, quotient(p, x, y, False))
    if fn == "power" and b.known and b.literal == 2 and b.type.kind == "i":
        v = product(p, p.const("complex128", 1), product(p, x, x))
        infinite = p.p.apply("logical_or", *(p.p.apply("isinf", part) for part in p.parts(v)))
        lowering.fail_if(infinite, lambda *_: complex(1e300) ** 2, node)
        return Value(COMPLEX, v)
    raise NotCompiled(f"{fn}() of complex numbers", node)


def ufunc(lowering, fn, ins, out, values, node):
    """NumPy's, of complex scalars. As of arrays, that is of other bits, they are left to it."""
    p, name = lowering.p, fn.__name__
    scalar = isinstance(node, (ast.BinOp, ast.AugAssign)) and not lowering.of_arrays
    if name not in _UFUNCS:
        raise NotCompiled(f"{name}() of complex numbers", node)
    if len(values) > 1 and name in ("multiply", "divide") and not (scalar and any(v.type.dtype == ins[0] and not v.type.python for v in values)):
        raise NotCompiled(f"{name}() of complex numbers as of arrays", node)
    ids = [lowering.cast(v, dtype) for v, dtype in zip(values, ins)]
    if name == "multiply":
        v = product(p, *ids)
    elif name == "divide":
        v = quotient(p, *ids, True)
        _heed(lowering, *ids)
    else:
        v = p.apply(name, *ids)
    return Value(Scalar(out), v)


def square(lowering, a, v):
    """NumPy's, where v is the product: of zeros it is 0."""
    p = lowering.p
    zero = p.const(p.type(a.id), 0)
    return v._replace(id=p.apply("where", p.apply("equal", a.id, zero), zero, v.id))


def _heed(lowering, a, b):
    """Warnings of a division by zero."""
    p, of = lowering.p, lowering.p.p.apply
    zero = p.apply("equal", b, p.const(p.type(b), 0))
    for x in p.parts(a):
        nothing = of("equal", x, p.p.const(part_of(p.type(a)), 0))
        lowering.warn_if(of("logical_and", zero, nothing), "invalid value encountered in scalar divide")
        finite = of("logical_and", of("isfinite", x), lowering.negated(nothing))
        lowering.warn_if(of("logical_and", zero, finite), "divide by zero encountered in scalar divide")


def as_pythons(a, b):
    """The right operand of an operator: Python's complex numbers take a numpy.float64 for the float that it is."""
    return b._replace(type=FLOAT) if a.type == COMPLEX and b.type == Scalar("float64") else b


def conjugated(lowering, a, node):
    if a.type.kind != "c":
        raise NotCompiled("conjugate() of a real number", node)
    return Value(a.type, conjugate(lowering.p, a.id))


def magnitude(lowering, a, node):
    """abs()"""
    p, v = lowering.p, absolute(lowering.p, a.id)
    if not a.type.python:
        lowering.facts.numpys = True
        return Value(Scalar(part_of(a.type.dtype)), v)
    re, im = p.parts(a.id)
    of = p.p.apply
    finite = of("logical_and", of("isfinite", re), of("isfinite", im))
    lowering.fail_if(of("logical_and", of("isinf", v), finite), lambda *_: abs(complex(1.7e308, 1.7e308)), node)
    return Value(FLOAT, v)


def called(lowering, args, node):
    """complex()"""
    if not 1 <= len(args) <= 2 or not all(isinstance(a, Value) for a in args) or len(args) == 2 and any(a.type.kind == "c" for a in args):
        raise NotCompiled("complex() of no numbers", node)
    if len(args) == 1:
        return Value(COMPLEX, lowering.cast(args[0], "complex128"))
    return Value(COMPLEX, lowering.p.pair("complex128", *(lowering.cast(a, "float64") for a in args)))


def attribute(lowering, a, name, node):
    """real and imag, of any number."""
    if name not in ("real", "imag") or not (a.type.kind == "c" or a.type.kind == "f" and name == "real"):
        raise NotCompiled(f"the attribute {name}", node)
    if a.type.kind == "f":
        return a
    t = FLOAT if a.type.python else Scalar(part_of(a.type.dtype))
    return Value(t, lowering.p.parts(a.id)[name == "imag"])
