"""Lists that are elements of lists, or values of dicts: an element is the address of a head in memory of the run, which says where the elements of that list
are, how many, and for how many there is room. So a list that is an element twice is one list, as it is Python's. Lists that may be in one list are
of one group, and have elements of one Shape."""

import copy
import itertools
from typing import NamedTuple

import numpy

from . import deques, growing
from .growing import WORD, Growing
from .list_views import GridView, grown
from .passes import Again
from .types import FLOAT, INT, NotCompiled, Shape, Tabled, scalar_of
from .values import Listed

ADDRESS, COUNT, ROOM, BLOCK = range(4)  # words of a head; BLOCK: the memory that is its own, 0 where it has what the loop was given
HEAD = 4 * WORD
_SHARE = 3  # words in front of what the loop is given: how many elements, how many lists, how many words an element of those has


def group_of(facts, group):
    """What stands for all groups that have become one with it."""
    while group in facts.groups:
        group = facts.groups[group]
    return group


def unite(lowering, a, b, node):
    """Lists of both groups may be in one list."""
    facts = lowering.facts
    a, b = group_of(facts, a), group_of(facts, b)
    if a == b:
        return a
    for known in (facts.merges.pop(("list", b), None), facts.merges.get(("list", a))):
        if known is not None:
            Boxed(lowering, a, None).widen(known, node)
    facts.groups[b] = a
    facts.changed = True
    raise Again("lists of two groups are in one", node)


class Boxed(Growing):
    """A list that has a head, at an address that is a value of the kernel."""

    def __init__(self, lowering, group, head, sequence=None):
        self.lowering, self.group, self.head, self.sequence = lowering, group, head, sequence
        self.kept = None  # where its elements are, for as long as it does not change

    @property
    def key(self):
        return group_of(self.lowering.facts, self.group)

    @property
    def as_element(self):
        """The Shape of lists that it is an element of."""
        return NestedShape(self.group)

    # what is told of all lists of a group, as any two may be one

    @property
    def iterated(self):
        return self.lowering.groups_gone_over.get(self.key, 0)

    @iterated.setter
    def iterated(self, n):
        self.lowering.groups_gone_over[self.key] = n

    @property
    def changed(self):
        return self.lowering.groups_changed.get(self.key, 0)

    @changed.setter
    def changed(self, n):
        self.lowering.groups_changed[self.key] = n

    def _word(self, n):
        p = self.lowering.p
        at = p.apply("add", self.head, self.lowering.number(n * WORD)) if n else self.head
        v = p.load(self.lowering.heap("int64"), at, "int64")
        return v if p.type(v) == "int64" else p.cast(v, "int64")

    def _sets_word(self, n, v):
        p = self.lowering.p
        p.store(self.lowering.heap("int64"), p.apply("add", self.head, self.lowering.number(n * WORD)) if n else self.head, v)

    @property
    def where(self):
        return self._word(ADDRESS) if self.kept is None else self.kept

    @property
    def length(self):
        return self._word(COUNT)

    def counts(self, n):
        self._sets_word(COUNT, n)

    def gone_over(self):
        made = copy.copy(self)
        made.kept = self.where
        return made

    def sets(self, node):
        low = self.lowering
        low.effects += 1
        for name, group in low.boxed_inputs.items():
            if group_of(low.facts, group) == self.key:
                low.facts.add(low.facts.changed_lists, None, name)

    def reserve(self, count, node):
        low, p = self.lowering, self.lowering.p
        p.begin_if(p.apply("greater", count, self._word(ROOM)))
        room = p.apply("maximum", p.apply("multiply", count, low.number(2)), low.number(growing.FIRST))
        wide = low.number(len(self.shape.words))
        block = p.call("heap_alloc", p.apply("multiply", room, p.apply("multiply", wide, low.number(WORD))))
        low.fail_if(low.same(block, 0), growing._no_memory, node)
        _copy_words(low, self._word(ADDRESS), block, p.apply("multiply", self.length, wide))
        p.call("heap_free", self._word(BLOCK))
        for n, v in ((ADDRESS, block), (BLOCK, block), (ROOM, room)):
            self._sets_word(n, v)
        p.end()


def _copy_words(low, source, to, count):
    p, heap = low.p, low.heap("int64")
    _, i = p.begin_count(low.zero, count)
    by = p.apply("multiply", i, low.number(WORD))
    p.store(heap, p.apply("add", to, by), p.load(heap, p.apply("add", source, by), "int64"))
    p.end()


