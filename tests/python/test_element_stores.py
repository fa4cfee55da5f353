"""x[i] = v for single elements: numbers of all types as NumPy stores them, and arrays of NumPy's that a jitted function writes to."""

import warnings

import numpy as np
import pytest

import plait

DTYPES = "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8 c16".split()
NUMBERS = [0, 1, -1, 2, 100, 127, 128, 255, 256, -128, -129, 2**15, 2**16, 2**24 + 1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64, 2049]
FLOATS = [0.0, -0.0, 0.1, -2.5, 6e-5, 1e-7, 65504.0, 65519.0, 65520.0, 1e-40, 3.4e38, 3.5e38, 1e300, np.inf, -np.inf, np.nan]


def stored(make, dtype, number):
    """The bytes of the element, the warnings, and the error."""
    x = make(dtype)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            x[1] = number
        except Exception as e:
            return type(e), str(e)
    return np.asarray(x).tobytes(), [(w.category, str(w.message)) for w in heard]


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_of_all_types(dtype):
    values = [*NUMBERS, *FLOATS, True, False, 1j]
    for code in DTYPES:
        with np.errstate(all="ignore"):
            values += [np.array(v).astype(code)[()] for v in (0, 1, 3, -1, 200, 70000, 2**40, 0.3, 1e5, 1e39, np.nan)]
    values += [np.longlong(5), np.longdouble(1.5), np.float32(1e-40)]
    for v in values:
        with np.errstate(all="ignore") if isinstance(v, np.generic) else np.errstate():
            assert stored(lambda t: plait.zeros(3, t), dtype, v) == stored(lambda t: np.zeros(3, t), dtype, v), (v, type(v))


def without_loops(f):
    return plait.jit(f, loops=False)


def test_the_lender_sees_a_store_at_once():
    x, seen = np.zeros(5), []
    look = lambda: seen.append(x.tolist())  # noqa: E731

    @without_loops
    def f(a):
        a[1] = 3
        look()
        a[2] += 1.5
        look()

    f(x)
    assert seen == [[0, 3, 0, 0, 0], [0, 3, 1.5, 0, 0]] and x.tolist() == seen[-1]


def test_pending_readers_have_the_old_contents():
    def f(a):
        before, kept, sums = a + 1, a.copy(), []
        a[0] = 10
        a[1] = a[0] + 1
        after = a * 2
        a[2] = 7
        for i in range(4):
            a[i] += i
            sums.append(a[:2].sum())
        return before, kept, after, a[1:], sums

    for n in (4, 40000):
        theirs, ours = np.arange(n) * 1.0, np.arange(n) * 1.0
        for expected, got in zip(f(theirs), without_loops(f)(ours)):
            np.testing.assert_array_equal(expected, got)
        np.testing.assert_array_equal(theirs, ours)


@pytest.mark.parametrize("dtype", ["f8", "i4", "?"])
def test_views_of_one_array_are_written_together(dtype):
    def f(a, b, c):
        for i in range(4):
            a[i + 1] = b[i] + c[0, i]
            b[i] = c[1, i]
            c[0, i + 2] += a[i]
        return a.copy(), b + 0, c[::-1]

    def views(x):
        return x[:6], x[3:11], x.reshape(2, 8)

    theirs, ours = (np.arange(16) % 5).astype(dtype), (np.arange(16) % 5).astype(dtype)
    for expected, got in zip(f(*views(theirs)), without_loops(f)(*views(ours))):
        np.testing.assert_array_equal(expected, got)
    np.testing.assert_array_equal(theirs, ours)


def test_what_is_read_only_stays_as_it_is():
    x = np.zeros(4)
    x.flags.writeable = False
    whole = np.zeros(4)
    part = whole[:]
    part.flags.writeable = False

    @without_loops
    def f(a, b):
        b[1] = 2
        a[0] = 1

    for args in ((x, whole), (part, whole)):
        with pytest.raises(ValueError, match="read-only"):
            f(*args)
    assert x.tolist() == [0, 0, 0, 0] and whole.tolist() == [0, 2, 0, 0]


def test_an_array_that_leaves_keeps_what_was_stored():
    kept = []

    @without_loops
    def f(a):
        kept.append(a)
        a[0] = 5
        return a[:2]

    x = np.zeros(3)
    y = f(x)
    x[1] = 6
    assert y.tolist() == [5, 6] and np.asarray(kept[0]).tolist()[0] == 5


def test_stores_before_an_error_stay():
    @without_loops
    def f(a):
        a[0] = 1
        a[1] = a[0] + 1
        raise KeyError

    x = np.zeros(3)
    with pytest.raises(KeyError):
        f(x)
    assert x.tolist() == [1, 2, 0]


def test_an_export_and_the_lender_see_the_same():
    def f(a):
        view = memoryview(a)
        a[1] = 4
        first = view[1]
        del view
        a[2] = 5
        return first

    theirs, ours = np.zeros(3), np.zeros(3)
    assert f(theirs) == without_loops(f)(ours) == 4
    assert theirs.tolist() == ours.tolist() == [0, 4, 5]
