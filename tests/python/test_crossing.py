"""The edge of a jitted function, by the common way (arrays, numbers, and lists, tuples and dicts of them) and by any: results, what is left behind, errors."""

import numpy
import numpy as np
import pytest

import plait

KEPT = []
LAST = None


def pair(x, y):
    return x + y, x


def listed(x, y):
    return [x, (x * y).sum(), 3, None]


def named(x, y):
    return {"x": x[1:], "sum": y.sum()}


def nested(x, y):
    return [(x, [y * 2]), x]


def numbers(x, y):
    return [1, 2.5, "a"], (None, True)


def empty(x, y):
    return ()


def twice(x, y):
    z = x + y
    return z, z


@pytest.mark.parametrize("f", [pair, listed, named, nested, numbers, empty, twice], ids=lambda f: f.__name__)
@pytest.mark.parametrize("by_name", [False, True], ids=["positions", "names"])
def test_results(f, by_name):
    x, y = numpy.arange(4.0), numpy.ones(4)
    jitted = plait.jit(f)
    got = jitted(y=y, x=x) if by_name else jitted(x, y)
    assert_same(got, f(x, y), (x, y))


def assert_same(got, expected, arguments):
    assert type(got) is type(expected)
    if any(expected is a for a in arguments):
        assert got is expected
    elif isinstance(expected, (list, tuple)):
        assert len(got) == len(expected)
        for a, b in zip(got, expected):
            assert_same(a, b, arguments)
    elif isinstance(expected, dict):
        assert_same([*got.items()], [*expected.items()], arguments)
    else:
        assert numpy.array_equal(got, expected)


def left_in_global(x):
    global LAST
    LAST = x * 2
    return 1


def left_in_list(x):
    KEPT.append(x)
    KEPT.append(x + 1)


def left_in_argument(x, out):
    out.append(x - 1)
    out[0] = x


def left_in_dict(x, out):
    out["new"] = x - 1
    out["x"] = 2


def test_what_is_left_behind_is_numpys():
    x = numpy.arange(3.0)
    for _ in range(2):
        assert plait.jit(left_in_global)(x) == 1
        assert type(LAST) is numpy.ndarray and LAST.tolist() == [0, 2, 4]
        KEPT.clear()
        plait.jit(left_in_list)(x)
        assert KEPT[0] is x and type(KEPT[1]) is numpy.ndarray and KEPT[1].tolist() == [1, 2, 3]
        for out in ([0], [numpy.ones(2), 5]):
            n = len(out)
            plait.jit(left_in_argument)(x, out)
            assert out[0] is x and len(out) == n + 1 and type(out[-1]) is numpy.ndarray
        for out in ({}, {"x": x, "y": x}):
            plait.jit(left_in_dict)(x, out)
            assert out["x"] == 2 and type(out["new"]) is numpy.ndarray and out.get("y", x) is x


def keeps(items):
    global LAST
    LAST = items


def test_a_list_that_is_kept_is_the_callers():
    items = [numpy.arange(3.0), 1]
    plait.jit(keeps)(items)
    assert LAST is items
    both = (items[0], 2)
    plait.jit(keeps)(both)
    assert LAST[0] is items[0]


def fails(x, items):
    items[0][0] = 7
    raise ValueError(x + 1)


def test_an_error_passes_and_what_was_written_stays():
    x, items = numpy.arange(3.0), [numpy.zeros(2)]
    with pytest.raises(ValueError) as caught:
        plait.jit(fails)(x, items)
    assert type(caught.value.args[0]) in (numpy.ndarray, plait.ndarray) and caught.value.args[0].tolist() == [1, 2, 3]
    assert items[0].tolist() == [7, 0]
    with pytest.raises(TypeError, match="missing 1 required"):
        plait.jit(fails)(x)


def relaid(x):
    x.shape = 2, 2
    return x.sum()


def test_layouts_that_are_set_reach_the_caller():
    x = numpy.arange(4.0)
    assert plait.jit(relaid)(x) == 6 and x.shape == (2, 2)


def writes(items):
    for a in items:
        a[0] = a[-1]
    return [a[1:] for a in items], len(items)


def test_many_small_arrays():
    memory = numpy.arange(3000.0).reshape(1000, 3)
    items = [*memory, memory[5], *(numpy.arange(2) for _ in range(50))]
    rows, n = plait.jit(writes)(items)
    assert n == 1051 and (memory[:, 0] == memory[:, 2]).all() and all(a[0] == 1 for a in items[1001:])
    rows[5][:] = -1
    assert memory[5].tolist()[1:] == [-1, -1]


def counter(x):
    return x * WEIGHT


WEIGHT = 2.0


def test_names_of_the_module_that_change_between_calls():
    global WEIGHT, LAST
    f, x = plait.jit(counter), numpy.arange(3.0)
    for LAST in range(4):
        WEIGHT = float(LAST)
        assert f(x).tolist() == (x * LAST).tolist()
    for LAST, WEIGHT in enumerate([numpy.ones(3), 3, numpy.float32(2)]):
        assert f(x).tolist() == (x * WEIGHT).tolist()


def late(x):
    return LATER(x) if "LATER" in globals() else 3.0  # noqa: F821


def test_a_name_that_appears_later():
    f, x = plait.jit(late), numpy.ones(2)
    assert f(x) == f(x)
    globals()["LATER"] = np.negative
    try:
        assert f(x).tolist() == [-1, -1]
    finally:
        del globals()["LATER"]
    assert isinstance(f(x), float)
