"""Arrays of other libraries as arguments of jitted functions: a small library that knows DLPack alone stands for all of them; real ones are in
tests/libraries."""

import asyncio
import collections
import dataclasses
import functools
import gc
import os
import traceback
import types
import weakref

import numpy
import pytest
from support import needs_device

import plait
from plait import _foreign_libraries
from plait._jit import loops_of

np = numpy


class Tensor:
    """An array of a library of its own: no operator, no __array__, but DLPack."""

    def __init__(self, values, dtype=None):
        self.memory = values if isinstance(values, (numpy.ndarray, plait.ndarray)) else numpy.array(values, dtype)

    def __dlpack__(self, **how):
        return self.memory.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.memory.__dlpack_device__()

    def tolist(self):
        return self.memory.tolist()


def from_dlpack(x):
    """The library's, which the edge finds in the module of the class."""
    return Tensor(plait.from_dlpack(x) if type(x) is plait.ndarray else numpy.from_dlpack(x))


class Other(Tensor):
    pass


@dataclasses.dataclass
class Point:
    x: object
    n: int = 0


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: object


@dataclasses.dataclass
class Slots:
    __slots__ = ("x",)
    x: object


Pair = collections.namedtuple("Pair", "a b")


@plait.jit
def root(x, y):
    return np.sqrt(x * x + 1) + y


@plait.jit
def squares(x):
    total = 0.0
    for v in x:
        total += v * v
    return total


@plait.jit
def fill(x, value):
    x[1:] = value


@plait.jit
def same(*args, **kwargs):
    return args if not kwargs else (args, kwargs)


@plait.jit
def parts(p):
    return {"sum": p["a"].sum(), "list": [p["b"][0] * 2, 3], "pair": Pair(p["b"][1] + 1, None), "text": "t"}


def test_results_are_the_librarys():
    made = root(Tensor([0.0, 1.0]), 1)
    assert type(made) is Tensor and type(made.memory) is numpy.ndarray
    assert made.tolist() == (np.sqrt(np.array([1.0, 2.0])) + 1).tolist()
    assert type(root(np.array([0.0]), Tensor([1.0]))) is Tensor
    assert type(root(1.0, y=Tensor([1.0]))) is Tensor


def test_memory_is_shared_both_ways(monkeypatch):
    x = Tensor([1.0, 2.0, 3.0])
    address = x.memory.ctypes.data
    seen = []

    @plait.jit
    def f(v):
        seen.append(v.ctypes.data)
        v *= 2
        return v[1:]

    made = f(x)
    assert seen == [address] and x.tolist() == [2, 4, 6]
    assert made.memory.ctypes.data == address + 8
    assert fill(x, 7) is None and x.tolist() == [2, 7, 7]


def test_loops_run_in_machine_code_over_them():
    x = np.arange(100_000.0)
    for _ in range(3):
        made, theirs = squares(Tensor(x)), squares(x)
        assert type(theirs) is numpy.float64 and made.tolist() == theirs
    assert any(code.runs for loop in loops_of(squares) for code in loop.codes.values())


def test_arguments_come_back_as_the_objects_they_were():
    x, a, p = Tensor([1.0]), np.ones(2), plait.ones(2)
    made = same(x, x, a, [x, 2], None)
    assert made[0] is x and made[1] is x and made[2] is a and made[3][0] is x
    assert same(x, p)[1] is p
    assert same(k=x)[1]["k"] is x


def test_results_in_containers():
    made = parts({"a": Tensor([1.0, 2.0]), "b": [Tensor([3]), Tensor([4])]})
    assert made["sum"].tolist() == 3 and made["sum"].memory.shape == ()
    assert made["list"][0].tolist() == [6] and made["list"][1] == 3
    assert type(made["pair"]) is Pair and made["pair"].a.tolist() == [5] and made["pair"].b is None and made["text"] == "t"


