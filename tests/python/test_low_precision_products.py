"""Products of low precision: integers whose sums are wider than they are, and floats of 16 bits summed in float32."""

import numpy
import pytest
from support import host, same

import plait

BYTES = [numpy.int8, numpy.uint8]
INTEGERS = [numpy.int8, numpy.uint8, numpy.int16, numpy.uint16, numpy.int32, numpy.uint32, numpy.int64, numpy.uint64]
i4 = numpy.int32
# m, k, n: large enough for regions, K that no group divides, one row, one column, nothing to sum.
SHAPES = [(128, 160, 96), (97, 131, 77), (64, 515, 33), (1, 300, 500), (500, 300, 1), (5, 3, 7), (4, 0, 5)]


def full(t, *shape, seed=0):
    info = numpy.iinfo(t)
    return numpy.random.default_rng(seed).integers(info.min, info.max, shape, t, endpoint=True)


def widened(np, a, b):
    return a.astype(i4) @ b.astype(i4)


def check(f, *arrays):
    same(f(plait, *map(plait.asarray, arrays)), f(numpy, *arrays))


@pytest.mark.parametrize("m, k, n", SHAPES)
@pytest.mark.parametrize("b", BYTES)
@pytest.mark.parametrize("a", BYTES)
def test_bytes_with_wider_sums(a, b, m, k, n):
    x, y = full(a, m, k), full(b, k, n, seed=1)
    check(widened, x, y)
    check(lambda np, x, y: np.matmul(x, y, dtype=i4), x, y)
    check(lambda np, x, y: x.astype(numpy.int16) @ y.astype(numpy.int16), x, y)
    check(lambda np, x, y: x.astype(numpy.uint32) @ y.astype(numpy.uint32), x, y)
    check(lambda np, x, y: x.astype(numpy.int64) @ y.astype(numpy.int64), x, y)
    check(lambda np, x, y: x @ y, x, y)


@pytest.mark.parametrize("m, k, n", SHAPES)
@pytest.mark.parametrize("t", INTEGERS)
def test_integers_wrap(t, m, k, n):
    check(lambda np, x, y: x @ y, full(t, m, k), full(t, k, n, seed=1))


@pytest.mark.parametrize("t", [numpy.int8, numpy.uint8, numpy.int16, numpy.uint16])
def test_extremes(t):
    for value in numpy.iinfo(t).min, numpy.iinfo(t).max:
        x = numpy.full((70, 300), value, t)
        check(widened, x, x.T)
        check(lambda np, x: x @ x.T, x)


def test_sums_wrap_in_int32():
    x = numpy.full((40, 100000), 255, numpy.uint8)
    check(widened, x, x.T)


