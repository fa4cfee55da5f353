#include "core/shape_limits.hpp"

#include <catch2/catch.hpp>

#include "plait/error.hpp"

using namespace plait;

namespace {

constexpr std::int64_t kMost = 0x7fffffffffffffff;

template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const ValueError& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("an array has as many bytes as int64 counts, where no elements count as one") {
  CHECK(message([] { check_shape(Dims{kMost}, 1); }) == "no error");
  CHECK(message([] { check_shape(Dims{kMost}, 2); }).starts_with("array is too big; "));
  CHECK(message([] { check_shape(Dims{0, kMost, 2}, 1); }).starts_with("array is too big; "));
  CHECK(message([] { check_shape(Dims{0, kMost}, 1); }) == "no error");
  CHECK(message([] { check_shape(Dims{2, -1}, 1); }) == "negative dimensions are not allowed");
  CHECK(message([] { check_shape(Dims(kMaxDims, 1), 8); }) == "no error");
  CHECK(message([] { check_shape(Dims(kMaxDims + 1, 1), 8); }) ==
        "maximum supported dimension for an ndarray is currently 64, found 65");
}

TEST_CASE("counting stops at an extent of 0") {
  CHECK(checked_element_count(Dims{}) == 1);
  CHECK(checked_element_count(Dims{2, 3}) == 6);
  CHECK(checked_element_count(Dims{0, kMost, 2}) == 0);
  CHECK(checked_element_count(Dims{kMost, 2, 0}) == -1);
  CHECK(message([] { check_iteration(Dims{kMost, 2}); }) == "iterator is too large");
}

TEST_CASE("extents that wrap around are refused as NumPy refuses what it reads then") {
  CHECK(joined_extent(2, 3) == 5);
  CHECK(message([] { joined_extent(kMost, 1); }) == "negative dimensions are not allowed");
  CHECK(repeated_extent(kMost, 1) == kMost);
  CHECK(message([] { repeated_extent(kMost, 3); }).starts_with("array is too big; "));
  CHECK(message([] { repeated_extent(kMost / 2, 3); }) == "negative dimensions are not allowed");
}
