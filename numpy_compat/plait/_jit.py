"""plait.jit: an unmodified NumPy function, run by Plait on the caller's NumPy arrays."""

import contextlib
import functools
import inspect
import types
import warnings
from threading import get_ident

from . import _foreign, _plait
from ._boundary import Call, crossing
from ._callees import calls_numpy_alone
from ._device import device as _Device
from ._foreign import has_foreign, lends
from ._functions import contents, jitted_of, original
from ._performance import PlaitPerformanceWarning as PlaitPerformanceWarning
from ._performance import Watch, report
from ._plait import has_foreign_class
from ._stand_ins import stand_in
from ._numpy_proxy import Swapped
from ._torch import know_torch


class ReplayWarning(UserWarning):
    """A function that was to be replayed runs as plait.jit runs any."""

    __module__ = "plait"


class Target:
    """The function to run in fn's place, the _numpy_proxy.Swapped that it is made of (or None), and the object whose method it is (or None)."""

    def __init__(self, fn, loops=False):
        self.owner = self.swapped = None
        self.loops = loops
        self.calls = None  # where loops are compiled: what the calls were like
        self.closed = True  # scalars may stay pending: nobody but NumPy's functions gets them
        self.function = self._made(fn)

    def _made(self, fn):
        if isinstance(fn, types.FunctionType):
            self.swapped = Swapped(fn, self.loops)
            if self.loops:
                from ._python_loops.versions import Calls

                self.calls = Calls(self.swapped.scope)
            self.closed = calls_numpy_alone(fn, original)
            return self.swapped.function
        if isinstance(fn, types.MethodType) and isinstance(fn.__func__, types.FunctionType):
            self.owner = fn.__self__
            return types.MethodType(self._made(fn.__func__), fn.__self__)
        if isinstance(fn, functools.partial):
            made = self._made(fn.func)
            named = stand_in if self.swapped is None else self.swapped.scope.own
            return functools.partial(made, *map(named, fn.args), **{k: named(v) for k, v in fn.keywords.items()})
        method = getattr(type(fn), "__call__", None)
        return self._made(types.MethodType(method, fn)) if isinstance(method, types.FunctionType) else stand_in(fn)


class _Jitted(_plait.Jitted):
    """How the calls of one function begin. `whole` and `direct` are set for those that need nothing from here (bindings/jitted.cpp)."""

    def __init__(self, fn, device, loops):
        self.fn, self.device, self.loops = fn, device, loops
        self.scoped = contextlib.nullcontext() if device is None else _Device(device)
        self.module = getattr(fn, "__module__", None)
        self.target = self.crossing = None
        self.watch = None  # what calls ask while some are watched
        self.watched = Watch(self)
        self.foreign_names = {}  # classes of arguments -> what fn uses of them that NumPy's arrays lack
        self.body = None  # of a function that may run in machine code as a whole
        self.untouched = None  # where the function may run as it was written

    def __reduce__(self):
        return _Jitted, (self.fn, self.device, self.loops)

    def look(self, run=None):
        """Before each call: how it may be made. run: what makes the calls of a function that returns."""
        if self.target is None:
            know_torch()
            self.target = Target(self.fn, self.loops)
            if self.target.calls is not None:
                self.target.calls.watch = self.watched
            if self.device is None and self.target.owner is None:
                self.crossing = crossing(self.target, self.module)
            if run is not None and self.loops and self.device is None and self.target.swapped and isinstance(self.fn, types.FunctionType):
                from ._python_loops.direct import direct_call

                self.direct = direct_call(self.fn, self.target.swapped)
                if self.direct is not None:
                    from ._python_loops.whole import whole_call

                    self.body, self.whole = whole_call(self.fn, self.target.swapped, self.direct)
                    self.failed = _cleaned
                    _plait.call_natively(run)
        calls = self.target.calls
        if calls is not None and isinstance(self.fn, types.FunctionType) and calls.to_be_looked_at(self.untouched):
            from ._python_loops.untouched import untouched

            self.untouched = untouched(self.fn, self.target.swapped.scope, calls)

    def begin(self):
        self.look()
        return self.target.function, Call(self.target, self.scoped, self.module)


def _cleaned(error):
    from ._python_loops.tracebacks import cleaned

    cleaned(error)


