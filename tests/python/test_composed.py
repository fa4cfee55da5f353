"""Functions that NumPy wrote in Python, run over Plait's arrays: they give what NumPy gives, in its words, and nothing falls back."""

import warnings

import numpy
import pytest
from support import host, outcome

import plait
from plait import _plait
from plait._fallback import fallback_notes

N = 140_000
REALS = ["b", "B", "h", "i", "q", "Q", "f", "d"]


def _values(dtype, seed=0):
    rng = numpy.random.default_rng(seed)
    if dtype == "?":
        return rng.random(N) < 0.5
    if numpy.dtype(dtype).kind in "iu":
        return rng.integers(0, 60, N).astype(dtype)
    x = rng.standard_normal(N) * 3
    if numpy.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(N)
    return x.astype(dtype)


def _scope(module, dtype):
    x, y = _values(dtype), _values(dtype, 1)
    with_nan = x.copy()
    if x.dtype.kind in "fc":
        with_nan[::7] = numpy.nan
    names = {
        "x": x, "y": y, "n": with_nan, "a": x.reshape(350, 400), "b": y.reshape(350, 400), "t": numpy.concatenate([x, y]).reshape(100, 70, 40),
        "i": numpy.arange(N) * 7 % 50, "m": (numpy.arange(N) % 3 == 0), "k": y[:9],
    }  # fmt: skip
    ours = module is plait
    return {"np": module, **{n: plait.asarray(v) if ours else v.copy() for n, v in names.items()}}


def _watched(text, scope):
    """The value of the expression, or of `result` after the statements, and what fell back on the way."""
    with fallback_notes():
        _plait.watch({})
        try:
            result = outcome(lambda: _run(text, scope))
        finally:
            events = _plait.watched(lambda site: ("", "", ""))
    return result, [note for kind, note, *_ in events if kind == "note"]


def _run(text, scope):
    if ";" not in text and " = " not in text:
        return eval(text, scope)
    exec(text, scope)
    return scope["x"], scope["a"]


def _same(ours, theirs, rtol):
    if isinstance(theirs, (tuple, list)):
        assert type(ours).__name__ == type(theirs).__name__ and len(ours) == len(theirs)
        for p, q in zip(ours, theirs):
            _same(p, q, rtol)
    elif isinstance(theirs, numpy.ndarray):
        assert type(ours) is plait.ndarray
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        if ours.size:
            moves = [k for k, n in enumerate(theirs.shape) if n > 1]
            assert [ours.strides[k] for k in moves] == [theirs.strides[k] for k in moves]
        _near(host(ours), theirs, rtol)
    elif isinstance(theirs, numpy.generic):
        assert numpy.asarray(host(ours)).dtype == theirs.dtype
        _near(host(ours), theirs, rtol)
    else:
        assert ours == theirs and type(ours) is type(theirs)


def _near(ours, theirs, rtol):
    if rtol and theirs.dtype.kind in "fc":
        numpy.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol)
    else:
        numpy.testing.assert_array_equal(ours, theirs)


def _check(text, dtype, rtol=0.0, native=True):
    with numpy.errstate(all="ignore"), plait.errstate(all="ignore"):
        theirs = outcome(lambda: _run(text, _scope(numpy, dtype)))
        ours, fell = _watched(text, _scope(plait, dtype))
    _same(ours, theirs, rtol)
    assert not (native and fell), fell


