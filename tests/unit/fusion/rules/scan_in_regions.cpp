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
  CHECK(p.plan->considered.empty());
}

TEST_CASE("scan_in_regions: lines that no thread of a device would be left for") {
  const auto called = [](std::int64_t lines) {
    return scans(halved(scanned(halved(operand({lines, 200})))), with_memory(1), false).calls();
  };
  CHECK(called(fusion::kFewTeams - 1) == 1);
  CHECK(called(fusion::kFewTeams) == 0);
}

TEST_CASE("scan_in_regions: what reads a scan along another axis finds it in memory") {
  const Array turned = tracer::transpose(scanned(halved(operand({300, 200}))));
  const Planned p = scans(apply(OpId::Add, turned, operand({200, 300})), with_memory(1));
  CHECK(p.calls() == 0);
  CHECK(p.stored("what reads it is in another region") == 1);
}
