"""`print` in a compiled loop, and the texts that Python makes of numbers for it. Machine code puts the numbers into memory of the run and calls back: Python
makes the texts, and prints them, there and then. Errors are those of Python's `print`, at the same iteration."""

import ast
import builtins
import ctypes
import functools
import io
import operator
import threading
import types
from typing import NamedTuple

from .by_python import Constant, Number, Parts, Same
from .list_views import ListView
from .listed import Held
from .resuming import NotTold, described
from .texts import is_text
from .types import FLOAT, INT, NotCompiled, Other, is_paired
from .values import Value
from .views import View

FUNCTION, WORDS = ".print", ".print words"  # arguments: the address of what is called back, and of where the numbers of a statement are put
ARGUMENTS = FUNCTION, WORDS
WORD = 8
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)  # which leaves the second argument of call_word where it is
_KEYWORDS = {"sep", "end", "file", "flush"}
_FILES = io.TextIOWrapper, io.StringIO  # whose methods see nothing of the loop
_STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}
_CONVERSIONS = {-1: None, ord("s"): str, ord("r"): repr, ord("a"): ascii}


# texts


class Made(NamedTuple):
    """A text that Python makes where it is printed: what a function gives of parts, which are numbers, texts and others that are made."""

    function: object
    parts: tuple

    def described(self, low, told):
        return Call(self.function, tuple(described(low, told, x) for x in self.parts))

    def sample(self):
        """One that is made of numbers of the same types, which have the same errors."""
        return self.function(*map(_sample, self.parts))


class Call(NamedTuple):
    """How Python has it."""

    function: object
    parts: tuple

    def of(self, results, objects):
        return self.function(*(part.of(results, objects) for part in self.parts))


def _sample(x):
    if isinstance(x, Made):
        return x.sample()
    if isinstance(x, list):
        return tuple(map(_sample, x))
    if isinstance(x, str):
        return str(x)
    if not isinstance(x, Value) or x.kinds:
        raise NotTold
    return x.literal if x.known else x.type.of(0)


def is_made(x):
    """Whether it is a text, or becomes one."""
    return isinstance(x, Made) or is_text(x)


def kept(value, node):
    """One that a variable stands for: made of what never changes, without errors."""
    try:
        value.sample()
    except Exception:
        raise NotCompiled("a text that is kept, and may change or raise an error", node) from None
    return value


def _converted(conversion, x, spec):
    return format(conversion(x), spec)


def of_fstring(low, node):
    """f"{x:.3f} of {n}" """
    parts = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(part.value)
            continue
        x = low.evaluate(part.value)
        spec = "" if part.format_spec is None else of_fstring(low, part.format_spec)
        conversion = _CONVERSIONS[part.conversion]
        parts.append(Made(format if conversion is None else functools.partial(_converted, conversion), (x, spec)))
    return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else Made(_joined, tuple(parts))


def _joined(*parts):
    return "".join(parts)


def binary(op, a, b):
    """`text % numbers`, `text + text` and `text * n`, where Python makes that; None of others."""
    if isinstance(op, ast.Mod) and is_made(a):
        return Made(operator.mod, (a, b))
    if isinstance(op, ast.Add) and (isinstance(a, Made) or isinstance(b, Made)) and is_made(a) and is_made(b):
        return Made(operator.add, (a, b))
    if isinstance(op, ast.Mult) and is_made(a) != is_made(b) and all(is_made(x) or isinstance(x, Value) for x in (a, b)):
        return Made(operator.mul, (a, b))
    return None


def function(fn, args):
    """str(x), repr(x) and format(x, spec); None of others."""
    if isinstance(fn, (type, types.BuiltinFunctionType)) and fn in _FUNCTIONS and 1 <= len(args) <= _FUNCTIONS[fn] and all(isinstance(x, Value) or is_made(x) for x in args):
        return Made(fn, tuple(args))
    return None


_FUNCTIONS = {builtins.str: 1, builtins.repr: 1, builtins.format: 2}


def by_format(low, text, node):
    """text.format(...)"""
    named = {k.arg: low.evaluate(k.value) for k in node.keywords}
    if None in named:
        raise NotCompiled("a text is formatted with ** of a dict", node)
    args, names = low.spread(node.args, node), [*named]
    return Made(functools.partial(_by_format, names), (text, *args, *named.values()))


def _by_format(names, text, *args):
    count = len(args) - len(names)
    return text.format(*args[:count], **dict(zip(names, args[count:])))


# print


class Starred(NamedTuple):
    """Of what is printed as its elements."""

    of: object