EXACT = [
    "np.append(a, b)", "np.append(a, b, axis=1)", "np.insert(x, 3, 7)", "np.insert(a, 2, 1, axis=1)", "np.insert(a, [1, 5], 0, axis=0)",
    "np.delete(x, 5)", "np.delete(a, slice(1, 90, 3), axis=0)", "np.delete(a, [0, -1], axis=1)", "np.delete(x, m)", "np.rot90(a)",
    "np.rot90(a, 3)", "np.rot90(t, 2, (0, 2))", "np.select([m, i > 20], [x, y], 5)", "np.select([m], [x])", "np.resize(a, (30, 1000))",
    "np.rollaxis(t, 2)", "np.unstack(t)", "np.block([[a, b], [b, a]])", "np.block([a, b])", "np.diag(x[:400])", "np.diag(a)",
    "np.diag(a, -2)", "np.diagflat(x[:400])", "np.trim_zeros(x)", "np.vander(x, 2)", "np.isclose(x, y)", "np.isclose(n, n, equal_nan=True)",
    "np.allclose(a, a)", "np.array_equiv(a, a[0])", "np.nan_to_num(n)", "np.nan_to_num(n, nan=3)", "np.iscomplex(x)", "np.isreal(x)",
    "np.real_if_close(x)", "np.unique(x, return_index=True)", "np.unique(a, return_inverse=True)", "np.unique_inverse(x)",
    "np.unique(n, return_index=True, return_inverse=True, return_counts=True)", "np.unique(n, return_index=True, return_inverse=True, equal_nan=False)",
    "np.unique_all(x)", "np.sort(np.unique_values(x))", "np.isin(x, y[:40])", "np.isin(a, y[:3], invert=True)", "np.setdiff1d(x, y[:50])",
    "np.intersect1d(x, y, return_indices=True)", "np.ix_(x, y)", "np.choose(i % 3, [x, y, n])",
    "np.ravel_multi_index((i, i // 2), (50, 25))", "np.unravel_index(i, (5, 10))", "np.piecewise(x, [m], [1, lambda v: v])",
    "np.shares_memory(a, b)", "np.result_type(a, 3)", "np.can_cast(a.dtype, 'f4')",
    "np.flatnonzero(np.fix(x.real))", "np.round(x, 2)", "np.round(t, -1)", "np.atleast_3d(a)", "np.convolve(x[:30], y[:2])",
]  # fmt: skip
REAL = [
    "np.digitize(x, [0, 1, 5])", "np.digitize(x, [5, 1, 0], right=True)", "np.histogram2d(x, y, 5)", "np.histogram2d(x, y, [4, 7], [[0, 3], [0, 9]])",
    "np.histogramdd(x.reshape(-1, 2), 3)", "np.histogramdd((x, y), (3, [0, 1, 7]), density=True)", "np.histogram_bin_edges(x, 7)", "np.nanmax(n)",
    "np.nanmin(a, axis=0)", "np.nanargmax(x)", "np.nanargmin(a, 1)", "np.partition(x, 50)[50]", "np.partition(a, 7, axis=0)[7]",
    "x.partition(9); x[:] = x[9]", "np.isneginf(x)", "np.isposinf(n)",
]  # fmt: skip
ROUNDED = [
    "np.nansum(n)", "np.nansum(a, axis=0)", "np.nanprod(n / 9)", "np.nanmean(n)", "np.nanmean(n.reshape(350, 400), axis=1)", "np.nanvar(n)",
    "np.nanstd(n.reshape(350, 400), axis=0, ddof=1)", "np.average(a, axis=0)", "np.average(x, weights=i)", "np.average(a, 1, returned=True)",
    "np.cov(a)", "np.cov(a, bias=True, aweights=np.arange(400.0))", "np.corrcoef(a)", "np.sinc(x)", "np.apply_over_axes(np.sum, t, [0, 2])", "np.polyval(k[:3], x)", "np.kron(a[0], b[0])", "np.polyval(k, x)",
    "np.interp(x.real, np.arange(9.0), np.arange(9.0)[::-1])", "np.vecdot(a, b)", "np.matvec(a, b[0])", "np.vecmat(a[:, 0], b)",
]  # fmt: skip


@pytest.mark.grid(3)
@pytest.mark.parametrize("dtype", ["?", "b", "q", "f", "d", "D"])
@pytest.mark.parametrize("text", EXACT)
def test_exact(text, dtype):
    _check(text, dtype, native=False)


@pytest.mark.parametrize("text", EXACT)
def test_exact_ones_of_doubles_do_not_fall_back(text):
    _check(text, "d", native="convolve" not in text)


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("text", REAL)
def test_of_real_numbers(text, dtype):
    _check(text, dtype, rtol=1e-12, native=dtype == "d")


@pytest.mark.parametrize("dtype", ["q", "f", "d", "D"])
@pytest.mark.parametrize("text", ROUNDED)
def test_rounded(text, dtype):
    _check(text, dtype, rtol=2e-4 if dtype == "f" else 1e-9, native=dtype == "d" and "weights" not in text)


