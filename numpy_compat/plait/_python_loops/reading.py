"""The source of functions, as their code objects were made of it."""

import ast
import functools
import inspect
import linecache
import os
import textwrap
import tokenize
import types
import weakref

import numpy

from .._functions import contents
from .comprehensions import scoped
from .trees import copied, names, nodes

NOT_IN_LOOPS = (
    ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
    ast.Lambda, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith,
)  # fmt: skip
LEFT = ast.Import, ast.ImportFrom, ast.Starred, ast.Delete  # of those what Python can do in the midst of a loop (by_python.py)
LIBRARIES = tuple(os.path.dirname(os.path.abspath(f)) + os.sep for f in (numpy.__file__, os.path.dirname(__file__)))
_known = {}
_texts = weakref.WeakKeyDictionary()  # of definitions, by their code: where they end takes longest to find


def is_pythons(node):
    """Whether loops do without it: `del` has entries of dicts alone."""
    return isinstance(node, NOT_IN_LOOPS) or isinstance(node, ast.Delete) and not all(isinstance(t, ast.Subscript) for t in node.targets)


def definition(function):
    """A function's tree, the names of its own, and those that it finds outside; None where it is not to be inlined."""
    code = function.__code__
    if code not in _known:
        _known[code] = _read(function)
    return _known[code]


def _read(function):
    is_lambda = function.__code__.co_name == "<lambda>"
    tree = lambda_of(function) if is_lambda else tree_of(function, generators=True)
    if tree is None or any(is_pythons(n) and not isinstance(n, (ast.Nonlocal, ast.Yield)) for s in tree.body for n in nodes(s)):
        return None
    rewritten = any(n.startswith(".") for n in function.__code__.co_freevars)
    if not is_lambda and not rewritten and imports_of(tree, function) is None:
        return None
    a, tree = tree.args, scoped(copied(tree))
    used = [n for s in tree.body for n in nodes(s) if isinstance(n, ast.Name)]
    own = {n.id for n in used if isinstance(n.ctx, ast.Store)} | {x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, [a.vararg]))}
    own -= {n for s in nodes(tree) if isinstance(s, ast.Nonlocal) for n in s.names}
    return tree, own, sorted({n.id for n in used} - own)


