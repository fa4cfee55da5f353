import numpy
import pytest
from support import NATIVE, both, same, sample

import plait


@pytest.mark.parametrize("code", NATIVE)
@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_filled(name, code):
    ours, theirs = getattr(plait, name)((2, 3), code), getattr(numpy, name)((2, 3), code)
    assert (ours.shape, ours.dtype, ours.strides) == (theirs.shape, theirs.dtype, theirs.strides)
    if name != "empty":
        same(ours, theirs)


@pytest.mark.parametrize("args", [(5,), (2, 7), (2, 11, 3), (10, 0, -3), (0.0, 1.0, 0.1), (3.5,), (0,), (5, 2), (1, 4, 0.5)])
def test_arange(args):
    both(lambda np: np.arange(*args))


@pytest.mark.parametrize("args, kw", [((), {"start": 5}), ((), {"start": 5, "step": 2}), ((5,), {"start": 1}),
                                      ((), {"start": 1, "stop": 5}), ((), {"stop": 5}), ((), {"start": 5, "stop": None}),
                                      ((5, None), {})])  # fmt: skip
def test_arange_by_name(args, kw):
    both(lambda np: np.arange(*args, **kw))


@pytest.mark.parametrize("kw", [{}, {"num": 7}, {"endpoint": False}, {"dtype": "f4"}, {"num": 1}, {"num": 0}, {"retstep": True}])
def test_linspace(kw):
    both(lambda np: np.linspace(1, 3, **kw))


@pytest.mark.parametrize("code", NATIVE)
@pytest.mark.parametrize("value", [0, 1, 7, True, 1.5, 2j, numpy.float32(3)])
def test_full(code, value):
    both(lambda np: np.full((2, 2), value, code))


@pytest.mark.parametrize("value", [1, 1.5, True, 2j, numpy.int8(3), [1, 2]])
def test_full_takes_the_dtype_of_its_value(value):
    both(lambda np: np.full((3, 2), value))


@pytest.mark.parametrize("name", ["zeros_like", "ones_like"])
@pytest.mark.parametrize("kw", [{}, {"dtype": "i4"}, {"shape": (2, 2)}, {"order": "F"}])
def test_like(name, kw):
    both(lambda np, a: getattr(np, name)(a, **kw), sample("f"))
    both(lambda np, a: getattr(np, name)(a.T, **kw).strides, sample("d"))


@pytest.mark.parametrize("data", [3, 2.5, [1, 2, 3], [[1.0], [2]], [True], [], [1j], ["a", "b"], [None], range(4), (1, 2.0)])
def test_array_of_python_objects(data):
    both(lambda np: np.array(data))
    both(lambda np: np.asarray(data))


@pytest.mark.parametrize("code", NATIVE)
def test_array_copies_numpy_arrays(code):
    a = sample(code)
    ours = plait.array(a)
    assert type(ours) is plait.ndarray
    same(ours, a)
    kept = a.copy()
    a[...] = 0
    same(ours, kept)


def test_asarray_of_ours_is_the_same_object():
    a = plait.arange(3)
    assert plait.asarray(a) is a
    assert plait.asarray(a, dtype=float) is not a
    assert plait.array(a) is not a


def test_array_of_arrays_and_lazy_scalars(lazy_scalars):
    a = plait.arange(3.0)
    same(plait.array([a, a + 1]), numpy.array([[0.0, 1, 2], [1, 2, 3]]))
    same(plait.array([a.sum(), a.max()]), numpy.array([3.0, 2.0]))


def test_borrow_shares_memory():
    host = numpy.arange(4.0)
    ours = plait.borrow(host)
    host[0] = 9
    assert ours[0] == 9
    ours[1] = 7
    assert host[1] == 7
    with pytest.raises(TypeError):
        plait.borrow([1])


@pytest.mark.parametrize("call", [lambda np: np.eye(3, 4, 1), lambda np: np.identity(3), lambda np: np.tri(3, 4, -1),
                                  lambda np: np.zeros(3, order="F"), lambda np: np.zeros(()), lambda np: np.ones(0)])  # fmt: skip
