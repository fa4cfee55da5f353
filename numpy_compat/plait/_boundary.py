"""What crosses the edge of a jitted function: NumPy's arrays go in, borrowed, and Plait's come out as NumPy's."""

import contextlib
import functools
import itertools
import sys
import types

import numpy

from . import _plait
from ._conversion import placed
from ._fallback import note
from ._mapped import like_numpys, over_map
from ._plait import lazy_scalar, ndarray
from ._stand_ins import DRAWING, drawing, numpys_generator, stand_in
from ._numpy_proxy import numpys

# Modules of classes whose instances hold no arrays of the caller's program.
_FOREIGN = "builtins", "numpy", "plait"
# Classes of what crosses as it is.
_AS_IT_IS = {int, float, bool, complex, str, bytes, type(None), range, set, frozenset}
_AS_IT_IS |= {numpy.dtype(c).type for c in numpy.typecodes["All"] if c not in "OV"}
_NO_PLAIT = {numpy.ndarray, *_AS_IT_IS}  # classes of what neither is Plait's nor holds such
_LISTS = {list, tuple, dict}
_MEMORY = {numpy.ndarray, numpy.memmap}  # classes of NumPy's whose arrays are memory, and no more
# Common classes of arguments whose instances have no attributes of their own.
_BARE = {numpy.ndarray, ndarray, lazy_scalar, int, float, bool, str, tuple, list, dict, type(None)}


def _is_array(kind):
    """Whether it is Plait's class or one of its subclasses; issubclass() takes NumPy's for them, too."""
    return kind is ndarray or ndarray in kind.__mro__


def _crosses_as_it_is(x):
    """Whether that holds for x and for all that it has, as of most long lists, tuples and dicts."""
    return _plait.holds_only(x, _AS_IT_IS)


def outward(x, borrowed, exported):
    """Results: NumPy's arrays and scalars; a borrowed argument that comes back is the caller's own array, and what is in exported comes out once."""
    kind = type(x)
    known = borrowed.get(id(x)) or exported.get(id(x))
    if known is not None:
        return known[1]
    if _is_array(kind) or kind is lazy_scalar:
        made = _plait.export(x) if kind is lazy_scalar else like_numpys(_plait.export(x.to_device("cpu")), x)
        exported[id(x)] = x, made
        return made
    if kind in _LISTS and _crosses_as_it_is(x):
        return x
    if isinstance(x, tuple) and (kind is tuple or hasattr(x, "_fields")):
        made = [outward(v, borrowed, exported) for v in x]
        return x if all(a is b for a, b in zip(made, x)) else tuple(made) if kind is tuple else kind(*made)
    # In place: the function's own object is what NumPy would give, and not every class of dict can be copied.
    if kind is list:
        x[:] = [outward(v, borrowed, exported) for v in x]
    elif isinstance(x, (dict, types.SimpleNamespace)):
        named = _named(x)
        dict.update(named, {k: outward(v, borrowed, exported) for k, v in dict.items(named)})
    return numpys(x)


def _references(pairs):
    """To the first of each."""
    return sum(sys.getrefcount(ours) for ours, _ in pairs)


_LONE = _references([(object(), None)])  # to what stands in a pair alone


def _named(x):
    return x if isinstance(x, dict) else vars(x)


def leaves(x, out, namespaces=False):
    """Appends the Plait arrays and lazy scalars in x to out, which is returned."""
    if _is_array(type(x)) or type(x) is lazy_scalar:
        out.append(x)
    elif isinstance(x, (list, tuple)):
        for v in () if _crosses_as_it_is(x) else x:
            leaves(v, out, namespaces)
    elif type(x) is dict and _crosses_as_it_is(x):
        pass
    elif isinstance(x, dict) or (namespaces and isinstance(x, types.SimpleNamespace)):
        for v in _named(x).values():
            leaves(v, out, namespaces)
    return out


