"""Dicts and sets of a compiled loop: those that it makes, and those from before it. A hash table of the runtime's numbers the keys in the order in
which they came; what Python has of a key and its value are rows of words by these numbers, in memory of the run. A set is a dict without values."""

import ast
import contextlib

from . import growing
from .growing import Element, WORD
from .left import Leave, Told
from .list_views import GridView
from .lists_in_lists import Boxed, NestedShape, head_of, unite
from .passes import Nothing
from .tracebacks import fatal
from .texts import as_word
from .trees import names
from .types import BOOL, FLOAT, INT, NotCompiled, Shape, TEXTS, Tabled, column_of, is_key
from .values import Listed, Value, kinds_of
from .words import as_values

MOST = 4  # numbers of a key
OF_LISTS = "defaultdict of list"
_DEFAULTS = {"defaultdict of int": INT, "defaultdict of float": FLOAT}


class Key:
    def __init__(self, lowering, value, node):
        value = as_values(lowering, _with_words(lowering, value, node))
        self.value, self.of_tuples = value, type(value) is list
        self.parts = value if self.of_tuples else [value]
        if isinstance(value, Listed) or not 1 <= len(self.parts) <= MOST or not all(isinstance(x, Value) for x in self.parts):
            raise NotCompiled("a key that is neither an int nor a tuple of a few", node)
        if not all(is_key(t) for x in self.parts for t in kinds_of(x)):
            raise NotCompiled("a key that is no int of 64 bits", node)
        self.words = [lowering.cast(x, "int64") for x in self.parts]


def _with_words(lowering, value, node):
    """A key, or a value, whose parts of texts are Values."""
    return [as_word(lowering, x, node) for x in value] if type(value) is list else as_word(lowering, value, node)


class Entry(Element):
    """d[key]: a key that may be there."""

    def __init__(self, of, key, node):
        super().__init__(of, None)
        self.key, self.node, self.seen = key, node, None

    def load(self):
        self.at, value = self.of.read(self.key, self.node)
        self.seen = self.of.changed
        return value

    def put(self, value, node):
        table = self.of
        value = table.boxed(value, node)
        table.learn_values(value, node)
        if self.at is not None and self.seen == table.changed:  # it is where it was when it was read
            table.marks()
        elif table.iterated and isinstance(self.node.slice, ast.Name) and self.node.slice.id in table.named:  # one that the loop has reached
            table.marks()
            self.at = table.by_key("find", self.key, node)
        else:
            self.at, _ = table.insert(self.key, node)
        table.put_value(self.at, value, node)


