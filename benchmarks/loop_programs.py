"""Programs that are Python loops over numbers and elements of arrays, as NumPy's users write them. PROGRAMS: name -> (function, arguments of a
size that Python takes some seconds at most for)."""

import heapq
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


def sparse_triangular_solve(rows, columns, values, b):
    """The lower triangle of a matrix in CSR; the diagonal is stored."""
    x = np.zeros(b.shape)
    for i in range(b.shape[0]):
        s = b[i]
        pivot = 1.0
        for at in range(rows[i], rows[i + 1]):
            j = columns[at]
            if j < i:
                s -= values[at] * x[j]
            elif j == i:
                pivot = values[at]
        x[i] = s / pivot
    return x


def spanning_tree(n, tails, heads, weights):
    """Kruskal's, on disjoint sets that are joined by their sizes."""
    parent = np.arange(n)
    size = np.ones(n, dtype=np.int64)

    def find(v):
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    total, taken = 0.0, []
    for e in np.argsort(weights, kind="mergesort"):
        a, b = find(tails[e]), find(heads[e])
        if a == b:
            continue
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
        total += weights[e]
        taken.append(e)
        if len(taken) == n - 1:
            break
    return total, np.array(taken)


def dijkstra_heap(rows, columns, lengths, source):
    n = len(rows) - 1
    distance = np.full(n, np.inf)
    distance[source] = 0.0
    heap = [(0.0, source)]
    while heap:
        d, v = heapq.heappop(heap)
        if d > distance[v]:
            continue
        for e in range(rows[v], rows[v + 1]):
            w = columns[e]
            through = d + lengths[e]
            if through < distance[w]:
                distance[w] = through
                heapq.heappush(heap, (through, w))
    return distance


def dijkstra_arrays(rows, columns, lengths, source):
    """A binary heap of vertices, in which a vertex rises where its distance falls."""
    n = len(rows) - 1
    distance = np.full(n, np.inf)
    heap = np.empty(n, dtype=np.int32)
    place = np.full(n, -1, dtype=np.int32)

    def rise(at):
        v = heap[at]
        while at > 0:
            above = (at - 1) // 2
            if distance[heap[above]] <= distance[v]:
                break
            heap[at] = heap[above]
            place[heap[at]] = at
            at = above
        heap[at] = v
        place[v] = at

    def sink(size):
        at, v = 0, heap[size]
        while True:
            below = 2 * at + 1
            if below >= size:
                break
            if below + 1 < size and distance[heap[below + 1]] < distance[heap[below]]:
                below += 1
            if distance[heap[below]] >= distance[v]:
                break
            heap[at] = heap[below]
            place[heap[at]] = at
            at = below
        heap[at] = v
        place[v] = at

    distance[source] = 0.0
    heap[0], place[source], size = source, 0, 1
    while size > 0:
        v = heap[0]
        size -= 1
        if size > 0:
            sink(size)
        place[v] = -2
        for e in range(rows[v], rows[v + 1]):
            w = columns[e]
            if place[w] == -2:
                continue
            through = distance[v] + lengths[e]
            if through < distance[w]:
                distance[w] = through
                if place[w] < 0:
                    heap[size] = w
                    place[w] = size
                    size += 1
                rise(place[w])
    return distance


def radix_sort(keys):
    """Least significant byte first."""
    source, target = keys.copy(), np.empty_like(keys)
    for shift in range(0, 32, 8):
        counts = np.zeros(257, np.int64)
        for i in range(len(source)):
            counts[((source[i] >> shift) & 0xFF) + 1] += 1
        for digit in range(256):
            counts[digit + 1] += counts[digit]
        for i in range(len(source)):
            digit = (source[i] >> shift) & 0xFF
            target[counts[digit]] = source[i]
            counts[digit] += 1
        source, target = target, source
    return source


def hash_counts(keys, bits):
    """How often each key occurs, by open addressing with linear probes; -1 is no key."""
    mask = (1 << bits) - 1
    table = np.full(mask + 1, -1, dtype=np.int64)
    counts = np.zeros(mask + 1, dtype=np.int64)
    distinct = 0
    for key in keys:
        slot = (key * 2654435761 >> 12) & mask
        while table[slot] != -1 and table[slot] != key:
            slot = (slot + 1) & mask
        if table[slot] == -1:
            table[slot] = key
            distinct += 1
        counts[slot] += 1
    return distinct, table, counts


