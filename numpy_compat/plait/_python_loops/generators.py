"""Generators of the program that a `for` of a compiled loop consumes: the statements of the generator stand there, and the loop's own where it yields."""

import ast

from .calls import named_arguments
from .inlining import Copy, Frame
from .leaves import Leaves
from .objects import Instance, method
from .reading import is_generator
from .types import NotCompiled

MOST = 4  # places at which one yields: each has the loop's statements


def generator_of(lowering, node):
    """The generator function that is called there, with the object whose method it is, if any; None where none is."""
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name):
        fn = lowering.env.get(node.func.id)
        return (fn, []) if is_generator(fn) else None
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        of = lowering.env.get(node.func.value.id)
        if isinstance(of, Instance) and is_generator(fn := method(lowering, of, node)):
            return fn, [of]
    return None


class Consumed(Frame):
    """A generator whose statements are lowered: the loop that consumes it, and what stood around that."""

    def __init__(self, prefix, block, key, loop, exit_):
        super().__init__(prefix, block, key)
        self.loop, self.exit, self.yields = loop, exit_, 0


def consume(lowering, loop, fn, bound):
    """`for v in f(x)`"""
    low, source = lowering, loop.iter
    if any(f.function is fn for f in low.frames):
        raise NotCompiled(f"{fn.__name__}() calls itself", source)
    args = [*bound, *low.spread(source.args, source)]
    made = low.facts.inlined.get(source)
    if made is None:
        made = low.facts.inlined[source] = Copy(fn, len(low.facts.inlined), source)
    made.arguments(low, args, named_arguments(low, source), source)
    has = low.facts.once(Leaves, loop)
    before = {k: b for k, b in low.env.items() if not k.startswith(made.prefix) and k not in has.bound}
    exit_ = low.p.begin_if(None)
    frame = Consumed(made.prefix, low.p.begin_if(None), (source, "returned"), loop, exit_)
    frame.function, frame.loops = fn, low.loops
    low.frames.append(frame)
    low.loops = []
    low.consuming += 1  # Python cannot go on in the midst of a generator
    low.block(made.body)
    if low.env is not None:
        frame.take(low, None, source)
    low.consuming -= 1
    low.frames.pop()
    low.loops = frame.loops
    low.p.end()
    low.meet(frame.key, before)
    if low.env is not None:
        low.block(loop.orelse)
    low.flow_to((loop, "exit"))
    low.p.end()
    low.meet((loop, "exit"), before)


def resume(lowering, node):
    """`yield v`: the statements of the loop that consumes it, which are its function's."""
    low, frame = lowering, lowering.frames[-1]
    if not isinstance(frame, Consumed) or low.unused is not node or node.value is None:
        raise NotCompiled("a generator that no loop consumes, or that is sent something", node)
    frame.yields += 1
    if frame.yields > MOST:
        raise NotCompiled("a generator that yields at many places", node)
    value, loop = low.evaluate(node.value), frame.loop
    frames, loops = low.frames, low.loops
    has = low.facts.once(Leaves, loop)
    arrays = {k: b for k, b in low.env.items() if k not in has.bound}
    low.frames, low.loops = frames[:-1], [*frame.loops]
    inner = low.p.begin_if(None)
    low.loops.append((loop, frame.exit, inner))
    low.store(loop.target, value)
    low.block(loop.body)
    low.flow_to((loop, "head"))
    low.p.end()
    low.frames, low.loops = frames, loops
    low.meet((loop, "head"), arrays)
