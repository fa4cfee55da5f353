// Of the stand-in itself: what a matcher takes and what it does not.
#include <catch2/catch.hpp>

TEST_CASE("matchers: parts of a text, all of them, none") {
  using Catch::Contains;
  CHECK_THAT("one kernel", Contains("kernel") && Contains("one"));
  CHECK_THAT("one kernel", Contains("kernel") && !Contains("two"));
  CHECK_FALSE((Contains("kernel") && Contains("two")).matches("one kernel"));
  CHECK_FALSE((!Contains("kernel")).matches("one kernel"));
}
