"""Python's loops over arrays of a device: independent iterations run there, a thread each, and others on the host."""

import math

import numpy
import pytest
from loop_checks import anew
from support import needs_device

import plait
from plait._jit import loops_of
from plait._python_loops import on_device

pytestmark = [needs_device, pytest.mark.usefixtures("at_once")]


@pytest.fixture
def on_host(monkeypatch):
    """Why loops ran on the host."""
    said = []
    monkeypatch.setattr(on_device, "tell", lambda where, why: said.append(why))
    return said


@pytest.fixture
def runs(monkeypatch):
    """How many iterations devices ran, and whether one failed."""
    seen, by_threads = [], on_device._by_threads

    def counted(code, device, arrays, written, args, numbers):
        result = by_threads(code, device, arrays, written, args, numbers)
        seen.append((len(numbers), result is not None))
        return result

    monkeypatch.setattr(on_device, "_by_threads", counted)
    return seen


def expected(f, args):
    args = [numpy.array(a) if isinstance(a, numpy.ndarray) else a for a in args]
    try:
        return f(*args), args
    except Exception as e:
        return (type(e), str(e)), args


def check(f, *args, exact=True):
    """The function on the device does what NumPy's does, with arrays of the host and of the device."""
    same = numpy.testing.assert_array_equal if exact else lambda a, b: numpy.testing.assert_allclose(a, b, rtol=1e-12)
    result, left = expected(f, args)
    for convert in (numpy.array, lambda a: plait.asarray(a, device="cuda")):
        jitted = plait.jit(anew(f), device="cuda")
        given = [convert(a) if isinstance(a, numpy.ndarray) else a for a in args]
        try:
            found = jitted(*given)
        except Exception as e:
            found = type(e), str(e)
        if isinstance(result, tuple):
            assert repr(found) == repr(result)
        else:
            same(numpy.asarray(found), numpy.asarray(result))
            assert numpy.asarray(found).dtype == numpy.asarray(result).dtype
        for a, b in zip(given, left):
            if isinstance(b, numpy.ndarray):
                same(numpy.asarray(a), b)
    return jitted


def scaled(x, out, k):
    for i in range(len(x)):
        out[i] = x[i] * k + i
    return out


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "uint8", "float16"])
def test_iterations_are_a_thread_each(dtype, runs, on_host):
    x = numpy.arange(100).astype(dtype)
    check(scaled, x, numpy.zeros(100), 2)
    assert runs == [(100, True)] * 2 and not on_host


def test_results_stay_on_the_device(runs):
    x = plait.asarray(numpy.arange(50.0), device="cuda")
    out = plait.zeros(50, device="cuda")
    assert plait.jit(anew(scaled), device="cuda")(x, out, 3) is out
    assert out.device == "cuda:0" and runs
    numpy.testing.assert_array_equal(numpy.asarray(out), numpy.arange(50.0) * 4)


def escape(height, width, limit, counts):
    for i in range(height):
        for j in range(width):
            x0, y0 = -2.0 + 3.0 * j / width, -1.0 + 2.0 * i / height
            x = y = 0.0
            n = 0
            while x * x + y * y <= 4.0 and n < limit:
                x, y = x * x - y * y + x0, 2 * x * y + y0
                n += 1
            counts[i, j] = n
    return counts


def test_loops_inside_conditions_and_whiles(runs, on_host):
    check(escape, 12, 17, 30, numpy.zeros((12, 17), "int32"))
    assert runs == [(12, True)] * 2 and not on_host


def searched(x, wanted, out):
    for i in range(len(wanted)):
        out[i] = -1
        for j in range(len(x)):
            if x[j] == wanted[i]:
                out[i] = j
                break
        else:
            out[i] = -2
        if out[i] < 0:
            continue
        out[i] += 100
    return out


def test_breaks_continues_and_else(runs):
    check(searched, numpy.array([4, 7, 1]), numpy.array([7, 1, 5, 4]), numpy.zeros(4, "int64"))
    assert runs == [(4, True)] * 2


