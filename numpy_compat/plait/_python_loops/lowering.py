"""A Python loop as a sequential kernel: statements. The types of variables are Python's and NumPy's as they are at each point; where ways through the
source meet, a variable has the type that holds either, and a tag says which it is. They are found by lowering with a builder that keeps
dtypes alone, until nothing changes."""

import ast

from .._plait import Procedure
from .complexes import Pairs
from .comprehensions import stored
from .dry import DryProcedure
from .draws import Generator
from .expressions import Expressions, Value
from .inlining import Frame
from .iteration import begin, iterate
from . import list_parts, lists_in_lists, objects, printing, records, recursion
from .heeding import ignored_by
from .leaving import leave
from .nested import Places, inside_of
from .sharing import counter_of
from .pythons_draws import PythonsGenerator
from .trees import names, nodes
from .types import ArrayType, BOOL, CallsItself, Drawing, INT, NONE, NotCompiled, SameAs, Scalar, is_time, joined
from .by_python import Doing, is_rare, parents
from .carried import Carried, CarriedList, exchanged
from .deques import empty
from .element_loops import ELEMENTS, ORIGIN, TAGS, Element, is_plain
from .given_lists import given as given_list
from .grown_texts import CarriedText, Joined, carry
from .growing import Growing, added, of_parts
from .leaves import Leaves
from .liveness import Liveness
from .made import materialised
from .matching import as_ifs, capture
from .over import is_range
from .passes import Again, Nothing
from .resuming import Told, resumption
from .selected import selected, selects
from .tables import Table, delete
from .texts import as_word, is_long
from .trying import tried
from .values import Bound, Listed, kinds_of
from .views import ListView, TupleView, Vector, View, grown
from .words import Given, as_value, told_apart

PASSES = 12  # types only widen; what has not settled by then does not


