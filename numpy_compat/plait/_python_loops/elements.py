"""Comprehensions and generators of a function, outside of its loops: they begin in Python, and machine code computes the elements that are left."""

import ast
import builtins
import sys
import types

import numpy

from .._functions import MISSING
from .by_python import IN_VAIN
from .comprehensions import scoped
from .element_loops import APPEND, ELEMENTS, ORIGIN, TAGS, is_plain, loop_of
from .listed import numbers_of, of_tags
from .rest import Rest
from .running import Loop, _counts
from .trees import copied
from .types import INT, is_time

# What takes all elements at once, or stops at one, and runs no Python between them.
_CONSUMERS = {builtins.sum, builtins.min, builtins.max, builtins.any, builtins.all, builtins.list, builtins.tuple, builtins.sorted, builtins.set}
SOON = 100  # iterations that machine code has to do until Python does one
FIRST, MOST = 16, 1 << 16  # iterations that are computed ahead of who takes the elements of a generator


def _takes_all(consumer):
    if isinstance(consumer, (type, types.BuiltinFunctionType)) and consumer in _CONSUMERS:
        return True
    of_numpy = str(getattr(consumer, "__module__", "")).partition(".")[0] in ("numpy", "plait")
    return of_numpy and getattr(consumer, "__name__", "") == "fromiter"


class LeftElements(OverflowError):
    """A comprehension goes on in Python: how many iterations are done, and how many elements they have made."""

    def __init__(self, why, done, count):
        super().__init__(f"{why} in a compiled loop; plait.jit(loops=False) runs it")
        self.done, self.count = done, count


class Appends(ast.NodeTransformer):
    """Elements become those of a list, by its method `.items.append`."""

    def visit_Element(self, node):
        return ast.copy_location(ast.Expr(ast.Call(ast.Name(APPEND, ast.Load()), [node.item], [])), node)


class Elements(Loop):
    """A comprehension. Called with the range that it begins with."""

    depth = 3

    def __init__(self, node, function, scope, cells):
        text = ast.unparse(node)
        node = scoped(copied(node))
        super().__init__(loop_of(node), function, scope, cells, set())
        self.text = text
        self.most = 0  # elements of a run so far

    def __call__(self, numbers, consumer=list, items=MISSING, given=()):
        """What the comprehension goes over."""
        items = numbers if items is MISSING else items
        if not self.awake:
            return items
        if _takes_all(consumer) and _counts(numbers) and not self.waits:
            return self.begin(numbers, items, given)
        self.idled()
        return items

    def goes_back(self, resumption, told, numbers):
        """The error of a run on these numbers that has to go on in Python, of which the last part says where."""
        position = resumption.positions[self.source]
        start, _, step, count = (told[end] for end in position.ends)
        done = (start - numbers.start) // step + told[position.at]
        return LeftElements(resumption.why, done, done if is_plain(self.source) else count)

    def in_source(self, s):
        return Appends().visit(s)

    def inputs(self, variables):
        found, values = super().inputs(variables)
        return {**found, ORIGIN: INT}, {**values, ORIGIN: 0}

    def listed(self, rest, begun):
        """The whole list, of which `begun` is what Python made."""
        if type(rest) is Rest and rest.left:
            for part in self.parts(rest, len(rest.numbers), sys._getframe(1).f_locals):
                begun += part
        return begun

    def chained(self, rest, begun):
        """The generator and what is left of it."""
        return self._chained(rest, begun, sys._getframe(1).f_locals) if type(rest) is Rest and not rest.given_up else begun

    def _chained(self, rest, begun, variables):
        yield from begun
        if rest.left:
            for part in self.parts(rest, FIRST, variables):
                yield from part

    def parts(self, rest, size, variables):
        """Lists of elements, of more and more iterations."""
        numbers, values, rest.values = rest.numbers[rest.done :], rest.values, None
        variables, in_vain = variables | rest.given, 0
        while numbers:
            done, found = self.computed(rest.code, values, numbers[:size])
            yield from found
            if done == size or done == len(numbers):
                numbers, size = numbers[size:], min(2 * size, MOST) if size < MOST else size
                continue
            # The next iteration is Python's; all that are left are, where that comes too often.
            in_vain = in_vain + 1 if done < SOON else 0
            for at in range(done, len(numbers) if in_vain > IN_VAIN else done + 1):
                yield self.by_itself(variables, numbers[at : at + 1])
            numbers = numbers[at + 1 :]

    def computed(self, code, values, numbers):
        """How many of these iterations are done, and the list of their elements, before the error that ends them."""
        found, tags, error = self.made(code, values, numbers, failing=True)
        done = len(numbers)
        if isinstance(error, LeftElements):
            done, found, tags, error = error.done, found[: error.count], tags if tags is None else tags[: error.count], None
        return done, self.before(_as_python_has_them(code.lowering.facts.elements[1], found, tags), error)

    def before(self, elements, error):
        yield elements
        if error is not None:
            raise error

    def by_itself(self, variables, numbers):
        """A list of the elements of an iteration, by Python."""
        made = []
        self.in_python.iterations(variables, numbers, 1, made.append)
        return made

    def made(self, code, values, numbers, failing=False):
        """Arrays of the elements and of the tags of their types, where those are several; and the error that ends them."""
        low = code.lowering
        room = len(numbers) if is_plain(self.source) else max(len(numbers), self.most)
        values = values | {ORIGIN: numbers.start}
        while True:
            for name, what in low.made:
                values[name] = numpy.empty(room, "int64" if is_time(what.dtype) else what.dtype)
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
        return values[ELEMENTS][: code.count].view(low.made[0][1].dtype), values[TAGS][: code.count] if len(low.made) > 1 else None, error


def _as_python_has_them(kinds, found, tags):
    if tags is not None:
        return of_tags(found, tags)
    (kind,) = kinds
    return numbers_of(found, kind)
