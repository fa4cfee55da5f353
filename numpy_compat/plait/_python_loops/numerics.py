"""Functions of NumPy's that a compiled loop computes on its own: by what selected.py and products.py have, and by the substitutes of lines.py and linear.py."""

import functools
import inspect
import math
import types

import numpy

from . import linear, lines, maths, shaping, stacked
from .folds import folded
from .growing import items
from .list_views import ExtentsView, ListView
from .made import materialised
from .products import dot, outer
from .selected import nonzero, where
from .substitutes import substituted
from .types import FLOAT, INT, NotCompiled, Scalar, scalar_of
from .values import Value
from .views import Vector, View, as_vector, computed, is_int, made


def found(fn):
    """What computes a call of a function of NumPy's or of math, of what its arguments are: how(lowering, node, *args, **named). None for others."""
    if isinstance(fn, (types.BuiltinFunctionType, types.FunctionType)) and fn in _OF_MATH:
        return _OF_MATH[fn]
    module = str(getattr(fn, "__module__", "")).split(".")
    name, (home, those) = getattr(fn, "__name__", ""), (numpy.linalg, _OF_LINALG) if "linalg" in module else (numpy, _OF_NUMPY)
    return those[name] if name in those and (module[0] == "plait" or getattr(home, name, None) is fn) else None


def method(name):
    """The same of a method of an array."""
    return _METHODS.get(name)


def call(lowering, how, args, named, node):
    try:
        inspect.signature(how).bind(lowering, node, *args, **named)
    except TypeError:
        raise NotCompiled("a call with arguments that are not compiled", node) from None
    return how(lowering, node, *args, **named)


# operands


def _array(x, node, *axes):
    """The vector of an array of so many axes."""
    if not isinstance(x, (View, Vector)) or isinstance(x, ListView) or isinstance(x, View) and x.scalar or len(as_vector(x, node).shape) not in axes:
        raise NotCompiled(f"what is no array of {' or '.join(map(str, axes))} axes", node)
    return as_vector(x, node)


def _real(lowering, x, node, *axes):
    x = _array(x, node, *axes)
    t = lowering.type_of(x, node)
    if t.kind not in "fiu":
        raise NotCompiled("an array of what are no real numbers", node)
    return x, t


def _copy(lowering, x, node, *axes, floats=False):
    """An array that nobody else has; of floats."""
    x, t = _real(lowering, x, node, *axes)
    return materialised(lowering, x, node, t.dtype if t.kind == "f" or not floats else "float64")


def _flat_copy(lowering, x, node):
    """A line of floats that nobody else has: the elements of an array, row by row."""
    a = _copy(lowering, x, node, 1, 2, 3, floats=True)
    size = functools.reduce(lambda n, m: lowering.p.apply("multiply", n, m), [extent for extent, _ in a.dims])
    return a.moved(a.offset, [(size, a.dims[-1][1])], f"{a.text}, flat")


def _number(x, node, *kinds):
    if not isinstance(x, Value) or x.kinds or x.type.kind not in kinds:
        raise NotCompiled("an argument that is no such number", node)
    return x


def _float(lowering, x, node):
    return Value(FLOAT, lowering.cast(_number(x, node, *"biuf"), "float64"))


# selections


def _where(lowering, node, condition, x=None, y=None, /):
    return _nonzero(lowering, node, condition) if x is None or y is None else where(lowering, condition, x, y, node)


def _nonzero(lowering, node, a):
    _array(a, node, 1, 2, 3)
    return nonzero(lowering, a, node)


def _flatnonzero(lowering, node, a):
    _array(a, node, 1)
    return nonzero(lowering, a, node)[0]


def _argwhere(lowering, node, a):
    line = _flatnonzero(lowering, node, a)
    return line.moved(line.offset, [*line.dims, (lowering.one, line.dims[0][1])], f"{line.text}, each")


def _count_nonzero(lowering, node, a):
    a = _array(a, node, 1, 2, 3)
    of = Vector(a.shape, None, lambda index: Value(Scalar("bool"), lowering.truth(a.element(index), node)), a.reads)
    return folded(lowering, "sum", of, node)._replace(type=scalar_of(numpy.count_nonzero(numpy.zeros(1))))


# lines


