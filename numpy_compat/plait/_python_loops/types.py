"""What the variables of a compiled loop are: scalars of Python's or NumPy's, or arrays that the loop is given."""

import functools
import threading
from typing import NamedTuple

import numpy

from .values import Value


class NotCompiled(Exception):
    """Why a loop stays Python's; `node` is the part of its source that says it."""

    def __init__(self, why, node=None):
        super().__init__(why)
        self.node = node


class CallsItself(NotCompiled):
    """Of a function, which Python does no part of."""


class Scalar(NamedTuple):
    """A number: Python's own int, float or bool, or NumPy's of a dtype. Or None or a text, which a word of 64 bits stands for (words.py)."""

    dtype: str
    python: bool = False
    object: str = ""  # "None", "str" or "character"

    @property
    def kind(self):
        return _OBJECTS.get(self.object) or _kind_of(self.dtype)

    @property
    def weak(self):
        """What stands for it in NumPy's promotion."""
        return {"b": numpy.dtype(bool), "i": int, "u": int, "f": float, "c": complex}[self.kind] if self.python else numpy.dtype(self.dtype)

    def of(self, number):
        """What Python has of it."""
        if self.object:
            return object_of(self, number)
        if isinstance(number, complex) and self.kind != "c":
            number = number.real
        if is_time(self.dtype):
            return numpy.int64(number).view(self.dtype)
        if self == INT and number >= 1 << 63 or self == UINT and number < 0:  # held by the other
            number += -(1 << 64) if number > 0 else 1 << 64
        return class_of(self)(number)


_OBJECTS = {"None": "O", "str": "U", "character": "U"}


@functools.cache
def _kind_of(dtype):
    return numpy.dtype(dtype).kind


@functools.cache
def class_of(scalar):
    return {"b": bool, "i": int, "u": int, "f": float, "c": complex, "O": type(None), "U": str}[scalar.kind] if scalar.python else numpy.dtype(scalar.dtype).type


INT, FLOAT, BOOL, COMPLEX = Scalar("int64", True), Scalar("float64", True), Scalar("bool", True), Scalar("complex128", True)
UINT = Scalar("uint64", True)  # an int that may be from 2**63 to 2**64 (modular.py)
NONE, TEXT, ASCII = Scalar("int64", True, "None"), Scalar("int64", True, "str"), Scalar("int64", True, "character")  # of those that ASCII has
TEXTS = frozenset({TEXT, ASCII})
OBJECTS = TEXTS | {NONE}
NUMPYS = tuple(Scalar(t) for t in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "float16", "complex64", "complex128"))
_UNITS = "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"
TIMES = tuple(Scalar(name + unit) for name in ("datetime64", "timedelta64") for unit in ("", *(f"[{unit}]" for unit in _UNITS)))  # times.py
OF_TIMES = {numpy.dtype(t.dtype): t.dtype for t in TIMES}  # by their names, and in the machine's own order of bytes
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


def form_of(x, kind):
    """Of a tuple in which there are tuples, which is of this class: of each part the form, None of a number."""
    return tuple(form_of(part, kind) for part in x) if type(x) is kind else None


def is_flat(form):
    return form is None or not any(form)


def parts_of(x, kind):
    """The numbers of such a tuple, or a number."""
    return [number for part in x for number in parts_of(part, kind)] if type(x) is kind else [x]


def formed(form, parts, kind):
    """The tuple of such a form, of an iterator over its numbers."""
    return next(parts) if form is None else kind(formed(part, parts, kind) for part in form)


class Shape(NamedTuple):
    """Of a list's elements: numbers, or tuples of so many. A row of words of 64 bits for each. form: of tuples in which there are tuples."""

    of_tuples: bool
    columns: tuple
    form: tuple = None

    @property
    def words(self):
        return [w for c in self.columns for w in c.words]

    def value(self, lowering, words):
        """An element: a number, or a list of those of a tuple."""
        words, parts, p = iter(words), [], lowering.p
        for t, kinds in self.columns:
            v = next(words)
            v = p.apply("not_equal", v, lowering.zero) if t.kind == "b" else v if p.type(v) == t.dtype else p.cast(v, t.dtype)
            parts.append(Value(t, v, kinds=kinds, tag=next(words)) if len(kinds) > 1 else Value(t, v))
        if self.form is not None:
            return formed(self.form, iter(parts), list)
        return parts if self.of_tuples else parts[0]

    def met(self, lowering, other, node):
        """That of a list which has elements of both."""
        if (self.of_tuples, self.form, len(self.columns)) != (other.of_tuples, other.form, len(other.columns)):
            raise NotCompiled("a list of elements of several lengths", node)
        return self._replace(columns=tuple(column_of(a.kinds | b.kinds) for a, b in zip(self.columns, other.columns)))


class Tabled(NamedTuple):
    """Of a dict or a set: `of` says of which kind, with the Shapes of keys and values, None where there are none. A row of words for each entry:
    those of the key, and then those of its value."""

    of: str
    keys: Shape
    values: Shape

    of_tuples, form = True, None  # as rows
    value = Shape.value

    @property
    def words(self):
        return [w for shape in (self.keys, self.values) if shape is not None for w in shape.words]

    @property
    def columns(self):
        return tuple(c for shape in (self.keys, self.values) if shape is not None for c in shape.columns)


