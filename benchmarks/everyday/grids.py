"""Grids in time."""
import numpy

from . import normal, program

np = numpy


@program(lambda rng: (1 + 0.1 * rng.random((9, 64, 64)),), group="loops")
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


@program(lambda rng: (0.01 * rng.random((61, 61)),), group="loops")
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


@program(normal(100, 100), group="loops")
def stencil_1e4(u):
    return stencil(u, 100)


@program(normal(316, 316), group="loops")
def stencil_1e5(u):
    return stencil(u, 20)


@program(normal(1000, 1000), group="loops")
def stencil_1e6(u):
    return stencil(u, 3)


@program(normal(100_000), group="loops")
def heat_in_one_dimension(u):
    u = u.copy()
    for _ in range(50):
        u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@program(lambda rng: (rng.random((150, 150)),), group="loops")
def gray_scott(u):
    u, v = u.copy(), 0.5 * u
    for _ in range(20):
        lu = u[:-2, 1:-1] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1] + u[1:-1, 2:] + u[2:, 1:-1]
        lv = v[:-2, 1:-1] + v[1:-1, :-2] - 4 * v[1:-1, 1:-1] + v[1:-1, 2:] + v[2:, 1:-1]
        uvv = u[1:-1, 1:-1] * v[1:-1, 1:-1]**2
        u[1:-1, 1:-1] += 0.16 * lu - uvv + 0.035 * (1 - u[1:-1, 1:-1])
        v[1:-1, 1:-1] += 0.08 * lv + uvv - 0.1 * v[1:-1, 1:-1]
    return u - v


@program(normal(200, 220), group="loops")
def finite_difference_time_domain(e):
    ez = e.copy()
    hx, hy = np.zeros((200, 219)), np.zeros((199, 220))
    for _ in range(20):
        hx -= 0.5 * (ez[:, 1:] - ez[:, :-1])
        hy += 0.5 * (ez[1:, :] - ez[:-1, :])
        ez[1:-1, 1:-1] += 0.5 * (hy[1:, 1:-1] - hy[:-1, 1:-1] - hx[1:-1, 1:] + hx[1:-1, :-1])
    return ez


@program(lambda rng: (rng.random((200, 200)) < 0.3,), group="loops")
def game_of_life(alive):
    grid = alive.astype(np.int8)
    for _ in range(30):
        n = (grid[:-2, :-2] + grid[:-2, 1:-1] + grid[:-2, 2:] + grid[1:-1, :-2] + grid[1:-1, 2:] + grid[2:, :-2] + grid[2:, 1:-1] +
             grid[2:, 2:])
        new = np.zeros_like(grid)
        new[1:-1, 1:-1] = (n == 3) | ((grid[1:-1, 1:-1] == 1) & (n == 2))
        grid = new
    return grid


@program(normal(128, 128), group="loops")
def wave_equation(u):
    before, now = u.copy(), u.copy()
    for _ in range(50):
        after = 2 * now - before
        after[1:-1, 1:-1] += 0.2 * (now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4 * now[1:-1, 1:-1])
        before, now = now, after
    return now


@program(normal(30, 30, 30), group="loops")
def diffusion_in_three_dimensions(u):
    u = u.copy()
    for _ in range(20):
        inner = u[1:-1, 1:-1, 1:-1]
        new = u.copy()
        new[1:-1, 1:-1, 1:-1] = inner + 0.1 * (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1] +
                                               u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] - 6 * inner)
        u = new
    return u


@program(lambda rng: (1 + 0.1 * rng.random(20_000),), group="loops")
def burgers(u):
    for _ in range(50):
        after = np.zeros_like(u)
        after[1:-1] = u[1:-1] - 0.1 * u[1:-1] * (u[1:-1] - u[:-2]) + 0.05 * (u[2:] - 2 * u[1:-1] + u[:-2])
        after[0], after[-1] = after[-2], after[1]
        u = after
    return u


@program(lambda rng: (rng.integers(0, 3, (150, 150)).astype("u1"), rng.random((20, 150, 150)) < 0.02), group="loops")
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


@program(normal(150, 150), group="loops")
def red_and_black_relaxation(u):
    u = u.copy()
    for _ in range(20):
        for i in (1, 2):
            for j in (1, 2):
                u[i:-1:2, j:-1:2] = 0.25 * (u[i - 1:-2:2, j:-1:2] + u[i + 1::2, j:-1:2] + u[i:-1:2, j - 1:-2:2] + u[i:-1:2, j + 1::2])
    return u


@program(lambda rng: (rng.choice([-1, 1], (80, 80)), rng.random((20, 2, 80, 80))), group="loops")
def ising_model(spins, chance):
    spins = spins.copy()
    board = np.indices(spins.shape).sum(axis=0) % 2
    for round in chance:
        for colour in (0, 1):
            near = np.roll(spins, 1, 0) + np.roll(spins, -1, 0) + np.roll(spins, 1, 1) + np.roll(spins, -1, 1)
            flip = (board == colour) & (round[colour] < np.exp(-0.88 * spins * near))
            spins[flip] *= -1
    return spins


@program(lambda rng: (rng.random((40, 24, 24)) + 2, rng.random((40, 24, 24))), group="loops")
def tridiagonal_systems(diagonal, right):
    c, d = np.zeros_like(diagonal), np.zeros_like(diagonal)
    c[0], d[0] = 0.5 / diagonal[0], right[0] / diagonal[0]
    for i in range(1, len(diagonal)):
        below = diagonal[i] - 0.5 * c[i - 1]
        c[i] = 0.5 / below
        d[i] = (right[i] - 0.5 * d[i - 1]) / below
    x = d.copy()
    for i in range(len(x) - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]
    return x


@program(normal(1200, 1200), "middling", group="loops")
def heat_in_two_dimensions(u):
    u = u.copy()
    for _ in range(10):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


@program(lambda rng: (np.linspace(-2, 0.5, 600), np.linspace(-1.2, 1.2, 600)), "middling")
def mandelbrot_by_masks(x, y):
    c = (x + 1j * y[:, None]).ravel()
    z, count = np.zeros_like(c), np.zeros(c.shape, dtype=np.int64)
    alive = np.ones(c.shape, dtype=bool)
    for _ in range(30):
        z[alive] = z[alive] * z[alive] + c[alive]
        alive &= np.abs(z) < 2
        count[alive] += 1
    return count


@program(lambda rng: (rng.random((400, 400)), rng.random((400, 400)), 1 + rng.random((400, 400))), "middling", group="loops")
def shallow_water(u, v, h):
    for _ in range(10):
        hx = (np.roll(h, -1, 1) - np.roll(h, 1, 1)) / 2
        hy = (np.roll(h, -1, 0) - np.roll(h, 1, 0)) / 2
        u, v = u - 0.01 * (9.81 * hx + u * (np.roll(u, -1, 1) - np.roll(u, 1, 1)) / 2), v - 0.01 * (9.81 * hy + v * (np.roll(v, -1, 0) - np.roll(v, 1, 0)) / 2)
        h = h - 0.01 * ((np.roll(h * u, -1, 1) - np.roll(h * u, 1, 1)) / 2 + (np.roll(h * v, -1, 0) - np.roll(h * v, 1, 0)) / 2)
    return h