def _made_by(lowering, fn, args, made, node):
    """An array among the arguments, which nobody else has: what the substitute makes of it."""
    site = made.site
    substituted(lowering, fn, args, node)
    made.site = site
    return made


def _sort(lowering, node, a):
    a = _copy(lowering, a, node, 1)
    return _made_by(lowering, lines.sort, [a], a, node)


def _sorted_there(lowering, node, a):
    """`a.sort()`"""
    _real(lowering, a, node, 1)
    if not isinstance(a, View):
        raise NotCompiled("an expression is sorted", node)
    return substituted(lowering, lines.sort, [a], node)


def _argsort(lowering, node, a, axis=None, kind=None, *, stable=None):
    if axis is not None or not (kind in ("stable", "mergesort") or isinstance(stable, Value) and stable.known and stable.literal is True):
        raise NotCompiled("argsort() whose order of equal elements is NumPy's own", node)
    return substituted(lowering, lines.argsort, [_copy(lowering, a, node, 1)], node)


def _searchsorted(lowering, node, a, v, side="left"):
    if side not in ("left", "right"):
        raise NotCompiled("searchsorted() with such a side", node)
    dtypes = {_real(lowering, a, node, 1)[1].dtype, (_number(v, node, *"if").type if isinstance(v, Value) else _real(lowering, v, node, 1)[1]).dtype}
    if "uint64" in dtypes and len(dtypes) > 1:
        raise NotCompiled("searchsorted() of several dtypes", node)
    if isinstance(v, Value):
        return substituted(lowering, lines.left_of if side == "left" else lines.right_of, [a, v], node)
    return substituted(lowering, lines.all_left_of if side == "left" else lines.all_right_of, [a, v], node)


def _running(fn, by):
    def how(lowering, node, a):
        a = _array(a, node, 1)
        t = lowering.type_of(a, node)
        if t.kind not in "fiub" or t.python:
            raise NotCompiled("running sums of what are no real numbers", node)
        out = made(lowering, a.shape, fn(numpy.zeros(1, t.dtype)).dtype.name, node)
        return _made_by(lowering, by, [materialised(lowering, a, node), out], out, node)

    return how


def _diff(lowering, node, a):
    _, t = _real(lowering, a, node, 1)
    view = a if isinstance(a, View) else materialised(lowering, a, node)
    p, (extent, stride) = lowering.p, view.dims[0]
    n = p.apply("maximum", p.apply("subtract", extent, lowering.one), lowering.zero)
    low, high = (view.moved(at, [(n, stride)], f"{view.text} {name}") for name, at in (("low", view.offset), ("high", p.apply("add", view.offset, stride))))
    difference = Vector.elementwise(lowering, lambda x, y: lowering.ufunc(numpy.subtract, x, y, node=node), [high, low], node)
    return materialised(lowering, difference, node)


def _clip(lowering, node, a, a_min=None, a_max=None, *, min=None, max=None):
    if all(x is None for x in (a_min, a_max, min, max)):
        raise NotCompiled("np.clip() without ends", node)
    dtype = a.type.dtype if isinstance(a, Value) else lowering.type_of(as_vector(a, node), node).dtype
    if dtype not in ("int64", "float64", "float32", "bool") and any(isinstance(x, Value) and x.type == INT for x in (a_min, a_max, min, max)):
        raise NotCompiled("np.clip() of small integers, whose ends may be beyond them", node)
    for fn, by in ((numpy.maximum, a_min if min is None else min), (numpy.minimum, a_max if max is None else max)):
        if by is not None:
            a = _of_two(lowering, fn, a, by, node)
    return a


def _of_two(lowering, ufunc, a, b, node):
    if isinstance(a, Value) and isinstance(b, Value):
        return lowering.ufunc(ufunc, a, b, node=node)
    return Vector.elementwise(lowering, lambda x, y: lowering.ufunc(ufunc, x, y, node=node), [a, b], node)


def _median(lowering, node, a):
    return substituted(lowering, lines.median, [_flat_copy(lowering, a, node)], node)


