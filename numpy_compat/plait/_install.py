"""How methods come to plait.ndarray."""

import numpy

from . import _docs, _plait
from ._fallback import call
from ._plait import ndarray


def install(function):
    function.__qualname__ = f"ndarray.{function.__name__}"
    theirs = getattr(numpy.ndarray, function.__name__, None)
    if callable(theirs):
        _docs.stand_for(function, theirs, "plait")
    # Methods whose plain calls are C++'s take the function for all others.
    if not _plait.set_general_method(function.__name__, function):
        setattr(ndarray, function.__name__, function)
    return function


def host_call(self, name, *args, **kwargs):
    """The method of that name, by NumPy."""
    return call(lambda a, *rest, **options: getattr(a, name)(*rest, **options), (self, *args), kwargs, f"ndarray.{name}")
