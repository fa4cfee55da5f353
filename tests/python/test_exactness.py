"""Details that the fuzzer found: strides, errors and NaN as NumPy has them."""

import warnings

import numpy
import pytest
from support import both, same

import plait

INF, NAN = numpy.inf, numpy.nan


@pytest.mark.parametrize("dtype", ["f8", "f2", "i4", "D", "?"])
def test_an_array_in_place_of_an_element_raises_what_numpy_raises(dtype):
    def error(np):
        a = np.zeros(3, dtype)
        with pytest.raises((TypeError, ValueError)) as e:
            a[0] = np.zeros(77)
        return type(e.value), str(e.value)

    assert error(plait) == error(numpy)


def test_read_only_comes_before_a_bad_index():
    a = plait.broadcast_to(plait.arange(3), (2, 3))
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        a[0, 0, 0] = 1


def test_argmax_stays_at_the_first_complex_nan():
    a = numpy.array([[2.7 - 7j] * 3, [complex(1.75, numpy.nan)] * 3, [2.75 - 0.25j] * 3])
    for name in ("argmax", "argmin"):
        assert getattr(plait, name)(plait.asarray(a) + 0, axis=0).tolist() == [1, 1, 1]


@pytest.mark.parametrize("a, b", [
    ((2, 2), "f"), ((5, 5, 3, 2), "f"), ((5, 1, 3, 2), "t"), ((2,), "t"), ((5, 5, 2, 2), "t"),
])
def test_batches_of_matmul_lie_as_their_operands(a, b):
    def run(np):
        x = np.arange(float(numpy.prod(a))).reshape(a)
        y = np.arange(150.0).reshape(5, 5, 2, 3)
        y = np.array(y, order="F") if b == "f" else y.transpose(1, 0, 2, 3)
        z = np.matmul(x, y)
        return z, z.strides

    (got, got_strides), (want, want_strides) = run(plait), run(numpy)
    same(got, want)
    assert got_strides == want_strides


def test_dot_is_in_c_order():
    x = plait.ones((4, 5, 2, 3)).transpose(1, 0, 2, 3)
    assert plait.dot(x, plait.ones((3, 2))).strides == (128, 32, 16, 8)


@pytest.mark.parametrize("call", [
    lambda np: np.zeros((4, 0, 3)),
    lambda np: np.zeros((4, 0, 3)).T.sum(-1),
    lambda np: np.zeros((4, 0, 3)).transpose(2, 0, 1).sum(-1, keepdims=True),
    lambda np: np.zeros((3, 0)).reshape(0, 5),
    lambda np: np.atleast_2d(np.arange(12.0)),
    lambda np: np.atleast_3d(np.arange(12.0)),
    lambda np: np.atleast_3d(np.ones((2, 3)).T),
])
def test_strides_of_empty_arrays_and_new_axes(call):
    assert call(plait).strides == call(numpy).strides


def test_only_exponents_that_are_used_may_not_be_negative():
    assert (plait.zeros((0, 3), "i4") ** -1).shape == (0, 3)
    base, exponent, mask = plait.array([2, 3]), plait.array([-1, 2]), plait.array([False, True])
    assert plait.power(base, exponent, where=mask, out=plait.zeros(2, int)).tolist() == [0, 9]
    with pytest.raises(ValueError, match="negative integer powers"):
        plait.power(base, -1, where=mask)
    assert plait.power(base, -1, where=plait.zeros(2, bool), out=plait.ones(2, int)).tolist() == [1, 1]


def test_reciprocals_of_complex_numbers_keep_their_signs():
    # NumPy takes x ** -1 to reciprocal, x ** -1.0 to power: the zeros differ.
    for exponent in (-1, -1.0):
        ours, theirs = plait.array([1e30 + 0j, 2 - 0j]) ** exponent, numpy.array([1e30 + 0j, 2 - 0j]) ** exponent
        assert str(numpy.asarray(ours)) == str(theirs)


def test_sums_over_no_axes_start_from_zero():
    for value, axis in ((-0.0, None), ([-0.0], ()), ([-0.0 + 0j], ())):
        ours, theirs = plait.asarray(value).sum(axis=axis), numpy.asarray(value).sum(axis=axis)
        assert str(numpy.asarray(ours)) == str(numpy.asarray(theirs))


