#include "plait/array.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "plait/plait.hpp"

using plait::array;
using plait::shape_type;

namespace {
template <class T>
std::vector<T> values(const array<T>& a) {
  const array<T> c = a.copy();
  return std::vector<T>(c.begin(), c.end());
}
}  // namespace

TEST_CASE("nested lists give shape and elements") {
  array<double> v{1, 2, 3};
  array<int> m{{1, 2}, {3, 4}, {5, 6}};
  array<bool> b{{{true, false}}};
  CHECK(v.shape() == shape_type{3});
  CHECK(m.shape() == shape_type{3, 2});
  CHECK(m.strides() == shape_type{8, 4});
  CHECK(b.shape() == shape_type{1, 1, 2});
  CHECK(m(2, 1) == 6);
  CHECK(m.shape(-1) == 2);
  CHECK(array<float>().size() == 0);
  CHECK_THROWS_AS((array<int>{{1, 2}, {3}}), plait::ValueError);
  CHECK_THROWS_AS(m.shape(2), plait::AxisError);
}

TEST_CASE("lists in braces are of any depth") {
  const array<double> four{{{{1, 2}, {3, 4}}}};
  CHECK(four.shape() == shape_type{1, 1, 2, 2});
  CHECK(four(0, 0, 1, 0) == 3);
  CHECK((array<int>{{{{{{{{1, 2}}}}}}}}).shape() == shape_type{1, 1, 1, 1, 1, 1, 1, 2});
  CHECK((array<int>{{{{{{{{{{1}}}}}}}}}}).ndim() == 10);
  CHECK((array<int>{{{1}, {2}}, {{3}, {4}}}).shape() == shape_type{2, 2, 1});
  CHECK((array<int>{{}, {}}).shape() == shape_type{2, 0});
  CHECK_THROWS_AS((array<int>{{{1, 2}, {3, 4}}, {{5, 6}}}), plait::ValueError);
  CHECK_THROWS_AS((array<int>{1, {2}}), plait::ValueError);
  CHECK_THROWS_AS((array<int>{{1}, 2}), plait::ValueError);
  CHECK_THROWS_AS((array<std::uint8_t>{1, 256}), plait::OverflowError);
  array<double> a = plait::zeros({2, 2});
  plait::view(a) = {{1, 2}, {3, a(0, 0)}};
  CHECK(values(a) == std::vector<double>{1, 2, 3, 0});
}

namespace {
template <class A, class B, class = void>
inline constexpr bool has_and = false;
template <class A, class B>
inline constexpr bool has_and<A, B, std::void_t<decltype(std::declval<A>() & std::declval<B>())>> =
    true;
template <class A, class B, class = void>
inline constexpr bool has_and_in_place = false;
template <class A, class B>
inline constexpr bool
    has_and_in_place<A, B, std::void_t<decltype(std::declval<A&>() &= std::declval<B>())>> = true;
template <class A, class = void>
inline constexpr bool has_gcd = false;
template <class A>
inline constexpr bool has_gcd<A, std::void_t<decltype(gcd(std::declval<A>(), std::declval<A>()))>> =
    true;
}  // namespace

TEST_CASE("generic code can ask which operations there are") {
  STATIC_REQUIRE(has_and<array<int>, array<bool>>);
  STATIC_REQUIRE(has_and<array<int>, int>);
  STATIC_REQUIRE(has_and<plait::any_array, array<double>>);
  STATIC_REQUIRE(!has_and<array<double>, array<double>>);
  STATIC_REQUIRE(!has_and<array<int>, double>);
  STATIC_REQUIRE(!has_and<array<int>, const char*>);
  STATIC_REQUIRE(has_and_in_place<array<int>, int>);
  STATIC_REQUIRE(!has_and_in_place<array<double>, int>);
  STATIC_REQUIRE(!has_and_in_place<plait::selection<double>, int>);
  STATIC_REQUIRE(has_and_in_place<plait::selection<int>, int>);
  STATIC_REQUIRE(has_gcd<array<int>>);
  STATIC_REQUIRE(!has_gcd<array<float>>);
}

TEST_CASE("copies of a handle alias, copy() does not") {
  array<double> a{1, 2, 3};
  array<double> same = a, other = a.copy();
  a(0) = 10;
  CHECK(same(0) == 10);
  CHECK(other(0) == 1);
  a = array<double>{7};
  CHECK(same.size() == 3);
}

