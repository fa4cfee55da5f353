// The numbers are those of numpy.random.default_rng(seed), in the order of the calls.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <numeric>

#include "plait/plait.hpp"

using plait::array;
using std::int64_t;

namespace {
template <class T>
std::vector<T> drawn(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}

// Of all elements and where they are.
template <class T>
std::uint64_t digest(const array<T>& a) {
  std::uint64_t sum = 0, weight = 1;
  for (const T v : a) {
    std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t> bits;
    std::memcpy(&bits, &v, sizeof v);
    sum += bits * (weight += 2);
  }
  return sum;
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

TEST_CASE("more distributions are NumPy's, whichever way they are drawn") {
  plait::random::engine g(7);
  CHECK(drawn(g.binomial(10, 0.3, {4})) == std::vector<int64_t>{3, 5, 4, 2});
  CHECK(drawn(g.binomial(1000, 0.3, {4})) == std::vector<int64_t>{288, 277, 305, 298});
  CHECK(drawn(g.binomial(1000, 0.8, {4})) == std::vector<int64_t>{794, 800, 796, 777});
  CHECK(drawn(g.binomial(100000000, 0.2, {3})) ==
        std::vector<int64_t>{19995896, 19997366, 20002798});
  CHECK(drawn(g.hypergeometric(5, 6, 4, {4})) == std::vector<int64_t>{1, 1, 2, 1});
  CHECK(drawn(g.hypergeometric(5000, 600, 4000, {4})) ==
        std::vector<int64_t>{3584, 3579, 3580, 3585});
  CHECK(drawn(g.hypergeometric(15, 6, 19, {4})) == std::vector<int64_t>{14, 14, 14, 13});
  CHECK(drawn(g.vonmises(1, 4, {2})) == std::vector<double>{1.671972874945995, 0.8796853244082374});
  CHECK(drawn(g.vonmises(1, 1e-6, {2})) ==
        std::vector<double>{2.2644847429534467, 0.3245455210029329});
  CHECK(drawn(g.vonmises(1, 1e7, {2})) ==
        std::vector<double>{0.9993699415426828, 0.9998535328283198});
  CHECK(drawn(g.vonmises(1, 1e-9, {2})) ==
        std::vector<double>{-2.314626093510592, 2.168165902803965});
  CHECK(drawn(g.wald(1.5, 2, {2})) == std::vector<double>{2.7019580073932894, 1.0915610079250855});
  CHECK(drawn(g.zipf(2.5, {4})) == std::vector<int64_t>{1, 1, 1, 1});
  CHECK(drawn(g.zipf(1.01, {2})) == std::vector<int64_t>{71953629, 2});
  CHECK(drawn(g.zipf(2000, {2})) == std::vector<int64_t>{1, 1});
  CHECK(drawn(g.logseries(0.7, {4})) == std::vector<int64_t>{2, 1, 1, 2});
  CHECK(drawn(g.noncentral_chisquare(3, 2, {2})) ==
        std::vector<double>{1.5781681863427401, 7.314313711265822});
  CHECK(drawn(g.noncentral_chisquare(0.5, 2, {2})) ==
        std::vector<double>{5.460614226904785, 0.6429826207019859});
  CHECK(drawn(g.noncentral_f(3, 4, 2, {2})) ==
        std::vector<double>{0.17953426222757507, 1.006522967849042});
  CHECK(drawn(g.standard_cauchy({2})) ==
        std::vector<double>{-3.1182011263722607, -2.5142282268765284});
  CHECK(drawn(g.beta(1e-104, 1e-104, {4})) == std::vector<double>{1.0, 0.0, 0.0, 1.0});
  CHECK(drawn(g.beta(0.0001, 0.0002, {2})) == std::vector<double>{0.0, 0.0});
  CHECK(drawn(g.standard_gamma<float>(2.5, {3})) ==
        std::vector<float>{1.9154886F, 1.5309291F, 4.027597F});
  CHECK(drawn(g.standard_gamma<float>(0.3, {2})) == std::vector<float>{1.066076F, 0.3767635F});
  CHECK(drawn(g.bytes(6)) == std::vector<std::uint8_t>{132, 170, 165, 148, 95, 195});
}

TEST_CASE("vectors are drawn as NumPy's") {
  plait::random::engine g(7);
  const array<double> mean = {1, 2}, covariance = {{2, 0.5}, {0.5, 1}};
  CHECK(drawn(g.multinomial(20, array<double>{0.2, 0.3, 0.5}, {2})) ==
        std::vector<int64_t>{4, 8, 8, 5, 4, 11});
  CHECK(drawn(g.multinomial(3, array<double>{0.5, 0.5})) == std::vector<int64_t>{1, 2});
  CHECK(drawn(g.multivariate_hypergeometric(array<int64_t>{3, 4, 5}, 8, {2})) ==
        std::vector<int64_t>{2, 2, 4, 1, 2, 5});
  CHECK(drawn(g.multivariate_hypergeometric(array<int64_t>{3, 4, 5}, 4, {2}, true)) ==
        std::vector<int64_t>{1, 1, 2, 0, 2, 2});
  CHECK(drawn(g.dirichlet(array<double>{1, 2, 3})) ==
        std::vector<double>{0.1667594015947684, 0.3853902664297147, 0.4478503319755169});
  CHECK(drawn(g.dirichlet(array<double>{0.01, 0.02, 0.03}, {2})) ==
        std::vector<double>{0.6499458440476404, 1.6687097231042948e-05, 0.35003746885512854,
                            8.450791245018119e-23, 3.464338055454163e-31, 1.0});
  CHECK(plait::allclose(g.multivariate_normal(mean, covariance, {2}, plait::random::factor::svd),
                        array<double>{{-0.18095802681029105, 0.7325201376655053},
                                      {0.7432739644556903, 2.7460455265117254}},
                        1e-12));
  CHECK(plait::allclose(g.multivariate_normal(mean, covariance, {2}, plait::random::factor::eigh),
                        array<double>{{0.9544491508383673, 2.5436129020072014},
                                      {0.9500981817181434, 1.8728634025130413}},
                        1e-12));
  CHECK(
      plait::allclose(g.multivariate_normal(mean, covariance, {2}, plait::random::factor::cholesky),
                      array<double>{{-0.7324905643840822, 1.63810002275918},
                                    {2.9216665118970986, 1.0331952996424176}},
                      1e-12));
}

TEST_CASE("parameters are arrays that broadcast") {
  plait::random::engine g(7);
  const array<double> location = {0, 1, 2}, scale = {{1}, {2}};
  const array<int64_t> counts = {0, 1, 2};
  CHECK(drawn(g.normal(location, scale)) ==
        std::vector<double>{0.0012301533574825742, 1.29874553750847, 1.7258621446377824,
                            -1.7811836775145484, 0.0906584296565549, 0.01670689000707526});
  CHECK(drawn(g.normal(location, 2, {2, 3})) ==
        std::vector<double>{0.12028720519487697, 3.680430491109067, 1.0155869628973409,
                            -1.2409497996398808, 1.9796841003703964, 2.7137740163201216});
  CHECK(drawn(g.exponential(location)) ==
        std::vector<double>{0.0, 1.0737006617146334, 3.768500103031901});
  CHECK(drawn(g.binomial(counts, 0.3)) == std::vector<int64_t>{0, 0, 2});
  CHECK(drawn(g.uniform(location, location + 1.)) ==
        std::vector<double>{0.7926619192137531, 1.6221792294411626, 2.988960147681885});
  CHECK(drawn(g.triangular(location, location + 1., 4)) ==
        std::vector<double>{0.9280273664835514, 1.6932792378064798, 3.119704145497698});
  CHECK(drawn(g.hypergeometric(counts, 4, 2)) == std::vector<int64_t>{0, 0, 0});
  CHECK(drawn(g.integers(0, counts + 1)) == std::vector<int64_t>{0, 1, 1});
  CHECK(drawn(g.integers<std::int8_t>(0, counts + 1, {2, 3})) ==
        std::vector<std::int8_t>{0, 1, 0, 0, 1, 2});
  CHECK(drawn(g.standard_gamma<float>(location)) ==
        std::vector<float>{0.0F, 3.7992208F, 0.5594986F});
  CHECK(drawn(g.normal(3, 2)) == std::vector<double>{3.2266179720066153});
}

TEST_CASE("orders, choices and integers take axes, probabilities and ends") {
  plait::random::engine g(7);
  array<double> a = plait::arange<double>(12).reshape({3, 4});
  const array<double> p = {0.1, 0.2, 0.3, 0.4};
  CHECK(drawn(g.permuted(a)) ==
        std::vector<double>{4.0, 6.0, 10.0, 0.0, 1.0, 3.0, 8.0, 7.0, 2.0, 5.0, 9.0, 11.0});
  CHECK(drawn(g.permuted(a, 1)) ==
        std::vector<double>{0.0, 3.0, 2.0, 1.0, 7.0, 6.0, 4.0, 5.0, 11.0, 8.0, 10.0, 9.0});
  CHECK(drawn(g.permuted(a, 0)) ==
        std::vector<double>{0.0, 1.0, 2.0, 11.0, 4.0, 5.0, 10.0, 7.0, 8.0, 9.0, 6.0, 3.0});
  CHECK(drawn(g.permutation(a, 1)) ==
        std::vector<double>{1.0, 0.0, 2.0, 3.0, 5.0, 4.0, 6.0, 7.0, 9.0, 8.0, 10.0, 11.0});
  g.shuffle(a, 1);
  CHECK(drawn(a) ==
        std::vector<double>{0.0, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0, 8.0, 10.0, 9.0, 11.0});
  CHECK(drawn(g.choice(a, {1, 2}, true, 1)) == std::vector<double>{3.0, 0.0, 7.0, 4.0, 11.0, 8.0});
  CHECK(drawn(g.choice(4, {2, 3}, true, p)) == std::vector<int64_t>{3, 0, 0, 2, 2, 3});
  CHECK(drawn(g.choice(4, 3, false, p)) == std::vector<int64_t>{3, 2, 0});
  CHECK(drawn(g.choice(a, 1, false, p, 1)) == std::vector<double>{0.0, 4.0, 8.0});
  CHECK(drawn(g.integers(0, 1, {6}, true)) == std::vector<int64_t>{0, 0, 1, 1, 1, 0});
  CHECK(drawn(g.integers<std::int8_t>(-128, 127, {3}, true)) ==
        std::vector<std::int8_t>{-94, 103, 17});
  CHECK(drawn(g.integers<bool>(0, 1, {4}, true)) == std::vector<bool>{false, false, false, false});
  CHECK(drawn(g.integers<std::uint32_t>(0, 4294967295, {2}, true)) ==
        std::vector<std::uint32_t>{2100301119, 16038447});
}

TEST_CASE("engines are seeded by lists, spawned, moved, jumped, saved and restored") {
  plait::random::engine g(7);
  std::vector<plait::random::engine> children = g.spawn(2);
  CHECK(drawn(children[0].random({2})) ==
        std::vector<double>{0.7978591868433563, 0.05309388325640407});
  CHECK(drawn(children[1].random({2})) ==
        std::vector<double>{0.4805820057358118, 0.059541806671542186});
  CHECK(drawn(children[1].spawn(1)[0].random({2})) ==
        std::vector<double>{0.5898074907472937, 0.5065164278777952});
  CHECK(drawn(g.spawn(1)[0].random({2})) ==
        std::vector<double>{0.6320442355695731, 0.48677827296439047});
  plait::random::engine lists({1, 2, 3}), longer({1, int64_t(1) << 40, 3, 4, 5, 6});
  CHECK(drawn(lists.random({2})) == std::vector<double>{0.6704722626516632, 0.1110146366693816});
  CHECK(drawn(longer.random({2})) == std::vector<double>{0.27929687517977775, 0.9534255549658711});
  CHECK(drawn(longer.spawn(1)[0].random({2})) ==
        std::vector<double>{0.7936551086800557, 0.7282608488631198});
  g.random<float>({1});
  CHECK(drawn(g.jumped(2).random<float>({2})) == std::vector<float>{0.33494556F, 0.023025572F});
  const plait::random::engine_state s = g.state();
  CHECK(s.high == 10985668945784877581U);
  CHECK(s.low == 16223739763505256561U);
  CHECK(s.increment_high == 14156248039698386623U);
  CHECK(s.increment_low == 7388295216453704025U);
  CHECK(s.has_uint32);
  CHECK(s.uinteger == 2684764585U);
  plait::random::engine again = plait::random::engine::from_state(s), moved = std::move(g);
  CHECK(drawn(again.random<float>({2})) == std::vector<float>{0.6250954F, 0.6841799F});
  CHECK(drawn(moved.random<float>({2})) == std::vector<float>{0.6250954F, 0.6841799F});
  moved.advance(5);
  CHECK(drawn(moved.random({2})) == std::vector<double>{0.8212284183827663, 0.7970694287520462});
  CHECK_THROWS_AS(g.random({2}), plait::ValueError);
}

TEST_CASE("many numbers are NumPy's for any number of threads") {
  const int before = plait::num_threads();
  const int64_t n = 1500001;
  for (const int threads : {1, 2, 5}) {
    plait::set_num_threads(threads);
    plait::random::engine g(9);
    CHECK(digest(g.standard_normal({n})) == 12840145107979965598U);
    CHECK(digest(g.normal(10, 2, {n})) == 9584784154177479840U);
    CHECK(digest(g.standard_exponential({n})) == 356990224965557863U);
    CHECK(digest(g.uniform(-1, 3, {n})) == 11638299608504825778U);
    CHECK(digest(g.random<float>({n})) == 7601081014587718192U);
    CHECK(digest(g.standard_normal<float>({n})) == 17130035903458143669U);
    CHECK(digest(g.standard_exponential<float>({n})) == 588724922149729509U);
    CHECK(digest(g.integers(0, 1000, {n})) == 1122995531088801U);
    CHECK(digest(g.integers<std::int32_t>(0, 2000000000, {n})) == 263037858653406028U);
    CHECK(digest(g.integers(0, 1024, {n})) == 1150859516996327U);
    CHECK(digest(g.integers(0, int64_t(3) << 61, {n})) == 9376408572555393385U);
    CHECK(digest(g.random({n})) == 1392862865943151802U);
  }
  plait::set_num_threads(before);
}

TEST_CASE("NumPy's errors for parameters, shapes and probabilities") {
  plait::random::engine g(7);
  CHECK_THROWS_WITH(g.binomial(-1, 0.5, {1}), "binomial: n < 0");
  CHECK_THROWS_WITH(g.binomial(1, 1.5, {1}), "binomial: p < 0, p > 1 or p is NaN");
  CHECK_THROWS_WITH(g.binomial(1, array<double>{0.5, 1.5}),
                    "binomial: p < 0, p > 1 or p contains NaNs");
  CHECK_THROWS_AS(g.binomial(1.5, 0.5, {1}), plait::DTypeError);
  CHECK_THROWS_AS(g.binomial(array<double>{1.5}, 0.5), plait::DTypeError);
  CHECK_THROWS_WITH(g.hypergeometric(2, 3, 6, {1}), "hypergeometric: ngood + nbad < nsample");
  CHECK_THROWS_WITH(g.zipf(1, {1}), "zipf: a <= 1 or a is NaN");
  CHECK_THROWS_WITH(g.logseries(1, {1}), "logseries: p < 0, p >= 1 or p is NaN");
  CHECK_THROWS_WITH(g.negative_binomial(std::nan(""), 0.5, {1}),
                    "negative_binomial: n must not be NaN");
  CHECK_THROWS_WITH(g.normal(0, -0.0, {1}), "normal: scale < 0");
  CHECK(std::isnan(g.normal(0, std::nan(""), {1})(0)));
  CHECK_THROWS_WITH(g.uniform(1, 0, {1}), "uniform: high - low < 0");
  CHECK_THROWS_AS(g.uniform(-1e308, 1e308, {1}), plait::OverflowError);
  CHECK_THROWS_WITH(g.normal(array<double>{1, 2}, 1, {1}),
                    "normal: Output size (1,) is not compatible with broadcast dimensions of "
                    "inputs (2,).");
  CHECK_THROWS_AS(g.normal(array<double>{1, 2}, 1, {3}), plait::ShapeError);
  CHECK_THROWS_WITH(g.integers(0, 0, {1}), "integers: high <= 0");
  CHECK_THROWS_WITH(g.integers(4, 3, {1}, true), "integers: low > high");
  CHECK_THROWS_WITH(g.integers<std::int8_t>(0, 128, {1}, true),
                    "integers: high is out of bounds for int8");
  CHECK_THROWS_WITH(g.multinomial(3, array<double>{0.7, 0.7, 0}),
                    "multinomial: sum(pvals[:-1]) > 1.0");
  CHECK_THROWS_WITH(g.multivariate_hypergeometric(array<int64_t>{1, 2}, 4),
                    "multivariate_hypergeometric: nsample > sum(colors)");
  CHECK_THROWS_WITH(g.dirichlet(array<double>{1, -1}), "dirichlet: alpha < 0");
  CHECK_THROWS_WITH(g.choice(2, 1, true, array<double>{0.5, 0.4}),
                    "choice: Probabilities do not sum to 1. See Notes section of docstring for "
                    "more information.");
  CHECK_THROWS_WITH(g.choice(2, 2, false, array<double>{1, 0}),
                    "choice: Fewer non-zero entries in p than size");
  CHECK_THROWS_WITH(g.choice(3, 4, false),
                    "choice: Cannot take a larger sample than population when replace is False");
  CHECK_THROWS_AS(g.permuted(plait::ones<double>({2}), 1), plait::AxisError);
  CHECK_THROWS_AS(g.spawn(-1), plait::ValueError);
}

TEST_CASE("single draws are numbers") {
  plait::random::engine rng(7);
  const double normal = rng.normal();
  CHECK(normal == 0.0012301533574825742);
  const int64_t k = rng.integers(0, 10);
  CHECK(k == 6);
  double sum = rng.random();
  CHECK(sum == 0.7756856902451935);
  CHECK(rng.poisson(3) == 3);
  sum += rng.uniform(2, 3);
  CHECK(sum == 0.7756856902451935 + 2.8212284183827663);
  CHECK(rng.standard_exponential() == 0.5753327563498637);
  CHECK(rng.standard_cauchy() == -1.266683616862523);
  CHECK(std::sqrt(rng.uniform()) == std::sqrt(0.2784256121007733));
  const array<double> as_array = rng.standard_normal();
  CHECK(as_array.ndim() == 0);
  CHECK(as_array.item() == 0.10541424899789856);
  const array<double> two = rng.normal(array<double>{0, 100}, 1);
  CHECK(two.shape() == plait::shape_type{2});
  CHECK_THROWS_AS(double(rng.normal(array<double>{0, 100}, 1)), plait::ValueError);
}
