"""Parts of arrays in compiled loops: folds, parts that are computed of others of their array, copies, and what becomes an element of integers."""


import numpy as np
import pytest
from loop_cases import copies, ran, same

import plait
from plait._python_loops import going_over


def gauss(a):
    n = a.shape[0]
    for k in range(n):
        p = np.argmax(np.abs(a[k:, k])) + k
        if p != k:
            row = a[k].copy()
            a[k] = a[p]
            a[p] = row
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
    return a


def along(a, n):
    for _ in range(n):
        a[1:] = a[:-1] + a[1:]
        a[:-2] += a[2:]
    return a


def across(a, n):
    for _ in range(n):
        a[1:, 1:] = a[:-1, :-1] * 0.5 + a[1:, 1:]
    return a


def swapped(a):
    n = len(a)
    for i in range(n // 2):
        a[i], a[n - 1 - i] = a[n - 1 - i].copy(), a[i].copy()
    return a


def held(a):
    for i in range(len(a) - 1):
        row = a[i] * 2
        a[i] = a[i + 1]
        a[i + 1] = row
    return a


def named_before(a):
    i = 0
    while i < 5:
        part = a[i : i + 5]
        i += 1
        a[i : i + 5] = part * 2
    return a


def folds(a, out):
    for i in range(a.shape[0]):
        out[i, 0] = a[i].sum()
        out[i, 1] = a[i].max()
        out[i, 2] = np.min(a[i, 1:])
        out[i, 3] = (a[i] * 2 + a[i - 1]).sum()
        out[i, 4] = np.mean(a[i])
        out[i, 5] = float(np.argmax(a[i])) + (a[i] > 0).any() + 2 * np.all(a[i] > -3)
        out[i, 6] = np.prod(a[i])
    return out


def folds_of_ints(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i].sum() + a[i:].max() + np.argmin(a[i]) + int(np.amin(a) + a[i].mean())
    return out


def of_nothing(a, n):
    total = mean = 0.0
    for i in range(n):
        total += a[i:i].sum() + a[:i].prod() + a[:i].any()
        mean = a[i:i].mean()
    return total, mean


RANDOM = np.random.default_rng(0)
ROWS = RANDOM.standard_normal((20, 300))
CASES = [
    (gauss, RANDOM.standard_normal((30, 30))), (along, RANDOM.standard_normal(50), 3), (along, RANDOM.integers(0, 9, 50), 3),
    (across, RANDOM.standard_normal((20, 30)), 3), (swapped, RANDOM.standard_normal((9, 4))), (held, RANDOM.standard_normal((9, 4))),
    (named_before, RANDOM.standard_normal(12)), (folds, RANDOM.standard_normal((20, 1000)), np.zeros((20, 7))),
    (folds, ROWS[:, :7].astype("f4"), np.zeros((20, 7))), (folds, ROWS[:, ::-2], np.zeros((20, 7))), (folds, ROWS[:, :129].T, np.zeros((129, 7))),
    (folds, np.where(ROWS > 2, np.nan, ROWS), np.zeros((20, 7))), (folds, np.where(ROWS == ROWS.max(), np.inf, np.where(ROWS == ROWS[ROWS.argmax() // 300].min(), -np.inf, ROWS)), np.zeros((20, 7))),
    (folds_of_ints, RANDOM.integers(-100, 100, (20, 33)).astype("i4"), np.zeros(20, "i8")), (of_nothing, ROWS[0], 5),
    (folds_of_ints, RANDOM.integers(0, 255, (20, 33)).astype("u1"), np.zeros(20, "i8")),
]  # fmt: skip


def run(f, args):
    """The result, the arrays behind it, and what was raised and heard; overflows of integers are not."""
    result, args, heard = ran(f, args)
    return result, args, sorted({text for text in heard if "overflow" not in text})


def agree(f, *args):
    compiled = plait.jit(f)
    expected, got = run(f, args), run(compiled, args)
    same(expected[0], got[0])
    same(expected[1], got[1])
    assert expected[2] == got[2]
    return compiled


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0].__name__}-{c[1].dtype}-{c[1].shape}")
def test_parts(case, at_once):
    assert "machine code" in plait.explain(agree(*case), *copies(case[1:]))


def put(a, x):
    for i in range(len(a)):
        a[i] = x[i]
    return a


def put_python(a, x):
    for i in range(len(a)):
        a[i] = float(x[i])
    return a


def of_either(a, n):
    v = 3
    for i in range(n):
        a[i] = v
        if i % 3 == 1:
            v = a[i] + i
        elif i % 3 == 2:
            v = 2.5 * i
        else:
            v = 7
    return a


def shifted(a, s, out):
    for i in range(len(a)):
        out[i] = (a[i] << s[i]) ^ (a[i] >> 1) ^ (a[i] >> s[i]) + a[i] ** 3
    return out


@pytest.mark.parametrize("dtype", "bBhHiIlqfd")
def test_floats_become_elements(dtype, at_once, monkeypatch):
    monkeypatch.setattr(going_over, "MOST", 1000)
    for v in (3.7, -3.7, 0.0, -0.5, 300.7, 1e5, -1e5, 3e9, -3e9, 1e10, 1e20, np.nan, np.inf, -np.inf):
        for t in "fd":
            agree(put, np.zeros(2, dtype), np.array([1.5, v], t))
            agree(put_python, np.zeros(2, dtype), np.array([1.5, v], t))
    agree(of_either, np.zeros(30, dtype), 30)


@pytest.mark.parametrize("dtype", "bBhHiIlq")
def test_shifts_of_numpys_integers(dtype, at_once, monkeypatch):
    monkeypatch.setattr(going_over, "MOST", 1000)
    limits = np.iinfo(dtype)
    a, s = RANDOM.integers(limits.min, limits.max, 40, dtype=dtype), RANDOM.integers(0, 70, 40).astype(dtype)
    agree(shifted, a, s, np.zeros(40, dtype))


def beyond(a):
    for i in range(3):
        a[1] += int(1e200)
    return a


def beyond_64_bits(a, x, n):
    for i in range(n):
        for j in range(n):
            a[i] += int(x[j])
    return a


def test_floats_that_no_int_holds(at_once):
    """What is asked of them in front of a loop decides nothing by itself: errors came from another line, or the loop did not end."""
    agree(beyond, np.zeros(2))
    agree(beyond_64_bits, np.zeros(4), np.array([1.0, 2.0, 3.0, 1e30]), 4)
    agree(beyond_64_bits, np.zeros(4), np.array([1.0, 2.0, 3.0, 1e30]), 3)


def of_several_types(a, out):
    v = 3
    for i in range(len(a)):
        row = a[i] * v
        a[i] = 1
        out[i] = row.sum() + (a[i] * v).max()
        v = 2.5 if i % 2 else 4
    return out, v


def test_arrays_of_which_only_the_code_knows_the_type(at_once):
    agree(of_several_types, np.arange(12).reshape(4, 3), np.zeros(4))
