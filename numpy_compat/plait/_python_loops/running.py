"""When a loop of Python's goes on in machine code, and with what."""

import ast
import builtins
import collections
import enum
import functools
import itertools
import sys
import types

import numpy

from .. import _plait
from .._functions import MISSING, contents, original
from . import going_over
from . import records
from .._plait import lazy_scalar, ndarray
from .by_python import InPython
from .codes import UNBOUND, Code
from .comprehensions import stored
from .draws import is_numpys
from .forgotten import makes_own
from .over import Over, is_range
from .pythons_draws import is_pythons
from .reading import definition, exposed, outer_name
from .objects import attribute_of, has_attributes
from .listed import extents, is_table, listed, tabled
from .rest import Finished, Rest
from .trees import has_break, nodes
from .types import ArrayType, Drawing, NUMPYS, OF_TIMES, Other, SameAs, Scalar, array_type, same_as, scalar_of, state_of
from .wanted import CHARACTERS, STATE, Wanted

_FAR = 2**62
_CONSTANT = str, types.ModuleType, numpy.dtype, SameAs, enum.Enum
_DTYPES = {numpy.dtype(t.dtype).num: t.dtype for t in NUMPYS}  # not long long, which has the name of another
GOES_OVER = "it goes over what is neither a range nor arrays and lists of numbers"
CELLS = ".cells"  # a function that has the cells of the variables that others read


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
        if sys.gettrace() is not None or (waits and not going_over.WORTH):
            return items
        expected = self.each * (1 if numbers is None else len(numbers))
        if 0 < expected < going_over.LEAST and going_over.WORTH and self.calls & 63 and self.idle != going_over.ROUNDS - 1:
            self.idled()
            return items
        if self.by_python and going_over.WORTH and not waits and self.each:
            cost = self.cost * (1 if numbers is None else len(numbers))
            if self.calls & (going_over.SELDOM if 0 < going_over.AHEAD * cost < expected else going_over.TRIED) == 0:
                return Rest(self, numbers, items, {}, measured=True)
            if self.calls & going_over.TRIED != going_over.TRIED // 2 and cost > expected:
                return items
        return Rest(self, numbers, items, dict(zip(self.over.parts, given)) if given else {})

    def refused(self):
        """It goes over what machine code does not."""
        self.refuses = True
        self.is_pythons(GOES_OVER)

    def log_refusal(self, text):
        going_over.log(text)
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
        if not going_over.WORTH:
            return
        if self.waits:
            self.naps = going_over.WAITING
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
        if self.idle < going_over.ROUNDS:
            return
        self.idle = going_over.ROUNDS - 1
        self.naps = self.nap = min(max(2 * self.nap, going_over.DROWSY if rounds > 1 else going_over.ROUNDS), going_over.LONGEST)
        if rounds > 1 or self.nap >= going_over.DEEP:
            self.sleep()
        else:
            self.scope.drowsy.add(self)

    def call_ends(self):
        """Of a jitted function, in which the loop was drowsy. It is no more where it has gained by now."""
        hopeless = not any(code.usable for code in self.codes.values()) and bool(self.codes)
        if hopeless or self.nap >= going_over.DROWSY or (self.nap and self.scope.calls - self.since >= going_over.ROUNDS - 1):
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
            found = Code(self, inputs, step, len(self.codes) >= going_over.MOST)
            if len(self.codes) < going_over.MOST:
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


def _counts(numbers):
    """Whether machine code counts them."""
    return type(numbers) is range and -_FAR <= numbers.start < _FAR and -_FAR <= numbers.stop < _FAR and -_FAR <= numbers.step < _FAR
