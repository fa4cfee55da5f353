#include "zones.hpp"

#include <algorithm>

#include "reach.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Zones of a loop that read each part without a condition.
constexpr std::size_t kMaxZones = 6;
ExprId larger(Exprs& ex, ExprId a, ExprId b) { return minus(ex, ex.add(a, b), ex.least(a, b)); }

}  // namespace

LoopZones::LoopZones(Nest& nest, const LoopBox& box, PartReads& reads, int level,
                     const PartReads::RequireStored& need)
    : NestPart(nest), box_(box), reads_(reads), level_(level) {
  find_crossings(need);
  const int axis = box_.levels[static_cast<std::size_t>(level_)].axis;
  if (!crossings_.empty()) find_zones(ex_.zero(), box_.extents[static_cast<std::size_t>(axis)]);
}

void LoopZones::find_crossings(const PartReads::RequireStored& need) {
  const int along = box_.levels[static_cast<std::size_t>(level_)].axis;
  for (std::size_t n = 0; n < reads_.all().size(); ++n) {
    const PartReads::Read& r = reads_[static_cast<int>(n)];
    for (int d = 0; d < node(r.update).extents.size(); ++d) {
      const AffineIndex& w = r.idx[static_cast<std::size_t>(d)];
      const PartReads::Edges e = reads_.edges(r.update, d);
      if (e.whole()) continue;
      bool even = true, folds = false;
      ExprId by = ex_.zero(), most = w.start;
      for (const auto& [axis, step] : w.steps) {
        folds |= axis >= box_.folded;
        even &= ex_.is_constant(step) && ex_.value(step) > 0;
        if (axis == along)
          by = step;
        else
          most = ex_.add(most, ex_.mul(step, ex_.add(box_.extents[static_cast<std::size_t>(axis)],
                                                     ex_.constant(-1))));
      }
      if (by == ex_.zero()) continue;
      if (!even || (folds && by != ex_.one())) {
        need(r.update, "it is not read as loops step");
        continue;
      }
      const auto reaches = [&](ExprId edge, ExprId from) {
        return ex_.blocks(minus(ex_, edge, from), by);
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
      crossings_.push_back(x);
    }
  }
  // Edges that meet are one.
  std::vector<ExprId> known{ex_.zero(), box_.extents[static_cast<std::size_t>(along)]};
  for (Crossing& x : crossings_)
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

// Zones of the iterations [low, high): the longest stretch without an edge, and what is beside it.
void LoopZones::find_zones(ExprId low, ExprId high) {
  const std::int64_t first = concrete(in_, low), end = concrete(in_, high);
  Zone z{low, high, std::vector<Side>(crossings_.size(), Side::Unknown)};
  if (zones_.size() >= kMaxZones || first >= end) {
    zones_.push_back(std::move(z));
    return;
  }
  std::vector<std::int64_t> edges{first, end};
  for (const Crossing& x : crossings_)
    for (const ExprId e : {x.from, x.to, x.before, x.behind})
      if (const std::int64_t at = e < 0 ? first : concrete(in_, e); at > first && at < end)
        edges.push_back(at);
  std::sort(edges.begin(), edges.end());
  std::size_t longest = 0;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i)
    if (edges[i + 1] - edges[i] > edges[longest + 1] - edges[longest]) longest = i;
  const std::int64_t from = edges[longest], to = edges[longest + 1];
  const auto begin_at = [&](ExprId e) {
    if (e >= 0 && !reads_.not_above(e, z.low)) z.low = larger(ex_, z.low, e);
  };
  const auto end_at = [&](ExprId e) {
    if (e >= 0 && !reads_.not_above(z.high, e)) z.high = ex_.least(z.high, e);
  };
  const auto at_most = [&](ExprId e, std::int64_t n) { return e < 0 || concrete(in_, e) <= n; };
  const auto at_least = [&](ExprId e, std::int64_t n) { return e < 0 || concrete(in_, e) >= n; };
  for (std::size_t i = 0; i < crossings_.size(); ++i) {
    const Crossing& x = crossings_[i];
    if (at_most(x.from, from) && at_least(x.to, to)) {
      z.sides[i] = Side::Inside;
      begin_at(x.from);
      end_at(x.to);
    } else if (x.before >= 0 && at_least(x.before, to)) {
      z.sides[i] = Side::Beside;
      end_at(x.before);
    } else if (x.behind >= 0 && at_most(x.behind, from)) {
      z.sides[i] = Side::Beside;
      begin_at(x.behind);
    }
  }
  const bool in_front = z.low != low, behind = z.high != high;
  if (in_front) z.low = ex_.least(z.low, high);
  if (behind) z.high = in_front ? larger(ex_, z.low, z.high) : larger(ex_, low, z.high);
  const ExprId starts = z.low, ends = z.high;
  zones_.push_back(std::move(z));
  if (in_front) find_zones(low, starts);
  if (behind) find_zones(ends, high);
}

Side LoopZones::side(int read, int d) const {
  for (std::size_t i = 0; open_ > 0 && i < crossings_.size(); ++i)
    if (crossings_[i].read == read && crossings_[i].dim == d)
      if (const Side s = zones_[open_ - 1].sides[i]; s != Side::Unknown) return s;
  return Side::Unknown;
}

}  // namespace plait::fusion
