// Equal pure instructions of one scope are one.
#include "../recorded.hpp"

using namespace plait;
using namespace plait::test;
using ir::Val;

namespace {

constexpr std::int64_t kN = 40;

ir::Access element(const ir::Builder& b) { return {{}, {{b.grid_var(), {8}}}}; }

Bytes run(const ir::Kernel& k) {
  return results(k, memory(std::vector<std::size_t>(k.buffers.size(), 8 * kN)), {}, kN);
}

}  // namespace

TEST_CASE("a product that is written twice is computed once") {
  ir::Builder b("twice");
  const auto x = b.buffer(DType::Float64, false), y = b.buffer(DType::Float64, true);
  auto square = [&] {
    const Val v = b.load(x, element(b)), w = b.load(x, element(b));
    return b.apply(OpId::Multiply, DType::Float64, {v, w});
  };
  b.store(y, element(b), b.apply(OpId::Add, DType::Float64, {square(), square()}));
  ir::Kernel k = b.finish();
  const Bytes expected = run(k);
  fusion::eliminate_common(k);
  CHECK(run(k) == expected);
  CHECK(count(k, ir::Op::Load) == 1);
  CHECK(count(k, ir::Op::Apply) == 2);
}

TEST_CASE("constants are told apart by their bits") {
  ir::Builder b("zeros");
  const auto y = b.buffer(DType::Float64, true), z = b.buffer(DType::Float64, true);
  b.store(y, element(b), b.constant(Scalar::of(DType::Float64, 0.0)));
  b.store(z, element(b), b.constant(Scalar::of(DType::Float64, -0.0)));
  ir::Kernel k = b.finish();
  const Bytes expected = run(k);
  fusion::eliminate_common(k);
  CHECK(run(k) == expected);
  CHECK(count(k, ir::Op::Const) == 2);
}

TEST_CASE("what is written is loaded again") {
  ir::Builder b("written");
  const auto x = b.buffer(DType::Float64, true), y = b.buffer(DType::Float64, true);
  const Val before = b.load(x, element(b));
  b.store(x, element(b), b.apply(OpId::Negative, DType::Float64, {before}));
  const Val after = b.load(x, element(b));
  b.store(y, element(b), after);
  ir::Kernel k = b.finish();
  fusion::eliminate_common(k);
  CHECK(count(k, ir::Op::Load) == 2);
}

TEST_CASE("a value inside a loop takes the one in front of it, not the other way round") {
  ir::Builder b("scopes");
  const auto x = b.buffer(DType::Float64, false), y = b.buffer(DType::Float64, true);
  const auto z = b.buffer(DType::Float64, true);
  auto fold = [&](bool inside) {
    const Val outer = inside ? ir::kNone : b.load(x, element(b));
    const auto l = b.open_reduce(ir::kNone, b.constant_index(3));
    const Val v = b.load(x, element(b));
    const Val term = b.apply(OpId::Multiply, DType::Float64, {v, b.cast(b.var(l), DType::Float64)});
    const Val sum = b.close({{ReduceKind::Sum, term, ir::Order::Sequential}})[0];
    return inside ? sum : b.apply(OpId::Add, DType::Float64, {sum, outer});
  };
  b.store(y, element(b), fold(true));
  b.store(z, element(b), fold(false));
  ir::Kernel k = b.finish();
  const Bytes expected = run(k);
  fusion::eliminate_common(k);
  CHECK(run(k) == expected);
  // One in the first loop, out of the second's sight; one in front of the second.
  CHECK(count(k, ir::Op::Load) == 2);
}

TEST_CASE("what a loop folds stays in its body") {
  ir::Builder b("folded");
  const auto x = b.buffer(DType::Float64, false), y = b.buffer(DType::Float64, true);
  const Val outer = b.load(x, element(b));
  b.open_reduce(ir::kNone, b.constant_index(4));
  const Val inner = b.load(x, element(b));
  const Val sum = b.close({{ReduceKind::Sum, inner, ir::Order::Sequential}})[0];
  b.store(y, element(b), b.apply(OpId::Add, DType::Float64, {sum, outer}));
  ir::Kernel k = b.finish();
  const Bytes expected = run(k);
  fusion::eliminate_common(k);
  CHECK(run(k) == expected);
  CHECK(count(k, ir::Op::Load) == 2);
}
