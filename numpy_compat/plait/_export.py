"""plait.export(fn, example_args, path): a function as one file, which plait.load (_program.py) runs without what recorded, planned and compiled it.

A plan's numbers (extents, strides, offsets) are those of the arrays that it was made for. For extents that are to differ from
call to call, the function is recorded at several of them: where the graphs are alike, they share a plan, and each number is a
polynomial of the extents, found by differences and checked at others. So nothing is said about extents that was not seen.
"""

import inspect
import itertools
import json
import os
import tempfile
import traceback

import numpy

from . import _caught, _plait
from ._jit import _Jitted, jit
from ._plait import lazy_scalar
from ._program import Error, is_ours, load
from ._progress import Progress
from ._source import Source

_MOST_EXTENTS = 3
_MOST_VARIANTS = 400
_MOST_INTERVALS = 1000  # of one extent
_MOST_BYTES = 1 << 38  # of an array that a function is recorded with, whose memory nobody touches
_UNBOUNDED = 1 << 62
_CONSTANT, _NUMBER, _QUOTIENT = range(3)  # engine::NumberScalar::Kind
_ARGUMENT, _CONSTANT_LEAF, _UNWRITTEN = range(3)  # engine::Variant::Leaf::Kind


def export(fn, example_args, path, *, dynamic=(), targets=None):
    """Writes a function of arrays to a file that plait.load, plait::load and libplait_run run without it.

    fn: as of plait.jit, and pure: what it returns, and writes to them, depends on its array arguments alone, and none of it on their
    elements before it returns. It returns arrays or scalars, also in tuples, lists and dicts. Arrays of globals and closures become constants.
    example_args: tuple of the arguments. Arrays say dtypes and extents; what else there is, is fixed.
    path: str or path-like; written whole or not at all.
    dynamic: extents that may differ from call to call, at most three: axes of the first array (an equal extent of another array
    is the same extent), or a dict {argument's name or position: axes}, where axes is a sequence, or a dict {axis: name} of
    which equal names are one extent. They have to be 1 or more; others are checked by each call.
    targets: processors to compile for, of this architecture: "x86-64-v2", "x86-64-v3", "x86-64-v4", or "aarch64"; or "host".
    None: the last two of the architecture's.

    Results are those of plait.jit's plans to the bit; floating-point warnings are not given. What is no loop (sorts,
    searches, running sums; the manifest's "operations" lists them) runs by plait.load alone, not by libplait_run, which has
    loops and products. Indices that are arguments are checked by each call (IndexError). Raises plait.Error where fn cannot be exported, and says why; TypeError and ValueError for wrong arguments; OSError where path cannot be written.
    """
    example = tuple(example_args)
    function = _Function(fn, example, dynamic)
    tiers = _tiers(targets)
    try:
        data = function.file(tiers)
    except BaseException as e:
        function.forget(e)
        raise
    directory = os.path.dirname(os.path.abspath(os.fsdecode(path)))
    with tempfile.NamedTemporaryFile(dir=directory, prefix=".plait", delete=False) as f:
        try:
            f.write(data)
            f.close()
            os.chmod(f.name, 0o644)
            _check(f.name, fn, example)
            os.replace(f.name, path)
        except BaseException:
            os.unlink(f.name)
            raise


def _tiers(targets):
    names = _plait.target_names()
    known = {name: t for t, name in enumerate(names)}
    known["host"] = _plait.host_tier()
    targets = names[-2:] if targets is None else (targets,) if isinstance(targets, str) else tuple(targets)
    unknown = [t for t in targets if t not in known]
    if unknown or not targets:
        raise ValueError(f"target {unknown[0]!r} is none of {', '.join(known)}" if unknown else "there is no target")
    return list(dict.fromkeys(known[t] for t in targets))


def _check(path, fn, example):
    """The program gives what the function does."""
    from ._state import config

    # Copies, as it may write to them.
    first, second = ([a.copy() if isinstance(a, numpy.ndarray) else a for a in example] for _ in range(2))
    arrays = [a for a in second if isinstance(a, numpy.ndarray)]
    plan, config.plan = config.plan, "always"
    try:
        with numpy.errstate(all="ignore"):
            expected, made = _flat(jit(fn)(*first), []), _flat(load(path)(*arrays), [])
        expected += [a for a in first if isinstance(a, numpy.ndarray)]
        made += arrays
    finally:
        config.plan = plan
    same = len(expected) == len(made) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in zip(map(numpy.asarray, expected), map(numpy.asarray, made))
    )
    if not same:
        raise Error("the exported program does not give what the function does; is it pure?")


