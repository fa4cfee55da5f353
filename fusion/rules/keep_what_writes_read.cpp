// Each write to storage is a loop of its own, which computes what it stores from the roots: a value
// that several of them read (the pieces of a roll, of a concatenation) may be better in memory.
#include <algorithm>
#include <limits>
#include <tuple>

#include "fusion/schedule/cost.hpp"
#include "rules.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

bool writes(const PlanGraph& g) {
  for (std::int32_t i = 0; i < g.size(); ++i)
    if (!g[i].leaf && g[i].node->kind == NodeKind::Update) return true;
  return false;
}

// Of an element of the node, in units of work, by those of what it is made of.
double cost_of(const PlanGraph& g, std::int32_t i, const std::vector<double>& costs) {
  const Node& n = *g[i].node;
  const double elements = std::max<double>(1, n.elements.cost());
  double cost = n.kind == NodeKind::Cast ? 1 : element_work(n);
  // Of what is read in parts, to load the part.
  if (n.kind == NodeKind::Update) cost += elements_of(n.view_extents) / elements;
  for (std::int32_t in : g[i].in)
    if (in >= 0)
      cost += costs[in] * (n.kind == NodeKind::View ? 1 : g[in].node->elements.cost() / elements);
  return cost;
}

// Seconds to copy storage that would be overwritten before a write has computed the value again
// from it, or while it does so from other elements than it writes to: such a write goes to new
// memory.
std::vector<double> copies(const Candidate& c) {
  const PlanGraph& g = c.problem().graph;
  const auto n = static_cast<std::size_t>(g.size());
  constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();
  // The write over each version of a storage, the first of those over what a value is made of, and
  // the last write that reads the value, and reads a view of it.
  std::vector<std::int32_t> over(n, kNever), first(n, kNever), last(n, -1), viewed(n, -1),
      of(n, -1);
  for (std::int32_t i = 0; i < g.size(); ++i)
    if (!g[i].leaf && g[i].node->kind == NodeKind::Update) over[g[i].in[0]] = i;
  for (std::int32_t i = 0; i < g.size(); ++i) {
    if (!c.inlined(i)) continue;
    for (const std::int32_t in : g[i].in) {
      if (in < 0) continue;
      const std::int32_t written = c.inlined(in) ? first[in] : over[in];
      if (written < first[i]) {
        first[i] = written;
        of[i] = c.inlined(in) ? of[in] : in;
      }
    }
  }
  std::vector<double> seconds(n);
  for (std::int32_t i = g.size(); i-- > 0;) {
    if (g[i].leaf) continue;
    const std::int32_t by = g[i].node->kind == NodeKind::Update ? i : last[i];
    if (by == i && g[i].in[1] >= 0) last[g[i].in[1]] = std::max(last[g[i].in[1]], by);
    if (!c.inlined(i)) continue;
    for (const std::int32_t in : g[i].in) {
      if (in < 0) continue;
      last[in] = std::max(last[in], by);
      viewed[in] = std::max(viewed[in], g[i].node->kind == NodeKind::View ? by : viewed[i]);
    }
    if (last[i] > first[i] || viewed[i] >= first[i])
      seconds[i] =
          region_seconds(*c.problem().target.machine, 2 * node_bytes(*g[of[i]].node).cost(), 0);
  }
  return seconds;
}

class KeepWhatWritesRead final : public Rule {
 public:
  void revise(const Candidate& c, Offers& o) const override {
    const PlanGraph& g = c.problem().graph;
    if (!writes(g)) return;
    const auto n = static_cast<std::size_t>(g.size());
    std::vector<double> cost(n), computed(n);
    for (std::int32_t i = 0; i < g.size(); ++i)
      if (c.inlined(i)) cost[i] = cost_of(g, i, cost);
    const std::vector<double> copied = copies(c);
    // What is offered and likely kept, and what writes read all the same: through nothing that is
    // kept.
    std::vector<bool> offered(n), kept(n), written(n);
    const auto copies_for = [&](std::int32_t i) {
      return copied[i] > 0 && computed[i] > g[i].node->elements.cost();
    };
    const auto offer = [&](std::int32_t i, bool copies) {
      const RecomputeCost r = recompute_cost(*c.problem().target.machine,
                                             g[i].node->elements.cost(), cost[i], computed[i]);
      // Beside a copy it does not count that the value is loaded: what it is made of would be, too.
      return std::tuple(r.large || copies, r.again + (copies ? copied[i] : 0),
                        r.stored - (copies ? r.loads : 0));
    };
    for (std::int32_t i = g.size(); i-- > 0;) {
      const PlanNode& gn = g[i];
      if (gn.leaf) continue;
      if (gn.node->kind == NodeKind::Update) {
        if (gn.in[1] < 0) continue;
        computed[gn.in[1]] += elements_of(gn.node->view_extents);
        written[gn.in[1]] = true;
        continue;
      }
      if (!c.inlined(i)) continue;
      if (gn.node->kind != NodeKind::View && node_bytes(*gn.node) <= c.leaf_bytes(i)) {
        const auto [worth, as_is, instead] = offer(i, copies_for(i));
        offered[i] = worth;
        kept[i] = worth && instead < as_is;
      }
      const double times = !kept[i] ? computed[i] : copies_for(i) ? gn.node->elements.cost() : 0;
      for (std::int32_t in : gn.in) {
        if (in < 0) continue;
        computed[in] += times;
        if (written[i] && !kept[i]) written[in] = true;
      }
    }
    // Of a value that is made of others that are kept, little may be left to compute.
    for (std::int32_t i = 0; i < g.size(); ++i) {
      if (!c.inlined(i)) continue;
      cost[i] = cost_of(g, i, cost);
      if (!offered[i]) continue;
      const auto [worth, as_is, instead] = offer(i, written[i] && copies_for(i));
      if (worth &&
          o.make({{{Edit::Store, i, "several writes would compute it again"}}, as_is, instead}))
        cost[i] = 0;
    }
  }
};

}  // namespace

const Rule& keep_what_writes_read() {
  static const KeepWhatWritesRead rule;
  return rule;
}

}  // namespace plait::fusion
