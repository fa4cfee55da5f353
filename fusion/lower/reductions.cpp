#include "reductions.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "fusion/graph/ordered_product.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::NodeKind;

Val Reductions::value(std::int32_t id, const Node& n, const Index& idx) {
  const std::int32_t at = innermost(idx);
  if (!nest_.builds_ && !reduced_here(id, n, idx, at)) return zero(n.dtype);
  return reduce_at(id, n, g_[id].in[0], idx, at);
}

bool Reductions::reduced_here(std::int32_t id, const Node& n, const Index& idx, std::int32_t at) {
  double again = 1;
  bool shared = false;  // the chunks have the iterations of a loop between them
  for (std::int32_t l = at; l > 0; l = nest_.parent_[l]) {
    shared |= nest_.chunked_ && k_.loops[l].begin != kNone;
    // Itself, or a loop over the block that it is at.
    const bool bound = std::any_of(idx.begin(), idx.end(), [&](const AxisIndex& i) {
      if (i.loop < 0 || i.loop == l) return i.loop == l;
      const Val begin = k_.loops[i.loop].begin;
      return begin != kNone && nest_.def_loop_[begin] == l;
    });
    if (!bound) again *= nest_.trips_[l];
  }
  if (at != 0 && !shared &&
      std::none_of(idx.begin(), idx.end(), [](const AxisIndex& i) { return i.loop == 0; }))
    again *= nest_.trips_[0];
  const Node& on = node(g_[id].in[0]);
  const double fold = on.elements.cost() / std::max(1.0, n.elements.cost());
  const bool free_index =
      std::none_of(idx.begin(), idx.end(), [](const AxisIndex& i) { return i.loop >= 0; });
  if (free_index && region_.over_elements() && !is_root(in_, region_, id) && nest_.trips_[0] > 1)
    again = nest_.trips_[0];
  if (region_.order == FoldOrder::Chunks && !is_root(in_, region_, id))
    again *= free_index ? 64 : 1;
  if (region_.product >= 0 && free_index) again *= 64;
  if (again > 1 && (in_.reuse == Reuse::ByCost ? fold > in_.target.machine->recompute
                                               : in_.reuse == Reuse::Store)) {
    values_.need(id, "it would be reduced again for each iteration of another loop");
    return false;
  }
  if (!is_root(in_, region_, id) && on.elements / n.elements > kLongRow &&
      in_.target.spreads(n, in_.facts.number(out_.grid_extent))) {
    values_.need(id, "its reduction is long and needs all threads");
    return false;
  }
  return true;
}

Val Reductions::reduce_at(std::int32_t id, const Node& n, std::int32_t operand, const Index& idx,
                          std::int32_t at) {
  const Node& on = node(operand);
  Index oi(on.extents.size());
  int o = 0;
  for (int d = 0; d < on.extents.size(); ++d)
    if (std::find(n.axes.begin(), n.axes.end(), d) == n.axes.end()) oi[d] = idx[o++];
  std::vector<int> reduced;
  for (int d : by_width(on.extents, on.byte_strides))
    if (std::find(n.axes.begin(), n.axes.end(), d) != n.axes.end()) reduced.push_back(d);
  if (reduced.size() > 1 && n.reduce == ReduceKind::Sum && !is_integer(n.dtype))
    return from_zero(id, short_block(id, oi, reduced, at));
  return from_zero(id, fold(id, oi, reduced, at, nullptr));
}

// What lies in memory in one piece is one long loop (collapse), also where its innermost axis is
// short enough to be unrolled. Products whose order does not show, each of which waits for the one
// before, are better off with a row at a time.
Val Reductions::fold(std::int32_t id, Index& oi, const std::vector<int>& reduced, std::int32_t ctx,
                     const Chunk* chunk) {
  const Node& n = node(id);
  const bool product = multiplied_in_order(n), in_order = product && in_.target.ordered_products;
  const bool walk = reduced.size() > 1 && (in_order || !product) && one_walk(id, reduced);
  if (in_order && reduced.size() > 1 && !walk) {
    values_.need(g_[id].in[0], "its elements are multiplied in order");
    return zero(n.dtype);
  }
  // float16 is rounded after the last factor, not after each.
  const bool rounds_once = in_order && n.dtype == DType::Float16;
  const bool before = std::exchange(loops_only_, loops_only_ || walk || rounds_once);
  const Val v = reduce_loops(id, oi, reduced, 0, ctx, chunk);
  loops_only_ = before;
  return v;
}