def of_math(x, out):
    for i in range(len(x)):
        v = x[i]
        out[i] = (
            math.exp(-v)
            + math.sin(v) * math.atan2(v, 2.0)
            + math.pow(v, 1.5)
            + math.erf(v)
            + math.fmod(v, 0.3)
            + math.asin(v / 10)
            + math.sqrt(v)
        )
    return out


def test_functions_of_math(runs, on_host):
    check(of_math, numpy.linspace(0.1, 3, 40), numpy.zeros(40), exact=False)
    assert runs == [(40, True)] * 2 and not on_host


def summed_rows(x, out):
    for i in range(len(x)):
        out[i] = x[i].sum() + x[i].max() + x[i].argmin()
    return out


def test_folds_have_numpys_order(runs):
    check(summed_rows, numpy.random.default_rng(0).normal(size=(7, 300)), numpy.zeros(7))
    assert runs == [(7, True)] * 2


def backwards(x, out):
    for i in range(len(x) - 1, 0, -2):
        out[i] = x[i] - x[i - 1]
    return out


def over_rows(x, out):
    for i, row in enumerate(x):
        out[i] = row[0] + row[-1]
    return out


def test_steps_and_items(runs):
    check(backwards, numpy.arange(21.0) ** 2, numpy.zeros(21))
    check(over_rows, numpy.arange(24.0).reshape(6, 4), numpy.zeros(6))
    check(backwards, numpy.zeros(0), numpy.zeros(3))
    assert runs == [(10, True)] * 2 + [(6, True)] * 2


def strided(x):
    for i in range(x.shape[1]):
        x[1, i] = x[0, i] // 3 + x[2, i] % 5
    return x


def rotated(z, out):
    for i in range(len(z)):
        out[i] = z[i] * (1 + 2j) + abs(z[i])
        out[i] += 1 // (10 - i)
    return out


def turned(z):
    for i in range(1, len(z)):
        z[i] *= z[i - 1]
    return z


def test_complex_numbers(runs, on_host):
    z = numpy.arange(9) * (1 - 0.5j)
    check(rotated, z, numpy.zeros(9, "complex128"))
    check(rotated, numpy.arange(12) + 0j, numpy.zeros(12, "complex128"))
    check(turned, z)
    assert [ran for _, ran in runs] == [True] * 2 + [False] * 2 and on_host


def test_views(runs):
    def of_views(x):
        strided(x[::-1, 1::2])
        return x

    for dtype in "int64", "float32":
        base = (numpy.arange(45) - 17).astype(dtype).reshape(5, 9)
        wanted = of_views(base.copy())
        x = plait.asarray(base, device="cuda")
        plait.jit(anew(strided), device="cuda")(x[::-1, 1::2])
        numpy.testing.assert_array_equal(numpy.asarray(x), wanted)
    assert runs == [(4, True)] * 2


def last_of(x, out):
    last = 0.0
    for i in range(len(x)):
        last = x[i] * 2
        out[i] = last
    return last + i


def test_variables_behind_the_loop(runs):
    check(last_of, numpy.arange(9.0), numpy.zeros(9))
    assert runs == [(9, True)] * 2


def gathered(x, at, out):
    for i in range(len(at)):
        out[i] = x[at[i]] + 1
    return out


def squares(x, out):
    for i in range(len(x)):
        out[i] = x[i] * x[i]
    return out


def roots(x, out):
    for i in range(len(x)):
        out[i] = math.sqrt(x[i])
    return out


def told(x, out):
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(f"{x[i]} at {i}")
        out[i] = x[i]
    return out


def test_an_iteration_that_fails_is_the_first_one(runs):
    at = numpy.arange(60)
    at[[41, 23, 50]] = 99
    check(gathered, numpy.arange(60.0), at, numpy.full(60, -1.0))
    check(roots, numpy.where(at == 99, -1.0, at), numpy.full(60, -1.0))
    check(told, numpy.where(at == 99, -1.0, at), numpy.full(60, -1.0))
    assert runs == [(60, False)] * 6