def with_numpys_scalars(x):
    """x for code that runs outside of jitted functions: scalars that are pending on the host are NumPy's."""
    if all(type(v) is not lazy_scalar for v in leaves(x, [])):
        return x
    kind = type(x)
    if kind is lazy_scalar:
        return x if _plait.on_device(x) else _plait.export(x)
    if kind in (list, tuple):
        return kind([with_numpys_scalars(v) for v in x])
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return kind(*(with_numpys_scalars(v) for v in x))
    if isinstance(x, dict):
        dict.update(x, {k: with_numpys_scalars(v) for k, v in dict.items(x)})
    return x


def has_plait(x):
    return not _NO_PLAIT.issuperset(map(type, x.values() if type(x) is dict else x)) and any(type(v) is not numpy.ndarray for v in leaves(x, []))


def is_object(x):
    """Whether x is an instance of a class, or a class, of the caller's program, whose attributes may hold arrays."""
    kind = x if isinstance(x, type) else type(x)
    if issubclass(kind, (ndarray, numpy.ndarray, types.ModuleType)) or isinstance(x, types.FunctionType):
        return False
    return kind.__module__.partition(".")[0] not in _FOREIGN


class Kept:
    """Exports, in place, what a call left in lists, dicts and attributes of objects that it could reach: its arguments, globals and cells, and
    in those the objects of its own module's classes."""

    def __init__(self, borrowed, exported, module, left):
        self.borrowed, self.exported, self.module = borrowed, exported, module
        self.left = left  # ids of functions of Plait's that the call left somewhere, for NumPy's
        self.seen = set()

    def converted(self, x):
        """What stands in the place of an array or a lazy scalar."""
        return outward(x, self.borrowed, self.exported)

    def root(self, x):
        """What stands in x's place, whatever its class."""
        if not is_object(x):
            return self.value(x)
        self.inside(x)
        return x

    def inside(self, x):
        if id(x) in self.seen:
            return
        self.seen.add(id(x))
        if isinstance(x, (list, dict)):
            self.items(x)
        if is_object(x):
            self.attributes(x)

    def attributes(self, x):
        for name, value in list(getattr(x, "__dict__", {}).items()):
            made = self.value(value)
            if made is not value:
                type.__setattr__(x, name, made) if isinstance(x, type) else vars(x).__setitem__(name, made)
        for kind in () if isinstance(x, type) else type(x).__mro__:
            slots = vars(kind).get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                slot = vars(kind).get(name)
                if isinstance(slot, types.MemberDescriptorType):
                    with contextlib.suppress(AttributeError):  # never set
                        value = slot.__get__(x)
                        made = self.value(value)
                        if made is not value:
                            slot.__set__(x, made)

    def value(self, x):
        """What stands in x's place."""
        kind = type(x)
        if kind in _LISTS and id(x) in self.borrowed:
            return self.borrowed[id(x)][1]  # the caller's own, with what it got in the function
        if kind is lazy_scalar or _is_array(kind):
            return self.converted(x)
        if kind in _LISTS and _crosses_as_it_is(x):
            return x
        if kind is tuple:
            made = [self.value(v) for v in x]
            return x if all(a is b for a, b in zip(made, x)) else tuple(made)
        if isinstance(x, (list, dict)) or (getattr(kind, "__module__", None) == self.module and is_object(x)):
            self.inside(x)
        # Functions of Plait's may be the program's own; rebuilt functions are not.
        return numpys(x) if kind is types.FunctionType or id(x) in self.left else numpys_generator(x)

    def items(self, x):
        for at, value in enumerate(x) if isinstance(x, list) else list(dict.items(x)):
            made = self.value(value)
            if made is not value:
                x[at] = made


class _Computed(Kept):
    """After an interrupt and the like: what is pending may be what was interrupted, and stays pending."""

    def converted(self, x):
        pending = id(x) not in self.borrowed and getattr(x, "_pending", False)  # NumPy's arrays are none
        return x if pending else super().converted(x)


