import pytest
from table import compare, lines, table

pytest.importorskip("numba")

SETUP = """
import numba
import numpy
a = np.array([3.0, 1.0, 2.0])
X = np.arange(12.0).reshape(4, 3)
big = np.arange(100_000.0)
@numba.njit
def total(x):
    s = 0.0
    for v in x.flat:
        s += v
    return s
@numba.njit
def scaled(x, k):
    return x * k
@numba.njit("f8(f8[:])")
def exact(x):
    return x.sum()
@numba.njit
def doubled(x):
    out = numpy.empty_like(x)
    for k in range(x.shape[0]):
        out[k] = x[k] * 2
    return out
@numba.njit
def first_is(x, v):
    x[0] = v
@numba.njit
def added(x, y):
    return x + y
@numba.vectorize(["f8(f8, f8)"])
def plus(x, y):
    return x + y
@numba.guvectorize(["(f8[:], f8[:])"], "(n)->()")
def row_total(x, out):
    out[0] = 0.0
    for v in x:
        out[0] += v
"""
CALLS = lines("""
total(a)
total(np.asarray(a, dtype=float))
scaled(X, 2.0)
scaled(X > 3, 2)
scaled(2.0, big.mean())
scaled(2.0, big.max() - big.min())
plus(a, a)
plus(a, 1.0)
plus.reduce(a)
row_total(X)
total(getattr(a, "to_numpy", lambda: a)())
total(a.__array__())
here(scaled(a.__array__(), 2.0)).sum()
exact(a)
total(X.T)
total(X[::2, ::-1])
doubled(a)
added(a, numpy.ones(3))
added(numpy.ones(3), a)
added(X, X)
numba.typeof(a).dtype
total.py_func(a)
numba.typeof(big.mean())
""") + ["first_is(a, 9.0)\na", "y = a * 2\nfirst_is(y[1:], 9.0)\ny", "big[0] = total(big)\nbig"]
KNOWN = {"exact(a)": "a function compiled for given types takes NumPy's C type only: x.to_numpy()"}


@table(CALLS, KNOWN)
def test_numba(call):
    compare(call, SETUP)
