#include "cut_loops.hpp"

#include <algorithm>
#include <tuple>

#include "fusion/graph/written_parts.hpp"

namespace plait::fusion {
using tracer::NodeKind;

CutLoops::CutLoops(Nest& nest, Emit emit, RequireStored need)
    : nest_(nest),
      in_(nest.in_),
      g_(nest.g_),
      ex_(nest.ex_),
      emit_(std::move(emit)),
      need_(std::move(need)) {}

void CutLoops::start(const Index& idx, const std::vector<Level>& levels,
                     const std::vector<ExprId>& extents) {
  idx_ = idx;
  levels_ = levels;
  extents_ = extents;
  arrays_axis_ = static_cast<int>(idx.size());
  folded_ = arrays_axis_ + 1;
  extents_.resize(static_cast<std::size_t>(folded_), ex_.one());
}

bool CutLoops::contains_part(std::int32_t id) {
  id = in_.canon[id];
  if ((!g_.writes() && !fills_) || g_[id].leaf || in_.in_memory[id]) return false;
  if (const auto known = contains_.find(id); known != contains_.end()) return known->second;
  bool found = node(id).kind == NodeKind::Update || (fills_ && merges(id));
  for (const std::int32_t in : g_[id].in) found = (in >= 0 && contains_part(in)) || found;
  return contains_[id] = found;
}

void CutLoops::read_at(std::int32_t id, const std::vector<AffineIndex>& idx) {
  if (contains_part(id)) places_[in_.canon[id]].insert(idx);
}

void CutLoops::find_reads() {
  while (!places_.empty() && !split_again_ && !rolls_) {
    in_.budget.check(ex_.size());
    const auto [id, places] = std::move(*places_.begin());
    places_.erase(places_.begin());
    if (places.size() > kMaxPlaces)
      need_(id, "it is read at many places");
    else if (fills_ && places.size() > 1 && node(id).kind == NodeKind::Update)
      need_(id, "it is packed in two ways at once");
    else
      for (const std::vector<AffineIndex>& idx : places) read_by(id, idx);
  }
}

// What the node reads where it is read there.
void CutLoops::read_by(std::int32_t id, const std::vector<AffineIndex>& idx) {
  const PlanNode& gn = g_[id];
  const Node& n = *gn.node;
  if (n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast) {
    for (const std::int32_t in : gn.in)
      if (in >= 0) read_at(in, nest_.broadcast(in, idx));
  } else if (n.kind == NodeKind::View && gn.steps()) {
    read_at(gn.in[0], nest_.view_index(id, idx));
  } else if (n.kind == NodeKind::Reduce) {
    const std::vector<AffineIndex> of = folded_index(id, idx);
    read_at(gn.in[0], of);
    if (gn.in[1] >= 0) read_at(gn.in[1], nest_.broadcast(gn.in[1], of));
  } else if (n.kind == NodeKind::Update) {
    const auto over = std::find_if(reads_.begin(), reads_.end(), [&](const Read& r) {
      return in_.canon[g_[r.update].in[0]] == id && r.idx == idx;
    });
    reads_.push_back(
        {id, over == reads_.end() ? -1 : static_cast<int>(over - reads_.begin()), idx});
    read_at(gn.in[0], idx);
    read_at(gn.in[1], nest_.written_index(id, idx));
  } else if (const auto by = interleaved_axes(g_, id);
             by && interleave(id, idx[static_cast<std::size_t>(by->back())])) {
    std::vector<AffineIndex> of = of_base(*by, idx);
    of.back() = {ex_.zero(), {{arrays_axis_, ex_.one()}}};
    read_at(gn.in[0], of);
  } else if (fills_ && merges(id)) {
    const std::vector<AffineIndex> at = nest_.view_index(id, idx);
    if (const auto of = digits(id, at))
      read_at(gn.in[0], *of);
    else if (!(split_again_ = split_for(id, at))) {
      if (unroll_.axis >= 0)
        rolls_ = true;
      else
        need_(gn.in[0], "it is not read as loops step");
    }
  } else {
    for (const std::int32_t in : gn.in)
      if (in >= 0 && contains_part(in)) need_(in, "it is not read as loops step");
  }
}

// Of the operand of a reduction.
std::vector<AffineIndex> CutLoops::folded_index(std::int32_t reduction,
                                                const std::vector<AffineIndex>& idx) {
  const std::int32_t operand = g_[reduction].in[0];
  const Numbers& shape = node(operand).extents;
  const Dims& axes = node(reduction).axes;
  std::vector<AffineIndex> of(static_cast<std::size_t>(shape.size()));
  std::size_t kept = 0;
  for (int d = 0; d < shape.size(); ++d) {
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
      of[static_cast<std::size_t>(d)] = idx[kept++];
      continue;
    }
    if (shape[d] == 1) continue;
    of[static_cast<std::size_t>(d)].steps = {{static_cast<int>(extents_.size()), ex_.one()}};
    extents_.push_back(ex_.source({operand, Field::Shape, d}));
  }
  return of;
}

