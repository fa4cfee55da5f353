"""What the names in a compiled loop stand for: variables, globals, functions, arrays that overlap; and loops that stay Python's."""

import linecache
import math
import warnings

import numpy as np
import pytest
from loop_cases import random, same

import plait
from plait._python_loops import codes


def test_a_loop_of_objects_stays_pythons(at_once, capfd):
    def letters(n):
        out = []
        for i in range(n):
            out.append(chr(97 + i))
        return "".join(out)

    assert plait.jit(letters)(4) == "abcd"


def test_globals_and_closures_are_read_at_each_call(at_once):
    factor = 2.0

    def scaled(x):
        for i in range(len(x)):
            x[i] *= factor
        return x

    f = plait.jit(scaled)
    assert f(np.ones(3)).tolist() == [2, 2, 2]
    factor = 5
    assert f(np.ones(3)).tolist() == [5, 5, 5]


def test_a_pending_reader_gets_what_was_there(at_once):
    def late(x):
        before = x * 2 + 1
        for i in range(len(x)):
            x[i] = i
        return before, x

    before, x = plait.jit(late)(np.full(1000, 7.0))
    assert (before == 15).all() and (x == np.arange(1000)).all()


def test_a_long_loop_goes_over_by_itself():
    def count(n):
        s = 0
        for i in range(n):
            s = (s * 31 + i) % 1000003
        return s

    f = plait.jit(count)
    expected = count(300_000)
    for _ in range(5):
        assert f(300_000) == expected


def test_line_numbers_stay(at_once):
    def fails(x):
        for i in range(3):
            x += i
        raise ValueError(x)

    with pytest.raises(ValueError) as e:
        plait.jit(fails)(1)
    assert e.traceback[-1].lineno == fails.__code__.co_firstlineno + 2


TABLE = np.arange(6.0)


def test_arrays_of_the_module(at_once):
    def looked_up(x):
        s = 0.0
        for i in range(len(x)):
            s += TABLE[x[i]]
            TABLE[x[i]] += 1
        return s

    x = np.array([1, 3, 3, 5])
    expected = looked_up(x)
    TABLE[:] = np.arange(6.0)
    assert plait.jit(looked_up)(x) == expected
    assert TABLE.tolist() == [0, 2, 2, 5, 4, 6]


def test_parts_that_overlap_another_array(at_once):
    def shifted(a, b):
        for i in range(3):
            a[:] = b * 2
        return a

    for base in (np.arange(8.0),):
        theirs, ours = base.copy(), base.copy()
        shifted(theirs[1:], theirs[:-1])
        plait.jit(shifted)(ours[1:], ours[:-1])
        assert (theirs == ours).all()


def test_a_function_of_a_notebook_whose_imports_are_in_another_cell(at_once, monkeypatch):
    source = "def roots(x):\n    for i in range(len(x)):\n        x[i] = math.sqrt(x[i]) + np.sin(0.0)\n    return x\n"
    linecache.cache["<cell>"] = len(source), None, source.splitlines(True), "<cell>"
    cell = {"math": math, "np": np, "__name__": "cell"}
    exec(compile(source, "<cell>", "exec"), cell)
    runs = []
    run = codes.Code.run
    monkeypatch.setattr(codes.Code, "run", lambda *a: runs.append(1) or run(*a))
    assert plait.jit(cell["roots"])(np.array([4.0, 9.0])).tolist() == [2, 3]
    assert runs


FACTOR = 3


def scaled(v, by=FACTOR):
    if v > 20:
        return v * by + FACTOR
    return v - by


@plait.jit
def sums(x, i):
    s = 0.0
    for k in range(i, len(x)):
        s += x[k]
        if s > 4:
            break
    return s, k


def test_functions_that_a_loop_calls(at_once):
    def calls(x):
        total, last = 0, 0
        for i in range(len(x)):
            total += scaled(i * 10) - scaled(by=2, v=i)
            s, last = sums(x, i)
            x[i] = s
        return total, last, x

    x = random.random(12)
    expected = calls(x.copy())
    runs = []
    real = codes.Code.run
    codes.Code.run = lambda code, *args: runs.append(code) or real(code, *args)
    try:
        got = plait.jit(calls)(x.copy())
    finally:
        codes.Code.run = real
    same(expected, got)
    assert len(runs) == 1


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def test_a_function_that_calls_itself(at_once):
    def first(n):
        s = 0
        for i in range(n):
            s += fibonacci(i)
        return s

    assert plait.jit(first)(10) == first(10)


