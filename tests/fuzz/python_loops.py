"""Functions with Python's own loops, drawn at random: by Python on NumPy's arrays and by plait.jit, which hands the loops over to machine code at
their beginning and again at a later iteration. A program is the text of a Python file: the function, its arguments, and when it is handed over."""

import ast
import collections
import linecache
import math
import re
import signal
import time

import numpy

from compare import message
from data import data
from execute import describe, public_type
from pool import Crash, Worker
from python_programs import Drawing
from reference import quiet

OUTGROWN = {64: ("an int outgrows 64 bits in a compiled loop", "a power becomes complex in a compiled loop"), 53: ("an int outgrows 53 bits where it may be a float",)}
REPEATED = "an axis of one element is repeated in a compiled loop"
LARGEST = 4096  # bits of an int; a program with larger ones is left out
INEXACT = {"dot", "sin", "cos", "exp", "tanh", "log", "hypot", "arctan2"}  # of NumPy's: sums in another order, and functions to an ulp


# --- running
class TooLong(Exception):
    pass


def parts_of(text):
    """The function's definition and what makes its arguments."""
    tree = ast.parse(text)
    return ast.unparse(tree.body[0]), ast.unparse(ast.Module(tree.body[1:], []))


def function_of(source, scope, count=[0]):
    """The function, whose source inspect finds."""
    count[0] += 1
    name = f"<python loop {count[0]}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    exec(compile(source, name, "exec"), scope)
    return scope["f"]


def scope():
    return {"np": numpy, "math": math, "data": data, "__name__": "drawn"}


def outcome(function, setup):
    """What a call gives or raises, and the memory and lists of its arguments after it."""
    ns = scope()
    exec(setup, ns)
    try:
        result = ("gives", describe(numpy, function(*ns["args"])))
    except TooLong:
        raise
    except Exception as e:
        result = ("raises", public_type(e), str(e))
    return {"result": result, "memory": [describe(numpy, x) for n, x in sorted(ns.items()) if isinstance(x, (numpy.ndarray, list))]}


