"""Sequential kernels: built one instruction at a time, compiled, and run on arrays."""

import math
import random
import signal
import threading
import time

import numpy
import pytest

import plait as np
from plait import _plait


class Program(_plait.Procedure):
    """A procedure with a few words for what tests write often."""

    def int(self, n):
        return self.const("int64", n)

    def element(self, index, size=8):
        return self.apply("multiply", index, self.int(size))

    def bump(self, variable, by):
        self.set(variable, self.apply("add", self.get(variable), by))

    def checked(self, buffer, i, extent, block, size=8):
        """The byte offset of element i; leaves the block where there is none."""
        at, outside = self.index(i, extent)
        self.break_(block, outside)
        return self.element(at, size)


def finished(p):
    p.finish()
    if not p.compile():
        pytest.skip("no JIT here")
    return p


@pytest.fixture(scope="module")
def collatz():
    p = Program("collatz")
    n, steps = p.local("int64"), p.local("int64")
    p.set(n, p.param())
    outer = p.begin_if()
    loop = p.begin_repeat()
    p.break_(outer, p.apply("equal", p.get(n), p.int(1)))
    odd = p.apply("equal", p.apply("bitwise_and", p.get(n), p.int(1)), p.int(1))
    p.begin_if(odd)
    p.set(n, p.apply("add", p.apply("multiply", p.get(n), p.int(3)), p.int(1)))
    p.otherwise()
    p.set(n, p.apply("floor_divide", p.get(n), p.int(2)))
    p.end()
    p.bump(steps, p.int(1))
    p.end()
    p.end()
    p.result(p.get(steps))
    return finished(p)


def test_repeat_and_break(collatz):
    def expected(n):
        steps = 0
        while n != 1:
            n = 3 * n + 1 if n % 2 else n // 2
            steps += 1
        return steps

    for n in [1, 2, 3, 27, 97, 871, 6171]:
        assert collatz.run([], [n], []) == (expected(n),)


@pytest.fixture(scope="module")
def solve():
    """x[i] = (b[i] - sum(L[i, j] * x[j] for j < i)) / L[i, i], in place of b."""
    p = Program("solve")
    L, x = p.buffer("float64", False), p.buffer("float64", True)
    n, rows, columns, step = p.param(), p.param(), p.param(), p.param()
    s, error = p.local("float64"), p.local("bool")
    p.set(error, p.const("bool", True))
    block = p.begin_if()
    _, i = p.begin_count(p.int(0), n)
    row = p.apply("multiply", i, rows)
    p.set(s, p.load(x, p.checked(x, i, step, block)))
    _, j = p.begin_count(p.int(0), i)
    at = p.apply("add", row, p.apply("multiply", j, columns))
    product = p.apply("multiply", p.load(L, at), p.load(x, p.checked(x, j, step, block)))
    p.set(s, p.apply("subtract", p.get(s), product))
    p.end()
    diagonal = p.load(L, p.apply("add", row, p.apply("multiply", i, columns)))
    p.store(x, p.checked(x, i, step, block), p.apply("divide", p.get(s), diagonal))
    p.end()
    p.set(error, p.const("bool", False))
    p.end()
    p.result(p.get(error))
    return finished(p)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 64])
def test_nested_loops(solve, n):
    rng = numpy.random.default_rng(n)
    L = rng.standard_normal((n, n)) + 4 * numpy.eye(n)
    x = rng.standard_normal(n)
    expected = x.copy()
    for i in range(n):
        s = expected[i]
        for j in range(i):
            s -= L[i, j] * expected[j]
        expected[i] = s / L[i, i]
    got = np.array(x)
    assert solve.run([np.array(L), got], [n, 8 * n, 8, n], []) == (False,)
    assert numpy.array_equal(numpy.asarray(got), expected)


def test_what_is_out_of_range_ends_the_block(solve):
    x = np.arange(1.0, 7.0)
    assert solve.run([np.eye(6), x], [6, 48, 8, 4], []) == (True,)
    assert x.tolist() == [1, 2, 3, 4, 5, 6]


