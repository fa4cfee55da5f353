"""What a jitted function leaves of its arguments is theirs exactly when it is under NumPy: writes reach the other side, both ways."""

import itertools

import numpy
import plait
import pytest

# To an argument, from itself.
WRITES = {
    "nothing": "",
    "a number": "b[1:] = 7",
    "a row": "b[1] = b[0]",
    "reversed": "b[:] = b[::-1]",
    "swapped": "b[0], b[1] = b[1].copy(), b[0].copy()",
    "swapped by index": "b[[0, 1]] = b[[1, 0]]",
    "through a view": "c = b[:]; c += b.T",
    "rolled": "b[:] = np.roll(b, 1)",
    "where": "b[:] = np.where(b > 4, b[::-1], b)",
    "masked": "b[b > 4] = b[0, 0]",
    "a product": "b[:] = b @ b",
    "out": "np.add(b, b[::-1], out=b)",
    "sorted": "b.sort()",
    "a scan": "np.cumsum(b, axis=0, out=b)",
    "twice": "b[1] = b[0]; b += 1; b[:] = b.T",
    "while it is read": "c = b + 1; b[1] = b[0]; d = b.copy(); b[:] = b[::-1]; b[2] += c[1] + d[0]",
    "in a loop": "for i in range(3):\n        for j in range(4):\n            b[i, j] += b[i + 1, j] * 2",
    "before a loop": "b[1] = b[0]\n    for i in range(4):\n        b[i, i] = i",
}
VIEWS = [
    "b", "b[1]", "b[:, ::2]", "b.T", "b[::-1]", "b.reshape(-1)", "b.ravel()", "np.asarray(b)", "b.diagonal()", "b.real", "b.view('i8')",
    "b[None]", "np.broadcast_to(b, (2, 4, 4))", "b.copy()", "b[[0, 1]]", "b.T.ravel()", "b + 0", "np.flip(b, 1)", "b.astype('f8', copy=False)",
]  # fmt: skip
# How a function hands out v.
WAYS = {
    "returned": "return v",
    "in a list": "return [0, [v]]",
    "in a dict": "return {'v': v}",
    "in a tuple": "return v, v[:1]",
    "in a global": "globals()['KEPT'] = v",
    "in an attribute": "holder.kept = v",
    "in an argument": "given.append(v)",
    "yielded": "yield v",
    "yielded before": "yield v; b[:] = b.T; yield b",
}


class Holder:
    kept = None


def function(write, view, way, before):
    lines = [f"v = {view}", write] if before else [write, f"v = {view}"]
    source = "def f(b, holder, given):\n    " + "\n    ".join(filter(None, [*lines, WAYS[way]])) + "\n"
    return source


def arrays_in(x):
    if isinstance(x, numpy.ndarray):
        return [x]
    if isinstance(x, (list, tuple, dict)):
        return [a for v in (x.values() if isinstance(x, dict) else x) for a in arrays_in(v)]
    return []


def owned():
    return numpy.arange(16.0).reshape(4, 4) % 7


def part():
    return (numpy.arange(50.0).reshape(5, 10) % 7)[1:, 1:9:2]


def seen(f, names, make):
    """What the caller sees: of each array whether it shares the argument's memory, and all contents after writes on both sides."""
    b, holder, given = make(), Holder(), []
    names["KEPT"] = None
    made = f(b, holder, given)
    if hasattr(made, "send"):
        made = list(made)
    told = [b.copy()]
    for a in arrays_in([made, names["KEPT"], holder.kept, given]):
        assert type(a) is numpy.ndarray
        told += [numpy.shares_memory(a, b), a.flags.writeable, a.copy()]
        if a.flags.writeable:
            a[...] = a + 3
            told.append(b.copy())
        b[...] = b - 5
        told.append(a.copy())
    return told


def check(source, make, **options):
    theirs, ours = {"np": numpy}, {"np": numpy}
    exec(source, theirs), exec(source, ours)
    f = plait.jit(ours["f"], **options)
    expected = seen(theirs["f"], theirs, make)
    for call in range(4 if options.get("replay") else 2):
        found = seen(f, ours, make)
        assert len(found) == len(expected)
        for x, y in zip(found, expected):
            assert numpy.array_equal(x, y), f"call {call} of\n{source}{x}\n{y}"


CASES = sorted(
    {(write, view, "returned", before) for write, view in itertools.product(WRITES, VIEWS) for before in (False, True)}
    | {(write, VIEWS[i % 5], way, before) for i, (write, way) in enumerate(itertools.product(WRITES, WAYS)) for before in (False, True)}
)


@pytest.mark.filterwarnings("ignore::plait.ReplayWarning")
@pytest.mark.parametrize("options", [{}, {"loops": False}, {"replay": True}], ids=str)
@pytest.mark.parametrize("write", WRITES)
def test_views_that_are_left_are_the_arguments(write, options):
    for of, view, way, before in CASES:
        if of == write and not ("yield" in way and options.get("replay")):
            check(function(WRITES[write], view, way, before), owned, **options)


@pytest.mark.parametrize("way", WAYS)
def test_the_same_of_parts_of_larger_arrays_and_of_planned_work(way, large):
    for write, view in itertools.product(WRITES.values(), ("b[1]", "b.T")):
        check(function(write, view, way, False), part)


def truths(m, x):
    return m.sum(), numpy.where(m, x, -x), m & True, m.astype("i4"), x * m


@pytest.mark.filterwarnings("ignore::plait.ReplayWarning")
@pytest.mark.parametrize("options", [{}, {"loops": False}, {"replay": True}], ids=str)
def test_bytes_that_are_read_as_bool(options):
    x = numpy.arange(4.0)
    f = plait.jit(truths, **options)
    plain = numpy.array([True, False, True, True])
    odd = numpy.array([2, 0, 255, 1], numpy.uint8).view(bool)
    for m in [plain] * 3 + [odd] * 3 + [plain, odd]:
        for made, expected in zip(f(m, x), truths(m, x)):
            assert numpy.array_equal(made, expected) and made.dtype == expected.dtype

    def stored(m, b):
        b[0] = 2
        return m.sum(), m.astype("i4")

    for f in stored, plait.jit(stored, **options):
        m = plain.copy()
        made = f(m, m.view("u1"))
        assert made[0] == 3 and made[1].tolist() == [1, 0, 1, 1]
