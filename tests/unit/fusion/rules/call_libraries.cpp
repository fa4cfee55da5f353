// What no region computes is called by itself, its operands in memory.
#include "planned.hpp"
#include "tracer/calls.hpp"

using namespace plait;
using namespace plait::test;

namespace {

Planned with_calls(const Array& a, fusion::Target target = {}) {
  return {{a}, {&fusion::call_libraries()}, kMachine, target};
}
Array exponential(const Dims& shape) { return apply(OpId::Exp, operand(shape)); }

}  // namespace

TEST_CASE("call_libraries: products, calls and folds that loops cannot express") {
  const auto called = [](const Array& a, const char* why) {
    const Planned p = with_calls(a);
    CHECK(p.calls() == 1);
    CHECK(p.maps() == 1);  // what it reads
    CHECK(p.stored(why) == 1);
    CHECK(p.plan->considered.empty());  // there is no other way
  };
  const char* const why = "operand of a library call";
  called(tracer::matmul(exponential({300, 200}), operand({200, 100})), why);
  called(tracer::accumulate(OpId::Add, exponential({300, 200}), 1), why);
  // The order of the factors shows, and no one walk through memory has it.
  tracer::ReduceOptions outer_and_inner;
  outer_and_inner.axes = Dims{0, 2};
  called(tracer::reduce(ReduceKind::Prod, exponential({30, 40, 50}), outer_and_inner), why);
}

TEST_CASE("call_libraries: what loops express is left to them") {
  const Array e = exponential({300, 200});
  for (const Array& a : {reduce(ReduceKind::Sum, e, 1), reduce(ReduceKind::ArgMax, e, 1)}) {
    const Planned p = with_calls(a);
    CHECK(p.calls() == 0);
    CHECK(p.maps() == 1);
  }
}
