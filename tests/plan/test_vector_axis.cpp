// Along which axis the lanes run: a map axis, the reduced axis, the arg-reduced axis, by cost.
#include <catch2/catch.hpp>

#include "arrays.hpp"
#include "fusion/graph/graph.hpp"
#include "fusion/plan.hpp"

using namespace plait;
using namespace plait::test;

namespace {

enum class Axis { Map, Reduced, ArgReduced };

// The axis of the vector loops of a plan of one region.
std::vector<Axis> vector_axes(const Array& a) {
  const Ref<tracer::Node> node = tracer::read(a);
  tracer::Node* wanted[] = {node.get()};
  const auto plan = fusion::make_plan(fusion::Graph(wanted));
  REQUIRE(plan->steps.size() == 1);
  std::vector<Axis> axes;
  for (const ir::Loop& l : plan->steps[0].lowered.kernel.loops) {
    if (!l.lanes()) continue;
    Axis axis = l.reductions.empty() ? Axis::Map : Axis::Reduced;
    for (const ir::Reduction& r : l.reductions)
      if (is_arg(r.kind)) axis = Axis::ArgReduced;
    axes.push_back(axis);
  }
  return axes;
}

// argmin over k of |x[n] - means[k]|, each of d coordinates.
Array nearest(std::int64_t n, std::int64_t k, std::int64_t d) {
  const Array x = random_f64({n, d}, 1), means = random_f64({k, d}, 2);
  const Array diff = apply(OpId::Subtract, x, view(means, {tracer::All{}, tracer::NewAxis{}}));
  return reduce(ReduceKind::ArgMin,
                apply(OpId::Sqrt, reduce(ReduceKind::Sum, apply(OpId::Multiply, diff, diff), 2)),
                0);
}

// Every choice gives the reference's bits.
bool exact(const std::function<Array()>& f) {
  const Both r = both(f);
  return r.fused == r.direct;
}

}  // namespace

TEST_CASE("many points run their lanes over the points, a map axis") {
  config().eager_limit = 0;
  for (auto [n, k, d] : {std::tuple{3000, 2, 2}, {3000, 8, 8}, {2000, 16, 3}, {500, 64, 64}}) {
    INFO(n << " points, " << k << " means, " << d << " coordinates");
    CHECK(vector_axes(nearest(n, k, d)) == std::vector{Axis::Map});
    CHECK(exact([n = n, k = k, d = d] { return nearest(n, k, d); }));
  }
}

TEST_CASE(
    "few points with many coordinates run their lanes over the coordinates, the reduced axis") {
  config().eager_limit = 0;
  for (auto [n, k, d] : {std::tuple{2, 3, 4096}, {3, 9, 1000}}) {
    INFO(n << " points, " << k << " means, " << d << " coordinates");
    CHECK(vector_axes(nearest(n, k, d)) == std::vector{Axis::Reduced});
    CHECK(exact([n = n, k = k, d = d] { return nearest(n, k, d); }));
  }
}

TEST_CASE("few points with many means run their lanes over the means, the arg-reduced axis") {
  config().eager_limit = 0;
  for (auto [n, k, d] : {std::tuple{2, 5000, 2}, {3, 2000, 4}}) {
    INFO(n << " points, " << k << " means, " << d << " coordinates");
    CHECK(vector_axes(nearest(n, k, d)) == std::vector{Axis::ArgReduced});
    CHECK(exact([n = n, k = k, d = d] { return nearest(n, k, d); }));
  }
}

TEST_CASE("plain reductions take the axis that is contiguous, unless it is short") {
  config().eager_limit = 0;
  CHECK(vector_axes(reduce(ReduceKind::Sum, random_f64({100, 3000}), 1)) ==
        std::vector{Axis::Reduced});
  CHECK(vector_axes(reduce(ReduceKind::ArgMax, random_f64({100, 3000}), 1)) ==
        std::vector{Axis::ArgReduced});
  CHECK(vector_axes(reduce(ReduceKind::Sum, random_f64({100, 3000}), 0)) == std::vector{Axis::Map});
  CHECK(vector_axes(reduce(ReduceKind::ArgMax, random_f64({100, 3000}), 0)) ==
        std::vector{Axis::Map});
  CHECK(vector_axes(reduce(ReduceKind::Sum, random_f64({3000, 3}), 1)) == std::vector{Axis::Map});
  CHECK(vector_axes(reduce(ReduceKind::ArgMax, random_f64({3000, 3}), 1)) ==
        std::vector{Axis::Map});
}

TEST_CASE("few columns that are not side by side run their lanes along the arg-reduced rows") {
  config().eager_limit = 0;
  const Array x = random_f32({40000, 7});
  auto f = [&] {
    return reduce(ReduceKind::ArgMax, view(x, {tracer::All{}, tracer::Slice{{}, {}, 2}}), 0);
  };
  CHECK(vector_axes(f()) == std::vector{Axis::ArgReduced});
  CHECK(exact(f));
}

TEST_CASE(
    "columns of many short rows are read ahead, and a register at a time where they fill one") {
  config().eager_limit = 0;
  auto vector_loop = [](std::int64_t rows, std::int64_t columns) {
    const Array a = reduce(ReduceKind::Max, random_f64({rows, columns}, 1), 0);
    const Ref<tracer::Node> node = tracer::read(a);
    tracer::Node* wanted[] = {node.get()};
    const auto plan = fusion::make_plan(fusion::Graph(wanted));
    REQUIRE(plan->steps.size() == 1);
    const std::vector<ir::Loop>& loops = plan->steps[0].lowered.kernel.loops;
    for (std::size_t l = 1; l < loops.size(); ++l)  // the first is of chunks of rows
      if (loops[l].lanes()) return loops[l];
    FAIL("no vector loop inside the grid");
    return ir::Loop{};
  };
  const ir::Loop two = vector_loop(100000, 16), one = vector_loop(100000, 10),
                 wide = vector_loop(100000, 100);
  CHECK((two.prefetch && two.unroll == 2));
  CHECK((one.prefetch && one.unroll == 1));
  CHECK_FALSE(wide.prefetch);  // its rows are not read whole
  CHECK(exact([] { return reduce(ReduceKind::Max, random_f64({100000, 10}, 1), 0); }));
}

TEST_CASE("short rows that follow each other in memory are read ahead") {
  config().eager_limit = 0;
  auto ahead = [](std::int64_t rows, std::int64_t step) {
    const Array x = view(random_f64({rows * step, 100}, 1), {tracer::Slice{{}, {}, step}});
    const Array a = reduce(ReduceKind::Sum, x, 1);
    const Ref<tracer::Node> node = tracer::read(a);
    tracer::Node* wanted[] = {node.get()};
    const auto plan = fusion::make_plan(fusion::Graph(wanted));
    REQUIRE(plan->steps.size() == 1);
    for (const ir::Loop& l : plan->steps[0].lowered.kernel.loops)
      if (l.lanes()) return l.prefetch;
    FAIL("no vector loop");
    return false;
  };
  CHECK(ahead(4000, 1));
  CHECK_FALSE(ahead(4000, 2));  // rows apart
  CHECK_FALSE(ahead(40, 1));    // what the cache holds
}
