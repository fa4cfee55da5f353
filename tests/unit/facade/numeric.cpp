// NumPy's functions that are sequences of recorded operations; what is expected is NumPy's.
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <limits>
#include <tuple>

#include "plait/plait.hpp"

using plait::array;
using plait::shape_type;

namespace {
const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInf = std::numeric_limits<double>::infinity();

template <class T>
std::vector<T> values_of(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}
using doubles = std::vector<double>;
}  // namespace

TEST_CASE("a power may be known to the compiler") {
  const array<double> v{1, -2, 3};
  CHECK(plait::array_equal(plait::pow<2>(v), v * v));
  CHECK(plait::array_equal(plait::pow<3>(plait::view(v, plait::range(1, 3))), array<int>{-8, 27}));
  STATIC_REQUIRE(std::is_same_v<decltype(plait::pow<2>(array<int>{3})), array<int>>);
}

TEST_CASE("reductions without NaNs") {
  const array<double> a{{1, kNan, 3}, {kNan, kNan, kNan}};
  CHECK(plait::nansum(a).item() == 4);
  CHECK(values_of(plait::nansum(a, 1)) == doubles{4, 0});
  CHECK(values_of(plait::nanprod(a, 1)) == doubles{3, 1});
  CHECK(plait::nanmax(a).item() == 3);
  CHECK(plait::nanmin(a, {1}, plait::keep_dims).shape() == shape_type{2, 1});
  CHECK(std::isnan(plait::nanmin(a, 1)(1)));
  CHECK(plait::nanmean(a).item() == 2);
  CHECK(plait::nanvar(a).item() == 1);
  CHECK(plait::nanstd(a, 1)(0) == 1);
  CHECK(std::isnan(plait::nanvar(a, 1)(1)));
  CHECK(plait::nanvar(a, 1, 1)(0) == 2);
  const array<int> whole{1, 2, 6};
  STATIC_REQUIRE(std::is_same_v<decltype(plait::nanmean(whole))::value_type, double>);
  CHECK(plait::nanmean(whole).item() == 3);
  STATIC_REQUIRE(std::is_same_v<decltype(plait::nansum(whole))::value_type, std::int64_t>);
}

TEST_CASE("comparison within tolerances") {
  const array<double> a{1, kNan, kInf, 1e-9}, b{1.000001, kNan, kInf, 0};
  CHECK(values_of(plait::isclose(a, b)) == std::vector<bool>{true, false, true, true});
  CHECK(values_of(plait::isclose(a, b, 0, 0, true)) == std::vector<bool>{false, true, true, false});
  CHECK_FALSE(plait::allclose(a, b));
  CHECK(plait::allclose(a, b, 1e-5, 1e-8, true));
  CHECK(plait::allclose(plait::ones<float>({3}), 1.0));
  CHECK(plait::allclose(array<int>{1, 1}, 1));
  CHECK(plait::array_equal(array<int>{1, 2}, array<double>{1, 2}));
  CHECK_FALSE(plait::array_equal(array<int>{1, 2}, array<int>{1, 2, 3}));
  CHECK_FALSE(plait::array_equal(a, a));
  CHECK(plait::array_equal(a, a, true));
}

TEST_CASE("rounding, angles, NaNs replaced") {
  CHECK(values_of(plait::round(array<double>{0.5, 1.5, 2.675, -1.25})) == doubles{0, 2, 3, -1});
  CHECK(values_of(plait::round(array<double>{2.345, -1.25}, 1)) == doubles{2.3, -1.2});
  CHECK(values_of(plait::around(array<double>{1250, 1350}, -2)) == doubles{1200, 1400});
  CHECK(values_of(plait::round(array<int>{1250, 1350}, -2)) == std::vector<int>{1200, 1400});
  using c = std::complex<double>;
  CHECK(plait::round(array<c>{c(1.26, -2.5)}, 1)(0) == c(1.3, -2.5));
  CHECK(plait::angle(array<c>{c(0, 2)}, true)(0) == 90);
  CHECK(plait::angle(array<double>{-1, 1})(0) == Approx(3.14159265358979));
  CHECK(values_of(plait::nan_to_num(array<double>{kNan, kInf, -kInf, 1})) ==
        doubles{0, std::numeric_limits<double>::max(), -std::numeric_limits<double>::max(), 1});
  CHECK(values_of(plait::nan_to_num(array<double>{kNan, kInf, -kInf}, -1, 5, -5)) ==
        doubles{-1, 5, -5});
  CHECK(plait::nan_to_num(array<float>{INFINITY})(0) == std::numeric_limits<float>::max());
}

