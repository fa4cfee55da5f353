// Blocks of scores that the mask of an attention leaves out. They would add the exponential of what
// stands in their place to the sums, times the rows of the second operand: where that is zero,
// because the first is and the second is finite, they are not computed. Whether it is shows only
// when the maxima are known: a second pass over the blocks computes what the first has left out,
// where it counts after all.
#include <algorithm>

#include "lowering.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::Node;
using tracer::NodeKind;

namespace {

bool compares(OpId fn) {
  return fn == OpId::Less || fn == OpId::LessEqual || fn == OpId::Greater ||
         fn == OpId::GreaterEqual;
}
bool sums(OpId fn) { return fn == OpId::Add || fn == OpId::Subtract; }

bool is_vector(const Dims& shape) {
  return std::count_if(shape.begin(), shape.end(), [](std::int64_t e) { return e != 1; }) == 1;
}

}  // namespace

Val Lowering::either(Val a, Val b) { return apply(OpId::LogicalOr, DType::Bool, a, b); }

// How many index vectors along rows and along columns the number is a sum of, two for more than
// one; nothing for any other number.
std::optional<std::pair<int, int>> Lowering::indices_summed(std::int32_t id,
                                                            IndicesSummed& known) const {
  id = in_.canon[id];
  const Node& n = node(id);
  if (element_count(n.shape) == 1) return {{0, 0}};
  if (n.kind == NodeKind::Elementwise && sums(n.fn) &&
      (n.dtype == DType::Int64 || is_float(n.dtype))) {
    if (const auto at = known.find(id); at != known.end()) return at->second;
    const auto a = indices_summed(g_[id].in[0], known);
    const auto b = a ? indices_summed(g_[id].in[1], known) : a;
    auto& sum = known[id];
    if (b) sum = {std::min(2, a->first + b->first), std::min(2, a->second + b->second)};
    return sum;
  }
  if (!is_vector(n.shape)) return {};
  std::int32_t base = id;
  while (!g_[base].leaf &&
         (node(base).kind == NodeKind::View || node(base).kind == NodeKind::Cast)) {
    // One of several axes may lay the numbers out in another order.
    if (node(base).kind == NodeKind::Cast &&
        ((node(base).dtype != DType::Int64 && !is_float(node(base).dtype)) ||
         !is_vector(node(base).shape)))
      return {};
    base = in_.canon[g_[base].in[0]];
  }
  if (g_[base].leaf || node(base).kind != NodeKind::Iota) return {};
  const int rows = n.shape.size() - 2, columns = n.shape.size() - 1;
  return {{rows >= 0 && n.shape[rows] != 1, n.shape[columns] != 1}};
}

// Whether the mask is `wanted` anywhere in the block; true where that is not sure.
Val Lowering::may_be(std::int32_t id, bool wanted, const Range& rows, const Range& keys,
                     std::int32_t ctx) {
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
      if (!compares(n.fn)) return any_in_block(at, is, rows, keys, ctx);
      const auto l = indices_summed(a, summed), r = indices_summed(b, summed);
      return l && r && l->first + r->first <= 1 && l->second + r->second <= 1
                 ? at_corners(at, is, rows, keys, ctx)
                 : any_in_block(at, is, rows, keys, ctx);
    };
    return known[{at, is}] = answer();
  };
  return look(look, id, wanted);
}

// What is monotone along both axes is anywhere what it is in one of the corners.
Val Lowering::at_corners(std::int32_t id, bool wanted, const Range& rows, const Range& keys,
                         std::int32_t ctx) {
  const Val one = constant(scalar_int(1));
  Val found = kNone;
  for (const bool bottom : {false, true})
    for (const bool right : {false, true}) {
      const auto end_of = [&](const Range& r, bool last) {
        return last ? Range{integer(OpId::Subtract, r.end, one), r.end}
                    : Range{r.begin, integer(OpId::Add, r.begin, one)};
      };
      const Val v = any_in_block(id, wanted, end_of(rows, bottom), end_of(keys, right), ctx);
      found = found == kNone ? v : either(found, v);
    }
  return found;
}

