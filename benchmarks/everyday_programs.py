"""Everyday programs of 1 to 50 ms: each a function in NumPy's source, `np` being bound by whoever runs it, and its inputs. Most are loops
over arrays that are small enough that planning them could cost more than computing them."""
import numpy

np = numpy  # first_calls.py binds another module
ALL = {}


def program(inputs):
    """Registers a function under its name; `inputs` makes its arguments from a Generator."""

    def add(f):
        ALL[f.__name__.replace("_", " ")] = (f, inputs)
        return f

    return add


def normal(*shape, dtype="f8"):
    return lambda rng: (rng.normal(size=shape).astype(dtype),)


# --- dynamic programming, graphs
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


# --- grids in time
@program(lambda rng: (1 + 0.1 * rng.random((9, 64, 64)),))
def lattice_boltzmann(F):
    cx, cy = [0, 0, 1, 1, 1, 0, -1, -1, -1], [0, 1, 1, 0, -1, -1, -1, 0, 1]
    w = [4 / 9, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36]
    F = F.copy()
    for _ in range(20):
        for i in range(9):
            F[i] = np.roll(np.roll(F[i], cx[i], axis=1), cy[i], axis=0)
        rho = F.sum(axis=0)
        ux = (F[2] + F[3] + F[4] - F[6] - F[7] - F[8]) / rho
        uy = (F[1] + F[2] + F[8] - F[4] - F[5] - F[6]) / rho
        for i in range(9):
            cu = cx[i] * ux + cy[i] * uy
            equilibrium = rho * w[i] * (1 + 3 * cu + 4.5 * cu**2 - 1.5 * (ux**2 + uy**2))
            F[i] += (equilibrium - F[i]) / 0.6
    return F


@program(lambda rng: (0.01 * rng.random((61, 61)),))
def cavity_flow(u):
    u, v, p = u.copy(), np.zeros((61, 61)), np.zeros((61, 61))
    dx = dy = 2 / 60
    dt, rho, nu = 0.0005, 1.0, 0.1
    for _ in range(8):
        b = np.zeros_like(p)
        b[1:-1, 1:-1] = rho * (1 / dt * ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx) + (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)) -
                               ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx))**2 -
                               2 * ((u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)) -
                               ((v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy))**2)
        for _ in range(20):
            pn = p.copy()
            p[1:-1, 1:-1] = (((pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2) / (2 * (dx**2 + dy**2)) -
                             dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1])
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0
        un, vn = u.copy(), v.copy()
        u[1:-1, 1:-1] = (un[1:-1, 1:-1] - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2]) -
                         vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1]) - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2]) +
                         nu * (dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2]) +
                               dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1])))
        v[1:-1, 1:-1] = (vn[1:-1, 1:-1] - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2]) -
                         vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1]) - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1]) +
                         nu * (dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, :-2]) +
                               dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])))
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = v[-1, :] = 0
        v[:, 0] = v[:, -1] = 0
    return u + v + p


def stencil(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u


@program(normal(100, 100))
def stencil_1e4(u):
    return stencil(u, 100)


@program(normal(316, 316))
def stencil_1e5(u):
    return stencil(u, 20)


@program(normal(1000, 1000))
def stencil_1e6(u):
    return stencil(u, 3)


@program(normal(100_000))
def heat_in_one_dimension(u):
    u = u.copy()
    for _ in range(50):
        u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@program(lambda rng: (rng.random((150, 150)),))
def gray_scott(u):
    u, v = u.copy(), 0.5 * u
    for _ in range(20):
        lu = u[:-2, 1:-1] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1] + u[1:-1, 2:] + u[2:, 1:-1]
        lv = v[:-2, 1:-1] + v[1:-1, :-2] - 4 * v[1:-1, 1:-1] + v[1:-1, 2:] + v[2:, 1:-1]
        uvv = u[1:-1, 1:-1] * v[1:-1, 1:-1]**2
        u[1:-1, 1:-1] += 0.16 * lu - uvv + 0.035 * (1 - u[1:-1, 1:-1])
        v[1:-1, 1:-1] += 0.08 * lv + uvv - 0.1 * v[1:-1, 1:-1]
    return u - v


@program(normal(200, 220))
def finite_difference_time_domain(e):
    ez = e.copy()
    hx, hy = np.zeros((200, 219)), np.zeros((199, 220))
    for _ in range(20):
        hx -= 0.5 * (ez[:, 1:] - ez[:, :-1])
        hy += 0.5 * (ez[1:, :] - ez[:-1, :])
        ez[1:-1, 1:-1] += 0.5 * (hy[1:, 1:-1] - hy[:-1, 1:-1] - hx[1:-1, 1:] + hx[1:-1, :-1])
    return ez


