"""plait.array_api: the names, arguments and results of the Python array API standard."""

import ast
import copy
import inspect
import pathlib
import pickle

import numpy
import pytest

import plait
from plait import array_api as xp

MODULES = {"__init__": xp, "linalg": xp.linalg, "fft": xp.fft}


def held(made, value, dtype=None):
    """Asserts that `made` is a Plait array with this value."""
    assert type(made) is plait.ndarray
    expected = numpy.asarray(value, dtype)
    assert made.shape == expected.shape and made.dtype == expected.dtype
    numpy.testing.assert_array_equal(numpy.asarray(made), expected)


def test_arrays_name_it():
    x = plait.arange(3.0)
    assert x.__array_namespace__() is xp and xp.__name__ == "plait.array_api" and plait.array_api is xp
    assert all(x.__array_namespace__(api_version=v) is xp for v in (None, "2021.12", "2024.12", xp.__array_api_version__))
    with pytest.raises(ValueError, match='Version "2020.1" of the Array API Standard is not supported'):
        x.__array_namespace__(api_version="2020.1")


def test_names_are_the_standards_alone():
    public = {n for n in vars(xp) if not n.startswith("_")}
    assert public == {n for n in xp.__all__ if not n.startswith("_")} and len(public) > 150
    assert {
        "sum",
        "unique_values",
        "isdtype",
        "take_along_axis",
        "cumulative_sum",
        "nextafter",
        "vecdot",
        "bool",
        "newaxis",
        "linalg",
    } <= public
    assert not public & {"array", "ndarray", "float16", "concatenate", "nansum", "amax", "random"}
    assert not hasattr(xp.linalg, "norm") and not hasattr(xp.fft, "fft2")


@pytest.mark.parametrize("name", MODULES)
def test_stubs_have_the_same_arguments(name):
    module = MODULES[name]
    declared = {}
    for statement in ast.parse((pathlib.Path(xp.__file__).parent / f"{name}.pyi").read_text()).body:
        if isinstance(statement, ast.FunctionDef):
            a = statement.args
            declared[statement.name] = [[p.arg for p in kind] for kind in (a.posonlyargs, a.args, a.kwonlyargs)]
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    for function in filter(inspect.isfunction, map(module.__dict__.get, module.__all__)):
        parameters = inspect.signature(function).parameters.values()
        assert declared.pop(function.__name__) == [[p.name for p in parameters if p.kind is kind] for kind in kinds]
        assert function.__doc__ and function.__module__ == module.__name__
    assert not declared


def test_arguments_are_the_standards():
    x = xp.arange(3.0)
    for call in (
        lambda: xp.sum(a=x),
        lambda: xp.sum(x, 0),
        lambda: xp.sum(x, out=x),
        lambda: xp.concat([x], 0),
        lambda: xp.sqrt(x, where=True),
    ):
        with pytest.raises(TypeError):
            call()


CALLS = """
sum(x) prod(x) min(x) max(x) mean(x) std(x,correction=1) var(x) any(x) all(x) argmin(x) argmax(x) count_nonzero(x) vecdot(x,x) sum(x,axis=0)
matmul(x,x) tensordot(x,x,axes=1) sqrt(x[1]) add(x[1],x[2]) where(x[1]<2,x[1],x[2]) take(x,asarray(1)) searchsorted(x,x[1]) isnan(x[0])
linalg.vector_norm(x) linalg.det(eye(2)) linalg.trace(eye(2)) linalg.matrix_rank(eye(3)) linalg.matrix_norm(eye(2)) linalg.vecdot(x,x)
squeeze(asarray([2.0]),0) reshape(asarray([2.0]),()) clip(x[1],0,1) asarray(2.0) full((),3) astype(x[1],int32) flip(asarray(2.0)) x[1]
x[1]+1 1-x[1] x[1]*x[2] -x[1] abs(x[1]) x[1]<2 x[1]==x[2] x@x x[1]**2 x[1]//2 x[1]%2 x[()][1] x[1][()] x[...,1] ~(x[1]<2) broadcast_to(x[1],())"""


