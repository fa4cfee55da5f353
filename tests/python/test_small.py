"""Small and scalar work goes short ways: each gives what NumPy gives, and what a value was read from before stays as it was."""

import copy
import linecache
import operator
import pickle
import warnings

import numpy
import pytest
from support import NATIVE, both, same, sample

import plait

LISTS = [
    [1.0, 2.0, 3.0], [1, 2, 3], [True, False], [1, 2.5], [2.5, 1], [True, 2], [True, 1.5], [2**62, 0.5], [2**63], [2**63, 0.5], [-(2**63)],
    [[1, 2], [3, 4]], [[1.0, 2], [3, 4]], [(1, 2), [3, 4]], [[1], [2, 3]], [[1, 2], 3], [1, [2, 3]], [], [[]], [[], []], [[[1]]], [1j, 2],
    [None, 1], ["a"], [numpy.float32(1), 2], [float("nan"), -0.0], [[True, False], [False, True]], [True, [1]],
]  # fmt: skip


@pytest.mark.parametrize("values", LISTS, ids=repr)
def test_arrays_of_lists(values):
    def described(np):
        a = np.array(values)
        return a.dtype.str, a.shape, a.strides, a.flags.writeable, a.tolist()

    def attempt(np):
        try:
            return repr(described(np))
        except ValueError as e:
            return str(e)

    assert attempt(plait) == attempt(numpy)


def test_lists_with_options():
    for options in ({"dtype": "f4"}, {"ndmin": 2}, {"order": "F"}, {"copy": None}, {"dtype": object}):
        theirs, ours = numpy.array([[1, 2], [3, 4]], **options), plait.array([[1, 2], [3, 4]], **options)
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape and ours.strides == theirs.strides
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        plait.array([1, 2], copy=False)
    with plait.default_dtype("float32"):
        assert plait.array([1.0, 2.0]).dtype == numpy.float32
    same(plait.arange(3.0) + [1, 2, 3], numpy.arange(3.0) + [1, 2, 3])


