"""Arrays of other libraries at the edge of a jitted function: they are lent to it as NumPy's over their memory, or as Plait's where they are on a
device, and what it gives back goes into arrays of that library over the results' memory."""

import functools
import inspect
import sys
import types

import numpy

from . import _foreign_libraries, _plait
from ._boundary import _AS_IT_IS, _differs, _is_array
from ._fallback import note
from ._foreign_libraries import COMPUTES, Refused, is_narrow, known, library_of
from ._plait import lazy_scalar, ndarray

# Of these alone are most long lists; NumPy's scalars are not among them, which come back as arrays.
_PYTHONS = {int, float, bool, complex, str, bytes, type(None)}


def _has_foreign(x, depth=20):
    """Whether it is, or holds, an array of another library."""
    kind = type(x)
    if kind in _AS_IT_IS or kind is numpy.ndarray:
        return False
    if kind in known or library_of(kind, x):
        return True
    if depth == 0:
        return False
    if isinstance(x, (list, tuple)):
        return not _plait.holds_only(x, _AS_IT_IS) and any(_has_foreign(v, depth - 1) for v in x)
    if kind is dict:
        return not _plait.holds_only(x, _AS_IT_IS) and any(_has_foreign(v, depth - 1) for v in x.values())
    return _is_record(x) and any(_has_foreign(v, depth - 1) for v in _attributes(x).values())


def has_foreign(args, kwargs):
    """Whether arrays of other libraries are among the arguments of a call."""
    return any(map(_has_foreign, args)) or bool(kwargs) and any(map(_has_foreign, kwargs.values()))


def _is_record(x):
    """Whether it is an instance of a dataclass."""
    return hasattr(type(x), "__dataclass_fields__") and not isinstance(x, type)


def _attributes(x):
    """Its own, also those in slots."""
    state = object.__getstate__(x)
    named, slots = state if isinstance(state, tuple) else (state, None)
    return {**(named or {}), **(slots or {})}


# --- functions that were written for the library's arrays -----------------------------------------------------------

_LENT = {"numpy", "detach", "cpu"}  # methods that arrays have while such were lent


def lends(jitted, args, kwargs):
    """Whether the call lends arrays of other libraries; those that fn was written for it leaves as they are."""
    return has_foreign(args, kwargs) and _names(jitted, args, kwargs) <= _LENT


def _names(jitted, args, kwargs):
    """What fn uses of arguments of these classes that other libraries' arrays have and NumPy's lack."""
    types = tuple(map(type, args))
    key = types
    if kwargs or not (known.keys() | _PYTHONS).issuperset(types):  # nobody knows of which of the libraries arrays in containers are
        key = (types, *((k, type(v)) for k, v in kwargs.items()), len(known))
    found = jitted.foreign_names.get(key)
    if found is None:
        from ._written_for import names_of_others

        found = jitted.foreign_names[key] = names_of_others(jitted.fn, args, kwargs, [*known], _holds)
    return found


def _holds(x):
    """Whether it may hold arrays."""
    return isinstance(x, (list, tuple)) or type(x) is dict or _is_record(x)


def _as_they_are(jitted, args, kwargs, names):
    """A call that lends none of its arrays: Plait is in NumPy's place, and the library computes what is its own."""
    if _plait.log_fallbacks():
        note(f"what is done with arguments whose {', '.join(sorted(names))} NumPy's arrays lack")
    function, call = jitted.begin()
    with call:
        given, named = call.arguments(args, kwargs)
        return call.outward(function(*given, **named))


