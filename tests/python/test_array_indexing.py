"""Indexing by arrays and masks against NumPy: values, shapes, strides, dtypes, errors, what is written to."""

import array
import contextlib
import random
import warnings

import numpy
import pytest
from support import both, outcome, same

import plait as np
from plait import _plait
from plait._fallback import fallback_notes

DTYPES = ["f8", "f4", "i4", "i1", "c16", "?", "u2"]


@contextlib.contextmanager
def eagerly(eager):
    before = np.config.eager_limit
    np.config.eager_limit = before if eager else 0
    try:
        yield
    finally:
        np.config.eager_limit = before


def source(rng, dtype=None):
    shape = [rng.randrange(0 if rng.random() < 0.05 else 1, 6) for _ in range(rng.randrange(1, 5))]
    host = numpy.arange(int(numpy.prod(shape))).reshape(shape).astype(dtype or rng.choice(DTYPES))
    change = rng.random()
    if change < 0.2:
        host = numpy.asfortranarray(host)
    elif change < 0.4:
        host = host.transpose(rng.sample(range(host.ndim), host.ndim))
    elif change < 0.55:
        host = host[tuple(slice(None, None, rng.choice([1, -1, 2])) for _ in shape)]
    return host


def index_array(rng, extent, shape):
    outside = rng.random() < 0.02
    values = [rng.randrange(-extent, extent) if extent else 0 for _ in range(int(numpy.prod(shape)))]
    if outside and values:
        values[rng.randrange(len(values))] = extent + rng.randrange(3)
    made = numpy.array(values, "i8").reshape(shape)
    kind = rng.random()
    if kind < 0.15:
        made = made.astype(rng.choice(["i4", "i2"]))
    elif kind < 0.3:
        made = numpy.asfortranarray(made)
    elif kind < 0.4:
        made = made[::-1]
    elif kind < 0.5 and extent:
        made = (made % extent).astype("u1")
    elif kind < 0.6:
        return made.tolist()
    return made


def random_key(rng, shape):
    """A key with arrays for an array of this shape; now and then a wrong one."""
    common = [rng.randrange(1 if rng.random() < 0.95 else 0, 4) for _ in range(rng.randrange(1, 4))]
    key, axis, ellipsis = [], 0, False
    while axis < len(shape):
        what = rng.random()
        if what < 0.45:
            broadcast = [n if rng.random() < 0.8 else 1 for n in common][rng.randrange(len(common)) :]
            key.append(index_array(rng, shape[axis], broadcast))
            axis += 1
        elif what < 0.55:
            axes = rng.randrange(1, len(shape) - axis + 1)
            key.append(numpy.array([rng.random() < 0.6 for _ in range(int(numpy.prod(shape[axis : axis + axes])))], bool).reshape(shape[axis : axis + axes]))
            axis += axes
        elif what < 0.65:
            key.append(rng.randrange(-shape[axis], shape[axis]) if shape[axis] else 0)
            axis += 1
        elif what < 0.85:
            key.append(slice(rng.choice([None, 0, 1]), None, rng.choice([None, 1, 2, -1])))
            axis += 1
        elif what < 0.9:
            key.append(None)
        elif what < 0.95 and not ellipsis:
            ellipsis = True
            key.append(...)
            axis += rng.randrange(0, len(shape) - axis + 1)
        else:
            break
    return key[0] if len(key) == 1 and rng.random() < 0.8 else tuple(key)


def ours(key, rng):
    """The key with some of its arrays as Plait's."""
    if isinstance(key, tuple):
        return tuple(ours(k, rng) for k in key)
    return np.asarray(key) if isinstance(key, numpy.ndarray) and rng.random() < 0.6 else key


def outcome(f):
    try:
        return f()
    except (IndexError, ValueError, TypeError) as e:
        return type(e), str(e)


def walked(a):
    """Strides that take one from one element to another."""
    return [s for n, s in zip(a.shape, a.strides) if n > 1]


