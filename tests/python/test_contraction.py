"""einsum, tensordot, inner and dot over several axes: NumPy's dtypes, shapes, strides, values and errors."""

import itertools

import numpy
import pytest
from support import outcome

import plait

RANDOM = numpy.random.default_rng(3)


def data(shape, dtype):
    if numpy.dtype(dtype).kind in "iu":
        return RANDOM.integers(0, 60, shape).astype(dtype)
    if dtype == "?":
        return RANDOM.random(shape) < 0.3
    x = RANDOM.standard_normal(shape)
    return (x + 1j * RANDOM.standard_normal(shape)).astype(dtype) if numpy.dtype(dtype).kind == "c" else x.astype(dtype)


def same(f, *arrays):
    """f(np, *arrays) of both libraries; the arrays may be views."""
    want = f(numpy, *arrays)
    got = f(plait, *map(plait.asarray, arrays))
    assert type(want) is numpy.ndarray or numpy.ndim(want) == 0
    assert isinstance(got, plait.ndarray) == isinstance(want, numpy.ndarray) or numpy.ndim(want) == 0
    assert got.dtype == want.dtype and got.shape == want.shape
    if isinstance(want, numpy.ndarray):
        assert got.strides == want.strides
    host, exact = numpy.asarray(got), want.dtype.kind in "iub?"
    if exact:
        assert numpy.array_equal(host, want)
    else:
        bound = {2: 2e-2, 4: 2e-5, 8: 1e-12, 16: 1e-12}[want.real.dtype.itemsize if want.dtype.kind == "c" else want.dtype.itemsize]
        assert numpy.allclose(host, want, rtol=bound, atol=bound * 40)


SIZES = {"a": 3, "b": 5, "c": 40, "d": 33, "e": 7, "f": 1, "g": 2}
EQUATIONS = [
    "cd,de->ce", "cd,de->ec", "dc,de->ce", "cd,de", "cd,ed->ce", "bcd,bde->bce", "bcd,bde->cbe", "bcd,bde->ceb", "bcd,de->bce", "bcd,de->ebc",
    "bcde,deba->ca", "cbde,edba->ac", "bcd,dea->bcea", "bcd,dea->ebca", "bcde,ade->abc", "cd,cd->c", "cd,cd->", "c,c->", "cd,c->d", "cd,d->c", "c,d->cd", "c,d->dc",
    "bcd,cd->bc", "bcd,bd->bc", "bcd,bcd->bd", "cd,cd->cd", "cd,dc->cd", "bcf,fde->bcde", "bcf,fde->dcbe", "bcf,fce->be", "bc,cd->fbd".replace("f", ""), "cda,ae->c", "cd,ab->ca",
    "aab,bc->ac", "cd,dd->c", "aa,ac->c", "bcde,bcde->", "bcde,cbde->eb", "b...,b...->...", "...c,cd->...d", "c...,cd->...d", "b...c,...cd->b...d",
]  # fmt: skip


def shape_of(term):
    return tuple(itertools.chain.from_iterable((3, 4) if c == "." else (SIZES[c],) for c in term.replace("...", ".")))


def stepped(np, x):
    wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
    view = wide[tuple(slice(None, None, 2) for _ in x.shape)]
    view[...] = x
    return view


# The values as they may lie in memory.
LIES = [
    lambda np, x: x,
    lambda np, x: np.asarray(x, order="F"),
    stepped,
    lambda np, x: x[::-1],
    lambda np, x: np.swapaxes(np.ascontiguousarray(np.swapaxes(x, 0, -1)), 0, -1),
    lambda np, x: np.broadcast_to(x[:1], x.shape),
]


@pytest.mark.parametrize("equation", EQUATIONS)
def test_two_operands(equation):
    first, second = equation.split("->")[0].split(",")
    a, b = data(shape_of(first), "f4"), data(shape_of(second), "f4")
    for i, j in [*zip(range(6), range(6)), (0, 1), (0, 4), (1, 0), (4, 0), (2, 5), (5, 3)]:
        for optimize in (False, True):
            same(lambda np, x, y: np.einsum(equation, LIES[i](np, x), LIES[j](np, y), optimize=optimize), a, b)


