"""numpy.linalg and numpy.fft by NumPy's loops on Plait's memory: results, dtypes, layouts, errors and warnings are NumPy's."""

import fractions
import warnings

import numpy
import pytest
from support import host, outcome, same

import plait
from plait import _plait

SQUARE = (130, 130), (40, 21, 21), (7, 3, 30, 30)


def matrix(shape, dtype, seed=0):
    rng = numpy.random.default_rng(seed)
    a = rng.standard_normal(shape)
    if numpy.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    return (a * 4).astype(dtype)


def both(function, *arrays, rtol=1e-8, **options):
    theirs = outcome(lambda: function(numpy)(*arrays, **options))
    ours = outcome(lambda: function(plait)(*map(plait.asarray, arrays), **options))
    if isinstance(theirs, tuple) and not hasattr(theirs, "_fields") and isinstance(theirs[1], str):
        assert ours == theirs
        return
    same(ours, theirs, rtol)
    for p, q in zip(ours if isinstance(ours, tuple) else [ours], theirs if isinstance(theirs, tuple) else [theirs]):
        if isinstance(q, numpy.ndarray):
            assert p.strides == q.strides


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D", "i"])
@pytest.mark.parametrize("shape", SQUARE)
@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "qr", "svdvals", "eigvals", "cond", "pinv", "matrix_rank"])
def test_of_a_matrix(name, shape, dtype):
    a = matrix(shape, dtype) + (numpy.eye(shape[-1]) * 9).astype(dtype)
    rtol = 2e-2 if dtype in "fF" else 1e-6
    if name == "eigvals":  # in LAPACK's order, which rounding may change
        theirs, ours = numpy.linalg.eigvals(a), host(plait.linalg.eigvals(plait.asarray(a)))
        assert ours.dtype == theirs.dtype
        numpy.testing.assert_allclose(numpy.sort_complex(ours), numpy.sort_complex(theirs), rtol=rtol, atol=rtol)
        return
    with numpy.errstate(all="ignore"), plait.errstate(all="ignore"):
        both(lambda np: getattr(np.linalg, name), a, rtol=rtol)


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
@pytest.mark.parametrize("shape", SQUARE)
@pytest.mark.parametrize("name", ["cholesky", "eigvalsh"])
def test_of_a_symmetric_matrix(name, shape, dtype):
    a = matrix(shape, dtype)
    s = a @ a.swapaxes(-1, -2).conj() + (numpy.eye(shape[-1]) * 20).astype(dtype)
    both(lambda np: getattr(np.linalg, name), s, rtol=1e-2 if dtype in "fF" else 1e-8)


@pytest.mark.parametrize("shape", SQUARE)
def test_eigh_and_svd_make_the_matrix(shape):
    a = matrix(shape, "d")
    s = plait.asarray(a + a.swapaxes(-1, -2))
    w, v = plait.linalg.eigh(s)
    numpy.testing.assert_allclose(host((v * w[..., None, :]) @ v.swapaxes(-1, -2)), host(s), atol=1e-9)
    u, d, vh = plait.linalg.svd(plait.asarray(a), full_matrices=False)
    numpy.testing.assert_allclose(host((u * d[..., None, :]) @ vh), a, atol=1e-9)
    assert type(plait.linalg.svd(plait.asarray(a))).__name__ == "SVDResult"


@pytest.mark.parametrize("dtype", ["f", "d", "D"])
def test_solve_and_lstsq(dtype):
    rtol = 2e-2 if dtype == "f" else 1e-7
    for shape in SQUARE:
        a = matrix(shape, dtype) + (numpy.eye(shape[-1]) * 60).astype(dtype)
        both(lambda np: np.linalg.solve, a, matrix((*shape[:-1], 3), dtype, 1), rtol=rtol)
        both(lambda np: np.linalg.solve, a, matrix(shape[-1:], dtype, 1), rtol=rtol)
        both(lambda np: np.linalg.solve, a[..., ::-1, :].swapaxes(-1, -2), matrix((*shape[:-1], 3), "d", 1), rtol=rtol)
    both(lambda np: np.linalg.lstsq, matrix((4000, 5), dtype), matrix((4000,), dtype, 1), rtol=rtol)
    both(lambda np: np.linalg.lstsq, matrix((4000, 5), dtype), matrix((4000, 2), dtype, 1), rtol=rtol)
    both(lambda np: np.polyfit, numpy.linspace(0, 1, 150_000), matrix((150_000,), "d", 1), deg=3)