def assert_same(got, want, what):
    if isinstance(want, tuple):
        assert got == want, what
        return
    assert got.shape == want.shape and got.dtype == want.dtype, what
    numpy.testing.assert_array_equal(numpy.asarray(got), want, err_msg=str(what))
    if want.size and isinstance(want, numpy.ndarray):
        assert walked(got) == walked(want), what


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("eager", [True, False])
def test_reading_by_random_keys(seed, eager):
    rng = random.Random(seed)
    with eagerly(eager):
        for _ in range(25):
            host = source(rng)
            key = random_key(rng, host.shape)
            x = np.borrow(host)
            mine = ours(key, rng)
            assert_same(outcome(lambda: x[mine]), outcome(lambda: host[key]), (host.shape, host.strides, key))


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("eager", [True, False])
def test_writing_by_random_keys(seed, eager):
    rng = random.Random(1000 + seed)
    with eagerly(eager):
        for _ in range(25):
            host = source(rng, rng.choice(["f8", "i4", "f4"]))
            key = random_key(rng, host.shape)
            x = np.array(host)
            host = host.copy(order="K")
            target = outcome(lambda: host[key])
            shape = () if isinstance(target, tuple) else target.shape
            shape = [n if rng.random() < 0.8 else 1 for n in shape][rng.randrange(len(shape) + 1) if rng.random() < 0.3 else 0 :]
            value = rng.choice([7, 2.5, numpy.arange(int(numpy.prod(shape))).reshape(shape).astype(rng.choice(["f8", "i8", "i2"]))])
            if rng.random() < 0.05:
                value = numpy.zeros(11)
            mine, given = ours(key, rng), np.asarray(value) if isinstance(value, numpy.ndarray) else value

            def write(a, k, v):
                a[k] = v

            got, want = outcome(lambda: write(x, mine, given)), outcome(lambda: write(host, key, value))
            assert got == want, (host.shape, key, value)
            unique = not isinstance(target, tuple)
            if unique and has_duplicates(host, key):
                continue  # which one stays is not said for arrays of several axes
            numpy.testing.assert_array_equal(numpy.asarray(x), host, err_msg=str((host.shape, key, value)))


def has_duplicates(host, key):
    places = numpy.arange(host.size).reshape(host.shape)[key]
    return places.ndim > 1 and numpy.unique(places).size != places.size


