"""Products of vectors and matrices, with NumPy's signatures; what the engine does not take falls back."""

import functools
import math

import numpy

from . import _plait
from ._conversion import from_numpy, to_numpy
from ._fallback import call
from ._plait import ndarray


def _product(name):
    function = getattr(numpy, name)

    def product(a, b, out=None):
        if out is None and (isinstance(a, ndarray) or isinstance(b, ndarray)):
            result = _plait.product(name, a, b)
            if result is not NotImplemented:
                return result
        return call(function, (a, b) if out is None else (a, b, out))

    product.__name__ = product.__qualname__ = name
    return product


dot, outer = map(_product, ("dot", "outer"))


def inner(a, b, /):
    return _inner(a, b)


def vdot(a, b, /):
    return _vdot(a, b)


_inner, _vdot = map(_product, ("inner", "vdot"))


def tensordot(a, b, axes=2):
    result = _plait.tensordot(a, b, axes)
    return call(numpy.tensordot, (a, b, axes)) if result is NotImplemented else result


_SOMETHING = numpy.zeros(())


@functools.lru_cache(1024)
def _path(subscripts, shapes, optimize):
    """How NumPy contracts operands of these shapes: (positions, subscripts) of each step."""
    stand_ins = [numpy.broadcast_to(_SOMETHING, shape) for shape in shapes]
    return tuple(step[:2] for step in numpy.einsum_path(subscripts, *stand_ins, optimize=optimize, einsum_call=True)[1])


def _letters(labels):
    return "".join("..." if l is Ellipsis else chr(ord("A") + l if l < 26 else ord("a") + l - 26) for l in labels)


def _spelled(operands):
    """(subscripts, arrays) of einsum's arguments; its other spelling has a list of labels after each array."""
    if isinstance(operands[0], str):
        return operands[0], operands[1:]
    terms = ",".join(map(_letters, operands[1::2]))
    return (terms + "->" + _letters(operands[-1]), operands[:-1:2]) if len(operands) % 2 else (terms, operands[::2])


_PIECE = 1 << 24  # products in a piece of NumPy's loops: some milliseconds


def _in_pieces(subscripts, arrays):
    """NumPy's loops over all the labels at once, for some indices of the result at a time, that an interrupt ends between. NotImplemented where
    there are few products, or nothing to cut by: sums are one loop."""
    terms, arrow, into = subscripts.replace(" ", "").partition("->")
    into = into if arrow else "".join(sorted(label for label in set(terms) - {","} if terms.count(label) == 1))
    labelled = [pair for term, a in zip(terms.split(","), arrays, strict=True) for pair in zip(term, a.shape, strict=True)]
    sizes = dict(labelled)
    products = math.prod(sizes.values())
    broadcast = any(sizes[label] != n for label, n in labelled)
    if "." in subscripts or broadcast or not into or products < 4 * _PIECE or any(type(a) is not ndarray for a in arrays):
        return NotImplemented
    by = max(into, key=sizes.__getitem__)
    step = max(2, _PIECE * sizes[by] // products)  # with one of an axis its stride says nothing of how the result lies
    whole = (slice(None),) * into.index(by)
    operands = [to_numpy(a) for a in arrays]
    out = None
    for k in range(0, sizes[by], step):
        part = slice(k, k + step)
        cut = [a[tuple(part if label == by else slice(None) for label in term)] for term, a in zip(terms.split(","), operands)]
        piece = numpy.einsum(subscripts, *cut)
        if out is None:
            out = numpy.empty_like(piece, shape=[sizes[label] for label in into])
        out[(*whole, part)] = piece
    return from_numpy(out)


def _contracted(subscripts, arrays, optimize):
    """NotImplemented for what NumPy does, mistakes among it."""
    if optimize is False:
        return _plait.einsum(subscripts, arrays, False) if len(arrays) <= 2 else _in_pieces(subscripts, arrays)
    way = tuple(map(_hashable, optimize)) if isinstance(optimize, (list, tuple)) else optimize
    left = list(arrays)
    for positions, step in _path(subscripts, tuple(a.shape for a in arrays), way):
        made = _plait.einsum(step, tuple(left.pop(i) for i in positions), len(positions) == 2)
        if made is NotImplemented:
            return made
        left.append(made)
    return left[0]


def _hashable(x):
    return tuple(x) if isinstance(x, list) else x


def einsum(*operands, out=None, optimize=False, **kwargs):
    if optimize is False and out is None and not kwargs and len(operands) == 3 and (type(operands[1]) is ndarray or type(operands[2]) is ndarray):
        if type(operands[0]) is str:  # the most common call, the short way
            result = _plait.einsum(operands[0], operands[1:], False)
            return call(numpy.einsum, operands) if result is NotImplemented else result
    if out is None and not kwargs and any(type(x) is ndarray for x in operands):
        try:
            result = _contracted(*_spelled(operands), optimize)
        except (TypeError, ValueError, KeyError, RuntimeError, IndexError, AttributeError):  # NumPy says what is wrong
            result = NotImplemented
        if result is not NotImplemented:
            return result
    given = {"optimize": optimize, **kwargs}
    return call(numpy.einsum, operands, given if out is None else {"out": out, **given})


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa, axisb, axisc = (axis,) * 3
    result = _plait.cross(a, b, axisa, axisb, axisc)
    return call(numpy.cross, (a, b, axisa, axisb, axisc)) if result is NotImplemented else result
