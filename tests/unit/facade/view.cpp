#include "plait/view.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "plait/plait.hpp"

using plait::all;
using plait::array;
using plait::ellipsis;
using plait::newaxis;
using plait::range;
using plait::shape_type;
using plait::view;
using plait::placeholders::_;

namespace {
template <class T>
std::vector<T> values(const array<T>& a) {
  const array<T> c = a.copy();
  return std::vector<T>(c.begin(), c.end());
}
using Ints = std::vector<std::int64_t>;
array<std::int64_t> counted(const plait::extents& shape, std::int64_t n) {
  return plait::arange<std::int64_t>(n).reshape(shape);
}
}  // namespace

TEST_CASE("slices, integers, newaxis and ellipsis") {
  auto a = counted({3, 4}, 12);
  CHECK(view(a, all(), newaxis()).shape() == shape_type{3, 1, 4});
  CHECK(values(view(a, range(0, 3, 2), 1)) == Ints{1, 9});
  CHECK(values(view(a, ellipsis(), -1)) == Ints{3, 7, 11});
  CHECK(values(view(a, 1, range(_, _, -1))) == Ints{7, 6, 5, 4});
  CHECK(values(view(a, range(2), range(3, _))) == Ints{3, 7});
  CHECK(values(plait::row(a, 2)) == Ints{8, 9, 10, 11});
  CHECK(values(plait::col(a, 0)) == Ints{0, 4, 8});
  CHECK_THROWS_AS(view(a, 3), plait::IndexError);
  CHECK_THROWS_AS(view(a, 0, 0, 0), plait::IndexError);
}

TEST_CASE("assignment to a view writes, assignment to an array renames") {
  auto a = counted({2, 3}, 6);
  view(a, 0) = 7;
  view(a, all(), 1) = array<int>{1, 2};
  view(a, 1, range(0, 2)) = {40, 50};
  CHECK(values(a) == Ints{7, 1, 7, 40, 50, 5});
  auto row = view(a, 1);
  row += 1;
  row *= 2;
  CHECK(values(a) == Ints{7, 1, 7, 82, 102, 12});
  auto other = view(a, 0);
  row = other;  // both are views: elements are copied
  CHECK(values(a) == Ints{7, 1, 7, 7, 1, 7});
  array<std::int64_t> name = view(a, 0);
  name = view(a, 1);
  name += 1;
  CHECK(values(a) == Ints{7, 1, 7, 8, 2, 8});
  CHECK_THROWS_AS(view(a, 0) = plait::ones({4}), plait::ShapeError);
}

TEST_CASE("shape functions give arrays whose names can mean something else") {
  array<double> x{1, 2, 3, 4};
  auto y = x.reshape({2, 2});
  y = y * 0.5 + 1;
  CHECK(values(x) == std::vector<double>{1, 2, 3, 4});
  auto t = plait::transpose(x.reshape({2, 2}));
  t += 10;  // in place: the same memory
  t(0, 1) = 0;
  CHECK(values(x) == std::vector<double>{11, 12, 0, 14});
  view(plait::flip(x)) = array<double>{1, 2, 3, 4};
  CHECK(values(x) == std::vector<double>{4, 3, 2, 1});
  STATIC_REQUIRE_FALSE(std::is_assignable_v<array<double>&&, array<double>>);
  STATIC_REQUIRE(std::is_assignable_v<plait::array_view<double>&&, array<double>>);
  STATIC_REQUIRE(std::is_same_v<decltype(plait::squeeze(x)), array<double>>);
  STATIC_REQUIRE(std::is_same_v<decltype(plait::imag(x)), array<double>>);
}

