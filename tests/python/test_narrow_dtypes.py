"""ml_dtypes' dtypes as dtypes of Plait's arrays: casts, promotion, results and values as NumPy gives them."""

import contextlib
import operator
import pickle
import warnings

import numpy
import pytest

import plait as np

ml_dtypes = pytest.importorskip("ml_dtypes")

FLOATS = [
    "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float6_e2m3fn",
    "float6_e3m2fn", "float4_e2m1fn",
]  # fmt: skip
INTS = ["int1", "int2", "int4", "uint1", "uint2", "uint4"]
NUMPYS = "?bBhHiIlLefdFD"


def dtype(name):
    return numpy.dtype(getattr(ml_dtypes, name)) if name in FLOATS + INTS else numpy.dtype(name)


def bits(a):
    a = numpy.asarray(a)
    return a.view("u2" if a.dtype.itemsize == 2 else "u1")


def every_value(name):
    """All the numbers of a dtype, each in its own bits."""
    t = dtype(name)
    width = {"float6": 6, "float4": 4}.get(name.split("_")[0], 8 * t.itemsize) if name in FLOATS else int(name.lstrip("uint"))
    return numpy.arange(1 << width).astype("u2" if t.itemsize == 2 else "u1").view(t)


def interesting(name, n=1000):
    x = every_value(name)
    rng = numpy.random.default_rng(5)
    return x if len(x) <= n else x[rng.permutation(len(x))[:n]]


@contextlib.contextmanager
def quiet():
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def same_bits(mine, theirs):
    theirs = numpy.asarray(theirs)
    assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
    mine = numpy.asarray(mine)
    if theirs.dtype.kind in "V" or theirs.dtype.num >= 256:
        nan = numpy.isnan(mine.astype("f4")) & numpy.isnan(theirs.astype("f4"))
        assert numpy.all((bits(mine) == bits(theirs)) | nan)
    else:
        numpy.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", FLOATS + INTS)
def test_casts_to_and_from_numpys_dtypes(name):
    x = every_value(name)
    with quiet():
        for code in NUMPYS:
            fits = x  # what an integer does not hold is undefined there
            if code in "bBhHiIlL":
                low, high = numpy.iinfo(code).min, numpy.iinfo(code).max
                wide = x.astype("f8")
                fits = x[(wide > low - 1.0) & (wide < high + 1.0) & (numpy.abs(wide) < 2.0**62)]
            same_bits(np.asarray(fits).astype(code), fits.astype(code))
            y = (numpy.random.default_rng(1).standard_normal(3000) * 10.0 ** numpy.random.default_rng(2).integers(-6, 6, 3000)).astype(code)
            same_bits(np.asarray(y).astype(dtype(name)), y.astype(dtype(name)))


@pytest.mark.parametrize("name", FLOATS)
def test_rounds_ties_to_even_and_saturates_as_ml_dtypes(name):
    with quiet():
        finite = every_value(name).astype("f8")
        finite = numpy.unique(finite[numpy.isfinite(finite)])
        ties = (finite[1:] + finite[:-1]) / 2
        y = numpy.concatenate([ties, ties * (1 + 1e-6), ties * (1 - 1e-6), [0.0, -0.0, 1e30, -1e30, 3.4e38, numpy.inf, -numpy.inf, numpy.nan, -numpy.nan]])
        for given in (y.astype("f4"), y):
            made = np.asarray(given).astype(dtype(name))
            assert numpy.array_equal(bits(made), bits(given.astype(dtype(name))))


def test_promotion_is_numpys():
    for a in FLOATS + INTS:
        for b in FLOATS + INTS + list(NUMPYS):
            left, right = numpy.ones(3, dtype(a)), numpy.ones(3, dtype(b))
            try:
                theirs = numpy.concatenate([left, right]).dtype
            except TypeError:
                with pytest.raises(TypeError):
                    np.concatenate([np.asarray(left), np.asarray(right)])
                continue
            assert np.concatenate([np.asarray(left), np.asarray(right)]).dtype == theirs, (a, b)


@pytest.mark.parametrize("name", FLOATS + INTS)
def test_ufuncs_take_numpys_loops(name):
    x = numpy.ones(5, dtype(name))
    mine = np.asarray(x)
    others = [1, -1, 1.5, 1j, True, numpy.int64(1), numpy.float64(1), numpy.float32(1), numpy.int8(1)]
    others += [numpy.ones(5, c) for c in NUMPYS] + [numpy.ones(5, dtype(n)) for n in FLOATS + INTS]
    for other in others:
        if name in INTS and getattr(other, "dtype", x.dtype).name in FLOATS:
            continue  # NumPy takes floats of 8 bits and less for integers of 4; here the float wins, as from the other side
        for op in (operator.add, operator.mul, operator.truediv, operator.floordiv, operator.lt, numpy.maximum):
            with quiet():
                try:
                    theirs = op(x, other).dtype
                except TypeError:
                    with pytest.raises(TypeError):
                        op(mine, other)
                    continue
                assert op(mine, other).dtype == theirs, (name, other, op)


