// What a live name may ask for again is stored by the region that computes it.
#include "planned.hpp"
#include "tracer/expiring.hpp"

using namespace plait;
using namespace plait::test;

namespace {

Planned kept(const Array& a) { return {{a}, {&fusion::keep_held()}}; }
const char* const kHeld = "held by a live name, or read by what is still pending";

}  // namespace

TEST_CASE("keep_held: a value that has a name is stored with what reads it") {
  const Array e = apply(OpId::Exp, operand({300, 200}));
  const Planned p = kept(apply(OpId::Add, e, weak(1)));
  CHECK(p.stored(kHeld) == 1);
  REQUIRE(p.plan->steps.size() == 1);
  CHECK(p.plan->steps[0].region.roots.size() == 2);
  const fusion::Choice c = p.exact(kHeld);
  CHECK(c.instead < c.as_is);
}

TEST_CASE(
    "keep_held: not what has no name, is larger than its operands, or is no value to compute") {
  const auto none = [](const Array& a) {
    const Planned p = kept(a);
    CHECK(p.plan->steps.size() == 1);
    CHECK(p.plan->considered.empty());
    return p.stored(kHeld) == 0;
  };
  const Array unnamed = reduce(ReduceKind::Sum, apply(OpId::Exp, operand({300, 200})), 1);
  CHECK(none(unnamed));
  const Array outer = apply(OpId::Add, operand({300, 1}), operand({1, 200}));
  CHECK(none(reduce(ReduceKind::Sum, outer, 1)));
  const Array argument = apply(OpId::Exp, operand({300, 200}));
  {
    const tracer::Expiring call(*argument.storage);  // its name goes away with the call
    CHECK(none(apply(OpId::Add, argument, weak(1))));
  }
  const Array row = tracer::arange(200, scalar_float(0), scalar_float(1));
  const Array rows = tracer::broadcast_to(row, {300, 200});
  CHECK(none(apply(OpId::Add, rows, operand({300, 200}))));
}
