// The loops of a region's roots, cut where what they read goes from one part of an array to
// another. Code is right wherever the edges lie: a zone begins behind all that it reads as if
// beside, and ends in front. Where they lie now decides only which zones there are.
#include <algorithm>

#include "cut_loops.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Zones of a loop that read each part without a condition.
constexpr std::size_t kMaxZones = 6;
// Iterations of a zone whose loops are not worth cutting further, or spreading over lanes.
constexpr std::int64_t kNarrow = 8;
constexpr std::size_t kMaxCells = 64;

}  // namespace

bool CutLoops::reads_parts(const std::vector<std::int32_t>& roots) {
  return std::any_of(roots.begin(), roots.end(), [&](std::int32_t r) {
    if (node(r).kind != NodeKind::Update) return contains_part(r);
    return contains_part(g_[r].in[1]) || (g_[r].in[2] >= 0 && contains_part(g_[r].in[2]));
  });
}

void CutLoops::cut_innermost(const std::vector<std::int32_t>& roots) {
  if (!g_.writes()) return;
  const bool written = node(roots[0]).kind == NodeKind::Update;
  const Numbers& shape = written ? node(roots[0]).view_extents : node(roots[0]).extents;
  std::vector<AffineIndex> walks(idx_.size());
  for (int d = 0; d < static_cast<int>(walks.size()); ++d)
    if (shape[d] != 1) walks[static_cast<std::size_t>(d)].steps = {{d, ex_.one()}};
  for (const std::int32_t r : roots) {
    if (node(r).kind != NodeKind::Update) {
      read_at(r, walks);
      continue;
    }
    for (const int k : {1, 2})
      if (const std::int32_t in = g_[r].in[k]; in >= 0) read_at(in, nest_.broadcast(in, walks));
  }
  find_reads();
  for (std::size_t n = 0; n < reads_.size(); ++n) {
    // Sums over several axes of the array itself may be one walk through memory.
    const Read& r = reads_[n];
    std::set<int> folded;
    for (const AffineIndex& w : r.idx)
      for (const auto& [axis, step] : w.steps)
        if (axis >= folded_) folded.insert(axis);
    for (int d = 0; d < node(r.update).extents.size(); ++d) {
      bool loops = false, folds = false;
      for (const auto& [axis, step] : r.idx[static_cast<std::size_t>(d)].steps)
        (axis < folded_ ? loops : folds) = true;
      if (folds && !loops && !(folded.size() == 1 && edges(r.update, d).whole()))
        need_(r.update, "it is not read as loops step");
    }
  }
  const int last = static_cast<int>(levels_.size()) - 1, first = std::max(0, last - 1);
  // Beside what was written lanes lie along the loop around: the innermost is cut in front of it.
  // Threads choose what they read.
  for (int l = last; in_.target.lanes && l >= first && l >= 0; --l) {
    cuts_.push_back({l, first});
    Cut& c = cuts_.back();
    find_crossings(c);
    if (c.crossings.empty()) {
      cuts_.pop_back();
      continue;
    }
    const ExprId extent =
        extents_[static_cast<std::size_t>(levels_[static_cast<std::size_t>(l)].axis)];
    find_zones(c, ex_.zero(), extent);
  }
}

void CutLoops::find_crossings(Cut& c) {
  const int along = levels_[static_cast<std::size_t>(c.level)].axis;
  for (std::size_t n = 0; n < reads_.size(); ++n) {
    const Read& r = reads_[n];
    for (int d = 0; d < node(r.update).extents.size(); ++d) {
      const AffineIndex& w = r.idx[static_cast<std::size_t>(d)];
      const Edges e = edges(r.update, d);
      if (e.whole()) continue;
      bool even = true, folds = false;
      ExprId by = ex_.zero(), most = w.start;
      for (const auto& [axis, step] : w.steps) {
        folds |= axis >= folded_;
        even &= ex_.is_constant(step) && ex_.value(step) > 0;
        if (axis == along)
          by = step;
        else
          most = ex_.add(most, ex_.mul(step, ex_.add(extents_[static_cast<std::size_t>(axis)],
                                                     ex_.constant(-1))));
      }
      if (by == ex_.zero()) continue;
      if (!even || (folds && by != ex_.one())) {
        need_(r.update, "it is not read as loops step");
        continue;
      }
      const auto reaches = [&](ExprId edge, ExprId from) {
        return ex_.blocks(minus(edge, from), by);
      };
      Crossing x{static_cast<int>(n), d, -1, -1, -1, -1};
      if (!e.from_first) {
        x.from = reaches(e.first, w.start);
        x.before = reaches(e.first, most);
      }
      if (!e.to_last) {
        x.to = reaches(e.end, most);
        x.behind = reaches(e.end, w.start);
      }
      c.crossings.push_back(x);
    }
  }
  // Edges that meet are one.
  std::vector<ExprId> known{ex_.zero(), extents_[static_cast<std::size_t>(along)]};
  for (Crossing& x : c.crossings)
    for (ExprId* const e : {&x.from, &x.to, &x.before, &x.behind}) {
      if (*e < 0) continue;
      const auto same = std::find_if(known.begin(), known.end(),
                                     [&](ExprId k) { return in_.facts.equal(*e, k); });
      if (same == known.end())
        known.push_back(*e);
      else
        *e = *same;
    }
}

