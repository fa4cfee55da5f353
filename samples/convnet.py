"""A small convolutional network, written once, run by NumPy and by Plait.

python samples/convnet.py [images [size]]
"""
import sys
import time

import numpy

import plait


def conv(np, x, w, b):
    """3 x 3, same extents: windows of the padded image times filters."""
    p = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(p, (3, 3), axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w, optimize=True) + b[:, None, None]


def halve(np, x):
    n, c, h, w = x.shape
    return np.max(x.reshape(n, c, h // 2, 2, w // 2, 2), axis=(3, 5))


def network(np, x, layers, last):
    for w, b in layers:
        x = halve(np, np.maximum(conv(np, x, w, b), 0))
    return np.einsum("nchw,kchw->nk", x, last, optimize=True)


def main(images=8, size=64):
    random = numpy.random.default_rng(1)

    def floats(*shape):
        return (random.standard_normal(shape) / numpy.sqrt(numpy.prod(shape[1:]))).astype("f4")

    channels = [3, 32, 64, 64]
    layers = [(floats(o, c, 3, 3), floats(o, 1)[:, 0]) for c, o in zip(channels, channels[1:])]
    x, last = random.standard_normal((images, 3, size, size)).astype("f4"), floats(10, 64, size // 8, size // 8)

    results = []
    for np in (numpy, plait):
        given = np.asarray(x), [tuple(map(np.asarray, layer)) for layer in layers], np.asarray(last)
        times, scores = [], numpy.empty(0)
        for _ in range(5):
            started = time.perf_counter()
            scores = numpy.asarray(network(np, *given))
            times.append(time.perf_counter() - started)
        results.append(scores)
        print(f"{np.__name__}: {min(times) * 1e3:.1f} ms, at first {times[0] * 1e3:.1f}")
    print(f"largest difference {numpy.abs(results[0] - results[1]).max():.1e} of {numpy.abs(results[0]).max():.1f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
