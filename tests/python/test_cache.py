"""The disk cache of machine code, from the outside: what a second process finds, and what it does not take."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

PROGRAM = """
import plait as np
x = np.arange(200_000.0)
print(float(((x * 2 + 1) * x).sum()), float(np.sqrt(x).max()), int((x % 7).argmax()))
print("disk_hits", np.stats()["disk_hits"], file=__import__("sys").stderr)
"""


@pytest.fixture(scope="module", autouse=True)
def module(tmp_path_factory):
    """The shared object with LLVM inside, wherever the package found it."""
    source = PROGRAM + "print(open('/proc/self/maps').read())"
    env = {**os.environ, "PLAIT_CACHE_DIR": str(tmp_path_factory.mktemp("cache")), "PLAIT_JIT": "blocking", "PLAIT_EAGER_LIMIT": "0"}
    maps = subprocess.run([sys.executable, "-c", source], env=env, capture_output=True, text=True, check=True).stdout
    found = re.search(r"\S+/libplait_jit\.so", maps)
    if not found:
        pytest.skip("no JIT in this build")
    return pathlib.Path(found[0])


def start(cache, **env):
    env = {**os.environ, "PLAIT_CACHE_DIR": str(cache), "PLAIT_JIT": "blocking", "PLAIT_LOG": "cache", "PLAIT_EAGER_LIMIT": "0", **env}
    return subprocess.Popen([sys.executable, "-c", PROGRAM], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    """What was printed, and how often each thing happened to the cache."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    found = {
        word: len(re.findall(rf"plait\[cache\] {word}", err)) for word in ("hit", "miss", "stored", "ignored", "evicted", "no disk cache")
    }
    assert int(re.search(r"disk_hits (\d+)", err)[1]) == found["hit"]
    return out, found


def run(cache, **env):
    return finish(start(cache, **env))


def test_a_second_process_compiles_nothing(tmp_path):
    first, did = run(tmp_path / "c")
    assert did["stored"] > 0 and did["hit"] == 0
    again, found = run(tmp_path / "c")
    assert again == first and found["hit"] == did["stored"] and found["miss"] == found["stored"] == 0


def test_another_build_of_the_emitter_meets_no_stale_code(tmp_path, module):
    """Same version, size and time of the file: only the linker's build id tells them apart."""
    first, did = run(tmp_path / "c")
    notes = subprocess.run(["readelf", "-n", module], capture_output=True, text=True).stdout
    build = bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", notes)[1])
    other = tmp_path / module.name
    other.write_bytes(module.read_bytes().replace(build, bytes([build[0] ^ 1]) + build[1:], 1))
    stat = module.stat()
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    again, found = run(tmp_path / "c", PLAIT_JIT_LIBRARY=str(other))
    assert again == first and found["hit"] == 0 and found["stored"] == did["stored"]
    # A copy of the same build is the same build, whatever its time.
    other.write_bytes(module.read_bytes())
    assert run(tmp_path / "c", PLAIT_JIT_LIBRARY=str(other))[1]["miss"] == 0


def test_writers_at_the_same_time(tmp_path):
    alone = run(tmp_path / "alone")[0]
    for _ in range(3):
        results = [finish(p) for p in [start(tmp_path / "c") for _ in range(3)]]
        assert {out for out, _ in results} == {alone}
        assert {p.suffix for p in (tmp_path / "c").iterdir()} == {".kernel"}
        out, found = run(tmp_path / "c")
        assert out == alone and found["miss"] == found["ignored"] == 0
        for entry in (tmp_path / "c").iterdir():
            entry.unlink()


def test_damaged_entries_are_made_anew(tmp_path):
    first, did = run(tmp_path / "c")
    for i, entry in enumerate(sorted((tmp_path / "c").iterdir())):
        code = entry.read_bytes()
        entry.write_bytes(code[: len(code) // 2] if i % 2 else code[:-40] + bytes(40))
    again, found = run(tmp_path / "c")
    assert again == first and found["ignored"] == found["stored"] == did["stored"]
    assert run(tmp_path / "c")[1]["hit"] == did["stored"]


def test_directories_that_cannot_be_used(tmp_path):
    expected = run(tmp_path / "c")[0]
    (tmp_path / "file").write_text("")
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    for place in (tmp_path / "file", tmp_path / "file" / "below", shared, "/proc/plait"):
        out, did = run(place)
        assert out == expected and did["stored"] == did["hit"] == 0, place
    assert not list(shared.iterdir())


def test_size_is_bounded(tmp_path):
    _, did = run(tmp_path / "c", PLAIT_CACHE_LIMIT="4000")
    assert did["evicted"] > 0
    assert sum(p.stat().st_size for p in (tmp_path / "c").iterdir()) <= 4000
