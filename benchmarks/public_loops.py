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


# As in splitmix64 for seeds.
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


# As in a reader of genotypes' groups of equal positions.
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


# As in a detector's norms of sliding windows.
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


# As in librosa's path of Viterbi.
def viterbi_path(log_prob, log_trans, log_p_init):
    n_steps, n_states = log_prob.shape
    state = np.zeros(n_steps, dtype=np.uint16)
    value = np.zeros((n_steps, n_states), dtype=np.float64)
    ptr = np.zeros((n_steps, n_states), dtype=np.uint16)
    value[0] = log_prob[0] + log_p_init
    for t in range(1, n_steps):
        trans_out = value[t - 1] + log_trans.T
        for j in range(n_states):
            ptr[t, j] = np.argmax(trans_out[j])
            value[t, j] = log_prob[t, j] + trans_out[j, ptr[t][j]]
    state[-1] = np.argmax(value[-1])
    for t in range(n_steps - 2, -1, -1):
        state[t] = ptr[t + 1, state[t + 1]]
    return state, value[-1:, state[-1]]


# As in Gillespie's direct method of a stochastic simulator.
def propensities_of(reactants, rates, state, out):
    for ind in range(rates.shape[0]):
        out[ind] = rates[ind]
        for s in range(state.shape[0]):
            for k in range(reactants[ind, s]):
                out[ind] *= state[s] - k


def gillespie(reactants, products, initial, rates, max_t, max_iter, seed):
    np.random.seed(seed)
    v = products - reactants
    ite = 1
    t = 0.0
    x = np.zeros((max_iter, initial.shape[0]), dtype=np.int64)
    times = np.zeros(max_iter)
    x[0, :] = initial.copy()
    xt = initial.copy()
    prop = np.zeros(rates.shape[0])
    status = 0
    while ite < max_iter:
        propensities_of(reactants, rates, xt, prop)
        total = np.sum(prop)
        if total < 1e-30:
            status = 3
            break
        t += -np.log(1.0 - np.random.random()) / total
        target = np.random.random() * total
        acc = 0.0
        choice = 0
        for ind in range(len(prop)):
            acc += prop[ind]
            if acc > target:
                choice = ind
                break
        xt += v[choice]
        x[ite, :] = xt
        times[ite] = t
        if t > max_t:
            status = 2
            break
        ite += 1
    return x[:ite, :], times[:ite], status


# As in tutorials about Metropolis's method for Ising's model.
def energy_change(spins, i, j):
    n, m = spins.shape
    around = spins[(i + 1) % n, j] + spins[i - 1, j] + spins[i, (j + 1) % m] + spins[i, j - 1]
    return 2 * spins[i, j] * around


def metropolis(spins, beta, n_steps, seed):
    np.random.seed(seed)
    n, m = spins.shape
    energies = []
    energy = 0
    for step in range(n_steps):
        i = int(np.random.random() * n)
        j = int(np.random.random() * m)
        dE = energy_change(spins, i, j)
        if dE <= 0 or np.random.rand() < np.exp(-beta * dE):
            spins[i, j] *= -1
            energy += dE
        if step % 1000 == 0:
            energies.append(energy)
    return np.array(energies)


# As in arch's recursion of variances.
def garch_recursion(parameters, fresids, sresids, sigma2, p, o, q, nobs, backcast, var_bounds):
    for t in range(nobs):
        loc = 0
        sigma2[t] = parameters[loc]
        loc += 1
        for j in range(p):
            if (t - 1 - j) < 0:
                sigma2[t] += parameters[loc] * backcast
            else:
                sigma2[t] += parameters[loc] * fresids[t - 1 - j]
            loc += 1
        for j in range(o):
            if (t - 1 - j) < 0:
                sigma2[t] += parameters[loc] * 0.5 * backcast
            else:
                sigma2[t] += parameters[loc] * fresids[t - 1 - j] * (sresids[t - 1 - j] < 0)
            loc += 1
        for j in range(q):
            if (t - 1 - j) < 0:
                sigma2[t] += parameters[loc] * backcast
            else:
                sigma2[t] += parameters[loc] * sigma2[t - 1 - j]
            loc += 1
        if sigma2[t] < var_bounds[t, 0]:
            sigma2[t] = var_bounds[t, 0]
        elif sigma2[t] > var_bounds[t, 1]:
            if not np.isinf(sigma2[t]):
                sigma2[t] = var_bounds[t, 1] + np.log(sigma2[t] / var_bounds[t, 1])
            else:
                sigma2[t] = var_bounds[t, 1] + 1000
    return sigma2


# As in stumpy's variances of windows by Welford.
def welford_windows(a, w):
    all_variances = np.empty(len(a) - w + 1, dtype=np.float64)
    prev_mean = 0.0
    prev_var = np.nan
    for start in range(len(a) - w + 1):
        stop = start + w
        if start == 0 or np.isnan(prev_var) or np.isnan(a[start - 1]) or np.isnan(a[stop - 1]):
            curr_mean = np.nanmean(a[start:stop])
            curr_var = np.nanvar(a[start:stop])
        else:
            curr_mean = prev_mean + (a[stop - 1] - a[start - 1]) / w
            curr_var = prev_var + (a[stop - 1] - a[start - 1]) / w * (a[stop - 1] - curr_mean + a[start - 1] - prev_mean)
        all_variances[start] = curr_var
        prev_mean = curr_mean
        prev_var = curr_var
    return all_variances


# As in quantecon's sample paths of Markov chains.
def search_sorted(a, v):
    lo = -1
    hi = len(a)
    while lo < hi - 1:
        m = (lo + hi) // 2
        if v < a[m]:
            hi = m
        else:
            lo = m
    return hi


