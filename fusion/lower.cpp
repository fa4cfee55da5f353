#include "lower.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nonnegative.hpp"
#include "plait/error.hpp"

namespace plait::fusion {
using ir::Access;
using ir::Coeff;
using ir::Inst;
using ir::kNone;
using ir::Op;
using ir::Val;
using tracer::Node;
using tracer::NodeKind;

std::int64_t concrete(const LoweringInput& in, ExprId e) { return in.exprs.now(in.graph, e); }

namespace {

// One dimension of an index: start + step * (variable of `loop`), or just `start`.
struct Ix {
  std::int32_t loop = -1;
  ExprId step = 1;
  ExprId start = 0;
  auto operator<=>(const Ix&) const = default;
};
using Index = std::vector<Ix>;

// A recomputation by less than this many operations is not worth memory traffic.
constexpr double kCheapRecompute = 4;
// Operations an element from which keeping a row beats computing it again.
constexpr double kRowWorth = 10;
// Elements of a row that is kept between two loops: it stays in the second-level cache.
constexpr std::int64_t kMaxRow = 65536;
// Straight-line code grows no further than this.
constexpr std::size_t kMaxInsts = 3000;

class Lowering {
 public:
  Lowering(const LoweringInput& in, const RegionSpec& region, LoweredKernel& out)
      : in_(in), g_(in.graph), ex_(in.exprs), region_(region), out_(out), k_(out.kernel) {
    k_.loops.emplace_back();
    k_.loops[0].var = add_var(0);
    parent_ = {-1};
    trips_ = {1};
    out_.extents = {ex_.one()};
  }

  std::vector<Demand> run() {
    if (region_.kind == RegionKind::Blocked)
      blocked();
    else
      map();
    check_recomputation();
    k_.params = static_cast<std::int32_t>(out_.params.size());
    out_.planned_grid = std::max<std::int64_t>(1, concrete(in_, out_.grid_extent));
    return std::move(demands_);
  }

 private:
  // --- regions
  // -----------------------------------------------------------------------------------------------------
  void map() {
    const Node& lead = node(region_.roots[0]);
    const bool update = lead.kind == NodeKind::Update;
    const Dims& shape = update ? lead.view_shape : lead.shape;
    const Dims strides = update ? lead.view_strides : own_strides(lead);
    if (element_count(shape) == 0) {
      out_.grid_extent = ex_.zero();
      return;
    }
    const Field extent_field = update ? Field::ViewShape : Field::Shape;
    Index idx(shape.size());
    std::vector<int> order = by_width(shape, strides);
    // The grid feeds the threads: a short outermost dimension makes way for the longest one.
    if (!order.empty() && shape[order[0]] < kFewRows) {
      auto longest = std::max_element(order.begin(), order.end(),
                                      [&](int a, int b) { return shape[a] < shape[b]; });
      if (shape[*longest] >= 4096) std::rotate(order.begin(), longest, longest + 1);
    }
    bool first = true;
    std::int32_t ctx = 0;
    std::vector<std::int32_t> opened;
    // Short dimensions beside a reduction are unrolled: the components of a force share what does
    // not depend on them.
    std::vector<int> unrolled;
    const bool folds = std::any_of(region_.roots.begin(), region_.roots.end(),
                                   [&](std::int32_t r) { return contains_reduction(r); });
    for (int d : order) {
      ExprId extent = ex_.source({region_.roots[0], extent_field, d});
      if (!first && folds && shape[d] <= kShort && unrolled.empty()) {
        in_.guards.push_back({extent, ex_.constant(shape[d])});
        unrolled.push_back(d);
        continue;
      }
      if (first) {
        out_.grid_extent = extent;
        trips_[0] = static_cast<double>(shape[d]);
        idx[d].loop = 0;
        first = false;
      } else {
        ctx = open(ctx, extent);
        opened.push_back(ctx);
        idx[d].loop = ctx;
      }
    }
    store_unrolled(idx, unrolled, shape, ctx);
    for (auto l = opened.rbegin(); l != opened.rend(); ++l) close(*l);
  }

  void store_unrolled(Index& idx, const std::vector<int>& unrolled, const Dims& shape,
                      std::int32_t ctx) {
    const std::int64_t count = unrolled.empty() ? 1 : shape[unrolled[0]];
    for (std::int64_t c = 0; c < count; ++c) {
      if (!unrolled.empty()) idx[unrolled[0]] = {-1, ex_.one(), ex_.constant(c)};
      for (std::int32_t r : region_.roots) store_root(r, idx, ctx);
    }
  }

  bool contains_reduction(std::int32_t id) const {
    std::set<std::int32_t> seen;
    std::vector<std::int32_t> stack{id};
    while (!stack.empty()) {
      const std::int32_t i = in_.canon[stack.back()];
      stack.pop_back();
      if (!seen.insert(i).second || in_.in_memory[i]) continue;
      if (node(i).kind == NodeKind::Reduce) return true;
      for (std::int32_t in : g_[i].in)
        if (in >= 0) stack.push_back(in);
    }
    return false;
  }