FUNCTIONS = [
    lambda np, a, i, m: np.take(a, i), lambda np, a, i, m: np.take(a, i, 1), lambda np, a, i, m: a.take(i, axis=-1), lambda np, a, i, m: a.T.take(i, 0),
    lambda np, a, i, m: np.take(a, 2), lambda np, a, i, m: np.take(a, i, mode="wrap"), lambda np, a, i, m: a.take([9, 40]), lambda np, a, i, m: a.take([[0]], 5),
    lambda np, a, i, m: np.take_along_axis(a, np.argsort(a, 1), 1), lambda np, a, i, m: np.take_along_axis(a, np.argmax(a, 0)[None], 0),
    lambda np, a, i, m: np.take_along_axis(a, i, None), lambda np, a, i, m: np.compress(m[0], a, 1), lambda np, a, i, m: np.compress([True, False], a, 0),
    lambda np, a, i, m: np.compress([True] * 9, a, 0), lambda np, a, i, m: a.compress([1, 0, 2]), lambda np, a, i, m: np.extract(m, a),
    lambda np, a, i, m: np.extract(a, a), lambda np, a, i, m: np.nonzero(m), lambda np, a, i, m: a.nonzero(), lambda np, a, i, m: np.nonzero(a[0] > 0),
    lambda np, a, i, m: np.flatnonzero(m), lambda np, a, i, m: np.argwhere(m), lambda np, a, i, m: np.argwhere(a[1]), lambda np, a, i, m: np.where(m),
    lambda np, a, i, m: np.where(a.T > 0), lambda np, a, i, m: np.where([True, False]), lambda np, a, i, m: np.nonzero(np.array(3.0)),
    lambda np, a, i, m: np.argwhere(np.array(3.0)), lambda np, a, i, m: a[np.ix_([0, 2], [1, 3])], lambda np, a, i, m: np.bincount(i.ravel() % 4),
    lambda np, a, i, m: np.bincount(np.array([], int)), lambda np, a, i, m: np.bincount(np.array([], int), minlength=3), lambda np, a, i, m: np.bincount(np.array([1, -1])),
    lambda np, a, i, m: np.bincount(np.array([1.0])), lambda np, a, i, m: np.bincount(np.array([1, 1, 5], "u1"), minlength=3),
    lambda np, a, i, m: np.bincount(np.array([1, 1, 5]), np.array([0.5, 2, 3])), lambda np, a, i, m: np.bincount(np.array([1, 1, 5]), np.array([1, 2, 3])),
    lambda np, a, i, m: np.bincount(np.array([1, 1, 5]), np.array([0.5, 2])), lambda np, a, i, m: np.bincount(np.array([1, 2]), minlength=-1),
    lambda np, a, i, m: np.bincount(np.array([], int), np.array([])), lambda np, a, i, m: np.bincount(np.array([], int), np.array([1.0]), 3),
    lambda np, a, i, m: np.histogram(a, 3, (np.float32(0.1), np.float32(1))), lambda np, a, i, m: np.histogram(a, 3, ("0", "1")),
    lambda np, a, i, m: np.take_along_axis(a[0], [1], 0), lambda np, a, i, m: np.take(a, np.array([1, 2], "u8")),
    lambda np, a, i, m: np.bincount(np.array([3]), np.array([1j])), lambda np, a, i, m: np.bincount(i), lambda np, a, i, m: np.bincount(np.array([True, False])),
    lambda np, a, i, m: np.histogram(a), lambda np, a, i, m: np.histogram(a, 3, (-1, 1)), lambda np, a, i, m: np.histogram(a, 4, density=True),
    lambda np, a, i, m: np.histogram(a, [0, 1, 3]), lambda np, a, i, m: np.histogram(a, 5, (1, -1)), lambda np, a, i, m: np.histogram(a * np.nan),
    lambda np, a, i, m: np.histogram(a * 0), lambda np, a, i, m: np.histogram(a[:0]), lambda np, a, i, m: np.histogram(a, 7, weights=m),
    lambda np, a, i, m: np.histogram(np.array([1.0, np.nan, 3]), 2, (0, 4)), lambda np, a, i, m: np.histogram(a, 0), lambda np, a, i, m: np.histogram(a.astype("f4")),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_functions_that_read(number):
    rng = numpy.random.default_rng(3)
    a = rng.integers(-8, 9, (3, 4)) / 4
    both(FUNCTIONS[number], a, numpy.array([[0, 3], [-1, 2]]), a > 0)


def _at(op, code, value):
    def f(np, a):
        a = a.astype(code)
        getattr(np, op).at(a, np.array([1, 1, 0, -1]), np.array(value) if isinstance(value, numpy.ndarray) else value)
        getattr(np, op).at(a, (np.array([0, 2, 2]), 1), 2)
        return a

    return f


@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "maximum", "minimum", "divide", "logaddexp"])
@pytest.mark.parametrize("code", ["d", "f", "l", "i", "b", "B", "?", "D"])
def test_ufunc_at(op, code):
    a = numpy.random.default_rng(3).integers(-8, 9, (3, 4))
    for value in (3, 2.5, numpy.arange(4.0), numpy.arange(16).reshape(4, 4), numpy.float32(numpy.nan), numpy.ones(3), 1000):
        both(_at(op, code, value), a)


def _writer(f):
    def run(np, a, i, m):
        f(np, a, i, m)
        return a

    return run