def test_lists_and_dicts_get_what_the_function_puts_there():
    @plait.jit
    def f(xs, d):
        xs.append(xs[0] + 1)
        d["b"] = d["a"] * 2
        return xs

    x = Tensor([1.0])
    xs, d = [x], {"a": x}
    assert f(xs, d) is xs
    assert xs[0] is x and xs[1].tolist() == [2] and d["a"] is x and d["b"].tolist() == [2]


def test_so_they_do_where_it_raises():
    @plait.jit
    def f(xs):
        xs.append(xs[0] + 1)
        raise KeyError("after")

    xs = [Tensor([1.0])]
    with pytest.raises(KeyError, match="after") as caught:
        f(xs)
    assert xs[1].tolist() == [2]
    assert not [s for s in traceback.extract_tb(caught.tb) if s.filename.endswith("_foreign.py")]


@pytest.mark.parametrize("kind", [Point, Frozen, Slots])
def test_dataclasses(kind):
    @plait.jit
    def f(p):
        return kind(p.x + 1)

    p = kind(Tensor([1.0]))
    x = p.x
    made = f(p)
    assert type(made) is kind and made.x.tolist() == [2] and p.x is x
    assert same(p)[0] is p


def test_attributes_of_dataclasses_that_the_function_sets():
    @plait.jit
    def f(p):
        p.n += 1
        p.y = p.x * 2
        p.x = p.y

    p = Point(Tensor([1.0]))
    f(p)
    assert p.n == 1 and p.y.tolist() == [2] and p.y is p.x


def test_arrays_are_what_tensors_numpy_gives():
    @plait.jit
    def f(x):
        assert x.numpy() is x and x.detach().cpu().numpy() is x
        return (x.numpy() + 1).numpy() * 2

    assert f(Tensor([1.0])).tolist() == [4]
    assert plait.jit(lambda x: hasattr(x, "numpy"))(np.ones(2)) is False
    assert not hasattr(plait.ones(2), "detach") and plait.jit(lambda x: hasattr(x, "cpu"))(Tensor([1.0])) is True
    with pytest.raises(AttributeError, match="no attribute 'numpy'"):
        plait.ones(2).numpy


def test_read_only_memory_raises_as_numpys():
    x = np.arange(3.0)
    x.flags.writeable = False
    theirs = pytest.raises(ValueError, x.__setitem__, 0, 1)
    with pytest.raises(ValueError) as ours:
        fill(Tensor(x), 1)
    assert str(ours.value) == str(theirs.value)


def test_narrow_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name in ("bfloat16", "float8_e4m3fn"):
        x = Tensor(plait.asarray(np.arange(4).astype(getattr(ml_dtypes, name))))
        y = plait.jit(lambda v: np.asarray(v * 2, v.dtype))
        made = y(x)
        assert type(made) is Tensor and made.memory.dtype == getattr(ml_dtypes, name) and made.tolist() == [0, 2, 4, 6]


class Refusing(Tensor):
    def __dlpack__(self, **how):
        raise BufferError("this layout is not exported")


@pytest.mark.parametrize(
    "given, place",
    [
        (lambda x: ((x, 1), {}), "x"),
        (lambda x: ((1,), {"y": x}), "y"),
        (lambda x: (([1, x], 1), {}), r"x\[1\]"),
        (lambda x: (({"k": (x,)}, 1), {}), r"x\['k'\]\[0\]"),
        (lambda x: ((1, Point(x)), {}), r"y\.x"),
    ],
)
def test_errors_name_the_argument(given, place):
    args, kwargs = given(Refusing([1.0]))
    with pytest.raises(
        TypeError, match=rf"root\(\) got for {place} a test_foreign_arrays.Refusing .*this layout is not exported.*NumPy array"
    ):
        root(*args, **kwargs)


def test_the_first_librarys_arrays_come_back():
    calls = []
    mine = types.ModuleType("mine")
    mine.from_dlpack = lambda x: calls.append(x) or "mine"
    kind = type("Mine", (Tensor,), {"__module__": "mine.core"})
    import sys

    sys.modules["mine"] = mine
    try:
        assert root(kind([1.0]), Tensor([1.0])) == "mine" and len(calls) == 1
        assert type(root(Tensor([1.0]), kind([1.0]))) is Tensor
    finally:
        del sys.modules["mine"]


