"""Processes that fork, run another program or end while Plait is in the middle of something."""

import os

import pytest

if not hasattr(os, "fork"):
    pytest.skip("needs fork", allow_module_level=True)

# A child that has to answer: check() gives 0 for the right values, and a child that hangs is killed and shows as 'hangs'.
CHILD = """
import os, signal, sys, threading, time
import plait as np

def check(x):
    y = np.sqrt(x * x + 1) - 1
    y[1:] += y[:-1]
    expected = (2 ** 0.5 - 1) * (2 * x.size - 1)
    return 0 if abs(y.sum().item() - expected) < 1e-6 * x.size and (x * 3).sum().item() == 3 * x.size else 1

def fork(x, body=check):
    pid = os.fork()
    if pid == 0:
        code = 2
        try:
            code = body(x)
        finally:
            os._exit(code)
    return pid

def wait(pid, limit=30):
    end = time.time() + limit
    while time.time() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "hangs"

def new_kernels(n):
    "Graphs that were not seen before: each one is planned, and compiled in the background."
    np.config.plan = "always"
    x = np.ones(60_000 + n)
    y = x
    for i in range(n % 7 + 2):
        y = np.maximum(y * 0.5 + x, y) if (n >> i) & 1 else np.abs(y - x) + 1
    return y.sum()
"""


def answers(run_python, source, timeout=150, **env):
    env = {"PLAIT_CACHE": "0", "PYTHONWARNINGS": "ignore::DeprecationWarning", **env}  # Python 3.12 warns of forks beside threads
    done = run_python(CHILD + source, timeout=timeout, env=env)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


def test_while_the_compiler_is_busy(run_python):
    """The child has neither the compile thread nor what it was compiling, and starts its own."""
    source = """
x = np.ones(50_000)
results = []
for n in range(24):
    for k in range(4):
        new_kernels(8 * n + k).item()
    results.append(wait(fork(x)))
print(*results, check(x))
"""
    assert answers(run_python, source) == ["0"] * 25


def test_while_the_compiler_is_loaded(run_python):
    """Each of the children forks one of its own as soon as its first kernel is asked for, while its compile thread loads LLVM."""
    source = """
def first_kernel(x):
    before = np.stats()["kernels_compiled"]
    n = 0
    while np.stats()["kernels_compiled"] == before:
        new_kernels(n).item()
        n += 1
    return wait(fork(x))
x = np.ones(50_000)
print(*[wait(fork(x, first_kernel)) for _ in range(12)])
"""
    assert answers(run_python, source) == ["0"] * 12


def test_while_another_thread_evaluates(run_python):
    source = """
x = np.ones(200_000)
going = True
def evaluate():
    n = 0
    while going:
        n += 1
        new_kernels(n % 40).item()
        (np.exp(-x) * x).sum().item()
threads = [threading.Thread(target=evaluate) for _ in range(2)]
[t.start() for t in threads]
results = []
for _ in range(25):
    time.sleep(0.003)
    results.append(wait(fork(x)))
going = False
[t.join() for t in threads]
print(*results, check(x))
"""
    assert answers(run_python, source) == ["0"] * 26


def test_while_another_thread_records_and_writes(run_python):
    source = """
x = np.ones(50_000)
going = True
def record():
    z = np.zeros(300)
    while going:
        z = z + 1
        z[2:] *= 0.5
thread = threading.Thread(target=record)
thread.start()
results = [wait(fork(x)) for _ in range(25)]
going = False
thread.join()
print(*results, check(x))
"""
    assert answers(run_python, source) == ["0"] * 26


def test_children_of_children_and_pending_work(run_python):
    source = """
x = np.ones(100_000)
pending = np.cos(x * 0) + x          # recorded before the fork, evaluated on both sides
def twice(x):
    below = wait(fork(x, lambda x: 0 if (pending * 2).sum().item() == 400_000 and check(x) == 0 else 1))
    return below or (0 if pending.sum().item() == 200_000 else 1)
print(wait(fork(x, twice)), pending.sum().item())
"""
    assert answers(run_python, source) == ["0", "200000.0"]


