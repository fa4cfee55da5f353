"""Lists and tuples of Python's numbers that a compiled loop reads, and lists whose elements it sets: arrays for as long as it runs."""

from typing import NamedTuple

import numpy

from .types import ALL, Other, array_type, scalar_of

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
    if type(x) is list and kinds == {tuple}:
        return _of_tuples(x)
    dtype = _DTYPES.get(kinds.pop()) if len(kinds) == 1 else None
    if dtype is None:
        return x if type(x) is tuple and _is_constant(x) else Other(type(x)), x
    try:
        array = numpy.array(x, dtype)
    except OverflowError:
        return Other(type(x)), x
    return array_type(dtype, 1, True, type(x).__name__), Held(array, x)


def _of_tuples(x):
    columns = [*zip(*x)]
    dtypes = [_DTYPES.get(kinds.pop()) if len(kinds := {*map(type, column)}) == 1 else None for column in columns]
    if not columns or {*map(len, x)} != {len(columns)} or None in dtypes:
        return Other(list), x
    try:
        words = [numpy.array(column, "float64" if t == "float64" else "int64").view("int64") for column, t in zip(columns, dtypes)]
    except OverflowError:
        return Other(list), x
    return array_type("int64", 2, True, "list", tuple(dtypes)), Held(numpy.ascontiguousarray(numpy.array(words).T), x)


def _is_constant(x):
    """Whether a tuple is of few numbers, and of tuples of such, which code has as they are."""
    return len(x) <= FEW and all(type(n) is tuple and _is_constant(n) or scalar_of(n) is not None for n in x)


def memory_of(value):
    return value.array if type(value) is Held else value


def are_other_lists(values, written):
    """Whether lists that are written to, by their numbers among the values, have one name alone."""
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