@program(lambda rng: (rng.random((200, 200)) < 0.3,))
def game_of_life(alive):
    grid = alive.astype(np.int8)
    for _ in range(30):
        n = (grid[:-2, :-2] + grid[:-2, 1:-1] + grid[:-2, 2:] + grid[1:-1, :-2] + grid[1:-1, 2:] + grid[2:, :-2] + grid[2:, 1:-1] +
             grid[2:, 2:])
        new = np.zeros_like(grid)
        new[1:-1, 1:-1] = (n == 3) | ((grid[1:-1, 1:-1] == 1) & (n == 2))
        grid = new
    return grid


@program(normal(128, 128))
def wave_equation(u):
    before, now = u.copy(), u.copy()
    for _ in range(50):
        after = 2 * now - before
        after[1:-1, 1:-1] += 0.2 * (now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4 * now[1:-1, 1:-1])
        before, now = now, after
    return now


# --- particles, ordinary differential equations
@program(lambda rng: (rng.uniform(0, 100, (150, 2)), rng.normal(size=(150, 2))))
def boids(x, v):
    for _ in range(10):
        d = x[:, None] - x[None, :]
        r = np.sqrt((d**2).sum(-1))
        near = (r < 20) & (r > 0)
        n = np.maximum(near.sum(1), 1)[:, None]
        centre = (near[:, :, None] * x[None]).sum(1) / n - x
        align = (near[:, :, None] * v[None]).sum(1) / n - v
        apart = (d * ((r < 5) & (r > 0))[:, :, None]).sum(1)
        v = v + 0.01 * centre + 0.05 * align + 0.02 * apart
        speed = np.sqrt((v**2).sum(1))[:, None]
        v = np.where(speed > 2, v / speed * 2, v)
        x = (x + v) % 100
    return x


@program(lambda rng: (rng.normal(size=(200, 3)), rng.normal(size=(200, 3)), rng.random(200)))
def n_body(x, v, m):
    for _ in range(10):
        d = x[None] - x[:, None]
        inv = ((d**2).sum(-1) + 0.01)**-1.5
        v = v + 0.01 * (d * (m[None, :] * inv)[:, :, None]).sum(1)
        x = x + 0.01 * v
    return x


@program(lambda rng: (rng.uniform(0.1, 0.4, 1000),))
def sir_epidemic(beta):
    s, i, r = np.full(1000, 0.99), np.full(1000, 0.01), np.zeros(1000)
    for _ in range(500):
        new, well = 0.1 * beta * s * i, 0.01 * i
        s, i, r = s - new, i + new - well, r + well
    return s + 2 * i + 3 * r


@program(normal(5000, 3))
def lorenz_runge_kutta(y):
    def f(y):
        return np.stack([10 * (y[:, 1] - y[:, 0]), y[:, 0] * (28 - y[:, 2]) - y[:, 1], y[:, 0] * y[:, 1] - 8 / 3 * y[:, 2]], axis=1)

    for _ in range(20):
        k1 = f(y)
        k2 = f(y + 0.005 * k1)
        k3 = f(y + 0.005 * k2)
        k4 = f(y + 0.01 * k3)
        y = y + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@program(normal(20_000))
def pendulums(q):
    p = np.zeros_like(q)
    for _ in range(30):
        p -= 0.01 * np.sin(q)
        q = q + 0.01 * p
    return q


@program(lambda rng: (np.linspace(-2, 0.5, 200), np.linspace(-1.2, 1.2, 200)))
def mandelbrot(x, y):
    c = x + 1j * y[:, None]
    z, count = np.zeros_like(c), np.zeros(c.shape, dtype=np.int64)
    for _ in range(20):
        inside = np.abs(z) < 2
        count += inside
        z = np.where(inside, z * z + c, z)
    return count


# --- learning
@program(lambda rng: (rng.normal(size=(5000, 2)), rng.normal(size=(4, 2))))
def k_means(x, means):
    for _ in range(10):
        labels = np.argmin(np.linalg.norm(x - means[:, None], axis=2), axis=0)
        means = np.stack([x[labels == k].mean(axis=0) for k in range(4)])
    return means


