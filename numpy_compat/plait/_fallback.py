"""NumPy does what the engine does not cover yet: arguments go out as live exports, results come back adopted."""

import contextlib
import operator
import os
import sys
import time
from _thread import _local

import numpy

from . import _docs, _overrides, _plait
from ._array_protocol import calling
from ._conversion import copied, moved, returned, edited, from_numpy, to_numpy
from ._plait import call_numpy, lazy_scalar, ndarray

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
RECORDED = ndarray, lazy_scalar
_seen_sites = set()


def is_numpys(x):
    """True for NumPy's own arrays and its subclasses; isinstance() takes Plait's for them, too."""
    return issubclass(type(x), numpy.ndarray)


def given(**options):
    """The options that the caller gave."""
    return {k: v for k, v in options.items() if v is not numpy._NoValue}


def flag(keepdims):
    """keepdims as a bool; NumPy takes integers only. Raises TypeError for anything else."""
    return keepdims is True or (keepdims is not False and operator.index(keepdims) != 0)


_noted = _local()  # of a thread that plait.explain watches: number of the event -> what NumPy did


@contextlib.contextmanager
def fallback_notes():
    """Collects what is known of each fallback while plait.explain watches this thread, by the number of its event."""
    outer = getattr(_noted, "by_event", None)
    _noted.by_event, _noted.last = {}, None
    try:
        yield _noted.by_event
    finally:
        _noted.by_event, _noted.last = outer, None


def note(name):
    """Logs a fallback, once a call site, for PLAIT_LOG=fallback, and tells plait.explain of it; a trace takes the name for what NumPy does next."""
    _noted.last, _noted.name = _plait.watch_note(name), name
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    site = (name, frame.f_code.co_filename, frame.f_lineno) if frame is not None else (name, "", 0)
    if site not in _seen_sites and _plait.log_fallback(f"{site[1]}:{site[2]}: {name}"):
        _seen_sites.add(site)


def _by_numpy(function, args, kwargs={}):
    """function(*args, **kwargs), by NumPy; a trace has it under the name that was noted."""
    began = _plait.trace_now()
    if began is None:
        return calling(function, args, kwargs)
    name, _noted.name = getattr(_noted, "name", None), None
    try:
        return calling(function, args, kwargs)
    finally:
        _plait.trace_fallback(name or getattr(function, "__name__", type(function).__name__), began)


def _timed(function, args, kwargs, seen):
    """function(*args), by NumPy, with what plait.explain wants to know of it."""
    event, _noted.last = getattr(_noted, "last", None), None
    if event is None:
        return _by_numpy(function, args, kwargs)
    started = time.perf_counter()
    result = _by_numpy(function, args, kwargs)
    seconds = time.perf_counter() - started
    made = result if isinstance(result, (tuple, list)) else [result]
    _noted.by_event[event] = seconds, sum(host.nbytes for _, host, _ in seen.values()), sum(x.nbytes for x in made if isinstance(x, numpy.ndarray))
    return result


def exported(x, name):
    """The array's memory, for a method that is NumPy's work on it."""
    if _plait.log_fallbacks():
        note(name)
    return _plait.export(x)


def call(function, args, kwargs=None, name=None):
    """function(*args, **kwargs) by NumPy."""
    return _plait.call_numpy(function, tuple(args), kwargs, name)


def _call(function, args, kwargs):
    """The same for arguments of any kind."""
    seen = {}
    args = [to_numpy(a, seen) for a in args]
    kwargs = {k: to_numpy(v, seen) for k, v in kwargs.items()} if kwargs else {}
    result = _timed(function, args, kwargs, seen)
    if type(result) is numpy.ndarray and id(result) not in seen:
        for x in *args, *kwargs.values():
            if x is result or type(x) is tuple and any(v is result for v in x):
                return result  # the caller's own array, of NumPy's
    return returned(result, seen)


def wrapper(function, name, module="plait"):
    """A function of NumPy under its own name that takes and gives Plait arrays."""

    def fallback(*args, **kwargs):
        return call_numpy(function, args, kwargs, name)

    fallback.__name__ = fallback.__qualname__ = name.rpartition(".")[2]
    fallback._small = function, name, sys.maxsize, False
    return _docs.stand_for(fallback, function, module)


