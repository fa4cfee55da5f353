"""plait.export and plait.load: programs give the bits of plait.jit at any extents, and wrong calls and files are refused."""

import json
import os
import subprocess
import sys
import warnings

import ml_dtypes
import numpy as np
import plait
import pytest

RNG = np.random.default_rng(0)
WEIGHTS = RNG.normal(size=(24, 16)).astype(np.float32)


@pytest.fixture(autouse=True)
def planned():
    """Attention has other bits an operation at a time."""
    before, plait.config.plan = plait.config.plan, "always"
    yield
    plait.config.plan = before


def draw(shape, dtype="f8"):
    return (RNG.normal(size=shape) * 4).astype(dtype)


def same(a, b):
    if isinstance(a, (tuple, list)):
        assert type(a) is type(b) and len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for k in a:
            same(a[k], b[k])
    else:
        assert type(a) is type(b)
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def kmeans(X, means):
    return np.argmin(np.linalg.norm(X - means[:, None], axis=2), axis=0)


def standardise(x):
    return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer(x):
    return np.maximum(x @ WEIGHTS + WEIGHTS[0], 0)


def attention(q, k, v):
    return softmax(q @ k.transpose(0, 2, 1) / np.float32(8)) @ v


def convolve(x, w):
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
    return np.einsum("chwij,ocij->ohw", windows, w)


def several(x):
    y = x * 2
    return {"sum": y.sum(), "rows": (y[1:], y.T), "n": 3, "again": [y, x.astype("f4")]}


def written(x):
    out = np.zeros(x.shape)
    out[1:] = x[:-1]
    out[0] = x.sum(axis=0)
    return out


def scanned(x):
    return np.cumsum(x, axis=0) / np.arange(1, len(x) + 1)[:, None], 1.0 / len(x) * x


def pairs(x):
    d = x[:, None] - x
    return np.sqrt((d * d).sum(axis=-1)), np.triu(d[..., 0])


def narrow(x):
    return x * x + x


CASES = [
    (kmeans, lambda n: (draw((n, 2)), draw((5, 2))), [0]),
    (standardise, lambda n: (draw((n, 12)),), [0]),
    (standardise, lambda n: (draw((n, 12), "f4"),), [0]),
    (softmax, lambda n: (draw((64, n), "f4"),), [1]),
    (layer, lambda n: (draw((n, 24), "f4"),), [0]),
    (attention, lambda n: tuple(draw((2, n, 64), "f4") for _ in "qkv"), {i: {1: "n"} for i in range(3)}),
    (convolve, lambda n: (draw((4, n, 40), "f4"), draw((6, 4, 3, 3), "f4")), [1]),
    (several, lambda n: (draw((n, 7)),), [0]),
    (written, lambda n: (draw((n, 5)),), [0]),
    (scanned, lambda n: (draw((n, 6)),), [0]),
    (pairs, lambda n: (draw((n, 3)),), [0]),
    (narrow, lambda n: (draw((n, 9), ml_dtypes.bfloat16),), [0]),
]


@pytest.mark.parametrize("fn, arguments, dynamic", CASES, ids=[f"{i}_{c[0].__name__}" for i, c in enumerate(CASES)])
def test_programs_give_the_bits_of_jitted_functions(tmp_path, fn, arguments, dynamic):
    file = tmp_path / "program.plait"
    plait.export(fn, arguments(50), file, dynamic=dynamic)
    program = plait.load(file)
    jitted = plait.jit(fn)
    for n in (3, 4, 8, 9, 50, 513, 700):
        args = arguments(n)
        same(jitted(*args), program(*args))


def test_extents_of_two_names(tmp_path):
    def fn(a, b):
        return a[:, None] * b + a.sum() / len(b)

    file = tmp_path / "p.plait"
    plait.export(fn, (draw(20), draw(30)), file, dynamic={"a": {0: "n"}, 1: [0]})
    program = plait.load(file)
    assert program.manifest["extents"] == ["n", "b_0"]
    for n, m in [(20, 30), (1, 30), (600, 1000), (9, 9)]:
        a, b = draw(n), draw(m)
        same(plait.jit(fn)(a, b), program(a, b))


