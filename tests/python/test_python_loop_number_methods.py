"""Methods of numbers, and tuples that are in order, in compiled loops."""

import numpy as np
import pytest
from loop_checks import check, check_compiled

INTS = [0, 1, -1, 2, 3, 255, -256, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1, True]
EDGES = [(3, 1), (1, 2), (2, 2), (0, 5)]


def bits(x):
    out = []
    for v in x:
        out.append((v.bit_length(), v.bit_count()))
    return out


def hashes(n):
    h, ones, longest = 1, 0, 0
    for i in range(n):
        h = (h * 0x9E3779B97F4A7C15 + i) & 0xFFFFFFFFFFFFFFFF
        ones += h.bit_count()
        longest = max(longest, h.bit_length())
    return h, ones, longest


def whole(x):
    n, out = 0, []
    for v in x:
        if v.is_integer():
            n += 1
        out.append(v.is_integer())
    return n, out


def items(x):
    out = []
    for i in range(len(x)):
        out.append(x[i].item())
    return out


def edges(es):
    seen, out = set(), []
    for u, v in es:
        key = tuple(sorted((u, v)))
        a, b = sorted([v, u])
        c = tuple((a, b))
        if key not in seen:
            out.append((key, (a, b), c[1]))
        seen.add(key)
    return out, len(seen)


def real_edges(es):
    out = []
    for u, v in es:
        out.append((tuple(sorted((u, v))), tuple(sorted([v, u]))))
    return out


def triangles(ts):
    c = {}
    for a, b, d in ts:
        key = tuple(sorted([a, b, d]))
        c[key] = c.get(key, 0) + 1
        last = sorted((d, a, b))
        last.append(a)
        c[last[0], last[2], len(last)] = 0
    return c


TRIANGLES = [(3, 1, 2), (1, 1, 0), (2, 3, 1), (5, 5, 4)]
COMPILED = [
    (bits, (INTS,)), (hashes, (50,)), (whole, ([1.5, 2.0, -0.0, np.inf, -np.inf, np.nan, 1e300, -3.5],)), (whole, (np.array([1, 2.5, np.nan], "f4"),)),
    *((items, (np.array([0, 1, 200]).astype(t),)) for t in ("f8", "f4", "i8", "u1", "u8", "?")), (items, (np.array([2**64 - 1], "u8"),)),
    (edges, (EDGES,)), (real_edges, ([(1.5, 0.5), (np.nan, 1.0), (1.0, np.nan), (0.0, -0.0), (-0.0, 0.0)],)), (real_edges, ([(1, 0.5), (2, 3.5), (1, 1.0)],)), (triangles, (TRIANGLES,)),
]  # fmt: skip
OTHERS = [
    (bits, ([2**63, 2**64 - 1, 5],)), (bits, ([7, 2**70],)), (bits, (np.arange(5),)), (bits, ([1.5],)), (whole, ([1.5, "x"],)), (items, ([1],)), (items, (np.array(["2024"], "M8[D]"),)), (items, (np.array([1j]),)),
    (edges, ([("b", "a")],)), (triangles, ([(np.nan, 1.0, 0.0), (0.5, np.nan, 0.0), (2.0, 1.0, np.nan)],)),
]  # fmt: skip


@pytest.mark.parametrize("f, args", COMPILED)
def test_methods(f, args, at_once, monkeypatch):
    check(f, args)
    check_compiled(f, args, monkeypatch)


@pytest.mark.parametrize("f, args", OTHERS)
def test_others(f, args, at_once):
    check(f, args)
