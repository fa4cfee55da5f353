// An operand's lines into scratch, with what stands before them. Where part of it was written over
// something else, loops are cut at the edges of that part: inside, the value is read, outside, what
// was there before.
#include <algorithm>
#include <tuple>
#include <utility>

#include "fusion/graph/written_parts.hpp"
#include "lowering.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::Node;
using tracer::NodeKind;

Lowering::Walk Lowering::stepped(const Walk& w, ExprId by, ExprId start) {
  Walk s{ex_.add(start, ex_.mul(by, w.start)), w.steps};
  for (auto& [axis, step] : s.steps) step = ex_.mul(by, step);
  return s;
}

// The parts that the operand is made of, where they have no memory. `walks`: of each dimension of
// the node, which of the operand's it steps along. `over`: the part that was written over this one.
void Lowering::find_parts(std::int32_t id, const std::vector<Walk>& walks, std::int32_t over,
                          std::vector<Part>& parts) {
  id = in_.canon[id];
  const GNode& gn = g_[id];
  const Node& n = *gn.node;
  if (gn.leaf || in_.in_memory[id]) return;
  auto& places = parts_->places[id];
  if (!places.insert(walks).second) return;
  if (places.size() > kMaxPlaces) return need(id, "it is read at many places");
  switch (n.kind) {
    case NodeKind::Elementwise:
    case NodeKind::Cast:
      for (const std::int32_t in : gn.in)
        if (in >= 0) find_parts(in, aligned(in, walks), over, parts);
      return;
    case NodeKind::View:
      if (gn.windows || gn.map) {
        find_parts(gn.in[0], walks_through(id, walks), over, parts);
      } else if (const auto m = interleaved_axes(g_, id);
                 m && !in_.in_memory[in_.canon[gn.in[0]]]) {
        if (!take_turns(id, *m, walks[static_cast<std::size_t>(interleaved_axis(*m))]))
          return need(gn.in[0], "its view needs it in memory");
        std::vector<Walk> of = behind(*m, walks, node(gn.in[0]).shape.size());
        of.back() = {ex_.zero(), {{static_cast<int>(parts_->idx.size()), ex_.one()}}};
        find_parts(gn.in[0], of, over, parts);
      }
      return;
    case NodeKind::Update: {
      const auto known =
          std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.update == id; });
      if (known != parts.end()) {
        if (known->walks != walks) need(id, "it is packed in two ways at once");
        return;
      }
      const auto self = static_cast<std::int32_t>(parts.size());
      parts.push_back({id, over, walks});
      return find_parts(gn.in[0], walks, self, parts);
    }
    default:
      return;
  }
}

// Whether what steps along the merged axis of such a view can be two loops.
bool Lowering::take_turns(std::int32_t view, const MergedAxes& m, const Walk& along) {
  Packing& p = *parts_;
  const std::int32_t base = g_[view].in[0];
  const int dims = node(base).shape.size();
  const auto extent = [&](std::int32_t of, int d) { return ex_.source({of, Field::Shape, d}); };
  if (!in_.facts.equal(along.start, ex_.zero()) || along.steps.size() != 1 ||
      along.steps[0].second != ex_.one())
    return false;
  const int axis = along.steps[0].first;
  const auto level = std::find_if(p.levels.begin(), p.levels.end(),
                                  [&](const Level& l) { return l.axis == axis; });
  if (level == p.levels.end() || level->low != kNone || (level->begin != kNone && !p.repeated))
    return false;
  const ExprId arrays = in_.facts.known(extent(base, dims - 1));
  if (p.turns >= 0 && (p.turns != axis || p.arrays != arrays)) return false;
  for (int j = 0; j < m.last.size(); ++j) {
    if (node(view).shape[j] == 1) continue;
    const auto last = static_cast<std::int32_t>(m.last[j] - 1);
    in_.facts.equal(ex_.source({view, Field::Stride, j}), ex_.source({base, Field::Layout, last}));
    in_.facts.equal(extent(view, j),
                    last + 1 < dims ? extent(base, last) : ex_.mul(extent(base, dims - 2), arrays));
  }
  p.turns = axis;
  p.arrays = arrays;
  p.each = extent(base, dims - 2);
  return true;
}

