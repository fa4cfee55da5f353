"""What plain arrays, ufuncs and functions write is read by NumPy alone, and by a process that has Plait."""

import copy
import pickle
import pickletools
import subprocess
import sys

import numpy
import plait
import pytest

ARRAYS = {
    "vector": lambda np: np.arange(6.0), "strided": lambda np: np.arange(6)[::2], "fortran": lambda np: np.arange(6).reshape(2, 3).T,
    "pending": lambda np: np.sin(np.arange(6.0)) * 2, "text": lambda np: np.array(["a", "bc"]), "record": lambda np: np.zeros(2, [("a", "f8")]),
    "scalar": lambda np: np.array(3), "empty": lambda np: np.zeros((0, 3), "f4"), "dates": lambda np: np.array(["2020-01-01"], "M8[D]"),
    "objects": lambda np: np.array([np.arange(2), None, "x"], object),
}  # fmt: skip
FUNCTIONS = "add sin divmod matmul mean sum where zeros concatenate sort unique einsum array_repr linspace linalg.norm fft.fft linalg.svd".split()


def names(data):
    """The modules that a pickle names."""
    texts = [arg for _, arg, _ in pickletools.genops(data) if isinstance(arg, str)]
    return {t.split(" ")[0].split(".")[0] for t in texts}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_numpys(name, protocol):
    x = ARRAYS[name](plait)
    data = pickle.dumps(x, protocol)
    assert data == pickle.dumps(ARRAYS[name](numpy), protocol)
    made = pickle.loads(data)
    assert type(made) is numpy.ndarray and made.dtype == x.dtype and made.shape == x.shape
    assert type(copy.copy(x)) is type(copy.deepcopy(x)) is plait.ndarray


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_numpys(name):
    ours, theirs = plait, numpy
    for part in name.split("."):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        data = pickle.dumps(ours, protocol)
        assert "plait" not in names(data) and pickle.loads(data) is theirs
    assert copy.copy(ours) is copy.deepcopy(ours) is copy.deepcopy([ours])[0] is ours


def test_read_without_plait(tmp_path):
    script = tmp_path / "writes.py"
    script.write_text(
        "import pickle, functools, sys\nimport numpy as np\n"
        "model = {'w': np.linspace(0, 1, 5), 'f': np.tanh, 'g': functools.partial(np.mean, axis=0), 'o': np.array([np.ones(2), None], object)}\n"
        "pickle.dump(model, open(sys.argv[1] + '/model', 'wb'))\nnp.save(sys.argv[1] + '/objects.npy', model['o'])\n"
    )
    subprocess.run([sys.executable, "-m", "plait", script, tmp_path], check=True)
    code = (
        "import sys; sys.modules['plait'] = None\nimport pickle, numpy\nm = pickle.load(open(sys.argv[1] + '/model', 'rb'))\n"
        "o = numpy.load(sys.argv[1] + '/objects.npy', allow_pickle=True)\n"
        "print(m['w'].tolist(), m['f'] is numpy.tanh, m['g'](numpy.eye(2)).tolist(), m['o'][0].tolist(), o[0].tolist())"
    )
    out = subprocess.run([sys.executable, "-c", code, tmp_path], check=True, capture_output=True, text=True).stdout
    assert out.strip() == "[0.0, 0.25, 0.5, 0.75, 1.0] True [0.5, 0.5] [1.0, 1.0] [1.0, 1.0]"


def test_what_only_plait_has_is_plaits():
    class Made(plait.ndarray):
        pass

    globals()["Made"] = Made
    Made.__qualname__ = "Made"
    x = plait.arange(3).view(Made)
    x.name = "a"
    again = pickle.loads(pickle.dumps(x))
    assert type(again) is Made and again.name == "a" and again.tolist() == [0, 1, 2]
    restore = pickle.loads(pickle.dumps(plait.arange(3).view(Made).__reduce__()[0]))  # and what older versions wrote
    assert type(restore(plait.ndarray, numpy.arange(3), None)) is plait.ndarray
