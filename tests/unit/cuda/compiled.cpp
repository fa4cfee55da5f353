// What NVRTC makes of generated programs. Without NVRTC there is nothing to test.
#include <catch2/catch.hpp>
#include <iostream>

#include "codegen/cuda/program.hpp"
#include "kernels.hpp"
#include "plait/error.hpp"

using namespace plait;

namespace {

constexpr int kArchitectures[] = {80, 90, 100};

bool have_nvrtc() {
  std::string why;
  const bool have = cuda::nvrtc_available(&why);
  if (!have) std::cout << "skipped, NVRTC is missing: " << why << "\n";
  return have;
}

std::shared_ptr<const cuda::Program> program_for(const test::RandomKernel& r) {
  REQUIRE(cuda::supports(r.kernel, nullptr));
  return cuda::generate(r.kernel, {}, {r.params.data(), r.grid});
}

// Many kernels in one program: the prelude is read once.
cuda::Program joined(const std::vector<test::RandomKernel>& kernels) {
  test::Batch batch("");
  for (const test::RandomKernel& r : kernels) {
    const auto p = program_for(r);
    batch.add(cuda::source(*p), cuda::entry(*p), true);
  }
  cuda::Program p;
  p.source = batch.source();
  return p;
}

void check(const cuda::Program& p, int arch) {
  try {
    CHECK(cuda::compile(p, arch)->image.size() > 0);
  } catch (const CompileError& e) {
    FAIL(std::string(e.what()).substr(0, 4000));
  }
}

}  // namespace

TEST_CASE("every operation of every dtype compiles") {
  if (!have_nvrtc()) return;
  std::vector<test::RandomKernel> kernels;
  for (auto [op, t] : test::operations()) kernels.push_back(test::operation_kernel(op, t));
  check(joined(kernels), 90);
}

TEST_CASE("random kernels compile for every architecture") {
  if (!have_nvrtc()) return;
  std::vector<test::RandomKernel> kernels;
  for (std::uint32_t seed = 0; kernels.size() < 12; ++seed) {
    test::RandomKernel r = test::KernelGenerator(seed).make();
    if (cuda::supports(r.kernel, nullptr)) kernels.push_back(std::move(r));
  }
  for (int arch : kArchitectures) check(joined(kernels), arch);
}

TEST_CASE("the join of partial results compiles for every kind and dtype") {
  if (!have_nvrtc()) return;
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Max, ReduceKind::ArgMin})
    for (DType t : {DType::Float16, DType::Int32, DType::Float64, DType::Complex64})
      check(*cuda::generate_join(kind, t, {}), 90);
}

TEST_CASE("a program that does not compile is reported with NVRTC's log") {
  if (!have_nvrtc()) return;
  cuda::Program p;
  p.source = "int broken = missing;\n";
  try {
    cuda::compile(p, 90);
    FAIL();
  } catch (const CompileError& e) {
    CHECK_THAT(e.what(), Catch::Contains("kernel.cu(1)"));
  }
}

TEST_CASE("a newer architecture than NVRTC knows gets PTX, registers are reported for cubins") {
  if (!have_nvrtc()) return;
  const auto p = program_for(test::operation_kernel(OpId::Add, DType::Float64));
  CHECK(cuda::compile(*p, 999)->ptx);
  const auto b = cuda::compile(*p, 90);
  CHECK_FALSE(b->ptx);
  CHECK(b->registers > 0);
  CHECK(b->spill_bytes == 0);
  cuda::forget_compiled();
  CHECK(cuda::compile(*p, 90)->registers == b->registers);
}

TEST_CASE("a kernel with more arguments than CUDA takes is not supported") {
  ir::Builder b("many");
  for (int n = 0; n < 600; ++n) b.new_param();
  std::string why;
  CHECK_FALSE(cuda::supports(b.finish(), &why));
  CHECK_THAT(why, Catch::Contains("arguments"));
}
