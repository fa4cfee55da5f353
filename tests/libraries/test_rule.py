"""The tables of docs/libraries.md: each cell says what happens, and it does; each name that a table lists is called by the tests."""

import importlib
import pathlib
import re
import sys
import types

import numpy
import pytest

import plait

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from pages import ROOT

PAGE = (ROOT / "docs" / "libraries.md").read_text()
HERE = pathlib.Path(__file__).parent


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)[1]


def rows(title):
    """{first cell: the others} of the tables of a section, without their heads."""
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in section(title).splitlines() if line.startswith("|")]
    heads = [i for i, row in enumerate(cells) if set("".join(row)) <= set("-: ")]
    return {row[0]: row[1:] for i, row in enumerate(cells) if i not in heads and i + 1 not in heads}


@plait.jit
def double(x):
    return x * 2


class _Lent:
    """Has DLPack, and nothing else: no module of its own, and no arithmetic."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **named):
        return self.x.__dlpack__(**named)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __array__(self, dtype=None, copy=None):
        return self.x


class _Made(_Lent):
    """The same of a module with from_dlpack()."""

    __module__ = "a_library"


def anything(kind):
    """An array of a library that Plait does not know."""
    sys.modules.setdefault("a_library", types.SimpleNamespace(from_dlpack=lambda x: _Made(numpy.from_dlpack(x))))
    return kind(numpy.arange(3.0))


MAKERS = {
    "torch, on the CPU": ("torch", lambda m: m.arange(3.0, dtype=m.float64)),
    "JAX": ("jax", lambda m: m.config.update("jax_enable_x64", True) or m.numpy.arange(3.0)),
    "anything with DLPack": ("numpy", lambda m: anything(_Made)),
    "xarray": ("xarray", lambda m: m.DataArray(numpy.arange(3.0), dims="t")),
    "pandas": ("pandas", lambda m: m.Series(numpy.arange(3.0))),
    "polars": ("polars", lambda m: m.Series("b", numpy.arange(3.0))),
}
# What the page says of these is of the protocols: tests/python/test_foreign_arrays.py has it with a stand-in.
DEVICES = {"torch, on a GPU", "CuPy"}


def is_a(module, name):
    def check(make, b):
        made = make()
        assert isinstance(made, getattr(importlib.import_module(module), name))
        assert numpy.asarray(made).tolist() == [0, 2, 4]

    return check


def takes_numpys(make, b):
    """`a + b` and `b + a` do what they do for NumPy's a."""
    a = numpy.arange(3.0)
    assert outcome(make) == outcome((lambda: a + b) if make.__name__ == "left" else (lambda: b + a))


def outcome(make):
    """The class of what it makes or raises; Plait's arrays count as NumPy's."""
    try:
        made = make()
        return numpy.ndarray if isinstance(made, numpy.ndarray) else type(made)
    except Exception as e:
        return type(e)


def is_refused(make, b):
    with pytest.raises(TypeError):
        make()
    assert (b + plait.arange(3.0).to_numpy()).to_list() == [0, 2, 4]


def by_from_dlpack(make, b):
    assert type(make()) is _Made and make().x.tolist() == [0, 2, 4]
    assert type(double(anything(_Lent))) is numpy.ndarray


def by_apply_ufunc(make, b):
    made = importlib.import_module("xarray").apply_ufunc(double, b)
    assert type(made) is type(b) and made.values.tolist() == [0, 2, 4]


def by_to_numpy(make, b):
    made = double(b.to_numpy())
    assert type(made) is numpy.ndarray and made.tolist() == [0, 2, 4]


def shares(writeable):
    def check(make, b):
        made = make()
        assert type(made) is numpy.ndarray and made.flags.writeable == writeable and numpy.shares_memory(made, make())

    return check


def its_array(make, b):
    assert numpy.shares_memory(make(), b.to_numpy())


MEANS = {
    "a tensor over the result's memory": is_a("torch", "Tensor"),
    "tensor": is_a("torch", "Tensor"),
    "a JAX array": is_a("jax", "Array"),
    "JAX array": is_a("jax", "Array"),
    "what its module's `from_dlpack` makes; without one NumPy's": by_from_dlpack,
    "as it takes NumPy's": takes_numpys,
    "use `xarray.apply_ufunc`": by_apply_ufunc,
    "give it `b.to_numpy()`": by_to_numpy,
    "`DataArray`": is_a("xarray", "DataArray"),
    "`Series` of pandas": is_a("pandas", "Series"),
    "`Series` of polars": is_a("polars", "Series"),
    "`TypeError`: `b + a.to_numpy()`": is_refused,
    "shares memory": shares(writeable=True),
    "shares memory, read-only": shares(writeable=False),
    "as it says": lambda make, b: numpy.testing.assert_array_equal(make(), b.x),
    "its array": its_array,
}
RULE = rows("One rule for arrays of two libraries")


def test_every_row_of_the_rule_is_tested():
    assert RULE.keys() == {*MAKERS, *DEVICES, "einops, opt_einsum"}


@pytest.mark.parametrize("library", MAKERS)
def test_rule(library):
    module, make = MAKERS[library]
    b = make(pytest.importorskip(module))
    a = plait.arange(3.0)

    def left():
        return a + b

    def right():
        return b + a

    for cell, call in zip(RULE[library], (lambda: double(b), left, right, lambda: numpy.asarray(b)), strict=True):
        MEANS[cell if cell in MEANS else f"{cell} of {module}"](call, b)


EINSTEIN = {
    "einops": [
        lambda m, x: m.rearrange(x, "b h w -> h (b w)"),
        lambda m, x: m.reduce(x, "b (h k) w -> b h w", "max", k=2),
        lambda m, x: m.repeat(x, "b h w -> b h w c", c=2),
        lambda m, x: m.einsum(x, x, "b i j, b k j -> b i k"),
        lambda m, x: m.pack([x, x], "* h w")[0],
    ],
    "opt_einsum": [
        lambda m, x: m.contract("bij,bkj->ik", x, x),
        lambda m, x: m.contract("bij,bkj,bkl->il", x, x, x),
        lambda m, x: m.contract_expression("bij,bij->b", x.shape, x.shape)(x, x),
    ],
}


@pytest.mark.parametrize("library, call", [(name, call) for name, calls in EINSTEIN.items() for call in calls])
def test_einstein_notation(library, call):
    module = pytest.importorskip(library)
    assert RULE["einops, opt_einsum"] == ["Plait's arrays in, Plait's out", "", "", ""]
    x = numpy.arange(24.0).reshape(2, 4, 3)
    theirs = call(module, x)
    for ours, kind in ((call(module, plait.asarray(x)), plait.ndarray), (plait.jit(call)(module, x), numpy.ndarray)):
        assert type(ours) is kind and ours.dtype == theirs.dtype and ours.shape == theirs.shape
        numpy.testing.assert_allclose(numpy.asarray(ours), theirs, rtol=1e-12)


@pytest.mark.parametrize("title, file", [("scikit-learn", "test_sklearn.py"), ("SciPy", "test_scipy.py")])
def test_what_the_tables_name_is_called(title, file):
    listed = [
        name.partition("(")[0].rpartition(".")[2] for row in rows(title).items() for name in re.findall(r"`([^`]+)`", f"{row[0]} {row[1]}")
    ]
    called = (HERE / file).read_text()
    assert len(listed) > 20 and not [name for name in listed if not re.search(rf"\b{re.escape(name)}\b", called)]
