"""Texts in compiled loops. One that a loop is given, and goes over or takes characters of, is an array of code points (TextView). A single character, and a
constant, is a Value with a word (words.py). Of characters machine code knows what ASCII has; others are left to Python."""

import ast
import builtins
import functools

from . import words
from .growing import find
from .grown_texts import CarriedText, Joined, added, joined  # noqa: F401  (which expressions take from here)
from .list_views import TextView
from .types import ASCII, BEYOND, BOOL, INT, NONE, NotCompiled, OBJECTS, PACKED, TEXT, TEXTS
from .types import FEW as MOST_PACKED
from .values import Value, kinds_of
from .views import is_int
from .wanted import CHARACTERS, WantedAs

FEW = 64  # characters of a constant, one of which is chosen


def is_long(x):
    """Whether it is a text whose characters are in memory."""
    return isinstance(x, (TextView, CarriedText))


def is_text(x):
    return isinstance(x, (str, Joined)) or is_long(x) or isinstance(x, Value) and kinds_of(x) <= OBJECTS and kinds_of(x) != {NONE}


def _array_of(lowering, text, node):
    """Of a text that the loop was given its characters are wanted."""
    if type(text) is words.Given:
        raise WantedAs(text.key, CHARACTERS, node)
    raise NotCompiled("characters of a long constant", node)


def characters(lowering, x, node):
    """What a loop goes over: of a constant a tuple of its characters."""
    if not isinstance(x, str):
        return x
    if type(x) is words.Given or len(x) > FEW:
        _array_of(lowering, x, node)
    return [words.as_value(lowering, c) for c in x]


def _text(lowering, x, node):
    """A Value that is a text."""
    return words.only(lowering, words.as_value(lowering, x), TEXTS, node)


def _among(lowering, v, first, last):
    p = lowering.p
    return p.apply("logical_and", p.apply("greater_equal", v, lowering.number(first)), p.apply("less_equal", v, lowering.number(last)))


def _character(lowering, x, node, last=BEYOND):
    """The word of a text of one character, up to a certain one."""
    x = _text(lowering, x, node)
    if kinds_of(x) != {ASCII}:
        words.by_python(lowering, lowering.negated(_among(lowering, x.id, 1, last)), node)
    return x.id


def character_of(lowering, text, node):
    """text[i] of a constant."""
    if type(text) is words.Given or len(text) > FEW or not text or isinstance(node.slice, ast.Slice):
        _array_of(lowering, text, node)
    index = lowering.scalar(node.slice)
    at, outside = lowering.p.index(lowering.cast(index, "int64"), lowering.number(len(text)))
    lowering.fail_if(outside, lambda *_: ""[0], node, error=IndexError)
    return lowering.chosen_of([words.as_value(lowering, c) for c in text], at, node)


# comparisons


def _length(lowering, x):
    if isinstance(x, CarriedText):
        return x.length
    return x.dims[0][0] if isinstance(x, TextView) else lowering.number(len(x))


def _item(lowering, x, i):
    if is_long(x):
        return (x.item(i) if isinstance(x, TextView) else x.element(i)).id
    return lowering.chosen_of([words.as_value(lowering, c) for c in x], i, None).id if len(x) > 1 else words.as_value(lowering, x).id


def compared(lowering, op, a, b, node):
    """Of parts of texts, and of constants and characters with those."""
    if not isinstance(op, (ast.Eq, ast.NotEq)):
        raise NotCompiled("texts of several characters in order", node)
    if any(isinstance(x, Joined) for x in (a, b)):
        raise NotCompiled("a comparison of a text that is made for it", node)
    a, b = (x.literal if isinstance(x, Value) and x.known and x.type in TEXTS else x for x in (a, b))
    if not all(isinstance(x, str) or is_long(x) or isinstance(x, Value) and kinds_of(x) <= TEXTS for x in (a, b)):
        raise NotCompiled("a text is compared with what may be none", node)
    if isinstance(b, Value):
        a, b = b, a
    same = _is_character(lowering, a, b, node) if isinstance(a, Value) else _alike(lowering, a, b, node)
    return Value(BOOL, same if isinstance(op, ast.Eq) else lowering.negated(same))


