"""Pickles of functions that plait.jit rebuilt: each is the program's own, for pools of processes and other readers."""

import io
import operator
import pickle
import types
import weakref

from ._plait import Scope


def reduced(x):
    """How a rebuilt function is pickled, as the one that it was made of; NotImplemented for anything else."""
    scope = x.__globals__ if type(x) is types.FunctionType else None
    original = scope.originals.get(id(x)) if isinstance(scope, Scope) else None
    return NotImplemented if original is None else (operator.getitem, ((original,), 0))


_twins = weakref.WeakKeyDictionary()


def _with_modules_globals(x):
    """A function that was made in a jitted one, with the module's globals: what picklers take of those they look for in a dict."""
    if x not in _twins:
        scope = x.__globals__
        while isinstance(scope, Scope):
            scope = scope.module_globals
        made = _twins[x] = types.FunctionType(x.__code__, scope, x.__name__, x.__defaults__, x.__closure__)
        made.__dict__.update(x.__dict__)
        made.__kwdefaults__, made.__qualname__, made.__module__ = x.__kwdefaults__, x.__qualname__, x.__module__
    return _twins[x]


def has_reduce(pickler):
    """Has a class of picklers ask reduced() first."""
    theirs = getattr(pickler, "reducer_override", None)

    def reducer_override(self, x):
        made = reduced(x)
        if made is not NotImplemented or theirs is None:
            return made
        inside = type(x) is types.FunctionType and isinstance(x.__globals__, Scope)
        return theirs(self, _with_modules_globals(x) if inside else x)

    pickler.reducer_override = reducer_override
    return pickler


Pickler = has_reduce(type("Pickler", (pickle.Pickler,), {"__module__": "pickle"}))


def dump(obj, file, *args, **kwargs):
    Pickler(file, *args, **kwargs).dump(obj)


def dumps(obj, *args, **kwargs):
    file = io.BytesIO()
    dump(obj, file, *args, **kwargs)
    return file.getvalue()


_module = types.ModuleType("pickle", pickle.__doc__)
_module.__dict__.update(vars(pickle), dump=dump, dumps=dumps, Pickler=Pickler)
# What stands for names of pickle's in jitted functions: its C code asks nobody about a function.
STAND_INS = {id(theirs): ours for theirs, ours in ((pickle, _module), (pickle.dump, dump), (pickle.dumps, dumps), (pickle.Pickler, Pickler))}