  void store_root(std::int32_t r, const Index& idx, std::int32_t ctx) {
    const Node& n = node(r);
    const bool large = element_count(n.shape) * static_cast<std::int64_t>(itemsize(n.dtype)) >=
                       (std::int64_t{32} << 20);
    if (n.kind == NodeKind::Update) {
      Val v = emit(g_[r].in[1], broadcast(g_[r].in[1], idx), ctx);
      v = cast(v, n.view_dtype);
      std::int32_t b = buffer({BufferSource::NodeMemory, r}, n.view_dtype, true);
      Access a = address(idx, n.view_strides, {r, Field::ViewStride, 0},
                         ex_.source({r, Field::Offset, 0}));
      if (g_[r].in[2] >= 0) {
        Val m = emit(g_[r].in[2], broadcast(g_[r].in[2], idx), ctx);
        Val old = push_load(b, a, n.view_dtype, ctx);
        v = apply(OpId::Where, n.view_dtype, m, v, old);
      }
      push_store(b, a, v, ctx, false);
    } else {
      Val v = emit(r, idx, ctx);
      std::int32_t b = buffer({BufferSource::NodeMemory, r}, n.dtype, true);
      push_store(b, address(idx, n.strides, {r, Field::Layout, 0}, ex_.zero()), v, ctx, large);
    }
  }

  // Splits the widest reduced axis into chunks; each grid iteration folds one chunk into its own
  // row of the partials.
  void blocked() {
    const Node& lead = node(region_.roots[0]);
    const std::int32_t operand = g_[region_.roots[0]].in[0];
    const Node& on = node(operand);
    std::vector<int> kept, reduced;
    for (int d : by_width(on.shape, on.strides))
      (std::find(lead.axes.begin(), lead.axes.end(), d) != lead.axes.end() ? reduced : kept)
          .push_back(d);
    if (reduced.empty()) throw InternalError("blocked region without a reduced axis");
    std::int32_t table = buffer({BufferSource::ChunkTable, 0}, DType::Int64, false);
    Access at;
    at.terms.push_back({k_.loops[0].var, {8, ir::kNoParam}});
    Val begin = push_load(table, at, DType::Int64, 0);
    at.offset.value = 8;
    Val end = push_load(table, at, DType::Int64, 0);
    trips_[0] = 64;

    Index idx(on.shape.size());
    std::int32_t ctx = 0;
    std::vector<std::int32_t> opened;
    ExprId outputs = ex_.one();
    std::vector<ExprId> out_stride(on.shape.size(), ex_.zero());
    for (auto d = kept.rbegin(); d != kept.rend(); ++d) {
      out_stride[*d] = outputs;
      outputs = ex_.mul(outputs, ex_.source({operand, Field::Shape, *d}));
    }
    for (int d : kept) {
      ctx = open(ctx, ex_.source({operand, Field::Shape, d}));
      opened.push_back(ctx);
      idx[d].loop = ctx;
    }
    out_.outputs = outputs;
    for (int d : kept)
      out_.kept.push_back(
          static_cast<std::int32_t>(d - std::count_if(lead.axes.begin(), lead.axes.end(),
                                                      [&](std::int64_t a) { return a < d; })));
    out_.grid_extent = ex_.source({operand, Field::Shape, reduced[0]});
    split_begin_ = begin;
    split_end_ = end;
    for (std::int32_t r : region_.roots) {
      const Node& n = node(r);
      const std::vector<int>& order = reduced;
      out_.pairwise_chunks |= pairwise_axis(n, operand, reduced[0]);
      Val v = from_zero(r, reduce_loops(r, idx, order, 0, ctx, true));
      auto partial = [&](Val value, ReduceKind kind, DType t) {
        std::int32_t b =
            buffer({BufferSource::Partial, static_cast<int>(out_.partials.size())}, t, true);
        out_.partials.push_back({r, kind, t});
        Access a;
        const auto item = static_cast<std::int64_t>(itemsize(t));
        a.terms.push_back({k_.loops[0].var, coeff(ex_.mul(outputs, ex_.constant(item)))});
        for (int d : kept)
          a.terms.push_back(
              {k_.loops[idx[d].loop].var, coeff(ex_.mul(out_stride[d], ex_.constant(item)))});
        push_store(b, a, value, ctx, false);
      };
      if (n.reduce == ReduceKind::ArgMin || n.reduce == ReduceKind::ArgMax) {
        // The combination compares the chunks' extreme values.
        partial(arg_extreme_, n.reduce == ReduceKind::ArgMin ? ReduceKind::Min : ReduceKind::Max,
                k_.insts[arg_extreme_].type);
        partial(v, n.reduce, DType::Int64);
      } else {
        partial(v, n.reduce, n.dtype);
      }
    }
    for (auto l = opened.rbegin(); l != opened.rend(); ++l) close(*l);
  }

