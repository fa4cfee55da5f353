"""Python's own random numbers in a compiled loop: those of the random module, and of a random.Random. Both have the generator that NumPy has as MT19937, which
is given their state before a run, and gives it back behind it."""

import contextlib
import random
import weakref

import numpy

from . import distributions
from .drawing import function_argument
from .growing import Growing
from .list_views import TupleView
from .substitutes import substituted
from .tracebacks import outgrown
from .types import FLOAT, INT, NotCompiled
from .values import Value
from .views import View, is_int

MODULE = ".random of Python"  # the argument for the generator of the module's own functions
MOST = 2**32 - 1  # that a number which is drawn is below
_twins = weakref.WeakKeyDictionary()  # a random.Random -> the MT19937 that draws for it


def is_pythons(x):
    return type(x) is random.Random


def name_of(fn):
    """The name of the function of the random module that draws from its own generator, or None."""
    return fn.__name__ if getattr(fn, "__self__", None) is random._inst and is_pythons(random._inst) else None


def bits_of(name, value):
    """The bit generator that draws."""
    source = random._inst if name == MODULE else value
    if source not in _twins:
        _twins[source] = numpy.random.MT19937()
    return _twins[source]


@contextlib.contextmanager
def lent(name, value):
    """The numbers that are drawn inside are those of a random.Random."""
    source, bits = random._inst if name == MODULE else value, bits_of(name, value)
    version, numbers, other = source.getstate()
    bits.state = {"bit_generator": "MT19937", "state": {"key": numpy.array(numbers[:-1], "uint32"), "pos": numbers[-1]}}
    try:
        yield
    finally:
        state = bits.state["state"]
        source.setstate((version, (*state["key"].tolist(), int(state["pos"])), other))


class PythonsGenerator:
    """What stands for one while a loop is lowered: the address of its bit generator."""

    def __init__(self, address):
        self.address = address

    def method(self, lowering, name, args, node):
        lowering.facts.draws = True
        how = _METHODS.get(name)
        if how is None or node.keywords or len(args) not in how[1]:
            raise NotCompiled(f"random numbers of {name}()", node)
        return how[0](lowering, self, node, *args)

    def double(self, lowering):
        lowering.effects += 1
        return Value(FLOAT, lowering.p.call("call_double", lowering.argument(function_argument("uniform")), self.address))

    def below(self, lowering, n, node):
        """An int from 0 on: as many bits as n has are drawn until they are less."""
        p, drawn = lowering.p, lowering.variable("int64")
        lowering.fail_if(p.apply("greater", n, lowering.number(MOST)), _too_many, node)
        lowering.effects += 1
        exponent = p.apply("right_shift", p.call("float_bits", p.cast(n, "float64")), lowering.number(52))
        beside = p.apply("subtract", lowering.number(32 + 1022), exponent)  # of 32 bits
        again = p.begin_repeat()
        word = p.call("call_word", lowering.argument(function_argument("below_or_at")), self.address, lowering.number(2**32 - 1))
        p.set(drawn, p.apply("right_shift", word, beside))
        p.break_(again, p.apply("less", p.get(drawn), n))
        p.end()
        return p.get(drawn)


def _random(lowering, g, node):
    return g.double(lowering)


def _int(lowering, x, node):
    if not isinstance(x, Value) or x.kinds or not is_int(x):
        raise NotCompiled("a random number between what are no ints", node)
    return lowering.cast(x, "int64")


def _randrange(lowering, g, node, start, stop=None):
    p = lowering.p
    low, high = (lowering.zero, _int(lowering, start, node)) if stop is None else (_int(lowering, x, node) for x in (start, stop))
    lowering.fail_if(p.overflows("subtract", high, low), _too_many, node)
    width = p.apply("subtract", high, low)
    again = (lambda *_: random.Random().randrange(0)) if stop is None else lambda a, w, _: random.Random().randrange(a, a + int(w))
    lowering.fail_if(p.apply("less_equal", width, lowering.zero), again, node, low, lambda: p.cast(width, "float64"))
    return Value(INT, p.apply("add", low, g.below(lowering, width, node)))


def _randint(lowering, g, node, a, b):
    beyond = Value(INT, lowering.p.apply("add", _int(lowering, b, node), lowering.one))
    return _randrange(lowering, g, node, a, beyond)


def _choice(lowering, g, node, x):
    if isinstance(x, list):
        at = g.below(lowering, lowering.number(len(x)), node) if x else _randrange(lowering, g, node, lowering.literal(0)).id
        return lowering.chosen_of(x, at, node)
    count, item = _items(x, node)
    lowering.fail_if(lowering.same(count, 0), lambda *_: random.Random().choice([]), node)
    return item(g.below(lowering, count, node))


def _items(x, node):
    if isinstance(x, Growing):
        return x.length, x.element
    if isinstance(x, View) and not x.scalar:
        return x.dims[0][0], x.item
    raise NotCompiled("a choice of what is neither a list nor an array", node)


def _shuffle(lowering, g, node, x):
    p, (count, _) = lowering.p, _items(x, node)
    if isinstance(x, Growing):
        x.sets(node)
        get, put = x._words, x.put
    elif len(x.dims) == 1 and not isinstance(x, TupleView):
        lowering.effects += 1
        lowering.facts.add(lowering.facts.mutated if x.own_memory else lowering.facts.written, None, x.slot)
        x.touch()
        get, put = (lambda i: x._value(x._at([i])).id), lambda i, v: p.store(x.buffer, x._at([i]), v)
    else:
        raise NotCompiled("a matrix or a tuple is shuffled", node)
    last = p.apply("subtract", count, lowering.one)
    _, k = p.begin_count(lowering.zero, p.apply("maximum", last, lowering.zero))
    i = p.apply("subtract", last, k)
    j = g.below(lowering, p.apply("add", i, lowering.one), node)
    a, b = get(i), get(j)
    put(i, b)
    put(j, a)
    p.end()


def _substitute(fn):
    return lambda lowering, g, node, *args: substituted(lowering, fn, [g, *args], node)


@outgrown
def _too_many(*_):
    raise OverflowError("random integers of more than 32 bits in a compiled loop; plait.jit(loops=False) draws them")


_METHODS = {
    "random": (_random, {0}), "randrange": (_randrange, {1, 2}), "randint": (_randint, {2}), "choice": (_choice, {1}), "shuffle": (_shuffle, {1}),
    "uniform": (_substitute(distributions.uniform), {2}), "normalvariate": (_substitute(distributions.normalvariate), {2}),
    "expovariate": (_substitute(distributions.expovariate), {1}),
}  # fmt: skip
