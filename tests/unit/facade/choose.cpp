// Elements out of several arrays, functions of lines, grids; what is expected is NumPy's.
#include <catch2/catch.hpp>

#include "plait/plait.hpp"

namespace choose_test {

using plait::array;
using plait::range;
using doubles = std::vector<double>;
using integers = std::vector<std::int64_t>;

template <class T>
std::vector<T> list(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}

TEST_CASE("the first condition that holds selects") {
  const array<bool> first{true, false, false}, second{true, true, false};
  const array<double> a{1, 2, 3}, b{4, 5, 6};
  CHECK(list(plait::select({first, second}, {a, b}, 9)) == doubles{1, 5, 9});
  CHECK(list(plait::select({first}, {a})) == doubles{1, 0, 0});
  CHECK(list(plait::select({a > 1, a > 2}, {a * 2.0, b})) == doubles{0, 4, 6});
  CHECK(plait::select({plait::ones<bool>({2, 1})}, {a}).shape() == plait::shape_type{2, 3});
  CHECK_THROWS_WITH(plait::select({first}, {a, b}),
                    "select: list of cases must be same length as list of conditions");
  CHECK_THROWS_WITH(plait::select(std::vector<array<bool>>{}, std::vector<array<double>>{}),
                    "select: select with an empty condition list is not possible");
}

TEST_CASE("indices choose among arrays") {
  const array<int> a{1, 2, 3}, b{4, 5, 6}, c{7, 8, 9};
  CHECK(list(plait::choose(array<int>{2, 0, 1}, {a, b, c})) == std::vector<int>{7, 2, 6});
  const array<int> out{3, -1, 0};
  CHECK(list(plait::choose(out, {a, b}, plait::index_mode::wrap)) == std::vector<int>{4, 5, 3});
  CHECK(list(plait::choose(out, {a, b}, plait::index_mode::clip)) == std::vector<int>{4, 2, 3});
  CHECK(plait::choose(array<int>{{0}, {1}}, {a, b}).shape() == plait::shape_type{2, 3});
  CHECK(plait::choose(array<int>{0, 0, 0}, {a}).shape() == plait::shape_type{3});
  CHECK_THROWS_WITH(plait::choose(out, {a, b}), "choose: invalid entry in choice array");
}

TEST_CASE("functions in pieces") {
  const array<double> x{-2, -1, 0, 3};
  const auto negative = [](const array<double>& v) { return -v; };
  const auto squared = [](const array<double>& v) { return v * v; };
  CHECK(list(plait::piecewise(x, {x < 0, x > 0}, negative, squared, 7)) == doubles{2, 1, 7, 9});
  CHECK(list(plait::piecewise(x, {x < 0}, negative)) == doubles{2, 1, 0, 0});
  CHECK(list(plait::piecewise(x, {x < 0}, 1, squared)) == doubles{1, 1, 0, 9});
  const auto fails = [](const array<double>& v) -> array<double> {
    if (v.size() == 0) throw plait::Error("called for nothing");
    return v;
  };
  CHECK(list(plait::piecewise(x, {x > 9}, fails)) == doubles{0, 0, 0, 0});
  // A function sees the elements of its piece alone.
  CHECK(list(plait::piecewise(x, {x < 0}, [](const array<double>& v) { return plait::mean(v); })) ==
        doubles{-1.5, -1.5, 0, 0});
  const plait::any_array untyped = x;
  const auto doubled = [](const plait::any_array& v) { return v * 2; };
  CHECK(list(plait::piecewise(untyped, {x < 0}, doubled).as<double>()) == doubles{-4, -2, 0, 0});
  CHECK_THROWS_WITH(plait::piecewise(x, {x < 0, x > 0}, 1),
                    "piecewise: with 2 condition(s), either 2 or 3 functions are expected");
}

TEST_CASE("functions of the lines along an axis") {
  const array<double> a{{0, 1, 2}, {3, 4, 5}};
  const auto total = [](const array<double>& v) { return plait::sum(v); };
  CHECK(list(plait::apply_along_axis(total, 1, a)) == doubles{3, 12});
  CHECK(list(plait::apply_along_axis(total, 0, a)) == doubles{3, 5, 7});
  const auto back = [](const array<double>& v) { return plait::flip(v) * 2.0; };
  CHECK(list(plait::apply_along_axis(back, 0, a)) == doubles{6, 8, 10, 0, 2, 4});
  const auto pairs = [](const array<double>& v) { return plait::outer(v, v); };
  CHECK(plait::apply_along_axis(pairs, 1, a).shape() == plait::shape_type{2, 3, 3});
  CHECK(plait::apply_along_axis(pairs, 0, a).shape() == plait::shape_type{2, 2, 3});
  CHECK(list(plait::apply_along_axis([](const array<double>& v) { return v.get(0) > 1; }, -1, a)) ==
        std::vector<bool>{false, true});
  CHECK_THROWS_AS(plait::apply_along_axis(total, 2, a), plait::AxisError);
  CHECK_THROWS_WITH(
      plait::apply_along_axis(total, 1, plait::ones({0, 3})),
      "apply_along_axis: Cannot apply_along_axis when any iteration dimensions are 0");
}

TEST_CASE("grids of coordinates") {
  CHECK(list(plait::mgrid(range(0, 2), range(1, 4))) ==
        integers{0, 0, 0, 1, 1, 1, 1, 2, 3, 1, 2, 3});
  CHECK(plait::mgrid(range(0, 2), range(1, 4)).shape() == plait::shape_type{2, 2, 3});
  CHECK(list(plait::mgrid(range(0, 6, 2))) == integers{0, 2, 4});
  CHECK(list(plait::mgrid(range(5, 0, -2))) == integers{5, 3, 1});
  auto [x, y] = plait::ogrid(range(2), range(1, 4));
  CHECK(x.shape() == plait::shape_type{2, 1});
  CHECK(list(y) == integers{1, 2, 3});
  CHECK(list(x + y) == integers{1, 2, 3, 2, 3, 4});
  CHECK_THROWS_AS(plait::mgrid(range(1, plait::placeholders::_)), plait::ValueError);
}

TEST_CASE("places as coordinates") {
  const auto c = plait::unravel_index(array<int>{22, 41, 37}, {7, 6});
  REQUIRE(c.size() == 2);
  CHECK(list(c[0]) == integers{3, 6, 6});
  CHECK(list(c[1]) == integers{4, 5, 1});
  CHECK(list(plait::ravel_multi_index(c, {7, 6})) == integers{22, 41, 37});
  CHECK(plait::unravel_index(22, {7, 6}) == plait::shape_type{3, 4});
  CHECK(plait::ravel_multi_index(plait::shape_type{3, 4}, {7, 6}) == 22);
  const array<int> i{3, 8}, j{-1, 1};
  CHECK(list(plait::ravel_multi_index({i, j}, {7, 6}, plait::index_mode::wrap)) == integers{23, 7});
  CHECK(list(plait::ravel_multi_index({i, j}, {7, 6}, plait::index_mode::clip)) ==
        integers{18, 37});
  CHECK_THROWS_WITH(plait::unravel_index(42, {7, 6}),
                    "unravel_index: index 42 is out of bounds for array with size 42");
  CHECK_THROWS_WITH(plait::ravel_multi_index({i, j}, {7, 6}),
                    "ravel_multi_index: invalid entry in coordinates array");
  CHECK_THROWS_AS(plait::ravel_multi_index({i}, {7, 6}), plait::ValueError);
}

TEST_CASE("zeros around") {
  const array<double> v{0, 0, 1, 0, 2, 0};
  CHECK(list(plait::trim_zeros(v)) == doubles{1, 0, 2});
  CHECK(list(plait::trim_zeros(v, plait::trim_side::front)) == doubles{1, 0, 2, 0});
  CHECK(list(plait::trim_zeros(v, plait::trim_side::back)) == doubles{0, 0, 1, 0, 2});
  CHECK(list(plait::trim_zeros(array<double>{{0, 0, 0}, {0, 1, 0}, {0, 3, 2}, {0, 0, 0}})) ==
        doubles{1, 0, 3, 2});
  CHECK(plait::trim_zeros(array<int>{0, 0}).size() == 0);
}

}  // namespace choose_test