class Facts:
    """What passes over one loop have found. behind: names that are read outside of it, which alone it gives back, with those that it begins with."""

    def __init__(self, behind):
        self.behind, self.views = {*behind}, set()  # and names that become parts of arrays
        self.merges = {}  # where ways meet -> name -> Bound
        self.tagged = set()  # names whose type or binding the machine code has to know
        self.written = set()  # slots of arrays that are stored to
        self.inlined = {}  # calls of Python functions -> the statements that stand for them
        self.apart = set()  # pairs of slots: elements are stored to the one before all were read from the other that NumPy reads first
        self.elements = None  # of a comprehension: the Scalar that holds any of them, and the types that they have
        self.told = []  # dtypes of numbers that statements which raise errors are told, numbered
        self.left = {}  # statements that Python does -> why
        self.positions = set()  # loops of which it is told how far they are
        self.changing = set()  # statements that call functions which change something
        self.carried = {}  # names that stand for several arrays -> dtype and number of axes
        self.carried_texts = set()  # names of texts that grow
        self.carried_lists = set()  # names that stand for several lists
        self.draws, self.arguments = False, []  # whether random numbers are drawn; addresses of what does
        self.prints = False  # whether something is
        self.eager = set()  # nodes whose first operands are arrays that are computed before others, which change what they read
        self.attributes = []  # of modules and classes: what the code takes for constants
        self.recursive, self.limit = set(), None  # functions that call themselves; how deep they may
        self.groups = {}  # of those, the ones by way of which they do
        self.cells = {}  # attributes of objects that are set -> the types of the numbers that they get, none of an array or a list
        self.wholes = set()  # slots of arrays that are computed as a whole
        self.multiplied = set()  # of those the ones that are factors of products of matrices
        self.mutated = set()  # slots of the loop's own arrays whose elements are set
        self.growing = []  # names of lists that the loop is given and changes in length, or that have tuples
        self.changed_lists = set()  # of those the ones that it does change
        self.lists = []  # nodes at which lists are made
        self.boxed = []  # of those the ones whose lists are elements of others (lists_in_lists.py)
        self.groups = {}  # groups of such lists -> the ones with which they are one
        self.holders = set()  # such groups, what has lists of theirs, and whether those are made behind that
        self.named_lists, self.outlives = set(), set()  # names of variables that stand for such lists; groups of which one may stand for a list of an iteration before
        self.tables = []  # nodes at which dicts and sets are made, and of which kind
        self.unknown = self.settled = False  # whether something was read of dicts into which nothing is put, as far as is known; whether that is all
        self.sites = []  # nodes at which arrays are made
        self.defaults = False  # whether one of them has the default dtype
        self.numpys = False  # whether something is computed of NumPy's numbers
        self.optional = set()  # functions, by where their ways meet, that return a number or None
        self.words = False  # whether there are None or texts among its states
        self.changed = False
        self.said = {}

    def all_of(self, slot):
        if slot is not None:
            self.add(self.wholes, None, slot)

    def liveness_of(self, loop):
        return Liveness(loop, self.behind, getattr(loop, "captured", ()))

    def stored_by_python(self, loop):
        """Names that statements alone store to which Python does: to machine code they are what they were before."""
        if not self.left:
            return set()
        left = {n for s in self.left for n in nodes(s)}
        found = [n for n in nodes(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        return {n.id for n in found if n in left}.union(*(names(s, ast.Store) for s in self.left)) - {n.id for n in found if n not in left}

    def once(self, find, tree):
        """What find() says of a tree, which stays the same over the passes."""
        if (find, tree) not in self.said:
            self.said[find, tree] = find(tree)
        return self.said[find, tree]

    def add(self, table, key, value):
        if value not in table:
            table.append(value) if isinstance(table, list) else table.add(value)
            self.changed = True


class Lowering(Expressions):
    """One pass. inputs: name -> Scalar, ArrayType or an object that stays what it is. Of a `for` the first three arguments are what is left of its range, whose
    step may be known."""

    def __init__(self, loop, inputs, facts, procedure, step=None):
        self.p, self.facts, self.top, self.inputs = Pairs(procedure), facts, loop, inputs
        self.stored = {*facts.once(stored, loop)} - facts.stored_by_python(loop)
        self.asked = self.stored & (facts.behind | inputs.keys())
        self.locals, self.tags, self.failures = {}, {}, []
        self.arrays, self.arguments, self.outputs = [], [], []  # names of inputs; names, Scalars and tags of results
        self.statements, self.at = 0, None  # so far; the number of the outermost iteration
        self.counter, self.touched = facts.once(counter_of, loop), {}  # slots of arrays -> the places of an iteration that it reads and writes
        self.nested = Places(facts.once(inside_of, loop))
        self.heaps = {}  # dtypes of arrays that the loop makes -> buffers of theirs
        self.env, self.loops, self.frames, self.cells = {}, [], [], {}
        self.gone_over = []  # lists that the loop which begins goes over
        self.carried = {}
        self.met = set()  # places where ways meet whose state has been asked for
        self.live = None  # of a statement `a = b`, the names that are read behind it
        self.of_arrays = False  # whether elements of arrays are computed, as NumPy does that
        self.unused = None  # the expression of a statement that is nothing else
        self.perhaps = 0  # expressions around the one that is lowered which may be left out
        self.zero, self.one = self.number(0), self.number(1)
        self.warnings, self.heard = [], self.variable("int64")  # texts; a bit for each that was heard
        self.site, self.kept = self.variable("int64"), [self.variable("int64"), self.variable("float64"), self.variable("float64")]
        self.told = [self.variable(dtype) for dtype, _ in facts.told]
        self.made_at = {}  # nodes -> how often in this pass something was made there: each time it is another memory
        self.effects = 0  # places so far at which something changes that an expression may read
        self.tries, self.ignored = [], frozenset()  # the Tries around; kinds of warnings that nobody is to hear
        self.subjects = {}  # of `match`
        self.assigned = 0  # and at which the loop's own variables do
        self.doing = None  # the Doing of the loop's own statement that is lowered
        self.consuming = 0  # generators that loops around what is lowered consume
        self.told_on, self.at_positions = Told(self), {}  # what Python is told to go on; loops -> variables that say how far they are
        self.liveness, self.parents = facts.once(facts.liveness_of, loop), facts.once(parents, loop)
        self.sites = [(self.variable("int64"), self.variable("int64")) for _ in facts.sites]
        self.own_lists = [empty(self, key) for key in facts.lists]
        self.pools = {key: lists_in_lists.Pool(self, key) for key in facts.boxed}
        self.sequence = 0  # lists that were made so far
        self.named_lists, self.boxed_inputs = {}, {}  # names -> the Named; names of lists of lists that it was given -> the groups of those
        self.groups_gone_over, self.groups_changed = {}, {}
        self.own_tables = [Table(self, *made) for made in facts.tables]
        self.lists = []  # names of lists that it was given, and what they are while it runs
        for key in sorted(facts.tagged):
            self.p.set(self.tag(key), self.zero)
        given = [Value(INT, self.p.arg("int64")) for _ in range(3)] if isinstance(loop, ast.For) else None
        if step is not None:
            given[2] = self.literal(step)
        self.objects = {k for k, what in inputs.items() if k in self.stored and not (isinstance(what, Scalar) and not (what == NONE and k in facts.views))}
        self.drawn = {}  # arguments that are addresses: of generators, of functions that draw from them, and of what prints
        self.prints = []  # statements that print
        for key in facts.arguments:
            self.argument(key)
        for key, what in inputs.items():
            if what == NONE and (key in facts.views or key in facts.carried or key in facts.carried_lists):
                self.env[key] = None  # which is no number's name
            elif isinstance(what, Scalar):
                facts.words |= bool(what.object)
                self.arguments.append(key)
                self.assign(key, Value(what, self.p.arg(what.dtype)))
            elif isinstance(what, ArrayType):
                self.env[key] = self.array(key, what)
                if what.shape or "deque" in what.of:
                    facts.add(facts.growing, None, key)
                if what.of == "str" and key in self.stored:
                    facts.add(facts.carried_texts, None, key)
                    facts.add(facts.behind, None, key)
            elif isinstance(what, Drawing):
                self.env[key] = (PythonsGenerator if what.pythons else Generator)(self.argument(key))
            else:
                self.env[key] = records.RecordArray(key, what) if isinstance(what, records.Records) else Given(what, key) if type(what) is str else objects.known(key, what) or self.known(what, loop)
        self.cells = {key: objects.Cell(self, kinds) for key, kinds in facts.cells.items() if kinds}
        self.elements_into(loop, given)
        self.counters = facts.once(counters, loop)
        self.root = self.p.begin_if(None)
        self.frames = [Frame("", self.root, (loop, "root"))]
        self.carried = {key: Carried(self, key, *kind) for key, kind in sorted(facts.carried.items())}
        for key, made in self.carried.items():
            self.begin_carried(key, made)
        for key in sorted(facts.carried_lists):
            made = self.carried[key] = CarriedList(self, key)
            view, self.env[key] = self.env.get(key), made
            if isinstance(view, ListView):
                made.begin(view)
            elif view is None:
                raise NotCompiled(f"{key} becomes a list, which may be read behind the loop", loop)
        for key in sorted(facts.carried_texts):
            made = self.carried[key] = CarriedText(self, key)
            made.begin(self.env.get(key))
            self.env[key] = made
        for key in [k for k in facts.growing if k not in facts.carried_lists]:
            self.env[key] = given_list(self, key, self.env[key])
        if given:
            begin(self, loop, *given)
        else:
            self.do_While(loop)
        self.flow_to((loop, "root"))
        self.p.end()
        self.meet((loop, "root"), {})
        self.finish()

    def begin_carried(self, key, made):
        """The variable with the array that the loop is given, which nothing else has a part of."""
        view, self.env[key] = self.env.get(key), made
        if isinstance(self.inputs.get(key), Scalar):
            raise NotCompiled(f"{key} is a number here and an array there", self.top)
        if not isinstance(view, View):
            return
        made.begin(view, self.p.address(view.buffer))
        for slot in range(len(self.arrays)):
            if slot != view.slot:
                self.facts.add(self.facts.apart, None, (view.slot, slot))
        if any(x.slot in self.facts.mutated for x in self.carried.values()):
            self.facts.add(self.facts.written, None, view.slot)

    def carry(self, key, dtype, ndim):
        """A name stands for one array after the other."""
        if is_time(dtype):
            raise NotCompiled(f"{key} becomes an array of times, which may be read behind the loop, or in the next iteration")
        self.facts.carried[key] = dtype, ndim
        self.facts.changed = True
        raise Again("an array is carried over iterations")

    def argument(self, key):
        """An address that a run is given."""
        if key not in self.drawn:
            self.arguments.append(key)
            self.drawn[key] = self.p.arg("int64")
            if key.startswith("."):
                self.facts.add(self.facts.arguments, None, key)
        return self.drawn[key]

    def carry_list(self, key, node):
        if key in self.arrays and self.inputs[key].of == "str":
            carry(self, key, node)
        if key not in self.arrays or self.inputs[key].of in ("tuple", "bytes", "list of lists", "deque", "empty deque") or key in self.facts.changed_lists:
            raise NotCompiled(f"{key} becomes a list, which may be read behind the loop", node)
        self.facts.add(self.facts.carried_lists, None, key)
        raise Again("a list is carried over iterations")

    def unsure(self):
        """Ways meet, or another one begins: lists that variables stand for may be those from before the loop again."""
        for x in self.carried.values():
            if isinstance(x, CarriedList):
                x.is_new = False

    def unbound(self, key):
        _unbound(key)

    def heap(self, dtype):
        if dtype not in self.heaps:
            self.heaps[dtype] = self.p.heap(dtype)
        return self.heaps[dtype]

    def list_of(self, node):
        """The list that is made there."""
        key = node, self.made_at.get(node, 0)
        self.made_at[node] = key[1] + 1
        self.sequence += 1
        if key in self.facts.boxed:
            return lists_in_lists.empty(self, key, getattr(node, "node", node))
        if key not in self.facts.lists:
            self.facts.add(self.facts.lists, None, key)
            self.own_lists.append(empty(self, key))
        found = self.own_lists[self.facts.lists.index(key)]
        found.sequence = self.sequence
        return found

    def new_list(self, node):
        """An empty list, of a statement that has made others before which nobody has any more."""
        found = self.list_of(node)
        found.clear()
        if type(found) is Growing and self.pools:
            lists_in_lists.forget(self, found)
        return found

    # What modules ask for that those here import.

    def boxed(self, holder, value, node):
        return lists_in_lists.head_of(self, holder, value, node)

    def part_of_list(self, a, node):
        return list_parts.part(self, a, node)

    def selected(self, view, parts, node):
        """What an index of an array names that has arrays among its parts; None of any other one."""
        return selected(view, self, parts, node) if any(map(selects, parts)) else None

    def as_word(self, x, node):
        return as_word(self, x, node)

    def recursive_call(self, function, given, named, node):
        return recursion.call(self, function, given, named, node)

    def resumption(self, *why):
        """How Python goes on with what is lowered now; None where it cannot."""
        return resumption(self, *why)

    def memory_at(self, node):
        """Variables for the address and the size of the memory of an array that is made there, and the array's slot."""
        key = node, self.made_at.get(node, 0)
        self.made_at[node] = key[1] + 1
        if key not in self.facts.sites:
            self.facts.add(self.facts.sites, None, key)
            self.sites.append((self.variable("int64"), self.variable("int64")))
        at = self.facts.sites.index(key)
        return *self.sites[at], f"made {at}"

    def elements_into(self, loop, given):
        """Arrays for the elements of a comprehension, and how many there are."""
        self.made, self.outs, self.step = [], [], given and given[2]
        if not self.facts.once(_makes_elements, loop):
            return
        t, kinds = self.facts.elements or (INT, frozenset())
        self.count, self.begun = self.variable("int64"), self.variable("int64")  # elements so far, and where the iteration began
        for key, dtype in ((ELEMENTS, t.dtype), (TAGS, "int64"))[: 1 + (len(kinds) > 1)]:
            self.made.append((key, ArrayType(dtype, 1, True)))
            self.facts.add(self.facts.written, None, len(self.arrays))
            self.outs.append(self.array(*self.made[-1]))

    def number(self, n):
        return self.p.const("int64", n)

    def variable(self, dtype):
        local = self.p.local(dtype)
        self.p.set(local, self.p.const(dtype, 0))
        return local

    def finish(self):
        """What the machine code gives back: the failure, its operands, how many elements there are, and of each variable its value and its tag."""
        if self.made and (self.lists or self.facts.growing or self.facts.cells or self.facts.written - {out.slot for out in self.outs}):
            raise NotCompiled("a comprehension that writes to arrays, or changes lists or dicts", self.top)
        if self.made and self.facts.elements is None:  # as no iteration has one
            self.facts.elements = INT, frozenset({INT})
        if self.made and self.facts.draws:
            raise NotCompiled("a comprehension that draws random numbers", self.top)
        if self.made and self.facts.prints:
            raise NotCompiled("a comprehension that prints", self.top)
        for _, made in self.lists:
            made.ended()
        for local in (self.heard, self.site, *self.kept, *([self.count] if self.made else [])):
            self.p.result(self.p.get(local))
        for key, bound in sorted((self.env or {}).items()):
            if isinstance(bound, Bound) and (key in self.asked or key.startswith("return")):
                tagged = key in self.facts.tagged
                self.p.result(self.p.get(self.local(key, bound.type)))
                if tagged:
                    self.p.result(self.p.get(self.tag(key)))
                self.outputs.append((key, bound.type, tagged))
        self.left = [(key, made) for key, made in self.carried.items() if key in self.asked or key in self.facts.cells]
        for local in (*self.told, *(v for _, made in self.left for v in made.told), *(v for _, made in self.lists for v in (made.address, made.count))):
            self.p.result(self.p.get(local))
        self.told_on.results()
        for cell in self.cells.values():
            self.p.result(self.p.get(cell.held))
            self.p.result(self.p.get(cell.tag))
        if not self.facts.changed and not self.facts.unknown:  # else another pass follows
            self.p.finish()

    # variables

    def local(self, key, t):
        found = self.locals.get((key, t.dtype))
        if found is None:
            found = self.locals[key, t.dtype] = self.p.local(t.dtype)
        return found

    def tag(self, key):
        if key not in self.tags:
            self.tags[key] = self.p.local("int64")
        return self.tags[key]

    def assign(self, key, value):
        t = value.type
        if key in self.facts.views:
            raise NotCompiled(f"{key} is a number here and an array there")
        self.assigned += len(self.frames) == 1 and " " not in key  # which are parameters of a function that is to be called
        self.p.set(self.local(key, t), value.id)
        if value.kinds:
            self.facts.add(self.facts.tagged, None, key)
        if key in self.facts.tagged:
            self.p.set(self.tag(key), self.tag_number(value))
        self.env[key] = Bound(t, False, kinds_of(value))
        if key in self.cells:
            self.cells[key].set(value)

    def read(self, key, node, unbound=None):
        bound = self.env.get(key)
        if isinstance(bound, Carried):
            return bound.view(node)
        if isinstance(bound, CarriedText):
            return bound.read(node)
        if isinstance(bound, lists_in_lists.Named):
            return bound.now()
        if isinstance(bound, SameAs):
            return self.read(bound.name, node, _unbound_outside)
        if not isinstance(bound, Bound):
            if bound is None and key in self.arrays and self.inputs[key].of:
                self.carry_list(key, node)
            if bound is None and key in self.arrays:
                self.carry(key, self.inputs[key].dtype, self.inputs[key].ndim)
            if bound is None and key not in self.env:
                raise NotCompiled(f"{key} is no variable of the loop that has a value here", node)
            return bound
        t, unsure, kinds = bound
        if unsure:
            if key in self.objects:
                raise NotCompiled(f"{key} may still be what it was before the loop, which is no number", node)
            self.facts.add(self.facts.tagged, None, key)
            if key in self.tags:
                self.fail_if(self.same(self.p.get(self.tag(key)), 0), lambda *_: (unbound or _unbound)(key), node)
        return self.one_of(t, self.p.get(self.local(key, t)), kinds, self.tag(key)) if len(kinds) > 1 else Value(t, self.p.get(self.local(key, t)))

    def is_variable(self, x):
        return isinstance(x, (Bound, SameAs))

    def tell(self, v, dtype, used):
        """Keeps a number for a statement that is left to Python: the n-th of its dtype there. Which of the numbers that are told it is."""
        used[dtype] = used.get(dtype, -1) + 1
        kind = dtype, used[dtype]
        if kind not in self.facts.told:
            self.facts.add(self.facts.told, None, kind)
            self.told.append(self.variable(dtype))
        self.p.set(self.told[at := self.facts.told.index(kind)], v)
        return at

    # where ways meet

    def flow_to(self, key):
        """The end of a way that leads there."""
        if self.env is None:
            return
        now = {k: b for k, b in self.env.items() if isinstance(b, Bound)}
        known = self.facts.merges.get(key)
        if known is None:
            self.facts.merges[key] = dict(now)
            self.facts.changed = True
            return
        for k in {**known, **now}:  # in an order that is the same in each process, which the kept code is found by
            a, b = known.get(k), now.get(k)
            if a == b and not a.unsure and len(a.kinds) <= 1:
                continue
            met = Bound(joined(a.type, b.type), a.unsure or b.unsure, a.kinds | b.kinds) if a and b else (a or b)._replace(unsure=True)
            if met != a:
                known[k] = met
                # Of what lies behind, nothing has been lowered without it yet, nor has a way here stored it elsewhere.
                self.facts.changed |= key in self.met or a is not None and met.type.dtype != a.type.dtype
            if met.unsure or len(met.kinds) > 1:
                self.facts.add(self.facts.tagged, None, k)
            if b and met.type.dtype != b.type.dtype:
                self.p.set(self.local(k, met.type), self.held_as(Value(b.type, self.p.get(self.local(k, b.type))), met.type, self.top))

    def state_at(self, key):
        """What has flowed to a place; None where no way leads there. What flows there later asks for another pass."""
        self.met.add(key)
        return self.facts.merges.get(key)

    def meet(self, key, arrays):
        """The state behind: scalars as they flowed there, and the arrays that every way leaves as they were."""
        self.unsure()
        known = self.state_at(key)
        self.env = None if known is None else {k: b for k, b in arrays.items() if not isinstance(b, Bound)} | known

    # statements

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


def counters(loop):
    """Names that step by small constants alone: years pass before an int of 62 bits becomes one of 64."""
    steps, others = set(), set()
    for n in nodes(loop):
        if isinstance(n, ast.AugAssign) and isinstance(n.op, (ast.Add, ast.Sub)) and isinstance(n.target, ast.Name) and _small(n.value):
            steps.add((n.target.id, id(n.target)))
        elif isinstance(n, ast.Assign) and _small(n.value):
            steps.update((t.id, id(t)) for t in n.targets if isinstance(t, ast.Name))
    known = {at for _, at in steps}
    for n in nodes(loop):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) not in known:
            others.add(n.id)
    return {name for name, _ in steps} - others


def _small(node):
    return isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) <= 64


