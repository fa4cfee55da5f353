"""Plait's class beside NumPy's own arrays: as the class of a view, and its methods asked of the class."""

import numpy
import plait
import pytest


class Users(numpy.ndarray):
    pass


def numpys_arrays(path):
    whole = numpy.arange(6.0)
    mapped = numpy.memmap(path, "f8", "w+", shape=6)
    mapped[:] = whole
    return {
        "plain": whole.copy(), "memmap": mapped, "masked": numpy.ma.array(whole.copy(), mask=[0, 1, 0, 0, 0, 0]), "matrix": numpy.matrix(whole),
        "record": numpy.rec.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")]), "user": whole.copy().view(Users),
        "column": numpy.arange(12.0).reshape(6, 2)[:, 1], "text": numpy.char.array(["a", "b"]),
    }  # fmt: skip


KINDS = "plain", "memmap", "masked", "matrix", "record", "user", "column", "text"
VIEWS = {
    "given": lambda np, x: x.view(np.ndarray), "by name": lambda np, x: x.view(type=np.ndarray), "of the class": lambda np, x: np.ndarray.view(x, np.ndarray),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", VIEWS)
@pytest.mark.parametrize("jitted", [False, True])
def test_views_as_plaits_class(tmp_path, kind, way, jitted):
    x = numpys_arrays(tmp_path / "file")[kind]
    view = plait.jit(lambda x: VIEWS[way](numpy, x)) if jitted else lambda x: VIEWS[way](plait, x)
    want, got = VIEWS[way](numpy, x), view(x)
    assert type(got) is plait.ndarray or (jitted and type(got) is numpy.ndarray)
    assert got.dtype == want.dtype and got.shape == want.shape and got.strides == want.strides and got.tolist() == want.tolist()
    if x.flags.writeable:
        got[...] = got[..., ::-1].copy() if got.ndim else got
        assert want.tolist() == numpy.asarray(got).tolist(), "the memory is x's"


def test_views_as_a_class_of_the_users():
    class Made(plait.ndarray):
        def __array_finalize__(self, obj):
            self.came_from = type(obj)

    x = numpy.arange(4)
    made = x.view(Made)
    x[0] = 9
    assert type(made) is Made and made[0] == 9 and made.came_from is numpy.ndarray
    made = x.view("i4", Made)
    assert type(made) is Made and made.dtype == "i4" and made.size == 8
    assert type(x.view(Users)) is Users and type(x.view()) is numpy.ndarray and x.view("u8").dtype == "u8"
    with pytest.raises(TypeError):
        x.view(int, plait.ndarray, 3)
    with pytest.raises(ValueError):
        x[:3].view("c16", plait.ndarray)


METHODS = {
    "sum": (), "mean": (), "std": (), "max": (), "argmin": (), "cumsum": (), "copy": (), "astype": ("f4",), "reshape": (3, 2), "ravel": (), "tolist": (),
    "transpose": (), "take": ([1, 2],), "dot": (numpy.arange(6.0),), "item": (3,), "clip": (1, 3), "sort": (), "fill": (2,), "__add__": (1,),
    "__getitem__": (slice(2),), "__len__": (), "__repr__": (),
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_the_class_take_numpys_arrays(name):
    results = []
    for np in numpy, plait:
        for x in numpy.array([3.0, 1, 2, 5, 4, 0]), numpy.array([3.0, 1, 2, 5, 4, 0]).view(Users):
            made = getattr(np.ndarray, name)(x, *METHODS[name])
            results.append((type(made), numpy.asarray(made).tolist(), x.tolist()))
    assert results[:2] == results[2:]
    ours = plait.array([3.0, 1, 2, 5, 4, 0])
    assert numpy.asarray(getattr(plait.ndarray, name)(ours, *METHODS[name])).tolist() == results[0][1] or name == "__repr__"


def test_methods_of_the_class_are_methods():
    class Made(plait.ndarray):
        total = plait.ndarray.sum

    assert plait.ndarray.sum is plait.ndarray.sum is Made.sum and plait.ndarray.sum.__name__ == "sum"
    assert plait.arange(4).view(Made).total() == 6 and list(map(plait.ndarray.sum, [plait.ones(2), numpy.ones(3)])) == [2, 3]
    with pytest.raises(TypeError):
        plait.ndarray.sum([1, 2])
