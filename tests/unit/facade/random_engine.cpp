// The numbers are those of numpy.random.default_rng(7), in this order of calls.
#include <catch2/catch.hpp>
#include <numeric>

#include "plait/plait.hpp"

using plait::array;
using std::int64_t;

namespace {
template <class T>
std::vector<T> drawn(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}
}  // namespace

TEST_CASE("the engine draws NumPy's numbers") {
  plait::random::engine g(7);
  CHECK(drawn(g.random({2})) == std::vector<double>{0.625095466604667, 0.8972138009695755});
  CHECK(drawn(g.normal(10, 2, {3})) ==
        std::vector<double>{9.451724289275564, 8.218816322485452, 9.090658429656555});
  CHECK(drawn(g.exponential(3, {2})) ==
        std::vector<double>{10.150912054308762, 0.029260879946252247});
  CHECK(drawn(g.integers(-3, 5, {6})) == std::vector<int64_t>{0, 3, -2, 3, -3, 0});
  CHECK(drawn(g.permutation(6)) == std::vector<int64_t>{3, 5, 4, 1, 2, 0});
  CHECK(drawn(g.choice(100, 4)) == std::vector<int64_t>{25, 99, 44, 47});
  CHECK(drawn(g.choice(100, 4, false)) == std::vector<int64_t>{48, 57, 54, 50});
  CHECK(drawn(g.uniform(2, 4, {2})) == std::vector<double>{3.244358458882325, 3.97792029536377});
  array<double> a = plait::arange<double>(8).reshape({4, 2});
  g.shuffle(a);
  CHECK(drawn(array<double>(plait::col(a, 0))) == std::vector<double>{0, 4, 6, 2});
  const array<int64_t> tens = plait::arange(5) * 10;
  CHECK(drawn(g.permutation(tens)) == std::vector<int64_t>{0, 10, 20, 40, 30});
  CHECK(drawn(g.choice(tens, 3)) == std::vector<int64_t>{20, 40, 20});
}

TEST_CASE("every layer of the densities is met, and their tails") {
  plait::random::engine g(3);
  const array<double> n = g.standard_normal({1000, 1000}), e = g.exponential(1, {1000, 1000});
  CHECK(plait::mean(n).item() == Approx(0).margin(0.005));
  CHECK(plait::stddev(n).item() == Approx(1).epsilon(0.005));
  CHECK(plait::amax(plait::abs(n)).item() > 4);
  CHECK(plait::mean(e).item() == Approx(1).epsilon(0.005));
  CHECK(plait::amax(e).item() > 9);
  CHECK(plait::amin(e).item() >= 0);
}

TEST_CASE("samples without replacement, whichever way they are drawn") {
  plait::random::engine g(5);
  for (const int64_t n : {10, 9000, 20000}) {
    const array<int64_t> one = g.choice(20000, n, false);
    CHECK(int64_t(plait::unique(one).size()) == n);
    CHECK(plait::amax(one).item() < 20000);
  }
  CHECK(g.permutation(0).size() == 0);
  CHECK(g.choice(3, 0).size() == 0);
  CHECK_THROWS_AS(g.choice(3, 4, false), plait::ValueError);
  CHECK_THROWS_AS(g.integers(3, 3, {1}), plait::ValueError);
  CHECK_THROWS_AS(g.normal(0, -1, {1}), plait::ValueError);
}
