"""plait.jit(fn, replay=True): calls that were seen twice run the kept plan, not the function."""

import collections
import functools
import math
import os
import pickle
import threading
import time
import warnings

import numpy as np
import pytest

import plait
from plait import _caught, _jit, _plait

calls = []
WEIGHTS = np.arange(4.0)
PLAITS = plait.arange(4.0)
OUTSIDE = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def told(monkeypatch):
    """What is warned of, without catch_warnings, inside of which nothing is replayed."""
    calls.clear()
    texts = []
    monkeypatch.setattr(_jit.warnings, "warn", lambda text, category, **_: texts.append(text) if category is plait.ReplayWarning else None)
    return texts


def replayed(f):
    return plait.jit(f, replay=True)


def call_until_kept(g, *args):
    """What takes long is planned in the background; a call is kept when that is done."""
    ends = time.monotonic() + 60
    while not g._kept() and time.monotonic() < ends:
        g(*args)
        time.sleep(0.01)
    assert g._kept() == 1


def saxpy(a, x, y, **options):
    calls.append(1)
    return a * x + y


def test_the_function_is_not_run_again():
    f = replayed(saxpy)
    for i in range(5):
        x, y = np.arange(10.0) + i, np.full(10, 2.0 * i)
        np.testing.assert_array_equal(f(3.0, x, y), 3.0 * x + y)
        assert f._kept() == (i > 0)
    assert len(calls) == 2


def test_a_call_that_does_not_come_again_is_not_watched(told, monkeypatch):
    """It costs what it does without replay, and is not told of."""
    g = replayed(lambda x: x * float(x[0]))
    h = replayed(saxpy)
    monkeypatch.setattr(_plait, "obstruct_capture", None)
    plans = _plait.stats()["plans_made"]
    for n in range(1, 40):
        g(np.ones(n))
        h(2.0, np.ones(n), np.ones(n))
    assert not told and (g._kept(), h._kept(), _plait.stats()["plans_made"]) == (0, 0, plans)
    g(np.ones(39))
    h(2.0, np.ones(39), np.ones(39))
    assert len(told) == 1 and (g._kept(), h._kept()) == (0, 1)


@pytest.mark.skipif(os.environ.get("PLAIT_PLAN") == "always", reason="all is planned at once")
def test_a_long_plan_is_made_in_the_background():
    @replayed
    def f(x):
        calls.append(1)
        for i in range(400):
            x = (x + 1.0) * 0.5
        return x

    x = np.arange(10.0)
    want = f._jitted.fn(x)
    calls.clear()
    for _ in range(2):
        np.testing.assert_array_equal(f(x), want)
    assert f._kept() == 0
    call_until_kept(f, x)
    calls.clear()
    np.testing.assert_array_equal(f(x), want)
    assert not calls


def test_after_an_obstacle_a_watched_call_is_as_one_that_is_not():
    def f(x):
        y = x + 1
        z = x * float(y[0])
        before = _plait.stats()["recorded_total"]
        for _ in range(100):
            z = z + y
        recorded.append(_plait.stats()["recorded_total"] - before)
        return z

    recorded = []
    g = replayed(f)
    for _ in range(2):
        np.testing.assert_array_equal(g(np.ones(4)), 202)
    assert recorded[0] == recorded[1]


def test_rows_of_an_argument_are_no_values(told):
    def f(x):
        calls.append(1)
        return [row * 2 for row in x]

    g = replayed(f)
    x = np.arange(12.0).reshape(3, 4)
    for i in range(3):
        np.testing.assert_array_equal(g(x + i), f(x + i))
    assert len(calls) == 5 and not told


