"""Which variables of a function may be read behind each of its loops, before they are set again."""

import ast

from .trees import names, nodes


class Liveness:
    """behind: loops of a function's definition -> names; moves: statements `a = b` -> the names that may be read behind them; before, behind_of: of all
    statements what may be read from where they begin, and behind them. after: those that are read behind all of it."""

    def __init__(self, tree, after=(), always=()):
        self.behind, self.moves, self.before, self.behind_of = {}, {}, {}, {}
        self.suppressed = {}  # loops in a `try`, or a `with` that may suppress an error of theirs -> names that are read behind that
        self.leaves = []  # of the loops around a statement: what is read where `break` and `continue` lead
        self.reads, self.plain = {}, {}  # expressions and statements -> names; statements in which no others stand -> the names that they set
        inside = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.GeneratorExp)
        # What functions inside read, also where they set it, they may read at any time.
        held = [s for s in nodes(tree) if s is not tree and isinstance(s, inside)]
        self.always = {n for s in held for n in names(s, ast.Load)} | {*always}
        self.always |= {n for s in held for x in nodes(s) if isinstance(x, ast.Nonlocal) for n in x.names}
        self.block(tree.body if isinstance(tree, ast.FunctionDef) else [tree], {*after})

    def block(self, statements, after):
        """What is read from there on, of what is read `after` them."""
        for s in reversed(statements):
            self.behind_of[s] = self.behind_of.get(s, set()) | after
            after = self.statement(s, after)
            self.before[s] = self.before.get(s, set()) | after
        return after

    def statement(self, s, after):
        if isinstance(s, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)):
            self.behind[s] = self.behind.get(s, set()) | after | self.always
        if isinstance(s, (ast.For, ast.While)):
            return self.loop(s, after)
        if isinstance(s, ast.If):
            return self.read(s.test) | self.block(s.body, after) | self.block(s.orelse, after)
        if isinstance(s, ast.With):
            found = self.block(s.body, after)
            for inner in nodes(s):
                if isinstance(inner, (ast.For, ast.While)):
                    self.behind[inner] = self.behind.get(inner, set()) | after  # where it suppresses an error
                    if not all(map(_suppresses_nothing, s.items)):
                        self.suppressed[inner] = self.suppressed.get(inner, set()) | after
            return {n for item in s.items for n in self.read(item)} | found | after
        if isinstance(s, ast.Try):
            return self.tried(s, after)
        if isinstance(s, ast.Match):
            cases = (self.block(c.body, after) | (self.read(c.guard) if c.guard else set()) for c in s.cases)
            return self.read(s.subject).union(after, *cases, (n for c in s.cases for n in self.read(c.pattern)))
        if isinstance(s, ast.Break):
            return self.leaves[-1][0] | self.always
        if isinstance(s, ast.Continue):
            return self.leaves[-1][1] | self.always
        if isinstance(s, (ast.Return, ast.Raise)):
            return self.read(s) | self.always
        if isinstance(s, ast.Assign) and isinstance(s.value, ast.Name):
            self.moves[s] = after | self.moves.get(s, set())
        if s not in self.plain:
            others = any(isinstance(x, ast.stmt) for x in ast.iter_child_nodes(s)) or isinstance(s, (ast.AsyncFor, ast.AsyncWith))
            self.plain[s] = None if others else _set(s)
        if self.plain[s] is None:
            return self.anyhow(s, after)
        return (after - self.plain[s]) | self.read(s) | self.always

    def read(self, tree):
        """The names that are read there: loops are walked through until nothing more is read behind them."""
        if tree not in self.reads:
            self.reads[tree] = _read(tree)
        return self.reads[tree]

    def tried(self, s, after):
        """Of a `try`: an error anywhere in it leads to its handlers, or to what is done at last."""
        after = self.block(s.finalbody, after)
        caught = set(after if s.finalbody else ()).union(*(self.block(h.body, after) - {h.name} | (self.read(h.type) if h.type else set()) for h in s.handlers))
        otherwise = self.block(s.orelse, after)
        always, self.always = self.always, self.always | caught
        found = self.block(s.body, otherwise)
        self.always = always
        for inner in (n for x in s.body for n in nodes(x)):
            if isinstance(inner, (ast.For, ast.While)):
                self.behind[inner] = self.behind.get(inner, set()) | caught
                self.suppressed[inner] = self.suppressed.get(inner, set()) | caught
        return found | caught

    def anyhow(self, s, after):
        """Of a statement from whose inside any way may lead anywhere."""
        found = (after | self.read(s) | self.always).union(*(names for leads in self.leaves for names in leads))
        for inner in nodes(s):
            if isinstance(inner, (ast.For, ast.While)):
                self.behind[inner] = found | self.behind.get(inner, set())
        return found

    def loop(self, s, after):
        self.behind[s] = after | self.always | self.behind.get(s, set())
        again, otherwise = set(), self.block(s.orelse, after)
        while True:
            test = self.read(s.test) if isinstance(s, ast.While) else set()
            head = otherwise | test | again
            self.leaves.append((after, head))
            inside = self.block(s.body, head)
            self.leaves.pop()
            if isinstance(s, ast.For):
                inside = inside - {*names(s.target, ast.Store)} | self.read(s.target)
            if inside <= again:
                return head | (self.read(s.iter) if isinstance(s, ast.For) else set())
            again |= inside


def _suppresses_nothing(item):
    """Whether it is np.errstate(), as far as its name says."""
    call = item.context_expr
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "errstate"


def _read(tree):
    found = nodes(tree)
    changed = {n.target.id for n in found if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
    return changed | {n.id for n in found if type(n) is ast.Name and type(n.ctx) is not ast.Store}


def _set(s):
    """Names that a statement sets for sure: those of its targets."""
    targets = s.targets if isinstance(s, ast.Assign) else [s.target] if isinstance(s, ast.AnnAssign) and s.value is not None else []
    return {n.id for t in targets for n in ([*t.elts] if isinstance(t, (ast.Tuple, ast.List)) else [t]) if isinstance(n, ast.Name)}
