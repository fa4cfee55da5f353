"""numpy.vectorize of Python functions that are traced, and of those that are not, against NumPy."""

import functools
import math
import threading
import warnings

import numpy
import pytest

import plait
from plait import _called, _pure, _values, _vectorize

rng = numpy.random.default_rng(5)
X = rng.uniform(-3, 3, 5000)
X[:6] = 0.5, -0.0, 0.0, 2.0, -2.5, 1.5
P = numpy.abs(X) + 0.25  # positive
ODD = numpy.array([1.5, numpy.nan, numpy.inf, -numpy.inf, -0.0, 3.0])
N = rng.integers(-50, 50, 5000)
N[:3] = 7, -7, 0
M = rng.integers(1, 9, 5000)
B = X > 0


@pytest.fixture
def reasons(monkeypatch):
    """Why calls were left to NumPy. Any number of elements is worth a trace here, and none a loop."""
    found, call = [], _vectorize.call

    def noted(function, args, kwargs, name):
        found.append(name)
        return call(function, args, kwargs, name)

    monkeypatch.setattr(_vectorize, "FEW", 0)
    monkeypatch.setattr(_called.vectorize, "_worth", math.inf)
    monkeypatch.setattr(_vectorize, "call", noted)
    return found


def outcome(np, make, args, kwargs, options):
    """(results, or the error; warnings)."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            args = [np.array(x) if isinstance(x, numpy.ndarray) else x for x in args]
            kwargs = {k: np.array(x) if isinstance(x, numpy.ndarray) else x for k, x in kwargs.items()}
            made = np.vectorize(make(np), **options)(*args, **kwargs)
            made = [numpy.asarray(x) for x in (made if isinstance(made, tuple) else [made])]
        except Exception as e:
            made = type(e), str(e)
    return made, [(w.category, str(w.message)) for w in said]


def check(make, args, kwargs=None, rtol=4e-15, **options):
    (theirs, warned), (ours, said) = (outcome(np, make, args, kwargs or {}, options) for np in (numpy, plait))
    if not isinstance(theirs, list) or not isinstance(ours, list):
        assert ours == theirs
    else:
        for a, b in zip(ours, theirs, strict=True):
            assert (a.dtype, a.shape, a.strides if a.size else ()) == (b.dtype, b.shape, b.strides if b.size else ())
            if b.dtype.kind == "f":
                numpy.testing.assert_allclose(a, b, rtol=rtol if b.dtype == numpy.float64 else 1e-6, atol=1e-300)
                numpy.testing.assert_array_equal(numpy.signbit(a), numpy.signbit(b))
            else:
                assert list(map(repr, a.flat)) == list(map(repr, b.flat))
    assert said == warned


def nested(np):
    def f(x):
        if x > 1:
            if x > 2:
                return np.exp(x)
            return x * x
        if x < -1:
            return -x
        return 0.5 * x

    return f


def several_returns(np):
    def f(x, y):
        if x == 0.0:
            return 1.0
        z = x + y if x > y else x - y
        if z > 3 or not z:
            return z
        return z / 2 if -1 < z <= 1 else z * 3

    return f


def helper(x):
    return max(x, 0.25)


def calls_helper(np):
    return lambda x: helper(x) + math.sqrt(helper(-x))


def closure(np):
    rate, table = 0.75, [1.0, -0.5, 0.25]

    def horner(x):
        y = 0.0
        for c in table:
            y = y * x + c
        return y

    return lambda x: horner(x) * rate


def newton(np):
    def f(x):
        y = x
        for _ in range(8):
            step = (y * y - x) / (2 * y)
            y = y - step
            if abs(step) < 1e-3:
                break
        return y

    return f


class Model:
    scale = 3.0

    def __init__(self):
        self.shift = 0.5

    def of(self, x):
        return self.inner(x) * self.scale + self.shift

    def inner(self, x):
        return x if x > 0 else -2 * x

    def __call__(self, x):
        return self.of(x) + 1


def keywords(x, scale=2.0, *, shift=0.5):
    return x * scale + shift if x > shift else shift


TRACED = {
    "nested": (nested, X), "early": (several_returns, X, X[::-1]), "helper": (calls_helper, X), "closure": (closure, X), "newton": (newton, P),
    "log": (lambda np: lambda x: np.log(x) if x > 0 else np.nan, X), "where it is defined": (lambda np: lambda x: 1 / x if x else 0.0, X),
    "math": (lambda np: lambda x: math.exp(-x) + math.sin(x) * math.atan2(x, 2) + math.hypot(x, 1) + math.log(x + 4, 2), X),
    "math to ints": (lambda np: lambda x: math.floor(x) + 10 * math.ceil(x) + 100 * math.trunc(x) + round(x) + int(x), X),
    "power": (lambda np: lambda x: x**2 + x**0.5 + x**-1.5 + 2.0**x + x**3, P), "roots of zero": (lambda np: lambda x: x**0.5, ODD[[0, 4, 5]]),
    "division": (lambda np: lambda x, y: x // y + x % y, X, P), "divmod": (lambda np: lambda x: sum(divmod(x, -0.75)), X),
    "odd division": (lambda np: lambda x: (x // 0.5, x % 0.5, x // -1.0, x % -1.0), X),
    "ints": (lambda np: lambda n, m: n * n - 3 * m + n // m + n % m, N, M), "true division": (lambda np: lambda n, m: n / m, N, M),
    "negative division": (lambda np: lambda n, m: (n // -m, n % -m, -n // m, -n % m), N, M), "bits": (lambda np: lambda n: (n & 6) | (n ^ 3) << 2, N),
    "shifts": (lambda np: lambda n: (n >> 2) + (n << 3) + ~n + abs(n) + -n, N), "int power": (lambda np: lambda n, m: n**3 + 2**m, N, M),
    "int to a negative power": (lambda np: lambda m: m**-2, M), "parity": (lambda np: lambda n: n // 2 if n % 2 == 0 else 3 * n + 1, N),
    "bools": (lambda np: lambda b, x: x if b else -x, B, X), "bools as ints": (lambda np: lambda b, c: b + c * 2, B, ~B[::-1]),
    "logic": (lambda np: lambda b, x: b and x > 0, B, X), "bool bits": (lambda np: lambda b, c: b & c | (b ^ c), B, B[::-1]),
    "comparison": (lambda np: lambda x: x > 0.5, X), "numpy's bool": (lambda np: lambda x: np.isnan(x), ODD), "not": (lambda np: lambda x: not x, X),
    "scalar": (lambda np: lambda x, a, n: a * x + n, X, 0.5, 3), "broadcast": (lambda np: lambda x, y: max(x, y), X[:60, None], X[:70]),
    "three": (lambda np: lambda x, y, z: min(x, y, z), X, X[::-1], 0.25), "0-d": (lambda np: lambda x: x + 1, numpy.array(2.5)),
    "constant": (lambda np: lambda x, y: 5, X, 1.0), "argument": (lambda np: lambda x, y: y, X[:30, None], numpy.arange(4.0)),
    "fortran": (lambda np: lambda x: x * 2, numpy.asfortranarray(X.reshape(50, 100))), "strided": (lambda np: lambda x: x * 2, X[::-2]),
    
    "maximum": (lambda np: lambda x: np.maximum(x, 1.0) + np.fmin(x, 0.0), ODD), "truth of nan": (lambda np: lambda x: 1 if x else 2, ODD),
    "float32": (lambda np: lambda x: x * 0.1 + 1, X.astype("f4")), "float16": (lambda np: lambda x: x * 0.1 + 1, X.astype("f2")),
    "int8": (lambda np: lambda n: n * 5 + 1000, N.astype("i1") // 60), "uint64": (lambda np: lambda n: n * 2.0, M.astype("u8")),
    "two results": (lambda np: lambda x: (x > 0, x * 2), X), "first is int": (lambda np: lambda x: 1 if x == 0.5 else x, X),
    "first is bool": (lambda np: lambda x: True if x == 0.5 else x, X), "first is float": (lambda np: lambda x: x if x == 0.5 else 3, X),
    "partial": (lambda np: functools.partial(keywords, scale=0.5), X), "method": (lambda np: Model().of, X), "object": (lambda np: Model(), X),
    "math function": (lambda np: math.cos, X), "ufunc": (lambda np: np.sin, X), "builtin": (lambda np: abs, X), "int()": (lambda np: int, X),
    "float()": (lambda np: float, N), "round()": (lambda np: round, X), "error that nobody gets": (lambda np: raising(4.0), X),
    "lists": (lambda np: lambda x: sum([x * k for k in range(3)]) + max([x, 0.5]), X), "generator inside": (lambda np: lambda x: sum(x**k for k in (1, 2)), X),
    "chained": (lambda np: lambda x: -1 if x < -1 else 0 if x < 0 else 1 if x < 1 else 2, X), "is None": (lambda np: optional, X),
    "unpacked": (lambda np: lambda x: (lambda *a: a[0] - a[1])(*[x, 2]), X), "array read": (lambda np: reading(np.array([0.5, 2.0])), X),
    "extremes": (lambda np: lambda x: x + 1e308 * 10, X), 
}  # fmt: skip


def raising(limit):
    def f(x):
        if x > limit:
            raise ValueError("too large")
        return x + 1

    return f


def reading(table):
    return lambda x: table[0] * x + table[-1]


def optional(x, y=None):
    return x if y is None else y


@pytest.mark.parametrize("name", TRACED)
def test_traced(reasons, name):
    make, *args = TRACED[name]
    check(make, args)
    assert reasons == []


@pytest.mark.parametrize("name", [n for n in TRACED if TRACED[n][1] is X])
def test_otypes(reasons, name):
    make, *args = TRACED[name]
    if name not in ("two results", "odd division"):
        for otypes in "d", "f", "l", "?":
            check(make, args, otypes=otypes)


def count(np):
    def f(x):
        seen.append(1)
        return x

    seen = []
    return f


def nonlocal_count(np):
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return x * n

    return f


calls = 0


def global_count(x):
    global calls
    calls += 1
    return calls * 1.0


def handled(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        return 0.0


def loop_of_data(n):
    k = 0
    while n != 1 and k < 100:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        k += 1
    return k


def stores(np):
    box = [0.0]

    def f(x):
        box[0] += x
        return box[0]

    return f


def default(np):
    def f(x, seen=[]):  # noqa: B006
        seen.append(x)
        return float(len(seen))

    return f


def factorial(n):
    return 1 if n <= 0 else n * factorial(n - 1)


NUMPYS = {
    "large": (lambda np: lambda x: x * 1e308, X * 10),
    "nan in max": (lambda np: lambda x: max(x, 1.0) + min(0.0, x), ODD),
    "nan": (lambda np: lambda x: x if x > 0 else x * 2, ODD),
    "captured list": (count, X), "nonlocal": (nonlocal_count, X), "item": (stores, X), "default": (default, X), "try": (lambda np: handled, X),
    "data loop": (lambda np: loop_of_data, M), "recursion": (lambda np: factorial, M), "large ints": (lambda np: lambda n: n * n, N * 10**10),
    "int overflow": (lambda np: lambda n: n + 2**62, numpy.array([1, 2**62])), "uint64": (lambda np: lambda n: n + 1, numpy.array([2**64 - 1], "u8")),
    "zero": (lambda np: lambda x: 1.0 / x, X), "int zero": (lambda np: lambda n: 5 // n, N), "int mod zero": (lambda np: lambda n: 5 % n, N),
    "float mod zero": (lambda np: lambda x: 5.0 % x, X), "sqrt": (lambda np: math.sqrt, X), "log": (lambda np: math.log, X),
    "exp": (lambda np: math.exp, X * 1000), "sin": (lambda np: math.sin, ODD), "complex root": (lambda np: lambda x: x**0.5, X),
    "infinite root": (lambda np: lambda x: x**0.5, ODD), "overflow": (lambda np: lambda x: x**2, X * 1e200), "pole": (lambda np: lambda x: x**-1, X),
    "math.pow": (lambda np: lambda x: math.pow(x, 0.3), X), "int of nan": (lambda np: int, ODD[:2]), "int of inf": (lambda np: int, ODD[[0, 2]]),
    "round of nan": (lambda np: round, ODD[:2]), "numpy's sqrt": (lambda np: lambda x: np.sqrt(x), X), "numpy's log": (lambda np: lambda x: np.log(x), X),
    "numpy's division": (lambda np: lambda x: np.exp(x) / (np.exp(x) - 1), X), "numpy's overflow": (lambda np: lambda x: np.exp(x) * 1e308, P * 9),
    "raises": (lambda np: raising(1.0), X), "complex": (lambda np: lambda x: x * 1j, X), "complex input": (lambda np: lambda z: z * 2, X * 1j),
    "text": (lambda np: str, X), "f-string": (lambda np: lambda x: f"{x:.1f}", X), "type": (lambda np: lambda x: isinstance(x, float), X),
    "none": (lambda np: lambda x: None, X), "lengths": (lambda np: lambda x: (x, x) if x > 0 else (x, x, x), X), "tuple": (lambda np: lambda x: (x,), X),
    "object": (lambda np: lambda x: x, X.astype(object)), "list": (lambda np: lambda x: x * 2, [1, 2.5, 3]), "empty": (lambda np: lambda x: x, X[:0]),
    "shapes": (lambda np: lambda x, y: x + y, X[:3], X[:4]), "arguments": (lambda np: lambda x: x, X, X), "first nan as int": (lambda np: lambda x: 1 if x == 0.5 else math.nan, X),
    "random": (lambda np: lambda x: x + 0 * threading.get_ident(), X), "dict": (lambda np: lambda x: {0.5: 1.0}.get(x, 2.0), X),
    "index": (lambda np: lambda n: (1.0, 2.0, 3.0)[n % 3], N), "method": (lambda np: lambda x: x.is_integer(), P * 2), "digits": (lambda np: lambda x: round(x, 1), X),
    "large float of int": (lambda np: lambda n: n + 0.5, numpy.array([2**60 + 1, 2**53 + 1])), "range": (lambda np: lambda n: sum(range(n)), M),
    "float32 overflow": (lambda np: lambda x: x * 1e200, X.astype("f4")), "no arguments": (lambda np: lambda: 1,),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMPYS)
def test_numpys(reasons, name):
    make, *args = NUMPYS[name]
    check(make, args)
    assert len(reasons) == 1 and reasons[0].startswith("vectorize: ")
    for otypes in "d", "O":
        check(make, args, otypes=otypes)
    check(make, args, cache=True)


@pytest.mark.parametrize("data", [X / 4, ODD, ODD[[0, 1, 4]], ODD[[0, 2, 5]], N], ids=["finite", "odd", "nan", "infinite", "int"])
@pytest.mark.parametrize("name", sorted({*_values.REAL, *_values.TESTS, *_pure._MATH} - {"pi", "e", "tau", "inf", "nan"}))
def test_functions(reasons, name, data):
    for module in (module for module in ("math", "np") if hasattr(math if module == "math" else numpy, name)):
        two = name in ("arctan2", "atan2", "hypot", "fmod", "copysign", "pow")
        made = getattr(math if module == "math" else numpy, name)
        check(lambda np: made, [data, 0.75] if two else [data])
        check(lambda np: (lambda x: (made(x, 0.75) if two else made(x)) if x > 0.5 else x), [data])


def test_calls_are_counted():
    """A function that writes to a global is called as often as NumPy calls it."""
    global calls
    found = []
    for np in numpy, plait:
        calls = 0
        np.vectorize(global_count)(np.ones(5000))
        found.append(calls)
        calls = 0
        np.vectorize(global_count, cache=True, otypes="d")(np.ones(5000))
        found.append(calls)
    assert found == [5001, 5000] * 2


def test_excluded_and_keywords(reasons):
    for kwargs in {"scale": X}, {"shift": 1.5}, {"scale": 3.0, "shift": X}:
        check(lambda np: keywords, [X], kwargs)
    check(lambda np: lambda p, x: p[0] + x * p[1] if x > 0 else p[2], [[0.5, 2.0, 3.0], X], excluded={0})
    check(lambda np: lambda p, x: p[0] + x * p[1], [numpy.array([0.5, 2.0]), X], excluded={0})
    check(lambda np: lambda x, n: sum(x**k for k in range(n)), [X], {"n": 3}, excluded={"n"})
    assert reasons == []
    check(lambda np: lambda x, n: x * n["a"], [X], {"n": {"a": 2}}, excluded={"n"})
    check(lambda np: lambda x, y: np.sum(x * y), [X.reshape(50, 100), X[:100]], signature="(n),(n)->()")
    assert len(reasons) == 2


def test_results_are_arrays_of_their_own():
    x, y = numpy.arange(4200.0).reshape(70, 60), numpy.arange(60)
    turned = x.T.copy().T
    for given in (x,), (turned,), (turned, y), (turned, x), (x, turned), (x.reshape(7, 10, 60)[:, ::-1],), (numpy.broadcast_to(y, (100, 60)), x[:1]):
        for function in (lambda *a: 0.5), (lambda *a: a[0]), (lambda *a: a[-1] + 1), (lambda *a: (a[0], a[0])), (lambda *a: a[0] + a[-1]):
            want = numpy.vectorize(function)(*given)
            ours = [plait.asarray(a) for a in given]
            got = plait.vectorize(function)(*ours)
            want, got = (list(r) if isinstance(r, tuple) else [r] for r in (want, got))
            for w, g in zip(want, got, strict=True):
                assert (g.dtype, g.strides) == (w.dtype, w.strides) and numpy.array_equal(w, g)
                assert not any(plait.may_share_memory(g, other) for other in [*ours, *(r for r in got if r is not g)])
                assert len({id(r) for r in got}) == len(got)


def test_decorator_doc_and_otypes(reasons):
    @plait.vectorize(otypes=["f8"], doc="its text")
    def double(x):
        return 2 * x

    numpy.testing.assert_array_equal(double(plait.array(N)), 2.0 * N)
    assert double.__doc__ == "its text" and double.__name__ == "double" and reasons == []
    assert double(plait.array(N[:0])).dtype == numpy.float64
    assert plait.vectorize(keywords).__doc__ is None and type(double.pyfunc(2)) is int


def test_error_state(reasons):
    for state in {"all": "ignore"}, {"invalid": "raise"}, {"divide": "raise"}:
        with numpy.errstate(**state), plait.errstate(**state):
            check(lambda np: lambda x: np.log(x) + np.sqrt(x) ** 0.5, [X])
            check(lambda np: lambda x: 1.0 / x, [X])


def test_in_jit(reasons):
    def step(x, y):
        def f(a, b):
            return numpy.exp(a) if a > b else max(b, 0.5)

        return numpy.vectorize(f)(x, y * 2.0)

    ours, theirs = plait.jit(step)(X, X[::-1]), step(X, X[::-1])
    assert type(ours) is numpy.ndarray and reasons == []
    numpy.testing.assert_allclose(ours, theirs, rtol=4e-15)


def test_one_pass():
    """The results, and whether an element raises, are computed together; nothing in between is stored."""
    x = plait.array(numpy.tile(P, 40))
    said = str(plait.explain(lambda: plait.vectorize(lambda v: math.sqrt(v) / v if v > 1 else math.log(v) - 1 / v, otypes="d")(x)))
    assert said.startswith("2 regions"), said  # the second is of a byte for each element


def test_few_elements_are_numpys():
    seen = []

    def f(x):
        seen.append(x)
        return x + 1

    assert plait.vectorize(f)(plait.array([1.0, 2.0])).tolist() == [2.0, 3.0] and len(seen) == 3
