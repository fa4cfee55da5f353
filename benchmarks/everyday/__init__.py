"""Everyday programs: each a function in NumPy's source and its inputs. `np` is a global of its module, which whoever runs it binds.

Small: less than some 20 ms under NumPy, mostly loops over arrays that planning could cost more than computing; middling and large ones
say so.
"""
import dataclasses
import typing

ALL = {}


@dataclasses.dataclass(frozen=True)
class Program:
    function: typing.Callable
    inputs: typing.Callable  # makes the arguments from a Generator
    size: str
    group: str = ""  # loops: over arrays in time, or row after row, that write in place

    def bind(self, np):
        """The function, with `np` for NumPy in all of its module."""
        self.function.__globals__["np"] = np
        return self.function


def program(inputs, size="small", group=""):
    """Registers a function under its name."""

    def add(f):
        ALL[f.__name__.replace("_", " ")] = Program(f, inputs, size, group)
        return f

    return add


def normal(*shape, dtype="f8"):
    return lambda rng: (rng.normal(size=shape).astype(dtype),)


from . import grids, images, learning, linear, loops, particles, series, statistics, tables  # noqa: E402, F401
