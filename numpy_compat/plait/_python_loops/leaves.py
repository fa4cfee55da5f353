"""How a loop is left, and what is stored in it."""

import ast

from .trees import names, nodes


class Leaves(ast.NodeVisitor):
    """Whether a loop's own body has `break` and `continue`; the names that are stored in it, and of those the ones that an array does not keep, as its elements
    change alone."""

    def __init__(self, loop):
        self.breaks = self.continues = False
        self.stored = {*names(loop, ast.Store)}
        changed = {id(n.target) for n in nodes(loop) if isinstance(n, ast.AugAssign)}
        self.bound = {n.id for n in nodes(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) not in changed}
        for s in loop.body:
            self.visit(s)

    def visit_Break(self, _):
        self.breaks = True

    def visit_Continue(self, _):
        self.continues = True

    def visit_For(self, s):
        for inner in s.orelse:
            self.visit(inner)

    visit_While = visit_For

    def visit_FunctionDef(self, _):
        pass
