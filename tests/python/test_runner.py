"""python -m plait: whole programs with Plait in NumPy's place."""

import os
import zipfile

import numpy as np
import plait
import pytest

SCRIPT = """
import sys
import numpy as np, numpy.linalg as la
from numpy import sqrt
import helper
a = np.arange(4.0)
print(type(a).__module__, type(sqrt(a)).__module__, type(helper.make()).__module__, la.norm(a), sys.argv[1:], __name__)
"""


def test_runner(tmp_path, run_python):
    (tmp_path / "main.py").write_text(SCRIPT)
    (tmp_path / "helper.py").write_text("import numpy\ndef make():\n    return numpy.ones(2)\n")
    done = run_python(None, "-m", "plait", str(tmp_path / "main.py"), "one", "--two")
    assert done.stdout.split(" ", 3)[:3] == ["plait"] * 3, done
    assert "['one', '--two'] __main__" in done.stdout


PROGRAM = """
import sys
import numpy as np
from __main__ import np as again
print(np.__name__, again is np, sys.argv, __name__, sys.path[0] == "", globals().get("__file__"), type(np.ones(2)).__module__)
"""


def test_runner_takes_code_and_standard_input(run_python, tmp_path):
    made = run_python(None, "-m", "plait", "-c", PROGRAM, "one", "-c")
    assert made.stdout == "plait True ['-c', 'one', '-c'] __main__ True None plait\n", made
    made = run_python(None, "-m", "plait", "-", "two", input=PROGRAM)
    assert made.stdout == "plait True ['-', 'two'] __main__ True <stdin> plait\n", made
    assert run_python(None, "-m", "plait", "-c", "raise SystemExit(5)").returncode == 5
    for option in ("-c", "-m"):
        made = run_python(None, "-m", "plait", option)
        assert made.returncode == 2 and f"Argument expected for the {option} option" in made.stderr
    assert run_python(None, "-m", "plait", "-q").returncode == 2


def test_runner_takes_modules_folders_and_archives(run_python, tmp_path):
    (tmp_path / "__main__.py").write_text("import tool")
    (tmp_path / "tool.py").write_text("import sys, numpy\nprint(numpy.__name__, sys.argv[1:], __name__)")
    assert run_python(None, "-m", "plait", str(tmp_path), "a").stdout == "plait ['a'] tool\n"
    made = run_python(None, "-m", "plait", "-m", "tool", "b", cwd=tmp_path)
    assert made.stdout == "plait ['b'] __main__\n", made
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as z:
        z.write(tmp_path / "tool.py", "__main__.py")
    assert run_python(None, "-m", "plait", str(tmp_path / "z.zip"), "c").stdout == "plait ['c'] __main__\n"


IDENTITY = """
import sys
print(__file__ if "__file__" in globals() else None, __loader__.__class__, __spec__ and __spec__.name, __package__, __builtins__.__class__)
print(sys.argv, sys.path[0], sys._getframe().f_code.co_filename, sys.modules["__main__"].__dict__ is globals())
"""


@pytest.mark.parametrize(
    "program",
    [["x.py", "a"], ["./x.py"], ["folder/../x.py"], ["link/x.py"], ["folder"], ["./z.zip", "b"], ["-m", "x", "c"], ["-m", "folder"],
     ["-c", IDENTITY, "d"], ["-m", "nothing"], ["link"], ["nothing.py"]],
)  # fmt: skip
def test_a_program_sees_itself_as_under_python(run_python, tmp_path, program):
    (tmp_path / "folder").mkdir()
    (tmp_path / "real" / "link").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real/link")
    for file in ("x.py", "real/link/x.py", "folder/__main__.py"):
        (tmp_path / file).write_text(IDENTITY)
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as z:
        z.write(tmp_path / "x.py", "__main__.py")
    theirs, ours = (run_python(None, *how, *program, cwd=tmp_path) for how in ((), ("-m", "plait")))
    assert ours.stdout == theirs.stdout
    # Python names itself in front of what it could not run.
    assert ours.returncode == theirs.returncode and ours.stderr.split(": ", 1)[-1] == theirs.stderr.split(": ", 1)[-1]


def test_runner_tells_its_version_and_options(run_python):
    for option in ("-V", "--version"):
        assert run_python(None, "-m", "plait", option).stdout.startswith(
            f"Plait {plait.__plait_version__} (NumPy {np.__version__}, Python 3."
        )
    for option in ("-h", "--help"):
        made = run_python(None, "-m", "plait", option)
        assert made.returncode == 0 and all(word in made.stdout for word in ("-c code", "-m module", "--version"))
    made = run_python(None, "-m", "plait")
    assert made.returncode == 2 and made.stdout.startswith("usage: ")


