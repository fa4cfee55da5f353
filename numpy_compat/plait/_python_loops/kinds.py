"""Numbers of a compiled loop whose types only the running code knows: they carry the types that they may have, and a tag that says which it is."""

import functools
import itertools

from .complexes import Pairs
from . import words
from .dry import NotedProcedure
from .tracebacks import outgrown
from .types import INT, NotCompiled, joined, tag_of
from .values import Value, kinds_of


class Kinds:
    """Of a Lowering, which has the procedure `p` and what passes before have found."""

    def each(self, values, compute, node):
        """compute(*values) for the types that the values have: in one way where the type of the result is the same, else in a way for each."""
        values = [words.number(self, v, node) for v in values]
        if not any(isinstance(v, Value) and v.kinds for v in values):
            return compute(*values)
        # By type, and whether there are errors, which say of what type the operands were.
        ways = [*itertools.product(*([*sorted(v.kinds)] if isinstance(v, Value) and v.kinds else [None] for v in values))]
        results = [self.tried(values, way, compute) for way in ways]
        kinds = frozenset().union(*(found for found, *_ in results))
        alike = len({noted for *_, noted in results}) == 1 and not any(fails for _, fails, *_ in results)
        if len(kinds) == 1 and alike and self.tried(values, [None] * len(values), compute) == results[0]:
            return compute(*(v._replace(kinds=frozenset()) if isinstance(v, Value) else v for v in values))
        if not all(found for found, *_ in results):
            raise NotCompiled("an operation on numbers of several types", node)
        t = functools.reduce(joined, sorted(kinds))
        if alike and _as_one(values, kinds) and all(len(found) == 1 and not warns for found, _, warns, _ in results):
            result = compute(*(Value(k, v.id) if k else v for v, k in zip(values, ways[0])))
            tag = self.number(tag_of(next(iter(results[0][0]))))
            for way, ((kind,), *_) in zip(ways[1:], results[1:]):
                tag = self.p.apply("where", self.are(values, way), self.number(tag_of(kind)), tag)
            return Value(t, result.id, kinds=kinds, tag=tag)
        held, tag = self.p.local(t.dtype), self.p.local("int64")
        for way in ways:
            self.p.begin_if(self.are(values, way))
            result = compute(*(Value(k, self.cast(v, k.dtype)) if k else v for v, k in zip(values, way)))
            self.p.set(held, self.held_as(result, t, node))
            self.p.set(tag, self.tag_number(result))
            self.p.end()
        return self.one_of(t, self.p.get(held), kinds, tag)

    def are(self, values, way):
        """Whether the values are of these types."""
        return functools.reduce(lambda a, b: self.p.apply("logical_and", a, b), [self.same(v.tag, tag_of(k)) for v, k in zip(values, way) if k])

    def one_of(self, t, v, kinds, tag):
        """A value that is of one of these kinds, as the variable `tag` says."""
        return Value(t, v, kinds=kinds, tag=self.p.get(tag)) if len(kinds) > 1 else Value(t, v)

    def tag_number(self, value):
        return value.tag if value.kinds else self.number(tag_of(value.type))

    def held_as(self, value, t, node):
        """A number as one of type t holds it; ints that floats do not hold leave the kernel."""
        v = self.cast(value, t.dtype)
        if t.kind in "fc" and value.type.dtype in ("int64", "uint64") and not value.type.object and not (value.known and int(float(value.literal)) == value.literal):
            self.fail_if(self.p.apply("not_equal", self.p.cast(v, value.type.dtype), value.id), _too_precise, node)
        return v

    def tried(self, values, way, compute):
        """The types of what compute() makes of values of these types, none where that is no number, whether it may raise errors, whether it may warn, and what
        it computes."""

        def attempt():
            result = compute(*(Value(k, self.p.arg(k.dtype)) if k else self.dry(v) for v, k in zip(values, way)))
            return kinds_of(result) if isinstance(result, Value) else frozenset(), bool(self.failures), bool(self.warnings), tuple(self.p.noted)

        return self.dry_run(attempt)

    def dry_run(self, compute):
        """What compute() gives, without code of it."""
        kept = self.p, self.failures, self.warnings, self.heaps, self.env, self.locals, self.tags, self.made_at, self.told_on
        self.locals, self.tags, self.made_at = dict(self.locals), dict(self.tags), dict(self.made_at)
        self.p, self.failures, self.warnings, self.heaps, self.env = Pairs(NotedProcedure("dry run", 1 << 40)), [], [], {}, dict(self.env)
        self.told_on = type(self.told_on)(self)
        try:
            return compute()
        finally:
            self.p, self.failures, self.warnings, self.heaps, self.env, self.locals, self.tags, self.made_at, self.told_on = kept

    def type_of(self, vector, node):
        """Of an element, which is looked at without computing it."""
        element = self.dry_run(lambda: vector.element([self.zero] * len(vector.shape)))
        if element.kinds:
            raise NotCompiled("an array of numbers whose type only the running code knows", node)
        return element.type

    def dry(self, v):
        return v._replace(id=self.p.arg(v.type.dtype), kinds=frozenset()) if isinstance(v, Value) else v

    def chosen(self, node):
        """Variables for a value that one of several ways gives, and its tag; of which type, the passes before have found."""
        t, _ = self.facts.merges.get((node, "value"), (INT, None))
        return self.p.local(t.dtype), self.p.local("int64")

    def choose(self, held, key, value, node):
        kinds = kinds_of(value)
        known = self.facts.merges.get(key)
        met = (value.type, frozenset(kinds)) if known is None else (joined(known[0], value.type), known[1] | kinds)
        if met != known:
            self.facts.merges[key] = met
            self.facts.changed = True
        self.p.set(held[0], self.held_as(value, met[0], node))
        if len(met[1]) > 1:
            self.p.set(held[1], self.tag_number(value))

    def either(self, condition, a, b, node):
        """a where `condition` holds, else b: both are there."""
        kinds = kinds_of(a) | kinds_of(b)
        t = joined(a.type, b.type)
        v = self.p.apply("where", condition, self.held_as(a, t, node), self.held_as(b, t, node))
        if len(kinds) == 1:
            return Value(t, v)
        return Value(t, v, kinds=kinds, tag=self.p.apply("where", condition, self.tag_number(a), self.tag_number(b)))

    def settle(self, key, t):
        """A type that later passes know."""
        if self.facts.merges.get(key) != t:
            self.facts.merges[key] = t
            self.facts.changed = True

    def choice(self, held, key):
        t, kinds = self.facts.merges.get(key, (INT, frozenset({INT})))  # which no way gives, as all of them raise
        return self.one_of(t, self.p.get(held[0]), kinds, held[1])


def _as_one(values, kinds):
    """Whether numbers of these types may be computed by the same code, as Python's floats and NumPy's of 64 bits: of complex numbers they have formulas of
    their own."""
    sets = [v.kinds for v in values if isinstance(v, Value) and v.kinds] + [kinds]
    return all(len({k.dtype for k in one}) == 1 and not any(k.kind == "c" for k in one) for one in sets)


@outgrown
def _too_precise(*_):
    raise OverflowError("an int outgrows 53 bits where it may be a float in a compiled loop; plait.jit(loops=False) runs it")
