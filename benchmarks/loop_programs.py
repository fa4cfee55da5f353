"""Programs that are Python loops over numbers and elements of arrays, as NumPy's users write them. PROGRAMS: name -> (function, arguments of a
size that Python takes some seconds at most for)."""

import math

import numpy as np


def cholesky(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[j, :j]) / a[j, j]
        a[i, i] = math.sqrt(a[i, i] - a[i, :i] @ a[i, :i])
    return a


def lu(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def triangular_solve(a, b):
    x = b.copy()
    for i in range(len(b)):
        for j in range(i):
            x[i] -= a[i, j] * x[j]
        x[i] /= a[i, i]
    return x


def trmm(alpha, a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += a[i + 1 :, i] @ b[i + 1 :, j]
            b[i, j] *= alpha
    return b


def syrk(alpha, beta, c, a):
    for i in range(a.shape[0]):
        for j in range(i + 1):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += alpha * a[i, k] * a[j, k]
    return c


def floyd_warshall(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


def seidel(steps, a):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (
                    a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
                ) / 9.0
    return a


def jacobi(steps, a, b):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j])
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i - 1, j] + b[i + 1, j])
    return a


def nussinov(n, seq):
    table = np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + (1 if seq[i] + seq[j] == 3 else 0))
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


def edit_distance(a, b):
    row = np.arange(len(b) + 1)
    for i in range(len(a)):
        last = row[0]
        row[0] = i + 1
        for j in range(len(b)):
            here = row[j + 1]
            cost = last if a[i] == b[j] else 1 + min(last, here, row[j])
            row[j + 1] = cost
            last = here
    return row[-1]


def longest_common(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1, j + 1] = table[i, j] + 1
            else:
                table[i + 1, j + 1] = max(table[i, j + 1], table[i + 1, j])
    return table[-1, -1]


def knapsack(values, weights, most):
    best = np.zeros(most + 1, np.int64)
    for i in range(len(values)):
        for w in range(most, weights[i] - 1, -1):
            best[w] = max(best[w], best[w - weights[i]] + values[i])
    return best


def viterbi(start, step, emit, seen):
    n, states = len(seen), len(start)
    score = np.empty((n, states))
    back = np.zeros((n, states), np.int64)
    for s in range(states):
        score[0, s] = start[s] + emit[s, seen[0]]
    for t in range(1, n):
        for s in range(states):
            best, at = score[t - 1, 0] + step[0, s], 0
            for r in range(1, states):
                x = score[t - 1, r] + step[r, s]
                if x > best:
                    best, at = x, r
            score[t, s] = best + emit[s, seen[t]]
            back[t, s] = at
    return score, back


def crc16(data, poly):
    crc = 0xFFFF
    for b in range(len(data)):
        cur = 0xFF & int(data[b])
        for _ in range(8):
            if (crc & 1) ^ (cur & 1):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            cur >>= 1
    return ~crc & 0xFFFF


def collatz(limit):
    best, length = 0, 0
    for n in range(1, limit):
        m, k = n, 0
        while m != 1:
            m = m // 2 if m % 2 == 0 else 3 * m + 1
            k += 1
        if k > length:
            best, length = n, k
    return best, length


def mandelbrot(w, h, top):
    out = np.zeros((h, w), dtype=np.int64)
    for y in range(h):
        for x in range(w):
            cr, ci = 3.0 * x / w - 2.0, 2.0 * y / h - 1.0
            zr = zi = 0.0
            for k in range(top):
                if zr * zr + zi * zi > 4.0:
                    break
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
            else:
                k = top
            out[y, x] = k
    return out


def sieve(n):
    p = np.ones(n, np.bool_)
    p[0] = p[1] = False
    i = 2
    while i * i < n:
        if p[i]:
            for j in range(i * i, n, i):
                p[j] = False
        i += 1
    return p


def queens(n):
    columns = np.zeros(n, np.int64)
    row = count = 0
    columns[0] = -1
    while row >= 0:
        columns[row] += 1
        if columns[row] >= n:
            row -= 1
            continue
        free = True
        for r in range(row):
            d = columns[row] - columns[r]
            if d == 0 or d == row - r or d == r - row:
                free = False
                break
        if free:
            if row == n - 1:
                count += 1
            else:
                row += 1
                columns[row] = -1
    return count


