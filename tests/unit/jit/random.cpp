// The JIT against the scalar reading of the loop IR, on every tier of this machine.
#include <catch2/catch.hpp>

#include "../interp/fold_kernel.hpp"
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
  for (const test::ProductShape& s : test::host_product_shapes()) check(0, test::product_kernel(s));
}

TEST_CASE("compiled folds of several values give what the reference gives") {
  if (!jit::available()) return;
  for (const test::FoldShape& s : test::fold_shapes()) check(0, test::fold_kernel(s));
}

TEST_CASE("arg-reductions that LLVM has no loops of its own for are carried") {
  if (!jit::available()) return;
  for (const DType t : {DType::Complex64, DType::Complex128, DType::Float16})
    for (const bool lanes : {true, false}) {
      constexpr std::int64_t rows = 11, columns = 70;
      const auto item = static_cast<std::int64_t>(itemsize(t));
      ir::Builder b("places");
      if (lanes) b.loop(0).scope = ir::Scope::Lanes;
      const std::int32_t x = b.buffer(t, false), out = b.buffer(DType::Int64, true);
      const std::int32_t loop = b.open_reduce(ir::kNone, b.param(0));
      if (!lanes) b.loop(loop).scope = ir::Scope::Lanes;
      const ir::Val v = b.load(x, {{}, {{b.grid_var(), {columns * item}}, {b.var(loop), {item}}}});
      const bool half = t == DType::Float16;
      const std::vector<ir::Val> places =
          b.close({{.kind = ReduceKind::ArgMin, .value = v, .guarded_sqrt = half},
                   {.kind = ReduceKind::ArgMax, .value = v, .guarded_sqrt = half}});
      for (std::int64_t n : {0, 1})
        b.store(out, {{n * 8}, {{b.grid_var(), {16}}}}, places[static_cast<std::size_t>(n)]);
      test::RandomKernel r;
      r.kernel = b.finish();
      r.params = {columns};
      r.grid = rows;
      std::vector<unsigned char> numbers;
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        const bool nan = i >= columns && i < 3 * columns && i % 40 == 5;  // two rows have some
        const std::complex<double> z(nan ? std::nan("") : static_cast<double>(i * i % 23),
                                     half ? 0 : static_cast<double>(i * i % 31));
        const Scalar s = cast(Scalar::of(DType::Complex128, z), t);
        numbers.insert(numbers.end(), s.bytes, s.bytes + item);
      }
      r.buffers = {numbers, std::vector<unsigned char>(rows * 16)};
      check(0, std::move(r));
    }
}
