// Reductions side by side over one range share a loop.
#include "../recorded.hpp"

using namespace plait;
using namespace plait::test;
using ir::Val;

namespace {

constexpr std::int64_t kRows = 9, kColumns = 14;

// Folds over a row of `columns` elements, from the rows of buffer 0 into the elements of others.
struct Rows {
  explicit Rows(int outputs) : b("rows") {
    x = b.buffer(DType::Float64, false);
    for (int i = 0; i < outputs; ++i) out.push_back(b.buffer(DType::Float64, true));
    end = b.constant_index(kColumns);
  }
  // The fold of x[row, i] - less (kNone: of x[row, i]).
  Val fold(ReduceKind kind, Val less = ir::kNone, Val last = ir::kNone) {
    const auto l = b.open_reduce(ir::kNone, last == ir::kNone ? end : last);
    Val v = b.load(x, {{}, {{b.grid_var(), {8 * kColumns}}, {b.var(l), {8}}}});
    if (less != ir::kNone) v = b.apply(OpId::Subtract, DType::Float64, {v, less});
    const auto order = kind == ReduceKind::Sum ? ir::Order::Pairwise : ir::Order::Any;
    return b.close({{kind, v, order}})[0];
  }
  void store(int i, Val v) {
    b.store(out[static_cast<std::size_t>(i)], {{}, {{b.grid_var(), {8}}}}, v);
  }
  fusion::LoweredKernel finish() {
    fusion::LoweredKernel k;
    k.kernel = b.finish();
    return k;
  }
  static Bytes run(const fusion::LoweredKernel& k) {
    std::vector<std::size_t> sizes(k.kernel.buffers.size(), 8 * kRows);
    sizes[0] = 8 * kRows * kColumns;
    return results(k.kernel, memory(sizes), {}, kRows);
  }

  ir::Builder b;
  std::int32_t x;
  std::vector<std::int32_t> out;
  Val end;
};

}  // namespace

TEST_CASE("three folds of one row are one loop") {
  Rows rows(3);
  const Val least = rows.fold(ReduceKind::Min), most = rows.fold(ReduceKind::Max);
  const Val sum = rows.fold(ReduceKind::Sum);
  rows.store(0, least);
  rows.store(1, most);
  rows.store(2, sum);
  fusion::LoweredKernel k = rows.finish();
  const Bytes expected = Rows::run(k);
  fusion::fuse_siblings(k);
  CHECK(Rows::run(k) == expected);
  CHECK(count(k.kernel, ir::Op::Reduce) == 1);
  CHECK(count(k.kernel, ir::Op::Result) == 3);
}

TEST_CASE("a fold over what another gives comes after it") {
  Rows rows(1);
  const Val most = rows.fold(ReduceKind::Max);
  rows.store(0, rows.fold(ReduceKind::Sum, most));
  fusion::LoweredKernel k = rows.finish();
  const Bytes expected = Rows::run(k);
  fusion::fuse_siblings(k);
  CHECK(Rows::run(k) == expected);
  CHECK(count(k.kernel, ir::Op::Reduce) == 2);
}

TEST_CASE("of three folds the two that do not wait for each other meet") {
  Rows rows(2);
  const Val most = rows.fold(ReduceKind::Max);
  const Val spread = rows.fold(ReduceKind::Sum, most);
  const Val least = rows.fold(ReduceKind::Min);
  rows.store(0, spread);
  rows.store(1, least);
  fusion::LoweredKernel k = rows.finish();
  const Bytes expected = Rows::run(k);
  fusion::fuse_siblings(k);
  CHECK(Rows::run(k) == expected);
  CHECK(count(k.kernel, ir::Op::Reduce) == 2);
}

TEST_CASE("folds over other ranges stay apart") {
  Rows rows(2);
  rows.store(0, rows.fold(ReduceKind::Sum));
  rows.store(1, rows.fold(ReduceKind::Sum, ir::kNone, rows.b.constant_index(kColumns - 1)));
  fusion::LoweredKernel k = rows.finish();
  const Bytes expected = Rows::run(k);
  fusion::fuse_siblings(k);
  CHECK(Rows::run(k) == expected);
  CHECK(count(k.kernel, ir::Op::Reduce) == 2);
}

TEST_CASE("the components of a force fold side by side in a recorded nest") {
  const tracer::All all;
  const tracer::NewAxis one;
  const Array p = array({12, 3}), m = array({12, 12});
  const Array d = apply(OpId::Subtract, view(p, {one, all, all}), view(p, {all, one, all}));
  Recorded r(reduce(ReduceKind::Sum, apply(OpId::Multiply, d, view(m, {all, all, one})), 1));
  const Bytes expected = r.run();
  REQUIRE(count(r.lowered.kernel, ir::Op::Reduce) == 3);
  fusion::eliminate_common(r.lowered.kernel);  // one length
  fusion::fuse_siblings(r.lowered);
  CHECK(r.run() == expected);
  CHECK(count(r.lowered.kernel, ir::Op::Reduce) == 1);
}
