"""The samples run and do what they say, on small inputs."""
import pathlib
import subprocess
import sys

import pytest
from support import needs_device

SAMPLES = pathlib.Path(__file__).parents[2] / "samples"


def run(name, *args, cwd=None):
    p = subprocess.run([sys.executable, str(SAMPLES / name), *map(str, args)], capture_output=True, text=True, timeout=300, cwd=cwd)
    assert p.returncode == 0, p.stderr
    return p.stdout


def test_softmax():
    out = run("softmax.py", 64)
    assert out.startswith("1 region ")
    low, high = (float(x) for x in out.splitlines()[-1].removeprefix("rows sum to ").split(" ... "))
    assert 1 - 1e-5 < low <= high < 1 + 1e-5


def test_heat_equation_is_numpys():
    lines = run("heat_equation.py", 400, 30).splitlines()
    assert any("the same bits as NumPy" in line for line in lines)
    assert any("ms for 30 steps of 400 x 400" in line for line in lines)


def test_nbody_keeps_its_energy():
    words = run("nbody.py", 60, 5).split()
    before, after = float(words[-3].rstrip(",")), float(words[-1])
    assert after == pytest.approx(before, rel=0.02)


def test_kmeans_photo(tmp_path):
    pytest.importorskip("sklearn")
    Image = pytest.importorskip("PIL.Image")
    out = run("kmeans_photo.py", "--shrink", 8, "--colours", 16, "--rounds", 3, "--points", 50_000, "--out", "photo.png", cwd=tmp_path)
    assert "0 pixels differ" in out and "1 region" in out and "same labels" in out and "LABELS DIFFER" not in out
    assert "\r" not in out  # lines end where no terminal is
    picture = Image.open(tmp_path / "photo.png")
    assert picture.size == (3 * 80, 54 + 24)


@needs_device
def test_kmeans_photo_on_a_device(tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("PIL.Image")
    out = run("kmeans_photo.py", "--device", "cuda", "--shrink", 16, "--colours", 4, "--rounds", 2, "--points", 2000, cwd=tmp_path)
    assert "0 pixels differ" in out and "1 region" in out and "blocks of" in out
    assert out.count("same labels") == 2 and "LABELS DIFFER" not in out and "cuda:0" in out


def test_kmeans_photo_without_a_device():
    pytest.importorskip("sklearn")
    p = subprocess.run([sys.executable, str(SAMPLES / "kmeans_photo.py"), "--device", "cuda:7"], capture_output=True, text=True, timeout=300)
    assert p.returncode == 1 and p.stderr.startswith("no device cuda:7: ") and "Traceback" not in p.stderr


def test_convnet_has_numpys_scores():
    lines = run("convnet.py", 2, 16).splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["numpy", "plait"]
    words = lines[-1].split()
    assert float(words[2]) <= 1e-4 * max(1, float(words[4]))


def test_attention():
    out = run("attention.py", 256)
    assert out.startswith("1 region ")
    assert float(out.splitlines()[-1].split()[-1]) < 1e-5


def test_edit_distance_goes_over_to_machine_code():
    assert run("edit_distance.py", 150).startswith("150 x 150 letters: ")


def test_decoder_has_numpys_logits():
    pytest.importorskip("ml_dtypes")
    lines = run("decoder.py", "--small").splitlines()
    assert [line.split(":")[0] for line in lines if "million weights" in line] == ["GPT-2 small", "llama"]
    rows = [line.split() for line in lines if line.startswith("Plait ")]
    assert [row[1] for row in rows] == ["float32", "bfloat16", "int8", "int4"] * 2
    for _, precision, _, _, _, from_numpy, from_float32, same in rows:
        assert float(from_numpy) < 1e-4 and float(from_float32) < {"float32": 1e-4, "bfloat16": 0.1, "int8": 1, "int4": 10}[precision]
        assert precision != "float32" or same == "12"
