"""Lists of a compiled loop: those that it makes, and those before it that it changes in length. Their elements lie in memory of the run, a row of words each, and go
back into Python's list behind the loop, or where it fails."""

import ast

from .list_views import GridView
from .passes import Nothing
from .tracebacks import fatal
from .types import INT, Column, NotCompiled, Shape, column_of, form_of, is_flat, parts_of
from .values import Listed, Value, kinds_of
from .views import View, is_int
from .words import as_value, number

WORD = 8  # bytes of an element
MOST = 1 << 40  # repetitions of a list
FIRST = 8  # elements for which there is room at first


class Element:
    """A place in a list, which is known to be there."""

    scalar = own_memory = True

    def __init__(self, of, at):
        self.of, self.at = of, at
        self.seen = of.changed

    def load(self):
        return self.of.element(self.at)

    def put(self, value, node):
        if self.seen != self.of.changed:
            raise NotCompiled("a list changes between an index and what is put there", node)
        self.of.sets(node)
        self.of.put(self.at, self.of.holds(value, node))


_UNKNOWN = Shape(False, (Column(INT, frozenset({INT})),))


class Growing:
    """A list: variables for where its elements are, how many, and for how many there is room."""

    def __init__(self, lowering, key):
        self.lowering, self.key = lowering, key
        self.address, self.count, self.room = (lowering.variable("int64") for _ in range(3))
        self.sequence = 0  # of the places so far at which lists are made
        self.iterated = 0  # loops that go over it
        self.changed = 0  # places so far at which elements come, go or move

    # its elements

    @property
    def shape(self):
        return self.lowering.facts.merges.get(("list", self.key), _UNKNOWN)

    @property
    def type(self):
        """Of elements that are numbers of one type; None of others."""
        shape = self.shape
        return None if shape.of_tuples or len(shape.columns) != 1 or len(shape.columns[0].kinds) > 1 else shape.columns[0].type

    def holds(self, value, node):
        """What is to be an element, as its words."""
        lowering, of_tuples = self.lowering, isinstance(value, list)
        if isinstance(value, (Growing, Listed, GridView)):
            boxed = lowering.boxed(self, value, node)
            self.widen(boxed.as_element, node)
            return [boxed.head]
        numbers = [_number(lowering, x, node) for x in parts_of(value, list)]
        form = form_of(value, list)
        if any(t.kind == "c" for x in numbers for t in kinds_of(x)):
            raise NotCompiled("a list of complex numbers", node)
        columns = self.widen(Shape(of_tuples, tuple(column_of(kinds_of(x)) for x in numbers), None if is_flat(form) else form), node).columns
        words = []
        for x, column in zip(numbers, columns):
            words.append(lowering.word(Value(column.type, lowering.held_as(x, column.type, node)), column.words[0]))
            words += [lowering.tag_number(x)] * (len(column.words) > 1)
        return words

    def widen(self, shape, node):
        """The shape that holds elements of this one, too."""
        known = self.lowering.facts.merges.get(("list", self.key))
        if known is not None:
            if type(known) is not type(shape):
                raise NotCompiled("a list of lists and of others", node)
            shape = known.met(self.lowering, shape, node)
        self.lowering.settle(("list", self.key), shape)
        return shape

    def _place(self, i, word=0):
        p, number = self.lowering.p, self.lowering.number
        at = p.apply("add", self.where, p.apply("multiply", i, number(WORD * len(self.shape.words))))
        return p.apply("add", at, number(WORD * word)) if word else at

    def _words(self, i):
        p, found = self.lowering.p, []
        for n, dtype in enumerate(self.shape.words):
            v = p.load(self.lowering.heap(dtype), self._place(i, n), dtype)
            found.append(v if p.type(v) == dtype else p.cast(v, dtype))
        return found

    def known(self, node=None):
        """Nothing is read of a list into which no pass has found anything to be put yet."""
        facts = self.lowering.facts
        if ("list", self.key) not in facts.merges and not facts.settled:
            facts.unknown = True
            raise Nothing("nothing is ever put into a list", node)

    def element(self, i):
        """That at a number which is known to be there."""
        self.known()
        return self.shape.value(self.lowering, self._words(i))

    def put(self, i, words):
        for n, (dtype, v) in enumerate(zip(self.shape.words, words)):
            self.lowering.p.store(self.lowering.heap(dtype), self._place(i, n), v)

    @property
    def where(self):
        return self.lowering.p.get(self.address)

    @property
    def length(self):
        return self.lowering.p.get(self.count)

    def counts(self, n):
        """It has so many elements from now on."""
        self.lowering.p.set(self.count, n)

    def gone_over(self):
        """The list, for a loop in which it does not change."""
        return self

    # what changes it

    def changes(self, node):
        if self.iterated:
            raise NotCompiled("a list changes as a loop goes over it", node)
        self.changed += 1
        self.sets(node)

    def sets(self, node):
        self.lowering.effects += 1
        self.lowering.facts.add(self.lowering.facts.changed_lists, None, self.key)

    def reserve(self, count, node):
        """Room for so many."""
        lowering, p = self.lowering, self.lowering.p
        p.begin_if(p.apply("greater", count, p.get(self.room)))
        room = p.apply("maximum", p.apply("multiply", count, lowering.number(2)), lowering.number(FIRST))
        bytes_of = lambda n: p.apply("multiply", n, lowering.number(WORD * len(self.shape.words)))  # noqa: E731
        p.set(self.address, p.call("heap_grow", p.get(self.address), bytes_of(self.length), bytes_of(room)))
        p.set(self.room, room)
        lowering.fail_if(lowering.same(p.get(self.address), 0), _no_memory, node)
        p.end()

    def append(self, value, node):
        self.changes(node)
        words, lowering, p = self.holds(value, node), self.lowering, self.lowering.p
        n = self.length
        more = p.apply("add", n, lowering.one)
        self.reserve(more, node)
        self.put(n, words)
        self.counts(more)

    def ended(self):
        """Nothing is left to do for it to go back."""

    def clear(self):
        self.counts(self.lowering.zero)

    def checked(self, i, node, again):
        """The place of an index, from 0 on."""
        i = number(self.lowering, i, node)
        if not isinstance(i, Value) or not is_int(i):
            raise NotCompiled("an index of a list that is no int", node)
        at, outside = self.lowering.p.index(self.lowering.cast(i, "int64"), self.length)
        self.lowering.fail_if(outside, again, node, error=IndexError)
        return at

    def part(self, lowering, node):
        if isinstance(node.slice, (ast.Slice, ast.Tuple)):
            return lowering.part_of_list(self, node)
        stored = isinstance(node.ctx, ast.Store)
        return Element(self, self.checked(lowering.evaluate(node.slice), node, lambda *_: [].__setitem__(0, 0) if stored else [][0]))

    def shift(self, start, by, node):
        """Moves the elements from a place on, by one."""
        lowering, p = self.lowering, self.lowering.p
        n = p.apply("subtract", self.length, start)
        _, i = p.begin_count(lowering.zero, n)
        at = p.apply("add", start, i) if by < 0 else p.apply("subtract", p.apply("subtract", self.length, lowering.one), i)
        self.put(p.apply("add", at, lowering.number(by)), self._words(at))
        p.end()

    def pop(self, index, node):
        self.changes(node)
        lowering, p = self.lowering, self.lowering.p
        lowering.fail_if(lowering.same(self.length, 0), lambda *_: [].pop(), node, error=IndexError)
        last = p.apply("subtract", self.length, lowering.one)
        if index is None or index.known and index.literal == -1:
            value = self.element(last)
        else:
            at = self.checked(index, node, lambda *_: [0].pop(1))
            value = self.element(at)
            self.shift(p.apply("add", at, lowering.one), -1, node)
        self.counts(last)
        return value

    def insert(self, index, value, node):
        self.changes(node)
        if not is_int(index):
            raise NotCompiled("an index of a list that is no int", node)
        words, lowering, p = self.holds(value, node), self.lowering, self.lowering.p
        i, n = lowering.cast(index, "int64"), self.length
        i = p.apply("where", p.apply("less", i, lowering.zero), p.apply("maximum", p.apply("add", i, n), lowering.zero), p.apply("minimum", i, n))
        self.reserve(p.apply("add", n, lowering.one), node)
        self.shift(i, 1, node)
        self.put(i, words)
        self.counts(p.apply("add", n, lowering.one))

    def extend(self, count, item, node):
        """By items that are there now."""
        self.changes(node)
        self.fill(count, item, node)

    def fill(self, count, item, node):
        lowering, p = self.lowering, self.lowering.p
        n = self.length
        self.reserve(p.apply("add", n, count), node)
        _, i = p.begin_count(lowering.zero, count)
        self.put(p.apply("add", n, i), self.holds(item(i), node))
        p.end()
        self.counts(p.apply("add", n, count))

    def reverse(self, node):
        lowering, p = self.lowering, self.lowering.p
        _, i = p.begin_count(lowering.zero, p.apply("right_shift", self.length, lowering.one))
        j = p.apply("subtract", p.apply("subtract", self.length, lowering.one), i)
        a, b = self._words(i), self._words(j)
        self.put(i, b)
        self.put(j, a)
        p.end()