class _Scalars(Kept):
    """Where Plait's arrays stay as they are: scalars alone become NumPy's."""

    def converted(self, x):
        return with_numpys_scalars(x) if type(x) is lazy_scalar else x


class _Uploads:
    """Arguments of a call that runs on a device: each memory block is moved once, and back when it was written to."""

    def __init__(self):
        self.roots = {}  # id -> the block, its array on the device, and its count of writes when it was made
        self.lent = []

    def borrow(self, x):
        self.lent.append(_plait.borrow(x))
        return self.lent[-1]

    def take(self, x):
        root = x
        while type(root.base) is numpy.ndarray:
            root = root.base
        made = self.own(root)
        if x is root:
            return made
        offset = x.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        view = NotImplemented
        if made.strides == root.strides:
            view = _plait.view_at(made, x.dtype, x.shape, x.strides, offset)
        return self.own(x) if view is NotImplemented else view

    def own(self, x):
        if id(x) not in self.roots:
            made = placed(self.borrow(x))
            self.roots[id(x)] = x, made, _plait.writes(made)
        return self.roots[id(x)][1]

    def finish(self):
        for key, (root, made, writes) in self.roots.items():
            if _plait.on_device(made) and _plait.writes(made) != writes and root.flags.writeable:
                root[...] = _plait.export(made)
                self.roots[key] = root, made, _plait.writes(made)
        _plait.end_borrow(*self.lent)
        self.lent.clear()


def _differs(ours, before):
    """Whether a list or a dict holds other objects than a copy of it that was made before."""
    if type(ours) is list:
        return len(ours) != len(before) or any(a is not b for a, b in zip(ours, before))
    return list(ours) != list(before) or any(v is not before[k] for k, v in ours.items())


class _Arguments:
    """Takes the arguments of a call in, by take() of one array, and what was done to lists and dicts of them back."""

    def __init__(self):
        self.borrowed = {}  # id -> Plait's array, NumPy's; of what holds such, what the function gets, and the caller's
        self.taken_arrays = 0
        self.exported = {}  # the same of what came out, until the call ends
        self.copies = []  # of the caller's lists and dicts: theirs, ours, and what was in ours

    def taken(self, x):
        kind = type(x)
        if kind in _MEMORY:
            made = self.take(x)
            if kind is numpy.memmap:
                over_map(made, x)
            self.borrowed[id(made)] = made, x
            self.taken_arrays += 1
            return made
        if kind in _LISTS and _crosses_as_it_is(x):
            return x
        if kind is list or kind is tuple or (isinstance(x, tuple) and hasattr(x, "_fields")):
            out = [self.taken(v) for v in x]
            if all(a is b for a, b in zip(out, x)):
                return x
            made = out if kind is list else tuple(out) if kind is tuple else kind(*out)
        elif kind is dict:
            made = {k: self.taken(v) for k, v in x.items()}
            if all(made[k] is v for k, v in x.items()):
                return x
        else:
            if issubclass(kind, numpy.ndarray) and _plait.log_fallbacks():
                note(f"what is done with an argument of class {kind.__name__}")  # whose operators and methods are its own
            return x if kind in _BARE else self.named(x)
        if kind is list or kind is dict:
            self.copies.append((x, made, made.copy()))
        self.borrowed[id(made)] = made, x
        return made

    def named(self, x):
        """What stands for NumPy's functions, modules and generators."""
        return stand_in(x)

    def changed(self):
        """Whether the function changed what is in a list or a dict that it got."""
        return any(_differs(ours, before) for _, ours, before in self.copies)

    def return_layouts(self):
        """Arrays whose shape, dtype, strides or flags the function set: so are the caller's."""
        for ours, theirs in self.borrowed.values():
            if type(theirs) not in _MEMORY or ours.device != "cpu":
                continue
            for name in "dtype", "shape", "strides":
                if getattr(ours, name) != getattr(theirs, name):
                    getattr(theirs, f"_set_{name}", functools.partial(setattr, theirs, name))(getattr(ours, name))
            if ours.flags.writeable != theirs.flags.writeable:
                theirs.flags.writeable = ours.flags.writeable

    def return_lists(self):
        """Lists and dicts that the function changed: so are the caller's."""
        for theirs, ours, before in self.copies:
            if not _differs(ours, before):
                continue
            if type(ours) is list:
                theirs[:] = [outward(v, self.borrowed, self.exported) for v in ours]
                before[:] = ours
            else:
                made = {k: outward(v, self.borrowed, self.exported) for k, v in ours.items()}
                theirs.clear()
                theirs.update(made)
                before.clear()
                before.update(ours)


