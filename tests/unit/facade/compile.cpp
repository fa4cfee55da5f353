#include "plait/compile.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "engine/plans/plan_ahead.hpp"
#include "plait/plait.hpp"

using plait::array;

TEST_CASE("a compiled function is not called again for arguments of a kind that was seen twice") {
  int calls = 0;
  auto f = plait::compile([&calls](const auto& x, const auto& y) {
    ++calls;
    return plait::sqrt(x * x + y * y) + 1.0;
  });
  for (const std::int64_t n : {10, 5000, 10}) {
    const int before = calls;
    for (int i = 0; i < 4; ++i) {
      const array<double> x = plait::arange<double>(n) + i, y = plait::full<double>({n}, 2.0 * i);
      const array<double> r = f(x, y), want = plait::sqrt(x * x + y * y) + 1.0;
      REQUIRE(plait::array_equal(r, want));
    }
    CHECK(calls == before + (before < 4 ? 2 : 0));
  }
  const array<float> x = plait::ones<float>({10});
  CHECK(f(x, x)(0) == Approx(std::sqrt(2.0f) + 1));
  CHECK(calls == 5);
}

TEST_CASE("captured arrays are read at each call, and results are fresh") {
  array<double> scale = plait::ones({4});
  int calls = 0;
  auto f = plait::compile([&](const array<double>& x) {
    ++calls;
    return array<double>(x * scale);
  });
  const array<double> x = plait::arange<double>(4);
  array<double> first = f(x);
  for (int i = 0; i < 4; ++i) {
    scale(1) = i;
    array<double> r = f(x);
    CHECK(r(1) == i);
    r(0) = 7;
  }
  CHECK(first(0) == 0);
  CHECK(first(1) == 1);
  CHECK(calls == 2);
}

TEST_CASE("a call whose plan takes long is kept when the background has made it") {
  int calls = 0;
  auto f = plait::compile([&calls](const array<double>& x) {
    ++calls;
    array<double> y = x + 0.0;
    for (int i = 0; i < 200; ++i) y = y * 0.5 + x;
    return y;
  });
  array<double> first;
  int until_kept = 0;
  for (int i = 0; i < 5; ++i) {
    const array<double> x = plait::arange<double>(50);
    if (i == 0) first = f(x);
    REQUIRE(plait::array_equal(f(x), first));
    plait::engine::wait_for_plans();
    if (i == 1) until_kept = calls;
  }
  CHECK(until_kept <= 3);  // 2 where the plan was expected not to take long
  CHECK(calls == until_kept);
}

TEST_CASE("a function that asks for values is called each time") {
  int calls = 0;
  auto f = plait::compile([&calls](const array<double>& x) {
    ++calls;
    return array<double>(plait::sum(x).item() > 3 ? x * 2.0 : x + 0.0);
  });
  for (int i = 0; i < 3; ++i) {
    const array<double> x = plait::full<double>({4}, i);
    CHECK(f(x)(0) == (i > 0 ? 2 * i : 0));
  }
  CHECK(calls == 3);
}

TEST_CASE("a view of an argument stays one") {
  auto f =
      plait::compile([](const array<double>& x) { return plait::view(x, plait::range(1, 3)); });
  for (int i = 0; i < 3; ++i) {
    array<double> x = plait::arange<double>(4);
    const array<double> v = f(x);
    x(1) = 9;
    CHECK(v(0) == 9);
  }
}

TEST_CASE("errors pass, and threads may share a compiled function") {
  auto f = plait::compile(
      [](const array<double>& x, const array<double>& y) { return array<double>(x + y); });
  const array<double> three = plait::ones({3}), four = plait::ones({4});
  CHECK_THROWS_AS(f(three, four), plait::ValueError);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const array<double> x = plait::full<double>({3000}, i + t);
        wrong += f(x, x)(17) != 2 * (i + t);
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}
