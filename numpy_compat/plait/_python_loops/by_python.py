"""Parts of a compiled loop that Python does. Machine code leaves the loop where it has found what it does not do (an int of more than 64 bits, say); Python
goes on from that statement to the end of the iteration, and machine code from the next one on."""

import ast
import functools
import itertools
import time
import types
from typing import NamedTuple

import numpy

from .._functions import MISSING
from .._plait import ndarray, view_at
from .over import is_range
from .tracebacks import CONTINUED
from .trees import copied, names, nodes
from .types import ALL, Scalar, scalar_of

WENT_ON, BROKE, RETURNED, ENDED = range(4)  # how statements of an iteration end: also by the test of a `while`
IN_VAIN = 8  # times in a row that machine code was left so soon that it gained nothing, until Python has the loop
GAIN, COST = 20, 50e-6  # times as fast as Python machine code is, roughly; seconds that going back and forth takes
_MIDDLE = object()
MADE = object()  # among objects: those that were made of what machine code has told, of which there is one each


class Doing(NamedTuple):
    """The statement of the loop's own source that is lowered; `behind`: what follows it; `changes`: how many there were when it began."""

    statement: object
    behind: bool
    changes: int


class Number(NamedTuple):
    """A variable that is a number, of which the results are at `at`, and its tag at `tag`, or -1."""

    type: Scalar
    at: int
    tag: int

    def of(self, results, _):
        tag = results[self.tag] if self.tag >= 0 else None
        if tag == 0:
            return MISSING  # it has no value
        x = complex(results[self.at], results[self.at + 1]) if self.type.kind == "c" else results[self.at]
        return (self.type if tag is None else ALL[tag - 1]).of(x)


class Parts(NamedTuple):
    """A tuple or a list."""

    kind: type
    parts: tuple

    def of(self, results, objects):
        return self.kind(part.of(results, objects) for part in self.parts)


class Same(NamedTuple):
    """What has this name before the loop."""

    key: str

    def of(self, _, objects):
        return objects[self.key]


class Constant(NamedTuple):
    object: object

    def of(self, *_):
        return self.object


class Part(NamedTuple):
    """Of the array that has this name before the loop: bytes from its first element, extents and strides."""

    key: str
    offset: int
    dims: tuple

    def of(self, results, objects):
        dims = [(results[extent], results[stride]) for extent, stride in self.dims]
        return part_of(objects[self.key], results[self.offset], tuple(n for n, _ in dims), tuple(s for _, s in dims))