@pytest.mark.parametrize("dtype", "?bBhHiIqQefdFD")
def test_dtypes(dtype):
    a, b = data((4, 5, 6), dtype), data((6, 5, 3), dtype)
    for optimize in (False, True):
        same(lambda np, x, y: np.einsum("abc,cbd->da", x, y, optimize=optimize), a, b)
        same(lambda np, x, y: np.einsum("abc,cbd->ad", x[:, ::2], y[:, ::2], optimize=optimize), a, b)
        same(lambda np, x, y: np.einsum("abc,cbd->d", x, y, optimize=optimize), a, b)
    same(lambda np, x, y: np.tensordot(x, y, ([1, 2], [1, 0])), a, b)
    same(lambda np, x, y: np.tensordot(x[::2, 1:], y[:, 1:], ([1, 2], [1, 0])), a, b)
    same(lambda np, x, y: np.inner(x, y.transpose(2, 1, 0)), a, b)
    same(lambda np, x, y: np.dot(x[:, :, :5], y), a, b)


def test_mixed_dtypes():
    for one, other in itertools.product("?bifFd", repeat=2):
        a, b = data((4, 5, 6), one), data((6, 5, 3), other)
        for optimize in (False, True):
            same(lambda np, x, y: np.einsum("abc,cbd->ad", x, y, optimize=optimize), a, b)
        same(lambda np, x, y: np.tensordot(x[:, 1:], y[:, 1:], ([1, 2], [1, 0])), a, b)


def test_one_operand():
    x = data((4, 4, 5), "d")
    for equation in ("iij->ij", "iij->ji", "iij->j", "ijk->kji", "ijk->", "ijk->k", "ijk->ki", "iij", "...j->j...", "kji"):
        same(lambda np, x: np.einsum(equation, x), x)
    a = plait.asarray(x)
    plait.einsum("iij->ij", a)[...] = 0
    assert (numpy.asarray(a)[numpy.arange(4), numpy.arange(4)] == 0).all()


@pytest.mark.parametrize("equation", [
    "a,xy->y", "a,xy->", "ab,xy->ay", "ab,c->a", "ab,->a", "ba,->a", "a,b->", "a,b->a", "a,ab->b", "ab,bc->c", "a,x", "a,a->a", "ab,b->ab", ",", "a,->a",
])  # fmt: skip
@pytest.mark.parametrize("values", [(0, 1, numpy.inf, 2), (0.0, -0.0), (-0.0, -1, 2, 0)], ids=str)
def test_products_are_summed_in_numpys_order(equation, values):
    """Infinities and signs of zeros show what is summed before it is multiplied, and that sums begin at 0."""
    extents, random = {"a": 2, "b": 3, "c": 1, "x": 2, "y": 4}, numpy.random.default_rng(1)
    for dtype in "defF" if numpy.inf not in values else "def":
        a, b = (random.choice(values, [extents[l] for l in term]).astype(dtype) for term in equation.split("->")[0].split(","))
        for optimize in (False, True):
            with numpy.errstate(all="ignore"), plait.errstate(all="ignore"):
                theirs = numpy.einsum(equation, a, b, optimize=optimize)
                ours = plait.einsum(equation, plait.asarray(a), plait.asarray(b), optimize=optimize)
            exactly(ours, theirs)


@pytest.mark.parametrize("name, axes", [("dot", ()), ("inner", ()), ("outer", ()), ("kron", ()), ("tensordot", (0,)), ("tensordot", (1,))])
def test_signs_of_zeros(name, axes):
    """A product of single elements is no sum in NumPy's BLAS: it may be -0.0."""
    shapes = [(), (1,), (1, 1), (3,), (1, 3), (3, 1), (1, 1, 1), (2, 1, 1)]
    for dtype, one, other in itertools.product("dFe", shapes, shapes):
        a, b = numpy.full(one, -0.0, dtype), numpy.ones(other, dtype)
        for x, y in ((a, b), (b, a)):
            theirs = outcome(lambda: getattr(numpy, name)(x, y, *axes))
            if not isinstance(theirs, tuple):
                exactly(getattr(plait, name)(plait.asarray(x), plait.asarray(y), *axes), theirs)


