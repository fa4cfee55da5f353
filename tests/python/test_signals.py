"""Signals other than Ctrl-C in the middle of long work: those that have a handler of Python's are handled there, and work goes on where it raises nothing."""

LONG = """
import os, signal, sys, threading, time, numpy as np, plait
from plait._python_loops import codes, going_over
going_over.WORTH = 0.0

class Late(Exception):
    pass
def late(*_):
    raise Late
signal.signal(signal.SIGUSR1, late)  # set before and behind the work's first run

host = np.random.default_rng(0).standard_normal
row, column = plait.array(host((1, 1, 100_000))), plait.array(host((1, 300_000, 1)))
points, matrix = plait.array(host((30_000, 2))), plait.array(np.ones((6000, 6000)))

@plait.jit
def loops(n):
    s = 0
    for i in range(n):
        for j in range(n):
            s = (s + i * j) % 1009
    return s

@plait.jit
def parts(x, n):
    for i in range(len(x)):
        for j in range(n):
            x[i] = (x[i] * 3 + j) % 1009.0
    return x

def compiled(f, *args):
    while not any(code.runs for loop in plait._jit.loops_of(f) for code in loop.codes.values()):
        f(*args)

compiled(loops, 200)
compiled(parts, np.ones(300), 50)
works = {
    "loop": lambda: loops(10**7),
    "parts": lambda: parts(np.ones(10**6), 10**6),
    "region": lambda: plait.abs(row * column + 1).max((1, 2))[0].item(),
    "product": lambda: (matrix @ matrix).sum().item(),
    "into NumPy": lambda: np.asarray(plait.sqrt(((points[:, None] - points) ** 2).sum(2) + 1)),
}
"""

RAISING = """
for threads, name in [(n, name) for n in (1, 2) for name in works]:
    plait.set_num_threads(threads)
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGUSR1, signal.SIGINT):
        if number != signal.SIGUSR1:
            signal.signal(number, late)
        threading.Thread(target=lambda: (time.sleep(0.06), os.kill(os.getpid(), number)), daemon=True).start()
        try:
            works[name]()
            print(threads, name, number.name, "ran to its end")
        except Late:
            pass
print("done")
"""

RETURNING = """
seen = []
small, tall = plait.array(host((1, 3000))), plait.array(host((9000, 1)))
table = {
    "loop": lambda: loops(8_000),
    "parts": lambda: parts(np.ones(500), 30_000).sum(),
    "region": lambda: float(plait.abs(small * tall + 1).max(1).sum().item()),
    "a long one": lambda: sum(float(plait.sin(small * tall + k).sum().item()) for k in range(4)),
}
want = {name: work() for name, work in table.items()}
signal.signal(signal.SIGALRM, lambda *_: seen.append(float(plait.arange(5.0).sum().item())))
for threads, name in [(n, name) for n in (1, 2) for name in table]:
    plait.set_num_threads(threads)
    seen.clear()
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    try:
        got = table[name]()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    print(threads, name, got == want[name], len(seen) > 0, set(seen) == {10.0})
"""


def test_a_handler_that_raises_ends_the_work(run_python, tmp_path):
    file = tmp_path / "script.py"
    file.write_text(LONG + RAISING)
    done = run_python(None, str(file), timeout=100)
    assert done.stdout == "done\n", (done.stdout, done.stderr)


def test_a_handler_that_returns_lets_it_go_on(run_python, tmp_path):
    """Also where it comes again before the work has ended, and computes something itself."""
    file = tmp_path / "script.py"
    file.write_text(LONG + RETURNING)
    done = run_python(None, str(file), timeout=100)
    assert [line.rsplit(" ", 3)[1:] for line in done.stdout.splitlines()] == [["True"] * 3] * 8, (done.stdout, done.stderr)


def test_handlers_are_whose_they_were(run_python):
    source = """
import signal
before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
import plait
print(before == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)))
f = lambda *_: None
print(signal.signal(signal.SIGTERM, f) == signal.SIG_DFL, signal.getsignal(signal.SIGTERM) is f)
print(signal.signal(signal.SIGTERM, signal.SIG_IGN) is f, signal.signal(signal.SIGTERM, signal.SIG_DFL) == signal.SIG_IGN)
for wrong in ((signal.SIGTERM, 3.5), (10**6, f), (signal.SIGKILL, f)):
    try:
        signal.signal(*wrong)
    except (TypeError, ValueError, OSError) as e:
        print(type(e).__name__)
"""
    done = run_python(source)
    assert done.stdout.split() == ["True"] * 5 + ["TypeError", "ValueError", "OSError"], done.stderr
