#include "cut_loops.hpp"

#include <algorithm>
#include <tuple>

#include "fusion/graph/written_parts.hpp"
#include "reach.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {
// Iterations of a zone whose loops are not worth cutting further, or spreading over lanes.
constexpr std::int64_t kNarrow = 8;
}  // namespace

CutLoops::CutLoops(Nest& nest, Emit emit, RequireStored need)
    : NestPart(nest),
      emit_(std::move(emit)),
      need_(std::move(need)),
      merged_(nest, box_),
      reads_(nest, box_, merged_, need_) {}

void CutLoops::start(const Index& idx, const std::vector<Level>& levels,
                     const std::vector<ExprId>& extents) {
  box_.start(idx, levels, extents);
}

bool CutLoops::reads_parts(const std::vector<std::int32_t>& roots) {
  return std::any_of(roots.begin(), roots.end(), [&](std::int32_t r) {
    if (node(r).kind != NodeKind::Update) return reads_.contains_part(r);
    return reads_.contains_part(g_[r].in[1]) ||
           (g_[r].in[2] >= 0 && reads_.contains_part(g_[r].in[2]));
  });
}

void CutLoops::cut_innermost(const std::vector<std::int32_t>& roots) {
  if (!g_.writes()) return;
  const bool written = node(roots[0]).kind == NodeKind::Update;
  const Numbers& shape = written ? node(roots[0]).view_extents : node(roots[0]).extents;
  std::vector<AffineIndex> walks(box_.idx.size());
  for (int d = 0; d < static_cast<int>(walks.size()); ++d)
    if (shape[d] != 1) walks[static_cast<std::size_t>(d)].steps = {{d, ex_.one()}};
  for (const std::int32_t r : roots) {
    if (node(r).kind != NodeKind::Update) {
      reads_.read_at(r, walks);
      continue;
    }
    for (const int k : {1, 2})
      if (const std::int32_t in = g_[r].in[k]; in >= 0)
        reads_.read_at(in, nest_.broadcast(in, walks));
  }
  reads_.find();
  for (std::size_t n = 0; n < reads_.all().size(); ++n) {
    // Sums over several axes of the array itself may be one walk through memory.
    const PartReads::Read& r = reads_[static_cast<int>(n)];
    std::set<int> folded;
    for (const AffineIndex& w : r.idx)
      for (const auto& [axis, step] : w.steps)
        if (axis >= box_.folded) folded.insert(axis);
    for (int d = 0; d < node(r.update).extents.size(); ++d) {
      bool loops = false, folds = false;
      for (const auto& [axis, step] : r.idx[static_cast<std::size_t>(d)].steps)
        (axis < box_.folded ? loops : folds) = true;
      if (folds && !loops && !(folded.size() == 1 && reads_.edges(r.update, d).whole()))
        need_(r.update, "it is not read as loops step");
    }
  }
  const int last = static_cast<int>(box_.levels.size()) - 1, first = std::max(0, last - 1);
  // Beside what was written lanes lie along the loop around: the innermost is cut in front of it.
  // Threads choose what they read.
  for (int l = last; in_.target.lanes && l >= first && l >= 0; --l) {
    LoopZones zones(nest_, box_, reads_, l, need_);
    if (!zones.all().empty()) cuts_.push_back({.level = l, .in_front = first, .zones = zones});
  }
}

void CutLoops::start_fill(std::int32_t operand, const Index& idx,
                          const std::vector<Level>& levels) {
  reads_.start();
  box_.start(idx, {}, {});
  merged_.start(operand, levels);
}

PartReads::Fit CutLoops::read_operand(std::int32_t operand) {
  reads_.read_at(operand, merged_.walks(operand));
  return reads_.find();
}

