"""Loops in the form in which users of Numba write them: the control flow and the idioms of public packages, examples and questions, written anew for
this file. PROGRAMS: name -> (function, arguments of a size that Python takes 0.05 to 1 s for). They call one another through the module's globals."""

import math

import numpy as np


# As in numba_pokemon_prngs' hashes.
def fnv1a(data):
    digest = np.uint64(0xCBF29CE484222325)
    for byte in data:
        digest ^= np.uint64(byte)
        digest *= np.uint64(0x00000100000001B3)
    return digest


# As in randomgen's splitmix64.
def splitmix_fill(seed, out):
    state = np.uint64(seed)
    for i in range(out.shape[0]):
        state += np.uint64(0x9E3779B97F4A7C15)
        z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
        out[i] = (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


# As in umap's layout by stochastic gradients.
def tau_rand(state):
    state[0] = (((state[0] & 4294967294) << 12) & 0xFFFFFFFF) ^ ((((state[0] << 13) & 0xFFFFFFFF) ^ state[0]) >> 19)
    state[1] = (((state[1] & 4294967288) << 4) & 0xFFFFFFFF) ^ ((((state[1] << 2) & 0xFFFFFFFF) ^ state[1]) >> 25)
    state[2] = (((state[2] & 4294967280) << 17) & 0xFFFFFFFF) ^ ((((state[2] << 3) & 0xFFFFFFFF) ^ state[2]) >> 11)
    return state[0] ^ state[1] ^ state[2]


def clip4(value):
    if value > 4.0:
        return 4.0
    elif value < -4.0:
        return -4.0
    else:
        return value


def squared_distance(x, y):
    result = 0.0
    for i in range(x.shape[0]):
        result += (x[i] - y[i]) ** 2
    return result


def umap_layout(points, heads, tails, state, n_epochs, a, b):
    dim = points.shape[1]
    alpha = 1.0
    for n in range(n_epochs):
        for i in range(heads.shape[0]):
            current = points[heads[i]]
            other = points[tails[i]]
            dist = squared_distance(current, other)
            if dist > 0.0:
                coefficient = -2.0 * a * b * pow(dist, b - 1.0)
                coefficient /= a * pow(dist, b) + 1.0
            else:
                coefficient = 0.0
            for d in range(dim):
                step = clip4(coefficient * (current[d] - other[d]))
                current[d] += step * alpha
                other[d] += -step * alpha
            other = points[tau_rand(state) % points.shape[0]]
            dist = squared_distance(current, other)
            if dist > 0.0:
                coefficient = 2.0 * b / ((0.001 + dist) * (a * pow(dist, b) + 1))
                for d in range(dim):
                    current[d] += clip4(coefficient * (current[d] - other[d])) * alpha
        alpha = 1.0 - (float(n) / float(n_epochs))
    return points


# As in pynndescent's bounded heaps of neighbours.
def heap_push(priorities, indices, p, n):
    if p >= priorities[0]:
        return 0
    size = priorities.shape[0]
    priorities[0] = p
    indices[0] = n
    i = 0
    while True:
        left = 2 * i + 1
        right = left + 1
        if left >= size:
            break
        elif right >= size:
            if priorities[left] > p:
                swap = left
            else:
                break
        elif priorities[left] >= priorities[right]:
            if p < priorities[left]:
                swap = left
            else:
                break
        else:
            if p < priorities[right]:
                swap = right
            else:
                break
        priorities[i] = priorities[swap]
        indices[i] = indices[swap]
        i = swap
    priorities[i] = p
    indices[i] = n
    return 1


def nearest_neighbours(data, k):
    n = data.shape[0]
    indices = np.full((n, k), -1, dtype=np.int32)
    distances = np.full((n, k), np.inf, dtype=np.float64)
    changes = 0
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            d = squared_distance(data[i], data[j])
            changes += heap_push(distances[i], indices[i], d, j)
    return indices, distances, changes


# As in the ray casting of many a question about points in polygons.
def in_polygon(x, y, poly):
    n = len(poly)
    inside = False
    xints = 0.0
    p1x, p1y = poly[0]
    for i in range(n + 1):
        p2x, p2y = poly[i % n]
        if y > min(p1y, p2y):
            if y <= max(p1y, p2y):
                if x <= max(p1x, p2x):
                    if p1y != p2y:
                        xints = (y - p1y) * (p2x - p1x) / (p2y - p1y) + p1x
                    if p1x == p2x or x <= xints:
                        inside = not inside
        p1x, p1y = p2x, p2y
    return inside


def polygon_mask(points, polygon):
    inside = np.empty(len(points), dtype=np.bool_)
    for i in range(len(points)):
        inside[i] = in_polygon(points[i, 0], points[i, 1], polygon)
    return inside


# As in poliastro's equation of Kepler.
def kepler_residual(E, M, ecc):
    return E - ecc * np.sin(E) - M


def kepler_slope(E, ecc):
    return 1 - ecc * np.cos(E)


def newton_anomaly(x0, M, ecc, tol=1.48e-08, maxiter=50):
    p0 = 1.0 * x0
    for _ in range(maxiter):
        p = p0 - kepler_residual(p0, M, ecc) / kepler_slope(p0, ecc)
        if abs(p - p0) < tol:
            return p
        p0 = p
    return np.nan


def true_anomalies(mean, ecc):
    if ecc >= 1.0:
        raise ValueError("the orbit is not an ellipse")
    out = np.empty_like(mean)
    for i, M in enumerate(mean):
        E = newton_anomaly(M + ecc if M < np.pi else M - ecc, M, ecc, maxiter=80)
        if np.isnan(E):
            raise RuntimeError("no convergence")
        out[i] = 2 * np.arctan(np.sqrt((1 + ecc) / (1 - ecc)) * np.tan(E / 2))
    return out


# As in dtaidistance's and tslearn's dynamic time warping within a band.
def dtw_band(s1, s2, window):
    n, m = len(s1), len(s2)
    window = max(window, abs(n - m))
    cost = np.full((n + 1, m + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(n):
        for j in range(max(0, i - window), min(m, i + window)):
            d = (s1[i] - s2[j]) ** 2
            cost[i + 1, j + 1] = d + min(cost[i, j + 1], cost[i + 1, j], cost[i, j])
    return math.sqrt(cost[n, m])


# As in a backtest's search for ranges of prices.
def price_boxes(high, low, atr, allowed, N, q, valid):
    out = []
    n = len(high)
    t = N
    busy = -1
    while t < n:
        if allowed[t] and t > busy and not np.isnan(atr[t]):
            H = high[t - N + 1 : t + 1].max()
            L = low[t - N + 1 : t + 1].min()
            if H - L < q * atr[t] and H - L > 0:
                out.append((H, L, t, t + 1, min(t + valid, n - 1)))
                busy = t + valid
        t += 1
    return out


# As in genvarloader's groups of equal positions.
def group_starts(positions):
    n = len(positions)
    groups = np.empty(n + 1, dtype=np.int32)
    current = 0
    value = positions[0]
    groups[0] = 0
    for i in range(1, n):
        if positions[i] != value:
            current += 1
            groups[current] = i
            value = positions[i]
    groups[current + 1] = n
    return groups[: current + 2]


# As in a scheduler's penalty for conflicts.
def conflict_penalty(dates, days, shifts, ids, penalty):
    total = 0
    seen = set()
    for i in range(len(dates)):
        key = (dates[i], days[i], shifts[i], ids[i])
        if key in seen:
            total += penalty
        else:
            seen.add(key)
    return total


# As in the counting of words and of labels in questions about Numba's dictionaries.
def count_values(labels):
    counts = dict()
    for v in labels:
        if v in counts:
            counts[v] += 1
        else:
            counts[v] = 1
    best = -1
    most = 0
    for k in counts:
        if counts[k] > most or (counts[k] == most and k < best):
            most = counts[k]
            best = k
    return best, most


# As in a Clifford simulator's rank over two elements.
def rank_mod2(mat):
    nr, nc = mat.shape
    r = 0
    for i in range(nc):
        if r == nr:
            return r
        if mat[r, i] == 0:
            found = False
            for k in range(r + 1, nr):
                if mat[k, i]:
                    found = True
                    break
            if found:
                for x in range(0, nc):
                    tmp = mat[k, x]
                    mat[k, x] = mat[r, x]
                    mat[r, x] = tmp
            else:
                continue
        for j in range(r + 1, nr):
            if mat[j, i]:
                for x in range(i, nc):
                    mat[j, x] = (mat[j, x] + mat[r, x]) % 2
        r = r + 1
    return r


# As in a trajectory package's turning of dihedral angles.
def rotate_about(vector, axis, angle):
    c = math.cos(angle)
    s = math.sin(angle)
    crossed = np.cross(axis, vector)
    along = np.dot(axis, vector)
    for i in range(3):
        vector[i] = vector[i] * c + crossed[i] * s + axis[i] * along * (1 - c)


def turn_dihedrals(coordinates, angles, quartets, blocks):
    for ii in range(angles.shape[0]):
        origin = coordinates[quartets[ii, 2]].copy()
        bond = origin - coordinates[quartets[ii, 1]]
        axis = bond / np.sqrt(np.sum(bond**2))
        for jj in range(coordinates.shape[0]):
            if blocks[ii, jj]:
                v = coordinates[jj, :] - origin
                rotate_about(v, axis, angles[ii])
                coordinates[jj, :] = origin + v
    pass


# As in examples of chaotic systems under Runge and Kutta's method.
def lorenz(t, y, sigma=10.0, rho=28.0, beta=8.0 / 3.0):
    return np.array([sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]])


def integrate_lorenz(y0, t):
    n = len(t)
    y = np.zeros((n, len(y0)))
    y[0] = y0
    for i in range(n - 1):
        h = t[i + 1] - t[i]
        k1 = lorenz(t[i], y[i])
        k2 = lorenz(t[i] + h / 2.0, y[i] + k1 * h / 2.0)
        k3 = lorenz(t[i] + h / 2.0, y[i] + k2 * h / 2.0)
        k4 = lorenz(t[i] + h, y[i] + k3 * h)
        y[i + 1] = y[i] + (h / 6.0) * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


# As in pyrocko's norms of sliding windows.
def window_norms(data, template):
    norm = np.empty_like(data)
    template_norm = np.dot(template, template)
    window = template.size
    x = np.empty(window, dtype=data.dtype)
    for n in range(data.size - window):
        x[:] = data[n : n + window]
        x -= np.mean(x)
        norm[n] = math.sqrt(template_norm * np.dot(x, x))
    norm[-window:] = 0.0
    return norm


# As in a question about scattered sums of conjugates.
def scatter_conjugates(b, c, indices, n_iter):
    a = np.zeros_like(b)
    for _ in range(n_iter):
        for i, index in enumerate(indices):
            a[:, index] += b[:, i] + c[:, i].conjugate()
    return a


# As in an evolutionary algorithm's fitness of permutations.
def population_fitness(matrix, population):
    fitnesses = []
    n = len(population[0])
    for k in range(len(population)):
        individual = population[k]
        fitness = 0.0
        for i in range(n - 1):
            for j in range(i + 1, n):
                fitness += matrix[individual[i]][individual[j]]
        fitnesses.append(fitness)
    return np.array(fitnesses)


# As in the drawing of body parts upon frames of video.
def stamp_circles(frame, xs, ys, ps, offsets, colours, threshold=0.5):
    height, width, _ = frame.shape
    for bp in range(xs.shape[0]):
        if ps[bp] <= threshold:
            continue
        cx = xs[bp]
        cy = ys[bp]
        colour = colours[bp]
        for k in range(offsets.shape[0]):
            xi = cx + offsets[k, 0]
            yi = cy + offsets[k, 1]
            if 0 <= xi < width and 0 <= yi < height:
                for c in range(3):
                    frame[yi, xi, c] = colour[c]


def _r():
    return np.random.default_rng(0)


def _polygon(n):
    angle = np.linspace(0, 2 * np.pi, n)
    return np.stack([np.cos(angle), np.sin(angle)], 1) * (1 + 0.3 * np.sin(5 * angle))[:, None]


def _prices(n):
    middle = np.cumsum(_r().standard_normal(n))
    atr = np.where(np.arange(n) % 50 < 20, np.nan, 2 + _r().random(n))
    return middle + _r().random(n), middle - _r().random(n), atr, _r().random(n) < 0.9, 15, 2.5, 20


def _disc(radius):
    return np.array([(x, y) for y in range(-radius, radius + 1) for x in range(-radius, radius + 1) if x * x + y * y <= radius * radius])


def _complex(n, m):
    return _r().random((n, m)) + 1j * _r().random((n, m))


PROGRAMS = {
    "fnv1a": (fnv1a, lambda: (_r().integers(0, 256, 100_000).astype(np.uint8),)),
    "splitmix": (splitmix_fill, lambda: (7, np.zeros(50_000))),
    "umap layout": (umap_layout, lambda: (_r().random((500, 2)), _r().integers(0, 500, 3000), _r().integers(0, 500, 3000)[::-1].copy(), np.array([11, 22, 33]), 6, 1.57, 0.9)),
    "neighbours": (nearest_neighbours, lambda: (_r().random((150, 6)), 8)),
    "polygon mask": (polygon_mask, lambda: (_r().random((2000, 2)) * 3 - 1.5, _polygon(40))),
    "kepler": (true_anomalies, lambda: (np.linspace(0, 6.2, 20_000), 0.6)),
    "dtw band": (dtw_band, lambda: (_r().random(600), _r().random(550), 120)),
    "price boxes": (price_boxes, lambda: _prices(60_000)),
    "group starts": (group_starts, lambda: (np.sort(_r().integers(0, 300_000, 600_000)).astype(np.int32),)),
    "conflicts": (conflict_penalty, lambda: (*(_r().integers(0, 12, (4, 150_000))), 10)),
    "count values": (count_values, lambda: (_r().integers(0, 5000, 500_000),)),
    "rank mod 2": (rank_mod2, lambda: (_r().integers(0, 2, (110, 100)),)),
    "dihedrals": (turn_dihedrals, lambda: (_r().random((60, 3)), _r().random(60), np.stack([_r().permutation(60)[:4] + 0 * k for k in range(60)]), _r().random((60, 60)) < 0.5)),
    "lorenz": (integrate_lorenz, lambda: (np.array([1.0, 1.0, 1.0]), np.linspace(0, 20, 8000))),
    "window norms": (window_norms, lambda: (_r().random(30_000), _r().random(40))),
    "conjugates": (scatter_conjugates, lambda: (_complex(20, 400), _complex(20, 400), _r().integers(0, 200, 400), 100)),
    "fitness": (population_fitness, lambda: (_r().random((50, 50)), np.stack([np.random.default_rng(k).permutation(50) for k in range(200)]))),
    "circles": (stamp_circles, lambda: (np.zeros((200, 300, 3), np.uint8), _r().integers(0, 300, 200), _r().integers(0, 200, 200), _r().random(200), _disc(12), _r().integers(0, 256, (200, 3)).astype(np.uint8))),
}
