// What extents decide: the width of indices, the launch and its scratch.
#include <catch2/catch.hpp>

#include "codegen/cuda/cuda.hpp"
#include "codegen/cuda/prelude.hpp"
#include "codegen/cuda/program.hpp"
#include "ir/builder.hpp"
#include "kernels.hpp"

using namespace plait;

namespace {

// y[i, j] = -x[i, j] over params[0] columns; or row by row through a buffer of params[0] values.
ir::Kernel negated(bool buffered) {
  ir::Builder b("negated");
  const std::int32_t x = b.buffer(DType::Float64, false), y = b.buffer(DType::Float64, true);
  const ir::Val columns = b.param(b.new_param());
  const std::int32_t row_bytes = b.new_param();
  const std::int32_t row = buffered ? b.local(DType::Float64, {0, 0}) : -1;
  auto at = [&](std::int32_t loop) {
    return ir::Access{{}, {{b.grid_var(), {0, row_bytes}}, {b.var(loop), {8}}}};
  };
  std::int32_t loop = b.open_for(ir::kNone, columns);
  ir::Val v = b.apply(OpId::Negative, DType::Float64, {b.load(x, at(loop))});
  if (buffered) {
    b.store_local(row, {{}, {{b.var(loop), {1}}}}, v);
    b.close();
    loop = b.open_for(ir::kNone, columns);
    v = b.load_local(row, {{}, {{b.var(loop), {1}}}});
  }
  b.store(y, at(loop), v);
  b.close();
  return b.finish();
}

}  // namespace

TEST_CASE("indices have 64 bits where extents need them") {
  const ir::Kernel k = negated(false);
  const std::int64_t small[] = {1000, 8000}, large[] = {1 << 15, 8 << 15};
  const auto narrow = cuda::generate(k, {}, {small, 1000});
  const auto wide = cuda::generate(k, {}, {large, 1 << 14});
  CHECK(cuda::source(*narrow).find("typedef int Index") == 0);
  CHECK(cuda::source(*wide).find("typedef long long Index") == 0);
  const std::shared_ptr<const cuda::Program> both[] = {narrow, wide};
  CHECK(cuda::find(both, {small, 2000}) == 0);
  CHECK(cuda::find(both, {large, 1 << 14}) == 1);
  CHECK(cuda::find({&both[1], 1}, {small, 1000}) == -1);
  CHECK(cuda::source(*cuda::generate(k, {}, {small, 900})) == cuda::source(*narrow));
}

TEST_CASE("nested loops are flattened: few rows of many columns fill the grid") {
  const std::int64_t params[] = {1 << 16, 8 << 16};
  const ir::Kernel k = negated(false);
  const cuda::Extents e{params, 2};
  CHECK(cuda::launch_shape(*cuda::generate(k, {}, e), e).grid[0] == 512);
  const cuda::Extents none{params, 0};
  CHECK(cuda::launch_shape(*cuda::generate(k, {}, none), none).grid[0] == 1);
}

TEST_CASE("scratch for long rows stays bounded, at the price of threads") {
  const ir::Kernel k = negated(true);
  const std::int64_t shorter[] = {8, 64}, longer[] = {100000, 800000};
  const auto p = cuda::generate(k, {}, {shorter, 1 << 16});
  const cuda::Launch few = cuda::launch_shape(*p, {longer, 1 << 16});
  const cuda::Launch many = cuda::launch_shape(*p, {shorter, 1 << 16});
  CHECK(many.scratch_bytes == std::size_t{8} * 8 * many.grid[0] * many.block[0]);
  CHECK(few.scratch_bytes <= std::size_t{256} << 20);
  CHECK(few.grid[0] < many.grid[0]);
}

TEST_CASE("a negative literal stands in parentheses") {
  ir::Builder b("literal");
  const ir::Val v = b.constant(Scalar::of(DType::Float64, -2.5));
  b.store(b.buffer(DType::Float64, true), {{}, {{b.grid_var(), {8}}}},
          b.apply(OpId::Negative, DType::Float64, {v}));
  const cuda::Extents e{nullptr, 1};
  const std::string text = cuda::source(*cuda::generate(b.finish(), {}, e));
  CHECK_THAT(text, Catch::Contains("-((-2.5))"));
}

TEST_CASE("rows go to more threads where they are longer, and to one each where they are many") {
  const test::RandomKernel r = test::row_kernel(test::RowWork::Softmax, 1, 1);
  const auto mapping = [&](std::int64_t rows, std::int64_t columns) {
    const std::int64_t params[] = {columns, 4 * columns};
    return cuda::generate(r.kernel, {}, {params, rows})->mapping;
  };
  CHECK(mapping(1000000, 8).team == 1);
  CHECK(mapping(100000, 100).team == 8);
  CHECK(mapping(16384, 1000).team == 32);
  CHECK(mapping(16384, 8192).team == 256);
  CHECK(mapping(1000000, 1000).team == 32);
  CHECK(mapping(64, 100000).team == 1024);
  CHECK(mapping(16384, 8192).rows_shared);
  CHECK_FALSE(mapping(64, 100000).rows_shared);
  // A new extent of the same kind compiles nothing.
  CHECK(mapping(16384, 8192) == mapping(20000, 5000));
}

