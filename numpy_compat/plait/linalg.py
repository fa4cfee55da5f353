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
_theirs = numpy.linalg._linalg
_loops = _theirs._umath_linalg
_errors = numpy._core.umath._extobj_contextvar


def _error_state(raises):
    return numpy._core.umath._make_extobj(call=raises, invalid="call", over="ignore", divide="ignore", under="ignore")


_SINGULAR = _error_state(_theirs._raise_linalgerror_singular)
_INDEFINITE = _error_state(_theirs._raise_linalgerror_nonposdef)
_DIVERGENT = _error_state(_theirs._raise_linalgerror_eigenvalues_nonconvergence)


def _run(loop, operands, signature, state):
    before = _errors.set(state)
    try:
        return loop(*operands, signature=signature)
    finally:
        _errors.reset(before)


def _is_square(a):
    return type(a) is numpy.ndarray and a.ndim == 2 and a.shape[0] == a.shape[1]


def _of_one(theirs, loop, real, of_complex, state, several=None):
    """`theirs` with a matrix as the only argument; without a state errors are the caller's to set."""
    signatures = {"d": real, "D": of_complex}

    def small(*args, **kwargs):
        if len(args) == 1 and not kwargs and _is_square(args[0]) and (signature := signatures.get(args[0].dtype.char)):
            made = _run(loop, args, signature, state) if state is not None else loop(*args, signature=signature)
            return several(*made) if several else made
        return theirs(*args, **kwargs)

    return small


_OF_TWO = {"dd": "dd->d", "DD": "DD->D", "dD": "DD->D", "Dd": "DD->D"}


def _small_solve(*args, **kwargs):
    if len(args) == 2 and not kwargs and _is_square(args[0]) and type(args[1]) is numpy.ndarray and args[1].ndim in (1, 2):
        if signature := _OF_TWO.get(args[0].dtype.char + args[1].dtype.char):
            return _run(_loops.solve1 if args[1].ndim == 1 else _loops.solve, args, signature, _SINGULAR)
    return numpy.linalg.solve(*args, **kwargs)


_SMALL = {
    "inv": _of_one(numpy.linalg.inv, _loops.inv, "d->d", "D->D", _SINGULAR),
    "solve": _small_solve,
    "det": _of_one(numpy.linalg.det, _loops.det, "d->d", "D->D", None),
    "slogdet": _of_one(numpy.linalg.slogdet, _loops.slogdet, "d->dd", "D->Dd", None, _theirs.SlogdetResult),
    "cholesky": _of_one(numpy.linalg.cholesky, _loops.cholesky_lo, "d->d", "D->D", _INDEFINITE),
    "eigvalsh": _of_one(numpy.linalg.eigvalsh, _loops.eigvalsh_lo, "d->d", "D->d", _DIVERGENT),
    "eigh": _of_one(numpy.linalg.eigh, _loops.eigh_lo, "d->dd", "D->dD", _DIVERGENT, _theirs.EighResult),
}
_NATIVE = ("norm", "matmul", "outer", "matrix_transpose", "diagonal", "trace", "tensordot")
_own = {n: globals()[n] for n in _NATIVE}
_own |= {n: composed(getattr(numpy.linalg, n), f"linalg.{n}", _FEW) for n in _COMPOSED}
for _name, _small in _SMALL.items():
    _own[_name]._small = _small, *_own[_name]._small[1:]
_dispatch.install(_own, numpy.linalg, __name__)
_docs.describe(_own, numpy.linalg, __name__)
sys.modules[__name__] = _namespace.mirror(__name__, numpy.linalg, _own)
