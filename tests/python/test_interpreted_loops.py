"""Python's own loops without the JIT: the interpreter runs them, of which tests with the JIT are the oracle."""
import pathlib

import pytest

OFF = {"PLAIT_JIT": "off"}
HERE = pathlib.Path(__file__).parent


# The same tests that machine code passes.
@pytest.mark.parametrize(
    "file", ["procedure", "procedure_random", "python_loop_combined", "python_loop_lists", "python_loop_modular", "python_loop_numerics", "python_loop_random", "python_loop_tables"]
)
def test_tests_of_machine_code(run_python, file):
    done = run_python(None, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / f"test_{file}.py"), env=OFF, timeout=600)
    assert done.returncode == 0 and "passed" in done.stdout and "skipped" not in done.stdout, done.stdout


LOOPS = """
import numpy as np, plait

@plait.jit
def triangle(n):
    count = 0
    for i in range(n):
        for j in range(i):
            count += (i ^ j) % 3
    return count

@plait.jit
def products(a, b):
    total = 0.0
    for i in range(len(a)):
        total += float(a[i] @ b)
    return total
"""


def test_what_the_interpreter_takes(run_python):
    source = LOOPS + """
print([triangle(1500) for _ in range(3)] == [sum((i ^ j) % 3 for i in range(1500) for j in range(i))] * 3)
products(np.ones((3000, 100)), np.ones(100))
"""
    done = run_python(source, env={**OFF, "PLAIT_LOG": "loops"})
    assert done.stdout.split() == ["True"]
    assert "triangle(): interpreted for" in done.stderr and "; no JIT" in done.stderr, done.stderr
    assert "the loop in products() stays Python's: NumPy computes whole arrays faster than the interpreter" in done.stderr