class Lending:
    """One call of a jitted function with arrays of other libraries."""

    def __init__(self, jitted):
        self.jitted = jitted
        self.library = None  # of the first
        self.device = None  # of all of them
        self.with_plaits = False  # Plait's own arrays are among the arguments: then so are the others
        self.known = {}  # id of what the function gets, or gave -> that, and the caller's
        self.made = {}  # id of the caller's -> what the function gets
        self.copies = []  # of lists, dicts and dataclasses: the caller's, the function's, and what was in that
        self.objects = []  # which the function gets as they are, and their attributes

    def enter(self, args, kwargs):
        """The arguments as the function gets them. Raises Refused."""
        made = self.each(args, kwargs)
        if self.with_plaits and self.device == "cpu":
            self.known, self.made, self.copies, self.objects = {}, {}, [], []
            made = self.each(args, kwargs)
        return made

    def error(self, args, kwargs, refused):
        return refused.error(_message(self.jitted.fn, args, kwargs, refused))

    def each(self, args, kwargs):
        return [self.given(x) for x in args], {k: self.given(v) for k, v in kwargs.items()} if kwargs else kwargs

    def given(self, x):
        kind = type(x)
        library = None if kind in _AS_IT_IS else library_of(kind, x)
        if library is not None:
            return self.made[id(x)] if id(x) in self.made else self.lent(x, library)
        if kind in _AS_IT_IS or not _has_foreign(x):
            self.as_it_is(x)
            return x
        if id(x) in self.made:
            return self.made[id(x)]
        if isinstance(x, tuple):
            parts = [self.given(v) for v in x]
            return self.stands(tuple(parts) if kind is tuple else kind(*parts), x)
        if isinstance(x, list):
            made = self.stands([], x)
            made += [self.given(v) for v in x]
            self.copies.append((x, made, made.copy()))
            return made
        if kind is dict:
            made = self.stands({}, x)
            made.update((k, self.given(v)) for k, v in x.items())
            self.copies.append((x, made, made.copy()))
            return made
        made = self.stands(object.__new__(kind), x)
        for name, value in _attributes(x).items():
            object.__setattr__(made, name, self.given(value))
        self.copies.append((x, made, _attributes(made)))
        return made

    def as_it_is(self, x):
        """Notes arrays of the caller's that are no other library's: where they come back, they are what they were."""
        if isinstance(x, numpy.ndarray):
            self.known[id(x)] = x, x
            self.with_plaits = self.with_plaits or _is_array(type(x))
        elif isinstance(x, (list, tuple)) and not _plait.holds_only(x, _AS_IT_IS):
            for v in x:
                self.as_it_is(v)
        elif type(x) is dict and not _plait.holds_only(x, _AS_IT_IS):
            for v in x.values():
                self.as_it_is(v)
        elif type(x) not in _AS_IT_IS and not isinstance(x, (list, tuple, dict, type, types.ModuleType, types.FunctionType)):
            self.objects.append((x, _attributes(x)))

    def lent(self, x, library):
        made = library.lend(x)
        device = "cpu" if type(made) is numpy.ndarray else made.device
        if self.library is None:
            self.library, self.device = library, device
            asked = self.jitted.device
            if device != "cpu" and asked is not None and str(_plait.open_device(asked)) != device:
                raise Refused(x, f"on {device}, and the function runs on {asked!r}: move it there first")
        elif device != self.device:
            raise Refused(x, f"on {device}, and one before it is on {self.device}: move it there first")
        if self.with_plaits and type(made) is numpy.ndarray:
            made = _plait.share(made)
        return self.stands(made, x)

    def stands(self, ours, theirs):
        self.known[id(ours)] = ours, theirs
        self.made[id(theirs)] = ours
        return ours

    def taken(self, x):
        """A result as the caller gets it."""
        found = self.known.get(id(x))
        if found is not None:
            return found[1]
        kind = type(x)
        if kind is lazy_scalar:
            x = sys.modules["plait"].asarray(x)
        if kind in _PYTHONS or kind in known:
            return x
        is_number = isinstance(x, numpy.generic) and (x.dtype.kind in COMPUTES or is_narrow(x))
        if is_number or kind is numpy.ndarray or kind is ndarray:
            made = self.library.take(numpy.asarray(x) if is_number else x)
            self.known[id(x)] = x, made
            return made
        if isinstance(x, (list, tuple)) and _plait.holds_only(x, _PYTHONS):
            return x
        if isinstance(x, tuple):
            made = [self.taken(v) for v in x]
            if all(map(lambda a, b: a is b, made, x)):
                return x
            return tuple(made) if kind is tuple else kind(*made)
        self.inside(x)
        return x

    def inside(self, x):
        """Results in a list, a dict or a dataclass that the function made."""
        self.known[id(x)] = x, x
        if isinstance(x, list):
            x[:] = [self.taken(v) for v in x]
        elif isinstance(x, dict):
            dict.update(x, {k: self.taken(v) for k, v in dict.items(x)})
        elif _is_record(x):
            for name, value in _attributes(x).items():
                made = self.taken(value)
                if made is not value:
                    object.__setattr__(x, name, made)

    def give_back(self):
        """What the function changed in lists, dicts and objects."""
        for x, before in self.objects:
            self.give_own(x, before)
        for theirs, ours, before in self.copies:
            if isinstance(ours, list):
                if _differs(ours, before):
                    theirs[:] = [self.taken(v) for v in ours]
                    before[:] = ours
            elif isinstance(ours, dict):
                if _differs(ours, before):
                    made = {k: self.taken(v) for k, v in ours.items()}
                    theirs.clear()
                    theirs.update(made)
                    before.clear()
                    before.update(ours)
            else:
                self.give_back_attributes(theirs, _attributes(ours), before)

    def give_back_attributes(self, theirs, now, before):
        for name in before.keys() - now.keys():
            object.__delattr__(theirs, name)
            del before[name]
        for name, value in now.items():
            if name not in before or value is not before[name]:
                object.__setattr__(theirs, name, self.taken(value))
                before[name] = value

    def give_own(self, x, before):
        """Attributes that the function set of an object of the caller's."""
        for name, value in _attributes(x).items():
            if value is not before.get(name):
                before[name] = self.taken(value)
                if before[name] is not value:
                    object.__setattr__(x, name, before[name])

    def __enter__(self):
        self.outer = _plait.set_lending(True)

    def __exit__(self, *_):
        _plait.set_lending(self.outer)
        if self.copies or self.objects:
            self.give_back()

    def call(self, run, args, kwargs):
        with self:
            result = run(*args, **kwargs)
        return self.taken(result)

    def pieces(self, run, args, kwargs, inward, outward):
        """The same of a generator or a coroutine, between yields of its own; what it is sent and yields goes through inward() and outward()."""
        try:
            args, kwargs = self.enter(args, kwargs)
        except Refused as e:
            raise self.error(args, kwargs, e) from None
        inner = run(*args, **kwargs)
        resume, value = inner.send, None
        while True:
            with self:
                try:
                    item = resume(value)
                except StopIteration as end:
                    result, item = end.value, _ENDED
            if item is _ENDED:
                return self.taken(result)
            try:
                value, resume = inward((yield outward(item))), inner.send
            except GeneratorExit:
                with self:
                    inner.close()
                raise
            except BaseException as e:
                value, resume = e, inner.throw


