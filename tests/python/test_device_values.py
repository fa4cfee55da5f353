"""What a device computes, against the same graphs on the host: the same bits, but for the functions of its own mathematical library. On
a GPU at sizes that fill it; on the driver's double, which runs NVRTC's PTX, at small ones; on NVRTC's double, which is slow, a share."""

import functools

import numpy
import pytest
from support import FAKE_DEVICE, FAKE_NVRTC, NATIVE, needs_device

import plait

pytestmark = needs_device

EXACT = [
    "absolute", "add", "bitwise_and", "bitwise_or", "bitwise_xor", "ceil", "conjugate", "copysign", "divide", "equal", "fabs", "floor",
    "floor_divide", "fmax", "fmin", "fmod", "greater", "greater_equal", "invert", "isfinite", "isinf", "isnan", "left_shift", "less",
    "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative", "not_equal",
    "positive", "reciprocal", "remainder", "right_shift", "rint", "sign", "signbit", "sqrt", "square", "subtract", "trunc",
]  # fmt: skip
ROUNDED = [  # in the last places
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cbrt", "cos", "cosh", "deg2rad", "exp", "exp2", "expm1", "hypot",
    "log", "log10", "log1p", "log2", "logaddexp", "power", "rad2deg", "sin", "sinh", "tan", "tanh",
]  # fmt: skip
DTYPES = ["f", "l"] if FAKE_NVRTC else NATIVE
if FAKE_NVRTC:  # the unit tests have every function emulated
    EXACT, ROUNDED = ["add", "floor_divide", "fmax", "less", "remainder", "signbit"], ["arctan2", "exp", "power"]
SIZE = 300 if FAKE_NVRTC else 403 if FAKE_DEVICE else 100_003


def host(x):
    return numpy.asarray(x)


def operands(code, size=SIZE):
    """Two arrays of both signs where there are two, with zeros; the second is small, for shifts and powers."""
    rng = numpy.random.default_rng(ord(code))
    kind = numpy.dtype(code).kind
    if kind == "b":
        return [rng.random(size) > 0.5 for _ in range(2)]
    if kind in "iu":
        low = 0 if kind == "u" else -90
        return [rng.integers(low, 90, size).astype(code), rng.integers(0, 6, size).astype(code)]
    values = [rng.normal(size=size) * 3, rng.normal(size=size)]
    for v in values:
        v[::17] = 0
    if kind == "f":
        values[0][::31], values[0][1::31], values[1][2::31] = numpy.nan, numpy.inf, -numpy.inf
    return [(v + 1j * numpy.roll(v, 5) if kind == "c" else v).astype(code) for v in values]


def graphs(names, arrays):
    """Every named function that NumPy has for the dtype, over arrays of Plait."""
    out = {}
    for name in names:
        function = getattr(plait, name)
        try:
            out[name] = function(*arrays[: function.nin])
        except TypeError:
            continue
    return out


# Relative errors of what is not the same to the bit; the rounding of a float16 hides what stands before it, or moves it by one place.
ROUNDING = {"e": 2e-3, "f": 2e-6, "F": 2e-5, "d": 1e-13, "D": 1e-13}


def assert_alike(name, got, want, rounded=False):
    """`rounded`: by functions of a mathematical library, or by the formulas of complex numbers."""
    got, want = host(got), host(want)
    assert got.dtype == want.dtype and got.shape == want.shape, name
    if not rounded or got.dtype.kind not in "fc":
        numpy.testing.assert_array_equal(got, want, err_msg=name)
    else:
        rtol = ROUNDING[got.dtype.char]
        numpy.testing.assert_allclose(got, want, rtol=rtol, atol=rtol, err_msg=name)


def softmax(s):
    e = numpy.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def convolution(x, w, b):
    windows = numpy.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return numpy.maximum(numpy.einsum("nchwij,ocij->nohw", windows, w) + b[:, None, None], 0)


