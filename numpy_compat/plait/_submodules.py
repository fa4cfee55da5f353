"""Functions of NumPy's submodules that the engine has, by NumPy's function."""

import numpy

from . import _plait
from ._fallback import call
from ._plait import ndarray

_theirs = numpy.lib.stride_tricks.sliding_window_view


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    if type(x) is ndarray:
        result = _plait.sliding_window_view(x, window_shape, axis, writeable is True)
        if result is not NotImplemented:
            return result
    return call(_theirs, (x, window_shape, axis), {"subok": subok, "writeable": writeable})


NATIVE = {_theirs: sliding_window_view}
