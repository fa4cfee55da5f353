"""Memory that others may write to: in jitted functions that call only NumPy, operations on it fuse; elsewhere each is computed at its call."""

import numpy
import pytest

import plait


def borrowed(values):
    return plait.borrow(values), values


def by_dlpack(values):
    return plait.from_dlpack(values), values


def viewed(values):
    x = plait.array(values)
    return x, numpy.asarray(x)


def by_memoryview(values):
    x = plait.array(values)
    return x, numpy.frombuffer(memoryview(x))


WAYS = pytest.mark.parametrize("way", [borrowed, by_dlpack, viewed, by_memoryview])


@pytest.fixture
def values():
    return numpy.arange(100_000.0) / 1000


def chain(x):
    return (numpy.sqrt(x * x + 1) - numpy.exp(-x)).sum()


def evaluations(function, *args):
    before = plait.stats()["evaluations"]
    return function(*args), plait.stats()["evaluations"] - before


@WAYS
def test_an_expression_is_one_evaluation(way, values):
    x, _ = way(values.copy())
    result, count = evaluations(plait.jit(chain), x)
    assert count == 1 and plait.stats()["last_plan_regions"] == 1
    numpy.testing.assert_allclose(result, chain(values), rtol=1e-13)


@WAYS
def test_elsewhere_what_was_there_at_the_call_is_read(way, values):
    x, theirs = way(values.copy())
    y = x * 2
    theirs[:] = 0
    numpy.testing.assert_array_equal(numpy.asarray(y), values * 2)


@WAYS
def test_results_are_of_what_was_there_when_the_function_returned(way, values):
    x, theirs = way(values.copy())
    left = []

    def function(x):
        left.append(x - 1)
        return x + 1, [x * 2]

    a, (b,) = plait.jit(function)(x)
    theirs[:] = 0
    for made, want in (a, values + 1), (b, values * 2), (left[0], values - 1):
        numpy.testing.assert_array_equal(numpy.asarray(made), want)


def assigns(x):
    y = x + 1
    x[5:] = 0
    return y, x * 2


def adds(x):
    y = x + 1
    x += y
    return y, x * 2


def one_element(x):
    y = x + 1
    x[3] = 70
    return y, x * 2


def sorts(x):
    y = x[::-1] + 1
    x[::-1].sort()
    return y, x * 2


def copies(x):
    y = x + 1
    numpy.copyto(x, y, where=x > 2)
    return y, x * 2


def by_numpy(x):
    y = x + 1
    numpy.put_along_axis(x, numpy.array([1, 2]), 8.0, 0)
    numpy.fill_diagonal(x.reshape(100, -1), 3)
    return y, x * 2


def in_a_loop(x):
    y = x + 1
    for i in range(50):
        x[i] = i * 2 + x[i + 1]
    return y, x * 2


@WAYS
@pytest.mark.parametrize("function", [assigns, adds, one_element, sorts, copies, by_numpy, in_a_loop])
def test_what_is_written_is_no_part_of_what_was_recorded_before(way, function, values):
    x, theirs = way(values.copy())
    wanted = values.copy()
    for a, b in zip(plait.jit(function)(x), function(wanted), strict=True):
        numpy.testing.assert_array_equal(numpy.asarray(a), b)
    numpy.testing.assert_array_equal(theirs, wanted)


def test_two_arrays_over_one_memory(values):
    theirs = values.copy()

    def function(a, b):
        y = a + 1
        b[:] = 0
        return y

    numpy.testing.assert_array_equal(numpy.asarray(plait.jit(function)(plait.borrow(theirs), plait.borrow(theirs))), values + 1)


def test_an_export_within_the_function(values):
    x, _ = borrowed(values.copy())

    def function(x):
        y = x + 1
        other = memoryview(x)
        other[0] = 9.0
        z = x + 1
        other[1] = 9.0
        return y, z

    y, z = plait.jit(function)(x)
    assert y[0] == 1 and z[0] == 10 and z[1] == values[1] + 1


def test_a_function_that_calls_others_code_reads_at_each_operation(values):
    x, theirs = borrowed(values.copy())

    def clear():
        theirs[:] = 0

    def function(x, callback):
        y = x + 1
        callback()
        return y

    numpy.testing.assert_array_equal(numpy.asarray(plait.jit(function)(x, clear)), values + 1)


def test_an_error_on_the_way(values):
    x, theirs = borrowed(values.copy())
    left = []

    def function(x):
        left.append(x + 1)
        raise KeyError("on the way")

    with pytest.raises(KeyError, match="on the way"):
        plait.jit(function)(x)
    theirs[:] = 0
    numpy.testing.assert_array_equal(numpy.asarray(left[0]), values + 1)


def test_between_yields_nothing_waits(values):
    x, theirs = borrowed(values.copy())

    def function(x):
        y = x + 1
        yield y
        yield x * 2

    pieces = plait.jit(function)(x)
    first = next(pieces)
    theirs[:] = 0
    numpy.testing.assert_array_equal(numpy.asarray(first), values + 1)
    assert (numpy.asarray(next(pieces)) == 0).all()


def test_subclasses_keep_their_class_and_a_log_names_it(capfd, monkeypatch):
    class Tagged(numpy.ndarray):
        def twice(self):
            return self * 2

        def __array_function__(self, function, types, args, kwargs):
            return function.__name__

    x = numpy.arange(4.0).view(Tagged)
    plait.config.log = "fallback"
    try:
        result, asked = plait.jit(lambda x: (x.twice(), numpy.median(x)))(x)
    finally:
        plait.config.log = ""
    assert type(result) is Tagged and result.tolist() == [0, 2, 4, 6] and asked == "median"
    said = capfd.readouterr().err
    assert "what is done with an argument of class Tagged" in said and "test_memory_others_see.py" in said
