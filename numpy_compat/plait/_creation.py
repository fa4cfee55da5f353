"""Functions that make arrays, with NumPy's signatures."""

import numpy

from . import _default_dtype, _exchange, _plait
from ._array_protocol import calling
from ._conversion import from_numpy, placed
from ._device import on
from ._fallback import call, is_numpys, note
from ._plait import lazy_scalar, ndarray


def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None, ndmax=None):
    """A NumPy array is copied once, as nobody can see later writes to it; plait.borrow() shares it."""
    if copy is not None and type(copy) is not bool:
        copy = _copy_mode(copy)
    if order is None:
        order = "K"
    if type(object) is list and dtype is None and order == "K" and ndmin == 0 and ndmax is None and copy in (True, None):
        result = NotImplemented if _default_dtype.active else _plait.array_of(object)
        if result is not NotImplemented:
            return result
    if type(object) is ndarray or (subok and isinstance(object, ndarray) and not is_numpys(object)):
        if _plait.host_of(object) is None and ndmin <= object.ndim:
            if order == "A" and (copy is not True or (dtype is not None and numpy.dtype(dtype) != object.dtype)):
                order = "K"  # only a plain copy comes in C or Fortran order
            result = _plait.astype(object, dtype or object.dtype, order, "unsafe", copy is True)
            if result is not NotImplemented and (copy is not False or result is object):
                return result
    elif type(object) is numpy.ndarray and copy is True and dtype is None and order == "K" and ndmin <= object.ndim:
        return _logged(_plait.copy_in(object))
    if is_numpys(object) and copy is not True:
        same = type(object) is numpy.ndarray and dtype in (None, object.dtype) and order in "KA" and ndmin <= object.ndim
        if same and (_plait.in_jit() or _plait.is_lent(object)):
            return placed(_plait.share(object))  # one array, for code that goes on with NumPy's, and where the memory is Plait's
        copy = True if copy is None else copy
    options = {} if ndmax is None else {"ndmax": ndmax}
    # Before __array__, which CuPy's arrays have to refuse, and others to copy their memory to the host.
    if not isinstance(object, (ndarray, lazy_scalar, numpy.generic, type)) and hasattr(object, "__cuda_array_interface__"):
        made = _exchange.from_interface(object)
        return array(made, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)
    options |= {"copy": copy, "order": order, "subok": subok, "ndmin": ndmin}
    values = _listed(object, dtype)
    host = calling(numpy.array, (values, dtype), options)
    if host is values and type(object) is ndarray:
        return object
    if type(values) is list:
        _plait.check_unchanged(object, values)
    if _default_dtype.active and dtype is None:
        host = _default_dtype.of_values(host, object)
    made = from_numpy(host)
    if type(object) is ndarray and host.base is values:  # another dtype of the same kind and size
        made = _plait.set_base(made, object)
    if isinstance(object, ndarray) and type(object) is not numpy.ndarray and _plait.host_of(made) is None:
        return made.to_device(object.device)
    return placed(_logged(made))


def _copy_mode(copy):
    """True, False or None for another value that NumPy takes for `copy`; others stay, for NumPy to refuse."""
    if isinstance(copy, numpy._CopyMode):
        return {1: True, 0: False}.get(copy.value)
    return copy if isinstance(copy, str) else bool(copy)


def _logged(made):
    """A new array; one of a dtype that only NumPy has counts as a fallback."""
    if _plait.log_fallbacks() and _plait.host_of(made) is not None:
        note("array")
    return made


def _listed(x, dtype):
    """What NumPy makes an array of this dtype of: arrays, in lists, too, as its own, which it reads fastest."""
    if type(x) is list or type(x) is tuple:
        return _plait.listed(x, dtype)
    return _plait.export(x) if type(x) is lazy_scalar or isinstance(x, ndarray) else x


def asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if device is not None:
        return on(device, asarray, a, dtype, order, copy=copy)
    if type(a) is ndarray and copy is not True:
        if (dtype is None or a.dtype is numpy.dtype(dtype)) and order in (None, "K", "A"):
            return a
    if is_numpys(a):
        a = numpy.asarray(a)
    elif isinstance(a, ndarray) and type(a) is not ndarray:
        a = _plait.view_as(a, ndarray, a)
    return array(a, dtype, copy=copy, order=order or "K")


