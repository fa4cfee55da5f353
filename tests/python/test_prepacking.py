"""Right operands of products that come by again are packed once: when, for how long, and with the same bits."""

import gc

import ml_dtypes
import numpy
import pytest

import plait as np
import plait

DTYPES = ["float32", "float64", "float16", "int8", "int16", ml_dtypes.bfloat16]
K, N = 700, 330  # deeper than a block, and no whole number of panels
ROWS = [1, 5, 40, 200, 333]
SEVERAL = ROWS[1:]  # of one row, the matrix is read where it lies


@pytest.fixture(autouse=True)
def limit():
    before = plait.config.packed_limit
    plan = plait.config.plan
    plait.config.packed_limit = 64 << 20
    plait.config.plan = "always"
    plait.trim()
    yield
    plait.config.packed_limit = before
    plait.config.plan = plan


def random(dtype, *shape, seed=0):
    r = numpy.random.default_rng(seed)
    values = r.integers(-9, 9, shape) if numpy.dtype(dtype).kind == "i" else r.standard_normal(shape)
    return np.array(values.astype(dtype))


def stats():
    gc.collect()
    s = plait.stats()
    return {name: s[name] for name in ("operands_kept", "operand_bytes", "operands_packed", "operands_found")}


def product(x, w):
    return numpy.array(x @ w)


def same(a, b):
    assert a.dtype == b.dtype and a.tobytes() == b.tobytes()


def used(x, w, times=3):
    """Multiplies until `w` is packed; returns the result and what the counters have gone up by."""
    before = stats()
    for _ in range(times):
        result = product(x, w)
    return result, {name: value - before[name] for name, value in stats().items()}


# A BLAS may take products of the others.
PACKED = ["float16", "int8", "int16", ml_dtypes.bfloat16]


