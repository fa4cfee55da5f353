#!/usr/bin/env python3
"""Functions whose loops stay Python's (python_only_numbers.py, python_only_structures.py), plain and under plait.jit, by turns in one process.

    python benchmarks/python_only_loops.py --only 'stack|primes'

first, second: those calls' times, over Python's; steady: the least of those behind the first ten, over Python's beside them. Exits with 1 where a row's
steady time is above --most.
"""
import argparse
import copy
import re
import sys
import time

import numpy as np

import plait
import python_only_numbers
import python_only_structures

PROGRAMS = {**python_only_numbers.PROGRAMS, **python_only_structures.PROGRAMS}

BEFORE = 10  # calls that do not count as steady


def taken(fn, args, clock):
    args = copy.deepcopy(args)
    begun = clock()
    result = fn(*args)
    return clock() - begun, result


def equal(a, b):
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else type(a) is type(b) and a == b


def row(fn, args, rounds, clock):
    jitted = plait.jit(fn)
    plain = [taken(fn, args, clock)[0]]
    jits, expected = [], None
    for _ in range(BEFORE + rounds):
        seconds, expected = taken(fn, args, clock)
        plain.append(seconds)
        seconds, result = taken(jitted, args, clock)
        jits.append(seconds)
        if not equal(expected, result):
            raise AssertionError(f"{fn.__name__}: {result!r:.200} instead of {expected!r:.200}")
    least = min(plain)
    return least, jits[0] / least, jits[1] / least, min(jits[BEFORE:]) / min(plain[-rounds:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--most", type=float, default=1.1)
    parser.add_argument("--busy", action="store_true", help="the time of the thread alone, where the machine does other work")
    options = parser.parse_args()
    clock = time.thread_time if options.busy else time.perf_counter
    above = []
    print(f"{'':30}{'Python ms':>10}{'first':>8}{'second':>8}{'steady':>8}")
    for name, (fn, args) in PROGRAMS.items():
        if not re.search(options.only, name):
            continue
        least, first, second, steady = row(fn, args(), options.rounds, clock)
        print(f"{name:30}{least * 1e3:10.2f}{first:8.2f}{second:8.2f}{steady:8.2f}{' *' if steady > options.most else ''}", flush=True)
        if steady > options.most:
            above.append(name)
    print(f"{len(above)} above {options.most}")
    return bool(above)


if __name__ == "__main__":
    sys.exit(main())
