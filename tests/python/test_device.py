"""Arrays on a device: on the double of the CUDA driver, whose path the build's tests give in PLAIT_CUDA_LIBRARY; on a GPU where it is
not set."""

import json
import os
import pickle

import numpy
import pytest
from support import FAKE_DEVICE, needs_device

import plait

pytestmark = needs_device


@pytest.fixture(autouse=True, params=["large", "small"])
def road(request):
    """Every test with small arrays on the road of large ones, and on their own."""
    if request.param == "large":
        request.getfixturevalue("large")


def host(x):
    return numpy.asarray(x)


def test_trim_gives_pooled_memory_of_the_device_back():
    a = numpy.arange(float(1 << 20))
    x = plait.asarray(a, device="cuda")
    y = x + 1
    assert (host(y) == a + 1).all()
    plait.trim()
    del y
    assert plait.trim() >= a.nbytes
    del x
    assert plait.trim() >= a.nbytes
    assert plait.trim() < a.nbytes
    assert (host(plait.asarray(a, device="cuda") + 1) == a + 1).all()


def test_creation_says_where():
    a = numpy.arange(12.0).reshape(3, 4)
    for made in (
        plait.asarray(a, device="cuda"), plait.array(a).to_device("cuda"), plait.zeros((3, 4), device="cuda"),
        plait.ones(5, device="cuda"), plait.full(5, 2.5, device="cuda"), plait.arange(10, device="cuda"),
        plait.linspace(0, 1, 7, device="cuda"), plait.eye(4, device="cuda"), plait.empty(3, device="cuda"),
        plait.zeros_like(plait.array(a), device="cuda"), plait.asarray([1, 2, 3], device="cuda"),
    ):  # fmt: skip
        assert made.device == "cuda:0"
    assert plait.zeros(3).device == "cpu" and plait.array(a).device == "cpu"
    x = plait.asarray(a, device="cuda")
    assert plait.zeros_like(x).device == "cuda:0"
    assert x.to_device("cuda") is x
    assert (host(x.to_device("cpu")) == a).all() and x.to_device("cpu").flags.writeable


def test_results_are_numpys():
    a = numpy.random.default_rng(0).normal(size=(300, 5))
    x = plait.asarray(a, device="cuda")
    for f in (
        lambda np, v: (v + 1) * v,
        lambda np, v: v.sum(axis=0),
        lambda np, v: np.argmin(v, axis=1),
        lambda np, v: np.linalg.norm(v, axis=1),
        lambda np, v: v.T[::2, ::-1],
        lambda np, v: np.concatenate([v, v], axis=1),
        lambda np, v: np.tril(v),
        lambda np, v: np.where(v > 0, v, 0),
        lambda np, v: v.mean(axis=0),
    ):
        got = f(plait, x)
        assert got.device == "cuda:0"
        numpy.testing.assert_array_equal(host(got), f(numpy, a))
    assert float(x.sum()) == a.sum()
    assert x[3, 2] == a[3, 2]
    assert x.tolist() == a.tolist() and repr(x) == repr(plait.array(a))


def test_scope_takes_numpys_arrays_along():
    a = numpy.arange(6.0)
    with plait.device("cuda") as d:
        assert plait.current_device() == "cuda:0" == str(d)
        x = plait.asarray(a)
        assert (x + a).device == "cuda:0"
        assert plait.random.default_rng(0).normal(size=8).device == "cuda:0"
    assert plait.current_device() == "cpu"
    with plait.device("cuda"), plait.device("cpu"):
        assert plait.zeros(3).device == "cpu"
    assert x.device == "cuda:0"


