"""Chains of small steps that are replayed, beside NumPy and JAX.

    python benchmarks/small_steps.py [--only TEXT] [--seconds N] [--regions]

Each program is timed in turns, so that a change of the machine's speed meets all of them: the medians are of calls. With `--regions`,
what a replayed call adds to Plait's counters is printed too.
"""

import argparse
import statistics
import time

import numpy as np

import plait
import workloads

PROGRAMS = {
    "100 steps of 1,000 elements": "100 small steps of 1000 elements",
    "1000 additions of 10 elements": "1000 additions of 10 elements",
    "10 steps of Adam, 40 parameters": "10 steps of Adam, 40 parameters of 64 x 16 f4",
    "smoothing, 2000 rows of 1,000": "exponential smoothing, 2000 rows of 1000",
}


def function_of(source, numpy):
    scope = {"np": numpy}
    exec(source, scope)
    return scope["f"]


def jax_call(source, args):
    """The program compiled by JAX; None: JAX is not installed, or does not take it."""
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    import jax.numpy

    run, own = jax.jit(function_of(source, jax.numpy)), [jax.numpy.asarray(a) for a in args]
    try:
        run(*own)
    except Exception:  # a program that writes in place
        return None
    return lambda: jax.block_until_ready(run(*own))


def medians(calls, seconds):
    """Milliseconds of each call."""
    times = {name: [] for name in calls}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, call in calls.items():
            started = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - started)
    return {name: 1e3 * statistics.median(t) for name, t in times.items()}


def counted(call):
    """What a call adds to Plait's counters."""
    before = plait.stats()
    call()
    return {name: n - before[name] for name, n in plait.stats().items() if n != before[name]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--regions", action="store_true")
    options = parser.parse_args()
    print(f"{'milliseconds':34}{'numpy':>9}{'jit':>9}{'replay':>9}{'jax':>9}")
    for title, name in PROGRAMS.items():
        if options.only not in title:
            continue
        workload = next(w for w in workloads.ALL if w.name == name)
        source, args = workload.source, workload.inputs(np.random.default_rng(0))
        f = function_of(source, np)
        replayed, jitted = plait.jit(f, replay=True), plait.jit(f)
        calls = {"numpy": lambda: f(*args), "jit": lambda: np.asarray(jitted(*args)), "replay": lambda: np.asarray(replayed(*args))}
        if jax := jax_call(source, args):
            calls["jax"] = jax
        expected = f(*args)
        for _ in range(20):
            for call in calls.values():
                call()
            time.sleep(0.02)  # the compiler's thread
        np.testing.assert_allclose(np.asarray(replayed(*args)), expected, rtol=workload.tolerance)
        took = medians(calls, options.seconds)
        print(f"{title:34}" + "".join(f"{took[c]:9.3f}" if c in took else f"{'no':>9}" for c in ("numpy", "jit", "replay", "jax")), flush=True)
        if options.regions:
            print("   ", counted(calls["replay"]))


if __name__ == "__main__":
    main()
