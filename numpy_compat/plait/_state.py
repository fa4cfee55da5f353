"""Seeing and setting what the engine does."""

from . import _plait


class _Config:
    """The configuration, as attributes; log, fuse, jit, disk_cache and eager_limit can be set."""

    def __getattr__(self, name):
        try:
            return _plait.get_config()[name]
        except KeyError:
            raise AttributeError(f"plait.config has no attribute {name!r}") from None

    def __setattr__(self, name, value):
        try:
            _plait.set_config(name, value)
        except KeyError:
            raise AttributeError(f"plait.config.{name} cannot be set") from None

    def __dir__(self):
        return sorted(_plait.get_config())

    def __repr__(self):
        return "\n".join(f"{k} = {v!r}" for k, v in _plait.get_config().items())


config = _Config()


def get_num_threads():
    """Threads that a region runs on."""
    return _plait.num_threads()


def set_num_threads(n):
    """Sets the number of threads; results have the same bits for any. Raises ValueError below one."""
    _plait.set_num_threads(n)


def stats():
    """Counters of the engine, the recorder and the memory pool, as a dict."""
    return _plait.stats()


def evaluate(*arrays):
    """Computes the arrays, all in one plan; returns them."""
    _plait.evaluate(*arrays)
    return arrays[0] if len(arrays) == 1 else arrays


def explain(what, *args, target=None, source=False):
    """The plan of a pending array, or of what a function would compute from args, as text.

    what: plait.ndarray, a lazy scalar, a tuple or list of them, or a callable. The first line starts with "1 region" or
    "N regions". Nothing is computed, except what a called function forces itself.
    target: "cpu", or an architecture such as "cuda:sm_90", for which each kernel is compiled by NVRTC (no device is needed) and
    described by its registers, shared memory and spills; None: where the arrays live. source: with the kernels' CUDA C++.
    Raises ValueError for an unknown target, DeviceError when NVRTC is missing.
    """
    target = target or ""
    if callable(what) and not isinstance(what, _plait.ndarray):
        from ._jit import explain

        return explain(what, args, target, source)
    if args:
        raise TypeError("explain() takes arguments after a function only; several arrays go in a tuple or a list")
    return _plait.explain(target, source, *_flatten(what))


def _flatten(x):
    if isinstance(x, (tuple, list)):
        return [leaf for v in x for leaf in _flatten(v)]
    if isinstance(x, dict):
        return [leaf for v in x.values() for leaf in _flatten(v)]
    return [x]
