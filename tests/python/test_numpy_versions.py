"""What NumPy changes between its versions is as in the one at hand: results, keywords, what it warns of, what it refuses."""

import importlib
import inspect
import warnings

import numpy
import pytest
from support import outcome, same

import plait


def changed(change):
    def call(np, a):
        change(a)
        return a

    return call


CALLS = {
    "a shape that is set": lambda np: changed(lambda a: setattr(a, "shape", (2, 3)))(np, np.arange(6)),
    "a shape that is no shape of it": lambda np: setattr(np.arange(6), "shape", 7),
    "a dtype that is set": lambda np: changed(lambda a: setattr(a, "dtype", "i4"))(np, np.arange(6)),
    "a dtype of NumPy's alone": lambda np: changed(lambda a: setattr(a, "dtype", "S8"))(np, np.arange(6)),
    "the shape of an array that is NumPy's": lambda np: changed(lambda a: setattr(a, "shape", (2, 1)))(np, np.array(["a", "b"])),
    "a sort": lambda np: np.sort(np.array([3.0, 1, np.nan, 2]), descending=True),
    "a sort of a list": lambda np: np.sort([3, 1, 2], descending=True),
    "a sort of all": lambda np: np.sort(np.array([[3, 1], [2, 5]]), axis=None, descending=False),
    "a stable order": lambda np: np.argsort(np.array([3, 1, 2, 2] * 2000), stable=True, descending=True),
    "a sort in place": lambda np: changed(lambda a: a.sort(descending=True))(np, np.array([3, 1, 2])),
    "an order": lambda np: np.array([3, 1, 2]).argsort(descending=True),
    "a sort by kind": lambda np: np.sort(np.array([3, 1, 2]), kind="stable", descending=True),
    "vectors of two": lambda np: np.cross(np.array([1, 2]), np.array([3, 4])),
    "lists of two": lambda np: np.cross([1, 2], [3, 4]),
    "two and three": lambda np: np.cross([1, 2.0], np.array([3, 4, 5])),
    "vectors of four": lambda np: np.cross(np.ones((2, 4)), np.ones((2, 4))),
    "vectors of three along the first axis": lambda np: np.cross(np.ones((3, 2)), np.arange(6).reshape(3, 2), axis=0),
    "no axis of vectors": lambda np: np.cross(np.ones((2, 3)), np.ones((2, 3)), axis=2),
    "rows that are no integer": lambda np: np.tri(3.0),
    "columns that are no integer": lambda np: np.tri(3, 2.0),
    "a diagonal that is no integer": lambda np: np.tri(3, k=1.5),
    "a lower triangle": lambda np: np.tril(np.ones((3, 3)), k=1.0),
    "an upper triangle": lambda np: np.triu(np.ones((3, 3)), k=np.float64(1)),
    "indices of a triangle": lambda np: np.triu_indices(3, k=1.0),
    "eigenvalues that are real": lambda np: np.linalg.eigvals(np.array([[2.0, 0], [0, 3]])),
    "roots that are real": lambda np: np.roots(np.array([1.0, -3, 2])),
    "a number that does not fit": lambda np: np.where(np.array([True, False]), np.array([1, 2], "i1"), 300),
    "counts of floats": lambda np: np.bincount(np.array([1.0, 2])),
    "parts of objects": lambda np: np.isreal(np.array([1 + 2j, 3], object)),
    "a grid": lambda np: np.meshgrid(np.arange(3), np.arange(2), sparse=True, copy=False),
    "a result of another kind": lambda np: np.take(np.array([1.5, 2.5]), [0, 1], out=np.zeros(2, "i8")),
    "sums of times that overflow": lambda np: np.array([2**63 - 2], "m8[s]") + np.array([2], "m8[s]"),
    "a number beside times": lambda np: np.array([1, 2], "m8[s]") + 1,
    "no imaginary part": lambda np: setattr(np.ones(2, "i4"), "imag", 3),
    "no shape any more": lambda np: delattr(np.ones(2), "shape"),
    "no part any more": lambda np: delattr(np.ones(2), "real"),
    "no flat any more": lambda np: delattr(np.ones(2), "flat"),
    "a view out of bounds": lambda np: np.lib.stride_tricks.as_strided(np.arange(10), (20,), (8,), check_bounds=True),
    "a view within bounds": lambda np: np.lib.stride_tricks.as_strided(np.arange(10), (5,), (8,), check_bounds=True),
    "a transform into an array": lambda np: np.fft.ifftn(np.ones((2, 2)), out=np.zeros((2, 2), complex)),
}


