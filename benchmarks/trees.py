"""Random trees of reductions into reductions and maps: what no benchmark author chose."""
import random
import re

REDUCTIONS = ["sum", "max", "min", "mean", "linalg.norm"]
MAPS = ["np.sqrt({})", "np.abs({})", "({} * 0.5 + 1.0)", "({} - 1.0)", "np.square({})"]


def draw(seed):
    """(source of f, shapes of its arguments): broadcast operands over three axes, then reductions with maps between them."""
    r = random.Random(1000 + seed)
    sizes = [r.choice([3, 7, 16, 40, 64]), r.choice([2, 3, 8, 24]), r.choice([2, 5, 16, 33])]
    sizes[r.randrange(3)] *= r.choice([500, 2000])
    while sizes[0] * sizes[1] * sizes[2] > 12_000_000:
        sizes[sizes.index(max(sizes))] //= 2
    shapes = [tuple(sizes)[1:], (sizes[0], 1, sizes[2])]
    tree = r.choice(["(a - b)", "(a * b)", "np.maximum(a, b)", "(a / b)"])
    tree = r.choice(MAPS).format(tree)
    axes = 3
    while axes:
        if r.random() < 0.45:
            tree = r.choice(MAPS).format(tree)
        axis = r.randrange(axes)
        op = r.choice(REDUCTIONS + (["argmin", "argmax"] if axes == 1 or r.random() < 0.15 else []))
        tree = f"np.{op}({tree}, axis={axis})"
        axes -= 1
        if op in ("argmin", "argmax") or (axes <= 1 and r.random() < 0.6):
            break
    return f"def f(a, b):\n    return {tree}\n", shapes


def title(source):
    """The tree without the noise: `argmin sum sqrt maximum`."""
    return " ".join(re.findall(r"np\.(?:linalg\.)?(\w+)", source)) or "map"
