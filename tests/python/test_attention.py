"""Attention in plain NumPy: values, NaN and warnings as NumPy's, whatever its blocks are."""
import itertools
import warnings

import numpy
import pytest

import plait
import plait.nn

INF = numpy.inf


def scores(np, q, k, mask, fill):
    s = np.matmul(q, np.swapaxes(k, -1, -2)) * 0.125
    return s if mask is None else np.where(mask, s, fill)


def stable(np, q, k, v, mask=None, fill=-INF):
    s = scores(np, q, k, mask, fill)
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return np.matmul(e / np.sum(e, axis=-1, keepdims=True), v)


def naive(np, q, k, v, mask=None, fill=-INF):
    e = np.exp(scores(np, q, k, mask, fill))
    return np.matmul(e, v) / np.sum(e, axis=-1, keepdims=True)


def after(np, q, k, v, mask=None, fill=-INF):
    s = scores(np, q, k, mask, fill)
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return np.matmul(e, v) / np.sum(e, axis=-1, keepdims=True)


def hidden(np, q, k, v, mask=None, fill=-INF):
    """Weights that are zero by the mask, whatever the scores are."""
    s = scores(np, q, k, mask, fill)
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    if mask is not None:
        e = np.where(mask, e, np.float32(0))
    return np.matmul(e / np.sum(e, axis=-1, keepdims=True), v)


def hidden_after(np, q, k, v, mask=None, fill=-INF):
    """The maximum is that of all scores."""
    s = scores(np, q, k, None, fill)
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    if mask is not None:
        e = np.where(~mask, 0, e)
    return np.matmul(e / np.sum(e, axis=-1, keepdims=True), v)


def scaled(np, q, k, v, mask=None, fill=-INF, scale=0.5):
    s = scores(np, q, k, mask, fill)
    e = np.exp((s - np.max(s, axis=-1, keepdims=True)) * scale)
    return np.matmul(e, v) / np.sum(e, axis=-1, keepdims=True)


def inverse(np, q, k, v, mask=None, fill=-INF):
    s = scores(np, q, k, mask, fill)
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return np.matmul(e * (1 / np.sum(e, axis=-1, keepdims=True)), v)


def inverse_first(np, q, k, v, mask=None, fill=-INF):
    e = np.exp(scores(np, q, k, mask, fill))
    return np.matmul(np.reciprocal(np.sum(e, axis=-1))[..., None] * e, v)


def run(f, np, *args):
    with warnings.catch_warnings(record=True) as seen, np.errstate(over="warn", invalid="warn", divide="warn", under="ignore"):
        warnings.simplefilter("always")
        plait._plait.set_warnings_caught(False)
        result = numpy.asarray(f(np, *args))
    return result, {str(w.message) for w in seen}


def data(dtype, rows, keys, depth=16, width=20):
    r = numpy.random.default_rng(rows)
    return [r.standard_normal((2, n, d)).astype(dtype) for n, d in ((rows, depth), (keys, depth), (keys, width))]


def close(got, want):
    eps = 2e-5 if want.dtype.char == "f" else 1e-12
    assert got.dtype == want.dtype and got.shape == want.shape
    numpy.testing.assert_allclose(got, want, rtol=eps * 20, atol=eps, equal_nan=True)


