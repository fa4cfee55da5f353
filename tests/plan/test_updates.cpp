// Writes through views: where their memory comes from, and that it is accounted for.
#include <catch2/catch.hpp>

#include "arrays.hpp"
#include "tracer/context.hpp"

using namespace plait;
using namespace plait::test;

TEST_CASE("an input that is written between evaluations stays in its memory") {
  config().eager_limit = 0;
  Array x = random_f64({100000}, 1);
  const void* home = tracer::data(x);
  // A tenth of what the loop writes: memory that was handed on must not count as kept alive.
  tracer::set_graph_limit(4096, 8 << 20);
  const auto plans = engine::stats().plans_made;
  for (std::int64_t i = 0; i < 100; ++i) {
    tracer::set_item(x, Dims{i}, scalar_float(static_cast<double>(i)));
    REQUIRE(tracer::item(x, Dims{i}).as<double>() == static_cast<double>(i));
    // Two operations, one region: the graph is not flushed in between.
    Array y = reduce(ReduceKind::Max, apply(OpId::Square, x), 0);
    tracer::evaluate(y);
    REQUIRE(engine::last_plan().regions == 1);
  }
  CHECK(engine::stats().plans_made <= plans + 4);
  CHECK(tracer::data(x) == home);
  tracer::set_graph_limit(4096, std::size_t{1} << 30);
}
