"""The programs that benchmarks/loops.py measures, those of which smaller ones can be made: they do what they are for, and their machine code does what
Python's loops do."""

import copy
import heapq
import pathlib
import sys

import numpy as np
import pytest
from loop_checks import check

import plait

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
from loop_programs import PROGRAMS

sys.path.pop(0)

SMALL = {
    "sparse triangular": 40,
    "spanning tree": 30,
    "dijkstra heap": 30,
    "dijkstra arrays": 30,
    "radix sort": 300,
    "hash counts": 200,
    "nearest neighbours": 5,
    "global alignment": 70,
    "markov forward": 6,
    "forest fire": 2,
    "component labels": 20,
    "marching squares": 16,
    "bilateral filter": 9,
    "median filter": 9,
    "dithering": 12,
    "dictionary matches": 300,
    "red and black": 12,
    "pivoted solve": 12,
    "householder": 12,
    "jacobi rotations": 6,
    "runge kutta": 1,
    "cell list": 60,
    "binomial option": 20,
    "order book": 300,
    "subsequence": 100,
    "prefix matches": 200,
    "convex hull": 60,
    "mesh relaxation": 7,
    "logistic descent": 40,
    "peaks": 150,
}


ROUNDED = {"householder", "logistic descent"}  # dots are added in another order than NumPy's


def check_program(name):
    if name not in ROUNDED:
        return check(*made(name))
    f, args = made(name)
    expected, jitted = f(*copy.deepcopy(args)), plait.jit(f)
    for _ in range(3):
        for a, b in zip(expected, jitted(*copy.deepcopy(args))):
            assert type(a) is type(b) and np.allclose(a, b, rtol=1e-10)


def made(name):
    f, args = PROGRAMS[name]
    return f, args(SMALL[name])


def result(name):
    """The arguments as they were, and what Python's loops make of them."""
    f, args = made(name)
    given = made(name)[1]
    return args, f(*given)


@pytest.mark.parametrize("name", SMALL)
def test_programs_in_machine_code(name, at_once):
    check_program(name)


@pytest.mark.parametrize("name", SMALL)
def test_programs_that_go_over_later(name, from_look):
    from_look(5)
    check_program(name)


def test_every_program_with_a_size_is_tested():
    assert {name for name, (_, args) in PROGRAMS.items() if args.__defaults__} == set(SMALL)


def dense(rows, columns, values, missing):
    matrix = np.full((len(rows) - 1, len(rows) - 1), missing)
    for i in range(len(rows) - 1):
        for k in range(rows[i], rows[i + 1]):
            matrix[i, columns[k]] = min(values[k], matrix[i, columns[k]]) if missing else values[k]
    return matrix


def test_sparse_triangular():
    (rows, columns, values, b), x = result("sparse triangular")
    assert np.allclose(dense(rows, columns, values, 0.0) @ x, b)


def test_spanning_tree():
    (n, tails, heads, weights), (total, taken) = result("spanning tree")
    best, reached, heap = 0.0, {0}, []
    v = 0
    while len(reached) < n:  # Prim's, on the edges of both directions
        for e in range(len(tails)):
            if v in (tails[e], heads[e]):
                heapq.heappush(heap, (weights[e], tails[e] + heads[e] - v))
        while v in reached:
            length, v = heapq.heappop(heap)
        best += length
        reached.add(v)
    assert len(taken) == n - 1 and np.isclose(total, best)


@pytest.mark.parametrize("name", ["dijkstra heap", "dijkstra arrays"])
def test_shortest_paths(name):
    (rows, columns, lengths, source), distance = result(name)
    d = dense(rows, columns, lengths, np.inf)
    np.fill_diagonal(d, 0.0)
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[k])
    assert np.allclose(d[source], distance)


def test_radix_sort():
    (keys,), x = result("radix sort")
    assert x.dtype == np.uint32 and (x == np.sort(keys)).all()


def test_hash_counts():
    (keys, _), (distinct, table, counts) = result("hash counts")
    found, times = np.unique(keys, return_counts=True)
    assert distinct == len(found) and dict(zip(table[table >= 0], counts[table >= 0])) == dict(zip(found, times))


def test_nearest_neighbours():
    (tree, queries), (nearest, distances) = result("nearest neighbours")
    d = np.sqrt(((tree - queries[:, None]) ** 2).sum(-1))
    assert (nearest == d.argmin(1)).all() and np.allclose(distances, d.min(1))