SPECIAL = {
    "plain": lambda q, k, v: None,
    "nan in a query": lambda q, k, v: q.__setitem__((0, -1, 2), numpy.nan),
    "inf in a key": lambda q, k, v: k.__setitem__((0, 1, 2), INF),
    "-inf in a key": lambda q, k, v: k.__setitem__((0, 1), -INF),
    "nan in a value": lambda q, k, v: v.__setitem__((1, -2, 3), numpy.nan),
    "inf in a value": lambda q, k, v: v.__setitem__((1, 1, 3), INF),
    "inf against a weight that is almost nothing": lambda q, k, v: (q[0].fill(1), k[0].fill(0), k[0, 1].fill(-47.5), v.__setitem__((0, 1, 3), INF)),
    "large": lambda q, k, v: (q.__imul__(40), k.__imul__(40)),
    "zero": lambda q, k, v: q.fill(0),
}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("special", SPECIAL)
def test_special_values(large, dtype, special):
    for (rows, keys), f in itertools.product([(70, 600), (40, 48), (1, 1100)], (stable, naive, after, hidden, hidden_after, scaled, inverse)):
        q, k, v = data(dtype, rows, keys)
        SPECIAL[special](q, k, v)
        if f is hidden_after and special == "large":
            continue  # beside a maximum that is hidden weights are subnormal: of few bits, and which ones is a matter of order
        some = numpy.random.default_rng(1).random((rows, keys)) < 0.5
        none = some.copy()
        none[3 % rows] = False
        none[5 % rows, :300] = False
        for mask, fill in [(None, 0), *itertools.product((some, none), (-INF, -1e9))]:
            want, expected = run(f, numpy, q, k, v, mask, fill)
            got, seen = run(f, plait, *map(plait.asarray, (q, k, v)), None if mask is None else plait.asarray(mask), fill)
            close(got, want)
            # A sum of products that has reached infinity overflows no more: when it has is a matter of order.
            late = {"overflow encountered in matmul"}
            assert seen - late == expected - late, (f.__name__, rows, mask is none, fill)


