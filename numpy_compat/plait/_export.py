"""plait.export(fn, example_args, path): a function as one file, which plait.load (_program.py) runs without what recorded, planned and compiled it.

Which extents it is recorded with, and what is made of it, is the engine's (engine/programs/function_exporter.cpp).
"""

import contextlib
import inspect
import json
import os
import tempfile
import traceback
import warnings

import numpy

from . import _caught, _plait
from ._jit import _Jitted, jit
from ._plait import lazy_scalar
from ._program import Error, is_ours, load
from ._progress import Progress
from ._source import Source


def export(fn, example_args, path, *, dynamic=(), targets=None):
    """Writes a function of arrays to a file that plait.load, plait::load and libplait_run run without it.

    fn: as of plait.jit, and pure: what it returns, and writes to them, depends on its array arguments alone, and none of it on their
    elements before it returns. It returns arrays or scalars, also in tuples, lists and dicts. Arrays of globals and closures become constants.
    example_args: tuple of the arguments. Arrays say dtypes and extents; what else there is, is fixed.
    path: str or path-like; written whole or not at all.
    dynamic: extents that may differ from call to call, at most three: axes of the first array (an equal extent of another array
    is the same extent), or a dict {argument's name or position: axes}, where axes is a sequence, or a dict {axis: name} of
    which equal names are one extent. They are 1 or more in the example; others are checked by each call.
    targets: processors to compile for, of this architecture: "x86-64-v2", "x86-64-v3", "x86-64-v4", or "aarch64"; or "host".
    None: the last two of the architecture's.

    Results are those of plait.jit's plans to the bit; floating-point warnings are not given. What is no loop (sorts,
    searches, running sums; the manifest's "operations" lists them) runs by plait.load alone, not by libplait_run, which has
    loops and products. Indices that are arguments are checked by each call (IndexError). Raises plait.Error where fn cannot be exported, and says why; TypeError and ValueError for wrong arguments; OSError where path cannot be written.
    """
    example = tuple(example_args)
    function = _Function(fn, example, dynamic, _targets(targets))
    try:
        data = function.file()
    except BaseException as e:
        _forget(e)
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


def _targets(targets):
    """By name; none of them stands for the last two of the architecture's."""
    if targets is None:
        return []
    targets = [targets] if isinstance(targets, str) else list(targets)
    if not targets:
        raise ValueError("there is no target")
    return targets


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


class _Function:
    def __init__(self, fn, example, dynamic, targets):
        self.jitted = _Jitted(fn, None, False)
        self.name = getattr(fn, "__qualname__", repr(fn))
        self.example = example
        self.positions = [i for i, a in enumerate(example) if isinstance(a, numpy.ndarray)]
        if not self.positions:
            raise TypeError("example_args has no array of NumPy's or Plait's: it is a tuple of the arguments, as (x,)")
        names = _parameters(fn, len(example))
        self.names = [names[i] for i in self.positions]
        arrays = [example[i] for i in self.positions]
        self.exporter = _plait.exporter(targets, [(name, numpy.dtype(a.dtype), a.shape) for name, a in zip(self.names, arrays)])
        self._name_extents(dynamic)
        self.tree = None  # of what it returns for the example

    def _name_extents(self, dynamic):
        if isinstance(dynamic, dict):
            for which, axes in dynamic.items():
                at = self._array(which)
                named = axes if isinstance(axes, dict) else dict.fromkeys(axes, "")
                for axis, name in named.items():
                    self.exporter.name_extent(at, axis, name)
            return
        for axis in dynamic:
            self.exporter.name_extents(axis)

    def _array(self, which):
        if isinstance(which, str) and which in self.names:
            return self.names.index(which)
        if not isinstance(which, str) and which in self.positions:
            return self.positions.index(which)
        raise ValueError(f"dynamic: {which!r} is no array of example_args")

    def record(self, arrays):
        """A call with these arrays, whose elements nobody reads or writes; the first is of the example's extents."""
        args = list(self.example)
        for position, a in zip(self.positions, arrays):
            args[position] = a
        _, call = self.jitted.begin()
        with _quiet(), _caught.uncaught(), numpy.errstate(all="warn", under="ignore"), call:  # nothing is computed here
            args, _ = call.arguments(args, {})
            given = [args[i] for i in self.positions]
            made = _plait.export_call(given)
            results = _Results(given)
            try:
                tree = results.tree(self.jitted.target.function(*args))
                made.end(results.arrays)
            except BaseException as e:
                obstacle = made.obstacle()
                made.stop()
                if obstacle and isinstance(e, ValueError):  # the recorder's, where the function met it
                    raise self.refused(obstacle + _there(_raised_at(e))) from e
                if isinstance(e, Error):
                    raise self.refused(e) from e.__cause__
                raise
        self.tree = self.tree or tree
        return made

    def refused(self, why):
        return Error(f"{self.name} cannot be exported: {why}")

    def file(self):
        with Progress(f"exporting {self.name}") as progress:
            refusal = self.exporter.plan(self.record, progress.step)
        if refusal:
            why, site = refusal
            raise self.refused(why + _there(_plait.site(site)))
        return self.exporter.file(self.name, _plait.__version__, json.dumps(self.tree))


@contextlib.contextmanager
def _quiet():
    """What the function says of arrays without elements is of no use to who exports it. warnings.catch_warnings would have all computed that is pending."""
    before = list(warnings.filters)
    warnings.simplefilter("ignore", RuntimeWarning)
    try:
        yield
    finally:
        warnings.filters[:] = before


def _forget(exception):
    """Frees what was recorded, which nobody is to compute: arrays of these sizes have no memory."""
    while exception:
        traceback.clear_frames(exception.__traceback__)
        exception = exception.__cause__ or exception.__context__


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


def _parameters(fn, n):
    """Names of the positional parameters."""
    try:
        names = [p.name for p in inspect.signature(fn).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        names = []
    return (names + [f"argument{i}" for i in range(len(names), n)])[:n]
