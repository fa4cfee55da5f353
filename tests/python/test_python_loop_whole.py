"""Functions that run in machine code as a whole: what they give, warn of and raise, and when they run otherwise."""

import os
import signal
import sys
import threading
import time
import traceback
import warnings

import numpy as np
import pytest
from loop_checks import anew, outcome

import plait
from plait._functions import jitted_of
from plait._jit import body_of
from plait._python_loops import whole

N = 3


ALONE = "PLAIT_TEST_ALONE"


@pytest.fixture(autouse=True)
def soon(request, at_once, monkeypatch):
    # Where somebody ever chose another default dtype, as other tests do, functions do not run on the caller's arrays.
    if ALONE not in os.environ and request.function is not test_in_a_process_of_its_own:
        pytest.skip("runs in a process of its own, below")
    monkeypatch.setattr(whole, "AFTER", 0)


def test_in_a_process_of_its_own(run_python):
    if ALONE in os.environ:
        return
    done = run_python(None, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, env={ALONE: "1"}, timeout=300)
    assert done.returncode == 0 and "passed" in done.stdout and "skipped" not in done.stdout, done.stdout


def runs(jitted):
    body = body_of(jitted)
    return 0 if body is None else sum(code.entry.runs for code in body.codes.values() if code.entry)


def ran(f, *args, calls=6):
    """The function jitted, that has run as a whole on such arguments."""
    jitted = plait.jit(anew(f))
    for _ in range(calls):
        outcome(jitted, args)
    assert runs(jitted) > 0, body_of(jitted) and [(code.why, code.inputs) for code in body_of(jitted).codes.values()]
    return jitted


