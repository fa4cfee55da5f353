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


# Small matrices are NumPy's, and there its search for dtypes takes longer than LAPACK: of one double or complex matrix the loop alone is run.
_SIGNATURES = {"d": "d->d", "D": "D->D", "dd": "dd->d", "DD": "DD->D", "dD": "DD->D", "Dd": "DD->D"}
_theirs = numpy.linalg._linalg
_loops = _theirs._umath_linalg
_errors = numpy._core.umath._extobj_contextvar


def _error_state(raises):
    return numpy._core.umath._make_extobj(call=raises, invalid="call", over="ignore", divide="ignore", under="ignore")


_SINGULAR = _error_state(_theirs._raise_linalgerror_singular)


def _is_square(a):
    return type(a) is numpy.ndarray and a.ndim == 2 and a.shape[0] == a.shape[1]


def _small_inv(*args, **kwargs):
    if len(args) == 1 and not kwargs and _is_square(a := args[0]) and (signature := _SIGNATURES.get(a.dtype.char)):
        before = _errors.set(_SINGULAR)
        try:
            return _loops.inv(a, signature=signature)
        finally:
            _errors.reset(before)
    return numpy.linalg.inv(*args, **kwargs)


def _small_solve(*args, **kwargs):
    if len(args) == 2 and not kwargs and _is_square(args[0]) and type(args[1]) is numpy.ndarray and args[1].ndim in (1, 2):
        a, b = args
        if signature := _SIGNATURES.get(a.dtype.char + b.dtype.char):
            before = _errors.set(_SINGULAR)
            try:
                return (_loops.solve1 if b.ndim == 1 else _loops.solve)(a, b, signature=signature)
            finally:
                _errors.reset(before)
    return numpy.linalg.solve(*args, **kwargs)


def _small_det(*args, **kwargs):
    if len(args) == 1 and not kwargs and _is_square(a := args[0]) and (signature := _SIGNATURES.get(a.dtype.char)):
        return _loops.det(a, signature=signature)
    return numpy.linalg.det(*args, **kwargs)


_SMALL = {"inv": _small_inv, "solve": _small_solve, "det": _small_det}
_NATIVE = ("norm", "matmul", "outer", "matrix_transpose", "diagonal", "trace", "tensordot")
_own = {n: globals()[n] for n in _NATIVE}
_own |= {n: composed(getattr(numpy.linalg, n), f"linalg.{n}", _FEW) for n in _COMPOSED}
for _name, _small in _SMALL.items():
    _own[_name]._small = _small, *_own[_name]._small[1:]
_dispatch.install(_own, numpy.linalg, __name__)
_docs.describe(_own, numpy.linalg, __name__)
sys.modules[__name__] = _namespace.mirror(__name__, numpy.linalg, _own)
