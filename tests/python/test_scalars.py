"""Full reductions are NumPy's scalars; inside plait.jit they are lazy ones, which pass for NumPy's."""

import copy
import decimal
import fractions
import json
import math
import operator
import pickle
import re
import statistics

import numpy
import numpy as np
import pytest

import plait
from plait import _plait
from plait._callees import calls_numpy_alone
from plait._functions import original

REDUCTIONS = [
    lambda np, x: np.sum(x), lambda np, x: x.mean(), lambda np, x: x.std(), lambda np, x: np.var(x, ddof=1), lambda np, x: x.max(),
    lambda np, x: x.argmin(), lambda np, x: np.ptp(x), lambda np, x: (x > 3).any(), lambda np, x: np.count_nonzero(x),
    lambda np, x: np.linalg.norm(x), lambda np, x: x @ x, lambda np, x: np.dot(x, x), lambda np, x: np.vdot(x, x),
    lambda np, x: np.inner(x, x), lambda np, x: np.add.reduce(x), lambda np, x: np.trace(x.reshape(100, -1)),
    lambda np, x: (x * 2).sum(where=x > 5), lambda np, x: x.prod(dtype="f4"), lambda np, x: np.average(x), lambda np, x: np.median(x),
    lambda np, x: x.sum() / x.size, lambda np, x: x.max() - x.min(), lambda np, x: np.sqrt(x.sum()), lambda np, x: -x.mean() ** 2,
]  # fmt: skip


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("f", REDUCTIONS)
def test_full_reductions_are_numpys_own(f, pending):
    host = numpy.arange(200_000.0) % 7
    theirs = f(numpy, host * 2 if pending else host)
    x = plait.array(host)
    ours = f(plait, x * 2 if pending else x)
    assert type(ours) is type(theirs) and ours == pytest.approx(theirs, rel=1e-6)


def test_what_looks_at_the_type_takes_them():
    x = plait.arange(200_000.0) * 0.5
    assert json.loads(json.dumps({"s": x.sum(), "m": [x.mean()]})) == {"s": 9999950000.0, "m": [49999.75]}
    assert decimal.Decimal(x.max()) == decimal.Decimal("99999.5") and fractions.Fraction(x.max()) == fractions.Fraction(199999, 2)
    assert statistics.mean([x.min(), x.max()]) == 49999.75
    assert type(sum([x.mean(), 1])) is numpy.float64 and type(1j != x.sum()) is bool


def test_what_is_no_scalar_stays_an_array():
    x = plait.arange(200_000.0)
    assert type(x.sum(keepdims=True)) is type(x.sum(axis=0, keepdims=True)) is type(plait.asarray(5.0)) is plait.ndarray
    out = plait.zeros(())
    assert x.sum(out=out) is out and float(out) == 19999900000.0
    assert type(plait.tensordot(x, x, 1)) is plait.ndarray


def test_they_warn_at_their_line():
    x = plait.ones(200_000) * numpy.finfo(float).max
    with pytest.warns(RuntimeWarning, match="overflow encountered in reduce") as caught:
        x.sum()
    assert caught[0].filename == __file__
    with plait.errstate(over="raise"), pytest.raises(FloatingPointError):
        x.sum()


def test_only_what_has_a_name_is_stored():
    x = plait.arange(200_000.0)
    plait.evaluate(x)

    def stored(f):
        before = plait.stats()["bytes_moved"]
        f()
        return plait.stats()["bytes_moved"] - before >= 2 * x.nbytes

    m = 3.0
    for f in (
        lambda: plait.mean((x - m) ** 2), lambda: ((x - m) ** 2).mean(), lambda: ((x - m) ** 2).sum(), lambda: plait.linalg.norm(x * m),
        lambda: plait.max(plait.abs(x - m)), lambda: (x * m)[1:].max(), lambda: (x * m).max(keepdims=False),
    ):  # fmt: skip
        assert not stored(f)
    y = x * m
    assert stored(lambda: y.mean()) and not y._pending

    def with_a_local_name():
        z = x * m
        plait.mean(z)
        return z._pending

    assert not with_a_local_name()


def test_scalars_stay_pending_inside_jit():
    seen = []

    @plait.jit
    def inner(x):
        return x.sum()

    @plait.jit
    def outer(x):
        seen.extend([type(x.mean()), type(inner(x)), type(inner(x) * 2)])
        return {"mean": x.mean(), "both": [x.min(), (x.max(), 3)]}, inner(x)

    x = plait.arange(200_000.0)
    for argument in (x, numpy.arange(200_000.0)):
        found, total = outer(argument)
        assert type(total) is type(found["mean"]) is type(found["both"][0]) is type(found["both"][1][0]) is numpy.float64
        assert found == {"mean": 99999.5, "both": [0.0, (199_999.0, 3)]}
        assert type(inner(argument)) is numpy.float64
    assert set(seen) == {_plait.lazy_scalar}
    assert type(x.sum()) is numpy.float64

    @plait.jit
    def fails(x):
        raise ValueError

    with pytest.raises(ValueError):
        fails(x)
    assert type(x.sum()) is numpy.float64


@pytest.fixture
def lazy_sum(lazy_scalars):
    a = plait.ones(200_000) * 2.0
    s = a.sum()
    assert type(s) is _plait.lazy_scalar
    return s


def test_small_results_are_numpys_own():
    assert type(plait.array([1.0, 2.0]).sum()) is numpy.float64
    assert type(plait.array([1, 2]).max()) is numpy.int64
    assert type(plait.array([1.0, 2.0])[1] * 2) is numpy.float64


