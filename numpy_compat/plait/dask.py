"""Plait's arrays as the chunks of Dask's arrays.

Nothing here imports Dask before it is asked for. What Dask has to know of Plait's arrays is entered when its modules are imported, see
_libraries.py; this module is for programs that want more: from_array, fuse, and the array backend "plait".
"""

from collections.abc import Mapping

from . import _plait
from ._creation import asarray
from ._plait import lazy_scalar, ndarray

__all__ = ["from_array", "fuse"]


def from_array(x, chunks="auto", **options):
    """dask.array.from_array with chunks of Plait's, whatever x is: each is made by plait.asarray in a task of its own.

    x: what dask.array.from_array takes. chunks, options: as there. Returns dask.array.Array.
    """
    import dask.array as da

    # Dask cuts NumPy's arrays at once, and would send one of another class to every worker as a whole.
    made = da.from_array(x.to_numpy() if type(x) is ndarray else x, chunks, **options)
    return made.map_blocks(asarray, dtype=made.dtype, meta=asarray(made._meta))


def fuse(x, keys=None, **options):
    """The same work, optimised by Dask, where each task computes at its end what Plait has recorded in it, as one expression.

    Without it a task's result may stay pending, which keeps what it is computed from, until another task or the caller needs the value.
    x: a Dask collection, or a graph. keys: with a graph, those asked for: it is optimised as graphs of arrays are; None leaves the tasks
    as they are. So dask.config.set(array_optimize=plait.dask.fuse) does it for all arrays. Returns a collection, or a graph.
    Raises TypeError for anything else.
    """
    import dask

    if dask.is_dask_collection(x):
        if keys is not None or options:
            raise TypeError("fuse() takes keys and options with a graph, not with a collection")
        (x,) = dask.optimize(x)
        rebuild, rest = x.__dask_postpersist__()
        return rebuild(_computing(x.__dask_graph__()), *rest)
    if not isinstance(x, Mapping):
        raise TypeError(f"fuse() takes a Dask collection or a graph, not {type(x).__name__}")
    if keys is not None:
        from dask.array.optimization import optimize

        x = optimize(x, keys, **options)
    return _computing(x)


def _computing(graph):
    from dask._task_spec import Task, convert_legacy_graph

    # Subclasses are containers of other tasks' results, which are computed.
    return {
        key: Task(key, _computed, task.func, *task.args, **task.kwargs) if type(task) is Task and task.func is not _computed else task
        for key, task in convert_legacy_graph(dict(graph)).items()
    }


def _computed(function, /, *args, **kwargs):
    result = function(*args, **kwargs)
    _plait.evaluate(*_arrays(result))
    return result


def _arrays(x):
    if isinstance(x, (list, tuple)):
        return [a for v in x for a in _arrays(v)]
    if isinstance(x, dict):
        return _arrays(list(x.values()))
    return [x] if issubclass(type(x), (ndarray, lazy_scalar)) else []


# --- what Dask's modules are told when they are imported ------------------------------------------------------------------


def enter_sizes():
    from dask.sizeof import sizeof

    @sizeof.register(ndarray)
    def of_array(x):
        # As of NumPy's: a view counts, and an axis that repeats one element does not.
        return x[tuple(slice(1 if stride == 0 else None) for stride in x.strides)].nbytes if 0 in x.strides else x.nbytes


def enter_tokens():
    from dask.tokenize import normalize_token

    @normalize_token.register(ndarray)
    def of_array(x):
        return f"{type(x).__module__}.{type(x).__qualname__}", normalize_token(_plait.export(x)), getattr(x, "__dict__", None)


def enter_arrays():
    import dask.array as da
    from dask.array import backends, dispatch

    da.register_chunk_type(ndarray)
    dispatch.percentile_lookup.register(ndarray, backends.percentile)
    dispatch.numel_lookup.register(ndarray, backends._numel_arraylike)
    dispatch.to_numpy_dispatch.register(ndarray, lambda data, **options: data.to_numpy())
    backends.array_creation_dispatch.register_backend("plait", backend())


def enter_messages():
    from distributed.protocol.serialize import dask_deserialize, dask_serialize

    @dask_serialize.register(ndarray)
    def frames_of(x, context=None):
        if type(x) is not ndarray or x.dtype.hasobject or x.dtype.num >= 256 or _plait.host_of(x) is not None or _plait.on_device(x):
            raise NotImplementedError("pickle knows these arrays")
        from distributed.protocol.numpy import serialize_numpy_ndarray

        return serialize_numpy_ndarray(_plait.export(x), context)

    @dask_deserialize.register(ndarray)
    def array_of(header, frames):
        from distributed.protocol.numpy import deserialize_numpy_ndarray

        # A message's memory is nobody else's, so that operations on it may be recorded; pickle cannot know that of a buffer.
        return _plait.adopt(deserialize_numpy_ndarray(header, frames))


def backend():
    """Dask's array backend "plait": da.ones and others, da.random and to_backend() make Plait's arrays."""
    import dask
    import dask.array as da
    from dask.array.backends import ArrayBackendEntrypoint

    def creating(name, prototype):
        def create(*args, **kwargs):
            if kwargs.get(prototype) is None:
                kwargs[prototype] = _plait.empty((0,), None, "C")
            with dask.config.set({"array.backend": "numpy"}):
                return getattr(da, name)(*args, **kwargs)

        return staticmethod(create)

    class Backend(ArrayBackendEntrypoint):
        @classmethod
        def to_backend_dispatch(cls):
            return asarray

        @classmethod
        def to_backend(cls, data, **options):
            return data if type(data._meta) is ndarray else data.map_blocks(asarray, meta=asarray(data._meta), **options)

        @property
        def RandomState(self):
            from .random import RandomState

            return RandomState

        @property
        def default_bit_generator(self):
            from .random import PCG64

            return PCG64

        arange = creating("arange", "like")
        ones, zeros, empty, full = (creating(name, "meta") for name in ("ones", "zeros", "empty", "full"))

    return Backend()
