"""Which of NumPy's functions are native: found by calling them, and written down."""

import pathlib
import re

import numpy
import pytest

import plait
from plait import _coverage

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "coverage.md"


@pytest.fixture(scope="module")
def found():
    return plait.coverage()


def test_every_public_function_is_called(found):
    assert set(_coverage.functions()) <= set(found)
    assert set(found.values()) <= {_coverage.REGION, _coverage.ENGINE, _coverage.NUMPYS, _coverage.FALLBACK}


def test_counts_do_not_fall(found):
    _, native, fused, _ = _coverage.counts(found)
    gone = sum(not hasattr(numpy, name) for name in listed(PAGE.read_text(encoding="utf-8"))[("numpy", "native")])
    assert native + gone >= 355 and fused + gone >= 215


def test_what_is_known_of_some(found):
    assert found["sqrt"] == found["sum"] == found["where"] == _coverage.REGION
    assert found["sort"] == found["cumsum"] == _coverage.ENGINE
    assert found["loadtxt"] == _coverage.FALLBACK


def listed(page):
    """The names on the page, by module and by what is said of them: in a region or not is the planner's choice, by what the machine costs."""
    module, names = None, {}
    for line in page.splitlines():
        if line.startswith("## "):
            module = line[3:]
        elif line.startswith("**"):
            kind = line.split("**")[1]
            native = kind in (_coverage._HEADINGS[_coverage.REGION], _coverage._HEADINGS[_coverage.ENGINE])
            names.setdefault((module, "native" if native else kind), set()).update(re.findall("`([^`]+)`", line))
    return names


def test_page_is_current(found):
    written = listed(PAGE.read_text(encoding="utf-8"))
    here = {  # newer NumPys lack some of the names
        (module, kind): {n for n in names if f"{module}.{n}".partition(".")[2] in found} for (module, kind), names in written.items()
    }
    assert here == listed(_coverage.page(found)), "run scripts/coverage.py"


def test_settings_are_as_before(found):
    before = numpy.get_printoptions(), numpy.geterr(), numpy.getbufsize(), plait.config.eager_limit
    _coverage.coverage()
    assert before == (numpy.get_printoptions(), numpy.geterr(), numpy.getbufsize(), plait.config.eager_limit)