def test_scope_takes_zero_d_arrays_along():
    before = plait.stats()["copies_to_device"]
    with plait.device("cuda"):
        x = plait.ones(3)
        for v in (plait.array(2.0), plait.asarray(numpy.array(2.0)), plait.asarray(numpy.float64(2)), plait.full((), 2.0)):
            one = plait.reshape(v, -1) + v  # an array of single values alone
            assert one.device == "cuda:0" and one.shape == (1,)
            assert host(one + x).tolist() == [5, 5, 5]
        assert plait.array(2.0).device == "cuda:0" == plait.asarray(2.0, device="cuda").device
        v = plait.array(2.0)
        v += 1
        v[...] *= 2
        assert v.device == "cuda:0" and v == 6
    assert plait.stats()["copies_to_device"] == before  # values are arguments of kernels
    # Single values of either device mix with arrays of the other, which decide.
    there, here = plait.array(2.0).to_device("cuda"), plait.array(3.0)
    assert there.device == "cuda:0" and here.device == "cpu"
    assert (plait.arange(3.0) * there).device == "cpu" and (x * here).device == "cuda:0"
    assert (there * here) == 6 and (plait.arange(3.0) * (there + 1)).tolist() == [0, 3, 6]


def test_jit_returns_what_was_written_to_a_zero_d_array():
    def count(total, values):
        total += values.sum()
        return total * 1

    total = numpy.array(1.0)
    assert plait.jit(count, device="cuda")(total, numpy.arange(5.0)) == 11 == total


def test_default_dtype_goes_along():
    before = plait.stats()["bytes_to_device"]
    with plait.device("cuda"), plait.default_dtype("float32"):
        for made in (
            plait.zeros(4),
            plait.linspace(0, 1, 4),
            plait.asarray([0.5] * 4),
            plait.random.default_rng(0).random(4),
            plait.random.rand(4),
        ):
            assert made.device == "cuda:0" and made.dtype == numpy.float32
            assert host(made * 2).dtype == numpy.float32
    assert plait.stats()["bytes_to_device"] == before + 3 * 16  # rounded before they travel


def test_devices_do_not_mix_but_scalars_do():
    x = plait.arange(4.0, device="cuda")
    with pytest.raises(plait.DeviceError, match="different devices.*to_device"):
        x + plait.arange(4.0)
    # NumPy, which words other mistakes, would copy what it is given.
    for mix in (
        lambda: x.__setitem__(Ellipsis, plait.arange(4.0)),
        lambda: plait.add(x, plait.arange(4.0)),
        lambda: plait.add(x, x, out=plait.empty(4)),
        lambda: x.__iadd__(plait.arange(4.0)),
        lambda: plait.concatenate([x, plait.arange(4.0)]),
        lambda: plait.where(x > 1, x, plait.arange(4.0)),
        lambda: plait.matmul(x, plait.arange(4.0)),
    ):
        with pytest.raises(plait.DeviceMismatchError) as raised:
            mix()
        assert isinstance(raised.value, ValueError) and isinstance(raised.value, plait.DeviceError)
    for scalar in (2, 2.5, numpy.float64(3), plait.array(2.0), plait.arange(3.0).sum()):
        assert host(x * scalar)[1] == float(scalar)
    with pytest.raises(ValueError, match="Device not understood"):
        plait.zeros(3, device="tpu")
    with pytest.raises(plait.DeviceError, match="cuda:9"):
        plait.zeros(3, device="cuda:9")
    with pytest.raises(TypeError):
        plait.array([None, "a"], dtype=object).to_device("cuda")


def test_fallbacks_go_over_and_back():
    a = numpy.random.default_rng(1).normal(size=(6, 6))
    x = plait.asarray(a, device="cuda")
    inverse = plait.linalg.inv(x)
    assert inverse.device == "cuda:0"
    numpy.testing.assert_array_equal(host(inverse), numpy.linalg.inv(a))
    assert host(x[[0, 2]]).tolist() == a[[0, 2]].tolist() and x[[0, 2]].device == "cuda:0"
    # What NumPy writes into an argument arrives.
    x[[1, 3]] = 0
    plait.put(x, [0, 1], [7, 8])
    x.sort(axis=1)
    a[[1, 3]] = 0
    numpy.put(a, [0, 1], [7, 8])
    a.sort(axis=1)
    numpy.testing.assert_array_equal(host(x), a)
    out = plait.empty(6, device="cuda")
    assert plait.cumsum(x[0], out=out) is out
    numpy.testing.assert_array_equal(host(out), numpy.cumsum(a[0]))
    x[x > 1] = -1
    a[a > 1] = -1
    numpy.testing.assert_array_equal(host(x), a)


