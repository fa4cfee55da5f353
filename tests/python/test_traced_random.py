"""Random Python functions in numpy.vectorize, against NumPy."""

import math
import random

import numpy
import pytest
import test_traced
from test_traced import reasons  # noqa: F401  a fixture

CALLS = (
    "abs({})", "max({}, {})", "min({}, {}, 1)", "math.exp({})", "math.sin({})", "math.sqrt(abs({}))", "math.floor({})", "np.sqrt({})", "np.exp({})", "np.tanh({})",
    "int({})", "float({})", "round({})", "bool({})", "np.isnan({})", "math.log({})", "np.log1p({})", "math.atan2({}, {})", "(not {})", "pow({}, 2)",
    "sum(({}, {}))", "np.floor({})", "math.isfinite({})", "np.abs({})", "math.pow({}, {})", "helper({})", "np.arctan2({}, {})",
)  # fmt: skip
OPERATORS = "+ - * + - * / // % ** < <= > >= == != & | ^ >> and or".split()


class Drawn:
    """A function of the arguments a, b and n, drawn by a seed."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.names = ["a", "b", "n"]
        self.text = "def f(a, b, n):\n" + self.block(1, 3)

    def value(self, depth):
        r = self.r
        if depth == 0 or r.random() < 0.25:
            return r.choice([*self.names * 2, "1", "2", "0.5", "-1.5", "3", "True", "0", "1.0"])
        if r.random() < 0.3:
            call = r.choice(CALLS)
            return call.format(*(self.value(depth - 1) for _ in range(call.count("{}"))))
        if r.random() < 0.1:
            return f"({self.value(depth - 1)} if {self.value(depth - 1)} else {self.value(depth - 1)})"
        if r.random() < 0.1:
            return f"({r.choice('-+~')}{self.value(depth - 1)})"
        return f"({self.value(depth - 1)} {r.choice(OPERATORS)} {self.value(depth - 1)})"

    def condition(self):
        return f"{self.value(1)} {self.r.choice(['<', '>', '<=', '==', '!='])} {self.value(1)}"

    def block(self, indent, length):
        r, lines, pad = self.r, [], "    " * indent
        for _ in range(r.randint(0, length)):
            kind = r.random()
            if kind < 0.5:
                name = r.choice(["a", "b", "x", "y"])
                lines.append(f"{pad}{name} = {self.value(2)}\n")
                if indent == 1 and name not in self.names:
                    self.names.append(name)
            elif kind < 0.8 and indent < 4:
                lines.append(f"{pad}if {self.condition()}:\n{self.block(indent + 1, 2)}")
            elif indent < 3:
                lines.append(f"{pad}for i in range({r.randint(1, 3)}):\n{pad}    b = {self.value(2)}\n")
        if indent == 1 or r.random() < 0.5:
            lines.append(f"{pad}return {self.value(3)}\n")
        return "".join(lines) or f"{pad}pass\n"


def helper(x):
    return x * 2 if x > 0 else x + 1


DATA = {"f": [-2.5, -1.0, -0.0, 0.0, 0.25, 1.0, 1.75, 3.0], "e": [0.5, math.inf, 2.0, math.nan, -math.inf, 1e300], "i": [-3, 0, 1, 2, 5], "b": [False, True], "p": [0.25, 0.75, 1.5, 2.5]}


def draw(seed):
    r = random.Random(seed)
    kinds = r.choice(["ppp", "pfi", "ffi", "iii", "pbi", "efi", "ppi", "ffb", "ppp"])
    arrays = [numpy.array(r.choices(DATA[k], k=40)) for k in kinds]
    if r.random() < 0.2:
        arrays[1] = r.choice([2, 0.5, True])
    if r.random() < 0.2:
        arrays[0] = arrays[0].reshape(40, 1)[:6]
        arrays[2] = arrays[2][:6]
        arrays[1] = 3
    return Drawn(seed).text, arrays, {"otypes": r.choice("dddl?f")} if r.random() < 0.5 else {}


def compare(seed):
    text, arrays, options = draw(seed)

    def make(np):
        scope = {"np": np, "math": math, "helper": helper}
        exec(text, scope)
        return scope["f"]

    try:
        test_traced.check(make, arrays, rtol=1e-11, **options)
    except AssertionError as e:
        raise AssertionError(f"seed {seed}: {options}, {[getattr(x, 'dtype', x) for x in arrays]}\n{text}") from e


@pytest.mark.parametrize("block", range(4))
def test_random(reasons, block):  # noqa: F811
    for seed in range(block * 25, block * 25 + 25):
        compare(seed)
    assert len(reasons) < 25  # what NumPy is left with is not all there is
