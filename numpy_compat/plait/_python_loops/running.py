"""When a loop of Python's goes on in machine code, and with what."""

import ast
import builtins
import sys
import time
import warnings

import numpy

from .. import _plait
from .._plait import lazy_scalar, ndarray
from .._shape import shares_memory
from .lowering import Lowering, types_of
from .types import ALL, ArrayType, NotCompiled, NUMPYS, Scalar, scalar_of

UNBOUND = type("unbound", (), {"__repr__": lambda self: "<unbound>"})()
_MISSING = object()
_KINDS = {"divide": "divide", "invalid": "invalid", "overflow": "over"}
_DTYPES = {t.dtype for t in NUMPYS}
# Seconds that a loop has taken in Python, or will by what its iterations took so far, before its code is asked for.
WORTH = 5e-3


class Loop:
    """One loop of a function. Called where it begins; end() runs what is left of it."""

    unbound = UNBOUND

    def __init__(self, source, function, scope, cells, behind):
        self.source, self.scope, self.cells, self.behind = source, scope, cells, behind
        self.where = function.__code__.co_filename, source.lineno, function.__qualname__
        nodes = [n for n in ast.walk(source) if isinstance(n, ast.Name)]
        inside = nodes if isinstance(source, ast.While) else [n for n in nodes if not any(n is m for m in ast.walk(source.iter))]
        self.stored = sorted({n.id for n in nodes if isinstance(n.ctx, ast.Store)})
        self.names = sorted({n.id for n in inside})
        self.returns = any(isinstance(n, ast.Return) for n in ast.walk(source))
        self.codes = {}
        self.seconds = 0.0  # in Python, of all calls

    def __call__(self, numbers, variables):
        return Rest(self, numbers, variables)

    def value(self, name, variables):
        found = variables.get(name, _MISSING)
        if found is _MISSING and name in self.cells:
            found = self.cells[name].cell_contents if _filled(self.cells[name]) else _MISSING
        elif found is _MISSING:
            try:
                found = self.scope[name]
            except KeyError:
                found = getattr(builtins, name, _MISSING)
        return found

    def inputs(self, variables):
        """What each name stands for: its type, and the value."""
        types, values = {}, {}
        for name in self.names:
            x = self.value(name, variables)
            if x is _MISSING:
                continue
            if type(x) is lazy_scalar:
                x = _plait.export(x)
            t = scalar_of(x)
            if t is None and type(x) is ndarray:
                dtype = x.dtype.name
                if dtype in _DTYPES:
                    packed = x.ndim > 0 and x.strides[-1] == x.itemsize
                    t = ArrayType(dtype, x.ndim, packed)
            types[name] = x if t is None else t
            values[name] = x
        return types, values

    def code(self, types):
        """The machine code for inputs of these types, asked for here if it was not."""
        key = tuple((n, t if isinstance(t, (Scalar, ArrayType)) else id(t)) for n, t in types.items())
        found = self.codes.get(key)
        if found is None:
            found = self.codes[key] = Code(self, types)
        return found

    def end(self, rest, variables):
        """What the loop's names are when it has ended, whether it returned, and what; None where it has ended in Python."""
        return rest.finish(variables)


def _filled(cell):
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