def test_few_elements_are_written():
    def written(np, x):
        x[0] = -1
        x.T[1] = 7
        x[1:, ::2] = np.float32(0.5)
        x[2][x[2] > 9] = 3
        x[0] += 2
        x.T[...] = x.T * 2
        x[:, 3].fill(4)
        x[np.array([2, 2]), [0, 1]] = 8
        x[1, 1] = 6
        np.add(1.0, 2.0, out=x[1:2, 3])
        np.less(x[0, 0], 0.1, out=x[2, 2:], where=np.array([True, False]))
        np.sqrt(4.0, out=x[:1, 0], where=np.array([True]))
        x[:1] += np.greater(np.array([1, 9], np.uint64), np.int16(7)).sum()
        return x

    a = numpy.arange(12.0).reshape(3, 4)
    with plait.device("cuda"):
        got = written(plait, plait.array(a))
    assert got.device == "cuda:0" and host(got).tolist() == written(numpy, a).tolist()


def test_views_that_numpy_makes_are_views():
    def views(np, x):
        np.rollaxis(x, 1)[0] = -1
        np.rot90(x[:, ::2])[0, 0] = 99
        np.split(x, 2, axis=1)[1][2] = 5
        np.trim_zeros(x[:, 0])[1:] = 3
        np.lib.stride_tricks.as_strided(x, (2, 2), (64, 8))[1] = 12
        x[::-1].flat[[0, 3]] = 44
        x.T.flat[1] = 17
        fixed = np.rot90(np.atleast_3d(x.diagonal()))
        with pytest.raises(ValueError, match="read-only"):
            x.diagonal().flat[0] = 3
        return x, fixed.flags.writeable, np.rollaxis(x[:, ::2], 1).strides

    def flat(np, x):
        x.T.flat = [1, 2, 3]
        return x

    a = numpy.arange(12.0).reshape(3, 4)
    with plait.device("cuda"):
        got, *rest = views(plait, plait.array(a))
        spread = flat(plait, plait.array(a))
    want, *wanted = views(numpy, a.copy())
    assert got.device == "cuda:0" and host(got).tolist() == want.tolist() and rest == wanted
    assert spread.device == "cuda:0" and host(spread).tolist() == flat(numpy, a.copy()).tolist()


def test_an_argument_that_was_not_written_to_hides_no_write_to_another():
    with plait.device("cuda"):
        x = plait.array([True, False, True])
        plait.putmask(x[:], x, plait.array([False, True, False]))
    assert host(x).tolist() == [False, False, False]


def test_arrays_of_dtypes_that_only_numpy_has_stay_on_the_host():
    with plait.device("cuda"):
        swapped = plait.array(plait.arange(3), ">i4")
        assert swapped.device == "cpu" and swapped.tolist() == [0, 1, 2]
        assert swapped.astype("i4").device == "cuda:0"
        records = plait.zeros(3, [("a", "f8"), ("b", "i4")])
        records["a"][1] = 5
        assert records["a"].tolist() == [0, 5, 0]
        assert (plait.array(["1", "2"]).astype("f8") + plait.ones(2)).tolist() == [2, 3]


def test_shared_memory_is_told_exactly():
    x = plait.arange(12.0, device="cuda")
    assert plait.shares_memory(x, x) and plait.shares_memory(x[:3], x[2:])
    assert plait.may_share_memory(x[::2], x[1::2]) and not plait.shares_memory(x[::2], x[1::2])
    assert not plait.shares_memory(x, x + 1) and not plait.shares_memory(x, plait.ones(3))