  // --- values
  // ------------------------------------------------------------------------------------------------------
  Val emit(std::int32_t id, const Index& idx, std::int32_t ctx) {
    id = in_.canon[id];
    if (k_.insts.size() > kMaxInsts && !in_.in_memory[id] && node(id).kind != NodeKind::Scalar) {
      demand(id, "the region is large enough without it");
      return zero(node(id).dtype);
    }
    auto key = std::make_pair(id, idx);
    for (const Memo& m : memo_[key])
      if (encloses(m.loop, ctx)) return m.value;
    const GNode& gn = g_[id];
    const Node& n = *gn.node;
    Val v;
    if (n.kind == NodeKind::Scalar) {
      v = scalar(id);
    } else if (in_.in_memory[id]) {
      v = load(id, n.dtype, idx, n.strides, {id, Field::Layout, 0}, ex_.zero());
    } else if (v = row_buffer(id, n, idx, ctx); v == kNone) {
      note_emission(id, idx);
      v = compute_node(id, gn, n, idx, ctx);
    }
    memo_[key].push_back({v, def_loop_[v]});
    return v;
  }

  // What an earlier loop over the same row computed at some cost is kept for this one (the
  // exponentials of a softmax).
  Val row_buffer(std::int32_t id, const Node& n, const Index& idx, std::int32_t ctx) {
    const std::int32_t l = innermost(idx);
    if (l == 0 || n.kind != NodeKind::Elementwise || !encloses(l, ctx) ||
        k_.loops[l].begin != kNone || trips_[l] > static_cast<double>(kMaxRow) ||
        node_cost(id) < kRowWorth)
      return kNone;
    for (std::int32_t other = 1; other < static_cast<std::int32_t>(k_.loops.size()); ++other) {
      if (other == l || parent_[other] != parent_[l] || out_.extents[other] != out_.extents[l] ||
          k_.loops[other].begin != kNone || !closed(other))
        continue;
      Index there = idx;
      for (Ix& x : there)
        if (x.loop == l) x.loop = other;
      for (const Memo& m : memo_[{id, there}]) {
        if (m.loop != other) continue;
        auto [it, fresh] = rows_.try_emplace(m.value, static_cast<std::int32_t>(k_.locals.size()));
        if (fresh) {
          k_.locals.push_back({n.dtype, coeff(out_.extents[l]), parent_[l]});
          push_local(Op::StoreLocal, it->second, other, n.dtype, m.value);
        }
        return push_local(Op::LoadLocal, it->second, l, n.dtype, kNone);
      }
    }
    return kNone;
  }
  bool closed(std::int32_t l) const {
    for (Val v : k_.loops[parent_[l]].body)
      if ((k_.insts[v].op == Op::For || k_.insts[v].op == Op::Reduce) && k_.insts[v].index == l)
        return true;
    return false;
  }
  Val push_local(Op op, std::int32_t local, std::int32_t loop, DType t, Val v) {
    Access a;
    a.terms.push_back({k_.loops[loop].var, {1, ir::kNoParam}});
    k_.accesses.push_back(std::move(a));
    Inst i{op, t, OpId::Count_, local, {v, kNone, kNone}};
    i.access = static_cast<std::int32_t>(k_.accesses.size() - 1);
    return push(i, loop);
  }

  Val compute_node(std::int32_t id, const GNode& gn, const Node& n, const Index& idx,
                   std::int32_t ctx) {
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
            if ((element_count(node(gn.in[i]).shape) == element_count(n.shape)) == whole)
              v[i] = emit(gn.in[i], broadcast(gn.in[i], idx), ctx);
        return apply(n.fn, n.dtype, v[0], v[1], v[2]);
      }
      case NodeKind::Cast:
        return cast(emit(gn.in[0], broadcast(gn.in[0], idx), ctx), n.dtype);
      case NodeKind::View: {
        std::int32_t base = gn.in[0];
        if (in_.in_memory[in_.canon[base]])
          return load(in_.canon[base], n.dtype, idx, n.strides, {id, Field::Stride, 0},
                      ex_.source({id, Field::Offset, 0}));
        if (!gn.map) {
          demand(base, "its view needs it in memory");
          return zero(n.dtype);
        }
        const Node& b = node(base);
        Index bi(b.shape.size());
        for (int d = 0; d < b.shape.size(); ++d) {
          if (b.shape[d] == 1) continue;
          ExprId start = small(ex_.source({id, Field::MapStart, d}));
          if (gn.map->from[d] < 0) {
            bi[d] = {-1, ex_.one(), start};
            continue;
          }
          const Ix& v = idx[gn.map->from[d]];
          ExprId step = small(ex_.source({id, Field::MapStep, d}));
          bi[d] = {v.loop, v.loop < 0 ? ex_.one() : ex_.mul(step, v.step),
                   ex_.add(start, ex_.mul(step, v.start))};
        }
        return emit(base, bi, ctx);
      }
      case NodeKind::Reduce: {
        // Opened under the loop that binds the index, wherever it was asked for.
        std::int32_t at = innermost(idx);
        double again = 1;
        for (std::int32_t l = at; l > 0; l = parent_[l])
          if (std::none_of(idx.begin(), idx.end(), [&](const Ix& i) { return i.loop == l; }))
            again *= trips_[l];
        if (at != 0 &&
            std::none_of(idx.begin(), idx.end(), [](const Ix& i) { return i.loop == 0; }))
          again *= trips_[0];
        const Node& on = node(gn.in[0]);
        const double fold = static_cast<double>(element_count(on.shape)) /
                            std::max<double>(1, static_cast<double>(element_count(n.shape)));
        const bool free_index =
            std::none_of(idx.begin(), idx.end(), [](const Ix& i) { return i.loop >= 0; });
        if (free_index && region_.kind == RegionKind::Map && !is_root(id) && trips_[0] > 1)
          again = trips_[0];
        if (region_.kind == RegionKind::Blocked && !is_root(id)) again *= free_index ? 64 : 1;
        if (again > 1 && fold > kCheapRecompute) {
          demand(id, "it would be reduced again for each iteration of another loop");
          return zero(n.dtype);
        }
        if (trips_[0] < kFewRows && fold > kLongRow && !is_root(id)) {
          demand(id, "its reduction is long and needs all threads");
          return zero(n.dtype);
        }
        return reduce_at(id, n, gn.in[0], idx, at);
      }
      default:
        break;
    }
    demand(id, "not lowered to loops");
    return zero(n.dtype);
  }

