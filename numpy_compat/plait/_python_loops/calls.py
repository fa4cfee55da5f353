"""Functions that a compiled loop calls: Python's, those of math, and NumPy's ufuncs."""

import ast
import builtins
import math
import types

import numpy

from . import complexes, times
from .folds import fold_of, folded
from .reading import LIBRARIES
from .substitutes import SUBSTITUTES, is_ours, sort, substituted
from .tracebacks import outgrown
from .types import BOOL, FLOAT, INT, NUMPYS, NotCompiled
from . import deques, number_methods, numerics, printing, records, rounding, table_methods, texts
from .casts import as_int, cast, too_large_for
from .growing import Growing, items
from .inlining import inlined
from .list_views import ListView
from .made import make, maker_of, materialised, of_numbers
from .tables import Entries, Table
from .values import Listed, Value
from .views import Vector, View, as_vector

_LIBM = {
    getattr(math, n): n
    for n in (
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "expm1", "log", "log1p",
        "log2", "log10", "pow", "atan2", "fmod", "erf", "erfc", "cbrt",
    )
    if hasattr(math, n)
}  # fmt: skip
_TYPES = {numpy.dtype(t.dtype).type: t for t in NUMPYS}


def call(lowering, fn, node):
    if isinstance(fn, (list, View, Vector)) or not callable(fn):
        raise NotCompiled("a call of what is no function", node)
    if fn in _TYPES and isinstance(fn, type) and len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and not node.keywords:
        return _constant(lowering, fn, node.args[0])
    if (made := table_methods.made_by(lowering, fn, node)) is not None:
        return made
    if fn is builtins.print:
        return printing.printed(lowering, node)
    if name := maker_of(fn):
        return make(lowering, name, node)
    if fn is builtins.tuple and len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred):
        return number_methods.as_tuple(lowering, node)
    args = lowering.spread(node.args, node)
    if fn in times.CLASSES and not node.keywords:
        return times.made(lowering, fn, args, node)
    if not node.keywords and (how := texts.function(fn, args)) is not None:
        return how(lowering, *args, node)
    if not node.keywords and (made := printing.function(fn, args)) is not None:
        return made
    if isinstance(fn, types.BuiltinFunctionType) and fn in SUBSTITUTES and not node.keywords:
        return substituted(lowering, SUBSTITUTES[fn], args, node)
    if fn is builtins.sorted and len(args) == 1 and not node.keywords:
        return _sorted(lowering, args[0], node)
    if deques.is_new(fn):
        return deques.new(lowering, args, node)
    if is_ours(fn):
        return inlined(lowering, fn, args, {}, node)
    if isinstance(fn, types.FunctionType) and not fn.__code__.co_filename.startswith(LIBRARIES):
        return inlined(lowering, fn, args, named_arguments(lowering, node), node)
    if (how := numerics.found(fn)) is not None:
        return numerics.call(lowering, how, args, {k.arg: lowering.evaluate(k.value) for k in node.keywords}, node)
    if node.keywords:
        raise NotCompiled("a call with keywords", node)
    if fn in (builtins.min, builtins.max):
        return _called(lowering, fn, args, node)
    return lowering.each(args, lambda *args: _called(lowering, fn, list(args), node), node)


def named_arguments(lowering, node):
    """Arguments by their names."""
    if any(k.arg is None for k in node.keywords):
        raise NotCompiled("a call with ** of a dict", node)
    return {k.arg: lowering.evaluate(k.value) for k in node.keywords}


def call_bound(lowering, fn, to, node):
    """A call of a method of an object."""
    args = lowering.spread(node.args, node)
    return inlined(lowering, fn, [to, *args], named_arguments(lowering, node), node)


def _sorted(lowering, what, node):
    if isinstance(what, list):
        return Listed(number_methods.in_order(lowering, what, node))
    made = lowering.new_list(node)
    made.extend(*items(lowering, what, node), node)
    substituted(lowering, sort, [made], node)
    return made


def _takes_complex(fn):
    if isinstance(fn, type):
        return fn in (complex, bool, numpy.complex64, numpy.complex128)
    return fn is builtins.abs or type(fn).__module__.partition(".")[0] in ("numpy", "plait")  # ufuncs look for themselves


def _takes_times(fn):
    return fn in (builtins.abs, builtins.min, builtins.max) or type(fn).__module__.partition(".")[0] in ("numpy", "plait")