@pytest.mark.parametrize("call", CALLS.split())
def test_results_without_axes_are_arrays(call):
    made = eval(call, vars(xp) | {"x": xp.arange(3.0)})
    assert type(made) is plait.ndarray and made.shape == ()
    assert type(made + 1) is plait.ndarray  # and what comes of them


def test_iteration_gives_arrays():
    assert [type(v) for v in xp.arange(2)] == [plait.ndarray] * 2
    assert [v.shape for v in xp.eye(2)] == [(2,)] * 2


def test_scalars_of_the_package_stay_numpys():
    x = plait.arange(3.0)
    assert type(x.sum()) is numpy.float64 and type(x[1] + 1) is numpy.float64 and type(plait.sum(x)) is numpy.float64
    standard = xp.asarray(x)  # a view: x itself goes on as it was
    assert standard is not x and numpy.shares_memory(standard, x) and xp.asarray(standard) is standard
    assert type(standard[0]) is plait.ndarray and type(x[0]) is numpy.float64
    x[0] = 5
    held(standard[0], 5.0)


def test_0d_arrays_pass_for_numbers():
    s = xp.sum(xp.arange(4))
    assert int(s) == 6 and float(s) == 6.0 and bool(s) and [*range(10)][s] == 6 and f"{s:03d}" == "006" and s == 6 and repr(s) == "array(6)"


def test_full_reductions_stay_pending():
    x = xp.arange(1000.0)
    before = plait.stats()["evaluations"]
    s = xp.mean(x) + xp.sum(x * 2)
    assert plait.stats()["evaluations"] == before
    held(s, 499.5 + 999000.0)


def test_sets():
    x = xp.asarray([3, 1, 2, 1])
    held(xp.unique_values(x), [1, 2, 3])
    counts, inverse, everything = xp.unique_counts(x), xp.unique_inverse(x), xp.unique_all(x)
    assert counts._fields == ("values", "counts") and inverse._fields == ("values", "inverse_indices")
    held(counts.values, [1, 2, 3]), held(counts.counts, [2, 1, 1]), held(xp.take(inverse.values, inverse.inverse_indices), [3, 1, 2, 1])
    assert everything._fields == ("values", "indices", "inverse_indices", "counts")
    held(everything.indices, [1, 2, 0])
    assert xp.unique_values(xp.asarray([xp.nan, xp.nan])).shape == (2,)
    held(xp.isin(x, xp.asarray([1]), invert=True), [True, False, True, False])


def test_sorting():
    x = xp.asarray([[2, 1, 2], [0, 3, 0]])
    held(xp.sort(x, descending=True), [[2, 2, 1], [3, 0, 0]])
    held(xp.argsort(x, descending=True), [[0, 2, 1], [1, 0, 2]])  # equal elements in their order
    held(xp.argsort(x, axis=0, descending=True), [[0, 1, 0], [1, 0, 1]])
    held(xp.argsort(x), [[1, 0, 2], [0, 2, 1]])


def test_devices_and_copies():
    x = xp.asarray([1.0, 2.0], device="cpu")
    assert x.device == "cpu" and x.to_device("cpu") is x
    held(xp.astype(x, xp.int32, device="cpu"), [1, 2], "i4")
    assert xp.asarray(x, copy=False) is x and not numpy.shares_memory(xp.asarray(x, copy=True), x)
    for made in (
        xp.zeros(2, device="cpu"),
        xp.arange(2.0, device="cpu"),
        xp.full_like(x, 3, device="cpu"),
        xp.fft.fftfreq(2, device="cpu"),
    ):
        assert made.device == "cpu" and made.dtype == "f8"
    with pytest.raises(ValueError):
        xp.zeros(2, device="nowhere")
    with pytest.raises(ValueError):
        xp.asarray([1.0], copy=False)


def test_info():
    info = xp.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert info.default_device() == "cpu" and info.devices()[0] == "cpu"
    assert info.dtypes(kind="real floating") == {"float32": "f4", "float64": "f8"} and info.default_dtypes()["indexing"] == "i8"
    with plait.default_dtype("f4"):
        assert info.default_dtypes()["complex floating"] == "c8" and xp.fft.fftfreq(4).dtype == "f4"
    with pytest.raises(ValueError):
        info.dtypes(device="nowhere")


