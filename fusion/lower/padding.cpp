// An array that was filled, and then written to in part, as loops over elements read it: the value
// that was written where the index is in that part, and what it was filled with beside it. The
// innermost loop and the one around it are cut where the reads of all iterations are inside: there
// are no conditions along what the lanes take.
#include <algorithm>
#include <utility>

#include "lowering.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::Node;
using tracer::NodeKind;

bool Lowering::contains_padding(std::int32_t id) {
  id = in_.canon[id];
  if (g_[id].leaf || in_.in_memory[id]) return false;
  const auto [known, fresh] = padding_.contained.try_emplace(id, false);
  if (!fresh) return known->second;
  bool found = node(id).kind == NodeKind::Update;
  for (const std::int32_t in : g_[id].in) found = (in >= 0 && contains_padding(in)) || found;
  return padding_.contained[id] = found;
}

// What reads such arrays where the nodes in `from` are read at those walks, from the readers to
// what they read: each node once, with all of its walks. An axis from `axes` on is one that is
// folded.
void Lowering::find_padding(Places from) {
  const auto reads = [&](std::int32_t id, const std::vector<Walk>& walks) {
    id = in_.canon[id];
    if (contains_padding(id)) from[id].insert(walks);
  };
  while (!from.empty()) {
    in_.budget.check(ex_.size());
    const auto [id, places] = std::move(*from.begin());
    from.erase(from.begin());
    const GNode& gn = g_[id];
    const Node& n = *gn.node;
    if (places.size() > kMaxPlaces) {
      need(id, "it is read at many places");
      continue;
    }
    for (const std::vector<Walk>& walks : places) {
      if (n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast) {
        for (const std::int32_t in : gn.in)
          if (in >= 0) reads(in, aligned(in, walks));
      } else if (n.kind == NodeKind::View && (gn.windows || gn.map)) {
        reads(gn.in[0], walks_through(id, walks));
      } else if (n.kind == NodeKind::Reduce) {
        const std::vector<Walk> of = walks_folded(id, walks);
        reads(gn.in[0], of);
        if (gn.in[1] >= 0) reads(gn.in[1], aligned(gn.in[1], of));
      } else if (n.kind == NodeKind::Update) {
        padding_.reads.push_back({id, walks});
        reads(gn.in[1], walks_written(id, walks));
      } else {
        store_padding(id);
      }
    }
  }
}

// Of the operand of a reduction.
std::vector<Lowering::Walk> Lowering::walks_folded(std::int32_t reduction,
                                                   const std::vector<Walk>& walks) {
  const std::int32_t operand = g_[reduction].in[0];
  const Dims &shape = node(operand).shape, &axes = node(reduction).axes;
  std::vector<Walk> of(static_cast<std::size_t>(shape.size()));
  std::size_t kept = 0;
  for (int d = 0; d < shape.size(); ++d) {
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
      of[static_cast<std::size_t>(d)] = walks[kept++];
      continue;
    }
    if (shape[d] == 1) continue;
    of[static_cast<std::size_t>(d)].steps = {
        {static_cast<int>(padding_.extents.size()), ex_.one()}};
    padding_.extents.push_back(ex_.source({operand, Field::Shape, d}));
  }
  return of;
}

// What the value is made of needs memory, after all.
void Lowering::store_padding(std::int32_t id) {
  std::vector<std::int32_t> stack{id};
  std::set<std::int32_t> seen;
  while (!stack.empty()) {
    const std::int32_t i = in_.canon[stack.back()];
    stack.pop_back();
    if (!contains_padding(i) || !seen.insert(i).second) continue;
    if (node(i).kind == NodeKind::Update) {
      need(i, "it is not read as loops step");
      continue;
    }
    for (const std::int32_t in : g_[i].in)
      if (in >= 0) stack.push_back(in);
  }
}

