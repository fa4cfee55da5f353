"""Complex numbers and float16 in compiled loops: Python's arithmetic, or that of NumPy's scalars, to the bit."""

import itertools
import linecache
import math

import numpy as np
import pytest
from loop_cases import ran

import plait
from plait._jit import loops_of


def outcome(f, args):
    result, args, heard = ran(f, args)
    texts = sorted({text for text in heard if not text.startswith(("overflow", "invalid value encountered in scalar", "underflow"))})
    return described(result), [described(x) for x in args], texts


def described(x):
    if isinstance(x, np.ndarray):
        return x.dtype, x.shape, np.where(np.isnan(x), np.nan, x).tobytes()
    if isinstance(x, (tuple, list)):
        return [described(v) for v in x]
    return type(x), repr(x).replace("-nan", "nan")


def check(f, args, runs=True):
    g = plait.jit(f)
    assert outcome(f, args) == outcome(g, args)
    code = [*loops_of(g)[0].codes.values()][-1]
    assert code.usable and code.runs if runs else not code.usable, code.why
    return code


def mandelbrot(w, h, top):
    out = np.zeros((h, w), dtype=np.int64)
    for y in range(h):
        for x in range(w):
            c = complex(3.0 * x / w - 2.0, 2.0 * y / h - 1.0)
            z = 0
            for k in range(top):
                if abs(z) > 2:
                    break
                z = z * z + c
            out[y, x] = k
    return out, z, c


def julia(z0, out, top):
    for i in range(len(z0)):
        z, k = z0[i], 0
        while k < top and z.real * z.real + z.imag * z.imag < 4:
            z = z * z + (0.3 + 0.5j)
            k += 1
        out[i] = z / (1 + z.conjugate()) - abs(z)
    return out, z


def roots(n):
    found = []
    for k in range(n):
        z = complex(k, 1)
        for _ in range(30):
            if z == 0:
                break
            z = z - (z**2 * z - 1) / (3 * z**2)
    return z, -z, +z, z != 1j, bool(z)


def horner(a, z):
    total = 0j
    for k in range(len(a)):
        total = total * z + a[k]
    return total, total.real, total.imag


def elements(n):
    return sum(1j**2 * complex(k, -k) for k in range(n)), [complex(k) * 2j for k in range(n)]


RANDOM = np.random.default_rng(3).normal(size=(2, 40))
Z = RANDOM[0] + 1j * RANDOM[1]


@pytest.mark.parametrize(
    "f, args",
    [
        (mandelbrot, (20, 15, 40)), (julia, (Z, Z * 0, 30)), (julia, (Z.astype("c8"), Z.astype("c8"), 30)), (julia, (Z[::-2], Z[:20], 9)), (roots, (5,)),
        (horner, (Z, 0.5 + 0.5j)), (horner, (Z.astype("c8"), 1j)), (horner, (RANDOM[0], 0.25j)), (elements, (9,)),
    ],
)  # fmt: skip
def test_programs(f, args, at_once):
    check(f, args)


ODD = 0.0, -0.0, 1.0, -2.5, 1e200, -1e-320, math.inf, -math.inf, math.nan
SPECIAL = [complex(a, b) for a, b in itertools.product(ODD, ODD)]


def arithmetic(z, w):
    for _ in range(1):
        a, b, c, d, e = z + w, z - w, z * w, -z, z.conjugate()
        same, other, truth = z == w, z != w, not z
    return a, b, c, d, e, same, other, truth, z.real, w.imag


def divided(z, w):
    for _ in range(1):
        a = z / w
    return a


def size(z, w):
    for _ in range(1):
        a = abs(z)
    return a


def squared(z, w):
    for _ in range(1):
        a = z**2
    return a