def wide(x, y, out):
    for i in range(len(out)):
        out[i] = (i + x) * y
    return out


def test_ints_that_outgrow_64_bits_are_told(runs):
    with pytest.raises(OverflowError):
        plait.jit(anew(wide), device="cuda")(3, 2**61, plait.zeros(8, "int64", device="cuda"))
    check(wide, -5, 2**60, numpy.zeros(8, "int64"))
    assert runs[0] == (8, False) and runs[1] == (8, True)


def total(x):
    s = 0.0
    for v in x:
        s += v
    return s


def prefix(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]
    return x


def counted(x, out):
    for i in range(len(x)):
        out[x[i]] += 1
    return out


def uniform(rng, out):
    for i in range(len(out)):
        out[i] = rng.random()
    return out


def with_list(x, out):
    for i in range(len(x)):
        seen = []
        for j in range(i):
            seen.append(x[j])
        out[i] = len(seen)
    return out


def perhaps(x, out):
    last = -1.0
    for i in range(len(x)):
        out[i] = x[i]
        if 3 < x[i] < 7:
            found = x[i]
    return found + last


def test_what_is_not_independent_runs_on_the_host(runs, on_host):
    x = numpy.arange(9.0)
    check(total, x)
    check(prefix, x)
    check(counted, numpy.array([2, 0, 2, 1]), numpy.zeros(3))
    check(with_list, x, numpy.zeros(9))
    check(perhaps, x, numpy.zeros(9))
    assert runs == [(9, False)] * 2
    assert on_host[::2] == [
        "an iteration may need what one before it has left, or end the loop",
        "iterations may meet in x",
        "iterations may meet in out",
        "it makes arrays, lists or dicts",
        "found has a value behind the loop that the last iteration does not give it",
    ]


def test_arrays_of_the_host(runs, on_host):
    x, out = plait.asarray(numpy.arange(6.0), device="cuda"), plait.zeros(6)
    f = plait.jit(anew(scaled))
    f(x, out, 2)
    numpy.testing.assert_array_equal(numpy.asarray(out), numpy.arange(6.0) * 3)
    assert not runs and on_host == ["it writes to an array of the host"]
    f(plait.array(numpy.arange(6.0)), there := plait.zeros(6, device="cuda"), 2)
    numpy.testing.assert_array_equal(numpy.asarray(there), numpy.arange(6.0) * 3)
    assert runs == [(6, True)]


def test_random_numbers_are_the_hosts(runs, on_host):
    out = plait.zeros(5, device="cuda")
    plait.jit(anew(uniform), device="cuda")(numpy.random.default_rng(3), out)
    numpy.testing.assert_array_equal(numpy.asarray(out), uniform(numpy.random.default_rng(3), numpy.zeros(5)))
    assert not runs and on_host == ["it draws random numbers, one after the other"]


def test_arrays_that_overlap():
    x = plait.asarray(numpy.arange(12.0), device="cuda")
    shifted = plait.jit(anew(squares), device="cuda")
    shifted(x[:-1], x[1:])
    wanted = numpy.arange(12.0)
    squares(wanted[:-1], wanted[1:])
    numpy.testing.assert_array_equal(numpy.asarray(x), wanted)


def test_what_was_recorded_before_has_the_old_contents(runs):
    x = plait.asarray(numpy.arange(30.0), device="cuda")
    before, out = x + 1, plait.ones(30, device="cuda")
    copy = out * 5
    plait.jit(anew(scaled), device="cuda")(before, out, 1)
    numpy.testing.assert_array_equal(numpy.asarray(copy), numpy.full(30, 5.0))
    numpy.testing.assert_array_equal(numpy.asarray(out), numpy.arange(30.0) * 2 + 1)
    assert numpy.asarray(out)[3] == 7  # which the host has read
    plait.jit(anew(scaled), device="cuda")(before, out, 2)
    assert float(out[3]) == 11
    assert runs == [(30, True)] * 2


