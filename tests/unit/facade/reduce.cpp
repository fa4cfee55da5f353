#include "plait/reduce.hpp"

#include <catch2/catch.hpp>

#include "plait/plait.hpp"

using plait::array;
using plait::keep_dims;
using plait::shape_type;

TEST_CASE("reductions over all, one and several axes") {
  array<double> a{{1, 5, 3}, {4, 2, 6}};
  CHECK(plait::sum(a).item() == 21);
  CHECK(plait::sum(a, 0).shape() == shape_type{3});
  CHECK(plait::sum(a, {1})(1) == 12);
  CHECK(plait::sum(a, {0, -1}).item() == 21);
  CHECK(plait::sum(a, {1}, keep_dims).shape() == shape_type{2, 1});
  CHECK(plait::sum(a, keep_dims).shape() == shape_type{1, 1});
  CHECK(plait::prod(a).item() == 720);
  CHECK(plait::amin(a, 0)(1) == 2);
  CHECK(plait::max(a).item() == 6);
  CHECK(plait::argmin(a).item() == 0);
  CHECK(plait::argmax(a, 1)(0) == 1);
  CHECK(plait::any(a > 5).item());
  CHECK_FALSE(plait::all(a > 5, {0, 1}).item());
  CHECK(plait::mean(a).item() == 3.5);
  CHECK(plait::var(a, {0})(0) == 2.25);
  CHECK(plait::variance(a, {0}, 1)(0) == 4.5);
  CHECK(plait::stddev(a, {0})(0) == 1.5);
  CHECK(plait::ptp(a).item() == 5);
  CHECK(plait::count_nonzero(a > 2).item() == 4);
  CHECK(plait::diff(a)(1, 1) == 4);
}

TEST_CASE("wrong axes raise at the call") {
  array<double> a{1, 2};
  CHECK_THROWS_AS(plait::sum(a, 1), plait::AxisError);
  CHECK_THROWS_AS(plait::sum(a, {0, 0}), plait::ValueError);
  CHECK_THROWS_AS(plait::argmin(plait::empty({0})), plait::ValueError);
}

TEST_CASE("the k-means step: a reduction consumed by a reduction") {
  array<double> X{{0, 0}, {1, 0}, {10, 10}, {11, 10}};
  array<double> means{{10.5, 10}, {0.5, 0}};
  auto d = plait::linalg::norm(X - plait::view(means, plait::all(), plait::newaxis()), {2});
  CHECK(d.shape() == shape_type{2, 4});
  array<std::int64_t> label = plait::argmin(d, 0);
  CHECK(std::vector<std::int64_t>(label.begin(), label.end()) ==
        std::vector<std::int64_t>{1, 1, 0, 0});
  CHECK(d(1, 1) == 0.5);
}
