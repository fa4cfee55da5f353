"""Warnings, error state, threads, fork, interrupts, memory."""

import os
import threading
import warnings

import numpy
import pytest

import plait
from plait import _plait


@pytest.mark.parametrize("call, text", [
    (lambda np: np.array([1.0, 0.0]) / np.zeros(2), "divide by zero encountered in divide"),
    (lambda np: np.log(np.array([0.0, 1.0])), "divide by zero encountered in log"),
    (lambda np: np.sqrt(np.array([-1.0, 1.0])), "invalid value encountered in sqrt"),
    (lambda np: np.exp(np.array([1000.0, 1.0])), "overflow encountered in exp"),
    (lambda np: np.array([1e300, 1.0]) * 1e300, "overflow encountered in multiply"),
])  # fmt: skip
def test_warnings(call, text):
    for np in (numpy, plait):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            numpy.asarray(call(np))
        assert text in [str(w.message) for w in caught], np.__name__
        assert caught[0].category is RuntimeWarning


def test_warning_names_the_recorded_line(run_python):
    source = "import plait as np\nx = np.zeros(100000)\ny = np.log(x)\nz = 1\nprint(y[0])\n"
    assert "<string>:3: RuntimeWarning: divide by zero encountered in log" in run_python(source).stderr


def test_errstate():
    with plait.errstate(divide="raise"):
        assert plait.geterr()["divide"] == "raise"
        with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
            plait.ones(5) / 0.0
        with pytest.raises(FloatingPointError):
            plait.ones(100_000) / 0.0
    assert plait.geterr() == numpy.geterr()
    with plait.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert numpy.isinf(plait.ones(3) / 0.0).all()
    calls = []
    with plait.errstate(divide="call", call=lambda kind, flag: calls.append((kind, flag))):
        plait.ones(3) / 0.0
    assert calls == [("divide by zero", 1)]


@pytest.mark.parametrize("text", ["x.argmin(1)", "x.sum(0)", "x.max(keepdims=True)", "x.astype('f4')", "plait.ascontiguousarray(x.T)"])
def test_what_has_no_operations_is_compiled_in_the_background(run_python, text):
    source = f"""
import time, numpy, plait
x = plait.array(numpy.ones((1500, 1000)))
for _ in range(1000):
    y = {text}
    if "tier: machine code" in plait.explain(y):
        break
    plait.evaluate(y)
    time.sleep(0.01)
print("tier: machine code" in plait.explain({text}))
"""
    assert run_python(source, env={"PLAIT_JIT": "background", "PLAIT_CACHE": "0"}).stdout.split() == ["True"]


def test_threads_give_the_same_bits():
    x = plait.array(numpy.random.default_rng(0).standard_normal(300_000))
    before, bits = plait.get_num_threads(), set()
    try:
        for n in (1, 2, 3):
            plait.set_num_threads(n)
            assert plait.get_num_threads() == n
            bits.add((plait.sqrt(plait.abs(x)) * 3).sum().item())
    finally:
        plait.set_num_threads(before)
    assert len(bits) == 1
    with pytest.raises(ValueError):
        plait.set_num_threads(0)


def test_python_threads():
    failures = []

    def work(seed):
        x = numpy.random.default_rng(seed).standard_normal(20_000)
        for _ in range(20):
            y = plait.array(x)
            y[1:] += y[:-1] * 0.5
            expected = x.copy()
            expected[1:] += expected[:-1] * 0.5
            if not numpy.array_equal(numpy.asarray(y), expected):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failures


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork(run_python):
    source = """
import os, plait
x = plait.ones(200000); y = x * 2
assert y.sum() == 400000
z = x + 1
pid = os.fork()
if pid == 0:
    os._exit(0 if z.sum() == 400000 and (x * 3).sum() == 600000 else 1)
print(os.waitpid(pid, 0)[1], z.sum())
"""
    assert run_python(source, timeout=60).stdout.split() == ["0", "400000.0"]


def test_interpreter_exit_with_pending_work(run_python):
    done = run_python("import plait; x = plait.ones(100000) * 2; y = x.sum(); import numpy; z = numpy.asarray(x[1:])")
    assert done.returncode == 0 and not done.stderr


def test_interrupt(run_python):
    source = """
import signal, threading, os, time, plait
x = plait.ones(2_000_000)
def poke():
    time.sleep(0.5); os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=poke, daemon=True).start()
try:
    while True:
        plait.exp(plait.sin(x) * x).sum().item()
except KeyboardInterrupt:
    print("interrupted", x.sum())
"""
    assert run_python(source, timeout=60).stdout.strip() == "interrupted 2000000.0"


