"""scripts/gpu_check.sh and benchmarks/device.py, as far as they go without a GPU."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import pytest
from support import needs_device

ROOT = pathlib.Path(__file__).parents[2]


def check(*steps, **environment):
    command = ["bash", str(ROOT / "scripts" / "gpu_check.sh"), *steps]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHON": sys.executable, **environment})


def test_without_a_gpu_it_says_so():
    p = check("tests", "bench", PLAIT_CUDA_LIBRARY="/nowhere/libcuda.so")
    assert p.returncode == 3 and "no GPU to check on" in p.stderr and "/nowhere/libcuda.so" in p.stderr
    p = check("tests", "benches")
    assert p.returncode == 2 and "no step 'benches'" in p.stderr


PROGRAMS = ["cuda_placement", "cuda_products", "cuda_own_products", "cuda_facade"]


@pytest.mark.parametrize(
    "nvrtc, catch, counted",
    [("", "/there", "15 passed, 0"), ("/some/libnvrtc.so.13", "/there", "15 passed, 0"), ("", "Catch2_DIR-NOTFOUND", "3 passed, 1")],
)
def test_on_the_double_it_takes_the_nvrtc_that_is_named(tmp_path, nvrtc, catch, counted):
    programs = PROGRAMS if catch == "/there" else []
    (tmp_path / "CMakeCache.txt").write_text(f"Catch2_DIR:PATH={catch}\n")
    told = 'echo "$PLAIT_FAKE_ARCHITECTURE $PLAIT_NVRTC_LIBRARY"; echo "All tests passed (9 assertions in 3 test cases)"'
    for program in [*(f"tests/{p}" for p in programs), "samples/kmeans_cuda", "benchmarks/device_cost"]:
        path = tmp_path / program
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{told}\n")
        path.chmod(0o755)
    p = check("tests", PLAIT_GPU_DOUBLE="1", PLAIT_BUILD=str(tmp_path), PLAIT_NVRTC_LIBRARY=nvrtc)
    assert p.returncode == 0 and p.stdout.endswith(f"\n{counted.replace(',', ', 0 failed,')} skipped\n"), p.stdout + p.stderr
    wanted = f"99 {nvrtc}" if nvrtc else f" {tmp_path}/tests/libfake_nvrtc.so"
    for name in [*programs, "kmeans_cuda"]:
        assert (tmp_path / "reports" / f"{name}.log").read_text().startswith(wanted + "\n")


@needs_device
def test_benchmarks(tmp_path):
    out = tmp_path / "device.json"
    command = [sys.executable, str(ROOT / "benchmarks" / "device.py"), "--only", "chain|f32, K = 2", "--impl", "plait,cupy", "--scale", "0.0001"]
    p = subprocess.run([*command, "--seconds", "0.02", "--out", str(out)], capture_output=True, text=True, timeout=300)
    assert p.returncode == 0, p.stdout + p.stderr
    results = json.loads(out.read_text())
    assert len(results["rows"]) == 2 and results["bandwidth"] > 0 and results["numpy_step"] > 0
    for row in results["rows"].values():
        assert row["plait"]["wrong"] is None and row["plait"]["steady"] > 0 and row["plait"]["regions"] == "1"
    assert "| elementwise chain, 1e8 f32 |" in p.stdout and "| first kernel, cold |" in p.stdout and "of the limit" in p.stdout


ROWS = """
import re, sys, numpy, plait
sys.path.insert(0, sys.argv[1])
import device
try:
    plait.explain(plait.ones(10) + 1, target="cuda:sm_90")
except plait.DeviceError:
    raise SystemExit("missing")
for row in device.ROWS:
    args = [numpy.empty(s, row.dtype) for s in row.shapes]  # nobody touches their memory
    text = plait.explain(plait.jit(device.function(row.source, numpy)), *args, target="cuda:sm_90")
    assert text.startswith("1 region ") or row.torch, text
    assert {*re.findall(r"(\\d+) bytes spilled", text)} == {"0"}, text