void Lowering::split_turns(Packing& p) {
  std::vector<Level> levels;
  for (Level l : p.levels) {
    if (l.axis == p.turns) {
      const auto arrays = static_cast<double>(ex_.value(p.arrays));
      levels.push_back({static_cast<int>(p.idx.size()), l.place, p.arrays, kNone, kNone, arrays});
      l.place = ex_.mul(l.place, p.arrays);
      l.extent = p.each;
      l.trips = std::max(1.0, l.trips / arrays);
      for (Val* at : {&l.begin, &l.end})
        if (*at != kNone) *at = integer(OpId::FloorDivide, *at, number(p.arrays));
    }
    levels.push_back(l);
  }
  p.levels = levels;
  p.left.resize(levels.size());
  p.idx.emplace_back();
}

std::vector<Lowering::Walk> Lowering::aligned(std::int32_t operand,
                                              const std::vector<Walk>& walks) const {
  const Dims& s = node(operand).shape;
  std::vector<Walk> of(static_cast<std::size_t>(s.size()));
  for (std::size_t d = 0; d < of.size(); ++d)
    if (s[static_cast<int>(d)] != 1) of[d] = walks[walks.size() - of.size() + d];
  return of;
}

std::vector<Lowering::Walk> Lowering::walks_through(std::int32_t view,
                                                    const std::vector<Walk>& walks) {
  const GNode& gn = g_[view];
  std::vector<Walk> of(static_cast<std::size_t>(node(gn.in[0]).shape.size()));
  for (int d = 0; d < static_cast<int>(of.size()); ++d) {
    Walk& w = of[static_cast<std::size_t>(d)];
    if (gn.windows) {
      w.start = ex_.source({view, Field::WindowStart, d});
      for (int j = 0; j < gn.windows->axis.size(); ++j) {
        if (gn.windows->axis[j] != d) continue;
        const Walk s = stepped(walks[static_cast<std::size_t>(j)],
                               small(ex_.source({view, Field::WindowStep, j})), w.start);
        w.start = s.start;
        w.steps.insert(w.steps.end(), s.steps.begin(), s.steps.end());
      }
    } else if (const std::int64_t j = gn.map->from[d]; j >= 0) {
      w = stepped(walks[static_cast<std::size_t>(j)], small(ex_.source({view, Field::MapStep, d})),
                  ex_.source({view, Field::MapStart, d}));
    } else {
      w.start = ex_.source({view, Field::MapStart, d});
    }
  }
  return of;
}

std::vector<Lowering::Walk> Lowering::walks_written(std::int32_t update,
                                                    const std::vector<Walk>& walks) {
  std::vector<Walk> of(static_cast<std::size_t>(node(update).view_shape.size()));
  for (int d = 0; d < static_cast<int>(walks.size()); ++d)
    if (const std::int64_t j = g_[update].map->from[d]; j >= 0)
      of[static_cast<std::size_t>(j)] =
          stepped(walks[static_cast<std::size_t>(d)], ex_.one(),
                  ex_.mul(ex_.source({update, Field::MapStart, d}), ex_.constant(-1)));
  return of;
}

Lowering::PartEdges Lowering::edges(std::int32_t update, int d) {
  const ExprId first = ex_.source({update, Field::MapStart, d}),
               end = ex_.add(first, part_extent(update, d));
  return {first, end, in_.facts.equal(first, ex_.zero()),
          in_.facts.equal(end, ex_.source({update, Field::Shape, d}))};
}

ExprId Lowering::part_extent(std::int32_t update, int d) {
  const std::int64_t j = g_[update].map->from[d];
  return j < 0 ? ex_.one() : ex_.source({update, Field::ViewShape, static_cast<std::int32_t>(j)});
}

// The operand at the loops of all levels, stored where they say. `idx`: of dimensions that no level
// has.
void Lowering::pack(std::int32_t operand, const Index& idx, const std::vector<Level>& levels,
                    std::int32_t local, std::int32_t ctx, bool repeated) {
  Packing p{operand, local, levels, idx, {}, {}};
  p.repeated = repeated;
  if (const std::int32_t id = in_.canon[operand];
      !in_.in_memory[id] && !in_.in_memory[in_.canon[g_[id].in[0]]] && unfolded_axes(g_, id)) {
    p.operand = g_[id].in[0];
    p.repeated = true;
    p.levels = split(id, levels, p.idx);
  }
  p.left.resize(p.levels.size());
  return pack(p, ctx);
}