def sample_paths(cdfs, init_states, random_values, out):
    num_reps, ts_length = out.shape
    for i in range(num_reps):
        out[i, 0] = init_states[i]
        for t in range(ts_length - 1):
            out[i, t + 1] = search_sorted(cdfs[out[i, t]], random_values[i, t])


# As in sgkit's counts of alleles and their heterozygosity.
def allele_counts(genotypes, n_alleles):
    out = np.zeros((genotypes.shape[0], n_alleles), dtype=np.uint32)
    het = np.zeros(genotypes.shape[0], dtype=np.float64)
    for i, row in enumerate(genotypes):
        called = 0
        for call in row:
            first = call[0]
            distinct = False
            for a in call:
                if a >= 0:
                    out[i, a] += 1
                if a != first:
                    distinct = True
            if first >= 0:
                called += 1
                het[i] += distinct
        het[i] = het[i] / called if called > 0 else np.nan
    return out, het


# As in datashader's lines of pixels.
def draw_segment(x0, y0, x1, y1, plot_start, agg):
    dx = x1 - x0
    ix = (dx > 0) - (dx < 0)
    dx = abs(dx) * 2
    dy = y1 - y0
    iy = (dy > 0) - (dy < 0)
    dy = abs(dy) * 2
    if plot_start:
        agg[y0, x0] += 1
    if dx >= dy:
        error = 2 * dy - dx
        while x0 != x1:
            if error >= 0 and (error or ix > 0):
                error -= 2 * dx
                y0 += iy
            error += 2 * dy
            x0 += ix
            agg[y0, x0] += 1
    else:
        error = 2 * dx - dy
        while y0 != y1:
            if error >= 0 and (error or iy > 0):
                error -= 2 * dy
                x0 += ix
            error += 2 * dx
            y0 += iy
            agg[y0, x0] += 1


def draw_lines(xs, ys, width, height):
    agg = np.zeros((height, width), dtype=np.uint32)
    plot_start = True
    for i in range(len(xs) - 1):
        if math.isnan(xs[i]) or math.isnan(ys[i]) or math.isnan(xs[i + 1]) or math.isnan(ys[i + 1]):
            plot_start = True
            continue
        draw_segment(int(xs[i]), int(ys[i]), int(xs[i + 1]), int(ys[i + 1]), plot_start, agg)
        plot_start = False
    return agg


# As in trackpy's refinement of centres of mass.
def refine_centres(image, radius, coords, mask, max_iterations, shift_thresh):
    N = coords.shape[0]
    results = np.empty((N, 3), dtype=np.float64)
    upper_y = image.shape[0] - radius - 1
    upper_x = image.shape[1] - radius - 1
    for feat in range(N):
        coord = coords[feat]
        cm_y = 0.0
        cm_x = 0.0
        mass = 0.0
        for iteration in range(max_iterations):
            square0 = coord[0] - radius
            square1 = coord[1] - radius
            cm_y = cm_x = mass = 0.0
            for i in range(2 * radius + 1):
                for j in range(2 * radius + 1):
                    if not mask[i, j]:
                        continue
                    px = image[square0 + i, square1 + j]
                    cm_y += px * i
                    cm_x += px * j
                    mass += px
            off_y = cm_y / mass - radius
            off_x = cm_x / mass - radius
            if off_y**2 + off_x**2 < shift_thresh**2:
                break
            coord[0] = min(max(int(round(coord[0] + off_y)), radius), upper_y)
            coord[1] = min(max(int(round(coord[1] + off_x)), radius), upper_x)
        results[feat, 0] = coord[0] + cm_y / mass - radius
        results[feat, 1] = coord[1] + cm_x / mass - radius
        results[feat, 2] = mass
    return results


