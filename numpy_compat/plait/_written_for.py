"""Which arrays a function was written for: its source tells whether it uses on its arguments what arrays of another library have, and NumPy's lack."""

import ast
import contextlib
import functools
import inspect
import os
import sysconfig
import types

import numpy

from ._functions import contents, original
from ._python_loops.reading import lambda_of, tree_of

ARRAY, HOLDER = "array", "holder"  # what a name stands for: an array of the library, or what holds such
_ARRAYS = {"T", "mT", "H", "mH", "real", "imag", "data", "grad", "at"}  # attributes of arrays that are, too
_PYTHONS = {"item", "tolist", "size", "dim", "numel", "stride", "tobytes", "numpy"}  # methods that give none of the library's
_HOLDERS = {"values", "copy"}  # methods of dicts and lists that give such again
_TORCHS = {"data"}  # attributes that NumPy's have, too, as something else
_KEYWORDS = {"dim", "keepdim", "descending", "unbiased"}  # that torch's methods have, and NumPy's lack
_LOOPS = ast.For, ast.comprehension
_FUNCTIONS = types.FunctionType, types.BuiltinFunctionType, staticmethod, classmethod
# Where nobody's program is.
_LIBRARIES = tuple(folder + os.sep for folder in (*map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")), os.path.dirname(__file__)))
_MOST = 100  # functions that are read


def names_of_others(fn, args, kwargs, kinds, holds):
    """The attributes and keywords of arrays of these classes that fn uses on arguments. holds(): whether one may hold such arrays."""
    reader = _Reader(kinds)
    if reader.is_theirs(fn):
        return {f"{type(fn).__name__}()"}
    try:
        bound = inspect.signature(fn).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # a wrong call, or a function that has no signature
        return reader.found
    given = {name: ARRAY if type(x) in kinds else HOLDER for name, x in bound.items() if type(x) in kinds or holds(x)}
    function = _function(fn)
    if function is not None and given:
        own = {function.__code__.co_varnames[0]: fn.__self__} if isinstance(fn, types.MethodType) else {}
        with contextlib.suppress(RecursionError):  # of an expression that is nested so deep
            reader.read(function, given, {**bound, **own})
    return reader.found


def _function(fn):
    """The Python function that a callable runs, or None."""
    fn = original(fn)
    if isinstance(fn, types.MethodType):
        return _function(fn.__func__)
    if isinstance(fn, functools.partial):
        return _function(fn.func)
    if isinstance(fn, types.FunctionType):
        return fn
    method = getattr(type(fn), "__call__", None)
    return _function(method) if isinstance(method, types.FunctionType) else None


class _Reader:
    """Reads a function, and those of the program that it hands arrays on to."""

    def __init__(self, kinds):
        self.kinds = kinds
        self.roots = {kind.__module__.partition(".")[0] for kind in kinds}
        self.found, self.seen = set(), set()

    def read(self, function, given, values):
        """values: what is known of parameters."""
        key = function, tuple(sorted(given.items()))
        tree = None if key in self.seen or len(self.seen) == _MOST else _tree(function)
        self.seen.add(key)
        if tree is not None:
            _Body(self, function, tree, given, values).read()

    def is_theirs(self, x):
        """Whether it is a callable object of the library's, such as a module of torch.nn, which takes its arrays."""
        return callable(x) and not isinstance(x, type) and any(base.__module__.partition(".")[0] in self.roots for base in type(x).__mro__)


def _tree(function):
    return lambda_of(function) if function.__code__.co_name == "<lambda>" else tree_of(function, generators=True)


class _Body:
    """One function whose parameters are known: all of its names, whatever the order of its statements."""

    def __init__(self, reader, function, tree, given, values):
        self.reader, self.function, self.names, self.values = reader, function, dict(given), values
        self.nodes = [n for s in tree.body for n in ast.walk(s)]

    def read(self):
        known = None
        while known != self.names:  # what is assigned below may be read above, in a loop
            known = dict(self.names)
            for node in self.nodes:
                self.bind(node)
        for node in self.nodes:
            if isinstance(node, ast.Attribute):
                self.attribute(node)
            elif isinstance(node, ast.Call):
                self.call(node)
            elif isinstance(node, ast.Compare):
                self.dtypes([node.left, *node.comparators])

    # What names stand for.

    def bind(self, node):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self.assign(target, self.kind(node.value))
        elif isinstance(node, (ast.NamedExpr, ast.AnnAssign)) and node.value is not None:
            self.assign(node.target, self.kind(node.value))
        elif isinstance(node, _LOOPS):
            self.iterate(node.target, node.iter)

    def assign(self, target, kind):
        if kind is None:
            return
        if isinstance(target, ast.Name):
            self.names.setdefault(target.id, kind)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self.assign(part, ARRAY)

    def iterate(self, target, over):
        """Of a dict's items() and of enumerate() the second alone is an array."""
        if isinstance(over, ast.Call) and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            if isinstance(over.func, ast.Attribute) and over.func.attr == "items":
                return self.assign(target.elts[1], self.kind(over.func.value) and ARRAY)
            if isinstance(over.func, ast.Name) and over.func.id == "enumerate" and over.args:
                return self.assign(target.elts[1], self.kind(over.args[0]) and ARRAY)
        return self.assign(target, self.kind(over) and ARRAY)

    def kind(self, node):
        """ARRAY or HOLDER for what an expression gives, or None."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.kind(node.value)
            return ARRAY if base == HOLDER or (base and node.attr in _ARRAYS) else None
        if isinstance(node, (ast.Subscript, ast.Starred)):
            return self.kind(node.value) and ARRAY
        if isinstance(node, ast.BinOp):
            return ARRAY if ARRAY in (self.kind(node.left), self.kind(node.right)) and not _is_text(node.left) else None
        if isinstance(node, ast.UnaryOp):
            return self.kind(node.operand)
        if isinstance(node, ast.Compare) and not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            return ARRAY if ARRAY in map(self.kind, [node.left, *node.comparators]) else None
        if isinstance(node, ast.IfExp):
            return self.kind(node.body) or self.kind(node.orelse)
        if isinstance(node, ast.NamedExpr):
            return self.kind(node.value)
        if isinstance(node, (ast.Tuple, ast.List)):
            return HOLDER if any(map(self.kind, node.elts)) else None
        return self.kind_of_call(node) if isinstance(node, ast.Call) else None

    def kind_of_call(self, node):
        if not isinstance(node.func, ast.Attribute):
            return None
        base = self.kind(node.func.value)
        if base == HOLDER:
            return HOLDER if node.func.attr in _HOLDERS else ARRAY
        if base == ARRAY:
            return None if node.func.attr in _PYTHONS else ARRAY
        of_module = self.root(node.func) in {"numpy", *self.reader.roots}
        return ARRAY if of_module and any(map(self.kind, node.args)) else None

    # What is used.

    def attribute(self, node):
        name, numpys = node.attr, hasattr(numpy.ndarray, node.attr)
        if self.kind(node.value) == ARRAY and (name in _TORCHS and self.is_torchs() if numpys else any(hasattr(k, name) for k in self.reader.kinds)):
            self.reader.found.add(name)

    def call(self, node):
        if isinstance(node.func, ast.Attribute) and self.kind(node.func.value) == ARRAY:
            name = node.func.attr
            if not callable(getattr(numpy.ndarray, name, id)) or (self.is_torchs() and _is_torchs(name, node.args)):
                self.reader.found.add(f"{name}()")
            self.reader.found.update(f"{name}({k.arg}=)" for k in node.keywords if k.arg in _KEYWORDS)
        else:
            self.hand_on(node)
        if self.root(node.func) == "torch":
            self.dtypes([node.func, *node.args, *(k.value for k in node.keywords)])

    def is_torchs(self):
        return "torch" in self.reader.roots

    def dtypes(self, parts):
        """Torch's dtypes are not NumPy's: an array's is compared with one, or given to one of torch's functions."""
        if any(isinstance(p, ast.Attribute) and p.attr == "dtype" and self.kind(p.value) == ARRAY for p in parts):
            if any(isinstance(n, ast.Name) and self.root(n) == "torch" for p in parts for n in ast.walk(p)):
                self.reader.found.add("dtype")

    def hand_on(self, node):
        """A call of what may use them: a function of the program, or an object of the library's."""
        placed, named = [*map(self.kind, node.args)], {k.arg: self.kind(k.value) for k in node.keywords if k.arg}
        called = self.value(node.func) if any(placed) or any(named.values()) else None
        if self.reader.is_theirs(called):
            self.reader.found.add(f"{ast.unparse(node.func)}()")
        function = original(getattr(called, "__func__", called))
        if isinstance(function, types.FunctionType) and self.is_programs(function):
            own = [called.__self__] if isinstance(called, types.MethodType) else []
            parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
            given = {name: kind for name, kind in {**dict(zip(parameters[len(own) :], placed)), **named}.items() if kind}
            self.reader.read(function, given, dict(zip(parameters, own)))

    def is_programs(self, function):
        return function.__globals__ is self.function.__globals__ or not function.__code__.co_filename.startswith(_LIBRARIES)

    def value(self, node):
        """What an expression of names and attributes stands for, as far as that runs nothing; else None."""
        if isinstance(node, ast.Name):
            return self.values[node.id] if node.id in self.values else self.outside(node.id)
        base = self.value(node.value) if isinstance(node, ast.Attribute) else None
        if base is None:
            return None
        known = inspect.getattr_static(base, node.attr, None)
        if known is None and not self.reader.is_theirs(base) or hasattr(type(known), "__get__") and not isinstance(known, _FUNCTIONS):
            return None
        return getattr(base, node.attr, None)

    def root(self, node):
        """The package of the module that an expression like `torch.nn.functional` begins with; None of any other."""
        while isinstance(node, ast.Attribute):
            node = node.value
        found = self.outside(node.id) if isinstance(node, ast.Name) else None
        return found.__name__.partition(".")[0] if isinstance(found, types.ModuleType) else None

    def outside(self, name):
        cells = dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or ()))
        return contents(cells[name]) if name in cells else self.function.__globals__.get(name)


def _is_text(node):
    return isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_torchs(name, args):
    """Whether a method gets arguments that NumPy's of this name does not take: view() extents, and no dtype; transpose() two axes of several."""
    if name == "transpose":
        return len(args) == 2 and [ast.unparse(a) for a in args] not in (["1", "0"], ["-1", "-2"])
    first = args[0] if args else None
    while isinstance(first, ast.UnaryOp):
        first = first.operand
    is_extent = isinstance(first, (ast.Tuple, ast.Starred)) or isinstance(first, ast.Constant) and type(first.value) is int
    return name == "view" and (len(args) > 1 or is_extent)
