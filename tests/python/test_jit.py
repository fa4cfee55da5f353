import numpy
import numpy as np
import pytest
from numpy import linalg as la
from numpy import sqrt

import plait

counter = 0


def helper(x):
    assert type(x) is plait.ndarray
    return np.exp(-x)


def step(X, means):
    return np.argmin(np.linalg.norm(X - means[:, None], axis=2), axis=0)


def test_kmeans_step():
    X, means = numpy.random.default_rng(0).standard_normal((2, 500, 3))
    result = plait.jit(step)(X, means[:5])
    assert type(result) is numpy.ndarray
    numpy.testing.assert_array_equal(result, step(X, means[:5]))


def test_names_imported_from_numpy_and_helpers():
    @plait.jit
    def f(x, scale=2.0, *, shift=1):
        assert type(x) is plait.ndarray
        return sqrt(helper(x) * scale + shift), la.norm(x), {"max": np.max(x)}, [x.shape]

    x = numpy.linspace(0, 1, 10)
    root, norm, d, shapes = f(x, shift=2)
    numpy.testing.assert_allclose(root, numpy.sqrt(numpy.exp(-x) * 2 + 2), rtol=1e-14)
    assert isinstance(norm, numpy.float64) and d["max"] == 1.0 and shapes == [(10,)]
    assert f.__name__ == "f"


def test_writes_are_seen():
    @plait.jit
    def f(a, b):
        a[1:] += b[:-1]
        a[0] = -1
        return a

    host = numpy.arange(5.0)
    expected = host.copy()
    expected[1:] += expected.copy()[:-1]
    expected[0] = -1
    assert f(host, host) is host
    numpy.testing.assert_array_equal(host, expected)


def test_overlapping_arguments_have_one_storage():
    @plait.jit
    def f(a, tail):
        a += 1
        return tail * 2

    host = numpy.zeros(4)
    numpy.testing.assert_array_equal(f(host, host[1:]), [2, 2, 2])


def test_pending_readers_are_evaluated_on_return():
    kept = []

    @plait.jit
    def f(a):
        kept.append(a * 2)
        return 0

    host = numpy.ones(50_000)
    f(host)
    host[:] = 7
    assert kept[0].sum() == 100_000


def test_exceptions_and_globals():
    @plait.jit
    def f(a):
        global counter
        counter += 1
        return a + np.ones(7)

    with pytest.raises(ValueError, match="operands could not be broadcast together"):
        f(numpy.ones(3))
    assert counter == 1


def test_closures_and_recursion():
    module = np

    def outer(x, n):
        return x if n == 0 else outer(module.abs(x) + 1, n - 1)

    assert plait.jit(outer)(numpy.array([-1.0]), 3)[0] == 4.0


def test_plait_arguments_give_plait_results():
    assert type(plait.jit(lambda x: np.sqrt(x))(plait.ones(3))) is plait.ndarray


def test_explain():
    x = plait.ones(100_000) * 2
    first = plait.explain(plait.sqrt(x) + 1).splitlines()[0]
    assert first.split()[1].startswith("region")
    assert "region" in plait.explain(step, numpy.ones((1000, 2)), numpy.ones((3, 2)))


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


def test_runner_leaves_packages_on_numpy(tmp_path, run_python):
    package = tmp_path / "site-packages" / "third"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import numpy\nkind = numpy.__name__\n")
    (tmp_path / "main.py").write_text("import sys; sys.path.append(%r)\nimport third\nprint(third.kind)" % str(package.parent))
    assert run_python(None, "-m", "plait", str(tmp_path / "main.py")).stdout.strip() == "numpy"


def test_runner_exit_status(tmp_path, run_python):
    (tmp_path / "main.py").write_text("raise SystemExit(3)")
    assert run_python(None, "-m", "plait", str(tmp_path / "main.py")).returncode == 3
    assert run_python(None, "-m", "plait", str(tmp_path / "missing.py")).returncode == 2
