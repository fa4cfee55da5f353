"""The dtype of arrays that are made of Python's floats or of nothing: float64, unless somebody says otherwise."""

import functools
import inspect
from _thread import _local  # threading.local: most programs do without the rest of that module

import numpy

from . import _plait

_FLOATS = ("bfloat16", "float16", "float32", "float64")
_COMPLEX = {"bfloat16": "complex64", "float16": "complex64", "float32": "complex64", "float64": "complex128"}  # NumPy has no complex32
_PYTHONS = {bool, int, float, complex, str, bytes, range, type(None), type(...)}

# Whether anybody ever chose another dtype than float64: where nobody does, the question costs one look-up.
active = False
_process = numpy.dtype("float64")
_thread = _local()


def _chosen(dtype):
    if dtype == "bfloat16":  # a name that NumPy knows once ml_dtypes is imported
        import ml_dtypes  # noqa: F401
    dtype = numpy.dtype(dtype)
    if dtype.name not in _FLOATS:
        raise ValueError(f"the default dtype must be one of {', '.join(_FLOATS)}, not {dtype.name}")
    return dtype


def _tell():
    own = getattr(_thread, "dtype", None)
    if active:
        _plait.tell_default_dtype(_process != numpy.float64, None if own is None else own != numpy.float64)


def _set_process(dtype):
    global active, _process
    previous, _process = _process, dtype
    active = active or dtype != numpy.float64
    _tell()
    return previous


def get_default_dtype():
    """The dtype, as numpy.dtype, that this thread's creation functions give where NumPy's give float64."""
    return getattr(_thread, "dtype", None) or _process


def differs():
    """Whether this thread's default dtype is another than NumPy's."""
    return active and get_default_dtype() != numpy.float64


def set_default_dtype(dtype):
    """Sets what creation functions and random numbers give, in every thread, where NumPy gives float64.

    dtype: float16, float32 or float64, in any spelling of NumPy's, or bfloat16, which needs ml_dtypes. Python's floats in lists count, and complex numbers of
    their precision; an explicit dtype, and the dtype of a NumPy or Plait argument, win. Operations keep NumPy's rules.
    Returns an object for a with statement, at whose end the former default is back. Raises ValueError for other dtypes.
    PLAIT_DEFAULT_DTYPE sets it from outside.
    """
    return _Former(_set_process(_chosen(dtype)))


class _Former:
    """The default that was replaced."""

    __slots__ = ("_dtype",)

    def __init__(self, dtype):
        self._dtype = dtype

    def __enter__(self):
        return get_default_dtype()

    def __exit__(self, *_):
        _set_process(self._dtype)


class default_dtype:
    """In a with statement: set_default_dtype() for this thread alone, until the block ends. Same argument, same errors."""

    __slots__ = ("_dtype", "_outer")

    def __init__(self, dtype):
        self._dtype = _chosen(dtype)
        self._outer = []

    def __enter__(self):
        global active
        active = active or self._dtype != numpy.float64
        self._outer.append(getattr(_thread, "dtype", None))
        _thread.dtype = self._dtype
        _tell()
        return self._dtype

    def __exit__(self, *_):
        _thread.dtype = self._outer.pop()
        _tell()


def _has_dtype(x):
    """Whether something in x, at any depth, says itself what floating-point dtype it has."""
    if type(x) in _PYTHONS:
        return False
    if isinstance(x, (list, tuple)):
        return any(map(_has_dtype, x))
    if type(x) is slice:
        return any(map(_has_dtype, (x.start, x.stop, x.step)))
    dtype = getattr(x, "dtype", None)
    return dtype is None or getattr(dtype, "kind", "V") not in "biu"


def dtype_for(*values):
    """What NumPy's float64, or complex128, is to be where it is made of these values; None: what NumPy makes of them."""
    if any(map(_has_dtype, values)):
        return None
    wanted = get_default_dtype()
    return _COMPLEX[wanted.name] if any(map(numpy.iscomplexobj, values)) else wanted


def of_values(host, *values):
    """What NumPy made of these values, in the default dtype where they have none."""
    return host if any(map(_has_dtype, values)) else rounded(host)


def rounded(host):
    """A new numpy array, or a tuple or list of them, in the default dtype if it is of float64 or complex128."""
    if type(host) in (tuple, list):
        return type(host)(map(rounded, host))
    if type(host) is not numpy.ndarray or host.dtype.char not in "dD":
        return host
    wanted = get_default_dtype()
    return host.astype(wanted if host.dtype.char == "d" else _COMPLEX[wanted.name], copy=False)


# --- NumPy's functions that Plait does not record ---------------------------------------------------------------------

# Whether the arguments' own dtypes count: the others read text, or call a function on indices.
_CREATE = {
    "logspace": True, "geomspace": True, "fft.fftfreq": True, "fft.rfftfreq": True, "asarray_chkfinite": True,
    "hanning": True, "hamming": True, "blackman": True, "bartlett": True, "kaiser": True,
    "fromfunction": False, "loadtxt": False, "genfromtxt": False,
}  # fmt: skip


def creating(function, name):
    """A function of NumPy that makes arrays, with the default dtype; any other function is itself."""
    if name not in _CREATE:
        return function
    signature = inspect.signature(function)

    @functools.wraps(function)
    def create(*args, **kwargs):
        made = function(*args, **kwargs)
        if not active or signature.bind(*args, **kwargs).arguments.get("dtype") is not None:
            return made
        return of_values(made, *args) if _CREATE[name] else rounded(made)

    return create


_KEEP = {"choice", "permutation", "permuted", "shuffle"}  # elements of an argument, in its dtype
_DTYPE_AT = {"random": 1, "standard_normal": 1, "standard_exponential": 1, "standard_gamma": 2}  # of Generator
_BELOW_ONE = {"random", "random_sample", "ranf", "sample", "rand"}


def drawing(function, name, bound=0):
    """A function of numpy.random whose float64 results are rounded to the default dtype.

    The numbers are those of NumPy's stream. `bound`: how many arguments come before the function's own.
    """
    if name in _KEEP:
        return function

    @functools.wraps(function, updated=())
    def draw(*args, **kwargs):
        made = function(*args, **kwargs)
        given = kwargs.get("dtype") is not None or kwargs.get("out") is not None
        if not active or given or (bound and len(args) > bound + _DTYPE_AT.get(name, len(args))):
            return made
        made = rounded(made)
        if name in _BELOW_ONE and type(made) is numpy.ndarray:  # rounding must not reach the end of the interval
            numpy.minimum(made, numpy.nextafter(made.dtype.type(1), made.dtype.type(0)), out=made)
        return made

    return draw


_set_process(numpy.dtype(_plait.get_config()["default_dtype"]))
