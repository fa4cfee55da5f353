"""Sorts, searches and order statistics beside NumPy's."""

import itertools
import warnings

import numpy
import pytest
from support import NATIVE, both, same

import plait

FLOATS = ["e", "f", "d"]
REALS = [c for c in NATIVE if c not in "FD"]


def values(code, shape, seed=3):
    """Values with ties and, among floats, NaN, infinities and both zeros."""
    rng = numpy.random.default_rng(seed)
    x = rng.integers(-4, 5, shape) if code in "bhil" else rng.integers(0, 9, shape)
    x = x.astype(code)
    if code in "efdFD":
        odd = numpy.array([numpy.nan, numpy.inf, -numpy.inf, -0.0, 0.5], code)
        some = rng.random(shape) < 0.3
        x[some] = rng.choice(odd, numpy.count_nonzero(some))
    return x


@pytest.mark.parametrize("code", NATIVE)
@pytest.mark.parametrize("kind", [None, "stable", "heapsort"])
@pytest.mark.parametrize("axis", [-1, 0, 1, None])
def test_sort(code, kind, axis):
    a = values(code, (7, 5, 3))
    both(lambda np, a: np.sort(a, axis=axis, kind=kind), a)
    both(lambda np, a: np.sort(a.T[::-1, 1:], axis=axis, kind=kind), a)
    both(lambda np, a: np.argsort(a, axis=axis, kind="stable"), a)
    both(lambda np, a: a[:, ::-2].argsort(axis=axis, stable=True), a)


def test_the_layout_of_a_sorted_copy():
    a = numpy.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)
    both(lambda np, a: np.sort(a.transpose(2, 0, 1)).strides, numpy.arange(24.0).reshape(2, 3, 4))
    both(lambda np, a: np.sort(np.asarray(a), axis=0), a)


@pytest.mark.parametrize("n", [100, 40_000, 300_000])
@pytest.mark.parametrize("code", ["h", "i", "l", "f", "d", "D"])
def test_long_lines(n, code):
    rng = numpy.random.default_rng(n)
    for x in (rng.standard_normal(n) * 1000, rng.integers(0, 50, n), numpy.arange(n), numpy.arange(n)[::-1]):
        x = x.astype(code)
        both(lambda np, a: np.sort(a), x)
        both(lambda np, a: np.argsort(a, kind="stable"), x)
        both(lambda np, a: np.unique(a, return_counts=True), x)


@pytest.mark.parametrize("write", ["a.sort()", "a.sort(0)", "a[1].sort()", "a[:, ::2].sort(axis=0)", "a.T.sort(kind='stable')", "a[::-1].sort(0)"])
def test_sorting_in_place_is_seen_through_views(write):
    def program(np, a):
        a = np.array(a)
        view, before = a[1:, ::-1], a + 1
        exec(write, {}, {"a": a})
        return a, view, before

    both(program, values("d", (4, 6)))


def test_in_place_leaves_what_may_not_be_written():
    a = plait.array([3, 1, 2])
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        a.sort()
    same(a, numpy.array([3, 1, 2]))


@pytest.mark.parametrize(
    "arguments",
    [
        "axis=2", "axis=-3", "axis='x'", "kind='bogus'", "kind='stable', stable=True", "kind=3", "stable='yes'", "order='f'",
        "axis=1.0", "axis=True",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_errors_are_numpys(name, arguments):
    both(lambda np, a: eval(f"np.{name}(a, {arguments})"), numpy.ones((2, 3)))


def test_empty_and_zero_dimensional():
    for shape in ((0,), (0, 3), (3, 0), ()):
        for name in ("sort", "argsort", "unique", "median", "searchsorted"):
            both(lambda np, a: getattr(np, name)(a, *[1.0] * (name == "searchsorted")), numpy.ones(shape))


@pytest.mark.parametrize("code", NATIVE)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(code, side):
    a, v = numpy.sort(values(code, 50)), values(code, (3, 4), 5)
    both(lambda np, a, v: np.searchsorted(a, v, side=side), a, v)
    both(lambda np, a, v: a[::2].searchsorted(v.T, side), a, v)
    both(lambda np, a: np.searchsorted(a, 3, side=side), a)
    both(lambda np, a: np.searchsorted(a, [2.5, 1], side=side), a)


def test_searchsorted_errors():
    both(lambda np, a: np.searchsorted(a, 1, side="middle"), numpy.ones(3))
    both(lambda np, a: np.searchsorted(a, 1), numpy.ones((3, 3)))
    both(lambda np, a: np.searchsorted(a, "x"), numpy.ones(3))
    both(lambda np, a: np.searchsorted(a, 2, sorter=np.argsort(a)), numpy.array([3, 1, 2]))


@pytest.mark.parametrize("code", REALS)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 0, 1), (0, 0), 3])
@pytest.mark.parametrize("keepdims", [False, True])
def test_median(code, axis, keepdims):
    for a in (numpy.random.default_rng(1).integers(0, 100, (5, 4, 6)).astype(code), values(code, (3, 5, 3))):
        both(lambda np, a: np.median(a, axis=axis, keepdims=keepdims), a)