TEST_CASE("averages, slopes, areas") {
  const array<double> a{{0, 1, 2}, {3, 4, 5}};
  CHECK(plait::average(a).item() == 2.5);
  CHECK(values_of(plait::average(a, array<double>{1, 2, 1}, 1)) == doubles{1, 4});
  CHECK(values_of(plait::average(a, array<int>{3, 1}, 0)) == doubles{0.75, 1.75, 2.75});
  CHECK(plait::average(a, plait::ones({2, 3})).item() == 2.5);
  CHECK_THROWS_AS(plait::average(a, plait::zeros({3}), 1), plait::FloatingPointError);
  CHECK_THROWS_AS(plait::average(a, plait::ones({2}), 1), plait::ShapeError);
  CHECK(values_of(plait::gradient(array<double>{1, 2, 4, 7, 11})) == doubles{1, 1.5, 2.5, 3.5, 4});
  CHECK(values_of(plait::gradient(array<double>{1, 2, 4, 7, 11}, 2, 0, 2)) ==
        doubles{0.25, 0.75, 1.25, 1.75, 2.25});
  CHECK(values_of(plait::gradient(a, 1, 0)) == doubles{3, 3, 3, 3, 3, 3});
  CHECK(values_of(plait::gradient(array<std::uint8_t>{3, 1})) == doubles{-2, -2});
  CHECK_THROWS_AS(plait::gradient(array<double>{1}), plait::ValueError);
  CHECK(plait::trapezoid(array<double>{1, 2, 3}).item() == 4);
  CHECK(plait::trapz(array<double>{1, 2, 3}, 2).item() == 8);
  CHECK(plait::trapezoid(array<int>{1, 2, 3}, array<int>{4, 6, 8}).item() == 8);
  CHECK(values_of(plait::trapezoid(a)) == doubles{2, 8});
  CHECK(values_of(plait::trapezoid(a, array<double>{0, 2}, 0)) == doubles{3, 5, 7});
}

TEST_CASE("grids and functions of indices") {
  auto [x, y] = plait::meshgrid(array<double>{1, 2, 3}, array<int>{10, 20});
  CHECK(x.shape() == shape_type{2, 3});
  CHECK(values_of(y) == std::vector<int>{10, 10, 10, 20, 20, 20});
  auto [i, j] = plait::meshgrid(plait::indexing::ij, plait::arange(3), plait::arange(2));
  CHECK(i.shape() == shape_type{3, 2});
  CHECK(values_of(j) == std::vector<int>{0, 1, 0, 1, 0, 1});
  CHECK(values_of(plait::indices({2, 2})) == std::vector<std::int64_t>{0, 0, 1, 1, 0, 1, 0, 1});
  auto table = plait::fromfunction<std::int64_t>([](auto r, auto c) { return 10 * r + c; }, 2, 3);
  CHECK(values_of(table) == std::vector<std::int64_t>{0, 1, 2, 10, 11, 12});
  CHECK(plait::fromfunction([](auto k) { return k / 2.0; }, 3)(2) == 1);
  CHECK(values_of(plait::tri<int>(2, 3)) == std::vector<int>{1, 0, 0, 1, 1, 0});
  CHECK(plait::identity(2)(1, 1) == 1);
  CHECK(values_of(plait::logspace(0, 2, 3)) == doubles{1, 10, 100});
}

