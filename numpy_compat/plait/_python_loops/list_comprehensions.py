"""Comprehensions that make lists, sets and dicts in a compiled loop."""

import ast

from .comprehensions import OWN, loops_of


def of_comprehension(lowering, node):
    """[... for ... in ...]"""
    return filled(lowering, lowering.new_list(node), node.elt, node)


def filled(lowering, made, item, node):
    """A list or a set of a comprehension's items, or a dict of its pairs."""
    key = "appends", node
    if key not in lowering.facts.said:
        each = ast.fix_missing_locations(ast.copy_location(Appended(item), node))
        lowering.facts.said[key] = each, loops_of(node, [each])
        for s in lowering.facts.said[key][1]:
            ast.fix_missing_locations(s)
    each, loops = lowering.facts.said[key]
    each.to = made
    before = dict(lowering.env)
    lowering.block(loops)
    lowering.env = {k: b for k, b in lowering.env.items() if k in before}
    return made


class Appended(ast.stmt):
    """An element of a comprehension."""

    _fields = ("item",)


def over(node):
    """The call sum(v for v in x) for sum(x)."""
    name = f"v{OWN}{OWN}{node.lineno}.{node.col_offset}"
    item = ast.Name(name, ast.Load())
    each = ast.GeneratorExp(item, [ast.comprehension(ast.Name(name, ast.Store()), node.args[0], [], 0)])
    return ast.fix_missing_locations(ast.copy_location(ast.Call(node.func, [each, *node.args[1:]], []), node))
