#!/usr/bin/env python3
"""Benchmarks on a CUDA device: the same NumPy source under Plait, CuPy, torch.compile and JAX, each in a process of its own.

    python benchmarks/device.py                          # every row, every peer that is installed
    python benchmarks/device.py --only k-means --impl plait,cupy
    python benchmarks/device.py --scale 0.001            # small inputs, to see that it runs

Inputs lie on the device. A figure is the median over batches of the time of a batch of calls, started one after the other and
waited for once, divided by their number. limit: one pass over inputs and outputs at the bandwidth of a copy from device to device
(by the driver, bytes read and written) that is measured in the same run. Every result is compared with NumPy's (labels with those of
the same dtype, numbers with float64). Prints one table and writes JSON.
"""

import argparse
import ctypes
import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

HERE = pathlib.Path(__file__).resolve().parent
THIS = [sys.executable, __file__]
PEERS = ["cupy", "torch", "jax"]

CHAIN = "def f(a, b, c):\n    return np.sqrt(np.abs(a * b + c)) - a / 3.0\n"
KMEANS = "def f(X, means):\n    return np.argmin(np.linalg.norm(X - means[:, None], axis=2), axis=0)\n"
COLUMNS = "def f(x):\n    return np.sum(x * x, axis=0)\n"
STENCIL = "def f(u):\n    return 0.2 * (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])\n"
SOFTMAX = "def f(x):\n    e = np.exp(x - np.max(x, axis=1, keepdims=True))\n    return e / np.sum(e, axis=1, keepdims=True)\n"
STANDARDISE = "def f(x):\n    return (x - np.mean(x, axis=1, keepdims=True)) / (np.std(x, axis=1, keepdims=True) + 1e-5)\n"


LAYER = "def f(x, w, b):\n    return np.maximum(x @ w + b, 0)\n"
ATTENTION = """def f(q, k, v):
    s = q @ np.swapaxes(k, -1, -2) * 0.125
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True) @ v
"""
CONVOLUTION = """def f(x, w, b):
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return np.maximum(np.einsum("nchwij,fcij->nfhw", windows, w) + b[:, None, None], 0)
"""
# The peer's own function for the same.
TORCH_LAYER = "def f(x, w, b):\n    return torch.relu(torch.matmul(x, w) + b)\n"
TORCH_ATTENTION = "def f(q, k, v):\n    return torch.nn.functional.scaled_dot_product_attention(q, k, v)\n"
TORCH_CONVOLUTION = "def f(x, w, b):\n    return torch.relu(torch.nn.functional.conv2d(x, w, b))\n"


class Row:
    """A workload: source of f, shapes of its inputs, and what is to be reached: a share of the limit, or every peer ("ahead").

    `torch`: source of f in torch's own functions; `tolerance`: of the relative error.
    """

    def __init__(self, name, source, shapes, dtype, reach, labels=False, torch=None, tolerance=1e-4):
        self.name, self.source, self.shapes, self.dtype, self.reach, self.labels = name, source, shapes, dtype, reach, labels
        self.torch, self.tolerance = torch, tolerance

    def inputs(self, scale):
        """Normal numbers, which repeat after a million; `scale` shrinks the first axis of what is large."""
        numbers = numpy.random.default_rng(7).standard_normal(1_000_003, "f4").astype(self.dtype)
        shapes = [[max(3, int(s[0] * scale)) if s[0] >= 10_000 else s[0], *s[1:]] for s in self.shapes]
        return [numpy.resize(numpy.roll(numbers, 1000 * i), s) for i, s in enumerate(shapes)]


