"""The machine code of a loop: for which inputs it may run, how it runs, and what it tells Python."""

import ast
import collections
import contextlib
import functools
import operator
import sys
import time
import warnings

import numpy

from .. import _default_dtype, _plait
from .._plait import ndarray
from .._shape import overlap
from . import going_over
from .by_python import Left, Resumption, go_on
from .draws import address_of, held
from .entries import FACTOR, LARGE, entry_of
from .heeding import KINDS
from .left import Leave
from .listed import are_other_lists, elements_of, give_back, memory_of, put_back
from .lists_in_lists import Originals, holds_lists, rows_left
from .objects import set_back
from .on_device import device_among, found as found_on_device, mixed_up, numbers_of, reals_of
from .printing import call_back
from .sharing import are_apart, own_places, run_shared, why_alone
from .tracebacks import raise_again
from .types import ALL, ArrayType, NotCompiled, Scalar, as_number, is_complex, name
from .wanted import Wanted

UNBOUND = type("unbound", (), {"__repr__": lambda self: "<unbound>"})()
_HEARD = {"ignore", "warn"}  # of NumPy's ways to treat errors those that raise nothing
HEAD = 5  # results that are no variables: what was heard, and the failure


def _pays_interpreted(inputs, facts):
    """Whether the interpreter is faster than Python: where elements of arrays are read one by one, which are objects to Python. Numbers, lists and
    dicts are as fast there; arrays as a whole are NumPy's."""
    arrays = [t for t in inputs.values() if isinstance(t, ArrayType)]
    return arrays and not any(t.of for t in arrays) and not (facts.wholes or facts.sites or facts.lists or facts.tables)


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
                raise NotCompiled(f"there is code for {going_over.MOST} other kinds of inputs")
            self.lowering = lowered(loop.source, inputs, step, loop.behind, loop.where[2])
            if self.lowering.p.p.interpreted and going_over.WORTH and not _pays_interpreted(inputs, self.lowering.facts):
                raise NotCompiled("there is no JIT, and the interpreter is no faster")
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
        how = "interpreted" if self.procedure.interpreted else "machine code"
        return f"{how} for {', '.join(named) or 'its range'}{shared}"

    def tell(self, loop):
        """PLAIT_LOG=loops, where the code runs first."""
        took = f"{self.procedure.seconds * 1e3:.1f} ms of compilation" if self.procedure.seconds else "no JIT" if self.procedure.interpreted else "kept from before"
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
        many = max(1, int(going_over.PART / each)) if each else 1
        while many < len(numbers) and not self.procedure.optimised:
            before = self.seconds
            left = self.left
            found = self.run(loop, values, variables, numbers[:many])
            numbers, self.each = numbers[many:], (self.seconds - before) / many
            many = max(1, min(8 * many, int(going_over.PART / self.each)))
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
            going_over.log(text := f"{loop.where[0]}:{line}: Python does a part of an iteration of the loop in {loop.where[2]}() from here: {resumption.why}")
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
            if self.seconds >= going_over.MUCH and not (device and self.on_host == ""):
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