@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "eigh", "qr", "svd", "solve"])
def test_stacks_keep_the_order_of_their_axes(name):
    stack = numpy.eye(40) * 99 + numpy.ones((5, 6, 40, 40))

    def strides(np, order):
        a = np.asarray(stack.transpose(order).copy().transpose(numpy.argsort(order)))
        made = getattr(np.linalg, name)(a, *([np.ones((6, 40, 2))] if name == "solve" else []))
        return [x.strides for x in (made if isinstance(made, tuple) else (made,))]

    for order in ((0, 1, 2, 3), (1, 0, 2, 3), (3, 2, 1, 0), (2, 3, 0, 1)):
        assert strides(plait, order) == strides(numpy, order)
    assert outcome(lambda: plait.linalg.solve(plait.asarray(stack), plait.ones((4, 40, 2)))) == outcome(
        lambda: numpy.linalg.solve(stack, numpy.ones((4, 40, 2)))
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda np, a: np.linalg.inv(a * 0), lambda np, a: np.linalg.cholesky(a - 1e6 * np.eye(130)), lambda np, a: np.linalg.solve(a * 0, a),
        lambda np, a: np.linalg.inv(a[:, :-1]), lambda np, a: np.linalg.svd(a * np.nan),
        lambda np, a: np.linalg.solve(a, a[:20]), lambda np, a: np.linalg.det(a[0]), lambda np, a: np.linalg.eig(a * np.inf),
        lambda np, a: np.linalg.qr(a, "odd"), lambda np, a: np.linalg.lstsq(a, a[:3]), lambda np, a: np.linalg.inv(np.stack([a, a * 0])),
    ],
)  # fmt: skip
def test_errors_are_numpys(call):
    a = matrix((130, 130), "d")
    with numpy.errstate(all="ignore"), plait.errstate(all="ignore"):
        theirs = outcome(lambda: call(numpy, a))
        assert isinstance(theirs[1], str) and outcome(lambda: call(plait, plait.asarray(a))) == theirs


def test_a_warning_of_a_loop():
    a = numpy.full((200, 200), 1e300) + numpy.eye(200) * 1e301
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert plait.linalg.det(plait.asarray(a)) == numpy.linalg.det(a) == numpy.inf
    assert [str(w.message) for w in seen] == ["overflow encountered in det"] * 2
    assert seen[0].filename == seen[1].filename
    with pytest.raises(FloatingPointError, match="overflow encountered in det"), numpy.errstate(over="raise"):
        plait.linalg.det(plait.asarray(a))


# --- transforms -------------------------------------------------------------------------------------------------------

NAMES = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]


@pytest.mark.parametrize("dtype", ["e", "f", "d", "F", "D", "i", "?"])
@pytest.mark.parametrize("name", NAMES)
def test_transforms_of_lines(name, dtype):
    if name in ("rfft", "ihfft") and dtype in "FD":
        dtype = dtype.lower()
    a = matrix((40, 30, 45), dtype)
    for options in ({}, {"axis": 0}, {"axis": 1, "n": 64}, {"n": 20, "norm": "ortho"}, {"axis": -2, "norm": "forward"}):
        both(lambda np: getattr(np.fft, name), a, rtol=0, **options)
    both(lambda np: getattr(np.fft, name), a.T[::2, :, ::-1], rtol=0)


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"])
def test_transforms_of_several_axes(name):
    a = matrix((40, 30, 45), "d" if name.startswith("r") else "D")
    both(lambda np: getattr(np.fft, name), a, rtol=0)
    both(lambda np: getattr(np.fft, name), a, rtol=0, axes=(1, 0))
    both(lambda np: getattr(np.fft, name), a, rtol=0, s=(16, 50), axes=(0, 2), norm="ortho")
    both(lambda np: np.fft.fftshift, a)
    both(lambda np: np.fft.ifftshift, a, axes=1)


