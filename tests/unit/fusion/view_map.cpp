#include "fusion/graph/view_map.hpp"

#include <catch2/catch.hpp>

using namespace plait;
using fusion::decompose_merged;

TEST_CASE("a view of all of an array may merge axes that lie next to each other") {
  const Dims base{2, 3, 4, 5, 6}, in_order{1440, 480, 120, 24, 4};
  // (2, 12, 6, 5): heads that were repeated, their matrices transposed.
  const auto turned = decompose_merged(base, in_order, {2, 12, 6, 5}, {1440, 120, 4, 24});
  REQUIRE(turned);
  CHECK(turned->first == Dims{0, 1, 4, 3});
  CHECK(turned->last == Dims{1, 3, 5, 4});
  // An axis of one element has none of the base's.
  const auto one = decompose_merged(base, in_order, {24, 1, 30}, {120, 7, 4});
  REQUIRE(one);
  CHECK(one->first == Dims{0, 0, 3});
  CHECK(one->last == Dims{3, 0, 5});
  // Of a part, split, an axis twice, and what is not next to each other.
  CHECK_FALSE(decompose_merged(base, in_order, {2, 12, 5}, {1440, 120, 24}));
  CHECK_FALSE(decompose_merged(base, in_order, {2, 3, 2, 2, 30}, {1440, 480, 240, 120, 4}));
  CHECK_FALSE(decompose_merged(base, in_order, {24, 30, 1, 30}, {120, 4, 4, 4}));
  CHECK_FALSE(decompose_merged(base, in_order, {8, 3, 30}, {360, 480, 4}));
}
