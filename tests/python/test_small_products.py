"""Products of a matrix and a vector, and short operations alone, are computed at once: nothing is planned for them."""

import sys

import numpy
import pytest

import plait

SHAPES = [((5,), (5,)), ((3, 5), (5,)), ((5,), (5, 4)), ((1, 5), (5, 4)), ((3, 5), (5, 1)), ((3, 5), (5, 4)), ((0, 5), (5,)), ((3, 0), (0,)), ((0,), (0,))]


def spread(a, how):
    """The same values elsewhere in memory."""
    if how == "reversed":
        return numpy.ascontiguousarray(a[::-1])[::-1]
    if how == "transposed":
        return numpy.asfortranarray(a)
    if how == "apart":
        wide = numpy.zeros((*a.shape[:-1], 2 * a.shape[-1]), a.dtype)
        wide[..., ::2] = a
        return wide[..., ::2]
    return a


@pytest.mark.parametrize("how", ["dense", "reversed", "transposed", "apart"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?", "D"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_small_products_are_numpys(shapes, dtype, how):
    rng = numpy.random.default_rng(3)
    a, b = (spread(rng.integers(0, 4, s).astype(dtype), how) for s in shapes)
    got, want = plait.array(a, copy=True) @ plait.array(b), a @ b
    assert got.dtype == want.dtype and got.shape == want.shape
    numpy.testing.assert_array_equal(numpy.asarray(got), want)
    if want.ndim:
        assert got.strides == want.strides


def test_a_row_of_a_matrix_is_read_where_it_lies():
    a = numpy.arange(24.0).reshape(4, 6)
    p = plait.array(a)
    for x, y in ((p[1] @ p[2], a[1] @ a[2]), (p[:, 1] @ p[:, 2], a[:, 1] @ a[:, 2]), (p[::2] @ p[3], a[::2] @ a[3]), (p[3] @ p[::2].T, a[3] @ a[::2].T)):
        numpy.testing.assert_array_equal(numpy.asarray(x), y)
    p[1] = 0
    assert float(p[1] @ p[2]) == 0


def test_events_are_reported_with_numpys_name_at_the_call():
    x = plait.array([1e200, 1e200])
    with pytest.warns(RuntimeWarning, match="overflow encountered in (matmul|dot)"):
        x @ x
    with plait.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        plait.array([[1e200, 1e200], [1, 1]]) @ x


def test_a_product_keeps_what_its_operands_were():
    a, x = plait.array(numpy.eye(3)), plait.array([1.0, 2, 3])
    y = a @ x
    x += 1
    a[0] = 0
    numpy.testing.assert_array_equal(numpy.asarray(y), [1, 2, 3])


def test_a_pending_matrix_of_a_loop_is_computed_once():
    rng = numpy.random.default_rng(3)
    m, v = rng.random((60, 60)), rng.random(60)
    p = plait.array(m)
    p = p / p.sum(axis=1, keepdims=True)
    x, y, m = plait.array(v), v, m / m.sum(axis=1, keepdims=True)
    p @ x
    before = plait.stats()["evaluations"]
    for _ in range(5):
        x, y = p @ x, m @ y
    assert plait.stats()["evaluations"] == before
    numpy.testing.assert_allclose(numpy.asarray(x), y, rtol=1e-14)


def test_one_short_operation_is_not_planned():
    x = plait.array(numpy.arange(3001.0))
    before = plait.stats()["plans_made"], plait.stats()["evaluations"]
    for f in (lambda: plait.zeros(3001), lambda: plait.arange(3001), lambda: x + x, lambda: plait.sqrt(x), lambda: x[1:] - x[:-1], lambda: x > 5, lambda: x.astype("f4")):
        for _ in range(3):
            numpy.asarray(f())
    y = x + 0.0
    numpy.asarray(y)
    y[1:-1] = x[2:]
    assert float(y[7]) == 8
    assert (plait.stats()["plans_made"], plait.stats()["evaluations"]) == before


@pytest.mark.parametrize("name", ["dot", "inner", "vdot"])
def test_a_product_of_two_arrays_enters_no_function_in_python(name):
    a = numpy.arange(12.0)
    entered = []
    product, x, y = getattr(plait, name), plait.asarray(a), plait.asarray(a[::-1])
    want = getattr(numpy, name)(a, a[::-1])
    sys.setprofile(lambda frame, event, _: entered.append(frame.f_code.co_name) if event == "call" else None)
    try:
        got = product(x, y)
    finally:
        sys.setprofile(None)
    assert entered == []
    assert type(got) is type(want) and got == want
    with pytest.raises(ValueError) as theirs:
        getattr(numpy, name)(a, a[:3])
    with pytest.raises(ValueError) as ours:
        product(x, x[:3])
    assert str(ours.value) == str(theirs.value)