@pytest.mark.grid(3)
@pytest.mark.parametrize("n", [1 << 17, 1 << 18, 300_000, 2 * 360 * 365, 131_101 * 2, 370_368])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft"])
def test_long_lines(name, n):
    for dtype, rtol in (("d" if name == "rfft" else "D", 1e-12), ("f" if name == "rfft" else "F", 1e-5)):
        a = matrix((2 * n,), dtype)
        for line in (a[:n], a[::2]):
            for norm in (None, "ortho"):
                theirs = getattr(numpy.fft, name)(line, norm=norm)
                ours = getattr(plait.fft, name)(plait.asarray(line) * 1, norm=norm)
                assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
                assert numpy.abs(host(ours) - theirs).max() <= rtol * numpy.abs(theirs).max()


def test_a_long_line_has_the_same_bits_for_any_number_of_threads():
    a = plait.asarray(matrix((1 << 18,), "D"))
    threads = plait.get_num_threads()
    try:
        found = []
        for n in (1, 2, 3):
            plait.set_num_threads(n)
            found.append(host(plait.fft.fft(a)).tobytes())
    finally:
        plait.set_num_threads(threads)
    assert len(set(found)) == 1


def test_transforms_to_memory_of_the_caller():
    a = plait.asarray(matrix((64, 300), "D"))
    out = plait.empty((64, 300), complex)
    assert plait.fft.fft(a, out=out) is out
    same(out, numpy.fft.fft(host(a)))


def test_a_transform_of_what_is_not_finite():
    a = matrix((64, 300), "d")
    a[3, 5], a[4, 7] = numpy.inf, numpy.nan
    with numpy.errstate(all="ignore"), plait.errstate(all="ignore"):
        both(lambda np: np.fft.fft, a)


def test_numpys_loops_run_natively():
    before = _plait.stats()["recorded_total"]
    a = plait.asarray(matrix((64, 300), "d")) * 2
    plait.explain(plait.fft.rfft(a) * 2)
    assert _plait.stats()["recorded_total"] > before
    assert "fallback" not in plait.explain(lambda x: plait.fft.rfft(x * 2), a).splitlines()[-1]


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize("n", [5003, 2 * 5003])
def test_lines_of_a_prime_length_by_transforms_of_another(monkeypatch, name, n):
    monkeypatch.setattr("plait._loops.Transform._LEAST", 1)
    rng = numpy.random.default_rng(0)
    a = rng.standard_normal(n // 2 + 1 if name == "irfft" else n)
    for dtype, rtol in (("d", 1e-13), ("f", 1e-5), ("D", 1e-13), ("F", 1e-5)):
        if name == "rfft" and dtype in "DF":
            continue
        line = (a * (1 + 2j) if dtype in "DF" else a).astype(dtype)
        for options in ({}, {"norm": "ortho"}):
            length = {"n": n} if name == "irfft" else {}
            theirs = getattr(numpy.fft, name)(line, **length, **options)
            ours = numpy.asarray(getattr(plait.fft, name)(plait.asarray(line), **length, **options))
            assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
            assert abs(ours - theirs).max() <= rtol * abs(theirs).max()


def test_small_matrices_as_numpy_has_them():
    """Without NumPy's search for dtypes, where that finds nothing: the same results and errors, and settings that hold afterwards."""
    values = [matrix((4, 4), d) for d in ("d", "D", "f", "F", "l", "?")]
    values += [matrix((4, 4), "d").astype(">f8"), matrix((2, 4, 4), "d"), matrix((0, 0), "d")]
    values += [numpy.zeros((3, 3)), matrix((3, 4), "d"), matrix((4,), "d"), matrix((4, 4), "d").T[::-1], matrix((1, 1), "D")]
    values += [numpy.eye(3) * 2 + 0.5, -numpy.eye(3), numpy.eye(3) * (2 + 0j), numpy.full((3, 3), numpy.nan)]
    names = "inv", "det", "slogdet", "cholesky", "eigvalsh", "eigh"
    functions = [lambda np, name=name: getattr(np.linalg, name) for name in names]
    functions += [lambda np: lambda a: np.linalg.inv(a=a), lambda np: lambda a: np.linalg.eigh(a, "U")]
    functions += [lambda np: lambda a: np.linalg.cholesky(a, upper=True)]
    functions += [lambda np, b=b: lambda a: np.linalg.solve(a, np.asarray(b)) for b in (*values, matrix((4,), "D"), matrix((3,), "d"))]
    with numpy.errstate(divide="raise", over="warn"):
        before = numpy.geterr(), numpy.geterrcall()
        for f in functions:
            for a in values:
                both(f, a, rtol=0)
                assert before == (numpy.geterr(), numpy.geterrcall())


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8, 9])
@pytest.mark.parametrize("dtype", ["d", "f"])
def test_stacks_of_small_matrices(n, dtype):
    """Many in the lanes of registers, as LAPACK has them one by one."""
    rng = numpy.random.default_rng(n)
    a = rng.standard_normal((3001, n, n))
    a = (a @ a.transpose(0, 2, 1) + n * numpy.eye(n)).astype(dtype)
    b = rng.standard_normal((3001, n, 3)).astype(dtype)
    rtol = 1e-10 if dtype == "d" else 1e-3
    for stack in (a, a.transpose(0, 2, 1), a[::-2], a.reshape(3001, 1, n, n)):
        for name, args in (("inv", ()), ("det", ()), ("slogdet", ()), ("cholesky", ())):
            theirs = getattr(numpy.linalg, name)(stack, *args)
            ours = getattr(plait.linalg, name)(plait.asarray(stack), *args)
            for u, v in zip(theirs, ours) if name == "slogdet" else [(theirs, ours)]:
                v = numpy.asarray(v)
                assert v.dtype == u.dtype and v.shape == u.shape
                numpy.testing.assert_allclose(v, u, rtol, rtol)
    x = plait.linalg.solve(plait.asarray(a), plait.asarray(b))
    numpy.testing.assert_allclose(numpy.asarray(x), numpy.linalg.solve(a, b), rtol, rtol)
    a[-1] = 0
    for np in (numpy, plait):
        for name in ("inv", "cholesky"):
            with pytest.raises(numpy.linalg.LinAlgError, match="Singular matrix" if name == "inv" else "not positive definite"):
                getattr(np.linalg, name)(np.asarray(a))
    assert numpy.asarray(plait.linalg.det(plait.asarray(a)))[-1] == 0


