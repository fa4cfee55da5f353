"""The blocks of a function that calls itself, and where each of them leads: its statements, taken apart at those calls."""

import ast

from .trees import copied, names, nodes
from .types import NotCompiled

LOCAL = "rec "  # names of the machine's own, behind the function's prefix
_ORDERED = ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Subscript, ast.Tuple, ast.List, ast.Attribute, ast.keyword, ast.Slice


class Block:
    """Statements without calls of the function, and how they end: ("jump", block), ("branch", test, block, block), ("call", arguments, name, block) or
    ("leave", statement) of a return."""

    def __init__(self):
        self.statements, self.end, self.entries, self.resumes = [], None, 0, False
        self.function = None  # whose it is

    @property
    def leads(self):
        return [x for x in self.end[1:] if isinstance(x, Block)]


class Blocks:
    """Takes functions apart, by the Copies of them. is_call(node): whether one of them is called there; is_sequence(node): whether it is an array or a list
    that stays the same, by its name. starts: the first block of each."""

    def __init__(self, copies, is_call, is_sequence):
        self.prefix, self.is_call, self.is_sequence = next(iter(copies.values())).prefix, is_call, is_sequence
        self.all, self.count, self.loops, self.starts = [], 0, [], {}
        for self.function, made in copies.items():
            self.starts[self.function] = self.now = self.new()
            self.statements(made.body)
            if self.now is not None:
                self.finish("leave", None)
        for block in self.all:
            for other in block.leads:
                other.entries += 1

    def new(self):
        self.all.append(Block())
        self.all[-1].function = self.function
        return self.all[-1]

    def finish(self, *end):
        self.now.end, self.now = end, None

    def temporary(self, node):
        """A name of the machine's own."""
        self.count += 1
        return f"{self.prefix}{LOCAL}{self.count}"

    def has(self, tree):
        return any(self.is_call(n) for n in nodes(tree))

    def statements(self, many):
        for s in many:
            if self.now is None:
                return
            self.statement(s)

    def statement(self, s):
        if not self.has(s) and not self.leaves(s):
            self.now.statements.append(s)
            if isinstance(s, (ast.Return, ast.Raise)):
                self.now.end, self.now = ("nowhere",), None
            return
        how = getattr(self, "do_" + type(s).__name__, None)
        if how is None:
            raise NotCompiled(f"a {type(s).__name__.lower()} statement in which a function calls itself", s)
        how(s)

    def leaves(self, s):
        """Whether it has a `break` or `continue` of a loop that is taken apart."""
        if not self.loops:
            return False
        inside = isinstance(s, (ast.For, ast.While))
        held = s.orelse if inside else [*getattr(s, "body", ()), *getattr(s, "orelse", ())]
        return isinstance(s, (ast.Break, ast.Continue)) or any(map(self.leaves, held))

    # statements that are taken apart

    def do_Break(self, s):
        self.finish("jump", self.loops[-1][1])

    def do_Continue(self, s):
        self.finish("jump", self.loops[-1][0])

    def do_Return(self, s):
        self.finish("leave", ast.copy_location(ast.Return(self.hoisted(s.value)), s))

    def do_Expr(self, s):
        if self.is_call(s.value):
            return self.call(s.value)
        self.now.statements.append(ast.copy_location(ast.Expr(self.hoisted(s.value)), s))

    def do_Assign(self, s):
        if any(map(self.has, s.targets)):
            raise NotCompiled("a target in which a function calls itself", s)
        value = self.hoisted(s.value)
        self.now.statements.append(ast.copy_location(ast.Assign(s.targets, value, None), s))

    def do_AugAssign(self, s):
        if not (isinstance(s.target, ast.Name) and s.target.id.startswith(self.prefix)):
            raise NotCompiled("what a function changes by what it gives itself", s)
        value = self.hoisted(s.value)
        self.now.statements.append(ast.copy_location(ast.AugAssign(s.target, s.op, value), s))

    def do_If(self, s):
        self.ways(self.hoisted(s.test), lambda: self.statements(s.body), lambda: self.statements(s.orelse))

    def ways(self, test, *ways):
        starts, behind = (self.new(), self.new()), self.new()
        self.finish("branch", test, *starts)
        for start, way in zip(starts, ways):
            self.now = start
            way()
            if self.now is not None:
                self.finish("jump", behind)
        self.now = behind

    def do_While(self, s):
        head, body, otherwise, behind = (self.new() for _ in range(4))
        self.finish("jump", head)
        self.now = head
        self.finish("branch", self.hoisted(s.test), body, otherwise)
        self.around(s, head, head, body, otherwise, behind)

    def around(self, s, head, again, body, otherwise, behind):
        self.loops.append((again, behind))
        self.now = body
        self.statements(s.body)
        self.loops.pop()
        if self.now is not None:
            self.finish("jump", again)
        self.now = otherwise
        self.statements(s.orelse)
        if self.now is not None:
            self.finish("jump", behind)
        self.now = behind

    def do_For(self, s):
        """Counts what it goes over, in a variable of its own."""
        at, load = self.temporary(s), lambda n: ast.copy_location(ast.Name(n, ast.Load()), s)
        put = lambda n, v: self.now.statements.append(ast.copy_location(ast.Assign([ast.copy_location(ast.Name(n, ast.Store()), s)], v, None), s))  # noqa: E731
        whole = lambda n: ast.copy_location(ast.Constant(n), s)  # noqa: E731
        test = lambda op, end: ast.copy_location(ast.Compare(load(at), [op], [end]), s)  # noqa: E731
        iter_, by = s.iter, 1
        if isinstance(iter_, ast.Call) and isinstance(iter_.func, ast.Name) and iter_.func.id.endswith("|range") and not iter_.keywords:
            if len(iter_.args) == 3:
                by = _step(iter_.args[2])
            args = [self.hoisted(a) for a in iter_.args[:2]]
            put(at, args[0] if len(args) == 2 else whole(0))
            put(end := self.temporary(s), args[-1])
            more, item = test(ast.Lt() if by > 0 else ast.Gt(), load(end)), load(at)
        elif not self.has(iter_) and (isinstance(iter_, ast.Tuple) or self.is_sequence(iter_)):
            put(at, whole(0))
            count = whole(len(iter_.elts)) if isinstance(iter_, ast.Tuple) else ast.copy_location(ast.Call(load(".len"), [copied(iter_)], []), s)
            more, item = test(ast.Lt(), count), ast.copy_location(ast.Subscript(copied(iter_), load(at), ast.Load()), s)
        else:
            raise NotCompiled("what a loop goes over in which a function calls itself", s)
        head, again, body, otherwise, behind = (self.new() for _ in range(5))
        self.finish("jump", head)
        self.now = head
        self.finish("branch", more, body, otherwise)
        self.now = again
        self.now.statements.append(ast.copy_location(ast.AugAssign(ast.copy_location(ast.Name(at, ast.Store()), s), ast.Add(), whole(by)), s))
        self.finish("jump", head)
        body.statements.append(ast.copy_location(ast.Assign([s.target], item, None), s))
        self.around(s, head, again, body, otherwise, behind)

    # expressions

    def hoisted(self, e):
        """An expression without calls of the function: what is computed before one of them, and they, are statements before it."""
        if e is None or not self.has(e):
            return e
        if any(isinstance(n, ast.NamedExpr) for n in nodes(e)):
            raise NotCompiled("a variable is set in an expression in which a function calls itself", e)
        if self.is_call(e):
            return self.call(e)
        if isinstance(e, (ast.IfExp, ast.BoolOp)):
            return self.chosen(e)
        if not isinstance(e, _ORDERED) or isinstance(e, ast.Compare) and len(e.ops) > 1:
            raise NotCompiled("an expression in which a function calls itself", e)
        made = copied(e)
        places = [(field, k) for field, x in ast.iter_fields(made) for k in (range(len(x)) if isinstance(x, list) else [None]) if field not in ("ops", "op", "ctx")]
        get = lambda field, k: getattr(made, field) if k is None else getattr(made, field)[k]  # noqa: E731
        for n, (field, k) in enumerate(places):
            x = get(field, k)
            if not isinstance(x, ast.AST) or field == "func" and not self.has(x):
                continue
            later = any(isinstance(y := get(*place), ast.AST) and self.has(y) for place in places[n + 1 :])
            x = self.hoisted(x)
            if later and not isinstance(x, ast.Constant) and not (isinstance(x, ast.Name) and x.id.startswith(self.prefix)):
                x = self.kept(x)
            setattr(made, field, x) if k is None else getattr(made, field).__setitem__(k, x)
        return made

    def kept(self, e):
        name = self.temporary(e)
        self.store(name, e)
        return ast.copy_location(ast.Name(name, ast.Load()), e)

    def store(self, name, e):
        self.now.statements.append(ast.copy_location(ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), e)], e, None), e))

    def chosen(self, e):
        name = self.temporary(e)
        load = ast.copy_location(ast.Name(name, ast.Load()), e)
        if isinstance(e, ast.IfExp):
            self.ways(self.hoisted(e.test), lambda: self.store(name, self.hoisted(e.body)), lambda: self.store(name, self.hoisted(e.orelse)))
            return load
        first, *others = e.values
        self.store(name, self.hoisted(first))
        rest = others[0] if len(others) == 1 else ast.copy_location(ast.BoolOp(e.op, others), e)
        more, done = (lambda: self.store(name, self.hoisted(rest))), (lambda: None)
        self.ways(load, *((more, done) if isinstance(e.op, ast.And) else (done, more)))
        return load

    def call(self, e):
        if any(isinstance(a, ast.Starred) for a in e.args):
            raise NotCompiled("a function calls itself with a starred argument", e)
        made = self.hoisted_arguments(e)
        name, behind = self.temporary(e), self.new()
        behind.resumes = True
        self.finish("call", made, name, behind)
        self.now = behind
        return ast.copy_location(ast.Name(name, ast.Load()), e)

    def hoisted_arguments(self, e):
        """The call, whose arguments have no calls of the function."""
        args = ast.copy_location(ast.Tuple([*e.args, *(k.value for k in e.keywords)], ast.Load()), e)
        found = self.hoisted(args).elts
        keywords = [ast.keyword(k.arg, x) for k, x in zip(e.keywords, found[len(e.args) :])]
        return ast.copy_location(ast.Call(e.func, found[: len(e.args)], keywords), e)


def _step(node):
    sign = -1 if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else 1
    node = node.operand if sign < 0 else node
    if not isinstance(node, ast.Constant) or type(node.value) is not int or node.value == 0:
        raise NotCompiled("a range whose step is not known in which a function calls itself", node)
    return sign * node.value


def live_of(blocks):
    """Names that are read from the beginning of each block on, of any of its ways."""
    found = {b: set() for b in blocks}
    changed = True
    while changed:
        changed = False
        for b in reversed(blocks):
            trees = [x for x in b.end[1:] if isinstance(x, ast.AST)]
            after = set().union(*(found[x] for x in b.leads)) if b.leads else set()
            if b.end[0] == "call":
                after = after - {b.end[2]}
            for s in reversed([*b.statements, *trees]):
                sets = {t.id for t in s.targets if isinstance(t, ast.Name)} if isinstance(s, ast.Assign) else set()
                augmented = {n.target.id for n in nodes(s) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
                after = (after - sets) | {*names(s, ast.Load)} | augmented
            if after != found[b]:
                found[b], changed = after, True
    return found
