// Loops over an axis that a view makes of several: of dimensions of a copy, or of arrays that it
// shows interleaved.
#include <algorithm>

#include "cut_loops.hpp"
#include "fusion/graph/written_parts.hpp"

namespace plait::fusion {

// Loops over merged dimensions are loops over each of them.
std::vector<CutLoops::Level> CutLoops::split(std::int32_t view, const std::vector<Level>& levels,
                                             Index& idx) {
  const std::int32_t copy = g_[view].in[0];
  const Dims& shape = node(copy).shape;
  const IndexMap& m = *g_[view].index;
  const auto extent = [&](std::int64_t d) {
    return ex_.source({copy, Field::Shape, static_cast<std::int32_t>(d)});
  };
  idx = nest_.view_index(view, idx);
  std::vector<Level> out;
  for (const Level& l : levels) {
    std::vector<std::int64_t> digits;  // the widest first
    for (std::int64_t d = m.axis[l.axis]; d >= 0; d = m.wider[d]) digits.insert(digits.begin(), d);
    int around = -1;
    for (std::size_t k = 0; k < digits.size(); ++k) {
      const std::int64_t d = digits[k];
      ExprId inner = ex_.one();
      for (std::size_t e = k + 1; e < digits.size(); ++e) inner = ex_.mul(inner, extent(digits[e]));
      Level one{static_cast<int>(d),          ex_.mul(l.place, inner), extent(d), kNone, kNone,
                static_cast<double>(shape[d])};
      if (l.begin != kNone) {
        one.low = l.begin;
        one.high = l.end;
        one.inner = inner;
        one.around = around;
        if (k + 1 == digits.size()) one.begin = l.begin;
      }
      around = static_cast<int>(out.size());
      out.push_back(one);
    }
  }
  return out;
}

std::pair<Val, Val> CutLoops::range_of(Level& l) {
  if (l.around >= 0) {
    const Level& a = levels_[static_cast<std::size_t>(l.around)];
    const Ix& x = idx_[static_cast<std::size_t>(a.axis)];
    const Val before = integer(OpId::Multiply, nest_.k_.loops[x.loop].var, number(a.inner));
    l.low = integer(OpId::Subtract, a.low, before);
    l.high = integer(OpId::Subtract, a.high, before);
  }
  Val begin = l.low, end = l.high;
  if (l.inner != ex_.one()) {
    begin = integer(OpId::FloorDivide, begin, number(l.inner));
    end = negative(integer(OpId::FloorDivide, negative(end), number(l.inner)));
  }
  return {integer(OpId::Maximum, begin, zero()), integer(OpId::Minimum, end, number(l.extent))};
}

// Whether what steps along the merged axis of such a view can be two loops.
bool CutLoops::interleave(std::int32_t view, const Walk& along) {
  const std::int32_t base = g_[view].in[0];
  const int dims = node(base).shape.size();
  const auto extent = [&](std::int32_t of, int d) { return ex_.source({of, Field::Shape, d}); };
  if (!fills_ || !in_.facts.equal(along.start, ex_.zero()) || along.steps.size() != 1 ||
      along.steps[0].second != ex_.one())
    return false;
  const int axis = along.steps[0].first;
  const auto level =
      std::find_if(levels_.begin(), levels_.end(), [&](const Level& l) { return l.axis == axis; });
  if (level == levels_.end() || level->low != kNone || (level->begin != kNone && !repeated_))
    return false;
  const ExprId arrays = in_.facts.known(extent(base, dims - 1));
  Interleaved& all = interleaved_;
  if (all.axis >= 0 && (all.axis != axis || all.arrays != arrays)) return false;
  all = {axis, arrays, extent(base, dims - 2)};
  return true;
}

void CutLoops::split_interleaved() {
  std::vector<Level> levels;
  for (Level l : levels_) {
    if (l.axis == interleaved_.axis) {
      const ExprId count = interleaved_.arrays;
      const auto arrays = static_cast<double>(ex_.value(count));
      levels.push_back({folded_ - 1, l.place, count, kNone, kNone, arrays});
      l.place = ex_.mul(l.place, count);
      l.extent = interleaved_.each;
      l.trips = std::max(1.0, l.trips / arrays);
      for (Val* at : {&l.begin, &l.end})
        if (*at != kNone) *at = integer(OpId::FloorDivide, *at, number(count));
    }
    levels.push_back(l);
  }
  levels_ = levels;
  idx_.emplace_back();
}

std::optional<Index> CutLoops::deinterleaved(std::int32_t view, const Index& idx) const {
  if (interleaved_.axis < 0) return std::nullopt;
  const auto by = interleaved_axes(g_, view);
  if (!by) return std::nullopt;
  const Ix& x = idx[static_cast<std::size_t>(by->back())];
  if (x != idx_[static_cast<std::size_t>(interleaved_.axis)]) return std::nullopt;
  Index at = of_base(*by, idx);
  at[at.size() - 2] = {x.loop, ex_.one(), ex_.zero()};
  at.back() = idx_.back();
  return at;
}

}  // namespace plait::fusion
