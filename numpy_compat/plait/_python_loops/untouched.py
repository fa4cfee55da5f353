"""Jitted functions that have nothing to gain: what they name is not NumPy's, nor do functions that they call name such, and loops of theirs that could
be compiled sleep. Called with what crosses as it is, and with arrays whose elements it takes one by one, such a function runs as it was written."""

import ast
import dis
import functools
import operator
import types
from threading import get_ident

import numpy

from .. import _plait
from .._boundary import _AS_IT_IS
from .._functions import MISSING, contents, has_loops, is_of_module
from .._stand_ins import stand_in
from .by_element import ANY, axes_of
from .reading import compiled, imports_of, tree_of
from .trees import nodes
from .versions import FEW

_NAMING = {"LOAD_GLOBAL", "LOAD_NAME"}
# Values that are none of NumPy's modules, functions and generators, whichever they are.
_DATA = {*_AS_IT_IS, list, tuple, dict, set, frozenset}


class Untouched:
    """What was so when it was found that a function may run as it is."""

    def __init__(self, function, scope, calls, values, cells, counts):
        self.function = _calling_itself(function, values)
        self.scope, self.calls, self.changes = scope, calls, scope.changes
        self.get = function.__globals__.get
        self.data = [n for n, v in values.items() if type(v) in _DATA]
        self.names = [n for n, v in values.items() if type(v) not in _DATA]
        self.values = [values[n] for n in self.names]
        self.missing = [MISSING] * len(self.names)
        self.cells = cells
        self.counts = counts  # whether there are loops that may wake
        self.running = self.began = None  # the thread in which it does, and what its call is told at its end
        self.stale = False
        self.axes = axes_of(function)

    def takes(self, args, kwargs):
        """Whether a call runs it so, which begins here then."""
        if self.stale or self.running is not None or not _plait.holds_only(kwargs, _AS_IT_IS):
            return False
        if not _plait.holds_only(args, _AS_IT_IS) and not self.takes_elements(args):
            return False
        if self.counts and self.scope.running != get_ident() and not _plait.in_jit():
            self.began = self.calls.begin((*args, *kwargs.values()) if kwargs else args)  # which may wake loops
        return self.holds()

    def takes_elements(self, args):
        """Whether of arrays among the arguments the function takes numbers alone. In jitted functions writes to their memory may be pending."""
        if _plait.in_jit() or len(args) > len(self.axes):
            return False
        for x, axes in zip(args, self.axes):
            if type(x) is not numpy.ndarray:
                if not _plait.holds_only(x, _AS_IT_IS):
                    return False
            elif axes is None or axes != ANY and x.ndim != axes or x.dtype.kind not in "biufc":
                return False
        return True

    def holds(self):
        """Whether all is as it was."""
        if not self.stale and (
            self.changes != self.scope.changes
            or not all(map(operator.is_, map(self.get, self.names, self.missing), self.values))
            or (self.data and not _DATA.issuperset(map(type, map(self.get, self.data))))
            or (self.cells and not all((now := contents(c)) is x or type(now) in _DATA for c, x in self.cells))
        ):
            self.stale = True
            self.values = self.cells = ()  # which nobody is to keep alive
        return not self.stale

    def run(self, args, kwargs):
        began, self.began = self.began, None
        self.running = get_ident()
        if began is not None:
            self.scope.running = self.running
        try:
            return self.function(*args, **kwargs)
        finally:
            self.running = None
            if began is not None:
                self.scope.running = None
                self.calls.end(began)


def untouched(function, scope, calls):
    """The Untouched of a function, where it may run as it is."""
    functions, values, cells = [function], {}, []
    for f in functions:  # which grows
        names = _named(f.__code__)
        if names is None or not _is_quiet(f, scope, calls.all >= FEW):
            return None
        values.update((n, f.__globals__.get(n, MISSING)) for n in names)
        inside = [(c, contents(c)) for c in f.__closure__ or ()]
        cells += inside
        for x in (*(values[n] for n in names), *(x for _, x in inside), *(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()):
            if is_of_module(x, scope):
                if x not in functions:
                    functions.append(x)
            elif stand_in(x) is not x:
                return None
    counts = scope.loops and any(has_loops(f) for f in functions)
    return Untouched(function, scope, calls, values, cells, counts)


def _calling_itself(function, values):
    """The function, or one that calls itself where it calls what jit() made of it: that, too, would run as it was written."""
    from .._functions import original

    def is_own(x):
        return x is not function and isinstance(x, types.FunctionType) and original(x) is function

    own = [n for n, x in values.items() if is_own(x)]
    names = {*own, *(n for n, c in zip(function.__code__.co_freevars, function.__closure__ or ()) if is_own(contents(c)))}
    tree = tree_of(function) if names else None
    if tree is None:
        return function
    called = {id(n.func) for n in nodes(tree) if isinstance(n, ast.Call)}
    if any(isinstance(n, ast.Name) and n.id in names and id(n) not in called for n in nodes(tree)):
        return function  # which has attributes, and an identity
    code = function.__code__
    if own:
        imported = imports_of(tree, function)
        code = None if imported is None else compiled(tree, function, [*code.co_freevars, *own], imported)
    if code is None or not {*own} <= {*code.co_freevars}:
        return function
    known, itself = dict(zip(function.__code__.co_freevars, function.__closure__ or ())), types.CellType()
    closure = tuple(itself if n in names else known[n] for n in code.co_freevars)
    made = itself.cell_contents = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__qualname__, made.__kwdefaults__ = function.__qualname__, function.__kwdefaults__
    return made


def _is_quiet(function, scope, known):
    if not scope.loops or not has_loops(function):
        return True
    versions = scope.versions.get(function)
    return versions.is_quiet(known) if versions is not None else known or function in scope.functions


@functools.lru_cache(1024)
def _named(code):
    """The names that a function looks up outside; None where it imports NumPy, or looks up what is not to be seen."""
    found = set()
    for step in dis.get_instructions(code):
        if step.opname in _NAMING:
            found.add(step.argval)
        elif step.opname == "IMPORT_NAME" and step.argval.partition(".")[0] == "numpy":
            return None
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            names = _named(inner)
            if names is None:
                return None
            found |= names
    return None if found & {"eval", "exec", "globals", "__import__"} else found
