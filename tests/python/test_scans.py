"""Scans against NumPy: values bit for bit, dtypes, strides, warnings, errors."""

import warnings

import numpy
import pytest
from support import NATIVE, both, host, same, sample

import plait

UFUNCS = """add subtract multiply divide floor_divide remainder fmod power arctan2 hypot logaddexp equal less logical_and logical_or
logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm maximum minimum fmax fmin copysign nextafter heaviside
float_power""".split()


def bits(x):
    x = numpy.ascontiguousarray(host(x))
    return x.dtype, x.shape, x.tobytes()


# Within 1 ulp of NumPy's a step.
ROUNDED = {"power", "arctan2", "hypot", "logaddexp", "float_power"}


def scanned(f, a, name=""):
    """f(module, array) of both: same dtype, shape, strides and bits, or the same error."""
    both(f, a, rtol=(1e-2 if a.dtype.itemsize < 4 else 1e-5 if a.dtype.itemsize < 8 else 1e-13) if name in ROUNDED else 0.0)
    with numpy.errstate(all="ignore"):
        try:
            theirs = f(numpy, numpy.array(a, copy=True))
        except Exception:
            return
        ours = f(plait, plait.array(a, copy=True))
        assert ours.strides == theirs.strides
        if name not in ROUNDED and (a.dtype.kind not in "fc" or not numpy.isnan(theirs).any()):
            assert bits(ours) == bits(theirs)


def layouts(a):
    yield a
    yield a.T
    yield numpy.asfortranarray(a)
    yield a[::-1, ::2]
    yield numpy.broadcast_to(a[:1], a.shape)
    yield a[:0]
    yield a[:, :0]
    yield a.astype(a.dtype.newbyteorder())


@pytest.mark.parametrize("code", NATIVE)
@pytest.mark.parametrize("name", UFUNCS)
def test_accumulate_of_every_dtype(name, code):
    a = sample(code)
    for axis in (0, -1):
        scanned(lambda np, x: getattr(np, name).accumulate(x, axis), a, name)


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "subtract", "logical_and", "hypot"])
def test_accumulate_of_every_layout(name):
    rng = numpy.random.default_rng(0)
    for shape in [(7, 9), (1, 5), (40, 33)]:
        for a in layouts(rng.standard_normal(shape)):
            for axis in (0, 1):
                scanned(lambda np, x: getattr(np, name).accumulate(x, axis), a, name)
    for a in (rng.standard_normal((3, 5, 4)), rng.integers(-9, 9, (3, 5, 4)).transpose(1, 0, 2), numpy.array(3.0)):
        for axis in (0, 1, 2, -1, 3):
            scanned(lambda np, x: getattr(np, name).accumulate(x, axis), a, name)


@pytest.mark.parametrize("name", ["add", "minimum", "arctan2"])
def test_large_lanes_and_long_axes(name):
    rng = numpy.random.default_rng(1)
    for shape, axis in [((300000,), 0), ((3, 100001), 1), ((100001, 3), 0), ((2, 40000), 0), ((50, 3000), 0), ((3000, 50), 1), ((20, 30, 40), 1)]:
        scanned(lambda np, x: getattr(np, name).accumulate(x, axis), rng.standard_normal(shape).astype("f4"), name)


@pytest.mark.parametrize("special", [[0.0, -0.0, 0.0], [-0.0, 0.0], [1, numpy.nan, 2, numpy.inf], [numpy.inf, -numpy.inf, 1], [-0.0, -0.0]])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum"])
def test_special_values(name, special):
    for t in ("f2", "f4", "f8"):
        a = numpy.array(special, t)
        scanned(lambda np, x: getattr(np, name).accumulate(x), a)
        scanned(lambda np, x: getattr(np, name).accumulate(x, 0), numpy.stack([a] * 5, 1))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_functions_and_methods(name):
    for code in NATIVE:
        for axis in (None, 0, 1, -1, 2):
            scanned(lambda np, x: getattr(np, name)(x, axis), sample(code))
            scanned(lambda np, x: getattr(x, name)(axis), sample(code))
    for a in (numpy.array(5), numpy.zeros((0, 3)), numpy.zeros(()), numpy.ones((2, 3), "i1")):
        scanned(lambda np, x: getattr(np, name)(x), a)
    both(lambda np: getattr(np, name)([1, 2, 3]))
    both(lambda np: getattr(np, name)([[1.5, 2], [3, 4]], 1))
    both(lambda np: getattr(np, name)(7))
    both(lambda np, x: getattr(np, name)(x, axis=(0,)), sample("d"))
    both(lambda np, x: getattr(np, name)(x, axis=1.0), sample("d"))
    both(lambda np, x: getattr(np, name)(x, True), sample("d"))


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "f2", "f4", "D", "O", "M8[s]", "nonsense"])
def test_dtype(dtype):
    for code in "?bHldF":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            both(lambda np, x: np.cumsum(x, 0, dtype=dtype), sample(code))
            both(lambda np, x: np.maximum.accumulate(x, 0, dtype=dtype), sample(code))


