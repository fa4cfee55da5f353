"""Functions drawn at random: replayed over changing arguments, and of Python numbers, for vectorize and its like. A function is one line of
text under a name that observe() passes over; calls are lines of their own."""
import numpy

from dtypes import kind_of
from generator import Generator
from program import Statement
from reference import quiet


class ReplayGenerator(Generator):
    """A function of arrays and numbers, called again with other contents, shapes, numbers and overlaps. Its lines are those whose bits NumPy pins down."""

    def __init__(self, seed):
        super().__init__(seed, limit=200_000)

    def run(self):
        with quiet():
            self.define()
            self.blocks = {}
            layouts = [self.layout() for _ in range(self.random.randint(1, 3))]
            for _ in range(self.random.randint(4, 12)):
                self.call(self.random.choice(layouts))
        return self.statements

    def line(self, text, target="", rule="create"):
        self.emit(Statement(text, rule, target=target))

    # --- the function
    def define(self):
        r = self.random
        self.floats = r.random() < 0.7
        self.arrays_of, self.numbers_of = [f"a{i}" for i in range(r.randint(1, 4))], [f"s{i}" for i in range(r.choice([0, 0, 1, 2]))]
        self.names = list(self.arrays_of)
        lines = [self.statement() for _ in range(r.randint(1, 7))]
        self.results = r.choice([1, 1, 1, 2, 3])
        last = [r.choice(self.names + self.names[-2:] + [self.expression(), f"{r.choice(self.names)}[1:]", f"{r.choice(self.names)}.T"]) for _ in range(self.results)]
        if r.random() < 0.05:
            last[0] = r.choice(["3", "None", "np.float64(2.5)", *self.numbers_of])
        body = "; ".join([*lines, f"return {', '.join(last)}"])
        self.line(f"def __f({', '.join(self.arrays_of + self.numbers_of)}): {body}")
        self.line("__g = getattr(np, 'jit', lambda f, **_: f)(__f, replay=True)")

    def operand(self):
        r, a = self.random, self.random.choice(self.names)
        constant = r.choice(["0.5", "2", "1.25", "-0.75", "3"] if self.floats else ["2", "3", "-1", "5"])
        return r.choice([a] * 6 + [f"{a}[::-1]", f"np.roll({a}, 1, 0)", constant, *self.numbers_of])

    def expression(self):
        r = self.random
        x, y, z, a = self.operand(), self.operand(), self.operand(), r.choice(self.names)
        forms = [f"{a} + {x} * {y}", f"{x} - {a}", f"({a} + {x}) * ({y} - {z})", f"np.where({a} > {x}, {y}, {a})", f"abs({a}) + {x}", f"{a} * {x} - {y}", f"-{a}", f"{a}.copy()", f"np.square({a}) + {x}"]
        forms += [f"np.sqrt(abs({a}) + 0.5)", f"{a} / ({x} * {x} + 1.5)", f"np.minimum({a}, 2.5) * {x}"] if self.floats else [f"np.maximum({a}, {x})", f"{a} % 7 + {x}", f"({a} & 6) | 1", f"{a} // 3", f"{a} + {x}.sum(0)" if x in self.names else f"{a} ^ 5", f"np.cumsum({a}, 0)"]
        if r.random() < 0.05:
            forms = [f"{a} * {a}.shape[0]", f"{a} + len({a})", f"np.concatenate([{a}, {a}])[:len({a})]", f"np.broadcast_to({a}[0], {a}.shape) + 1", f"{a} if float({a}.flat[0]) > 0 else {a} * 2"]
        if r.random() < 0.1:
            places = f"({a} > 1).astype('i8')"
            forms = [f"np.take({a}, [0, -1, 0], 0)", f"{a}[{a} > 1]", f"{a}[np.nonzero({a} > 1)]", f"{a}[{places}]", f"np.bincount({places}.ravel())", f"np.sort({a}, 0)", f"np.compress([True, False], {a}, 0)", f"np.argmax({a}, 0)", f"np.unique({a})", f"np.dot({a}[0], 2)", f"np.maximum.accumulate({a}, 0) * 0"]
        return r.choice(forms)

    def statement(self):
        r, a = self.random, self.random.choice(self.names)
        kind = r.random()
        if kind < 0.5:
            name = f"c{len(self.names)}" if r.random() < 0.7 else r.choice(self.names)
            text = f"{name} = {self.expression()}"
            if name not in self.names:
                self.names.append(name)
            return text
        half = " * 0.5" if self.floats else ""
        b = r.choice(self.names)
        return r.choice([f"{a} += {b}{half}", f"{a}[1:] = {b}[:-1]", f"{a}[1:] += {b}[:-1]{half}", f"{a}[0] = {b}[-1]", f"{a} *= {self.operand()}", f"{a}[...] = {self.expression()}",
                         f"{a}[::2] = {r.choice(self.numbers_of + ['1', '2'])}", f"{a} -= {b}[::-1]", f"np.add({a}, {b}, out={a})", f"{a}[{b} > 1] = 2", f"{a}[[0, -1]] = 3", f"{a}[({b} > 1).astype('i8').ravel()[:3]] += 1", f"np.add.at({a}, [0, -1, 0], 2)", f"np.put({a}, [0, -1], 2)", f"np.copyto({a}, +{b})", f"c{len(self.names)} = {a}[1:]"])

    # --- its calls
    def layout(self):
        """Where each argument lies: an array of its own, or a view of a block that several share."""
        r = self.random
        shape = r.choice([(2,), (7,), (64,), (1000,), (5, 3), (40, 17), (2, 3, 4), (300, 100), (1, 4), (3, 1)])
        dtypes = ["f8", "f8", "f4"] if self.floats else ["i8", "i8", "i4"]
        one = r.choice(dtypes) if r.random() < 0.8 else None
        longer = (shape[0] * 2 + 3, *shape[1:])
        block = None
        parts = []
        for _ in self.arrays_of:
            dtype = one or r.choice(dtypes)
            kind = r.random()
            if kind < 0.4:
                parts.append(("own", shape, dtype, ""))
            elif kind < 0.85:
                start = r.randint(0, 3)
                block = block or (longer, dtype)
                parts.append(("part", *block, r.choice([f"[{start}:{start + shape[0]}]"] * 3 + [f"[{start}:{start + 2 * shape[0]}:2]" if start < 3 else "[:0]" if shape == (0,) else f"[{start}:{start + shape[0]}]", f"[{start}:{start + shape[0]}][::-1]"])))
            elif kind < 0.93 and parts:
                parts.append(r.choice(parts))
            else:
                parts.append(("own", shape[1:] if r.random() < 0.5 else (1, *shape[1:]), dtype, ""))
        return parts

    def call(self, parts):
        r, given, block, views = self.random, [], None, {}
        for part in parts:
            how, shape, dtype, index = part
            if part in views:
                given.append(views[part])
                continue
            make = f"np.array(data({dtype!r}, {shape}, {r.randrange(10**6)}))"
            if how == "part":
                if block is None:
                    block = self.blocks.get((shape, dtype)) if r.random() < 0.5 else None
                if block is None:
                    block = self.blocks[shape, dtype] = self.fresh()
                    self.line(f"{block} = {make}", block)
                name = self.fresh()
                self.line(f"{name} = {block}{index}", name, "create")
            else:
                name = self.fresh()
                self.line(f"{name} = {make}", name)
            views[part] = name
            given.append(name)
        for _ in self.numbers_of:
            given.append(r.choice(["2", "3", "-1", "1"] + (["0.5", "1.5", "np.float64(0.25)", "np.float32(2)", "np.array(0.5)"] if self.floats else ["np.int64(3)", "True", "np.array(2)"])))
        targets = [self.fresh() for _ in range(self.results)]
        self.line(f"{', '.join(targets)} = __g({', '.join(given)})", targets[0])
        arrays = list(dict.fromkeys(n for n in given if n in self.reference.ns))
        for _ in range(r.choice([0, 0, 1])):
            a = r.choice(arrays)
            self.line(r.choice([f"{a}[...] = {r.randint(0, 4)}", f"{a} += 1"]), a)
        if r.random() < 0.6:
            for n in [n for n in targets + arrays if hasattr(self.reference.ns.get(n), "dtype")]:
                if n in arrays and r.random() < 0.7:
                    continue
                self.line(f"{n}_ = np.array({n}).copy()", f"{n}_")
                if r.random() < 0.7:
                    self.line(f"del {n}", n, "del")