def _function(jitted):
    jitted.watch = jitted.watched

    def run(*args, **kwargs):
        began = None
        try:
            if has_foreign_class(args):
                return _foreign.call(jitted, run, args, kwargs)
            watch = jitted.watch
            if watch is not None:
                began = watch.begin()
            untouched = jitted.untouched
            if untouched is not None:
                if untouched.running == get_ident():
                    return jitted.fn(*args, **kwargs)  # it calls itself
                if untouched.takes(args, kwargs):
                    return untouched.run(args, kwargs)
            jitted.look(run)
            if jitted.crossing is not None and jitted.crossing.takes(args, kwargs):
                return jitted.crossing.run(args, kwargs)
            if has_foreign(args, kwargs):
                return _foreign.call(jitted, run, args, kwargs)
            call = Call(jitted.target, jitted.scoped, jitted.module)
            with call:
                given, named = call.arguments(args, kwargs)
                return call.outward(jitted.target.function(*given, **named))
        except BaseException as error:
            if began is not None:
                watch.drop(began)
                began = None
            # Raised again as it is, the traceback gets no other entry of this function.
            error.__traceback__ = error.__traceback__.tb_next
            if jitted.loops:
                _cleaned(error)
            raise
        finally:
            if began is not None:
                watch.end(began, args)

    return run


def _pieces(call, begin, each):
    """Runs begin()'s generator or coroutine, between yields of its own: a jitted call each, as the caller runs meanwhile. `each` is what
    becomes of what it yields."""
    inner, resume, value = None, None, None
    while True:
        with call:
            if inner is None:
                inner = begin()
                resume = inner.send
            try:
                item = each(resume(call.inward(value)))
            except StopIteration as end:
                return call.outward(end.value)
        try:
            value, resume = (yield item), inner.send
        except GeneratorExit:
            with call:
                inner.close()
            raise
        except BaseException as e:
            value, resume = e, inner.throw


def _begin(function, call, args, kwargs):
    def begin():
        given, named = call.arguments(args, kwargs)
        return function(*given, **named)

    return begin


def _generator(jitted):
    def run(*args, **kwargs):
        if lends(jitted, args, kwargs):
            return (yield from _foreign.generator(jitted, run, args, kwargs))
        function, call = jitted.begin()
        return (yield from _pieces(call, _begin(function, call, args, kwargs), call.outward))

    return run


_awaited = types.coroutine(_pieces)


def _as_it_is(x):
    return x


def _coroutine(jitted):
    async def run(*args, **kwargs):
        if lends(jitted, args, kwargs):
            return await _foreign.coroutine(jitted, run, args, kwargs)
        function, call = jitted.begin()
        return await _awaited(call, _begin(function, call, args, kwargs), _as_it_is)

    return run


def _async_generator(jitted):
    async def run(*args, **kwargs):
        function, call = jitted.begin()
        inner = None

        def first(_):
            nonlocal inner
            inner = _begin(function, call, args, kwargs)()
            return inner.asend(None)

        resume, value = first, None
        while True:
            try:
                item = await _awaited(call, lambda: resume(call.inward(value)), call.outward)
            except StopAsyncIteration:
                return
            try:
                value, resume = (yield item), inner.asend
            except GeneratorExit:
                await inner.aclose()
                raise
            except BaseException as e:
                value, resume = e, inner.athrow

    return run


def _kind(fn):
    function = inspect.unwrap(fn.func if isinstance(fn, functools.partial) else fn)
    for is_kind, make in (
        (inspect.isasyncgenfunction, _async_generator),
        (inspect.iscoroutinefunction, _coroutine),
        (inspect.isgeneratorfunction, _generator),
    ):
        if is_kind(function):
            return make
    return _function


def _replayed(jitted):
    """The jitted function behind what runs kept plans in its place."""
    run = _function(jitted)
    told = False

    def miss(*args, **kwargs):
        nonlocal told
        if told:
            return run(*args, **kwargs)
        if has_foreign(args, kwargs):
            return _foreign.call(jitted, replayed, args, kwargs)
        function, call = jitted.begin()
        with call:
            given, named = call.arguments(args, kwargs)
            why = "" if call.outer else replayed._begin(args, kwargs, given, named)
            watched = why is None
            try:
                result = function(*given, **named)
                if watched:
                    why = replayed._end(result) if not call.changed() else "it changes a list or a dict among its arguments"
            finally:
                if watched:
                    replayed._end()
            if why:
                told = True
                name = getattr(jitted.fn, "__qualname__", repr(jitted.fn))
                warnings.warn(f"{name}() runs as without replay=True: {why}", ReplayWarning, stacklevel=2)
            return call.outward(result)

    replayed = _plait.replayed(miss)
    replayed._jitted = jitted
    return replayed


# How attributes are found has nothing to compute, and __del__ may run when modules are gone.
_LEFT_ALONE = "__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__del__"