# As in resampy's interpolation by a window of sincs.
def resample_loop(x, t_out, interp_win, interp_delta, num_table, scale, y):
    index_step = int(scale * num_table)
    nwin = interp_win.shape[0]
    n_orig = x.shape[0]
    for t, time_register in enumerate(t_out):
        n = int(time_register)
        frac = scale * (time_register - n)
        index_frac = frac * num_table
        offset = int(index_frac)
        eta = index_frac - offset
        i_max = min(n + 1, (nwin - offset) // index_step)
        for i in range(i_max):
            weight = interp_win[offset + i * index_step] + eta * interp_delta[offset + i * index_step]
            y[t] += weight * x[n - i]
        frac = scale - frac
        index_frac = frac * num_table
        offset = int(index_frac)
        eta = index_frac - offset
        k_max = min(n_orig - n - 1, (nwin - offset) // index_step)
        for k in range(k_max):
            weight = interp_win[offset + k * index_step] + eta * interp_delta[offset + k * index_step]
            y[t] += weight * x[n + k + 1]


# As in numbagg's exponential means of moving windows.
def move_exp_nanmean(a, alpha, min_weight, out):
    N = len(a)
    numer = denom = weight = 0.0
    for i in range(N):
        a_i = a[i]
        alpha_i = alpha[i]
        decay = 1.0 - alpha_i
        numer *= decay
        denom *= decay
        weight *= decay
        if not np.isnan(a_i):
            numer += a_i
            denom += 1
            weight += alpha_i
        if weight >= min_weight and denom > 0:
            out[i] = numer / denom
        else:
            out[i] = np.nan


# As in numba_celltree's search of boxes by a stack of its own.
def push(array, value, size):
    array[size] = value
    return size + 1


def pop(array, size):
    return array[size - 1], size - 1


def locate_points(points, axis, split, left, right, bounds):
    result = np.empty(len(points), dtype=np.int64)
    stack = np.empty(64, dtype=np.int64)
    for i in range(len(points)):
        size = push(stack, 0, 0)
        result[i] = -1
        x, y = points[i]
        while size > 0:
            node, size = pop(stack, size)
            if axis[node] < 0:
                b = bounds[node]
                if b[0] <= x <= b[1] and b[2] <= y <= b[3]:
                    result[i] = node
                    break
                continue
            v = x if axis[node] == 0 else y
            if v <= split[node]:
                size = push(stack, left[node], size)
            if v >= split[node]:
                size = push(stack, right[node], size)
    return result


# As in Awkward Array's examples of lists of particles.
def heaviest_pairs(offsets, pt, eta, phi):
    out = np.zeros(len(offsets) - 1)
    k = 0
    for start, stop in zip(offsets[:-1], offsets[1:]):
        best = 0.0
        for i in range(start, stop):
            for j in range(i + 1, stop):
                mass = math.sqrt(2 * pt[i] * pt[j] * (math.cosh(eta[i] - eta[j]) - math.cos(phi[i] - phi[j])))
                if mass > best:
                    best = mass
        out[k] = best
        k += 1
    return out


# As in hdbscan's spanning trees of mutual reachability.
def spanning_tree(raw, core):
    dim = raw.shape[0]
    in_tree = np.zeros(dim, dtype=np.int8)
    current_node = 0
    result = np.zeros((dim - 1, 3))
    current_distances = np.full(dim, np.inf)
    sources = np.ones(dim)
    for i in range(1, dim):
        in_tree[current_node] = 1
        current_core = core[current_node]
        new_distance = np.inf
        source_node = 0
        new_node = 0
        for j in range(dim):
            if in_tree[j]:
                continue
            value = current_distances[j]
            d = 0.0
            for f in range(raw.shape[1]):
                d += (raw[current_node, f] - raw[j, f]) ** 2
            d = math.sqrt(d)
            if core[j] > d:
                d = core[j]
            if current_core > d:
                d = current_core
            if d < value:
                current_distances[j] = d
                sources[j] = current_node
                value = d
            if value < new_distance:
                new_distance = value
                source_node = sources[j]
                new_node = j
        result[i - 1, 0] = source_node
        result[i - 1, 1] = new_node
        result[i - 1, 2] = new_distance
        current_node = new_node
    return result


# As in librosa's costs of warping with steps and weights.
def accumulated_cost(C, steps, weights_add, weights_mul):
    n, m = C.shape
    D = np.full((n + 1, m + 1), np.inf)
    D_steps = np.zeros((n + 1, m + 1), dtype=np.int32)
    D[0, 0] = 0
    for cur_n in range(1, n + 1):
        for cur_m in range(1, m + 1):
            for k, w_add, w_mul in zip(range(steps.shape[0]), weights_add, weights_mul):
                row = cur_n - steps[k][0]
                col = cur_m - steps[k][1]
                if row < 0 or col < 0:
                    continue
                cost = D[row, col] + w_mul * C[cur_n - 1, cur_m - 1] + w_add
                if cost < D[cur_n, cur_m]:
                    D[cur_n, cur_m] = cost
                    D_steps[cur_n, cur_m] = k
    path = [(n - 1, m - 1)]
    i, j = n, m
    while (i, j) != (1, 1):
        k = D_steps[i, j]
        i -= steps[k, 0]
        j -= steps[k, 1]
        path.append((i - 1, j - 1))
    return D[n, m], np.array(path)


# As in Numba's example of options' prices.
A1, A2, A3, A4, A5 = 0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429
RSQRT2PI = 0.39894228040143267793994605993438


def cnd(d):
    K = 1.0 / (1.0 + 0.2316419 * math.fabs(d))
    ret_val = RSQRT2PI * math.exp(-0.5 * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))))
    if d > 0:
        ret_val = 1.0 - ret_val
    return ret_val


def black_scholes(call, put, prices, strikes, years, riskfree, volatility):
    for i in range(len(prices)):
        S, X, T = prices[i], strikes[i], years[i]
        sqrtT = math.sqrt(T)
        d1 = (math.log(S / X) + (riskfree + 0.5 * volatility * volatility) * T) / (volatility * sqrtT)
        d2 = d1 - volatility * sqrtT
        cndd1 = cnd(d1)
        cndd2 = cnd(d2)
        expRT = math.exp((-1.0 * riskfree) * T)
        call[i] = S * cndd1 - X * expRT * cndd2
        put[i] = X * expRT * (1.0 - cndd2) - S * (1.0 - cndd1)


# As in Numba's example of Laplace's equation.
def laplace_step(A, Anew):
    error = 0.0
    n, m = A.shape
    for j in range(1, n - 1):
        for i in range(1, m - 1):
            Anew[j, i] = 0.25 * (A[j, i + 1] + A[j, i - 1] + A[j - 1, i] + A[j + 1, i])
            error = max(error, abs(Anew[j, i] - A[j, i]))
    return error


def laplace(A, tol, iter_max):
    Anew = np.zeros_like(A)
    error = 1.0
    count = 0
    while error > tol and count < iter_max:
        error = laplace_step(A, Anew)
        tmp = A
        A = Anew
        Anew = tmp
        count += 1
    return A, count


# As in Numba's example of Mandelbrot's set.
def escape_time(x, y, max_iters):
    c = complex(x, y)
    z = 0.0j
    for i in range(max_iters):
        z = z * z + c
        if (z.real * z.real + z.imag * z.imag) >= 4:
            return i
    return max_iters


def mandelbrot_image(min_x, max_x, min_y, max_y, image, iters):
    height = image.shape[0]
    width = image.shape[1]
    pixel_size_x = (max_x - min_x) / width
    pixel_size_y = (max_y - min_y) / height
    for x in range(width):
        real = min_x + x * pixel_size_x
        for y in range(height):
            imag = min_y + y * pixel_size_y
            image[y, x] = escape_time(real, imag, iters)
    return image


