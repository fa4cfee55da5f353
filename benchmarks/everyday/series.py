"""Series, finance, chance, text and dates."""
import numpy

from . import normal, program

np = numpy


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


@program(normal(300, 250))
def drawdowns(returns):
    price = np.exp(np.cumsum(0.01 * returns, axis=1))
    peak = np.maximum.accumulate(price, axis=1)
    return ((peak - price) / peak).max(axis=1)


@program(normal(2**15))
def spectrum_by_segments(x):
    window = np.hanning(512)
    power = np.zeros(257)
    for start in range(0, len(x) - 511, 256):
        power += np.abs(np.fft.rfft(window * x[start:start + 512]))**2
    return power / (window**2).sum()


@program(normal(20_000))
def bollinger_bands(x):
    price = 100 + np.cumsum(x)
    w = np.lib.stride_tricks.sliding_window_view(price, 20)
    mean, deviation = w.mean(axis=1), w.std(axis=1)
    outside = (price[19:] > mean + 2 * deviation) | (price[19:] < mean - 2 * deviation)
    return mean, deviation, np.flatnonzero(outside)


@program(normal(60, 2000))
def recursive_filter_by_columns(x):
    y = np.zeros_like(x)
    y[:, :2] = x[:, :2]
    for t in range(2, x.shape[1]):
        y[:, t] = 0.2 * x[:, t] + 1.5 * y[:, t - 1] - 0.7 * y[:, t - 2]
    return y


@program(lambda rng: (rng.integers(97, 123, 200_000).astype("u1"),))
def letters_and_cipher(text):
    text = np.where(text > 117, 32, text)
    letters = text != 32
    moved = np.where(letters, (text - 97 + 13) % 26 + 97, text)
    spaces = np.flatnonzero(~letters)
    words = np.diff(spaces) - 1
    return np.bincount(moved, minlength=128), np.bincount(words[words > 0])


@program(lambda rng: (rng.integers(0, 4, 100_000) // 3,))
def run_lengths(x):
    starts = np.flatnonzero(np.concatenate(([True], x[1:] != x[:-1])))
    lengths = np.diff(np.append(starts, len(x)))
    return x[starts], lengths, np.repeat(x[starts], lengths)


@program(lambda rng: (rng.integers(0, 10_000, 20_000), rng.random(20_000)))
def sales_by_month(days, amounts):
    dates = np.datetime64("2000-01-01") + days
    months = dates.astype("datetime64[M]")
    every, which = np.unique(months, return_inverse=True)
    totals = np.bincount(which, weights=amounts)
    weekday = (days + 5) % 7
    return totals, np.array([amounts[weekday == k].mean() for k in range(7)]), every.astype(np.int64)


@program(lambda rng: (np.sort(rng.uniform(0, 100, 5000)), rng.normal(size=5000)))
def resampling(t, x):
    grid = np.linspace(0, 100, 20_000)
    y = np.interp(grid, t, x)
    return np.convolve(y, np.ones(25) / 25, mode="same"), np.gradient(y, grid), np.trapezoid(y, grid)


@program(normal(1000, 60), "middling")
def asian_option(z):
    out = []
    for s in (0.1, 0.2, 0.3, 0.4):
        paths = 100 * np.exp(np.cumsum((0.03 - s * s / 2) / 60 + s * np.sqrt(1 / 60) * z, axis=1))
        out.append(np.exp(-0.03) * np.maximum(paths.mean(axis=1) - 100, 0).mean())
    return np.array(out)


@program(lambda rng: (rng.uniform(-90, 90, 1200), rng.uniform(-180, 180, 1200)), "middling")
def great_circle_distances(lat, lon):
    lat, lon = np.radians(lat), np.radians(lon)
    h = np.sin((lat[:, None] - lat) / 2)**2 + np.cos(lat[:, None]) * np.cos(lat) * np.sin((lon[:, None] - lon) / 2)**2
    d = 12742 * np.arcsin(np.sqrt(np.minimum(h, 1)))
    np.fill_diagonal(d, np.inf)
    return d.min(axis=1)


@program(lambda rng: (100 * np.exp(np.cumsum(0.01 * rng.normal(size=2_000_000))),), "large")
def returns_and_volatility(price):
    r = np.diff(np.log(price))
    s, q = np.cumsum(r), np.cumsum(r * r)
    mean = (s[50:] - s[:-50]) / 50
    return np.sqrt(np.maximum((q[50:] - q[:-50]) / 50 - mean**2, 0)) * np.sqrt(252)
