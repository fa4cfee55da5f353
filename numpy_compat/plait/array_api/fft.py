"""The extension for Fourier transforms of the array API standard."""

import plait.fft as _fft

from . import _own
from ._standard import define as _define

_SIGNATURES = """
    fft(x, /, *, n=None, axis=-1, norm='backward')
    ifft(x, /, *, n=None, axis=-1, norm='backward')
    fftn(x, /, *, s=None, axes=None, norm='backward')
    ifftn(x, /, *, s=None, axes=None, norm='backward')
    rfft(x, /, *, n=None, axis=-1, norm='backward')
    irfft(x, /, *, n=None, axis=-1, norm='backward')
    rfftn(x, /, *, s=None, axes=None, norm='backward')
    irfftn(x, /, *, s=None, axes=None, norm='backward')
    hfft(x, /, *, n=None, axis=-1, norm='backward')
    ihfft(x, /, *, n=None, axis=-1, norm='backward')
    fftfreq(n, /, *, d=1.0, dtype=None, device=None)
    rfftfreq(n, /, *, d=1.0, dtype=None, device=None)
    fftshift(x, /, *, axes=None)
    ifftshift(x, /, *, axes=None)
"""
__all__ = _define(_SIGNATURES, (_own.FFT, vars(_fft)), __name__)
