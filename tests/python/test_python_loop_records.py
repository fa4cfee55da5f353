"""Structured arrays in compiled loops: fields of numbers, of arrays and of records, read and written; also where they are not aligned."""

import numpy as np
import pytest
from loop_checks import check, check_compiled

PACKED = np.dtype([("id", "i4"), ("x", "f8"), ("y", "f4"), ("pos", "f8", 3), ("name", "U4"), ("z", "c16")])
ALIGNED = np.dtype([("id", "i4"), ("x", "f8"), ("y", "f4"), ("pos", "f8", 3), ("name", "U4"), ("z", "c16")], align=True)
SMALL = np.dtype([("k", "i1"), ("x", "f8"), ("y", "u8")])


def made(dtype, n=6):
    a = np.zeros(n, dtype)
    a["x"] = np.arange(n) + 0.25
    a["y"] = 3
    return a


def fields(a, n):
    s = 0.0
    for i in range(n):
        s += a["x"][i] * a[i]["y"]
        a[i]["x"] = i + 0.5
        a["id"][i] += 3
        a[i]["pos"][1] = s
        a[i]["y"] *= 2
        a["z"][i] = a[i]["z"] * 2j + s
        r = a[i]
        r["x"] += r["pos"][1] - a[-1]["x"]
    return s, a["id"].sum()


def attributes(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i].x + a.y[i] + a.size + a.shape[0] + a.ndim
        a[i].x = s
        a[i].x -= 1
        a.y[i] = i
    return s


def over(a):
    s = 0.0
    for r in a:
        s += r["x"] * 2
        r["x"] = s
    return s


def pairs(a, b):
    for i, (p, q) in enumerate(zip(a, b)):
        p["x"] = q["x"] + i


def outside(a, n):
    for i in range(n):
        a[i]["x"] = i + 1


def inside(a):
    def energy(p, q):
        return p["x"] * q["y"]

    t = 0.0
    for i in range(len(a)):
        for j in range(i):
            t += energy(a[i], a[j])
    return t


def grid(a):
    t = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t += a[i, j]["x"]
            a[i, j]["k"] = j
    return t


def whole(a, n):
    for i in range(n):
        a["x"] += i
        a["y"][1:] = a["x"][:-1]
    return a["x"].sum()


def alone(a, n):
    for i in range(n):
        a[i]["x"] = a[i]["y"] * 2.0


CASES = [
    *((fields, (made(dtype), 6)) for dtype in (PACKED, ALIGNED)),
    (fields, (made(PACKED, 12)[::2], 6)),
    (fields, (made(ALIGNED, 6)[::-1], 5)),
    (attributes, (made(SMALL).view(np.recarray),)),
    *((over, (x,)) for x in (made(PACKED), made(ALIGNED), made(SMALL).view(np.recarray))),
    (pairs, (made(PACKED), made(SMALL))),
    (outside, (made(PACKED), 9)),
    (inside, (made(ALIGNED),)),
    (grid, (made(SMALL, 12).reshape(3, 4),)),
    (whole, (made(PACKED), 4)),
    (alone, (made(ALIGNED), 6)),
]


@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_fields(f, args, at_once, monkeypatch):
    check(f, args)
    check_compiled(f, args, monkeypatch)


def test_going_over_in_the_midst(from_look):
    from_look(3)
    for f, args in CASES:
        check(f, args)


def other_records(a, n):
    """What loops do not: records that are set, fields of texts, records of void by attribute."""
    for i in range(n):
        if i == 2:
            a[i] = a[0]
        if i == 3:
            a[i]["name"] = "ab"
        a[i]["x"] += 1


def no_attribute(a, n):
    for i in range(n):
        a[i]["x"] += 1
        if i == 3:
            a[i].x += 1


def no_field(a, n):
    for i in range(n):
        if i == 2:
            a[i]["nothing"] = 1


def read_only(a, n):
    a.flags.writeable = False
    for i in range(n):
        a[i]["x"] = 1


@pytest.mark.parametrize("f", [other_records, no_attribute, no_field, read_only])
def test_what_is_pythons(f, at_once):
    check(f, (made(PACKED), 6))
    check(f, (made(ALIGNED), 6))


def test_arrays_that_are_not_aligned(at_once, monkeypatch):
    """Of any kind, as a field is."""

    def f(a, n):
        s, b = 0.0, a["x"]
        for i in range(n):
            s += b[i]
            b[i] = s
        return s

    check(f, (made(PACKED), 6))
    check_compiled(f, (made(PACKED), 6), monkeypatch)


def around(a, n):
    """Array expressions beside the loop, of the same memory."""
    before = a["x"] * 2
    a["x"] += 1
    view = a["x"]
    for i in range(n):
        a[i]["x"] = view[i - 1] + before[i]
    return before, a["x"] + 1, view


@pytest.mark.parametrize("dtype", [PACKED, ALIGNED])
def test_expressions_beside_the_loop(dtype, at_once):
    check(around, (made(dtype), 6))


def test_records_of_one_array_twice(at_once):
    def f(a):
        pairs(a, a[::-1])

    check(f, (made(PACKED),))
    check(f, (made(ALIGNED),))