def test_dtypes():
    x = xp.ones(2, dtype=xp.float32)
    assert xp.result_type(x, 1.0) == xp.float32 and xp.isdtype(x.dtype, ("integral", "real floating")) and xp.can_cast(x, xp.float64)
    limits = xp.finfo(x)
    assert limits.bits == 32 and type(limits.eps) is float and limits.dtype == "f4" and xp.iinfo(xp.int8).max == 127
    assert xp.linalg.eigvals(xp.eye(2)).dtype == "c16" and xp.linalg.eig(x * xp.eye(2, dtype=xp.float32)).eigenvectors.dtype == "c8"


def test_the_rest():
    x = xp.asarray([1, 2, 4])
    held(xp.diff(x, prepend=xp.asarray([0])), [1, 1, 2]), held(xp.diff(x, n=2), [1])
    held(xp.clip(x), [1, 2, 4]), held(xp.clip(x, max=2), [1, 2, 2])
    held(xp.cumulative_sum(x, include_initial=True), [0, 1, 3, 7])
    held(xp.take_along_axis(x, xp.asarray([2, 0])), [4, 1])
    held(xp.bitwise_left_shift(x, x), [2, 8, 64])
    held(xp.permute_dims(xp.ones((2, 3)), (1, 0)), numpy.ones((3, 2)))
    assert xp.broadcast_shapes((2, 1), (3,)) == (2, 3)
    held(xp.where(x > 1)[0], [1, 2])
    with pytest.raises(ValueError, match="either both or neither"):
        xp.where(x > 1, x)
    with pytest.raises(ValueError):
        xp.nonzero(xp.asarray(1))
    same = plait.ones(3)
    broadcast = xp.broadcast_arrays(same, xp.ones(3))
    assert broadcast[0] is not same and type(same[0]) is numpy.float64 and type(broadcast[0][0]) is plait.ndarray


@pytest.mark.parametrize("shape", [(4,), (2, 3), ()])
@pytest.mark.parametrize("order", [2, 1, numpy.inf, 3])
def test_vector_norm(shape, order):
    rng = numpy.random.default_rng(0)
    a = rng.standard_normal(shape)
    for options in (
        {},
        {"keepdims": True},
        *({"axis": i, "keepdims": k} for i in range(a.ndim) for k in (False, True)),
        {"axis": tuple(range(a.ndim))},
    ):
        if a.ndim or options.get("axis") != ():
            held(xp.linalg.vector_norm(plait.asarray(a), ord=order, **options), numpy.linalg.vector_norm(a, ord=order, **options))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_and_copies_are_the_standards(protocol):
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    for a in (x, x[0, 1], x.T, x[:0], xp.sum(x)):
        for made in (pickle.loads(pickle.dumps(a, protocol)), copy.copy(a), copy.deepcopy(a)):
            assert type(made) is type(made.sum()) is plait.ndarray and (made.dtype, made.tolist()) == (a.dtype, a.tolist())
    assert type(pickle.loads(pickle.dumps(plait.ones(2), protocol))) is numpy.ndarray


def test_fallback_log_says_where_arrays_leave(run_python):
    source = "import numpy, plait\nxp = plait.array_api\nx = xp.arange(3.0)\ny = x + 1\nxp.isdtype(y.dtype, 'bool')\nnumpy.asarray(plait.ones(2))\nnumpy.asarray(y)\n"
    lines = run_python(source, env={"PLAIT_LOG": "fallback"}).stderr.splitlines()
    assert len(lines) == 1 and lines[0].endswith("<string>:7: asarray"), lines


def test_in_jit():
    @plait.jit
    def standardised(x):
        namespace = x.__array_namespace__()
        return (x - namespace.mean(x)) / namespace.std(x)

    x = numpy.arange(5.0)
    numpy.testing.assert_allclose(standardised(x), (x - x.mean()) / x.std())
