"""Expressions of a compiled loop: numbers as Python and NumPy compute them, with their errors."""

import ast
import builtins
import types


from . import calls, complexes, draws, growing, list_comprehensions, list_methods, number_methods, objects, printing, pythons_draws, table_methods, tables, texts, times, words
from .by_python import Resumption
from .comprehensions import COMPREHENSIONS
from .growing import Element, Growing
from .made import materialised, of_numbers
from .matching import of_matched
from .pythons_draws import PythonsGenerator
from . import records
from .arithmetic import Arithmetic, _too_large
from .comprehension_folds import folded, may_fold
from .conditions import Conditions
from .generators import resume
from .list_views import ExtentsView, GridView, ListView, TupleView, array_view, grown
from .passes import Again
from .selected import Selected
from .tables import Entries, Table
from .tracebacks import Failure, Place, outgrows
from .trying import handled
from .types import NotCompiled, scalar_of
from .values import Listed, Value, kinds_of
from .views import Vector, View, is_int


class Expressions(Arithmetic, Conditions):
    """Of a Lowering, which has the procedure `p`, variables and statements."""

    def evaluate(self, node):
        how = getattr(self, "of_" + type(node).__name__, None)
        if how is None:
            raise NotCompiled(f"{type(node).__name__} expressions are Python's", node)
        return how(node)

    def scalar(self, node):
        return words.number(self, self.a_number(self.evaluate(node), node), node)

    def a_number(self, value, node):
        value = words.as_value(self, value)
        if not isinstance(value, Value):
            raise NotCompiled("a number is wanted here", node)
        return value

    def literal(self, x):
        t = scalar_of(x)
        if t is None:
            raise NotCompiled(f"the constant {x!r}")
        return Value(t, self.p.const(t.dtype, x), x)

    def fail_if(self, condition, again, node, i=None, a=None, b=None, error=None):
        """Leaves the kernel where `condition` holds. again(i, a, b): raises what Python raises there, of the class `error` where that is known."""
        self.p.begin_if(condition)
        for local, v in zip(self.kept, (i, a, b)):
            if v is not None:
                self.p.set(local, v() if callable(v) else v)
        self.fails(again, node, error)
        self.p.end()

    def fails(self, again, node, error=None):
        """Leaves the kernel, or goes on where an error of this class leads."""
        outgrown = getattr(again, "outgrown", False)
        if self.tries and not isinstance(again, Resumption) and not getattr(again, "fatal", False):
            if error is not None and not outgrown and handled(self, error):
                return
            again = self.resumption()
            if again is None:
                raise NotCompiled("an error in a `try`, where Python cannot be told what variables are", node)
        elif outgrown:
            again = self.resumption(outgrows(again)) or again
        self.failures.append(Failure(again, self.places(node)))
        self.p.set(self.site, self.number(len(self.failures)))
        self.p.break_(self.root)

    def places(self, node):
        """Where the source is that is lowered now: that of the calls around it, and its own."""
        found, function = [], None
        for frame in self.frames:
            if frame.function is not None:
                found.append(Place.of(function, frame.key[0]))
                function = frame.function
        return (*found, Place.of(function, node))

    def trips(self, start, stop, step, node):
        """How many numbers a range has."""
        if step.known and step.literal and all(v.known and abs(v.literal) < 2**62 for v in (start, stop, step)):
            return self.number(len(range(start.literal, stop.literal, step.literal)))  # loops of few iterations are unrolled
        if step.known:
            if step.literal == 0:
                raise NotCompiled("a range of step 0", node)
            ends = (start, stop) if step.literal > 0 else (stop, start)
            size = abs(step.literal)
            length = self.p.apply("subtract", ends[1].id, ends[0].id)
            if size > 1:
                self.fail_if(self.p.overflows("subtract", ends[1].id, ends[0].id), _too_large, node)
            else:
                return self.p.apply("maximum", length, self.zero)
            width = self.number(size)
        else:
            self.fail_if(self.same(step.id, 0), lambda *_: range(0, 1, 0), node)
            up = self.p.apply("greater", step.id, self.zero)
            forward, back = self.p.apply("subtract", stop.id, start.id), self.p.apply("subtract", start.id, stop.id)
            length = self.p.apply("where", up, forward, back)
            width = self.p.apply("absolute", step.id)
        rounded = self.p.apply("add", length, self.p.apply("subtract", width, self.one))
        return self.p.apply("maximum", self.p.apply("floor_divide", rounded, width), self.zero)

    def of_Constant(self, node):
        if node.value is None or isinstance(node.value, str):
            return node.value
        return self.literal(node.value)

    def of_JoinedStr(self, node):
        return printing.of_fstring(self, node)

    def of_Name(self, node):
        return self.read(node.id, node)

    def in_order(self, node, *operands):
        """What these give, one after the other: an expression of arrays is computed before anything changes that it reads."""
        found = []
        for of in operands:
            if node in self.facts.eager:
                found = [materialised(self, x, node) if isinstance(x, Vector) else x for x in found]
            before = self.effects
            found.append(of())
            if self.effects != before and any(isinstance(x, Vector) for x in found[:-1]):
                self.facts.add(self.facts.eager, None, node)
                raise Again("an operand changes what another one reads", node)
        return found

    def of_Matched(self, node):
        return of_matched(self, node)

    def of_NamedExpr(self, node):
        if self.perhaps:
            raise NotCompiled("a variable is set where that may be left out", node)
        value = self.settled(self.evaluate(node.value), node)
        self.store(node.target, value)
        return value

    def later(self, node):
        """An operand that is not always computed."""
        self.perhaps += 1
        try:
            return self.evaluate(node)
        finally:
            self.perhaps -= 1

    def of_Tuple(self, node):
        return self.spread(node.elts, node)

    def spread(self, parts, node):
        """What these give, one after the other, and of starred ones the parts of their tuples."""
        values = self.in_order(node, *(lambda e=e: self.evaluate(e.value if isinstance(e, ast.Starred) else e) for e in parts))
        found = []
        for part, value in zip(parts, values):
            if not isinstance(part, ast.Starred):
                found.append(value)
            elif isinstance(value, list):
                found += value
            elif isinstance(value, ExtentsView):
                found += value.parts()
            else:
                raise NotCompiled("a starred array or list, whose length only the running code knows", node)
        return found

    def of_List(self, node):
        return Listed(self.of_Tuple(node))

    def chosen_of(self, many, at, node):
        """One of several values that are there, by a number that is known to be one of theirs."""
        if all(isinstance(x, list) for x in many) and len({len(x) for x in many}) == 1:
            return [self.chosen_of(column, at, node) for column in zip(*many)]
        if not all(isinstance(x, Value) for x in many):
            raise NotCompiled("one of several that are no numbers", node)
        best = many[-1]
        for n in range(len(many) - 2, -1, -1):
            best = self.either(self.same(at, n), many[n], best, node)
        return best

    def parts(self, value, count, node):
        if isinstance(value, Vector):
            value = materialised(self, value, node)
        if isinstance(value, Growing) or isinstance(value, View) and not value.scalar:
            return self.unpacked(value, count, node)
        if not isinstance(value, list) or len(value) != count:
            raise NotCompiled("what is unpacked has another number of parts", node)
        return value

    def unpacked(self, view, count, node):
        """The elements of an array along its first axis, as many as there are names."""
        n, item = growing.items(self, view, node)
        self.fail_if(self.negated(self.same(n, count)), lambda n, *_: _unpack(n, count), node, n)
        return [item(self.number(k)) for k in range(count)]

    def of_Attribute(self, node):
        base = self.evaluate(node.value)
        if isinstance(base, objects.Instance):
            return objects.attribute(self, base, node)
        if records.is_record(base):
            place = records.attribute(self, base, node)
            return place.load() if isinstance(place, View) and place.scalar else place
        if isinstance(base, View):
            return base.attribute(self, node)
        if isinstance(base, Value):
            return self.each((base,), lambda a: complexes.attribute(self, a, node.attr, node), node)
        if isinstance(base, Vector):
            return materialised(self, base, node).attribute(self, node)
        if isinstance(base, list) or base is None:
            raise NotCompiled(f"the attribute {node.attr}", node)
        try:
            found = getattr(base, node.attr)
        except AttributeError:
            raise NotCompiled(f"the attribute {node.attr}", node) from None
        if isinstance(base, (type, types.ModuleType)) and (base.__name__ if isinstance(base, types.ModuleType) else base.__module__).partition(".")[0] not in _LASTING:
            self.facts.add(self.facts.attributes, None, (base, node.attr, found))
        return self.known(found, node)

    def known(self, x, node):
        """An object that was found by name."""
        if type(x) is tuple:
            return [self.known(part, node) for part in x]
        if type(x) is list:
            raise NotCompiled("a list that is not named", node)
        return self.literal(x) if scalar_of(x) is not None else x

    def of_Call(self, node):
        if isinstance(node.func, ast.Attribute):
            base = self.evaluate(node.func.value)
            if isinstance(base, str) and node.func.attr == "format":
                return printing.by_format(self, base, node)
            if texts.is_text(base):
                return texts.method(self, base, node)
            if isinstance(base, ListView) and not base.scalar and node.func.attr in ("index", "count") and len(node.args) == 1 and not node.keywords:
                return list_methods.searched(self, base, node.func.attr, self.a_number(self.evaluate(node.args[0]), node), node)
            if isinstance(base, ListView) and not isinstance(base, TupleView) and not base.scalar:
                grown(self, base, node)
            if isinstance(base, Growing):
                return list_methods.method(self, base, node)
            if isinstance(base, draws.Generator):
                return draws.method(self, base, node.func.attr, node, True)
            if isinstance(base, PythonsGenerator):
                return base.method(self, node.func.attr, [self.evaluate(a) for a in node.args], node)
            if isinstance(base, Table):
                return table_methods.method(self, base, node)
            if isinstance(base, (View, Vector)):
                return calls.method(self, base, node)
            if isinstance(base, objects.Instance) and (fn := objects.method(self, base, node)) is not None:
                return calls.call_bound(self, fn, base, node)
            if times.has(base):
                return times.method(self, base, node)
            if isinstance(base, Value) and (found := number_methods.method(self, base, node.func.attr, node)) is not None:
                return found
            if isinstance(base, Value) and node.func.attr in ("conjugate", "conj") and not node.args and not node.keywords:
                return self.each((base,), lambda a: complexes.conjugated(self, a, node), node)
        fn = self.evaluate(node.func)
        if isinstance(fn, objects.Instance):
            return calls.call_bound(self, objects.called(self, fn, node), fn, node)
        if name := draws.legacy(fn):
            return draws.method(self, draws.Generator(self.argument(draws.LEGACY)), name, node, False)
        if name := pythons_draws.name_of(fn):
            return PythonsGenerator(self.argument(pythons_draws.MODULE)).method(self, name, [self.evaluate(a) for a in node.args], node)
        if fn in _FOLDS and len(node.args) == 1 and not isinstance(node.args[0], COMPREHENSIONS) and not node.keywords:
            of = self.dry_run(lambda: self.evaluate(node.args[0]))
            if isinstance(of, Table) and of.of == "set":
                node = self.facts.once(tables.unordered, node)
            if isinstance(of, (Growing, ListView, Table, Entries)) or isinstance(of, (View, Vector)) and len(of.shape if isinstance(of, Vector) else of.dims) == 1:
                node = self.facts.once(list_comprehensions.over, node)
        return folded(self, fn, node) if may_fold(fn, node) else calls.call(self, fn, node)

    def of_Yield(self, node):
        return resume(self, node)

    def of_ListComp(self, node):
        return list_comprehensions.of_comprehension(self, node)

    def of_Dict(self, node):
        return table_methods.of_dict(self, node)

    def of_Set(self, node):
        return table_methods.of_set(self, node)

    def of_Unordered(self, node):
        return node.entries(self)

    def of_SetComp(self, node):
        return table_methods.of_comprehension(self, node)

    of_DictComp = of_SetComp

    def of_Subscript(self, node):
        base = self.evaluate(node.value)
        if isinstance(base, str):
            return texts.character_of(self, base, node)
        if isinstance(base, list):
            index = self.evaluate(node.slice)
            if not isinstance(index, Value) or not is_int(index):
                raise NotCompiled("an index of a tuple that is no int", node)
            if index.known and -len(base) <= index.literal < len(base):
                return base[index.literal]
            at, outside = self.p.index(self.cast(index, "int64"), self.number(len(base)))
            self.fail_if(outside, lambda *_: [][0] if isinstance(base, Listed) else ()[0], node)
            return self.chosen_of(base, at, node)
        place = self.indexed(base, node)
        return place.load() if isinstance(place, (View, Element, Selected)) and place.scalar else place

    def place(self, node):
        """The part of an array that a target names."""
        return self.indexed(self.evaluate(node.value), node)

    def indexed(self, base, node):
        if isinstance(base, Vector):
            base = materialised(self, base, node)
        if isinstance(base, (Growing, Table)):
            return base.part(self, node)
        if records.is_record(base):
            return records.part(self, base, node)
        if not isinstance(base, View):
            raise NotCompiled("an index of what is no array", node)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return base.part(self, parts, node)

    def put(self, place, value, node):
        if isinstance(value, list) and isinstance(place, (View, Selected)):
            value = of_numbers(self, value, place.dtype, node)
        if isinstance(place, (Element, Selected)):
            return place.put(value, node)
        if isinstance(place, GridView) and not place.scalar:
            grown(self, place, node)
        if place.scalar:
            if not isinstance(value, Value):
                raise NotCompiled("an array becomes one element", node)
            if isinstance(place, TupleView):
                raise NotCompiled("an element of a tuple is set", node)
            if isinstance(place, ListView) and kinds_of(value) != {place.type}:
                grown(self, place, node)
            value = self.stored_as(value, place.dtype, node)
        self.effects += 1
        self.facts.add(self.facts.mutated if place.own_memory else self.facts.written, None, place.slot)
        place.store(value) if place.scalar else place.assign(value, node)

    def array(self, key, what):
        return array_view(self, key, what)


_LASTING = "numpy", "math", "plait", "builtins"  # modules whose attributes stay what they are
_FOLDS = {builtins.sum, builtins.min, builtins.max, builtins.any, builtins.all}


def _unpack(n, count):
    scope = {"x": [None] * n}
    exec(f"{'x0, ' + ', '.join(f'x{k}' for k in range(1, count))} = x", scope)
