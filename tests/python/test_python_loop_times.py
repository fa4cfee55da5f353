"""Dates and durations in compiled loops: datetime64 and timedelta64 of every unit, as NumPy computes with them, NaT and warnings too."""

import warnings

import numpy as np
import plait
import pytest
from loop_checks import anew, check, check_compiled

HOUR = np.timedelta64(1, "h")
NAT = -(2**63)
INTS = [NAT, NAT + 1, -(2**62), -86401, -7, -1, 0, 1, 2, 59, 3600, 10**12, 2**63 - 1]
FLOATS = [0.0, -0.0, 1.5, -2.5, 1e-30, 1e30, np.inf, -np.inf, np.nan, 3.0]


def days():
    t = np.arange("2020-01-01", "2020-02-01", dtype="M8[D]")
    t[7] = np.datetime64("NaT")
    return t


def seconds():
    return (np.arange(31) * 3601 * 17 - 10**5).astype("M8[s]")


def minutes():
    d = (np.arange(31) * 37 - 400).astype("m8[m]")
    d[3] = np.timedelta64("NaT")
    return d


def gaps(t):
    found = []
    for i in range(1, len(t)):
        gap = t[i] - t[i - 1]
        if gap > np.timedelta64(1, "h"):
            found.append(gap)
    return found


def total(t):
    d, s = minutes(), np.timedelta64(0, "s")
    for x in d:
        if not np.isnat(x):
            s += x
    return s


def sessions(t):
    n, last = 0, None
    for x in t:
        if last is None or x - last >= 12 * HOUR:
            n += 1
        last = x
    return n, last


def shifted(t):
    d = minutes()
    for i in range(len(t)):
        t[i] = t[i] + d[i].astype("m8[D]")
        t[i] += np.timedelta64(i, "D")
    return t


def within(t):
    n = 0
    for x in t:
        if np.datetime64("1970-01-03") <= x < np.datetime64("2020-01-20"):
            n += 1
    return n


def hours(t):
    out = np.zeros(len(t))
    for i in range(len(t)):
        out[i] = (t[i] - t[0]) / HOUR + (t[i] - t[0]) / np.timedelta64(7, "m")
    return out


def latest(t):
    best, worst = t[0], t[0]
    for x in t:
        best = max(best, x)
        worst = np.minimum(worst, x)
    return best, worst


def weeks(t):
    n, at = 0, t[0]
    while at < t[5] + np.timedelta64(90, "D"):
        at += np.timedelta64(7, "D")
        n += 1
    return n, at


def whole_numbers(t):
    s = 0
    for x in t:
        s += x.astype("M8[h]").astype(int) // 1000 + (x - t[0]).astype("timedelta64[s]").astype(np.int64)
    return s


def arrays_of_its_own(t):
    m = 0
    for i in range(1, len(t)):
        g = t[:i] - t[0]
        e = np.zeros(3, "m8[s]")
        e[1], e[2] = g[0], np.timedelta64("NaT")
        m += (g > 30 * HOUR).sum() + len(g[g > HOUR]) + np.isnat(e).sum()
    return m


def computed_elements(t):
    return [t[i + 1] - t[i] for i in range(len(t) - 1)], np.array([x + HOUR for x in t])


def tuples(t):
    rows, by_day = [], {}
    for i, x in enumerate(t):
        rows.append((x, i))
        by_day[i % 5] = x
    rows.sort()
    return rows[:3], by_day


def truths(t):
    n = 0
    for x in t:
        if x - t[0]:
            n += 1
    return n


def printed(t):
    for i in range(3):
        print(t[i], f"{t[i] - t[0]}")


def outside(t):
    for i in range(len(t) + 1):
        t[i] = t[i - 1]


FORMS = [
    gaps,
    total,
    sessions,
    shifted,
    within,
    hours,
    latest,
    weeks,
    whole_numbers,
    arrays_of_its_own,
    computed_elements,
    tuples,
    truths,
    printed,
    outside,
]


@pytest.mark.parametrize("f", FORMS)
@pytest.mark.parametrize("t", [days, seconds])
def test_forms(f, t, at_once, monkeypatch):
    check(f, (t(),))
    check_compiled(f, (t(),), monkeypatch)


def test_later_iterations(from_look):
    """Python has the first ones: what it leaves is what machine code goes on with."""
    for f in (sessions, latest, gaps):
        from_look(3)
        check(f, (seconds(),))


def added(a, b, o):
    for i in range(len(a)):
        for j in range(len(b)):
            o[i, j] = a[i] + b[j]


def subtracted(a, b, o):
    for i in range(len(a)):
        for j in range(len(b)):
            o[i, j] = a[i] - b[j]


def multiplied(a, b, o):
    for i in range(len(a)):
        for j in range(len(b)):
            o[i, j] = a[i] * b[j]


def divided(a, b, o):
    for i in range(len(a)):
        for j in range(len(b)):
            o[i, j] = a[i] / b[j]


def floored(a, b, o):
    for i in range(len(a)):
        for j in range(len(b)):
            o[i, j] = a[i] // b[j]


def remainders(a, b, o):
    for i in range(len(a)):
        for j in range(len(b)):
            o[i, j] = a[i] % b[j]


def ordered(a, b, o):
    for i in range(len(a)):
        for j in range(len(b)):
            o[i, j] = (a[i] < b[j]) + 2 * (a[i] == b[j]) + 4 * (a[i] != b[j]) + 8 * (a[i] >= b[j])


