"""Names under plait.jit: functions of NumPy's and of the program are one object wherever they come from, and globals are a module's own, for C code, too."""

import functools
import operator
import pickle
import sys
import textwrap
import types
import warnings

import numpy
import numpy as np
import pytest

import plait

Z = numpy.arange(3.0)
COUNT = 0
TABLE = {np.sin: "sin", np.mean: "mean"}
STEPS = (np.mean, np.sum)


def test_plaits_functions_equal_numpys():
    for ours, theirs in ((plait.mean, numpy.mean), (plait.add, numpy.add), (plait.linalg.norm, numpy.linalg.norm), (plait.fft.fft, numpy.fft.fft)):
        assert ours == theirs and theirs == ours and not ours != theirs and hash(ours) == hash(theirs)
        assert ours != numpy.max and ours != 3 and {theirs: 1}[ours] == {ours: 1}[theirs] == 1
    for ours, theirs in ((plait, numpy), (plait.linalg, numpy.linalg), (plait.fft, numpy.fft), (plait.random, numpy.random)):
        functions = {n: f for n, f in vars(theirs).items() if n in theirs.__all__ and callable(f) and not isinstance(f, type) and n != "load"}
        assert [n for n, f in functions.items() if getattr(ours, n) != f] == []
    assert isinstance(numpy.add, plait.ufunc) and isinstance(plait.add, numpy.ufunc) and isinstance(plait.add, plait.ufunc)
    assert not isinstance(numpy.mean, plait.ufunc) and issubclass(numpy.ufunc, plait.ufunc)


@plait.jit
def _told(how, x=None, default=np.mean, *, named=np.mean, several=(np.mean, np.sum)):
    same = how is np.mean, default is np.mean, named is np.mean, several[0] is np.mean, np.mean in several, STEPS[0] is np.mean or STEPS[0] == np.mean
    return same, how(np.arange(4.0) if x is None else x)


def test_a_function_of_numpys_is_one_object():
    same, value = _told(np.mean)
    assert same == (True,) * 6 and value == 1.5
    assert _told(np.mean, plait.ones(3))[0] == (True,) * 6

    act = np.tanh

    @plait.jit
    def inside(ops, x, xp=np):
        assert act is np.tanh and xp is np and ops["f"] is np.sin and ops["g"][0] is np.add
        assert TABLE[np.sin] == "sin" and TABLE[ops["f"]] == "sin"
        assert isinstance(ops["g"][0], np.ufunc) and isinstance(np.multiply, np.ufunc)
        ops["h"] = np.cos
        return np.mean, [np.add, xp], {"k": np.linalg.norm, "x": x + 1}

    given = {"f": np.sin, "g": [np.add]}
    mean, (add, module), rest = inside(given, numpy.ones(2))
    assert mean is numpy.mean and add is numpy.add and module is numpy and rest["k"] is numpy.linalg.norm
    assert given["f"] is numpy.sin and given["g"][0] is numpy.add and given["h"] is numpy.cos


def test_a_partials_arguments():
    f = plait.jit(functools.partial(lambda how, x, other: (how is np.mean, other is np.sum, how(x)), np.mean, other=np.sum))
    assert f(numpy.arange(4.0)) == (True, True, 1.5)


def helper(x):
    return np.sqrt(x) + 1


def other(x):
    return x


@plait.jit
def _known(f, x, g=helper):
    assert f is helper and g is helper and f in (helper, other) and helper.__module__ == __name__ and other.__module__ == __name__
    assert (lambda: 0).__module__ == __name__
    return f, f(x)


def test_a_function_of_the_module_is_one_object():
    f, value = _known(helper, numpy.array([4.0]))
    assert f is helper and value[0] == 3


class _Store:
    pass


def test_what_is_kept_is_the_programs():
    @plait.jit
    def keeps(store, x):
        store.f, store.x = helper, x + 1
        return np.ufunc, np.ndarray, np.linalg

    store = _Store()
    assert keeps(store, numpy.ones(2)) == (numpy.ufunc, numpy.ndarray, numpy.linalg)
    assert store.f is helper and type(store.x) is numpy.ndarray


LEFT = []


