"""What stands for a number while a function is traced (see _traced.py): operators and functions of it, with the rules of Python's numbers."""

import numpy

EXACT = 1 << 53  # up to here integers are doubles
LOW, HIGH = -(1 << 63), (1 << 63) - 1

# Whose numbers they are. EITHER: of a max(numpy.float64, float); it raises as Python does, and warns as NumPy does.
PYTHON, NUMPY, EITHER = range(3)
_CONSTANTS = {
    bool: ("b", PYTHON), int: ("i", PYTHON), float: ("f", PYTHON), numpy.bool_: ("b", NUMPY), numpy.int64: ("i", NUMPY),
    numpy.float64: ("f", NUMPY),
}  # fmt: skip


class Untraceable(BaseException):
    """Why a function, or a way through it, is not traced. No handler of the function's own is to catch it."""


def kind_of(x):
    """(kind of dtype, whose number)."""
    if type(x) is Value:
        return x.kind, x.whose
    found = _CONSTANTS.get(type(x))
    if found is None:
        raise Untraceable(f"an operand of type {type(x).__name__}")
    return found


def _bounds(x):
    """The least and the greatest integer that x may be."""
    return (x.low, x.high) if type(x) is Value else (int(x), int(x))


def _whose(*operands):
    all_of = [kind_of(x)[1] for x in operands]
    return NUMPY if NUMPY in all_of else max(all_of)


def _trace_of(*operands):
    return next(x.trace for x in operands if type(x) is Value)


def _refuse(what):
    def refuse(self, *_, **__):
        raise Untraceable(what)

    return refuse


class Node:
    """An operation on all elements: its name and operands, which are nodes and numbers; or an array, which has no name."""

    __slots__ = ("name", "operands")

    def __init__(self, name, operands):
        self.name, self.operands = name, operands


class Value:
    """What stands for an element: the node of all elements, and whose number it is."""

    __slots__ = ("trace", "node", "kind", "whose", "low", "high")

    def __init__(self, trace, node, kind, whose, low=0, high=1):
        self.trace, self.node, self.kind, self.whose, self.low, self.high = trace, node, kind, whose, low, high

    def __bool__(self):
        return self.trace.decide(self)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if method != "__call__" or options or ufunc.__name__ not in UFUNCS:
            raise Untraceable(f"numpy.{ufunc.__name__}" + (" with options" if options else f".{method}()" if method != "__call__" else ""))
        return UFUNCS[ufunc.__name__](*inputs)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __round__(self, digits=None):
        if digits is not None:
            raise Untraceable("round() to digits")
        return to_int(self, "rint")

    def __getattr__(self, name):
        raise Untraceable(f"attribute {name} of an element")

    __array_function__ = _refuse("a NumPy function that is no ufunc")
    __hash__ = _refuse("an element as a key")
    __index__ = _refuse("an element as an index or a count")
    __iter__ = __len__ = __getitem__ = _refuse("an element as a sequence")
    __int__ = __float__ = __complex__ = _refuse("an element as an argument of a function in C")
    __str__ = __repr__ = __format__ = _refuse("an element as text")


# --- operations -------------------------------------------------------------------------------------------------------


def to_float(x):
    """x as operand of an operation on doubles."""
    kind, _ = kind_of(x)
    if kind == "f":
        return x.node if type(x) is Value else float(x)
    low, high = _bounds(x)
    if low < -EXACT or high > EXACT:
        raise Untraceable("an int above 2**53 as a float")
    return x.trace.record("astype", numpy.float64, x.node) if type(x) is Value else float(x)


def to_integer(x):
    if type(x) is not Value:
        return int(x)
    return x.node if x.kind == "i" else x.trace.record("astype", numpy.int64, x.node)


def _integer(trace, name, low, high, whose, *arrays):
    if low < LOW or high > HIGH:
        raise Untraceable("an int that may have more than 64 bits")
    return Value(trace, trace.record(name, *arrays), "i", whose, low, high)


def _real(trace, name, whose, *arrays, births=False):
    """An operation on doubles. births: Python raises where the result is no number though the operands are. NumPy warns of it, for Python's
    numbers after all calls: by then it looks at the processor's flags."""
    made = trace.record(name, *arrays)
    if births or trace.watching:
        trace.births(made)
    return Value(trace, made, "f", whose)


def _quotient_bounds(name, x, y):
    (a, b), (c, d) = x, y
    reach = max(abs(a), abs(b)) if name == "floor_divide" else max(abs(c), abs(d))
    return -reach if a < 0 or c < 0 else 0, reach


def _corners(name, x, y):
    if name == "add":
        return x[0] + y[0], x[1] + y[1]
    if name == "subtract":
        return x[0] - y[1], x[1] - y[0]
    products = [a * b for a in x for b in y]
    return min(products), max(products)