// What is so now is relied on: else there would be zones for what never comes.
bool CutLoops::not_above(ExprId a, ExprId b) {
  return a == b || (concrete(in_, a) <= concrete(in_, b) && in_.facts.at_most(minus(a, b), 0));
}

// Zones of the iterations [low, high): the longest stretch without an edge, and what is beside it.
void CutLoops::find_zones(Cut& c, ExprId low, ExprId high) {
  const std::int64_t first = concrete(in_, low), end = concrete(in_, high);
  Zone z{low, high, std::vector<Side>(c.crossings.size(), Unknown)};
  if (c.zones.size() >= kMaxZones || first >= end) {
    c.zones.push_back(std::move(z));
    return;
  }
  std::vector<std::int64_t> edges{first, end};
  for (const Crossing& x : c.crossings)
    for (const ExprId e : {x.from, x.to, x.before, x.behind})
      if (const std::int64_t at = e < 0 ? first : concrete(in_, e); at > first && at < end)
        edges.push_back(at);
  std::sort(edges.begin(), edges.end());
  std::size_t longest = 0;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i)
    if (edges[i + 1] - edges[i] > edges[longest + 1] - edges[longest]) longest = i;
  const std::int64_t from = edges[longest], to = edges[longest + 1];
  const auto begin_at = [&](ExprId e) {
    if (e >= 0 && !not_above(e, z.low)) z.low = larger(z.low, e);
  };
  const auto end_at = [&](ExprId e) {
    if (e >= 0 && !not_above(z.high, e)) z.high = ex_.least(z.high, e);
  };
  const auto at_most = [&](ExprId e, std::int64_t n) { return e < 0 || concrete(in_, e) <= n; };
  const auto at_least = [&](ExprId e, std::int64_t n) { return e < 0 || concrete(in_, e) >= n; };
  for (std::size_t i = 0; i < c.crossings.size(); ++i) {
    const Crossing& x = c.crossings[i];
    if (at_most(x.from, from) && at_least(x.to, to)) {
      z.sides[i] = Inside;
      begin_at(x.from);
      end_at(x.to);
    } else if (x.before >= 0 && at_least(x.before, to)) {
      z.sides[i] = Beside;
      end_at(x.before);
    } else if (x.behind >= 0 && at_most(x.behind, from)) {
      z.sides[i] = Beside;
      begin_at(x.behind);
    }
  }
  const bool in_front = z.low != low, behind = z.high != high;
  if (in_front) z.low = ex_.least(z.low, high);
  if (behind) z.high = in_front ? larger(z.low, z.high) : larger(low, z.high);
  const ExprId starts = z.low, ends = z.high;
  c.zones.push_back(std::move(z));
  if (in_front) find_zones(c, low, starts);
  if (behind) find_zones(c, ends, high);
}

void CutLoops::open_zones_of_roots(Cut& c, int level, std::size_t next, std::int32_t ctx) {
  Range& open = range(c.level);
  const Range before = open;
  const Level& l = levels_[static_cast<std::size_t>(c.level)];
  // In a zone with few lanes conditions cost less than more loops.
  const bool beside_few = std::any_of(cuts_.begin(), cuts_.end(), [&](const Cut& other) {
    return other.open > 0 && range(other.level).narrow;
  });
  for (std::size_t n = 0; n < c.zones.size() && !beside_few; ++n) {
    const Zone& z = c.zones[n];
    Val begin = number(z.low), end = number(z.high);
    if (l.begin != kNone) {
      begin = integer(OpId::Maximum, begin, l.begin);
      end = integer(OpId::Minimum, end, l.end);
    }
    const ExprId extent = minus(z.high, z.low);
    const std::int64_t wide = concrete(in_, extent);
    open = {begin, end, std::max(1.0, static_cast<double>(wide)), wide < kNarrow, extent};
    c.open = n + 1;
    open_zones(level, next, ctx);
  }
  c.open = 0;
  open = before;
  if (beside_few) open_zones(level, next, ctx);
}

