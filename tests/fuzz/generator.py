"""Random NumPy programs. Each statement is chosen with NumPy's values of the variables so far at hand, so that most of them make
sense; the text alone is enough to run the program again."""
import random
import re

import numpy

from breadth import Breadth
from dtypes import DTYPES, KINDS, NARROW_FLOATS, NARROW_INTS, is_narrow, kind_of
from mixed import Mixed
from pickers import Pickers, literal
from program import Statement
from reference import Reference, quiet
from tolerance import SKIP

UNARY = """negative positive absolute fabs sign sqrt cbrt square reciprocal conjugate exp exp2 expm1 log log2 log10 log1p sin cos tan
arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh degrees radians floor ceil trunc rint logical_not isfinite isinf isnan
signbit invert bitwise_count spacing""".split()
BINARY = """add subtract multiply divide floor_divide remainder fmod power arctan2 hypot logaddexp logaddexp2 equal not_equal less
less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm
maximum minimum fmax fmin copysign nextafter heaviside float_power""".split()
OPERATORS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide", "%": "remainder", "**": "power",
             "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "left_shift", ">>": "right_shift", "<": "less",
             "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal", "!=": "not_equal"}
REDUCTIONS = ["sum", "prod", "min", "max", "argmin", "argmax", "any", "all", "mean", "var", "std"]
COMMON = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "greater"]


