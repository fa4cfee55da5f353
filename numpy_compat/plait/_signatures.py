"""Signatures of functions that C or NumPy call: as C declares them, as Numba and NumPy write types, and ctypes' prototypes."""

import ctypes
import re
from typing import NamedTuple

import numpy

_NAMES = {
    "double": "f8", "float": "f4", "float_": "f4", "bool": "?", "_Bool": "?", "boolean": "?", "bool_": "?", "char": "i1", "int": "intc", "signed": "intc",
    "short": "short", "long": "long", "long long": "i8", "unsigned": "uintc", "unsigned int": "uintc", "unsigned char": "u1", "unsigned short": "ushort",
    "unsigned long": "ulong", "unsigned long long": "u8", "long int": "long", "npy_intp": "intp", "ssize_t": "intp", "Py_ssize_t": "intp",
    "ptrdiff_t": "intp", "size_t": "uintp", "npy_double": "f8", "npy_float": "f4",
}  # fmt: skip
_NAMES |= {f"{n}_t": n for n in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}
_CALL = re.compile(r"\s*(?P<result>[^()]*(?:\([^()]*\))?[^()]*?)\s*\((?P<arguments>.*)\)\s*", re.DOTALL)
_ARRAY = re.compile(r"(.*?)\[([:,\s1]*:[:,\s1]*)\]\s*(\w*)", re.DOTALL)


class Declared(NamedTuple):
    """A type: dtype, None of void; axes of an array, or whether it is a pointer; what the declaration names it, and how many elements it says there are."""

    dtype: object
    ndim: int = 0
    pointer: bool = False
    name: str = ""
    length: str = ""


class Signature(NamedTuple):
    """result is a Declared, and arguments are Declareds."""

    result: Declared
    arguments: tuple


def signature_of(x):
    """The Signature that a text, a prototype of ctypes or a signature of Numba's says. Raises TypeError."""
    if isinstance(x, type) and issubclass(x, ctypes._CFuncPtr):
        return Signature(_of_ctypes(x._restype_), tuple(map(_of_ctypes, x._argtypes_ or ())))
    text = x if isinstance(x, str) else str(x)
    turned = re.fullmatch(r"\s*\((.*)\)\s*->\s*(.*)", text, re.DOTALL)  # as Numba writes its own
    found = _CALL.fullmatch(f"{turned[2]}({turned[1].rstrip(', ')})" if turned else text)
    if found is None:
        raise TypeError(f"not a signature: {x!r}; one is like 'float64(float64, int64)'")
    arguments = [declared(part) for part in _parts(found["arguments"])]
    if len(arguments) == 1 and arguments[0].dtype is None and not arguments[0].pointer:
        arguments = []
    if any(a.dtype is None and not a.pointer for a in arguments):
        raise TypeError(f"an argument is void: {x!r}")
    return Signature(declared(found["result"]), tuple(arguments))


def _parts(text):
    """What commas outside of brackets separate."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part for part in parts if part.strip()]


def declared(text):
    """The Declared of the declaration of one argument."""
    given, text = text, re.sub(r"\b(const|restrict|volatile)\b", " ", text).strip()
    found = re.fullmatch(r"CPointer\((.*)\)\s*(\w*)", text, re.DOTALL)
    if found:
        return declared(found[1])._replace(pointer=True, name=found[2])
    found = _ARRAY.fullmatch(text)
    if found:
        return Declared(_dtype(found[1], given), found[2].count(":") - found[2].count("::"), False, found[3])
    found = re.fullmatch(r"array\((\w+), (\d)d, \w+\)", text)  # as Numba shows it
    if found:
        return Declared(_dtype(found[1], given), int(found[2]))
    if text == "voidptr":
        return Declared(None, pointer=True)
    return _as_in_c(text, given)


def _as_in_c(text, given):
    """`type`, `type name`, `type *name` or `type name[length]`."""
    head, brackets, length = re.fullmatch(r"(.*?)(\[\s*(\w*)\s*\])?", text, re.DOTALL).groups()
    words, star, name = head.partition("*")
    if not star and (brackets or not _is_type(words)):
        words, _, name = words.strip().rpartition(" ")
    if star and brackets or not re.fullmatch(r"\s*(\w+)?\s*", name):
        raise TypeError(f"not a type: {given.strip()!r}")
    return Declared(_dtype(words, given), 0, bool(star or brackets), name.strip(), length or "")


def _is_type(words):
    try:
        _dtype(words, words)
    except TypeError:
        return False
    return True


def _dtype(words, given):
    words = " ".join(words.split())
    if words in ("void", "none"):
        return None
    try:
        dtype = numpy.dtype(_NAMES.get(words, words)) if words else None
    except TypeError:
        dtype = None
    if dtype is None or dtype.kind not in "biuf" or dtype.itemsize > 8 or not dtype.isnative:
        raise TypeError(f"not the type of a number that can be compiled: {given.strip()!r}")
    return dtype


def _of_ctypes(x):
    if x is None:
        return Declared(None)
    if x is ctypes.c_void_p:
        return Declared(None, pointer=True)
    if issubclass(x, ctypes._Pointer):
        return _of_ctypes(x._type_)._replace(pointer=True)
    try:
        return Declared(_dtype(numpy.dtype(x).str, x.__name__))
    except TypeError:
        raise TypeError(f"not a type that can be compiled: {x.__name__}") from None


def as_ctypes(x):
    """The type of ctypes for a Declared."""
    if x.dtype is None:
        return ctypes.c_void_p if x.pointer else None
    of = numpy.ctypeslib.as_ctypes_type(x.dtype)
    return ctypes.POINTER(of) if x.pointer else of
