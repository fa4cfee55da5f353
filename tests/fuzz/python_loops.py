"""Functions with Python's own loops, drawn at random: by Python on NumPy's arrays and by plait.jit, which hands the loops over to machine code at
their beginning and again at a later iteration. A program is the text of a Python file: the function, its arguments, and when it is handed over."""

import ast
import collections
import linecache
import math
import random
import re
import signal
import time

import numpy

from compare import message
from data import data
from execute import describe, public_type
from pool import Crash, Worker
from reference import quiet

OUTGROWN = {64: ("an int outgrows 64 bits in a compiled loop", "a power becomes complex in a compiled loop"), 53: ("an int outgrows 53 bits where it may be a float",)}
REPEATED = "an axis of one element is repeated in a compiled loop"
LARGEST = 4096  # bits of an int; a program with larger ones is left out
INEXACT = {"dot", "sin", "cos", "exp", "tanh", "log", "hypot", "arctan2"}  # of NumPy's: sums in another order, and functions to an ulp


# --- drawing
FORMS = {
    "int": ["(<i> + <i>)", "(<i> - <i>)", "(<i> + <j>)", "(<i> * 3)", "(<i> * <i> % 1009)", "(<i> & <i>)", "(<i> | <i>)", "(<i> ^ <i>)", "(<i> // 3)", "(<i> // 4)", "(<i> // -3)", "(<i> % 7)",
            "(<i> % 8)", "(<i> % -5)", "(<i> >> 1)", "(<i> >> 3)", "(<i> << 2)", "-<i>", "~<i>", "abs(<i>)", "min(<i>, <i>)", "max(<i>, <i>, <j>)", "(<i> if <b> else <i>)", "int(<f>)", "(<i> % 100) ** 2"],
    "float": ["(<f> + <f>)", "(<f> - <f>)", "(<f> * <f>)", "(<f> + <i>)", "(<i> * <f>)", "(<f> / 2)", "(<f> / -0.5)", "(<f> / (abs(<g>) + 1.0))", "-<f>", "abs(<f>)", "<f> * 0.5", "math.sqrt(abs(<f>))",
              "(<f> if <b> else <f>)", "(<i> / 7)", "min(<f>, <f>)", "max(<f>, <f>)", "(<f> % 1.5)", "(<f> % -3)", "(<f> // 2)", "(<f> // -1.5)"],
    "bool": ["(<i> < <i>)", "(<i> <= <i>)", "(<i> > <j>)", "(<i> == <i>)", "(<i> != <i>)", "(<f> < <f>)", "(<f> >= <f>)", "(<f> == <f>)", "(<f> > <g>)", "(<i> < <i> <= <i>)", "(<f> > <f> != <g>)", "(<f> < <i>)",
             "(not <b>)", "(<b> and <b>)", "(<b> or <b>)", "(<b> & <b>)", "(<b> ^ <b>)", "(<i> % 2 == 0)", "bool(<i>)"],
}  # fmt: skip
RARE = {
    "int": ["(<i> // <i>)", "(<i> % <i>)", "(<i> << (<i> & 7))", "(<i> >> (<i> & 63))", "(<i> >> 70)", "(<i> << <i>)", "(<i> * <i>)", "round(<f>)", "(<i> % 10) ** 3", "<j> ** <j>", "(<i> and <i>)", "(<i> or <i>)",
            "math.floor(<f>)", "math.ceil(<f>)", "math.trunc(<f>)", "int(<b>)", "(<i> + <b>)", "+<i>", "(-<i>) ** 2", "-<i> ** 2", "(<b> << <b>)", "abs(<b>)", "int(<i> / 2)", "-<b>", "round(<i>)"],
    "float": ["<f> ** 2", "<f> ** 3", "abs(<f>) ** 0.5", "<f> ** 0.5", "<f> ** -1", "<g> ** <j>", "(<f> / <f>)", "(<i> / <j>)", "(<f> // <f>)", "(<f> % <f>)", "(<f> and <f>)", "(<f> or <f>)", "np.float32(<f>)",
              "np.float64(<f>)", "float(<b>)", "(<f> + <c>)", "+<f>", "(<f> if <f> else <i>)", "round(<f>, 1)"]
             + [f"math.{n}(<f>)" for n in ("sin", "cos", "atan", "tanh", "fabs", "exp", "log", "sqrt", "log1p", "expm1")] + [f"math.{n}(<f>, <f>)" for n in ("atan2", "hypot", "fmod", "pow", "copysign")]
             + [f"np.{n}(<f>)" for n in ("sin", "exp", "tanh", "sqrt", "abs", "floor", "rint", "log", "negative", "sign", "square")] + [f"np.{n}(<f>, <f>)" for n in ("maximum", "minimum", "add", "multiply", "hypot", "fmod", "divide", "arctan2")],
    "bool": ["math.isnan(<f>)", "math.isinf(<f>)", "np.isfinite(<f>)", "bool(<f>)", "(<b> | <b>)", "(<b> == <b>)", "(<i> < <f> < <i>)", "(<b> < <i>)", "(not <f>)", "(not <i>)", "np.logical_and(<b>, <b>)", "(<b> if <i> else <b>)"],
}  # fmt: skip


