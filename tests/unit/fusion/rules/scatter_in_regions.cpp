// Combining by index is a region with what computes indices and values, or a call that reads them.
#include "planned.hpp"
#include "tracer/calls.hpp"

using namespace plait;
using namespace plait::test;

namespace {

Array combined(const Array& at, const Array& values, std::int64_t bins = 50) {
  const Array all[] = {tracer::full({bins}, Scalar::of(DType::Float64, 0.)), at, values};
  CallAttributes attributes;
  attributes.fn = OpId::Add;
  return tracer::call(CallId::Scatter, all, attributes)[0];
}
Array squares() { return apply(OpId::Square, operand({30000})); }
Array indices() { return operand({30000}, DType::Int64); }
Planned scatters(const Array& a, const Machine& m, bool lanes = true) {
  return {{a}, {&fusion::call_libraries(), &fusion::scatter_in_regions()}, m, {.lanes = lanes}};
}

}  // namespace

TEST_CASE("scatter_in_regions: with what it reads while memory costs more than a thread's work") {
  for (const double byte : {0., 1.}) {
    const Planned p = scatters(combined(indices(), squares()), with_memory(byte));
    const bool called = byte == 0;
    CHECK(p.choice("computed by a call").taken == called);
    CHECK(p.calls() == called);
    CHECK(p.regions(fusion::FoldOrder::ByIndex) == !called);
  }
}

TEST_CASE("scatter_in_regions: a call where nothing is spared, of a device where pieces are long") {
  const Planned memory = scatters(combined(indices(), operand({30000})), with_memory(1));
  CHECK(memory.calls() == 1);
  const fusion::Choice c = memory.exact("computed by a call");
  CHECK(c.instead <= c.as_is);
  for (const std::int64_t bins : {50, 30000}) {
    const Planned device =
        scatters(combined(indices(), operand({30000}), bins), with_memory(1), false);
    CHECK(device.calls() == (bins == 30000));
    CHECK(device.regions(fusion::FoldOrder::ByIndex) == (bins == 50));
    CHECK(device.plan->considered.empty());
  }
}

TEST_CASE("scatter_in_regions: one region of what combines by the same indices in memory") {
  const Array at = indices();
  const Planned p({combined(at, operand({30000})), combined(at, operand({30000}))},
                  {&fusion::call_libraries(), &fusion::scatter_in_regions()}, with_memory(1),
                  {.lanes = true});
  CHECK(p.calls() == 0);
  CHECK(p.regions(fusion::FoldOrder::ByIndex) == 1);
}

TEST_CASE("scatter_in_regions: indices that two regions combine by are stored") {
  const Array at = apply(OpId::Square, indices());
  const Planned p({combined(at, squares(), 50), combined(at, squares(), 60)},
                  {&fusion::call_libraries(), &fusion::scatter_in_regions()}, with_memory(1),
                  {.lanes = true});
  CHECK(p.stored("indices of several regions") == 1);
  CHECK(std::any_of(p.plan->considered.begin(), p.plan->considered.end(), [](const auto& c) {
    return std::string(c.why) == "indices of several regions" && c.taken;
  }));
}

TEST_CASE("scatter_in_regions: a call, whatever it costs, of values that are no loop's") {
  const Array v = tracer::matmul(operand({30000, 20}), operand({20}));
  const Planned p({combined(indices(), v)}, {&fusion::scatter_in_regions()}, with_memory(1));
  CHECK(p.calls() == 2);
  CHECK(p.plan->considered.empty());
}
