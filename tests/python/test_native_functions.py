"""plait.cfunc, plait.vectorize with signatures and plait.guvectorize: what C and NumPy call is the machine code of Python's functions."""

import ctypes
import math
import sys
import traceback

import numpy
import pytest

import plait
from plait._signatures import signature_of


def gauss(x):
    return math.exp(-x * x) / x


def total(n, x):
    t = 0.0
    for i in range(n):
        t += x[i]
    return t


def of_doubles(*numbers):
    return (ctypes.c_double * len(numbers))(*numbers)


@pytest.fixture
def unraisable(monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    return said


@pytest.mark.parametrize(
    "text, result, arguments",
    [
        ("float64(float64, int32)", "f8", [("f8", False, "", ""), ("i4", False, "", "")]),
        ("double(int n, const double x[n])", "f8", [("intc", False, "n", ""), ("f8", True, "x", "n")]),
        ("int (double *, npy_intp size, double *out, void *)", "intc", [("f8", True, "", ""), ("intp", False, "size", ""), ("f8", True, "out", ""), (None, True, "", "")]),
        ("float64(intp, CPointer(float64), voidptr)", "f8", [("intp", False, "", ""), ("f8", True, "", ""), (None, True, "", "")]),
        ("unsigned long long(unsigned char c, size_t)", "u8", [("u1", False, "c", ""), ("uintp", False, "", "")]),
        ("(float64, int64) -> float64", "f8", [("f8", False, "", ""), ("i8", False, "", "")]),
        ("double()", "f8", []),
        ("double(void)", "f8", []),
    ],
)
def test_signatures(text, result, arguments):
    found = signature_of(text)
    assert found.result.dtype == numpy.dtype(result)
    assert [(a.dtype and a.dtype.str, a.pointer, a.name, a.length) for a in found.arguments] == [(t and numpy.dtype(t).str, *rest) for t, *rest in arguments]


@pytest.mark.parametrize("text", ["float64", "float64(what)", "complex128(float64)", "float64(void, float64)", "float64(double *x[3])", "float64()()"])
def test_signatures_that_are_none(text):
    with pytest.raises(TypeError):
        plait.cfunc(gauss, text)


def test_a_c_function_gives_what_python_gives():
    c = plait.cfunc(gauss, "double(double)")
    for x in (-2.0, 0.5, 3.0, float("nan"), float("inf")):
        assert repr(c.ctypes(x)) == repr(gauss(x)) == repr(c(x))
    assert ctypes.cast(c.ctypes, ctypes.c_void_p).value == c.address
    assert c.__name__ == "gauss"


def test_a_decorator_and_a_prototype_of_ctypes():
    prototype = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, ctypes.POINTER(ctypes.c_double))

    @plait.cfunc(prototype)
    def f(n, x):
        return x[:n].sum() + x[n]

    assert f.ctypes(2, of_doubles(1, 2, 4)) == 7.0


def test_more_arguments_than_registers():
    def f(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s):  # noqa: E741
        return a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + 17 * h + 19 * i + 23 * j + 29 * k + 31 * l + 37 * m + 41 * n + 43 * o + 47 * p + 53 * q + 59 * r + 61 * s

    types = "int8, uint8, int16, uint32, int64, float, double, bool, int64, int, short" + 8 * ", double"
    given = (-1, 200, -3, 4_000_000_000, 5, 1.5, 2.0, True, -(2**40), -9, 8, 0.5, 0.25, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5)
    assert plait.cfunc(f, f"double({types})").ctypes(*given) == f(*given)


@pytest.mark.parametrize("result, value", [("int8", -128), ("int16", -2), ("int32", -7), ("int64", -(2**62)), ("uint8", 255), ("uint32", 2**32 - 1), ("bool", True)])
def test_types_of_results(result, value):
    assert plait.cfunc(lambda x: x, f"{result}(int64)").ctypes(value) == value