// The index in the copy, whose dimensions the view merges: of several that are one, each is what is
// left of its index by those around it.
Index Lowering::unmerged(std::int32_t view, const Index& idx) {
  const std::int32_t copy = g_[view].in[0];
  const Node &n = node(view), &c = node(copy);
  const MergedAxes m = *unfolded_axes(g_, view);
  Index at(static_cast<std::size_t>(c.shape.size()));
  for (int j = 0; j < n.shape.size(); ++j) {
    if (n.shape[j] == 1) continue;
    in_.facts.equal(ex_.source({view, Field::Stride, j}),
                    ex_.source({copy, Field::Layout, static_cast<std::int32_t>(m.last[j] - 1)}));
    const Ix& whole = idx[static_cast<std::size_t>(j)];
    const bool several = std::count_if(c.shape.begin() + m.first[j], c.shape.begin() + m.last[j],
                                       [](std::int64_t e) { return e != 1; }) > 1;
    ExprId inner = ex_.one();
    for (auto d = static_cast<int>(m.last[j]); d-- > m.first[j];) {
      const ExprId extent = ex_.source({copy, Field::Shape, d});
      Ix& one = at[static_cast<std::size_t>(d)];
      if (c.shape[d] != 1) one = whole;
      if (several && c.shape[d] != 1 && whole != Ix{}) {
        Val v = position(whole);
        if (inner != ex_.one()) v = integer(OpId::FloorDivide, v, number(inner));
        if (d != m.first[j]) v = integer(OpId::Remainder, v, number(extent));
        one = {-1, ex_.one(), ex_.zero(), v};
      }
      inner = ex_.mul(inner, extent);
    }
    in_.facts.equal(ex_.source({view, Field::Shape, j}), inner);
  }
  return at;
}

// Loops over merged dimensions are loops over each of them.
std::vector<Lowering::Level> Lowering::split(std::int32_t view, const std::vector<Level>& levels,
                                             Index& idx) {
  const std::int32_t copy = g_[view].in[0];
  const Dims& shape = node(copy).shape;
  const MergedAxes m = *unfolded_axes(g_, view);
  const auto extent = [&](int d) { return ex_.source({copy, Field::Shape, d}); };
  idx = unmerged(view, idx);
  std::vector<Level> out;
  for (const Level& l : levels) {
    const int begin = static_cast<int>(m.first[l.axis]), end = static_cast<int>(m.last[l.axis]);
    int around = -1;
    for (int d = begin; d < end; ++d) {
      ExprId inner = ex_.one();
      for (int e = d + 1; e < end; ++e) inner = ex_.mul(inner, extent(e));
      Level one{d, ex_.mul(l.place, inner), extent(d), kNone, kNone, static_cast<double>(shape[d])};
      if (l.begin != kNone) {
        one.low = l.begin;
        one.high = l.end;
        one.inner = inner;
        one.around = around;
        if (d + 1 == end) one.begin = l.begin;
      }
      around = static_cast<int>(out.size());
      out.push_back(one);
    }
  }
  return out;
}

// The iterations of a loop over one of several merged dimensions.
std::pair<Val, Val> Lowering::range_of(const Level& l) {
  Packing& p = *parts_;
  std::pair<Val, Val> left{l.low, l.high};
  if (l.around >= 0) {
    const auto a = static_cast<std::size_t>(l.around);
    const Val before = integer(OpId::Multiply, k_.loops[p.loops[a]].var, number(p.levels[a].inner));
    left = {integer(OpId::Subtract, p.left[a].first, before),
            integer(OpId::Subtract, p.left[a].second, before)};
  }
  p.left[static_cast<std::size_t>(&l - p.levels.data())] = left;
  Val begin = left.first, end = left.second;
  if (l.inner != ex_.one()) {
    const auto negative = [&](Val v) { return apply(OpId::Negative, DType::Int64, v); };
    begin = integer(OpId::FloorDivide, begin, number(l.inner));
    end = negative(integer(OpId::FloorDivide, negative(end), number(l.inner)));
  }
  return {integer(OpId::Maximum, begin, constant(scalar_int(0))),
          integer(OpId::Minimum, end, number(l.extent))};
}

void Lowering::pack(Packing& p, std::int32_t ctx) {
  const std::int32_t operand = p.operand;
  std::vector<Walk> walks(p.idx.size());
  for (std::size_t d = 0; d < walks.size(); ++d)
    if (node(operand).shape[static_cast<int>(d)] != 1)
      walks[d].steps.push_back({static_cast<int>(d), ex_.one()});
  parts_ = &p;
  find_parts(operand, walks, -1, p.parts);
  if (p.turns >= 0) split_turns(p);
  for (std::size_t n = 0; n < p.parts.size(); ++n) {
    find_cuts(p, static_cast<std::int32_t>(n));
    p.inside.push_back(true);
  }
  pack_level(-1, 0, kNone, kNone, ctx);
  parts_ = nullptr;
}

