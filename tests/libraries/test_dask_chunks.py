"""Dask's arrays with chunks of Plait's: what NumPy's chunks give, and the chunks stay Plait's; messages, tokens, sizes, and plait.dask."""

import os
import pickle
import signal
import subprocess
import sys
import time

import numpy
import pytest
from table import lines

import plait

pytest.importorskip("dask.array")

import dask
import dask.array as da

import plait.dask as plait_dask


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def arrays(np):
    """The names of the calls below, with arrays of the module."""
    rng = numpy.random.default_rng(0)
    square = rng.normal(size=(4, 4))
    made = {
        "X": numpy.arange(12.0).reshape(4, 3), "D": (numpy.arange(12.0).reshape(4, 3), 2), "v": (numpy.array([3.0, 1.0, 2.0, 5.0, 1.0, 4.0]), 3),
        "whole": (numpy.array([3, 1, 2, 5, 1, 4]), 3), "places": (numpy.array([0, 2, 3]), 2), "tall": (rng.normal(size=(12, 3)), (4, 3)),
        "right": (rng.normal(size=12), 4), "S": (square @ square.T + 4 * numpy.eye(4), 2), "four": (rng.normal(size=4), 2),
    }  # fmt: skip
    names = {k: da.from_array(np.asarray(v[0]), chunks=v[1]) if isinstance(v, tuple) else np.asarray(v) for k, v in made.items()}
    return {"np": np, "da": da, **names}


CALLS = lines("""
D + 1
D + X
X * D
da.sin(D)
np.sin(D)
-D // 2
D > 2
D.astype("f4")
D.view("i8")
da.clip(D, 1, 5)
da.modf(D)[0]
da.where(D > 2, D, 0)
da.where(D > 2, D, X)
da.isin(D, [1, 2])
da.digitize(v, np.array([1.0, 3.0]))
D.sum(axis=0)
D.mean(axis=1)
D.std(axis=0)
D.max(axis=0)
D.all(axis=1)
da.nanmean(D, axis=0)
da.median(D, axis=0)
da.average(D, axis=0, weights=np.ones(4))
da.cov(D)
D @ D.T
da.dot(D, D.T)
da.tensordot(D, D.T, axes=1)
da.einsum("ij,kj->ik", D, D)
da.outer(v, v)
D[1:3]
D[::-1]
D[:, 1]
D[[0, 2]]
D[places]
D[D[:, 0] > 2]
D[None, ..., 0]
D.T
D.reshape(12)
D.rechunk((4, 3))
D.rechunk((1, 3))
da.concatenate([D, D])
da.concatenate([D, X])
da.stack([D, D])
da.block([[D, D], [D, D]])
da.pad(D, 1, mode="edge")
da.pad(D, 1, mode="reflect")
da.pad(D, 1, mode="mean")
da.pad(D, 1, mode="linear_ramp")
da.pad(D, 1, mode="wrap")
da.tile(D, 2)
da.repeat(D, 2, axis=0)
da.roll(D, 1, axis=0)
da.diff(D, axis=0)
da.linalg.norm(D, axis=0)
da.linalg.qr(tall)[1]
da.linalg.svd(tall)[1]
da.linalg.svd_compressed(tall, 2, seed=0)[1]
D.map_overlap(lambda b: b * 2, depth=1, boundary="reflect")
D.map_overlap(lambda b: b * 2, depth=1, boundary="none")
D.map_overlap(lambda b: b * 2, depth=1, boundary="periodic")
da.overlap.sliding_window_view(D, 2, axis=0)
da.percentile(v, [25, 50])
da.topk(v, 2)
da.argtopk(v, 2)
D.cumsum(axis=0)
D.cumprod(axis=1)
da.bincount(whole, minlength=8)
da.triu(S)
da.diag(v)
da.ones_like(D)
D.map_blocks(lambda b: b * 2)
da.apply_gufunc(lambda a: a.mean(axis=-1), "(i)->()", D.rechunk((2, 3)), output_dtypes=float)
D[D > 2]
da.linalg.norm(D, ord=1)
da.histogram(D, bins=5, range=(0, 12))[0]
da.histogram(D, bins=5, range=(0, 12), weights=D)[0]
da.percentile(v, 50)
da.quantile(D, 0.5, axis=0)
D.argmin(axis=0)
D.argmax(axis=1)
da.nanargmax(D, axis=0)
da.cumsum(D, axis=0, method="blelloch")
da.fft.fft(D.rechunk((4, 3)), axis=0)
da.apply_along_axis(np.sum, 0, D)
da.extract(D > 2, D)
da.coarsen(np.sum, D, {0: 2})
D[0, 0]
D.sum()
D.argmin()
da.linalg.norm(D)
da.trace(S)
da.vdot(v, v)
da.pad(D, 1, mode="constant")
da.append(v, [1.0])
da.linalg.lstsq(tall, right)[0]
da.linalg.solve(S, four)
da.linalg.solve(S, four, assume_a="pos")
da.linalg.inv(S)
da.linalg.cholesky(S)
da.linalg.lu(S)[1]
da.where(D > 2)[0]
da.nonzero(D)[0]
da.argwhere(D > 2)
da.unique(v)
da.unique(v, return_counts=True)[1]
da.histogram2d(v, v, bins=3, range=((0, 6), (0, 6)))[0]
""")
# Dask gives these a meta of NumPy's: it has none of the chunk's, or the function refuses the empty arrays that it tries.
META = CALLS[CALLS.index("D[D > 2]") :]
# Dask itself makes the values with NumPy or SciPy, all or the parts at an edge; what has no axes is a scalar, as with NumPy's chunks.
CHUNKS = CALLS[CALLS.index("D[0, 0]") :]


