// What NVRTC makes of generated programs. Without NVRTC there is nothing to test.
#include <catch2/catch.hpp>
#include <iostream>

#include "../interp/product_kernel.hpp"
#include "codegen/cuda/program.hpp"
#include "ir/externals.hpp"
#include "named.hpp"
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

std::shared_ptr<const cuda::Program> program_for(const test::RandomKernel& r,
                                                 const cuda::Target& target = {}) {
  REQUIRE(cuda::supports(r.kernel, nullptr));
  return cuda::generate(r.kernel, target, {r.params.data(), r.grid});
}

// Many kernels in one program: the prelude is read once.
cuda::Program joined(const std::vector<test::RandomKernel>& kernels,
                     const cuda::Target& target = {}) {
  test::Batch batch("");
  for (const test::RandomKernel& r : kernels) {
    const auto p = program_for(r, target);
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

// Each kernel for one architecture: the source does not differ, and NVRTC takes long.
void check_in_turn(const std::vector<test::RandomKernel>& kernels, const cuda::Target& target) {
  const std::size_t n = std::size(kArchitectures);
  for (std::size_t a = 0; a < n; ++a) {
    std::vector<test::RandomKernel> some;
    for (std::size_t i = a; i < kernels.size(); i += n) some.push_back(kernels[i]);
    check(joined(some, target), kArchitectures[a]);
  }
}

}  // namespace

TEST_CASE("every operation of every dtype compiles") {
  if (!have_nvrtc()) return;
  std::vector<test::RandomKernel> kernels;
  for (const test::OperationKernel& o : test::operation_kernels()) kernels.push_back(o);
  check(joined(kernels), 90);
}

TEST_CASE("random kernels compile, for one architecture after the other") {
  if (!have_nvrtc()) return;
  std::vector<test::RandomKernel> kernels;
  for (std::uint32_t seed = 0; kernels.size() < 12; ++seed) {
    test::RandomKernel r = test::KernelGenerator(seed).make();
    if (cuda::supports(r.kernel, nullptr)) kernels.push_back(std::move(r));
  }
  check_in_turn(kernels, {});
}

TEST_CASE("every mapping compiles, for one architecture after the other") {
  if (!have_nvrtc()) return;
  std::vector<test::RandomKernel> kernels;
  for (const test::Case& c : test::mapping_cases()) kernels.push_back(c.kernel);
  check_in_turn(kernels, test::kSmallDevice);
}

TEST_CASE("the join of partial results compiles for every kind and dtype") {
  if (!have_nvrtc()) return;
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Max, ReduceKind::ArgMin})
    for (DType t : {DType::Float16, DType::Int32, DType::Float64, DType::Complex64})
      for (bool tree : {false, kind == ReduceKind::Sum})
        check(*cuda::generate_join(kind, t, tree, {}), 90);
}

TEST_CASE("teams stay within registers and shared memory on every architecture") {
  if (!have_nvrtc()) return;
  using test::RowWork;
  struct Case {
    RowWork work;
    std::int64_t rows, columns;
    int registers;
  };
  // Lanes of a warp, a block, and one that has a multiprocessor to itself; 1024 threads have 64
  // registers each.
  for (const Case& c : {Case{RowWork::Softmax, 16384, 100, 80},
                        {RowWork::Softmax, 16384, 1000, 80},
                        {RowWork::Softmax, 16384, 8192, 64},
                        {RowWork::Softmax, 1000, 50000, 64},
                        {RowWork::Standardise, 16384, 8192, 64},
                        {RowWork::ArgMax, 16384, 8192, 48},
                        {RowWork::Sums, 16384, 8192, 64}}) {
    const test::RandomKernel r = test::row_kernel(c.work, 1, 1);
    const std::int64_t params[] = {c.columns, 4 * c.columns};
    const cuda::Extents e{params, c.rows};
    for (int arch : kArchitectures) {
      const cuda::Target target{.arch = arch, .shared_bytes = (arch == 80 ? 163 : 227) * 1024};
      const auto p = cuda::generate(r.kernel, target, e);
      INFO(c.rows << " x " << c.columns << ", sm_" << arch << ", teams of " << p->mapping.team);
      CHECK(p->mapping.team > 1);
      const auto b = cuda::compile(*p, arch);
      CHECK(b->registers <= c.registers);
      CHECK(b->spill_bytes == 0);
      CHECK(static_cast<int>(cuda::launch_shape(*p, e).shared_bytes) + b->shared_bytes <=
            target.shared_bytes);
    }
  }
}

