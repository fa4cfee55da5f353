"""Libraries that keep tables of array types, and picklers: Plait's are entered when they are imported."""

import contextlib
import sys

import numpy

from . import _plait


def _jax():
    from jax._src import core, dtypes

    theirs = dtypes.canonicalize_value_handlers[numpy.ndarray]
    core.pytype_aval_mappings[_plait.ndarray] = core.pytype_aval_mappings[numpy.ndarray]
    dtypes.canonicalize_value_handlers[_plait.ndarray] = lambda x, *args, **kwargs: theirs(_plait.export(x), *args, **kwargs)


def _numba():
    from . import _numba

    _numba.enter()


def _picklers(module, name):
    def enter():
        import importlib

        from . import _pickles

        _pickles.has_reduce(getattr(importlib.import_module(module), name))

    return enter


def _dask(entry):
    def enter():
        from . import dask

        getattr(dask, entry)()

    return enter


_ENTRIES = {
    "jax": _jax,
    "numba": _numba,
    "multiprocessing.reduction": _picklers("multiprocessing.reduction", "ForkingPickler"),
    "cloudpickle.cloudpickle": _picklers("cloudpickle.cloudpickle", "Pickler"),
    "joblib.externals.cloudpickle.cloudpickle": _picklers("joblib.externals.cloudpickle.cloudpickle", "Pickler"),
    "dask.sizeof": _dask("enter_sizes"),
    "dask.tokenize": _dask("enter_tokens"),
    "dask.array": _dask("enter_arrays"),
    "distributed.protocol.serialize": _dask("enter_messages"),
}


# They ask an array for its namespace, and call what NumPy alone has of it, such as pad(), transpose() and any(out=).
_WANTING_NUMPYS = {"xarray"}


def wants_numpys_names(caller):
    """Whether the code of a frame counts on all of NumPy where it asks for the names of the array API standard."""
    return caller.f_globals.get("__name__", "").partition(".")[0] in _WANTING_NUMPYS


def _enter(name):
    # The tables are no interface: where they have gone, the library refuses Plait's arrays, and says so.
    with contextlib.suppress(ImportError, AttributeError, KeyError):
        _ENTRIES.pop(name)()


class _Watch:
    """Waits for the libraries to be imported."""

    looking = set()  # for how they are to be imported

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in _ENTRIES or name in _Watch.looking:
            return None
        _Watch.looking.add(name)
        from importlib.util import find_spec

        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                _enter(name)

            spec.loader.exec_module = exec_module
        return spec


def watch():
    for name in list(_ENTRIES):
        if name in sys.modules:
            _enter(name)
    if _ENTRIES:
        sys.meta_path.insert(0, _Watch)
