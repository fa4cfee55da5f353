"""Lists and tuples of Python's numbers that a compiled loop reads, and lists whose elements it sets: arrays for as long as it runs."""

import functools
from typing import NamedTuple

import numpy

from .types import ALL, Column, NotCompiled, Other, Shape, array_type, joined, scalar_of, tag_of

FEW = 16
_DTYPES = {float: "float64", int: "int64", bool: "bool"}


class Held(NamedTuple):
    """The numbers of a sequence, and the sequence."""

    array: numpy.ndarray
    of: object


def listed(x):
    """The type of a sequence of numbers that are all of one kind, and its Held; of any other, that of an object, and itself."""
    if not x and type(x) is list:
        return array_type("int64", 1, True, "empty list"), Held(numpy.zeros(0, "int64"), x)
    kinds = {*map(type, x)}
    dtype = _DTYPES.get(kinds.pop()) if len(kinds) == 1 else None
    if dtype is None and type(x) is list:
        return _of_rows(x)
    if dtype is None:
        return x if _is_constant(x) else Other(tuple), x
    try:
        array = numpy.array(x, dtype)
    except OverflowError:
        return Other(type(x)), x
    return array_type(dtype, 1, True, type(x).__name__), Held(array, x)


def _of_rows(x):
    """Of a list of tuples, or of numbers of several types."""
    of_tuples = type(x[0]) is tuple
    if not all((type(row) is tuple) == of_tuples for row in x) or of_tuples and (not x[0] or {*map(len, x)} != {len(x[0])}):
        return Other(list), x
    columns, words = [], []
    for numbers in zip(*x) if of_tuples else [x]:
        found = [scalar_of(n) for n in numbers]
        if None in found or any(t.kind == "c" for t in found):
            return Other(list), x
        try:
            column = Column(functools.reduce(joined, {*found}), frozenset(found))
        except NotCompiled:
            return Other(list), x
        made = numpy.array([float(n) if column.type.kind == "f" else int(n) for n in numbers], column.words[0])
        if column.type.kind == "f" and any(t.kind != "f" for t in found) and not all(int(n) == int(m) for n, m, t in zip(numbers, made, found) if t.kind != "f"):
            return Other(list), x
        words.append(made.view("int64"))
        if len(column.kinds) > 1:
            words.append(numpy.array([tag_of(t) for t in found]))
        columns.append(column)
    return array_type("int64", 2, True, "list", Shape(of_tuples, tuple(columns))), Held(numpy.ascontiguousarray(numpy.array(words).T), x)


def _is_constant(x):
    """Whether a tuple is of few numbers, and of tuples of such, which code has as they are."""
    return len(x) <= FEW and all(type(n) is tuple and _is_constant(n) or scalar_of(n) is not None for n in x)


def memory_of(value):
    return value.array if type(value) is Held else value


def are_other_lists(values, written):
    """Whether lists that are written to or grow, by their numbers among the values, have one name alone."""
    held = [v.of for v in values if type(v) is Held]
    return all(sum(x is values[n].of for x in held) == 1 for n in written if type(values[n]) is Held)


def give_back(values):
    """What was written to lists."""
    for v in values:
        if type(v) is Held:
            v.of[:] = v.array.tolist()


def elements_of(shape, words):
    """A list of such elements, of which the array has a row each."""
    columns, at = [], 0
    for column in shape.columns:
        found = words[:, at].copy()
        numbers = (found.view("float64") if column.words[0] == "float64" else found).tolist()
        if len(column.words) > 1:
            numbers = [ALL[tag - 1].of(x) for tag, x in zip(words[:, at + 1].tolist(), numbers)]
        elif not column.type.python or column.type.kind == "b":
            numbers = [*map(column.type.of, numbers)]
        columns.append(numbers)
        at += len(column.words)
    return [*zip(*columns)] if shape.of_tuples else columns[0]