TEST_CASE("padding") {
  const array<int> a{1, 2, 3};
  using ints = std::vector<int>;
  CHECK(values_of(plait::pad(a, 1)) == ints{0, 1, 2, 3, 0});
  CHECK(values_of(plait::pad(a, {1, 0}, plait::pad_mode::constant, 9)) == ints{9, 1, 2, 3});
  CHECK(values_of(plait::pad(a, 2, plait::pad_mode::edge)) == ints{1, 1, 1, 2, 3, 3, 3});
  CHECK(values_of(plait::pad(a, {4, 5}, plait::pad_mode::wrap)) ==
        ints{3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2});
  CHECK(values_of(plait::pad(a, {4, 5}, plait::pad_mode::symmetric)) ==
        ints{3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1, 2});
  CHECK(values_of(plait::pad(a, {4, 5}, plait::pad_mode::reflect)) ==
        ints{1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2});
  const array<int> square{{1, 2}, {3, 4}};
  CHECK(values_of(plait::pad(square, {1, 0, 0, 1}, plait::pad_mode::wrap)) ==
        ints{3, 4, 3, 1, 2, 1, 3, 4, 3});
  CHECK(plait::pad(square, {1, 0, 0, 1}).shape() == shape_type{3, 3});
  CHECK_THROWS_AS(plait::pad(a, -1), plait::ValueError);
  CHECK_THROWS_AS(plait::pad(a, {1, 2, 3}), plait::ShapeError);
  CHECK_THROWS_AS(plait::pad(array<std::int8_t>{1}, 1, plait::pad_mode::constant, 300),
                  plait::OverflowError);
}

TEST_CASE("joining and splitting") {
  const array<int> a{1, 2}, b{3, 4};
  CHECK(plait::hstack({a, b}).shape() == shape_type{4});
  CHECK(plait::vstack({a, b}).shape() == shape_type{2, 2});
  CHECK(plait::dstack({a, b}).shape() == shape_type{1, 2, 2});
  CHECK(values_of(plait::column_stack({a, b})) == std::vector<int>{1, 3, 2, 4});
  auto parts = plait::split(plait::arange(6), 3);
  REQUIRE(parts.size() == 3);
  CHECK(parts[2](0) == 4);
  CHECK_THROWS_AS(plait::split(plait::arange(6), 4), plait::ValueError);
  CHECK(plait::array_split(plait::arange(5), 2)[0].size() == 3);
  CHECK(plait::split(plait::arange(6), {1, 3})[1].size() == 2);
  array<double> whole = plait::zeros({2, 4});
  plait::view(plait::hsplit(whole, 2)[1]) = 1;
  CHECK(whole(0, 3) == 1);
  CHECK(plait::vsplit(whole, 2)[0].shape() == shape_type{1, 4});
}

TEST_CASE("diagonals, turns, windows") {
  const array<int> a{{1, 2}, {3, 4}};
  using ints = std::vector<int>;
  CHECK(values_of(plait::diag(a)) == ints{1, 4});
  CHECK(values_of(plait::diag(array<int>{1, 2}, 1)) == ints{0, 1, 0, 0, 0, 2, 0, 0, 0});
  CHECK(values_of(plait::rot90(a)) == ints{2, 4, 1, 3});
  CHECK(values_of(plait::rot90(a, -1)) == ints{3, 1, 4, 2});
  CHECK(values_of(plait::rot90(a, 2)) == ints{4, 3, 2, 1});
  CHECK(values_of(plait::flipud(a)) == ints{3, 4, 1, 2});
  CHECK(values_of(plait::fliplr(a)) == ints{2, 1, 4, 3});
  CHECK(plait::atleast_3d(a).shape() == shape_type{2, 2, 1});
  CHECK(values_of(plait::sum(plait::sliding_window_view(plait::arange(5), 2), 1)) ==
        std::vector<std::int64_t>{1, 3, 5, 7});
  CHECK_THROWS_AS(plait::rot90(a, 1, 0, 2), plait::AxisError);
}

TEST_CASE("products") {
  const array<double> a{{1, 2}, {3, 4}}, v{1, 10};
  CHECK(plait::dot(v, v).item() == 101);
  CHECK(plait::vdot(a, a).item() == 30);
  CHECK(values_of(plait::inner(a, v)) == doubles{21, 43});
  CHECK(values_of(plait::outer(v, v)) == doubles{1, 10, 10, 100});
  CHECK(values_of(plait::kron(v, a)) == doubles{1, 2, 10, 20, 3, 4, 30, 40});
  CHECK(plait::tensordot(a, a).item() == 30);
  CHECK(values_of(plait::tensordot(a, a, {1}, {0})) == doubles{7, 10, 15, 22});
  CHECK(values_of(plait::vecdot(a, v)) == doubles{21, 43});
  CHECK(values_of(plait::vecdot(a, a, 0)) == doubles{10, 20});
  CHECK(values_of(plait::cross(array<double>{1, 0, 0}, array<int>{0, 1, 0})) == doubles{0, 0, 1});
  CHECK(plait::trace(a).item() == 5);
  CHECK(plait::trace(array<std::int8_t>{{100, 1}, {1, 100}}).item() == 200);
  CHECK(plait::linalg::kron(v, v).size() == 4);
  using c = std::complex<double>;
  CHECK(plait::vecdot(array<c>{c(0, 1)}, array<c>{c(0, 1)}).item() == c(1, 0));
  CHECK_THROWS_AS(plait::vecdot(a, array<double>{1, 2, 3}), plait::ShapeError);
}