"""


def test_every_row_is_one_kernel_without_spills():
    """But for those with products, which a library multiplies where that is faster."""
    command = [sys.executable, "-c", ROWS, str(ROOT / "benchmarks")]
    p = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if p.stderr.strip() == "missing":
        pytest.skip("NVRTC is missing")
    assert p.returncode == 0, p.stderr


def test_a_program_that_does_not_end_leaves_the_table(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import device

    program = tmp_path / "device_cost"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    run = device.run
    monkeypatch.setattr(device, "run", lambda command, _, **e: run(command, 0.2) if command[0] == str(program) else ([], "not asked"))
    assert device.overheads(argparse.Namespace(device_cost=str(program), scale=1))["warm evaluation, host time, C++"] == "no answer in 0 s"


def test_a_wrong_result_fails(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import device

    right = {"steady": 1e-3, "wrong": None, "bytes": 1e6, "regions": "1"}
    results = {"bandwidth": 1e9, "overheads": {}, "numpy_step": 0.3, "rows": {r.name: {"plait": dict(right)} for r in device.ROWS}}
    text, sound = device.table(results)
    assert sound and "| 100% of the limit | 90% | reached |" in text and "300 times as fast; 200 wanted | reached |" in text
    # Without a peer the share of the limit is what there is to say.
    assert text.count("| 100% of the limit without a peer | ahead of every peer |  |") == sum(r.reach == "ahead" for r in device.ROWS)
    results["rows"][device.STEP.name]["plait"]["wrong"] = "7 labels differ"
    text, sound = device.table(results)
    assert not sound and "WRONG: 7 labels differ" in text
    results["rows"][device.STEP.name]["plait"] = {"failed": "DeviceError: lost"}
    text, sound = device.table(results)
    assert not sound and "failed: DeviceError: lost" in text


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


def test_the_page_is_written_from_the_newest_file(benchmarks, monkeypatch, tmp_path):
    import device
    import device_page

    right = {"steady": 1e-3, "wrong": None, "bytes": 1e6, "regions": "1"}
    rows = {r.name: {"plait": dict(right)} for r in device.ROWS}
    figures = {"versions": {"device": "H100", "numpy": "2.4"}, "bandwidth": 1e9, "overheads": {}, "numpy_step": 0.3, "rows": rows}
    parts = tmp_path / "parts"
    parts.mkdir()
    with pytest.raises(device_page.Refused, match="nothing was measured"):
        device_page.joined(parts)
    (parts / "device.json").write_text(json.dumps(figures))
    (parts / "ceilings.json").write_text('{"copy": 3e12, "launch": 2e-6}')
    monkeypatch.delenv("PLAIT_GPU_DOUBLE", raising=False)
    results = device_page.joined(parts)
    for day in ("2026-01-01", "2026-02-01"):
        results["machine"]["date"] = day
        (tmp_path / f"gpu_{day}.json").write_text(json.dumps(results))
    page = "before\n<!-- measured: by hand -->\nold\n<!-- end of measured -->\nafter\n"
    path = device_page.newest(tmp_path)
    text = device_page.written(page, path.name, json.loads(path.read_text()))
    assert text.startswith("before\n<!-- measured: gpu_2026-02-01.json -->\nH100, 2026-02-01; numpy 2.4.") and text.endswith("-->\nafter\n")
    assert "| elementwise chain, 1e8 f32 | 1,000 |" in text and "read and written: 3,000 GB/s; a launch each 2.0 us" in text and "old" not in text
    assert device_page.written(text, path.name, results) == text
    with pytest.raises(device_page.Refused, match="no place"):
        device_page.written("nothing", path.name, results)
    results["machine"]["double"] = True
    with pytest.raises(device_page.Refused, match="double"):
        device_page.written(page, path.name, results)
    device_page.written((ROOT / "docs" / "cuda.md").read_text(), path.name, json.loads(path.read_text()))


@needs_device
def test_ceilings(tmp_path):
    out = tmp_path / "ceilings.json"
    command = [sys.executable, str(ROOT / "benchmarks" / "ceilings.py"), "--scale", "0.00001", "--out", str(out)]
    p = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert p.returncode == 0, p.stdout + p.stderr
    figures = json.loads(out.read_text())
    assert list(figures) == ["copy", "ffma", "mma", "launch", "answer"] and min(figures.values()) > 0


def test_scaling_takes_each_number_of_threads(benchmarks, monkeypatch, capsys):
    import plait
    import scaling
    import workloads

    assert {w.name for w in workloads.ALL} >= set(scaling.ROWS)
    small = workloads.Workload("small", "def f(x):\n    return np.sqrt(x) + 1\n", lambda rng: (rng.random(1000),))
    monkeypatch.setattr(workloads, "ALL", [small])
    before = plait.get_num_threads()
    try:
        for impl in ("numpy", "plait"):
            scaling.child(impl, ["small"], [1, 2], 0)
    finally:
        plait.set_num_threads(before)
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(r["impl"], r["threads"], r["wrong"]) for r in rows] == [("numpy", 2, None), ("plait", 1, None), ("plait", 2, None)]
    text = scaling.table({"threads": [1, 2], "rows": rows})
    assert text.splitlines()[0] == "| ms | NumPy | plait, 1 | plait, 2 | torch, 1 | torch, 2 |" and text.count("|  |  |") == 1
