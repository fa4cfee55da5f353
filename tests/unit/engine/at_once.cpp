// Operations of middling size at call sites that come round.
#include "tracer/at_once.hpp"

#include <catch2/catch.hpp>
#include <mutex>
#include <vector>

#include "../../plan/arrays.hpp"
#include "engine/plans/history.hpp"
#include "engine/plans/plan_ahead.hpp"
#include "engine/plans/run.hpp"
#include "engine/reports/report.hpp"
#include "tracer/graph.hpp"

using namespace plait;
using namespace plait::engine;
using namespace plait::test;
using tracer::is_materialised;

namespace {

std::uint32_t here = 0;  // the call site

// Operations at sites that the test names, in the default configuration.
struct Sites {
  Config before = config();
  Sites() {
    engine::start();
    config().eager_limit = 2048;
    config().plan = PlanMode::Auto;
    config().fuse = true;
    forget_plans();
    tracer::context().at_once = {};
    tracer::context().trial_left = 0;
    tracer::set_site_hook([] { return here; });
  }
  ~Sites() {
    tracer::set_site_hook(nullptr);
    tracer::record_again();
    config() = before;
    here = 0;
  }
};

// These have had their first rounds.
void past(std::vector<std::uint32_t> sites) {
  const std::lock_guard held(tracer::lock());
  tracer::compute_at_once(sites, 1);
  tracer::record_again();
}

void at_once(std::vector<std::uint32_t> sites, std::uint32_t rounds) {
  const std::lock_guard held(tracer::lock());
  tracer::compute_at_once(sites, rounds);
}

Array plus_at(std::uint32_t site, const Array& a, double v) {
  here = site;
  return apply(OpId::Add, a, weak(v));
}

void add_to_at(std::uint32_t site, const Array& a, const Operand& v) {
  here = site;
  tracer::ElementwiseOptions opt;
  opt.out = &a;
  const Operand o[] = {a, v};
  tracer::elementwise(OpId::Add, o, opt);
}

Array shifted(const Array& a, std::int64_t from, std::int64_t to) {
  return view(a, {tracer::Slice{from, to, std::nullopt}});
}

}  // namespace

TEST_CASE("sites compute at once for so many rounds, others record") {
  const Sites sites;
  const Array a = random_f64({5000});
  CHECK_FALSE(is_materialised(plus_at(1, a, 1)));
  at_once({1, 2, 2}, 2);
  CHECK(is_materialised(plus_at(1, a, 1)));
  CHECK_FALSE(is_materialised(plus_at(3, a, 1)));
  for (int i = 0; i < 3; ++i) CHECK(is_materialised(plus_at(2, a, 1)));
  {
    const std::lock_guard held(tracer::lock());
    CHECK(tracer::rounds_at_once(1) == 1);
    CHECK(tracer::rounds_at_once(2) == 1);
    CHECK(tracer::rounds_at_once(3) == 0);
  }
  CHECK(is_materialised(plus_at(1, a, 1)));        // the second round is over
  CHECK_FALSE(is_materialised(plus_at(1, a, 1)));  // here,
  CHECK_FALSE(is_materialised(plus_at(2, a, 1)));  // and everywhere
}

