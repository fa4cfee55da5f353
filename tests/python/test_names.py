"""Every public name of NumPy is there, and what falls back says so."""

import ast
import inspect
import pathlib
import pydoc
import subprocess
import sys

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
    source = "import plait as np\na = np.arange(5.0)\nfor i in range(3):\n    np.partition(a, 2)\nb = a[True]\nc = a + 1\n"
    lines = run_python(source, env={"PLAIT_LOG": "fallback"}).stderr.splitlines()
    assert [line.split(": ", 1)[1] for line in lines if "fallback" in line] == ["partition", "getitem: boolean mask"], lines
    assert "<string>:4" in lines[0]


def test_fallback_log_says_what_kind_of_key(run_python):
    keys = {"s[1:, [0, 1]]": "getitem: integer array in a list", "s[np.array([0, 1]), np.array([1, 1])]": "getitem: integer array",
            "s[m]": "getitem: boolean mask", "s[None, [True, False, True]]": "getitem: boolean mask in a list",
            "s[m] = 1": "setitem: boolean mask", "s['x']": "getitem: field"}  # fmt: skip
    source = "import plait as np\nm = np.ones((3, 4), bool)\ns = np.asarray(np.zeros((3, 4), [('x', 'f8')]))\n" + "\n".join(keys)
    lines = run_python(source, env={"PLAIT_LOG": "fallback"}).stderr.splitlines()
    assert [line.split(": ", 1)[1] for line in lines if "item" in line] == list(keys.values()), lines


def test_versions(capsys):
    assert plait.__version__ == numpy.__version__ and plait.__plait_version__ == plait._plait.__version__
    plait.show_config()
    text = capsys.readouterr().out
    assert f"version: {plait.__plait_version__}" in text and "threads: " in text and "BLAS" in text
    assert plait.show_config("dicts")["Plait"]["version"] == plait.__plait_version__


def test_fallback_log_of_creation(run_python):
    calls = "np.array(['a'])", "np.array([1, 2], dtype='g')", "np.asarray([None])", "np.zeros(3, 'U5')", "np.array([1, 2])"
    source = "import plait as np\n" + "".join(f"{c}\n" for c in calls)
    lines = run_python(source, env={"PLAIT_LOG": "fallback"}).stderr.splitlines()
    assert [line.rpartition(":")[0][-1] + line.rpartition(":")[2] for line in lines] == ["2 array", "3 array", "4 array", "5 zeros"]


def test_fallback_log_of_methods_in_place(run_python):
    source = "import plait as np\na = np.arange(5.0)\na.partition(2)\na.view('V8')\na.flat[[0]]\na.resize(3)\na.view(a.dtype)\na.fill(2)\n"
    lines = run_python(source, env={"PLAIT_LOG": "fallback"}).stderr.splitlines()
    assert [line.partition("ndarray.")[2] for line in lines] == ["partition", "view", "flat", "resize"], lines


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


# In an interpreter of its own: SciPy writes to the docstrings of NumPy's functions.
DESCRIBED = """
import inspect
import numpy, plait

def signature(function):
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):
        return None

def numpys_part(doc):  # without the paragraph on what Plait does beside
    return "\\n\\n".join(p for p in inspect.cleandoc(doc or "").split("\\n\\n") if not p.startswith("In Plait: ")).rstrip()

compared = 0
for ours, theirs in [(plait, numpy), (plait.ndarray, numpy.ndarray), (plait.linalg, numpy.linalg), (plait.fft, numpy.fft),
                     (plait.random, numpy.random), (plait.random.Generator, numpy.random.Generator)]:
    for name in dir(theirs):
        function = getattr(theirs, name, None)
        if name.startswith("_") or name == "test" or not callable(function) or isinstance(function, type) or not hasattr(ours, name):
            continue
        mine = getattr(ours, name)
        compared += 1
        if signature(mine) != signature(function) or not numpys_part(mine.__doc__).startswith(numpys_part(function.__doc__)):
            print(theirs.__name__, name)
assert compared > 500
"""


