"""python -m plait.bench."""

import subprocess
import sys


def python(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=100)


def run(*arguments):
    return python("-m", "plait.bench", *arguments)


def test_each_workload_has_a_row_of_figures():
    done = run("--seconds", "0", "--scale", "0.01")
    assert done.returncode == 0 and done.stderr == "", done.stderr  # progress is for terminals
    names = python("-c", "from plait.bench import WORKLOADS; print(*WORKLOADS, sep='\\n')").stdout.splitlines()
    header, *rows, mean = done.stdout.splitlines()
    assert header.split() == ["milliseconds", "NumPy", "Plait", "first", "call", "times"]
    assert [r[:16].strip() for r in rows] == names and mean.startswith("geometric mean")
    for row in rows:
        numpys, plaits, first, ratio = map(float, row[16:].split())
        assert numpys > 0 and first > 0 and abs(ratio * plaits / numpys - 1) < 0.02


def test_workloads_by_name():
    assert len(run("--seconds", "0", "--scale", "0.01", "heat equation").stdout.splitlines()) == 3
    unknown = run("k-mean")
    assert unknown.returncode == 2 and "there is no 'k-mean': k-means, " in unknown.stderr
