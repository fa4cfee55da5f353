"""set_default_dtype: what NumPy makes float64 of, and what has a dtype of its own."""

import threading

import numpy
import pytest

import plait

FROM_NOTHING = {
    "zeros": lambda np: np.zeros((2, 3)),
    "ones": lambda np: np.ones(4),
    "empty": lambda np: np.empty(4),
    "eye": lambda np: np.eye(3, 4, 1),
    "identity": lambda np: np.identity(3),
    "tri": lambda np: np.tri(3),
    "full": lambda np: np.full(3, 0.1),
    "full of a list": lambda np: np.full((2, 2), [0.1, 0.2]),
    "arange": lambda np: np.arange(0, 1, 0.125),
    "linspace": lambda np: np.linspace(0, 1, 7),
    "linspace with its step": lambda np: np.linspace(0, 1, 7, retstep=True)[0],
    "logspace": lambda np: np.logspace(0, 2, 5),
    "geomspace": lambda np: np.geomspace(1.0, 100.0, 5),
    "array": lambda np: np.array([[0.1, 2], [3, 4]]),
    "asarray": lambda np: np.asarray([0.1, 0.2]),
    "asanyarray": lambda np: np.asanyarray((0.1, 0.2)),
    "ascontiguousarray": lambda np: np.ascontiguousarray([0.1]),
    "asarray of a number": lambda np: np.asarray(0.1),
    "asarray of nothing": lambda np: np.asarray([]),
    "zeros_like of a list": lambda np: np.zeros_like([1.0, 2.0]),
    "full_like of a list": lambda np: np.full_like([1.0, 2.0], 0.1),
    "mgrid": lambda np: np.mgrid[0:1:5j, 0:1:3j],
    "r_": lambda np: np.r_[0:1:5j, 0.1],
    "hamming": lambda np: np.hamming(5),
    "fftfreq": lambda np: np.fft.fftfreq(8, 0.1),
    "fromfunction": lambda np: np.fromfunction(lambda i, j: i + j / 3, (3, 3)),
    "loadtxt": lambda np: np.loadtxt(["0.1 0.2", "0.3 0.4"]),
    "rand": lambda np: (np.random.seed(0), np.random.rand(5, 2))[1],
    "randn": lambda np: (np.random.seed(0), np.random.randn(5))[1],
    "Generator.normal": lambda np: np.random.default_rng(0).normal(size=5),
    "Generator.random": lambda np: np.random.default_rng(0).random(5),
    "Generator.dirichlet": lambda np: np.random.default_rng(0).dirichlet([1.0, 2.0], 3),
    "RandomState.uniform": lambda np: np.random.RandomState(0).uniform(2, 3, 5),
}
AS_NUMPY = {
    "a dtype": lambda np: np.zeros(3, float),
    "a dtype by keyword": lambda np: np.linspace(0, 1, 7, dtype="f8"),
    "a dtype of logspace": lambda np: np.logspace(0, 1, 7, dtype="f8"),
    "eye": lambda np: np.eye(3, dtype=float),
    "a scalar of NumPy": lambda np: np.full(3, numpy.float64(0.1)),
    "a scalar of NumPy in a list": lambda np: np.array([numpy.float64(0.1), 0.2]),
    "an array of NumPy": lambda np: np.array(numpy.array([0.1])),
    "a range between scalars of NumPy": lambda np: np.linspace(numpy.float64(0), 1, 3),
    "arange of scalars of NumPy": lambda np: np.arange(numpy.float64(0), 1, 0.25),
    "like an array": lambda np: np.zeros_like(numpy.ones(3)),
    "integers": lambda np: np.array([1, 2]),
    "arange of integers": lambda np: np.arange(4),
    "full of an integer": lambda np: np.full(3, 7),
    "booleans": lambda np: np.asarray([True]),
    "text": lambda np: np.array(["a"]),
    "random integers": lambda np: np.random.default_rng(0).integers(0, 9, 5),
    "a dtype of random": lambda np: np.random.default_rng(0).random(5, "f8"),
    "a dtype of standard_normal": lambda np: np.random.default_rng(0).standard_normal(5, dtype="f8"),
    "out": lambda np: np.random.default_rng(0).random(out=np.zeros(5, "f8")),
    "choice": lambda np: np.random.default_rng(0).choice(np.ones(5, "f8"), 3),
    "a number drawn": lambda np: np.random.default_rng(0).normal(),
    "operations": lambda np: np.arange(3) / 2,
}


def host(x):
    return numpy.asarray(x)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", FROM_NOTHING)