void CutLoops::fill(std::int32_t operand, const Index& idx, const std::vector<Level>& levels,
                    std::int32_t ctx, bool repeated, Unroll unroll, const Put& put) {
  using Fit = PartReads::Fit;
  box_.fills = true;
  box_.repeated = repeated;
  merged_.unroll(unroll);
  if (const std::int32_t id = in_.canon[operand];
      !in_.in_memory[id] && !in_.in_memory[in_.canon[g_[id].in[0]]] && unfolded_axes(g_, id)) {
    Index at = idx;
    operand = g_[id].in[0];
    box_.repeated = true;
    const std::vector<Level> each = merged_.split_copy(id, levels, at);
    start_fill(operand, at, each);
    const Fit fit = read_operand(operand);
    merged_.split_interleaved();
    if (fit == Fit::Good) cut_each();
  } else {
    merged_.split_unrolled();
    for (Fit fit = Fit::SplitAgain; fit != Fit::Good;) {
      start_fill(operand, idx, levels);
      fit = read_operand(operand);
      if (fit == Fit::Good) {
        merged_.split_interleaved();
        if (!cut_each()) fit = Fit::Rolls;
      }
      if (fit == Fit::Rolls) merged_.roll();
    }
  }
  run(ctx, [&](const Index&, std::int32_t loop) { put_elements(operand, ctx, loop, put); });
}

// Of the innermost loop, at all unrolled iterations.
void CutLoops::put_elements(std::int32_t operand, std::int32_t ctx, std::int32_t loop,
                            const Put& put) {
  Elements e{{}, {}, {}, {}, loop, ctx};
  std::vector<const Level*> digits;
  std::int64_t count = 1;
  for (const Level& l : box_.levels) {
    const auto add = [&](ir::Access& to, ExprId place) {
      if (place == ex_.zero()) return;
      if (!l.unrolled) {
        const std::int32_t along = box_.idx[static_cast<std::size_t>(l.axis)].loop;
        to.terms.push_back({k_.loops[along].var, coeff(place)});
      }
      if (l.begin != kNone) to.terms.push_back({l.begin, coeff(ex_.mul(place, ex_.constant(-1)))});
    };
    add(e.place, l.place);
    add(e.second, l.second);
    if (l.unrolled) {
      digits.push_back(&l);
      count *= ex_.value(l.extent);
    } else if (const std::int32_t along = box_.idx[static_cast<std::size_t>(l.axis)].loop;
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
      box_.idx[static_cast<std::size_t>((*l)->axis)] = {-1, ex_.one(), at};
      offset = ex_.add(offset, ex_.mul(at, (*l)->second));
      rest /= extent;
    }
    beside_.clear();
    for (const auto& [read, dim] : decided_) {
      const PartReads::Read& r = reads_[read];
      const AffineIndex& w = r.idx[static_cast<std::size_t>(dim)];
      std::int64_t at = ex_.value(w.start);
      for (const auto& [axis, step] : w.steps)
        at += ex_.value(step) * ex_.value(box_.idx[static_cast<std::size_t>(axis)].start);
      if (!decide(read, dim, at)) beside_.insert(r.update);
    }
    e.offsets.push_back(offset);
    e.values.push_back(emit_(operand, merged_.index_of_operand(box_.idx), loop));
  }
  beside_.clear();
  put(e);
}

bool CutLoops::unrolled(int axis) const {
  return std::any_of(box_.levels.begin(), box_.levels.end(),
                     [&](const Level& l) { return l.axis == axis && l.unrolled; });
}

// Whether that index is inside the part.
bool CutLoops::decide(int read, int dim, std::int64_t at) {
  const PartReads::Edges e = reads_.edges(reads_[read].update, dim);
  return at >= ex_.value(in_.facts.known(e.first)) && at < ex_.value(in_.facts.known(e.end));
}

