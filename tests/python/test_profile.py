"""plait.profile, and python -m plait --profile: which line computed, asked for values, and went to NumPy. No time is asserted."""

import json
import os
import pathlib
import re
import sys
import threading

import plait as np
import pytest

N = 300_000


def row(p, text):
    (found,) = [r for r in p.rows if text in r.text]
    assert found.file.endswith("test_profile.py") and found.line > 0
    return found


def advice(p):
    return " ".join(a for r in p.rows for a in r.advice)


def test_lines_have_what_was_computed_for_them():
    x = np.arange(float(N))
    with np.profile(quiet=True) as p:
        y = np.sqrt(x * 3 + 1)
        total = y.sum()
        positive = bool(total > 0)
    assert positive
    computed = row(p, "total = y.sum()")
    assert computed.computing > 0 and computed.bytes >= 8 * N
    (asked,) = [r for r in p.rows if r.evaluations]
    assert asked.evaluations == 1 and asked.elements == 1 and asked.planning > 0
    assert sum(r.seconds for r in p.rows) <= p.seconds
    assert p.rows == sorted(p.rows, key=lambda r: -r.seconds)


def test_values_that_python_takes_one_by_one():
    def pending():
        return np.arange(float(N)) * 2

    x, y, z = pending(), pending(), pending()
    with np.profile(quiet=True) as p:
        made = list(x)
        of_builtin = float(len(set(list(y)))) + sum(y + 1)
        for v in z:
            if v > 10:
                break
    assert len(made) == N and of_builtin > 0
    assert row(p, "made = list(x)").elements == N
    assert all(f"`list({name})` makes objects of Python's of 300,000 elements" in advice(p) for name in "xy")
    assert "np.sum is a loop of machine code" in advice(p) and "the loop over `z` takes 300,000 elements" in advice(p)


def test_values_that_a_loop_asks_for():
    x = np.arange(float(N))
    with np.profile(quiet=True) as p:
        for i in range(20):
            if (x + i).sum() > 1e15 or i < 0:
                break
            float((x * i).max())
    asked = row(p, "if (x + i)")
    assert asked.evaluations == 20 and asked.elements == 20
    assert "`if (x + i).sum() > 1000000000000000.0 or i < 0` needs its value 20 times" in advice(p)
    assert "`float((x * i).max())` needs a value 20 times" in advice(p)


def test_fallbacks_are_counted_by_function():
    x = np.arange(12.0)
    with np.profile(quiet=True) as p:
        for _ in range(3):
            np.linalg.eigvals((x * 2).reshape(3, 4)[:, :3])
    r = row(p, "np.linalg.eigvals")
    (name,) = r.calls
    assert name == "linalg.eigvals" and r.calls[name][0] == 3 and r.numpy > 0
    assert "linalg.eigvals is NumPy's, 3 times" in advice(p)


def test_what_lies_inside_is_counted_once():
    x = np.arange(float(N))
    with np.profile(quiet=True) as p:
        for _ in range(5000):
            np.apply_along_axis(lambda row: row, 0, x[:2])
        np.evaluate(np.sin(x) + 1)
    assert sum(r.seconds for r in p.rows) <= p.seconds


def test_the_table(capsys):
    x = np.arange(float(N))
    with np.profile() as p:
        for f in (np.sin, np.cos):
            np.evaluate(f(x) + 1)
    out, err = capsys.readouterr()
    assert out == "" and err == p.text + "\n"
    first, headings, *lines = p.text.splitlines()
    assert re.match(r"plait\.profile: [\d,.]+ ms; computing [\d,.]+, planning and compiling [\d,.]+, NumPy [\d,.]+, Python and all else", first)
    assert headings.split() == ["ms", "computing", "planning", "MB", "moved", "MB", "made", "values", "elements", "line"]
    assert len(lines) == 1 and lines[0].endswith("np.evaluate(f(x) + 1)") and len({line.find("line") for line in (headings,)}) == 1
    place = f"{p.rows[0].file}:{p.rows[0].line}"
    assert lines[0][headings.index("line") :].startswith(place if len(place) <= 40 else "...")