def exact_inverse(a):
    """Of one matrix of floats, by rational numbers, rounded once; and the determinant."""
    n = len(a)
    w = [[fractions.Fraction(x) for x in row] + [fractions.Fraction(i == j) for j in range(n)] for i, row in enumerate(a.tolist())]
    det = fractions.Fraction(1)
    for c in range(n):
        p = next(i for i in range(c, n) if w[i][c])
        det *= w[p][c] * (1 if p == c else -1)
        w[c], w[p] = w[p], w[c]
        w[c] = [x / w[c][c] for x in w[c]]
        for i in range(n):
            if i != c:
                w[i] = [x - w[i][c] * y for x, y in zip(w[i], w[c])]
    return numpy.array([[float(x) for x in row[n:]] for row in w]), float(det)


def near_singular(n, count):
    """Matrices of all conditions up to 1e12: of one small singular value, of several, and of rows and columns of different sizes."""
    rng = numpy.random.default_rng(n)
    u, v = (numpy.linalg.qr(rng.standard_normal((count, n, n)))[0] for _ in range(2))
    s = numpy.ones((count, n))
    for i, least in enumerate(10.0 ** rng.uniform(-12, 0, count)):
        s[i, rng.integers(0, n) :] = least
    a = (u * s[:, None]) @ v
    a[::3] *= 10.0 ** rng.uniform(-6, 6, (len(a[::3]), n, 1))
    a[1::3] *= 10.0 ** rng.uniform(-6, 6, (len(a[1::3]), 1, n))
    return a


