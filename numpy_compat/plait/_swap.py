"""Plait in NumPy's place inside functions that were written for NumPy."""

import builtins
import opcode
import sys
import types

import numpy

from ._submodules import NATIVE

LOOPS = {opcode.opmap[n] for n in ("FOR_ITER", "JUMP_BACKWARD", "POP_JUMP_BACKWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_FALSE") if n in opcode.opmap}

_MISSING = object()
_UNKNOWN = _MISSING, _MISSING
_known = {}


DRAWING = {"Generator", "RandomState", "method", "builtin_function_or_method"}  # names of the types that drawing() looks at


def drawing(value):
    """Plait's generator for one that NumPy made, and so for a method of one; any other value is itself."""
    if type(value).__name__ not in DRAWING:
        return value
    source = getattr(value, "__self__", value)
    if type(source).__module__ not in ("numpy.random._generator", "numpy.random.mtrand"):
        return value
    made = sys.modules["plait"].random._guest_of(source)
    return made if source is value else getattr(made, value.__name__)


def numpys(value):
    """NumPy's generator for what drawing() gave for it; any other value is itself."""
    return sys.modules["plait"].random._numpys(value) if type(value).__module__ == "plait.random" else value


def stand_in(value):
    """Plait's object for one of NumPy's, or the value itself."""
    if isinstance(value, types.ModuleType):
        name = value.__name__
        if name == "numpy":
            return sys.modules["plait"]
        if name.startswith("numpy.") and not name.startswith(("numpy._", "numpy.core")):
            import importlib

            return importlib.import_module("plait" + name[5:])
        return value
    if value is numpy.ndarray:
        return sys.modules["plait"].ndarray
    if callable(value) and str(getattr(value, "__module__", "")).startswith("numpy"):
        key = id(value)
        if key not in _known:
            _known[key] = (value, _find(value))
        if _known[key][1] is not value:
            return _known[key][1]
    return drawing(value)


def _find(value):
    """A function, ufunc or class of NumPy's public modules under its own name."""
    import plait

    name = getattr(value, "__name__", "")
    for ours, theirs in ((plait, numpy), (plait.linalg, numpy.linalg), (plait.fft, numpy.fft), (plait.random, numpy.random)):
        if theirs.__dict__.get(name, _MISSING) is value:
            return getattr(ours, name)
    return NATIVE.get(value, value)


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    """__import__ of functions that are swapped."""
    if level == 0 and (name == "numpy" or name.startswith("numpy.")) and stand_in(sys.modules.get(name)) is not sys.modules.get(name):
        name = "plait" + name[5:]
    return builtins.__import__(name, globals, locals, fromlist, level)


class _Builtins(dict):
    """The builtins of a swapped function, live, with its own __import__."""

    def __init__(self, theirs):
        super().__init__({"__import__": _import})
        self.theirs = vars(theirs) if isinstance(theirs, types.ModuleType) else theirs

    def __missing__(self, name):
        return self.theirs[name]


class Globals(dict):
    """A function's globals, live, with NumPy replaced. Look-ups that are not replaced go to the module each time."""

    def __init__(self, module_globals, loops):
        super().__init__()
        self.module_globals = module_globals
        self.loops = loops  # whether its functions' loops are compiled
        self.functions = {}  # the module's function -> its rebuilt form, and the cells that stand in for those it closes over
        self.known = {}  # name -> the module's value, and what was put here for it
        self.used = set()  # names that were looked up in the module, or assigned
        self.versions = {}  # the module's function -> the Versions of its loops
        self.asleep, self.drowsy = set(), set()  # Versions with loops that sleep; loops that do when the jitted call ends
        self.running = None  # the thread that runs a jitted function of it as it was written
        self.calls = self.changes = 0  # how often jitted functions were called, and loops fell asleep or woke
        theirs = module_globals.get("__builtins__", _MISSING)
        self.put("__builtins__", theirs, _Builtins(builtins if theirs is _MISSING else theirs))

    def put(self, name, theirs, ours):
        self.known[name] = theirs, ours
        self[name] = ours

    def __missing__(self, name):
        try:
            value = self.module_globals[name]  # which are a swapped function's own where such a one is jitted again
        except KeyError:  # a loop may look it up again and again
            self.put(name, _MISSING, self["__builtins__"].theirs[name])
            return self[name]
        self.used.add(name)
        replaced = swap(value, self)
        if replaced is not value and not isinstance(value, types.FunctionType):
            self.put(name, value, replaced)
        return replaced

    def sync(self):
        """Names that the function assigned go to its module; those that the module assigned since are looked up again."""
        module, known = self.module_globals, self.known
        for name, value in tuple(self.items()):
            theirs, ours = known.get(name, _UNKNOWN)
            if value is not ours:
                module[name] = value
                self.used.add(name)
            elif module.get(name, _MISSING) is theirs and (theirs is not _MISSING or self.is_builtin(name, ours)):
                continue
            self.pop(name, None)

    def is_builtin(self, name, value):
        found = self["__builtins__"]
        return found is value or found.theirs.get(name, _MISSING) is value

    def has_stand_ins(self):
        """Whether cells stand in for some that functions of this scope close over."""
        return any(cells for _, cells in self.functions.values())

    def export(self, kept):
        """Puts kept(value) in the place of what functions of this scope may have left in globals and in the cells that they close over."""
        for name in tuple(self.used):
            value = self.module_globals.get(name, _MISSING)
            made = kept(value)
            if made is not value:
                self.module_globals[name] = made
        for cell in {id(c): c for function in tuple(self.functions) for c in function.__closure__ or ()}.values():
            value = contents(cell)
            made = kept(value)
            if made is not value:
                cell.cell_contents = made