@pytest.mark.parametrize("out", ["f8", "f4", "i8", "D"])
def test_out(out):
    def f(np, x):
        to = np.zeros(x.shape, out)
        made = np.cumsum(x, 0, out=to)
        assert made is to
        return to

    def wrong(np, x):
        return np.add.accumulate(x, 0, None, np.zeros((2, 2)))

    for code in "bld":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            both(f, sample(code))
            both(wrong, sample(code))


def test_out_that_it_reads():
    def into_itself(np, x):
        np.cumsum(x, 0, out=x)
        return x

    def shifted(np, x):
        np.add.accumulate(x[:-1], 0, out=x[1:])
        return x

    for f in (into_itself, shifted):
        both(f, numpy.arange(24.0).reshape(6, 4))


def test_read_only_out():
    def f(np, x):
        to = np.zeros(x.shape)
        to.flags.writeable = False
        return np.cumsum(x, 0, out=to)

    both(f, sample("d"))


def test_warnings_name_accumulate():
    for np in (numpy, plait):
        a = np.full(4000, 1e308)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            float(np.cumsum(a)[-1])
        assert [str(w.message) for w in seen] == ["overflow encountered in accumulate"]
        with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow encountered in accumulate"):
            np.cumsum(a)


def test_nothing_falls_back():
    a = plait.arange(20000.0).reshape(100, 200)

    def scans(np, a):
        c = np.cumsum(np.sqrt(a), axis=1)
        d = (c[:, 5:] - c[:, :-5]) / 5
        float(d.sum()), float(np.maximum.accumulate(a, 0).sum()), a.cumprod(0).shape
        np.nancumsum(a), np.nancumprod(a, 1), np.cumulative_sum(a, axis=0, include_initial=True), np.cumulative_prod(a[0])
        np.gradient(a), np.gradient(a, 2.0, axis=0, edge_order=2), np.trapezoid(a, axis=0), np.unwrap(a), np.ediff1d(a)
        return np.add.reduceat(a, [0, 7, 3], axis=1)

    assert "; 0 fallbacks;" in plait.explain(scans, plait, a)


def test_a_moving_average():
    x = numpy.random.default_rng(0).standard_normal(100000)

    def average(np, x, w=10):
        c = np.cumsum(x)
        return (c[w:] - c[:-w]) / w

    both(average, x)


def test_a_call_by_name():
    a = sample("d")
    same(plait._plait.call("accumulate", (plait.array(a),), (1,), "add", "K"), numpy.cumsum(a, 1))
    with pytest.raises(ValueError, match="there is no call"):
        plait._plait.call("nonsense", (plait.array(a),))
    with pytest.raises(ValueError, match="takes 1 to 1 arrays, got 2"):
        plait._plait.call("frexp", (plait.array(a), plait.array(a)))


@pytest.mark.parametrize("name", ["frexp", "modf"])
def test_several_results(name):
    f = getattr(numpy, name)
    for code in "efd":
        for a in (sample(code), numpy.array([0.0, -0.0, 1e-45, -7.5, 2.0**-1074, numpy.inf], "d").astype(code), sample(code)[:0]):
            same(plait._plait.call(name, (plait.array(a),)), f(a))
    with pytest.raises(TypeError):
        plait._plait.call(name, (plait.arange(3),))


