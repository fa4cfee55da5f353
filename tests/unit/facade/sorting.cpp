#include "plait/sorting.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "plait/plait.hpp"

using plait::array;
using plait::shape_type;
using std::int64_t;

namespace {
template <class T>
std::vector<T> listed(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}
const double kNaN = std::numeric_limits<double>::quiet_NaN();
}  // namespace

TEST_CASE("sort, argsort and partition, NaN last") {
  const array<double> a{{3, kNaN, 1}, {2, 0, -1}};
  const array<double> s = plait::sort(a);
  CHECK(s.get(0, 0) == 1);
  CHECK(std::isnan(s.get(0, 2)));
  CHECK(listed(plait::sort(array<int>{{3, 1}, {2, 5}}, 0)) == std::vector<int>{2, 1, 3, 5});
  CHECK(listed(plait::argsort(a)) == std::vector<int64_t>{2, 0, 1, 2, 1, 0});
  const array<double> p = plait::partition(array<double>{5, 1, 4, 2, 3}, 2);
  CHECK(p.get(2) == 3);
  CHECK(plait::amax(plait::view(p, plait::range(0, 2))).item() < 3);
  CHECK(plait::sort(plait::empty({0, 3})).shape() == shape_type{0, 3});
  CHECK(plait::argsort(plait::empty({0})).size() == 0);
  CHECK_THROWS_AS(plait::sort(a, 2), plait::AxisError);
  CHECK_THROWS_AS(plait::partition(a, 3), plait::ValueError);
}

TEST_CASE("searchsorted on both sides") {
  const array<double> a{1, 2, 2, 3};
  CHECK(listed(plait::searchsorted(a, array<double>{2, 0, 9})) == std::vector<int64_t>{1, 0, 4});
  CHECK(plait::searchsorted(a, 2.0, plait::side::right) == 3);
  CHECK(plait::searchsorted(plait::empty({0}), 2.0) == 0);
  CHECK_THROWS_AS(plait::searchsorted(a.reshape({2, 2}), a), plait::ValueError);
}

TEST_CASE("medians and quantiles") {
  const array<double> a{{3, 1, 2}, {6, 4, 5}};
  CHECK(plait::median(a).item() == 3.5);
  CHECK(listed(plait::median(a, {0})) == std::vector<double>{4.5, 2.5, 3.5});
  CHECK(plait::median(a, {1}, plait::keep_dims).shape() == shape_type{2, 1});
  CHECK(plait::median(array<int>{1, 2}).item() == 1.5);
  CHECK(std::isnan(plait::median(array<double>{1, kNaN, 2}).item()));
  CHECK(std::isnan(plait::median(plait::empty({0})).item()));
  CHECK(plait::quantile(a, 0.5).item() == 3.5);
  CHECK(plait::percentile(a, 30.0).item() == 2.5);
  CHECK(listed(plait::quantile(a, {0.0, 0.25, 1.0}, 1)) ==
        std::vector<double>{1, 4, 1.5, 4.5, 3, 6});
  CHECK_THROWS_AS(plait::quantile(a, 1.5), plait::ValueError);
  CHECK_THROWS_AS(plait::quantile(a, 0.5, {0, 0}), plait::ValueError);
}

TEST_CASE("different elements and sets") {
  const array<int> a{3, 1, 3, 2}, b{2, 5, 3};
  CHECK(listed(plait::unique(a)) == std::vector<int>{1, 2, 3});
  const auto [values, counts] = plait::unique_counts(a);
  CHECK(listed(values) == std::vector<int>{1, 2, 3});
  CHECK(listed(counts) == std::vector<int64_t>{1, 1, 2});
  CHECK(listed(plait::union1d(a, b)) == std::vector<int>{1, 2, 3, 5});
  CHECK(listed(plait::intersect1d(a, b)) == std::vector<int>{2, 3});
  CHECK(listed(plait::setxor1d(a, b)) == std::vector<int>{1, 5});
  CHECK(listed(plait::setdiff1d(a, b)) == std::vector<int>{1});
  CHECK(listed(plait::isin(a, b)) == std::vector<bool>{true, false, true, true});
  const array<int> none = plait::empty<int>({0});
  CHECK(plait::unique(none).size() == 0);
  CHECK(plait::intersect1d(a, none).size() == 0);
  CHECK(listed(plait::setxor1d(none, b)) == std::vector<int>{2, 3, 5});
  CHECK_FALSE(plait::any(plait::isin(a, none)).item());
  CHECK(plait::isin(none, a).size() == 0);
}

TEST_CASE("running sums, products and extremes") {
  const array<int> a{{1, 2}, {3, 4}};
  CHECK(listed(plait::cumsum(a)) == std::vector<int64_t>{1, 3, 6, 10});
  CHECK(listed(plait::cumsum(a, 0)) == std::vector<int64_t>{1, 2, 4, 6});
  CHECK(listed(plait::cumprod(a, 1)) == std::vector<int64_t>{1, 2, 3, 12});
  CHECK(listed(plait::nancumsum(array<double>{1, kNaN, 2})) == std::vector<double>{1, 1, 3});
  CHECK(listed(plait::accumulate(plait::ufunc::maximum, array<double>{1, 3, 2})) ==
        std::vector<double>{1, 3, 3});
  CHECK(listed(plait::accumulate(plait::ufunc::logical_and, array<bool>{true, false, true})) ==
        std::vector<bool>{true, false, false});
  std::vector<double> out(2);
  plait::cumsum(array<double>{1, 2}).eval_into(out.data());
  CHECK(out == std::vector<double>{1, 3});
  CHECK_THROWS_AS(plait::cumsum(a, 2), plait::AxisError);
}