class NestedShape(NamedTuple):
    """The Shape of a list of lists, which are of a group (lists_in_lists.py)."""

    group: object

    of_tuples, columns, words, form = False, (), ["int64"], None

    def value(self, lowering, words):
        return Boxed(lowering, self.group, *words)

    def met(self, lowering, other, node):
        return NestedShape(unite(lowering, self.group, other.group, node))


class NestedInput(NamedTuple):
    """The Shape of a list of lists that a loop is given. inside: the Shape of those, None where all are empty."""

    inside: Shape


class Named:
    """A variable that stands for a list with a head, for one after the other."""

    def __init__(self, lowering, group):
        self.lowering, self.group, self.head = lowering, group, lowering.variable("int64")

    def now(self):
        return Boxed(self.lowering, self.group, self.lowering.p.get(self.head))


def named(lowering, name, value, node):
    """What the environment has where a variable becomes this list."""
    if name in lowering.facts.carried_lists or name in lowering.facts.behind:
        raise NotCompiled(f"{name} becomes an element of a list, which may be read behind the loop", node)
    lowering.facts.add(lowering.facts.named_lists, None, name)
    if name not in lowering.named_lists:
        lowering.named_lists[name] = Named(lowering, value.group)
    found = lowering.named_lists[name]
    unite(lowering, found.group, value.group, node)
    lowering.p.set(found.head, value.head)
    return found


class Pool:
    """The heads of lists that are made at one place. Where nobody has any of those any more, they are taken once more, with their memory."""

    def __init__(self, lowering, key):
        self.lowering, self.key = lowering, key
        self.table, self.made, self.known, self.room = (lowering.variable("int64") for _ in range(4))

    def reset(self):
        self.lowering.p.set(self.made, self.lowering.zero)

    def take(self, sequence, node):
        """An empty list."""
        low, p = self.lowering, self.lowering.p
        heap, head = low.heap("int64"), low.variable("int64")
        place = lambda: p.apply("add", p.get(self.table), p.apply("multiply", p.get(self.made), low.number(WORD)))  # noqa: E731
        p.begin_if(p.apply("less", p.get(self.made), p.get(self.known)))
        p.set(head, p.load(heap, place(), "int64"))
        p.otherwise()
        p.begin_if(p.apply("equal", p.get(self.known), p.get(self.room)))
        p.set(self.room, p.apply("add", p.apply("multiply", p.get(self.known), low.number(2)), low.number(growing.FIRST)))
        of = lambda v: p.apply("multiply", p.get(v), low.number(WORD))  # noqa: E731
        p.set(self.table, p.call("heap_grow", p.get(self.table), of(self.known), of(self.room)))
        low.fail_if(low.same(p.get(self.table), 0), growing._no_memory, node)
        p.end()
        p.set(head, p.call("heap_alloc", low.number(HEAD)))
        low.fail_if(low.same(p.get(head), 0), growing._no_memory, node)
        p.store(heap, place(), p.get(head))
        p.set(self.known, p.apply("add", p.get(self.known), low.one))
        p.end()
        p.set(self.made, p.apply("add", p.get(self.made), low.one))
        made = Boxed(low, self.key, p.get(head), sequence)
        made.clear()
        return made


def empty(lowering, key, node):
    """A list that is made at a node, whose lists are elements of others."""
    if key not in lowering.pools:
        raise Again("a list becomes an element of another", node)
    return lowering.pools[key].take(lowering.sequence, node)


def head_of(lowering, holder, value, node):
    """The address that is the element of a list or a dict, and its group. holder: that list or dict."""
    facts = lowering.facts
    if isinstance(value, Listed):
        value = growing.of_parts(lowering, value, node)
    if isinstance(value, GridView) and not value.scalar:
        grown(lowering, value, node)
    if type(value) is Growing and not isinstance(value.key, str):
        facts.add(facts.boxed, None, value.key)
        raise Again("a list becomes an element of another", node)
    if not isinstance(value, Boxed):
        raise NotCompiled("an element of a list that is neither a number nor a list which the loop makes", node)
    own = type(holder) is Growing and value.sequence is not None and value.sequence > holder.sequence
    facts.add(facts.holders, None, (value.group, holder.key, own))
    return value


def forget(lowering, holder):
    """A list is made where nobody has the one any more that was made there before: nor has anyone the lists that were in that alone."""
    facts, groups = lowering.facts, {}
    for group, key, own in facts.holders:
        groups.setdefault(group_of(facts, group), set()).add((key, own))
    for key, pool in lowering.pools.items():
        group = group_of(facts, key)
        if groups.get(group) == {(holder.key, True)} and group not in {group_of(facts, g) for g in facts.outlives}:
            pool.reset()


