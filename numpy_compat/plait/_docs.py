"""What help() and completion show: what Plait writes itself carries NumPy's docstring, and its signature where it takes *args."""

import types

import numpy


def describe(ours, theirs):
    """Gives functions in ours (dict of a namespace) that have no docstring the one of their namesake in theirs."""
    for name, value in ours.items():
        if type(value) is types.FunctionType and not value.__doc__:
            value.__doc__ = getattr(getattr(theirs, name, None), "__doc__", None)


def describe_package(package):
    describe(vars(package), numpy)
    describe(vars(package.ufunc), numpy.ufunc)
    package.ndarray.__doc__ = numpy.ndarray.__doc__
