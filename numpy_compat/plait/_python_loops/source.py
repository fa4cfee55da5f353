"""A function whose outermost loops ask for machine code: the same source, in which each such loop stops where its code is ready, hands over the
state of its variables, and takes it back when the code has ended."""

import ast
import collections
import inspect
import textwrap
import types

from .running import Loop

_NOT_IN_LOOPS = (
    ast.Try, ast.With, ast.Import, ast.ImportFrom, ast.Delete, ast.Global, ast.Nonlocal, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
    ast.Lambda, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Raise, ast.NamedExpr, ast.JoinedStr, ast.Dict, ast.Set,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Starred,
)  # fmt: skip
_REFLECTIVE = {"locals", "exec", "eval", "vars", "dir", "globals"}


def with_loops(function, scope, closure):
    """The code of a function and the cells it closes over; `scope`: where its globals are looked up. None where no loop of it can be compiled."""
    tree = _tree(function)
    if tree is None:
        return None
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    if names & _REFLECTIVE:
        return None
    outside = {n for s in ast.walk(tree) if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names}
    cells = dict(zip(function.__code__.co_freevars, closure or ()))
    # Calls of what a file imports are compiled otherwise than methods; which a notebook imported is not in the file that has the function.
    known = function.__globals__
    modules = sorted(n for n in function.__code__.co_names if isinstance(known.get(n), types.ModuleType))
    imported = next((m for m in (modules, []) if _is(_compiled(tree, function, [*cells], m), function.__code__)), None)
    if imported is None:
        return None  # the file is another one by now
    rewriting = _Rewriting(function, scope, cells, outside, _read(tree))
    tree.body = rewriting.block(tree.body)
    if not rewriting.loops:
        return None
    code = _compiled(tree, function, [*cells, *rewriting.loops], imported)
    if code is None:
        return None
    cells |= {name: types.CellType(loop) for name, loop in rewriting.loops.items()}
    return code, tuple(cells[name] for name in code.co_freevars)


def _tree(function):
    """The function's definition, with the lines of its file."""
    code = function.__code__
    if code.co_name == "<lambda>" or code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return None
    try:
        lines, first = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    if not isinstance(tree, ast.FunctionDef) or tree.name != code.co_name:
        return None
    ast.increment_lineno(tree, first - 1)
    tree.decorator_list, tree.returns = [], None
    return tree


def _is(code, other):
    return code is not None and code.co_code == other.co_code and code.co_names == other.co_names


def _compiled(tree, function, free, imported):
    """The code of the definition inside one that has its free names, in a file with these imports."""
    arguments = ast.arguments([], [ast.arg(n) for n in free], None, [], [], None, [])
    outer = ast.FunctionDef("outer", arguments, [_without_defaults(tree)], [], None)
    outer = ast.copy_location(outer, tree)
    if "type_params" in ast.FunctionDef._fields:
        outer.type_params = []
    imports = [ast.copy_location(ast.Import([ast.alias(n)]), tree) for n in imported]
    module = ast.fix_missing_locations(ast.Module([*imports, outer], []))
    try:
        made = compile(module, function.__code__.co_filename, "exec", dont_inherit=True, flags=function.__code__.co_flags & 0x1FFE000)
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
    # Their values are the function's, not the code's; but as many are wanted as there were.
    return tree


def _read(tree):
    """How often names are read there."""
    return collections.Counter(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


class _Rewriting:
    def __init__(self, function, scope, cells, outside, reads):
        self.function, self.scope, self.cells, self.outside, self.reads = function, scope, cells, outside, reads
        self.loops = {}

    def block(self, statements):
        return [made for s in statements for made in self.statement(s)]

    def statement(self, s):
        if isinstance(s, (ast.For, ast.While)) and self.may_be_compiled(s):
            return self.loop(s)
        if isinstance(s, (ast.If, ast.For, ast.While, ast.With)):
            s.body = self.block(s.body)
            if getattr(s, "orelse", None):
                s.orelse = self.block(s.orelse)
        return [s]

    def may_be_compiled(self, s):
        if isinstance(s, ast.For):
            ranged = isinstance(s.iter, ast.Call) and isinstance(s.iter.func, ast.Name) and s.iter.func.id == "range" and not s.iter.keywords
            if not ranged or not isinstance(s.target, ast.Name):
                return False
        nodes = list(ast.walk(s))
        stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return not stored & self.outside and not any(isinstance(n, _NOT_IN_LOOPS) for n in nodes)

    def loop(self, s):
        """
        .rest = .loop(range(...), locals())
        for i in .rest: ...
        else:
            .state = .loop.end(.rest, locals())
            if .state is None: ...
            else: (a, b, .returned, .value) = .state
        """
        number = len(self.loops)
        own, rest, state = (f".{n}{number}" for n in ("loop", "rest", "state"))
        loop = self.loops[own] = Loop(s, self.function, self.scope, self.cells, {*(self.reads - _read(s))})
        at = {"lineno": s.lineno, "col_offset": s.col_offset, "end_lineno": s.lineno, "end_col_offset": s.col_offset}
        load = lambda n: ast.Name(n, ast.Load(), **at)  # noqa: E731
        store = lambda n: ast.Name(n, ast.Store(), **at)  # noqa: E731
        call = lambda f, *args: ast.Call(f, list(args), [], **at)  # noqa: E731
        states = call(load("locals"))
        is_ = lambda a, b: ast.Compare(a, [ast.Is()], [b], **at)  # noqa: E731
        if isinstance(s, ast.For):
            begin = call(load(own), s.iter, states)
            again = ast.For(s.target, load(rest), s.body, [], None, **at)
        else:
            begin = call(load(own), ast.Constant(None, **at), states)
            more = call(ast.Attribute(load(rest), "more", ast.Load(), **at))
            again = ast.While(ast.BoolOp(ast.And(), [more, s.test], **at), s.body, [], **at)
        targets = [*loop.stored, ".returned", ".value"]
        taken = [ast.Assign([ast.Tuple([store(n) for n in targets], ast.Store(), **at)], load(state), None, **at)]
        taken += [
            ast.If(is_(load(n), ast.Attribute(load(own), "unbound", ast.Load(), **at)), [ast.Delete([ast.Name(n, ast.Del(), **at)], **at)], [], **at)
            for n in loop.stored
        ]
        if loop.returns:
            taken.append(ast.If(load(".returned"), [ast.Return(load(".value"), **at)], [], **at))
        again.orelse = [
            ast.Assign([store(state)], call(ast.Attribute(load(own), "end", ast.Load(), **at), load(rest), states), None, **at),
            ast.If(is_(load(state), ast.Constant(None, **at)), s.orelse or [ast.Pass(**at)], taken, **at),
        ]
        return [ast.Assign([store(rest)], begin, None, **at), again]

