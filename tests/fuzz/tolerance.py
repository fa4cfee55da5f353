"""How far a result may be from NumPy's.

Exact, to the sign of zero: integers and booleans; + - * / sqrt and every other operation that IEEE or NumPy's own definition
pins down; sums, means, variances and norms of float32 and float64 along the inner axis of a contiguous array, which follow
NumPy's summation tree. Elsewhere an error bound |got - want| <= rel * |want| + abs is carried from statement to statement:

* transcendental functions: ULPS units in the last place (math libraries differ, NumPy's own among its CPU levels);
* sums in another order: 4 n eps max|x|; products 4 n eps; matmul 4 k eps max|a| max|b|;
* complex products, quotients and absolute values: 8 eps (NumPy's vector loops contract them).

What takes a discrete decision on an inexact value (comparison, rounding, argmin, cast to int) is compared in shape and dtype only.
"""
import math
from typing import NamedTuple

import numpy

from dtypes import finfo, iinfo, kind_of

class Tol(NamedTuple):
    rel: float = 0.0
    abs: float = 0.0
    zero: bool = False  # the sign of a zero is not specified (maximum of 0.0 and -0.0)

    @property
    def exact(self):
        return self.rel == 0 and self.abs == 0

    @property
    def open(self):
        """Whether any value will do; a bound that overflowed to NaN says nothing either."""
        return not self.abs < math.inf


EXACT, SKIP = Tol(), Tol(0.0, math.inf, True)
ULPS = 8
LINEAR = {"add", "subtract", "negative", "positive", "absolute", "fabs", "maximum", "minimum", "fmax", "fmin", "where", "clip",
          "conjugate", "real", "imag", "copy"}
APPROXIMATE = {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "logaddexp2", "sin", "cos", "tan", "arcsin",
               "arccos", "arctan", "arctan2", "hypot", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "degrees", "radians",
               "rad2deg", "deg2rad", "cbrt", "power", "float_power"}
LIPSCHITZ = {"sin", "cos", "tanh", "arctan", "arcsinh"}  # slope at most 1
COMPLEX_APPROXIMATE = {"multiply", "divide", "square", "reciprocal", "absolute", "sqrt", "sign", "prod"}
EXTREMA = {"maximum", "minimum", "fmax", "fmin", "clip", "min", "max"}
SEES_ZERO_SIGN = {"divide", "reciprocal", "copysign", "signbit", "arctan2", "power", "float_power", "nextafter", "floor_divide",
                  "remainder", "fmod", "heaviside", "sqrt", "log", "view"}


class Info:
    """What the rules ask of an operand, read before the statement runs."""

    def __init__(self, value, tol):
        self.tol = tol
        a = numpy.asarray(value)
        self.value, self.dtype, self.size = a, a.dtype, a.size
        self.float = kind_of(a.dtype) in "fc"
        m = numpy.abs(a.astype("D" if kind_of(a.dtype) == "c" else "d")) if kind_of(a.dtype) in "biufc" else numpy.zeros(0)
        finite = m[numpy.isfinite(m)]
        self.finite = finite.size == m.size
        self.max = numpy.float64(finite.max() if finite.size else 0)  # a NumPy scalar overflows to inf
        self.min = numpy.float64(finite.min() if finite.size else 0)
        self.zeros = bool(self.float and (m == 0).any())
        self.nan = bool(numpy.isnan(m).any())
        self.error = tol.rel * self.max + tol.abs


def eps(dtype):
    dtype = numpy.dtype(dtype)
    return float(finfo(dtype).eps) if kind_of(dtype) in "fc" else 0.0


def loop_eps(op, ins):
    """Of the dtype that the ufunc computes in, which out= may hide (sin of int16 is a float32 also in a float64 array)."""
    f = getattr(numpy, op, None)
    if not isinstance(f, numpy.ufunc) or len(ins) < f.nin:
        return 0.0
    try:
        return eps(f.resolve_dtypes(tuple(i.dtype for i in ins[: f.nin]) + (None,) * f.nout)[-1])
    except TypeError:
        return 0.0


