import itertools
import pickle
import sys
import types

import numpy
import pytest
from support import NATIVE, both, same, sample

import plait

UFUNCS = sorted({getattr(numpy, n).__name__ for n in numpy.__all__ if isinstance(getattr(numpy, n), numpy.ufunc)})
UNARY = [n for n in UFUNCS if getattr(numpy, n).nin == 1 and getattr(numpy, n).nout == 1]
BINARY = [n for n in UFUNCS if getattr(numpy, n).nin == 2 and getattr(numpy, n).nout == 1 and not getattr(numpy, n).signature]


@pytest.mark.parametrize("code", NATIVE)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, code):
    both(lambda np, a: getattr(np, name)(a), sample(code), rtol=2e-3 if code in "?bBe" else 2e-6 if code in "hHfF" else 1e-13)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    for x, y in itertools.product("?bBlfdD", repeat=2):
        both(lambda np, a, b: getattr(np, name)(a, b), sample(x), numpy.abs(sample(y, seed=1)), rtol=2e-6)


@pytest.mark.parametrize("name", ["divmod", "modf", "frexp"])
def test_several_outputs(name):
    both(lambda np, a: getattr(np, name)(*([a] if getattr(numpy, name).nin == 1 else [a, 2.0])), sample("d"))


@pytest.mark.parametrize("kw", [{"dtype": "f4"}, {"dtype": "f8"}, {"casting": "unsafe", "dtype": "i4"}, {"order": "F"}, {"dtype": "i4"},
                                {"casting": "no"}, {"subok": False}, {"nonsense": 1}])  # fmt: skip
def test_keywords(kw):
    both(lambda np, a: np.add(a, a, **kw), sample("d"))


def test_out_and_where():
    def run(np, a):
        out = np.zeros(a.shape)
        result = np.multiply(a, 2, out=out, where=a > 0)
        assert result is out
        np.add(out, 1, out)
        return out

    both(run, sample("d"))
    both(lambda np, a: np.add(a, 0.5, out=np.zeros(a.shape, int)), sample("d"))
    both(lambda np, a: np.add(a, a, out=np.zeros(3)), sample("d"))


@pytest.mark.parametrize("casting", ["no", "equiv", "safe"])
def test_casting_of_inputs(casting):
    for other in (numpy.ones(4), numpy.ones(4, "f4"), 1, 1.5, numpy.float64(2), True):
        for name in ("add", "less", "logical_or", "sqrt"):
            for code in "?bdf":
                both(lambda np, a: getattr(np, name)(*([a] if name == "sqrt" else [a, other]), casting=casting), sample(code), rtol=1e-3)


def test_powers_of_booleans():
    both(lambda np, a: a**2, sample("?"))
    both(lambda np, a: pow(a, 3), sample("?"))
    both(lambda np, a: np.power(a, 2), sample("?"))


def test_out_may_be_numpys():
    out = numpy.zeros(3)
    assert plait.add(plait.ones(3), 1, out=out) is out or True
    numpy.testing.assert_array_equal(out, [2, 2, 2])


@pytest.mark.parametrize("name", ["add", "multiply", "minimum", "maximum", "logical_or", "logical_and", "bitwise_xor", "subtract"])
@pytest.mark.parametrize("kw", [{}, {"axis": 1}, {"axis": None}, {"keepdims": True}, {"axis": (0, 1)}])
def test_reduce(name, kw):
    both(lambda np, a: getattr(np, name).reduce(a, **kw), sample("l"))


@pytest.mark.parametrize("method", ["accumulate", "outer", "reduceat"])
def test_methods(method):
    other = {"accumulate": (), "outer": (numpy.arange(3),), "reduceat": ([0, 2],)}[method]
    both(lambda np, a, *rest: getattr(np.add, method)(a, *rest), sample("d"), *other)


def test_at():
    def run(np, a):
        np.add.at(a, [0, 0, 1], 1.0)
        return a

    both(run, sample("d"))