class Table:
    """A dict or a set: variables for its hash table, for where its rows are, for how many there is room, and for how many there are in the end."""

    def __init__(self, lowering, key, of):
        self.lowering, self.key, self.of = lowering, key, of
        self.handle, self.address, self.room, self.count = (lowering.variable("int64") for _ in range(4))
        self.iterated = 0  # loops that go over it
        self.named = []  # of a loop over it, the name that the keys have
        self.changed = 0  # places so far at which entries come, go or move

    @property
    def shape(self):
        return self.lowering.facts.merges.get(("table", self.key)) or Tabled(self.of, None, None)

    def learn_keys(self, value, node):
        shape = self.shape
        self.lowering.settle(("table", self.key), shape._replace(keys=_met(shape.keys, value, "key", node)))

    def learn_values(self, value, node):
        shape, value = self.shape, as_values(self.lowering, value)
        self.lowering.settle(("table", self.key), shape._replace(values=_met(shape.values, value, "value", node)))

    # the hash table

    def call(self, name, *values):
        return self.lowering.p.call(f"table_{name}", self.lowering.p.get(self.handle), *values)

    def by_words(self, name, words):
        if len(words) == 1:
            return self.call(f"{name}1", words[0])
        for n, word in enumerate(words):
            self.call("key", self.lowering.number(n), word)
        return self.call(name)

    def by_key(self, name, key, node):
        """The entry's number, or -1."""
        keys = self.shape.keys
        if keys is None:
            return self.lowering.number(-1)
        if keys.of_tuples != key.of_tuples or len(keys.columns) != len(key.words):
            raise NotCompiled("keys of several lengths", node)
        if any((c.kinds | kinds_of(x)) & TEXTS and not c.kinds | kinds_of(x) <= TEXTS for c, x in zip(keys.columns, key.parts)):
            raise NotCompiled("texts and numbers as keys", node)
        return self.by_words(name, key.words)

    @property
    def length(self):
        return self.call("size")

    def begin(self, node):
        """Makes it, or takes all from it."""
        lowering, p, keys = self.lowering, self.lowering.p, self.shape.keys
        p.begin_if(lowering.same(p.get(self.handle), 0))
        p.set(self.handle, p.call("table_new", lowering.number(len(keys.columns) if keys else 1)))
        lowering.fail_if(lowering.same(p.get(self.handle), 0), _no_memory, node)
        p.end()
        self.call("clear")

    # rows

    def _words(self, at, first=0, last=None):
        p, found, dtypes = self.lowering.p, [], self.shape.words
        for n in range(len(dtypes))[first:last]:
            v = p.load(self.lowering.heap(dtypes[n]), self._place(at, n), dtypes[n])
            found.append(v if p.type(v) == dtypes[n] else p.cast(v, dtypes[n]))
        return found

    def _put(self, at, words, first=0):
        for n, v in enumerate(words, first):
            self.lowering.p.store(self.lowering.heap(self.shape.words[n]), self._place(at, n), v)

    def _place(self, at, n):
        p, number = self.lowering.p, self.lowering.number
        row = p.apply("add", p.get(self.address), p.apply("multiply", at, number(WORD * len(self.shape.words))))
        return p.apply("add", row, number(WORD * n)) if n else row

    def key_at(self, at):
        return self.shape.keys.value(self.lowering, self._words(at, 0, len(self.shape.keys.words)))

    def value_at(self, at):
        return self.shape.values.value(self.lowering, self._words(at, len(self.shape.keys.words)))

    def put_value(self, at, value, node):
        self._put(at, _words_of(self.lowering, self.shape.values, as_values(self.lowering, value), node), len(self.shape.keys.words))

    def reserve(self, used, count, node):
        """Room for so many rows."""
        lowering, p = self.lowering, self.lowering.p
        p.begin_if(p.apply("greater", count, p.get(self.room)))
        room = p.apply("maximum", p.apply("multiply", count, lowering.number(2)), lowering.number(growing.FIRST))
        bytes_of = lambda n: p.apply("multiply", n, lowering.number(WORD * len(self.shape.words)))  # noqa: E731
        grown = p.call("heap_grow", p.get(self.address), bytes_of(used), bytes_of(room))
        lowering.fail_if(lowering.same(grown, 0), _no_memory, node)
        p.set(self.address, grown)
        p.set(self.room, room)
        p.end()

    # what changes it

    def marks(self):
        self.lowering.effects += 1
        self.lowering.facts.add(self.lowering.facts.changed_lists, None, self.key)

    def changes(self, node):
        if self.iterated:
            raise NotCompiled("a dict changes as a loop goes over it", node)
        self.changed += 1
        self.marks()

    def loses(self, node):
        self.changes(node)
        if self.of == "set" and isinstance(self.key, str):
            raise NotCompiled("a set from before the loop loses elements: in which order it has the others afterwards, Python knows", node)

    def insert(self, key, node):
        """The number of the entry, which is made where there is none, and whether it was."""
        self.changes(node)
        return self._insert(key, node)

    def _insert(self, key, node):
        lowering, p = self.lowering, self.lowering.p
        self.learn_keys(key.value, node)
        before = self.call("entries")
        self.reserve(before, p.apply("add", before, lowering.one), node)
        at = self.by_key("insert", key, node)
        lowering.fail_if(p.apply("less", at, lowering.zero), _no_memory, node)
        new = p.apply("equal", at, before)
        p.begin_if(new)
        self._put(at, _words_of(lowering, self.shape.keys, key.value, node))
        p.end()
        return at, new

    def boxed(self, value, node):
        """A list as a value."""
        return head_of(self.lowering, self, value, node) if isinstance(value, (growing.Growing, Listed, GridView)) else _with_words(self.lowering, value, node)

    def set(self, key, value, node):
        value = self.boxed(value, node)
        self.learn_values(value, node)
        at, _ = self.insert(key, node)
        self.put_value(at, value, node)

    def add(self, key, node):
        self.insert(key, node)

    def append(self, value, node):
        """What a comprehension gives."""
        if self.of == "set":
            return self.add(Key(self.lowering, value, node), node)
        return self.set(Key(self.lowering, value[0], node), value[1], node)

    def default(self, key, value, node):
        """What the key has, or gets now."""
        value = self.boxed(value, node)
        self.learn_values(value, node)
        at, new = self.insert(key, node)
        self.lowering.p.begin_if(new)
        self.put_value(at, value, node)
        self.lowering.p.end()
        return at, self.value_at(at)

    def remove(self, key, node, fails=True):
        self.loses(node)
        at = self.by_key("remove", key, node)
        if fails:
            self.fail_if_missing(at, key, node)
        return at

    def clear(self, node):
        self.loses(node)
        self.call("clear")

    def tidy(self):
        """Gives the entries numbers without those of removed ones between."""
        if self.iterated or self.shape.keys is None:
            return
        lowering, p, n = self.lowering, self.lowering.p, self.call("entries")
        self.changed += 1
        p.begin_if(p.apply("not_equal", n, self.length))
        p.set(self.count, lowering.zero)
        _, i = p.begin_count(lowering.zero, n)
        p.begin_if(p.apply("not_equal", self.call("alive", i), lowering.zero))
        self._put(p.get(self.count), self._words(i))
        p.set(self.count, p.apply("add", p.get(self.count), lowering.one))
        p.end()
        p.end()
        self.call("clear")
        _, i = p.begin_count(lowering.zero, p.get(self.count))
        key = self.key_at(i)
        self.by_words("insert", [lowering.cast(x, "int64") for x in (key if isinstance(key, list) else [key])])
        p.end()
        p.end()

    def ended(self):
        """Its rows and how many there are, as they go back."""
        lowering, p = self.lowering, self.lowering.p
        p.begin_if(p.apply("not_equal", p.get(self.handle), lowering.zero))
        self.tidy()
        p.set(self.count, self.length)
        p.end()

    # what is read

    def fail_if_missing(self, at, key, node):
        """KeyError(key)"""
        low, used, told = self.lowering, {}, []
        low.p.begin_if(low.p.apply("less", at, low.zero))
        for n, x in enumerate(key.parts):
            number = low.tell(x.id, x.type.dtype, used)
            told.append(Told(f"k{n}", number, low.tell(x.tag, "int64", used) if x.kinds else -1, x.type))
        again = _missing_tuple if key.of_tuples else _missing
        low.fails(Leave(again, tuple(told), {}, {}), node, KeyError)
        low.p.end()

    def nothing(self, key, node):
        """Whatever is asked for is not there."""
        facts = self.lowering.facts
        if not facts.settled:
            facts.unknown = True
            raise Nothing("nothing is ever put into a dict", node)
        self.fail_if_missing(self.lowering.number(-1), key, node)
        return None, Value(INT, self.lowering.zero)

    def read(self, key, node):
        """The entry's number, None where it may be missing, and its value."""
        if self.of == OF_LISTS:
            return self.default_list(key, node)
        if self.of in _DEFAULTS:
            t = _DEFAULTS[self.of]
            return self.default(key, self.lowering.literal(t.of(0)), node)
        if self.of == "set":
            raise NotCompiled("an index of a set", node)
        known = self.shape.keys is not None and self.shape.values is not None
        if self.of == "Counter":
            return None, self.found_or(self.by_key("find", key, node), self.lowering.literal(0), node)
        if not known:
            return self.nothing(key, node)
        at = self.by_key("find", key, node)
        self.fail_if_missing(at, key, node)
        return at, self.value_at(at)

    def default_list(self, key, node):
        """The list that the key has, or a new one."""
        if self.iterated and isinstance(getattr(node, "slice", None), ast.Name) and node.slice.id in self.named:  # one that the loop has reached
            at = self.by_key("find", key, node)
            return at, self.value_at(at)
        at, new = self.insert(key, node)
        self.lowering.p.begin_if(new)
        made = self.boxed(self.lowering.new_list(getattr(node, "slice", node)), node)
        self.learn_values(made, node)
        self.put_value(at, made, node)
        self.lowering.p.end()
        return at, self.value_at(at)

    def found_or(self, at, other, node):
        """The value of an entry, or another one where its number is -1."""
        low, p, shape, other = self.lowering, self.lowering.p, self.shape.values, as_values(self.lowering, other)
        if shape is None or self.shape.keys is None:
            return other
        others = other if isinstance(other, list) else [other]
        alike = isinstance(other, list) == shape.of_tuples and not isinstance(shape, NestedShape) and len(others) == len(shape.columns)
        if isinstance(other, Listed) or not alike or not all(isinstance(x, Value) for x in others):
            raise NotCompiled("a default that is no number, or no tuple as the values are", node)
        said = getattr(node, "slice", node)  # of a place that changes, there is a node for each pass
        keys = [((said, n), "value") for n in range(len(others))]
        held = [low.chosen(key[0]) for key in keys]
        p.begin_if(p.apply("less", at, low.zero))
        for h, key, x in zip(held, keys, others):
            low.choose(h, key, x, node)
        p.otherwise()
        value = self.value_at(at)
        for h, key, x in zip(held, keys, value if shape.of_tuples else [value]):
            low.choose(h, key, x, node)
        p.end()
        parts = [low.choice(h, key) for h, key in zip(held, keys)]
        return parts if shape.of_tuples else parts[0]

    def part(self, lowering, node):
        return Entry(self, Key(lowering, lowering.evaluate(node.slice), node), node)

    def contains(self, value, node):
        at = self.by_key("find", Key(self.lowering, value, node), node)
        return Value(BOOL, self.lowering.p.apply("greater_equal", at, self.lowering.zero))

    @property
    def stays(self):
        """Whether it is as it was before the loop: its elements are in the order that Python has."""
        return isinstance(self.key, str) and self.key not in self.lowering.facts.changed_lists

    def items(self, node, what="keys", ordered=False):
        """How many there are, and that at a number: of keys, values or both."""
        if self.of == "set" and not ordered and not self.stays:
            raise NotCompiled("a loop over a set, whose order Python knows", node)
        shape = self.shape
        if shape.keys is None or self.of != "set" and shape.values is None:
            raise Nothing("a loop over an empty dict", node)
        self.tidy()
        self.lowering.gone_over.append(self)
        item = {"keys": self.key_at, "values": self.value_at, "items": lambda i: [self.key_at(i), self.value_at(i)]}[what]
        return self.length, item


