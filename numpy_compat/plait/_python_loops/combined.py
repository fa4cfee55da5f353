"""What itertools makes of several sequences, or of one with itself: a `for` of a compiled loop goes over it by number. product(), combinations()
and permutations() of ranges, arrays and lists are places that step as an odometer does."""

import ast
import itertools
import math

from .tracebacks import outgrown
from .types import NotCompiled

MOST = 6  # sequences
FUNCTIONS = itertools.product, itertools.combinations, itertools.combinations_with_replacement, itertools.permutations, itertools.chain
NAMES = {fn.__name__ for fn in FUNCTIONS}


def name_of(node):
    """The name of what may be such a function, as a call has it; None of others."""
    if not isinstance(node, ast.Call) or not node.args or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    fn = node.func
    name = fn.id if isinstance(fn, ast.Name) else fn.attr if isinstance(fn, ast.Attribute) and isinstance(fn.value, ast.Name) else None
    return name if name in NAMES else None


def split(node):
    """The sequences of such a call, and how many times it takes each; None where its source does not say that."""
    name, (first, *others) = name_of(node), node.args
    if name == "chain":
        return None if node.keywords else (node.args, 1)
    if name == "product":
        times = [k.value for k in node.keywords if k.arg == "repeat"] or [ast.Constant(1)]
        sequences = node.args
        if len(times) < len(node.keywords):
            return None
    elif node.keywords or len(others) != 1:
        return None
    else:
        sequences, times = [first], others
    known = isinstance(times[0], ast.Constant) and type(times[0].value) is int and 1 <= times[0].value * len(sequences) <= MOST
    return (sequences, times[0].value) if known else None


def count_of(name, sizes, times):
    """How many items there are."""
    if name == "chain":
        return sum(sizes)
    if name == "product":
        return math.prod(sizes) ** times
    n = sizes[0] + (times - 1 if name == "combinations_with_replacement" else 0)
    return math.perm(n, times) if name == "permutations" else math.comb(n, times)


def items(low, node, items_of):
    """How many there are, and the item at a number, which is asked for once in each iteration. items_of: the same of a sequence."""
    found = split(node)
    if found is None or low.evaluate(node.func) not in FUNCTIONS:
        raise NotCompiled("a loop over what is neither a range nor an array", node)
    sequences, times = found
    pools = [items_of(x) for x in sequences]
    if name_of(node) == "chain":
        return _chained(low, pools, node)
    return _Odometer(low, name_of(node), pools * times, node).items()


def _chained(low, pools, node):
    """One sequence after the other, of numbers."""
    p, ends = low.p, [pools[0][0]]
    for n, _ in pools[1:]:
        ends.append(p.apply("add", ends[-1], n))

    def item(i):
        held, key = low.chosen(node), (node, "value")
        for at, (_, of) in enumerate(pools):
            if at + 1 < len(pools):
                p.begin_if(p.apply("less", i, ends[at]))
            low.choose(held, key, low.a_number(of(p.apply("subtract", i, ends[at - 1]) if at else i), node), node)
            if at + 1 < len(pools):
                p.otherwise()
        for _ in pools[1:]:
            p.end()
        return low.choice(held, key)

    return ends[-1], item


class _Odometer:
    """Places in sequences, of which the last one steps first."""

    def __init__(self, low, name, pools, node):
        self.low, self.name, self.pools, self.node = low, name, pools, node
        self.places = [low.variable("int64") for _ in pools]
        self.next = low.variable("int64")  # the number of the item at which the places will be

    def items(self):
        return self.count(), self.item

    def count(self):
        """As count_of() has it: where one of the factors is not positive, there is none."""
        low, p = self.low, self.low.p
        n = None
        for k, (size, _) in enumerate(self.pools):
            if self.name in ("combinations", "permutations"):
                size = p.apply("maximum", p.apply("subtract", size, low.number(k)), low.zero)
            elif self.name == "combinations_with_replacement":
                size = p.apply("add", size, low.number(k))
            if n is not None:
                low.fail_if(p.overflows("multiply", n, size), _too_many, self.node)
                size = p.apply("multiply", n, size)
            n = p.apply("floor_divide", size, low.number(k + 1)) if k and self.name.startswith("combinations") else size
        return n

    def item(self, i):
        """The places step up to that item: by one, but where a run begins in the midst."""
        low, p = self.low, self.low.p
        steps = p.begin_repeat()
        p.begin_if(low.same(p.get(self.next), 0))
        self.first(0)
        p.otherwise()
        self.step()
        p.end()
        p.set(self.next, p.apply("add", p.get(self.next), low.one))
        p.break_(steps, p.apply("greater", p.get(self.next), i))
        p.end()
        return [of(p.get(place)) for place, (_, of) in zip(self.places, self.pools)]

    def first(self, k):
        """Gives the places from the k-th on the least that they may have."""
        low, p = self.low, self.low.p
        for n in range(k, len(self.places)):
            least = low.zero
            if n and self.name.startswith("combinations"):
                least = p.apply("add", p.get(self.places[n - 1]), low.number(self.name == "combinations"))
            p.set(self.places[n], least)
            if self.name == "permutations":
                self.skip(n)

    def step(self):
        """The last place that can get greater does, and those behind it begin again."""
        low, p = self.low, self.low.p
        done = p.begin_if(None)
        for k in reversed(range(len(self.places))):
            p.set(self.places[k], p.apply("add", p.get(self.places[k]), low.one))
            if self.name == "permutations":
                self.skip(k)
            left = len(self.places) - 1 - k if self.name == "combinations" else 0  # places behind, each of which is greater
            p.begin_if(p.apply("less", p.apply("add", p.get(self.places[k]), low.number(left)), self.pools[k][0]))
            self.first(k + 1)
            p.break_(done)
            p.end()
        p.end()

    def skip(self, k):
        """Of a permutation a place is none of those before it."""
        low, p = self.low, self.low.p
        if not k:
            return
        taken = p.begin_repeat()
        is_free = p.const("bool", True)
        for place in self.places[:k]:
            is_free = p.apply("logical_and", is_free, p.apply("not_equal", p.get(self.places[k]), p.get(place)))
        p.break_(taken, is_free)
        p.set(self.places[k], p.apply("add", p.get(self.places[k]), low.one))
        p.end()


@outgrown
def _too_many(*_):
    raise OverflowError("more than 2**63 items in a compiled loop; plait.jit(loops=False) runs it")
