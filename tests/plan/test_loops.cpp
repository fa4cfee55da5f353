// The loops of a plan: a caller's loop is found again by its steps' regions, with what it carries.
#include <catch2/catch.hpp>

#include "arrays.hpp"
#include "fusion/plan.hpp"
#include "numpy_compat/functions.hpp"

using namespace plait;
using namespace plait::test;
using fusion::StepLoop;

namespace {

constexpr std::int64_t kSteps = 12;
const tracer::Slice kInner{1, -1, {}}, kBefore{{}, -2, {}}, kBehind{2, {}, {}};

std::shared_ptr<fusion::Plan> looped_plan(const Array& a) {
  const Ref<tracer::Node> node = tracer::read(a);
  tracer::Node* wanted[] = {node.get()};
  return fusion::make_plan(fusion::Graph(wanted));
}
Array neighbours(const Array& u) {
  return apply(OpId::Add, view(u, {kBefore}), view(u, {kBehind}));
}
void smooth(Array& u) {
  tracer::assign(view(u, {kInner}), apply(OpId::Multiply, neighbours(u), weak(.5)));
}

}  // namespace

TEST_CASE("a loop of one write a step is a loop of the plan") {
  config().eager_limit = 0;
  Array u = tracer::copy(random_f64({200, 300}));
  for (std::int64_t t = 0; t < kSteps; ++t) smooth(u);
  const auto plan = looped_plan(u);
  REQUIRE(plan->loops.size() == 1);
  const StepLoop& l = plan->loops[0];
  CHECK(l.period == 1);
  CHECK(l.count == kSteps);
  CHECK(l.end() == plan->steps.size());
  CHECK(l.carried == plan->steps[l.first].region.roots);
}

TEST_CASE("a loop of two writes a step has a period of two, and carries both") {
  config().eager_limit = 0;
  Array u = tracer::copy(random_f64({200, 300}));
  Array v = tracer::copy(random_f64({200, 300}, 2));
  for (std::int64_t t = 0; t < kSteps; ++t) {
    tracer::assign(view(v, {kInner}), apply(OpId::Add, view(v, {kInner}), neighbours(u)));
    tracer::assign(u, apply(OpId::Subtract, u, v));
  }
  const auto plan = looped_plan(u);
  REQUIRE(plan->loops.size() == 1);
  const StepLoop& l = plan->loops[0];
  CHECK(l.period == 2);
  CHECK(l.count >= kSteps - 1);
  CHECK(l.carried.size() == 2);
}

TEST_CASE("a loop of new arrays carries what the step before made") {
  config().eager_limit = 0;
  Array u = random_f64({200, 300});
  for (std::int64_t t = 0; t < kSteps; ++t)
    u = apply(OpId::Multiply,
              apply(OpId::Add, numpy::roll(u, {1}, Dims{0}), numpy::roll(u, {-1}, Dims{0})),
              weak(.5));
  const auto plan = looped_plan(u);
  REQUIRE(plan->loops.size() == 1);
  CHECK(plan->loops[0].period == 1);
  CHECK(plan->loops[0].count >= kSteps - 1);
  CHECK(plan->loops[0].carried == plan->steps[plan->loops[0].first].region.roots);
}

TEST_CASE("two arrays that change places are carried over two steps") {
  config().eager_limit = 0;
  Array u = tracer::copy(random_f64({200, 300}));
  Array v = tracer::copy(random_f64({200, 300}, 2));
  for (std::int64_t t = 0; t < kSteps; ++t) {
    tracer::assign(view(v, {kInner}), apply(OpId::Multiply, neighbours(u), weak(.5)));
    std::swap(u, v);
  }
  const auto plan = looped_plan(u);
  REQUIRE(plan->loops.size() == 1);
  CHECK(plan->loops[0].period == 1);
  CHECK(plan->loops[0].carried.size() == 1);
}

TEST_CASE("a step that differs ends a loop") {
  config().eager_limit = 0;
  Array u = tracer::copy(random_f64({200, 300}));
  for (std::int64_t t = 0; t < 2 * kSteps + 1; ++t) {
    if (t == kSteps)
      tracer::assign(view(u, {kInner}), apply(OpId::Sqrt, neighbours(u)));
    else
      smooth(u);
  }
  const auto plan = looped_plan(u);
  REQUIRE(plan->loops.size() == 2);
  for (const StepLoop& l : plan->loops) {
    CHECK(l.period == 1);
    CHECK(l.count == kSteps);
  }
  CHECK(plan->loops[1].first == plan->loops[0].end() + 1);
}

TEST_CASE("a loop over parts that shrink is a loop, as extents are parameters") {
  config().eager_limit = 0;
  Array u = tracer::copy(random_f64({200, 300}));
  for (std::int64_t t = 0; t < kSteps; ++t) {
    const tracer::Slice inner{t + 1, -1, {}}, before{t, -2, {}}, behind{t + 2, {}, {}};
    tracer::assign(view(u, {inner}), apply(OpId::Add, view(u, {before}), view(u, {behind})));
  }
  const auto plan = looped_plan(u);
  REQUIRE(plan->loops.size() == 1);
  CHECK(plan->loops[0].period == 1);
}

TEST_CASE("equal steps that read nothing of each other are no loop, nor are steps that differ") {
  config().eager_limit = 0;
  Array u = tracer::copy(random_f64({200, 300}));
  for (const OpId fn : {OpId::Sqrt, OpId::Sin, OpId::Exp, OpId::Log, OpId::Tanh, OpId::Cos})
    tracer::assign(view(u, {kInner}), apply(fn, neighbours(u)));
  CHECK(looped_plan(u)->loops.empty());

  std::vector<Array> sums;
  std::vector<Ref<tracer::Node>> nodes;
  std::vector<tracer::Node*> wanted;
  for (unsigned i = 0; i < kSteps; ++i) {
    sums.push_back(neighbours(random_f64({20, 30}, i)));
    nodes.push_back(tracer::read(sums.back()));
    wanted.push_back(nodes.back().get());
  }
  CHECK(fusion::make_plan(fusion::Graph(wanted))->loops.empty());
}

TEST_CASE("a loop whose steps go a row further on is one step, and no loop of the plan") {
  config().eager_limit = 0;
  Array y = tracer::copy(random_f64({kSteps + 1, 300}));
  for (std::int64_t t = 0; t < kSteps; ++t)
    tracer::assign(view(y, {t + 1}), apply(OpId::Add, view(y, {t + 1}), view(y, {t})));
  const auto plan = looped_plan(y);
  CHECK(plan->loops.empty());
  CHECK(plan->steps.back().lowered.rounds == kSteps);
}