def nearest_neighbours(tree, queries):
    """The index and distance of each query's nearest point. A node's children are at 2 k + 1 and 2 k + 2; its depth says which axis it splits."""
    n, axes = tree.shape
    nearest = np.empty(len(queries), dtype=np.int64)
    distances = np.empty(len(queries))
    nodes = np.empty(64, dtype=np.int64)
    depths = np.empty(64, dtype=np.int64)
    bounds = np.empty(64)
    for q in range(len(queries)):
        point = queries[q]
        best, at = np.inf, -1
        nodes[0], depths[0], bounds[0] = 0, 0, 0.0
        top = 1
        while top > 0:
            top -= 1
            node, depth = nodes[top], depths[top]
            if node >= n or bounds[top] >= best:
                continue
            d = 0.0
            for c in range(axes):
                d += (tree[node, c] - point[c]) ** 2
            if d < best:
                best, at = d, node
            axis = depth % axes
            beyond = point[axis] - tree[node, axis]
            near = 2 * node + 1 if beyond < 0.0 else 2 * node + 2
            far = 4 * node + 3 - near
            nodes[top], depths[top], bounds[top] = far, depth + 1, beyond * beyond
            nodes[top + 1], depths[top + 1], bounds[top + 1] = near, depth + 1, 0.0
            top += 2
        nearest[q] = at
        distances[q] = math.sqrt(best)
    return nearest, distances


def global_alignment(a, b, match, mismatch, gap):
    """Needleman and Wunsch's score, and how the two are aligned: pairs of places, where -1 is a gap."""
    n, m = len(a), len(b)
    score = np.zeros((n + 1, m + 1), dtype=np.int32)
    trace = np.zeros((n + 1, m + 1), dtype=np.uint8)
    for i in range(1, n + 1):
        score[i, 0] = gap * i
        trace[i, 0] = 1
    for j in range(1, m + 1):
        score[0, j] = gap * j
        trace[0, j] = 2
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diagonal = score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch)
            up = score[i - 1, j] + gap
            left = score[i, j - 1] + gap
            if diagonal >= up and diagonal >= left:
                score[i, j] = diagonal
            elif up >= left:
                score[i, j] = up
                trace[i, j] = 1
            else:
                score[i, j] = left
                trace[i, j] = 2
    pairs = []
    i, j = n, m
    while i > 0 or j > 0:
        if trace[i, j] == 0:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif trace[i, j] == 1:
            i -= 1
            pairs.append((i, -1))
        else:
            j -= 1
            pairs.append((-1, j))
    return score[n, m], pairs[::-1]


def hidden_markov_forward(log_start, log_step, log_emit):
    """Logarithms of the forward probabilities, and of the sequence's."""
    steps, states = log_emit.shape
    forward = np.empty((steps, states))
    terms = np.empty(states)

    def log_sum(x):
        top = x.max()
        if math.isinf(top):
            return top
        s = 0.0
        for v in x:
            s += math.exp(v - top)
        return math.log(s) + top

    for j in range(states):
        forward[0, j] = log_start[j] + log_emit[0, j]
    for t in range(1, steps):
        for j in range(states):
            for i in range(states):
                terms[i] = forward[t - 1, i] + log_step[i, j]
            forward[t, j] = log_sum(terms) + log_emit[t, j]
    return log_sum(forward[-1]), forward


def forest_fire(grid, draws, grow, lightning):
    """0: empty, 1: a tree, 2: a fire. The grid after each step is made anew."""
    n, m = grid.shape
    burnt = np.zeros(len(draws), dtype=np.int64)
    for t in range(len(draws)):
        later = np.zeros_like(grid)
        for i in range(n):
            for j in range(m):
                if grid[i, j] == 2:
                    burnt[t] += 1
                elif grid[i, j] == 1:
                    later[i, j] = 1
                    for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                        if 0 <= i + di < n and 0 <= j + dj < m and grid[i + di, j + dj] == 2:
                            later[i, j] = 2
                            break
                    else:
                        if draws[t, i, j] < lightning:
                            later[i, j] = 2
                elif draws[t, i, j] < grow:
                    later[i, j] = 1
        grid = later
    return grid, burnt


