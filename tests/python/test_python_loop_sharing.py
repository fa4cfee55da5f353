"""Compiled loops whose iterations write to places of their own: threads run parts of them, and nobody can tell."""

import math
import warnings

import numpy as np
import pytest
from loop_cases import CASES, copies, same

import plait
from plait._python_loops import sharing


@pytest.fixture
def shared(at_once, monkeypatch):
    """Any loop is worth it. The ranges that were run."""
    ranges, run_shared = [], sharing.run_shared
    monkeypatch.setattr(sharing, "WORTH", 0.0)
    monkeypatch.setattr(sharing, "COPIED", math.inf)
    monkeypatch.setattr(sharing, "num_threads", lambda: 2)

    def noted(run, *args):
        return run_shared(lambda parts, seconds: ranges.append(parts) or run(parts, seconds), *args)

    monkeypatch.setattr("plait._python_loops.codes.run_shared", noted)
    return ranges


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_results(f, shared):
    args = CASES[f]()
    theirs, ours = copies(args), copies(args)
    same(f(*theirs), plait.jit(f)(*ours))
    same(tuple(theirs), tuple(ours))


def rows(a, b, out):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * b[j]
            out[i] = s
    return s, i


def columns(a):
    for j in range(1, a.shape[1]):
        for i in range(1, a.shape[0]):
            a[i, j] += a[i - 1, j]
    return a


def shifted(a, out):
    for i in range(2, len(a)):
        out[i - 2] = a[i] * 2
        out[i - 2] += 1
    return out


def downwards(a):
    for i in range(len(a) - 1, -1, -3):
        a[i] = a[i] * i
    return a


def parts(a, b):
    for i in range(len(a)):
        row = a[i]
        row[1:] = b[i, :-1] * 2
        row[0] = row[1:].sum()
        last = row[0]
    return last


def sometimes(a):
    found = other = -1
    for i in range(len(a)):
        a[i] += 1
        if i % 7 == 3:
            found = i
        if i == 2:
            other = a[i]
    return found, other


def neighbours(a):
    for i in range(1, len(a)):
        a[i] = a[i - 1] + a[i]
    return a


def carried(a, out):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
        out[i] = s
    return out


def by_index(a, index):
    for i in range(len(index)):
        a[index[i]] += 1.0
    return a


def left(a, out):
    for i in range(len(a)):
        if a[i] > 2.5:
            break
        out[i] = a[i]
    return i


def at_its_end(a):
    for i in range(-3, 5):
        a[i] += i
    return a


R = np.random.default_rng(3)
SHARED = [
    (rows, R.standard_normal((40, 30)), R.standard_normal(30), np.zeros(40)), (columns, R.standard_normal((20, 30))), (shifted, R.standard_normal(50), np.zeros(50)),
    (downwards, R.standard_normal(50)), (parts, np.zeros((40, 6)), R.standard_normal((40, 6))), (sometimes, R.standard_normal(60)),
    (rows, R.standard_normal((40, 30)).T, R.standard_normal(40), np.zeros(60)[::2]),
]  # fmt: skip
ALONE = [
    (neighbours, R.standard_normal(50)), (carried, R.standard_normal(50), np.zeros(50)), (by_index, np.zeros(9), R.integers(0, 9, 50)), (left, np.arange(5.0), np.zeros(5)),
    (at_its_end, np.zeros(6)), (shifted, *[np.arange(50.0)] * 2),
]  # fmt: skip


@pytest.mark.parametrize("case", SHARED, ids=lambda c: c[0].__name__)
def test_loops_that_are_shared(case, shared):
    f, *args = case
    theirs, ours = copies(args), copies(args)
    same(f(*theirs), plait.jit(f)(*ours))
    same(tuple(theirs), tuple(ours))
    assert len(shared) == 2 and len(shared[1]) > 1, shared


@pytest.mark.parametrize("case", ALONE, ids=lambda c: c[0].__name__)
def test_loops_that_are_not(case, shared):
    f, *args = case
    if len(args) == 2 and args[1] is args[0]:
        theirs, ours = ([x] * 2 for x in copies(args[:1] * 2))
    else:
        theirs, ours = copies(args), copies(args)
    same(f(*theirs), plait.jit(f)(*ours))
    same(tuple(theirs), tuple(ours))
    assert not shared


def raising(a, n):
    for i in range(len(a)):
        a[i] = 1
        if i > 5:
            a[i] = 1 // (i - n)
    return a


@pytest.mark.parametrize("n", [6, 40, 79])
def test_errors_leave_what_the_iterations_before_have_left(n, shared):
    theirs, ours = np.zeros(80, "i8"), np.zeros(80, "i8")
    with pytest.raises(ZeroDivisionError) as expected:
        raising(theirs, n)
    with pytest.raises(ZeroDivisionError, match=str(expected.value)):
        plait.jit(raising)(ours, n)
    assert np.array_equal(theirs, ours) and len(shared) == 3


def warning(a):
    for i in range(len(a)):
        a[i] = np.sqrt(a[i]) if i == 70 else a[i] + 1
    return a


def test_warnings_of_parts(shared):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        plait.jit(warning)(np.full(80, -1.0))
    assert [str(w.message) for w in heard] == ["invalid value encountered in sqrt"] and len(shared) == 2


def test_explain_says_so(at_once):
    f = plait.jit(downwards)
    f(np.zeros(20))
    assert "threads run parts" in plait.explain(f, np.zeros(20))