LAYOUTS = {
    "rows transposed": lambda a, b: (a.reshape(a.shape[::-1]).T, b),
    "columns transposed": lambda a, b: (a, b.reshape(b.shape[::-1]).T),
    "both transposed": lambda a, b: (a.reshape(a.shape[::-1]).T, b.reshape(b.shape[::-1]).T),
    "backwards": lambda a, b: (a[::-1, ::-1], b[::-1, ::-1]),
    "every other": lambda a, b: (a[:, ::2], b[::2, ::2]),
    "broadcast": lambda a, b: (numpy.broadcast_to(a[0], a.shape), numpy.broadcast_to(b[:, :1], b.shape)),
    "batches": lambda a, b: (a.reshape(3, 48, 110), b.reshape(3, 110, 32)),
    "batch of rows": lambda a, b: (a.reshape(3, 48, 110), b.reshape(110, -1)),
    "columns of a batch": lambda a, b: (a.reshape(-1, 110), b.reshape(3, 110, 32)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("types", [(numpy.int8, numpy.uint8), (numpy.uint8, numpy.int8), (numpy.int16, numpy.int16)])
def test_layouts(types, layout):
    a, b = LAYOUTS[layout](full(types[0], 144, 110), full(types[1], 110, 96, seed=1))
    check(widened, a, b)

    def cast_first(np, a, b):  # then the views are of the casts
        return LAYOUTS[layout](a.astype(i4), b.astype(i4))

    a, b = full(types[0], 144, 110), full(types[1], 110, 96, seed=1)
    if layout != "broadcast":
        check(lambda np, a, b: numpy.matmul(*cast_first(np, a, b)) if np is numpy else plait.matmul(*cast_first(np, a, b)), a, b)


def test_contractions():
    a, b = full(numpy.int8, 6, 20, 30), full(numpy.int8, 30, 20, 50, seed=1)
    check(lambda np, a, b: np.tensordot(a.astype(i4), b.astype(i4), ([2, 1], [0, 1])), a, b)
    check(lambda np, a, b: np.einsum("bij,jik->bk", a.astype(i4), b.astype(i4)), a, b)
    check(lambda np, a, b: np.einsum("bij,jik->bik", a.astype(i4), b.astype(i4)), a, b)


def scaled(np, a, b, scale, bias):
    return (a.astype(i4) @ b.astype(i4)).astype(numpy.float32) * scale + bias


def quantised(np, x, b, scale, bias):
    q = np.clip(np.rint(x * 20), -128, 127).astype(numpy.int8)
    return scaled(np, q, b, scale, bias)


def test_what_reads_the_product_is_in_its_region():
    r = numpy.random.default_rng(0)
    a, b = full(numpy.int8, 200, 300), full(numpy.int8, 300, 160, seed=1)
    scale, bias = r.random(160, numpy.float32), r.random(160, numpy.float32)
    check(scaled, a, b, scale, bias)
    check(quantised, r.standard_normal((200, 300), numpy.float32), b, scale, bias)
    text = str(plait.explain(scaled(plait, *map(plait.asarray, (a, b, scale, bias)))))
    assert text.count("region") >= 1 and "block of a matrix product" in text
    assert "int8(200, 300)" in text and "int32(200, 300)" not in text and "int32(300, 160)" not in text, text


def test_a_shared_cast_is_still_there():
    a, b = full(numpy.int8, 120, 130), full(numpy.uint8, 130, 140, seed=1)

    def both(np, a, b):
        wide = a.astype(i4)
        return wide @ b.astype(i4), wide + 1, wide

    check(both, a, b)
    check(lambda np, a, b: (a + 1).astype(i4) @ (b * 3).astype(i4), a, b)
    check(lambda np, a, b: a.astype(i4) @ b.astype(i4) + a.astype(i4).sum(1)[:, None], a, b)


@pytest.mark.parametrize("m, k, n", [(128, 160, 96), (97, 131, 77), (1, 600, 500), (64, 515, 33)])
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_sums_in_float32(name, m, k, n):
    t = numpy.dtype(name if name == "float16" else pytest.importorskip("ml_dtypes").bfloat16)
    r = numpy.random.default_rng(0)
    x, w = r.standard_normal((m, k)).astype(t), r.standard_normal((k, n)).astype(t)
    x4, w4 = x.astype(numpy.float32), w.astype(numpy.float32)
    whole = host(plait.asarray(x4) @ plait.asarray(w4))
    numpy.testing.assert_allclose(whole, x4 @ w4, rtol=1e-4, atol=1e-3)
    p = plait.asarray
    for got in (
        p(x).astype("f4") @ p(w).astype("f4"),
        p(x4) @ p(w).astype("f4"),
        p(x).astype("f4") @ p(w4),
        p(numpy.asfortranarray(x)).astype("f4") @ p(w.T.copy()).astype("f4").T,
        p(x).astype("f4") @ p(w),
        *([p(x) @ p(w)] if name == "bfloat16" else []),
    ):
        # A row by itself may be a BLAS's, whose order is its own.
        numpy.testing.assert_allclose(host(got), whole, rtol=1e-4, atol=1e-3) if m == 1 else numpy.testing.assert_array_equal(
            host(got), whole
        )
    text = str(plait.explain(p(x).astype("f4") @ p(w).astype("f4")))
    assert m == 1 or (f"float32({m}, {k})" not in text and f"float32({k}, {n})" not in text), text


SCRIPT = """
import os, ml_dtypes, numpy, plait
r = numpy.random.default_rng(3)
total = 0
for m, k, n in [(150, 131, 170), (3, 515, 260), (40, 515, 60), (260, 64, 1)]:
    for s in "bB":
        for t in "bB":
            a = r.integers(-128, 128, (m, k)).astype(s); b = r.integers(-128, 128, (k, n)).astype(t)
            x, y = plait.asarray(a), plait.asarray(b)
            want = a.astype("i4") @ b.astype("i4")
            for got in (x.astype("i4") @ y.astype("i4"), plait.matmul(x, y, dtype="i4")):
                assert numpy.asarray(got).tolist() == want.tolist(), (m, k, n, s, t)
            scaled = (x.astype("i4") @ y.astype("i4")) * numpy.float32(0.5) + numpy.float32(1)
            assert numpy.asarray(scaled).tolist() == (want * numpy.float32(0.5) + numpy.float32(1)).tolist()
    for t in "hHiIlL":
        a = r.integers(0, 1 << 62, (m, k)).astype(t); b = r.integers(0, 1 << 62, (k, n)).astype(t)
        assert numpy.asarray(plait.asarray(a) @ plait.asarray(b)).tolist() == (a @ b).tolist(), t
    if n > 1:
        a, b = (r.standard_normal(s).astype(ml_dtypes.bfloat16) for s in ((m, k), (k, n)))
        x, y = plait.asarray(a), plait.asarray(b)
        want = numpy.asarray(plait.asarray(a.astype("f4")) @ plait.asarray(b.astype("f4")))
        numpy.testing.assert_allclose(want, a.astype("f8") @ b.astype("f8"), rtol=1e-4, atol=1e-3)
        if os.environ["PLAIT_AMX"] == "on":  # where there is one: an order of its own
            own = numpy.asarray(x @ y)
            numpy.testing.assert_allclose(own, want, rtol=1e-4, atol=1e-4)
            want = own
        for got in (x @ y, plait.asarray(a.T.copy()).T @ y, x.astype("f4") @ y.astype("f4"), x @ plait.asarray(b.T.copy()).T):
            if m <= 4 or os.environ["PLAIT_CPU"] == "baseline":  # columns or a BLAS may compute those of float32
                numpy.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
            else:
                assert numpy.asarray(got).tolist() == want.tolist()
print("done")
"""


@pytest.mark.grid(3)
@pytest.mark.parametrize("cpu", ["baseline", "avx2", "avx512", "amx"])
@pytest.mark.parametrize("env", [{"PLAIT_JIT": "off"}, {"PLAIT_JIT": "blocking"}, {"PLAIT_FUSE": "0"}], ids=str)
def test_tiers_agree(run_python, cpu, env):
    for threads in "12":
        tier = {"PLAIT_CPU": "avx512", "PLAIT_AMX": "on"} if cpu == "amx" else {"PLAIT_CPU": cpu, "PLAIT_AMX": "off"}
        assert run_python(SCRIPT, env={"PLAIT_NUM_THREADS": threads, **tier, **env}).stdout.split() == ["done"]


@pytest.mark.parametrize("given, to", [("i1", "i4"), ("u1", "i8"), ("i2", "f4"), ("f2", "f4"), ("f8", "f4"), ("f8", "D")])
def test_dtype_of_a_product_is_that_of_its_operands(given, to):
    r = numpy.random.default_rng(0)
    x, y = (r.integers(0, 100, shape).astype(given) for shape in ((5, 40), (40, 7)))
    a, b = plait.asarray(x), plait.asarray(y)
    same(plait.matmul(a, b, dtype=to), numpy.matmul(x, y, dtype=to))
    assert "0 fallbacks" in str(plait.explain(lambda: plait.evaluate(plait.matmul(a, b, dtype=to))))
    with pytest.raises(TypeError):
        plait.matmul(plait.ones((2, 2)), plait.ones((2, 2)), dtype="i4")