MASKS = {
    "causal": lambda np, n, m: np.arange(n)[:, None] >= np.arange(m),
    "not after": lambda np, n, m: ~(np.arange(n)[:, None] < np.arange(m)),
    "window": lambda np, n, m: (np.arange(n)[:, None] >= np.arange(m)) & (np.arange(n)[:, None] - np.arange(m) < 70),
    "ends": lambda np, n, m: (np.arange(n)[:, None] < 5) | (np.arange(m) > m - 4),
    "floats": lambda np, n, m: np.arange(n, dtype=np.float32)[:, None] - np.arange(m, dtype=np.float32) >= 0.5,
    "documents": lambda np, n, m: (np.arange(n) // 90)[:, None] == np.arange(m) // 90,
    "triangle": lambda np, n, m: np.tril(np.ones((n, m), dtype=bool)),
    "numbers in another order": lambda np, n, m: np.arange(n).reshape(28, 25).T.copy().reshape(n)[:, None] >= np.arange(m),
    "cast in another order": lambda np, n, m: np.arange(n).reshape(28, 25).T.astype("f8", order="C").reshape(n)[:, None] >= np.arange(m),
    "padding": lambda np, n, m: np.arange(m) < m // 3,
    "all": lambda np, n, m: np.arange(n)[:, None] > np.arange(m) + 2 * n,
}


@pytest.mark.parametrize("name", MASKS)
def test_masks_of_indices(large, name):
    q, k, v = data("f4", 700, 700)
    last = v.copy()
    last[1, -1, 2] = numpy.nan
    for values, fill, f in itertools.product((v, last), (-INF, -1e9, 3.0), (stable, naive, hidden)):

        def masked(np, q, k, v):
            return f(np, q, k, v, MASKS[name](np, 700, 700), fill)

        want, expected = run(masked, numpy, q, k, values)
        got, seen = run(masked, plait, *map(plait.asarray, (q, k, values)))
        close(got, want)
        assert seen == expected


def test_what_is_held_is_right(large):
    q, k, v = map(plait.asarray, data("f4", 70, 600))
    s = scores(plait, q, k, None, 0)
    m = plait.max(s, axis=-1, keepdims=True)
    e = plait.exp(s - m)
    total = plait.sum(e, axis=-1, keepdims=True)
    p = e / total
    out = plait.matmul(p, v)
    want = stable(numpy, *map(numpy.asarray, (q, k, v)))
    close(numpy.asarray(out), want)
    theirs = scores(numpy, *map(numpy.asarray, (q, k)), None, 0)
    close(numpy.asarray(m), theirs.max(-1, keepdims=True))
    close(numpy.asarray(total), numpy.exp(theirs - theirs.max(-1, keepdims=True)).sum(-1, keepdims=True))
    close(numpy.asarray(numpy.matmul(numpy.asarray(p), numpy.asarray(v))), want)
    close(numpy.asarray(s), theirs)


@pytest.mark.parametrize("first", range(4))
def test_held_row_values_beside_pending_operands(large, first):
    """What the second product reads is computed before it, and with it the last maxima: blocks go by those so far all the same."""

    def f(np, q, k, v):
        v = v - 1
        s = np.matmul(q, np.swapaxes(k, -1, -2)) * 0.5
        m = s.max(axis=-1, keepdims=True)
        e = np.exp(s - m)
        total = e.sum(axis=-1, keepdims=True)
        return np.matmul(e / total, v), m, total, m[..., 0] + total[..., 0]

    operands = data("f4", 40, 1500)
    want = f(numpy, *operands)
    plait._plait.set_warnings_caught(False)
    got = f(plait, *map(plait.asarray, operands))
    for i in (first, *range(4)):
        close(numpy.asarray(got[i]), want[i])


def test_error_is_no_larger_than_numpys(large):
    q, k, v = (x * 3 for x in data("f4", 300, 2000, 64, 64))
    exact = stable(numpy, *(x.astype("f8") for x in (q, k, v)))
    theirs = numpy.abs(stable(numpy, q, k, v) - exact).max()
    ours = numpy.abs(numpy.asarray(stable(plait, *map(plait.asarray, (q, k, v)))) - exact).max()
    assert ours <= 1.5 * theirs


def test_a_cache_that_is_filled_step_by_step_is_planned_once(large):
    r = numpy.random.default_rng(5)

    def decode(np, q, k, v, keys, values, t):
        keys[:, t], values[:, t] = k, v
        return stable(np, q[:, None], keys[:, : t + 1], values[:, : t + 1])

    theirs = [r.standard_normal((4, 700, 64)).astype("f4") for _ in range(2)]
    ours = [plait.array(x) for x in theirs]
    for t in range(520, 560):
        if t == 523:
            before = plait.stats()
        new = [r.standard_normal((4, 64)).astype("f4") for _ in range(3)]
        close(numpy.asarray(decode(plait, *map(plait.asarray, new), *ours, t)), decode(numpy, *new, *theirs, t))
    now = plait.stats()
    assert now["plans_made"] == before["plans_made"]
    assert now["plans_reused"] > before["plans_reused"]
    assert now["kernels_compiled"] - before["kernels_compiled"] <= now["last_plan_regions"]


def test_numbers_that_the_plan_relies_on(large):
    """Weights where the mask is false are zero, then are not; what scales them is negative, then is not a number."""
    q, k, v = data("f4", 70, 600)
    mask = numpy.random.default_rng(1).random((70, 600)) < 0.5

    def filled(np, q, k, v, mask, weight):
        s = scores(np, q, k, None, 0)
        e = np.where(mask, np.exp(s - np.max(s, axis=-1, keepdims=True)), weight)
        return np.matmul(e / np.sum(e, axis=-1, keepdims=True), v)

    for weight in (0.0, 0.25, 0.0, -0.0, 1.0, 0.0):
        close(numpy.asarray(filled(plait, *map(plait.asarray, (q, k, v, mask)), weight)), filled(numpy, q, k, v, mask, weight))
    for scale, fill in itertools.product((0.5, -0.25, 0.0, -0.0, numpy.nan, INF, 0.5), (-INF, -3.0)):
        want, expected = run(scaled, numpy, q, k, v, mask, fill, scale)
        got, seen = run(scaled, plait, *map(plait.asarray, (q, k, v, mask)), fill, scale)
        close(got, want)
        assert seen - {"overflow encountered in matmul"} == expected - {"overflow encountered in matmul"}, (scale, fill)


@pytest.mark.parametrize("layout", ["keys", "turned keys", "steps", "heads behind", "no heads", "of one head"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_one_query(large, layout, dtype):
    """Keys and values are read where they lie."""
    r = numpy.random.default_rng(4)
    q, k, v = (r.standard_normal((3, n, d)).astype(dtype) for n, d in ((1, 40), (1500, 40), (1500, 33)))

    def f(np, q, k, v):
        if layout == "turned keys":
            k = np.swapaxes(np.ascontiguousarray(np.swapaxes(k, -1, -2)), -1, -2)
        if layout == "steps":
            q, k, v = q[..., ::2], k[:, ::-1, ::2], v[:, ::-1]
        if layout == "heads behind":
            k, v = (np.ascontiguousarray(x.transpose(1, 0, 2)).transpose(1, 0, 2) for x in (k, v))
        if layout == "no heads":
            q, k, v = q[0], k[0], v[0]
        if layout == "of one head":
            k, v = k[:1], v[:1]
        return stable(np, q * 2, k, v)

    exact = f(numpy, *(x.astype("f8") for x in (q, k, v)))
    got = numpy.asarray(f(plait, *map(plait.asarray, (q, k, v))))
    theirs = numpy.abs(f(numpy, q, k, v) - exact).max()
    assert numpy.abs(got - exact).max() <= (1.5 * theirs if dtype == "f4" else 1e-14)


def rotated(np, x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + np.concatenate([-x[..., half:], x[..., :half]], axis=-1) * sin


def rotated_by_halves(np, x, cos, sin):
    half = x.shape[-1] // 2
    a, b, cos, sin = x[..., :half], x[..., half:], cos[:, :half], sin[:, :half]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


def rotated_in_turn(np, x, cos, sin):
    return x * cos + np.stack((-x[..., 1::2], x[..., ::2]), -1).reshape(x.shape) * sin


def rotated_by_pairs(np, x, cos, sin):
    a, b, cos, sin = x[..., ::2], x[..., 1::2], cos[:, ::2], sin[:, ::2]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)


ROTATIONS = {"rotated": rotated, "rotated by halves": rotated_by_halves, "rotated in turn": rotated_in_turn, "rotated by pairs": rotated_by_pairs}


def angles(rows, depth):
    turn = numpy.arange(rows)[:, None] / 100 ** (numpy.arange(depth) % (depth // 2) * 2 / depth)
    return [f(turn).astype("f4") for f in (numpy.cos, numpy.sin)]


@pytest.mark.parametrize("rotate", ROTATIONS.values())
@pytest.mark.parametrize("rows, keys, depth", [(300, 300, 32), (70, 600, 18), (40, 40, 96), (1, 1100, 32)])
@pytest.mark.parametrize("special", [None, "inf in a key", "nan in a query"])
def test_rotated(large, rotate, rows, keys, depth, special):
    q, k, v = data("f4", rows, keys, depth)
    if special:
        SPECIAL[special](q, k, v)

    def f(np, q, k, v, cos, sin):
        return stable(np, rotate(np, q, cos[:rows], sin[:rows]), rotate(np, k, cos[:keys], sin[:keys]), v)

    operands = [q, k, v, *angles(max(rows, keys), depth)]
    want, _ = run(f, numpy, *operands)
    got, _ = run(f, plait, *map(plait.asarray, operands))
    close(got, want)


def test_rotated_projections(large):
    """What is rotated is itself computed."""
    r = numpy.random.default_rng(5)
    x, w, v = (r.standard_normal(s).astype("f4") for s in ((300, 64), (64, 64), (2, 300, 32)))

    def f(np, x, w, v, cos, sin):
        q, k = (rotated(np, (x @ w).reshape(300, 2, 32).transpose(1, 0, 2) * s, cos, sin) for s in (0.1, 0.2))
        return stable(np, q, k, v)

    operands = [x, w, v, *angles(300, 32)]
    want, _ = run(f, numpy, *operands)
    got, _ = run(f, plait, *map(plait.asarray, operands))
    close(got, want)


REPEATS = {
    "heads by repeat": lambda np, x, n: np.repeat(x, n, axis=1),
    "heads by tile": lambda np, x, n: np.tile(x, (1, n, 1, 1)),
    "heads by broadcast_to": lambda np, x, n: np.broadcast_to(x[:, :, None], (*x.shape[:2], n, *x.shape[2:])).reshape(x.shape[0], -1, *x.shape[2:]),
}


@pytest.mark.parametrize("repeat", REPEATS.values())
@pytest.mark.parametrize("rows, keys", [(300, 300), (70, 600), (1, 1100)])
@pytest.mark.parametrize("layout", ["C", "heads last", "one batch", "computed"])
def test_repeated_heads(large, repeat, rows, keys, layout):
    r = numpy.random.default_rng(3)
    batch = 1 if layout == "one batch" else 3
    q, k, v = (r.standard_normal((batch, heads, n, 32)).astype("f4") for heads, n in ((6, rows), (2, keys), (2, keys)))
    if layout == "heads last":
        k, v = (x.transpose(0, 2, 1, 3).copy().transpose(0, 2, 1, 3) for x in (k, v))

    def f(np, q, k, v):
        if layout == "computed":
            k, v = k * 2, v - 1
        return stable(np, q, repeat(np, k, 3), repeat(np, v, 3))

    got, _ = run(f, plait, *map(plait.asarray, (q, k, v)))
    close(got, f(numpy, q, k, v))


@pytest.mark.parametrize("form", ["stable", "naive", *ROTATIONS, "mask", "causal", "hidden", "hidden after", "scaled", "inverse", "inverse first", "grouped heads", *REPEATS, "one query", "jit"])
def test_one_region(large, form):
    r = numpy.random.default_rng(0)
    q, k, v = (r.standard_normal((4, n, 32)).astype("f4") for n in (1 if form == "one query" else 300, 300, 300))

    def f(np, q, k, v):
        if form == "naive":
            return naive(np, q, k, v)
        if form.startswith("hidden"):
            return (hidden if form == "hidden" else hidden_after)(np, q, k, v, np.arange(300)[:, None] >= np.arange(300))
        if form == "scaled":
            return scaled(np, q, k, v)
        if form.startswith("inverse"):
            return (inverse if form == "inverse" else inverse_first)(np, q, k, v)
        if form.startswith("rotated"):
            rotate = ROTATIONS[form]
            cos, sin = map(np.asarray, angles(300, 32))
            return stable(np, rotate(np, q, cos, sin), rotate(np, k, cos, sin), v)
        if form == "mask":
            return stable(np, q, k, v, np.asarray(r.random((300, 300)) < 2))
        if form == "causal":
            return stable(np, q, k, v, np.arange(300)[:, None] >= np.arange(300))
        if form == "grouped heads":
            return stable(np, q.reshape(2, 2, 300, 32), k[:2, None], v[:2, None])
        if form in REPEATS:
            return stable(np, q[None], *(REPEATS[form](np, x[None, :2], 2) for x in (k, v)))
        return stable(np, q, k, v)

    if form == "jit":
        text = str(plait.explain(lambda q, k, v: f(plait, q, k, v), q, k, v))
    else:
        text = str(plait.explain(f(plait, *map(plait.asarray, (q, k, v)))))
    assert "1 region" in text.splitlines()[0], text
    close(numpy.asarray(f(plait, *map(plait.asarray, (q, k, v)))), f(numpy, q, k, v))


def test_nn_attention(large):
    q, k, v = data("f4", 70, 90)
    close(numpy.asarray(plait.nn.attention(*map(plait.asarray, (q, k, v)), scale=0.125)), stable(numpy, q, k, v))
    causal = numpy.arange(20, 90)[:, None] >= numpy.arange(90)
    close(numpy.asarray(plait.nn.attention(*map(plait.asarray, (q, k, v)), is_causal=True)), stable(numpy, q * 2, k, v, causal))
    close(numpy.asarray(plait.nn.attention(*map(plait.asarray, (q, k, v)), mask=plait.asarray(causal))), stable(numpy, q * 2, k, v, causal))
    bias = numpy.where(causal, 0, -INF).astype("f4")
    close(numpy.asarray(plait.nn.attention(*map(plait.asarray, (q, k, v)), mask=plait.asarray(bias))), stable(numpy, q * 2, k, v, causal))


@pytest.mark.parametrize("weigh", [lambda np, d: np.exp(d) * np.float32(1e-40), lambda np, d: np.exp(d + np.float32(-95))])
def test_weights_that_are_small_throughout(large, weigh):
    def attention(np, q, k, v):
        s = np.matmul(q, np.swapaxes(k, -1, -2))
        e = weigh(np, s - np.max(s, axis=-1, keepdims=True))
        return np.matmul(e / np.sum(e, axis=-1, keepdims=True), v)

    operands = data("f4", 40, 70)
    want = attention(numpy, *operands)
    got = numpy.asarray(attention(plait, *map(plait.array, operands)))
    numpy.testing.assert_allclose(got, want, rtol=0.02, atol=0.02)


MASKED_WRITES = {
    "copyto": lambda np, s, m: np.copyto(s, -INF, where=m),
    "copyto, broadcast": lambda np, s, m: np.copyto(s, -1e9, where=m[0]),
    "a key": lambda np, s, m: s.__setitem__(m, -INF),
    "putmask": lambda np, s, m: np.putmask(s, m, numpy.float32(-1e9)),
}


@pytest.mark.parametrize("name", MASKED_WRITES)
def test_masks_written_to_the_scores(large, name):
    """The write is part of the region: the scores have no memory. Views of them see it."""
    q, k, v = data("f4", 300, 520, 33, 40)
    hide = numpy.broadcast_to(~numpy.tri(300, 520, dtype=bool), (2, 300, 520)).copy()

    def f(np, q, k, v, hide, look=lambda s: None):
        s = np.matmul(q, np.swapaxes(k, -1, -2)) * np.float32(0.125)
        seen = look(s)
        MASKED_WRITES[name](np, s, hide)
        e = np.exp(s - np.max(s, axis=-1, keepdims=True))
        out = np.matmul(e / np.sum(e, axis=-1, keepdims=True), v)
        return out if seen is None else (out, seen)

    arrays = tuple(map(plait.asarray, (q, k, v, hide)))
    want = f(numpy, *(a.astype("f8") if a.dtype.char == "f" else a for a in (q, k, v, hide))).astype("f4")
    plait._plait.set_warnings_caught(False)
    text = str(plait.explain(f(plait, *arrays)))
    assert "1 region" in text.splitlines()[0], text
    close(numpy.asarray(f(plait, *arrays)), want)
    out, seen = f(plait, *arrays, look=lambda s: s[1, ::2])
    close(numpy.asarray(seen), f(numpy, q, k, v, hide, look=lambda s: s[1, ::2])[1])
    close(numpy.asarray(out), want)


def test_masked_writes_to_pending_values_are_numpys(large):
    def f(np, a, m):
        s, t = a * 2, (a + 1).T
        before = s + 1
        s[s < 0] = 0
        np.copyto(s, a[:1], where=m)
        np.copyto(t, a[:, :1].T, where=m.T)
        np.putmask(s, a > 1, np.float32(7))
        i = (a * 10).astype("i4")
        i[m] = 2.9
        with pytest.raises((TypeError, ValueError, OverflowError)):
            np.copyto(i, 2.5, where=m)
        with pytest.raises(OverflowError):
            i[m] = 2**40
        with pytest.raises(ValueError):
            np.copyto(s, 1, where=m[:, 1:])
        return before, s, t, i

    a = numpy.random.default_rng(3).standard_normal((90, 80)).astype("f4")
    m = numpy.random.default_rng(4).random((90, 80)) < 0.3
    for got, want in zip(f(plait, *map(plait.asarray, (a, m))), f(numpy, a, m), strict=True):
        got = numpy.asarray(got)
        assert got.dtype == want.dtype and got.strides == want.strides
        numpy.testing.assert_array_equal(got, want)
