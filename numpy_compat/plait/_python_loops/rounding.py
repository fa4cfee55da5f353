"""round() to a written number of digits, in a compiled loop: Python's floats are rounded as decimals are, to the bit; NumPy's numbers as NumPy does, which
multiplies, rounds and divides."""

import numpy

from .types import FLOAT, INT, NotCompiled
from .values import Value
from .views import Vector, View, as_vector

MOST = 7  # digits, up to which the sum of a whole number and a fraction, each rounded once, is rounded correctly
_HALVES = float(2**27 + 1)  # a factor that splits 53 bits into two times 26
_WHOLE = float(2**53)  # up to which every whole number is a float


def digits(args, node):
    """How many digits a call asks for; None without them."""
    if len(args) == 1:
        return None
    n = args[1] if len(args) == 2 else None
    if not isinstance(n, Value) or not n.known or type(n.literal) is not int or not 0 <= n.literal <= MOST:
        raise NotCompiled(f"round() to a number of digits that is not written, or above {MOST}", node)
    return n.literal


def of_number(lowering, x, n, node):
    """round(x, n)"""
    if not x.type.python:
        return of_numpys(lowering, x, n, node)
    if x.type.kind in "bi":
        return Value(INT, lowering.cast(x, "int64"))
    if x.type != FLOAT:
        raise NotCompiled("round() to a number of digits of such numbers", node)
    return Value(FLOAT, _decimal(lowering.p, x.id, float(10**n)) if n else lowering.p.apply("rint", x.id))


def of_numpys(lowering, x, n, node):
    """np.round(x, n) of a number, or an element."""
    if x.type.kind in "iu" and not x.type.python:
        return x
    if x.type.kind != "f":
        raise NotCompiled("np.round() of Python's integers, or of what are no numbers", node)
    by = lowering.literal(float(10**n))
    scaled = lowering.ufunc(numpy.multiply, x, by, node=node)
    return lowering.ufunc(numpy.divide, lowering.ufunc(numpy.rint, scaled, node=node), by, node=node)


def around(lowering, args, node):
    """np.round()"""
    n = digits(args, node) or 0
    if isinstance(args[0], (View, Vector)):
        if lowering.type_of(as_vector(args[0], node), node).kind != "f":
            raise NotCompiled("np.round() of integers", node)
        how = (lambda x: of_numpys(lowering, x, n, node)) if n else (lambda x: lowering.ufunc(numpy.rint, x, node=node))
        return Vector.elementwise(lowering, how, args[:1], node)
    if not isinstance(args[0], Value) or args[0].type.kind != "f":
        raise NotCompiled("np.round() of integers", node)
    return of_numpys(lowering, args[0], n, node) if n else lowering.ufunc(numpy.rint, args[0], node=node)


def _decimal(p, x, by):
    """The float that is nearest to the decimal that is nearest to x; by: a power of ten, which is even."""
    scale, half = p.const("float64", by), p.const("float64", 0.5)
    size = p.apply("absolute", x)
    whole = p.apply("trunc", size)
    parts = _nearest(p, p.apply("subtract", size, whole), scale, half)
    total = p.apply("add", p.apply("multiply", whole, scale), parts)
    exact = p.apply("divide", total, scale)
    large = p.apply("add", whole, p.apply("divide", parts, scale))
    found = p.apply("where", p.apply("less", total, p.const("float64", _WHOLE)), exact, large)
    return p.apply("where", p.apply("isfinite", x), p.apply("copysign", found, x), x)


def _nearest(p, fraction, scale, half):
    """The whole number that is nearest to a product, the even one of two: the product is a sum of two floats, without error."""
    wide = p.apply("multiply", fraction, p.const("float64", _HALVES))
    high = p.apply("subtract", wide, p.apply("subtract", wide, fraction))
    a, b = p.apply("multiply", high, scale), p.apply("multiply", p.apply("subtract", fraction, high), scale)
    product = p.apply("add", a, b)
    error = p.apply("subtract", b, p.apply("subtract", product, a))
    nearest = p.apply("rint", product)
    beside, zero, one = p.apply("subtract", product, nearest), p.const("float64", 0.0), p.const("float64", 1.0)
    above = p.apply("logical_and", p.apply("equal", beside, half), p.apply("greater", error, zero))
    below = p.apply("logical_and", p.apply("equal", beside, p.apply("negative", half)), p.apply("less", error, zero))
    return p.apply("where", above, p.apply("add", nearest, one), p.apply("where", below, p.apply("subtract", nearest, one), nearest))