def taps(x, w):
    windows = [(i, j) for i in range(3) for j in range(3)]
    return sum(numpy.einsum("nchw,oc->nohw", x[:, :, i : i + 18, j : j + 18], w[:, :, i, j]) for i, j in windows)


def masked(q, k, v, mask):
    return softmax(numpy.where(mask, q @ k.swapaxes(-1, -2) * 0.125, -numpy.inf)) @ v


def chosen_rows(s):
    e = numpy.exp(s - s.max(-1, keepdims=True))
    total = e.sum(-1, keepdims=True)
    return numpy.where(total > 30, e / total, 0)


LOWER = numpy.tril(numpy.ones((70, 90), bool))
BLOCKS = {  # what is one loop on a CPU is one kernel, whose blocks of threads multiply together
    "operands and results": (lambda x, w, b: numpy.maximum((x * 2 + 1) @ w + b, 0), (100, 130), (130, 90), (90,)),
    "few columns": (lambda x, w, b: numpy.tanh(x @ w + b), (500, 130), (130, 19), (19,)),
    "rows": (lambda x, w: softmax(x @ w), (100, 130), (130, 90)),
    "transposed": (lambda x, w: x @ w.T + numpy.abs(x[:, :1]), (100, 131), (90, 131)),
    "deep": (lambda x, w: numpy.sqrt(numpy.abs(x @ w)), (50, 2100), (2100, 40)),  # some of it in global memory
    "attention": (lambda q, k, v: softmax(q @ k.swapaxes(-1, -2) * 0.125) @ v, (3, 70, 40), (3, 90, 40), (3, 90, 37)),
    "mask": (lambda q, k, v: masked(q, k, v, LOWER), (3, 70, 40), (3, 90, 40), (3, 90, 40)),
    "vector": (lambda q, k, v: softmax(k @ q) @ v, (40,), (1300, 40), (1300, 37)),
    "keys first": (lambda q, k, v: (lambda e: e / e.sum(0))(numpy.exp((k @ q.T) * 0.125)).T @ v, (70, 40), (90, 40), (90, 37)),
    "values first": (lambda q, k, v: v.T @ softmax((q @ k.T) * 0.125).T, (70, 40), (90, 40), (90, 37)),
    "two values": (lambda q, k, v, w: (lambda p: (p @ v) + p @ w)(softmax(q @ k.T * 0.125)), (70, 40), (90, 40), (90, 37), (90, 37)),
    "chosen rows": (lambda q, k, v: chosen_rows(q @ k.T * 0.125) @ v, (70, 40), (90, 40), (90, 37)),
    "several axes": (lambda q, k, v: softmax((q @ k.T).reshape(7, 10, 90)).reshape(70, 90) @ v, (70, 40), (90, 40), (90, 37)),
    "convolution": (convolution, (2, 8, 20, 20), (24, 8, 3, 3), (24,)),
    "taps": (taps, (2, 8, 20, 20), (24, 8, 3, 3)),
}


@pytest.mark.grid(3)
@pytest.mark.skipif(FAKE_NVRTC, reason="takes long where every kernel takes a second")
@pytest.mark.parametrize("code", "efd")
@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_that_multiply(name, code, large):
    f, *shapes = BLOCKS[name]
    if name == "taps" and code == "e":
        pytest.skip("every sum of halves is rounded, so they are no product")
    rng = numpy.random.default_rng(1)
    a = [rng.standard_normal(s).astype(code) for s in shapes]
    want = f(*(x.astype("d") for x in a)).astype(code)
    there = [plait.asarray(x, device="cuda") for x in a]
    if name == "mask":
        mask = plait.asarray(LOWER, device="cuda")
        f = lambda q, k, v: masked(q, k, v, mask)
    before = plait.stats()["kernels_on_device"]
    got = plait.jit(f)(*there)
    plait.evaluate(got)
    assert plait.stats()["kernels_on_device"] == before + 1
    assert got.dtype == want.dtype and got.device == "cuda:0"
    # What stands before a product of float16 is rounded there.
    rtol, atol = {"e": (2e-3, 0.02), "f": (0, 1e-4), "d": (0, 1e-12)}[code]
    numpy.testing.assert_allclose(host(got), want, rtol=rtol, atol=atol)