@pytest.mark.parametrize("call", CALLS)
def test_as_with_numpys_chunks(call):
    if "linalg" in call:
        pytest.importorskip("scipy")
    theirs, ours = (eval(call, arrays(np)) for np in (numpy, plait))
    assert ours.dtype == theirs.dtype and str(ours.chunks) == str(theirs.chunks)  # unknown ones are NaN
    if call not in META:
        assert type(ours._meta) is plait.ndarray
    if call not in CHUNKS:
        chunks = dask.compute(*ours.to_delayed().ravel())
        assert {type(c) for c in chunks} == {plait.ndarray}
    expected, computed = theirs.compute(), ours.compute()
    assert computed.dtype == expected.dtype
    numpy.testing.assert_allclose(numpy.asarray(computed), numpy.asarray(expected), rtol=1e-9, atol=1e-12)
    numpy.testing.assert_allclose(numpy.asarray(plait_dask.fuse(ours).compute()), numpy.asarray(expected), rtol=1e-9, atol=1e-12)


# --- making and leaving ---------------------------------------------------------------------------------------------------


class Source:
    """What Dask cuts without knowing its class, as it does files."""

    def __init__(self, x):
        self.x, self.shape, self.dtype, self.ndim = x, x.shape, x.dtype, x.ndim

    def __getitem__(self, key):
        return self.x[key]


@pytest.mark.parametrize("make", [
    lambda x: plait_dask.from_array(x, chunks=2), lambda x: plait_dask.from_array(plait.asarray(x), chunks=2),
    lambda x: plait_dask.from_array(Source(x), chunks=2), lambda x: da.from_array(plait.asarray(x), chunks=2),
    lambda x: da.from_array(x, chunks=2).map_blocks(plait.asarray), lambda x: da.from_array(x, chunks=2).to_backend("plait"),
])  # fmt: skip
def test_made(make):
    x = numpy.arange(12.0).reshape(4, 3)
    made = make(x)
    assert type(made._meta) is plait.ndarray and made.dtype == x.dtype and made.chunks == ((2, 2), (2, 1))
    computed = made.compute()
    assert type(computed) is plait.ndarray and (computed.to_numpy() == x).all()


