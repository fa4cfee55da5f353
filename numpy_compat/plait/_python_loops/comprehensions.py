"""Comprehensions and generator expressions: the names that they have for themselves, and the loops that stand for them."""

import ast

from .trees import names, nodes
from .types import NotCompiled

COMPREHENSIONS = ast.ListComp, ast.GeneratorExp
OWN = ";"  # in names that a comprehension has for itself


class _Scoped(ast.NodeTransformer):
    def __init__(self):
        self.renamed, self.number = {}, 0

    def visit_Name(self, node):
        node.id = self.renamed.get(node.id, node.id)
        return node

    def comprehension(self, node):
        outer, first = self.renamed, node.generators[0]
        first.iter = self.visit(first.iter)
        self.number += 1
        targets = {n.id for g in node.generators for n in nodes(g.target) if isinstance(n, ast.Name)}
        self.renamed = outer | {name: f"{name}{OWN}{self.number}" for name in targets}
        for g in node.generators:
            g.target, g.ifs = self.visit(g.target), [self.visit(test) for test in g.ifs]
            if g is not first:
                g.iter = self.visit(g.iter)
        for field in ("key", "value") if isinstance(node, ast.DictComp) else ("elt",):
            setattr(node, field, self.visit(getattr(node, field)))
        self.renamed = outer
        return node

    visit_ListComp = visit_GeneratorExp = visit_SetComp = visit_DictComp = comprehension


def scoped(tree):
    """The tree, in which names that comprehensions have for themselves are no others'."""
    return _Scoped().visit(tree)


def stored(tree):
    """The names that a scoped tree stores to, one for each time, but those of comprehensions."""
    return [name for name in names(tree, ast.Store) if OWN not in name]


def loops_of(node, each):
    """The loops of a comprehension, around the statements `each`."""
    if any(g.is_async for g in node.generators):
        raise NotCompiled("an asynchronous comprehension", node)
    for g in reversed(node.generators):
        for test in reversed(g.ifs):
            each = [ast.copy_location(ast.If(test, each, []), test)]
        each = [ast.copy_location(ast.For(g.target, g.iter, each, [], None), node)]
    return each
