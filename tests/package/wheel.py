"""Run by CI with the Python of an environment that has the wheel and NumPy, and nothing else."""
import importlib.metadata
import pathlib

import numpy

import plait

package = pathlib.Path(plait.__file__).parent
files = sorted(p.name for p in package.iterdir())
assert any(f.startswith("_plait") for f in files), files
assert "libplait_jit.so" in files, files
for binary in package.glob("*.so*"):  # it is looked for beside the extension, and nowhere else
    assert b"/libplait_jit.so" not in binary.read_bytes(), binary

licences = {p.parent.name for p in importlib.metadata.files("plait") if p.name.startswith("LICENSE")}
assert {"licenses", "llvm", "gcc", "pybind11", "pocketfft"} <= licences, licences

rng = numpy.random.default_rng(1)
X, means = rng.standard_normal((5000, 2)), rng.standard_normal((4, 2))
want = numpy.argmin(numpy.linalg.norm(X - means[:, None], axis=2), axis=0)
got = plait.argmin(plait.linalg.norm(plait.asarray(X) - plait.asarray(means)[:, None], axis=2), axis=0)
assert numpy.array_equal(numpy.asarray(got), want)
print("the wheel computes k-means:", ", ".join(files))
