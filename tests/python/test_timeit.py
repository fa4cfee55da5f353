"""plait.timeit and %plait_timeit, and what IPython names: no time is asserted beside that there is one."""

import numpy as np
import plait
import pytest
from plait import _timeit


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(_timeit, "_SECONDS", 0.02)
    monkeypatch.setattr(_timeit, "_ROUND", 1e-4)
    monkeypatch.setattr(_timeit, "_WARM", 0.05)


def root(x):
    return np.sqrt(x * x + 1)


X = np.arange(5000.0)


def test_a_jitted_function_stands_beside_itself():
    calls = []

    def f(x):
        calls.append(type(x))
        return root(x)

    t = plait.timeit(plait.jit(f), X)
    assert t.first > 0 and 0 < t.best <= t.steady and t.numpy > 0 and t.ratio == t.numpy / t.steady and t.rounds >= 5
    assert {*calls} == {plait.ndarray, np.ndarray}
    lines = repr(t).splitlines()
    assert [line.split("  ")[0] for line in lines] == ["first call", "steady", "NumPy"]


def test_pending_values_are_computed():
    x = plait.arange(5000.0)
    plait.evaluate(x)
    before = plait.stats()["pending_nodes"]
    t = plait.timeit(lambda x: {"y": [x * 2 + 1]}, x)
    assert t.numpy > 0 and plait.stats()["pending_nodes"] == before


def test_a_function_that_is_not_jitted_is():
    t = plait.timeit(root, X)
    assert t.numpy > 0


def test_what_has_no_numpy_beside_it():
    t = plait.timeit(lambda: plait.arange(9.0) + 1)
    assert t.numpy is None and t.ratio is None and "NumPy" not in repr(t)


def test_errors_are_the_functions():
    def fails(x):
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        plait.timeit(fails, X)
    with pytest.raises(TypeError, match="timeit\\(\\) takes a callable, not int"):
        plait.timeit(3)


@pytest.fixture
def shell():
    embed = pytest.importorskip("IPython.core.interactiveshell")
    made = embed.InteractiveShell.instance()
    made.run_line_magic("load_ext", "plait")
    yield made
    made.reset()
    embed.InteractiveShell.clear_instance()


def test_the_magic_computes_what_it_times(shell):
    shell.run_cell("import plait as np\nx = np.arange(5000.0)\nk = 2")
    t = shell.run_line_magic("plait_timeit", "np.sqrt(x * k) + 1")
    assert t.numpy > 0 and t.first > 0
    t = shell.run_cell_magic("plait_timeit", "", "y = x + k\ny.sum()")
    assert t.steady > 0 and "y" not in shell.user_ns
    with pytest.raises(SyntaxError):
        shell.run_line_magic("plait_timeit", "x +")


def test_cells_are_places(shell):
    shell.run_cell("import plait as np\nx = np.arange(5000.0)", store_history=True)
    shell.run_cell("y = x + 1\nz = (\n    y * 2)\nplan = str(np.explain(z))", store_history=True)
    assert "Cell 2, line 3" in shell.user_ns["plan"] and "ipython-input" not in shell.user_ns["plan"]
