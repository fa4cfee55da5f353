"""Arrays of a compiled loop in other shapes and dtypes: ravel() and reshape() of those that lie in C order, flatten(), astype(), lines that are joined, folds along
an axis, and folds that leave out NaN."""

import numpy

from .casts import cast
from .folds import folded
from .list_views import ListView
from .made import dtype_of, materialised
from .tracebacks import outgrown
from .types import INT, NotCompiled, Scalar
from .values import Listed, Value
from .views import Vector, View, as_vector, computed, is_int, made


def _array(x, node):
    if not isinstance(x, (View, Vector)) or isinstance(x, ListView) or isinstance(x, View) and x.scalar:
        raise NotCompiled("an array is wanted here", node)
    return x


def _in_order(lowering, x, node):
    """A view of elements in C order: of such an array, or of an expression that is computed now."""
    x = _array(x, node)
    if isinstance(x, Vector):
        x = materialised(lowering, x, node)
    if not x.in_order:
        raise NotCompiled("another shape of an array whose order only the running code knows", node)
    return x


def _size(lowering, extents):
    size = extents[0]
    for extent in extents[1:]:
        size = lowering.p.apply("multiply", size, extent)
    return size


def _shaped(lowering, x, extents, text):
    dims, stride = [], lowering.number(numpy.dtype(x.dtype).itemsize)
    for extent in reversed(extents):
        dims.insert(0, (extent, stride))
        stride = lowering.p.apply("multiply", stride, extent)
    made = x.moved(x.offset, dims, f"{x.text} {text} {lowering.statements}")
    made.in_order, made.site = True, None
    x.site = None  # whose memory has two names now
    return made


def ravel(lowering, node, a):
    x = _in_order(lowering, a, node)
    return _shaped(lowering, x, [_size(lowering, [extent for extent, _ in x.dims])], "in a line")


def flatten(lowering, node, a):
    return ravel(lowering, node, as_vector(_array(a, node), node))


def reshape(lowering, node, a, *shape):
    p = lowering.p
    if len(shape) == 1 and isinstance(shape[0], list):
        shape = shape[0]
    if not 1 <= len(shape) <= 2 or not all(isinstance(n, Value) and is_int(n) for n in shape):
        raise NotCompiled("such a shape", node)
    x = _in_order(lowering, a, node)
    size, extents = _size(lowering, [extent for extent, _ in x.dims]), [lowering.cast(n, "int64") for n in shape]
    left = [k for k, n in enumerate(shape) if n.known and n.literal == -1]
    if any(not n.known or n.literal < 0 for k, n in enumerate(shape) if k not in left) and left or len(left) > 1:
        raise NotCompiled("a shape of which code does not know what is left", node)
    again = lambda i, *parts: numpy.zeros(i).reshape([int(n) for n in parts[: len(shape)]])  # noqa: E731
    told = [lambda v=v: p.cast(v, "float64") for v in extents]
    if left:
        other = extents[1 - left[0]] if len(extents) == 2 else lowering.one
        if len(extents) == 2 and shape[1 - left[0]].literal == 0:
            raise NotCompiled("a shape of which code does not know what is left", node)
        lowering.fail_if(p.apply("not_equal", p.apply("remainder", size, other), lowering.zero), again, node, size, *told)
        extents[left[0]] = p.apply("floor_divide", size, other)
    else:
        for n in extents:
            lowering.fail_if(p.apply("less", n, lowering.zero), _size_left_open, node)
        lowering.fail_if(p.apply("not_equal", _size(lowering, extents), size), again, node, size, *told, error=ValueError)
    return _shaped(lowering, x, extents, "in another shape")


@outgrown
def _size_left_open(*_):
    raise NotImplementedError("a shape with a variable that is -1 in a compiled loop; plait.jit(loops=False) runs it")


def astype(lowering, node, a, dtype):
    x, name = as_vector(_array(a, node), node), dtype_of(dtype, node)
    if name[0] == "c" or name == "float16" or lowering.type_of(x, node).kind == "c":
        raise NotCompiled(f"astype() to {name}", node)
    return computed(lowering, x.shape, name, lambda index: cast(lowering, x.element(index), Scalar(name), node).id, node)


def fill(lowering, node, a, value):
    if not isinstance(a, View) or isinstance(a, ListView) or not isinstance(value, Value):
        raise NotCompiled("fill() with what is no number", node)
    lowering.put(a, value, node)


def concatenate(lowering, node, arrays):
    """Of lines of one dtype."""
    p = lowering.p
    if type(arrays) not in (list, Listed) or not arrays:
        raise NotCompiled("concatenate() of what is no tuple or list of arrays", node)
    lines = [as_vector(_array(x, node), node) for x in arrays]
    dtypes = {lowering.type_of(x, node).dtype for x in lines}
    if any(len(x.shape) != 1 for x in lines) or len(dtypes) > 1:
        raise NotCompiled("concatenate() of others than lines of one dtype", node)
    total = lines[0].shape[0]
    for x in lines[1:]:
        total = p.apply("add", total, x.shape[0])
    out, at = made(lowering, [total], *dtypes, node), lowering.zero
    for x in lines:
        _, i = p.begin_count(lowering.zero, x.shape[0])
        p.store(out.buffer, out._at([p.apply("add", at, i)]), lowering.stored_as(x.element([i]), out.dtype, node))
        p.end()
        at = p.apply("add", at, x.shape[0])
    return out