def test_asarray_of_from_array():
    """Dask asks only whether it is true, and does not convert NumPy's arrays: the values are right, and the chunks NumPy's."""
    x = numpy.arange(12.0).reshape(4, 3)
    assert (numpy.asarray(da.from_array(x, chunks=2, asarray=plait.asarray).compute()) == x).all()
    assert type(da.from_array(plait.asarray(x), chunks=2, asarray=plait.asarray).compute()) is plait.ndarray


@pytest.mark.parametrize("call", ["ones((4, 4), chunks=2)", "zeros(4, dtype='i4')", "full((3,), 2.5)", "arange(5)", "random.default_rng(0).normal(size=(4, 4), chunks=2)",
                                  "random.RandomState(0).normal(size=(4, 4), chunks=2)"])  # fmt: skip
def test_array_backend(call):
    expected = eval(f"da.{call}")
    with dask.config.set({"array.backend": "plait"}):
        made = eval(f"da.{call}")
        computed = made.compute()
    assert type(made._meta) is type(computed) is plait.ndarray and made.dtype == expected.dtype
    if "random" not in call:
        assert (numpy.asarray(computed) == expected.compute()).all()


def test_sizes():
    from dask.sizeof import sizeof

    x = numpy.ones((10, 10))
    p = plait.asarray(x)
    for a, b in ((p, x), (p[:5], x[:5]), (plait.broadcast_to(p[0], (100, 10)), numpy.broadcast_to(x[0], (100, 10))), (p * 2, x)):
        assert sizeof(a) == sizeof(b)


def test_tokens():
    x = numpy.arange(6.0)
    p = plait.asarray(x)
    with dask.config.set({"tokenize.ensure-deterministic": True}):
        assert dask.base.tokenize(p * 2) == dask.base.tokenize(plait.asarray(x * 2)) != dask.base.tokenize(p)
        assert dask.base.tokenize(p) not in (dask.base.tokenize(x), dask.base.tokenize(p.reshape(2, 3)), dask.base.tokenize(p.astype("f4")))
        assert dask.base.tokenize(plait.sin, plait.jit(test_sizes)) == dask.base.tokenize(plait.sin, plait.jit(test_sizes))