def _like(result, model):
    """A result in the subclass of plait.ndarray that the operand has."""
    if type(result) is not ndarray or not isinstance(model, ndarray) or type(model) is ndarray or is_numpys(model):
        return result
    return _plait.view_as(result, type(model), model)


# --- what the C++ slots ask for ---------------------------------------------------------------------------------------

_OPERATORS = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow, "matmul": operator.matmul,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "left_shift": operator.lshift, "right_shift": operator.rshift, "equal": operator.eq, "not_equal": operator.ne,
    "divmod": divmod, "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "negative": operator.neg, "positive": operator.pos, "absolute": operator.abs, "invert": operator.inv,
    "square": lambda a: a ** 2, "sqrt": numpy.sqrt, "reciprocal": numpy.reciprocal,
}  # fmt: skip
_INPLACE = {
    "add": operator.iadd, "subtract": operator.isub, "multiply": operator.imul, "divide": operator.itruediv,
    "floor_divide": operator.ifloordiv, "remainder": operator.imod, "power": operator.ipow,
    "matmul": operator.imatmul, "bitwise_and": operator.iand, "bitwise_or": operator.ior, "bitwise_xor": operator.ixor,
    "left_shift": operator.ilshift, "right_shift": operator.irshift,
}  # fmt: skip
_MISSING = object()
_KNOWN = (_plait.ndarray, numpy.ndarray, numpy.generic, lazy_scalar, int, float, complex, str, bytes, list, tuple, type(None))


def _is_ours(x):
    kind = type(x)
    return kind is lazy_scalar or issubclass(kind, ndarray)


def _defers(a, b):
    """NumPy's rule for operands of other types that want to handle the operation themselves."""
    other = b if _is_ours(a) else a
    if isinstance(other, _KNOWN):
        return False
    protocol = getattr(type(other), "__array_ufunc__", _MISSING)
    if protocol is not _MISSING:
        return protocol is None
    return _is_ours(a) and _priority(other) > 0.0


def _priority(x):
    """__array_priority__; what is none, and errors on the way, count as NumPy counts them, for that of a scalar."""
    try:
        return float(getattr(x, "__array_priority__", 0.0))
    except Exception:  # noqa: BLE001
        return -1000000.0


def binary(name, a, b, inplace):
    taken = _overrides.operator(name, (a, b), a if inplace else None)
    if taken is not NotImplemented:
        return taken
    if _defers(a, b):
        return NotImplemented
    if _plait.log_fallbacks():
        note(name)
    seen = {}
    x, y = to_numpy(a, seen), to_numpy(b, seen)
    if inplace:
        result = _by_numpy(_INPLACE[name], (x, y))
        ours = returned(result, seen)
        return a if result is x else ours
    return _like(returned(_by_numpy(_OPERATORS[name], (x, y)), seen), a)


def unary(name, a, inplace):
    taken = _overrides.operator(name, (a,), a if inplace else None)
    if taken is not NotImplemented:
        return taken
    return _like(call(_OPERATORS[name], (a,), None, name), a)


def _key_kind(key):
    """What a key has of advanced indexing, in words."""
    if isinstance(key, tuple):
        kinds = dict.fromkeys(k for k in map(_key_kind, key) if k != "basic")
        return ", ".join(kinds) or "basic"
    if key is None or key is Ellipsis or isinstance(key, (slice, int, numpy.integer)) and not isinstance(key, bool):
        return "basic"
    if isinstance(key, str) or (isinstance(key, list) and key and all(isinstance(k, str) for k in key)):
        return "field"
    try:
        made = key if isinstance(key, RECORDED) else calling(numpy.asarray, (key, numpy.intp if key == [] else None))
    except (TypeError, ValueError):
        return type(key).__name__
    kind = {"b": "boolean mask", "i": "integer array", "u": "integer array"}.get(made.dtype.kind, f"{made.dtype} array")
    return f"{kind} in a list" if isinstance(key, list) else kind


def getitem(a, key):
    if _plait.log_fallbacks():
        note(f"getitem: {_key_kind(key)}")
    if _plait.on_device(a):
        host = copied(a, _plait.export(a))
        return _like(moved(from_numpy(_by_numpy(operator.getitem, (host, to_numpy(key))), {id(host): (a, host, None)}), a.device), a)
    host = _plait.export(a)
    result = _by_numpy(operator.getitem, (host, to_numpy(key)))
    if type(result) is numpy.ndarray:
        ours = _plait.adopt_result(result)
        if result.base is not None and (result.base is host or result.base is host.base):
            _plait.set_base(ours, a)
        return _like(ours, a)
    return result


