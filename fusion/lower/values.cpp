// Values on demand: a node at an index, in the loop that binds it.

#include "fusion/graph/written_parts.hpp"
#include "lowering.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::NodeKind;

namespace {
// Operations an element from which keeping a row beats computing it again.
constexpr double kRowWorth = 10;
// Elements of a row that is kept between two loops: it stays in the second-level cache.
constexpr std::int64_t kMaxKeptRow = 65536;
// Straight-line code grows no further than this.
constexpr std::size_t kMaxInsts = 3000;
}  // namespace

Val Lowering::emit(std::int32_t id, const Index& idx, std::int32_t ctx) {
  in_.budget.check(ex_.size());
  id = in_.canon[id];
  if (!builds_ && k_.insts.size() > kMaxInsts && !in_.in_memory[id] &&
      node(id).kind != NodeKind::Scalar) {
    const std::int32_t cut_for = cuts_ ? cuts_->cut_for() : -1;
    need(cut_for < 0 ? id : cut_for, "the region is large enough without it");
    return zero(node(id).dtype);
  }
  std::vector<Memo>& memo = memo_[{id, idx}];
  for (const Memo& m : memo)
    if (encloses(m.loop, ctx)) return m.value;
  const Node& n = node(id);
  Val v;
  if (n.kind == NodeKind::Scalar) {
    v = scalar(id);
  } else if (v = block_ ? block_->value(id, idx, ctx) : kNone; v != kNone) {
  } else if (in_.in_memory[id] && !(n.kind == NodeKind::View && changes(id))) {
    out_.reads.insert({id, id});
    v = load(id, n.dtype, idx, n.byte_strides, {id, Field::Layout, 0}, ex_.zero());
  } else if (v = scans_.window_value(id, idx); v != kNone) {
  } else if (v = row_buffer(id, n, idx, ctx); v == kNone) {
    emitted_[id] = true;
    if (recomputation_ && !(cuts_ && cuts_->repeated()) && !recomputation_->note(id, idx))
      return zero(n.dtype);
    v = compute(id, idx, ctx);
  }
  memo.push_back({v, def_loop_[v]});
  return v;
}

Val Lowering::row_buffer(std::int32_t id, const Node& n, const Index& idx, std::int32_t ctx) {
  const std::int32_t l = innermost(idx);
  if (l == 0 || n.kind != NodeKind::Elementwise || !emitted_[id] || !encloses(l, ctx) ||
      k_.loops[l].begin != kNone || trips_[l] > static_cast<double>(kMaxKeptRow))
    return kNone;
  for (std::int32_t other = 1; other < static_cast<std::int32_t>(k_.loops.size()); ++other) {
    if (other == l || parent_[other] != parent_[l] || out_.extents[other] != out_.extents[l] ||
        k_.loops[other].begin != kNone || !closed(other))
      continue;
    Index there = idx;
    for (AxisIndex& x : there)
      if (x.loop == l) x.loop = other;
    const auto known = memo_.find({id, there});
    if (known == memo_.end()) continue;
    for (const Memo& m : known->second) {
      if (m.loop != other || costs_.of(id) < kRowWorth) continue;
      auto [it, fresh] = rows_.try_emplace(m.value);
      if (fresh) {
        it->second = place({id, PlaceLevel::Row, "several loops over the row read it"}, n.dtype,
                           out_.extents[l], parent_[l]);
        push_local(Op::StoreLocal, it->second, other, n.dtype, m.value);
      }
      return push_local(Op::LoadLocal, it->second, l, n.dtype, kNone);
    }
  }
  return kNone;
}

Val Lowering::compute(std::int32_t id, const Index& idx, std::int32_t ctx) {
  const PlanNode& gn = g_[id];
  const Node& n = *gn.node;
  switch (n.kind) {
    case NodeKind::Fill:
      return cast(emit(gn.in[0], {}, ctx), n.dtype);
    case NodeKind::Iota: {
      Val i = position(idx[0]);
      Val start = emit(gn.in[0], {}, ctx), step = emit(gn.in[1], {}, ctx);
      Val scaled = apply(OpId::Multiply, n.dtype, cast(i, n.dtype), step, kNone);
      return apply(OpId::Add, n.dtype, start, scaled, kNone);
    }
    case NodeKind::Elementwise: {
      Val v[3] = {kNone, kNone, kNone};
      // What is broadcast comes first: reductions of this row then find their loops in front, and
      // keep rows for it.
      for (const bool whole : {false, true})
        for (int i = 0; i < n.n_inputs; ++i)
          if ((node(gn.in[i]).elements == n.elements) == whole)
            v[i] = emit(gn.in[i], broadcast(gn.in[i], idx), ctx);
      return apply(n.fn, n.dtype, v[0], v[1], v[2]);
    }
    case NodeKind::Cast:
      return cast(emit(gn.in[0], broadcast(gn.in[0], idx), ctx), n.dtype);
    case NodeKind::View:
      return through_view(id, gn, n, idx, ctx);
    case NodeKind::Update:
      if (cuts_) return cuts_->value(id, idx, ctx);
      need(id, "a write to storage");
      return zero(n.dtype);
    case NodeKind::Gather:
      return gathered(id, gn, n, idx, ctx);
    case NodeKind::Reduce:
      return reductions_.value(id, n, idx);
    case NodeKind::Call:
      return scans_.running(id, n, idx);
    default:
      break;
  }
  need(id, "not lowered to loops");
  return zero(n.dtype);
}

Val Lowering::through_view(std::int32_t id, const PlanNode& gn, const Node& n, const Index& idx,
                           std::int32_t ctx) {
  std::int32_t base = gn.in[0];
  if (in_.in_memory[in_.canon[base]] && !(gn.map && (changes(base) || laid_out(in_.canon[base])))) {
    out_.reads.insert({in_.canon[base], id});
    return load(in_.canon[base], n.dtype, idx, n.byte_strides, {id, Field::Stride, 0},
                ex_.source({id, Field::Offset, 0}));
  }
  if (const auto at = cuts_ ? cuts_->split_index(id, idx) : std::nullopt)
    return emit(base, *at, ctx);
  if (gn.index || gn.map) return emit(base, view_index(id, idx), ctx);
  need(base, "its view needs it in memory");
  return zero(n.dtype);
}

Val Lowering::gathered(std::int32_t id, const PlanNode& gn, const Node& n, const Index& idx,
                       std::int32_t ctx) {
  const std::int32_t source = in_.canon[gn.in[0]];
  if (!in_.in_memory[source]) {
    need(source, "gathered from");
    return zero(n.dtype);
  }
  out_.reads.insert({source, id});
  const Val at = emit(gn.in[1], broadcast(gn.in[1], idx), ctx);
  return in_full(true, [&] {
    const std::int32_t b = buffer({BufferSource::NodeMemory, source}, n.dtype, false);
    return push_gather(b,
                       address(idx, n.view_byte_strides, {id, Field::ViewStride, 0},
                               ex_.source({id, Field::Offset, 0})),
                       at, coeff(small(ex_.source({id, Field::Step, 0}))), n.dtype);
  });
}

}  // namespace plait::fusion
