"""Methods of plait.ndarray: recorded where the engine can, else NumPy's over a live export."""

import builtins
import operator
import weakref

import numpy

from . import _elementwise, _joining, _overrides, _plait, _products, _reductions, _shape, _sorting
from ._conversion import from_numpy, placed
from ._fallback import exported, flag
from ._install import host_call, install
from ._mapped import without_map
from ._plait import ndarray

_NO = numpy._NoValue


# --- reductions -------------------------------------------------------------------------------------------------------


def _reduction(name, kind, with_dtype):
    def by_numpy(self, axis, dtype, out, keepdims, initial, where):
        if _overrides.asked(self, out):
            given = (dtype,) if with_dtype else ()
            return _overrides.method({"min": "amin", "max": "amax"}.get(name, name), self, axis, *given, out, keepdims, initial, where)
        options = {"initial": initial, "where": where, "keepdims": keepdims}
        options = {k: v for k, v in options.items() if v is not _NO}
        if dtype is not None:
            options["dtype"] = dtype
        return host_call(self, name, axis=axis, out=out, **options)

    def run(self, axis, dtype, out, keepdims, initial, where):
        if initial is not None:
            result = _plait.reduce(
                kind, self, axis, dtype, out, flag(keepdims), None if initial is _NO else initial, where
            )  # fmt: skip
            if result is not NotImplemented:
                return result
        return by_numpy(self, axis, dtype, out, keepdims, initial, where)

    if with_dtype:

        def method(self, axis=None, dtype=None, out=None, keepdims=False, initial=_NO, where=True):
            return run(self, axis, dtype, out, keepdims, initial, where)

    else:

        def method(self, axis=None, out=None, keepdims=False, initial=_NO, where=True):
            return run(self, axis, None, out, keepdims, initial, where)

    method.__name__ = name
    return install(method)


_KINDS = _plait.reduction_kinds()
for _name in ("sum", "prod"):
    _reduction(_name, _KINDS[_name], True)
for _name in ("min", "max"):
    _reduction(_name, _KINDS[_name], False)


def _logical(name):
    kind = _KINDS[name]

    def method(self, axis=None, out=None, keepdims=False, *, where=True, dtype=None):
        result = _plait.reduce(kind, self, axis, None, out, flag(keepdims), None, where) if dtype is None else NotImplemented
        if result is not NotImplemented:
            return result
        if _overrides.asked(self, out):
            return _overrides.method(name, self, axis, dtype, out, keepdims, where=where)
        options = {} if where is True else {"where": where}
        if dtype is not None:
            options["dtype"] = dtype
        return host_call(self, name, axis=axis, out=out, keepdims=keepdims, **options)

    method.__name__ = name
    return install(method)


def _arg(name):
    kind = _KINDS[name]

    def method(self, axis=None, out=None, *, keepdims=False):
        result = _plait.reduce(kind, self, axis, None, out, keepdims, None, None)
        if result is not NotImplemented:
            return result
        return host_call(self, name, axis, out, keepdims=keepdims)

    method.__name__ = name
    return install(method)


_logical("any"), _logical("all"), _arg("argmin"), _arg("argmax")


