// What nothing uses goes, the rest is numbered in order.
#include "../recorded.hpp"

using namespace plait;
using namespace plait::test;
using ir::Val;

namespace {

constexpr std::int64_t kN = 20;

ir::Access element(const ir::Builder& b) { return {{}, {{b.grid_var(), {8}}}}; }

Bytes run(const ir::Kernel& k) {
  return results(k, memory(std::vector<std::size_t>(k.buffers.size(), 8 * kN)), {}, kN);
}

}  // namespace

TEST_CASE("unused values and loops are dropped") {
  ir::Builder b("unused");
  const auto x = b.buffer(DType::Float64, false), y = b.buffer(DType::Float64, true);
  const Val v = b.load(x, element(b));
  b.apply(OpId::Exp, DType::Float64, {v});
  b.open_reduce(ir::kNone, b.constant_index(5));
  const Val inner = b.load(x, element(b));
  b.close({{ReduceKind::Sum, inner, ir::Order::Sequential}});
  b.store(y, element(b), b.apply(OpId::Negative, DType::Float64, {v}));
  ir::Kernel k = b.finish();
  const Bytes expected = run(k);
  fusion::compact(k);
  CHECK(run(k) == expected);
  CHECK(k.loops.size() == 1);
  CHECK(k.insts.size() == 4);  // variable, load, negative, store
  CHECK(k.accesses.size() == 2);
}

TEST_CASE("a loop that only stores is used") {
  ir::Builder b("stores");
  const auto y = b.buffer(DType::Float64, true);
  const auto l = b.open_for(ir::kNone, b.constant_index(1));
  b.store(y, {{}, {{b.grid_var(), {8}}, {b.var(l), {8}}}},
          b.constant(Scalar::of(DType::Float64, 2.0)));
  b.close();
  ir::Kernel k = b.finish();
  const Bytes expected = run(k);
  fusion::compact(k);
  CHECK(run(k) == expected);
  CHECK(k.loops.size() == 2);
}

TEST_CASE("kernels that differ in what is unused and in numbering become the same bytes") {
  auto build = [](bool spare) {
    ir::Builder b("same");
    const auto x = b.buffer(DType::Float64, false), y = b.buffer(DType::Float64, true);
    if (spare) b.apply(OpId::Sqrt, DType::Float64, {b.load(x, element(b))});
    const Val v = b.load(x, element(b));
    if (spare) b.constant(Scalar::of(DType::Float64, 7.0));
    b.store(y, element(b), b.apply(OpId::Square, DType::Float64, {v}));
    return b.finish();
  };
  ir::Kernel a = build(false), b = build(true);
  CHECK(ir::serialize(a) != ir::serialize(b));
  fusion::compact(a);
  fusion::compact(b);
  CHECK(ir::serialize(a) == ir::serialize(b));
}

TEST_CASE("locals keep the loop they belong to when loops before it go") {
  ir::Builder b("local");
  const auto x = b.buffer(DType::Float64, false), y = b.buffer(DType::Float64, true);
  b.open_reduce(ir::kNone, b.constant_index(5));
  b.close({{ReduceKind::Sum, b.load(x, element(b)), ir::Order::Sequential}});
  const auto l = b.open_for(ir::kNone, b.constant_index(1));
  const auto local = b.local(DType::Float64, {1});
  b.store_local(local, {}, b.load(x, element(b)));
  b.store(y, {{}, {{b.grid_var(), {8}}, {b.var(l), {8}}}}, b.load_local(local, {}));
  b.close();
  ir::Kernel k = b.finish();
  const Bytes expected = run(k);
  fusion::compact(k);
  CHECK(run(k) == expected);
  REQUIRE(k.loops.size() == 2);
  CHECK(k.locals[0].home == 1);
}
