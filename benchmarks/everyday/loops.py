"""Loops in time over arrays that are written in place: alternating updates, sweeps, inner parts in both dimensions."""
import numpy

from . import normal, program

np = numpy


@program(normal(10_000), group="loops")
def upwind_advection(u):
    u = u.copy()
    for _ in range(200):
        u[1:] -= 0.4 * (u[1:] - u[:-1])
        u[0] = u[-1]
    return u


@program(normal(1_000_000), "middling", group="loops")
def heat_in_a_long_rod(u):
    u = u.copy()
    for _ in range(5):
        u[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0], u[-1] = u[1], u[-2]
    return u


@program(normal(100_001), group="loops")
def electric_and_magnetic_field(e):
    e, h = e.copy(), np.zeros(len(e) - 1)
    for t in range(30):
        h += 0.5 * (e[1:] - e[:-1])
        e[1:-1] += 0.5 * (h[1:] - h[:-1])
        e[50_000] += np.exp(-((t - 15) / 5)**2)
    return e


@program(normal(100, 100), group="loops")
def magnetic_fields_in_two_dimensions(e):
    e = e.copy()
    hx, hy = np.zeros((100, 99)), np.zeros((99, 100))
    for _ in range(40):
        hx[:, :] = hx - 0.5 * (e[:, 1:] - e[:, :-1])
        hy[:, :] = hy + 0.5 * (e[1:, :] - e[:-1, :])
        e[1:-1, 1:-1] += 0.5 * (hy[1:, 1:-1] - hy[:-1, 1:-1] - hx[1:-1, 1:] + hx[1:-1, :-1])
    return e


@program(lambda rng: (rng.random((120, 120)),), group="loops")
def alternating_directions(u):
    u, n = u.copy(), 120
    lower = np.zeros(n)
    for i in range(1, n):
        lower[i] = 0.3 / (1.6 - 0.3 * lower[i - 1])
    for _ in range(4):
        for v in (u, u.T):
            for i in range(1, n):
                v[i] += lower[i] * v[i - 1]
            for i in range(n - 2, -1, -1):
                v[i] = (v[i] + 0.3 * v[i + 1]) * lower[i]
    return u


@program(normal(200, 200), group="loops")
def relaxation_by_rows(u):
    u = u.copy()
    for _ in range(5):
        for i in range(1, len(u) - 1):
            u[i, 1:-1] += 1.5 * (0.25 * (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, :-2] + u[i, 2:]) - u[i, 1:-1])
    return u


@program(lambda rng: (np.tril(rng.random((150, 150))) + 10 * np.eye(150), rng.random((150, 40))), group="loops")
def substitution_both_ways(l, b):
    y = b.copy()
    for i in range(len(l)):
        y[i] = (y[i] - l[i, :i] @ y[:i]) / l[i, i]
    for i in range(len(l) - 1, -1, -1):
        y[i] = (y[i] - l[i + 1:, i] @ y[i + 1:]) / l[i, i]
    return y


@program(lambda rng: (rng.random((129, 129)),), group="loops")
def two_grids(f):
    u = np.zeros_like(f)
    for _ in range(5):
        for _ in range(3):
            u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] + f[1:-1, 1:-1])
        r = np.zeros_like(u)
        r[1:-1, 1:-1] = f[1:-1, 1:-1] + u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        coarse, e = 4 * r[::2, ::2], np.zeros((65, 65))
        for _ in range(10):
            e[1:-1, 1:-1] = 0.25 * (e[2:, 1:-1] + e[:-2, 1:-1] + e[1:-1, 2:] + e[1:-1, :-2] + coarse[1:-1, 1:-1])
        u[::2, ::2] += e
        u[1::2, ::2] += 0.5 * (e[1:] + e[:-1])
        u[:, 1::2] += 0.5 * (u[:, 2::2] - u[:, :-2:2])
    return u


@program(lambda rng: (rng.random((316, 316)), rng.random((316, 316))), group="loops")
def reaction_and_diffusion(a, b):
    a, b = a.copy(), b.copy()
    for _ in range(8):
        da = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4 * a[1:-1, 1:-1]
        db = b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] - 4 * b[1:-1, 1:-1]
        inner = a[1:-1, 1:-1]
        a[1:-1, 1:-1], b[1:-1, 1:-1] = (inner + 0.001 * (da + inner - inner**3 - b[1:-1, 1:-1]),
                                        b[1:-1, 1:-1] + 0.001 * (10 * db + inner - b[1:-1, 1:-1]))
        for x in (a, b):
            x[0, :], x[-1, :], x[:, 0], x[:, -1] = x[1, :], x[-2, :], x[:, 1], x[:, -2]
    return a + b


@program(normal(100, 100, 100), "middling", group="loops")
def diffusion_in_place_in_three_dimensions(u):
    u = u.copy()
    for _ in range(3):
        u[1:-1, 1:-1, 1:-1] += 0.1 * (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] +
                                      u[1:-1, 1:-1, :-2] - 6 * u[1:-1, 1:-1, 1:-1])
    return u


@program(normal(1_000_000), "middling", group="loops")
def leapfrog(q):
    q, p = q.copy(), np.zeros_like(q)
    for _ in range(5):
        p -= 0.005 * q
        q += 0.01 * p
        p -= 0.005 * q
    return q


@program(lambda rng: (1 + 0.1 * rng.random((3, 102, 102)),), group="loops")
def shallow_water_in_place(state):
    h, u, v = (x.copy() for x in state)
    for _ in range(30):
        u[1:-1, 1:-1] -= 0.01 * 9.81 * (h[1:-1, 2:] - h[1:-1, :-2])
        v[1:-1, 1:-1] -= 0.01 * 9.81 * (h[2:, 1:-1] - h[:-2, 1:-1])
        h[1:-1, 1:-1] -= 0.01 * (u[1:-1, 2:] - u[1:-1, :-2] + v[2:, 1:-1] - v[:-2, 1:-1])
        h[0, :], h[-1, :] = h[1, :], h[-2, :]
        h[:, 0], h[:, -1] = h[:, 1], h[:, -2]
    return h
