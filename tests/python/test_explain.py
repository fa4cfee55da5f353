"""What plait.explain says: names and lines, what a function forces on its way, fallbacks, what is computed again."""

import re

import numpy
import numpy as np
import pytest

import plait


def here(text):
    """The number of the only line of this file that starts with a text."""
    with open(__file__) as f:
        (number,) = (i for i, line in enumerate(f, 1) if line.strip().startswith(text))
    return number


def place(text):
    return rf"at \S*test_explain.py:{here(text)}: " + re.escape(text)


def sections(text):
    """The text cut where something else begins: the totals, then each event."""
    return re.split(r"\n(?=forced|fallback|returned)", text)


def distances(points, w):
    d = np.sqrt(((points[:, None] - points) ** 2).sum(2))
    if d.max() > 100:
        d = d + 1
    d = d / 2
    middle = np.argpartition(d, 5, axis=None)[5]
    out = np.tanh(d) * middle + w
    return out.mean(axis=0)


def test_a_function_that_forces_values():
    points = numpy.random.default_rng(0).standard_normal((500, 3))
    totals, forced, fallback, for_it, returned = sections(plait.explain(distances, points, numpy.ones(500)))
    regions = [int(re.search(r"(\d+) region", s).group(1)) for s in (totals, forced, for_it, returned)]
    assert regions[0] == sum(regions[1:]) and "2 values forced; 1 fallback" in totals
    moved = re.search(r"([\d.]+) MiB moved", totals)
    assert float(moved.group(1)) > 500 * 500 * 8 * 2 / 2**20  # d is written, and read
    assert re.search("forced " + place("if d.max() > 100:"), forced) and "reads points" in forced
    assert re.search(
        "fallback "
        + place("middle = np.argpartition(d, 5, axis=None)[5]")
        + r"\n  argpartition: computed by NumPy in .* ms; 1.9 MiB of arrays in, 1.9 MiB out",
        fallback,
    )
    assert "(for the fallback argpartition)" in for_it and "d: divide float64(500, 500)" in for_it
    assert "measured" in for_it and "not run yet" not in for_it
    assert re.search(place("out = np.tanh(d) * middle + w"), returned) and "not run yet" in returned and "reads" in returned


def again(x, y):
    d = np.sqrt((x[:, None] - y) ** 2)
    nearest = d.min(axis=1)
    first = float(nearest[0])
    return (d * first).sum(axis=1)


def test_what_is_computed_again_is_said():
    x = numpy.linspace(0, 1, 1500)
    text = plait.explain(again, x, x[:1200].copy())
    assert re.search(r"computed before, and not kept:\n  d: sqrt float64\(1500, 1200\)\n", text), text
    assert "computed before" not in sections(text)[1]


def kinds(x):
    if (x > 3).any():
        raise AssertionError
    values = [float((x * 2).sum()), (x * 3).sum().item(), f"{(x * 4).sum()}", (x * 5)[7], (x * 6).tolist()[0]]
    return len(values) + len(np.argpartition(x, 5))


def test_reasons_in_order():
    text = plait.explain(kinds, numpy.full(3000, 0.25))
    found = re.findall(r"^(?:forced|fallback) at \S+:(\d+): .*?(?:  \((.*)\))?$", text, re.M)
    assert [int(line) for line, _ in found] == sorted(int(line) for line, _ in found)
    assert {"bool()", "float()", "item"} <= {why.rpartition(".")[2] for _, why in found}, text
    assert "argpartition: computed by NumPy" in text and "1 fallback" in text
    assert text.split()[1].startswith("region")


def test_names_of_pending_arrays():
    start = plait.asarray(numpy.ones(60_000))
    middle = plait.sin(start)
    result = middle * 2 + start
    text = plait.explain(result)
    assert re.search(r"region 1: .*result: add float64\(60000,\)", text), text
    for line in ("middle = plait.sin(start)", "result = middle * 2 + start"):
        assert re.search(place(line), text), text
    assert "reads start" in text
    plait.evaluate(result)
    text = plait.explain(result)
    assert re.match(r"already in memory: result: float64\(60000,\), made " + place("result = middle * 2 + start") + "\n", text), text
    assert "region" not in text
    # A line with the copies that devices took before may stand above it.
    assert plait.explain(numpy.ones(3)).endswith("already in memory: 1 value of NumPy's\n")


def test_an_operation_at_a_time_says_so():
    before = plait.config.fuse
    plait.config.fuse = False
    try:
        text = plait.explain(lambda x: float((np.exp(x) + 1).sum()), numpy.ones(5000))
    finally:
        plait.config.fuse = before
    assert "operations, one at a time (PLAIT_FUSE=0)" in text and "operation 1: " in text
    assert re.match("0 regions and 3 operations one at a time from ", text)