@pytest.mark.parametrize("names", [EXACT, ROUNDED], ids=["exact", "rounded"])
@pytest.mark.parametrize("code", DTYPES)
def test_every_function(code, names, large):
    a = operands(code)
    with plait.errstate(all="ignore"):
        want = graphs(names, [plait.array(x) for x in a])
        before = plait.stats()["kernels_on_device"]
        got = graphs(names, [plait.asarray(x, device="cuda") for x in a])
        assert want.keys() == got.keys() and len(got) > 1
        plait.evaluate(*got.values())
        assert plait.stats()["kernels_on_device"] > before
        for name in got:
            assert got[name].device == "cuda:0"
            assert_alike(name, got[name], want[name], names is ROUNDED or numpy.dtype(code).kind == "c")


@pytest.mark.parametrize("code", DTYPES)
def test_casts(code, large):
    a = numpy.abs(operands(code)[1][:200]) if numpy.dtype(code).kind != "b" else operands(code)[0]
    a = numpy.nan_to_num(a, posinf=1) if numpy.dtype(code).kind in "fc" else a
    to = [t for t in DTYPES if not (numpy.dtype(code).kind == "c" and numpy.dtype(t).kind != "c")]
    here, there = plait.array(a), plait.asarray(a, device="cuda")
    for t, got in zip(to, plait.evaluate(*[there.astype(t) for t in to], there.copy())):
        assert_alike(t, got, here.astype(t))


SHAPES = [(40, 30), (3, 700), (700, 3)] if FAKE_DEVICE else [(1 << 22,), (1000, 1000), (3, 1_000_003), (1_000_003, 3), (64, 70, 130)]


@pytest.mark.skipif(FAKE_NVRTC, reason="the same kernels in another compiler")
@pytest.mark.parametrize("code", ["f", "d", "b", "?", "F", "e"])
def test_neighbours_in_long_rows_that_are_not_aligned(code, large):
    a = operands(code, 3 * 2053)[0].reshape(3, 2053)
    x = plait.asarray(a, device="cuda")
    first = [numpy.logical_or, numpy.not_equal] if code == "?" else [numpy.maximum, numpy.minimum]
    for cut in (slice(1, None), slice(0, 1100), slice(7, -3)):
        want, got = ((v[:, cut][:, 1:-1], v[:, cut][:, 2:], v[:, cut][:, :-2]) for v in (a, x))
        want, got = (first[0](first[1](p, q), r) for p, q, r in (want, got))
        assert_alike(str(cut), got, want)


def factors(code, size):
    """Units and ten others, whose product is exact in any order: a device joins products of pieces, which may overflow where NumPy's do not."""
    rng = numpy.random.default_rng(size)
    v = rng.choice([1, -1, 1j, -1j] if code == "F" else [1, -1], size).astype(code)
    v[rng.choice(size, 10, replace=False)] *= 1.5
    return v


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("code", ["d"] if FAKE_NVRTC else ["f", "d", "l", "e", "F"])
def test_reductions(shape, code, large):
    a = operands(code, int(numpy.prod(shape)))[code in "fdeF"].reshape(shape)
    a = numpy.nan_to_num(a, posinf=1, neginf=1) if code in "fdeF" else a
    multiplied = factors(code, a.size).reshape(shape) if code in "fdF" else a
    summed, multiplied = ((plait.array(v), plait.asarray(v, device="cuda")) for v in (a, multiplied))
    names = (
        ["sum", "max", "argmin", "any"] if FAKE_NVRTC else ["sum", "prod", "max", "min", "argmax", "argmin", "any", "all", "mean", "var"]
    )
    if code == "e":
        names = [n for n in names if n != "prod"]  # rounded once on a device, where NumPy's loops end on the host
    for axis in (None, *range(len(shape))):
        for name in names:
            want, got = (getattr(plait, name)(x, axis=axis) for x in (multiplied if name == "prod" else summed))
            assert_alike(f"{name} over {axis}", got, want, code == "F")


