"""Matrix products against the BLAS that NumPy links, in one run: GFLOP/s, and the ratio to NumPy's time.

    python benchmarks/products.py [--threads 1 2] [--dtype float32 float64] [--only WORD]

Each of the two has its own process-wide number of threads, set to the same; a size is timed in turns,
and the best of the repetitions counts for both. The BLAS may take a new processor for an old one:
OPENBLAS_CORETYPE=SkylakeX shows what it does where it knows AVX-512.
"""

import argparse
import ctypes
import os
import platform
import time

import numpy

import plait

SETTLE = 0.05  # seconds for which the threads of an OpenBLAS spin after a call, on the cores of others


def set_blas_threads(n):
    """NumPy's own OpenBLAS, by the name its wheels give it; False for another BLAS."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        paths = {line.split()[-1] for line in maps if "openblas" in line}
    for path in paths:
        library = ctypes.CDLL(path)
        for name in ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads"):
            if hasattr(library, name):
                getattr(library, name)(n)
                return True
    return False


def cases(dtype):
    rng = numpy.random.default_rng(0)

    def array(*shape):
        return rng.standard_normal(shape).astype(dtype)

    for n in (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048):
        yield f"square {n}", array(n, n), array(n, n)
    yield "projection", array(4096, 512), array(512, 1536)
    yield "tall", array(100_000, 64), array(64, 64)
    yield "tall to few", array(100_000, 64), array(64, 8)
    yield "few rows", array(8, 1024), array(1024, 4096)
    yield "wide", array(64, 64), array(64, 100_000)
    yield "deep", array(64, 100_000), array(100_000, 64)
    yield "deep, transposed", array(100_000, 64).T, array(100_000, 64)
    yield "outer", array(2000, 4), array(4, 2000)
    yield "batched small", array(2000, 16, 16), array(2000, 16, 16)
    yield "batched", array(64, 128, 64), array(64, 64, 128)
    yield "batched, transposed", array(64, 128, 64), array(64, 128, 64).swapaxes(1, 2)
    yield "batched, one matrix", array(64, 128, 64), array(64, 128)
    yield "batched vectors", array(1000, 64, 64), array(1000, 64, 1)
    yield "A transposed", array(1024, 1024).T, array(1024, 1024)
    yield "B transposed", array(1024, 1024), array(1024, 1024).T
    yield "both transposed", array(1024, 1024).T, array(1024, 1024).T
    yield "every other column", array(512, 1024)[:, ::2], array(512, 1024)[:, ::2]
    yield "backwards", array(512, 512)[::-1, ::-1], array(512, 512)[:, ::-1]
    own = array(1000, 600)
    yield "with its transpose", own, own.T
    yield "matrix, vector", array(1000, 1000), array(1000, 1)
    yield "matrix, vector 4000", array(4000, 4000), array(4000, 1)
    yield "vector, matrix", array(1, 1000), array(1000, 1000)
    yield "vector, matrix 4000", array(1, 4000), array(4000, 4000)


def mine_of(a, b):
    """The same operands in Plait, with NumPy's strides."""

    def borrowed(x):
        base = x
        while base.base is not None:
            base = base.base
        view = plait.borrow(base)
        if base is x:
            return view
        at = x.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        item = x.itemsize
        flat = view.reshape(-1)
        return plait.lib.stride_tricks.as_strided(flat[at // item :], x.shape, x.strides)

    if b.base is a or (a.base is not None and b.base is a.base):
        x = borrowed(a)
        return x, x.T
    return borrowed(a), borrowed(b)


def once(run, calls):
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def compare(a, b, seconds):
    x, y = mine_of(a, b)

    def mine():
        plait.evaluate(x @ y)

    def theirs():
        numpy.matmul(a, b)

    first = max(once(mine, 1), once(theirs, 1), 1e-7)
    first = max(min(once(mine, 1), once(theirs, 1)), 1e-7)
    calls = max(1, min(2000, int(seconds / 12 / first)))
    times = []
    for _ in range(5):
        time.sleep(SETTLE)
        mine()
        own = once(mine, calls)
        theirs()
        times.append((own, once(theirs, calls)))
    return min(t[0] for t in times), min(t[1] for t in times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--dtype", nargs="+", default=["float32", "float64"])
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=0.4, help="for each case")
    arguments = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, numpy {numpy.__version__}, "
          f"OPENBLAS_CORETYPE={os.environ.get('OPENBLAS_CORETYPE', '')}")
    for threads in arguments.threads:
        plait.set_num_threads(threads)
        if not set_blas_threads(threads):
            print("the threads of NumPy's BLAS could not be set")
        for dtype in arguments.dtype:
            print(f"\n{dtype}, {threads} thread(s)\n{'':24}{'Plait':>10}{'NumPy':>10}  GFLOP/s   ratio of times")
            for name, a, b in cases(dtype):
                if arguments.only not in f"{name} {a.shape} {b.shape}":
                    continue
                mine, theirs = compare(a, b, arguments.seconds)
                work = 2e-9 * a.shape[-1] * numpy.prod(numpy.matmul(a, b).shape, dtype=float)
                print(f"{name:24}{work / mine:10.1f}{work / theirs:10.1f}{mine / theirs:20.2f}", flush=True)


if __name__ == "__main__":
    main()
