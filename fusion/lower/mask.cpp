// Blocks of scores that the mask of an attention leaves out. They would add the exponential of what
// stands in their place to the sums, times the rows of the second operand: where that is zero,
// because the first is and the second is finite, they are not computed. Whether it is shows only
// when the maxima are known: a second pass over the blocks computes what the first has left out,
// where it counts after all.
#include <algorithm>

#include "attention_nest.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::NodeKind;

namespace {

bool compares(OpId fn) {
  return fn == OpId::Less || fn == OpId::LessEqual || fn == OpId::Greater ||
         fn == OpId::GreaterEqual;
}
bool sums(OpId fn) { return fn == OpId::Add || fn == OpId::Subtract; }

bool is_vector(const Numbers& shape) {
  return std::count_if(shape.begin(), shape.end(), [](const Number& e) { return e != 1; }) == 1;
}

}  // namespace

Val AttentionNest::either(Val a, Val b) { return apply(OpId::LogicalOr, DType::Bool, a, b); }

// How many index vectors along rows and along columns the number is a sum of, two for more than
// one; nothing for any other number.
std::optional<std::pair<int, int>> AttentionNest::indices_summed(std::int32_t id,
                                                                 IndicesSummed& known) const {
  id = in_.canon[id];
  const Node& n = node(id);
  if (n.elements == 1) return {{0, 0}};
  if (n.kind == NodeKind::Elementwise && sums(n.fn) &&
      (n.dtype == DType::Int64 || is_float(n.dtype))) {
    if (const auto at = known.find(id); at != known.end()) return at->second;
    const auto a = indices_summed(g_[id].in[0], known);
    const auto b = a ? indices_summed(g_[id].in[1], known) : a;
    auto& sum = known[id];
    if (b) sum = {std::min(2, a->first + b->first), std::min(2, a->second + b->second)};
    return sum;
  }
  if (!is_vector(n.extents)) return {};
  std::int32_t base = id;
  while (!g_[base].leaf &&
         (node(base).kind == NodeKind::View || node(base).kind == NodeKind::Cast)) {
    // One of several axes may lay the numbers out in another order.
    if (node(base).kind == NodeKind::Cast &&
        ((node(base).dtype != DType::Int64 && !is_float(node(base).dtype)) ||
         !is_vector(node(base).extents)))
      return {};
    base = in_.canon[g_[base].in[0]];
  }
  if (g_[base].leaf || node(base).kind != NodeKind::Iota) return {};
  const int rows = n.extents.size() - 2, columns = n.extents.size() - 1;
  return {{rows >= 0 && n.extents[rows] != 1, n.extents[columns] != 1}};
}

// Whether the mask is `wanted` anywhere in the block; true where that is not sure.
Val AttentionNest::may_be(std::int32_t id, bool wanted, std::int32_t ctx) {
  const AxisTile &rows = rows_, &keys = keys_;
  std::map<std::pair<std::int32_t, bool>, Val> known;
  IndicesSummed summed;
  const auto look = [&](const auto& self, std::int32_t at, bool is) -> Val {
    at = in_.canon[at];
    if (const auto k = known.find({at, is}); k != known.end()) return k->second;
    const Node& n = node(at);
    const auto answer = [&]() -> Val {
      if (in_.in_memory[at] || n.kind != NodeKind::Elementwise || n.dtype != DType::Bool)
        return any_in_block(at, is, rows, keys, ctx);
      const std::int32_t a = g_[at].in[0], b = g_[at].in[1];
      const bool flags = node(a).dtype == DType::Bool;
      if (n.fn == OpId::LogicalNot && flags) return self(self, a, !is);
      const bool both = n.fn == OpId::LogicalAnd || n.fn == OpId::BitwiseAnd,
                 one = n.fn == OpId::LogicalOr || n.fn == OpId::BitwiseOr;
      if (flags && (both || one)) {
        const Val first = self(self, a, is), second = self(self, b, is);
        return apply(both == is ? OpId::LogicalAnd : OpId::LogicalOr, DType::Bool, first, second);
      }
      if (!compares(n.fn) || rows.split + 1 != rows.last)
        return any_in_block(at, is, rows, keys, ctx);
      const auto l = indices_summed(a, summed), r = indices_summed(b, summed);
      return l && r && l->first + r->first <= 1 && l->second + r->second <= 1
                 ? at_corners(at, is, ctx)
                 : any_in_block(at, is, rows, keys, ctx);
    };
    return known[{at, is}] = answer();
  };
  return look(look, id, wanted);
}

// What is monotone along both axes is anywhere what it is in one of the corners.
Val AttentionNest::at_corners(std::int32_t id, bool wanted, std::int32_t ctx) {
  Val found = kNone;
  for (const bool bottom : {false, true})
    for (const bool right : {false, true}) {
      const auto end_of = [&](AxisTile l, bool last) {
        const Val one = constant(scalar_int(1));
        if (last)
          l.begin = integer(OpId::Subtract, l.end, one);
        else
          l.end = integer(OpId::Add, l.begin, one);
        l.most = ex_.one();
        return l;
      };
      const Val v = any_in_block(id, wanted, end_of(rows_, bottom), end_of(keys_, right), ctx);
      found = found == kNone ? v : either(found, v);
    }
  return found;
}

