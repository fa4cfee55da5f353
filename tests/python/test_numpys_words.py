"""What NumPy says of odd calls, and what it makes of them: conversions of numbers, devices, outputs, operators of subclasses."""

import operator
import warnings

import numpy
import pytest
from support import needs_device, outcome, same

import plait


@pytest.mark.parametrize(
    "call",
    [
        lambda np: np.concatenate([np.float32(1), 1.0], axis=None),
        lambda np: np.concatenate([np.ones(2, "f4"), 1], axis=None),
        lambda np: np.full_like(np.ones(2, "f8"), numpy.inf),
        lambda np: np.full_like(np.ones(2, "i1"), 1000),
        lambda np: np.ones(2).astype("i4", copy=numpy._CopyMode.NEVER),
        lambda np: np.round(np.array([1.25, 2.5], ">f8"), 1),
        lambda np: np.ones((2, 3))["x":, 0.5],
        lambda np: np.ones((2, 3))["x":, 0],
        lambda np: np.broadcast(1, x=1),
        lambda np: np.broadcast(np.ones(3), np.ones(4)),
        lambda np: operator.concat(np.ones(2), np.ones(2)),
        lambda np: np.ones(2).to_device("cpu", stream=1),
        lambda np: setattr(np.ones(2), "device", "other"),
        lambda np: np.ma.abs(np.array([1.0, -2.0])).filled(),
        lambda np: (np.ma.sqrt(np.array([4.0, 9.0])) ** 2).tolist(),
    ],
)
def test_as_numpy(call):
    ours, theirs = outcome(lambda: call(plait)), outcome(lambda: call(numpy))
    if isinstance(theirs, numpy.ndarray) and not type(ours).__module__.startswith("plait"):
        numpy.testing.assert_array_equal(ours, theirs)  # a class of NumPy's own gives NumPy's arrays
    else:
        same(ours, theirs)


def test_floats_are_cast_unchecked_into_what_is_filled():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = plait.full_like(plait.ones(2, "i4"), numpy.inf), numpy.full_like(numpy.ones(2, "i4"), numpy.inf)
    assert ours.tolist() == theirs.tolist()


def test_a_third_array_of_an_extremum_is_warned_of():
    for name in ("maximum", "minimum"):
        with pytest.warns(DeprecationWarning, match="2 positional arguments"):
            getattr(plait, name)(plait.ones(1), plait.zeros(1), plait.empty(1))


def test_unknown_devices_where_there_is_one_only(run_python):
    source = """
import plait
try:
    plait.zeros(2, device="nonsense")
except ValueError as e:
    print(e)
"""
    cpu_only = {"PLAIT_CUDA_LIBRARY": "/nonexistent"}
    wanted = 'Device not understood. Only "cpu" is allowed, but received: nonsense ("cuda" and "cuda:N" are for NVIDIA GPUs, and none is found)'
    assert run_python(source, env=cpu_only).stdout.strip() == wanted


@needs_device
def test_unknown_devices_where_there_are_others():
    with pytest.raises(ValueError, match='"cuda:N" are allowed'):
        plait.zeros(2, device="nonsense")


@pytest.mark.parametrize("priority", [None, "error"])
def test_priorities_that_are_none(priority):
    class Other:
        @property
        def __array_priority__(self):
            if priority:
                raise RuntimeError
            return priority

        def __radd__(self, other):
            return "added"

    # An operand whose priority cannot be asked for does not take over: it is an element.
    assert (plait.array([1], dtype=object) + Other()).tolist() == ["added"]


class Wrapping(plait.ndarray):
    calls = 0

    def __array_wrap__(self, new, context=None, return_scalar=False):
        type(self).calls += 1
        return super().__array_wrap__(new, context, return_scalar)


@pytest.mark.parametrize("first, second", [("M8", "d"), ([("f", "i")], [("f", "i")]), ("d", "d")])
@pytest.mark.parametrize("compare", [operator.eq, operator.ne])
def test_comparisons_of_dtypes_that_do_not_compare_are_wrapped(compare, first, second):
    x, y, before = plait.zeros(5, first), plait.zeros(5, second).view(Wrapping), Wrapping.calls
    expected = compare(numpy.zeros(5, first), numpy.zeros(5, second)).tolist()
    for made in (compare(x, y), compare(y, x)):
        assert type(made) is Wrapping and made.tolist() == expected
    assert Wrapping.calls == before + 2


def test_outputs_of_ufuncs_that_have_two():
    x, out = plait.array([5.7]).view(Wrapping), plait.empty(1)
    fraction, exponent = plait.frexp(x, out, None)
    assert fraction is out and type(exponent) is Wrapping
    with pytest.raises(TypeError, match="tuple"):
        plait.frexp(x, out=out)


def test_squeeze_asks_the_method_of_a_subclass():
    class Old(plait.ndarray):
        def squeeze(self):
            return super().squeeze()

    x = plait.ones((3, 1)).view(Old)
    assert plait.squeeze(x).shape == (3,)
    with pytest.raises(TypeError):
        plait.squeeze(x, axis=1)


@pytest.mark.parametrize("order", "AKCF")
@pytest.mark.parametrize("dtype", ["f4", "f8", None])
def test_layouts_of_copies(order, dtype):
    for source in (
        lambda np: np.broadcast_to(np.arange(3.0), (4, 3)),
        lambda np: np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
        lambda np: np.arange(24.0).reshape(4, 6)[::2, ::3],
    ):
        assert plait.array(source(plait), dtype, order=order).strides == numpy.array(source(numpy), dtype, order=order).strides


def test_what_need_not_be_copied_is_not():
    x = plait.arange(16.0).reshape(4, 4)[::2, ::2]
    record = plait.zeros(3, "i4,f8")
    for copy in (None, False):
        assert plait.array(x, copy=copy, order="A") is x and plait.array(x, copy=copy, order=None) is x
        assert plait.array(record, copy=copy) is record
        assert plait.array(plait.arange(3), "q", copy=copy).base is not None


def test_arrays_over_buffers_of_arrays_share_their_memory():
    x = plait.arange(10.0)
    part = memoryview(x)[2:8:2]
    y, z = plait.array(part, copy=None), plait.frombuffer(x, offset=16)
    assert y.base.obj is x and plait.may_share_memory(x, y) and plait.shares_memory(x, z)
    x[2] = 99
    assert y[0] == 99 and z[0] == 99
    y[1] = 7
    assert x[4] == 7 and (x + z[2]).tolist()[0] == 7
    del x, part
    assert y.tolist() == [99, 7, 6]


def test_array_function_takes_a_tuple_and_a_dict():
    x = plait.array([1, 2])
    with pytest.raises(TypeError, match="args must be a tuple"):
        x.__array_function__(plait.reshape, (plait.ndarray,), x, {})
    with pytest.raises(TypeError, match="kwargs must be a dict"):
        x.__array_function__(plait.reshape, (plait.ndarray,), (x,), (2, 1))


def test_outputs_of_accumulations_reach_the_ufunc_of_a_subclass():
    class Own(plait.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
            plain = [x.view(plait.ndarray) for x in inputs]
            assert out[0] is result
            return super().__array_ufunc__(ufunc, method, *plain, out=(out[0].view(plait.ndarray),), **kwargs)

    result = plait.empty(3).view(Own)
    plait.add.accumulate(plait.ones(3).view(Own), 0, None, result)
    assert result.tolist() == [1, 2, 3]
    assert plait.add.accumulate(plait.ones(3), out=(result.view(plait.ndarray),)).tolist() == [1, 2, 3]