@pytest.mark.parametrize("name", FLOATS + INTS)
def test_arithmetic_is_rounded_at_every_operation(name):
    x = interesting(name)
    y = x[::-1].copy()
    a, b = np.asarray(x), np.asarray(y)
    with quiet():
        for op in (operator.add, operator.sub, operator.mul, operator.lt, operator.eq, operator.ge):
            same_bits(op(a, b), op(x, y))
        chain = (a + b) * a - b
        same_bits(chain, (x + y) * x - y)
        if name in FLOATS:
            same_bits(a / b, x / y)
            same_bits(np.sqrt(abs(a)), numpy.sqrt(abs(x)))
            same_bits(np.maximum(a, b), numpy.maximum(x, y))
            same_bits(-a, -x)
            same_bits(np.where(a > b, a, b), numpy.where(x > y, x, y))
            same_bits(np.floor(a), numpy.floor(x))
            number = x.astype("f4") != 0  # ml_dtypes keeps the sign of zero; NumPy, for its own floats, does not
            same_bits(np.sign(a)[number], numpy.sign(x)[number])
            same_bits(np.isfinite(a), numpy.isfinite(x))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_functions_are_float32s_rounded(name):
    x = interesting(name)
    with quiet():
        for f in ("exp", "log", "sin", "tanh", "cbrt", "log1p", "expm1", "arctan"):
            wide = getattr(numpy, f)(x.astype("f8"))
            mine = getattr(np, f)(np.asarray(x))
            assert mine.dtype == x.dtype
            ours, exact = numpy.asarray(mine).astype("f8"), wide.astype(x.dtype).astype("f8")
            step = numpy.abs(numpy.nextafter(wide.astype(x.dtype), numpy.array(numpy.inf, x.dtype)).astype("f8") - exact)
            fine = (ours == exact) | (numpy.isnan(ours) & numpy.isnan(exact)) | (numpy.abs(ours - exact) <= step)
            assert fine.all(), f


@pytest.mark.parametrize("name", FLOATS)
def test_sums_are_rounded_once(name):
    shape = (40, 60) if name in ("bfloat16", "float8_e5m2") else (4, 5)  # whose sums fit
    x = numpy.random.default_rng(3).uniform(0, 0.5, shape).astype(dtype(name))
    a = np.asarray(x)
    with quiet():
        for axis in (None, 0, 1):
            exact = x.astype("f8").sum(axis)
            mine = a.sum(axis)
            assert mine.dtype == x.dtype
            theirs = numpy.abs(numpy.asarray(x.sum(axis)).astype("f8") - exact)
            ours = numpy.abs(numpy.asarray(mine).astype("f8") - exact)
            assert numpy.all((ours <= theirs) | (numpy.isnan(ours) & numpy.isnan(theirs)))
            same_bits(a.max(axis), x.max(axis))
            same_bits(a.min(axis), x.min(axis))
            same_bits(a.argmax(axis), x.argmax(axis))
            exact = x.astype("f8").mean(axis)
            assert a.mean(axis).dtype == x.dtype
            assert numpy.array_equal(numpy.asarray(a.mean(axis)).astype("f8"), exact.astype("f4").astype(x.dtype).astype("f8"))