def _quantile(whole, text):
    def how(lowering, node, a, q):
        q, p = lowering.cast(_float(lowering, q, node), "float64"), lowering.p
        q = p.apply("divide", q, p.const("float64", whole)) if whole != 1.0 else q
        inside = p.apply("logical_and", p.apply("greater_equal", q, p.const("float64", 0.0)), p.apply("less_equal", q, p.const("float64", 1.0)))
        lowering.fail_if(lowering.negated(inside), lambda *_: text(numpy.zeros(1), -1), node)
        a = _flat_copy(lowering, a, node)
        if a.dtype != "float64":
            raise NotCompiled("a quantile of what are no floats of 64 bits", node)
        return substituted(lowering, lines.quantile, [a, Value(Scalar("float64"), q)], node)

    return how


def _spread(fn):
    def how(lowering, node, a, *, ddof=None):
        x, _ = _real(lowering, a, node, 1)
        ddof = lowering.literal(0) if ddof is None else _number(ddof, node, "i")
        return substituted(lowering, fn, [materialised(lowering, x, node), ddof], node)

    return how


def _linspace(lowering, node, start, stop, num=None, endpoint=None):
    if any(x.type.dtype not in ("int64", "float64") for x in (_number(start, node, *"if"), _number(stop, node, *"if"))):
        raise NotCompiled("linspace() between such numbers", node)
    num = lowering.literal(50) if num is None else _number(num, node, "i")
    endpoint = lowering.literal(True) if endpoint is None else _number(endpoint, node, "b")
    if not is_int(num):
        raise NotCompiled("linspace() of such a number of points", node)
    return substituted(lowering, lines.linspace, [_float(lowering, start, node), _float(lowering, stop, node), num, endpoint], node)


# matrices


def _trace(lowering, node, a):
    _real(lowering, a, node, 2)
    view = a if isinstance(a, View) else materialised(lowering, a, node)
    p, ((rows, down), (columns, along)) = lowering.p, view.dims
    return folded(lowering, "sum", view.moved(view.offset, [(p.apply("minimum", rows, columns), p.apply("add", down, along))], f"{view.text} diagonal"), node)


def _norm(lowering, node, x, ord=None):
    x, t = _real(lowering, x, node, 1, 2)
    dtype = t.dtype if t.kind == "f" else "float64"
    copy = materialised(lowering, x, node, dtype)
    if len(x.shape) == 2:
        n = lowering.p.apply("multiply", *x.shape)
        copy = copy.moved(copy.offset, [(n, copy.dims[1][1])], f"{copy.text}, one line")
        if ord not in (None, "fro"):
            raise NotCompiled("such a norm of a matrix", node)
    elif ord is not None:
        ord = _number(ord, node, *"if").literal if ord.known else ord
        if ord in (1, numpy.inf):
            sizes = Vector.elementwise(lowering, lambda v: lowering.ufunc(numpy.absolute, v, node=node), [copy], node)
            return folded(lowering, "sum" if ord == 1 else "max", sizes, node)
        if ord != 2:
            raise NotCompiled("such a norm", node)
    return lowering.ufunc(numpy.sqrt, dot(lowering, copy, copy, numpy.dot, node), node=node)


def _square(lowering, a, node, again):
    """A copy of a square matrix, of floats."""
    copy = _copy(lowering, a, node, 2, floats=True)
    lowering.facts.multiplied |= {part.whole for part in as_vector(a, node).reads.values() if part.whole is not None}
    sizes = [lambda v=extent: lowering.p.cast(v, "float64") for extent, _ in copy.dims]
    lowering.fail_if(lowering.p.apply("not_equal", *(extent for extent, _ in copy.dims)), lambda _, n, m: again(numpy.zeros((int(n), int(m)))), node, None, *sizes)
    return copy


def _det(lowering, node, a):
    return substituted(lowering, linear.det, [_square(lowering, a, node, numpy.linalg.det)], node)


def _inv(lowering, node, a):
    a, p = _square(lowering, a, node, numpy.linalg.inv), lowering.p
    one = computed(lowering, [extent for extent, _ in a.dims], a.dtype, lambda index: p.cast(p.apply("equal", *index), a.dtype), node)
    return _made_by(lowering, linear.solve_all, [a, one], one, node)