def test_global_alignment():
    (a, b, match, mismatch, gap), (score, pairs) = result("global alignment")
    assert [i for i, _ in pairs if i >= 0] == list(range(len(a))) and [j for _, j in pairs if j >= 0] == list(range(len(b)))
    assert score == sum(gap if min(i, j) < 0 else match if a[i] == b[j] else mismatch for i, j in pairs)
    best = np.arange(len(b) + 1) * gap
    for i in range(len(a)):
        row = [best[0] + gap]
        for j in range(len(b)):
            row.append(max(best[j] + (match if a[i] == b[j] else mismatch), best[j + 1] + gap, row[-1] + gap))
        best = row
    assert score == best[-1]


def test_markov_forward():
    (start, step, emit), (total, forward) = result("markov forward")
    p = np.exp(start) * np.exp(emit[0])
    for t in range(1, len(emit)):
        p = (p @ np.exp(step)) * np.exp(emit[t])
    assert np.allclose(np.exp(forward[-1]), p) and np.isclose(np.exp(total), p.sum())


def test_forest_fire():
    (grid, draws, grow, lightning), (after, burnt) = result("forest fire")
    for t in range(len(draws)):
        fire = np.pad(grid == 2, 1)
        near = fire[:-2, 1:-1] | fire[2:, 1:-1] | fire[1:-1, :-2] | fire[1:-1, 2:]
        assert burnt[t] == (grid == 2).sum()
        grid = np.where(grid == 1, np.where(near | (draws[t] < lightning), 2, 1), np.where(grid == 0, draws[t] < grow, 0))
    assert (after == grid).all()


def test_component_labels():
    (image,), (labels, count, through) = result("component labels")
    assert ((labels > 0) == image).all() and set(np.unique(labels)) - {0} == set(range(1, count + 1))
    for a, b in ((labels[1:], labels[:-1]), (labels[:, 1:], labels[:, :-1])):
        assert (a == b)[(a > 0) & (b > 0)].all()
    spans = (set(labels[0]) & set(labels[-1])) - {0}
    assert through in spans if spans else through == -1


def test_marching_squares():
    (z, level), segments = result("marching squares")
    for y, x in (end for segment in segments for end in segment):
        i, j = int(min(y, z.shape[0] - 2)), int(min(x, z.shape[1] - 2))
        v, u = y - i, x - j
        assert np.isclose((1 - v) * ((1 - u) * z[i, j] + u * z[i, j + 1]) + v * ((1 - u) * z[i + 1, j] + u * z[i + 1, j + 1]), level)
    over = z > level
    assert len({end for s in segments for end in s}) == (over[1:] != over[:-1]).sum() + (over[:, 1:] != over[:, :-1]).sum()


def test_bilateral_filter():
    (image, radius, space, value), out = result("bilateral filter")
    y, x = np.mgrid[: len(image), : len(image)]
    for i, j in np.ndindex(image.shape):
        w = np.exp(-((y - i) ** 2 + (x - j) ** 2) / (2 * space**2) - (image - image[i, j]) ** 2 / (2 * value**2))
        w *= (abs(y - i) <= radius) & (abs(x - j) <= radius)
        assert np.isclose(out[i, j], (w * image).sum() / w.sum())


def test_median_filter():
    (image,), out = result("median filter")
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3))
    assert (out[1:-1, 1:-1] == np.median(windows, axis=(2, 3))).all() and (out[0] == image[0]).all()


def test_dithering():
    (image,), out = result("dithering")
    assert set(np.unique(out)) <= {0, 255} and abs(out.mean() - image.mean()) < 12.0


def test_dictionary_matches():
    (data, window, least), tokens = result("dictionary matches")
    text = []
    for distance, v in tokens:
        if distance == 0:
            text.append(v)
        else:
            assert least <= v and distance <= window
            for _ in range(v):
                text.append(text[-distance])
    assert text == list(data) and len(tokens) < 0.8 * len(data)


def test_red_and_black():
    (u, f, omega, _, _), (sweeps, found) = result("red and black")
    h2 = 1.0 / (len(u) - 1) ** 2
    residual = found[:-2, 1:-1] + found[2:, 1:-1] + found[1:-1, :-2] + found[1:-1, 2:] - 4 * found[1:-1, 1:-1] - h2 * f[1:-1, 1:-1]
    assert sweeps > 1 and abs(residual).max() < 1e-2 * abs(h2 * f).max() and omega == 1.8


def test_pivoted_solve():
    (a, b), x = result("pivoted solve")
    assert np.allclose(a @ x, b)


def test_householder():
    (a,), (q, r) = result("householder")
    assert np.allclose(q @ r, a) and np.allclose(q.T @ q, np.eye(len(a))) and np.allclose(np.tril(r, -1), 0.0)


