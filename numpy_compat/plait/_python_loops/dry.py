"""A builder that keeps dtypes alone: what types variables have is found by lowering a loop until they stay as they are."""

import functools

import numpy

_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_not", "logical_and", "logical_or", "isnan", "isinf", "isfinite"}
_WORDS = {"call_word", "float_bits"}  # beside those of memory and tables, the functions that give integers


class DryProcedure:
    def __init__(self, name, first=0):
        self.types, self.next = {}, first  # values of another procedure are taken for numbers of places
        self.opened = 0

    def _value(self, dtype):
        self.next += 1
        self.types[self.next] = dtype
        return self.next

    def type(self, v):
        return self.types.get(v, "int64")

    def buffer(self, dtype, written):
        self.opened += 1
        return self.opened

    def param(self):
        return self._value("int64")

    def address(self, buffer):
        return self._value("int64")

    def arg(self, dtype):
        return self._value(dtype)

    def local(self, dtype):
        return self._value(dtype)

    def get(self, local):
        return self._value(self.type(local))

    def set(self, local, v):
        pass

    def const(self, dtype, number):
        return self._value(dtype)

    def apply(self, name, *values):
        return self._value("bool" if name in _COMPARISONS else self.type(values[-1]))

    def cast(self, v, dtype):
        return self._value(dtype)

    def load(self, buffer, offset):
        return self._value("int64")  # cast by who knows better

    def store(self, buffer, offset, v):
        pass

    def call(self, name, *values):
        return self._value("int64" if name in _WORDS or name.startswith(("heap_", "table_")) else "float64")

    def heap(self, dtype):
        return self.buffer(dtype, True)

    def overflows(self, name, a, b):
        return self._value("bool")

    def begin_count(self, begin, end):
        self.opened += 1
        return self.opened, self._value("int64")

    begin_fold = begin_count

    def end_fold(self, kind, v):
        return self._value("int64" if kind.startswith("arg") else self.type(v))

    def begin_if(self, cond):
        self.opened += 1
        return self.opened

    begin_repeat = lambda self: self.begin_if(None)  # noqa: E731

    def otherwise(self, rare=False):
        pass

    def end(self, cond=None):
        pass

    def break_(self, loop, cond=None):
        pass

    def index(self, i, extent):
        return self._value("int64"), self._value("bool")

    def result(self, v):
        pass

    def finish(self):
        pass


class NotedProcedure(DryProcedure):
    """One that notes what is computed, but casts: where two ways of an operation compute the same of types that one type holds, either does for both."""

    def __init__(self, name, first=0):
        super().__init__(name, first)
        self.noted = []

    def note(self, name, *values):
        self.noted.append((name, *map(self.type, values)))

    def const(self, dtype, number):
        self.noted.append((dtype, repr(number)))
        return super().const(dtype, number)

    def apply(self, name, *values):
        self.note(name, *values)
        return super().apply(name, *values)

    def call(self, name, *values):
        self.note(name, *values)
        return super().call(name, *values)

    def overflows(self, name, a, b):
        self.note(f"{name} overflows", a, b)
        return super().overflows(name, a, b)


@functools.cache
def resolved(ufunc, *types):
    """The dtypes of operands and result of a ufunc of scalars, by NEP 50."""
    *ins, out = ufunc.resolve_dtypes((*(t.weak for t in types), None))
    return [numpy.dtype(d).name for d in ins], numpy.dtype(out).name
