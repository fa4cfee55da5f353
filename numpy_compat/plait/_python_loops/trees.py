"""Trees of Python's source. What ast.walk() and copy.deepcopy() do takes most of the time that loops are read in."""

import ast


def nodes(tree):
    """All nodes of a tree, those around others first."""
    found = [tree]
    for node in found:  # which grows
        held = vars(node)
        for field in node._fields:
            x = held.get(field)
            if isinstance(x, ast.AST):
                found.append(x)
            elif type(x) is list:
                found += [n for n in x if isinstance(n, ast.AST)]
    return found


def has_break(statements):
    """Whether a loop of these statements may be left by `break`."""
    for s in statements:
        inside = (s.orelse,) if isinstance(s, (ast.For, ast.While)) else (getattr(s, "body", ()), getattr(s, "orelse", ()))
        if isinstance(s, ast.Break) or any(map(has_break, inside)):
            return True
    return False


def names(tree, how):
    """The names that are read or stored there, as `how` says: one for each time."""
    found = nodes(tree)
    named = [n.id for n in found if type(n) is ast.Name and type(n.ctx) is how]
    if how is ast.Store:
        named += [n.name for n in found if type(n) in (ast.MatchAs, ast.MatchStar, ast.ExceptHandler) and n.name]
        named += [(n.asname or n.name.partition(".")[0]) for n in found if type(n) is ast.alias]
    return named


def copied(tree):
    """Another tree that is the same."""
    made = type(tree).__new__(type(tree))
    vars(made).update((k, x if isinstance(x, (str, int, type(None))) else _copied(x)) for k, x in vars(tree).items())
    return made


def _copied(x):
    if isinstance(x, ast.AST):
        return copied(x) if x._fields else x
    return [_copied(e) for e in x] if type(x) is list else x