Reductions::Folded Reductions::fold_chunk(std::int32_t id, Index& idx,
                                          const std::vector<int>& reduced, std::int32_t ctx,
                                          const Chunk& chunk) {
  extreme_ = kNone;
  const Val v = from_zero(id, fold(id, idx, reduced, ctx, &chunk));
  return {v, extreme_};
}

bool Reductions::one_walk(std::int32_t id, const std::vector<int>& axes) const {
  const Numbers& shape = node(g_[id].in[0]).extents;
  auto contiguous = [&](const Numbers& strides) {
    for (std::size_t a = 1; a < axes.size(); ++a)
      if (strides[axes[a - 1]] != strides[axes[a]] * shape[axes[a]]) return false;
    return true;
  };
  std::set<std::int32_t> seen;
  std::vector<std::int32_t> stack{g_[id].in[0]};
  if (g_[id].in[1] >= 0) stack.push_back(g_[id].in[1]);
  while (!stack.empty()) {
    const std::int32_t i = in_.canon[stack.back()];
    stack.pop_back();
    const Node& n = node(i);
    if (!seen.insert(i).second || n.kind == NodeKind::Scalar) continue;
    if (n.kind == NodeKind::Fill && !in_.in_memory[i]) continue;
    if (n.elements != 1 && n.extents != shape) return false;
    const bool view = n.kind == NodeKind::View && !in_.in_memory[i];
    if (in_.in_memory[i] || (view && in_.in_memory[in_.canon[g_[i].in[0]]])) {
      if (n.extents == shape && !contiguous(n.byte_strides)) return false;
    } else if (n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast) {
      for (std::int32_t in : g_[i].in)
        if (in >= 0) stack.push_back(in);
    } else if (n.kind == NodeKind::Gather) {
      if (n.extents == shape && !contiguous(n.view_byte_strides)) return false;
      stack.push_back(g_[i].in[1]);
    } else {
      return false;
    }
  }
  return true;
}

Val Reductions::from_zero(std::int32_t id, Val v) {
  const Node& n = node(id);
  if (n.reduce != ReduceKind::Sum || !(is_float(n.dtype) || is_complex(n.dtype)) ||
      (in_.non_negative[g_[id].in[0]] && node(g_[id].in[0]).elements > 0))
    return v;
  return apply(OpId::Add, k_.insts[v].type, v, zero(k_.insts[v].type));
}

Val Reductions::from_one(const Node& n, Val v) {
  const DType t = k_.insts[v].type;
  if (n.reduce != ReduceKind::Prod || !is_complex(t)) return v;
  return apply(OpId::Multiply, t, constant(Nest::cast_scalar(1, t)), v);
}

Val Reductions::short_block(std::int32_t id, Index& oi, const std::vector<int>& reduced,
                            std::int32_t at) {
  const Node& n = node(id);
  const std::int32_t operand = g_[id].in[0];
  const Numbers& shape = node(operand).extents;
  Number count = 1;
  for (int d : reduced) count *= shape[d];
  if (count == 0 || count > kShort) {
    const bool before = std::exchange(loops_only_, true);
    const Val v = reduce_loops(id, oi, reduced, 0, at, nullptr);
    loops_only_ = before;
    return v;
  }
  std::vector<Val> terms;
  for (std::int64_t c = 0; c < count.known(); ++c) {
    std::int64_t rest = c;
    for (auto d = reduced.rbegin(); d != reduced.rend(); ++d) {
      oi[*d] = {-1, ex_.one(), ex_.constant(rest % shape[*d].known())};
      rest /= shape[*d].known();
    }
    terms.push_back(operand_value(id, oi, at));
  }
  return fold_terms(n, terms, pairwise_axis(n, operand, reduced.back()));
}

