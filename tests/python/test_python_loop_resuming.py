"""Statements of a compiled loop that Python does: machine code leaves the loop there, and takes it again with the next iteration."""

import math

import numpy as np
import pytest
from loop_checks import anew, check, outcome

import plait
from plait._jit import loops_of

X = np.array([5, 1, -3, 8, 0, 7, 2, -9, 4, 6])


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a, b


def back_again(n):
    """Ints that outgrow 64 bits and become small in the same iteration."""
    h, seen = 7, 0
    for i in range(n):
        h = h * (2**61 + i)
        h = h % 1000003
        if h & 1:
            seen += 1
    return h, seen


def nested(n):
    s = 1
    for i in range(n):
        for j in range(3, 30, 4):
            k = 0
            while k < 5:
                k += 1
                s = s * 3 + j if (i + j + k) % 101 else s % 1009
            else:
                s += 1
        else:
            s -= i
    return s, i, j, k


def leaves(n, stop):
    s = 1
    for i in range(n):
        for j in range(i, i + 60):
            s = s * 3
            if s > 3**stop:
                s = s % 97
                break
            if s % 2 == 0:
                continue
            s += 2
        else:
            s += 100
        if i == stop // 3:
            break
    else:
        s = -1
    return s, i, j


def returns(n):
    s = 3
    for i in range(n):
        s = s * s
        if s > 10**60:
            return i, s, "far"
    return -1, s, "near"


def while_(n):
    a, b, steps = 1, 1, 0
    while (a * a) % 7 < 9 and steps < n:
        a, b = b, a + b
        steps += 1
    else:
        steps += 1000
    return a, b, steps


def over_items(x, rows):
    total, last = 1, -1
    for v, (a, b) in zip(x, rows):
        for w in x:
            total = total * int(w) + a
            if w == v:
                total = total % 10**9
        for at, row in enumerate(reversed(rows)):
            total += row[0] ** 3 * at * b
        last = v
    return total, last


def texts(n):
    out, note = [], ""
    for i in range(n):
        v = i * i % 17
        if v == 13:
            note = f"{note}{v:04d},"
        elif v == 4:
            words = str(i).split("1")
            v = len(words)
        out.append(v)
    return out, note


def lists_of_kinds(n):
    out, more = [], [1, 2]
    for i in range(n):
        if i % 7 == 3:
            more = more + ["a"] if i < 10 else [*more, None]
        elif i % 5 == 2:
            out.append((i, {"at": i}))
        else:
            out.append(i)
    return out, more


def arrays(x, n):
    made = None
    for i in range(n):
        row = x[i % len(x)]
        row += i
        if i % 3 == 1:
            made = {"row": row[1:].tolist(), "sum": str(row[::-1].sum()), "last": made and made["sum"]}
            row[0] = -1
        row[1] *= 2
    return made


def deep(n):
    s = 0
    for i in range(n):
        for j in range(4):
            if i == 2:
                for k in range(3):
                    t = [str(k), j]
                    if k == 1:
                        break
                    s += len(t)
                else:
                    s = -1
                with np.errstate(all="ignore"):
                    s += 5
            s += j
    return s


