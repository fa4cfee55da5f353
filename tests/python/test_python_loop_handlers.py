"""`try`, `with np.errstate()` and `match` in compiled loops."""

import numpy as np
import pytest
from loop_checks import anew, check, check_compiled, outcome

import plait
from plait._jit import loops_of

X = [1, 2, 3, 0, 5, 6, 7, 8]
A = np.array([4.0, 0.0, -2.0, 0.0, 1.0])


def tries(x, n):
    s, bad = 0.0, 0
    for i in range(n):
        try:
            s += 1 / x[i % 7]
            v = x[i]
        except ZeroDivisionError:
            bad += 1
        except IndexError as e:
            bad += 100
            s += len(str(e))
        else:
            s += v
        finally:
            bad += 1000
    return s, bad


def counts(x, n):
    d = {}
    for v in x:
        try:
            d[v] += 1
        except KeyError:
            d[v] = n
    return d


def nested(x, n):
    a, b, c = 0, 0, 0
    for i in range(n):
        try:
            a += 1
            try:
                b += x[i * 3] // x[(i + 3) % len(x)]
                if i % 4 == 3:
                    continue
            except ZeroDivisionError:
                c += 1
                b += 10 // (i % 3)
            a += x[i % 9]
        except (IndexError, ZeroDivisionError):
            c += 1000
            if c > 9000:
                break
    else:
        c = -c
    return a, b, c, i


def others_pass(x, n):
    s = 0
    for i in range(n):
        try:
            s += x[i]
            s = s // (i - 6)
        except KeyError:
            s = -1
    return s


def raised(x, n):
    s = 0
    for i in range(n):
        try:
            if i % 5 == 2:
                raise ValueError(i)
            if i % 5 == 4:
                raise LookupError("four")
            s += i
        except ValueError:
            s += 100
        except Exception as e:
            s += len(e.args[0])
    return s


def raised_again(x, n):
    s = 0
    for i in range(n):
        try:
            s += x[i]
        except IndexError:
            if i > len(x):
                raise
            s += 5
    return s


def raised_from(x, n):
    for i in range(n):
        try:
            x[i]
        except IndexError as e:
            raise ValueError(i) from e


def reciprocal(x, i):
    if i > 11:
        raise OverflowError
    return 10 // x[i]


def of_functions(x, n):
    s, seen = 0, []
    for i in range(n):
        try:
            seen.append(i)
            s += reciprocal(x, i)
        except (ZeroDivisionError, OverflowError):
            s -= 1
        except IndexError:
            s += 10
    return s, seen


def at_last(x, n):
    s, done = 0, 0
    for i in range(n):
        try:
            s += x[i]
        finally:
            done += 1
    return s, done


def writes(x, n):
    out = list(x)
    for i in range(n):
        try:
            out[i] = i
            out[i + 1] = x[i + 1] // x[i]
        except ZeroDivisionError:
            out[0] += 50
        except IndexError:
            out[1] += 500
    return out


def while_(x, n):
    i = s = 0
    while True:
        try:
            s += x[i]
            i += 1
        except IndexError:
            break
    return s, i


def bare(x, n):
    s = 0
    for i in range(n):
        try:
            s += x[i] // x[-i]
        except:  # noqa: E722
            s += 3
    return s


def big(x, n):
    s = 1
    for i in range(n):
        try:
            s = s * (2**33 + i)
            s = s // x[i % 8]
        except ZeroDivisionError:
            s = s % 1000003
    return s


CASES = [
    (f, (X, n))
    for f in (tries, nested, others_pass, raised, raised_again, raised_from, of_functions, at_last, writes, while_, bare, big)
    for n in (6, 8, 9, 40)
] + [(counts, ([1, 2, 3, 1, 2, 1] * 5 + [7], 1)), (counts, ([1.5, 2, 1.5], 2))]


@pytest.mark.parametrize("start", [1, 3, 8])
@pytest.mark.parametrize("f, args", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_handlers(f, args, start, from_look):
    from_look(start)
    check(f, args)


@pytest.mark.parametrize("f", [counts, nested, raised, of_functions, while_, bare], ids=lambda f: f.__name__)
def test_handlers_in_machine_code(f, at_once, monkeypatch):
    args = (X * 4 if f is counts else X, 40 if f is not raised else 4)
    check_compiled(f, args, monkeypatch)
    jitted = plait.jit(anew(f))
    for _ in range(2):
        outcome(jitted, args)
    assert not any(code.left for loop in loops_of(jitted) for code in loop.codes.values())


def around(x, n):
    s, i = 0.0, -1
    try:
        for i in range(n):
            s += x[i]
    except IndexError:
        return "out"
    return s


def around_and_asked(x, n):
    s, i = 0.0, -1
    try:
        for i in range(n):
            s += x[i]
    except IndexError:
        return i, s
    finally:
        i = 0
    return s


@pytest.mark.parametrize("f", [around, around_and_asked], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [8, 9])
def test_loops_in_a_try(f, n, at_once):
    check(f, (X, n))


def test_a_loop_in_a_try_is_compiled(at_once, monkeypatch):
    check_compiled(around, (X, 8), monkeypatch)


def errors_ignored(a, n):
    t = 0.0
    for i in range(n):
        with np.errstate(divide="ignore", invalid="ignore"):
            y = a[i] / a[(i + 1) % n]
        t += y if np.isfinite(y) else 1.0
        z = a[i] / (a[(i + 2) % n] + 7.0)
        with np.errstate(all="ignore"):
            t += np.log(a[i]) * 0.0 if a[i] < 0 else z
    return t


def test_what_nobody_is_to_hear(at_once, monkeypatch):
    check_compiled(errors_ignored, (A, 5), monkeypatch)
    with np.testing.assert_no_warnings():
        plait.jit(errors_ignored)(A, 5)

    def heard(a, n):
        for i in range(n):
            with np.errstate(divide="ignore"):
                a[i] = a[i] / a[(i + 1) % n]
            a[i] = 0.0 / a[i - i]
        return a

    for f in (heard, plait.jit(heard)):
        with pytest.warns(RuntimeWarning, match="invalid value"):
            f(A.copy(), 5)


def cases(n):
    a = b = c = d = 0
    for i in range(n):
        match i % 7:
            case 0:
                a += 1
            case 1 | 2:
                b += i
            case 3 if i > 10:
                c += 1
            case k if k == 5:
                c += k
            case _:
                d += 1
        match i % 2, i % 3:
            case (0, 0):
                a += 10
            case (0, y):
                b += y
            case (x, 2):
                c += x * 7
    return a, b, c, d


def cases_that_leave(n):
    s = 1
    for i in range(n):
        match i % 4:
            case 0:
                s = s * 2**30
            case 1:
                s = s * (i + 1) % 1000003
            case 2:
                s += len(f"{i}")
            case 3 if s > n:
                continue
            case _:
                s = s * s
        s += 1
    return s


def cases_of_floats(a):
    out = []
    for v in a:
        match v:
            case 4:
                out.append(1)
            case 0.0 | -2.0:
                out.append(2)
            case w:
                out.append(int(w) + 10)
    return out


@pytest.mark.parametrize("f, args", [(cases, (100,)), (cases_of_floats, (A,))], ids=["ints", "floats"])
def test_match(f, args, at_once, monkeypatch):
    check(f, args)
    check_compiled(f, args, monkeypatch)


@pytest.mark.parametrize("start", [1, 2, 7])
def test_match_that_leaves(start, from_look):
    from_look(start)
    check(cases_that_leave, (60,))
