import warnings

import numpy
import pytest
from support import NATIVE, both, same, sample

import plait

KEYS = [
    0, -1, 2, slice(1, 3), slice(None), slice(None, None, -1), slice(5, 1, -2), Ellipsis, None, (0, 1), (-1, -1),
    (slice(None), 1), (slice(1, None), slice(None, None, 2)), (Ellipsis, 0), (None, Ellipsis, None), (0, None, slice(2)),
    numpy.int64(1), (numpy.int8(1), numpy.uint16(2)), (), slice(10, 20), [0, 2], ([0, 1], [1, 2]), numpy.array([True, False, True]),
    (slice(None), [True, False, True, False]), True, numpy.array([[0, 1], [2, 2]]),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_read(key):
    both(lambda np, a: a[key], sample("d"))


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_write(key):
    def write(np, a):
        a[key] = 99
        return a

    both(write, sample("d"))
    both(write, sample("b"))


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_views_share_memory_as_numpys(key):
    a = sample("d")
    theirs = numpy.shares_memory(a, a[key]) if isinstance(a[key], numpy.ndarray) else False
    ours = plait.array(a)
    view = ours[key]
    assert (plait.may_share_memory(ours, view) if isinstance(view, plait.ndarray) else False) == theirs


@pytest.mark.parametrize("key", [3, -4, (0, 4), (0, 0, 0), "x", 1.5, (slice(None),) * 3, (Ellipsis, Ellipsis), slice(0, 1, 0),
                                 numpy.array([True, False]), [5], 2**70])  # fmt: skip
def test_errors(key):
    both(lambda np, a: a[key], sample("d"))

    def write(np, a):
        a[key] = 1

    both(write, sample("d"))


@pytest.mark.parametrize("value", [1, 2.5, True, numpy.float32(3), [1, 2, 3, 4], numpy.arange(4.0), numpy.arange(12).reshape(3, 4),
                                   numpy.ones((1, 1, 4)), [[1], [2], [3]], 1j, float("nan"), 300, -1, "7", None, [1, 2]])  # fmt: skip
@pytest.mark.parametrize("code", ["d", "l", "B", "?", "F"])
def test_values(code, value):
    def write(np, a):
        a[...] = np.array(value) if isinstance(value, numpy.ndarray) else value
        return a

    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both(write, sample(code))


def test_masked_store_is_native():
    a = plait.array(sample("d"))
    expected = sample("d")
    a[a < 0] = 0
    expected[expected < 0] = 0
    same(a, expected)


def test_element_is_numpys_scalar():
    a = plait.arange(5)
    assert type(a[2]) is numpy.int64
    assert type(plait.ones((2, 2), "f4")[1, 1]) is numpy.float32
    assert type(plait.ones(2, bool)[0]) is numpy.bool_


def test_iteration_and_containment():
    a = plait.arange(6.0).reshape(2, 3)
    assert [row.tolist() for row in a] == [[0, 1, 2], [3, 4, 5]]
    assert 4 in a and 9 not in a
    assert len(a) == 2
    both(lambda np: len(np.array(1)))
    both(lambda np: list(np.array(1)))


def test_lazy_scalar_as_index(lazy_scalars):
    a = plait.arange(100000)
    assert a[a.argmax()] == 99999


@pytest.mark.parametrize(
    "value",
    [numpy.int64(300), numpy.int16(-1), numpy.float64(2.5), numpy.float64(1e300), 300, 10**30, 2.5, 1e300, 1j, numpy.complex64(2)],
    ids=repr,
)
def test_numbers_are_stored_as_numpy_stores_them(value):
    def store(np, a, key):
        a[key] = value
        return a

    for code in NATIVE:
        if isinstance(value, (float, numpy.floating)) and abs(value) > 300 and numpy.dtype(code).kind in "iu":
            continue  # undefined
        for key in (..., 1, slice(1, None)):
            both(lambda np, a: store(np, a, key), sample(code, (4,)))
        both(lambda np, a: store(np, a, np.array([True, False, True, True])), sample(code, (4,)))


def test_pending_scalars_are_stored_as_numpy_stores_them():
    def store(np, a):
        a[1] = np.sum(np.ones(100_000) * 3e5)  # pending: too large to be computed at once
        return a

    for code in "bildf":
        both(store, numpy.zeros(3, code))


@pytest.mark.parametrize("code", "?bBhHiIlLefdFD")
def test_item_is_a_python_number(code):
    def items(np, index):
        a = np.arange(12).reshape(3, 4).astype(code)
        value = a.item(*index)
        return type(value).__name__, value

    for index in [
        (5,),
        (-1,),
        (2, 3),
        (-3, 0),
        ((1, 2),),
        (12,),
        (3, 0),
        (1, 2, 0),
        (),
        ("x",),
        (1.5,),
        (2**70,),
        (-(2**63) - 1,),
        (0, 2**70),
        (2**62,),
    ]:
        both(lambda np, index=index: items(np, index))
    both(lambda np: np.array(7, code).item())
    both(lambda np: np.array([7], code).item())


ROWS = [
    [0, 2, 2, -1],
    numpy.array([3, 0, 3]),
    numpy.array([1, 0, 1, 1], bool),
    numpy.array([1, 2], "i4"),
    [],
    [4],
    [0, -5],
    numpy.array([True]),
]


@pytest.mark.parametrize("rows", ROWS, ids=repr)
@pytest.mark.parametrize("value", [7, 2.5, 1e400, 1e39, 300, "row", "rows", "own", "reversed", "long"], ids=repr)
@pytest.mark.parametrize("dtype", ["d", "f", "b", "D"])
@pytest.mark.parametrize("ndim", [1, 2])
def test_rows_are_written_as_numpy_writes_them(rows, value, dtype, ndim):
    def write(np, a):
        x = np.array(a.reshape(4, 3) if ndim == 2 else a[::3])
        before = x[:1]  # a view sees the writes
        waits = x + 1  # and what was asked for before does not
        v = value
        if isinstance(value, str):
            count = len(numpy.arange(4)[rows]) if len(numpy.shape(rows)) and value != "long" else 2
            v = np.array(numpy.arange(count * 3).reshape(count, 3)[:, : 3 if ndim == 2 else 1].astype(dtype))
            v = v if ndim == 2 else v[:, 0]
            v = {"row": v[:1], "own": x[:count], "reversed": v[::-1]}.get(value, v)
        x[np.array(rows) if isinstance(rows, numpy.ndarray) else rows] = v
        return x, before, waits

    data = numpy.arange(12).astype(dtype)
    try:
        expected = write(numpy, data)
    except Exception as error:
        with pytest.raises(type(error)) as caught:
            write(plait, data)
        assert str(caught.value) == str(error)
        return
    for ours, theirs in zip(write(plait, data), expected, strict=True):
        same(ours, theirs)


def test_writes_of_few_elements_keep_exports_borrowed_memory_and_views_together():
    a = plait.zeros((4, 3))
    seen = numpy.asarray(a)
    a[1] = plait.arange(3.0)
    a[[0, 2]] = 5.0
    a[:, 1] = 7
    assert seen.tolist() == [[5, 7, 5], [0, 7, 2], [5, 7, 5], [0, 7, 0]]
    theirs = numpy.zeros(4)
    lent = plait.borrow(theirs)
    lent[1:3] = 2.0
    lent[[0]] = plait.ones(1)
    assert lent.tolist() == [1, 2, 2, 0]
    x = plait.arange(6.0)
    x[1:] = x[:-1]
    x[::2] = x[1::2]
    assert x.tolist() == [0, 0, 2, 2, 4, 4]


ELEMENT_KEYS = [(1, 2), (-1, -3), (0, 0), (numpy.int64(1), 2), (True, 1), (2, 0), (0, -4), (2**70, 0), (1,), 1, (1, 2, 0), (1.0, 2)]
ELEMENT_VALUES = [
    0.5,
    numpy.float64(-0.0),
    3,
    2**62 + 1,
    -1,
    2**64,
    True,
    numpy.bool_(True),
    numpy.float32(1.5),
    numpy.int64(7),
    float("nan"),
    "7",
    None,
    1j,
]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?", "c16"])
@pytest.mark.parametrize("pending", [False, True])
def test_elements_are_read_and_written_as_numpys(dtype, pending):
    """Keys of Python ints and numbers of the array's own kind take a short way."""
    start = numpy.arange(6).reshape(2, 3).astype(dtype)

    def outcome(a, key, value):
        a = (a + a if pending else a).T.copy().T
        try:
            if value is not ...:
                a[key] = value
            return a[key], numpy.array(a)
        except Exception as e:
            return type(e), str(e)

    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key in ELEMENT_KEYS:
            for value in [*ELEMENT_VALUES, ...]:
                want, got = outcome(start.copy(), key, value), outcome(plait.array(start), key, value)
                assert type(got[0]) is type(want[0]) or isinstance(want[0], numpy.ndarray), (key, value, got, want)
                numpy.testing.assert_equal(numpy.array(got[1]), numpy.array(want[1]), err_msg=f"{key} {value}")
                if not isinstance(want[0], type):
                    numpy.testing.assert_equal(numpy.array(got[0]), want[0], err_msg=f"{key} {value}")


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 64, 100])
def test_short_masks_of_any_bytes(count):
    rng = numpy.random.default_rng(count)
    for share in (0.0, 0.1, 0.9, 1.0):
        mask = rng.random(count) < share
        a, p = numpy.arange(count), plait.arange(count)
        numpy.testing.assert_array_equal(p[plait.array(mask)], a[mask])
        a[mask], p[plait.array(mask)] = -1, -1
        numpy.testing.assert_array_equal(p, a)
        grid, plaited = numpy.zeros((2, count)), plait.zeros((2, count))
        both = numpy.stack([mask, ~mask])
        grid[both], plaited[plait.array(both)] = 3, 3
        numpy.testing.assert_array_equal(plaited, grid)