namespace {
template <class T>
void check_near(const array<T>& a, const doubles& expected) {
  REQUIRE(a.size() == expected.size());
  CHECK(plait::allclose(plait::ravel(a), array<double>(expected), 1e-14));
}
}  // namespace

TEST_CASE("gradients along several axes, and at coordinates") {
  const array<double> v{1, 4, 9, 20, 22}, x{0, 1, 3, 4, 7};
  check_near(plait::gradient(v, x), {3, 17.0 / 6, 49.0 / 6, 101.0 / 12, 2.0 / 3});
  check_near(plait::gradient(v, x, 0, 2), {19.0 / 6, 17.0 / 6, 49.0 / 6, 101.0 / 12, -85.0 / 12});
  check_near(plait::gradient(v, array<double>{0, .1, .2, .3, .4}, -1, 2), {20, 40, 80, 65, -25});
  CHECK(values_of(plait::gradient(v, plait::arange(5) * 2)) == doubles{1.5, 2, 4, 3.25, 1});
  array<double> a = plait::arange<double>(12).reshape({3, 4});
  a *= a;
  const auto both = plait::gradient(a, 1, {0, 1});
  REQUIRE(both.size() == 2);
  CHECK(values_of(both[0]) == doubles{16, 24, 32, 40, 32, 40, 48, 56, 48, 56, 64, 72});
  CHECK(values_of(both[1]) == doubles{1, 2, 4, 5, 9, 10, 12, 13, 17, 18, 20, 21});
  const auto apart = plait::gradient(a, {.5, .25}, {0, 1});
  CHECK(values_of(apart[0]) == values_of(both[0] * 2.0));
  CHECK(values_of(apart[1]) == values_of(both[1] * 4.0));
  const array<float> narrow =
      plait::gradient(a.astype<float>(), array<std::int64_t>{0, 1, 3}, 0, 2);
  CHECK(narrow(0, 1) == 68.0F / 3);
  CHECK_THROWS_AS(plait::gradient(v, array<double>{1, 2}), plait::ValueError);
  CHECK_THROWS_AS(plait::gradient(v, plait::ones({5, 1})), plait::ValueError);
  CHECK_THROWS_AS(plait::gradient(a, {.5}, {0, 1}), plait::ValueError);
}

TEST_CASE("joining of several element types") {
  const array<std::int64_t> k{1, 2};
  const array<double> v{0.5};
  const array<std::int8_t> narrow{3};
  const plait::any_array joined = plait::concatenate({k, v, narrow});
  CHECK(joined.dtype() == plait::dtype::float64);
  CHECK(values_of(joined.as<double>()) == doubles{1, 2, 0.5, 3});
  const auto typed = plait::concatenate(std::tuple(k, narrow, v));
  STATIC_REQUIRE(std::is_same_v<decltype(typed), const array<double>>);
  CHECK(values_of(typed) == doubles{1, 2, 3, 0.5});
  CHECK(values_of(plait::stack(std::tuple(k, k * 0.5), 1)) == doubles{1, 0.5, 2, 1});
  CHECK(plait::vstack({k, k * 1.5}).dtype() == plait::dtype::float64);
  CHECK(plait::hstack(std::tuple(narrow, k)).dtype() == plait::dtype::int64);
  CHECK(plait::dstack({k, k * 1.5}).shape() == shape_type{1, 2, 2});
  CHECK(plait::column_stack(std::tuple(k, k * 1.5)).shape() == shape_type{2, 2});
}

TEST_CASE("clip with an end left out") {
  using plait::placeholders::_;
  const array<double> v{-1, kNan, 1, 3};
  CHECK(values_of(plait::clip(array<int>{-1, 1, 3}, _, 2)) == std::vector<int>{-1, 1, 2});
  CHECK(values_of(plait::clip(array<int>{-1, 1, 3}, 0, _)) == std::vector<int>{0, 1, 3});
  CHECK(std::isnan(plait::clip(v, _, 2)(1)));
  CHECK(plait::clip(plait::any_array(v), 0, _).as<double>()(0) == 0);
}

