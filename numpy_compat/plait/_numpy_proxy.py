"""Plait in NumPy's place inside functions that were written for NumPy."""

import builtins
import dis
import opcode
import sys
import types

import numpy

from ._functions import MISSING, codes, contents, has_loops, is_of_module
from ._plait import Scope, function, ndarray, ufunc
from ._stand_ins import DRAWING, _namespaces, numpys_generator, stand_in

_UNKNOWN = MISSING, MISSING


def numpys(value):
    """What stand_in() and swap() gave this for: NumPy's object, a module's function; any other value is itself."""
    kind = type(value)
    if kind in _FUNCTIONS:
        return value._numpy or value
    if kind is types.FunctionType:
        scope = value.__globals__
        return scope.originals.get(id(value), value) if type(scope) is Globals else value
    if value is ndarray or value is ufunc:
        return getattr(numpy, value.__name__)
    if isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] == "plait":
        theirs = sys.modules.get("numpy" + value.__name__[5:])
        return theirs if stand_in(theirs) is value else value
    return numpys_generator(value)


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    """__import__ of functions that are swapped."""
    if level == 0 and (name == "numpy" or name.startswith("numpy.")) and stand_in(sys.modules.get(name)) is not sys.modules.get(name):
        name = "plait" + name[5:]
    return stand_in(builtins.__import__(name, globals, locals, fromlist, level))


class _Builtins(dict):
    """The builtins of a swapped function, with its own __import__; kept in step by Globals.sync()."""

    def __init__(self, theirs):
        super().__init__()
        self.theirs = vars(theirs) if isinstance(theirs, types.ModuleType) else theirs
        self.fill()

    def fill(self):
        self.clear()
        self.update(self.theirs)
        self.pop("_", None)  # a prompt's last result, which nobody else is to keep
        self["__import__"] = _import

    def __missing__(self, name):
        return self.theirs[name]


# Names that C code looks up in a function's globals, which asks a dict and no __getitem__: imports, warnings, classes.
_OF_MODULES = "__name__", "__package__", "__spec__", "__file__", "__path__", "__loader__", "__doc__", "__warningregistry__"
# Functions that call one of these may look up any name in a dict.
_REFLECTIVE = {"eval", "exec", "globals"}
# Instructions that ask the dict.
_NAMING = {opcode.opmap[n] for n in ("LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS") if n in opcode.opmap}
# What holds code, and no data of the program's that it would keep from being freed.
_CODE = types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type
_BUILTINS = 2  # a bit of Scope.changed()
_SMALL = {int, float, complex, bool, str, type(None)}
_FUNCTIONS = {function, ufunc}