def test_pickled_arrays_go_where_the_thread_creates_arrays():
    x = plait.arange(5, device="cuda")
    kept = pickle.dumps(x)
    assert pickle.loads(kept).device == "cpu"
    with plait.device("cuda"):
        y = pickle.loads(kept)
    assert y.device == "cuda:0" and host(y).tolist() == [0, 1, 2, 3, 4]


def test_the_host_sees_a_copy():
    x = plait.arange(4.0, device="cuda")
    seen = numpy.asarray(x)
    assert not seen.flags.writeable
    x += 1
    assert seen.tolist() == [0, 1, 2, 3] and host(x).tolist() == [1, 2, 3, 4]
    assert memoryview(x).readonly and bytes(memoryview(x)) == host(x).tobytes()


def test_chains_copy_nothing():
    x = plait.asarray(numpy.ones(1000), device="cuda")
    plait.evaluate(x * 2.0 + 1.0)
    before = plait.stats()
    for _ in range(5):
        x = x * 2.0 + 1.0
        plait.evaluate(x)
    after = plait.stats()
    for count in ("copies_to_device", "copies_to_host", "waits_for_device", "kernels_compiled"):
        assert after[count] == before[count]
    assert after["kernels_on_device"] == before["kernels_on_device"] + 5
    assert float(x[0]) == 63
    assert plait.stats()["bytes_to_host"] == after["bytes_to_host"] + 8


def test_jit_runs_an_unmodified_function():
    def step(points, means):
        labels = numpy.argmin(numpy.linalg.norm(points[:, None] - means, axis=2), axis=1)
        means[0] = points[labels == labels[0]].mean(axis=0)
        return labels

    rng = numpy.random.default_rng(2)
    points, means = rng.normal(size=(500, 3)), rng.normal(size=(4, 3))
    expected_means = means.copy()
    expected = step(points, expected_means)
    before = plait.stats()["kernels_on_device"]
    labels = plait.jit(step, device="cuda")(points, means)
    assert plait.stats()["kernels_on_device"] > before
    assert type(labels) is numpy.ndarray and labels.flags.writeable
    numpy.testing.assert_array_equal(labels, expected)
    numpy.testing.assert_allclose(means, expected_means, rtol=1e-15)


def test_jit_sees_that_arguments_overlap():
    def shift(a, b):
        a += 1
        return b * 1

    data = numpy.arange(10.0)
    expected = numpy.arange(10.0)
    assert plait.jit(shift, device="cuda")(data[:8], data[2:]).tolist() == shift(expected[:8], expected[2:]).tolist()
    assert data.tolist() == expected.tolist()


def test_transfers_are_logged(run_python):
    done = run_python(
        "import numpy, plait\nx = plait.asarray(numpy.ones(100), device='cuda')\nfloat((x + 1).sum())",
        env={"PLAIT_LOG": "transfer"},
    )
    assert "cpu -> cuda:0: 800 bytes" in done.stderr and "cuda:0 -> cpu: 8 bytes" in done.stderr, done.stderr


