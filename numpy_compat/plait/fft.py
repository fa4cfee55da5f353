"""numpy.fft: transforms by NumPy's loops on pooled memory, with batches, and single long lines, on all threads."""

import sys

import numpy

from . import _dispatch, _docs, _namespace
from ._composed import composed, extent
from ._fallback import call

_FEW = 1 << 14  # elements
_TRANSFORMS = "fft ifft rfft irfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn hfft ihfft".split()


def _transform(name):
    theirs = getattr(numpy.fft, name)
    ours = composed(theirs, f"fft.{name}", _FEW)

    def function(*args, out=None, **kwargs):
        if out is not None or len(args) > 4:  # memory of the caller's, with strides of its own
            return call(theirs, args, {"out": out, **kwargs}, f"fft.{name}")
        return ours(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function._small = ours._small
    return function


_own = {name: _transform(name) for name in _TRANSFORMS}
_own |= {name: composed(getattr(numpy.fft, name), f"fft.{name}") for name in ("fftshift", "ifftshift")}
_own |= {name: composed(getattr(numpy.fft, name), f"fft.{name}", size=extent(0)) for name in ("fftfreq", "rfftfreq")}
_dispatch.install(_own, numpy.fft, __name__)
_docs.describe(_own, numpy.fft, __name__)
sys.modules[__name__] = _namespace.mirror(__name__, numpy.fft, _own)
