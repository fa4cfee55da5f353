"""Low precision in one run. Milliseconds, medians by turns.

What the processor's instructions multiply at most (peaks.cpp). Products of square matrices of each dtype, summed in float32 or int32, beside NumPy's and, where
they are installed, JAX's and torch's, and as a part of the best peak of that dtype; chains of operations, beside one operation; attention, from a cache too, and convolution. Products with weights that are
dequantised where they are read: NumPy, Plait, a dense product of float32 in Plait, and one pass over the bytes of the weights.

    python benchmarks/precision.py [--threads 2] [--squares 1024] [--rows 1 8 64] [--size 4096] [--only WORD] [--explain]
"""

import argparse
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import tempfile
import time

import numpy

import plait

GROUP = 64


def cases(k, n):
    """Of each spelling: its name, the function of NumPy's calls, its weights and what goes with them."""
    rng = numpy.random.default_rng(0)
    f4 = numpy.float32

    def numbers(*shape):
        return rng.random(shape, dtype=f4) * f4(0.01) + f4(0.001)

    q = rng.integers(-128, 128, (k, n), dtype=numpy.int8)
    turned = rng.integers(-128, 128, (n, k), dtype=numpy.int8)
    packed = rng.integers(0, 256, (k // 2, n), dtype=numpy.uint8)
    groups = numbers(k // GROUP, n)

    def grouped(np, x, q, s):
        return x @ (q.reshape(-1, GROUP, q.shape[1]).astype(f4) * s[:, None, :]).reshape(q.shape)

    def grouped_zero(np, x, q, s, z):
        w = (q.reshape(-1, GROUP, q.shape[1]).astype(f4) - z[:, None, :]) * s[:, None, :]
        return x @ w.reshape(q.shape)

    def stacked(np, w):
        return np.stack([w & 15, w >> 4], 1).reshape(2 * w.shape[0], w.shape[1])

    yield "int8, columns", lambda np, x, q, s: x @ (q.astype(f4) * s), q, (numbers(n),)
    yield "int8, rows", lambda np, x, q, s: x @ (q.astype(f4) * s), q, (numbers(k, 1),)
    yield "int8, groups", grouped, q, (groups,)
    yield "int8, zero points", lambda np, x, q, s, z: x @ ((q.astype(f4) - z) * s), q, (numbers(n), numbers(n))
    yield "int8, groups, zero points", grouped_zero, q, (groups, groups)
    yield "int8, transposed", lambda np, x, q, s: x @ (q.astype(f4) * s[:, None]).T, turned, (numbers(n),)
    yield "int4, stacked", lambda np, x, w, s: x @ ((stacked(np, w).astype(f4) - 8) * s), packed, (numbers(n),)
    yield (
        "int4, stacked, groups",
        lambda np, x, w, s: grouped(np, x, stacked(np, w).astype(f4) - f4(8), s),
        packed,
        (groups,),
    )
    yield (
        "int4, halves",
        lambda np, x, w, s: x @ ((np.concatenate([w & 15, w >> 4]).astype(f4) - 8) * s),
        packed,
        (numbers(n),),
    )


def in_turns(functions, seconds):
    times = [[] for _ in functions]
    for f in functions:
        f()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 3:
        for f, t in zip(functions, times, strict=True):
            begin = time.perf_counter()
            f()
            t.append(1e3 * (time.perf_counter() - begin))
    return [statistics.median(t) for t in times]


def dtypes():
    yield from (numpy.dtype(t) for t in ("float32", "float16", "int8"))
    try:
        import ml_dtypes
    except ImportError:
        return
    yield numpy.dtype(ml_dtypes.bfloat16)


def jaxs_product(x, sums):
    try:
        import jax
    except ImportError:
        return None
    f = jax.jit(lambda a: jax.numpy.matmul(a, a, preferred_element_type=sums))
    given = jax.numpy.asarray(x)
    return lambda: f(given).block_until_ready()


def torchs_product(x):
    """Of float32, bfloat16 and float16 torch's product has the dtype of its operands, and is summed in float32."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(plait.get_num_threads())
    if x.dtype.name == "bfloat16":
        given = torch.from_numpy(x.astype(numpy.float32)).bfloat16()
    else:
        given = torch.from_numpy(x)
    product = torch._int_mm if x.dtype.kind == "i" else torch.matmul
    return lambda: product(given, given)


def peaks(threads):
    """Of each dtype and instruction set: 1e9 products a second, of registers alone."""
    if not shutil.which("g++") or platform.machine() != "x86_64":
        return {}
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(__file__).with_name("peaks.cpp"), f"{folder}/peaks"
        subprocess.run(["g++", "-std=c++20", "-O2", "-fopenmp", source, "-o", program], check=True)
        lines = subprocess.run([program], env={**os.environ, "OMP_NUM_THREADS": str(threads)}, capture_output=True, text=True, check=True).stdout.splitlines()
    found = {}
    for line in lines:
        name, products = line.split()
        print(f"peak of {name:18} {float(products):8.0f} 1e9 products a second", flush=True)
        dtype = name.partition(",")[0]
        found[dtype] = max(found.get(dtype, 0.0), float(products))
    return found


def squares(size, seconds, peaks):
    rng = numpy.random.default_rng(0)
    print(f"{'product':26} {'':>4} {'NumPy':>8} {'JAX':>8} {'torch':>8} {'Plait':>8} {'of peak':>8}")
    for t in dtypes():
        x = (rng.standard_normal((size, size)) * 3).astype(t)
        sums = numpy.int32 if t.kind == "i" else numpy.float32
        a = plait.asarray(x)
        functions = [
            lambda a=a, sums=sums: plait.evaluate(a.astype(sums) @ a.astype(sums)),
            lambda x=x, sums=sums: x.astype(sums) @ x.astype(sums),
            jaxs_product(x, sums),
            torchs_product(x),
        ]
        times = iter(in_turns([f for f in functions if f], seconds))
        mine, numpys, jaxs, torchs = (next(times) if f else None for f in functions)
        peak = peaks.get("float32" if t.name == "float16" else t.name)
        part = f"{size**3 / mine * 1e-6 / peak:8.0%}" if peak else ""
        shown = " ".join(" " * 8 if v is None else f"{v:8.2f}" for v in (numpys, jaxs, torchs, mine))
        print(f"{t.name:26} {size:4} {shown} {part}", flush=True)


def chains(n, seconds):
    rng = numpy.random.default_rng(0)
    print(f"{'chain of 6':26} {'':>4} {'NumPy':>8} {'Plait':>8} {'one op.':>8}")
    for t in dtypes():
        x, y = ((rng.standard_normal(n) * 2).astype(t) for _ in range(2))
        a, b = plait.asarray(x), plait.asarray(y)

        def chain(x, y):
            return (((x * y + x) * y - x) * x + y) * y

        mine, one, theirs = (
            lambda a=a, b=b: plait.evaluate(chain(a, b)),
            lambda a=a, b=b: plait.evaluate(a + b),
            lambda x=x, y=y: chain(x, y),
        )
        times = in_turns([mine, one, theirs], seconds)
        print(f"{t.name:26} {'':4} {times[2]:8.2f} {times[0]:8.2f} {times[1]:8.2f}", flush=True)


def attention(np, q, k, v, to):
    """Weights are rounded to `to`, where that is given."""
    s = (q @ np.swapaxes(k, -1, -2)).astype(numpy.float32) * numpy.float32(q.shape[-1] ** -0.5)
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    p = e / np.sum(e, axis=-1, keepdims=True)
    return (p if to is None else p.astype(to)) @ v


def convolution(np, x, w, to):
    x, w = (a.astype(to) for a in (x, w))
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return np.einsum("nchwij,ocij->nohw", np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3)), w)


def from_cache(np, q, k, v, ks, vs):
    """Of one token in each head, from keys and values with a scale for each head."""
    f4 = numpy.float32
    return attention(np, q, k.astype(f4) * ks, v.astype(f4) * vs, None)


def layers(seconds):
    rng = numpy.random.default_rng(0)
    print(f"{'attention, convolution':26} {'':>4} {'NumPy':>8} {'Plait':>8}")

    def floats(*shape):
        return rng.standard_normal(shape, dtype=numpy.float32)

    def row(name, f, *given):
        mine = [plait.asarray(a) if isinstance(a, numpy.ndarray) else a for a in given]
        times = in_turns([lambda: plait.evaluate(f(plait, *mine)), lambda: f(numpy, *given)], seconds)
        print(f"{name:26} {'':4} {times[1]:8.2f} {times[0]:8.2f}", flush=True)

    for t in dtypes():
        if t.kind == "i":
            continue
        q = [floats(8, 1024, 64).astype(t) for _ in range(3)]
        row(f"attention {t.name}", attention, *q, None if t == numpy.float32 else t)
    scale = floats(8, 1, 1)
    for t in dtypes():
        k = [(floats(8, 1024, 64) * 3).astype(t) for _ in range(2)]
        row(f"one query, cache {t.name}", from_cache, floats(8, 1, 64), *k, scale, scale)
    for t in dtypes():
        x, w = ((floats(*shape) * 3).astype(t) for shape in ((4, 32, 56, 56), (64, 32, 3, 3)))
        row(f"convolution {t.name}", convolution, x, w, numpy.int32 if t.kind == "i" else numpy.float32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--squares", type=int, default=1024, help="0: none, and neither chains nor layers")
    parser.add_argument("--rows", type=int, nargs="*", default=[1, 8, 64])
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--explain", action="store_true")
    parser.add_argument("--no-numpy", action="store_true")
    args = parser.parse_args()
    plait.set_num_threads(args.threads)
    if args.squares:
        with numpy.errstate(all="ignore"):
            squares(args.squares, args.seconds, peaks(args.threads))
            chains(10_000_000, args.seconds)
            layers(args.seconds)
    k = n = args.size
    rng = numpy.random.default_rng(1)
    print(f"{'':26} {'rows':>4} {'NumPy':>8} {'Plait':>8} {'dense':>8} {'pass':>8}  worst error")
    for name, f, weights, rest in cases(k, n):
        if args.only not in name:
            continue
        for rows in args.rows:
            x = rng.standard_normal((rows, k), dtype=numpy.float32)
            given = [plait.asarray(a) for a in (x, weights, *rest)]
            dense = plait.asarray(rng.standard_normal((k, n), dtype=numpy.float32))
            words = plait.asarray(weights.ravel().view(numpy.int64))

            def own(f=f, given=given):
                r = f(plait, *given)
                plait.evaluate(r)
                return r

            def product(x=given[0], dense=dense):
                plait.evaluate(x @ dense)

            if args.explain:
                print(plait.explain(own))
            expected = f(numpy, x, weights, *rest)
            error = numpy.abs(numpy.asarray(own()) - expected).max() / numpy.abs(expected).max()
            functions = [own, product, lambda words=words: int(plait.max(words))]
            if not args.no_numpy:
                functions.append(lambda f=f, x=x, w=weights, rest=rest: f(numpy, x, w, *rest))
            times = in_turns(functions, args.seconds)
            numpys = f"{times[3]:8.2f}" if len(times) > 3 else " " * 8
            print(f"{name:26} {rows:4} {numpys} {times[0]:8.2f} {times[1]:8.2f} {times[2]:8.2f}  {error:.1e}", flush=True)


if __name__ == "__main__":
    main()
