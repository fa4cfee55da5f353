// Values that a loop of the caller carries from step to step (c = f(c, h @ V)), where every step is
// regions of its own: each region would compute all the steps before it again.
#include <algorithm>
#include <limits>
#include <utility>

#include "fusion/schedule/cost.hpp"
#include "rules.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

constexpr std::int32_t kNoRegion = std::numeric_limits<std::int32_t>::max();
// Operations an element from which a chain of values counts as one that grows.
constexpr double kLongChain = 10;
// Nodes that are looked at for the value of the step before.
constexpr std::size_t kStep = 256;

bool same_form(const Node& a, const Node& b) {
  return a.kind == b.kind && a.fn == b.fn && a.reduce == b.reduce && a.dtype == b.dtype &&
         a.extents == b.extents;
}

bool computed(const Node& n) {
  return n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast || n.kind == NodeKind::Reduce;
}

// A value that is not in memory belongs to the first region that computes it; a later region that
// is made of it computes it again. Where such values are made of each other, they are stored.
class KeepCarried final : public Rule {
 public:
  void revise_regions(const Candidate& c, std::span<const Step> steps, Offers& o) const override {
    const PlanGraph& g = c.problem().graph;
    const std::vector<std::int32_t>& canon = c.problem().canon;
    const std::size_t n = g.nodes.size();
    const auto inlined = [&](std::int32_t i) { return !g[i].leaf && !c.is_root(i); };
    const auto each_input = [&](std::int32_t i, auto&& f) {
      for (std::int32_t in : g[i].in)
        if (in >= 0 && inlined(canon[in])) f(canon[in]);
    };
    std::vector<std::int32_t> step_of(n, -1);
    for (std::size_t s = 0; s < steps.size(); ++s)
      for (std::int32_t r : steps[s].region.roots) step_of[r] = static_cast<std::int32_t>(s);

    std::vector<double> cost(n);
    for (std::int32_t i = 0; i < g.size(); ++i) {
      if (!inlined(i)) continue;
      cost[i] = element_work(*g[i].node);
      each_input(i, [&](std::int32_t in) { cost[i] += cost[in]; });
    }
    // The first region that computes a node, and the last one of what is computed of it.
    std::vector<std::int32_t> first(n, kNoRegion), last(n, -1);
    for (std::int32_t i = g.size(); i-- > 0;) {
      if (g[i].leaf) continue;
      const bool root = c.is_root(i);
      const std::int32_t own = root ? step_of[i] : first[i];
      if (own == kNoRegion) continue;
      if (root && canon[i] != i && inlined(canon[i]))
        first[canon[i]] = std::min(first[canon[i]], own);
      const std::int32_t beyond = root ? -1 : computed(*g[i].node) ? own : std::max(own, last[i]);
      each_input(i, [&](std::int32_t in) {
        first[in] = std::min(first[in], own);
        last[in] = std::max(last[in], beyond);
      });
    }
    const auto carried = [&](std::int32_t i) {
      return inlined(i) && last[i] > first[i] && computed(*g[i].node);
    };

    // Of each node, how many stored values of the same form are made of it, one of the other.
    std::vector<int> after(n);
    std::vector<std::int32_t> seen(n, -1), stack;
    for (std::int32_t i = g.size(); i-- > 0;) {
      if (!carried(i) || !(after[i] > 0 || cost[i] > kLongChain)) continue;
      // The value of the step before.
      std::int32_t before = -1;
      std::size_t visited = 0;
      for (stack.assign(1, i); !stack.empty() && before < 0 && visited < kStep; ++visited) {
        const std::int32_t j = stack.back();
        stack.pop_back();
        if (j != i && carried(j) && same_form(*g[i].node, *g[j].node)) {
          before = j;
          break;
        }
        each_input(j, [&](std::int32_t in) {
          if (std::exchange(seen[in], i) != i) stack.push_back(in);
        });
      }
      if (before >= 0) after[before] = after[i] + 1;
      if (before >= 0 || after[i] > 0) offer(c, i, cost[i], after[i], o);
    }
  }

 private:
  // Another region computes it again, and so does each step after it. That they are a chain is what
  // the graph says; that what grows with each step costs more than to store it needs no estimate.
  static void offer(const Candidate& c, std::int32_t node, double cost, int after, Offers& o) {
    const PlanGraph& g = c.problem().graph;
    o.make_exact(
        {Edit::Store, node, "carried from step to step of a loop, where other regions read it"},
        g.unasked([&] {
          const Machine& m = *c.problem().target.machine;
          const double cycles = g[node].node->elements.cost() * m.cycle;
          return Costs{cycles * cost * (1 + after), cycles * (m.store + m.load)};
        }));
  }
};

}  // namespace

const Rule& keep_carried() {
  static const KeepCarried rule;
  return rule;
}

}  // namespace plait::fusion