def component_labels(image):
    """Labels the connected parts of a picture by floods, and says which label reaches from top to bottom (or -1)."""
    height, width = image.shape
    labels = np.zeros((height, width), dtype=np.int32)
    label = 0
    for y in range(height):
        for x in range(width):
            if not image[y, x] or labels[y, x] != 0:
                continue
            label += 1
            labels[y, x] = label
            stack = [(y, x)]
            while len(stack) > 0:
                cy, cx = stack.pop()
                for dy, dx in [(-1, 0), (0, -1), (0, 1), (1, 0)]:
                    ny, nx = cy + dy, cx + dx
                    if ny < 0 or ny >= height or nx < 0 or nx >= width:
                        continue
                    if image[ny, nx] and labels[ny, nx] == 0:
                        labels[ny, nx] = label
                        stack.append((ny, nx))
    for x in range(width):
        if labels[0, x] > 0 and np.any(labels[-1] == labels[0, x]):
            return labels, label, labels[0, x]
    return labels, label, -1


def marching_squares(z, level):
    """The segments of the line where z passes the level: (y, x, y, x) each."""
    segments = []

    def crossing(low, high):
        return 0.0 if low == high else (level - low) / (high - low)

    for i in range(z.shape[0] - 1):
        for j in range(z.shape[1] - 1):
            a, b, c, d = z[i, j], z[i, j + 1], z[i + 1, j], z[i + 1, j + 1]
            case = (a > level) + 2 * (b > level) + 4 * (c > level) + 8 * (d > level)
            if case == 0 or case == 15:
                continue
            top = (float(i), j + crossing(a, b))
            bottom = (i + 1.0, j + crossing(c, d))
            left = (i + crossing(a, c), float(j))
            right = (i + crossing(b, d), j + 1.0)
            if case in (1, 14):
                segments.append((top, left))
            elif case in (2, 13):
                segments.append((top, right))
            elif case in (4, 11):
                segments.append((left, bottom))
            elif case in (7, 8):
                segments.append((bottom, right))
            elif case in (3, 12):
                segments.append((left, right))
            elif case in (5, 10):
                segments.append((top, bottom))
            elif case == 6:
                segments.append((top, right))
                segments.append((left, bottom))
            else:
                segments.append((top, left))
                segments.append((bottom, right))
    return segments


def bilateral_filter(image, radius, sigma_space, sigma_value):
    height, width = image.shape
    out = np.empty_like(image)
    for y in range(height):
        for x in range(width):
            total = weight = 0.0
            for v in range(max(0, y - radius), min(height, y + radius + 1)):
                for u in range(max(0, x - radius), min(width, x + radius + 1)):
                    space = ((v - y) ** 2 + (u - x) ** 2) / (2 * sigma_space**2)
                    value = (image[v, u] - image[y, x]) ** 2 / (2 * sigma_value**2)
                    w = np.exp(-space - value)
                    total += w * image[v, u]
                    weight += w
            out[y, x] = total / weight
    return out


def median_filter(image):
    out = image.copy()
    for y in range(1, image.shape[0] - 1):
        for x in range(1, image.shape[1] - 1):
            out[y, x] = np.median(image[y - 1 : y + 2, x - 1 : x + 2])
    return out


def dithering(image):
    """Floyd and Steinberg's, of grey values from 0 to 255."""
    height, width = image.shape
    grey = image.astype(np.float64)
    out = np.zeros((height, width), dtype=np.uint8)
    for y in range(height):
        for x in range(width):
            old = grey[y, x]
            new = 255.0 if old > 127.5 else 0.0
            out[y, x] = np.uint8(new)
            error = old - new
            if x + 1 < width:
                grey[y, x + 1] += error * 7 / 16
            if y + 1 < height:
                if x > 0:
                    grey[y + 1, x - 1] += error * 3 / 16
                grey[y + 1, x] += error * 5 / 16
                if x + 1 < width:
                    grey[y + 1, x + 1] += error * 1 / 16
    return out


