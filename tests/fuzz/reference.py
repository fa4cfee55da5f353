"""NumPy's run of a program, a statement at a time, with the tolerance of every variable."""

import ast
import contextlib
import warnings

import numpy

import execute
import tolerance
from dtypes import iinfo, kind_of
from tolerance import EXACT, SKIP, Info, Tol


@contextlib.contextmanager
def quiet():
    """Neither warnings nor floating-point errors: programs are full of both."""
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


WRITES = ("write", "out", "out-reduce")


def root(a):
    while isinstance(a, numpy.ndarray) and isinstance(a.base, numpy.ndarray):
        a = a.base
    return a


def masks_itself(text, ns):
    """Whether a statement writes to an array through a mask where the mask or the values lie in the same memory, which NumPy reads while it writes."""
    statement = ast.parse(text).body[0]
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if not isinstance(target, ast.Subscript):
        return False
    try:
        array, mask, value = (eval(ast.unparse(part), ns) for part in (target.value, target.slice, statement.value))
    except Exception:
        return False
    arrays = [x for x in (mask, value) if isinstance(x, numpy.ndarray)]
    return isinstance(array, numpy.ndarray) and getattr(mask, "dtype", None) == bool and any(numpy.may_share_memory(array, x) for x in arrays)


class Reference:
    def __init__(self):
        self.ns = execute.namespace(numpy)
        self.tol = {}
        self.in_memory = set()  # names of data that nothing was computed into
        self.errors = {}
        self.count = 0

    def step(self, s):
        """Runs a statement; True if it succeeded."""
        infos = []
        for operand in s.operands:
            if operand in self.tol and operand in self.ns:
                infos.append(Info(self.ns[operand], self.tol[operand]))
            else:
                try:
                    infos.append(Info(eval(operand, self.ns), EXACT))
                except Exception:
                    infos.append(None)
        before = SKIP if masks_itself(s.text, self.ns) else self.tol.get(s.target, EXACT)
        target = self.ns.get(s.target)
        lost = s.rule in WRITES and isinstance(target, numpy.ndarray) and None not in infos and tolerance.lost_as_integers(s.op, infos, target.dtype)
        error = execute.run_line(s.text, self.ns)
        self.count += 1
        if error:
            self.errors[self.count - 1] = error
            if s.rule in WRITES and s.target in self.tol and isinstance(self.ns.get(s.target), numpy.ndarray):
                self.taint(s.target, SKIP)  # how much was written before an error is not specified
            return False
        if s.rule == "del":
            self.tol.pop(s.target, None)
            return True
        value = self.ns.get(s.target)
        infos = [i for i in infos if i is not None and kind_of(i.dtype) in "biufc"]
        if not hasattr(value, "dtype"):
            self.tol[s.target] = Tol(0, 0, any(i.tol.zero for i in infos)) if all(i.tol.exact for i in infos) else SKIP
            return True
        tol = self.bound(s, infos, value)
        if s.rule in WRITES:
            if kind_of(value.dtype) in "biu" and any(i.float for i in infos):
                if not tol.exact or not all(i.finite and i.max ** 2 < min(2**31, iinfo(value.dtype).max if kind_of(value.dtype) in "iu" else 2**31)
                                            for i in infos if i.float or i.size) or any(i.float and i.value.size and i.value.real.min() < 0 and kind_of(value.dtype) == "u" for i in infos):
                    tol = SKIP
            if lost:
                tol = SKIP
            self.taint(s.target, Tol(max(tol.rel, before.rel), max(tol.abs, before.abs), tol.zero or before.zero))
        else:
            self.tol[s.target] = tol
            if s.rule == "create":
                self.in_memory.add(s.target)
            else:
                self.in_memory.discard(s.target)
        return True

    def taint(self, name, tol):
        self.tol[name] = tol
        self.in_memory.clear()
        base = root(self.ns[name])
        for other, value in self.ns.items():
            if other in self.tol and other != name and isinstance(value, numpy.ndarray) and root(value) is base:
                t = self.tol[other]
                self.tol[other] = Tol(max(t.rel, tol.rel), max(t.abs, tol.abs), t.zero or tol.zero)

    def bound(self, s, infos, value):
        result = Info(value, EXACT)
        if s.rule == "create":
            return EXACT
        if s.rule in ("view", "copy"):
            if not infos:
                return EXACT
            return Tol(max(i.tol.rel for i in infos), max(i.tol.abs for i in infos), any(i.tol.zero for i in infos))
        if s.rule == "exactly":
            return Tol(0, 0, any(i.tol.zero for i in infos)) if all(i.tol.exact for i in infos) else SKIP
        if s.rule == "cast":
            if not infos:
                return SKIP
            x = infos[0]
            if kind_of(value.dtype) in "iu" and x.float:
                info = iinfo(value.dtype)
                real = x.value.real
                if not x.finite or not x.tol.exact or x.max >= min(info.max, 2**31) or (real.size and real.min() < 0 and info.min == 0):
                    return SKIP
                return EXACT
            return tolerance.elementwise("copy", infos, result)
        if s.rule in ("elementwise", "write", "out"):
            return tolerance.elementwise(s.op, infos, result)
        if s.rule in ("reduce", "reduce-inner", "out-reduce"):
            x = infos[0]
            for start in infos[1:]:  # initial=, or the target
                x.max = max(x.max, start.max)
            inner = s.rule == "reduce-inner" and x.dtype.char in "fd" and x.dtype == value.dtype and x.value.flags.c_contiguous
            # Over all axes of a value that is never in memory, the tree follows what it is made of.
            inner = inner and (x.value.ndim == 1 or value.size > 1 or s.operands[0] in self.in_memory)
            return tolerance.reduction(s.op, x, result, inner)
        if s.rule == "contraction":
            a, b = infos[:2]
            return tolerance.contraction(a, b, result, max(a.size, b.size))
        if s.rule == "matmul":
            a, b = infos[:2]
            return tolerance.contraction(a, b, result, a.value.shape[-1] if a.value.ndim else 1)
        return SKIP

    def record(self):
        """What execute() would have recorded, and the tolerances by name."""
        return {"errors": self.errors, "fell": {}, **execute.observe(numpy, self.ns)}, dict(self.tol)


def reference(statements):
    r = Reference()
    with quiet():
        for s in statements:
            r.step(s)
        return r.record()