def test_sieve():
    p = Program("sieve")
    flags = p.buffer("bool", True)
    n, count = p.param(), p.local("int64")
    _, i = p.begin_count(p.int(2), n)
    p.begin_if(p.load(flags, i))
    p.bump(count, p.int(1))
    j = p.local("int64")
    p.set(j, p.apply("multiply", i, i))
    p.begin_if(p.apply("less", p.get(j), n))
    p.begin_repeat()
    p.store(flags, p.get(j), p.const("bool", False))
    p.bump(j, i)
    p.end(p.apply("less", p.get(j), n))
    p.end()
    p.end()
    p.end()
    p.result(p.get(count))
    finished(p)
    flags = np.ones(1000, bool)
    assert p.run([flags], [1000], []) == (168,)
    assert numpy.flatnonzero(numpy.asarray(flags))[2:6].tolist() == [2, 3, 5, 7]


def test_continue_is_a_break_of_the_block_around_the_body():
    p = Program("odd")
    total, n = p.local("int64"), p.param()
    loop, i = p.begin_count(p.int(0), n)
    body = p.begin_if()
    p.break_(body, p.apply("equal", p.apply("remainder", i, p.int(2)), p.int(0)))
    p.break_(loop, p.apply("greater", i, p.int(50)))
    p.bump(total, i)
    p.end()
    p.end()
    p.result(p.get(total))
    finished(p)
    assert p.run([], [10], []) == (25,)
    assert p.run([], [1000], []) == (625,)
    assert p.run([], [-3], []) == (0,)


@pytest.fixture(scope="module")
def shift():
    """to[i] = from[i] + 1, one after the other."""
    p = Program("shift")
    a, b, n = p.buffer("float64", False), p.buffer("float64", True), p.param()
    _, i = p.begin_count(p.int(0), n)
    p.store(b, p.element(i), p.apply("add", p.load(a, p.element(i)), p.const("float64", 1)))
    p.end()
    return finished(p)


def test_arrays_that_overlap(shift):
    for n in (3, 10, 1000):
        x = np.zeros(n + 1)
        assert shift.run([x[:-1], x[1:]], [n], []) == ()
        assert x.tolist() == list(range(n + 1))
        x = np.arange(float(n + 1))
        shift.run([x[1:], x[:-1]], [n], [])
        assert x.tolist() == [i + 2.0 for i in range(n)] + [n]
        x = np.arange(float(n))
        shift.run([x, x], [n], [])
        assert x.tolist() == [i + 1.0 for i in range(n)]


def test_values_recorded_before_stay_what_they_were(shift):
    x = np.arange(100_000.0)
    pending, copy, view = x * 2, x.copy(), x[::2]
    reading = np.array(np.arange(100_000.0)) * 3
    shift.run([reading, x], [100_000], [])
    assert pending.tolist() == [2.0 * i for i in range(100_000)]
    assert copy[5] == 5 and x[5] == 16 and view[2] == 13
    assert float((x - 1)[7]) == 21


def test_memory_of_numpy_is_written_through(shift):
    memory = numpy.zeros(50)
    x = np.asarray(memory, copy=False) if hasattr(np, "asarray") else np.array(memory)
    shift.run([np.arange(50.0), x], [50], [])
    assert x.tolist() == [i + 1.0 for i in range(50)]


def test_arrays_that_cannot_be_written(shift):
    x = np.arange(4.0)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        shift.run([np.arange(4.0), x], [4], [])
    with pytest.raises(TypeError):
        shift.run([np.arange(4), np.arange(4.0)], [4], [])
    with pytest.raises(TypeError):
        shift.run([[1.0], np.arange(4.0)], [4], [])
    for arguments in [([x], [4], []), ([x, x], [], []), ([x, x], [4], [1])]:
        with pytest.raises(ValueError):
            shift.run(*arguments)
    with pytest.raises((TypeError, OverflowError)):
        shift.run([np.arange(4.0), np.arange(4.0)], [2**70], [])


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
)
def test_every_dtype_comes_back_as_pythons_number(dtype):
    p = Program("identity")
    a = p.arg(dtype)
    v = p.local(dtype)
    p.set(v, a)
    p.result(p.get(v))
    p.result(p.get(p.local(dtype)))
    finished(p)
    for number in [0, 1, 100]:
        expected = numpy.array(number).astype(dtype).item()
        got, zero = p.run([], [], [number])
        assert got == expected and type(got) is type(expected)
        assert zero == 0 and type(zero) is type(expected)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply"])
