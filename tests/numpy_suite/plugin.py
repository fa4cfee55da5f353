"""A pytest plugin for one process of run.py: `import numpy` in NumPy's test files imports plait, and each test's outcome is recorded.

PLAIT_SUITE_MODULE: "plait", or "numpy" for NumPy against itself. PLAIT_SUITE_RECORD: the file that outcomes are appended to, a line of
JSON each: a test's id when it starts, and then its outcome, so that the test that ended the process is known. PLAIT_SUITE_TESTS: a file
with patterns of the tests that are to run (without it all of them); PLAIT_SUITE_DONE: a file with the ids of those that are not.
"""

import json
import os
import pathlib
import re

import numpy
import pytest

NUMPY = pathlib.Path(numpy.__file__).resolve().parent


def _is_test(name, file):
    """True for an import of NumPy by one of its test files, whose own helpers stay as they are."""
    return bool(file) and ".tests" not in name and "/tests/" in file and pathlib.Path(file).resolve().is_relative_to(NUMPY)


tested = numpy
if os.environ["PLAIT_SUITE_MODULE"] == "plait":
    import plait as tested  # before the hook, so that its own imports stay NumPy's
    from plait import _runner

    _runner.install(_is_test)

    # A helper in C that takes what it is given for an array without asking (a list ends NumPy's process, too) gets one.
    from numpy._core import _multiarray_tests

    _incref_elide = _multiarray_tests.incref_elide
    _multiarray_tests.incref_elide = lambda a: _incref_elide(numpy.asarray(a))


def name_of(item):
    path, _, rest = item.nodeid.partition("::")
    return f"{pathlib.Path(item.path).resolve().relative_to(NUMPY)}::{rest}" if rest else path


def _read(variable):
    path = os.environ.get(variable)
    return path and set(pathlib.Path(path).read_text().split("\n"))


def matcher(patterns):
    """Whether one of the patterns, in which * stands for anything, is an id. Equal ids are numbered: they are listed as one."""
    exact = {p for p in patterns if "*" not in p}
    others = re.compile("|".join(re.escape(p).replace(r"\*", ".*") for p in patterns if "*" in p) or "(?!)")
    return lambda name: name.partition("#")[0] in exact or name in exact or bool(others.fullmatch(name))


class Recorder:
    def __init__(self, path):
        self.file = open(path, "a")
        self.outcome = self.reason = None

    def write(self, *entry):
        json.dump(entry, self.file)
        self.file.write("\n")
        self.file.flush()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        wanted, done = _read("PLAIT_SUITE_TESTS"), _read("PLAIT_SUITE_DONE") or ()
        seen = {}
        for item in items:
            assert getattr(item.module, "np", tested) is tested, f"{item.path} has another NumPy than {tested.__name__}"
            name = name_of(item)
            seen[name] = seen.get(name, 0) + 1
            item.suite_name = name if seen[name] == 1 else f"{name}#{seen[name]}"  # NumPy's ids are not all different
        wants = matcher(wanted) if wanted else lambda name: True
        items[:] = [i for i in items if i.suite_name not in done and wants(i.suite_name)]
        if not done:
            self.write("collected", [item.suite_name for item in items])

    def pytest_collectreport(self, report):
        if report.failed:
            self.write("broken", report.nodeid, _last_line(report.longrepr))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.outcome, self.reason = "passed", ""
        self.write("start", item.suite_name)
        result = yield
        self.write("end", item.suite_name, self.outcome, self.reason)
        return result

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.outcome, self.reason = "failed", _last_line(report.longrepr)
        elif report.skipped and self.outcome == "passed":
            self.outcome = "xfailed" if hasattr(report, "wasxfail") else "skipped"


def _last_line(longrepr):
    crash = getattr(longrepr, "reprcrash", None)
    text = crash.message if crash else str(longrepr).strip()
    where = f" ({pathlib.Path(crash.path).name}:{crash.lineno})" if crash else ""
    lines = text.splitlines() or [""]
    return (" | ".join(line.strip() for line in (lines[:4] if crash else lines[-2:])) + where)[:400]


def pytest_configure(config):
    config.pluginmanager.register(Recorder(os.environ["PLAIT_SUITE_RECORD"]), "plait-suite")