def test_results_that_are_written_to_and_dropped():
    x = numpy.linspace(-9, 9, 5000)
    m, e = plait._plait.call("frexp", (plait.array(x) * 3,))
    theirs = numpy.frexp(x * 3)
    m[1:] += 1
    del x
    numpy.testing.assert_array_equal(host(e), theirs[1])
    view = numpy.asarray(e)
    del e
    assert host(m)[1] == theirs[0][1] + 1 and view[7] == theirs[1][7]


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "fmax", "logical_or", "logical_and", "bitwise_xor", "subtract"])
def test_reduceat(name):
    for code in NATIVE:
        for axis in (0, 1, -1, 2):
            for at in ([0, 2], [1], [2, 0, 1, 1], [0, 5], [-1], [], [[0]], [1.0], numpy.array([1, 0], "i2")):
                both(lambda np, x: getattr(np, name).reduceat(x, at, axis), sample(code))
    for a in layouts(numpy.random.default_rng(0).standard_normal((7, 9))):
        scanned(lambda np, x: getattr(np, name).reduceat(x, [0, 4, 2], axis=0), a)
        scanned(lambda np, x: getattr(np, name).reduceat(x, [0, 4, 2], axis=1), a)
    a = numpy.random.default_rng(0).standard_normal((4, 3, 5)).transpose(1, 0, 2)
    for axis in range(3):
        scanned(lambda np, x: getattr(np, name).reduceat(x, [0, 2, 1], axis), a)
    scanned(lambda np, x: np.add.reduceat(x, [0, 1000, 1010, 70000, 5]), numpy.random.default_rng(1).standard_normal(100000))


def test_reduceat_folds_columns_by_rows_to_the_same_bits():
    """Pairwise trees of every shape, in columns that do and do not fill a block."""
    rng = numpy.random.default_rng(2)
    at = [0, 2, 9, 17, 26, 33, 97, 226, 355, 360, 359, 700, 1750, 1751, 0]
    for dtype in ("f8", "f4", "c16", "c8", "i8", "?"):
        a = (rng.standard_normal((2000, 150)) * 100).astype(dtype)
        if dtype == "c16":
            a.imag = rng.standard_normal(a.shape)
        for x in (a, a[:, ::2], a[::-1, 3:], a[:, :1], a[None].repeat(2, 0)):
            for name in ("add", "multiply", "maximum", "fmin", "logical_and"):
                both(lambda np, x: getattr(np, name).reduceat(x, at, -2), x)
    zeros = rng.choice([0.0, -0.0], (40, 33))
    assert bits(plait.add.reduceat(plait.asarray(zeros), [0, 3, 20], 0)) == bits(numpy.add.reduceat(zeros, [0, 3, 20], 0))


