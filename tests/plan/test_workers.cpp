// What plans for other numbers of workers do otherwise, and that results do not.
#include <catch2/catch.hpp>

#include "counted_work.hpp"
#include "engine/plans/run.hpp"
#include "fusion/graph/graph.hpp"
#include "reuse_graphs.hpp"

using namespace plait;
using namespace plait::test;

namespace {

constexpr int kWorkers[] = {1, 2, 8, 64};

// Counted work of a plan: all of it, and until the last worker is done.
struct Counted {
  double work = 0, time = 0;
};

Counted counted(const fusion::Graph& g, int workers, fusion::Reuse reuse = fusion::Reuse::ByCost) {
  const auto plan = fusion::make_plan(g, {.workers = workers}, reuse);
  std::vector<std::int64_t> values;
  REQUIRE(fusion::bind(*plan, g, values));
  Counted c;
  for (const fusion::Step& s : plan->steps) {
    const fusion::LoweredKernel& l = s.lowered;
    const double alone = CountedWork(l, values).nanoseconds();
    const double parts = l.partials.empty() ? static_cast<double>(values[l.grid_extent]) : 64;
    const bool shared = alone * 1e-9 >= kMachine.least_shared;
    c.work += alone;
    c.time += shared ? alone / std::clamp<double>(parts, 1, workers) +
                           1e9 * (kMachine.ask_awake + kMachine.join)
                     : alone;
  }
  return c;
}

Array unwritten(const Dims& shape, unsigned) {
  engine::start();
  return tracer::empty(shape, DType::Float64);
}

}  // namespace

TEST_CASE("what is long is shared, and nothing is computed again for each worker") {
  config().eager_limit = 0;
  for (const ReuseGraph& graph : reuse_graphs(unwritten))
    for (auto [n, m] : {Extents{9, 20000}, {300, 300}, {2000, 40}, {20000, 16}, {700, 1100}}) {
      const Array a = graph.build(n, m);
      const Ref<tracer::Node> node = tracer::read(a);
      tracer::Node* wanted[] = {node.get()};
      const fusion::Graph g(wanted);
      const double least_work = counted(g, 1).work;
      for (const int workers : kWorkers) {
        const Counted chosen = counted(g, workers);
        const double store = counted(g, workers, fusion::Reuse::Store).time;
        const double again = counted(g, workers, fusion::Reuse::Recompute).time;
        INFO(graph.name << ", n = " << n << ", m = " << m << ", " << workers << " workers: chosen "
                        << chosen.time << " ns, stored " << store << ", recomputed " << again
                        << "; work " << chosen.work << " of " << least_work);
        CHECK(chosen.time <= 2 * std::min(store, again));
        CHECK(chosen.work <= 4 * least_work);
      }
    }
}

TEST_CASE("plans for any number of workers give the same bits") {
  const Config saved = config();
  config().machine = &kMachine;
  config().eager_limit = 0;
  config().plan = PlanMode::Always;
  const auto each = [&](const std::string& name, const std::function<Array()>& build) {
    std::vector<unsigned char> first;
    for (const int workers : kWorkers) {
      config().threads = workers;
      engine::forget_plans();
      const std::vector<unsigned char> now = bytes(build());
      if (first.empty()) first = now;
      INFO(name << ", " << workers << " workers");
      CHECK(now == first);
    }
  };
  for (const ReuseGraph& graph : reuse_graphs(random_f64))
    each(graph.name, [&] { return graph.build(30, 700); });
  const Array x = random_f64({70, 5000}), y = random_f32({200, 300}), z = random_f32({300, 90}, 2);
  const auto exp = [](const Array& a) { return apply(OpId::Exp, a); };
  each("sum", [&] { return reduce(ReduceKind::Sum, exp(x)); });
  each("sums of rows", [&] { return reduce(ReduceKind::Sum, exp(x), 1); });
  each("sums of columns", [&] { return reduce(ReduceKind::Sum, exp(x), 0); });
  each("a product", [&] { return exp(tracer::matmul(exp(y), z)); });
  config() = saved;
}
