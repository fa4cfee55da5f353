"""What else crosses the edge of a jitted function: NumPy's subclasses, and shapes, dtypes and flags that it sets."""

import numpy
import pytest

import plait


@pytest.mark.parametrize("function", [lambda np, x: np.cumsum(x), lambda np, x: np.sqrt(x)[::3].copy(), lambda np, x: x + 1, lambda np, x: [np.sum(x), {"a": x * 2}]])
@pytest.mark.parametrize("make", ["memmap", "matrix", "masked"])
def test_numpys_subclasses_give_numpys_results(function, make, tmp_path):
    values = numpy.arange(12.0)
    if make == "memmap":
        values.tofile(tmp_path / "x")
        x = numpy.memmap(tmp_path / "x", float)
    else:
        x = numpy.matrix(values) if make == "matrix" else numpy.ma.array(values, mask=values == 3)

    def leaves(v):
        return [w for k in (v.values() if isinstance(v, dict) else v) for w in leaves(k)] if isinstance(v, (list, dict)) else [v]

    ours, theirs = leaves(plait.jit(lambda x: function(plait, x))(x)), leaves(function(numpy, x))
    for a, b in zip(ours, theirs, strict=True):
        assert type(a).__module__.startswith("numpy"), type(a)
        numpy.testing.assert_array_equal(a, b, strict=True)


def _reshaped(x):
    x.shape = 2, 3
    return x


def _viewed(x):
    x.dtype = "i8"
    x += 1


def _flagged(x):
    x.setflags(write=False)
    return x * 2


def _strided(x):
    x.strides = (0,)
    return x.sum()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("function", [_reshaped, _viewed, _flagged, _strided])
@pytest.mark.parametrize("options", [{}, {"replay": True}])
def test_layouts_that_are_set_reach_the_caller(function, options, recwarn):
    jitted = plait.jit(function, **options)
    for _ in range(3):
        ours, theirs = numpy.arange(6.0), numpy.arange(6.0)
        given, result, expected = ours, jitted(ours), function(theirs)
        assert (given.shape, given.dtype, given.strides, given.flags.writeable) == (theirs.shape, theirs.dtype, theirs.strides, theirs.flags.writeable)
        numpy.testing.assert_array_equal(given, theirs)
        assert (result is given) == (expected is theirs)


def test_layouts_reach_the_caller_from_an_error_and_in_a_list():
    def function(xs):
        xs[0].shape = 3, 2
        raise KeyError

    x = numpy.arange(6)
    with pytest.raises(KeyError):
        plait.jit(function)([x])
    assert x.shape == (3, 2)