def test_conversions(lazy_sum):
    assert float(lazy_sum) == 400_000.0 and int(lazy_sum) == 400_000 and complex(lazy_sum) == 400_000
    assert isinstance(lazy_sum, float) and isinstance(lazy_sum, numpy.float64)
    assert repr(lazy_sum) == "np.float64(400000.0)" and str(lazy_sum) == "400000.0" and f"{lazy_sum:.1f}" == "400000.0"
    assert hash(lazy_sum) == hash(400_000.0) and {lazy_sum: 1}[400_000.0] == 1
    assert lazy_sum == 400_000 and lazy_sum > 3 and bool(lazy_sum) and round(lazy_sum, 2) == 400_000
    assert lazy_sum.item() == 400_000.0 and lazy_sum.is_integer() and lazy_sum.dtype == float and lazy_sum.shape == ()
    assert pickle.loads(pickle.dumps(lazy_sum)) == lazy_sum and copy.deepcopy(lazy_sum) == lazy_sum
    assert numpy.asarray(lazy_sum).dtype == float and numpy.sqrt(lazy_sum) == numpy.sqrt(400_000.0)


def test_arithmetic_keeps_recording(lazy_sum):
    half = lazy_sum / 2
    assert type(half) is _plait.lazy_scalar and lazy_sum._pending
    row = plait.ones(3) * half
    assert type(row) is plait.ndarray
    assert row.tolist() == [200_000.0] * 3


def test_a_python_complex_before_a_float64_stays_one(lazy_sum):
    value = numpy.float64(400_000.0)
    for op in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow):
        want, got = op(1j, value), op(1j, lazy_sum)
        assert type(got) is type(want) is complex and got == want
        want, got = op(value, 1j), op(lazy_sum, 1j)
        assert got == want and got.dtype == numpy.complex128
    with pytest.raises(TypeError):
        1j % lazy_sum


def test_immutable(lazy_sum):
    t = lazy_sum
    lazy_sum += 1
    assert t == 400_000 and lazy_sum == 400_001


def test_strong_in_promotion(lazy_scalars):
    total = (plait.ones(100_000, "f4") * 2).sum()
    assert (plait.ones(3, "f4") * total).dtype == numpy.float32
    assert (plait.ones(3, "f2") * total).dtype == numpy.float32
    assert (plait.ones(3, "f4") * (plait.ones(100_000) * 2).sum()).dtype == numpy.float64


def test_integer_results_index(lazy_scalars):
    i = (plait.arange(100_000) % 1000).argmax()
    assert list(range(2000))[i] == 999 and range(i).stop == 999


def test_math_functions(lazy_sum):
    import math

    assert math.sqrt(lazy_sum) == math.sqrt(400_000)
    assert max(lazy_sum, 5) == 400_000 and min(1, lazy_sum) == 1 and sum([lazy_sum, 1]) == 400_001


def test_under_the_runner(run_python, tmp_path):
    path = tmp_path / "script.py"
    path.write_text(
        "import json, numpy as np\n"
        "x = np.arange(300_000.0) * 2\n"
        "print(type(x).__module__, json.dumps({'mean': x.mean()}), type(x.sum()) is np.float64)\n"
    )
    assert run_python(None, "-m", "plait", str(path)).stdout == 'plait {"mean": 299999.0} True\n'


# --- scalars that leave Plait's hands ---------------------------------------------------------------------------------

def normalised(x):
    def scaled(v):
        return v / np.sqrt(np.sum(v * v))

    parts = [scaled(v).max() for v in np.split(x, 2)]
    return scaled(x), math.sqrt(x.sum()), sum(parts), f"{x.mean():.3f}", isinstance(x.sum(), np.floating)


def saved(value):
    return json.dumps(value)


def by_a_module(x):
    return json.dumps({"s": np.sum(x), "all": [x.mean(), x.min()]})


def by_a_helper(x):
    return saved([x.sum()])


def by_an_import(x):
    from json import dumps

    return dumps(x.sum())


def by_a_method(x, encoder):
    return encoder.encode({"s": x.sum()})


def by_an_argument(x, call):
    return call(x.sum())


def by_an_argument_after_a_name(x, call):
    total = x.sum()
    return call(total)


def by_an_item(x, calls):
    return calls[0](x.sum())


def by_a_jitted(x):
    return plait.jit(saved)(x.sum())


LEAVING = {
    by_a_module: (), by_a_helper: (), by_an_import: (), by_a_method: (json.JSONEncoder(),), by_an_argument: (json.dumps,),
    by_an_argument_after_a_name: (json.dumps,), by_an_item: ([json.dumps],), by_a_jitted: (),
}  # fmt: skip


@pytest.mark.parametrize("n", [10, 300_000])
def test_scalars_are_numpys_for_who_is_not_of_plait_or_numpy(n):
    x = numpy.linspace(0, 1, n)
    for f, more in LEAVING.items():
        want, got = f(x, *more), plait.jit(f)(x, *more)
        assert numpy.allclose(*([float(v) for v in re.findall(r"[0-9][-+.e0-9]*", text)] for text in (want, got))), f
    for want, got in zip(normalised(x), plait.jit(normalised)(x)):
        numpy.testing.assert_allclose(got, want) if type(want) is not str else None


def test_scalars_stay_pending_where_only_numpy_gets_them():
    assert calls_numpy_alone(normalised, original) and not any(calls_numpy_alone(f, original) for f in LEAVING)