Val AttentionNest::any_in_block(std::int32_t id, bool wanted, AxisTile rows, AxisTile keys,
                                std::int32_t ctx) {
  const int skipped = static_cast<int>(tile_.batch.size()) - node(id).extents.size();
  Index idx = tile_.batch;
  std::vector<std::int32_t> opened;
  for (AxisTile* l : {&rows, &keys}) {
    if (const int d = l->split - skipped; d < 0 || node(id).extents[d] == 1) {
      l->end = integer(OpId::Add, l->begin, constant(scalar_int(1)));
      l->most = ex_.one();
    }
    ctx = l->open(ctx, opened);
    for (int d = l->split; d < l->last; ++d)
      idx[static_cast<std::size_t>(d)].loop =
          opened[opened.size() - static_cast<std::size_t>(l->last - d)];
  }
  Val v = values_.emit(id, broadcast(id, idx), ctx);
  if (!wanted) v = apply(OpId::LogicalNot, DType::Bool, v);
  return any(v, opened);
}

// Folds over the loops and closes them.
Val AttentionNest::any(Val v, const std::vector<std::int32_t>& loops) {
  for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
    if (nest_.def_loop_[v] != *l)
      v = push({Op::Cast, DType::Bool, OpId::Count_, 0, {v, kNone, kNone}}, *l);
    k_.loops[*l].reductions.push_back({ReduceKind::Any, v});
    const std::int32_t ctx = nest_.parent_[*l];
    v = push({Op::Result, DType::Bool, OpId::Count_, 0, {close(*l), kNone, kNone}}, ctx);
  }
  return v;
}

// A first pass over blocks that are not left out, a second over the others, if they count.
void AttentionNest::add_masked_blocks(std::int32_t ctx) {
  const auto open_if = [&](Val condition, std::int32_t around) {
    return open_between(around, kNone, cast(condition, DType::Int64), ex_.one(), 1);
  };
  const Val none = constant(scalar_int(0));
  const std::int32_t pass = open_between(ctx, kNone, constant(scalar_int(2)), ex_.constant(2), 1);
  const Val again = apply(OpId::NotEqual, DType::Bool, k_.loops[pass].var, none);
  AxisTile rows = rows_;
  rows.end = apply(OpId::Where, DType::Int64, again, rows.end, rows.begin);
  std::vector<std::int32_t> opened{
      open_if(either(apply(OpId::LogicalNot, DType::Bool, again), fill_counts(rows, pass)), pass)};
  const std::int32_t block = keys_.open_blocks(opened[0], opened);
  const Val now = apply(OpId::LogicalXor, DType::Bool, counts_at_once(block), again);
  opened.push_back(open_if(now, block));
  add_block(opened.back());
  close_all(opened);
  close(pass);
}

// Whether a block has to be computed whatever the maxima are.
Val AttentionNest::counts_at_once(std::int32_t ctx) {
  const Val seen = may_be(of_.mask, !of_.inverted, ctx);
  AxisTile hidden = keys_;
  hidden.begin = apply(OpId::Where, DType::Int64, seen, hidden.end, hidden.begin);
  return either(seen, any_infinite(hidden, ctx));
}

// Whether the rows of the values hold what is not finite.
Val AttentionNest::any_infinite(const AxisTile& keys, std::int32_t ctx) {
  Val found = kNone;
  for (const std::int32_t of : of_.products) {
    const std::int32_t values = of_.values(g_, of);
    std::vector<std::int32_t> opened;
    AxisTile(nest_, values, of_.column_axis(g_), 1).open(keys.open(ctx, opened), opened);
    Index idx = tile_.batch;
    idx[static_cast<std::size_t>(of_.row_axis(g_))] = {opened.front()};
    idx[static_cast<std::size_t>(of_.column_axis(g_))] = {opened.back()};
    const Val value = cast(values_.emit(values, idx, opened.back()), node(of).dtype);
    const Val finite = apply(OpId::Isfinite, DType::Bool, value);
    const Val v = any(apply(OpId::LogicalNot, DType::Bool, finite), opened);
    found = found == kNone ? v : either(found, v);
  }
  return found;
}

// Whether what stands in place of the scores left out counts in some of these rows: in a weight, or
// in what is folded.
Val AttentionNest::fill_counts(const AxisTile& rows, std::int32_t ctx) {
  stage_ = Hidden;
  const std::vector<std::int32_t> opened = open_rows_of(rows, keys_, ctx);
  const auto hidden = [&](std::int32_t id) { return values_.emit(id, between(), tile_.rows); };
  const auto differs = [&](Val v, Val from) { return apply(OpId::NotEqual, DType::Bool, v, from); };
  const DType t = node(region_.product).dtype;
  Val counts = differs(cast(hidden(of_.weights), t), zero(t));
  for (std::size_t f = 0; f < folds_.size(); ++f) {
    const Node& n = node(of_.folds[f].node);
    const Val v = hidden(g_[of_.folds[f].node].in[0]);
    Val before = zero(n.dtype), now = v;
    if (n.reduce != ReduceKind::Sum) {
      before = load_row(folds_[f].value);
      now = apply(reduce_info(n.reduce).combine, n.dtype, before, v);
    }
    counts = either(counts, differs(now, before));
  }
  return any(counts, opened);
}

}  // namespace plait::fusion