// A part is cut off where the last loop that steps along a dimension of it opens.
void Lowering::find_cuts(Packing& p, std::int32_t number) {
  const Part& part = p.parts[static_cast<std::size_t>(number)];
  const Dims& shape = node(part.update).shape;
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    const PartEdges e = edges(part.update, d);
    const bool to_last = e.to_last || goes_on(p, part, d, e.end);
    if (e.from_first && to_last) continue;
    int level = -1;
    for (const auto& [axis, step] : part.walks[static_cast<std::size_t>(d)].steps)
      for (int l = level + 1; l < static_cast<int>(p.levels.size()); ++l)
        if (p.levels[static_cast<std::size_t>(l)].axis == axis) level = l;
    p.cuts.push_back({number, d, level, e.from_first, to_last});
  }
}

// Whether what was written over the part begins where it ends, as the next array of a concatenation
// does: behind it nothing shows.
bool Lowering::goes_on(const Packing& p, const Part& part, int d, ExprId end) {
  if (part.over < 0) return false;
  for (const Cut& c : p.cuts)
    if (c.part == part.over && (c.dim != d || !c.to_last)) return false;
  const std::int32_t next = p.parts[static_cast<std::size_t>(part.over)].update;
  return in_.facts.equal(ex_.source({next, Field::MapStart, d}), end);
}

// Whether there is another part beside it.
bool Lowering::covers(const Packing& p, std::int32_t part) const {
  return std::any_of(p.parts.begin(), p.parts.end(),
                     [&](const Part& below) { return below.over == part; });
}

// Whether the loops down to `level` are inside another part that was written over this one.
bool Lowering::part_hidden(const Part& part, int level) const {
  const Packing& p = *parts_;
  if (part.over < 0) return false;
  const auto over = static_cast<std::size_t>(part.over);
  const bool whole = std::none_of(p.cuts.begin(), p.cuts.end(), [&](const Cut& c) {
    return c.part == part.over && c.level > level;
  });
  return (whole && p.inside[over]) || part_hidden(p.parts[over], level);
}

// The loops from `level` on; of that one the range [begin, end), from its cut number `next` on.
void Lowering::pack_level(int level, std::size_t next, Val begin, Val end, std::int32_t ctx) {
  Packing& p = *parts_;
  while (next < p.cuts.size() && p.cuts[next].level != level) ++next;
  if (next == p.cuts.size()) return open_level(level, begin, end, ctx);
  const Cut& cut = p.cuts[next];
  const Part& part = p.parts[static_cast<std::size_t>(cut.part)];
  const auto n = static_cast<std::size_t>(cut.part);
  if (!p.inside[n] || part_hidden(part, level)) return pack_level(level, next + 1, begin, end, ctx);
  // The index along this dimension is `rest` and what the loop steps.
  const Walk& walk = part.walks[static_cast<std::size_t>(cut.dim)];
  Ix rest{-1, ex_.one(), walk.start};
  ExprId step = ex_.one();
  for (const auto& [axis, by] : walk.steps)
    if (level >= 0 && p.levels[static_cast<std::size_t>(level)].axis == axis)
      step = by;
    else
      rest = sum(rest, scaled(p.idx[static_cast<std::size_t>(axis)], by));
  const ExprId first = ex_.source({part.update, Field::MapStart, cut.dim});
  const Val at = position(rest);
  // The first of the loop's iterations from `edge` on.
  const auto reaches = [&](ExprId edge) {
    const Val behind = integer(OpId::Subtract, at, number(edge));
    const Val steps = step == ex_.one() ? behind : integer(OpId::FloorDivide, behind, number(step));
    return integer(OpId::Minimum,
                   integer(OpId::Maximum, apply(OpId::Negative, DType::Int64, steps), begin), end);
  };
  const Val none = constant(scalar_int(0)), one = constant(scalar_int(1));
  if (begin == kNone) {
    begin = none;
    end = one;
  }
  const Val from = cut.from_first ? begin : reaches(first);
  const Val to = cut.to_last ? end : reaches(ex_.add(first, part_extent(part.update, cut.dim)));
  // Beside a part there is little, or another one.
  const bool covered = covers(p, cut.part);
  double* const trips = level >= 0 ? &p.levels[static_cast<std::size_t>(level)].trips : nullptr;
  const double all = trips ? *trips : 1;
  const auto one_of = [&](Val first_of, Val end_of, double share) {
    if (trips && covered) *trips = std::max(1.0, all * share);
    pack_level(level, next + 1, first_of, end_of, ctx);
    if (trips) *trips = all;
  };
  const double share = static_cast<double>(concrete(in_, part_extent(part.update, cut.dim))) /
                       static_cast<double>(node(part.update).shape[cut.dim]);
  one_of(from, to, share);
  p.inside[n] = false;
  const auto beside = [&](Val first_of, Val end_of) {
    p.narrow = !covered;
    one_of(first_of, end_of, 1 - share);
  };
  if (!cut.from_first) beside(begin, from);
  if (!cut.to_last) beside(to, end);
  p.inside[n] = true;
}