class Rest:
    """What is left of a loop: it goes on in Python until there is code for the rest."""

    def __init__(self, loop, numbers, variables):
        self.loop, self.numbers = loop, numbers
        self.code, self.left = None, False  # what may run the rest; whether it does
        self.done, self.given_up = 0, numbers is not None and not _counts(numbers)
        self.begun = time.perf_counter()
        if loop.seconds >= WORTH and not self.given_up:
            self.look(variables)

    def look(self, variables):
        """Hands over if there is code for the variables as they are now; asks for it if not."""
        types, values = self.loop.inputs(variables)
        self.code = self.loop.code(types)
        self.given_up = not (self.code.usable and self.code.apart(values))
        self.left = not self.given_up and self.code.ready

    def worth(self, iterations):
        """Whether the loop takes long enough in Python; of how many iterations, where that is known."""
        spent = time.perf_counter() - self.begun
        return max(self.loop.seconds + spent, spent / self.done * iterations if iterations else 0.0) >= WORTH

    def __iter__(self):
        return iter(()) if self.left else iter(self.numbers) if self.given_up else self.iterate()

    def iterate(self):
        numbers, look_at = iter(self.numbers), 1
        try:
            for number in numbers:
                yield number
                self.done += 1
                if self.done == look_at:
                    if self.code is not None or self.worth(len(self.numbers)):
                        self.look(sys._getframe(1).f_locals)
                        if self.left:
                            return
                    look_at += 1 if self.code is not None else self.done
                    if self.given_up:
                        yield from numbers
        finally:
            self.loop.seconds += time.perf_counter() - self.begun

    def more(self):
        """Of a `while`: whether it goes on in Python."""
        if self.left:
            return False
        self.done += 1
        if not self.given_up and (self.code is not None or self.done & self.done - 1 == 0) and self.done > 1:
            if self.code is not None or self.worth(0):
                self.look(sys._getframe(1).f_locals)
        return not self.left

    def finish(self, variables):
        if self.numbers is None:
            self.loop.seconds += time.perf_counter() - self.begun
        if not self.left:
            return None
        types, values = self.loop.inputs(variables)
        return self.code.run(self.loop, values, self.numbers and self.numbers[self.done :])


class Code:
    """The machine code of a loop for inputs of certain types."""

    def __init__(self, loop, types):
        self.usable, self.types = False, types  # which keeps the objects alive that the code was made for
        try:
            if any(numpy.geterr()[k] not in ("ignore", "warn") for k in ("divide", "over", "invalid")):
                raise NotCompiled("numpy.errstate raises or calls")
            self.lowering = Lowering(loop.source, types, types_of(loop.source, types, loop.behind), _plait.Procedure(loop.where[2]))
        except NotCompiled as e:
            line = getattr(e.node, "lineno", loop.where[1])
            _log(f"{loop.where[0]}:{line}: the loop in {loop.where[2]}() stays Python's: {e}")
            return
        self.procedure = self.lowering.p
        self.usable = True
        self.procedure.compile_async()

    @property
    def ready(self):
        return self.usable and self.procedure.ready

    def apart(self, values):
        """Whether arrays lie apart that the code takes for such."""
        arrays = [values[n] for n in self.lowering.arrays]
        return not any(_overlap(arrays[a], arrays[b]) for a, b in self.lowering.facts.apart)

    def run(self, loop, values, numbers):
        """The state of the loop's names behind it, whether it returned, and what."""
        low = self.lowering
        arrays = [values[n] for n in low.arrays]
        params = [x for a in arrays for x in (*a.shape, *a.strides)]
        args = [] if numbers is None else [numbers.start, numbers.stop, numbers.step]
        args += [values[n] for n in low.arguments]
        heard, site, i, a, b, *results = self.procedure.run(arrays, params, args)
        for bit, text in enumerate(low.warnings):
            if heard >> bit & 1 and numpy.geterr()[_KINDS[text.split()[0]]] == "warn":
                warnings.warn(text, RuntimeWarning, stacklevel=4)
        if site:
            low.failures[site - 1].again(i, a, b)
            raise RuntimeError(f"{loop.where[0]}:{low.failures[site - 1].line}: the loop failed in machine code, and not in Python")
        results = iter(results)
        state = {n: x for n, x in values.items() if n in loop.stored}
        for name, t, tagged in low.outputs:
            x = next(results)
            tag = next(results) if tagged else 1
            if tag:  # else it is what it was
                state[name] = (ALL[tag - 1] if tagged else t).of(x)
        returned = "return" in state
        value = None
        if returned:
            parts = [state[f"return {k}"] for k in range(max(1, low.returns[0] or 0))] if low.returns[0] is not None else None
            value = None if parts is None else parts[0] if low.returns[0] == -1 else tuple(parts)
        return (*(state.get(n, UNBOUND) for n in loop.stored), returned, value)


def _overlap(a, b):
    try:
        return shares_memory(a, b, max_work=1000)
    except numpy.exceptions.TooHardError:
        return True


def _counts(numbers):
    """Whether machine code counts them."""
    return type(numbers) is range and all(-(2**62) <= n < 2**62 for n in (numbers.start, numbers.stop, numbers.step))


def _log(text):
    _plait.log_fallback(text)
