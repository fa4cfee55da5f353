#!/usr/bin/env python3
"""Exported k-means beside ONNX Runtime and AOTInductor: sizes, process start to first result, time of a call. The programs are in start_up/.

    python benchmarks/start_up.py --library build/src/run --onnx-python PYTHON --onnx-include FOLDER --torch-python PYTHON

One source, np.argmin(np.linalg.norm(X - means[:, None], axis=2), axis=0), of float64; for ONNX the same operations as nodes of a graph. Pythons: where
onnx and onnxruntime are installed, and torch; left out without. The folder has onnxruntime_c_api.h, of a release of ONNX Runtime no newer than the
package. What is compared goes by turns: process start to first result of 1000 points, then calls with all points. Medians.
"""
import argparse
import datetime
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import plait
from run import machine, ms

HERE = pathlib.Path(__file__).resolve().parent
MEANS = 8
EXPORT = {  # what makes the model, of the path and a file of points
    "onnx": """
import sys, onnx, onnxruntime
from onnx import TensorProto, helper
value = helper.make_tensor_value_info
nodes = [helper.make_node("Unsqueeze", ["means", "one"], ["columns"]), helper.make_node("Sub", ["X", "columns"], ["difference"]),
         helper.make_node("ReduceL2", ["difference", "two"], ["distance"], keepdims=0), helper.make_node("ArgMin", ["distance"], ["labels"], axis=0, keepdims=0)]
axes = [helper.make_tensor(name, TensorProto.INT64, [1], [axis]) for name, axis in (("one", 1), ("two", 2))]
graph = helper.make_graph(nodes, "kmeans", [value("X", TensorProto.DOUBLE, ["n", 2]), value("means", TensorProto.DOUBLE, [8, 2])], [value("labels", TensorProto.INT64, ["n"])], axes)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
onnx.checker.check_model(model)
onnx.save(model, sys.argv[1])
print("ONNX Runtime", onnxruntime.__version__)
""",
    "torch": """
import sys, torch
class KMeans(torch.nn.Module):
    def forward(self, X, means):
        return torch.argmin(torch.linalg.norm(X - means[:, None], dim=2), dim=0)
example = torch.zeros(1000, 2, dtype=torch.float64), torch.zeros(8, 2, dtype=torch.float64)
exported = torch.export.export(KMeans(), example, dynamic_shapes=({0: torch.export.Dim("n", min=2)}, None))
torch._inductor.aoti_compile_and_package(exported, package_path=sys.argv[1])
print("PyTorch", torch.__version__)
""",
}
CALLS = {  # the same programs in Python: step() gives labels
    "plait": "import plait\nprogram = plait.load(sys.argv[1])\nstep = lambda: program(X, means)",
    "onnx": """import os, onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
step = lambda: session.run(None, {"X": X, "means": means})[0]""",
    "torch": "import torch\nmodel = torch._inductor.aoti_load_package(sys.argv[1])\nA, B = torch.from_numpy(X), torch.from_numpy(means)\nstep = lambda: model(A, B).numpy()",
}
PYTHON = """import sys, time, statistics
import numpy as np
X = np.fromfile(sys.argv[2]).reshape(-1, 2)
means = X[:8].copy()
{call}
counts = np.bincount(np.asarray(step()), minlength=8)
print("first", flush=True)
times, end = [], time.perf_counter() + float(sys.argv[3])
while float(sys.argv[3]) and (len(times) < 3 or time.perf_counter() < end):
    start = time.perf_counter()
    step()
    times.append(time.perf_counter() - start)
print(statistics.median(times) if times else 0, *counts)
"""


def kmeans(X, means):
    return np.argmin(np.linalg.norm(X - means[:, None], axis=2), axis=0)


def output(command):
    p = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"start_up.py: {' '.join(map(str, command[:2]))}: {p.stderr[-2000:]}")
    return p.stdout


def built(folder, source, *options):
    """The compiled program of a source in start_up/."""
    program = folder / pathlib.Path(source).stem
    output(["c++" if source.endswith("pp") else "cc", "-O2", HERE / "start_up" / source, "-o", program, *options])
    return program


def libraries(program):
    """Bytes of the shared libraries that the program loads, without the system's."""
    found = {pathlib.Path(line.split("=>")[1].split("(")[0].strip()) for line in output(["ldd", program]).splitlines() if "=> /" in line}
    return sum(p.stat().st_size for p in found if not p.is_relative_to("/lib") and not p.is_relative_to("/usr") and not p.is_relative_to("/lib64"))


def started(command, environment):
    """(seconds to the first line, what comes after it)."""
    begun = time.perf_counter()
    with subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as p:
        line = p.stdout.readline()
        seconds = time.perf_counter() - begun
        rest, errors = p.communicate()
    if p.returncode or line != "first\n":
        sys.exit(f"start_up.py: {command[0]}: {errors[-2000:]}")
    return seconds, rest.split()