def heard(call):
    with warnings.catch_warnings(record=True) as all_of_them:
        warnings.simplefilter("always")
        result = outcome(call)
    return result, {(w.category, str(w.message)) for w in all_of_them}


@pytest.mark.parametrize("name", CALLS)
def test_as_the_numpy_at_hand(name):
    (ours, our_words), (theirs, their_words) = heard(lambda: CALLS[name](plait)), heard(lambda: CALLS[name](numpy))
    same(ours, theirs)
    assert our_words == their_words


@pytest.mark.skipif(not heard(lambda: setattr(numpy.arange(6), "shape", (2, 3)))[1], reason="this NumPy does not warn of it")
def test_the_line_that_sets_a_shape_is_named():
    with pytest.warns(DeprecationWarning) as all_of_them:
        plait.arange(6).shape = (2, 3)
    assert [w.filename for w in all_of_them] == [__file__]


@pytest.mark.parametrize("name", ["shape", "dtype"])
def test_what_a_warning_refuses_is_not_set(name):
    a, b = plait.arange(6), numpy.arange(6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in a, b:
            try:
                setattr(x, name, {"shape": (2, 3), "dtype": "i4"}[name])
            except DeprecationWarning:
                pass
    same(a, b)


@pytest.mark.skipif(not hasattr(numpy.ndarray, "_set_shape"), reason="this NumPy has no such methods")
def test_setting_without_a_word():
    for of in (lambda np: np.arange(6), lambda np: np.array(["a"] * 6)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ours, theirs = of(plait), of(numpy)
            for x in ours, theirs:
                x._set_shape((2, 3))
                x._set_dtype("i4")
        same(ours, theirs)


def matched(x):
    match x:
        case [first, *others]:
            return first, len(others)
        case _:
            return None


def test_patterns_match_as_in_numpy():
    class Ours(plait.ndarray):
        pass

    for shape in (3,), (2, 2):
        ours, theirs = matched(plait.ones(shape)), matched(numpy.ones(shape))
        assert (matched(plait.ones(shape).view(Ours)) is None) == (theirs is None)
        if theirs is None:
            assert ours is None
        else:
            same(ours, theirs)


def refused(ours, theirs):
    """Keywords that NumPy's function takes and Plait's does not."""
    code = getattr(getattr(ours, "_implementation", ours), "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARKEYWORDS:
        return []
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    try:
        given = inspect.signature(theirs).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in given if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name not in taken]


@pytest.mark.parametrize("space", ["", ".linalg", ".fft", ".random", ".ndarray"])
def test_every_keyword_is_taken(space):
    if space == ".ndarray":
        ours, theirs = plait.ndarray, numpy.ndarray
    else:
        ours, theirs = importlib.import_module(f"plait{space}"), importlib.import_module(f"numpy{space}")
    functions = {n: getattr(theirs, n) for n in dir(theirs) if not n.startswith("_")}
    functions = {n: f for n, f in functions.items() if callable(f) and not isinstance(f, type)}
    assert len(functions) > 10
    missing = {n: refused(getattr(ours, n), f) for n, f in functions.items()}
    assert not {n: keywords for n, keywords in missing.items() if keywords}


def test_every_keyword_is_taken_in_submodules():
    from plait._submodules import NATIVE

    assert not {ours.__name__: refused(ours, theirs) for theirs, ours in NATIVE.items() if refused(ours, theirs)}


def test_names_are_those_of_the_numpy_at_hand():
    for name in "row_stack", "in1d", "trapz", "chararray", "fix", "typename", "cumulative_sum", "matvec":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert hasattr(plait, name) == hasattr(numpy, name), name