def total(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    return s


def squares(n):
    s = 0
    for i in range(n):
        s += i * i % 7
    return s


def doubled(a, b):
    for i in range(len(a)):
        b[i] = a[i] * 2.0 + b[i]


def halves(n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = i * 0.5
    return out


def mean(x):
    """Of a matrix."""
    n, m = x.shape
    s = 0.0
    for i in range(n):
        for j in range(m):
            s += x[i, j]
    if s < 0:
        return -1.0
    return s / (n * m)


def several(x, n):
    out = np.empty_like(x)
    k = 0
    for i in range(len(x)):
        out[i] = x[i] + n
        k += 1
    return out, k, x


def last(n):
    for i in range(n):
        found = i
    return found


def of_global(x):
    s = 0
    for i in range(len(x)):
        s += x[i] * N
    return s


def perhaps(n):
    k = 0
    while k < n:
        k += 2
        if k == 8:
            return k
    if n > 100:
        return k


def both_loops(n, m):
    a = 0
    for i in range(n):
        a += i
    b = a
    for j in range(m):
        b -= j
    return a, b


def divided(n, d):
    s = 0
    for i in range(n):
        s += i
    return s // d


def element(x, i):
    s = 0.0
    for k in range(i):
        s += x[k]
    x[0] = s
    return x[i]


def product(n):
    p = 1
    for i in range(1, n):
        p *= i
    return p


def reciprocals(x):
    s = 0.0
    for i in range(len(x)):
        s += 1.0 / x[i]
    return s


CASES = [
    (total, (np.arange(5.0),)),
    (total, (np.arange(0.0),)),
    (total, (np.arange(5),)),
    (total, (np.arange(10.0)[::2],)),
    (squares, (10,)),
    (doubled, (np.arange(4.0), np.ones(4))),
    (halves, (5,)),
    (halves, (0,)),
    (mean, (np.arange(6.0).reshape(2, 3),)),
    (mean, (-np.ones((2, 3)),)),
    (several, (np.arange(4.0), 2)),
    (several, (np.arange(4), 2)),
    (last, (3,)),
    (perhaps, (5,)),
    (perhaps, (20,)),
    (both_loops, (5, 3)),
    (divided, (5, 3)),
    (element, (np.arange(6.0), 4)),
    (product, (10,)),
    (reciprocals, (np.arange(1.0, 5.0),)),
    (of_global, (np.arange(5),)),
]


@pytest.mark.parametrize("f, args", CASES, ids=[f"{f.__name__} {n}" for n, (f, _) in enumerate(CASES)])
def test_what_a_call_gives_is_what_python_gives(f, args):
    assert outcome(ran(f, *args), args) == outcome(f, args)


@pytest.mark.parametrize(
    "f, usual, args",
    [
        (divided, (5, 3), (5, 0)),
        (element, (np.arange(6.0), 4), (np.arange(6.0), 6)),
        (element, (np.arange(6.0), 4), (np.arange(6.0), 9)),
        (last, (3,), (0,)),
        (product, (10,), (40,)),
        (halves, (5,), (-1,)),
        (squares, (5,), (2.0,)),
        (perhaps, (5,), (2**70,)),
        (squares, (5,), ()),
        (squares, (5,), (1, 2)),
        (total, (np.arange(5.0),), (None,)),
        (total, (np.arange(5.0),), ([1.0, 2],)),
        (mean, (np.ones((2, 3)),), (np.ones(3),)),
    ],
)
def test_other_calls_behind_it_are_pythons_too(f, usual, args):
    jitted = ran(f, *usual)
    for _ in range(3):
        assert outcome(jitted, args) == outcome(f, args)
        assert outcome(jitted, usual) == outcome(f, usual)


def test_results_have_pythons_and_numpys_types():
    jitted = ran(total, np.arange(5.0))
    assert type(jitted(np.arange(5.0))) is np.float64 and type(jitted(np.arange(0.0))) is float
    made = ran(halves, 5)(5)
    assert type(made) is np.ndarray and made.flags.owndata and made.flags.writeable


def test_a_returned_argument_is_the_callers_own_and_a_made_array_is_new_each_time():
    jitted, x = ran(several, np.arange(4.0), 2), np.arange(4.0)
    a, b = jitted(x, 1), jitted(x, 1)
    assert a[2] is x and b[2] is x and a[0] is not b[0] and not np.shares_memory(a[0], b[0])


def test_arrays_that_overlap_and_those_that_cannot_be_written_to():
    jitted = ran(doubled, np.arange(4.0), np.ones(4))
    x, y = np.arange(6.0), np.arange(6.0)
    jitted(x[:-1], x[1:])
    doubled(y[:-1], y[1:])
    assert (x == y).all()
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        jitted(np.ones(6), x)


def test_a_warning_is_at_the_loop_that_it_stands_in():
    jitted = ran(reciprocals, np.arange(1.0, 5.0))
    before = runs(jitted)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert jitted(np.zeros(2)) == np.inf
    (warning,) = caught
    assert warning.category is RuntimeWarning and "divide by zero" in str(warning.message) and warning.filename == __file__
    assert warning.lineno == reciprocals.__code__.co_firstlineno + 2 and runs(jitted) == before + 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero"):
            jitted(np.zeros(2))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        jitted(np.zeros(2))
    assert runs(jitted) == before + 1


def test_a_traceback_leads_to_the_statement():
    jitted = ran(divided, 5, 3)
    with pytest.raises(ZeroDivisionError) as raised:
        jitted(5, 0)
    *_, entry = traceback.extract_tb(raised.value.__traceback__)
    assert (entry.name, entry.lineno, entry.line) == ("divided", divided.__code__.co_firstlineno + 4, "return s // d")
    if sys.version_info >= (3, 11):
        assert (entry.colno, entry.end_colno) == (11, 17)


def test_a_global_that_changes_is_read_anew(monkeypatch):
    jitted = ran(of_global, np.arange(5))
    monkeypatch.setitem(globals(), "N", 5)
    assert jitted(np.arange(5)) == 50
    monkeypatch.setitem(globals(), "N", 0.5)
    assert jitted(np.arange(5)) == 5.0


def test_a_variable_without_value_is_no_global_of_its_name(monkeypatch):
    monkeypatch.setitem(globals(), "found", 7)
    jitted = ran(last, 3)
    with pytest.raises(UnboundLocalError, match="found"):
        jitted(0)


def test_what_watches_calls_sees_them():
    jitted, seen = ran(squares, 10), []
    before = runs(jitted)
    for watch in (sys.settrace, sys.setprofile):
        watch(lambda frame, event, arg: seen.append((event, frame.f_code.co_name)))
        try:
            jitted(10)
        finally:
            watch(None)
        assert ("call", "squares") in seen and runs(jitted) == before
        seen.clear()


def test_plaits_arrays_keywords_and_calls_inside_others():
    jitted = ran(total, np.arange(5.0))
    before = runs(jitted)
    assert jitted(x=np.arange(5.0)) == 10 and jitted(plait.array(np.arange(5.0))) == 10
    around = plait.jit(lambda x: jitted(x + 1) + 1)
    assert around(np.arange(5.0)) == 16 and runs(jitted) == before


def test_long_calls_are_left_to_the_other_way(monkeypatch):
    jitted = ran(total, np.arange(5.0))
    x = np.ones(1 << 19)
    for _ in range(5):
        assert jitted(x) == 1 << 19
    before = runs(jitted)
    assert jitted(x) == 1 << 19 and runs(jitted) == before
    assert jitted(np.arange(5.0)) == 10 and runs(jitted) == before + 1


def collatz(n):
    while n != 0:
        n += 2
        if n > 1000:
            n = 1
    return n


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_ctrl_c_ends_a_call():
    jitted = ran(collatz, 0)
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            jitted(1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


def test_a_first_call_of_some_work_leaves_other_threads_the_gil():
    jitted, ticks, done = ran(squares, 10), [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.perf_counter()
    jitted(50_000_000)
    ended = time.perf_counter()
    done.set()
    thread.join()
    assert sum(begun < t < ended for t in ticks) > 10 or ended - begun < 0.05


def test_threads_run_it_at_the_same_time():
    jitted, wrong = ran(several, np.arange(4.0), 2), []

    def work(n):
        x = np.full(10 + n, float(n))
        for _ in range(500):
            out, k, back = jitted(x, n)
            if back is not x or k != 10 + n or not (out == 2 * n).all():
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_explain_and_the_log_say_so(monkeypatch):
    said, log = [], plait._plait.log_loop
    monkeypatch.setattr(plait._plait, "log_loop", lambda text=None: said.append(text) if text else log())
    jitted = ran(squares, 10)
    assert any("squares() as a whole: machine code for n: int" in text for text in said)
    assert "squares() as a whole: machine code for n: int" in str(plait.explain(jitted, 10))


def test_a_function_that_cannot_run_as_a_whole_is_not_asked_for_ever():
    def listed(numbers):
        s = 0
        for v in numbers:
            s += v
        return s

    jitted = plait.jit(listed)
    for _ in range(20):
        assert jitted([1, 2, 3]) == 6
    assert runs(jitted) == 0 and len(body_of(jitted).codes) <= 1 and jitted_of(jitted).whole is not None
