"""python -m plait.bench."""

import subprocess
import sys

from plait.bench import WORKLOADS


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "plait.bench", *arguments], capture_output=True, text=True, timeout=100)


def test_each_workload_has_a_row_of_figures():
    done = run("--seconds", "0", "--scale", "0.01")
    assert done.returncode == 0 and done.stderr == "", done.stderr  # progress is for terminals
    header, *rows, mean = done.stdout.splitlines()
    assert header.split() == ["milliseconds", "NumPy", "Plait", "first", "call", "times"]
    assert [r[:16].strip() for r in rows] == list(WORKLOADS) and mean.startswith("geometric mean")
    for row in rows:
        numpys, plaits, first, ratio = map(float, row[16:].split())
        assert numpys > 0 and first > 0 and abs(ratio * plaits / numpys - 1) < 0.02


def test_workloads_by_name():
    assert len(run("--seconds", "0", "--scale", "0.01", "heat equation").stdout.splitlines()) == 3
    unknown = run("k-mean")
    assert unknown.returncode == 2 and "there is no 'k-mean': k-means, " in unknown.stderr
