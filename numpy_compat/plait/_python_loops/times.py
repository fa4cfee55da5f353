"""Dates and durations in a compiled loop: datetime64 and timedelta64 of NumPy's units. Machine code has them as ints of 64 bits, which Pairs (complexes.py)
keeps apart from numbers: what is not computed here, nothing computes. The least int is NaT."""

import numpy

from .types import NONE, NotCompiled, OF_TIMES, Scalar, TIMES, UINT, is_time
from .values import Value

NAT = -(2**63)
CLASSES = numpy.datetime64, numpy.timedelta64
_FINER = {"W": 7, "D": 24, "h": 60, "m": 60, "s": 1000, "ms": 1000, "us": 1000, "ns": 1000, "ps": 1000, "fs": 1000, "as": 1}  # of the next unit  # fmt: skip
_COARSE = {"Y": 12, "M": 1}
_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
_PLAIN = {"add", "subtract", "multiply", "negative", "positive", "absolute"}  # of ints that wrap around


def is_nat(low, v):
    return low.p.apply("equal", v, low.number(NAT))


def _any_nat(low, ids, ins):
    found = [is_nat(low, v) for v, dtype in zip(ids, ins) if is_time(dtype)]
    return found[0] if len(found) == 1 else low.p.apply("logical_or", *found)


# units


def _unit(dtype):
    return numpy.datetime_data(dtype)[0]


def _ratio(coarse, fine):
    """How many of the finer unit the other one is; None where that is no number, or one that NumPy does not count with."""
    for table in (_FINER, _COARSE):
        if coarse in table and fine in table:
            units, many = [*table], 1
            for unit in units[units.index(coarse) : units.index(fine)]:
                many *= table[unit]
            return many if units.index(coarse) <= units.index(fine) and many < 2**63 else None
    return None


def converted(low, value, dtype, node=None, exact=False):
    """A time, or an int, as one of another dtype. It wraps around, as in NumPy; `exact`: not where it gets less, as NumPy has it of a date that is set."""
    source, p = value.type, low.p
    if source.dtype == dtype:
        return value.id
    if value.kinds or source.kind not in "mMbiu" and source != NONE:
        raise NotCompiled("a number of several types, or a float, becomes a time", node)
    (v, *_) = p.parts(value.id)
    if not is_time(source.dtype):
        return p.pair(dtype, v if p.type(v) == "int64" else p.cast(v, "int64"))
    ours, theirs = _unit(source.dtype), _unit(dtype)
    if ours in (theirs, "generic"):
        return p.pair(dtype, v)
    if many := _ratio(ours, theirs):
        other = p.apply("multiply", v, low.number(many))
    elif many := _ratio(theirs, ours):
        below = p.apply("subtract", v, low.number(many - 1))
        wrapped = _truncated(low, p.apply("where", p.apply("less", v, low.zero), below, v), low.number(many))
        other = p.apply("floor_divide", v, low.number(many)) if exact else wrapped
    else:
        raise NotCompiled(f"a time in {ours} becomes one in {theirs}", node)
    return p.pair(dtype, p.apply("where", is_nat(low, v), v, other))


# ufuncs


def ufunc(low, fn, ins, out, values, node):
    """One of NumPy's, of which an operand or the result is a time."""
    name, p = fn.__name__, low.p
    if any(is_time(d) and Scalar(d) not in TIMES for d in (*ins, out)):
        raise NotCompiled(f"{name}() of {', '.join(ins)}", node)
    ids = [p.parts(converted(low, v, d, node))[0] if is_time(d) else low.cast(v, d) for v, d in zip(values, ins)]
    how = _HOW.get(name)
    if how is None or not all(is_time(d) or d in ("int64", "float64") for d in ins):
        raise NotCompiled(f"{name}() of {', '.join(ins)}", node)
    v = how(low, name, ids, ins, node)
    return Value(Scalar(out), p.pair(out, v) if is_time(out) else v)


def _plain(low, name, ids, ins, node):
    if "float64" in ins:
        return _scaled(low, name, ids, ins, node)
    return low.p.apply("where", _any_nat(low, ids, ins), low.number(NAT), low.p.apply(name, *ids))


def _compared(low, name, ids, ins, node):
    p, nat = low.p, _any_nat(low, ids, ins)
    found = p.apply(name, *ids)
    return p.apply("logical_or", nat, found) if name == "not_equal" else p.apply("logical_and", low.negated(nat), found)


def _extreme(low, name, ids, ins, node):
    p, (a, b) = low.p, ids
    return p.apply("where", is_nat(low, a), a, p.apply("where", is_nat(low, b), b, p.apply(name, a, b)))


def _is_nat(low, name, ids, ins, node):
    found = is_nat(low, *ids)
    return found if name == "isnat" else low.negated(found)


def _divided(low, name, ids, ins, node):
    """A duration by another, or by a number: towards zero, for `//` too."""
    if "float64" in ins:
        return _scaled(low, name, ids, ins, node)
    p, (a, b) = low.p, ids
    of, zero = p.apply, low.zero
    nat = _any_nat(low, ids, ins)
    if all(map(is_time, ins)) and name == "divide":
        ids = [p.cast(v, "float64") for v in ids]
        v = of("where", nat, p.const("float64", float("nan")), of("divide", *ids))
        p.begin_if(low.negated(nat))
        low.heed(numpy.divide, ids, v, "float64", False)
        p.end()
        return v
    by_zero = low.same(b, 0)
    low.warn_if(of("logical_and", low.negated(nat), by_zero), f"divide by zero encountered in {name}")
    if not all(map(is_time, ins)):
        return of("where", of("logical_or", nat, by_zero), low.number(NAT), _truncated(low, a, b))
    if name == "remainder":
        return of("where", of("logical_or", nat, by_zero), low.number(NAT), of(name, a, b))
    low.warn_if(nat, f"invalid value encountered in {name}")
    return of("where", of("logical_or", nat, by_zero), zero, of(name, a, b))


