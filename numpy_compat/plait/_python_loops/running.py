"""When a loop of Python's goes on in machine code, and with what."""

import ast
import builtins
import collections
import contextlib
import enum
import functools
import itertools
import operator
import sys
import time
import types
import warnings

import numpy

from .. import _default_dtype, _plait
from .._functions import MISSING, contents, original
from . import records
from .._plait import lazy_scalar, ndarray
from .._shape import overlap
from .by_python import InPython, Left, Resumption, go_on, on
from .comprehensions import stored
from .draws import address_of, held, is_numpys
from .entries import FACTOR, LARGE, entry_of
from .forgotten import makes_own
from .heeding import KINDS
from .left import Leave
from .over import Over, is_range
from .printing import call_back
from .pythons_draws import is_pythons
from .reading import definition, exposed, outer_name
from .objects import attribute_of, has_attributes, set_back
from .on_device import device_among, found as found_on_device, mixed_up, numbers_of, reals_of
from .listed import are_other_lists, elements_of, extents, give_back, is_table, listed, memory_of, put_back, tabled
from .lists_in_lists import Originals, holds_lists, rows_left
from .sharing import are_apart, own_places, run_shared, why_alone
from .tracebacks import raise_again
from .trees import has_break, nodes
from .types import ALL, ArrayType, Drawing, NotCompiled, NUMPYS, OF_TIMES, Other, SameAs, Scalar, array_type, as_number, is_complex, name, same_as, scalar_of, state_of
from .wanted import CHARACTERS, STATE, Wanted

_FAR = 2**62
UNBOUND = type("unbound", (), {"__repr__": lambda self: "<unbound>"})()
_CONSTANT = str, types.ModuleType, numpy.dtype, SameAs, enum.Enum
_HEARD = {"ignore", "warn"}  # of NumPy's ways to treat errors those that raise nothing
_DTYPES = {numpy.dtype(t.dtype).num: t.dtype for t in NUMPYS}  # not long long, which has the name of another
# Seconds that a loop has taken in Python, or will by what its iterations took so far, before its code is asked for. 0, of tests: at once.
# Of the thread: what others do says nothing of a loop.
WORTH = 2e-3
LONG = 20e-3  # the same of one run of a loop inside another that may be compiled: a shorter one goes over with that, soon
LEAST = 20e-6  # seconds in Python that going over to machine code takes as well
TRIED = 31  # of so many and one calls whose code has no entry (entries.py), one is Python's, and one is not, whichever is faster
SELDOM = 1023  # the same of calls that are AHEAD times as fast in machine code as in Python
AHEAD = 4
SHORT = 1.0  # seconds in Python of a `for` that runs in quick code to its end: less than code of full effort lets wait
PART = 2e-3  # seconds that quick code runs at a time
MUCH = 10e-3  # seconds that it has run before code of full effort is asked for, which other loops' quick code then waits for
MOST = 16  # codes of a loop
ROUNDS, LONGEST = 10, 1 << 16  # rounds without gain until a loop sleeps, and as many for a start; rounds that it sleeps at most
DROWSY, DEEP = 64, 4096  # rounds of sleep from which it leaves the function's code when the jitted call ends, and at once
GAVE_UP = 4  # rounds that one counts for in which machine code was asked for, and cannot be
WAITING = 1 << 60  # rounds of a loop that another one around it wakes
GOES_OVER = "it goes over what is neither a range nor arrays and lists of numbers"
CELLS = ".cells"  # a function that has the cells of the variables that others read
HEAD = 5  # results that are no variables: what was heard, and the failure


