"""numpy.vectorize: functions that can be traced are computed of whole arrays; others are called for each element, by machine code or by NumPy."""

import math
import time
import types

import numpy

from . import _plait
from ._conversion import from_numpy, to_numpy
from ._fallback import call
from ._plait import lazy_scalar, ndarray
from ._pure import guarded
from ._traced import Trace, arrays, computed
from ._values import Untraceable

FEW = 1 << 12  # elements that NumPy is faster with
CALL = 5e-6  # seconds that one takes, where otypes are given and none was made
_NUMBERS = bool, int, float


def called(of, args, kwargs):
    """What one call of a _called.vectorize gives."""
    if of._seconds is not None and not kwargs and all(type(x) is ndarray or type(x) in _NUMBERS for x in args):
        n = math.prod({x.shape: x.size for x in args if type(x) is ndarray}.values())  # at most; arrays of one shape count once
        if n < FEW and n * of._seconds < of._worth:
            started = time.perf_counter()
            results = call(numpy.vectorize.__call__.__get__(of), args, None, f"vectorize: fewer than {FEW} elements")
            of._seconds = (time.perf_counter() - started) / max(n, 1)
            return results
    call_of = _Call(of, args, kwargs)
    try:
        if of._untraced is not None:
            raise Untraceable(of._untraced)
        return call_of.traced()
    except Untraceable as e:
        try:
            results = call_of.looped()
            of._untraced = str(e)
            return results
        except Untraceable as f:
            why = f"{e}; {f}" if str(f) else e
            of._seconds = call_of.seconds or CALL
            return call(call_of.by_numpy, args, kwargs, f"vectorize: {why}")


class _Call:
    """One call of what vectorize made."""

    def __init__(self, of, args, kwargs):
        self.of = of
        excluded = of.excluded
        self.args, self.kwargs = list(args), dict(kwargs)
        self.places = [(self.args, i) for i in range(len(args)) if i not in excluded]
        self.places += [(self.kwargs, name) for name in kwargs if name not in excluded]
        self.first = None  # what the function gave for the first elements, which NumPy asks it for
        self.seconds = 0.0  # that it took for them

    def by_numpy(self, *args, **kwargs):
        if self.first is None:
            return numpy.vectorize.__call__(self.of, *args, **kwargs)
        pending = [self.first]

        def function(*args, **kwargs):
            return pending.pop() if pending else self.of.pyfunc(*args, **kwargs)

        function.__name__ = getattr(self.of.pyfunc, "__name__", "?")  # NumPy's name for what has none

        return numpy.vectorize(function, excluded=self.of.excluded, cache=self.of.cache)(*args, **kwargs)

    def looped(self):
        """The results, by a loop over all elements in machine code, where the function takes long enough."""
        of = self.of
        if of.signature is not None or self.kwargs or len(self.places) < len(self.args) or type(of.pyfunc) is not types.FunctionType:
            raise Untraceable
        given = [_operand(x) for x in self.args]
        shape = _broadcast(given)
        n = math.prod(shape)
        if n == 0 or any(_plait.on_device(x) for x in given if isinstance(x, ndarray)):
            raise Untraceable
        from ._python_loops.each import Stays, each, readable

        if not readable(of.pyfunc):
            raise Untraceable
        several, dtypes = self._dtypes(given)
        if n * (self.seconds or CALL) < of._worth:
            raise Untraceable
        flat = [numpy.broadcast_to(to_numpy(x), shape).reshape(-1) if isinstance(x, ndarray) else x for x in given]
        made = [numpy.empty(n, t) for t in dtypes]
        try:
            each(of.pyfunc, flat, made)
        except Stays as e:
            raise Untraceable(f"its loop stays Python's: {e}") from None
        results = _fresh([from_numpy(x).reshape(shape) for x in made], given, shape)
        return tuple(results) if several else results[0]

    def traced(self):
        """The results, computed of whole arrays. Raises Untraceable where the function is NumPy's to run."""
        of = self.of
        if of.signature is not None or not self.places:
            raise Untraceable("a signature" if self.places else "no arguments")
        given = [_operand(holder[at]) for holder, at in self.places]
        shape = _shape(given)
        if numpy.geterr()["under"] != "ignore":
            raise Untraceable("underflow is not ignored")
        trace = Trace()
        args, kwargs = list(map(_constant, self.args)), {k: _constant(v) for k, v in self.kwargs.items()}
        for (holder, at), x in zip(self.places, given):
            (args if holder is self.args else kwargs)[at] = trace.argument(x) if isinstance(x, ndarray) else x
        with numpy.errstate(all="raise" if trace.watching else "ignore", under="ignore"):  # of numbers of the function's own
            leaves = trace.follow(guarded(of.pyfunc), self._guarded(args), self._guarded(kwargs))
        several, dtypes = self._dtypes(given)
        results = computed(trace, leaves, dtypes, several)
        flagged = trace.flagged(exactly=False)
        del leaves, args, kwargs  # live arrays would be stored
        with numpy.errstate(all="ignore"):
            *results, found = arrays([*results, flagged])
            if any(not isinstance(x, ndarray) for x in results) and any(_plait.on_device(x) for x in given if isinstance(x, ndarray)):
                raise Untraceable("a constant as the result, on a device")
            results = _fresh(results, given, shape)
            if found is not False and _any(found, *results):
                (found,) = arrays([trace.flagged(exactly=True)])
                if _any(found):
                    raise Untraceable("elements that raise, warn, or go a way that is not traced")
        return tuple(results) if several else results[0]

    def _guarded(self, given):
        varied = {(id(holder), at) for holder, at in self.places}
        if type(given) is list:
            return [x if (id(self.args), i) in varied else guarded(x) for i, x in enumerate(given)]
        return {k: x if (id(self.kwargs), k) in varied else guarded(x) for k, x in given.items()}

    def _dtypes(self, given):
        """(whether the results are a tuple, their dtypes): as otypes say, or as the first element has them."""
        of = self.of
        if of.otypes is not None:
            return len(of.otypes) > 1, _stored(of.otypes)
        args, kwargs = to_numpy(list(self.args)), to_numpy(dict(self.kwargs))
        for holder, at in self.places:
            where = args if holder is self.args else kwargs
            where[at] = numpy.asarray(where[at]).flat[0]
        started = time.perf_counter()
        self.first = of.pyfunc(*args, **kwargs)
        self.seconds = time.perf_counter() - started
        several = isinstance(self.first, tuple)
        if several and len(self.first) < 2:
            raise Untraceable("a tuple of fewer than two results")
        return several, _stored([numpy.asarray(x).dtype.char for x in (self.first if several else (self.first,))])