// A part is cut off where the last loop that steps along a dimension of it opens.
bool CutLoops::cut_each() {
  cuts_.clear();
  decided_.clear();
  for (std::size_t n = 0; n < reads_.all().size(); ++n) {
    const PartReads::Read& r = reads_[static_cast<int>(n)];
    const Numbers& shape = node(r.update).extents;
    for (int d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) continue;
      const PartReads::Edges e = reads_.edges(r.update, d);
      const bool to_last = e.to_last || goes_on(r, d, e.end);
      if (e.from_first && to_last) continue;
      int level = -1;
      bool steps = true;
      const AffineIndex& walk = r.idx[static_cast<std::size_t>(d)];
      const auto is_unrolled = [&](const auto& step) { return unrolled(step.first); };
      if (std::any_of(walk.steps.begin(), walk.steps.end(), is_unrolled)) {
        if (!ex_.is_constant(walk.start) ||
            !std::all_of(walk.steps.begin(), walk.steps.end(), [&](const auto& step) {
              return is_unrolled(step) && ex_.is_constant(step.second);
            }))
          return false;
        decided_.emplace_back(static_cast<int>(n), d);
        continue;
      }
      for (const auto& [axis, step] : r.idx[static_cast<std::size_t>(d)].steps) {
        steps &= axis < box_.folded && ex_.is_constant(step) && ex_.value(step) > 0;
        for (int l = level + 1; l < static_cast<int>(box_.levels.size()); ++l)
          if (box_.levels[static_cast<std::size_t>(l)].axis == axis) level = l;
      }
      if (!steps) need_(r.update, "it is not read as loops step");
      cuts_.push_back({level, level, static_cast<int>(n), d, !e.from_first, !to_last});
    }
  }
  return true;
}

// Whether what was written over the part begins where it ends, as the next array of a concatenation
// does: behind it nothing shows.
bool CutLoops::goes_on(const PartReads::Read& r, int d, ExprId end) const {
  if (r.over < 0) return false;
  for (const Cut& c : cuts_)
    if (c.read == r.over && (c.dim != d || c.behind)) return false;
  const std::int32_t next = reads_[r.over].update;
  return in_.facts.equal(ex_.source({next, Field::MapStart, d}), end);
}

// Whether there is another part beside it.
bool CutLoops::covered(int read) const {
  return std::any_of(reads_.all().begin(), reads_.all().end(),
                     [&](const PartReads::Read& below) { return below.over == read; });
}

// Whether the loops down to `level` are inside another part that was written over this one, or
// beside this one.
bool CutLoops::hidden(int read, int level) const {
  const int over = reads_[read].over;
  return over >= 0 && (hidden(over, level) || std::all_of(cuts_.begin(), cuts_.end(), [&](auto& c) {
                         return c.read != over || (c.inside && c.level <= level);
                       }));
}

// The iterations of a loop in which what the cut is for is read inside.
std::pair<Val, Val> CutLoops::inside(const Cut& c, const Range& all) {
  // The index along this dimension is `rest` and what the loop steps.
  const PartReads::Read& r = reads_[c.read];
  const AffineIndex& walk = r.idx[static_cast<std::size_t>(c.dim)];
  AxisIndex rest{-1, ex_.one(), walk.start};
  ExprId step = ex_.one();
  for (const auto& [axis, by] : walk.steps)
    if (c.level >= 0 && box_.levels[static_cast<std::size_t>(c.level)].axis == axis)
      step = by;
    else
      rest = nest_.sum(rest, nest_.scaled(box_.idx[static_cast<std::size_t>(axis)], by));
  const PartReads::Edges e = reads_.edges(r.update, c.dim);
  const Val at = nest_.position(rest);
  // The first of the loop's iterations from `edge` on.
  const auto reaches = [&](ExprId edge) {
    const Val behind = integer(OpId::Subtract, at, number(edge));
    const Val steps = step == ex_.one() ? behind : integer(OpId::FloorDivide, behind, number(step));
    return integer(OpId::Minimum, integer(OpId::Maximum, nest_.negative(steps), all.begin),
                   all.end);
  };
  const Val from = c.before ? reaches(e.first) : all.begin;
  return {from, c.behind ? reaches(e.end) : all.end};
}

