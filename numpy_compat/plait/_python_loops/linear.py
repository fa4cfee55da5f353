"""What functions of numpy.linalg do with small matrices, in Python: compiled where a loop calls those. Elimination by rows, with the largest element of a column
as its pivot, as LAPACK has it; the results differ from LAPACK's by rounding."""

import numpy as np
from numpy.linalg import LinAlgError


def _factor(a, swaps):
    """Makes of a matrix its factors, L below the diagonal and U: the sign of the permutation, 0.0 where the matrix is singular."""
    n, sign = len(a), 1.0
    for k in range(n):
        best, most = k, abs(a[k, k])
        for i in range(k + 1, n):
            if abs(a[i, k]) > most:
                best, most = i, abs(a[i, k])
        swaps[k] = best
        if a[best, k] == 0:
            return 0.0
        if best != k:
            sign = -sign
            for j in range(n):
                x = a[k, j]
                a[k, j] = a[best, j]
                a[best, j] = x
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            by = a[i, k]
            for j in range(k + 1, n):
                a[i, j] -= by * a[k, j]
    return sign


def det(a):
    sign = _factor(a, np.empty(len(a), np.int64))
    product = a.dtype.type(sign)
    for k in range(len(a)):
        if sign != 0:
            product = product * a[k, k]
    return product


def solve(a, b):
    """Makes of a line what solves a @ x == b."""
    n = len(a)
    swaps = np.empty(n, np.int64)
    if n > 0 and _factor(a, swaps) == 0:
        raise LinAlgError("Singular matrix")
    for k in range(n):
        x = b[swaps[k]]
        b[swaps[k]] = b[k]
        b[k] = x
    for k in range(n):
        x = b[k]
        for i in range(k + 1, n):
            b[i] -= a[i, k] * x
    for k in range(n - 1, -1, -1):
        b[k] /= a[k, k]
        x = b[k]
        for i in range(k):
            b[i] -= a[i, k] * x
    return b


def solve_all(a, b):
    """The same of each column of a matrix."""
    n, many = len(a), b.shape[1]
    swaps = np.empty(n, np.int64)
    if n > 0 and _factor(a, swaps) == 0:
        raise LinAlgError("Singular matrix")
    for k in range(n):
        for j in range(many):
            x = b[swaps[k], j]
            b[swaps[k], j] = b[k, j]
            b[k, j] = x
    for k in range(n):
        for i in range(k + 1, n):
            by = a[i, k]
            for j in range(many):
                b[i, j] -= by * b[k, j]
    for k in range(n - 1, -1, -1):
        for j in range(many):
            b[k, j] /= a[k, k]
        for i in range(k):
            by = a[i, k]
            for j in range(many):
                b[i, j] -= by * b[k, j]
    return b


FUNCTIONS = (_factor, det, solve, solve_all)