def test_a_whole_script_by_environment(run_python, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import numpy as np\na = np.arange(5.0)\nprint(a.device, (a * np.ones(5)).sum(), np.zeros(2).device)\n")
    done = run_python(None, "-m", "plait", str(script), env={"PLAIT_DEVICE": "cuda"})
    assert done.stdout.split() == ["cuda:0", "10.0", "cuda:0"], done.stderr


@pytest.mark.grid(4)
@pytest.mark.parametrize("made", ["np.array([1, 2.0])", "np.random.default_rng(0).normal(size=3)", "np.random.rand(3)", "np.ndarray(3)", "np.copy([1, 2])",
                                  "np.loadtxt(['1 2'])", "np.sqrt([1.0])", "np.zeros(2)"])  # fmt: skip
def test_the_first_array_of_a_script_is_there(run_python, made):
    done = run_python(f"import plait as np\nprint({made}.device)", env={"PLAIT_DEVICE": "cuda"})
    assert done.stdout.strip() == "cuda:0", done.stderr


@pytest.mark.parametrize(
    "variable, said",
    [("PLAIT_CUDA_LIBRARY", "no CUDA driver"), ("PLAIT_NVRTC_LIBRARY", "'cuda:0' cannot be used: NVRTC is missing")],
)
def test_what_is_missing_is_named(run_python, variable, said):
    source = (
        "import plait\ntry:\n    plait.zeros(3, device='cuda')\nexcept plait.DeviceError as e:\n    print(e)\nprint(plait.ones(2).sum())"
    )
    done = run_python(source, env={variable: "/nowhere/library.so"})
    assert said in done.stdout and "/nowhere/library.so" in done.stdout and "2.0" in done.stdout, done.stdout + done.stderr


@pytest.mark.skipif(not FAKE_DEVICE, reason="needs the double's failures")
def test_a_failed_kernel_names_its_line(run_python):
    source = """
import ctypes, os, plait
fake = ctypes.CDLL(os.environ["PLAIT_CUDA_LIBRARY"])
x = plait.arange(100.0, device="cuda")
plait.evaluate(x)
fake.fake_cuda_fail(b"kernel", 0, 700)
y = x * 2.0  # line 6
try:
    print(y.tolist())
except plait.DeviceError as e:
    print(e)
print(plait.ones(3).sum())
"""
    done = run_python(source)
    assert "multiply" in done.stdout and "<string>:7" in done.stdout and "3.0" in done.stdout, done.stdout + done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_is_told(run_python):
    source = """
import os, numpy, plait
x = plait.arange(100.0, device="cuda")
pending = x + 1
pid = os.fork()
if pid == 0:
    said = 0
    for use in (lambda: pending.tolist(), lambda: plait.zeros(3, device="cuda").tolist(), lambda: x.to_device("cpu")):
        try:
            use()
        except plait.DeviceError as e:
            said += "forked" in str(e)
    os._exit(said if plait.ones(3).sum() == 3 else 9)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), pending.sum())
"""
    done = run_python(source, env={"PYTHONWARNINGS": "ignore::DeprecationWarning"})
    assert done.stdout.split() == ["3", "5050.0"], done.stdout + done.stderr


# --- memory in common with other libraries


class Stranger:
    """A library with memory on the device that knows __cuda_array_interface__ only."""

    def __init__(self, like, **changes):
        self.__cuda_array_interface__ = {**like.__cuda_array_interface__, **changes}


class Refusing(Stranger):
    """One that refuses to be copied to the host, as CuPy's arrays do."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")


def test_cuda_array_interface_both_ways():
    x = plait.asarray(numpy.arange(12.0).reshape(3, 4), device="cuda")
    d = x.__cuda_array_interface__
    assert d["version"] == 3 and d["shape"] == (3, 4) and d["typestr"] == "<f8" and d["strides"] is None
    assert d["stream"] not in (0, None) and d["data"][1] is False
    assert x.T.__cuda_array_interface__["strides"] == (8, 32)
    y = plait.asarray(Stranger(x))
    assert y.device == "cuda:0" and y.__cuda_array_interface__["data"] == d["data"]
    assert plait.asarray(Refusing(x)).__cuda_array_interface__["data"] == d["data"]
    y[0] = 100  # both sides see writes
    assert host(x)[0].tolist() == [100] * 4
    assert not plait.asarray(Stranger(x, data=(d["data"][0], True))).flags.writeable
    with pytest.raises(ValueError, match="stream 0"):
        plait.asarray(Stranger(x, stream=0))
    assert not hasattr(plait.zeros(3), "__cuda_array_interface__")


def test_memory_that_no_kernel_can_read_is_refused():
    x = plait.zeros(41, dtype="u1", device="cuda")
    at = x.__cuda_array_interface__["data"][0]
    for odd in (
        {"data": (at + 1, False), "shape": (8,), "typestr": "<f4"},
        {"shape": (8,), "strides": (5,), "typestr": "<f4"},
        {"data": (at + 4, False), "shape": (2,), "typestr": "<c16"},
    ):
        with pytest.raises(ValueError, match="not aligned"):
            plait.asarray(Stranger(x, **odd))
    assert (plait.asarray(Stranger(x, data=(at + 4, False), shape=(2,), typestr="<c8")) + 1).tolist() == [1, 1]
    with pytest.raises(plait.DeviceError, match="on no CUDA device"):
        plait.asarray(Stranger(x, data=(numpy.zeros(8).ctypes.data, False), shape=(8,)))
    assert plait.asarray(Stranger(x, data=(0, False), shape=(0,))).tolist() == []
    assert (x + 1).tolist() == [1] * 41  # the device was not lost


def test_jit_takes_arguments_that_are_not_aligned():
    def double(v):
        v *= 2
        return v.sum()

    raw = numpy.arange(33, dtype="u1")
    record = numpy.zeros(6, dtype=[("c", "u1"), ("v", "f4")])
    record["v"] = numpy.arange(6)
    for v in (raw[1:].view("f4"), record["v"]):
        assert not v.flags.aligned
        expected = v * 2
        assert plait.jit(double, device="cuda")(v) == expected.sum()
        assert v.tolist() == expected.tolist()


def test_dlpack_both_ways():
    x = plait.asarray(numpy.arange(12, dtype="f4").reshape(3, 4), device="cuda")[:, 1:]
    assert x.__dlpack_device__() == (2, 0) and plait.zeros(3).__dlpack_device__() == (1, 0)
    y = plait.from_dlpack(x)
    assert y.device == "cuda:0" and y.strides == x.strides and host(y).tolist() == host(x).tolist()
    y *= 2
    assert host(x).tolist() == host(y).tolist() and host(x)[0, 0] == 2
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(x.__dlpack__())
    x.__dlpack__(stream=-1), x.__dlpack__(stream=2)  # capsules nobody takes over are freed
    with pytest.raises(ValueError, match="stream 0"):
        x.__dlpack__(stream=0)
    assert numpy.from_dlpack(x.__dlpack__ and _OnHost(x)).tolist() == host(x).tolist()
    frozen = x.copy()
    frozen.flags.writeable = False
    assert not plait.from_dlpack(frozen).flags.writeable
    with pytest.raises(BufferError):
        frozen.__dlpack__()
    assert plait.from_dlpack(x, device="cpu").device == "cpu"


class _OnHost:
    """Asks for the copy on the host that DLPack 1.0 offers."""

    def __init__(self, x):
        self.x = x

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        return self.x.__dlpack__(**{**options, "stream": None, "dl_device": (1, 0)})


def test_a_trace_has_copies_and_regions(tmp_path):
    with plait.trace(tmp_path / "trace.json"):
        with plait.device("cuda"):
            y = plait.sqrt(plait.asarray(numpy.arange(100_000.0)) * 2 + 1)
            total = float(y.sum())
    assert total > 0
    events = [e for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if e["ph"] == "X"]
    copies = {(e["name"], e["args"]["bytes"]) for e in events if e["cat"] == "transfer"}
    assert ("cpu -> cuda:0", 800_000) in copies and ("cuda:0 -> cpu", 8) in copies
    assert any(e["cat"] == "region" and "sum" in e["name"] for e in events) and any(e["cat"] == "evaluation" for e in events)


ASKS = """
import numpy, plait

def part(x):
    return numpy.empty(3)

try:
    plait.zeros(2, device="nowhere")
except ValueError:
    plait.array_api.__array_namespace_info__().devices()
try:
    plait.export(part, (numpy.ones(3),), "no", dynamic=[0], targets="host")
except plait.Error as e:
    print("numpy.empty(3)" in str(e))
"""


def test_a_name_that_is_none_opens_no_device(run_python, tmp_path):
    """Where one is in use, the process leaves the host's short ways, that of this message among them."""
    (tmp_path / "asks.py").write_text(ASKS)
    p = run_python(None, str(tmp_path / "asks.py"))
    assert p.returncode == 0 and p.stdout == "True\n", p.stdout + p.stderr
