"""What programs of everyday use met: NumPy's answer, dtype, sharing of memory and warnings."""

import warnings

import numpy
import pytest
from support import both

import plait

RECORD = [("name", "U10"), ("age", "i4"), ("weight", "f8")]


@pytest.mark.parametrize("write", ["x['age'] += 1", "a = x['age']; a += 1; x['weight'] = a", "x['age'][1:] = 7", "x[0]['weight'] = 80"])
def test_fields_are_views(write):
    def run(np):
        x = np.array([("Rex", 9, 81.0), ("Fido", 3, 27.0), ("Ann", 5, 40.5)], dtype=RECORD)
        exec(write, {"x": x, "np": np})
        return x.tolist()

    assert run(plait) == run(numpy)


@pytest.mark.parametrize("rows", [3, 5, 4000])
def test_writes_leave_the_gaps_of_a_borrowed_layout(rows):
    def f(a):
        a += 1
        return a

    a = numpy.arange(rows * 6.0).reshape(rows, 6)
    b = a.copy()
    for select in ((slice(None), 2), (slice(None, None, 2), slice(None, None, 3))):
        plait.jit(f)(a[select])
        f(b[select])
        numpy.testing.assert_array_equal(a, b)


def test_dates_keep_their_unit():
    d = plait.array(["2024-01-31", "2023-12-25"], dtype="datetime64[D]")
    assert numpy.asarray(d).dtype == numpy.dtype("datetime64[D]")
    assert (d - d.min()).tolist() == (numpy.asarray(d) - numpy.asarray(d).min()).tolist()


@pytest.mark.parametrize("n", [4, 5000])
@pytest.mark.parametrize(
    "call",
    [
        lambda np, x, m: np.divide(1.0, x, out=np.zeros_like(x), where=m),
        lambda np, x, m: np.log(x, out=np.zeros_like(x), where=m),
        lambda np, x, m: np.power(x, -0.5, out=np.zeros_like(x), where=m),
        lambda np, x, m: np.arctanh(x, out=np.zeros_like(x), where=m & (x < 1)),
        lambda np, x, m: np.floor_divide(7, x.astype(int), out=np.zeros(x.shape, int), where=m),
        lambda np, x, m: np.sqrt(x - 1, out=np.zeros_like(x), where=m)[::-1],
    ],
)
def test_what_where_leaves_out_does_not_warn(call, n):
    x = numpy.arange(n) % 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both(lambda np, x: call(np, x, x != 0), x, rtol=1e-15)


def test_what_where_selects_warns():
    x = numpy.arange(5000) % 3.0
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
        plait.evaluate(plait.divide(1.0, plait.array(x), where=x < 2, out=plait.zeros(5000)))


@pytest.mark.parametrize("name", ["shape", "ndim", "size", "real", "imag"])
def test_attributes_of_lazy_scalars_as_functions(name):
    both(lambda np, x: getattr(np, name)((x * 2).sum()), numpy.arange(5000.0))
