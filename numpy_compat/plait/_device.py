"""Where arrays live: plait.device, and what creation functions do with device=."""

import collections
import os

from . import _plait

DeviceError = _plait.DeviceError
DeviceMismatchError = _plait.DeviceMismatchError


class device:
    """A device, "cpu", "cuda" or "cuda:N"; in a with statement, where the thread creates arrays.

    name: str or plait.device. In the with block creation functions, and NumPy arrays and lists given to operations, go to the
    device; operations run where their operands are. Raises ValueError for a name that is none, DeviceError when the device
    is not there or cannot be used (with what was looked for and where).
    """

    __slots__ = ("name", "_outer")

    def __init__(self, name):
        self.name = _plait.open_device(name)
        self._outer = []

    def __enter__(self):
        self._outer.append(_plait.set_device(self.name))
        return self

    def __exit__(self, *_):
        _plait.set_device(self._outer.pop())

    def synchronize(self):
        """Waits for everything that was asked of the device."""
        _plait.synchronize(self.name)

    def __eq__(self, other):
        return str(other) == self.name if isinstance(other, (str, device)) else NotImplemented

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"plait.device({self.name!r})"


class _Devices(tuple):
    """What devices() returns; its repr is a line for each."""

    __slots__ = ()

    def __repr__(self):
        return "\n".join(f"{d.name}: {d.model or '?'}" + (f", {d.memory / 2**30:.1f} GiB" if d.memory else "") + (f" (not usable: {d.why.splitlines()[0]})" if d.why else "") for d in self)


class _Found(collections.namedtuple("_Found", "name model memory why")):
    __slots__ = ()
    usable = property(lambda self: not self.why)


def devices():
    """The devices of this machine, the host first: a tuple of what is known of each. None is opened.

    Each has `name` (what plait.device takes), `model`, `memory` (bytes, 0 where that is not known), `usable`, and `why` it is not
    (empty where it is). Where the CUDA driver is missing, a line of the name "cuda" says so.
    """
    import platform  # which few need

    host = _Found("cpu", f"{platform.processor() or platform.machine()}, {_plait.num_threads()} threads", _host_memory(), "")
    return _Devices([host, *(_Found(*row) for row in _plait.list_devices())])


def _host_memory():
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def current_device():
    """The name of the device on which this thread creates arrays."""
    return _plait.current_device()


def on(name, function, *args, **kwargs):
    """function(*args) with `name` as the current device; what it returns lives there."""
    with device(name) as d:
        result = function(*args, **kwargs)
        return result.to_device(d) if isinstance(result, _plait.ndarray) and hasattr(result, "to_device") else result
