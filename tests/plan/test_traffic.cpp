// The bytes that a plan says it moves: what views leave out, and what writes in place do not touch.
#include <catch2/catch.hpp>

#include "arrays.hpp"

using namespace plait;
using namespace plait::test;

namespace {
engine::PlanSummary plan_of(const Array& a) {
  tracer::evaluate(a);
  return engine::last_plan();
}
tracer::Slice from_to(std::int64_t start, std::int64_t stop) { return {start, stop, {}}; }
}  // namespace

TEST_CASE("a view counts with its own elements") {
  config().eager_limit = 0;
  Array x = random_f64({1000, 100});
  Array rows = view(x, {from_to(0, 500)});
  const engine::PlanSummary half = plan_of(apply(OpId::Square, rows));
  CHECK(half.bytes_moved == 2 * 500 * 100 * 8);
  CHECK(half.bytes_least == half.bytes_moved);

  // Shifted views overlap: together they are the array.
  Array sum = apply(OpId::Add, view(x, {from_to(0, 999)}), view(x, {from_to(1, 1000)}));
  CHECK(plan_of(sum).bytes_moved == (1000 + 999) * 100 * 8);

  // A broadcast row is read once.
  Array row = view(x, {std::int64_t{3}});
  CHECK(plan_of(apply(OpId::Multiply, random_f64({1000, 100}, 2), row)).bytes_moved ==
        (2 * 1000 + 1) * 100 * 8);
}

TEST_CASE("a write in place counts with what it stores") {
  config().eager_limit = 0;
  Array x = random_f64({1000, 100});
  Array rows = view(x, {from_to(10, 20)});
  tracer::assign(rows, Operand(random_f64({100}, 3)));
  const engine::PlanSummary plan = plan_of(x);
  CHECK(plan.bytes_moved == (10 + 1) * 100 * 8);
  CHECK(plan.bytes_least == plan.bytes_moved);
}