def test_a_part_of_an_array_that_is_read_behind_the_loop(at_once):
    def last(x):
        row = None
        for i in range(len(x)):
            row = x[i]
            row[0] = i
        row[1] = 9
        return x, row

    same(last(np.ones((3, 2))), plait.jit(last)(np.ones((3, 2))))


def test_other_objects_at_each_call_make_no_other_code(at_once):
    def appends(n):
        out = []
        for i in range(n):
            out.append(hex(i))
        for i in range(n):
            k = i * 2
        return out, k

    f = plait.jit(appends)
    for _ in range(40):
        assert f(3) == (["0x0", "0x1", "0x2"], 4)
    loops = plait._jit.loops_of(f)
    assert [len(loop.codes) for loop in loops] == [1, 1]
    text = plait.explain(f, 3)
    assert "a call of hex()" in text and "machine code for" in text


def test_variables_keep_what_they_had_where_nothing_is_assigned(at_once):
    def kept(x, y, m):
        j = "text"
        k = 2.5
        for i in range(len(x)):
            for j in range(m):
                y += x[i]
            if x[i] > 5:
                k = i
        return i, j, k, y

    for m in (0, 3):
        for start in (0, 5):
            same(kept(np.arange(start, start + 2.0), 1, m), plait.jit(kept)(np.arange(start, start + 2.0), 1, m))


def test_parts_of_arrays_that_overlap(at_once):
    def less(a, b):
        for i in range(3):
            a[1:] -= b[1:]
        return a

    x, y = np.arange(12.0) ** 2, np.arange(12.0) ** 2
    assert plait.jit(less)(x[2:], x[:-2]).tolist() == less(y[2:], y[:-2]).tolist()
    assert x.tolist() == y.tolist()
    assert plait.jit(less)(x[::2], x[1::2]).tolist() == less(y[::2], y[1::2]).tolist()


def test_counters_and_places_of_either_kind_of_int(at_once):
    def joined(parents, x):
        n = 0
        least = 0
        for i in range(len(parents)):
            a = i
            while parents[a] != a:
                a = parents[a]
            if x[i] > 0.5:
                n += 1
                parents[i] = a
            least -= 3
        return n, least, parents, a

    parents, x = np.array([0, 0, 1, 3, 2, 3]), random.random(6)
    runs = len(x)
    same(joined(parents.copy(), x), plait.jit(joined)(parents.copy(), x))
    for start in (2**62 - 1, 2**63 - 2):
        def counted(n, k=start):
            for _ in range(n):
                k += 1
            return k

        assert plait.jit(counted)(runs) == start + runs


def test_errors_of_numpys_scalars_are_raised_where_they_are_asked_for(at_once):
    def quotients(x, y):
        for i in range(len(x)):
            x[i] = x[i] / y[i]
        return x

    f = plait.jit(quotients)
    for _ in range(2):
        x, y = np.ones(3), np.array([1.0, 0.0, 2.0])
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            f(x, y)
        assert x.tolist() == [1, 1, 1]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning):
                f(x, y)
        assert x.tolist() == [1, 1, 1]
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            assert f(x, y).tolist() == [1, np.inf, 0.5]
    assert plait._jit.loops_of(f)[0].codes


def test_a_loop_inside_one_that_stays_pythons(at_once):
    def lines(x):
        out = []
        for i in range(len(x)):
            s, k = 0.0, 0
            for j in range(i, len(x)):
                if x[j] < 0:
                    break
                s += x[j]
            else:
                s = -s
            while k < i:
                k += 2
                if k == 4:
                    continue
                for t in range(k):
                    s += t
            out.append(f"{s} {k}")
        return out

    x = np.array([1.0, 2.0, -1.0, 4.0, 5.0, 6.0, 0.5])
    f = plait.jit(lines)
    for _ in range(2):
        assert f(x) == lines(x)
    loops = plait._jit.loops_of(f)
    assert [any(c.runs for c in loop.codes.values()) for loop in loops] == [False, True, True, False]
