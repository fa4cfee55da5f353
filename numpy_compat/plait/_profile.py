"""plait.profile(): where a program's time goes, line by line, from the spans that a trace has."""

import ast
import dataclasses
import sys
import time

from . import _plait
from ._source import Source, place

_LINES = 20  # of the table and of what would help, together
_MOST_ADVICE = 6
_PLACE = 40  # characters of a file's name and a line
_MANY, _LONG = 10, 1000  # values asked for one by one; elements that are taken one by one
_COLUMN = {"region": "computing", "operation": "computing", "evaluation": "planning", "plan": "planning", "compile": "planning",
           "fallback": "numpy", "transfer": "copying"}  # fmt: skip
_MADE = "region", "operation", "evaluation"  # what arrays come from
_TIMES = "computing", "planning", "numpy", "copying"
_HEADINGS = ("ms", "computing", "planning", "NumPy", "copying", "MB moved", "MB made", "values", "elements", "line", "")
_REDUCTIONS = ("all", "any", "max", "min", "sum")  # builtins that NumPy has, too
_LISTS = ("list", "tuple", "set", "sorted", "enumerate", "zip", "map", "tolist")
_CONVERSIONS = ("float", "int", "bool", "complex", "str", "repr", "print", "format", "item")


@dataclasses.dataclass
class Row:
    """A line of the program; times are seconds. Line 0 is what no line is known of."""

    file: str
    line: int
    text: str
    computing: float = 0.0  # regions and operations that compute this line's values
    planning: float = 0.0  # planning, waiting for the compiler, and the rest of evaluations that this line asked for
    numpy: float = 0.0  # functions that NumPy computed
    copying: float = 0.0  # between the host and devices
    bytes: int = 0  # moved by regions and copies
    memory: int = 0  # bytes by which the memory of Plait's arrays grew while the line's values were computed; below 0: it shrank
    evaluations: int = 0  # times that a value was needed
    elements: int = 0  # of these values
    calls: dict = dataclasses.field(default_factory=dict)  # of NumPy's function: (how often, seconds)
    advice: list = dataclasses.field(default_factory=list)

    @property
    def seconds(self):
        return self.computing + self.planning + self.numpy + self.copying


class profile:
    """A `with` block whose time is told line by line: computing, planning, NumPy, and values that were needed.

    quiet: nothing is printed at the end, which goes to standard error otherwise. Then `text` is what is printed: at most 20 lines
    below the sum, of lines by their time, and what would help. `rows` has all lines as data, with `file`, `line`, `text`,
    `seconds`, `computing`, `planning`, `numpy`, `copying`, `bytes`, `memory`, `evaluations`, `elements`, `calls` and `advice`; `seconds` is
    the time of the block, `beside` that of planning and compiling on threads of their own. `python -m plait --profile script.py`
    is the same of a whole program.
    """

    def __init__(self, *, quiet=False):
        self._quiet = quiet
        self._number = None
        self.text, self.rows, self.seconds, self.beside = "", [], 0.0, 0.0

    def __enter__(self):
        if self._number is not None:
            raise RuntimeError("this profile is open")
        self._began = time.perf_counter()
        self._number = _plait.profile_start(False)
        return self

    def __exit__(self, *exception):
        number, self._number = self._number, None
        if number is None:
            raise RuntimeError("this profile is complete")
        self.seconds = time.perf_counter() - self._began
        self.rows, self.beside = rows_of(_plait.profile_finish(number))
        self.text = _table(self)
        if not self._quiet:
            print(self.text, file=sys.stderr)

    def __repr__(self):
        return f"<profile of {self.seconds:.3f} s, {len(self.rows)} lines>"


def add_up(sums, more):
    """Adds what profile_finish() gives to sums, a dict by category, site and name."""
    for category, site, name, *values in more:
        known = sums.setdefault((category, site, name), [0] * len(values))
        known[:] = map(sum, zip(known, values))