CutLoops::Edges CutLoops::edges(std::int32_t update, int d) {
  const ExprId first = ex_.source({update, Field::MapStart, d}),
               end = ex_.add(first, part_extent(update, d));
  return {first, end, in_.facts.equal(first, ex_.zero()),
          in_.facts.equal(end, ex_.source({update, Field::Shape, d}))};
}

ExprId CutLoops::part_extent(std::int32_t update, int d) {
  const std::int64_t j = g_[update].map->from[d];
  return j < 0 ? ex_.one() : ex_.source({update, Field::ViewShape, static_cast<std::int32_t>(j)});
}

void CutLoops::fill(std::int32_t operand, const Index& idx, const std::vector<Level>& levels,
                    std::int32_t ctx, bool repeated, Unroll unroll, const Put& put) {
  fills_ = true;
  unroll_ = unroll;
  repeated_ = repeated;
  if (const std::int32_t id = in_.canon[operand];
      !in_.in_memory[id] && !in_.in_memory[in_.canon[g_[id].in[0]]] && unfolded_axes(g_, id)) {
    Index at = idx;
    operand = g_[id].in[0];
    repeated_ = true;
    const std::vector<Level> each = split(id, levels, at);
    start_fill(operand, at, each);
    read_operand(operand);
    if (interleaved_.axis >= 0) split_interleaved();
    cut_each();
  } else {
    if (unroll_.axis >= 0) splits_[unroll_.axis].inner = {unroll_.iterations};
    do {
      start_fill(operand, idx, levels);
      read_operand(operand);
      if (interleaved_.axis >= 0 && !split_again_ && !rolls_) split_interleaved();
      cut_each();
      if (!rolls_) continue;
      splits_.clear();
      unroll_ = {};
    } while (split_again_ || std::exchange(rolls_, false));
  }
  run(ctx, [&](const Index&, std::int32_t loop) { put_elements(operand, ctx, loop, put); });
}

