"""Arrays that a compiled loop makes: np.zeros() and its like, and whatever is computed and kept. They lie in memory of the run, which a statement has again
for the next array that it makes: names that are set in a loop stand for nothing in its next iteration, but for those of carried.py."""

import ast

import numpy

from .. import _default_dtype
from . import times
from .growing import Growing
from .list_views import ListView
from .types import FLOAT, INT, NotCompiled, OF_TIMES
from .values import Value
from .views import Vector, View, _too_large, as_vector, computed, is_int, made

_FILLED = {"zeros": 0, "ones": 1, "empty": None, "full": None}
_LIKE = {"zeros_like": 0, "ones_like": 1, "empty_like": None, "full_like": None}
_PARAMETERS = {
    "zeros": ("shape", "dtype"), "ones": ("shape", "dtype"), "empty": ("shape", "dtype"), "full": ("shape", "fill_value", "dtype"),
    "zeros_like": ("a", "dtype"), "ones_like": ("a", "dtype"), "empty_like": ("prototype", "dtype"), "full_like": ("a", "fill_value", "dtype"),
    "array": ("object", "dtype"), "asarray": ("a", "dtype"), "ascontiguousarray": ("a", "dtype"), "copy": ("a",), "arange": (), "eye": ("N",),
    "identity": ("n",),
}  # fmt: skip
MOST = 1 << 40  # elements along an axis


def maker_of(fn):
    """The name of the function of NumPy's that makes an array, or None."""
    name = getattr(fn, "__name__", "")
    of_numpy = str(getattr(fn, "__module__", "") or type(fn).__module__).partition(".")[0] in ("numpy", "plait")
    return name if of_numpy and name in _PARAMETERS else None


def make(lowering, name, node):
    """What a call of that function gives."""
    given = dict(zip(_PARAMETERS[name], map(lowering.evaluate, node.args[: len(_PARAMETERS[name])])))
    rest = node.args[len(_PARAMETERS[name]) :]
    for k in node.keywords:
        if k.arg in given or k.arg not in (*_PARAMETERS[name], "dtype", "copy") or k.arg == "copy" and name != "array":
            raise NotCompiled(f"{name}() with {k.arg}=", node)
        given[k.arg] = lowering.evaluate(k.value)
        if k.arg == "copy" and not (isinstance(k.value, ast.Constant) and k.value.value is True):
            raise NotCompiled("np.array() that may copy nothing", node)
    if name == "arange":
        return _arange(lowering, [lowering.scalar(a) for a in node.args], given.get("dtype"), node)
    if rest or not given:
        raise NotCompiled(f"{name}() with other arguments", node)
    dtype = dtype_of(given["dtype"], node) if given.get("dtype") is not None else None
    if name in _FILLED:
        fill = given["fill_value"] if name == "full" else _FILLED[name]
        return _filled(lowering, _extents(lowering, given["shape"], node), dtype, fill, name == "full", node)
    if name in _LIKE:
        like = _array(given.get("a", given.get("prototype")), node)
        fill = given["fill_value"] if name == "full_like" else _LIKE[name]
        return _filled(lowering, _shape(like), dtype or lowering.type_of(as_vector(like, node), node).dtype, fill, False, node)
    if name in ("eye", "identity"):
        n = _extents(lowering, next(iter(given.values())), node)[0]
        view = _filled(lowering, [n, n], dtype, 0, False, node)
        _, i = lowering.p.begin_count(lowering.zero, n)
        lowering.p.store(view.buffer, view._at([i, i]), lowering.p.const(view.dtype, 1))
        lowering.p.end()
        return view
    what = next(iter(given.values()))
    if isinstance(what, list):
        return of_numbers(lowering, what, dtype, node)
    if name in ("asarray", "ascontiguousarray") and isinstance(what, View) and dtype in (None, what.dtype):
        if name == "asarray":
            return what
        raise NotCompiled("ascontiguousarray() of an array", node)
    if isinstance(what, Growing):
        t = what.type
        if t is None:
            raise NotCompiled("an array of a list of tuples, or of numbers of several types", node)
        if dtype is None and t.dtype != "float64":
            raise NotCompiled("an array of a list of no floats, which would be one of floats where it is empty", node)
        own = _default(lowering, node) if t.kind == "f" and t.python and dtype is None else t.dtype
        return computed(lowering, [what.length], dtype or own, lambda i: lowering.stored_as(what.element(i[0]), dtype or own, node), node)
    return materialised(lowering, as_vector(_array(what, node), node), node, dtype)


def _array(x, node):
    if not isinstance(x, (View, Vector)) or isinstance(x, ListView) or isinstance(x, View) and x.scalar:
        raise NotCompiled("an array is wanted here", node)
    return x


