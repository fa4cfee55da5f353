"""Python's own loops without the JIT: the interpreter runs them, of which tests with the JIT are the oracle."""
import pathlib

import pytest

OFF = {"PLAIT_JIT": "off"}
HERE = pathlib.Path(__file__).parent


# The same tests that machine code passes.
@pytest.mark.parametrize(
    "file", ["procedure", "procedure_random", "python_loop_modular", "python_loop_random", "python_loop_tables"]
)
def test_tests_of_machine_code(run_python, file):
    done = run_python(None, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / f"test_{file}.py"), env=OFF, timeout=600)
    assert done.returncode == 0 and "passed" in done.stdout and "skipped" not in done.stdout, done.stdout


SOURCE = """
import numpy as np, plait

@plait.jit
def recurrence(x):
    for i in range(1, len(x)):
        x[i] += 0.5 * x[i - 1]

@plait.jit
def products(a, b):
    total = 0.0
    for i in range(len(a)):
        total += float(a[i] @ b)
    return total

@plait.jit
def triangle(n):
    count = 0
    for i in range(n):
        for j in range(i):
            count += (i ^ j) % 3
    return count

ours, want = np.arange(50000.0), np.arange(50000.0)
recurrence(ours)
for i in range(1, len(want)):
    want[i] += 0.5 * want[i - 1]
print(np.array_equal(ours, want))
products(np.ones((3000, 100)), np.ones(100))
triangle(500)
"""


def test_what_the_interpreter_takes(run_python, tmp_path):
    """Elements of arrays, which it has faster than Python."""
    file = tmp_path / "loops.py"
    file.write_text(SOURCE)
    done = run_python(None, str(file), env={**OFF, "PLAIT_LOG": "loops"})
    assert done.stdout.split() == ["True"]
    assert "recurrence(): interpreted for" in done.stderr and "; no JIT" in done.stderr, done.stderr
    for name in ("products", "triangle"):
        assert f"the loop in {name}() stays Python's: there is no JIT, and the interpreter is no faster" in done.stderr, done.stderr