def _ends_work(kind):
    """Whether an exception of this class (or None) says that there is no time, or no memory, to compute more."""
    return kind is not None and (issubclass(kind, MemoryError) or not issubclass(kind, Exception))


class Call(_Arguments):
    """One call of a jitted function: a context for as long as its code runs, once for each piece of one that yields or awaits."""

    def __init__(self, target, scoped, module):
        self.target, self.scoped, self.module = target, scoped, module
        super().__init__()
        self.lent = []
        self.roots = []  # what the function may have left arrays in
        self.uploads = None
        self.as_it_is = False  # where an argument was Plait's, nothing is converted
        self.before = self.scalars = self.references = None
        self.stand_ins = target.swapped.scope.stand_ins if target.swapped else {}
        self.named_before = b""  # references to each of those
        self.laid = 0  # how often shape, dtype, strides or flags of an array have been set
        self.inside = False  # another jitted function's call runs this one
        self.outer = False  # so does one of any kind
        self.waiting = False  # in the caller, operations over memory that others see wait
        self.began = None  # of the calls' account, until the call has ended
        self.generators = []  # attributes of arguments that hold NumPy's: the dict, the name, NumPy's, and what stands there meanwhile

    def __enter__(self):
        if self.target.swapped:
            self.target.swapped.sync()
        self.scoped.__enter__()
        self.inside = _plait.keep_lazy_scalars(self.target.closed)
        self.outer = _plait.set_in_jit(True)
        self.waiting = _plait.let_reads_wait(self.target.closed)
        for names, name, _, ours in self.generators:
            names[name] = ours
        self.scalars = _plait.live_scalars()
        self.laid = _plait.times_relaid()
        self.before = _plait.live_objects() - self.taken_arrays
        self.named_before = _plait.references(self.stand_ins)
        return self

    def arguments(self, args, kwargs):
        """The arguments as the function gets them."""
        if self.target.calls and not self.outer:
            self.began = self.target.calls.begin((*args, *kwargs.values()))
        self.as_it_is = has_plait(args) or bool(kwargs and has_plait(kwargs))
        self.roots += [self.target.owner, *args, *kwargs.values()]
        for x in self.roots:
            if type(x) not in _BARE:
                self.replace_generators(x)
        if self.as_it_is:
            return [self.named(a) for a in args], {k: self.named(v) for k, v in kwargs.items()}
        if _plait.current_device() != "cpu":
            self.uploads = _Uploads()
        made = [self.inward(a) for a in args], {k: self.inward(v) for k, v in kwargs.items()}
        self.references = self.count_references()
        return made

    def count_references(self):
        """Of the arrays that the function gets: with more, it has left one somewhere."""
        return _references(self.borrowed.values())

    def replace_generators(self, x):
        """Has Plait's generators stand for those of NumPy's that attributes of an argument hold."""
        names = getattr(x, "__dict__", None)
        if type(names) is not dict:
            return
        for name in [n for n, v in names.items() if type(v).__name__ in DRAWING]:
            theirs, ours = names[name], drawing(names[name])
            if ours is not theirs and is_object(x):
                names[name] = ours
                self.generators.append((names, name, theirs, ours))

    def take(self, x):
        if self.uploads:
            return self.uploads.take(x)
        self.lent.append(_plait.borrow(x))
        return self.lent[-1]

    def named(self, x):
        swapped = self.target.swapped
        return swapped.scope.own(x) if swapped else stand_in(x)

    def inward(self, x):
        return x if self.as_it_is else self.taken(x)

    def outward(self, x):
        """A result as the caller gets it."""
        if self.as_it_is:
            return x if self.inside else with_numpys_scalars(x)
        if type(x) in _AS_IT_IS:
            return x
        found = leaves(x, [], namespaces=True)
        if len(found) > 1:
            _plait.evaluate(*found)  # one plan for all the results
        made = outward(x, self.borrowed, self.exported)
        if type(made).__module__ == self.module:
            self.roots.append(made)
        return made

    def __exit__(self, kind, *_):
        _plait.keep_lazy_scalars(self.inside)
        _plait.set_in_jit(self.outer)
        if self.began is not None:
            self.target.calls.end(self.began)
            self.began = None
        for names, name, theirs, ours in self.generators:
            if names.get(name) is ours:
                names[name] = theirs
        try:
            _plait.let_reads_wait(self.waiting)
            if self.target.swapped:
                self.target.swapped.sync()
            if _plait.times_relaid() != self.laid:
                self.return_layouts()
            if not self.as_it_is:
                self.give_back(kind)
            elif not self.inside and not _ends_work(kind) and _plait.live_scalars() != self.scalars:
                self.convert(_Scalars)
        finally:
            self.exported.clear()
            if self.uploads:
                self.uploads.finish()
            elif self.lent:
                # After an exception what is pending may be what was interrupted.
                (_plait.abandon_borrow if kind else _plait.end_borrow)(*self.lent)
                self.lent.clear()
            self.scoped.__exit__(None, None, None)

    def give_back(self, kind):
        if self.copies:
            self.return_lists()
        out = self.still_out()
        as_before = _plait.live_objects() == self.before + self.taken_arrays and _plait.references(self.stand_ins) == self.named_before
        if not out and as_before and self.count_references() == self.references and not self.uploads:
            return  # it has left none
        self.take_back(kind)

    def still_out(self):
        """Whether somebody refers to an array of Plait's that came out as NumPy's."""
        # Without the others, their bases, if they are views, have a reference fewer.
        for key in [key for key, pair in self.exported.items() if _references([pair]) == _LONE]:
            del self.exported[key]
        return bool(self.exported)

    def take_back(self, kind):
        """What the function may have left somewhere is NumPy's from now on. kind: the class of the exception that ended it, or None."""
        self.convert(_Computed if _ends_work(kind) else Kept)

    def left(self):
        """The stand-ins to which there are more references than before."""
        counts = (memoryview(b).cast("n") for b in (self.named_before, _plait.references(self.stand_ins)))
        return {key for key, (before, now) in zip(self.stand_ins, itertools.zip_longest(*counts, fillvalue=0)) if now > before}

    def convert(self, how):
        kept = how(self.borrowed, self.exported, self.module, self.left())
        for x in self.roots:
            kept.root(x)
        if self.target.swapped:
            self.target.swapped.export(kept.root)


def crossing(target, module):
    """What makes the calls of a function that get NumPy's arrays, and what crosses as it is, alone: as a Call does (bindings/crossing.hpp)."""

    def seldom(args, kwargs, pairs, copies, exported, named_before):
        call = Call(target, None, module)
        call.roots += (*args, *kwargs.values())
        call.borrowed, call.exported = ({id(pair[0]): pair for pair in some} for some in (pairs, exported))
        call.copies, call.named_before = copies, named_before
        return call

    swapped = target.swapped
    scope, cells, sync, stand_ins = (swapped.scope, swapped.cells, swapped.sync, swapped.scope.stand_ins) if swapped else (None, [], None, {})
    return _plait.Crossing(target.function, target.closed, scope, cells, sync, target.calls, _AS_IT_IS, stand_ins, seldom)
