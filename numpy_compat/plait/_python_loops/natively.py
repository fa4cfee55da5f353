"""Loops that C runs: one around calls of a function, of which C gives arrays and numbers. What they hear of or fail at, Python tells, and goes on with what
is left (by_python.py)."""

import ast
import functools
import types
from typing import NamedTuple

import numpy

from .. import _plait
from .._conversion import to_numpy
from .._functions import original
from .by_python import go_on
from .codes import HEAD
from .listed import memory_of
from .reading import definition
from .running import Loop
from .tracebacks import cleaned
from .types import is_paired

COUNT = "n"  # of iterations
WORDS = {"b": "bool", "i": "int", "u": "int", "f": "float"}


class Fixed(NamedTuple):
    value: int


class Word(NamedTuple):
    """A number that C gives."""

    at: int


class Array(NamedTuple):
    """An array that C gives: its memory is that of an operand; of extents and strides each is Fixed, or a Word."""

    operand: int
    dtype: numpy.dtype
    extents: tuple
    strides: tuple
    written: bool

    def example(self, packed):
        """One of this type."""
        made = numpy.zeros([2] * len(self.extents), self.dtype)
        return made if packed else numpy.repeat(made, 2, axis=-1)[..., ::2]

    def over(self, addresses, words):
        """The array itself."""
        self_as = {"data": (addresses[self.operand] or 1, False), "typestr": self.dtype.str, "version": 3}
        self_as |= {"shape": tuple(_number(x, words) for x in self.extents), "strides": tuple(_number(x, words) for x in self.strides)}
        return numpy.asarray(_Memory(self_as))

    def needs(self):
        """What packed code needs of the words; None where the array is not packed."""
        last = self.strides[-1]
        if isinstance(last, Fixed):
            return [] if last.value == self.dtype.itemsize else None
        return [(last.at, self.dtype.itemsize)]


class Number(NamedTuple):
    """A number of Python's that C gives."""

    at: int
    kind: str  # "b", "i" or "f"

    def of(self, words):
        word = numpy.int64(words[self.at])
        return float(word.view(numpy.float64)) if self.kind == "f" else bool(word) if self.kind == "b" else int(word)


class _Memory:
    def __init__(self, interface):
        self.__array_interface__ = interface


def _number(x, words):
    return words[x.at] if isinstance(x, Word) else x.value


