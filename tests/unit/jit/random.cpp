// The JIT against the scalar reading of the loop IR, on every tier of this machine.
#include <catch2/catch.hpp>

#include "../interp/product_kernel.hpp"
#include "run_kernel.hpp"

using namespace plait;

namespace {

std::uint32_t count(std::uint32_t usual) {
  const char* n = std::getenv("PLAIT_TEST_KERNELS");
  return n ? static_cast<std::uint32_t>(std::atoi(n)) : usual;
}

void check(std::uint32_t seed, test::RandomKernel r) {
  INFO("seed " << seed);
  REQUIRE(jit::supports(r.kernel, nullptr));
  test::Memory want = r.buffers;
  r.call(want, [&](const ir::CallArgs& args) { reference::run(r.kernel, args, 0, r.grid); });
  for (CpuTier tier : test::tiers()) {
    INFO("tier " << static_cast<int>(tier));
    auto code = jit::compile(r.kernel, tier);
    for (std::int64_t chunk : {r.grid, std::int64_t{5}}) {
      test::Memory got = r.buffers;
      r.call(got, [&](const ir::CallArgs& args) {
        for (std::int64_t at = 0; at < r.grid; at += chunk)
          test::run_code(*code, r.kernel, args, at, std::min(r.grid, at + chunk));
      });
      std::string where = test::difference(r.kernel, want, got);
      INFO(where << ", chunks of " << chunk);
      if (!where.empty()) FAIL(ir::to_string(r.kernel));
    }
  }
}

}  // namespace

TEST_CASE("compiled random kernels of floats give what the reference gives") {
  if (!jit::available()) return;
  for (std::uint32_t seed = 0; seed < count(60); ++seed)
    check(seed, test::KernelGenerator(seed, true).make());
}

TEST_CASE("compiled random kernels of every real dtype give what the reference gives") {
  if (!jit::available()) return;
  for (std::uint32_t seed = 0; seed < count(60); ++seed)
    check(seed, test::KernelGenerator(seed, false, true).make());
}

TEST_CASE("compiled random kernels with complex and half values give what the reference gives") {
  if (!jit::available()) return;
  std::uint32_t compiled = 0;
  for (std::uint32_t seed = 0; seed < count(60); ++seed) {
    test::RandomKernel r = test::KernelGenerator(seed).make();
    std::string why;
    if (jit::supports(r.kernel, &why)) {
      ++compiled;
      check(seed, std::move(r));
    } else {
      INFO(why);
      REQUIRE(why.find(" of ") != std::string::npos);  // an arg-reduction or two trees
    }
  }
  REQUIRE(2 * compiled > count(60));
}

TEST_CASE("compiled products by fragments give what the reference gives") {
  if (!jit::available()) return;
  for (const test::ProductShape& s : test::product_shapes()) check(0, test::product_kernel(s));
}