@pytest.mark.parametrize("axis", [-1, 0, None])
def test_sums_of_roots_start_from_zero(run_python, axis):
    # The root of -0.0 is -0.0: a sum of roots is no sum of what is known to have no sign.
    source = f"""
import numpy, plait
x = -numpy.zeros((1, 1) if {axis} is None else (300, 1) if {axis} else (1, 300))
y = plait.asarray(x)
for np, z in (numpy, x), (plait, y):
    print(bool(np.signbit(np.sum(np.sqrt(z * 3.0), axis={axis})).any()))
"""
    for jit in "off", "blocking":
        assert run_python(source, env={"PLAIT_JIT": jit, "PLAIT_EAGER_LIMIT": "0"}).stdout.split() == ["False", "False"]


@pytest.mark.parametrize("exponent", [2, 1, 0.5, -1, 3])
def test_in_place_powers_take_the_ufunc_of_the_operator(exponent):
    values = [-numpy.inf, -0.0, 4.0]
    with numpy.errstate(all="ignore"), plait.errstate(all="ignore"):
        ours, theirs = plait.asarray(values), numpy.asarray(values)
        ours **= exponent
        theirs **= exponent
        numpy.testing.assert_array_equal(numpy.asarray(ours), theirs)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i8", "c16"])
def test_a_product_with_a_scalar_lies_as_numpys(dtype):
    a = numpy.ones((7, 2), dtype, order="F")
    for name in ("dot", "inner"):
        ours = getattr(plait, name)(plait.asarray(a), plait.asarray(numpy.array(2, dtype)))
        assert ours.strides == getattr(numpy, name)(a, numpy.array(2, dtype)).strides


def test_neighbours_of_equal_numbers():
    """NumPy before 2.5 gives the first of two equal halves, all give the second of wider numbers: the sign of zero tells."""
    for code in "efd" if numpy.lib.NumpyVersion(numpy.__version__) < "2.5.0" else "fd":
        a, b = numpy.array([0.0, -0.0, 1.0], code), numpy.array([-0.0, 0.0, 1.0], code)
        assert numpy.array_equal(numpy.signbit(numpy.nextafter(a, b)), numpy.asarray(plait.signbit(plait.nextafter(plait.array(a), plait.array(b)))))


def test_farthest_of_few(run_python):
    # Lanes and registers that no element reaches start from a value whose root is taken, too.
    source = """
import numpy, plait
for n in (1, 5, 17, 33, 70, 300):
    for nan in (False, True):
        rng = numpy.random.default_rng(n)
        points, means = rng.standard_normal((9, 1)).astype("f4"), rng.standard_normal((n, 1)).astype("f4")
        if nan:
            means[n // 2] = numpy.nan
        for pick in ("argmax", "argmin"):
            a, b = (getattr(np, pick)(np.linalg.norm(np.array(points)[::2] - np.array(means)[:, None], axis=2), axis=0) for np in (numpy, plait))
            assert a.tolist() == b.tolist(), (n, nan, pick, a, b)
print("same")
"""
    assert run_python(source, env={"PLAIT_JIT": "blocking", "PLAIT_EAGER_LIMIT": "0"}).stdout.split() == ["same"]


@pytest.mark.parametrize("axis", [(), (3,), (0, 2)])
@pytest.mark.parametrize("name", ["sum", "prod", "max"])
def test_strides_of_folded_halves(name, axis):
    def run(np):
        a = np.ones((5, 2, 1, 2), "f2").T
        return getattr(a, name)(axis=axis).strides, getattr(a, name)(axis=axis, keepdims=True).strides

    assert run(plait) == run(numpy)


@pytest.mark.parametrize("first", [(3,), (4, 3), (4, 1), (1, 3), (2, 4, 3), (2, 1, 1), (1, 1), (0, 3), ()])
@pytest.mark.parametrize("second", [(3,), (4, 3), (4, 1), (1, 3), (2, 1, 3), (1, 1, 1), (1,)])
def test_strides_of_what_broadcasts(first, second):
    def run(np, turn_first, turn_second):
        a, b = np.ones(first), np.ones(second)
        z = (a.T if turn_first else a) < (b.T if turn_second else b)
        return z.shape, z.strides

    for turns in [(False, False), (True, False), (False, True)]:
        try:
            want = run(numpy, *turns)
        except ValueError:
            with pytest.raises(ValueError):
                run(plait, *turns)
        else:
            assert run(plait, *turns) == want