def lost_as_integers(op, ins, dtype):
    """Whether what a float loop makes of integers has no defined value in `dtype`: NaN, infinities, what does not fit, and what a
    rounding may take to the next integer."""
    if kind_of(dtype) not in "biu" or loop_eps(op, ins) == 0 or any(i.float for i in ins):
        return False
    if op in APPROXIMATE:
        return True
    f = getattr(numpy, op)
    try:
        made = f(*(i.value for i in ins[: f.nin]))
    except ValueError:
        return False  # the statement itself says so
    if kind_of(dtype) == "b":
        return not numpy.isfinite(made).all()
    return not ((made >= iinfo(dtype).min) & (made < min(iinfo(dtype).max, 2**31))).all()  # nor for NaN


def elementwise(op, ins, result):
    """The bound of one elementwise operation on operands `ins`."""
    floats = [i for i in ins if i.float]
    if not floats and not result.float:
        return EXACT if all(i.tol.exact for i in ins) else SKIP
    e = max([eps(i.dtype) for i in floats] + [eps(result.dtype), loop_eps(op, ins)])
    is_complex = any(kind_of(i.dtype) == "c" for i in ins) or kind_of(result.dtype) == "c"
    exact_in = all(i.tol.exact for i in ins)
    zero = any(i.tol.zero for i in ins)
    if zero and op in SEES_ZERO_SIGN and any(i.zeros for i in ins):
        return SKIP
    if op in EXTREMA and sum(i.zeros for i in ins) > 0:
        zero = True
    if op in ("signbit", "copysign") and any(i.nan for i in ins):
        return SKIP  # the sign of a NaN
    inexact = op in APPROXIMATE or (is_complex and op in COMPLEX_APPROXIMATE)
    if exact_in and not inexact:
        if is_complex and op in ("log", "exp", "power"):
            return SKIP
        return Tol(0, 0, zero)
    if is_complex and (not all(i.finite for i in ins) or not result.finite or any(i.max > 1e6 or i.zeros for i in ins)):
        return SKIP
    if exact_in:
        if kind_of(result.dtype) not in "fc":
            return SKIP
        tiny = float(finfo(result.dtype).tiny)
        if op in ("logaddexp", "logaddexp2"):
            # The greater operand plus log(1 + exp(-difference)): the sum cancels where the result is near 0, and its error
            # is a rounding of its terms, in NumPy as here, however small the result.
            return Tol(ULPS * e, tiny + ULPS * e * (max(i.max for i in ins) + 1), True)
        slack = 64 * e * max(result.max, max((i.max for i in ins), default=0)) if is_complex else 0
        if is_complex and op not in COMPLEX_APPROXIMATE and any(i.max > 50 for i in ins):
            return SKIP
        return Tol(ULPS * e, tiny + slack, True)
    if kind_of(result.dtype) not in "fc":
        return SKIP
    if result.max > 0.01 * float(finfo(result.dtype).max):
        return SKIP
    total = sum(i.error for i in ins)
    if op in LINEAR:
        if op == "copy":
            return Tol(max(i.tol.rel for i in ins) + 2 * e, max(i.tol.abs for i in ins), True)
        return Tol(2 * e, total + 2 * e * result.max, True)
    if op in LIPSCHITZ:
        return Tol(ULPS * e, total, True)
    if op == "multiply" and len(ins) == 2:
        a, b = ins
        return Tol(a.tol.rel + b.tol.rel + 4 * e, 2 * (a.tol.abs * b.max + b.tol.abs * a.max) + a.tol.abs * b.tol.abs, True)
    if op == "square":
        return Tol(2 * ins[0].tol.rel + 4 * e, 4 * ins[0].tol.abs * ins[0].max + ins[0].tol.abs ** 2, True)
    if op == "divide" and len(ins) == 2:
        a, b = ins
        if b.error >= 0.25 * b.min:
            return SKIP
        return Tol(a.tol.rel + 2 * b.tol.rel + 4 * e, 2 * (a.tol.abs / b.min + b.tol.abs * a.max / b.min ** 2), True)
    if op in ("sqrt", "log", "log2", "log10"):
        a = ins[0]
        if a.error >= 0.25 * a.min or not a.finite or (a.value.size and a.value.min() <= 0):
            return SKIP
        return Tol(ULPS * e, 2 * a.error / (math.sqrt(a.min) if op == "sqrt" else a.min), True)
    if op == "exp" and ins[0].error < 0.1:
        return Tol(ULPS * e + 2 * ins[0].error, float(finfo(result.dtype).tiny), True)
    return SKIP