@program(lambda rng: (rng.normal(size=(5000, 10)), (rng.random(5000) < 0.5).astype("f8")))
def logistic_regression(x, y):
    w = np.zeros(10)
    for _ in range(50):
        p = 1 / (1 + np.exp(-(x @ w)))
        w -= 0.1 * (x.T @ (p - y)) / len(y)
    return w


@program(lambda rng: (rng.normal(size=(200, 20)), rng.normal(size=(20, 32)), rng.normal(size=(32, 1)), rng.normal(size=(200, 1))))
def small_network(x, a, b, y):
    for _ in range(50):
        h = np.tanh(x @ a)
        error = h @ b - y
        da = x.T @ ((error @ b.T) * (1 - h**2))
        b = b - 0.001 * (h.T @ error)
        a = a - 0.001 * da
    return a


@program(lambda rng: (rng.normal(size=(200, 1000)),))
def softmax_rows(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@program(normal(6000, 40))
def covariance_of_standardised(x):
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    return z.T @ z / (len(z) - 1)


@program(lambda rng: (rng.normal(size=(500, 8)), rng.normal(size=(400, 8))))
def distance_matrix(a, b):
    return np.sqrt(((a[:, None, :] - b[None, :, :])**2).sum(-1))


# --- linear algebra by loops
@program(lambda rng: (np.tril(rng.random((800, 800))) + 10 * np.eye(800), rng.random(800)))
def triangular_solve(a, b):
    x = b.copy()
    for i in range(len(x)):
        x[i] /= a[i, i]
        x[i + 1:] -= a[i + 1:, i] * x[i]
    return x


@program(lambda rng: (rng.random((120, 120)) + 60 * np.eye(120),))
def gaussian_elimination(a):
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1:, k] /= a[k, k]
        a[k + 1:, k + 1:] -= a[k + 1:, k, None] * a[k, k + 1:]
    return a


@program(normal(400, 30))
def gram_schmidt(a):
    q = a.copy()
    for j in range(q.shape[1]):
        for i in range(j):
            q[:, j] -= (q[:, i] * q[:, j]).sum() * q[:, i]
        q[:, j] /= np.sqrt((q[:, j]**2).sum())
    return q


@program(normal(400, 400))
def power_iteration(a):
    a = a + a.T
    x = np.ones(len(a))
    for _ in range(50):
        y = a @ x
        x = y / np.sqrt((y * y).sum())
    return x


@program(lambda rng: (rng.random((200, 200)) + 200 * np.eye(200), rng.random(200)))
def jacobi(a, b):
    d = np.diag(a)
    x = np.zeros_like(b)
    for _ in range(300):
        x = x + (b - a @ x) / d
    return x


# --- series, images, finance, chance
@program(lambda rng: (rng.uniform(50, 150, 100_000), rng.uniform(0.1, 2, 100_000)))
def black_scholes(s, t):
    def cdf(x):
        k = 1 / (1 + 0.2316419 * np.abs(x))
        tail = np.exp(-x * x / 2) * 0.3989422804 * k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        return np.where(x < 0, tail, 1 - tail)

    d1 = (np.log(s / 100) + (0.05 + 0.02) * t) / (0.2 * np.sqrt(t))
    d2 = d1 - 0.2 * np.sqrt(t)
    return s * cdf(d1) - 100 * np.exp(-0.05 * t) * cdf(d2)


@program(normal(200_000))
def moving_averages(x):
    out = x[:-20] * 0
    for i in range(20):
        out = out + x[i:i - 20]
    return out / 20


@program(normal(100_000))
def polynomial(x):
    y = np.zeros_like(x)
    for c in range(12):
        y = y * x + c
    return y


@program(lambda rng: (rng.integers(0, 256, (900, 900)).astype("u1"),))
def histogram_equalisation(image):
    cdf = np.cumsum(np.bincount(image.ravel(), minlength=256))
    low = cdf[cdf > 0].min()
    table = np.clip((cdf - low) * 255.0 / (image.size - low), 0, 255).astype(np.uint8)
    return table[image]


@program(lambda rng: (rng.random((300, 300)), rng.random((5, 5))))
def convolution_by_shifts(image, kernel):
    out = np.zeros((296, 296))
    for i in range(5):
        for j in range(5):
            out += kernel[i, j] * image[i:i + 296, j:j + 296]
    return out


@program(normal(400, 400))
def image_gradients(image):
    gx, gy = np.zeros_like(image), np.zeros_like(image)
    gx[:, 1:-1] = (image[:, 2:] - image[:, :-2]) / 2
    gy[1:-1, :] = (image[2:, :] - image[:-2, :]) / 2
    return np.sqrt(gx**2 + gy**2), np.arctan2(gy, gx)


