"""Products of lines and matrices in a compiled loop: `a @ b`, np.dot(), np.outer() and the like. Each element is a sum of products of two lines."""

import numpy

from .made import materialised
from .types import NotCompiled, Scalar
from .values import Value
from .views import Vector, as_vector, computed

ACCUMULATORS = 8  # of a product of two lines, side by side; they are joined in pairs
_HALF = 31  # bits of an extent, where one number holds two


def dot(lowering, a, b, fn, node):
    """`a @ b`, which is fn(a, b), of lines and matrices: a number, a line or a matrix."""
    if isinstance(a, Value) or isinstance(b, Value):
        raise NotCompiled("a product of a number", node)
    a, b = as_vector(a, node), as_vector(b, node)
    if not {len(a.shape), len(b.shape)} <= {1, 2}:
        raise NotCompiled("a product of arrays of more than two axes", node)
    _aligned(lowering, a.shape, b.shape, fn, node)
    if len(a.shape) == len(b.shape) == 1:
        dtype = _dtype(lowering, a, b, node)
        return Value(Scalar(dtype), _sum(lowering, a.shape[0], lambda k: _times(lowering, a.element([k]), b.element([k]), node), dtype))
    # Elements of matrices are read many times: they are computed once.
    lowering.facts.multiplied |= {part.whole for x in (a, b) for part in x.reads.values() if part.whole is not None}
    a, b = (_there(lowering, x, node) for x in (a, b))
    dtype, rows = _dtype(lowering, a, b, node), a.shape[:-1]

    def element(index):
        i, j = index[: len(rows)], index[len(rows) :]
        return _sum(lowering, b.shape[0], lambda k: _times(lowering, a.element([*i, k]), b.element([k, *j]), node), dtype)

    return computed(lowering, [*rows, *b.shape[1:]], dtype, element, node)


def outer(lowering, a, b, node):
    """np.outer() of two lines."""
    a, b = as_vector(a, node), as_vector(b, node)
    if len(a.shape) != 1 or len(b.shape) != 1:
        raise NotCompiled("np.outer() of matrices", node)
    made = Vector([*a.shape, *b.shape], None, lambda index: _times(lowering, a.element(index[:1]), b.element(index[1:]), node), a.reads | b.reads)
    return materialised(lowering, made, node)


def _there(lowering, x, node):
    """The same, as elements that are in memory."""
    return x if x.type is not None else materialised(lowering, x, node).vector()


def _times(lowering, x, y, node):
    """As NumPy multiplies elements of arrays, which warns of no overflow."""
    before, lowering.of_arrays = lowering.of_arrays, True
    try:
        return lowering.ufunc(numpy.multiply, x, y, node=node)
    finally:
        lowering.of_arrays = before


def _dtype(lowering, a, b, node):
    first = lambda x: x.element([lowering.zero] * len(x.shape))  # noqa: E731
    t = lowering.dry_run(lambda: _times(lowering, first(a), first(b), node)).type
    if t.kind not in "fiu":
        raise NotCompiled("a product of bools or of complex numbers", node)
    return t.dtype


def _sum(lowering, n, term, dtype):
    """Of n numbers."""
    p, each = lowering.p, lowering.number(ACCUMULATORS)
    sums = [lowering.variable(dtype) for _ in range(ACCUMULATORS)]

    def add(held, i):
        p.set(held, p.apply("add", p.get(held), lowering.cast(term(i), dtype)))

    blocks = p.apply("floor_divide", n, each)
    _, block = p.begin_count(lowering.zero, blocks)
    first = p.apply("multiply", block, each)
    for k, held in enumerate(sums):
        add(held, p.apply("add", first, lowering.number(k)))
    p.end()
    parts = [p.get(held) for held in sums]
    while len(parts) > 1:
        parts = [p.apply("add", x, y) for x, y in zip(parts[::2], parts[1::2])]
    p.set(sums[0], parts[0])
    _, i = p.begin_count(p.apply("multiply", blocks, each), n)
    add(sums[0], i)
    p.end()
    return p.get(sums[0])


def _aligned(lowering, a, b, fn, node):
    """Raises what fn() raises of operands of these extents."""
    if a[-1] == b[0]:
        return
    p = lowering.p

    def packed():
        return p.apply("add", p.apply("left_shift", a[0], lowering.number(_HALF)), a[1]) if len(a) == 2 else a[0]

    def again(i, *parts):
        fn(numpy.zeros(divmod(i, 1 << _HALF) if len(a) == 2 else i), numpy.zeros(tuple(map(int, parts[: len(b)]))))
        raise AssertionError("no error was raised")

    lowering.fail_if(p.apply("not_equal", a[-1], b[0]), again, node, packed, *(lambda v=v: p.cast(v, "float64") for v in b))