// Of the innermost loop, at all unrolled iterations.
void CutLoops::put_elements(std::int32_t operand, std::int32_t ctx, std::int32_t loop,
                            const Put& put) {
  Elements e{{}, {}, {}, {}, loop, ctx};
  std::vector<const Level*> digits;
  std::int64_t count = 1;
  for (const Level& l : levels_) {
    const auto add = [&](ir::Access& to, ExprId place) {
      if (place == ex_.zero()) return;
      if (!l.unrolled) {
        const std::int32_t along = idx_[static_cast<std::size_t>(l.axis)].loop;
        to.terms.push_back({nest_.k_.loops[along].var, nest_.coeff(place)});
      }
      if (l.begin != kNone)
        to.terms.push_back({l.begin, nest_.coeff(ex_.mul(place, ex_.constant(-1)))});
    };
    add(e.place, l.place);
    add(e.second, l.second);
    if (l.unrolled) {
      digits.push_back(&l);
      count *= ex_.value(l.extent);
    } else if (const std::int32_t along = idx_[static_cast<std::size_t>(l.axis)].loop;
               l.second != ex_.zero() && nest_.encloses(e.outer, along)) {
      e.outer = along;
    }
  }
  for (std::int64_t n = 0; n < count; ++n) {
    ExprId offset = ex_.zero();
    std::int64_t rest = n;
    for (auto l = digits.rbegin(); l != digits.rend(); ++l) {
      const std::int64_t extent = ex_.value((*l)->extent);
      const ExprId at = ex_.constant(rest % extent);
      idx_[static_cast<std::size_t>((*l)->axis)] = {-1, ex_.one(), at};
      offset = ex_.add(offset, ex_.mul(at, (*l)->second));
      rest /= extent;
    }
    beside_.clear();
    for (const auto& [read, dim] : decided_) {
      const Read& r = reads_[static_cast<std::size_t>(read)];
      const AffineIndex& w = r.idx[static_cast<std::size_t>(dim)];
      std::int64_t at = ex_.value(w.start);
      for (const auto& [axis, step] : w.steps)
        at += ex_.value(step) * ex_.value(idx_[static_cast<std::size_t>(axis)].start);
      if (!decide(read, dim, at)) beside_.insert(r.update);
    }
    e.offsets.push_back(offset);
    e.values.push_back(emit_(operand, index_of_operand(idx_), loop));
  }
  beside_.clear();
  put(e);
}

bool CutLoops::unrolled(int axis) const {
  return std::any_of(levels_.begin(), levels_.end(),
                     [&](const Level& l) { return l.axis == axis && l.unrolled; });
}

// Whether that index is inside the part.
bool CutLoops::decide(int read, int dim, std::int64_t at) {
  const Edges e = edges(reads_[static_cast<std::size_t>(read)].update, dim);
  return at >= ex_.value(in_.facts.known(e.first)) && at < ex_.value(in_.facts.known(e.end));
}

// A part is cut off where the last loop that steps along a dimension of it opens.
void CutLoops::cut_each() {
  cuts_.clear();
  decided_.clear();
  if (split_again_ || rolls_) return;
  for (std::size_t n = 0; n < reads_.size(); ++n) {
    const Read& r = reads_[n];
    const Numbers& shape = node(r.update).extents;
    for (int d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) continue;
      const Edges e = edges(r.update, d);
      const bool to_last = e.to_last || goes_on(r, d, e.end);
      if (e.from_first && to_last) continue;
      int level = -1;
      bool steps = true;
      const AffineIndex& walk = r.idx[static_cast<std::size_t>(d)];
      const auto is_unrolled = [&](const auto& step) { return unrolled(step.first); };
      if (std::any_of(walk.steps.begin(), walk.steps.end(), is_unrolled)) {
        rolls_ = !std::all_of(walk.steps.begin(), walk.steps.end(), is_unrolled) ||
                 !ex_.is_constant(walk.start) ||
                 !std::all_of(walk.steps.begin(), walk.steps.end(),
                              [&](const auto& step) { return ex_.is_constant(step.second); });
        if (rolls_) return;
        decided_.emplace_back(static_cast<int>(n), d);
        continue;
      }
      for (const auto& [axis, step] : r.idx[static_cast<std::size_t>(d)].steps) {
        steps &= axis < folded_ && ex_.is_constant(step) && ex_.value(step) > 0;
        for (int l = level + 1; l < static_cast<int>(levels_.size()); ++l)
          if (levels_[static_cast<std::size_t>(l)].axis == axis) level = l;
      }
      if (!steps) need_(r.update, "it is not read as loops step");
      cuts_.push_back({level, level, static_cast<int>(n), d, !e.from_first, !to_last});
    }
  }
}

// Whether what was written over the part begins where it ends, as the next array of a concatenation
// does: behind it nothing shows.
bool CutLoops::goes_on(const Read& r, int d, ExprId end) const {
  if (r.over < 0) return false;
  for (const Cut& c : cuts_)
    if (c.read == r.over && (c.dim != d || c.behind)) return false;
  const std::int32_t next = reads_[static_cast<std::size_t>(r.over)].update;
  return in_.facts.equal(ex_.source({next, Field::MapStart, d}), end);
}