N = 100_000_000
ROWS = [
    Row("elementwise chain, 1e8 f32", CHAIN, [(N,)] * 3, "f4", 0.9),
    Row("k-means step, 20M x 2 f32, K = 2", KMEANS, [(20_000_000, 2), (2, 2)], "f4", 0.9, True),
    Row("k-means step, 20M x 2 f64, K = 2", KMEANS, [(20_000_000, 2), (2, 2)], "f8", 0.9, True),
    Row("column sums of squares (6250000, 16) f32", COLUMNS, [(N // 16, 16)], "f4", 0.9),
    Row("5-point stencil (10000, 10000) f32", STENCIL, [(10_000, 10_000)], "f4", 0.9),
    Row("softmax (16384, 8192) f32", SOFTMAX, [(16_384, 8192)], "f4", 0.85),
    Row("standardise (16384, 8192) f32", STANDARDISE, [(16_384, 8192)], "f4", 0.85),
    Row("k-means, 4M x 8 f32, K = 8", KMEANS, [(4_000_000, 8), (8, 8)], "f4", "ahead", True),
    Row("k-means, 2M x 16 f32, K = 16", KMEANS, [(2_000_000, 16), (16, 16)], "f4", "ahead", True),
    Row("k-means, 500K x 64 f32, K = 64", KMEANS, [(500_000, 64), (64, 64)], "f4", "ahead", True),
    Row("layer (16384, 1024) @ (1024, 1024) f32", LAYER, [(16_384, 1024), (1024, 1024), (1024,)], "f4", "ahead", torch=TORCH_LAYER),
    Row("attention (8, 16, 1024, 64) f32", ATTENTION, [(8, 16, 1024, 64)] * 3, "f4", "ahead", torch=TORCH_ATTENTION),
    Row("attention (8, 16, 1024, 64) f16", ATTENTION, [(8, 16, 1024, 64)] * 3, "f2", "ahead", torch=TORCH_ATTENTION, tolerance=1e-2),
    Row(
        "convolution (32, 64, 56, 56) 3x3 f32",
        CONVOLUTION,
        [(32, 64, 56, 56), (128, 64, 3, 3), (128,)],
        "f4",
        "ahead",
        torch=TORCH_CONVOLUTION,
    ),
]
STEP = ROWS[1]  # the one that is set against NumPy on the host


# --- one implementation, in its own process ---------------------------------------------------------------------------


def function(source, module, **others):
    scope = {"np": module, **others}
    exec(source, scope)
    return scope["f"]


def plait_on():
    import plait

    def evaluating(source):
        f = function(source, plait)
        return lambda *a: plait.evaluate(f(*a))

    return evaluating, lambda a: plait.asarray(a, device="cuda"), plait.device("cuda").synchronize, numpy.asarray


def cupy_on():
    import cupy

    return lambda source: function(source, cupy), cupy.asarray, cupy.cuda.Device().synchronize, cupy.asnumpy


class _TorchAsNumpy:
    """NumPy's spelling of what the sources use, in torch's own words."""

    def __init__(self, torch):
        self.sqrt, self.abs, self.exp = torch.sqrt, torch.abs, torch.exp
        self.argmin = lambda x, axis: torch.argmin(x, dim=axis)
        self.sum = lambda x, axis, keepdims=False: torch.sum(x, dim=axis, keepdim=keepdims)
        self.max = lambda x, axis, keepdims=False: torch.amax(x, dim=axis, keepdim=keepdims)
        self.mean = lambda x, axis, keepdims=False: torch.mean(x, dim=axis, keepdim=keepdims)
        self.std = lambda x, axis, keepdims=False: torch.std(x, dim=axis, keepdim=keepdims, correction=0)
        self.linalg = type("linalg", (), {"norm": staticmethod(lambda x, axis: torch.linalg.vector_norm(x, dim=axis))})


def torch_on():
    import torch

    if not torch.cuda.is_available():
        raise ImportError("torch sees no CUDA device")
    return (
        lambda source: torch.compile(function(source, _TorchAsNumpy(torch), torch=torch), dynamic=False),
        lambda a: torch.from_numpy(a).to("cuda"),
        torch.cuda.synchronize,
        lambda r: r.cpu().numpy(),
    )


def jax_on():
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    jax.config.update("jax_enable_x64", True)  # without it, float64 is float32
    if jax.default_backend() != "gpu":
        raise ImportError("JAX sees no GPU")
    last = [None]  # a device computes in order: who waits for the last result waits for all

    def compiled(source):
        f = jax.jit(function(source, jax.numpy))

        def call(*args):
            last[0] = f(*args)
            return last[0]

        return call

    return compiled, jax.device_put, lambda: jax.block_until_ready(last), numpy.asarray


BACKENDS = {"plait": plait_on, "cupy": cupy_on, "torch": torch_on, "jax": jax_on}


def timed(f, args, wait, seconds):
    """Seconds of the first call, and the median and quartiles of later ones."""
    start = time.perf_counter()
    f(*args)
    wait()
    first = time.perf_counter() - start
    start = time.perf_counter()
    f(*args)
    wait()
    once = time.perf_counter() - start
    calls = max(1, min(200, int(seconds / 10 / max(once, 1e-6))))
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(calls):
            f(*args)
        wait()
        times.append((time.perf_counter() - start) / calls)
    low, median, high = statistics.quantiles(times, n=4)
    return {"first": first, "steady": median, "low": low, "high": high}


def wrong(got, want, row):
    """What is wrong with a result, or None. Labels may differ where two means are about as near."""
    if got.shape != want.shape:
        return f"shape {got.shape} instead of {want.shape}"
    if row.labels:
        differ = int((got != want).sum())
        return f"{differ} of {want.size} labels differ" if differ > max(2, want.size * 1e-5) else None
    error = float(numpy.max(numpy.abs(got - want)) / numpy.max(numpy.abs(want)))
    return None if error < row.tolerance else f"relative error {error:.2g}"


def measure(impl, row, scale, seconds, expected):
    build, convert, wait, to_host = BACKENDS[impl]()
    host = row.inputs(scale)
    source = row.torch if impl == "torch" and row.torch else row.source
    f, args = build(source), [convert(a) for a in host]
    figures = timed(f, args, wait, seconds)
    result = to_host(f(*args))
    moved = sum(a.nbytes for a in host) + (result.size * 8 if row.labels else result.nbytes)
    figures.update(bytes=moved, wrong=wrong(result, expected, row))
    if impl == "plait":
        import plait

        figures["regions"] = plait.explain(function(row.source, plait)(*args)).split()[0]
    return figures


def child(impl, a):
    """Prints a line of JSON a row; what cannot be run says why."""
    for row in chosen(a.only):
        try:
            expected = numpy.load(expectation(a.folder, row))
            figures = measure(impl, row, a.scale, a.seconds, expected)
        except ImportError as e:
            figures = {"absent": str(e)}
        except Exception as e:
            figures = {"failed": f"{type(e).__name__}: {e}".splitlines()[0][:200]}
        print(json.dumps({"row": row.name, **figures}), flush=True)


# --- what is measured once --------------------------------------------------------------------------------------------


def bandwidth(scale):
    """Bytes a second, read and written, of the driver's copy from device to device, on memory of Plait's."""
    import plait

    size = max(1 << 16, int(scale * (1 << 30)))
    arrays = [plait.asarray(numpy.zeros(size, "u1"), device="cuda") for _ in range(2)]
    x, y = (a.__cuda_array_interface__ for a in arrays)
    driver = ctypes.CDLL(os.environ.get("PLAIT_CUDA_LIBRARY") or "libcuda.so.1")

    def must(result):
        if result:
            raise RuntimeError(f"the driver's copy fails with error {result}")

    context = ctypes.c_void_p()
    must(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    must(driver.cuCtxPushCurrent_v2(context))
    to, at, n, stream = (
        ctypes.c_ulonglong(x["data"][0]),
        ctypes.c_ulonglong(y["data"][0]),
        ctypes.c_size_t(size),
        ctypes.c_void_p(x["stream"]),
    )

    def copy():
        must(driver.cuMemcpyDtoDAsync_v2(to, at, n, stream))

    once = timed(copy, (), lambda: must(driver.cuStreamSynchronize(stream)), 0.3)["steady"]
    print(json.dumps({"bandwidth": 2 * size / once}))


def first_kernel():
    """Seconds from asking for a value to having it, in a process whose context exists and that has run nothing yet."""
    import plait

    device = plait.device("cuda")
    x = plait.asarray(numpy.ones(1_000_000, "f4"), device="cuda")
    device.synchronize()
    time.sleep(0.5)  # NVRTC is being opened
    start = time.perf_counter()
    plait.evaluate(plait.sqrt(plait.abs(x * 2.0 + 1.0)) - x / 3.0)
    device.synchronize()
    print(json.dumps({"first": time.perf_counter() - start}))


def host_cost(scale):
    """Seconds of the host to record and start a graph of one kernel that is known."""
    import plait

    device = plait.device("cuda")
    x = plait.asarray(numpy.ones(max(1, int(100_000 * scale)), "f4"), device="cuda")
    times = []
    for _ in range(30):
        device.synchronize()
        start = time.perf_counter()
        for _ in range(100):
            plait.evaluate(x * 2.0 + 1.0)
        times.append((time.perf_counter() - start) / 100)
    device.synchronize()
    print(json.dumps({"host": statistics.median(times[5:])}))


# --- all of it --------------------------------------------------------------------------------------------------------


def chosen(only):
    return [r for r in ROWS if re.search(only, r.name)]


def expectation(folder, row):
    return os.path.join(folder, f"{ROWS.index(row)}.npy")


def run(command, timeout, **environment):
    """Lines of JSON that a process printed, and why there are no more."""
    command = [str(c) for c in command]
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    try:
        out, err = p.communicate(timeout=timeout)
        why = (err.strip().splitlines() or [f"exit status {p.returncode}"])[-1][:200] if p.returncode else None
    except subprocess.TimeoutExpired:
        p.kill()
        out, why = p.communicate()[0], f"no answer in {timeout:.0f} s"
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")], why


def expected_results(a):
    """NumPy's results, for the children to compare with, and its time for the step on the host."""
    step = None
    for row in chosen(a.only):
        args, f = row.inputs(a.scale), function(row.source, numpy)
        # NumPy's own sums of columns have no more than four right digits in float32.
        result = f(*args) if row.labels else f(*[x.astype("f8") for x in args])
        numpy.save(expectation(a.folder, row), result)
        for _ in range(2 if row is STEP else 0):
            start = time.perf_counter()
            f(*args)
            step = min(step or numpy.inf, time.perf_counter() - start)
    return step


def overheads(a):
    out = {}
    with tempfile.TemporaryDirectory() as cache:
        for name in ("cold", "from the disk cache"):
            rows, why = run([*THIS, "--first-kernel"], 120, PLAIT_CACHE_DIR=cache)
            out["first kernel, " + name] = rows[0]["first"] if rows else why
    rows, why = run([*THIS, "--host-cost", "--scale", a.scale], 120)
    out["warm evaluation, host time, Python"] = rows[0]["host"] if rows else why
    if a.device_cost:
        rows, why = run([a.device_cost, max(1, int(100_000 * a.scale))], 120)
        out["warm evaluation, host time, C++"] = rows[0]["seconds"] if rows else why
    return out


def microseconds(x):
    return x if isinstance(x, str) else f"{x * 1e6:,.1f}" if x < 1e-3 else f"{x * 1e6:,.0f}"


def verdict(reached):
    return "reached" if reached else "MISSED"


def table(results):
    """The rows of the table, as Markdown, and whether every result was right."""
    speed = results["bandwidth"]
    sound = speed is not None
    impls = ["plait", *PEERS]
    lines = ["| work, us | " + " | ".join(impls) + " | limit | Plait is | reach | |", "| --- |" + " --- |" * (len(impls) + 4)]
    for name, row in results["rows"].items():
        cells = []
        for impl in impls:
            r = row.get(impl, {"absent": ""})
            cells.append(
                ""
                if "absent" in r
                else f"failed: {r['failed']}"
                if "failed" in r
                else microseconds(r["steady"]) + (f" WRONG: {r['wrong']}" if r["wrong"] else "")
            )
        ours = row.get("plait", {})
        sound = sound and "steady" in ours and not ours["wrong"]
        reach = next(r.reach for r in ROWS if r.name == name)
        limit = ours["bytes"] / speed if speed and "bytes" in ours else None
        peers = [row[p]["steady"] for p in PEERS if "steady" in row.get(p, {})]
        share = f"{limit / ours['steady']:.0%} of the limit" if "steady" in ours and limit else ""
        is_, met = share, ""
        if "steady" in ours and reach == "ahead":
            is_ = f"{min(peers) / ours['steady']:.2f}x the best peer" if peers else f"{share} without a peer".lstrip()
            met = verdict(min(peers) > ours["steady"]) if peers else ""
        elif "steady" in ours and limit:
            met = verdict(limit / ours["steady"] >= reach)
        wanted = "ahead of every peer" if reach == "ahead" else f"{reach:.0%}"
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {microseconds(limit) if limit else ''} | {is_} | {wanted} | {met} |")
    rows = [(n, v, r) for n, r in REACH.items() if (v := results["overheads"].get(n)) is not None]
    lines += ["", "| | us | reach | |", "| --- | --- | --- | --- |"]
    for name, value, reach in rows:
        sound = sound and not isinstance(value, str)
        lines.append(
            f"| {name} | {microseconds(value)} | {microseconds(reach)} | {'' if isinstance(value, str) else verdict(value <= reach)} |"
        )
    step, ours = results["numpy_step"], results["rows"].get(STEP.name, {}).get("plait", {})
    if step and "steady" in ours:
        times = step / ours["steady"]
        lines.append(
            f"| NumPy on the host, {STEP.name} | {microseconds(step)} | Plait {times:,.0f} times as fast; 200 wanted | {verdict(times >= 200)} |"
        )
    return "\n".join(lines), sound


REACH = {
    "first kernel, cold": 0.120,
    "first kernel, from the disk cache": 0.002,
    "warm evaluation, host time, C++": 8e-6,
    "warm evaluation, host time, Python": 12e-6,
}


def versions():
    """Of the device and its driver, and of the packages."""
    out = {}
    if shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        out["device"] = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    for d in importlib.metadata.distributions():
        name = (d.metadata["Name"] or "").lower()
        if name in ("numpy", "torch", "jax", "plait") or name.startswith("cupy"):
            out[name] = d.version
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--only", default="", help="rows whose name matches this expression")
    ap.add_argument("--impl", default=",".join(["plait", *PEERS]))
    ap.add_argument("--seconds", type=float, default=0.5, help="a row and implementation")
    ap.add_argument("--timeout", type=float, default=150, help="seconds for all the rows of an implementation")
    ap.add_argument("--scale", type=float, default=1, help="of the inputs' length")
    ap.add_argument("--device-cost", help="the program benchmarks/device_cost.cpp")
    ap.add_argument("--out", default=str(HERE / "out" / "device.json"))
    ap.add_argument("--folder", help=argparse.SUPPRESS)
    for hidden in ("--child", "--bandwidth", "--first-kernel", "--host-cost"):
        ap.add_argument(hidden, help=argparse.SUPPRESS, **({} if hidden == "--child" else {"action": "store_true"}))
    a = ap.parse_args()
    if a.child:
        return child(a.child, a)
    for asked, measure_it in ((a.bandwidth, lambda: bandwidth(a.scale)), (a.first_kernel, first_kernel), (a.host_cost, lambda: host_cost(a.scale))):
        if asked:
            return measure_it()
    with tempfile.TemporaryDirectory() as a.folder:
        results = {"versions": versions(), "scale": a.scale, "rows": {r.name: {} for r in chosen(a.only)}}
        results["numpy_step"] = expected_results(a)
        rows, why = run([*THIS, "--bandwidth", "--scale", a.scale], 60)
        results["bandwidth"] = rows[0]["bandwidth"] if rows else None
        print(", ".join(f"{name} {version}" for name, version in results["versions"].items()))
        if a.scale != 1:
            print(f"inputs are {a.scale:g} times as long as the rows say")
        print(f"copy from device to device: {results['bandwidth'] / 1e9:,.0f} GB/s" if rows else f"no bandwidth: {why}", flush=True)
        for impl in a.impl.split(","):
            command = [*THIS, "--child", impl, "--only", a.only, "--scale", a.scale, "--seconds", a.seconds, "--folder", a.folder]
            start = time.perf_counter()
            rows, why = run(command, a.timeout)
            for r in rows:
                results["rows"][r.pop("row")][impl] = r
            absent = next((r["absent"] for r in rows if "absent" in r), None)
            print(f"{impl}: {absent or why or 'ran'}, {time.perf_counter() - start:.0f} s", flush=True)
        results["overheads"] = overheads(a)
    text, sound = table(results)
    print("\n" + text)
    pathlib.Path(a.out).parent.mkdir(exist_ok=True)
    pathlib.Path(a.out).write_text(json.dumps(results, indent=1))
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
