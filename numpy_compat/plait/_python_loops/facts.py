"""What the passes over a loop have found so far."""

import ast

from .liveness import Liveness
from .trees import names, nodes


class Facts:
    """What passes over one loop have found. behind: names that are read outside of it, which alone it gives back, with those that it begins with."""

    def __init__(self, behind):
        self.behind, self.views = {*behind}, set()  # and names that become parts of arrays
        self.merges = {}  # where ways meet -> name -> Bound
        self.tagged = set()  # names whose type or binding the machine code has to know
        self.written = set()  # slots of arrays that are stored to
        self.inlined = {}  # calls of Python functions -> the statements that stand for them
        self.apart = set()  # pairs of slots: elements are stored to the one before all were read from the other that NumPy reads first
        self.elements = None  # of a comprehension: the Scalar that holds any of them, and the types that they have
        self.told = []  # dtypes of numbers that statements which raise errors are told, numbered
        self.left = {}  # statements that Python does -> why
        self.positions = set()  # loops of which it is told how far they are
        self.changing = set()  # statements that call functions which change something
        self.carried = {}  # names that stand for several arrays -> dtype and number of axes
        self.carried_texts = set()  # names of texts that grow
        self.carried_lists = set()  # names that stand for several lists
        self.draws, self.arguments = False, []  # whether random numbers are drawn; addresses of what does
        self.prints = False  # whether something is
        self.eager = set()  # nodes whose first operands are arrays that are computed before others, which change what they read
        self.attributes = []  # of modules and classes: what the code takes for constants
        self.recursive, self.limit = set(), None  # functions that call themselves; how deep they may
        self.groups = {}  # of those, the ones by way of which they do
        self.cells = {}  # attributes of objects that are set -> the types of the numbers that they get, none of an array or a list
        self.wholes = set()  # slots of arrays that are computed as a whole
        self.multiplied = set()  # of those the ones that are factors of products of matrices
        self.mutated = set()  # slots of the loop's own arrays whose elements are set
        self.growing = []  # names of lists that the loop is given and changes in length, or that have tuples
        self.changed_lists = set()  # of those the ones that it does change
        self.lists = []  # nodes at which lists are made
        self.boxed = []  # of those the ones whose lists are elements of others (lists_in_lists.py)
        self.groups = {}  # groups of such lists -> the ones with which they are one
        self.holders = set()  # such groups, what has lists of theirs, and whether those are made behind that
        self.named_lists, self.outlives = set(), set()  # names of variables that stand for such lists; groups of which one may stand for a list of an iteration before
        self.tables = []  # nodes at which dicts and sets are made, and of which kind
        self.unknown = self.settled = False  # whether something was read of dicts into which nothing is put, as far as is known; whether that is all
        self.sites = []  # nodes at which arrays are made
        self.defaults = False  # whether one of them has the default dtype
        self.numpys = False  # whether something is computed of NumPy's numbers
        self.optional = set()  # functions, by where their ways meet, that return a number or None
        self.words = False  # whether there are None or texts among its states
        self.changed = False
        self.said = {}

    def all_of(self, slot):
        if slot is not None:
            self.add(self.wholes, None, slot)

    def liveness_of(self, loop):
        return Liveness(loop, self.behind, getattr(loop, "captured", ()))

    def stored_by_python(self, loop):
        """Names that statements alone store to which Python does: to machine code they are what they were before."""
        if not self.left:
            return set()
        left = {n for s in self.left for n in nodes(s)}
        found = [n for n in nodes(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        return {n.id for n in found if n in left}.union(*(names(s, ast.Store) for s in self.left)) - {n.id for n in found if n not in left}

    def once(self, find, tree):
        """What find() says of a tree, which stays the same over the passes."""
        if (find, tree) not in self.said:
            self.said[find, tree] = find(tree)
        return self.said[find, tree]

    def add(self, table, key, value):
        if value not in table:
            table.append(value) if isinstance(table, list) else table.add(value)
            self.changed = True
