"""What machine code tells Python of a statement that it leaves to it."""

from typing import NamedTuple

from .types import ALL, Scalar


class Told(NamedTuple):
    """A number that the machine code tells Python: which of the results behind its variables it is, which of them says of what type, and its type."""

    name: str
    at: int
    tag: int
    type: Scalar


class Leave(NamedTuple):
    """How a statement is done: `run`, a function of what it reads; `known`: what of that is an object; `arrays`: names of arrays of the loop's."""

    run: object
    numbers: tuple
    arrays: dict
    known: dict

    def __call__(self, told, arrays):
        numbers = {n.name: (n.type if n.tag < 0 else ALL[told[n.tag] - 1]).of(told[n.at]) for n in self.numbers}
        self.run(**numbers, **{n: arrays[key] for n, key in self.arrays.items()}, **self.known)