// Whether there is another part beside it.
bool CutLoops::covered(int read) const {
  return std::any_of(reads_.begin(), reads_.end(),
                     [&](const Read& below) { return below.over == read; });
}

// Whether the loops down to `level` are inside another part that was written over this one, or
// beside this one.
bool CutLoops::hidden(int read, int level) const {
  const int over = reads_[static_cast<std::size_t>(read)].over;
  return over >= 0 && (hidden(over, level) || std::all_of(cuts_.begin(), cuts_.end(), [&](auto& c) {
                         return c.read != over || (c.inside && c.level <= level);
                       }));
}

// The iterations of a loop in which what the cut is for is read inside.
std::pair<Val, Val> CutLoops::inside(const Cut& c, const Range& all) {
  // The index along this dimension is `rest` and what the loop steps.
  const Read& r = reads_[static_cast<std::size_t>(c.read)];
  const AffineIndex& walk = r.idx[static_cast<std::size_t>(c.dim)];
  AxisIndex rest{-1, ex_.one(), walk.start};
  ExprId step = ex_.one();
  for (const auto& [axis, by] : walk.steps)
    if (c.level >= 0 && levels_[static_cast<std::size_t>(c.level)].axis == axis)
      step = by;
    else
      rest = nest_.sum(rest, nest_.scaled(idx_[static_cast<std::size_t>(axis)], by));
  const Edges e = edges(r.update, c.dim);
  const Val at = nest_.position(rest);
  // The first of the loop's iterations from `edge` on.
  const auto reaches = [&](ExprId edge) {
    const Val behind = integer(OpId::Subtract, at, number(edge));
    const Val steps = step == ex_.one() ? behind : integer(OpId::FloorDivide, behind, number(step));
    return integer(OpId::Minimum, integer(OpId::Maximum, negative(steps), all.begin), all.end);
  };
  const Val from = c.before ? reaches(e.first) : all.begin;
  return {from, c.behind ? reaches(e.end) : all.end};
}

// The loops from `level` on, in the zones of its cuts from number `next` on.
void CutLoops::open_zones(int level, std::size_t next, std::int32_t ctx) {
  while (next < cuts_.size() && cuts_[next].in_front != level) ++next;
  if (next == cuts_.size()) return open_level(level, ctx);
  Cut& cut = cuts_[next];
  if (!fills_) return open_zones_of_roots(cut, level, next + 1, ctx);
  const int read = cut.read, dim = cut.dim;
  if (hidden(read, level) || std::any_of(cuts_.begin(), cuts_.end(),
                                         [&](const Cut& c) { return c.read == read && !c.inside; }))
    return open_zones(level, next + 1, ctx);
  Range& open = range(cut.level);
  const Range before = open;
  Range all = open;
  if (all.begin == kNone) {
    all.begin = zero();
    all.end = cut.level < 0 ? nest_.constant(scalar_int(1))
                            : number(levels_[static_cast<std::size_t>(cut.level)].extent);
  }
  const auto [from, to] = inside(cut, all);
  // Beside a part there is little, or another one.
  const bool more = covered(read);
  const std::int32_t update = reads_[static_cast<std::size_t>(read)].update;
  const double share = more ? static_cast<double>(concrete(in_, part_extent(update, dim))) /
                                  node(update).extents[dim].cost()
                            : 1;
  const auto zone = [&](bool is_inside, Val begin, Val end) {
    cut.inside = is_inside;
    open = {begin, end, all.trips, all.narrow || (!is_inside && !more)};
    if (more) open.trips = std::max(1.0, all.trips * (is_inside ? share : 1 - share));
    open_zones(level, next + 1, ctx);
  };
  // In order, as a sum goes.
  if (cut.before) zone(false, all.begin, from);
  zone(true, from, to);
  if (cut.behind) zone(false, to, all.end);
  cut.inside = true;
  open = before;
}

