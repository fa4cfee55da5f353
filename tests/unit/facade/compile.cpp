#include "plait/compile.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/plans/plan_ahead.hpp"
#include "plait/plait.hpp"

using plait::array;

namespace {

// f, which counts its calls.
template <class F>
auto counted(int& calls, F f) {
  return plait::compile(plait::pure([&calls, f](auto&... arguments) -> decltype(auto) {
    ++calls;
    return f(arguments...);
  }));
}

class CheckedCompiled {
 public:
  CheckedCompiled() { set(true); }
  ~CheckedCompiled() { set(false); }

 private:
  static void set(bool on) {
    plait::options o;
    o.check_compiled = on;
    plait::configure(o);
  }
};

}  // namespace

TEST_CASE("a compiled function is not called again for arguments of a kind that was seen twice") {
  int calls = 0;
  auto f = plait::compile(plait::pure([&calls](const auto& x, const auto& y) {
    ++calls;
    return plait::sqrt(x * x + y * y) + 1.0;
  }));
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
  auto f = plait::compile(plait::pure([&](const array<double>& x) {
    ++calls;
    return array<double>(x * scale);
  }));
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

namespace {
array<double> outside;
array<double> plus_outside(const array<double>& x) { return x + outside; }
}  // namespace

TEST_CASE("arrays outside are read at each call, also what short-lived ones left their memory to") {
  const array<double> a{1, 2, 3}, x = plait::ones({3});
  array<double> t;
  for (int i = 0; i < 100000; ++i) t = a * 2.0;
  outside = t;
  auto f = plait::compile(&plus_outside);
  for (int i = 0; i < 10; ++i) CHECK(f(x).get(0) == 3);
  outside(0) = 100;
  CHECK(f(x).get(0) == 101);
  outside = {};
}

TEST_CASE("a call whose plan takes long is kept when the background has made it") {
  int calls = 0;
  auto f = plait::compile(plait::pure([&calls](const array<double>& x) {
    ++calls;
    array<double> y = x + 0.0;
    for (int i = 0; i < 200; ++i) y = y * 0.5 + x;
    return y;
  }));
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
  auto f = plait::compile(plait::pure([&calls](const array<double>& x) {
    ++calls;
    return array<double>(plait::sum(x).item() > 3 ? x * 2.0 : x + 0.0);
  }));
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

TEST_CASE("floating-point arguments are arguments of the plan") {
  int calls = 0;
  auto f = counted(calls, [](const array<double>& x, double dt, std::complex<double> z) {
    return plait::real(x * dt * z) + 0.25;
  });
  const array<double> x = plait::arange<double>(100);
  for (int i = 0; i < 60; ++i) {
    const double dt = 1 / (3.0 + i);
    const std::complex<double> z(i, -dt);
    const array<double> want = plait::real(x * dt * z) + 0.25;
    REQUIRE(plait::array_equal(f(x, dt, z), want));
  }
  CHECK(calls <= 4);
}

TEST_CASE("a number that is rounded for the elements is so at each call") {
  int calls = 0;
  auto f = counted(calls, [](const array<float>& x, double dt) { return x * dt; });
  const array<float> x = plait::arange<float>(10);
  for (const double dt : {0.5, 0.25, 0.125, 0.1, 0.2, 0.3, 0.75})
    REQUIRE(plait::array_equal(f(x, dt), array<float>(x * dt)));
  CHECK(calls <= 4);
}

TEST_CASE("integers, bools and enumerators decide what is recorded") {
  enum class Way { Add, Multiply };
  int calls = 0;
  auto f = counted(calls, [](const array<double>& x, int n, bool negative, Way way) {
    array<double> y = way == Way::Add ? x + 2.0 : x * 2.0;
    for (int i = 0; i < n; ++i) y = y * y;
    return negative ? -y : y;
  });
  const array<double> x = plait::arange<double>(20);
  for (int round = 0; round < 3; ++round)
    for (int n = 0; n < 4; ++n)
      for (const bool negative : {false, true}) {
        array<double> want = x + 2.0;
        for (int i = 0; i < n; ++i) want = want * want;
        if (negative) want = -want;
        REQUIRE(plait::array_equal(f(x, n, negative, Way::Add), want));
      }
  CHECK(calls == 16);
  CHECK(f(x, 0, false, Way::Multiply)(3) == 6);
  CHECK(calls == 17);
}

TEST_CASE("numbers that only decide, exponents and what follows from a number are never stale") {
  const array<double> x = plait::arange<double>(1, 30);
  auto decides = plait::compile(
      [](const array<double>& a, double limit) { return limit > 1 ? a * 2.0 : a * 3.0; });
  auto follows = plait::compile([](const array<double>& a, double dt) { return a * (dt / 2); });
  auto power = plait::compile([](const array<double>& a, double p) { return plait::pow(a, p); });
  for (int round = 0; round < 3; ++round)
    for (const double v : {3.0, 5.0, 2.0, 0.5, 1.0, 0.25, 4.0, 7.0, 8.0, 9.0, 10.0, 11.0}) {
      REQUIRE(plait::array_equal(decides(x, v), array<double>(v > 1 ? x * 2.0 : x * 3.0)));
      REQUIRE(plait::array_equal(follows(x, v), array<double>(x * (v / 2))));
      REQUIRE(plait::array_equal(power(x, v), array<double>(plait::pow(x, v))));
    }
}

TEST_CASE("two numbers that were the same are told apart") {
  auto f = plait::compile([](const array<double>& x, const array<double>& y, double a, double b) {
    return x * a + y * b;
  });
  const array<double> x = plait::ones({5}), y = plait::full<double>({5}, 10.0);
  for (const double same : {1.0, 2.0, 3.0, 4.0}) CHECK(f(x, y, same, same)(0) == 11 * same);
  for (int i = 0; i < 6; ++i) CHECK(f(x, y, i, 2.0 * i + 1)(0) == i + 10 * (2.0 * i + 1));
  for (int i = 0; i < 6; ++i) CHECK(f(x, y, 0.5 + i, 0.25)(0) == 0.5 + i + 2.5);
}

TEST_CASE("compiled functions return several arrays, or write to their arguments") {
  int calls = 0;
  auto f = counted(calls, [](const array<double>& x, const array<float>& y) {
    return std::make_tuple(x + 1.0, array<float>(y * 2.0f), array<bool>(x > 3.0));
  });
  auto pair = counted(calls, [](const array<double>& x) { return std::make_pair(x, x * 2.0); });
  auto write = counted(calls, [](array<double>& x, double v) { x += v; });
  auto assign = counted(calls, [](array<double>& x, array<double>& y) {
    const array<double> before = x;
    x = x + y;
    y = before * 3.0;
  });
  array<double> a = plait::zeros({8}), p = plait::full<double>({4}, 1.0), q = p + 1.0;
  plait::eval(a, p, q);
  for (int i = 0; i < 6; ++i) {
    const array<double> x = plait::arange<double>(6) + i;
    const auto [r, s, t] = f(x, x.astype<float>());
    CHECK(plait::array_equal(r, array<double>(x + 1.0)));
    CHECK(plait::array_equal(s, (x * 2.0).astype<float>()));
    CHECK(plait::array_equal(t, array<bool>(x > 3.0)));
    auto both = pair(x);
    CHECK(plait::array_equal(both.second, array<double>(x * 2.0)));
    both.first(0) = 50;
    CHECK(x(0) == 50);
    const array<double> view = a;
    write(a, static_cast<double>(i));
    CHECK(view(7) == i * (i + 1) / 2);
    const double p0 = p(0), q0 = q(0);
    const array<double> old = p;
    assign(p, q);
    CHECK(p(0) == p0 + q0);
    CHECK(q(0) == 3 * p0);
    CHECK(old(0) == p0);
  }
  CHECK(calls <= 9);
}

TEST_CASE("calls by plans are compared with the function") {
  const CheckedCompiled checked;
  double factor = 2;
  array<double> sum = plait::zeros({3});
  auto stale = plait::compile(plait::pure([&](const array<double>& x) { return x * factor; }));
  auto right = plait::compile([](array<double>& to, const array<double>& x, double dt) {
    to += x * dt;
    return to + 1.0;
  });
  const array<double> x = plait::ones({3});
  double want = 0;
  for (int i = 0; i < 5; ++i) {
    CHECK(stale(x)(0) == 2);
    CHECK(right(sum, x, i)(1) == (want += i) + 1);
    CHECK(sum(1) == want);
  }
  factor = 2.5;
  CHECK_THROWS_WITH(stale(x), Catch::Contains("result 0") && Catch::Contains("element 0, is 2") &&
                                  Catch::Contains("by the function 2.5"));
}

TEST_CASE("threads give a compiled function numbers of their own") {
  auto f = plait::compile([](const array<double>& x, double dt) { return x * dt + 1.0; });
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      const array<double> x = plait::full<double>({t < 2 ? 3000 : 300000}, 3.0);
      for (int i = 0; i < 100; ++i) wrong += f(x, t + 0.5 * i)(17) != 3 * (t + 0.5 * i) + 1;
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("one compiled function is called with several lists of arguments") {
  auto f =
      plait::compile([](const auto& x, auto... numbers) { return ((x * 1.0) + ... + numbers); });
  const array<double> x = plait::ones({4});
  for (int i = 0; i < 5; ++i) {
    CHECK(f(x)(1) == 1);
    CHECK(f(x, 0.5 * i, 2.0)(1) == 3 + 0.5 * i);
    CHECK(f(x, i)(1) == 1 + i);
    CHECK(f(x.astype<float>(), 0.5f)(1) == 1.5);
  }
}