def _called(lowering, fn, args, node):
    if any(isinstance(a, Value) and a.type.kind == "c" for a in args) and not _takes_complex(fn):
        raise NotCompiled(f"{getattr(fn, '__name__', fn)}() of a complex number", node)
    if any(map(times.has, args)) and not _takes_times(fn):
        raise NotCompiled(f"{getattr(fn, '__name__', fn)}() of a time", node)
    how = _BUILTINS.get(fn) if isinstance(fn, (type, type(len))) else None
    if how is not None:
        return how(lowering, args, node)
    if fn in _LIBM:
        return _libm(lowering, fn, _numbers(args, node), node)
    if fn in _MATH:
        return _MATH[fn](lowering, _numbers(args, node), node)
    if fn in _TYPES and len(args) == 1:
        return cast(lowering, *_numbers(args, node), _TYPES[fn], node)
    ours = type(fn).__module__.partition(".")[0] in ("numpy", "plait")
    ufunc = getattr(numpy, fn.__name__, None) if ours else None
    if isinstance(ufunc, numpy.ufunc) and ufunc.nin == len(args) and ufunc.nout == 1:
        if any(isinstance(a, (View, Vector)) for a in args):
            return Vector.elementwise(lowering, lambda *x: lowering.ufunc(ufunc, *x, node=node), args, node)
        return lowering.ufunc(ufunc, *_numbers(args, node), node=node)
    if (name := _of_numpy(fn)) in _OF_NUMPY:
        return _OF_NUMPY[name](lowering, args, node)
    if len(args) == 1 and (name := fold_of(fn)):
        return folded(lowering, name, args[0], node)
    raise NotCompiled(f"a call of {getattr(fn, '__name__', fn)!s}()", node)


def method(lowering, array, node):
    """Of an array."""
    if (how := numerics.method(node.func.attr)) is not None and not isinstance(array, ListView):
        args = lowering.in_order(node, lambda: array, *(lambda a=a: lowering.evaluate(a) for a in node.args))
        return numerics.call(lowering, how, args, {k.arg: lowering.evaluate(k.value) for k in node.keywords}, node)
    if node.args or node.keywords:
        raise NotCompiled(f"the method {node.func.attr}() of an array with arguments", node)
    if node.func.attr in ("conj", "conjugate"):
        return Vector.elementwise(lowering, lambda x: lowering.ufunc(numpy.conjugate, x, node=node), [array], node)
    if node.func.attr == "copy":
        return materialised(lowering, as_vector(array, node), node)
    return folded(lowering, node.func.attr, array, node)


def _numbers(args, node):
    if not all(isinstance(a, Value) for a in args):
        raise NotCompiled("a function of what is no number", node)
    return args


def _value(t, v, *literal):
    return Value(t, v, *literal)


def _of_numpy(fn):
    of_numpy = str(getattr(fn, "__module__", "")).partition(".")[0] in ("numpy", "plait")
    return getattr(fn, "__name__", "") if of_numpy else None


def _cross(lowering, args, node):
    """np.cross() of two vectors of three."""
    if len(args) != 2 or any(not isinstance(x, (View, Vector)) for x in args):
        raise NotCompiled("np.cross() of what are no arrays", node)
    a, b = (as_vector(x, node) for x in args)
    if any(len(x.shape) != 1 or lowering.type_of(x, node).kind not in "fiu" for x in (a, b)):
        raise NotCompiled("np.cross() of matrices", node)
    for x in (a, b):
        lowering.fail_if(lowering.negated(lowering.same(x.shape[0], 3)), _no_cross, node)
    x, y = ([v.element([lowering.number(k)]) for k in range(3)] for v in (a, b))
    times = lambda p, q: lowering.ufunc(numpy.multiply, p, q, node=node)  # noqa: E731
    parts = [lowering.ufunc(numpy.subtract, times(x[i], y[j]), times(x[j], y[i]), node=node) for i, j in ((1, 2), (2, 0), (0, 1))]
    return of_numbers(lowering, parts, None, node)


@outgrown
def _no_cross(*_):
    raise NotImplementedError("np.cross() of vectors of two in a compiled loop; plait.jit(loops=False) runs it")


_OF_NUMPY = {"round": rounding.around, "around": rounding.around, "cross": _cross}


def _libm(lowering, fn, args, node):
    p = lowering.p
    ids = [lowering.cast(a, "float64") for a in args]
    v = p.call(_LIBM[fn], *ids)
    finite = p.apply("isfinite", ids[0])
    for x in ids[1:]:
        finite = p.apply("logical_and", finite, p.apply("isfinite", x))
    # What Python raises for: no number of numbers, or an infinity of finite ones.
    odd = p.apply("logical_and", p.apply("logical_not", p.apply("isfinite", v)), finite)
    nan = p.apply("isnan", v)
    for x in ids:
        nan = p.apply("logical_and", nan, p.apply("logical_not", p.apply("isnan", x)))
    odd = p.apply("logical_or", odd, nan)
    lowering.fail_if(odd, lambda _, a, b: fn(*(a, b)[: len(ids)]), node, None, *ids[:2])
    return _value(FLOAT, v)


def _sqrt(lowering, args, node):
    x = lowering.cast(args[0], "float64")
    lowering.fail_if(lowering.p.apply("less", x, lowering.p.const("float64", 0.0)), lambda _, a, b: math.sqrt(a), node, None, x, error=ValueError)
    return _value(FLOAT, lowering.p.apply("sqrt", x))


