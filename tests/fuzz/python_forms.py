"""What loops are made of besides ranges, numbers and elements: lists that are given and lists that grow, arrays that are made inside, loops over all of
these, `raise`, `assert`, `:=`, unpacked rows and casts, and functions that do such things for a loop. A mixin of python_programs.Drawing."""

ERRORS = ["ValueError", "KeyError", "ArithmeticError", "IndexError", "RuntimeError"]
FEATURES = ["lists", "made", "over", "raises", "casts", "helpers", "left"]
CASTS = [
    "np.int32(<i> % 1000)",
    "np.uint8(<i> & 255)",
    "np.int64(<i>)",
    "np.int16(<f>)",
    "np.uint16(<i> & 7)",
    "np.int8(<i>)",
    "np.uint32(<i> & 31)",
    "np.int32(<f>)",
]
OF_LISTS = {
    "int": [
        "len({l})",
        "{l}[{i}]",
        "{l}[{i}]",
        "{l}[-1]",
        "{l}.count({x})",
        "sum({l})",
        "min({l})",
        "max({l})",
        "{l}.index({x})",
        "{l}.pop()",
        "{l}.pop({i})",
        "{l}.pop(0)",
        "sum(u for u in {l}) % 1009",
        "sum([u % 7 for u in {l} if u])",
        "max(u - w for w, u in enumerate({l}))",
    ],
    "float": [
        "{l}[{i}]",
        "{l}[{i}]",
        "{l}[-1]",
        "sum({l})",
        "min({l})",
        "max({l})",
        "{l}.pop()",
        "{l}.pop({i})",
        "sum(u * 0.5 for u in {l})",
        "sum([u for u in {l} if u > 0])",
        "min(u for u in {l})",
    ],
    "bool": [
        "({x} in {l})",
        "({x} not in {l})",
        "bool({l})",
        "(not {l})",
        "(len({l}) > {i})",
        "any(u > 1 for u in {l})",
        "{l}[{i}]",
        "all({l})",
        "({l} and {l}[0] > 0)",
    ],
}


