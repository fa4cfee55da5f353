#include "fusion/graph/view_map.hpp"

#include <catch2/catch.hpp>

using namespace plait;
using fusion::decompose_index;

TEST_CASE("what steps beyond a dimension counts on in the next wider one") {
  const Dims base{2, 3, 4, 5, 6}, in_order{1440, 480, 120, 24, 4};
  // (2, 12, 6, 5): heads that were repeated, their matrices transposed.
  const Dims heads{2, 12, 6, 5};
  const auto merged = decompose_index({base, in_order}, {heads, {1440, 120, 4, 24}});
  REQUIRE(merged);
  CHECK(merged->wider == Dims{-1, -1, 1, -1, -1});
  CHECK(merged->axis == Dims{0, 2, 4, 3});
  CHECK(merged->divides());
  CHECK(merged->merged_by(base, heads) == Dims{0, 1, 1, 3, 2});
  // All of it, a dimension of one element, and a part that begins at (0, 0, 2, 3, 4).
  CHECK(decompose_index({base, in_order}, {{24, 1, 30}, {120, 7, 4}})->wider ==
        Dims{-1, 0, 1, -1, 3});
  const auto part = decompose_index({base, in_order}, {{20, 30}, {120, 4}, 328});
  REQUIRE(part);
  CHECK(part->start == Dims{0, 0, 0, 0, 82});
  CHECK_FALSE(part->merged_by(base, {20, 30}));
  // Split and merged anew: two dimensions of the view step through the digits of one sum.
  const Dims anew{3, 2, 2, 60};
  const auto both = decompose_index({base, in_order}, {anew, {960, 480, 240, 4}});
  REQUIRE(both);
  CHECK(both->axis == Dims{1, 1, 4, 4});
  CHECK(both->step == Dims{2, 1, 60, 1});
  CHECK_FALSE(both->merged_by(base, anew));
  // Split alone.
  CHECK_FALSE(decompose_index({{24}, {4}}, {{4, 6}, {24, 4}})->divides());
  // Backwards, beyond the end, and where what is wider does not lie next to it.
  CHECK_FALSE(decompose_index({base, in_order}, {{24, 30}, {120, -4}}));
  CHECK_FALSE(decompose_index({base, in_order}, {{24, 30}, {120, 4}, 4}));
  CHECK_FALSE(decompose_index({{3, 4}, {32, 4}}, {{12}, {4}}));
}
