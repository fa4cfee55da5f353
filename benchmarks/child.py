"""One workload under one implementation in this process: child.py NAME IMPLEMENTATION THREADS SECONDS. Prints a JSON row."""
import json
import pathlib
import re
import statistics
import sys
import time

import numpy

import workloads


class Unsupported(Exception):
    pass


def prepare(w, impl, threads):
    """(function of the inputs, conversion of an input, how to force a result)."""
    ns = {"np": numpy, "numpy": numpy}
    source = w.peers.get(impl, w.source)
    if source is None:
        raise Unsupported
    exec(source if impl != "numexpr" else w.source, ns)
    f, same = ns["f"], lambda a: a
    if impl == "numpy":
        return f, same, numpy.asarray
    if impl == "plait":
        import plait
        ns["np"] = plait
        return f, plait.asarray, numpy.asarray
    if impl in ("plait-jit", "plait-replay"):
        import plait
        return plait.jit(f, replay=impl == "plait-replay"), same, numpy.asarray
    if impl == "jax":
        import jax
        jax.config.update("jax_enable_x64", True)
        ns["np"] = jax.numpy
        return jax.jit(f), jax.numpy.asarray, lambda r: numpy.asarray(r.block_until_ready())
    if impl == "torch":
        import torch
        torch.set_num_threads(threads)
        if impl in w.peers:  # torch's own functions, on its tensors
            return f, torch.from_numpy, lambda r: r.numpy()
        return torch.compile(f), same, numpy.asarray
    if impl == "numba":
        import numba
        numba.set_num_threads(threads)
        ns["prange"] = numba.prange
        return numba.njit(parallel=True)(f), same, numpy.asarray
    if impl == "numexpr":
        if "numexpr" not in w.peers:
            raise Unsupported
        import numexpr
        numexpr.set_num_threads(threads)
        names = f.__code__.co_varnames
        return lambda *args: numexpr.evaluate(w.peers["numexpr"], dict(zip(names, args))), same, numpy.asarray
    raise Unsupported


def touch(impl, inputs, base, i):
    """Changes an element of the first input, so that no implementation can give an old answer."""
    at = tuple(i % n for n in base.shape)
    base[at] += 1
    if impl == "plait":
        inputs[0][at] = base[at]
        float(inputs[0][at])
    elif impl == "jax":
        inputs[0] = inputs[0].at[at].set(base[at]).block_until_ready()


def peak(reset=False):
    """MiB of the resident high-water mark."""
    if reset:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024


def wrong(got, want, tolerance):
    """The error, or None when the result will do."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape} instead of {want.dtype}{want.shape}"
    if want.dtype.kind in "biu":
        n = int((got != want).sum())
        return f"{n} of {want.size} labels differ" if n > tolerance else None
    error = float(numpy.max(numpy.abs(got - want)) / (numpy.max(numpy.abs(want)) + 1e-300))
    return None if error <= tolerance else f"relative error {error:.2g}"


def measure(w, impl, threads, seconds):
    args = list(w.inputs(numpy.random.default_rng(3)))
    start = time.perf_counter()
    f, convert, force = prepare(w, impl, threads)
    loading = time.perf_counter() - start
    inputs = [convert(a) for a in args]
    before = peak(reset=True)
    start = time.perf_counter()
    result = force(f(*inputs))
    first = time.perf_counter() - start
    result_bytes, times, end = result.nbytes, [], time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 500):
        touch(impl, inputs, args[0], len(times))
        result = None
        start = time.perf_counter()
        result = force(f(*inputs))
        times.append(time.perf_counter() - start)
    grown = peak() - before - result_bytes / 2**20
    result = numpy.array(result)
    del inputs
    ns = {"np": numpy}
    exec(w.source, ns)
    allowed = 2 if w.tolerance == 0 and not impl.startswith("plait") else w.tolerance  # a peer may round a near tie differently
    quartiles = statistics.quantiles(times, n=4)
    return dict(loading=loading, first=first, steady=statistics.median(times), low=quartiles[0], high=quartiles[2], calls=len(times), peak=grown,
                wrong=wrong(result, numpy.asarray(ns["f"](*args)), allowed))


def main():
    name, impl, threads, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    w = next(w for w in workloads.ALL if w.name == name)
    try:
        row = measure(w, impl, threads, seconds)
    except (Unsupported, ModuleNotFoundError):
        row = {"absent": True}
    print(json.dumps(row))


if __name__ == "__main__":
    main()