def _class(cls, device, loops):
    """Jits the methods and properties that the class itself defines."""
    jitted = []
    for name, value in list(vars(cls).items()):
        if name in _LEFT_ALONE:
            continue
        if isinstance(value, types.FunctionType):
            made = jit(value, device=device, loops=loops)
        elif isinstance(value, (staticmethod, classmethod)) and isinstance(value.__func__, types.FunctionType):
            made = type(value)(jit(value.__func__, device=device, loops=loops))
        elif type(value) is property:
            parts = (value.fget, value.fset, value.fdel)
            made = property(*(f and jit(f, device=device, loops=loops) for f in parts), value.__doc__)
        else:
            continue
        setattr(cls, name, made)
        jitted.append(name)
    if not jitted:
        raise TypeError(f"jit() of a class is of the methods that it defines in Python; {cls.__name__} defines none")
    return cls


def jit(fn=None, *, device=None, replay=False, loops=True):
    """Runs fn, written for NumPy, with Plait in NumPy's place; also a decorator.

    fn: a function whose globals hold numpy, modules of it or names imported from it, or which imports them itself; functions of
    the same module that it calls are included. A generator function, an async function, or a class, whose own methods and
    properties are jitted in place; the class is returned. NumPy arrays in the arguments are borrowed without a copy, and writes
    to them are seen when the call returns, yields or awaits. What it returns, yields, or leaves in attributes of its arguments,
    in globals and in nonlocal names, are NumPy arrays and scalars (Plait's, when an argument was Plait's). Exceptions pass
    through.
    Arrays of other libraries (torch, JAX, CuPy, all with DLPack or __cuda_array_interface__), also in lists, tuples, dicts and
    dataclasses, are lent as NumPy's are: in the function they are arrays, and results are arrays of the first one's library over
    the memory of the result. Raises TypeError for one that has no memory to lend (sparse, meta, traced by JAX or torch.compile),
    or that is on another device than the others or than was asked for, and RuntimeError for a tensor that requires grad.
    Where fn's source uses on them what NumPy's arrays lack (`x.unsqueeze(0)`, `x.sum(dim=1)`), fn gets them as they are.
    device: str or plait.device, where to run it; then arguments and results are copied, once each. Raises DeviceError when it
    is not there.
    replay: True says that fn is pure: what it returns and writes into its arguments depends on its arguments alone. A call with
    arguments of shapes, dtypes, strides and overlaps, and of Python values, that were seen twice then runs the kept plan, and
    not fn; the calls made last are kept. The first call with such arguments is as without replay, and the second is watched;
    while a long plan for it is made in the background, further ones are as without. Objects of Python classes count by identity
    and by their attributes, and are kept alive. Results are fresh arrays, and alias arguments and each other as they did. Arrays
    in globals and closures stay the objects that were found there, with their contents at each call. Where fn needs a value
    before it returns (an `if`, float(), print, an index), draws random numbers, calls what NumPy has to do, writes to an array
    that is no argument, or runs on a device, it runs as without replay, and a ReplayWarning says so once.
    loops: whether Python's own loops over numbers and elements of arrays run in machine code where that is possible
    (docs/python_loops.md). A replayed function's loops are recorded instead.

    Returns the function; its report() is a text of its calls so far: times, lines with regions and fallbacks, loops.
    """
    if fn is None:
        return functools.partial(jit, device=device, replay=replay, loops=loops)
    if isinstance(fn, type):
        if replay:
            raise TypeError("jit() of a class has no replay; give it to the methods")
        return _class(fn, device, loops)
    if not callable(fn):
        raise TypeError(f"jit() takes a callable, not {type(fn).__name__}")
    kind = _kind(fn)
    if replay and kind is not _function:
        raise TypeError("replay=True is for functions that return, not for generators and coroutines")
    jitted = _Jitted(fn, device, loops and not replay)
    made = functools.wraps(fn)((_replayed if replay else kind)(jitted))
    made.report = functools.partial(report, jitted)
    return made


def is_jitted(fn):
    """Whether jit() made it, and compiles loops."""
    made = jitted_of(fn)
    return made is not None and made.loops


def loops_of(fn):
    """The loops of a jitted function that may be compiled, outer ones before those in them."""
    made = jitted_of(fn)
    if made is None or made.target is None or made.target.swapped is None:
        return []
    cells = made.target.swapped.function.__closure__ or ()
    names = made.target.swapped.function.__code__.co_freevars
    found = {int(name[5:]): contents(cell) for name, cell in zip(names, cells) if name.startswith(".loop")}
    return [found[number] for number in sorted(found)]


def body_of(fn):
    """The statements of a jitted function, where they may run in machine code as a whole; else None."""
    made = jitted_of(fn)
    return made and made.body
