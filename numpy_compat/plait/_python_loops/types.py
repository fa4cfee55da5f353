"""What the variables of a compiled loop are: scalars of Python's or NumPy's, or arrays that the loop is given."""

import functools
from typing import NamedTuple

import numpy


class NotCompiled(Exception):
    """Why a loop stays Python's; `node` is the part of its source that says it."""

    def __init__(self, why, node=None):
        super().__init__(why)
        self.node = node


class CallsItself(NotCompiled):
    """Of a function, which Python does no part of."""


class Scalar(NamedTuple):
    """A number: Python's own int, float or bool, or NumPy's of a dtype."""

    dtype: str
    python: bool = False

    @property
    def kind(self):
        return _kind_of(self.dtype)

    @property
    def weak(self):
        """What stands for it in NumPy's promotion."""
        return {"b": numpy.dtype(bool), "i": int, "f": float, "c": complex}[self.kind] if self.python else numpy.dtype(self.dtype)

    def of(self, number):
        """What Python has of it."""
        if isinstance(number, complex) and self.kind != "c":
            number = number.real
        return class_of(self)(number)


@functools.cache
def _kind_of(dtype):
    return numpy.dtype(dtype).kind


@functools.cache
def class_of(scalar):
    return {"b": bool, "i": int, "f": float, "c": complex}[scalar.kind] if scalar.python else numpy.dtype(scalar.dtype).type


INT, FLOAT, BOOL, COMPLEX = Scalar("int64", True), Scalar("float64", True), Scalar("bool", True), Scalar("complex128", True)
NUMPYS = tuple(Scalar(t) for t in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "float16", "complex64", "complex128"))
_OF_PYTHON = {int: INT, float: FLOAT, bool: BOOL, complex: COMPLEX}
_OF_NUMPY = {numpy.dtype(t.dtype).type: t for t in NUMPYS}


class ArrayType(NamedTuple):
    dtype: str
    ndim: int
    packed: bool = False  # elements along the last axis follow each other
    of: str = ""  # "list", "tuple", "bytes", "deque" or "empty list", "empty deque": the array has the numbers of one of Python's
    shape: tuple = None  # the Shape of a list of tuples, or of numbers of several types: it has their words


array_type = functools.cache(ArrayType)  # one object for equal ones: calls make many


class Column(NamedTuple):
    """Of numbers at one place of all elements: the type that holds any of them, and of which types they are."""

    type: Scalar
    kinds: frozenset

    @property
    def words(self):
        """dtypes of what an element has there: of the number, and of the tag that says of which type it is."""
        return ("float64" if self.type.kind == "f" else "int64",) + ("int64",) * (len(self.kinds) > 1)


def column_of(kinds):
    """The Column of numbers of these types, which is the same in whatever order they were found."""
    return Column(functools.reduce(joined, sorted(kinds)), frozenset(kinds))


class Shape(NamedTuple):
    """Of a list's elements: numbers, or tuples of so many. A row of words of 64 bits for each."""

    of_tuples: bool
    columns: tuple

    @property
    def words(self):
        return [w for c in self.columns for w in c.words]

    def value(self, lowering, words):
        """An element: a number, or a list of those of a tuple."""
        from .kinds import Value

        words, parts, p = iter(words), [], lowering.p
        for t, kinds in self.columns:
            v = next(words)
            v = p.apply("not_equal", v, lowering.zero) if t.kind == "b" else v if p.type(v) == t.dtype else p.cast(v, t.dtype)
            parts.append(Value(t, v, kinds=kinds, tag=next(words)) if len(kinds) > 1 else Value(t, v))
        return parts if self.of_tuples else parts[0]


class Tabled(NamedTuple):
    """Of a dict or a set: `of` says of which kind, with the Shapes of keys and values, None where there are none. A row of words for each entry:
    those of the key, and then those of its value."""

    of: str
    keys: Shape
    values: Shape

    of_tuples = True  # as rows
    value = Shape.value

    @property
    def words(self):
        return [w for shape in (self.keys, self.values) if shape is not None for w in shape.words]

    @property
    def columns(self):
        return tuple(c for shape in (self.keys, self.values) if shape is not None for c in shape.columns)


def is_key(t):
    """Whether a number of this type may be a key: what equals it has the same word of 64 bits."""
    return t.kind in "biu" and t.dtype != "uint64"


class SameAs(NamedTuple):
    """Another name of a variable of the loop's: what a function that it calls reads where the loop may store to it."""

    name: str


same_as = functools.cache(SameAs)  # one object for equal ones: code is kept by it


class Drawing(NamedTuple):
    """A numpy.random.Generator, or Python's random.Random."""

    pythons: bool = False


class Other(NamedTuple):
    """An object that no kernel has."""

    type: type


ALL = (INT, FLOAT, BOOL, COMPLEX, *NUMPYS)  # as tags name them, from 1: 0 is a variable that has no value


def tag_of(t):
    return ALL.index(t) + 1


def scalar_of(value):
    """The Scalar that an object is, or None."""
    if type(value) is int and not -(2**63) <= value < 2**63:
        return None
    return _OF_PYTHON.get(type(value)) or _OF_NUMPY.get(type(value))


def is_complex(dtype):
    return dtype.startswith("complex")


def part_of(dtype):
    """Of real and imaginary parts; a real dtype itself."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def joined(a, b):
    """The Scalar that holds either; which of them it is, is known as the loop runs."""
    if a == b:
        return a
    if a.python and b.python:
        return max(a, b, key=lambda t: "bifc".index(t.kind))
    if a.python != b.python:
        ours, theirs = (b, a) if a.python else (a, b)
        if "biufc".index(theirs.kind) <= "biufc".index(ours.kind) and ours.dtype in ("bool", "int64", "float64", "complex128"):
            return ours
    kinds = a.kind + b.kind
    if "c" in kinds:
        return COMPLEX
    if "f" in kinds:
        return FLOAT
    if "uint64" in (a.dtype, b.dtype):
        raise NotCompiled(f"a variable is {name(a)} here and {name(b)} there")
    return BOOL if kinds == "bb" else INT


_WORDS = {ord("b"): "bool", ord("i"): "int", ord("f"): "float"}


def name(t):
    if isinstance(t, ArrayType) and t.of:
        return f"{t.of} of {_kind_of(t.dtype).translate(_WORDS)}"
    if isinstance(t, ArrayType):
        return f"{t.dtype}[{', '.join(':' * t.ndim)}]"
    return {"b": "bool", "i": "int", "f": "float", "c": "complex"}[t.kind] if t.python else f"numpy.{t.dtype}"