TEST_CASE("resize repeats what there is") {
  const array<int> v{1, 2, 3};
  CHECK(values_of(plait::resize(v, {2, 4})) == std::vector<int>{1, 2, 3, 1, 2, 3, 1, 2});
  CHECK(values_of(plait::resize(v, 2)) == std::vector<int>{1, 2});
  CHECK(values_of(plait::resize(array<int>(), 2)) == std::vector<int>{0, 0});
  CHECK(plait::resize(v, {0, 3}).shape() == shape_type{0, 3});
  array<int> same = plait::resize(v, 3);
  same(0) = 9;
  CHECK(v(0) == 1);
  CHECK_THROWS_WITH(plait::resize(v, -1),
                    Catch::Contains("all elements of `new_shape` must be non-negative"));
}

TEST_CASE("the shape that shapes broadcast to") {
  CHECK(plait::broadcast_shapes({2, 1}, {1, 3}) == shape_type{2, 3});
  CHECK(plait::broadcast_shapes({}, {1}, shape_type{4, 1, 1}) == shape_type{4, 1, 1});
  CHECK_THROWS_WITH(
      plait::broadcast_shapes({2, 1}, {3, 3, 4}),
      "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg 0 "
      "with shape (2, 1) and arg 1 with shape (3, 3, 4).");
}

TEST_CASE("indices of triangles and diagonals") {
  using ints = std::vector<std::int64_t>;
  const auto [i, j] = plait::tril_indices(3, 1, 2);
  CHECK(values_of(i) == ints{0, 0, 1, 1, 2, 2});
  CHECK(values_of(j) == ints{0, 1, 0, 1, 0, 1});
  const auto [k, l] = plait::triu_indices_from(plait::ones({3, 2}), -1);
  CHECK(values_of(k) == ints{0, 0, 1, 1, 2});
  CHECK(values_of(l) == ints{0, 1, 0, 1, 1});
  CHECK(values_of(plait::tril_indices_from(plait::ones({2, 2}))[1]) == ints{0, 0, 1});
  CHECK(values_of(plait::triu_indices(2)[0]) == ints{0, 0, 1});
  CHECK(plait::diag_indices(4, 3).size() == 3);
  CHECK(values_of(plait::diag_indices_from(plait::ones({2, 2}))[1]) == ints{0, 1});
  CHECK_THROWS_AS(plait::triu_indices_from(plait::ones({3})), plait::ValueError);
  CHECK_THROWS_AS(plait::diag_indices_from(plait::ones({3})), plait::ValueError);
  CHECK_THROWS_AS(plait::diag_indices_from(plait::ones({3, 2})), plait::ValueError);
}

TEST_CASE("sort_complex") {
  using c = std::complex<double>;
  CHECK(values_of(plait::sort_complex(array<double>{3, 1})) == std::vector<c>{1, 3});
  CHECK(values_of(plait::sort_complex(array<c>{c(1, 2), c(1, 1)})) ==
        std::vector<c>{c(1, 1), c(1, 2)});
  CHECK(plait::sort_complex(array<std::int16_t>{3}).dtype() == plait::dtype::complex64);
  CHECK(plait::sort_complex(plait::any_array(array<float>{3})).dtype() == plait::dtype::complex128);
}

TEST_CASE("casts between dtypes, when it compiles") {
  using plait::can_cast;
  using plait::dtype;
  STATIC_REQUIRE(can_cast(dtype::int32, dtype::float64));
  STATIC_REQUIRE(!can_cast(dtype::int64, dtype::float32));
  STATIC_REQUIRE(can_cast(dtype::int64, dtype::float32, plait::casting::same_kind));
  STATIC_REQUIRE(!can_cast(dtype::float32, dtype::int64, plait::casting::same_kind));
  STATIC_REQUIRE(can_cast(dtype::float32, dtype::int64, plait::casting::unsafe));
  STATIC_REQUIRE(!can_cast(dtype::int8, dtype::int16, plait::casting::no));
  STATIC_REQUIRE(plait::result_type(dtype::int8, dtype::uint8, dtype::float16) == dtype::float32);
}
