"""Threads that cannot be had, and CPUs that are not there: a loop runs on fewer."""

import os

import pytest

if not hasattr(os, "sched_setaffinity"):
    pytest.skip("needs Linux", allow_module_level=True)

# Short loops, and one of the length that is OpenMP's.
WORK = """
import os, resource, sys, numpy
import plait as np
np.set_num_threads(4)
a = np.arange(300_000.0)
def short():
    return float(np.sqrt(a * 2 + 1).sum())
def long():
    y = a
    for _ in range(60):
        y = np.sin(y) + np.arctan(y * a)
    return float(y.sum())
def threads():
    return len(os.listdir("/proc/self/task"))
expected = float(numpy.sqrt(numpy.arange(300_000.0) * 2 + 1).sum())
"""


def lines(run_python, source, **env):
    # A BLAS starts threads of its own.
    done = run_python(WORK + source, timeout=120, env={"PLAIT_JIT": "off", "OPENBLAS_NUM_THREADS": "1", **env})
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.split()


@pytest.mark.parametrize("room", [0, 1, 2])
@pytest.mark.parametrize("team", ["", "always"])
def test_no_thread_can_be_created(run_python, room, team):
    if os.getuid() != 0:
        pytest.skip("the number of processes of a user that has none can only be limited by root")
    source = f"""
resource.setrlimit(resource.RLIMIT_NPROC, (1 + {room}, 1 + {room}))
os.setuid(54_321)   # a user with no other process
first = [short() == expected for _ in range(5)]
print(all(first), long() == long(), short() == expected, threads() <= 1 + {room})
"""
    assert lines(run_python, source, PLAIT_TEAM=team) == ["True"] * 4


def test_no_memory_for_stacks(run_python):
    source = """
warm = short(), long()
def used():
    return int(next(l for l in open("/proc/self/status") if l.startswith("VmSize")).split()[1]) << 10
if os.fork() == 0:   # without the helpers that are there already
    resource.setrlimit(resource.RLIMIT_AS, (used() + (3 << 20), resource.RLIM_INFINITY))
    os._exit(0 if [short() for _ in range(3)] == [expected] * 3 and long() == warm[1] else 1)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    assert lines(run_python, source, PYTHONWARNINGS="ignore") == ["0"]


def test_one_cpu_starts_no_helper(run_python):
    source = """
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
before = threads()
print(short() == expected, long() == long(), threads() - before)
"""
    assert lines(run_python, source) == ["True", "True", "0"]


def test_a_quota_of_one_cpu_starts_no_helper(run_python):
    """In a control group of its own, where one can be made."""
    v2 = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
    group = f"/sys/fs/cgroup/{'' if v2 else 'cpu/'}plait-test-{os.getpid()}"
    try:
        os.mkdir(group)
    except OSError as why:
        pytest.skip(f"no control group can be made: {why}")
    try:
        try:
            name, text = ("cpu.max", "100000 100000") if v2 else ("cpu.cfs_quota_us", "100000")
            with open(f"{group}/{name}", "w") as f:
                f.write(text)
        except OSError as why:
            pytest.skip(f"no quota can be set: {why}")
        source = f"""
before = threads()
open("{group}/cgroup.procs", "w").write(str(os.getpid()))
print(short() == expected, long() == long(), threads() - before)
"""
        assert lines(run_python, source) == ["True", "True", "0"]
    finally:
        os.rmdir(group)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_do_not_depend_on_who_runs_what(run_python, threads):
    """Every loop cut into its smallest pieces and shared, against one thread."""
    source = """
rng = numpy.random.default_rng(0)
def results():
    x = np.asarray(rng.standard_normal((97, 331)))
    y = np.asarray(rng.standard_normal((331, 97)))
    z = x.copy()
    z[1:] += z[:-1] * 0.5
    z[:, 1:-1] = (x[:, 2:] - x[:, :-2]) / 2
    big = np.asarray(rng.standard_normal((1200, 260)))
    big[1:-1] += 0.25 * (big[2:] + big[:-2])
    return [x.sum(), x.sum(0), x.T.sum(0), np.exp(x).mean(1), (x @ y).sum(1), (x @ x.T).max(0), z, big, big.sum(),
            np.linalg.norm(x[:, None, :5] - x[None, :, :5], axis=2).argmin(1), (x > 3).any(), x.argmax(), np.float32(1) * x]
import hashlib
print(hashlib.sha256(b"".join(numpy.ascontiguousarray(r).tobytes() for r in results())).hexdigest())
"""
    source = source.replace("rng = ", f"np.set_num_threads({threads})\nrng = ")
    shared = lines(run_python, source, PLAIT_TEAM="always", PLAIT_EAGER_LIMIT="0")
    alone = lines(run_python, source.replace(f"({threads})", "(1)"), PLAIT_EAGER_LIMIT="0")
    assert shared == alone
