"""Shapes of more elements or bytes than there can be: NumPy's exceptions, wherever a shape is formed.

Large extents are 2**48 and more, so that no machine has the memory: what NumPy answers with MemoryError Plait may record, and then it is the
value that cannot be had."""

import random

import numpy
import pytest
from support import outcome

import plait

BIG, HUGE = 2**48, 2**62


def spread(np, shape, dtype="f8"):
    """One element in memory, seen with the shape."""
    return np.broadcast_to(np.ones(1, dtype), shape)


def strided(np, x, *args):
    return np.lib.stride_tricks.as_strided(x, *args)


def windows(np, x, *args):
    return np.lib.stride_tricks.sliding_window_view(x, *args)


CASES = {
    # broadcasting
    "broadcast_to, elements": lambda np: spread(np, (2**32, 2**32)),
    "broadcast_to, bytes": lambda np: spread(np, (2**31, 2**31)),
    "broadcast_to, one axis": lambda np: spread(np, HUGE),
    "broadcast_to, as much as there is": lambda np: spread(np, 2**63 - 1, "i1").shape,
    "broadcast_to, no elements": lambda np: spread(np, (0, 2**32, 2**32)),
    "broadcast_to, no elements, counted late": lambda np: spread(np, (2**32, 2**32, 0)),
    "broadcast_to, axes": lambda np: spread(np, (1,) * 65),
    "broadcast_to, negative": lambda np: spread(np, (3, -1)),
    "add, elements": lambda np: spread(np, (2**32, 1)) + spread(np, 2**32),
    "add, bytes": lambda np: spread(np, (2**30, 1)) + spread(np, 2**30),
    "add, of another dtype": lambda np: spread(np, (2**31, 2**31), "i1") + 1.0,
    "add, no elements": lambda np: spread(np, (0, 2**32, 1)) + spread(np, 2**32),
    "add, memory": lambda np: spread(np, BIG) + 1,
    "equal": lambda np: spread(np, (2**31, 1)) == spread(np, 2**33),
    "where": lambda np: np.where(spread(np, (2**32, 1), "?"), spread(np, 2**32), 0),
    "astype": lambda np: spread(np, HUGE, "i1").astype("f8"),
    "multiply.outer": lambda np: np.multiply.outer(spread(np, 2**32), spread(np, 2**32)),
    "multiply.outer, axes": lambda np: np.multiply.outer(np.ones((1,) * 40), np.ones((1,) * 40)),
    "broadcast_arrays": lambda np: np.broadcast_arrays(spread(np, (2**32, 1)), spread(np, 2**32)),
    "broadcast_shapes": lambda np: np.broadcast_shapes((HUGE, 1), (HUGE,)),
    # creation
    "zeros": lambda np: np.zeros((2**32, 2**32)),
    "zeros, no elements": lambda np: np.zeros((0, HUGE, HUGE)),
    "zeros, axes": lambda np: np.zeros((1,) * 65),
    "empty": lambda np: np.empty(HUGE),
    "empty, memory": lambda np: np.empty(2**60 - 1),
    "empty, beyond int64": lambda np: np.empty(2**63),
    "full": lambda np: np.full((2**40, 2**20), 1.0),
    "zeros_like": lambda np: np.zeros_like(np.ones(3), shape=(2**32, 2**32)),
    "eye": lambda np: np.eye(2**32),
    "eye, an element": lambda np: np.eye(2**32)[3, :6],
    "eye, no elements": lambda np: np.eye(0, HUGE),
    "eye, bool": lambda np: np.eye(2**32, dtype=bool),
    "eye, far below": lambda np: np.eye(3, 4, -(2**63)),
    "eye, far above": lambda np: np.eye(3, 4, 2**63 - 1, order="F"),
    "tri, far below": lambda np: np.tri(3, 4, -(2**62)),
    "eye, beyond int64": lambda np: np.eye(3, 4, 2**63),
    "eye, rows beyond int64": lambda np: np.eye(2**64),
    "tri, beyond int64": lambda np: np.tri(3, 4, 2**63),
    "tril, beyond int64": lambda np: np.tril(np.ones((3, 4)), 2**64),
    "triu, far below": lambda np: np.triu(np.ones((3, 4)), -(2**62)),
    "identity": lambda np: np.identity(2**32),
    "arange": lambda np: np.arange(HUGE),
    "arange, floats": lambda np: np.arange(0, 1e30),
    "arange, a step of 0.0": lambda np: np.arange(-1.0, 3.0, 0.0),
    "arange, a step of 0": lambda np: np.arange(-1, 3, 0),
    "linspace, beyond int64": lambda np: np.linspace(0, 1, 2**64),
    "linspace": lambda np: np.linspace(0, 1, HUGE),
    "indices": lambda np: np.indices((2**31, 2**31)),
    "meshgrid": lambda np: np.meshgrid(spread(np, 2**31), spread(np, 2**31)),
    # views
    "reshape": lambda np: np.ones(20)[::2].reshape(2, 13, 419, 691, 823, 2977518503),
    "reshape, wraps to 0": lambda np: np.ones(0).reshape(4, HUGE),
    "reshape, no elements": lambda np: np.ones(0).reshape(0, HUGE),
    "reshape, no elements, counted late": lambda np: np.ones(0).reshape(HUGE, HUGE, 0),
    "reshape, no elements, counted early": lambda np: np.ones(0).reshape(0, HUGE, HUGE),
    "reshape, unknown": lambda np: np.ones(20).reshape(HUGE, HUGE, -1),
    "reshape, unknown of none": lambda np: np.ones(0).reshape(HUGE, -1),
    "reshape, beyond int64": lambda np: np.ones(20).reshape(2**64),
    "reshape, axes": lambda np: np.ones(1).reshape((1,) * 65),
    "expand_dims, axes": lambda np: np.expand_dims(np.ones(3), tuple(range(64))),
    "newaxis, axes": lambda np: np.ones(3)[(None,) * 64],
    "as_strided": lambda np: strided(np, np.ones(1), (2**32, 2**32), (0, 0)),
    "as_strided, bytes": lambda np: strided(np, np.ones(1), (2**30, 2**30), (0, 0)),
    "as_strided, no elements": lambda np: strided(np, np.ones(1), (0, HUGE, 4), (0, 0, 0)),
    "as_strided, negative": lambda np: strided(np, np.ones(1), (-1,), (0,)),
    "sliding_window_view": lambda np: windows(np, spread(np, 2**40, "i1"), 2**39),
    "sliding_window_view, bytes": lambda np: windows(np, spread(np, 2**32), 2**31),
    "sliding_window_view, axes": lambda np: windows(np, np.ones((1,) * 33), (1,) * 33),
    # joining and repeating
    "concatenate": lambda np: np.concatenate([spread(np, HUGE, "i1")] * 3),
    "concatenate, memory": lambda np: np.concatenate([spread(np, 2**58)] * 3),
    "stack": lambda np: np.stack([spread(np, HUGE, "i1")] * 3),
    "stack, axes": lambda np: np.stack([np.ones((1,) * 64)]),
    "tile": lambda np: np.tile(np.ones(5000), 2**60),
    "tile, no elements": lambda np: np.tile(np.ones(0), (2**40, 2**40)).shape,
    "tile, many axes": lambda np: np.tile(np.ones((1,) * 40), (2, 3)),
    "tile, axes": lambda np: np.tile(np.ones(2), (1,) * 65),
    "repeat": lambda np: np.repeat(np.ones(5000), 2**60),
    "repeat, rows": lambda np: np.repeat(np.ones((3, 5)), HUGE, axis=0),
    "repeat, columns": lambda np: np.repeat(np.ones((3, 5)), 2**60, axis=1),
    "repeat, no elements": lambda np: np.repeat(np.ones(0), HUGE),
    "repeat, rows of none": lambda np: np.repeat(np.ones((3, 0)), HUGE, axis=0),
    "pad": lambda np: np.pad(np.ones((3, 3)), 2**60),
    "resize": lambda np: np.ones(3).resize((2**32, 2**32)),
    "tile, beyond int64": lambda np: np.tile(np.ones((0,)), 2**64),
    "split, beyond int64": lambda np: np.split(np.ones(3), 2**64),
    "split, indices beyond int64": lambda np: np.split(np.ones(3), [1, 2**64])[1],
    "roll, far": lambda np: np.roll(np.arange(7), 2**63 - 1),
    "roll, farther": lambda np: np.roll(np.arange(7), (2**63 - 1, 2**63 - 1), (0, 0)),
    "roll, beyond int64": lambda np: np.roll(np.arange(7), 2**64),
    "roll, far back": lambda np: np.roll(np.arange(12).reshape(3, 4), (-(2**63), 5), (1, 0)),
    # no elements along many rows
    "assignment to none": lambda np: np.zeros((2**40, 0)).__setitem__(Ellipsis, 1),
    "fill of none": lambda np: np.zeros((2**40, 0)).fill(1),
    "full_like of none": lambda np: np.full_like(np.zeros(0), 1, shape=(2**40, 3, 0)),
    "arithmetic of none": lambda np: (np.zeros((2**40, 0)) + 1).T[::-1].copy(),
    # products
    "matmul": lambda np: spread(np, (2**32, 2)) @ spread(np, (2, 2**32)),
    "matmul, batches": lambda np: spread(np, (2**32, 1, 2, 2)) @ spread(np, (2**32, 2, 2)),
    "kron": lambda np: np.kron(spread(np, 2**32), spread(np, 2**32)),
    "tensordot, axes": lambda np: np.tensordot(np.ones((1,) * 40), np.ones((1,) * 40), axes=0),
    "tensordot, more axes than there are": lambda np: np.tensordot(np.ones(3), np.ones(3), axes=70),
    # index results
    "take": lambda np: np.ones(3).take(spread(np, 2**60, "i8")),
    "index": lambda np: np.ones(3)[spread(np, 2**60, "i8")],
    "index, pairs": lambda np: np.ones((3, 3))[spread(np, (2**31, 1), "i8"), spread(np, 2**31, "i8")],
    "index, rows": lambda np: spread(np, (3, 2**58))[[0, 1, 2, 0, 1, 2]],
    "diag": lambda np: np.diag(spread(np, 2**32)),
    "reduction": lambda np: spread(np, (BIG, 1)).sum(axis=1, keepdims=True),
    "random": lambda np: np.random.default_rng(0).random((2**40, 2**40)),
}