@program(normal(800, 500))
def random_walks(steps):
    walks = np.cumsum(steps, axis=1)
    return walks.max(axis=1) - walks.min(axis=1), np.abs(walks[:, -1]).mean()


@program(lambda rng: (rng.random(500_000), rng.random(500_000)))
def monte_carlo_pi(x, y):
    return 4 * (x * x + y * y < 1).mean()


@program(normal(100_000))
def exponential_smoothing_of_rows(x):
    x = x.reshape(1000, 100)
    s = x[0]
    rows = [s]
    for row in x[1:]:
        s = 0.9 * s + 0.1 * row
        rows.append(s)
    return np.array(rows)


@program(normal(2000, 16))
def recurrence(x):
    c, h = np.zeros(16), np.zeros(16)
    for t in range(1000):
        c = 0.9 * c + np.tanh(x[t] + 0.5 * h)
        h = np.tanh(c)
    return h


# --- others of the same kinds, written after what the programs above taught: nothing was tuned to these
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


@program(normal(30, 30, 30))
def diffusion_in_three_dimensions(u):
    u = u.copy()
    for _ in range(20):
        inner = u[1:-1, 1:-1, 1:-1]
        new = u.copy()
        new[1:-1, 1:-1, 1:-1] = inner + 0.1 * (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1] +
                                               u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] - 6 * inner)
        u = new
    return u


@program(lambda rng: (1 + 0.1 * rng.random(20_000),))
def burgers(u):
    for _ in range(50):
        after = np.zeros_like(u)
        after[1:-1] = u[1:-1] - 0.1 * u[1:-1] * (u[1:-1] - u[:-2]) + 0.05 * (u[2:] - 2 * u[1:-1] + u[:-2])
        after[0], after[-1] = after[-2], after[1]
        u = after
    return u


@program(lambda rng: (rng.integers(0, 3, (150, 150)).astype("u1"), rng.random((20, 150, 150)) < 0.02))
def forest_fire(forest, lightning):
    for struck in lightning:
        burning = forest == 2
        near = np.zeros(forest.shape, dtype=bool)
        near[1:] |= burning[:-1]
        near[:-1] |= burning[1:]
        near[:, 1:] |= burning[:, :-1]
        near[:, :-1] |= burning[:, 1:]
        forest = np.where(burning, 0, np.where((forest == 1) & (near | struck), 2, forest)).astype(np.uint8)
    return forest


@program(lambda rng: (rng.uniform(0, 6.28, 200), rng.normal(size=200)))
def coupled_oscillators(theta, omega):
    for _ in range(10):
        theta = theta + 0.05 * (omega + 0.5 * np.sin(theta[None, :] - theta[:, None]).mean(axis=1))
    return theta


@program(lambda rng: ((lambda a: a @ a.T + 50 * np.eye(200))(rng.normal(size=(200, 200))), rng.random(200)))
def conjugate_gradient(a, b):
    x = np.zeros_like(b)
    r = b.copy()
    p, rs = r, (r * r).sum()
    for _ in range(40):
        q = a @ p
        alpha = rs / (p * q).sum()
        x, r = x + alpha * p, r - alpha * q
        before, rs = rs, (r * r).sum()
        p = r + rs / before * p
    return x


@program(lambda rng: (rng.random((500, 500)),))
def sobel_edges(image):
    gx = image[:-2, 2:] + 2 * image[1:-1, 2:] + image[2:, 2:] - image[:-2, :-2] - 2 * image[1:-1, :-2] - image[2:, :-2]
    gy = image[2:, :-2] + 2 * image[2:, 1:-1] + image[2:, 2:] - image[:-2, :-2] - 2 * image[:-2, 1:-1] - image[:-2, 2:]
    edges = np.hypot(gx, gy)
    return edges > 2 * edges.mean()


@program(normal(300, 250))
def drawdowns(returns):
    price = np.exp(np.cumsum(0.01 * returns, axis=1))
    peak = np.maximum.accumulate(price, axis=1)
    return ((peak - price) / peak).max(axis=1)


@program(lambda rng: (rng.normal(size=(3000, 12)), rng.normal(size=3000)))
def adam(x, y):
    w, m, v = np.zeros(12), np.zeros(12), np.zeros(12)
    for t in range(1, 101):
        g = x.T @ (x @ w - y) / len(y)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w = w - 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return w