  Val reduce_at(std::int32_t id, const Node& n, std::int32_t operand, const Index& idx,
                std::int32_t at) {
    const Node& on = node(operand);
    Index oi(on.shape.size());
    int o = 0;
    for (int d = 0; d < on.shape.size(); ++d)
      if (std::find(n.axes.begin(), n.axes.end(), d) == n.axes.end()) oi[d] = idx[o++];
    std::vector<int> reduced;
    for (int d : by_width(on.shape, on.strides))
      if (std::find(n.axes.begin(), n.axes.end(), d) != n.axes.end()) reduced.push_back(d);
    if (reduced.size() > 1 && n.reduce == ReduceKind::Sum && !is_integer(n.dtype))
      return from_zero(id, short_block(id, oi, reduced, at));
    return from_zero(id, reduce_loops(id, oi, reduced, 0, at, false));
  }

  // NumPy's sums start from +0.0, the folds of the loop IR from -0.0: a sum of negative zeros shows
  // it.
  Val from_zero(std::int32_t id, Val v) {
    const Node& n = node(id);
    if (n.reduce != ReduceKind::Sum || !(is_float(n.dtype) || is_complex(n.dtype)) ||
        (non_negative(g_, in_.canon, g_[id].in[0]) && element_count(node(g_[id].in[0]).shape) > 0))
      return v;
    return apply(OpId::Add, k_.insts[v].type, v, zero(k_.insts[v].type));
  }

  // NumPy sums axes that are contiguous together as one: a short block is unrolled whole, a longer
  // one becomes loops that collapse into one.
  Val short_block(std::int32_t id, Index& oi, const std::vector<int>& reduced, std::int32_t at) {
    const Node& n = node(id);
    const std::int32_t operand = g_[id].in[0];
    const Dims& shape = node(operand).shape;
    std::int64_t count = 1;
    for (int d : reduced) count *= shape[d];
    if (count == 0 || count > kShort) {
      const bool before = std::exchange(loops_only_, true);
      const Val v = reduce_loops(id, oi, reduced, 0, at, false);
      loops_only_ = before;
      return v;
    }
    for (int d : reduced)
      in_.guards.push_back({ex_.source({operand, Field::Shape, d}), ex_.constant(shape[d])});
    std::vector<Val> terms;
    for (std::int64_t c = 0; c < count; ++c) {
      std::int64_t rest = c;
      for (auto d = reduced.rbegin(); d != reduced.rend(); ++d) {
        oi[*d] = {-1, ex_.one(), ex_.constant(rest % shape[*d])};
        rest /= shape[*d];
      }
      terms.push_back(operand_value(id, oi, at));
    }
    return fold_terms(n, terms, pairwise_axis(n, operand, reduced.back()));
  }

