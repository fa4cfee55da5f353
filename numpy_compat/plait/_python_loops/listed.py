"""Lists and tuples of Python's numbers that a compiled loop reads, and lists whose elements it sets: arrays for as long as it runs."""

import collections
import itertools
import operator
from typing import NamedTuple

import numpy

from .. import _plait
from .lists_in_lists import listed as nested
from .types import ALL, array_type, as_number, ASCII, BEYOND, class_of, column_of, form_of, is_flat, is_key, is_time, NONE, NotCompiled, NUMBERS, OBJECTS, Other, parts_of, scalar_of, Shape, state_of, Tabled, tag_of, TEXT, text_of, TEXTS

FEW = 16
_NUMBER = -1  # bindings/loop_lists.hpp's Rows::kNumber
MANY = 1 << 16  # entries of a dict or a set: to carry more over takes longer than most loops that look at some of them
_DTYPES = {float: "float64", int: "int64", bool: "bool"}


class Held(NamedTuple):
    """The numbers of a sequence, and the sequence."""

    array: numpy.ndarray
    of: object


def listed(x):
    """The type of a sequence of numbers that are all of one kind, and its Held; of any other, that of an object, and itself."""
    if type(x) is collections.deque:
        return _deque(x)
    if not x and type(x) is list:
        return array_type("int64", 1, True, "empty list"), Held(numpy.zeros(0, "int64"), x)
    if type(x) is str:
        dtype, code = ("uint8", "ascii") if x.isascii() else ("uint32", "utf-32-le")
        return array_type(dtype, 1, True, "str"), Held(numpy.frombuffer(x.encode(code, "surrogatepass"), dtype), x)
    if type(x) is bytes:
        return array_type("int64", 1, True, "bytes"), Held(numpy.frombuffer(x, "uint8").astype("int64"), x)
    kinds = {*map(type, x)}
    if kinds == {list} and type(x) is list:
        return _grid(x)
    dtype = _DTYPES.get(kinds.pop()) if len(kinds) == 1 else None
    if dtype is None and type(x) is list:
        found = _rows_of(x)
        return (Other(list), x) if found is None else (array_type("int64", 2, True, "list", found[0]), _held(found[1], x))
    if dtype is None:
        return x if _is_constant(x) else Other(tuple), x
    try:
        array = numpy.array(x, dtype)
    except OverflowError:
        return Other(type(x)), x
    return array_type(dtype, 1, True, type(x).__name__), Held(array, x)


def extents(x):
    """The same of a tuple of ints, of which code knows how many there are."""
    if type(x) is not tuple or not x or not all(type(n) is int and n < 1 << 62 for n in x):
        return listed(x)
    return array_type("int64", 1, True, f"tuple of {len(x)}"), Held(numpy.array(x, "int64"), x)


def _deque(x):
    if x.maxlen is not None:
        return Other(collections.deque), x
    t, held = listed([*x])
    return (t._replace(of=t.of.replace("list", "deque")), held._replace(of=x)) if type(held) is Held else (Other(collections.deque), x)


def _grid(x):
    """The same of a list of lists of one length, which are no two the same."""
    alike = len({*map(len, x)}) == 1
    kinds = {*map(type, itertools.chain.from_iterable(x))} if alike else ()
    dtype = _DTYPES.get(kinds.pop()) if len(kinds) == 1 else None
    if dtype is None or len({*map(id, x)}) < len(x):
        return _nested(x)
    try:
        return array_type(dtype, 2, True, "list of lists"), Held(numpy.array(x, dtype), x)
    except OverflowError:
        return Other(list), x


def _nested(x):
    found = nested(x, _rows_of)
    return (Other(list), x) if found is None else (array_type("int64", 1, True, "list of lists", found[0]), Held(found[1], x))


def _lists_of(held):
    """The lists that are written to where its numbers are."""
    if type(held.of) in (dict, collections.defaultdict):
        return [held.of, *{id(v): v for v in held.of.values() if type(v) is list}.values()]
    return [held.of, *{id(row): row for row in held.of}.values()] if type(held.of) is list and held.of and type(held.of[0]) is list else [held.of]


