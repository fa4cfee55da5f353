"""Plait's arrays and ufuncs as NumPy's, for what NumPy does with them, and what it gives as Plait's."""

import contextlib
import functools
import operator

import numpy

from . import _plait
from ._plait import lazy_scalar, ndarray, ufunc


class _StandIn(numpy.ndarray):
    """What NumPy gets for an array of a subclass of plait.ndarray: it gives its own results the class that they shall have."""

    _of = None  # the array that it stands for, or comes from

    def __array_finalize__(self, source):
        self._of = getattr(source, "_of", None)


_CONVERSIONS = "__bool__", "__complex__", "__float__", "__index__", "__int__"


@functools.cache
def _stand_in(kind):
    body = {"__array_priority__": getattr(kind, "__array_priority__", 0.0), "_kind": kind}
    for name in _CONVERSIONS:
        own = getattr(kind, name)
        if own is not getattr(ndarray, name):
            body[name] = lambda self, own=own: own(from_numpy(self))
    return type(kind.__name__, (_StandIn,), body)


def to_numpy(x, seen=None):
    """x with every Plait array in it, at any depth, as a numpy array over the same memory."""
    kind = type(x)
    if kind is ndarray or issubclass(kind, ndarray):
        host = before = _plait.export(x)
        if seen is not None and _plait.on_device(x):
            host = copied(x, before)
        if kind is not ndarray and host is not x and type(host) is numpy.ndarray:
            host = host.view(_stand_in(kind))
            host._of = x
        if seen is not None:
            seen[id(host)] = x, host, before
        return host
    if kind is lazy_scalar:
        return _plait.export(x)
    if kind is list or kind is tuple:
        out = [to_numpy(v, seen) for v in x]
        return x if all(map(operator.is_, out, x)) else kind(out)
    if kind is dict:
        out = {k: to_numpy(v, seen) for k, v in x.items()}
        return x if all(out[k] is x[k] for k in x) else out
    if kind is ufunc:
        return x._numpy
    if x is ndarray:
        return numpy.ndarray
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*(to_numpy(v, seen) for v in x))
    return x


def copied(x, contents):
    """An array of a device on the host, to be written to (see write_back()), and laid out as it is there: a view of the one stands for a
    view of the other."""
    host = numpy.array(contents, order="K")
    if host.strides != x.strides and host.size:
        reach = [(n - 1) * s for n, s in zip(x.shape, x.strides)]
        first = -sum(r for r in reach if r < 0)
        memory = numpy.empty(sum(map(abs, reach)) + x.itemsize, "u1")
        compact, host = host, numpy.ndarray(x.shape, x.dtype, memory, first, x.strides)
        host[...] = compact
    if not x.flags.writeable:
        host.flags.writeable = False
    return host


def _view_like(view, seen):
    """The view of an array on a device that a view of its copy stands for, or None."""
    for x, host, _ in seen.values():
        if _plait.on_device(x) and numpy.may_share_memory(view, host):
            offset = view.__array_interface__["data"][0] - host.__array_interface__["data"][0]
            ours = _plait.view_at(x, view.dtype, view.shape, view.strides, offset)
            if ours is not NotImplemented:
                ours.flags.writeable = view.flags.writeable
                return ours
    return None


@contextlib.contextmanager
def edited(x):
    """The memory of x as a numpy array to write to; of an array on a device a copy, which goes back."""
    before = _plait.export(x)
    if not _plait.on_device(x):
        yield before
        return
    host = copied(x, before)
    yield host
    write_back(x, host, before)


def write_back(x, host, before):
    """Stores what was done to a host copy of an array on a device; where nothing was, another view may have been written to since."""
    raw = f"V{host.itemsize}"  # compared as bytes: a NaN equals itself
    if (host.view(raw) != before.view(raw)).any():
        x[...] = _plait.to_device(_plait.adopt(host), x.device)


def placed(x):
    """A new array, moved to where this thread creates arrays."""
    if type(x) is ndarray and _plait.host_of(x) is None:
        return _plait.to_device(x, _plait.current_device())
    return x


def moved(x, device):
    """Results of NumPy as arrays of the device that the arguments came from; those that are arguments stay."""
    kind = type(x)
    if kind is ndarray and not _plait.on_device(x) and _plait.host_of(x) is None:
        return _plait.to_device(x, device)
    if kind is tuple or kind is list:
        return kind([moved(v, device) for v in x])
    if kind is dict:
        return {k: moved(v, device) for k, v in x.items()}
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*(moved(v, device) for v in x))
    return x


def returned(result, seen):
    """from_numpy() of what NumPy gave for these arguments; the results go where the arguments are, or, if those are of dtypes that only
    NumPy has, where this thread creates arrays."""
    devices = [x for x, *_ in seen.values() if _plait.on_device(x)]
    for x, host, before in list(seen.values()):
        if devices and _plait.on_device(x) and x.flags.writeable:
            write_back(x, host, before)
    ours = from_numpy(result, seen)
    if devices:
        return moved(ours, devices[0].device)
    if _plait.current_device() != "cpu" and all(_plait.host_of(x) is not None and _apart(result, host) for x, host, _ in seen.values()):
        return moved(ours, _plait.current_device())
    return ours


def _apart(result, host):
    return type(result) is not numpy.ndarray or not numpy.may_share_memory(result, host)


def from_numpy(x, seen=None):
    """A result of NumPy with its arrays as Plait arrays; an argument that comes back is the same object."""
    kind = type(x)
    if kind is numpy.ndarray:
        if seen:
            known = seen.get(id(x))
            if known is not None:
                return known[0]
            view = _view_like(x, seen)
            if view is not None:
                return view
            ours = _plait.adopt_result(x)
            for argument, host, _ in seen.values():
                if x.base is not None and (x.base is host or x.base is host.base):
                    return _plait.set_base(ours, argument)
            return ours
        return _plait.adopt_result(x)
    if issubclass(kind, _StandIn):
        known = seen.get(id(x)) if seen else None
        if known is not None:
            return known[0]
        made = (_plait.adopt if x.base is None else _plait.adopt_result)(x.view(numpy.ndarray))
        return _plait.view_as(made, kind._kind, made if x._of is None else x._of)
    if kind is tuple or kind is list:
        return kind([from_numpy(v, seen) for v in x])
    if kind is dict:
        return {k: from_numpy(v, seen) for k, v in x.items()}
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*(from_numpy(v, seen) for v in x))
    return x

_made = {}


def ufunc_of(numpy_ufunc):
    """The plait.ufunc of a numpy.ufunc; one object however many names it has."""
    ours = _made.get(numpy_ufunc)
    if ours is None:
        ours = _made[numpy_ufunc] = _plait.new_ufunc(numpy_ufunc, numpy_ufunc.__name__)
    return ours