  // Folds the operand over reduced[i...]; `split`: the outermost of them runs over the current
  // chunk.
  Val reduce_loops(std::int32_t id, Index& oi, const std::vector<int>& reduced, std::size_t i,
                   std::int32_t ctx, bool split) {
    const Node& n = node(id);
    const std::int32_t operand = g_[id].in[0];
    if (i == reduced.size()) {
      // The index along an axis of one element.
      if (i == 0 && (n.reduce == ReduceKind::ArgMin || n.reduce == ReduceKind::ArgMax))
        return constant(scalar_int(0));
      return operand_value(id, oi, ctx);
    }
    const int d = reduced[i];
    const bool arg = n.reduce == ReduceKind::ArgMin || n.reduce == ReduceKind::ArgMax;
    const ExprId extent = ex_.source({operand, Field::Shape, d});
    const std::int64_t count = node(operand).shape[d];
    if (!arg && !split && !loops_only_ && count <= kShort && count > 0) {
      std::vector<Val> terms;
      for (std::int64_t c = 0; c < count; ++c) {
        oi[d] = {-1, ex_.one(), ex_.constant(c)};
        terms.push_back(reduce_loops(id, oi, reduced, i + 1, ctx, false));
      }
      return fold_terms(n, terms, pairwise_axis(n, operand, d));
    }
    std::int32_t l = open(ctx, extent);
    if (split) {
      k_.loops[l].begin = split_begin_;
      k_.loops[l].end = split_end_;
    } else if (count <= kShort && !loops_only_) {
      k_.loops[l].unroll = 0;
    }
    oi[d] = {l, ex_.one(), ex_.zero()};
    ir::Reduction r{n.reduce, kNone, ir::Order::Any, false};
    if (arg) {
      r.value = arg_value(id, oi, l, r.guarded_sqrt);
    } else {
      r.value = reduce_loops(id, oi, reduced, i + 1, l, false);
      if (n.reduce == ReduceKind::Sum && !is_integer(n.dtype) && n.dtype != DType::Bool)
        r.order = pairwise_axis(n, operand, d) ? ir::Order::Pairwise : ir::Order::Sequential;
      if (n.reduce == ReduceKind::Prod && !is_integer(n.dtype)) r.order = ir::Order::Sequential;
    }
    // A value that no loop binds (a fill) still has to be the body's own.
    if (def_loop_[r.value] != l)
      r.value =
          push({Op::Cast, k_.insts[r.value].type, OpId::Count_, 0, {r.value, kNone, kNone}}, l);
    k_.loops[l].reductions.push_back(r);
    if (arg && split)
      k_.loops[l].reductions.push_back(
          {n.reduce == ReduceKind::ArgMin ? ReduceKind::Min : ReduceKind::Max, r.value,
           ir::Order::Any, false});
    Val reduce = close(l);
    Val result = push({Op::Result,
                       arg ? DType::Int64 : k_.insts[r.value].type,
                       OpId::Count_,
                       0,
                       {reduce, kNone, kNone}},
                      ctx);
    if (arg && split)
      arg_extreme_ =
          push({Op::Result, k_.insts[r.value].type, OpId::Count_, 1, {reduce, kNone, kNone}}, ctx);
    return result;
  }

  Val operand_value(std::int32_t id, const Index& oi, std::int32_t ctx) {
    const Node& n = node(id);
    Val v = emit(g_[id].in[0], oi, ctx);
    if (n.reduce == ReduceKind::Any || n.reduce == ReduceKind::All)
      v = cast(v, DType::Bool);
    else if (n.reduce != ReduceKind::ArgMin && n.reduce != ReduceKind::ArgMax)
      v = cast(v, n.dtype);
    if (g_[id].in[1] >= 0) {
      Val m = emit(g_[id].in[1], broadcast(g_[id].in[1], oi), ctx);
      Val neutral = constant(identity(n.reduce, k_.insts[v].type));
      v = apply(OpId::Where, k_.insts[v].type, m, v, neutral);
    }
    return v;
  }

  // An arg-reduction looks through the monotone root in front of a non-negative value.
  Val arg_value(std::int32_t id, const Index& oi, std::int32_t ctx, bool& guarded) {
    std::int32_t operand = in_.canon[g_[id].in[0]];
    const Node& on = node(operand);
    if (region_.kind == RegionKind::Map && !in_.in_memory[operand] &&
        on.kind == NodeKind::Elementwise && on.fn == OpId::Sqrt &&
        (on.dtype == DType::Float64 || on.dtype == DType::Float32) &&
        non_negative(g_, in_.canon, g_[operand].in[0])) {
      guarded = true;
      return emit(g_[operand].in[0], oi, ctx);
    }
    return operand_value(id, oi, ctx);
  }

  Val fold_terms(const Node& n, const std::vector<Val>& t, bool pairwise) {
    OpId op = reduce_info(n.reduce).combine;
    DType type = k_.insts[t[0]].type;
    auto join = [&](Val a, Val b) { return apply(op, type, a, b, kNone); };
    if (pairwise && t.size() == 8)
      return join(join(join(t[0], t[1]), join(t[2], t[3])),
                  join(join(t[4], t[5]), join(t[6], t[7])));
    Val v = t[0];
    for (std::size_t i = 1; i < t.size(); ++i) v = join(v, t[i]);
    return v;
  }

  // NumPy sums pairwise along the axis of the smallest stride, and row by row along the others.
  bool pairwise_axis(const Node& n, std::int32_t operand, int d) const {
    if (n.reduce != ReduceKind::Sum || is_integer(n.dtype) || n.dtype == DType::Bool) return false;
    const Node& on = node(operand);
    std::vector<int> order = by_width(on.shape, on.strides);
    return !order.empty() && order.back() == d;
  }

