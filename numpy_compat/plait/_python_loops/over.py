"""What a `for` or a comprehension goes over that is no range: arrays, lists and tuples of numbers, and zip(), enumerate() and reversed() of those. Machine
code counts their items."""

import ast
import itertools

from .trees import copied

_OF_SEQUENCES = {"zip", "enumerate", "reversed"}
_numbers = itertools.count()


def is_range(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range" and not node.keywords


def by_place(node):
    """enumerate(x, 1) for enumerate(x, start=1)"""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "enumerate" and len(node.args) == 1:
        if [k.arg for k in node.keywords] == ["start"]:
            return ast.copy_location(ast.Call(node.func, [*node.args, node.keywords[0].value], []), node)
    return node


class Over:
    """parts: what Python computes before the loop, as it has it in its source, by the names that each has from then on; iter: what the loop goes over, by
    these names; sizes: for each sequence the number of its part, and for each range the slice of its parts."""

    def __init__(self, node, own=None):
        self.own = next(_numbers) if own is None else own
        self.parts, self.sizes = {}, []
        self.iter = self._split(node)

    def _split(self, node):
        node = by_place(node)
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords and node.args
        if named and not any(isinstance(a, ast.Starred) for a in node.args):
            if node.func.id in _OF_SEQUENCES:
                many = len(node.args) if node.func.id == "zip" else 1
                args = [*map(self._split, node.args[:many]), *map(self._part, node.args[many:])]
                return ast.copy_location(ast.Call(copied(node.func), args, []), node)
            if is_range(node):
                first = len(self.parts)
                made = ast.copy_location(ast.Call(copied(node.func), [*map(self._part, node.args)], []), node)
                self.sizes.append(slice(first, len(self.parts)))
                return made
        self.sizes.append(len(self.parts))
        return self._part(node)

    def _part(self, node):
        name = f".over{self.own}.{len(self.parts)}"
        self.parts[name] = node
        return ast.copy_location(ast.Name(name, ast.Load()), node)
