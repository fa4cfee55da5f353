"""What falls back to NumPy mixed with what is recorded: writes by functions that NumPy runs over exported memory, ufunc methods,
error states, several outputs, memory with odd strides, read-only and broadcast arrays."""

import numpy

from breadth import FOLDS, INPLACE, NAN_FUNCTIONS
from dtypes import kind_of
from program import Statement

RAISING = ["divide", "floor_divide", "sqrt", "log", "reciprocal", "multiply", "add", "subtract", "remainder"]


class Mixed:
    def picks(self, n, most=4, repeated=True):
        r = self.random
        count = r.randint(0 if r.random() < 0.1 else 1, most)
        return [r.randint(-n, n - 1) for _ in range(count)] if repeated else r.sample(range(n), min(n, count))

    # --- writes by functions
    def put(self):
        """Writes that NumPy makes, in memory that native writes and pending readers share."""
        r, a = self.random, self.array(lambda v: v.flags.writeable and v.ndim >= 1 and v.size)
        if a is None:
            return None
        v = self.value(a)
        value = self.weak(v.dtype) if r.random() < 0.5 else f"[{self.weak(v.dtype)}, {self.weak(v.dtype)}]"
        if not self.casts(value, v.dtype) and r.random() < 0.9:
            return None
        index = f"{a}[{self.index(v.shape)}]"
        part = self.value(index)
        at = self.picks(v.shape[0])
        options = [
            f"np.put({a}, {self.picks(v.size)}, {value})", f"np.put({a}, {self.picks(v.size)}, {value}, mode='clip')", f"{a}.put({self.picks(v.size)}, {value})",
            f"np.place({a}, {self.mask(v.shape)}, {value})", f"np.putmask({a}, {self.mask(v.shape)}, {value})",
            f"np.put_along_axis({a}, np.argsort({a}, axis=0, kind='stable')[:1], {self.weak(v.dtype)}, axis=0)",
            f"{a}.flat[{self.picks(v.size)}] = {value if value[0] != '[' else 1}",
            f"{a}.flat = {value}", f"{a}.flat[{r.randrange(v.size)}] = 1", f"{a}.partition(0)", f"{a}.sort(axis=0)", f"np.copyto({a}, {a}[::-1])",
            f"np.take({a}, {at or [0]}, axis=0, out={a}[:{max(1, len(at))}])" if len(at) <= v.shape[0] else f"{a}.sort()", f"np.clip({a}, 0, 2, out={a})", f"np.cumsum({a}, axis=0, out={a})",
            f"np.compress({[True] * v.shape[0]}, {a}, axis=0, out={a})", f"{a}.itemset(0)" if r.random() < 0.05 else f"{a}.fill(1)", f"np.random.default_rng(1).shuffle({a})",
        ]
        if isinstance(part, numpy.ndarray) and part.ndim and part.size:
            options += [
                f"{index}.fill({self.weak(v.dtype)})", f"{index}.sort()", f"np.copyto({index}, {self.weak(v.dtype)}, where={self.mask(part.shape)})",
                f"np.put({index}, [0], {value})",
            ]
        text = r.choice(options)
        if kind_of(v.dtype) == "c" and any(s in text for s in ("partition", "sort", "clip")):
            return None
        return Statement(text, "write", "copy", a, (a,), False)

    def at(self):
        r, a = self.random, self.array(lambda v: v.flags.writeable and v.ndim >= 1 and v.shape[0])
        if a is None:
            return None
        v = self.value(a)
        op = r.choice(["add", "subtract", "multiply", "maximum", "minimum", "logical_or", "bitwise_xor", "negative"])
        index = r.choice(
            [
                f"{self.picks(v.shape[0])}", f"np.array({self.picks(v.shape[0]) or [0]})", "0", "slice(None)", "(..., 0)", f"{self.mask(v.shape)}",
                f"({self.picks(v.shape[0], 2) or [0]}, -1)",
                f"np.argmax(np.eye({v.shape[0]})[{self.picks(v.shape[0]) or [0]}], axis=1)",
            ]
        )
        value = "" if op == "negative" else ", " + r.choice([self.weak(v.dtype), f"{a}[0]", f"{a}[:1] + {a}[:1]", f"np.float32(2)"])
        return Statement(f"np.{op}.at({a}, {index}{value})", "write", "add" if op != "multiply" else op, a, (a,), False)

    # --- ufunc methods
    def methods(self):
        """accumulate, reduceat and outer with their keywords."""
        r, a, name = self.random, self.array(lambda v: v.ndim >= 1), self.fresh()
        if a is None:
            return None
        v, op = self.value(a), r.choice([*FOLDS, "subtract", "divide", "power"])
        axis = r.randint(-v.ndim, v.ndim - 1)
        if op == "power" and (kind_of(v.dtype) != "f" or (v < 0).any()):
            return None
        kind, dtype = r.random(), r.choice(["", "", "", ", dtype='f8'", ", dtype='i4'", ", dtype='D'", ", dtype=bool", ", dtype='f2'"])
        if kind < 0.4:
            if r.random() < 0.25 and v.flags.writeable:
                return Statement(f"np.{op}.accumulate({a}, axis={axis}, out={a})", "write", op, a, (a,), False)
            return Statement(f"{name} = np.{op}.accumulate({a}, {axis}{dtype})", *self.fold_rule(op, v), name, (a,), False)
        if kind < 0.7:
            n = v.shape[axis]
            at = [r.randrange(n) for _ in range(r.randint(1, 3))] if n and r.random() < 0.95 else [0, n + 1]
            return Statement(f"{name} = np.{op}.reduceat({a}, {at}, axis={axis}{dtype})", *self.fold_rule(op, v), name, (a,), False)
        b = self.partner(a)
        w = self.value(b)
        if w is None or v.size * numpy.size(w) > 2 * self.limit or (op == "power" and not self.accepts(op, [a, b])):
            return None
        return Statement(f"{name} = np.{op}.outer({', '.join(r.sample([a, b], 2))})", "elementwise", op, name, (a, b), False)

    def nan_more(self):
        r, a, name = self.random, self.array(lambda v: kind_of(v.dtype) in "fiub"), self.fresh()
        if a is None:
            return None
        v, op = self.value(a), r.choice([*NAN_FUNCTIONS, "nancumsum", "nancumprod", "nanmedian", "nanpercentile"])
        parts = [a, "40"] if op == "nanpercentile" else [a]
        if r.random() < 0.7:
            axes = tuple(r.sample(range(-v.ndim, 0), r.randint(0, v.ndim)))
            parts.append(
                f"axis={axes}"
                if r.random() < 0.3 and "cum" not in op and "arg" not in op
                else f"axis={r.randint(-v.ndim, v.ndim - 1) if v.ndim else 0}"
            )
        if "cum" not in op and r.random() < 0.3:
            parts.append("keepdims=True")
        if op in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd") and r.random() < 0.3:
            parts.append(r.choice(["dtype='f8'", "dtype='f4'"]))
        if op in ("nansum", "nanmax", "nanmin", "nanmean") and r.random() < 0.3:
            parts.append(f"where={self.mask(v.shape)}")
            if op in ("nanmax", "nanmin"):
                parts.append("initial=0")
        rule = "reduce" if op in NAN_FUNCTIONS else "exactly"
        return Statement(f"{name} = np.{op}({', '.join(parts)})", rule, NAN_FUNCTIONS.get(op, op), name, (a,), False)

    # --- error states
    def raises(self):
        """errstate(raise): the error comes from the line that is wrong, with NumPy's text."""
        r, a, name = self.random, self.array(lambda v: v.dtype.char in "fd"), self.fresh()
        if a is None:
            return None
        op = r.choice(RAISING)
        unary = op in ("sqrt", "log", "reciprocal")
        b = r.choice([self.weak(self.value(a).dtype), "0", a, self.fitting(self.value(a).shape)])
        if (
            not b
            or numpy.asarray(self.value(b)).dtype.char in "FDe"
            or not self.reference.tol[a].exact
            or (b in self.reference.tol and not self.reference.tol[b].exact)
        ):
            return None
        call = f"np.{op}({a})" if unary else f"np.{op}({a}, {b})"
        kinds = r.choice(
            ["all='raise', under='ignore'", "divide='raise'", "invalid='raise'", "over='raise'", "divide='raise', invalid='ignore'"]
        )
        if r.random() < 0.3 and self.value(a).flags.writeable and not unary and op != "log":
            return Statement(f"with np.errstate({kinds}): {a}[...] = {call}", "write", op, a, (a, b), False)
        return Statement(f"with np.errstate({kinds}): {name} = {call}", "elementwise", op, name, (a,) if unary else (a, b), False)

    def calls_back(self):
        r, a, name = self.random, self.array(lambda v: v.dtype.char in "fd"), self.fresh()
        if a is None or not self.reference.tol[a].exact:
            return None
        op, log = r.choice(["divide", "sqrt", "reciprocal", "log"]), self.fresh()
        self.emit(Statement(f"{log} = []", "create", target=log))
        call = f"np.divide(1, {a})" if op == "divide" else f"np.{op}({a})"
        return Statement(
            f"with np.errstate(all='call', under='ignore', call=lambda kind, flag: {log}.append(kind)): {name} = {call}", "elementwise", op, name, (a,), False,
        )

    # --- outputs and layouts
    def several_outputs(self):
        r, a = self.random, self.array(lambda v: kind_of(v.dtype) in "fiu" and v.ndim)
        if a is None:
            return None
        v, name = self.value(a), self.fresh()
        op = r.choice(["divmod", "modf", "frexp"])
        target = self.array(lambda w: w.shape == v.shape and w.flags.writeable and w.dtype == "f8")
        operands = f"{a}, {self.weak(v.dtype)}" if op == "divmod" else a
        if target is None or target == a or r.random() < 0.3:
            return Statement(
                f"{name} = np.{op}({operands}, where={self.mask(v.shape)}, out=(np.zeros({v.shape}), np.zeros({v.shape}, {'i4' if op == 'frexp' else 'f8'!r})))", "exactly", "exactly", name,
                (a,), False,
            )
        return Statement(f"np.{op}({operands}, out=({target}, None))", "out", "view", target, (a, target), False)

    def fields(self):
        """Results in a field of records, whose strides are no multiple of the item, and reading there."""
        r, a, name = self.random, self.array(lambda v: kind_of(v.dtype) in "biuf"), self.fresh()
        if a is None:
            return None
        shape = self.value(a).shape
        record = f"np.zeros({shape}, [('a', 'f8'), ('b', 'i4')])"
        text = r.choice(
            [
                f"np.add({a}, 1, out={record}['a'], casting='unsafe')", f"np.negative({a}.astype('f8'), out={record}['a'])", f"np.sum({a}, axis=(), out={record}['a'])",
                f"{a} + {record}['a']", f"{record}['b'] - {a}" if kind_of(self.value(a).dtype) != "b" else f"{record}['b']", f"np.zeros({shape}, 'f8,i2')['f0'].sum()",
                f"np.array({a}, '>f8') + {a}", f"np.array({a}, '>i4').astype('i4')" if kind_of(self.value(a).dtype) != "f" else f"np.array({a}, '>f4') * 2",
            ]
        )
        return Statement(f"{name} = {text}", "exactly", "exactly", name, (a,), False)

    def read_only(self):
        r, a, name = self.random, self.array(), self.fresh()
        v = self.value(a)
        kind = r.random()
        if kind < 0.3:
            return Statement(f"{a}.flags.writeable = False", "view", "view", a, (a,), False)
        if kind < 0.5:
            return Statement(
                f"{name} = np.broadcast_to({a}, {(2, *v.shape)})[{r.choice(['0', '...', '::-1', 'None'])}]", "view", "view", name, (a,), False,
            )
        if kind < 0.8:
            b = self.array(lambda w: not w.flags.writeable and w.size)
            if b is None:
                return None
            text = r.choice(
                [
                    f"{b}[...] = 1", f"{b} += 1", f"np.add({b}, 1, out={b})", f"{b}.fill(1)", f"{b}.sort()", f"np.sum({b}, axis=(), out={b})", f"{b}[0] = 1", f"np.put({b}, [0], 1)",
                    f"{b}.ravel()[0] = 1", f"{b}.flags.writeable = True",
                ]
            )
            return None if self.works_statement(text) else Statement(text, "write", "mistake", b, ())
        return (
            Statement(
                f"{name} = np.lib.stride_tricks.as_strided({a}, {(max(1, v.shape[0]),)}, {(0,)}, writeable=False)", "view", "view", name, (a,), False,
            )
            if v.ndim and v.size
            else None
        )

    # --- keywords of everyday calls
    def keywords(self):
        """casting= and order= with weak and strong scalars, arrays of no elements and of no dimensions, in every layout."""
        r = self.random
        a = r.choice([self.array(lambda v: v.size == 0), self.array(lambda v: v.ndim == 0), self.array()]) or self.array()
        name, v = self.fresh(), self.value(a)
        turned = r.choice([a, f"{a}.T", f"{a}[::-1]" if v.ndim else a, f"{a}[..., None]", f"np.flip({a})", f"np.asfortranarray({a})"])
        op = r.choice(
            [
                "add", "multiply", "less", "logical_and", "maximum", "hypot", "negative", "absolute", "isnan", "sqrt", "floor_divide", "bitwise_or",
            ]
        )
        unary = op in ("negative", "absolute", "isnan", "sqrt")
        b = r.choice(
            [
                self.weak(v.dtype), self.weak("d"), "np.float32(2)", "np.int8(3)", "np.uint8(200)", "True", turned, "np.ones((), 'f2')", "np.zeros((0,))" if v.ndim < 2 else "1",
            ]
        )
        if op == "floor_divide" and kind_of(v.dtype) == "c":
            return None
        parts = [turned] if unary else r.sample([turned, b], 2)
        parts += r.sample(
            [
                "casting='no'", "casting='equiv'", "casting='safe'", "casting='unsafe'", "order='F'", "order='A'", "order='C'", "dtype='f4'", "dtype='i8'", "dtype=bool", "subok=False",
                "out=None", "where=True",
            ],
            r.randint(1, 2),
        )
        if sum(p.startswith(("casting", "dtype", "order")) for p in parts) != len(
            {p.split("=")[0] for p in parts if p.startswith(("casting", "dtype", "order"))}
        ):
            return None
        return Statement(f"{name} = np.{op}({', '.join(parts)})", "elementwise", op, name, (a,) if unary else (a, b))

    def indexed(self):
        """Reads and writes by arrays: several dimensions, masks among slices, repeated and out of range."""
        r, a, name = self.random, self.array(lambda v: v.ndim >= 1 and v.shape[0]), self.fresh()
        if a is None:
            return None
        v = self.value(a)
        n, last = v.shape[0], v.shape[-1]
        rows = self.picks(n) or [0]
        keys = [
            f"{rows}", f"np.array({rows}, 'i2')", f"np.array([{rows}, {rows[::-1]}])", f"{a} != 0", f"({rows}, ...)", f"[[{rows[0]}]]", "np.array([], int)", f"np.arange({n})[::-1]",
            f"{self.mask((n,))}", f"({self.mask((n,))}, ...)", "False", f"[{n}]", "np.int8(0)", "[True]",
        ]
        if v.ndim >= 2 and last:
            columns = self.picks(last) or [0]
            keys += [
                f"(slice(None), {columns})", f"({rows[:1]}, {columns})", f"(np.array({rows}).reshape(-1, 1), {columns})", f"(0, {columns})", f"({self.mask((n,))}, 0)",
                f"(slice(None, None, -1), {columns})", f"(None, {rows})", f"({rows[0]}, slice(1, None))", f"(..., {columns})",
            ]
        key = r.choice(keys)
        text = f"{a}[{key}]"
        part = self.value(text)
        if part is None and r.random() < 0.9 or numpy.size(part) > 4 * self.limit:
            return None
        if r.random() < 0.5 or not v.flags.writeable:
            return Statement(f"{name} = {text}", "exactly", "index", name, (a,), False)
        value = r.choice([self.weak(v.dtype), self.fitting(numpy.shape(part)) or "1", "1"])
        symbol, op = r.choice([("=", "copy"), ("=", "copy"), *INPLACE.items()][:9])
        if op == "copy" and not self.casts(value, v.dtype):
            return None
        if op != "copy" and (part is None or not hasattr(part, "dtype") or not self.updates(op, text, value)):
            return None
        return Statement(f"{text} {symbol} {value}", "write", op, a, (a, value), False)

    def tables(self):
        """Functions that count, choose and look up."""
        r, a, name = self.random, self.array(lambda v: v.size), self.fresh()
        if a is None:
            return None
        v, mask = self.value(a), None
        mask = self.mask(v.shape)
        options = [
            f"np.choose({mask}.astype('i4'), [{a}, 0])", f"np.select([{mask}, ~{mask}], [{a}, 1])", f"np.where({mask})", f"np.extract({mask}, {a})", f"np.piecewise({a}, [{mask}], [1, 2])",
            f"np.take({a}, {self.picks(v.size) or [0]})", f"np.take({a}, {self.picks(v.size) or [0]}, mode='clip')", f"np.unique({a}, return_counts=True)", f"np.flatnonzero({mask})",
            f"np.count_nonzero({a})", f"np.apply_along_axis(np.sum, 0, {a})" if v.ndim else f"np.atleast_1d({a})", f"np.packbits({mask})",
            f"np.ravel_multi_index(np.nonzero({mask}), {v.shape})" if v.ndim else a, f"np.lexsort(({a}.ravel(),))", f"np.ediff1d({a})" if kind_of(v.dtype) != "b" else a,
            f"np.rot90(np.atleast_2d({a}))", f"np.nan_to_num({a}, nan=1)", f"np.broadcast_shapes({a}.shape, (1,))", f"np.result_type({a}, 1)", f"np.can_cast({a}.dtype, 'f4')",
            f"np.shares_memory({a}, {a})", f"np.iterable({a})", f"np.cov(np.atleast_2d({a}))[..., :0]",
        ]
        if kind_of(v.dtype) in "iu":
            options += [
                f"np.bincount(({a} % 5).astype('i8').ravel())", f"np.bincount(({a} % 5).astype('i8').ravel(), {a}.ravel() * 0.5)", f"np.left_shift({a}, 1)", f"np.unpackbits(({a} % 4).astype('u1').ravel())", f"np.base_repr(int({a}.ravel()[0]))",
            ]
        if kind_of(v.dtype) in "iuf" and numpy.isfinite(v).all():
            options += [
                f"np.histogram({a}, bins=[-5, 0, 5])", f"np.digitize({a}, [-1, 2])", f"np.searchsorted([0, 1, 2], {a})", f"np.clip({a}, -1, 1)", f"np.maximum.reduce({a}, axis=None)",
                f"np.interp({a}, [0, 3], [0, 1])",
            ]
        return Statement(f"{name} = {r.choice(options)}", "exactly", "table", name, (a,), False)

    MIXED = (
        (put, 4),
        (at, 2),
        (methods, 3),
        (nan_more, 2),
        (raises, 2),
        (calls_back, 0.7),
        (several_outputs, 1),
        (fields, 1.5),
        (read_only, 2),
        (keywords, 4),
        (indexed, 5),
        (tables, 3),
    )
