"""Which of the namespace's functions ask __array_function__ of their arguments, and of which: those of NumPy that do."""

import functools
import types

import numpy

from . import _docs, _plait

_ASKING = type(numpy.sum)
_SEQUENCES = {
    "append", "broadcast_arrays", "choose", "column_stack", "concat", "concatenate", "dstack", "histogramdd",
    "hstack", "lexsort", "multi_dot", "piecewise", "select", "stack", "vstack",
}  # fmt: skip
_LIKE = {
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty", "eye", "frombuffer",
    "fromfile", "fromfunction", "fromiter", "fromstring", "full", "genfromtxt", "identity", "loadtxt", "ones", "require",
    "tri", "zeros",
}  # fmt: skip


_ANY_DEPTH, _LIKE_ALONE, _NOBODY = 100, -1, -2


def _depth(theirs, name, module):
    """Where arrays are looked for: in the arguments, in lists of them, in lists of any depth, in `like`; or nowhere."""
    if type(theirs) is _ASKING:
        return _ANY_DEPTH if name == "block" else int(name in _SEQUENCES)
    return _LIKE_ALONE if module == "plait" and name in _LIKE else _NOBODY


def asking(ours, theirs, name, module="plait"):
    """`ours`, Plait's function for NumPy's `theirs`, so that it asks whom NumPy's asks and is a method where NumPy's is."""
    name = name.rpartition(".")[2]
    depth = _depth(theirs, name, module)
    binds = not isinstance(theirs, types.BuiltinFunctionType)  # those in C are no methods of the classes that hold them
    if depth == _NOBODY and binds and "_small" not in ours.__dict__:
        return ours
    made = functools.update_wrapper(_plait.asking(ours, depth, binds, ours.__dict__.pop("_small", None), name if module == "plait" else None), ours)
    made.__name__ = made.__qualname__ = name
    if callable(theirs):
        made._numpys = theirs
    return _docs.stand_for(made, theirs, module)


def install(namespace, theirs, module="plait"):
    """Replaces the functions in a namespace (a dict) by what asks."""
    for name, value in list(namespace.items()):
        if type(value) is types.FunctionType and not name.startswith("_"):
            namespace[name] = asking(value, getattr(theirs, name, None), name, module)