def stored(a, b, o):
    for i in range(len(a)):
        for j in range(len(b)):
            a[i] = b[j]
            o[i, j] = a[i]


def signs(a, b, o):
    for i in range(len(a)):
        o[i, 0], o[i, 1], o[i, 2] = -a[i], abs(a[i]), np.maximum(a[i], b[0])


def given(dtype):
    return (
        np.array(FLOATS)
        if dtype == "f8"
        else np.array(INTS).astype("i8").view(dtype)
        if dtype[0] in "mM"
        else np.array([-3, 0, 1, 2**31 - 1], dtype)
    )


def left(f, a, b, out):
    """The elements, by their bits, and warnings."""
    made = np.zeros((len(a), max(len(b), 3)), out)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        f(a.copy(), b, made)
    return made.view("i8").tolist(), {str(w.message) for w in heard}


@pytest.mark.parametrize(
    "f, a, b, out",
    [
        (added, "M8[D]", "m8[D]", "M8[D]"), (added, "M8[s]", "m8[D]", "M8[s]"), (added, "m8[h]", "m8[ms]", "m8[ms]"), (added, "m8[D]", "i4", "m8[D]"),
        (subtracted, "M8[D]", "M8[D]", "m8[D]"), (subtracted, "M8[D]", "M8[ns]", "m8[ns]"), (subtracted, "M8[Y]", "M8[M]", "m8[M]"),
        (subtracted, "M8[s]", "i8", "M8[s]"), (multiplied, "m8[D]", "i8", "m8[D]"), (multiplied, "f8", "m8[s]", "m8[s]"), (multiplied, "m8[s]", "f8", "m8[s]"),
        (divided, "m8[D]", "m8[s]", "f8"), (divided, "m8[D]", "i4", "m8[D]"), (divided, "m8[D]", "f8", "m8[D]"), (floored, "m8[D]", "m8[m]", "i8"),
        (floored, "m8[D]", "i8", "m8[D]"), (floored, "m8[s]", "f8", "m8[s]"), (remainders, "m8[D]", "m8[h]", "m8[h]"), (ordered, "M8[D]", "M8[s]", "i8"),
        (ordered, "m8[W]", "m8[D]", "i8"), (ordered, "m8[D]", "i4", "i8"), (stored, "M8[D]", "M8[s]", "M8[D]"), (stored, "m8[D]", "m8[ms]", "m8[D]"),
        (stored, "M8[ns]", "M8[D]", "M8[ns]"), (stored, "m8[s]", "i4", "m8[s]"), (signs, "m8[D]", "m8[D]", "m8[D]"),
    ],
)  # fmt: skip
def test_every_value(f, a, b, out, at_once, monkeypatch):
    """Extremes, NaT, zeros and what overflows: elements and warnings are NumPy's."""
    a, b = given(a), given(b)
    expected, jitted = left(f, a, b, out), plait.jit(anew(f))
    for _ in range(2):
        assert left(jitted, a, b, out) == expected
    check_compiled(f, (a, b, np.zeros((len(a), max(len(b), 3)), out)), monkeypatch)


def months_and_days(t):
    n = 0
    for x in t:
        n += x < np.datetime64("2020-02")
    return n


def months_added(t):
    for i in range(len(t)):
        t[i] = t[i] + np.timedelta64(1, "M")


def kinds_mixed(t):
    x = 0
    for i in range(5):
        x = t[i] if i % 2 else 3
    return x


def cut(t):
    for i in range(len(t)):
        t[i] = 3.5


def as_int(t):
    for x in t:
        int(x - t[0])


def keys(t):
    n = {}
    for x in t:
        n[x] = n.get(x, 0) + 1
    return n


def extremes(t):
    s = np.timedelta64(0, "s")
    for i in range(1, len(t)):
        s += t[:i].max() - t[0]
    return s


def dates_added(t):
    for i in range(len(t)):
        t[i] + t[0]


def date_and_int(t):
    n = 0
    for x in t:
        n += x == 3
    return n


def kept_array(t):
    g = t - t[0]
    for i in range(3):
        g = t - t[i]
    return g


@pytest.mark.parametrize(
    "f", [months_and_days, months_added, kinds_mixed, cut, as_int, keys, extremes, dates_added, date_and_int, kept_array]
)
def test_what_is_pythons(f, at_once):
    check(f, (days(),))
    check(f, (seconds(),))


def test_units_of_several(at_once):
    """Whatever counts ten seconds, and bytes in the other order, are NumPy's."""
    check(gaps, (np.arange(9).astype("M8[10s]"),))
    check(gaps, (seconds().astype(">M8[s]"),))
    check(shifted, (days()[::-2],))


def test_fields_of_records(at_once, monkeypatch):
    def f(r):
        s = np.timedelta64(0, "s")
        for i in range(1, len(r)):
            s += r[i]["t"] - r["t"][i - 1]
            r[i]["t"] = r[i - 1]["t"]
        return s

    r = np.zeros(31, [("t", "M8[s]"), ("x", "i1")])
    r["t"] = seconds()
    check(f, (r,))
    check_compiled(f, (r,), monkeypatch)


def test_a_list_of_dates_from_before(at_once):
    def f(t):
        found = [x for x in t if x > t[2]]
        n = 0
        for x in found:
            n += x > found[0]
        return n, found

    check(f, (seconds(),))