def _solve(lowering, node, a, b):
    a = _square(lowering, a, node, lambda x: numpy.linalg.solve(x, x))
    b = _copy(lowering, b, node, 1, 2, floats=True)
    if a.dtype != b.dtype:
        raise NotCompiled("equations of several dtypes", node)
    n, m = a.dims[0][0], b.dims[0][0]

    def again(_, n, m):
        numpy.linalg.solve(numpy.zeros((int(n),) * 2), numpy.zeros((int(m), 1)[: len(b.dims)]))

    lowering.fail_if(lowering.p.apply("not_equal", n, m), again, node, None, *(lambda v=v: lowering.p.cast(v, "float64") for v in (n, m)))
    return _made_by(lowering, linear.solve if len(b.dims) == 1 else linear.solve_all, [a, b], b, node)


def _product(fn):
    return lambda lowering, node, a, b: dot(lowering, a, b, fn, node)


def _of_lines(fn):
    def how(lowering, node, a, b):
        return dot(lowering, *(x for x in (a, b) if _array(x, node, 1)), fn, node)

    return how


class Indices:
    """What np.ndindex() goes over."""

    def __init__(self, lowering, extents, node):
        self.lowering, self.extents = lowering, [_int(lowering, n, node).id for n in extents]
        for n in self.extents:
            lowering.fail_if(lowering.p.apply("less", n, lowering.zero), lambda *_: numpy.ndindex(-1), node)

    def items(self, node=None):
        """How many there are, and the one at a number."""
        p, count = self.lowering.p, self.lowering.one
        for n in self.extents:
            count = p.apply("multiply", count, n)

        def item(i):
            parts = []
            for n in reversed(self.extents[1:]):
                parts.insert(0, Value(INT, p.apply("remainder", i, n)))
                i = p.apply("floor_divide", i, n)
            return [Value(INT, i), *parts]

        return count, item


class Enumerated(Indices):
    """What np.ndenumerate() goes over."""

    def __init__(self, lowering, array):
        self.lowering, self.array = lowering, array
        self.extents = [extent for extent, _ in array.dims]

    def items(self, node=None):
        count, index = super().items()

        def item(i):
            at, array = index(i), self.array
            array.touch()
            return [at, array._value(array._at([x.id for x in at]))]

        return count, item


def _ndenumerate(lowering, node, a):
    if not isinstance(a, View) or isinstance(a, ListView) or a.scalar or a.dtype == "float16":
        raise NotCompiled("ndenumerate() of what is no array", node)
    return Enumerated(lowering, a)


def _ndindex(lowering, node, *shape):
    if len(shape) == 1 and isinstance(shape[0], (ExtentsView, list)):
        shape = shape[0].parts() if isinstance(shape[0], ExtentsView) else shape[0]
    if not shape:
        raise NotCompiled("indices of no axes", node)
    return Indices(lowering, shape, node)


# math


def _int(lowering, x, node):
    _number(x, node, *"biu")
    if x.type.dtype == "uint64":
        raise NotCompiled("an int of 64 bits without a sign", node)
    return Value(INT, lowering.cast(x, "int64"))


def _of_ints(fn):
    def how(lowering, node, *numbers):
        if len(numbers) != fn.__code__.co_argcount:
            raise NotCompiled(f"{fn.__name__}() of so many", node)
        return substituted(lowering, fn, [_int(lowering, x, node) for x in numbers], node)

    return how


def _perm(lowering, node, n, k=None):
    n = _int(lowering, n, node)
    return substituted(lowering, maths.perm, [n, n if k is None else _int(lowering, k, node)], node)


def _isclose(lowering, node, a, b, *, rel_tol=None, abs_tol=None):
    tolerances = [lowering.literal(default) if x is None else x for x, default in ((rel_tol, 1e-9), (abs_tol, 0.0))]
    return substituted(lowering, maths.isclose, [_float(lowering, x, node) for x in (a, b, *tolerances)], node)


def _copysign(lowering, node, x, y):
    return lowering.ufunc(numpy.copysign, _float(lowering, x, node), _float(lowering, y, node), node=node)._replace(type=FLOAT)


def _times(factor):
    def how(lowering, node, x):
        return Value(FLOAT, lowering.p.apply("multiply", _float(lowering, x, node).id, lowering.p.const("float64", factor)))

    return how


def _prod(lowering, node, a, *, start=None):
    start = lowering.literal(1) if start is None else _number(start, node, *"bif")
    return substituted(lowering, maths.prod, [a, start], node)


def _hypot(lowering, node, *numbers):
    return substituted(lowering, maths.norm, [[_float(lowering, x, node) for x in numbers]], node)