def tabled(x):
    """The same of a dict or a set of numbers, or of tuples of numbers."""
    of = _TABLES[type(x)] + (f" of {x.default_factory.__name__}" if type(x) is collections.defaultdict and x.default_factory in (int, float, list) else "")
    if of == "defaultdict" or len(x) > MANY:
        return Other(type(x)), x
    if not x:
        return array_type("int64", 2, True, of, Tabled(of, None, None)), Held(numpy.zeros((0, 1), "int64"), x)
    if not _may_be_key(next(iter(x))):
        return Other(type(x)), x
    keys, values = _rows_of([*x]), None if of == "set" else _values(x)
    if keys is None or values is None and of != "set" or len(keys[0].columns) > 4 or any(rows and getattr(rows[0], "form", None) for rows in (keys, values)):
        return Other(type(x)), x
    if not all(is_key(t) and (t not in TEXTS or c.kinds <= TEXTS) for c in keys[0].columns for t in c.kinds):
        return Other(type(x)), x
    if values is not None and isinstance(values[1], numpy.ndarray):  # lists
        words = numpy.concatenate([values[1], numpy.array(keys[1]).T.ravel()])
        return array_type("int64", 1, True, of, Tabled(of, keys[0], values[0])), Held(words, x)
    return array_type("int64", 2, True, of, Tabled(of, keys[0], values and values[0])), _held(keys[1] + (values[1] if values else []), x)


def _values(x):
    values = [*x.values()]
    return nested(values, _rows_of) if type(values[0]) is list else _rows_of(values)


def _may_be_key(k):
    return type(k) is tuple or state_of(k) is not None


_TABLES = {dict: "dict", set: "set", collections.Counter: "Counter", collections.defaultdict: "defaultdict"}


def is_table(x):
    return type(x) in _TABLES


def _held(words, x):
    return Held(numpy.ascontiguousarray(numpy.array(words).T), x)


def _rows_of(x):
    """The Shape and the words of a list of tuples, or of numbers."""
    kinds = {*map(type, x)}
    of_tuples = kinds == {tuple}
    if tuple in kinds and (not of_tuples or not x[0] or {*map(len, x)} != {len(x[0])}):
        return None
    form, places = form_of(x[0], tuple), _columns(x) if of_tuples else [x]
    if not is_flat(form) or of_tuples and any(tuple in map(type, numbers) for numbers in places):
        if any(form_of(row, tuple) != form for row in x):
            return None
        places = _columns([parts_of(row, tuple) for row in x])
    columns, words = [], []
    for numbers in places:
        alike = len({*map(type, numbers)}) == 1
        if alike and isinstance(numbers[0], (numpy.datetime64, numpy.timedelta64)) and len({x.dtype for x in numbers}) > 1:
            return None
        found = [state_of(numbers[0])] if alike and type(numbers[0]) is not str else [*map(state_of, numbers)]
        if None in found or any(t.kind == "c" or t.dtype == "uint64" for t in found):
            return None
        try:
            if {*found} == {TEXT} and all(len(s) == 1 and s.isascii() for s in numbers):
                found = [ASCII]
            column = column_of({*found})
            whole = float if column.type.kind == "f" else int
            made = [*map(as_number, numbers)] if column.kinds & OBJECTS or is_time(column.type.dtype) else numbers
            made = numpy.array(made if alike else [*map(whole, made)], column.words[0])
        except (NotCompiled, OverflowError):
            return None
        if column.type.kind == "f" and any(t.kind in "biu" for t in found) and not all(int(n) == int(m) for n, m, t in zip(numbers, made, found) if t.kind in "biu"):
            return None
        words.append(made.view("int64"))
        if len(column.kinds) > 1:
            words.append(numpy.array([tag_of(t) for t in found]))
        columns.append(column)
    return Shape(of_tuples, tuple(columns), None if is_flat(form) else form), words


def _columns(rows):
    """What zip(*rows) gives, which takes ten times as long of many rows."""
    return [[*map(operator.itemgetter(k), rows)] for k in range(len(rows[0]))]


def _is_constant(x):
    """Whether a tuple is of few numbers, and of tuples of such, which code has as they are."""
    return len(x) <= FEW and all(type(n) is tuple and _is_constant(n) or scalar_of(n) is not None or n is None or type(n) is str for n in x)


def memory_of(value):
    return value.array if type(value) is Held else value


def are_other_lists(values, written):
    """Whether lists that are written to or grow, by their numbers among the values, have one name alone."""
    seen = collections.Counter(id(x) for v in values if type(v) is Held for x in _lists_of(v))
    return all(seen[id(x)] == 1 for n in written if type(values[n]) is Held for x in _lists_of(values[n]))


def give_back(values):
    """What was written to lists."""
    for v in values:
        if type(v) is not Held:
            continue
        found, rows = v.array.tolist(), _lists_of(v)[1:]
        for row, new in zip(rows, found) if rows else [(v.of, found)]:
            row[:] = new


