"""Python's ints from 2**63 to 2**64 in compiled loops, as hashes and random numbers have them: `(x * 6364136223846793005 + 1) & MASK`. What stands under a
mask, or before the remainder by a power of two, is computed in 64 bits that wrap around, which have all that is left of it."""

import ast

from .tracebacks import outgrown
from .types import INT, UINT, NotCompiled
from .values import Value

_WRAPS = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor"}
_BITS = {"bitwise_and", "bitwise_or", "bitwise_xor"}
TOP = 1 << 63


def masked(low, node):
    """x & mask, or x % 2**k, where x is computed; None where it is something else, or gains nothing."""
    if isinstance(node.op, ast.BitAnd):
        for x, mask in ((node.left, node.right), (node.right, node.left)):
            if not _wraps(x):
                continue
            by = constant(low, mask)
            if by is not None and 0 <= by < 2 * TOP:
                return _result(low, x, by)
            if isinstance(mask, ast.Name) and getattr(v := low.dry_run(lambda mask=mask: low.evaluate(mask)), "type", None) == UINT and not v.kinds:
                return _result(low, x, low.evaluate(mask))
    if isinstance(node.op, ast.Mod) and _wraps(node.left):
        by = constant(low, node.right)
        if by is not None and 0 < by <= 2 * TOP and by & (by - 1) == 0:
            return _result(low, node.left, by - 1)
    return None


def constant(low, node):
    """An int that the source says; None of anything else."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.BinOp):
        a, b = constant(low, node.left), constant(low, node.right)
        if a is None or b is None or isinstance(node.op, (ast.Pow, ast.LShift)) and not 0 <= b <= 64:
            return None
        how = {ast.Pow: pow, ast.LShift: int.__lshift__, ast.Sub: int.__sub__, ast.Add: int.__add__}.get(type(node.op))
        return how and how(a, b)
    return None


def _wraps(node):
    """Whether an expression may go beyond 64 bits on its way."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.LShift)) or type(node.op) in _WRAPS and (_wraps(node.left) or _wraps(node.right))
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Invert, ast.USub))


def _result(low, x, mask):
    """mask: an int, or a UINT of the loop."""
    bits = _modulo(low, x)
    if bits is None:
        return None
    if isinstance(mask, Value):
        return Value(UINT, low.p.apply("bitwise_and", bits, mask.id))
    bits = low.p.apply("bitwise_and", bits, low.p.const("uint64", mask))
    return Value(INT, low.p.cast(bits, "int64")) if mask < TOP else Value(UINT, bits)


def _modulo(low, node):
    """The last 64 bits of an int; None where something is none."""
    p = low.p
    if (n := constant(low, node)) is not None:
        return p.const("uint64", n % (2 * TOP))
    if isinstance(node, ast.BinOp) and type(node.op) in _WRAPS:
        a = _modulo(low, node.left)
        b = None if a is None else _modulo(low, node.right)
        return None if b is None else p.apply(_WRAPS[type(node.op)], a, b)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.LShift):
        by = constant(low, node.right)
        a = None if by is None or not 0 <= by < 64 else _modulo(low, node.left)
        return None if a is None else p.apply("left_shift", a, p.const("uint64", by))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Invert, ast.USub)):
        a = _modulo(low, node.operand)
        if a is not None and isinstance(node.op, ast.USub):
            return p.apply("subtract", p.const("uint64", 0), a)
        return a if a is None else p.apply("invert", a)
    value = low.evaluate(node)
    return low.cast(value, "uint64") if getattr(value, "type", None) in (INT, UINT) and not value.kinds - {INT, UINT} else None


# numbers from 2**63 on


