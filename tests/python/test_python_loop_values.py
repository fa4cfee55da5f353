"""What the code of a loop leaves out, as nothing asks for it: names that are read nowhere, types that do not matter, values that are at hand."""

import warnings

import numpy as np
import pytest
from loop_cases import same

import plait
from plait._jit import loops_of
from plait._python_loops import rest


def outputs_of(f):
    return {name for loop in loops_of(f) for code in loop.codes.values() for name, *_ in code.lowering.outputs}


def text_of(f):
    (loop,) = loops_of(f)
    (code,) = loop.codes.values()
    return code.procedure.text()


def test_only_names_that_are_asked_for_are_given_back(at_once):
    def squares(x):
        total = 0.0
        for i in range(len(x)):
            y = x[i] * x[i]
            z = y + 1.0
            total += z
        y += 1.0  # which reads it
        return total, y

    f, x = plait.jit(squares), np.arange(5.0)
    same(squares(x), f(x))
    assert outputs_of(f) == {"total", "y"}


def test_names_that_the_next_run_begins_with_are_given_back(at_once):
    def runs(x):
        out, last = [], 0.0
        for _ in [1, 2, 3]:
            for i in range(len(x)):
                last = last * 0.5 + x[i]
                y = last
            out.append(str(last))
        return out

    f, x = plait.jit(runs), np.arange(5.0)
    same(runs(x), f(x))


def test_a_name_that_is_deleted_behind_a_loop_is_there(at_once):
    def gone(n):
        for i in range(n):
            y = i
        del y
        return n

    f = plait.jit(gone)
    assert f(3) == 3
    with pytest.raises(UnboundLocalError):
        f(0)


def best_of(x, floor):
    best, at, hits = 0.0, -1, 0
    for i in range(len(x)):
        v = max(x[i] - floor, 0.0)
        if v > best:
            best, at = v, i
        if v == best:
            hits += 1
    return best, at, hits


@pytest.mark.parametrize("x", [[0.5, 3.25, 1.0], [0.0, -1.0], [np.nan, 2.0], [1.0, np.nan, 0.5], []])
def test_floats_of_two_types_are_compared_once(x, at_once):
    x = np.array(x)
    f = plait.jit(best_of)
    same(best_of(x, 0.25), f(x, 0.25))
    if len(x):
        assert text_of(f).count(" = greater ") == 2, text_of(f)


def test_operations_that_raise_of_one_type_alone_are_as_they_were(at_once):
    def shares(x, y):
        d, out = 1.0, 0.0
        for i in range(len(x)):
            out = x[i] / d
            d = y[i] if x[i] > 0.5 else 0.0
        return out, d

    def again(x, y):
        d = 1.0
        for i in range(len(x)):
            d = 1.0 / d
            d = y[i] if x[i] > 0.5 else 0.0
        return d

    x, y = np.array([0.75, 0.25, 0.75]), np.array([0.5, 0.25, 0.125])
    with np.errstate(all="ignore"):
        same(shares(x, y), plait.jit(shares)(x, y))
    with pytest.raises(ZeroDivisionError):
        again(x, y)
    with pytest.raises(ZeroDivisionError):
        plait.jit(again)(x, y)


def test_conditions_of_several_parts(at_once):
    def counted(a, b):
        n = 0
        for i in range(len(a)):
            for j in range(-1, 2):
                if i + j < 0 or i + j >= len(a) or not (a[i] and b[i + j]):
                    continue
                n += 1 + (a[i] or b[i]) * (j > 0 and b[i + j])
        return n

    rng = np.random.default_rng(5)
    a, b = rng.random(40) < 0.6, rng.random(40) < 0.5
    same(counted(a, b), plait.jit(counted)(a, b))


@pytest.mark.parametrize("shift", [-8, -1, 0, 1, 2, 8])
def test_what_an_iteration_stores_is_what_the_next_one_loads(shift, at_once):
    """Also where another array lies over it, or the row before."""

    def follow(y, x, z):
        for t in range(1, len(y)):
            y[t] = 0.5 * y[t - 1] + x[t]
            z[t] = y[t - 1]
        return y

    def arrays():
        whole = np.linspace(1.0, 2.0, 64)
        return whole[8:40], whole[8 + shift : 40 + shift].copy() if shift == 8 else whole[8 + shift : 40 + shift], whole[16:48]

    theirs, ours = arrays(), arrays()
    same(follow(*theirs), plait.jit(follow)(*ours))
    same(theirs[0].base, ours[0].base)


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 700, 5000])
def test_bits_that_are_counted(n, at_once):
    def bits(x):
        count = 0
        for i in range(len(x)):
            v = x[i]
            while v:
                v &= v - 1
                count += 1
        return count

    x = np.random.default_rng(n).integers(0, 2**62, n)
    same(bits(x), plait.jit(bits)(x))


def test_a_loop_that_goes_over_where_it_begins_asks_for_no_time(at_once, monkeypatch):
    def total(x):
        s = 0.0
        for i in range(len(x)):
            s += x[i]
        return s

    f, x = plait.jit(total), np.arange(5.0)
    f(x)
    f(x)  # of the types that it has from here on
    asked = []
    monkeypatch.setattr(rest.time, "thread_time", lambda: asked.append(0) or 0.0)
    assert f(x) == 10.0
    assert not asked


@pytest.mark.parametrize("wrong", [None, 5, -6, 2**62, -(2**63), 2**63 - 1])
def test_indices_that_are_looked_up_may_count_from_the_end(wrong, at_once):
    def scattered(at, y, z):
        for i in range(len(at)):
            y[at[i]] += y[at[i] - 1] + i
            z[at[at[i]]] = y[at[i]]
        return y, z

    at = np.array([0, -1, 4, -5, 2, -3, 1, 3, -2, -4])
    if wrong is not None:
        at[7] = wrong
    outcomes = []
    for f in (scattered, plait.jit(scattered)):
        y, z = np.arange(5.0), np.zeros(10)
        try:
            f(at, y, z)
            error = None
        except (IndexError, OverflowError) as e:
            error = type(e), str(e)
        outcomes.append((error, y.tolist(), z.tolist()))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("x", [-(2.0**63), -(2.0**63) - 2048, 2.0**63, 2.0**63 - 1024, float("nan")])
def test_floats_at_the_ends_of_64_bits(x, at_once):
    def stored(a, x):
        for i in range(len(a)):
            a[i] = x
        return a

    def cut(x):
        s = 0
        for i in range(3):
            s = int(x)
        return s

    outcomes = []
    for of in (lambda f: f), plait.jit:
        try:
            outcomes.append((of(stored)(np.zeros(3, int), x).tolist(), of(cut)(x) if abs(x) < 2.0**63 or x == -(2.0**63) else None))
        except (OverflowError, ValueError) as e:
            outcomes.append((type(e), str(e)))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("dtype, x", [("u1", -(2.0**31) - 0.5), ("u2", -(2.0**31) - 1), ("u1", 2.0**31), ("u4", -(2.0**63)), ("u4", 2.0**63)])
def test_floats_that_unsigned_elements_cannot_hold(dtype, x, at_once):
    def stored(a, x):
        for i in range(len(a)):
            a[i] = x
        return a

    outcomes = []
    for f in stored, plait.jit(stored):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            outcomes.append((f(np.zeros(3, dtype), np.float64(x)).tolist(), {str(w.message) for w in heard}))
    assert outcomes[0] == outcomes[1]
