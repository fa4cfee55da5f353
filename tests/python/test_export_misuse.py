"""Calls of exported programs that recording took no account of, files that are none, and where an export fails."""

import os
import pickle

import numpy as np
import plait
import pytest


def moved(a, b):
    a += 2 * b
    return b.sum()


def twice(a, b):
    return a[::-1] + b


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    x = np.ones(8)
    for fn in (moved, twice):
        plait.export(fn, (x, x), folder / fn.__name__, dynamic=[0], targets="host")
    return {fn: plait.load(folder / fn.__name__) for fn in (moved, twice)}


@pytest.mark.parametrize("ours", [False, True])
def test_arguments_that_are_written_share_no_memory(programs, ours):
    c = np.arange(40.0)
    c = plait.array(c) if ours else c
    before = np.array(c)
    for a, b in [(c, c), (c[:20], c[10:30]), (c[::-1], c), (c[:20], c[19:39]), (c[:20:2], c[4:14])]:
        with pytest.raises(plait.Error, match="arguments 'a' and 'b' share memory, and it writes to 'a'"):
            programs[moved](a, b)
        assert np.array_equal(c, before)
        assert np.array_equal(programs[twice](a, b), np.array(a)[::-1] + np.array(b))  # these are read
    expected = np.array(c)
    for a, b in [(c[::2], c[1::2]), (c[:20], c[20:])]:  # side by side
        theirs = expected[::2], expected[1::2]
        if a.strides == (8,):
            theirs = expected[:20], expected[20:]
        assert programs[moved](a, b) == moved(*theirs)
        assert np.array_equal(c, expected)


def test_an_argument_that_is_written_has_an_element_a_place(programs):
    c = np.ones(8)
    with pytest.raises(plait.Error, match="elements of argument 'a' share memory"):
        programs[moved](np.lib.stride_tricks.as_strided(c, (8,), (0,)), np.ones(8))
    c.flags.writeable = False
    with pytest.raises(plait.Error, match="read-only"):
        programs[moved](c, np.ones(8))
    assert c.tolist() == [1] * 8


def test_arrays_that_are_not_aligned(programs):
    a, b = (np.frombuffer(bytearray(8 * 8 + 1), np.uint8)[1:].view(np.float64) for _ in "ab")
    a[:], b[:] = np.arange(8), 2
    assert not a.flags.aligned
    assert programs[moved](a, b) == 16
    assert a.tolist() == [n + 4.0 for n in range(8)]
    assert programs[twice](a, b).tolist() == [n + 6.0 for n in range(8)][::-1]


def test_arrays_of_other_classes_are_refused(programs):
    masked = np.ma.masked_equal(np.arange(8.0), 3)
    with pytest.raises(TypeError, match="'b' has to be an array, not MaskedArray"):
        programs[twice](np.ones(8), masked)


def junk(folder):
    plait.export(twice, (np.ones(3), np.ones(3)), folder / "p", targets="host")
    whole = (folder / "p").read_bytes()
    return {
        "empty": (b"", "it is empty"),
        "cut": (whole[:100], "it is damaged"),
        "cut in its name": (whole[:5], "it is no exported program"),
        "cut in its header": (whole[:10], "it is no exported program"),
        "damaged at first": (b"q" + whole[1:], "it is neither a program of plait.export's nor a file of NumPy's, or it is damaged"),
        "text": (b"x,y\n1,2\n", "neither a program"),
        "a number": (b"7", "neither a program"),
    }


