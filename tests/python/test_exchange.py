"""What arrays give to others and get back: __array_struct__, DLPack, pickles, NumPy's own generators, and dtypes on the way."""

import pickle
import sys
import types

import numpy
import pytest

import plait

DTYPES = [
    {"names": ["A", "B"], "formats": ["f4", "f4"], "offsets": [0, 8], "itemsize": 16},
    "V10", "M8[ns]", "m8[3D]", "O", "U4", ">f8", "g", "q", [("a", "M8[s]"), ("b", "O")], numpy.dtype("i1,f8", align=True),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numpy_reads_the_memory_with_its_dtype(dtype):
    ours, theirs = plait.zeros((2, 3), dtype=dtype), numpy.zeros((2, 3), dtype=dtype)
    read = numpy.asarray(ours)
    assert read.dtype == theirs.dtype and numpy.shares_memory(read, plait._plait.export(ours)) and read.flags.writeable
    ours.flags.writeable = False
    assert not numpy.asarray(ours).flags.writeable
    for name in ("descr", "typestr", "shape", "strides", "version"):
        assert ours.__array_interface__[name] == theirs.__array_interface__[name]
    kept = types.SimpleNamespace(__array_struct__=ours.__array_struct__)
    del ours, read
    assert numpy.asarray(kept).dtype == theirs.dtype and numpy.asarray(kept).tolist() == theirs.tolist()


def test_long_long_is_a_dtype_of_its_own():
    x = plait.array([1, 2], dtype="q")
    assert x.dtype.char == "q" and (x + 1).dtype.char == "q" and plait.arange(3).dtype.char == "l"
    y = plait.asarray(plait.arange(3), dtype=numpy.longlong)
    assert y.dtype.char == "q" and y.tolist() == [0, 1, 2]
    assert plait.sum(x) == 3 and plait.arange(3)[x].tolist() == [1, 2]


def test_dlpack_keeps_the_array_and_gives_views():
    x = plait.arange(5)
    for given in (lambda: x.__dlpack__(), lambda: plait.from_dlpack(x)):
        before = sys.getrefcount(x)
        y = given()
        assert sys.getrefcount(x) == before + 1
        del y
    y, z = plait.from_dlpack(x), plait.from_dlpack(x, copy=True)
    x[0] = 9
    assert y[0] == 9 and z[0] == 0 and plait.may_share_memory(x, y) and not plait.may_share_memory(x, z)


def test_buffers_beside_a_pickle_are_shared():
    x, buffers = plait.arange(5), []
    y = pickle.loads(pickle.dumps(x, protocol=5, buffer_callback=buffers.append), buffers=buffers)
    x[0] = -1
    assert len(buffers) == 1 and y[0] == -1
    part, buffers = plait.arange(12).reshape(3, 4)[:, :2], []
    assert pickle.loads(pickle.dumps(part, protocol=5, buffer_callback=buffers.append)).tolist() == part.tolist()
    assert buffers == []
    empty = plait.array(numpy.zeros(3, {"names": [], "formats": []}))
    assert pickle.loads(pickle.dumps(empty)).dtype == empty.dtype


def test_generators_draw_as_numpys():
    ours, theirs = plait.random.default_rng(0), numpy.random.default_rng(0)
    for draw in (lambda r: r.choice(2), lambda r: r.choice(5, replace=False), lambda r: r.choice(3, p=[0.2, 0.3, 0.5])):
        assert type(draw(ours)) is type(draw(theirs))
    assert ours.bit_generator.state == theirs.bit_generator.state


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
def test_generators_of_old_pickles(kind):
    made = getattr(plait.random, kind)(plait.random.MT19937(0))
    restore = made.__reduce__()[0]
    assert type(restore("MT19937")) is type(made) and type(pickle.loads(pickle.dumps(made))) is type(made)


def test_conversions_that_a_subclass_refuses():
    class Quantity(plait.ndarray):
        def __float__(self):
            raise TypeError("has a unit")

    with pytest.raises(TypeError, match="has a unit"):
        plait.random.uniform(plait.array(1.0).view(Quantity), 2.0)


def test_arrays_in_arrays_of_objects_are_cast():
    held = plait.array([None])
    held[0] = plait.array(1.2)
    assert type(held[0]) is plait.ndarray
    for given in (held, memoryview(held), types.SimpleNamespace(__array_interface__=held.__array_interface__)):
        made = plait.array([given], dtype="S")
        assert made.dtype == "S3" and made.tolist() == [[b"1.2"]]


def test_lists_that_change_while_they_are_read():
    class Bad:
        def __len__(self):
            values[0] = [2]
            raise ValueError("no sequence after all")

        def __getitem__(self):
            pass

    values = [plait.array(2.0), Bad()]
    with pytest.raises(RuntimeError, match="Inconsistent object"):
        plait.array(values)


def test_parameters_of_the_array_type():
    assert plait.ndarray[int, float].__origin__ is plait.ndarray
    for parameters in ((), (int, int, int)):
        with pytest.raises(TypeError, match="arguments for"):
            plait.ndarray[parameters]


@pytest.mark.parametrize("shape, axis", [((100, 7), 0), ((7, 100), 1), ((3, 5, 40), (0, 2)), ((13,), None)])
@pytest.mark.parametrize("code", "fdD")
def test_folds_begin_with_the_initial_value(code, shape, axis):
    x = (numpy.random.default_rng(0).random(shape) + 0.5).astype(code)
    for name in ("sum", "prod"):
        theirs = numpy.asarray(getattr(numpy, name)(x, axis=axis, initial=0.1))
        assert numpy.asarray(getattr(plait, name)(plait.array(x), axis=axis, initial=0.1)).tobytes() == theirs.tobytes()
    assert numpy.signbit(plait.sum(plait.array([-0.0, -0.0]), initial=-0.0))