def exactly(ours, theirs):
    """Signs of zeros included, but for complex numbers: there they hang on the processor that NumPy has code for."""
    ours, theirs = (numpy.atleast_1d(numpy.asarray(x)) for x in (ours, theirs))
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    for x, y in ((ours.real, theirs.real), (ours.imag, theirs.imag)):
        assert numpy.array_equal(x, y, equal_nan=True)
        assert ours.dtype.kind == "c" or numpy.array_equal(numpy.signbit(x) & ~numpy.isnan(x), numpy.signbit(y) & ~numpy.isnan(y))


def test_windows_are_not_unfolded():
    x, w = data((3, 8, 20, 21), "f4"), data((6, 8, 3, 3), "f4")
    windows = lambda np, x, **k: np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    for optimize in (False, True):
        same(lambda np, x, w: np.einsum("nchwij,ocij->nohw", windows(np, x), w, optimize=optimize), x, w)
        same(lambda np, x, w: np.einsum("nchwij,ocij->nohw", windows(np, x)[:, :, ::2, ::2], w, optimize=optimize), x, w)
        same(lambda np, x, w: np.einsum("nchwij,ocij->nhwo", windows(np, x), w, optimize=optimize), x, w)
        same(lambda np, x, w: np.einsum("nchwij,cij->nchw", windows(np, x), w[0], optimize=optimize), x, w)
        same(
            lambda np, x, w: np.einsum(
                "ngchwij,gocij->ngohw", windows(np, x).reshape(3, 2, 4, 18, 19, 3, 3), w.reshape(2, 3, 8, 3, 3)[:, :, :4], optimize=optimize
            ),
            x,
            w,
        )
    same(lambda np, x, w: np.tensordot(windows(np, x), w, axes=((1, 4, 5), (1, 2, 3))), x, w)
    same(lambda np, x, w: np.tensordot(w, windows(np, x), axes=((1, 2, 3), (1, 4, 5))), x, w)
    # dilated by 2
    same(
        lambda np, x, w: np.einsum("nchwij,ocij->nohw", np.lib.stride_tricks.sliding_window_view(x, (5, 5), axis=(2, 3))[..., ::2, ::2], w),
        x,
        w,
    )
    signal, taps = data((4, 300), "d"), data((7, 4, 9), "d")
    same(lambda np, x, w: np.einsum("ctk,ock->ot", np.lib.stride_tricks.sliding_window_view(x, 9, axis=1), w), signal, taps)
    cube, filters = data((2, 9, 10, 11), "d"), data((5, 2, 3, 3, 3), "d")
    same(
        lambda np, x, w: np.einsum("cdhwijk,ocijk->odhw", np.lib.stride_tricks.sliding_window_view(x, (3, 3, 3), axis=(1, 2, 3)), w),
        cube,
        filters,
    )


def test_several_operands():
    a, b, c = data((20, 30), "d"), data((30, 40), "d"), data((40, 10), "d")
    for equation in ("ij,jk,kl->il", "ij,jk,kl->li", "ij,jk,kl", "ij,jk,kl->"):
        for optimize in (True, "greedy", "optimal", ["einsum_path", (0, 1), (0, 1)], ["einsum_path", (1, 2), (0, 1)]):
            same(lambda np, a, b, c: np.einsum(equation, a, b, c, optimize=optimize), a, b, c)
    same(lambda np, a, b, c: np.einsum(a, [0, 1], b, [1, 2], c, [2, 3], [3, 0], optimize=True), a, b, c)
    same(lambda np, a, b, c: np.einsum(a, [0, 1], b, [1, 2]), a, b, c)
    same(lambda np, a, b, c: np.einsum(a, [0, Ellipsis], b, [Ellipsis, 2], [Ellipsis, 2, 0]), a, a.T.copy(), c)


