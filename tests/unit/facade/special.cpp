// Elementwise functions of several operations or of the C library, window functions, norms, bits;
// what is expected is NumPy's.
#include <catch2/catch.hpp>
#include <limits>

#include "plait/plait.hpp"

namespace special_test {

using plait::array;
using doubles = std::vector<double>;
const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInf = std::numeric_limits<double>::infinity();

template <class T>
std::vector<T> list(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}
bool same(const array<double>& a, const doubles& expected) {
  return plait::allclose(plait::ravel(a), array<double>(expected), 1e-12, 1e-12, true);
}

TEST_CASE("numbers in parts") {
  auto [q, r] = plait::divmod(array<int>{7, -7}, 3);
  CHECK(list(q) == std::vector<int>{2, -3});
  CHECK(list(r) == std::vector<int>{1, 2});
  CHECK(list(plait::divmod(array<double>{7.5, -7.5}, 2).first) == doubles{3, -4});
  auto [fraction, whole] = plait::modf(array<double>{1.5, -2.25, kInf, -kInf, -0.0, kNan});
  CHECK(same(fraction, {0.5, -0.25, 0, 0, 0, kNan}));
  CHECK(list(plait::signbit(fraction)) ==
        std::vector<bool>{false, true, false, true, true, std::signbit(fraction.get(5))});
  CHECK(same(whole, {1, -2, kInf, -kInf, 0, kNan}));
  auto [mantissa, exponent] = plait::frexp(array<double>{0, 8, -3.5, 5e-324});
  CHECK(list(mantissa) == doubles{0, 0.5, -0.875, 0.5});
  CHECK(list(exponent) == std::vector<std::int32_t>{0, 4, 2, -1073});
  CHECK(list(plait::ldexp(mantissa, exponent)) == doubles{0, 8, -3.5, 5e-324});
  CHECK(list(plait::ldexp(array<double>{1.5, -1}, 3)) == doubles{12, -8});
  CHECK(plait::ldexp(array<double>{1}, std::int64_t{1} << 40)(0) == kInf);
  STATIC_REQUIRE(std::is_same_v<decltype(plait::frexp(array<int>{}).first), array<double>>);
  STATIC_REQUIRE(
      std::is_same_v<decltype(plait::modf(array<std::int8_t>{}).first), array<plait::float16>>);
  CHECK(float(plait::modf(array<std::int8_t>{3}).second(0)) == 3);
  CHECK(float(plait::frexp(array<std::int8_t>{3}).first(0)) == 0.75f);
  CHECK_THROWS_AS(plait::modf(plait::any_array(array<std::complex<double>>{1})), plait::DTypeError);
}

TEST_CASE("special functions") {
  CHECK(same(plait::tgamma(array<double>{4.5, 5}), {11.631728396567446, 24}));
  CHECK(same(plait::lgamma(array<double>{0.5, 100}), {0.5723649429247004, 359.1342053695754}));
  CHECK(plait::tgamma(array<int>{5})(0) == 24);
  CHECK(plait::tgamma(array<float>{5})(0) == 24.f);
  CHECK(same(plait::i0(array<double>{0, 1, -2.5, 10}),
             {1, 1.2660658777520082, 3.289839144050123, 2815.716628466254}));
  CHECK(same(plait::sinc(array<double>{0, 0.5, 1.5, -2}),
             {1, 0.6366197723675814, -0.2122065907891938, 0}));
  CHECK(plait::sinc(array<int>{0})(0) == 1);
  CHECK(same(plait::fdim(array<double>{3, 1, kNan, kInf}, array<double>{1, 3, 1, kInf}),
             {2, 0, kNan, 0}));
  CHECK_THROWS_AS(plait::i0(plait::any_array(array<std::complex<double>>{1})), plait::DTypeError);
}

TEST_CASE("angles without jumps") {
  CHECK(same(plait::unwrap(array<double>{0, 0.7853981633974483 * 3, -3, 3.1, 9}),
             {0, 2.356194490192345, 3.2831853071795862, 3.1, 2.7168146928204138}));
  CHECK(same(plait::unwrap(array<int>{1, 2, 3, 4, 5, 6, 1, 2, 3}, -1, 0, 6),
             {1, 2, 3, 4, 5, 6, 7, 8, 9}));
  CHECK(same(plait::unwrap(array<double>{{0, 5}, {4, 1}}, -1, 0),
             {0, 5, -2.2831853071795862, 7.283185307179586}));
  CHECK(same(plait::unwrap(array<double>{0, 4}, 5), {0, 4}));
  CHECK_THROWS_AS(plait::unwrap(array<double>{0, 4}, 5, 1), plait::AxisError);
}

TEST_CASE("elements of some kind") {
  using c = std::complex<double>;
  const array<c> z{c(1, 0), c(0, 2)};
  CHECK(list(plait::isreal(z)) == std::vector<bool>{true, false});
  CHECK(list(plait::iscomplex(z)) == std::vector<bool>{false, true});
  CHECK(list(plait::isreal(array<int>{1, 2})) == std::vector<bool>{true, true});
  CHECK(plait::iscomplexobj(z));
  CHECK(plait::isrealobj(array<int>{1}));
  CHECK(plait::iscomplexobj(plait::any_array(z)));
  const array<double> ends{kInf, -kInf, kNan, 1};
  CHECK(list(plait::isposinf(ends)) == std::vector<bool>{true, false, false, false});
  CHECK(list(plait::isneginf(ends)) == std::vector<bool>{false, true, false, false});
  CHECK_THROWS_AS(plait::isposinf(z), plait::DTypeError);
  auto [smallest, largest] = plait::minmax(array<double>{{3, 1}, {2, 5}});
  CHECK(smallest.item() == 1);
  CHECK(largest.item() == 5);
  CHECK(list(plait::minmax(array<int>{{3, 1}, {2, 5}}, 0).second) == std::vector<int>{3, 5});
}

TEST_CASE("window functions") {
  CHECK(list(plait::bartlett(5)) == doubles{0, 0.5, 1, 0.5, 0});
  CHECK(same(plait::blackman(5), {0, 0.34, 1, 0.34, 0}));
  CHECK(same(plait::hamming(5), {0.08, 0.54, 1, 0.54, 0.08}));
  CHECK(same(plait::hanning(5), {0, 0.5, 1, 0.5, 0}));
  CHECK(same(plait::kaiser(5, 14), {7.726866835270368e-06, 0.16493218754795197, 1,
                                    0.16493218754795197, 7.726866835270368e-06}));
  CHECK(same(plait::kaiser(4, 8.6), {0.0013325139979024198, 0.6304119273359405, 0.6304119273359405,
                                     0.0013325139979024198}));
  CHECK(list(plait::hanning(1)) == doubles{1});
  CHECK(list(plait::kaiser(1, 2)) == doubles{1});
  CHECK(plait::blackman(0).size() == 0);
}

TEST_CASE("norms under xtensor's names") {
  const array<double> a{{3, -4, 0}, {1, 2, -2}};
  CHECK(plait::norm_l0(a).item() == 5);
  CHECK(plait::norm_l1(a).item() == 12);
  CHECK(list(plait::norm_l1(a, 0)) == doubles{4, 6, 2});
  CHECK(plait::norm_sq(a).item() == 34);
  CHECK(list(plait::norm_l2(a, 1)) == doubles{5, 3});
  CHECK(plait::norm_linf(a).item() == 4);
  CHECK(plait::norm_lp_to_p(a, 3).item() == Approx(108));
  CHECK(list(plait::norm_lp(a, 2, 1)) == doubles{5, 3});
  CHECK(plait::norm_induced_l1(a).item() == 6);
  CHECK(plait::norm_induced_linf(a).item() == 7);
  using c = std::complex<double>;
  CHECK(plait::norm_l2(array<c>{c(3, 4), 0}).item() == 5);
  CHECK_THROWS_AS(plait::norm_induced_l1(array<double>{1}), plait::ValueError);
}

TEST_CASE("bits of bytes") {
  using bytes = std::vector<std::uint8_t>;
  const array<int> a{1, 0, 1, 1, 0, 0, 0, 0, 1};
  CHECK(list(plait::packbits(a)) == bytes{176, 128});
  CHECK(list(plait::packbits(a, 0, plait::bit_order::little)) == bytes{13, 1});
  const array<int> m{{1, 0}, {0, 3}};
  CHECK(list(plait::packbits(m, 0)) == bytes{128, 64});
  CHECK(plait::packbits(m, 0).shape() == plait::shape_type{1, 2});
  CHECK(plait::packbits(m, 1).shape() == plait::shape_type{2, 1});
  CHECK(list(plait::packbits(m)) == bytes{144});
  const array<std::uint8_t> two{2};
  CHECK(list(plait::unpackbits(two)) == bytes{0, 0, 0, 0, 0, 0, 1, 0});
  CHECK(list(plait::unpackbits(two, 0, -3, plait::bit_order::little)) == bytes{0, 1, 0, 0, 0});
  CHECK(list(plait::unpackbits(two, 0, 10)) == bytes{0, 0, 0, 0, 0, 0, 1, 0, 0, 0});
  CHECK(plait::unpackbits(array<std::uint8_t>{{2}, {3}}, 0).shape() == plait::shape_type{16, 1});
  CHECK(list(plait::packbits(plait::unpackbits(array<std::uint8_t>{7, 200}))) == bytes{7, 200});
  CHECK_THROWS_WITH(plait::packbits(array<double>{1}),
                    "packbits: Expected an input array of integer or boolean data type");
  CHECK_THROWS_WITH(plait::unpackbits(a),
                    "unpackbits: Expected an input array of unsigned byte data type");
  CHECK_THROWS_AS(plait::unpackbits(two, 0, -9), plait::ValueError);
}

TEST_CASE("transforms of Hermitian signals") {
  CHECK(same(plait::fft::hfft(array<double>{1, 2, 3, 4, 3, 2}),
             {27, -3.23606797749979, -5.23606797749979, 1.2360679774997898, -0.7639320225002102, -1,
              -0.7639320225002102, 1.2360679774997898, -5.23606797749979, -3.23606797749979}));
  using c = std::complex<double>;
  CHECK(same(plait::fft::hfft(array<c>{1, c(0, 2), 3}, 4), {4, 2, 4, -6}));
  const auto half = plait::fft::ihfft(array<double>{1, 2, 3, 4, 5, 6});
  CHECK(half.size() == 4);
  CHECK(std::abs(half(1) - c(-0.5, -0.8660254037844386)) < 1e-12);
  CHECK(std::abs(plait::fft::ihfft(array<double>{1, 2, 3, 4, 5, 6}, 4)(0) - 2.5) < 1e-12);
}

}  // namespace special_test
