"""plait.PlaitPerformanceWarning, and what a jitted function's report() says."""

import math
import pickle
import re
import time
import warnings

import numpy as np
import plait
import pytest
from plait import _performance


@pytest.fixture(autouse=True)
def warns(monkeypatch):
    """The suite runs with PLAIT_WARN=off; no time is asserted: each call counts as a long one."""
    monkeypatch.setattr(_performance, "WARNS", True)
    monkeypatch.setattr(_performance, "LONG", 0.0)


def told(f, *args, calls=3):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(calls):
            f(*args)
    return [w for w in caught if w.category is plait.PlaitPerformanceWarning]


def slowly(row):
    time.sleep(0.002)
    return row.sum()


def by_rows(x):
    return np.apply_along_axis(slowly, 1, x)


def here(text):
    with open(__file__) as f:
        return next(i for i, line in enumerate(f, 1) if line.strip().startswith(text))


def test_what_numpy_computes_is_named_with_what_to_write():
    f = plait.jit(by_rows)
    (w,) = told(f, np.ones((20, 3)))
    text = str(w.message)
    assert re.match(r"\d+% of the \d+ ms of by_rows\(\) went to NumPy and Python:\n", text)
    place = rf"test_performance_warning.py:{here('return np.apply_along_axis')}: `np.apply_along_axis\(slowly, 1, x\)`: [\d.]+ ms: "
    assert re.search(place + "NumPy computes apply_along_axis, and nothing is fused with it; write a loop over the rows", text), text
    assert w.filename == __file__ and "f(*args)" in open(__file__).read().splitlines()[w.lineno - 1]


def test_each_line_is_named_once():
    f = plait.jit(by_rows)
    assert len(told(f, np.ones((20, 3)), calls=6)) == 1 and not told(f, np.ones((20, 3)))


def printing(x):
    total = 0.0
    for i in range(len(x)):
        with warnings.catch_warnings():
            time.sleep(1e-4)
            total += x[i]
    return total


def test_loops_that_stay_pythons_say_why():
    (w,) = told(plait.jit(printing), np.ones(50))
    assert f"test_performance_warning.py:{here('for i in range(len(x))')}" in str(w.message) and "the loop stays Python's: " in str(w.message)


def decomposed(x):
    return np.linalg.svd(x)[1]


def fused(x):
    return np.sqrt(x * x + 1).sum()


def waits(x):
    time.sleep(0.003)
    return x + 1


@pytest.mark.parametrize("f", [decomposed, fused, waits, lambda x: math.sqrt(x.size)])
def test_no_warning_where_nothing_could_be_gained(f):
    assert not told(plait.jit(f), np.random.default_rng(0).normal(size=(120, 120)))


def test_short_calls_say_nothing(monkeypatch):
    monkeypatch.setattr(_performance, "LONG", 100.0)
    assert not told(plait.jit(by_rows), np.ones((3, 3)))


def test_off(monkeypatch):
    monkeypatch.setattr(_performance, "WARNS", False)
    assert not told(plait.jit(by_rows), np.ones((20, 3)))


def test_the_environment_and_filters(run_python):
    source = ("import numpy as np, plait, time\ndef f(x):\n    return np.apply_along_axis(lambda r: time.sleep(0.005) or r.sum(), 1, x)\n"
              "g = plait.jit(f)\nfor _ in range(3): g(np.ones((9, 3)))")  # fmt: skip
    assert run_python(source, env={"PLAIT_WARN": "on"}).stderr.count("PlaitPerformanceWarning") == 1
    assert run_python(source, env={"PLAIT_WARN": "off"}).stderr == ""
    assert run_python(source, "-W", "ignore::UserWarning", env={"PLAIT_WARN": "on"}).stderr == ""


