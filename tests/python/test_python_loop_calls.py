"""Calls of compiled loops by their entries: whatever changes between two calls, the answer is Python's."""

import math
import os
import signal
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import plait
from plait._functions import jitted_of
from plait._jit import loops_of
from plait._python_loops import codes, going_over, sharing

SCALE = 2.0
TABLE = np.arange(10.0)


def popcount(x):
    n = 0
    for i in range(len(x)):
        v = x[i]
        while v:
            v &= v - 1
            n += 1
    return n


def blend(a, b, out, s, k):
    total = 0.0
    for i in range(len(a)):
        out[i] = a[i] * s + b[i] * k
        total += out[i]
    return total


def shift(a, b):
    for i in range(len(a) - 1):
        a[i] = b[i + 1] * 0.5
    return a


def looked_up(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * SCALE + TABLE[i % 10]
    return total


def roots(x, n):
    last = 0.0
    for i in range(n):
        last = math.sqrt(x[i]) + last
    return last


def first_above(x, limit):
    for i in range(len(x)):
        if x[i] > limit:
            return i, x[i]
    return None


def steps(n, most):
    count = 0
    while n != 1 and count < most:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count, n


def orbit(z, c, n):
    for i in range(n):
        z = z * z + c
    return z


def squares(n):
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            out[i, j] = i * n + j
    return out


def two(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    m = s / max(len(x), 1)
    v = 0.0
    for i in range(len(x)):
        v += (x[i] - m) * (x[i] - m)
    return m, v


def rows(x):
    """Array expressions outside of the loop."""
    y = x * 2.0 + 1.0
    total = 0.0
    for i in range(len(y)):
        total += y[i]
    y += total
    return y, total


@pytest.fixture(autouse=True)
def soon(at_once, monkeypatch):
    monkeypatch.setattr(sharing, "WORTH", math.inf)


def fast(f, *args):
    """The jitted function, behind 100 calls and those that code takes to be optimised in the background, of which the last went by entries."""
    g = plait.jit(f)
    end = time.monotonic() + 60
    calls = 0
    while calls < 100 or (runs(g) <= 50 and time.monotonic() < end):
        g(*(a.copy() if isinstance(a, np.ndarray) else a for a in args))
        calls += 1
    assert runs(g) > 50
    return g


ALONE = "PLAIT_TEST_ALONE"
# Where somebody ever chose another default dtype, as other tests do, functions do not run on the caller's arrays.
alone = pytest.mark.skipif(ALONE not in os.environ, reason="runs in a process of its own, below")


def test_in_a_process_of_its_own(run_python):
    names = "globals_that_change or numbers_of_the_module or give_back_to_python"
    done = run_python(None, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", names, env={ALONE: "1"}, timeout=300)
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout


def runs(g):
    return sum(code.entry.runs for loop in loops_of(g) for code in loop.codes.values() if code.entry)


def outcome(f, args):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            result = f(*args)
        except Exception as e:
            result = type(e), str(e)
    return described(result), [described(a) for a in args], {(w.category, str(w.message), w.filename) for w in heard if not str(w.message).startswith("overflow")}


def described(x):
    if isinstance(x, tuple):
        return [described(v) for v in x]
    return (type(x), x.dtype, x.shape, x.tobytes()) if isinstance(x, np.ndarray) else (type(x), repr(x))


def alike(f, g, *args):
    copied = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    assert outcome(g, args) == outcome(f, copied)


INTS = np.arange(50) * 977
FLOATS = np.linspace(0.5, 9, 50)


@pytest.mark.parametrize(
    "f, args, others",
    [
        (popcount, (INTS,), [(INTS.astype(t),) for t in (np.int8, np.uint8, np.int32, np.uint64, bool, np.longlong)]),
        (popcount, (INTS,), [(INTS[::2],), (INTS[::-1],), (INTS[:0],), (INTS.astype(">i8"),), (list(range(9)),), (INTS.reshape(5, 10),)]),
        (popcount, (INTS,), [(FLOATS,), (3,)]),
        (roots, (FLOATS, 50), [(FLOATS, 51), (-FLOATS, 3), (FLOATS, -1), (FLOATS, np.int64(7)), (FLOATS, True)]),
        (roots, (FLOATS, 50), [(FLOATS, 2.5), (FLOATS, "a"), (FLOATS, 2**70)]),
        (roots, (FLOATS, 50), [(FLOATS[0], 1), (FLOATS.astype(np.float32), 9), (None, 9), (FLOATS,), (FLOATS, 1, 2)]),
        (first_above, (FLOATS, 5.0), [(FLOATS, 5), (FLOATS, 99.0), (FLOATS, np.float32(5)), (FLOATS, math.nan), (FLOATS.astype("f2"), 5.0), (INTS, 1000)]),
        (steps, (27, 1000), [(2**40 - 1, 50), (np.int64(27), 1000), (27.0, 99), (-5, 100), (27, 1000.5), (True, 9), (2**62 + 2, 1)]),
        (orbit, (0.1 + 0j, 0.2 - 0.3j, 9), [(0j, 1, 9), (np.complex64(0.5j), 0.1j, 5), (0.5, 0.25, 9), (np.float64(0.5), 0.25, 9), (1j, np.complex128(0.1), 3)]),
        (squares, (5,), [(0,), (7,), (np.int32(4),), (-1,), (2.0,), (True,)]),
        (two, (FLOATS,), [(FLOATS.astype(np.float32),), (FLOATS[:0],), (INTS,), (np.array([1.0, np.inf, np.nan]),), (FLOATS[::3],)]),
        (rows, (FLOATS,), [(FLOATS.astype(np.float32),), (FLOATS[:0],), (FLOATS[::3],), (2.5,)]),
        (blend, (FLOATS, FLOATS, FLOATS * 0, 0.5, 3), [(FLOATS, FLOATS, np.zeros(10), 0.5, 3), (FLOATS, FLOATS, INTS * 0, 0.5, 3)]),
        (blend, (FLOATS, FLOATS, FLOATS * 0, 0.5, 3), [(FLOATS, FLOATS[:10], FLOATS * 0, 1, 2.0)]),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)  # fmt: skip
def test_other_classes_dtypes_and_extents(f, args, others):
    g = fast(f, *args)
    for other in others:
        alike(f, g, *other)
        alike(f, g, *args)
    for other in (*others, *others):
        alike(f, g, *other)


def test_arrays_that_are_read_only():
    a, out = FLOATS.copy(), np.zeros(50)
    g = fast(blend, a, a, out, 0.5, 3)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        g(a, a, out, 0.5, 3)
    assert not out.any()
    a.flags.writeable = False
    alike(blend, g, a, a, np.zeros(50), 0.5, 3)


def test_arrays_that_overlap():
    a, b = np.arange(50.0), np.arange(50.0) + 3
    g = fast(shift, a, b)
    for cut in (0, 1, 7):
        theirs, ours = np.arange(60.0), np.arange(60.0)
        shift(theirs[cut : cut + 50], theirs[:50])
        g(ours[cut : cut + 50], ours[:50])
        assert (theirs == ours).all()


def test_an_array_that_comes_back_is_the_caller_s():
    a = np.arange(50.0)
    assert fast(shift, a, a.copy())(a, a.copy()) is a


@alone
def test_globals_that_change(monkeypatch):
    g = fast(looked_up, FLOATS)
    scales, tables = (3.0, 3, np.float32(2)), (np.ones(10), np.arange(10), np.arange(5.0), None)
    for name, value in (*(("SCALE", x) for x in scales), *(("TABLE", x) for x in tables)):
        monkeypatch.setitem(globals(), name, value)
        alike(looked_up, g, FLOATS)
        alike(looked_up, g, FLOATS)
        monkeypatch.undo()
        soon_again(monkeypatch)
        alike(looked_up, g, FLOATS)
    monkeypatch.delitem(globals(), "SCALE")
    with pytest.raises(NameError):
        g(FLOATS)


def soon_again(monkeypatch):
    monkeypatch.setattr(going_over, "WORTH", 0.0)
    monkeypatch.setattr(codes.Code, "ready", property(lambda code: code.usable and (code.procedure.compile() or True)))
    monkeypatch.setattr(sharing, "WORTH", math.inf)


def helped(x):
    total = 0.0
    for i in range(len(x)):
        total += helper(x[i])
    return total


def helper(v):
    return v * SCALE


def test_functions_that_change(monkeypatch):
    g = fast(helped, FLOATS)
    monkeypatch.setitem(globals(), "helper", lambda v: v + 1)
    alike(helped, g, FLOATS)
    alike(helped, g, FLOATS)
    monkeypatch.setitem(globals(), "len", lambda x: 3)
    alike(helped, g, FLOATS)


def test_a_cell_that_changes():
    by = 2.0

    def scaled(x):
        total = 0.0
        for i in range(len(x)):
            total += x[i] * by
        return total

    g = fast(scaled, FLOATS)
    for value in (3.0, 3, np.float32(2)):
        by = value
        alike(scaled, g, FLOATS)


def divided(x, y):
    for i in range(len(x)):
        x[i] = x[i] / y
    return x


def test_warnings_and_errors_of_numpy():
    g = fast(divided, FLOATS, np.float64(2))
    alike(divided, g, FLOATS.copy(), np.float64(0))
    for how in ("ignore", "warn"):
        with np.errstate(all=how):
            alike(divided, g, FLOATS.copy(), np.float64(0))
    for f in (divided, g):
        x = FLOATS.copy()
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            f(x, np.float64(0))
        assert (x == FLOATS).all()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning):
                f(x, np.float64(0))
        assert (x == FLOATS).all()


def test_a_warning_names_the_loop():
    g, lines = plait.jit(divided), []
    for _ in range(5):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            g(FLOATS.copy(), np.float64(0))
        lines.append([(w.filename, w.lineno) for w in heard])
    assert runs(g) and lines == [[(__file__, divided.__code__.co_firstlineno + 1)]] * 5


N = 7


def by_globals(x):
    half = math.sqrt(N) / 2
    for i in range(N):
        x[i] = half * i
    return half, x


@alone
def test_numbers_of_the_module_outside_of_loops(monkeypatch):
    g = fast(by_globals, FLOATS)
    assert jitted_of(g).direct.takes((FLOATS,))
    for n in (3, 50, 3.5, np.int64(4)):
        monkeypatch.setitem(globals(), "N", n)
        alike(by_globals, g, FLOATS)


def test_plait_s_arrays_and_calls_of_other_jitted_functions():
    g = fast(blend, FLOATS, FLOATS, np.zeros(50), 0.5, 3)
    out = plait.zeros(50)
    a = plait.asarray(FLOATS) + 1
    expected = np.zeros(50)
    total = blend(FLOATS + 1, FLOATS, expected, 0.5, 3)
    assert g(a, plait.asarray(FLOATS), out, 0.5, 3) == total and (np.asarray(out) == expected).all()

    @plait.jit
    def outer(x, out):
        y = x + 1
        return g(y, x, out, 0.5, 3), g(x, y, out, 0.5, 3)

    for _ in range(5):
        ours = np.zeros(50)
        assert outer(FLOATS, ours)[0] == total
        assert (ours == FLOATS * 0.5 + (FLOATS + 1) * 3).all()


def test_numpy_s_view_of_plait_s_memory():
    g = fast(shift, FLOATS, FLOATS)
    x = plait.asarray(FLOATS) + 1
    seen = np.asarray(x)
    y = x * 2
    before = runs(g)
    g(seen, FLOATS)
    assert runs(g) == before + 1
    assert (np.asarray(y) == (FLOATS + 1) * 2).all() and np.asarray(x)[0] == FLOATS[1] * 0.5


@alone
def test_entries_that_give_back_to_python_what_they_cannot_run():
    g = fast(popcount, INTS)
    direct = jitted_of(g).direct
    assert direct.takes((INTS,)) and not direct.takes(([INTS],)) and not direct.takes((plait.asarray(INTS),))
    assert g([3, 5]) == 4
    before = runs(g)
    for _ in range(3):
        assert g(INTS) == popcount(INTS)
    assert runs(g) == before + 3 and direct.takes((INTS,))


def test_functions_with_array_expressions_go_by_numpy_s_stand_in():
    g = fast(rows, FLOATS)
    assert not jitted_of(g).direct.takes((FLOATS,))
    alike(rows, g, FLOATS)


def test_tracing_sees_the_iterations():
    g, lines = fast(popcount, INTS), []

    def trace(frame, event, _):
        lines.append(frame.f_lineno)
        return trace

    sys.settrace(trace)
    try:
        assert g(INTS[:3]) == popcount(INTS[:3])
    finally:
        sys.settrace(None)
    assert len(lines) > 20


def endless(x):
    while x[0] > 0:
        x[0] += 1
        x[0] -= 1
    return x[0]


def test_ctrl_c_ends_a_loop():
    g = fast(endless, np.zeros(1))
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        g(np.ones(1))
    timer.join()
    assert g(np.zeros(1)) == 0


def test_threads_call_one_function():
    g = fast(blend, FLOATS, FLOATS, np.zeros(50), 0.5, 3)
    expected, wrong = blend(FLOATS, FLOATS, np.zeros(50), 0.5, 3), []

    def many(scale):
        for _ in range(300):
            out = np.zeros(50)
            if g(FLOATS * scale, FLOATS * scale, out, 0.5, 3) != expected * scale:
                wrong.append(scale)

    all_of_them = [threading.Thread(target=many, args=(2.0**k,)) for k in range(4)]
    for t in all_of_them:
        t.start()
    for t in all_of_them:
        t.join()
    assert not wrong
