"""Runs the lines of a program against one module and records everything an observer could see at the end."""
import itertools
import os

import numpy

from data import data
from dtypes import kind_of

ROUNDS = int(os.environ.get("PLAIT_FUZZ_ROUNDS", "1"))  # the last one is looked at
MAX_ALIASED = 10  # variables whose pairs are asked for shared memory


def public_type(error):
    """The first type of an exception that a user can name."""
    for t in type(error).__mro__:
        if t.__module__ in ("builtins", "numpy.exceptions") or (t.__module__ == "numpy" and not t.__name__.startswith("_")):
            return t.__name__
    return type(error).__name__


def describe(module, value):
    """(kind, dtype, shape, strides, writeable, bytes) of an array or scalar; the repr of anything else."""
    if isinstance(value, module.ndarray):
        strides = tuple(s for s, n in zip(value.strides, value.shape) if n > 1) if value.size else ()
        a = numpy.array(numpy.asarray(value), order="C", copy=True)
        return ("array", str(value.dtype), tuple(value.shape), strides, bool(value.flags.writeable), a.tobytes())
    if hasattr(value, "dtype") and not isinstance(value, (type, numpy.dtype)):
        a = numpy.asarray(value)
        return ("scalar", str(value.dtype), tuple(value.shape), (), None, a.tobytes())
    if isinstance(value, (tuple, list)):
        return ("python", type(value).__name__, len(value), tuple(describe(module, v) for v in value))
    return ("python", type(value).__name__, repr(value))


def namespace(module):
    return {"np": module, "data": data}


def run_line(text, ns, code_cache={}):
    """Executes one line; the error it ended with, or None."""
    code = code_cache.get(text)
    if code is None:
        if len(code_cache) > 50_000:
            code_cache.clear()
        code = code_cache[text] = compile(text, "<fuzz>", "exec")
    try:
        exec(code, ns)
    except Exception as e:
        return public_type(e), str(e)
    return None


def observe(module, ns):
    """Values, then which variables share memory, then what writing to each of them does to the others."""
    names = [n for n in ns if n not in ("np", "data") and not n.startswith("__")]
    out = {"values": {n: describe(module, ns[n]) for n in names}, "shares": [], "after": {}}
    arrays = [n for n in names if isinstance(ns[n], module.ndarray)][-MAX_ALIASED:]
    for a, b in itertools.combinations(arrays, 2):
        if module.may_share_memory(ns[a], ns[b]):
            out["shares"].append((a, b))
    written = []
    for i, n in enumerate(arrays):
        if ns[n].flags.writeable and kind_of(ns[n].dtype) in "biufc":
            ns[n][...] = i % 2 if kind_of(ns[n].dtype) == "b" else i + 1
            written.append(n)
    out["after"] = {n: describe(module, ns[n]) for n in arrays}
    out["written"] = written
    return out


def execute(module, lines, fallbacks=None):
    """Errors by line, what `observe` saw, and by line the names of the calls that fell back (where `fallbacks` tells)."""
    for _ in range(ROUNDS - 1):
        ns = namespace(module)
        for text in lines:
            run_line(text, ns)
    if fallbacks:
        fallbacks()
    ns = namespace(module)
    errors, fell = {}, {}
    for i, text in enumerate(lines):
        error = run_line(text, ns)
        if error:
            errors[i] = error
        if fallbacks:
            names = fallbacks()
            if names:
                fell[i] = names
    try:
        seen = observe(module, ns)
    except Exception as e:
        seen = {"broken": f"{public_type(e)}: {e}"}
    return {"errors": errors, "fell": fell, **seen}