def _is_character(lowering, a, text, node):
    """Whether a part of a text is what a Value is, which has no more than a character."""
    p = lowering.p
    if kinds_of(a) != {ASCII}:
        words.by_python(lowering, p.apply("greater", a.id, lowering.number(BEYOND)), node)
    held, n = lowering.variable("bool"), _length(lowering, text)
    p.set(held, p.apply("logical_and", lowering.same(n, 0), lowering.same(a.id, 0)))
    p.begin_if(lowering.same(n, 1))
    p.set(held, p.apply("equal", _item(lowering, text, lowering.zero), a.id))
    p.end()
    return p.get(held)


def _alike(lowering, a, b, node):
    if max(len(x) for x in (a, b) if isinstance(x, str)) > FEW if isinstance(a, str) or isinstance(b, str) else False:
        for x in (a, b):
            if isinstance(x, str):
                _array_of(lowering, x, node)
    p, n = lowering.p, _length(lowering, a)
    held = lowering.variable("bool")
    p.set(held, p.apply("equal", n, _length(lowering, b)))
    p.begin_if(p.get(held))
    out = p.begin_if(None)
    _, i = p.begin_count(lowering.zero, n)
    if not any(isinstance(x, str) and not x for x in (a, b)):
        differs = p.apply("not_equal", _item(lowering, a, i), _item(lowering, b, i))
        p.begin_if(differs)
        p.set(held, p.const("bool", False))
        p.break_(out)
        p.end()
    p.end()
    p.end()
    p.end()
    return p.get(held)


