// Each write to storage is a loop of its own, which computes what it stores from the roots: a value
// that several of them read (the pieces of a roll, of a concatenation) may be better in memory.
#include <algorithm>
#include <limits>

#include "fusion/schedule/cost.hpp"
#include "rules.hpp"

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

namespace {

// Of an element of each node, in units of work; false when nothing is written to.
bool costs(const Candidate& c, std::vector<double>& cost) {
  const Graph& g = c.problem().graph;
  bool updates = false;
  for (std::int32_t i = 0; i < g.size(); ++i) {
    const Node& n = *g[i].node;
    updates |= !g[i].leaf && n.kind == NodeKind::Update;
    if (!c.inlined(i)) continue;
    cost[i] = n.kind == NodeKind::Cast ? 1 : element_work(n);
    const double elements = std::max<double>(1, elements_of(n.shape));
    // Of what is read in parts, to load the part.
    if (n.kind == NodeKind::Update) cost[i] += elements_of(n.view_shape) / elements;
    for (std::int32_t in : g[i].in)
      if (in >= 0)
        cost[i] +=
            cost[in] * (n.kind == NodeKind::View ? 1 : elements_of(g[in].node->shape) / elements);
  }
  return updates;
}

// Seconds to copy storage that would be overwritten before a write has computed the value again
// from it, or while it does so from other elements than it writes to: such a write goes to new
// memory.
std::vector<double> copies(const Candidate& c) {
  const Graph& g = c.problem().graph;
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
      seconds[i] = region_seconds(*c.problem().target.machine,
                                  2 * static_cast<double>(node_bytes(*g[of[i]].node)), 0);
  }
  return seconds;
}

class KeepWhatWritesRead final : public Rule {
 public:
  void revise(const Candidate& c, Offers& o) const override {
    const Graph& g = c.problem().graph;
    std::vector<double> cost(g.nodes.size()), computed(g.nodes.size());
    if (!costs(c, cost)) return;
    const std::vector<double> copied = copies(c);
    for (std::int32_t i = g.size(); i-- > 0;) {
      const GNode& gn = g[i];
      const Node& n = *gn.node;
      if (gn.leaf) continue;
      if (n.kind == NodeKind::Update) {
        if (gn.in[1] >= 0) computed[gn.in[1]] += elements_of(n.view_shape);
        continue;
      }
      if (!c.inlined(i)) continue;
      const Reading r =
          reading(*c.problem().target.machine, elements_of(n.shape), cost[i], computed[i]);
      // Beside a copy it does not count that the value is loaded: what it is made of would be, too.
      const bool copies = copied[i] > 0 && computed[i] > elements_of(n.shape);
      const bool stores = n.kind != NodeKind::View && (r.large || copies) &&
                          node_bytes(n) <= c.leaf_bytes(i) &&
                          o.make({{{Edit::Store, i, "several writes would compute it again"}},
                                  r.again + copied[i],
                                  r.stored - (copies ? r.loads : 0)});
      const double times = !stores ? computed[i] : copies ? elements_of(n.shape) : 0;
      for (std::int32_t in : gn.in)
        if (in >= 0) computed[in] += times;
    }
  }
};

}  // namespace

const Rule& keep_what_writes_read() {
  static const KeepWhatWritesRead rule;
  return rule;
}

}  // namespace plait::fusion