def test_small_work_that_is_not_planned_says_so(run_python):
    source = "import plait, numpy as np\nprint(plait.explain(lambda x: float((np.exp(x) + 1).sum()), np.ones(5000)))"
    text = run_python(source, env={"PLAIT_PLAN": "auto"}).stdout
    assert "3 operations, one at a time (planning would cost more)" in text, text


def test_what_is_computed_at_its_call_is_listed():
    def f(x):
        m = np.median(x)
        for _ in range(3):
            few = x[:3] * 2
        np.sort(x)
        return x - m, few

    text = plait.explain(f, plait.array(numpy.arange(5000.0)))
    for line, what in (
        ("m = np.median(x)", r"order_statistics float64\(2,\): computed in \S+ ms\n"),
        ("few = x[:3] * 2", r"multiply float64\(3,\): computed in \S+ ms, 3 times\n"),
        ("np.sort(x)", r"sort float64\(5000,\): computed in \S+ ms\n"),
    ):
        assert re.search(r"at its call at \S+test_explain.py:\d+: " + re.escape(line) + "\n  " + what, text), text
    assert re.search(r"; \d operations computed at the call\n", text), text
    assert not re.search("^at its call", plait.explain(lambda x: x + 1, plait.ones(5000)), re.M)


def test_the_log_has_what_was_not_planned(run_python):
    source = """
import plait as np
few, many = np.arange(10.0), np.ones(5000)
for _ in range(3):
    few * 2
    np.median(few)
    np.evaluate(many * 3 + 1)
"""
    done = run_python(source, env={"PLAIT_LOG": "fusion", "PLAIT_PLAN": "auto", "PLAIT_JIT": "off"}, timeout=60)
    said = done.stderr.split("plait[fusion] ")[1:]
    assert not done.returncode and len(said) == len(set(said)), done  # once each
    assert {"at its call at <string>:5: multiply float64(10,)\n", "at its call at <string>:6: order_statistics float64(2,)\n"} < set(said)
    assert any("one at a time (planning would cost more)" in text and "at <string>:7\n" in text for text in said), done


def test_how_pending_arrays_would_be_evaluated(run_python):
    source = """
import plait, numpy as np
x = plait.array(np.ones(60_000))
def pending():
    return plait.exp(x) + 1
text = plait.explain(pending())
assert "evaluated now, one operation at a time: planning would take longer\\n" in text, text
before = plait._plait.stats()
plait.evaluate(pending())  # explaining it has changed nothing
after = plait._plait.stats()
assert after["direct_nodes"] == before["direct_nodes"] + 2 and after["plans_made"] == before["plans_made"], (before, after)
text = plait.explain(plait.exp(plait.array(np.ones(3_000_000))) + 1)
assert "evaluated now" not in text and "region 1" in text, text
"""
    run_python(source, env={"PLAIT_PLAN": "auto"})


def test_nothing_is_left_behind():
    x = numpy.ones(50_000)
    plait.explain(lambda a: float(np.exp(a).sum()), x)
    with pytest.raises(ZeroDivisionError):
        plait.explain(lambda a: float(np.exp(a).sum()) / 0, x)
    assert plait._plait.watch_note("nobody") is None


@pytest.mark.parametrize("what", ["x", 3, None, [1, 2], {"a": "b"}])
def test_other_things_are_refused(what):
    with pytest.raises(TypeError, match="takes Plait arrays, tuples or lists of them, or a function and its arguments, not"):
        plait.explain(what)


def test_lines_are_of_what_computes():
    text = plait.explain(lambda a: np.exp(a) * 2, numpy.ones((300, 300)))
    assert len(re.findall("^  at ", text, re.M)) == 1 and "borrow" not in text


def test_a_jitted_function_and_a_method_are_explained():
    class Model:
        @plait.jit
        def predict(self, x):
            return np.exp(x) * 2

    assert "region 1: " in plait.explain(Model().predict, numpy.ones(50_000))
    assert "region 1: " in plait.explain(plait.jit(lambda x: np.exp(x) * 2), numpy.ones(50_000))


def considered(text):
    found = re.search(r"considered:\n((?:  .*\n)+)", text)
    return found.group(1) if found else ""


def twice(x):
    return plait.concatenate((x, x))


def thrice(x):
    return plait.concatenate((x, x, x))


def test_choices_by_cost_show_both_ways():
    x = plait.asarray(numpy.linspace(1, 2, 60_000))
    line = considered(plait.explain(twice(plait.exp(x) + 1)))
    assert re.search(r"add float64\(60000,\): several writes would compute it again: [\d.e-]+ ms, as it is [\d.e-]+ ms \(taken\)", line), (
        line
    )
    line = considered(plait.explain(twice(plait.sqrt(x) + 1)))
    instead, as_is = map(float, re.search(r"compute it again: ([\d.e-]+) ms, as it is ([\d.e-]+) ms\n", line).groups())
    assert instead > as_is
    # pytest keeps what an assertion computes on the way, which is stored then.
    line = considered(plait.explain(plait.exp(x) + 1))
    assert not line
    kept = plait.exp(x)
    line = considered(plait.explain(kept + 1))
    assert re.search(r"exp float64\(60000,\): held by a live name, .*: [\d.e-]+ ms, as it is [\d.e-]+ ms \(taken\)", line), line