def raised(result):
    return isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], str)


def agree(f):
    theirs, ours = outcome(lambda: f(numpy)), outcome(lambda: f(plait))
    if not raised(theirs):
        assert not raised(ours), ours
        if isinstance(theirs, numpy.ndarray):
            assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
            if theirs.size < 1000:
                numpy.testing.assert_array_equal(numpy.asarray(ours), theirs)
        else:
            assert ours == theirs
    elif theirs[0] != "MemoryError":
        assert ours == theirs
    elif raised(ours):
        # NumPy may have failed for a step on the way, of a shape that exists.
        assert ours[0] in ("MemoryError", "ValueError")
        assert ours[0] == "ValueError" or ours == theirs or ours[1].startswith("Unable to allocate ")
    else:
        with pytest.raises(MemoryError, match="Unable to allocate .* for an array with shape "):
            numpy.asarray(ours)


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", CASES)
def test_of_what_does_not_fit(name):
    agree(CASES[name])


def test_memory_that_cannot_be_had_is_named_as_numpy_names_it():
    for shape, dtype in [((2**28, 2**28), "f8"), ((2**50,), "i1"), ((2**60 - 1,), "f8"), ((5, 2**48), "D")]:
        with pytest.raises(MemoryError) as theirs:
            numpy.ones(shape, dtype)
        with pytest.raises(MemoryError) as ours:
            numpy.asarray(plait.ones(shape, dtype))
        assert str(ours.value) == str(theirs.value)
        with pytest.raises(MemoryError) as ours:
            plait.empty(shape, dtype)
        assert str(ours.value) == str(theirs.value)


