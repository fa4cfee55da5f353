"""Everyday programs, written for NumPy: each prints what it found. test_device_programs.py runs this file on NumPy and on a device."""

import numpy as np


def show(*a):
    for v in map(np.asarray, a):
        print(np.array2string(np.round(v, 6) + 0 if v.dtype.kind in "fc" else v, threshold=50))


rng = np.random.default_rng(1)


def life():
    g = rng.random((20, 20)) < 0.3
    for _ in range(10):
        n = sum(np.roll(np.roll(g.astype(int), i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        g = (n == 3) | (g & (n == 2))
    show(g.sum(), g[3])


def pca():
    x = rng.normal(size=(50, 5))
    x -= x.mean(axis=0)
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    show(s, np.abs(x @ vt.T)[:2])


def kmeans():
    x = rng.normal(size=(200, 2))
    c = x[:3].copy()
    for _ in range(5):
        l = np.argmin(np.linalg.norm(x[:, None] - c, axis=2), axis=1)
        for k in range(3):
            c[k] = x[l == k].mean(axis=0)
    show(c, np.bincount(l))


def mandel():
    y, x = np.ogrid[-1:1:20j, -2:0.5:30j]
    c = x + 1j * y
    z = np.zeros_like(c)
    n = np.zeros(c.shape, int)
    for i in range(20):
        m = np.abs(z) < 2
        z[m] = z[m] ** 2 + c[m]
        n[m] += 1
    show(n[::5, ::5])


def heat():
    u = np.zeros((20, 20))
    u[0] = 1
    for _ in range(30):
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    show(u[:5, :5], u.sum())


def regression():
    X = np.column_stack([np.ones(30), rng.normal(size=(30, 2))])
    y = X @ [1, 2, 3] + rng.normal(size=30) * 0.1
    b, *_ = np.linalg.lstsq(X, y, rcond=None)
    show(b)
    w = np.zeros(3)
    for _ in range(50):
        w -= 0.1 * X.T @ (X @ w - y) / 30
    show(w)


def logistic():
    X = rng.normal(size=(100, 3))
    y = (X.sum(1) > 0).astype(float)
    w = np.zeros(3)
    for _ in range(30):
        w += 0.5 * X.T @ (y - 1 / (1 + np.exp(-X @ w))) / 100
    show(w, ((X @ w > 0) == y).mean())


def mlp():
    X = rng.normal(size=(64, 4))
    W1 = rng.normal(size=(4, 8)) * 0.1
    b1 = np.zeros(8)
    W2 = rng.normal(size=(8, 1)) * 0.1
    y = X[:, :1] ** 2
    for _ in range(20):
        h = np.maximum(X @ W1 + b1, 0)
        e = h @ W2 - y
        g = 2 * e / 64
        gh = (g @ W2.T) * (h > 0)
        W2 -= 0.1 * h.T @ g
        W1 -= 0.1 * X.T @ gh
        b1 -= 0.1 * gh.sum(0)
    show((e**2).mean(), b1)


def pagerank():
    A = (rng.random((20, 20)) < 0.2).astype(float)
    A[:, A.sum(0) == 0] = 1
    A /= A.sum(0)
    r = np.ones(20) / 20
    for _ in range(50):
        r = 0.85 * A @ r + 0.15 / 20
    show(np.argsort(-r)[:5], r.sum())


def floyd():
    d = np.where(rng.random((15, 15)) < 0.3, rng.random((15, 15)), np.inf)
    np.fill_diagonal(d, 0)
    for k in range(15):
        d = np.minimum(d, d[:, k, None] + d[None, k])
    show(d[:3])


def fft():
    t = np.linspace(0, 1, 64, endpoint=False)
    s = np.sin(2 * np.pi * 5 * t) + 0.5 * np.sin(2 * np.pi * 12 * t)
    f = np.fft.rfft(s)
    f[np.abs(f) < 10] = 0
    show(np.fft.irfft(f)[:5], np.argmax(np.abs(f)))


def conv():
    im = rng.random((16, 16))
    k = np.ones((3, 3)) / 9
    w = np.lib.stride_tricks.sliding_window_view(im, (3, 3))
    show(np.einsum("ijkl,kl->ij", w, k)[:3, :3])


def stats():
    x = rng.normal(size=1000)
    show(np.histogram(x, bins=10)[0], np.percentile(x, [5, 50, 95]), np.std(x, ddof=1), np.cov(x[:500], x[500:]))


def lorenz():
    s = np.array([1.0, 1.0, 1.0])
    for _ in range(100):
        x, y, z = s
        s = s + 0.01 * np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])
    show(s)


def knn():
    X = rng.normal(size=(50, 3))
    q = rng.normal(size=(5, 3))
    d = ((q[:, None] - X) ** 2).sum(-1)
    show(np.argsort(d, axis=1, kind="stable")[:, :3], np.take_along_axis(d, np.argsort(d, axis=1), 1)[:, :2])


def attention():
    q, k, v = (rng.normal(size=(2, 8, 4)) for _ in range(3))
    s = q @ k.transpose(0, 2, 1) / 2
    s = np.exp(s - s.max(-1, keepdims=True))
    s /= s.sum(-1, keepdims=True)
    show((s @ v)[0])


def words():
    w = np.array(["b", "a", "c", "a"])
    u, c = np.unique(w, return_counts=True)
    show(u, c)
    show(np.char.upper(w))
    d = np.arange("2020-01-01", "2020-01-05", dtype="M8[D]")
    print(d, (d - d[0]).astype(int))


def records():
    r = np.zeros(3, [("a", "f8"), ("n", "i4")])
    r["a"] = [3, 1, 2]
    r["n"] = np.arange(3)
    r.sort(order="a")
    print(r)
    show(r["a"] * 2)


def masks():
    x = np.arange(20).reshape(4, 5)
    x[x % 3 == 0] = -1
    x[1:3, [0, 2]] = 7
    show(x, x[x < 0].size, np.nonzero(x == 7), np.where(x > 0, x, 0).sum(0))
    x[:, 0], x[:, 1] = x[:, 1].copy(), x[:, 0].copy()
    show(x)


def ising():
    s = np.where(rng.random((16, 16)) < 0.5, 1, -1)
    for i in range(6):
        for par in (0, 1):
            nb = np.roll(s, 1, 0) + np.roll(s, -1, 0) + np.roll(s, 1, 1) + np.roll(s, -1, 1)
            m = (np.add.outer(np.arange(16), np.arange(16)) % 2 == par) & (rng.random((16, 16)) < np.exp(-0.8 * s * nb))
            s[m] *= -1
    show(s.sum(), s[0])


def scans():
    x = rng.integers(0, 9, 12)
    show(
        np.cumsum(x),
        np.maximum.accumulate(x),
        np.diff(x),
        np.sort(x),
        np.searchsorted(np.sort(x), [3, 5]),
        np.add.reduceat(x, [0, 4, 8]),
        np.bincount(x, minlength=9),
    )
    np.add.at(x, [0, 0, 1], 5)
    show(x)


def solve():
    A = rng.normal(size=(6, 6))
    A = A @ A.T + 6 * np.eye(6)
    b = np.ones(6)
    show(np.linalg.solve(A, b), np.linalg.det(A), np.linalg.inv(A)[0], np.linalg.eigvalsh(A), np.linalg.cholesky(A)[1])


def loops():
    t = 0.0
    x = np.ones(5)
    for i in range(5):
        x[i] = i * 0.5
        t += x[i]
        x[i] += 1
    x[::2] *= 2
    x[-1] = np.float32(3.5)
    show(
        t,
        x,
        [v for v in x],
        max(x),
        sum(x),
        float(x[0]),
        int(x[1]),
        x.tolist(),
        x.any(),
        bool((x > 0).all()),
        f"{x.mean():.3f}",
        repr(x),
        str(x[:2]),
    )


def poly():
    p = np.polyfit(np.arange(5.0), np.arange(5.0) ** 2, 2)
    show(
        np.polyval(p, 3),
        np.roots([1, -3, 2]),
        np.trapezoid(np.arange(5.0)),
        np.interp(2.5, [1, 2, 3], [4, 5, 6]),
        np.gradient(np.arange(5.0) ** 2),
        np.cross([1, 2, 3], [4, 5, 6]),
        np.kron([1, 2], [1, 1]),
        np.outer([1, 2], [3, 4]),
        np.meshgrid([1, 2], [3, 4])[1],
        np.tril(np.ones((3, 3))),
        np.vander([1, 2, 3]),
    )


PROGRAMS = (
    life,
    pca,
    kmeans,
    mandel,
    heat,
    regression,
    logistic,
    mlp,
    pagerank,
    floyd,
    fft,
    conv,
    stats,
    lorenz,
    knn,
    attention,
    words,
    records,
    masks,
    ising,
    scans,
    solve,
    loops,
    poly,
)
if __name__ == "__main__":
    for program in PROGRAMS:
        print("##", program.__name__)
        program()
