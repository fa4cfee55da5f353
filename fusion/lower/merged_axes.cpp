#include "merged_axes.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "fusion/graph/written_parts.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {
// What the narrow digits of an axis count together, at most: they are known when code is made.
constexpr std::int64_t kMostCounted = 4096;
// An axis of a walk that stands for an index that no loop here steps along: from this number on.
constexpr int kOther = 1 << 20;
}  // namespace

// Loops over merged dimensions are loops over each of them.
std::vector<LoopBox::Level> MergedLoops::split_copy(std::int32_t view,
                                                    const std::vector<LoopBox::Level>& levels,
                                                    Index& idx) {
  const std::int32_t copy = g_[view].in[0];
  const Numbers& shape = node(copy).extents;
  const PlanIndexMap& m = *g_[view].index;
  const auto extent = [&](std::int64_t d) {
    return ex_.source({copy, Field::Shape, static_cast<std::int32_t>(d)});
  };
  idx = nest_.view_index(view, idx);
  std::vector<LoopBox::Level> out;
  for (const LoopBox::Level& l : levels) {
    std::vector<std::int64_t> digits;  // the widest first
    for (std::int64_t d = m.axis[l.axis]; d >= 0; d = m.wider[d]) digits.insert(digits.begin(), d);
    int around = -1;
    for (std::size_t k = 0; k < digits.size(); ++k) {
      const std::int64_t d = digits[k];
      ExprId inner = ex_.one();
      for (std::size_t e = k + 1; e < digits.size(); ++e) inner = ex_.mul(inner, extent(digits[e]));
      LoopBox::Level one{static_cast<int>(d), ex_.mul(l.place, inner), extent(d), kNone, kNone,
                         shape[d].cost()};
      one.second = ex_.mul(l.second, inner);
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

std::pair<Val, Val> MergedLoops::range_of(LoopBox::Level& l) {
  if (l.around >= 0) {
    const LoopBox::Level& a = box_.levels[static_cast<std::size_t>(l.around)];
    const AxisIndex& x = box_.idx[static_cast<std::size_t>(a.axis)];
    const Val before = integer(OpId::Multiply, nest_.k_.loops[x.loop].var, number(a.inner));
    l.low = integer(OpId::Subtract, a.low, before);
    l.high = integer(OpId::Subtract, a.high, before);
  }
  Val begin = l.low, end = l.high;
  if (l.inner != ex_.one()) {
    begin = integer(OpId::FloorDivide, begin, number(l.inner));
    end = nest_.negative(integer(OpId::FloorDivide, nest_.negative(end), number(l.inner)));
  }
  return {integer(OpId::Maximum, begin, zero(DType::Int64)),
          integer(OpId::Minimum, end, number(l.extent))};
}

// Whether what steps along the merged axis of such a view can be two loops.
bool MergedLoops::interleave(std::int32_t view, const AffineIndex& along) {
  const std::int32_t base = g_[view].in[0];
  const int dims = node(base).extents.size();
  const auto extent = [&](std::int32_t of, int d) { return ex_.source({of, Field::Shape, d}); };
  if (!box_.fills || !in_.facts.equal(along.start, ex_.zero()) || along.steps.size() != 1 ||
      along.steps[0].second != ex_.one())
    return false;
  const int axis = along.steps[0].first;
  if (axis >= box_.arrays_axis) return false;
  const auto level = std::find_if(box_.levels.begin(), box_.levels.end(),
                                  [&](const LoopBox::Level& l) { return l.axis == axis; });
  if (level == box_.levels.end() || level->low != kNone ||
      (level->begin != kNone && !box_.repeated))
    return false;
  const ExprId arrays = in_.facts.known(extent(base, dims - 1));
  Interleaved& all = interleaved_;
  if (all.axis >= 0 && (all.axis != axis || all.arrays != arrays)) return false;
  all = {axis, arrays, extent(base, dims - 2)};
  return true;
}

void MergedLoops::split_interleaved() {
  if (interleaved_.axis < 0) return;
  std::vector<LoopBox::Level> levels;
  for (LoopBox::Level l : box_.levels) {
    if (l.axis == interleaved_.axis) {
      const ExprId count = interleaved_.arrays;
      const auto arrays = static_cast<double>(ex_.value(count));
      levels.push_back({box_.arrays_axis, l.place, count, kNone, kNone, arrays});
      levels.back().second = l.second;
      l.place = ex_.mul(l.place, count);
      l.second = ex_.mul(l.second, count);
      l.extent = interleaved_.each;
      l.trips = std::max(1.0, l.trips / arrays);
      for (Val* at : {&l.begin, &l.end})
        if (*at != kNone) *at = integer(OpId::FloorDivide, *at, number(count));
    }
    levels.push_back(l);
  }
  box_.levels = levels;
}

std::optional<Index> MergedLoops::deinterleaved(std::int32_t view, const Index& idx) const {
  if (interleaved_.axis < 0) return std::nullopt;
  const auto by = interleaved_axes(g_, view);
  if (!by) return std::nullopt;
  const AxisIndex& x = idx[static_cast<std::size_t>(by->back())];
  if (x != box_.idx[static_cast<std::size_t>(interleaved_.axis)]) return std::nullopt;
  Index at = of_base(*by, idx);
  at[at.size() - 2] = {x.loop, ex_.one(), ex_.zero()};
  at.back() = box_.idx[static_cast<std::size_t>(box_.arrays_axis)];
  return at;
}

bool MergedLoops::merges(std::int32_t view) const {
  const PlanNode& v = g_[view];
  return !v.leaf && node(view).kind == NodeKind::View && !v.map && v.index && v.index->divides() &&
         !in_.in_memory[in_.canon[v.in[0]]];
}

void MergedLoops::start(std::int32_t operand, const std::vector<LoopBox::Level>& levels) {
  interleaved_ = {};
  for (const LoopBox::Level& l : levels)
    if (const auto s = splits_.find(l.axis); s != splits_.end())
      split_level(operand, l, s->second);
    else
      box_.levels.push_back(l);
  box_.idx.resize(static_cast<std::size_t>(box_.folded));
  box_.extents.resize(static_cast<std::size_t>(box_.folded), ex_.one());
}

void MergedLoops::roll() {
  splits_.clear();
  unroll_ = {};
}

void MergedLoops::split_level(std::int32_t operand, const LoopBox::Level& l, Split& s) {
  const std::size_t count = s.inner.size() + 1;
  const ExprId all = ex_.source({operand, Field::Shape, l.axis});
  s.digits.clear();
  std::vector<LoopBox::Level> narrow_first;
  double trips = l.trips;
  for (std::size_t k = 0; k < count; ++k) {
    const std::int64_t counts = k == 0 ? 1 : s.inner[k - 1];
    const ExprId inner = ex_.constant(counts);
    LoopBox::Level one = l;
    one.axis = box_.folded + static_cast<int>(count - 1 - k);
    one.place = ex_.mul(l.place, inner);
    one.second = ex_.mul(l.second, inner);
    const bool last = k + 1 == count;
    const std::int64_t digits = last ? 0 : s.inner[k] / counts;
    one.extent = last ? ex_.blocks(all, inner) : ex_.constant(digits);
    one.trips = last ? trips : std::min(trips, static_cast<double>(digits));
    trips = std::max(1.0, trips / one.trips);
    one.unrolled = !last && l.axis == unroll_.axis && s.inner[k] <= unroll_.iterations;
    if (l.begin != kNone) {
      one.low = l.begin;
      one.high = l.end;
      one.inner = inner;
      one.around = k + 1 < count ? static_cast<int>(box_.levels.size() + count - 2 - k) : -1;
      if (k > 0) one.begin = one.end = kNone;
    }
    narrow_first.push_back(one);
    s.digits.push_back({one.axis, counts});
  }
  box_.levels.insert(box_.levels.end(), narrow_first.rbegin(), narrow_first.rend());
  box_.folded += static_cast<int>(count);
}

// Of the operand, in the loops that are planned.
std::vector<AffineIndex> MergedLoops::walks(std::int32_t operand) const {
  std::vector<AffineIndex> walks(static_cast<std::size_t>(box_.arrays_axis));
  for (int d = 0; d < box_.arrays_axis; ++d) {
    AffineIndex& w = walks[static_cast<std::size_t>(d)];
    if (const auto s = splits_.find(d); s != splits_.end())
      for (const Digit& digit : s->second.digits)
        w.steps.emplace_back(digit.axis, ex_.constant(digit.counts));
    else if (node(operand).extents[d] != 1)
      w.steps.emplace_back(d, ex_.one());
  }
  return walks;
}

// Of the loops that are open.
Index MergedLoops::index_of_operand(const Index& all) {
  Index at(all.begin(), all.begin() + box_.arrays_axis);
  for (const auto& [axis, s] : splits_) {
    AxisIndex& x = at[static_cast<std::size_t>(axis)] = {};
    for (const Digit& d : s.digits)
      x = nest_.sum(nest_.scaled(all[static_cast<std::size_t>(d.axis)], ex_.constant(d.counts)), x);
  }
  return at;
}

// Of a digit; 0 where it is not known when code is made.
std::int64_t MergedLoops::extent_of(int axis) const {
  for (const auto& [of, s] : splits_)
    for (std::size_t k = 0; k < s.inner.size(); ++k)
      if (s.digits[k].axis == axis) return s.inner[k] / s.digits[k].counts;
  return 0;
}

// Of sums that count on in wider axes, the sum that each of the axes has.
std::optional<std::vector<AffineIndex>> MergedLoops::digits(std::int32_t view,
                                                            std::vector<AffineIndex> at) {
  const std::int32_t base = g_[view].in[0];
  const Dims& wider = g_[view].index->wider;
  const Numbers& shape = node(base).extents;
  for (int first = 0; first < wider.size(); ++first) {
    if (wider[first] < 0 || std::find(wider.begin(), wider.end(), first) != wider.end()) continue;
    AffineIndex rest = at[static_cast<std::size_t>(first)];
    if (!ex_.is_constant(rest.start) || ex_.value(rest.start) < 0) return std::nullopt;
    for (std::int64_t d = first; d >= 0; d = wider[d]) {
      AffineIndex& own = at[static_cast<std::size_t>(d)];
      if (wider[d] < 0) {
        own = rest;
        break;
      }
      own = {};
      AffineIndex beyond;
      const std::int64_t start = ex_.value(rest.start);
      const std::int64_t extent_here = shape[d].known();
      std::int64_t last = start % extent_here;
      own.start = ex_.constant(last);
      beyond.start = ex_.constant(start / extent_here);
      for (const auto& [axis, step] : rest.steps) {
        if (!ex_.is_constant(step)) return std::nullopt;
        const std::int64_t by = ex_.value(step), extent = extent_of(axis);
        if (by % extent_here == 0) {
          beyond.steps.emplace_back(axis, ex_.constant(by / extent_here));
          continue;
        }
        if (extent == 0 || by < 0) return std::nullopt;
        own.steps.emplace_back(axis, step);
        last += by * (extent - 1);
      }
      if (last >= extent_here) return std::nullopt;
      rest = beyond;
    }
  }
  return at;
}

// Further digits of an axis of the operand that the view would have; false where that is no help.
bool MergedLoops::split_for(std::int32_t view, const std::vector<AffineIndex>& at) {
  const Dims& wider = g_[view].index->wider;
  const Numbers& shape = node(g_[view].in[0]).extents;
  bool more = false;
  for (int first = 0; first < wider.size(); ++first) {
    if (wider[first] < 0 || std::find(wider.begin(), wider.end(), first) != wider.end()) continue;
    // The sum is that of an axis, or of some of its digits: a step of one of it counts `unit`.
    int axis = -1;
    std::int64_t unit = 0;
    for (const auto& [along, step] : at[static_cast<std::size_t>(first)].steps) {
      int of = along;
      std::int64_t counts = 1;
      for (const auto& [a, s] : splits_)
        for (const Digit& d : s.digits)
          if (d.axis == along) std::tie(of, counts) = std::pair(a, d.counts);
      if (!ex_.is_constant(step) || ex_.value(step) <= 0 || of >= box_.arrays_axis) return false;
      if (axis < 0) std::tie(axis, unit) = std::pair(of, counts / ex_.value(step));
      if (of != axis || counts != unit * ex_.value(step)) return false;
    }
    const bool own_loop =
        std::none_of(box_.levels.begin(), box_.levels.end(),
                     [&](const LoopBox::Level& l) { return l.axis == axis && l.low != kNone; });
    if (axis < 0 || !own_loop || axis == interleaved_.axis) return false;
    std::vector<std::int64_t> inner =
        splits_.count(axis) ? splits_[axis].inner : std::vector<std::int64_t>{};
    for (std::int64_t d = first, counted = unit; wider[d] >= 0; d = wider[d]) {
      if (shape[d] > kMostCounted) return false;
      counted *= shape[d].known();
      if (counted > kMostCounted) return false;
      if (counted == 1 || std::find(inner.begin(), inner.end(), counted) != inner.end()) continue;
      inner.push_back(counted);
      more = true;
    }
    std::sort(inner.begin(), inner.end());
    for (std::size_t k = 1; k < inner.size(); ++k)
      if (inner[k] % inner[k - 1] != 0) return false;
    if (!inner.empty()) splits_[axis].inner = inner;
  }
  return more;
}

// As a sum over the loops that are open here.
std::optional<AffineIndex> MergedLoops::walk_of(const AxisIndex& x) const {
  if (x.divided()) return std::nullopt;
  AffineIndex w{x.start, {}};
  const auto add = [&](const AxisIndex& one) {
    if (one.loop < 0) return one.at == kNone;
    for (int axis = 0; axis < static_cast<int>(box_.idx.size()); ++axis)
      if (const AxisIndex& open = box_.idx[static_cast<std::size_t>(axis)];
          open.loop == one.loop && open == AxisIndex{open.loop}) {
        w.steps.emplace_back(axis, one.step);
        return true;
      }
    return false;
  };
  if (x.loop >= 0 && !add({x.loop, x.step})) return std::nullopt;
  if (x.at == kNone) return w;
  const std::vector<AxisIndex>* const steps = nest_.steps_of(x.at);
  if (!steps) return std::nullopt;
  for (const AxisIndex& one : *steps) {
    if (!add(one)) return std::nullopt;
    w.start = ex_.add(w.start, one.start);
  }
  return w;
}

std::optional<Index> MergedLoops::at_digits(std::int32_t view, const Index& idx) {
  if (splits_.empty() || !merges(view)) return std::nullopt;
  std::vector<AffineIndex> walks(idx.size());
  for (std::size_t d = 0; d < idx.size(); ++d)
    if (idx[d] != AxisIndex{})
      walks[d] = walk_of(idx[d]).value_or(
          AffineIndex{ex_.zero(), {{kOther + static_cast<int>(d), ex_.one()}}});
  const auto of = digits(view, nest_.view_index(view, walks));
  if (!of) return std::nullopt;
  Index at;
  for (const AffineIndex& w : *of) {
    AxisIndex x{-1, ex_.one(), w.start};
    for (const auto& [axis, step] : w.steps)
      x = nest_.sum(x, nest_.scaled(axis >= kOther ? idx[static_cast<std::size_t>(axis - kOther)]
                                                   : box_.idx[static_cast<std::size_t>(axis)],
                                    step));
    at.push_back(x);
  }
  return at;
}

}  // namespace plait::fusion
