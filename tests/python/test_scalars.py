"""Lazy scalars pass for NumPy's."""

import copy
import operator
import pickle

import numpy
import pytest

import plait
from plait import _plait


@pytest.fixture
def lazy_sum():
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


def test_strong_in_promotion():
    total = (plait.ones(100_000, "f4") * 2).sum()
    assert (plait.ones(3, "f4") * total).dtype == numpy.float32
    assert (plait.ones(3, "f2") * total).dtype == numpy.float32
    assert (plait.ones(3, "f4") * (plait.ones(100_000) * 2).sum()).dtype == numpy.float64


def test_integer_results_index():
    i = (plait.arange(100_000) % 1000).argmax()
    assert list(range(2000))[i] == 999 and range(i).stop == 999


def test_math_functions(lazy_sum):
    import math

    assert math.sqrt(lazy_sum) == math.sqrt(400_000)
    assert max(lazy_sum, 5) == 400_000 and min(1, lazy_sum) == 1 and sum([lazy_sum, 1]) == 400_001
