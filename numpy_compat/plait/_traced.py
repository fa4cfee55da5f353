"""Functions of Python numbers, traced and computed of whole arrays.

A function is called with Values, whose operators record what is done to all elements. Where it branches on one, it is called again for the other
way; the results are joined by where(). Its numbers are Python's. What raises in Python or warns in NumPy is looked for in the same pass, and
where an element does, NumPy calls the function for each. Ints have bounds, so that those of more than 64 bits are known before.
"""

import numpy

from ._values import HIGH, PYTHON, Node, Untraceable, Value, kind_of, to_int, to_integer

LEAVES, STEPS = 32, 4000  # ways through a function; operations on all of them


class _TooMuch(Untraceable):
    """Why no way through a function is traced."""


class Trace:
    """What one function does to the elements of arrays."""

    def __init__(self):
        self.watching = any(numpy.geterr()[kind] != "ignore" for kind in ("divide", "over", "invalid"))
        self.known = {}  # an operation and its operands -> its node
        self.suspects = {}  # the decisions on the way -> where NumPy may be to run the function, by what is to be looked for
        self.steps = 0

    def argument(self, x):
        """The Value of an array of bools, integers or floats."""
        node, kind = Node(None, (x,)), x.dtype.kind
        if kind == "f" and x.dtype.itemsize <= 8:
            return Value(self, node if x.dtype == numpy.float64 else self.record("astype", numpy.float64, node), "f", PYTHON)
        if kind == "b":
            return Value(self, node, "b", PYTHON)
        if kind not in "iu":
            raise Untraceable(f"an argument of dtype {x.dtype}")
        if x.dtype.itemsize < 8:
            limits = numpy.iinfo(x.dtype)
            low, high = int(limits.min), int(limits.max)
        else:
            low, high = x.min(), x.max()
            low, high = int(low), int(high)
        if high > HIGH:
            raise Untraceable("an int of more than 63 bits")
        return Value(self, node if x.dtype == numpy.int64 else self.record("astype", numpy.int64, node), "i", PYTHON, low, high)

    def record(self, name, *operands):
        """The node of an operation; the same one for the same operands."""
        self.steps += 1
        if self.steps > STEPS:
            raise _TooMuch(f"more than {STEPS} operations")
        key = name, *(id(x) if type(x) is Node else (type(x), repr(x)) for x in operands)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = Node(name, operands)
        return found

    def suspect(self, where):
        """NumPy is to run the function if `where` is true of an element that comes here."""
        if where is not False:
            self.suspects.setdefault(tuple(self.path), {})["at", where] = where

    def zero(self, x):
        """Python raises where x is zero."""
        if type(x) is Node:
            self.suspect(self.record("equal", x, 0))
        elif x == 0:
            raise Untraceable("a division by zero")

    def births(self, made):
        """Suspects results that are infinite of finite operands, or NaN of none."""
        if all(type(x) is Node or x == x for x in made.operands):
            self.suspects.setdefault(tuple(self.path), {})["born", made] = made

    def ordered(self, *operands):
        """Suspects NaNs, which set a flag where they are compared."""
        for x in operands:
            if type(x) is Node:
                self.suspects.setdefault(tuple(self.path), {})["nan", x] = x
            elif x != x:
                raise Untraceable("a comparison with NaN")

    def _born(self, made):
        """Where a result is no finite number, and its operands are not to blame."""
        record = self.record
        born, infinite = record("isnan", made), record("isinf", made)
        for x in made.operands:
            if type(x) is Node:
                born = record("logical_and", born, record("logical_not", record("isnan", x)))
                infinite = record("logical_and", infinite, record("isfinite", x))
            elif type(x) is float and x - x != 0:
                infinite = False
        return record("logical_or", born, infinite)

    def decide(self, value):
        """Which way the function goes at a branch: as it went where it asked for the same, or as it has not gone yet."""
        array = value.node if value.kind == "b" else self.record("not_equal", value.node, 0)
        for condition, taken in self.path:
            if condition is array:
                return taken
        at = len(self.path)
        if at >= LEAVES:
            raise _TooMuch(f"more than {LEAVES} branches, or a loop whose length depends on the elements")
        taken = self.planned[at] if at < len(self.planned) else True
        self.path.append(_Step((array, taken)))
        return taken

    def follow(self, function, args, kwargs):
        """[(decisions, what the function gives there)] of all ways through it. Raises Untraceable if none can be traced."""
        self.planned, leaves, reason = [], [], None
        while True:
            self.path = []
            try:
                result = function(*args, **kwargs)
            except _TooMuch:
                raise
            except (Untraceable, Exception) as e:  # elements that come here are NumPy's, who raises what there is to raise
                reason = reason or (e if isinstance(e, Untraceable) else Untraceable(f"{type(e).__name__}: {e}"))
                result = _NUMPYS
                self.suspects.setdefault(tuple(self.path), {})["at", None] = True
            leaves.append((tuple(self.path), result))
            if len(leaves) > LEAVES:
                raise _TooMuch(f"more than {LEAVES} ways through the function")
            self.planned = [taken for _, taken in self.path]
            while self.planned and not self.planned[-1]:
                self.planned.pop()
            if not self.planned:
                break
            self.planned[-1] = False
        if all(result is _NUMPYS for _, result in leaves):
            raise reason
        return leaves

    def joined(self, leaves, results, depth=0):
        """The results of leaves, each where its decisions are as they were made."""
        if len(leaves) == 1:
            return results[0]
        split = sum(path[depth][1] for path, _ in leaves)
        condition = leaves[0][0][depth][0]
        return self.record(
            "where", condition, self.joined(leaves[:split], results[:split], depth + 1), self.joined(leaves[split:], results[split:], depth + 1)
        )

    def mask(self, path):
        made = True
        for condition, taken in path:
            here = condition if taken else self.record("logical_not", condition)
            made = here if made is True else self.record("logical_and", made, here)
        return made

    def flagged(self, exactly):
        """Where NumPy is to run the function: a node of bools, True or False. Inexactly it is also where numbers are not finite, whatever they
        come from."""
        record, found = self.record, False
        for path, suspects in self.suspects.items():
            here = [x for (what, _), x in suspects.items() if what == "at"]
            if exactly:
                here += [self._born(x) if what == "born" else record("isnan", x) for (what, _), x in suspects.items() if what != "at"]
            else:
                seen = [x for (what, _), x in suspects.items() if what != "at"]
                hidden = _passed(seen)  # an operand that is no finite number shows in what is computed of it
                here += [record("logical_not", record("isfinite", x)) for x in dict.fromkeys(seen) if x not in hidden]
            mask = self.mask(path)
            for x in here:
                x = mask if x is True else x if mask is True else record("logical_and", mask, x)
                found = x if found is False or x is True else found if found is True else record("logical_or", found, x)
        return found

    def converted(self, x, dtype):
        """x as element of an array of this dtype, as NumPy stores a Python object there. Raises Untraceable where it may raise."""
        kind, _ = kind_of(x)
        if type(x) is not Value:
            with numpy.errstate(all="raise"):
                return numpy.array([x], object).astype(dtype)[0]
        if dtype == numpy.bool_:
            return x.node if kind == "b" else self.record("not_equal", x.node, 0)
        if dtype.kind == "f" and dtype.itemsize <= 8:
            double = x.node if kind == "f" else self.record("astype", numpy.float64, x.node)
            if dtype == numpy.float64:
                return double
            made = self.record("astype", dtype.type, double)
            self.births(made)
            return made
        if dtype.kind in "iu":
            whole = to_int(x) if kind == "f" else x
            limits = numpy.iinfo(dtype)
            if whole.low >= limits.min and whole.high <= limits.max:
                return self.record("astype", dtype.type, to_integer(whole))
        raise Untraceable(f"results of dtype {dtype}")


