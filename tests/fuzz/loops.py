"""Loops in time, unrolled: a few lines that are drawn once and come by in every round. Only operations whose bits NumPy pins down are
drawn, so that results are compared exactly however many rounds there are."""
import numpy

from generator import Generator
from program import Statement
from reference import quiet

POINTS = 300_000  # elements of the largest fields
WORK = 2_000_000  # elements times lines of a program, about


class LoopGenerator(Generator):
    """`shape` and `kind` ("f", "i", "u" or "b") are those of all fields of a program, `fields` their names; a name among them may be
    bound anew in every round. `coefficients` are arrays that no round writes to."""

    def __init__(self, seed, points=POINTS, work=None):
        super().__init__(seed, limit=20 * points)
        self.points, self.work = points, work or (WORK if self.random.random() < 0.1 else WORK // 8)

    def run(self):
        r = self.random
        with quiet():
            r.choices([self.steps, self.recurrence, self.optimiser], [8, 1, 1])[0]()
        return self.statements

    # --- pieces
    def line(self, text, target=""):
        self.emit(Statement(text, "create", target=target))

    def field(self, shape=None, dtype=None):
        name, dtype = self.fresh(), dtype or self.dtypes()
        scale = {"f": " * 0.125", "i": "", "u": " % 2", "b": ""}[self.kind]
        if self.random.random() < 0.3:
            scale = ""
        self.line(f"{name} = np.array(data({dtype!r}, {tuple(shape or self.shape_of)}, {self.random.randrange(10**6)})){scale}", name)
        return name

    def dtypes(self):
        return self.random.choice({"f": ["f8", "f8", "f4"], "i": ["i8", "i8", "i4"], "u": ["u1"], "b": ["?"]}[self.kind])

    def constant(self):
        return self.random.choice({"f": ["0.25", "0.5", "-0.125", "0.1", "-0.5"], "i": ["2", "3", "-1", "7"], "u": ["1", "3", "5"], "b": ["True", "False"]}[self.kind])

    def extents(self, work):
        """A shape of so many elements at most, tiny ones and long ones among them."""
        r = self.random
        ndim = r.choice([1, 2, 2, 2, 3])
        n = min(self.points, work) ** r.choice([0.3, 0.5, 0.7, 0.8, 0.9, 1.0])
        shape = []
        for left in range(ndim, 0, -1):
            extent = max(4, int(n ** (1 / left) * (r.uniform(0.3, 3) if left > 1 else 1)))
            shape.append(min(extent, max(4, int(n))))
            n /= shape[-1]
        return tuple(shape)

    # --- expressions of elements
    def window(self, shift=None, step=1):
        """An index that leaves `margin` out on all sides, moved along one axis."""
        axis, by = shift or (0, 0)
        parts = []
        for i, n in enumerate(self.shape_of):
            d = by if i == axis else 0
            stop = n - self.margin + d
            low, high = self.margin + d + (self.phase if step > 1 else 0), f"{stop - n}" if stop < n and self.random.random() < 0.7 else f"{stop}"
            parts.append(f"{low or ''}:{'' if stop == n else high}" + (f":{step}" if step > 1 else ""))
        return ", ".join(parts)

    def around(self, name, step):
        r = self.random
        axis = r.randrange(len(self.shape_of))
        return f"{name}[{self.window((axis, r.choice([-1, 0, 1]) * r.randint(1, self.margin)), step)}]"

    def combined(self, terms):
        """An expression of the terms that stays small, or wraps."""
        r = self.random
        if self.kind == "b":
            text = terms[0]
            for t in terms[1:]:
                text = f"({text} {r.choice('&|^^')} {t})"
            return r.choice([text, f"~{text}"])
        if self.kind == "u" and r.random() < 0.4:
            total = " + ".join(terms)
            return f"(({total} == 3) | (({terms[0]} == 1) & ({total} == 2))).astype('u1')"
        if self.kind in "iu":
            text = terms[0]
            for t in terms[1:]:
                text = f"({text} {r.choice('++-*^&|')} {t})"
            return r.choice([text, f"{text} % 17", f"{text} // 3", f"np.maximum({text}, 1)", f"np.minimum({text}, {terms[0]})", f"{text} >> 1", f"abs({text})"])
        text = terms[0]
        for t in terms[1:]:
            text += f" {r.choice('+++-')} {t}"
        text = f"{1 / 2 ** max(1, len(terms) - 1).bit_length()} * ({text})"
        return r.choice([text] * 5 + [f"np.minimum({text}, 4.5)", f"np.maximum({text}, -3.5)", f"np.sqrt(abs({text}) + 0.5)", f"({text}) / (1.5 + {terms[0]} * {terms[0]})", f"np.where({terms[0]} > 0.5, {text}, {terms[-1]} * 0.5)"])

    def expression(self, step=1):
        r = self.random
        terms = [self.around(r.choice(self.fields), step) for _ in range(r.randint(1, 5))]
        if r.random() < 0.3 and self.coefficients:
            c = r.choice(self.coefficients)
            terms.append(f"{terms[0]} {'&' if self.kind == 'b' else '*'} {c}[{self.window(None, step)}]")
        elif r.random() < 0.3:
            terms.append(f"{terms[0]} {'|' if self.kind == 'b' else '*'} {self.constant()}")
        return self.combined(terms)

    def whole(self):
        """An expression of whole fields, which comes round at the edges."""
        r, terms = self.random, []
        for _ in range(r.randint(1, 4)):
            name, axis = r.choice(self.fields), r.randrange(len(self.shape_of))
            n = self.shape_of[axis]
            lead = ":, " * axis
            terms.append(r.choice([name, name, f"np.roll({name}, {r.choice([1, -1, 2, -2])}, {axis})", f"{name}[{lead}(np.arange({n}) + {r.choice([1, n - 1, 2])}) % {n}]", f"{name}[{lead}::-1]" if r.random() < 0.15 else name]
                                  + ([f"{r.choice(self.coefficients)} {'&' if self.kind == 'b' else '*'} {name}"] if self.coefficients else [])))
        return self.combined(terms)

    def element(self):
        return ", ".join(str(self.random.randint(-n, n - 1)) for n in self.shape_of)

    # --- lines of a round: each gives [(text, target)]
    def in_place(self):
        u, step = self.random.choice(self.fields), self.random.choice([1, 1, 1, 2])
        return [(f"{u}[{self.window(None, step)}] = {self.expression(step)}", u)]

    def updated(self):
        r, u = self.random, self.random.choice(self.fields)
        at = self.window()
        e = self.expression()
        if self.kind == "f":
            e = f"0.25 * ({e} - {u}[{at}])"
        return [(f"{u}[{at}] {r.choice({'f': ['+='], 'i': ['+=', '-='], 'u': ['+=', '^='], 'b': ['|=', '^=', '&=']}[self.kind])} {e}", u)]

    def swapped(self):
        r = self.random
        u, v = (r.sample(self.fields, 2) * 2)[:2] if len(self.fields) > 1 else (self.fields[0],) * 2
        if u == v:
            return self.in_place()
        if r.random() < 0.4:
            return [(f"{u}, {v} = {self.whole()}, {u}", u)]
        return [(f"{v}[{self.window()}] = {self.expression()}", v), (f"{u}, {v} = {v}, {u}", u)]

    def new_array(self):
        r, u = self.random, self.random.choice(self.fields)
        if r.random() < 0.4:
            return [(f"{u} = {self.whole()}", u)]
        w, make = self.fresh(), r.choice([f"{u}.copy()", f"{u} {'^' if self.kind == 'b' else '*'} {self.constant()}", f"np.zeros_like({u})", f"np.array({u})"])
        return [(f"{w} = {make}", w), (f"{w}[{self.window()}] = {self.expression()}", w), (f"{u} = {w}", u)] + ([(f"del {w}", w)] if r.random() < 0.7 else [])

    def padded(self):
        u, v = self.random.choice(self.fields), self.random.choice(self.fields)
        p, m = self.fresh(), self.margin
        mode = self.random.choice(["'wrap'", "'edge'", "'constant'", "'symmetric'", "'reflect'"])
        names, self.fields = self.fields, [p]
        shape, self.shape_of = self.shape_of, tuple(n + 2 * m for n in self.shape_of)
        e = self.expression_of_fields()
        self.fields, self.shape_of = names, shape
        return [(f"{p} = np.pad({v}, {m}, mode={mode})", p), (f"{u} = {e}", u)]

    def expression_of_fields(self):
        kept, self.coefficients = self.coefficients, []
        e = self.expression()
        self.coefficients = kept
        return e

    def ping_pong(self):
        r = self.random
        u, v = r.choice(self.fields), r.choice(self.fields)
        if self.kind == "b":
            return [(f"np.logical_xor({u}, {self.whole()}, out={v})", v)]
        op = r.choice(["add", "multiply", "subtract"])
        lines = [(f"np.{op}({u}, {self.whole()}, out={v}, casting='same_kind')", v)]
        return lines + ([(f"np.multiply({v}, 0.5, out={v})", v)] if self.kind == "f" else [])

    def leapfrog(self):
        if len(self.fields) < 2 or self.kind == "b":
            return self.in_place()
        u, v = self.random.sample(self.fields, 2)
        w, at = self.fresh(), self.window()
        half = "0.5 * " if self.kind == "f" else ""
        return [(f"{w} = {half}(2 * {u} - {v})", w), (f"{w}[{at}] += {self.expression()}", w), (f"{v}, {u} = {u}, {w}", u)]

    def boundary(self):
        r, u = self.random, self.random.choice(self.fields)
        axis = r.randrange(len(self.shape_of))
        lead, n = ":, " * axis, self.shape_of[axis]
        x = self.constant()
        near, far = f"{u}[{lead}0]", f"{u}[{lead}-1]"
        sides = [f"{near} = {u}[{lead}1]", f"{far} = {u}[{lead}-2]", f"{far} = {x}", f"{near} = {u}[{lead}{n // 2}]", f"{u}[{lead}:2] = {x}", f"{u}[{self.element()}] = {x}", f"{near} = {far}", f"{u}[{lead}::3] = {u}[{lead}:1]"]
        if self.kind != "b":
            sides += [f"{u}[{self.element()}] += {x}", f"{u}[{lead}{n // 2}] *= {x}", f"{u}[{lead}(7 * t) % {n}] += {x}"]
        return [(text, u) for text in r.sample(sides, r.randint(1, 3))]

    def masked(self):
        u, v = self.random.choice(self.fields), self.random.choice(self.fields)
        x = self.constant()
        condition = {"f": f"{v} > 0.75", "i": f"{v} % 3 == 1", "u": f"{v} > 2", "b": f"~{v}"}[self.kind]
        m = self.fresh()
        return self.random.choice([
            [(f"{u} = np.where({condition}, {self.whole()}, {u})", u)], [(f"{m} = {condition}", m), (f"{u}[{m}] = {x}", u)],
            [(f"{m} = {condition}", m), (f"np.copyto({u}, {x}, where={m})", u)], [(f"{u} = np.where({condition}, {x}, {self.whole()}).astype({u}.dtype)", u)],
        ])

    def by_rows(self):
        """Reductions of a round. Floats are summed where NumPy's order is pinned down; which of two zeros is the largest is not."""
        r, u = self.random, self.random.choice(self.fields)
        s, axis = self.fresh(), self.random.randrange(len(self.shape_of))
        if self.kind == "f":
            return [(f"{s} = np.sum(np.ascontiguousarray({u}), axis=-1, keepdims=True)", s), (f"{u} = {u} - {s} * {1 / self.shape_of[-1]!r}", u)]
        if self.kind == "b":
            return [(f"{s} = {u}.{r.choice(['any', 'all'])}(axis={axis}, keepdims=True)", s), (f"{u} ^= {s}", u)]
        op = r.choice(["sum", "max", "min", "cumsum"])
        keep = "" if op == "cumsum" else ", keepdims=True"
        return [(f"{s} = np.{op}({u}, axis={axis}{keep}).astype({u}.dtype)", s), (f"{u} {r.choice(['-=', '+='])} {s}", u)]

    def extremes(self):
        u, v = self.random.choice(self.fields), self.random.choice(self.fields)
        if self.kind not in "iu":
            return self.updated()
        return [(self.random.choice([f"np.maximum({u}, {v}, out={u})", f"{u} = np.maximum({u}, np.roll({v}, 1, 0)).astype({u}.dtype)", f"{u} = np.maximum.accumulate({u}, axis=0)"]), u)]

    def apart(self):
        """What no stretch of rounds has inside."""
        r, u, w = self.random, self.random.choice(self.fields), self.fresh()
        choices = [f"{w} = {u}.T.copy()", f"{w} = {u}[::-1].copy()", f"{w} = np.nonzero({u})[0][:3]", f"{w} = np.take({u}, [0, 1, 0], axis=0)"]
        if self.kind in "iu":
            choices += [f"{w} = np.sort({u}, axis=-1)", f"{w} = np.cumsum({u})"]
        return [(r.choice(choices), w)]

    # --- what is looked at in some rounds
    def look(self):
        r, u, name = self.random, self.random.choice(self.fields), self.fresh()
        if r.random() < 0.5 or self.kind == "f":
            text = r.choice([f"{u}[{self.element()}]", f"float({u}[{self.element()}])", f"int(({u} > 0).sum())", f"bool(({u} == {u}).all())"])
        else:
            text = r.choice([f"int({u}.sum())", f"{u}.max()", f"{u}.any(axis=0)"])
        return [(f"{name} = {text}", name)]

    def keep(self):
        u, name = self.random.choice(self.fields), self.fresh()
        return [(f"{name} = {self.random.choice([f'{u}[1:]', f'{u}[::2]', f'{u}.T', u, f'{u}.copy()', f'{u} + {u}', f'{u}[..., 1:-1].copy()'])}", name)]

    LINES = [("in_place", 5), ("updated", 4), ("swapped", 4), ("new_array", 4), ("padded", 1), ("ping_pong", 2), ("leapfrog", 2), ("boundary", 4), ("masked", 2), ("by_rows", 1), ("extremes", 1), ("apart", 0.15)]

    def steps(self):
        r = self.random
        self.kind = r.choices("fiub", [7, 2, 1, 1])[0]
        self.margin, self.phase = r.choice([1, 1, 1, 2]), r.randint(0, 1)
        rounds = r.choice([2, 3, 5, 8, 12, 20, 40, 60])
        names, weights = zip(*self.LINES)
        wanted = [getattr(self, n) for n in r.choices(names, weights, k=r.randint(1, 4))]
        self.shape_of = tuple(max(n, 2 * self.margin + 2) for n in self.extents(self.work / (rounds * len(wanted))))
        one = self.dtypes() if r.random() < 0.9 else None
        self.fields = [self.field(dtype=one) for _ in range(r.randint(1, 3))]
        self.coefficients = [self.field(dtype=one) for _ in range(r.choice([0, 0, 1]))]
        body = [line for make in wanted for line in make()]
        look, kept = r.choice([None, None, None, self.look()]), r.choice([None, None, self.keep()])
        every, at = r.choice([3, 7, 20]), r.randrange(rounds)
        for t in range(rounds):
            for text, target in body:
                self.line(text.replace("(7 * t)", str(7 * t)), target)
            if look and t % every == every - 1:
                self.renamed(look, t)
            if kept and t == at:
                self.renamed(kept, t)

    def renamed(self, lines, t):
        """With names of their own in each round."""
        for text, target in lines:
            self.line(text.replace(target, f"{target}_{t}", 1), f"{target}_{t}")

    def recurrence(self):
        """A row of each round, made of the row before."""
        r = self.random
        self.kind = r.choice("ffi")
        rounds = r.choice([3, 8, 20, 60])
        n = max(1, int(min(self.points / rounds, self.work / 10 / rounds) ** r.choice([0.3, 0.6, 0.9, 1])))
        self.shape_of = r.choice([(rounds + 1, n), (rounds + 1, n), (rounds + 1, max(1, n // 5), 5)])
        one = self.dtypes()
        x, y = self.field(dtype=one), self.field(dtype=one)
        z = self.field((self.shape_of[1:] or (1,)), one)
        back, step = r.choice([1, 1, 2]), r.choice([1, 1, 2])
        if self.kind == "f":
            form = r.choice([f"{y}[t] = 0.9 * {y}[p] + 0.1 * {x}[t]", f"{y}[t] = {x}[t] - 0.5 * {y}[p]", f"{y}[t] += 0.25 * {y}[p]", f"{y}[t] = {y}[p] * {z} + {x}[t]", f"{y}[t] = np.where({x}[t] > 0.5, {y}[p] * 0.5, {x}[p])", f"{y}[t, ..., 1:] = 0.5 * {y}[p, ..., :-1]"])
        else:
            form = r.choice([f"{y}[t] = np.maximum({y}[p], {x}[t])", f"{y}[t] = {x}[t] + {y}[p]", f"{y}[t] += {y}[p]", f"{y}[t] = {y}[p] % 5 + {z}", f"{y}[t, ..., 1:] = {y}[p, ..., :-1] ^ 3"])
        other = r.choice([None, None, f"{z} = {z} + {y}[t] - {z} // 2" if self.kind == "i" else f"{z} = 0.5 * {z} + 0.25 * {y}[t]", f"{x}[t] = {y}[t] * 3"])
        backwards = r.random() < 0.2
        for t in range(back, rounds + 1, step):
            now, before = (rounds - t, rounds - t + back) if backwards else (t, t - back)
            for text in (form, other):
                if text:
                    text = text.replace("[t", f"[{now}").replace("[p", f"[{before}")
                    self.line(text, text.split("[")[0].split(" ")[0])

    def optimiser(self):
        """Rounds of updates of several parameters."""
        r = self.random
        self.kind = "f"
        rounds, one = r.choice([3, 10, 30]), self.dtypes()
        form = r.choice(["momentum", "adam", "plain"])
        parameters = []
        for _ in range(r.randint(1, 5)):
            shape = r.choice([(3,), (40,), (5, 7), (64, 33), (300, 100), (1,)])
            p, x = self.field(shape, one), self.field(shape, one)
            m, v = self.fresh(), self.fresh()
            self.line(f"{m} = np.zeros({shape}, {one!r})", m)
            self.line(f"{v} = np.zeros_like({p})", v)
            parameters.append((p, x, m, v))
        g = self.fresh()
        for t in range(rounds):
            for p, x, m, v in parameters:
                self.line(f"{g} = ({p} * {x} - 0.5) * {x}", g)
                if form == "plain":
                    self.line(f"{p} -= 0.0625 * {g}", p)
                    continue
                self.line(r.choice([f"{m} = 0.9 * {m} + 0.1 * {g}"]) if form == "momentum" else f"{m} *= 0.9", m)
                if form == "momentum":
                    self.line(f"{p} -= 0.05 * {m}", p)
                    continue
                self.line(f"{m} += 0.1 * {g}", m)
                self.line(f"{v} = 0.99 * {v} + 0.01 * {g} * {g}", v)
                self.line(f"{p} -= 0.01 * ({m} / {1 - 0.9 ** (t + 1)!r}) / (np.sqrt({v} / {1 - 0.99 ** (t + 1)!r}) + 1e-8)", p)
            if r.random() < 0.1:
                p = parameters[0][0]
                self.line(f"{self.fresh()} = float({p}.flat[0])")