Val Lowering::any_in_block(std::int32_t id, bool wanted, const Range& rows, const Range& keys,
                           std::int32_t ctx) {
  const Dims& shape = node(id).shape;
  const Val one = constant(scalar_int(1));
  const auto range = [&](const Range& r, int from_right) {
    const bool same = shape.size() < from_right || shape[shape.size() - from_right] == 1;
    return same ? Range{r.begin, integer(OpId::Add, r.begin, one)} : r;
  };
  const std::int32_t i = open_range(ctx, range(rows, 2)), j = open_range(i, range(keys, 1));
  Index idx = tile_.batch;
  idx[idx.size() - 2].loop = i;
  idx.back().loop = j;
  Val v = emit(id, broadcast(id, idx), j);
  if (!wanted) v = apply(OpId::LogicalNot, DType::Bool, v);
  return any(any(v, j), i);
}

// Folds over the loop and closes it.
Val Lowering::any(Val v, std::int32_t loop) {
  if (def_loop_[v] != loop)
    v = push({Op::Cast, DType::Bool, OpId::Count_, 0, {v, kNone, kNone}}, loop);
  k_.loops[loop].reductions.push_back({ReduceKind::Any, v});
  const std::int32_t ctx = parent_[loop];
  return push({Op::Result, DType::Bool, OpId::Count_, 0, {close(loop), kNone, kNone}}, ctx);
}

// Whether a block has to be computed whatever the maxima are.
Val Lowering::counts_at_once(const RowBlock& b, const Range& keys, std::int32_t ctx) {
  const BlockFolds& s = *folds_;
  const Range rows{b.first, b.last, s.height, ex_.constant(s.height),
                   static_cast<double>(s.height)};
  const Val seen = may_be(s.of.mask, !s.of.inverted, rows, keys, ctx);
  const Range hidden{apply(OpId::Where, DType::Int64, seen, keys.end, keys.begin), keys.end,
                     keys.now, keys.most, keys.trips};
  return either(seen, any_infinite(b, hidden, ctx));
}

// Whether the rows of the second operand hold what is not finite.
Val Lowering::any_infinite(const RowBlock& b, const Range& keys, std::int32_t ctx) {
  const std::int32_t values = g_[region_.product].in[1];
  const std::int32_t i = open_range(ctx, keys);
  const std::int32_t j = open(i, ex_.source({values, Field::Shape, node(values).shape.size() - 1}));
  Index idx = b.batch;
  idx[idx.size() - 2].loop = i;
  idx.back().loop = j;
  const Val finite = apply(OpId::Isfinite, DType::Bool, emit(values, idx, j));
  return any(any(apply(OpId::LogicalNot, DType::Bool, finite), j), i);
}

// Whether in some row what stands in place of the scores left out counts.
Val Lowering::fill_counts(const RowBlock& b, Val last, std::int32_t ctx) {
  const BlockFolds& s = *folds_;
  const DType t = node(s.of.fill).dtype;
  const std::int32_t row = open_range(ctx, {b.first, last, s.height, ex_.constant(s.height)});
  const Val fill = emit(s.of.fill, Index(node(s.of.fill).shape.size()), row);
  Val least = fill, above = kNone;
  if (!s.of.shifts.empty()) {
    least = apply(OpId::Subtract, t, fill, shift_of(load_row(s.shifts[0].row, row)));
    above =
        apply(OpId::Less, DType::Bool, load_row(s.folds[s.of.shifts[0].maximum].value, row), fill);
  }
  const Val weight = apply(s.of.exponential, t, apply(OpId::Minimum, t, least, zero(t)));
  Val counts = apply(OpId::NotEqual, DType::Bool, weight, zero(t));
  if (above != kNone) counts = either(counts, above);
  return any(counts, row);
}

}  // namespace plait::fusion