def _stored(chars):
    """The dtypes of results."""
    dtypes = [numpy.dtype(c) for c in chars]
    for dtype in dtypes:
        if dtype.kind not in "biuf" or dtype.itemsize > 8:
            raise Untraceable(f"results of dtype {dtype}")
    return dtypes


def _operand(x):
    kind = type(x)
    if kind in _NUMBERS or kind is ndarray:
        return x
    if kind is numpy.ndarray or kind is lazy_scalar:
        import plait

        return plait.asarray(x)
    raise Untraceable(f"an argument of type {kind.__name__}")


def _spread(x, shape):
    import plait

    return plait.broadcast_to(plait.asarray(x), shape).copy()


def _fresh(results, given, shape):
    """The results as arrays of their own, which lie in memory as those of a ufunc of all that was given."""
    import plait

    taken = {id(x) for x in given}  # what a function returns as it came
    order = _order(given)
    made = []
    for x in results:
        if not isinstance(x, ndarray) or x.shape != shape:
            x = _spread(x, shape)
        if id(x) in taken or not x.transpose(order).flags.c_contiguous:
            place = plait.empty([shape[axis] for axis in order], x.dtype).transpose(numpy.argsort(order).tolist())
            place[...] = x
            x = place
        taken.add(id(x))
        made.append(x)
    return made


def _order(given):
    """The axes of results, those of the longest steps first."""
    arrays_given = [x for x in given if isinstance(x, ndarray)]
    if all(x.flags.c_contiguous for x in arrays_given):
        return range(max(x.ndim for x in arrays_given))
    one = numpy.zeros(1, bool)  # stands for memory, which nobody reads
    shown = [numpy.lib.stride_tricks.as_strided(one, x.shape, x.strides) for x in arrays_given]
    flags = [["readonly"]] * len(shown) + [["writeonly", "allocate"]]
    steps = numpy.nditer([*shown, None], op_flags=flags, op_dtypes=["?"] * len(flags)).operands[-1].strides
    return numpy.argsort([-s for s in steps], kind="stable").tolist()


def _any(found, *others):
    """Whether found is true anywhere; what else is to be computed, is in the same pass."""
    if isinstance(found, bool):
        return found
    found = found.any(keepdims=True)  # an array, which is computed with the others
    _plait.evaluate(*others, found)
    return bool(found)


def _constant(x):
    return to_numpy(x) if isinstance(x, ndarray) else x


def _broadcast(operands):
    try:
        return numpy.broadcast_shapes(*(x.shape for x in operands if isinstance(x, ndarray)))
    except ValueError as e:
        raise Untraceable(str(e)) from None


def _shape(operands):
    shape = _broadcast(operands)
    if math.prod(shape) < max(FEW, 1):
        raise Untraceable(f"fewer than {FEW} elements")
    return shape