TEST_CASE(
    "fragments of every dtype leave their sums in registers, those of halves in tensor cores") {
  if (!have_nvrtc()) return;
  for (const DType t : {DType::Float16, DType::Float32, DType::Float64})
    for (const int width : {1, 32}) {
      const test::RandomKernel r = test::product_kernel({64, 128, 256, 64, 64, 1, width, t});
      const auto p = cuda::generate(r.kernel, {}, {r.params.data(), r.grid});
      INFO(name(t) << ", panels of " << width);
      for (int arch : kArchitectures) CHECK(cuda::compile(*p, arch)->spill_bytes == 0);
      const std::string text(cuda::compile(*p, 999)->image);
      CHECK((text.find("mma.sync") != std::string::npos) == (t == DType::Float16));
      CHECK((text.find("ldmatrix") != std::string::npos) == (t == DType::Float16));
    }
}

TEST_CASE("packs are moved by accesses of 16 bytes") {
  if (!have_nvrtc()) return;
  const test::RandomKernel r = test::shifted_kernel(1, 8, 0, 0, 0, DType::Float32, true);
  const cuda::Extents e{r.params.data(), 1 << 24};
  const auto p = cuda::generate(r.kernel, {}, e);
  CHECK(p->mapping.pack == 4);
  for (int arch : kArchitectures) {
    const auto b = cuda::compile(*p, arch);
    CHECK(b->registers <= 48);
    CHECK(b->spill_bytes == 0);
  }
  CHECK_THAT(cuda::compile(*p, 999)->image, Catch::Contains("ld.v4.f32") ||
                                                Catch::Contains("ld.v4.b32") ||
                                                Catch::Contains("ld.global.v4"));
}

TEST_CASE("k-means keeps means and points in shared memory, whole or in pieces") {
  if (!have_nvrtc()) return;
  constexpr std::int32_t along_k = 1, along_d = 2;
  struct Case {
    std::int64_t means, columns;
    DType dtype;
    bool row_tiles;
    std::int32_t streamed;
    bool turned = false;
  };
  constexpr DType f4 = DType::Float32, f8 = DType::Float64;
  for (const Case& c : {Case{8, 8, f4, false, -1},
                        {16, 16, f4, true, -1},
                        {64, 64, f4, true, -1},
                        {200, 200, f4, true, along_k},
                        {4096, 128, f4, true, along_k},
                        {100000, 3, f8, false, along_k},
                        {64, 2000, f4, true, along_d},
                        {64, 2000, f8, true, along_d},
                        {200, 200, f4, true, along_k, true},
                        {4096, 128, f4, true, along_k, true},
                        {100000, 3, f8, false, along_k, true},
                        {64, 2000, f4, true, along_d, true}}) {
    const test::RandomKernel r = test::nearest_kernel(1, 1, 1, c.dtype, c.turned);
    const auto item = static_cast<std::int64_t>(itemsize(c.dtype));
    const std::int64_t params[] = {c.means, c.columns, item * c.columns,
                                   item * (c.turned ? c.means : c.columns)};
    const cuda::Extents e{params, 1 << 24};
    for (int arch : kArchitectures) {
      INFO(c.means << " x " << c.columns << (c.turned ? ", turned" : "") << ", sm_" << arch);
      const cuda::Target target{.arch = arch, .shared_bytes = (arch == 80 ? 163 : 227) * 1024};
      const auto p = cuda::generate(r.kernel, target, e);
      CHECK(p->mapping.whole_tiles);
      CHECK(p->mapping.row_tiles == c.row_tiles);
      // Less shared memory means pieces earlier.
      if (arch != 80 || c.streamed >= 0) CHECK(p->mapping.streamed == c.streamed);
      const auto b = cuda::compile(*p, arch);
      CHECK(b->registers <= (c.turned ? 128 : 112));
      CHECK(b->spill_bytes == 0);
      // Two blocks a multiprocessor, which has 1 KiB more and keeps one a block.
      CHECK(2 * (cuda::launch_shape(*p, e).shared_bytes + 1024) <=
            std::size_t(target.shared_bytes) + 1024);
    }
  }
}

