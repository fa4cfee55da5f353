// Machine code of kernels whose threads share memory: on one thread.
#include <catch2/catch.hpp>

#include "../interp/staged_kernel.hpp"
#include "run_kernel.hpp"

using namespace plait;

TEST_CASE("compiled code copies at once and waits for nobody") {
  if (!jit::available()) return;
  const ir::Kernel k = test::reversed({.columns = test::kColumns, .swizzle = 4});
  for (const CpuTier tier : test::tiers()) {
    test::Reversed r;
    void* buffers[] = {r.x.data(), r.out.data()};
    const auto code = jit::compile(k, tier);
    test::run_code(*code, k, {buffers, nullptr, nullptr}, 0, 1);
    CHECK(r.out == r.wanted);
  }
}