def dictionary_matches(data, window, least):
    """What the data is made of, as LZ77 has it: (distance, length) of an earlier part, or (0, byte). Places with the same three bytes are in chains."""
    n = len(data)
    first = np.full(1 << 12, -1, dtype=np.int64)
    before = np.full(n, -1, dtype=np.int64)
    tokens = []
    at = 0
    while at < n:
        length, distance = 0, 0
        if at + least <= n:
            other = first[(int(data[at]) * 289 + int(data[at + 1]) * 17 + int(data[at + 2])) & 0xFFF]
            tries = 0
            while other >= 0 and at - other <= window and tries < 32:
                k = 0
                while at + k < n and k < 255 and data[other + k] == data[at + k]:
                    k += 1
                if k > length:
                    length, distance = k, at - other
                other = before[other]
                tries += 1
        if length >= least:
            tokens.append((distance, length))
        else:
            tokens.append((0, int(data[at])))
            length = 1
        for k in range(at, min(at + length, n - 2)):
            h = (int(data[k]) * 289 + int(data[k + 1]) * 17 + int(data[k + 2])) & 0xFFF
            before[k] = first[h]
            first[h] = k
        at += length
    return tokens


def red_black(u, f, omega, tolerance, most):
    """Successive over-relaxation of Poisson's equation, the squares of one colour of a chessboard before those of the other."""
    n, m = u.shape
    h2 = 1.0 / ((n - 1) * (n - 1))
    for sweep in range(most):
        change = 0.0
        for colour in (0, 1):
            for i in range(1, n - 1):
                for j in range(1 + (i + colour) % 2, m - 1, 2):
                    d = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - h2 * f[i, j]) - u[i, j]
                    u[i, j] += omega * d
                    change = max(change, abs(d))
        if change < tolerance:
            return sweep + 1, u
    return most, u


def pivoted_solve(a, b):
    n = a.shape[0]
    order = np.arange(n)
    for k in range(n):
        pivot = k + np.argmax(np.abs(a[k:, k]))
        if a[pivot, k] == 0.0:
            raise ValueError("the matrix is singular")
        if pivot != k:
            for j in range(n):
                a[k, j], a[pivot, j] = a[pivot, j], a[k, j]
            order[k], order[pivot] = order[pivot], order[k]
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    x = b[order]
    for i in range(n):
        for j in range(i):
            x[i] -= a[i, j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= a[i, j] * x[j]
        x[i] /= a[i, i]
    return x


def householder(a):
    m, n = a.shape
    q, r = np.eye(m), a.copy()
    for k in range(min(m - 1, n)):
        v = r[k:, k].copy()
        norm = np.sqrt(np.sum(v**2))
        if norm == 0.0:
            continue
        v[0] += norm if v[0] >= 0 else -norm
        v /= np.sqrt(np.sum(v**2))
        for j in range(k, n):
            r[k:, j] -= 2.0 * np.dot(v, r[k:, j]) * v
        for i in range(m):
            q[i, k:] -= 2.0 * np.dot(q[i, k:], v) * v
    return q, r


def jacobi_rotations(a, tolerance, most):
    """Eigenvalues and eigenvectors of a symmetric matrix, by cyclic sweeps."""
    n = a.shape[0]
    v = np.eye(n)
    for sweep in range(most):
        off = 0.0
        for p in range(n - 1):
            for q in range(p + 1, n):
                off += a[p, q] ** 2
        if off < tolerance:
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) < 1e-300:
                    continue
                theta = (a[q, q] - a[p, p]) / (2.0 * a[p, q])
                t = (1.0 if theta >= 0.0 else -1.0) / (abs(theta) + math.sqrt(theta * theta + 1.0))
                c = 1.0 / math.sqrt(t * t + 1.0)
                s = t * c
                for k in range(n):
                    a[k, p], a[k, q] = c * a[k, p] - s * a[k, q], s * a[k, p] + c * a[k, q]
                for k in range(n):
                    a[p, k], a[q, k] = c * a[p, k] - s * a[q, k], s * a[p, k] + c * a[q, k]
                for k in range(n):
                    v[k, p], v[k, q] = c * v[k, p] - s * v[k, q], s * v[k, p] + c * v[k, q]
    return np.diag(a), v


