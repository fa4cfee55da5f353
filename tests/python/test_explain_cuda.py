"""explain() for an architecture without a device: the real NVRTC compiles. The bounds keep the benchmarks' kernels from growing unseen."""

import pytest

SOURCE = """
import os, re, numpy, plait
plait.config.eager_limit = 0
n = numpy.linalg.norm
def attention(q, k, v, mask):
    s = numpy.where(mask, q @ k.swapaxes(-1, -2) * 0.125, -numpy.inf)
    e = numpy.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v
def convolution(x, w, b):
    windows = numpy.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return numpy.maximum(numpy.einsum("nchwij,ocij->nohw", windows, w) + b[:, None, None], 0)
# Products are small, so that launches decide: a kernel with what stands around them is the fastest way.
cases = {
    "chain": (lambda a: (a * 2 + 1) * a, numpy.ones(1000000)),
    "column sums": (lambda a: a.sum(axis=0), numpy.ones((100000, 8))),
    "softmax": (lambda a: numpy.exp(a - a.max(axis=1, keepdims=True)) / numpy.exp(a - a.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True), numpy.ones((512, 1000), "f4")),
    "product": (lambda a, b, c: a @ b + c, *(numpy.ones(s, "f4") for s in ((512, 300), (300, 400), (400,)))),
    "block of a product": (lambda a, b, c: numpy.maximum((a * 2 + 1) @ b + c, 0), *(numpy.ones(s, "f4") for s in ((128, 300), (300, 400), (400,)))),
    "block of an attention": (attention, *(numpy.ones((2, 200, 64), "f4") for _ in range(3)), numpy.tril(numpy.ones((200, 200), bool))),
    "block of a convolution": (convolution, numpy.ones((1, 16, 34, 34), "f4"), numpy.ones((32, 16, 3, 3), "f4"), numpy.ones(32, "f4")),
    "scan": (lambda a: numpy.sqrt(numpy.cumsum(a * a, 1) + 1), numpy.ones((40, 100000))),
    "scan of windows": (lambda a: (lambda c: c[10:] - c[:-10])(numpy.cumsum(a)), numpy.ones(100000, "f4")),
    "scatter": (lambda p: numpy.bincount(numpy.argmin(p, axis=1), minlength=8), numpy.ones((100000, 8))),
    "integers": (lambda a, b: a @ b, numpy.ones((512, 300), "i8"), numpy.ones((300, 400), "i8")),
    "k-means": (lambda p, m: numpy.argmin(numpy.linalg.norm(p[:, None] - m, axis=2), axis=1), numpy.ones((100000, 8)), numpy.ones((16, 8))),
}
try:
    plait.explain(plait.ones(10) + 1, target="cuda:sm_90")
except plait.DeviceError as e:
    print("missing", e)
    raise SystemExit
architectures = ("sm_80", "sm_90", "sm_100")
for n, (name, (f, *args)) in enumerate(cases.items()):
    for arch in architectures if os.environ.get("PLAIT_THOROUGH") else (architectures[n % 3],):
        text = plait.explain(plait.jit(f), *args, target="cuda:" + arch, source=True)
        regions = int(text.split()[0])
        kernels = re.findall(r"(\\d+) registers a thread, (\\d+) bytes of shared memory, (\\d+) bytes spilled", text)
        assert len(kernels) == regions, text
        assert ("the same call adds" in text) == (name == "product"), text
        assert ("cuBLASLt" in text) == (name == "product"), text
        assert not name.startswith("block of") or (regions == 1 and "a block of 256 threads an iteration" in text), text
        assert name != "scatter" or (regions == 1 and "joined in a fixed order" in text), text
        assert not name.startswith("scan") or (regions == 1 and "team_scan" in text), text
        predicted = re.findall(r"moved; predicted [^ ]+ ms\\n", text)
        assert len(predicted) == regions or name in ("product", "integers"), text
        assert "__global__" in text and "struct Arguments" in text, text
        for registers, shared, spilled in kernels:
            print(name, arch, registers, shared, spilled)
try:
    plait.explain(plait.ones(10) + 1, target="tpu")
except ValueError as e:
    print("refused", e)
"""
MOST_REGISTERS = {
    "chain": 32,
    "product": 128,
    "integers": 128,
    "column": 64,
    "softmax": 64,
    "k-means": 80,
    "scan": 64,
    "scatter": 64,
    "block": 255,
}


def test_kernels_are_compiled_and_described(run_python):
    done = run_python(SOURCE, timeout=300)
    assert done.returncode == 0, done.stderr
    if done.stdout.startswith("missing"):
        pytest.skip("NVRTC is missing")
    lines = done.stdout.splitlines()
    assert lines.pop().startswith("refused")
    assert len(lines) >= 12
    for line in lines:
        name, *_, registers, _shared, spilled = line.split()
        assert int(registers) <= MOST_REGISTERS[name] and int(spilled) == 0, line
