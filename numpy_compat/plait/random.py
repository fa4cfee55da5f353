"""numpy.random with Plait arrays as results; the streams of numbers are NumPy's."""

import functools
import sys
import types

import numpy

from . import _default_dtype, _draws, _namespace, _plait
from ._fallback import from_numpy, to_numpy
from ._plait import call_numpy


def _numbers(x):
    """A result of a call without arguments: most are a number."""
    return from_numpy(x) if isinstance(x, numpy.ndarray) else x


def _forwarding(base):
    """A subclass of a generator of NumPy whose methods take and give Plait arrays."""

    def method(name):
        theirs = getattr(base, name)
        rounding = _default_dtype.drawing(theirs, name, bound=1)
        label = f"random.{base.__name__}.{name}"

        own_state = base is numpy.random.Generator
        own = _draws.DRAWS.get(name) if own_state else None

        def forward(self, *args, **kwargs):
            if not _default_dtype.differs():
                if not args and not kwargs:
                    return _numbers(theirs(drawing(self)))
                if own is not None and _draws.may_be_many(args, kwargs) and _plait.current_device() == "cpu":
                    result = own(drawing(self), *args, **kwargs)
                    if result is not NotImplemented:
                        return result
                return call_numpy(getattr(drawing(self), name) if own_state else types.MethodType(theirs, self), args, kwargs, label)
            return call_numpy(types.MethodType(rounding, drawing(self)), args, kwargs, label)

        forward.__name__ = name
        forward.__doc__ = theirs.__doc__
        made = functools.update_wrapper(_plait.drawing(forward, theirs, label, _draws.FEW, own_state), forward)
        made.__wrapped__ = rounding
        return made

    def drawing(self):
        """NumPy's generator over the same bits: its methods call each other. A RandomState has a state beside those."""
        if base is not numpy.random.Generator:
            return self
        try:
            return self._drawing
        except AttributeError:
            self._drawing = base(self.bit_generator)
            return self._drawing

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
        return seed
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
        return super()._adapted(_default_dtype.drawing(value, name) if drawn else value, name)


default_rng.__doc__ = numpy.random.default_rng.__doc__
_module = _Random(__name__, numpy.random, {"default_rng": default_rng, **{f.__name__: f for f in _restored.values()}})
_namespace._mirrors["numpy.random"] = sys.modules[__name__] = _module
