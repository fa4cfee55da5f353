"""Functions whose arguments or results are others than NumPy's."""

import numpy

import plait

from .. import _default_dtype, _plait
from .._device import DeviceError, current_device, device
from .._plait import ndarray
from ._standard import whole

_REDUCTIONS = "sum prod min max mean std var all any argmin argmax count_nonzero"


def _typed(options, **named):
    """The options with those of `named` that are not None."""
    return options | {name: value for name, value in named.items() if value is not None}


def sort(x, /, *, axis, descending, stable):
    made = plait.sort(x, axis=axis, stable=stable)
    return plait.flip(made, axis=axis) if descending else made


def argsort(x, /, *, axis, descending, stable):
    if not descending:
        return plait.argsort(x, axis=axis, stable=stable)
    # Of the array backwards, so that equal elements come out in their order when the places are turned round again.
    places = plait.argsort(plait.flip(x, axis=axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - plait.flip(places, axis=axis)


def unique_values(x, /):
    return plait.unique(x, equal_nan=False)


def diff(x, n, *, axis, prepend, append):  # the standard has n by name alone; who writes for NumPy and torch gives it by place
    return plait.diff(x, n, axis, **_typed({}, prepend=prepend, append=append))


def clip(x, min, max):
    if min is None and max is None:
        return plait.positive(x) if x.dtype != bool else x.copy()
    return plait.clip(x, min, max)


def nonzero(x, /):
    if plait.ndim(x) == 0:
        raise ValueError("nonzero() takes no 0-D array")
    return plait.nonzero(x)


def where(condition, x1, x2, /):  # the standard wants all three; who writes for NumPy and torch gives one for nonzero()
    given = [x for x in (x1, x2) if x is not None]
    return plait.where(condition, *given)


def astype(x, dtype, /, *, copy, device):
    made = plait.asarray(x).astype(dtype, copy=copy)
    return made if device is None else made.to_device(device)


def broadcast_shapes(*shapes):
    return numpy.broadcast_shapes(*shapes)


def can_cast(from_, to, /):
    return numpy.can_cast(from_.dtype if isinstance(from_, ndarray) else from_, to)


def _complex(array):
    return array if array.dtype.kind == "c" else array.astype(numpy.result_type(array.dtype, numpy.complex64))


def eig(x, /):
    made = plait.linalg.eig(x)
    return type(made)(*map(_complex, made))


def eigvals(x, /):
    return _complex(plait.linalg.eigvals(x))


def _vector_norm(x, /, *, axis, keepdims, ord):
    if axis is None and not keepdims:
        x, axis = plait.reshape(x, -1), 0
    if type(axis) is int:  # norm() is recorded
        return plait.linalg.norm(x, ord, axis, keepdims)
    return plait.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


def _frequencies(of):
    def frequencies(n, /, *, d, dtype, device):
        made = plait.asarray(of(n, d), dtype=dtype, device=device)
        return made if dtype or not _default_dtype.active else made.astype(_default_dtype.get_default_dtype())

    frequencies.__doc__ = of.__doc__
    return frequencies


class finfo_object:
    """What numpy.finfo says, in Python's numbers."""

    def __init__(self, info):
        self.dtype, self.bits = info.dtype, info.bits
        self.eps, self.max, self.min, self.smallest_normal = (float(getattr(info, n)) for n in ("eps", "max", "min", "smallest_normal"))

    def __repr__(self):
        return f"finfo({', '.join(f'{k}={v}' for k, v in vars(self).items())})"


def _info(of):
    return lambda type, /: of(type.dtype if isinstance(type, ndarray) else type)


def finfo(type, /):
    return finfo_object(_info(numpy.finfo)(type))


iinfo = _info(numpy.iinfo)
isdtype = numpy.isdtype  # about dtypes alone: nothing falls back


class namespace_info:
    """What __array_namespace_info__() gives: what the namespace can do, and its devices and dtypes."""

    def __init__(self):
        self._numpys = numpy.__array_namespace_info__()

    def capabilities(self):
        """A dict: boolean indexing and shapes that depend on data are there; the largest number of dimensions."""
        return self._numpys.capabilities()

    def default_device(self):
        """The name of the device on which this thread creates arrays."""
        return current_device()

    def devices(self):
        """A tuple of the names of the devices that can be used."""
        return ("cpu", *(name for name, _, _, why in _plait.list_devices() if not why))  # none is opened

    def default_dtypes(self, *, device=None):
        """A dict of the dtypes that arrays are of by default; plait.set_default_dtype() sets that of floats."""
        _checked(device)
        floats = _default_dtype.get_default_dtype()
        made = self._numpys.default_dtypes()
        return made | {"real floating": floats, "complex floating": numpy.result_type(floats, numpy.complex64)}

    def dtypes(self, *, device=None, kind=None):
        """A dict of the dtypes by name; kind: as isdtype() takes it. Raises ValueError for a kind that is none."""
        _checked(device)
        return self._numpys.dtypes(kind=kind)


def _checked(name):
    if name is not None:
        device(name)  # raises for one that is none


def __array_namespace_info__():
    return namespace_info()


FUNCTIONS = {n: f for n, f in globals().items() if getattr(f, "__module__", None) == __name__ and not n.startswith("_")}
FUNCTIONS |= {name: whole(getattr(plait, name)) for name in _REDUCTIONS.split()} | {
    "__array_namespace_info__": __array_namespace_info__,
    "isdtype": isdtype,
}
LINALG = {"eig": eig, "eigvals": eigvals, "vector_norm": whole(_vector_norm)}
FFT = {name: _frequencies(getattr(plait.fft, name)) for name in ("fftfreq", "rfftfreq")}
