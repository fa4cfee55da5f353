"""Statements beyond the everyday ones: Python numbers out of a dtype's range, every keyword of ufuncs and reductions, ufunc
methods, NaN-functions, advanced indexing, writes through chains of views, products, conversions, and the shapes at the edge."""
import numpy

from dtypes import kind_of
from program import Statement

INPLACE = {"+=": "add", "-=": "subtract", "*=": "multiply", "/=": "divide", "//=": "floor_divide", "%=": "remainder", "**=": "power",
           "&=": "bitwise_and", "|=": "bitwise_or", "^=": "bitwise_xor", "<<=": "left_shift", ">>=": "right_shift"}
FOLDS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "fmax": "max", "fmin": "min", "logical_or": "any",
         "logical_and": "all", "bitwise_or": "any", "bitwise_and": "any", "bitwise_xor": "any"}
NAN_FUNCTIONS = {"nansum": "sum", "nanprod": "prod", "nanmax": "max", "nanmin": "min", "nanmean": "mean", "nanvar": "var", "nanstd": "std",
                 "nanargmax": "argmax", "nanargmin": "argmin"}
HUGE = ["300", "-1", "-129", "128", "255", "256", "40000", "65536", "2**31", "-2**31 - 1", "2**32", "2**53 + 1", "2**63 - 1", "2**63", "2**64 - 1", "2**64",
        "-2**63", "10**30", "1e5", "1e39", "-1e39", "1e300", "1e-50", "float('inf')", "float('nan')", "1e300j"]