def test_plans_that_were_compared_show_their_costs():
    x = plait.asarray(numpy.linspace(1, 2, 1_000_000))
    text = plait.explain(thrice(x / 3 / 7))
    lines = re.search(r"plans compared:\n((?:  .*\n)+)", text).group(1)
    assert re.search(r"  each choice by itself: [\d.e-]+ ms\n", lines), lines
    assert re.search(r"divide float64\(1000000,\): several writes would compute it again: no: [\d.e-]+ ms \(taken\)\n", lines), lines


@pytest.mark.parametrize("last", [lambda y: y.reshape(-1), lambda y: y.T.reshape(500, 2, 400)[::-1], lambda y: y.ravel()[5:]])
def test_a_view_at_the_end_is_no_region(last):
    x = plait.asarray(numpy.ones((400, 1000)))

    text = str(plait.explain(last(plait.sqrt(x) * 2 + x)))
    assert text.startswith("1 region "), text


def test_the_layout_of_what_is_stored_is_named():
    x = plait.asarray(numpy.random.default_rng(0).standard_normal((300, 400)))
    text = str(plait.explain(plait.sqrt(abs(x.T)) * 2))
    assert "axes 1 0, the widest first, as NumPy lays it out" in text, text
    assert "in C order, as NumPy lays it out" in str(plait.explain(abs(x) * 2))


def test_values_in_scratch_are_named_with_level_bytes_and_reason():
    def attend(q, k, v):
        s = q @ k.swapaxes(-1, -2) * 0.125
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ v

    rows = lambda x: np.exp(x - x.max(1, keepdims=True)) / np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True)  # noqa: E731
    text = plait.explain(rows, plait.array(numpy.ones((500, 300), "f4")))
    assert re.search(r"in cache at a row: .*exp float32\(500, 300\), 1\.2 KiB: several loops over the row read it", text), text
    q = plait.array(numpy.ones((1, 256, 64), "f4"))
    for target, space in ((None, "cache"), ("cuda:sm_90", "shared memory")):
        text = plait.explain(attend, q, q, q, target=target)
        found = re.findall(rf"in {space} at (a block of [a-z ]+): .*?, ([\d.]+) (Ki)?B: ", text)
        assert {level for level, _, _ in found} >= {"a block of rows", "a block of rows and keys", "a block of sums"}, text
        assert all(float(bytes) > 0 for _, bytes, _ in found), text


def test_a_file_that_changed_is_read_again(tmp_path):
    import linecache

    from plait._source import _index

    file = tmp_path / "program.py"
    seen = []
    for text in ("a + 1\n", "a + 1\n", "a + 234\n"):
        file.write_text(text)
        linecache.checkcache(str(file))
        seen.append(_index(str(file)))
    assert seen[0] and seen[0].keys() != seen[2].keys() and (1, 1, 0, 7) in seen[2]
    assert _index(str(file)) is seen[2] and _index(str(tmp_path / "missing.py")) == {}


def halved(x):
    for _ in range(30):
        x = np.sqrt(x * 0.5 + 1)
        if x.max() > 1e9:
            break
    return x


def test_rounds_of_a_loop_are_told_once(large):
    text = plait.explain(halved, numpy.ones(300_000))
    assert "30 values forced" in text.splitlines()[0]
    assert re.search(r"^\d+ times, of which this is the first:$", text, re.M), text
    assert 1 <= len(re.findall("^forced " + place("if x.max() > 1e9:"), text, re.M)) <= 4
    assert "times, of which this is the first" in text._repr_svg_()


def alternating(x):
    return [float((x + i).sum()) if i % 2 else int((x * i).max()) for i in range(8)]


def test_rounds_of_several_lines_are_told_once(large):
    text = plait.explain(alternating, numpy.ones(300_000))
    # Where a number is 0 or 1 a round may be another one.
    assert re.search("[34] times, of which this is the first:", text) and text.count("\nforced") <= 4


def test_what_is_no_round_is_told_each_time():
    def f(x):
        return float((x + 1).sum()) + float((x + 2).max())

    assert "times, of which" not in plait.explain(f, numpy.ones(5000))


def test_what_a_prompt_shows_has_no_name():
    x = plait.asarray(numpy.ones(300_000))
    (_7,) = [np.sin(x) + 1]
    text = plait.explain(_7)
    assert "region 1: np.sin(x) + 1: " in text and "_7: " not in text
    (shown,) = [np.sin(x) + 2]
    assert "region 1: shown: " in plait.explain(shown)