def binary(low, fn, again, a, b, node):
    """An operation of ints of which one at least is a UINT. Results that are neither INT nor UINT are Python's."""
    of, p = low.p.apply, low.p
    if any(v.type not in (INT, UINT) for v in (a, b)):
        a, b = (Value(INT, low.cast(v, "int64")) if v.type.kind == "b" else v for v in (a, b))
    x, y = low.cast(a, "uint64"), low.cast(b, "uint64")
    minus = [_negative(low, v) for v in (a, b)]
    if fn in ("left_shift", "right_shift"):
        return _shifted(low, fn, a, b, node)
    if fn in _BITS:
        v = of(fn, x, y)
        if fn == "bitwise_and":
            small = any(k.known and 0 <= k.literal < TOP for k in (a, b))
            return Value(INT, p.cast(v, "int64")) if small else Value(UINT, v)
        low.fail_if(of("logical_or", *minus), _beyond, node)
        return Value(UINT, v)
    if fn in ("floor_divide", "remainder"):
        low.fail_if(low.same(y, 0), lambda *_: again(1, 0), node, error=ZeroDivisionError)
        low.fail_if(of("logical_or", *minus), _beyond, node)
        v = of(fn, x, y)
        fits = b.type == INT if fn == "remainder" else b.known and b.literal > 1
        return Value(INT, p.cast(v, "int64")) if fits else Value(UINT, v)
    v = of(fn, x, y)
    if fn == "add":
        bad = of("where", minus[1], of("greater", v, x), of("less", v, x)) if a.type == UINT else of("where", minus[0], of("greater", v, y), of("less", v, y))
    elif fn == "subtract":
        bad = of("where", minus[1], of("less", v, x), of("greater", v, x)) if a.type == UINT else of("logical_or", minus[0], of("greater", v, x))
    else:
        wrong = of("not_equal", of("floor_divide", v, of("maximum", x, p.const("uint64", 1))), y)
        bad = of("logical_or", of("logical_or", *minus), of("logical_and", low.negated(low.same(x, 0)), wrong))
    low.fail_if(bad, _beyond, node)
    return Value(UINT, v)


def _negative(low, v):
    if v.type == UINT or v.known and v.literal >= 0:
        return low.p.const("bool", False)
    return low.p.apply("less", v.id, low.zero)


def _shifted(low, fn, a, b, node):
    of, p = low.p.apply, low.p
    if b.type != INT or a.type != UINT:
        raise NotCompiled("a shift by an int beyond 63 bits", node)
    low.fail_if(of("less", b.id, low.zero), lambda *_: 1 << -1, node, error=ValueError)
    beyond = of("greater", b.id, low.number(63))
    by = p.cast(of("minimum", b.id, low.number(63)), "uint64")
    v = of(fn, a.id, by)
    if fn == "right_shift":
        v = of("where", beyond, p.const("uint64", 0), v)
        return Value(INT, p.cast(v, "int64")) if b.known and b.literal > 0 else Value(UINT, v)
    lost = of("logical_or", beyond, of("not_equal", of("right_shift", v, by), a.id))
    low.fail_if(of("logical_and", lost, low.negated(low.same(a.id, 0))), _beyond, node)
    return Value(UINT, v)


def compared(low, fn, a, b):
    """Of ints of which one at least is a UINT, by their values."""
    of, minus = low.p.apply, [_negative(low, v) for v in (a, b)]
    found = of(fn, low.cast(a, "uint64"), low.cast(b, "uint64"))
    for sign, holds in zip(minus, (fn in ("less", "less_equal", "not_equal"), fn in ("greater", "greater_equal", "not_equal"))):
        found = of("where", sign, low.p.const("bool", holds), found)
    return found


def unary(low, fn, a, node):
    """-x and ~x of a UINT."""
    p = low.p
    v = p.apply("invert", a.id) if fn == "invert" else p.apply("subtract", p.const("uint64", 0), a.id)
    low.fail_if(p.apply("greater", a.id, p.const("uint64", TOP if fn == "negative" else TOP - 1)), _beyond, node)
    return Value(INT, p.cast(v, "int64"))


def narrowed(low, a, node):
    """A UINT as an INT, where it is one."""
    low.fail_if(low.p.apply("greater_equal", a.id, low.p.const("uint64", TOP)), _beyond, node)
    return Value(INT, low.p.cast(a.id, "int64"))


@outgrown
def _beyond(*_):
    raise OverflowError("an int outgrows 64 bits in a compiled loop; plait.jit(loops=False) runs it")
