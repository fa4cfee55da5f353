import numpy
import pytest
from support import NATIVE, both, same, sample

import plait

NAMES = ["sum", "prod", "min", "max", "any", "all", "argmin", "argmax", "mean", "var", "std", "ptp", "count_nonzero"]


@pytest.mark.parametrize("keepdims", ["x", None, [], numpy.True_, 0, 2])
@pytest.mark.parametrize("name", NAMES)
def test_keepdims_is_an_integer(name, keepdims):
    both(lambda np, a: getattr(np, name)(a, axis=0, keepdims=keepdims), numpy.ones((2, 3)))
    if name not in ("count_nonzero", "ptp"):
        both(lambda np, a: getattr(a, name)(axis=0, keepdims=keepdims), numpy.ones((2, 3)))


@pytest.mark.parametrize("axis", [None, 0, -1, 2, "tuple"])
@pytest.mark.parametrize("name", NAMES)
def test_axis(name, axis):
    axis = (0, 1) if axis == "tuple" else axis
    for code in NATIVE:
        rtol = 4e-3 if code == "e" else 1e-6 if code in "fF" else 1e-14
        both(lambda np, a: getattr(np, name)(a, axis=axis), sample(code), rtol=rtol)
        if name not in ("count_nonzero", "ptp"):
            both(lambda np, a: getattr(a, name)(axis=axis), sample(code), rtol=rtol)


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "mean", "var", "argmin", "any"])
@pytest.mark.parametrize("kw", [{"keepdims": True}, {"axis": 1, "keepdims": True}])
def test_keepdims(name, kw):
    both(lambda np, a: getattr(np, name)(a, **kw), sample("d"), rtol=1e-14)


@pytest.mark.parametrize(
    "kw", [{"dtype": "f4"}, {"dtype": "i8"}, {"initial": 5}, {"where": numpy.eye(3, 4) > 0}, {"axis": 0, "initial": 1.5}]
)
def test_sum_keywords(kw):
    both(lambda np, a: np.sum(a, **kw), sample("d"))


def test_where_and_initial_of_extrema():
    both(lambda np, a: np.max(a, where=a < 0, initial=-100), sample("d"))
    both(lambda np, a: np.max(a, where=a < 0), sample("d"))
    both(lambda np, a: np.mean(a, where=a < 0), sample("d"))


def test_out():
    both(lambda np, a: np.sum(a, axis=0, out=np.zeros(4)), sample("d"))
    both(lambda np, a: np.mean(a, axis=0, out=np.zeros(4)), sample("d"))
    both(lambda np, a: np.sum(a, axis=0, out=np.zeros(5)), sample("d"))
    both(lambda np, a: np.sum(a, axis=0, out=np.zeros((4, 1))), sample("d"))


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "ptp", "argmin"])
def test_out_of_any_dtype(name):
    """The type of `out` takes part in promotion and any cast to it is allowed, but for the root of std."""
    for code in NATIVE:
        for target in "?bHlefdD":
            if numpy.dtype(target).kind in "bui" and code in "efdFD" or code in "FD" and target != "D":
                continue  # casts that are undefined, or warn
            both(
                lambda np, a: getattr(np, name)(a, axis=0, out=np.zeros(4, target)),
                abs(sample(code)),
                rtol=4e-3 if "e" in (code, target) else 1e-6,
            )


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "fmin", "logical_or", "bitwise_or", "bitwise_and"])
@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f8", "D"])
def test_dtype_without_a_loop(name, dtype):
    for code in "?bLdD":
        if not (code == "D" and dtype != "D" or code == "d" and dtype[0] in "iu"):
            both(lambda np, a: getattr(np, name).reduce(a, dtype=dtype), sample(code), rtol=1e-2)


@pytest.mark.parametrize("initial", [300, -1, 2.5, 2j, 10**20, True, numpy.float32(3), numpy.int64(300), float("inf")], ids=repr)
@pytest.mark.parametrize("name", ["sum", "min", "max"])
def test_initial_is_converted_as_numpy_does(name, initial):
    for code in NATIVE:
        both(lambda np, a: getattr(np, name)(a, initial=initial), sample(code), rtol=1e-3)