  // --- memory
  // ------------------------------------------------------------------------------------------------------
  Val load(std::int32_t id, DType t, const Index& idx, const Dims& strides, Source s,
           ExprId offset) {
    std::int32_t b = buffer({BufferSource::NodeMemory, id}, t, false);
    return push_load(b, address(idx, strides, s, offset), t, innermost(idx));
  }

  Access address(const Index& idx, const Dims& strides, Source s, ExprId offset) {
    std::map<std::int32_t, ExprId> by_loop;
    for (int d = 0; d < strides.size(); ++d) {
      const Ix& x = idx[d];
      if (x.loop < 0 && x.start == ex_.zero()) continue;
      s.dim = d;
      ExprId stride = small(ex_.source(s));
      offset = ex_.add(offset, ex_.mul(stride, x.start));
      if (x.loop < 0) continue;
      auto [it, fresh] = by_loop.try_emplace(x.loop, ex_.zero());
      it->second = ex_.add(it->second, ex_.mul(stride, x.step));
    }
    Access a;
    a.offset = coeff(offset);
    for (auto [loop, stride] : by_loop)
      if (stride != ex_.zero()) a.terms.push_back({k_.loops[loop].var, coeff(stride)});
    return a;
  }

  Coeff coeff(ExprId e) {
    if (ex_.is_constant(e)) return {ex_.value(e), ir::kNoParam};
    return {0, param(e)};
  }
  std::int32_t param(ExprId e) {
    auto it = std::find(out_.params.begin(), out_.params.end(), e);
    if (it == out_.params.end()) it = out_.params.insert(it, e);
    return static_cast<std::int32_t>(it - out_.params.begin());
  }
  // A number that shows in the code when it is small (contiguous, reversed, interleaved, unrolled).
  ExprId small(ExprId e) {
    if (ex_.is_constant(e)) return e;
    const std::int64_t v = concrete(in_, e);
    if (v < -kShort * 16 || v > kShort * 16) return e;
    in_.guards.push_back({e, ex_.constant(v)});
    return ex_.constant(v);
  }

  std::int32_t buffer(BufferSource s, DType t, bool written) {
    for (std::size_t i = 0; i < out_.buffers.size(); ++i)
      if (!(out_.buffers[i] < s) && !(s < out_.buffers[i]) && k_.buffers[i].dtype == t) {
        k_.buffers[i].written |= written;
        return static_cast<std::int32_t>(i);
      }
    out_.buffers.push_back(s);
    k_.buffers.push_back({t, written});
    return static_cast<std::int32_t>(k_.buffers.size() - 1);
  }

