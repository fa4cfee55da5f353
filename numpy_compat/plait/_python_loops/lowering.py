"""A Python loop as a sequential kernel. The types of variables are Python's and NumPy's as they are at each point; where ways through the
source meet, a variable has the type that holds either, and a tag says which it is. They are found by lowering with a builder that keeps
dtypes alone, until nothing changes."""

import ast

from .._plait import Procedure
from .complexes import Pairs
from .comprehensions import stored
from .dry import DryProcedure
from .draws import Generator
from .inlining import Frame
from .iteration import begin
from . import list_parts, lists_in_lists, objects, records, recursion
from .nested import Places, inside_of
from .sharing import counter_of
from .pythons_draws import PythonsGenerator
from .trees import nodes
from .types import ArrayType, Drawing, INT, NONE, NotCompiled, Scalar
from .by_python import parents
from .carried import Carried, CarriedList
from .deques import empty
from .element_loops import ELEMENTS, TAGS, Element
from .facts import Facts
from .given_lists import given as given_list
from .grown_texts import CarriedText
from .list_views import ListView
from .passes import Again
from .resuming import Told, resumption
from .selected import selected, selects
from .statements import Statements
from .tables import Table
from .texts import as_word
from .values import Bound, Value
from .variables import Variables
from .words import Given

PASSES = 12  # types only widen; what has not settled by then does not


class Lowering(Variables, Statements):
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