def ordered(lowering, op, a, b, node):
    """Of single characters; of others by Python."""
    if a.known and b.known:
        return lowering.literal(words.COMPARE[type(op)](a.literal, b.literal))
    names = {ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal"}
    for x in (a, b):
        if kinds_of(x) != {ASCII} and not (x.known and len(x.literal) < 2):
            words.by_python(lowering, lowering.p.apply("greater", x.id, lowering.number(BEYOND)), node)
    return Value(BOOL, lowering.p.apply(names[type(op)], a.id, b.id))


def contains(lowering, text, value, node):
    """`c in text` of a character."""
    if is_long(value) or isinstance(value, Joined):
        raise NotCompiled("whether a part of a text is in another", node)
    value = words.as_value(lowering, value)
    if not isinstance(value, Value):
        raise NotCompiled("whether something else is in a text", node)
    if isinstance(text, str) and value.known and value.type in TEXTS:
        return lowering.literal(value.literal in text)
    if isinstance(text, str) and len(text) > FEW:
        _array_of(lowering, text, node)
    word, p = _character(lowering, value, node), lowering.p
    if isinstance(text, str):
        found = [_among(lowering, word, ord(first) + 1, ord(last) + 1) for first, last in _runs(text)]
        return Value(BOOL, functools.reduce(lambda a, b: p.apply("logical_or", a, b), found)) if found else lowering.literal(False)
    n = _length(lowering, text)
    return Value(BOOL, p.apply("less", find(lowering, n, lambda i: Value(TEXT, _item(lowering, text, i)), Value(TEXT, word), node), n))


def _runs(text):
    """First and last characters of ranges of code points that a text has."""
    runs = []
    for c in sorted({*text}):
        if runs and ord(c) == ord(runs[-1][1]) + 1:
            runs[-1] = runs[-1][0], c
        else:
            runs.append((c, c))
    return runs


def as_word(lowering, x, node):
    """A part of a text as a Value: of a few of ASCII's characters, others by Python. Anything else as it is."""
    if not is_long(x):
        return x
    p, n = lowering.p, _length(lowering, x)
    words.by_python(lowering, p.apply("greater", n, lowering.number(MOST_PACKED)), node)
    held = lowering.variable("int64")
    p.set(held, lowering.one)
    _, i = p.begin_count(lowering.zero, n)
    point = p.apply("subtract", _item(lowering, x, i), lowering.one)
    if x.type != ASCII:
        words.by_python(lowering, p.apply("greater", point, lowering.number(127)), node)
    p.set(held, p.apply("bitwise_or", p.apply("left_shift", p.get(held), lowering.number(7)), point))
    p.end()
    bits = p.get(held)
    one = p.apply("add", p.apply("bitwise_and", bits, lowering.number(127)), lowering.one)
    few = p.apply("where", lowering.same(n, 1), one, p.apply("add", bits, lowering.number(PACKED)))
    lowering.facts.words = True
    return Value(TEXT, p.apply("where", lowering.same(n, 0), lowering.zero, few))


# functions and methods


def function(fn, args):
    """How a function of texts is computed; None of others."""
    if fn is builtins.chr and len(args) == 1:
        return _chr
    if len(args) != 1 or not is_text(args[0]):
        return None
    return _FUNCTIONS.get(fn) if isinstance(fn, (type, type(len))) else None


def _ord(lowering, x, node):
    return Value(INT, lowering.p.apply("subtract", _character(lowering, _one(x, node), node), lowering.one))


def _one(x, node):
    if is_long(x) or isinstance(x, Joined):
        raise NotCompiled("a text of several characters", node)
    return x


def _chr(lowering, x, node):
    x = words.number(lowering, x, node)
    if not isinstance(x, Value) or not is_int(x):
        raise NotCompiled("chr() of what is no int", node)
    point = lowering.cast(x, "int64")
    lowering.fail_if(lowering.negated(_among(lowering, point, 0, BEYOND - 1)), lambda i, *_: chr(i), node, point, error=ValueError)
    lowering.facts.words = True
    return Value(TEXT, lowering.p.apply("add", point, lowering.one))


def _len(lowering, x, node):
    if type(x) is words.Given:
        _array_of(lowering, x, node)
    if is_long(x):
        return Value(INT, _length(lowering, x))
    x = _text(lowering, x, node)
    if x.known:
        return lowering.literal(len(x.literal))
    if kinds_of(x) == {ASCII}:
        return lowering.literal(1)
    words.by_python(lowering, lowering.p.apply("greater", x.id, lowering.number(BEYOND)), node)
    return Value(INT, lowering.p.apply("minimum", x.id, lowering.one))


def _int(lowering, x, node):
    word = _text(lowering, _one(x, node), node).id
    words.by_python(lowering, lowering.negated(_among(lowering, word, ord("0") + 1, ord("9") + 1)), node)
    return Value(INT, lowering.p.apply("subtract", word, lowering.number(ord("0") + 1)))


def _bool(lowering, x, node):
    if is_long(x):
        return Value(BOOL, lowering.p.apply("not_equal", _length(lowering, x), lowering.zero))
    return Value(BOOL, lowering.truth(x, node))


def _str(lowering, x, node):
    return _text(lowering, _one(x, node), node)


_FUNCTIONS = {builtins.ord: _ord, builtins.len: _len, builtins.int: _int, builtins.bool: _bool, builtins.str: _str}
_ASCII = [chr(n) for n in range(128)]
_TESTS = {"isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "isdecimal", "isnumeric", "isidentifier", "isascii", "isprintable"}


def method(lowering, base, node):
    """Of a text."""
    name = node.func.attr
    args = [lowering.evaluate(a) for a in node.args]
    if node.keywords:
        raise NotCompiled(f"the method {name}() of a text with keywords", node)
    if name == "join" and base == "" and len(args) == 1:
        return joined(lowering, args[0], node)
    if name in _TESTS and not args:
        word = _character(lowering, _one(base, node), node, 128)
        runs = _runs([c for c in _ASCII if getattr(c, name)()])
        return Value(BOOL, functools.reduce(lambda a, b: lowering.p.apply("logical_or", a, b), [_among(lowering, word, ord(a) + 1, ord(b) + 1) for a, b in runs]))
    if name in ("upper", "lower", "swapcase") and not args:
        return _cased(lowering, _character(lowering, _one(base, node), node, 128), name)
    raise NotCompiled(f"the method {name}() of a text", node)


def _cased(lowering, word, name):
    p, away = lowering.p, ord("a") - ord("A")
    v = word
    for changes, first, by in (("upper", "a", -away), ("lower", "A", away)):
        if name in (changes, "swapcase"):
            v = p.apply("where", _among(lowering, word, ord(first) + 1, ord(first) + 26), p.apply("add", word, lowering.number(by)), v)
    return Value(ASCII, v)