def reduction(op, x, result, inner):
    """The bound of a reduction of x; `inner` when it runs along the contiguous inner axis without casts, masks or initial value."""
    if not x.float and not result.float:
        return EXACT if x.tol.exact else SKIP
    if op in ("any", "all", "argmin", "argmax", "count_nonzero", "sort", "argsort", "unique", "nonzero"):
        return Tol(0, 0, x.tol.zero or (op in ("sort", "unique") and x.zeros)) if x.tol.exact else SKIP
    if op in ("min", "max"):
        return Tol(x.tol.rel, x.tol.abs, x.tol.zero or x.zeros)
    n = max(1, x.size // max(1, result.size))
    e = max(eps(x.dtype), eps(result.dtype))
    if kind_of(result.dtype) not in "fc":
        return SKIP
    if kind_of(x.dtype) == "c" and op not in ("sum", "mean"):
        inner = False
    if x.tol.exact and inner and op in ("sum", "mean", "norm", "var", "std"):
        return Tol(0, 0, x.tol.zero)
    power = 2 if op in ("var", "std", "norm") else 1
    top = float(finfo(result.dtype).max) if kind_of(result.dtype) in "fc" else 1e300
    if not math.isfinite(x.error) or (x.max + 1) ** power * n > top / 8 or result.max > top / 8:
        return SKIP
    if op in ("var", "std", "norm"):
        bound = (4 * n + 32) * e * x.max ** 2 + 4 * n * x.error * (x.max + x.error)
        if op != "var":
            bound = bound / result.min if result.min > 0 and bound < result.min ** 2 else math.sqrt(bound)
        return Tol(4 * e, bound, True)
    if op in ("prod", "cumprod"):
        if not x.tol.exact or (kind_of(x.dtype) == "c" and not x.finite):
            return SKIP
        return Tol(4 * n * e + 16 * e * x.size, float(finfo(result.dtype).tiny) if result.float else 0, True)
    if op == "mean":
        return Tol(4 * e, x.error + 4 * n * e * x.max, True)
    if op in ("sum", "cumsum", "trace", "ptp"):
        n = x.size if op == "cumsum" else n
        return Tol(4 * e, n * x.error + 4 * n * e * x.max, True)
    return SKIP


def contraction(a, b, result, k):
    if not result.float:
        return EXACT if a.tol.exact and b.tol.exact else SKIP
    e = max(eps(a.dtype), eps(b.dtype), eps(result.dtype))
    if not (a.finite and b.finite) or (a.max + 1) * (b.max + 1) * k > float(finfo(result.dtype).max) / 8:
        return SKIP
    return Tol(4 * e, k * (4 * e * a.max * b.max + a.error * (b.max + b.error) + b.error * a.max), True)


def differs(got, want, tol):
    """None, or the text of the first difference between two arrays of one dtype and shape."""
    if tol.open or want.size == 0:
        return None
    if kind_of(want.dtype) not in "fc":
        bad = got != want
    else:
        with numpy.errstate(all="ignore"):
            parts = [(got, want)] if kind_of(want.dtype) == "f" else [(got.real, want.real), (got.imag, want.imag)]
            bad = numpy.zeros(want.shape, bool)
            for g, w in parts:
                same = (g == w) | (numpy.isnan(g) & numpy.isnan(w))
                # Where a format has no NaN, what would be one is a zero of NaN's sign, which nothing says.
                if tol.exact and not tol.zero and want.dtype.name not in ("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"):
                    same &= (numpy.signbit(g) == numpy.signbit(w)) | (w != 0)
                if not tol.exact:
                    scale = numpy.abs(want).astype("f8") if kind_of(want.dtype) == "c" else numpy.abs(w.astype("f8"))
                    close = numpy.abs(g.astype("f8") - w.astype("f8")) <= tol.rel * scale + tol.abs
                    same |= close & numpy.isfinite(g) & numpy.isfinite(w)
                bad |= ~same
    if not bad.any():
        return None
    where = tuple(int(i) for i in numpy.argwhere(bad)[0])
    return f"{int(bad.sum())} of {want.size} elements differ, first at {where}: got {got[where]!r}, want {want[where]!r}, {tol}"