@pytest.mark.parametrize("layout", ["C", "F", "part"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_bits_are_the_same_with_and_without(dtype, layout):
    w = random(dtype, K, N + 7)[:, 3 : N + 3] if layout == "part" else random(dtype, K, N)
    if layout == "F":
        w = random(dtype, N, K).T
    for rows in ROWS:
        x = random(dtype, rows, K, seed=rows)
        plait.config.packed_limit = 0
        expected = product(x, w)
        plait.config.packed_limit = 64 << 20
        for _ in range(4):
            same(product(x, w), expected)
    if dtype in PACKED:
        assert stats()["operands_kept"] == 1


@pytest.mark.parametrize("dtype", PACKED, ids=str)
def test_packed_when_seen_again_and_once_for_all_numbers_of_rows(dtype):
    w = random(dtype, K, N)
    x = random(dtype, 40, K)
    _, first = used(x, w, times=1)
    assert first["operands_packed"] == 0
    _, second = used(x, w, times=1)
    assert second["operands_packed"] == 1 and second["operand_bytes"] >= K * N * np.dtype(dtype).itemsize
    for rows in SEVERAL:
        x = random(dtype, rows, K)
        _, more = used(x, w, times=2)
        assert more == {"operands_kept": 0, "operand_bytes": 0, "operands_packed": 0, "operands_found": 2}


WRITES = {
    "an element": lambda w: w.__setitem__((3, 5), 4),
    "a row": lambda w: w.__setitem__(3, 2),
    "through a view": lambda w: w[5:].__setitem__((slice(None), 1), 3),
    "through a transposed view": lambda w: w.T[2:4].__setitem__(slice(None), 1),
    "in place": lambda w: w.__iadd__(w),
    "fill": lambda w: w.fill(3),
    "out": lambda w: np.add(w, w, out=w),
    "by NumPy": lambda w: memoryview_write(w),
    "put": lambda w: np.put(w, [0, 7], [1, 2]),
    "mask": lambda w: w.__setitem__(w > 0, 1),
}


def memoryview_write(w):
    numpy.asarray(w)[2, 3] = 5


@pytest.mark.parametrize("plan", ["auto", "always"])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_contents_that_change(write, plan):
    plait.config.plan = plan
    w = random("int16", K, N)
    x = random("int16", 40, K)
    for _ in range(3):
        used(x, w)
        write(w)
        plait.config.packed_limit = 0
        expected = product(x, np.array(w))
        plait.config.packed_limit = 64 << 20
        for _ in range(3):
            same(product(x, w), expected)


def test_memory_that_others_may_write_to_is_packed_each_time():
    x = random("int16", 40, K)
    lent = numpy.array(random("int16", K, N))
    w = np.frombuffer(lent, "int16").reshape(K, N)
    assert numpy.shares_memory(numpy.asarray(w), lent)
    own = random("int16", K, N)
    seen = numpy.asarray(own)  # and looks on
    for a, outside in [(w, lent), (own, seen)]:
        for i in range(4):
            outside[3, 4] = i
            same(product(x, a), product(x, np.array(outside)))
            same(product(x, a.T[:, :K].T), product(x, np.array(outside)))


def test_a_view_that_looks_on_between():
    w = random("int16", K, N)
    x = random("int16", 40, K)
    used(x, w)
    assert stats()["operands_kept"] == 1
    with memoryview(w) as m:
        assert stats()["operands_kept"] == 0
        for i in range(3):
            m[0, 0] = i
            same(product(x, w), product(x, np.array(w)))
        assert stats()["operands_kept"] == 0
    used(x, w)
    assert stats()["operands_kept"] == 1


def test_two_views_have_panels_each_and_go_with_the_array():
    w = random("int16", K, N)
    used(random("int16", 40, K), w)
    used(random("int16", 40, N), w.T)
    assert stats()["operands_kept"] == 2
    w = None
    assert (stats()["operands_kept"], stats()["operand_bytes"]) == (0, 0)


def test_a_view_outlives_the_array():
    w = random("int16", K, N)
    t = w.T
    x = random("int16", 40, N)
    expected, _ = used(x, t)
    w = None
    same(product(x, t), expected)
    assert stats()["operands_kept"] == 1
    t = None
    assert stats()["operands_kept"] == 0


def test_trim():
    w = random("int16", K, N)
    expected, _ = used(random("int16", 40, K), w)
    bytes_kept = stats()["operand_bytes"]
    assert bytes_kept > 0 and plait.trim() >= bytes_kept
    assert stats()["operand_bytes"] == 0
    same(used(random("int16", 40, K), w)[0], expected)


def test_bound():
    x = random("int16", 40, K)
    ws = [random("int16", K, N, seed=i) for i in range(4)]
    used(x, ws[0])
    each = stats()["operand_bytes"]
    limit = 2 * each + each // 2
    plait.config.packed_limit = limit
    expected = [product(x, np.array(w)) for w in ws]
    # In turns, those that have room stay: each round finds them.
    for turn in range(5):
        before = stats()["operands_found"]
        for w, e in zip(ws, expected, strict=True):
            same(product(x, w), e)
            assert stats()["operand_bytes"] <= limit
        if turn > 2:
            assert stats()["operands_found"] - before == 2
    # What is read no more makes room.
    for _ in range(3):
        same(product(x, ws[3]), expected[3])
    before = stats()["operands_found"]
    product(x, ws[3])
    assert stats()["operands_found"] == before + 1
    plait.config.packed_limit = 0
    assert stats()["operand_bytes"] == 0


def test_explain():
    w = random("int16", K, N)
    x = random("int16", 40, K)
    kept = f"packed operand kept: w: int16({K}, {N}), "
    text = plait.explain(x @ w)
    assert kept not in text
    used(x, w)
    text = plait.explain(x @ w)
    assert kept in text


def test_products_in_jitted_functions():
    @plait.jit
    def layer(x, w):
        return x @ w

    w = random("int16", K, N)
    x = random("int16", 40, K)
    expected = product(x, w)
    for _ in range(5):
        same(numpy.array(layer(x, w)), expected)
    assert stats()["operands_kept"] == 1
    w[3, 4] += 1
    expected = product(x, np.array(w))
    for _ in range(3):
        same(numpy.array(layer(x, w)), expected)
