#include <catch2/catch.hpp>

#include "plait/plait.hpp"

TEST_CASE("trim gives memory back and arrays keep their values") {
  plait::array<double> kept = plait::ones<double>({50'000});
  {
    const plait::array<double> gone = (kept + 1.0).copy();
  }
  CHECK(plait::trim() > 0);
  CHECK(plait::sum(kept)() == 50'000);
}