def test_out_of_memory_loses_nothing():
    x = plait.ones(50_000) * 2
    y = x + 1
    _plait.fail_allocation(0)
    try:
        with pytest.raises(MemoryError):
            y.sum().item() and numpy.asarray(y)
    finally:
        _plait.fail_allocation(-1)
    assert y.sum() == 150_000


def test_long_loops_run_in_constant_memory():
    x = plait.ones(2_000)
    for _ in range(20_000):
        x = x * 0.5 + 1
    assert plait.stats()["pending_nodes"] < 20_000
    assert abs(x[0] - 2) < 1e-12


def test_a_million_recorded_updates_run_in_constant_memory(run_python):
    source = """
import plait as np
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
x = np.ones(2_100)          # too large to be computed at once
most_pending = 0
for step in range(1_000_001):
    x += 1
    if step % 50_000 == 0:
        most_pending = max(most_pending, np.stats()["pending_nodes"])
    if step == 500_000:  # the allocator's own lists have grown to their size
        before = resident()
grown = resident() - before  # the last piece is shorter: its kernel is compiled by the read below
print(x[0] == 1_000_002, most_pending < 20_000, grown < 4 << 20)
"""
    # Compiled at once: what a background compiler allocates after the half would count as growth.
    done = run_python(source, timeout=300, env={"PLAIT_JIT": "blocking"})
    assert done.stdout.split() == ["True"] * 3, done.stdout + done.stderr


def test_views_rewritten_in_a_loop_run_in_constant_memory(run_python):
    source = """
import plait as np
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
x = np.ones(2_100)
for step in range(50_001):
    x[1:-1] = x[:-2] * 0.5 + x[2:] * 0.5
    if step == 10_000:
        before = resident()
print((x == 1).all(), resident() - before < 4 << 20)
"""
    # Without the JIT: when it loads depends on how fast the loop is.
    assert run_python(source, env={"PLAIT_JIT": "off"}, timeout=300).stdout.split() == ["True"] * 2


def test_a_long_loop_is_planned_in_whole_rounds(large):
    """Pieces of a recorded loop are cut at one call site, so that they share a plan."""
    x, total = plait.asarray(numpy.linspace(0.0, 1.0, 5000)), plait.zeros(5000)
    before = plait.stats()
    for _ in range(1600):
        total[1:] += x[1:] * 0.5 - total[:-1] * 0.25
        total *= 0.75
    value = float(total[-1])
    made = {k: plait.stats()[k] - before[k] for k in ("plans_made", "flushes")}
    assert made["flushes"] >= 4
    assert made["plans_made"] <= 4  # the first piece, the next ones, the last

    x, total = numpy.linspace(0.0, 1.0, 5000), numpy.zeros(5000)
    for _ in range(400):
        total[1:] += x[1:] * 0.5 - total[:-1] * 0.25
        total *= 0.75
    assert value == total[-1]


def test_own_code_is_mapped_at_import(run_python):
    """First calls need not wait for the pages of their code one by one."""
    source = """
import ctypes, re, sys
import plait
if ctypes.CDLL(None).madvise(None, 0, 22):  # MADV_POPULATE_READ, of Linux 5.14
    sys.exit()
for mapping in re.split(r"\\n(?=[0-9a-f]+-[0-9a-f]+ )", open("/proc/self/smaps").read()):
    if "/_plait." in mapping and " r-xp " in mapping:
        print(*(re.search(rf"^{name}: +(\\d+)", mapping, re.M)[1] for name in ("Rss", "Size")))
"""
    with open(_plait.__file__, "rb") as file:
        file.read()  # into memory
    done = run_python(source)
    assert done.returncode == 0 and not done.stderr, done.stderr
    if not done.stdout:
        pytest.skip("needs Linux 5.14")
    resident, size = map(int, done.stdout.split())
    assert resident > 0.95 * size


def test_a_chain_of_padded_stencils_ends_with_its_script(run_python):
    source = """
import plait as np
a = np.ones((70, 70))
for _ in range(200):
    p = np.pad(a, 1)
    a = sum(p[i : i + 70, j : j + 70] * 0.1 for i in range(3) for j in range(3))
print(float(a[0, 0]) > 0)
"""
    assert run_python(source, timeout=60).stdout.split() == ["True"]
