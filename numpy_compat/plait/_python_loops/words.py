"""None and texts as states of a compiled loop: Values whose words (types.py) stand for them. What Python does with such an object and machine code does not,
as to add to None, is done by Python from that statement on, with its errors."""

import ast
import functools
import operator

from . import kinds
from .types import BOOL, INT, ASCII, NONE, NotCompiled, OBJECTS, SameAs, TEXT, TEXTS, joined, tag_of, word_of

COMPARE = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}


class Given(str):
    """A text that the loop was given by the name `key`, and that its code has as a constant."""

    def __new__(cls, text, key):
        made = super().__new__(cls, text)
        made.key = key
        return made


def plain(x):
    return str(x) if type(x) is Given else x


def as_value(lowering, x):
    """A Value of None and of a text; anything else as it is."""
    if x is not None and not isinstance(x, str):
        return x
    word = word_of(x)
    if word is None:
        raise NotCompiled("a long text as a state")
    lowering.facts.words = True
    return kinds.Value(NONE if x is None else ASCII if len(x) == 1 and x.isascii() else TEXT, lowering.number(word), plain(x))


def as_values(lowering, x):
    """The same of the parts of a tuple."""
    return [as_values(lowering, part) for part in x] if type(x) is list else as_value(lowering, x)


def is_one_of(lowering, value, types):
    """Whether a value is of one of these types, by its tag."""
    return functools.reduce(lambda a, b: lowering.p.apply("logical_or", a, b), [lowering.same(value.tag, tag_of(t)) for t in sorted(types)])


def by_python(lowering, condition, node):
    """Where `condition` holds, Python goes on from this statement."""
    from .resuming import resumption

    if resumption(lowering) is None:
        raise NotCompiled("None, or a text that machine code does not have, where Python cannot be told what variables are", node)
    lowering.fail_if(condition, _left, node)


def _left(*_):
    raise AssertionError("a statement was left to Python, and is not done")


_left.outgrown = True


def only(lowering, value, types, node):
    """The value where it is of one of these types of its; elsewhere Python goes on."""
    found = kinds.kinds_of(value)
    if found <= types:
        return value
    by_python(lowering, lowering.negated(is_one_of(lowering, value, found & types)), node)
    return narrowed(lowering, value, found & types)


def narrowed(lowering, value, types):
    """The same where that is known."""
    t = functools.reduce(joined, sorted(types))
    v = value.id if value.type.dtype == t.dtype else lowering.word(value, t.dtype)
    return kinds.Value(t, v, kinds=types, tag=value.tag) if len(types) > 1 else kinds.Value(t, v)


def number(lowering, value, node):
    """An operand that has to be a number."""
    if not isinstance(value, kinds.Value):
        return value
    found = kinds.kinds_of(value)
    numbers = found - OBJECTS
    if numbers == found:
        return value
    if numbers:
        return only(lowering, value, numbers, node)
    if TEXTS & found:
        raise NotCompiled("an operation on a text", node)
    return nothing(lowering, node)


def nothing(lowering, node):
    """What is made of a None, as far as the passes have found: Python raises there."""
    from .tables import Nothing

    if not lowering.facts.settled:
        lowering.facts.unknown = True
        raise Nothing("an operation on None", node)
    by_python(lowering, lowering.p.const("bool", True), node)
    return kinds.Value(INT, lowering.zero)


def compared(lowering, op, a, b, node):
    """A comparison of which an operand is None or a text, or may be; None of others."""
    from . import texts

    if not any(x is None or isinstance(x, str) or texts.is_long(x) or isinstance(x, kinds.Value) and kinds.kinds_of(x) & OBJECTS for x in (a, b)):
        return None
    if any(map(texts.is_long, (a, b))):
        return texts.compared(lowering, op, a, b, node)
    a, b = (as_value(lowering, x) for x in (a, b))
    if not (isinstance(a, kinds.Value) and isinstance(b, kinds.Value)):
        if isinstance(op, (ast.Is, ast.IsNot)):
            return lowering.literal(isinstance(op, ast.IsNot))
        raise NotCompiled("None or a text is compared with what is no number", node)
    if isinstance(op, (ast.Is, ast.IsNot)):
        if {NONE} not in (kinds.kinds_of(a), kinds.kinds_of(b)):
            raise NotCompiled("whether a text is the same object", node)
        return _either_way(lowering, isinstance(op, ast.Is), equal(lowering, a, b, node))
    if isinstance(op, (ast.Eq, ast.NotEq)):
        return _either_way(lowering, isinstance(op, ast.Eq), equal(lowering, a, b, node))
    return _ordered(lowering, op, a, b, node)


