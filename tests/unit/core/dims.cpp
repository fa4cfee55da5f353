#include "core/dims.hpp"

#include <catch2/catch.hpp>

#include "plait/error.hpp"

using namespace plait;

TEST_CASE("Dims grow past the inline entries and keep their values") {
  Dims d;
  for (int i = 0; i < kMaxDims; ++i) d.push_back(i);
  CHECK(d.size() == kMaxDims);
  Dims copy = d;
  Dims moved = std::move(d);
  CHECK(moved == copy);
  CHECK(d.empty());
  moved.insert(3, 100);
  CHECK(moved[3] == 100);
  CHECK(moved[4] == 3);
  moved.erase(3);
  CHECK(moved == copy);
  Dims small{1, 2, 3};
  small = copy;
  CHECK(small.back() == kMaxDims - 1);
  small.insert(0, 7);
  CHECK(small[0] == 7);
  CHECK(small[1] == 0);
}

TEST_CASE("Dims hold lists longer than any shape") {
  Dims d;
  for (int i = 0; i < 1000; ++i) d.push_back(i);
  CHECK(d.size() == 1000);
  CHECK(d.back() == 999);
  Dims target{1, 2};
  target = d;
  CHECK(target == d);
  target = Dims{5};
  target = std::move(d);
  CHECK(target[500] == 500);
  d = Dims{1, 2};
  for (int i = 0; i < 100; ++i) d.push_back(i);
  CHECK(d.back() == 99);
  CHECK(Dims(200, 3)[199] == 3);
}

TEST_CASE("shapes spell as NumPy's") {
  CHECK(to_string(Dims{}) == "()");
  CHECK(to_string(Dims{4}) == "(4,)");
  CHECK(to_string(Dims{2, 3}) == "(2, 3)");
  CHECK(to_compact_string(Dims{2, 3}) == "(2,3)");
}

TEST_CASE("contiguous strides are NumPy's") {
  CHECK(contiguous_strides(Dims{3, 1, 4}, 8) == Dims{32, 32, 8});
  CHECK(contiguous_strides(Dims{}, 8) == Dims{});
  CHECK(contiguous_strides(Dims{3, 0, 4}, 8) == Dims{0, 0, 0});
  CHECK(element_count(Dims{}) == 1);
  CHECK(element_count(Dims{3, 0}) == 0);
}

TEST_CASE("broadcasting") {
  CHECK(broadcast_shapes(Dims{2, 3}, Dims{3}) == Dims{2, 3});
  CHECK(broadcast_shapes(Dims{4, 1}, Dims{1, 5}) == Dims{4, 5});
  CHECK(broadcast_shapes(Dims{}, Dims{2}) == Dims{2});
  CHECK(broadcast_shapes(Dims{1}, Dims{0}) == Dims{0});
  CHECK(broadcast_shapes(Dims{0, 3}, Dims{1, 1}) == Dims{0, 3});
  try {
    broadcast_shapes(Dims{2, 3}, Dims{4});
    FAIL("no error");
  } catch (const ShapeError& e) {
    CHECK(std::string(e.what()) ==
          "operands could not be broadcast together with shapes (2,3) (4,) ");
  }
}
