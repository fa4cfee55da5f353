"""None as a state in compiled loops: of variables, of elements of lists, and of what functions return."""

import numpy as np
import pytest
from loop_checks import anew, check, check_compiled, outcome

import plait

rng = np.random.default_rng(0)
X = rng.standard_normal(50) * 5
FLOATS = X.tolist()


def smallest(xs):
    best = None
    for x in xs:
        if best is None or x < best:
            best = x
    return best


def first_over(xs, lim):
    for i in range(len(xs)):
        if xs[i] > lim:
            return i
    return None


def find_in(xs, lim):
    found = None
    for i in range(len(xs)):
        if xs[i] > lim:
            found = i
            break
    return found


def ret_in(xs, lim):
    for i in range(len(xs)):
        if xs[i] > lim:
            return xs[i]
        if xs[i] < -1000:
            return None
    return -1


def prev(xs):
    p = None
    n = 0
    for x in xs:
        if p is not None and x > p:
            n += 1
        p = x
    return (n, p)


def err(xs):
    p = None
    n = 0
    for x in xs:
        n += 1
        s = x + p
        p = x
    return n


def helper(x):
    if x > 3:
        return x


def helped(xs):
    n = 0
    for x in xs:
        h = helper(x)
        if h is not None:
            n += h
    return n


def lists(n):
    a = [None] * n
    for i in range(n):
        if i % 3 == 0:
            a[i] = i
        if a[i] is None and i % 2:
            a[i] = 0.5
    return a


def inlists(n):
    s = 0
    for i in range(n):
        a = [None] * 4
        a[i % 4] = i
        for v in a:
            if v is not None:
                s += v
    return s


def dget(n):
    d = {}
    s = 0
    for i in range(n):
        k = i % 7
        v = d.get(k)
        if v is None:
            d[k] = i
        else:
            s += v
    return (s, d)


def ixs(xs):
    best = None
    for i in range(len(xs)):
        if best is None or xs[i] > xs[best]:
            best = i
    return (best, xs[best])


def backtest(close, signal, fee):
    cash, position, entry = 10000.0, 0.0, None
    trades = [0.0]
    equity = np.empty_like(close)
    for t in range(close.shape[0]):
        if signal[t] == 1 and position == 0.0:
            position = cash * (1 - fee) / close[t]
            cash = 0.0
            entry = close[t]
        elif signal[t] == -1 and entry is not None:
            cash = position * close[t] * (1 - fee)
            trades.append(close[t] / entry - 1.0)
            position = 0.0
            entry = None
        equity[t] = cash + position * close[t]
    return equity, np.array(trades[1:]), entry


def truths(xs):
    last, n = None, 0
    for x in xs:
        if not last:
            n += 1
        last = None if x < 0 else x if x > 2 else 0.0
    return n, last


def equals(n):
    last, k = None, 0
    for i in range(n):
        if last == None:  # noqa: E711
            k += 1
        if last != i - 1:
            k += 10
        last = i if i % 3 else None
    return k, last


def kept(n):
    a = [None, 1, 2.5, None]
    for i in range(n):
        if a[i % 4] is None:
            a[i % 4] = i
        elif i % 5 == 0:
            a[i % 4] = None
    return a


def keyed(d, n):
    for i in range(n):
        if d.get(i) is None:
            d[i] = i if i % 2 else None
    return d


def parts(xs):
    low, high = None, None
    for x in xs:
        low = x if low is None else min(low, x)
        if not (high is not None and high > x):
            high = x
    return low, high


def compared_with_none(xs):
    best = None
    for x in xs:
        if x > 3 and x < best:
            best = x
    return best


def indexed_by_none(xs):
    at, s = None, 0.0
    for i in range(len(xs)):
        s += 1.0
        if xs[i] > 4:
            s += xs[at]
        at = None
    return s


def called_with_none(xs):
    s = 0.0
    for x in xs:
        s += abs(helper(x))
    return s


