#include "reach.hpp"

#include <algorithm>

namespace plait::fusion {
using namespace ir;

ExprId expr_of(Exprs& exprs, const LoweredKernel& k, const Coeff& c) {
  return c.param == kNoParam ? exprs.constant(c.value)
                             : k.params[static_cast<std::size_t>(c.param)];
}

ExprId minus(Exprs& exprs, ExprId a, ExprId b) {
  return a == b ? exprs.zero() : exprs.add(a, exprs.mul(exprs.constant(-1), b));
}

ExprId magnitude(Exprs& exprs, Facts& facts, ExprId e) {
  return facts.at_most(e, -1) ? exprs.mul(exprs.constant(-1), e) : e;
}

std::optional<Reach> reach(Exprs& exprs, const LoweredKernel& k, const Inst& i) {
  if (i.op != Op::Load && i.op != Op::Store) return std::nullopt;
  const Access& a = k.kernel.accesses[static_cast<std::size_t>(i.access)];
  Reach r{expr_of(exprs, k, a.offset),
          {},
          static_cast<std::int64_t>(
              itemsize(k.kernel.buffers[static_cast<std::size_t>(i.index)].dtype))};
  for (const Term& t : a.terms) {
    const auto& loops = k.kernel.loops;
    const auto l = std::find_if(loops.begin(), loops.end(),
                                [&](const Loop& loop) { return loop.var == t.var; });
    if (l == loops.end() || l->begin != kNone) return std::nullopt;
    const ExprId extent =
        l == loops.begin() ? k.grid_extent : k.extents[static_cast<std::size_t>(l - loops.begin())];
    if (extent == exprs.zero()) return std::nullopt;
    r.axes.push_back({expr_of(exprs, k, t.stride), extent});
  }
  return r;
}

std::pair<ExprId, ExprId> Reach::span(Exprs& exprs, Facts& facts) const {
  ExprId first = offset, last = exprs.add(offset, exprs.constant(item));
  for (const Axis& a : axes) {
    const ExprId far = exprs.mul(a.stride, minus(exprs, a.extent, exprs.one()));
    ExprId& end = facts.at_most(a.stride, -1) ? first : last;
    end = exprs.add(end, far);
  }
  return {first, last};
}

bool apart(Exprs& exprs, Facts& facts, const Reach& a, const Reach& b) {
  const auto [a_first, a_last] = a.span(exprs, facts);
  const auto [b_first, b_last] = b.span(exprs, facts);
  return facts.ordered(a_last, b_first) || facts.ordered(b_last, a_first);
}

bool injective(Exprs& exprs, Facts& facts, const Reach& r) {
  struct Wide {
    ExprId stride, extent;
    std::int64_t now;
  };
  std::vector<Wide> axes;
  for (const Reach::Axis& a : r.axes) {
    const ExprId stride = magnitude(exprs, facts, a.stride);
    axes.push_back({stride, a.extent, facts.estimate(stride)});
  }
  std::sort(axes.begin(), axes.end(), [](const Wide& a, const Wide& b) { return a.now < b.now; });
  // Each axis steps over all that the narrower ones reach.
  ExprId narrower = exprs.constant(r.item);
  for (const Wide& a : axes) {
    if (!facts.ordered(narrower, a.stride)) return false;
    narrower = exprs.add(narrower, exprs.mul(a.stride, minus(exprs, a.extent, exprs.one())));
  }
  return true;
}

}  // namespace plait::fusion