def powers(n, base):
    found = 0
    for i in range(n):
        p = base**i if i % 2 else (base << i)
        found += p >> (i // 2)
        q = -p * p
        found ^= q
    return found


def of_floats(n):
    k = 0
    for i in range(n):
        k = 2**62 + i if i % 3 == 1 else i * 0.5
    return k, int(1e30) + int(k)


def over_what_is_read_there_alone(n):
    out = []
    for i in range(n):
        k = i + 1
        for v in (2, k, 2**40):
            out.append(v**3 % 7)
    return out


def while_around_for(n):
    s, rounds, k = 1, 0, 0
    for i in range(n):
        k = 0
        while k < 3:
            k += 1
            for j in range(4):
                s = s * 5 + j
                if j == 3 and k == 2:
                    s = s * 7**20
            rounds += 1
            s = s % (1009 + rounds)
    return s, rounds, k


CASES = [
    (while_around_for, (9,)),
    (over_what_is_read_there_alone, (9,)), (fibonacci, (400,)), (back_again, (60,)), (nested, (12,)), (leaves, (9, 40)), (leaves, (30, 45)), (returns, (20,)), (returns, (3,)),
    (while_, (150,)), (over_items, (X, [(1, 2), (3, 4), (2**40, 2**41)] * 4)), (texts, (80,)), (lists_of_kinds, (40,)), (arrays, (np.arange(24.0).reshape(6, 4), 9)), (arrays, (np.arange(48.0).reshape(8, 6)[::-2, 1::2], 9)),
    (deep, (5,)), (powers, (90, 7)), (of_floats, (7,)),
]  # fmt: skip


@pytest.mark.parametrize("start", [1, 2, 5, 9])
@pytest.mark.parametrize("f, args", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_python_does_what_machine_code_does_not(f, args, start, from_look):
    from_look(start)
    check(f, args)


@pytest.mark.parametrize("f, args", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_it_is_machine_code_that_is_left(f, args, at_once):
    jitted = plait.jit(anew(f))
    outcome(jitted, args)
    codes = [code for loop in loops_of(jitted) for code in loop.codes.values()]
    assert any(code.runs for code in codes)
    assert f is returns or any(code.left for code in codes)


def powers(n):
    return [i**20 for i in range(n)]


def quotients(n):
    return [(i & 18446744073709551615) // -3 for i in range(1, n)]


def pairs(x):
    return [v * 2**60 + w for v in x if v % 3 for w in range(v % 4) if w != 1]


def total(n):
    return sum(i**15 for i in range(n))


def folds(n):
    return max(i * 2**61 % 1000003 for i in range(n)), any(7**i > 10**30 for i in range(n)), all(3**i < 10**30 for i in range(n))


def of_an_array(x, k):
    return np.array([float(v**k) for v in x])


def in_order(n):
    k = 3
    return sorted((k**i % 101, i)[0] for i in range(n)), [k**i // 10**i for i in range(n)]


def far_between(n):
    return [(i * 2**40 * (i % 1000 == 999) * 2**40 + i) % 1000003 for i in range(n)]


COMPREHENSIONS = [
    (powers, (30,)), (quotients, (9,)), (pairs, ([1, 2, 3, 4, 5, 6, 7, 8, 9],)), (total, (60,)), (folds, (90,)), (of_an_array, ([1, 2, 300], 30)),
    (in_order, (60,)), (far_between, (20_000,)),
]  # fmt: skip


@pytest.mark.parametrize("start", [1, 3])
@pytest.mark.parametrize("f, args", COMPREHENSIONS, ids=lambda x: getattr(x, "__name__", ""))
def test_elements_that_python_makes(f, args, start, from_look):
    from_look(start)
    check(f, args)


def test_elements_far_between_are_left_seldom(at_once):
    jitted = plait.jit(anew(far_between))
    assert jitted(20_000) == far_between(20_000)
    assert [code.left for loop in loops_of(jitted) for code in loop.codes.values()] == [20]


def divides(n):
    big, s = 1, 0
    for i in range(n):
        big *= 10
        if big > 10**25:
            s += big // (i - 27)
    return s


def raises(n):
    for i in range(n):
        if i == 5:
            text = "five".upper()
            raise ValueError(text, i)


def asks(x, n):
    big = 1
    for i in range(n):
        big = big * 1000
        x[i // 2] = i
        big -= x[i * 3]
    return big


@pytest.mark.parametrize("f, args", [(divides, (40,)), (raises, (9,)), (asks, (X, 20))], ids=["divides", "raises", "asks"])
def test_errors_of_pythons_statements(f, args, at_once):
    """With the line of the source, and no other frame."""
    check(f, args)


def test_a_loop_that_is_left_too_often_is_pythons(at_once, monkeypatch):
    def powers_of_three(n):
        s = 0
        for i in range(n):
            p = 3 ** 40 * (i + 3**30)
            s += p % 7
        return s

    jitted = plait.jit(powers_of_three)
    assert jitted(300) == powers_of_three(300)
    (loop,) = loops_of(jitted)
    assert all(not code.usable and code.left < 20 and "reached too often" in code.why for code in loop.codes.values())
    assert jitted(300) == powers_of_three(300)


def powers(n, base):
    s = 0.0
    for i in range(n):
        s += base**40 * (i + 3) % 7
        if i == 20:
            base = 1.5
    return s


def test_the_verdict_is_on_the_code_alone_that_was_left(at_once):
    jitted = plait.jit(anew(powers))
    for _ in range(5):
        assert jitted(300, 1.5) == powers(300, 1.5)
    assert jitted(15, 3) == powers(15, 3)
    assert jitted(15, 3) == powers(15, 3)
    (loop,) = loops_of(jitted)
    of_floats, of_ints = loop.codes.values()
    assert of_floats.usable and not of_ints.usable and "reached too often" in of_ints.why
    before = of_floats.entry.runs
    for _ in range(5):
        assert jitted(300, 1.5) == powers(300, 1.5)
    assert of_floats.entry.runs >= before + 4


def test_a_loop_goes_over_when_its_variables_are_of_types_that_there_is_code_for(at_once):
    jitted = plait.jit(anew(powers))
    assert jitted(300, 3) == powers(300, 3)
    (loop,) = loops_of(jitted)
    of_ints, of_floats = loop.codes.values()
    assert not of_ints.usable and of_floats.usable
    before = of_floats.runs
    assert jitted(5000, 3) == powers(5000, 3)
    assert of_floats.runs > before


def test_rare_overflows_stay_in_machine_code(at_once):
    def digits(n):
        s, big = 0, 1
        for i in range(n):
            if i % 5000 == 4999:
                big = 2**64 + i
                s += big % 1009
            s += i & 3
        return s

    jitted = plait.jit(digits)
    for _ in range(3):
        assert jitted(60000) == digits(60000)
    (loop,) = loops_of(jitted)
    assert all(code.usable for code in loop.codes.values())


def test_factorials():
    def factorials(n):
        out = []
        f = 1
        for i in range(1, n):
            f *= i
            out.append(f)
        return out

    jitted = plait.jit(factorials)
    for _ in range(3):
        assert jitted(2000) == [math.factorial(i) for i in range(1, 2000)]


def test_explain_says_where(at_once):
    jitted = plait.jit(anew(texts))
    jitted(20)
    assert "<- went on in Python " in plait.explain(jitted, 20)


def own_lists(n):
    """Lists of an iteration, one of which has two names, are there in what Python does of it."""
    h, out = 7, 0
    for i in range(n):
        digits = [k * i for k in range(3)]
        pairs = [(i, k / 2) for k in digits]
        empty, same = [], digits
        h = h * (2**61 + i)
        same.append(i)
        empty.append(h)
        h = h % 1000003
        for d in digits:
            h = h * (2**40 + d) * 2**40 % 1000003
        out += len(digits) + sum(digits) + h + len(pairs) + len(empty)
    return out, h


def own_text(word):
    h = 1
    for c in word:
        key = ""
        key += c
        h = h * (2**62 + 1)
        h = h % 1000
        key += "x"
    return h, key


@pytest.mark.parametrize(("f", "arg"), [(own_lists, 12), (own_text, "abcdefgh")])
def test_lists_that_the_iteration_has_made(f, arg, at_once):
    check(f, (arg,))
    jitted = plait.jit(anew(f))
    jitted(arg)
    assert any(code.left for loop in loops_of(jitted) for code in loop.codes.values())