class TraceGenerator(Generator):
    """Functions of Python numbers with branches, over whole arrays by vectorize, frompyfunc, fromfunction and apply_along_axis."""

    def __init__(self, seed):
        super().__init__(seed, limit=50_000)

    def run(self):
        with quiet():
            for _ in range(self.random.randint(1, 3)):
                self.one()
        return self.statements

    # --- expressions of numbers; `ints`: of integers alone
    def atom(self, ints):
        r = self.random
        whole = [n for n, i in self.known.items() if i or not ints]
        constants = ["2", "3", "-1", "7", "1", "0"] + ([] if ints else ["0.5", "-1.25", "2.0", "0.1"])
        return r.choice(whole * 3 + constants) if whole else r.choice(constants)

    def number_of(self, depth, ints):
        r = self.random
        if depth == 0 or r.random() < 0.15:
            return self.atom(ints)
        x, y = self.number_of(depth - 1, ints), self.number_of(depth - 1, ints)
        forms = [f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"abs({x})", f"max({x}, {y})", f"min({x}, {y}, 3)", f"(-{x})", f"({x} if {self.condition(depth - 1)} else {y})"]
        forms += [f"({x} % {r.choice(['3', '7', '-4'])})", f"({x} // {r.choice(['3', '2', '-5'])})"]
        if ints:
            forms += [f"({x} & 5)", f"({x} ^ {y})", f"({x} >> 1)", f"int({x})", f"({x} ** 2)"]
        else:
            forms += [f"({x} / {r.choice(['2', '1.5', '-3'])})", f"({x} / ({y} * {y} + 1))", f"math.sqrt(abs({x}))", f"float({x})", f"round({x})", f"int({x})", f"math.floor({x})", f"math.copysign(2.5, {y})", f"({x} or {y})", f"({x} and {y})", f"math.fabs({x})"]
            if r.random() < 0.1:
                forms = [f"({x} / {y})", f"math.sqrt({x})", f"({x} % {y})", f"({x} // {y})", f"math.ceil({x})", f"math.trunc({x})", f"math.fmod({x}, 3)", f"np.sqrt(abs({x}))", f"np.floor({x})"]
        return r.choice(forms)

    def condition(self, depth):
        r = self.random
        x, y, z = (self.number_of(depth, r.random() < 0.3) for _ in range(3))
        simple = f"{x} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {y}"
        return r.choice([simple, simple, f"({z} < {x} <= {y})", f"({simple} and {z} > 0)", f"({simple} or {z} < 1)", f"not {simple}", f"{x}"])

    def function(self, arguments):
        """(text, whether its results are exact) of a function of the names, which say whether they are ints."""
        r = self.random
        self.known = dict(arguments)
        ints = all(arguments.values()) and r.random() < 0.6
        depth = r.randint(1, 3)
        kind = r.random()
        exact = True
        if kind < 0.4:
            body = f"return {self.number_of(depth, ints)}"
        elif kind < 0.65:
            c = self.number_of(1, ints)
            then = f"if {self.condition(1)}: return {self.number_of(depth, ints)}"
            self.known["c"] = ints
            return f"exec('''def __f({', '.join(arguments)}):\\n    c = {c}\\n    {then}\\n    return {self.number_of(depth, ints)}''')", True
        elif kind < 0.8:
            return f"exec('''def __f({', '.join(arguments)}):\\n    c = 0\\n    for k in range({r.randint(1, 4)}):\\n        c += k * {self.number_of(1, ints)}\\n        {r.choice(['c -= 1', 'if c > 40: break', 'c = c % 11'])}\\n    return c''')", True
        elif kind < 0.9:
            exact = False
            f = r.choice(["sin", "cos", "atan", "tanh", "exp"])
            inner = self.number_of(1, ints)
            body = f"return math.{f}({'-abs' if f == 'exp' else ''}({inner}) / 8)"
        else:
            body = f"return {self.condition(1)}"
        return f"def __f({', '.join(arguments)}): {body}", exact

    def one(self):
        r = self.random
        self.emit(Statement("import math", "create"))
        r.choices([self.vectorized, self.frompyfunc, self.fromfunction, self.along], [6, 1, 2, 2])[0]()

    def inputs(self, count):
        r = self.random
        shape = r.choice([(4096,), (5000,), (70, 60), (4100, 1), (3,), (0,), (17, 5, 50), (4, 4)])
        names = []
        for i in range(count):
            s = shape
            if i and r.random() < 0.2:
                s = r.choice([shape[-1:], (1,), (1,) * len(shape)])
            dtype, name = r.choice(["f8", "f8", "i8", "i8", "i4", "f4", "?", "u1", "i2"]), self.fresh()
            special = ", True" if r.random() < 0.08 else ""
            self.emit(Statement(f"{name} = np.array(data({dtype!r}, {s}, {r.randrange(10**6)}{special}))", "create", target=name))
            if r.random() < 0.1 and len(s) > 1:
                t = self.fresh()
                self.emit(Statement(f"{t} = {name}.T.copy().T", "create", target=t))
                name = t
            names.append(name)
        return names

    def result(self, text, given, exact):
        name = self.fresh()
        self.emit(Statement(f"{name} = {text}", "create", "", name, (), False) if exact else Statement(f"{name} = {text}", "elementwise", "exp", name, tuple(given), False))
        return name

    def vectorized(self):
        r = self.random
        count = r.randint(1, 3)
        given = self.inputs(count)
        arguments = {n: kind_of(self.reference.ns[g].dtype) in "iub" for n, g in zip("xyz", given)}
        text, exact = self.function(arguments)
        passed, options = list(given), []
        if count > 1 and r.random() < 0.3:
            passed[-1] = r.choice(["2", "0.5", "True", "-3"])
            if r.random() < 0.5:
                options.append(r.choice([f"excluded={{{count - 1}}}", f"excluded=[{count - 1}]"]))
            elif r.random() < 0.5:
                passed[-1] = f"{'xyz'[count - 1]}={passed[-1]}"
                if r.random() < 0.5:
                    options.append(f"excluded={{{'xyz'[count - 1]!r}}}")
        if r.random() < 0.4:
            options.append(f"otypes={r.choice(['[float]', '[float]', chr(39) + 'd' + chr(39), '[np.float32]', '[int]', '[bool]', '[object]'])}" if exact else "otypes=[float]")
        if r.random() < 0.1:
            options.append("cache=True")
        self.emit(Statement(text, "create"))
        name = self.result(f"np.vectorize({', '.join(['__f', *options])})({', '.join(passed)})", given, exact)
        if isinstance(self.reference.ns.get(name), numpy.ndarray) and self.reference.ns[name].dtype == object:
            self.emit(Statement(f"{name} = {name}.tolist()", "create", target=name))

    def frompyfunc(self):
        given = self.inputs(self.random.randint(1, 2))
        text, exact = self.function({n: kind_of(self.reference.ns[g].dtype) in "iub" for n, g in zip("xyz", given)})
        self.emit(Statement(text, "create"))
        end = self.random.choice([".astype(float)", ".tolist()"]) if exact else ".astype(float)"
        self.result(f"np.frompyfunc(__f, {len(given)}, 1)({', '.join(given)}){end}", given, exact)

    def fromfunction(self):
        r = self.random
        shape, dtype = r.choice([(5000,), (70, 80), (3, 4), (0, 3), (20, 20, 20)]), r.choice(["int", "float", "np.int32", "np.float32"])
        terms = ["i", "j", "k"][:len(shape)]
        x, y = r.choice(terms), r.choice(terms)
        form = r.choice([f"{x} + {y}", f"{x} * {y} - 3", f"({x} + 2 * {y}) % 5", f"np.where({x} > {y}, {x}, 2 * {y})", f"{x} == {y}", f"np.maximum({x}, 3)", f"{x} / ({y} + 1)", "7", f"np.sqrt({x} + {y} * 1.0)", f"({x} < 3) & ({y} > 1)", f"-{x}"])
        self.result(f"np.fromfunction(lambda {', '.join(terms)}: {form}, {shape}, dtype={dtype})", (), True)

    def along(self):
        r = self.random
        name, shape = self.fresh(), r.choice([(7, 5), (300, 20), (20, 300), (4, 5, 6), (50,), (3, 0), (0, 3)])
        self.emit(Statement(f"{name} = np.array(data({r.choice(['f8', 'f4', 'i8', '?', 'u1'])!r}, {shape}, {r.randrange(10**6)}))", "create", target=name))
        form = r.choice(["r.max()", "r * 2", "r[0] + r[-1]", "r[::-1]", "np.sort(r)[:3]", "(r > 1).sum()", "np.argmax(r)", "r[r > 0].size", "len(r)", "np.cumsum(r > 0)", "r.min() + r", "np.outer(r[:2], r[:2])", "float(r[0]) if r[0] > 0 else 0.0", "max(r)", "np.median(r)"])
        self.result(f"np.apply_along_axis(lambda r: {form}, {r.randint(-len(shape), len(shape) - 1)}, {name})", (name,), True)