def test_special_matrices(call):
    both(call)


@pytest.mark.parametrize("call", [lambda np: np.zeros(-1), lambda np: np.zeros((2, -3)), lambda np: np.zeros("a"),
                                  lambda np: np.zeros(2, "nonsense"), lambda np: np.arange(), lambda np: np.arange(1, 2, 0),
                                  lambda np: np.full((2,), 300, "u1"), lambda np: np.linspace(0, 1, -2),
                                  lambda np: np.dstack((np.ones(3),), casting="safe")])  # fmt: skip
def test_errors(call):
    both(call)


def test_arange_with_a_step_beyond_the_range():
    for stop in 1, -1, 1e-16, -5e-324, 0.0:
        for step in numpy.inf, -numpy.inf, 1e308, -1e308, 2.0:
            both(lambda m: m.arange(0, stop, step))
    for step in 0, 0.0:
        both(lambda m: m.arange(0.0, 1.0, step))


@pytest.mark.parametrize("name", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_seeds_and_pickles_of_generators(name):
    import pickle

    seeds = numpy.arange(4)
    ours, theirs = getattr(plait.random, name)(plait.array(seeds)), getattr(numpy.random, name)(seeds)
    rng = plait.random.Generator(ours)
    assert rng.random() == numpy.random.Generator(theirs).random()
    again = pickle.loads(pickle.dumps(rng))
    assert type(again) is type(rng) and type(again.random(3)) is plait.ndarray and isinstance(theirs, getattr(plait.random, name))
    assert plait.random.SeedSequence(plait.array(seeds)).entropy.tolist() == [0, 1, 2, 3]
    state = pickle.loads(pickle.dumps(plait.random.RandomState(3)))
    assert type(state) is plait.random.RandomState and state.rand() == numpy.random.RandomState(3).rand()


def test_roll_resize_and_diff_of_odd_arguments():
    for m in numpy, plait:
        assert m.roll(m.arange(5), 2**100 + 1).tolist() == m.roll(m.arange(5), (2**100 + 1) % 5).tolist()
        listed, a = [1, 2], m.arange(4)
        assert m.diff(listed, n=0) is listed and a.resize() is None and a.shape == (4,)
        assert m.array([1, 2], dtype=object, ndmax=0).shape == () and m.full_like(a, numpy.int64(1000), dtype="i1").tolist() == [-24] * 4
    both(lambda m: m.eye(3).resize("hi"))
    both(lambda m: m.eye(3).resize(refcheck="hi"))
    both(lambda m: m.array([1], copy="always"))
    both(lambda m: m.clip(m.arange(3), 1))
    both(lambda m: m.astype(numpy.int64(1), float))


def test_names_of_what_is_resized():
    def by_a_name(m):
        x = m.arange(5.0)
        x.resize(10)
        return x

    def by_one_of_two(m):
        x = y = m.arange(5.0)
        x.resize(10)
        return y

    def in_a_list(m):
        held = [m.arange(5.0)]
        held[0].resize(10)
        return held[0]

    def size_of(f, m):
        try:
            return f(m).size
        except ValueError:
            return "refused"

    for f in by_a_name, by_one_of_two, in_a_list:  # a list's reference counts as another from Python 3.14 on
        assert size_of(f, plait) == size_of(f, numpy), f


def test_references_to_what_is_resized():
    import weakref

    a = plait.arange(3)
    name = weakref.ref(a)
    with pytest.raises(ValueError, match="cannot resize an array that references or is referenced"):
        a.resize(5)
    a.resize(5, refcheck=False)
    assert name() is a and a.tolist() == [0, 1, 2, 0, 0]


@pytest.mark.parametrize("copy", [1, 0, numpy.True_, numpy._CopyMode.ALWAYS, numpy._CopyMode.NEVER, numpy._CopyMode.IF_NEEDED])
def test_what_copy_may_be(copy):
    for m in numpy, plait:
        a = m.arange(3)
        assert (m.array(a, copy=copy) is a) == (copy in (0, numpy._CopyMode.NEVER, numpy._CopyMode.IF_NEEDED))