TEST_CASE("bins and histograms") {
  CHECK(listed(plait::bincount(array<int>{1, 3, 1}, 5)) == std::vector<int64_t>{0, 2, 0, 1, 0});
  CHECK(listed(plait::bincount(array<int>{0, 1, 1}, array<double>{0.5, 1, 2})) ==
        std::vector<double>{0.5, 3});
  CHECK_THROWS_AS(plait::bincount(array<int>{-1}), plait::ValueError);
  const auto [counts, edges] = plait::histogram(array<double>{0, 1, 2, 4}, 4);
  CHECK(listed(counts) == std::vector<int64_t>{1, 1, 1, 1});
  CHECK(listed(edges) == std::vector<double>{0, 1, 2, 3, 4});
  CHECK(listed(plait::histogram(array<int>{1, 2, 9}, 2, 0, 4).counts) ==
        std::vector<int64_t>{1, 1});
  CHECK(listed(plait::histogram(array<double>{0, 1, 2, 3, 9}, array<double>{0, 2, 3}).counts) ==
        std::vector<int64_t>{2, 2});
  CHECK(plait::histogram(plait::empty({0}), 3).edges.get(3) == 1);
  CHECK_THROWS_AS(plait::histogram(array<double>{kNaN}, 2), plait::ValueError);
  CHECK_THROWS_AS(plait::histogram(array<double>{1}, array<double>{2, 1}), plait::ValueError);
  const array<double> x{0.5, 1, 2.5};
  CHECK(listed(plait::digitize(x, array<double>{0, 1, 2})) == std::vector<int64_t>{1, 2, 3});
  CHECK(listed(plait::digitize(x, array<double>{0, 1, 2}, true)) == std::vector<int64_t>{1, 1, 3});
  CHECK(listed(plait::digitize(x, array<double>{2, 1, 0})) == std::vector<int64_t>{2, 1, 0});
  CHECK_THROWS_AS(plait::digitize(x, array<double>{0, 2, 1}), plait::ValueError);
}

TEST_CASE("interpolation and convolution") {
  const array<double> xp{0, 1, 3}, fp{10, 20, 0};
  CHECK(listed(plait::interp(array<double>{-1, 0, 0.5, 1, 2, 3, 4}, xp, fp)) ==
        std::vector<double>{10, 10, 15, 20, 10, 0, 0});
  CHECK(std::isnan(plait::interp(array<double>{kNaN}, xp, fp).get(0)));
  CHECK(listed(plait::interp(array<int>{0, 7}, array<int>{5}, array<int>{3})) ==
        std::vector<double>{3, 3});
  CHECK_THROWS_AS(plait::interp(xp, xp, array<double>{1}), plait::ValueError);
  using plait::convolve_mode;
  const array<int> a{1, 2, 3, 4}, v{1, 10};
  CHECK(listed(plait::convolve(a, v)) == std::vector<int>{1, 12, 23, 34, 40});
  CHECK(listed(plait::convolve(v, a, convolve_mode::same)) == std::vector<int>{1, 12, 23, 34});
  CHECK(listed(plait::convolve(a, v, convolve_mode::valid)) == std::vector<int>{12, 23, 34});
  CHECK_THROWS_AS(plait::convolve(a, plait::empty<int>({0})), plait::ValueError);
}

TEST_CASE("what is not finite in a convolution's kernel stays where it is") {
  using plait::convolve_mode;
  const double inf = std::numeric_limits<double>::infinity();
  const array<double> a{1, 2, 3, 4}, v{1, 0.5, inf};
  CHECK(listed(plait::convolve(a, v)) == std::vector<double>{1, 2.5, inf, inf, inf, inf});
  CHECK(listed(plait::convolve(v, a, convolve_mode::same)) ==
        std::vector<double>{2.5, inf, inf, inf});
  CHECK(listed(plait::convolve(a, v, convolve_mode::valid)) == std::vector<double>{inf, inf});
}

TEST_CASE("contractions by subscripts") {
  const array<double> a{{1, 2}, {3, 4}}, b{{0, 1}, {1, 0}};
  CHECK(listed(plait::einsum("ij,jk->ik", a, b)) == std::vector<double>{2, 1, 4, 3});
  CHECK(plait::einsum("ii", a).item() == 5);
  CHECK(listed(plait::einsum("ij->ji", a)) == std::vector<double>{1, 3, 2, 4});
  CHECK_THROWS_AS(plait::einsum("ij,jk->iq", a, b), plait::ValueError);
}

TEST_CASE("unique_all: where each is first, which each is, how often") {
  const double nan = std::nan("");
  const array<double> a{{3, 1, nan}, {1, 3, nan}};
  const auto [values, indices, inverse, counts] = plait::unique_all(a);
  CHECK(values.get(0) == 1);
  CHECK(values.size() == 3);
  CHECK(plait::array_equal(indices, array<int64_t>{1, 0, 2}));
  CHECK(plait::array_equal(inverse, array<int64_t>{{1, 0, 2}, {0, 1, 2}}));
  CHECK(plait::array_equal(counts, array<int64_t>{2, 2, 2}));
  CHECK(plait::unique_all(plait::zeros({0})).indices.size() == 0);
}

TEST_CASE("lexsort: the last key counts first") {
  const array<int64_t> a{1, 5, 1, 4, 3, 4, 4};
  const array<double> b{9, 4, 0, 4, 0, 2, 1};
  CHECK(plait::array_equal(plait::lexsort(b, a), array<int64_t>{2, 0, 4, 6, 5, 3, 1}));
  CHECK_THROWS_AS(plait::lexsort(b, plait::zeros({2})), plait::ValueError);
}
