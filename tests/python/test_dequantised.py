"""Products with weights of low precision, whose float32 values are computed where the product packs them."""

import numpy
import pytest

import plait

f4 = numpy.float32


def columns(np, x, q, k, n, g, r):
    return x @ (q.astype(f4) * r(n))


def rows(np, x, q, k, n, g, r):
    return x @ (q.astype(f4) * r(k, 1))


def zero_points(np, x, q, k, n, g, r):
    return x @ ((q.astype(f4) - r(n)) * r(n))


def groups(np, x, q, k, n, g, r):
    return x @ (q.reshape(k // g, g, n).astype(f4) * r(k // g, n)[:, None, :]).reshape(k, n)


def groups_of_ones(np, x, q, k, n, g, r):
    return x @ (q.reshape(k, 1, n).astype(f4) * r(k, n)[:, None, :]).reshape(k, n)


def groups_with_zero_points(np, x, q, k, n, g, r):
    w = (q.reshape(k // g, g, n).astype(f4) - r(k // g, n)[:, None, :]) * r(k // g, n)[:, None, :]
    return x @ w.reshape(k, n)


def transposed(np, x, q, k, n, g, r):
    return x @ (q.reshape(n, k).astype(f4) * r(n)[:, None]).T


def transposed_groups(np, x, q, k, n, g, r):
    return x @ (q.reshape(n, k // g, g).astype(f4) * r(n, k // g)[..., None]).reshape(n, k).T


def read_after(np, x, q, k, n, g, r):
    y = x @ (q.astype(f4) * r(n)) + r(n)
    return np.tanh(y)


def halves(np, x, q, k, n, g, r):
    w = q[: k // 2].view(numpy.uint8)
    return x @ ((np.concatenate([w & 15, w >> 4]).astype(f4) - 8) * r(n))


def nibbles(np, x, q, k, n, g, r):
    w = q[: k // 2].view(numpy.uint8)
    return x @ ((np.stack([w & 15, w >> 4], 1).reshape(k, n).astype(f4) - r(n)) * r(n))


def nibbles_in_groups(np, x, q, k, n, g, r):
    w = q[: k // 2].view(numpy.uint8)
    both = np.stack([w & 15, w >> 4], 1).reshape(k, n).astype(f4) - f4(8)
    return x @ (both.reshape(k // g, g, n) * r(k // g, n)[:, None, :]).reshape(k, n)


def nibbles_across(np, x, q, k, n, g, r):
    w = q.reshape(-1)[: k * n // 2].view(numpy.uint8).reshape(k, n // 2)
    return x @ ((np.stack([w & 15, w >> 4], -1).reshape(k, n).astype(f4) - 8) * r(n))


def nibbles_transposed(np, x, q, k, n, g, r):
    w = q.reshape(-1)[: k * n // 2].view(numpy.uint8).reshape(n, k // 2)
    return x @ ((np.stack([w & 15, w >> 4], -1).reshape(n, k).astype(f4) - 8) * r(n)[:, None]).T


SPELLINGS = [
    columns, rows, zero_points, groups, groups_of_ones, groups_with_zero_points, transposed, transposed_groups, read_after, halves, nibbles,
    nibbles_in_groups, nibbles_across, nibbles_transposed,
]  # fmt: skip


def arguments(m, k, n):
    """Random ones: what a spelling asks for, in the order in which it does, are the same for NumPy and for Plait."""
    rng = numpy.random.default_rng(m + k + n)
    x = rng.standard_normal((m, k), dtype=f4)
    q = rng.integers(-128, 128, (k, n), dtype=numpy.int8)

    def numbers(np):
        own = numpy.random.default_rng(7)
        return lambda *shape: np.asarray(own.random(shape, dtype=f4) + f4(0.1))

    return x, q, numbers


def run(f, m, k, n, g):
    x, q, numbers = arguments(m, k, n)
    y = f(plait, plait.asarray(x), plait.asarray(q), k, n, g, numbers(plait))
    plait.evaluate(y)
    return numpy.asarray(y)


@pytest.fixture
def config():
    before = {k: getattr(plait.config, k) for k in ("plan", "eager_limit", "jit", "threads")}
    plait.config.plan, plait.config.eager_limit = "always", 0
    yield plait.config
    for k, v in before.items():
        setattr(plait.config, k, v)


@pytest.mark.parametrize("m, k, n", [(1, 1920, 1032), (2, 1056, 4100), (3, 576, 1100), (7, 800, 602), (9, 576, 1100), (64, 768, 514), (300, 1056, 130)])
@pytest.mark.parametrize("f", SPELLINGS, ids=lambda f: f.__name__)
def test_values(config, f, m, k, n):
    g = 96 if k % 96 == 0 else 32  # blocks of sums begin within groups
    x, q, numbers = arguments(m, k, n)
    wide = f(numpy, x.astype(float), q, k, n, g, numbers(numpy))
    terms = numpy.abs(x).max() * 300 * k
    got = []
    for tier in ("off", "blocking"):
        config.jit = tier
        got.append(run(f, m, k, n, g))
    assert got[0].tobytes() == got[1].tobytes()
    numpy.testing.assert_allclose(got[0], wide, rtol=1e-4, atol=terms * 2e-7)
    config.threads = 1
    assert run(f, m, k, n, g).tobytes() == got[0].tobytes()


@pytest.mark.parametrize("m", [1, 64])
@pytest.mark.parametrize("f", SPELLINGS, ids=lambda f: f.__name__)
def test_no_weights_in_memory(config, f, m, k=2048, n=2048, g=64):
    x, q, numbers = arguments(m, k, n)
    a, b, of = plait.asarray(x), plait.asarray(q), numbers(plait)
    made = []
    f(plait, a, b, k, n, g, lambda *shape: made.append(of(*shape)) or made[-1])
    plait.evaluate(a, b, *made)
    text = str(plait.explain(lambda: plait.evaluate(f(plait, a, b, k, n, g, lambda *shape, i=iter(made): next(i)))))
    assert text.startswith("1 region"), text


@pytest.mark.parametrize("m", [1, 64])
def test_folds_of_rows_leave_columns_to_the_team(config, m, k=2048, n=2048):
    x, q, numbers = arguments(m, k, n)
    a, b, s = plait.asarray(x), plait.asarray(q), numbers(plait)(n)
    plait.evaluate(a, b, s)

    def share(np, x, q, s):
        y = x @ (q.astype(f4) * s)
        return y / (y * y).sum(1, keepdims=True)

    numpy.testing.assert_allclose(numpy.asarray(share(plait, a, b, s)), share(numpy, x, q, numpy.asarray(s)), rtol=1e-3, atol=1e-6)
    text = str(plait.explain(lambda: plait.evaluate(share(plait, a, b, s))))
    assert "region 2" in text and "float32(2048, 2048), 16" not in text, text
    assert float(text.split(";")[1].split()[0]) < 8, text  # MiB


@pytest.mark.parametrize("k, n", [(768, 768), (3072, 768), (768, 50257)])
def test_one_row_shares_columns_and_prefetches_weights(config, k, n):
    x, q, numbers = arguments(1, k, n)
    a, b, s = plait.asarray(x), plait.asarray(q), numbers(plait)(n)
    plait.evaluate(a, b, s)
    text = str(plait.explain(lambda: plait.evaluate(columns(plait, a, b, k, n, 0, lambda *shape: s))))
    assert text.startswith("1 region"), text
    loop = next(line for line in text.splitlines() if "fma" in line)
    assert "prefetch" in loop and "cast" in loop, text
    block = next(line for line in text.splitlines() if "a block of rows and columns" in line)
    size, unit = block.split(", ", 2)[2].split(":")[0].split()
    size = float(size) * {"B": 1, "KiB": 1024}[unit]
    assert size <= 4.2 * 1024 and size < n * 4 / 5, text  # several blocks of columns


@pytest.mark.parametrize("m", range(1, 10))
@pytest.mark.parametrize("f", [columns, zero_points, groups_with_zero_points, nibbles, halves], ids=lambda f: f.__name__)
def test_few_rows_are_summed_as_by_weights_in_memory(config, f, m, k=1056, n=1100, g=96):
    x, q, numbers = arguments(m, k, n)
    weights = f(numpy, numpy.eye(k, dtype=f4), q, k, n, g, numbers(numpy))
    config.jit = "blocking"
    got = run(f, m, k, n, g)
    # Of one row the product of two arrays may be BLAS's: the first of two has the same sums.
    both = plait.asarray(numpy.concatenate([x, x])) @ plait.asarray(weights)
    assert numpy.array_equal(got, numpy.asarray(both)[:m])


@pytest.mark.parametrize("m, k, n", [(1, 1027, 1025), (4, 770, 515), (8, 1028, 900), (5, 518, 2051)])
@pytest.mark.parametrize("f", [columns, rows, zero_points, read_after], ids=lambda f: f.__name__)
def test_few_rows_of_any_depth(config, f, m, k, n):
    x, q, numbers = arguments(m, k, n)
    wide = f(numpy, x.astype(float), q, k, n, 1, numbers(numpy))
    got = []
    for config.jit in ("off", "blocking"):
        got.append(run(f, m, k, n, 1))
    assert got[0].tobytes() == got[1].tobytes()
    numpy.testing.assert_allclose(got[0], wide, rtol=1e-4, atol=numpy.abs(x).max() * 300 * k * 2e-7)
