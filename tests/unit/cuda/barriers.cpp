// Where a mapping puts barriers.
#include "fusion/mapping/barriers.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "../interp/product_kernel.hpp"
#include "fusion/mapping/mapping.hpp"
#include "ir/analysis.hpp"
#include "ir/builder.hpp"
#include "ir/verify.hpp"
#include "rules/offers.hpp"

using namespace plait;
using ir::Op;

namespace {

// Rows go through memory that threads share, to where `first` elements later lies: y[i, j] =
// x.flat[8 i + j + first].
ir::Kernel passed_on(ir::Scope rows, ir::Scope columns, std::int64_t first = 0) {
  ir::Builder b("passed_on");
  const std::int32_t x = b.buffer(DType::Float32, false), y = b.buffer(DType::Float32, true);
  const std::int32_t shared =
      b.local({.dtype = DType::Float32, .count = {64}, .home = 0, .space = ir::Space::Shared});
  const ir::Val eight = b.constant_index(8);
  const std::int32_t row = b.open_for(ir::kNone, eight);
  b.loop(row).scope = rows;
  const auto loop = [&](auto body) {
    const std::int32_t l = b.open_for(ir::kNone, eight);
    b.loop(l).scope = columns;
    body(l);
    b.close();
  };
  const auto at = [&](std::int32_t l, std::int64_t item, std::int64_t first) {
    return ir::Access{{first}, {{b.var(row), {8 * item}}, {b.var(l), {item}}}};
  };
  loop([&](std::int32_t l) { b.store_local(shared, at(l, 1, 0), b.load(x, at(l, 4, 0))); });
  loop([&](std::int32_t l) { b.store(y, at(l, 4, 0), b.load_local(shared, at(l, 1, first))); });
  b.close();
  return b.finish();
}

std::vector<Op> body_of(const ir::Kernel& k, std::int32_t loop) {
  std::vector<Op> ops;
  for (const ir::Val v : k.loops[loop].body)
    if (k.insts[v].op != Op::Const) ops.push_back(k.insts[v].op);
  return ops;
}

}  // namespace

TEST_CASE("threads wait where one reads what another wrote, and before they write there again") {
  ir::Kernel k = passed_on(ir::Scope::Serial, ir::Scope::Block);
  CHECK_THROWS_WITH(ir::verify(k), Catch::Contains("no barrier stands between it and what"));
  mapping::place_barriers(k);
  CHECK(body_of(k, 0) == std::vector{Op::For});
  CHECK(body_of(k, 1) == std::vector{Op::Barrier, Op::For, Op::Barrier, Op::For});
  ir::verify(k);
  // Where there are barriers, no more are wanted.
  mapping::place_barriers(k);
  CHECK(body_of(k, 1) == std::vector{Op::Barrier, Op::For, Op::Barrier, Op::For});
}

TEST_CASE("where warps take rows, their threads wait for each other alone") {
  ir::Kernel k = passed_on(ir::Scope::Block, ir::Scope::Warp);
  CHECK(ir::over_warps(k, 1));
  CHECK_THROWS_WITH(ir::verify(k), Catch::Contains("no barrier stands between it and what"));
  mapping::place_barriers(k);
  CHECK(body_of(k, 1) == std::vector{Op::For, Op::Barrier, Op::For});
  // The block has an iteration of the grid before this one behind it.
  CHECK(body_of(k, 0) == std::vector{Op::Barrier, Op::For});
  ir::verify(k);
  // No warp waits for another, whose row it would read here.
  k = passed_on(ir::Scope::Block, ir::Scope::Warp, 8);
  mapping::place_barriers(k);
  CHECK_THROWS_WITH(ir::verify(k), Catch::Contains("no barrier stands between it and what"));
}

TEST_CASE("mapped kernels have a barrier wherever threads share memory") {
  const auto check = [](const test::RandomKernel& r,
                        const std::vector<mapping::CostedMapping>& all) {
    for (const mapping::CostedMapping& o : all) {
      ir::Kernel k = r.kernel;
      mapping::NestFacts n = mapping::analyse_nest(k);
      mapping::apply(k, n, o.mapping);
      INFO(to_string(o.mapping));
      ir::verify(k);
      const auto is_barrier = [](const ir::Inst& i) { return i.op == Op::Barrier; };
      CHECK(std::any_of(k.insts.begin(), k.insts.end(), is_barrier) == (o.mapping.team > 1));
    }
  };
  const test::RandomKernel softmax = test::row_kernel(test::RowWork::Softmax, 1, 1);
  check(softmax, test::offers(softmax.kernel, {1000, 4000}, 16384));
  const test::RandomKernel product =
      test::product_kernel({64, 300, 200, 64, 32, 1, 32, DType::Float32});
  check(product, test::offers(product));
}