def _flat(x, out):
    if isinstance(x, (tuple, list)):
        for v in x:
            _flat(v, out)
    elif isinstance(x, dict):
        for v in x.values():
            _flat(v, out)
    else:
        out.append(x)
    return out


class _Results:
    """The arrays of what a function returned, and how they stand in it."""

    def __init__(self, given):
        self.given, self.arrays, self.kinds = given, [], []

    def tree(self, x):
        if is_ours(x) or type(x) is lazy_scalar:
            scalar = type(x) is lazy_scalar
            # What is not an array of its own is copied, so that results are C-contiguous and alias nothing.
            own = scalar or (x.base is None and x.flags.c_contiguous and all(x is not a for a in (*self.given, *self.arrays)))
            self.arrays.append(x if own else x.copy())
            return {"scalar" if scalar else "array": len(self.arrays) - 1}
        if isinstance(x, (tuple, list)):
            return {"list" if isinstance(x, list) else "tuple": [self.tree(v) for v in x]}
        if isinstance(x, dict) and all(isinstance(k, str) for k in x):
            return {"dict": [[k, self.tree(v)] for k, v in x.items()]}
        if x is None or isinstance(x, (bool, int, float, str)) and type(x).__module__ == "builtins":
            return {"constant": x}
        raise Error(f"it returns an object of {type(x).__name__}, which is no array that it computes")


class _Recorded:
    """The function, recorded with arrays of some extents."""

    def __init__(self, function, extents):
        self.extents = extents
        _, call = function.jitted.begin()
        with _caught.uncaught(), numpy.errstate(all="warn", under="ignore"):  # nothing is computed here
            self._record(function, extents, call)

    def _record(self, function, extents, call):
        with call:
            args, _ = call.arguments(function.arguments(extents), {})
            arrays = [args[i] for i in function.positions]
            self.call = _plait.export_call(arrays)
            results = _Results(arrays)
            try:
                self.tree = results.tree(function.jitted.target.function(*args))
                self.why, self.site = self.call.end(results.arrays)
            except BaseException as e:
                obstacle = self.call.obstacle()
                self.call.end(None)
                if obstacle and isinstance(e, ValueError):  # the recorder's, where the function met it
                    raise Error(obstacle + _there(_raised_at(e))) from e
                raise
            self.results = [(str(a.dtype), a.ndim) for a in results.arrays]


