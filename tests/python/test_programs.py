"""What programs of everyday use met: NumPy's answer, dtype, sharing of memory and warnings."""

import warnings

import numpy
import pytest
from support import both

import plait

RECORD = [("name", "U10"), ("age", "i4"), ("weight", "f8")]


@pytest.mark.parametrize("write", ["x['age'] += 1", "a = x['age']; a += 1; x['weight'] = a", "x['age'][1:] = 7", "x[0]['weight'] = 80"])
def test_fields_are_views(write):
    def run(np):
        x = np.array([("Rex", 9, 81.0), ("Fido", 3, 27.0), ("Ann", 5, 40.5)], dtype=RECORD)
        exec(write, {"x": x, "np": np})
        return x.tolist()

    assert run(plait) == run(numpy)


@pytest.mark.parametrize("rows", [3, 5, 4000])
def test_writes_leave_the_gaps_of_a_borrowed_layout(rows):
    def f(a):
        a += 1
        return a

    a = numpy.arange(rows * 6.0).reshape(rows, 6)
    b = a.copy()
    for select in ((slice(None), 2), (slice(None, None, 2), slice(None, None, 3))):
        plait.jit(f)(a[select])
        f(b[select])
        numpy.testing.assert_array_equal(a, b)


def test_dates_keep_their_unit():
    d = plait.array(["2024-01-31", "2023-12-25"], dtype="datetime64[D]")
    assert numpy.asarray(d).dtype == numpy.dtype("datetime64[D]")
    assert (d - d.min()).tolist() == (numpy.asarray(d) - numpy.asarray(d).min()).tolist()


@pytest.mark.parametrize("n", [4, 5000])
@pytest.mark.parametrize(
    "call",
    [
        lambda np, x, m: np.divide(1.0, x, out=np.zeros_like(x), where=m),
        lambda np, x, m: np.log(x, out=np.zeros_like(x), where=m),
        lambda np, x, m: np.power(x, -0.5, out=np.zeros_like(x), where=m),
        lambda np, x, m: np.arctanh(x, out=np.zeros_like(x), where=m & (x < 1)),
        lambda np, x, m: np.floor_divide(7, x.astype(int), out=np.zeros(x.shape, int), where=m),
        lambda np, x, m: np.sqrt(x - 1, out=np.zeros_like(x), where=m)[::-1],
    ],
)
def test_what_where_leaves_out_does_not_warn(call, n):
    x = numpy.arange(n) % 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both(lambda np, x: call(np, x, x != 0), x, rtol=1e-15)


def test_what_where_selects_warns():
    x = numpy.arange(5000) % 3.0
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
        plait.evaluate(plait.divide(1.0, plait.array(x), where=x < 2, out=plait.zeros(5000)))


@pytest.mark.parametrize("name", ["shape", "ndim", "size", "real", "imag"])
def test_attributes_of_lazy_scalars_as_functions(name, lazy_scalars):
    both(lambda np, x: getattr(np, name)((x * 2).sum()), numpy.arange(5000.0))


def plans_of(step, times):
    """Plans made by the last calls of step, after it was called a few times."""
    for _ in range(300):  # the first rounds of a loop are computed at once
        step()
    before = plait.stats()["plans_made"]
    for _ in range(times):
        step()
    return plait.stats()["plans_made"] - before


def test_a_training_loop_is_planned_once():
    # The weights are updated after the loss was recorded and before it is asked for: the version that the
    # loss reads is nobody's but the pending update's, and is kept for it.
    X = plait.array(numpy.random.default_rng(0).normal(size=(5000, 10)))
    y = X[:, 0] * 2
    w = plait.zeros(10)
    losses = []

    def step():
        nonlocal w
        e = X @ w - y
        losses.append((e**2).mean())
        w -= 0.1 * X.T @ e / len(y)
        assert losses[-1] >= 0

    assert plans_of(step, 20) <= 2
    assert losses[-1] < losses[0] / 10