def test_values_of_other_arguments_decide():
    def f(x, n, how, options):
        calls.append(1)
        if how == "sum":
            return x[n:].sum() * options["scale"]
        return [x[:n], None, options["scale"]] if n else x

    g = replayed(f)
    x = np.arange(6.0)
    for _ in range(4):
        for n in (0, 1, True, 2):
            for how in ("sum", "other"):
                for scale in (1, 1.0, -0.0, 0.0, 2):
                    got, want = g(x, n, how, {"scale": scale}), f(x, n, how, {"scale": scale})
                    assert type(got) is type(want)
                    np.testing.assert_equal(got, want)
    assert 4 * 40 <= len(calls) <= 8 * 40


@pytest.mark.parametrize(
    "make",
    [
        lambda x, y: x + y,
        lambda x, y: (x * 2, [y - x, {"sum": x.sum(), "both": (x, y)}]),
        lambda x, y: x,
        lambda x, y: x[::2],
        lambda x, y: (x[1:], x[:-1].T, y.reshape(2, 3)),
        lambda x, y: (x + y)[::-1],
        lambda x, y: x.max(),
        lambda x, y: None,
        lambda x, y: (1, "a", 2.5, np.float32(3)),
        lambda x, y: np.zeros(3),
        lambda x, y: np.array([1.0, 2.0]),
        lambda x, y: np.empty((0, 3)) + 1,
        lambda x, y: np.sort(x + y),
        lambda x, y: x @ y,
        lambda x, y: np.cumsum(x * y),
        lambda x, y: np.where(x > 2, x, y),
        lambda x, y: np.linalg.solve(np.diag(x + 1), y),
        lambda x, y: [row * 2 for row in x.reshape(2, 3)],
        lambda x, y: np.stack([x * 2, y + 1]),
        lambda x, y: np.concatenate([x * 2, y]),
    ],
)
@pytest.mark.parametrize("take", [np.asarray, plait.asarray])
def test_structure_and_values(make, take):
    def f(x, y):
        calls.append(1)
        return make(x, y)

    g = replayed(f)
    inner = replayed(make)

    def same(got, want, got_args, want_args):
        if isinstance(want, (tuple, list)):
            assert type(got) is type(want) and len(got) == len(want)
            for a, b in zip(got, want):
                same(a, b, got_args, want_args)
        elif isinstance(want, dict):
            assert list(got) == list(want)
            for k in want:
                same(got[k], want[k], got_args, want_args)
        elif isinstance(want, np.ndarray):
            got_host = np.asarray(got)
            assert type(got) is (np.ndarray if take is np.asarray else plait.ndarray)
            assert got_host.dtype == want.dtype and got_host.strides == want.strides and got_host.flags.writeable == want.flags.writeable
            np.testing.assert_array_equal(got_host, want)
            for a, b in zip(got_args, want_args):
                assert plait.shares_memory(got, a) == np.shares_memory(want, b)
                assert (got is a) == (want is b)
        else:
            assert type(got) is type(want)
            np.testing.assert_equal(got, want)

    for i in range(4):
        x, y = np.arange(6.0) + i, np.arange(6.0)[::-1].copy()
        args = take(x.copy()), take(y.copy())
        same(inner(*args), make(x, y), args, (x, y))


def test_results_alias_each_other_as_recorded_and_are_fresh():
    @replayed
    def f(x):
        y = x + 1
        return y, y[1:], y * 2

    x = np.arange(5.0)
    first = f(x)
    for _ in range(4):
        a, b, c = f(x)
        assert np.shares_memory(a, b) and not np.shares_memory(a, c)
        assert not any(np.shares_memory(r, s) for r in (a, b, c) for s in first)
        a[:] = 7
        np.testing.assert_array_equal(b, 7)
    np.testing.assert_array_equal(first[0], x + 1)


