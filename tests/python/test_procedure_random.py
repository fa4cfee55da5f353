"""Random programs with loops, conditions and breaks: as procedures, and as Python runs them."""

import random

import numpy
import pytest

import plait as np
from plait import _plait

INTS, FLOATS, LENGTH = 3, 2, 7


class Leave(Exception):
    def __init__(self, loop):
        self.loop = loop


def wrap(n):
    return (n + 2**63) % 2**64 - 2**63


class Generator:
    """Programs as nested tuples; loops are named by numbers."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.loops = 0

    def program(self):
        return self.block(3, [self.next_loop()])

    def next_loop(self):
        self.loops += 1
        return self.loops - 1

    def block(self, depth, open_loops):
        return [self.statement(depth, open_loops) for _ in range(self.r.randint(1, 4))]

    def integer(self, depth=2):
        kind = self.r.choice(["var", "var", "const", "op", "op", "loop"])
        if depth == 0 or kind == "const":
            return ("const", self.r.choice([-9, -1, 0, 1, 2, 3, LENGTH, 2**62]))
        if kind == "op":
            return (self.r.choice(["add", "subtract", "multiply"]), self.integer(depth - 1), self.integer(depth - 1))
        return (kind, self.r.randrange(INTS))

    def condition(self):
        if self.r.random() < 0.2:
            return ("overflows", self.r.choice(["add", "subtract", "multiply"]), self.integer(), self.integer())
        return (self.r.choice(["less", "equal", "greater_equal"]), self.integer(1), self.integer(1))

    def statement(self, depth, open_loops):
        kinds = ["set", "set", "store", "load", "sum", "break"] + ["count", "count", "if", "block", "repeat"] * (depth > 0)
        kind = self.r.choice(kinds)
        if kind == "set":
            return (kind, self.r.randrange(INTS), self.integer())
        if kind in ("store", "load", "sum"):
            return (kind, self.r.randrange(2), self.integer(1), self.r.randrange(FLOATS))
        if kind == "break":
            return (kind, self.r.choice(open_loops), self.condition())
        loop = self.next_loop()
        body = self.block(depth - 1, [*open_loops, loop])
        if kind == "count":
            return (kind, loop, self.r.randrange(INTS), self.r.choice([-2, 0, 1]), self.r.choice([0, 1, 3, LENGTH, 20]), body)
        if kind == "if":
            return (kind, loop, self.condition(), body, self.block(depth - 1, [*open_loops, loop]) if self.r.random() < 0.5 else [])
        return (kind, loop, body)


class Pythons:
    """What a program does, in the words of Python."""

    def __init__(self, arrays):
        self.ints, self.floats, self.arrays, self.variables, self.error = [0] * INTS, [0.0] * FLOATS, arrays, {}, 0

    def integer(self, e):
        if e[0] == "const":
            return e[1]
        if e[0] in ("var", "loop"):
            return self.ints[e[1]]
        return wrap(self.exactly(*e))

    def exactly(self, name, a, b):
        a, b = self.integer(a), self.integer(b)
        return a + b if name == "add" else a - b if name == "subtract" else a * b

    def condition(self, c):
        if c[0] == "overflows":
            exact = self.exactly(*c[1:])
            return exact != wrap(exact)
        a, b = self.integer(c[1]), self.integer(c[2])
        return a < b if c[0] == "less" else a == b if c[0] == "equal" else a >= b

    def run(self, block):
        for s in block:
            getattr(self, s[0] + "_")(*s[1:])

    def inside(self, loop, block):
        """Whether the block came to its end."""
        try:
            self.run(block)
            return True
        except Leave as leave:
            if leave.loop != loop:
                raise
            return False

    def set_(self, v, e):
        self.ints[v] = self.integer(e)

    def place(self, e):
        i = self.integer(e)
        if not -LENGTH <= i < LENGTH:
            self.error += 1
            raise Leave(0)
        return i

    def store_(self, array, e, v):
        self.arrays[array][self.place(e)] = self.floats[v]

    def load_(self, array, e, v):
        self.floats[v] = float(self.arrays[array][self.place(e)])

    def sum_(self, array, e, v):
        self.floats[v] = self.floats[v] * 0.5 + float(self.arrays[array][self.place(e)])

    def break_(self, loop, c):
        if self.condition(c):
            raise Leave(loop)

    def count_(self, loop, v, begin, end, body):
        def iterations():
            for i in range(begin, end):
                self.ints[v] = i
                self.run(body)

        try:
            iterations()
        except Leave as leave:
            if leave.loop != loop:
                raise

    def if_(self, loop, c, body, otherwise):
        self.inside(loop, body if self.condition(c) else otherwise)

    def block_(self, loop, body):
        self.inside(loop, body)

    def repeat_(self, loop, body):
        for _ in range(3):
            if not self.inside(loop, body):
                return


class Procedures(_plait.Procedure):
    def build(self, program):
        self.arrays = [self.buffer("float64", True), self.buffer("float64", True)]
        self.extent, self.step = self.param(), self.const("int64", 8)
        self.ints = [self.local("int64") for _ in range(INTS)]
        self.floats = [self.local("float64") for _ in range(FLOATS)]
        self.error, self.loops = self.local("int64"), {}
        self.loops[0] = self.begin_if()
        self.block(program)
        self.end()
        for v in [*self.ints, *self.floats, self.error]:
            self.result(self.get(v))
        self.finish()
        return self

    def number(self, n):
        return self.const("int64", n)

    def integer(self, e):
        if e[0] == "const":
            return self.number(e[1])
        if e[0] in ("var", "loop"):
            return self.get(self.ints[e[1]])
        return self.apply(e[0], self.integer(e[1]), self.integer(e[2]))

    def condition(self, c):
        if c[0] == "overflows":
            return self.overflows(c[1], self.integer(c[2]), self.integer(c[3]))
        return self.apply(c[0], self.integer(c[1]), self.integer(c[2]))

    def block(self, block):
        for s in block:
            getattr(self, s[0] + "_of")(*s[1:])

    def place(self, e):
        at, outside = self.index(self.integer(e), self.extent)
        self.begin_if(outside)
        self.set(self.error, self.apply("add", self.get(self.error), self.number(1)))
        self.break_(self.loops[0])
        self.end()
        return self.apply("multiply", at, self.step)

    def set_of(self, v, e):
        self.set(self.ints[v], self.integer(e))

    def store_of(self, array, e, v):
        self.store(self.arrays[array], self.place(e), self.get(self.floats[v]))

    def load_of(self, array, e, v):
        self.set(self.floats[v], self.load(self.arrays[array], self.place(e)))

    def sum_of(self, array, e, v):
        half = self.apply("multiply", self.get(self.floats[v]), self.const("float64", 0.5))
        self.set(self.floats[v], self.apply("add", half, self.load(self.arrays[array], self.place(e))))

    def break_of(self, loop, c):
        self.break_(self.loops[loop], self.condition(c))

    def count_of(self, loop, v, begin, end, body):
        self.loops[loop], i = self.begin_count(self.number(begin), self.number(end))
        self.set(self.ints[v], i)
        self.block(body)
        self.end()

    def if_of(self, loop, c, body, otherwise):
        self.loops[loop] = self.begin_if(self.condition(c))
        self.block(body)
        if otherwise:
            self.otherwise()
            self.block(otherwise)
        self.end()

    def block_of(self, loop, body):
        self.loops[loop] = self.begin_if()
        self.block(body)
        self.end()

    def repeat_of(self, loop, body):
        rounds = self.local("int64")
        self.set(rounds, self.number(0))
        self.loops[loop] = self.begin_repeat()
        self.set(rounds, self.apply("add", self.get(rounds), self.number(1)))
        self.block(body)
        self.end(self.apply("less", self.get(rounds), self.number(3)))


@pytest.mark.parametrize("chunk", range(5))
def test_random_programs(chunk):
    for seed in range(30 * chunk, 30 * chunk + 30):
        program = Generator(seed).program()
        p = Procedures(f"random {seed}").build(program)
        if not p.compile():
            pytest.skip("no JIT here")
        rng = numpy.random.default_rng(seed)
        given = [rng.standard_normal(LENGTH) for _ in range(2)]
        for shared in (False, True):
            expected = [given[0].copy(), given[1].copy()]
            ours = [np.array(given[0]), np.array(given[1])]
            if shared:
                expected[1], ours[1] = expected[0], ours[0]
            pythons = Pythons(expected)
            pythons.inside(0, program)
            got = p.run(ours, [LENGTH], [])
            text = f"seed {seed}: {program}\n{p.text()}"
            assert got == (*pythons.ints, *pythons.floats, pythons.error), text
            for a, b in zip(ours, expected, strict=True):
                assert numpy.array_equal(numpy.asarray(a), b), text
