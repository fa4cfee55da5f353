"""Matrix products of views: taken as they lie in memory, in whatever order."""

import numpy
import pytest
from support import same

import plait

VIEWS = {
    "transposed": lambda a, b: a.T @ b.T,
    "every other row": lambda a, b: a[::2].T @ b[:, ::2].T,
    "every other column": lambda a, b: a[:, ::2].T @ b[::2].T,
    "reversed": lambda a, b: a[::-1, ::-1].T @ b[::-1].T,
    "block": lambda a, b: a[3:20, 5:40].T @ b[:30, 2:19].T,
    "broadcast row": lambda a, b: a.T[0] @ b.T,
    "stacked": lambda a, b: a.reshape(2, -1, 45).swapaxes(1, 2) @ b.T.reshape(2, -1, 33),
    "of a pending value": lambda a, b: (a + 1).T @ (b * 2)[::-1].T,
    "part of a pending value": lambda a, b: (a + 1)[:7].T @ (b * 2)[:, :7].T,
    "by itself": lambda a, b: a.T @ a + (b @ b.T)[:45, :45].sum(),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128", "int64"])
def test_views(name, dtype):
    rng = numpy.random.default_rng(1)
    a = rng.integers(-9, 9, (34, 45)).astype(dtype)
    b = rng.integers(-9, 9, (33, 34)).astype(dtype)
    same(VIEWS[name](plait.asarray(a), plait.asarray(b)), VIEWS[name](a, b))


def test_a_view_is_not_copied():
    x = plait.asarray(numpy.ones((300, 400)))
    text = plait.explain(x.T @ x[:, ::-1][:, ::-1])
    assert text.startswith("1 region"), text


BY_ITSELF = {
    "first by its transpose": lambda np, x: x @ x.T,
    "transpose by first": lambda np, x: x.T @ x,
    "dot": lambda np, x: np.dot(x.T, x),
    "two views": lambda np, x: x[:, 1:].T @ x[:, 1:],
    "every other": lambda np, x: x[::2, ::3].T @ x[::2, ::3],
    "backwards": lambda np, x: x[::-1] @ x[::-1].T,
    "einsum": lambda np, x: np.einsum("ki,kj->ij", x, x),
    "tensordot": lambda np, x: np.tensordot(x, x, (0, 0)),
    "batch": lambda np, x: (lambda s: s @ s.swapaxes(1, 2))(np.stack([x, x])),
    "pending": lambda np, x: (lambda y: y.T @ y / 7)(x + 1),
    "centred": lambda np, x: np.cov(x, rowvar=False),
    "correlations": lambda np, x: np.corrcoef(x),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", BY_ITSELF)
def test_the_product_with_its_transpose_is_symmetric(name, dtype):
    rng = numpy.random.default_rng(2)
    for size in 1, 31, 95, 200:
        x = rng.standard_normal((64, size)).astype(dtype)
        if numpy.iscomplexobj(x):
            x += 1j * rng.standard_normal(x.shape).astype(dtype)
        with numpy.errstate(all="ignore"):
            product, want = (numpy.asarray(BY_ITSELF[name](np, a)) for np, a in ((plait, plait.asarray(x)), (numpy, x)))
        assert product.dtype == want.dtype and product.shape == want.shape
        tolerance = 1e-4 if want.dtype.itemsize // (2 if want.dtype.kind == "c" else 1) == 4 else 1e-11
        assert numpy.allclose(product, want, rtol=tolerance, atol=tolerance, equal_nan=True)
        turned = numpy.atleast_2d(product).swapaxes(-1, -2)
        if name != "correlations" and (name != "centred" or dtype.startswith("float")):  # divided one after the other; hermitian
            assert numpy.array_equal(numpy.atleast_2d(product), turned, equal_nan=True)


def test_a_product_with_its_transpose_that_is_written_over_its_operand():
    x = numpy.random.default_rng(2).standard_normal((90, 90))
    mine = plait.asarray(x)
    numpy.testing.assert_allclose(plait.matmul(mine, mine.T, out=mine), x @ x.T, rtol=1e-11, atol=1e-11)
    numpy.testing.assert_allclose(mine, x @ x.T, rtol=1e-11, atol=1e-11)


def test_two_arrays_of_one_shape_are_not_taken_for_one():
    x, y = numpy.random.default_rng(2).standard_normal((2, 64, 90))
    a, b = plait.asarray(x), plait.asarray(y)
    for p, q, u, v in (a, a, x, x), (a, b, x, y), (b, b, y, y), (b, a, y, x):
        numpy.testing.assert_allclose(p.T @ q / 3, u.T @ v / 3, rtol=1e-11, atol=1e-11)


def test_a_write_after_the_product_was_recorded_does_not_reach_it():
    x = numpy.arange(12.0).reshape(3, 4)
    a = plait.asarray(x)
    before = a[:2] @ a.T
    a[0] += 1
    same(before, x[:2] @ x.T)
    same(a[:2] @ a.T, numpy.asarray(a)[:2] @ numpy.asarray(a).T)


VECTORS = {
    "column": lambda a, b: a @ b[:, :1],
    "column of a view": lambda a, b: a[::2, 1:] @ b[1:, 3:4],
    "spread column": lambda a, b: a[:, ::2] @ b[::2, 5:6],
    "column backwards": lambda a, b: a @ b[::-1, :1],
    "repeated number": lambda a, b: a.dot(a[0, 0] + 0 * b[:1, :1].repeat(45, 0)),
    "row": lambda a, b: a[:1] @ b,
    "row of a view": lambda a, b: a[7:8, 2:] @ b[2:, ::3],
    "turned row": lambda a, b: b[:, :1].T @ a.T,
    "turned": lambda a, b: a.T @ a[:, :1],
    "vector": lambda a, b: a @ b[:, 2],
    "vector on the left": lambda a, b: b[:, 2] @ a.T,
    "two vectors": lambda a, b: a[:1] @ a[:1].T,
    "one column each": lambda a, b: a[:, :1] @ b[:1, :1],
}


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int64"])
@pytest.mark.parametrize("rows", [34, 3000])
def test_products_with_one_column(name, dtype, rows):
    rng = numpy.random.default_rng(1)
    a = rng.integers(-9, 9, (rows, 45)).astype(dtype)
    b = rng.integers(-9, 9, (45, 33)).astype(dtype)
    same(VECTORS[name](plait.asarray(a), plait.asarray(b)), VECTORS[name](a, b))


def test_products_with_one_column_do_not_depend_on_the_threads():
    x = numpy.random.default_rng(3).standard_normal((300_000, 7))
    with_threads = []
    before = plait.get_num_threads()
    for threads in (1, 2, 3):
        plait.set_num_threads(threads)
        with_threads.append(numpy.asarray(plait.asarray(x) @ plait.asarray(x[:7, :1])))
    plait.set_num_threads(before)
    assert (with_threads[0] == with_threads[1]).all() and (with_threads[0] == with_threads[2]).all()


@pytest.mark.parametrize("code", "fd")
@pytest.mark.parametrize("turned", [False, True])
def test_a_product_with_its_own_transpose_is_symmetric(code, turned):
    values = numpy.random.default_rng(3).standard_normal((9, 700) if turned else (700, 9)).astype(code)
    x = plait.array(values)
    ours, theirs = (numpy.asarray(v.T @ v if turned else v @ v.T) for v in (x, values))
    assert numpy.array_equal(ours, ours.T) and ours.dtype == theirs.dtype
    numpy.testing.assert_allclose(ours, theirs, rtol=1e-4 if code == "f" else 1e-12, atol=1e-5 if code == "f" else 1e-13)


@pytest.mark.parametrize("code", "fd")
@pytest.mark.parametrize("shapes", [((300, 500), (500, 290)), ((40, 30, 20), (40, 20, 35)), ((9, 4000), (4000, 7))])
def test_products_do_not_depend_on_the_threads(code, shapes):
    rng = numpy.random.default_rng(4)
    a, b = (rng.standard_normal(s).astype(code) for s in shapes)
    with_threads = []
    before = plait.get_num_threads()
    for threads in (1, 2, 3):
        plait.set_num_threads(threads)
        with_threads.append(numpy.asarray(plait.asarray(a) @ plait.asarray(b)))
    plait.set_num_threads(before)
    assert (with_threads[0] == with_threads[1]).all() and (with_threads[0] == with_threads[2]).all()
    numpy.testing.assert_allclose(with_threads[0], a @ b, rtol=1e-3 if code == "f" else 1e-11, atol=1e-4)


def test_a_batch_of_half_precision():
    rng = numpy.random.default_rng(5)
    a, b = rng.integers(-5, 5, (3, 4, 6)).astype("e"), rng.integers(-5, 5, (6, 5)).astype("e")
    same(plait.asarray(a) @ plait.asarray(b), a @ b)
    same(plait.asarray(a)[::-1, :, ::2] @ plait.asarray(b)[::2], a[::-1, :, ::2] @ b[::2])


def attend(np, q, k, v):
    s = q @ np.swapaxes(k, -1, -2) * q.dtype.type(0.25)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


def convolve(np, x, w, b):
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return np.maximum(np.einsum("nchwij,ocij->nohw", windows, w) + b[:, None, None], 0)


HALVES = {
    "layer": (lambda np, x, w, b: np.maximum(x @ w + b, 0), (200, 300), (300, 130), (130,)),
    "softmax of rows": (
        lambda np, x, w: (lambda e: e / e.sum(-1, keepdims=True))(np.exp(x @ w * x.dtype.type(0.1))),
        (200, 100),
        (100, 130),
    ),
    "deep": (lambda np, x, w: np.tanh(x @ w), (70, 3000), (3000, 50)),
    "transposed": (lambda np, x, w: abs(x @ w.T), (100, 300), (130, 300)),
    "attention": (attend, (3, 130, 40), (3, 700, 40), (3, 700, 37)),
    "convolution": (convolve, (4, 32, 40, 40), (64, 32, 3, 3), (64,)),
}


@pytest.mark.parametrize("name", HALVES)
def test_halves_are_summed_in_floats(large, name):
    """In one region, whose error is about NumPy's."""
    f, *shapes = HALVES[name]
    rng = numpy.random.default_rng(2)
    a = [(rng.standard_normal(s) * 0.3).astype("f2") for s in shapes]
    exact, theirs = f(numpy, *(x.astype("f8") for x in a)), f(numpy, *a)
    text = str(plait.explain(f(plait, *map(plait.asarray, a))))
    assert text.startswith("1 region ") and "block of a matrix product" in text, text
    got = numpy.asarray(f(plait, *map(plait.asarray, a)))
    assert got.dtype == theirs.dtype == "f2" and got.shape == theirs.shape
    assert numpy.abs(got - exact).max() <= 1.5 * numpy.abs(theirs - exact).max()
    assert numpy.abs(got - exact).mean() <= 1.01 * numpy.abs(theirs - exact).mean()


def test_a_product_of_halves_is_rounded_before_it_is_read():
    """Beyond the largest it is infinite, whatever comes back."""
    x, w = numpy.full((200, 200), 40, "f2"), numpy.eye(200, dtype="f2") * numpy.float16(2000)
    with numpy.errstate(over="ignore"):
        assert numpy.isinf(numpy.asarray(plait.asarray(x) @ plait.asarray(w) * numpy.float16(0.25))).all()