def _truncated(low, a, b):
    """The quotient of ints towards zero."""
    of, zero = low.p.apply, low.zero
    down = of("floor_divide", a, b)
    inexact = of("not_equal", of("multiply", down, b), a)
    below = of("not_equal", of("less", a, zero), of("less", b, zero))
    return of("where", of("logical_and", inexact, below), of("add", down, low.one), down)


def _scaled(low, name, ids, ins, node):
    """A duration times or by a float: towards zero, and NaT where that is no int."""
    p, of, nat = low.p, low.p.apply, _any_nat(low, ids, ins)
    reals = [v if d == "float64" else p.cast(v, "float64") for v, d in zip(ids, ins)]
    (factor,) = (v for v, d in zip(reals, ins) if d == "float64")
    v = of("multiply" if name == "multiply" else "divide", *reals)
    whole = low.is_int_of(64, v)
    p.begin_if(of("logical_or", whole, nat))
    p.otherwise(rare=True)
    by_zero = of("logical_and", low.same(factor, 0), of("isinf", v))
    low.warn_if(by_zero, f"divide by zero encountered in {name}")
    none = of("logical_and", of("isnan", v), low.negated(of("isnan", factor)))
    low.warn_if(of("logical_or", none, of("isfinite", v)), f"invalid value encountered in {name}")
    p.end()
    kept = p.cast(of("where", whole, v, p.const("float64", 0.0)), "int64")
    return of("where", of("logical_and", whole, low.negated(nat)), kept, low.number(NAT))


_HOW = (
    dict.fromkeys(_PLAIN, _plain) | dict.fromkeys(_COMPARISONS, _compared) | dict.fromkeys(("minimum", "maximum"), _extreme)
    | dict.fromkeys(("isnat", "isfinite"), _is_nat) | dict.fromkeys(("divide", "floor_divide", "remainder"), _divided)
)  # fmt: skip


# what makes them, and what they become


def made(low, fn, args, node):
    """np.timedelta64(3, "D"), np.datetime64("2020-02-29") and the like."""
    known = [a.literal if isinstance(a, Value) and a.known else str(a) if isinstance(a, str) else None for a in args]
    if None not in known:
        try:
            return low.literal(fn(*known))
        except (TypeError, ValueError) as e:
            raise NotCompiled(str(e), node) from None
    if len(args) not in (1, 2) or not isinstance(args[0], Value) or len(args) == 2 and known[1] is None:
        raise NotCompiled(f"{fn.__name__}() of such arguments", node)
    name = fn.__name__ + f"[{known[1]}]" * (len(args) == 2)
    if Scalar(name) not in TIMES or len(args) == 1 and fn is numpy.datetime64:
        raise NotCompiled(f"the dtype {name}", node)
    return low.each(args[:1], lambda x: Value(Scalar(name), _of_number(low, x, name, node)), node)


def _of_number(low, x, name, node):
    if is_time(x.type.dtype) and x.type.kind == Scalar(name).kind and "[" in x.type.dtype:
        return converted(low, x, name, node, exact=x.type.kind == "M")
    if x.type.kind not in "iu" or x.type == UINT or x.type.dtype == "uint64":
        raise NotCompiled(f"{name} of what is no int", node)
    return converted(low, x, name, node)


def method(low, value, node):
    """`x.astype(t)` of a time."""
    if node.func.attr != "astype" or len(node.args) != 1 or node.keywords:
        raise NotCompiled(f"the method {node.func.attr}() of a time", node)
    try:
        dtype = numpy.dtype(low.evaluate(node.args[0]))
    except TypeError:
        raise NotCompiled("a dtype that is not known", node) from None
    return low.each((value,), lambda x: cast(low, x, dtype, node), node)


def cast(low, value, dtype, node):
    """A time as a number of another dtype."""
    (v,) = low.p.parts(value.id)
    if dtype == numpy.int64:
        return Value(Scalar("int64"), v)
    if dtype == numpy.float64 and value.type.kind == "m":
        return Value(Scalar("float64"), low.p.cast(v, "float64"))
    if dtype.kind != value.type.kind or dtype not in OF_TIMES:
        raise NotCompiled(f"a time becomes one of {dtype}", node)
    return Value(Scalar(dtype.name), converted(low, value, dtype.name, node))


def stored(low, value, dtype, node):
    """As an element of an array."""
    if not is_time(dtype) or value.kinds or value.type.kind not in "mMiub" or value.type == UINT:
        raise NotCompiled(f"{'a number' if is_time(dtype) else 'a time'} becomes an element of {dtype}", node)
    if is_time(value.type.dtype) and value.type.kind != Scalar(dtype).kind:
        raise NotCompiled("a date becomes a duration, or the other way", node)
    return converted(low, value, dtype, node, exact=dtype.startswith("datetime64") and not low.of_arrays)


def has(value):
    """Whether it is a time, or may be one."""
    return isinstance(value, Value) and any(is_time(t.dtype) for t in value.kinds or {value.type})