class Loop(_plait.LoopCall):
    """One loop of a function. Called where it begins; end() runs what is left of it. Both are LoopCall's, which runs code that has an entry for the
    variables (entries.py), and asks begin() and ended() else."""

    unbound, forever = UNBOUND, itertools.repeat(None)
    depth = 2  # frames from a Rest that begins to the function
    parameters, parts, single = (), (), False  # of a function as a whole (whole.py)

    def __init__(self, source, function, scope, cells, behind):
        self.source, self.scope, self.cells, self.behind = source, scope, cells, behind
        self.in_python = InPython(self, function)
        self.text = ast.unparse(getattr(source, "shown", source)).splitlines()[0]
        self.over = None  # of a `for` over no range
        if isinstance(source, ast.For) and not is_range(source.iter):
            self.over = source.over = Over(source.iter)
            source.iter = self.over.iter
        self.where = function.__code__.co_filename, source.lineno, function.__qualname__
        self.stored = sorted({*stored(source)})
        self.captured = getattr(source, "captured", frozenset())
        self.returns = any(isinstance(n, ast.Return) for n in nodes(source))
        self.forms = {}  # of texts and None among its inputs that are no constants to its codes: what they are
        self.paths = {}  # the attributes of objects that its codes have asked for, by their names among the inputs
        self.refuses = False  # what it goes over
        self.outer, self.stays = None, False  # the loop around it that may be compiled; whether this one was not, when it was looked at last
        self.inner = []  # the loops inside that are asked next
        self.own = self.versions = None  # its name in its function's code; that function's codes
        self.sleeps = False  # it is to be as the source has it
        self.idle, self.nap, self.long = 0, 0, 0  # rounds without gain in a row; rounds that it slept last; rounds in a row that took long
        self.since, self.ran = 0, 0  # the jitted call since which it is idle; runs of its codes when there was no gain last
        self.codes, self.by_python = {}, False  # whether one of them has no entry
        self.cost = 0.0  # of an iteration of such a one, as `each` is in Python
        self.seconds = 0.0  # in Python, of all calls
        self.each = 0.0  # of an iteration; of a `while`, of all that a call makes. LoopCall's
        self.calls = 0

    @functools.cached_property
    def divisible(self):
        """Whether iterations in two runs are the same as in one, whatever they do."""
        s = self.source
        return isinstance(s, ast.For) and not self.returns and not s.orelse and not has_break(s.body)

    @functools.cached_property
    def names(self):
        range_ = {*nodes(self.source.iter)} if isinstance(self.source, ast.For) and self.over is None else set()
        inside = {n.id for n in nodes(self.source) if isinstance(n, ast.Name) and n not in range_}
        # What is stored before it is read is none of the code's inputs: of whatever type it was, the code is the same.
        return sorted(inside - (set(self.stored) - exposed(self.source)))

    def positions(self, *parts):
        """The numbers of the items of what a loop goes over; of what machine code does not go over, none."""
        count = self.over.count(parts)
        return () if count is None else range(count)

    def begin(self, numbers=None, items=MISSING, given=()):
        """What a loop iterates over: a Rest, or its range where that is as good. given: the parts of what a comprehension goes over, which are no variables
        of its own."""
        if items is MISSING:
            items = self.forever if numbers is None else numbers
        if numbers is not None and not _counts(numbers):
            if self.over is not None:
                self.refused()
            return items
        if sys._getframe(self.depth - 1).f_globals is not self.scope:
            self.scope.sync()  # a direct call (direct.py), in which nobody has
        self.calls += 1
        waits = self.waits
        if sys.gettrace() is not None or (waits and not WORTH):
            return items
        expected = self.each * (1 if numbers is None else len(numbers))
        if 0 < expected < LEAST and WORTH and self.calls & 63 and self.idle != ROUNDS - 1:
            self.idled()
            return items
        if self.by_python and WORTH and not waits and self.each:
            cost = self.cost * (1 if numbers is None else len(numbers))
            if self.calls & (SELDOM if 0 < AHEAD * cost < expected else TRIED) == 0:
                return Rest(self, numbers, items, {}, measured=True)
            if self.calls & TRIED != TRIED // 2 and cost > expected:
                return items
        return Rest(self, numbers, items, dict(zip(self.over.parts, given)) if given else {})

    def refused(self):
        """It goes over what machine code does not."""
        self.refuses = True
        self.is_pythons(GOES_OVER)

    def log_refusal(self, text):
        _log(text)
        _plait.log_loop(text)

    def is_pythons(self, why):
        """The loops inside are asked."""
        if not self.stays:
            _plait.log_loop(f"{self.where[0]}:{self.where[1]}: the loop in {self.where[2]}() stays Python's: {why}")
        self.stays = True
        for inner in self.inner:
            inner.naps = 0
        self.idled()

    def idled(self, rounds=1):
        """There was a round, or one that counts for several, that gained nothing. After some in a row the loop sleeps, and twice as long each time
        that it wakes in vain."""
        if not WORTH:
            return
        if self.waits:
            self.naps = WAITING
            return
        runs = sum(code.runs for code in self.codes.values())
        if runs != self.ran:
            self.gained()
            self.ran = runs
        self.long = 0
        if rounds > 1:
            self.scope.drowsy.add(self)
        if self.idle == 0:
            self.since = self.scope.calls
        self.idle += rounds
        if self.idle < ROUNDS:
            return
        self.idle = ROUNDS - 1
        self.naps = self.nap = min(max(2 * self.nap, DROWSY if rounds > 1 else ROUNDS), LONGEST)
        if rounds > 1 or self.nap >= DEEP:
            self.sleep()
        else:
            self.scope.drowsy.add(self)

    def call_ends(self):
        """Of a jitted function, in which the loop was drowsy. It is no more where it has gained by now."""
        hopeless = not any(code.usable for code in self.codes.values()) and bool(self.codes)
        if hopeless or self.nap >= DROWSY or (self.nap and self.scope.calls - self.since >= ROUNDS - 1):
            self.sleep()
        if self.sleeps or not self.idle:
            self.scope.drowsy.discard(self)

    def sleep(self):
        """The function's next calls run code in which the loop is as its source has it."""
        if not self.sleeps and self.versions is not None:
            self.sleeps = True
            self.versions.choose_code()

    def lasted(self):
        """There was a round in Python that machine code would have gained in: of one alone, something else may have taken the time."""
        self.long += 1
        if self.long > 1:
            self.gained()

    def gained(self):
        """There was a round that gained, or rounds that will lead to some gain."""
        self.idle = self.nap = 0
        if self.sleeps:
            self.wake()
            self.versions.choose_code()

    def wake(self):
        self.sleeps, self.naps, self.idle, self.nap = False, 0, 0, 0

    @property
    def waits(self):
        """Whether the loop around it may be compiled, which then goes over with it."""
        return self.outer is not None and not self.outer.stays

    def forgotten(self):
        """Names of lists, sets and dicts that nobody has any more when the loop has ended."""
        return self.forgettable if self.forgettable and self.forgets() else ()

    @property
    def forgettable(self):
        return getattr(self.source, "forgotten", ())

    def forgets(self):
        """Whether they are lists, sets and dicts: the names of what makes them, which are none of the function's own variables, stand for Python's."""
        return makes_own(lambda name: _look_up(name, {}, self.cells, self.scope))

    def found(self, variables):
        """The names of the loop and of the functions that it calls, and what they stand for."""
        for key, x, *_ in self.looked_up(variables):
            if x is not MISSING:
                yield key, original(x)

    def looked_up(self, variables):
        """The same names, as inputs have them; what is found there, and by which name, in which variables, cells and globals."""
        shared = {}
        if self.captured:
            holder = variables[CELLS]
            shared = {n: cell for n, cell in zip(holder.__code__.co_freevars, holder.__closure__) if n in self.captured}
        functions, waiting, objects = [], [*self.paths.values()], {}
        found = [(name, _look_up(name, variables, self.cells, self.scope), name, variables, self.cells, self.scope) for name in self.names]
        while found:
            for key, x, *_ in found:
                objects[key] = x
                if isinstance(made := original(x), types.FunctionType) and made not in functions:
                    functions.append(made)
                    found += _of_function(made, shared)  # which grows
            yield from found
            ready = [path for path in waiting if path.owner in objects]
            waiting = [path for path in waiting if path not in ready]
            found = [(path.key, attribute_of(objects[path.owner], path.name), path.name, None, {}, {}) for path in ready]

    def inputs(self, variables):
        """What each name stands for: its type, and the value."""
        found, values, over = {}, {}, self.over
        for name, x in self.found(variables):
            if type(x) is lazy_scalar:
                x = _plait.export(x)
            t = scalar_of(x)
            if x is None or type(x) is str:
                t, x = self.form_of(name, x)
            elif t is None and isinstance(x, numpy.random.Generator) and is_numpys(x):
                t = Drawing()
            elif t is None and is_pythons(x):
                t = Drawing(True)
            elif t is None and type(x) in (list, tuple, bytes, collections.deque):
                t, x = extents(x) if over and name in over.extents else listed(x)
            elif t is None and is_table(x):
                t, x = tabled(x)
            elif t is None and type(x) in (ndarray, numpy.ndarray):
                dtype, strides = x.dtype, x.strides
                if dtype.num in _DTYPES and dtype.isnative:
                    t = array_type(_DTYPES[dtype.num], len(strides), bool(strides) and strides[-1] == dtype.itemsize)
                elif dtype in OF_TIMES:
                    t, x = array_type(OF_TIMES[dtype], len(strides), bool(strides) and strides[-1] == dtype.itemsize), x.view("int64")
            if t is None:
                t = records.type_of(x)
            if t is None and x is not None:
                is_constant = callable(x) and not has_attributes(type(x)) or isinstance(x, _CONSTANT)
                t = x if is_constant else Other(type(x))
            found[name] = t
            values[name] = x
        if over is not None:
            self.alike(found, values)
        return found, values

    def form_of(self, name, x):
        """What None or a text is to the loop's codes, and the value."""
        form = self.forms.get(name)
        if type(x) is str and (form == CHARACTERS or name.startswith(".over")):
            return listed(x)
        if name in self.stored or form == STATE:
            return state_of(x) or Other(str), x
        return x, x

    def alike(self, found, values):
        """A list or a dict that the loop goes over is the one that a variable of its has."""
        for name in self.over.parts.keys() & found.keys():
            if isinstance(t := found[name], ArrayType) and t.of:
                others = [n for n, x in values.items() if n not in self.over.parts and n not in self.stored and type(x) is type(values[name]) and x.of is values[name].of]
                if others:
                    found[name] = same_as(others[0])

    def code(self, inputs, numbers):
        """The machine code for inputs of these types, to be asked for."""
        step = numbers.step if numbers is not None and numbers.step in (1, -1) else None
        key = step, *inputs, *map(_key_of, inputs.values())
        found = self.codes.get(key)
        if found is None:
            found = Code(self, inputs, step, len(self.codes) >= MOST)
            if len(self.codes) < MOST:
                self.codes[key] = found
        return found

    def usable_codes(self):
        return [code for code in self.codes.values() if code.usable]

    def chosen(self, variables, numbers):
        """The machine code for these variables, and what its inputs are. What it asks for of attributes is an input from then on."""
        while True:
            inputs, values = self.inputs(variables)
            try:
                return self.code(inputs, numbers), values
            except Wanted as wanted:
                wanted.note(self)

    def report(self):
        """What became of the loop, as text."""
        head = f"line {self.where[1]}: {self.text}"
        if not self.codes and self.refuses:
            return [f"{head} Python's: {GOES_OVER}"]
        if not self.codes:
            return [f"{head} Python's: it has not taken long enough to be compiled"]
        return [f"{head} {code.report()}" for code in self.codes.values()]

    def why_pythons(self):
        """Why it stays Python's; None where it does not, or where that is not known yet."""
        if any(code.usable for code in self.codes.values()):
            return None
        return next((code.why for code in self.codes.values()), GOES_OVER if self.refuses else None)

    def in_source(self, s):
        """A statement of its source, as Python has it."""
        return s

    def ended(self, rest):
        """What the loop's names are when it has ended, whether it returned, and what; None where it has ended in Python."""
        return rest.finish(sys._getframe(1).f_locals) if type(rest) in (Rest, Finished) else None

    def finished(self, code, results):
        """What a loop iterates over when its entry has run it, and has heard of something or failed."""
        return Finished(self, code, results)


