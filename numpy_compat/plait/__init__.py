"""Plait: NumPy programs as fused, compiled loops. `import plait as np`.

Operations on plait.ndarray are recorded and run together when a value is needed; every public name of NumPy is here, and
what the engine does not cover falls back to NumPy (PLAIT_LOG=fallback lists it).
"""

import importlib as _importlib
import os as _os
import sys as _sys

import numpy as _numpy

from . import _caught, _dispatch, _docs, _numpy_python, _fallback, _libraries, _methods, _namespace, _plait, _protocols, _ufunc
from ._about import (
    can_cast, iscomplexobj, isfortran, isrealobj, isscalar, issubdtype, iterable, min_scalar_type, promote_types, result_type,
)  # fmt: skip
from ._creation import (
    arange, array, asanyarray, asarray, ascontiguousarray, asfortranarray, borrow, copy, copyto, empty, empty_like, eye,
    from_dlpack, full, full_like, identity, linspace, ones, ones_like, tri, zeros, zeros_like,
)  # fmt: skip
from ._default_dtype import default_dtype, get_default_dtype, set_default_dtype
from ._device import DeviceError, DeviceMismatchError, current_device, device, devices
from ._elementwise import around, array_equal, astype, clip, imag, real, round, where
from ._indexing import (
    argwhere, bincount, choose, compress, extract, flatnonzero, histogram, nonzero, place, put, put_along_axis, putmask,
    ravel_multi_index, take, take_along_axis, unravel_index,
)  # fmt: skip
from ._joining import (
    array_split, bmat, column_stack, concat, concatenate, diff, dsplit, dstack, hsplit, hstack, meshgrid, pad, repeat, roll,
    split, stack, tile, tril, triu, vsplit, vstack,
)  # fmt: skip
from ._mapped import blocks, memmap
from ._plait import ndarray, ufunc
from ._products import cross, dot, einsum, inner, outer, tensordot, vdot
from ._reductions import (
    all, amax, amin, any, argmax, argmin, count_nonzero, max, mean, min, prod, ptp, std, sum, var,
)  # fmt: skip
from ._scans import (
    cumprod, cumsum, cumulative_prod, cumulative_sum, ediff1d, gradient, nancumprod, nancumsum, trapezoid, unwrap,
)  # fmt: skip
from ._shape import (
    atleast_1d, atleast_2d, atleast_3d, broadcast, broadcast_arrays, broadcast_to, diagonal, expand_dims, flip, fliplr, flipud,
    matrix_transpose, may_share_memory, moveaxis, ndim, permute_dims, ravel, reshape, shape, shares_memory, size, squeeze,
    swapaxes, trace, transpose,
)  # fmt: skip
from ._sorting import (
    argsort, intersect1d, isin, lexsort, median, nanmedian, nanpercentile, nanquantile, partition, percentile, quantile, searchsorted,
    setdiff1d, setxor1d, sort, sort_complex, union1d, unique,
)  # fmt: skip
from ._state import config, evaluate, explain, get_num_threads, set_num_threads, show_config, stats, trim

globals().update(_numpy_python.FUNCTIONS)
_dispatch.install(globals(), _numpy)
_docs.describe_package(_sys.modules[__name__])
_libraries.watch()
if _os.environ.get("PLAIT_TRACE"):
    from . import _trace

    _trace.finish_at_exit()
from . import linalg  # noqa: E402, F401, I001  its functions look up names of this module
from ._program import Error, load  # noqa: E402, F401  NumPy has a load(), too, which found_at_once() would take

globals().update(_namespace.found_at_once(globals()))

__version__ = _numpy.__version__
__plait_version__ = _plait.__version__


def __getattr__(name):
    if name in ("jit", "ReplayWarning", "PlaitPerformanceWarning"):
        from . import _jit

        value = getattr(_jit, name)
    elif name == "export":
        from ._export import export as value
    elif name in ("cfunc", "guvectorize"):
        from . import _native

        value = getattr(_native, name)
    elif name == "profile":
        from ._profile import profile as value
    elif name == "timeit":
        from ._timeit import timeit as value
    elif name == "clear_cache":
        from ._cache import clear_cache as value
    elif name == "load_ipython_extension":
        from ._ipython import load_ipython_extension as value
    elif name == "coverage":
        from ._coverage import coverage as value
    elif name in ("nn", "array_api"):
        value = _importlib.import_module(f".{name}", __name__)
    elif name == "__all__":
        return sorted(
            {
                *_numpy.__all__,
                "blocks",
                "borrow",
                "cfunc",
                "clear_cache",
                "config",
                "coverage",
                "current_device",
                "default_dtype",
                "device",
                "devices",
                "DeviceError",
                "Error",
                "DeviceMismatchError",
                "evaluate",
                "explain",
                "export",
                "get_default_dtype",
                "get_num_threads",
                "guvectorize",
                "PlaitPerformanceWarning",
                "ReplayWarning",
                "jit",
                "profile",
                "set_default_dtype",
                "set_num_threads",
                "stats",
                "timeit",
                "trim",
            }
        )
    else:
        value = _namespace.lookup(name)
    globals()[name] = value
    return value


_LATER = ("cfunc", "clear_cache", "coverage", "export", "guvectorize", "jit", "PlaitPerformanceWarning", "profile", "ReplayWarning", "timeit")


def __dir__():
    return sorted({*globals(), *_numpy.__all__, *_LATER})


def _ufunc_of(numpy_ufunc):
    """Plait's ufunc for NumPy's, or None for a ufunc that is not in NumPy's namespace."""
    name = numpy_ufunc.__name__
    if getattr(_numpy, name, None) is not numpy_ufunc:
        return None
    ours = globals().get(name)
    return ours if ours is not None else __getattr__(name)


def _function_of(function):
    """Plait's native function for NumPy's, or None where there is only the fallback."""
    name = function.__name__
    if getattr(_numpy, name, None) is function:
        return globals().get(name)
    module = getattr(function, "__module__", "")
    if module == "numpy.linalg":
        from . import linalg

        return _namespace.made_names(linalg).get(name)
    return _namespace.NATIVE.get(function)