class TextPart(NamedTuple):
    """A part of a text that the loop was given: which numbers say where it begins, how many characters it has, and how far those are apart, in bytes."""

    key: str
    size: int
    offset: int
    extent: int
    stride: int

    def of(self, results, objects):
        start, step = (results[at] // self.size for at in (self.offset, self.stride))
        return "".join(objects[self.key][start + k * step] for k in range(results[self.extent]))


def part_of(array, offset, shape, strides):
    """A view of an array, by where its elements are."""
    if type(array) is ndarray:
        view = view_at(array, array.dtype, shape, strides, offset)
        if view is not NotImplemented:
            return view
        array = numpy.asarray(array)
    index = [slice(None)] * array.ndim
    offset += sum(-s * (n - 1) for n, s in zip(array.shape, array.strides) if s < 0)
    for axis in sorted(range(array.ndim), key=lambda k: -abs(array.strides[k])):
        stride, extent = array.strides[axis], array.shape[axis]
        if stride:
            at, offset = divmod(offset, abs(stride))
            index[axis] = slice(at if stride > 0 else extent - 1 - at, None)
    return numpy.lib.stride_tricks.as_strided(array[tuple(index)], shape, strides)


class Position(NamedTuple):
    """Of a loop around the statement: how many iterations are done, and of a range its ends and its step."""

    at: int
    ends: tuple


class Resumption(NamedTuple):
    """How Python goes on at a place of machine code: why, what it is doing there, what has become of variables, and where the loops around it are."""

    why: str
    doing: Doing
    variables: dict
    positions: dict

    def __call__(self, *_):
        raise AssertionError("a statement was left to Python, and is not done")


# where statements stand


def parents(top):
    """Of each statement and each handler inside a loop what it stands in, in which field, and at which number."""
    found = {}
    for node in nodes(top):
        for field, held in ast.iter_fields(node):
            if isinstance(held, list):
                found.update((x, (node, field, at)) for at, x in enumerate(held) if isinstance(x, (ast.stmt, ast.excepthandler, ast.match_case)))
    return found


def around(of, statement, top):
    """What it stands in, from the inside out, and in which field of each."""
    while statement is not top:
        statement, field, _ = of[statement]
        yield statement, field


def is_rare(of, statement, top):
    """Whether an iteration may do without it, as its source shows."""
    return any(isinstance(x, (ast.If, ast.excepthandler)) for x, _ in around(of, statement, top))


def rare(top):
    """The nodes of all such statements of a loop."""
    of = parents(top)
    return {n for s in of if isinstance(s, ast.stmt) and is_rare(of, s, top) for n in nodes(s)}


# the same statements in Python


class InPython:
    """Parts of a loop as functions of what its variables are. They give how they ended, what they return, and the variables then."""

    def __init__(self, loop, function):
        self.loop, self.function, self.made = loop, function, {}

    @functools.cached_property
    def parents(self):
        return parents(self.loop.source)

    def is_behind(self, statement):
        """Whether it stands in the `else` of the outermost loop."""
        return [*around(self.parents, statement, self.loop.source)][-1][1] == "orelse"

    def rest(self, doing, variables, positions):
        """From a statement on, or from behind it, to the end of an iteration of the outermost loop."""
        key = doing.statement, doing.behind
        if key not in self.made:
            self.made[key] = self._function(self._rest(*key))
        extras = {f".items{n}": _rest_of(at) for n, at in enumerate(positions)}
        return self._called(self.made[key], variables, extras)

    def iterations(self, variables, numbers, count, append=None):
        """Some iterations: of a range, or of the positions of what the loop goes over; of a `while` as many at most. append: gets elements."""
        if "iterations" not in self.made:
            self.made["iterations"] = self._function(self._iterations())
        items = itertools.repeat(None, count) if numbers is None else numbers[:count]
        return self._called(self.made["iterations"], variables, {".items": items} | ({".items.append": append} if append else {}))

    def otherwise(self, variables):
        if "otherwise" not in self.made:
            self.made["otherwise"] = self._function(_once([*map(copied, self.loop.source.orelse)]))
        return self._called(self.made["otherwise"], variables, {})

    def _called(self, function, variables, extras):
        given = {n: variables[n] for n in function.__kwdefaults__ if n in variables} | extras
        how, value, now = function(**given)
        if now is not None:
            named = function.__kwdefaults__.keys() & {*self.loop.stored}
            variables = {n: x for n, x in variables.items() if n not in named} | {n: now[n] for n in named if n in now}
        return how, value, variables

    def _rest(self, statement, behind):
        top, of = self.loop.source, self.parents
        parent, field, at = of[statement]
        after = [*map(copied, getattr(parent, field)[at + behind :])]
        number = items = 0  # of the loops around, and of those that go over something
        while parent is not top:
            if isinstance(parent, ast.For) and field == "body":
                after = [_for_rest(parent, after, number, items)]
                number, items = number + 1, items + 1
            elif isinstance(parent, ast.While) and field == "body":
                after = _while_rest(parent, after, number)
                number += 1
            elif isinstance(parent, ast.With):
                after = [ast.copy_location(ast.With([*map(copied, parent.items)], after, None), parent)]
            elif isinstance(parent, ast.Try) and field != "finalbody":
                after = [_try_rest(parent, field, after)]
            if parent in of:
                parent, field, at = of[parent]
                held = getattr(parent, field)
                if isinstance(held, list) and held and isinstance(held[0], ast.stmt):
                    after += map(copied, held[at + 1 :])
        return _once(after)

    def _iterations(self):
        source = self.loop.source
        body = [self.loop.in_source(copied(s)) for s in source.body]
        if isinstance(source, ast.While):
            ended = ast.If(ast.UnaryOp(ast.Not(), copied(source.test)), [_gives(ENDED)], [])
            return _ending(ast.For(ast.Name(".item", ast.Store()), ast.Name(".items", ast.Load()), [ended, *body], [_gives(WENT_ON)], None))
        items = ast.Name(".items", ast.Load())
        if self.loop.over is not None:
            ends = [ast.Attribute(items, end, ast.Load()) for end in ("start", "stop")]
            items = ast.Call(ast.Name(".islice", ast.Load()), [copied(source.iter), *ends], [])
        return _ending(ast.For(copied(source.target), items, body, [_gives(WENT_ON)], None))

    def _function(self, body):
        """A function of the variables of the original one that these statements name."""
        loop, code = self.loop, self.function.__code__
        local = {*code.co_varnames, *code.co_cellvars}
        used = {n.id for s in body for n in nodes(s) if isinstance(n, ast.Name)}.union(*(names(s, ast.Store) for s in body))
        own = sorted(n for n in used if n in local or n.startswith((".items", ".over")))
        known = {".unbound": loop.unbound, ".locals": locals, ".chain": itertools.chain, ".islice": itertools.islice, ".middle": _MIDDLE}
        cells = {n: cell for n, cell in loop.cells.items() if n in used} | {n: types.CellType(x) for n, x in known.items()}
        body = [_Returns().visit(s) for s in body]
        drop = [ast.If(ast.Compare(ast.Name(n, ast.Load()), [ast.Is()], [ast.Name(".unbound", ast.Load())]), [ast.Delete([ast.Name(n, ast.Del())])], []) for n in own]
        defaults = [ast.Name(".unbound", ast.Load()) for _ in own]
        arguments = ast.arguments([], [], None, [ast.arg(n) for n in own], defaults, None, [])
        tree = ast.FunctionDef(code.co_name, arguments, [*drop, *body], [], None)
        itself = [] if code.co_name in cells else [ast.Global([code.co_name])]  # as which it may call itself
        outer = ast.FunctionDef("outer", ast.arguments([], [ast.arg(n) for n in cells], None, [], [], None, []), [*itself, tree], [], None)
        for definition in (tree, outer):
            if "type_params" in ast.FunctionDef._fields:
                definition.type_params = []
        ast.copy_location(tree, loop.source)
        ast.copy_location(outer, loop.source)
        module = ast.fix_missing_locations(ast.Module([outer], []))
        compiled = compile(module, code.co_filename, "exec", dont_inherit=True, flags=code.co_flags & 0x1FFE000)
        outer = next(c for c in compiled.co_consts if isinstance(c, types.CodeType))
        inner = next(c for c in outer.co_consts if isinstance(c, types.CodeType) and c.co_name == code.co_name)
        if hasattr(inner, "co_qualname"):
            inner = inner.replace(co_qualname=code.co_qualname)
        CONTINUED.add(inner)
        made = types.FunctionType(inner, loop.scope, code.co_name, None, tuple(cells[n] for n in inner.co_freevars))
        made.__kwdefaults__ = dict.fromkeys(own, loop.unbound)
        return made


def _rest_of(position):
    """What is left of a range, or how many iterations of a loop were done."""
    done, *ends = position
    return range(*ends)[done + 1 :] if ends else done + 1


def _gives(how):
    return ast.Return(ast.Tuple([ast.Constant(how), ast.Constant(None), ast.Call(ast.Name(".locals", ast.Load()), [], [])], ast.Load()))


def _ending(loop):
    return [loop, _gives(BROKE)]


def _once(statements):
    """Statements of which `break` and `continue` mean the outermost loop."""
    return _ending(ast.For(ast.Name(".item", ast.Store()), ast.Tuple([ast.Constant(None)], ast.Load()), statements or [ast.Pass()], [_gives(WENT_ON)], None))


def _item(number):
    """The name of a loop's item, which is not that of a loop around it: an inner one may end in the midst of its iteration."""
    return f".item {number}"


def _is_middle(number):
    return ast.Compare(ast.Name(_item(number), ast.Load()), [ast.Is()], [ast.Name(".middle", ast.Load())])


def _for_rest(loop, after, number, items):
    """for .item in .chain((.middle,), rest): what is left of the iteration, then the others"""
    name = lambda n: ast.Name(n, ast.Load())  # noqa: E731
    items = name(f".items{items}")
    if not is_range(loop.iter):
        items = ast.Call(name(".islice"), [copied(loop.iter), items, ast.Constant(None)], [])
    items = ast.Call(name(".chain"), [ast.Tuple([name(".middle")], ast.Load()), items], [])
    bound = ast.Assign([copied(loop.target)], name(_item(number)), None)
    body = [ast.If(_is_middle(number), after or [ast.Pass()], [bound, *map(copied, loop.body)])]
    return ast.copy_location(ast.For(ast.Name(_item(number), ast.Store()), items, body, [*map(copied, loop.orelse)], None), loop)


def _while_rest(loop, after, number):
    """The same: the test of the iteration that has begun has been made."""
    begun = ast.Assign([ast.Name(_item(number), ast.Store())], ast.Name(".middle", ast.Load()), None)
    test = ast.BoolOp(ast.Or(), [_is_middle(number), copied(loop.test)])
    done = ast.Assign([ast.Name(_item(number), ast.Store())], ast.Constant(None), None)
    body = [ast.If(_is_middle(number), [done, *after], [*map(copied, loop.body)])]
    return [ast.copy_location(s, loop) for s in (begun, ast.While(test, body, [*map(copied, loop.orelse)]))]


def _try_rest(s, field, after):
    handlers, otherwise = ([*map(copied, s.handlers)], [*map(copied, s.orelse)]) if field == "body" else ([], [])
    if not handlers and not s.finalbody:
        return ast.copy_location(ast.If(ast.Constant(True), after or [ast.Pass()], []), s)
    return ast.copy_location(ast.Try(after or [ast.Pass()], handlers, otherwise, [*map(copied, s.finalbody)]), s)


class _Returns(ast.NodeTransformer):
    def visit_Return(self, node):
        if isinstance(node.value, ast.Tuple) and len(node.value.elts) == 3 and isinstance(node.value.elts[2], ast.Call) and getattr(node.value.elts[2].func, "id", "") == ".locals":
            return node
        value = node.value or ast.Constant(None)
        return ast.copy_location(ast.Return(ast.Tuple([ast.Constant(RETURNED), value, ast.Constant(None)], ast.Load())), node)


# going on


class Left:
    """A run of machine code that has left the loop to Python, with variables and results as they were then."""

    def __init__(self, code, resumption, told, variables, objects, numbers):
        objects = objects | {MADE: {}}
        for name, what in resumption.variables.items():
            x = what.of(told, objects)
            if x is MISSING:
                variables.pop(name, None)
            else:
                variables[name] = x
        self.code, self.doing, self.variables = code, resumption.doing, variables
        self.positions = {loop: [told[at] for at in (position.at, *position.ends)] for loop, position in resumption.positions.items()}
        self.numbers = None  # that are left
        if code.ranged:
            self.done, start, stop, step = self.positions.pop(code.lowering.top)
            # Which a run may have had a part of.
            self.numbers = range(start + (self.done + 1) * step, stop if numbers is None else numbers.stop, step)


def go_on(loop, found):
    """What Code.told() gives of a loop at its end, where it gave a Left."""
    since = None
    while type(found) is Left:
        now = time.perf_counter()
        _account(loop, found, now - since if since else 0.0)
        since = now
        if found.doing.statement is loop.source:
            found = on(loop, found.variables, None, by_python=True)
            continue
        how, value, variables = loop.in_python.rest(found.doing, found.variables, [*found.positions.values()])
        if how == WENT_ON and not loop.in_python.is_behind(found.doing.statement):
            found = on(loop, variables, found.numbers)
        else:
            found = _finished(loop, variables, how == RETURNED, value)
    return found


def on(loop, variables, numbers, by_python=False):
    """The iterations that are left: what Code.told() gives of them. by_python: the first is Python's."""
    count = 1
    while numbers is None or numbers or loop.source.orelse:
        code, values = (None, None) if by_python else _code_for(loop, variables, numbers)
        if code is not None:
            return code.once(loop, values, variables, numbers)
        if numbers is not None and not numbers:
            break
        by_python = False
        how, value, variables = loop.in_python.iterations(variables, numbers, count)
        if how in (BROKE, RETURNED):
            return _finished(loop, variables, how == RETURNED, value)
        if how == ENDED:
            break
        if numbers is not None:
            numbers = numbers[count:]
        count *= 2
    if loop.source.orelse:
        how, value, variables = loop.in_python.otherwise(variables)
        return _finished(loop, variables, how == RETURNED, value)
    return _finished(loop, variables, False, None)


def _code_for(loop, variables, numbers):
    """The code that is there for the variables as they are now, and their values."""
    if any(type(x := variables.get(n)) is int and scalar_of(x) is None for n in loop.names):
        return None, None  # as long as they are beyond 64 bits
    code, values = loop.chosen(variables, numbers)
    code.ask()
    return (code, values) if code.usable and code.fits(values) and code.ready else (None, None)


def _finished(loop, variables, returned, value):
    return (*(variables.get(n, loop.unbound) for n in loop.stored), returned, value)


def _account(loop, left, seconds):
    """Gives a loop back to Python that machine code leaves too soon, too often. seconds: since it did the last time."""
    code = left.code
    gained = left.done * loop.each if code.ranged and loop.each else code.procedure.ran * GAIN
    code.in_vain = code.in_vain + 1 if gained < max(seconds - code.procedure.ran, COST) else 0
    if code.in_vain < IN_VAIN:
        return
    code.give_up(loop, f"line {left.doing.statement.lineno} is Python's, and reached too often")