void CutLoops::open_level(int level, std::int32_t ctx) {
  const Range& r = range(level);
  std::int32_t loop = ctx;
  if (level >= 0 && levels_[static_cast<std::size_t>(level)].unrolled) {
  } else if (level < 0 && r.begin != kNone) {
    loop = nest_.open_between(ctx, r.begin, r.end, ex_.one(), 1);
  } else if (level >= 0) {
    const Level& l = levels_[static_cast<std::size_t>(level)];
    loop = r.begin == kNone ? nest_.open(ctx, l.extent)
           : r.narrow       ? nest_.open_between(ctx, r.begin, r.end, ex_.one(), 1)
                            : nest_.open_between(ctx, r.begin, r.end,
                                           r.extent == kNoExtent ? l.extent : r.extent, r.trips);
    AxisIndex& x = idx_[static_cast<std::size_t>(l.axis)];
    x.loop = loop;
    if (l.axis == interleaved_.axis) {
      x.step = interleaved_.arrays;
      x.at = nest_.k_.loops[idx_[static_cast<std::size_t>(arrays_axis_)].loop].var;
    }
  }
  if (level + 1 == static_cast<int>(levels_.size())) {
    body_(idx_, loop);
  } else {
    Level& inner = levels_[static_cast<std::size_t>(level + 1)];
    Range& open = range(level + 1);
    const Range before = open;
    if (open.begin == kNone) {
      open = {inner.begin, inner.end, inner.trips};
      if (inner.low != kNone && !inner.unrolled) std::tie(open.begin, open.end) = range_of(inner);
    }
    open_zones(level + 1, 0, loop);
    range(level + 1) = before;
  }
  if (loop != ctx) nest_.close(loop);
}

void CutLoops::run(std::int32_t ctx, Body body) {
  body_ = std::move(body);
  ranges_.assign(levels_.size() + 1, {});
  for (std::size_t l = 0; l < levels_.size(); ++l) ranges_[l + 1].trips = levels_[l].trips;
  open_zones(-1, 0, ctx);
}

Val CutLoops::value(std::int32_t update, const Index& idx, std::int32_t ctx) {
  const PlanNode& gn = g_[update];
  const Node& n = *gn.node;
  if (std::none_of(reads_.begin(), reads_.end(), [&](auto& r) { return r.update == update; })) {
    need_(update, "a write to storage");
    return nest_.zero(n.dtype);
  }
  const auto old = [&] {
    return node(gn.in[0]).kind == NodeKind::Empty ? nest_.zero(n.dtype) : emit_(gn.in[0], idx, ctx);
  };
  const std::vector<Side> sides = this->sides(update, idx);
  if (std::find(sides.begin(), sides.end(), Beside) != sides.end()) return old();
  const bool chooses = contains_part(gn.in[0]) || shows_base(update);
  Index near = idx;
  Val inside = kNone;
  for (int d = 0; d < n.extents.size(); ++d) {
    const Edges e = edges(update, d);
    if (e.whole() || sides[static_cast<std::size_t>(d)] == Inside) continue;
    const Val v = nest_.position(idx[static_cast<std::size_t>(d)]);
    const Val last = integer(OpId::Subtract, number(e.end), nest_.constant(scalar_int(1)));
    Val at = v;
    if (!e.from_first) at = integer(OpId::Maximum, at, number(e.first));
    if (!e.to_last) at = integer(OpId::Minimum, at, last);
    near[static_cast<std::size_t>(d)] = {-1, ex_.one(), ex_.zero(), at};
    if (!chooses) continue;
    const Val in = nest_.apply(OpId::Equal, DType::Bool, at, v);
    inside = inside == kNone ? in : nest_.apply(OpId::LogicalAnd, DType::Bool, inside, in);
  }
  const Val v = emit_(gn.in[1], nest_.written_index(update, near), ctx);
  return inside == kNone ? v : nest_.either(inside, v, old());
}

}  // namespace plait::fusion
