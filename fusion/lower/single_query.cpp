// An attention of one row: each key and value is read once, where it lies, by loops. Packed for
// fragments they would go through memory twice.
#include "attention_nest.hpp"

namespace plait::fusion {
using namespace ir;

// The query times each key of a block.
void AttentionNest::score_keys(std::int32_t ctx) {
  const std::int32_t operand = of_.keys(g_);
  const DType t = k_.locals[scores_].dtype;
  const auto at_sums = static_cast<std::size_t>(node(operand).extents.size() - 2 + of_.queries);
  std::vector<std::int32_t> opened;
  const std::int32_t column = keys_.open(ctx, opened);
  const std::int32_t k =
      open(column, ex_.source({operand, Field::Shape, static_cast<std::int32_t>(at_sums)}));
  Index idx = tile_.batch;
  idx.resize(idx.size() - 2);
  idx.insert(idx.end(), 2, {column});
  idx[at_sums].loop = k;
  const Val q = load_local(queries_.local, {{}, {{k_.loops[k].var, {1, kNoParam}}}}, k);
  const Val product = apply(OpId::Multiply, t, cast(q, t), cast(values_.emit(operand, idx, k), t));
  k_.loops[k].reductions.push_back({ReduceKind::Sum, product, ir::Order::Pairwise});
  const Val reduce = close(k);
  const Val sum = push({Op::Result, t, OpId::Count_, 0, {reduce, kNone, kNone}}, column);
  Access at;
  tile_.own = tile_.batch;
  own_index(keys_, opened);
  keys_.add_terms(at, tile_.own, ex_.one());
  push_store_local(scores_, std::move(at), sum, column);
  close(column);
}

// The weights of a block times its values. Their sum is added to the row's, as sums of blocks are:
// a single chain of sums would round more often.
void AttentionNest::add_values(std::int32_t product, std::int32_t ctx) {
  const std::int32_t operand = of_.values(g_, product), sums = tile_.locals.at(product);
  const DType t = k_.locals[sums].dtype;
  const ExprId width = ex_.source({product, Field::Shape, of_.column_axis(g_)});
  const std::int32_t part =
      nest_.place({product, PlaceLevel::BlockOfKeys, "sums of blocks are added"}, t, width, ctx);
  const auto at = [&](std::int32_t loop) {
    return Access{{}, {{k_.loops[loop].var, {1, kNoParam}}}};
  };
  // A sum, or zero, in each column.
  const auto store = [&](std::int32_t to, std::int32_t column, Val v) {
    push_store_local(to, at(column), v, column);
    close(column);
  };
  std::int32_t column = open(ctx, width);
  store(part, column, zero(t));
  std::vector<std::int32_t> opened;
  const std::int32_t key = keys_.open(ctx, opened);
  tile_.own = tile_.batch;
  own_index(keys_, opened);
  Access weight;
  keys_.add_terms(weight, tile_.own, ex_.one());
  const Val w = cast(load_local(weights_, std::move(weight), key), t);
  column = open(key, width);
  Index idx = tile_.batch;
  idx[static_cast<std::size_t>(of_.row_axis(g_))] = {key};
  idx[static_cast<std::size_t>(of_.column_axis(g_))] = {column};
  const Val v = apply(OpId::Multiply, t, w, cast(values_.emit(operand, idx, column), t));
  store(part, column, apply(OpId::Add, t, load_local(part, at(column), column), v));
  close(key);
  column = open(ctx, width);
  store(sums, column,
        apply(OpId::Add, t, load_local(sums, at(column), column),
              load_local(part, at(column), column)));
}

}  // namespace plait::fusion
