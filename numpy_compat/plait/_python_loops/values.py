"""What expressions of a compiled loop are as it is lowered: numbers in the kernel, and lists whose parts are known."""

from typing import NamedTuple



_UNKNOWN = object()


class Value(NamedTuple):
    """A number in the kernel; `literal`: what it is, where the source says so. Where only the running code knows its type, that is one of `kinds`,
    as `tag` says, and `type` holds any of them."""

    type: object  # a Scalar (types.py)
    id: int
    literal: object = _UNKNOWN
    kinds: frozenset = frozenset()
    tag: int = -1

    @property
    def known(self):
        return self.literal is not _UNKNOWN


class Listed(list):
    """The parts of a list of Python's: those of a tuple are in a plain list."""


def kinds_of(value):
    return value.kinds or frozenset({value.type})


class Bound(NamedTuple):
    """What a number's name stands for: `type` holds any of `kinds`; `unsure`: on some ways it has no value."""

    type: object  # a Scalar
    unsure: bool
    kinds: frozenset
