"""Draws functions with Python's own loops, and arguments for them: the text of a Python file, which python_loops.py runs."""

import ast
import random
import re

from python_forms import Forms

FORMS = {
    "int": ["(<i> + <i>)", "(<i> - <i>)", "(<i> + <j>)", "(<i> * 3)", "(<i> * <i> % 1009)", "(<i> & <i>)", "(<i> | <i>)", "(<i> ^ <i>)", "(<i> // 3)", "(<i> // 4)", "(<i> // -3)", "(<i> % 7)",
            "(<i> % 8)", "(<i> % -5)", "(<i> >> 1)", "(<i> >> 3)", "(<i> << 2)", "-<i>", "~<i>", "abs(<i>)", "min(<i>, <i>)", "max(<i>, <i>, <j>)", "(<i> if <b> else <i>)", "int(<f>)", "(<i> % 100) ** 2"],
    "float": ["(<f> + <f>)", "(<f> - <f>)", "(<f> * <f>)", "(<f> + <i>)", "(<i> * <f>)", "(<f> / 2)", "(<f> / -0.5)", "(<f> / (abs(<g>) + 1.0))", "-<f>", "abs(<f>)", "<f> * 0.5", "math.sqrt(abs(<f>))",
              "(<f> if <b> else <f>)", "(<i> / 7)", "min(<f>, <f>)", "max(<f>, <f>)", "(<f> % 1.5)", "(<f> % -3)", "(<f> // 2)", "(<f> // -1.5)"],
    "bool": ["(<i> < <i>)", "(<i> <= <i>)", "(<i> > <j>)", "(<i> == <i>)", "(<i> != <i>)", "(<f> < <f>)", "(<f> >= <f>)", "(<f> == <f>)", "(<f> > <g>)", "(<i> < <i> <= <i>)", "(<f> > <f> != <g>)", "(<f> < <i>)",
             "(not <b>)", "(<b> and <b>)", "(<b> or <b>)", "(<b> & <b>)", "(<b> ^ <b>)", "(<i> % 2 == 0)", "bool(<i>)"],
    "complex": ["(<z> + <z>)", "(<z> - <z>)", "(<z> * <z>)", "(<z> * <g>)", "(<g> + <z>)", "-<z>", "(<z>).conjugate()", "complex(<f>, <g>)", "(<z> / 2)", "(<z> / (1 + 2j))", "(<z> if <b> else <z>)", "1j * <z>"],
}  # fmt: skip
OF_COMPLEX = {"float": ["abs(<z>)", "(<z>).real", "(<z>).imag"], "bool": ["(<z> == <z>)", "(<z> != <y>)", "bool(<z>)", "(<z> == 0)"]}
RARE = {
    "int": ["(<i> // <i>)", "(<i> % <i>)", "(<i> << (<i> & 7))", "(<i> >> (<i> & 63))", "(<i> >> 70)", "(<i> << <i>)", "(<i> * <i>)", "round(<f>)", "(<i> % 10) ** 3", "<j> ** <j>", "(<i> and <i>)", "(<i> or <i>)",
            "((<i> * 6364136223846793005 + <j>) & 0xFFFFFFFFFFFFFFFF)", "(((<i> << 13) ^ -<j>) % 2**64)", "((<i> ^ <i> * 31 - <j>) & 65535)", "(~(<i> + <j>) % 2**16)",
            "math.floor(<f>)", "math.ceil(<f>)", "math.trunc(<f>)", "int(<b>)", "(<i> + <b>)", "+<i>", "(-<i>) ** 2", "-<i> ** 2", "(<b> << <b>)", "abs(<b>)", "int(<i> / 2)", "-<b>", "round(<i>)"],
    "float": ["<f> ** 2", "<f> ** 3", "abs(<f>) ** 0.5", "<f> ** 0.5", "<f> ** -1", "<g> ** <j>", "(<f> / <f>)", "(<i> / <j>)", "(<f> // <f>)", "(<f> % <f>)", "(<f> and <f>)", "(<f> or <f>)", "np.float32(<f>)",
              "np.float64(<f>)", "float(<b>)", "(<f> + <c>)", "+<f>", "(<f> if <f> else <i>)", "round(<f>, 1)"]
             + [f"math.{n}(<f>)" for n in ("sin", "cos", "atan", "tanh", "fabs", "exp", "log", "sqrt", "log1p", "expm1")] + [f"math.{n}(<f>, <f>)" for n in ("atan2", "hypot", "fmod", "pow", "copysign")]
             + [f"np.{n}(<f>)" for n in ("sin", "exp", "tanh", "sqrt", "abs", "floor", "rint", "log", "negative", "sign", "square")] + [f"np.{n}(<f>, <f>)" for n in ("maximum", "minimum", "add", "multiply", "hypot", "fmod", "divide", "arctan2")],
    "complex": ["(<z> / <z>)", "<z> ** 2", "+<z>", "complex(<j>)", "np.complex128(<z>)", "(<z> + <j>)", "(<z> and <z>)", "(<z> or <y>)", "(<j> / <z>)", "(<z> * <c>)"],
    "bool": ["math.isnan(<f>)", "math.isinf(<f>)", "np.isfinite(<f>)", "bool(<f>)", "(<b> | <b>)", "(<b> == <b>)", "(<i> < <f> < <i>)", "(<b> < <i>)", "(not <f>)", "(not <i>)", "np.logical_and(<b>, <b>)", "(<b> if <i> else <b>)"],
}  # fmt: skip