@pytest.mark.parametrize("take", [np.asarray, plait.asarray])
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[::2], lambda x: x[::-1], lambda x: x.reshape(2, -1).T])
def test_writes_into_arguments(take, view):
    def f(x, y):
        calls.append(1)
        old = x + 0
        x += 1
        x[0] = y.sum()
        y[...] = old * 2
        return x, old

    g = replayed(f)
    for i in range(4):
        x, y = np.arange(12.0) + i, np.full(12, 1.0 + i)
        a, b = take(x.copy()), take(y.copy())
        alias, before = a[:], a + 0
        want = f(view(x), view(y))
        got = g(view(a), view(b))
        for u, v in ((a, x), (b, y), (got[0], want[0]), (got[1], want[1]), (alias, x)):
            np.testing.assert_array_equal(np.asarray(u), v)
        assert plait.shares_memory(got[0], a)
        np.testing.assert_array_equal(np.asarray(before), np.arange(12.0) + i)
    assert len(calls) == 6


def test_arguments_that_overlap():
    def f(x, y):
        calls.append(1)
        x[:] = y * 2
        return x + y

    g = replayed(f)
    for i in range(4):
        for at in (0, 1, 4):
            a, b = np.arange(8.0) + i, np.arange(8.0) + i
            np.testing.assert_array_equal(g(a[:4], a[at : at + 4]), f(b[:4], b[at : at + 4]))
            np.testing.assert_array_equal(a, b)
    assert g._kept() == 3


def test_shapes_dtypes_and_strides_are_seen_apart():
    g = replayed(saxpy)
    base = np.arange(64.0).reshape(8, 8)
    for _ in range(3):
        for x in (base, base.T, base[::2], base[:, 1:], base[:4], base.astype("f4"), base.astype(int), base[0], base[0, 0:1]):
            got, want = g(2, x, x), 2 * x + x
            assert got.dtype == want.dtype and got.strides == want.strides
            np.testing.assert_array_equal(got, want)
    assert len(calls) == 18
    with pytest.raises(ValueError, match="broadcast"):
        g(2, base, base[:3])
    with pytest.raises(TypeError):
        g(2)


def test_kept_calls_are_bounded():
    g = replayed(saxpy)
    for n in range(1, 60):
        for _ in range(2):
            g(1, np.ones(n), np.ones(n))
    assert g._kept() == 32
    calls.clear()
    g(1, np.ones(59), np.ones(59))
    assert not calls
    g(1, np.ones(1), np.ones(1))
    assert calls


@pytest.mark.parametrize(
    "body",
    [
        lambda x: x * 2 if x.sum() > 3 else x,
        lambda x: x * float(x[0]),
        lambda x: x * len(repr(x)),
        lambda x: np.ones(int(x[0]) + 1),
        lambda x: x * np.random.default_rng(1).normal(),
        lambda x: x + np.random.default_rng(1).normal(size=6),
        lambda x: np.interp(x, [0, 1, 2], [0, 4, 5]),
        lambda x: x * math.sqrt(x[1]),
        lambda x: [v * 2 for v in x],
        lambda x: x * x.tolist()[1],
        lambda x: x + np.random.rand(6) * 0,
        lambda x: x + np.random.rand() * 0,
        lambda x: x * x.item(2),
        lambda x: x + OUTSIDE.integers(1),
        lambda x: x.astype("M8[s]"),
        lambda x: PLAITS.__setitem__(0, x[0]),
    ],
)
@pytest.mark.parametrize("take", [np.asarray, plait.asarray])
def test_what_cannot_be_replayed_runs_and_is_told_once(body, take, told):
    g = replayed(body)
    for i in range(1, 4):
        x = np.arange(6.0) + i
        np.testing.assert_array_equal(np.asarray(g(take(x))), np.asarray(body(x)))
    assert (len(told), g._kept()) == (1, 0)


def _written(x, places):
    x[places] += 2
    return x


