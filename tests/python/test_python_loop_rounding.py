"""round() and np.round() to a written number of digits, in compiled loops: Python's and NumPy's to the bit, of numbers of all sizes."""

import numpy as np
import pytest
from loop_checks import check, check_compiled

rng = np.random.default_rng(11)
ODD = [0.0, -0.0, 5e-324, 1e-300, 1.7e308, -1.7e308, np.inf, -np.inf, np.nan, 2.675, 1.005, 0.125, -0.375, 0.5, 1.5, 2.5, 0.05, 0.15, 0.25]
# About where whole numbers of last digits outgrow floats.
WIDE = [2.0**51 + 0.5, 2.0**52 + 0.5, 2.0**53 - 1, 2.0**53, 2.0**60, 90071992547409.925, 450359962737.0496]
SIZES = rng.standard_normal(1500) * 10.0 ** rng.integers(-10, 18, 1500)
TIES = (rng.integers(-(10**6), 10**6, 800) + 0.5) / 2.0 ** rng.integers(0, 9, 800)
NEAR = rng.integers(-(10**6), 10**6, 800) / 1000 + rng.integers(-2, 3, 800) * 1e-13  # decimals, or almost
NUMBERS = np.concatenate([ODD, WIDE, SIZES, TIES, NEAR])


def digits(x):
    out = []
    for v in x:
        out.append((round(v, 0), round(v, 1), round(v, 2), round(v, 3), round(v, 4), round(v, 5), round(v, 6), round(v, 7)))
    return out


def numpys(x):
    out = []
    for v in x:
        out.append((np.round(v, 2), np.around(v, 5), np.round(v), round(v, 3)))
    return out


def rows(x):
    out = np.zeros_like(x)
    for i in range(len(x)):
        out[i] = np.round(x[i], 1)
        out[i, 0] = round(x[i, 1] / 3, 4)
    return out


def interest(years, rate):
    balance, rows = 1000, []
    for year in range(1, years + 1):
        balance = round(balance * (1 + rate / 100), 2)
        rows.append((year, balance))
        print(f"{year}: {round(balance, 1)}")
    return rows


def many(x):
    out = []
    for v in x:
        out.append(round(v, 12))
    return out


def given(x, n):
    out = []
    for v in x:
        out.append(round(v, n))
    return out


FLOATS = {"floats": [float(v) for v in NUMBERS], "float64": NUMBERS, "float32": NUMBERS[np.abs(NUMBERS) < 1e38].astype("f4")}
OTHERS = {"ints": [3, -7, True, 2**62], "int64": np.arange(4), "uint8": np.arange(4, dtype="u1")}


@pytest.mark.parametrize("x", [*FLOATS.values(), *OTHERS.values()], ids=[*FLOATS, *OTHERS])
def test_digits(x, at_once, monkeypatch):
    check(digits, (x,))
    check_compiled(digits, (x,), monkeypatch)


@pytest.mark.parametrize("x", FLOATS.values(), ids=FLOATS)
def test_numpys(x, at_once, monkeypatch):
    check(numpys, (x,))
    check_compiled(numpys, (x,), monkeypatch)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_rows(dtype, at_once, monkeypatch):
    x = SIZES[:300].reshape(20, -1).astype(dtype)
    check(rows, (x,))
    check_compiled(rows, (x,), monkeypatch)


def test_numbers_of_several_types(at_once, monkeypatch):
    check(interest, (12, 4.5))
    check_compiled(interest, (12, 4.5), monkeypatch)


@pytest.mark.parametrize(
    "f, args", [(many, (ODD,)), (given, (ODD, 2)), (given, (ODD, None)), (given, ([1250, 7], -2)), (given, ([1.5], 1.0))]
)
def test_left_to_python(f, args, at_once):
    check(f, args)
