// The numbers are those of numpy.random.default_rng(7), in this order of calls.
#include <catch2/catch.hpp>
#include <cmath>
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

TEST_CASE("integers of each dtype are NumPy's, in memory of their own size") {
  plait::random::engine g(7);
  const array<std::int32_t> of_32 = g.integers<std::int32_t>(0, 100, {8});
  CHECK(of_32.strides()[0] == 4);
  std::int32_t out[9] = {0, 0, 0, 0, 0, 0, 0, 0, -1};
  of_32.eval_into(out);
  CHECK(std::vector<std::int32_t>(out, out + 9) ==
        std::vector<std::int32_t>{94, 62, 68, 89, 57, 77, 83, 22, -1});
  CHECK(drawn(g.integers<std::int8_t>(-100, 100, {8})) ==
        std::vector<std::int8_t>{-47, -37, -58, -90, 19, 67, -41, -60});
  CHECK(drawn(g.integers<std::int8_t>(-128, 128, {5})) ==
        std::vector<std::int8_t>{87, -78, 33, 95, -16});
  CHECK(drawn(g.integers<std::uint8_t>(0, 10, {5})) == std::vector<std::uint8_t>{1, 0, 3, 0, 8});
  CHECK(drawn(g.integers<std::int16_t>(-1000, 1000, {5})) ==
        std::vector<std::int16_t>{-949, 642, -802, -738, 484});
  CHECK(drawn(g.integers<std::uint16_t>(0, 65536, {3})) ==
        std::vector<std::uint16_t>{14625, 7804, 38343});
  CHECK(drawn(g.integers<std::uint32_t>(0, int64_t(1) << 32, {3})) ==
        std::vector<std::uint32_t>{3506691144, 1301514362, 1467175557});
  CHECK(drawn(g.integers<std::uint64_t>(0, int64_t(1) << 62, {3})) ==
        std::vector<std::uint64_t>{1175378513906880444, 2052552176972312932, 2326818151458274759});
  CHECK(drawn(g.integers<bool>(0, 2, {6})) ==
        std::vector<bool>{false, true, false, false, false, true});
  CHECK(drawn(g.integers<bool>(1, 2, {3})) == std::vector<bool>{true, true, true});
  CHECK(drawn(g.permutation<std::int16_t>(6)) == std::vector<std::int16_t>{2, 4, 0, 3, 1, 5});
  CHECK(drawn(g.integers(0, 50, {3})) == std::vector<int64_t>{39, 35, 31});
  CHECK(g.choice<std::uint8_t>(100, 4).strides()[0] == 1);
  CHECK(g.choice<float>(100, 4, false).strides()[0] == 4);
  CHECK_THROWS_WITH(g.integers<std::int8_t>(0, 129, {1}),
                    "integers: high is out of bounds for int8");
  CHECK_THROWS_WITH(g.integers<std::uint64_t>(-1, 9, {1}),
                    "integers: low is out of bounds for uint64");
}

TEST_CASE("an array<T> is made of no other elements than T") {
  CHECK_THROWS_AS(array<std::int32_t>(plait::arange<int64_t>(3).handle()), plait::DTypeError);
  CHECK_THROWS_WITH(array<float>(plait::ones<double>({2}).handle()),
                    "an array of float64 is no array<T> of float32");
}

TEST_CASE("the distributions are NumPy's, of single precision, too") {
  plait::random::engine g(7);
  CHECK(drawn(g.gamma(2.5, 3, {2})) == std::vector<double>{6.5054337235589, 5.363036435910951});
  CHECK(drawn(g.gamma(0.3, 3, {2})) ==
        std::vector<double>{0.054324318697372115, 7.618443418914646e-08});
  CHECK(drawn(g.standard_gamma(1, {2})) ==
        std::vector<double>{0.5753327563498637, 0.30053401255485435});
  CHECK(drawn(g.beta(0.5, 0.4, {2})) ==
        std::vector<double>{0.6918281432777041, 0.32954741803548204});
  CHECK(drawn(g.beta(2, 0.4, {2})) == std::vector<double>{0.8418202171443272, 0.9997070380941503});
  CHECK(drawn(g.chisquare(3, {2})) == std::vector<double>{1.9523638347071894, 1.3523631613193572});
  CHECK(drawn(g.f(3, 4, {2})) == std::vector<double>{1.5358425495555323, 0.7953314093576668});
  CHECK(drawn(g.standard_t(3, {2})) ==
        std::vector<double>{1.3507564491237924, 0.12164534276628748});
  CHECK(drawn(g.lognormal(1, 0.5, {2})) ==
        std::vector<double>{2.823762216665751, 5.362400401156644});
  CHECK(drawn(g.laplace(1, 0.5, {2})) ==
        std::vector<double>{0.150841420303922, 1.0429356368969758});
  CHECK(drawn(g.logistic(1, 0.5, {2})) ==
        std::vector<double>{1.0155457247891395, 1.9564267153373929});
  CHECK(drawn(g.gumbel(1, 0.5, {2})) ==
        std::vector<double>{1.4011863022317452, 1.0461885969921731});
  CHECK(drawn(g.rayleigh(2, {2})) == std::vector<double>{1.7523802452558517, 2.9228568729131594});
  CHECK(drawn(g.weibull(2, {2})) == std::vector<double>{0.2621080459418235, 0.31337091575006065});
  CHECK(drawn(g.pareto(2, {2})) == std::vector<double>{0.5460520803566117, 1.5523130557124407});
  CHECK(drawn(g.power(2, {2})) == std::vector<double>{0.9656856929985367, 0.7116403427180061});
  CHECK(drawn(g.triangular(1, 2, 4, {2})) ==
        std::vector<double>{2.4606291944366063, 2.526222365731517});
  CHECK(drawn(g.poisson(3, {4})) == std::vector<int64_t>{2, 2, 3, 6});
  CHECK(drawn(g.poisson(300, {4})) == std::vector<int64_t>{279, 332, 282, 307});
  CHECK(drawn(g.geometric(0.5, {4})) == std::vector<int64_t>{1, 1, 1, 1});
  CHECK(drawn(g.geometric(0.1, {4})) == std::vector<int64_t>{52, 5, 20, 2});
  CHECK(drawn(g.negative_binomial(5, 0.3, {4})) == std::vector<int64_t>{9, 7, 15, 5});
  CHECK(drawn(g.random<float>({3})) == std::vector<float>{0.8661758F, 0.6284619F, 0.4853422F});
  CHECK(drawn(g.standard_normal<float>({3})) ==
        std::vector<float>{-0.7956062F, -1.0856799F, -1.3179241F});
  CHECK(drawn(g.standard_exponential<float>({3})) ==
        std::vector<float>{0.4062534F, 0.69725287F, 0.5692361F});
}

TEST_CASE("parameters that no distribution has are refused") {
  plait::random::engine g(7);
  CHECK_THROWS_WITH(g.gamma(-1, 1, {2}), "gamma: shape < 0");
  CHECK_THROWS_WITH(g.poisson(std::nan(""), {2}), "poisson: lam < 0 or lam is NaN");
  CHECK_THROWS_AS(g.poisson(1e19, {2}), plait::ValueError);
  CHECK_THROWS_AS(g.geometric(0, {2}), plait::ValueError);
  CHECK_THROWS_AS(g.triangular(2, 1, 3, {2}), plait::ValueError);
  CHECK_THROWS_AS(g.beta(0, 1, {2}), plait::ValueError);
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
