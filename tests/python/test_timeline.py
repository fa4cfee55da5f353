"""plait.trace and PLAIT_TRACE: files of Chrome's trace event format."""

import json
import os
import pathlib
import threading

import numpy
import plait as np
import pytest

N = 300_000


def read(path):
    """The events of a file by their phase, each checked for what the format asks for."""
    trace = json.loads(pathlib.Path(path).read_text())
    found = {"X": [], "M": [], "C": []}
    for event in trace["traceEvents"]:
        assert isinstance(event["name"], str) and event["pid"] == os.getpid() and type(event["tid"]) is int
        if event["ph"] != "M":
            assert event["ts"] >= 0
        if event["ph"] == "X":
            assert event["dur"] >= 0
        found[event["ph"]].append(event)
    assert trace.get("otherData", {}).get("dropped events", 0) == 0
    return found


def of(events, category):
    return [e for e in events["X"] if e["cat"] == category]


def inside(event, outer):
    return event["tid"] == outer["tid"] and outer["ts"] <= event["ts"] and event["ts"] + event["dur"] <= outer["ts"] + outer["dur"] + 0.001


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trace.json"


def test_an_evaluation_holds_its_region_and_its_kernel(path):
    x = np.arange(float(N))
    with np.trace(path):
        total = np.sqrt(x * 3 + 1).sum(dtype="f8")
        assert total > 0
    events = read(path)
    (evaluation,), (region,) = of(events, "evaluation"), of(events, "region")
    assert region["name"].startswith("total: sum float64") and evaluation["name"] == "evaluate"
    assert "test_timeline.py:" in region["args"]["at"] and "total = np.sqrt(x * 3 + 1)" in region["args"]["at"]
    assert inside(region, evaluation)
    (kernel,) = of(events, "kernel")
    assert inside(kernel, region) and kernel["args"]["by"] in ("machine code", "the interpreter") and kernel["args"]["iterations"] > 0
    assert all(inside(plan, evaluation) for plan in of(events, "plan"))


def test_threads_have_names_and_the_pool_its_bytes(path):
    def work():
        np.evaluate(np.cos(np.arange(float(N)) * 2))

    with np.trace(path):
        work()
        other = threading.Thread(target=work)
        other.start()
        other.join()
    events = read(path)
    names = {e["tid"]: e["args"]["name"] for e in events["M"] if e["name"] == "thread_name"}
    assert {e["tid"] for e in events["X"] + events["C"]} == set(names) and names[os.getpid()] == "main"
    assert len({e["tid"] for e in of(events, "evaluation")}) == 2
    assert len(events["C"]) >= 3 and any(e["args"]["live bytes"] >= 8 * N for e in events["C"])
    assert all(set(e["args"]) == {"live bytes", "kept for reuse"} and min(e["args"].values()) >= 0 for e in events["C"])


def test_the_compiler_has_a_thread(run_python, path):
    source = """
import json, plait as np
from plait import _plait
x = np.ones(1000000)
with np.trace("trace.json"):
    for i in range(200):
        np.evaluate(np.exp(np.sin(x * 3) + 1))
        if _plait.stats()["kernels_jitted"]:
            break
events = json.load(open("trace.json"))["traceEvents"]
thread = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
print({thread[e["tid"]] for e in events if e.get("cat") == "compile" and e["name"].startswith("compile ")})
"""
    done = run_python(source, env={"PLAIT_CACHE": "off", "PLAIT_JIT": "background"}, cwd=path.parent)
    if "no JIT" not in done.stderr:
        assert done.stdout == "{'plait: compiler'}\n", done.stderr


