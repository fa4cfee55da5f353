"""Places in a program's source: what an instruction of a code object belongs to."""

import ast
import dis
import linecache
import os
import sys

_SHORT = 48  # characters of an expression that stands for a name
# The instruction, and its argument, that reads an item: since Python 3.14 one of the binary operators.
ITEM = next((s.opcode, s.arg or 0) for s in dis.get_instructions(lambda a, b: a[b]) if s.opname.startswith("BINARY_"))


class Source:
    """Source files, each read once."""

    def __init__(self):
        self.files = {}

    def describe(self, code, instruction):
        """(the place, the name that the value gets there or its expression, the line's text); what is not known is empty."""
        file, line, text = self.line(code, instruction)
        return place(file, line), self._name(code, instruction), text

    def line(self, code, instruction):
        """(the file as it is shown, the number of the line, its text)."""
        line, *_ = _position(code, instruction)
        return shown(code.co_filename), line, linecache.getline(code.co_filename, line or 0).strip()

    def around(self, code, instruction):
        """(the expression or statement there or None, what holds it: the nearest first)."""
        node = self._node(code, instruction)
        holders, at = [], node
        while at is not None and (at := getattr(at, "_parent", None)) is not None:
            holders.append(at)
        return node, holders

    @staticmethod
    def text(node):
        return _text(node)

    def called(self, code, instruction):
        """The function that the instruction calls, as it is written there."""
        node = self._node(code, instruction)
        return _text(node.func) if isinstance(node, ast.Call) else ""

    def _name(self, code, instruction):
        node = self._node(code, instruction)
        if node is None or isinstance(node, ast.For):
            return ""
        parent = getattr(node, "_parent", None)
        if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
            return _text(parent.targets[0])
        if isinstance(parent, (ast.AnnAssign, ast.NamedExpr)) and parent.value is node:
            return _text(parent.target)
        if isinstance(node, ast.AugAssign):
            return _text(node.target)
        return _text(node)

    def _node(self, code, instruction):
        """The expression or statement whose text the instruction's position is."""
        position = _position(code, instruction)
        if None in position:
            return None
        if code.co_filename not in self.files:
            self.files[code.co_filename] = _index(code.co_filename)
        return self.files[code.co_filename].get(position)


def _position(code, instruction):
    """(line, end line, column, end column), as far as the code object knows."""
    for i, position in enumerate(code.co_positions()):
        if i == instruction // 2:
            return position
    return None, None, None, None


_INDICES = {}  # of the files read last: their lines and nodes
_FILES = 8


def _index(file):
    """The outermost node of each extent in a file, which is parsed again when linecache has other lines of it."""
    lines = linecache.getlines(file)
    known = _INDICES.get(file)
    if not lines:
        return {}
    if known is not None and known[0] is lines:
        return known[1]
    nodes = _nodes(lines)
    while len(_INDICES) >= _FILES:
        _INDICES.pop(next(iter(_INDICES), None), None)
    _INDICES[file] = lines, nodes
    return nodes


def _nodes(lines):
    nodes = {}
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return nodes
    for node in ast.walk(tree):  # parents first
        for child in ast.iter_child_nodes(node):
            child._parent = node
        if isinstance(node, (ast.expr, ast.AugAssign, ast.For)):
            nodes.setdefault((node.lineno, node.end_lineno, node.col_offset, node.end_col_offset), node)
    return nodes


_CELL = "Cell "


def _cell(file):
    """The number of the cell of IPython's that was compiled under this name, or None."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    known = getattr(getattr(shell, "compile", None), "_filename_map", None)
    return known.get(file) if isinstance(known, dict) else None


def _text(node):
    text = ast.unparse(node)
    return text if len(text) <= _SHORT else text[: _SHORT - 3] + "..."


def place(file, line):
    """Where that is, in words: "file.py:3", of a notebook's cell "Cell 5, line 3"."""
    return f"{file}, line {line}" if file.startswith(_CELL) else f"{file}:{line}"


def shown(file):
    """A file's name as it is shown: a notebook's cell by its number, others from the current folder on where they are inside."""
    cell = _cell(file)
    if cell is not None:
        return f"{_CELL}{cell}"
    inside = os.path.relpath(file) if os.path.isabs(file) else file
    return file if inside.startswith("..") else inside