def advice_of(source, found, count, elements):
    """What would help where values were asked for so often, of so many elements together, or None. found: the code object and the instruction."""
    node, parents = source.around(*found)
    return None if node is None else _of_value(*_asks(node, parents, elements // count), count, elements)


def rows_of(sums):
    """The lines, those that took longest first, and the seconds of what runs on threads of its own."""
    source, rows, beside = Source(), {}, 0.0
    asked = {}  # by row and expression: [row, the expression, what holds it, how often, elements]
    for category, site, name, count, nanoseconds, bytes, elements, grown in sums:
        found = _plait.site(site)
        if found is None and category in ("plan", "compile"):
            beside += nanoseconds / 1e9
            continue
        file, line, text = source.line(*found) if found else ("", 0, "what no line is known of")
        where = file, line or 0
        row = rows.setdefault(where, Row(*where, text))
        column, seconds = _COLUMN[category], nanoseconds / 1e9
        setattr(row, column, getattr(row, column) + seconds)
        row.bytes += bytes
        row.memory += grown if category in _MADE else 0
        if category == "fallback":
            before = row.calls.get(name, (0, 0.0))
            row.calls[name] = before[0] + count, before[1] + seconds
        if category == "evaluation":
            row.evaluations += count
            row.elements += elements
            node, parents = source.around(*found) if found else (None, [])
            if node is not None:
                node, parent = _asks(node, parents, elements // count)
                of = asked.setdefault((where, id(node)), [row, node, parent, 0, 0])
                of[3] += count
                of[4] += elements
    for row, *of in asked.values():
        if advice := _of_value(*of):
            row.advice.append(advice)
    for row in rows.values():
        for name, (count, seconds) in row.calls.items():
            row.advice.append(f"{name} is NumPy's, {_times(count)}, {seconds * 1e3:.1f} ms: what it reads and gives is in memory, and nothing is fused with it")
    return sorted(rows.values(), key=lambda row: -row.seconds), beside


def _asks(node, parents, elements):
    """(the expression that needs a value there, what holds it): around one of few elements, the `if` or float() that it is for."""
    if elements >= _LONG:
        return node, parents[0] if parents else None
    inner = node
    for outer in parents:
        if isinstance(inner, ast.Call) and _called(inner) in _CONVERSIONS:
            return inner, outer
        if isinstance(outer, (ast.If, ast.While, ast.IfExp, ast.Assert)) and outer.test is inner:
            return inner, outer
        if not isinstance(outer, ast.expr):
            break
        inner = outer
    return node, parents[0] if parents else None


def _called(call):
    return call.func.id if isinstance(call.func, ast.Name) else call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _of_value(node, parent, count, elements):
    """What would help where a value is needed at the node, or None."""
    iterated = _iterated(node, parent)
    text, taken = Source.text(iterated or node), f"{elements:,} elements"
    name = _called(node) if isinstance(node, ast.Call) else ""
    if elements // count >= _LONG:
        if name in _REDUCTIONS and isinstance(node.func, ast.Name):
            return f"`{text}` takes {taken} one by one: np.{name} is a loop of machine code"
        if name in _LISTS:
            return f"`{text}` makes objects of Python's of {taken}: index or reduce the array instead"
        if iterated:
            return f"the loop over `{text}` takes {taken} one by one: compute with the whole array, or compile the loop with plait.jit"
    if count < _MANY:
        return None
    if isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)) and parent.test is node:
        word = type(parent).__name__.lower().removesuffix("exp")
        return f"`{word} {text}` needs its value {_times(count)}: np.where keeps both ways in arrays, and plait.jit compiles loops"
    if name in _CONVERSIONS or isinstance(parent, ast.FormattedValue):
        return f"`{text}` needs a value {_times(count)}: keep the arrays, and ask for all values at once behind the loop"
    size = "one element" if elements == count else f"{elements // count:,} elements"
    return f"`{text}` is computed {_times(count)}, {size} each: plait.jit replays what stays the same"


def _iterated(node, parent):
    """What a loop at the node goes over, or None. The instruction that begins it has the position of the loop, or that of this."""
    if isinstance(node, ast.For):
        return node.iter
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return node.generators[0].iter
    return node if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node else None


def _times(n):
    return "once" if n == 1 else f"{n:,} times"


def _place(row):
    where = place(row.file, row.line) if row.line else ""
    return where if len(where) <= _PLACE else "..." + where[3 - _PLACE :]


def columns(rows, room):
    """The rows as lines of text below headings, so many at most, and what others take."""
    if not rows:
        return []
    shown = rows[:room]
    cells = [_HEADINGS]
    for row in shown:
        times = [row.seconds, *(getattr(row, name) for name in _TIMES)]
        megabytes = [f"{n / 1e6:,.1f}" if n else "" for n in (row.bytes, row.memory)]
        counts = [f"{n:,}" if n else "" for n in (row.evaluations, row.elements)]
        cells.append((*(f"{t * 1e3:,.1f}" if t else "" for t in times), *megabytes, *counts, _place(row), row.text[:80]))
    last = len(_HEADINGS) - 2
    widths = [max(len(line[i]) for line in cells) for i in range(last)]
    used = [i for i in range(last) if any(line[i] for line in cells[1:])]
    width = max(len(line[last]) for line in cells)
    text = [("  ".join([*(line[i].rjust(widths[i]) for i in used), line[last].ljust(width), line[last + 1]])).rstrip() for line in cells]
    if len(rows) > len(shown):
        text.append(f"and {len(rows) - len(shown)} more, {sum(row.seconds for row in rows[len(shown):]) * 1e3:,.1f} ms")
    return text


def _table(of):
    rows = of.rows
    total = Row("", 0, "")
    for row in rows:
        for name in (*_TIMES, "bytes", "memory", "evaluations", "elements"):
            setattr(total, name, getattr(total, name) + getattr(row, name))
    rest = max(of.seconds - total.seconds, 0.0)
    text = [
        f"plait.profile: {of.seconds * 1e3:,.1f} ms; computing {total.computing * 1e3:,.1f}, planning and compiling {total.planning * 1e3:,.1f}, "
        f"NumPy {total.numpy * 1e3:,.1f}" + (f", copying {total.copying * 1e3:,.1f}" if total.copying else "") + f", Python and all else {rest * 1e3:,.1f}"
        + (f"; beside it, on other threads, planning and compiling {of.beside * 1e3:,.1f}" if of.beside >= 5e-5 else "")
    ]  # fmt: skip
    advice = [f"{_place(row)}: {a}" for row in rows for a in row.advice]
    left_out = max(len(advice) - _MOST_ADVICE, 0)
    advice = advice[:_MOST_ADVICE]
    room = _LINES - len(advice) - bool(left_out) - 2  # the headings, and how many lines follow
    text += columns(rows, room)
    text += advice
    if left_out:
        text.append(f"and {left_out} more that would help: see rows")
    return "\n".join(text)
