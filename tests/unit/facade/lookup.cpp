// What is looked for, or looked up, in tables of few elements by many.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "plait/plait.hpp"

namespace of_tables {

using plait::array;

namespace {
const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInf = std::numeric_limits<double>::infinity();

template <class T>
std::vector<T> values_of(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}

// Numbers around those of a table, the table's own among them, and the unusual ones.
std::vector<double> around(const std::vector<double>& table) {
  std::vector<double> v{kNan, kInf, -kInf, 0.0, -0.0, 1e300, -1e300};
  for (std::size_t i = 0; v.size() < 64 * table.size() + 100; ++i) {
    const double x = table[i % table.size()], step = static_cast<double>(i % 7) * 0.11;
    v.push_back(x);
    v.push_back(std::nextafter(x, kInf));
    v.push_back(std::nextafter(x, -kInf));
    v.push_back(x + step);
    v.push_back(x - step);
  }
  return v;
}
// NaN stands behind everything.
bool less(double a, double b) { return a < b || (b != b && a == a); }
}  // namespace

TEST_CASE("many numbers are found in tables of few") {
  std::vector<std::vector<double>> tables{{1},
                                          {0, 1},
                                          {-3, -1, 0.5, 2, 2.25},
                                          {1, 1, 2, 2, 2, 3},
                                          {0, 1, 1, 1, 1, 1, 1, 9},
                                          {0, 1e-9, 1e9},
                                          {1, kNan},
                                          {-kInf, 0, kInf},
                                          {5e-324, 1e-323}};
  std::vector<double> even, uneven;
  for (int i = 0; i < 257; ++i) {
    even.push_back(i * 0.37 - 20);
    uneven.push_back(std::sin(i) * 50);
  }
  std::sort(uneven.begin(), uneven.end());
  tables.push_back(even);
  tables.push_back(uneven);
  for (const std::vector<double>& table : tables) {
    const std::vector<double> v = around(table);
    const auto left = values_of(plait::searchsorted(array<double>(table), array<double>(v)));
    const auto right =
        values_of(plait::searchsorted(array<double>(table), array<double>(v), plait::side::right));
    bool same = true;
    for (std::size_t i = 0; i < v.size(); ++i) {
      same &= left[i] == std::lower_bound(table.begin(), table.end(), v[i], less) - table.begin();
      same &= right[i] == std::upper_bound(table.begin(), table.end(), v[i], less) - table.begin();
    }
    CHECK(same);
  }
}

TEST_CASE("many numbers are interpolated between few points") {
  std::vector<double> xp, fp;
  for (int i = 0; i < 40; ++i) {
    xp.push_back(i * i * 0.5);
    fp.push_back(std::cos(i));
  }
  const std::vector<double> x = around(xp);
  const auto y = values_of(plait::interp(array<double>(x), array<double>(xp), array<double>(fp)));
  bool same = true;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto j = static_cast<std::size_t>(
        std::max<std::ptrdiff_t>(std::upper_bound(xp.begin(), xp.end(), x[i]) - xp.begin() - 1, 0));
    const double expected =
        x[i] <= xp[0]       ? fp[0]
        : x[i] >= xp.back() ? fp.back()
        : x[i] != x[i]      ? kNan
        : x[i] == xp[j]     ? fp[j]
                            : (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]) * (x[i] - xp[j]) + fp[j];
    same &= y[i] == expected || (y[i] != y[i] && expected != expected);
  }
  CHECK(same);
  CHECK(plait::interp(2.5, array<double>{1, 2, 3}, array<int>{10, 20, 40}) == 30);
  CHECK(values_of(plait::interp(plait::full({100}, 3.0), array<double>{1}, array<double>{7})) ==
        std::vector<double>(100, 7));
}

TEST_CASE(
    "interpolation in NumPy's arithmetic at what is not finite, between equal points, of few") {
  const double inf = std::numeric_limits<double>::infinity();
  const auto at = [](const std::vector<double>& x, const std::vector<double>& xp,
                     const std::vector<double>& fp) {
    return values_of(plait::interp(array<double>(x), array<double>(xp), array<double>(fp)));
  };
  CHECK(at({0.5, 1, -inf, inf}, {0, 1, 1, 2}, {1, 2, 5, 4}) == std::vector<double>{1.5, 5, 1, 4});
  CHECK(at({-1, 0.5, 2.5}, {-inf, 0, 1, 2, inf}, {7, 7, 3, 4, 4}) == std::vector<double>{7, 5, 4});
  CHECK(at({kNan, 1, 2, 3}, {2}, {5}) == std::vector<double>(4, 5));
  CHECK(std::signbit(at({1}, {0, 1, 2}, {0, -0.0, 1})[0]));
  std::vector<double> even, places;
  for (int i = 0; i < 256; ++i) even.push_back(0.1 * i);
  for (int i = 0; i < 20'000; ++i) places.push_back(25.5 * i / 20'000);
  const auto same = at(places, even, even);
  for (std::size_t i = 0; i < same.size(); ++i) CHECK(same[i] == Approx(places[i]));
}

TEST_CASE("bytes are counted and looked up") {
  const auto bytes = (plait::arange<std::int64_t>(0, 100'000) * 7919 % 251).astype<std::uint8_t>();
  const std::vector<std::uint8_t> list = values_of(bytes);
  const auto counts = plait::bincount(bytes, 256);
  std::vector<std::int64_t> expected(256);
  for (const std::uint8_t b : list) ++expected[b];
  CHECK(values_of(counts) == expected);
  const auto found = values_of(plait::take(plait::cumsum(counts), bytes));
  for (std::size_t b = 1; b < 256; ++b) expected[b] += expected[b - 1];
  bool same = true;
  for (std::size_t i = 0; i < list.size(); ++i) same &= found[i] == expected[list[i]];
  CHECK(same);
  CHECK_THROWS_AS(plait::take(plait::arange(0, 250), bytes), plait::IndexError);
}

}  // namespace of_tables