def arithmetic(name, numpys=False):
    def operation(a, b):
        trace = _trace_of(a, b)
        (ka, wa), (kb, wb) = kind_of(a), kind_of(b)
        whose = NUMPY if numpys else _whose(a, b)
        if whose != PYTHON and "b" in (ka, kb):
            raise Untraceable("arithmetic with NumPy's bools")
        if name == "power":
            return _power(trace, a, b, whose)
        divides = name in ("floor_divide", "remainder")
        if name == "divide" or "f" in (ka, kb):
            x, y = to_float(a), to_float(b)
            if whose != NUMPY and (divides or name == "divide"):
                trace.zero(y)
            if divides and trace.watching:  # signs are compared
                trace.ordered(x, y)
            return _real(trace, name, whose, x, y)
        x, y = _bounds(a), _bounds(b)
        if divides and y[0] <= 0 <= y[1]:
            trace.zero(to_integer(b))
        low, high = _quotient_bounds(name, x, y) if divides else _corners(name, x, y)
        return _integer(trace, name, low, high, whose, to_integer(a), to_integer(b))

    return operation


def _power(trace, a, b, whose):
    if "f" in (kind_of(a)[0], kind_of(b)[0]) or (type(b) is int and b < 0 and whose == PYTHON):
        x, y = to_float(a), to_float(b)
        if type(y) is float and y == 2.0:
            return _real(trace, "multiply", whose, x, x, births=True)
        if type(y) is float and y == 0.5:  # -0.0 has the root 0.0 as a power
            return _real(trace, "sqrt", whose, trace.record("add", x, 0.0), births=True)
        return _real(trace, "power", whose, x, y, births=whose != NUMPY)
    (low, high), (least, most) = _bounds(a), _bounds(b)
    if least < 0 or most > 63:
        raise Untraceable("an int to the power of an element")
    reach = max(abs(low), abs(high), 1) ** most
    return _integer(trace, "power", -reach if low < 0 else 0, reach, whose, to_integer(a), to_integer(b))


def comparison(name, numpys=False):
    def operation(a, b):
        trace = _trace_of(a, b)
        reals = "f" in (kind_of(a)[0], kind_of(b)[0])
        x, y = map(to_float if reals else to_integer, (a, b))
        if reals and trace.watching:
            trace.ordered(x, y)
        return Value(trace, trace.record(name, x, y), "b", NUMPY if numpys else _whose(a, b))

    return operation


def bitwise(name, numpys=False):
    def operation(a, b):
        trace = _trace_of(a, b)
        kinds = kind_of(a)[0] + kind_of(b)[0]
        whose = NUMPY if numpys else _whose(a, b)
        if kinds == "bb":
            arrays = [x.node if type(x) is Value else bool(x) for x in (a, b)]
            return Value(trace, trace.record(name, *arrays), "b", whose)
        if "f" in kinds or ("b" in kinds and whose != PYTHON):
            raise Untraceable("a bitwise operation of other numbers than ints")
        reach = 1 << max(abs(v).bit_length() for x in (a, b) for v in _bounds(x))
        low = 0 if _bounds(a)[0] >= 0 and _bounds(b)[0] >= 0 else -reach
        return _integer(trace, name, low, reach - 1, whose, to_integer(a), to_integer(b))

    return operation


def shift(name):
    def operation(a, b):
        trace = _trace_of(a, b)
        if "f" in kind_of(a)[0] + kind_of(b)[0] or _whose(a, b) != PYTHON:
            raise Untraceable("a shift of other numbers than Python's ints")
        (low, high), (least, most) = _bounds(a), _bounds(b)
        if least < 0 or most > 62:
            raise Untraceable("a shift by an element")
        if name == "left_shift":
            low, high = min(low, low << most), max(high, high << most)
        else:
            low, high = min(low, 0), max(high, 0)
        return _integer(trace, name, low, high, PYTHON, to_integer(a), to_integer(b))

    return operation


def unary(name, numpys=False):
    def operation(x):
        trace, (kind, whose) = x.trace, (x.kind, x.whose)
        whose = NUMPY if numpys else whose
        if kind == "f":
            return Value(trace, trace.record(name, x.node), "f", whose)
        if kind == "b" and whose != PYTHON:
            raise Untraceable("arithmetic with NumPy's bools")
        low, high = (-x.high, -x.low) if name == "negative" else (0, max(abs(x.low), abs(x.high))) if name == "absolute" else (x.low, x.high)
        return _integer(trace, name, low, high, whose, to_integer(x))

    return operation


def _invert(x):
    if x.kind == "b" and x.whose != PYTHON:
        return Value(x.trace, x.trace.record("logical_not", x.node), "b", x.whose)
    if x.kind == "f":
        raise Untraceable("~ of a float")
    return _integer(x.trace, "invert", ~x.high, ~x.low, x.whose, to_integer(x))