def test_pool_of_forked_workers(run_python):
    source = """
import multiprocessing
def work(n):
    x = np.arange(float(n))
    return float(((x - x.mean()) ** 2).sum())
np.ones(100_000).sum().item()        # the parent has a team and a compiler
with multiprocessing.get_context("fork").Pool(3) as pool:
    got = pool.map(work, range(20_000, 20_012))
print(got == [work(n) for n in range(20_000, 20_012)])
"""
    assert answers(run_python, source) == ["True"]


def test_another_program_runs_while_the_compiler_is_busy(run_python):
    source = """
import subprocess
x = np.ones(50_000)
results = []
for n in range(8):
    for k in range(4):
        new_kernels(8 * n + k).item()
    pid = os.fork()
    if pid == 0:
        os.execv("/bin/true", ["/bin/true"])
    results.append(wait(pid))
    results.append(subprocess.run(["/bin/true"]).returncode)
print(*results, check(x))
"""
    assert answers(run_python, source) == ["0"] * 17


@pytest.mark.parametrize("end", ["sys.exit(0)", "raise SystemExit", "pass", "os._exit(0)"])
def test_exit_while_the_compiler_is_busy(run_python, end):
    """The kernel in work is waited for, the rest is forgotten; nothing is written to standard error."""
    source = f"""
for n in range(60):
    new_kernels(n).item()
sys.stdout.write("last line"); sys.stdout.flush()
{end}
"""
    for _ in range(3):
        assert answers(run_python, source) == ["last", "line"]


def test_exit_with_threads_that_still_evaluate(run_python):
    source = """
x = np.ones(300_000)
def evaluate():
    n = 0
    while True:
        n += 1
        new_kernels(n % 40).item()
for _ in range(2):
    threading.Thread(target=evaluate, daemon=True).start()
time.sleep(0.2)
print("last line")
"""
    for _ in range(4):
        assert answers(run_python, source) == ["last", "line"]


@pytest.mark.parametrize("trace", ["", os.devnull])
def test_a_child_of_a_process_that_plans_and_compiles_in_the_background(run_python, trace):
    source = """
import os, random, threading, numpy, plait as np
def work(seed):
    rng = random.Random(seed)
    want = numpy.arange(float(rng.randrange(3000, 9000)))
    x = np.array(want)
    operations = [rng.randrange(4) for _ in range(rng.randrange(3, 60))]
    def f(np, x):
        y = x
        for o in operations:
            y = [lambda: y + 1.5, lambda: np.sqrt(abs(y)), lambda: np.maximum(y, x), lambda: y[::-1] - x * 2][o]()
        return y
    for _ in range(4):
        numpy.testing.assert_array_equal(numpy.asarray(f(np, x)), f(numpy, want))
threads = [threading.Thread(target=lambda s=s: [work(100 * s + i) for i in range(15)]) for s in range(2)]
for t in threads: t.start()
children = []
for i in range(12):
    work(1000 + i)
    if (child := os.fork()) == 0:
        for j in range(3): work(2000 + 10 * i + j)
        raise SystemExit
    children.append(child)
assert all(os.waitpid(c, 0)[1] == 0 for c in children)
for t in threads: t.join()
"""
    done = run_python(source, "-W", "ignore", timeout=60, env={"PLAIT_TRACE": trace})
    assert done.returncode == 0, done.stderr


def test_random_numbers_of_two_threads(run_python):
    """The thread that draws the second half is the parent's."""
    source = """
np.set_num_threads(2)
g = np.random.default_rng(1)
def draw(x):
    return 0 if g.random(1 << 19).sum().item() == expected else 1
expected = np.random.default_rng(1).random(1 << 20)[1 << 19:].sum().item()
g.random(1 << 19)
print(wait(fork(None, draw)), draw(None))
"""
    assert answers(run_python, source) == ["0", "0"]