def test_functions_have_numpys_signature_and_docstring(run_python):
    made = run_python(DESCRIBED)
    assert (made.stdout, made.returncode) == ("", 0), made.stderr


def test_help_shows_numpys_signature():
    text = pydoc.plain(pydoc.render_doc(plait.where))
    assert "where" + str(inspect.signature(numpy.where)) in text and "Return elements chosen from" in text
    assert plait.arange.__text_signature__ == numpy.arange.__text_signature__
    assert plait.array.__doc__.count("In Plait: ") == 1
    assert [plait.load.__doc__.split("\n\n")[1][:10], plait.trace.__doc__.split("\n\n")[1][:10]] == ["In Plait: "] * 2


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
    declared, of_numpy = set(), set()
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "numpy":
            of_numpy |= {name.asname for name in statement.names}
        declared.add(getattr(statement, "name", None) or getattr(getattr(statement, "target", None), "id", None))
    assert set(plait.__all__) - set(numpy.__all__) <= declared
    assert set(numpy.__all__) - {"dtype"} <= declared | of_numpy and not declared & of_numpy
    assert all(hasattr(plait, name) for name in declared if name and not name.startswith("_"))


def test_stubs_have_the_settings_types():
    body = ast.parse(pathlib.Path(plait.__file__).with_suffix(".pyi").read_text()).body
    (config,) = [s for s in body if isinstance(s, ast.ClassDef) and s.name == "_Config"]
    types = {s.target.id: ast.unparse(s.annotation).replace("builtins.", "") for s in config.body}
    assert types.keys() == {n for n in dir(plait.config) if not n.startswith("_")}
    for name, text in types.items():
        value = getattr(plait.config, name)
        kinds = {"str"} if text.startswith("Literal") else {*text.split(" | ")}
        assert ("None" if value is None else type(value).__name__) in kinds, name


def test_to_numpy_is_the_same_memory():
    a = plait.arange(6.0).reshape(2, 3)
    host = a.to_numpy()
    assert type(host) is numpy.ndarray and host.shape == (2, 3)
    host[0, 1] = 7
    assert a[0, 1] == 7


def test_modules_that_say_nothing_about_arrays_are_numpys():
    import plait.exceptions
    import plait.ma.core
    import plait.ma.testutils

    assert plait.ma.core is numpy.ma.core and plait.exceptions is numpy.exceptions
    assert plait.ma.testutils.assert_equal.__module__ == "numpy.ma.testutils" and numpy.ma.core.__spec__.name == "numpy.ma.core"


def test_vars_of_a_submodule_has_every_name():
    assert {n for n in vars(numpy.fft) if not n.startswith("_")} <= set(vars(plait.fft))
    assert isinstance(vars(plait.fft)["fft"], type(plait.fft.fft)) and vars(plait.fft)["fft"] is plait.fft.fft


def test_testing_calls_functions_with_what_it_is_given():
    seen = []
    with pytest.raises(AssertionError):
        plait.testing.assert_raises(ValueError, seen.append, plait.ones(3))
    assert type(seen[0]) is plait.ndarray
    plait.testing.assert_raises(ValueError, plait.add, plait.ones(2), plait.ones(3))
    plait.testing.assert_equal([plait.ones(2)], [numpy.ones(2)])


def test_functions_in_c_are_no_methods():
    class Holder:
        array, promote, has_complex = plait.array, plait.promote_types, plait.iscomplexobj

    assert Holder().array([1, 2]).tolist() == [1, 2]
    assert Holder().promote("i4", "f4") == "f8"
    assert Holder().has_complex() is False


def test_vars_has_the_names():
    found = {n for n in vars(numpy) if not n.startswith("_")}
    code = "import numpy, plait; print(*(n for n in vars(numpy) if not n.startswith('_') and n not in vars(plait)))"
    assert found <= set(vars(plait)) and vars(plait)["add"] is plait.add
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split() == []
    for name in "linalg", "fft", "random":
        assert {n for n in vars(getattr(numpy, name)) if not n.startswith("_")} <= set(vars(getattr(plait, name)))