KEYS = [
    [0, 2], [-1, 0, 0], [], [True, False, True], [0, 3], [-4], [0.5], [2**70], (0, 1), numpy.array([2, 0]), numpy.array([1, -3], "i4"),
    numpy.array([0, 3]), numpy.array([True, False, True]), numpy.array([True, False]), numpy.array([], "l"), numpy.zeros(3, "?"),
    numpy.array([[0, 1], [2, 2]]), numpy.array([2, 0, 1])[::-1], numpy.arange(6)[::2] // 2, numpy.array(1), numpy.array([1], ">i8"),
    range(3), range(2, -1, -1), range(-3, 0, 2), range(0), range(1, 5), range(2**62, 2**64), range(-2, 2, 2**63), range(True, 3),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_reads_by_indices_and_masks(key):
    def read(np, a, *rest):
        ours = np.array(key) if np is plait and isinstance(key, numpy.ndarray) else key
        out = a[ours]
        return out, out.strides, out.flags.c_contiguous

    for a in (sample("d", (3,)), sample("F", (3,)), sample("b", (3, 4)), sample("e", (3, 2, 2)), numpy.zeros((3, 0))):
        both(read, a)
        both(lambda np, a: a[key], a)
        both(lambda np, a: a[::-1][key], a)
        both(lambda np, a: a.T[key], a)


def test_what_was_read_by_indices_is_a_copy():
    a = plait.arange(5.0)
    b = a[[1, 2]]
    a[1] = 99
    b[0] = 7
    assert a.tolist() == [0, 99, 2, 3, 4] and b.tolist() == [7, 2]


def test_pending_arrays_are_read_by_indices():
    a = plait.arange(100_000.0) * 2
    assert a[[3, 5]].tolist() == [6, 10]
    assert a[a > 199_996].tolist() == [199_998]


@pytest.mark.parametrize("code", NATIVE)
@pytest.mark.parametrize("value", [0, 1, -1, 300, 2**40, 2**70, 1.5, True, 1j, numpy.float32(2.5), numpy.int8(-3), "x", None], ids=repr)
def test_writes_of_elements(code, value):
    def write(np, a):
        a[1, 2] = value
        a[0][1] = value
        return a

    both(write, sample(code))


def test_writes_of_elements_spare_what_was_taken_before():
    a = plait.arange(4.0)
    doubled, same_values, view = a * 2, a.copy(), a[1:]
    a[1] = 50
    a[2] = 60
    assert doubled.tolist() == [0, 2, 4, 6] and same_values.tolist() == [0, 1, 2, 3]
    assert view.tolist() == [50, 60, 3] and a.tolist() == [0, 50, 60, 3]


def test_writes_of_elements_and_readers_that_are_pending():
    a = plait.zeros(10_000)
    sums = []
    for i in range(5):
        a[i] = i
        sums.append(a + 1)
        a[i] = -1
    for i, s in enumerate(sums):
        assert s[: i + 2].tolist() == [0] * i + [i + 1, 1]


def test_writes_of_elements_are_seen_in_exports():
    a = plait.zeros(4)
    a[0] = 1
    host = numpy.asarray(a)
    a[1] = 2
    assert host.tolist() == [1, 2, 0, 0]
    host[2] = 3
    assert a.tolist() == [1, 2, 3, 0]


def test_writes_of_elements_to_borrowed_memory():
    theirs = numpy.zeros(3)

    def write(x):
        x[1] = 5.0
        return x

    plait.jit(write)(theirs)
    assert theirs.tolist() == [0, 5, 0]
    read_only = plait.broadcast_to(plait.zeros(3), (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        read_only[0, 1] = 1.0


@pytest.mark.parametrize("code", NATIVE)
def test_numbers_of_single_values(code):
    for value in (0, 1, 100):
        for convert in (int, float, complex, bool):
            both(lambda np, a: convert(a), numpy.array(value, code))
    both(lambda np, a: a.item(1), sample(code, (3,)))
    both(lambda np, a: a.item(-1), sample(code, (3,)))
    both(lambda np, a: a.item(3), sample(code, (3,)))
    both(lambda np, a: a.item(4), sample(code))


def test_numbers_of_pending_values():
    total = plait.array(plait.ones(200_000).sum() * 2)
    assert float(total) == 400_000 and int(plait.array(7) * 3) == 21


@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (5, 2), (0, 3), (3, 0), (1, 1)])
@pytest.mark.parametrize("k", [0, 1, -1, 2, -3, 9, -9, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("dtype", [float, "?", "i1", "D", "f2"])
def test_small_identities(shape, k, dtype):
    for order in "CF":
        made, want = plait.eye(*shape, k, dtype, order), numpy.eye(*shape, k, dtype, order)
        assert made.dtype == want.dtype and made.strides == want.strides
        numpy.testing.assert_array_equal(numpy.asarray(made), want)


def test_masks_of_matrices_are_written_through():
    a, m = numpy.arange(12.0).reshape(3, 4), numpy.arange(12).reshape(3, 4) % 3 == 0
    for where in (numpy.s_[:], numpy.s_[:, ::2], numpy.s_[::-1], numpy.s_[1:]):
        x, y, mask = plait.array(a), a.copy(), plait.array(m)
        view = x[1:]
        x[where][mask[where]], y[where][m[where]] = -1, -1
        numpy.testing.assert_array_equal(numpy.asarray(x), y)
        numpy.testing.assert_array_equal(numpy.asarray(view), y[1:])
    x = plait.array(a)
    x[plait.array(m)] = plait.array(7.5)
    assert x[0, 0] == 7.5
    with pytest.raises(IndexError):
        x[plait.array(m[:2])] = 0
    i = plait.array(numpy.arange(12).reshape(3, 4))
    i[plait.array(m)] = 2.9
    assert i[0, 0] == 2
    b = plait.array(m)
    b[b] = False
    assert not b.any()


IN_PLACE = {
    "whole": lambda np, a: a.__iadd__(a),
    "number": lambda np, a: a.__imul__(0.5),
    "columns": lambda np, a: a[:, 1:].__isub__(a[:, :1]),
    "itself": lambda np, a: a[1:, 1:].__isub__(a[1:, 1:]),
    "shifted": lambda np, a: a[1:].__iadd__(a[:-1]),
    "backwards": lambda np, a: a[::-1].__iadd__(a),
    "transposed": lambda np, a: a[:4, :4].T.__iadd__(a[:4, :4]),
    "steps": lambda np, a: a[::2, ::3].__imul__(3),
    "one column": lambda np, a: a[:, 2].__itruediv__(a[:, 3]),
    "overlapping windows": lambda np, a: np.lib.stride_tricks.as_strided(a, (5, 3), (8, 8)).__iadd__(1),
    "a ufunc's out": lambda np, a: np.multiply(a, a, out=a),
    "out elsewhere": lambda np, a: np.subtract(a[1:3], a[2:4], out=a[0:2]),
}


@pytest.mark.parametrize("write", IN_PLACE.values(), ids=IN_PLACE)
@pytest.mark.parametrize("shared", ["nobody", "a copy to come", "a view", "another name", "numpy"])
def test_few_elements_written_in_place(write, shared):
    def program(np):
        a = np.arange(1.0, 31.0).reshape(5, 6) / 7
        before = {
            "nobody": lambda: None,
            "a copy to come": lambda: a * 2,
            "a view": lambda: a[1],
            "another name": lambda: a.copy(),
            "numpy": lambda: numpy.asarray(a),
        }[shared]()
        write(np, a)
        return a, None if before is None else np.array(before)

    ours, theirs = program(plait), program(numpy)
    same(ours[0], theirs[0])
    if theirs[1] is not None:
        same(ours[1], theirs[1])


def test_warnings_of_writes_in_place_name_their_line():
    for np in (plait, numpy):
        a = np.ones(5)
        a += 1
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            a /= 0  # here
            float(a[0])
        assert [str(w.message) for w in seen] == ["divide by zero encountered in divide"]
        assert "# here" in linecache.getline(seen[0].filename, seen[0].lineno)
        with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="invalid value encountered in subtract"):
            a -= a


@pytest.mark.parametrize("turned", [False, True])
def test_sweeps_over_what_was_pending_become_stores(turned):
    def program(np):
        u = np.arange(14_400.0).reshape(120, 120) / 14_400
        u = u.copy()
        v = u.T if turned else u
        for i in range(1, 120):
            v[i] += 0.3 * v[i - 1]
        return u

    before = plait.stats()["evaluations"]
    ours = program(plait)
    assert plait.stats()["evaluations"] - before < 10
    same(ours, program(numpy))


def test_iteration_hands_out_numpys_scalars_and_views():
    def walk(np):
        line, grid = np.arange(4.0), np.arange(6).reshape(2, 3)
        out, it = [], iter(line)
        for i, v in enumerate(line):
            out.append((type(v).__name__, float(v)))
            if i < 3:
                line[i + 1] = -i  # seen at the next step
        out.append([next(it), it.__length_hint__(), list(it), it.__length_hint__(), list(it)])
        out.append(list(copy.copy(iter(line))))
        half = iter(line)
        next(half)
        out.append(list(pickle.loads(pickle.dumps(half))))
        for row in grid:
            row[0] = 9
        out.append(grid.tolist())
        out += [list(np.zeros((0, 3))), list(np.zeros((2, 0))[0]), [type(v).__name__ for v in np.array([True, False])], list(zip(line, line)), max(line)]
        with pytest.raises(TypeError, match="iteration over a 0-d array"):
            iter(np.array(1.0))
        return repr(out)

    assert walk(plait) == walk(numpy)


@pytest.mark.parametrize("make", [lambda np: np.arange(6.0).reshape(2, 3), lambda np: np.arange(6.0).reshape(3, 2).T, lambda np: np.array(2.5), lambda np: np.arange(4)[::-1]])
def test_flat_reads_and_writes_elements(make):
    def walk(np):
        a = make(np)
        f = a.flat
        out = [f.index, f.coords, next(f), f.index, f.coords, len(f), f.base is a]
        out += [f[0], f[-1], f.index, list(f), f.index, list(f)]
        f[-1] = 7
        f[0] = numpy.float64(1.5)
        out += [a.tolist(), f[[0]].tolist(), f[:2].tolist(), list(f)]
        for key in (10**30, a.size, -a.size - 1, "x"):
            try:
                out.append(f[key])
            except (IndexError, ValueError, OverflowError) as e:
                out.append(type(e).__name__)
        with pytest.raises(TypeError):
            del f[0]
        return repr(out)

    assert walk(plait) == walk(numpy)


def test_arrays_of_arrays():
    def made(np, values):
        a = np.array(values)
        return a, a.strides, a.flags.writeable

    line, grid = sample("d", (5,)), sample("i", (3, 4))
    for values in ([line, line], [line[::2], line[1:4]], [grid, grid.T.copy().T], [grid[0], sample("d", (4,))], [sample("?", (3,))] * 2, [numpy.array(1.0), numpy.array(2.0)], [line, [1.0] * 5]):
        theirs = made(numpy, values)
        ours = made(plait, [plait.asarray(v) if isinstance(v, numpy.ndarray) else v for v in values])
        same(ours, theirs)
    pending = plait.arange(100_000.0) * 2
    assert plait.array([pending, pending])[1, 3] == 6
    a = plait.zeros(3)
    b = plait.array([a, a])
    a[0] = 1
    assert b.tolist() == [[0, 0, 0], [0, 0, 0]]
    with pytest.raises(ValueError, match="inhomogeneous"):
        plait.array([plait.zeros(2), plait.zeros(3)])


CREATED = [
    "np.zeros(3)", "np.zeros((2, 3), 'i4')", "np.ones(2, dtype=bool)", "np.ones(2, None)", "np.zeros(numpy.int64(2))", "np.zeros([2, 1])", "np.zeros(-1)", "np.zeros(2.5)",
    "np.zeros(2, 'nonsense')", "np.empty((0, 2)).shape", "np.empty(3, 'f4').dtype", "np.arange(3)", "np.arange(3.5)", "np.arange(-1)", "np.arange(True)",
    "np.arange(2**70)", "np.asarray([1, 2])", "np.asarray(np.zeros(2))", "np.array([])", "np.sort(np.array([3, 1, 2]))", "np.sort(numpy.array([3, 1, 2]))",
    "np.sort(np.array(1))", "np.sort(np.zeros((2, 0)))", "np.bincount(np.array([1, 2, 1]))", "np.bincount(np.array([-1]))", "np.bincount(np.array([1.5]))", "np.bincount(np.zeros(0, int))",
    "np.arange(5.)[::-1].argmax()", "np.array([[1, 5], [7, 0]]).T.argmax()", "np.array([1., numpy.nan, 3.]).argmin()", "np.zeros(0).argmax()", "np.array(4).argmax()",
    "np.array([False, True]).argmax()",
]  # fmt: skip


@pytest.mark.parametrize("text", CREATED)
def test_plain_calls(text):
    def attempt(np):
        try:
            return eval(text, {"np": np, "numpy": numpy})
        except Exception as e:
            return type(e).__name__, str(e)

    same(attempt(plait), attempt(numpy))


def test_plain_calls_heed_the_default_dtype():
    with plait.default_dtype("float32"):
        for made in (plait.zeros(2), plait.ones((2,)), plait.empty(2), plait.arange(2.0), plait.array([plait.zeros(2)]), plait.random.default_rng(1).random(2)):
            assert made.dtype == numpy.float32


DRAWN = ["random()", "random(3)", "integers(10)", "integers(0, 10, 3)", "normal()", "normal(0.0, 2.0)", "choice(5)", "choice(x)", "choice(x, 2)", "permutation(x)", "permutation(4)", "shuffle(x)",
         "uniform(x, 20.0)", "random(-1)", "integers(0)", "shuffle(m)", "permuted(m, axis=1)"]  # fmt: skip


@pytest.mark.parametrize("kind", ["default_rng", "RandomState"])
def test_few_numbers_are_drawn_as_numpy_draws_them(kind):
    def draw(np):
        rng = getattr(np.random, kind)(3)
        out = []
        for _ in range(2):
            for text in DRAWN:
                x, m = np.arange(6.0), np.arange(6).reshape(3, 2)
                if not hasattr(rng, text.partition("(")[0]):
                    continue
                try:
                    out.append((eval("rng." + text, {"rng": rng, "x": x, "m": m}), x, m))
                except ValueError as e:
                    out.append(str(e))
        return out

    same(draw(plait), draw(numpy))


def test_generators_take_no_attributes():
    for rng in (plait.random.default_rng(1), numpy.random.default_rng(1)):
        rng.random()
        with pytest.raises(AttributeError):
            rng.anything = 1
    rng = plait.random.default_rng(1)
    rng.random()
    assert pickle.loads(pickle.dumps(rng)).random() == copy.deepcopy(rng).random() == rng.random()


HOST = {
    "days": numpy.array(["2026-01-01", "2026-02-03", "NaT"], "M8[D]"),
    "spans": numpy.array([1, 2, 3], "m8[D]"),
    "texts": numpy.array(["a", "bc", "d"]),
    "records": numpy.array([(1, 2.0), (3, 4.0)], [("a", "i4"), ("b", "f8")]),
    "objects": numpy.array([1, [2], None], object),
    "wide": numpy.array([1.5, 2.5, -1.0], "g"),
}
STATEMENTS = [
    "x + 1", "1 + x", "x - x", "x == x", "x == 'a'", "x < x[::-1]", "x + x", "x[0]", "x[1:]", "x[[0, 1]]", "x[x == x]", "x['a']", "x[['b']]",
    "x[1:]['b']", "x[None].T[0]", "x * 2", "x // x", "x - np.timedelta64(1, 'D')", "x > np.datetime64('2026-01-15')", "x + numbers", "numbers * x",
    "x @ x", "x & 1", "x[9]", "x[1][0]",
]  # fmt: skip
STORES = ["x += 1", "x += x", "x *= 2", "x[0] = x[1]", "x[1:] = x[:1]", "x['a'] = 5", "x[::2] = numbers[:1]", "x[0] = 'zz'", "x[9] = x[0]", "x -= numbers"]


@pytest.mark.parametrize("name", HOST)
def test_dtypes_that_only_numpy_has(name):
    for text in STATEMENTS:
        both(lambda np, x: eval(text, {"np": np, "x": x, "numbers": np.arange(3)}), HOST[name])

    def run(np, x):
        before, view = x, x[1:]
        space = {"np": np, "x": x, "numbers": np.arange(3)}
        exec(text, space)
        assert space["x"] is before
        return x, view

    for text in STORES:
        both(run, HOST[name])


def test_what_objects_are_in_an_array_comes_out():
    inside = [1, 2]
    x = plait.array([None, None], object)
    x[0], x[1] = inside, plait.arange(2)
    kept = x[1]
    assert x[0] is inside and x[1] is kept and x[:1][0] is inside


def test_views_of_records_keep_what_they_are_of():
    x = plait.array([(1, 2.0), (3, 4.0)], [("a", "i4"), ("b", "f8")])
    part = x[1:]
    a = part["a"]
    a[0] = 9
    assert x["a"].tolist() == [1, 9] and a.base is not None and a.dtype == numpy.int32


def test_orders_and_bytes_of_arrays():
    for make in (lambda np: np.arange(6.0), lambda np: np.arange(6).reshape(2, 3), lambda np: np.arange(6, dtype="i2").reshape(2, 3).T, lambda np: np.float32(2) + np.zeros(())):
        def described(np):
            x = make(np)
            made = np.asfortranarray(x)
            return made, made.strides, made is x, np.asfortranarray(x, "f4"), x.tobytes(), x.tobytes("F"), x[::-1].tobytes() if x.ndim else b""

        same(described(plait), described(numpy))
    for values in ([1, 2], [[1, 2], [3, 4]], 5, [[1.5]]):
        made, theirs = plait.asfortranarray(values), numpy.asfortranarray(values)
        same(made, theirs)
        assert made.strides == theirs.strides
    pending = plait.arange(100_000.0) * 2
    assert pending.tobytes() == (numpy.arange(100_000.0) * 2).tobytes()


@pytest.mark.parametrize("code", ["f8", "?", "U3", "M8[D]"])
def test_what_is_said_of_arrays_without_reading_them(code):
    def described(np):
        x = np.zeros((2, 3), code)
        one = np.ravel(x)
        one[0] = one[1]
        copied = np.array(x)
        return (np.isfortran(x), np.isfortran(x.T), np.isfortran(x[0]), np.result_type(x), np.result_type(x, x.T), np.ravel(x.T), np.ravel(x[::2]),
                np.shares_memory(one, x), np.shares_memory(copied, x), copied.strides, np.array(x.T).strides)

    same(described(plait), described(numpy))
    both(lambda np: np.result_type(np.zeros(1, "f4"), np.zeros((), "i8"), np.zeros(2, "c8")))
    both(lambda np: np.result_type(np.zeros(1, "f4"), np.zeros(1, "M8[s]")))
    both(lambda np: np.frombuffer(b"12345678", code) if code != "U3" else 0)


def test_memory_that_others_see_is_kept_apart():
    x = plait.arange(3.0)
    y = x.copy()
    theirs = numpy.asarray(x)
    theirs[0] = 7
    assert x.tolist() == [7, 1, 2] and y.tolist() == [0, 1, 2]
    z = x + 1
    plait.ndarray.sort(x)
    theirs[:] = 0
    assert z.tolist() == [8, 2, 3] and x.tolist() == [0, 0, 0]
    b = plait.broadcast_to(plait.arange(2.0), (2, 2))
    plait.put(x, [1], 5)
    assert theirs.tolist() == [0, 5, 0] and numpy.asarray(b).tolist() == [[0, 1], [0, 1]]


def test_files_of_few_elements(tmp_path):
    import io

    x, stream = plait.arange(3.0), io.BytesIO()
    plait.save(stream, x)
    stream.seek(0)
    same(plait.load(stream), numpy.arange(3.0))
    with open(tmp_path / "x.npy", "w+b") as file:
        plait.save(file, x)
        file.seek(0)
        same(plait.load(file), numpy.arange(3.0))


def test_writes_by_ranges():
    def write(np, a):
        a[range(2)] = 7
        a[range(2, 0, -1)] = np.arange(a[:2].size).reshape(a[:2].shape)
        return a

    for shape in ((3,), (3, 4)):
        both(write, sample("d", shape))
    both(lambda np, a: a.__setitem__(range(2, 4), 0), sample("d", (3,)))


@pytest.mark.parametrize("code", NATIVE)
def test_copies_by_an_index_without_axes(code):
    def read(np, a):
        at = np.asarray(1)
        out = [a[:, :, at], a[at], a[..., at, :], a[at, None], a.T[:, at], a[at, at, at]]
        parts = [(x, x.strides, x.flags.writeable, x.base is None) for x in out[:-1]]
        out[0][...] = 0
        return parts, out[-1], a

    both(read, sample(code, (2, 3, 4)))


@pytest.mark.parametrize("code", NATIVE)
def test_numbers_of_arrays_without_axes(code):
    def numbers(np, kind):
        a = np.array(3, code)
        read = [kind(a) for _ in range(2)]  # what was read once is read another way
        a[...] = 1
        return [*read, kind(a), [type(x).__name__ for x in read]]

    for kind in (float, int, bool, operator.index, lambda a: [0, 1, 2, 3, 4][a]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            both(numbers, kind)


@pytest.mark.parametrize("code", NATIVE)
def test_casts_at_once(code):
    """Of few elements, in every order and layout, with NumPy's strides and warnings."""

    def cast(np, a, to, order):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            made = [x.astype(to, order) for x in (a, a.T, a[::-1, ::2], a[:0], a[1], a[1, 1:2].reshape(()))]
            said = sorted({str(w.message) for w in heard})
        return [(x, x.strides) for x in made], said

    a = sample(code)
    for to in NATIVE:
        for order in "KCFA":
            both(lambda np, a: cast(np, a, to, order), a)  # noqa: B023
        same(plait.array(a).astype(to), a.astype(to))


def test_casts_at_once_report_errors():
    big = [1e300, 1.0, -1e300]
    for make in (numpy.array, plait.array):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            a = make(big).astype("f4")
        assert [str(w.message) for w in heard] == ["overflow encountered in cast"] and heard[0].filename == __file__
        assert a.tolist() == [numpy.inf, 1.0, -numpy.inf]
    with plait.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow encountered in cast"):
        plait.array(big).astype("f4")


def test_draws_of_generators_and_their_subclasses():
    draws = []
    for base in (numpy.random, plait.random):

        class Shifted(base.Generator):
            def random(self):
                return super().random() + 1

        draws.append([(made.random(), made.normal(), type(made.normal())) for made in [Shifted(base.PCG64(3))] for _ in range(3)])
    assert draws[0] == draws[1]
