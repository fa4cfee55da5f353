"""Views and writes through them have NumPy's meaning."""

import numpy
import pytest
from support import both, same, sample

import plait


def steps(*lines):
    """A program over np and a, run line by line, that returns every name it made."""

    def run(np):
        scope = {"np": np, "a": np.arange(24.0).reshape(4, 6)}
        for line in lines:
            exec(line, scope)
        return [v for k, v in sorted(scope.items()) if k != "np" and not k.startswith("__")]

    return run


PROGRAMS = [
    ("b = a[1:]", "b += 1", "c = a.sum()"),
    ("b = a.T", "b[0] = 7", "c = a * 2"),
    ("b = a * 2", "a[0] = 0", "c = b + a"),
    ("a[1:] += a[:-1]",),
    ("a[:-1] += a[1:]",),
    ("a[::-1] -= a",),
    ("b = a.reshape(6, 4)", "b[2:4, 1] = -1", "c = a.max(axis=0)"),
    ("b = a[:, ::2]", "c = b[::-1]", "c *= 3", "d = a.copy()", "a[0, 0] = 100"),
    ("b = a", "b += 1", "a = a + 1"),
    ("t = a[0]", "a = a + 1", "t[0] = 50"),
    ("np.add(a, 1, out=a)", "b = np.multiply(a, 2, out=a[:, :])"),
    ("b = a[1]", "np.exp(b * 0.1, out=b)", "c = a.sum(axis=1)"),
    ("b = a.ravel()", "b[3] = 77"),
    ("b = a.T.ravel()", "b[3] = 77"),
    ("b = a.flatten()", "b[3] = 77"),
    ("b = a[..., None] + a[..., None, :]", "a[:] = 0"),
    ("b = np.broadcast_to(a[0], (3, 6))", "a[0, 0] = 9", "c = b + 0"),
    ("b = a.swapaxes(0, 1)[1:3]", "b *= a.T[1:3]"),
    ("b = a.diagonal()", "a[1, 1] = 100", "c = b * 1"),
    ("a.shape = (2, 12)", "b = a[1]", "b[:] = 5"),
    ("b = a.real", "b[0] = 3"),
    ("z = a + 1j", "z.imag[1] = 5", "z.real = 2"),
    ("a.sort(axis=0)", "b = a[::-1]", "b.sort(axis=0)"),
    ("np.put(a, [0, 5], [-1, -2])",),
    ("b = a[1:3]", "np.copyto(b, 8)", "b.fill(2)"),
    ("a.flat[3] = 9", "b = a.flat[2:5]"),
    ("b = a.view('i8')", "a[1:] = a[:-1]", "c = b + 1", "b[0] = 3", "d = a * 2"),
    ("b = a[1:].view('f4')", "b[..., 1] = 1.5", "a += 1", "c = b[:, ::2] + b[:, 1::2]"),
    ("b = a * 2", "b.dtype = 'u1'", "b[:, ::8] = 0", "c = b.view('c16').imag"),
    ("b = a.view()", "b[0] = 1", "c = b.base is a"),
    ("i = np.arange(5)", "i[1:] = i[:-1]", "j = i[::-1]", "j[:] = i"),
    ("b = np.flip(a)", "a += b"),
    ("b = np.moveaxis(a[None], 0, -1)", "b[...] = 4"),
    ("b = a[a > 5]", "b[:] = 0"),
    ("a[a > 5] = 0", "a[[0, 1]] += 1"),
    ("b, c = np.split(a, 2)", "b *= 0"),
    ("for i in range(5): a = a * 0.5 + 1; a[i % 4] = i",),
    ("for i in range(3): a[1:-1] += 0.1 * (a[2:] - 2 * a[1:-1] + a[:-2]); a[0] = a[1]",),
]


@pytest.mark.parametrize("lines", PROGRAMS, ids="; ".join)
def test_program(lines):
    both(steps(*lines), rtol=1e-14)


