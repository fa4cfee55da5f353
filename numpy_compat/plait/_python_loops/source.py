"""A function whose outermost loops ask for machine code: the same source, in which each such loop stops where its code is ready, hands over the
state of its variables, and takes it back when the code has ended."""

import ast
import types

from .. import _plait
from .._functions import contents, original
from .by_python import rare
from .comprehensions import COMPREHENSIONS, scoped, stored
from .elements import Elements
from .forgotten import own_tables
from .liveness import Liveness
from .over import Over, is_range
from .reading import LEFT, Rebound, calls_itself, captured, compiled, imports_of, is_generator, is_pythons, rebound, tree_of
from .running import CELLS, Loop
from .trees import copied, names, nodes, once
from .versions import Versions

_REFLECTIVE = {"locals", "exec", "eval", "vars", "dir", "globals"}


def with_loops(function, scope, closure):
    """The code of a function and the cells it closes over; `scope`: where its globals are looked up. None where no loop of it can be compiled."""
    tree = tree_of(function)
    if tree is None:
        return None
    if _REFLECTIVE & {n.id for n in nodes(tree) if isinstance(n, ast.Name)}:
        return None
    outside = outside_names(tree)
    cells = dict(zip(function.__code__.co_freevars, closure or ()))
    imported = imports_of(tree, function)
    if imported is None:
        return None
    loops = {}

    def written(asleep):
        tree = tree_of(function)
        if tree is None:
            return None  # the file has changed
        rewriting = _Rewriting(tree, function, scope, cells, outside, Liveness(tree), loops, asleep)
        tree.body = rewriting.block(tree.body)
        if rewriting.captured and asleep != loops.keys():
            tree.body.insert(0, _cells_of(rewriting.captured, tree.body[0]))
        if asleep:
            tree.body.append(_named(sorted(asleep), tree.lineno))
        made = compiled(tree, function, [*cells, *loops], imported) if loops else None
        return made if made is not None and {*loops} <= {*made.co_freevars} else None

    code = written(frozenset())
    if code is None:
        return None
    Versions(function, scope, loops, code, written)
    closed = cells | {name: types.CellType(loop) for name, loop in loops.items()}
    return code, tuple(closed[name] for name in code.co_freevars)


def _named(names, line):
    """A statement that does nothing and names them: the codes of a function close over the same cells."""
    at = {"lineno": line, "col_offset": 0, "end_lineno": line, "end_col_offset": 0}
    return ast.If(ast.Constant(False, **at), [ast.Expr(ast.Name(n, ast.Load(), **at), **at) for n in names], [], **at)


def _cells_of(names, node):
    """.cells = lambda: (a, b)"""
    value = ast.Lambda(ast.arguments([], [], None, [], [], None, []), ast.Tuple([ast.Name(n, ast.Load()) for n in sorted(names)], ast.Load()))
    return ast.fix_missing_locations(ast.copy_location(ast.Assign([ast.Name(CELLS, ast.Store())], value), node))


def why_not(s, outside):
    """Why a loop or a comprehension cannot be compiled, as far as its source shows; None where it may. outside: names that are not the function's own."""
    if isinstance(s, (ast.For, *COMPREHENSIONS)):
        first = s if isinstance(s, ast.For) else s.generators[0]
        if is_range(first.iter) and not isinstance(first.target, ast.Name):
            return "its target is no name"
    if isinstance(s, COMPREHENSIONS) and any(isinstance(n, ast.NamedExpr) for n in nodes(s)):
        return "it sets a name of the function's"
    outer = {*names(s, ast.Store)} & outside
    if outer:
        return f"it sets the global or nonlocal name {min(outer)}"
    found = [n for n in nodes(s) if is_pythons(n)]
    if found and isinstance(s, (ast.For, ast.While)) and all(isinstance(n, LEFT) for n in found):
        found = [n for n in found if n not in rare(s)]
    found = next(iter(found), None)
    return found and f"{type(found).__name__} is Python's (line {found.lineno})"