class Generator(Pickers):
    def __init__(self, seed, length=12, limit=400):
        self.random = random.Random(seed)
        self.reference = Reference()
        self.statements = []
        self.length, self.limit, self.number = length, limit, 0

    def run(self):
        with quiet():
            for _ in range(self.random.randint(1, 3)):
                self.emit(self.create())
            while len(self.statements) < self.length:
                self.emit(self.random.choices(self.KINDS, self.WEIGHTS)[0](self))
        return self.statements

    def emit(self, statement):
        if statement is None:
            return
        self.statements.append(statement)
        self.reference.step(statement)
        value = self.reference.ns.get(statement.target)
        # What cannot be compared may have another shape (the zeros that trim_zeros() finds in a rounded product).
        unknown = statement.rule == "exactly" and self.reference.tol.get(statement.target) == SKIP
        if unknown or (isinstance(value, numpy.ndarray) and value.size > 4 * self.limit):
            self.emit(Statement(f"del {statement.target}", "del", target=statement.target))

    # --- creation
    def create(self):
        r, dtype = self.random, self.dtype()
        name, shape = self.fresh(), self.shape()
        kind = r.random()
        if kind < 0.5:
            special = ", True" if r.random() < 0.25 else ""
            maker = r.choice(["np.array", "np.asarray"])
            text = f"{maker}(data({dtype!r}, {shape}, {r.randrange(10**6)}{special}))"
        elif kind < 0.6:
            values = [self.weak(dtype) for _ in range(r.randint(0, 4))]
            text = f"np.array([{', '.join(values)}], dtype={dtype!r})"
        elif kind < 0.65:
            text = f"np.array({self.weak(dtype)}, dtype={dtype!r})"
        elif kind < 0.85:
            text = r.choice([f"np.zeros({shape}, {dtype!r})", f"np.ones({shape}, dtype={dtype!r})", f"np.full({shape}, {self.weak(dtype)}, {dtype!r})",
                             f"np.arange({r.randint(0, 12)}, dtype={dtype!r})" if dtype != "?" else "np.zeros(3, bool)", f"np.eye({r.randint(1, 4)}, dtype={dtype!r})",
                             f"np.arange({r.randint(-5, 3)}, {r.randint(3, 20)}, {r.randint(1, 3)})", f"np.zeros({shape})"])
        else:
            text = f"np.array(data({dtype!r}, {shape}, {r.randrange(10**6)}), order='F')"
        return Statement(f"{name} = {text}", "create", target=name)

    def like(self):
        a = self.array()
        fn = self.random.choice(["zeros_like({})", "ones_like({})", "full_like({}, 3)", "empty_like({}) * 0", "array({}, copy=True)", "asarray({})"])
        rule = "copy" if fn.startswith(("array", "asarray")) else "create"
        if fn.startswith("empty") and kind_of(self.value(a).dtype) in "fcb":
            return None
        name = self.fresh()
        return Statement(f"{name} = np.{fn.format(a)}", rule, "copy", name, (a,))

    # --- views
    def view(self):
        r, a = self.random, self.array()
        v, name = self.value(a), self.fresh()
        options = [f"{a}[{self.index(v.shape)}]"] * 5 + [f"{a}.T", f"np.transpose({a}, {self.axes_order(v.ndim)})", f"{a}.reshape({self.reshape(v.shape)})",
                   f"np.reshape({a}, {self.reshape(v.shape)})", f"{a}.ravel()", f"np.squeeze({a})", f"np.expand_dims({a}, {r.randint(-v.ndim - 1, v.ndim)})",
                   f"{a}.real", f"np.flip({a})", f"{a}.flatten()", f"{a}.copy()", f"{a}.view()", f"np.atleast_2d({a})", f"{a}.astype({a}.dtype, copy=False)"]
        if v.ndim >= 1:
            options += [f"{a}[::-1]", f"{a}[1:]", f"{a}[:-1]", f"np.flip({a}, {r.randint(-v.ndim, v.ndim - 1)})"]
        if v.ndim >= 2:
            options += [f"np.swapaxes({a}, {r.randint(-v.ndim, v.ndim - 1)}, {r.randint(-v.ndim, v.ndim - 1)})",
                        f"np.moveaxis({a}, {r.randint(-v.ndim, v.ndim - 1)}, {r.randint(-v.ndim, v.ndim - 1)})", f"np.diagonal({a})", f"{a}[:, ::2]", f"{a}[:, 0]"]
        if kind_of(v.dtype) == "c":
            options += [f"{a}.imag", f"np.imag({a})"]
        if v.size < self.limit // 4:
            options.append(f"np.broadcast_to({a}, {(r.randint(1, 4), *v.shape)})")
        return Statement(f"{name} = {r.choice(options)}", "view", "view", name, (a,))

    # --- elementwise
    def unary(self):
        a, op = self.operand(), self.random.choice(UNARY)
        if self.random.random() < 0.75 and not self.accepts(op, [a]):
            return None
        name, keywords = self.fresh(), ""
        if self.random.random() < 0.15:
            return self.with_keywords(op, [a])
        text = {"negative": f"-{a}", "invert": f"~{a}", "absolute": f"abs({a})"}.get(op) if self.random.random() < 0.5 else None
        return Statement(f"{name} = {text or f'np.{op}({a}{keywords})'}", "elementwise", op, name, (a,))

    def binary(self):
        r = self.random
        op = r.choice(COMMON if r.random() < 0.5 else BINARY)
        a = self.operand()
        b = self.partner(a)
        if r.random() < 0.3:
            a, b = b, a
        if r.random() < 0.85 and not self.accepts(op, [a, b]):
            return None
        if r.random() < 0.2:
            return self.with_keywords(op, [a, b])
        symbol = next((s for s, o in OPERATORS.items() if o == op), None)
        name = self.fresh()
        text = f"({a}) {symbol} ({b})" if symbol and r.random() < 0.7 else f"np.{op}({a}, {b})"
        return Statement(f"{name} = {text}", "elementwise", op, name, (a, b))

    def with_keywords(self, op, operands):
        """A ufunc call with out=, where=, dtype=, casting= or order=."""
        r, parts, name = self.random, list(operands), self.fresh()
        shape = self.broadcast(operands)
        result_of = getattr(numpy, op)
        target = None
        if shape is None:
            return None
        if r.random() < 0.7:
            candidates = [n for n in self.arrays() if self.value(n).shape == shape]
            if candidates and r.random() < 0.7:
                target = r.choice(candidates)
                parts.append(r.choice([f"out={target}", target] if len(operands) == result_of.nin else [f"out={target}"]))
                if r.random() < 0.3:
                    parts.append("casting='unsafe'")
                if r.random() < 0.4 and not self.rewrites_unselected(op, operands, target):
                    mask = self.mask(shape)
                    parts.append(f"where={mask}")
                return Statement(f"np.{op}({', '.join(parts)})", "out", op, target, (*operands, target))
        parts.append(r.choice(["dtype='f8'", "dtype='f4'", "dtype='i4'", "order='F'", "order='C'", "casting='safe'", "dtype=bool", "dtype='D'"]))
        return Statement(f"{name} = np.{op}({', '.join(parts)})", "elementwise", op, name, tuple(operands))

    def where(self):
        a = self.operand()
        b = self.partner(a)
        shape = self.broadcast([a, b])
        if shape is None:
            return None
        name = self.fresh()
        if self.random.random() < 0.6:
            return Statement(f"{name} = np.where({self.mask(shape)}, {a}, {b})", "elementwise", "where", name, (a, b))
        low, high = sorted([self.random.randint(-5, 5), self.random.randint(-5, 5)])
        if self.value(a) is None or kind_of(numpy.asarray(self.value(a)).dtype) not in "if":
            return None
        text = self.random.choice([f"np.clip({a}, {low}, {high})", f"np.clip({a}, {low}, None)", f"np.clip({a}, {low}.5, {high}.5)"])
        return Statement(f"{name} = {text}", "elementwise", "clip", name, (a, str(low), str(high)))

    def cast(self):
        a, name = self.array(), self.fresh()
        dtype, order = self.dtype(), self.random.choice(["", "", ", order='F'", ", order='C'"])
        return Statement(f"{name} = {a}.astype({dtype!r}{order})", "cast", "copy", name, (a,))

    # --- reductions
    def reduction(self):
        r, a, name = self.random, self.array(), self.fresh()
        v, op = self.value(a), r.choice(REDUCTIONS)
        parts, inner = [], True
        axis = None
        if r.random() < 0.75:
            if op in ("argmin", "argmax") or r.random() < 0.75:
                axis = r.randint(-v.ndim, v.ndim - 1) if v.ndim and r.random() < 0.98 else r.randint(0, 3)
            else:
                axis = tuple(sorted(r.sample(range(v.ndim), r.randint(0, v.ndim))))
            parts.append(f"axis={axis}")
            inner = axis in (-1, v.ndim - 1) or axis in ((v.ndim - 1,), tuple(range(v.ndim)))
        if r.random() < 0.3:
            parts.append("keepdims=True")
        if op in ("sum", "prod", "mean", "var", "std") and r.random() < 0.15:
            parts.append(r.choice(["dtype='f8'", "dtype='f4'", "dtype='i8'", "dtype='D'"]))
            inner = False
        if op in ("sum", "prod", "min", "max") and r.random() < 0.15:
            parts.append(f"initial={r.randint(0, 5)}")
            inner = False
        if op not in ("argmin", "argmax") and r.random() < 0.12:
            parts.append(f"where={self.mask(v.shape)}")
            if op in ("min", "max") and not any("initial" in p for p in parts) and r.random() < 0.9:
                parts.append("initial=1")
            inner = False
        if op in ("var", "std") and r.random() < 0.3:
            parts.append("ddof=1")
        rule = "reduce-inner" if inner else "reduce"
        call = f"{a}.{op}({', '.join(parts)})" if r.random() < 0.5 else f"np.{op}({', '.join([a, *parts])})"
        return Statement(f"{name} = {call}", rule, op, name, (a,))

    def reduction_more(self):
        r, a, name = self.random, self.array(), self.fresh()
        v = self.value(a)
        if v.ndim == 0:
            return None
        axis = r.randint(-v.ndim, v.ndim - 1)
        text, op = r.choice([(f"np.add.reduce({a}, axis={axis})", "sum"), (f"np.maximum.reduce({a}, axis={axis})", "max"), (f"np.cumsum({a}, axis={axis})", "cumsum"),
                             (f"np.linalg.norm({a}, axis={axis})", "norm"), (f"np.sort({a}, axis={axis})", "sort"), (f"np.count_nonzero({a}, axis={axis})", "count_nonzero"),
                             (f"np.argsort({a}, axis={axis}, kind='stable')", "argsort"), (f"np.multiply.reduce({a}, axis={axis})", "prod"),
                             (f"np.cumsum({a})", "cumsum"), (f"np.logical_or.reduce({a}, axis={axis})", "any"), (f"np.ptp({a}, axis={axis})", "ptp"),
                             (f"np.unique({a})", "unique"), (f"np.average({a}, axis={axis})", "mean"), (f"np.nanmax({a}, axis={axis})", "max")])
        covered = text.startswith(("np.add.reduce", "np.maximum.reduce", "np.multiply.reduce", "np.linalg.norm", "np.logical_or.reduce"))
        inner = "reduce-inner" if axis in (-1, v.ndim - 1) else "reduce"
        return Statement(f"{name} = {text}", inner, op, name, (a,), covered)

    def matmul(self):
        r, a, b = self.random, self.array(), self.array()
        if r.random() < 0.9 and not self.works(f"np.matmul({a}, {b})"):
            return None
        name = self.fresh()
        return Statement(f"{name} = {r.choice([f'{a} @ {b}', f'np.matmul({a}, {b})', f'np.dot({a}, {b})'])}", "matmul", "matmul", name, (a, b))

    # --- writes
    def write(self):
        r, a = self.random, self.array()
        v, kind = self.value(a), r.random()
        if not v.flags.writeable and r.random() < 0.9:
            return None
        where = f"{a}[{self.index(v.shape)}]"
        if r.random() < 0.15:
            mask = self.mask(v.shape)
            where = f"{a}[{mask}]"
        try:
            part = eval(where, self.reference.ns)
        except IndexError:
            part = None
        if kind < 0.4:
            value = self.weak(v.dtype) if part is None or r.random() < 0.5 else self.fitting(numpy.shape(part))
            if value == "" or (r.random() < 0.97 and not self.casts(value, v.dtype)):
                return None
            return Statement(f"{where} = {value}", "write", "copy", a, (a, value))
        symbol, op = r.choice([("+=", "add"), ("-=", "subtract"), ("*=", "multiply"), ("/=", "divide"), ("+=", "add"), ("//=", "floor_divide"), ("|=", "bitwise_or"), ("**=", "power")])
        whole = r.random() < 0.4
        left, shape = (a, v.shape) if whole else (where, numpy.shape(part) if part is not None else ())
        value = self.weak(v.dtype) if r.random() < 0.4 else self.fitting(shape)
        if value == "":
            return None
        if r.random() < 0.9 and not self.updates(op, left, value):
            return None
        return Statement(f"{left} {symbol} {value}", "write", op, a, (a, value))

    def overlapping(self):
        """Updates that read what they write, shifted."""
        r = self.random
        a = self.array(lambda v: v.ndim >= 1 and v.shape[0] >= 3 and v.flags.writeable and kind_of(v.dtype) in "iuf")
        if a is None:
            return None
        text, op = r.choice([(f"{a}[1:] += {a}[:-1]", "add"), (f"{a}[:-1] -= {a}[1:]", "subtract"), (f"{a}[1:] = {a}[:-1]", "copy"), (f"{a}[::-1] += {a}", "add"),
                             (f"{a}[...] = {a}[::-1]", "copy"), (f"np.add({a}[1:], {a}[:-1], out={a}[1:])", "add"), (f"{a}[1:-1] = {a}[2:] + {a}[:-2]", "add"),
                             (f"np.multiply({a}[:-1], 2, out={a}[1:], casting='unsafe')", "multiply"), (f"{a} += {a}[::-1]", "add")])
        return Statement(text, "write", op, a, (a, a))

    def write_call(self):
        r, a = self.random, self.array(lambda v: v.flags.writeable)
        if a is None:
            return None
        v = self.value(a)
        b = self.fitting(v.shape)
        options = [(f"{a}.fill({self.weak(v.dtype)})", ())]
        if b and self.casts(b, v.dtype):
            options += [(f"np.copyto({a}, {b})", (b,)), (f"np.copyto({a}, {b}, where={self.mask(v.shape)})", (b,)), (f"np.putmask({a}, {self.mask(v.shape)}, {b})", (b,))]
        if v.ndim:
            options.append((f"{a}.sort()", ()))
        text, operands = r.choice(options)
        return Statement(text, "write", "copy", a, (a, *operands), text.startswith("np.copyto") or ".fill" in text)

    # --- indexing by arrays, assembling, scalars
    def fancy(self):
        r, a = self.random, self.array(lambda v: v.ndim >= 1 and v.shape[0] >= 1)
        if a is None:
            return None
        v, name = self.value(a), self.fresh()
        n = v.shape[0]
        picks = [r.randint(-n, n - 1) for _ in range(r.randint(1, 5))]
        text = r.choice([f"{a}[{picks}]", f"{a}[np.array({picks})]", f"np.take({a}, {picks}, axis=0)", f"{a}[{self.mask(v.shape)}]", f"{a}[np.array({picks}), ...]",
                         f"np.repeat({a}, 2, axis=0)", f"np.roll({a}, 1, axis=0)", f"np.concatenate([{a}, {a}])", f"np.stack([{a}, {a}], axis=-1)", f"np.tile({a}, 2)", f"np.diff({a}, axis=0)" if kind_of(v.dtype) in "iuf" else f"{a}[{picks}]"])
        if text.startswith("np.diff"):
            return Statement(f"{name} = {text}", "elementwise", "subtract", name, (a, a), False)
        return Statement(f"{name} = {text}", "copy", "copy", name, (a,), False)

    def fancy_write(self):
        a = self.array(lambda v: v.ndim >= 1 and v.shape[0] >= 1 and v.flags.writeable)
        if a is None:
            return None
        v, r = self.value(a), self.random
        picks = sorted({r.randrange(v.shape[0]) for _ in range(r.randint(1, 4))})
        symbol, op = r.choice([("=", "copy"), ("+=", "add")])
        if op == "add" and kind_of(v.dtype) not in "iufc":
            return None
        return Statement(f"{a}[{picks}] {symbol} {r.randint(0, 9)}", "write", op, a, (a,), False)

    def scalar(self):
        """Values that leave the graph, and scalars that stay in it."""
        r, a, name = self.random, self.array(), self.fresh()
        v = self.value(a)
        options = [f"{a}.shape", f"{a}.ndim", f"{a}.size", f"len({a})" if v.ndim else f"{a}.ndim", f"str({a}.dtype)", f"{a}.strides" if v.size else f"{a}.shape"]
        if self.reference.tol[a].exact and v.size:
            at = tuple(r.randrange(n) for n in v.shape)
            options += [f"{a}[{', '.join(map(str, at)) or '()'}]", f"{a}.item({', '.join(map(str, at))})" if v.ndim else f"{a}.item()", f"{a}.tolist()" if v.size < 9 else f"{a}.shape"]
        text = r.choice(options)
        return Statement(f"{name} = {text}", "copy", "copy", name, (a,))

    def force(self):
        a, name = self.array(), self.fresh()
        if not self.reference.tol[a].exact or kind_of(self.value(a).dtype) not in "biuf":
            return None
        text, rule = self.random.choice([(f"float({a}.max())", "max"), (f"bool({a}.any())", "any"), (f"int(({a} > 0).sum())", "any")])
        return Statement(f"{name} = {text}", "reduce", rule, name, (a,)) if self.works(text) else None

    def delete(self):
        names = self.arrays()
        if len(names) < 3:
            return None
        name = self.random.choice(names)
        return Statement(f"del {name}", "del", target=name)

    # --- mistakes
    def mistake(self):
        r, a, name = self.random, self.array(), self.fresh()
        v = self.value(a)
        odd = (7, *v.shape[1:]) if v.ndim else (7,)
        text = r.choice([f"{a} + np.zeros({(*odd, 5)})", f"{a}.sum(axis={v.ndim + 1})", f"{a}[{', '.join(['0'] * (v.ndim + 1))}]", f"{a}[99]", f"{a}.reshape(7, 11)",
                         f"np.zeros(3, 'u1') + 300", f"np.ones(3, bool) - np.ones(3, bool)", "np.arange(3) ** -1", f"np.array([], 'f8').max()",
                         f"np.bitwise_and({a}, 1.5)", f"np.transpose({a}, {tuple(range(v.ndim + 1))})", f"np.squeeze(np.ones((2, 3)), axis=0)",
                         f"np.broadcast_to({a}, (0, 3, 7))", f"np.matmul(np.ones((2, 3)), np.ones((2, 3)))", f"np.argmax(np.zeros((0, 3)), axis=0)",
                         f"np.concatenate([{a}, np.zeros({(*odd, 2)})])", f"{a}.nosuch", f"np.sum({a}, axis=(0, 0))", f"np.add({a}, 1, out=np.zeros((9, 9, 9)))",
                         f"np.left_shift({a}, 1.0)", f"np.expand_dims({a}, 9)", f"np.swapaxes({a}, 0, 9)", f"np.float32(3) @ {a}", f"np.add({a})", f"np.sqrt({a}, {a}, {a})",
                         f"np.add(np.ones(3), 1, dtype='i4', casting='no')", f"np.zeros((2, -1))", f"np.moveaxis({a}, 0, 9)", f"np.arange(4).astype('nonsense')"])
        if not self.works(text):
            return Statement(f"{name} = {text}", "elementwise", "mistake", name, (), True)
        return None

    def bad_write(self):
        a = self.array(lambda v: v.ndim >= 1 and v.size > 0)
        if a is None:
            return None
        v = self.value(a)
        text = self.random.choice([f"{a}[0] = np.zeros(77)", f"{a} += np.zeros(77)", f"{a}[99] = 1", f"np.ones(3, 'i4').__iadd__(1.5)", f"np.broadcast_to({a}, (2, *{a}.shape))[...] = 1",
                                   f"{a}.shape = (3, 77)", f"{a}[{'0, ' * v.ndim}0] = 1"])
        if kind_of(v.dtype) in "iub":
            text = self.random.choice([text, f"{a} /= 2.5" if kind_of(v.dtype) != "b" else text, f"{a} += 1j", f"{a}[0] = 10**30" if kind_of(v.dtype) != "b" else text])
        if self.works_statement(text):
            return None
        return Statement(text, "write", "mistake", a, ())

    KINDS, WEIGHTS = zip((create, 8), (like, 3), (view, 22), (unary, 9), (binary, 22), (where, 5), (cast, 5), (reduction, 14), (reduction_more, 4),
                         (matmul, 2), (write, 16), (overlapping, 4), (write_call, 3), (fancy, 5), (fancy_write, 2), (scalar, 3), (force, 1), (delete, 6),
                         (mistake, 1.5), (bad_write, 1))


