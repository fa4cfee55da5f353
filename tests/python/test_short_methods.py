"""Methods whose plain calls never leave C++, against NumPy's: values, types, layouts, errors, and the calls that are not plain."""

import gc
import inspect

import numpy
import pytest

import plait

DTYPES = "?bBhHiIqQefdFD"
REDUCTIONS = "sum", "prod", "min", "max", "any", "all", "argmin", "argmax"


def outcome(call):
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def same(ours, theirs):
    if isinstance(theirs, numpy.ndarray):
        numpy.testing.assert_array_equal(numpy.asarray(ours), theirs)
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape and ours.strides == theirs.strides
    else:
        assert repr(ours) == repr(theirs)


def pair(values):
    return plait.array(values), values


@pytest.mark.parametrize("code", DTYPES)
@pytest.mark.parametrize("index", [..., (slice(None, None, -1), slice(1, None)), (0, 1), (slice(0, 0),), (slice(None), None)])
def test_tolist(code, index):
    ours, theirs = pair(numpy.array([[0, 1, 100], [3, 0, 5]]).astype(code))
    x, y = ours[index], theirs[index]
    assert repr(x.tolist()) == repr(y.tolist())
    assert repr((ours.T + ours.T).tolist()) == repr((theirs.T + theirs.T).tolist())


def test_tolist_of_special_values():
    values = numpy.array([numpy.nan, -0.0, numpy.inf, 2**-1074])
    assert repr(plait.array(values).tolist()) == repr(values.tolist())
    big = numpy.array([2**64 - 1], numpy.uint64)
    assert plait.array(big).tolist() == big.tolist()
    assert plait.array(7.5).tolist() == 7.5
    assert plait.array(["a", None], dtype=object).tolist() == ["a", None]


def test_tolist_outlives_what_a_finaliser_does_to_the_array():
    x = plait.zeros((300, 3))

    class Writer:
        def __init__(self):
            self.me = self

        def __del__(self):
            x[:] = 1.0

    threshold = gc.get_threshold()
    gc.set_threshold(10)
    try:
        Writer()
        rows = x.tolist()
    finally:
        gc.set_threshold(*threshold)
    assert len(rows) == 300 and all(v in (0.0, 1.0) for row in rows for v in row)


@pytest.mark.parametrize("arguments", [
    (), (0,), (5,), (-1,), (6,), (-7,), (1, 2), (-1, -3), (2, 0), (1, 2, 0), ((1, 2),), ((1,),), ("a",), (1.5,), (True,), (None,),
    (numpy.int64(3),), (numpy.float64(1.0),), (2**70,), (1, 2**70), ([1, 2],),
])  # fmt: skip
@pytest.mark.parametrize("shape", [(2, 3), (6,)])
def test_item(arguments, shape):
    ours, theirs = pair(numpy.arange(6.0).reshape(shape))
    same(outcome(lambda: ours.item(*arguments)), outcome(lambda: theirs.item(*arguments)))


@pytest.mark.parametrize("code", DTYPES)
def test_item_of_every_dtype(code):
    ours, theirs = pair(numpy.arange(3).astype(code))
    same(ours.item(1), theirs.item(1))
    same(ours[1:2].item(), theirs[1:2].item())
    same(ours[:2].sum().item(), theirs[:2].sum().item())


@pytest.mark.parametrize("order", ["C", "F", "A", "K", None, "c", "X", 3])
@pytest.mark.parametrize("code", ["d", "b", "D"])
def test_copy(order, code):
    ours, theirs = pair(numpy.arange(24).reshape(2, 3, 4).astype(code))
    for index in (..., (slice(None, None, -1),), (slice(None), 1), (0, 0, 0), (slice(0, 0),), (slice(None), slice(0, 1))):
        for turn in (lambda a: a, lambda a: a.T):
            x, y = turn(ours[index]), turn(theirs[index])
            a = outcome(lambda: x.copy(order))  # noqa: B023
            b = outcome(lambda: y.copy(order))  # noqa: B023
            if isinstance(b, tuple):
                assert a[0] is b[0]
                continue
            same(numpy.asarray(a), numpy.asarray(b))
            same(outcome(lambda: x.copy(order=order)), a)  # noqa: B023


def test_a_copy_is_its_own():
    x = plait.arange(10.0)
    x.flags.writeable = False
    y = x.copy()
    y[0] = 5.0
    assert x[0] == 0.0 and y[0] == 5.0 and y.base is None
    z = y[2:5]
    w = z.copy()
    z[0] = 9.0
    assert w[0] == 2.0 and y[2] == 9.0


class Sub(plait.ndarray):
    def __array_finalize__(self, model):
        self.note = getattr(model, "note", None)