def test_a_result_that_c_has_no_room_for_wraps_around():
    assert plait.cfunc(lambda x: x, "uint8(int64)").ctypes(-1) == 255


def test_an_array_as_long_as_an_argument_says(unraisable):
    c = plait.cfunc(lambda n, x: x[n], "double(int n, double x[n])")
    assert math.isnan(c.ctypes(2, of_doubles(1, 2, 3)))
    assert [repr(e.exc_value) for e in unraisable] == ["IndexError('index 2 is out of bounds for axis 0 with size 2')"]
    with pytest.raises(TypeError, match="which is no argument of an integer type"):
        plait.cfunc(total, "double(int n, double x[m])")


def test_memory_of_c_is_written():
    def mean(x, n, out, data):
        out[0] = total(n, x) / n
        return data == 0

    c = plait.cfunc(mean, "int(double x[n], intp n, double out[1], void *data)")
    out = of_doubles(0)
    assert c.ctypes(of_doubles(1, 2, 6), 3, out, None) == 1
    assert out[0] == 3.0
    assert c.ctypes(of_doubles(1, 2, 6), 3, out, out) == 0


def test_a_function_that_returns_nothing():
    def fill(x, n):
        for i in range(n):
            x[i] = i * i

    out = of_doubles(9, 9, 9)
    assert plait.cfunc(fill, "void(double x[n], int n)").ctypes(out, 3) is None
    assert list(out) == [0.0, 1.0, 4.0]


def test_qsort_calls_it():
    def compare(a, b):
        return int(a[0] > b[0]) - int(a[0] < b[0])

    numbers = (ctypes.c_int * 6)(5, 3, 9, -1, 7, 0)
    c = plait.cfunc(compare, "int(const int *a, const int *b)")
    ctypes.CDLL(None).qsort(numbers, ctypes.c_size_t(6), ctypes.c_size_t(4), c.ctypes)
    assert list(numbers) == [-1, 0, 3, 5, 7, 9]


