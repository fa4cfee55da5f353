#!/usr/bin/env python3
"""Differential fuzzer: random NumPy programs on NumPy and on Plait side by side.

    python tests/fuzz/run.py --programs 20000 --seed 1                  # both generators, every configuration
    python tests/fuzz/run.py --kind broad                               # the rarer statements of breadth.py as well
    python tests/fuzz/run.py --kind narrow                              # bfloat16, float8, int4 and the others of ml_dtypes as well
    python tests/fuzz/run.py --kind loops                               # bodies of loops in time, round after round
    python tests/fuzz/run.py --kind replayed                            # functions by plait.jit(replay=True), called again and again
    python tests/fuzz/run.py --kind traced                              # functions of Python numbers by vectorize and its like
    python tests/fuzz/run.py --kind python                              # Python's own loops, in machine code by plait.jit
    python tests/fuzz/run.py --kind large --programs 200                # arrays of up to 3 million elements
    python tests/fuzz/run.py --config interp-1,jit-2 --kind fusion
    python tests/fuzz/run.py --config cuda --seconds 60                  # on a GPU
    python tests/fuzz/run.py --replay failing.txt                       # a printed program again
    python tests/fuzz/run.py --module numpy                             # the fuzzer against NumPy itself
    python tests/fuzz/run.py --bits before.txt                          # a digest of what each program gave: compare it with a later version's

A failure is printed minimised. The last lines give the share of the calls that ran natively, of those that the operation table
covers, and the names of what fell back most.
"""
import argparse
import collections
import hashlib
import sys
import time

from compare import compare, same_bits
from functions import ReplayGenerator, TraceGenerator
from fusion_shapes import FusionGenerator
from generator import BroadGenerator, Generator, NarrowGenerator
from loops import LoopGenerator
from minimise import minimise
from pool import CONFIGS, ON_REQUEST, Crash, Worker
from program import parse, show
from python_loops import PythonSession, fuzz_python
from python_programs import Drawing
from reference import reference


class Session:
    """Workers of the chosen configurations and what they found."""

    def __init__(self, module="plait", configs=None, timeout=60):
        self.configs = {**CONFIGS, **ON_REQUEST}
        self.workers = {name: Worker(module, self.configs[name][0], timeout) for name in configs or CONFIGS}
        self.failures = collections.Counter()  # by (category, rule, operation) of the last statement left
        self.covered = self.native = self.executed = 0
        self.fallbacks = collections.Counter()

    def check(self, statements, number=0, everywhere=False):
        """Runs one program on its configurations; (configuration, category, text) of what differs."""
        lines = [s.text for s in statements]
        chosen = [n for n in self.workers if everywhere or number % self.configs[n][1] == 0]
        found, records = [], {}
        for name in chosen:
            self.workers[name].send(lines)
        want, tols = reference(statements)
        for name in chosen:
            try:
                got = records[name] = self.workers[name].receive()
            except Crash as e:
                found.append((name, "crash", str(e)))
                continue
            self.executed += 1
            problem = compare(got, want, tols)
            if problem:
                found.append((name, *problem))
            if self.workers[name].counts:
                self.count(statements, got)
        groups = collections.defaultdict(list)
        for name in records:
            groups[self.configs[name][2]].append(name)
        for names in groups.values():
            for other in names[1:]:
                problem = same_bits(records[names[0]], records[other], tols)
                if problem and not any(f[0] in (names[0], other) for f in found):
                    found.append((f"{names[0]}+{other}", *problem))
        return found

    def count(self, statements, got):
        for i, s in enumerate(statements):
            if s.covered and s.rule != "del" and i not in got["errors"]:
                self.covered += 1
                self.native += i not in got["fell"]
                self.fallbacks.update(got["fell"].get(i, ()))

    def fails_alike(self, statements, name, category):
        """Whether a program fails in the same way on the named configurations."""
        want, tols = reference(statements)
        if any(e[0] == "NameError" for e in want["errors"].values()):
            return False
        try:
            records = [self.workers[n].run([s.text for s in statements]) for n in name.split("+")]
        except Crash:
            return category == "crash"
        problem = same_bits(*records, tols) if len(records) == 2 else compare(records[0], want, tols)
        return problem is not None and problem[0] == category

    def close(self):
        for w in self.workers.values():
            w.stop()


def program(kind, seed):
    if kind == "large":
        return FusionGenerator(seed, 3_000_000).run()
    return {"fusion": FusionGenerator, "broad": BroadGenerator, "narrow": NarrowGenerator, "loops": LoopGenerator, "replayed": ReplayGenerator, "traced": TraceGenerator}.get(kind, Generator)(seed).run()


def kind_of(number, kind):
    return kind if kind != "both" else "fusion" if number % 5 == 4 else "general"


