"""The programs of docs/libraries.md and docs/dask.md print what the page says, where the library of the section is installed."""

import importlib.util
import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from pages import ROOT, blocks, run

BLOCKS = blocks(ROOT / "docs" / "libraries.md")
MODULES = {"scikit-learn": "sklearn", "SciPy": "scipy", "Dask": "dask.array", "JAX": "jax"}  # of the sections that are not called after theirs


def installed(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("block", blocks(ROOT / "docs" / "dask.md"), ids=lambda b: b.title)
def test_dask(block, tmp_path):
    if not installed("dask.array") or not installed("distributed"):
        pytest.skip("Dask is not installed")
    assert run(block, tmp_path) == block.printed


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: b.title)
def test_program(block, tmp_path):
    if not installed(MODULES.get(block.title, block.title)):
        pytest.skip(f"{block.title} is not installed")
    assert block.printed is not None
    assert run(block, tmp_path) == block.printed