// The loops from `level` on, in the zones of its cuts from number `next` on.
void CutLoops::open_zones(int level, std::size_t next, std::int32_t ctx) {
  while (next < cuts_.size() && cuts_[next].in_front != level) ++next;
  if (next == cuts_.size()) return open_level(level, ctx);
  Cut& cut = cuts_[next];
  if (!box_.fills) return open_zones_of_roots(cut, level, next + 1, ctx);
  const int read = cut.read, dim = cut.dim;
  if (hidden(read, level) || std::any_of(cuts_.begin(), cuts_.end(),
                                         [&](const Cut& c) { return c.read == read && !c.inside; }))
    return open_zones(level, next + 1, ctx);
  Range& open = range(cut.level);
  const Range before = open;
  Range all = open;
  if (all.begin == kNone) {
    all.begin = zero(DType::Int64);
    all.end = cut.level < 0 ? constant(scalar_int(1))
                            : number(box_.levels[static_cast<std::size_t>(cut.level)].extent);
  }
  const auto [from, to] = inside(cut, all);
  // Beside a part there is little, or another one.
  const bool more = covered(read);
  const std::int32_t update = reads_[read].update;
  const double share = more ? static_cast<double>(concrete(in_, reads_.part_extent(update, dim))) /
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

void CutLoops::open_zones_of_roots(Cut& c, int level, std::size_t next, std::int32_t ctx) {
  Range& open = range(c.level);
  const Range before = open;
  const Level& l = box_.levels[static_cast<std::size_t>(c.level)];
  // In a zone with few lanes conditions cost less than more loops.
  const bool beside_few = std::any_of(cuts_.begin(), cuts_.end(), [&](const Cut& other) {
    return other.zones && other.zones->is_open() && range(other.level).narrow;
  });
  for (std::size_t n = 0; n < c.zones->all().size() && !beside_few; ++n) {
    const LoopZones::Zone& z = c.zones->open(n);
    Val begin = number(z.low), end = number(z.high);
    if (l.begin != kNone) {
      begin = integer(OpId::Maximum, begin, l.begin);
      end = integer(OpId::Minimum, end, l.end);
    }
    const ExprId extent = minus(ex_, z.high, z.low);
    const std::int64_t wide = concrete(in_, extent);
    open = {begin, end, std::max(1.0, static_cast<double>(wide)), wide < kNarrow, extent};
    open_zones(level, next, ctx);
  }
  c.zones->close();
  open = before;
  if (beside_few) open_zones(level, next, ctx);
}

void CutLoops::open_level(int level, std::int32_t ctx) {
  const Range& r = range(level);
  std::int32_t loop = ctx;
  if (level >= 0 && box_.levels[static_cast<std::size_t>(level)].unrolled) {
  } else if (level < 0 && r.begin != kNone) {
    loop = open_between(ctx, r.begin, r.end, ex_.one(), 1);
  } else if (level >= 0) {
    const Level& l = box_.levels[static_cast<std::size_t>(level)];
    loop = r.begin == kNone ? nest_.open(ctx, l.extent)
           : r.narrow       ? open_between(ctx, r.begin, r.end, ex_.one(), 1)
                            : open_between(ctx, r.begin, r.end,
                                     r.extent == kNoExtent ? l.extent : r.extent, r.trips);
    AxisIndex& x = box_.idx[static_cast<std::size_t>(l.axis)];
    x.loop = loop;
    merged_.bind(x, l.axis);
  }
  if (level + 1 == static_cast<int>(box_.levels.size())) {
    body_(box_.idx, loop);
  } else {
    Level& inner = box_.levels[static_cast<std::size_t>(level + 1)];
    Range& open = range(level + 1);
    const Range before = open;
    if (open.begin == kNone) {
      open = {inner.begin, inner.end, inner.trips};
      if (inner.low != kNone && !inner.unrolled)
        std::tie(open.begin, open.end) = merged_.range_of(inner);
    }
    open_zones(level + 1, 0, loop);
    range(level + 1) = before;
  }
  if (loop != ctx) close(loop);
}

void CutLoops::run(std::int32_t ctx, Body body) {
  body_ = std::move(body);
  ranges_.assign(box_.levels.size() + 1, {});
  for (std::size_t l = 0; l < box_.levels.size(); ++l) ranges_[l + 1].trips = box_.levels[l].trips;
  open_zones(-1, 0, ctx);
}

Side CutLoops::side_of_read(int read, int d) const {
  for (const Cut& c : cuts_)
    if (c.zones)
      if (const Side s = c.zones->side(read, d); s != Side::Unknown) return s;
  return Side::Unknown;
}

bool CutLoops::reads_at(const PartReads::Read& r, const Index& idx) {
  for (std::size_t d = 0; d < idx.size(); ++d) {
    const AffineIndex& w = r.idx[d];
    if (w.steps.size() > 1) return false;
    AxisIndex x{-1, ex_.one(), w.start};
    for (const auto& [axis, step] : w.steps) {
      if (axis >= box_.folded) return false;
      x = nest_.sum(x, nest_.scaled(box_.idx[static_cast<std::size_t>(axis)], step));
    }
    if (x != idx[d]) return false;
  }
  return true;
}

// In the loops that are open; where it is not known which of the reads this is, of all of them.
std::vector<Side> CutLoops::sides(std::int32_t update, const Index& idx) {
  const Numbers& shape = node(update).extents;
  std::vector<Side> all(static_cast<std::size_t>(shape.size()), Side::Unknown);
  if (box_.fills) {
    for (int d = 0; d < shape.size(); ++d)
      if (shape[d] != 1) all[static_cast<std::size_t>(d)] = Side::Inside;
    for (const Cut& c : cuts_)
      if (!c.inside && reads_[c.read].update == update) all.assign(all.size(), Side::Beside);
    if (beside_.count(update) > 0) all.assign(all.size(), Side::Beside);
    return all;
  }
  bool first = true;
  for (int n = 0; n < static_cast<int>(reads_.all().size()); ++n) {
    const PartReads::Read& r = reads_[static_cast<int>(n)];
    if (r.update != update) continue;
    const bool this_one = reads_at(r, idx);
    for (int d = 0; d < shape.size(); ++d) {
      Side& of = all[static_cast<std::size_t>(d)];
      const Side s = side_of_read(n, d);
      of = first || this_one || of == s ? s : Side::Unknown;
    }
    if (this_one) break;
    first = false;
  }
  return all;
}

Val CutLoops::value(std::int32_t update, const Index& idx, std::int32_t ctx) {
  const PlanNode& gn = g_[update];
  const Node& n = *gn.node;
  if (std::none_of(reads_.all().begin(), reads_.all().end(),
                   [&](auto& r) { return r.update == update; })) {
    need_(update, "a write to storage");
    return zero(n.dtype);
  }
  const auto old = [&] {
    return node(gn.in[0]).kind == NodeKind::Empty ? zero(n.dtype) : emit_(gn.in[0], idx, ctx);
  };
  const std::vector<Side> sides = this->sides(update, idx);
  if (std::find(sides.begin(), sides.end(), Side::Beside) != sides.end()) return old();
  const bool chooses = reads_.contains_part(gn.in[0]) || reads_.shows_base(update);
  Index near = idx;
  Val inside = kNone;
  for (int d = 0; d < n.extents.size(); ++d) {
    const PartReads::Edges e = reads_.edges(update, d);
    if (e.whole() || sides[static_cast<std::size_t>(d)] == Side::Inside) continue;
    const Val v = nest_.position(idx[static_cast<std::size_t>(d)]);
    const Val last = integer(OpId::Subtract, number(e.end), constant(scalar_int(1)));
    Val at = v;
    if (!e.from_first) at = integer(OpId::Maximum, at, number(e.first));
    if (!e.to_last) at = integer(OpId::Minimum, at, last);
    near[static_cast<std::size_t>(d)] = {-1, ex_.one(), ex_.zero(), at};
    if (!chooses) continue;
    const Val in = apply(OpId::Equal, DType::Bool, at, v);
    inside = inside == kNone ? in : apply(OpId::LogicalAnd, DType::Bool, inside, in);
  }
  const Val v = emit_(gn.in[1], nest_.written_index(update, near), ctx);
  return inside == kNone ? v : nest_.either(inside, v, old());
}

}  // namespace plait::fusion