@pytest.mark.parametrize(
    "body",
    [
        lambda np, x: x[x > 1],
        lambda np, x: x[np.nonzero(x > 1)],
        lambda np, x: x[(x * 0.5).astype(int)],
        lambda np, x: np.take(x, [0, 2, 1]),
        lambda np, x: np.bincount((x * 0.5).astype(int), x),
        lambda np, x: np.compress(x > 1, x),
        lambda np, x: np.extract(x > 1, x),
        lambda np, x: np.where(x > 1)[0],
        lambda np, x: _written(x, np.array([3, 1])),
        lambda np, x: np.put(x, [0, 1], 2),
        lambda np, x: np.add.at(x, (x * 0.5).astype(int), 1),
        lambda np, x: np.put_along_axis(x, np.array([3, 4]), 5.0, 0),
    ],
)
def test_elements_named_by_arrays(body, told):
    """Their places are looked at while the call is watched, which once waited for them without end."""
    g = replayed(lambda x: body(plait, x))
    for i in range(4):
        x = np.arange(6.0) + i % 2
        y = plait.array(x)
        want, got = body(np, x), g(y)
        assert (want is None) == (got is None)
        for w, o in ((x, y),) if want is None else ((x, y), (want, got)):
            np.testing.assert_array_equal(np.asarray(o), w)
    assert len(told) <= 1


def test_captured_arrays_are_read_at_each_call():
    inner = np.arange(4.0)

    def f(x):
        calls.append(1)
        return x * WEIGHTS + inner

    g = replayed(f)
    h = replayed(lambda x: x * PLAITS)
    x, px = np.ones(4), plait.ones(4)
    for i in range(4):
        WEIGHTS[1] = inner[2] = i
        PLAITS[3] = i
        np.testing.assert_array_equal(g(x), x * WEIGHTS + inner)
        np.testing.assert_array_equal(np.asarray(h(px)), np.asarray(PLAITS))
    assert len(calls) == 2 and h._kept() == 1


def test_a_write_to_a_captured_array_is_no_replay():
    total = np.zeros(3)

    @replayed
    def f(x):
        total[...] += x
        return x * 2

    for _ in range(4):
        f(np.ones(3))
    np.testing.assert_array_equal(total, 4)


def test_pending_arguments():
    g = replayed(saxpy)
    for i in range(3):
        x = plait.arange(5000.0) * i
        np.testing.assert_array_equal(np.asarray(g(2, x + 1, x)), 2 * (np.arange(5000.0) * i + 1) + np.arange(5000.0) * i)
    assert len(calls) == 2


def test_error_states_are_seen_apart(monkeypatch):
    monkeypatch.setattr(_caught, "_catching", 0)  # pytest is

    @replayed
    def f(x):
        calls.append(1)
        return 1 / x

    x, seen = np.zeros(3), []
    for _ in range(3):
        with plait.errstate(divide="ignore"):
            f(x)
        with plait.errstate(divide="call", call=lambda kind, flag: seen.append(kind)):
            f(x)
        with plait.errstate(divide="raise"), pytest.raises(FloatingPointError):
            f(x)
    assert seen == ["divide by zero"] * 3 and len(calls) == 8


def test_warnings_name_the_operation_and_its_line(told, monkeypatch):
    seen = []
    monkeypatch.setattr(warnings, "showwarning", lambda text, category, file, line, *_: seen.append((str(text), line)))

    @replayed
    def f(x):
        y = x + 1
        return y / x

    warnings.simplefilter("always")
    for _ in range(3):
        f(np.zeros(3))
    assert f._kept() == 1 and len(seen) == 3 and seen[0] == seen[1] == seen[2] and "divide" in seen[0][0]


def test_exceptions_pass_and_nothing_is_kept():
    @replayed
    def f(x, fail):
        if fail:
            raise KeyError(fail)
        return x + 1

    for _ in range(3):
        with pytest.raises(KeyError):
            f(np.ones(3), "a")
    assert f._kept() == 0
    for _ in range(2):
        f(np.ones(3), None)
    assert f._kept() == 1