def test_overflow(name):
    p = Program("overflow")
    a, b = p.param(), p.param()
    p.result(p.overflows(name, a, b))
    finished(p)
    exact = {"add": int.__add__, "subtract": int.__sub__, "multiply": int.__mul__}[name]
    edges = [0, 1, -1, 2, 2**31, 2**32 + 1, 2**62, -(2**62), 2**63 - 1, -(2**63)]
    for x in edges:
        for y in edges:
            assert p.run([], [x, y], []) == (not -(2**63) <= exact(x, y) < 2**63,)


def test_functions_of_the_c_library_are_pythons():
    circular = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh"
    unary = f"{circular} exp exp2 expm1 log log1p log2 log10 cbrt erf erfc".split()
    rng = random.Random(0)
    for name in unary + ["pow", "atan2", "fmod"]:
        pythons = getattr(math, name)
        n = 1 if name in unary else 2
        p = Program(name)
        p.result(p.call(name, *[p.arg("float64") for _ in range(n)]))
        finished(p)
        for _ in range(200):
            x = [rng.uniform(0.01, 0.99) if name != "acosh" else rng.uniform(1, 9) for _ in range(n)]
            if name in ("sin", "cos", "tan", "atan", "exp", "sinh", "asinh", "atan2", "fmod", "erf"):
                x = [rng.uniform(-30, 30) for _ in range(n)]
            assert p.run([], [], x) == (pythons(*x),), (name, x)


def test_floats_are_pythons():
    """No contraction and no other order, whatever is made of a loop."""
    p = Program("recurrence")
    a, n = p.buffer("float64", False), p.param()
    s, c = p.local("float64"), p.arg("float64")
    _, i = p.begin_count(p.int(0), n)
    x = p.load(a, p.element(i))
    p.set(s, p.apply("add", p.apply("multiply", p.get(s), c), p.apply("multiply", x, x)))
    p.end()
    p.result(p.get(s))
    finished(p)
    x = numpy.random.default_rng(0).standard_normal(1000)
    s = 0.0
    for v in x.tolist():
        s = s * 0.7 + v * v
    assert p.run([np.array(x)], [1000], [0.7]) == (s,)


def test_interrupt(collatz):
    p = Program("endless")
    n = p.local("int64")
    p.begin_repeat()
    p.bump(n, p.int(1))
    p.end()
    p.result(p.get(n))
    finished(p)
    start = time.perf_counter()
    threading.Timer(0.2, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        p.run([], [], [])
    assert time.perf_counter() - start < 5
    assert collatz.run([], [27], []) == (111,)


def test_background(shift):
    p = Program("later")
    p.result(p.apply("add", p.arg("float64"), p.const("float64", 0.125)))
    with pytest.raises(ValueError, match="not finished"):
        p.compile()
    p.finish()
    p.compile_async()
    for _ in range(500):
        if p.ready:
            break
        time.sleep(0.01)
    assert p.ready
    assert p.run([], [], [1]) == (1.125,)


def test_text():
    p = Program("named")
    p.begin_if(p.apply("less", p.param(), p.int(3)))
    p.end()
    p.finish()
    assert p.text().startswith("sequential kernel named (1 params")
    assert "if 1: %" in p.text()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_integer_division_is_numpys(dtype):
    info = numpy.iinfo(dtype)
    edges = sorted({info.min, info.min + 1, info.max, info.max - 1, *(n for n in range(-8, 9) if n >= info.min)})
    for name in ["floor_divide", "remainder"]:
        by_value = Program(name)
        by_value.result(by_value.apply(name, by_value.arg(dtype), by_value.arg(dtype)))
        finished(by_value)
        for b in edges:
            by_constant = Program(name)
            by_constant.result(by_constant.apply(name, by_constant.arg(dtype), by_constant.const(dtype, b)))
            finished(by_constant)
            for a in edges:
                with numpy.errstate(all="ignore"):
                    expected = int(getattr(numpy, name)(numpy.array(a, dtype), numpy.array(b, dtype)))
                assert by_value.run([], [], [a, b]) == by_constant.run([], [], [a]) == (expected,), (name, a, b)
