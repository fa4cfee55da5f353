// The timed form of tests/plan/test_reuse.cpp: each graph of the sweep with the planner's choice
// between storing and recomputing, and with each choice forced; prints the three times and the
// ratio of the chosen to the better one. `reuse --measure` prints what counted_work.hpp is made of.
//
//     reuse [--measure] [words that a graph's name has to contain]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "engine/plans/run.hpp"
#include "fusion/graph/graph.hpp"
#include "plan/counted_work.hpp"
#include "plan/reuse_graphs.hpp"

using namespace plait;
using namespace plait::test;

namespace {

// The best of many rounds: what else the machine does is no matter of the plan.
double nanoseconds(const std::function<Array()>& build, bool forced = false,
                   fusion::Reuse reuse = fusion::Reuse::ByCost) {
  using Clock = std::chrono::steady_clock;
  double best = INFINITY;
  engine::forget_plans();
  const auto end = Clock::now() + std::chrono::milliseconds(120);
  for (int round = 0; round < 4 || (Clock::now() < end && round < 60); ++round) {
    const Array a = build();
    const Ref<tracer::Node> node = tracer::read(a);
    tracer::Node* wanted[] = {node.get()};
    if (forced && round == 0) {
      const fusion::Graph g(wanted);
      std::vector<std::int64_t> values;
      const auto plan = fusion::make_plan(g, engine::host_target(), reuse);
      fusion::bind(*plan, g, values);
      engine::adopt_plan(g, plan);
    }
    const auto start = Clock::now();
    engine::evaluate_fused(wanted);
    // The first rounds compile.
    if (round > 1)
      best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return best;
}

// Chains of five and of one of an operation over rows that stay in the first-level cache.
void measure() {
  engine::set_num_threads(1);
  const Array rows = random_f64({256}, 1), columns = random_f64({4000, 1}, 2);
  const double vectors = 4000.0 * 256 / kLanes;
  auto chain = [&](OpId fn, int length) {
    return nanoseconds([&] {
      Array v = apply(OpId::Add, apply(OpId::Absolute, rows), apply(OpId::Absolute, columns));
      for (int i = 0; i < length; ++i)
        // The negative keeps exponentials from overflowing.
        v = op_info(fn).arity == 2 ? apply(fn, v, columns)
            : fn == OpId::Exp      ? apply(fn, apply(OpId::Negative, v))
                                   : apply(fn, v);
      return reduce(ReduceKind::Max, v, 1);
    });
  };
  for (OpId fn : {OpId::Add, OpId::Multiply, OpId::Maximum, OpId::Divide, OpId::Sqrt, OpId::Exp,
                  OpId::Sin, OpId::Tanh})
    std::printf("%-10s %6.2f ns a vector\n", std::string(op_info(fn).name).c_str(),
                (chain(fn, 5) - chain(fn, 1)) / 4 / vectors);
  for (std::int64_t n : {30000, 10000000}) {
    const Array a = random_f64({n}, 1);
    const double t = nanoseconds([&] { return apply(OpId::Add, a, weak(1)); });
    std::printf("%-10s %6.3f ns a byte\n", n < 100000 ? "cache" : "memory",
                t / (16.0 * static_cast<double>(n)));
  }
  const Array one = random_f64({1}, 1);
  std::printf("%-10s %6.0f ns\n", "region",
              nanoseconds([&] { return apply(OpId::Add, one, weak(1)); }));
}

}  // namespace

int main(int argc, char** argv) {
  config().eager_limit = 0;
  config().jit = JitMode::Blocking;
  if (argc > 1 && std::strcmp(argv[1], "--measure") == 0) {
    measure();
    return 0;
  }
  std::printf("%d threads; microseconds\n%8s %8s %10s %10s %10s %6s  graph\n",
              engine::num_threads(), "n", "m", "chosen", "stored", "recomputed", "ratio");
  for (const ReuseGraph& graph : reuse_graphs(random_f64)) {
    if (argc > 1 && graph.name.find(argv[1]) == std::string::npos) continue;
    for (auto [n, m] : kReuseSweep) {
      const auto build = [&, n = n, m = m] { return graph.build(n, m); };
      const double chosen = nanoseconds(build);
      const double store = nanoseconds(build, true, fusion::Reuse::Store);
      const double again = nanoseconds(build, true, fusion::Reuse::Recompute);
      std::printf("%8lld %8lld %10.1f %10.1f %10.1f %6.2f  %s\n", static_cast<long long>(n),
                  static_cast<long long>(m), chosen / 1e3, store / 1e3, again / 1e3,
                  chosen / std::min(store, again), graph.name.c_str());
      std::fflush(stdout);
    }
  }
}