def sparse_product(rows, columns, values, x):
    y = np.empty(rows.size - 1, values.dtype)
    for i in range(rows.size - 1):
        s = 0.0
        for k in range(rows[i], rows[i + 1]):
            s += values[k] * x[columns[k]]
        y[i] = s
    return y


def insertion_sort(x):
    for i in range(1, len(x)):
        v, j = x[i], i - 1
        while j >= 0 and x[j] > v:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = v
    return x


def bitonic_sort(x):
    n = len(x)
    k = 2
    while k <= n:
        j = k // 2
        while j > 0:
            for i in range(n):
                m = i ^ j
                if m > i:
                    if (i & k == 0 and x[i] > x[m]) or (i & k != 0 and x[i] < x[m]):
                        x[i], x[m] = x[m], x[i]
            j //= 2
        k *= 2
    return x


def gravity(p, v, m, steps):
    n = len(m)
    for _ in range(steps):
        for i in range(n):
            ax = ay = az = 0.0
            for j in range(n):
                dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
                d = dx * dx + dy * dy + dz * dz + 0.01
                f = m[j] / (d * math.sqrt(d))
                ax += f * dx
                ay += f * dy
                az += f * dz
            v[i, 0] += 0.01 * ax
            v[i, 1] += 0.01 * ay
            v[i, 2] += 0.01 * az
        for i in range(n):
            for c in range(3):
                p[i, c] += 0.01 * v[i, c]
    return p


def ising(spins, draws, beta):
    n, m = spins.shape
    for t in range(draws.shape[0]):
        for i in range(n):
            for j in range(m):
                e = spins[i - 1, j] + spins[i, j - 1] + spins[(i + 1) % n, j] + spins[i, (j + 1) % m]
                if draws[t, i, j] < math.exp(-2.0 * beta * spins[i, j] * e):
                    spins[i, j] = -spins[i, j]
    return spins


def percolation(open_, parents):
    n, m = open_.shape
    joined = 0
    for i in range(n):
        for j in range(m):
            if not open_[i, j]:
                continue
            for d in range(2):
                ni, nj = i - (d == 0), j - (d == 1)
                if ni < 0 or nj < 0 or not open_[ni, nj]:
                    continue
                a, b = i * m + j, ni * m + nj
                while parents[a] != a:
                    a = parents[a]
                while parents[b] != b:
                    parents[b] = parents[parents[b]]
                    b = parents[b]
                if a != b:
                    parents[a] = b
                    joined += 1
    return joined


def kalman(z, q, r):
    x, p = 0.0, 1.0
    out = np.empty(len(z))
    for t in range(len(z)):
        p += q
        k = p / (p + r)
        x += k * (z[t] - x)
        p *= 1.0 - k
        out[t] = x
    return out


def deposition(x, w, cells):
    rho = np.zeros(cells + 1)
    for i in range(len(x)):
        at = int(x[i])
        f = x[i] - at
        rho[at] += w[i] * (1.0 - f)
        rho[at + 1] += w[i] * f
    return rho


def recurrence(x, a, b):
    y = np.zeros(len(x))
    for t in range(2, len(x)):
        y[t] = a * y[t - 1] + b * y[t - 2] + x[t]
    return y


def moving_maximum(x, width):
    out = np.empty(len(x) - width + 1)
    for i in range(len(out)):
        best = x[i]
        for j in range(i + 1, i + width):
            if x[j] > best:
                best = x[j]
        out[i] = best
    return out


def histogram(x, low, high, bins):
    counts = np.zeros(bins, np.int64)
    scale = bins / (high - low)
    for i in range(len(x)):
        if low <= x[i] < high:
            counts[int((x[i] - low) * scale)] += 1
    return counts


def pairwise_distances(x):
    n, d = x.shape
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(d):
                t = x[i, k] - x[j, k]
                s += t * t
            out[i, j] = math.sqrt(s)
    return out


