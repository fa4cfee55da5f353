"""Loops whose iterations write to places of their own, and read nothing that another one writes: the team's threads run parts of their range."""

import ast
import time

import numpy

from .._plait import num_threads
from .comprehensions import stored
from .leaves import Leaves
from .reading import exposed
from .trees import nodes

WORTH = 300e-6  # seconds on one thread of a loop that is shared. 0, of tests: any loop is
PROBE = 16  # the part of a range that is run alone first, to see how long it takes
PARTS = 16  # of what is left
COPIED = 4e9  # bytes of arrays that are copied in a second, to go back where an iteration fails


def counter_of(loop):
    """The name that counts the iterations of a `for`, "" where it has none that nothing else is stored to; None where parts of its range do not stand alone."""
    if not isinstance(loop, ast.For) or loop.orelse or Leaves(loop).breaks or any(isinstance(n, ast.Return) for n in nodes(loop)):
        return None
    names = stored(loop)
    if exposed(loop) & set(names):
        return None
    over = getattr(loop, "over", None)
    name = loop.target.id if over is None else _counted(loop)
    if names.count(name) > 1:
        return None if over is None else ""
    return name


def _counted(loop):
    """The name that has the number of the item."""
    counts = isinstance(loop.iter, ast.Call) and getattr(loop.iter.func, "id", None) == "enumerate" and len(loop.iter.args) == 1
    first = loop.target.elts[0] if counts and isinstance(loop.target, (ast.Tuple, ast.List)) else None
    return first.id if isinstance(first, ast.Name) else ""


def offset_of(counter, node):
    """How far an index is from the counter; None where that is not known."""
    if isinstance(node, ast.Name):
        return 0 if node.id == counter else None
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub)):
        return None
    a, b = node.left, node.right
    if isinstance(a, ast.Constant) and isinstance(node.op, ast.Add):
        a, b = b, a
    if not (isinstance(a, ast.Name) and a.id == counter and isinstance(b, ast.Constant) and type(b.value) is int):
        return None
    return b.value if isinstance(node.op, ast.Add) else -b.value


def own_places(lowering):
    """Of each array that is written to, the axis along which an iteration keeps to one index, and how far that is from the counter. None where
    iterations may meet."""
    return None if why_alone(lowering) else {slot: next(iter(lowering.touched[slot])) for slot in lowering.facts.written}


def why_alone(lowering):
    """Why one thread runs all iterations; None where several may."""
    written = lowering.facts.written
    if lowering.counter is None:
        return "an iteration may need what one before it has left, or end the loop"
    if lowering.facts.draws:
        return "it draws random numbers, one after the other"
    if lowering.facts.prints:
        return "it prints, one line after the other"
    if lowering.facts.cells:
        return f"it sets an attribute, {min(lowering.facts.cells)}"
    if lowering.carried:
        return "it leaves an array or a list behind"
    if lowering.facts.growing:
        return f"a list grows, {lowering.facts.growing[0]}"
    if not written:
        return "it writes to no array"
    met = [slot for slot in written if len(found := lowering.touched.get(slot, {None})) != 1 or None in found]
    return f"iterations may meet in {', '.join(sorted({lowering.arrays[slot] for slot in met}))}" if met else None


def are_apart(places, arrays, numbers, overlap):
    """Whether iterations keep to their own places in these arrays."""
    lowest = min(numbers[0], numbers[-1])
    for slot, (_, offset) in places.items():
        if lowest + offset < 0 or not _is_sparse(arrays[slot]):
            return False
        if any(n != slot and overlap(arrays[slot], a) for n, a in enumerate(arrays)):
            return False
    return True


def _is_sparse(a):
    """Whether no two elements share a byte, as strides alone show."""
    reached = a.itemsize
    for stride, extent in sorted((abs(s), n) for s, n in zip(a.strides, a.shape)):
        if extent > 1 and stride < reached:
            return False
        reached += (extent - 1) * stride
    return True


def run_shared(run, written, numbers, failed):
    """The results of parts of the range, in order. run(ranges, seconds): the results of several; failed(result): whether an iteration raises."""
    probe = max(1, len(numbers) // PROBE)
    begun = time.perf_counter()
    first = run([numbers[:probe]], 0.0)
    rest = numbers[probe:]
    seconds = (time.perf_counter() - begun) / probe * len(rest)
    if failed(first[0]) or not rest:
        return first
    if num_threads() == 1 or seconds < WORTH or sum(a.nbytes for a in written) / COPIED > seconds / 4:
        return first + run([rest], 0.0)
    kept = [numpy.array(a) for a in written]
    size = -(-len(rest) // PARTS)
    try:
        results = run([rest[at : at + size] for at in range(0, len(rest), size)], seconds)
    except BaseException:
        _restore(written, kept)
        raise
    if any(map(failed, results)):
        _restore(written, kept)
        results = run([rest], 0.0)
    return first + results


def _restore(arrays, kept):
    for a, b in zip(arrays, kept):
        a[...] = b