def setitem(a, key, value):
    if _plait.log_fallbacks():
        note(f"setitem: {_key_kind(key)}")
    with edited(a) as host:
        # An element of an object array is the object that is stored.
        _by_numpy(operator.setitem, (host, to_numpy(key), value if host.dtype == object else to_numpy(value)))


_CALLS = {"frexp", "modf"}  # ufuncs of two results: rows of the table of calls


def _product(name, a, b):
    """vecdot, matvec and vecmat as matrix products; NotImplemented."""
    if type(a) is not ndarray or type(b) is not ndarray or a.dtype.kind not in "iufc" or b.dtype.kind not in "iufc":
        return NotImplemented
    if name == "vecdot" and numpy.float16 in (a.dtype, b.dtype):  # summed before it is rounded
        return NotImplemented
    if a.ndim < 1 + (name == "matvec") or b.ndim < 1 + (name == "vecmat") or a.shape[-1] != b.shape[-2 if name == "vecmat" else -1]:
        return NotImplemented
    try:
        numpy.broadcast_shapes(a.shape[: -1 - (name == "matvec")], b.shape[: -1 - (name == "vecmat")])
    except ValueError:
        return NotImplemented  # NumPy names the axes
    if name == "matvec":
        return (a @ b[..., None])[..., 0]
    conjugate = a.conj() if a.dtype.kind == "c" else a
    return (conjugate * b).sum(-1, dtype=numpy.result_type(a.dtype, b.dtype)) if name == "vecdot" else (conjugate[..., None, :] @ b)[..., 0, :]


_PRODUCTS = {"vecdot", "matvec", "vecmat"}


def call_ufunc(u, args, kwargs):
    inputs, outs = args[: u.nin], args[u.nin :]
    outs += (None,) * (u.nout - len(outs)) if outs else ()
    if not (outs and "out" in kwargs):  # given twice, which NumPy words
        taken = _overrides.call(u, "__call__", inputs, {"out": outs, **kwargs} if outs else kwargs)
        if taken is not NotImplemented:
            return taken
    a = args[0] if len(args) == 1 and not kwargs and u.__name__ in _CALLS else None
    if type(a) is ndarray and a.dtype.kind == "f" and a.dtype.itemsize <= 8 and a.flags.c_contiguous:
        result = _plait.call(u.__name__, args)
        if result is not NotImplemented:
            return result
    if len(args) == 2 and (not kwargs or kwargs == {"axis": -1} and u.__name__ == "vecdot"):
        made = NotImplemented
        if u.__name__ in _PRODUCTS:
            made = _product(u.__name__, *args)
        elif u.__name__ == "divmod" and type(args[0]) is ndarray and args[0].dtype.kind in "iuf":
            made = divmod(*args)  # whose errors name it
        if made is not NotImplemented:
            return made
    return call(u._numpy, args, kwargs, u.__name__)


def text(a, as_str):
    host = _plait.export(a)
    if type(a) is not ndarray and not as_str:
        host = host.view(type(type(a).__name__, (numpy.ndarray,), {}))
    return str(host) if as_str else repr(host)


def dtype_error(name, args, kwargs):
    """Raises what NumPy raises for operands of these dtypes; returns when NumPy accepts them."""

    def stand_in(x):
        if isinstance(x, _plait.ndarray):
            return numpy.ones((1,) * x.ndim, x.dtype)
        if type(x) is lazy_scalar:
            return x.dtype.type(1)
        if isinstance(x, tuple):
            return tuple(map(stand_in, x))
        return x

    function = getattr(numpy, name, None)
    if function is None:
        return
    with numpy.errstate(all="ignore"):
        function(*map(stand_in, args), **{k: stand_in(v) for k, v in kwargs.items() if k != "where"})


_plait.set_package_dir(_PACKAGE)
_plait.set_hooks(
    {
        "binary": binary,
        "unary": unary,
        "getitem": getitem,
        "setitem": setitem,
        "ufunc": call_ufunc,
        "call": _call,
        "function": _overrides.function,
        "note": lambda function, name: note(name or getattr(function, "__name__", str(function))),
        "repr": text,
        "dtype_error": dtype_error,
    }
)