# folds


def _axis(axis, ndim, node):
    if not isinstance(axis, Value) or not axis.known or axis.type != INT or not -ndim <= axis.literal < ndim:
        raise NotCompiled("such an axis", node)
    return axis.literal % ndim


def fold_along(name):
    """np.sum(a, axis=k) and the like of a matrix."""

    def how(lowering, node, a, axis=None):
        x = as_vector(_array(a, node), node)
        if axis is None or len(x.shape) == 1:
            if axis is not None:
                _axis(axis, 1, node)
            return folded(lowering, name, a, node)
        if len(x.shape) != 2:
            raise NotCompiled(f"{name}() along an axis of such an array", node)
        axis = _axis(axis, 2, node)
        ordered = name in ("sum", "prod", "mean") and (name == "mean" or lowering.type_of(x, node).kind == "f")
        if ordered and not (axis == 1 and isinstance(a, View) and (a.in_order or a.packed)):
            raise NotCompiled(f"{name}() along an axis, in an order which only the running code knows", node)
        if x.type is None:
            a = materialised(lowering, x, node)
            x = a.vector()
        if name in ("max", "min", "argmax", "argmin"):
            lowering.fail_if(lowering.same(x.shape[axis], 0), lambda *_: getattr(numpy, name)(numpy.zeros((1, 0)), axis=1), node)

        def of(i):
            line = Vector([x.shape[axis]], x.type, lambda index: x.element([i, *index] if axis == 1 else [*index, i]), x.reads)
            return folded(lowering, name, line, node)

        dtype = lowering.dry_run(lambda: of(lowering.zero)).type.dtype
        return computed(lowering, [x.shape[1 - axis]], dtype, lambda index: of(index[0]).id, node)

    return how


def without_nan(name):
    """np.nansum() and the like of a line of floats: of a copy that has a number for each NaN, as NumPy computes them."""

    def how(lowering, node, a):
        x = as_vector(_array(a, node), node)
        t = lowering.type_of(x, node)
        if len(x.shape) != 1 or t.kind != "f":
            raise NotCompiled(f"nan{name}() of what is no line of floats", node)
        neutral = {"max": -numpy.inf, "min": numpy.inf}.get(name, 0.0)
        x = as_vector(materialised(lowering, x, node), node)

        def is_nan(index):
            return lowering.p.apply("isnan", x.element(index).id)

        def number(index):
            p = lowering.p  # a dry one, where types are asked for
            return Value(t, p.apply("where", is_nan(index), p.const(t.dtype, neutral), x.element(index).id))

        filled = Vector(x.shape, None, number, x.reads)
        if name == "sum":
            return folded(lowering, "sum", filled, node)
        numbers = Vector(x.shape, None, lambda index: Value(Scalar("bool"), lowering.negated(is_nan(index))), x.reads)
        n = folded(lowering, "sum", numbers, node).id
        lowering.fail_if(lowering.same(n, 0), _nothing_left, node)
        if name in ("max", "min"):
            return folded(lowering, name, filled, node)
        total, p = folded(lowering, "sum", filled, node), lowering.p
        mean = Value(total.type, p.apply("divide", total.id, p.cast(n, t.dtype)))
        if name == "mean":
            return mean

        def square(index):
            d = lowering.p.apply("subtract", x.element(index).id, mean.id)
            return Value(t, lowering.p.apply("where", is_nan(index), lowering.p.const(t.dtype, 0.0), lowering.p.apply("multiply", d, d)))

        total = folded(lowering, "sum", Vector(x.shape, None, square, x.reads), node)
        var = Value(total.type, p.apply("divide", total.id, p.cast(n, t.dtype)))
        return var if name == "var" else Value(var.type, p.apply("sqrt", var.id))

    return how


@outgrown
def _nothing_left(*_):
    raise NotImplementedError("a fold of NaN alone in a compiled loop; plait.jit(loops=False) runs it")


OF_NUMPY = {"ravel": ravel, "reshape": reshape, "concatenate": concatenate} | {f"nan{name}": without_nan(name) for name in ("sum", "mean", "max", "min", "var", "std")}
OF_NUMPY |= {alias: fold_along(name) for alias, name in [*((n, n) for n in ("sum", "prod", "max", "min", "argmax", "argmin", "any", "all", "mean")), ("amax", "max"), ("amin", "min")]}
METHODS = {name: OF_NUMPY[name] for name in ("ravel", "reshape", "sum", "prod", "max", "min", "argmax", "argmin", "any", "all", "mean")}
METHODS |= {"flatten": flatten, "astype": astype, "fill": fill}