def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if device is not None:
        return on(device, asanyarray, a, dtype, order, copy=copy)
    if isinstance(a, ndarray) and type(a) is not numpy.ndarray and copy is not True:
        if (dtype is None or a.dtype is numpy.dtype(dtype)) and order in (None, "K", "A"):
            return a
    return array(a, dtype, copy=copy, order=order or "K", subok=True)


def ascontiguousarray(a, dtype=None, *, like=None):
    return array(a, dtype, copy=None, order="C", ndmin=1)


def asfortranarray(a, dtype=None, *, like=None):
    return array(a, dtype, copy=None, order="F", ndmin=1)


def borrow(a):
    """A Plait array over the memory of a numpy array, without a copy; both sides see writes.

    a: numpy.ndarray of a native dtype. Returns plait.ndarray. Raises TypeError for anything else.
    """
    if not is_numpys(a):
        raise TypeError(f"borrow() takes a numpy.ndarray, not {type(a).__name__}")
    made = _plait.share(numpy.asarray(a))
    return made if a.flags.writeable else _plait.set_base(made, a)  # which keeps it read-only


def copy(a, order="K", subok=False):
    return array(a, order=order, subok=subok, copy=True)


def copyto(dst, src, casting="same_kind", where=True):
    if type(dst) is ndarray and dst.dtype.kind in "biufc" and isinstance(src, (int, float, complex, numpy.generic)):
        value = numpy.empty((), dst.dtype)  # NumPy's cast, with its errors
        numpy.copyto(value, src, casting)
        if _plait.assign(dst, value[()], None if where is True else where) is not NotImplemented:
            return
    drops_imaginary = type(src) is ndarray and src.dtype.kind == "c" and dst.dtype.kind not in "cb"  # of which NumPy warns
    if type(dst) is ndarray and type(src) is ndarray and not drops_imaginary and numpy.can_cast(src.dtype, dst.dtype, casting):
        if _plait.assign(dst, src, None if where is True else where) is not NotImplemented:
            return
    call(numpy.copyto, (dst, src, casting, where))


def empty(shape, dtype=None, order="C", *, device=None, like=None):
    if device is not None:
        return on(device, empty, shape, dtype, order)
    if _default_dtype.active and dtype is None:
        dtype = _default_dtype.get_default_dtype()
    result = _plait.empty(shape, dtype, order)
    return call(numpy.empty, (shape, dtype, order)) if result is NotImplemented else result


def zeros(shape, dtype=None, order="C", *, device=None, like=None):
    if device is not None:
        return on(device, zeros, shape, dtype, order)
    if _default_dtype.active and dtype is None:
        dtype = _default_dtype.get_default_dtype()
    result = _plait.full(shape, 0.0 if dtype is None else 0, dtype, order)
    return call(numpy.zeros, (shape, dtype or float, order)) if result is NotImplemented else result


def ones(shape, dtype=None, order="C", *, device=None, like=None):
    if device is not None:
        return on(device, ones, shape, dtype, order)
    if _default_dtype.active and dtype is None:
        dtype = _default_dtype.get_default_dtype()
    result = _plait.full(shape, 1.0 if dtype is None else 1, dtype, order)
    return call(numpy.ones, (shape, dtype, order)) if result is NotImplemented else result


def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    if device is not None:
        return on(device, full, shape, fill_value, dtype, order)
    if _default_dtype.active and dtype is None and not isinstance(fill_value, ndarray):
        dtype = asarray(fill_value).dtype
    result = _plait.full(shape, fill_value, dtype, order)
    if result is not NotImplemented:
        return result
    if type(fill_value) is ndarray and _plait.host_of(fill_value) is None:
        result = _plait.empty(shape, dtype or fill_value.dtype, order)
        if result is not NotImplemented:
            result[...] = fill_value
            return result
    return call(numpy.full, (shape, fill_value, dtype, order))


