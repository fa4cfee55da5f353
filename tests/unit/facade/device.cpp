// Devices without a device: the host is one, and what is missing is named.
#include "plait/device.hpp"

#include <catch2/catch.hpp>

TEST_CASE("arrays live on the host unless something is said") {
  const plait::array<double> a{1.0, 2.0};
  CHECK(plait::device_of(a) == plait::cpu());
  CHECK(plait::current_device().name() == "cpu");
  auto same = plait::to_device(a, plait::cpu());
  CHECK(same.data() == a.data());
  const plait::device_scope scope(plait::cpu());
  CHECK(plait::device_of(plait::array<int>{1}).is_cpu());
  REQUIRE_THROWS_AS(plait::adapt(static_cast<double*>(nullptr), {2}, plait::cpu(), nullptr),
                    plait::ValueError);
}