  // --- instructions
  // ------------------------------------------------------------------------------------------------
  Val push(Inst i, std::int32_t loop) {
    k_.insts.push_back(i);
    Val v = static_cast<Val>(k_.insts.size() - 1);
    def_loop_.resize(k_.insts.size());
    def_loop_[v] = loop;
    if (loop >= 0) k_.loops[loop].body.push_back(v);
    return v;
  }
  Val add_var(std::int32_t loop) {
    k_.insts.push_back({Op::Var, DType::Int64, OpId::Count_, loop});
    def_loop_.push_back(loop);
    return static_cast<Val>(k_.insts.size() - 1);
  }
  Val constant(const Scalar& s) {
    Inst i{Op::Const, s.dtype};
    i.imm = s;
    return push(i, 0);
  }
  Val zero(DType t) { return constant(cast_scalar(0, t)); }
  static Scalar cast_scalar(std::int64_t v, DType t) { return plait::cast(scalar_int(v), t); }
  static Scalar identity(ReduceKind k, DType t);
  Val scalar(std::int32_t id) {
    auto it = std::find(out_.scalars.begin(), out_.scalars.end(), id);
    const std::int32_t index = static_cast<std::int32_t>(it - out_.scalars.begin());
    if (it == out_.scalars.end()) {
      out_.scalars.push_back(id);
      k_.scalars.push_back(node(id).dtype);
    }
    return push({Op::Arg, node(id).dtype, OpId::Count_, index}, 0);
  }
  Val number(ExprId e) {
    if (ex_.is_constant(e)) return constant(scalar_int(ex_.value(e)));
    return push({Op::Param, DType::Int64, OpId::Count_, param(e)}, 0);
  }
  Val position(const Ix& x) {
    if (x.loop < 0) return number(x.start);
    Val v = k_.loops[x.loop].var;
    if (x.step != ex_.one()) v = apply(OpId::Multiply, DType::Int64, v, number(x.step), kNone);
    if (x.start != ex_.zero()) v = apply(OpId::Add, DType::Int64, v, number(x.start), kNone);
    return v;
  }
  Val cast(Val v, DType t) {
    if (k_.insts[v].type == t) return v;
    return push({Op::Cast, t, OpId::Count_, 0, {v, kNone, kNone}}, def_loop_[v]);
  }
  Val apply(OpId fn, DType t, Val a, Val b = kNone, Val c = kNone) {
    const Val v[] = {a, b, c};
    std::int32_t at = 0;
    for (Val o : v)
      if (o != kNone && encloses(at, def_loop_[o])) at = def_loop_[o];
    out_.work += ops_weight(fn) * times(at);
    return push({Op::Apply, t, fn, 0, {v[0], v[1], v[2]}}, at);
  }
  static double ops_weight(OpId fn) { return static_cast<double>(op_info(fn).cost); }
  Val push_load(std::int32_t b, Access a, DType t, std::int32_t loop) {
    k_.accesses.push_back(std::move(a));
    Inst i{Op::Load, t, OpId::Count_, b};
    i.access = static_cast<std::int32_t>(k_.accesses.size() - 1);
    return push(i, loop);
  }
  void push_store(std::int32_t b, Access a, Val v, std::int32_t loop, bool nontemporal) {
    k_.accesses.push_back(std::move(a));
    Inst i{Op::Store, k_.insts[v].type, OpId::Count_, b, {v, kNone, kNone}};
    i.access = static_cast<std::int32_t>(k_.accesses.size() - 1);
    i.nontemporal = nontemporal;
    push(i, loop);
  }
  std::int32_t open(std::int32_t parent, ExprId extent) {
    ExprId e = extent;
    if (concrete(in_, e) <= kShort) {
      in_.guards.push_back({e, ex_.constant(concrete(in_, e))});
      e = ex_.constant(concrete(in_, e));
    }
    std::int32_t l = static_cast<std::int32_t>(k_.loops.size());
    // Loops side by side over ranges that are equal by broadcasting have one extent.
    for (std::int32_t s = 1; s < l; ++s)
      if (parent_[s] == parent && out_.extents[s] != e && !ex_.is_constant(e) &&
          !ex_.is_constant(out_.extents[s]) && concrete(in_, out_.extents[s]) == concrete(in_, e)) {
        in_.guards.push_back({e, out_.extents[s]});
        e = out_.extents[s];
      }
    k_.loops.emplace_back();
    k_.loops[l].var = add_var(l);
    parent_.push_back(parent);
    trips_.push_back(static_cast<double>(concrete(in_, extent)));
    out_.extents.push_back(e);
    k_.loops[l].end = number(e);
    return l;
  }
  Val close(std::int32_t l) {
    const bool reduce = !k_.loops[l].reductions.empty();
    return push({reduce ? Op::Reduce : Op::For, DType::Int64, OpId::Count_, l}, parent_[l]);
  }

  // --- structure
  // ---------------------------------------------------------------------------------------------------
  const Node& node(std::int32_t id) const { return *g_[id].node; }
  bool is_root(std::int32_t id) const {
    for (std::int32_t r : region_.roots)
      if (in_.canon[r] == id || r == id) return true;
    return false;
  }
  // Dimensions of extent above 1, widest stride first.
  static std::vector<int> by_width(const Dims& shape, const Dims& strides) {
    std::vector<int> order;
    for (int d = 0; d < shape.size(); ++d)
      if (shape[d] != 1) order.push_back(d);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return std::abs(strides[a]) > std::abs(strides[b]); });
    return order;
  }
  Index broadcast(std::int32_t operand, const Index& idx) const {
    const Dims& s = node(operand).shape;
    Index r(s.size());
    const std::size_t skip = idx.size() - r.size();
    for (std::size_t d = 0; d < r.size(); ++d)
      if (s[static_cast<int>(d)] != 1) r[d] = idx[skip + d];
    return r;
  }
  bool encloses(std::int32_t outer, std::int32_t inner) const {
    for (; inner >= 0; inner = parent_[inner])
      if (inner == outer) return true;
    return false;
  }
  std::int32_t innermost(const Index& idx) const {
    std::int32_t at = 0;
    for (const Ix& x : idx)
      if (x.loop > 0 && encloses(at, x.loop)) at = x.loop;
    return at;
  }
  double times(std::int32_t loop) const {
    double t = 1;
    for (; loop >= 0; loop = parent_[loop]) t *= std::max(1.0, trips_[loop]);
    return t;
  }

  // --- recomputation
  // -----------------------------------------------------------------------------------------------
  void demand(std::int32_t id, std::string why) {
    demands_.push_back({in_.canon[id], std::move(why)});
  }

  struct Emission {
    Index idx;
    double times;
  };
  void note_emission(std::int32_t id, const Index& idx) {
    emissions_[id].push_back({idx, times(innermost(idx))});
  }
  // Elementwise nodes computed more often than they have elements, when that costs more than a trip
  // through memory.
  void check_recomputation();
  double node_cost(std::int32_t id, int depth = 0) const;
  std::vector<std::int64_t> range_of(const Index& idx) const;

  struct Memo {
    Val value;
    std::int32_t loop;
  };
  const LoweringInput& in_;
  const Graph& g_;
  Exprs& ex_;
  const RegionSpec& region_;
  LoweredKernel& out_;
  ir::Kernel& k_;
  std::vector<std::int32_t> parent_;
  std::vector<double> trips_;
  std::vector<std::int32_t> def_loop_;
  std::map<std::pair<std::int32_t, Index>, std::vector<Memo>> memo_;
  std::map<std::int32_t, std::vector<Emission>> emissions_;
  std::map<Val, std::int32_t> rows_;  // value -> the local its row is kept in
  std::vector<Demand> demands_;
  bool loops_only_ = false;  // no unrolling inside the block that is being summed
  Val split_begin_ = kNone, split_end_ = kNone, arg_extreme_ = kNone;
};