def _rounded(ufunc):
    def how(lowering, args, node):
        (a,) = args
        if a.type.kind in "ib":
            return _value(INT, lowering.cast(a, "int64"))
        return as_int(lowering, _value(FLOAT, lowering.p.apply(ufunc, lowering.cast(a, "float64"))), node)

    return how


def _trunc(lowering, args, node):
    if not (args[0].type.python or args[0].type.dtype == "float64"):
        raise NotCompiled("trunc() of NumPy's numbers", node)
    return _rounded("trunc")(lowering, args, node)


def _fabs(lowering, args, node):
    return _value(FLOAT, lowering.p.apply("absolute", lowering.cast(args[0], "float64")))


def _test(ufunc):
    return lambda lowering, args, node: _value(BOOL, lowering.p.apply(ufunc, lowering.cast(args[0], "float64")))


_MATH = {
    math.sqrt: _sqrt, math.fabs: _fabs, math.floor: _rounded("floor"), math.ceil: _rounded("ceil"), math.trunc: _trunc,
    math.isnan: _test("isnan"), math.isinf: _test("isinf"), math.isfinite: _test("isfinite"),
}  # fmt: skip


def _int(lowering, args, node):
    if len(args) != 1:
        raise NotCompiled("int() of no number", node)
    return as_int(lowering, *_numbers(args, node), node)


def _float(lowering, args, node):
    if len(args) != 1:
        raise NotCompiled("float() of no number", node)
    return _value(FLOAT, lowering.cast(*_numbers(args, node), "float64"))


def _bool(lowering, args, node):
    if len(args) != 1:
        raise NotCompiled("bool() of nothing", node)
    return _value(BOOL, lowering.truth(*args, node))


def _constant(lowering, fn, node):
    """One of NumPy's numbers, which may be beyond the ints that code has."""
    try:
        return lowering.literal(fn(node.value))
    except (ArithmeticError, TypeError, ValueError):
        raise NotCompiled(f"{fn.__name__}() of {node.value!r}", node) from None


def _abs(lowering, args, node):
    (a,) = args
    if isinstance(a, (View, Vector)):
        return Vector.elementwise(lowering, lambda x: _abs(lowering, [x], node), args, node)
    _numbers(args, node)
    if a.type.kind == "c":
        return complexes.magnitude(lowering, a, node)
    if not a.type.python:
        return lowering.ufunc(numpy.absolute, a, node=node)
    kind = INT if a.type == BOOL else a.type
    x = lowering.cast(a, kind.dtype)
    if kind == INT:
        lowering.fail_if(lowering.same(x, -(2**63)), too_large_for, node)
    return _value(kind, lowering.p.apply("absolute", x))


def _len(lowering, args, node):
    (a,) = args
    if isinstance(a, list):
        return lowering.literal(len(a))
    if isinstance(a, Entries):
        a = a.table
    if isinstance(a, (Growing, Table)):
        return _value(INT, a.length)
    if isinstance(a, records.RecordArray):
        return _value(INT, records.length(lowering, a, node))
    if not isinstance(a, View) or a.scalar:
        raise NotCompiled("the length of what is no array", node)
    return _value(INT, a.dims[0][0])


def _extreme(fn, ufunc):
    """min or max: the first of those that are as small, or as large."""

    def how(lowering, args, node):
        if len(args) < 2:
            raise NotCompiled(f"{fn}() of an array", node)
        best = _numbers(args, node)[0]
        for a in args[1:]:
            best = lowering.either(lowering.compared_by(ufunc, a, best, node), a, best, node)
        return best

    return how


def _pow(lowering, args, node):
    if len(args) != 2:
        raise NotCompiled("pow() of three numbers", node)
    return lowering.binary(ast.Pow(), *_numbers(args, node), node)


def _divmod(lowering, args, node):
    a, b = _numbers(args, node)
    return [lowering.binary(ast.FloorDiv(), a, b, node), lowering.binary(ast.Mod(), a, b, node)]


def _round(lowering, args, node):
    if (digits := rounding.digits(args, node)) is not None:
        return rounding.of_number(lowering, _numbers(args[:1], node)[0], digits, node)
    if not (args[0].type.python or args[0].type.dtype in ("float64", "float32")):
        raise NotCompiled("round() of NumPy's integers", node)
    return _rounded("rint")(lowering, args, node)


_BUILTINS = {
    builtins.int: _int, builtins.float: _float, builtins.bool: _bool, builtins.abs: _abs, builtins.len: _len, builtins.complex: complexes.called, builtins.round: _round,
    builtins.pow: _pow, builtins.divmod: _divmod,
    builtins.min: _extreme("min", ast.Lt), builtins.max: _extreme("max", ast.Gt),
}  # fmt: skip
