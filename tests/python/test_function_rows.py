"""Functions of the extension module count their arguments and catch what C++ throws (bindings/rows.hpp)."""
import numpy
import pytest

import plait
from plait import _plait


def test_a_function_counts_its_arguments():
    a = plait.arange(3.0)
    for function, given, count in ((_plait.reshape, (a,), 3), (_plait.norm, (), 4), (_plait.set_base, (a, a, a), 2)):
        with pytest.raises(TypeError, match=f"takes {count} arguments, got {len(given)}"):
            function(*given)


def test_integers_beyond_int64_are_an_error_or_numpys_to_do():
    a = plait.arange(3.0)
    with pytest.raises(OverflowError):
        _plait.diff(a, 2**70, 0)
    assert _plait.tile(a, 2**70) is NotImplemented


def test_what_is_no_array_is_numpys_to_do():
    assert _plait.swapaxes(numpy.array(["a"]), 0, 0) is NotImplemented


def test_an_error_has_its_words_in_place():
    with pytest.raises(TypeError, match="order must be str, not int"):
        _plait.copy(plait.arange(3.0), 1)
    with pytest.raises(ValueError, match=r"order must be one of .* \(got 'X'\)"):
        _plait.copy(plait.arange(3.0), "X")