def test_what_numpy_makes_float64(name, dtype):
    make = FROM_NOTHING[name]
    expected = make(numpy).astype(dtype)
    with plait.default_dtype(dtype):
        made = make(plait)
    assert type(made) is plait.ndarray and made.dtype == dtype and made.shape == expected.shape
    if name != "empty":
        numpy.testing.assert_array_equal(host(made), expected)
    assert make(plait).dtype == numpy.float64


def test_a_range_of_complex_numbers():
    for dtype, wanted in (("float64", "complex128"), ("float32", "complex64")):
        with plait.default_dtype(dtype):
            made = plait.linspace(3, 1j, 7)
        numpy.testing.assert_array_equal(host(made), numpy.linspace(3, 1j, 7).astype(wanted), strict=True)


@pytest.mark.parametrize("name", AS_NUMPY)
def test_what_has_a_dtype_keeps_it(name):
    expected = AS_NUMPY[name](numpy)
    with plait.default_dtype("float32"):
        made = AS_NUMPY[name](plait)
    assert numpy.asarray(made).dtype == numpy.asarray(expected).dtype
    numpy.testing.assert_array_equal(host(made), expected)


def test_complex_numbers_have_its_precision():
    with plait.default_dtype("float32"):
        assert plait.array([1j, 0.1]).dtype == plait.full(3, 2j).dtype == numpy.complex64
    with plait.default_dtype("float16"):
        assert plait.array([1j]).dtype == numpy.complex64  # NumPy has nothing smaller


def test_plaits_own_values_have_a_dtype():
    total = plait.ones(5000).sum()
    with plait.default_dtype("float32"):
        assert plait.array([total, 1.0]).dtype == plait.array([plait.array([0.1], "f8"), [0.2]]).dtype == numpy.float64


def test_random_numbers_stay_below_one():
    with plait.default_dtype("float16"):
        x = plait.random.default_rng(0).random(100_000)
        assert x.dtype == numpy.float16 and float(x.max()) < 1
        assert float(plait.random.rand(100_000).max()) < 1


def test_the_process_and_back():
    assert plait.get_default_dtype() == numpy.float64
    seen = []
    try:
        plait.set_default_dtype("float32")
        thread = threading.Thread(target=lambda: seen.append(plait.zeros(1).dtype))
        thread.start()
        thread.join()
        assert seen == [numpy.float32] == [plait.zeros(1).dtype]
        with plait.set_default_dtype(numpy.float16) as d:
            assert plait.get_default_dtype() == d == plait.ones(1).dtype == numpy.float16
        assert plait.get_default_dtype() == numpy.float32
        with plait.default_dtype(float), plait.default_dtype("f2"):
            plait.set_default_dtype("float32")  # the thread's own stands before the process's
            assert plait.zeros(1).dtype == numpy.float16
        assert plait.zeros(1).dtype == numpy.float32
    finally:
        plait.set_default_dtype("float64")
    assert plait.zeros(1).dtype == numpy.float64


def test_a_with_block_is_its_threads():
    seen = []
    with plait.default_dtype("float32"):
        thread = threading.Thread(target=lambda: seen.append(plait.zeros(1).dtype))
        thread.start()
        thread.join()
    assert seen == [numpy.float64]
    with pytest.raises(KeyError), plait.default_dtype("float32"):
        raise KeyError
    assert plait.get_default_dtype() == numpy.float64


@pytest.mark.parametrize("dtype", ["int32", "complex64", bool, "longdouble"])
def test_other_dtypes_are_refused(dtype):
    for choose in (plait.set_default_dtype, plait.default_dtype):
        with pytest.raises(ValueError, match="must be one of bfloat16, float16, float32, float64, not " + numpy.dtype(dtype).name):
            choose(dtype)
    with pytest.raises(TypeError):
        plait.set_default_dtype("nonsense")
    assert plait.get_default_dtype() == numpy.float64


def test_under_jit():
    def f(n):
        return numpy.linspace(0, 1, n) * numpy.array([2.0])

    with plait.default_dtype("float32"):
        assert plait.jit(f)(5).dtype == numpy.float32


def test_by_environment(run_python, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\nprint(np.zeros(2).dtype, np.random.rand(3).dtype, np.array([1.5]).dtype, np.ones(1, float).dtype)\n"
    )
    done = run_python(None, "-m", "plait", str(script), env={"PLAIT_DEFAULT_DTYPE": "float32"})
    assert done.stdout.split() == ["float32", "float32", "float32", "float64"], done.stderr
