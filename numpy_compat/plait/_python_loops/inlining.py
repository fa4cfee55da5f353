"""Calls of Python functions in a compiled loop: their statements stand where they are called, with names of their own."""


from . import lists_in_lists
from .growing import Growing
from .made import materialised
from .passes import Again, Nothing
from .reading import definition, is_generator, outer_name
from .trees import copied
from .types import NotCompiled
from .values import Listed, Value
from .views import Described, Vector, View
from .words import as_value, as_values

_LISTS = Growing, lists_in_lists.Named


class Frame:
    """Where `return` goes: the names of what is returned, the block that it leaves, and where the ways meet behind it."""

    def __init__(self, prefix, block, key):
        self.prefix, self.block, self.key = prefix, block, key
        self.shape = ()  # not known yet; None: nothing, -1: a number, else so many
        self.made = None  # of them: a tuple or a list
        self.function = None  # that is called
        self.arrays, self.returned = {}, False  # the Described of parts that are arrays; whether there was a return

    def calls(self, function):
        """Whether it is a call of that function."""
        return self.function is function

    def take(self, lowering, value, node):
        if isinstance(value, str) or value is None and self.key in lowering.facts.optional:
            value = as_value(lowering, value)
        parts = as_values(lowering, value) if isinstance(value, list) else [] if value is None else [value]
        parts = [materialised(lowering, v, node) if isinstance(v, Vector) else v for v in parts]
        parts = [lists_in_lists.named(lowering, f"{self.prefix}return {n}", v, node) if isinstance(v, lists_in_lists.Boxed) else v for n, v in enumerate(parts)]
        for v in parts if isinstance(value, list) else ():  # which may have one array twice
            if isinstance(v, View):
                v.site = None
        if self.function is None and any(isinstance(v, (View, *_LISTS)) for v in parts):
            raise NotCompiled("an array or a list is returned", node)
        if not all(isinstance(v, (Value, View, *_LISTS)) for v in parts):
            raise NotCompiled("what is neither a number nor an array is returned", node)
        shape = len(parts) if isinstance(value, list) else None if value is None else -1
        made = None if not isinstance(value, list) else list if isinstance(value, Listed) else tuple
        if {self.shape, shape} == {None, -1}:
            lowering.facts.add(lowering.facts.optional, None, self.key)
            raise Again("a function returns a number or None", node)
        if self.shape != () and (self.shape, self.made) != (shape, made):
            raise NotCompiled("returns of several kinds", node)
        self.shape, self.made = shape, made
        for n, v in enumerate(parts):
            if (n in self.arrays) == isinstance(v, Value) and self.returned or isinstance(v, _LISTS) and self.arrays.get(n, v) is not v:
                raise NotCompiled("returns of several kinds", node)
            if isinstance(v, _LISTS):
                self.arrays[n] = v
            elif isinstance(v, View):
                self.arrays[n] = (self.arrays.get(n) or Described(lowering, v)).set(v, node)
            else:
                lowering.assign(f"{self.prefix}return {n}", v)
        self.returned = True
        lowering.flow_to(self.key)
        lowering.p.break_(self.block)
        lowering.env = None

    def value(self, lowering, node):
        if self.shape is None:
            return None
        count = 1 if self.shape == -1 else self.shape
        parts = [_behind(self.arrays[n]) if n in self.arrays else lowering.read(f"{self.prefix}return {n}", node) for n in range(count)]
        return parts[0] if self.shape == -1 else Listed(parts) if self.made is list else parts


def _behind(found):
    return found.view() if isinstance(found, Described) else found.now() if isinstance(found, lists_in_lists.Named) else found