class _Cell:
    """A cell in place of one that holds NumPy's objects."""

    def __init__(self, cell, scope):
        self.cell, self.scope = cell, scope
        self.stand_in = types.CellType()
        self.theirs = self.ours = _MISSING

    def fill(self):
        self.theirs = contents(self.cell)
        self.ours = swap(self.theirs, self.scope)
        if self.ours is not _MISSING:
            self.stand_in.cell_contents = self.ours
        elif contents(self.stand_in) is not _MISSING:
            del self.stand_in.cell_contents

    def sync(self):
        """What the function assigned goes to the other cell; what was assigned to that one comes here."""
        value = contents(self.stand_in)
        if value is not self.ours and value is not _MISSING:
            self.cell.cell_contents = self.theirs = self.ours = value
        elif contents(self.cell) is not self.theirs:
            self.fill()


def contents(cell):
    try:
        return cell.cell_contents
    except ValueError:  # not filled, or emptied
        return _MISSING


def swap(value, scope):
    """A global of a swapped function: NumPy's objects and functions of the same module are replaced."""
    if _is_of_module(value, scope):
        made, cells = scope.functions.get(value) or _rebuild(value, scope)
        for cell in cells:
            cell.sync()
        return made
    return stand_in(value)


def _is_of_module(value, scope):
    return isinstance(value, types.FunctionType) and value.__globals__ is scope.module_globals


def _has_loops(code):
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return LOOPS & set(code.co_code[::2]) or any(c.co_name in ("<listcomp>", "<genexpr>") for c in inner)


def _rebuild(function, scope):
    cells, closure = [], function.__closure__
    if closure:
        closure = tuple(_cell_for(c, scope, cells) for c in closure)
    code = function.__code__
    if scope.loops and _has_loops(code):
        from ._python_loops.source import with_loops

        code, closure = with_loops(function, scope, closure) or (code, closure)
    made = types.FunctionType(code, scope, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    made.__qualname__ = function.__qualname__
    scope.functions[function] = made, cells
    for cell in tuple(cells):
        cell.fill()  # after the entry above: a function may close over itself
        if _is_of_module(cell.theirs, scope):
            cells += [c for c in scope.functions[cell.theirs][1] if c not in cells]
    return made, cells


def _cell_for(cell, scope, cells):
    value = contents(cell)
    if not _is_of_module(value, scope) and stand_in(value) is value:
        return cell
    cells.append(_Cell(cell, scope))
    return cells[-1].stand_in


_scopes = {}


class Swapped:
    """A function with NumPy replaced, and its scope; sync() before and after a call shows both sides what the other assigned."""

    def __init__(self, function, loops=False):
        key = id(function.__globals__), loops
        self.scope = _scopes.get(key)
        if self.scope is None:
            self.scope = _scopes[key] = Globals(function.__globals__, loops)
        self.function = swap(function, self.scope)
        self.cells = self.scope.functions[function][1]

    def sync(self):
        self.scope.sync()
        for cell in self.cells:
            cell.sync()

    def export(self, kept):
        self.scope.export(kept)