def test_fallbacks_and_operations_at_their_call(path):
    x = np.arange(12.0).reshape(3, 4)
    objects = np.asarray(["ü", "é\"\\\n"], dtype=object)
    with np.trace(path):
        np.interp(2.5, [1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
        np.linalg.eigvals(x[:3, :3])
        objects[[1, 0]]
        objects + objects[:1]
        x * 2
    events = read(path)
    names = [e["name"] for e in of(events, "fallback")]
    assert names[:2] == ["interp", "linalg.eigvals"] and "getitem: integer array in a list" in names and "add" in names
    assert all("test_timeline.py:" in e["args"]["at"] for e in of(events, "fallback"))
    assert any("multiply float64(3, 4)" in e["name"] for e in of(events, "operation"))


def test_names_are_escaped(path):
    été = np.arange(float(N))
    with np.trace(path):
        ça = été["\N{DIGIT ONE}" != '"\\':] + 1  # fmt: skip
        np.evaluate(ça)
    events = read(path)
    (made,) = [e for e in events["X"] if e["name"].startswith("ça: add")]
    assert "'\"\\\\'" in made["args"]["at"]


def test_nothing_is_recorded_when_off(path):
    with np.trace(path):
        pass
    np.evaluate(np.sin(np.arange(float(N))))
    assert not read(path)["X"]
    with np.trace(path):
        pass
    assert not read(path)["X"]  # what ran between the two


def test_the_inner_trace_has_its_own_file(path, tmp_path):
    x, inner = np.arange(float(N)), tmp_path / "inner.json"
    with np.trace(path):
        np.evaluate(np.sin(x))
        with np.trace(str(inner)):
            np.evaluate(np.cos(x))
        np.evaluate(np.tan(x))
    within, around = (" ".join(e["name"] for e in read(p)["X"] if e["cat"] != "compile") for p in (inner, path))  # which ends when it likes
    assert "cos" in within and "sin" not in within and "tan" not in within
    assert "sin" in around and "cos" in around and "tan" in around


def test_an_exception_leaves_a_complete_file(path):
    with pytest.raises(ZeroDivisionError), np.trace(path):
        np.evaluate(np.sin(np.arange(float(N))))
        1 / 0
    assert of(read(path), "evaluation")


def test_a_trace_can_be_made_again(path):
    trace = np.trace(path)
    assert read(path) == {"X": [], "M": [], "C": []}  # until it is complete
    for _ in range(2):
        with trace:
            np.evaluate(np.sin(np.arange(float(N))))
        assert len(of(read(path), "evaluation")) == 1
    with pytest.raises(RuntimeError, match="complete"):
        trace.__exit__(None, None, None)


def test_a_file_that_cannot_be_written_is_an_error_of_the_call(tmp_path):
    for bad, error in ((tmp_path / "no" / "x.json", FileNotFoundError), (tmp_path, IsADirectoryError)):
        with pytest.raises(error) as e:
            np.trace(bad)
        assert e.value.filename == bad
    with pytest.raises(ValueError, match="null"):
        np.trace("a\0b")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")
def test_a_full_disk_is_an_error_of_the_end():
    trace = np.trace("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        with trace:
            np.evaluate(np.sin(np.arange(float(N))))
    with np.trace(os.devnull):  # and the next is recorded
        pass


def test_trace_of_a_matrix_is_numpys():
    assert np.trace(np.eye(3)) == 3 and np.trace([[1, 2], [3, 4]]) == 5
    with pytest.raises(ValueError):
        np.trace(b"trace.json")


def test_a_forked_child_leaves_the_file_alone(run_python, tmp_path):
    source = """
import json, os, plait as np
x = np.arange(300000.0)
def child():
    pid = os.fork()
    if pid:
        assert os.waitpid(pid, 0)[1] == 0
    else:
        np.evaluate(np.cos(x))
    return pid
with np.trace("with.json"):
    np.evaluate(np.sin(x))
    pid = child()
if not pid:
    with np.trace("child.json"):
        np.evaluate(np.tan(x))
    raise SystemExit
np.evaluate(np.tan(x))
"""
    done = run_python(source, env={"PLAIT_TRACE": "all.json"}, cwd=tmp_path)
    assert done.returncode == 0 and not done.stderr, done.stderr
    names = {p.name: " ".join(e["name"] for e in json.loads(p.read_text())["traceEvents"]) for p in tmp_path.glob("*.json")}
    assert set(names) == {"with.json", "child.json", "all.json"}
    assert "sin" in names["with.json"] and "cos" not in names["with.json"] and "tan" not in names["with.json"]
    assert "tan" in names["child.json"] and "sin" not in names["child.json"] and "cos" not in names["child.json"]
    assert "sin" in names["all.json"] and "tan" in names["all.json"] and "cos" not in names["all.json"]


@pytest.mark.parametrize("end", ["", "1 / 0", "raise SystemExit(3)", "import threading; threading.Thread(target=lambda: np.evaluate(np.cos(x))).start()"])
def test_the_environment_asks_for_a_trace(run_python, tmp_path, end):
    done = run_python(f"import os, plait as np\nx = np.arange(300000.0)\nanswer = np.sin(x) + 1\nnp.evaluate(answer)\nprint(os.getpid())\n{end}", env={"PLAIT_TRACE": "t%p.json"}, cwd=tmp_path)
    events = json.loads((tmp_path / f"t{int(done.stdout)}.json").read_text())["traceEvents"]
    assert any("add float64" in e["name"] for e in events)
    assert ("cos" in " ".join(e["name"] for e in events)) == ("cos" in end)


def test_the_environment_names_a_file_that_cannot_be_written(run_python):
    done = run_python("import plait; print(plait.ones(3).sum())", env={"PLAIT_TRACE": "/no/such/folder/t.json"})
    assert done.stdout == "3.0\n"
    assert done.stderr == "plait: PLAIT_TRACE: '/no/such/folder/t.json' cannot be written: No such file or directory\n"


def test_values_are_the_same(path):
    x = numpy.random.default_rng(0).normal(size=(500, 400))
    def program(a):
        return (np.exp(a - a.max(1, keepdims=True)) @ a.T).sum(0)

    expected = program(np.asarray(x)).to_numpy()
    with np.trace(path):
        found = program(np.asarray(x)).to_numpy()
    assert (found == expected).all()