WRITERS = [
    lambda np, a, i, m: np.put(a, i, [9, 8, 7, 6]), lambda np, a, i, m: np.put(a, [0, 5], 3), lambda np, a, i, m: np.put(a, [0, 50], 3),
    lambda np, a, i, m: np.put(a, i, [1, 2]), lambda np, a, i, m: np.put(a, [1, 2], [0.5, 1], mode="clip"), lambda np, a, i, m: a.put([0], 4),
    lambda np, a, i, m: np.put(a, np.array([1, 2], "u8"), 3), lambda np, a, i, m: np.put(a[:0], [1], 3), lambda np, a, i, m: np.put_along_axis(a[0], [1], 2, 0),
    lambda np, a, i, m: a.__setitem__(m, np.ones((1, int(m.sum())))), lambda np, a, i, m: a.T.__setitem__(m.T, np.ones((1, 1))),
    lambda np, a, i, m: np.add.at(a, [0, 1], np.ones((1, 1, 1, 4))), lambda np, a, i, m: np.add.at(a[0], [0, 1], np.ones((1, 2))),
    lambda np, a, i, m: a.reshape(-1).__setitem__(np.asfortranarray(i % 2), np.arange(4).reshape(2, 2)),
    lambda np, a, i, m: np.putmask(a, m, -1), lambda np, a, i, m: np.putmask(a, m, a * 2), lambda np, a, i, m: np.putmask(a, m, [1, 2, 3]),
    lambda np, a, i, m: np.putmask(a, m, np.array(2)), lambda np, a, i, m: np.place(a, m, np.array([2])), lambda np, a, i, m: np.put(a, i, np.array(2)),
    lambda np, a, i, m: np.place(a, m, [5]), lambda np, a, i, m: np.place(a, m, [1, 2, 3]), lambda np, a, i, m: np.place(a, m, []),
    lambda np, a, i, m: np.put_along_axis(a, np.argmax(a, 1)[:, None], 99, 1), lambda np, a, i, m: np.put_along_axis(a, i, 1.5, None),
    lambda np, a, i, m: np.copyto(a, -a, where=m), lambda np, a, i, m: a.__setitem__(m, a[m] * 2), lambda np, a, i, m: a.__setitem__(m, np.ones(2)),
    lambda np, a, i, m: a.__setitem__(i % 3, a[0]), lambda np, a, i, m: a.__setitem__((slice(None), [0, 1]), a[:, [1, 0]]),
    lambda np, a, i, m: a.__setitem__(m[:, 0], a[::-1][m[:, 0]]), lambda np, a, i, m: a.__setitem__(([0, 0], [1, 1]), [3, 4]),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(WRITERS)))
@pytest.mark.parametrize("code", ["d", "f", "l"])
def test_functions_that_write(number, code):
    a = (numpy.random.default_rng(3).integers(-8, 9, (3, 4)) / 2).astype(code)
    both(_writer(WRITERS[number]), a, numpy.array([[0, 3], [-1, 2]]), a > 0)


@pytest.mark.parametrize("n", [1000, 200_001])
def test_large_ones_are_as_small_ones(n):
    rng = numpy.random.default_rng(1)
    x, at, y = rng.standard_normal(n), rng.integers(-n, n, n), rng.random((n, 3))
    calls = [
        lambda np, x, at, y: np.sqrt(np.abs(x[at])) * 2, lambda np, x, at, y: x[x > 0.5], lambda np, x, at, y: y[x > 0.5], lambda np, x, at, y: y[at] + 1,
        lambda np, x, at, y: np.nonzero(y > 0.5), lambda np, x, at, y: np.bincount(at % 100, x), lambda np, x, at, y: np.bincount(at % 100),
        lambda np, x, at, y: x[at].sum(), lambda np, x, at, y: np.histogram(x, 30), lambda np, x, at, y: y[at, at % 3].max(),
        lambda np, x, at, y: _scattered(np, x, at, y), lambda np, x, at, y: x[x > 0].std(),
    ]  # fmt: skip
    for f in calls:
        both(f, x, at, y)


def _scattered(np, x, at, y):
    x[at] = y[:, 0]
    x[x > 0.5] *= 2
    np.add.at(y, at, x[:, None])
    return x, y


@pytest.mark.parametrize("low, high", [(-1, 1), (0, 100), (0.1, 0.7), (1e15, 1e15 + 70), (-1e308, 1e308), (1, 1 + 1e-13)])
@pytest.mark.parametrize("bins", [1, 10, 100, 997])
def test_values_beside_the_edges_of_bins(low, high, bins):
    edges = numpy.linspace(low, high, bins + 1)
    if (edges[:-1] >= edges[1:]).any():
        return
    beside = [edges, numpy.nextafter(edges, numpy.inf), numpy.nextafter(edges, -numpy.inf), (edges[1:] + edges[:-1]) / 2]
    x = numpy.concatenate([*beside, numpy.linspace(low, high, 3001), [numpy.nan, numpy.inf, -numpy.inf, -0.0]])
    numpy.random.default_rng(bins).shuffle(x)
    both(lambda np, x: np.histogram(x, bins, (low, high)), x)
    with np.errstate(all="raise"):
        np.histogram(np.array(x), bins, (0, 1))
        assert float(np.array([1.0, 2.0]).sum()) == 3


