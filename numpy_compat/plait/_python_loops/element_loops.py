"""The loops that compute the elements of a comprehension which stands outside of a function's loops."""

import ast

from .comprehensions import loops_of

ELEMENTS, TAGS, ORIGIN, APPEND = " elements", " tags", " origin", ".items.append"


class Element(ast.stmt):
    """Puts an element behind the others."""

    _fields = ("item",)


def loop_of(node):
    """The loop that computes the elements of a scoped comprehension, one after the other."""
    element = ast.copy_location(Element(node.elt), node)
    return ast.fix_missing_locations(loops_of(node, [element])[0])


def is_plain(loop):
    """Whether each iteration makes one element."""
    return len(loop.body) == 1 and isinstance(loop.body[0], Element)
