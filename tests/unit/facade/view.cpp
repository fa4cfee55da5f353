#include "plait/view.hpp"

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
