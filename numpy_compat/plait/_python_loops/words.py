"""None and texts as states of a compiled loop: Values whose words (types.py) stand for them. What Python does with such an object and machine code does not,
as to add to None, is done by Python from that statement on, with its errors."""

import ast
import functools
import operator

from .passes import Nothing
from .types import INT, ASCII, NONE, NotCompiled, OBJECTS, SameAs, TEXT, TEXTS, joined, tag_of, word_of
from .values import Value, kinds_of

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
    return Value(NONE if x is None else ASCII if len(x) == 1 and x.isascii() else TEXT, lowering.number(word), plain(x))


def as_values(lowering, x):
    """The same of the parts of a tuple."""
    return [as_values(lowering, part) for part in x] if type(x) is list else as_value(lowering, x)


def is_one_of(lowering, value, types):
    """Whether a value is of one of these types, by its tag."""
    return functools.reduce(lambda a, b: lowering.p.apply("logical_or", a, b), [lowering.same(value.tag, tag_of(t)) for t in sorted(types)])


def by_python(lowering, condition, node):
    """Where `condition` holds, Python goes on from this statement."""
    if lowering.resumption() is None:
        raise NotCompiled("None, or a text that machine code does not have, where Python cannot be told what variables are", node)
    lowering.fail_if(condition, _left, node)


def _left(*_):
    raise AssertionError("a statement was left to Python, and is not done")


_left.outgrown = True


def only(lowering, value, types, node):
    """The value where it is of one of these types of its; elsewhere Python goes on."""
    found = kinds_of(value)
    if found <= types:
        return value
    by_python(lowering, lowering.negated(is_one_of(lowering, value, found & types)), node)
    return narrowed(lowering, value, found & types)


def narrowed(lowering, value, types):
    """The same where that is known."""
    t = functools.reduce(joined, sorted(types))
    v = value.id if value.type.dtype == t.dtype else lowering.word(value, t.dtype)
    return Value(t, v, kinds=types, tag=value.tag) if len(types) > 1 else Value(t, v)


def number(lowering, value, node):
    """An operand that has to be a number."""
    if not isinstance(value, Value):
        return value
    found = kinds_of(value)
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
    if not lowering.facts.settled:
        lowering.facts.unknown = True
        raise Nothing("an operation on None", node)
    by_python(lowering, lowering.p.const("bool", True), node)
    return Value(INT, lowering.zero)


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