@pytest.mark.parametrize("of", [complex, np.complex128, np.complex64], ids=lambda t: t.__name__)
@pytest.mark.parametrize("f", [arithmetic, divided, size, squared], ids=lambda f: f.__name__)
def test_all_kinds_of_numbers(f, of, at_once):
    with np.errstate(all="ignore"):
        g, pairs = plait.jit(f), list(itertools.product(SPECIAL, SPECIAL[:: 1 if f is divided else 7]))
        for z, w in pairs:
            z, w = of(z), of(w)
            assert outcome(f, (z, w)) == outcome(g, (z, w)), (z, w)
    assert any(code.runs == len(pairs) for code in loops_of(g)[0].codes.values())


MIXED = 2, -0.0, 1.5, True, np.float64(-2.5), 3 - 1j, -0j, np.complex128(1 - 2j), np.complex64(0.1j), np.float32(0.1), np.int64(3)


@pytest.mark.parametrize("f", [arithmetic, divided], ids=lambda f: f.__name__)
def test_numbers_of_two_types(f, at_once):
    for z, w in itertools.product(MIXED, MIXED):
        if isinstance(z, (complex, np.complexfloating)) or isinstance(w, (complex, np.complexfloating)):
            g = plait.jit(f)
            assert outcome(f, (z, w)) == outcome(g, (z, w)), (z, w)


@pytest.mark.parametrize("z", [2j, np.complex128(2j), np.complex64(1)])
def test_a_division_by_zero(z, at_once):
    check(divided, (z, z * 0))


def test_what_is_no_operation_of_complex_numbers(at_once):
    def stored(z, x):
        for i in range(2):
            x[i] = z

    check(stored, (2j, np.zeros(3)), runs=False)
    operations = "z < 1j", "z // 2", "math.sin(z)", "int(z)", "float(z)", "min(z, 1j)", "~z", "sum(k for k in range(z))", "round(z)", "math.floor(z)", "z % 2", "x[z]"
    for n, text in enumerate(operations):
        source = f"def f(z, x):\n for i in range(2):\n  y = {text}\n return y\n"
        name = f"<operation {n}>"
        linecache.cache[name] = len(source), None, source.splitlines(True), name
        exec(compile(source, name, "exec"), scope := {"math": math, "__name__": "operations"})
        check(scope["f"], (2j, np.zeros(3)), runs=False)


def test_numbers_that_become_complex(at_once):
    def f(n, z):
        t = 0
        for i in range(n):
            if i == 3:
                t = t * z
            t = t + i
        return t

    for n in range(6):
        check(f, (n, 1j))


def halves(x, y, k):
    t = x[0]
    for i in range(len(x)):
        y[i] = x[i] * x[i] + y[i] / 3 - t * k
        t = t * np.float16(0.5) + x[i] - 2**-9
        if x[i] > t or y[i] == 0.5:
            t = np.sqrt(abs(x[i])) // y[i] % x[i]
        y[-1 - i] += max(x[i], t)
    return y, t, -t, float(t), t * np.float32(0.1), t + np.float64(0.1), t + 1, int(x[0]), bool(t)


@pytest.mark.parametrize("k", [3, 0.1, np.float16(0.1), np.int8(2)])
def test_float16(k, at_once):
    x, y = RANDOM.astype("f2")
    check(halves, (x, y, k))
    check(halves, (x * 300, y * 100, k))


def test_casts_to_float16_round_once(at_once):
    def f(x, y):
        for i in range(len(x)):
            y[i] = x[i]
        return y

    tie = 1 + 2.0**-11
    check(f, (np.array([tie, tie + 2**-40, tie - 2**-40, 65519.99, 65520, 1e-8, 2.0**-25, 2.0**-25 * (1 + 2**-30)]), np.zeros(8, "f2")))
    check(f, (np.array([0.1, 2049, 7e4], "f4"), np.zeros(3, "f2")))
    check(f, (np.array([1, 2049, -65519, 70000]), np.zeros(4, "f2")))


def test_sums_of_parts_of_complex_arrays_stay_numpys(at_once):
    def f(z):
        t = 0j
        for i in range(len(z)):
            t += z[:i].sum()
        return t

    check(f, (Z,), runs=False)
