// A scan is a fold of a region's loop where that spares memory, else a call.
#include "planned.hpp"
#include "tracer/calls.hpp"

using namespace plait;
using namespace plait::test;

namespace {

Array scanned(const Array& a) { return tracer::accumulate(OpId::Add, a, 1); }
Array halved(const Array& a) { return apply(OpId::Multiply, a, weak(0.5)); }
Planned scans(const Array& a, const Machine& m = kMachine, bool lanes = true) {
  return {{a}, {&fusion::call_libraries(), &fusion::scan_in_regions()}, m, {.lanes = lanes}};
}

}  // namespace

TEST_CASE("scan_in_regions: with what stands around it while memory costs more than lines apart") {
  for (const double byte : {0., 1.}) {
    const Planned p = scans(halved(scanned(halved(operand({300, 200})))), with_memory(byte));
    const bool called = byte == 0;
    CHECK(p.choice("computed by a call").taken == called);
    CHECK(p.calls() == called);
    CHECK(p.maps() == (called ? 2 : 1));
  }
}

TEST_CASE("scan_in_regions: a call by itself, where nothing is spared") {
  const Planned p = scans(scanned(operand({300, 200})), with_memory(1));
  CHECK(p.calls() == 1);
  const fusion::Choice c = p.exact("computed by a call");
  CHECK(c.instead <= c.as_is);
}

TEST_CASE("scan_in_regions: on a device by itself, too, in an order that the lines decide") {
  const auto order = [](std::int64_t lines, bool alone) {
    const Array a = scanned(operand({lines, 200}));
    const Planned p = scans(alone ? a : halved(a), with_memory(0), false);
    CHECK(p.calls() == 0);
    CHECK(p.maps() == 1);
    for (const ir::Loop& l : p.plan->steps[0].lowered.kernel.loops)
      for (const ir::Reduction& r : l.reductions) return r.order;
    return ir::Order::Any;
  };
  for (const bool alone : {false, true}) {
    CHECK(order(1, alone) == ir::Order::Grouped);
    CHECK(order(fusion::kFewTeams - 1, alone) == ir::Order::Grouped);
    CHECK(order(fusion::kFewTeams, alone) == ir::Order::Sequential);
  }
}

TEST_CASE("scan_in_regions: what reads a scan along another axis finds it in memory") {
  const Array turned = tracer::transpose(scanned(halved(operand({300, 200}))));
  const Planned p = scans(apply(OpId::Add, turned, operand({200, 300})), with_memory(1));
  CHECK(p.calls() == 0);
  CHECK(p.stored("what reads it is in another region") == 1);
}