# lists that the loop is given


class Originals:
    """The heads of the lists that were in one before the loop, as run() has them back."""

    def __init__(self, lowering, address, count):
        self.address, self.count = lowering.variable("int64"), lowering.variable("int64")
        lowering.p.set(self.address, address)
        lowering.p.set(self.count, count)

    def ended(self):
        pass


def given(lowering, key, view):
    """A list of lists from before the loop."""
    made = deques.empty(lowering, key)
    count, address, group, originals = heads(lowering, key, view)
    made.widen(NestedShape(group), lowering.top)
    p = lowering.p
    made.reserve(count, lowering.top)
    _, i = p.begin_count(lowering.zero, count)
    made.put(i, [address(i)])
    p.end()
    made.counts(count)
    if key in lowering.facts.changed_lists:
        lowering.lists += [(key, made), (key, originals)]
    return made


def heads(lowering, key, view):
    """The heads of the lists that an input has: how many elements or values there are, the address of that at a number, the group, and the Originals."""
    p, number = lowering.p, lowering.number
    add, times = (lambda *v: p.apply("add", *v)), (lambda *v: p.apply("multiply", *v))
    group = lowering.boxed_inputs[key] = "in", key
    before = growing.of_numbers_of(view.type) if isinstance(view, GridView) else inside_of(view.shape)
    if before is not None:
        Boxed(lowering, group, None).widen(before, lowering.top)
    base, length = p.address(view.buffer), None
    word = lambda at: p.load(lowering.heap("int64"), add(base, times(at, number(WORD))), "int64")  # noqa: E731
    if isinstance(view, GridView):
        count = lists = view.dims[0][0]
        length, first = view.dims[1][0], base if view.dtype != "bool" else _as_words(lowering, view)
        wide = lowering.one
    else:
        count, lists, wide = (word(number(n)) for n in range(_SHARE))
        first = add(base, times(add(add(count, lists), number(_SHARE + 1)), number(WORD)))
    block = p.call("heap_alloc", add(times(lists, number(HEAD)), number(WORD)))
    lowering.fail_if(lowering.same(block, 0), growing._no_memory, lowering.top)
    head = lambda i: add(block, times(i, number(HEAD)))  # noqa: E731
    _, i = p.begin_count(lowering.zero, lists)
    if length is not None:
        start, n = times(i, length), length
    else:
        start, end = (word(add(add(count, number(_SHARE + k)), i)) for k in (0, 1))
        n = p.apply("subtract", end, start)
    where = add(first, times(times(start, wide), number(WORD)))
    box = Boxed(lowering, group, head(i))
    if before in (None, box.shape):
        for at, v in ((ADDRESS, where), (COUNT, n), (ROOM, n)):
            box._sets_word(at, v)
    else:
        box.fill(n, lambda k: _element(lowering, before, where, k), lowering.top)
    p.end()
    return count, lambda i: head(i if length is not None else word(add(i, number(_SHARE)))), group, Originals(lowering, block, lists)


def inside_of(shape):
    return (shape.values if isinstance(shape, Tabled) else shape).inside


def keys_of(lowering, view):
    """key(i), of a dict of lists."""
    p, number, keys = lowering.p, lowering.number, view.shape.keys
    wide, count = len(keys.words), p.load(lowering.heap("int64"), p.address(view.buffer), "int64")
    first = p.apply("subtract", view.dims[0][0], p.apply("multiply", count, number(wide)))
    where = p.apply("add", p.address(view.buffer), p.apply("multiply", first, number(WORD)))
    return lambda i: _element(lowering, keys, where, i)


def _element(lowering, shape, where, i):
    """The element at a number, of such words from an address on."""
    p, words = lowering.p, []
    at = p.apply("add", where, p.apply("multiply", i, lowering.number(WORD * len(shape.words))))
    for n, dtype in enumerate(shape.words):
        v = p.load(lowering.heap(dtype), p.apply("add", at, lowering.number(n * WORD)), dtype)
        words.append(v if p.type(v) == dtype else p.cast(v, dtype))
    return shape.value(lowering, words)