def test_without_dask():
    """Plait does not import Dask, and plait.dask says what is missing when it is asked for."""
    script = """
import sys
import plait
import plait.dask
assert not any(name.partition(".")[0] in ("dask", "distributed") for name in sys.modules)
sys.modules["dask"] = None
for call in (lambda: plait.dask.from_array(plait.ones(3)), lambda: plait.dask.fuse({})):
    try:
        call()
    except ImportError as e:
        assert "dask" in str(e)
    else:
        raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=100)


# --- fuse -----------------------------------------------------------------------------------------------------------------


def counted(work):
    plait._plait.set_warnings_caught(False)  # pytest runs tests inside warnings.catch_warnings, where every operation would be computed at once
    before = plait.stats()
    result = work()
    after = plait.stats()
    return result, {k: after[k] - before[k] for k in ("evaluations", "pending_nodes")}


def test_a_task_is_one_evaluation():
    blocks = 4
    x = plait_dask.from_array(numpy.random.default_rng(0).random((400_000, 4)), chunks=(100_000, 4)).persist()
    y = (plait.sqrt(1) * (da.sqrt(abs(x - 0.5)) * 2 + 1)).sum(axis=1)
    kept, seen = counted(lambda: plait_dask.fuse(y).persist())
    assert seen == {"evaluations": blocks, "pending_nodes": 0}
    lazy, seen = counted(lambda: y.persist())
    assert seen["evaluations"] == 0 and seen["pending_nodes"] > 0
    assert (kept.compute() == lazy.compute()).all()


def test_fuse_takes_what_dask_makes():
    x = plait_dask.from_array(numpy.arange(12.0).reshape(4, 3), chunks=2)
    y = x * 2 + 1
    expected = numpy.arange(12.0).reshape(4, 3) * 2 + 1
    with dask.config.set(array_optimize=plait_dask.fuse):
        assert (numpy.asarray(y.compute()) == expected).all()
    again = plait_dask.fuse(plait_dask.fuse(y))
    assert type(again) is da.Array and again.chunks == y.chunks and (numpy.asarray(again.compute()) == expected).all()
    graph = plait_dask.fuse({"a": plait.ones(3), "b": (lambda a: {"two": [a * 2]}, "a")})
    (made, seen) = counted(lambda: dask.get(graph, "b"))
    assert made["two"][0].tolist() == [2, 2, 2] and seen["pending_nodes"] == 0
    value = plait_dask.fuse(dask.delayed(plait.sum)(plait.ones(100_000))).compute()
    assert value == 100_000
    with pytest.raises(ZeroDivisionError):
        plait_dask.fuse(dask.delayed(lambda: 1 // 0)()).compute()


@pytest.mark.parametrize("wrong", [plait.ones(3), 3, None, "graph", [1]])
def test_fuse_refuses(wrong):
    with pytest.raises(TypeError, match=r"fuse\(\) takes a Dask collection or a graph, not "):
        plait_dask.fuse(wrong)
    with pytest.raises(TypeError, match="keys and options with a graph"):
        plait_dask.fuse(da.ones(3), ["key"])


def test_threads_give_the_same_bits():
    x = plait_dask.from_array(numpy.random.default_rng(0).random((600_000, 2)), chunks=(50_000, 2))
    y = plait_dask.fuse(da.exp(x - x.mean(axis=0)).std(axis=0))
    alone = y.compute().tolist()
    for threads in (2, 8):
        assert y.compute(scheduler="threads", num_workers=threads).tolist() == alone


# --- messages and processes -----------------------------------------------------------------------------------------------


def inside(a, frame):
    return numpy.may_share_memory(numpy.asarray(a), numpy.frombuffer(frame, numpy.uint8))


@pytest.mark.parametrize("received", [lambda f: bytearray(f), lambda f: memoryview(numpy.frombuffer(f, numpy.uint8).copy())])
def test_messages_take_no_copy(received):
    pytest.importorskip("distributed")
    from distributed.protocol import deserialize, serialize

    for x in (plait.arange(100_000.0) * 2, (plait.arange(100_000.0) * 2).reshape(100, 1000).T, plait.arange(100_000.0)[::3]):
        pending = plait.stats()["pending_nodes"]
        header, frames = serialize(x)
        assert header["serializer"] == "dask" and plait.stats()["pending_nodes"] <= pending
        assert not x.flags.c_contiguous or inside(x, frames[0])
        theirs = [received(f) for f in frames]
        y = deserialize(header, theirs)
        assert type(y) is plait.ndarray and y.dtype == x.dtype and inside(y, theirs[0]) and (x == y).all()
        # The memory is nobody else's: operations are recorded, and writes happen.
        z, seen = counted(lambda: y * 2 + 1)
        assert seen == {"evaluations": 0, "pending_nodes": 2}
        y[...] = 5
        assert (z == x * 2 + 1).all() and (y == 5).all()


def test_messages_of_read_only_memory():
    pytest.importorskip("distributed")
    from distributed.protocol import deserialize, serialize

    x = plait.arange(100_000.0)
    x.flags.writeable = False
    header, frames = serialize(x)
    y = deserialize(header, [bytes(frames[0])])
    assert (y + 1)[-1] == 100_000
    with pytest.raises(ValueError, match="read-only"):
        y[0] = 1


@pytest.mark.parametrize("x", [plait.asarray(["a", "bc"]), plait.asarray([None, {}], dtype=object), plait.ones(3).astype("M8[s]"), plait.asarray(3.0), plait.ones((0, 3)),
                               plait.ones(2, [("a", "f8")]), plait.broadcast_to(plait.arange(3.0), (4, 3))], ids=lambda x: f"{x.dtype} {x.shape}")  # fmt: skip
def test_messages_of_other_arrays(x):
    pytest.importorskip("distributed")
    from distributed.protocol import deserialize, serialize

    y = deserialize(*serialize(x))
    # What goes by pickle is NumPy's, as its pickles are.
    ours = x.dtype.kind in "biufc"
    assert type(y) is (plait.ndarray if ours else numpy.ndarray)
    assert y.dtype == x.dtype and y.shape == x.shape and y.tolist() == x.tolist()


def test_pickles_take_no_copy():
    x = plait.arange(100_000.0) * 2
    buffers = []
    data = pickle.dumps(x, 5, buffer_callback=buffers.append)
    assert len(data) < 1000 and inside(x, buffers[0].raw())
    for made in (bytes, bytearray):
        memory = made(buffers[0].raw())
        y = pickle.loads(data, buffers=[memory])
        assert inside(y, memory) and (y == x).all() and (y * 2 == x * 2).all()


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, memory_limit=0) as made:
        with distributed.Client(made) as client:
            yield client


def test_processes(cluster):
    x = numpy.random.default_rng(0).random((100_000, 3))
    with dask.config.set(scheduler=None):
        p = plait_dask.from_array(x, chunks=(10_000, 3))
        for made, expected in ((plait_dask.fuse(da.sqrt(p) * 2 + p.mean(axis=0)), numpy.sqrt(x) * 2 + x.mean(axis=0)), (p.T @ p, x.T @ x),
                               (p[::-1].rechunk((25_000, 1)).cumsum(axis=0), x[::-1].cumsum(axis=0)), (da.linalg.norm(p), numpy.linalg.norm(x))):
            numpy.testing.assert_allclose(numpy.asarray(made.compute()), expected, rtol=1e-9)
        kept = cluster.scatter(plait.asarray(x))
        result = cluster.submit(lambda a: (type(a).__module__, (a * 2).sum()), kept).result()
    assert result[0] == "plait" and result[1] == pytest.approx(x.sum() * 2)


def test_a_worker_is_killed(cluster):
    def slow(block):
        time.sleep(0.05)
        return block * 2

    x = numpy.arange(4000.0)
    with dask.config.set(scheduler=None):
        future = cluster.compute(plait_dask.fuse(plait_dask.from_array(x, chunks=100).map_blocks(slow) + 1))
        time.sleep(0.3)
        pids = cluster.run(os.getpid)
        os.kill(next(iter(pids.values())), signal.SIGKILL)
        assert (numpy.asarray(future.result(timeout=50)) == x * 2 + 1).all()


def test_a_worker_without_plait(tmp_path):
    """Dask ends it, with a message in its log, and another one does its work."""
    distributed = pytest.importorskip("distributed")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    if subprocess.run([sys.executable, "-c", "import plait"], env=env, cwd=tmp_path, capture_output=True).returncode == 0:
        pytest.skip("Plait is installed for every process of this Python")
    with distributed.LocalCluster(n_workers=0, dashboard_address=None, memory_limit=0) as made, distributed.Client(made) as client:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", made.scheduler_address, "--no-nanny", "--nthreads", "1", "--no-dashboard"]
        with open(tmp_path / "log", "w") as log:
            worker = subprocess.Popen(command, env=env, cwd=tmp_path, stdout=log, stderr=log)
        try:
            client.wait_for_workers(1, timeout=50)
            with dask.config.set(scheduler=None):
                future = client.compute(plait_dask.fuse(plait_dask.from_array(numpy.ones(10), chunks=5) + 1))
            worker.wait(timeout=50)
            assert "ModuleNotFoundError: No module named 'plait'" in (tmp_path / "log").read_text()
            made.scale(1)
            assert (numpy.asarray(future.result(timeout=50)) == 2).all()
        finally:
            worker.kill()
            worker.wait()
