// The interpreter against the scalar reading of the loop IR.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "codegen/interp/interp.hpp"
#include "random_kernel.hpp"
#include "reference.hpp"

using namespace plait;

namespace {

struct Scratch {
  explicit Scratch(std::size_t bytes) : p(std::aligned_alloc(64, (bytes + 127) / 64 * 64)) {
    std::memset(p, 0x5a, bytes);
  }
  ~Scratch() { std::free(p); }
  void* p;
};

void compare(const test::RandomKernel& r, const std::vector<std::vector<unsigned char>>& want,
             const std::vector<std::vector<unsigned char>>& got) {
  for (std::size_t b = 0; b < want.size(); ++b) {
    DType t = r.kernel.buffers[b].dtype;
    for (std::size_t at = 0; at < want[b].size(); at += itemsize(t))
      if (!reference::same_value(t, &want[b][at], &got[b][at])) {
        INFO(ir::to_string(r.kernel));
        INFO("buffer " << b << " (" << name(t) << ") element " << at / itemsize(t));
        FAIL();
      }
  }
  SUCCEED();
}

void check(const test::RandomKernel& r, std::uint32_t seed) {
  INFO("seed " << seed);
  try {
    ir::verify(r.kernel);
  } catch (const std::exception& e) {
    FAIL(e.what() << "\n" << ir::to_string(r.kernel));
  }
  auto want = r.buffers;
  r.call(want, [&](const ir::CallArgs& args) { reference::run(r.kernel, args, 0, r.grid); });
  auto program = interp::prepare(r.kernel, detected_tier());
  for (std::int64_t chunk : {r.grid, std::int64_t{5}}) {
    auto got = r.buffers;
    r.call(got, [&](const ir::CallArgs& args) {
      Scratch scratch(interp::scratch_bytes(*program, args));
      for (std::int64_t at = 0; at < r.grid; at += chunk)
        interp::run(*program, args, at, std::min(r.grid, at + chunk), scratch.p);
    });
    compare(r, want, got);
  }
}

}  // namespace

TEST_CASE("random kernels of every dtype give what the reference gives") {
  const char* count = std::getenv("PLAIT_TEST_KERNELS");
  std::uint32_t n = count ? static_cast<std::uint32_t>(std::atoi(count)) : 300;
  for (std::uint32_t seed = 0; seed < n; ++seed) check(test::KernelGenerator(seed).make(), seed);
}

TEST_CASE("random kernels of floats give what the reference gives") {
  for (std::uint32_t seed = 0; seed < 200; ++seed)
    check(test::KernelGenerator(seed, true).make(), seed);
}