def test_a_library_that_takes_nothing_gets_numpys():
    kind = type("Alone", (Tensor,), {"__module__": "nowhere"})
    assert type(root(kind([1.0]), 1)) is numpy.ndarray


def test_arrays_are_held_while_they_are_read():
    class Memory(numpy.ndarray):
        pass

    memory = numpy.arange(5.0).view(Memory)
    gone = weakref.ref(memory)
    held = [Tensor(memory)]
    del memory

    @plait.jit
    def f(x):
        y = x + 1
        held.clear()
        gc.collect()
        assert gone() is not None
        return y

    assert f(held[0]).tolist() == [1, 2, 3, 4, 5]
    gc.collect()
    assert gone() is None
    view = plait.jit(lambda x: x[1:])(Tensor(numpy.arange(5.0)))
    gc.collect()
    assert view.tolist() == [1, 2, 3, 4]


def test_replayed_functions():
    f = plait.jit(lambda x, y: np.sqrt(x) * y, replay=True)
    for k in range(5):
        made = f(Tensor([4.0 * k, 9.0]), 2.0)
        assert type(made) is Tensor and made.tolist() == [np.sqrt(4.0 * k) * 2, 6]


def test_generators_and_coroutines():
    @plait.jit
    def generate(x):
        got = yield x + 1
        assert x.numpy() is x
        yield got * 2
        return x

    x = Tensor([1.0])
    g = generate(x)
    assert next(g).tolist() == [2] and not hasattr(plait.ones(1), "numpy")
    assert g.send(Tensor([5.0])).tolist() == [10]
    with pytest.raises(StopIteration) as end:
        next(g)
    assert end.value.value is x

    @plait.jit
    async def wait(x):
        await asyncio.sleep(0)
        return x.numpy() + 1

    assert asyncio.run(wait(x)).tolist() == [2]


def test_methods_and_nested_functions():
    @plait.jit
    def inner(x):
        return x + 1

    @plait.jit
    class Model:
        def __init__(self, w):
            self.w = w

        def run(self, x):
            return inner(x) * self.w

    assert Model(np.float64(2)).run(Tensor([1.0])).tolist() == [4]


def test_attributes_that_a_method_sets_are_the_librarys():
    @plait.jit
    class Model:
        def __init__(self, w):
            self.w, self.n = w, 3

        def fit(self, x):
            self.mean, self.n = x.mean(), self.n + 1
            del self.w
            return self.mean

    w = Tensor([1.0, 3.0])
    model = Model(w)
    assert model.w is w and model.n == 3
    made = model.fit(w)
    assert made is model.mean and type(made) is Tensor and made.tolist() == 2 and vars(model) == {"mean": made, "n": 4}


def test_slots_of_a_base():
    class Base:
        __slots__ = ("__hidden", "n")

        def hide(self, x):
            self.__hidden = x
            return self

        def hidden(self):
            return self.__hidden

    @dataclasses.dataclass
    class Derived(Base):
        x: object

    d = Derived(Tensor([1.0])).hide(Tensor([2.0]))
    d.n = 5

    @plait.jit
    def f(d):
        d.n += 1
        return d.x + d.hidden()

    assert f(d).tolist() == [3] and d.n == 6 and type(d.hidden()) is Tensor


class Named(Tensor):
    """One with methods that NumPy's arrays lack."""

    def unsqueeze(self, axis):
        return Named(np.expand_dims(self.memory, axis))

    def split(self, *_):
        return [self]


def unsqueezed(v, axis=0):
    return v.unsqueeze(axis)


def in_a_dict(d):
    return {name: v.unsqueeze(0) for name, v in d.items()}


def in_a_list(vs):
    made = []
    for n, v in enumerate(vs):
        w = v if n else vs[0]
        made.append(w.unsqueeze(0))
    return made[-1]


def by_another(x, axis):
    return unsqueezed(x, axis=axis)


def of_a_field(p):
    return (q := p.x).unsqueeze(0)


