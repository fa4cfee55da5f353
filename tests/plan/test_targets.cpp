// What a device's plans do otherwise: it has more workers than a CPU has threads.
#include <catch2/catch.hpp>

#include "arrays.hpp"
#include "engine/plans/run.hpp"
#include "fusion/graph/graph.hpp"
#include "fusion/plan.hpp"

using namespace plait;
using namespace plait::test;
using fusion::FoldOrder;

namespace {

std::shared_ptr<fusion::Plan> planned(const Array& a, const fusion::Target& target) {
  const Ref<tracer::Node> node = tracer::read(a);
  tracer::Node* wanted[] = {node.get()};
  return fusion::make_plan(fusion::Graph(wanted), target);
}
// How the folds of a plan's regions go.
std::vector<FoldOrder> orders(const Array& a, const fusion::Target& target) {
  const auto plan = planned(a, target);
  std::vector<FoldOrder> found;
  for (const fusion::Step& s : plan->steps) found.push_back(s.region.order);
  return found;
}

using Orders = std::vector<FoldOrder>;

const Machine device = device_machine({});
const fusion::Target on_device = engine::device_target(device);

}  // namespace

TEST_CASE("few long rows are spread over a device in chunks, where that keeps their bits") {
  engine::start();
  config().eager_limit = 0;
  const Orders whole{FoldOrder::Whole}, chunks{FoldOrder::Chunks};
  const auto zeros = [](const Dims& shape, DType t) {
    return tracer::full(shape, cast(Scalar::of(DType::Float64, 0.0), t));
  };
  const auto reduced = [&](ReduceKind kind, std::int64_t rows, DType t) {
    return reduce(kind, apply(OpId::Add, zeros({rows, 70000}, t), zeros({rows, 70000}, t)), 1);
  };
  for (DType t : {DType::Float32, DType::Float64, DType::Complex64, DType::Int32})
    for (std::int64_t rows : {4, 100, 500, 600}) {
      INFO(name(t) << ", " << rows << " rows");
      CHECK(orders(reduced(ReduceKind::Sum, rows, t), {}) == (rows < 64 ? chunks : whole));
      CHECK(orders(reduced(ReduceKind::Sum, rows, t), on_device) == (rows < 512 ? chunks : whole));
    }
  for (ReduceKind kind : {ReduceKind::Max, ReduceKind::ArgMin})
    CHECK(orders(reduced(kind, 100, DType::Float64), on_device) == chunks);
  // NumPy multiplies in order. float16 is summed in float32.
  CHECK(orders(reduced(ReduceKind::Prod, 100, DType::Float64), on_device) == whole);
  CHECK(orders(reduced(ReduceKind::Sum, 100, DType::Float16), on_device) ==
        Orders{FoldOrder::Chunks, FoldOrder::Whole});
  // Short rows are a block's each.
  const Array shorter = reduce(ReduceKind::Sum, zeros({100, 60000}, DType::Float32), 1);
  CHECK(orders(shorter, on_device) == whole);
}

TEST_CASE("a device's product adds what would be in memory anyway and lies as it does") {
  engine::start();
  config().eager_limit = 0;
  const auto stored = [](const Dims& shape, DType t) {
    const Array a = tracer::empty(shape, t);
    tracer::evaluate(a);
    return a;
  };
  struct Steps {
    std::size_t all, sums, bytes;
  };
  const auto steps = [](const Array& a, const fusion::Target& target) {
    const auto plan = planned(a, target);
    Steps s{plan->steps.size(), 0, static_cast<std::size_t>(plan->bytes_moved)};
    for (const fusion::Step& step : plan->steps) s.sums += step.epilogue.whole;
    return s;
  };
  const std::size_t one = 100 * 100 * 8;
  const auto sum = [&](DType t, bool computed) {
    const Array x = stored({100, 100}, t), c = stored({100, 100}, t);
    return apply(OpId::Add, tracer::matmul(x, x), computed ? apply(OpId::Negative, c) : c);
  };
  const Steps there = steps(sum(DType::Float64, false), on_device),
              here = steps(sum(DType::Float64, false), {}),
              computed = steps(sum(DType::Float64, true), on_device),
              complex = steps(sum(DType::Complex64, false), on_device);
  CHECK((there.all == 1 && there.sums == 1 && there.bytes == 3 * one));
  CHECK((here.all == 2 && here.sums == 0 && here.bytes == 5 * one));
  // What is computed for the sum alone is computed where the product is.
  CHECK((computed.all == 1 && computed.sums == 0 && computed.bytes == 3 * one));
  CHECK((complex.all == 2 && complex.sums == 0));
}