TEST_CASE("swap exchanges the elements of views") {
  auto a = counted({4, 2}, 8);
  auto first = view(a, 0), last = plait::row(a, 3);
  std::swap(first, last);
  CHECK(values(a) == Ints{6, 7, 2, 3, 4, 5, 0, 1});
  swap(view(a, 1), view(a, 2));
  CHECK(values(a) == Ints{6, 7, 4, 5, 2, 3, 0, 1});
  std::vector<plait::array_view<std::int64_t>> rows;
  for (int i = 0; i < 4; ++i) rows.push_back(view(a, i));
  std::reverse(rows.begin(), rows.end());
  CHECK(values(a) == Ints{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(values(rows[0]) == Ints{0, 1});
  auto columns = view(a, plait::all(), 0);
  CHECK_THROWS_WITH(std::swap(first, columns), "swap: views of shapes (2,) and (4,)");
  auto down = view(a, plait::all(), 1);
  std::swap(columns, down);
  CHECK(values(a) == Ints{1, 0, 3, 2, 5, 4, 7, 6});
  auto head = view(down, range(0, 3)), tail = view(down, range(1, 4));
  std::swap(head, tail);  // overlapping: as if one after the other were assigned from copies
  CHECK(values(down) == Ints{2, 0, 2, 4});
}

TEST_CASE("containers of views move views, not elements") {
  auto a = counted({4, 2}, 8);
  std::vector<plait::array_view<std::int64_t>> rows;
  for (int i = 0; i < 4; ++i) rows.push_back(view(a, i));
  rows.erase(rows.begin());
  rows.insert(rows.begin() + 1, view(a, 0));
  std::rotate(rows.begin(), rows.begin() + 1, rows.begin() + 3);
  CHECK(values(plait::concatenate<std::int64_t>({rows[0], rows[1], rows[2], rows[3]})).size() == 8);
  Ints firsts;
  for (const auto& row : rows) firsts.push_back(row(0));
  std::sort(firsts.begin(), firsts.end());
  CHECK(firsts == Ints{0, 2, 4, 6});
  auto moved = std::move(rows[0]);
  CHECK(rows[0].size() == 0);
  rows[0] = view(a, 3);  // nothing to write to: means the view from now on
  rows[0] = 9;
  CHECK(a(3, 1) == 9);
}

TEST_CASE("assignment from what a function returns writes, however it was made") {
  auto a = counted({3}, 3), b = a + 10;
  const auto inner = [](array<std::int64_t> x) { return view(x, range(1, 3)); };
  auto v = inner(a);
  v = inner(b);
  CHECK(values(a) == Ints{0, 11, 12});
  inner(a) = inner(b + 1);
  CHECK(values(a) == Ints{0, 12, 13});
  const auto w = inner(b);
  v = w;
  CHECK(values(a) == Ints{0, 11, 12});
}

TEST_CASE("overlapping operands behave as if copied") {
  auto a = counted({5}, 5);
  view(a, range(1, _)) += view(a, range(_, -1));
  CHECK(values(a) == Ints{0, 1, 3, 5, 7});
  view(a, all()) = plait::flip(a);
  CHECK(values(a) == Ints{7, 5, 3, 1, 0});
}

TEST_CASE("shape functions are views") {
  auto a = counted({2, 3}, 6);
  CHECK(plait::transpose(a).shape() == shape_type{3, 2});
  CHECK(plait::transpose(a).strides() == shape_type{8, 24});
  CHECK(a.reshape({3, -1}).shape() == shape_type{3, 2});
  CHECK(plait::may_share_memory(a, a.reshape({6})));
  CHECK_FALSE(plait::may_share_memory(a, plait::transpose(a).reshape({6})));
  CHECK(plait::expand_dims(a, 0).shape() == shape_type{1, 2, 3});
  CHECK(plait::squeeze(plait::expand_dims(a, {0, 3})).shape() == shape_type{2, 3});
  CHECK(values(plait::flip(a, 1)) == Ints{2, 1, 0, 5, 4, 3});
  CHECK(plait::swapaxes(a, 0, 1).shape() == shape_type{3, 2});
  CHECK(plait::moveaxis(plait::ones({2, 3, 4}), 0, 2).shape() == shape_type{3, 4, 2});
  CHECK(values(plait::diagonal(a)) == Ints{0, 4});
  CHECK(values(plait::ravel(a)) == Ints{0, 1, 2, 3, 4, 5});
  auto wide = plait::broadcast_to(view(a, 0), {2, 3});
  CHECK(wide.shape() == shape_type{2, 3});
  CHECK_THROWS_AS(wide += 1, plait::ValueError);
  CHECK_THROWS_AS(a.reshape({4}), plait::ValueError);
  plait::diagonal(a)(0);
}

TEST_CASE("temporaries in expressions do not dangle") {
  auto a = counted({4}, 4);
  auto lazy = view(a + 1, range(1, 3)) * view(a.copy(), range(0, 2));
  a += 100;
  CHECK(values(lazy) == Ints{0, 3});
}

TEST_CASE("diagonals are written to") {
  auto a = plait::zeros({3, 4});
  plait::fill_diagonal(a, 1);
  view(plait::diagonal(a, 1)) = array<double>{5, 6, 7};
  plait::diagonal(a, -1) += 2;
  CHECK(values(a) == std::vector<double>{1, 5, 0, 0, 2, 1, 6, 0, 0, 2, 1, 7});
  auto cube = plait::zeros({2, 2, 2});
  plait::fill_diagonal(cube, array<double>{3, 4});
  CHECK(values(cube) == std::vector<double>{3, 0, 0, 0, 0, 0, 0, 4});
  auto box = plait::zeros({2, 2, 3}), line = plait::zeros({2});
  CHECK_THROWS_AS(plait::fill_diagonal(box, 1), plait::ValueError);
  CHECK_THROWS_AS(plait::fill_diagonal(line, 1), plait::Error);
  const auto wide = plait::broadcast_to(line, {2, 2});
  CHECK_THROWS_AS(view(plait::diagonal(wide)) = 1, plait::ValueError);
}
