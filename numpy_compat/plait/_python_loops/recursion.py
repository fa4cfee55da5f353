"""Functions of compiled loops that call themselves, or each other. Such a function is taken apart where it does: into blocks, each of which ends with a jump, a branch, a return
or a call. The blocks stand in one loop, which a number leads through. A call keeps what is read behind it, and which block that is, in memory of the run: a stack
of words. Variables of other functions, and attributes, are what the last return has left."""

import ast
import sys

from .blocks import LOCAL, Blocks, live_of
from .growing import Growing
from .inlining import Copy, Frame
from .objects import Instance, method
from .passes import Nothing
from .trees import names
from .types import NotCompiled, is_paired, scalar_of
from .values import Bound, Value
from .views import View


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
        self.live = live_of(self.blocks.all)
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
        return {k for k in self.low.env if k.startswith(self.prefix + LOCAL)}

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
