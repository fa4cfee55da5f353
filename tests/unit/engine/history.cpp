// When a graph is planned and when its operations are done one by one.
#include "engine/plans/history.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "../../plan/arrays.hpp"
#include "engine/plans/plan_ahead.hpp"
#include "engine/plans/reductions_along.hpp"
#include "engine/plans/run.hpp"

using namespace plait;
using namespace plait::engine;
using namespace plait::test;

namespace {

// Records everything, plans what pays, and has forgotten the past.
struct Fresh {
  Config before = config();
  Fresh() {
    engine::start();
    config().eager_limit = 0;
    config().plan = PlanMode::Auto;
    forget_plans();
  }
  ~Fresh() {
    config().eager_limit = before.eager_limit;
    config().plan = before.plan;
  }
};

Array chain(const Array& a, int operations) {
  Array x = apply(OpId::Absolute, a);
  for (int i = 1; i < operations; ++i) x = apply(OpId::Sqrt, apply(OpId::Add, x, weak(i)));
  return x;
}

fusion::Graph graph_of(const Ref<tracer::Node>& n) {
  tracer::Node* wanted[] = {n.get()};
  return fusion::Graph(wanted);
}

std::uint64_t plans_for(const Array& a) {
  wait_for_plans();  // of what was evaluated before
  const std::uint64_t before = stats().plans_made;
  tracer::evaluate(a);
  return stats().plans_made - before;
}

}  // namespace

TEST_CASE("a plan serves the numbers of threads of its class, and is kept for when they return") {
  const Fresh fresh;
  config().plan = PlanMode::Always;
  const Array a = random_f64({5000});
  const auto made_with = [&](int threads) {
    set_num_threads(threads);
    return plans_for(chain(a, 20));
  };
  const int before = num_threads();
  CHECK(made_with(1) == 1);
  CHECK(made_with(2) == 1);
  CHECK(made_with(5) == 1);
  CHECK(made_with(8) == 0);
  CHECK(made_with(1) == 0);
  set_num_threads(before);
}

TEST_CASE("work that takes less than planning it is done at once, to the same bits") {
  const Fresh fresh;
  const Array a = random_f64({5000});
  const Array x = chain(a, 20);
  CHECK(plans_for(x) == 0);
  config().plan = PlanMode::Always;
  const Array y = chain(a, 20);
  CHECK(plans_for(y) == 1);
  CHECK(bytes(x) == bytes(y));
}

TEST_CASE("work that takes longer than planning it is planned at once") {
  const Fresh fresh;
  CHECK(plans_for(chain(random_f64({4'000'000}), 4)) == 1);
}