void Lowering::open_level(int level, Val begin, Val end, std::int32_t ctx) {
  Packing& p = *parts_;
  std::int32_t loop = ctx;
  if (level >= 0) {
    const Level& l = p.levels[static_cast<std::size_t>(level)];
    const bool narrow = std::exchange(p.narrow, false);
    loop = begin == kNone ? open(ctx, l.extent)
           : narrow       ? open_between(ctx, begin, end, ex_.one(), 1)
                          : open_between(ctx, begin, end, l.extent, l.trips);
    Ix& x = p.idx[static_cast<std::size_t>(l.axis)];
    x.loop = loop;
    if (l.axis == p.turns) {
      x.step = p.arrays;
      x.at = k_.loops[p.idx.back().loop].var;
    }
    p.loops.push_back(loop);
  } else if (begin != kNone) {
    p.narrow = false;
    loop = open_between(ctx, begin, end, ex_.one(), 1);
  }
  if (level + 1 == static_cast<int>(p.levels.size())) {
    Access to;
    for (std::size_t l = 0; l < p.levels.size(); ++l) {
      const Level& of = p.levels[l];
      to.terms.push_back({k_.loops[p.loops[l]].var, coeff(of.place)});
      if (of.begin != kNone)
        to.terms.push_back({of.begin, coeff(ex_.mul(of.place, ex_.constant(-1)))});
    }
    Index at = p.idx;
    if (p.turns >= 0) at.pop_back();
    push_store_local(p.local, std::move(to), emit(p.operand, at, loop), loop);
  } else {
    const Level& inner = p.levels[static_cast<std::size_t>(level + 1)];
    const bool cut = std::any_of(p.cuts.begin(), p.cuts.end(),
                                 [&](const Cut& c) { return c.level == level + 1; });
    Val from = inner.begin, to = inner.end;
    if (inner.low != kNone) std::tie(from, to) = range_of(inner);
    if (cut && from == kNone) {
      from = constant(scalar_int(0));
      to = number(inner.extent);
    }
    pack_level(level + 1, 0, from, to, loop);
  }
  if (level >= 0) p.loops.pop_back();
  if (loop != ctx) close(loop);
}

// Of a write whose memory is not there.
Val Lowering::written_value(std::int32_t id, const Index& idx, std::int32_t ctx) {
  const GNode& gn = g_[id];
  if (parts_)
    for (std::size_t n = 0; n < parts_->parts.size(); ++n) {
      if (parts_->parts[n].update != id) continue;
      if (!parts_->inside[n])
        return node(gn.in[0]).kind == NodeKind::Empty ? zero(node(id).dtype)
                                                      : emit(gn.in[0], idx, ctx);
      Index at(static_cast<std::size_t>(node(id).view_shape.size()));
      for (int d = 0; d < gn.map->from.size(); ++d)
        if (const std::int64_t j = gn.map->from[d]; j >= 0)
          at[static_cast<std::size_t>(j)] =
              sum(idx[static_cast<std::size_t>(d)],
                  {-1, ex_.one(), ex_.mul(ex_.source({id, Field::MapStart, d}), ex_.constant(-1))});
      return emit(gn.in[1], at, ctx);
    }
  if (padding_.axes > 0) return padded_value(id, idx, ctx);
  need(id, "a write to storage");
  return zero(node(id).dtype);
}

Index Lowering::through_windows(std::int32_t id, const Index& idx) {
  const GNode& gn = g_[id];
  Index at(static_cast<std::size_t>(node(gn.in[0]).shape.size()));
  for (int d = 0; d < static_cast<int>(at.size()); ++d)
    if (node(gn.in[0]).shape[d] != 1)
      at[static_cast<std::size_t>(d)].start = small(ex_.source({id, Field::WindowStart, d}));
  for (int j = 0; j < gn.windows->axis.size(); ++j)
    if (const std::int64_t d = gn.windows->axis[j]; d >= 0)
      at[static_cast<std::size_t>(d)] = sum(
          at[static_cast<std::size_t>(d)],
          scaled(idx[static_cast<std::size_t>(j)], small(ex_.source({id, Field::WindowStep, j}))));
  return at;
}

}  // namespace plait::fusion