def test_vecdot_of_halves_is_summed_in_single_precision():
    _check("np.vecdot(a, b)", "e", native=False)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("length", [1, 2, 8, 12, 31, 32, 40])
def test_convolve(mode, length):
    for name in ("convolve", "correlate"):
        for dtype in ("f", "d", "D"):
            x, y = _values(dtype), _values(dtype, 1)[:length]
            for p, q in ((x, y), (y, x)):
                theirs = getattr(numpy, name)(p, q, mode)
                _same(getattr(plait, name)(plait.asarray(p), plait.asarray(q), mode), theirs, 1e-3 if dtype == "f" else 1e-10)


def test_a_range_of_long_doubles():
    limits = numpy.array([1 + numpy.finfo("g").eps, 2], "g")
    _same(plait.histogram(plait.ones(200_000), 1, limits), numpy.histogram(numpy.ones(200_000), 1, limits), 0)


def test_convolve_with_what_is_not_finite():
    x, k = _values("d"), numpy.array([1, numpy.inf, 2])
    x[100] = numpy.nan
    _same(plait.convolve(plait.asarray(x), plait.asarray(k)), numpy.convolve(x, k), 1e-12)


def test_interp_at_the_edges():
    xp = numpy.array([0, 1, 1, 2, 4.0])
    fp = numpy.array([3, numpy.inf, 5, 7, numpy.nan])
    x = numpy.concatenate([xp, numpy.linspace(-1, 5, N), [numpy.nan, numpy.inf, -numpy.inf]])
    for fp_, options in ((fp, {}), (numpy.arange(5.0), {"left": -1, "right": 9}), (numpy.arange(5.0), {"period": 3})):
        theirs = numpy.interp(x, xp, fp_, **options)
        _same(plait.interp(plait.asarray(x), plait.asarray(xp), plait.asarray(fp_), **options), theirs, 1e-12)


WRITES = [
    "np.fill_diagonal(a, 3)", "np.fill_diagonal(a, a[0, :5])", "np.fill_diagonal(a.T, 2, wrap=True)", "np.copyto(a, 1)",
    "np.copyto(x, 2, where=m)", "np.copyto(a, a[0])", "np.place(x, m, [1, 0, 1])", "np.put(x, i, y)", "np.putmask(x, m, y)",
    "a.flat[::3] = 1", "a.flat[5:105:50] = x[:2]", "a.flat[2:9] = x[:3]", "a.T.flat[::2] = 0", "np.copyto(x, 1, where=[True])",
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["?", "b", "q", "e", "d", "D"])
@pytest.mark.parametrize("text", WRITES)
def test_writes(text, dtype):
    text += "; pass"
    _check(text, dtype, native=False)


MADE = [
    "np.hanning(200000)", "np.hamming(200001)", "np.blackman(200000)", "np.bartlett(200000)", "np.kaiser(200000, 5.0)", "np.indices((500, 400))",
    "np.indices((500, 400), sparse=True)", "np.fromfunction(lambda i, j: i * j, (500, 400))", "np.tril_indices(400)", "np.triu_indices(400, 3)",
    "np.tril_indices(400, -2, 380)", "np.diag_indices(400)", "np.mask_indices(400, np.triu, 1)", "np.logspace(0, 3, 200000)",
    "np.geomspace(1, 1000, num=200000)", "np.fft.fftfreq(200000, 0.5)", "np.fft.rfftfreq(200001)",
]  # fmt: skip


@pytest.mark.parametrize("text", MADE)
def test_arrays_made_of_numbers(text):
    _check(text, "d", rtol=1e-12)


def test_another_default_dtype_that_is_over():
    with plait.default_dtype("float32"):
        assert plait.hanning(200000).dtype == numpy.float32
    _check("np.hanning(200000)", "d", rtol=1e-12)


