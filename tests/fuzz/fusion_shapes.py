"""Programs that the planner fuses: trees of reductions into reductions and maps over 2 to 4 axes with broadcasting, in sizes
that cross the thresholds of vectors, tiles and threads. Intermediate arrays are deleted, so that nobody but the planner sees them."""
import numpy

from dtypes import kind_of
from generator import Generator
from parts import Parts
from program import Statement
from reference import quiet

EXTENTS = [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33, 64, 65, 127, 129, 300]
LARGE = 100_000


class FusionGenerator(Parts, Generator):
    def __init__(self, seed, large=LARGE):
        super().__init__(seed, limit=large)
        self.large = large

    def run(self):
        r = self.random
        with quiet():
            shape = r.choice([self.kmeans, self.softmax, self.standardise, self.stencil, self.forces, self.tree, self.tree, self.tree, self.columns, self.variance, self.moments, self.product, self.product, self.convolution, self.convolution, self.patches, self.depthwise, self.parts, self.parts, self.attention, self.attention])
            result = shape()
            if r.random() < 0.4:
                self.tail(result)
        return self.statements

    # --- pieces
    def step(self, text, rule, op, *operands):
        name = self.fresh()
        self.emit(Statement(f"{name} = {text.format(*operands)}", rule, op, name, operands))
        return name

    def make(self, shape, dtype=None, special=False):
        dtype = dtype or self.random.choice(["f8", "f8", "f8", "f4", "f4", "i4", "i8"])
        order = ", order='F'" if self.random.random() < 0.1 else ""
        name = self.fresh()
        self.emit(Statement(f"{name} = np.array(data({dtype!r}, {tuple(shape)}, {self.random.randrange(10**6)}{', True' if special else ''}){order})", "create", target=name))
        return name

    def drop(self, *names):
        for n in names:
            if self.random.random() < 0.85 and n in self.reference.tol:
                self.emit(Statement(f"del {n}", "del", target=n))

    def extent(self, budget):
        fitting = [e for e in EXTENTS if e <= budget] or [1]
        return self.random.choice(fitting)

    def points(self, budget):
        """An extent that is sometimes as long as the budget allows."""
        r = self.random
        return max(1, int(budget ** r.choice([0.3, 0.5, 0.8, 1.0]) * r.uniform(0.6, 1)))

    def reduce(self, op, x, axis, keepdims=False):
        v = self.reference.ns[x]
        inner = axis in (-1, v.ndim - 1)
        text = f"np.{op}({{}}, axis={axis}{', keepdims=True' if keepdims else ''})"
        if op == "norm":
            text = text.replace("np.norm", "np.linalg.norm")
        return self.step(text, "reduce-inner" if inner else "reduce", op, x)

    def spaced(self, x, index):
        return self.step(f"{{}}[{index}]", "view", "view", x)

    # --- shapes of whole algorithms
    def kmeans(self):
        r = self.random
        k, d = self.extent(70), self.extent(70)
        n = self.points(self.large / (k * d))
        dtype = r.choice(["f8", "f8", "f4"])
        x, means = self.make((n, d), dtype), self.make((k, d), dtype, r.random() < 0.1)
        if r.random() < 0.2:
            t = self.spaced(x, "::2")
            self.drop(x)
            x = t
        m = self.spaced(means, ":, None")
        diff = self.step("{} - {}", "elementwise", "subtract", x, m)
        kind = r.random()
        if kind < 0.5:
            dist = self.reduce("norm", diff, 2)
        elif kind < 0.75:
            square = self.step("{} * {}", "elementwise", "multiply", diff, diff)
            dist = self.reduce("sum", square, 2)
            self.drop(square)
        else:
            size = self.step("np.abs({})", "elementwise", "absolute", diff)
            dist = self.reduce(r.choice(["sum", "max"]), size, 2)
            self.drop(size)
        self.drop(diff, m)
        label = self.reduce(r.choice(["argmin", "argmin", "argmax", "min"]), dist, 0)
        if r.random() < 0.3:
            self.reduce("min", dist, r.choice([0, 1]))
        self.drop(dist)
        return label

    def softmax(self):
        rows = self.extent(300)
        x = self.make((rows, self.points(max(300, self.large / rows / 4))), self.random.choice(["f4", "f8"]))
        axis = self.random.choice([1, 1, -1, 0])
        top = self.reduce("max", x, axis, True)
        low = self.step("{} - {}", "elementwise", "subtract", x, top)
        e = self.step("np.exp({})", "elementwise", "exp", low)
        total = self.reduce("sum", e, axis, True)
        out = self.step("{} / {}", "elementwise", "divide", e, total)
        self.drop(top, low, e, total)
        return out

    def product(self):
        """A matrix product between maps and rows, mostly of a size that regions compute."""
        r = self.random
        dtype = r.choice(["f4", "f4", "f8"])
        m, k, n = (r.choice([9, 31, 40, 64, 129, 260, 300, 520]) for _ in range(3))
        batch = r.choice([(), (), (), (2,), (3, 1)])
        while max(m * k, k * n, m * n) * 3 > self.large:
            m, k, n = (max(9, e * 3 // 4) for e in (m, k, n))
        a, b = self.make((*batch, m, k), dtype), self.make((n, k) if r.random() < 0.3 else (k, n), dtype)
        if self.reference.ns[b].shape[0] != k or (n == k and r.random() < 0.3):
            b = self.step("{}.T", "view", "view", b)
        if r.random() < 0.4:
            mean = self.reduce("mean", a, -1, True)
            t = self.step("{} - {}", "elementwise", "subtract", a, mean)
            a = self.step("{} * 0.5", "elementwise", "multiply", t)
            self.drop(mean, t)
        p = self.step("np.matmul({}, {})", "matmul", "matmul", a, b)
        out = p
        for _ in range(r.randint(0, 3)):
            bias = self.make(r.choice([(n,), (m, n), (m, 1)]), dtype)
            op, text = r.choice([("add", "{} + {}"), ("multiply", "{} * {}"), ("maximum", "np.maximum({}, {})"), ("subtract", "{} - {}")])
            t = self.step(text, "elementwise", op, out, bias)
            self.drop(out)
            out = t
            if r.random() < 0.3:
                t = self.step("np.tanh({})", "elementwise", "tanh", out)
                self.drop(out)
                out = t
        kind = r.random()
        if kind < 0.35:
            t = self.reduce(r.choice(["min", "max", "sum", "mean"]), out, r.choice([-1, -1, -1, 0]), r.random() < 0.3)
            self.drop(out)
            out = t
        elif kind < 0.45:
            t = self.step("{}[..., ::-1]", "view", "view", out)
            self.drop(out)
            out = t
        elif kind < 0.55 and m == n:
            out = self.step("np.matmul({}, {})", "matmul", "matmul", out, out)
        elif kind < 0.65:
            other = self.step("{} + 1", "elementwise", "add", p) if p in self.reference.tol else out
            out = self.step("{} * {}", "elementwise", "multiply", out, other) if other != out else out
        return out

    def convolution(self):
        """By windows or as a sum over shifted slices, with a bias and what is elementwise behind it."""
        r = self.random
        dtype = r.choice(["f4", "f4", "f8"])
        n, c, o, kh, kw = r.randint(1, 3), r.choice([1, 2, 5, 16]), r.choice([1, 4, 9, 17, 40]), r.randint(1, 4), r.randint(1, 3)
        h, w = (max(k, r.choice([5, 8, 14, 30, 41])) for k in (kh, kw))
        x, f = self.make((n, c, h, w), dtype), self.make((o, c, kh, kw), dtype)
        if r.random() < 0.25:
            x, f = self.joined(x, f)
        padded = r.random() < 0.5
        if padded:
            top, bottom, left, right = r.choice([(1, 1, 1, 1), (1, 1, 1, 1), (0, 2, 1, 0), (3, 0, 0, 0)])
            value = r.choice(["", "", ", constant_values=2"])
            p = self.step(f"np.pad({{}}, ((0, 0), (0, 0), ({top}, {bottom}), ({left}, {right})){value})", "exactly", "pad", x)
            self.drop(x)
            x, h, w = p, h + top + bottom, w + left + right
        rows, columns = h - kh + 1, w - kw + 1
        if r.random() < 0.6:
            step = r.choice(["", "", "[:, :, ::2, ::2]"])
            if step:
                rows, columns = (rows + 1) // 2, (columns + 1) // 2
            windows = f"np.lib.stride_tricks.sliding_window_view({{}}, ({kh}, {kw}), axis=(2, 3)){step}"
            kind = r.random()
            if kind < 0.2:
                text = f"np.tensordot({windows}, {{}}, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)"
            else:
                out = r.choice(["nohw", "nohw", "nhwo", "ohwn"]) if kind < 0.4 else "nohw"
                back = "" if out == "nohw" else f".transpose({', '.join(str(out.index(l)) for l in 'nohw')})"
                text = f"np.einsum('nchwij,ocij->{out}', {windows}, {{}}, optimize={r.random() < 0.5}){back}"
            y = self.step(text, "contraction", "matmul", x, f)
        else:
            y = self.sum_of_shifts((kh, kw), (rows, columns), "np.einsum('nchw,oc->nohw', {{}}[:, :, {i}, {j}], {{}}[:, :, {k}, {l}])", "contraction", "matmul", x, f)
        if r.random() < 0.3:
            other = self.make(self.reference.ns[f].shape, dtype)
            again = self.step("np.einsum('nchwij,ocij->nohw', np.lib.stride_tricks.sliding_window_view({}, ({}, {}), axis=(2, 3)), {})".replace("({}, {})", f"({kh}, {kw})"), "contraction", "matmul", x, other)
            if self.reference.ns[again].shape == self.reference.ns[y].shape:
                y = self.step("{} - {}", "elementwise", "subtract", y, again)
                self.drop(again)
        if padded and r.random() < 0.7:
            self.drop(x)
        for _ in range(r.randint(0, 2)):
            beside = self.make(r.choice([(o, 1, 1), (o, 1, 1), (n, o, 1, 1), (1, rows, columns)]), dtype)
            t = self.step(r.choice(["{} + {}", "np.maximum({}, {})", "({} + {}) * 2"]), "elementwise", "add", y, beside)
            self.drop(y)
            y = t
        return y

    def sum_of_shifts(self, window, extents, text, rule, op, x, f):
        """`text` of slices {i}, {j} of `x` and the weights at {k}, {l}, added over the places of a window."""
        y = None
        for k, l in numpy.ndindex(*window):
            i, j = (f"{at}:{at + extent}" for at, extent in zip((k, l), extents))
            part = self.step(text.format(i=i, j=j, k=k, l=l), rule, op, x, f)
            if y is not None:
                total = self.step("{} + {}", "elementwise", "add", y, part)
                self.drop(y, part)
                part = total
            y = part
        return y

    def joined(self, x, f):
        """Channels of two arrays beside each other, one of them computed."""
        r = self.random
        n, c, h, w = self.reference.ns[x].shape
        dtype = self.reference.ns[x].dtype.str[1:]
        other = self.make((n, r.choice([1, 3]), h, w), dtype)
        if r.random() < 0.5:
            t = self.step(r.choice(["np.maximum({}, 0)", "{} * 2"]), "elementwise", "maximum", other)
            self.drop(other)
            other = t
        more = c + self.reference.ns[other].shape[1]
        both = self.step(r.choice(["np.concatenate([{0}, {1}], axis=1)", "np.concatenate([{1}, {0}], axis=1)"]), "exactly", "concatenate", x, other)
        o, _, kh, kw = self.reference.ns[f].shape
        filters = self.make((o, more, kh, kw), dtype)
        self.drop(x, other, f)
        return both, filters

    def patches(self):
        """A convolution by im2col: windows that overlap in memory, copied to a matrix."""
        r = self.random
        dtype = r.choice(["f4", "f4", "f8"])
        n, c, o, k, step = r.randint(1, 3), r.choice([1, 2, 5, 16]), r.choice([4, 9, 17, 40]), r.randint(1, 3), r.randint(1, 2)
        h, w = r.choice([5, 8, 14, 30]), r.choice([5, 8, 14, 30])
        x, f = self.make((n, c, h, w), dtype), self.make((o, c * k * k), dtype)
        if r.random() < 0.5:
            p = self.step("np.pad({}, ((0, 0), (0, 0), (1, 1), (1, 2)))", "exactly", "pad", x)
            self.drop(x)
            x, h, w = p, h + 2, w + 3
        rows, columns = (h - k) // step + 1, (w - k) // step + 1
        item = numpy.dtype(dtype).itemsize
        image, channel, down, right = (c * h * w * item, h * w * item, w * item, item)
        if self.reference.ns[x].strides != (image, channel, down, right):
            x = self.step("np.ascontiguousarray({})", "exactly", "copy", x)
        if r.random() < 0.5:
            shape, strides = (n, c, k, k, rows, columns), (image, channel, down, right, down * step, right * step)
            m = self.step(f"np.lib.stride_tricks.as_strided({{}}, {shape}, {strides}).reshape({n}, {c * k * k}, {rows * columns})", "exactly", "reshape", x)
            y = self.step("{} @ {}", "matmul", "matmul", f, m)
        else:
            shape, strides = (n, rows, columns, c, k, k), (image, down * step, right * step, channel, down, right)
            m = self.step(f"np.lib.stride_tricks.as_strided({{}}, {shape}, {strides}).reshape({n * rows * columns}, {c * k * k})", "exactly", "reshape", x)
            y = self.step("{} @ {}.T", "matmul", "matmul", m, f)
        self.drop(x, *([m] if r.random() < 0.8 else []))
        if r.random() < 0.6:
            t = self.step("np.maximum({}, 0)", "elementwise", "maximum", y)
            self.drop(y)
            y = t
        return y

    def attention(self):
        """In its spellings, in sizes about the one from which it is a region; sometimes something of it is kept."""
        r = self.random
        dtype, heads = r.choice(["f4", "f4", "f8"]), r.choice([(), (2,), (2, 2)])
        rows, keys = r.choice([1, 3, 33, 40, 70]), r.choice([9, 40, 64, 130, 300])
        depth, width = r.choice([4, 9, 16]), r.choice([1, 5, 16, 33])
        if rows == 1:
            keys, depth = r.choice([64, 300, 1500]), r.choice([16, 31])
        while len(heads) and max(rows * keys, keys * max(depth, width)) * 4 > self.large:
            heads = heads[1:]
        groups = r.choice([1, 1, 2, 3]) if heads else 1
        q, k, v = (self.make((*heads[:-1], heads[-1] * n, *s) if heads else s, dtype) for n, s in ((groups, (rows, depth)), (1, (keys, depth)), (1, (keys, width))))
        shared = (k, v) if groups > 1 else ()
        if groups > 1:
            k, v = (self.step(f"np.repeat({{}}, {groups}, axis=-3)", "exactly", "repeat", x) for x in (k, v))
        if depth == 16 and r.random() < 0.3:
            for name, x, n in (("q", q, rows), ("k", k, keys)):
                cos = self.make((n, depth), dtype)
                turned = r.choice([f"np.concatenate([-{{0}}[..., {depth // 2}:], {{0}}[..., :{depth // 2}]], axis=-1)", "np.stack((-{0}[..., 1::2], {0}[..., ::2]), -1).reshape({0}.shape)"])
                turn = self.step(f"{{0}} * {{1}} + {turned} * {{1}}", "elementwise", "add", x, cos)
                self.drop(x, cos)
                q, k = (turn, k) if name == "q" else (q, turn)
        turned = self.step("np.swapaxes({}, -1, -2)", "view", "view", k)
        s = self.step("np.matmul({}, {})", "matmul", "matmul", q, turned)
        made = [turned, *([q, k] if r.random() < 0.3 else [])]

        def change(text, op, *operands):
            made.append(operands[-1] if op == "where" else operands[0])
            return self.step(text, "elementwise", op, *operands)

        s = change("{} * 0.125", "multiply", s)
        if r.random() < 0.3:
            s = change("{} + {}", "add", s, self.make(r.choice([(rows, keys), (keys,), (rows, 1)]), dtype))
        mask = None
        if r.random() < 0.5:
            i, j = self.step(f"np.arange({rows})[:, None]", "create", "arange"), self.step(f"np.arange({keys})", "create", "arange")
            mask = self.step(r.choice(["{} >= {}", "{} + 3 > {}", "({0} >= {1}) & ({0} - {1} < 7)", "{} != {}"]), "elementwise", "greater_equal", i, j)
            s = change(f"np.where({{}}, {{}}, {r.choice(['-np.inf', '-1e9', '-3'])})", "where", mask, s)
            made += [i, j, mask]
        if r.random() < 0.7:
            most = self.reduce("max", s, -1, True)
            s = change("{} - {}", "subtract", s, most)
            made.append(most)
            if r.random() < 0.3:
                s = change(r.choice(["{} * 0.5", "0.5 * {}", "{} / 4"]), "multiply", s)
        e = change("np.exp({})", "exp", s)
        if mask and r.random() < 0.4:
            e = change(f"np.where({{}}, {{}}, {r.choice(['0', '0', '1'])})", "where", mask, e)
        total = self.reduce("sum", e, -1, True)
        form = r.random()
        if form < 0.15:
            inverse = self.step("1 / {}", "elementwise", "divide", total)
            made.append(inverse)
            out = self.step("np.matmul({}, {})", "matmul", "matmul", change("{} * {}", "multiply", e, inverse), v)
        elif form < 0.5:
            out = self.step("np.matmul({}, {})", "matmul", "matmul", change("{} / {}", "divide", e, total), v)
        else:
            out = self.step("{} / {}", "elementwise", "divide", self.step("np.matmul({}, {})", "matmul", "matmul", e, v), total)
        self.drop(*made, e, total, *([*shared, v] if shared else ()))
        return out

    def standardise(self):
        rows = self.extent(300)
        x = self.make((rows, self.points(max(300, self.large / rows / 4))), self.random.choice(["f4", "f8"]))
        axis = self.random.choice([1, 1, -1, 0])
        mean, std = self.reduce("mean", x, axis, True), self.reduce("std", x, axis, True)
        low = self.step("{} - {}", "elementwise", "subtract", x, mean)
        more = self.step("{} + 1e-5", "elementwise", "add", std)
        out = self.step("{} / {}", "elementwise", "divide", low, more)
        self.drop(mean, std, low, more)
        return out

    def variance(self):
        x = self.make((self.points(self.large),))
        mean = self.step("np.mean({})", "reduce-inner", "mean", x)
        low = self.step("{} - {}", "elementwise", "subtract", x, mean)
        square = self.step("{} ** 2", "elementwise", "square", low)
        out = self.step("np.mean({})", "reduce-inner", "mean", square)
        self.drop(low, square)
        return out

    def columns(self):
        x = self.make((self.points(self.large / 20), self.extent(20)))
        square = self.step("{} * {}", "elementwise", "multiply", x, x)
        out = self.reduce("sum", square, 0)
        self.drop(square)
        return out

    def moments(self):
        """Long reductions that are pending together, of maps of one array and of others of its shape, joined at the end."""
        r = self.random
        shape, budget = [], self.large
        for _ in range(r.randint(1, 3)):
            shape.append(self.points(budget) if r.random() < 0.5 else self.extent(budget))
            budget //= shape[-1]
        shape.append(max(1, budget))
        r.shuffle(shape)
        arrays = [self.make(shape) for _ in range(r.randint(1, 2))]
        if r.random() < 0.4:
            arrays.append(self.spaced(arrays[0], r.choice(["::-1", "...", "1:", "::2"])))
        common = self.some_axes(len(shape))
        total = None
        for _ in range(r.randint(2, 6)):
            x = r.choice(arrays)
            op, text, *more = r.choice([("multiply", "{} * {}", x), ("add", "{} + 1", "1"), ("absolute", "np.abs({})"), ("square", "np.square({})"), ("less", "{} < 3", "3"), ("multiply", "{} * 0.5", "0.5"), ("", "")])
            part = self.step(text, "elementwise", op, x, *more) if op else x
            axes = common if r.random() < 0.8 else self.some_axes(len(shape))
            fold = self.reduce(r.choice(["sum", "sum", "max", "min", "mean", "var", "any"] + ["argmin", "argmax"] * isinstance(axes, int)), part, axes)
            if part != x:
                self.drop(part)
            if total is None:
                total = fold
                continue
            op, text = r.choice([("add", "{} + {}"), ("subtract", "{} - {}"), ("maximum", "np.maximum({}, {})"), ("divide", "{} / {}")])
            if fold in self.reference.tol and self.accepts(op, [total, fold]):
                old, total = total, self.step(text, "elementwise", op, total, fold)
                self.drop(old, fold)
        return total

    def some_axes(self, ndim):
        r = self.random
        return r.choice([None, r.randrange(ndim), tuple(sorted(r.sample(range(ndim), r.randint(1, ndim))))])

    def stencil(self):
        r = self.random
        rows = self.extent(300)
        u = self.make((rows + 3, self.points(max(300, self.large / rows / 4)) + 3), r.choice(["f8", "f4", "i4"]))
        for _ in range(r.randint(1, 4)):
            kind = r.random()
            if kind < 0.4:
                parts = [self.spaced(u, i) for i in ("1:-1, 1:-1", ":-2, 1:-1", "2:, 1:-1", "1:-1, :-2", "1:-1, 2:")]
                total = parts[0]
                for p in parts[1:]:
                    total = self.step("{} + {}", "elementwise", "add", total, p)
                if kind < 0.2:
                    self.emit(Statement(f"{u}[1:-1, 1:-1] = {total}", "write", "copy", u, (u, total)))
                    self.drop(total)
            elif kind < 0.7:
                text = r.choice([f"{u}[1:-1] += {u}[2:] - 2 * {u}[1:-1]", f"{u}[1:] += {u}[:-1]", f"{u}[:, 1:] -= {u}[:, :-1]", f"{u}[::2] += {u}[1::2][:1]"])
                self.emit(Statement(text, "write", "add", u, (u, u)))
            else:
                text = r.choice([f"{u}[0] = {u}[1]", f"{u}[-1] = {u}[-2]", f"{u}[:, 0] = 0", f"{u}[:, -1] = {u}[:, 1]", f"{u}[...] = {u}[::-1]"])
                self.emit(Statement(text, "write", "copy", u, (u,)))
        return u

    def forces(self):
        n, d = self.extent(150), self.extent(4)
        p, m = self.make((n, d), "f8"), self.make((n,), "f8")
        a, b = self.spaced(p, "None, :, :"), self.spaced(p, ":, None, :")
        diff = self.step("{} - {}", "elementwise", "subtract", a, b)
        square = self.step("{} * {}", "elementwise", "multiply", diff, diff)
        r2 = self.reduce("sum", square, 2)
        soft = self.step("{} + 0.01", "elementwise", "add", r2)
        root = self.step("np.sqrt({})", "elementwise", "sqrt", soft)
        cube = self.step("{} * {}", "elementwise", "multiply", soft, root)
        weight = self.step("{} / {}", "elementwise", "divide", m, cube)
        wide = self.spaced(weight, ":, :, None")
        force = self.step("{} * {}", "elementwise", "multiply", diff, wide)
        out = self.reduce("sum", force, 1)
        self.drop(a, b, diff, square, r2, soft, root, cube, weight, wide, force)
        return out

    # --- random trees
    def tree(self):
        r = self.random
        shape, budget = [], self.large / 2
        for _ in range(r.randint(2, 4)):
            shape.append(self.extent(budget))
            budget /= shape[-1]
        r.shuffle(shape)
        special = r.random() < 0.15
        node = self.leaf(shape, special)
        for _ in range(r.randint(3, 8)):
            kind, v = r.random(), self.reference.ns[node]
            old = node
            if kind < 0.3 and numpy.ndim(v) >= 1:
                op = r.choice(["sum", "sum", "max", "min", "mean", "norm", "argmin", "argmax", "any", "prod", "var"])
                if kind_of(v.dtype) == "b" and op == "norm":
                    op = "sum"
                node = self.reduce(op, node, r.randrange(-v.ndim, v.ndim), r.random() < 0.4)
            elif kind < 0.7:
                op, text = r.choice([("add", "{} + {}"), ("subtract", "{} - {}"), ("multiply", "{} * {}"), ("maximum", "np.maximum({}, {})"), ("less", "{} < {}"), ("divide", "{} / {}")])
                other = self.leaf([n if r.random() < 0.6 else 1 for n in numpy.shape(v)] if r.random() < 0.8 else list(numpy.shape(v))[1:], special)
                if not self.accepts(op, [node, other]):
                    continue
                node = self.step(text, "elementwise", op, *((node, other) if r.random() < 0.7 else (other, node)))
                self.drop(other)
            elif kind < 0.9:
                op, text = r.choice([("absolute", "np.abs({})"), ("square", "np.square({})"), ("negative", "-{}"), ("sqrt", "np.sqrt({})"), ("multiply", "{} * 0.5"), ("add", "{} + 1"), ("exp", "np.exp(-np.abs({}))")])
                if not self.accepts(op, [node]) if op in ("absolute", "square", "negative", "sqrt", "exp") else kind_of(v.dtype) == "b":
                    continue
                node = self.step(text, "elementwise", op, node, *(("0.5",) if op == "multiply" else ("1",) if op == "add" else ()))
            elif numpy.ndim(v) >= 2:
                node = self.step(f"np.transpose({{}}, {self.axes_order(v.ndim)})" if r.random() < 0.5 else "{}[::-1]", "view", "view", node)
            if node not in self.reference.tol:  # NumPy refused it, which is part of the program
                return old
            if node != old:
                self.drop(old)
        return node

    def leaf(self, shape, special):
        return self.make(shape, self.random.choice(["f8", "f8", "f4", "f4", "i4", "?", "F"] if self.random.random() < 0.3 else ["f8", "f4"]), special)

    def tail(self, result):
        """A reader of the result, or a write into an input that was pending."""
        r = self.random
        names = [n for n in self.arrays() if self.value(n).flags.writeable and kind_of(self.value(n).dtype) in "fiu"]
        if names and r.random() < 0.6:
            n = r.choice(names)
            self.emit(Statement(f"{n} += 1", "write", "add", n, (n, "1")))
        v = self.reference.ns.get(result)
        if hasattr(v, "dtype") and kind_of(v.dtype) in "biuf":
            self.step("{} + {}", "elementwise", "add", result, result)