CutLoops::Side CutLoops::side_of_read(int read, int d) const {
  for (const Cut& c : cuts_)
    for (std::size_t i = 0; c.open > 0 && i < c.crossings.size(); ++i)
      if (c.crossings[i].read == read && c.crossings[i].dim == d)
        if (const Side s = c.zones[c.open - 1].sides[i]; s != Unknown) return s;
  return Unknown;
}

bool CutLoops::reads_at(const Read& r, const Index& idx) {
  for (std::size_t d = 0; d < idx.size(); ++d) {
    const AffineIndex& w = r.idx[d];
    if (w.steps.size() > 1) return false;
    AxisIndex x{-1, ex_.one(), w.start};
    for (const auto& [axis, step] : w.steps) {
      if (axis >= folded_) return false;
      x = nest_.sum(x, nest_.scaled(idx_[static_cast<std::size_t>(axis)], step));
    }
    if (x != idx[d]) return false;
  }
  return true;
}

// In the loops that are open; where it is not known which of the reads this is, of all of them.
std::vector<CutLoops::Side> CutLoops::sides(std::int32_t update, const Index& idx) {
  const Numbers& shape = node(update).extents;
  std::vector<Side> all(static_cast<std::size_t>(shape.size()), Unknown);
  if (fills_) {
    for (int d = 0; d < shape.size(); ++d)
      if (shape[d] != 1) all[static_cast<std::size_t>(d)] = Inside;
    for (const Cut& c : cuts_)
      if (!c.inside && reads_[static_cast<std::size_t>(c.read)].update == update)
        all.assign(all.size(), Beside);
    if (beside_.count(update) > 0) all.assign(all.size(), Beside);
    return all;
  }
  bool first = true;
  for (int n = 0; n < static_cast<int>(reads_.size()); ++n) {
    const Read& r = reads_[static_cast<std::size_t>(n)];
    if (r.update != update) continue;
    const bool this_one = reads_at(r, idx);
    for (int d = 0; d < shape.size(); ++d) {
      Side& of = all[static_cast<std::size_t>(d)];
      const Side s = side_of_read(n, d);
      of = first || this_one || of == s ? s : Unknown;
    }
    if (this_one) break;
    first = false;
  }
  return all;
}

// Whether what there was before the first of several writes over each other shows beside them.
bool CutLoops::shows_base(std::int32_t first) {
  // What nobody has written to may be anything: the part too.
  if (node(g_[first].in[0]).kind == NodeKind::Empty) return false;
  const auto [known, fresh] = shows_base_.try_emplace(first, true);
  if (!fresh) return known->second;
  std::vector<std::int32_t> parts;
  auto n = static_cast<int>(
      std::find_if(reads_.begin(), reads_.end(), [&](const Read& r) { return r.update == first; }) -
      reads_.begin());
  for (; n >= 0; n = reads_[static_cast<std::size_t>(n)].over)
    parts.push_back(reads_[static_cast<std::size_t>(n)].update);
  // Edges divide the array into cells, each of which is in a part, or in none.
  const Numbers& shape = node(first).extents;
  std::vector<std::vector<ExprId>> edges_of(static_cast<std::size_t>(shape.size()));
  std::size_t cells = 1;
  for (int d = 0; d < shape.size(); ++d) {
    std::vector<ExprId>& all = edges_of[static_cast<std::size_t>(d)];
    all = {ex_.zero(), ex_.source({first, Field::Shape, d})};
    for (const std::int32_t p : parts)
      for (const ExprId e : {edges(p, d).first, edges(p, d).end})
        if (std::none_of(all.begin(), all.end(), [&](ExprId k) { return in_.facts.equal(e, k); }))
          all.push_back(e);
    std::sort(all.begin(), all.end(),
              [&](ExprId a, ExprId b) { return concrete(in_, a) < concrete(in_, b); });
    for (std::size_t k = 0; k + 1 < all.size(); ++k) not_above(all[k], all[k + 1]);
    cells *= all.size() - 1;
  }
  const auto in_a_part = [&](std::size_t cell) {
    return std::any_of(parts.begin(), parts.end(), [&](std::int32_t p) {
      std::size_t rest = cell;
      for (int d = 0; d < shape.size(); ++d) {
        const std::vector<ExprId>& all = edges_of[static_cast<std::size_t>(d)];
        const ExprId at = all[rest % (all.size() - 1)];
        rest /= all.size() - 1;
        const Edges e = edges(p, d);
        if (concrete(in_, at) < concrete(in_, e.first) || concrete(in_, at) >= concrete(in_, e.end))
          return false;
      }
      return true;
    });
  };
  bool shows = cells > kMaxCells;
  for (std::size_t cell = 0; cell < cells && !shows; ++cell) shows = !in_a_part(cell);
  return known->second = shows;
}

}  // namespace plait::fusion