def matrix_product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return c


def life(a, b, steps):
    n, m = a.shape
    for t in range(steps):
        for i in range(n):
            for j in range(m):
                s = 0
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        s += a[(i + di) % n, (j + dj) % m]
                s -= a[i, j]
                b[i, j] = 1 if s == 3 or (s == 2 and a[i, j] == 1) else 0
        for i in range(n):
            for j in range(m):
                a[i, j] = b[i, j]
    return a


def random_walk(n, seed):
    x = y = 0
    state = seed
    far = 0
    for _ in range(n):
        state = (state * 1103515245 + 12345) % 2147483648
        d = (state >> 16) & 3
        if d == 0:
            x += 1
        elif d == 1:
            x -= 1
        elif d == 2:
            y += 1
        else:
            y -= 1
        far = max(far, abs(x) + abs(y))
    return x, y, far


def newton(x, tolerance):
    out = np.empty(len(x))
    for i in range(len(x)):
        z = 1.0
        while abs(z * z - x[i]) > tolerance:
            z = 0.5 * (z + x[i] / z)
        out[i] = z
    return out


def trapezoid(n):
    s, h = 0.0, 1.0 / n
    for i in range(n):
        x = (i + 0.5) * h
        s += 4.0 / (1.0 + x * x)
    return s * h


def popcount(x):
    n = 0
    for i in range(len(x)):
        v = x[i]
        while v:
            v &= v - 1
            n += 1
    return n


def smith_waterman(a, b, gap):
    h = np.zeros((len(a) + 1, len(b) + 1))
    best = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            s = h[i - 1, j - 1] + (2.0 if a[i - 1] == b[j - 1] else -1.0)
            s = max(s, h[i - 1, j] - gap, h[i, j - 1] - gap, 0.0)
            h[i, j] = s
            if s > best:
                best = s
    return best


def ray_marching(w, h, most):
    """Distances to a torus along the rays of a picture's points, by steps as long as the nearest of its surface."""
    out = np.empty((h, w))
    for i in range(h):
        for j in range(w):
            dx, dy = (j - 0.5 * w) / w, (i - 0.5 * h) / w
            norm = math.sqrt(dx * dx + dy * dy + 1.0)
            dx, dy, dz = dx / norm, dy / norm, 1.0 / norm
            t = 0.0
            for _ in range(most):
                x, y, z = t * dx, t * dy, t * dz - 3.0
                ring = math.sqrt(x * x + z * z) - 1.0
                d = math.sqrt(ring * ring + y * y) - 0.4
                if d < 1e-4:
                    break
                t += d
                if t > 10.0:
                    t = math.inf
                    break
            out[i, j] = t
    return out