def test_functions_that_are_left_without_arrays_are_numpys():
    from numpy import cumsum as summed

    chosen = None

    @plait.jit
    def leaves(store, listed, ops, how, default=np.exp):
        nonlocal chosen
        import numpy as own

        store.f, store.t, store.d = np.mean, (np.sin, helper), {"a": [np.linalg.norm]}
        listed.append(np.mean)
        listed += [summed, own.fft.fft, how, default, np.add]
        ops["new"] = np.multiply
        LEFT.append(np.sum)
        LEFT.append(helper)
        chosen = np.cos

    for _ in range(2):  # names are found in the first
        store, listed, ops = _Store(), [], {"m": 3}
        leaves(store, listed, ops, np.sqrt)
        assert store.f is numpy.mean and store.t[0] is numpy.sin and store.t[1] is helper and store.d["a"][0] is numpy.linalg.norm
        for ours, theirs in zip(listed, (numpy.mean, numpy.cumsum, numpy.fft.fft, numpy.sqrt, numpy.exp, numpy.add), strict=True):
            assert ours is theirs
        assert ops["new"] is numpy.multiply and LEFT[0] is numpy.sum and LEFT[1] is helper and chosen is numpy.cos
        LEFT.clear()
        chosen = None


KEPT = []


@plait.jit
def _several(store, x):
    y, z = x + 1, x * 2
    store.z, store.listed = z, [z, {"z": z}]
    KEPT.append(y)
    return y, [y], {"y": (y, z)}, store.listed, KEPT


def test_what_comes_out_in_several_places_is_one_object():
    for _ in range(2):
        KEPT.clear()
        store = _Store()
        y, in_list, in_dict, listed, kept = _several(store, numpy.ones(2))
        assert type(y) is numpy.ndarray and y is in_list[0] is in_dict["y"][0] is KEPT[0] and kept is KEPT
        assert store.z is in_dict["y"][1] is listed[0] is listed[1]["z"] and listed is store.listed
        y[0] = 7
        assert KEPT[0][0] == 7


class _List(list):
    pass


class _Dict(dict):
    pass


def test_classes_of_lists_and_dicts_hold_numpys():
    @plait.jit
    def fills(listed, named, pair, x):
        listed += [x + 1, np.sin]
        named["x"], named["f"] = listed[0], np.mean
        listed.first = listed[0]
        return listed, named, pair

    for _ in range(2):
        listed, named, pair = _List(), _Dict(), (1, numpy.ones(2))
        for got, given in zip(fills(listed, named, pair, numpy.ones(2)), (listed, named, pair), strict=True):
            assert got is given
        assert type(listed[0]) is numpy.ndarray and listed[0] is named["x"] is listed.first
        assert listed[1] is numpy.sin and named["f"] is numpy.mean


def test_functions_of_plaits_that_the_program_keeps_stay():
    store = _Store()
    store.f, store.xp = [plait.mean], plait

    @plait.jit
    def leaves(store, x):
        store.y = np.mean(x) + np.ones(2)
        return helper(x)

    for _ in range(3):
        leaves(store, numpy.ones(2))
        assert store.f[0] is plait.mean and store.xp is plait and type(store.y) is numpy.ndarray


@plait.jit
def _saved(x):
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with get_context("fork").Pool(1) as pool:
        mapped = pool.map(helper, [4.0, 9.0])
    return pickle.loads(pickle.dumps(helper)), pickle.loads(pickle.dumps({"f": [helper, other]})), mapped


def test_functions_of_the_module_pickle_as_they_do_without():
    f, several, mapped = _saved(numpy.ones(1))
    assert f is helper and several["f"] == [helper, other] and mapped == [3.0, 4.0]


def test_cloudpickle_has_the_modules_function():
    cloudpickle = pytest.importorskip("cloudpickle")

    @plait.jit
    def saved():
        return cloudpickle.dumps(helper), cloudpickle.dumps(lambda x: helper(x) + np.sum(Z))

    named, made = map(pickle.loads, saved())
    assert named is helper and made(4.0) == 6


@plait.jit
def _classes(x):
    class Outer:
        k = Z
        total = np.sum(Z)

        class Inner:
            def value(self):
                return np.sum(Z), COUNT

    return Outer.k, Outer.total, Outer.Inner().value()[0], Outer.__module__, Outer.Inner.__module__


def test_class_bodies_see_globals():
    k, total, value, *modules = _classes(numpy.ones(1))
    assert k is Z and total == value == 3 and modules == [__name__, __name__]


def test_dataclasses_enums_and_named_tuples_made_inside():
    @plait.jit
    def made(x):
        import collections
        import dataclasses
        import enum

        @dataclasses.dataclass
        class Point:
            x: float
            y: object = dataclasses.field(default_factory=lambda: np.zeros(2))

        class Color(enum.Enum):
            RED = 1

        pair = collections.namedtuple("pair", "a b")
        return Point(1.0).x, Color.RED.name, pair(1, 2), pair.__module__, Color.__module__

    assert made(numpy.ones(1))[:3] == (1.0, "RED", (1, 2))
    assert made(numpy.ones(1))[3:] == (__name__, __name__)