def lambda_of(function):
    """The definition of a function that returns what a lambda computes, as its file has that; None where no lambda of its line is it."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    for node in _lambdas(code.co_filename, "".join(linecache.getlines(code.co_filename, function.__globals__))).get(code.co_firstlineno, ()):
        at = {"lineno": node.lineno, "col_offset": node.col_offset, "end_lineno": node.end_lineno, "end_col_offset": node.end_col_offset}
        if any(_is_lambda(code, node, at, imported) for imported in _imports(function)):
            made = ast.FunctionDef("<lambda>", copied(node.args), [ast.Return(copied(node.body), **at)], [], None, **at)
            return made
    return None


@functools.lru_cache(maxsize=64)
def _lambdas(file, text):
    """Those of a file, by their lines."""
    found = {}
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return found
    for node in nodes(tree):
        if isinstance(node, ast.Lambda):
            found.setdefault(node.lineno, []).append(node)
    return found


def _is_lambda(code, node, at, imported):
    """Whether the code was made of this lambda, in a file with these imports: what it names outside of itself has to be the same, too."""
    arguments = ast.arguments([], [ast.arg(n, **at) for n in code.co_freevars], None, [], [], None, [])
    outer = ast.FunctionDef("outer", arguments, [ast.Expr(copied(node), **at)], [], None, **at)
    if "type_params" in ast.FunctionDef._fields:
        outer.type_params = []
    try:
        made = compile(_module(outer, imported, at), code.co_filename, "exec", dont_inherit=True, flags=code.co_flags & 0x1FFE000)
    except (SyntaxError, ValueError):
        return False
    made = next(c for c in made.co_consts if isinstance(c, types.CodeType))
    made = next(c for c in made.co_consts if isinstance(c, types.CodeType))
    return _is(made, code) and (made.co_freevars, made.co_varnames) == (code.co_freevars, code.co_varnames)


def outer_name(function, name):
    """What a function finds outside of itself, among the inputs of a loop."""
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno}|{name}"


def imports_of(tree, function):
    """The modules that a file imports which the function was made of; None where the file is another one by now."""
    return next((m for m in _imports(function) if _is(compiled(tree, function, function.__code__.co_freevars, m), function.__code__)), None)


def _imports(function):
    """What its file may import, of the modules that it names: calls of what a file imports are compiled otherwise than methods."""
    known = getattr(function.__globals__, "module_globals", function.__globals__)  # which has what nobody has asked a jitted function's globals for
    modules = sorted(n for n in function.__code__.co_names if isinstance(known.get(n), types.ModuleType))
    return (modules, []) if modules else ([],)  # which a notebook imported is not in the file that has the function


def _module(definition, imported, at):
    """The tree of a file with these imports."""
    return ast.Module([*(ast.Import([ast.alias(n, **at)], **at) for n in imported), definition], [])


def _is(code, other):
    return code is not None and all(a == b for a, b in zip(_contents(code), _contents(other)))


def _contents(code):
    return code.co_code, code.co_names, [repr(c) for c in code.co_consts if not isinstance(c, types.CodeType)]


def is_generator(x):
    """Whether it is a function that gives generators."""
    return isinstance(x, types.FunctionType) and bool(x.__code__.co_flags & inspect.CO_GENERATOR)


def calls_itself(x):
    """Whether it is a function that finds itself by its name."""
    if not isinstance(x, types.FunctionType):
        return False
    name, code = x.__name__, x.__code__
    cells = dict(zip(code.co_freevars, x.__closure__ or ()))
    return contents(cells[name]) is x if name in cells else name in code.co_names and x.__globals__.get(name) is x


def tree_of(function, generators=False):
    """The function's definition, with the lines of its file; of generators where they are asked for."""
    code = function.__code__
    if code.co_name == "<lambda>" or code.co_flags & ((0 if generators else inspect.CO_GENERATOR) | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return None
    try:
        linecache.checkcache(code.co_filename)
        lines = linecache.getlines(code.co_filename, function.__globals__)[code.co_firstlineno - 1 :]
        text = _texts.get(code)
        if text is None or "".join(lines[: text.count("\n")]) != text:
            text = _texts[code] = "".join(inspect.getblock(lines))
        tree = ast.parse(textwrap.dedent(text)).body[0]
    except (SyntaxError, IndexError, tokenize.TokenError):
        return None
    if not isinstance(tree, ast.FunctionDef) or tree.name != code.co_name:
        return None
    for node in nodes(tree):
        if hasattr(node, "lineno"):
            node.lineno += code.co_firstlineno - 1
            node.end_lineno += code.co_firstlineno - 1
    tree.decorator_list, tree.returns = [], None
    return tree


def compiled(tree, function, free, imported):
    """The code of the definition inside one that has its free names, in a file with these imports."""
    at = {"lineno": tree.lineno, "col_offset": tree.col_offset}
    arguments = ast.arguments([], [ast.arg(n, **at) for n in free], None, [], [], None, [])
    itself = [] if tree.name in free else [ast.Global([tree.name], **at)]  # as which it may call itself
    outer = ast.FunctionDef("outer", arguments, [*itself, _without_defaults(tree)], [], None, **at)
    if "type_params" in ast.FunctionDef._fields:
        outer.type_params = []
    try:
        made = compile(_module(outer, imported, at), function.__code__.co_filename, "exec", dont_inherit=True, flags=function.__code__.co_flags & 0x1FFE000)
    except (SyntaxError, ValueError):
        return None
    outer = next(c for c in made.co_consts if isinstance(c, types.CodeType))
    inner = next(c for c in outer.co_consts if isinstance(c, types.CodeType) and c.co_name == tree.name)
    if set(function.__code__.co_freevars) - set(inner.co_freevars):
        return None
    qualified = {"co_qualname": function.__code__.co_qualname} if hasattr(inner, "co_qualname") else {}
    return inner.replace(**qualified)


def _without_defaults(tree):
    a = tree.args
    a.defaults, a.kw_defaults = [], [None] * len(a.kwonlyargs)
    for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))):
        arg.annotation = None
    return tree


def captured(code):
    """The variables of a function that functions inside it read."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType) and (c.co_name == "<lambda>" or not c.co_name.startswith("<"))]
    return {name for c in inner for name in c.co_freevars} & {*code.co_cellvars}


class Rebound(ast.stmt):
    """Names that functions which a loop calls may set: it stores to them, for all that is asked of its source."""

    _fields = ("targets",)


def rebound(tree):
    """The functions that are defined in one, and the names of its variables that they set."""
    inner = [s for s in nodes(tree) if s is not tree and isinstance(s, ast.FunctionDef)]
    return {s.name for s in inner}, {n for s in inner for x in nodes(s) if isinstance(x, ast.Nonlocal) for n in x.names}


def exposed(loop):
    """The names that a loop may read as they are before it. loop.captured: those that it stores, and functions that it calls may read."""
    found = {*getattr(loop, "captured", ())}

    def reads(node, defined):
        found.update({*names(node, ast.Load)} - defined)

    def block(statements, defined):
        """What is defined behind them."""
        for s in statements:
            if isinstance(s, ast.If):
                reads(s.test, defined)
                defined = block(s.body, defined) & block(s.orelse, defined)
            elif isinstance(s, (ast.For, ast.While)):
                around(s, defined)
            elif isinstance(s, (ast.Try, ast.With, ast.Match)):
                for x in ast.iter_child_nodes(s):
                    if not isinstance(x, ast.stmt):
                        reads(x, defined)
                for x in (s, *getattr(s, "handlers", ()), *getattr(s, "cases", ())):
                    for field in ("body", "orelse", "finalbody"):
                        block(getattr(x, field, ()), defined)
            else:
                reads(s, defined)
                if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name) and s.target.id not in defined:
                    found.add(s.target.id)
                defined = defined | {*names(s, ast.Store)}
        return defined

    def around(s, defined, outermost=False):
        inside = defined
        if isinstance(s, ast.For):
            if not outermost:  # whose range is at hand
                reads(s.iter, defined)
            inside = defined | {*names(s.target, ast.Store)}
        else:
            reads(s.test, defined)
        block(s.body, inside)
        block(s.orelse, defined)

    around(loop, frozenset(), True)
    return found