def test_nothing_falls_back(monkeypatch):
    from plait import _products

    monkeypatch.setattr(_products, "call", None)
    x = plait.ones((4, 5, 6))
    (
        plait.einsum("abc,dbc->ad", x, x),
        plait.einsum("abc,dbc,ad->b", x, x, plait.ones((4, 4)), optimize=True),
        plait.tensordot(x, x, ([0, 1], [0, 1])),
    )


@pytest.mark.parametrize("arguments", [
    ("ij,jk", (3, 4), (5, 6)), ("ij,jk->il", (3, 4), (4, 5)), ("ij,jk", (3, 4)), ("ijk,jk", (3, 4), (4, 5)), ("ij-jk", (3, 4), (4, 5)), ("ij,jk->ii", (3, 4), (4, 5)), ("ii", (3, 4)), ("i..,i", (3, 4), (3,)),
])  # fmt: skip
@pytest.mark.parametrize("optimize", [False, True])
def test_mistakes_are_numpys(arguments, optimize):
    equation, *shapes = arguments
    said = []
    for np in (numpy, plait):
        with pytest.raises(Exception) as e:
            np.einsum(equation, *map(np.ones, shapes), optimize=optimize)
        said.append((type(e.value), str(e.value)))
    assert said[0] == said[1]


def test_keywords():
    a, b = data((3, 4), "f4"), data((4, 5), "f4")
    same(lambda np, a, b: np.einsum("ij,jk", a, b, dtype="f8"), a, b)
    same(lambda np, a, b: np.einsum("ij,jk", a, b, order="F"), a, b)
    out = plait.empty((3, 5), "f4")
    assert plait.einsum("ij,jk->ik", plait.asarray(a), plait.asarray(b), out=out) is out
    assert numpy.allclose(numpy.asarray(out), a @ b, atol=1e-5)


def test_empty_operands():
    for shapes in (((0, 4), (4, 5)), ((3, 0), (0, 5)), ((3, 4), (4, 0))):
        a, b = (numpy.ones(s, "f4") for s in shapes)
        same(lambda np, a, b: np.einsum("ij,jk->ik", a, b), a, b)
        same(lambda np, a, b: np.tensordot(a, b, 1), a, b)


@pytest.mark.parametrize("pad_width", [1, (1, 2), ((1, 0), (2, 3), (0, 0)), ((1,), (0,), (2,)), 0])
@pytest.mark.parametrize("order", ["C", "F"])
def test_pad_with_a_constant(pad_width, order):
    x = data((3, 4, 5), "f4")
    same(lambda np, x: np.pad(np.asarray(x, order=order), pad_width), x)
    same(lambda np, x: np.pad(np.asarray(x, order=order), pad_width, constant_values=2.5), x)
    same(lambda np, x: np.pad(np.asarray(x, order=order), pad_width, "edge"), x)


@pytest.mark.parametrize("arguments", [(-1,), (1.5,), (((1, 2, 3),),), (1, "nothing")])
def test_mistakes_of_pad_are_numpys(arguments):
    said = []
    for np in (numpy, plait):
        with pytest.raises(Exception) as e:
            np.pad(np.ones((3, 4)), *arguments)
        said.append((type(e.value), str(e.value)))
    assert said[0] == said[1]


def by_windows(np, x, w, b, **how):
    v = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return np.maximum(np.einsum("nchwij,ocij->nohw", v, w, **how) + b[:, None, None], 0)


def by_tensordot(np, x, w, b):
    v = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return np.maximum(np.tensordot(v, w, axes=((1, 4, 5), (1, 2, 3))) + b, 0)


def by_shifts(np, x, w, b):
    y, h, l = 0, x.shape[2] - 2, x.shape[3] - 2
    for i, j in itertools.product(range(3), range(3)):
        y = y + np.einsum("nchw,oc->nohw", x[:, :, i : i + h, j : j + l], w[:, :, i, j])
    return np.maximum(y + b[:, None, None], 0)


