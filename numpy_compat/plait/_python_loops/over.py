"""What a `for` or a comprehension goes over that is no range: arrays, lists and tuples of numbers, dicts and sets, zip(), enumerate() and reversed() of those,
np.ndindex() and np.ndenumerate(). Machine code counts their items."""

import ast
import collections
import itertools
import math

import numpy

from .._plait import ndarray
from . import combined
from .trees import copied

_OF_SEQUENCES = {"zip", "enumerate", "reversed"}
_VIEWS = {"items", "keys", "values"}  # of dicts
_DICTS = {dict, collections.Counter, collections.defaultdict}
_numbers = itertools.count()


def is_range(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range" and not node.keywords


def by_place(node):
    """enumerate(x, 1) for enumerate(x, start=1)"""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "enumerate" and len(node.args) == 1:
        if [k.arg for k in node.keywords] == ["start"]:
            return ast.copy_location(ast.Call(node.func, [*node.args, node.keywords[0].value], []), node)
    return node


def _of_sequence(x):
    if type(x) in (ndarray, numpy.ndarray, numpy.recarray):
        return len(x) if x.ndim else None
    return len(x) if type(x) in (list, tuple, bytes, str, set) or type(x) in _DICTS else None


def _of_range(*ends):
    known = all(type(n) is int for n in ends) and (len(ends) in (1, 2) or len(ends) == 3 and ends[2])
    return len(range(*ends)) if known else None


def _of_dict(x):
    return len(x) if type(x) in _DICTS else None


def _of_indices(*extents):
    if len(extents) == 1 and type(extents[0]) is tuple:
        (extents,) = extents
    return math.prod(extents) if extents and all(type(n) is int and n >= 0 for n in extents) else None


def _of_elements(x):
    return x.size if type(x) in (ndarray, numpy.ndarray) and x.ndim else None


class Over:
    """parts: what Python computes before the loop, as it has it in its source, by the names that each has from then on; iter: what the loop goes over, by
    these names; sizes: of everything that has items the function that counts them, and the slice of its parts; extents: names of parts that may be tuples
    of extents."""

    def __init__(self, node, own=None):
        self.own = next(_numbers) if own is None else own
        self.parts, self.sizes, self.extents = {}, [], set()
        self.iter = self._split(node)

    def count(self, parts):
        """How many items there are; None where machine code does not go over these."""
        found = [count(*parts[of]) for count, of in self.sizes]
        return None if None in found else min(found)

    def _split(self, node):
        node = by_place(node)
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords and node.args
        if named and not any(isinstance(a, ast.Starred) for a in node.args):
            if node.func.id in _OF_SEQUENCES:
                many = len(node.args) if node.func.id == "zip" else 1
                args = [*map(self._split, node.args[:many]), *map(self._part, node.args[many:])]
                return ast.copy_location(ast.Call(copied(node.func), args, []), node)
            if is_range(node):
                return self._call(_of_range, node)
        if combined.name_of(node) is not None and (found := combined.split(node)) is not None:
            return self._combined(node, *found)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords:
            name, several = node.func.attr, len(node.args)
            if name in _VIEWS and not several:
                first = len(self.parts)
                of = ast.copy_location(ast.Attribute(self._part(node.func.value), name, ast.Load()), node)
                self.sizes.append((_of_dict, slice(first, first + 1)))
                return ast.copy_location(ast.Call(of, [], []), node)
            if name == "ndenumerate" and several == 1 and isinstance(node.func.value, ast.Name):
                return self._call(_of_elements, node)
            if name == "ndindex" and (several == 1 or several and not any(isinstance(a, ast.Starred) for a in node.args)) and isinstance(node.func.value, ast.Name):
                made = self._call(_of_indices, node)
                self.extents |= {n.id for n in ast.walk(made) if isinstance(n, ast.Name) and n.id in self.parts}
                return made
        first = len(self.parts)
        self.sizes.append((_of_sequence, slice(first, first + 1)))
        return self._part(node)

    def _combined(self, node, sequences, times):
        """product() of sequences and the like: how many items these have says how many it has."""
        first, before, args = len(self.parts), len(self.sizes), []
        for x in sequences:
            args.append(self._split(x))
        sizes, self.sizes[before:] = [(count, slice(of.start - first, of.stop - first)) for count, of in self.sizes[before:]], []
        name = combined.name_of(node)

        def count(*parts):
            found = [count(*parts[of]) for count, of in sizes]
            return None if None in found else combined.count_of(name, found, times)

        self.sizes.append((count, slice(first, len(self.parts))))
        rest = [copied(a) for a in node.args[len(sequences) :]]
        return ast.copy_location(ast.Call(copied(node.func), [*args, *rest], [copied(k) for k in node.keywords]), node)

    def _call(self, count, node):
        first, args = len(self.parts), []
        for a in node.args:
            starred = isinstance(a, ast.Starred)
            part = self._part(a.value if starred else a)
            args.append(ast.copy_location(ast.Starred(part, ast.Load()), a) if starred else part)
        self.sizes.append((count, slice(first, len(self.parts))))
        return ast.copy_location(ast.Call(copied(node.func), args, []), node)

    def _part(self, node):
        name = f".over{self.own}.{len(self.parts)}"
        self.parts[name] = node
        return ast.copy_location(ast.Name(name, ast.Load()), node)
