"""Ways to write attention: each is one region, with NumPy's values."""

import numpy
import pytest
from support import FAKE_DEVICE, FAKE_NVRTC
from test_attention import INF, SPECIAL, close, data, run, scores

import plait


def with_logsumexp(np, s, v, mask):
    m = s.max(-1, keepdims=True)
    return np.exp(s - (m + np.log(np.exp(s - m).sum(-1, keepdims=True)))) @ v


def with_logsumexp_of_rows(np, s, v, mask):
    m = s.max(-1)
    total = m + np.log(np.exp(s - m[..., None]).sum(-1))
    return np.exp(s - total[..., None]) @ v


def exponentials(np, s):
    return np.exp(s - s.max(-1, keepdims=True))


def sink_of_one(np, s, v, mask):
    e = exponentials(np, s)
    return e / (1 + e.sum(-1, keepdims=True)) @ v


def sinks(np, s, v, mask):
    sink = np.asarray(numpy.array([[[0.5]], [[3]]], s.dtype))
    m = np.maximum(s.max(-1, keepdims=True), sink)
    e = np.exp(s - m)
    return e / (e.sum(-1, keepdims=True) + np.exp(sink - m)) @ v


def share(np, s):
    e = exponentials(np, s)
    return e / e.sum(-1, keepdims=True)


def chosen_rows(np, s, v, mask):
    e = exponentials(np, s)
    total = e.sum(-1, keepdims=True)
    return np.where(total > 2, e / total, 0) @ v


def sum_where(np, s, v, mask):
    e = exponentials(np, s)
    return e / (1 + e.sum(-1, keepdims=True, where=mask)) @ v


def masked_total(np, s, v, mask):
    e = exponentials(np, s)
    return np.where(mask, e / e.sum(-1, keepdims=True, where=mask), 0) @ v


def two_temperatures(np, s, v, mask):
    d = s - s.max(-1, keepdims=True)
    e, f = np.exp(d), np.exp(d * 0.5)
    return e * f / (e.sum(-1, keepdims=True) + f.sum(-1, keepdims=True)) @ v


FOLDS = {
    "logsumexp": with_logsumexp,
    "logsumexp of rows": with_logsumexp_of_rows,
    "sink of one": sink_of_one,
    "sinks": sinks,
    "nan_to_num": lambda np, s, v, mask: np.nan_to_num(share(np, np.where(mask, s, -INF))) @ v,
    "where isnan": lambda np, s, v, mask: (lambda p: np.where(np.isnan(p), 0, p))(share(np, np.where(mask, s, -INF))) @ v,
    "chosen rows": chosen_rows,
    "sum where": sum_where,
    "masked total": masked_total,
    "float64": lambda np, s, v, mask: share(np, s.astype("f8")).astype(s.dtype) @ v,
    "capped": lambda np, s, v, mask: share(np, 3 * np.tanh(s / 3)) @ v,
    "two temperatures": two_temperatures,
}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", FOLDS)
def test_folds(large, name, dtype):
    """One region: sums are rescaled when a maximum grows, other factors of a row come last."""
    mask = numpy.random.default_rng(1).random((300, 1100)) < 0.5
    mask[3] = False

    def f(np, q, k, v, mask):
        return FOLDS[name](np, np.matmul(q, np.swapaxes(k, -1, -2)) * 0.5, v, mask)

    for special in ("plain", "large", "nan in a query", "-inf in a key", "inf in a value"):
        if name == "masked total" and special == "large":
            continue  # beside a maximum that is hidden weights are subnormal, of few bits
        q, k, v = data(dtype, 300, 1100)
        SPECIAL[special](q, k, v)
        arrays = [*map(plait.asarray, (q, k, v, mask))]
        plait._plait.set_warnings_caught(False)
        text = str(plait.explain(f(plait, *arrays)))
        assert "1 region" in text.splitlines()[0], text
        got, _ = run(f, plait, *arrays)
        want, _ = run(f, numpy, q, k, v, mask)
        if special == "large":  # the difference of large scores has few bits left
            numpy.testing.assert_allclose(got, want, rtol=1e-2 if dtype == "f4" else 1e-10, atol=2e-3 if dtype == "f4" else 1e-10)
        else:
            close(got, want)


