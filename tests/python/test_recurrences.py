"""Loops in time whose steps read the rows of the steps before: one kernel has a loop over them, with
NumPy's values, whatever the steps read and wherever the rows lie."""

import numpy
import pytest

import plait


def smoothing(np, x):
    y = np.empty_like(x)
    y[0] = x[0]
    for t in range(1, len(x)):
        y[t] = 2 * y[t - 1] + x[t]
    return y


def backwards(np, x):
    y = np.zeros_like(x)
    for t in range(len(x) - 2, -1, -1):
        y[t] = y[t + 1] - x[t]
    return y


def two_rows_before(np, x):
    y = np.zeros_like(x)
    for t in range(2, len(x)):
        y[t] = x[t] + y[t - 1] - y[t - 2]
    return y


def every_other_row(np, x):
    y = np.zeros_like(x)
    for t in range(2, len(x), 2):
        y[t] = x[t] + y[t - 2]
    return y


def columns(np, x):
    y = np.zeros_like(x)
    for t in range(1, x.shape[1]):
        y[:, t] = x[:, t] + y[:, t - 1]
    return y


def resets(np, x):
    y = x.copy()
    for t in range(1, len(x)):
        y[t] = np.where(x[t] > 1, x[t], np.maximum(y[t - 1], x[t]))
    return y


def distances(np, x):
    d = x.copy()
    for i in range(1, len(x)):
        d[i] = np.minimum(d[i - 1] + 1, d[i])
    return d


def diagonal_distances(np, x):
    d = x.copy()
    for i in range(1, len(x)):
        d[i, 1:] = np.minimum(d[i - 1, :-1] + 1, d[i, 1:])
    return d


def rows_to_come(np, x):
    y = x.copy()
    for t in range(1, len(x) - 1):
        y[t] = y[t - 1] + y[t + 1]
    return y


def same_row(np, x):
    y = x.copy()
    for _ in range(len(x)):
        y[1:] += 3
    return y


def windows(np, x):
    y = x.copy().ravel()
    for i in range(1, min(len(x), (y.size - 15) // 2)):
        y[i * 2 + 10 : i * 2 + 15] = y[i * 2 : i * 2 + 5] + 1
    return y


def growing(np, x):
    y = x.copy()
    for t in range(1, len(x)):
        y[t, :t] = y[t - 1, :t] + 1
    return y


def turned(np, x):
    y = np.zeros_like(x)
    for t in range(1, len(x)):
        y[t] = y[t - 1, ::-1] + x[t]
    return y


def other_numbers(np, x):
    y = np.zeros_like(x)
    for t in range(1, len(x)):
        y[t] = y[t - 1] + t // 8
    return y


def masked(np, x):
    y = x.copy()
    for t in range(1, len(x)):
        np.add(y[t - 1], x[t], out=y[t], where=x[t] > 0)
    return y


def three_axes(np, x):
    y = np.zeros(x.shape + (3,), x.dtype)
    for t in range(1, len(x)):
        y[t] = y[t - 1] + x[t][:, None]
    return y


def part_of_a_larger_array(np, x):
    y = np.zeros((2 * len(x), 2 * x.shape[1]), x.dtype)[::2, 1::2]
    for t in range(1, len(x)):
        y[t] = y[t - 1] + x[t]
    return y


def two_arrays(np, x):
    y, z = np.zeros_like(x), np.zeros_like(x)
    for t in range(1, len(x)):
        y[t] = x[t] + y[t - 1]
        z[t] = z[t - 1] - y[t]
    return y + z


def rows_wanted_between(np, x):
    y, looks = np.zeros_like(x), []
    for t in range(1, len(x)):
        y[t] = x[t] + y[t - 1]
        if t % 7 == 0:
            looks += [y[t] * 2, y[t - 3].copy()]
    return np.concatenate([y] + [row[None] for row in looks])


LOOPS = [
    smoothing, backwards, two_rows_before, every_other_row, columns, resets, distances, diagonal_distances, rows_to_come, same_row,
    windows, growing, turned, other_numbers, masked, three_axes, part_of_a_larger_array, two_arrays, rows_wanted_between,
]  # fmt: skip


@pytest.fixture(params=["interpreter", "machine code"])
def planned(request, monkeypatch):
    config = plait.config
    before = {k: getattr(config, k) for k in ("plan", "eager_limit", "jit")}
    config.plan, config.eager_limit = "always", 0
    config.jit = "off" if request.param == "interpreter" else "blocking"
    yield
    for k, v in before.items():
        setattr(config, k, v)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda f: f.__name__)
def test_values_are_numpys(planned, loop, dtype):
    for shape in ((9, 1), (12, 33), (30, 1100)):
        x = (numpy.random.default_rng(3).standard_normal(shape) * 4).astype(dtype)
        with numpy.errstate(all="ignore"), plait.errstate(all="ignore"):
            want, got = loop(numpy, x), loop(plait, plait.array(x))
            assert want.tobytes() == numpy.asarray(got).tobytes(), shape


def test_a_replayed_loop_is_one_plan_however_long(planned):
    x = numpy.random.default_rng(4).standard_normal((1500, 40)).astype("f4")
    f = plait.jit(lambda x: backwards(plait, x), replay=True)
    f(x)
    before = plait.stats()
    got = f(x + 1)
    after = plait.stats()
    assert got.tobytes() == backwards(numpy, x + 1).tobytes()
    assert after["evaluations"] - before["evaluations"] == 1
    assert after["kernels_run"] - before["kernels_run"] <= 3


def test_an_overflow_in_a_step_is_reported(planned):
    def growth(np, x):
        for t in range(1, len(x)):
            x[t] = x[t - 1] * 1e200
        return x

    x = plait.array(numpy.ones((12, 20)))
    with plait.errstate(all="warn"), pytest.warns(RuntimeWarning, match="overflow encountered in multiply"):
        numpy.asarray(growth(plait, x))
