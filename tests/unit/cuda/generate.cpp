// What extents decide: the width of indices, the launch and its scratch.
#include <catch2/catch.hpp>

#include "codegen/cuda/cuda.hpp"
#include "codegen/ir/builder.hpp"

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
  CHECK(cuda::serves(*narrow, {small, 2000}));
  CHECK_FALSE(cuda::serves(*narrow, {large, 1 << 14}));
  CHECK_FALSE(cuda::serves(*wide, {small, 1000}));
  CHECK(cuda::source(*cuda::generate(k, {}, {small, 7})) == cuda::source(*narrow));
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
  const std::int64_t shorter[] = {64, 512}, longer[] = {100000, 800000};
  const auto p = cuda::generate(k, {}, {shorter, 1 << 16});
  const cuda::Launch few = cuda::launch_shape(*p, {longer, 1 << 16});
  const cuda::Launch many = cuda::launch_shape(*p, {shorter, 1 << 16});
  CHECK(many.scratch_bytes == std::size_t{64} * 8 * many.grid[0] * many.block[0]);
  CHECK(few.scratch_bytes <= std::size_t{256} << 20);
  CHECK(few.grid[0] < many.grid[0]);
}
