#!/usr/bin/env python3
"""Adds up test results and prints "N passed, N failed, N skipped"; exits 1 when something failed or nothing ran.

    count.py FILE...      verbose ctest logs (ctest -V), JUnit files of pytest (*.xml), lines "N passed|failed|skipped NAME" (*.txt)

A Catch2 program counts with its test cases, any other ctest entry as one. A program that ended without Catch2's summary, or
whose summary is green while ctest calls it failed (a sanitizer report at exit), is one failure more.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree


def ctest(text):
    passed = failed = skipped = 0
    cases = {}
    for number, line in re.findall(r"^(\d+): (.*)$", text, re.M):
        if m := re.search(r"All tests passed \(.* in (\d+) test cases?\)", line):
            cases[number] = (int(m[1]), 0)
        elif line.startswith("test cases:"):
            count = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed)", line)}
            cases[number] = (count.get("passed", 0), count.get("failed", 0))
    for number, status in re.findall(r"^ *\d+/\d+ Test +#(\d+): \S+ \.*\**(.*?) +[\d.]+ sec", text, re.M):
        good, bad = cases.get(number, (0, 0))
        if "Skipped" in status or "Not Run (Disabled)" in status:
            skipped += 1
        elif status.strip(" .*") == "Passed":
            passed += good if number in cases else 1
        else:
            passed += good
            failed += bad or 1
    return passed, failed, skipped


def junit(path):
    passed = failed = skipped = 0
    for suite in ElementTree.parse(path).getroot().iter("testsuite"):
        bad = int(suite.get("failures")) + int(suite.get("errors"))
        failed, skipped = failed + bad, skipped + int(suite.get("skipped"))
        passed += int(suite.get("tests")) - bad - int(suite.get("skipped"))
    return passed, failed, skipped


def lines(text):
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for line in text.splitlines():
        count, verdict, _ = line.split(maxsplit=2)
        total[verdict] += int(count)
    return tuple(total.values())


def read(path):
    if path.endswith(".xml"):
        return junit(path)
    with open(path, errors="replace") as file:
        text = file.read()
    return lines(text) if path.endswith(".txt") else ctest(text)


def main(paths):
    total = [0, 0, 0]
    for path in paths:
        try:
            result = read(path)
        except (OSError, ElementTree.ParseError) as error:
            print(f"{path}: {error}")
            result = (0, 1, 0)
        if sum(result) == 0:
            print(f"{path}: no test ran")
            result = (0, 1, 0)
        total = [a + b for a, b in zip(total, result)]
    print("{} passed, {} failed, {} skipped".format(*total))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