class _Function:
    def __init__(self, fn, example, dynamic):
        self.jitted = _Jitted(fn, None, False)
        self.name = getattr(fn, "__qualname__", repr(fn))
        self.example = example
        self.positions = [i for i, a in enumerate(example) if isinstance(a, numpy.ndarray)]
        if not self.positions:
            raise TypeError("example_args has no array of NumPy's or Plait's: it is a tuple of the arguments, as (x,)")
        names = _parameters(fn, len(example))
        self.names = [names[i] for i in self.positions]
        self.shapes = [example[i].shape for i in self.positions]
        self.dtypes = [numpy.dtype(example[i].dtype) for i in self.positions]
        self.extents = {}  # name: of the example
        self.axes = [[-1] * len(shape) for shape in self.shapes]
        self._name_extents(dynamic)
        if len(self.extents) > _MOST_EXTENTS:
            raise ValueError(f"at most {_MOST_EXTENTS} extents may be dynamic, not {len(self.extents)}")
        self.recorded = {}
        self.operations = set()  # that are no regions

    def _name_extents(self, dynamic):
        if isinstance(dynamic, dict):
            for which, axes in dynamic.items():
                at = self._array(which)
                named = axes if isinstance(axes, dict) else {d: None for d in axes}
                for axis, name in named.items():
                    self._dynamic(at, axis, name)
            return
        for axis in dynamic:
            extent = self._dynamic(0, axis, None)
            for i, shape in enumerate(self.shapes):
                for d, n in enumerate(shape):
                    if n == extent and self.axes[i][d] < 0:
                        self.axes[i][d] = len(self.extents) - 1

    def _array(self, which):
        if isinstance(which, str) and which in self.names:
            return self.names.index(which)
        if not isinstance(which, str) and which in self.positions:
            return self.positions.index(which)
        raise ValueError(f"dynamic: {which!r} is no array of example_args")

    def _dynamic(self, at, axis, name):
        shape = self.shapes[at]
        if not -len(shape) <= axis < len(shape):
            raise numpy.exceptions.AxisError(axis, len(shape))
        axis %= len(shape)
        name = name or f"{self.names[at]}_{axis}"
        if shape[axis] < 1 or self.extents.setdefault(name, shape[axis]) != shape[axis]:
            raise ValueError(f"the extent {name!r} is {shape[axis]} in argument '{self.names[at]}', and has to be the same of all, and 1 at least")
        self.axes[at][axis] = list(self.extents).index(name)
        return shape[axis]

    def arguments(self, extents):
        """Arguments of such extents; nobody reads or writes their elements."""
        args = list(self.example)
        for position, shape, axes, dtype in zip(self.positions, self.shapes, self.axes, self.dtypes):
            shape = tuple(n if e < 0 else extents[e] for n, e in zip(shape, axes))
            size = int(numpy.prod(shape, dtype=object)) * dtype.itemsize
            if size > _MOST_BYTES:
                raise _TooLarge
            try:
                args[position] = _plait.untouched(dtype, shape)
            except MemoryError:  # this process may not have so many addresses
                raise _TooLarge from None
        return args

    def forget(self, exception):
        """Frees what was recorded, which nobody is to compute: arrays of these sizes have no memory."""
        self.recorded.clear()
        while exception:
            traceback.clear_frames(exception.__traceback__)
            exception = exception.__cause__ or exception.__context__

    def refused(self, why):
        return Error(f"{self.name} cannot be exported: {why}")

    def record(self, extents):
        """Raises Error where the function cannot be exported."""
        if extents not in self.recorded:
            try:
                made = _Recorded(self, extents)
                if made.why:
                    raise Error(made.why + _there(_plait.site(made.site)))
            except Error as e:
                raise self.refused(e) from e.__cause__
            self.recorded[extents] = made
        return self.recorded[extents]

    def alike(self, plan, extents):
        """Whether the function recorded at these extents has the plan."""
        try:
            return plan.holds(self.record(extents).call)
        except _TooLarge:
            return True  # from its last class of sizes on
        except Exception:
            return False  # the function refuses such arrays

    def file(self, tiers):
        example = tuple(self.extents.values())
        at_example = self.record(example)
        arguments = list(zip(self.names, self.dtypes, map(list, self.shapes), self.axes))
        file = _plait.export_file(tiers, list(self.extents), arguments, at_example.results)
        with Progress(f"exporting {self.name}") as progress:
            intervals = []
            for e, name in enumerate(self.extents):
                progress.step(f"where its graph changes with {name}")
                intervals.append(self.intervals(e))
            boxes = sorted(itertools.product(*intervals), key=lambda box: _distance(box, example))[:_MOST_VARIANTS]
            for i, box in enumerate(boxes):
                progress.step(f"variant {i + 1} of {len(boxes)}")
                self.add(file, box, example, needed=i == 0)
                self.recorded.clear()
        manifest = {
            "function": self.name,
            "plait": _plait.__version__,
            "targets": [_plait.target_names()[t] for t in tiers],
            "extents": list(self.extents),
            "arguments": [
                {"name": n, "dtype": str(d), "shape": [s if e < 0 else list(self.extents)[e] for s, e in zip(shape, axes)]}
                for n, d, shape, axes in zip(self.names, self.dtypes, self.shapes, self.axes)
            ],
            "results": at_example.tree,
            "operations": sorted(self.operations),
        }
        with Progress(f"exporting {self.name}") as progress:
            progress.step(f"machine code for {', '.join(manifest['targets'])}", at_once=True)
            return file.bytes(json.dumps(manifest))

    def intervals(self, e):
        """Ranges of one extent in which the function's graphs are alike, the others as in the example."""
        example = tuple(self.extents.values())

        def at(n):
            return (*example[:e], n, *example[e + 1 :])

        found, n = [], 1
        while n < _UNBOUNDED:
            self.recorded.clear()
            try:
                plan = self.record(at(n)).call.plan()
            except _TooLarge:
                break
            except Exception:  # the function's: it refuses such arrays
                if n > example[e]:
                    break
                n = n + 1 if n < 64 else min(2 * n, example[e])
                continue
            last, step = n, 1
            while last < _UNBOUNDED and self.alike(plan, at(last + step)):
                last, step = last + step, step * 2
            while step > 1 and last < _UNBOUNDED:
                step //= 2
                if self.alike(plan, at(last + step)):
                    last += step
            found.append((n, min(last, _UNBOUNDED)))
            if len(found) > _MOST_INTERVALS:
                raise self.refused(_NoPolynomial())
            n = last + 1
        return found

    def add(self, file, box, example, needed):
        """Variants for extents in the box: where the graph's or the plan's numbers are of other classes in parts of it, several."""
        inside = tuple(x if lo <= x <= hi else _middle(lo, hi) for x, (lo, hi) in zip(example, box))
        corners = itertools.product(*((lo, min(hi, 4 * lo + 1000)) for lo, hi in box))
        plans = []
        for at in dict.fromkeys((inside, *corners)):
            if any(self.alike(plan, at) for plan in plans):
                continue
            required = needed and at == inside
            try:
                plan = self.record(at).call.plan()
                self.add_variant(file, box, at, plan)
                plans.append(plan)
                self.operations.update(plan.operations())
            except _NoPolynomial as e:
                if required:
                    raise self.refused(e) from None
            except Exception:  # the function's: it refuses such arrays
                if required:
                    raise

    def add_variant(self, file, box, at, plan):
        points = [min(3, hi - lo + 1) for lo, hi in box]
        base = [min(x, hi - n + 1) for x, n, (_, hi) in zip(at, points, box)]
        grid = [tuple(b + k for b, k in zip(base, ks)) for ks in itertools.product(*map(range, points))]
        if not all(plan.holds(self.record(x).call) for x in grid):
            raise _NoPolynomial("its plan for the example does not hold for extents near it")
        further = [tuple(min(hi, x + step) for x, (_, hi) in zip(at, box)) for step in (7, 100, 1001)]
        further += [tuple(max(lo, x - step) for x, (lo, _) in zip(at, box)) for step in (5, 50)]
        others = [x for x in dict.fromkeys(further) if x not in grid and self.alike(plan, x) and x in self.recorded]
        fit = _Fit(points, base, [self.record(x) for x in grid], [self.record(x) for x in others], plan)
        file.add(plan, list(box), base, points, fit.numbers(), fit.scalars(), fit.leaves(file), fit.shapes(), fit.checks())