class Globals(Scope):
    """A function's globals with NumPy replaced. What is replaced, and what holds code, stands here; the rest is looked up in the module each time
    (bindings/scope.hpp), but for names of which C code asks the dict."""

    def __init__(self, module_globals, loops):
        theirs = module_globals.get("__builtins__", MISSING)
        ours = _Builtins(builtins if theirs is MISSING else theirs)
        super().__init__(module_globals, ours.theirs, MISSING)
        self.loops = loops  # whether its functions' loops are compiled
        self.functions = {}  # the module's function -> its rebuilt form, and the cells that stand in for those it closes over
        self.originals = {}  # id of a rebuilt function -> the module's
        self.used = set()  # names that functions mention, or assign: where they may have left something
        self.filled.update(_OF_MODULES)
        self.stand_ins = {}  # id -> what of Plait's functions may stand for NumPy's, and rebuilt functions, by names of its functions
        self.versions = {}  # the module's function -> the Versions of its loops
        self.asleep, self.drowsy = set(), set()  # Versions with loops that sleep; loops that do when the jitted call ends
        self.running = None  # the thread that runs a jitted function of it as it was written
        self.changes = 0  # how often loops fell asleep or woke
        self.put("__builtins__", theirs, ours)

    def put(self, name, theirs, ours):
        self.known[name] = theirs, ours
        self[name] = ours

    def forget(self, name):
        self.known.pop(name, None)
        self.pop(name, None)

    def beneath(self, name):
        try:
            return self.module_globals[name]  # which are a swapped function's own where such a one is jitted again
        except KeyError:
            return MISSING

    def found(self, name):
        """What a name stands for that is not here, or for which the module has something else by now."""
        value = self.beneath(name)
        if value is MISSING:
            self.forget(name)
            made = self["__builtins__"][name]
            self.put(name, MISSING, made)  # a loop may look it up again and again
            return made
        changes = name in self.known
        replaced = swap(value, self)
        stays = replaced is not value or isinstance(value, _CODE) or type(value) in _SMALL and not changes
        if name in self.filled or self.everything or stays and not self.closes_over(value):
            self.put(name, value, replaced)
        else:
            self.forget(name)
            kind = type(value)
            if kind.__name__ not in DRAWING and not isinstance(value, _CODE) and not (callable(value) and kind.__module__.startswith("numpy")):
                self.plain.add(kind)
        return replaced

    def closes_over(self, value):
        """Whether it is a function for whose cells others stand, which are kept in step when it is looked up."""
        return is_of_module(value, self) and self.functions[value][1]

    def mentions(self, code):
        """Has C code, too, find what a function looks up."""
        for inner in codes(code):
            for name in {*inner.co_names} - self.used:
                self.names_numpys(name)
            self.used.update(inner.co_names)
            if _NAMING.isdisjoint(inner.co_code[::2]) and _REFLECTIVE.isdisjoint(inner.co_names):
                continue
            for step in dis.get_instructions(inner):
                if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") and step.argval not in self.stored:
                    self.stored.append(step.argval)
                if step.opcode in _NAMING and step.opname != "STORE_GLOBAL":
                    self.filled.add(step.argval)
                self.everything = self.everything or step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval in _REFLECTIVE
        self.fill()

    def names_numpys(self, name):
        """Notes NumPy's functions that a function may name so, as attributes or by an import of its own."""
        if type(self.beneath(name)) in _FUNCTIONS:
            return  # the program's own
        for ours, theirs in _namespaces():
            if callable(vars(theirs).get(name)):
                self.note(getattr(ours, name))

    def fill(self):
        names = self.module_globals.keys()
        for name in (names if self.everything else self.filled & names) - self.keys() - self.known.keys():
            self.found(name)

    def own(self, value):
        """What a function's name in the module stands for here; stand_in() of what is none of the module's."""
        if is_of_module(value, self) and self.beneath(value.__name__) is value:
            return self[value.__name__]
        return self.stand_in(value)

    def stand_in(self, value):
        made = stand_in(value)
        if made is not value:
            self.note(made)
        return made

    def note(self, made):
        if type(made) in _FUNCTIONS:
            self.stand_ins[id(made)] = made

    def sync(self):
        """Names that the function assigned go to its module; those that the module assigned since are looked up again."""
        changed = self.changed()
        if not changed or "plait" not in sys.modules:  # which a generator finds that is closed when Python ends
            return
        self.write_through()
        ours_of_builtins = self["__builtins__"]
        for name in self.differing():
            value = self.get(name, MISSING)
            theirs, ours = self.known.get(name, _UNKNOWN)
            if value is ours_of_builtins or value is ours and type(value) in _SMALL and self.beneath(name) is theirs:
                continue
            if value is MISSING:
                self.module_globals.pop(name, None)
            elif value is not ours:
                self.module_globals[name] = value
                self.used.add(name)
            elif theirs is ours and name in self.stored and (made := numpys(value)) is not value and self.beneath(name) is value:
                self.module_globals[name] = made
            self.forget(name)
        if changed & _BUILTINS:
            ours_of_builtins.fill()
        self.fill()
        self.look()

    def has_stand_ins(self):
        """Whether cells stand in for some that functions of this scope close over."""
        return any(cells for _, cells in self.functions.values())

    def export(self, kept):
        """Puts kept(value) in the place of what functions of this scope may have left in globals and in the cells that they close over."""
        for name in tuple(self.module_globals) if self.everything else tuple(self.used):
            value = self.module_globals.get(name, MISSING)
            if type(value) in _FUNCTIONS:
                continue  # the module's own: sync() sees what was assigned
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
        self.theirs = self.ours = MISSING

    def fill(self):
        self.theirs = contents(self.cell)
        self.ours = in_tuples(self.theirs, self.scope)
        if self.ours is not MISSING:
            self.stand_in.cell_contents = self.ours
        elif contents(self.stand_in) is not MISSING:
            del self.stand_in.cell_contents

    def sync(self):
        """What the function assigned goes to the other cell; what was assigned to that one comes here."""
        value = contents(self.stand_in)
        if value is not self.ours and value is not MISSING:
            self.cell.cell_contents = self.theirs = self.ours = value
        elif contents(self.cell) is not self.theirs:
            self.fill()


def swap(value, scope):
    """A global of a swapped function: NumPy's objects and functions of the same module are replaced."""
    if is_of_module(value, scope):
        made, cells = scope.functions.get(value) or _rebuild(value, scope)
        for cell in cells:
            cell.sync()
        return made
    return scope.stand_in(value)


def in_tuples(value, scope):
    """swap() of a value, or of all that a tuple holds."""
    if type(value) is not tuple:
        return swap(value, scope)
    made = tuple(in_tuples(v, scope) for v in value)
    return value if all(a is b for a, b in zip(made, value)) else made


def _rebuild(function, scope):
    cells, closure = [], function.__closure__
    if closure:
        closure = tuple(_cell_for(c, scope, cells) for c in closure)
    code = function.__code__
    if scope.loops and has_loops(function):
        from ._python_loops.source import with_loops

        code, closure = with_loops(function, scope, closure) or (code, closure)
    made = types.FunctionType(code, scope, function.__name__, None, closure)
    made.__dict__.update(function.__dict__)
    made.__qualname__, made.__module__, made.__doc__ = function.__qualname__, function.__module__, function.__doc__
    lazy = hasattr(function, "__annotate__")  # since Python 3.14
    setattr(made, "__annotate__" if lazy else "__annotations__", function.__annotate__ if lazy else function.__annotations__)
    scope.functions[function] = made, cells
    scope.originals[id(made)] = function
    scope.stand_ins[id(made)] = made
    # After the entries above: a function may have itself among its defaults.
    made.__defaults__ = in_tuples(function.__defaults__, scope)
    made.__kwdefaults__ = function.__kwdefaults__ and {k: in_tuples(v, scope) for k, v in function.__kwdefaults__.items()}
    scope.mentions(function.__code__)
    for cell in tuple(cells):
        cell.fill()  # after the entry above: a function may close over itself
        if is_of_module(cell.theirs, scope):
            cells += [c for c in scope.functions[cell.theirs][1] if c not in cells]
    return made, cells


def _cell_for(cell, scope, cells):
    value = contents(cell)
    if not is_of_module(value, scope) and in_tuples(value, scope) is value:
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