def adaptive_runge_kutta(y, end, tolerance, mu):
    """Van der Pol's oscillator by Bogacki and Shampine's pair: how many steps it took and rejected, and where it ended."""

    def slope(y):
        return np.array([y[1], mu * (1.0 - y[0] * y[0]) * y[1] - y[0]])

    t, h = 0.0, 1e-3
    taken = rejected = 0
    k1 = slope(y)
    while t < end:
        h = min(h, end - t)
        k2 = slope(y + h * 0.5 * k1)
        k3 = slope(y + h * 0.75 * k2)
        later = y + h * (2.0 / 9.0 * k1 + 1.0 / 3.0 * k2 + 4.0 / 9.0 * k3)
        k4 = slope(later)
        error = h * (-5.0 / 72.0 * k1 + 1.0 / 12.0 * k2 + 1.0 / 9.0 * k3 - 0.125 * k4)
        size = np.max(np.abs(error) / (tolerance + tolerance * np.maximum(np.abs(y), np.abs(later))))
        if size <= 1.0:
            t += h
            y = later
            k1 = k4
            taken += 1
        else:
            rejected += 1
        h *= min(5.0, max(0.2, 0.9 * size ** (-1.0 / 3.0) if size > 0.0 else 5.0))
    return taken, rejected, y


def cell_list_forces(x, box, cutoff):
    """Lennard-Jones forces between particles of a periodic box, found by lists of the particles of each cell."""
    n = x.shape[0]
    cells = int(box / cutoff)
    width = box / cells
    head = np.full((cells, cells, cells), -1, dtype=np.int64)
    following = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        cx, cy, cz = int(x[i, 0] / width) % cells, int(x[i, 1] / width) % cells, int(x[i, 2] / width) % cells
        following[i] = head[cx, cy, cz]
        head[cx, cy, cz] = i
    forces = np.zeros((n, 3))
    energy = 0.0
    r = np.zeros(3)
    for i in range(n):
        cx, cy, cz = int(x[i, 0] / width), int(x[i, 1] / width), int(x[i, 2] / width)
        for dx in range(-1, 2):
            for dy in range(-1, 2):
                for dz in range(-1, 2):
                    j = head[(cx + dx) % cells, (cy + dy) % cells, (cz + dz) % cells]
                    while j != -1:
                        if j > i:
                            r2 = 0.0
                            for c in range(3):
                                r[c] = x[i, c] - x[j, c]
                                r[c] -= box * np.round(r[c] / box)
                                r2 += r[c] * r[c]
                            if 0.0 < r2 < cutoff * cutoff:
                                inverse = 1.0 / r2
                                sixth = inverse**3
                                energy += 4.0 * sixth * (sixth - 1.0)
                                factor = 24.0 * inverse * sixth * (2.0 * sixth - 1.0)
                                for c in range(3):
                                    forces[i, c] += factor * r[c]
                                    forces[j, c] -= factor * r[c]
                        j = following[j]
    return energy, forces


def binomial_option(spot, strikes, rate, sigma, years, steps):
    """American puts on a recombining tree."""
    dt = years / steps
    up = math.exp(sigma * math.sqrt(dt))
    down = 1.0 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    discount = math.exp(-rate * dt)
    prices = np.empty_like(strikes)
    for s, strike in enumerate(strikes):
        values = np.empty(steps + 1)
        for j in range(steps + 1):
            values[j] = max(strike - spot * up**j * down ** (steps - j), 0.0)
        for i in range(steps - 1, -1, -1):
            for j in range(i + 1):
                hold = discount * (p * values[j + 1] + (1.0 - p) * values[j])
                values[j] = max(hold, strike - spot * up**j * down ** (i - j))
        prices[s] = values[0]
    return prices


def order_book(sides, prices, sizes):
    """Matches limit orders by price, then time: how much each filled, and the trades' volume and turnover."""
    bids = [(0, 0) for _ in range(0)]
    asks = [(0, 0) for _ in range(0)]
    left = sizes.copy()
    volume = turnover = 0
    for k in range(len(prices)):
        price = prices[k]
        if sides[k] > 0:
            while left[k] > 0 and len(asks) > 0 and asks[0][0] <= price:
                level, other = asks[0]
                traded = min(left[k], left[other])
                left[k] -= traded
                left[other] -= traded
                volume += traded
                turnover += traded * level
                if left[other] == 0:
                    heapq.heappop(asks)
            if left[k] > 0:
                heapq.heappush(bids, (-price, k))
        else:
            while left[k] > 0 and len(bids) > 0 and -bids[0][0] >= price:
                level, other = bids[0]
                traded = min(left[k], left[other])
                left[k] -= traded
                left[other] -= traded
                volume += traded
                turnover -= traded * level
                if left[other] == 0:
                    heapq.heappop(bids)
            if left[k] > 0:
                heapq.heappush(asks, (price, k))
    return sizes - left, volume, turnover