RESULTS = """x.sum() x.mean() x.prod() x.max() x.argmax() x.std() x.var() np.exp(x) x@x np.outer(x,x) np.dot(x,x) np.add.reduce(x) x.cumsum() np.sort(x) x[1] x[1]+1 x[1]*1.5
np.where(x>1,x,0) np.where(x>1,x,0.) np.clip(x,0,2) np.maximum(x,0) x**2 x**0.5 x//2 x%2 x/2 -x abs(x) np.sign(x) np.zeros(3,t) np.full(3,2.5,t) np.linspace(0,1,3,dtype=t)
np.arange(0,3,dtype=t) np.concatenate([x,np.ones(2,'f4')]) x.any() np.sum(x,dtype='f4') np.add(x,x,dtype='f4') np.round(x,2) x.round() np.logaddexp(x,x) np.nextafter(x,x) np.spacing(x)
np.signbit(x) np.copysign(x,-x) np.hypot(x,x) np.power(x,x) np.square(x) np.reciprocal(x) np.heaviside(x,x) np.fmax(x,x) np.logical_and(x,x) np.median(x) np.unique(x) np.cumprod(x)
np.interp(x,x,x) x.view('u1') np.array([1.5,2],t) np.array(x) np.tensordot(x,x,1) np.inner(x,x) np.vdot(x,x) x.reshape(1,4)@x np.diff(x) np.around(x) np.full_like(x,2) np.ones_like(x)
np.add.accumulate(x) np.average(x) np.max(x) np.ptp(x) np.isclose(x,x) np.nan_to_num(x) np.linalg.norm(x) np.count_nonzero(x) np.searchsorted(x,x) np.argsort(x) np.partition(x,1)
np.repeat(x,2) np.take(x,[0]) np.roll(x,1) np.pad(x,1) np.tile(x,2) x.copy() x.real x.imag np.matmul(x,x) np.trace(np.eye(2,dtype=t)) np.cross(x[:3],x[:3]) np.kron(x,x)
np.convolve(x,x) np.fft.fft(x) np.percentile(x,50) np.gradient(x) np.cov(x) np.degrees(x) np.divmod(x,x) np.modf(x) np.frexp(x) x.tolist() np.array_equal(x,x) np.allclose(x,x)
x.T x.ravel() x.nonzero() np.stack([x,x]) np.flip(x) np.broadcast_to(x,(2,4)) np.minimum.reduce(x) np.isin(x,x) np.bincount(x) np.ldexp(x,1) np.bitwise_and(x,x) x+1000 1+x x+1e10""".split()


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "int4", "uint4"])
def test_results_have_numpys_dtypes(name):
    t = dtype(name)
    given = numpy.array([1, 2, 3, 1]).astype(t)
    wrong = []
    for text in RESULTS:
        if name in INTS and text in ("x.mean()", "x.std()", "x.var()", "np.average(x)"):
            continue  # float64, as those of NumPy's integers: int4, which NumPy gives, holds no mean
        with quiet():
            try:
                theirs = eval(text, {"np": numpy, "x": given, "t": t})
            except Exception as e:
                theirs = type(e)
            try:
                mine = eval(text, {"np": np, "x": np.asarray(given), "t": t})
            except Exception as e:
                mine = type(e)
        if isinstance(theirs, type) or isinstance(mine, type):
            if not (isinstance(theirs, type) and isinstance(mine, type)):
                wrong.append((text, theirs, mine))
        else:
            kinds = [[getattr(r, "dtype", type(r)) for r in (v if isinstance(v, tuple) else (v,))] for v in (theirs, mine)]
            if kinds[0] != kinds[1]:
                wrong.append((text, *kinds))
    assert not wrong, wrong


def test_arrays_pass_in_and_out():
    x = every_value("bfloat16").reshape(256, 256)
    a = np.asarray(x)
    assert type(a) is np.ndarray and a.dtype == x.dtype and a.strides == x.strides and a.itemsize == 2
    same_bits(pickle.loads(pickle.dumps(a)), x)
    assert repr(np.asarray(x[:2, 127:130])) == repr(x[:2, 127:130])
    assert a[3, 4] == x[3, 4] and type(a[3, 4]) is type(x[3, 4])
    with pytest.raises(ValueError):
        memoryview(a)
    same_bits(a[::2, ::-3].T, x[::2, ::-3].T)
    b = np.zeros((4, 4), ml_dtypes.bfloat16)
    b[1] = 1.001
    b[2:, 1:3] += 2
    b[0, 0] = 7
    c = numpy.zeros((4, 4), ml_dtypes.bfloat16)
    c[1] = 1.001
    c[2:, 1:3] += 2
    c[0, 0] = 7
    same_bits(b, c)


def test_files_keep_the_dtype(tmp_path):
    x = np.arange(6, dtype=ml_dtypes.bfloat16)
    np.save(tmp_path / "x.npy", x)
    back = np.load(tmp_path / "x.npy")
    theirs = numpy.load(tmp_path / "x.npy")
    assert back.dtype == theirs.dtype and numpy.array_equal(numpy.asarray(back).view("u2"), theirs.view("u2"))


def test_a_chain_is_one_region_of_two_bytes_an_element(capsys):
    x = np.asarray(numpy.random.default_rng(0).standard_normal(100_000).astype(ml_dtypes.bfloat16))
    y = np.sqrt(abs(x * x + x) + 1) - x
    text = str(np.explain(y))
    assert "bfloat16" in text
    given = numpy.asarray(x)
    same_bits(y, numpy.sqrt(abs(given * given + given) + 1) - given)