Val Reductions::reduce_loops(std::int32_t id, Index& oi, const std::vector<int>& reduced,
                             std::size_t i, std::int32_t ctx, const Chunk* chunk) {
  const Node& n = node(id);
  const std::int32_t operand = g_[id].in[0];
  if (i == reduced.size()) {
    // The index along an axis of one element.
    if (i == 0 && is_arg(n.reduce)) return constant(scalar_int(0));
    const Val v = operand_value(id, oi, ctx);
    return i == 0 ? from_one(n, v) : v;
  }
  const int d = reduced[i];
  const bool arg = is_arg(n.reduce);
  const ExprId extent = ex_.source({operand, Field::Shape, d});
  const Number& count = node(operand).extents[d];
  if (!arg && !chunk && !loops_only_ && count <= kShort && count > 0) {
    std::vector<Val> terms;
    for (std::int64_t c = 0; c < count.known(); ++c) {
      oi[d] = {-1, ex_.one(), ex_.constant(c)};
      terms.push_back(reduce_loops(id, oi, reduced, i + 1, ctx, nullptr));
    }
    return fold_terms(n, terms, pairwise_axis(n, operand, d));
  }
  std::int32_t l = open(ctx, extent);
  if (chunk) {
    k_.loops[l].begin = chunk->begin;
    k_.loops[l].end = chunk->end;
  } else if (count <= kShort && !loops_only_) {
    k_.loops[l].scope = ir::Scope::Unrolled;
  }
  oi[d] = {l, ex_.one(), ex_.zero()};
  ir::Reduction r{n.reduce, kNone, ir::Order::Any, false};
  if (arg) {
    r.value = arg_value(id, oi, l, r.guarded_sqrt);
  } else {
    r.value = reduce_loops(id, oi, reduced, i + 1, l, nullptr);
    if (n.reduce == ReduceKind::Sum && !is_integer(n.dtype) && n.dtype != DType::Bool)
      r.order = pairwise_axis(n, operand, d) ? ir::Order::Pairwise : ir::Order::Sequential;
    if (n.reduce == ReduceKind::Prod && !is_integer(n.dtype)) r.order = ir::Order::Sequential;
  }
  // A value that no loop binds (a fill) still has to be the body's own.
  if (nest_.def_loop_[r.value] != l)
    r.value = push({Op::Cast, k_.insts[r.value].type, OpId::Count_, 0, {r.value, kNone, kNone}}, l);
  k_.loops[l].reductions.push_back(r);
  if (arg && chunk)
    k_.loops[l].reductions.push_back(
        {reduce_info(n.reduce).values, r.value, ir::Order::Any, false});
  Val reduce = close(l);
  Val result = push({Op::Result,
                     arg ? DType::Int64 : k_.insts[r.value].type,
                     OpId::Count_,
                     0,
                     {reduce, kNone, kNone}},
                    ctx);
  if (arg && chunk)
    extreme_ =
        push({Op::Result, k_.insts[r.value].type, OpId::Count_, 1, {reduce, kNone, kNone}}, ctx);
  return result;
}

Val Reductions::operand_value(std::int32_t id, const Index& oi, std::int32_t ctx) {
  const Node& n = node(id);
  Val v = values_.emit(g_[id].in[0], oi, ctx);
  if (reduce_info(n.reduce).has(kOfTruth))
    v = cast(v, DType::Bool);
  else if (!is_arg(n.reduce))
    v = cast(v, n.dtype);
  if (g_[id].in[1] >= 0) {
    Val m = values_.emit(g_[id].in[1], broadcast(g_[id].in[1], oi), ctx);
    Val neutral =
        constant(plait::cast(fold_identity(n.reduce, k_.insts[v].type), k_.insts[v].type));
    v = apply(OpId::Where, k_.insts[v].type, m, v, neutral);
  }
  return v;
}

Val Reductions::arg_value(std::int32_t id, const Index& oi, std::int32_t ctx, bool& guarded) {
  std::int32_t operand = in_.canon[g_[id].in[0]];
  const Node& on = node(operand);
  const bool in_chunks = region_.order == FoldOrder::Chunks && is_root(in_, region_, id);
  if (!in_chunks && !in_.in_memory[operand] && on.kind == NodeKind::Elementwise &&
      on.fn == OpId::Sqrt && (on.dtype == DType::Float64 || on.dtype == DType::Float32) &&
      in_.non_negative[g_[operand].in[0]]) {
    guarded = true;
    return values_.emit(g_[operand].in[0], oi, ctx);
  }
  return operand_value(id, oi, ctx);
}

Val Reductions::fold_terms(const Node& n, const std::vector<Val>& t, bool pairwise) {
  OpId op = reduce_info(n.reduce).combine;
  DType type = k_.insts[t[0]].type;
  auto join = [&](Val a, Val b) { return apply(op, type, a, b, kNone); };
  if (pairwise && t.size() == 8)
    return join(join(join(t[0], t[1]), join(t[2], t[3])), join(join(t[4], t[5]), join(t[6], t[7])));
  Val v = from_one(n, t[0]);
  for (std::size_t i = 1; i < t.size(); ++i) v = join(v, t[i]);
  return v;
}

bool Reductions::pairwise_axis(const Node& n, std::int32_t operand, int d) const {
  if (n.reduce != ReduceKind::Sum || is_integer(n.dtype) || n.dtype == DType::Bool) return false;
  const Node& on = node(operand);
  std::vector<int> order = by_width(on.extents, on.byte_strides);
  return !order.empty() && order.back() == d;
}

}  // namespace plait::fusion