def _key_of(t):
    """What two inputs have in common for which code is the same: of functions, which each call of the one around them may make anew, what their source
    says, as what they close over are inputs of their own."""
    if isinstance(t, (Scalar, ArrayType, Other, Drawing, records.Records)):
        return t
    if type(t) is str:
        return "str", t
    if type(t) is tuple:
        return repr(t)  # 1 is no 1.0
    if isinstance(t, types.FunctionType) and not t.__defaults__ and not t.__kwdefaults__:
        return id(t.__code__), id(t.__globals__)
    return id(t)


def _look_up(name, variables, cells, scope):
    found = variables.get(name, MISSING)
    if found is MISSING and name in cells:
        return contents(cells[name])
    if found is MISSING:
        try:
            found = scope[name]
        except KeyError:
            found = getattr(builtins, name, MISSING)
    return found


def _of_function(function, shared):
    """What a function that the loop calls finds outside of itself, as looked_up() has it. shared: cells of variables that the loop stores to."""
    source = definition(function)
    if source is None:
        return
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    for name in source[2]:
        if name in shared and cells.get(name) is shared[name]:  # not that of another call
            yield outer_name(function, name), same_as(name), name, None, cells, function.__globals__
        else:
            yield outer_name(function, name), _look_up(name, {}, cells, function.__globals__), name, None, cells, function.__globals__