TEST_CASE("a row that several loops read is in shared memory once, while it fits") {
  const auto program = [](test::RowWork work, std::int64_t columns) {
    const std::int64_t params[] = {columns, 4 * columns};
    const test::RandomKernel r = test::row_kernel(work, 1, 1);
    const cuda::Extents e{params, 16384};
    const auto p = cuda::generate(r.kernel, {}, e);
    CHECK(cuda::find({&p, 1}, e) == 0);
    const std::size_t exchange = cuda::exchange_bytes(p->kernel, p->mapping);
    CHECK(cuda::launch_shape(*p, e).shared_bytes ==
          exchange + (p->mapping.keeps_rows ? static_cast<std::size_t>(4 * columns) : 0));
    return p;
  };
  const auto loads = [](const cuda::Program& p) {
    int n = 0;
    for (std::size_t at = 0; (at = p.source.find("load<float>(a.b0", at)) != std::string::npos;
         ++at)
      ++n;
    return n;
  };
  // The exponentials overwrite the row that they were made of.
  for (test::RowWork work : {test::RowWork::Softmax, test::RowWork::Standardise})
    for (std::int64_t columns : {5000, 8192, 50000}) {
      CHECK(program(work, columns)->mapping.keeps_rows);
      CHECK(loads(*program(work, columns)) == 1);
    }
  CHECK_FALSE(program(test::RowWork::Standardise, 60000)->mapping.keeps_rows);
  CHECK(loads(*program(test::RowWork::Standardise, 60000)) == 3);
  CHECK_FALSE(program(test::RowWork::Sums, 5000)->mapping.keeps_rows);
}

TEST_CASE("sums down columns that lie side by side are a thread's each, few columns a team's") {
  ir::Builder b("columns");
  const ir::Val rows = b.param(b.new_param());
  const std::int32_t loop = b.open_reduce(ir::kNone, rows), stride = b.new_param();
  const ir::Val v = b.load(b.buffer(DType::Int64, false),
                           {{}, {{b.var(loop), {0, stride}}, {b.grid_var(), {8}}}});
  const ir::Val sum = b.close({{ReduceKind::Sum, v}})[0];
  b.store(b.buffer(DType::Int64, true), {{}, {{b.grid_var(), {8}}}}, sum);
  const ir::Kernel k = b.finish();
  const auto team = [&](std::int64_t columns) {
    const std::int64_t params[] = {10000, 8 * columns};
    return cuda::generate(k, {}, {params, columns})->mapping.team;
  };
  CHECK(team(10000) == 1);
  CHECK(team(10) == 1024);
}

TEST_CASE("indices of teams and packs have 64 bits where extents need them") {
  const test::RandomKernel r = test::row_kernel(test::RowWork::Softmax, 1, 1);
  const std::int64_t params[] = {1 << 15, 4 << 15};
  const auto narrow = cuda::generate(r.kernel, {}, {params, 1 << 13});
  const auto wide = cuda::generate(r.kernel, {}, {params, 1 << 17});
  CHECK_FALSE(narrow->mapping.wide);
  CHECK(wide->mapping.wide);
  CHECK(cuda::find({&narrow, 1}, {params, 1 << 17}) == -1);
  const test::RandomKernel s = test::shifted_kernel(1, 8, 0, 0, 0, DType::Float32, true);
  // 3e9 elements.
  const auto packs = cuda::generate(s.kernel, {}, {s.params.data(), 3000000000});
  CHECK(packs->mapping.wide);
  CHECK(packs->mapping.pack == 4);
  CHECK_FALSE(cuda::generate(s.kernel, {}, {s.params.data(), 400000000})->mapping.wide);
}

TEST_CASE("a kernel that says which threads take its loops is another backend's") {
  ir::Kernel k = negated(false);
  CHECK(cuda::supports(k, nullptr));
  k.loops[1].scope = ir::Scope::Block;
  std::string why;
  CHECK_FALSE(cuda::supports(k, &why));
  CHECK(why == "a loop of a block");
  k = negated(true);
  k.locals[0].space = ir::Space::Shared;
  CHECK_FALSE(cuda::supports(k, &why));
  CHECK(why == "a local in shared memory");
}

TEST_CASE("the prelude has the instructions of the table") {
  for (const FragmentShape& s : kFragmentShapes)
    if (of_device(s.unit)) {
      INFO(s.instruction);
      CHECK(cuda::prelude("fragments").find(s.instruction) != std::string_view::npos);
    }
}