def by_sum(np, x, w, b):
    y = np.zeros((x.shape[0], w.shape[0], x.shape[2] - 2, x.shape[3] - 2), x.dtype)
    for i, j in itertools.product(range(3), range(3)):
        y += np.einsum("nchw,oc->nohw", x[:, :, i : i + y.shape[2], j : j + y.shape[3]], w[:, :, i, j])
    return np.maximum(y + b[:, None, None], 0)


def by_stack(np, x, w, b):
    h, l = x.shape[2] - 2, x.shape[3] - 2
    parts = [np.einsum("nchw,oc->nohw", x[:, :, i : i + h, j : j + l], w[:, :, i, j]) for i, j in itertools.product(range(3), range(3))]
    return np.maximum(np.stack(parts).sum(0) + b[:, None, None], 0)


CONVOLUTIONS = [by_windows, lambda *a: by_windows(*a, optimize=True), by_tensordot, by_shifts, by_sum, by_stack]


@pytest.mark.grid(3)
@pytest.mark.parametrize("f", CONVOLUTIONS)
@pytest.mark.parametrize("padding", [None, "pad", "zeros"])
@pytest.mark.parametrize("special", [None, numpy.nan, numpy.inf])
def test_padding_bias_and_activation_are_computed_with_a_convolution(f, special, padding):
    # As many filters that none of the shifted slices is computed at the call.
    x, w, b = data((2, 16, 40, 42), "f4"), data((160, 16, 3, 3), "f4"), data((160,), "f4")
    if special is not None:
        x[1, 2, 7, 9] = special

    def padded(np, x):
        if padding == "pad":
            return np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        p = np.zeros((2, 16, 42, 44), x.dtype)
        p[:, :, 1:-1, 1:-1] = x
        return p

    def convolved(np, x, w, b):
        return f(np, padded(np, x) if padding else x, w, b)

    with numpy.errstate(invalid="ignore"):
        want = convolved(numpy, x, w, b)
        given = [plait.asarray(a) for a in (x, w, b)]
        got = convolved(plait, *given)
        text = str(plait.explain(convolved, plait, *given))
    assert text.startswith("1 region "), text
    assert got.strides == want.strides
    numpy.testing.assert_allclose(numpy.asarray(got), want, rtol=2e-5, atol=1e-3)


@pytest.mark.parametrize("padding", [None, "pad", "zeros"])
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("form", ["rows", "columns", "loop"])
def test_patches_are_not_unfolded(form, step, padding):
    """im2col by as_strided or a loop: a matrix of patches is what the product packs."""
    n, c, k = 2, 16, 3
    x, w, b = data((n, c, 40, 42), "f4"), data((64, c * k * k), "f4"), data((64,), "f4")

    def f(np, x, w, b):
        if padding == "pad":
            x = np.pad(x, ((0, 0), (0, 0), (1, 1), (2, 0)))
        elif padding:
            p = np.zeros((n, c, 42, 44), x.dtype)
            p[:, :, 1:-1, 1:-1] = x
            x = p
        rows, columns = ((extent - k) // step + 1 for extent in x.shape[2:])
        if form == "loop":
            patches = np.empty((n, c, k, k, rows, columns), x.dtype)
            for i, j in itertools.product(range(k), range(k)):
                patches[:, :, i, j] = x[:, :, i : i + rows * step : step, j : j + columns * step : step]
            return np.maximum(w @ patches.reshape(n, c * k * k, rows * columns) + b[:, None], 0)
        along_n, along_c, down, right = x.strides
        if form == "columns":
            shape, strides = (n, c, k, k, rows, columns), (along_n, along_c, down, right, down * step, right * step)
            patches = np.lib.stride_tricks.as_strided(x, shape, strides).reshape(n, c * k * k, rows * columns)
            return np.maximum(w @ patches + b[:, None], 0)
        shape, strides = (n, rows, columns, c, k, k), (along_n, down * step, right * step, along_c, down, right)
        patches = np.lib.stride_tricks.as_strided(x, shape, strides).reshape(n * rows * columns, c * k * k)
        return np.maximum(patches @ w.T + b, 0)

    given = [plait.asarray(a) for a in (x, w, b)]
    text = str(plait.explain(f, plait, *given))
    assert text.startswith("1 region "), text
    numpy.testing.assert_allclose(numpy.asarray(f(plait, *given)), f(numpy, x, w, b), rtol=2e-5, atol=1e-3)


def padded_by_one(np, x):
    return np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))