def test_a_warning_that_is_an_error():
    f = plait.jit(by_rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error", plait.PlaitPerformanceWarning)
        with pytest.raises(plait.PlaitPerformanceWarning):
            f(np.ones((20, 3)))
    assert f(np.ones((20, 3))).tolist() == [3.0] * 20


def test_few_calls_are_watched_and_none_inside_others():
    inner = plait.jit(fused)
    scope = {"inner": inner}
    exec("def outer(x):\n    return inner(x) + 1", scope)
    outer = plait.jit(scope["outer"])
    x = np.arange(3000.0)
    for _ in range(5):
        outer(x)
    assert "no call has been watched" in inner.report()
    for _ in range(6):
        inner(x)
    assert plait._functions.jitted_of(inner).watch is None and plait._functions.jitted_of(inner).watched.calls == 3


def test_a_call_that_raises_ends_its_profile():
    def fails(x):
        raise ValueError(x.shape)

    f = plait.jit(fails)
    for _ in range(2):
        with pytest.raises(ValueError, match="3,") as e:
            f(np.ones(3))
        assert len(e.traceback) == 2  # this one and the function
    assert plait._plait.trace_now() is None


def test_long_calls_are_watched_again():
    def naps(x, seconds):
        time.sleep(seconds)
        return x + 1

    f = plait.jit(naps)
    for _ in range(4):
        f(np.ones(3), 0.0)
    watched = plait._functions.jitted_of(f).watched
    assert watched.calls == 3
    for _ in range(8):
        f(np.ones(3), 0.011)
    assert watched.calls == 3 + _performance.MORE


@pytest.mark.filterwarnings("ignore::plait.PlaitPerformanceWarning")
def test_report():
    f = plait.jit(by_rows)
    assert "no call has been watched" in f.report()
    for _ in range(4):
        f(np.ones((4, 3)))
    text = f.report()
    lines = text.splitlines()
    assert repr(text) == str(text) and isinstance(text, str)
    assert re.match(rf"plait.jit\(by_rows\) at \S*test_performance_warning.py:{here('def by_rows')}$", lines[0])
    assert re.match(r"4 calls, [\d.,]+ ms: [\d.,]+ ms each, the longest [\d.,]+ ms$", lines[1])
    assert re.search("lines of the [34] calls that were watched:", text) and "return np.apply_along_axis(slowly, 1, x)" in text
    assert re.search(r"fallback at \S+: apply_along_axis, [34] times, [\d.]+ ms", text)
    assert len(lines) < 40


def summed(x):
    total = 0.0
    for v in x:
        total += v * v
    return total


def test_report_of_loops(at_once):
    f = plait.jit(summed)
    assert f(np.arange(1000.0)) == summed(np.arange(1000.0))
    assert "for v in x" in f.report() and "machine code for" in f.report()


def test_time_in_machine_code_is_computing(at_once):
    f = plait.jit(summed)
    x = np.arange(300_000.0)
    with plait.profile(quiet=True) as p:
        f(x)
    assert sum(r.computing for r in p.rows) > 0


def test_reports_stay_behind_when_pickled():
    assert pickle.loads(pickle.dumps(fused)) is fused


def test_devices():
    host, *others = plait.devices()
    assert host.name == "cpu" and host.usable and host.memory > 2**20 and host.why == ""
    assert all(d.name.startswith("cuda") and d.usable == (not d.why) for d in others) and others
    assert len(repr(plait.devices()).splitlines()) == 1 + len(others)


def test_clear_cache(run_python, tmp_path):
    source = """import os, numpy as np, plait
folder = plait.config.cache_dir
f = plait.jit(lambda x: np.tanh(x * 3) + 1)
x = np.arange(100_000.0)
before = f(x)
kept = [n for n in os.listdir(folder) if n.endswith('.kernel')]
open(os.path.join(folder, 'mine.txt'), 'w').close()
size = sum(os.path.getsize(os.path.join(folder, n)) for n in kept)
cleared = plait.clear_cache()
assert kept and cleared.files == len(kept) and cleared.disk == size and cleared.memory > 0, cleared
assert os.listdir(folder) == ['mine.txt'] and (f(x) == before).all()
assert plait.clear_cache().disk >= 0"""
    done = run_python(source, env={"PLAIT_CACHE_DIR": str(tmp_path / "c"), "PLAIT_JIT": "blocking"})
    assert done.returncode == 0, done.stderr
    assert run_python("import plait; print(plait.clear_cache()[:2])", env={"PLAIT_CACHE_DIR": str(tmp_path / "none")}).stdout == "(0, 0)\n"