def increasing_subsequence(x):
    """The places of a longest one."""
    tails = np.zeros(len(x), dtype=np.int64)
    before = np.full(len(x), -1, dtype=np.int64)
    length = 0
    for i in range(len(x)):
        low, high = 0, length
        while low < high:
            middle = (low + high) // 2
            if x[tails[middle]] < x[i]:
                low = middle + 1
            else:
                high = middle
        if low > 0:
            before[i] = tails[low - 1]
        tails[low] = i
        if low == length:
            length += 1
    places = np.empty(length, dtype=np.int64)
    at = tails[length - 1]
    for k in range(length - 1, -1, -1):
        places[k] = at
        at = before[at]
    return places


def prefix_matches(text, pattern):
    """Where the pattern begins in the text, by Knuth, Morris and Pratt's prefix function."""
    m = len(pattern)
    border = np.zeros(m, dtype=np.int64)
    k = 0
    for i in range(1, m):
        while k > 0 and pattern[k] != pattern[i]:
            k = border[k - 1]
        if pattern[k] == pattern[i]:
            k += 1
        border[i] = k
    found = []
    k = 0
    for i, c in enumerate(text):
        while k > 0 and (k == m or pattern[k] != c):
            k = border[k - 1]
        if pattern[k] == c:
            k += 1
        if k == m:
            found.append(i - m + 1)
    return found


def convex_hull(points):
    """Andrew's monotone chain, of points in the order of their coordinates: the places of the corners."""
    n = len(points)
    hull = np.empty(2 * n, dtype=np.int64)

    def turn(a, b, c):
        return (points[b, 0] - points[a, 0]) * (points[c, 1] - points[a, 1]) - (points[b, 1] - points[a, 1]) * (points[c, 0] - points[a, 0])

    k = 0
    for i in range(n):
        while k >= 2 and turn(hull[k - 2], hull[k - 1], i) <= 0.0:
            k -= 1
        hull[k] = i
        k += 1
    least = k + 1
    for i in range(n - 2, -1, -1):
        while k >= least and turn(hull[k - 2], hull[k - 1], i) <= 0.0:
            k -= 1
        hull[k] = i
        k += 1
    return hull[: k - 1]


def mesh_relaxation(rows, columns, values, boundary, most, tolerance):
    """Gauss-Seidel for the mean of its neighbours at each inner vertex of an unstructured mesh."""
    n = len(rows) - 1
    for sweep in range(most):
        largest = 0.0
        for v in range(n):
            if boundary[v]:
                continue
            mean = 0.0
            for w in columns[rows[v] : rows[v + 1]]:
                mean += values[w]
            mean /= rows[v + 1] - rows[v]
            largest = max(largest, abs(mean - values[v]))
            values[v] = mean
        if largest < tolerance:
            break
    return sweep, values


def logistic_descent(x, y, order, rate, penalty):
    """Stochastic gradients, one sample a step. order: (epochs, samples)."""
    weights = np.zeros(x.shape[1])
    bias = 0.0
    losses = np.zeros(len(order))
    for epoch in range(len(order)):
        for i in order[epoch]:
            z = np.dot(x[i], weights) + bias
            p = 1.0 / (1.0 + np.exp(-z))
            losses[epoch] -= np.log(p) if y[i] == 1 else np.log(1.0 - p)
            g = p - y[i]
            weights -= rate * (g * x[i] + penalty * weights)
            bias -= rate * g
        rate *= 0.9
    return weights, bias, losses