@pytest.mark.parametrize("code", "bhilBHIL")
@pytest.mark.parametrize("step", [1, -1, 3])
def test_one_index_of_many_is_outside(code, step):
    x, good = numpy.arange(100.0), numpy.arange(9000).astype(code) % 100
    for place in (0, 4500, 8997):
        for bad in (-100, -101, 99, 100):
            if bad < 0 and code.isupper():
                continue
            i = good.copy()
            i[place] = bad
            both(lambda np, x, i: x[i[::step]], x, i)
            both(lambda np, x, i: np.sqrt(x[i[::step]]) * 2, x, i)


def test_indices_that_are_written_over():
    n = 70_001
    order = numpy.random.default_rng(2).permutation(n)
    for f in (_follow, _count_into_itself):
        both(f, order, order[::-1].copy())


def _follow(np, i, t):
    with eagerly(False):
        i[:] = t[i]
        i[1:] = t[i[:-1]] + 1 - t[0] % 2
    return i


def _count_into_itself(np, i, t):
    with eagerly(False):
        i += np.bincount(i, minlength=i.size)
        np.add.at(t, i % 50, i)
    return i, t


def test_a_copy_does_not_see_later_writes():
    x, i = np.arange(10000.0), np.arange(5000)
    with eagerly(False):
        y = x[i]
        x[:] = -1
        i[:] = 3
        assert float(y[4999]) == 4999.0


def test_nothing_is_changed_by_a_wrong_index():
    x = np.arange(5.0)
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 5"):
        x[np.array([0, 7])] = 3
    with pytest.raises(IndexError, match="index -6 is out of bounds for axis 0 with size 5"):
        np.add.at(x, [0, -6], 1)
    assert x.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("shape, key", [((), ()), ((5,), slice(None)), ((5,), ()), ((5,), 2), ((3, 5), (slice(None), 1)), ((3, 5), ...)])
def test_at_of_slices_and_numbers(shape, key):
    ours, theirs = np.zeros(shape), numpy.zeros(shape)
    np.add.at(ours, key, 3)
    numpy.add.at(theirs, key, 3)
    numpy.testing.assert_array_equal(numpy.asarray(ours), theirs)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "minimum", "fmax", "fmin", "logical_xor", "copysign", "less", "floor_divide"])
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "float16", "float32", "float64"])
def test_at_of_any_function_takes_indices_in_their_order(name, dtype):
    key = numpy.array([0, 2, 0, -1, 2, 2])
    values = numpy.array([1, 2, 3, 2, 5, 4], dtype)
    theirs = numpy.array([7, 3, 2], dtype)
    ours = np.array(theirs)
    if name == "copysign" and dtype in ("int8", "int32", "uint64"):
        values, theirs = values.astype("float32"), theirs.astype("float64")
        ours = np.array(theirs)
    getattr(numpy, name).at(theirs, key, values)
    getattr(np, name).at(ours, np.array(key), np.array(values))
    numpy.testing.assert_array_equal(numpy.asarray(ours), theirs)


def test_values_of_a_masked_write_are_read_before():
    a = np.array([2.0, 0.5, 3.0])
    a[::-1][np.array([True, True, True])] = a
    assert a.tolist() == [3.0, 0.5, 2.0]


def kmeans(np, points, means):
    label = np.argmin(np.linalg.norm(points - means[:, None], axis=2), axis=0)
    sums = np.zeros_like(means)
    np.add.at(sums, label, points)
    return sums, np.bincount(label, minlength=len(means)), sums / np.bincount(label, minlength=len(means))[:, None]