def prepared(folder, o):
    """[(name, command without points, model, runtime libraries' bytes)]."""
    model = folder / "kmeans.plait"
    plait.export(kmeans, (np.zeros((1000, 2)), np.zeros((MEANS, 2))), model, dynamic=[0])
    library = o.library.resolve()
    own = built(folder, "plait.c", f"-I{HERE.parent / 'include'}", f"-L{library}", "-lplait_run", f"-Wl,-rpath,{library}")
    rows = [("libplait_run, C", [own, model], model, libraries(own)), ("plait.load, Python", [sys.executable, "-c", PYTHON.format(call=CALLS["plait"]), model], model, None)]
    if o.onnx_python:
        model = folder / "kmeans.onnx"
        name = output([o.onnx_python, "-c", EXPORT["onnx"], model]).strip()
        if o.onnx_include:
            capi = pathlib.Path(output([o.onnx_python, "-c", "import onnxruntime.capi as c; print(c.__path__[0])"]).strip())
            library = next(capi.glob("libonnxruntime.so.*"))
            link = folder / "libonnxruntime.so.1"  # the name that programs ask for
            link.symlink_to(library)
            program = built(folder, "onnx.c", f"-I{o.onnx_include}", link, f"-Wl,-rpath,{folder}")
            rows.append((f"{name}, C", [program, model], model, libraries(program)))
        rows.append((f"{name}, Python", [o.onnx_python, "-c", PYTHON.format(call=CALLS["onnx"]), model], model, None))
    if o.torch_python:
        model = folder / "kmeans.pt2"
        name = output([o.torch_python, "-c", EXPORT["torch"], model]).strip().splitlines()[-1]
        torch = pathlib.Path(output([o.torch_python, "-c", "import torch; print(torch.__path__[0])"]).strip())
        # The model asks for libtorch.so. A build for CUDA has one that loads all of CUDA: this one, as a build for CPUs, leads to libtorch_cpu alone.
        stub = folder / "libtorch.so"
        output(["c++", "-shared", "-x", "c++", "/dev/null", "-o", stub, "-Wl,-soname,libtorch.so", "-Wl,--no-as-needed", f"-L{torch}/lib", "-ltorch_cpu", f"-Wl,-rpath,{torch}/lib"])
        program = built(folder, "torch.cpp", "-std=c++20", f"-I{torch}/include", f"-I{torch}/include/torch/csrc/api/include", "-Wl,--no-as-needed", stub, f"-L{torch}/lib", "-ltorch_cpu", "-lc10",
                        f"-Wl,-rpath,{folder}:{torch}/lib")
        rows.append((f"AOTInductor of {name}, C++", [program, model], model, libraries(program)))
        rows.append((f"AOTInductor of {name}, Python", [o.torch_python, "-c", PYTHON.format(call=CALLS["torch"]), model], model, None))
    return rows


def size(n):
    return "" if n is None else f"{n} B" if n < 10_000 else f"{n / 1024:.0f} KiB" if n < 1 << 20 else f"{n / (1 << 20):.1f} MiB"


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--library", type=pathlib.Path, required=True, help="the folder of libplait_run.so")
    a.add_argument("--onnx-python")
    a.add_argument("--onnx-include")
    a.add_argument("--torch-python")
    a.add_argument("--points", type=int, default=2_000_000)
    a.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    a.add_argument("--starts", type=int, default=15)
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--seconds", type=float, default=1.0)
    o = a.parse_args()
    environment = {**os.environ, **{name: str(o.threads) for name in ("OMP_NUM_THREADS", "PLAIT_NUM_THREADS", "OPENBLAS_NUM_THREADS")}}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        few, many = folder / "few.bin", folder / "many.bin"
        points = np.random.default_rng(0).normal(size=(o.points, 2))
        points[:1000].tofile(few)
        points.tofile(many)
        rows = prepared(folder, o)
        empty = built(folder, "empty.c")
        begun = os.getloadavg()[0]
        starts, calls, counts = {}, {}, {}
        for _ in range(o.starts):
            starts.setdefault("", []).append(started([empty], environment)[0])
            for row, command, _, _ in rows:
                starts.setdefault(row, []).append(started([*command, few, 0], environment)[0])
        for _ in range(o.rounds):
            for row, command, _, _ in rows:
                median, *counts[row] = started([*command, many, o.seconds], environment)[1]
                calls.setdefault(row, []).append(float(median))
        expected = np.bincount(kmeans(points, points[:MEANS]), minlength=MEANS)
        for row, found in counts.items():
            if np.abs(np.array(found, int) - expected).max() > 2:  # near ties may be rounded differently
                sys.exit(f"start_up.py: {row}: {found} instead of {expected}")
        about = machine()
        print(f"{datetime.date.today()}, {about['cpu']}, {about['cores']} cores, {o.threads} threads, a load average of {begun:.1f} when it began; "
              f"Python {about['python']}, NumPy {about['versions']['numpy']}. An empty program: {ms(statistics.median(starts['']))} ms.\n")
        print(f"| | file | libraries | start to first result, ms | a call, {o.points:,} points, ms |\n| --- | ---: | ---: | ---: | ---: |")
        for row, _, model, runtime in rows:
            print(f"| {row} | {size(model.stat().st_size)} | {size(runtime)} | {ms(statistics.median(starts[row]))} | {ms(statistics.median(calls[row]))} |")


if __name__ == "__main__":
    main()