TEST_CASE("what is pending is computed where it is read at once; long operations are recorded") {
  const Sites sites;
  at_once({1}, 100);
  CHECK_FALSE(is_materialised(plus_at(1, random_f64({30'000}), 1)));
  CHECK(is_materialised(plus_at(1, random_f64({20'000}), 1)));
  here = 1;
  const Array bytes = tracer::astype(random_f64({100, 200}), DType::Int8);
  CHECK(is_materialised(apply(OpId::Add, bytes, bytes)));
  const Array pending = plus_at(2, random_f64({5000}), 1);
  CHECK_FALSE(is_materialised(pending));
  CHECK(is_materialised(plus_at(1, pending, 1)));
  CHECK(is_materialised(pending));
}

TEST_CASE("what reads a pending product is recorded: a plan may add others to its sums") {
  const Sites sites;
  at_once({1}, 100);
  const Array a = random_f64({100, 100}), b = random_f64({100, 100}, 2);
  here = 2;
  const Array product = tracer::matmul(a, b);
  const Array more = plus_at(1, product, 1);
  CHECK_FALSE(is_materialised(product));
  CHECK_FALSE(is_materialised(more));
}

TEST_CASE("nothing is at once where that was asked for, or where everything is planned") {
  const Sites sites;
  const Array a = random_f64({5000});
  at_once({1}, 100);
  const auto recorded = [&] { return !is_materialised(plus_at(1, a, 1)); };
  CHECK_FALSE(recorded());
  config().plan = PlanMode::Always;
  CHECK(recorded());
  config().plan = PlanMode::Auto;
  config().eager_limit = 0;
  CHECK(recorded());
  config().eager_limit = 2048;
  CHECK_FALSE(recorded());
  {
    const Watch watch({});
    CHECK(recorded());
  }
  CHECK_FALSE(recorded());
  const std::lock_guard held(tracer::lock());
  tracer::record_again();
  CHECK(recorded());
}

TEST_CASE(
    "sites that come by often compute at once, together until they took as long as planning") {
  const Sites sites;
  const Array a = random_f64({5000});
  const auto round = [&](std::uint32_t site) {
    const Array x = plus_at(site, a, 1);
    return plus_at(site + 1, x, 2);
  };
  const auto rounds = [&](std::uint32_t site, bool at_once) {
    int n = 0;
    while (n < 10'000 && is_materialised(round(site)) == at_once) ++n;
    return n;
  };
  const int recorded = rounds(1, false);
  CHECK(recorded > 4);
  CHECK(recorded < 100);
  const int computed = rounds(1, true);
  CHECK(computed > 4);
  CHECK(computed < 10'000);
  CHECK_FALSE(is_materialised(plus_at(1, a, 1)));
  CHECK_FALSE(is_materialised(plus_at(2, a, 1)));
  CHECK(rounds(1, false) == 10'000);
  CHECK(rounds(3, false) < 100);  // another loop has its own
}

TEST_CASE("rounds that end with an evaluation, and a site alone, are recorded") {
  const Sites sites;
  const Array a = random_f64({5000});
  bool recorded = true;
  for (int i = 0; i < 100; ++i) {
    const Array x = plus_at(2, plus_at(1, a, 1), 2);
    recorded = recorded && !is_materialised(x);
    tracer::evaluate(plus_at(3, a, 1));
  }
  CHECK(recorded);
  Array x = a;
  for (int i = 0; i < 50; ++i) x = plus_at(4, x, 1);
  CHECK_FALSE(is_materialised(x));
}

TEST_CASE("what is written at once is not seen by those who read before") {
  const Sites sites;
  const Array a = random_f64({5000}), b = tracer::copy(a, 'C');
  tracer::evaluate(b);
  const Array before = plus_at(2, a, 1);  // pending
  const Array kept = tracer::copy(a, 'C');
  at_once({1}, 100);
  add_to_at(1, a, weak(1));
  add_to_at(1, shifted(a, 1, 5000), Operand(shifted(b, 0, 4999)));
  here = 1;
  tracer::assign(shifted(a, 0, 4000), Operand(shifted(a, 1000, 5000)));
  const auto *x = static_cast<const double*>(tracer::data(b)),
             *y = static_cast<const double*>(tracer::data(a)),
             *z = static_cast<const double*>(tracer::data(before));
  bool right = bytes(kept) == bytes(b);
  for (int i = 0; i < 5000; ++i) {
    const int from = i < 4000 ? i + 1000 : i;
    right = right && z[i] == x[i] + 1 && y[i] == x[from] + 1 + x[from - 1];
  }
  CHECK(right);
}

TEST_CASE("reductions and products of middling size are recorded: a plan's order may be another") {
  const Sites sites;
  at_once({1}, 100);
  here = 1;
  CHECK_FALSE(is_materialised(reduce(ReduceKind::Sum, random_f64({100, 100}), 0)));
}

TEST_CASE("stores of middling size go to memory that nobody else sees") {
  const Sites sites;
  const Array a = random_f64({100, 100}), v = random_f64({98, 98}, 2);
  const auto inner = [&] {
    const tracer::Slice s{1, 99, std::nullopt};
    return view(a, {s, s});
  };
  at_once({1}, 100);
  here = 1;
  const void* const memory = tracer::data(a);
  tracer::assign(inner(), Operand(v));
  tracer::assign(inner(), Operand(apply(OpId::Less, v, weak(0))));  // of another dtype
  tracer::assign(inner(), Operand(scalar_float(2), Weak::Float));
  CHECK(is_materialised(a));
  CHECK(tracer::data(a) == memory);
  CHECK(static_cast<const double*>(memory)[101] == 2);
}

#ifndef __SANITIZE_ADDRESS__  // loops that are instrumented take longer than planning
TEST_CASE("a graph that waits for its plan computes at its sites until the plan is there") {
  const Sites sites;
  past({1, 2, 3});
  const Array a = random_f64({5000});
  const auto round = [&] {
    Array x = plus_at(1, a, 1);
    x = plus_at(2, x, 2);
    here = 3;
    x = apply(OpId::Sqrt, apply(OpId::Absolute, x));
    return x;
  };
  // A round that loses its core takes as long as planning, which is then not waited for.
  bool waited = false;
  std::vector<unsigned char> values, later;
  for (int attempt = 0; attempt < 10 && !waited; ++attempt) {
    forget_plans();
    {
      const std::lock_guard no_plan_comes(tracer::lock());
      const std::uint64_t before = stats().plans_made;
      for (int i = 0; i < 2; ++i) {
        const Array x = round();
        CHECK_FALSE(is_materialised(x));
        tracer::evaluate(x);
        here = 0;
        values = bytes(x);
      }
      waited = stats().plans_made == before;
      if (waited) {
        const Array x = round();
        waited = is_materialised(x);
        here = 0;
        later = bytes(x);
      }
    }
    wait_for_plans();
  }
  REQUIRE(waited);
  CHECK(later == values);
  const std::uint64_t reused = stats().plans_reused;
  const Array x = round();
  CHECK_FALSE(is_materialised(x));
  tracer::evaluate(x);
  CHECK(bytes(x) == values);
  CHECK(stats().plans_reused > reused);
}
#endif

TEST_CASE("rounds at once count with those of the direct way") {
  const Sites sites;
  past({1, 2});
  const Array a = random_f64({5000});
  const auto graph = [&] {
    const Array x = plus_at(2, plus_at(1, a, 1), 2);
    const Ref<tracer::Node> n = tracer::read(x);
    tracer::Node* wanted[] = {n.get()};
    return std::pair(x, fusion::Graph(wanted));
  };
  const std::lock_guard held(tracer::lock());
  const auto [x, g] = graph();
  Round first(g, false);
  REQUIRE(first.direct());
  first.may_go_on_at_once(g);  // no plan is on its way yet
  first.took(1e-7);
  CHECK_FALSE(is_materialised(plus_at(1, a, 1)));
  Round second(g, false);
  REQUIRE(second.wants_plan_ahead());
  second.plan_is_on_its_way();
  second.may_go_on_at_once(g);
  second.took(1e-7);
  // Until the direct way has taken so long that planning here is no loss.
  int rounds = 0;
  for (bool direct = true; direct && rounds < 1'000'000;) {
    while (is_materialised(plus_at(1, a, 1))) ++rounds;
    Round next(g, false);
    direct = next.direct();
    next.may_go_on_at_once(g);
    next.took(1e-7);
  }
  CHECK(rounds > 10);
  CHECK(rounds < 1'000'000);
}