def outside_names(tree):
    inside = {id(s) for f in nodes(tree) if f is not tree and isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for s in nodes(f)}
    return {n for s in nodes(tree) if isinstance(s, (ast.Global, ast.Nonlocal)) and id(s) not in inside for n in s.names}


def reasons(tree):
    """(line, why) of the loops of a function that are not even looked at."""
    outside = outside_names(tree)
    return [(s.lineno, why) for s in nodes(tree) if isinstance(s, (ast.For, ast.While)) and (why := why_not(s, outside))]


class _Comprehensions(ast.NodeTransformer):
    def __init__(self, rewriting):
        self.rewriting = rewriting

    def visit_ListComp(self, node):
        return node if why_not(node, self.rewriting.outside) else self.rewriting.elements(node)

    def visit_Call(self, node):
        self.generic_visit(node)
        named = node.func
        while isinstance(named, ast.Attribute):
            named = named.value
        if node.args and isinstance(node.args[0], ast.GeneratorExp) and isinstance(named, ast.Name) and not why_not(node.args[0], self.rewriting.outside):
            node.args[0] = self.rewriting.elements(node.args[0], copied(node.func))
        return node

    def _left_alone(self, node):
        return node

    visit_GeneratorExp = visit_SetComp = visit_DictComp = visit_Lambda = _left_alone


