"""Files larger than memory: mapped arrays in jitted functions and under `import plait as np`, and blocks of rows."""

import re
import subprocess
import sys
import textwrap

import numpy
import pytest

import plait

MODES = "r", "r+", "c"


@pytest.fixture
def values():
    return numpy.random.default_rng(3).random((600, 7)) + 0.5


@pytest.fixture(params=MODES)
def mapped(request, values, tmp_path):
    values.tofile(tmp_path / "x")
    return numpy.memmap(tmp_path / "x", float, request.param, shape=values.shape)


def chain(x):
    return (numpy.sqrt(x * x + 1) - numpy.exp(-x)).sum(axis=1)


def statistics(x):
    return x.mean(axis=0), x.std(axis=0), numpy.max(x), x[::3, 2].sum()


def nearest(x):
    centres = x[:4]
    label = ((x[:, None] - centres) ** 2).sum(-1).argmin(1)
    return numpy.array([x[label == k].mean(0) for k in range(4)])


def views(x):
    return x[2:5], x.T, x.reshape(-1), x[::2, 1:], x


@pytest.mark.parametrize("function", [chain, statistics, nearest, views])
def test_jitted_functions_of_maps_give_numpys_results(function, mapped):
    ours, theirs = plait.jit(function)(mapped), function(mapped)
    for a, b in zip(*((r if isinstance(r, tuple) else (r,)) for r in (ours, theirs)), strict=True):
        assert type(a) is type(b) and a.dtype == b.dtype and a.strides == b.strides
        numpy.testing.assert_allclose(a, b, rtol=1e-13)
        assert numpy.may_share_memory(a, mapped) == numpy.may_share_memory(b, mapped)
        assert getattr(a, "filename", None) == getattr(b, "filename", None)


def test_a_chain_over_a_map_is_one_region(mapped):
    text = str(plait.explain(plait.jit(chain), mapped))
    assert text.startswith("1 region from 9 nodes; 37.5 KiB moved") and "fallback" not in text, text


def change(x):
    x[1] = 9
    x *= 2
    numpy.add(x[:3], x[3:6], out=x[:3])


@pytest.mark.parametrize("mode", ["r+", "c"])
def test_writes_are_in_the_file(mode, values, tmp_path):
    path = tmp_path / "x"
    values.tofile(path)
    x = numpy.memmap(path, float, mode, shape=values.shape)
    plait.jit(change)(x)
    wanted = values.copy()
    change(wanted)
    numpy.testing.assert_array_equal(x, wanted)
    x.flush()
    numpy.testing.assert_array_equal(numpy.fromfile(path).reshape(values.shape), wanted if mode == "r+" else values)


def test_read_only_maps_refuse_writes(values, tmp_path):
    values.tofile(tmp_path / "x")
    x = numpy.memmap(tmp_path / "x", float, "r", shape=values.shape)
    with pytest.raises(ValueError, match="read-only"):
        plait.jit(change)(x)


def test_results_into_a_map(values, tmp_path):
    out = numpy.memmap(tmp_path / "out", float, "w+", shape=values.shape)

    def into(x, out):
        given = numpy.multiply(x, 3, out=out)
        out.flush()
        return given, out.filename, out.mode, out.offset, isinstance(out, numpy.memmap), isinstance(x, numpy.memmap)

    given, *rest = plait.jit(into)(values, out)
    assert given is out and rest == list(into(values.copy(), out))[1:]
    numpy.testing.assert_array_equal(numpy.fromfile(tmp_path / "out").reshape(values.shape), values * 3)


def test_maps_made_in_a_jitted_function(values, tmp_path):
    def make(path, x):
        out = numpy.memmap(path, x.dtype, "w+", shape=x.shape)
        out[:] = x + 1
        out.flush()
        return out

    ours = plait.jit(make)(tmp_path / "x", values)
    assert type(ours) is numpy.memmap and ours.filename == tmp_path / "x"
    numpy.testing.assert_array_equal(numpy.fromfile(tmp_path / "x").reshape(values.shape), values + 1)


@pytest.mark.parametrize(
    "given",
    [lambda x: x, lambda x: x[1:], lambda x: (x, x + 1, x[1:].reshape(-1), x), lambda x: [x[0], x * 2]],
    ids=["whole", "part", "tuple", "list"],
)
def test_maps_that_calls_of_plain_arguments_make_are_maps(given, values, tmp_path):
    numpy.save(tmp_path / "x.npy", values)
    path = str(tmp_path / "x.npy")  # no argument needs Python's half of the edge

    def make(path):
        return given(numpy.load(path, mmap_mode="r+"))

    every = [r if isinstance(r, (list, tuple)) else [r] for r in (plait.jit(make)(path), make(path))]
    ours, theirs = ([(type(x), getattr(x, "filename", None), x.tolist()) for x in r] for r in every)
    assert ours == theirs and len({*map(id, every[0])}) == len({*map(id, every[1])})
    every[0][0][...] = 7
    every[0][0].flush()
    numpy.testing.assert_array_equal(every[1][0], 7)


def test_arrays_without_a_file_have_no_such_attributes():
    for name in "filename", "mode", "offset", "flush":
        with pytest.raises(AttributeError, match=name):
            getattr(plait.ones(3), name)
    assert not isinstance(plait.ones(3), plait.memmap) and not hasattr(plait.ones(3), "flush")