@pytest.mark.parametrize("name", FLOATS + INTS)
@pytest.mark.parametrize("tier", ["off", "blocking"])
def test_tiers_agree_on_fused_chains(large, name, tier):
    """Values go through a chain in registers there, rounded without their bits being made."""
    some = interesting(name, 512)
    left, right = numpy.repeat(some, len(some)), numpy.tile(some, len(some))
    chains = [lambda x, y: (x + y) * x - y, lambda x, y: x * y + x]
    chains += [lambda x, y, t=t: (x.astype(t) + numpy.float32(0.37)).astype(x.dtype) * y for t in ("f4", "f8")]
    if name in FLOATS:
        chains.append(lambda x, y: -(x / y) + abs(x) - y)
    else:
        chains.append(lambda x, y: (x.astype("i2") + y.astype("u1")).astype(x.dtype) - y)
    before = np.config.jit
    np.config.jit = tier
    try:
        for chain in chains:
            with quiet():
                theirs = chain(left, right)
            with numpy.errstate(all="ignore"):
                mine = chain(np.asarray(left), np.asarray(right))
                np.evaluate(mine)
            same_bits(mine, theirs)
    finally:
        np.config.jit = before


def test_products_are_float32s():
    rng = numpy.random.default_rng(1)
    x, y = (rng.standard_normal(s).astype(ml_dtypes.bfloat16) for s in ((70, 90), (90, 40)))
    made = np.asarray(x) @ np.asarray(y)
    assert made.dtype == (x @ y).dtype == numpy.float32
    numpy.testing.assert_allclose(made, x.astype("f8") @ y.astype("f8"), rtol=1e-4, atol=1e-4)
    q = rng.integers(-8, 8, (30, 30)).astype(ml_dtypes.int4)
    same_bits(np.asarray(q) @ np.asarray(q), q @ q)


def test_writes_of_what_does_not_fit():
    a = np.zeros(3, ml_dtypes.int4)
    c = numpy.zeros(3, ml_dtypes.int4)
    for value in (7, -8, 3.0, numpy.int64(100)):
        a[1] = value
        c[1] = value
        same_bits(a, c)


def test_default_dtype_may_be_bfloat16():
    with np.set_default_dtype("bfloat16"):
        assert np.zeros(3).dtype == dtype("bfloat16")
        assert (np.ones(3) + 1).dtype == dtype("bfloat16")
    assert np.zeros(3).dtype == numpy.float64


def test_dlpack_carries_bfloat16():
    x = np.arange(5, dtype=ml_dtypes.bfloat16)
    back = np.from_dlpack(x)
    same_bits(back, numpy.asarray(x))
    back[1] = 7
    assert x[1] == 7

    class Exported:  # as another library hands it over
        __dlpack__, __dlpack_device__ = x[::-2].__dlpack__, x.__dlpack_device__

    taken = np.from_dlpack(Exported())
    same_bits(taken, numpy.asarray(x)[::-2])
    taken[0] = 9
    assert x[4] == 9
    assert np.from_dlpack(np.ones(3, ml_dtypes.float8_e5m2)[:2]).dtype == ml_dtypes.float8_e5m2
    for t in ("int4", "float8_e8m0fnu"):  # in a byte each; NumPy's alone
        with pytest.raises(BufferError):
            np.asarray(numpy.ones(2, dtype(t) if t in INTS else numpy.dtype(getattr(ml_dtypes, t)))).__dlpack__()


@pytest.mark.parametrize("name", FLOATS + INTS)
def test_scalars_of_a_dtype_are_its_numbers(name):
    one = dtype(name).type(1)
    theirs = numpy.array([3.0, -2.0, 0.5])
    same_bits(np.asarray(theirs) * one, theirs * one)
    same_bits(np.full(3, one), numpy.full(3, one))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e5m2", "int4"])
def test_writes_what_a_mask_selects(name):
    source = numpy.arange(12).reshape(3, 4) % 5
    mask = source % 2 == 0
    results = []
    for module in (numpy, np):
        a = module.array(source.astype(dtype(name)))
        a[module.asarray(mask)] = 1
        b = module.array(source.astype(dtype(name)))
        module.multiply(b, b, out=b, where=module.asarray(mask))
        results.append((a, b))
    for theirs, mine in zip(*results):
        same_bits(mine, theirs)


def test_products_of_what_a_mask_selects_of_a_view(run_python):
    source = """
import ml_dtypes, numpy
import plait as np
x, mask = numpy.arange(1, 8).astype("bfloat16"), numpy.arange(14).reshape(2, 7) % 3 == 0
print(np.prod(np.broadcast_to(np.asarray(x), (2, 7)), axis=(0, 1), where=np.asarray(mask)))
"""
    assert run_python(source, env={"PLAIT_PLAN": "always", "PLAIT_EAGER_LIMIT": "0"}).stdout.split() == ["504"]


def test_integers_that_a_dtype_does_not_hold_wrap_where_they_are_stored():
    for module in (numpy, np):
        a = module.zeros(3, dtype("int2"))
        a[1] = 40001
        assert numpy.asarray(a).astype(int).tolist() == [0, 1, 0]


def test_sums_without_nan_round_once():
    x = numpy.full(1000, 1, dtype("bfloat16"))
    assert float(np.nansum(np.asarray(x))) == 1000