@pytest.mark.parametrize("n", [50, 70_000, 600_000])
def test_update_of_kmeans_by_index(n):
    rng = numpy.random.default_rng(0)
    points, means = rng.standard_normal((n, 4)), rng.standard_normal((6, 4))
    with eagerly(False):
        ours = kmeans(np, np.asarray(points), np.asarray(means))
    for got, expected in zip(ours, kmeans(numpy, points, means)):
        assert got.dtype == expected.dtype and got.strides == expected.strides
        numpy.testing.assert_allclose(numpy.asarray(got), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("op", ["add", "multiply", "maximum", "minimum", "subtract"])
def test_pending_values_combine_by_index(op):
    rng = numpy.random.default_rng(1)
    x, at = rng.standard_normal((300, 3)).astype("f4"), rng.integers(-8, 8, 300)

    def run(np, x, at):
        table = np.ones((10, 8, 3), "f4")
        whole = table[2].copy()
        getattr(np, op).at(table[1:2].T[:, ::-1, 0].T, at, x * 2)
        getattr(np, op).at(whole, at, (x - 1)[:, :1])
        getattr(np, op).at(whole, np.argmax(x, axis=1), x * x)
        return table, whole, table.sum()

    with eagerly(False):
        ours = run(np, np.asarray(x), np.asarray(at))
    for got, expected in zip(ours, run(numpy, x, at)):
        numpy.testing.assert_array_equal(numpy.asarray(got), expected)


def test_pending_indices_outside_raise_at_the_call():
    x = np.asarray(numpy.random.default_rng(2).standard_normal((1000, 5)))
    with eagerly(False):
        label = np.argmax(x, axis=1)
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 3"):
            np.add.at(np.zeros(3), label, x[:, 0] * 2)
        assert np.bincount(label, minlength=2).shape == (5,)


def test_sums_by_index_see_later_writes_as_numpy_does():
    def run(np):
        at, w, out = np.arange(200) % 7, np.arange(200.0), np.zeros(7)
        np.add.at(out, at, w * 2)
        counted = np.bincount(at, w + 1)
        at[:], w[:] = 0, -1.0
        view = out[2:5]
        view += 1
        np.add.at(out, at, w - 1)
        return out, counted

    with eagerly(False):
        ours = run(np)
    for got, expected in zip(ours, run(numpy)):
        numpy.testing.assert_array_equal(numpy.asarray(got), expected)


def test_overflow_of_pending_sums_by_index_is_reported_as_numpys():
    with eagerly(False), pytest.warns(RuntimeWarning, match="overflow encountered in add"):
        out = np.full(3, 1e308)
        np.add.at(out, np.zeros(100, int), np.full(100, 1e307) * 5.0)
        assert numpy.isinf(numpy.asarray(out)[0])


def test_choose_gives_c_order():
    values = numpy.asfortranarray(numpy.arange(40.0).reshape(5, 2, 4))
    which = numpy.arange(40).reshape(5, 2, 4) % 2
    both(lambda m, i, v: m.choose(i, [v, -v]), which, values)
    both(lambda m, i, v: m.choose(i, [v, v[:, :1]]), numpy.asfortranarray(which), values)


class Two:
    """An integer that is no int."""

    def __index__(self):
        return 2


INTEGERS = {
    "int64": lambda np: numpy.int64(2), "uint8": lambda np: numpy.uint8(2), "NumPy's array": lambda np: numpy.asarray(2), "array": lambda np: np.asarray(2),
    "int32 array": lambda np: np.asarray(2, "i4"), "__index__": lambda np: Two(), "pending": lambda np: np.arange(5000)[2] if np is numpy else np.arange(5000)[2:3].reshape(()),
}  # fmt: skip
TAKING_INTEGERS = {
    "w[:, i]": lambda np, w, i: w[:, i], "w[i]": lambda np, w, i: w[i], "w[i, :, i]": lambda np, w, i: w[i, :, i], "v[i]": lambda np, w, i: w[0, 0][i],
    "w[i, i, i]": lambda np, w, i: w[i, i, i], "w[..., [0, 1], i]": lambda np, w, i: w[..., [0, 1], i], "roll": lambda np, w, i: np.roll(w, i, axis=1),
    "roll axis": lambda np, w, i: np.roll(w, 1, axis=i), "sum": lambda np, w, i: w.sum(axis=i), "sort": lambda np, w, i: np.sort(w, axis=i),
    "argsort": lambda np, w, i: np.argsort(w, axis=i), "cumsum": lambda np, w, i: np.cumsum(w, axis=i), "take": lambda np, w, i: np.take(w, [0, 1], axis=i),
    "repeat": lambda np, w, i: np.repeat(w, i, axis=i), "tile": lambda np, w, i: np.tile(w, i), "diff": lambda np, w, i: np.diff(w, i, axis=i),
    "array_split": lambda np, w, i: np.array_split(w, i, axis=0), "bincount": lambda np, w, i: np.bincount(np.arange(1), minlength=i),
    "tensordot": lambda np, w, i: np.tensordot(w, w[0], i), "trapezoid": lambda np, w, i: np.trapezoid(w, axis=i), "median": lambda np, w, i: np.median(w, axis=i),
    "round": lambda np, w, i: np.round(w, i), "histogram": lambda np, w, i: np.histogram(w, i)[0], "swapaxes": lambda np, w, i: np.swapaxes(w, 0, i),
    "zeros": lambda np, w, i: np.zeros((i, 3)), "reshape": lambda np, w, i: w.reshape(i, -1), "item": lambda np, w, i: w.item(i, i, i),
}  # fmt: skip


def falls_back(f):
    """The result of f, and the names of what NumPy computed for it."""
    with fallback_notes():
        _plait.watch({})
        try:
            made = f()
        finally:
            events = _plait.watched(lambda site: ("", "", ""))
    return made, [note for kind, note, *_ in events if kind == "note"]


@pytest.mark.parametrize("call", TAKING_INTEGERS)
@pytest.mark.parametrize("kind", INTEGERS)
def test_whatever_has_index_is_an_integer(call, kind):
    given = numpy.arange(36.0).reshape(3, 4, 3) % 7

    def made(np, w):
        return TAKING_INTEGERS[call](np, w, INTEGERS[kind](np))

    w = np.array(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, fallbacks = falls_back(lambda: outcome(lambda: made(np, w)))
        theirs = outcome(lambda: made(numpy, given))
    same(ours, theirs)
    assert not fallbacks or isinstance(theirs, tuple) or (call, kind) == ("tensordot", "uint8")  # which NumPy negates


@pytest.mark.parametrize("key", [(slice(None), numpy.asarray(1)), (numpy.asarray(1),), (slice(None), numpy.int64(1)), (1, Ellipsis, numpy.asarray(0))], ids=repr)
def test_arrays_without_axes_copy_and_scalars_do_not(key):
    def read_and_write(np):
        a = np.arange(12.0).reshape(3, 4)
        b = a[tuple(np.asarray(k) if isinstance(k, numpy.ndarray) else k for k in key)]
        shared = np.shares_memory(a, b)
        a[1] = -1
        a[..., 1] = -2
        return shared, type(b) is numpy.float64 or b.base is None, b

    both(read_and_write)


@pytest.mark.parametrize("key", [range(3), range(0), range(4, 0, -2), array.array("i", [2, 0]), memoryview(b"\x01\x00")], ids=repr)
def test_sequences_are_indices(key):
    a = np.array(numpy.arange(20.0).reshape(5, 4))
    ours, fallbacks = falls_back(lambda: a[key])
    same(ours, numpy.arange(20.0).reshape(5, 4)[key])
    assert not fallbacks
    a[key] = 0.0
    expected = numpy.arange(20.0).reshape(5, 4)
    expected[key] = 0.0
    same(a, expected)


# --- x[label == k] for one k after the other


@pytest.mark.parametrize("shape", [(40_001,), (200, 201)])
@pytest.mark.parametrize("dtype", ["i8", "u1", "i4"])
def test_selections_by_label(dtype, shape):
    rng = numpy.random.default_rng(1)
    label, x = rng.integers(0, 12, shape).astype(dtype), rng.standard_normal(shape)
    rows = rng.standard_normal((*shape, 3))

    def run(np, label, x, rows):
        out = []
        for k in range(-1, 13):
            s = x[label == k]
            out += [s, s.sum(), s.std() if s.size else 0.0, rows[k == label], np.nonzero(label == k)[0]]
            if k == 4:
                x[label == k] = np.arange(float(s.size))
            if k == 5:
                x[label == k] *= 2
        return out

    for _ in range(2):  # the second time as the first one was
        ours = run(np, *map(np.asarray, (label.copy(), x.copy(), rows)))
        for got, expected in zip(ours, run(numpy, label.copy(), x.copy(), rows)):
            numpy.testing.assert_array_equal(numpy.asarray(got), expected, strict=True)


@pytest.mark.parametrize("how", ["element", "slice", "mask", "in place", "numpy", "borrowed", "another"])
def test_selections_see_what_is_written_to_labels(how):
    first = numpy.random.default_rng(2).integers(0, 8, 50_000)

    def run(np, label):
        x, out = np.arange(50_000.0), []
        for k in range(24):
            out.append(x[label == k % 8].sum())
            if how == "element":
                label[k] = 7
            elif how == "slice":
                label[k * 100 : k * 1000] = k % 8
            elif how == "mask" and k % 5 == 0:
                label[x > 49_000 - k] = 3
            elif how == "in place" and k % 9 == 8:
                label += 1
            elif how == "numpy":
                view = numpy.asarray(label)
                view[:k] = 7
                if k % 2:
                    del view
            elif how == "another" and k % 7 == 6:
                label = np.flip(label).copy()
        return [float(s) for s in out]

    expected = run(numpy, first.copy())
    if how != "borrowed":
        assert run(np, np.asarray(first.copy())) == expected
        return
    label, fast = first.copy(), np.jit(lambda label: run(np, label))
    for k in range(3):
        label[: 100 * k] = k
        assert fast(label) == run(numpy, label)


def test_labels_are_read_once_for_their_selections():
    rng = numpy.random.default_rng(3)
    label, x = np.asarray(rng.integers(0, 20, 100_000)), np.asarray(rng.standard_normal(100_000))
    for k in range(4):
        x[label == k]
    before = np.stats()["evaluations"]
    for k in range(4, 20):
        x[label == k]
    assert np.stats()["evaluations"] == before  # no mask is computed
    label[0] = 3
    for k in range(8):  # as many are expected as before
        x[label == k]
    assert np.stats()["evaluations"] == before


# --- sums by label, as products of a one-hot matrix

ONE_HOT = {
    "cast": lambda np, label, k, x: (label[:, None] == np.arange(k)).astype(x.dtype).T @ x,
    "classes first": lambda np, label, k, x: np.dot((np.arange(k)[:, None] == label[None]).astype("f8"), x),
    "booleans": lambda np, label, k, x: (np.arange(k) == label[:, None]).T @ x,
    "a column": lambda np, label, k, x: (label[:, None] == np.arange(k)).astype("f8").T @ x[:, 1],
    "more classes": lambda np, label, k, x: (label[:, None] == np.arange(k + 3)).astype("f8").T @ x,
    "shifted classes": lambda np, label, k, x: (label[:, None] == np.arange(k) + 1).astype("f8").T @ x,
    "every second class": lambda np, label, k, x: (label[:, None] == np.arange(0, 2 * k, 2)).astype("f8").T @ x,
    "counts": lambda np, label, k, x: (label[:, None] == np.arange(k)).astype("f8").sum(0),
    "counted booleans": lambda np, label, k, x: (np.arange(k)[:, None] == label).sum(axis=1),
    "by point": lambda np, label, k, x: (label[:, None] == np.arange(k)).astype("f8").sum(1),
    "the matrix, too": lambda np, label, k, x: [h := (label[:, None] == np.arange(k)).astype("f8"), h.T @ x, h.sum(0)],
}


@pytest.mark.parametrize("spoilt", [False, True])
@pytest.mark.parametrize("spelling", ONE_HOT)
def test_one_hot_products(spelling, spoilt):
    rng = numpy.random.default_rng(5)
    x, means = rng.standard_normal((400_000, 3)), rng.standard_normal((5, 3))
    if spoilt:
        x[7, 0], x[9, 0], x[11, 1] = numpy.inf, numpy.nan, -numpy.inf

    def run(np, x, means):
        with np.errstate(invalid="ignore"):
            label = np.argmin((np.where(x < 9, x, 0.0)[:, None] - means)[:, :, 2] ** 2, axis=1)
            made = ONE_HOT[spelling](np, label, 5, x)
            return [numpy.asarray(m) for m in (made if isinstance(made, list) else [made])]

    for got, expected in zip(run(np, np.asarray(x), np.asarray(means)), run(numpy, x, means)):
        assert got.dtype == expected.dtype and got.shape == expected.shape and got.strides == expected.strides
        if "count" in spelling:
            numpy.testing.assert_array_equal(got, expected)
        numpy.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-10)


def test_one_hot_products_read_the_points_once():
    x, means = (np.asarray(a) for a in numpy.random.default_rng(6).standard_normal((2, 300_000, 4)))
    means = means[:6].copy()

    def update():
        label = np.argmin(((x[:, None] - means) ** 2).sum(-1), axis=1)
        hot = (label[:, None] == np.arange(6)).astype(x.dtype)
        return (hot.T @ x) / hot.sum(0)[:, None]

    before = np.stats()["bytes_moved"]
    numpy.asarray(update())
    assert np.stats()["bytes_moved"] - before < 1.01 * x.nbytes
