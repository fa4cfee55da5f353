"""Of which arguments a function takes numbers alone, where they are arrays: one element after the other, and no array is computed."""

import ast
import weakref

from .reading import tree_of

ANY = -1  # axes: the function asks for sizes at most
_SIZES = "shape", "size", "ndim", "dtype"
# Builtins that go through a sequence.
_THROUGH = "all", "any", "enumerate", "filter", "iter", "list", "map", "max", "min", "reversed", "set", "sorted", "sum", "tuple", "zip"


class _Uses(ast.NodeVisitor):
    """How many axes each name has where its elements are named; no key for names of which more is done."""

    def __init__(self, names):
        self.axes = dict.fromkeys(names, ANY)

    def has(self, node, axes):
        """Whether the node is one of the names, which is an array of so many axes then."""
        if not isinstance(node, ast.Name) or node.id not in self.axes:
            return False
        if axes != ANY:
            if self.axes[node.id] not in (ANY, axes):
                del self.axes[node.id]
            else:
                self.axes[node.id] = axes
        return True

    def visit_Name(self, node):
        self.axes.pop(node.id, None)

    def visit_Subscript(self, node):
        named, inside = 0, node
        while isinstance(inside, ast.Subscript):
            parts = inside.slice.elts if isinstance(inside.slice, ast.Tuple) else [inside.slice]
            for part in parts:
                if isinstance(part, (ast.Slice, ast.Starred, ast.List, ast.ListComp)) or isinstance(part, ast.Constant) and type(part.value) is not int:
                    return self.generic_visit(node)
                self.visit(part)
            named += len(parts)
            inside = inside.value
        if not self.has(inside, named):
            self.visit(inside)

    def visit_Attribute(self, node):
        if node.attr not in _SIZES or not self.has(node.value, ANY):
            self.visit(node.value)

    def visit_Call(self, node):
        name = node.func.id if isinstance(node.func, ast.Name) else None
        axes = ANY if name == "len" else 1 if name in _THROUGH else None
        for x in (node.func, *node.args, *(k.value for k in node.keywords)):
            if axes is None or not self.has(x, axes):
                self.visit(x)

    def visit_For(self, node):
        if not self.has(node.iter, 1):
            self.visit(node.iter)
        for x in (node.target, *node.body, *node.orelse):
            self.visit(x)

    def visit_comprehension(self, node):
        if not self.has(node.iter, 1):
            self.visit(node.iter)
        for x in (node.target, *node.ifs):
            self.visit(x)

    def visit_Return(self, node):
        for x in node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] if node.value else []:
            if not self.has(x, ANY):
                self.visit(x)

    def visit_Compare(self, node):
        if not (all(isinstance(o, (ast.Is, ast.IsNot)) for o in node.ops) and self.has(node.left, ANY)):
            self.visit(node.left)
        for x in node.comparators:
            self.visit(x)


_known = weakref.WeakKeyDictionary()


def axes_of(function):
    """For each parameter, in their order, how many axes an array has of which the function takes numbers alone (ANY: whichever); None where it does
    more."""
    if not {"len", *_THROUGH}.isdisjoint(function.__globals__):
        return ()
    found = _known.get(function)
    if found is None:
        tree = tree_of(function)
        names = [x.arg for x in (*tree.args.posonlyargs, *tree.args.args)] if tree else []
        uses = _Uses(names)
        for s in tree.body if tree else ():
            uses.visit(s)
        found = _known[function] = tuple(uses.axes.get(n) for n in names)
    return found