def in_groups(a):
    """A scan of floats along the last axis by teams: doubling steps in groups of 32, then one group after the other."""
    n = a.shape[-1]
    g = numpy.full((*a.shape[:-1], -(-n // 32) * 32), -0.0, a.dtype)
    g[..., :n] = a
    g = g.reshape(*a.shape[:-1], -1, 32)
    for step in (1, 2, 4, 8, 16):
        g[..., step:] = g[..., :-step] + g[..., step:]
    before = numpy.full(g.shape[:-1], -0.0, a.dtype)
    before[..., 1:] = g[..., :-1, 31].cumsum(-1)
    return (before[..., None] + g).reshape(*a.shape[:-1], -1)[..., :n]


def difference(c):
    return c[..., 10:] - c[..., :-10]


SCANS = {  # what is one loop on a CPU is one kernel, whatever the length and number of lines
    "sum": (lambda x: numpy.cumsum(x, -1), in_groups),
    "between": (lambda x: numpy.sqrt(numpy.cumsum(x * x, -1) + 1), lambda x: numpy.sqrt(in_groups(x * x) + 1)),
    "of a scan": (lambda x: numpy.cumsum(numpy.cumsum(x, -1), -1), lambda x: in_groups(in_groups(x))),
    "window": (lambda x: difference(numpy.cumsum(x, -1)), lambda x: difference(in_groups(x))),
    "maximum": (lambda x: numpy.maximum.accumulate(x, -1), None),
    "minimum": (lambda x: numpy.minimum.accumulate(x, 0), None),
}


@pytest.mark.grid(4)
@pytest.mark.skipif(FAKE_NVRTC, reason="takes long where every kernel takes a second")
@pytest.mark.parametrize("shape", [(20,), (2, 12), (3, 300), (5000,), (2, 9001), (600, 40)], ids=str)
@pytest.mark.parametrize("code", "fdli")
@pytest.mark.parametrize("name", SCANS)
def test_scans(name, code, shape, large):
    f, grouped = SCANS[name]
    rng = numpy.random.default_rng(2)
    a = (rng.standard_normal(shape) * 100).astype(code)
    a[..., :2] = -0.0
    if name in ("maximum", "minimum") and code in "fd":
        a[..., 7], a[..., 3] = numpy.nan, 0
    few = a.size // a.shape[-1] < 512
    want = grouped(a) if grouped and code in "fd" and few else f(a)
    there = plait.asarray(a, device="cuda")
    before = plait.stats()
    got = plait.jit(f)(there)
    plait.evaluate(got)
    after = plait.stats()
    assert after["steps_moved_to_host"] == before["steps_moved_to_host"]
    assert after["kernels_on_device"] == before["kernels_on_device"] + 1
    assert host(got).dtype == f(a).dtype
    numpy.testing.assert_array_equal(host(got), want)
    numpy.testing.assert_array_equal(numpy.signbit(host(got)), numpy.signbit(want))


def in_pieces(name, table, index, values):
    """What a device makes of `ufunc.at`: pieces with tables of their own, joined in order."""
    ufunc, n = getattr(numpy, name), len(index)
    pieces = min(max(values.size // max(256, table.size), 1), 8192)
    least, most = (-(2**63), 2**63 - 1) if table.dtype.kind == "i" else (-numpy.inf, numpy.inf)
    nothing = {"add": -0.0, "multiply": 1, "minimum": most, "maximum": least}[name]
    tables = []
    for p in range(pieces):
        part = slice(n * p // pieces, n * (p + 1) // pieces)
        here = table if p == 0 else numpy.full_like(table, nothing)
        ufunc.at(here, index[part], values[part])
        tables.append(here)
    return functools.reduce(ufunc, tables)


@pytest.mark.grid(3)
@pytest.mark.skipif(FAKE_NVRTC, reason="takes long where every kernel takes a second")
@pytest.mark.parametrize("row", [(), (3,), (20,)], ids=str)
@pytest.mark.parametrize("code", "fdl")
@pytest.mark.parametrize("name", ["add", "multiply", "minimum", "maximum"])
def test_combined_by_index(name, code, row, large):
    rng = numpy.random.default_rng(3)
    index, table = rng.integers(-17, 17, 900), (rng.standard_normal((17, *row)) * 9).astype(code)
    values = (rng.standard_normal((900, *row)) * 3).astype(code)
    there, i, v = (plait.asarray(x, device="cuda") for x in (table, index, values))
    before = plait.stats()["steps_moved_to_host"]
    getattr(plait, name).at(there, i, v * 2)
    assert there.device == "cuda:0"
    numpy.testing.assert_array_equal(host(there), in_pieces(name, table, index, values * 2))
    assert plait.stats()["steps_moved_to_host"] == before
    for small in (1, plait.array(1).astype(code)):  # from the host, with what is on a device
        getattr(plait, name).at(there, i, small)
    with pytest.raises(IndexError):
        getattr(plait, name).at(there, i + 1, v)


@pytest.mark.skipif(FAKE_NVRTC, reason="takes long where every kernel takes a second")
def test_bins(large):
    rng = numpy.random.default_rng(4)
    index, weights = rng.integers(0, 40, 3000), rng.standard_normal(3000)
    i, w = plait.asarray(index, device="cuda"), plait.asarray(weights, device="cuda")
    for got, want in (
        (plait.bincount(i), numpy.bincount(index)),
        (plait.bincount(i[:7]), numpy.bincount(index[:7])),
        (plait.bincount(i, minlength=50), numpy.bincount(index, minlength=50)),
        (plait.bincount(i, w), in_pieces("add", numpy.zeros(40), index, weights)),
    ):
        assert got.device == "cuda:0" and got.dtype == want.dtype
        numpy.testing.assert_array_equal(host(got), want)
    with pytest.raises(ValueError):
        plait.bincount(i - 1)


@pytest.mark.grid(4)
@pytest.mark.parametrize(
    "k, d", [(2, 2), (3, 5)] if FAKE_NVRTC else [(2, 2), (3, 5), (8, 8), (13, 7), (16, 16), (64, 64), (100, 3), (5, 200)]
)
@pytest.mark.parametrize("code", ["d"] if FAKE_NVRTC else ["f", "d"])
def test_kmeans_has_the_labels_of_the_host(k, d, code, large):
    rng = numpy.random.default_rng(k * d)
    points, means = rng.normal(size=(200 if FAKE_DEVICE else 20_011, d)).astype(code), rng.normal(size=(k, d)).astype(code)
    points[::7] = means[k // 2]
    here = plait.argmin(plait.linalg.norm(plait.array(points) - plait.array(means)[:, None], axis=2), axis=0)
    x, m = plait.asarray(points, device="cuda"), plait.asarray(means, device="cuda")
    there = plait.argmin(plait.linalg.norm(x - m[:, None], axis=2), axis=0)
    assert plait.explain(there).startswith("1 region")
    assert_alike("labels", there, here)


def test_rows(large):
    shape = (20, 33) if FAKE_DEVICE else (1000, 8192)
    a = numpy.random.default_rng(0).normal(size=shape).astype("f4")
    for f, rounded in (
        (lambda x: (x - x.mean(axis=1, keepdims=True)) / (x.std(axis=1, keepdims=True) + 1), False),
        (
            lambda x: plait.exp(x - x.max(axis=1, keepdims=True)) / plait.exp(x - x.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True),
            2e-6,
        ),
    ):
        assert_alike("rows", f(plait.asarray(a, device="cuda")), f(plait.array(a)), rounded)


@pytest.mark.skipif(FAKE_DEVICE, reason="needs a GPU and 7 GB of its memory")
def test_more_than_two_to_the_31_elements():
    n = (1 << 31) + 4099
    with plait.device("cuda"):
        x = (plait.arange(n) % 251).astype("u1")  # one kernel: no array of int64
        plait.evaluate(x)

    def expected(i):
        return numpy.arange(i, i + 5) % 251

    y = x * 3 + 1
    for i in (0, 1 << 30, (1 << 31) - 2, (1 << 31) + 1, n - 5):
        assert host(x[i : i + 5]).tolist() == expected(i).tolist()
        assert host(y[i : i + 5]).tolist() == ((expected(i) * 3 + 1) % 256).tolist()
    whole, rest = divmod(n, 251)
    assert int(x.sum(dtype="i8")) == whole * (250 * 251 // 2) + rest * (rest - 1) // 2
    assert int((x == 7).sum()) == whole + (rest > 7)
    x[n - 3] = 255
    assert int(plait.argmax(x)) == n - 3
    steps = x[1:] - x[:-1]
    assert host(steps[-8:]).tolist() == numpy.diff(host(x[-9:])).tolist()
    columns = x[: n - n % 4].reshape(4, -1).max(axis=0)
    assert columns.shape == (n // 4,) and host(columns[-2:]).tolist() == host(x[: n - n % 4].reshape(4, -1)[:, -2:]).max(axis=0).tolist()


# --- beside other libraries on the same device


@pytest.mark.skipif(FAKE_DEVICE, reason="needs a GPU")
def test_cupy_shares_memory_and_order():
    cupy = pytest.importorskip("cupy")
    x = plait.arange(1_000_000, dtype="f4", device="cuda")
    for theirs in (cupy.asarray(x + 1), cupy.from_dlpack(x + 1)):
        theirs *= 2
        assert float(theirs.sum(dtype="f8")) == 1_000_000 * 1_000_001
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        ours = cupy.arange(1_000_000, dtype="f4") * 3
        for y in (plait.from_dlpack(ours), plait.asarray(ours)):
            assert y.device == "cuda:0" and float((y + 1).sum(dtype="f8")) == 3 * 999_999 * 500_000 + 1_000_000
    plait.from_dlpack(ours)[0] = 5
    plait.device("cuda").synchronize()
    assert float(ours[0]) == 5


@pytest.mark.skipif(FAKE_DEVICE, reason="needs a GPU")
def test_torch_shares_memory_and_order():
    torch = pytest.importorskip("torch")
    x = plait.arange(1_000_000, dtype="f8", device="cuda")
    theirs = torch.from_dlpack(x + 1)
    assert theirs.is_cuda and float(theirs.sum()) == 500_000 * 1_000_001
    with torch.cuda.stream(torch.cuda.Stream()):
        ours = torch.arange(1_000_000, dtype=torch.float64, device="cuda") * 3
        y = plait.from_dlpack(ours)
        assert float((y + 1).sum()) == 3 * 999_999 * 500_000 + 1_000_000
    y[0] = 5
    plait.device("cuda").synchronize()
    assert float(ours[0]) == 5


@pytest.mark.skipif(FAKE_DEVICE, reason="needs a GPU")
def test_jax_shares_memory_and_order(monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX sees no GPU")
    x = plait.arange(100_000, dtype="f4", device="cuda")
    assert numpy.asarray(jax.numpy.from_dlpack(x * 2))[-1] == 199_998
    ours = jax.numpy.arange(100_000, dtype="float32") * 3
    assert host(plait.from_dlpack(ours) + 1)[-1] == 3 * 99_999 + 1