class Breadth:
    # --- numbers
    def out_of_range(self):
        """Python numbers that the array's dtype may not hold: NEP 50."""
        r, a, name = self.random, self.array(lambda v: kind_of(v.dtype) in "biufc"), self.fresh()
        if a is None:
            return None
        x = r.choice(HUGE)
        op = r.choice(["add", "subtract", "multiply", "less", "less_equal", "greater", "equal", "not_equal", "greater_equal", "maximum", "minimum", "bitwise_and", "divide",
                       "floor_divide", "remainder", "logical_and", "where", "clip", "copysign", "fmod", "hypot"])
        if op == "where":
            return Statement(f"{name} = np.where({self.mask(self.value(a).shape)}, {a}, {x})", "elementwise", "where", name, (a, x))
        if op == "clip":
            return Statement(f"{name} = np.clip({a}, {r.choice(['0', 'None', '-5', x])}, {x})", "elementwise", "clip", name, (a, x))
        if kind_of(self.value(a).dtype) == "c" and op not in ("add", "subtract", "equal", "not_equal"):
            return None
        pair = [a, x] if r.random() < 0.7 else [x, a]
        return Statement(f"{name} = np.{op}({', '.join(pair)})", "elementwise", op, name, tuple(pair))

    def out_of_range_write(self):
        r, a = self.random, self.array(lambda v: kind_of(v.dtype) in "biuf" and v.flags.writeable and v.ndim)
        if a is None:
            return None
        x = r.choice(HUGE[:18])
        text = r.choice([f"{a}[{self.index(self.value(a).shape)}] = {x}", f"{a}.fill({x})", f"{a} += {x}", f"{a}[{self.mask(self.value(a).shape)}] = {x}", f"{a}[...] = np.int64({r.randint(-300, 300)})"])
        return Statement(text, "write", "copy" if "+=" not in text else "add", a, (a, x))

    def rounding(self):
        r, a, name = self.random, self.array(), self.fresh()
        decimals = r.choice([0, 1, 2, -1, 3])
        return Statement(f"{name} = {r.choice([f'np.round({a}, {decimals})', f'{a}.round({decimals})', f'np.around({a})'])}", "exactly", "round", name, (a,))

    def odd_elementwise(self):
        r, a, name = self.random, self.array(), self.fresh()
        b = self.partner(a)
        text = r.choice([f"np.nan_to_num({a})", f"np.isclose({a}, {b})", f"np.divmod({a}, {b})", f"divmod({a}, {b})", f"np.modf({a})", f"np.frexp({a})", f"np.angle({a})", f"np.sinc({a})",
                         f"np.isneginf({a})", f"np.ldexp({a}, 2)", f"np.array_equal({a}, {b})", f"np.allclose({a}, {a})", f"np.fix({a})", f"np.iscomplexobj({a})", f"np.isreal({a})",
                         f"np.logical_not({a})", f"pow({a}, 2)", f"{a} ** 0.5", f"{a} ** -1", f"{a} ** 2.0", f"2 ** {a}", f"np.sign({a})"])
        for function, inside in (("sinc", "sin"), ("angle", "arctan2")):
            if function in text:
                return Statement(f"{name} = {text}", "elementwise", inside, name, (a,), False)
        op = "power" if "**" in text or "pow" in text else "exactly"
        return Statement(f"{name} = {text}", "elementwise" if op == "power" else "exactly", op, name, (a,) if "**" in text or "pow" in text else (a, b), op == "power")

    # --- keywords of ufuncs
    def ufunc_call(self):
        """out= of any dtype and layout, overlapping its inputs, larger than they; where= that broadcasts; both; dtype= and casting=."""
        r = self.random
        op = r.choice(["add", "subtract", "multiply", "maximum", "divide", "negative", "square", "less", "logical_or", "bitwise_xor", "floor_divide", "sqrt", "absolute", "isnan", "power"])
        unary = op in ("negative", "square", "sqrt", "absolute", "isnan")
        target = self.array(lambda v: v.flags.writeable)
        if target is None:
            return None
        v = self.value(target)
        turned = [target] + ([f"{target}[::-1]", f"{target}[..., ::-1]", f"{target}.T", f"{target}[:1]", f"{target}[-1]"] if v.ndim else [])
        a = r.choice(turned) if r.random() < 0.6 else self.fitting(v.shape)
        b = r.choice([r.choice(turned), self.fitting(v.shape), self.weak(v.dtype)])
        operands = [a] if unary else [a, b] if r.random() < 0.7 else [b, a]
        if not all(o and self.fits(o, v.shape) for o in operands):
            return None
        parts = [*operands, r.choice([f"out={target}", f"out=({target},)", f"out={r.choice(turned[:4])}"])]
        if r.random() < 0.5:
            shape = list(v.shape)
            for i in range(len(shape)):
                if r.random() < 0.3:
                    shape[i] = 1
            parts.append(f"where={self.mask(tuple(shape[r.randint(0, len(shape)):]) if r.random() < 0.2 else tuple(shape))}")
        if r.random() < 0.3:
            parts.append(r.choice(["casting='unsafe'", "casting='safe'", "casting='no'"]))
        dtype = [r.choice(["dtype='f8'", "dtype='f4'", "dtype='i8'", "dtype='D'"])] if r.random() < 0.15 else []
        parts += dtype
        if any(p.startswith("where") for p in parts) and self.rewrites_unselected(op, operands, target, *dtype, "casting='unsafe'"):
            return None
        if op == "power" and r.random() < 0.9 and not self.works_statement(f"np.{op}({', '.join(parts)})"):
            return None
        return Statement(f"np.{op}({', '.join(parts)})", "out", op, target, (*operands, target))

    def fits(self, text, shape):
        v = self.value(text)
        return v is not None and self.goes_into(numpy.shape(v), shape)

    def fold_rule(self, op, v):
        # NumPy rounds a complex product once where it is the only one of its line, twice elsewhere; which of two zeros an extremum is nobody says.
        if op in ("minimum", "maximum", "fmin", "fmax"):
            return "reduce", FOLDS[op]
        return ("reduce", "prod") if op == "multiply" and kind_of(v.dtype) == "c" else ("exactly", op)

    def ufunc_method(self):
        r, a, name = self.random, self.array(), self.fresh()
        v, op = self.value(a), r.choice(list(FOLDS))
        kind = r.random()
        if kind < 0.6:
            parts = []
            if r.random() < 0.8:
                axes = [str(r.randint(-v.ndim, v.ndim - 1))] if v.ndim else ["0"]
                parts.append("axis=" + r.choice([*axes * 3, "None", str(tuple(sorted(r.sample(range(v.ndim), r.randint(0, v.ndim)))))]))
            if r.random() < 0.3:
                parts.append("keepdims=True")
            if r.random() < 0.2:
                parts.append(f"initial={r.choice(['0', '1', '5', '2.5', '-3', 'None', 'True'])}")
            if r.random() < 0.2:
                parts.append(f"where={self.mask(v.shape)}")
            if r.random() < 0.15:
                parts.append(r.choice(["dtype='f8'", "dtype='f4'", "dtype='i2'", "dtype='D'", "dtype=bool", "dtype='f2'"]))
            return Statement(f"{name} = np.{op}.reduce({', '.join([a, *parts])})", "reduce", FOLDS[op], name, (a,))
        if v.ndim == 0:
            return None
        if kind < 0.75:
            return Statement(f"{name} = np.{op}.accumulate({a}, axis={r.randint(-v.ndim, v.ndim - 1)})", *self.fold_rule(op, v), name, (a,), False)
        if kind < 0.9:
            b = self.array(lambda w: w.ndim <= 2 and w.size * v.size <= 2 * self.limit)
            return b and Statement(f"{name} = np.{op}.outer({a}, {b})", "elementwise", op, name, (a, b), kind_of(v.dtype) in "biufc")
        if not v.flags.writeable or not v.shape[0]:
            return None
        picks = [r.randrange(v.shape[0]) for _ in range(r.randint(1, 4))]
        return Statement(f"np.add.at({a}, {picks}, 1)", "write", "add", a, (a,), False)

    # --- reductions
    def reduction_call(self):
        """Reductions with out=, initial= of other types, masks that broadcast, narrow dtypes, odd axes."""
        r, a, name = self.random, self.array(), self.fresh()
        v, op = self.value(a), r.choice(["sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "argmin", "argmax", "ptp", "count_nonzero", "median"])
        parts, start, keep = [], "0", r.random() < 0.3
        if r.random() < 0.8:
            axis = r.randint(-v.ndim, v.ndim - 1) if v.ndim and r.random() < 0.7 else tuple(r.sample(range(-v.ndim, 0), r.randint(0, v.ndim))) if r.random() < 0.8 else 0
            parts.append(f"axis={axis}")
        if keep:
            parts.append("keepdims=True")
        if op in ("sum", "prod", "min", "max") and r.random() < 0.4:
            start = r.choice(["0", "1.5", "-2", "300", "2j", "np.float32(3)", "True", "10**20", "np.inf"])
            parts.append(f"initial={start}")
        if op in ("sum", "prod", "mean", "var", "std") and r.random() < 0.3:
            parts.append("dtype=" + r.choice(["'f8'", "'f4'", "'f2'", "'i1'", "'i8'", "'u8'", "'D'", "'F'", "bool", "'?'", "float", "int"]))
        if op in ("sum", "prod", "min", "max", "any", "all", "mean", "var", "std") and r.random() < 0.3:
            shape = tuple(1 if r.random() < 0.3 else n for n in v.shape)
            parts.append(f"where={self.mask(shape)}")
        if op in ("var", "std") and r.random() < 0.4:
            parts.append(r.choice(["ddof=1", "ddof=3", "correction=1", "ddof=0.5"]))
        call = f"np.{op}({', '.join([a, *parts])})"
        exactly = "exactly" if op == "median" else "reduce"
        if r.random() < 0.2:
            want = self.value(call)
            outs = [] if want is None else [n for n in self.arrays() if self.value(n).shape == numpy.shape(want) and n != a]
            if outs and op not in ("count_nonzero",):
                target = r.choice(outs)
                return Statement(f"np.{op}({', '.join([a, *parts])}, out={target})", "out-reduce", op, target, (a, target), op != "median")
        return Statement(f"{name} = {call}", exactly, op, name, (a, start), op != "median")

    def nan_reduction(self):
        r, a, name = self.random, self.array(lambda v: kind_of(v.dtype) in "fiu"), self.fresh()
        if a is None:
            return None
        v, op = self.value(a), r.choice(list(NAN_FUNCTIONS))
        parts = [f"axis={r.randint(-v.ndim, v.ndim - 1)}"] if v.ndim and r.random() < 0.7 else []
        if r.random() < 0.3:
            parts.append("keepdims=True")
        return Statement(f"{name} = np.{op}({', '.join([a, *parts])})", "reduce", NAN_FUNCTIONS[op], name, (a,), False)

    def scan(self):
        r, a, name = self.random, self.array(), self.fresh()
        v = self.value(a)
        axis = f", axis={r.randint(-v.ndim, v.ndim - 1)}" if v.ndim and r.random() < 0.7 else ""
        text = r.choice([f"np.cumsum({a}{axis})", f"np.cumprod({a}{axis})", f"np.diff({a}{axis})", f"np.gradient({a})", f"np.percentile({a}, 30)", f"np.median({a}{axis})", f"np.unique({a}, return_counts=True)[{r.randrange(2)}]", f"np.quantile({a}, [0.1, 0.5]{axis})", f"np.histogram({a}, 4)",
                         f"np.bincount(np.abs({a}).astype('i8').ravel() % 7)", f"np.digitize({a}, [0, 1, 2])", f"np.searchsorted(np.sort({a}.ravel()), 1)", f"np.searchsorted(np.sort({a}.ravel()), {a}, 'right')", f"np.trapezoid({a}{axis})", f"np.interp({a}, [0, 1], [2, 4])"])
        return Statement(f"{name} = {text}", "exactly", "scan", name, (a,), False)

    # --- views
    def chain(self):
        """Views of views in one expression."""
        r, a, name = self.random, self.array(), self.fresh()
        v, text = self.value(a), a
        for _ in range(r.randint(1, 3)):
            v = self.value(text)
            if not isinstance(v, numpy.ndarray):
                return None
            options = [f"{text}[{self.index(v.shape)}]", f"{text}.T", f"{text}[..., None]", f"{text}.reshape({self.reshape(v.shape)})", f"{text}.ravel()", f"{text}[...]", f"{text}.squeeze()",
                       f"{text}.reshape({self.reshape(v.shape)}, order='F')", f"np.atleast_1d({text})", f"np.atleast_3d({text})", f"{text}.view()", f"np.ravel({text}, order='F')"]
            if v.ndim >= 2:
                options += [f"np.rot90({text})", f"{text}.swapaxes(0, -1)", f"np.flipud({text})", f"np.fliplr({text})", f"{text}.mT", f"{text}.diagonal()", f"np.rollaxis({text}, 1)", f"np.moveaxis({text}, [0, 1], [-1, -2])"]
            if v.ndim and v.shape[0] >= 2:
                options += [f"np.array_split({text}, 2)[0]", f"np.split({text}, [1])[1]", f"np.lib.stride_tricks.sliding_window_view({text}, 2, axis=0)" if v.size < self.limit // 4 else f"{text}[1]"]
            if kind_of(v.dtype) == "c":
                options += [f"{text}.real", f"{text}.imag"]
            text = r.choice(options)
        return Statement(f"{name} = {text}", "view", "view", name, (a,))

    def bytes_view(self):
        a, name = self.array(lambda v: v.ndim and v.dtype.itemsize == 8 and kind_of(v.dtype) != "c" and v.strides[-1] == 8), self.fresh()
        if a is None or not self.reference.tol[a].exact:
            return None
        return Statement(f"{name} = {a}.view({self.random.choice(['i8', 'u8', 'i4', 'u1', 'f8'])!r})", "exactly", "view", name, (a,), False)

    # --- writes
    def chain_write(self):
        """Writes through a chain of views, by every operator."""
        r, a = self.random, self.array(lambda v: v.flags.writeable)
        if a is None:
            return None
        v, left = self.value(a), a
        for _ in range(r.randint(1, 2)):
            v = self.value(left)
            if not isinstance(v, numpy.ndarray):
                return None
            options = [f"{left}[{self.index(v.shape)}]"] * 3 + [f"{left}.T", f"{left}.reshape({self.reshape(v.shape)})", f"{left}[...]", f"{left}.ravel()", f"{left}.squeeze()"]
            if v.ndim >= 1:
                options += [f"{left}[::-1]", f"{left}[..., ::2]", f"np.flip({left})"]
            if kind_of(v.dtype) == "c":
                options += [f"{left}.real", f"{left}.imag"]
            left = r.choice(options)
        v = self.value(left)
        if v is None or not isinstance(v, numpy.ndarray):
            return None
        if r.random() < 0.35:
            value = self.weak(v.dtype) if r.random() < 0.3 else self.fitting(v.shape)
            if not value or not self.casts(value, v.dtype):
                return None
            return Statement(f"{left}[...] = {value}", "write", "copy", a, (a, value))
        symbol = r.choice(list(INPLACE))
        value = self.weak(v.dtype) if r.random() < 0.4 else r.choice([self.fitting(v.shape), a])
        if not value or not self.fits(value, v.shape) or (r.random() < 0.95 and not self.updates(INPLACE[symbol], left, value)):
            return None
        if not left.endswith("]"):
            left += "[...]"
        return Statement(f"{left} {symbol} {value}", "write", INPLACE[symbol], a, (a, value))

    def special_write(self):
        r, a = self.random, self.array(lambda v: v.flags.writeable and v.ndim >= 1 and v.size)
        if a is None:
            return None
        v = self.value(a)
        n, mask = v.shape[0], self.mask(v.shape)
        small = str(r.randint(0, 5)) if kind_of(v.dtype) != "b" else "True"
        options = [f"{a}.flat[{r.randrange(v.size)}] = {small}", f"{a}.flat[::2] = {small}", f"np.put({a}, [0, -1], {small})", f"np.place({a}, {mask}, [{small}])", f"{a}[{mask}] = {a}[{mask}]", f"{a}[0], {a}[-1] = {a}[-1], {a}[0]",
                   f"{a}[[0, -1]] = {a}[[-1, 0]]", f"np.copyto({a}, {small}, casting='unsafe')", f"{a}.partition({r.randrange(n)}, axis=0)" if kind_of(v.dtype) in "iub" else f"{a}.sort(axis=0)", f"{a}[::-1].sort(axis=-1, kind='stable')", f"{a}[np.arange({n}) % 2 == 0] = {small}",
                   f"{a}[{mask}] = np.arange(({mask}).sum()) % 2 == 0", f"{a}[..., [0]] = {small}", f"{a}[[0]] = {a}[-1]", f"{a}[{r.randint(-n, n - 1)}] = {a}[{r.randint(-n, n - 1)}]", f"{a}[:] = {a}[::-1]", f"{a}[{mask}] += {small}" if kind_of(v.dtype) != "b" else f"{a}[{mask}] |= True",
                   f"{a}[()] = {small}", f"{a}.T[0] = {small}", f"{a}[None] = {small}", f"{a}[None, ...] = {a}[::-1]"]
        if v.ndim == 2:
            options += [f"np.fill_diagonal({a}, {small})", f"{a}[:, 0] = {a}[:, -1]", f"{a}[[0], [0]] = {small}", f"{a}[:, np.arange({v.shape[1]}) > 0] = {small}", f"{a}[np.ix_([0], [0, -1])] = {small}", f"{a}[np.triu_indices(1)] = {small}"]
        return Statement(r.choice(options), "write", "copy", a, (a,), False)

    # --- indexing, products, conversions
    def advanced(self):
        r, a, name = self.random, self.array(lambda v: v.ndim >= 1 and v.size), self.fresh()
        if a is None:
            return None
        v = self.value(a)
        picks = [r.randint(-v.shape[0], v.shape[0] - 1) for _ in range(r.randint(1, 4))]
        options = [f"{a}[np.array({picks}).reshape(-1, 1)]", f"{a}[{picks}, ...]", f"{a}[..., [0, -1]]", f"{a}[None, {picks}]", f"{a}[np.arange({v.shape[0]}) % 2 == 0]", f"np.take({a}, {picks}, axis=0, mode='wrap')", f"np.take({a}, 0, axis=-1)",
                   f"np.compress([True, False], {a}, axis=0)" if v.shape[0] >= 2 else f"{a}[[0]]", f"np.argwhere({a})", f"np.nonzero({a})", f"np.flatnonzero({a})", f"{a}[{a} > 0]" if kind_of(v.dtype) != "c" else f"{a}[{a} != 0]", f"np.extract({self.mask(v.shape)}, {a})",
                   f"np.select([{self.mask(v.shape)}], [{a}], 0)", f"np.choose({self.mask(v.shape)}.astype('i8'), [{a}, {a}])", f"np.delete({a}, 0, axis=0)", f"np.insert({a}, 0, 1, axis=0)", f"np.append({a}, {a})", f"np.pad({a}, 1)", f"np.flip({a}, 0)[{picks}]",
                   f"np.argpartition({a}, 0, axis=0)[0]" if kind_of(v.dtype) in "iu" and v.shape[0] == 1 else f"{a}[{picks}][::-1]", f"np.take_along_axis({a}, np.argsort({a}, axis=0, kind='stable'), axis=0)", f"{a}[np.int64({picks[0]})]", f"{a}[np.array({picks[0]})]", f"{a}[True]"]
        if v.ndim >= 2:
            options += [f"{a}[{picks}, 0]", f"{a}[[0], [0]]", f"{a}[:, [0, 0]]", f"{a}[0, [0, -1]]", f"{a}[[0], :, None]", f"{a}[np.ix_([0, -1], [0])]", f"{a}[1:, [0]]", f"{a}[[[0], [-1]], [0, -1]]"]
        return Statement(f"{name} = {r.choice(options)}", "exactly", "index", name, (a,), False)

    def labelled(self, a, b):
        """einsum of two arrays, of which the second may share labels with the first, over any of them; tensordot; products with windows."""
        r, va, vb = self.random, self.value(a), self.value(b)
        if r.random() < 0.2:
            pairs = [(i, j) for i in range(va.ndim) for j in range(vb.ndim) if va.shape[i] == vb.shape[j]]
            some = dict(r.sample(pairs, min(len(pairs), r.randint(1, 2))))
            axes = [i for i, j in some.items() if list(some.values()).count(j) == 1]
            return f"np.tensordot({a}, {b}, ({axes}, {[some[i] for i in axes]}))"
        first = list("abcdef"[: va.ndim])
        free, second = list(first), []
        for extent in vb.shape:
            fits = [l for l in free if va.shape[first.index(l)] == extent or 1 in (extent, va.shape[first.index(l)])]
            second.append(r.choice(fits) if fits and r.random() < 0.7 else "uvwxyz"[len(second)])
            if second[-1] in free:
                free.remove(second[-1])
        labels = list(dict.fromkeys(first + second))
        way = r.choice(["", "", ", optimize=True", ", optimize='optimal'"])
        if r.random() < 0.3 and va.ndim <= 4:
            n = r.randint(1, min(3, va.shape[-1])) if va.shape[-1] else 1
            return f"np.einsum('...ij,j->...i', np.lib.stride_tricks.sliding_window_view({a}, {n}, axis=-1), np.ones({n}, {a}.dtype){way})"
        out = r.sample(labels, r.randint(0, len(labels)))
        return f"np.einsum('{''.join(first)},{''.join(second)}->{''.join(out)}', {a}, {b}{way})"

    def product(self):
        r, a, name = self.random, self.array(lambda v: v.ndim >= 1), self.fresh()
        if a is None:
            return None
        b = self.array(lambda v: v.ndim >= 1)
        va, vb = self.value(a), self.value(b)
        text = r.choice([f"np.inner({a}, {b})", f"np.outer({a}, {b})", f"np.tensordot({a}, {b}, 1)", f"np.tensordot({a}, {b}, ([0], [0]))", f"np.vdot({a}, {b})", f"np.einsum('i...,i...->...', {a}, {b})", f"np.kron({a}, {b})", f"{a} @ {b}.T", f"{a}.T @ {b}",
                         f"np.dot({a}.T, {b})", f"{a}.dot({b})", f"np.matmul({a}, {b}.swapaxes(0, -1))", f"np.linalg.norm({a}, ord=1, axis=0)", f"np.linalg.norm({a}, ord=np.inf, axis=-1)", f"np.linalg.norm({a})", f"np.trace({a})", f"np.vecdot({a}, {b})", f"np.cross({a}, {b})",
                         f"np.matvec({a}, {b})" if hasattr(numpy, "matvec") else f"{a} @ {b}"])
        if r.random() < 0.5 and max(va.ndim, vb.ndim) <= 6:
            text = self.labelled(a, b)
        if va.size * vb.size > 40_000 or (r.random() < 0.9 and not self.works(text)):
            return None
        if "norm" in text:
            return Statement(f"{name} = {text}", "reduce", "norm", name, (a,))
        if "trace" in text:
            return Statement(f"{name} = {text}", "reduce", "sum", name, (a,))
        return Statement(f"{name} = {text}", "contraction", "matmul", name, (a, b), False)

    def conversion(self):
        """What leaves the array: text, Python numbers, lists, iteration, pickles, and ways back in."""
        r, a, name = self.random, self.array(), self.fresh()
        v = self.value(a)
        dtype = self.dtype()
        safe = kind_of(v.dtype) not in "fc" or kind_of(numpy.dtype(dtype)) in "fc"
        options = [f"np.array({a}, ndmin=3)", f"np.ascontiguousarray({a})", f"np.asfortranarray({a})", f"{a}.__copy__()", f"__import__('copy').deepcopy({a})", f"__import__('pickle').loads(__import__('pickle').dumps({a}))", f"np.array({a}, order='F', copy=None)", f"{a}.byteswap().byteswap()"]
        if safe:
            options += [f"np.asarray({a}, dtype={dtype!r})", f"np.array({a}, {dtype!r}, order='A')", f"{a}.astype({dtype!r}, casting='safe')", f"{a}.astype({dtype!r}, order='A', copy=False)", f"np.zeros_like({a}, dtype={dtype!r}, order='F')", f"np.full_like({a}, 2, dtype={dtype!r}, shape=(2, 3))"]
        if self.reference.tol[a].exact and v.size <= 40:
            options += [f"{a}.tolist()", f"str({a})", f"repr({a})", f"list({a})", f"{a}.tobytes()", f"[x for x in {a}]", f"1 in {a}", f"bool({a})", f"float({a})", f"int({a})", f"complex({a})", f"sum({a})", f"max({a})", f"{a}.__index__()", f"len({a})", f"hash({a}.shape)", f"np.array2string({a})",
                        f"sorted({a}.ravel().tolist())" if kind_of(v.dtype) in "iub" else f"{a}.nbytes", f"list({a}.flat)[:3]", f"np.array([{a}, {a}])", f"np.ndarray.__repr__({a})[:5]" if kind_of(v.dtype) == "b" else f"{a}.itemsize", f"format({a})"]
        return Statement(f"{name} = {r.choice(options)}", "exactly", "conversion", name, (a,), False)

    def assemble(self):
        r, a, name = self.random, self.array(), self.fresh()
        b = self.array()
        options = [f"np.concatenate([{a}, {b}], axis=None)", f"np.hstack([{a}, {b}])", f"np.vstack([{a}, {b}])", f"np.dstack([{a}, {b}])", f"np.column_stack([{a}, {b}])", f"np.stack([{a}, {b}], axis=1)", f"np.block([{a}, {b}])", f"np.meshgrid({a}, {b})[0]",
                   f"[(x + 0, x.flags.writeable) for x in np.broadcast_arrays({a}, {b})]", f"np.repeat({a}, 3)", f"np.roll({a}, 2)", f"np.tile({a}, (2, 1))", f"np.tril({a})", f"np.triu({a}, 1)", f"np.eye(3, 4, k=1, dtype={a}.dtype)", f"np.linspace(0, 3, {r.randint(0, 9)})", f"np.tri({r.randint(1, 4)}, 3)",
                   f"np.arange({r.choice(['0.5', '-2', '1'])}, 4, {r.choice(['0.5', '1', '-1', '0.25'])})", f"np.full((2, 3), {a}.ravel()[:3])", f"np.indices((2, 3))", f"np.arange(5.0)[::-1]", f"np.identity(3)", f"np.diag({a})", f"np.resize({a}, (2, 3))", f"np.roll({a}, (1, -1), axis=(0, -1))",
                   f"np.vander(np.arange(3), 3)", f"np.concatenate([{a}, {b}], axis=-1, dtype='f8')", f"np.append({a}, 1)", f"np.trim_zeros({a}.ravel())", f"np.union1d({a}, {b})", f"np.isin({a}, {b})", f"np.union1d({a}, [1])"]
        return Statement(f"{name} = {r.choice(options)}", "exactly", "copy", name, (a, b), False)

    def zero_d(self):
        """Arrays of no dimensions and NumPy scalars, as operands and as targets."""
        r, name = self.random, self.fresh()
        a = self.array(lambda v: v.ndim == 0)
        if a is None:
            dtype = self.dtype()
            return Statement(f"{name} = np.array({self.weak(dtype)}, dtype={dtype!r})", "create", target=name)
        v = self.value(a)
        if r.random() < 0.4 and v.flags.writeable:
            value = self.weak(v.dtype)
            left, symbol = r.choice([(a, "+="), (f"{a}[...]", "="), (f"{a}[()]", "="), (a, "*="), (f"{a}[...]", "-=")])
            op = INPLACE.get(symbol, "copy")
            if (op == "copy" and not self.casts(value, v.dtype)) or (op != "copy" and not self.updates(op, a, value)):
                return None
            return Statement(f"{left} {symbol} {value}", "write", op, a, (a, value))
        text = r.choice([f"{a}[()]", f"{a}[...]", f"{a}[None]", f"{a} + {a}", f"{a} * 2", f"{a}.reshape(1, 1)", f"np.add({a}, {a})", f"{a}.sum()", f"{a}.copy()", f"{a}.T", f"np.where({a}, {a}, {a})", f"{a}.astype('f4')", f"-{a}", f"np.sum({a}, axis=())", f"{a}.ravel()", f"{a} == {a}", f"np.expand_dims({a}, 0)"])
        return Statement(f"{name} = {text}", "exactly", "copy", name, (a,))

    BREADTH = ((out_of_range, 3), (out_of_range_write, 1.5), (rounding, 1.5), (odd_elementwise, 4), (ufunc_call, 6), (ufunc_method, 5), (reduction_call, 6),
               (nan_reduction, 2), (scan, 2), (chain, 5), (bytes_view, 0.5), (chain_write, 7), (special_write, 4), (advanced, 4), (product, 4), (conversion, 4),
               (assemble, 4), (zero_d, 2))
