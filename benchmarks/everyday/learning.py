"""Learning and statistics."""
import numpy

from . import normal, program

np = numpy


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


@program(lambda rng: (rng.normal(size=(3000, 12)), rng.normal(size=3000)))
def adam(x, y):
    w, m, v = np.zeros(12), np.zeros(12), np.zeros(12)
    for t in range(1, 101):
        g = x.T @ (x @ w - y) / len(y)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w = w - 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return w


@program(lambda rng: (rng.normal(size=(30, 16, 24)), rng.normal(size=(24, 128)) / 5, rng.normal(size=(32, 128)) / 6))
def long_short_term_memory(x, w, u):
    h, c = np.zeros((16, 32)), np.zeros((16, 32))
    for step in x:
        z = step @ w + h @ u
        i, f, o = 1 / (1 + np.exp(-z[:, :32])), 1 / (1 + np.exp(-z[:, 32:64])), 1 / (1 + np.exp(-z[:, 64:96]))
        c = f * c + i * np.tanh(z[:, 96:])
        h = o * np.tanh(c)
    return h


@program(lambda rng: (rng.normal(size=(8, 3, 28, 28)), rng.normal(size=(6, 3, 3, 3))))
def convolution_by_windows(x, w):
    n, _, h, k = *x.shape[:3], 3
    columns = np.empty((n, 27, (h - 2) * (h - 2)))
    for i in range(k):
        for j in range(k):
            columns[:, i * k + j::9] = x[:, :, i:i + h - 2, j:j + h - 2].reshape(n, 3, -1)
    y = np.maximum(w.reshape(6, 27) @ columns, 0).reshape(n, 6, h - 2, h - 2)
    return y.reshape(n, 6, 13, 2, 13, 2).max(axis=(3, 5))


@program(lambda rng: (rng.normal(size=(1000, 8)), rng.normal(size=(200, 8)), rng.integers(0, 5, 1000)))
def nearest_neighbours(x, asked, labels):
    d = ((asked[:, None, :] - x[None, :, :])**2).sum(axis=2)
    near = np.argsort(d, axis=1)[:, :7]
    votes = labels[near]
    return np.array([np.bincount(v, minlength=5).argmax() for v in votes])


@program(lambda rng: (rng.normal(size=(4000, 6)), rng.integers(0, 4, 4000)))
def naive_bayes(x, y):
    scores = []
    for k in range(4):
        part = x[y == k]
        mean, var = part.mean(axis=0), part.var(axis=0) + 1e-9
        scores.append(np.log(len(part) / len(x)) - 0.5 * (np.log(2 * np.pi * var) + (x - mean)**2 / var).sum(axis=1))
    return np.argmax(np.stack(scores), axis=0)


@program(lambda rng: (rng.integers(0, 10, 50_000), rng.integers(0, 10, 50_000)))
def confusion_matrix(truth, guess):
    m = np.zeros((10, 10), dtype=np.int64)
    np.add.at(m, (truth, guess), 1)
    precision, recall = np.diag(m) / m.sum(axis=0), np.diag(m) / m.sum(axis=1)
    return 2 * precision * recall / (precision + recall)


@program(lambda rng: (rng.normal(size=(2000, 10)), rng.integers(0, 10, 2000)))
def cross_entropy(logits, y):
    z = logits - logits.max(axis=1, keepdims=True)
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    loss = -np.log(p[np.arange(len(y)), y]).mean()
    p[np.arange(len(y)), y] -= 1
    return p / len(y) + loss


@program(lambda rng: (rng.normal(size=(500, 20)), rng.choice([-1.0, 1.0], 500)))
def perceptron(x, y):
    w = np.zeros(20)
    for i in range(len(x)):
        if y[i] * (x[i] @ w) <= 0:
            w += y[i] * x[i]
    return w


@program(lambda rng: (rng.normal(size=(64, 50, 32)).astype("f4"), rng.normal(size=(32, 96)).astype("f4")), "middling")
def self_attention(x, w):
    q, k, v = np.split(x @ w, 3, axis=2)
    s = q @ np.swapaxes(k, 1, 2) / np.sqrt(32)
    e = np.exp(s - s.max(axis=2, keepdims=True))
    return e / e.sum(axis=2, keepdims=True) @ v


@program(lambda rng: (rng.normal(size=(300_000, 4)), rng.normal(size=(8, 4))), "large")
def k_means_by_masks(x, means):
    for _ in range(3):
        labels = ((x[:, None, :] - means)**2).sum(axis=2).argmin(axis=1)
        means = np.array([x[labels == k].mean(axis=0) for k in range(len(means))])
    return means
