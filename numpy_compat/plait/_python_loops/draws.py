"""Random numbers in a compiled loop: drawn by NumPy's bit generators themselves, so that the loop leaves them as Python would."""

import ast
import contextlib

import numpy

from .. import _plait
from . import pythons_draws
from .drawing import FUNCTION
from .list_views import ListView
from .made import MOST, dtype_of, materialised
from .tracebacks import outgrown
from .types import FLOAT, NotCompiled, Scalar
from .values import Value
from .views import View, computed, is_int

LEGACY = ".random"  # the argument for the generator of numpy.random's own functions
_UNIFORM = ("random", "random_sample", "rand", "ranf", "sample")


class Generator:
    """What stands for one while a loop is lowered: the address of its bit generator."""

    def __init__(self, address):
        self.address = address


def legacy(fn):
    """The name of the function of numpy.random that draws from the global generator, or None."""
    theirs = getattr(fn, "_numpy", fn)
    return theirs.__name__ if isinstance(getattr(theirs, "__self__", None), numpy.random.RandomState) else None


def is_numpys(x):
    """Whether a generator is one of NumPy's, or stands for one: methods of others are their own."""
    if type(x).__module__ == "plait.random":
        x = getattr(x, "_drawing", None)
    return x is None or type(x) is numpy.random.Generator


def address_of(name, value):
    """What a run is given for such an argument."""
    if name.startswith(FUNCTION):
        return _plait.drawing_functions()[name[len(FUNCTION) :]]
    return _plait.bit_generator_address(_bits(name, value))


def _bits(name, value):
    if name == pythons_draws.MODULE or pythons_draws.is_pythons(value):
        return pythons_draws.bits_of(name, value)
    return numpy.random.mtrand._rand._bit_generator if name == LEGACY else value.bit_generator


@contextlib.contextmanager
def held(names, values):
    """Others who draw from these generators wait, as in NumPy."""
    with contextlib.ExitStack() as stack:
        locks = {id(bits): bits.lock for n in names if not n.startswith(FUNCTION) for bits in [_bits(n, values.get(n))]}
        for _, lock in sorted(locks.items()):
            stack.enter_context(lock)
        for n in names:
            if n == pythons_draws.MODULE or pythons_draws.is_pythons(values.get(n)):
                stack.enter_context(pythons_draws.lent(n, values.get(n)))
        yield


def _double(lowering, source, which):
    return lowering.p.call("call_double", lowering.argument(FUNCTION + which), source.address)


def _scaled(lowering, v, factor, start, node):
    """start + factor * v, as C computes it."""
    p = lowering.p
    return Value(FLOAT, p.apply("add", lowering.cast(start, "float64"), p.apply("multiply", lowering.cast(factor, "float64"), v)))


def _given(lowering, names, node, **defaults):
    """The arguments of a call, by these names."""
    if any(isinstance(a, ast.Starred) for a in node.args) or len(node.args) > len(names) or any(k.arg not in names for k in node.keywords):
        raise NotCompiled("random numbers with such arguments", node)
    given = dict(zip(names, map(lowering.evaluate, node.args))) | {k.arg: lowering.evaluate(k.value) for k in node.keywords}
    found = [given.get(n, defaults.get(n)) for n in names]
    return [lowering.literal(x) if isinstance(x, (int, float)) else x for x in found]


def method(lowering, source, name, node, of_generator):
    """A number that is drawn."""
    lowering.facts.draws = lowering.facts.defaults = True
    lowering.effects += 1
    numbers = lambda *names, **defaults: _numbers(_given(lowering, names, node, **defaults), node)  # noqa: E731
    if name in _UNIFORM[: 1 if of_generator else None] and not node.args and not node.keywords:
        return Value(FLOAT, _double(lowering, source, "uniform"))
    if name == "uniform":
        low, high = numbers("low", "high", low=0.0, high=1.0)
        width = Value(FLOAT, lowering.p.apply("subtract", lowering.cast(high, "float64"), lowering.cast(low, "float64")))
        lowering.fail_if(lowering.negated(lowering.p.apply("isfinite", width.id)), lambda *_: numpy.random.default_rng().uniform(-1.7e308, 1.7e308), node)
        if of_generator:
            lowering.fail_if(lowering.p.apply("less", width.id, lowering.p.const("float64", 0.0)), lambda *_: numpy.random.default_rng().uniform(1.0, 0.0), node)
        return _scaled(lowering, _double(lowering, source, "uniform"), width, low, node)
    if not of_generator:
        raise NotCompiled(f"numpy.random.{name}()", node)
    if name in ("standard_normal", "standard_exponential") and not node.args and not node.keywords:
        return Value(FLOAT, _double(lowering, source, name[9:]))
    if name in ("normal", "exponential"):
        loc, scale = numbers("loc", "scale", loc=0.0, scale=1.0) if name == "normal" else (lowering.literal(0.0), *numbers("scale", scale=1.0))
        below = lowering.p.apply("less", lowering.cast(scale, "float64"), lowering.p.const("float64", 0.0))
        lowering.fail_if(below, lambda *_: getattr(numpy.random.default_rng(), name)(scale=-1.0), node)
        v = _double(lowering, source, name)
        return _scaled(lowering, v, scale, loc, node) if name == "normal" else Value(FLOAT, lowering.p.apply("multiply", lowering.cast(scale, "float64"), v))
    if name == "integers":
        return _integers(lowering, source, *_given(lowering, ("low", "high", "size", "dtype", "endpoint"), node), node)
    if name in ("shuffle", "permutation"):
        return _shuffled(lowering, source, name, *_given(lowering, ("x",), node), node)
    if name == "choice" and len(node.args) == 1 and not node.keywords:
        a = lowering.evaluate(node.args[0])
        if isinstance(a, View) and not isinstance(a, ListView) and len(a.dims) == 1:
            n = a.dims[0][0]
            lowering.fail_if(lowering.same(n, 0), lambda *_: numpy.random.default_rng().choice([]), node)
            return a.item(_below(lowering, source, n))
    raise NotCompiled(f"the method {name}() of a generator of random numbers", node)