def prominent_peaks(x, least):
    """Local maxima (the middles of plateaus) that stand out by as much as least, and by how much."""
    peaks, prominences = [], []
    i = 1
    while i < len(x) - 1:
        if x[i - 1] < x[i]:
            ahead = i + 1
            while ahead < len(x) - 1 and x[ahead] == x[i]:
                ahead += 1
            if x[ahead] < x[i]:
                peak = (i + ahead - 1) // 2
                low_left = low_right = x[peak]
                j = peak
                while j >= 0 and x[j] <= x[peak]:
                    if x[j] < low_left:
                        low_left = x[j]
                    j -= 1
                j = peak
                while j < len(x) and x[j] <= x[peak]:
                    if x[j] < low_right:
                        low_right = x[j]
                    j += 1
                prominence = x[peak] - max(low_left, low_right)
                if prominence >= least:
                    peaks.append(peak)
                    prominences.append(prominence)
                i = ahead
        i += 1
    return peaks, prominences


def _spd(n):
    a = np.random.default_rng(1).standard_normal((n, n))
    return a @ a.T + n * np.eye(n)


def _sparse(n, each):
    r = np.random.default_rng(2)
    return np.arange(0, n * each + 1, each), r.integers(0, n, n * each), r.standard_normal(n * each), r.standard_normal(n)


def _r():
    return np.random.default_rng(0)


def _graph(n, each):
    """Vertices of a random graph in CSR, each with a neighbour that makes it connected first, and the lengths of the edges."""
    r = np.random.default_rng(3)
    columns = r.integers(0, n, (n, each))
    columns[:, 0] = (np.arange(n) + 1) % n
    return np.arange(0, n * each + 1, each), columns.ravel(), r.random(n * each) + 0.01


def _lower(n, each):
    """The lower triangle of a sparse matrix in CSR, in which columns ascend."""
    r = np.random.default_rng(4)
    columns = [np.append(np.unique(r.integers(0, i, min(i, each))) if i else [], i).astype(np.int64) for i in range(n)]
    rows = np.cumsum([0, *map(len, columns)])
    values = r.standard_normal(rows[-1]) / each
    values[rows[1:] - 1] = 2.0
    return rows, np.concatenate(columns), values, r.random(n)


def _kd_tree(n, axes):
    """Points in the order of a balanced tree's nodes, row by row; n is a power of two less one."""
    tree = np.empty((n, axes))

    def put(points, node, axis):
        if len(points):
            points, middle = points[np.argsort(points[:, axis], kind="stable")], len(points) // 2
            tree[node] = points[middle]
            put(points[:middle], 2 * node + 1, (axis + 1) % axes)
            put(points[middle + 1 :], 2 * node + 2, (axis + 1) % axes)

    put(np.random.default_rng(5).random((n, axes)), 0, 0)
    return tree


def _logs(*shape):
    """Logarithms of probabilities that sum to one along the last axis."""
    p = np.random.default_rng(6).random(shape)
    return np.log(p / p.sum(-1, keepdims=True))


def _picture(n):
    y, x = np.mgrid[:n, :n] / n
    return np.clip(0.5 + 0.3 * np.sin(9 * x + 5 * y) * np.cos(7 * y) + 0.1 * _r().standard_normal((n, n)), 0.0, 1.0)