def test_the_table_has_twenty_lines_at_most(tmp_path):
    source = "import plait as np\nx = np.arange(1000.0)\nwith np.profile(quiet=True) as p:\n" + "    np.evaluate(x + 1)\n    np.linalg.eigvals(x[:9].reshape(3, 3))\n" * 40
    (tmp_path / "long.py").write_text(source)
    scope = {}
    exec(compile(source, str(tmp_path / "long.py"), "exec"), scope)
    p = scope["p"]
    assert len(p.rows) == 80 and len(p.text.splitlines()) == 21
    assert re.search(r"^and \d+ more, ", p.text, re.M) and "and 34 more that would help" in p.text


def test_nothing_is_recorded_outside():
    x = np.arange(float(N))
    with np.profile(quiet=True) as p:
        pass
    np.evaluate(x + 1)
    assert p.rows == []
    with p:
        pass
    assert p.rows == [] and "0.0, NumPy 0.0" in p.text
    with pytest.raises(RuntimeError, match="complete"):
        p.__exit__(None, None, None)
    with p, pytest.raises(RuntimeError, match="open"):
        p.__enter__()


def test_profiles_and_traces_stand_inside_each_other(tmp_path):
    x = np.arange(float(N))
    with np.profile(quiet=True) as outer:
        np.evaluate(np.sin(x))
        with np.profile(quiet=True) as inner, np.trace(tmp_path / "t.json"):
            np.evaluate(np.cos(x))
        np.evaluate(np.tan(x))
    assert [r.text for r in inner.rows] == ["np.evaluate(np.cos(x))"]
    assert {r.text for r in outer.rows} == {f"np.evaluate(np.{f}(x))" for f in ("sin", "cos", "tan")}
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    (region,) = [e for e in events if e.get("cat") == "region"]
    (evaluation,) = [e for e in events if e.get("cat") == "evaluation"]
    assert region["args"]["bytes"] >= 8 * N and evaluation["args"]["elements"] == N


def test_an_exception_ends_it():
    with pytest.raises(ZeroDivisionError), np.profile(quiet=True) as p:
        np.evaluate(np.sin(np.arange(float(N))))
        1 / 0
    assert p.rows and p.text


def test_all_threads_are_in_it():
    def work():
        np.evaluate(np.cos(np.arange(float(N)) * 2))

    with np.profile(quiet=True) as p:
        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert row(p, "np.evaluate(np.cos(").evaluations == 3


def test_values_are_the_same():
    x = np.asarray([[float(i * j % 17) for i in range(300)] for j in range(400)])

    def program():
        return (np.exp(x - x.max(1, keepdims=True)) @ x.T).sum(0)

    expected = program().to_numpy()
    with np.profile(quiet=True):
        found = program().to_numpy()
    assert (found == expected).all()


def test_a_forked_childs_is_empty(run_python):
    source = """
import os, plait as np
x = np.arange(300000.0)
p = np.profile(quiet=True)
with p:
    np.evaluate(np.sin(x))
    pid = os.fork()
    if not pid:
        np.evaluate(np.cos(x))
if not pid:
    with np.profile(quiet=True) as own:
        np.evaluate(np.tan(x))
    assert p.rows == [] and len(own.rows) == 1
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
print([r.text for r in p.rows])
"""
    done = run_python(source)
    assert done.stdout == "['']\n" or "sin" in done.stdout, done.stderr


PROGRAM = """import sys
import numpy as np
x = np.arange(300000.0)
print(float(np.sqrt(x + 1).sum()) > 0, sys.argv[1:])
"""


@pytest.mark.parametrize("end, status", [("", 0), ("sys.exit(3)", 3), ("1 / 0", 1)])
def test_a_whole_program(run_python, tmp_path, end, status):
    (tmp_path / "program.py").write_text(PROGRAM + end + "\n")
    done = run_python(None, "-m", "plait", "--profile", "program.py", "-x", cwd=tmp_path)
    assert done.returncode == status and done.stdout == "True ['-x']\n"
    assert "plait.profile: " in done.stderr and "program.py:4" in done.stderr and ("ZeroDivisionError" in done.stderr) == (status == 1)


