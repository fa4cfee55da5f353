"""numpy.random with Plait arrays as results; the streams of numbers are NumPy's."""

import functools
import sys
import types
import weakref

import numpy

from . import _default_dtype, _dispatch, _draws, _namespace, _plait
from ._conversion import from_numpy, to_numpy
from ._plait import call_numpy


def _numbers(x):
    """A result of a call without arguments: most are a number."""
    return from_numpy(x) if isinstance(x, numpy.ndarray) else x


def _source(generator):
    """NumPy's generator that draws for one of Plait's: its methods call each other. A RandomState, which has a state beside its bits, does
    so itself."""
    _plait.obstruct_capture("it draws random numbers")
    try:
        return generator._drawing
    except AttributeError:
        if not isinstance(generator, numpy.random.Generator):
            return generator
        generator._drawing = numpy.random.Generator(generator.bit_generator)
        return generator._drawing


def _forwarding(base):
    """A subclass of a generator of NumPy whose methods take and give Plait arrays."""

    own_state = base is numpy.random.Generator

    def method(name):
        theirs = getattr(base, name)
        rounding = _default_dtype.drawing(theirs, name, bound=1)
        label = f"random.{base.__name__}.{name}"

        own = _draws.DRAWS.get(name) if own_state else None

        def forward(self, *args, **kwargs):
            if name == "shuffle" and args and not isinstance(args[0], _plait.ndarray):
                return theirs(_source(self), *args, **kwargs)  # the caller's own list
            if not _default_dtype.differs():
                if not args and not kwargs:
                    return _numbers(theirs(_source(self)))
                if own is not None and _draws.may_be_many(args, kwargs) and _plait.current_device() == "cpu":
                    result = own(_source(self), *args, **kwargs)
                    if result is not NotImplemented:
                        return result
                return call_numpy(types.MethodType(theirs, _source(self)), args, kwargs, label)
            return call_numpy(types.MethodType(rounding, _source(self)), args, kwargs, label)

        forward.__name__ = name
        forward.__doc__ = theirs.__doc__
        made = functools.update_wrapper(_plait.drawing(forward, theirs, label, _draws.FEW, own_state), forward)
        made.__wrapped__ = rounding
        return made

    def reduce(self):
        _, bits, *state = base.__reduce__(self)
        return _restored[base.__name__], bits, *state

    skip = {"spawn", "get_state", "set_state", "seed"}
    names = [n for n in dir(base) if not n.startswith("_") and n not in skip and callable(getattr(base, n))]
    slots = ("_drawing",) if base is numpy.random.Generator else ()  # as NumPy's, they take no attributes
    return {**{n: method(n) for n in names}, "__reduce__": reduce, "__slots__": slots}


def _seeded(base):
    """What a subclass of SeedSequence or of a bit generator takes seeds with."""

    def __init__(self, *args, **kwargs):
        base.__init__(self, *to_numpy(args), **to_numpy(kwargs))

    return {"__init__": __init__}


class _Kind(type):
    """Of Plait's classes: what NumPy made of theirs is one of them, too."""

    def __instancecheck__(cls, x):
        return isinstance(x, cls.__base__) if "_numpys" in cls.__dict__ else super().__instancecheck__(x)

    def __call__(cls, *args, **kwargs):
        """Under plait.jit a generator is NumPy's, with a guest in its place."""
        if _plait.in_jit() and cls.__dict__.get("_numpys") in (numpy.random.Generator, numpy.random.RandomState):
            return guest(cls._numpys(*to_numpy(args), **to_numpy(kwargs)))
        return super().__call__(*args, **kwargs)


_GENERATORS = ("Generator", "RandomState")
_SEEDED = ("SeedSequence", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


class _Lazy:
    """The classes, made when they are first asked for."""

    classes = {}

    @classmethod
    def get(cls, name):
        if name not in cls.classes:
            base = getattr(numpy.random, name)
            body = _forwarding(base) if name in _GENERATORS else _seeded(base)
            kind = type("_Kind", (_Kind, type(base)), {}) if type(base) is not type else _Kind
            cls.classes[name] = kind(name, (base,), {"__doc__": base.__doc__, "__module__": "plait.random", "_numpys": base, **body})
        return cls.classes[name]


@functools.cache
def _guest(base):
    """A subclass of Plait's class for NumPy's `base`: under plait.jit it stands for a generator of NumPy's, which draws for it. Who keeps it
    longer gets NumPy's arrays."""
    ours = _Lazy.get(base.__name__)

    def method(name):
        inside = getattr(ours, name)
        inside = getattr(inside, "_implementation", inside)  # which asks for the generator that draws

        def draw(self, *args, **kwargs):
            return inside(self, *args, **kwargs) if _plait.in_jit() else getattr(_source(self), name)(*args, **kwargs)

        return functools.update_wrapper(draw, inside)

    def state(name):
        return lambda self, *args, **kwargs: getattr(_source(self), name)(*args, **kwargs)

    names = [n for n in dir(base) if not n.startswith("_") and n != "spawn" and callable(getattr(base, n))]
    body = {n: (state if getattr(ours, n) is getattr(base, n) else method)(n) for n in names}
    body |= {n: state(n) for n in ("__reduce__", "__getstate__", "__setstate__", "__repr__", "__str__")}
    return type(ours)(ours.__name__, (ours,), {"__module__": "plait.random", "__doc__": base.__doc__, "_guests": True, **body})


_guests = weakref.WeakValueDictionary()  # by the id of NumPy's, which each keeps


def guest(theirs):
    """What stands for a generator of NumPy's under plait.jit."""
    made = _guests.get(id(theirs))
    if made is None:
        base = type(theirs)
        made = _guest(base)(theirs.bit_generator if base is numpy.random.Generator else theirs._bit_generator)
        made._drawing = theirs
        made = _guests.setdefault(id(theirs), made)
    return made


def numpys(x):
    """NumPy's generator for what stands for it; else x itself."""
    return _source(x) if "_guests" in type(x).__dict__ else x


def _restorer(name):
    """What a pickle of a generator names: (a bit generator, or the name of its class) -> the generator."""

    def restore(*args):
        theirs = getattr(numpy.random._pickle, f"__{name.lower()}_ctor")(*args)
        return _Lazy.get(name)(theirs._bit_generator)

    restore.__name__ = restore.__qualname__ = f"_restored_{name}"
    restore.__module__ = __name__
    return restore


_restored = {name: _restorer(name) for name in _GENERATORS}


def default_rng(seed=None):
    if isinstance(seed, numpy.random.Generator):
        return guest(seed) if _plait.in_jit() and type(seed) is numpy.random.Generator else seed
    made = numpy.random.default_rng(to_numpy(seed))
    return _Lazy.get("Generator")(made.bit_generator)


class _Random(_namespace.Mirror):
    def _made(self, name):
        if name in _GENERATORS or name in _SEEDED:
            value = _Lazy.get(name)
            setattr(self, name, value)
            return value
        return super()._made(name)

    def _adapted(self, value, name):
        drawn = callable(value) and not isinstance(value, type)
        made = super()._adapted(_default_dtype.drawing(value, name) if drawn else value, name)
        if drawn:
            made._numpy = value
        return made


default_rng = _dispatch.asking(default_rng, numpy.random.default_rng, "default_rng", "plait.random")
_module = _Random(__name__, numpy.random, {"default_rng": default_rng, "_guest_of": guest, "_numpys": numpys, **{f.__name__: f for f in _restored.values()}})
_namespace._mirrors["numpy.random"] = sys.modules[__name__] = _module
