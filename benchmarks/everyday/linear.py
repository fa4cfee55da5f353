"""Linear algebra, by loops and by the library."""
import numpy

from . import normal, program

np = numpy


@program(lambda rng: (np.tril(rng.random((800, 800))) + 10 * np.eye(800), rng.random(800)), group="loops")
def triangular_solve(a, b):
    x = b.copy()
    for i in range(len(x)):
        x[i] /= a[i, i]
        x[i + 1:] -= a[i + 1:, i] * x[i]
    return x


@program(lambda rng: (rng.random((120, 120)) + 60 * np.eye(120),), group="loops")
def gaussian_elimination(a):
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1:, k] /= a[k, k]
        a[k + 1:, k + 1:] -= a[k + 1:, k, None] * a[k, k + 1:]
    return a


@program(normal(400, 30), group="loops")
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


@program(lambda rng: (rng.random((200, 200)) + 200 * np.eye(200), rng.random(200)), group="loops")
def jacobi(a, b):
    d = np.diag(a)
    x = np.zeros_like(b)
    for _ in range(300):
        x = x + (b - a @ x) / d
    return x


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


@program(lambda rng: (rng.random((60, 60)),), group="loops")
def pivoted_elimination(a):
    a = a.copy()
    order = np.arange(len(a))
    for k in range(len(a) - 1):
        p = k + int(np.abs(a[k:, k]).argmax())
        if p != k:
            a[[k, p]] = a[[p, k]]
            order[[k, p]] = order[[p, k]]
        a[k + 1:, k] /= a[k, k]
        a[k + 1:, k + 1:] -= np.outer(a[k + 1:, k], a[k, k + 1:])
    return a, order


@program(lambda rng: ((lambda a: a @ a.T + 80 * np.eye(80))(rng.normal(size=(80, 80))),), group="loops")
def cholesky_by_rows(a):
    l = np.zeros_like(a)
    for j in range(len(a)):
        l[j, j] = np.sqrt(a[j, j] - np.dot(l[j, :j], l[j, :j]))
        l[j + 1:, j] = (a[j + 1:, j] - l[j + 1:, :j] @ l[j, :j]) / l[j, j]
    return l


@program(lambda rng: (rng.random(3000), rng.integers(0, 1000, 3000), np.arange(0, 3000, 3), rng.random(1000)))
def sparse_products(data, columns, starts, x):
    for _ in range(50):
        y = np.add.reduceat(data * x[columns], starts)
        x = y / np.sqrt((y * y).sum())
    return x


@program(lambda rng: (rng.normal(size=(50, 4)),))
def kalman_filter(seen):
    f = np.eye(4) + 0.1 * np.eye(4, k=2)
    q, r = 0.01 * np.eye(4), 0.1 * np.eye(4)
    x, p = np.zeros(4), np.eye(4)
    path = []
    for z in seen:
        x, p = f @ x, f @ p @ f.T + q
        k = p @ np.linalg.inv(p + r)
        x = x + k @ (z - x)
        p = (np.eye(4) - k) @ p
        path.append(x)
    return np.array(path)


@program(lambda rng: (rng.normal(size=(2000, 3, 3)), rng.normal(size=(2000, 3))))
def many_small_systems(a, b):
    a = a @ np.swapaxes(a, 1, 2) + np.eye(3)
    return np.linalg.solve(a, b[:, :, None])[:, :, 0], np.linalg.det(a)


@program(lambda rng: (rng.normal(size=(500, 500)), rng.normal(size=(500, 8))), "middling")
def wide_matrix_times_columns(a, x):
    for _ in range(20):
        x = a @ x
        x = x / np.abs(x).max(axis=0)
    return x


@program(lambda rng: (np.arange(0, 12_001, 12), rng.integers(0, 1000, 12_000), rng.random(12_000), rng.random(1000)), group="loops")
def sparse_products_by_rows(starts, columns, data, x):
    y = np.empty(len(starts) - 1, data.dtype)
    for i in range(len(starts) - 1):
        row = slice(starts[i], starts[i + 1])
        y[i] = data[row] @ x[columns[row]]
    return y


@program(lambda rng: (rng.random(400),), group="loops")
def durbin(r):
    y = np.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = alpha
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


@program(lambda rng: (rng.random((3, 60, 60)) + 1j * rng.random((3, 60, 60)), rng.random(16) + 1j * rng.random(16), rng.random((60, 30)) + 0j))
def contour_integral(hamiltonian, points, y):
    p0, p1 = np.zeros(y.shape, complex), np.zeros(y.shape, complex)
    for z in points:
        t = np.zeros(hamiltonian.shape[1:], complex)
        for n in range(len(hamiltonian)):
            t += np.power(z, 1.0 - n) * hamiltonian[n]
        x = np.linalg.solve(t, y)
        if abs(z) < 1.0:
            x = -x
        p0 += x
        p1 += z * x
    return p0, p1
