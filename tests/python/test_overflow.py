"""Python's numbers that float16, float32 and complex64 cannot hold: NumPy's cast reports them, and so does Plait's."""

import warnings

import numpy
import pytest
from support import outcome, same

import plait


def written(write, dtype="f4"):
    def run(np):
        x = np.zeros(3, dtype)
        write(np, x)
        return x

    return run


CASES = {
    "operator": lambda np: np.zeros(3, "f4") + 1e39,
    "operator, reflected": lambda np: 1e39 / np.ones(3, "f4"),
    "float16": lambda np: np.array(1.0, "f2") * 1e6,
    "float16, integer": lambda np: np.zeros(3, "f2") + 70000,
    "float16, the largest": lambda np: np.zeros(3, "f2") + 65519.0,
    "float16, above": lambda np: np.zeros(3, "f2") + 65520.0,
    "the largest": lambda np: np.zeros(3, "f4") + 3.4028235677973362e38,
    "above": lambda np: np.zeros(3, "f4") + 3.4028235677973366e38,
    "infinity": lambda np: np.zeros(3, "f4") + float("inf"),
    "tiny": lambda np: np.zeros(3, "f4") + 1e-50,
    "tiny, strong": lambda np: np.full(3, np.float64(1e-50), "f4"),
    "tiny, where": lambda np: np.where([True], np.float32(1), 1e-50),
    "complex": lambda np: np.zeros(3, "c8") + 1e39j,
    "complex beside float": lambda np: np.zeros(3, "f4") + 1e39j,
    "empty": lambda np: np.zeros(0, "f4") + 1e39,
    "large": lambda np: (np.zeros(100_000, "f4") * 2 + 1e39)[:2],
    "comparison": lambda np: np.zeros(3, "f4") < 1e39,
    "logical": lambda np: np.logical_and(np.ones(3, "f4"), 1e39),
    "twice": lambda np: np.zeros(3, "f4") * 1e39,
    "strong": lambda np: np.zeros(3, "f4") + np.float64(1e39),
    "where=": lambda np: np.add(np.zeros(3, "f4"), 1e39, where=[False] * 3, out=np.zeros(3, "f4")),
    "where": lambda np: np.where([True, True], np.zeros(2, "f4"), 1e39),
    "clip": lambda np: np.clip(np.zeros(3, "f4"), -1e39, 1e39),
    "maximum": lambda np: np.maximum(np.zeros(3, "f4"), 1e39),
    "power": lambda np: np.ones(3, "f4") ** 1e39,
    "full": lambda np: np.full(3, 1e39, "f4"),
    "full, strong": lambda np: np.full(3, np.float64(1e39), "f4"),
    "full, integer": lambda np: np.full(3, 70000, "f2"),
    "full, empty": lambda np: np.full(0, 1e39, "f4"),
    "full_like": lambda np: np.full_like(np.zeros(3, "f4"), 1e39),
    "arange": lambda np: np.arange(0, 3e39, 1e39, dtype="f4"),
    "sum": lambda np: np.sum(np.zeros(3, "f4"), initial=1e39),
    "element": written(lambda np, x: x.__setitem__(0, 1e39)),
    "element, strong": written(lambda np, x: x.__setitem__(0, np.float64(1e39))),
    "element, float16": written(lambda np, x: x.__setitem__(0, 70000), "f2"),
    "slice": written(lambda np, x: x.__setitem__(slice(None), 1e39)),
    "no element": written(lambda np, x: x.__setitem__(slice(0), 1e39)),
    "list": written(lambda np, x: x.__setitem__([0, 1], 1e39)),
    "mask": written(lambda np, x: x.__setitem__(np.array([True, False, True]), 1e39)),
    "fill": written(lambda np, x: x.fill(1e39)),
    "copyto": written(lambda np, x: np.copyto(x, 1e39)),
    "in place": written(lambda np, x: x.__iadd__(1e39)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_warnings(case):
    def run(np):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            value = numpy.array(case(np))
        return value, [(w.category, str(w.message)) for w in caught]

    (ours, our_warnings), (theirs, their_warnings) = run(plait), run(numpy)
    numpy.testing.assert_array_equal(ours, theirs, strict=True)
    assert our_warnings == their_warnings


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("state", [{"over": "raise"}, {"under": "raise"}, {"over": "call", "under": "call"}])
def test_error_states(case, state):
    def run(np):
        calls = []
        with np.errstate(**state, invalid="ignore", call=lambda kind, flags: calls.append(kind)):
            value = outcome(lambda: numpy.array(case(np)))
        return value, calls

    (ours, our_calls), (theirs, their_calls) = run(plait), run(numpy)
    same(ours if isinstance(ours, tuple) else plait.asarray(ours), theirs)
    assert our_calls == their_calls


@pytest.mark.parametrize("case", [v for k, v in CASES.items() if k in ("element", "slice", "fill", "copyto", "in place", "list")])
def test_nothing_is_written_where_it_raises(case):
    x = None

    def watch(np):
        nonlocal x
        zeros = np.zeros

        class Watched:
            def __getattr__(self, name):
                return getattr(np, name)

            def zeros(self, *args):
                nonlocal x
                x = zeros(*args)
                return x

        return Watched()

    with plait.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow encountered in cast"):
        case(watch(plait))
    assert x.tolist() == [0, 0, 0]


NAMES = {
    "sum of float16": lambda np: np.full(10, 60000, "f2").sum(),
    "sum of float16, axis": lambda np: np.full((3, 10), 60000, "f2").sum(1),
    "reduce of float16": lambda np: np.add.reduce(np.full((10, 3), 60000, "f2")),
    "sum into float16": lambda np: np.full(10, 6e4).sum(dtype="f2"),
    "sum into float32": lambda np: np.full(10, 6e40).sum(dtype="f4"),
    "mean of float16": lambda np: np.full(10, 60000, "f2").mean(),
    "large sum": lambda np: (np.full(100_000, 60000, "f2") * 1).sum(),
    "dot": lambda np: np.full(3, 3e300).dot(np.full(3, 3e300)),
    "dot, invalid": lambda np: np.array([np.inf, 1]).dot(np.array([0.0, 1])),
    "dot of matrices": lambda np: np.dot(np.full((2, 2), 3e300), np.full((2, 2), 3e300)),
    "dot of a scalar": lambda np: np.dot(3e300, np.full(2, 3e300)),
    "inner": lambda np: np.inner(np.full(3, 3e300), np.full(3, 3e300)),
    "vdot": lambda np: np.vdot(np.full(3, 3e300), np.full(3, 3e300)),
    "tensordot": lambda np: np.tensordot(np.full((2, 2), 3e300), np.full((2, 2), 3e300), 1),
    "norm": lambda np: np.linalg.norm(np.full(10, 60000, "f2")),
    "matmul": lambda np: np.full((2, 2), 3e300) @ np.full((2, 2), 3e300),
    "outer": lambda np: np.outer(np.full(2, 3e300), np.full(2, 3e300)),
    "cast": lambda np: np.array([1e39]).astype("f4"),
    "scalar": lambda np: (np.ones(100_000) * 2).sum() / 0.0,
}


@pytest.mark.parametrize("case", NAMES.values(), ids=NAMES)
def test_names_in_warnings(case):
    def run(np):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            numpy.array(case(np))
        return [str(w.message) for w in caught]

    assert run(plait) == run(numpy)


def test_the_warning_names_the_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plait.zeros(3, "f4") + 1e39
    assert caught[0].filename == __file__