class _TooLarge(Exception):
    pass


class _NoPolynomial(Exception):
    def __init__(self, why="a number in it follows from the dynamic extents in another way than by a polynomial of second degree", site=0):
        super().__init__(why + _there(_plait.site(site)))


_INTERNAL = tuple(os.path.dirname(m.__file__) + os.sep for m in (_plait, numpy))


def _raised_at(exception):
    """The instruction of the caller's program that raised it: (code, offset) or None."""
    frames = [(t.tb_frame.f_code, t.tb_lasti) for t in _tracebacks(exception)]
    return next((f for f in reversed(frames) if not f[0].co_filename.startswith(_INTERNAL)), None)


def _tracebacks(exception):
    t = exception.__traceback__
    while t:
        yield t
        t = t.tb_next


def _there(instruction):
    """The end of a message: the line, and the operation in it, of an instruction of a code object; nothing where that is not known."""
    if instruction is None:
        return ""
    source = Source()
    where, _, line = source.describe(*instruction)
    operation = source.around(*instruction)[0]
    return f" ({where}: {line if operation is None else source.text(operation)})"


class _Fit:
    """The numbers of one plan as polynomials of the extents."""

    def __init__(self, points, base, grid, others, plan):
        self.points, self.base, self.grid, self.others, self.plan = points, base, grid, others, plan

    def differences(self, values, elsewhere, site=0):
        """Newton's differences of the values on the grid. Raises _NoPolynomial where they do not give those elsewhere."""
        if all(v == values[0] for v in (*values, *elsewhere)):
            return [values[0]]
        table = numpy.array(values, dtype=object).reshape(self.points)
        for axis, n in enumerate(self.points):
            for k in range(1, n):
                later = [slice(None)] * len(self.points)
                later[axis] = slice(k, None)
                table[tuple(later)] = numpy.diff(table, axis=axis)[tuple(slice(k - 1, None) if d == axis else slice(None) for d in range(table.ndim))]
        for recorded, value in zip(self.others, elsewhere):
            sum = 0
            for ks in itertools.product(*map(range, self.points)):
                factor = 1
                for k, x, b in zip(ks, recorded.extents, self.base):
                    factor *= (1, x - b, (x - b) * (x - b - 1) // 2)[k]
                sum += factor * table[ks]
            if sum != value:
                raise _NoPolynomial(site=site)
        return [int(v) for v in table.ravel()]

    def numbers(self):
        grid, others = ([self.plan.numbers(r.call) for r in rs] for rs in (self.grid, self.others))
        sites = self.plan.sites(self.grid[0].call)
        return [self.differences([n[i] for n in grid], [n[i] for n in others], sites[i]) for i in range(len(grid[0]))]

    def scalars(self):
        grid, others = ([self.plan.scalars(r.call) for r in rs] for rs in (self.grid, self.others))
        return [self.scalar([s[i] for s in grid], [s[i] for s in others]) for i in range(len(grid[0]))]

    def scalar(self, grid, others):
        dtype = grid[0][0]
        everywhere = [data for _, data in (*grid, *others)]
        if all(data == everywhere[0] for data in everywhere):
            return _CONSTANT, dtype, everywhere[0], [0]
        values = [numpy.frombuffer(data, dtype)[0].item() for data in everywhere]
        split = len(grid)
        if all(not isinstance(v, complex) and v == int(v) for v in values):
            return _NUMBER, dtype, b"", self.differences([int(v) for v in values[:split]], [int(v) for v in values[split:]])
        # Something divided by an extent, or a product of some.
        recorded = (*self.grid, *self.others)
        for chosen in itertools.product((0, 1), repeat=len(self.base)):
            by = [int(numpy.prod([x for x, c in zip(r.extents, chosen) if c], dtype=object)) for r in recorded]
            of = float(round(values[0] * by[0]))
            if all(numpy.dtype(dtype).type(of / n).item() == v for n, v in zip(by, values)):
                return _QUOTIENT, dtype, numpy.float64(of).tobytes(), self.differences(by[:split], by[split:])
        raise _NoPolynomial

    def shape(self, everywhere, site=0):
        split = len(self.grid)
        return [self.differences(extents[:split], extents[split:], site) for extents in zip(*everywhere)]

    def shapes(self):
        everywhere = zip(*(r.call.shapes() for r in (*self.grid, *self.others)))
        return [self.shape(shapes, site) for shapes, site in zip(everywhere, self.grid[0].call.result_sites())]

    def checks(self):
        extents = zip(*(r.call.extents() for r in (*self.grid, *self.others)))
        fitted = {}
        for n in extents:
            if any(x != n[0] for x in n):
                fitted[tuple(self.differences(n[: len(self.grid)], n[len(self.grid) :]))] = n[0]
        return [(list(differences), n) for differences, n in fitted.items()]

    def leaves(self, file):
        everywhere = [r.call.leaves() for r in (*self.grid, *self.others)]
        made = []
        for leaf in zip(*everywhere):
            kind, node, number, dtype, _, own, data = leaf[0]
            extents = []
            if kind == _CONSTANT_LEAF:
                if any(other[6] != data for other in leaf):
                    raise Error("it reads an array that it does not record, whose contents depend on the dynamic extents")
                number = file.constant(data)
            if kind == _UNWRITTEN:
                extents = self.shape([other[4] for other in leaf])
            made.append((kind, node, number, dtype, extents, own, b""))
        return made


def _parameters(fn, n):
    """Names of the positional parameters."""
    try:
        names = [p.name for p in inspect.signature(fn).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        names = []
    return (names + [f"argument{i}" for i in range(len(names), n)])[:n]


def _middle(lo, hi):
    return lo if hi >= _UNBOUNDED else min(hi, max(lo, int((lo * hi) ** 0.5)))


def _distance(box, example):
    """How far from the example the box is, in powers of two; what holds it comes first."""
    outside = any(not lo <= x <= hi for (lo, hi), x in zip(box, example))
    return outside + sum(abs(min(max(lo, x), hi).bit_length() - x.bit_length()) for (lo, hi), x in zip(box, example))
