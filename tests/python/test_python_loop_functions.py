"""Functions that compiled loops call: lambdas, closures that set variables of the loop, and all ways to give arguments."""

import numpy as np
import pytest

import plait
from loop_checks import anew, check, check_compiled, outcome

square, cube = lambda x: x * x, lambda x: x * x * x


def scaled(a, *, by=2, and_=0):
    return a * by + and_


def first(a, b=10, /, *rest):
    s = a - b
    for k, x in enumerate(rest):
        s += (k + 1) * x
    return s, len(rest)


def applied(f, x):
    return f(x)


def of_lambdas(n):
    own = lambda x, by=3: x * by  # noqa: E731
    s = 0
    for i in range(n):
        s += square(i) - cube(i) + own(i) + own(i, by=i)
    return s


def of_a_lambda_that_reads(n):
    k = 0
    moved = lambda x: x + k  # noqa: E731
    s = 0
    for i in range(n):
        k = i
        s += moved(i)
    return s


def of_keywords(n):
    s = 0
    for i in range(n):
        s += scaled(i) + scaled(i, by=3) + scaled(i, and_=1.5, by=i)
    return s


def of_any_number(n):
    s = 0
    for i in range(n):
        x, m = first(i)
        y, k = first(i, 2, 3, i)
        z, _ = first(*(i, 1), *(2, 3))
        s += x + y + z + m + k
    return s


def of_functions(f, n):
    s = 0
    for i in range(n):
        s += f(i) + applied(f, i) + applied(square, i)
    return s


def counts(n):
    best, calls = -1, 0

    def look(v):
        nonlocal best, calls
        calls += 1
        if v > best:
            best = v
        return best

    out = 0
    for i in range(n):
        out += look(i * 7 % 5)
    look(100)
    return best, calls, out


def sets_with_the_loop(n):
    c = 0

    def add(d):
        nonlocal c
        c += d / 2
        return c

    while c < n:
        add(1)
        c += 1
    return c


def sets_by_another_name(n):
    c = 0

    def add(d):
        nonlocal c
        c += d

    def call(f, x):
        f(x)

    for i in range(n):
        call(add, i)
    return c


def sets_first(n):
    def put(d):
        nonlocal c
        c = d

    for i in range(n):
        put(i)
    if n < 0:
        c = 1
    return c


def sets_and_fails(x, n):
    c = 0

    def add(i):
        nonlocal c
        c += x[i]

    for i in range(n):
        add(i)
    return c


def sets_perhaps(n):
    c = 0

    def add(d):
        nonlocal c
        c += d
        return True

    for i in range(n):
        if i % 2 and add(1):
            c += 2
    return c


def sets_an_array(n):
    a = np.zeros(3)

    def put(i):
        nonlocal a
        a = np.full(3, float(i))

    for i in range(n):
        put(i)
    return a


def unpacks(n):
    s = 0
    for i in range(n):
        a, *b, c = (i, 2, 3, i * i)
        *d, e = a, c
        s += a + b[0] * len(b) + c + d[0] - e + sum(b)
    return s


COMPILED = [
    (of_lambdas, (9,)),
    (of_a_lambda_that_reads, (9,)),
    (of_keywords, (9,)),
    (of_any_number, (9,)),
    (of_functions, (square, 9)),
    (of_functions, (scaled, 9)),
    (counts, (9,)),
    (sets_with_the_loop, (9,)),
    (sets_by_another_name, (9,)),
    (sets_first, (9,)),
    (sets_first, (0,)),
    (sets_and_fails, (np.arange(5.0), 5)),
    (sets_and_fails, (np.arange(5.0), 9)),
    (unpacks, (9,)),
]


@pytest.mark.parametrize("look", [1, 2, 3])
@pytest.mark.parametrize("f, args", [*COMPILED, (sets_perhaps, (9,)), (sets_an_array, (4,))])
def test_functions_are_pythons(f, args, look, from_look):
    from_look(look)
    check(anew(f), args)


@pytest.mark.parametrize("f, args", COMPILED)
def test_loops_that_call_functions_are_compiled(f, args, at_once, monkeypatch):
    check_compiled(f, args, monkeypatch)


def wrong_arguments(how, n):
    s = 0
    for i in range(n):
        if how == 0:
            s += scaled(i, 3)
        elif how == 1:
            s += first(a=i)
        elif how == 2:
            s += scaled(i, other=3)
        else:
            s += first()
    return s


@pytest.mark.parametrize("how", range(4))
def test_wrong_arguments_raise_what_python_raises(how, at_once):
    check(anew(wrong_arguments), (how, 3))


def test_a_lambda_in_the_place_of_another_is_another(at_once):
    jitted = plait.jit(anew(of_functions))
    for f in (square, cube, lambda x: x + 1, lambda x: x + 2):
        assert outcome(jitted, (f, 9)) == outcome(of_functions, (f, 9))


def test_lambdas_of_one_line_are_told_apart(at_once):
    a, b = 2, 30
    for f in [lambda x: x + a, lambda x: x + b]:
        assert plait.jit(anew(of_functions))(f, 5) == of_functions(f, 5)