// Of the reads of the roots: which dimensions step along the innermost loop and the one around it,
// and in which iterations they are inside. Whether the loops are to be cut.
bool Lowering::cut_at_padding(const Dims& shape, Field extent, const std::vector<int>& looped) {
  bool any = false;
  for (std::int32_t i = 0; i < g_.size() && !any; ++i)
    any = !g_[i].leaf && !in_.in_memory[i] && node(i).kind == NodeKind::Update;
  if (!any) return false;
  std::vector<Walk> walks(static_cast<std::size_t>(shape.size()));
  padding_.axes = shape.size();
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) walks[static_cast<std::size_t>(d)].steps = {{d, ex_.one()}};
    padding_.extents.push_back(ex_.source({region_.roots[0], extent, d}));
  }
  Places from;
  const auto reads = [&](std::int32_t id, const std::vector<Walk>& at) {
    if (contains_padding(id)) from[in_.canon[id]].insert(at);
  };
  for (const std::int32_t r : region_.roots) {
    if (node(r).kind != NodeKind::Update) {
      reads(r, walks);
      continue;
    }
    for (const int k : {1, 2})
      if (const std::int32_t in = g_[r].in[k]; in >= 0) reads(in, aligned(in, walks));
  }
  find_padding(std::move(from));
  const ExprId zero = ex_.zero();
  const auto larger = [&](ExprId a, ExprId b) {
    return ex_.add(ex_.add(a, b), ex_.mul(ex_.least(a, b), ex_.constant(-1)));
  };
  const auto between = [&](ExprId from, ExprId to) {
    return larger(zero, ex_.add(to, ex_.mul(from, ex_.constant(-1))));
  };
  const auto extent_of = [&](int axis) { return padding_.extents[static_cast<std::size_t>(axis)]; };
  for (std::size_t l = looped.size() - std::min<std::size_t>(looped.size(), 2); l < looped.size();
       ++l)
    padding_.cuts.push_back({looped[l], {}, zero, extent_of(looped[l])});
  for (const auto& [update, steps] : padding_.reads) {
    const Dims& of = node(update).shape;
    for (int d = 0; d < of.size(); ++d) {
      const Walk& w = steps[static_cast<std::size_t>(d)];
      const PartEdges e = edges(update, d);
      bool loops = false, folds = false, even = true;
      for (const auto& [axis, step] : w.steps) {
        (axis < padding_.axes ? loops : folds) = true;
        even &= ex_.is_constant(step) && ex_.value(step) > 0;
      }
      bool fits = loops || !folds;  // sums over the array itself may be one walk through memory
      for (Padding::Cut& c : padding_.cuts) {
        ExprId by = zero, most = w.start;
        for (const auto& [axis, step] : w.steps)
          if (axis == c.axis)
            by = step;
          else
            most = ex_.add(most, ex_.mul(step, ex_.add(extent_of(axis), ex_.constant(-1))));
        if (e.whole() || by == zero) continue;
        fits &= even && (!folds || by == ex_.one());
        if (!fits) break;
        c.along.insert({update, d});
        // The first iteration that is not in front of what was written, and the first behind it.
        if (!e.from_first) c.low = larger(c.low, ex_.blocks(between(w.start, e.first), by));
        if (!e.to_last) c.high = ex_.least(c.high, ex_.blocks(between(most, e.end), by));
      }
      if (!fits) need(update, "it is not read as loops step");
    }
  }
  if (padding_.cuts.empty() || padding_.cuts.back().along.empty()) return false;
  for (Padding::Cut& c : padding_.cuts) {
    c.low = ex_.least(c.low, extent_of(c.axis));
    c.high = larger(c.low, c.high);
  }
  return true;
}

// Each zone has loops of its own: beside what was written lanes lie along the loop around.
void Lowering::store_cut(Index& idx, const std::vector<int>& unrolled, const Dims& shape,
                         std::int32_t ctx) {
  struct Zone {
    Val begin = kNone, end = kNone;
    bool inside = true;
  };
  const auto extent_of = [&](const Padding::Cut& c) {
    return padding_.extents[static_cast<std::size_t>(c.axis)];
  };
  const auto zones_of = [&](const Padding::Cut& c) -> std::vector<Zone> {
    if (c.along.empty()) return {{}};
    const Val low = number(c.low), high = number(c.high);
    return {
        {low, high}, {constant(scalar_int(0)), low, false}, {high, number(extent_of(c)), false}};
  };
  std::vector<std::int32_t> opened;
  const auto open_zone = [&](Padding::Cut& c, const Zone& z) {
    c.inside = z.inside;
    ctx = z.begin == kNone ? open(ctx, extent_of(c))
          : z.inside
              ? open_between(ctx, z.begin, z.end, extent_of(c), static_cast<double>(shape[c.axis]))
              : open_between(ctx, z.begin, z.end, ex_.one(), 1);
    idx[static_cast<std::size_t>(c.axis)].loop = ctx;
    opened.push_back(ctx);
  };
  const std::int32_t around = ctx;
  Padding::Cut &inner = padding_.cuts.back(), &outer = padding_.cuts.front();
  const bool both = padding_.cuts.size() == 2;
  for (const Zone& across : zones_of(inner))
    for (const Zone& down : both ? zones_of(outer) : std::vector<Zone>{{}}) {
      ctx = around;
      if (both) open_zone(outer, down);
      open_zone(inner, across);
      store_unrolled(idx, unrolled, shape, ctx);
      close_all(opened);
      opened.clear();
    }
}

Val Lowering::padded_value(std::int32_t id, const Index& idx, std::int32_t ctx) {
  const GNode& gn = g_[id];
  const Node& n = *gn.node;
  Index at(static_cast<std::size_t>(n.view_shape.size()));
  Val inside = kNone;
  for (int d = 0; d < n.shape.size(); ++d) {
    Ix x = idx[static_cast<std::size_t>(d)];
    const PartEdges e = edges(id, d);
    const bool inside_cut =
        std::any_of(padding_.cuts.begin(), padding_.cuts.end(),
                    [&](const Padding::Cut& c) { return c.inside && c.along.count({id, d}) > 0; });
    if (!e.whole() && !inside_cut) {
      const Val v = position(x);
      const Val last = integer(OpId::Subtract, number(e.end), constant(scalar_int(1)));
      Val near = v;
      if (!e.from_first) near = integer(OpId::Maximum, near, number(e.first));
      if (!e.to_last) near = integer(OpId::Minimum, near, last);
      const Val in = apply(OpId::Equal, DType::Bool, near, v);
      inside = inside == kNone ? in : apply(OpId::LogicalAnd, DType::Bool, inside, in);
      x = {-1, ex_.one(), ex_.zero(), near};
    }
    if (const std::int64_t j = gn.map->from[d]; j >= 0)
      at[static_cast<std::size_t>(j)] = sum(x, {-1, ex_.one(), ex_.mul(e.first, ex_.constant(-1))});
  }
  const Val v = emit(gn.in[1], at, ctx);
  return inside == kNone ? v : apply(OpId::Where, n.dtype, inside, v, emit(gn.in[0], idx, ctx));
}

}  // namespace plait::fusion