@contextlib.contextmanager
def keys_named(lowering, loop):
    """A dict that a loop goes over knows meanwhile which name its keys have, where nothing else has that name there."""
    source, known = loop.iter, []
    of = source.func.value if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and not source.args else source
    if isinstance(of, ast.Name):
        over = lowering.dry_run(lambda: lowering.evaluate(source))
        what = over.what if isinstance(over, Entries) else "keys"
        target = loop.target.elts[0] if what == "items" and isinstance(loop.target, ast.Tuple) else loop.target
        if isinstance(over, (Table, Entries)) and what != "values" and isinstance(target, ast.Name) and names(loop, ast.Store).count(target.id) == 1:
            known = over.named if isinstance(over, Table) else over.table.named
            known.append(target.id)
    yield
    del known[-1:]


class Entries:
    """d.keys(), d.values() or d.items()"""

    def __init__(self, table, what, ordered=False):
        self.table, self.what, self.ordered = table, what, ordered

    def items(self, node):
        return self.table.items(node, self.what, self.ordered)


class Unordered(ast.expr):
    """The ints of a set for a call that gives the same of any order."""

    _fields = ("of",)

    def entries(self, lowering):
        table = lowering.evaluate(self.of)
        keys = table.shape.keys
        if keys is not None and (keys.of_tuples or not keys.columns[0].kinds <= {INT, BOOL}):
            raise NotCompiled("a loop over a set, whose order Python knows", self)
        return Entries(table, "keys", ordered=True)