class Forms:
    def choose(self):
        """Which of these a program has, and its lists."""
        self.features = {f for f in FEATURES if self.chance(0.45)} if self.chance(0.8) else set()
        self.dense = self.pick(1, 1, 1.6)  # how many of its statements
        self.lists, self.helpers = {}, []
        return [self.given_list() for _ in range(self.pick(1, 1, 2, 3))] if "lists" in self.features and self.chance(0.7) else []

    def has(self, feature, p=1.0):
        return feature in self.features and self.chance(p if p > 0.5 else p * self.dense)

    # lists
    def given_list(self):
        name = f"l{len(self.lists)}"
        self.lists[name] = self.pick("int", "int", "float", "float", "bool")
        return name

    def list_text(self, kind):
        """A list or tuple for an argument."""
        n = self.pick(0, 1, 3, 6, 8, 8, 9, 11)
        if kind == "bool":
            text = f"data('?', {n}, {self.random.randrange(10**6)}).tolist()"
        else:
            text = f"data({'f8' if kind == 'float' else 'i8'!r}, {n}, {self.random.randrange(10**6)}).tolist()"
        if self.chance(0.08):
            text += self.pick(" + [1]", " + [0.5]", " + [True]", " + [2**62]", " + [np.float64(0.25)]", " + [2**70]")
        if self.chance(0.04):
            return f"list(data({'f4' if kind == 'float' else 'i4'!r}, {n}, 5))"
        return f"tuple({text})" if self.chance(0.1) else f"range({n})" if self.chance(0.03) else text

    def list_of(self, kind=None):
        """The name of one, or None."""
        names = [n for n, k in self.lists.items() if kind in (None, k)]
        return self.random.choice(names) if names else None

    def list_index(self, a):
        loops = [n for n, k in self.loops if k == "int"]
        if loops and self.chance(0.5):
            i = self.random.choice(loops)
            return self.pick(i, i, f"{i} - 1", f"-{i}", f"{i} % len({a})", f"{i} + 1")
        return self.pick("0", "-1", "1", "2", "-2", f"{self.variable('int')} % len({a})", f"{self.variable('int')} % 5")

    def of_list(self, kind):
        """An expression of one."""
        a = self.list_of(kind) if self.chance(0.8) and kind != "bool" else self.list_of()
        if a is None or kind not in OF_LISTS:
            return None
        forms = [f for f in OF_LISTS[kind] if "pop" not in f or self.chance(0.3)]
        return self.random.choice(forms).format(l=a, i=self.list_index(a), x=self.variable(self.lists[a]))

    def item(self, kind):
        """What becomes an element of a list: mostly of its kind."""
        if kind != "bool" and self.chance(0.5):
            return f"{kind}({self.expression(kind, 2)})"
        return self.expression(kind if self.chance(0.95) else self.pick("int", "float", "bool"), 2)

    def new_list(self):
        """A list under a new name, or under one that there is."""
        kind = self.pick("int", "int", "float", "float", "bool")
        x = self.item(kind)
        forms = [
            "[]",
            "[]",
            "[]",
            f"[{x}]",
            f"[{x}, {self.item(kind)}]",
            f"[{x}] * ({self.expression('int', 1)} % 5)",
            f"[{self.constant(kind)}] * {self.pick(3, 6, 0)}",
            f"[{self.items(kind, 1)}]",
            f"[{self.over_items(kind)}]",
        ]
        made = [self.helper_call(h) for h in self.helpers if h[1] == "list"]
        forms += made * 4 if kind == "int" else []
        other = self.list_of(kind)
        if other:
            forms += [
                f"{other}.copy()",
                other,
                f"[u for u in {other} if u]",
                f"{other} + [{x}]" if self.chance(0.3) else f"{other}[:]",
                f"list({other})",
            ]
        if other and not other.startswith("l") and self.chance(0.3):
            name = other
        else:
            name = self.name("m")
        self.line(f"{name} = {self.random.choice(forms)}")
        self.lists[name] = kind
        if not self.loops or self.chance(0.2):
            self.late.append(name)

    def over_items(self, kind):
        """The inside of a comprehension over an array or a list."""
        u, w = self.name("u"), self.name("u")
        sources = [*self.lists, *(a for a, (_, n) in self.arrays.items() if n == 1)]
        if not sources:
            return self.items(kind, 1)
        a, b = self.random.choice(sources), self.random.choice(sources)
        kept = [(u, self.kind_of(a))]
        text, more = self.pick(
            (f"for {u} in {a}", []),
            (f"for {u} in {a}", []),
            (f"for {w}, {u} in enumerate({a})", [(w, "int")]),
            (f"for {u}, {w} in zip({a}, {b})", [(w, self.kind_of(b))]),
            (f"for {w} in range(3) for {u} in {a}", [(w, "int")]),
            (f"for {u} in {a} for {w} in range({self.pick(2, 3)})", [(w, "int")]),
        )
        self.loops += kept + more
        text += f" if {self.expression('bool', 1)}" if self.chance(0.3) else ""
        item = self.pick(u, self.expression(kind, 1))
        if self.chance(0.08):
            item = f"sum([{u} for {self.name('q')} in range(2)])"
        del self.loops[len(self.loops) - len(kept + more) :]
        return f"{item} {text}"

    def change_list(self):
        """A statement that changes a list."""
        a = self.list_of()
        if a is None or not self.loops and self.chance(0.7):
            return self.new_list()
        kind = self.lists[a]
        x, i, b = self.item(kind), self.list_index(a), self.list_of(kind)
        arrays = [n for n, (t, d) in self.arrays.items() if d == 1 and (t in ("f8", "f4")) == (kind == "float")]
        forms = (
            [f"{a}.append({x})"] * 6
            + [f"{a}[{i}] = {x}"] * 3
            + [
                f"{a}.pop()",
                f"{a}.pop({i})",
                f"{a}.insert({i}, {x})",
                f"{a}.insert(0, {x})",
                f"{a}.extend([{x}, {self.item(kind)}])",
                f"{a} += [{x}]",
                f"{a}.reverse()",
                f"{a}.clear()",
                f"{a}.remove({x})",
                f"{a}[{i}] {self.pick('+=', '-=', '*=')} {self.constant(kind)}",
                f"{a}[{i}], {a}[0] = {a}[0], {a}[{i}]",
                f"del {a}[-1]" if self.chance(0.2) else f"{a}.append({a}[{i}])",
                f"if len({a}) < 30:\n{a}.extend({b})",
                f"if {a}:\n{a}.pop()",
                f"if {a}:\n{a}.pop(0)",
                f"if {x} in {a}:\n{a}.remove({x})",
                f"if {a}:\n{a}.append({a}.pop({self.pick('', '0')}))",
                f"if len({a}) > 5:\n{a}.clear()",
                f"{a}.append({self.target(kind)})",
            ]
        )
        if arrays:
            forms += [f"if len({a}) < 40:\n{a}.extend({self.random.choice(arrays)})", f"{a}.append({self.random.choice(arrays)}[{i}])"]
        if self.chance(0.3):
            return self.line(f"{self.target(kind)} = {a}.{self.pick('pop()', 'pop(0)', f'pop({i})')}")
        first, _, rest = self.random.choice(forms).partition("\n")
        self.line(first)
        if rest:
            self.line("    " + rest)

    # arrays that are made
    def extent(self):
        loops = [n for n, k in self.loops if k == "int"]
        return self.pick(
            "3",
            "2",
            "4",
            "0",
            f"len({self.random.choice([*self.arrays])})",
            f"{self.variable('int')} % 5",
            *([f"{self.random.choice(loops)} % 4", self.random.choice(loops)] if loops else []),
            f"{self.variable('int')} % 6 - 1" if self.chance(0.2) else "3",
        )

    def made_text(self):
        """An expression of an array that is new, with its dtype and how many axes it has."""
        n, d = self.extent(), self.pick("f8", "f8", "f8", "i8", "f4", "i4", "u1")
        given = f", dtype={ {'f8': 'float', 'i8': 'int', 'f4': 'np.float32', 'i4': 'np.int32', 'u1': 'np.uint8'}[d] }"
        dtype = given if d != "f8" or self.chance(0.2) else ""
        kind = self.pick("int", "float")
        of = {"int": "i8", "float": "f8"}[kind]
        x, y = self.expression(kind, 1), self.expression(kind if self.chance(0.9) else "float", 1)
        fill = self.expression("float", 1) if d in ("f8", "f4") else f"{self.variable('int')} % 9"
        forms = [
            (f"np.zeros({n}{dtype})", d, 1),
            (f"np.ones({n}{dtype})", d, 1),
            (f"np.zeros(({n}, {self.pick(2, 3)}){dtype})", d, 2),
            (f"np.full({n}, {x})", of, 1),
            (f"np.full({n}, {fill}{given})", d, 1),
            (f"np.arange({self.variable('int')} % 8)", "i8", 1),
            (f"np.arange(1, {self.variable('int')} % 8, {self.pick(1, 2, -1)})", "i8", 1),
            (f"np.arange({self.pick(4, 5)}{dtype})", "i8" if not dtype else d, 1),
            (f"np.array([{x}, {y}])", of, 1),
            (f"np.array([{x}, {y}, {self.constant(kind)}])", of, 1),
            (f"np.array([[{x}, {y}], [{y}, {x}]])", of, 2),
            (f"np.array([{fill}, {fill}]{given})", d, 1),
            (f"np.eye({self.pick(2, 3)})", "f8", 2),
        ]
        a = self.random.choice([*self.arrays])
        t, axes = self.arrays[a]
        forms += [(f"np.zeros_like({a})", t, axes), (f"{a}.copy()", t, axes), (f"np.ones_like({a})", t, axes), (f"np.array({a})", t, axes)]
        if t in ("f8", "f4"):
            part, of_part = (f"{a}[{self.index(a, 0)}]", 1) if axes == 2 else (self.pick(a, f"{a}[1:]", f"{a}[::-1]"), 1)
            forms += [
                (f"{part} * 2", t, of_part),
                (f"{part} + {part}", t, of_part),
                (f"{part} - {self.variable('float')}", t, of_part),
                (f"np.sqrt(abs({part}))", t, of_part),
                (f"{part}.copy()", t, of_part),
            ] * 2
        if kind in self.lists.values() and self.chance(0.4):
            forms += [(f"np.array({self.list_of(kind)})", of, 1)] * 6
        if kind and self.chance(0.2):
            forms += [(f"np.array([{self.items(kind, 1)}])", of, 1)] * 3
        if self.chance(0.25):
            forms += [(self.helper_call(h), "f8", 1) for h in self.helpers if h[1] == "array"] * 5
        return self.random.choice(forms)

    def make(self):
        """An array under a name, and what is done to it."""
        text, dtype, axes = self.made_text()
        olds = [n for n, of in self.arrays.items() if n not in self.given and of == (dtype, axes)]
        name = self.random.choice(olds) if olds and self.chance(0.3) else self.name("n")
        self.line(f"{name} = {text}")
        if self.chance(0.05):
            self.line(f"{name} = np.empty({self.pick(3, 'len(' + name + ')')})")
            self.line(f"{name}.fill({self.variable('float')})" if self.chance(0.5) else f"{name}[:] = {self.variable('float')}")
            dtype, axes = "f8", 1
        self.arrays[name] = dtype, axes
        if self.chance(0.3):
            self.late.append(name)
        if self.chance(0.2):
            other = self.name("n")
            self.line(f"{other} = {name}")
            self.arrays[other] = dtype, axes
        for _ in range(self.pick(0, 1, 2)):
            self.write() if self.chance(0.6) else self.changed(name)

    def changed(self, a=None):
        """An array is changed as a whole."""
        a = a or self.random.choice([*self.arrays])
        dtype = self.arrays[a][0]
        if dtype == "?":
            return self.line(f"{a} {self.pick('&=', '|=', '^=')} {self.variable('bool')}")
        kind = "float" if dtype in ("f8", "f4") else "int"
        alike = [n for n, of in self.arrays.items() if of == self.arrays[a]]
        x = (
            self.pick(self.constant(kind), self.variable(kind), self.random.choice(alike))
            if kind == "float"
            else self.pick("1", "2", f"{self.variable('int')} % 5")
        )
        self.line(
            f"{a} {self.pick('*=', '+=', '-=') if kind == 'float' else self.pick('+=', '*=', '^=', '-=')} {x}"
            if self.chance(0.85)
            else f"{a}[:] = {x}"
            if self.chance(0.7)
            else f"{a}.fill({x})"
        )

    # loops
    def kind_of(self, x):
        """Of the items of a list or an array, "none" where they are no numbers to count with."""
        if x in self.lists:
            return self.lists[x]
        t = self.arrays[x][0]
        return "float" if t in ("f8", "f4") else "bool" if t == "?" else "int" if self.chance(0.3) else "none"

    def over(self):
        """The head of a loop over anything, and the variables that it has."""
        lines = [a for a, (_, n) in self.arrays.items() if n == 1]
        sequences = [*lines, *self.lists, *self.lists]
        matrices = [a for a, (_, n) in self.arrays.items() if n == 2]
        if matrices and (not sequences or self.chance(0.25)):
            return self.over_rows(self.random.choice(matrices))
        if not sequences:
            return self.over_arrays()
        x, y = self.random.choice(sequences), self.random.choice(sequences)
        k, m = self.kind_of(x), self.kind_of(y)
        v, u, i, j = self.name("e"), self.name("e"), self.name("i"), self.name("i")
        x, y = (self.pick(s, s, s, s, s, f"reversed({s})", f"{s}[1:]", f"{s}[::2]", f"{s}[::-1]") for s in (x, y))
        if self.chance(0.05):
            x = self.pick("(1, 2, 5)", "[3, 1]", f"[{self.expression('int', 1)}, 4]", f"({self.constant('int')}, {self.variable('int')})")
            k = "int"
        r = self.pick(f"range({self.bounds()})", f"range(len({y}))" if "reversed" not in y else "range(3)")
        s = self.pick("1", "-2", self.variable("int"), "10")
        form, added = self.pick(
            (f"{v} in {x}", [(v, k)]),
            (f"{v} in {x}", [(v, k)]),
            (f"{i}, {v} in enumerate({x})", [(v, k), (i, "int")]),
            (f"{i}, {v} in enumerate({x})", [(v, k), (i, "int")]),
            (f"{i}, {v} in enumerate({x}, {s})", [(v, k), (i, "int")]),
            (f"{i}, {v} in enumerate({x}, start={s})", [(v, k), (i, "int")]),
            (f"{v}, {u} in zip({x}, {y})", [(v, k), (u, m)]),
            (f"{v}, {i} in zip({x}, {r})", [(v, k), (i, "int")]),
            (f"{i}, ({v}, {u}) in enumerate(zip({x}, {y}))", [(v, k), (u, m), (i, "int")]),
            (f"{i}, ({j}, {v}) in zip({r}, enumerate({x}))", [(v, k), (i, "int"), (j, "int")]),
            (f"{i} in reversed({r})", [(i, "int")]),
            (f"{i}, {j} in enumerate({r})", [(i, "int"), (j, "int")]),
            (f"{v} in {x} if {self.variable('bool')} else {x}" if self.chance(0.1) else f"{v} in {x}", [(v, k)]),
        )
        self.line(f"for {form}:")
        return added

    def over_rows(self, a):
        dtype = self.arrays[a][0]
        kind = "float" if dtype in ("f8", "f4") else "bool" if dtype == "?" else "none"
        of = self.pick(a, a, a, f"{a}[1:]", f"{a}.T", f"reversed({a})")
        i = self.name("i")
        if self.columns and self.chance(0.5):
            names = [self.name("e") for _ in range(self.columns if self.chance(0.9) else 2)]
            text = ", ".join(names)
            self.line(f"for {text} in {a}:" if self.chance(0.7) else f"for {i}, ({text}) in enumerate({of}):")
            return [(n, kind) for n in names]
        row = self.name("r")
        form = self.pick(f"{row} in {of}", f"{row} in {of}", f"{i}, {row} in enumerate({of})", f"{i}, {row} in zip(range(1, 9), {of})")
        self.line(f"for {form}:")
        self.arrays[row] = dtype, 1
        return [(i, "int")] if i in form.split(" in ")[0] else []

    def while_list(self):
        """A loop until a list is empty, or full."""
        a = self.list_of()
        kind = self.lists[a]
        v, w = self.name("e"), self.name("w")
        form = self.pick("stack", "counted", "walrus")
        if form == "stack":
            self.line(f"while {self.pick(a, f'len({a}) > 0', f'len({a})')}:")
            self.line(f"    {v} = {a}.{self.pick('pop()', 'pop(0)', 'pop(-1)')}")
            return [(v, kind)]
        self.line(f"{w} = 0")
        if form == "counted":
            self.line(f"while len({a}) < {self.pick(4, 8, 12)} and {w} < 15:")
            self.line(f"    {w} += 1")
            self.line(f"    {a}.append({self.item(kind)})")
        else:
            self.line(f"while ({w} := {w} + 1) < {self.pick(4, 8)}:")
        return [(w, "int")]

    # errors and the rest
    def error(self):
        x, y = self.variable(self.pick("int", "float", "bool")), self.variable(self.pick("int", "float"))
        name = self.pick(*ERRORS)
        a = self.list_of() or self.random.choice([*self.arrays])
        return self.pick(
            f"{name}(f'{{{x}}} and {{{y}!r}}')",
            f"{name}({x})",
            f"{name}({x}, {y}, 'no')",
            f"{name}('no')",
            name,
            f"{name}(f'{{{x}:>8}} of {{len({a})}}')",
            f"{name}(str({x}) + {self.pick('chr(33)', repr('!'))})",
            f"{name}('%s at %r' % ({x}, {y}))",
            f"{name}(type({x}).__name__)",
            f"{name}(f'{{type({y}).__name__}} {{{self.expression('int', 1)}}}')",
            f"{name}(f'{{{a}}}')",
        )

    def raises(self):
        test = f"{self.expression('bool', 1)}"
        if self.chance(0.7):
            test = f"{self.variable('int')} > {self.pick(3, 5, 8, 50)} and {test}"
        if self.chance(0.3):
            return self.line(
                f"assert not ({test})"
                + self.pick(
                    "", "", f", {self.variable('float')}", f", f'{{{self.variable('int')}}} fails'", f", ({self.variable('int')}, 'x')"
                )
            )
        self.line(f"if {test}:")
        self.line(f"    raise {self.error()}")

    def left(self):
        """A statement that Python does, in the midst of a loop."""
        kind = self.pick("int", "int", "float")
        t, x, i = self.target(kind), self.expression(kind, 1), self.variable("int")
        if self.chance(0.3):
            return self.line(f"{self.target('int')} = ({i} * 2**61 + {self.constant('int')}) ** {self.pick(1, 2, 3)} % {self.pick(7, 1009, 65536)}")
        self.line(f"if {self.variable('int')} % {self.pick(3, 5, 8)} == {self.pick(0, 1, 2)}:")
        done = self.pick(
            [f"{t} = len(str({x})) + {self.constant(kind)}"],
            [f"{t} = {kind}(f'{{{i}}}') + {x}"],
            ["try:", f"    {t} = {x}", f"    {t} += {i} // ({self.variable('int')} % 3)", "except ZeroDivisionError:", f"    {t} = {self.constant(kind)}"],
            ["try:", f"    {t} = {x}", "finally:", f"    {self.target('int')} = {i}"],
            ["with np.errstate(all='ignore'):", f"    {t} = {x}"],
            [f"{t}, *others = ({x}, {i}, {i})", f"{t} += len(others)"],
            [f"text = '{self.pick('a', 'b')}' * ({i} % 5)", f"{t} = len(text)", *([self.pick("break", "continue")] if self.loops and self.chance(0.3) else [])],
        )
        for text in done:
            self.line(f"    {text}")

    def unpacked(self):
        """A row, or another few numbers, to names."""
        kind = self.pick("int", "float")
        x, y = self.target(kind), self.target(kind)
        rows = [a for a, (_, n) in self.arrays.items() if n == 2] if self.columns == 2 else []
        lists = [n for n, k in self.lists.items() if k == kind]
        if rows and self.chance(0.7):
            a = self.random.choice(rows)
            return self.line(f"{x}, {y} = {a}[{self.index(a, 0)}]")
        if lists and self.chance(0.5):
            a = self.random.choice(lists)
            i, j = self.list_index(a), self.list_index(a)
            return self.line(
                self.pick(
                    f"{a}[{i}], {a}[{j}] = ({a}[{j}], {a}[{i}])",
                    f"{x}, {a}[{i}] = ({a}[{i}], {x})",
                    f"{x}, {y} = ({a}[{i}], {a}[{j}])",
                    f"{x}, {y} = {a}",
                )
            )
        self.line(
            f"{x} = ({y} := {self.expression(kind, 1)}) + {self.variable('int')}"
            if self.chance(0.5)
            else f"{x} = {y} = {self.expression(kind, 1)}"
        )

    def effect(self):
        """A call of a function for what it does."""
        calls = [self.helper_call(h) for h in self.helpers if h[1] != "array" or self.chance(0.2)]
        self.line(self.random.choice(calls)) if calls else self.write()

    def choose_helpers(self):
        """(name, what it gives or takes first): functions that make arrays, change lists and arrays, and raise."""
        if "helpers" in self.features:
            kinds = ["array", "raise", "store"] + (["push", "list"] if self.lists else [])
            self.helpers = [(self.name("g"), self.pick(*kinds)) for _ in range(self.pick(1, 2, 3))]

    def helper_call(self, h):
        name, of = h
        lines = [a for a, (_, n) in self.arrays.items() if n == 1] or [*self.arrays]
        loops = [n for n, k in self.loops if k == "int"] or ["0"]
        if of == "array":
            return f"{name}({self.variable('float')}, {self.extent()})"
        if of == "list":
            return f"{name}({self.variable('int')} % 6)"
        if of == "raise":
            return f"{name}({self.variable(self.pick('int', 'float'))})"
        if of == "store":
            return f"{name}({self.random.choice(lines)}, {self.random.choice(loops)})"
        return f"{name}({self.list_of() or '[]'}, {self.expression('int', 1)})"

    def define_helpers(self):
        for name, of in self.helpers:
            v, n, a = self.name("v"), self.name("v"), self.name("v")
            if of == "array":
                self.line(f"def {name}({v}, {n}):")
                self.line(f"    {a} = np.{self.pick(f'zeros({n})', f'ones({n})', f'full({n}, 0.5)', f'array([{v}, 2.0, {v} * 2])')}")
                self.line("    " + self.pick(f"{a}[0] = {v}", f"{a} *= 2", f"{a} += {v}", f"{a}[-1] += 1.5"))
                self.line("    " + self.pick(f"return {a}", f"return {a}", f"return {a} * {v}", f"return {a}[::-1]"))
            elif of == "list":
                self.line(f"def {name}({v}):")
                self.line(f"    {a} = {self.pick('[]', '[1]', f'[0] * {v}')}")
                self.line(f"    for {n} in range({v}):")
                self.line(f"        {a}.append({n}{self.pick('', ' * 2', ' - 3')})")
                self.line("    " + self.pick(f"return {a}", f"return {a}", f"return {a}[-1:]", f"return [{n} for {n} in {a} if {n}]"))
            elif of == "raise":
                self.line(f"def {name}({v}):")
                self.line(f"    if {v} > {self.pick(4, 7, 100)}:")
                self.line(
                    f"        raise {self.pick(*ERRORS)}({self.pick(v, f'f{chr(34)}{{{v}}} is above{chr(34)}', f'{v}, {repr(name)}')})"
                )
                self.line(f"    return {v} + 1")
            elif of == "store":
                self.line(f"def {name}({a}, {n}):")
                self.line("    " + self.pick(f"{a}[{n}] = 1", f"{a}[{n}] += 1", f"{a}[{n}], {a}[0] = {a}[0], {a}[{n}]"))
            else:
                self.line(f"def {name}({a}, {n}):")
                self.line("    " + self.pick(f"{a}.append({n})", f"{a}.append({n})", f"{a}.insert(0, {n})", f"{a}[0] = {n}"))
                self.line("    " + self.pick(f"return len({a})", f"return {a}[-1]", "return None"))

    def form(self):
        """A statement of these, or False."""
        if self.has("lists", 0.3):
            self.change_list()
        elif self.has("made", 0.16):
            self.make()
        elif self.has("made", 0.05):
            self.changed()
        elif self.has("raises", 0.1):
            self.raises()
        elif self.has("casts", 0.08):
            self.line(f"{self.target('int')} = {self.filled(self.pick(*CASTS), 2)}")
        elif self.has("over", 0.06):
            self.unpacked()
        elif self.has("left", 0.08):
            self.left()
        elif self.has("helpers", 0.1):
            self.effect()
        else:
            return False
        return True

    def form_expression(self, kind, depth):
        """An expression of these, or None."""
        if self.has("lists", 0.12) and (text := self.of_list(kind)):
            return text
        if kind == "int" and self.has("casts", 0.08):
            return f"{self.pick('int', 'int', '')}({self.filled(self.pick(*CASTS), min(depth, 2))})"
        if kind == "bool" and self.has("raises", 0.06):
            of = self.pick("int", "float")
            return f"(({self.target(of)} := {self.expression(of, 1)}) > {self.constant(of)})"
        if kind == "float" and self.has("made", 0.05):
            return self.pick("{}.sum()", "{}[0]", "{}.max()", "len({})").format(f"({self.made_text()[0]})")
        if self.has("helpers", 0.05) and kind in ("int", "float"):
            calls = [self.helper_call(h) for h in self.helpers if h[1] in ("raise", "push")]
            return self.random.choice(calls) if calls else None
        if kind in ("int", "float") and self.has("over", 0.04):
            return f"{self.pick('sum', 'sum', 'max', 'min')}({self.over_items(kind)})"
        return None