def test_median_of_complex_nan():
    a = numpy.array([1 + 1j, complex(-0.75, numpy.nan), 2])
    assert repr(plait.median(plait.array(a))) == repr(numpy.median(a))


@pytest.mark.parametrize("axes", itertools.permutations(range(3)))
@pytest.mark.parametrize("axis", [0, -1, (0, 2)])
def test_median_keeps_the_order_of_axes(axes, axis):
    a = numpy.arange(24.0).reshape(4, 2, 3)
    assert plait.median(plait.array(a).transpose(axes), axis).strides == numpy.median(a.transpose(axes), axis).strides
    both(lambda np, a: np.median(a.transpose(axes)[..., [0, -1]], axis=axis), a)


METHODS = [
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "linear",
    "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("code", ["b", "l", "e", "f", "d"])
def test_quantile_methods(method, code):
    rng = numpy.random.default_rng(7)
    for a in (rng.integers(0, 100, (50, 42)).astype(code), values(code, (3, 700))):
        for q in (0.3, 1, [0.1, 0.5, 0.99], numpy.float32(0.7), numpy.array([0.25])):
            for axis in (None, 1):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of infinities
                    both(lambda np, a: np.quantile(a, q, axis=axis, method=method), a)
                    both(lambda np, a: np.percentile(a, numpy.multiply(q, 100), axis=axis, method=method, keepdims=True), a)


@pytest.mark.parametrize("q", ["x", 1.5, -0.1, [0.5, 2], numpy.nan, [[0.5]], [[[0.5]]], []])
def test_quantiles_that_are_none(q):
    both(lambda np, a: np.quantile(a, q), numpy.arange(3000.0))


def test_quantile_options():
    a = numpy.random.default_rng(2).random((50, 60))
    both(lambda np, a: np.quantile(a, 0.5, axis=1, out=np.zeros(50)), a)
    both(lambda np, a: np.quantile(a, 0.5, method="bogus"), a)
    both(lambda np, a: np.quantile(a, 0.5, method="inverted_cdf", weights=np.ones((50, 60))), a)
    both(lambda np, a: np.quantile(a + 1j, 0.5), a)
    both(lambda np, a: np.quantile(a > 0.5, 0.5), a)
    both(lambda np, a: np.median(a, axis=1, out=np.zeros(50)), a)


@pytest.mark.parametrize("name", ["nanmedian", "nanquantile", "nanpercentile"])
def test_ignoring_nan(name):
    q = () if name == "nanmedian" else (0.4,)
    for a in (values("d", (4, 9)), numpy.random.default_rng(2).random((50, 50)), numpy.arange(2400).reshape(60, 40)):
        a[numpy.isinf(a)] = 2
        for axis in (None, 0, 1):
            both(lambda np, a: getattr(np, name)(a, *q, axis=axis), a)
            both(lambda np, a: getattr(np, name)(a, *q, axis=axis, keepdims=True), a)


@pytest.mark.parametrize("q", [[0.1, 0.5, 0.9], [[0.2, 0.4], [0.6, 0.8]]])
def test_memory_layout_of_several_quantiles_without_nan(q):
    a = numpy.random.default_rng(3).random((30, 20, 6))
    for axis in (None, 0, 1, 2, (0, 2)):
        for name in ("nanquantile", "quantile"):
            theirs, ours = getattr(numpy, name)(a, q, axis=axis), getattr(plait, name)(plait.asarray(a), q, axis=axis)
            assert ours.strides == theirs.strides and numpy.array_equal(ours, theirs), (name, axis)


def test_medians_of_long_lines():
    rng = numpy.random.default_rng(4)
    for x in (rng.standard_normal(200_001), rng.integers(0, 4, 100_000), numpy.arange(100_000)[::-1] % 1000, rng.random((2, 50_000))):
        both(lambda np, a: np.median(a), x)
        both(lambda np, a: np.percentile(a, [5, 25, 50, 75, 95]), x)
        both(lambda np, a: np.median(a, axis=-1), x)
    x = rng.random(100_000)
    x[77] = numpy.nan
    both(lambda np, a: np.median(a), x)


@pytest.mark.parametrize("code", NATIVE)
def test_unique(code):
    a = values(code, (6, 7))
    both(lambda np, a: np.unique(a), a)
    both(lambda np, a: np.unique(a.T, return_counts=True), a)
    both(lambda np, a: np.unique(a, equal_nan=False), a)
    both(lambda np, a: np.unique(a, return_index=True, return_inverse=True, return_counts=True), a)
    both(lambda np, a: np.unique(a, axis=0), a)
    both(lambda np, a: tuple(np.unique_counts(a)), a)


def test_lexsort():
    rng = numpy.random.default_rng(5)
    a, b = rng.integers(0, 4, 100), rng.integers(0, 4, 100) / 2
    both(lambda np, a, b: np.lexsort((a, b)), a, b)
    both(lambda np, a, b: np.lexsort([b, a, b], 0), a, b)
    both(lambda np, a, b: np.lexsort((a, b[:5])), a, b)


def test_an_array_of_numpys_knows_nothing_of_it():
    a = plait.array([3.0, 1.0, 2.0])
    b = numpy.sort(a)
    assert type(b) is plait.ndarray
    same(b, numpy.array([1.0, 2.0, 3.0]))


def test_without_memory_nothing_changes():
    x = plait.array(numpy.arange(100_000)[::-1] * 1.0)
    plait._plait.fail_allocation(0)
    try:
        with pytest.raises(MemoryError):
            plait.sort(x)
    finally:
        plait._plait.fail_allocation(-1)
    same(plait.sort(x), numpy.arange(100_000) * 1.0)


def test_sorting_in_place_without_memory_changes_nothing():
    x = plait.array(numpy.arange(400_000)[::-1] * 1.0)
    threads = plait.get_num_threads()
    plait.set_num_threads(2)
    plait._plait.fail_allocation(0)
    try:
        x.sort()
    except MemoryError:  # it was to be sorted in runs
        assert x[0] == 399_999
    finally:
        plait._plait.fail_allocation(-1)
        plait.set_num_threads(threads)
    x.sort()
    same(x, numpy.arange(400_000) * 1.0)


@pytest.mark.parametrize("code", NATIVE)
def test_sort_complex_and_union(code):
    a = values(code, (3, 4))
    both(lambda np, a: np.sort_complex(a), a)
    both(lambda np, a: np.union1d(a, a[0] + np.float32(1)), a)


@pytest.mark.parametrize("codes", ["dd", "fd", "ll", "bl", "DD", "ef"])
@pytest.mark.parametrize("unique", [False, True])
def test_sets(codes, unique):
    a, b = values(codes[0], (6, 5)), values(codes[1], 40, 8)
    if unique:
        a, b = numpy.unique(a), numpy.unique(b)
    both(lambda np, a, b: np.intersect1d(a, b, unique), a, b)
    both(lambda np, a, b: np.intersect1d(a, b, unique, return_indices=True), a, b)
    both(lambda np, a, b: np.setxor1d(a, b, unique), a, b)
    both(lambda np, a, b: np.setdiff1d(a, b, unique), a, b)
    both(lambda np, a, b: np.isin(a, b), a, b)
    both(lambda np, a, b: np.isin(a, b[:20], invert=True), a, b)


@pytest.mark.parametrize("code", ["?", "u1", "i4", "i8", "f2", "f4", "f8", "c16", "U3", "M8[s]"])
@pytest.mark.parametrize("jitted", [False, True])
def test_unique_elements_come_in_numpys_order(code, jitted):
    """What need not be sorted has the order that NumPy's tables of hashes give it, where it has one for the dtype."""

    def program(x):
        u = numpy.unique_values(x), *numpy.unique_counts(x), *numpy.unique_inverse(x), *numpy.unique_all(x)
        return [*u, numpy.unique(x, sorted=False), *numpy.unique(x, return_counts=True, sorted=False), numpy.unique(x)]

    def ours(x):
        x = plait.array(x)
        u = plait.unique_values(x), *plait.unique_counts(x), *plait.unique_inverse(x), *plait.unique_all(x)
        return [*u, plait.unique(x, sorted=False), *plait.unique(x, return_counts=True, sorted=False), plait.unique(x)]

    x = numpy.random.default_rng(0).integers(0, 50, 200).astype(code)
    for got, want in zip((plait.jit(program) if jitted else ours)(x), program(x), strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape and got.tolist() == want.tolist()