def test_files_and_warnings(tmp_path):
    numpy.arange(5.0).tofile(tmp_path / "a")

    @plait.jit
    def read(path):
        warnings.warn("told", UserWarning, stacklevel=1)
        return np.fromfile(path), np.fromfile(str(path), "f8", 2)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("error")
        warnings.filterwarnings("always", module=__name__.replace(".", r"\."))
        a, b = read(tmp_path / "a")
    assert a.tolist() == [0, 1, 2, 3, 4] and b.tolist() == [0, 1] and seen[0].filename == __file__


def test_relative_imports(tmp_path, monkeypatch):
    package = tmp_path / "relative_pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "near.py").write_text("K = 7\n")
    (package / "user.py").write_text("import numpy as np\ndef f(x):\n    from .near import K\n    from . import near\n    return np.sum(x) + K + near.K\n")
    monkeypatch.syspath_prepend(tmp_path)
    import relative_pkg.user

    assert plait.jit(relative_pkg.user.f)(numpy.ones(2)) == 16


class Counter:
    def hit(self):
        global COUNT
        COUNT += 1
        return self

    def value(self):
        return COUNT


def test_assignments_are_seen_by_both_sides_at_once():
    @plait.jit
    def counted(x, module):
        global COUNT
        COUNT = 5
        counter = Counter()
        seen = [counter.value(), COUNT]
        counter.hit().hit()
        seen += [COUNT, counter.value()]
        module.COUNT = 20
        seen.append(COUNT)
        COUNT += 1
        seen += [Counter().value(), globals()["COUNT"]]
        return seen

    for _ in range(2):
        assert counted(numpy.ones(1), sys.modules[__name__]) == [5, 5, 7, 7, 20, 21, 21] and COUNT == 21


def _module(source):
    module = types.ModuleType("user")
    exec(textwrap.dedent(source), module.__dict__)
    return module


def test_globals_that_are_deleted_and_made():
    module = _module("""
        import numpy as np
        A = 1
        def f(x):
            global A, B
            B = np.mean
            del A
            try:
                A
            except NameError as e:
                return str(e), B(x), B is np.mean
        """)
    message, value, same = plait.jit(module.f)(numpy.ones(2))
    assert message == "name 'A' is not defined" and value == 1 and same and not hasattr(module, "A") and module.B is numpy.mean


def test_patches_of_a_module_during_a_call():
    module = _module("""
        import numpy as np
        def step(x): return np.sum(x)
        def f(x, patch):
            before = step(x)
            patch()
            return before, step(x), np.sum(x)
        """)
    f = plait.jit(module.f)
    step = module.step
    assert f(numpy.ones(3), lambda: setattr(module, "step", lambda x: -1)) == (3, -1, 3)
    module.step = step
    assert f(numpy.ones(3), lambda: None) == (3, 3, 3)


def test_eval_and_exec():
    module = _module("""
        import numpy as np
        Z = np.arange(3.)
        def f(x):
            scope = {}
            exec("y = np.sum(Z) + 1", globals(), scope)
            exec("global W; W = 4", globals())
            return eval("np.sum(Z)"), scope["y"], eval("W"), "Z" in globals(), globals()["__name__"]
        """)
    assert plait.jit(module.f)(numpy.ones(2)) == (3, 4, 4, True, "user") and module.W == 4


def test_a_global_that_is_gone_is_freed():
    module = _module("""
        import numpy as np
        class Data(list): pass
        DATA = Data([1, 2])
        def f(x): return np.sum(x) + len(DATA)
        """)
    import weakref

    f, gone = plait.jit(module.f), weakref.ref(module.DATA)
    assert f(numpy.ones(1)) == 3
    del module.DATA
    assert gone() is None


@functools.lru_cache
def _cached(n):
    return np.arange(n).sum()


def test_decorated_and_partial_helpers():
    @plait.jit
    def f(x):
        return _cached(4), functools.partial(helper, x)(), list(map(helper, [x])), functools.reduce(operator.add, [x, x])

    a, b, (c,), d = f(numpy.array([4.0]))
    assert a == 6 and b[0] == c[0] == 3 and d[0] == 8 and type(b) is type(c) is numpy.ndarray


def test_errors_name_the_package():
    assert (plait.Error.__module__, plait.ReplayWarning.__module__) == ("plait", "plait")
    assert pickle.loads(pickle.dumps(plait.Error("x"))).args == ("x",)


def test_explain_prefers_the_programs_names():
    ___ = plait.arange(300.0) * 2
    y = ___
    text = str(plait.explain(y))
    assert "y: " in text and "___" not in text
