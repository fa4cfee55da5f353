"""Dynamic programming, graphs, games."""
import numpy

from . import normal, program

np = numpy


@program(lambda rng: (rng.uniform(1, 100, size=(150, 150)),))
def floyd_warshall(D):
    D = D.copy()
    for k in range(len(D)):
        D = np.minimum(D, D[:, k:k + 1] + D[k])
    return D


@program(lambda rng: (rng.uniform(1, 100, size=(150, 150)),))
def floyd_warshall_in_place(D):
    D = D.copy()
    for k in range(len(D)):
        np.minimum(D, D[:, k, None] + D[None, k, :], out=D)
    return D


@program(lambda rng: (rng.integers(0, 4, 3000), rng.integers(0, 4, 400)))
def edit_distance_by_rows(a, b):
    steps = np.arange(len(a) + 1)
    row = steps.copy()
    for ch in b.tolist():
        change = np.minimum(row[1:] + 1, row[:-1] + (a != ch))
        new = np.empty(len(row), dtype=row.dtype)
        new[0] = row[0] + 1
        new[1:] = change
        row = np.minimum.accumulate(new - steps) + steps
    return row


@program(lambda rng: (rng.random((60, 60)), rng.random(60)))
def value_iteration(P, r):
    P = P / P.sum(axis=1, keepdims=True)
    v = np.zeros(60)
    for _ in range(600):
        v = np.maximum(r + 0.9 * (P @ v), v * 0.5)
    return v


@program(lambda rng: (rng.integers(1, 100, 200), rng.random(200)))
def knapsack(weights, values):
    best = np.zeros(2001)
    for w, v in zip(weights.tolist(), values.tolist()):
        taken = best[:-w] + v
        after = best.copy()
        after[w:] = np.maximum(best[w:], taken)
        best = after
    return best


@program(lambda rng: (rng.random((40, 40)), rng.random((300, 40))))
def viterbi(transition, emission):
    score = emission[0]
    back = []
    for e in emission[1:]:
        ways = score[:, None] + transition
        back.append(ways.argmax(axis=0))
        score = ways.max(axis=0) + e
    return score


@program(lambda rng: (rng.integers(0, 4, 300), rng.integers(0, 4, 300)))
def common_subsequence_by_diagonals(a, b):
    n, m = len(a), len(b)
    before, now = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    for d in range(2, n + m + 1):
        i = np.arange(max(1, d - m), min(n, d - 1) + 1)
        after = np.zeros(n + 1, dtype=np.int64)
        after[i] = np.where(a[i - 1] == b[d - i - 1], before[i - 1] + 1, np.maximum(now[i - 1], now[i]))
        before, now = now, after
    return now


@program(lambda rng: (rng.random((60, 60)) < 0.7,))
def maze_by_flooding(free):
    steps = np.full(free.shape, -1)
    front = np.zeros(free.shape, dtype=bool)
    front[30, 30] = True
    n = 0
    while front.any():
        steps[front] = n
        n += 1
        near = np.zeros_like(front)
        near[1:] |= front[:-1]
        near[:-1] |= front[1:]
        near[:, 1:] |= front[:, :-1]
        near[:, :-1] |= front[:, 1:]
        front = near & free & (steps < 0)
    return steps


@program(lambda rng: (np.array(300_000),))
def prime_sieve(limit):
    n = int(limit)
    sieve = np.ones(n, dtype=bool)
    sieve[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if sieve[i]:
            sieve[i * i::i] = False
    return np.flatnonzero(sieve)


@program(lambda rng: (rng.integers(1, 100_000, 3000),))
def collatz_lengths(n):
    n = n.copy()
    length = np.zeros(len(n), dtype=np.int64)
    alive = n > 1
    while alive.any():
        m = n[alive]
        n[alive] = np.where(m % 2 == 0, m // 2, 3 * m + 1)
        length[alive] += 1
        alive = n > 1
    return length


@program(lambda rng: (rng.integers(0, 3, (300, 6, 7)).astype("i1"),))
def four_in_a_row(boards):
    won = []
    for player in (1, 2):
        b = boards == player
        across = (b[:, :, :-3] & b[:, :, 1:-2] & b[:, :, 2:-1] & b[:, :, 3:]).any(axis=(1, 2))
        down = (b[:, :-3] & b[:, 1:-2] & b[:, 2:-1] & b[:, 3:]).any(axis=(1, 2))
        slope = (b[:, :-3, :-3] & b[:, 1:-2, 1:-2] & b[:, 2:-1, 2:-1] & b[:, 3:, 3:]).any(axis=(1, 2))
        won.append(across | down | slope)
    return np.stack(won).sum(axis=1)


@program(lambda rng: (rng.random((300, 300)) < 0.02,))
def page_rank(links):
    out = links.sum(axis=0)
    m = np.where(out > 0, links / np.maximum(out, 1), 1 / len(links))
    rank = np.full(len(links), 1 / len(links))
    while True:
        after = 0.15 / len(links) + 0.85 * (m @ rank)
        if np.abs(after - rank).sum() < 1e-10:
            return after
        rank = after


@program(lambda rng: (rng.integers(1, 30, 60),))
def coin_change_of_scalars(coins):
    ways = np.zeros(400, dtype=np.int64)
    ways[0] = 1
    for c in coins[:8]:
        for v in range(int(c), len(ways)):
            ways[v] += ways[v - int(c)]
    return ways