def test_nested_in_another_jitted_function():
    inner = replayed(lambda x: x * 2)

    @replayed
    def outer(x):
        calls.append(1)
        return inner(x) + 1

    for i in range(3):
        np.testing.assert_array_equal(outer(np.arange(3.0) + i), (np.arange(3.0) + i) * 2 + 1)
    assert len(calls) == 2


def test_what_another_thread_computes_meanwhile_is_no_constant():
    @replayed
    def f(x):
        calls.append(1)
        y = x + 1
        if len(calls) == 2:  # it is watched
            other = threading.Thread(target=_plait.flush)
            other.start()
            other.join()
        return y, y * 2

    for i in range(4):
        x = np.arange(5000.0) + i
        np.testing.assert_array_equal(f(x), (x + 1, (x + 1) * 2))
    assert len(calls) == 3


def test_captured_arrays_that_are_pending():
    pending = plait.arange(5000.0) + 1
    f = replayed(lambda x: x * pending)
    for i in range(4):
        np.testing.assert_array_equal(np.asarray(f(plait.ones(5000))), np.asarray(pending))
        pending[3] = i
        pending += 1


def test_many_operations_are_one_plan():
    @replayed
    def f(x):
        calls.append(1)
        for _ in range(3000):
            x = (x + 1.0) * 0.5
        return x

    call_until_kept(f, np.ones(10))
    calls.clear()
    for i in range(3):
        np.testing.assert_array_equal(f(np.full(10, 1e300 * i)), f._jitted.fn(np.full(10, 1e300 * i)))
    assert len(calls) == 3


class Layer:
    def __init__(self):
        self.weights, self.scale, self.more, self.calls = np.arange(3.0), 0.5, [np.ones(3), {"shift": 1.0}], 1

    @replayed
    def apply(self, x):
        calls.append(1)
        return x * self.weights * self.scale + self.more[0] + self.more[1]["shift"]

    @replayed
    def count(self, x):
        self.calls = 3 - self.calls
        return x * self.calls


def test_objects_are_seen_apart_by_their_attributes():
    x, layer, other = np.full(3, 2.0), Layer(), Layer()

    def check(of, runs):
        calls.clear()
        for _ in range(3):
            np.testing.assert_array_equal(of.apply(x), Layer.apply._jitted.fn(of, x))
        assert len(calls) == 3 + runs

    check(layer, 2)
    check(other, 2)
    layer.weights[1] = 9
    check(layer, 0)
    layer.scale = 3
    check(layer, 2)
    layer.weights = np.ones(3)
    check(layer, 2)
    layer.more[1]["shift"] = 2.0
    check(layer, 2)
    layer.more[0] = x
    check(layer, 2)
    layer.extra = None
    check(layer, 2)
    check(other, 0)


def test_a_function_that_changes_an_object_is_not_replayed(told):
    layer = Layer()
    for i in range(6):
        np.testing.assert_array_equal(layer.count(np.ones(3)), 2 - i % 2)
    assert len(told) == 1 and "changes an object" in told[0]


Pair = collections.namedtuple("Pair", "left right")


def test_named_tuples():
    @replayed
    def f(p):
        calls.append(1)
        return Pair(p.left + 1, [p.right * 2])

    for i in range(3):
        r = f(Pair(np.arange(3.0) + i, np.ones(2)))
        assert type(r) is Pair
        np.testing.assert_array_equal(r.left, np.arange(3.0) + i + 1)
        np.testing.assert_array_equal(r.right, [[2, 2]])
    assert len(calls) == 2


def test_numpys_scalars_are_seen_apart():
    f = replayed(lambda x, s: x * s)
    x = np.ones(3, "f4")
    for s in (np.float64(2), np.float32(2), np.int64(2), np.float64(3), np.float64(2), np.float64(-0.0), np.float64(0)) * 2:
        got = f(x, s)
        assert got.dtype == (x * s).dtype
        np.testing.assert_array_equal(np.signbit(got), np.signbit(x * s))
        np.testing.assert_array_equal(got, x * s)
    assert f._kept() == 6