def _like(name, a, dtype, order, subok, shape, device):
    if device is not None:
        return on(device, _like, name, a, dtype, order, subok, shape, None)
    if _default_dtype.active and dtype is None and not isinstance(a, ndarray):
        a = asarray(a)
    if subok or type(a) is ndarray or type(a) is numpy.ndarray:
        result = _plait.like(name, a, dtype, order, shape)
        if result is not NotImplemented:
            return result
    return call(getattr(numpy, name), (a, dtype, order, subok, shape))


def empty_like(prototype, /, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return _like("empty_like", prototype, dtype, order, subok, shape, device)


def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return _like("zeros_like", a, dtype, order, subok, shape, device)


def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return _like("ones_like", a, dtype, order, subok, shape, device)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    result = empty_like(a, dtype=dtype, order=order, subok=subok, shape=shape, device=device)
    copyto(result, fill_value, "unsafe")
    return result


_NO = object()


def arange(start_or_stop=_NO, /, stop=_NO, step=1, dtype=None, *, start=_NO, device=None, like=None):
    if device is not None:
        return on(device, arange, start_or_stop, stop, step, dtype, start=start)
    first, last = start_or_stop, stop
    if start is not _NO:
        if first is not _NO:
            raise TypeError("argument for arange() given by name ('start') and position (position 0)")
        first = start
    if last is _NO and (first is _NO or start is not _NO):
        raise TypeError("arange() requires stop to be specified.")
    if last is _NO or (last is None and first is not _NO):
        first, last = 0, first
    elif first is _NO:
        first = 0
    if first is None or last is None:
        last - first  # raises what NumPy raises
    if step is None:
        step = 1
    if _default_dtype.active and dtype is None and float in (type(first), type(last), type(step)):
        dtype = _default_dtype.dtype_for(first, last, step)
    result = _plait.arange(first, last, step, dtype)
    return call(numpy.arange, (first, last, step, dtype)) if result is NotImplemented else result


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    if device is not None:
        return on(device, linspace, start, stop, num, endpoint, retstep, dtype, axis)
    if dtype is None and _default_dtype.differs():
        dtype = _default_dtype.dtype_for(start, stop)
    result = _plait.linspace(start, stop, num, endpoint, dtype) if axis == 0 else NotImplemented
    if result is NotImplemented:
        return call(numpy.linspace, (start, stop, num, endpoint, retstep, dtype, axis))
    return result if retstep else result[0]


def eye(N, M=None, k=0, dtype=None, order="C", *, device=None, like=None):
    if device is not None:
        return on(device, eye, N, M, k, dtype, order)
    if dtype is None:
        dtype = _default_dtype.get_default_dtype() if _default_dtype.active else float
    result = _plait.eye(N, N if M is None else M, k, dtype, order)
    return call(numpy.eye, (N, M, k, dtype, order)) if result is NotImplemented else result


def identity(n, dtype=None, *, like=None):
    return eye(n, dtype=dtype)


def tri(N, M=None, k=0, dtype=None, *, like=None):
    if dtype is None:
        dtype = _default_dtype.get_default_dtype()
    result = _plait.tri(N, N if M is None else M, k, dtype)
    return call(numpy.tri, (N, M, k, dtype)) if result is NotImplemented else result


def from_dlpack(x, /, *, device=None, copy=None):
    """A Plait array over the memory that x exports, on the host or a device; both sides see writes.

    device: where the array shall be ("cpu", "cuda:N"; None: where x is). copy: True copies, False raises BufferError where
    a copy would be needed. Raises BufferError for memory of other kinds of devices.
    """
    made = _exchange.from_dlpack(x)
    if type(x) is ndarray and made is NotImplemented and _plait.host_of(x) is None:
        made = x.view()
    elif made is NotImplemented:
        lent = _exchange.OnHost(x)
        host = numpy.from_dlpack(lent, copy=copy)
        made = _plait.share(host if lent.narrow is None else host.view(lent.narrow))
    if device is not None and str(_plait.open_device(device)) != made.device:
        if copy is False:
            raise BufferError(f"x is on {made.device!r}: an array on {device!r} needs a copy")
        return made.to_device(device)
    return _plait.copy(made, "K") if copy else made
