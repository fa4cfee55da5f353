// What a device's plans do otherwise: it has more workers than a CPU has threads.
#include <catch2/catch.hpp>

#include "arrays.hpp"
#include "engine/run.hpp"
#include "fusion/graph.hpp"
#include "fusion/plan.hpp"

using namespace plait;
using namespace plait::test;
using fusion::RegionKind;

namespace {

// The kinds of a plan's regions.
std::vector<RegionKind> kinds(const Array& a, const fusion::Target& target) {
  const Ref<tracer::Node> node = tracer::read(a);
  tracer::Node* wanted[] = {node.get()};
  const auto plan = fusion::make_plan(fusion::Graph(wanted), target);
  std::vector<RegionKind> found;
  for (const fusion::Step& s : plan->steps) found.push_back(s.region.kind);
  return found;
}

using Kinds = std::vector<RegionKind>;

}  // namespace

TEST_CASE("few long rows are spread over a device in chunks, where that keeps their bits") {
  engine::start();
  config().eager_limit = 0;
  const Kinds whole{RegionKind::Map}, chunks{RegionKind::Blocked};
  const auto zeros = [](const Dims& shape, DType t) {
    return tracer::full(shape, cast(Scalar::of(DType::Float64, 0.0), t));
  };
  const auto reduced = [&](ReduceKind kind, std::int64_t rows, DType t) {
    return reduce(kind, apply(OpId::Add, zeros({rows, 70000}, t), zeros({rows, 70000}, t)), 1);
  };
  for (DType t : {DType::Float32, DType::Float64, DType::Complex64, DType::Int32})
    for (std::int64_t rows : {4, 100, 500, 600}) {
      INFO(name(t) << ", " << rows << " rows");
      CHECK(kinds(reduced(ReduceKind::Sum, rows, t), {}) == (rows < 64 ? chunks : whole));
      CHECK(kinds(reduced(ReduceKind::Sum, rows, t), engine::kDeviceTarget) ==
            (rows < 512 ? chunks : whole));
    }
  for (ReduceKind kind : {ReduceKind::Max, ReduceKind::ArgMin})
    CHECK(kinds(reduced(kind, 100, DType::Float64), engine::kDeviceTarget) == chunks);
  // NumPy multiplies in order. float16 is summed in float32.
  CHECK(kinds(reduced(ReduceKind::Prod, 100, DType::Float64), engine::kDeviceTarget) == whole);
  CHECK(kinds(reduced(ReduceKind::Sum, 100, DType::Float16), engine::kDeviceTarget) ==
        Kinds{RegionKind::Blocked, RegionKind::Map});
  // Short rows are a block's each.
  const Array shorter = reduce(ReduceKind::Sum, zeros({100, 60000}, DType::Float32), 1);
  CHECK(kinds(shorter, engine::kDeviceTarget) == whole);
}