def test_files_that_are_no_programs(tmp_path):
    for name, (data, why) in junk(tmp_path).items():
        file = tmp_path / name
        file.write_bytes(data)
        with pytest.raises(plait.Error, match=why) as e:
            plait.load(file)
        assert str(file) in str(e.value)
        assert isinstance(e.value, EOFError) == (not data)  # as numpy.load's is
    for data in (b"PK\x03\x04 a cut archive", b"\x93NUMPY\x01\x00 a cut array"):
        file.write_bytes(data)
        with pytest.raises(Exception) as ours:
            plait.load(file)
        with pytest.raises(type(ours.value)) as numpys:
            np.load(file)
        assert str(ours.value) == str(numpys.value) and any(str(file) in note for note in ours.value.__notes__)
    with pytest.raises(plait.Error, match="it is a directory") as e:
        plait.load(tmp_path)
    assert isinstance(e.value, IsADirectoryError)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(plait.Error, match="it is no regular file"):
        plait.load(tmp_path / "pipe")


def test_files_that_numpy_reads_are_numpys(tmp_path):
    np.savez(tmp_path / "x.npz", x=np.arange(3))
    assert plait.load(tmp_path / "x.npz")["x"].tolist() == [0, 1, 2]
    for protocol in (0, 2, 5):
        (tmp_path / "p").write_bytes(pickle.dumps([1, 2], protocol))
        with pytest.raises(ValueError, match="allow_pickle") as e:
            plait.load(tmp_path / "p")
        assert not isinstance(e.value, plait.Error)
        assert plait.load(tmp_path / "p", allow_pickle=True) == [1, 2]
    (tmp_path / "p").write_bytes(b"x,y\n")
    with pytest.raises(pickle.UnpicklingError):
        plait.load(tmp_path / "p", allow_pickle=True)


def asks(x):
    y = x * 2
    if y.sum() > 0:
        return y
    return x


def draws(x):
    return x + np.random.default_rng(0).normal(size=x.shape)


def transforms(x):
    return x - np.fft.fft(x).real


def half(x):
    y = x + 1
    return y[: len(x) // 2].sum()


def helped(x):
    return asks(x) + 1


def part(x):
    return np.empty(3)


PLACES = [
    (asks, 3, "y.sum() > 0"),
    (draws, 2, "np.random.default_rng(0)"),
    (transforms, 2, "np.fft.fft(x)"),
    (half, 3, "y[:len(x) // 2]"),
    (part, 2, "np.empty(3)"),
    (helped, asks.__code__.co_firstlineno - helped.__code__.co_firstlineno + 3, "y.sum() > 0"),
]


@pytest.mark.parametrize("fn, line, operation", PLACES, ids=lambda x: getattr(x, "__name__", None))
def test_what_cannot_be_exported_says_where(tmp_path, fn, line, operation):
    with pytest.raises(plait.Error) as e:
        plait.export(fn, (np.ones(30),), tmp_path / "p", dynamic=[0], targets="host")
    where = f"{os.path.basename(__file__)}:{fn.__code__.co_firstlineno + line - 1}: "
    assert where in str(e.value) and operation in str(e.value).split(where)[1], str(e.value)


def test_what_numpy_computes_is_named(tmp_path):
    with pytest.raises(plait.Error, match=r"transforms cannot be exported: NumPy computes fft\.fft \("):
        plait.export(transforms, (np.ones(30),), tmp_path / "p", targets="host")


def test_a_program_pickles(tmp_path):
    x = np.arange(5.0)
    plait.export(twice, (x, x), tmp_path / "p", targets="host")
    program = plait.load(tmp_path / "p")
    data = pickle.dumps(program)
    (tmp_path / "p").unlink()
    again = pickle.loads(data)
    assert again.manifest == program.manifest and again(x, x).tolist() == twice(x, x).tolist()
    assert pickle.loads(pickle.dumps(again))(x, x).tolist() == twice(x, x).tolist()  # which no file holds
    with pytest.raises(plait.Error, match="it cannot be read again, so that the program cannot be pickled"):
        pickle.dumps(program)
    plait.export(twice, (x, x), tmp_path / "p", targets="host")
    program = plait.load(tmp_path / "p")
    plait.export(moved, (x, x), tmp_path / "p", targets="host")
    with pytest.raises(plait.Error, match="another file than when it was loaded"):
        pickle.dumps(program)
