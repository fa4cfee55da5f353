"""Functions of compiled loops that call themselves, or each other. Such a function is taken apart where it does: into blocks, each of which ends with a jump, a branch, a return
or a call. The blocks stand in one loop, which a number leads through. A call keeps what is read behind it, and which block that is, in memory of the run: a stack
of words. Variables of other functions, and attributes, are what the last return has left."""

import ast
import sys

from .growing import Growing
from .inlining import Copy, Frame
from .objects import Instance, method
from .passes import Nothing
from .trees import copied, names, nodes
from .types import NotCompiled, is_paired, scalar_of
from .values import Bound, Value
from .views import View

_ORDERED = ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Subscript, ast.Tuple, ast.List, ast.Attribute, ast.keyword, ast.Slice
_LOCAL = "rec "  # names of the machine's own, behind the function's prefix


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
        return f"{self.prefix}{_LOCAL}{self.count}"

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


def _live(blocks):
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


class Machine(Frame):
    """A call of a function that calls itself: its blocks, and where `return` goes in them. others: functions by way of which it does."""

    def __init__(self, lowering, function, made, others, node):
        super().__init__(made.prefix, None, (node, "returned"))
        self.function, self.copy = function, made
        self.low = lowering
        number = len(lowering.facts.inlined)
        self.copies = {function: made} | {fn: Copy(fn, f"{number}.{k}", node, made.prefix) for k, fn in enumerate(others)}
        self.is_call = lambda n: isinstance(n, ast.Call) and self.called(n) in [*self.copies]
        is_sequence = lambda n: isinstance(n, ast.Name) and isinstance(lowering.env.get(n.id), (View, Growing, list))  # noqa: E731
        self.blocks = Blocks(self.copies, self.is_call, is_sequence)
        self.numbers = {b: k for k, b in enumerate(self.blocks.all)}
        self.live = _live(self.blocks.all)
        stored = {n for copy in self.copies.values() for s in copy.body for n in names(s, ast.Store) if n.startswith(self.prefix)}
        self.same = self.roots(stored)
        self.varies = stored | {*self.parameters()} - self.same.keys()

    def calls(self, function):
        return function in self.copies

    def called(self, n):
        """What a call calls, as far as it is a function."""
        env = self.low.env
        if isinstance(n.func, ast.Name):
            return env.get(n.func.id)
        of = env.get(n.func.value.id) if isinstance(n.func, ast.Attribute) and isinstance(n.func.value, ast.Name) else None
        return method(self.low, of, n) if isinstance(of, Instance) else None

    def given(self, call):
        """Expressions for the parameters that a call of itself has, by their names."""
        bound = [] if isinstance(call.func, ast.Name) else [call.func.value]
        if any(copy.rest for copy in self.copies.values()):
            raise NotCompiled("a function with *args calls itself", call)
        copy = self.copies[self.called(call)]
        found = dict(zip(copy.positional, [*bound, *call.args])) | {k.arg: k.value for k in call.keywords}
        for n, x in copy.defaults.items():
            if n not in found and scalar_of(x) is not None:
                found[n] = ast.copy_location(ast.Constant(x), call)
        if len(bound) + len(call.args) > len(copy.positional) or {*found} != {*copy.positional, *copy.by_name}:
            raise NotCompiled("a function calls itself with other arguments", call)
        return {copy.prefix + n: x for n, x in found.items()}

    def parameters(self):
        return [copy.prefix + n for copy in self.copies.values() for n in (*copy.positional, *copy.by_name)]

    def roots(self, stored):
        """Parameters that are the same in all calls -> the function's own that they are. A number that goes to another function is none of them."""
        own = [n for n in (*self.copy.positional, *self.copy.by_name)]
        found = {self.prefix + n: self.prefix + n for n in own if self.prefix + n not in stored}
        given = [(n, x.id if isinstance(x, ast.Name) else None) for b in self.blocks.all if b.end[0] == "call" for n, x in self.given(b.end[1]).items()]
        for _ in given:
            found |= {n: found[x] for n, x in given if n not in found and n not in stored and x in found and not hasattr(self.low.env.get(found[x]), "kinds")}
        while wrong := {n for n, x in given if n in found and (found.get(x) != found[n] or found[n] not in found)}:
            found = {n: x for n, x in found.items() if n not in wrong}
        return found

    # lowering

    def run(self, lowering):
        self.low = low = lowering
        p, self.pc, self.depth = low.p, low.variable("int64"), low.variable("int64")
        self.shape, self.made = (), None
        node = self.key[0]
        if any(not isinstance(low.env.get(n), Bound) for n in self.varies & low.env.keys()):
            raise NotCompiled(f"{self.function.__name__}() gives itself another array or object", node)
        self.stack = low.list_of(node)
        p.set(self.stack.count, low.zero)
        low.env[".len"] = len
        low.env |= {k: low.env[root] for k, root in self.same.items() if k != root}
        self.others = {k: b for k, b in low.env.items() if not isinstance(b, Bound)}
        self.before = {k for k in low.env}
        self.invariant = {k: b for k, b in low.env.items() if k.startswith(self.prefix) and k not in self.varies}
        self.out = p.begin_if(None)
        self.go_to(self.blocks.starts[self.function], jumps=False)
        starts = {*self.blocks.starts.values()}
        p.begin_repeat()
        self.again = p.begin_if(None)
        for b in self.blocks.all:
            if b in starts or b.resumes or b.entries > 1:
                p.begin_if(low.same(p.get(self.pc), self.numbers[b]))
                self.begin(b)
                p.end()
        p.end()
        p.end()
        p.end()
        low.env = None
        low.meet((self, "returned"), self.others)
        if low.env is None:
            raise (Nothing if low.facts.unknown or low.facts.changed else NotCompiled)(f"{self.function.__name__}() does not return", node)

    def begin(self, b):
        """A block that a number leads to."""
        low, p = self.low, self.low.p
        if not b.resumes:
            low.meet((self, b), self.others)
        else:
            low.meet((self, "returned"), self.others)
            saved = low.state_at((self, b, "saved"))
            if low.env is not None and saved is not None:
                low.env |= self.invariant | saved
                self.pop(b, saved)
            else:
                low.env = None
        if low.env is not None:
            if b.resumes:
                name = next(x.end[2] for x in self.blocks.all if x.end[0] == "call" and x.end[3] is b)
                value = self.result(self.shape if self.shape != () else low.facts.said.get((self, "shape"), -1))
                if isinstance(value, Value):
                    low.assign(name, value)
                elif value is None:
                    low.env.pop(name, None)
                else:
                    low.env[name] = value
            self.body(b)

    def body(self, b):
        low = self.low
        self.function = b.function
        low.block(b.statements)
        if low.env is None:
            return
        how, *rest = b.end
        getattr(self, how)(*rest)
        low.env = None

    def nowhere(self):
        """A block whose last statement leaves it."""

    def leave(self, s):
        self.low.statement(s) if s is not None else self.take(self.low, None, self.key[0])

    def jump(self, b):
        self.go_to(b)

    def branch(self, test, b, c):
        low, p = self.low, self.low.p
        known, condition = low.decides(test)
        if known is not None:
            return self.go_to(b if known else c)
        start = dict(low.env)
        p.begin_if(condition)
        self.go_to(b)
        p.otherwise()
        low.env = start
        self.go_to(c)
        p.end()

    def go_to(self, b, jumps=True):
        low, p = self.low, self.low.p
        if jumps and b.entries == 1 and not b.resumes and b not in self.blocks.starts.values():
            return self.body(b)
        self.flow((self, b), self.live[b])
        p.set(self.pc, low.number(self.numbers[b]))
        if jumps:
            p.break_(self.again)
            low.env = None

    def flow(self, key, own):
        """The end of a way that leads there: with these of the function's names, and others' that were there before."""
        low = self.low
        kept = low.env
        low.env = {k: b for k, b in kept.items() if (k in own or k in self.invariant) and k.startswith(self.prefix) or not k.startswith(self.prefix) and (k in self.before or " " not in k)}
        low.flow_to(key)
        low.env = kept

    def call(self, call, name, behind):
        low, p = self.low, self.low.p
        given = {n: low.evaluate(x) for n, x in self.given(call).items() if n in self.varies}
        if not all(isinstance(v, Value) for v in given.values()):
            raise NotCompiled(f"{self.function.__name__}() gives itself what is no number", call)
        kept, key = low.env, (self, behind, "saved")
        low.env = {k: b for k, b in kept.items() if k in self.live[behind] and k.startswith(self.prefix) and k in self.varies | self.own_names() and k != name}
        if any(not hasattr(b, "kinds") for b in low.env.values()):
            raise NotCompiled(f"{self.function.__name__}() reads an array behind a call of itself that it had before", call)
        low.flow_to(key)
        low.env = kept
        limit = sys.getrecursionlimit()
        if low.facts.limit != limit:
            low.facts.limit, low.facts.changed = limit, True
        low.fail_if(p.apply("greater_equal", p.get(self.depth), low.number(limit)), _too_deep, call)
        self.push(behind, low.state_at(key))
        p.set(self.depth, p.apply("add", p.get(self.depth), low.one))
        self.copy.forget(low)
        low.env |= self.invariant
        for n, v in given.items():
            low.assign(n, v)
        self.go_to(self.blocks.starts[self.called(call)])

    def own_names(self):
        return {k for k in self.low.env if k.startswith(self.prefix + _LOCAL)}

    def words(self, saved):
        """Variables of a frame of the stack, and the dtype of each."""
        low = self.low
        for k, b in sorted(saved.items()):
            if is_paired(b.type.dtype):
                raise NotCompiled("a function that calls itself has complex numbers", self.key[0])
            yield low.local(k, b.type), b.type.dtype, "float64" if b.type.kind == "f" else "int64"
            if k in low.facts.tagged:
                yield low.tag(k), "int64", "int64"

    def push(self, b, saved):
        low, p = self.low, self.low.p
        words = [*self.words(saved)]
        top = self.stack.length
        end = p.apply("add", top, low.number(len(words) + 1))
        self.stack.reserve(end, self.key[0])
        for n, (local, dtype, word) in enumerate(words):
            v = p.get(local)
            p.store(low.heap(word), self.stack._place(p.apply("add", top, low.number(n))), v if dtype == word else p.cast(v, word))
        p.store(low.heap("int64"), self.stack._place(p.apply("add", top, low.number(len(words)))), low.number(self.numbers[b]))
        p.set(self.stack.count, end)

    def pop(self, b, saved):
        low, p = self.low, self.low.p
        words = [*self.words(saved)]
        top = p.apply("subtract", self.stack.length, low.number(len(words) + 1))
        for n, (local, dtype, word) in enumerate(words):
            v = p.load(low.heap(word), self.stack._place(p.apply("add", top, low.number(n))), word)
            v = v if p.type(v) == word else p.cast(v, word)
            p.set(local, v if dtype == word else p.apply("not_equal", v, low.zero) if dtype == "bool" else p.cast(v, dtype))
        p.set(self.stack.count, top)

    def take(self, lowering, value, node):
        """A return: to the block behind the call."""
        low, p = lowering, lowering.p
        parts = value if type(value) is list else [] if value is None else [value]
        if not all(isinstance(x, Value) for x in parts):
            raise NotCompiled("a function that calls itself returns what is neither a number nor a tuple of numbers", node)
        shape = len(parts) if type(value) is list else None if value is None else -1
        if low.facts.said.setdefault((self, "shape"), shape) != shape:
            raise NotCompiled("returns of several kinds", node)
        self.shape = shape
        for n, x in enumerate(parts):
            low.assign(f"{self.prefix}return {n}", x)
        self.flow((self, "returned"), {f"{self.prefix}return {n}" for n in range(len(parts))})
        p.break_(self.out, low.same(p.get(self.depth), 0))
        p.set(self.depth, p.apply("subtract", p.get(self.depth), low.one))
        last = self.stack._place(p.apply("subtract", self.stack.length, low.one))
        v = p.load(low.heap("int64"), last, "int64")
        p.set(self.pc, v if p.type(v) == "int64" else p.cast(v, "int64"))
        p.break_(self.again)
        low.env = None

    def value(self, lowering, node):
        return self.result(lowering.facts.said[self, "shape"])

    def result(self, shape):
        """What a call has given: nothing, a number, or the parts of a tuple."""
        read = lambda n: self.low.read(f"{self.prefix}return {n}", self.key[0])  # noqa: E731
        return None if shape is None else read(0) if shape == -1 else [read(n) for n in range(shape)]


def call(lowering, function, given, named, node):
    """What a call of a function gives that calls itself."""
    facts = lowering.facts
    key = "recursive", node
    copy = facts.inlined.get(key)
    if copy is None:
        copy = facts.inlined[key] = Copy(function, len(facts.inlined), node)
    copy.arguments(lowering, given, named, node)
    others = facts.groups.get(function, ())
    machine = facts.said.get((key, len(others)))
    if machine is None:
        machine = facts.said[key, len(others)] = Machine(lowering, function, copy, others, node)
    machine.function = function
    loops, lowering.loops = lowering.loops, []
    lowering.frames.append(machine)
    effects = lowering.effects
    try:
        machine.run(lowering)
    finally:  # as nothing may have been returned yet, which the statement around it heeds
        lowering.frames.pop()
        lowering.loops = loops
    if lowering.effects != effects and lowering.doing is not None:
        facts.add(facts.changing, None, lowering.doing.statement)
    return machine.value(lowering, node)


def _too_deep(*_):
    raise RecursionError("maximum recursion depth exceeded")