class _Rewriting:
    def __init__(self, tree, function, scope, cells, outside, live, loops, asleep):
        self.function, self.scope, self.cells, self.outside, self.live = function, scope, cells, outside, live
        self.loops, self.asleep = loops, asleep  # the function's, by their names, which the first time is made; those that are left as they are
        self.number = 0
        self.captured, self.own_tables = captured(function.__code__), own_tables(tree)
        self.functions, self.rebound = rebound(tree)
        inner = [s for s in nodes(tree) if s is not tree and isinstance(s, ast.FunctionDef)]
        self.generators = {s.name for s in inner if any(isinstance(n, ast.Yield) for n in nodes(s))}
        self.own = {*names(tree, ast.Store)} | self.functions | {a.arg for a in nodes(tree.args) if isinstance(a, ast.arg)}
        self.around = None  # the innermost of them that may be compiled
        self.set = []  # names of the rewriting's own, of the loops so far

    def block(self, statements):
        return [made for s in statements for made in self.statement(s)]

    def consumes(self, s):
        """Whether a loop goes over what a generator of the program yields, as far as is known by now."""
        if not (isinstance(s, ast.For) and isinstance(s.iter, ast.Call) and isinstance(s.iter.func, ast.Name)):
            return False
        name = s.iter.func.id
        return name in self.generators or name not in self.own and is_generator(self.found(name))

    def found(self, name):
        """What a name of a function is that is called, as far as that is known by now."""
        return original(contents(self.cells[name]) if name in self.cells else self.function.__globals__.get(name))

    def takes_long(self, s):
        """Whether a statement has calls of functions that call themselves."""
        if not isinstance(s, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)):
            return False
        called = {n.func.id for n in nodes(s) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)} - self.own
        return any(calls_itself(x) and x is not self.function for x in map(self.found, called))

    def statement(self, s):
        if self.around is None and (self.consumes(s) or self.takes_long(s)) and not {"range"} & (self.own | {*self.cells, *self.function.__globals__}):
            whole = once([s], s, s)
            if why_not(whole, self.outside) is None and self.tells(s) is None and (behind := self.live.behind.get(s)) is not None:
                self.live.behind[whole] = behind
                return self.loop(whole)
        if isinstance(s, (ast.For, ast.While)):
            if (why := why_not(s, self.outside) or self.tells(s)) is None:
                return self.loop(s)
            if self.around is None and not self.asleep:
                code = self.function.__code__
                _plait.log_loop(f"{code.co_filename}:{s.lineno}: the loop in {self.function.__qualname__}() stays Python's: {why}")
        self.expressions(s)
        for x in (s, *getattr(s, "handlers", ()), *getattr(s, "cases", ())):
            for field in ("body", "orelse", "finalbody"):
                if isinstance(held := getattr(x, field, None), list) and held and not isinstance(x, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    setattr(x, field, self.block(held))
        return [s]

    def tells(self, s):
        """Why a loop cannot be compiled for what is around it: where an error of it is suppressed, its variables are read as they were then."""
        read = self.live.suppressed.get(s, set()) & {*names(s, ast.Store)}
        return f"an error in it may be suppressed, and {min(read)} read behind that" if read else None

    def expressions(self, s):
        """Rewrites the comprehensions of a statement, but those in the statements that it holds."""
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return
        for field, held in ast.iter_fields(s):
            if isinstance(held, ast.AST):
                setattr(s, field, _Comprehensions(self).visit(held))
            elif isinstance(held, list) and held and not isinstance(held[0], (ast.stmt, ast.excepthandler)):
                held[:] = [_Comprehensions(self).visit(x) if isinstance(x, ast.AST) else x for x in held]

    def made(self, new):
        """The number and the loop that comes next."""
        number, self.number = self.number, self.number + 1
        own = f".loop{number}"
        if own not in self.loops:
            loop = self.loops[own] = new()
            loop.own, loop.outer = own, self.around
        return number, self.loops[own]

    def elements(self, node, consumer=None):
        """
        .loop.listed(.rest := .loop(range(...)), [... for i in .rest])
        .loop.chained(.rest := .loop(.loop.positions(.over := x), sum, items=.over, given=(.over,)), (... for v in .rest))
        """
        number, loop = self.made(lambda: Elements(node, self.function, self.scope, self.cells))
        own, rest = loop.own, f".rest{number}"
        if own in self.asleep:
            return node
        first = node.generators[0]
        numbers, items = first.iter, []
        if loop.over is not None:
            over = Over(first.iter, loop.over.own)
            parts = [ast.NamedExpr(ast.Name(n, ast.Store()), part) for n, part in over.parts.items()]
            numbers = ast.Call(ast.Attribute(ast.Name(own, ast.Load()), "positions", ast.Load()), parts, [])
            given = ast.Tuple([ast.Name(n, ast.Load()) for n in over.parts], ast.Load())
            items = [ast.keyword("items", over.iter), ast.keyword("given", given)]
        begun = ast.Call(ast.Name(own, ast.Load()), [numbers, *([consumer] if consumer else [])], items)
        first.iter = ast.Name(rest, ast.Load())
        end = ast.Attribute(ast.Name(own, ast.Load()), "chained" if consumer else "listed", ast.Load())
        made = ast.Call(end, [ast.NamedExpr(ast.Name(rest, ast.Store()), begun), node], [])
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def loop(self, s):
        """
        .awake = .rest = .loop.awake
        .rest = .loop(range(...)) if .awake else range(...)
        for i in .rest: ...     # of `for v in x`, with .over = x before: .loop(.loop.positions(.over), .over) if .awake else .over
        else:
            .awake = .loop.end(.rest) if .awake else None
            if .awake is None: ...
            else: (a, b, .awake, .rest) = .awake   # whether it returned, and what

        The outermost loop sets the names of those inside, too: a name without a value costs more than all others where the loop looks at what they are.
        """
        behind = self.live.behind[s]

        def new():
            source = scoped(copied(s))
            if self.rebound and not self.functions.isdisjoint(names(s, ast.Load)):
                set_there = [ast.copy_location(ast.Name(n, ast.Store()), s) for n in sorted(self.rebound)]
                source.body.insert(0, ast.copy_location(Rebound(set_there), s))
            source.captured = self.captured & {*stored(source)}
            source.forgotten = self.own_tables - behind - self.captured
            return Loop(source, self.function, self.scope, self.cells, behind)

        number, loop = self.made(new)
        own, rest, failed, awake = (f".{n}{number}" for n in ("loop", "rest", "failed", "awake"))
        outer = self.around
        inside = len(self.set)
        if outer is not None and loop not in outer.inner:
            outer.inner.append(loop)
        # Loops inside are asked where this one stays Python's.
        self.around = loop
        s.body = self.block(s.body)
        self.around = outer
        if own in self.asleep:
            return [s]
        self.set += [awake, rest] if isinstance(s, ast.For) else [awake, rest, ".round"]
        at = {"lineno": s.lineno, "col_offset": s.col_offset, "end_lineno": s.lineno, "end_col_offset": s.col_offset}
        load = lambda n: ast.Name(n, ast.Load(), **at)  # noqa: E731
        store = lambda n: ast.Name(n, ast.Store(), **at)  # noqa: E731
        call = lambda f, *args: ast.Call(f, list(args), [], **at)  # noqa: E731
        is_ = lambda a, b: ast.Compare(a, [ast.Is()], [b], **at)  # noqa: E731
        targets = [*loop.stored, awake, rest]
        taken = [ast.Assign([ast.Tuple([store(n) for n in targets], ast.Store(), **at)], load(awake), None, **at)]
        taken += [
            ast.If(is_(load(n), ast.Attribute(load(own), "unbound", ast.Load(), **at)), [ast.Delete([ast.Name(n, ast.Del(), **at)], **at)], [], **at)
            for n in loop.stored
        ]
        if loop.returns:
            taken.append(ast.If(load(awake), [ast.Return(load(rest), **at)], [], **at))
        of_loop = lambda name: ast.Attribute(load(own), name, ast.Load(), **at)  # noqa: E731
        if_awake = lambda a, b: ast.IfExp(load(awake), a, b, **at)  # noqa: E731
        known = dict.fromkeys([awake, rest] if outer is not None else self.set[inside:])
        asked = ast.Assign([store(n) for n in known], of_loop("awake"), None, **at)
        end = ast.Assign([store(awake)], if_awake(call(of_loop("end"), load(rest)), ast.Constant(None, **at)), None, **at)
        if isinstance(s, ast.For):
            given, items, parts = [s.iter], copied(s.iter), {}
            if loop.over is not None:
                over = Over(s.iter, loop.over.own)
                items, parts = over.iter, over.parts
                given = [call(of_loop("positions"), *map(load, parts)), copied(items)]
            computed = [ast.Assign([store(n)], _Comprehensions(self).visit(part), None, **at) for n, part in parts.items()]
            began = ast.Assign([store(rest)], if_awake(call(load(own), *given), items), None, **at)
            ended = ast.If(is_(load(awake), ast.Constant(None, **at)), s.orelse or [ast.Pass(**at)], taken, **at)
            let_go = [ast.Assign([store(n) for n in parts], ast.Constant(None, **at), None, **at)] if parts else []
            return [*computed, asked, began, ast.For(s.target, load(rest), s.body, [end, ended], None, **at), *let_go]
        # `for .round in .rest: if not test: break`, where what behind `else` is done when the test has failed.
        began = ast.Assign([store(rest)], if_awake(call(load(own)), of_loop("forever")), None, **at)
        said = lambda x: ast.Assign([store(failed)], ast.Constant(x, **at), None, **at)  # noqa: E731
        leave = ast.If(ast.UnaryOp(ast.Not(), s.test, **at), [said(True), ast.Break(**at)] if s.orelse else [ast.Break(**at)], [], **at)
        again = ast.For(store(".round"), load(rest), [leave, *s.body], [end, *taken], None, **at)
        return [said(False), asked, began, again, ast.If(load(failed), s.orelse, [], **at)] if s.orelse else [asked, began, again]