def unordered(node):
    """The call sum(x) of a set x."""
    made = ast.Call(node.func, [ast.copy_location(Unordered(node.args[0]), node.args[0])], [])
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _met(known, value, what, node):
    """The Shape of what has been there, and of a value that is to be there."""
    if isinstance(value, Boxed):
        if known is not None and not isinstance(known, NestedShape):
            raise NotCompiled(f"{what}s that are lists and others", node)
        return NestedShape(value.group if known is None else unite(value.lowering, known.group, value.group, node))
    of_tuples = isinstance(value, list)
    parts = value if of_tuples else [value]
    if isinstance(known, NestedShape) or isinstance(value, Listed) or not parts or not all(isinstance(x, Value) for x in parts):
        raise NotCompiled(f"a {what} that is neither a number nor a tuple of numbers", node)
    if any(t.kind == "c" for x in parts for t in kinds_of(x)):
        raise NotCompiled("a dict of complex numbers", node)
    kinds = [kinds_of(x) for x in parts]
    if known is not None:
        if known.of_tuples != of_tuples or len(known.columns) != len(parts):
            raise NotCompiled(f"{what}s of several lengths", node)
        kinds = [c.kinds | found for c, found in zip(known.columns, kinds)]
    return Shape(of_tuples, tuple(map(column_of, kinds)))


def _words_of(lowering, shape, value, node):
    if isinstance(shape, NestedShape):
        return [value.head]
    words = []
    for x, column in zip(value if shape.of_tuples else [value], shape.columns):
        words.append(lowering.word(Value(column.type, lowering.held_as(x, column.type, node)), column.words[0]))
        words += [lowering.tag_number(x)] * (len(column.words) > 1)
    return words


def _missing(k0):
    raise KeyError(k0)


def _missing_tuple(**parts):
    raise KeyError(tuple(parts[f"k{n}"] for n in range(len(parts))))


@fatal
def _no_memory(*_):
    raise MemoryError("a dict of a compiled loop does not fit into memory")


def new(lowering, node, of):
    """An empty one, of an expression that has made others before which nobody has any more."""
    facts = lowering.facts
    if (node, of) not in facts.tables:
        facts.add(facts.tables, None, (node, of))
        lowering.own_tables.append(Table(lowering, node, of))
    made = lowering.own_tables[facts.tables.index((node, of))]
    made.begin(node)
    made.changed += 1
    return made