def default(xs, limit=None):
    n = 0
    for x in xs:
        if limit is None or x < limit:
            n += 1
    return n


def comprehension(xs):
    return [None if x < 0 else x for x in xs]


def linked(following, at):
    n = 0
    while at is not None:
        n += at
        at = following[at]
    return n


def closure(xs):
    best = None

    def look(x):
        nonlocal best
        if best is None or x > best:
            best = x

    for x in xs:
        look(x)
    return best


def chosen(xs):
    last, n = None, 0
    for x in xs:
        v = last or 1.0
        w = last and last + 1
        n += v
        if w is None:
            n += 1
        last = x if x > 0 else None
    return n, v, w


def complexes(n):
    z, t = None, 0
    for i in range(n):
        if z is not None:
            t += z
        z = complex(i, 1) if i % 2 else None
    return t, z


def outgrows(n):
    a = None
    for i in range(n):
        a = i if a is None else a * 3 + i
    return a


class Best:
    def __init__(self):
        self.best, self.at = None, None

    def look(self, xs):
        for i in range(len(xs)):
            if self.best is None or xs[i] > self.best:
                self.best, self.at = xs[i], i


def attributes(xs):
    best = Best()
    best.look(xs)
    best.look(xs + 1)
    return best.best, best.at


COMPILED = [
    (smallest, (FLOATS,)), (smallest, (X,)), (first_over, (FLOATS, 3)), (first_over, (FLOATS, 300)), (find_in, (FLOATS, 3)), (find_in, (FLOATS, 300)), (ret_in, (FLOATS, 3)),
    (ret_in, (X, 300)), (prev, (FLOATS,)), (helped, (FLOATS,)), (lists, (30,)), (inlists, (30,)), (dget, (40,)), (ixs, (FLOATS,)), (truths, (FLOATS,)), (equals, (40,)),
    (backtest, (np.abs(X) + 1, rng.integers(-1, 2, 50), 0.001)), (kept, (40,)), (keyed, ({1: 2, 3: None}, 8)), (parts, (FLOATS,)), (default, (FLOATS,)), (default, (FLOATS, 1)),
    (comprehension, (FLOATS,)), (linked, ([1, 3, None, 2], 0)), (closure, (FLOATS,)), (chosen, (FLOATS,)), (complexes, (9,)),
]  # fmt: skip
ERRORS = [
    (outgrows, (60,)),
    (err, (FLOATS,)),
    (compared_with_none, (FLOATS,)),
    (indexed_by_none, (FLOATS,)),
    (called_with_none, (FLOATS,)),
    (attributes, (X,)),
    (smallest, ([],)),
]


@pytest.mark.parametrize("f, args", COMPILED, ids=lambda x: getattr(x, "__name__", ""))
def test_none_is_a_state(f, args, at_once, monkeypatch):
    check(anew(f), args)
    check_compiled(f, args, monkeypatch)


@pytest.mark.parametrize("f, args", ERRORS, ids=lambda x: getattr(x, "__name__", ""))
def test_errors_are_pythons(f, args, at_once):
    check(anew(f), args)


@pytest.mark.parametrize("look", [2, 3, 7])
def test_loops_go_over_in_the_middle(look, from_look):
    for f, args in (*COMPILED, *ERRORS):
        from_look(look)
        jitted, expected = plait.jit(anew(f)), outcome(f, args)
        for _ in range(2):
            assert outcome(jitted, args) == expected, f.__name__


def test_methods_keep_none_in_attributes(at_once):
    from plait._jit import loops_of

    best = Best()
    jitted = plait.jit(Best.look)
    jitted(best, X)
    expected = Best()
    expected.look(X)
    assert (best.best, best.at) == (expected.best, expected.at) and type(best.best) is type(expected.best)
    assert all(code.runs for loop in loops_of(jitted) for code in loop.codes.values())