class Drawing:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.indent, self.loops, self.depth = [], 1, [], 0
        self.names = {"int": [], "float": [], "bool": []}
        self.fresh = 0

    def chance(self, p):
        return self.random.random() < p

    def pick(self, *choices):
        return self.random.choice(choices)

    def name(self, letter):
        self.fresh += 1
        return f"{letter}{self.fresh}"

    def line(self, text):
        self.lines.append("    " * self.indent + text)

    def run(self):
        r = self.random
        dtypes = ["f8", "f8", "f8", "i8", "i8", "f4", "i4", "u1", "?"]
        self.arrays = {f"a{k}": (r.choice(dtypes), r.choice([1, 1, 2])) for k in range(r.randint(1, 4))}
        parameters = [*self.arrays]
        self.numbers = {}
        for k in range(r.randint(1, 4)):
            kind = r.choice(["int", "int", "float", "bool"])
            self.numbers[f"p{k}"] = kind
            self.names[kind].append(f"p{k}")
        parameters += self.numbers
        self.shape = r.choice([None, 1, 2])  # of what is returned out of a loop
        for kind in ("int", "int", "float", "float", "bool"):
            name = self.name(kind[0])
            self.line(f"{name} = {self.constant(kind)}")
            self.names[kind].append(name)
        self.bound = [n for names in self.names.values() for n in names]
        self.late = []
        for _ in range(r.choice([1, 1, 1, 2])):
            self.loop(3)
        results = r.sample(self.bound, min(len(self.bound), r.randint(2, 6)))
        results += [n for n in self.late if self.chance(0.15)][:1] + [a for a in self.arrays if self.chance(0.2)]
        self.line(f"return ({', '.join(results)},)")
        text = "\n".join([f"def f({', '.join(parameters)}):", *self.lines])
        return ast.unparse(ast.parse(text)) + "\n" + self.arguments()

    def arguments(self):
        r, lines, given, blocks = self.random, [], [], {}
        n, m = r.choice([0, 1, 2, 5, 6, 7, 8, 9]) if self.chance(0.3) else r.choice([6, 7, 8, 9, 11]), r.choice([5, 6, 7])
        square = self.chance(0.6)
        for dtype, ndim in self.arrays.values():
            shape = (n,) if ndim == 1 else (n, n if square else m)
            special = ", True" if self.chance(0.08) else ""
            key = dtype, ndim
            if key in blocks and self.chance(0.5):  # another view of the same memory
                b = blocks[key]
            else:
                b = blocks[key] = f"b{len(lines)}"
                lines.append(f"{b} = np.array(data({dtype!r}, {(shape[0] * 2 + 1, *shape[1:])}, {r.randrange(10**6)}{special}))")
            start = r.choice([0, 0, 1, 2])
            views = [f"{b}[{start}:{start + n}]"] * 4 + [f"{b}[:{n}]"] * 3 + [f"{b}[::2][:{n}]", f"{b}[:{n}][::-1]", f"{b}[:{n}].copy()"]
            if ndim == 2 and square:
                views += [f"{b}[:{n}].T"] * 2
            given.append(r.choice(views))
        for kind in self.numbers.values():
            values = {"int": ["0", "1", "2", "3", "5", "7", "-1", "-4", "12", "np.int64(3)", "np.int32(-2)", "np.uint8(200)", "2**62", "2**63", "True"],
                      "float": ["0.0", "0.5", "-1.25", "3.75", "1e300", "2.5", "math.nan", "math.inf", "-0.0", "np.float64(1.5)", "np.float32(0.1)", "3"],
                      "bool": ["True", "False", "np.True_", "1"]}[kind]
            given.append(r.choice(values if self.chance(0.3) else values[: len(values) // 2]))
        return "\n".join([*lines, f"args = ({', '.join(given)},)", f"start = {r.randint(2, 9)}\n"])

    # expressions
    def constant(self, kind):
        if kind == "int":
            return str(self.random.randint(-3, 9)) if self.chance(0.95) else self.pick("1000003", "2**40", "-2**63", "2**63 - 1", "255", "65535")
        return self.pick("0.5", "2.0", "-1.25", "0.0", "1e-3", "3.0", "-0.5", "1.0", "1e200") if kind == "float" else self.pick("True", "False")

    def variable(self, kind):
        loops = [n for n, k in self.loops if k == kind]
        if loops and self.chance(0.5):
            return self.random.choice(loops)
        if self.late and self.chance(0.05):
            return self.random.choice(self.late)
        return self.random.choice(self.names[kind]) if self.names[kind] else self.constant(kind)

    def filled(self, template, depth):
        """A template with an expression in the place of each mark: <i>, <f> and <b> are of a kind, <j>, <g> and <c> variables or literals."""
        of = {"i": "int", "f": "float", "b": "bool", "j": "int", "g": "float", "c": "bool"}

        def fill(mark):
            kind = of[mark[1]]
            return self.variable(kind) if mark[1] in "jgc" else self.expression(kind, depth - 1)

        return re.sub(r"<([ifbjgc])>", fill, template)

    def expression(self, kind, depth=3):
        if self.chance(0.02):
            kind = self.pick("int", "float", "bool")
        if depth <= 0 or self.chance(0.25):
            return self.atom(kind, depth)
        if kind == "float" and self.chance(0.06) and (dot := self.dot()):
            return dot
        forms = RARE if self.chance(0.15) else FORMS
        return self.filled(self.random.choice(forms[kind]), depth)

    def atom(self, kind, depth):
        of = {"int": ("i8", "i4", "u1"), "float": ("f8", "f8", "f4"), "bool": ("?",)}[kind]
        if depth > 0 and self.chance(0.5) and (e := self.element(of)):
            return f"int({e})" if kind == "int" and self.chance(0.6) else f"float({e})" if kind == "float" and self.chance(0.2) else e
        if kind == "int" and self.chance(0.1):
            return self.random.choice([*self.arrays]) + self.pick(".shape[-1]", ".shape[0]", ".size", ".ndim")
        if kind == "float" and self.chance(0.15):
            return f"float({self.variable('int')})"
        return self.constant(kind) if self.chance(0.25) else self.variable(kind)

    def element(self, kinds):
        arrays = [a for a, (dtype, _) in self.arrays.items() if dtype in kinds]
        return self.part(self.random.choice(arrays)) if arrays else None

    def part(self, a):
        return f"{a}[{', '.join(self.index(a, axis) for axis in range(self.arrays[a][1]))}]"

    def index(self, a, axis):
        size = f"{a}.shape[{axis}]" if axis or self.chance(0.3) else f"len({a})"
        loops = [n for n, k in self.loops if k == "int"]
        if loops and self.chance(0.7):
            i = self.random.choice(loops)
            return self.pick(i, i, i, i, f"{i} - 1", f"-{i}", f"{i} + 1" if self.chance(0.2) else i, f"{size} - 1 - {i}")
        return self.pick("0", "-1", "1", self.filled(f"(<j> * 3 + <j>) % {size}", 0), self.filled("<j> % 5", 0), self.variable("int") if self.chance(0.1) else "2")

    def dot(self):
        lines = [self.row(a) for a, (dtype, _) in self.arrays.items() if dtype in ("f8", "f4")]
        if not lines:
            return None
        a, b, k = self.random.choice(lines), self.random.choice(lines), self.variable("int")
        s = self.pick(f":{k}", ":", ":", f"{k}:", "1:", f"1:{k}", "::2") if self.chance(0.8) else ":-1"
        form = self.pick("({a} @ {b})", "np.dot({a}, {b})", "{a}.dot({b})")
        return form.format(a=a.format(s=s), b=b.format(s=s if self.chance(0.95) else ":2"))

    def row(self, a):
        """A line of an array, with a place for a slice."""
        if self.arrays[a][1] == 1:
            return a + "[{s}]"
        return f"{a}[{self.index(a, 0)}, {{s}}]" if self.chance(0.7) else f"{a}[{{s}}, {self.index(a, 1)}]"

    # statements
    def block(self, depth, n=None):
        self.indent += 1
        for _ in range(n or self.random.choice([1, 2, 2, 3, 4])):
            self.statement(depth)
        self.indent -= 1

    def target(self, kind):
        names = [n for n in self.names[kind] if not n.startswith("p") or self.chance(0.15)]
        return self.random.choice(names) if names else self.name(kind[0])

    def statement(self, depth):
        r, kind = self.random, self.pick("int", "int", "float", "float", "bool")
        at = r.random()
        if at < 0.2:
            k = kind if self.chance(0.95) else self.pick("int", "float", "bool")
            self.line(f"{self.target(kind)} = {self.expression(k)}")
        elif at < 0.37 and kind != "bool":
            op = self.pick("+", "-", "+", "*", "//", "%", "^", "|", "&", ">>") if kind == "int" else self.pick("+", "-", "+", "*", "/", "%", "//")
            x = self.expression(kind, 2)
            x = self.constant(kind) if op in ("*", "//", "%", "/") and self.chance(0.8) else f"({x} & 3)" if op == ">>" else x
            self.line(f"{self.target(kind)} {op}= {x}")
        elif at < 0.62:
            self.write()
        elif at < 0.67:
            self.tuples()
        elif at < 0.72:
            self.slices()
        elif at < 0.88 and depth > 0:
            self.branches(depth)
        elif at < 0.96 and depth > 0:
            self.loop(depth - 1)
        elif at < 0.98:
            name = self.name(kind[0])
            self.line(f"{name} = {self.expression(kind, 2)}")
            self.late.append(name)
            if self.chance(0.3):
                self.names[kind].append(name)
        else:
            self.line(f"{self.target(kind)} = {self.expression(kind)}")

    def write(self):
        a = self.random.choice([*self.arrays])
        dtype, place = self.arrays[a][0], self.part(a)
        if dtype == "?":
            return self.line(f"{place} {self.pick('=', '=', '|=', '^=', '&=')} {self.expression('bool', 2)}")
        if dtype in ("f8", "f4"):
            x = self.expression("float" if self.chance(0.8) else "int")
            return self.line(f"{place} {self.pick('=', '=', '=', '+=', '-=', '*=', '/=')} {x}")
        x = self.expression("int", 2)
        if self.chance(0.8 if dtype != "i8" else 0.3):
            x = f"({x}) % {self.pick(10, 100, 50)}"
        self.line(f"{place} {self.pick('=', '=', '=', '+=', '-=', '^=', '|=', '*=', '//=')} {x}")

    def tuples(self):
        kind = self.pick("int", "float")
        x, y = self.target(kind), self.target(kind)
        a, b = self.random.choice([*self.arrays]), self.random.choice([*self.arrays])
        p, q = self.part(a), self.part(a)
        self.line(self.pick(f"{x}, {y} = ({y}, {x})", f"{x}, {y} = ({self.expression(kind, 1)}, {x})", f"{p}, {q} = ({q}, {p})", f"{x}, {p} = ({x}, {self.part(b)})" if self.arrays[a][0] == self.arrays[b][0] else f"{x} = {y} = {self.expression(kind, 1)}"))

    def slices(self):
        floats = [a for a, (dtype, _) in self.arrays.items() if dtype in ("f8", "f4")]
        a = self.random.choice(floats or [*self.arrays])
        dtype = self.arrays[a][0]
        alike = [b for b, (t, _) in self.arrays.items() if t == dtype]
        b, c = self.random.choice(alike), self.random.choice(alike)
        s = self.pick(":", "1:", ":-1", "::2", f":{self.variable('int')}", f"{self.variable('int')}:", "-3:", "1:4")
        t = s if self.chance(0.9) else self.pick("1:", ":-1", ":2")
        x, y, z = self.row(a).format(s=s), self.row(b).format(s=t), self.row(c).format(s=s)
        if dtype not in ("f8", "f4"):
            value = self.pick(y, self.expression("bool", 1) if dtype == "?" else f"({self.expression('int', 1)}) % 50")
            return self.line(f"{x} = {value}")
        k = self.variable(self.pick("int", "float"))
        value = self.pick(y, f"{y} * 2", f"{y} + {z}", f"{y} * {k} - {z}", f"-{y}", f"np.sqrt(abs({y}))", self.expression("float", 1), f"{y} / 3", f"np.maximum({y}, {z})")
        self.line(f"{x} {self.pick('=', '=', '+=', '-=', '*=')} {value}")

    def branches(self, depth):
        self.line(f"if {self.expression('bool', 2)}:")
        self.leaving(depth)
        for _ in range(self.pick(0, 0, 0, 1, 2)):
            self.line(f"elif {self.expression('bool', 2)}:")
            self.leaving(depth)
        if self.chance(0.4):
            self.line("else:")
            self.leaving(depth)

    def leaving(self, depth):
        if not self.chance(0.2):
            return self.block(depth - 1, self.pick(1, 1, 2))
        if self.chance(0.4):
            self.block(depth - 1, 1)
        values = {None: "", 1: f" {self.variable('int')}", 2: f" ({self.variable('float')}, {self.variable('int')})"}
        self.line("    " + self.pick("break", "continue", "break", "continue", "return" + values[self.shape]))

    def loop(self, depth):
        outermost, kind = not self.loops, self.random.random()
        if kind < 0.12:
            w = self.name("w")
            if self.chance(0.8):
                self.line(f"{w} = 0")
                self.late.append(w)
                self.line(f"while {w} < {self.pick(3, 5, 9, 14)} and {self.expression('bool', 2)}:" if self.chance(0.7) else f"while {w} < {self.pick(3, 5, 9)}:")
                self.indent += 1
                self.line(f"{w} += 1")
                self.indent -= 1
            else:
                self.line(f"{w} = {self.pick('40', '9', '17')}")
                self.line(f"while {w}:")
                self.indent += 1
                self.line(f"{w} {self.pick('//= 2', '-= 1', '>>= 1')}")
                self.indent -= 1
            added = [(w, "int")]
        elif kind < 0.3 and not outermost:
            added = self.over_arrays()
        else:
            i = self.name("i") if self.chance(0.9) or not self.late else self.random.choice(self.late)
            self.line(f"for {i} in range({self.bounds()}):")
            added = [(i, "int")]
        self.late += [n for n, _ in added if n not in self.late]
        self.loops += added
        self.block(depth)
        del self.loops[len(self.loops) - len(added):]
        if self.chance(0.1):
            self.line("else:")
            self.block(0, 1)

    def bounds(self):
        a = self.random.choice([*self.arrays])
        axis = self.random.randrange(self.arrays[a][1])
        size = f"{a}.shape[{axis}]" if axis or self.chance(0.5) else f"len({a})"
        loops = [n for n, k in self.loops if k == "int"]
        forms = [size, size, size, f"1, {size}", f"1, {size} - 1", f"0, {size}, 2", f"{size} - 1, -1, -1", str(self.random.randint(0, 8)), f"{size} - 2, 0, {self.pick(-1, -2, -3)}"]
        if loops:
            i = self.random.choice(loops)
            forms += [i, f"{i}, {size}", f"{i} + 1", f"{i} - 2, {i} + 2", f"{i}, -1, -1"] * 2
        if self.chance(0.15):
            forms = [f"{self.expression('int', 1)} % 9", f"{self.constant('int')} % 7, {self.expression('int', 1)} % 9, {self.pick(1, 2, -1, 3)}", f"0, 6, ({self.expression('int', 1)}) % 4", f"6, -3, ({self.expression('int', 1)}) % 4 - 4"]
        return self.random.choice(forms)

    def over_arrays(self):
        lines = [(self.row(a).format(s=self.pick(":", ":", "1:", ":4")) if n == 2 or self.chance(0.3) else a, "float" if t in ("f8", "f4") else "bool" if t == "?" else "int") for a, (t, n) in self.arrays.items()]
        (x, k), (y, m) = self.random.choice(lines), self.random.choice(lines)
        v, u, i = self.name("e"), self.name("e"), self.name("i")
        form = self.pick("{v} in {x}", "{i}, {v} in enumerate({x})", "{v}, {u} in zip({x}, {y})", "{i}, ({v}, {u}) in enumerate(zip({x}, {y}))")
        self.line(f"for {form.format(v=v, u=u, i=i, x=x, y=y)}:")
        return [(n, t) for n, t in ((v, k if k != "int" else "none"), (u, m if m != "int" else "none"), (i, "int")) if "{" + {v: "v", u: "u", i: "i"}[n] + "}" in form]


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
    """What a call gives or raises, and the memory of its arguments after it."""
    ns = scope()
    exec(setup, ns)
    try:
        result = ("gives", describe(numpy, function(*ns["args"])))
    except TooLong:
        raise
    except Exception as e:
        result = ("raises", public_type(e), str(e))
    return {"result": result, "memory": [describe(numpy, x) for n, x in sorted(ns.items()) if isinstance(x, numpy.ndarray)]}


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
        self.generic_visit(node)
        return [node, ast.Expr(ast.Call(ast.Name("note", ast.Load()), [ast.Name(node.target.id, ast.Load())], []))] if isinstance(node.target, ast.Name) else node


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
    """In a worker: outcomes where loops are handed over at their beginning and later; which loops ran in machine code, and why others did not."""
    from plait._python_loops import running

    source, setup = parts_of(text)
    ns = scope()
    exec(setup, start := scope())
    f = module.jit(function_of(source, ns))
    reached, compiled, why, looks = set(), set(), [], [0, 1]
    call, run = running.Loop.__call__, running.Code.run

    def ready(code):
        looks[0] += 1
        return looks[0] >= looks[1] and code.usable and (code.procedure.compile() or True)

    def begins(loop, *args):
        reached.add(loop.where[1])
        return call(loop, *args)

    def runs(code, loop, *args):
        compiled.add(loop.where[1])
        return run(code, loop, *args)

    running.WORTH, running.Code.ready, running.Loop.__call__, running.Code.run = 0.0, property(ready), begins, runs
    running._log = why.append
    try:
        outcomes = []
        for begin in (1, start["start"]):
            looks[:] = 0, begin
            outcomes.append(outcome(f, setup))
    finally:
        running.Loop.__call__, running.Code.run = call, run
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
    g, w = numpy.asarray(g), numpy.asarray(w)
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

    def __init__(self, module="plait", timeout=60):
        self.worker = Worker(module, {}, timeout)
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