# As in cellpose's sampling of images between pixels.
def map_between_pixels(I, yc, xc, Y):
    C, Ly, Lx = I.shape
    yc_floor = yc.astype(np.int32)
    xc_floor = xc.astype(np.int32)
    yc = yc - yc_floor
    xc = xc - xc_floor
    for i in range(yc_floor.shape[0]):
        yf = min(Ly - 1, max(0, yc_floor[i]))
        xf = min(Lx - 1, max(0, xc_floor[i]))
        yf1 = min(Ly - 1, yf + 1)
        xf1 = min(Lx - 1, xf + 1)
        y = yc[i]
        x = xc[i]
        for c in range(C):
            Y[c, i] = (
                np.float32(I[c, yf, xf]) * (1 - y) * (1 - x)
                + np.float32(I[c, yf, xf1]) * (1 - y) * x
                + np.float32(I[c, yf1, xf]) * y * (1 - x)
                + np.float32(I[c, yf1, xf1]) * y * x
            )


# As in questions about CRC-32 by tables.
def crc32(data):
    table = np.zeros(256, dtype=np.uint32)
    for i in range(256):
        c = np.uint32(i)
        for _ in range(8):
            c = np.uint32(0xEDB88320) ^ (c >> np.uint32(1)) if c & np.uint32(1) else c >> np.uint32(1)
        table[i] = c
    crc = np.uint32(0xFFFFFFFF)
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> np.uint32(8))
    return crc ^ np.uint32(0xFFFFFFFF)


# As in answers about lists of primes.
def primes_below(n):
    primes = [2]
    for candidate in range(3, n, 2):
        is_prime = True
        for p in primes:
            if p * p > candidate:
                break
            if candidate % p == 0:
                is_prime = False
                break
        if is_prime:
            primes.append(candidate)
    return primes


# As in questions about the thinning of lines by Ramer, Douglas and Peucker.
def thin_line(points, epsilon):
    n = points.shape[0]
    keep = np.ones(n, dtype=np.bool_)
    stack = [(0, n - 1)]
    while stack:
        start, end = stack.pop()
        dmax = 0.0
        index = start
        x1, y1 = points[start]
        x2, y2 = points[end]
        length = math.hypot(x2 - x1, y2 - y1)
        for i in range(start + 1, end):
            if keep[i]:
                x0, y0 = points[i]
                d = abs((y2 - y1) * x0 - (x2 - x1) * y0 + x2 * y1 - y2 * x1) / length
                if d > dmax:
                    index = i
                    dmax = d
        if dmax > epsilon:
            stack.append((start, index))
            stack.append((index, end))
        else:
            keep[start + 1 : end] = False
    return points[keep]


# As in quantecon's bisections, which take a function.
def cubic(x, p):
    return x**3 + p * x - 1.0


def bisect(f, a, b, args=(), xtol=2e-12, maxiter=100):
    if xtol <= 0:
        raise ValueError("xtol is too small")
    fa = f(a, *args)
    fb = f(b, *args)
    if fa * fb > 0:
        raise ValueError("f(a) and f(b) must have different signs")
    if fa == 0:
        return a, 0, True
    dm = b - a
    root = a
    for itr in range(maxiter):
        dm *= 0.5
        xm = root + dm
        fm = f(xm, *args)
        if fm * fa >= 0:
            root = xm
        if fm == 0 or abs(dm) < xtol:
            return xm, itr + 1, True
    return root, maxiter, False


def cubic_roots(ps):
    roots = np.empty(ps.size)
    calls = 0
    for k, p in enumerate(ps):
        root, iterations, converged = bisect(cubic, -2.0, 2.0, args=(p,))
        if not converged:
            raise RuntimeError("no root")
        roots[k] = root
        calls += iterations
    return roots, calls


# As in optical flow by Lucas and Kanade, with a system of equations for each pixel.
def optical_flow(Ix, Iy, It, half):
    flow = np.zeros((Ix.shape[0], Ix.shape[1], 2))
    for i in range(half, Ix.shape[0] - half):
        for j in range(half, Ix.shape[1] - half):
            a = Ix[i - half : i + half + 1, j - half : j + half + 1].copy().ravel()
            b = Iy[i - half : i + half + 1, j - half : j + half + 1].copy().ravel()
            c = It[i - half : i + half + 1, j - half : j + half + 1].copy().ravel()
            M = np.array([[np.sum(a * a), np.sum(a * b)], [np.sum(a * b), np.sum(b * b)]])
            if abs(np.linalg.det(M)) < 1e-9:
                continue
            flow[i, j] = np.linalg.solve(M, -np.array([np.sum(a * c), np.sum(b * c)]))
    return flow


# As in questions about closures over a step and parameters.
def make_stepper(force, dt):
    half = 0.5 * dt

    def run(x, v, n):
        a = force(x)
        for _ in range(n):
            v += half * a
            x += dt * v
            a = force(x)
            v += half * a
        return x, v

    return run


def pendulum(x):
    return -math.sin(x) - 0.1 * x


step_pendulum = make_stepper(pendulum, 1e-3)


# As in percolation's clusters by a list of cells to visit.
def flood_labels(grid):
    rows, cols = grid.shape
    labels = np.zeros((rows, cols), dtype=np.int32)
    label = 0
    for r, c in np.ndindex(rows, cols):
        if not grid[r, c] or labels[r, c]:
            continue
        label += 1
        labels[r, c] = label
        todo = [(r, c)]
        while len(todo) > 0:
            y, x = todo.pop()
            for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                yy, xx = y + dy, x + dx
                if 0 <= yy < rows and 0 <= xx < cols and grid[yy, xx] and labels[yy, xx] == 0:
                    labels[yy, xx] = label
                    todo.append((yy, xx))
    return labels, label


