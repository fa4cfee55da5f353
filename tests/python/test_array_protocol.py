"""Objects that give their array by __array__, where that is a Plait array, as in any class under python -m plait."""

import numpy
import pytest
from support import both

import plait


def kinds(np):
    """Classes whose __array__ makes its array with the module."""

    class Floats:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0) if dtype is None else np.arange(3.0).astype(dtype)

    class Whole:
        def __array__(self):
            return np.array([2, 0, 1])

    class Mask:
        def __array__(self, dtype=None):
            return np.array([True, False, True])

    class One:
        def __array__(self, dtype=None, copy=None):
            return np.array(2.5)

    return Floats(), Whole(), Mask(), One()


CALLS = """
np.array(f)
np.array(f, "f4")
np.array(f, copy=False)
np.array(f, ndmin=2)
np.array(f, dtype=object)
np.array(one)
np.asarray(i)
np.asanyarray(m)
np.ascontiguousarray(f)
np.array([f, f])
np.array([[f], [f]])
np.array((f, [1, 2, 3]))
np.bincount(i)
y[i]
y[m]
x[:, i]
x[:, [i, i]]
y + f
f + y
y == f
y @ f
y @ [f, f, f]
np.add(f, f)
np.sin(f)
np.add.reduce(f)
np.sum(f)
np.sum(a=f)
np.sum([f, f], axis=0)
np.max(f)
np.std(f)
np.argmax(f)
np.where(m, f, 0)
np.concatenate([f, f])
np.stack([f, y])
np.dot(f, f)
np.outer(f, f)
np.einsum("i,i", f, f)
np.linalg.norm(f)
np.linalg.solve(np.eye(3), f)
np.fft.fft(f)
np.sort(f)
np.unique(f)
np.median(f)
np.interp(f, f, f)
np.histogram(f)[0]
np.clip(f, 0, 1)
np.cumsum(f)
np.reshape(f, (3, 1))
np.broadcast_to(f, (2, 3))
np.zeros_like(f)
np.full(2, one)
np.full(3, f)
np.atleast_2d(f)
np.shape(f), np.ndim(f), np.size(f)
np.array_equal(f, f)
np.allclose(f, f)
np.vectorize(lambda v: v + 1)(f)
np.searchsorted(y, f)
y.dot(f)
y.astype(int)[i]
np.r_[f, 1]
np.block([f, f])
np.meshgrid(f, f)[1]
np.take(y, i)
np.choose(i, [f, f, f])
np.random.default_rng(0).normal(f)
np.random.default_rng(0).choice(f, 2)
np.full(2, f)
np.bincount(f)
y[f]
""".strip().splitlines()


@pytest.mark.parametrize("call", CALLS)
def test_taken_as_arrays(call):
    def f(np):
        names = dict(zip("fim", kinds(np)), one=kinds(np)[3], np=np, x=np.arange(6.0).reshape(2, 3), y=np.arange(3.0))
        return eval(call, names)

    both(f)


def test_elements_are_the_objects():
    f = kinds(plait)[0]
    made = plait.array([f, None], dtype=object)
    assert made[0] is f and made[1] is None
    made = plait.zeros(2, object)
    made[0] = f
    assert made[0] is f


@pytest.mark.parametrize("write", ["y[i] = 7.0", "y[m] = 7.0", "y[:] = f", "y += f", "y.put(i, f)", "np.copyto(y, f)", "y.fill(one.__array__())"])
def test_writes(write):
    def f(np):
        names = dict(zip("fim", kinds(np)), one=kinds(np)[3], np=np, y=np.arange(3.0) * 10)
        exec(write, names)
        return names["y"]

    both(f)


def test_objects_that_have_no_subclass():
    class Slotted:
        __slots__ = ("n",)

        def __array__(self, dtype=None, copy=None):
            return plait.arange(self.n)

    class Counted(type):
        def __new__(cls, name, bases, body, *, needed=None):
            if bases:
                raise TypeError
            return super().__new__(cls, name, bases, body)

    class Final(metaclass=Counted):
        def __array__(self, dtype=None, copy=None):
            return plait.arange(3)

    s = Slotted()
    s.n = 3
    for x in (s, Final()):
        assert plait.array(x).tolist() == plait.array([x])[0].tolist() == [0, 1, 2] and plait.bincount(x).tolist() == [1, 1, 1]


def test_what_it_gives_is_shared():
    class Holder:
        def __init__(self):
            self.x = plait.arange(3.0)

        def __array__(self, dtype=None, copy=None):
            return self.x

    h = Holder()
    plait.asarray(h)[0] = 5
    assert h.x[0] == 5
    plait.array(h)[0] = 9
    assert h.x[0] == 5


def test_the_object_wraps_results_and_overrides_ufuncs():
    class Wrapping:
        __array_priority__ = 20.0

        def __init__(self, np):
            self.np = np

        def __array__(self, dtype=None, copy=None):
            return self.np.arange(3.0)

        def __array_wrap__(self, array, context=None, return_scalar=False):
            return "wrapped", array.tolist()

    assert plait.sin(Wrapping(plait)) == numpy.sin(Wrapping(numpy)) == ("wrapped", numpy.sin(numpy.arange(3.0)).tolist())

    class Overriding(Wrapping):
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return ufunc.__name__

    assert plait.sin(Overriding(plait)) == "sin"


@pytest.mark.parametrize("given", [[1, 2], None, "abc"])
def test_what_is_no_array_is_refused(given):
    class Other:
        def __array__(self, dtype=None, copy=None):
            return given

    both(lambda np: np.array(Other()))
    both(lambda np: np.add(np.ones(2), Other()))
    both(lambda np: np.sum([Other(), 1]))


def test_errors_of_the_object_pass_through():
    class Raising:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("not now")

    both(lambda np: np.array([Raising()]))
    both(lambda np: np.array([[1, 2], [3]]))
    both(lambda np: np.add(np.ones(2), [[1, 2], [3]]))


def test_other_protocols_over_plait_arrays():
    class Interface:
        def __init__(self):
            self.x = plait.arange(3.0)
            self.__array_interface__ = self.x.__array_interface__

    class Struct:
        def __init__(self):
            self.x = plait.arange(3.0)
            self.__array_struct__ = self.x.__array_struct__

    class Exchange:
        def __init__(self):
            self.x = plait.arange(3.0)

        def __dlpack__(self, **options):
            return self.x.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

    class Number:
        def __float__(self):
            return plait.arange(3.0).sum()

        def __index__(self):
            return plait.arange(3).max().item()

    assert plait.array(Interface()).tolist() == plait.array(Struct()).tolist() == plait.from_dlpack(Exchange()).tolist() == [0, 1, 2]
    assert plait.array([Interface(), Struct()]).shape == (2, 3)
    assert plait.array([Number()], float).tolist() == [3.0] and plait.arange(5)[Number()] == 2


def test_under_the_runner(run_python, tmp_path):
    path = tmp_path / "script.py"
    path.write_text(
        "import numpy as np\n"
        "class C:\n"
        "    def __array__(self, dtype=None, copy=None):\n"
        "        return np.arange(3)\n"
        "print(type(np.arange(3)).__module__, np.array([C(), C()]).sum(), np.bincount(C()).tolist(), (np.ones(3) + C()).tolist())\n"
    )
    assert run_python(None, "-m", "plait", str(path)).stdout == "plait 6 [1, 1, 1] [1.0, 2.0, 3.0]\n"
