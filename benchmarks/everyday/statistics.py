"""Statistics: samples, ranks, groups, tables of data."""
import numpy

from . import normal, program

np = numpy


@program(lambda rng: (rng.normal(size=300), rng.integers(0, 300, (1000, 300))))
def bootstrap(x, chosen):
    means = x[chosen].mean(axis=1)
    return np.percentile(means, [2.5, 50, 97.5]), means.std(ddof=1)


@program(lambda rng: (rng.random(4000), rng.normal(size=4000)))
def polynomial_fit(x, noise):
    y = 1 + 2 * x - 3 * x**2 + 0.1 * noise
    p = np.polyfit(x, y, 3)
    residual = y - np.polyval(p, x)
    return p, 1 - (residual**2).sum() / ((y - y.mean())**2).sum()


@program(normal(600, 30))
def principal_components(x):
    z = x - x.mean(axis=0)
    u, s, vt = np.linalg.svd(z, full_matrices=False)
    return np.abs(z @ vt[:3].T), s**2 / (s**2).sum()


@program(normal(500, 12))
def rank_correlation(x):
    ranks = np.argsort(np.argsort(x, axis=0), axis=0).astype(float)
    return np.corrcoef(ranks.T)


@program(lambda rng: (rng.integers(0, 50, 30_000), rng.normal(size=30_000)))
def groups_by_loop(key, x):
    return np.array([(x[key == k].mean(), x[key == k].std(), np.median(x[key == k])) for k in np.unique(key)])


@program(lambda rng: (np.where(rng.random((2000, 20)) < 0.05, np.nan, rng.normal(size=(2000, 20))),))
def missing_values(x):
    mean = np.nanmean(x, axis=0)
    x = np.where(np.isnan(x), mean, x)
    z = (x - mean) / np.nanstd(x, axis=0)
    return z[(np.abs(z) < 3).all(axis=1)]


@program(lambda rng: (rng.random((30, 500)), rng.random(30)))
def metropolis_chains(chance, start):
    x = start.copy()
    total = np.zeros_like(x)
    for u in chance.T:
        y = x + (u - 0.5)
        accept = np.exp(np.minimum(0, (x * x - y * y) / 2)) > u[::-1]
        x = np.where(accept, y, x)
        total += x
    return total / chance.shape[1]


@program(lambda rng: (rng.integers(0, 1000, 1_000_000), rng.normal(size=1_000_000)), "large")
def group_means(key, x):
    every, which, count = np.unique(key, return_inverse=True, return_counts=True)
    mean = np.bincount(which, weights=x) / count
    return every, mean, np.sqrt(np.bincount(which, weights=(x - mean[which])**2) / count)


@program(lambda rng: (rng.normal(size=500_000), rng.normal(size=500_000)), "large")
def heat_map(x, y):
    h, _, _ = np.histogram2d(x, y, bins=50, range=[[-3, 3], [-3, 3]])
    return np.log1p(h)


@program(normal(200_000, 12), "large")
def correlation_of_columns(x):
    return np.corrcoef(x, rowvar=False)


@program(normal(1_000_000), "large")
def ranks_and_quantiles(x):
    order = np.argsort(x)
    ranks = np.empty(len(x), dtype=np.int64)
    ranks[order] = np.arange(len(x))
    return ranks, np.quantile(x, [0.1, 0.5, 0.9])


@program(normal(4_000_000, dtype="f4"), "large")
def winsorised_moments(x):
    x = np.clip(x, -2.5, 2.5)
    z = (x - x.mean()) / x.std()
    return (z**3).mean(), (z**4).mean() - 3, np.abs(z).max()


@program(normal(300, 120), group="loops")
def covariance_by_columns(x):
    x = x - np.mean(x, axis=0)
    n, m = x.shape
    covariance = np.zeros((m, m))
    for i in range(m):
        covariance[i:, i] = covariance[i, i:] = x[:, i] @ x[:, i:] / (n - 1.0)
    return covariance


@program(normal(2000, 300), "middling")
def covariance_by_products(x):
    x = x - x.mean(axis=0)
    return x.T @ x / (len(x) - 1.0)


@program(normal(20_000, 60), "middling")
def covariance(x):
    return np.cov(x, rowvar=False)
