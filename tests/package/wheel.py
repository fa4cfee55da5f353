"""Run by scripts/wheels.sh with the Python of an environment that has the wheel and NumPy, and nothing else."""
import importlib.metadata
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

import plait

package = pathlib.Path(plait.__file__).parent
files = sorted(p.name for p in package.iterdir())
assert any(f.startswith("_plait") for f in files), files
assert "libplait_jit.so" in files, files
for binary in package.glob("*.so*"):  # it is looked for beside the extension, and nowhere else
    assert b"/libplait_jit.so" not in binary.read_bytes(), binary

# No library of the system comes along: GCC's OpenMP is the package's own.
assert {p.parts[0] for p in importlib.metadata.files("plait")} == {"plait", f"plait-{importlib.metadata.version('plait')}.dist-info"}

licences = {p.parent.name for p in importlib.metadata.files("plait") if p.name.startswith("LICENSE")}
assert {"licenses", "llvm", "gcc", "pybind11", "pocketfft"} <= licences, licences

rng = numpy.random.default_rng(1)
X, means = rng.standard_normal((5000, 2)), rng.standard_normal((4, 2))
want = numpy.argmin(numpy.linalg.norm(X - means[:, None], axis=2), axis=0)
got = plait.argmin(plait.linalg.norm(plait.asarray(X) - plait.asarray(means)[:, None], axis=2), axis=0)
assert numpy.array_equal(numpy.asarray(got), want)


@plait.jit
def assign(X, means):
    return numpy.argmin(numpy.linalg.norm(X - means[:, None], axis=2), axis=0)


@plait.jit
def collatz(starts):
    longest = 0
    for i in range(len(starts)):
        n, steps = starts[i], 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        longest = max(longest, steps)
    return longest


assert numpy.array_equal(assign(X, means), want)
assert collatz(numpy.arange(1, 1000)) == 178

with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, "assign.plait")
    plait.export(assign, (X, means), file)
    assert numpy.array_equal(plait.load(file)(X, means), want)

program = """
import plait
print(plait.asarray([3.0, 1.0, 2.0]).sum())
print(plait.apply_along_axis(lambda row: row[::-1], 0, plait.arange(3.0)))
"""
ran = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PLAIT_LOG": "fallback"}, capture_output=True, text=True, check=True)
assert ran.stdout == "6.0\n[2. 1. 0.]\n" and "apply_along_axis" in ran.stderr, ran
print(f"Python {sys.version.split()[0]}, NumPy {numpy.__version__}: k-means, jit, a loop of Python, export and load, the log;", ", ".join(f for f in files if ".so" in f))
