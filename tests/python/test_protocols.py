import copy
import pickle

import numpy
import pytest
from support import NATIVE, same, sample

import plait


@pytest.mark.parametrize("code", NATIVE)
def test_array_shares_memory(code):
    a = plait.array(sample(code))
    host = numpy.asarray(a)
    assert host.dtype == numpy.dtype(code)
    host[0, 0] = 1
    assert a[0, 0] == 1
    assert not numpy.shares_memory(numpy.array(a), host)


@pytest.mark.parametrize("code", NATIVE)
def test_buffer(code):
    host = sample(code)
    view = memoryview(plait.array(host))
    assert view.shape == host.shape and view.strides == host.strides and view.format == memoryview(host).format
    numpy.testing.assert_array_equal(numpy.asarray(view), host)


def test_buffer_of_a_view_and_of_read_only_memory():
    a = plait.arange(12.0).reshape(3, 4)
    numpy.testing.assert_array_equal(numpy.asarray(memoryview(a[::2, 1:])), [[1, 2, 3], [9, 10, 11]])
    assert memoryview(plait.broadcast_to(a, (2, 3, 4))).readonly
    with pytest.raises(TypeError, match="C-contiguous"):
        memoryview(a.T).cast("B")


def test_interface_pins():
    a = plait.arange(4.0)
    pointer = a.__array_interface__["data"][0]
    a += 1
    assert a.__array_interface__["data"][0] == pointer == a.ctypes.data


def test_dlpack():
    a = plait.arange(6.0).reshape(2, 3)
    assert a.__dlpack_device__() == (1, 0)
    host = numpy.from_dlpack(a)
    numpy.testing.assert_array_equal(host, [[0, 1, 2], [3, 4, 5]])
    source = numpy.arange(3)
    back = plait.from_dlpack(source)
    source[0] = 7
    assert back[0] == 7


@pytest.mark.parametrize("code", [*NATIVE, "U3", "O", "M8[s]", "g", [("x", "i4"), ("y", "f8")]], ids=str)
def test_pickle_and_copy(code):
    host = numpy.zeros((2, 3), code)
    a = plait.array(host)
    for other in (pickle.loads(pickle.dumps(a)), copy.copy(a), copy.deepcopy(a)):
        assert type(other) is plait.ndarray and other is not a
        same(other, host)


def test_numpy_functions_dispatch():
    a = plait.arange(6.0).reshape(2, 3)
    host = numpy.asarray(a)
    for result, expected in [
        (numpy.sin(a), numpy.sin(host)), (numpy.add(host, a), host + host), (host + a, host + host), (a + host, host + host),
        (numpy.sum(a, axis=0), host.sum(axis=0)), (numpy.concatenate([a, a]), numpy.concatenate([host, host])),
        (numpy.sort(a), host), (numpy.linalg.norm(a, axis=1), numpy.linalg.norm(host, axis=1)), (numpy.float64(2) * a, 2 * host),
        (numpy.add.reduce(a), host.sum(axis=0)), (numpy.where(a > 2, a, 0), numpy.where(host > 2, host, 0)),
    ]:  # fmt: skip
        assert type(result) is plait.ndarray
        same(result, expected)


def test_other_types_may_take_over():
    class Other:
        __array_ufunc__ = None

        def __radd__(self, a):
            return "other"

    assert plait.ones(2) + Other() == "other"


def test_subclass():
    class Named(plait.ndarray):
        def __array_finalize__(self, obj):
            self.name = getattr(obj, "name", "none")

    a = plait.arange(4.0).view(Named)
    a.name = "x"
    for b in (a[1:], a + 1, -a, numpy.sqrt(a), a.T, a.reshape(2, 2), a.copy()):
        assert type(b) is Named and b.name == "x"
    assert a.sum() == 6 and isinstance(a, plait.ndarray)
    assert repr(a).startswith("Named(")


def test_isinstance_accepts_numpys_arrays():
    assert isinstance(numpy.zeros(1), plait.ndarray) and issubclass(numpy.ndarray, plait.ndarray)
    assert not isinstance([1], plait.ndarray) and not isinstance(numpy.float64(1), plait.ndarray)
    assert plait.ndarray[tuple[int], numpy.dtype[numpy.float64]]


@pytest.mark.parametrize("value", [3, [1.5, 2], [[1, 2], [3, 4]], [], list(range(2000)), ["a"], [True], [1j], 2.5])
def test_printing(value):
    assert repr(plait.array(value)) == repr(numpy.array(value))
    assert str(plait.array(value)) == str(numpy.array(value))
    assert f"{plait.array(value)}" == f"{numpy.array(value)}"


def test_views_that_numpy_made_come_back_as_views():
    a = plait.arange(6.0).reshape(2, 3)
    b = plait.lib.stride_tricks.sliding_window_view(a, 2, axis=1)
    a[0, 0] = 50
    assert b[0, 0, 0] == 50
    c = plait.matrix_transpose(a)
    c[0, 1] = 8
    assert a[1, 0] == 8


def test_frombuffer_shares_its_buffer():
    memory = bytearray(8 * 3)
    a = plait.frombuffer(memory)
    memory[:8] = numpy.float64(2.5).tobytes()
    assert a[0] == 2.5
