"""Every public name of NumPy is there, and what falls back says so."""

import ast
import inspect
import pathlib

import numpy
import pytest

import plait


@pytest.mark.parametrize("module", ["", "linalg", "fft", "random", "char", "strings", "rec", "polynomial", "testing", "lib", "ma",
                                    "lib.stride_tricks", "exceptions", "typing", "dtypes", "ctypeslib"])  # fmt: skip
def test_every_name(module):
    import importlib

    ours = importlib.import_module(f"plait.{module}".rstrip("."))
    theirs = importlib.import_module(f"numpy.{module}".rstrip("."))
    names = getattr(theirs, "__all__", None) or [n for n in dir(theirs) if not n.startswith("_")]
    missing = [n for n in names if not hasattr(ours, n)]
    assert not missing


def test_every_method():
    public = [n for n in dir(numpy.ndarray) if not n.startswith("_") or n.startswith("__")]
    missing = [n for n in public if not hasattr(plait.ndarray, n)]
    assert not missing


def test_star_import():
    scope = {}
    exec("from plait import *", scope)
    assert scope["sqrt"] is plait.sqrt and set(numpy.__all__) <= set(scope)


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'plait' has no attribute 'nonsense'"):
        plait.nonsense


@pytest.mark.parametrize("name", ["pi", "newaxis", "float32", "dtype", "inf", "finfo", "generic"])
def test_constants_and_types_are_numpys(name):
    assert getattr(plait, name) is getattr(numpy, name)


def test_fallback_log(run_python):
    source = "import plait as np\na = np.arange(5.0)\nfor i in range(3):\n    np.sort(a)\nb = a[[[0, 1]]]\nc = a + 1\n"
    lines = run_python(source, env={"PLAIT_LOG": "fallback"}).stderr.splitlines()
    assert [line.rpartition(" ")[2] for line in lines if "fallback" in line] == ["sort", "getitem"], lines
    assert "<string>:4" in lines[0]


def test_fallback_log_of_creation(run_python):
    calls = "np.array(['a'])", "np.array([1, 2], dtype='g')", "np.asarray([None])", "np.zeros(3, 'U5')", "np.array([1, 2])"
    source = "import plait as np\n" + "".join(f"{c}\n" for c in calls)
    lines = run_python(source, env={"PLAIT_LOG": "fallback"}).stderr.splitlines()
    assert [line.rpartition(":")[0][-1] + line.rpartition(":")[2] for line in lines] == ["2 array", "3 array", "4 array", "5 zeros"]


def test_fallback_log_of_methods_in_place(run_python):
    source = "import plait as np\na = np.arange(5.0)\na.sort()\na.view('V8')\na.flat[0]\na.resize(3)\na.view(a.dtype)\na.fill(2)\n"
    lines = run_python(source, env={"PLAIT_LOG": "fallback"}).stderr.splitlines()
    assert [line.partition("ndarray.")[2] for line in lines] == ["sort", "view", "flat", "resize"], lines


def test_random_gives_the_same_numbers():
    ours, theirs = plait.random.default_rng(3), numpy.random.default_rng(3)
    a = ours.standard_normal((2, 3))
    assert type(a) is plait.ndarray
    numpy.testing.assert_array_equal(a, theirs.standard_normal((2, 3)))
    plait.random.seed(1)
    a = plait.random.rand(4)
    numpy.random.seed(1)
    numpy.testing.assert_array_equal(a, numpy.random.rand(4))
    assert isinstance(ours, numpy.random.Generator)
    x = plait.arange(10)
    ours.shuffle(x)
    assert sorted(x.tolist()) == list(range(10))


def test_import_is_cheap(run_python):
    source = "import time, numpy; t = time.perf_counter(); import plait; print(time.perf_counter() - t)"
    assert float(run_python(source).stdout) < 0.5  # 50 ms on an idle machine


@pytest.mark.parametrize("ours, theirs", [(plait, numpy), (plait.ndarray, numpy.ndarray), (plait.linalg, numpy.linalg),
                                          (plait.random, numpy.random), (type(plait.add), numpy.ufunc)])  # fmt: skip
def test_help_has_a_text_for_every_name(ours, theirs):
    names = [n for n in dir(theirs) if not n.startswith("_") and getattr(theirs, n).__doc__ and hasattr(ours, n)]
    assert len(names) > 5
    assert not [n for n in names if not getattr(ours, n).__doc__]


@pytest.mark.parametrize("method", ["argsort", "cumsum", "take", "searchsorted"])
def test_completion_sees_the_arguments_of_methods(method):
    try:
        theirs = list(inspect.signature(getattr(numpy.ndarray, method)).parameters)
    except ValueError:
        pytest.skip("this NumPy's methods have no signatures")
    assert list(inspect.signature(getattr(plait.ndarray, method)).parameters) == theirs


def test_completion_sees_the_arguments_of_random_numbers():
    generator = plait.random.default_rng(0)
    assert list(inspect.signature(generator.normal).parameters) == ["loc", "scale", "size"]


def test_stubs_declare_what_is_ours():
    source = pathlib.Path(plait.__file__).with_suffix(".pyi").read_text()
    declared = set()
    for statement in ast.parse(source).body:
        declared.add(getattr(statement, "name", None) or getattr(getattr(statement, "target", None), "id", None))
    assert set(plait.__all__) - set(numpy.__all__) <= declared
    assert all(hasattr(plait, name) for name in declared if name and not name.startswith("_"))


def test_to_numpy_is_the_same_memory():
    a = plait.arange(6.0).reshape(2, 3)
    host = a.to_numpy()
    assert type(host) is numpy.ndarray and host.shape == (2, 3)
    host[0, 1] = 7
    assert a[0, 1] == 7