def test_a_text_and_no_program(run_python):
    done = run_python(None, "-m", "plait", "--profile", "-c", "import numpy as np; print(np.arange(9.0).sum())")
    assert done.stdout == "36.0\n" and "<string>:1" in done.stderr
    for wrong in ((), ("--version",)):
        done = run_python(None, "-m", "plait", "--profile", *wrong)
        assert done.returncode == 2 and "usage: " in done.stderr and done.stdout == ""


def events_of(path):
    return json.loads(path.read_text())["traceEvents"]


@pytest.mark.parametrize("how", ["subprocess.run([sys.executable, '-c', child])", "subprocess.run([sys.executable, '-c', child], env=dict(os.environ))"])
def test_programs_that_a_traced_one_starts_have_files_of_their_own(run_python, tmp_path, how):
    source = f"import os, subprocess, sys\nimport plait as np\nchild = 'import plait as np; np.evaluate(np.cos(np.arange(300000.0)))'\nnp.evaluate(np.sin(np.arange(300000.0)))\n{how}\n"
    done = run_python(source, env={"PLAIT_TRACE": "t.json"}, cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    files = {p.name: " ".join(e["name"] for e in events_of(p)) for p in tmp_path.glob("*.json")}
    assert len(files) == 2 and "sin" in files["t.json"] and "cos" not in files["t.json"]
    (of_child,) = [n for n in files if n != "t.json"]
    assert re.fullmatch(r"t\.\d+\.json", of_child) and "cos" in files[of_child] and "sin" not in files[of_child]


def test_threads_of_python_have_their_names_in_a_trace(tmp_path):
    with np.trace(tmp_path / "t.json"):
        for name in ("reader ü", "worker"):
            t = threading.Thread(target=lambda: np.evaluate(np.cos(np.arange(float(N)))), name=name)
            t.start()
            t.join()
        np.evaluate(np.sin(np.arange(float(N))))
    names = {e["args"]["name"] for e in events_of(tmp_path / "t.json") if e["name"] == "thread_name"}
    assert {"main", "reader ü", "worker"} <= names


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")
@pytest.mark.parametrize("file, why", [("/dev/full", "No space left on device"), ("/no/such/folder/t.json", "No such file or directory")])
def test_a_trace_that_cannot_be_written_is_one_line(run_python, file, why):
    done = run_python("import plait as np\nfor i in range(3):\n    np.evaluate(np.arange(300000.0) + i)\nprint('ran')", env={"PLAIT_TRACE": file})
    assert done.returncode == 0 and done.stdout == "ran\n"
    assert len(done.stderr.splitlines()) == 1 and why in done.stderr


def test_progress_is_for_terminals(run_python, tmp_path):
    source = """
import sys
from plait import _progress
_progress._PATIENCE = 0
with _progress.Progress("exporting f") as p:
    p.step("variant 1 of 2")
    p.step("2 of 2")
"""
    done = run_python(source)
    assert (done.stdout, done.stderr) == ("", "")
    pty = pytest.importorskip("pty")
    import subprocess

    master, slave = pty.openpty()
    subprocess.run([sys.executable, "-c", source], stderr=slave, check=True, env={**os.environ, "PYTHONPATH": str(pathlib.Path(np.__file__).parents[1])})
    os.close(slave)
    said = os.read(master, 10_000).decode()
    os.close(master)
    assert said == "\rexporting f: variant 1 of 2\rexporting f: 2 of 2        \r                   \r"


def test_lines_have_the_memory_that_was_made_for_them():
    x = np.evaluate(np.arange(float(N)))
    with np.profile(quiet=True) as p:
        y = np.evaluate(x * 3 + 1)
        total = float((y * 2).sum())
    assert total > 0 and row(p, "y = np.evaluate").memory >= 8 * N > row(p, "total = float").memory