def _makes_elements(loop):
    return any(isinstance(n, Element) for n in nodes(loop))


def _unbound(key):
    key = key.rpartition(".")[2] if " " in key else key  # of a function that the loop calls
    raise UnboundLocalError(f"cannot access local variable '{key}' where it is not associated with a value")


def _unbound_outside(key):
    raise NameError(f"cannot access free variable '{key}' where it is not associated with a value in enclosing scope")


def lowered(loop, inputs, step, behind, name):
    """The Lowering of a loop into a procedure: passes until the types of its variables stay. A pass builds the procedure, too, where it may be the last:
    where the types that it begins with are no types that belong together, one with a builder of dtypes alone goes on."""
    facts, passes, dry, settled = Facts(behind), 0, True, False
    while passes < PASSES + len(facts.left) + 3 * len(facts.boxed):
        passes += 1
        facts.changed = facts.unknown = False
        try:
            made = Lowering(loop, inputs, facts, DryProcedure("types") if dry else Procedure(name), step)
            settled = not facts.changed and not facts.unknown
            if settled and not dry:
                return made
            dry = False
        except Again:
            dry = False
        except (TypeError, ValueError):
            if dry or settled:
                raise
            dry = True
        facts.settled = not facts.changed or facts.settled
    raise NotCompiled("types that do not settle", loop)