def distances(a, b, out):
    for i in range(len(a)):
        scale = a[i, 0]
        for j in range(1, len(b)):
            s = 0.0
            for k in range(a.shape[1]):
                d = a[i, k] - b[j, k]
                s += d * d
            out[i, j - 1] += math.sqrt(s) * scale
    return out


def by_row(a, out):
    for i in range(len(a)):
        row = out[i]
        for j in range(len(row)):
            if a[i, j] < 0.5:
                continue
            row[j] = a[i, j] * 2
    return out


def fails_inside(a, out):
    for i in range(len(a)):
        for j in range(a.shape[1]):
            out[i, j] = 1 // int(a[i, j])
    return out


def test_threads_share_the_loop_inside(runs):
    a = numpy.random.default_rng(1).random((6, 40))
    for f, args in (
        (distances, (a, a[::-1].copy(), numpy.ones((6, 6)))),
        (by_row, (a, numpy.zeros((6, 40)))),
        (escape, (12, 17, 30, numpy.zeros((12, 17), "int32"))),
    ):
        assert shared_inside(check(f, *args))
    whole = numpy.ones((5, 9), "int64")
    whole[3, 4] = whole[4, 1] = 0
    assert shared_inside(check(fails_inside, whole, numpy.zeros((5, 9), "int64")))
    assert [ran for _, ran in runs] == [True] * 6 + [False] * 2


def shared_inside(jitted):
    return all(code.shared >= 0 for loop in loops_of(jitted) for code in loop.codes.values())


def carries(a, out):
    for i in range(len(a)):
        for j in range(1, a.shape[1]):
            out[i, j] = out[i, j - 1] + a[i, j]
    return out


def sums(a, out):
    for i in range(len(a)):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i, 0] = s
    return out


def begins_before(a, out):
    for i in range(len(a)):
        out[i, 0] += 1
        for j in range(a.shape[1]):
            out[i, j] += a[i, j]
    return out


def wraps(a, out):
    for i in range(len(a)):
        for j in range(a.shape[1]):
            out[i, j - 1] = a[i, j]
            out[i, j - 1] += j
    return out


def reads_behind(a, out):
    for i in range(len(a)):
        last = 0.0
        for j in range(a.shape[1]):
            last = a[i, j]
            out[i, j] = last
        x = last + 1
    return out + x


def leaves_last(a, out):
    for i in range(len(a)):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j]
    return out + j


def twice(a, out):
    for i in range(len(a)):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j]
        for k in range(a.shape[1] - 1):
            out[i, k] = out[i, k + 1]
    return out


def across(a, out):
    for i in range(len(a)):
        for j in range(len(a)):
            out[i, j, 0] = a[i, j]
            out[i, 0, j] += a[i, j]
    return out


@pytest.mark.parametrize("f", [carries, sums, begins_before, wraps, reads_behind, leaves_last, twice])
def test_one_thread_runs_all_of_a_loop_inside(f, runs):
    jitted = check(f, numpy.random.default_rng(1).random((4, 5)), numpy.zeros((4, 5)))
    assert not shared_inside(jitted) and runs


def test_parts_that_meet_inside(runs):
    assert not shared_inside(check(across, numpy.random.default_rng(1).random((4, 4)), numpy.zeros((4, 4, 4)))) and runs


def texts(x, out):
    for i in range(len(x)):
        if x[i] == 7:
            out[i] = int(str(3) + "0")
            continue
        out[i] = x[i] * 2
    return out


def test_parts_of_iterations_that_are_pythons(runs, on_host):
    check(texts, numpy.arange(20.0), numpy.zeros(20))
    assert runs == [(20, False)] * 2 and on_host == ["Python does a part of an iteration"] * 2
    check(texts, numpy.arange(20.0) + 8, numpy.zeros(20))
    assert runs[2:] == [(20, True)] * 2


def test_report_says_so():
    jitted = plait.jit(anew(scaled), device="cuda")
    jitted(numpy.arange(30.0), numpy.zeros(30), 2)
    assert [code.on_host for loop in loops_of(jitted) for code in loop.codes.values()] == [""]