def softmax(np, s, axis=-1):
    e = np.exp(s - s.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def softmax_of_columns(np, s):
    e = np.exp(s - s.max(0))
    return e / e.sum(0)


SPELLINGS = {  # of queries (300, d), keys (4100, d), values (4100, w) and a mask (300, 4100)
    "one vector": lambda np, q, k, v, mask: softmax(np, k @ q[0]) @ v,
    "one vector in front": lambda np, q, k, v, mask: softmax(np, q[0] @ k.T) @ v,
    "one vector, mask": lambda np, q, k, v, mask: softmax(np, np.where(mask[0], k @ q[0], -INF)) @ v,
    "shared keys": lambda np, q, k, v, mask: np.einsum("bqk,kd->bqd", softmax(np, np.einsum("bqd,kd->bqk", q.reshape(3, 100, -1), k)), v),
    "shared keys, mask": lambda np, q, k, v, mask: softmax(np, np.where(mask[:100], (q @ k.T).reshape(3, 100, -1), -1e9)).reshape(300, -1) @ v,
    "keys first": lambda np, q, k, v, mask: softmax(np, k @ q.T, 0).T @ v,
    "keys first, mask": lambda np, q, k, v, mask: softmax_of_columns(np, np.where(mask.T, k @ q.T, -INF)).T @ v,
    "values first": lambda np, q, k, v, mask: v.T @ softmax(np, k @ q.T, 0),
    "values first, mask": lambda np, q, k, v, mask: v.T @ softmax_of_columns(np, np.where(mask.T, k @ q.T, -INF)),
    "values first, transposed": lambda np, q, k, v, mask: v.T @ softmax(np, q @ k.T).T * 2,
    "values first, nan_to_num": lambda np, q, k, v, mask: v.T @ np.nan_to_num(softmax(np, np.where(mask, q @ k.T, -INF))).T,
    "two values": lambda np, q, k, v, mask: (lambda p: (p @ v) + p @ v[::-1])(softmax(np, q @ k.T)),
    "two values first": lambda np, q, k, v, mask: (lambda p: (v.T @ p) * (v[::-1].T @ p))(softmax(np, k @ q.T, 0)),
    "two values, mask": lambda np, q, k, v, mask: (lambda p: (p @ v) - p @ v[::-1])(softmax(np, np.where(mask, q @ k.T, -INF))),
    "two values, one vector": lambda np, q, k, v, mask: (lambda p: (p @ v) + p @ v[::-1])(softmax(np, q[:1] @ k.T)),
    "turned scores": lambda np, q, k, v, mask: softmax(np, (q @ k.T).T, 0).T @ v,
    "maximum first": lambda np, q, k, v, mask: (lambda d: np.exp(d - np.log(np.exp(d).sum(-1, keepdims=True))) @ v)((lambda s: s - s.max(-1, keepdims=True))(q @ k.T)),
}  # fmt: skip


@pytest.mark.grid(2)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", SPELLINGS)
def test_spellings(large, name, dtype):
    """One region, whatever the axes of what is between the products are."""
    mask = numpy.random.default_rng(1).random((300, 4100)) < 0.5

    def f(np, q, k, v, mask):
        return SPELLINGS[name](np, q[0] * 0.5, k[0], v[0], mask)

    for special in ("plain", "nan in a query", "inf in a key", "-inf in a key", "inf in a value"):
        q, k, v = data(dtype, 300, 4100)
        SPECIAL[special](q, k, v)
        arrays = [*map(plait.asarray, (q, k, v, mask))]
        plait._plait.set_warnings_caught(False)
        text = str(plait.explain(f(plait, *arrays)))
        assert "1 region" in text.splitlines()[0], text
        got, _ = run(f, plait, *arrays)
        close(got, run(f, numpy, q, k, v, mask)[0])


@pytest.mark.parametrize("rows", [1, 300])
@pytest.mark.parametrize("scores_in, values_in", [("f4", "f8"), ("f2", "f2"), ("f2", "f4")])
def test_dtypes(large, rows, scores_in, values_in):
    q, k, v = (x[0] for x in data("f4", rows, 4100))
    q, k, v = q.astype(scores_in), k.astype(scores_in), v.astype(values_in)

    def f(np, q, k, v):
        return softmax(np, q @ k.T) @ v

    arrays = [*map(plait.asarray, (q, k, v))]
    plait._plait.set_warnings_caught(False)
    text = str(plait.explain(f(plait, *arrays)))
    assert "1 region" in text.splitlines()[0], text
    got, want = numpy.asarray(f(plait, *arrays)), f(numpy, q, k, v)
    assert got.dtype == want.dtype
    eps = 2e-3 if "f2" in (scores_in, values_in) else 2e-5
    numpy.testing.assert_allclose(got, want, rtol=eps, atol=eps)


CASTS = {
    "all": lambda np, q, k, v: softmax(np, q.astype("f4") @ k.astype("f4").T) @ v.astype("f4"),
    "all, and the result": lambda np, q, k, v: (softmax(np, q.astype("f4") @ k.astype("f4").T) @ v.astype("f4")).astype("f2"),
    "scores in float64": lambda np, q, k, v: softmax(np, (q.astype("f4") @ k.astype("f4").T).astype("f8")).astype("f4") @ v.astype("f4"),
    "weights in float64": lambda np, q, k, v: softmax(np, (q.astype("f4") @ k.astype("f4").T).astype("f8")) @ v,
}  # fmt: skip


@pytest.mark.grid(3)
@pytest.mark.parametrize("given", ["f2", "f8", "i4"])
@pytest.mark.parametrize("name", CASTS)
def test_operands_are_cast_where_they_are_read(large, name, given):
    q, k, v = (x[0] for x in data("f4", 100, 1100))
    if given == "i4":
        q, k, v = (numpy.rint(x) for x in (q, k, v))
    q, k, v = (x.astype(given) for x in (q, k, v))
    f = CASTS[name]
    plait._plait.set_warnings_caught(False)
    for target in (None, "cuda:sm_90"):
        text = str(plait.explain(f(plait, *map(plait.asarray, (q, k, v))), target=target))
        assert text.startswith("1 region "), text
    want = f(numpy, q, k, v)
    eps = 2e-3 if want.dtype == "f2" else 2e-5
    for device in (None, "cuda") if given == "f2" and FAKE_DEVICE and not FAKE_NVRTC else (None,):
        got = f(plait, *(plait.asarray(x, device=device) for x in (q, k, v)))
        assert got.dtype == want.dtype
        numpy.testing.assert_allclose(numpy.asarray(got), want, rtol=eps * 20, atol=eps)


def test_differences_that_are_cast_keep_the_digits_of_the_wider_type(large):
    """They are rounded before: from another maximum they are others."""
    q, k, v = (x[0] for x in data("f4", 100, 1100))

    def f(np, q, k, v):
        s = q @ k.T
        e = np.exp((s - s.max(-1, keepdims=True)).astype("f8"))
        return e / e.sum(-1, keepdims=True) @ v

    # Of small integers scores are exact, however they are summed.
    q, k, v = numpy.rint(q), numpy.rint(k * 4) / 4 + numpy.float32(2**-20) * numpy.arange(1100, dtype="f4")[:, None], v.astype("f8")
    q[:, 1:] = 0
    close(numpy.asarray(f(plait, *map(plait.asarray, (q, k, v)))), f(numpy, q, k, v))


def test_results_of_two_values(large):
    q, k, v = (x[0] for x in data("f4", 300, 4100))

    def f(np, q, k, v, w):
        p = softmax(np, q @ k.T)
        return p @ v, np.tanh(p @ w)

    arrays = [*map(plait.asarray, (q, k, v, v[::-1].copy()))]
    plait._plait.set_warnings_caught(False)
    text = str(plait.explain([*f(plait, *arrays)]))
    assert "1 region" in text.splitlines()[0], text
    for got, want in zip(f(plait, *arrays), f(numpy, q, k, v, v[::-1])):
        close(numpy.asarray(got), want)


VALUES_COMPUTED_LATER = {  # in how many regions
    "stored": (lambda np, p, v, w: (p @ v, p @ np.tanh(w)), 2),
    "cheap": (lambda np, p, v, w: (p @ v, p @ (w * 2)), 2),
    "of both": (lambda np, p, v, w: (p @ v) - p @ (v * w), 2),
    "three": (lambda np, p, v, w: (p @ v, p @ np.tanh(w), (p @ np.tanh(v * w)) * 2), 2),
    "sums of rows behind": (lambda np, p, v, w: (p @ v, (p @ np.tanh(w)).sum(-1)), 2),
    "from the first": (lambda np, p, v, w: p @ np.resize(np.tanh(p @ v), v.shape), None),
    "from a fold": (lambda np, p, v, w: (p @ v, p @ (w * p.max())), None),
    "written to": (lambda np, p, v, w: (p @ v, w.__imul__(2), p @ w), None),
}


@pytest.mark.grid(2)
@pytest.mark.parametrize("name", VALUES_COMPUTED_LATER)
def test_values_that_are_computed_after_the_first_product(large, name):
    """What the second product reads comes first: scores and weights are in no memory."""
    q, k, v = (x[0] for x in data("f4", 100, 600))
    f, regions = VALUES_COMPUTED_LATER[name]

    def compute(np, q, k, v, w):
        got = f(np, softmax(np, q @ k.T), v, w)
        return got if isinstance(got, tuple) else (got,)

    def arrays(device=None):
        return [plait.asarray(x, device=device) for x in (q, k, v, v[::-1].copy())]

    plait._plait.set_warnings_caught(False)
    for target in (None, "cuda:sm_90") if regions else ():
        text = str(plait.explain([*compute(plait, *arrays())], target=target))
        assert int(text.split()[0]) <= regions, text
    want = compute(numpy, q, k, v, v[::-1].copy())
    for device in (None, "cuda") if FAKE_DEVICE and not FAKE_NVRTC else (None,):
        for got, expected in zip(compute(plait, *arrays(device)), want):
            close(numpy.asarray(got), expected)


def test_axes_that_a_plan_relies_on(large):
    """Rows that are several axes, of other extents with the same classes, then not in C order."""
    r = numpy.random.default_rng(2)

    def f(np, q, k, v, shape, order):
        s = (q @ k.T).reshape(shape, order=order)
        return softmax(np, s).reshape(-1, k.shape[0], order=order) @ v

    for shape, order in (((12, 30, 600), "C"), ((20, 18, 600), "C"), ((12, 30, 600), "F"), ((15, 24, 900), "C"), ((20, 18, 600), "C")):
        operands = [r.standard_normal(n).astype("f4") for n in ((360, 16), (shape[2], 16), (shape[2], 20))]
        close(numpy.asarray(f(plait, *map(plait.asarray, operands), shape, order)), f(numpy, *operands, shape, order))


def test_row_values_that_are_broadcast_along_the_keys(large):
    """As many rows as keys: what lacks the axis of the keys is one for each key."""
    q, k, v = (x[0] for x in data("f4", 300, 300))

    def f(np, q, k, v):
        s = q @ k.T
        e = np.exp(s - s.max(-1, keepdims=True))
        return (e / e.sum(-1)) @ v

    close(numpy.asarray(f(plait, *map(plait.asarray, (q, k, v)))), f(numpy, q, k, v))


def shared_by_a_masked_sum(np, s, e, mask):
    return np.where(mask, e / e.sum(-1, keepdims=True, where=mask), 0)


def guarded(np, s, e, mask):
    e = np.where(mask, e, 0)
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


@pytest.mark.parametrize("weigh", [shared_by_a_masked_sum, guarded])
@pytest.mark.parametrize("special", ["plain", "nan in a query", "-inf in a key"])
@pytest.mark.parametrize("fill", [None, -INF])
def test_rows_that_a_mask_hides_are_zero(large, weigh, special, fill):
    q, k, v = data("f4", 70, 600)
    SPECIAL[special](q, k, v)
    mask = numpy.random.default_rng(1).random((70, 600)) < 0.5
    mask[3] = mask[-1] = False

    def f(np, q, k, v, mask):
        s = scores(np, q, k, None if fill is None else mask, fill)
        return weigh(np, s, exponentials(np, s), mask) @ v

    got, _ = run(f, plait, *map(plait.asarray, (q, k, v, mask)))
    close(got, run(f, numpy, q, k, v, mask)[0])


def einsums(scores_of, weighted, axis=-1, causal=False):
    def f(np, q, k, v):
        s = np.einsum(scores_of, q, k) * 0.5
        if causal:
            s = np.where(np.arange(s.shape[-2])[:, None] >= np.arange(s.shape[-1]), s, -INF)
        return np.einsum(weighted, softmax(np, s, axis), v)

    return f


SIZES = {"b": 2, "h": 3, "q": 40, "k": 140, "d": 24, "w": 20}
EINSUMS = {  # what the operands' axes are: NumPy lays the scores and the result out in an order of its own
    "heads behind": ("bqhd,bkhd,bkhw", einsums("bqhd,bkhd->bhqk", "bhqk,bkhw->bqhw")),
    "heads behind, causal": ("bqhd,bkhd,bkhw", einsums("bqhd,bkhd->bhqk", "bhqk,bkhw->bqhw", causal=True)),
    "heads behind, no batch": ("qhd,khd,khw", einsums("qhd,khd->hqk", "hqk,khw->qhw")),
    "heads between": ("bqhd,bkhd,bkhw", einsums("bqhd,bkhd->bqhk", "bqhk,bkhw->bqhw")),
    "heads between, no batch": ("qhd,khd,khw", einsums("qhd,khd->qhk", "qhk,khw->qhw")),
    "heads last": ("qdh,kdh,kwh", einsums("qdh,kdh->qkh", "qkh,kwh->qwh", 1)),
    "keys before heads": ("bqhd,bkhd,bkhw", einsums("bqhd,bkhd->bqkh", "bqkh,bkhw->bqhw", 2)),
    "shared keys": ("bqd,kd,kw", einsums("bqd,kd->bqk", "bqk,kw->bqw")),
    "keys that heads share": ("bqhd,bkd,bkw", einsums("bqhd,bkd->bqhk", "bqhk,bkw->bqhw")),
    "heads in front": ("bhqd,bhkd,bhkw", lambda np, q, k, v: (softmax(np, q @ np.swapaxes(k, -1, -2)) @ v).transpose(0, 2, 1, 3).reshape(2, 40, -1)),
    "heads in front, and more": ("hqd,hkd,hkw", lambda np, q, k, v: np.tanh((softmax(np, q @ np.swapaxes(k, -1, -2)) @ v).transpose(1, 0, 2)) + 1),
    "heads behind, turned": ("qhd,khd,khw", lambda np, q, k, v: (softmax(np, q.transpose(1, 0, 2) @ k.transpose(1, 2, 0)) @ v.transpose(1, 0, 2)).transpose(1, 0, 2).copy()),
}  # fmt: skip


@pytest.mark.grid(3)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", EINSUMS)
def test_axes_in_any_order(large, name, dtype):
    """Copies that only lay scores out in another order are read through; the result is stored where it goes."""
    terms, f = EINSUMS[name]
    r = numpy.random.default_rng(7)
    operands = [r.standard_normal([SIZES[c] for c in term]).astype(dtype) for term in terms.split(",")]
    arrays = [*map(plait.asarray, operands)]
    for target in (None, "cuda:sm_90"):
        text = str(plait.explain(f(plait, *arrays), target=target))
        assert text.startswith("1 region "), text
    want = f(numpy, *operands)
    got = f(plait, *arrays)
    assert got.strides == want.strides
    close(numpy.asarray(got), want)
    if dtype == "f4" and FAKE_DEVICE and not FAKE_NVRTC:
        with plait.device("cuda"):
            close(numpy.asarray(f(plait, *map(plait.asarray, operands))), want)