ERRORS = [
    "np.insert(a, 900, 1, axis=1)", "np.delete(x, N)", "np.append(a, x, axis=0)", "np.select([x], [x])", "np.select([], [])", "np.rot90(x)",
    "np.rot90(a, axes=(0, 0))", "np.digitize(x, [1, 3, 2])", "np.polyfit(a, x, 2)", "np.cov(t)", "np.diag(t)", "np.average(a, weights=x)",
    "np.average(x, weights=x * 0)", "np.histogramdd(a[:, :2], [3])", "np.histogram2d(x, y[:3])", "np.interp(x, y[:5], y[:4])", "np.ravel_multi_index((i, i), (3, 50))",
    "np.unravel_index(i, (3, 3))", "np.choose(i, [x, y])", "np.fill_diagonal(x, 1)", "np.partition(x, N + 1)", "np.piecewise(x, [m], [])",
    "np.trim_zeros(x, 'z')", "np.asarray_chkfinite(n)", "np.nanargmax(n * np.nan)", "np.copyto(a, 1j)", "np.copyto(i, 1.5)", "np.vander(a)",
    "np.linalg.solve(a, x)", "np.linalg.inv(a)", "np.linalg.cholesky(a)", "np.fft.fft(x, 0)", "np.fft.fft(x, axis=3)", "np.fft.fft(x, norm='odd')",
    "np.linalg.inv(np.zeros((130, 130)) + 0 * x[0])", "np.linalg.cholesky(-np.eye(130) + 0 * x[0])", "np.linalg.eigvals(np.full((130, 130), np.nan))",
    "np.vecdot(a[:2, :3], t[:3, :5, :3])", "np.matvec(t[:3, :2, :4], t[:2, 0, :4])", "np.vecmat(t[:2, 0, :4], t[:3, :4])", "np.apply_along_axis(np.sum, 5, a)", "np.block([a, [b]])", "np.unstack(x[0])", "np.resize(a, -3)", "np.isin(x, y, kind='odd')",
]  # fmt: skip


@pytest.mark.parametrize("text", ERRORS)
def test_errors_are_numpys(text):
    theirs = outcome(lambda: eval(text, {**_scope(numpy, "d"), "N": N}))
    ours = outcome(lambda: eval(text, {**_scope(plait, "d"), "N": N}))
    assert isinstance(theirs, tuple) and ours == theirs


def test_warnings_name_the_callers_line():
    a = plait.full((2000, 100), numpy.nan)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        plait.nanmean(a, axis=0)
    assert [str(w.message) for w in seen] == ["Mean of empty slice"] and seen[0].filename == __file__


def test_results_stay_pending():
    x = plait.asarray(_values("d")) * 2
    text = plait.explain(plait.sqrt(plait.select([x > 1, x > 0], [x * 2, x], 0.0)))
    assert text.startswith("1 region")


def test_empty_and_subclasses_are_numpys():
    class Own(plait.ndarray):
        pass

    own = plait.asarray(_values("d")).view(Own)
    assert plait.append(own, own).shape == (2 * N,)
    _same(plait.delete(plait.zeros((0, N)), 0, axis=1), numpy.delete(numpy.zeros((0, N)), 0, axis=1), 0)
    _same(plait.insert(plait.zeros(0), 0, 1), numpy.insert(numpy.zeros(0), 0, 1), 0)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtype", ["?", "b", "H", "q", "e", "f", "d", "D"])
def test_convolve_in_pieces_and_by_transforms(monkeypatch, mode, dtype):
    """To the bit: every sum is NumPy's, wherever the output is cut; the integers' by transforms are exact."""
    monkeypatch.setattr("plait._correlation._CUT", 1)
    monkeypatch.setattr("plait._correlation._PIECE", 1000)
    x, y = (_values(dtype, k)[:1000] for k in (0, 1))
    for n in (3, 77, 300, 1000):
        for p, q in ((x, y[:n][::-1]), (y[:n], x)):
            for name in ("convolve", "correlate"):
                with numpy.errstate(all="ignore"):
                    theirs = getattr(numpy, name)(p, q, mode)
                    ours = numpy.asarray(getattr(plait, name)(plait.asarray(p), plait.asarray(q), mode))
                assert ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes(), (name, n)


def test_integers_that_transforms_would_round_are_convolved_in_pieces(monkeypatch):
    monkeypatch.setattr("plait._correlation._CUT", 1)
    x = numpy.random.default_rng(3).integers(-(2**62), 2**62, 2000)
    _same(plait.convolve(plait.asarray(x), plait.asarray(x[:300])), numpy.convolve(x, x[:300]), 0)
