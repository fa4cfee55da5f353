"""NumPy's sums, products, extremes and the like of parts of arrays in a compiled loop."""

import functools
import warnings

import numpy

from .types import NotCompiled, Scalar
from .values import Value
from .views import as_vector

_ORDERED = {"sum", "prod"}  # of floats
_OTHER_NAMES = {"amax": "max", "amin": "min"}
_NAMES = {"sum", "prod", "max", "min", "argmax", "argmin", "any", "all", "mean"}


def fold_of(fn):
    """The name of the fold that a function of NumPy's is, or None."""
    name = getattr(fn, "__name__", "")
    name = _OTHER_NAMES.get(name, name)
    of_numpy = str(getattr(fn, "__module__", "")).partition(".")[0] in ("numpy", "plait")
    return name if of_numpy and name in _NAMES else None


def folded(lowering, name, array, node):
    """The fold of all elements, as NumPy computes it."""
    if name not in _NAMES:
        raise NotCompiled(f"the method {name}() of an array", node)
    if isinstance(array, Value):
        raise NotCompiled(f"{name}() of a number", node)
    array, p = as_vector(array, node), lowering.p
    if name == "mean":
        return _mean(lowering, array, node)
    element = lowering.type_of(array, node)
    if element.kind in "cmM":
        raise NotCompiled(f"{name}() of complex numbers, or of times", node)
    dtype = _dtype(name, element)
    if len(array.shape) != 1 and (name.startswith("arg") or name in _ORDERED and dtype[0] == "f"):
        raise NotCompiled(f"{name}() of a matrix", node)
    n = array.shape[0]
    for extent in array.shape[1:]:
        n = p.apply("multiply", n, extent)
    if name not in ("sum", "prod", "any", "all"):
        lowering.fail_if(lowering.same(n, 0), lambda *_: getattr(numpy, name)(numpy.zeros(0)), node)

    def fold(kind, value_of):
        index = [p.begin_fold(lowering.zero, extent)[1] for extent in array.shape]
        v = value_of(array.element(index))
        for _ in index:
            v = p.end_fold(kind, v)
        return v

    if dtype == "bool" and name in ("max", "min"):
        kind = {"max": "any", "min": "all"}[name]
    else:
        kind = name
    if kind in ("any", "all"):
        return Value(Scalar("bool"), fold(kind, lambda x: lowering.truth(x, node)))
    v = fold(kind, lambda x: lowering.cast(x, element.dtype if name.startswith("arg") else dtype))
    if name == "sum" and dtype[0] == "f":
        v = p.apply("where", lowering.same(n, 0), p.const(dtype, 0.0), v)  # not -0.0
        _heed_infinities(lowering, v, lambda: fold("any", lambda x: p.apply("isnan", lowering.cast(x, dtype))))
    return Value(Scalar(dtype), v)


def _heed_infinities(lowering, v, any_nan):
    """Infinities of both signs make NaN, of which NumPy warns; elements that are NaN do not."""
    p = lowering.p
    p.begin_if(p.apply("isnan", v))
    lowering.warn_if(lowering.negated(any_nan()), "invalid value encountered in reduce")
    p.end()


@functools.cache
def _of_no_mean():
    """What NumPy warns of where there is nothing to take the mean of."""
    with warnings.catch_warnings(record=True) as heard, numpy.errstate(all="warn"):
        warnings.simplefilter("always")
        numpy.zeros(0).mean()
    return [str(w.message) for w in heard]


def _mean(lowering, array, node):
    p, element = lowering.p, lowering.type_of(array, node)
    if element.kind in "cmM":
        raise NotCompiled("mean() of complex numbers, or of times", node)
    if len(array.shape) != 1:
        raise NotCompiled("mean() of a matrix", node)
    n = array.shape[0]
    for text in _of_no_mean():
        lowering.warn_if(lowering.same(n, 0), text)
    if element.kind != "f":
        array = type(array)(array.shape, None, lambda index, of=array.element: Value(Scalar("float64"), lowering.cast(of(index), "float64")), array.reads)
    total = folded(lowering, "sum", array, node)
    return Value(total.type, p.apply("divide", total.id, p.cast(n, total.type.dtype)))


def _dtype(name, element):
    """Of the fold of such elements."""
    if name in _ORDERED:
        return numpy.add.reduce(numpy.zeros(1, element.dtype)).dtype.name
    return "int64" if name.startswith("arg") else element.dtype