TEST_CASE("k-means of few columns keeps the means in shared memory, whichever way they lie") {
  if (!have_nvrtc()) return;
  for (bool turned : {false, true})
    for (std::int64_t means : {16, 100000}) {
      const test::RandomKernel r = test::nearest_short_kernel(1, means, 3, DType::Float32, turned);
      const cuda::Extents e{r.params.data(), 1 << 24};
      const auto p = cuda::generate(r.kernel, {}, e);
      INFO(means << (turned ? ", turned" : ""));
      CHECK(p->mapping.team == 1);
      CHECK(p->mapping.whole_tiles);
      CHECK(p->mapping.streamed == (means == 16 ? -1 : 1));
      for (int arch : kArchitectures) {
        const auto b = cuda::compile(*p, arch);
        CHECK(b->registers <= 64);
        CHECK(b->spill_bytes == 0);
      }
    }
}

TEST_CASE("a transposed operand is read through shared memory") {
  if (!have_nvrtc()) return;
  const test::RandomKernel r = test::transposed_kernel(1, 1, 1, DType::Float32);
  const std::int64_t params[] = {1, 8192, 32768, 1 << 28, 32768};
  const cuda::Extents e{params, 8192};
  const auto p = cuda::generate(r.kernel, {}, e);
  CHECK(p->mapping.transposed);
  for (int arch : kArchitectures) {
    const auto b = cuda::compile(*p, arch);
    CHECK(b->registers <= 64);
    CHECK(b->spill_bytes == 0);
    CHECK(cuda::launch_shape(*p, e).shared_bytes == 32 * 33 * 4);
  }
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
  const auto p = program_for(test::operation_kernel({OpId::Add}, DType::Float64));
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

TEST_CASE("a sequential kernel is supported where it is an iteration of many, without memory") {
  const auto program = [](auto&& body) {
    ir::Builder b("program");
    b.sequential();
    body(b);
    return b.finish();
  };
  const ir::Kernel plain = program([](ir::Builder& b) { (void)b.new_arg(DType::Int64); });
  std::string why;
  CHECK_FALSE(cuda::supports(plain, &why));
  CHECK(why == "a sequential kernel");
  CHECK(cuda::supports(plain, ir::Iterations{}, &why));
  const ir::Kernel heap = program(
      [](ir::Builder& b) { b.buffer({.dtype = DType::Int64, .written = true, .heap = true}); });
  CHECK_FALSE(cuda::supports(heap, ir::Iterations{}, &why));
  CHECK(why == "it makes arrays, lists or dicts");
  const ir::Kernel work =
      program([](ir::Builder& b) { b.variable(DType::Int64, {0, b.new_param()}); });
  CHECK_FALSE(cuda::supports(work, ir::Iterations{}, &why));
  CHECK(why == "it has work memory");
  const ir::Kernel calls = program([](ir::Builder& b) {
    b.push({.op = ir::Op::External,
            .index = ir::external("heap_alloc"),
            .operands = {b.constant_index(8), ir::kNone, ir::kNone}});
  });
  CHECK_FALSE(cuda::supports(calls, ir::Iterations{}, &why));
  CHECK(why == "it calls heap_alloc() of the host");
}