TEST_CASE("element references read and write") {
  array<float> a{{1, 2}, {3, 4}};
  a(1, 0) += 2;
  a(0, 1) = a(1, 0);
  CHECK(values(a) == std::vector<float>{1, 5, 5, 4});
  CHECK(values(a(1, 1) * a) == std::vector<float>{4, 20, 20, 16});
  const array<float>& c = a;
  STATIC_REQUIRE(std::is_same_v<decltype(c(0, 0)), float>);
  CHECK_THROWS_AS(float(a(2, 0)), plait::IndexError);
  CHECK_THROWS_AS(float(a(0)), plait::IndexError);
}

TEST_CASE("integers that an element cannot hold are refused, however they are stored") {
  array<std::uint8_t> a{1, 2};
  CHECK_THROWS_WITH(a.fill(300), "assign: integer 300 out of bounds for uint8");
  CHECK_THROWS_WITH(a.assign(300), "assign: integer 300 out of bounds for uint8");
  CHECK_THROWS_WITH(a(0) = -1, "integer -1 out of bounds for uint8");
  CHECK_THROWS_WITH(plait::full<std::uint8_t>({2}, 256), "integer 256 out of bounds for uint8");
  CHECK(values(a) == std::vector<std::uint8_t>{1, 2});
  a.fill(255);
  a(1) = 7L;
  CHECK(values(a) == std::vector<std::uint8_t>{255, 7});
  CHECK(values(plait::full({2}, 7)) == std::vector<int>{7, 7});
  CHECK(values(plait::full_like(array<float>{1}, 1.5)) == std::vector<float>{1.5f});
}

TEST_CASE("an array that was moved from looks empty and can be assigned to") {
  array<double> a{1, 2}, b = std::move(a);
  CHECK(b(1) == 2);
  CHECK(a.size() == 0);
  CHECK(a.shape() == shape_type{0});
  CHECK(a.strides().size() == 1);
  CHECK(a.begin() == a.end());
  const auto text =
      Catch::Contains("this array was moved from: assign an array to it before it is used");
  CHECK_THROWS_WITH(a + 1.0, text);
  CHECK_THROWS_WITH(plait::sum(a), text);
  CHECK_THROWS_WITH(a.eval(), text);
  CHECK_THROWS_WITH(a.data(), text);
  CHECK_THROWS_WITH(a += 1.0, text);
  CHECK_THROWS_WITH(double(a(0)), text);
  CHECK_THROWS_WITH(a.copy(), text);
  CHECK_THROWS_WITH(a.reshape({-1}), text);
  CHECK_THROWS_WITH(plait::concatenate<double>({a, b}), text);
  CHECK_THROWS_WITH(plait::explain(a), text);
  array<double> c = a;  // as good as a
  CHECK_THROWS_WITH(c + b, text);
  a = b + 1;
  CHECK(values(a) == std::vector<double>{2, 3});
}