# Operations whose result is not finite where an operand is not: how many operands that holds for.
_PASSING = {"add": 2, "subtract": 2, "multiply": 2, "divide": 1, "negative": 1, "absolute": 1, "sqrt": 1, "log": 1, "log2": 1, "log10": 1}


def _passed(nodes):
    """What shows in the nodes if it is not finite."""
    found, pending = set(), list(nodes)
    while pending:
        node = pending.pop()
        for x in node.operands[: _PASSING.get(node.name, 0)]:
            if type(x) is Node and x not in found:
                found.add(x)
                pending.append(x)
    return found


class _Step(tuple):
    """A decision: its condition, which is compared by identity, and which way it went."""

    __slots__ = ()

    def __eq__(self, other):
        return self[0] is other[0] and self[1] is other[1]

    def __hash__(self):
        return hash((id(self[0]), self[1]))


_NUMPYS = object()


def arrays(roots):
    """The arrays of nodes, recorded by Plait; nothing else is left of them."""
    import plait

    made, pending = {}, [x for x in roots if type(x) is Node]
    while pending:
        node = pending[-1]
        missing = [x for x in node.operands if type(x) is Node and x not in made] if node.name else []
        if missing and node not in made:
            pending += missing
            continue
        pending.pop()
        if node not in made:
            operands = [made[x] if type(x) is Node else x for x in node.operands]
            if node.name is None:
                made[node] = operands[0]
            elif node.name == "astype":
                made[node] = operands[1].astype(operands[0])
            else:
                made[node] = getattr(plait, node.name)(*operands)
    return [made[x] if type(x) is Node else x for x in roots]


def computed(trace, leaves, dtypes, several):
    """A node for each dtype, of all leaves."""
    rows = [[] for _ in dtypes]
    for path, result in leaves:
        trace.path = path
        results = result if several else (result,)
        try:
            if result is not _NUMPYS and (type(results) is not tuple or len(results) != len(dtypes)):
                raise Untraceable("results of several lengths")
            made = [dtype.type(0) if result is _NUMPYS else trace.converted(x, dtype) for x, dtype in zip(results if result is not _NUMPYS else dtypes, dtypes)]
        except (Untraceable, Exception) as e:
            if isinstance(e, _TooMuch) or not path:
                raise e if isinstance(e, Untraceable) else Untraceable(f"{type(e).__name__}: {e}") from None
            made = [dtype.type(0) for dtype in dtypes]
            trace.suspects.setdefault(tuple(path), {})["at", None] = True
        for row, x in zip(rows, made):
            row.append(x)
    return [trace.joined(leaves, row) for row in rows]
