#include "plait/indexing.hpp"

#include <catch2/catch.hpp>

#include "plait/plait.hpp"

using plait::array;
using plait::shape_type;
using std::int64_t;

namespace {
template <class T>
std::vector<T> read_out(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}
}  // namespace

TEST_CASE("take: elements and sub-arrays at indices") {
  const array<double> a{{1, 2, 3}, {4, 5, 6}};
  CHECK(read_out(plait::take(a, {0, -1})) == std::vector<double>{1, 6});
  CHECK(plait::take(a, {1, 1, 0}, 0).shape() == shape_type{3, 3});
  CHECK(read_out(plait::take(a, array<int64_t>{{2}, {0}}, 1)) == std::vector<double>{3, 1, 6, 4});
  const array<int64_t> order = plait::argsort(plait::sum(a * -1.0, {1}));
  CHECK(read_out(plait::take(a, order, 0)) == std::vector<double>{4, 5, 6, 1, 2, 3});
  CHECK(read_out(plait::take_along_axis(a, plait::argsort(-a, 1), 1)) ==
        std::vector<double>{3, 2, 1, 6, 5, 4});
  CHECK_THROWS_AS(plait::take(a, {6}), plait::IndexError);
  CHECK_THROWS_WITH(plait::take(a, {-3}, 0),
                    "take: index -3 is out of bounds for axis 0 with size 2");
  CHECK_THROWS_AS(plait::take(a, {0}, 2), plait::AxisError);
}

TEST_CASE("masks read and write") {
  array<double> a{{1, -2}, {-3, 4}};
  CHECK(read_out(plait::filter(a, a > 0)) == std::vector<double>{1, 4});
  const array<double> negative = a[a < 0];
  CHECK(read_out(negative) == std::vector<double>{-2, -3});
  CHECK(plait::sum(a[a < 0] * 2.0).item() == -10);
  a[a < 0] = 0;
  CHECK(read_out(a) == std::vector<double>{1, 0, 0, 4});
  plait::masked_view(a, a > 0) += 10;
  CHECK(read_out(a) == std::vector<double>{11, 0, 0, 14});
  plait::masked_view(a, a > 12) = a * array<double>{10, 100};
  CHECK(read_out(a) == std::vector<double>{11, 0, 0, 1400});
  a[a > 0] = array<double>{7, 8};
  CHECK(read_out(a) == std::vector<double>{7, 0, 0, 8});
  array<int> bits{12, 10, 6};
  plait::masked_view(bits, bits > 6) &= 8;
  CHECK(read_out(bits) == std::vector<int>{8, 8, 6});
  CHECK(read_out(plait::compress(array<bool>{false, true}, a, 0)) == std::vector<double>{0, 8});
  CHECK_THROWS_AS((a[array<bool>{true}]).eval(), plait::IndexError);
  CHECK_THROWS_AS((a[a > 0] = array<double>{1, 2, 3}), plait::ShapeError);
}

TEST_CASE("views with lists of indices are selections, and what is const is only read") {
  array<double> a = plait::arange<double>(12).reshape({3, 4});
  const array<double>& c = a;
  const array<double> kept = plait::view(c, plait::keep(0, 2), plait::range(1, 3));
  CHECK(read_out(kept) == std::vector<double>{1, 2, 9, 10});
  const array<double> dropped = plait::view(a, plait::drop(1), plait::drop(0, -1));
  CHECK(read_out(dropped) == read_out(kept));
  const array<double> cube = plait::arange<double>(24).reshape({2, 3, 4});
  const array<double> row = plait::view(cube, 1, plait::all(), plait::keep(3, 0));
  CHECK(row.shape() == shape_type{3, 2});
  CHECK(row.get(2, 0) == 23);
  array<double> grid = cube.copy();
  plait::view(grid, plait::keep(0), plait::newaxis(), plait::ellipsis(), plait::drop(0, 1)) =
      array<double>{{-1, -2}};
  CHECK(plait::sum(grid < 0.0).item() == 6);
  CHECK(grid.get(0, 2, 3) == -2);
  plait::view(a, plait::keep(0, 2), 3) = -1;
  CHECK(read_out(array<double>(plait::view(a, plait::all(), 3))) == std::vector<double>{-1, 7, -1});
  plait::view(a, plait::ellipsis(), array<int64_t>{0, 0}) += 1;
  CHECK(a.get(1, 0) == 5);
  CHECK(read_out(plait::index_view(c, {{0, 1}, {2, 2}})) == std::vector<double>{1, 10});
  plait::index_view(a, {{0, 1}, {2, 2}}) = 0;
  CHECK(a.get(2, 2) == 0);
  plait::put_along_axis(a, array<int64_t>{{0}, {1}, {2}}, 99, 1);
  CHECK(a.get(2, 2) == 99);
  CHECK_THROWS_AS(array<double>(plait::view(a, plait::keep(3))), plait::IndexError);
  CHECK_THROWS_AS(array<double>(plait::view(a, plait::drop(7))), plait::IndexError);
  CHECK_THROWS_AS(array<double>(plait::view(a, 0, 0, plait::keep(0))), plait::IndexError);
}