TEST_CASE("copy() is in C order") {
  array<double> a{{1, 2, 3}, {4, 5, 6}};
  const array<double> t = a.transpose().copy();
  CHECK(t.is_contiguous());
  CHECK(std::vector<double>(t.begin(), t.end()) == std::vector<double>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("operators compute with NumPy's results") {
  array<std::int32_t> a{7, -7, 5};
  CHECK(values(a / 2) == std::vector<double>{3.5, -3.5, 2.5});
  CHECK(values(a % 3) == std::vector<std::int32_t>{1, 2, 2});
  CHECK(values(plait::floor_divide(a, 2)) == std::vector<std::int32_t>{3, -4, 2});
  CHECK(values(-a + 1) == std::vector<std::int32_t>{-6, 8, -4});
  CHECK(values(a > 0 && a < 6) == std::vector<bool>{false, false, true});
  CHECK(values(~a) == std::vector<std::int32_t>{-8, 6, -6});
  CHECK(values(plait::where(a > 0, a, 0)) == std::vector<std::int32_t>{7, 0, 5});
  CHECK(values(plait::clip(a, -1, 6)) == std::vector<std::int32_t>{6, -1, 5});
  CHECK(values(2 - a) == std::vector<std::int32_t>{-5, 9, -3});
}

TEST_CASE("in-place operators keep the dtype and are seen through aliases") {
  array<float> a{1, 2, 3};
  array<float> alias = a;
  a += 1.5;
  a *= array<double>{2, 2, 2};
  CHECK(values(alias) == std::vector<float>{5, 7, 9});
  a.fill(3);
  a.assign(0.0f, a > 5.0f);
  CHECK(values(alias) == std::vector<float>{3, 3, 3});
  a.assign(array<int>{1, 2, 3}, array<bool>{true, false, true});
  CHECK(values(alias) == std::vector<float>{1, 3, 3});
}

TEST_CASE("conversions between element types") {
  array<float> f{1.5f, -2.5f};
  array<double> d = f;
  CHECK(d(1) == -2.5);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<array<double>, array<float>>);
  STATIC_REQUIRE(std::is_constructible_v<array<float>, const array<double>&>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<array<double>, const array<plait::complex128>&>);
  CHECK(values(f.astype<int>()) == std::vector<int>{1, -2});
  CHECK(values(plait::cast<bool>(f)) == std::vector<bool>{true, true});
}

TEST_CASE("complex and half elements") {
  using C = std::complex<double>;
  array<C> z{C(3, 4), C(0, -1)};
  CHECK(values(plait::abs(z)) == std::vector<double>{5, 1});
  plait::view(plait::real(z)) = 1.0;
  CHECK(values(z * C(0, 1)) == std::vector<C>{C(-4, 1), C(1, 1)});
  array<plait::float16> h{plait::float16(1.5f), plait::float16(65504.0f)};
  CHECK(float((h + 0.25)(0)) == 1.75f);
  CHECK(float(plait::float16(1e-8f)) == 0);
}

TEST_CASE("an unsigned scalar beyond int64 needs a uint64 array") {
  const std::uint64_t big = ~std::uint64_t{0};
  array<std::uint64_t> u{1};
  CHECK((u & big)(0) == 1);
  array<std::int32_t> i{1};
  CHECK_THROWS_AS(i + big, plait::OverflowError);
  CHECK_THROWS_AS((array<std::uint8_t>{1} + 300), plait::OverflowError);
}

TEST_CASE("data, iteration and items") {
  array<double> a{{1, 2}, {3, 4}};
  a.data()[3] = 9;
  double sum = 0;
  for (double v : a) sum += v;
  CHECK(sum == 15);
  CHECK(*++a.transpose().begin() == 3);
  CHECK(plait::sum(a).item() == 15);
  CHECK(double(plait::sum(a)) == 15);
  CHECK_THROWS_AS(a.item(), plait::ValueError);
}

TEST_CASE("writing through data() does not change what was recorded before") {
  array<double> a{1, 2};
  auto later = a + 1;
  a.data()[0] = 100;
  CHECK(values(later) == std::vector<double>{2, 3});
}

namespace {
// An expression whose value cannot be had: 128 TiB.
array<double> impossible() { return plait::ones({1 << 24, 1 << 20}) * 2.0; }
}  // namespace

TEST_CASE("an expression that cannot be computed is no concern of other arrays") {
  array<double> a{1, 2, 3};
  auto failed = impossible(), reads = a + failed.reshape({-1, 1 << 20}).reshape({1 << 24, -1, 1});
  CHECK_THROWS_AS(failed.eval(), std::bad_alloc);
  auto later = a + 1;
  a.data()[0] = 10;
  std::thread([&] { a.data()[1] = 20; }).join();
  CHECK(values(a) == std::vector<double>{10, 20, 3});
  CHECK(values(later) == std::vector<double>{2, 3, 4});
  for (int i = 0; i < 600; ++i) a += failed.shape(0) > 0 ? 1.0 : 2.0;  // past the graph's bound
  CHECK(a(2) == 603);
  double memory[] = {1, 2};
  {
    auto lent = plait::adapt(memory, {2});
    lent *= 3.0;
  }
  CHECK(memory[1] == 6);
  CHECK_THROWS_AS(failed.eval(), std::bad_alloc);
}

TEST_CASE("errors surface at the call, name the function and have NumPy's wording") {
  CHECK_THROWS_WITH(plait::ones({2, 3}) + plait::ones({4}),
                    "add: operands could not be broadcast together with shapes (2,3) (4,) (extents "
                    "are equal or 1, counted from the last axis: expand_dims() and newaxis() add "
                    "axes)");
  CHECK_THROWS_AS(plait::ones({2, 3}) + plait::ones({4}), plait::ShapeError);
}