@pytest.mark.parametrize(
    "f, args",
    [
        (unsqueezed, (Named([1.0]),)), (lambda *v: v[0].unsqueeze(axis=0), (Named([1.0]),)), (in_a_dict, ({"a": Named([1.0])},)),
        (in_a_list, ([Named([1.0]), Named([1.0])],)), (by_another, (Named([1.0]), 0)), (of_a_field, (Point(Named([1.0])),)),
        (functools.partial(unsqueezed, axis=0), (Named([1.0]),)), (types.SimpleNamespace(f=unsqueezed).f, (Named([1.0]),)),
    ],
)  # fmt: skip
def test_a_function_written_for_the_librarys_arrays_gets_them(f, args):
    made = plait.jit(f)(*args)
    made = made["a"] if type(made) is dict else made
    assert type(made) is Named and made.memory.shape == (1, 1)


class Layer(Named):
    """A callable object of the library's."""

    def __call__(self, v):
        return v.unsqueeze(0)


layer = Layer([0.0])


class User:
    def __init__(self):
        self.layer, self.itself = layer, self

    def by_a_method(self, v):
        return self.also(v)

    def also(self, w):
        return w.unsqueeze(0)

    def by_an_attribute(self, v):
        return self.itself.layer(v)

    @plait.jit
    def inner(self, v):
        return self.layer(v)

    def by_a_jitted_method(self, v):
        return self.inner(v)

    @property
    def asked(self):
        pytest.fail("it is run")

    def by_numpy(self, v):
        return self.asked(v) if v is None else self.numpys(np.sqrt(v))

    def numpys(self, v):
        return v + 1


def test_what_gets_an_array_from_the_function_may_be_written_for_it(monkeypatch):
    monkeypatch.setattr(Named, "__module__", "a_library.arrays")
    monkeypatch.setattr(Layer, "__module__", "a_library.layers")
    user = User()
    for f in (lambda v: layer(v), user.by_a_method, user.by_an_attribute, user.by_a_jitted_method, user.inner):
        made = plait.jit(f)(Named([1.0]))
        assert type(made) is Named and made.memory.shape == (1, 1)
    assert plait.jit(user.by_numpy)(Named([4.0])).tolist() == [3]


def test_such_a_generator_and_a_replayed_function():
    @plait.jit
    def g(v):
        yield v.unsqueeze(0)

    assert [type(made) for made in g(Named([1.0]))] == [Named]
    f = plait.jit(unsqueezed, replay=True)
    assert {type(f(Named([1.0]))) for _ in range(4)} == {Named}


def test_names_of_what_is_no_array_say_nothing():
    def f(d, v, text):
        parts = [key.split(".")[0] for key, x in d.items()]
        return np.split(v, 1)[0] + len(text.split(",")) + len(parts) + len(f"{v}".split())

    v = Named([1.0])
    assert type(plait.jit(f)({"a.b": v}, v, "a,b")) is Tensor


def test_an_expression_nested_deep_is_no_error(tmp_path):
    file = tmp_path / "deep.py"
    file.write_text("import numpy\ndef f(v):\n    return " + " + ".join(["v"] * 900))
    scope = {"__name__": "deep"}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    assert plait.jit(scope["f"], loops=False)(Tensor([1.0])).tolist() == [900]


def test_the_log_says_it(run_python):
    source = f"""
import sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import plait
from test_foreign_arrays import Named, unsqueezed
plait.jit(unsqueezed)(Named([1.0]))
"""
    assert "arguments whose unsqueeze NumPy's arrays lack" in run_python(source, env={"PLAIT_LOG": "fallback"}).stderr


def test_numpys_own_subclasses_and_scalars_stay():
    m = numpy.ma.array([1.0, 2.0], mask=[0, 1])
    assert type(plait.jit(lambda m: m + 1)(m)) is numpy.ma.MaskedArray
    assert type(plait.jit(lambda x: x.sum())(np.ones(2))) is numpy.float64


