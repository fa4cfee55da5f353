"""Statements of a compiled loop, as they are lowered."""

import ast

from . import lists_in_lists, objects, printing, records
from .by_python import Doing, is_rare
from .carried import Carried, CarriedList, exchanged
from .element_loops import ORIGIN, is_plain
from .expressions import Expressions, Value
from .growing import Growing, added, of_parts
from .grown_texts import CarriedText, Joined, carry
from .heeding import ignored_by
from .iteration import iterate
from .leaves import Leaves
from .leaving import leave
from .list_views import ListView, TupleView, grown
from .made import materialised
from .matching import as_ifs, capture
from .over import is_range
from .passes import Again, Nothing
from .table_methods import delete
from .tables import Table
from .texts import as_word, is_long
from .trees import names
from .trying import tried
from .types import BOOL, INT, CallsItself, NotCompiled, SameAs, joined
from .values import Bound, Listed, kinds_of
from .views import Vector, View
from .words import as_value, told_apart


class Statements(Expressions):
    """Of a Lowering, which has the procedure `p` and variables."""

    def block(self, statements):
        for s in statements:
            if self.env is None:
                return
            self.statements += 1
            own = self.is_own(s)
            if own:
                self.doing = Doing(s, False, self.changes)
            try:
                self.leave(s) if s in self.facts.left else self.statement(s)
            except Nothing:
                self.env = None
            except NotCompiled as e:
                if own and s not in self.facts.left and not isinstance(e, (Again, CallsItself)) and is_rare(self.parents, s, self.top):
                    self.facts.left[s] = e
                    self.facts.changed = True
                    raise Again("a statement is left to Python", s) from e
                raise
            if own:
                self.doing = Doing(s, True, self.changes)

    def is_own(self, s):
        """Whether a statement is one of the loop's own, and of no function that it calls."""
        return len(self.frames) == 1 and (s in self.parents or s is self.top)

    @property
    def changes(self):
        return self.effects + self.assigned

    def leave(self, s):
        """A statement that Python does."""
        way = self.resumption(str(self.facts.left[s]))
        if way is None:
            raise self.facts.left[s]
        self.fails(way, s)
        self.env = None

    def keeps(self, loop, *ends):
        """The range of a loop, where it is told."""
        if loop in self.facts.positions:
            for local, v in zip(self.position(loop)[1], ends):
                self.p.set(local, v.id)

    def position(self, loop):
        """Variables that say how many iterations of a loop are done, and what its range is."""
        if loop not in self.at_positions:
            ends = [self.variable("int64") for _ in range(3)] if is_range(loop.iter) or loop is self.top else []
            self.at_positions[loop] = self.variable("int64"), ends
        return self.at_positions[loop]

    def statement(self, s):
        how = getattr(self, "do_" + type(s).__name__, None)
        if how is None:
            raise NotCompiled(f"{type(s).__name__.lower()} statements are Python's", s)
        how(s)

    def do_Appended(self, s):
        s.to.append(self.evaluate(s.item), s)

    def do_Element(self, s):
        value, p = self.a_number(as_word(self, self.evaluate(s.item), s), s), self.p
        known = self.facts.elements
        met = (value.type, kinds_of(value)) if known is None else (joined(known[0], value.type), known[1] | kinds_of(value))
        if met != known:
            self.facts.elements, self.facts.changed = met, True
        alone = is_plain(self.top)
        if alone:
            at = p.apply("subtract", self.at.id, self.read(ORIGIN, s).id)
            at = p.apply("floor_divide", at, self.step.id) if not (self.step.known and self.step.literal == 1) else at
        else:
            at = p.get(self.count)
            p.begin_if(p.apply("less", at, self.outs[0].dims[0][0]))
        for out, v in zip(self.outs, (lambda: self.held_as(value, met[0], s), lambda: self.tag_number(value))):
            p.store(out.buffer, p.apply("multiply", at, out.dims[0][1]), v())
            self.touched.setdefault(out.slot, set()).add((0, 0) if alone else None)
        if not alone:
            p.end()
        p.set(self.count, p.apply("add", p.get(self.count), self.one))

    def do_Extreme(self, s):
        s.do(self)

    def do_Pass(self, s):
        pass

    do_Nonlocal = do_Rebound = do_Pass

    def do_Expr(self, s):
        if not isinstance(s.value, ast.Constant):
            self.unused = s.value
            self.evaluate(s.value)

    def do_Raise(self, s):
        if s.exc is None:
            raise NotCompiled("an error is raised again", s)
        leave(self, s)
        self.env = None

    def do_Assert(self, s):
        if not __debug__:
            return
        self.p.begin_if(self.negated(self.condition(s.test)))
        leave(self, self.facts.once(_failed_assertion, s))
        self.p.end()

    def do_Try(self, s):
        tried(self, s)

    def do_With(self, s):
        ignored = self.ignored
        for item in s.items:
            self.ignored = ignored_by(self, item, self.ignored)
        self.block(s.body)
        self.ignored = ignored

    def do_Match(self, s):
        self.subjects[s] = self.settled(self.evaluate(s.subject), s)
        self.block(self.facts.once(as_ifs, s))

    def do_Captured(self, s):
        capture(self, s.pattern, self.subjects[s.of])

    def do_Delete(self, s):
        for target in s.targets:
            delete(self, target)

    def do_Assign(self, s):
        value = self.evaluate(s.value)
        if len(s.targets) > 1 or isinstance(value, list) and not isinstance(value, Listed):
            value = self.settled(value, s)
        if len(s.targets) > 1 and isinstance(value, Growing) and any(n in self.carried for n in names(s, ast.Store)):
            raise NotCompiled("a list gets several names, of which one is carried over iterations", s)
        moves = self.liveness.moves.get(s) if len(s.targets) == 1 else None
        self.live = moves if moves is None else moves | objects.attributes(self.inputs)  # which are read at any time
        for target in s.targets:
            self.store(target, value)
        self.live = None

    def settled(self, value, node):
        """What several targets get: arrays and lists that are there."""
        if isinstance(value, Vector):
            return materialised(self, value, node)
        if isinstance(value, Listed):
            return of_parts(self, value, node)
        if isinstance(value, View):
            value.site = None
        return [self.settled(x, node) for x in value] if isinstance(value, list) else value

    def do_AnnAssign(self, s):
        if s.value is not None:
            self.store(s.target, self.evaluate(s.value))

    def do_AugAssign(self, s):
        target = s.target
        if isinstance(target, ast.Name):
            held = self.env.get(target.id)
            held = held.view(s) if isinstance(held, Carried) else held
            if isinstance(held, CarriedText):
                return held.assign(self.binary(s.op, self.read(target.id, target), self.evaluate(s.value), s), s)
            if is_long(held) or held is None and target.id in self.arrays and self.inputs[target.id].of == "str":
                carry(self, target.id, s)
            held = held.now() if isinstance(held, lists_in_lists.Named) else held
            self.grows(held, s)
            if isinstance(held, Growing) and isinstance(s.op, ast.Add):
                return added(self, held, self.evaluate(s.value), s)
            if isinstance(held, View) and not held.scalar:
                return self.put(held, self.binary(s.op, held.vector(), self.evaluate(s.value), s), s)
            if not self.is_variable(held):
                raise NotCompiled("an array that changes as a whole", s)
            old, by = self.evaluate(target), self.evaluate(s.value)
            if target.id in self.counters and isinstance(old, Value) and old.type == by.type == INT and len(old.kinds) <= 1:
                fn = "add" if isinstance(s.op, ast.Add) else "subtract"
                return self.store(target, Value(INT, self.p.apply(fn, old.id, by.id)))
            return self.store(target, self.binary(s.op, old, by, s))
        if isinstance(target, ast.Attribute):
            return objects.augment(self, s)
        place = self.place(ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target))  # which is read first
        self.grows(place, s)
        old = place.load() if place.scalar else place.vector()
        if isinstance(old, Growing) and isinstance(s.op, ast.Add):
            return added(self, old, self.evaluate(s.value), s)
        self.put(place, self.binary(s.op, old, self.evaluate(s.value), s), s)

    def grows(self, held, s):
        """A list from before the loop gets the elements of another one."""
        if isinstance(held, ListView) and not isinstance(held, TupleView) and not held.scalar and isinstance(s.op, ast.Add):
            grown(self, held, s)

    def store(self, target, value):
        if value is None or isinstance(value, str):
            value = as_value(self, value)
        if isinstance(target, ast.Name):
            if isinstance(same := self.env.get(target.id), SameAs) or "|" in target.id:
                self.rebind(same, value, target)
            elif target.id in self.carried:
                self.carried[target.id].assign(value, target)
            elif isinstance(value, Joined) or is_long(value) and (isinstance(value, CarriedText) or target.id in self.facts.behind or target.id in self.arrays):
                carry(self, target.id, target)
            elif isinstance(value, lists_in_lists.Boxed):
                self.facts.add(self.facts.views, None, target.id)
                self.env[target.id] = lists_in_lists.named(self, target.id, value, target)
            elif target.id in self.facts.named_lists:
                raise NotCompiled(f"{target.id} is an element of a list here and something else there", target)
            elif isinstance(value, Value):
                self.assign(target.id, value)
            elif isinstance(value, (View, Vector)) and (target.id in self.facts.behind or target.id in self.arrays):
                if isinstance(value, ListView):
                    raise NotCompiled(f"{target.id} becomes a list, which may be read behind the loop", target)
                value = materialised(self, value, target) if isinstance(value, Vector) else value
                self.carry(target.id, value.dtype, len(value.dims))
            elif isinstance(value, (Growing, Listed)) and (target.id in self.facts.behind or target.id in self.arrays):
                self.carry_list(target.id, target)
            elif isinstance(value, Table) and target.id in self.facts.behind:
                raise NotCompiled(f"{target.id} becomes a dict or a set, which may be read behind the loop", target)
            elif isinstance(value, list) and not isinstance(value, Listed) and target.id not in self.facts.behind:
                self.facts.add(self.facts.views, None, target.id)
                self.env[target.id] = [materialised(self, x, target) if isinstance(x, Vector) else x for x in value]
            elif isinstance(value, (Growing, Listed)):
                self.facts.add(self.facts.views, None, target.id)
                self.env[target.id] = value if isinstance(value, Growing) else of_parts(self, value, target)
            elif isinstance(value, objects.Instance) and (target.id in self.facts.behind or target.id in self.inputs):
                raise NotCompiled(f"{target.id} becomes another object", target)
            elif isinstance(value, printing.Made) and target.id not in self.facts.behind and target.id not in self.inputs:
                self.facts.add(self.facts.views, None, target.id)
                self.env[target.id] = printing.kept(value, target)
            elif isinstance(value, records.Record) and target.id not in self.facts.behind and target.id not in self.inputs:
                self.facts.add(self.facts.views, None, target.id)
                self.env[target.id] = value
            elif isinstance(value, (Table, objects.Instance)) or isinstance(value, View) and not value.scalar:
                self.facts.add(self.facts.views, None, target.id)
                self.env[target.id] = value
            elif isinstance(value, Vector):
                self.env[target.id] = materialised(self, value, target)
                self.facts.add(self.facts.views, None, target.id)
            else:
                raise NotCompiled(f"{target.id} becomes what is neither a number nor a part of an array", target)
        elif isinstance(target, (ast.Tuple, ast.List)):
            if any(isinstance(t, ast.Starred) for t in target.elts):
                return self.store_starred(target, value)
            parts = self.parts(value, len(target.elts), target)
            if self.carried and exchanged(self, target.elts, parts):
                return
            gets = {f"carried {t.id}" for t in target.elts if isinstance(t, ast.Name) and t.id in self.carried}
            if any(isinstance(x, View) and x.slot in gets and t is not target.elts[0] for t, x in zip(target.elts, parts)):
                raise NotCompiled("variables that get parts of each other's arrays", target)
            for t, part in zip(target.elts, parts):
                self.store(t, part)
        elif isinstance(target, ast.Subscript):
            value, place = self.in_order(target, lambda: value, lambda: self.place(target))
            self.put(place, value, target)
        else:
            objects.store(self, target, value)

    def rebind(self, same, value, target):
        """Of a function that the loop calls: a variable of the loop's, of another function."""
        if not isinstance(same, SameAs) or not isinstance(value, Value) or self.perhaps:
            raise NotCompiled("a nonlocal variable is set that is no number of the loop's", target)
        self.effects += 1
        self.assign(same.name, value)

    def store_starred(self, target, value):
        """a, *b = c"""
        at = next(k for k, t in enumerate(target.elts) if isinstance(t, ast.Starred))
        behind = len(target.elts) - at - 1
        if not isinstance(value, list) or len(value) < at + behind:
            raise NotCompiled("a starred target of what has no known number of parts", target)
        end = len(value) - behind
        for t, part in zip(target.elts, [*value[:at], Listed(value[at:end]), *value[end:]]):
            self.store(t.value if isinstance(t, ast.Starred) else t, part)

    def do_If(self, s):
        known, condition = self.decides(s.test)
        if known is not None:
            return self.block(s.body if known else s.orelse)
        start, key, doing = dict(self.env), (s, "if"), self.doing
        self.p.begin_if(condition)
        present, absent = told_apart(self, s.test)
        self.env |= present
        self.block(s.body)
        self.flow_to(key)
        ends = [self.env]
        self.env = dict(start)
        if s.orelse or self.differs(start, key):
            self.p.otherwise()
            self.unsure()
            self.doing = doing if s.orelse else self.doing
            self.is_behind(s, s.orelse)
            self.env |= absent
            self.block(s.orelse)
            self.flow_to(key)
        else:
            self.is_behind(s)
            self.env |= absent
            self.flow_to(key)
        ends.append(self.env)
        self.p.end()
        alive = [e for e in ends if e is not None]
        if not alive:
            self.env = None
            return
        self.meet(key, {k: b for k, b in start.items() if all(e.get(k) is b for e in alive)})

    def is_behind(self, s, otherwise=()):
        """What is lowered next is behind a statement, where nothing else of it is to be done."""
        if self.is_own(s) and not otherwise:
            self.doing = Doing(s, True, self.changes)

    def differs(self, env, key):
        """Whether a variable changes its storage where the ways of an `if` without `else` meet."""
        known = self.facts.merges.get(key, {})
        return any(isinstance(b, Bound) and k in known and known[k].type.dtype != b.type.dtype for k, b in env.items())

    def do_While(self, s):
        self.loop(s, None, None)

    def do_For(self, s):
        iterate(self, s)

    def counted(self, s, start, stop, step):
        """A loop over range(start, stop, step), Values of Python's int."""
        self.keeps(s, start, stop, step)

        def bind(i):
            number = self.whole("add", start, self.whole("multiply", Value(INT, i), step))
            if s is self.top:
                self.at = number
            self.store(s.target, number)

        self.loop(s, self.trips(start, stop, step, s), bind)

    def loop(self, s, trips, bind):
        has = self.facts.once(Leaves, s)
        others = self.facts.stored_by_python(s)
        before = self.env
        lists, self.gone_over = self.gone_over, []
        outer = self.p.begin_if(None) if has.breaks else None
        self.flow_to((s, "head"))
        arrays = {k: b for k, b in before.items() if isinstance(b, (Carried, CarriedList)) or k in others or k not in (has.bound if isinstance(b, (View, Growing)) else has.stored)}
        for k, b in before.items():
            if isinstance(b, lists_in_lists.Named) and k in has.bound:  # which has another list then, of an iteration before
                arrays[k] = b
                self.facts.add(self.facts.outlives, None, b.group)
        self.meet((s, "head"), arrays)
        if trips is not None:
            number, i = self.p.begin_count(self.zero, trips)
            self.nested.begins(s, number)
            if s in self.facts.positions:
                self.p.set(self.position(s)[0], i)
                if s is self.top and self.made:
                    self.p.set(self.begun, self.p.get(self.count))
            if self.is_own(s):
                self.doing = None
            bind(i)
            test = None
        else:
            if self.is_own(s):
                self.doing = Doing(s, False, self.changes)
            repeat = self.p.begin_repeat()
            test = self.condition(s.test)
            self.p.break_(repeat, self.negated(test))
        inner = self.p.begin_if(None) if has.continues else None
        self.loops.append((s, outer, inner))
        for x in lists:
            x.iterated += 1
        self.block(s.body)
        for x in lists:
            x.iterated -= 1
        self.loops.pop()
        self.flow_to((s, "head"))
        if inner is not None:
            self.p.end()
        self.p.end()
        self.meet((s, "head"), arrays)
        self.is_behind(s, s.orelse)
        self.block(s.orelse)
        if outer is None:
            return
        self.flow_to((s, "exit"))
        self.p.end()
        self.meet((s, "exit"), arrays)

    def do_Break(self, s):
        loop, outer, _ = self.loops[-1]
        self.flow_to((loop, "exit"))
        self.p.break_(outer)
        self.env = None

    def do_Continue(self, s):
        loop, _, inner = self.loops[-1]
        self.flow_to((loop, "head"))
        self.p.break_(inner)
        self.env = None

    def do_Return(self, s):
        value = self.evaluate(s.value) if s.value is not None else None
        if len(self.frames) == 1:
            self.facts.add(self.facts.tagged, None, "return")
            self.assign("return", Value(BOOL, self.p.const("bool", True)))
        self.frames[-1].take(self, value, s)


def _failed_assertion(s):
    error = ast.copy_location(ast.Call(ast.copy_location(ast.Name("AssertionError", ast.Load()), s), [s.msg] if s.msg is not None else [], []), s)
    return ast.copy_location(ast.Raise(error, None), s)