def elements_of(shape, words):
    """A list of such elements, of which the array has a row each."""
    if isinstance(shape, Shape) and are_numbers(shape) and not _is_plain(shape):
        words = numpy.ascontiguousarray(words)
        return _plait.list_of_rows(rows(shape), words.__array_interface__["data"][0], len(words))
    columns, at = [], 0
    for column in shape.columns:
        found = words[:, at].copy()
        found = found.view(column.words[0])
        if len(column.words) == 1:
            columns.append(numbers_of(found, column.type))
        else:
            columns.append(numbers_of(found, TEXT) if column.kinds <= TEXTS else of_tags(found, words[:, at + 1]))
        at += len(column.words)
    if shape.of_tuples and shape.form is not None:
        return [*_tuples_of(shape.form, iter(columns))]
    return [*zip(*columns)] if shape.of_tuples else columns[0]


def _tuples_of(form, columns):
    """The tuples of a form, whose numbers are in the columns."""
    return next(columns) if form is None else zip(*[_tuples_of(part, columns) for part in form])


def _is_plain(shape):
    """Whether the elements are Python's numbers of one type, of which NumPy makes a list at once."""
    return not shape.of_tuples and len(shape.columns[0].kinds) == 1 and shape.columns[0].type.python


def are_numbers(shape):
    """Whether bindings/loop_lists.cpp makes the elements: of numbers that an int64 or a float64 has."""
    return all(t in NUMBERS and t.dtype != "uint64" and t.kind != "c" for column in shape.columns for t in column.kinds)


def rows(shape):
    """What bindings/loop_lists.hpp has to know of such elements."""
    form = shape.form or ((None,) * len(shape.columns) if shape.of_tuples else None)
    return _outer_first(form), [(column.words[0], [((class_of(t), t.dtype), tag_of(t)) for t in sorted(column.kinds)]) for column in shape.columns]


def _outer_first(form):
    """How many parts the tuples of an element have, and _NUMBER of what is none."""
    return [_NUMBER] if form is None else [len(form), *(n for part in form for n in _outer_first(part))]


def of_tags(found, tags):
    """A list of what Python has of the numbers of an array, each of the type that its tag says."""
    if not len(tags):
        return []
    counts = numpy.bincount(tags)
    most = int(counts.argmax())
    first = (tags == most).argmax()  # which stands for those of other types until they are put there
    numbers = numbers_of(numpy.where(tags == most, found, found[first]), ALL[most - 1])
    for tag in {*numpy.flatnonzero(counts).tolist()} - {most}:
        at = numpy.flatnonzero(tags == tag)
        for i, x in zip(at.tolist(), numbers_of(found[at], ALL[tag - 1])):
            numbers[i] = x
    return numbers


def numbers_of(found, t):
    """A list of what Python has of the numbers of an array, all of one type."""
    if t == NONE:
        return [None] * len(found)
    if t in TEXTS:
        return _texts_of(found.astype("int64"))
    found = (found.real if t.kind != "c" else found).astype(t.dtype)
    return found.tolist() if t.python else [*found]


def _texts_of(found):
    if len(found) and 0 < found.min() and found.max() <= BEYOND:
        return [*text_of(found)]
    known = {word: TEXT.of(word) for word in {*found.tolist()}}
    return [*map(known.__getitem__, found.tolist())]


def put_back(of, shape, rows):
    """Gives a list, a dict or a set what it has now: the elements, or tuples of keys and values."""
    if type(of) is collections.deque:
        of.clear()
        return of.extend(rows)
    if not isinstance(shape, Tabled):
        of[:] = rows
        return
    wide = len(shape.keys.columns) if shape.keys else 0
    keys = [row[:wide] for row in rows] if shape.keys and shape.keys.of_tuples else [row[0] for row in rows]
    if shape.of == "set":
        of.update(keys)  # which loses none
        return
    values = [row[wide:] for row in rows] if shape.values and shape.values.of_tuples else [row[wide] for row in rows]
    # Those that were never removed are first, in the order that they had.
    before, kept = iter([*of]), 0
    while kept < len(keys) and any(_same(k, keys[kept]) for k in before):
        kept += 1
    for k in {*of}.difference(keys[:kept]):
        del of[k]
    for k, v in zip(keys, values):
        if k not in of or not _same(of[k], v):
            of[k] = v


def _same(a, b):
    if type(a) is not type(b):
        return False
    if type(a) is list:
        return a is b
    if type(a) is tuple:
        return len(a) == len(b) and all(map(_same, a, b))
    return a == b and (a != 0 or str(a) == str(b))  # 0.0 is not -0.0