def test_runner_shows_exceptions_as_python_does(run_python, tmp_path):
    (tmp_path / "main.py").write_text("import numpy\ndef f():\n    numpy.ones(3) + numpy.ones(2)\nf()\n")
    (theirs, ours) = (run_python(None, *how, str(tmp_path / "main.py")) for how in ((), ("-m", "plait")))
    assert ours.returncode == theirs.returncode == 1 and ours.stderr == theirs.stderr
    made = run_python(None, "-m", "plait", "-c", "x = 1\n1 / 0")
    assert made.returncode == 1 and made.stderr.splitlines()[1].strip() == 'File "<string>", line 2, in <module>'


def test_runner_leaves_packages_on_numpy(tmp_path, run_python):
    package = tmp_path / "site-packages" / "third"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import numpy\nkind = numpy.__name__\n")
    (tmp_path / "main.py").write_text("import sys; sys.path.append(%r)\nimport third\nprint(third.kind)" % str(package.parent))
    assert run_python(None, "-m", "plait", str(tmp_path / "main.py")).stdout.strip() == "numpy"


def test_runner_takes_the_users_own_library(tmp_path, run_python):
    for folder in ("mylib", "lib", "not-site-packages"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own.py").write_text("import numpy\nprint(numpy.__name__)")
        (tmp_path / "main.py").write_text("import own")
        path = os.pathsep.join([str(tmp_path / folder), os.environ["PYTHONPATH"]])
        done = run_python(None, "-m", "plait", str(tmp_path / "main.py"), env={"PYTHONPATH": path})
        assert done.stdout.strip() == "plait", done


def test_runner_reads_what_numpy_pickled(tmp_path, run_python):
    # The first import of the old name is pickle's, which looks for the module under that name then.
    (tmp_path / "main.py").write_text(
        "import pickle\nprint(pickle.loads(b'cnumpy.core.multiarray\\nscalar\\n.').__name__)\nimport numpy\nprint(numpy.__name__)\n"
    )
    done = run_python(None, "-W", "ignore", "-m", "plait", str(tmp_path / "main.py"))
    assert done.stdout.split() == ["scalar", "plait"], done.stderr


def test_runner_sees_imports_by_function(tmp_path, run_python):
    package = tmp_path / "site-packages"
    package.mkdir()
    (package / "third.py").write_text("import importlib\nkind = importlib.import_module('numpy').__name__, __import__('numpy').__name__\n")
    (tmp_path / "main.py").write_text(
        "import importlib, sys\nfrom importlib import import_module\n"
        f"sys.path.append({str(package)!r})\nimport third\n"
        "print(import_module('numpy').__name__, importlib.import_module('.linalg', 'numpy').__name__, __import__('numpy').__name__)\n"
        "print(third.kind, import_module('json').__name__)\n"
        "try:\n    import_module('.json')\nexcept TypeError:\n    print('as importlib')\n"
    )
    lines = run_python(None, "-m", "plait", str(tmp_path / "main.py")).stdout.splitlines()
    assert lines == ["plait plait.linalg plait", "('numpy', 'numpy') json", "as importlib"]


def test_runner_exit_status(tmp_path, run_python):
    (tmp_path / "main.py").write_text("raise SystemExit(3)")
    assert run_python(None, "-m", "plait", str(tmp_path / "main.py")).returncode == 3
    assert run_python(None, "-m", "plait", str(tmp_path / "missing.py")).returncode == 2


def test_numpys_scalars_take_what_an_array_method_gives(run_python):
    source = """
import numpy as np
class V:
    def __array__(self, dtype=None, copy=None): return np.arange(3.0)
class W(V):
    def __array__(self, *args, **kwargs): return super().__array__(*args, **kwargs) + 1
class Array(np.ndarray):
    def __array__(self, *args, **kwargs): return super().__array__(*args, **kwargs)
class X(V):
    def __array__(self, dtype=None, copy=None): return np.arange(3.0)
    def __array_wrap__(self, array, context=None, return_scalar=False):
        return type(array) is np.ndarray, array.tolist(), context[0] is np.minimum, [x is self for x in context[1]], return_scalar
x = X()
print(np.minimum(x, x))
print(np.float64(2) * V(), np.float32(2) + W(), np.int64(1) - W(), np.arange(3.0) + V(), np.array([V(), W()]).tolist(), np.arange(3.0).view(Array) * 2)
"""
    ours, theirs = run_python(None, "-m", "plait", "-c", source), run_python(source)
    assert ours.stdout == theirs.stdout and ours.returncode == 0, ours.stderr