@needs_device
def test_on_a_device():
    x = Tensor(plait.asarray(np.arange(4.0), device="cuda"))
    made = plait.jit(lambda v: v.detach().cpu().numpy() * 2)(x)
    assert type(made) is Tensor and made.memory.device == "cuda:0" and made.tolist() == [0, 2, 4, 6]
    assert fill(x, 5) is None and x.tolist() == [0, 5, 5, 5]
    assert type(squares(x)) is Tensor and squares(x).tolist() == 75
    total = plait.jit(lambda v: (v.sum(), [v.max()]))(x)
    assert type(total[0]) is type(total[1][0]) is Tensor and total[0].tolist() == 15
    with pytest.raises(TypeError, match=r"for y a .*Tensor on cpu, and one before it is on cuda:0"):
        root(x, Tensor([1.0]))
    with pytest.raises(TypeError, match=r"for v a .*on cuda:0, and the function runs on 'cpu'"):
        plait.jit(lambda v: v + 1, device="cpu")(x)


@needs_device
def test_on_a_device_by_its_interface_alone():
    class Stranger:
        def __init__(self, like):
            self.__cuda_array_interface__ = like.__cuda_array_interface__

    memory = plait.asarray(np.arange(4.0), device="cuda")
    fill(Stranger(memory), 5)
    assert memory.tolist() == [0, 5, 5, 5]


class Lent(Tensor):
    """An array of a library that has a method for NumPy's, and a function for one of those."""

    def as_numpy(self):
        if self.memory.dtype == numpy.int8:
            raise RuntimeError("no such array")
        return self.memory


class LentLibrary(_foreign_libraries.Library):
    to_numpy = "as_numpy"

    def __init__(self):
        super().__init__(Lent)
        self.made = 0

    def from_numpy(self, x):
        self.made += 1
        if x.dtype == numpy.uint8:
            raise TypeError("no such dtype")
        return Lent(x)

    def take(self, x):
        return "taken", x


@pytest.fixture
def library(monkeypatch):
    made = LentLibrary()
    monkeypatch.setitem(_foreign_libraries.known, Lent, made)
    return made


def test_simple_calls_ask_the_library_for_its_short_ways(library):
    @plait.jit
    def same(x, y, dtype):
        assert type(x) is type(y) is not Lent
        return (x + 1).astype(dtype)

    x = Lent(numpy.arange(3.0))
    made = same(x, x, "f4")
    assert type(made) is Lent and made.memory.dtype == "f4" and made.tolist() == [1, 2, 3] and library.made == 1
    how, made = same(x, x, "u1")
    assert how == "taken" and made.tolist() == [1, 2, 3] and library.made == 2
    assert plait.jit(lambda a, b: b)(1, x) is x and plait.jit(lambda a, b: a)(2.5, x) == 2.5
    total = plait.jit(lambda a: a.sum())(x)
    assert type(total) is Lent and total.memory.shape == () and total.memory == 3
    first, both = plait.jit(lambda a, b: (a, [b * 2]))(x, x)
    assert first is x and both[0][0] == "taken"
    how, small = plait.jit(lambda a: a + a)(Lent([1, 2], numpy.int8))  # for which the method raises
    assert how == "taken" and small.tolist() == [2, 4]


def test_errors_in_simple_calls_lead_through_the_program(library):
    @plait.jit
    def fails(x):
        return x.nowhere

    with pytest.raises(AttributeError, match="nowhere") as e:
        fails(Lent([1.0]))
    assert [t.name for t in traceback.extract_tb(e.value.__traceback__)] == ["test_errors_in_simple_calls_lead_through_the_program", "fails"]
    assert not plait._plait.is_lending()


def test_a_class_without_a_hash_is_none_of_a_librarys(library):
    class Compared(type):
        def __eq__(cls, other):  # and with it no __hash__
            return cls is other

    class Odd(metaclass=Compared):
        pass

    ours = plait.jit(lambda a, b: b)
    for _ in range(3):
        with pytest.raises(TypeError, match="unhashable type: 'Compared'"):
            ours(Odd(), Lent([1.0]))