def test_an_error_is_told_and_nan_is_returned(unraisable):
    c = plait.cfunc(gauss, "double(double)")
    assert math.isnan(c.ctypes(0.0))
    (said,) = unraisable
    assert repr(said.exc_value) == "ZeroDivisionError('float division by zero')"
    assert traceback.extract_tb(said.exc_traceback)[-1].lineno == gauss.__code__.co_firstlineno + 1
    assert c.ctypes(1.0) == gauss(1.0)
    assert plait.cfunc(lambda x: 1 // x, "int(int)").ctypes(0) == 0
    assert repr(unraisable[1].exc_value).startswith("ZeroDivisionError")


def test_ints_of_more_than_64_bits_are_pythons(unraisable):
    c = plait.cfunc(lambda x: x * x * x // (x * x), "int64(int64)")
    assert c.ctypes(10**9) == 10**9
    assert not unraisable


@pytest.mark.parametrize(
    "function, signature, why",
    [
        (lambda n: hex(n), "double(int)", "a call of hex"),
        (lambda x: x / 2, "int(int)", "it returns a float"),
        (lambda x: None, "double(double)", "neither a number"),
        (len, "int(int)", "source cannot be read"),
        (gauss, "double(double, double)", "arguments"),
        (gauss, "double *(double)", "returns a pointer"),
        (gauss, "double(uint64)", "no type of Python's"),
    ],
)
def test_what_is_not_compiled_says_why(function, signature, why):
    with pytest.raises(TypeError, match=why):
        plait.cfunc(function, signature)


def test_a_pointer_that_may_be_the_same_memory():
    def shifted(n, x, y):
        y[1:] = x[:-1] * 2

    with pytest.raises(TypeError, match="the same memory"):
        plait.cfunc(shifted, "void(int n, double x[n], double y[n])")


def test_what_a_function_reads_from_outside_stays_as_it_was():
    weights, factor = numpy.array([1.0, 10.0, 100.0]), 2

    def f(i):
        return weights[i] * factor

    c = plait.cfunc(f, "double(int)")
    factor = 3
    assert c.ctypes(2) == 200.0
    assert f(2) == 300.0


# ufuncs


def plus(x, y):
    if x == 13:
        raise ValueError(f"unlucky {x}")
    return x + y


@pytest.fixture(scope="module")
def add():
    return plait.vectorize(["float64(float64, float64)", "int64(int64, int64)"], identity=0)(plus)


def test_a_ufunc(add):
    assert isinstance(add, numpy.ufunc)
    assert (add.nin, add.nout, add.types, add.identity, add.__name__) == (2, 1, ["dd->d", "ll->l"], 0, "plus")
    a, i = numpy.linspace(0, 1, 12).reshape(3, 4), numpy.arange(4)
    for x, y in ((a, a), (a.T, a[0, 0]), (a[::-1, ::2], 1), (i, i), (i, 2.5), (numpy.float32(1), i), (a[:0], 1)):
        found = add(x, y)
        assert found.dtype == numpy.add(x, y).dtype
        numpy.testing.assert_array_equal(found, numpy.add(x, y))
    assert add(i.astype("i2"), i.astype("i1")).dtype == numpy.float64  # the first signature that NumPy can cast to
    numpy.testing.assert_array_equal(add.reduce(a, axis=1, keepdims=True), numpy.add.reduce(a, axis=1, keepdims=True))
    numpy.testing.assert_array_equal(add.accumulate(i), numpy.add.accumulate(i))
    numpy.testing.assert_array_equal(add.outer(i, i), numpy.add.outer(i, i))
    out = numpy.zeros(4)
    assert add(i, 1, out=out, where=i > 1) is out
    assert out.tolist() == [0, 0, 3, 4]
    add.at(out, [0, 0, 1], 5)
    assert out.tolist() == [10, 5, 3, 4]
    out[1:] += 0
    add(out[:-1], 1, out=out[1:])
    assert out.tolist() == [10, 11, 6, 4]
    with pytest.raises(TypeError, match="not supported for the input types"):
        add("a", 1)


def test_one_signature_and_plaits_arrays():
    @plait.vectorize("float32(float32)")
    def half(x):
        return x / 2

    assert half.types == ["f->f"]
    found = half(plait.arange(3, dtype="float32"))
    assert type(found) is plait.ndarray and found.dtype == numpy.float32
    assert found.tolist() == [0.0, 0.5, 1.0]
    assert isinstance(plait.vectorize(lambda x: x), numpy.vectorize)


@pytest.mark.parametrize("x", [13, numpy.arange(20.0), numpy.arange(20)[::-1], numpy.arange(40000.0).reshape(2, -1).T, numpy.arange(40.0)[::2]], ids=str)
def test_errors_of_elements(add, x):
    if 13 in numpy.asarray(x):
        with pytest.raises(ValueError, match=r"unlucky 13.0") as e:
            add(x, 1)
        assert traceback.extract_tb(e.value.__traceback__)[-1].lineno == plus.__code__.co_firstlineno + 2
    else:
        numpy.testing.assert_array_equal(add(x, 1), numpy.add(x, 1))


def test_elements_are_pythons_numbers():
    cube = plait.vectorize(["int64(int64)"])(lambda x: x * x * x // (x * x))
    assert cube(numpy.array([3, 10**9, 5])).tolist() == [3, 10**9, 5]
    square = plait.vectorize(["int64(int64)"])(lambda x: x * x)
    with pytest.raises(OverflowError):
        square(numpy.array([1, 2**62]))
    huge = plait.vectorize(["float64(float64)"])(lambda x: x * 1e300)
    with numpy.errstate(all="raise"):
        assert huge(1e300) == math.inf


@pytest.mark.parametrize("signatures", ["void(float64)", "float64(float64[:])", "float64()", [], ["float64(float64)", "float64(float64, float64)"]])
def test_signatures_of_no_ufunc(signatures):
    with pytest.raises(TypeError):
        plait.vectorize(signatures)(lambda x: x)


def test_a_ufunc_keeps_what_it_needs(add):
    import gc

    made = plait.vectorize(["float64(float64)"])(lambda x: x + 1)
    gc.collect()
    assert made(1.0) == 2.0


# generalised ufuncs


def dot(a, b, r):
    t = 0.0
    for i in range(a.shape[0]):
        t += a[i] * b[i]
    r[0] = t


@pytest.fixture(scope="module")
def inner():
    return plait.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")(dot)


def test_a_generalised_ufunc(inner):
    rng = numpy.random.default_rng(0)
    a, b = rng.random((4, 3, 5)), rng.random((3, 5))
    expected = (a * b).sum(-1)
    assert inner.signature == "(n),(n)->()"
    numpy.testing.assert_allclose(inner(a, b), expected, rtol=1e-14)
    numpy.testing.assert_allclose(inner(a.transpose(2, 0, 1), b.T[:, None], axis=0), expected, rtol=1e-14)
    numpy.testing.assert_allclose(inner(a[..., ::-2], b[:, ::-2], keepdims=True), (a * b)[..., ::-2].sum(-1, keepdims=True), rtol=1e-14)
    numpy.testing.assert_allclose(inner(a, b, axes=[-1, -1, ()]), expected, rtol=1e-14)
    out = numpy.empty((4, 3))
    assert inner(a, b, out=out) is out
    assert inner(numpy.ones((2, 0)), numpy.ones(0)).tolist() == [0.0, 0.0]


def test_errors_of_core_dimensions(inner):
    for f in (lambda ufunc: ufunc(numpy.ones(3), numpy.ones(4)), lambda ufunc: ufunc(1, 2)):
        with pytest.raises(ValueError) as expected:
            f(numpy.vecdot)
        with pytest.raises(ValueError) as found:
            f(inner)
        assert str(found.value) == str(expected.value).replace("vecdot", "dot")


def test_numbers_and_matrices_as_operands():
    @plait.guvectorize("void(float64[:, :], int64, float64[:, :])", "(m,n),()->(n,m)")
    def divided(a, k, r):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                r[j, i] = k / a[i, j]

    a = numpy.arange(1.0, 13).reshape(2, 2, 3)
    numpy.testing.assert_array_equal(divided(a, [[1], [2]]), numpy.array([[1], [2]])[..., None, None] / numpy.broadcast_to(a.transpose(0, 2, 1), (2, 2, 3, 2)))
    a[1, 1, 1] = 0
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        found = divided(a, 1)
    assert found[1, 1, 1] == math.inf


def test_an_error_leaves_what_was_done_before():
    @plait.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def roots(a, r):
        for i in range(a.shape[0]):
            r[i] = math.sqrt(a[i])

    out = numpy.zeros((2, 3))
    with pytest.raises(ValueError, match="math domain error|nonnegative"):
        roots(numpy.array([[1.0, 4, 9], [16, -1, 25]]), out=out)
    assert out.tolist() == [[1, 2, 3], [4, 0, 0]]


@pytest.mark.parametrize(
    "signature, layout, error, why",
    [
        ("void(float64[:], float64[:])", "(n)->()", TypeError, "writes to its argument 1"),
        ("void(float64[:], float64[:])", "(n),(n)->()", TypeError, "2 arguments for 3 operands"),
        ("void(float64[:, :], float64[:])", "(n)->()", TypeError, "has 2 dimensions, and 1"),
        ("float64(float64[:], float64[:])", "(n)->()", TypeError, "returns void"),
        ("void(float64[:], float64[:])", "(n)", ValueError, "not a layout"),
    ],
)
def test_what_is_no_generalised_ufunc(signature, layout, error, why):
    def f(a, r):
        a[0] = r[0]

    with pytest.raises(error, match=why):
        plait.guvectorize([signature], layout)(f)