def test_what_grows_from_a_range_is_kept():
    cur = plait.arange(1, 5000)

    def step():
        nonlocal cur
        cur = plait.where(cur % 2 == 0, cur // 2, 3 * cur + 1)
        assert (cur != 0).any()

    assert plans_of(step, 20) <= 2


def test_element_writes_to_fresh_memory_are_stores():
    def fill(np):
        out = np.zeros(20000)
        for i in range(200):
            out[i] = i
            out[i + 1 :: 1000] = -1
        return out

    before = plait.stats()["kernels_run"]
    ours = plait.evaluate(fill(plait))
    assert plait.stats()["kernels_run"] - before < 20
    numpy.testing.assert_array_equal(numpy.asarray(ours), fill(numpy))


def test_a_run_of_element_writes_ends_in_memory():
    out = plait.arange(20000) * 2
    before = plait.stats()["kernels_run"]
    for i in range(200):
        out[i] = -1
    assert out[:201].tolist() == [-1] * 200 + [400]
    assert plait.stats()["kernels_run"] - before < 20


@pytest.mark.parametrize(
    "make",
    [
        "np.arange(5)",
        "np.eye(3)",
        "a.copy()",
        "a.sum(axis=0)",
        "a @ a",
        "np.concatenate([a, a])",
        "np.zeros_like(a)",
        "a.argmax(axis=1)",
        "a.astype(int)",
        "big[:4].sum(axis=0)",
        "big[3] * 2",
    ],
)
def test_small_work_is_done_at_once(make):
    names = {"np": plait, "a": plait.array([[1.0, 2.0], [3.0, 5.0]]), "big": plait.evaluate(plait.ones((5000, 7)) * 3)}
    assert not eval(make, names)._pending
    numpy.testing.assert_array_equal(
        numpy.asarray(eval(make, names)), eval(make, {"np": numpy, "a": numpy.array([[1.0, 2], [3, 5]]), "big": numpy.full((5000, 7), 3.0)})
    )


def test_small_writes_reach_readers_of_the_old_value_never():
    a = plait.evaluate(plait.arange(5000.0) * 1)
    b = a + 1
    view = a[10:20]
    a[12] = -5
    view[0] = 7
    assert (b[12], view[2], a[10], a[13]) == (13.0, -5.0, 7.0, 13.0)
    host = numpy.asarray(a)
    a[0] = 3
    assert host[0] == 3 and b[0] == 1


def test_what_the_pieces_of_many_rolls_read_is_computed_once(large):
    def step(np, g):
        n = sum(np.roll(np.roll(g, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        return (n == 3) | (g & (n == 2))

    start = numpy.random.default_rng(3).random((64, 64)) < 0.3
    pending = step(plait, step(plait, plait.array(start)))
    assert "several writes would compute it again" in plait.explain(pending)
    numpy.testing.assert_array_equal(numpy.asarray(pending), step(numpy, step(numpy, start)))


@pytest.mark.parametrize("shape", [(0,), (3,), (2, 3)])
def test_iteration_ends(shape):
    both(lambda np, x: [v * 2 for v in x], numpy.ones(shape))
    both(lambda np, x: x[len(x)], numpy.ones(shape))


def test_lazy_scalars_pass_for_numbers(lazy_scalars):
    s = (plait.arange(5000.0) * 2).sum()
    assert isinstance(s, float) and isinstance(s, numpy.floating) and f"{s:.1f}" == "24995000.0"


class Unit(numpy.ndarray):
    """A subclass of NumPy's array, as a program under plait.jit may have one."""


@pytest.mark.parametrize(
    "make",
    [
        lambda: numpy.arange(4.0).view(Unit),
        lambda: numpy.ma.masked_array([1.0, 2.0], mask=[0, 1]),
        lambda: numpy.asmatrix([[1.0, 2.0]]),
        lambda: numpy.rec.fromarrays([[1, 2], [3.0, 4.0]], names="a,b"),
    ],
)
def test_arrays_of_numpys_subclasses(make):
    x = make()
    ours = plait.asarray(x)
    assert type(ours) is plait.ndarray
    assert ours.tolist() == numpy.asarray(x).tolist()
    assert plait.asanyarray(x) is x and type(plait.array(x, subok=True)) is type(x)
    if x.dtype.names is None:
        assert numpy.asarray(plait.asarray(x) + x).tolist() == numpy.asarray(numpy.asarray(x) + x).tolist()
        assert numpy.asarray(x + plait.asarray(x)).tolist() == numpy.asarray(x + numpy.asarray(x)).tolist()
        assert plait.asarray(x, dtype=int).tolist() == numpy.asarray(x, dtype=int).tolist()


def test_the_log_shows_each_new_plan_once(run_python):
    source = """
import plait
x = plait.ones(5000)
for _ in range(3):
    float((x * 2 + 1).sum())
"""
    done = run_python(source, env={"PLAIT_LOG": "fusion", "PLAIT_PLAN": "always"})
    assert done.stderr.count("1 region from") == 1, done.stderr


@pytest.mark.parametrize(
    "values",
    [
        [numpy.float64(1.5), numpy.float64(numpy.inf)],
        [numpy.float64(1.5), 2, 3.0],
        [numpy.int64(3), 2],
        [numpy.int64(-(2**63)), 2.5],
        [numpy.bool(True), False],
        [numpy.bool(True), numpy.int64(2)],
        [[numpy.float64(1), 2], (3, numpy.int64(4))],
        [numpy.float32(1), 2],
        [numpy.int64(1), 2**63],
    ],
)
def test_arrays_of_elements(values):
    both(lambda np: np.array(values))


@pytest.mark.parametrize("n", [3, 5000])
@pytest.mark.parametrize("scalar", [numpy.float64(3), numpy.float32(3), numpy.int8(3), numpy.complex128(3j), numpy.bool(True)])
def test_numpys_scalars_on_the_left(scalar, n, lazy_scalars):
    x = numpy.arange(1, n + 1)
    for a in (x, x.astype("f4"), x.astype("u1")):
        both(lambda np, a: [scalar * a, scalar + a, scalar / a, scalar >= a, scalar == a], a)
    if scalar.dtype.kind == "f":
        both(lambda np, a: [scalar ** (a % 7), scalar // a, scalar % a, divmod(scalar, a), np.hypot(scalar, a)], x, rtol=1e-6)
    lazy = (plait.arange(5000.0) * 2).sum()
    assert scalar * lazy == scalar * numpy.float64(24995000) and not (numpy.float64(1) > lazy)


def test_numpys_arrays_go_to_numpy_as_they_are():
    # As a stand-in for a subclass, Generator.permutation() would swap its elements one by one.
    from plait import _fallback

    x = numpy.arange(3)
    assert _fallback.to_numpy(x) is x and _fallback.to_numpy([x, 1])[0] is x
    ours, theirs = plait.random.default_rng(5), numpy.random.default_rng(5)
    numpy.testing.assert_array_equal(ours.permutation(50), theirs.permutation(50))
    z = numpy.arange(50)
    ours.shuffle(z)
    assert z.tolist() == theirs.permutation(50).tolist()
    a = plait.arange(6.0)
    assert ours.standard_normal(out=a) is a and a.tolist() == theirs.standard_normal(6).tolist()


@pytest.mark.parametrize("code", ["?", "i2", "f4", "f8", "c16"])
@pytest.mark.parametrize("where", [numpy.s_[1:], numpy.s_[::3], numpy.s_[::-1], numpy.s_[2:2], numpy.s_[5]])
def test_small_writes_of_every_size_of_element(code, where):
    def run(np, x, v):
        x[where] = v[where]
        y = x.reshape(5, 8).T
        y[1:, ::2] = v.reshape(8, 5)[1:, ::2]
        y[where] = 1
        y[3] = v[:5]
        x[where] = x[where][::-1] if x[where].ndim else 1
        return x

    rng = numpy.random.default_rng(2)
    both(run, *[rng.integers(0, 2 if code == "?" else 9, 40).astype(code) for _ in range(2)])