# As in a graph package's search by breadth over sparse rows.
def breadth_first(indptr, indices, source):
    n = len(indptr) - 1
    dist = np.full(n, -1, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    dist[source] = 0
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for v in indices[indptr[u] : indptr[u + 1]]:
            if dist[v] == -1:
                dist[v] = dist[u] + 1
                queue[tail] = v
                tail += 1
    return dist


# As in questions about the choice of points by triangles' areas.
def largest_triangles(x, y, n_out):
    every = (x.shape[0] - 2) / (n_out - 2)
    a = 0
    sampled = np.empty(n_out, dtype=np.int64)
    sampled[0] = 0
    for i in range(n_out - 2):
        begin = int(every * i) + 1
        end = int(every * (i + 1)) + 1
        nxt = min(int(every * (i + 2)) + 1, len(x))
        avg_x = np.mean(x[end:nxt])
        avg_y = np.mean(y[end:nxt])
        max_area = -1.0
        for j in range(begin, end):
            area = abs((x[a] - avg_x) * (y[j] - y[a]) - (x[a] - x[j]) * (avg_y - y[a])) * 0.5
            if area > max_area:
                max_area, next_a = area, j
        a = next_a
        sampled[i + 1] = a
    sampled[-1] = len(x) - 1
    return sampled


# As in Hampel's filter of outliers.
def hampel(x, k, n_sigmas=3.0):
    n = x.shape[0]
    out = x.copy()
    flags = np.zeros(n, dtype=np.bool_)
    for i in range(k, n - k):
        window = x[i - k : i + k + 1]
        med = np.median(window)
        sigma = 1.4826 * np.median(np.abs(window - med))
        if np.abs(x[i] - med) > n_sigmas * sigma:
            out[i] = med
            flags[i] = True
    return out, flags


# As in solvers of sudoku that call themselves.
def may_stand(board, row, col, digit):
    for k in range(9):
        if board[row, k] == digit or board[k, col] == digit:
            return False
    r0, c0 = 3 * (row // 3), 3 * (col // 3)
    for i in range(r0, r0 + 3):
        for j in range(c0, c0 + 3):
            if board[i, j] == digit:
                return False
    return True


def sudoku(board):
    for row in range(9):
        for col in range(9):
            if board[row, col] == 0:
                for digit in range(1, 10):
                    if may_stand(board, row, col, digit):
                        board[row, col] = digit
                        if sudoku(board):
                            return True
                        board[row, col] = 0
                return False
    return True


# As in queens upon a board of n by n, counted by bits.
def place_queens(all_rows, cols, left, right):
    if cols == all_rows:
        return 1
    count = 0
    free = all_rows & ~(cols | left | right)
    while free:
        bit = free & -free
        free ^= bit
        count += place_queens(all_rows, cols | bit, (left | bit) << 1, (right | bit) >> 1)
    return count


def count_queens(n):
    return place_queens((1 << n) - 1, 0, 0, 0)


# As in Conway's game with edges that meet.
def life_generation(grid, new_grid):
    n, m = grid.shape
    for i in range(n):
        for j in range(m):
            total = -grid[i, j]
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    total += grid[(i + di) % n, (j + dj) % m]
            if grid[i, j] == 1 and (total < 2 or total > 3):
                new_grid[i, j] = 0
            elif grid[i, j] == 0 and total == 3:
                new_grid[i, j] = 1
            else:
                new_grid[i, j] = grid[i, j]


def play_life(grid, generations):
    new_grid = np.empty_like(grid)
    for _ in range(generations):
        life_generation(grid, new_grid)
        grid, new_grid = new_grid, grid
    return grid


# As in a search for words by Knuth, Morris and Pratt.
def find_word(text, word):
    m = len(word)
    lps = np.zeros(m, dtype=np.int64)
    length = 0
    i = 1
    while i < m:
        if word[i] == word[length]:
            length += 1
            lps[i] = length
            i += 1
        elif length != 0:
            length = lps[length - 1]
        else:
            lps[i] = 0
            i += 1
    found = []
    i = j = 0
    while i < len(text):
        if text[i] == word[j]:
            i += 1
            j += 1
            if j == m:
                found.append(i - j)
                j = lps[j - 1]
        elif j != 0:
            j = lps[j - 1]
        else:
            i += 1
    return np.array(found)


# As in antropy's sample entropy.
def sample_entropy(x, order, r):
    n = x.size
    n1 = n - 1
    order += 1
    order_dbld = 2 * order
    run = [0] * n
    run1 = run[:]
    r1 = [0] * (n * order_dbld)
    a = [0] * order
    b = a[:]
    for i in range(n1):
        nj = n1 - i
        for jj in range(nj):
            j = jj + i + 1
            if abs(x[j] - x[i]) < r:
                run[jj] = run1[jj] + 1
                m1 = order if order < run[jj] else run[jj]
                for m in range(m1):
                    a[m] += 1
                    if j < n1:
                        b[m] += 1
            else:
                run[jj] = 0
        for j in range(order_dbld):
            run1[j] = run[j]
            r1[i + n * j] = run[j]
        if nj > order_dbld - 1:
            for j in range(order_dbld, nj):
                run1[j] = run[j]
    m = order - 1
    while m > 0:
        b[m] = b[m - 1]
        m -= 1
    b[0] = n * n1 // 2
    return -math.log(a[order - 1] / b[order - 1])


# As in a package of filters, over every element with its index.
def box_blur(image, half):
    out = np.zeros(image.shape, image.dtype)
    ny, nx = image.shape
    for (y, x), _ in np.ndenumerate(image):
        acc = np.float32(0)
        count = 0
        for yy in range(max(0, y - half), min(ny, y + half + 1)):
            for xx in range(max(0, x - half), min(nx, x + half + 1)):
                acc += image[yy, xx]
                count += 1
        out[y, x] = acc / count
    return out


# As in codes of particles in cells: charges of particles shared among four corners.
def deposit_charges(positions, charges, rho, h):
    for p in range(positions.shape[0]):
        jf, x = divmod(positions[p, 0], h)
        kf, y = divmod(positions[p, 1], h)
        j, k = int(jf), int(kf)
        q = charges[p]
        rho[j, k] += q * (h - x) * (h - y) / h**2
        rho[j + 1, k] += q * x * (h - y) / h**2
        rho[j + 1, k + 1] += q * x * y / h**2
        rho[j, k + 1] += q * (h - x) * y / h**2


# As in a detector's sum of pulses.
def pulse(t, t0, An, At, tau_n, tau_in, tau_t):
    t_ = t - t0
    if t_ <= 0:
        return 0.0
    if t_ > 10 * tau_t:
        return 0.0
    return An * (math.exp(-t_ / tau_n) - math.exp(-t_ / tau_in)) + At * (math.exp(-t_ / tau_t) - math.exp(-t_ / tau_n))


def pulse_sum(t, ts, phs, An, At, tau_n, tau_in, tau_t):
    res = np.zeros_like(t)
    relevant = (ts <= t[-1]) & (ts > t[0] - 10 * tau_t)
    for i in range(len(ts)):
        if relevant[i]:
            for k in range(t.size):
                res[k] += phs[i] * pulse(t[k], ts[i], An, At, tau_n, tau_in, tau_t)
    return res


# As in questions about quick selection with swaps of elements.
def partition(a, left, right, pivot):
    value = a[pivot]
    a[pivot], a[right] = a[right], a[pivot]
    store = left
    for i in range(left, right):
        if a[i] < value:
            a[store], a[i] = a[i], a[store]
            store += 1
    a[right], a[store] = a[store], a[right]
    return store


def quick_select(values, k):
    a = values.copy()
    left, right = 0, len(a) - 1
    while True:
        if left == right:
            return a[left]
        p = partition(a, left, right, (left + right) // 2)
        if k == p:
            return a[k]
        elif k < p:
            right = p - 1
        else:
            left = p + 1


# As in Levenshtein's distance of two strings.
def levenshtein(s1, s2):
    if len(s1) < len(s2):
        s1, s2 = s2, s1
    previous = list(range(len(s2) + 1))
    for i, c1 in enumerate(s1):
        current = [i + 1]
        for j, c2 in enumerate(s2):
            insertion = previous[j + 1] + 1
            deletion = current[j] + 1
            substitution = previous[j] + (c1 != c2)
            current.append(min(insertion, deletion, substitution))
        previous = current
    return previous[-1]


# As in geographic packages' great circles.
def haversine(s_lat, s_lng, e_lat, e_lng):
    R = 6373.0
    s_lat = np.radians(s_lat)
    e_lat = np.radians(e_lat)
    d = np.sin((e_lat - s_lat) / 2) ** 2 + np.cos(s_lat) * np.cos(e_lat) * np.sin((np.radians(e_lng) - np.radians(s_lng)) / 2) ** 2
    return 2 * R * np.arcsin(np.sqrt(d))


def nearest_place(places, stations):
    nearest = []
    for lat, lng in places:
        best = np.inf
        arg = 0
        for k, station in enumerate(stations):
            d = haversine(lat, lng, station[0], station[1])
            if d < best:
                best, arg = d, k
        nearest.append(arg)
    return np.array(nearest)


# As in a backtest's loop over orders with a position, and None where there is none yet.
def backtest(close, signal, fee):
    cash = 10_000.0
    position = 0.0
    entry = None
    trades = [0.0]
    equity = np.empty_like(close)
    for t in range(close.shape[0]):
        if signal[t] == 1 and position == 0.0:
            position = cash * (1 - fee) / close[t]
            cash = 0.0
            entry = close[t]
        elif signal[t] == -1 and entry is not None:
            cash = position * close[t] * (1 - fee)
            trades.append(close[t] / entry - 1.0)
            position = 0.0
            entry = None
        equity[t] = cash + position * close[t]
    return equity, np.array(trades[1:])


# As in clustering by means, with rows, masks and assertions.
def lloyd(points, k, n_iter):
    assert points.ndim == 2 and k <= len(points)
    centers = points[:k].copy()
    labels = np.zeros(len(points), dtype=np.int64)
    for it in range(n_iter):
        changed = False
        for i in range(len(points)):
            p = points[i]
            distances = np.array([np.sqrt(np.sum((p - c) ** 2)) for c in centers])
            best = distances.argmin()
            if best != labels[i]:
                labels[i] = best
                changed = True
        if not changed:
            break
        for c in range(k):
            members = points[labels == c]
            if len(members) > 0:
                centers[c] = np.array([members[:, d].mean() for d in range(points.shape[1])])
    return centers, labels


# As in a Kalman filter of small matrices by slices and products.
def track(zs, F, H, Q, R, x, P):
    out = np.zeros((zs.shape[0], x.shape[0]))
    identity = np.eye(x.shape[0])
    for k in range(zs.shape[0]):
        x = F @ x
        P = F @ P @ F.T + Q
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ (zs[k] - H @ x)
        P = (identity - K @ H) @ P
        out[k] = x
    return out


# As in molecular dynamics' neighbour lists: cells of a box, chains of particles.
def pair_energy(pos, box, cutoff):
    ncell = int(box // cutoff)
    head = -np.ones((ncell, ncell), dtype=np.int64)
    chain = -np.ones(len(pos), dtype=np.int64)
    for i, (x, y) in enumerate(pos):
        cx = int(x / box * ncell) % ncell
        cy = int(y / box * ncell) % ncell
        chain[i] = head[cx, cy]
        head[cx, cy] = i
    energy = 0.0
    for cx in range(ncell):
        for cy in range(ncell):
            i = head[cx, cy]
            while i != -1:
                for dx in range(-1, 2):
                    for dy in range(-1, 2):
                        j = head[(cx + dx) % ncell, (cy + dy) % ncell]
                        while j != -1:
                            if i < j:
                                rij = pos[i] - pos[j]
                                rij -= box * np.round(rij / box)
                                r2 = np.dot(rij, rij)
                                if r2 < cutoff**2:
                                    s6 = (0.01 / r2) ** 3
                                    energy += 4.0 * (s6**2 - s6)
                            j = chain[j]
                i = chain[i]
    return energy


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


def _disc_mask(radius):
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    return x * x + y * y <= radius * radius


def _reactions():
    return np.array([[1, 0], [1, 1], [0, 1]]), np.array([[2, 0], [0, 2], [0, 0]]), np.array([60, 40]), np.array([1.0, 0.01, 0.6])


def _garch(n):
    e = _r().standard_normal(n)
    return np.array([0.1, 0.05, 0.1, 0.8]), e * e, np.sign(e), np.zeros(n), 1, 1, 1, n, 1.0, np.stack([np.full(n, 1e-3), np.full(n, 3.0)], 1)


def _resampling(n):
    window = np.sinc(np.linspace(0, 16, 16 * 64 + 1))
    return _r().random(n), np.arange(0, n - 1, 0.9), window, np.append(np.diff(window), 0.0), 64, 1.0, np.zeros(len(np.arange(0, n - 1, 0.9)))


def _tree(depth):
    """A tree over the unit square that halves x and y by turns: axis (-1 of leaves), split, left, right, bounds."""
    n = 2 ** (depth + 1) - 1
    axis, split, bounds = np.full(n, -1), np.zeros(n), np.zeros((n, 4))
    bounds[0] = 0, 1, 0, 1
    for k in range(n // 2):
        axis[k] = (k + 1).bit_length() % 2
        low, high = bounds[k][2 * axis[k] : 2 * axis[k] + 2]
        split[k] = (low + high) / 2
        bounds[2 * k + 1] = bounds[2 * k + 2] = bounds[k]
        bounds[2 * k + 1, 2 * axis[k] + 1] = bounds[2 * k + 2, 2 * axis[k]] = split[k]
    return axis, split, 2 * np.arange(n) + 1, 2 * np.arange(n) + 2, bounds


SUDOKU = "530070000600195000098000060800060003400803001700020006060000280000419005000080079"


PROGRAMS = {
    "fnv1a": (fnv1a, lambda: (_r().integers(0, 256, 100_000).astype(np.uint8),)),
    "splitmix": (splitmix_fill, lambda: (7, np.zeros(50_000))),
    "umap layout": (
        umap_layout,
        lambda: (_r().random((500, 2)) * 20, *np.random.default_rng(1).integers(0, 500, (2, 3000)), np.array([11, 22, 33]), 6, 1.57, 0.9),
    ),
    "neighbours": (nearest_neighbours, lambda: (_r().random((150, 6)), 8)),
    "polygon mask": (polygon_mask, lambda: (_r().random((2000, 2)) * 3 - 1.5, _polygon(40))),
    "kepler": (true_anomalies, lambda: (np.linspace(0, 6.2, 20_000), 0.6)),
    "dtw band": (dtw_band, lambda: (_r().random(600), _r().random(550), 120)),
    "price boxes": (price_boxes, lambda: _prices(60_000)),
    "group starts": (group_starts, lambda: (np.sort(_r().integers(0, 300_000, 600_000)).astype(np.int32),)),
    "conflicts": (conflict_penalty, lambda: (*(_r().integers(0, 12, (4, 150_000))), 10)),
    "count values": (count_values, lambda: (_r().integers(0, 5000, 500_000),)),
    "rank mod 2": (rank_mod2, lambda: (_r().integers(0, 2, (110, 100)),)),
    "dihedrals": (
        turn_dihedrals,
        lambda: (
            _r().random((60, 3)),
            _r().random(60),
            np.stack([np.random.default_rng(k).permutation(60)[:4] for k in range(60)]),
            _r().random((60, 60)) < 0.5,
        ),
    ),
    "lorenz": (integrate_lorenz, lambda: (np.array([1.0, 1.0, 1.0]), np.linspace(0, 20, 8000))),
    "window norms": (window_norms, lambda: (_r().random(30_000), _r().random(40))),
    "conjugates": (scatter_conjugates, lambda: (_complex(20, 400), _complex(20, 400), _r().integers(0, 200, 400), 100)),
    "fitness": (population_fitness, lambda: (_r().random((50, 50)), np.stack([np.random.default_rng(k).permutation(50) for k in range(200)]))),
    "circles": (
        stamp_circles,
        lambda: (
            np.zeros((200, 300, 3), np.uint8),
            _r().integers(0, 300, 200),
            _r().integers(0, 200, 200),
            _r().random(200),
            _disc(12),
            _r().integers(0, 256, (200, 3)).astype(np.uint8),
        ),
    ),
    "viterbi path": (viterbi_path, lambda: (np.log(_r().random((2000, 24))), np.log(_r().random((24, 24))), np.log(_r().random(24)))),
    "gillespie": (gillespie, lambda: (*_reactions(), 1e9, 15_000, 4)),
    "metropolis": (metropolis, lambda: (np.where(_r().random((60, 60)) < 0.5, 1, -1), 0.44, 60_000, 3)),
    "garch": (garch_recursion, lambda: _garch(30_000)),
    "welford": (welford_windows, lambda: (np.where(_r().random(60_000) < 1e-3, np.nan, _r().random(60_000)), 50)),
    "markov paths": (
        sample_paths,
        lambda: (np.cumsum(np.full((50, 50), 1 / 50), 1), _r().integers(0, 50, 60), _r().random((60, 1000)) * 0.99, np.zeros((60, 1000), np.int64)),
    ),
    "allele counts": (allele_counts, lambda: (_r().integers(-1, 4, (300, 400, 2)).astype(np.int8), 4)),
    "draw lines": (draw_lines, lambda: (np.where(_r().random(3000) < 0.02, np.nan, _r().random(3000) * 300), _r().random(3000) * 200, 300, 200)),
    "centres": (refine_centres, lambda: (_r().random((200, 200)), 5, _r().integers(10, 190, (150, 2)), _disc_mask(5), 10, 0.1)),
    "resample": (resample_loop, lambda: _resampling(4000)),
    "move exp mean": (
        move_exp_nanmean,
        lambda: (np.where(_r().random(200_000) < 0.1, np.nan, _r().random(200_000)), np.full(200_000, 0.1), 0.2, np.zeros(200_000)),
    ),
    "locate points": (locate_points, lambda: (_r().random((8000, 2)), *_tree(8))),
    "heaviest pairs": (heaviest_pairs, lambda: (np.arange(0, 30_001, 6), *_r().random((3, 30_000)))),
    "spanning tree": (spanning_tree, lambda: (_r().random((200, 4)), _r().random(200) * 0.2)),
    "warping cost": (accumulated_cost, lambda: (_r().random((180, 170)), np.array([[1, 1], [0, 1], [1, 0]]), np.zeros(3), np.ones(3))),
    "black scholes": (
        black_scholes,
        lambda: (
            np.zeros(40_000),
            np.zeros(40_000),
            _r().random(40_000) * 25 + 5,
            _r().random(40_000) * 99 + 1,
            _r().random(40_000) * 9 + 0.25,
            0.02,
            0.3,
        ),
    ),
    "laplace": (laplace, lambda: (np.pad(np.zeros((80, 80)), 1, constant_values=1.0), 1e-6, 20)),
    "mandelbrot image": (mandelbrot_image, lambda: (-2.0, 1.0, -1.0, 1.0, np.zeros((100, 150), np.uint8), 40)),
    "between pixels": (
        map_between_pixels,
        lambda: (
            _r().random((3, 200, 200)).astype(np.float32),
            *(_r().random((2, 10_000)) * 199).astype(np.float32),
            np.zeros((3, 10_000), np.float32),
        ),
    ),
    "crc32": (crc32, lambda: (_r().integers(0, 256, 100_000).astype(np.uint8),)),
    "primes": (primes_below, lambda: (200_000,)),
    "thin line": (thin_line, lambda: (np.stack([np.arange(20_000) / 100, np.cumsum(_r().standard_normal(20_000))], 1), 2.0)),
    "cubic roots": (cubic_roots, lambda: (_r().random(5000) * 3,)),
    "optical flow": (optical_flow, lambda: (*_r().random((3, 70, 70)), 2)),
    "closure": (step_pendulum, lambda: (1.0, 0.0, 300_000)),
    "flood labels": (flood_labels, lambda: (_r().random((200, 200)) < 0.6,)),
    "breadth first": (breadth_first, lambda: (np.arange(0, 160_001, 8), _r().integers(0, 20_000, 160_000), 0)),
    "triangles": (largest_triangles, lambda: (np.arange(200_000.0), np.cumsum(_r().standard_normal(200_000)), 2000)),
    "hampel": (hampel, lambda: (np.where(_r().random(8000) < 0.01, 9.0, _r().random(8000)), 5)),
    "sudoku": (sudoku, lambda: (np.array([int(c) for c in SUDOKU]).reshape(9, 9),)),
    "count queens": (count_queens, lambda: (11,)),
    "play life": (play_life, lambda: (_r().integers(0, 2, (80, 80)), 8)),
    "find word": (find_word, lambda: (_r().integers(0, 3, 300_000).astype(np.uint8), np.array([0, 1, 0, 2, 0, 1, 0, 1], np.uint8))),
    "sample entropy": (sample_entropy, lambda: (_r().random(1000), 2, 0.1)),
    "box blur": (box_blur, lambda: (_r().random((120, 120)).astype(np.float32), 2)),
    "deposit charges": (deposit_charges, lambda: (_r().random((40_000, 2)) * 60, _r().random(40_000), np.zeros((130, 130)), 0.5)),
    "pulse sum": (pulse_sum, lambda: (np.linspace(0, 100, 2000), _r().random(150) * 120, _r().random(150), 1.0, 0.3, 2.0, 0.4, 5.0)),
    "quick select": (quick_select, lambda: (_r().random(300_000), 150_000)),
    "levenshtein": (
        levenshtein,
        lambda: ("".join("acgt"[k] for k in _r().integers(0, 4, 700)), "".join("acgt"[k] for k in _r().integers(0, 4, 600))),
    ),
    "nearest place": (nearest_place, lambda: (_r().random((150, 2)) * 80, _r().random((200, 2)) * 80)),
    "backtest": (backtest, lambda: (100 + np.cumsum(_r().standard_normal(200_000)) ** 2 / 1000, _r().integers(-1, 2, 200_000), 0.001)),
    "lloyd": (lloyd, lambda: (_r().random((400, 3)), 6, 12)),
    "track": (
        track,
        lambda: (
            _r().random((8000, 1)),
            np.array([[1.0, 0.1], [0.0, 1.0]]),
            np.array([[1.0, 0.0]]),
            np.eye(2) * 1e-3,
            np.eye(1) * 0.1,
            np.zeros(2),
            np.eye(2),
        ),
    ),
    "pair energy": (pair_energy, lambda: (_r().random((700, 2)), 1.0, 0.12)),
}