_ENDED = object()


def call(jitted, run, args, kwargs):
    """What run() returns for arguments with arrays of other libraries among them, as arrays of the first one's library."""
    try:
        names = None if kwargs else jitted.foreign_names.get(tuple(map(type, args)))
        if names is None:
            names = _names(jitted, args, kwargs)
        if not names <= _LENT:
            return _as_they_are(jitted, args, kwargs, names)
        if not kwargs:
            return _plait.call_with_foreign(jitted, run, args)
        return _lent(jitted, run, args, kwargs)
    except BaseException as error:
        _failed(error)
        raise


def _lent(jitted, run, args, kwargs):
    lending = Lending(jitted)
    try:
        given = lending.enter(args, kwargs)
    except Refused as e:
        names = _names(jitted, args, kwargs)
        if names:  # such as x.detach(), where x requires grad
            return _as_they_are(jitted, args, kwargs, names)
        raise lending.error(args, kwargs, e) from None
    return lending.call(run, *given)


def _otherwise(jitted, run, args):
    """The same for arguments that are not all arrays on the host and Python's numbers."""
    return _lent(jitted, run, args, {})


def _taken(result, args, given, library):
    """What the caller gets for what is no array and no number. given: what the function got for args."""
    lending = Lending(None)
    lending.library = library
    lending.known = {id(ours): (ours, theirs) for ours, theirs in zip(given, args)}
    return lending.taken(result)


def _failed(error):
    """Of what such a call raises."""
    if isinstance(error, AttributeError):
        _explain(error)
    error.__traceback__ = _of_the_program(error.__traceback__)


_plait.set_foreign_hooks(_otherwise, _taken)


def _of_the_program(trace):
    """The entries of a traceback after those of this module, and of the libraries' that it calls."""
    inner = trace
    while inner is not None and inner.tb_frame.f_code.co_filename in (__file__, _foreign_libraries.__file__):
        inner = inner.tb_next
    return inner or trace


def _explain(error):
    """Of an attribute that the library's arrays have, and NumPy's not."""
    if type(error.obj) in (numpy.ndarray, ndarray):
        for library in known.values():
            if hasattr(library.kind, error.name):
                said = f"In plait.jit, arrays of {library.name} are NumPy's: write what NumPy has for .{error.name}, or call it outside."
                if said not in getattr(error, "__notes__", ()):  # by a call in this one
                    error.add_note(said)
                return


def generator(jitted, run, args, kwargs):
    """The generator that run() returns, for such arguments."""
    lending = Lending(jitted)
    return lending.pieces(run, args, kwargs, lending.given, lending.taken)


@types.coroutine
def coroutine(jitted, run, args, kwargs):
    """The coroutine that run() returns, for such arguments."""
    return (yield from Lending(jitted).pieces(run, args, kwargs, _itself, _itself))


def _message(fn, args, kwargs, refused):
    return f"{getattr(fn, '__qualname__', repr(fn))}() got for {_place(fn, args, kwargs, refused.array)} a {library_of(type(refused.array)).name} {refused}"


def _place(fn, args, kwargs, array):
    """Where an array is among the arguments, in the words of the function's parameters."""
    named = [(f"argument {i + 1}", x) for i, x in enumerate(args)] + [*kwargs.items()]
    try:
        bound = inspect.signature(fn).bind(*args, **kwargs)
    except (TypeError, ValueError):  # a wrong call, or a function that has no signature
        pass
    else:
        named = [*bound.arguments.items()]
    return next((path for name, x in named if (path := _path(name, x, array))), "an argument")


def _path(name, x, array):
    if x is array:
        return name
    if isinstance(x, (list, tuple)):
        parts = [(f"{name}[{i}]", v) for i, v in enumerate(x)]
    elif isinstance(x, dict):
        parts = [(f"{name}[{k!r}]", v) for k, v in x.items()]
    else:
        parts = [(f"{name}.{k}", v) for k, v in _attributes(x).items()] if _is_record(x) else []
    return next((path for inner, v in parts if (path := _path(inner, v, array))), None)


def _of_tensors(name):
    """A method of tensors: while a function runs that was given such, its arrays are what it gives."""

    def method(self):
        if not _plait.is_lending():
            raise AttributeError(f"'plait.ndarray' object has no attribute {name!r}")
        return functools.partial(_itself, self)

    return property(method)


def _itself(x, **_):
    return x


for _name in _LENT:
    setattr(ndarray, _name, _of_tensors(_name))
