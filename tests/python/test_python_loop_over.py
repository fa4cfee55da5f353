"""What the outermost loop goes over beside ranges and arrays: np.ndindex(), np.ndenumerate(), dicts, their views, and sets."""

import numpy as np
import pytest
from loop_checks import anew, check, check_compiled

X = np.arange(12.0).reshape(3, 4)


def of_indices(x):
    s = 0.0
    for i, j in np.ndindex(3, x.shape[1]):
        s = s * 0.5 + i * j * x[i, j]
    return s


def of_a_shape(x):
    s = 0.0
    for n, (i, j) in enumerate(np.ndindex(x.shape)):
        s = s * 0.5 + n * i - j * x[i, j]
    for i, j in np.ndindex(*x.shape):
        s = s * 0.5 + i * j * x[i, j]
    return s


def beyond_indices(x):
    for i, j in np.ndindex(5, 5):
        x[i, j] = -1.0
    return x


def enumerated(x):
    out = np.zeros_like(x)
    for index, v in np.ndenumerate(x):
        out[index] = v * 2
    for (i, j), v in np.ndenumerate(x):
        x[2 - i, j] += v  # which it comes to later
    return out, x


def of_keys(d):
    s = 0
    for k in d:
        s = s * 3 + k
        d[k] = d[k] + s
    return s, d


def of_views(d):
    s = 0
    for k, v in d.items():
        d[k] = v + 1
    for v in d.values():
        s = s * 3 + v
    for n, k in enumerate(d.keys()):
        s += k * n
    return s, d


def of_tuples(d):
    s = 0
    for (a, b), v in d.items():
        s += a * b * v
        if s > 10:
            break
    else:
        s = -1
    return s


def of_a_set(a):
    s = 0
    for v in a:
        s = s * 3 + v
    for i in range(4):
        for v in a:
            s = s * 2 % 1001 + v + i
    return s


def of_a_set_that_grows(a):
    for v in range(20):
        a.add(v * 7)
    s = 0
    for v in a:
        s = s * 3 % 1001 + v
    return s


def becomes_another(d):
    s = 0
    for k in d:
        d = {k: 100 + s}
        s += d[k]
    return s, d


def grows(d):
    for k in d:
        d[k + 10] = 1
    return d


CASES = [
    (of_indices, (X,)), (of_a_shape, (X,)), (beyond_indices, (X,)), (enumerated, (X,)), (enumerated, (X.T[:, ::2],)), (of_keys, ({3: 1, 1: 2, 9: 4},)), (of_keys, ({},)),
    (of_views, ({3: 1, 1: 2, 9: 4},)), (of_views, ({},)), (of_tuples, ({(1, 2): 3, (3, 4): 2},)), (of_tuples, ({(1, 2): 3},)), (of_a_set, ({5, 99, 3, 1000},)),
    (of_a_set_that_grows, ({3},)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_machine_code_goes_over_it(f, args, at_once, monkeypatch):
    check(f, args)
    check_compiled(f, args, monkeypatch)


@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("look", [2, 3])
def test_what_python_has_gone_over_is_not_done_again(f, args, look, from_look):
    from_look(look)
    check(anew(f), args)


@pytest.mark.parametrize(("f", "args"), [(becomes_another, ({3: 1, 4: 2},)), (grows, ({3: 1},))])
def test_dicts_that_change_meanwhile(f, args, at_once):
    check(f, args)
