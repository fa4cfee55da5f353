// What planning may take, and what happens where it would take more.
#include "fusion/graph/budget.hpp"

#include <catch2/catch.hpp>

#include "arrays.hpp"
#include "engine/plans/history.hpp"
#include "fusion/plan.hpp"
#include "tracer/context.hpp"

using namespace plait;
using namespace plait::test;

namespace {

struct Planned {
  Array array;
  Ref<tracer::Node> node;
  fusion::Graph graph;
  static Planned of(Array a) {
    Ref<tracer::Node> n = tracer::read(a);
    tracer::Node* const wanted[] = {n.get()};
    return {std::move(a), n, fusion::Graph(wanted)};
  }
};
Planned columns_less_their_sums() {
  config().eager_limit = 0;
  const Array a = random_f64({64, 64});
  return Planned::of(apply(OpId::Subtract, a, reduce(ReduceKind::Sum, a, 0)));
}
void plan(const Planned& p, const fusion::Budget& budget) {
  (void)fusion::make_plan(p.graph, {}, fusion::Reuse::ByCost, fusion::all_rules(), budget);
}

}  // namespace

TEST_CASE("planning stops where it is told to, and where its budget is spent") {
  const Planned p = columns_less_their_sums();
  std::atomic<bool> stop{false};
  const fusion::Budget enough(stop, 1e9, std::size_t{1} << 40);
  CHECK_NOTHROW(plan(p, enough));
  const fusion::Budget few_expressions(stop, 1e9, 2), no_time(stop, -1, std::size_t{1} << 40);
  CHECK_THROWS_AS(plan(p, few_expressions), fusion::PlanningStopped);
  CHECK_THROWS_AS(plan(p, no_time), fusion::PlanningStopped);
  CHECK(few_expressions.spent());
  CHECK(no_time.spent());
  stop = true;
  CHECK_THROWS_AS(plan(p, enough), fusion::PlanningStopped);
  CHECK_FALSE(enough.spent());
}

TEST_CASE("what is not to be planned is evaluated an operation at a time, and asks for no plan") {
  config().plan = PlanMode::Auto;
  const Planned p = columns_less_their_sums();
  engine::forget_rounds();
  engine::never_plan(p.graph);
  for (int i = 0; i < 5; ++i) {
    engine::Round round(p.graph, false);
    CHECK(round.direct());
    CHECK_FALSE(round.wants_plan_ahead());
    round.took(1e3);
  }
  engine::forget_rounds();
}