def test_positions_take_one_axis():
    both(lambda np, a: np.argmax(a, axis=(-1,)), sample("d"))
    both(lambda np, a: np.argmin(a, axis=[0]), sample("d"))
    both(lambda np, a: np.argmin(a, out=np.zeros((), "D")), sample("d"))


@pytest.mark.parametrize("call", [lambda np, a: a.sum(axis=2), lambda np, a: a.sum(axis=(0, 0)), lambda np, a: np.max(np.zeros(0)),
                                  lambda np, a: np.argmin(np.zeros(0)), lambda np, a: a.argmax(axis=5), lambda np, a: a.sum(axis="x"),
                                  lambda np, a: np.max(np.zeros((0, 3)), axis=1), lambda np, a: np.sum(np.zeros((0, 3)), axis=0)])  # fmt: skip
def test_errors(call):
    both(call, sample("d"))


@pytest.mark.parametrize("n", [1, 7, 8, 9, 127, 128, 129, 1000, 4097, 100_003])
def test_sums_have_numpys_bits(n):
    x = numpy.random.default_rng(n).standard_normal(n)
    same(plait.array(x).sum(), x.sum())
    y = x[: n // 2 * 2].reshape(2, -1)
    same(plait.array(y).sum(axis=1), y.sum(axis=1))


@pytest.mark.parametrize("ord", [None, 1, 2, numpy.inf, -numpy.inf, 0, 3, "fro", "nuc"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_norm(ord, axis):
    both(lambda np, a: np.linalg.norm(a, ord, axis), sample("d"), rtol=1e-13)


@pytest.mark.parametrize("call", [
    lambda np, a, b: a @ b.T, lambda np, a, b: np.dot(a, b.T), lambda np, a, b: np.inner(a, b), lambda np, a, b: np.outer(a, b),
    lambda np, a, b: np.tensordot(a, b), lambda np, a, b: np.vdot(a, b), lambda np, a, b: np.matmul(a, b.T), lambda np, a, b: a @ b,
    lambda np, a, b: np.cross(a[:, :3], b[:, :3]), lambda np, a, b: np.trace(a @ b.T), lambda np, a, b: np.einsum("ij,ij->i", a, b),
    lambda np, a, b: a @ 2, lambda np, a, b: a.dot(b[0]),
])  # fmt: skip
def test_products(call):
    both(call, sample("d"), sample("d", seed=1), rtol=1e-13)


@pytest.mark.parametrize("call", [
    lambda np, a: np.concatenate([a, a], 1), lambda np, a: np.stack([a, a], -1), lambda np, a: np.vstack((a, a[0])), lambda np, a: np.hstack((a, a)),
    lambda np, a: np.split(a, 2, 1), lambda np, a: np.array_split(a, 3), lambda np, a: np.tile(a, (2, 1)), lambda np, a: np.repeat(a, 2, 0),
    lambda np, a: np.roll(a, 1), lambda np, a: np.roll(a, (1, 2), (0, 1)), lambda np, a: np.diff(a), lambda np, a: np.meshgrid(a[0], a[1]),
    lambda np, a: np.where(a > 0, a, 0), lambda np, a: np.where(a > 0), lambda np, a: np.clip(a, -1, 1), lambda np, a: a.clip(0), lambda np, a: np.tril(a),
    lambda np, a: np.round(a, 1), lambda np, a: a.round(), lambda np, a: np.concatenate([a, a[0]]), lambda np, a: np.split(a, 5), lambda np, a: np.cumsum(a),
    lambda np, a: np.sort(a), lambda np, a: np.argsort(a, axis=None), lambda np, a: np.unique(a, return_counts=True), lambda np, a: np.percentile(a, 30),
    lambda np, a: np.linalg.svd(a)[1], lambda np, a: np.fft.fft(a), lambda np, a: np.histogram(a), lambda np, a: a.take([0, 5]), lambda np, a: np.r_[a[0], 1, 2],
    lambda np, a: np.atleast_3d(a), lambda np, a: np.broadcast_arrays(a, a[0]), lambda np, a: np.moveaxis(a, 0, 1), lambda np, a: np.expand_dims(a, (0, 2)),
    lambda np, a: np.nan_to_num(a), lambda np, a: np.isclose(a, a), lambda np, a: np.allclose(a, a), lambda np, a: np.array_equal(a, a), lambda np, a: np.median(a),
    lambda np, a: np.pad(a, 1), lambda np, a: np.gradient(a), lambda np, a: np.average(a, axis=0), lambda np, a: np.apply_along_axis(np.sum, 0, a),
])  # fmt: skip
def test_functions(call):
    both(call, sample("d"), rtol=1e-12)


# The first chunk that decides ends a full any() or all(): wherever it is, whoever finds it.
@pytest.mark.parametrize("code", ["?", "b", "f", "d"])
@pytest.mark.parametrize("threads", [1, 3])
def test_truth_of_much(code, threads):
    n = 5_000_000
    before = plait.get_num_threads()
    plait.set_num_threads(threads)
    try:
        for common in (0, 1):
            a = plait.full(n, common, code)
            plait.evaluate(a)
            folds = [a.any, a.all] + [a.min, a.max] * (code == "?")
            assert [bool(f()) for f in folds] == [bool(common)] * len(folds)
            for at in (0, 17, n // 2, n - 1):
                a[at] = 1 - common
                assert [bool(f()) for f in folds] == [True, False] + [False, True] * (code == "?")
                a[at] = common
    finally:
        plait.set_num_threads(before)


def test_truth_of_what_warns():
    a = plait.ones(3_000_000)
    a[-1] = numpy.nan
    with pytest.warns(RuntimeWarning, match="invalid value encountered in cast"):
        assert a.astype("i4").any()
    with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt"):
        a[-1] = -1.0
        assert plait.sqrt(a).any()


# A row of what is in memory ends with the block that decides it.
@pytest.mark.parametrize("jit", ["off", "blocking"])
def test_truth_of_long_rows(run_python, jit):
    source = """
import numpy, plait
rng = numpy.random.default_rng(1)
for code in "?bd":
    for n in (1, 255, 4096, 4097, 30000):
        for common in (0, 1):
            x = numpy.full((70, n), common, code)
            x[numpy.arange(1, 70), rng.integers(0, n, 69)] = 1 - common
            x[-1, -1] = 1 - common
            for name in ("any", "all") + ("max", "min", "argmax", "argmin") * (code == "?"):
                for a in (x, x[:, ::-1]):
                    got, want = getattr(plait.asarray(a), name)(axis=1), getattr(a, name)(axis=1)
                    assert got.tolist() == want.tolist(), (code, n, common, name)
print("same")
"""
    assert run_python(source, env={"PLAIT_JIT": jit, "PLAIT_EAGER_LIMIT": "0"}).stdout.split() == ["same"]


# Long reductions of all axes that are computed together: those of what lies in one piece are cut into
# NumPy's chunks, whatever else is asked for beside them.
@pytest.mark.parametrize("shape", [(300, 301), (3, 170, 200), (301, 300)])
def test_long_reductions_beside_each_other(shape):
    rng = numpy.random.default_rng(5)
    x, y, row = rng.normal(size=shape), rng.normal(size=shape[::-1]), rng.normal(size=shape[1:])
    exact = [
        lambda np, x, y, row: (x * x).sum(),
        lambda np, x, y, row: (y.T * 2).sum(),
        lambda np, x, y, row: (x + y.T).max(),
        lambda np, x, y, row: (row * x).min(),
    ]
    others = [
        lambda np, x, y, row: (x - y.T).sum(),
        lambda np, x, y, row: (row[0] * x).sum(),
        lambda np, x, y, row: np.linalg.norm(x - 1),  # NumPy's is a BLAS's dot, whose order is the processor's
    ]
    pairs = [(f, g, 0.0) for f in exact for g in exact + others] + [(f, g, 1e-12) for f in others for g in exact + others]
    for f, g, rtol in pairs:
        ours = [plait.evaluate(plait.array(a)) for a in (x, y, row)]
        value = f(plait, *ours) + 0 * g(plait, *ours)
        numpy.testing.assert_allclose(float(value), f(numpy, x, y, row), rtol=rtol, atol=1e-10 if rtol else 0)
    several = sum((f(plait, *ours) * 0 for f in exact + others), exact[0](plait, *ours))
    assert float(several) == exact[0](numpy, x, y, row)