def test_plaits_arrays_give_plaits(tmp_path):
    file = tmp_path / "p.plait"
    plait.export(softmax, (draw((5, 6)),), file, dynamic=[0])
    x = plait.array(draw((12, 5))).T  # not contiguous, of another extent
    with pytest.raises(plait.Error, match="axis 1 has to be 6"):
        plait.load(file)(x)
    x = plait.array(draw((6, 12))).T
    made = plait.load(file)(x)
    assert type(made) is plait.ndarray
    np.testing.assert_array_equal(np.asarray(made), np.asarray(plait.jit(softmax)(np.asarray(x))))


def test_constants_are_as_they_were(tmp_path):
    scale = np.arange(4.0)

    def fn(x):
        return x * scale

    file = tmp_path / "p.plait"
    plait.export(fn, (np.ones((3, 4)),), file)
    scale[:] = -1
    assert plait.load(file)(np.ones((3, 4))).tolist() == [[0, 1, 2, 3]] * 3


def needs_a_value(x):
    return x + 1 if x.sum() > 0 else x - 1


def half(x):
    return x[: len(x) // 2].sum(axis=0)


def draws(x):
    return x + np.random.default_rng().normal(size=x.shape)


@pytest.mark.parametrize(
    "fn, why",
    [
        (needs_a_value, "needs a value before it returns"),
        (half, "polynomial"),
        (draws, "draws random numbers"),
        (lambda x: np.unique(x), "needs a value before it returns"),
        (np.median, "polynomial"),  # the ranks that it is between
        (lambda x: object(), "returns an object of object"),
        (lambda x: np.empty(3), "what it does not compute"),
    ],
)
def test_what_cannot_be_exported_says_why(tmp_path, fn, why):
    with pytest.raises(plait.Error, match=f"{fn.__name__}.* cannot be exported: .*{why}"):
        plait.export(fn, (np.ones((30, 2)),), tmp_path / "p.plait", dynamic=[0])
    assert list(tmp_path.iterdir()) == []


def embedded(table, ids, weights):
    return (table[ids] * weights[:, None]).sum(axis=0), np.take(table, ids[3:], axis=0), table[:, 0][ids]


@pytest.mark.parametrize("code", ["i8", "i4", "u1"])
def test_indices_are_arguments(tmp_path, code):
    file, rng = tmp_path / "p.plait", np.random.default_rng(0)
    table = rng.normal(size=(50, 8))

    def arguments(n):
        ids = rng.integers(0, 50, n).astype(code)
        if code != "u1":
            ids[: n // 2] -= 50
        return table, ids, rng.normal(size=n)

    plait.export(embedded, arguments(30), file, dynamic={"ids": {0: "n"}, "weights": {0: "n"}})
    program = plait.load(file)
    assert len(program.manifest["results"]["tuple"]) == 3
    for n in (4, 5, 30, 31, 5000):
        args = arguments(n)
        for made, expected in zip(program(*args), plait.jit(embedded)(*args)):
            assert np.array_equal(made, expected)


@pytest.mark.parametrize("wrong", [50, -51, 2**40, -(2**62)])
def test_an_index_that_is_outside_is_an_index_error(tmp_path, wrong):
    file = tmp_path / "p.plait"
    table, ids, weights = np.ones((50, 8)), np.arange(30), np.ones(30)
    plait.export(embedded, (table, ids, weights), file, dynamic=[])
    program = plait.load(file)
    ids[17] = wrong
    with pytest.raises(IndexError, match="an index is out of bounds"):
        program(table, ids, weights)
    ids[17] = 3
    assert program(table, ids, weights)[0].tolist() == [30] * 8


def step(u, rate):
    u[1:-1] += rate * (u[2:] - 2 * u[1:-1] + u[:-2])
    u[0] = u[-1] = 0


def scaled_in_place(x, y):
    x *= 2
    y[...] = x[::-1]
    x += y
    return x, y.sum()


@pytest.mark.parametrize("ours", [False, True])
@pytest.mark.parametrize("fn", [step, scaled_in_place])
def test_functions_that_write_to_arguments(tmp_path, fn, ours):
    file, rng = tmp_path / "p.plait", np.random.default_rng(0)

    def arguments(n):
        return rng.normal(size=n), rng.normal(size=n if fn is scaled_in_place else ())

    example = arguments(50)
    before = [a.copy() for a in example]
    plait.export(fn, example, file, dynamic=[0])
    assert all(np.array_equal(a, b) for a, b in zip(example, before))  # left as it is
    program = plait.load(file)
    for n in (3, 50, 51, 9999):
        args = arguments(n)
        theirs = [a.copy() for a in args]
        expected = fn(*theirs)
        given = [plait.array(a) for a in args] if ours else list(args)
        pending = given[0] + 1 if ours else None  # of the values before
        made = program(*given)
        if expected is None:
            assert made is None
        else:
            assert all(np.allclose(m, e, rtol=1e-13) for m, e in zip(made, expected))
        assert all(np.allclose(g, t, rtol=1e-13) for g, t in zip(given, theirs))
        if ours:
            assert np.array_equal(pending, args[0] + 1)


def test_an_argument_that_cannot_be_written(tmp_path):
    file, x = tmp_path / "p.plait", np.ones(40)
    plait.export(step, (x, np.array(0.1)), file)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        plait.load(file)(x, np.array(0.1))
    strided = np.ones(80)[::2]
    plait.load(file)(strided, np.array(0.1))
    assert strided[0] == 0 and strided[1] == 1


def ordered(x, y):
    order = np.argsort(x, kind="stable")
    return np.sort(x)[::-1], y[order], np.searchsorted(np.sort(x), y)


def test_sorts(tmp_path):
    file, rng = tmp_path / "p.plait", np.random.default_rng(0)
    plait.export(ordered, (rng.normal(size=40), rng.normal(size=40)), file, dynamic=[0])
    program = plait.load(file)
    assert {"sort", "argsort", "searchsorted"} <= set(program.manifest["operations"])
    for n in (1, 7, 40, 3000):
        x, y = rng.normal(size=n).round(1), rng.normal(size=n)
        for made, expected in zip(program(x, y), ordered(x, y)):
            assert np.array_equal(made, expected)


def test_what_could_not_be_exported_is_not_computed_later(tmp_path):
    def fails(x):
        y = x + 1
        z = y[: len(x) // 2] * 2  # recorded at extents that no memory is for
        return z.sum(axis=0)

    with pytest.raises(plait.Error) as kept:
        plait.export(fails, (np.ones((30, 2)),), tmp_path / "p.plait", dynamic=[0])
    assert plait.jit(softmax)(np.ones((3, 4))).sum() == pytest.approx(3)
    del kept


def test_wrong_arguments_of_export(tmp_path):
    file, x = tmp_path / "p.plait", np.ones((3, 2))
    with pytest.raises(TypeError, match=r"no array of NumPy's or Plait's: .*, as \(x,\)"):
        plait.export(softmax, (1.0,), file)
    with pytest.raises(np.exceptions.AxisError):
        plait.export(softmax, (x,), file, dynamic=[2])
    with pytest.raises(ValueError, match="is no array of example_args"):
        plait.export(softmax, (x,), file, dynamic={"y": [0]})
    with pytest.raises(ValueError, match="has to be the same"):
        plait.export(lambda a, b: a.sum() + b.sum(), (x, x), file, dynamic={"a": {0: "n"}, "b": {1: "n"}})
    with pytest.raises(ValueError, match="'sparc' is none of"):
        plait.export(softmax, (x,), file, targets=["sparc"])
    with pytest.raises(FileNotFoundError):
        plait.export(softmax, (x,), tmp_path / "nowhere" / "p.plait")
    assert not file.exists()


def test_wrong_arguments_of_programs(tmp_path):
    file, x = tmp_path / "p.plait", np.ones((3, 2))
    plait.export(kmeans, (x, x), file, dynamic={"X": [0]})
    program = plait.load(file)
    with pytest.raises(TypeError, match="takes 2 arrays"):
        program(x)
    with pytest.raises(TypeError, match="'means' has dtype float32"):
        program(x, x.astype("f4"))
    with pytest.raises(TypeError, match="has to be an array"):
        program(x, 3)
    with pytest.raises(plait.Error, match="'means' has shape .*axis 0 has to be 3"):
        program(x, np.ones((4, 2)))
    with pytest.raises(plait.Error, match="exported with 2 axes"):
        program(np.ones(2), x)
    plait.export(lambda x: np.max(x, axis=0), (x,), tmp_path / "max.plait", dynamic=[0])
    with pytest.raises(plait.Error, match="no plan in it is for extents of x_0 = 0"):  # of nothing there is none
        plait.load(tmp_path / "max.plait")(np.ones((0, 2)))
    assert program(x, x).tolist() == [0, 0, 0]


def written(a, b):
    a += 2 * b
    return b.sum(), a[::-1] * 2


def test_arrays_without_elements(tmp_path):
    file, x = tmp_path / "p.plait", np.ones((3, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plait.export(lambda x: (x.mean(axis=1), np.concatenate([x, x]), x.sum(axis=0), np.mean(x)), (x,), file, dynamic=[0])
    for n in (0, 1, 5):
        x = np.ones((n, 2))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = x.mean(axis=1), np.concatenate([x, x]), x.sum(axis=0), np.mean(x)
        for a, b in zip(plait.load(file)(x), wanted, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)
    plait.export(written, (np.ones(5), np.ones(5)), file, dynamic=[0])
    for n in (0, 1, 5):
        given = np.arange(float(n)), np.ones(n)
        wanted_in = tuple(a.copy() for a in given)
        made, wanted = plait.load(file)(*given), written(*wanted_in)
        for a, b in zip((*made, *given), (*wanted, *wanted_in), strict=True):
            np.testing.assert_array_equal(a, b)


def test_damaged_files_are_refused(tmp_path):
    file = tmp_path / "p.plait"
    plait.export(softmax, (np.ones((3, 2)),), file)
    whole = file.read_bytes()
    for damage, why in [
        (whole[:-1], "damaged"),
        (whole[:200] + bytes([whole[200] ^ 1]) + whole[201:], "damaged"),
        (whole[:8] + (99).to_bytes(4, "little") + whole[12:], "version 99 of the format"),
        (whole[:8], "no exported program"),
    ]:
        file.write_bytes(damage)
        with pytest.raises(plait.Error, match=why):
            plait.load(file)
    with pytest.raises(FileNotFoundError):
        plait.load(tmp_path / "nowhere")


def test_files_of_numpy_are_numpys(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(3))
    assert plait.load(tmp_path / "x.npy").tolist() == [0, 1, 2]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="names x86-64 processors")
def test_a_file_for_another_processor_is_refused(tmp_path):
    plait.export(softmax, (np.ones((3, 2)),), tmp_path / "p.plait", targets="host")
    target = plait.load(tmp_path / "p.plait").manifest["targets"]
    code = f"import plait; plait.load({str(tmp_path / 'p.plait')!r})"
    made = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PLAIT_CPU": "baseline"}, capture_output=True, text=True)
    if target != ["x86-64-v2"]:
        assert f"has code for {target[0]}, and this processor runs x86-64-v2" in made.stderr


def test_manifest(tmp_path):
    file = tmp_path / "p.plait"
    plait.export(several, (np.ones((3, 7)),), file, dynamic=[0], targets=["x86-64-v3", "host"])
    m = plait.load(file).manifest
    assert m["function"] == "several" and m["arguments"] == [{"name": "x", "dtype": "float64", "shape": ["x_0", 7]}]
    assert m["operations"] == [] and json.dumps(m)
    assert "several(x: float64" in repr(plait.load(file))
