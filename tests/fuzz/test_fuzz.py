"""A number of random programs, everyday ones and rarer ones, on every configuration: the same ones on every machine, however fast; run.py runs others.
The tests before it are about the fuzzer: it must agree with NumPy itself, find a planted difference, and shorten what it finds."""
import importlib.util
import os

import numpy
import pytest

import execute
from compare import compare
from minimise import minimise
from program import Statement, parse, show
from python_loops import PythonSession, by_python, compared, fuzz_python
from reference import reference
from run import Session, fuzz, program

PROGRAMS = int(os.environ.get("PLAIT_FUZZ_PROGRAMS", "600"))
SEED = int(os.environ.get("PLAIT_FUZZ_SEED", "1"))


@pytest.mark.parametrize("kind, programs", [("general", 40), ("fusion", 40), ("broad", 40), ("narrow", 40), ("loops", 8), ("replayed", 15), ("traced", 15)])
def test_numpy_agrees_with_itself(kind, programs):
    for seed in range(programs):
        statements = program(kind, seed)
        want, tols = reference(statements)
        with numpy.errstate(all="ignore"):
            got = execute.execute(numpy, [s.text for s in statements])
        assert compare(got, want, tols) is None, show(statements)


def test_programs_survive_printing():
    statements = program("general", 7)
    assert parse(show(statements)) == statements


@pytest.mark.parametrize("wrong, category", [
    ("v2 = v1[1:].copy()", "aliasing"),
    ("v2 = v1[:-1]", "value"),
    ("v2 = v1[1:][::-1][::-1].astype('f4')", "dtype"),
    ("v2 = v1[2:]", "shape"),
    ("v2 = np.asfortranarray(v1)[5:][0]", "error"),
])
def test_a_difference_is_found(wrong, category):
    right = [Statement("v1 = np.array([1.0, 2.0, 4.0])", "create", target="v1"), Statement("v2 = v1[1:]", "view", "view", "v2", ("v1",))]
    want, tols = reference(right)
    got = execute.execute(numpy, [right[0].text, wrong])
    assert compare(got, want, tols)[0] == category


def test_an_ulp_is_found_where_results_are_exact_only():
    make = "v1 = np.array([2.0, 3.0])"
    for op, exact in [("np.sqrt(v1)", True), ("np.exp(v1)", False)]:
        s = [Statement(make, "create", target="v1"), Statement(f"v2 = {op}", "elementwise", op[3:-4], "v2", ("v1",))]
        want, tols = reference(s)
        got = execute.execute(numpy, [make, f"v2 = np.nextafter({op}, 9)"])
        assert (compare(got, want, tols) is not None) == exact


def test_minimise_keeps_what_fails():
    statements = [Statement(f"v{i} = {i}", "create", target=f"v{i}") for i in range(20)]
    small = minimise(statements, lambda s: {"v3 = 3", "v11 = 11"} <= {x.text for x in s})
    assert [s.text for s in small] == ["v3 = 3", "v11 = 11"]


def fuzzed(kind, programs, **session_options):
    session, lines = Session("plait", **session_options), []
    try:
        ran = fuzz(session, programs, SEED, kind, max_failures=40, out=lambda *a, **k: lines.append(" ".join(map(str, a))))
    finally:
        session.close()
    print(f"{ran} {kind} programs, native {session.native} of {session.covered} covered calls, {100 * session.native / session.covered:.2f} %")
    assert ran == programs or session.failures
    assert not session.failures, "\n".join(lines)
    assert session.native >= 0.95 * session.covered, session.fallbacks.most_common(20)


@pytest.mark.skipif(importlib.util.find_spec("plait") is None, reason="plait is not installed")
@pytest.mark.parametrize("kind, share", [("both", 0.57), ("broad", 0.3), ("narrow", 0.3), ("loops", 0.03), ("replayed", 0.05), ("traced", 0.05)])
def test_plait_agrees_with_numpy(kind, share):
    fuzzed(kind, round(PROGRAMS * share))


@pytest.mark.parametrize("wrong, category", [("1, x", "value"), ("1.5, x", "value"), ("1.0, x[::-1]", "value"), ("1.0, np.add(x, 0, out=x)", None), ("1.0, np.add(x, 1, out=x) - 1", "memory"), ("1.0, x[9]", "error")])
def test_a_difference_of_python_loops_is_found(wrong, category):
    program = "def f(x): return {}\nb0 = np.arange(5.0)\nargs = (b0,)\nstart = 2\n"
    want, got = (by_python(program.format(result))[0] for result in ("1.0, x", wrong))
    found = compared(program.format(wrong), got, want, 0)
    assert (found and found[0]) == category


@pytest.mark.parametrize("by, share", [({}, 0.4), ({"PLAIT_JIT": "off"}, 0.1)], ids=["machine code", "interpreter"])
@pytest.mark.skipif(importlib.util.find_spec("plait") is None, reason="plait is not installed")
def test_python_loops_agree_with_python(by, share):
    session, lines, programs = PythonSession(env=by), [], round(PROGRAMS * share)
    try:
        fuzz_python(session, programs, SEED, out=lambda *a, **k: lines.append(" ".join(map(str, a))))
    finally:
        session.close()
    print(f"{programs} programs, {session.compiled} of {session.reached} loops in machine code or the interpreter")
    assert not session.failures, "\n".join(lines)
    assert session.compiled >= 0.65 * session.reached, session.why.most_common(20)


@pytest.mark.skipif("PLAIT_FAKE_ARCHITECTURE" not in os.environ, reason="NVRTC and the driver's double are not there")
def test_a_device_agrees_with_numpy():
    fuzzed("both", PROGRAMS // 10, configs=["cuda", "cuda-default"])