def to_int(x, rounding="trunc"):
    """The Python int that a number is cut off or rounded to."""
    if type(x) is not Value:
        return round(x) if rounding == "rint" else int(numpy.floor(x) if rounding == "floor" else numpy.ceil(x) if rounding == "ceil" else x)
    trace = x.trace
    if x.kind == "b" and x.whose != PYTHON:
        raise Untraceable("a NumPy bool as an int")
    if x.kind != "f":
        return Value(trace, to_integer(x), "i", PYTHON, x.low, x.high)
    near = trace.record("less_equal", trace.record("absolute", x.node), float(EXACT))
    trace.suspect(trace.record("logical_not", near))
    whole = trace.record("astype", numpy.int64, trace.record(rounding, x.node))
    return Value(trace, whole, "i", PYTHON, -EXACT, EXACT)


def as_python_float(x):
    if type(x) is not Value:
        return float(x)
    return Value(x.trace, to_float(x), "f", PYTHON)


def select(condition, a, b):
    """a if condition else b, where the numbers are of one kind; None where they are not."""
    (ka, wa), (kb, wb) = kind_of(a), kind_of(b)
    if ka != kb or (wa != wb and ka != "f"):
        return None
    if type(condition) is not Value:
        return a if condition else b
    x, y = ((v.node if type(v) is Value else v) for v in (a, b))
    trace = condition.trace
    (al, ah), (bl, bh) = ((0, 1), (0, 1)) if ka == "f" else (_bounds(a), _bounds(b))
    return Value(trace, trace.record("where", condition.node, x, y), ka, wa if wa == wb else EITHER, min(al, bl), max(ah, bh))


def real_function(name, whose=NUMPY):
    """A function of doubles: NumPy's, which warns, or that of the module math, which raises."""

    def function(*operands):
        trace = _trace_of(*operands)
        if whose == NUMPY and any(kind_of(x)[0] == "b" for x in operands):
            raise Untraceable(f"numpy.{name} of a bool")
        arrays = [to_float(x) for x in operands]
        if name == "hypot" and whose == PYTHON and trace.watching:  # looks for the largest
            trace.ordered(*arrays)
        return _real(trace, name, whose, *arrays, births=whose == PYTHON)

    return function


def test(name, whose=NUMPY):
    def function(x):
        return Value(x.trace, x.trace.record(name, to_float(x)), "b", whose)

    return function


def _of_doubles(name):
    """A function that NumPy has for integers, too, and that never warns."""

    def function(*operands):
        if any(kind_of(x)[0] != "f" for x in operands):
            raise Untraceable(f"numpy.{name} of other numbers than floats")
        trace = _trace_of(*operands)
        return Value(trace, trace.record(name, *map(to_float, operands)), "f", NUMPY)

    return function


_ARITHMETIC = "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power"
_COMPARISONS = "less", "less_equal", "greater", "greater_equal", "equal", "not_equal"
_BITWISE = "bitwise_and", "bitwise_or", "bitwise_xor"
REAL = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh",
    "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "deg2rad", "rad2deg", "degrees", "radians", "arctan2", "hypot",
)  # fmt: skip
TESTS = "isnan", "isinf", "isfinite"
UFUNCS = {name: arithmetic(name, True) for name in _ARITHMETIC}
UFUNCS |= {name: comparison(name, True) for name in _COMPARISONS}
UFUNCS |= {name: bitwise(name, True) for name in _BITWISE}
UFUNCS |= {name: unary(name, True) for name in ("negative", "positive", "absolute")}
UFUNCS |= {name: real_function(name) for name in REAL}
UFUNCS |= {name: test(name) for name in TESTS}
UFUNCS |= {name: _of_doubles(name) for name in ("floor", "ceil", "trunc", "rint", "maximum", "minimum", "fmax", "fmin", "copysign", "fabs", "sign")}

_OPERATORS = {
    "add": arithmetic("add"), "sub": arithmetic("subtract"), "mul": arithmetic("multiply"), "truediv": arithmetic("divide"),
    "floordiv": arithmetic("floor_divide"), "mod": arithmetic("remainder"), "pow": arithmetic("power"), "and": bitwise("bitwise_and"),
    "or": bitwise("bitwise_or"), "xor": bitwise("bitwise_xor"), "lshift": shift("left_shift"), "rshift": shift("right_shift"),
}  # fmt: skip
for _name, _operation in _OPERATORS.items():
    setattr(Value, f"__{_name}__", _operation)
    setattr(Value, f"__r{_name}__", lambda self, other, operation=_operation: operation(other, self))
for _name, _operation in zip(("lt", "le", "gt", "ge", "eq", "ne"), map(comparison, _COMPARISONS)):
    setattr(Value, f"__{_name}__", _operation)
for _name, _operation in {"neg": unary("negative"), "pos": unary("positive"), "abs": unary("absolute"), "invert": _invert}.items():
    setattr(Value, f"__{_name}__", _operation)