def test_resize_looks_at_every_extent():
    with pytest.raises(ValueError, match="negative dimensions not allowed"):
        plait.zeros(0).resize((0, 2, -3))  # NumPy makes an array of that shape


EXTENTS = [0, 1, 1, 2, 3, BIG, 2**55, 2**59, 2**60, 2**61, HUGE, 2**63 - 1]
CALLS = [
    lambda np, x, a, b, n, axis: np.broadcast_to(x, a),
    lambda np, x, a, b, n, axis: x.reshape(a),
    lambda np, x, a, b, n, axis: x[::2].reshape(a + (-1,)),
    lambda np, x, a, b, n, axis: np.zeros((0,)).reshape(a + (-1,)),
    lambda np, x, a, b, n, axis: np.zeros(a, x.dtype),
    lambda np, x, a, b, n, axis: strided(np, np.ones(1, x.dtype), a, (0,) * len(a)),
    # (NumPy counts through the copies of nothing.)
    lambda np, x, a, b, n, axis: np.repeat(x, n, axis=axis if x.size else None),
    lambda np, x, a, b, n, axis: np.eye(a[0], b[0]),
    lambda np, x, a, b, n, axis: spread(np, a, x.dtype) + spread(np, b, x.dtype),
    lambda np, x, a, b, n, axis: spread(np, a, x.dtype) * np.ones((1, 1)),
    lambda np, x, a, b, n, axis: spread(np, a, x.dtype).reshape(b),
    lambda np, x, a, b, n, axis: spread(np, a, x.dtype).reshape(-1),
    lambda np, x, a, b, n, axis: np.concatenate([spread(np, a, x.dtype)] * 2, axis=axis),
    lambda np, x, a, b, n, axis: np.stack([spread(np, a, x.dtype)] * 2, axis=axis),
    lambda np, x, a, b, n, axis: spread(np, a, x.dtype)[..., ::3][:2],
    lambda np, x, a, b, n, axis: windows(np, spread(np, a, x.dtype), n, axis=axis),
    lambda np, x, a, b, n, axis: np.expand_dims(spread(np, a, x.dtype), axis).astype("f8"),
]


@pytest.mark.parametrize("seed", range(300))
def test_of_random_shapes(seed):
    rng = random.Random(seed)
    shape = lambda: tuple(rng.choice(EXTENTS) for _ in range(rng.randint(1, 4)))
    a, b, n, axis = shape(), shape(), rng.choice(EXTENTS), rng.choice([0, 0, -1])
    x, dtype = rng.choice([(1,), (3,), (2, 3), (0,), (2, 0)]), rng.choice(["?", "i1", "i4", "f8", "D"])
    call = rng.choice(CALLS)
    agree(lambda np: call(np, np.ones(x, dtype), a, b, n, axis))