TEST_CASE("a selection that is assigned to by another takes its elements") {
  array<int> a{1, 2, 3, 4}, b{10, 20, 30, 40};
  a[array<int>{0, 1}] = b[array<int>{3, 2}];
  CHECK(read_out(a) == std::vector<int>{40, 30, 3, 4});
}

TEST_CASE("places of elements that are not zero") {
  const array<double> a{{0, 2}, {3, 0}};
  const auto at = plait::nonzero(a);
  REQUIRE(at.size() == 2);
  CHECK(read_out(at[0]) == std::vector<int64_t>{0, 1});
  CHECK(read_out(at[1]) == std::vector<int64_t>{1, 0});
  CHECK(read_out(plait::where(a > 1)[1]) == std::vector<int64_t>{1, 0});
  CHECK(read_out(plait::argwhere(a)) == std::vector<int64_t>{0, 1, 1, 0});
  CHECK(read_out(plait::flatnonzero(a)) == std::vector<int64_t>{1, 2});
  CHECK_THROWS_AS(plait::nonzero(array<double>(plait::sum(a))), plait::ValueError);
}

TEST_CASE("repeat by counts") {
  const array<int> a{{1, 2}, {3, 4}};
  CHECK(read_out(plait::repeat(a, array<int>{2, 0}, 0)) == std::vector<int>{1, 2, 1, 2});
  CHECK(read_out(plait::repeat(a, array<int>{0, 1, 2, 0})) == std::vector<int>{2, 3, 3});
  CHECK_THROWS_AS(plait::repeat(a, array<int>{1}, 0), plait::ShapeError);
  CHECK_THROWS_AS(plait::repeat(a, array<int>{1, -1}, 0), plait::ValueError);
}

TEST_CASE("add_at adds as often as an index is there") {
  array<double> a = plait::zeros({3});
  const array<int64_t> k{0, 2, 0, -1};
  plait::add_at(a, k, 1);
  plait::add_at(a, k, array<double>{10, 20, 30, 40});
  CHECK(read_out(a) == std::vector<double>{42, 0, 62});
  array<double> rows = plait::zeros({2, 2});
  plait::add_at(rows, array<int64_t>{1, 1}, array<double>{{1, 2}, {3, 4}});
  CHECK(read_out(rows) == std::vector<double>{0, 0, 4, 6});
  CHECK_THROWS_AS(plait::add_at(a, array<int64_t>{3}, 1), plait::IndexError);
  CHECK_THROWS_AS(plait::add_at(a, k, plait::ones({3})), plait::Error);
}

TEST_CASE("an index array of no axes is an integer") {
  array<double> v{3, 1, 2}, a{{1, 2, 3}, {4, 5, 6}};
  const array<int64_t> one(int64_t(1));
  CHECK(v[plait::argmin(v)].ndim() == 0);
  CHECK(array<double>(v[plait::argmin(v)]).item() == 1);
  CHECK(read_out(array<double>(a[one])) == std::vector<double>{4, 5, 6});
  CHECK(read_out(array<double>(plait::view(a, plait::all(), one))) == std::vector<double>{2, 5});
  CHECK(array<double>(plait::view(a, one, plait::argmax(v))).item() == 4);
  CHECK(read_out(array<double>(plait::view(a, one, array<int64_t>{2, 0}))) ==
        std::vector<double>{6, 4});
  v[plait::argmax(v)] = 7;
  a[one] += array<double>{10, 20, 30};
  plait::view(a, plait::all(), one) = array<double>{-1, -2};
  plait::add_at(a, one, 100);
  CHECK(read_out(v) == std::vector<double>{7, 1, 2});
  CHECK(read_out(a) == std::vector<double>{1, -1, 3, 114, 98, 136});
  CHECK_THROWS_WITH(array<double>(v[array<int64_t>(int64_t(3))]),
                    Catch::Contains("index 3 is out of bounds for axis 0 with size 3"));
  CHECK_THROWS_AS(v[array<int64_t>(int64_t(-4))] = 1, plait::IndexError);
  CHECK_THROWS_AS((a[one] = plait::ones({4})), plait::ShapeError);
}

TEST_CASE("add_at takes an array of indices for each axis") {
  array<double> a = plait::zeros({2, 3});
  const array<int64_t> rows{0, 1, 0}, columns{2, 0, 2};
  plait::add_at(a, {rows, columns}, 1);
  plait::add_at(a, plait::nonzero(a), array<double>{10, 20});
  CHECK(read_out(a) == std::vector<double>{0, 0, 12, 21, 0, 0});
  plait::at(plait::ufunc::maximum, a, {rows, columns}, array<double>{5, 90, 70});
  plait::at(plait::ufunc::multiply, a, plait::nonzero(a), 2);
  CHECK(read_out(a) == std::vector<double>{0, 0, 140, 180, 0, 0});
  CHECK_THROWS_AS(plait::add_at(a, {rows, columns, rows}, 1), plait::IndexError);
  CHECK_THROWS_AS(plait::add_at(a, {columns, rows}, 1), plait::IndexError);
}