TEST_CASE("what comes round is planned in the end") {
  const Fresh fresh;
  const Array a = random_f64({5000});
  const std::uint64_t before = stats().plans_made;
  int rounds = 0;
  while (stats().plans_made == before && ++rounds < 100'000) tracer::evaluate(chain(a, 20));
  CHECK(rounds > 1);
  CHECK(rounds < 100'000);
  CHECK(plans_for(chain(a, 20)) == 0);
}

TEST_CASE("the direct way is taken until it has cost what planning does") {
  const Fresh fresh;
  const Array x = chain(random_f64({5000}), 20);
  const Ref<tracer::Node> n = tracer::read(x);
  const fusion::Graph g = graph_of(n);
  Round first(g, false);
  CHECK(first.direct());
  first.took(1e-6);
  Round second(g, false);
  CHECK(second.direct());
  second.took(1);
  CHECK_FALSE(Round(g, false).direct());
  CHECK_FALSE(Round(g, true).direct());
}

TEST_CASE("a plan that measures slower than the direct way is dropped, and tried again later") {
  const Fresh fresh;
  const Array x = chain(random_f64({5000}), 20);
  const Ref<tracer::Node> n = tracer::read(x);
  const fusion::Graph g = graph_of(n);
  Round direct(g, false);
  REQUIRE(direct.direct());
  direct.took(1e-3);
  int planned = 0;
  for (; planned < 1000; ++planned) {
    Round r(g, true);
    if (r.direct()) break;
    r.took(2e-3);
  }
  CHECK(planned > 1);
  CHECK(planned < 1000);
  int rounds = 0;
  for (; rounds < 100'000; ++rounds) {
    Round r(g, true);
    if (!r.direct()) break;
    r.took(1e-3);
  }
  CHECK(rounds > 100);
  CHECK(rounds < 100'000);
  // It has become the faster one.
  Round again(g, true);
  REQUIRE_FALSE(again.direct());
  again.took(0.5e-3);
  CHECK_FALSE(Round(g, true).direct());
}

TEST_CASE("sums that a plan cuts otherwise are planned") {
  const Fresh fresh;
  auto same_bits = [](const Array& a) {
    const Ref<tracer::Node> n = tracer::read(a);
    return direct_work(graph_of(n)).same_bits;
  };
  const Array a = random_f64({6000, 40}), few = random_f64({50, 40});
  CHECK_FALSE(same_bits(reduce(ReduceKind::Sum, a, 0)));
  CHECK(same_bits(reduce(ReduceKind::Max, a, 0)));
  CHECK_FALSE(same_bits(reduce(ReduceKind::Prod, few, 0)));
  CHECK_FALSE(same_bits(reduce(ReduceKind::Sum, tracer::astype(few, DType::Complex128), 0)));
  CHECK(same_bits(reduce(ReduceKind::Sum, a, 1)));
  CHECK(same_bits(reduce(ReduceKind::Sum, few, 0)));
  tracer::ReduceOptions all;
  CHECK(same_bits(tracer::reduce(ReduceKind::Sum, apply(OpId::Sqrt, a), all)));
  const Array part =
      view(a, {tracer::Slice{0, 90, std::nullopt}, tracer::Slice{0, 20, std::nullopt}});
  CHECK_FALSE(same_bits(tracer::reduce(ReduceKind::Sum, part, all)));
  config().plan = PlanMode::Auto;
  CHECK(plans_for(reduce(ReduceKind::Sum, a, 0)) == 1);
}

TEST_CASE("small sums are those of a plan, bit for bit") {
  const Fresh fresh;
  const Array a = random_f64({90, 141});
  auto rows = [&] { return reduce(ReduceKind::Sum, apply(OpId::Multiply, a, a), 1); };
  auto columns = [&] {
    return reduce(ReduceKind::Sum, apply(OpId::Sqrt, apply(OpId::Absolute, a)), 0);
  };
  for (const std::function<Array()>& f :
       {std::function<Array()>(rows), std::function<Array()>(columns)}) {
    config().plan = PlanMode::Auto;
    const Array x = f();
    CHECK(plans_for(x) == 0);
    config().plan = PlanMode::Always;
    const Array y = f();
    CHECK(plans_for(y) == 1);
    CHECK(bytes(x) == bytes(y));
  }
}

namespace {

// Evaluates what is recorded twice, which has it planned, and a third time; returns how often that
// found the plan.
std::uint64_t plans_found(const std::function<Array()>& recorded) {
  Array first;
  // A first round that loses its core takes as long as planning, which the second then does.
  bool twice = false;
  for (int attempt = 0; attempt < 10 && !twice; ++attempt) {
    forget_plans();
    first = recorded();
    twice = plans_for(first) == 0;
    wait_for_plans();
    twice = plans_for(recorded()) == 0 && twice;
    wait_for_plans();
  }
  REQUIRE(twice);
  const std::uint64_t reused = stats().plans_reused;
  const Array third = recorded();
  CHECK(plans_for(third) == 0);
  const std::uint64_t found = stats().plans_reused - reused;
  CHECK(bytes(first) == bytes(third));
  return found;
}

}  // namespace

TEST_CASE("what comes by a second time is planned in the background") {
  const Fresh fresh;
  const Array a = random_f64({5000});
  CHECK(plans_found([&] { return chain(a, 20); }) == 1);
}

TEST_CASE("a plan made in the background gathers by the step that was recorded") {
  const Fresh fresh;
  const Array table = random_f64({5000, 2});
  const Array at = tracer::empty(Dims{5000}, DType::Int64);
  auto* place = static_cast<std::int64_t*>(tracer::data(at));
  for (std::int64_t i = 0; i < 5000; ++i) place[i] = i * 1237 % 5000;
  Array read = table;  // the second column, from its first row on
  read.shape = {5000};
  read.strides = {0};
  read.offset += 8;
  CHECK(plans_found([&] { return chain(tracer::gather(read, at, 16, {8}), 20); }) == 1);
}

namespace {

constexpr std::uint32_t kFirst = 7, kSecond = 8;  // call sites
constexpr auto kMin = FullReduction::Min, kMax = FullReduction::Max;

ReductionsAlong::Shown contents(std::uint64_t number) {
  return {.contents = number, .dtype = DType::Float64, .shape = {9}, .strides = {8}};
}

// `a.min()` at one site and `a.max()` at the next, computed with it where that is expected: whether
// the second one was given its value.
bool both_asked(ReductionsAlong& along, std::uint64_t of) {
  const ReductionsAlong::Answer first = along.ask(contents(of), kFirst, kMin, true);
  if (first.expected) {
    ReductionsAlong::Values values{};
    values[static_cast<std::size_t>(kMax)] = scalar_float(static_cast<double>(of));
    along.computed(contents(of), first.expected, values);
  }
  const auto second = along.ask(contents(of), kSecond, kMax, true).value;
  if (second) CHECK(second->as<double>() == static_cast<double>(of));
  return second.has_value();
}

}  // namespace

TEST_CASE("a reduction that followed twice is expected, and its value is given once") {
  ReductionsAlong along;
  CHECK_FALSE(both_asked(along, 1));
  CHECK_FALSE(both_asked(along, 2));
  CHECK(both_asked(along, 3));
  CHECK_FALSE(along.ask(contents(3), kSecond + 1, kMax, true).value);
  CHECK(along.passes == 1);
  CHECK(along.given == 1);
  // Other contents, of which nothing is known.
  CHECK(along.ask(contents(4), kFirst, kMin, true).expected == ReductionsAlong::bit(kMax));
  CHECK_FALSE(along.ask(contents(5), kSecond, kMax, true).value);
}

TEST_CASE("what did not follow, raised an event or is listened to is not expected") {
  ReductionsAlong along;
  for (const std::uint64_t of : {1, 2, 3}) both_asked(along, of);
  CHECK(along.ask(contents(4), kFirst, kMin, false).expected == 0);
  along.ask(contents(5), kFirst, kMin, true);  // the last round had no second
  CHECK(along.ask(contents(6), kFirst, kMin, true).expected == 0);
  for (const std::uint64_t of : {7, 8, 9}) both_asked(along, of);
  CHECK(along.ask(contents(10), kFirst, kMin, true).expected != 0);
  along.raised_an_event(kFirst);
  CHECK(along.ask(contents(11), kFirst, kMin, true).expected == 0);
}

TEST_CASE("a value whose array another thread has left behind is nobody's") {
  ReductionsAlong along;
  for (const std::uint64_t of : {1, 2}) both_asked(along, of);
  const auto first = along.ask(contents(3), kFirst, kMin, true);
  REQUIRE(first.expected != 0);
  along.ask(contents(4), kSecond, kMax, true);
  along.computed(contents(3), first.expected, {});
  CHECK_FALSE(along.ask(contents(4), kFirst, kMax, true).value);
}