def is_inexact(node):
    """Whether an expression's last bits are open."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    f = node.func
    return isinstance(f, ast.Attribute) and (f.attr == "dot" or f.attr in INEXACT and getattr(f.value, "id", "") == "np")


class Noting(ast.NodeTransformer):
    """Asks of every int what a compiled loop would make of it, and shakes what is inexact."""

    def noted(self, node):
        by = "note" if isinstance(node, ast.UnaryOp) or not is_inexact(node) else "shaken"
        return ast.Call(ast.Name(by, ast.Load()), [self.generic_visit(node)], [])

    visit_UnaryOp = visit_Call = noted

    def visit_BinOp(self, node):
        if isinstance(node.op, (ast.Pow, ast.LShift)):
            return ast.Call(ast.Name("power" if isinstance(node.op, ast.Pow) else "shift", ast.Load()), [self.visit(node.left), self.visit(node.right)], [])
        return self.noted(node)

    def visit_AugAssign(self, node):
        t = node.target
        again = isinstance(t, ast.Subscript) and not any(isinstance(n, (ast.Call, ast.Subscript)) for n in ast.walk(t.slice))
        self.generic_visit(node)
        if isinstance(t, ast.Name):
            changed = ast.Name(t.id, ast.Load())
        elif again:
            changed = ast.Subscript(t.value, t.slice, ast.Load())
        else:
            return node
        return [node, ast.Expr(ast.Call(ast.Name("note", ast.Load()), [changed], []))]


def by_python(text, seconds=0.5, shake=0.0):
    """The outcome, and how many bits a number took that a compiled loop may not hold (0, 53 or 64); None where it takes too long. shake: by how much what is inexact
    is changed."""
    seen = [53] if re.search(r"2 \*\*|, True\)\)|\d{9}", text) else [0]  # what comes in large

    def shaken(x):
        by = 1 + shake * (1e6 if isinstance(x, numpy.float32) else 1)
        return x * type(x)(by) if shake and isinstance(x, (float, numpy.floating)) else x

    def note(x):
        if type(x) is int and not -(2**63) <= x < 2**63 or type(x) is complex:
            seen.append(64)
            if type(x) is int and x.bit_length() > LARGEST:
                raise TooLong
        elif isinstance(x, (int, numpy.integer)) and not -(2**53) <= x <= 2**53:
            seen.append(53)
        return x

    def power(a, b):
        if isinstance(a, int) and isinstance(b, int) and b > LARGEST:
            raise TooLong
        return note(a**b)

    def shift(a, b):
        if isinstance(a, int) and isinstance(b, int) and b > LARGEST:
            raise TooLong
        return note(a << b)

    def late(*_):
        raise TooLong

    source, setup = parts_of(text)
    ns = scope() | {"note": note, "power": power, "shift": shift, "shaken": shaken}
    with quiet():
        exec(compile(ast.fix_missing_locations(Noting().visit(ast.parse(source))), "<python>", "exec"), ns)
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with quiet():
            return outcome(ns["f"], setup), max(seen)
    except (TooLong, RecursionError):
        return None, 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def by_plait(module, text):
    """In a worker: outcomes where loops are handed over at their beginning, to quick code that runs an iteration at a time and to that of full effort, and later,
    and where their entries run them; which loops ran in machine code, and why others did not."""
    from plait._python_loops import codes, going_over, running, sharing

    source, setup = parts_of(text)
    ns = scope()
    exec(setup, start := scope())
    f = module.jit(function_of(source, ns))
    reached, compiled, why, looks = set(), set(), [], [0, 1]
    inputs, run, entry_of = running.Loop.inputs, codes.Code.run, codes.entry_of

    def ready(code):
        looks[0] += 1
        return looks[0] >= looks[1] and code.usable and (code.procedure.compile(quick=going_over.PART == 0) or True)

    def looks_at(loop, variables):
        reached.add(loop.where[1])
        return inputs(loop, variables)

    def runs(code, loop, *args):
        compiled.add(loop.where[1])
        return run(code, loop, *args)

    going_over.WORTH, codes.Code.ready, running.Loop.inputs, codes.Code.run = 0.0, property(ready), looks_at, runs
    going_over.log, usual = why.append, going_over.PART
    codes.entry_of = lambda *_: None
    sharing.WORTH, sharing.COPIED = 0.0, math.inf  # whatever can be run in parts is
    try:
        outcomes = []
        for begin, part in ((1, 0.0), (1, usual), (start["start"], usual)):
            looks[:], going_over.PART, going_over.MUCH = (0, begin), part, math.inf
            outcomes.append(outcome(f, setup))
        codes.entry_of, sharing.WORTH, looks[1] = entry_of, math.inf, 1
        outcome(f, setup)  # which makes the entries
        outcomes += [outcome(f, setup), outcome(f, setup)]  # the latter runs a function of loops alone on the caller's arrays
    finally:
        running.Loop.inputs, codes.Code.run, going_over.PART, codes.entry_of = inputs, run, usual, entry_of
    return {"outcomes": outcomes, "reached": sorted(reached), "compiled": sorted(compiled), "why": why}


# --- comparing
def differs(got, want, wide):
    """How a description differs from another, or None; wide: by how much the tolerance is wider, 0 where there is none."""
    if got == want:
        return None
    if got[0] == want[0] == "python" and got[1] == want[1]:
        if want[1] in ("tuple", "list") and got[2] == want[2]:
            return next((f"[{i}] {d}" for i, (g, w) in enumerate(zip(got[3], want[3])) if (d := differs(g, w, wide))), None)
        if want[1] == "float" and close(float(got[2]), float(want[2]), wide, "float64"):
            return None
    elif got[0] == want[0] and got[1:3] == want[1:3] and want[0] in ("array", "scalar") and want[1].startswith("float"):
        g, w = (numpy.frombuffer(x[5], x[1]).astype("f8") for x in (got, want))
        if close(g, w, wide, want[1]):
            return None
    return f"got {shown(got)}, want {shown(want)}"


def shown(d):
    return f"{d[1]} {numpy.frombuffer(d[5], d[1]).reshape(d[2]).tolist()}" if d[0] in ("array", "scalar") else " ".join(map(str, d[1:3]))


def close(g, w, wide, dtype):
    rel = wide * (1e-13 if dtype == "float64" else 1e-6)
    g, w = numpy.atleast_1d(g), numpy.atleast_1d(w)
    if wide:  # what overflows in sums depends on their order
        small = numpy.isfinite(g) & (numpy.abs(w) < 1e150)
        g, w = g[small], w[small]
    largest = numpy.max(numpy.abs(w), initial=1.0, where=numpy.isfinite(w))
    if not wide and not (numpy.signbit(g) == numpy.signbit(w))[~numpy.isnan(w)].all():
        return False
    return numpy.allclose(g, w, rtol=rel, atol=rel * largest, equal_nan=True)


def is_exact(text):
    """Whether every bit is pinned down."""
    return not any(isinstance(n, (ast.BinOp, ast.Call)) and is_inexact(n) for n in ast.walk(ast.parse(text)))


def compared(text, got, want, large, wide=1.0):
    """(category, text) of a difference, or None. large: by_python's bits."""
    g, w, exact = got["result"], want["result"], is_exact(text)
    for bits, texts in OUTGROWN.items():
        if g[0] == "raises" and g[2].startswith(texts):
            return None if large >= bits else ("overflow", f"got {g}, want {w}")
    if g[0] == "raises" and g[2].startswith(REPEATED):
        return None
    if g[0] != w[0] or (g[0] == "raises" and g[1] != w[1]):
        return "error", f"got {g}, want {w}"
    if g[0] == "raises" and message(g[2]) != message(w[2]):
        return "message", f"got {g}, want {w}"
    if g[0] == "gives" and (d := differs(g[1], w[1], exact and 0 or wide)):
        return "value", d
    for a, b in zip(got["memory"], want["memory"]):
        if d := differs(a, b, exact and 0 or wide):
            return "memory", d
    return None


