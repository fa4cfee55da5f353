// An attention of one row: each key and value is read once, where it lies, by loops. Packed for
// fragments they would go through memory twice.
#include "lowering.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::Node;

// The query times each key of a block.
void Lowering::score_keys(const Rows& queries, const RowBlock& b, const Range& keys,
                          std::int32_t ctx) {
  const BlockFolds& s = *folds_;
  const std::int32_t operand = g_[s.of.scores].in[1];
  const DType t = k_.locals[s.scores.c].dtype;
  const int dims = node(operand).shape.size();
  const std::int32_t column = open_range(ctx, keys);
  const std::int32_t k = open(column, ex_.source({operand, Field::Shape, dims - 2}));
  Index idx = b.batch;
  idx[static_cast<std::size_t>(dims - 2)].loop = k;
  idx[static_cast<std::size_t>(dims - 1)].loop = column;
  Inst query{Op::LoadLocal, node(operand).dtype, OpId::Count_, queries.local};
  query.access = access({{}, {{k_.loops[k].var, {1, ir::kNoParam}}}});
  const Val q = cast(push(query, k), t);
  const Val product = apply(OpId::Multiply, t, q, cast(emit(operand, idx, k), t));
  k_.loops[k].reductions.push_back({ReduceKind::Sum, product, ir::Order::Pairwise});
  const Val reduce = close(k);
  const Val sum = push({Op::Result, t, OpId::Count_, 0, {reduce, kNone, kNone}}, column);
  push_store_local(
      s.scores.c,
      {{}, {{k_.loops[column].var, {1, ir::kNoParam}}, {keys.begin, {-1, ir::kNoParam}}}}, sum,
      column);
  close(column);
}

void Lowering::clear_local(std::int32_t local, ExprId extent, std::int32_t ctx) {
  const std::int32_t i = open(ctx, extent);
  push_store_local(local, {{}, {{k_.loops[i].var, {1, ir::kNoParam}}}},
                   zero(k_.locals[static_cast<std::size_t>(local)].dtype), i);
  close(i);
}

// The weights of a block times its values. Their sum is added to the row's, as sums of blocks are:
// a single chain of sums would round more often.
void Lowering::add_values(const RowBlock& b, const Range& keys, std::int32_t ctx) {
  const BlockFolds& s = *folds_;
  const std::int32_t operand = g_[region_.product].in[1];
  const DType t = k_.locals[tile_.c].dtype;
  const int dims = node(operand).shape.size();
  const ExprId width = ex_.source({region_.product, Field::Shape, dims - 1});
  const std::int32_t part = local(t, width, ctx);
  clear_local(part, width, ctx);
  const auto at = [&](std::int32_t from, std::int32_t loop) {
    Inst i{Op::LoadLocal, t, OpId::Count_, from};
    i.access = access({{}, {{k_.loops[loop].var, {1, ir::kNoParam}}}});
    return push(i, loop);
  };
  const std::int32_t key = open_range(ctx, keys);
  Inst weight{Op::LoadLocal, node(operand).dtype, OpId::Count_, s.weights};
  weight.access =
      access({{}, {{k_.loops[key].var, {1, ir::kNoParam}}, {keys.begin, {-1, ir::kNoParam}}}});
  const Val w = cast(push(weight, key), t);
  std::int32_t column = open(key, width);
  Index idx = b.batch;
  idx[static_cast<std::size_t>(dims - 2)].loop = key;
  idx[static_cast<std::size_t>(dims - 1)].loop = column;
  const Val v = apply(OpId::Multiply, t, w, cast(emit(operand, idx, column), t));
  push_store_local(part, {{}, {{k_.loops[column].var, {1, ir::kNoParam}}}},
                   apply(OpId::Add, t, at(part, column), v), column);
  close(column);
  close(key);
  column = open(ctx, width);
  push_store_local(tile_.c, {{}, {{k_.loops[column].var, {1, ir::kNoParam}}}},
                   apply(OpId::Add, t, at(tile_.c, column), at(part, column)), column);
  close(column);
}

}  // namespace plait::fusion
