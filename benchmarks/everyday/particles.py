"""Particles and ordinary differential equations."""
import numpy

from . import normal, program

np = numpy


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


@program(lambda rng: (rng.uniform(0, 6.28, 200), rng.normal(size=200)))
def coupled_oscillators(theta, omega):
    for _ in range(10):
        theta = theta + 0.05 * (omega + 0.5 * np.sin(theta[None, :] - theta[:, None]).mean(axis=1))
    return theta


@program(lambda rng: (rng.normal(size=3),))
def lorenz_of_one_point(y):
    def f(y):
        return np.array([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])

    path = np.empty((300, 3))
    for t in range(300):
        k1 = f(y)
        k2 = f(y + 0.005 * k1)
        k3 = f(y + 0.005 * k2)
        k4 = f(y + 0.01 * k3)
        y = y + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path[t] = y
    return path


@program(lambda rng: (rng.normal(size=(3000, 4)) / 8, rng.normal(size=(3000, 3))))
def rotations_by_quaternions(q, x):
    q = q / np.linalg.norm(q, axis=1)[:, None]
    for _ in range(10):
        t = 2 * np.cross(q[:, 1:], x)
        x = x + q[:, :1] * t + np.cross(q[:, 1:], t)
    return x


@program(lambda rng: (rng.normal(size=(400, 3)), rng.normal(size=(100, 3)), rng.normal(size=(100, 3))), "middling")
def magnetic_field_of_wires(points, wires, currents):
    r = points[:, None, :] - wires[None, :, :]
    d = np.sqrt((r**2).sum(axis=2))
    return np.sum(np.cross(currents[None, :, :], r) / (d**3)[:, :, None], axis=1)


@program(lambda rng: (rng.uniform(0, 10, (600, 2)), rng.normal(size=(600, 2))), "middling")
def gas_of_soft_disks(x, v):
    for _ in range(3):
        d = x[:, None, :] - x[None, :, :]
        d -= 10 * np.round(d / 10)
        r = np.sqrt((d * d).sum(axis=-1)) + np.eye(len(x))
        push = np.where(r < 0.5, (0.5 - r) / r, 0)
        v = v + 0.01 * (push[:, :, None] * d).sum(axis=1)
        x = (x + 0.01 * v) % 10
    return x


@program(lambda rng: (rng.random(2000), rng.normal(size=(40, 2000)), rng.random((40, 2000)), rng.normal(size=40)))
def particle_filter(x, noise, chance, seen):
    means = []
    for n, u, z in zip(noise, chance, seen):
        x = 0.9 * x + 0.3 * n
        w = np.exp(-0.5 * (x - z)**2)
        w /= w.sum()
        means.append((w * x).sum())
        x = x[np.searchsorted(np.cumsum(w), np.sort(u) * 0.999999)]
    return np.array(means)
