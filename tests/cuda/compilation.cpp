// NVRTC and a device that is newer: doubles of compute capability 10.0, and of an NVRTC that knows
// 8.0 and 9.0.
#include "placed.hpp"

using namespace plait;
using namespace plait::test;

namespace {
const bool on_doubles = unsetenv("PLAIT_FAKE_ARCHITECTURE") == 0;  // before the first is asked for
}

TEST_CASE("an architecture newer than NVRTC knows gets PTX of the newest that it knows",
          "[double]") {
  REQUIRE(on_doubles);
  config().disk_cache = false;
  fake().set_architecture(100);
  CHECK(engine::device_of(gpu()).target() == "cuda:sm_100");
  const Array a = random_f64({300}, 1);
  on_device("chain", [&](const Place& at) { return apply(OpId::Multiply, at(a), weak(3)); });
  void* nvrtc = dlopen(PLAIT_FAKE_NVRTC, RTLD_NOW);
  CHECK(reinterpret_cast<int (*)()>(dlsym(nvrtc, "fake_nvrtc_ptx_made"))() == 1);
}

TEST_CASE("a kernel that the driver does not take names both versions", "[double]") {
  const Array x = there(random_f64({300}, 1));
  fake().fail("cuModuleLoadData", 0, 218);
  REQUIRE_THROWS_WITH(tracer::evaluate(apply(OpId::Divide, x, weak(3))),
                      Catch::Contains("NVRTC 99.0 to PTX") && Catch::Contains("CUDA 12.4"));
}

TEST_CASE("regions of a plan are compiled side by side", "[double]") {
  gpu();
  config().threads = 2;
  const Array x = there(random_f64({40, 300}, 1));
  const Array out[] = {apply(OpId::Hypot, x, weak(3)),
                       test::reduce(ReduceKind::Prod, apply(OpId::Add, x, weak(2)), 1)};
  const auto meet =
      reinterpret_cast<bool (*)(int)>(dlsym(dlopen(PLAIT_FAKE_NVRTC, RTLD_NOW), "fake_nvrtc_meet"));
  meet(2);
  tracer::evaluate(out);
  CHECK(engine::last_plan().regions == 2);
  CHECK(meet(0));
}