@pytest.mark.parametrize("n", [3, 5, 5000])
@pytest.mark.parametrize("call", [
    lambda np, n: np.full(n, 60000, "f2") * 2,
    lambda np, n: np.square(np.full(n, 60000, "f2")[::-1]),
    lambda np, n: np.full(n, 1e30).astype("f2"),
    lambda np, n: np.full(n, 65504, "f2") - np.full(n, -65504, "f2"),
    lambda np, n: np.spacing(np.full(n, 65504, "f2")),
    lambda np, n: np.full(n, -128, "i1") // np.int8(-1),
    lambda np, n: np.full(n, -(2**63)) // -1,
])
def test_overflow_of_what_is_computed_with_integers_is_reported(call, n):
    with pytest.warns(RuntimeWarning) as theirs:
        call(numpy, n)
    with pytest.warns(RuntimeWarning) as ours:
        numpy.asarray(call(plait, n))
    assert [str(w.message) for w in ours] == [str(w.message) for w in theirs]
    with plait.errstate(over="raise"), pytest.raises(FloatingPointError):
        numpy.asarray(call(plait, n))


@pytest.mark.parametrize("dtype", ["F", "D"])
@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.skipif(not numpy._core._multiarray_umath.__cpu_features__["FMA3"], reason="NumPy's formula rounds otherwise")
def test_absolute_values_of_complex_numbers_have_numpys_bits(dtype, fused):
    rng = numpy.random.default_rng(3)
    parts = rng.normal(size=(2, 30_001)) * 10.0 ** rng.integers(-12, 12, size=(2, 30_001))
    parts[:, :49] = numpy.array(numpy.meshgrid(*[[0, -0.0, 1, numpy.inf, -numpy.inf, numpy.nan, 1e38]] * 2)).reshape(2, 49)
    z = (parts[0] + 1j * parts[1]).astype(dtype)
    for x in (z, z[::3], z[:7]):
        want = numpy.abs(x) * 1
        got = plait.abs(plait.asarray(x)[...] if not fused else plait.asarray(x) + 0)
        same(got * 1, numpy.abs(x + 0) * 1 if fused else want)


@pytest.mark.parametrize("dtype", ["F", "D"])
@pytest.mark.skipif(not numpy._core._multiarray_umath.__cpu_features__["FMA3"], reason="NumPy's formula rounds otherwise")
def test_products_of_complex_numbers_have_numpys_bits(dtype):
    rng = numpy.random.default_rng(4)
    a, b = ((rng.normal(size=20_001) + 1j * rng.normal(size=20_001)).astype(dtype) for _ in "ab")
    for x, y in ((a, b), (a[:3], b[:3]), (a[::3], b[::3]), (a, b[7]), (a[:1], b[:1])):
        p, q = plait.asarray(x), plait.asarray(y)
        same(p * q, x * y)
        same(q * p, y * x)
        same(plait.square(p), numpy.square(x))
        same(plait.abs(p * q - p * p), numpy.abs(x * y - x * x))
    same(plait.prod(plait.asarray(a[:90]).reshape(9, 10), axis=1), numpy.prod(a[:90].reshape(9, 10), axis=1))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("exponent", [3, 4, 5, -3, 1.7])
def test_powers_of_negative_numbers(dtype, exponent):
    x = numpy.concatenate([numpy.random.default_rng(1).normal(size=40_000), [0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, -1, 1e300, -1e-300]])
    with numpy.errstate(all="ignore"), plait.errstate(all="ignore"):
        x = x.astype(dtype)
        want, got = x ** exponent, numpy.asarray(plait.asarray(x) ** exponent)
    assert got.dtype == want.dtype and numpy.array_equal(numpy.signbit(got), numpy.signbit(want)) or exponent == 1.7
    numpy.testing.assert_array_max_ulp(got[~numpy.isnan(want)], want[~numpy.isnan(want)], 2)
    assert numpy.isnan(got[numpy.isnan(want)]).all()


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("op", [numpy.floor_divide, numpy.remainder, numpy.fmod])
def test_integers_by_one_divisor(dtype, op):
    rng, ours = numpy.random.default_rng(2), getattr(plait, op.__name__)
    low, high = numpy.iinfo(dtype).min, numpy.iinfo(dtype).max
    x = numpy.concatenate([rng.integers(low, high, 500, dtype, endpoint=True), numpy.array([low, low + 1, high - 1, high, 0, 1], dtype)])
    for by in (1, 2, 3, 7, 10, 100, high, high - 1, *((-2, -3, -7, low, low + 1) if low else ())):
        for a in (x, x[::-2], x[3:40]):
            same(ours(plait.asarray(a), numpy.dtype(dtype).type(by)), op(a, numpy.dtype(dtype).type(by)))


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f4", "f8", "f2", "D"])
def test_extrema_along_every_axis(dtype):
    rng = numpy.random.default_rng(5)
    for shape in ((300, 7), (7, 300), (40, 3), (3, 40), (5, 6, 70), (33, 1)):
        x = rng.integers(0, 40, shape).astype(dtype)
        if numpy.dtype(dtype).kind in "fc":
            x.flat[::17] = numpy.nan
        for a in (x, x.T, x[::-1], x[..., ::2]):
            for axis in (None, *range(a.ndim)):
                for name in ("argmin", "argmax"):
                    same(getattr(plait.asarray(a), name)(axis), getattr(a, name)(axis))