def find(lowering, count, item, value, node):
    """The number of the first item that equals a number; how many there are where none does."""
    p, found = lowering.p, lowering.variable("int64")
    p.set(found, count)
    out = p.begin_if(None)
    _, i = p.begin_count(lowering.zero, count)
    p.begin_if(lowering.compared(ast.Eq(), item(i), value, node).id)
    p.set(found, i)
    p.break_(out)
    p.end()
    p.end()
    p.end()
    return p.get(found)


@fatal
def _no_memory(*_):
    raise MemoryError("a list of a compiled loop does not fit into memory")


def _number(lowering, value, node):
    value = as_value(lowering, lowering.as_word(value, node))
    if not isinstance(value, Value):
        raise NotCompiled("an element of a list that is no number", node)
    return value


def of_numbers_of(t):
    """The Shape of a list of numbers of one type."""
    return Shape(False, (Column(t, frozenset({t})),))


def of_parts(lowering, parts, node):
    made = lowering.new_list(node)
    for value in parts:
        made.append(value, node)
    return made


def repeated(lowering, parts, times, node):
    """[a, b] * n"""
    if not isinstance(times, Value) or not is_int(times):
        raise NotCompiled("a list times what is no int", node)
    made, p = lowering.new_list(node), lowering.p
    n = p.apply("maximum", lowering.cast(times, "int64"), lowering.zero)
    lowering.fail_if(p.apply("greater", n, lowering.number(MOST)), _no_memory, node)
    rows = [made.holds(v, node) for v in parts]
    made.reserve(p.apply("multiply", n, lowering.number(len(parts))), node)
    _, i = p.begin_count(lowering.zero, n)
    for k, words in enumerate(rows):
        made.put(p.apply("add", p.apply("multiply", i, lowering.number(len(parts))), lowering.number(k)), words)
    p.end()
    made.counts(p.apply("multiply", n, lowering.number(len(parts))))
    return made


def added(lowering, a, value, node):
    """`a += value`"""
    if isinstance(value, list):
        for x in value:
            a.append(x, node)
    else:
        a.extend(*items(lowering, value, node), node)


def items(lowering, x, node):
    """How many elements a sequence has, and that at a number."""
    if isinstance(x, Growing):
        return x.length, x.element
    if isinstance(x, View) and not x.scalar:
        return x.dims[0][0], x.item
    raise NotCompiled("a list gets the items of what is neither a list nor an array", node)