class Natively:
    """The code of `for i in range(n): <statement>`, in which f is the function, and the other names are those of `given`: Arrays and Numbers. Raises
    TypeError where there is none. alone: whether arrays that C gives lie apart where it matters. What else the function reads is as it is now."""

    def __init__(self, function, statement, given, count, result=None, packed=False, alone=True):
        function = original(function)
        name = getattr(function, "__name__", "the function")
        if not hasattr(function, "__code__") or definition(function) is None:
            raise TypeError(f"{name}() cannot be compiled: its source cannot be read, or holds what loops do not")
        self.function, self.given, self.count = function, given, count
        self.constants = {"f": function, "int": int, "float": float, "bool": bool}
        self.loop = _loop(function, statement, [COUNT, *self.constants, *given], result)
        variables = self.constants | {COUNT: 1} | {n: x.example(packed) if isinstance(x, Array) else x.of([0] * (x.at + 1)) for n, x in given.items()}
        self.code, values = self.loop.chosen(variables, range(1))
        why = self.why_not(values, result, alone)
        if why:
            raise TypeError(f"{name}() cannot be compiled: {why}")
        if not self.code.procedure.compile():
            raise TypeError(f"{name}() cannot be compiled: there is no compiler")
        self.call = _plait.NativeCall(self.code.procedure, *self.sources(values))

    def why_not(self, values, result, alone):
        code = self.code
        if not code.usable:
            return code.why
        low, facts = code.lowering, code.lowering.facts
        if low.lists or facts.growing:
            return "it changes a list or a dict from outside"
        if facts.cells:
            return "it sets an attribute"
        if facts.prints:
            return "it prints"
        if low.drawn:
            return "it draws random numbers"
        if code.complexes or any(is_paired(t.dtype) for _, t, _ in low.outputs):
            return "it has complex numbers from outside"
        if low.left:
            return "it returns an array"
        written = {low.arrays[slot] for slot in facts.written}
        if theirs := sorted(n for n in written if n not in self.given):
            return f"it writes to the array {theirs[0].rpartition('|')[2]}, which is none of its arguments"
        if inputs := sorted(n for n in written if not self.given[n].written):
            return f"it writes to its argument {int(inputs[0][1:]) + 1}, which is an input"
        if facts.apart and not (alone and all(low.arrays[s] in self.given for pair in facts.apart for s in pair)):
            return "a statement reads an array and writes to another one that may be the same memory"
        if result is not None and all(name != result for name, *_ in low.outputs):
            return "it returns no number"
        return None

    def sources(self, values):
        """What a run is given, in the order in which it takes that."""
        low, arrays, params = self.code.lowering, [], []
        self.held = []  # what the code reads by its address
        for name in low.arrays:
            x = self.given.get(name)
            if isinstance(x, Array):
                arrays.append(("operand", x.operand))
                params += map(_source, (*x.extents, *x.strides))
            else:
                self.held.append(memory := numpy.asarray(to_numpy(memory_of(values[name]))))
                arrays.append(("fixed", memory.__array_interface__["data"][0]))
                params += [("fixed", m) for m in (*memory.shape, *memory.strides)]
        args = [("fixed", 0), _source(self.count), ("fixed", 1)]
        for name in low.arguments:
            args.append(("word", self.given[name].at) if name in self.given else ("fixed", _word(values[name])))
        return arrays, params, args

    @property
    def results(self):
        """Where each variable is among the results, and its type."""
        at, found = HEAD, {}
        for name, t, tagged in self.code.lowering.outputs:
            found[name] = at, t
            at += 1 + tagged
        return found

    def told(self, results, addresses, words):
        """What the code has not done: warnings, an error, or Python's part of it. The variables behind the loop."""
        variables = self.constants | {n: x.over(addresses, words) if isinstance(x, Array) else x.of(words) for n, x in self.given.items()}
        count = _number(self.count, words)
        try:
            found = go_on(self.loop, self.code.told(self.loop, variables | {COUNT: count}, [results], 4, range(count)))
        except BaseException as e:
            cleaned(e)
            raise
        return dict(zip(self.loop.stored, found))


def _loop(function, statement, names, result):
    """The loop, in a function that has all of its variables, at the place of the one that it calls."""
    text = f"def {function.__name__ if function.__name__.isidentifier() else 'called'}({', '.join(names)}):\n for i in range({COUNT}):\n  {statement}"
    tree = ast.increment_lineno(ast.parse(text), function.__code__.co_firstlineno - 1)
    scope = {}
    exec(compile(tree, function.__code__.co_filename, "exec"), scope)
    (around,) = (x for x in scope.values() if isinstance(x, types.FunctionType))
    return Loop(tree.body[0].body[0], around, scope, {}, {result} - {None})


def _source(x):
    return ("word", x.at) if isinstance(x, Word) else ("fixed", x.value)


def _word(number):
    """The bits of a number, as an int."""
    x = numpy.zeros(8, numpy.uint8)
    raw = numpy.asarray(number).tobytes()
    x[: len(raw)] = numpy.frombuffer(raw, numpy.uint8)
    return int(x.view(numpy.int64)[0])


def versions_of(function, statement, given, count):
    """The code of a ufunc's loop for arrays whose elements follow each other, where it may be given such ones, and for any: pairs of what it needs of the
    words, and the code."""
    arrays = [x for x in given.values() if isinstance(x, Array)]
    needs = [x.needs() for x in arrays]
    ways = [(True, [n for of in needs for n in of])] if None not in needs else []
    ways += [(False, [])] if not ways or ways[0][1] else []
    return [(need, Natively(function, statement, given, count, packed=packed)) for packed, need in ways]


def teller(versions):
    """What a ufunc calls where its code has something to tell."""

    @functools.wraps(versions[0][1].function)
    def told(version, results, addresses, words):
        versions[version][1].told(results, addresses, words)

    return told
