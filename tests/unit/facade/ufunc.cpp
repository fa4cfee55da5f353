// Methods of functions of two operands; what is expected is NumPy's.
#include "plait/ufunc.hpp"

#include <catch2/catch.hpp>

#include "plait/plait.hpp"

namespace of_methods {

using plait::array;
using plait::shape_type;
namespace ufunc = plait::ufunc;

namespace {
template <class T>
std::vector<T> values_of(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}
using doubles = std::vector<double>;
using ints = std::vector<std::int64_t>;
const array<double> kLine{5, -2, 7, 3, -4};
const array<double> kMatrix{{1, 2, 3}, {4, 5, 6}};
const array<std::int64_t> kIndices{0, 2, 0, -1, 2, 2};
}  // namespace

TEST_CASE("reduce of any function of two operands") {
  CHECK(plait::reduce(ufunc::subtract, kLine).item() == 1);
  CHECK(plait::reduce(ufunc::add, kLine).item() == 9);
  CHECK(values_of(plait::reduce(ufunc::subtract, kMatrix, 1)) == doubles{-4, -7});
  CHECK(values_of(plait::reduce(ufunc::divide, kMatrix, 0)) == doubles{0.25, 0.4, 0.5});
  CHECK(values_of(plait::reduce(ufunc::power, kMatrix, -2)) == doubles{1, 32, 729});
  CHECK(plait::reduce(ufunc::gcd, array<int>{12, 18, 30}).item() == 6);
  STATIC_REQUIRE(
      std::is_same_v<decltype(plait::reduce(ufunc::add, array<int>{1}))::value_type, std::int64_t>);
  STATIC_REQUIRE(
      std::is_same_v<decltype(plait::reduce(ufunc::gcd, array<int>{1}))::value_type, int>);
  CHECK(plait::reduce(ufunc::logical_xor, array<bool>{true, true, true}).item());
  CHECK(plait::reduce(ufunc::gcd, plait::zeros<std::int64_t>({0})).item() == 0);
  CHECK(plait::reduce(ufunc::add, plait::zeros({0})).item() == 0);
  CHECK_THROWS_AS(plait::reduce(ufunc::subtract, plait::zeros({0})), plait::ValueError);
  CHECK_THROWS_AS(plait::reduce(ufunc::maximum, plait::zeros({0})), plait::ValueError);
  CHECK_THROWS_AS(plait::reduce(ufunc::subtract, kLine, 1), plait::AxisError);
  CHECK_THROWS_AS(plait::reduce(ufunc::less, kLine), plait::DTypeError);
  const plait::any_array any = kLine;
  CHECK(plait::reduce(ufunc::subtract, any).item<double>() == 1);
}

TEST_CASE("accumulate of any function of two operands") {
  CHECK(values_of(plait::accumulate(ufunc::subtract, kLine)) == doubles{5, 7, 0, -3, 1});
  CHECK(values_of(plait::accumulate(ufunc::hypot, array<double>{3, 4, 12})) == doubles{3, 5, 13});
  CHECK(values_of(plait::accumulate(ufunc::bitwise_xor, array<int>{1, 3, 6})) ==
        std::vector<int>{1, 2, 4});
  CHECK_THROWS_AS(plait::accumulate(ufunc::less, kLine), plait::DTypeError);
  const plait::any_array any = kLine;
  CHECK(values_of(plait::accumulate(ufunc::maximum, any).as<double>()) == doubles{5, 5, 7, 7, 7});
}

TEST_CASE("reduceat of any function of two operands") {
  CHECK(values_of(plait::reduceat(ufunc::add, kLine, {0, 3, 1})) == doubles{10, 3, 4});
  CHECK(values_of(plait::reduceat(ufunc::subtract, kLine, array<int>{0, 3, 1})) ==
        doubles{0, 3, -8});
  CHECK(values_of(plait::reduceat(ufunc::maximum, kMatrix, {0, 2}, 1)) == doubles{2, 3, 5, 6});
  CHECK(values_of(plait::reduceat(ufunc::power, kMatrix, {0, 1, 0}, 1)) ==
        doubles{1, 2, 1, 4, 5, 1152921504606846976.0});
  CHECK(values_of(plait::reduceat(ufunc::add, array<std::int8_t>{100, 100, 100}, {0})) ==
        ints{300});
  CHECK(values_of(plait::reduceat(ufunc::add,
                                  array<plait::float16>{plait::float16(2048.0f),
                                                        plait::float16(1.0f), plait::float16(1.0f)},
                                  {0})
                      .astype<double>()) == doubles{2050});
  CHECK_THROWS_AS(plait::reduceat(ufunc::add, kLine, {5}), plait::IndexError);
  CHECK_THROWS_AS(plait::reduceat(ufunc::less, kLine, {0}), plait::DTypeError);
}

TEST_CASE("outer of any function of two operands") {
  const auto a = plait::outer(ufunc::subtract, array<int>{1, 2}, array<double>{10, 20, 30});
  CHECK(a.shape() == shape_type{2, 3});
  CHECK(values_of(a) == doubles{-9, -19, -29, -8, -18, -28});
  CHECK(plait::outer(ufunc::maximum, kMatrix, kMatrix).shape() == shape_type{2, 3, 2, 3});
  CHECK(values_of(plait::outer(ufunc::less, kLine, array<double>{0})) ==
        std::vector<bool>{false, true, false, false, true});
  CHECK(values_of(plait::outer(ufunc::add, kLine, array<double>(1))) == doubles{6, -1, 8, 4, -3});
}

TEST_CASE("at works on an element as often as an index is there") {
  const array<double> by{.5, 2, 3, 1.5, -1, 4};
  const auto done = [&](auto f) {
    array<double> a{2, 3, 4};
    plait::at(f, a, kIndices, by);
    return values_of(a);
  };
  CHECK(done(ufunc::add) == doubles{5.5, 3, 10.5});
  CHECK(done(ufunc::subtract) == doubles{-1.5, 3, -2.5});
  CHECK(done(ufunc::maximum) == doubles{3, 3, 4});
  CHECK(done(ufunc::fmin) == doubles{.5, 3, -1});
  CHECK(done(ufunc::copysign) == doubles{2, 3, 4});
  CHECK(done(ufunc::less) == doubles{1, 3, 1});
  CHECK(done(ufunc::divide)[2] == Approx(-1 / 3.0));
  const array<int> bits{1, 2, 3, 4, 5, 6};
  const auto done_to_bits = [&](auto f) {
    array<int> a{12, 30, 7};
    plait::at(f, a, kIndices, bits);
    return values_of(a);
  };
  CHECK(done_to_bits(ufunc::left_shift) == std::vector<int>{192, 30, 917504});
  CHECK(done_to_bits(ufunc::bitwise_xor) == std::vector<int>{14, 30, 2});
  CHECK(done_to_bits(ufunc::gcd) == std::vector<int>{1, 30, 1});
  CHECK(done_to_bits(ufunc::floor_divide) == std::vector<int>{4, 30, 0});
}

TEST_CASE("at computes in the dtype that the operands have in common") {
  array<float> f{1, 2, 3};
  plait::at(ufunc::add, f, kIndices, array<double>{.1, .2, .3, .4, .5, .6});
  CHECK(values_of(f) == std::vector<float>{0x1.666666p+0f, 2, 0x1.2ccccep+2f});
  array<std::int8_t> i{1, 2, 3};
  plait::at(ufunc::add, i, kIndices, array<std::int64_t>{100, 100, 100, 100, 100, 100});
  CHECK(values_of(i) == std::vector<std::int8_t>{-55, 2, -109});
  array<bool> b{true, false, true};
  plait::at(ufunc::logical_xor, b, array<int>{0, 0, 1, 2}, true);
  CHECK(values_of(b) == std::vector<bool>{true, true, false});
  array<std::complex<double>> z{std::complex<double>(1, 1), 2, 3};
  plait::at(ufunc::multiply, z, kIndices, std::complex<double>(0, 1));
  CHECK(z.get(0) == std::complex<double>(-1, -1));
  array<plait::bfloat16> n{plait::bfloat16(1.0f), plait::bfloat16(2.0f)};
  plait::at(ufunc::add, n, array<int>{0, 0, 1}, plait::bfloat16(0.5f));
  CHECK(values_of(n.astype<double>()) == doubles{2, 2.5});
  // A number takes the array's dtype.
  array<int> small{1, 2, 3};
  plait::add_at(small, kIndices, 1);
  CHECK(values_of(small) == std::vector<int>{3, 2, 7});
  array<std::int8_t> least{1};
  CHECK_THROWS_AS(plait::at(ufunc::add, least, array<int>{0}, 300), plait::Error);
}

TEST_CASE("at of rows and of what is not there") {
  array<double> rows{{1, 2}, {3, 4}};
  plait::at(ufunc::fmax, rows, array<int>{1, 1}, array<double>{{9, 0}, {0, 8}});
  CHECK(values_of(rows) == doubles{1, 2, 9, 8});
  CHECK_THROWS_AS(plait::at(ufunc::fmax, rows, array<int>{2}, 1), plait::IndexError);
  array<int> base{2, 3};
  plait::at(ufunc::power, base, array<int>{0, 0}, 3);
  CHECK(values_of(base) == std::vector<int>{512, 3});
  CHECK_THROWS_AS(plait::at(ufunc::power, base, array<int>{0}, -1), plait::ValueError);
  const array<double> constant = plait::broadcast_to(array<double>{1}, {3});
  array<double> read_only = constant;
  CHECK_THROWS_AS(plait::at(ufunc::add, read_only, array<int>{0}, 1), plait::ValueError);
}

}  // namespace of_methods