def is_key(t):
    """Whether a number of this type may be a key: what equals it has the same word of 64 bits."""
    return t.kind in "biuU" and t.dtype != "uint64"


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


NUMBERS = (INT, FLOAT, BOOL, COMPLEX, *NUMPYS)
ALL = (*NUMBERS, NONE, TEXT, ASCII, UINT, *TIMES)  # as tags name them, from 1: 0 is a variable that has no value


def tag_of(t):
    return ALL.index(t) + 1


def scalar_of(value):
    """The Scalar that an object is, or None."""
    if type(value) is int and not -(2**63) <= value < 2**63:
        return UINT if 0 < value < 2**64 else None
    return _OF_PYTHON.get(type(value)) or _OF_NUMPY.get(type(value)) or _time_of(value)


def _time_of(value):
    if type(value) not in (numpy.datetime64, numpy.timedelta64):
        return None
    dtype = value.dtype
    return Scalar(OF_TIMES[dtype]) if dtype in OF_TIMES else None


# A text's word: 0 of the empty one, of a single character one more than its code point. A few of ASCII's characters are 7 bits each behind a 1, from PACKED on:
# machine code makes such a word of a part of a text. Floats hold it, too. Others have their number among those that were met, behind all characters.
BEYOND = 0x110000
PACKED, FEW = 1 << 51, 7
_LONGEST, _MOST = 64, 1 << 16  # characters of such a text; texts, which stay in memory
_texts, _numbers, _lock = [], {}, threading.Lock()


def word_of(x):
    """The word that stands for None or for a text; None where there is none for a text."""
    if x is None or x == "":
        return 0
    if len(x) == 1:
        return ord(x) + 1
    if len(x) <= FEW and x.isascii():
        return PACKED + _bits_of(x)
    if x not in _numbers:
        if len(x) > _LONGEST or len(_texts) >= _MOST:
            return None
        with _lock:
            if x not in _numbers:
                _texts.append(str(x))
                _numbers[_texts[-1]] = len(_texts) - 1
    return BEYOND + 1 + _numbers[x]


def _bits_of(x):
    bits = 1
    for c in x:
        bits = bits << 7 | ord(c)
    return bits


def _characters_of(bits):
    many = (bits.bit_length() - 1) // 7
    return "".join(chr(bits >> 7 * k & 127) for k in reversed(range(many)))


def object_of(t, word):
    """What the word stands for."""
    if t == NONE:
        return None
    word = int(word.real)
    if word >= PACKED:
        return _characters_of(word - PACKED)
    return "" if word == 0 else chr(word - 1) if word <= BEYOND else _texts[word - BEYOND - 1]


def text_of(words):
    """The text of characters' words."""
    return (words - 1).astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def state_of(value):
    """The Scalar that an object is, or a word stands for; or None."""
    if value is None:
        return NONE
    if type(value) is str:
        return None if word_of(value) is None else TEXT
    return scalar_of(value)


def as_number(x):
    """What machine code gets of it: a word for None and for texts."""
    if x is None or isinstance(x, str):
        return word_of(x)
    return int(x.view("int64")) if isinstance(x, (numpy.datetime64, numpy.timedelta64)) else x


def is_complex(dtype):
    return dtype.startswith("complex")


def is_time(dtype):
    return dtype.startswith(("datetime64", "timedelta64"))


def is_paired(dtype):
    """Whether machine code has such numbers as others: a complex one as two, a time as an int."""
    return dtype.startswith(("complex", "datetime64", "timedelta64"))


def part_of(dtype):
    """Of real and imaginary parts, and of a time; another dtype itself."""
    return "int64" if is_time(dtype) else {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def joined(a, b):
    """The Scalar that holds either; which of them it is, is known as the loop runs."""
    if a == b or b == NONE:
        return a
    if a == NONE:
        return b
    if a in TEXTS and b in TEXTS:
        return TEXT
    if is_time(a.dtype) or is_time(b.dtype):
        raise NotCompiled(f"a variable is {name(a)} here and {name(b)} there")
    if a in TEXTS or b in TEXTS:
        other = b if a in TEXTS else a
        if other != BOOL and other.dtype not in ("int64", "float64", "complex128"):
            raise NotCompiled(f"a variable is a text here and {name(other)} there")
        return INT if other == BOOL else other
    if a.python and b.python:
        return max(a, b, key=lambda t: "biufc".index(t.kind))
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
    if isinstance(t, ArrayType) and t.of == "str":
        return t.of
    if isinstance(t, ArrayType) and t.of:
        return f"{t.of} of {_kind_of(t.dtype).translate(_WORDS)}"
    if isinstance(t, ArrayType):
        return f"{t.dtype}[{', '.join(':' * t.ndim)}]"
    return {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex", "O": "None", "U": "str"}[t.kind] if t.python else f"numpy.{t.dtype}"
