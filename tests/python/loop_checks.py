"""What a function gives, raises and leaves of its arguments, to compare Python's loops with the machine code that takes them over."""

import copy
import pathlib
import traceback
import types
import warnings

import plait
from plait._jit import loops_of
from plait._python_loops import going_over


def anew(f):
    """The function, of whose loops nobody has seen anything."""
    return types.FunctionType(f.__code__.replace(), f.__globals__, f.__name__, f.__defaults__, f.__closure__)


COMPREHENSIONS = "<listcomp>", "<setcomp>", "<dictcomp>"  # frames of their own up to Python 3.11, none in machine code


def outcome(f, args):
    """The representations of the result, or of the error with the lines of the tests that it came through, and of the arguments."""
    args = copy.deepcopy(args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = f(*args)
        except Exception as e:
            result = type(e), str(e), [(t.name, t.lineno) for t in traceback.extract_tb(e.__traceback__) if of_tests(t.filename) and t.name not in COMPREHENSIONS]
    return repr(result), repr(args)


def of_tests(name):
    return name != __file__ and pathlib.Path(name).parent == pathlib.Path(__file__).parent


def check(f, args):
    """The jitted function does what Python's does, in its first calls."""
    jitted, expected = plait.jit(f), outcome(f, args)
    for _ in range(3):
        assert outcome(jitted, args) == expected


def check_compiled(f, args, monkeypatch):
    """No loop of the function stays Python's (with loops that go over where they begin)."""
    said = []
    monkeypatch.setattr(going_over, "log", said.append)
    jitted = plait.jit(anew(f))
    for _ in range(2):
        outcome(jitted, args)
    assert not [s for s in said if "stays Python's" in s] and any(code.runs for loop in loops_of(jitted) for code in loop.codes.values()), said