@pytest.mark.skipif(os.environ.get("PLAIT_JIT", "background") != "background", reason="nothing is compiled in the background")
def test_machine_code_is_asked_for_when_a_call_comes_again():
    f = replayed(lambda x: x * 3.0 - x / (x + 7.0) - 11.0)
    x = np.ones(10)
    counts = []
    for _ in range(4):
        f(x)
        counts.append(_plait.stats()["kernels_compiled"])
    assert f._kept() == 1 and counts[2] == counts[1] + 1 == counts[3]


def test_two_threads():
    g = replayed(saxpy)
    wrong = []

    def work(k):
        for i in range(200):
            x = np.full(3000, float(i + k))
            if not (g(2.0, x, x) == 3 * x).all():
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(k,)) for k in (0, 1000)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and len(calls) <= 4


def many_short_steps(parameters, gradients, scale):
    """A region each, of values that some later one writes over or reads again."""
    ps, means = [p.copy() for p in parameters], [np.zeros_like(p) for p in parameters]
    for t in range(1, 5):
        for i, g in enumerate(gradients):
            means[i] = 0.9 * means[i] + 0.1 * g * scale
            ps[i] = ps[i] - (means[i] / (1 - 0.9**t)) / (np.sqrt(np.abs(means[i - 1])) + 1.5)
            ps[i][t] += means[i][0]
    return np.stack(ps), ps[0], ps[0][1:], means


def compared(got, expected):
    for g, e in zip(got[:3] + tuple(got[3]), expected[:3] + tuple(expected[3])):
        np.testing.assert_array_equal(np.asarray(g), e, strict=True)


def run_until_machine_code_has_come(f, *args):
    """From then on its launches alone are made again."""
    for _ in range(15):
        f(*args)
        time.sleep(0.01)


@functools.cache
def short_steps():
    f = replayed(many_short_steps)
    call_until_kept(f, *short_arguments(0))
    run_until_machine_code_has_come(f, *short_arguments(0))
    return f


def short_arguments(seed):
    return (*np.random.default_rng(seed).normal(size=(2, 12, 8, 5)).astype("f4"), np.full((), 2.0, "f4"))


def test_short_regions_run_again_on_other_memory():
    """Each call has results of its own, and those of the calls before stay as they are."""
    all_results = [(short_steps()(*short_arguments(seed)), many_short_steps(*short_arguments(seed))) for seed in range(1, 12)]
    for got, expected in all_results:
        compared(got, expected)


def test_results_of_short_regions_alias_each_other_as_they_did():
    args = short_arguments(20)
    _, first, part, _ = short_steps()(*args)
    first[2] = 7
    assert (np.asarray(part)[1] == 7).all()
    compared(short_steps()(*args), many_short_steps(*args))


def test_what_short_regions_raise_later_is_heard(monkeypatch):
    """A call that raises warns as one that runs the function does, and the calls behind it are right."""
    seen = []
    monkeypatch.setattr(warnings, "showwarning", lambda text, category, file, line, *_: seen.append((str(text), line)))
    warnings.simplefilter("always")
    args = short_arguments(30)
    bad = (args[0], np.where(np.arange(5) == 3, np.float32(np.inf), args[1]), args[2])
    plait.jit(many_short_steps)(*bad)
    told, expected = {text for text, _ in seen}, many_short_steps(*bad)
    f = replayed(many_short_steps)
    call_until_kept(f, *args)
    run_until_machine_code_has_come(f, *args)
    seen.clear()
    for _ in range(2):
        compared(f(*bad), expected)
        assert {text for text, _ in seen} == told and told
        seen.clear()
        compared(f(*args), many_short_steps(*args))
        assert not seen