# What is written waits beside until no row to come reads there: rows of one and of several chunks, long ones, none.
@pytest.mark.parametrize("shape", [(400, 400), (70, 2500), (25, 9000), (1200, 13, 10), (200_001,)], ids=str)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_large_updates_that_read_their_neighbours(shape, threads):
    u = numpy.random.default_rng(1).standard_normal(shape)
    v = plait.array(u)
    before = plait.get_num_threads()
    plait.set_num_threads(threads)
    try:
        for a in (u, v):
            for _ in range(3):
                a[1:-1] += 0.1 * (a[2:] - 2.0 * a[1:-1] + a[:-2])
                a[2:] -= 0.5 * a[:-2]
        assert numpy.array_equal(u, v)
    finally:
        plait.set_num_threads(before)


def test_base_and_flags():
    a = plait.arange(6.0)
    v = a[1:][::2]
    assert v.base is a and a.base is None
    assert a.flags.owndata and not v.flags.owndata
    assert a.flags["C_CONTIGUOUS"] and not v.flags.c_contiguous
    assert not plait.broadcast_to(a, (2, 6)).flags.writeable
    a.flags.writeable = False
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        a[0] = 1


def test_shape_can_be_set_when_it_is_a_view():
    both(lambda np: setattr(np.arange(6), "shape", (4,)))

    def through_transpose(np):
        a = np.arange(6).reshape(2, 3).T
        a.shape = 6

    both(through_transpose)


@pytest.mark.parametrize("call", [
    lambda a: a.T, lambda a: a.reshape(6, -1), lambda a: a[::-2, 1:], lambda a: a.T + 1, lambda a: a[::2] * a[1::2],
    lambda a: a.T.copy(), lambda a: a.T.copy("K"), lambda a: a.astype("f4"), lambda a: a.T.astype("i4"), lambda a: a[:, None],
    lambda a: a.T.reshape(24), lambda a: a.sum(axis=0, keepdims=True), lambda a: a[::-1] + 1, lambda a: a.squeeze(),
])  # fmt: skip
def test_strides(call):
    host = numpy.arange(24.0).reshape(4, 6)
    assert call(plait.array(host)).strides == call(host).strides


