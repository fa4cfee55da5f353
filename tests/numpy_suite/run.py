#!/usr/bin/env python3
"""NumPy's own tests, as they are installed with NumPy, on Plait: `import numpy` in a test file imports plait.

    python tests/numpy_suite/run.py                               # everything, 2 processes
    python tests/numpy_suite/run.py --part ci                     # what CI runs
    python tests/numpy_suite/run.py linalg _core/tests/test_umath.py -k power -v
    python tests/numpy_suite/run.py --listed --prune              # what the list has; what passes now leaves it

Tests that do not pass run again on NumPy: what it does not pass either does not count. Exits with 1 when a test fails that
expected.txt does not list. A process runs one file; when it dies, the test that was running has failed and the others go on.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy

HERE = pathlib.Path(__file__).resolve().parent
NUMPY = pathlib.Path(numpy.__file__).resolve().parent
FOLDERS = ("_core", "lib", "linalg", "fft", "random", "ma", "polynomial", "matrixlib")
# The files that CI runs: those that find most a second.
CI = """
_core/tests/test_numeric.py _core/tests/test_ufunc.py _core/tests/test_indexing.py _core/tests/test_umath.py
_core/tests/test_shape_base.py _core/tests/test_einsum.py _core/tests/test_nep50_promotions.py _core/tests/test_scalarmath.py
_core/tests/test_regression.py _core/tests/test_item_selection.py _core/tests/test_function_base.py
lib/tests/test_function_base.py lib/tests/test_shape_base.py lib/tests/test_stride_tricks.py lib/tests/test_nanfunctions.py
lib/tests/test_index_tricks.py lib/tests/test_twodim_base.py linalg/tests/test_linalg.py fft ma/tests/test_core.py polynomial
""".split()
TIMEOUT = 900  # seconds for one process


# --- what is expected ---------------------------------------------------------------------------------------------------


class Expected:
    """expected.txt: sections "[private] REASON" and "[fails] REASON" with ids of tests, in which * stands for anything."""

    def __init__(self, path):
        self.path = path
        self.lines = []  # (kind, reason, pattern)
        kind = reason = None
        for line in path.read_text().splitlines():
            if m := re.fullmatch(r"\[(private|fails)\] (.+)", line):
                kind, reason = m.groups()
            elif line and not line.startswith("#"):
                self.lines.append((kind, reason, line))
        self.matchers = [(k, p, re.compile(re.escape(p).replace(r"\*", ".*") + r"(#\d+)?")) for k, _, p in self.lines]

    def find(self, kind, name):
        """The pattern that lists the test as of this kind, or None."""
        return next((p for k, p, r in self.matchers if k == kind and r.fullmatch(name)), None)

    def prune(self, patterns):
        """Drops lines, and sections that have none left."""
        kept, section = [], []
        for line in [*self.path.read_text().splitlines(), "["]:
            if line.startswith("["):
                if len([x for x in section if x]) > 1:
                    kept += section
                section = []
            if line not in patterns:
                (section if line.startswith("[") or section else kept).append(line)
        self.path.write_text("\n".join(kept).rstrip() + "\n")


# --- one process --------------------------------------------------------------------------------------------------------


class Result:
    """What became of the tests of a file: outcome and reason by id."""

    def __init__(self):
        self.outcomes, self.reasons, self.seconds, self.broken = {}, {}, 0.0, None

    def add(self, name, outcome, reason=""):
        self.outcomes[name], self.reasons[name] = outcome, reason


def _environment(module, record):
    # Plait's compile threads and the BLAS leave the cores to the two processes; what needs gigabytes is skipped.
    quiet = {"PLAIT_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NPY_AVAILABLE_MEM": "1 GB"}
    paths = [str(HERE), str(HERE.parents[1] / "numpy_compat"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ, **quiet, "PYTHONPATH": os.pathsep.join(paths),
        "PLAIT_SUITE_MODULE": module, "PLAIT_SUITE_RECORD": str(record),
    }  # fmt: skip


def run_file(module, file, folder, options=(), tests=None):
    """Runs one of NumPy's test files, again after each test that ends the process."""
    result, began = Result(), time.monotonic()
    record = folder / f"{module}-{file.replace('/', '-')}.jsonl"
    environment = _environment(module, record)
    if tests is not None:
        (path := record.with_suffix(".tests")).write_text("\n".join(tests))
        environment["PLAIT_SUITE_TESTS"] = str(path)
    command = [
        sys.executable, "-m", "pytest", "-p", "plugin", "-p", "no:cacheprovider", "-q", "--tb=short", "--rootdir", str(NUMPY),
        "-c", str(HERE / "pytest.ini"), *options, str(NUMPY / file),
    ]  # fmt: skip
    while True:
        offset = record.stat().st_size if record.exists() else 0
        with open(record.with_suffix(".log"), "ab") as log, tempfile.TemporaryDirectory(dir=folder) as scratch:
            process = subprocess.Popen(command, cwd=scratch, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            try:
                ended = process.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                ended = process.wait()
        running = None
        with open(record) if record.exists() else open(os.devnull) as entries:
            entries.seek(offset)
            for kind, *rest in map(json.loads, entries):
                if kind == "start":
                    (running,) = rest
                elif kind == "end":
                    running = None
                    result.add(*rest)
                elif kind == "broken":
                    result.broken = rest[1]
        if running is None:
            if ended < 0 and result.broken is None:
                result.broken = f"ended by signal {-ended} outside a test"
            break
        result.add(running, "failed", f"the process ended with {ended}")
        (path := record.with_suffix(".done")).write_text("\n".join(result.outcomes))
        environment["PLAIT_SUITE_DONE"] = str(path)
    result.seconds = time.monotonic() - began
    return result


# --- all of it ----------------------------------------------------------------------------------------------------------


def files_of(names):
    """Test files below the named folders and files, slow ones first so that both processes end at the same time."""
    found = []
    for name in names:
        path = NUMPY / name
        if not path.exists():
            sys.exit(f"{name}: there is no such file in {NUMPY}")
        found += sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    names = dict.fromkeys(str(p.relative_to(NUMPY)) for p in found)
    return sorted(names, key=lambda name: -(NUMPY / name).stat().st_size)


def compare(file, expected, folder, options, tests=None):
    """The file on Plait, and on NumPy what did not pass: (result, ids that NumPy passes among those)."""
    ours = run_file("plait", file, folder, options, tests)
    if ours.broken:
        theirs = run_file("numpy", file, folder, options)
        for name, outcome in theirs.outcomes.items():
            if name not in ours.outcomes and outcome == "passed":
                ours.add(name, "failed", ours.broken)
        return ours, {n for n, o in theirs.outcomes.items() if o == "passed" and ours.outcomes.get(n) != "passed"}
    doubtful = [n for n, o in ours.outcomes.items() if o != "passed" and not expected.find("private", n)]
    if not doubtful:
        return ours, set()
    theirs = run_file("numpy", file, folder, options, doubtful)
    return ours, {n for n, o in theirs.outcomes.items() if o == "passed"}


class Summary:
    def __init__(self, expected):
        self.expected = expected
        self.passed = self.private = self.skipped = 0
        self.missing = {}  # id -> reason: NumPy passes it, Plait does not
        self.listed = collections.Counter()  # pattern -> failures that it covers
        self.better = collections.defaultdict(list)  # pattern -> what it lists and passes
        self.surprises = {}

    def add(self, ours, by_numpy):
        for name, outcome in ours.outcomes.items():
            if self.expected.find("private", name):
                self.private += 1
                continue
            pattern = self.expected.find("fails", name)
            if outcome == "passed":
                self.passed += 1
                if pattern:
                    self.better[pattern].append(name)
            elif name not in by_numpy:
                self.skipped += 1
            else:
                self.missing[name] = ours.reasons[name] or outcome
                if pattern:
                    self.listed[pattern] += 1
                else:
                    self.surprises[name] = self.missing[name]

    def idle(self):
        """Lines of the list of which no test failed and some passed."""
        return [p for p in self.better if not self.listed[p]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="folders and files below numpy/ (all)")
    parser.add_argument("--part", choices=["all", "ci"], default="all")
    parser.add_argument("-k", help="pytest's -k")
    parser.add_argument("-j", type=int, default=2, help="processes")
    parser.add_argument("-v", action="store_true", help="what fails and is listed, too")
    parser.add_argument("--listed", action="store_true", help="only tests that the list has as failing")
    parser.add_argument("--prune", action="store_true", help="drop the lines of the list that pass now")
    parser.add_argument("--report", type=pathlib.Path, help="write the counts for scripts/count.py")
    parser.add_argument("--keep", type=lambda p: pathlib.Path(p).resolve(), help="folder for records and logs of the processes")
    args = parser.parse_args()

    expected = Expected(HERE / "expected.txt")
    files = files_of(args.names or (CI if args.part == "ci" else FOLDERS))
    # A file whose tests are all private does not run.
    files = [f for f in files if not expected.find("private", f"{f}::*")]
    options = ["-k", args.k] if args.k else []
    summary, seconds = Summary(expected), {}
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        folder = args.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.jsonl"):
            old.unlink()
        listed = {f: [p for k, _, p in expected.lines if k == "fails" and p.startswith(f + "::")] for f in files}
        if args.listed:
            files = [f for f in files if listed[f]]
        jobs = {pool.submit(compare, f, expected, folder, options, listed[f] if args.listed else None): f for f in files}
        for job in concurrent.futures.as_completed(jobs):
            ours, by_numpy = job.result()
            seconds[jobs[job]] = ours.seconds
            failed = sum(n in by_numpy for n, o in ours.outcomes.items() if o != "passed")
            print(f"{jobs[job]}: {len(ours.outcomes)} tests, {failed} that only NumPy passes, {ours.seconds:.0f} s", flush=True)
            summary.add(ours, by_numpy)

    for name, reason in sorted(summary.missing.items()):
        if name in summary.surprises:
            print(f"FAILED {name}\n       {reason}")
        elif args.v:
            print(f"listed {name}\n       {reason}")
    for pattern in summary.idle():
        print(f"passes now, drop it from {expected.path.name}: {pattern}")
    if args.prune:
        expected.prune(set(summary.idle()))
    public = summary.passed + len(summary.missing)
    share = 100 * summary.passed / public if public else 0
    print(f"{summary.passed} of {public} ({share:.2f} %) of the public tests that NumPy passes")
    listed = len(summary.missing) - len(summary.surprises)
    print(f"{listed} failures are listed, {summary.private} tests are private, {summary.skipped} NumPy does not pass here")
    counts = summary.passed, len(summary.surprises), listed + summary.skipped
    if args.report:
        args.report.write_text("".join(f"{n} {what} numpy's\n" for n, what in zip(counts, ("passed", "failed", "skipped"))))
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if summary.surprises or not public else 0


if __name__ == "__main__":
    sys.exit(main())
