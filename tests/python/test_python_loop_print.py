"""`print` in compiled loops, and the texts that it prints: what comes out is what Python prints, when Python prints it."""

import contextlib
import io
import math
import signal
import sys
import traceback

import numpy as np
import pytest
from loop_checks import anew, outcome

import plait
from plait._jit import loops_of
from plait._python_loops import going_over

X = np.array([1.0, 0.1, 2.5, 1e300, -0.0, np.nan, np.inf, 1 / 3])
H = np.where(X > 1e30, 3, X)


def shown(f, args):
    """What a call does (loop_checks.py), and what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        found = outcome(f, args)
    return found, out.getvalue()


def check(f, args, monkeypatch):
    """The jitted function prints the same, in machine code alone."""
    said = []
    monkeypatch.setattr(going_over, "log", said.append)
    expected, jitted = shown(f, args), plait.jit(anew(f))
    for _ in range(3):
        assert shown(jitted, args) == expected
    assert not said and any(code.runs for loop in loops_of(jitted) for code in loop.codes.values()), said
    return expected


def numbers(x, n):
    s = 0
    for i in range(n):
        print(i, x[i], float(x[i]), i % 2 == 0, x[i] > 1, None, "text", i / 3, complex(i, 0.5), s)
        s += i


def of_numpy(a, b, c, d):
    for i in range(len(a)):
        print(a[i], b[i], c[i], d[i], a[i] + np.float32(1), (i, a[i]))


def keywords(n):
    for i in range(n):
        print(i, i * i, sep=", " if n else "-", end=";")
        print("x", i, sep="", end="\n\n", flush=i > 2)
        print()
        print(i, file=sys.stdout)
        print(i, file=None, sep=None)


def texts(n):
    t = 0.0
    for i in range(n):
        t += 0.1
        print(f"{i:>5d}|{t:.3f}|{t!r:>20}|{i / 7:{i + 8}.{3}e}|{{}}|{i % 2 == 0}|{'on' if i else 'off'}")
        print("%d of %.2e, %5s" % (i, t, t), "a" + str(i), "-" * i + ">")
        print("{:5.2f} {k}".format(t, k=i), str(t) + "!", repr(i), format(t, ".2f"))


def kept(n):
    for i in range(n):
        line = f"step {i}"
        if i % 2:
            print(line, line + ".")
        print(line)


def lists(n):
    found = []
    for i in range(n):
        found.append((i, i / 2))
        own = [k * 1.5 for k in range(i)]
        print(own, len(found), *own, (own, i))
    return found


def states(n):
    state, best = "up", None
    for i in range(n):
        print(state, best)
        state = "down" if state == "up" else "up"
        best = i if best is None else None


def characters(word):
    seen = ""
    for c in word:
        seen += c
        print(c, seen, end=" ")


def several_types(n):
    v = 1
    for i in range(n):
        print(v, f"{v}")
        v = v / 2 if i == 3 else v + 1


def large(n):
    h = 14695981039346656037
    for i in range(n):
        h = (h ^ i) * 1099511628211 % 2**64
        print(h, i)


def of_function(n):
    def tell(what, level=1):
        if level > 0:
            print("[info]", what)

    for i in range(n):
        tell(f"at {i}")
        tell(i, level=i % 2)


def in_expressions(n):
    for i in range(n):
        i > 2 and print(i)
        print("odd") if i % 2 else None


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (numbers, (X, 8)),
        (of_numpy, (H.astype("float32"), np.arange(8, dtype="uint64") + np.uint64(2**63), np.arange(8) % 2 == 0, H.astype("float16"))),
        (keywords, (5,)),
        (texts, (6,)),
        (kept, (5,)),
        (lists, (5,)),
        (states, (5,)),
        (characters, ("abcäde",)),
        (several_types, (8,)),
        (large, (5,)),
        (of_function, (5,)),
        (in_expressions, (6,)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_is_printed(f, args, at_once, monkeypatch):
    printed = check(f, args, monkeypatch)[1]
    assert printed.count("\n") > 3 or printed.count(" ") > 3


def test_it_is_printed_in_the_midst_of_the_run(from_look, monkeypatch):
    """Begun by Python, gone on in machine code; and there and then, as who gets the text sees."""
    x = np.zeros(20)

    class Looks(io.StringIO):
        def write(self, text):
            seen.append((text, x.sum()))
            return super().write(text)

    def f(x):
        for i in range(20):
            x[i] = 1.0
            print(i, end="")

    from_look(3)
    found = []
    for g in (f, plait.jit(f)):
        seen = []
        x[:] = 0
        with contextlib.redirect_stdout(Looks()):
            g(x)
        found.append([s for s in seen if s[0]])
    assert found[0] == found[1] and len(found[0]) == 20


def test_errors_come_behind_what_was_printed(at_once, monkeypatch):
    def f(x):
        for i in range(9):
            print("before", i)
            print(f"{math.sqrt(4 - i):.2f}")
            if i == 9:
                raise ValueError(i)

    (result, _), printed = check(f, (X,), monkeypatch)
    assert "math domain error" in result and printed.splitlines()[-1] == "before 5"


def test_an_error_of_the_stream_is_the_loops(at_once):
    class Full(io.StringIO):
        def write(self, text):
            if "5" in text:
                raise OSError(28, "No space left on device")
            return super().write(text)

    def f(x):
        for i in range(9):
            x[i] = 1.0
            print(i)

    for g in (f, plait.jit(f)):
        x = np.zeros(9)
        with contextlib.redirect_stdout(Full()) as out, pytest.raises(OSError, match="No space left") as e:
            g(x)
        assert out.getvalue() == "0\n1\n2\n3\n4\n" and x.sum() == 6
        assert any(t.name == "f" and t.line == "print(i)" for t in traceback.extract_tb(e.value.__traceback__))


def test_an_interrupt_in_the_stream(at_once):
    class Stops(io.StringIO):
        def write(self, text):
            if "5" in text:
                raise KeyboardInterrupt
            return super().write(text)

    def f():
        for i in range(9):
            print(i)

    with contextlib.redirect_stdout(Stops()) as out, pytest.raises(KeyboardInterrupt):
        plait.jit(f)()
    assert out.getvalue() == "0\n1\n2\n3\n4\n"


def test_format_errors(at_once, monkeypatch):
    def f(n):
        for i in range(n):
            print("a", i)
            if i == 3:
                print(f"{i:.3q}")

    assert "ValueError" in check(f, (9,), monkeypatch)[0][0]


def test_the_stream_is_looked_up_each_time(at_once):
    """By the same code."""

    @plait.jit
    def f(n):
        for i in range(n):
            print(i)
            print(i, file=sys.stderr)

    f(1)
    for _ in range(2):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            f(3)
        assert out.getvalue() == err.getvalue() == "0\n1\n2\n"
    (code,) = [code for loop in loops_of(f) for code in loop.codes.values()]
    assert code.runs == 3
    with contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
        f(3)


def test_files(at_once, tmp_path, monkeypatch):
    def f(out, n):
        for i in range(n):
            print(i, i / 2, file=out)

    jitted = plait.jit(f)
    for g, name in ((f, "a"), (jitted, "b")):
        with open(tmp_path / name, "w") as file:
            g(file, 9)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() and any(code.runs for loop in loops_of(jitted) for code in loop.codes.values())
    with open(tmp_path / "c", "w") as file:
        pass
    with pytest.raises(ValueError, match="closed file"):
        jitted(file, 9)


def test_another_print(at_once):
    """Of the function, or of the builtins, as it is at each call."""
    import builtins

    said = []

    def own(n):
        print = said.append
        for i in range(n):
            print(i)

    def theirs(n):
        for i in range(n):
            print(i)

    own, theirs = plait.jit(own), plait.jit(theirs)
    own(3)
    assert said == [0, 1, 2]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        theirs(3)
    before, builtins.print = builtins.print, said.append
    try:
        theirs(3)
    finally:
        builtins.print = before
    assert said == [0, 1, 2] * 2 and out.getvalue() == "0\n1\n2\n"


def test_nothing_is_printed_twice(at_once):
    """Where Python goes on in the midst of an iteration, and where an error leads to a handler."""

    def grows(n):
        h = 7
        for i in range(n):
            print("a", i, h)
            h = h * (2**61 + i)
            print("b", h)
            h = h % 1000003
            print("c", h)

    def handles(x):
        for i in range(len(x)):
            try:
                print("try", i)
                print(1 / x[i])
            except ZeroDivisionError:
                print("none")

    for f, args in ((grows, (8,)), (handles, ([1, 0, 2, 0],))):
        assert shown(plait.jit(anew(f)), args) == shown(f, args)


def test_arrays_are_pythons_to_print(at_once):
    def f(x, n):
        s = 0.0
        for i in range(n):
            s += x[i]
            if i % 4 == 3:
                print(x[:2], s)
        return s

    assert shown(plait.jit(anew(f)), (X, 8)) == shown(f, (X, 8))


def test_a_comprehension_that_prints(at_once):
    def f(n):
        return [print(i) for i in range(n)], sum(i if print(i) is None else 0 for i in range(n))

    assert shown(plait.jit(anew(f)), (4,)) == shown(f, (4,))


def test_one_thread_prints(at_once):
    def f(x, n):
        for i in range(n):
            x[i] = i * 2.0
            if i % 1000 == 0:
                print(i, x[i])

    x = np.zeros(200000)
    assert shown(plait.jit(anew(f)), (x, len(x))) == shown(f, (x, len(x)))


def test_a_function_that_c_calls_prints_nothing():
    with pytest.raises(TypeError, match="it prints"):

        @plait.cfunc("double(double)")
        def f(x):
            print(x)
            return x


def test_a_stream_may_run_loops(at_once):
    @plait.jit
    def inner(n):
        s = 0
        for i in range(n):
            s += i
            print(s, end=" ", file=sys.stderr)
        return s

    class Runs(io.StringIO):
        def write(self, text):
            if text.strip():
                text += f" {inner(4)}"
            return super().write(text)

    @plait.jit
    def f(n):
        for i in range(n):
            print(i)

    with contextlib.redirect_stdout(Runs()) as out, contextlib.redirect_stderr(io.StringIO()):
        f(3)
    assert out.getvalue() == "0 6\n1 6\n2 6\n"


def test_signals(at_once):
    """A handler that raises ends the loop at a print, of which nothing is lost; one that does not goes unnoticed."""

    class Stop(Exception):
        pass

    def stops(*_):
        raise Stop

    @plait.jit
    def f(n):
        for i in range(n):
            print(i)

    def printed(handler, again):
        out, before = io.StringIO(), signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.05, again)
        try:
            with contextlib.redirect_stdout(out):
                f(100000)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            text.append(out.getvalue())

    text, heard = [], []
    for _ in range(5):
        with pytest.raises(Stop):
            printed(stops, 0)
    printed(lambda *_: heard.append(1), 0.01)
    whole = "".join(f"{i}\n" for i in range(100000))
    assert heard and text[-1] == whole and all(whole.startswith(t) and t != whole for t in text[:-1])