def _dist(lowering, node, a, b):
    def apart(x, y):
        return Value(FLOAT, lowering.p.apply("subtract", _float(lowering, x, node).id, _float(lowering, y, node).id))

    if type(a) is list and type(b) is list and len(a) == len(b):
        return substituted(lowering, maths.norm, [[apart(x, y) for x, y in zip(a, b)]], node)
    lines = [_real(lowering, x, node, 1)[0] for x in (a, b)]
    sizes = [x.shape[0] for x in lines]
    lowering.fail_if(lowering.p.apply("not_equal", *sizes), lambda *_: math.dist((0,), (0, 0)), node)
    parts = computed(lowering, sizes[:1], "float64", lambda index: apart(*(x.element(index) for x in lines)).id, node)
    return substituted(lowering, maths.norm, [parts], node)


def _fsum(lowering, node, a):
    if isinstance(a, Vector):
        _real(lowering, a, node, 1)
    elif not isinstance(a, list):
        items(lowering, a, node)
    return substituted(lowering, maths.fsum, [a], node)


def _of_float(fn):
    return lambda lowering, node, x: substituted(lowering, fn, [_float(lowering, x, node)], node)


def _ldexp(lowering, node, x, n):
    return substituted(lowering, maths.ldexp, [_float(lowering, x, node), _int(lowering, n, node)], node)


def _exponent_of(lowering, node, x):
    p = lowering.p
    return Value(INT, p.apply("subtract", p.apply("right_shift", p.call("float_bits", x.id), lowering.number(52)), lowering.number(1022)))


def _two_to(lowering, node, n):
    p, number = lowering.p, lowering.number
    power = p.apply("add", lowering.cast(n, "int64"), number(1023))  # as the bits have it
    small = p.apply("right_shift", number(1 << 51), p.apply("negative", p.apply("minimum", power, lowering.zero)))  # of fewer than 53 bits
    bits = p.apply("where", p.apply("greater", power, lowering.zero), p.apply("left_shift", power, number(52)), small)
    return Value(FLOAT, p.call("bits_float", bits))


_OF_MATH = {
    math.gcd: _of_ints(maths.gcd), math.lcm: _of_ints(maths.lcm), math.factorial: _of_ints(maths.factorial), math.comb: _of_ints(maths.comb), math.perm: _perm,
    math.isqrt: _of_ints(maths.isqrt), math.isclose: _isclose, math.copysign: _copysign, math.degrees: _times(180.0 / math.pi),
    math.radians: _times(math.pi / 180.0), math.prod: _prod, math.hypot: _hypot, math.dist: _dist, math.frexp: _of_float(maths.frexp), math.modf: _of_float(maths.modf),
    math.ldexp: _ldexp, math.fsum: _fsum, maths.exponent_of: _exponent_of, maths.two_to: _two_to,
}  # fmt: skip
_OF_NUMPY = {
    "ndindex": _ndindex, "ndenumerate": _ndenumerate, "where": _where, "nonzero": _nonzero, "flatnonzero": _flatnonzero, "argwhere": _argwhere, "count_nonzero": _count_nonzero, "sort": _sort, "argsort": _argsort,
    "searchsorted": _searchsorted, "cumsum": _running(numpy.cumsum, lines.cumsum), "cumprod": _running(numpy.cumprod, lines.cumprod), "diff": _diff, "clip": _clip,
    "median": _median, "percentile": _quantile(100.0, numpy.percentile), "quantile": _quantile(1.0, numpy.quantile), "var": _spread(lines.var), "std": _spread(lines.std),
    "linspace": _linspace, "trace": _trace, "matmul": _product(numpy.matmul), "dot": _product(numpy.dot), "outer": lambda lowering, node, a, b: outer(lowering, a, b, node),
    "inner": _of_lines(numpy.inner), "vdot": _of_lines(numpy.vdot),
}  # fmt: skip
_OF_LINALG = {"norm": _norm, "solve": _solve, "inv": _inv, "det": _det}
_METHODS = {name: _OF_NUMPY[name] for name in ("dot", "nonzero", "argsort", "searchsorted", "cumsum", "cumprod", "clip", "var", "std", "trace")} | {"sort": _sorted_there}
_OF_NUMPY |= shaping.OF_NUMPY | stacked.OF_NUMPY
_METHODS |= shaping.METHODS
