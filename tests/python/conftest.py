import gc
import itertools
import os
import pathlib
import signal
import sys
import zlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("PLAIT_WARN", "off")  # how long tests take is nobody's concern
try:
    import plait
except ImportError:  # a build tree puts the module beside the package
    sys.path.insert(0, str(ROOT / "numpy_compat"))
    import plait

from plait import _plait

# The double of the driver goes with that of cuBLASLt beside it: a real one would ask for a real driver.
if os.environ.get("PLAIT_CUDA_LIBRARY"):
    double = os.path.join(os.path.dirname(os.environ["PLAIT_CUDA_LIBRARY"]), "libfake_cublaslt.so")
    os.environ.setdefault("PLAIT_CUBLASLT_LIBRARY", double)

# A shell that starts the tests in the background has them ignore Ctrl-C, which some tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Scripts that tests start find the same package.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [os.path.dirname(os.path.dirname(plait.__file__)), *filter(None, [os.environ.get("PYTHONPATH")])]
)


DEVICES = ("test_device", "test_foreign_arrays", "test_explain_cuda", "test_gpu_check", "test_numpys_words", "test_attention_spellings", "test_products_written")


def pytest_configure(config):
    config.addinivalue_line("markers", "grid(n): of its many cases one in n runs, the same ones everywhere; all of them with PLAIT_THOROUGH")


def left_out(item):
    grid = None if os.environ.get("PLAIT_THOROUGH") else item.get_closest_marker("grid")
    return grid is not None and zlib.crc32(item.name.encode()) % grid.args[0] != 0


def pytest_collection_modifyitems(config, items):
    """Last come tests of devices: where one is in use, the process leaves the host's short ways."""
    items.sort(key=lambda item: item.path.name.startswith(DEVICES))
    named = any("::" in arg for arg in config.args)
    if not named and (out := [*filter(left_out, items)]):
        config.hook.pytest_deselected(items=out)
        gone = {*map(id, out)}
        items[:] = [item for item in items if id(item) not in gone]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays: neither collecting it nor a gc.collect in tests, a third of a second each time, need walk through it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


EACH = 200  # tests


def pytest_runtest_logfinish(count=[0]):
    """Nor in what is there of the tests that have run: their reports, and what is kept of them."""
    count[0] += 1
    if count[0] % EACH == 0:
        gc.collect()
        gc.freeze()


@pytest.fixture(autouse=True)
def lazy():
    """pytest runs tests inside warnings.catch_warnings, where Plait would evaluate every operation at once."""
    _plait.set_warnings_caught(False)
    yield
    _plait.set_warnings_caught(False)


@pytest.fixture
def lazy_scalars():
    """Full reductions stay pending, as they do inside plait.jit."""
    before = _plait.keep_lazy_scalars(True)
    yield
    _plait.keep_lazy_scalars(before)


@pytest.fixture
def large():
    """Small arrays take the road of large ones."""
    before = plait.config.eager_limit, plait.config.plan
    plait.config.eager_limit, plait.config.plan = 0, "always"
    yield
    plait.config.eager_limit, plait.config.plan = before


@pytest.fixture
def run_python():
    """Runs source text in a fresh interpreter with the package importable; returns the completed process."""
    import subprocess

    def run(source, *args, env=None, timeout=120, **options):
        return subprocess.run(
            [sys.executable, *args, "-c", source] if source is not None else [sys.executable, *args],
            capture_output=True, text=True, timeout=timeout, env={**os.environ, **(env or {})}, **options,
            # A job in the background of a script ignores Ctrl-C, and so would what it starts.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip

    return run


@pytest.fixture
def from_look(monkeypatch):
    """from_look(n): Python's loops go over to machine code where somebody asks for the n-th time whether it is ready."""
    from plait._python_loops import codes, going_over

    def begin(n):
        looks = itertools.count(1)
        monkeypatch.setattr(going_over, "WORTH", 0.0)
        monkeypatch.setattr(codes.Code, "ready", property(lambda code: next(looks) >= n and code.usable and (code.procedure.compile() or True)))

    return begin


@pytest.fixture
def at_once(from_look):
    """Python's loops go over to machine code where they begin."""
    from_look(1)
