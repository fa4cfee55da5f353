// Groups of equal keys, beside loops with a table.
#include "plait/group.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "plait/plait.hpp"

namespace of_groups {

using plait::array;
using plait::shape_type;

namespace {
const double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::vector<T> values_of(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}
using doubles = std::vector<double>;
using ints = std::vector<std::int64_t>;

// The values of each key, in their order.
template <class K, class T>
std::map<K, std::vector<T>> listed(const array<K>& keys, const array<T>& values) {
  std::map<K, std::vector<T>> groups;
  const std::vector<K> k = values_of(keys);
  const std::vector<T> v = values_of(values);
  for (std::size_t i = 0; i < k.size(); ++i) groups[k[i]].push_back(v[i]);
  return groups;
}

// All aggregations of integers from -50 to 49, whose sums are exact.
template <class K, class T>
void check_all(const array<K>& keys, const array<T>& values) {
  const auto groups = listed(keys, values);
  const auto g = plait::group_by(keys);
  REQUIRE(g.size() == static_cast<std::int64_t>(groups.size()));
  const auto found = values_of(g.keys());
  const auto count = values_of(g.count());
  const auto sum = values_of(g.sum(values).template astype<double>());
  const auto mean = values_of(g.mean(values).template astype<double>());
  const auto var = values_of(g.var(values, 1).template astype<double>());
  const auto min = values_of(g.min(values)), max = values_of(g.max(values));
  const auto first = values_of(g.first(values)), last = values_of(g.last(values));
  std::size_t i = 0;
  for (const auto& [key, v] : groups) {
    const auto n = static_cast<double>(v.size());
    double total = 0, squares = 0;
    for (const T x : v) total += static_cast<double>(x);
    for (const T x : v) squares += std::pow(static_cast<double>(x) - total / n, 2);
    CHECK(found[i] == key);
    CHECK(count[i] == static_cast<std::int64_t>(v.size()));
    CHECK(sum[i] == total);
    CHECK(mean[i] == Approx(total / n));
    if (n > 1) CHECK(var[i] == Approx(squares / (n - 1)).epsilon(1e-5));
    CHECK(min[i] == *std::min_element(v.begin(), v.end()));
    CHECK(max[i] == *std::max_element(v.begin(), v.end()));
    CHECK(first[i] == v.front());
    CHECK(last[i] == v.back());
    ++i;
  }
}

array<std::int64_t> scattered(std::int64_t n, std::int64_t below) {
  return (plait::arange<std::int64_t>(0, n) * 7919 + 13) % 1009 % below;
}
}  // namespace

TEMPLATE_TEST_CASE("groups of values of every dtype", "", std::int8_t, std::uint8_t, std::int16_t,
                   std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float,
                   double) {
  const array<std::int64_t> keys = scattered(500, 17);
  check_all(keys, scattered(500, 50).template astype<TestType>());
  check_all(scattered(500, 50).template astype<TestType>(), keys);
}

TEST_CASE("keys of any range") {
  const array<double> v = scattered(300, 40).astype<double>();
  const array<std::int64_t> near = scattered(300, 9);
  check_all(near - 4, v);
  check_all(near * 3 + 1000, v);                       // a table with gaps
  check_all(near * 1'000'000'007 - 3'000'000'000, v);  // no table
  check_all(near.astype<std::uint64_t>() * std::uint64_t{1} << 60, v);
  check_all(near.astype<double>() * 0.1 - 0.35, v);
  const auto low = std::numeric_limits<std::int64_t>::min();
  const auto high = std::numeric_limits<std::int64_t>::max();
  check_all(array<std::int64_t>{high, low, 0, high}, array<double>{1, 2, 3, 4});
  CHECK(values_of(plait::group_by(array<bool>{true, false, true}).sum(array<int>{1, 2, 3})) ==
        ints{2, 4});
}

TEST_CASE("many keys: few of them, as many as elements, far apart, NaN") {
  const std::int64_t n = 100'000;
  const array<double> v = scattered(n, 50).astype<double>();
  check_all(plait::zeros<std::int64_t>({n}) - 5, v);
  check_all(scattered(n, 1000) - 500, v);
  check_all(plait::arange<std::int64_t>(n, 0, -1), v);
  check_all((plait::arange<std::int64_t>(0, n) * 7919 % 50'021) * 1'000'000'007, v);
  const array<double> gaps = plait::where(scattered(n, 7) == 3, kNan, scattered(n, 7) * 0.5);
  const auto g = plait::group_by(gaps);
  CHECK(g.size() == 7);
  CHECK(std::isnan(g.keys()(6)));
  CHECK(g.count()(6) == plait::sum(plait::isnan(gaps)).item());
}

TEST_CASE("keys that are real numbers") {
  const auto g = plait::group_by(array<double>{kNan, 0.0, 2.5, -0.0, kNan, -1});
  CHECK(g.size() == 4);
  CHECK(values_of(g.count()) == ints{1, 2, 1, 2});
  CHECK(g.keys()(0) == -1);
  CHECK(std::isnan(g.keys()(3)));
  CHECK(values_of(g.labels()) == ints{3, 1, 2, 1, 3, 0});
}

TEST_CASE("NaN makes the results of its group NaN") {
  const auto g = plait::group_by(array<int>{0, 0, 1, 1});
  const array<double> v{1, kNan, 3, 4};
  for (const auto& r : {g.sum(v), g.mean(v), g.min(v), g.max(v), g.var(v), g.stddev(v), g.prod(v)})
    CHECK(std::isnan(r(0)));
  CHECK(values_of(g.max(v))[1] == 4);
  CHECK(values_of(g.first(v))[0] == 1);
  CHECK(values_of(g.prod(v))[1] == 12);
}

TEST_CASE("keys below a number") {
  const auto g = plait::group_by(array<int>{3, 0, 3}, 5);
  const array<double> v{1, 2, 4};
  CHECK(g.size() == 5);
  CHECK(values_of(g.keys()) == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(values_of(g.count()) == ints{1, 0, 0, 2, 0});
  CHECK(values_of(g.sum(v)) == doubles{2, 0, 0, 5, 0});
  CHECK(values_of(g.max(v))[1] == -std::numeric_limits<double>::infinity());
  CHECK(values_of(g.min(v.astype<int>()))[1] == std::numeric_limits<int>::max());
  CHECK(std::isnan(g.mean(v)(1)));
  CHECK(g.mean(v)(3) == 2.5);
  CHECK_THROWS_AS(g.first(v), plait::ValueError);
  CHECK_THROWS_AS(plait::group_by(array<int>{0, 3}, 3), plait::IndexError);
  CHECK_THROWS_AS(plait::group_by(array<int>{0, -1}, 3), plait::IndexError);
  CHECK_THROWS_AS(plait::group_by(array<double>{0, 1}, 3), plait::DTypeError);
  CHECK_THROWS_AS(plait::group_by(array<int>{}, -1), plait::ValueError);
}

TEST_CASE("groups of rows, expressions, no elements") {
  const array<int> keys{7, 2, 7};
  const auto g = plait::group_by(keys);
  const array<double> rows{{1, 2}, {3, 4}, {5, 0}};
  CHECK(g.sum(rows).shape() == shape_type{2, 2});
  CHECK(values_of(g.sum(rows)) == doubles{3, 4, 6, 2});
  CHECK(values_of(g.mean(rows)) == doubles{3, 4, 3, 1});
  CHECK(values_of(g.var(rows)) == doubles{0, 0, 4, 1});
  CHECK(values_of(g.max(rows * 2 - 1)) == doubles{5, 7, 9, 3});
  CHECK(values_of(g.last(rows)) == doubles{3, 4, 5, 0});
  CHECK_THROWS_AS(g.sum(array<double>{1, 2}), plait::ShapeError);
  CHECK_THROWS_AS(g.sum(array<std::complex<double>>{1, 2, 3}), plait::DTypeError);
  CHECK_THROWS_AS(plait::group_by(rows), plait::ValueError);
  const auto none = plait::group_by(array<int>{});
  CHECK(none.size() == 0);
  CHECK(none.keys().size() == 0);
  CHECK(none.mean(array<double>{}).size() == 0);
  CHECK(none.first(array<double>{}).size() == 0);
  CHECK(values_of(plait::group_by(array<int>{}, 2).sum(array<double>{})) == doubles{0, 0});
}

TEST_CASE("a grouping keeps the keys that it was made of") {
  array<std::int64_t> keys{0, 1, 1};
  const auto found = plait::group_by(keys);
  const auto given = plait::group_by(keys, 2);
  plait::view(keys) = 0;
  CHECK(values_of(found.sum(array<double>{1, 2, 4})) == doubles{1, 6});
  CHECK(values_of(given.sum(array<double>{1, 2, 4})) == doubles{1, 6});
}

TEST_CASE("several keys") {
  const array<int> a{1, 0, 1, 1, 0};
  const array<double> b{2.5, -1, 2.5, -1, -1};
  const auto g = plait::group_by(a, b);
  const auto [first, second] = g.keys();
  CHECK(values_of(first) == std::vector<int>{0, 1, 1});
  CHECK(values_of(second) == doubles{-1, -1, 2.5});
  CHECK(values_of(g.sum(array<double>{1, 2, 3, 4, 5})) == doubles{7, 4, 4});
  const auto three = plait::group_by(a * 1'000'000, b, a);
  CHECK(values_of(std::get<2>(three.keys())) == std::vector<int>{0, 1, 1});
  CHECK(values_of(three.count()) == ints{2, 1, 2});
  CHECK_THROWS_AS(plait::group_by(a, array<int>{1}), plait::ShapeError);
}

TEST_CASE("the number of threads changes no bit of an aggregation") {
  const std::int64_t n = 1'200'000;
  const bool far = GENERATE(false, true);
  const array<std::int64_t> keys = (scattered(n, 100) * (far ? 1'000'000'007 : 1)).eval();
  const array<double> v = plait::sin(plait::arange<double>(0, n)).eval();
  const auto results = [&](int threads) {
    plait::set_num_threads(threads);
    const auto g = plait::group_by(keys);
    const auto mean = g.mean(v), max = g.max(v);  // in one pass
    plait::eval(mean, max);
    CHECK(plait::all(mean == g.mean(v)).item());
    CHECK(plait::all(max == g.max(v)).item());
    std::vector<doubles> all;
    for (const auto& r :
         {g.sum(v), g.mean(v * 2), g.max(v), g.min(v), g.var(v), g.first(v), g.last(v + 1)})
      all.push_back(values_of(r));
    return all;
  };
  const int before = plait::num_threads();
  const auto one = results(1);
  for (const int threads : {2, 3}) {
    const auto more = results(threads);
    for (std::size_t i = 0; i < one.size(); ++i)
      CHECK(std::memcmp(one[i].data(), more[i].data(), one[i].size() * sizeof(double)) == 0);
  }
  plait::set_num_threads(before);
  const auto groups = listed(keys, v);
  std::size_t k = 0;
  for (const auto& [key, list] : groups) {
    double sum = 0;
    for (const double x : list) sum += x;
    CHECK(one[0][k] == Approx(sum).epsilon(1e-9));
    CHECK(one[2][k] == *std::max_element(list.begin(), list.end()));
    CHECK(one[5][k] == list.front());
    CHECK(one[6][k] == list.back() + 1);
    ++k;
  }
}

}  // namespace of_groups