def test_tails_of_the_float32_exponential():
    x = numpy.concatenate([numpy.linspace(-110, -80, 5001), numpy.linspace(80, 95, 501), [-INF, INF, NAN, -3e38, 3e38]]).astype("f4")
    with numpy.errstate(all="ignore"), plait.errstate(all="ignore"):
        want = numpy.exp(x.astype("f8")).astype("f4")
        got = numpy.asarray(plait.exp(plait.asarray(x)))
    numpy.testing.assert_array_max_ulp(got[~numpy.isnan(want)], want[~numpy.isnan(want)], 1)
    assert numpy.isnan(got[numpy.isnan(want)]).all()
    for value in (-200, 200, -100, -INF, INF, NAN):
        seen = []
        for np in (numpy, plait):
            with warnings.catch_warnings(record=True) as w, np.errstate(all="warn"):
                warnings.simplefilter("always")
                numpy.asarray(np.exp(np.full(3000, value, "f4")))
            seen.append([str(m.message) for m in w])
        assert seen[0] == seen[1], value


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("value", [NAN, INF, -INF, 1.0, 1e-40])
def test_spacing_raises_no_flag(dtype, value):
    with warnings.catch_warnings(), plait.errstate(invalid="warn", over="warn", divide="warn"):
        warnings.simplefilter("error")
        x = numpy.full(40, value, dtype)
        numpy.testing.assert_array_equal(numpy.asarray(plait.spacing(plait.asarray(x))), numpy.spacing(x))


@pytest.mark.parametrize("code", ["e", "f", "d"])
@pytest.mark.parametrize("decimals", [-320, -24, -3, -1, 1, 2, 5, 9, 10, 23, 308, 400, 10**30])
def test_rounds_to_decimals(code, decimals):
    rng = numpy.random.default_rng(5)
    x = numpy.concatenate([rng.normal(size=300) * 10.0 ** rng.integers(-9, 9, 300), numpy.arange(-40, 40) / 8,
                           [0.0, -0.0, numpy.nan, numpy.inf, -numpy.inf, 1e-45, 6e4, 3e38, 1.7e308]])  # fmt: skip
    with numpy.errstate(all="ignore"):
        x = x.astype(code)[:380].reshape(4, 5, 19)
    for view in (lambda a: a, lambda a: a.T, lambda a: a.transpose(1, 0, 2), lambda a: a[:, 1::2], lambda a: a[1, 2, 3:4]):
        for f in (lambda np, a: np.round(view(a), decimals), lambda np, a: view(a).round(decimals), lambda np, a: np.round(view(a), decimals).strides):
            both(f, x)


def test_what_overflows_while_it_is_rounded_warns():
    for np in (numpy, plait):
        with pytest.warns(RuntimeWarning, match="overflow encountered in multiply"):
            float(np.round(np.array([1e308, 1.0]), 2)[0])


def test_signs_of_float16_in_machine_code(run_python):
    source = """
import numpy, plait
x = (numpy.arange(-40, 40) / 8).astype("f2")
for f in "absolute", "fabs", "negative":
    print(numpy.array_equal(numpy.asarray(getattr(plait, f)(plait.asarray(x))), getattr(numpy, f)(x)))
"""
    assert run_python(source, env={"PLAIT_JIT": "blocking", "PLAIT_PLAN": "always", "PLAIT_EAGER_LIMIT": "0"}).stdout.split() == ["True"] * 3
