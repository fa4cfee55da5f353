"""numpy.linalg: norm and the products record; what needs LAPACK runs NumPy's loops on pooled memory, with batches on all threads."""

import sys

import numpy

from . import _dispatch, _docs, _namespace, _plait, _products, _shape
from ._composed import composed
from ._fallback import call


def norm(x, ord=None, axis=None, keepdims=False):
    if isinstance(x, _plait.ndarray):
        result = _plait.norm(x, ord, axis, keepdims)
        if result is not NotImplemented:
            return result
    return call(numpy.linalg.norm, (x, ord, axis, keepdims), None, "linalg.norm")


def matmul(x1, x2, /):
    import plait

    return plait.matmul(x1, x2)


def outer(x1, x2, /):
    if _shape.ndim(x1) != 1 or _shape.ndim(x2) != 1:
        return call(numpy.linalg.outer, (x1, x2), None, "linalg.outer")
    return _products.outer(x1, x2)


def matrix_transpose(x, /):
    return _shape.matrix_transpose(x)


def diagonal(x, /, *, offset=0):
    return _shape.diagonal(x, offset, -2, -1)


def trace(x, /, *, offset=0, dtype=None):
    return _shape.trace(x, offset, -2, -1, dtype)


def tensordot(x1, x2, /, *, axes=2):
    return _products.tensordot(x1, x2, axes)


_FEW = 1 << 14  # elements
_COMPOSED = """
    cholesky cond cross det eig eigh eigvals eigvalsh inv lstsq matrix_norm matrix_power matrix_rank multi_dot pinv qr slogdet solve svd
    svdvals tensorinv tensorsolve vecdot vector_norm""".split()
_NATIVE = ("norm", "matmul", "outer", "matrix_transpose", "diagonal", "trace", "tensordot")
_own = {n: globals()[n] for n in _NATIVE}
_own |= {n: composed(getattr(numpy.linalg, n), f"linalg.{n}", _FEW) for n in _COMPOSED}
_dispatch.install(_own, numpy.linalg, __name__)
_docs.describe(_own, numpy.linalg, __name__)
sys.modules[__name__] = _namespace.mirror(__name__, numpy.linalg, _own)
