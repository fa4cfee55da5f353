"""Jitted functions that are loops and numbers alone: where their loops run in machine code, a call has nothing to record, and the function runs on the
caller's arrays themselves, with NumPy in its globals."""

import ast
import builtins
import math
import types

import numpy

from .._functions import contents
from .._plait import DirectCall
from .over import Over, is_range
from .reading import tree_of
from .running import Loop
from .source import outside_names, why_not
from .trees import nodes

_OF_NUMBERS = "abs", "bool", "float", "int", "len", "max", "min", "range", "round"  # builtins that make or take them
_OF_ARRAYS = "shape", "size", "ndim"
_MAKE = "empty", "ones", "zeros", "full", "empty_like", "ones_like", "zeros_like"


class _NotPlain(Exception):
    pass


class _Plain:
    """Whether a function has no array expressions outside of its loops. `numbers`: its parameters that are to be numbers for that."""

    def __init__(self, tree, function):
        self.globals = function.__globals__
        a = tree.args
        if a.vararg or a.kwarg or a.kwonlyargs or outside_names(tree):
            raise _NotPlain
        self.parameters = [x.arg for x in (*a.posonlyargs, *a.args)]
        self.own = {*self.parameters, *(n.id for n in nodes(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))}
        self.arrays = set()  # names of arrays and lists that it makes
        self.numbers = set()
        for s in tree.body:
            self.statement(s)
        if self.numbers & self.arrays:
            raise _NotPlain

    def statement(self, s):
        if isinstance(s, (ast.For, ast.While)):
            if why_not(s, set()) is not None:
                raise _NotPlain
            if isinstance(s, ast.For):
                self.over(s.iter)
        elif isinstance(s, ast.Assign):
            if len(s.targets) > 1 or not isinstance(s.targets[0], (ast.Name, ast.Tuple, ast.Subscript)):
                raise _NotPlain
            self.store(s.targets[0], s.value)
        elif isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            self.number(s.target)
            self.number(s.value)
        elif isinstance(s, ast.If):
            self.number(s.test)
            for inner in (*s.body, *s.orelse):
                self.statement(inner)
        elif isinstance(s, ast.Return):
            parts = s.value.elts if isinstance(s.value, ast.Tuple) else [s.value] if s.value is not None else []
            for part in parts:
                if not isinstance(part, ast.Name):
                    self.number(part)
        elif not isinstance(s, ast.Pass) and not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)):
            raise _NotPlain

    def over(self, e):
        """What a loop goes over: numbers of ranges, and arrays and lists."""
        if is_range(e):
            return [*map(self.number, e.args)]
        for part in Over(e).parts.values():
            if not (isinstance(part, ast.Name) and part.id in self.own):
                self.number(part)
        if not {n.id for n in nodes(e) if isinstance(n, ast.Name)}.isdisjoint({*self.globals} - {*self.own}):
            raise _NotPlain

    def store(self, target, value):
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for t, v in zip(target.elts, value.elts):
                self.store(t, v)
        elif isinstance(target, ast.Tuple):
            if not all(isinstance(t, ast.Name) for t in target.elts) or not self.is_shape(value):
                raise _NotPlain
        elif isinstance(target, ast.Subscript):
            self.element(target)
            self.number(value)
        elif isinstance(target, ast.Name) and self.makes(value):
            self.arrays.add(target.id)
        elif isinstance(target, ast.Name):
            self.number(value)
        else:
            raise _NotPlain

    def makes(self, e):
        """Whether it makes an array of NumPy's, or a list of numbers."""
        if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mult) and isinstance(e.left, ast.List):
            return self.makes(e.left) and self.is_number(e.right)
        if isinstance(e, ast.List):
            return all(map(self.is_number, e.elts))
        f = e.func if isinstance(e, ast.Call) else None
        if not (isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.attr in _MAKE and f.value.id not in self.own):
            return False
        computed = (n for a in e.args for n in nodes(a) if isinstance(n, (ast.Call, ast.BinOp)))
        return self.globals.get(f.value.id) is numpy and all(map(self.is_number, computed))

    def is_of_math(self, e):
        return isinstance(e, ast.Attribute) and isinstance(e.value, ast.Name) and e.value.id not in self.own and self.globals.get(e.value.id) is math

    def is_shape(self, e):
        return isinstance(e, ast.Attribute) and e.attr == "shape" and isinstance(e.value, ast.Name)

    def element(self, e):
        if not isinstance(e.value, ast.Name) or e.value.id not in self.own:
            raise _NotPlain
        for i in e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]:
            self.number(i)

    def is_number(self, e):
        try:
            self.number(e)
        except _NotPlain:
            return False
        return True

    def number(self, e):
        """An expression of numbers. NumPy's and Plait's are the same."""
        if isinstance(e, ast.Name):
            if e.id in self.own:
                self.numbers.add(e.id)
            elif type(self.globals.get(e.id)) not in (int, float, bool):
                raise _NotPlain
        elif self.is_of_math(e):
            pass
        elif isinstance(e, ast.Attribute):
            if e.attr not in _OF_ARRAYS or not isinstance(e.value, ast.Name):
                raise _NotPlain
        elif isinstance(e, ast.Subscript):
            if not self.is_shape(e.value):
                self.element(e)
            elif not isinstance(e.slice, (ast.Constant, ast.UnaryOp)):
                raise _NotPlain
        elif isinstance(e, ast.Call):
            f = e.func
            known = self.is_of_math(f) or isinstance(f, ast.Name) and f.id in _OF_NUMBERS and f.id not in self.own and f.id not in self.globals
            if e.keywords or not known:
                raise _NotPlain
            for a in e.args:
                if not (isinstance(f, ast.Name) and f.id == "len" and isinstance(a, ast.Name)):
                    self.number(a)
        elif isinstance(e, (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp)):
            for part in ast.iter_child_nodes(e):
                if isinstance(part, ast.expr):
                    self.number(part)
        elif not isinstance(e, ast.Constant):
            raise _NotPlain


def direct_call(function, swapped):
    """The DirectCall of a function, of which `swapped` (_numpy_proxy.Swapped) is made; None where it has more than loops and numbers, or no loop to compile."""
    made = swapped.function
    if made.__code__ is function.__code__ or swapped.cells or function.__globals__.get("__builtins__", builtins) not in (builtins, vars(builtins)):
        return None
    try:
        plain = _Plain(tree_of(function), function)
    except _NotPlain:
        return None
    cells = dict(zip(made.__code__.co_freevars, made.__closure__))
    loops = [x for x in map(contents, cells.values()) if isinstance(x, Loop)]
    # Loops inside others run by themselves where those are Python's: then they are not all that runs.
    outermost = tuple(x for x in loops if x.outer is None)
    numbers = sum(1 << i for i, name in enumerate(plain.parameters) if name in plain.numbers)
    direct = types.FunctionType(made.__code__, function.__globals__, function.__name__, function.__defaults__, made.__closure__)
    return DirectCall(direct, outermost, numbers)
