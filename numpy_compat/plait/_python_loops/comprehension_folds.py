"""What sum(), min(), max(), any(), all() and len() make of the elements of a comprehension, or of a generator expression, in a compiled loop."""

import ast
import builtins
import sys

from .comprehensions import COMPREHENSIONS, OWN, loops_of
from .inlining import Frame
from .trees import copied, nodes
from .types import BOOL, FLOAT, INT, NotCompiled

_COMPENSATES = sys.version_info >= (3, 12)  # sum(), of Python's floats
# What is done before, for each element, and behind.
_PLAIN = {
    builtins.sum: ("pass", "total = total + item", "return total"),
    builtins.min: ("pass", "item", "pass"),
    builtins.max: ("pass", "item", "pass"),
    builtins.any: ("pass", "if item: return True", "return False"),
    builtins.all: ("pass", "if not item: return False", "return True"),
}
_OF_LISTS = {  # whose elements are all there before the first is asked for
    builtins.any: ("found = False", "if item: found = True", "return found"),
    builtins.all: ("found = True", "if not item: found = False", "return found"),
    builtins.len: ("n = 0", "v = item\nn += 1", "return n"),
}
_COMPENSATED = (
    "s = 0.0\nc = 0.0\nfound = False",
    "v = item\nt = s + v\nc += s - t + v if (s if s >= 0 else -s) >= (v if v >= 0 else -v) else v - t + s\ns = t\nfound = True",
    "if not found: return total\nt = s + c\nreturn t if c != 0.0 and c - c == 0.0 else s",
)


class _Template(ast.NodeTransformer):
    def __init__(self, item, number):
        self.item, self.number = item, number

    def visit_Name(self, node):
        if node.id == "item":
            return copied(self.item)
        return ast.Name(f"{node.id}{OWN}{OWN}{self.number}", node.ctx)


class Extreme(ast.stmt):
    """Keeps the element, where it is the first or beyond the best one so far."""

    _fields = ("item",)

    def begin(self, lowering, fn, node):
        self.op, self.key = ast.Lt() if fn is builtins.min else ast.Gt(), (node, "value")
        self.held, self.found = lowering.chosen(node), lowering.p.local("bool")
        lowering.p.set(self.found, lowering.p.const("bool", False))

    def do(self, lowering):
        p, (node, _), item = lowering.p, self.key, lowering.a_number(lowering.evaluate(self.item), self.item)
        p.begin_if(lowering.negated(p.get(self.found)))
        lowering.choose(self.held, self.key, item, node)
        p.set(self.found, p.const("bool", True))
        p.otherwise()
        p.begin_if(lowering.compared(self.op, item, lowering.choice(self.held, self.key), node).id)
        lowering.choose(self.held, self.key, item, node)
        p.end()
        p.end()

    def end(self, lowering, fn, node):
        lowering.fail_if(lowering.negated(lowering.p.get(self.found)), lambda *_: fn(()), node)
        return lowering.choice(self.held, self.key)


class Fold:
    """The statements that stand for a call of fn with a comprehension."""

    def __init__(self, fn, texts, comprehension, number):
        self.number, self.texts = number, texts
        parts = [[_Template(comprehension.elt, number).visit(s) for s in ast.parse(text).body] for text in texts]
        before, each, behind = ([ast.fix_missing_locations(ast.copy_location(s, comprehension)) for s in part] for part in parts)
        for s in (*before, *each, *behind):
            for n in nodes(s):
                if hasattr(n, "lineno"):
                    n.lineno = max(n.lineno, comprehension.lineno)
        self.extreme = Extreme(comprehension.elt, lineno=comprehension.lineno) if fn in (builtins.min, builtins.max) else None
        self.body = [*before, *loops_of(comprehension, [self.extreme] if self.extreme else each)]
        self.behind = behind

    def name(self, of):
        return f"{of}{OWN}{OWN}{self.number}"


def may_fold(fn, node):
    return bool(node.args) and isinstance(node.args[0], COMPREHENSIONS) and not isinstance(fn, list) and callable(fn) and fn in {**_PLAIN, **_OF_LISTS}


def folded(lowering, fn, node):
    """The sum or the like of a comprehension's elements."""
    facts, listed = lowering.facts, isinstance(node.args[0], ast.ListComp)
    texts = listed and _OF_LISTS.get(fn) or _PLAIN.get(fn)
    if texts is None or node.keywords or len(node.args) > 1 + (fn is builtins.sum):
        raise NotCompiled(f"{fn.__name__}() of a generator with other arguments", node)
    made = facts.inlined.get(node)
    if made is None:
        made = facts.inlined[node] = Fold(fn, texts, node.args[0], len(facts.inlined))
    if fn is builtins.sum:
        start = lowering.scalar(node.args[1]) if len(node.args) > 1 else lowering.literal(0)
        lowering.assign(made.name("total"), start)
    before = dict(lowering.env)
    if made.extreme:
        return _extreme(lowering, made, fn, node, before)
    frame = Frame(f"{fn.__name__}{OWN}{made.number}.", lowering.p.begin_if(None), (node, "returned"))
    loops, lowering.loops = lowering.loops, []
    lowering.frames.append(frame)
    lowering.block(made.body)
    lowering.block(made.behind)
    lowering.frames.pop()
    lowering.loops = loops
    lowering.p.end()
    if _COMPENSATES and fn is builtins.sum:
        _compensate(lowering, made, node)
    lowering.meet(frame.key, before)
    result = frame.value(lowering, node)
    _forget(lowering, before)
    return result


def _extreme(lowering, made, fn, node, before):
    made.extreme.begin(lowering, fn, node)
    lowering.block(made.body)
    _forget(lowering, before)
    return made.extreme.end(lowering, fn, node)


def _forget(lowering, before):
    """Nobody else reads what the comprehension had for itself."""
    lowering.env = {k: b for k, b in lowering.env.items() if k in before}


def _compensate(lowering, made, node):
    """Sums of Python's floats carry what their additions round off, where Python's do."""
    seen = lowering.state_at((node, "returned")) or {}
    name = next((k for k in seen if k.endswith(".return 0")), None)
    kinds = seen[name].kinds if name else frozenset()
    if made.texts is not _COMPENSATED:
        if FLOAT in kinds:
            again = lowering.facts.inlined[node] = Fold(builtins.sum, _COMPENSATED, node.args[0], made.number)
            again.texts, lowering.facts.changed = _COMPENSATED, True
        return
    item = next((b for k, b in (lowering.state_at((made.body[-1], "head")) or {}).items() if k == made.name("v")), None)
    start = lowering.env and lowering.env.get(made.name("total"))
    if item is None or item.kinds != {FLOAT} or kinds - {INT, FLOAT, BOOL} or start and start.kinds != {INT}:
        raise NotCompiled("a sum of Python's floats and of others", node)