def convolved(np, x, w):
    v = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", v, w)


def joined(np, x, y, w, v):
    return convolved(np, padded_by_one(np, np.concatenate([x, np.maximum(y, 0), x], axis=1)), w)


def joined_along_lines(np, x, y, w, v):
    return convolved(np, np.concatenate([x, y[..., :9], x], axis=3), w[:, :16])


def padded_twice(np, x, y, w, v):
    return convolved(np, padded_by_one(np, padded_by_one(np, np.concatenate([x, y, y], axis=1))), w)


def read_by_two(np, x, y, w, v):
    p = padded_by_one(np, x)
    return convolved(np, p, w[:, :16]) + np.einsum("nchw,oc->nohw", p[:, :, 1:-1, 1:-1], v)


def read_twice_by_windows(np, x, y, w, v):
    windows = np.lib.stride_tricks.sliding_window_view(padded_by_one(np, x), (3, 3), axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w[:, :16]) * np.einsum("nchwij,ocij->nohw", windows, w[:, 16:32])


def in_other_order(np, x, y, w, v):
    h = np.maximum(np.einsum("nchw,oc->nhwo", x, v[:48]), 0).transpose(0, 3, 1, 2)
    return convolved(np, padded_by_one(np, h), w)


def residual(np, x, y, w, v):
    h = np.maximum(
        np.einsum(
            "nchwij,ocij->nohw",
            np.lib.stride_tricks.sliding_window_view(padded_by_one(np, x), (3, 3), axis=(2, 3)),
            w[:32, :16],
            optimize=True,
        )
        + v[:32, :1, None],
        0,
    )
    return np.maximum(convolved(np, padded_by_one(np, np.concatenate([h, x], axis=1)), w) + 1, 0).transpose(0, 2, 3, 1)


@pytest.mark.parametrize("f", [joined, joined_along_lines, padded_twice, read_by_two, read_twice_by_windows, in_other_order, residual])
def test_what_convolutions_read_is_made_of_parts(f):
    x, y, w, v = data((2, 16, 40, 42), "f4"), data((2, 16, 40, 42), "f4"), data((72, 48, 3, 3), "f4"), data((72, 16), "f4")
    got, want = f(plait, *map(plait.asarray, (x, y, w, v))), f(numpy, x, y, w, v)
    assert got.strides == want.strides
    exact = f(numpy, *(a.astype("f8") for a in (x, y, w, v)))
    numpy.testing.assert_allclose(numpy.asarray(got), exact, rtol=2e-5, atol=2e-5 * abs(exact).max())


def by_windows_of_channels(np, p, w, h, l, step):
    v = np.lib.stride_tricks.sliding_window_view(p, w.shape[1:], axis=(2, 3))[:, :, ::step, ::step]
    return (v * w[:, None, None]).sum((-2, -1))


def by_shifts_of_channels(np, p, w, h, l, step):
    y = 0
    for i, j in itertools.product(range(w.shape[1]), range(w.shape[2])):
        y = y + p[:, :, i : i + h * step : step, j : j + l * step : step] * w[:, i, j][:, None, None]
    return y


