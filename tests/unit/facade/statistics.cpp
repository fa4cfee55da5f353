// Covariances, order statistics without NaNs, histograms of several dimensions; what is expected is
// NumPy's.
#include <catch2/catch.hpp>
#include <limits>

#include "plait/plait.hpp"

namespace statistics_test {

using plait::array;
using doubles = std::vector<double>;
const double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::vector<T> list(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}
// With NaNs where NaNs are expected.
bool same(const array<double>& a, const doubles& expected) {
  return plait::allclose(plait::ravel(a), array<double>(expected), 1e-12, 1e-12, true);
}

TEST_CASE("covariances and correlations") {
  const array<double> m{{0, 1, 2}, {2, 1, 0}};
  CHECK(list(plait::cov(m)) == doubles{1, -1, -1, 1});
  CHECK(plait::cov(array<int>{1, 2, 4, 7}).item() == Approx(7));
  CHECK(same(plait::cov(m, true, 0), {2. / 3, -2. / 3, -2. / 3, 2. / 3}));
  CHECK(list(plait::cov(m, false)) == doubles{2, 0, -2, 0, 0, 0, -2, 0, 2});
  const array<float> x{1, 2, 4};
  const array<double> y{3, 1, 0};
  CHECK(same(plait::cov(x, y), {7. / 3, -13. / 6, -13. / 6, 7. / 3}));
  CHECK(same(plait::corrcoef(x, y), {1, -0.9285714285714286, -0.9285714285714286, 1}));
  CHECK(plait::corrcoef(x).item() == 1);
  STATIC_REQUIRE(std::is_same_v<decltype(plait::cov(x)), array<double>>);
  using c = std::complex<double>;
  const array<c> z{{c(1, 1), 2, c(3, -1)}, {0, c(0, 1), 2}};
  const array<c> r = plait::corrcoef(z), s = plait::cov(z);
  CHECK(std::abs(s(0, 1) - c(1, -1)) < 1e-12);
  CHECK(std::abs(r(1, 0) - c(0.547722557505166, 0.547722557505166)) < 1e-12);
  CHECK(std::isnan(plait::cov(array<double>{1}).item()));
  CHECK(plait::cov(plait::any_array(m)).as<double>()(0, 0) == 1);
  CHECK_THROWS_WITH(plait::cov(plait::ones({2, 2, 2})), "cov: m has more than 2 dimensions");
}

TEST_CASE("correlations along an axis") {
  const array<double> a{1, 2, 3}, v{0, 1, 0.5};
  CHECK(list(plait::correlate(a, v)) == doubles{3.5});
  CHECK(list(plait::correlate(a, v, plait::convolve_mode::same)) == doubles{2, 3.5, 3});
  CHECK(list(plait::correlate(a, v, plait::convolve_mode::full)) == doubles{0.5, 2, 3.5, 3, 0});
  const array<int> few{1, -1}, many{1, 2, 3, 4};
  const auto in = [](const auto& x, const auto& y, plait::convolve_mode mode) {
    return list(plait::correlate(x, y, mode));
  };
  CHECK(in(many, few, plait::convolve_mode::same) == std::vector<int>{-1, -1, -1, -1});
  CHECK(in(few, many, plait::convolve_mode::same) == std::vector<int>{-1, -1, -1, -1});
  CHECK(in(few, many, plait::convolve_mode::full) == std::vector<int>{4, -1, -1, -1, -1});
  CHECK(in(many, few, plait::convolve_mode::full) == std::vector<int>{-1, -1, -1, -1, 4});
  CHECK(in(array<int>{1, 2, 3}, array<int>{1, 2, 3, 4, 5}, plait::convolve_mode::same) ==
        std::vector<int>{14, 26, 20, 14, 8});
  using c = std::complex<double>;
  CHECK(in(array<c>{c(1, 1), 2}, array<c>{1, c(0, 1)}, plait::convolve_mode::full) ==
        std::vector<c>{c(1, -1), c(1, -1), 2});
  CHECK_THROWS_AS(plait::correlate(a, array<double>{}), plait::ValueError);
}

TEST_CASE("order statistics without NaNs") {
  const array<double> a{{3, kNan, 1, 5}, {kNan, kNan, kNan, kNan}, {2, 7, kNan, 4}};
  CHECK(plait::nanmedian(a).item() == 3.5);
  CHECK(same(plait::nanmedian(a, 1), {3, kNan, 4}));
  CHECK(same(plait::nanmedian(a, 0), {2.5, 7, 1, 4.5}));
  CHECK(plait::nanmedian(a, 1, plait::keep_dims).shape() == plait::shape_type{3, 1});
  CHECK(plait::nanmedian(array<int>{3, 1, 2}).item() == 2);
  CHECK(same(plait::nanquantile(a, {0.1, 0.6}, 1), {1.4, kNan, 2.4, 3.4, kNan, 4.6}));
  CHECK(plait::nanpercentile(a, 30).item() == 2.5);
  CHECK(same(plait::nanquantile(a, 0.5, 0), {2.5, 7, 1, 4.5}));
  CHECK(plait::nanquantile(array<int>{3, 1, 2}, 0.25).item() == 1.5);
  STATIC_REQUIRE(std::is_same_v<decltype(plait::nanmedian(array<float>{})), array<float>>);
  CHECK(plait::nanquantile(array<float>{1, NAN, 2}, 0.5).item() == 1.5f);
  CHECK_THROWS_WITH(plait::nanquantile(a, 1.5),
                    "nanquantile: quantile: quantiles must be in the range [0, 1]");
  CHECK_THROWS_AS(plait::nanmedian(a, 2), plait::AxisError);
}

TEST_CASE("places of extrema without NaNs") {
  const array<double> a{{3, kNan, 1, 5}, {2, 7, kNan, 4}};
  CHECK(list(plait::nanargmin(a, 1)) == std::vector<std::int64_t>{2, 0});
  CHECK(list(plait::nanargmax(a, 0)) == std::vector<std::int64_t>{0, 1, 0, 0});
  CHECK(plait::nanargmin(a).item() == 2);
  CHECK(plait::nanargmax(a).item() == 5);
  CHECK(plait::nanargmax(array<int>{1, 3, 2}).item() == 1);
  CHECK_THROWS_WITH(plait::nanargmin(array<double>{kNan}), "nanargmin: All-NaN slice encountered");
}

TEST_CASE("histograms of several dimensions") {
  const array<double> x{0.1, 0.5, 1.5, 2, 2}, y{1, 1, 3, 4, 2};
  auto [counts, x_edges, y_edges] = plait::histogram2d(x, y, 2);
  CHECK(list(counts) == doubles{2, 0, 1, 2});
  CHECK(same(x_edges, {0.1, 1.05, 2}));
  CHECK(list(y_edges) == doubles{1, 2.5, 4});
  CHECK(list(plait::histogram2d(x, y, {3, 2}).counts) == doubles{2, 0, 0, 0, 1, 2});
  CHECK(list(plait::histogram2d(x, y, {0, 1, 2}, {1, 2, 3}).counts) == doubles{2, 0, 0, 2});
  const array<double> sample = plait::stack({x, y}, 1);
  auto [table, edges] = plait::histogramdd(sample, {2, 3});
  CHECK(list(table) == doubles{2, 0, 0, 0, 1, 2});
  CHECK(edges.size() == 2);
  CHECK(edges[1].size() == 4);
  CHECK(list(plait::histogramdd(sample, edges).counts) == list(table));
  CHECK_THROWS_AS(plait::histogram2d(x, array<double>{1}, 2), plait::ValueError);
  CHECK_THROWS_AS(plait::histogramdd(sample, {2, 3, 4}), plait::ValueError);
  CHECK_THROWS_AS(plait::histogram2d(x, y, {1, 0}, {0, 1}), plait::ValueError);
  CHECK(list(plait::histogram_bin_edges(array<double>{1, 2, 4}, 3)) == doubles{1, 2, 3, 4});
  CHECK(list(plait::histogram_bin_edges(array<double>{1, 2, 4}, 2, 0, 1)) == doubles{0, 0.5, 1});
  CHECK_THROWS_WITH(plait::histogram_bin_edges(x, 0),
                    "histogram_bin_edges: `bins` must be positive, when an integer");
}

}  // namespace statistics_test
