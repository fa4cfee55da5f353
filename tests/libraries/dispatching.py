"""Calls of libraries that dispatch by the array API standard, made with NumPy's arrays and with Plait's in a process of its own.

SciPy reads SCIPY_ARRAY_API when it is imported, and scikit-learn wants it to be set. Called as a script this reads {"setup": ..., "calls": [...]}
from standard input and writes what went wrong with each call, or nothing.
"""

import json
import os
import subprocess
import sys

import table


def outcomes(calls, setup):
    """For each call what went wrong with it, "" where both agree and Plait's array came back, "NumPy's" where NumPy's did."""
    done = subprocess.run(
        [sys.executable, __file__], input=json.dumps({"setup": setup, "calls": calls}), env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(zip(calls, json.loads(done.stdout.splitlines()[-1])))


def plain(x):
    """A result of either library as arrays of NumPy's."""
    import numpy

    if hasattr(x, "statistic") and hasattr(x, "pvalue"):
        x = x.statistic, x.pvalue
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    return x if isinstance(x, dict) else numpy.asarray(x)


def has_numpys_arrays(x):
    """Whether a result of calls with Plait's arrays has arrays of NumPy's."""
    import numpy

    if isinstance(x, (list, tuple)):
        return any(map(has_numpys_arrays, x))
    return issubclass(type(x), numpy.ndarray)


def outcome(call, setup):
    import numpy

    import plait

    theirs, ours = (table.outcome(call, setup, np) for np in (numpy, plait))
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        return f"{theirs!r} of NumPy's arrays" if isinstance(theirs, Exception) else repr(ours)
    try:
        table.same(plain(ours), plain(theirs))
    except AssertionError as e:
        return f"another result: {e}"
    return "NumPy's" if has_numpys_arrays(ours) else ""


if __name__ == "__main__":
    import conftest  # noqa: F401  which finds the package

    asked = json.load(sys.stdin)
    print(json.dumps([outcome(call, asked["setup"]) for call in asked["calls"]]))