class BroadGenerator(Generator, Breadth, Mixed):
    """Everyday statements and the rarer ones of breadth.py and mixed.py."""
    KINDS, WEIGHTS = zip(*zip(Generator.KINDS, Generator.WEIGHTS), *Breadth.BREADTH, *Mixed.MIXED)


class NarrowGenerator(BroadGenerator):
    """Arrays of ml_dtypes' dtypes beside the others. What NumPy refuses is left to the other generators, and so is what
    docs/differences.md lists: means of small integers, which stay what they are in NumPy, small integers beside small floats, and the
    sign of a zero's sign; scans whose steps NumPy rounds, where they are compared exactly; NaN in what is sorted or counted; and einsum,
    tensordot and dot, which NumPy does not have of these dtypes or promotes in ways of their own: `@` and matmul multiply them here."""
    OWN = re.compile(r"mean|average|median|quantile|percentile|\.?(var|std)\(|sign\(|(cumsum|cumprod|accumulate|reduceat|\.at)\b|trapezoid|interp|einsum|tensordot|dot\(|searchsorted|union1d|divmod|round|bincount")

    def emit(self, statement):
        if statement is not None and statement.text and (self.is_known(statement.text) or not self.works_statement(statement.text)):
            return
        super().emit(statement)

    def is_known(self, text):
        live = [getattr(self.value(n), "dtype", None) for n in set(re.findall(r"\bv\d+\b", text)) if n in self.reference.ns]
        kinds = {KINDS[t] for t in live if is_narrow(t)} | {KINDS[numpy.dtype(n)] for n in NARROW_FLOATS + NARROW_INTS if f"'{n}'" in text}
        return bool(kinds) and ("f" in kinds and len(kinds) > 1 or self.OWN.search(text) is not None)

    def dtype(self):
        r = self.random
        return r.choice([super().dtype, lambda: "bfloat16", lambda: r.choice(NARROW_FLOATS), lambda: r.choice(NARROW_INTS)])()


__all__ = ["BroadGenerator", "DTYPES", "Generator", "NarrowGenerator", "literal"]
