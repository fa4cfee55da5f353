"""Lists and tuples of Python's numbers that a compiled loop reads, and lists whose elements it sets: arrays for as long as it runs."""

from typing import NamedTuple

import numpy

from .types import Other, array_type

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
    if dtype is None:
        return Other(type(x)), x
    try:
        array = numpy.array(x, dtype)
    except OverflowError:
        return Other(type(x)), x
    return array_type(dtype, 1, True, type(x).__name__), Held(array, x)


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
