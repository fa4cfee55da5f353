"""Generators of the program that compiled loops consume."""

import pytest

from loop_checks import anew, check, check_compiled


def squares(n):
    for i in range(n):
        yield i * i


def fibonacci(most):
    a, b = 0, 1
    while a < most:
        yield a, b
        a, b = b, a + b
    yield -1, -2


def halves(x):
    for v in x:
        if v < 0:
            return
        yield v * 0.5


def taken(x, n):
    for i in range(n):
        yield x[i]


def sent():
    got = yield 1
    while got is None:
        got = yield 2
        return


def endless(n):
    k = 0
    while True:
        yield from range(n)
        k += 1


class Items:
    def __init__(self, n):
        self.n, self.given = n, 0

    def __repr__(self):
        return f"Items({vars(self)})"

    def items(self):
        for i in range(self.n):
            self.given += 1
            yield i


def outermost(n):
    s = 0
    for v in squares(n):
        if v == 9:
            continue
        if v > 100:
            break
        s += v
    else:
        s = -s
    return s


def inside(n):
    s = 0
    for i in range(n):
        for v in squares(i):
            if v == 9:
                continue
            if v > 20:
                break
            s += v
        else:
            s += 1000
    return s


def of_pairs(n):
    s = 0
    for a, b in fibonacci(n):
        s += a * b
    return s


def returns(x):
    s = 0.0
    for v in halves(x):
        if v > 3:
            return s, v
        s += v
    return s


def nested(n):
    s = 0
    for i in squares(n):
        for j in squares(i):
            if j > 50:
                break
            s += i * j
    return s


def of_its_own(n):
    k = 2

    def multiples(m):
        for i in range(m):
            yield i * k

    s = 0
    for v in multiples(n):
        s += v
    return s


def fails_itself(x, n):
    s = 0
    for v in halves(x):
        s += x[int(v) + n]
    return s


def fails_in_it(x, n):
    s = 0
    for v in taken(x, n):
        s += v
    return s


def changes_type(n):
    s = 0
    for v in squares(n):
        if v > 4:
            s += 0.5
        else:
            s += 1
        last = v
    return s, last, v


def of_methods(o, n):
    s = 0
    for k in range(n):
        for v in o.items():
            s += v * k + o.given
    return s


def of_one_that_is_sent(n):
    s = 0
    for i in range(n):
        for v in sent():
            s += v
    return s


def of_one_that_delegates(n):
    s = 0
    for v in endless(n):
        s += v
        if s > 100:
            break
    return s


COMPILED = [
    (outermost, (5,)),
    (outermost, (20,)),
    (outermost, (0,)),
    (inside, (9,)),
    (of_pairs, (50,)),
    (returns, ([1, 2, 3, 4, 8, 9],)),
    (returns, ([1, 2, -3, 8],)),
    (nested, (9,)),
    (of_its_own, (9,)),
    (fails_itself, ([1, 2, 3], 0)),
    (fails_itself, ([1, 2, 3], 2)),
    (fails_in_it, ([1, 2, 3], 3)),
    (fails_in_it, ([1, 2, 3], 5)),
    (changes_type, (9,)),
    (of_methods, (Items(4), 5)),
]


@pytest.mark.parametrize("look", [1, 2, 3])
@pytest.mark.parametrize("f, args", [*COMPILED, (of_one_that_is_sent, (3,)), (of_one_that_delegates, (5,))])
def test_generators_are_pythons(f, args, look, from_look):
    from_look(look)
    check(anew(f), args)


@pytest.mark.parametrize("f, args", COMPILED)
def test_loops_over_generators_are_compiled(f, args, at_once, monkeypatch):
    check_compiled(f, args, monkeypatch)
