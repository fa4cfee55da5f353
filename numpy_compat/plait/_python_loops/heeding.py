"""Which of NumPy's warnings are heard in a compiled loop: `with np.errstate(divide="ignore")`."""

import ast

from .types import NotCompiled

KINDS = {"divide": "divide", "invalid": "invalid", "overflow": "over"}  # first words of warnings -> names of errstate()
_OTHERS = {"under"}


def ignored_by(lowering, item, ignored):
    """The kinds of warnings that are not heard inside a `with`, of those around it."""
    call = item.context_expr
    if item.optional_vars is not None or not isinstance(call, ast.Call) or call.args or not _is_errstate(lowering.evaluate(call.func)):
        raise NotCompiled("a `with` of something else than np.errstate()", call)
    ignored = set(ignored)
    for k in sorted(call.keywords, key=lambda k: k.arg != "all"):
        how = k.value.value if isinstance(k.value, ast.Constant) else None
        kinds = {*KINDS.values()} if k.arg == "all" else {k.arg} - _OTHERS
        if how != "ignore" and (how != "warn" or kinds & ignored):
            raise NotCompiled("np.errstate() that does more than to ignore warnings", call)
        if how == "ignore":
            ignored |= kinds
    return frozenset(ignored)


def _is_errstate(fn):
    return getattr(fn, "__name__", "") == "errstate" and str(getattr(fn, "__module__", "")).partition(".")[0] in ("numpy", "plait")