@pytest.mark.filterwarnings("ignore::plait.ReplayWarning")  # maps are not compared
@pytest.mark.parametrize("replay", [False, True])
def test_a_map_is_read_at_each_call(replay, values, tmp_path):
    values.tofile(tmp_path / "x")
    x = numpy.memmap(tmp_path / "x", float, "r+", shape=values.shape)
    total = plait.jit(lambda x: (x * 2).sum(axis=0), replay=replay)
    for i in range(5):
        x[0] = i
        numpy.testing.assert_allclose(total(x), (x * 2).sum(axis=0), rtol=1e-13)
    numpy.testing.assert_allclose(total(x[:9]), (x[:9] * 2).sum(axis=0), rtol=1e-13)


@pytest.mark.parametrize("mode", MODES)
def test_maps_under_plait(mode, values, tmp_path):
    np = plait
    numpy.save(tmp_path / "x.npy", values)
    for x in np.load(tmp_path / "x.npy", mmap_mode=mode), np.memmap(tmp_path / "x.npy", float, mode, 128, values.shape):
        assert type(x) is plait.ndarray and isinstance(x, np.memmap) and isinstance(x[1:], np.memmap) and not isinstance(x + 1, np.memmap)
        assert (x.mode, x.offset, x.filename) == (mode, 128, tmp_path / "x.npy")
        numpy.testing.assert_allclose(numpy.asarray((np.sqrt(x) + x).sum(axis=0)), (numpy.sqrt(values) + values).sum(axis=0), rtol=1e-13)
        assert x.flags.writeable == (mode != "r")
    assert issubclass(np.memmap, numpy.ndarray) and isinstance(numpy.memmap(tmp_path / "x.npy"), np.memmap)
    if mode == "r+":
        x[:, 0] = 4
        x.flush()
        assert (numpy.load(tmp_path / "x.npy")[:, 0] == 4).all()


def test_subclasses_of_the_users():
    class Own(plait.memmap):
        pass

    assert issubclass(Own, numpy.memmap)


SCRIPT = """
    import numpy, plait, sys
    def resident(kind):
        return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(kind)) >> 10
    x = numpy.memmap(sys.argv[1], "f8", "r+")
    f = plait.jit(lambda x: (numpy.sqrt(x * x + 1) - numpy.exp(-x)).sum())
    f(numpy.ones(1 << 20))
    before = resident("VmHWM")
    for _ in range(2):
        f(x)
    grown = resident("VmHWM") - before
    def double(x):
        numpy.multiply(x, 2, out=x)
    plait.jit(double)(x)
    print("grown", grown, "left", resident("RssFile"), x[0], x[-1], bool((x == 2).all()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what a process holds is read from /proc")
def test_pages_behind_are_let_go(tmp_path):
    numpy.ones(48 << 20).tofile(tmp_path / "x")  # 384 MiB
    made = subprocess.run([sys.executable, "-c", textwrap.dedent(SCRIPT), tmp_path / "x"], capture_output=True, text=True, check=True)
    grown, left, ends = re.fullmatch(r"grown (\d+) left (\d+) (.*)\n", made.stdout).groups()
    assert int(grown) < 200 and int(left) < 300 and ends == "2.0 2.0 True", made.stdout


class Stored:
    """As HDF5's datasets and Zarr's arrays are."""

    def __init__(self, values, chunks=None):
        self.values, self.chunks, self.asked = values, chunks, []
        self.shape, self.dtype = values.shape, values.dtype

    def __getitem__(self, key):
        self.asked.append((key.start, key.stop))
        return self.values[key]


def test_blocks_are_views_of_bounded_size(values):
    for x in values, plait.array(values):
        parts = list(plait.blocks(x, 1000))
        assert [len(p) for p in parts] == [17] * 35 + [5] and all(p.nbytes <= 1000 for p in parts)
        assert type(parts[0]) is type(x) and numpy.may_share_memory(numpy.asarray(parts[1]), numpy.asarray(x))
        numpy.testing.assert_array_equal(numpy.concatenate([numpy.asarray(p) for p in parts]), values)
    assert [len(p) for p in plait.blocks(values, 1)] == [1] * 600 and len(list(plait.blocks(values))) == 1
    assert list(plait.blocks(values[:0])) == [] and len(list(plait.blocks(numpy.empty((5, 0))))) == 1


def test_blocks_of_stored_arrays_begin_where_chunks_do(values):
    stored = Stored(values, chunks=(8, 7))
    assert sum(p.sum() for p in plait.blocks(stored, 1000)) == pytest.approx(values.sum())
    assert stored.asked[:2] == [(0, 16), (16, 32)] and stored.asked[-1] == (592, 600)
    assert [len(p) for p in plait.blocks(Stored(values, chunks=(100, 7)), 1000)][0] == 17  # none fits


def test_blocks_in_a_jitted_function(values):
    def total(x):
        s = 0.0
        for block in plait.blocks(x, 1 << 10):
            s += numpy.sqrt(block).sum()
        return s

    assert plait.jit(total)(values) == pytest.approx(numpy.sqrt(values).sum())


def test_what_blocks_refuses(values):
    with pytest.raises(TypeError, match="no axes"):
        plait.blocks(numpy.float64(3))
    with pytest.raises(ValueError, match="at least one byte"):
        plait.blocks(values, 0)
    with pytest.raises(TypeError):
        plait.blocks(values, 1.5)
