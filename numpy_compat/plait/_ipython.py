"""%load_ext plait: what Plait adds to IPython and to notebooks."""

import types

from . import _timeit


def load_ipython_extension(ipython):
    """What `%load_ext plait` calls: gives IPython, and a notebook, the magic %plait_timeit.

    `%plait_timeit x + 1` times an expression or a statement with all of its values computed, and beside it the same with NumPy; as
    %%plait_timeit the rest of a cell. `t = %plait_timeit x + 1` has what plait.timeit returns.
    """

    def plait_timeit(line, cell=None):
        """Times an expression or statements with their values computed: the first time, later, and with NumPy."""
        return timed(line if cell is None else f"{line}\n{cell}".strip("\n"), ipython.user_ns)

    ipython.register_magic_function(plait_timeit, "line_cell", "plait_timeit")


def timed(text, scope):
    """The Timing of a text of Python's in this namespace, which it does not change. Raises SyntaxError."""
    try:
        code = compile(text.strip(), "<plait_timeit>", "eval")
    except SyntaxError:
        code = compile(text, "<plait_timeit>", "exec")
    theirs = {**scope, **{name: _timeit.numpys_of(scope[name]) for name in _names(code) if name in scope}}
    return _timeit.measured(lambda: eval(code, dict(scope)), lambda: eval(code, dict(theirs)))


def _names(code):
    """The names that a code object, and those in it, look up outside."""
    return {*code.co_names}.union(*(_names(c) for c in code.co_consts if isinstance(c, types.CodeType)))