@pytest.mark.parametrize("view, strides", [
    (lambda a: a[:4], (16,)), (lambda a: a[::2], (8,)), (lambda a: a[::-1][20:], (-16,)), (lambda a: a[3:7][1:3], (40,)), (lambda a: a[:4], (0,)),
    (lambda a: a.reshape(4, 6)[1:3, 1:3], (16, 48)), (lambda a: a.reshape(4, 6)[1:3, 1:3], (96, 48)), (lambda a: (a * 2)[3:7], (32,)),
    (lambda a: a[:4].view("c16"), (32,)), (lambda a: a, (16,)), (lambda a: a[:4], (8, 8)), (lambda a: a[:4], "x"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:Setting the strides:DeprecationWarning")
def test_strides_can_be_set_within_the_memory_of_the_base(view, strides):
    def run(np):
        a = np.arange(24.0)
        v = view(a)
        v.strides = strides
        v += 100
        return v, a, v.strides

    both(run)


def test_export_sees_later_writes():
    a = plait.zeros(1000)
    host = numpy.asarray(a)
    a += 1
    assert host.sum() == 1000
    host[0] = 5
    assert a[0] == 5
    del host
    a += 1
    same(a[:3], numpy.array([6.0, 2, 2]))


def test_imaginary_part_of_real_numbers():
    a = plait.ones((3, 2)).T
    assert not a.imag.flags.writeable and a.imag.strides == numpy.ones((3, 2)).T.imag.strides
    assert not plait.may_share_memory(a, a.imag)


@pytest.mark.parametrize("axis", [None, 0, (0, 1), (1, 1), 2])
@pytest.mark.parametrize("window", [2, (2, 3), (2, -1), (4, 1), ()])
def test_sliding_windows_are_views(window, axis):
    both(lambda np, a: np.lib.stride_tricks.sliding_window_view(a, window, axis), sample("d"))
    a = plait.arange(6.0)
    w = plait.lib.stride_tricks.sliding_window_view(a, 3, writeable=True)
    assert plait.may_share_memory(a, w) and not plait.lib.stride_tricks.sliding_window_view(a, 3).flags.writeable
    a[2] = 9
    assert w[2, 0] == 9


def test_strided_views_share_memory():
    a = plait.arange(6.0) * 1
    w = plait.lib.stride_tricks.as_strided(a[1:], (2, 2), (16, 8))
    assert plait.may_share_memory(a, w)
    a[1] = 7
    w[1, 1] = 8
    assert w[0, 0] == 7 and a[4] == 8


def test_as_strided_of_what_is_pending():
    """Within the memory of an array nothing is evaluated; what is no view of it is NumPy's."""
    a = numpy.arange(200_000.0)
    strided = lambda np, x, *args, **k: np.lib.stride_tricks.as_strided(x, *args, **k)
    text = str(plait.explain(lambda x: strided(plait, x * 2, (199_998, 3), (8, 8)) + 1, plait.asarray(a)))
    assert "0 values forced; 0 fallbacks" in text or "forced" not in text, text
    for args in [((199_998, 3), (8, 8)), ((50, 4), (800, 16)), ((7,), (0,)), ((3, 0), (8, 8)), ((), ())]:
        want, got = strided(numpy, a, *args), strided(plait, plait.asarray(a), *args)
        assert got.shape == want.shape and got.strides == want.strides and numpy.array_equal(numpy.asarray(got), want)
    ours = plait.asarray(a)
    assert not strided(plait, ours, (4,), (16,), writeable=False).flags.writeable
    strided(plait, ours, (4,), (16,))[...] = -1
    assert (numpy.asarray(ours)[:8:2] == -1).all() and numpy.asarray(ours)[1] == 1
    for args in [((2, 3), (8,)), ((-1,), (8,)), (3, (8,)), ((2**40, 2**40), (0, 0))]:
        said = []
        for np, x in ((numpy, a), (plait, ours)):
            with pytest.raises(Exception) as e:
                strided(np, x, *args)
            said.append((type(e.value), str(e.value)))
        assert said[0] == said[1]


def test_broadcast_arrays_are_writeable_where_their_arrays_are():
    a, b = plait.broadcast_arrays(plait.ones(3), plait.zeros((2, 1)))
    assert a.flags.writeable and b.flags.writeable
    assert not plait.broadcast_arrays(plait.broadcast_to(1.0, (3,)), plait.zeros((2, 1)))[0].flags.writeable


def test_tile_and_roll_at_the_edge():
    both(lambda np, a: np.roll(a, 2), numpy.array(True))
    assert isinstance(plait.roll(plait.array(3.0), 1), plait.ndarray)
    empty = plait.broadcast_to(plait.zeros((0,)), (2, 0))
    assert not plait.tile(empty, (2, 2)).flags.writeable and plait.tile(empty, (2, 2)).shape == (4, 0)
    for reps in ((1,) * 62 + (2, 3), (2,) + (1,) * 63, (3, 0), (1,) * 65):
        both(lambda np, a: np.tile(a, reps), numpy.arange(6.0).reshape(1, 2, 3))
    both(lambda np, a: np.tile(a, 2), numpy.ones((2,) + (1,) * 62 + (2,)))


@pytest.mark.parametrize("axis", [0, -1, 1, (0,), (), (0, 0), None])
def test_axes_of_a_scalar(axis):
    a = numpy.array(3.5)
    for name in ("squeeze", "sum", "max", "mean", "std", "ptp", "count_nonzero", "any", "argmin"):
        both(lambda np, a: getattr(np, name)(a, axis=axis), a)
    for f in ("split", "array_split"):
        both(lambda np, a: getattr(np, f)(a, 1, axis=axis), a)
        both(lambda np, a: getattr(np, f)(a, [1], axis=axis), a.reshape(1))
    both(lambda np, a: a.squeeze(axis), a)


@pytest.mark.parametrize("axes", [[0, 1], range(2), (1, 0), [True], 1, None, ()])
def test_axes_are_taken_as_numpy_takes_them(axes):
    a = numpy.arange(12.0).reshape(3, 4, 1)
    both(lambda m, a: a.sum(axes), a)
    both(lambda m, a: m.mean(a, axes), a)
    both(lambda m, a: m.count_nonzero(a, axes), a)
    both(lambda m, a: m.squeeze(a, axes), a)
    both(lambda m, a: m.flip(a, axes), a)
    both(lambda m, a: m.expand_dims(a, axes), a)
    both(lambda m, a: m.moveaxis(a, axes, [1, 0]), a)
    both(lambda m, a: m.roll(a, 1, axes), a)
    both(lambda m, a: m.linalg.norm(a, axis=axes), a)
    both(lambda m, a: m.transpose(a[..., 0], axes), a)
    both(lambda m, a: m.transpose(a[..., 0], m.array([1, 0])), a)
    both(lambda m, a: m.tensordot(a, a, [range(2), m.arange(2)]), a)


def _any_byte_but_zero_is_true(m, a):
    yield from (a.sum(), m.count_nonzero(a), a.any(), a.all(0), a.astype("i4"), a + a, a == m.ones(4, bool), ~a, a & True, a.max())
    yield from (m.where(a, 1.5, 2.5), m.arange(4)[a], a.copy().view("u1") if m is numpy else a.tolist(), a[1], m.minimum(a, True))


@pytest.mark.parametrize("evaluated", [True, False])
def test_bools_over_other_bytes(evaluated, request):
    if not evaluated:
        request.getfixturevalue("large")
    given = numpy.array([0, 3, 255, 1], "u1")
    arrays = {
        "a view of bytes": lambda m: m.array(given).view(bool),
        "written as bytes": lambda m: _written_as_bytes(m, given),
        "a buffer": lambda m: m.frombuffer(given.tobytes(), bool),
        "a copy": lambda m: m.array(given.view(bool)),
    }
    for name, make in arrays.items():
        for ours, theirs in zip(_any_byte_but_zero_is_true(plait, make(plait)), _any_byte_but_zero_is_true(numpy, make(numpy))):
            if type(ours) is list:
                assert ours == [False, True, True, True], name
            else:
                same(ours, theirs)


def _written_as_bytes(m, bytes):
    a = m.zeros(4, bool)
    a.view("u1")[...] = m.array(bytes)
    return a


OVERLAPPING_WRITES = {
    "in place": lambda np, v: v.__iadd__(1),
    "out": lambda np, v: np.add(v, 1, out=v),
    "where": lambda np, v: np.multiply(v, 3, out=v, where=v > 2),
    "rows": lambda np, v: v.__setitem__(slice(1, None), v[:-1]),
    "column": lambda np, v: v.__setitem__((slice(None), 1), v[:, 1] + v[:, 0]),
    "mask": lambda np, v: v.__setitem__(v > 3, 0),
}


@pytest.mark.parametrize("n", [9, 2000, 300_000])
@pytest.mark.parametrize("write", OVERLAPPING_WRITES)
def test_windows_that_overlap_are_read_before_they_are_written(write, n):
    def run(np):
        a = np.arange(float(n))
        OVERLAPPING_WRITES[write](np, np.lib.stride_tricks.as_strided(a, (n - 2, 3), (8, 8)))
        return numpy.asarray(a)

    numpy.testing.assert_array_equal(run(plait), run(numpy))


def test_flat_of_more_dimensions_than_numpys_iterator_takes():
    for module in (numpy, plait):
        with pytest.raises(RuntimeError, match="only supports up to 32 dimensions but the array has 64"):
            _ = module.ones((1,) * 64).flat
        assert list(module.ones((1,) * 32).flat) == [1.0]


@pytest.mark.parametrize("key", [(), (slice(1, 3),), (1,), (1, 2), (None, 1.5), (...,)], ids=str)
def test_flat_takes_a_tuple_as_one_key(key):
    both(lambda np, a: a.flat[key], sample("d"))