def _shape(x):
    return [extent for extent, _ in x.dims] if isinstance(x, View) else list(x.shape)


def dtype_of(x, node):
    try:
        dtype = numpy.dtype(x)
    except TypeError:
        raise NotCompiled("a dtype that is not known", node) from None
    if dtype in OF_TIMES:
        return dtype.name
    if dtype.kind not in "biufc" or dtype.itemsize > 16 or not dtype.isnative:
        raise NotCompiled(f"an array of {dtype}", node)
    return dtype.name


def _default(lowering, node):
    if _default_dtype.differs():
        raise NotCompiled("an array of the default dtype", node)
    lowering.facts.defaults = True
    return "float64"


def _extents(lowering, shape, node):
    """Of a number or a tuple of them, which are checked."""
    extents = []
    for n in shape if isinstance(shape, list) else [shape]:
        if not isinstance(n, Value) or not is_int(n):
            raise NotCompiled("a shape of what are no ints", node)
        i = lowering.cast(n, "int64")
        if not (n.known and 0 <= n.literal < MOST):
            lowering.fail_if(lowering.p.apply("less", i, lowering.zero), lambda *_: numpy.zeros(-1), node)
            lowering.fail_if(lowering.p.apply("greater", i, lowering.number(MOST)), _too_large, node)
        extents.append(i)
    return extents


def _filled(lowering, extents, dtype, fill, of_its_kind, node):
    """of_its_kind: its dtype is that of what fills it."""
    if fill is not None and not isinstance(fill, Value):
        fill = lowering.literal(fill) if isinstance(fill, int) else None
        if fill is None:
            raise NotCompiled("an array is filled with what is no number", node)
    if dtype is None:
        dtype = _of_value(lowering, fill, node) if of_its_kind else _default(lowering, node)
    if fill is None:
        return made(lowering, extents, dtype, node)
    x = lowering.stored_as(fill, dtype, node)
    return computed(lowering, extents, dtype, lambda index: x, node)


def _of_value(lowering, value, node):
    if value.kinds and len(value.kinds) > 1:
        raise NotCompiled("an array of a number whose type only the running code knows", node)
    if value.type == FLOAT:
        return _default(lowering, node)
    return value.type.dtype


def of_numbers(lowering, parts, dtype, node):
    """np.array() of a list of numbers, or of lists of them."""
    rows = parts if parts and all(isinstance(x, list) for x in parts) else [parts]
    flat = [x for row in rows for x in row]
    if not flat or not all(isinstance(x, Value) for x in flat) or len({len(row) for row in rows}) > 1:
        raise NotCompiled("an array of what are no numbers", node)
    if dtype is None:
        kinds = {_of_value(lowering, x, node) for x in flat}
        if len(kinds) > 1 and any(map(times.has, flat)):
            raise NotCompiled("an array of times of several units", node)
        pythons = {x.type.python for x in flat}
        dtype = next(iter(kinds)) if len(kinds) == 1 else numpy.result_type(*kinds).name
        if len(pythons) > 1 and len(kinds) > 1:
            raise NotCompiled("an array of Python's numbers and NumPy's", node)
    extents = [lowering.number(n) for n in ([len(rows), len(rows[0])] if rows is parts else [len(parts)])]
    ids = [lowering.stored_as(x, dtype, node) for x in flat]  # all of them before the memory is another array's
    view = made(lowering, extents, dtype, node)
    for n, x in enumerate(ids):
        at = lowering.number(n * numpy.dtype(dtype).itemsize)
        lowering.p.store(view.buffer, lowering.p.apply("add", view.offset, at), x)
    return view


def _arange(lowering, numbers, dtype, node):
    if not 1 <= len(numbers) <= 3 or any(n.type != INT or n.kinds for n in numbers) or dtype is not None and dtype_of(dtype, node)[0] not in "iuf":
        raise NotCompiled("arange() of what are no ints", node)
    start, stop, step = (lowering.literal(0), numbers[0], lowering.literal(1)) if len(numbers) == 1 else (*numbers, lowering.literal(1))[:3]
    n, name = lowering.trips(start, stop, step, node), "int64" if dtype is None else dtype_of(dtype, node)
    lowering.fail_if(lowering.p.apply("greater", n, lowering.number(MOST)), _too_large, node)
    number = lambda index: lowering.whole("add", start, lowering.whole("multiply", Value(INT, index[0]), step))  # noqa: E731
    return computed(lowering, [n], name, lambda index: lowering.cast(number(index), name), node)


def materialised(lowering, vector, node, dtype=None):
    """The elements of an expression, computed now."""
    dtype = dtype or lowering.type_of(vector, node).dtype
    return computed(lowering, vector.shape, dtype, lambda index: lowering.stored_as(vector.element(index), dtype, node), node)
