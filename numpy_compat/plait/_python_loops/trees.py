"""Trees of Python's source. What ast.walk() and copy.deepcopy() do takes most of the time that loops are read in."""

import ast


# Texts and numbers, and what stands for operators and for how a name is used: one object each in all trees, which nobody looks for.
_NO_NODES = {"id", "ctx", "op", "ops", "attr", "asname", "module", "level", "kind", "type_comment", "is_async", "conversion"}
_FIELDS = {ast.Constant: ()}  # classes of nodes -> the fields that may have nodes


def nodes(tree):
    """All nodes of a tree but those of operators and contexts, those around others first."""
    found = [tree]
    for node in found:  # which grows
        fields = _FIELDS.get(type(node))
        if fields is None:
            fields = _FIELDS[type(node)] = [f for f in node._fields if f not in _NO_NODES]
        for field in fields:
            x = getattr(node, field, None)
            if type(x) is list:
                found += [n for n in x if isinstance(n, ast.AST)]
            elif isinstance(x, ast.AST):
                found.append(x)
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


def copied(tree, renamed=None):
    """Another tree that is the same, but that renamed() says what its names are."""
    made = type(tree).__new__(type(tree))
    held = vars(made)
    for field, x in vars(tree).items():
        held[field] = x if type(x) in _PLAIN else _copied(x, renamed)
    if renamed is not None and type(tree) is ast.Name:
        held["id"] = renamed(tree.id)
    return made


_PLAIN = {int, str, type(None)}


def _copied(x, renamed):
    if isinstance(x, ast.AST):
        return copied(x, renamed) if x._fields else x
    return [_copied(e, renamed) for e in x] if type(x) is list else x


def once(statements, first, last):
    """for .once in range(1): statements, which is compiled as a whole and shown as their first; at the places of what is first and last."""
    at = {"lineno": first.lineno, "col_offset": first.col_offset, "end_lineno": last.end_lineno, "end_col_offset": last.end_col_offset}
    numbers = ast.Call(ast.Name("range", ast.Load(), **at), [ast.Constant(1, **at)], [], **at)
    loop = ast.For(ast.Name(".once", ast.Store(), **at), numbers, statements, [], None, **at)
    loop.shown = statements[0]
    return loop