@pytest.mark.parametrize("form", [by_windows_of_channels, by_shifts_of_channels])
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("pads", [((1, 1), (1, 1)), ((0, 2), (3, 0)), ((2, 0), (0, 0)), ((0, 0), (1, 40))])
@pytest.mark.parametrize("shape", [(2, 16, 40, 42), (1, 3, 300, 5), (1, 1, 200, 300), (40, 8, 3, 100)])
def test_padding_is_read_by_what_is_computed_of_each_channel(form, step, pads, shape):
    """A depthwise convolution: no product, but loops over elements that read windows of padding."""
    (top, bottom), (left, right) = pads
    x, w = data(shape, "f4"), data((shape[1], 3, 2), "f4")
    h, l = ((shape[2] + top + bottom - 3) // step + 1, (shape[3] + left + right - 2) // step + 1)

    def f(np, x, w):
        p = np.full((*shape[:2], shape[2] + top + bottom, shape[3] + left + right), 0.5, x.dtype)
        p[:, :, top : top + shape[2], left : left + shape[3]] = x
        return form(np, p, w, h, l, step)

    got, want = f(plait, plait.asarray(x), plait.asarray(w)), f(numpy, x, w)
    numpy.testing.assert_allclose(numpy.asarray(got), want, rtol=2e-5, atol=1e-4)
    if step == 1 and shape == (2, 16, 40, 42):
        text = str(plait.explain(f, plait, plait.asarray(x), plait.asarray(w)))
        assert text.startswith("1 region "), text


def test_a_product_reads_parts_backwards(large):
    """Loops run from the end of the last part to the beginning of the first."""
    a, b, w = data((300, 128), "f4"), data((300, 72), "f4"), data((200, 96), "f4")

    def f(np, *arrays):
        a, b, w = map(np.asarray, arrays)
        return np.concatenate([a, b], axis=1)[:, ::-1] @ w

    numpy.testing.assert_allclose(numpy.asarray(f(plait, a, b, w)), f(numpy, a, b, w), rtol=1e-4, atol=1e-4)


READS = {
    "transposed": lambda p: p + p.T,
    "rows and columns": lambda p: p[1:, :-1] * 2 - p.T[:-1, 1:] + p[3:4, :-1],
    "shifted and transposed": lambda p: p[2:, 3:] + p[:-2, :-3] + p.T[1:-1, 2:-1],
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("size", [20, 70])
def test_padding_is_read_along_either_dimension(read, size, large):
    """Where one read is inside along a dimension, another need not be."""
    x = data((size, size), "f4")
    got = numpy.asarray(read(plait.pad(plait.asarray(x), 3, constant_values=0.5)))
    assert (got == read(numpy.pad(x, 3, constant_values=0.5))).all()


POOLS = {
    "reshape": lambda np, x: x.reshape(*x.shape[:2], x.shape[2] // 2, 2, x.shape[3] // 2, 2).max((3, 5)),
    "windows": lambda np, x: np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(2, 3))[:, :, ::2, ::2].max((-2, -1)),
}


@pytest.mark.parametrize("pool", POOLS.values())
def test_between_convolutions_nothing_is_laid_out_anew(pool):
    """Convolution, pooling, convolution and sum, convolution: a region each, and one each where padding is written."""
    x, bias, *filters = (data(s, "f4") * 0.1 for s in ((4, 32, 32, 32), (64, 1, 1), (64, 32, 3, 3), (64, 64, 3, 3), (64, 64, 3, 3)))

    def conv(np, x, w):
        p = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        return np.einsum("nchwij,ocij->nohw", np.lib.stride_tricks.sliding_window_view(p, (3, 3), axis=(2, 3)), w, optimize=True)

    def net(np, x, bias, first, second, third):
        h = pool(np, np.maximum(conv(np, x, first) + bias, 0))
        return conv(np, conv(np, h, second) + h, third)

    operands = [plait.asarray(v) for v in (x, bias, *filters)]
    made = net(plait, *operands)
    text = str(plait.explain(made))
    assert int(text.split()[0]) <= 9, text
    stored = text[text.index("in memory:") :]
    assert "copy" not in stored and "cast" not in stored and "as NumPy lays it out" in stored, text
    numpy.testing.assert_allclose(numpy.asarray(made), net(numpy, x, bias, *filters), rtol=1e-4, atol=1e-4)


def test_padding_that_others_read_is_there():
    x = data((20, 30, 40), "f4")

    def f(np, x):
        p = np.pad(np.log(x), ((0, 0), (1, 1), (1, 1)), constant_values=3)
        inner = p[:, 1:, 1:] - p[:, :-1, :-1]
        return (
            inner,
            p.sum((0, 1)),
            p.sum((1, 2)),
            p.max(0),
            p.mean(),
            np.cumsum(p, axis=1)[:, 2],
            p[:, ::-1, ::-2] * 2,
            p[:, 0] + p[:, :, 0].sum(),
            p @ p[0].T,
        )

    x = abs(x) + 1
    for got, want in zip(f(plait, plait.asarray(x)), f(numpy, x), strict=True):
        numpy.testing.assert_allclose(numpy.asarray(got), want, rtol=2e-5, atol=1e-4)
    for k in range(9):
        numpy.testing.assert_allclose(numpy.asarray(f(plait, plait.asarray(x))[k]), f(numpy, x)[k], rtol=2e-5, atol=1e-4)


def test_convolutions_share_what_they_pack():
    x, w, v = (plait.asarray(data(s, "f4")) for s in ((2, 8, 60, 62), (40, 8, 3, 3), (40, 8, 3, 3)))

    def f(np, x, w, v):
        p = padded_by_one(np, x)
        return [np.maximum(convolved(np, p, f), 0) for f in (w, v)]

    text = str(plait.explain(f(plait, x, w, v)))
    assert text.startswith("2 regions "), text
    for got, want in zip(f(plait, x, w, v), f(numpy, *map(numpy.asarray, (x, w, v))), strict=True):
        numpy.testing.assert_allclose(numpy.asarray(got), want, rtol=2e-5, atol=1e-3)


THREE = {
    "ab,bc,cd->ad": [(23, 17), (17, 19), (19, 31)], "ab,bc,cd->da": [(23, 17), (17, 19), (19, 31)], "aab,b,c->bc": [(9, 9, 30), (30,), (12,)],
    "ab,ac,ad": [(30, 20), (30, 11), (30, 3)], "ab, bc, ca ->": [(9, 9)] * 3, "a,ab,b->ab": [(1,), (40, 50), (50,)], "ab,...b,b->a...": [(30, 20), (5, 20), (20,)],
}  # fmt: skip


@pytest.mark.parametrize("equation", THREE)
def test_loops_over_all_labels_in_pieces(monkeypatch, equation):
    """To the bit, and in NumPy's layout, wherever the result is cut."""
    rng = numpy.random.default_rng(2)
    for piece in (64, 7000):
        monkeypatch.setattr("plait._products._PIECE", piece)
        for dtype in "dFi":
            for order in "CF":
                arrays = [numpy.asarray((rng.standard_normal(shape) * 100).astype(dtype), order=order) for shape in THREE[equation]]
                theirs, ours = numpy.einsum(equation, *arrays), plait.einsum(equation, *map(plait.asarray, arrays))
                assert (ours.dtype, ours.shape, ours.strides) == (theirs.dtype, theirs.shape, theirs.strides)
                assert numpy.array_equal(numpy.asarray(ours), theirs)


def test_a_sum_of_products_some_of_whose_parts_are_asked_for():
    a, k = (
        numpy.random.default_rng(5).standard_normal((3, 16, 17, 41), "f4"),
        numpy.random.default_rng(6).standard_normal((9, 16, 4, 3), "f4"),
    )

    def program(np, a, k):
        part = lambda i, j: np.einsum("nchw,oc->nohw", a[:, :, i : i + 14, j : j + 39], k[:, :, i, j])  # noqa: E731
        third = part(0, 2)
        y = part(0, 0) + part(0, 1) + third + part(1, 0) + part(1, 1) + part(1, 2)
        kept = y
        for t in range(6, 12):
            y = y + part(t // 3, t % 3)
        return y, kept, third

    for got, want in zip(program(plait, plait.array(a), plait.array(k)), program(numpy, a, k), strict=True):
        numpy.testing.assert_allclose(numpy.asarray(got), want, rtol=1e-4, atol=1e-4)
