#include "plait/vectorize.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/config.hpp"
#include "engine/engine.hpp"
#include "plait/plait.hpp"

using plait::array;

namespace {
std::string logged;
struct Logging {
  Logging() {
    logged.clear();
    plait::options o;
    o.log_topics = "fallback";
    o.log = [](const std::string& topic, const std::string& text) { logged = topic + ": " + text; };
    plait::configure(o);
  }
  ~Logging() {
    plait::options o;
    o.log_topics = "";
    o.log = nullptr;
    plait::configure(o);
  }
};
}  // namespace

TEST_CASE("a generic function is recorded once and fuses") {
  const Logging log;
  constexpr std::int64_t n = 200'000;
  const array<double> a = plait::arange<double>(0, n), b = plait::ones({n});
  plait::eval(a, b);
  int calls = 0;
  const auto plan = std::exchange(plait::config().plan, plait::PlanMode::Always);
  const auto before = plait::engine::stats();
  const auto f = [&calls](auto x, auto y, auto scale) {
    ++calls;
    return plait::where(x > y * scale, sqrt(x), -x);
  };
  array<double> r = plait::vectorize(f, a + 1.0, b, 2.0) * 3.0;
  CHECK(calls == 1);
  r.eval();
  plait::config().plan = plan;
  CHECK(plait::engine::stats().kernels_run == before.kernels_run + 1);
  CHECK(r.get(0) == -3);
  CHECK(r.get(8) == 9);
  CHECK(logged.empty());
}

TEST_CASE("functions of elements broadcast, and may ignore what they are given") {
  const array<double> column{{1}, {2}}, row{10, 20, 30};
  const auto sum = plait::vectorize([](auto x, auto y) { return x + y; })(column, row);
  CHECK(sum.shape() == plait::shape_type{2, 3});
  CHECK(sum(1, 2) == 32);
  CHECK(plait::vectorize([](auto x, auto) { return x; }, column, row)(1, 1) == 2);
  CHECK(plait::vectorize([](auto, auto) { return 7; }, column, row)(1, 1) == 7);
  const auto as_float = plait::vectorize([](auto x) { return x.template astype<float>(); }, row);
  STATIC_REQUIRE(std::is_same_v<decltype(as_float)::value_type, float>);
  CHECK_THROWS_AS(plait::vectorize([](auto x, auto y) { return x + y; }, row, plait::ones({2})),
                  plait::ShapeError);
}

TEST_CASE("a function of numbers is called for each element, and the log says so") {
  const Logging log;
  const array<double> column{{0}, {1}}, row{1, 2, 3};
  int calls = 0;
  const auto r = plait::vectorize(
      [&calls](double x, double y, int z) {
        ++calls;
        return x > 0.5 ? std::erf(y) : x + z;
      },
      column, row, 5);
  CHECK(calls == 6);
  CHECK(r(0, 2) == 5);
  CHECK(r(1, 1) == std::erf(2.0));
  CHECK(logged.find("fallback: vectorize: the function takes numbers") == 0);
  logged.clear();
  const auto larger = plait::vectorize([](auto x, auto y) {
    if (x > y) return x;
    return y * (y > 2 ? 10 : 1);
  });
  const auto with_if = larger(column * 2.5, row);
  CHECK(std::vector<double>(with_if.begin(), with_if.end()) ==
        std::vector<double>{1, 2, 30, 2.5, 2.5, 30});
  CHECK(logged.find("fallback: vectorize: the function takes numbers, or asks for them") == 0);
  const auto erf = plait::vectorize([](auto x) { return std::erf(double(x)); }, row);
  CHECK(erf(1) == std::erf(2.0));
  const array<int> whole{3, 4};
  const auto halves = plait::vectorize([](auto x) { return x > 3 ? x / 2 : -x / 2; }, whole);
  STATIC_REQUIRE(std::is_same_v<decltype(halves)::value_type, double>);
  CHECK(halves(0) == -1.5);
  const auto positive = plait::vectorize([](double x) { return x > 0; }, row - 2.0);
  STATIC_REQUIRE(std::is_same_v<decltype(positive)::value_type, bool>);
  CHECK(std::vector<bool>(positive.begin(), positive.end()) ==
        std::vector<bool>{false, false, true});
}
