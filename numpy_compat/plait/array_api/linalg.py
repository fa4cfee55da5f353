"""The extension for linear algebra of the array API standard."""

import plait as _plait

from . import _own
from ._standard import define as _define

_SIGNATURES = """
    cholesky(x, /, *, upper=False)
    cross(x1, x2, /, *, axis=-1)
    det(x, /)
    diagonal(x, /, *, offset=0)
    eig(x, /)
    eigh(x, /)
    eigvals(x, /)
    eigvalsh(x, /)
    inv(x, /)
    matmul(x1, x2, /)
    matrix_norm(x, /, *, keepdims=False, ord='fro')
    matrix_power(x, n, /)
    matrix_rank(x, /, *, rtol=None)
    matrix_transpose(x, /)
    outer(x1, x2, /)
    pinv(x, /, *, rtol=None)
    qr(x, /, *, mode='reduced')
    slogdet(x, /)
    solve(x1, x2, /)
    svd(x, /, *, full_matrices=True)
    svdvals(x, /)
    tensordot(x1, x2, /, *, axes=2)
    trace(x, /, *, offset=0, dtype=None)
    vecdot(x1, x2, /, *, axis=-1)
    vector_norm(x, /, *, axis=None, keepdims=False, ord=2)
"""
__all__ = _define(_SIGNATURES, (_own.LINALG, vars(_plait.linalg)), __name__)