class Printed(NamedTuple):
    """A statement: what of its values is in which words, and of which dtypes those are."""

    args: tuple
    named: dict
    dtypes: tuple

    def doing(self, words, objects):
        """A function that does it with what is in the words then. objects: what names stand for."""
        named, changing = {}, {}
        for name, x in self.named.items():
            (named if isinstance(x, Constant) else changing)[name] = x.of(None, objects) if isinstance(x, Constant) else self.reading(x, words, objects)
        args = [self.reading(x, words, objects) for x in self.args if not isinstance(x, Starred)]
        if len(args) == len(self.args) and not changing:
            return lambda: print(*[read() for read in args], **named)
        parts = [self.reading(x.of if isinstance(x, Starred) else Parts(tuple, (x,)), words, objects) for x in self.args]
        return lambda: print(*(x for read in parts for x in read()), **named, **{name: read() for name, read in changing.items()})

    def reading(self, what, words, objects):
        """A function that gives a value, as Python has it."""
        if isinstance(what, Number) and what.tag < 0 and what.type in (INT, FLOAT):
            return functools.partial(words[self.dtypes[what.at]].__getitem__, what.at)
        return lambda: what.of([words[dtype][at] for at, dtype in enumerate(self.dtypes)], objects)


class Words:
    """Where the numbers of a statement are put, as Told has them."""

    def __init__(self, low):
        self.low, self.dtypes, self.lists = low, [], {}

    def value(self, v, dtype):
        at, parts = len(self.dtypes), self.low.p.parts(v) if is_paired(dtype) else (v,)
        for part in parts:
            kind = "float64" if dtype[0] in "fc" else "uint64" if dtype == "uint64" else "int64"
            self._put(part, kind)
        return at

    def _put(self, v, kind):
        low, p = self.low, self.low.p
        held = "float64" if kind == "float64" else "int64"
        v = v if p.type(v) == held else p.cast(v, held)
        p.store(low.heap(held), p.apply("add", low.argument(WORDS), low.number(WORD * len(self.dtypes))), v)
        self.dtypes.append(kind)


def printed(low, node):
    """A call of Python's `print`."""
    if any(k.arg not in _KEYWORDS for k in node.keywords):
        raise NotCompiled("print() with other keywords", node)
    values = [(isinstance(a, ast.Starred), low.evaluate(a.value if isinstance(a, ast.Starred) else a)) for a in node.args]
    named = {k.arg: _file(low, k.value) if k.arg == "file" else low.evaluate(k.value) for k in node.keywords}
    told = Words(low)
    for _, x in values:
        _check(low, x, node)
    try:
        args = [Starred(described(low, told, x)) if star else described(low, told, x) for star, x in values]
        named = {name: x if name == "file" else described(low, told, x) for name, x in named.items()}
    except NotTold:
        raise NotCompiled("print() of what is neither numbers nor texts", node) from None
    low.facts.prints = True
    low.effects += 1
    low.prints.append(Printed(tuple(args), named, tuple(told.dtypes)))
    number = low.number(len(low.prints) - 1)
    done = low.p.call("call_word", low.argument(FUNCTION), number, low.argument(WORDS))
    low.fail_if(low.negated(low.same(done, 1)), _raise_again, node)


def _check(low, x, node):
    """Arrays are Python's to print; lists that it has are as they were."""
    for part in x if isinstance(x, list) else x.parts if isinstance(x, Made) else ():
        _check(low, part, node)
    if isinstance(x, View) and (not isinstance(x, ListView) or x.slot in low.facts.written):
        raise NotCompiled("print() of an array, or of a list that changes", node)


class Stream(NamedTuple):
    """An attribute of a module, which is looked up each time."""

    module: object
    name: str

    def of(self, *_):
        return getattr(self.module, self.name)


def _file(low, node):
    """What `file=` gives."""
    if isinstance(node, ast.Attribute) and node.attr in _STREAMS and isinstance(module := low.evaluate(node.value), types.ModuleType) and module.__name__ == "sys":
        return Stream(module, node.attr)
    if isinstance(node, ast.Name) and node.id not in low.stored and isinstance(t := low.inputs.get(node.id), Other) and t.type in _FILES:
        return Same(node.id)
    if isinstance(node, ast.Constant) and node.value is None:
        return Constant(None)
    raise NotCompiled("print() to what is no known file", node)


_errors = threading.local()


def _raise_again(*_):
    """The error of a `print` that machine code has called."""
    error = _errors.__dict__.pop("last", None)
    raise RuntimeError("print() in a compiled loop has not come to its end") if error is None else error


def call_back(low, values):
    """What a run is given for the arguments FUNCTION and WORDS, and what lives as long as it. values: of its inputs."""
    objects = {name: x.of if isinstance(x, Held) else x for name, x in values.items()}
    count, doing = max(1, *(len(site.dtypes) for site in low.prints)), {}
    ints = (ctypes.c_int64 * count)()
    words = {"int64": ints, "float64": (ctypes.c_double * count).from_buffer(ints), "uint64": (ctypes.c_uint64 * count).from_buffer(ints)}

    def calls():
        """A generator, as a signal's handler may raise where a function begins, outside of any `try`."""
        try:
            while True:
                number = yield 1
                if number not in doing:
                    doing[number] = low.prints[number].doing(words, objects)
                doing[number]()
        except GeneratorExit:
            return
        except BaseException as error:
            _errors.last = error
        yield 0

    called = calls()
    next(called)
    function = _CALLBACK(called.send)
    addresses = {FUNCTION: ctypes.cast(function, ctypes.c_void_p).value, WORDS: ctypes.addressof(ints)}
    return addresses, (function, words)
