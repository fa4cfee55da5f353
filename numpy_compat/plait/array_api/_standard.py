"""Functions of the array API standard, made of a table of its signatures and of the package's functions that do the work."""

import ast
import builtins
import os
import sys

import numpy

from .. import _plait
from .._plait import lazy_scalar, ndarray


_FILE = os.path.join(os.path.dirname(__file__), "<standard>")  # within the package: what these functions do is their caller's line


def arrays(made, given):
    """A result of these arguments with arrays of the standard for NumPy's scalars, and for arrays of the package.

    The standard knows no scalars: what operators and indices give of its arrays is an array again, where NumPy would give a scalar.
    """
    kind = type(made)
    if kind is ndarray or kind is lazy_scalar or issubclass(kind, numpy.generic):
        return _plait.standard(made, given)
    if kind is list or issubclass(kind, tuple):
        parts = [arrays(part, given) for part in made]
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
    return made


def whole(reduction):
    """The reduction, which leaves the 0-D result of a whole array pending: NumPy's functions have its value at once for a scalar."""

    def reduced(x, /, *, axis=None, keepdims=False, **options):
        if keepdims or not isinstance(x, ndarray) or not (axis is None or x.ndim == 1):
            return reduction(x, axis=axis, keepdims=keepdims, **options)
        made = reduction(x, axis=axis, keepdims=True, **options)
        return made.reshape(()) if type(made) is ndarray else made

    reduced.__doc__ = reduction.__doc__
    return reduced


def _definition(line):
    """The source of the function with this signature, which hands its arguments on to `_NAME`."""
    name = line.partition("(")[0]
    parameters = ast.parse(f"def {line}: pass").body[0].args
    placed = [p.arg for p in parameters.posonlyargs + parameters.args]
    several = [f"*{parameters.vararg.arg}"] if parameters.vararg else []
    named = [f"{p.arg}={p.arg}" for p in parameters.kwonlyargs]
    given = "(" + "".join(f"{p}, " for p in placed + several) + ")"
    return f"def {line}:\n return _arrays(_{name}({', '.join(placed + several + named)}), {given})\n"


def define(signatures, sources, module):
    """Makes the functions of a text, a signature a line, in a module. `sources` are asked in turn, as dicts, for who does the work."""
    lines = [line.strip() for line in signatures.strip().splitlines()]
    names = [line.partition("(")[0] for line in lines]
    doing = {name: next(s[name] for s in sources if name in s) for name in names}
    # Only the functions see this: in the module `max` and others would hide Python's own.
    scope = {"__name__": module, "__builtins__": builtins, "_arrays": arrays} | {f"_{n}": f for n, f in doing.items()}
    exec(compile("".join(map(_definition, lines)), _FILE, "exec"), scope)
    for name in names:
        scope[
            name
        ].__doc__ = f"`{name}` of the array API standard. Results without dimensions are 0-D arrays.\n\n{doing[name].__doc__ or ''}"
        setattr(sys.modules[module], name, scope[name])
    return names