@install
def mean(self, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    return _reductions.mean_of(self, axis, dtype, out, keepdims, where)


@install
def var(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=_NO):
    return _reductions.spread_of("var", self, axis, dtype, out, ddof, keepdims, where, mean)


@install
def std(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=_NO):
    return _reductions.spread_of("std", self, axis, dtype, out, ddof, keepdims, where, mean)


@install
def trace(self, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return _shape.trace(self, offset, axis1, axis2, dtype, out)


# --- shape ------------------------------------------------------------------------------------------------------------


@install
def reshape(self, *shape, order="C", copy=None):
    if len(shape) == 1:
        shape = shape[0]
    elif not shape:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    if copy is None and order in ("C", "F") and shape is not None:
        result = _plait.reshape(self, shape, order)
        if result is not NotImplemented:
            return result
    return host_call(self, "reshape", shape, order=order, copy=copy)


@install
def ravel(self, order="C"):
    if order in ("C", "F"):
        result = _plait.reshape(self, (-1,) if self.size else (0,), order)
        if result is not NotImplemented:
            # A view only where the elements are contiguous.
            return result if result.size < 2 or result.strides[0] == result.itemsize else result.copy()
    return host_call(self, "ravel", order)


@install
def flatten(self, order="C"):
    if order in ("C", "F"):
        result = _plait.copy(self, order)
        if result is not NotImplemented:
            return _plait.reshape(result, (self.size,), order)
    return host_call(self, "flatten", order)


@install
def transpose(self, *axes):
    if len(axes) == 1:
        axes = axes[0]
    elif not axes:
        axes = None
    result = _plait.transpose(self, axes)
    return host_call(self, "transpose", axes) if result is NotImplemented else result


@install
def swapaxes(self, axis1, axis2, /):
    return _shape.swapaxes(self, axis1, axis2)


@install
def squeeze(self, axis=None):
    return _shape._squeeze(self, axis)


@install
def diagonal(self, offset=0, axis1=0, axis2=1):
    return _shape.diagonal(self, offset, axis1, axis2)


@install
def repeat(self, repeats, axis=None):
    return _joining.repeat(self, repeats, axis)


@install
def resize(self, *new_shape, refcheck=True):
    refcheck = operator.index(refcheck)
    if new_shape in ((), (None,)):
        return
    if refcheck and weakref.getweakrefcount(self):
        raise ValueError(
            "cannot resize an array that references or is referenced\nby another array in this way.\n"
            "Use the np.resize function or refcheck=False"
        )
    shape = new_shape[0] if len(new_shape) == 1 else new_shape
    if not self.flags.forc:
        raise ValueError("resize only works on single-segment arrays")
    host = numpy.array(exported(self, "ndarray.resize"))
    host.resize(shape, refcheck=False)
    if min(host.shape, default=0) < 0:  # NumPy looks no further than the first 0
        raise ValueError("negative dimensions not allowed")
    if host.size == self.size and self.flags.c_contiguous:
        self.shape = host.shape
        return
    # Fewer or more elements are new memory; NumPy too refuses to do this to an array that others refer to.
    if self.base is not None:
        raise ValueError("cannot resize this array: it does not own its data")
    _plait.replace(self, _plait.adopt(host))


# --- values -----------------------------------------------------------------------------------------------------------


@install
def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    if isinstance(copy, numpy._CopyMode):
        raise ValueError("_CopyMode enum is not allowed for astype function. Use true/false instead.")
    result = _plait.astype(self, dtype, order, casting, copy)
    if result is NotImplemented:
        return host_call(self, "astype", dtype, order, casting, subok, copy)
    return result


@install
def copy(self, order="C"):
    result = _plait.copy(self, order)
    return host_call(self, "copy", order) if result is NotImplemented else result


@install
def fill(self, value):
    # Arrays and lists are not broadcast: one element, cast as an array is, or NumPy's error.
    if isinstance(value, ndarray | list | tuple) and not (type(value) is ndarray and value.ndim == 0 and value.dtype == self.dtype):
        host_call(self, "fill", value)
    else:
        self[...] = value


@install
def item(self, *args):
    host = _plait.host_of(self)
    if host is not None:
        return host.item(*args)
    if not args:
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return _plait.item(self, *(0,) * self.ndim)
    index = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    flat = len(index) == 1
    if not flat and len(index) != self.ndim:
        raise ValueError("incorrect number of indices for array")
    if any(isinstance(i, bool) for i in index):
        raise TypeError("an integer is required")
    index = tuple(operator.index(i) for i in index)
    if not all(-(2**63) <= i < 2**63 for i in index):
        raise OverflowError("Python int too large to convert to C long")
    if flat:
        at, size = index[0], self.size
        if not -size <= at < size:
            where = f"axis 0 with size {size}" if self.ndim == 1 else f"size {size}"
            raise IndexError(f"index {at} is out of bounds for {where}")
        index = numpy.unravel_index(at % size, self.shape) if self.ndim else ()
    return self[index].item()


@install
def tolist(self):
    return _plait.export(self).tolist()


@install
def to_numpy(self, dtype=None, copy=False):
    """The array as a numpy.ndarray, for code that asks for that type: over the same memory, unless a copy is asked for or needed.

    dtype: what to convert to. copy: True for memory of its own. Read-only for arrays on a device.
    """
    host = _plait.export(self)
    if not copy:
        return host if dtype is None else numpy.asarray(host, dtype)
    return numpy.array(host, dtype)


@install
def tobytes(self, order="C"):
    return _plait.export(self).tobytes(order)


@install
def tofile(self, fid, sep="", format="%s"):
    _plait.export(self).tofile(fid, sep, format)


@install
def clip(self, min=None, max=None, out=None, **kwargs):
    return _elementwise.clip(self, min, max, out, **kwargs)


@install
def round(self, decimals=0, out=None):
    return _elementwise.round(self, decimals, out)


def _conjugate(name):
    def method(self, out=None, /):
        if self.dtype.kind == "c":
            import plait

            return plait.conjugate(self, out=out)
        return self if out is None and self.dtype.kind in "biuf" else host_call(self, name, *(() if out is None else (out,)))

    method.__name__ = name
    return install(method)


_conjugate("conj"), _conjugate("conjugate")


@install
def dot(self, b, out=None):
    return _products.dot(self, b, out)


@install
def view(self, dtype=_NO, type=_NO):
    if type is _NO and isinstance(dtype, builtins.type) and issubclass(dtype, ndarray):
        dtype, type = _NO, dtype
    if type is not _NO and dtype is not _NO:
        return view(view(self, dtype), type=type)
    if type is numpy.ndarray:
        type = ndarray  # x.view(x.__class__)
    if type is not _NO:
        if not (isinstance(type, builtins.type) and issubclass(type, ndarray)):
            raise ValueError("Type must be a sub-type of ndarray type")
        if issubclass(type, numpy.ndarray):
            return _plait.export(self).view(type)
        return without_map(_plait.view_as(self, type, self))
    if dtype is _NO or dtype == self.dtype:
        return self[...]
    result = _plait.view(self, dtype)
    if result is not NotImplemented:
        return result
    # A dtype of NumPy's alone, or elements that are not aligned: both arrays stay exports of the memory.
    return _plait.set_base(from_numpy(exported(self, "ndarray.view").view(dtype)), self)


@install
def setflags(self, write=None, align=None, uic=None):
    for name, value in ("aligned", align), ("writebackifcopy", uic), ("writeable", write):
        if value is not None:
            setattr(self.flags, name, value)


@install
def sort(self, axis=-1, kind=None, order=None, *, stable=None, **newer):
    if not newer and _sorting.sort_in_place(self, axis, kind, order, stable):
        return
    if _plait.on_device(self):
        return host_call(self, "sort", axis, kind, order, stable=stable, **newer)
    exported(self, "ndarray.sort").sort(axis, kind, order, stable=stable, **newer)


@install
def argsort(self, axis=-1, kind=None, order=None, *, stable=None, **newer):
    result = NotImplemented if newer else _sorting.order_of(self, axis, kind, order, stable)
    return host_call(self, "argsort", axis, kind, order, stable=stable, **newer) if result is NotImplemented else result


@install
def searchsorted(self, v, side="left", sorter=None):
    result = _sorting.places_of(self, v, side, sorter)
    return host_call(self, "searchsorted", v, side, sorter) if result is NotImplemented else result


@install
def to_device(self, device, /, *, stream=None):
    """A copy of the array on "cpu", "cuda" or "cuda:N", the array itself when it is there. Raises ValueError for a stream."""
    if stream is not None:
        raise ValueError("The stream argument in to_device() is not supported")
    return self if device == "cpu" == self.device else _plait.to_device(self, device)


def _accumulation(name, ufunc):
    def method(self, axis=None, dtype=None, out=None):
        if not _overrides.asked(self, out):
            result = _plait.accumulate(ufunc, self, axis, dtype, out)
            return host_call(self, name, axis, dtype, out) if result is NotImplemented else result
        import plait

        flat = self.ravel() if axis is None and self.ndim != 1 else self
        options = {} if dtype is None else {"dtype": dtype}
        return getattr(plait, ufunc).accumulate(flat, axis or 0, out=out, **options)

    method.__name__ = name
    return install(method)


_accumulation("cumsum", "add"), _accumulation("cumprod", "multiply")


for _name in (
    "argpartition", "byteswap", "choose", "dump", "dumps", "getfield", "put", "setfield", "tostring",
):  # fmt: skip
    if hasattr(numpy.ndarray, _name):

        def _fallback(self, *args, _name=_name, **kwargs):
            return host_call(self, _name, *args, **kwargs)

        _fallback.__name__ = _name
        install(_fallback)


def _indexing_method(name, native):
    """name() by native(self, ...) for plain calls."""

    def method(self, *args, **kwargs):
        result = native(self, *args, **kwargs) if type(self) is ndarray else NotImplemented
        return host_call(self, name, *args, **kwargs) if result is NotImplemented else result

    method.__name__ = name
    return install(method)


def _plain_only(native):
    """NotImplemented for calls with other arguments than indices and an axis."""
    return lambda self, given=None, axis=None, **others: NotImplemented if others or given is None else native(self, given, axis)


_indexing_method("partition", lambda self, *args, **kwargs: _sorting.partition_in_place(self, *args, **kwargs))
_indexing_method("nonzero", lambda self, *others: NotImplemented if others else _plait.nonzero(self))
_indexing_method("take", _plain_only(_plait.take))
_indexing_method("compress", _plain_only(lambda self, condition, axis: _plait.compress(condition, self, axis)))


# --- pickles and copies --------------------------------------------------------------------------------------------------------


def _rebuild(kind, host, state):
    memory = host.base
    while type(memory) is numpy.ndarray and memory.base is not None or type(memory) is memoryview:
        memory = memory.obj if type(memory) is memoryview else memory.base
    # What lies in the pickle is the array's own; a buffer that was handed over beside it is shared, as NumPy shares it.
    a = placed((_plait.adopt if memory is None or isinstance(memory, (bytes, bytearray)) else _plait.share)(host))
    if kind is not ndarray:
        a = _plait.view_as(a, kind, a)
    if state:
        a.__dict__.update(state)
    return a


def _rebuild_standard(host):
    return _plait.standard(_rebuild(ndarray, host, None), ())


def _is_standard(x):
    """Whether it is an array of plait.array_api, of which standard() makes no other."""
    return _plait.host_of(x) is None and _plait.standard(x, (x,)) is x


@install
def __reduce__(self):
    return self.__reduce_ex__(0)


@install
def __reduce_ex__(self, protocol):
    """As NumPy's array, which is read without Plait; what only Plait has is rebuilt by it."""
    host = _plait.export(self)
    if type(self) is ndarray and not _plait.on_device(self):
        return (_rebuild_standard, (host,)) if _is_standard(self) else host.__reduce_ex__(protocol)
    return _rebuild, (type(self), host, getattr(self, "__dict__", None))


@install
def __copy__(self):
    return self.copy("K")


@install
def __deepcopy__(self, memo):
    host = _plait.host_of(self)
    if host is not None:
        import copy

        return from_numpy(copy.deepcopy(host, memo))
    return self.copy("K")


@install
def __format__(self, spec):
    if self.ndim == 0:
        return format(_plait.export(self)[()], spec)
    if spec:
        raise TypeError("unsupported format string passed to numpy.ndarray.__format__")
    return str(self)
