// What compile() gives of an xtensor expression is what xtensor gives, of the same element type.
#if __has_include(<xtensor/xarray.hpp>)
#include <catch2/catch.hpp>
#include <xtensor/xnorm.hpp>

#include "core/config.hpp"
#include "engine/engine.hpp"
#include "plait/plait.hpp"
#include "plait/xtensor.hpp"

namespace {

template <class E>
bool same(const E& expression) {
  const auto recorded = plait::compile(expression);
  using T = typename decltype(recorded)::value_type;
  static_assert(std::is_same_v<T, std::decay_t<typename E::value_type>>);
  const xt::xarray<T> theirs = expression, ours = plait::as_xtensor(recorded);
  return theirs.shape() == ours.shape() && xt::allclose(theirs, ours);
}

struct Given {
  xt::xarray<double> a = {{1, 2.5, -3}, {4, -5.5, 6}}, b = {1, 2, 3};
  xt::xarray<int> i = {{7, -7, 8}, {-8, 9, 1}}, j = {2, 3, -4};
  xt::xarray<float> f = {1.5F, 2, 3};
  xt::xarray<short> s = {1, 2};
};

}  // namespace

TEST_CASE_METHOD(Given, "functions of xtensor expressions, with C++'s conversions") {
  CHECK(same(xt::sin(a) * b + xt::exp(-b)));
  CHECK(same(i / j));
  CHECK(same(i % j));
  CHECK(same(f * i));
  CHECK(same(f * 2.0));
  CHECK(same(s + s));
  CHECK(same(xt::cast<int>(a)));
  CHECK(same(xt::where(a > b, a, 0.0)));
  CHECK(same(xt::maximum(a, b)));
  CHECK(same(xt::clip(a, -1.0, 2.0)));
  CHECK(same(xt::round(a)));
  CHECK(same(xt::square(a)));
  CHECK(same(xt::pow(xt::abs(a), 1.5)));
  CHECK(same((a > 0) && (b > 1)));
  CHECK(same(xt::equal(i, 7)));
  CHECK(same(a));
}

TEST_CASE_METHOD(Given, "reductions, broadcasts, views, generators") {
  CHECK(same(xt::sum(a)));
  CHECK(same(xt::sum(a, {0})));
  // xtensor 0.24 does not broadcast a reduction that keeps its axes.
  const xt::xarray<double> mean = xt::mean(a, {1}, xt::keep_dims);
  CHECK(xt::allclose(plait::as_xtensor(plait::compile(a - xt::mean(a, {1}, xt::keep_dims))),
                     a - mean));
  CHECK(same(xt::prod(i, {0})));
  CHECK(same(xt::amax(i, {1})));
  CHECK(same(xt::norm_l2(a, {0})));
  CHECK(same(xt::broadcast(b, {2, 3})));
  CHECK(same(xt::view(a, xt::all(), 1) * 2.0));
  CHECK(same(xt::view(a + b, xt::all(), 1)));
  CHECK(same(xt::arange<double>(0, 3) + a));
  CHECK(same(xt::erf(a) + 1.0));
  const xt::xtensor<double, 2, xt::layout_type::column_major> columns = a;
  CHECK(same(columns * b));
}

TEST_CASE_METHOD(Given, "the expression's containers are free when compile() has returned") {
  plait::array<double> r;
  {
    const xt::xarray<double> gone = a;
    r = plait::compile(gone + 1.0);
  }
  const plait::array<double> copy = plait::compile(a);
  a *= 0;
  CHECK(r.get(0, 1) == 3.5);
  CHECK(copy.get(0, 0) == 1);
}

TEST_CASE_METHOD(Given, "an expression is one loop, into memory of one's own, too") {
  const auto plan = std::exchange(plait::config().plan, plait::PlanMode::Always);
  const auto before = plait::engine::stats();
  const xt::xarray<double> x = xt::ones<double>({200, 300});
  std::vector<double> out(x.size());
  plait::compile(xt::sin(x) * 2.0).eval_into(out.data());
  CHECK(plait::engine::stats().kernels_run == before.kernels_run + 1);
  const plait::array<double> r = plait::full({300}, 3.0) * (x + 8.0);
  CHECK(plait::engine::stats().kernels_run == before.kernels_run + 2);
  plait::config().plan = plan;
  CHECK(out.back() == Approx(std::sin(1.0) * 2));
  CHECK(r.get(1, 2) == 27);
  const auto kept = plait::compile(xt::xarray<double>{1, 2} + 1.0);  // holds what it is given
  CHECK(plait::sum(kept).item() == 5);
}

TEST_CASE_METHOD(Given, "arrays of both libraries mix") {
  plait::array<double> p{1, 2, 3};
  const plait::array<double> c = p;
  CHECK(plait::array<double>(p + b).get(2) == 6);
  CHECK(plait::array<double>(c * (a + 1.0)).get(1, 2) == 21);
  CHECK(plait::array<double>(b * 2.0 - (p + 1)).get(0) == 0);
  CHECK(plait::array<bool>(a < p).get(0, 2));
  static_assert(std::is_same_v<decltype(p + b), plait::array<double>>);
}
#endif