def _numbers(found, node):
    if not all(isinstance(x, Value) and all(t.kind != "c" for t in x.kinds or {x.type}) for x in found):
        raise NotCompiled("random numbers whose parameters are no numbers", node)
    return found


def _below(lowering, source, count):
    most = lowering.p.apply("subtract", count, lowering.one)
    return lowering.p.call("call_word", lowering.argument(FUNCTION + "below_or_at"), source.address, most)


def _masked(lowering, source, most):
    """A number of 0 to `most`, of so many bits that are drawn until they are one."""
    p, drawn, mask = lowering.p, lowering.variable("int64"), most
    for shift in (1, 2, 4, 8, 16):
        mask = p.apply("bitwise_or", mask, p.apply("right_shift", mask, lowering.number(shift)))
    again = p.begin_repeat()
    p.set(drawn, p.apply("bitwise_and", _below(lowering, source, lowering.number(1 << 32)), mask))
    p.break_(again, p.apply("less_equal", p.get(drawn), most))
    p.end()
    return p.get(drawn)


def _shuffled(lowering, source, name, x, node):
    """An array in another order: the same, or a copy, or the first so many ints."""
    if name == "permutation" and isinstance(x, Value) and is_int(x):
        n = lowering.cast(x, "int64")
        lowering.fail_if(lowering.p.apply("greater", n, lowering.number(MOST)), _too_many, node)
        x = computed(lowering, [lowering.p.apply("maximum", n, lowering.zero)], "int64", lambda index: index[0], node)
    elif not isinstance(x, View) or isinstance(x, ListView) or len(x.dims) != 1:
        raise NotCompiled(f"{name}() of what is no array of one axis", node)
    elif name == "permutation":
        x = materialised(lowering, x.vector(), node)
    else:
        lowering.effects += 1
        lowering.facts.add(lowering.facts.mutated if x.own_memory else lowering.facts.written, None, x.slot)
        x.touch()
    p, n = lowering.p, x.dims[0][0]
    lowering.fail_if(p.apply("greater", n, lowering.number(1 << 32)), _too_many, node)
    last = p.apply("subtract", n, lowering.one)
    _, k = p.begin_count(lowering.zero, p.apply("maximum", last, lowering.zero))
    i = p.apply("subtract", last, k)
    places = x._at([i]), x._at([_masked(lowering, source, i)])
    first, second = (x._value(at).id for at in places)
    for at, v in zip(places, (second, first)):
        p.store(x.buffer, at, v)
    p.end()
    return x if name == "permutation" else None


def _integers(lowering, source, low, high, size, dtype, endpoint, node):
    if size is not None or dtype is not None and dtype_of(dtype, node) != "int64":
        raise NotCompiled("random integers that are many, or of another dtype", node)
    if endpoint is not None and not (isinstance(endpoint, Value) and endpoint.known):
        raise NotCompiled("random integers whose ends are not known", node)
    if high is None:
        low, high = lowering.literal(0), low
    if not all(isinstance(x, Value) and is_int(x) and all(t.kind != "b" for t in x.kinds or {x.type}) for x in (low, high)):
        raise NotCompiled("random integers between what are no ints", node)
    p = lowering.p
    a, b = lowering.cast(low, "int64"), lowering.cast(high, "int64")
    closed = endpoint is not None and bool(endpoint.literal)
    if closed:
        lowering.fail_if(lowering.same(b, 2**63 - 1), _too_many, node)
        b = p.apply("add", b, lowering.one)
    lowering.fail_if(p.apply("less_equal", b, a), lambda *_: numpy.random.default_rng().integers(1, 0, endpoint=closed), node)
    lowering.fail_if(p.overflows("subtract", b, a), _too_many, node)
    return Value(Scalar("int64"), p.apply("add", a, _below(lowering, source, p.apply("subtract", b, a))))


@outgrown
def _too_many(*_):
    raise OverflowError("random integers of more than 63 bits in a compiled loop; plait.jit(loops=False) draws them")
