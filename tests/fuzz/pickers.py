"""What generators choose from: variables, shapes, dtypes, indices, scalars."""
import copy

import numpy

from dtypes import DTYPES, NARROW_FLOATS, NARROW_INTS, WEIGHTS, iinfo, kind_of


class Pickers:
    def fresh(self):
        self.number += 1
        return f"v{self.number}"

    def dtype(self):
        return self.random.choices(DTYPES, WEIGHTS)[0]

    def shape(self):
        r = self.random
        ndim = r.choices([0, 1, 2, 3, 4], [1, 5, 7, 3, 1])[0]
        sizes = [0, 1, 2, 3, 4, 5, 7, 9, 17] if ndim < 3 else [0, 1, 2, 3, 4, 5]
        weights = [1, 4, 5, 6, 5, 4, 3, 2, 1][:len(sizes)]
        return tuple(r.choices(sizes, weights)[0] for _ in range(ndim))

    def arrays(self):
        """Names of live arrays, oldest first."""
        return [n for n in self.reference.tol if isinstance(self.reference.ns.get(n), numpy.ndarray)]

    def value(self, text):
        if text in self.reference.tol:
            return self.reference.ns.get(text)
        try:
            return eval(text, self.reference.ns)
        except Exception:
            return None

    def array(self, keep=None):
        """A live array, recent ones rather; None if `keep` accepts none."""
        names = [n for n in self.arrays() if keep is None or keep(self.value(n))]
        if not names:
            if keep is not None:
                return None
            self.emit(self.create())
            return self.array()
        return self.random.choices(names, range(1, len(names) + 1))[0]

    def operand(self):
        """An array, or now and then a NumPy scalar that a reduction or an index gave."""
        scalars = [n for n in self.reference.tol if isinstance(self.reference.ns.get(n), numpy.generic)]
        if scalars and self.random.random() < 0.12:
            return self.random.choice(scalars)
        return self.array()

    def partner(self, a):
        """A second operand that mostly broadcasts with `a`."""
        r, kind = self.random, self.random.random()
        v = numpy.asarray(self.value(a))
        if kind < 0.25:
            return self.weak(v.dtype)
        if kind < 0.32:
            return literal(r, self.dtype())
        names = [n for n in self.arrays() if self.broadcast([a, n]) is not None]
        if names and kind < 0.85:
            return r.choice(names)
        shape = list(v.shape)
        for i in range(len(shape)):
            if r.random() < 0.3:
                shape[i] = 1
        shape = tuple(shape[r.randint(0, len(shape)):]) if shape and r.random() < 0.3 else tuple(shape)
        special = ", True" if r.random() < 0.1 else ""
        return f"np.array(data({self.dtype()!r}, {shape}, {r.randrange(10**6)}{special}))"

    def fitting(self, shape):
        """Something that broadcasts to `shape`; an empty text if nothing was found."""
        names = [n for n in self.arrays() if self.goes_into(self.value(n).shape, shape)]
        if names and self.random.random() < 0.6:
            return self.random.choice(names)
        return f"np.array(data({self.dtype()!r}, {tuple(shape)}, {self.random.randrange(10**6)}))"

    @staticmethod
    def goes_into(shape, target):
        try:
            return numpy.broadcast_shapes(shape, target) == tuple(target)
        except ValueError:
            return False

    def broadcast(self, operands):
        """The common shape, or None where there is none or it is too large."""
        try:
            shape = numpy.broadcast_shapes(*(numpy.shape(self.value(o)) for o in operands))
        except ValueError:
            return None
        return shape if numpy.prod(shape, dtype=float) <= 2 * self.limit else None

    def mask(self, shape):
        masks = [n for n in self.arrays() if self.value(n).dtype == bool and self.value(n).shape == tuple(shape) and self.reference.tol[n].exact]
        if masks and self.random.random() < 0.7:
            return self.random.choice(masks)
        return f"np.array(data('?', {tuple(shape)}, {self.random.randrange(10**6)}))"

    def weak(self, dtype):
        """A Python scalar, mostly of the dtype's own kind."""
        r = self.random
        kind = kind_of(numpy.dtype(dtype)) if r.random() < 0.85 else r.choice("biufc")
        if kind == "b":
            return r.choice(["True", "False"])
        if kind in "iu":
            small = str(r.randint(0 if kind == "u" else -3, 9))
            return r.choice([small] * 12 + ["100", "127"])
        if kind == "f":
            return r.choice(["0.5", "-1.25", "2.0", "0.1", "3.0", "0.0", "-0.0", "1e3"])
        return r.choice(["1j", "(0.5+2j)", "(2-1j)"])

    def axes_order(self, ndim):
        axes = list(range(ndim))
        self.random.shuffle(axes)
        return tuple(axes)

    def reshape(self, shape):
        r, n = self.random, int(numpy.prod(shape, dtype=int))
        if n == 0:
            return r.choice([tuple(shape), tuple(reversed(shape))])
        parts, rest = [], n
        while rest > 1 and len(parts) < 3:
            divisors = [d for d in range(1, rest + 1) if rest % d == 0]
            parts.append(r.choice(divisors))
            rest //= parts[-1]
        parts.append(rest)
        if r.random() < 0.4:
            parts[r.randrange(len(parts))] = -1
        return tuple(parts)

    def index(self, shape):
        """A basic index."""
        r, parts, ellipsis = self.random, [], False
        for n in shape:
            if r.random() < 0.08:
                parts.append("None")
            kind = r.random()
            if kind < 0.3:
                parts.append(":")
            elif kind < 0.75:
                parts.append(self.slice(n))
            elif kind < 0.9 and n:
                parts.append(str(r.randint(-n, n - 1)))
            elif not ellipsis and kind < 0.94:
                parts.append("...")
                ellipsis = True
                break
            else:
                break
        if not ellipsis and r.random() < 0.08:
            parts.append("...")
        return ", ".join(parts) if parts else r.choice(["...", "()"])

    def slice(self, n):
        r = self.random

        def bound():
            return "" if r.random() < 0.4 else str(r.randint(-n - 1, n + 1))
        step = r.choice(["", "", "", ":2", ":-1", ":3", ":-2"])
        return f"{bound()}:{bound()}{step}"

    # --- would it work?
    def works(self, text):
        try:
            eval(text, self.reference.ns)
            return True
        except Exception:
            return False

    def works_statement(self, text):
        ns = {k: (numpy.copy(v) if isinstance(v, numpy.ndarray) else copy.copy(v)) if k.startswith("v") else v for k, v in self.reference.ns.items()}
        try:
            exec(text, ns)
            return True
        except Exception:
            return False

    def accepts(self, op, operands):
        """Whether a ufunc takes operands of these dtypes and shapes, and gives a result of a sensible size."""
        values = [self.value(o) for o in operands]
        if any(v is None for v in values) or self.broadcast(operands) is None:
            return False
        if op in ("left_shift", "right_shift") and numpy.any((numpy.asarray(values[1]) < 0) if kind_of(numpy.asarray(values[1]).dtype) in "iu" else False):
            return False
        ufunc = getattr(numpy, op)
        try:
            ufunc.resolve_dtypes(tuple(v.dtype if hasattr(v, "dtype") else type(v) if type(v) in (int, float, complex) else numpy.dtype(bool) for v in values) + (None,) * ufunc.nout)
        except (TypeError, ValueError):
            return False
        return op not in ("power",) or all(kind_of(numpy.asarray(v).dtype) in "fc" or (numpy.asarray(v) >= 0).all() for v in values[1:])

    def casts(self, value, dtype):
        """Whether assigning to this dtype is free of surprises that NumPy leaves to the platform."""
        v = self.value(value)
        if v is None:
            return False
        a = numpy.asarray(v)
        if kind_of(a.dtype) == "c" and kind_of(dtype) != "c":
            return self.random.random() < 0.05
        if kind_of(dtype) in "iu" and (kind_of(a.dtype) == "f" or not hasattr(v, "dtype")) and a.size:
            info = iinfo(dtype)
            return bool(numpy.isfinite(a).all() and a.min() >= info.min and a.max() <= min(info.max, 2**31))
        return True

    def rewrites_unselected(self, op, operands, target, *keywords):
        """Whether NumPy changes what `where=` does not select: an `out` of another dtype than the operation's that overlaps an
        input is copied, converted and written back whole, against its documentation and only where its iterator decides to copy."""
        out, result = self.value(target), self.value(f"np.{op}({', '.join([*operands, *keywords])})")
        overlaps = any(isinstance(v, numpy.ndarray) and numpy.may_share_memory(v, out) for v in map(self.value, operands))
        return overlaps and (result is None or numpy.asarray(result).dtype != out.dtype)

    def updates(self, op, left, value):
        """Whether `left op= value` is a legal update."""
        target, v = self.value(left), self.value(value)
        if target is None or v is None or not hasattr(target, "dtype") or not self.goes_into(numpy.shape(v), numpy.shape(target)):
            return False
        if op == "power" and (kind_of(numpy.asarray(v) .dtype) == "c" or (numpy.asarray(v) < 0).any()):
            return False
        try:
            result = getattr(numpy, op)(numpy.zeros((1,), target.dtype), v if not hasattr(v, "dtype") else numpy.ones((1,), v.dtype)).dtype
        except (TypeError, ValueError, OverflowError):
            return False
        return numpy.can_cast(result, target.dtype, "same_kind")


def literal(r, dtype):
    """A NumPy scalar: strong, unlike Python's."""
    if dtype in NARROW_FLOATS + NARROW_INTS:
        return f"np.dtype({dtype!r}).type({r.choice(['0', '1'] if dtype in NARROW_INTS else ['0.5', '-1.5', '2'])})"
    value = {"?": "True", "F": "1+2j", "D": "0.5-1j"}.get(dtype) or (str(r.randint(0, 7)) if dtype[0] in "iu" else r.choice(["0.5", "-2.25", "3"]))
    name = {"?": "bool_", "F": "complex64", "D": "complex128"}.get(dtype) or {"i": "int", "u": "uint", "f": "float"}[dtype[0]] + str(8 * int(dtype[1]))
    return f"np.{name}({value})"