# --- shortening
def shorter(text):
    """Programs with a statement less, or with a part of an expression in its place."""
    size = len([*ast.walk(ast.parse(text).body[0])])
    for at in range(size):
        for how in ("leave out", "body", "else", "left", "right", "third", "one"):
            tree = ast.parse(text)
            nodes = [*ast.walk(tree.body[0])]
            if at < len(nodes) and _cut(nodes, at, how):
                try:
                    made = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
                    with quiet():
                        compile(made, "<shorter>", "exec")
                except (SyntaxError, ValueError):
                    continue
                if len(made) < len(text):
                    yield made


def _cut(nodes, at, how):
    node = nodes[at]
    for parent in nodes[:at]:
        for field, held in ast.iter_fields(parent):
            among = isinstance(held, list) and any(held is not None and n is node for n in held)
            if not among and held is not node:
                continue
            if isinstance(node, ast.stmt) and among:
                i = next(i for i, n in enumerate(held) if n is node)
                by = {"leave out": [], "body": getattr(node, "body", None), "else": getattr(node, "orelse", None)}.get(how)
                if by is None or how != "leave out" and not by:
                    return False
                held[i : i + 1] = by
                if not held and field == "body":
                    held.append(ast.Pass())
                return True
            if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", ast.Load()), ast.Store) and how in ("left", "right", "third", "one") and field != "func":
                children = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr) and n is not getattr(node, "func", None)] if how != "one" else [ast.Constant(1)]
                k = {"left": 0, "one": 0, "right": 1, "third": 2}[how]
                if k >= len(children) or how == "one" and isinstance(node, (ast.Constant, ast.Tuple)):
                    return False
                if among:
                    held[next(i for i, n in enumerate(held) if n is node)] = children[k]
                else:
                    setattr(parent, field, children[k])
                return True
    return False


def signed(found):
    """What failures of one kind have in common."""
    text = re.sub(r"['\"].*?['\"]", "", found[1]) if found[0] == "value" else found[1].partition(", want")[0]
    return found[0], re.sub(r"[-+.\d]|inf|nan|e[-+]", "", text)[:60]


class PythonSession:
    """A worker, and what was found."""

    def __init__(self, module="plait", timeout=60, env=None):
        self.worker = Worker(module, env or {}, timeout)
        self.failures, self.why = collections.Counter(), collections.Counter()
        self.executed = self.reached = self.compiled = self.skipped = 0

    def check(self, text, counts=False):
        """(category, text) of what differs, or None."""
        want, large = by_python(text)
        if want is None:
            self.skipped += counts
            return None
        if not is_exact(text):
            other, _ = by_python(text, shake=4e-13)
            if other is None or compared(text, other, want, 64, 1e3):
                self.skipped += counts  # what its last bits decide is open
                return None
        try:
            got = self.worker.run(text)
        except Crash as e:
            return "crash", str(e)
        if counts:
            self.executed += 1
            self.reached += len(got["reached"])
            self.compiled += len(got["compiled"])
            self.why.update(line.rpartition("stays Python's: ")[2] for line in got["why"])
        for result in got["outcomes"]:
            if problem := compared(text, result, want, large):
                return problem
        return None

    def minimised(self, text, signature, tries=400):
        again = True
        while again:
            again = False
            for made in shorter(text):
                tries -= 1
                if tries < 0:
                    return text
                if (found := self.check(made)) and signed(found) == signature:
                    text = made
                    again = True
                    break
        return text

    def close(self):
        self.worker.stop()


def fuzz_python(session, programs, seed, max_failures=10, seconds=None, out=print):
    """Like run.fuzz. Only the first failure of a category and operation is printed."""
    begun = time.monotonic()
    for i in range(programs):
        if seconds and time.monotonic() - begun > seconds:
            return i
        number = seed * 1_000_000 + i
        text = Drawing(number).run()
        found = session.check(text, counts=True)
        if found:
            signature = signed(found)
            session.failures[signature] += 1
            if session.failures[signature] > 1:
                continue
            small = session.minimised(text, signature)
            again = session.check(small) or found
            out(f"\n--- program {number} (python): {again[0]}\n{again[1][:1500]}\n{small}", flush=True)
            if len(session.failures) >= max_failures:
                return i + 1
    return programs