@pytest.mark.parametrize("n", [2, 3, 4])
def test_small_inverses_that_cancel(n):
    """Their errors are those of elimination by pivots, however near to singular they are."""
    few, eps = 200, numpy.finfo("d").eps
    a = numpy.concatenate([near_singular(n, few)] * (20000 // few))
    inverses, determinants = (numpy.asarray(getattr(plait.linalg, f)(plait.asarray(a))) for f in ("inv", "det"))
    for m, x, d in zip(a[:few], inverses, determinants):
        exact, det = exact_inverse(m)
        condition = (abs(exact) @ abs(m)).max()
        assert abs(x - exact).max() <= 8 * eps * condition * abs(exact).max()
        assert abs(d - det) <= 8 * eps * condition * abs(det)


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_small_matrices_are_each_for_itself(n):
    """Bits do not depend on neighbours, be they singular, at the ends of the range or nothing."""
    rng = numpy.random.default_rng(n)
    a = near_singular(n, 5001)
    others = a.copy()
    for k, other in enumerate((0, numpy.nan, numpy.inf, 1e-200 * numpy.eye(n), 1e200 * numpy.eye(n))):
        others[rng.random(5001) < 0.02 * (k + 1)] = other
    kept = (others == a).all((1, 2))
    assert 0.5 < kept.mean() < 1
    order = rng.permutation(5001)
    for stack, which in ((others, slice(None)), (a[order], numpy.argsort(order))):
        ours, again = (numpy.asarray(plait.linalg.det(plait.asarray(s))) for s in (a, stack))
        assert (ours == again[which])[kept].all()
    b, again = (numpy.asarray(plait.linalg.inv(plait.asarray(s))) for s in (a, a[order]))
    assert (b[order] == again).all()


@pytest.mark.parametrize("n", [2, 3, 4])
def test_small_matrices_that_have_no_inverse(n):
    """Which pivots are 0 is a matter of how NumPy's are rounded."""
    rng = numpy.random.default_rng(n)
    a = (rng.integers(-6, 7, (5000, n, n - 1)) @ rng.integers(-6, 7, (5000, n - 1, n))).astype("d")
    theirs, ours = numpy.linalg.det(a) == 0, numpy.asarray(plait.linalg.det(plait.asarray(a))) == 0
    assert 0.2 < theirs.mean()
    assert (ours == theirs).mean() > 0.95
    with pytest.raises(numpy.linalg.LinAlgError, match="Singular matrix"):
        plait.linalg.inv(plait.asarray(a[ours][:1].repeat(5000, 0)))


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_small_matrices_at_the_ends_of_the_range(n):
    a = numpy.random.default_rng(n).standard_normal((5000, n, n))
    signs = numpy.where(numpy.arange(n) % 2, -1.0, 1.0)[:, None]
    stacks = [a * scale for scale in (1e-200, 1e-120, 1e-60, 1e60, 1e120, 1e200)]
    stacks += [a * scale**signs for scale in (1e-120, 1e-60, 1e60, 1e120)]
    for stack in stacks:
        for name in ("inv", "slogdet", "det"):
            results, said = [], []
            for np in (numpy, plait):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    made = getattr(np.linalg, name)(np.asarray(stack))
                results.append([numpy.asarray(m) for m in (made if name == "slogdet" else (made,))])
                said.append([str(w.message) for w in caught])
            assert said[0] == said[1]
            for theirs, ours in zip(*results):
                numpy.testing.assert_allclose(ours, theirs, 1e-8)


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_determinants_of_nothing_warn(n):
    a = numpy.random.default_rng(n).standard_normal((5000, n, n))
    a[7] = numpy.nan
    for name in ("det", "slogdet"):
        for np in (numpy, plait):
            with pytest.warns(RuntimeWarning, match=f"invalid value encountered in {name}"):
                found = getattr(np.linalg, name)(np.asarray(a))
        assert numpy.isnan(numpy.asarray(found if name == "det" else found[1])).nonzero()[0].tolist() == [7]
    for np in (numpy, plait):
        with pytest.warns(RuntimeWarning, match="overflow encountered in det"):
            np.linalg.det(np.asarray(a[8:] * 1e200))


def test_inverses_of_diagonals_have_no_negative_zeros():
    for n in (2, 3, 4):
        x = numpy.asarray(plait.linalg.inv(plait.asarray(numpy.stack([-numpy.eye(n), 2 * numpy.eye(n)] * 2500))))
        assert not numpy.signbit(x[x == 0]).any()


@pytest.mark.parametrize("dtype", ["d", "f"])
def test_products_of_small_matrices_are_part_of_a_loop(dtype):
    rng = numpy.random.default_rng(0)
    f, p, h = (rng.standard_normal(s).astype(dtype) for s in ((4, 4), (1000, 4, 4), (1000, 2, 4)))

    def step(np, f, p, h):
        p = np.matmul(np.matmul(f, p), f.T) + 1
        return np.matmul(h, np.matmul(p, np.swapaxes(h, -1, -2)))

    ours = step(plait, *map(plait.asarray, (f, p, h)))
    assert "1 region" in str(plait.explain(ours))
    theirs = step(numpy, f, p, h)
    assert ours.dtype == theirs.dtype
    rtol = 1e-11 if dtype == "d" else 1e-3
    numpy.testing.assert_allclose(numpy.asarray(ours), theirs, rtol, rtol)
