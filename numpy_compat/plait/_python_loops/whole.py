"""Jitted functions that are loops and numbers alone (direct.py), in machine code as a whole: their statements are those of a loop of one iteration, whose code a
call runs on its arguments (bindings/whole_call.cpp). What that hears of, fails at or leaves to Python is told in a frame of the function's own."""

import ast
import types

from .. import _plait
from .by_python import go_on
from .comprehensions import scoped, stored
from .entries import entry_of
from .reading import captured, compiled, imports_of, tree_of
from .running import Loop
from .trees import nodes, once
from .types import ArrayType, Scalar

AFTER = 1024  # calls on the other way before code is made, which takes as long as they. 0, of tests: at once
OTHERS = 16  # times as many where its loops run in Python
SOON = 64  # calls until it is looked again whether there is code
NEVER = 1 << 62
FEW = 8  # codes for arguments of other types, after which it is not asked for such that cannot run as a whole
_FINISH = ".finish"


class Body(Loop):
    """for .once in range(1): the statements of a function"""

    def __init__(self, function, scope):
        tree = tree_of(function)
        source, returned = _once(tree)
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        super().__init__(source, function, scope, cells, {*returned})
        self.function = function
        self.text = f"{function.__name__}()"
        self.parameters = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args)]
        self.own_names = {*stored(source), *self.parameters}
        self.single = len(tree.body) > 0 and isinstance(tree.body[-1], ast.Return) and isinstance(tree.body[-1].value, ast.Name)
        self.parts = [(_at(n, self.stored), _at(n, self.parameters)) for n in returned]
        self.frame = _frame(function)

    def looked_up(self, variables):
        """A variable of the function's that has no value is no global of its name."""
        for found in super().looked_up(variables):
            if found[3] is not variables or found[2] not in self.own_names or found[2] in variables:
                yield found

    def idled(self, rounds=1):
        """It never sleeps, as the function's loops are there."""

    def is_pythons(self, why):
        """The loops are."""

    def log_refusal(self, text):
        """The loops' codes say why."""

    def report(self):
        """What it is as a whole, beside its loops."""
        return [f"{self.text} as a whole: {code.described()}; {code.runs} runs" for code in self.codes.values() if code.usable and code.runs]

    def told(self, code, results, args):
        """What a call returns whose code has to tell something, or raises."""
        return self.frame(_Told(self, code, results, args))

    def returned(self, args, found):
        """The same, of how it ended."""
        *state, returned, value = found
        if returned or not self.parts:
            return value
        parts = [args[argument] if at < 0 or state[at] is self.unbound else state[at] for at, argument in self.parts]
        return parts[0] if self.single else tuple(parts)


class _Told:
    def __init__(self, body, code, results, args):
        self.body, self.code, self.results, self.args = body, code, results, args

    def __call__(self):
        variables = dict(zip(self.body.parameters, self.args))
        return self.body.returned(self.args, go_on(self.body, self.code.told(self.body, variables, [self.results], 3, range(1))))


def _at(name, names):
    return names.index(name) if name in names else -1


def _once(tree):
    """The loop, and the names of what it gives back at its end, where it returns variables there: those may be arrays."""
    *statements, last = [s for s in tree.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    parts = []
    if isinstance(last, ast.Return) and last.value is not None:
        parts = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
        if not parts or not all(isinstance(x, ast.Name) for x in parts):
            parts = []
    statements += [ast.copy_location(ast.Expr(x), x) for x in parts] or [last]  # which fail where they have no value
    return scoped(once(statements, tree.body[0], tree)), [x.id for x in parts]


def _frame(function):
    """A function that calls what it is given, at the first loop, in whose code all statements of this one have their places."""
    tree = tree_of(function)
    imported = imports_of(tree, function)
    first = next(s for s in nodes(tree) if isinstance(s, (ast.For, ast.While)))
    at = {"lineno": first.lineno, "col_offset": first.col_offset, "end_lineno": first.lineno, "end_col_offset": first.col_offset}
    finish = ast.Name(_FINISH, ast.Load(), **at)
    tree.body.insert(0, ast.If(finish, [ast.Return(ast.Call(finish, [], [], **at), **at)], [], **at))
    tree.args = ast.arguments([], [ast.arg(_FINISH, **at)], None, [], [], None, [])
    code = compiled(tree, function, function.__code__.co_freevars, imported)
    return types.FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)


class Whole:
    """Makes the codes of a function as a whole, for arguments of the types that come."""

    def __init__(self, function, scope, direct):
        self.body, self.direct = Body(function, scope), direct
        self.others = 0

    def ask(self, args):
        """After a call that found no code: in how many more it is to be asked again."""
        body = self.body
        if not self.direct.takes(args):  # its loops gain nothing by themselves: they are too short, or cannot be compiled
            self.others += 1
            if self.others % OTHERS:
                return AFTER
        body.scope.sync()
        code, _ = body.chosen(dict(zip(body.parameters, args)), range(1))
        if not code.usable or code.entry is False or not _is_simple(code):
            return AFTER if len(body.codes) < FEW else NEVER
        if not AFTER:
            code.procedure.compile()
        code.procedure.optimise_async()
        if code.procedure.optimised and not code.entry:
            code.entry = entry_of(body, code, dict(zip(body.parameters, args)))
            if code.entry:
                body.add_entry(code.entry)
                _plait.log_loop(f"{body.where[0]}:{body.where[1]}: {body.text} as a whole: {code.described()}")
                return 0
        return SOON


def _is_simple(code):
    """Whether calls are told apart by numbers and arrays alone. Lists are carried over as a whole, of which a loop may need a part."""
    low = code.lowering
    kinds = (t for t in code.inputs.values() if isinstance(t, (Scalar, ArrayType)))
    return not (any(t.kind == "c" if isinstance(t, Scalar) else t.of for t in kinds) or low.drawn or low.lists or low.facts.cells or code.paths)


def whole_call(function, swapped, direct):
    """The Body and the WholeCall of a function that has a DirectCall; None, twice, where it has arguments or variables that are not taken one by one."""
    tree = tree_of(function)
    if tree is None or captured(function.__code__) or imports_of(tree, function) is None or function.__code__.co_flags & 0x0C:
        return None, None
    made = Whole(function, swapped.scope, direct)
    return made.body, _plait.WholeCall(made.body, made.ask, len(made.body.parameters), AFTER)