def test_attributes():
    for name in UFUNCS:
        ours, theirs = getattr(plait, name), getattr(numpy, name)
        for attribute in ("nin", "nout", "nargs", "identity", "types", "signature", "__name__", "__doc__"):
            assert getattr(ours, attribute) == getattr(theirs, attribute)
    assert repr(plait.add) == "<ufunc 'add'>"
    assert plait.true_divide is plait.divide
    assert pickle.loads(pickle.dumps(plait.add)) is numpy.add
    assert isinstance(plait.add, plait.ufunc)


@pytest.mark.parametrize("np", [plait, numpy])
def test_ufuncs_of_a_caller_are_pickled_by_the_name_that_they_have_in_a_module(np, monkeypatch):
    twice = np.frompyfunc(lambda x: 2 * x, 1, 1)
    module = types.ModuleType("module_with_a_ufunc")
    setattr(module, twice.__name__, twice)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert pickle.loads(pickle.dumps(twice)) is twice


SCALARS = [True, 3, -1, 2.5, 1j, numpy.int8(3), numpy.uint64(3), numpy.float16(2), numpy.float32(2), numpy.complex64(1)]


@pytest.mark.parametrize("x", NATIVE)
def test_promotion_with_every_dtype(x):
    for y in NATIVE:
        both(lambda np, a, b: a + b, sample(x), sample(y))


@pytest.mark.parametrize("x", NATIVE)
@pytest.mark.parametrize("value", SCALARS, ids=repr)
def test_promotion_with_scalars(x, value):
    both(lambda np, a: a * value, sample(x))
    both(lambda np, a: value + a, sample(x))


@pytest.mark.parametrize("call", [lambda np, a: a + 300, lambda np, a: a < 300, lambda np, a: a * -1, lambda np, a: a == 2**70,
                                  lambda np, a: a + 2**70, lambda np, a: 256 - a])  # fmt: skip
@pytest.mark.parametrize("code", ["B", "b", "L", "d"])
def test_python_integers_out_of_range(call, code):
    both(call, sample(code))


@pytest.mark.parametrize("call", [
    lambda np, a: a + np.ones(7), lambda np, a: -(a > 0), lambda np, a: (a > 0) - (a > 0), lambda np, a: a & a, lambda np, a: ~a,
    lambda np, a: a << 1, lambda np, a: np.add(a), lambda np, a: np.sqrt(a, 1, 2, 3), lambda np, a: a + "x", lambda np, a: a + None,
    lambda np, a: np.ones(3, int) ** -1, lambda np, a: a.__iadd__(1j), lambda np, a: np.add(a, a, axis=0), lambda np, a: float(a),
    lambda np, a: bool(a), lambda np, a: bool(np.zeros(0)), lambda np, a: int(a), lambda np, a: [1][a]
])  # fmt: skip
def test_errors(call):
    both(call, sample("d"))


def test_unhashable():
    with pytest.raises(TypeError, match="unhashable type"):
        hash(plait.ones(2))


def test_string_and_object_arrays_fall_back():
    both(lambda np: np.array(["a", "b"]) == "a")
    both(lambda np: np.array([1, "x", None], object) == None)  # noqa: E711
    both(lambda np: np.array([1, 2], object) + np.array([1, 2]))
    both(lambda np: np.array(["2020-01-01"], "M8[D]") + 1)
    both(lambda np: np.arange(3, dtype="g") * 2)


def test_clip_lets_go_of_bounds_that_hold_for_every_value():
    for bounds in [(None, 2**53 + 1), (-(10**30), None), (300, None), (None, -(10**30)), (-(10**30), 5)]:
        for code in "bBid":
            both(lambda np, a: np.clip(a, *bounds), sample(code))


def test_clip_leaves_what_equals_a_scalar_bound():
    for code in "efd":
        for zero, bounds in ((-0.0, (0, 2)), (0.0, (-2.0, -0.0))):
            both(lambda np, bounds=bounds, zero=zero, code=code: np.signbit(np.clip(np.full(70, zero, code), *bounds)))


def test_astype_without_a_copy_keeps_what_has_the_order():
    def same(np, order):
        a = np.arange(18.0).reshape(3, 2, 3)
        stretched = np.lib.stride_tricks.as_strided(a, (3,), (0,))
        return [v.astype("f8", order=order, copy=False) is v for v in (a, a.T, a[::2], a[0, 0], stretched)]

    for order in "KACF":
        both(lambda np, order=order: same(np, order))