def _either_way(lowering, holds, found):
    if holds:
        return found
    return lowering.literal(not found.literal) if found.known else kinds.Value(BOOL, lowering.negated(found.id))


def told_apart(lowering, test):
    """Variables that are not None where a test holds, and where it does not, as its source shows: what they are there."""
    present, absent = _told_apart(lowering, test)
    return _known_there(lowering.env, present), _known_there(lowering.env, absent)


def _told_apart(lowering, test):
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _told_apart(lowering, test.operand)[::-1]
    if isinstance(test, ast.BoolOp):
        ways = [_told_apart(lowering, x) for x in test.values]
        both = isinstance(test.op, ast.And)
        found = set().union(*(way[not both] for way in ways))
        return (found, set()) if both else (set(), found)
    if name := _variable(lowering, test):
        return {name}, set()
    of_none = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None
    name = _variable(lowering, test.left) if of_none else None
    if name is None:
        return set(), set()
    if isinstance(test.ops[0], (ast.IsNot, ast.NotEq)):
        return {name}, set()
    return (set(), {name}) if isinstance(test.ops[0], (ast.Is, ast.Eq)) else (set(), set())


def _variable(lowering, node):
    """The variable that a name, or an attribute of an object, is; None of anything else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        of = lowering.env.get(node.value.id)
        return f"{of.key}.{node.attr}" if hasattr(of, "key") and hasattr(of, "type") else None
    if not isinstance(node, ast.Name):
        return None
    found = lowering.env.get(node.id)
    return found.name if isinstance(found, SameAs) else node.id


def _known_there(env, names):
    found = {n: env[n] for n in names if len(getattr(env.get(n), "kinds", ())) > 1}
    return {n: b._replace(kinds=b.kinds - {NONE}) for n, b in found.items() if NONE in b.kinds}


def known_behind(lowering, test, at):
    """In an `and` or an `or`, variables that the operand before this one has told apart from None are known not to be that. What they are elsewhere."""
    present, absent = told_apart(lowering, test.values[at - 1])
    found = present if isinstance(test.op, ast.And) else absent
    wider = {n: lowering.env[n] for n in found}
    lowering.env |= found
    return wider


def equal(lowering, a, b, node):
    """Whether two values are equal: both None, the same text, or equal numbers."""
    if a.known and b.known and (a.type.object or b.type.object):
        return lowering.literal(a.literal == b.literal)
    p, ours, theirs = lowering.p, kinds.kinds_of(a), kinds.kinds_of(b)
    ways = []
    for types in ({NONE}, TEXTS, (ours | theirs) - OBJECTS):
        if not (ours & types and theirs & types):
            continue
        tests = [is_one_of(lowering, v, found & types) for v, found in ((a, ours), (b, theirs)) if found - types]
        x, y = (narrowed(lowering, v, found & types) for v, found in ((a, ours), (b, theirs)))
        if types == TEXTS:
            tests.append(p.apply("equal", x.id, y.id))
        elif types != {NONE}:
            if any(not t.python for t in types):
                raise NotCompiled("one of NumPy's numbers is compared with what may be None or a text", node)
            tests.append(lowering.compared(ast.Eq(), x, y, node).id)
        ways.append(functools.reduce(lambda v, w: p.apply("logical_and", v, w), tests) if tests else None)
    if None in ways:
        return lowering.literal(True)
    return kinds.Value(BOOL, functools.reduce(lambda v, w: p.apply("logical_or", v, w), ways)) if ways else lowering.literal(False)


def _ordered(lowering, op, a, b, node):
    """`<` and the like: of texts by their characters, of numbers; anything else raises in Python."""
    from . import texts

    ours, theirs = kinds.kinds_of(a) - {NONE}, kinds.kinds_of(b) - {NONE}
    if not ours or not theirs:
        nothing(lowering, node)
        return kinds.Value(BOOL, lowering.p.const("bool", False))
    if ours <= TEXTS or theirs <= TEXTS:
        if not (ours & TEXTS and theirs & TEXTS):
            raise NotCompiled("a text is compared with a number", node)
        return texts.ordered(lowering, op, *(only(lowering, v, TEXTS, node) for v in (a, b)), node)
    return lowering.compared(op, *(only(lowering, v, kinds.kinds_of(v) - OBJECTS, node) for v in (a, b)), node)
