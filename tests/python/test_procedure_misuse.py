"""Whatever is wrong with a procedure raises."""

import pytest

from plait import _plait


class Program(_plait.Procedure):
    def int(self, n):
        return self.const("int64", n)


def misuses():
    def case(f):
        cases.append(pytest.param(f, id=f.__name__))

    cases = []

    @case
    def unknown_value(p):
        p.apply("add", 10**6, 0)

    @case
    def negative_value(p):
        p.cast(-1, "int64")

    @case
    def huge_value(p):
        p.type(2**32 - 1)

    @case
    def two_dtypes(p):
        p.apply("add", p.int(1), p.const("float64", 1))
        p.finish()

    @case
    def no_loop(p):
        p.apply("bitwise_and", p.const("float64", 1), p.const("float64", 1))

    @case
    def unknown_operation(p):
        p.apply("no_such_thing", p.int(1))

    @case
    def number_of_operands(p):
        p.apply("add", p.int(1))

    @case
    def unknown_dtype(p):
        p.local("datetime64[s]")

    @case
    def unknown_buffer(p):
        p.load(0, p.int(0))

    @case
    def unknown_variable(p):
        p.get(0)

    @case
    def type_of_variable(p):
        p.set(p.local("float64"), p.int(1))

    @case
    def open_block(p):
        p.begin_if()
        p.finish()

    @case
    def no_block(p):
        p.end()

    @case
    def otherwise_of_nothing(p):
        p.otherwise()

    @case
    def two_others(p):
        p.begin_if(p.const("bool", True))
        p.otherwise()
        p.otherwise()

    @case
    def condition_is_a_number(p):
        p.begin_if(p.int(1))
        p.end()
        p.finish()

    @case
    def condition_of_a_count(p):
        p.begin_count(p.int(0), p.int(1))
        p.end(p.const("bool", True))

    @case
    def break_from_outside(p):
        loop = p.begin_if()
        p.end()
        p.break_(loop)
        p.finish()

    @case
    def break_of_nothing(p):
        p.break_(0)

    @case
    def value_of_another_block(p):
        p.begin_if(p.const("bool", True))
        v = p.apply("add", p.int(1), p.int(1))
        p.otherwise()
        p.apply("add", v, v)
        p.end()
        p.finish()

    @case
    def value_from_inside(p):
        _, i = p.begin_count(p.int(0), p.int(3))
        p.end()
        p.result(i)
        p.finish()

    @case
    def value_of_a_block(p):
        p.begin_if()
        p.end()
        for v in range(20):
            p.apply("add", v, v)
        p.finish()

    @case
    def bounds(p):
        p.begin_count(p.const("float64", 0), p.int(3))
        p.end()
        p.finish()

    @case
    def stores_another_dtype(p):
        p.store(p.buffer("float64", True), p.int(0), p.int(0))
        p.finish()

    @case
    def stores_to_what_is_read(p):
        p.store(p.buffer("int64", False), p.int(0), p.int(0))
        p.finish()

    @case
    def offset_is_a_float(p):
        p.load(p.buffer("int64", False), p.const("float64", 0))
        p.finish()

    @case
    def unknown_function(p):
        p.call("gamma", p.const("float64", 0))

    @case
    def function_of_an_integer(p):
        p.call("sin", p.int(0))
        p.finish()

    @case
    def overflow_of_a_quotient(p):
        p.overflows("divide", p.int(0), p.int(0))
        p.finish()

    @case
    def index_is_a_float(p):
        p.index(p.const("float64", 0), p.int(0))

    @case
    def finished_already(p):
        p.finish()
        p.int(1)

    @case
    def finished_twice(p):
        p.finish()
        p.finish()

    @case
    def run_before_the_end(p):
        p.run([], [], [])

    return cases


@pytest.mark.parametrize("misuse", misuses())
def test_misuse_raises(misuse):
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        misuse(Program("wrong"))
