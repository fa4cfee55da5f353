"""Threads that record, evaluate, read and write at the same time, and plait.jit in several of them."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy
import plait
import pytest


def together(work, threads=4):
    """Runs work(i) in threads that start at the same moment; their results, in order."""
    gate = threading.Barrier(threads)

    def run(i):
        gate.wait()
        return work(i)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))


def test_recording_goes_on_while_a_kernel_runs(run_python):
    # The thread that records would get nowhere if the evaluation held the recorder's lock. PLAIT_JIT=off makes the
    # evaluation last for seconds; what is counted is whether anything was recorded in it, not how much.
    source = """
import threading, numpy, plait
x = plait.array(numpy.ones(4_000_000))
y = x
for _ in range(60):
    y = plait.sin(y) + plait.arctan(y * x)
done = threading.Event()
counts = []
def record():
    z = plait.ones(2000)
    n = 0
    while not done.is_set():
        z * 2 + 1
        n += 1
    counts.append(n)
ready = threading.Event()
thread = threading.Thread(target=record)
thread.start()
plait.evaluate(y)
done.set()
thread.join()
print(counts[0] > 1000)
"""
    assert run_python(source, timeout=120, env={"PLAIT_JIT": "off"}).stdout.split() == ["True"]


def test_readers_of_one_array():
    x = plait.array(numpy.arange(300_000.0))
    y = plait.sqrt(x) * 2

    def work(i):
        return [float((y + k).sum()) for k in range(10)]

    reference = numpy.sqrt(numpy.arange(300_000.0)) * 2
    expected = [float((reference + k).sum()) for k in range(10)]
    assert together(work) == [expected] * 4


@pytest.mark.parametrize("outside", [False, True])
def test_writers_of_parts_of_one_array(outside):
    x = plait.zeros((4, 50_000))
    view = numpy.asarray(x) if outside else None  # an export makes every write happen at once

    def work(i):
        for k in range(20):
            x[i] += i + k * 0.5
            x[i, 1:] = x[i, :-1]

    together(work)
    expected = numpy.zeros((4, 50_000))
    for i in range(4):
        for k in range(20):
            expected[i] += i + k * 0.5
            expected[i, 1:] = expected[i, :-1].copy()
    assert numpy.array_equal(numpy.asarray(x), expected)
    assert view is None or numpy.array_equal(view, expected)


def test_jit_in_threads_borrows_one_input():
    x = numpy.arange(200_000.0)

    @plait.jit
    def step(a, k, out):
        out += a * k
        return (a * k).sum()

    def work(i):
        out = numpy.zeros_like(x)
        total = sum(step(x, float(i + 1), out) for _ in range(10))
        return total, out

    for i, (total, out) in enumerate(together(work)):
        assert numpy.array_equal(out, sum([x * (i + 1.0)] * 10))
        assert total == sum([(x * (i + 1.0)).sum()] * 10)


def test_arrays_dropped_by_other_threads():
    def work(i):
        made = [plait.arange(20_000.0) * (i + 1) for _ in range(50)]
        total = sum(float(m[k]) for k, m in enumerate(made))
        return total

    assert together(work) == [sum(range(50)) * (i + 1.0) for i in range(4)]


def test_a_thread_that_waits_for_its_turn_lets_others_run(run_python):
    # The second thread's loop fills the graph, so it has to evaluate and waits for the first; the third needs only
    # the interpreter's lock.
    source = """
import threading, time, numpy, plait
plait.set_num_threads(1)
x = plait.array(numpy.ones(4_000_000))
y = x
for _ in range(60):
    y = plait.sin(y) + plait.arctan(y * x)
done = threading.Event()
def fill():
    z = plait.ones(2000)
    while not done.is_set():
        z = z * 0.5 + 1
ticks = []
def tick():
    while not done.is_set():
        ticks.append(time.monotonic())
        time.sleep(0.01)
threads = [threading.Thread(target=fill), threading.Thread(target=tick)]
[t.start() for t in threads]
began = time.monotonic()
plait.evaluate(y)
ended = time.monotonic()
done.set()
[t.join() for t in threads]
print(sum(began < t < ended for t in ticks) > 5)
"""
    assert run_python(source, timeout=120, env={"PLAIT_JIT": "off"}).stdout.split() == ["True"]


def test_lists_of_arrays_that_other_threads_change(run_python):
    # NumPy reads a list in place: an array in it that lets another thread run gave it elements that were gone.
    source = """
import threading, plait as np
for read in (np.array, np.nditer, np.concatenate, lambda x: np.array(x, "f4"), lambda x: np.array(x, object), lambda x: np.add(x, 1)):
    arrays = [np.array([1, 2, 3]) for _ in range(500)]
    done = []
    def reading():
        try:
            for _ in range(30):
                try:
                    read(arrays)
                except (RuntimeError, ValueError):  # changed while it was measured
                    pass
        finally:
            done.append(1)
    def changing():
        while len(done) < 3:
            arrays.pop(0) if len(arrays) > 10 else arrays.extend([np.array([1, 2, 3]) for _ in range(500)])
    threads = [threading.Thread(target=f) for f in (reading, reading, reading, changing)]
    [t.start() for t in threads]
    [t.join() for t in threads]
print("read")
"""
    assert run_python(source, timeout=120).stdout.split() == ["read"]


def test_lists_of_arrays_keep_their_elements():
    x, y, record = plait.arange(2), plait.arange(3), plait.array([(1, plait.int64(2)), (3, 4)], dtype="i4,i8")
    made = plait.array([x, y], dtype=object)
    assert made[0] is x and made[1] is y
    assert plait.array([[x, x], [x + 1, x]]).tolist() == [[[0, 1], [0, 1]], [[1, 2], [0, 1]]]
    assert record["f1"].tolist() == [2, 4]
    assert plait.array([(1, plait.ones(2))], dtype="i4,2f8")["f1"].tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize(("module", "asks"), [("_flags", "x.flags.c_contiguous"), ("_flat", "len(x.flat) == 3")])
def test_two_threads_that_need_a_module_first(module, asks, run_python):
    source = f"""
import sys, threading, time
import plait

class Slow:
    def find_spec(self, name, *_):
        if name == "plait.{module}":
            asked.set()
            time.sleep(0.2)  # without the GIL, while the other thread asks, too

def ask():
    found.append({asks})

x, found, asked = plait.ones(3), [], threading.Event()
assert "plait.{module}" not in sys.modules
sys.meta_path.insert(0, Slow())
threads = [threading.Thread(target=ask) for _ in range(2)]
threads[0].start()
asked.wait()
threads[1].start()
for t in threads:
    t.join()
print(found)
"""
    assert run_python(source, timeout=30).stdout.strip() == "[True, True]"
