#!/usr/bin/env python3
"""What a CUDA device does at most, measured by kernels of a few lines that NVRTC compiles: the ceilings that other figures stand under.

    python benchmarks/ceilings.py --out ceilings.json
    python benchmarks/ceilings.py --scale 0.001          # short, to see that it runs

copy: bytes a second, read and written, of a copy from device to device; ffma: float32 operations a second, a multiplication and an
addition each; mma: float16 operations a second with float32 sums, by mma.sync.m16n8k16; launch: seconds from one launch to the next of
a kernel that does nothing; answer: seconds from such a launch to knowing that it has ended. Best of several.
Needs the driver and NVRTC alone: PLAIT_CUDA_LIBRARY and PLAIT_NVRTC_LIBRARY name others than the loader finds.
"""

import argparse
import ctypes
import json
import os
import pathlib
import time

SOURCE = """
struct Run { float* out; int rounds; };

extern "C" __global__ void nothing(Run) {}

extern "C" __global__ void ffma(Run run) {
  float sums[16], x = threadIdx.x * 1e-3f, y = 1.0f - x;
  for (int i = 0; i < 16; ++i) sums[i] = i;
  for (int round = 0; round < run.rounds; ++round)
#pragma unroll
    for (int i = 0; i < 16; ++i) sums[i] = __fmaf_rn(sums[i], x, y);
  float all = 0;
  for (int i = 0; i < 16; ++i) all += sums[i];
  run.out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

extern "C" __global__ void mma(Run run) {
  float sums[8][4] = {};
  const unsigned a = 0x3c003c00u + threadIdx.x;  // about one, twice
  for (int round = 0; round < run.rounds; ++round)
#pragma unroll
    for (int i = 0; i < 8; ++i)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
          : "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3])
          : "r"(a));
  float all = 0;
  for (int i = 0; i < 8; ++i) all += sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];
  run.out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}
"""
THREADS = 256
FFMA_A_ROUND = 16 * 2
MMA_A_ROUND = 8 * 2 * 16 * 8 * 16 / 32  # a warp's, by its threads


class Run(ctypes.Structure):
    _fields_ = [("out", ctypes.c_void_p), ("rounds", ctypes.c_int)]


class Failed(Exception):
    pass


class Library:
    """A C library whose functions return 0, or what went wrong."""

    def __init__(self, *names):
        for name in names:
            try:
                self.library = ctypes.CDLL(name)
                return
            except OSError as e:
                why = e
        raise Failed(str(why))

    def __getattr__(self, name):
        function = getattr(self.library, name)

        def call(*args):
            if status := function(*args):
                raise Failed(f"{name} fails with error {status}")

        return call


def driver_library():
    return Library(os.environ.get("PLAIT_CUDA_LIBRARY") or "libcuda.so.1")


def nvrtc_library():
    named = os.environ.get("PLAIT_NVRTC_LIBRARY")
    return Library(*([named] if named else ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]))


def compiled(nvrtc, architecture):
    """PTX for the device, or for the newest that NVRTC knows below it."""
    count = ctypes.c_int()
    nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    known = (ctypes.c_int * count.value)()
    nvrtc.nvrtcGetSupportedArchs(known)
    target = max(a for a in known if a <= architecture)
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE.encode(), b"ceilings.cu", 0, None, None)
    options = (ctypes.c_char_p * 1)(f"--gpu-architecture=compute_{target}".encode())
    try:
        nvrtc.nvrtcCompileProgram(program, 1, options)
    except Failed as e:
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise Failed(f"{e}: {log.value.decode()}") from None
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, text)
    return text


class Device:
    """The first device: its kernels, memory and stream."""

    def __init__(self):
        self.driver = driver = driver_library()
        driver.cuInit(0)
        device, context, self.stream, module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        driver.cuDeviceGet(ctypes.byref(device), 0)
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        driver.cuCtxSetCurrent(context)
        driver.cuStreamCreate(ctypes.byref(self.stream), 1)

        def attribute(which):
            value = ctypes.c_int()
            driver.cuDeviceGetAttribute(ctypes.byref(value), which, device)
            return value.value

        self.multiprocessors = attribute(16)
        self.text = compiled(nvrtc_library(), attribute(75) * 10 + attribute(76))
        driver.cuModuleLoadData(ctypes.byref(module), self.text)
        self.module = module

    def memory(self, size):
        at = ctypes.c_uint64()
        self.driver.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(size))
        return at.value

    def kernel(self, name):
        function = ctypes.c_void_p()
        self.driver.cuModuleGetFunction(ctypes.byref(function), self.module, name.encode())
        return function

    def launch(self, kernel, blocks, threads, run):
        arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(run), ctypes.c_void_p))
        self.driver.cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, self.stream, arguments, None)

    def wait(self):
        self.driver.cuStreamSynchronize(self.stream)


def best(device, work, passes=5):
    """Seconds of work(), waited for."""
    times = []
    for _ in range(passes + 1):
        device.wait()
        start = time.perf_counter()
        work()
        device.wait()
        times.append(time.perf_counter() - start)
    return min(times[1:])


def measure(device, scale):
    """Yields a name and a figure at a time."""
    size = max(1 << 12, int(scale * (1 << 30)))
    x, y = device.memory(size), device.memory(size)
    addresses = ctypes.c_uint64(x), ctypes.c_uint64(y), ctypes.c_size_t(size), device.stream
    yield "copy", 2 * size / best(device, lambda: device.driver.cuMemcpyDtoDAsync_v2(*addresses))
    blocks = max(1, int(scale * 8 * device.multiprocessors))
    rounds = max(2, int(scale * 20_000))
    out = device.memory(4 * blocks * THREADS)
    for name, operations in (("ffma", FFMA_A_ROUND), ("mma", MMA_A_ROUND)):
        kernel, run = device.kernel(name), Run(out, rounds)
        seconds = best(device, lambda kernel=kernel, run=run: device.launch(kernel, blocks, THREADS, run))
        yield name, operations * rounds * blocks * THREADS / seconds
    launches, kernel, run = max(2, int(scale * 2000)), device.kernel("nothing"), Run(out, 0)

    def many():
        for _ in range(launches):
            device.launch(kernel, 1, 32, run)

    yield "launch", best(device, many) / launches
    yield "answer", best(device, lambda: device.launch(kernel, 1, 32, run), 20)


UNITS = {"copy": (1e9, "GB/s"), "ffma": (1e12, "TFLOP/s"), "mma": (1e12, "TFLOP/s"), "launch": (1e-6, "us"), "answer": (1e-6, "us")}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--scale", type=float, default=1, help="of sizes and rounds")
    ap.add_argument("--out", help="a file for the figures, as JSON in bytes, operations and seconds")
    a = ap.parse_args()
    figures = {}
    for name, value in measure(Device(), a.scale):
        figures[name] = value
        unit, word = UNITS[name]
        print(f"{name}: {value / unit:,.4g} {word}", flush=True)
        if a.out:
            pathlib.Path(a.out).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