def test_short_regions_on_two_threads():
    wrong = []

    def work(seeds):
        for seed in seeds:
            try:
                compared(short_steps()(*short_arguments(seed)), many_short_steps(*short_arguments(seed)))
            except AssertionError:
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(range(k, k + 40),)) for k in (100, 200)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_short_regions_that_write_parts_of_new_arrays():
    """Memory of such a part begins where the part does."""

    def parts(x):
        made = []
        for k in range(8):
            y, z = np.empty(40), np.zeros(40)
            y[10:], y[:10] = x[10:] * (k + 1.0), x[:10] - k
            z[5:30] = y[5:30] * y[10:35]
            made += [y, z, np.outer(z, y).T.copy()]
        return made

    f = replayed(parts)
    for seed in range(25):
        x = np.random.default_rng(seed).normal(size=40)
        for got, expected in zip(f(x), parts(x)):
            np.testing.assert_array_equal(np.asarray(got), expected)
        time.sleep(0.005)


def test_short_regions_that_write_to_an_argument():
    def step(x, v):
        for _ in range(6):
            v = v * 0.5 - np.roll(x, 1)
            x[1:] += v[:-1]
        return v

    f = replayed(step)
    x = np.arange(20.0)
    theirs = x.copy()
    for i in range(25):
        np.testing.assert_array_equal(f(x, np.full(20, i / 8)), step(theirs, np.full(20, i / 8)))
        np.testing.assert_array_equal(x, theirs)
        x /= 50
        theirs /= 50
        time.sleep(0.005)


class Model:
    @staticmethod
    @replayed
    def twice(x):
        calls.append(1)
        return x * 2


@replayed
def at_the_top(x):
    """Doubles."""
    return x * 2


def test_it_looks_like_the_function():
    assert at_the_top.__name__ == "at_the_top" and at_the_top.__doc__ == "Doubles."
    assert pickle.loads(pickle.dumps(at_the_top)) is at_the_top
    for _ in range(3):
        Model.twice(np.ones(2))
    assert len(calls) == 2
    with pytest.raises(TypeError, match="replay"):
        plait.jit(Model, replay=True)
    with pytest.raises(TypeError, match="generator"):
        replayed(lambda: (yield))


def test_no_node_is_recorded_again():
    g = replayed(saxpy)
    x = np.ones(100)
    for _ in range(2):
        g(1, x, x)
    before = _plait.stats()["recorded_total"]
    g(1, x, x)
    assert _plait.stats()["recorded_total"] == before


def test_another_default_dtype_that_is_over_does_not_matter():
    calls = []

    @plait.jit(replay=True)
    def f(x):
        calls.append(1)
        return x + np.zeros(3)

    x = plait.asarray(np.ones(3))
    with plait.default_dtype("float32"):
        for _ in range(3):
            f(x)
    assert len(calls) == 3
    for _ in range(3):
        f(x)
    assert len(calls) == 5


def test_views_of_arguments_are_writeable_as_the_arguments_are():
    @plait.jit(replay=True)
    def f(read_only, x):
        x[0] = 3
        return x[1:], read_only * 2

    for _ in range(3):
        x = np.arange(50.0)
        read_only = x[:]
        read_only.flags.writeable = False
        view, _ = f(read_only, x)
        assert view.flags.writeable


def test_lists_of_the_arguments_are_returned_themselves(told):
    @plait.jit(replay=True)
    def f(xs, by_name):
        return xs, by_name, xs[0] + xs[1]

    for _ in range(3):
        xs, names = [np.ones(10), np.ones(10)], {"a": np.ones(3)}
        a, b, _ = f(xs, names)
        assert a is xs and b is names
    assert len(told) == 1 and "of its arguments" in told[0]


def test_a_list_that_holds_itself_ends_as_without_replay():
    @plait.jit(replay=True)
    def f(x):
        made = [x + 1]
        made.append(made)
        return made

    for _ in range(3):
        with pytest.raises(RecursionError):
            f(np.ones(10))