def test_subclasses():
    x = plait.arange(4.0).view(Sub)
    x.note = "kept"
    assert type(x.copy()) is Sub and x.copy().note == "kept"
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0] and x.item(2) == 2.0 and x.argmax() == 3


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("call", [
    lambda m: m(), lambda m: m(0), lambda m: m(axis=1), lambda m: m(axis=None), lambda m: m(-1), lambda m: m(2), lambda m: m("x"),
    lambda m: m((0, 1)), lambda m: m((0, 0)), lambda m: m(axis=1, keepdims=True), lambda m: m(0, out=None), lambda m: m(wrong=1),
    lambda m: m(1.5), lambda m: m(True),
])  # fmt: skip
def test_reductions(name, call):
    ours, theirs = pair(numpy.array([[3.0, 1.0, 2.0], [0.0, numpy.nan, 5.0]]))
    a, b = outcome(lambda: call(getattr(ours, name))), outcome(lambda: call(getattr(theirs, name)))
    if isinstance(b, tuple):
        assert a[0] is b[0]
    else:
        same(a, b)
    a, b = outcome(lambda: call(getattr(ours[:, :0], name))), outcome(lambda: call(getattr(theirs[:, :0], name)))
    if isinstance(b, tuple):
        assert a[0] is b[0]
    else:
        same(a, b)


@pytest.mark.parametrize("name", ["item", "copy", "tolist", *REDUCTIONS])
def test_they_show_numpy_s_signature_and_text(name):
    ours, theirs = getattr(plait.ndarray, name), getattr(numpy.ndarray, name)
    assert ours.__doc__ and ours.__name__ == name
    try:
        expected = inspect.signature(theirs)
    except ValueError:
        return
    assert str(inspect.signature(ours)) == str(expected)


@pytest.mark.parametrize("shape", [0, 3, (2, 3), (), (2, 0), [2, 2], numpy.int64(2), (1,) * 65, -1, 2.5, "a", None, (1,) * 300])
@pytest.mark.parametrize("options", [{}, {"dtype": "i2"}, {"order": "F"}, {"dtype": complex, "order": "F"}])
def test_zeros(shape, options):
    a, b = outcome(lambda: plait.zeros(shape, **options)), outcome(lambda: numpy.zeros(shape, **options))
    if isinstance(b, tuple):
        assert a[0] is b[0]
    else:
        same(a, b)


def test_axes_beyond_any_shape():
    x = plait.zeros((2, 3))
    with pytest.raises(ValueError):
        x.transpose(tuple(range(1000)))


METHODS = [
    ("astype", ("f4",)), ("astype", ("i8",)), ("astype", (complex,)), ("astype", (bool,)), ("astype", ("U3",)), ("astype", ("nonsense",)),
    ("astype", (float, "F")), ("reshape", (3, 2)), ("reshape", ((3, -1),)), ("reshape", (-1,)), ("reshape", ()), ("reshape", ((),)),
    ("reshape", (4, 2)), ("reshape", (-1, -1)), ("reshape", ([6],)), ("reshape", (6.0,)), ("reshape", (True, 6)), ("reshape", (2**70,)),
    ("reshape", (-2, 3)), ("ravel", ()), ("ravel", ("F",)), ("fill", (2,)), ("fill", (2.5,)), ("fill", (300,)), ("fill", (2j,)),
    ("fill", ("a",)), ("fill", ([1, 2, 3],)), ("fill", (numpy.float32(1.5),)),
]  # fmt: skip


@pytest.mark.parametrize("method, args", METHODS, ids=repr)
@pytest.mark.parametrize("code", "?BiefD")
@pytest.mark.parametrize("index", [..., (slice(None, None, -1),), (slice(None), slice(0, 2)), (0,), (slice(0, 0),)], ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_methods_of_one_argument(method, args, code, index):
    def run(x):
        result = outcome(lambda: getattr(x[index], method)(*args))
        return (x if result is None else result), numpy.shares_memory(numpy.asarray(result), numpy.asarray(x)) if hasattr(result, "shape") else None

    ours, theirs = pair(numpy.array([[0, 1, 100], [3, 0, 5]]).astype(code))
    (got, shared), (expected, shares) = run(ours), run(theirs)
    same(got, expected)
    assert shared == shares


@pytest.mark.parametrize("a, b", [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 3), (2, 3)), ((), (3,)), ((2, 2, 3), (3, 2))])
@pytest.mark.parametrize("codes", ["dd", "fd", "ii", "DF", "??"])
def test_dot(a, b, codes):
    x, y = (numpy.arange(1, numpy.prod(s) + 1).reshape(s).astype(c) for s, c in zip((a, b), codes, strict=True))
    ours, theirs = outcome(lambda: plait.array(x).dot(plait.array(y))), outcome(lambda: x.dot(y))
    if not isinstance(theirs, tuple):
        assert numpy.shape(ours) == numpy.shape(theirs) and numpy.asarray(ours).dtype == numpy.asarray(theirs).dtype
        ours, theirs = numpy.asarray(ours).tolist(), numpy.asarray(theirs).tolist()
    assert ours == theirs