def tridiagonal(lower, diagonal, upper, b):
    """Thomas' algorithm."""
    n = len(b)
    c, x = np.zeros(n), np.zeros(n)
    c[0] = upper[0] / diagonal[0]
    x[0] = b[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / pivot
        x[i] = (b[i] - lower[i] * x[i - 1]) / pivot
    for i in range(n - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]
    return x


def fourier(re, im):
    """Transforms a power of two of complex numbers in place."""
    n = len(re)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            re[i], re[j] = re[j], re[i]
            im[i], im[j] = im[j], im[i]
    size = 2
    while size <= n:
        angle = -2.0 * math.pi / size
        for k in range(size // 2):
            c, s = math.cos(angle * k), math.sin(angle * k)
            for start in range(k, n, size):
                other = start + size // 2
                x = re[other] * c - im[other] * s
                y = re[other] * s + im[other] * c
                re[other], im[other] = re[start] - x, im[start] - y
                re[start] += x
                im[start] += y
        size *= 2
    return re, im


def _spd(n):
    a = np.random.default_rng(1).standard_normal((n, n))
    return a @ a.T + n * np.eye(n)


def _sparse(n, each):
    r = np.random.default_rng(2)
    return np.arange(0, n * each + 1, each), r.integers(0, n, n * each), r.standard_normal(n * each), r.standard_normal(n)


def _r():
    return np.random.default_rng(0)


PROGRAMS = {
    "cholesky": (cholesky, lambda: (_spd(300),)),
    "lu": (lu, lambda: (_spd(200),)),
    "triangular solve": (triangular_solve, lambda: (np.tril(_spd(1000)), _r().random(1000))),
    "trmm": (trmm, lambda: (1.5, _r().random((200, 200)), _r().random((200, 220)))),
    "syrk": (syrk, lambda: (1.5, 1.2, _r().random((160, 160)), _r().random((160, 120)))),
    "shortest paths": (floyd_warshall, lambda: (_r().random((150, 150)),)),
    "seidel": (seidel, lambda: (10, _r().random((300, 300)))),
    "jacobi": (jacobi, lambda: (20, _r().random((300, 300)), np.zeros((300, 300)))),
    "nussinov": (nussinov, lambda: (150, _r().integers(0, 4, 150))),
    "edit distance": (edit_distance, lambda: (_r().integers(0, 4, 1000), _r().integers(0, 4, 900))),
    "longest common": (longest_common, lambda: (_r().integers(0, 4, 1000), _r().integers(0, 4, 900))),
    "knapsack": (knapsack, lambda: (_r().integers(1, 99, 100), _r().integers(1, 50, 100), 10_000)),
    "viterbi": (viterbi, lambda: (_r().random(32), _r().random((32, 32)), _r().random((32, 10)), _r().integers(0, 10, 500))),
    "crc16": (crc16, lambda: (_r().integers(0, 256, 100_000).astype(np.uint8), 0x8408)),
    "collatz": (collatz, lambda: (20_000,)),
    "mandelbrot": (mandelbrot, lambda: (200, 150, 100)),
    "sieve": (sieve, lambda: (1_000_000,)),
    "queens": (queens, lambda: (8,)),
    "sparse product": (sparse_product, lambda: _sparse(50_000, 10)),
    "insertion sort": (insertion_sort, lambda: (_r().random(1500),)),
    "bitonic sort": (bitonic_sort, lambda: (_r().random(8192),)),
    "gravity": (gravity, lambda: (_r().random((150, 3)), np.zeros((150, 3)), _r().random(150), 5)),
    "ising": (ising, lambda: (np.where(_r().random((100, 100)) < 0.5, 1, -1), _r().random((10, 100, 100)), 0.4)),
    "percolation": (percolation, lambda: (_r().random((200, 200)) < 0.6, np.arange(40_000))),
    "kalman": (kalman, lambda: (_r().random(300_000), 1e-4, 0.1)),
    "deposition": (deposition, lambda: (_r().random(300_000) * 1000, _r().random(300_000), 1000)),
    "recurrence": (recurrence, lambda: (_r().random(500_000), 0.5, 0.3)),
    "moving maximum": (moving_maximum, lambda: (_r().random(50_000), 16)),
    "histogram": (histogram, lambda: (_r().random(500_000), 0.1, 0.9, 64)),
    "distances": (pairwise_distances, lambda: (_r().random((250, 8)),)),
    "matrix product": (matrix_product, lambda: (_r().random((100, 120)), _r().random((120, 90)), np.zeros((100, 90)))),
    "life": (life, lambda: (_r().integers(0, 2, (64, 64)), np.zeros((64, 64), np.int64), 10)),
    "random walk": (random_walk, lambda: (500_000, 7)),
    "newton": (newton, lambda: (_r().random(50_000) * 99 + 1, 1e-9)),
    "trapezoid": (trapezoid, lambda: (2_000_000,)),
    "popcount": (popcount, lambda: (_r().integers(0, 2**40, 50_000),)),
    "smith waterman": (smith_waterman, lambda: (_r().integers(0, 4, 600), _r().integers(0, 4, 500), 1.5)),
    "ray marching": (ray_marching, lambda: (120, 90, 60)),
    "tridiagonal": (tridiagonal, lambda: (_r().random(200_000), _r().random(200_000) + 3, _r().random(200_000), _r().random(200_000))),
    "fourier": (fourier, lambda: (_r().random(8192), _r().random(8192))),
}