@pytest.mark.parametrize("name", ["nancumsum", "nancumprod", "cumulative_sum", "cumulative_prod"])
def test_functions_of_scans(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in NATIVE:
            for axis in (None, 0, -1, 3):
                scanned(lambda np, x: getattr(np, name)(x, axis=axis), sample(code))
        scanned(lambda np, x: getattr(np, name)(x, axis=0, dtype="f4"), numpy.array([[1, numpy.nan], [numpy.nan, 2]]))
        scanned(lambda np, x: getattr(np, name)(x), numpy.array(numpy.nan))
        both(lambda np: getattr(np, name)([1.0, numpy.nan]))
    if name.startswith("cumulative"):
        for code in "?bldF":
            scanned(lambda np, x: getattr(np, name)(x, axis=1, include_initial=True), sample(code))
        scanned(lambda np, x: getattr(np, name)(x, include_initial=True), numpy.arange(3))
        both(lambda np, x: getattr(np, name)(x, axis=1, out=np.zeros((3, 5)), include_initial=True), sample("d"))


@pytest.mark.parametrize("code", NATIVE)
def test_differences(code):
    a = sample(code)
    x = numpy.array([0.0, 1.5, 2, 4])
    calls = [
        lambda np, a: np.ediff1d(a), lambda np, a: np.ediff1d(a, [1], 0), lambda np, a: np.trapezoid(a), lambda np, a: np.trapezoid(a, axis=0, dx=0.5),
        lambda np, a: np.trapezoid(a, np.asarray(x)), lambda np, a: np.trapezoid(a, a, axis=0), lambda np, a: np.trapezoid(a, axis=2),
        lambda np, a: np.unwrap(a), lambda np, a: np.unwrap(a, axis=0), lambda np, a: np.unwrap(a, 1.0, period=4), lambda np, a: np.unwrap(a, period=5.5),
        lambda np, a: np.gradient(a), lambda np, a: np.gradient(a, 2, axis=0), lambda np, a: np.gradient(a, 0.5, 3.0, edge_order=2),
        lambda np, a: np.gradient(a, axis=(0, 1)), lambda np, a: np.gradient(a[:1]), lambda np, a: np.gradient(a, np.asarray(x), axis=1), lambda np, a: np.gradient(a, edge_order=3),
        lambda np, a: np.gradient(a.T), lambda np, a: np.trapezoid(a.T), lambda np, a: np.unwrap(a.T),
    ]  # fmt: skip
    for f in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            both(f, a)


def test_unwrap_of_phases():
    phases = numpy.random.default_rng(0).uniform(-9, 9, (50, 60))
    for axis in (0, 1):
        scanned(lambda np, x: np.unwrap(x, axis=axis), phases)
        scanned(lambda np, x: np.unwrap(x, axis=axis), numpy.angle(numpy.exp(1j * phases)).astype("f4"))


def along(x, axis, part):
    return x[(slice(None),) * axis + (part,)]


# What a region computes with a scan: in front of it, behind it, at other indices, from step to step.
NEIGHBOURS = {
    "in front": lambda np, x, scan, axis: scan(x + x, axis=axis),
    "behind": lambda np, x, scan, axis: scan(x, axis=axis) - x,
    "moved": lambda np, x, scan, axis: along(scan(x + x, axis=axis), axis, slice(5, None)) - along(scan(x + x, axis=axis), axis, slice(None, -5)),
    "one moved": lambda np, x, scan, axis: (lambda c: along(c, axis, slice(25, None)) - along(c, axis, slice(None, -25)))(scan(x, axis=axis)),
    "of a scan": lambda np, x, scan, axis: scan(scan(x, axis=axis) - x, axis=axis) + x,
    "two": lambda np, x, scan, axis: np.maximum.accumulate(scan(x, axis=axis), axis=axis) - np.cumsum(x, axis=axis),
    "two axes": lambda np, x, scan, axis: scan(scan(x + x, axis=axis), axis=0) + x,
    "reduced": lambda np, x, scan, axis: (scan(x + x, axis=axis) - x).max(axis=axis),
    "into rows": lambda np, x, scan, axis: scan(x - x.max(axis=axis, keepdims=True), axis=axis) + x,
    "broadcast": lambda np, x, scan, axis: scan(along(x, axis, slice(None)) + x, axis=axis) * x[:1],
}


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
def test_scans_with_neighbours(name, dtype, neighbours):
    rng = numpy.random.default_rng(5)
    for shape in [(300,), (40, 60), (3, 2100), (6, 30, 40)]:
        a = (rng.standard_normal(shape) * 3).astype("i2").astype(dtype) if dtype in ("i4", "u1") else rng.standard_normal(shape).astype(dtype)
        for axis in range(len(shape)):
            for order in "CF":
                x = numpy.asarray(a, order=order)
                scanned(lambda np, v: NEIGHBOURS[neighbours](np, v, getattr(np, name).accumulate, axis) if v.shape[axis] > 25 else v, x, name)


def test_a_scan_in_a_region_warns_as_numpy_does():
    x = numpy.full((50, 3000), 1e300)
    for axis in (0, 1):
        with pytest.warns(RuntimeWarning, match="overflow encountered in accumulate"):
            plait.evaluate(plait.multiply.accumulate(plait.array(x) * 1.0, axis) + 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = numpy.array([[1.0, numpy.nan, -3.0] * 100] * 100)
        plait.evaluate(plait.maximum.accumulate(plait.array(x) * 2.0, 1) + 1.0)


def test_a_scan_written_over_what_it_reads():
    a = numpy.random.default_rng(0).standard_normal((50, 3000))
    for axis in (0, 1):
        x, p = a.copy(), plait.array(a)
        for v, np in ((x, numpy), (p, plait)):
            v[...] = np.cumsum(v * 2, axis=axis) + v
            along(v, axis, slice(3, None))[...] = along(np.cumsum(v * 0.5, axis=axis), axis, slice(None, -3))
        assert bits(p) == bits(x)
