#!/usr/bin/env python3
"""Colour-quantises a photograph with k-means written in plain NumPy (kmeans.py), once under NumPy and once under Plait; then one
assignment of 20 million points both ways, with one thread and with all. Writes a PNG with the three pictures side by side. With
--device cuda, Plait's arrays are on the GPU."""
import argparse
import contextlib
import importlib.util
import pathlib
import statistics
import sys
import time

import numpy
from PIL import Image, ImageDraw
from sklearn.datasets import load_sample_image

import plait

HERE = pathlib.Path(__file__).parent


def load_kmeans(np):
    """kmeans.py with `np` as its array module: what editing its import line would give."""
    spec = importlib.util.spec_from_file_location("kmeans_under_" + np.__name__, HERE / "kmeans.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    setattr(module, "np", np)
    return module


class Progress:
    """Prints a line a round, on a terminal over the one before, and remembers when each round ended."""

    def __init__(self, label):
        self.label, self.start, self.ends = label, time.perf_counter(), []
        self.terminal = sys.stdout.isatty()

    def __call__(self, i, moved):
        self.ends.append(time.perf_counter() - self.start)
        line = f"  {self.label}: round {i + 1}, means moved by {moved:.5f}, {self.ends[-1]:.2f} s"
        print("\r" + line if self.terminal else line, end="" if self.terminal else "\n", flush=True)

    def done(self):
        total = time.perf_counter() - self.start
        if self.terminal:
            print()
        print(f"  {self.label}: first round {self.ends[0] * 1e3:.0f} ms, {len(self.ends)} rounds {total:.2f} s")
        return total


def quantise(np, pixels, colours, rounds):
    """Means, labels and seconds of k-means under the module `np`."""
    kmeans = load_kmeans(np)
    progress = Progress(np.__name__)
    X = np.asarray(pixels)
    start = X[:: len(X) // colours][:colours]
    means, labels = kmeans.fit(X, start, rounds, progress)
    means, labels = numpy.asarray(means), numpy.asarray(labels)
    return means, labels, progress.done()


def save_picture(path, photo, panels):
    """The photograph and, beside it, (caption, picture) panels."""
    height, width, _ = photo.shape
    sheet = Image.new("RGB", (width * (1 + len(panels)), height + 24), "white")
    draw = ImageDraw.Draw(sheet)
    for i, (caption, picture) in enumerate([("original", photo), *panels]):
        sheet.paste(Image.fromarray(picture), (i * width, 24))
        draw.text((i * width + 8, 6), caption, fill="black")
    sheet.save(path)


def steady(fn, *args, repeat=3):
    """First call and median of later calls in seconds, and the result; the first element of the first argument changes each time."""
    times, result = [], numpy.empty(0)
    for i in range(repeat + 1):
        args[0][0, 0] += 1
        start = time.perf_counter()
        result = numpy.asarray(fn(*args))
        times.append(time.perf_counter() - start)
    return times[0], statistics.median(times[1:]), result


def device_step(points, device):
    """One assignment of points that are on the device already, beside NumPy on the host."""
    rng = numpy.random.default_rng(0)
    for dtype in ("float64", "float32"):
        X, means = rng.standard_normal((points, 2)).astype(dtype), numpy.array([[-1.0, 0.5], [1.0, -0.5]], dtype)
        _, later, want = steady(load_kmeans(numpy).assign, X, means)
        x, m, times = plait.asarray(X, device=device), plait.asarray(means, device=device), []
        assign, labels = load_kmeans(plait).assign, plait.empty(0)
        for _ in range(6):
            x[0, 0] += 1
            plait.evaluate(x)
            plait.device(device).synchronize()
            start = time.perf_counter()
            labels = plait.evaluate(assign(x, m))
            plait.device(device).synchronize()
            times.append(time.perf_counter() - start)
        X[0, 0] = x[0, 0]
        want = load_kmeans(numpy).assign(X[:1000], means)
        same = "same labels" if numpy.array_equal(numpy.asarray(labels)[:1000], want) else "LABELS DIFFER"
        time_ = statistics.median(times[1:])
        print(f"  {dtype}: numpy {later * 1e3:8.1f} ms; plait, {x.device}: first {times[0] * 1e3:8.1f} ms, then {time_ * 1e3:8.3f} ms ({later / time_:.0f}x), {same}")


def big_step(points):
    """One assignment of many points: NumPy, and plait.jit on the same function and the same arrays."""
    kmeans = load_kmeans(numpy)
    rng = numpy.random.default_rng(0)
    X, means = rng.standard_normal((points, 2)), numpy.array([[-1.0, 0.5], [1.0, -0.5]])
    everything = plait.get_num_threads()
    first, later, want = steady(kmeans.assign, X.copy(), means)
    print(f"  numpy                first {first * 1e3:8.1f} ms, then {later * 1e3:8.1f} ms")
    for threads in sorted({1, everything}):
        plait.set_num_threads(threads)
        first, time_, got = steady(plait.jit(kmeans.assign), X.copy(), means)
        same = "same labels" if numpy.array_equal(got, want) else "LABELS DIFFER"
        print(f"  plait, {threads} thread{'s' if threads > 1 else ' '}     first {first * 1e3:8.1f} ms, then {time_ * 1e3:8.1f} ms ({later / time_:.1f}x), {same}")
    plait.set_num_threads(everything)


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--colours", type=int, default=64)
    ap.add_argument("--rounds", type=int, default=12)
    ap.add_argument("--shrink", type=int, default=1, help="take every n-th row and column of the photograph")
    ap.add_argument("--points", type=int, default=20_000_000)
    ap.add_argument("--out", default="kmeans_photo.png")
    ap.add_argument("--device", default="cpu", help="where Plait's arrays are: cpu, cuda or cuda:N")
    a = ap.parse_args()
    where = contextlib.nullcontext()
    if a.device != "cpu":
        try:
            where = plait.device(a.device)
        except (plait.DeviceError, ValueError) as e:
            raise SystemExit(f"no device {a.device}: {e}") from None
    photo = numpy.ascontiguousarray(load_sample_image("china.jpg")[:: a.shrink, :: a.shrink])
    pixels = photo.reshape(-1, 3) / 255.0
    print(f"k-means: {len(pixels)} pixels, {a.colours} colours")
    load_kmeans(numpy).assign(pixels, pixels[: a.colours])  # the machine hands out its pages here, so that neither has to pay for them
    panels, results = [], []
    for np, place in ((numpy, contextlib.nullcontext()), (plait, where)):
        with place:
            means, labels, seconds = quantise(np, pixels, a.colours, a.rounds)
        picture = (means[labels] * 255 + 0.5).astype("u1").reshape(photo.shape)
        panels.append((f"{np.__name__}: {a.colours} colours, {seconds:.2f} s", picture))
        results.append((picture, seconds))
    save_picture(a.out, photo, panels)
    different = int((results[0][0] != results[1][0]).any(axis=2).sum())
    print(f"  plait is {results[0][1] / results[1][1]:.1f} times as fast as numpy; {different} pixels differ; picture in {a.out}")
    print("\nWhat Plait made of one assignment:")
    with where:
        print(plait.explain(load_kmeans(plait).assign, plait.asarray(pixels), plait.asarray(pixels[: a.colours])))
    print(f"\nOne assignment of {a.points} points to 2 means:")
    if a.device == "cpu":
        big_step(a.points)
    else:
        device_step(a.points, a.device)


if __name__ == "__main__":
    main()