class Rest:
    """What is left of a loop: it goes on in Python until there is code for the rest."""

    def __init__(self, loop, numbers, items, given, measured=False):
        self.loop, self.numbers, self.items, self.given = loop, numbers, items, given
        self.code, self.left, self.measured = None, False, measured  # what may run the rest; whether it does; whether Python is to
        self.done, self.given_up = 0, False
        self.later = 0.0  # seconds that it takes in Python before its variables are looked at again, of which there is no code
        self.begun = time.thread_time()  # of which a call takes as long as a short loop
        if measured:
            return
        if (loop.codes if loop.waits else loop.seconds >= WORTH) and (loop.each or WORTH == 0):
            self.look(sys._getframe(loop.depth).f_locals)

    def look(self, variables):
        """Hands over if there is code for the variables as they are now; asks for it if not."""
        self.went = time.thread_time()  # from when on machine code has it
        known = len(self.loop.codes)
        self.code, values = self.loop.chosen(variables | self.given if self.given else variables, self.numbers)
        if len(self.loop.codes) > known:
            self.went = time.thread_time()  # as it is made once
        self.code.ask(self.short)
        self.given_up = self.loop.stays = not (self.code.usable and self.code.fits(values))
        self.left = not self.given_up and self.ready
        if not self.code.usable and self.loop.usable_codes():
            self.look_later()
        elif self.given_up:
            self.loop.idled(GAVE_UP)
        elif self.left:
            self.loop.gained()
        self.values = values if self.left else None
        self.wake()

    def look_later(self):
        """There is no code for the variables as they are, but as they may be after some iterations."""
        self.code, self.given_up = None, False
        self.later = max(WORTH, 2 * (time.thread_time() - self.begun))

    @property
    def short(self):
        """Whether a `for` will soon have ended in Python, as far as its iterations so far, or those of other calls, say."""
        if self.numbers is None or not WORTH:
            return False
        each = (time.thread_time() - self.begun) / self.done if self.done else self.loop.each
        return 0 < each * len(self.numbers) < SHORT

    @property
    def ready(self):
        """Whether there is code, which need not be of full effort where the loop can be left, or is soon over."""
        return self.code.ready or self.code.soon_ready and self.short

    def wake(self):
        """Lets the loops inside ask too, of which each run may take long by now."""
        for inner in self.loop.inner:
            if inner.naps > LONGEST:
                inner.naps = 0

    def worth(self):
        """Whether the loop takes long enough in Python, or will, where the number of its iterations is known."""
        self.wake()
        spent = time.thread_time() - self.begun
        if spent < self.later:
            return False
        all_of_it = 0.0 if self.numbers is None else spent / self.done * len(self.numbers)
        if self.loop.waits:
            return max(spent, all_of_it) >= LONG
        return max(self.loop.seconds + spent, all_of_it) >= WORTH

    def __iter__(self):
        items, self.items = iter(self.items), None
        return iter(()) if self.left else items if self.given_up else self.iterate(items)

    def iterate(self, items):
        look_at = 1
        try:
            for item in items:
                yield item
                self.done += 1
                if self.done == look_at and not self.measured:
                    if self.ready if self.code is not None else self.worth():
                        self.look(sys._getframe(1).f_locals)
                        if self.left:
                            return
                    look_at += 1 + (self.done // 4 if self.code is None else self.done // 64)
                    if self.given_up:
                        yield from items
        finally:
            spent = time.thread_time() - self.begun
            self.loop.seconds += spent
            if self.measured:
                self.loop.each = 0.75 * self.loop.each + 0.25 * spent / (1 if self.numbers is None else max(1, self.done))
            elif not self.left or not self.loop.each:
                self.loop.each = spent / (1 if self.numbers is None else max(1, self.done))
            self.account(spent)

    def account(self, spent):
        """What a round in Python says of the loop."""
        if self.measured:
            return
        if self.loop.waits:
            if not self.loop.codes:
                self.loop.naps = WAITING
        elif self.later and not self.left:
            self.loop.idled(GAVE_UP)
        elif not self.left and not self.given_up:
            self.loop.idled() if spent < LEAST else self.loop.lasted()

    def finish(self, variables):
        if not self.left:
            return None
        values, self.values = self.values, None
        numbers = self.numbers and self.numbers[self.done :]
        if self.code.divisible:
            values, variables, numbers = self.code.begin(self.loop, values, variables, numbers)
        found = self.code.run(self.loop, values, variables, numbers) if values is not None else go_on(self.loop, on(self.loop, variables, numbers))
        if self.loop.by_python:
            cost = (time.thread_time() - self.went) / (1 if numbers is None else max(1, len(numbers)))
            self.loop.cost = 0.75 * self.loop.cost + 0.25 * cost if self.loop.cost else cost
        return found


class Finished:
    """A loop that its entry has run: what came of it is still to be told."""

    def __init__(self, loop, code, results):
        self.loop, self.code, self.results = loop, code, results

    def __iter__(self):
        return iter(())

    def finish(self, variables):
        return go_on(self.loop, self.code.told(self.loop, variables, [self.results], 4))


class Code:
    """The machine code of a loop for inputs of certain types, and for the step of its range where it is a usual one."""

    head = HEAD

    def __init__(self, loop, inputs, step, too_many):
        _plait.load_compiler()  # meanwhile
        from .lowering import lowered  # which loops that are soon over do without

        self.why, self.runs_by_python = None, 0
        self.entry = None  # runs it without Python; False where that cannot be
        self.seconds, self.each = 0.0, 0.0  # of its runs, and of an iteration
        self.left, self.in_vain = 0, 0  # how often it has left the loop to Python; in a row without gain
        self.left_at = collections.Counter()  # in which lines
        self.alone_each = None  # seconds of an iteration that one thread ran
        self.step, self.ranged = step, isinstance(loop.source, ast.For)
        self.over_texts = {n: ast.unparse(part) for n, part in loop.over.parts.items()} if loop.over else {}
        self.usable, self.inputs = False, inputs  # which keeps the objects alive that the code was made for
        try:
            if too_many:
                raise NotCompiled(f"there is code for {MOST} other kinds of inputs")
            self.lowering = lowered(loop.source, inputs, step, loop.behind, loop.where[2])
        except Wanted as e:
            if not e.is_known(loop):
                raise
            return self.refuse(loop, f"{e.path.owner} as {e.path.name}", e.node)
        except NotCompiled as e:
            return self.refuse(loop, str(e), e.node)
        self.procedure = self.lowering.p.p
        self.places, self.alone = own_places(self.lowering), why_alone(self.lowering)
        self.shared = self.lowering.nested.shared(self.lowering)
        self.on_host, self.told_why = None, set()  # why the host runs it where arrays are on a device, "" where that does; what was told of it
        self.usable = True
        self.counters = [n for n in inputs if n in self.lowering.counters]
        low = self.lowering
        self.changed = [*low.facts.written, *(low.arrays.index(key) for key, _ in low.lists)]
        self.writes_lists = any(isinstance(t := inputs.get(low.arrays[slot]), ArrayType) and t.of for slot in self.changed)
        self.reads_lists = any(isinstance(t, ArrayType) and t.of for t in inputs.values())
        self.complexes = any(isinstance(t, (Scalar, ArrayType)) and is_complex(t.dtype) for t in (*inputs.values(), *(t for _, t in self.lowering.made)))
        carried = inputs.keys() & {*loop.stored}
        # A list that grows may have elements of another type after some iterations.
        stays = {n for n, t, tagged in low.outputs if not tagged and t == inputs.get(n)}
        self.divisible = loop.divisible and not low.facts.growing and carried <= stays and all(kinds == {inputs[k]} for k, kinds in low.facts.cells.items())
        self.paths = {k: path for k, path in loop.paths.items() if k in inputs}

    def refuse(self, loop, why, node):
        self.why = f"{why} (line {getattr(node, 'lineno', loop.where[1])})"
        loop.log_refusal(f"{loop.where[0]}:{loop.where[1]}: the loop in {loop.where[2]}() stays Python's: {self.why}")

    def ask(self, short=False):
        """Has it compiled in the background. A loop that can be left between two iterations, or is short, begins in code that is soon there."""
        if self.usable:
            self.procedure.compile_async() if self.divisible or short else self.procedure.optimise_async()

    @property
    def runs(self):
        return self.runs_by_python + (self.entry.runs if self.entry else 0)

    def report(self):
        return f"{self.described()}; {self.runs} runs" if self.usable else f"Python's: {self.why}"

    def described(self):
        texts = self.over_texts
        named = [f"{texts.get(n, n)}: {name(t)}" for n, t in self.inputs.items() if isinstance(t, (Scalar, ArrayType)) and "|" not in n and " " not in n]
        shared = ", of which threads run parts" if self.places else ""
        return f"machine code for {', '.join(named) or 'its range'}{shared}"

    def tell(self, loop):
        """PLAIT_LOG=loops, where the code runs first."""
        took = f"{self.procedure.seconds * 1e3:.1f} ms of compilation" if self.procedure.seconds else "kept from before"
        alone = "" if self.places else f"; one thread: {self.alone}"
        _plait.log_loop(f"{loop.where[0]}:{loop.where[1]}: {loop.text} in {loop.where[2]}(): {self.described()}; {took}{alone}")

    @property
    def ready(self):
        return self.usable and (self.procedure.ready if self.divisible else self.procedure.optimised)

    @property
    def soon_ready(self):
        """Whether there is code at all, which may be quick code."""
        return self.usable and self.procedure.ready

    def fits(self, values):
        """Whether warnings raise nothing, arrays lie apart that the code takes for such, and counters are far from their ends."""
        errors = numpy.geterr()
        if not _HEARD.issuperset([errors[k] for k in KINDS.values()]) or "error" in [f[0] for f in warnings.filters if issubclass(RuntimeWarning, f[2])]:
            return False
        for n in self.counters:
            if type(values[n]) is int and abs(values[n]) > 2**62:
                return False
        if not all(getattr(module, name, None) is x for module, name, x in self.lowering.facts.attributes):
            return False
        if self.lowering.facts.limit not in (None, sys.getrecursionlimit()):
            return False
        if self.lowering.facts.defaults and _default_dtype.differs():
            return False
        names = self.lowering.arrays
        if any(memory_of(values[names[slot]]).size > LARGE for slot in self.lowering.facts.wholes):
            return False
        if any(memory_of(values[names[slot]]).size > FACTOR for slot in self.lowering.facts.multiplied):
            return False
        if not all(memory_of(values[names[slot]]).flags.writeable for slot in self.lowering.facts.written if names[slot] in values):
            return False
        for a, b in self.lowering.facts.apart:
            if overlap(memory_of(values[names[a]]), memory_of(values[names[b]])):
                return False
        if mixed_up([values.get(n) for n in names], self.changed) or not self.are_other_objects(values):
            return False
        return not self.writes_lists or are_other_lists([values.get(n) for n in names], self.changed)

    def are_other_objects(self, values):
        """Whether an object whose attributes the loop sets has one name alone."""
        owners = {path.owner for path in self.paths.values()}
        changed = {self.paths[key].owner for key in self.lowering.facts.cells}
        return not any(values[a] is values[b] for a in changed for b in owners if a != b)

    def begin(self, loop, values, variables, numbers):
        """Runs some iterations at a time until there is code of full effort, or for the rest there need be none: what that begins with."""
        if device_among(values.values()):
            return values, variables, numbers
        each = self.each or loop.each  # which is Python's, and longer
        many = max(1, int(PART / each)) if each else 1
        while many < len(numbers) and not self.procedure.optimised:
            before = self.seconds
            left = self.left
            found = self.run(loop, values, variables, numbers[:many])
            numbers, self.each = numbers[many:], (self.seconds - before) / many
            many = max(1, min(8 * many, int(PART / self.each)))
            state = {n: x for n, x in zip(loop.stored, found) if x is not UNBOUND}
            variables = variables | state
            if self.left != left:
                return None, variables, numbers  # as what Python has done may have made something else of them
            values = {n: state.get(n, x) for n, x in values.items()}
            values |= {key: getattr(values[path.owner], path.name) for key, path in self.paths.items() if key in self.lowering.facts.cells}
        return values, variables, numbers

    def goes_back(self, loop, resumption):
        """It leaves the loop to Python."""
        line = resumption.doing.statement.lineno
        self.left += 1
        self.left_at[line] += 1
        if self.left_at[line] == 1:
            _log(text := f"{loop.where[0]}:{line}: Python does a part of an iteration of the loop in {loop.where[2]}() from here: {resumption.why}")
            _plait.log_loop(text)

    def give_up(self, loop, why):
        """From now on Python has the loop where its variables are of these types."""
        self.usable, self.why = False, why
        others = loop.usable_codes()
        loop.drop_entries()
        for code in others:
            if code.entry:
                loop.add_entry(code.entry)
        if not others:
            loop.is_pythons(why)
        else:
            _plait.log_loop(f"{loop.where[0]}:{loop.where[1]}: the loop in {loop.where[2]}() leaves its {self.described()} to Python: {why}")

    def run(self, loop, values, variables, numbers):
        """The state of the loop's names behind it, whether it returned, and what."""
        return go_on(loop, self.once(loop, values, variables, numbers, 6))

    def once(self, loop, values, variables, numbers, depth=7):
        """The same, or where the code has left the loop to Python."""
        low = self.lowering
        if not self.runs_by_python and _plait.log_loops():
            self.tell(loop)
        self.runs_by_python += 1
        self.count = 0  # elements that were made
        lent = []
        arrays = [memory_of(values[n]) for n in low.arrays]
        arrays = [a if type(a) is ndarray else lent.append(_plait.borrow(a)) or lent[-1] for a in arrays]
        params, device = numbers_of(arrays), device_among(arrays)
        args = [] if numbers is None else [numbers.start, numbers.stop, numbers.step]
        printer, alive = call_back(low, values) if low.prints else ({}, None)
        args += [printer[n] if n in printer else address_of(n, values.get(n)) if n in low.drawn else as_number(values[n]) for n in low.arguments]
        if self.complexes:
            args = [part for x in args for part in ((x.real, x.imag) if isinstance(x, (complex, numpy.complexfloating)) else (x,))]
            arrays = arrays if device else reals_of(arrays)
        begun = time.perf_counter()
        drawn = contextlib.ExitStack()
        try:
            drawn.enter_context(held(low.drawn.keys() - printer.keys(), values))
            if device:
                found = [found_on_device(self, loop.where, device, arrays, args, numbers)]
            elif self.places and len(numbers) > 1 and are_apart(self.places, arrays, numbers, overlap):
                written = [memory_of(values[low.arrays[slot]]) for slot in self.places]

                def parts(ranges, seconds):
                    results = self.procedure.run_parts(arrays, params, args, [(r.start, r.stop) for r in ranges], seconds)
                    if len(ranges) == 1:
                        self.alone_each = self.procedure.ran / len(ranges[0])
                    return results

                found = run_shared(parts, written, numbers, lambda result: result[1])
            else:
                found = [self.procedure.run(arrays, params, args)]
                if numbers:
                    self.alone_each = self.procedure.ran / len(numbers)
        finally:
            drawn.close()
            del alive
            self.seconds += time.perf_counter() - begun
            if self.seconds >= MUCH and not (device and self.on_host == ""):
                self.procedure.optimise_async()
            if lent:
                _plait.end_borrow(*lent)
            if self.writes_lists:
                give_back([values[low.arrays[slot]] for slot in low.facts.written])
        if self.entry is None and self.procedure.optimised and not device:
            self.entry = entry_of(loop, self, variables)
            if self.entry:
                loop.add_entry(self.entry)
            loop.by_python = loop.by_python or self.entry is False or self.reads_lists  # long ones in short loops are Python's
        if self.entry:
            loop.ran_code()
            if self.alone_each is not None:
                self.entry.each = self.alone_each
        return self.told(loop, variables, found, depth + 2 * bool(low.made), numbers)

    def told(self, loop, variables, found, depth, numbers=None):
        """What run() returns, of the results of all parts. Raises what an iteration raises, and warns of what they have heard. depth: frames from here
        to the function, this one included."""
        low = self.lowering
        heap = found[-1][-1] if type(found[-1][-1]) is _plait.Heap else None
        if heap is not None:
            found = [part[:-1] for part in found]
        end = len(found[-1]) - sum(cell.wide for cell in low.cells.values())
        cells, found = found[-1][end:], [part[:end] for part in found] if low.cells else found
        told = ()
        if width := low.told_on.width:
            told = found[-1][-width:]
            found = [part[:-width] for part in found]
        if low.lists:
            self.lengthen(loop, found[-1], heap, variables)
            found = [found[-1][: -2 * len(low.lists)]]
        left = {}
        if low.left:
            left = self.arrays_left(low, found[-1], heap, dict(loop.found(variables)))
            found = [found[-1][: -sum(len(made.told) for _, made in low.left)]]
        if low.facts.cells:
            set_back(low, cells, left, self.paths, dict(loop.found(variables)))
        heard = found[0][0] if len(found) == 1 else functools.reduce(operator.or_, (part[0] for part in found))
        _, site, i, a, b, *_ = found[-1]
        self.count = sum(part[HEAD] for part in found) if low.made else 0
        for bit, text in enumerate(low.warnings if heard else ()):
            if heard >> bit & 1 and numpy.geterr().get(KINDS.get(text.split()[0]), "warn") == "warn":
                warnings.warn(text, RuntimeWarning, stacklevel=depth)
        failure = low.failures[site - 1] if site else None
        goes_on = failure is not None and isinstance(failure.again, Resumption)
        if site and not goes_on:
            operands = i, a, b
            if isinstance(failure.again, Leave):
                operands = found[-1][len(found[-1]) - len(low.told) :], dict(loop.found(variables))
            raise_again(failure, *operands)
            raise RuntimeError(f"{loop.where[0]}:{failure.line}: the loop failed in machine code, and not in Python")
        state = {n: variables[n] for n in loop.stored if n in variables} | left
        for part in found:
            results = iter(part[HEAD + bool(low.made) :])
            for name, t, tagged in low.outputs:
                x = complex(next(results), next(results)) if t.kind == "c" else next(results)
                tag = next(results) if tagged else 1
                if tag and not (goes_on and name in failure.again.variables):  # else it is what it was, or Python is told more exactly below
                    kind = ALL[tag - 1] if tagged else t
                    if not (goes_on and kind.object):  # of which there may be no such word in the midst of an iteration, where nobody reads it
                        state[name] = kind.of(x)
        if goes_on:
            self.goes_back(loop, failure.again)
            if low.made:
                raise loop.goes_back(failure.again, told, numbers)
            return Left(self, failure.again, told, variables | {n: x for n, x in state.items() if n in loop.stored}, dict(loop.found(variables)), numbers)
        returned = "return" in state
        value = None
        if returned:
            shape = low.frames[0].shape
            parts = [state[f"return {k}"] for k in range(abs(shape or 0))]
            value = None if shape is None else parts[0] if shape == -1 else low.frames[0].made(parts)
        return (*(state.get(n, UNBOUND) for n in loop.stored), returned, value)

    def arrays_left(self, low, results, heap, objects):
        """The arrays that variables stand for behind the loop."""
        from .. import array

        given = [x for x in (objects.get(n) for n in low.arrays) if type(x) in (ndarray, numpy.ndarray)]
        arrays = {(numpy.asarray(x).__array_interface__["data"][0], x.shape, x.strides): x for x in given}
        at, left = len(results) - sum(len(made.told) for _, made in low.left), {}
        for key, made in low.left:
            x = made.found(results[at : at + len(made.told)], heap, arrays)
            if x is not None:
                is_new = type(x) is numpy.ndarray and not any(x is g for g in given)
                left[key] = array(x) if is_new and any(type(g) is ndarray for g in given) else x
            at += len(made.told)
        return left

    def lengthen(self, loop, results, heap, variables):
        """Gives lists that grew, or became shorter, what they have now, unless nobody will ask."""
        low, objects = self.lowering, dict(loop.found(variables))
        forgotten = () if results[1] else loop.forgotten()
        for (key, made), at in zip(low.lists, range(len(results) - 2 * len(low.lists), len(results), 2)):
            if key in forgotten:
                continue
            address, count = results[at : at + 2]
            if isinstance(made, Originals):
                continue
            if holds_lists(made.shape):
                originals = results[at + 2 : at + 4] if (key, Originals) in [(k, type(x)) for k, x in low.lists] else (0, 0)
                put_back(objects[key], made.shape, rows_left(objects[key], made, (address, count), originals, heap, elements_of))
                continue
            wide = len(made.shape.words)
            rows = elements_of(made.shape, heap.array(address, count * wide, "int64").reshape(count, wide)) if count else []
            put_back(objects[key], made.shape, rows)


def _counts(numbers):
    """Whether machine code counts them."""
    return type(numbers) is range and -_FAR <= numbers.start < _FAR and -_FAR <= numbers.stop < _FAR and -_FAR <= numbers.step < _FAR


def _log(text):
    _plait.log_fallback(text)
