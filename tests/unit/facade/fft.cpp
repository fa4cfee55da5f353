#include "plait/fft.hpp"

#include <catch2/catch.hpp>
#include <complex>
#include <vector>

#include "plait/plait.hpp"

using plait::array;
namespace fft = plait::fft;

namespace {

using complex = std::complex<double>;

// The sum that defines the transform.
std::vector<complex> transformed(const std::vector<complex>& x, double sign = -1) {
  const double turn = sign * 2 * std::acos(-1.0) / double(x.size());
  std::vector<complex> out(x.size());
  for (std::size_t k = 0; k < x.size(); ++k)
    for (std::size_t j = 0; j < x.size(); ++j)
      out[k] += x[j] * std::polar(1.0, turn * double(j * k % x.size()));
  return out;
}
std::vector<complex> some(std::size_t n) {
  std::vector<complex> x;
  for (std::size_t i = 0; i < n; ++i)
    x.emplace_back(std::sin(1.0 + 3.0 * double(i)), double(i % 5) - 1.5);
  return x;
}
template <class A>
double distance(const A& a, const std::vector<complex>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  std::size_t i = 0;
  for (const complex z : a) most = std::max(most, std::abs(z - b[i++]));
  return most;
}

}  // namespace

TEST_CASE("transforms of lines of any length are their sums") {
  for (std::size_t n : {1, 2, 3, 8, 12, 17, 101, 128, 1009}) {
    INFO(n);
    const std::vector<complex> x = some(n);
    const array<complex> a(x);
    CHECK(distance(fft::fft(a), transformed(x)) < 1e-10);
    CHECK(distance(fft::ifft(a) * double(n), transformed(x, 1)) < 1e-10);
    const array<double> real = plait::real(a).copy();
    std::vector<complex> r;
    for (double v : real) r.emplace_back(v);
    std::vector<complex> half = transformed(r);
    half.resize(n / 2 + 1);
    CHECK(distance(fft::rfft(real), half) < 1e-10);
    CHECK(plait::allclose(fft::irfft(fft::rfft(real), static_cast<std::int64_t>(n)), real));
  }
}

TEST_CASE("lines are cut or padded, along any axis, of any strides") {
  array<double> a = plait::arange<double>(0, 24).reshape({4, 6});
  const array<double> column = plait::view(a, plait::all(), 2).copy();
  const auto down = fft::fft(a, 8, 0);
  CHECK(down.shape() == plait::shape_type{8, 6});
  std::vector<complex> padded(column.begin(), column.end());
  padded.resize(8);
  CHECK(distance(plait::view(down, plait::all(), 2).copy(), transformed(padded)) < 1e-12);
  CHECK(plait::allclose(fft::fft(plait::transpose(a), 3),
                        fft::fft(plait::view(a, plait::range(0, 3)).copy(), -1, 0).transpose()));
  CHECK(plait::allclose(fft::fft2(a), fft::fft(fft::fft(a, -1, 1), -1, 0)));
  CHECK(plait::allclose(fft::ifftn(fft::fftn(a)), a));
  CHECK(plait::allclose(fft::irfft2(fft::rfft2(a)), a));
  CHECK(fft::fft(plait::empty({0, 4})).shape() == plait::shape_type{0, 4});
}

TEST_CASE("single precision stays single, integers do not") {
  static_assert(
      std::is_same_v<decltype(fft::fft(array<float>{}))::value_type, std::complex<float>>);
  static_assert(
      std::is_same_v<decltype(fft::irfft(array<std::complex<float>>{}))::value_type, float>);
  static_assert(std::is_same_v<decltype(fft::rfft(array<std::int8_t>{}))::value_type, complex>);
  CHECK(fft::rfft(array<plait::float16>(plait::ones<plait::float16>({4})))(0) ==
        std::complex<float>(4));
  CHECK(fft::rfft(array<int>{1, 2, 3})(0) == complex(6));
}

TEST_CASE("frequencies and shifts") {
  const array<double> f = fft::fftfreq(5, 0.5);
  CHECK(std::vector<double>(f.begin(), f.end()) == std::vector<double>{0, 0.4, 0.8, -0.8, -0.4});
  const array<double> shifted = fft::fftshift(f);
  CHECK(shifted(0) == -0.8);
  CHECK(plait::array_equal(fft::ifftshift(shifted), f));
  CHECK(fft::rfftfreq(6)(3) == 0.5);
}

TEST_CASE("errors of transforms name them") {
  const array<double> a = plait::ones({3});
  CHECK_THROWS_WITH(fft::fft(a, 0), "fft::fft: Invalid number of FFT data points (0) specified.");
  CHECK_THROWS_AS(fft::rfft(a, 3, 1), plait::AxisError);
  CHECK_THROWS_AS(fft::irfft(plait::ones({1})), plait::ValueError);
}
