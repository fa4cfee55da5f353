"""Comprehensions and generators of a function, outside of its loops: they begin in Python, and machine code computes the elements that are left."""

import ast
import builtins
import types

import numpy

from .._swap import _MISSING
from .comprehensions import loops_of, scoped
from .listed import numbers_of, of_tags
from .running import Loop, Rest, _counts
from .trees import copied
from .types import INT

ELEMENTS, TAGS, ORIGIN = " elements", " tags", " origin"
# What takes all elements at once, or stops at one, and runs no Python between them.
_CONSUMERS = {builtins.sum, builtins.min, builtins.max, builtins.any, builtins.all, builtins.list, builtins.tuple, builtins.sorted, builtins.set}
FIRST, MOST = 16, 1 << 16  # iterations that are computed ahead of who takes the elements of a generator


def _takes_all(consumer):
    if isinstance(consumer, (type, types.BuiltinFunctionType)) and consumer in _CONSUMERS:
        return True
    of_numpy = str(getattr(consumer, "__module__", "")).partition(".")[0] in ("numpy", "plait")
    return of_numpy and getattr(consumer, "__name__", "") == "fromiter"


class Element(ast.stmt):
    """Puts an element behind the others."""

    _fields = ("item",)


def loop_of(node):
    """The loop that computes the elements of a scoped comprehension, one after the other."""
    element = ast.copy_location(Element(node.elt), node)
    return ast.fix_missing_locations(loops_of(node, [element])[0])


def is_plain(loop):
    """Whether each iteration makes one element."""
    return len(loop.body) == 1 and isinstance(loop.body[0], Element)


class Elements(Loop):
    """A comprehension. Called with the range that it begins with."""

    depth = 3

    def __init__(self, node, function, scope, cells):
        text = ast.unparse(node)
        node = scoped(copied(node))
        super().__init__(loop_of(node), function, scope, cells, set())
        self.text = text
        self.most = 0  # elements of a run so far

    def __call__(self, numbers, consumer=list, items=_MISSING, given=()):
        """What the comprehension goes over."""
        items = numbers if items is _MISSING else items
        if not self.awake:
            return items
        if _takes_all(consumer) and _counts(numbers) and not self.waits:
            return self.begin(numbers, items, given)
        self.idled()
        return items

    def inputs(self, variables):
        found, values = super().inputs(variables)
        return {**found, ORIGIN: INT}, {**values, ORIGIN: 0}

    def listed(self, rest, begun):
        """The whole list, of which `begun` is what Python made."""
        if type(rest) is Rest and rest.left:
            for part in self.parts(rest, len(rest.numbers)):
                begun += part
        return begun

    def chained(self, rest, begun):
        """The generator and what is left of it."""
        return self._chained(rest, begun) if type(rest) is Rest and not rest.given_up else begun

    def _chained(self, rest, begun):
        yield from begun
        if rest.left:
            for part in self.parts(rest, FIRST):
                yield from part

    def parts(self, rest, size):
        """Lists of elements, of more and more iterations."""
        numbers, values, rest.values = rest.numbers[rest.done :], rest.values, None
        while numbers:
            yield from self.computed(rest.code, values, numbers[:size])
            numbers, size = numbers[size:], min(2 * size, MOST) if size < MOST else size

    def computed(self, code, values, numbers):
        """A list of the elements of these iterations, and then the error that ends them."""
        found, tags, error = self.made(code, values, numbers, failing=True)
        yield _as_python_has_them(code.lowering.facts.elements[1], found, tags)
        if error is not None:
            raise error

    def made(self, code, values, numbers, failing=False):
        """Arrays of the elements and of the tags of their types, where those are several; and the error that ends them."""
        low = code.lowering
        room = len(numbers) if is_plain(self.source) else max(len(numbers), self.most)
        values = values | {ORIGIN: numbers.start}
        while True:
            for name, what in low.made:
                values[name] = numpy.empty(room, what.dtype)
            error = None
            try:
                code.run(self, values, {}, numbers)
            except BaseException as e:
                error = e
            if code.count <= room:
                break
            room = code.count
        if error is not None and not failing:
            raise error
        self.most = max(self.most, code.count)
        return values[ELEMENTS][: code.count], values[TAGS][: code.count] if len(low.made) > 1 else None, error


def _as_python_has_them(kinds, found, tags):
    if tags is not None:
        return of_tags(found, tags.tolist())
    (kind,) = kinds
    return numbers_of(found, kind)