def _text(n):
    """Bytes in which earlier parts come again."""
    r = np.random.default_rng(7)
    words = [r.integers(97, 123, r.integers(2, 9)) for _ in range(60)]
    return np.concatenate([words[k] for k in r.integers(0, 60, n // 2)])[:n].astype(np.uint8)


def _mesh(n):
    """A grid of triangles with its vertices in a random order: neighbours in CSR, values, and which are on the boundary."""
    number = np.random.default_rng(8).permutation(n * n).reshape(n, n)
    pairs = [(number[:-1], number[1:]), (number[:, :-1], number[:, 1:]), (number[:-1, :-1], number[1:, 1:])]
    a, b = (np.concatenate([p[k].ravel() for p in pairs]) for k in (0, 1))
    tails, heads = np.append(a, b), np.append(b, a)
    boundary = np.ones(n * n, bool)
    boundary[number[1:-1, 1:-1]] = False
    rows = np.append(0, np.cumsum(np.bincount(tails)))
    return rows, heads[np.lexsort((heads, tails))], np.where(boundary, _r().random(n * n), 0.0), boundary


def _samples(n, features):
    r = np.random.default_rng(9)
    x = r.standard_normal((n, features))
    return x, (x @ r.standard_normal(features) + 0.3 * r.standard_normal(n) > 0).astype(np.int64)


def _particles(n, box):
    """Particles near the points of a lattice, so that none are too close."""
    side = math.ceil(n ** (1 / 3))
    lattice = np.stack(np.meshgrid(*[np.arange(side)] * 3), -1).reshape(-1, 3)[:n] + 0.5
    return (lattice + 0.1 * _r().standard_normal((n, 3))) * (box / side) % box


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
    # Of these, the test makes smaller ones.
    "sparse triangular": (sparse_triangular_solve, lambda n=30_000: _lower(n, 8)),
    "spanning tree": (spanning_tree, lambda n=20_000: (n, np.repeat(np.arange(n), 4), _graph(n, 4)[1], _graph(n, 4)[2])),
    "dijkstra heap": (dijkstra_heap, lambda n=15_000: (*_graph(n, 6), 0)),
    "dijkstra arrays": (dijkstra_arrays, lambda n=10_000: (*_graph(n, 6), 0)),
    "radix sort": (radix_sort, lambda n=100_000: (_r().integers(0, 2**32, n, dtype=np.uint32),)),
    "hash counts": (hash_counts, lambda n=300_000: (_r().integers(0, n // 4, n) * 7919, n.bit_length())),
    "nearest neighbours": (nearest_neighbours, lambda n=2_000: (_kd_tree(16_383, 3), _r().random((n, 3)))),
    "global alignment": (global_alignment, lambda n=600: (_r().integers(0, 4, n), _r().integers(0, 4, n - 50), 2, -1, -2)),
    "markov forward": (hidden_markov_forward, lambda n=1_000: (_logs(16), _logs(16, 16), _logs(n, 16))),
    "forest fire": (forest_fire, lambda n=30: (_r().integers(0, 2, (100, 100)).astype(np.uint8), _r().random((n, 100, 100)), 0.02, 0.001)),
    "component labels": (component_labels, lambda n=400: (_r().random((n, n)) < 0.6,)),
    "marching squares": (marching_squares, lambda n=250: (_picture(n), 0.5)),
    "bilateral filter": (bilateral_filter, lambda n=100: (_picture(n), 2, 2.0, 0.1)),
    "median filter": (median_filter, lambda n=150: (_picture(n),)),
    "dithering": (dithering, lambda n=350: (np.round(_picture(n) * 255),)),
    "dictionary matches": (dictionary_matches, lambda n=40_000: (_text(n), 4_096, 3)),
    "red and black": (red_black, lambda n=60: (np.zeros((n, n)), _r().standard_normal((n, n)), 1.8, 1e-9, 60)),
    "pivoted solve": (pivoted_solve, lambda n=140: (_r().standard_normal((n, n)), _r().random(n))),
    "householder": (householder, lambda n=200: (_r().standard_normal((n, n // 2)),)),
    "jacobi rotations": (jacobi_rotations, lambda n=32: (_spd(n), 1e-18, 20)),
    "runge kutta": (adaptive_runge_kutta, lambda n=60: (np.array([2.0, 0.0]), float(n), 1e-7, 5.0)),
    "cell list": (cell_list_forces, lambda n=300: (_particles(n, 10.0), 10.0, 2.5)),
    "binomial option": (binomial_option, lambda n=300: (100.0, np.linspace(80.0, 120.0, 9), 0.05, 0.2, 1.0, n)),
    "order book": (order_book, lambda n=150_000: (_r().choice([-1, 1], n), _r().normal(10_000, 20, n).astype(np.int64), _r().integers(1, 100, n))),
    "subsequence": (increasing_subsequence, lambda n=80_000: (_r().random(n),)),
    "prefix matches": (prefix_matches, lambda n=500_000: (_r().integers(0, 2, n), np.array([0, 1, 0, 0, 1, 0, 1, 0]))),
    "convex hull": (convex_hull, lambda n=40_000: (np.sort(_r().standard_normal((n, 2)).view("f8,f8"), axis=0).view("f8"),)),
    "mesh relaxation": (mesh_relaxation, lambda n=40: (*_mesh(n), 50, 1e-9)),
    "logistic descent": (logistic_descent, lambda n=5_000: (*_samples(n, 10), np.array([_r().permutation(n) for _ in range(5)]), 0.05, 1e-4)),
    "peaks": (prominent_peaks, lambda n=30_000: (np.round(np.cumsum(_r().standard_normal(n)) % 40.0 + 3 * _r().random(n), 1), 2.0)),
}