INTEGER_TYPES = [f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)]
INTEGERS = ["i1", "i2", "u2", "u4"]  # besides those of every program


class Drawing(Forms):
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.indent, self.loops, self.depth = [], 1, [], 0
        self.names = {"int": [], "float": [], "bool": [], "complex": []}
        self.complex = self.chance(0.2)
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
        dtypes = ["f8", "f8", "f8", "i8", "i8", "f4", "i4", "u1", "?"] + r.choice([[], [], INTEGERS])
        self.arrays = {f"a{k}": (r.choice(dtypes), r.choice([1, 1, 2])) for k in range(r.randint(1, 4))}
        self.given = dict(self.arrays)
        parameters = [*self.arrays]
        self.numbers = {}
        for k in range(r.randint(1, 4)):
            kind = r.choice(["int", "int", "float", "bool", *(["complex"] if self.complex else [])])
            self.numbers[f"p{k}"] = kind
            self.names[kind].append(f"p{k}")
        parameters += [*self.numbers, *(given_lists := self.choose())]
        self.given_lists = {n: self.lists[n] for n in given_lists}
        self.columns = self.pick(2, 3) if "over" in self.features and self.chance(0.5) else 0  # of matrices
        self.shape = r.choice([None, 1, 2])  # of what is returned out of a loop
        self.brackets = r.choice(["()", "[]"]) if self.chance(0.95) else "()[]"
        for kind in ("int", "int", "float", "float", "bool", *(["complex", "complex"] if self.complex else [])):
            name = self.name(kind[0])
            self.line(f"{name} = {self.constant(kind)}")
            self.names[kind].append(name)
        self.bound = [n for names in self.names.values() for n in names]
        self.late = []
        # Functions inside: (name, kind, kinds of parameters), whose bodies are drawn when it is known what the loops store.
        self.functions = [(self.name("g"), self.pick("int", "float", "bool"), [self.pick("int", "float") for _ in range(self.pick(0, 1, 1, 2))]) for _ in range(self.pick(0, 0, 1, 2, 3))]
        self.choose_helpers()
        if self.has("lists", 0.7):
            self.new_list()
        begin = len(self.lines)
        for _ in range(r.choice([1, 1, 1, 2])):
            if self.form() and self.chance(0.3):
                self.form()
            self.loop(3)
        self.lines[begin:begin] = self.definitions()
        results = r.sample(self.bound, min(len(self.bound), r.randint(2, 6)))
        results += [n for n in self.late if self.chance(0.15)][:1] + [a for a in self.given if self.chance(0.2)]
        results += [n for n in self.lists if self.chance(0.7) and (n in self.given_lists or n in self.late)]
        results += [self.outside() for _ in range(self.pick(0, 0, 1, 2))]
        self.line(f"return ({', '.join(results)},)")
        text = "\n".join([f"def f({', '.join(parameters)}):", *self.lines])
        return ast.unparse(ast.parse(text)) + "\n" + self.arguments()

    def definitions(self):
        """Those of the functions inside. They read variables of the outer one, a few also write one."""
        kept, functions, late = self.lines, self.functions, self.late
        self.lines, self.late = [], [n for n in late if self.chance(0.3)]
        self.arrays, self.lists = dict(self.given), dict(self.given_lists)
        self.define_helpers()
        for at, (name, kind, parameters) in enumerate(functions):
            self.functions = functions[:at] if self.chance(0.5) else []
            given = [(self.name("v"), k) for k in parameters]
            self.line(f"def {name}({', '.join(n for n, _ in given)}):")
            self.loops = given
            self.indent += 1
            if self.chance(0.06) and (names := [n for n in self.names[kind] if not n.startswith("p")]):
                written = self.random.choice(names)
                self.line(f"nonlocal {written}")
                self.line(f"{written} = {self.expression(kind, 2)}")
            if self.chance(0.3):
                own = self.name("w")
                self.line(f"{own} = {self.expression(kind, 2)}")
                self.loops = [*given, (own, kind)]
            if self.chance(0.3):
                self.line(f"if {self.expression('bool', 1)}:")
                self.line(f"    return {self.expression(kind, 2)}")
            self.line(f"return {self.expression(kind, 2)}")
            self.indent -= 1
        made, self.lines, self.functions, self.late, self.loops = self.lines, kept, functions, late, []
        return made

    def called(self, kind, depth):
        """A call of a function inside."""
        name, _, parameters = self.random.choice([f for f in self.functions if f[1] == kind])
        return f"{name}({', '.join(self.expression(k, min(depth - 1, 1)) for k in parameters)})"

    def arguments(self):
        r, lines, given, blocks = self.random, [], [], {}
        n, m = r.choice([0, 1, 2, 5, 6, 7, 8, 9]) if self.chance(0.3) else r.choice([6, 7, 8, 9, 11]), self.columns or r.choice([5, 6, 7])
        square = self.chance(0.6) and not self.columns
        for dtype, ndim in self.given.values():
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
            if self.chance(0.03):
                lines.append(f"{b}.flags.writeable = False")
            if len(given) > 1 and self.chance(0.08):  # one array by two names
                lines.append(f"x{len(lines)} = {given[-1]}")
                given[-1] = lines[-1].partition(" ")[0]
                alike = [k for k, of in enumerate([*self.given.values()][: len(given) - 1]) if of == (dtype, ndim)]
                for k in alike[:1]:
                    given[k] = given[-1]
        for kind in self.numbers.values():
            values = {"int": ["0", "1", "2", "3", "5", "7", "-1", "-4", "12", "np.int64(3)", "np.int32(-2)", "np.uint8(200)", "2**62", "2**63", "True"],
                      "float": ["0.0", "0.5", "-1.25", "3.75", "1e300", "2.5", "math.nan", "math.inf", "-0.0", "np.float64(1.5)", "np.float32(0.1)", "3"],
                      "bool": ["True", "False", "np.True_", "1"],
                      "complex": ["1j", "2-0.5j", "0j", "-1+0.25j", "np.complex128(1-2j)", "complex(math.inf, 1)", "0.5", "np.complex64(0.1j)"]}[kind]
            of = {"int": INTEGER_TYPES, "float": ["float16", "float32", "float64"]}.get(kind)
            if of and self.chance(0.2):
                values = [f"np.{r.choice(of)}({r.choice(['0', '1', '3', '7', '100'])})"]
            given.append(r.choice(values if self.chance(0.3) else values[: (len(values) + 1) // 2]))
        for name, kind in self.given_lists.items():
            before = [n for n, k in self.given_lists.items() if k == kind and n < name]
            if before and self.chance(0.15):  # one list by two names
                given.append("y" + before[0])
            else:
                lines.append(f"y{name} = {self.list_text(kind)}")
                given.append(f"y{name}")
        return "\n".join([*lines, f"args = ({', '.join(given)},)", f"start = {r.randint(2, 9)}\n"])

    # expressions
    def constant(self, kind):
        if kind == "int":
            return str(self.random.randint(-3, 9)) if self.chance(0.95) else self.pick("1000003", "2**40", "-2**63", "2**63 - 1", "255", "65535")
        if kind == "complex":
            return self.pick("1j", "(0.5+2j)", "0j", "(1-1j)", "-0.25j")
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
        of = {"i": "int", "f": "float", "b": "bool", "z": "complex", "j": "int", "g": "float", "c": "bool", "y": "complex"}

        def fill(mark):
            kind = of[mark[1]]
            return self.variable(kind) if mark[1] in "jgcy" else self.expression(kind, depth - 1)

        return re.sub(r"<([ifbzjgcy])>", fill, template)

    def expression(self, kind, depth=3):
        if self.chance(0.02):
            kind = self.pick("int", "float", "bool")
        if self.features and depth > 0 and (form := self.form_expression(kind, depth)):
            return form
        if depth <= 0 or self.chance(0.25):
            return self.atom(kind, depth)
        if self.chance(0.15) and any(f[1] == kind for f in self.functions):
            return self.called(kind, depth)
        if kind == "float" and self.chance(0.06) and (dot := self.dot()):
            return dot
        if self.chance(0.04) and (fold := self.fold(kind)):
            return fold
        if kind != "complex" and self.chance(0.04):
            return self.comprehension(kind, depth)
        if self.complex and kind in OF_COMPLEX and self.chance(0.2):
            return self.filled(self.random.choice(OF_COMPLEX[kind]), depth)
        forms = RARE if self.chance(0.15) else FORMS
        return self.filled(self.random.choice(forms[kind]), depth)

    def atom(self, kind, depth):
        of = {"int": ("i8", "i4", "u1", *INTEGERS), "float": ("f8", "f8", "f4"), "bool": ("?",), "complex": ()}[kind]
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

    def comprehension(self, kind, depth):
        """The sum or the like of one, or of a generator."""
        text = self.items(kind, min(depth - 1, 1))
        call = {"int": self.pick("sum", "sum", "max", "min"), "float": self.pick("sum", "max", "min"), "bool": self.pick("any", "all")}[kind]
        return f"{call}([{text}])" if self.chance(0.3) else f"{call}({text})"

    def items(self, kind, depth):
        """An expression of several kinds of loops over ranges."""
        added, text = [], ""
        for _ in range(self.pick(1, 1, 1, 2)):
            k = self.name("k")
            limits = [f"{self.random.randint(1, 6)}", f"{self.random.randint(1, 6)}", f"1, {self.random.randint(2, 7)}", f"5, {self.random.randint(-1, 3)}, -2"]
            limits += [i for i, of in self.loops if of == "int"] if self.chance(0.3) else []
            text += f" for {k} in range({self.random.choice(limits)})"
            added.append((k, "int"))
            self.loops.append(added[-1])
            if self.chance(0.25):
                text += f" if {self.expression('bool', 1)}"
        item = self.expression(kind, depth)
        del self.loops[len(self.loops) - len(added) :]
        return (f"({item}) % 1009" if kind == "int" else item) + text

    def outside(self):
        """A comprehension, or what becomes of a generator, behind the loops."""
        name, kind = self.name("h"), self.pick("int", "float", "bool", *(["complex"] if self.complex else []))
        text = self.items(kind, 2)
        forms = [f"[{text}]", f"[{text}]", f"tuple({text})", f"any({text})", f"np.array([{text}])"] + ([f"sum({text})", f"sorted({text})"] if kind != "complex" else [f"sum([{text}])"])
        self.line(f"{name} = {self.random.choice(forms)}")
        return name

    def dot(self):
        lines = [self.row(a) for a, (dtype, _) in self.arrays.items() if dtype in ("f8", "f4")]
        if not lines:
            return None
        a, b, k = self.random.choice(lines), self.random.choice(lines), self.variable("int")
        s = self.pick(f":{k}", ":", ":", f"{k}:", "1:", f"1:{k}", "::2") if self.chance(0.8) else ":-1"
        form = self.pick("({a} @ {b})", "np.dot({a}, {b})", "{a}.dot({b})")
        return form.format(a=a.format(s=s), b=b.format(s=s if self.chance(0.95) else ":2"))

    def fold(self, kind):
        """The sum, extreme or the like of a part of an array."""
        arrays = [a for a, (dtype, _) in self.arrays.items() if (dtype in ("f8", "f4")) == (kind == "float")]
        if not arrays:
            return None
        a = self.random.choice(arrays)
        x = self.row(a).format(s=self.pick(":", ":", "1:", "::2", f":{self.variable('int')}"))
        if kind == "bool":
            return self.pick(f"{x}.any()", f"np.all({x})", f"({x} > 0).any()")
        whole = [a] if self.chance(0.2) else [x]
        name = self.pick("max", "min", *(["sum", "sum", "mean", "prod"] if kind == "float" else ["sum", "argmax", "argmin", "sum"]))
        text = f"{whole[0]}.{name}()" if self.chance(0.7) else f"np.{name}({whole[0]})"
        return text if kind == "float" else f"int({text})"

    def row(self, a):
        """A line of an array, with a place for a slice."""
        if self.arrays[a][1] == 1:
            return a + "[{s}]"
        return f"{a}[{self.index(a, 0)}, {{s}}]" if self.chance(0.7) else f"{a}[{{s}}, {self.index(a, 1)}]"

    # statements
    def block(self, depth, n=None):
        self.indent += 1
        before = {*self.arrays, *self.lists}
        for _ in range(n or self.random.choice([1, 2, 2, 3, 4])):
            self.statement(depth)
        self.indent -= 1
        if self.features and self.chance(0.85):  # names of arrays and lists that may have no value behind it
            self.arrays = {n: of for n, of in self.arrays.items() if n in before}
            self.lists = {n: of for n, of in self.lists.items() if n in before}

    def target(self, kind):
        names = [n for n in self.names[kind] if not n.startswith("p") or self.chance(0.15)]
        return self.random.choice(names) if names else self.name(kind[0])

    def statement(self, depth):
        r, kind = self.random, self.pick("int", "int", "float", "float", "bool", *(["complex"] if self.complex else []))
        at = r.random()
        if self.features and self.form():
            return
        if at < 0.2:
            k = kind if self.chance(0.95) else self.pick("int", "float", "bool")
            self.line(f"{self.target(kind)} = {self.expression(k)}")
        elif at < 0.37 and kind != "bool":
            op = self.pick("+", "-", "+", "*", "//", "%", "^", "|", "&", ">>") if kind == "int" else self.pick("+", "-", "*", "/") if kind == "complex" else self.pick("+", "-", "+", "*", "/", "%", "//")
            x = self.expression(kind, 2)
            x = self.constant(kind) if op in ("*", "//", "%", "/") and self.chance(0.8) else f"({x} & 3)" if op == ">>" else x
            self.line(f"{self.target(kind)} {op}= {x}")
        elif at < 0.62:
            self.write()
        elif at < 0.67:
            self.tuples()
        elif at < 0.72:
            self.views() if self.chance(0.15) else self.slices()
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
        if self.chance(0.1):
            return self.line(f"{place} = ({self.expression('float', 2)}) % {self.pick(10, 100, 300)}")
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

    def views(self):
        """A part of an array under a name, or of a matrix."""
        matrices = [a for a, (_, ndim) in self.arrays.items() if ndim == 2]
        if not matrices:
            return self.slices()
        a, i = self.random.choice(matrices), self.random.choice([n for n, k in self.loops if k == "int"] or ["0"])
        if self.chance(0.5):
            row = self.name("r")
            self.line(f"{row} = {a}[{i}]" if self.chance(0.7) else f"{row} = {a}[:, {i} % {a}.shape[1]]")
            self.arrays[row] = self.arrays[a][0], 1
            self.late.append(row)
            return self.write()
        s = self.pick("1:, :-1", ":, 1:", f"{i}:", f":, {i}", f"{i}:, 1", f"{i}, ...", f":{i}, :{i}", "::2")
        self.line(f"{a}[{s}] {self.pick('=', '+=', '*=')} {self.pick(f'{a}[{s}]', f'{a}[{s}]', self.constant('int'), self.element((self.arrays[a][0],)))}")

    def slices(self):
        floats = [a for a, (dtype, _) in self.arrays.items() if dtype in ("f8", "f4")]
        a = self.random.choice(floats or [*self.arrays])
        dtype = self.arrays[a][0]
        alike = [b for b, (t, _) in self.arrays.items() if t == dtype]
        b, c = self.random.choice(alike), self.random.choice(alike)
        s = self.pick(":", "1:", ":-1", "::2", f":{self.variable('int')}", f"{self.variable('int')}:", "-3:", "1:4")
        t = s if self.chance(0.9) else self.pick("1:", ":-1", ":2")
        x, y, z = self.row(a).format(s=s), self.row(b).format(s=t), self.row(c).format(s=s)
        crosses = a == b and x.endswith(f"{s}]") != y.endswith(f"{t}]")  # from a row to a column that crosses it NumPy copies elements that it has just set
        if dtype not in ("f8", "f4"):
            value = self.pick(f"{y}.copy()" if crosses else y, self.expression("bool", 1) if dtype == "?" else f"({self.expression('int', 1)}) % 50")
            return self.line(f"{x} = {value}")
        k = self.variable(self.pick("int", "float"))
        if self.chance(0.1):
            self.line(f"{x}, {y} = {y}.copy(), {x}.copy()" if self.chance(0.5) else f"h = {y}.copy()")
            return self.line(f"{x} = h") if self.lines[-1].strip().startswith("h =") else None
        value = self.pick(f"{y}.copy()" if crosses else y, f"{y} * 2", f"{y} + {z}", f"{y} * {k} - {z}", f"-{y}", f"np.sqrt(abs({y}))", self.expression("float", 1), f"{y} / 3", f"np.maximum({y}, {z})")
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
        a, b = self.random.choice([self.brackets[i : i + 2] for i in range(0, len(self.brackets), 2)])
        values = {None: "", 1: f" {self.variable('int')}", 2: f" {a}{self.variable('float')}, {self.variable('int')}{b}"}
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
        elif self.lists and self.has("lists", 0.15):
            added = self.while_list()
        elif self.has("over", 0.6):
            added = self.over()
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
            if self.has("raises", 0.4):
                self.line(f"    raise {self.error()}")
            else:
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