def test_jacobi_rotations():
    (a, _, _), (values, vectors) = result("jacobi rotations")
    assert np.allclose(np.sort(values), np.linalg.eigvalsh(a)) and np.allclose(a @ vectors, vectors * values)


def test_runge_kutta():
    (y, end, _, mu), (taken, _, found) = result("runge kutta")
    steps = 20_000
    for _ in range(steps):  # the midpoint rule
        half = y + 0.5 * end / steps * np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])
        y = y + end / steps * np.array([half[1], mu * (1 - half[0] ** 2) * half[1] - half[0]])
    assert taken > 5 and np.allclose(found, y, rtol=1e-4)


def test_cell_list():
    (x, box, cutoff), (energy, forces) = result("cell list")
    r = x[:, None] - x
    r -= box * np.round(r / box)
    d2 = (r**2).sum(-1)
    near = (d2 > 0) & (d2 < cutoff**2)
    sixth = np.where(near, 1 / np.where(near, d2, 1.0) ** 3, 0.0)
    assert np.isclose(energy, 2.0 * (sixth * (sixth - 1)).sum())
    assert np.allclose(forces, ((24 * sixth * (2 * sixth - 1) / np.where(near, d2, 1.0))[..., None] * r).sum(1))


def test_binomial_option():
    (spot, strikes, rate, sigma, years, steps), prices = result("binomial option")
    up, grow = np.exp(sigma * np.sqrt(years / steps)), np.exp(rate * years / steps)
    p = (grow - 1 / up) / (up - 1 / up)
    for strike, price in zip(strikes, prices):
        values = np.maximum(strike - spot * up ** (2.0 * np.arange(steps + 1) - steps), 0.0)
        for i in range(steps, 0, -1):
            values = np.maximum((p * values[1:] + (1 - p) * values[:-1]) / grow, strike - spot * up ** (2.0 * np.arange(i) - i + 1))
        assert np.isclose(price, values[0])


def test_order_book():
    (sides, prices, sizes), (filled, volume, turnover) = result("order book")
    left, traded = sizes.copy(), 0
    for k in range(len(sides)):
        while left[k]:  # the best price first, then the oldest
            others = [(sides[k] * prices[j], j) for j in range(k) if left[j] and sides[j] != sides[k] and sides[k] * (prices[k] - prices[j]) >= 0]
            if not others:
                break
            other = min(others)[1]
            size = min(left[k], left[other])
            left[k] -= size
            left[other] -= size
            traded += size * prices[other]
    assert (filled == sizes - left).all() and volume == filled.sum() // 2 and turnover == traded


def test_subsequence():
    (x,), places = result("subsequence")
    assert (np.diff(places) > 0).all() and (np.diff(x[places]) > 0).all()
    longest = np.ones(len(x), int)
    for i in range(len(x)):
        longest[i] += max(longest[:i][x[:i] < x[i]], default=0)
    assert len(places) == longest.max()


def test_prefix_matches():
    (text, pattern), found = result("prefix matches")
    m = len(pattern)
    assert found == [i for i in range(len(text) - m + 1) if (text[i : i + m] == pattern).all()]


def test_convex_hull():
    (points,), hull = result("convex hull")
    corners = points[hull]
    edges = np.roll(corners, -1, axis=0) - corners
    away = points[:, None] - corners
    side = edges[:, 0] * away[..., 1] - edges[:, 1] * away[..., 0]
    assert (side >= -1e-12).all() and len(set(hull)) == len(hull)


def test_mesh_relaxation():
    (rows, columns, values, boundary, _, _), (_, found) = result("mesh relaxation")
    linked = dense(rows, columns, np.ones(len(columns)), 0.0)
    a = np.where(boundary[:, None], np.eye(len(linked)), np.eye(len(linked)) - linked / linked.sum(1, keepdims=True))
    assert np.allclose(np.linalg.solve(a, np.where(boundary, values, 0.0)), found, atol=1e-6)


def test_logistic_descent():
    (x, y, order, _, _), (weights, bias, losses) = result("logistic descent")
    assert losses[-1] < losses[0] and ((x @ weights + bias > 0) == y).mean() > 0.8 and order.shape == (len(losses), len(y))


def test_peaks():
    (x, least), (peaks, prominences) = result("peaks")
    for peak, prominence in zip(peaks, prominences):
        lows = []
        for side in (x[peak::-1], x[peak:]):
            higher = np.flatnonzero(side > x[peak])
            lows.append(side[: higher[0] if len(higher) else None].min())
        assert np.isclose(prominence, x[peak] - max(lows)) and prominence >= least
    assert len(peaks) > 3