// Operations to compute one element; what is broadcast or reduced counts by its number of elements.
double Lowering::node_cost(std::int32_t id, int depth) const {
  id = in_.canon[id];
  const GNode& gn = g_[id];
  const Node& n = *gn.node;
  if (n.kind == NodeKind::Scalar) return 0;
  if (in_.in_memory[id]) return 1;
  if (depth > 12) return 50;
  double c = n.kind == NodeKind::Elementwise ? ops_weight(n.fn) : 0;
  const double elements = std::max<double>(1, static_cast<double>(element_count(n.shape)));
  for (int i = 0; i < n.n_inputs; ++i)
    if (gn.in[i] >= 0) {
      const auto inputs = static_cast<double>(element_count(node(gn.in[i]).shape));
      const bool view = n.kind == NodeKind::View;
      c += node_cost(gn.in[i], depth + 1) *
           (view ? std::min(1.0, inputs / elements) : inputs / elements);
    }
  return c;
}

// Loops side by side over the same range will share one loop or a row buffer: their values count
// once.
std::vector<std::int64_t> Lowering::range_of(const Index& idx) const {
  std::vector<std::int64_t> r;
  for (const Ix& x : idx) {
    r.push_back(x.step);
    r.push_back(x.start);
    std::int64_t path = 0;
    for (std::int32_t l = x.loop; l > 0; l = parent_[l])
      path = path * 1000003 + out_.extents[l] + 1;
    r.push_back(x.loop < 0 ? -1 : path);
  }
  return r;
}

void Lowering::check_recomputation() {
  if (!demands_.empty()) return;
  for (auto& [id, list] : emissions_) {
    const Node& n = node(id);
    if (is_root(id) || n.kind == NodeKind::View || n.kind == NodeKind::Fill ||
        n.kind == NodeKind::Scalar || n.kind == NodeKind::Iota)
      continue;
    double computed = 0;
    std::set<std::vector<std::int64_t>> ranges;
    for (const Emission& e : list)
      if (ranges.insert(range_of(e.idx)).second) computed += e.times;
    const double elements = std::max<double>(1, static_cast<double>(element_count(n.shape)));
    if (computed < 1.5 * elements) continue;
    const double cost = node_cost(id);
    // Memory: one write and the reads, about 3 operations each when it does not stay in cache.
    const double recompute = (computed - elements) * cost;
    const double store = elements * 4 + computed * 1.5;
    if (cost > kCheapRecompute && recompute > 1.5 * store)
      demand(id, "recomputing costs more than storing it");
  }
}

Scalar Lowering::identity(ReduceKind k, DType t) {
  switch (k) {
    case ReduceKind::Sum:
      if (t == DType::Float64) return scalar_float(-0.0);
      if (is_float(t)) return plait::cast(scalar_float(-0.0), t);
      return cast_scalar(0, t);
    case ReduceKind::Prod:
      return cast_scalar(1, t);
    case ReduceKind::Any:
    case ReduceKind::BitOr:
    case ReduceKind::BitXor:
      return cast_scalar(0, t);
    case ReduceKind::All:
      return cast_scalar(1, t);
    case ReduceKind::BitAnd:
      return t == DType::Bool ? cast_scalar(1, t) : cast_scalar(-1, t);
    default:
      break;
  }
  const bool low = k == ReduceKind::Max || k == ReduceKind::FMax || k == ReduceKind::ArgMax;
  if (is_float(t) || is_complex(t)) return plait::cast(scalar_float(low ? -INFINITY : INFINITY), t);
  if (t == DType::Bool) return scalar_bool(!low);
  const int bits = static_cast<int>(itemsize(t)) * 8;
  if (kind(t) == Kind::Unsigned) return cast_scalar(low ? 0 : -1, t);
  const std::int64_t most = bits == 64 ? INT64_MAX : (std::int64_t{1} << (bits - 1)) - 1;
  return cast_scalar(low ? -most - 1 : most, t);
}

}  // namespace

std::vector<Demand> lower(const LoweringInput& in, const RegionSpec& region, LoweredKernel& out) {
  out = LoweredKernel();
  return Lowering(in, region, out).run();
}

}  // namespace plait::fusion
