// The choice between storing a value and computing it again, held against both choices over a sweep
// of extents, in counted work.
#include <catch2/catch.hpp>

#include "counted_work.hpp"
#include "fusion/graph/graph.hpp"
#include "reuse_graphs.hpp"

using namespace plait;
using namespace plait::test;

namespace {

// Only planned for: of millions of elements nobody reads one.
Array unwritten(const Dims& shape, unsigned) {
  engine::start();
  return tracer::empty(shape, DType::Float64);
}

double work_of(const fusion::Plan& plan, const fusion::Graph& g) {
  std::vector<std::int64_t> values;
  REQUIRE(fusion::bind(plan, g, values));
  return counted_work(plan, values);
}

}  // namespace

TEST_CASE("storing or recomputing is never wrong by more than a factor of two") {
  config().eager_limit = 0;
  int stored = 0, recomputed = 0, mattered = 0;
  for (const ReuseGraph& graph : reuse_graphs(unwritten))
    for (auto [n, m] : kReuseSweep) {
      const Array a = graph.build(n, m);
      const Ref<tracer::Node> node = tracer::read(a);
      tracer::Node* wanted[] = {node.get()};
      const fusion::Graph g(wanted);
      const double chosen = work_of(*fusion::make_plan(g), g);
      const double store = work_of(*fusion::make_plan(g, {}, fusion::Reuse::Store), g);
      const double again = work_of(*fusion::make_plan(g, {}, fusion::Reuse::Recompute), g);
      INFO(graph.name << ", n = " << n << ", m = " << m << ": chosen " << chosen << ", stored "
                      << store << ", recomputed " << again);
      CHECK(chosen <= 2 * std::min(store, again));
      stored += chosen == store && store < again;
      recomputed += chosen == again && again < store;
      mattered += std::max(store, again) > 2 * std::min(store, again);
    }
  // The sweep has both kinds, and extents where the wrong choice would show.
  CHECK(stored > 50);
  CHECK(recomputed > 50);
  CHECK(mattered > 100);
}

TEST_CASE("nor is it where a plan serves other extents of its class") {
  config().eager_limit = 0;
  const std::pair<Extents, Extents> ends[] = {{{9, 9}, {512, 512}},
                                              {{9, 600}, {500, 16000}},
                                              {{600, 9}, {16000, 500}},
                                              {{17000, 9}, {1000000, 12}},
                                              {{3, 17000}, {3, 1000000}}};
  int served = 0;
  for (const ReuseGraph& graph : reuse_graphs(unwritten))
    for (const auto& [low, high] : ends)
      for (auto [from, to] : {std::pair{low, high}, {high, low}}) {
        const Array a = graph.build(from.n, from.m), b = graph.build(to.n, to.m);
        const Ref<tracer::Node> made = tracer::read(a), served_with = tracer::read(b);
        tracer::Node* first[] = {made.get()};
        tracer::Node* second[] = {served_with.get()};
        const fusion::Graph f(first), g(second);
        const auto plan = fusion::make_plan(f);
        std::vector<std::int64_t> values;
        if (f.key() != g.key() || !fusion::bind(*plan, g, values)) continue;
        const double chosen = counted_work(*plan, values);
        const double store = work_of(*fusion::make_plan(g, {}, fusion::Reuse::Store), g);
        const double again = work_of(*fusion::make_plan(g, {}, fusion::Reuse::Recompute), g);
        INFO(graph.name << ", made for n = " << from.n << ", m = " << from.m
                        << ", run with n = " << to.n << ", m = " << to.m << ": " << chosen
                        << ", stored " << store << ", recomputed " << again);
        CHECK(chosen <= 2 * std::min(store, again));
        ++served;
      }
  CHECK(served > 50);
}
