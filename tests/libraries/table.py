"""A table of calls of a library, each made with NumPy's arrays and with Plait's: the same result, or the same exception.

A call is a line of Python, or several, whose last is the expression that is compared; `np` is the module under test, and `here` turns
what a library gives into an array of that module's. A call that raises with NumPy, too, says so: it ends in "# raises".
"""

import importlib
import re
import warnings

import numpy
import pytest

import plait


def lines(text):
    """The calls of a text, one a line."""
    return [line for line in text.strip().splitlines() if line]


def table(calls, known):
    """The decorator of a test of each call; `known` has the reasons of those that fail, which have to."""
    assert not set(known) - set(calls), "a known failure is no call of the table"
    marked = [pytest.param(c, marks=pytest.mark.xfail(strict=True, reason=known[c]) if c in known else ()) for c in calls]
    return pytest.mark.parametrize("call", marked, ids=lambda c: c.replace("\n", "; "))


def compare(call, setup):
    """Makes the call with both modules and asserts that they agree."""
    theirs, ours = outcome(call, setup, numpy), outcome(call, setup, plait)
    if isinstance(theirs, Exception):
        if not call.endswith("# raises"):
            raise theirs
        assert type(ours) is type(theirs), ours
        return
    if isinstance(ours, Exception):
        raise ours
    same(ours, theirs)


def outcome(call, setup, np):
    names = {"np": np, "here": np.asarray}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(setup, names)
            *before, last = call.split("\n")
            exec("\n".join(before), names)
            return eval(last, names)
    except Exception as e:
        return e


def _testing(x):
    """The module of assertions of the library that the class of x comes from, or None."""
    top = type(x).__module__.partition(".")[0]
    return importlib.import_module(f"{top}.testing") if top in ("pandas", "xarray") else None


def same(ours, theirs):
    if isinstance(theirs, numpy.ndarray):
        assert isinstance(ours, numpy.ndarray) and ours.dtype == theirs.dtype and ours.shape == theirs.shape
        ours, theirs = numpy.asarray(ours), numpy.asarray(theirs)
        if theirs.dtype.kind in "fc":
            numpy.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
        else:
            numpy.testing.assert_array_equal(ours, theirs)
        return
    assert type(ours) is type(theirs), (type(ours), type(theirs))
    if isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            same(a, b)
    elif isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for k in theirs:
            same(ours[k], theirs[k])
    elif isinstance(theirs, (float, complex, numpy.inexact)):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12, nan_ok=True)
    elif (testing := _testing(theirs)) is not None:
        kinds = {"Series": "series", "DataFrame": "frame", "Index": "index"}
        kind = next((kinds[c.__name__] for c in type(theirs).__mro__ if c.__name__ in kinds), None)
        if kind and type(theirs).__module__.startswith("pandas"):
            getattr(testing, f"assert_{kind}_equal")(ours, theirs)
        elif hasattr(testing, "assert_allclose"):
            testing.assert_allclose(ours, theirs)
        else:
            assert repr(ours) == repr(theirs)
    else:
        assert re.sub(r"0x\w+", "", repr(ours)) == re.sub(r"0x\w+", "", repr(theirs))
