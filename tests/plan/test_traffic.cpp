// The bytes that a plan says it moves: what views leave out, and what writes in place do not touch.
#include <catch2/catch.hpp>

#include "arrays.hpp"

using namespace plait;
using namespace plait::test;
using tracer::Slice;

namespace {
engine::PlanSummary plan_of(const Array& a) {
  config().plan = PlanMode::Always;
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

TEST_CASE("a write is in place where what reads the old contents is stored before it") {
  config().eager_limit = 0;
  const Array e = random_f64({3001}), h = random_f64({3000}, 2);
  tracer::ElementwiseOptions into_h, into_e;
  into_h.out = &h;
  const Array inner = view(e, {from_to(1, 3000)});
  into_e.out = &inner;
  const auto difference = [](const Array& a, std::int64_t n) {
    return apply(OpId::Subtract, view(a, {from_to(1, n)}), view(a, {from_to(0, n - 1)}));
  };
  const auto step = [&] {
    const Array of_e = difference(e, 3001);
    const Operand both[] = {h, of_e};
    tracer::elementwise(OpId::Add, both, into_h);
    const Array of_h = difference(h, 3000);
    const Operand others[] = {inner, of_h};
    tracer::elementwise(OpId::Add, others, into_e);
  };
  const void* const memory = tracer::data(e);
  std::vector<double> e2(static_cast<const double*>(memory),
                         static_cast<const double*>(memory) + 3001),
      h2(static_cast<const double*>(tracer::data(h)),
         static_cast<const double*>(tracer::data(h)) + 3000);
  for (int t = 0; t < 3; ++t) {
    step();
    tracer::evaluate(e);
    CHECK(tracer::data(e) == memory);
    for (std::size_t i = 0; i < 3000; ++i) h2[i] += e2[i + 1] - e2[i];
    for (std::size_t i = 1; i < 3000; ++i) e2[i] += h2[i] - h2[i - 1];
  }
  CHECK(std::equal(e2.begin(), e2.end(), static_cast<const double*>(tracer::data(e))));
  CHECK(std::equal(h2.begin(), h2.end(), static_cast<const double*>(tracer::data(h))));
}

TEST_CASE("a write leaves the old contents to what is held and not stored") {
  config().eager_limit = 0;
  const Array x = random_f64({100, 30});
  const Array before = tracer::copy(x, 'C');
  tracer::evaluate(before);
  // Larger than its operands: it stays pending.
  const Array all = apply(OpId::Multiply, view(x, {tracer::NewAxis{}}),
                          view(x, {tracer::All{}, tracer::NewAxis{}}));
  const Array rows = view(x, {from_to(0, 50)});
  tracer::assign(rows, Operand(apply(OpId::Add, rows,
                                     view(reduce(ReduceKind::Sum, all, 1), {from_to(0, 50)}))));
  tracer::evaluate(x);
  const Array again = apply(OpId::Multiply, view(before, {tracer::NewAxis{}}),
                            view(before, {tracer::All{}, tracer::NewAxis{}}));
  CHECK(bytes(all) == bytes(again));
}

TEST_CASE("a write leaves the old contents to what is computed again from a value that dies") {
  config().eager_limit = 0;
  const Array x = tracer::astype(random_f64({2}), DType::Float32);
  const Array first = tracer::copy(x);
  tracer::evaluate(x);
  tracer::evaluate(first);
  const auto wide_tanh = [](const Array& a) {
    return apply(OpId::Tanh, tracer::astype(a, DType::Float64));
  };
  const Array y = tracer::copy(x);
  // Reads the copy that y was before it is written to, which is in memory only while x is computed.
  const Array pending = wide_tanh(y);
  const Array part = view(y, {Slice{std::nullopt, std::nullopt, -2}});
  tracer::assign(part, Operand(apply(OpId::Multiply, part, part)));
  tracer::ElementwiseOptions into_x;
  into_x.out = &x;
  const Array mask = apply(OpId::Less, first, weak(9));
  tracer::evaluate(mask);
  into_x.where = &mask;
  const Operand both[] = {pending, y};
  tracer::elementwise(OpId::Add, both, into_x);
  tracer::evaluate(x);
  CHECK(bytes(pending) == bytes(wide_tanh(first)));
}
