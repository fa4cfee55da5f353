"""Memory in common with other GPU libraries: DLPack and __cuda_array_interface__ (version 3)."""

import numpy

from . import _plait

_DLPACK_CPU, _DLPACK_CUDA = 1, 2


def from_dlpack(x):
    """A Plait array over the CUDA memory that x exports; NotImplemented for memory of the host."""
    export = x.__dlpack__
    kind, number = x.__dlpack_device__()
    if kind != _DLPACK_CUDA:
        return NotImplemented
    name = _plait.open_device(f"cuda:{number}")
    stream = _plait.stream_number(name)
    try:
        capsule = export(stream=stream, max_version=(1, 0))
    except TypeError:  # a producer from before version 1
        capsule = export(stream=stream)
    return _plait.from_dlpack(capsule)


class OnHost:
    """What NumPy shall take from x: memory of a narrow dtype comes as that of unsigned integers, and its dtype is here."""

    def __init__(self, x):
        self.x, self.narrow = x, None

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, **how):
        capsule = self.x.__dlpack__(**how)
        self.narrow = _plait.narrow_dlpack(capsule, None)
        return capsule


def to_dlpack(x, stream, max_version, dl_device, copy):
    """The capsule of an array on a device; stream as the protocol has it (None: the legacy default one, -1: no order)."""
    _, number = device_of(x)
    if stream == 0:
        raise ValueError("__dlpack__: stream 0 is not allowed, as it may mean either default stream: 1 is the legacy one, 2 a thread's own")
    if dl_device is not None and tuple(dl_device) != (_DLPACK_CUDA, number):
        if tuple(dl_device) != (_DLPACK_CPU, 0) or copy is False:
            raise BufferError("unsupported device requested")
        return x.to_device("cpu").__dlpack__(max_version=max_version)
    if copy:
        x = x.copy()
    return _plait.to_dlpack(x, stream, max_version is not None and max_version[0] >= 1)


def device_of(x):
    """(kind, number) as DLPack counts devices."""
    name = x.device
    return (_DLPACK_CPU, 0) if name == "cpu" else (_DLPACK_CUDA, int(name.partition(":")[2]))


def interface(x):
    """x.__cuda_array_interface__; AttributeError on the host. Pins: nobody can see when its user is done."""
    if not _plait.on_device(x):
        raise AttributeError("arrays on the host have no __cuda_array_interface__")
    return {
        "shape": x.shape,
        "typestr": x.dtype.str,
        "data": (_plait.lend(x, -1) if x.size else 0, not x.flags.writeable),
        "version": 3,
        "strides": None if x.flags.c_contiguous else x.strides,
        "descr": [("", x.dtype.str)],
        "stream": _plait.stream(x),
    }


def from_interface(x):
    """A Plait array over the memory that x.__cuda_array_interface__ describes, without a copy; both sides see writes.

    Raises ValueError for memory that is not aligned for its dtype, DeviceError for memory that is on no device.
    """
    d = x.__cuda_array_interface__
    if d.get("mask") is not None:
        raise NotImplementedError("masked arrays of __cuda_array_interface__ are not taken over")
    address, read_only = d["data"]
    stream = d.get("stream")
    if stream == 0:
        raise ValueError("__cuda_array_interface__: stream 0 is not allowed")
    made = _plait.adopt_device(address, tuple(d["shape"]), d.get("strides"), numpy.dtype(d["typestr"]), stream, bool(read_only), x)
    if made is NotImplemented:
        raise TypeError(f"Plait has no dtype {d['typestr']} on devices")
    return made