def fuzz(session, programs, seed, kind="both", max_failures=10, seconds=None, out=print):
    """Runs programs until there are enough of them, or of failures of different kinds, or the time is up; gives how many ran. Only
    the first failure of a kind is printed."""
    start, i = time.monotonic(), 0
    for i in range(programs):
        if seconds and time.monotonic() - start > seconds:
            return i
        number = seed * 1_000_000 + i
        statements = program(kind_of(i, kind), number)
        found = session.check(statements, i)
        if found:
            name, category, text = found[0]
            small = minimise(statements, lambda s: session.fails_alike(s, name, category))
            signature = category, small[-1].rule, small[-1].op
            session.failures[signature] += 1
            if session.failures[signature] > 1:
                continue
            others = ", ".join(sorted({f[0] for f in found[1:]}))
            again = [f for f in session.check(small, 0, everywhere=True) if f[0] == name and f[1] == category]
            out(f"\n--- program {number} ({kind_of(i, kind)}): {category} on {name}" + (f", also {others}" if others else ""))
            out((again[0][2] if again else text)[:1500])
            out(show(small), flush=True)
            if len(session.failures) >= max_failures:
                return i + 1
        if sys.stderr.isatty() and i % 50 == 0:
            print(f"\r{i} programs, {len(session.failures)} failures", end="", file=sys.stderr)
    return i + 1


def write_bits(session, programs, seed, kind, path):
    """A line for each program on each configuration: a digest of its values, errors and aliasing. NumPy is not asked."""
    with open(path, "w") as out:
        for i in range(programs):
            number = seed * 1_000_000 + i
            lines = [s.text for s in program(kind_of(i, kind), number)]
            chosen = [n for n in session.workers if i % session.configs[n][1] == 0]
            for name in chosen:
                session.workers[name].send(lines)
            for name in chosen:
                try:
                    seen = session.workers[name].receive()
                    seen.pop("fell")
                    text = hashlib.sha256(repr(seen).encode()).hexdigest()
                except Crash as e:
                    text = f"crash: {e}".replace("\n", " ")
                print(kind, number, name, text, file=out)


def python_loops(a):
    """The kind whose programs are whole files."""
    if a.show is not None:
        print(Drawing(a.show).run())
        return 0
    session = PythonSession(a.module, a.timeout)
    try:
        if a.replay:
            found = session.check(open(a.replay).read(), counts=True)
            print(*(found or ["no difference;", *session.why]))
            return bool(found)
        start = time.monotonic()
        ran = fuzz_python(session, a.programs, a.seed, a.max_failures, a.seconds)
        print(f"\n{ran} programs, {session.skipped} left out, in {time.monotonic() - start:.0f} s, {sum(session.failures.values())} failures of {len(session.failures)} kinds")
        for kind, n in session.failures.most_common():
            print(f"  {n} x {' '.join(kind)}")
        print(f"compiled: {session.compiled} of {session.reached} loops, {100 * session.compiled / max(1, session.reached):.2f} %")
        print("stayed Python's most for: " + "; ".join(f"{why} ({n})" for why, n in session.why.most_common(25)))
        return bool(session.failures)
    finally:
        session.close()


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--programs", type=int, default=1000)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--kind", choices=["both", "general", "fusion", "broad", "narrow", "loops", "replayed", "traced", "python", "large"], default="both")
    ap.add_argument("--config", help="comma-separated: " + ", ".join([*CONFIGS, *ON_REQUEST]))
    ap.add_argument("--module", default="plait")
    ap.add_argument("--max-failures", type=int, default=10)
    ap.add_argument("--seconds", type=float, help="stop after this long")
    ap.add_argument("--timeout", type=float, default=60, help="seconds that one program may take")
    ap.add_argument("--replay", help="file with a printed program")
    ap.add_argument("--bits", metavar="FILE", help="write digests of results there, and compare nothing")
    ap.add_argument("--show", type=int, metavar="NUMBER", help="print a program and stop")
    a = ap.parse_args()
    if a.kind == "python":
        return python_loops(a)
    if a.show is not None:
        print(show(program(kind_of(a.show % 1_000_000, a.kind), a.show)))
        return 0
    session = Session(a.module, a.config.split(",") if a.config else None, a.timeout)
    try:
        if a.replay:
            found = session.check(parse(open(a.replay).read()), everywhere=True)
            for f in found:
                print(*f)
            return bool(found)
        if a.bits:
            write_bits(session, a.programs, a.seed, a.kind, a.bits)
            return 0
        start = time.monotonic()
        ran = fuzz(session, a.programs, a.seed, a.kind, a.max_failures, a.seconds)
        print(f"\n{ran} programs, {session.executed} runs in {time.monotonic() - start:.0f} s, {sum(session.failures.values())} failures of {len(session.failures)} kinds")
        for kind, n in session.failures.most_common():
            print(f"  {n} x {' '.join(kind)}")
        if session.covered:
            print(f"native: {session.native} of {session.covered} covered calls, {100 * session.native / session.covered:.2f} %")
            print("fell back most: " + ", ".join(f"{n} {c}" for n, c in session.fallbacks.most_common(15)))
        return bool(session.failures)
    finally:
        session.close()


if __name__ == "__main__":
    sys.exit(main())
