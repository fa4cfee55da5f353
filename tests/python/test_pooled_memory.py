"""What NumPy allocates for Plait lies in the engine's pool, and nothing else does."""

import gc

import numpy
import pytest

import plait
from numpy._core.multiarray import get_handler_name

N = 100_000


def _ours(a):
    return get_handler_name(a) == "plait_pool"


def _by_numpy(function, *args):
    return plait._plait.call_numpy(function, args, None, "f")


def test_temporaries_and_results_of_large_calls():
    made = []

    def function(x):
        made.append(x + 1)
        return made[0] * 2

    result = _by_numpy(function, plait.arange(float(N)))
    assert _ours(made[0])
    assert plait.array_equal(result, (numpy.arange(float(N)) + 1) * 2)
    assert get_handler_name() == "default_allocator"


def test_small_calls_are_numpys():
    made = []
    _by_numpy(lambda x: made.append(x + 1), plait.arange(10.0))
    assert not _ours(made[0])


def test_the_handler_goes_with_an_error():
    def function(x):
        raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        _by_numpy(function, plait.arange(float(N)))
    assert get_handler_name() == "default_allocator"


def test_arrays_outlive_the_call_and_may_be_resized():
    made = []

    def function(x):
        made.append(x.copy())
        made.append(numpy.zeros(N))
        made.append(numpy.zeros(1 << 20))  # the system's zeros

    _by_numpy(function, plait.arange(float(N)))
    a, zeros, many = made
    made.clear()
    assert (zeros == 0).all() and (many == 0).all()
    a.resize(2 * N, refcheck=False)
    assert _ours(a) and (a[:N] == numpy.arange(N)).all() and (a[N:] == 0).all()
    a.resize(10, refcheck=False)
    assert a.tolist() == list(range(10))
    many.resize(5, refcheck=False)
    assert many.tolist() == [0] * 5
    del zeros, many


def test_memory_goes_back():
    x = plait.arange(float(N))
    numpy.asarray(x)
    gc.collect()
    before = plait._plait.stats()["live_bytes"]
    for _ in range(20):
        _by_numpy(lambda v: v * 2, x)
    gc.collect()
    assert plait._plait.stats()["live_bytes"] <= before + 8 * N + 4096  # the last one's owner is released a call later


def test_small_results_are_new_arrays():
    kept = numpy.arange(5.0)
    shared = _by_numpy(lambda: kept)
    shared[0] = 7
    assert kept[0] == 7
    fortran = _by_numpy(lambda: numpy.ones((3, 4), order="F"))
    assert fortran.strides == (8, 24) and fortran.flags.f_contiguous
    twice = _by_numpy(lambda: (lambda a: (a, a))(numpy.zeros(3)))
    twice[0][1] = 2
    assert twice[1][1] == 2


def test_functions_that_ask_are_called_without_asking():
    with pytest.raises(TypeError, match=r"rot90\(\)"):
        plait.rot90()
    with pytest.raises(TypeError, match=r"rollaxis\(\)"):
        plait.rollaxis(plait.ones((2, 2)), nonsense=1)


def test_ranges_are_counts():
    assert plait.repeat(plait.arange(3.0), range(3)).tolist() == [1, 2, 2]