def _as_words(lowering, view):
    """Where the elements of a list of lists of bools are, a word each."""
    p, (rows, columns) = lowering.p, (extent for extent, _ in view.dims)
    block = p.call("heap_alloc", p.apply("add", p.apply("multiply", p.apply("multiply", rows, columns), lowering.number(WORD)), lowering.number(WORD)))
    lowering.fail_if(lowering.same(block, 0), growing._no_memory, lowering.top)
    _, i = p.begin_count(lowering.zero, rows)
    _, j = p.begin_count(lowering.zero, columns)
    at = p.apply("add", p.apply("multiply", i, columns), j)
    p.store(lowering.heap("int64"), p.apply("add", block, p.apply("multiply", at, lowering.number(WORD))), p.cast(view._value(view._at([i, j])).id, "int64"))
    p.end()
    p.end()
    return block


def listed(x, rows_of):
    """The Shape and the words of a list of lists; None of what is no such list. rows_of(x): the same of a list of numbers or tuples."""
    if {*map(type, x)} != {list}:
        return None
    lists, numbers = x, numpy.arange(len(x))
    if len({*map(id, x)}) < len(x):
        at = {}
        numbers = [at.setdefault(id(row), len(at)) for row in x]
        lists = [*{id(row): row for row in x}.values()]
    flat, shape, words = [*itertools.chain.from_iterable(lists)], None, []
    if flat:
        kinds = {*map(type, flat)}
        if kinds in ({int}, {float}):
            (kind,) = kinds
            try:
                shape, words = growing.of_numbers_of(scalar_of(kind())), [numpy.array(flat, "int64" if kind is int else "float64").view("int64")]
            except OverflowError:
                return None
        elif list in kinds or (found := rows_of(flat)) is None:
            return None
        else:
            shape, words = found
    ends = numpy.cumsum(numpy.fromiter(itertools.chain([0], map(len, lists)), "int64", len(lists) + 1))
    elements = words[0] if len(words) == 1 else numpy.array(words).T.ravel() if words else numpy.zeros(0, "int64")
    made = numpy.concatenate([[len(x), len(lists), len(words)], numbers, ends, elements]).astype("int64", copy=False)
    return NestedInput(shape), made


_PLAIN = {growing.of_numbers_of(t): t.dtype for t in (INT, FLOAT)}


class Restored:
    """The lists that a loop leaves, of the addresses of their heads. before: those that it was given, whose heads are `originals`, which get what they have
    now."""

    def __init__(self, made, before, originals, heap, elements_of):
        facts = made.lowering.facts
        shape = made.shape.values if isinstance(made.shape, Tabled) else made.shape
        self.inside, self.heap, self.elements_of = facts.merges.get(("list", group_of(facts, shape.group))), heap, elements_of
        self.known = {}
        first, count = originals
        before = [*{id(row): row for row in before}.values()]
        heads = heap.array(first, 4 * count, "int64").reshape(count, 4).tolist() if count else []
        for k, (row, (address, n, *_)) in enumerate(zip(before, heads)):
            self.known[first + k * HEAD] = row
            row[:] = self._elements(address, n)

    def _elements(self, address, n):
        if not n:
            return []
        if isinstance(self.inside, NestedShape):
            return [self.at(head) for head in self.heap.array(address, n, "int64").tolist()]
        if self.inside in _PLAIN:
            return self.heap.array(address, n, _PLAIN[self.inside]).tolist()
        wide = len(self.inside.words)
        return self.elements_of(self.inside, self.heap.array(address, n * wide, "int64").reshape(n, wide))

    def at(self, address):
        if address not in self.known:
            self.known[address] = self._elements(*self.heap.array(address, 2, "int64").tolist())
        return self.known[address]


def holds_lists(shape):
    return isinstance(shape.values if isinstance(shape, Tabled) else shape, NestedShape)


def rows_left(of, made, results, originals, heap, elements_of):
    """The elements of a list of lists behind a loop, or the keys and values of a dict. results: where its words are, and how many rows."""
    restored = Restored(made, of if type(of) is list else of.values(), originals, heap, elements_of)
    (address, n), keys = results, made.shape.keys if isinstance(made.shape, Tabled) else None
    wide = 1 + (len(keys.words) if keys else 0)
    words = heap.array(address, n * wide, "int64").reshape(n, wide) if n else numpy.zeros((0, wide), "int64")
    lists = [restored.at(at) for at in words[:, -1].tolist()]
    if not isinstance(made.shape, Tabled):
        return lists
    found = elements_of(keys, words[:, :-1]) if n else []
    return [(*(key if keys.of_tuples else (key,)), x) for key, x in zip(found, lists)]
