"""Calls of jitted functions that run on the caller's arguments without Python's part of plait.jit: the function stays one of Python's."""

import copy
import functools
import gc
import inspect
import os
import pickle
import traceback
import types
import weakref

import numpy as np
import pytest

import plait
from plait._functions import jitted_of, original
from plait._jit import is_jitted
from plait._python_loops import whole


@plait.jit
def total(x: np.ndarray, by: float = 2.0) -> float:
    """The sum of x, times by."""
    s = 0.0
    for v in x:
        s += v * by
    return s


_total = total.__wrapped__
X = np.arange(5.0)


def native(function, *args):
    """The function jitted, whose calls with such arguments begin in C++."""
    jitted = plait.jit(function)
    jitted(*args)
    assert type(jitted).__name__ == "jitted_function"
    return jitted


@pytest.fixture(scope="module", autouse=True)
def called():
    assert type(total) is types.FunctionType
    total(X)
    assert type(total).__name__ == "jitted_function"


def test_it_is_a_function():
    assert isinstance(total, types.FunctionType) and inspect.isfunction(total) and inspect.isroutine(total) and callable(total)
    assert total.__name__ == "total" and total.__doc__ == _total.__doc__ and total.__wrapped__ is _total and total.__module__ == __name__
    assert inspect.signature(total) == inspect.signature(_total) and total.__annotations__ == _total.__annotations__
    assert inspect.getsource(total) == inspect.getsource(_total) and repr(total).startswith("<function total at ")
    assert original(total) is _total and is_jitted(total) and "plait.jit(total)" in total.report()
    total.mark = 3
    assert total.mark == vars(total).pop("mark") == 3
    assert functools.wraps(total)(lambda: None).__wrapped__ is total
    assert copy.copy(total) is copy.deepcopy(total) is pickle.loads(pickle.dumps(total)) is total


def test_arguments_are_those_of_the_function():
    assert total(X) == total(x=X) == total(X, by=2.0) == total(*[X], **{}) == functools.partial(total, X)() == 20
    assert total(X, 3.0) == total(X, by=3.0) == 30 and list(map(total, [X, X])) == [20, 20]
    for args, kwargs in (((), {}), ((X, 1, 2), {}), ((X,), {"other": 1}), ((X,), {"x": X})):
        said = []
        for f in (_total, total):
            with pytest.raises(TypeError) as e:
                f(*args, **kwargs)
            said.append((str(e.value), len(traceback.extract_tb(e.value.__traceback__))))
        assert said[0] == said[1]


@pytest.mark.parametrize("after", [0, whole.AFTER])
def test_calls_by_position_ask_python_nothing(run_python, after):
    """In a process of its own: where somebody ever chose another default dtype, functions do not run on the caller's arrays."""
    done = run_python(POSITIONS.format(after=after, here=os.path.dirname(__file__)))
    assert done.returncode == 0 and done.stdout.split() == ["0", "3"], done.stdout + done.stderr


POSITIONS = """
import numpy as np, plait, sys
from plait._functions import jitted_of
from plait._python_loops import codes, going_over, whole
whole.AFTER, going_over.WORTH = {after}, 0.0
codes.Code.ready = property(lambda code: code.usable and (code.procedure.compile() or True))
sys.path.insert(0, {here!r})
from test_foreign_arrays import Tensor
from test_jit_calls import X, total
for _ in range(20):
    total(X), total(Tensor(X))
counted, jitted, look = [], jitted_of(total), jitted_of(total).look
jitted.look = lambda run: (counted.append(run), look(run))
assert total(X) == total(X, 2.0) == total(np.array([0.0, 10.0])) == 20
lent = total(Tensor(X))
assert type(lent) in (float, Tensor) and float(lent if type(lent) is float else lent.memory) == 20 and total(X) == 20
print(len(counted))
class Arrays(np.ndarray):
    pass
assert total(x=X) == total(plait.array(X)) == total(X.view(Arrays)) == 20
print(len(counted))
"""


def test_methods():
    def scaled(self, x):
        s = 0.0
        for v in x:
            s += v * self
        return s

    class Number(float):
        times = native(scaled, 2.0, X)
        alone = staticmethod(times)
        of_class = classmethod(times)

    two = Number(2.0)
    assert two.times(X) == Number.times(two, X) == Number.alone(two, X) == 20
    assert two.times.__self__ is two and two.times.__func__ is Number.__dict__["times"] and inspect.ismethod(two.times)
    assert Number.of_class.__self__ is Number


def test_it_is_let_go_of():
    f = native(types.FunctionType(_total.__code__, globals(), "f", (2.0,)), X)
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def test_errors_lead_through_the_function_alone():
    def divided(x, by):
        s = 0
        for v in x:
            s += v // by
        return s

    jitted = native(divided, [1, 2], 1)
    for f in (divided, jitted):
        try:
            f([1, 2], 0)
        except ZeroDivisionError as e:
            names = [t.name for t in traceback.extract_tb(e.__traceback__)]
            context = e.__context__
        assert names == ["test_errors_lead_through_the_function_alone", "divided"] and context is None
    try:
        try:
            raise KeyError
        except KeyError:
            jitted([1, 2], 0)
    except ZeroDivisionError as e:
        assert type(e.__context__) is KeyError


def test_copies_of_it_run():
    made = types.FunctionType(total.__code__, total.__globals__, "made", total.__defaults__, total.__closure__)
    assert type(made) is types.FunctionType
    for _ in range(3):
        assert made(X) == made(X, by=2.0) == 20


def test_as_an_argument_it_is_one_function():
    @plait.jit(replay=True)
    def applied(f, x):
        return x * 2 + 1

    for _ in range(4):
        assert (applied(total, X) == X * 2 + 1).all()
    assert applied._kept() == 1
    assert (np.apply_along_axis(total, 0, np.stack([X, X]).T) == 20).all()
    assert (plait.apply_along_axis(total, 0, plait.array(np.stack([X, X]).T)) == 20).all()


def test_first_calls_in_several_threads():
    plait._plait.call_natively(total)  # once more
    assert total(X) == total(x=X) == 20


def test_only_a_jitted_functions_calls_begin_so():
    for other in (_total, len, None):
        with pytest.raises(TypeError):
            plait._plait.call_natively(other)
    for wrong in (_total, 3):
        with pytest.raises(TypeError):
            jitted_of(total).whole = wrong
        with pytest.raises(TypeError):
            jitted_of(total).direct = wrong