class Copy:
    """The statements of a function for one call of it."""

    def __init__(self, function, number, node, within=""):
        found = definition(function)
        if found is None:
            raise NotCompiled(f"a call of {function.__name__}()", node)
        tree, own, _ = found
        a = tree.args
        if a.kwarg:
            raise NotCompiled(f"a call of {function.__name__}(), which takes any keywords", node)
        self.positional, self.by_name, self.rest = [x.arg for x in (*a.posonlyargs, *a.args)], [x.arg for x in a.kwonlyargs], a.vararg and a.vararg.arg
        self.unnamed = {x.arg for x in a.posonlyargs}
        self.prefix = f"{within}{function.__name__} {number}."
        self.function = function
        renamed = {}

        def name(known):
            if known not in renamed:
                renamed[known] = self.prefix + known if known in own else outer_name(function, known)
            return renamed[known]

        self.body = [copied(s, name) for s in tree.body]

    @property
    def defaults(self):
        return dict(zip(reversed(self.positional), reversed(self.function.__defaults__ or ()))) | (self.function.__kwdefaults__ or {})

    def forget(self, lowering):
        """What a call before has left in variables is not this one's."""
        parameters = {self.prefix + name for name in (*self.positional, *self.by_name)}
        for key in [k for k in lowering.env if k.startswith(self.prefix)]:
            del lowering.env[key]
        for key in sorted(lowering.facts.tagged):
            if key.startswith(self.prefix) and key not in parameters:
                lowering.p.set(lowering.tag(key), lowering.zero)

    def arguments(self, lowering, given, named, node):
        """Gives the parameters what a call has for them; no other variable of the function's own has a value."""
        self.forget(lowering)
        name, count = self.function.__name__, len(self.positional)
        defaults, parameters = self.defaults, [*self.positional, *self.by_name]
        if len(given) > count and not self.rest or {*named} - ({*parameters[len(given) :], *self.by_name} - self.unnamed):
            raise NotCompiled(f"a call of {name}() with other arguments", node)
        values = dict(zip(self.positional, given)) | named
        if self.rest:
            lowering.env[self.prefix + self.rest] = [lowering.settled(x, node) for x in given[count:]]
        for parameter in parameters:
            if parameter not in values and parameter not in defaults:
                raise NotCompiled(f"a call of {name}() with too few arguments", node)
            value = lowering.settled(values[parameter], node) if parameter in values else lowering.known(defaults[parameter], node)
            if isinstance(value, Value):
                lowering.assign(self.prefix + parameter, value)
            else:
                lowering.env[self.prefix + parameter] = value


def _together(lowering, function, node):
    """A function calls itself by way of others: they are taken apart together."""
    known = lowering.facts.groups.setdefault(function, [])
    at = next(n for n, f in enumerate(lowering.frames) if f.calls(function))
    others = [f.function for f in lowering.frames[at + 1 :] if f.function not in (None, *known)]
    if not others or any(map(is_generator, others)):
        raise NotCompiled(f"{function.__name__}() calls itself where that is not taken apart", node)
    known += others
    lowering.facts.changed = True
    raise Again("functions call each other", node)


def inlined(lowering, function, given, named, node):
    """What a call gives."""
    if is_generator(function):
        raise NotCompiled(f"{function.__name__}(), a generator, is called where no loop consumes it", node)
    if any(f.calls(function) for f in lowering.frames):
        if function in lowering.facts.recursive:
            _together(lowering, function, node)
        lowering.facts.add(lowering.facts.recursive, None, function)
        raise Again("a function calls itself", node)
    if function in lowering.facts.recursive:
        return lowering.recursive_call(function, given, named, node)
    made = lowering.facts.inlined.get(node)
    if made is None:
        made = lowering.facts.inlined[node] = Copy(function, len(lowering.facts.inlined), node)
    made.arguments(lowering, given, named, node)
    before = {k: b for k, b in lowering.env.items() if not k.startswith(made.prefix)}
    frame = Frame(made.prefix, lowering.p.begin_if(None), (node, "returned"))
    frame.function = function
    loops, lowering.loops = lowering.loops, []
    lowering.frames.append(frame)
    effects = lowering.effects
    lowering.block(made.body)
    if lowering.env is not None:
        frame.take(lowering, None, node)
    lowering.frames.pop()
    if lowering.effects != effects and lowering.doing is not None:
        lowering.facts.add(lowering.facts.changing, None, lowering.doing.statement)
    lowering.loops = loops
    lowering.p.end()
    lowering.meet(frame.key, before)
    if lowering.env is None:
        raise (Nothing if lowering.facts.unknown else NotCompiled)(f"{function.__name__}() does not return", node)
    return frame.value(lowering, node)

